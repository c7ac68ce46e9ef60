/* other.cu: see main.cu. */
__device__ int counter = 5;
__constant__ int factor = 10;
static __device__ int mine = 3;

__device__ int twice(int x) { return 2 * x; }
__global__ void there(int *out) { *out = counter + mine; }

int other(int *out) {
    const int four = 4;
    int value = 0;
    cudaMemcpyToSymbol(mine, &four, sizeof four);
    there<<<1, 1>>>(out);
    cudaMemcpy(&value, out, sizeof value, cudaMemcpyDefault);
    return value;
}
