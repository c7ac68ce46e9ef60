/* Maxwell's equations in two dimensions, a step of the magnetic field; the last row and column stay. */
extern "C" __global__ void fdtd_3(float *hz, const float *ex, const float *ey, int columns, int rows) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns - 1 || row >= rows - 1) return;
    int cell = row * columns + column;
    hz[cell] = hz[cell] - 0.7f * (ex[cell + 1] - ex[cell] + ey[cell + columns] - ey[cell]);
}
