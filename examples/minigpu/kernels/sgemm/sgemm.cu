/* C = alpha*A*B + beta*C on matrices stored by columns (B by rows). A block of 16x8 threads makes 128 rows of 16 columns;
 * each thread keeps 16 sums in registers, and eight rows of B at a time are shared. Rows of A are a multiple of 128,
 * columns of B of 16, the inner size of 8. */
#define COLUMNS 16
#define DEPTH 8

extern "C" __global__ void sgemm(const float *a, const float *b, float *c, int rows, int columns, int inner, float alpha, float beta) {
    __shared__ float part[DEPTH][COLUMNS];
    int thread = threadIdx.y * COLUMNS + threadIdx.x;
    int row = blockIdx.x * COLUMNS * DEPTH + thread, column = blockIdx.y * COLUMNS;
    float sum[COLUMNS];
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) sum[i] = 0.0f;
    for (int k = 0; k < inner; k += DEPTH) {
        part[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * columns + column + threadIdx.x];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < DEPTH; j++) {
            float element = a[(k + j) * rows + row];
#pragma unroll
            for (int i = 0; i < COLUMNS; i++) sum[i] += element * part[j][i];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        int cell = (column + i) * rows + row;
        c[cell] = beta * c[cell] + alpha * sum[i];
    }
}
