/* D = A*B, the first of two chained products, one thread per element. The sum is kept in global memory, as in gemm. */
extern "C" __global__ void mm2(const float *a, const float *b, float *d, int rows, int columns, int inner) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows) return;
    d[row * columns + column] = 0.0f;
#pragma unroll 1
    for (int k = 0; k < inner; k++) d[row * columns + column] += a[row * inner + k] * b[k * columns + column];
}
