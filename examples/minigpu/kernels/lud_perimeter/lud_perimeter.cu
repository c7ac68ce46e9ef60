/* LU decomposition in place, tiles beside the diagonal: after the tile at (offset, offset) is factored, 16 threads of a
 * block solve for a tile to its right (part of U) and 16 for the one below it (part of L). blockIdx.y counts
 * matrices of size x size. */
#define TILE 16

extern "C" __global__ void lud_perimeter(float *matrices, int size, int offset) {
    __shared__ float diagonal[TILE][TILE];
    __shared__ float right[TILE][TILE];
    __shared__ float below[TILE][TILE];
    int tx = threadIdx.x % TILE;
    bool upper = threadIdx.x < TILE;
    float *corner = matrices + ((long long)blockIdx.y * size + offset) * size + offset;
    float *right_corner = corner + (blockIdx.x + 1) * TILE;
    float *below_corner = corner + (blockIdx.x + 1) * TILE * size;

    if (upper) {
        for (int y = 0; y < TILE / 2; y++) diagonal[y][tx] = corner[y * size + tx];
        for (int y = 0; y < TILE; y++) right[y][tx] = right_corner[y * size + tx];
    } else {
        for (int y = TILE / 2; y < TILE; y++) diagonal[y][tx] = corner[y * size + tx];
        for (int y = 0; y < TILE; y++) below[y][tx] = below_corner[y * size + tx];
    }
    __syncthreads();
    if (upper) {
        for (int y = 1; y < TILE; y++)
            for (int k = 0; k < y; k++) right[y][tx] -= diagonal[y][k] * right[k][tx];
    } else {
        for (int x = 0; x < TILE; x++) {
            for (int k = 0; k < x; k++) below[tx][x] -= below[tx][k] * diagonal[k][x];
            below[tx][x] /= diagonal[x][x];
        }
    }
    __syncthreads();
    if (upper) {
        for (int y = 1; y < TILE; y++) right_corner[y * size + tx] = right[y][tx];
    } else {
        for (int y = 0; y < TILE; y++) below_corner[y * size + tx] = below[y][tx];
    }
}
