/* Temperature of a chip's cells over `steps` time steps: each cell exchanges heat with its four neighbours and with the
 * air, and takes up the power spent in it. 16x16 threads hold a tile and redo a frame of `steps` cells around it. */
#define TILE 16
#define AIR 80.0f

extern "C" __global__ void hotspot(int steps, const float *power, const float *before, float *after, int columns, int rows,
                                   float rate, float per_x, float per_y, float per_z) {
    __shared__ float now[TILE][TILE];
    __shared__ float heat[TILE][TILE];
    __shared__ float next[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int own = TILE - 2 * steps;
    int first_column = blockIdx.x * own - steps, first_row = blockIdx.y * own - steps;
    int column = first_column + tx, row = first_row + ty;
    int cell = row * columns + column;
    bool inside = row >= 0 && row < rows && column >= 0 && column < columns;
    /* At the edge of the chip a cell stands in for the neighbour it lacks. */
    int north = max(ty - 1, max(-first_row, 0)), south = min(ty + 1, min(TILE, rows - first_row) - 1);
    int west = max(tx - 1, max(-first_column, 0)), east = min(tx + 1, min(TILE, columns - first_column) - 1);
    bool computed = false;

    if (inside) {
        now[ty][tx] = before[cell];
        heat[ty][tx] = power[cell];
    }
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        computed = inside && tx > step && tx < TILE - 1 - step && ty > step && ty < TILE - 1 - step;
        if (computed) {
            float t = now[ty][tx];
            float flow = heat[ty][tx] + (now[south][tx] + now[north][tx] - 2.0f * t) * per_y +
                         (now[ty][east] + now[ty][west] - 2.0f * t) * per_x + (AIR - t) * per_z;
            next[ty][tx] = t + rate * flow;
        }
        __syncthreads();
        if (step == steps - 1) break;
        if (computed) now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed) after[cell] = next[ty][tx];
}
