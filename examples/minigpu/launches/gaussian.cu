/* Gauss-Jordan elimination, one pivot per round: two kernels that a host program calls once for every column. */
extern "C" __global__ void gaussian_fill(float *matrix, float *right, int size) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (row >= size) return;
    for (int column = 0; column < size; column++) {
        float value = (float)(min(row, column) + 1);
        matrix[row * size + column] = value;
        sum += value;
    }
    right[row] = sum; /* so that the solution is all ones */
}

extern "C" __global__ void gaussian_factors(const float *matrix, float *factors, int size, int pivot) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < size && row != pivot) factors[row] = matrix[row * size + pivot] / matrix[pivot * size + pivot];
}

extern "C" __global__ void gaussian_subtract(float *matrix, float *right, const float *factors, int size, int pivot) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= size || column >= size || row == pivot) return;
    matrix[row * size + column] -= factors[row] * matrix[pivot * size + column];
    if (column == 0) right[row] -= factors[row] * right[pivot];
}
