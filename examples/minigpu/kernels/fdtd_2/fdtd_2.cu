/* Maxwell's equations in two dimensions, a step of the electric field along x; column 0 stays. */
extern "C" __global__ void fdtd_2(float *ex, const float *hz, int columns, int rows) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows || column == 0) return;
    int cell = row * columns + column;
    ex[cell] = ex[cell] - 0.5f * (hz[cell] - hz[cell - 1]);
}
