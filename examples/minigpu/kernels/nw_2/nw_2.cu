/* Needleman-Wunsch alignment of two sequences, shrinking half: block bx works on tile (bx+tiles-diagonal, tiles-1-bx) of
 * the score matrix, 16x16 cells, whose northern and western neighbours are done. A wave of up to 16 threads runs through
 * the tile. The matrix has one row and one column more than there are cells; blockIdx.y counts pairs of sequences. */
#define TILE 16

extern "C" __global__ void nw_2(const int *similarity, int *score, int columns, int penalty, int tiles, int diagonal) {
    __shared__ int tile[TILE + 1][TILE + 1];
    __shared__ int alike[TILE][TILE];
    int tx = threadIdx.x;
    int tile_x = blockIdx.x + tiles - diagonal, tile_y = tiles - 1 - blockIdx.x;
    int corner = columns * (columns * blockIdx.y + TILE * tile_y) + TILE * tile_x; /* the cell to the north-west of the tile */

    if (tx == 0) tile[0][0] = score[corner];
    for (int y = 0; y < TILE; y++) alike[y][tx] = similarity[corner + (y + 1) * columns + tx + 1];
    tile[tx + 1][0] = score[corner + (tx + 1) * columns];
    tile[0][tx + 1] = score[corner + tx + 1];
    __syncthreads();
    for (int wave = 0; wave < TILE; wave++) {
        if (tx <= wave) {
            int x = tx + 1, y = wave - tx + 1;
            tile[y][x] = max(tile[y - 1][x - 1] + alike[y - 1][x - 1], max(tile[y][x - 1], tile[y - 1][x]) - penalty);
        }
        __syncthreads();
    }
    for (int wave = TILE - 2; wave >= 0; wave--) {
        if (tx <= wave) {
            int x = tx + TILE - wave, y = TILE - tx;
            tile[y][x] = max(tile[y - 1][x - 1] + alike[y - 1][x - 1], max(tile[y][x - 1], tile[y - 1][x]) - penalty);
        }
        __syncthreads();
    }
    for (int y = 0; y < TILE; y++) score[corner + (y + 1) * columns + tx + 1] = tile[y + 1][tx + 1];
}
