/* C = A*B by tiles of 16x16 in shared memory, one thread per element. All sizes are multiples of 16. */
#define TILE 16

extern "C" __global__ void matrix_multiply(float *c, const float *a, const float *b, int columns, int inner) {
    __shared__ float part_a[TILE][TILE], part_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.x * TILE + tx, row = blockIdx.y * TILE + ty;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < inner; k += TILE) {
        part_a[ty][tx] = a[row * inner + k + tx];
        part_b[ty][tx] = b[(k + ty) * columns + column];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++) sum += part_a[ty][i] * part_b[i][tx];
        __syncthreads();
    }
    c[row * columns + column] = sum;
}
