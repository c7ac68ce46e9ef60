/* Counts the ways to finish boards of n queens whose first rows are given, one board per thread: the columns, and the two
 * diagonals, that are taken are bits; a stack in shared memory goes through the rows that are left, at most 10. A block
 * adds its 96 counts up. */
#define ROWS 10
#define THREADS 96

extern "C" __global__ void nqu(const unsigned *columns, const unsigned *lefts, const unsigned *rights, unsigned *found,
                               int n, int rows) {
    __shared__ unsigned column[ROWS][THREADS], left[ROWS][THREADS], right[ROWS][THREADS], tried[ROWS][THREADS];
    __shared__ unsigned counts[THREADS];
    int tx = threadIdx.x, board = blockIdx.x * THREADS + tx, row = 0;
    unsigned all = (1u << n) - 1, count = 0;
    column[0][tx] = columns[board];
    left[0][tx] = lefts[board];
    right[0][tx] = rights[board];
    tried[0][tx] = columns[board] | lefts[board] | rights[board];
    while (row >= 0) {
        unsigned open = ~tried[row][tx] & all;
        if (open == 0) {
            row--;
            continue;
        }
        unsigned queen = open & -open;
        tried[row][tx] |= queen;
        if (row + 1 == rows) {
            count++;
            continue;
        }
        unsigned c = column[row][tx] | queen, l = (left[row][tx] | queen) << 1, r = (right[row][tx] | queen) >> 1;
        row++;
        column[row][tx] = c;
        left[row][tx] = l;
        right[row][tx] = r;
        tried[row][tx] = c | l | r;
    }
    counts[tx] = count;
    __syncthreads();
    if (tx < 32) counts[tx] += counts[tx + 64];
    __syncthreads();
    for (int half = 32; half > 0; half >>= 1) {
        if (tx < half) counts[tx] += counts[tx + half];
        __syncthreads();
    }
    if (tx == 0) found[blockIdx.x] = counts[0];
}
