/* Maxwell's equations in two dimensions, a step of the electric field along y; row 0 gets the pulse of this step. */
extern "C" __global__ void fdtd_1(float *ey, const float *hz, const float *pulse, int columns, int rows, int step) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows) return;
    int cell = row * columns + column;
    if (row == 0)
        ey[cell] = pulse[step];
    else
        ey[cell] = ey[cell] - 0.5f * (hz[cell] - hz[cell - columns]);
}
