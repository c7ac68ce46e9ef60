/* Cheapest way down a grid of costs, `steps` rows per launch. A block keeps one row segment in shared memory and redoes
 * `steps` columns at each side, so that it needs its neighbours only at the start of the launch. At most 256 threads. */
extern "C" __global__ void pathfinder(int steps, const int *wall, const int *source, int *result, int columns, int first_row) {
    __shared__ int above[256];
    __shared__ int here[256];
    int tx = threadIdx.x;
    int own = blockDim.x - 2 * steps;             /* columns that this block delivers */
    int start = blockIdx.x * own - steps;         /* column of thread 0, left of the grid in block 0 */
    int column = start + tx;
    bool inside = column >= 0 && column < columns;
    int left = max(tx - 1, max(-start, 0));
    int right = min(tx + 1, min((int)blockDim.x, columns - start) - 1);
    bool computed = false;

    if (inside) above[tx] = source[column];
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        computed = inside && tx > step && tx < (int)blockDim.x - 1 - step;
        if (computed) {
            int best = min(above[tx], min(above[left], above[right]));
            here[tx] = best + wall[(first_row + step) * columns + column];
        }
        __syncthreads();
        if (step == steps - 1) break;
        if (computed) above[tx] = here[tx];
        __syncthreads();
    }
    if (computed) result[column] = here[tx];
}
