/* Seven-point stencil over a box of cells: each becomes a weighted sum of itself and its six neighbours; the box's faces
 * stay. Blocks of 32x4 threads own 64x4 columns of cells, two per thread, and walk through the layers, keeping the
 * layers above and below in registers and the one they are in in (dynamic) shared memory. */
extern "C" __global__ void stencil(float centre_weight, float neighbour_weight, const float *before, float *after, int nx, int ny,
                                   int nz) {
    extern __shared__ float layer_cells[];
    const int layer = nx * ny, wide = 2 * blockDim.x;
    int x0 = blockIdx.x * wide + threadIdx.x, x1 = x0 + blockDim.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int slot0 = threadIdx.y * wide + threadIdx.x, slot1 = slot0 + blockDim.x;
    bool in0 = x0 < nx && y < ny, in1 = x1 < nx && y < ny;
    bool inner0 = x0 > 0 && x0 < nx - 1 && y > 0 && y < ny - 1, inner1 = x1 < nx - 1 && y > 0 && y < ny - 1;
    bool first_row = threadIdx.y == 0, last_row = threadIdx.y == blockDim.y - 1;
    bool first = threadIdx.x == 0, last = threadIdx.x == blockDim.x - 1;
    float below0 = in0 ? before[y * nx + x0] : 0.0f, below1 = in1 ? before[y * nx + x1] : 0.0f;
    float here0 = in0 ? before[layer + y * nx + x0] : 0.0f, here1 = in1 ? before[layer + y * nx + x1] : 0.0f;

    for (int z = 1; z < nz - 1; z++) {
        int cell0 = z * layer + y * nx + x0, cell1 = z * layer + y * nx + x1;
        float above0 = in0 ? before[cell0 + layer] : 0.0f, above1 = in1 ? before[cell1 + layer] : 0.0f;
        layer_cells[slot0] = here0;
        layer_cells[slot1] = here1;
        __syncthreads();
        if (inner0) {
            float north = first_row ? before[cell0 - nx] : layer_cells[slot0 - wide];
            float south = last_row ? before[cell0 + nx] : layer_cells[slot0 + wide];
            float west = first ? before[cell0 - 1] : layer_cells[slot0 - 1];
            float sum = above0 + below0 + north + south + west + layer_cells[slot0 + 1];
            after[cell0] = neighbour_weight * sum - centre_weight * here0;
        }
        if (inner1) {
            float north = first_row ? before[cell1 - nx] : layer_cells[slot1 - wide];
            float south = last_row ? before[cell1 + nx] : layer_cells[slot1 + wide];
            float east = last ? before[cell1 + 1] : layer_cells[slot1 + 1];
            float sum = above1 + below1 + north + south + layer_cells[slot1 - 1] + east;
            after[cell1] = neighbour_weight * sum - centre_weight * here1;
        }
        __syncthreads();
        below0 = here0;
        below1 = here1;
        here0 = above0;
        here1 = above1;
    }
}
