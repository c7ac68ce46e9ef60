/* y = A*x for a sparse matrix in jagged diagonals: rows are sorted by length, the j-th elements of all rows that have one
 * stand together from start[j] on. One thread per row. */
extern "C" __global__ void spmv(float *y, const float *values, const int *columns, const int *start, const int *length,
                                const int *row_of, const float *x, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        int count = length[row];
#pragma unroll 1
        for (int j = 0; j < count; j++) {
            int element = start[j] + row;
            sum += values[element] * x[columns[element]];
        }
        y[row_of[row]] = sum;
    }
}
