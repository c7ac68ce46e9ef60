/* C = alpha*A*B + beta*C, one thread per element. The sum is kept in global memory: as far as the compiler knows C may
 * overlap A or B, so that every step of the loop stores. */
extern "C" __global__ void gemm(const float *a, const float *b, float *c, int rows, int columns, int inner, float alpha,
                                float beta) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows) return;
    c[row * columns + column] *= beta;
#pragma unroll 1
    for (int k = 0; k < inner; k++) c[row * columns + column] += alpha * a[row * inner + k] * b[k * columns + column];
}
