/* LU decomposition in place, tile on the diagonal: 16 threads factor the 16x16 tile at (offset, offset), one row of U and
 * one column of L per round. Block b works on the b-th of several matrices of size x size. */
#define TILE 16

extern "C" __global__ void lud_diagonal(float *matrices, int size, int offset) {
    __shared__ float tile[TILE][TILE];
    int tx = threadIdx.x;
    float *corner = matrices + ((long long)blockIdx.x * size + offset) * size + offset;

    for (int y = 0; y < TILE; y++) tile[y][tx] = corner[y * size + tx];
    __syncthreads();
    for (int pivot = 0; pivot < TILE - 1; pivot++) {
        if (tx > pivot) {
            for (int k = 0; k < pivot; k++) tile[tx][pivot] -= tile[tx][k] * tile[k][pivot];
            tile[tx][pivot] /= tile[pivot][pivot];
        }
        __syncthreads();
        if (tx > pivot) {
            for (int k = 0; k < pivot + 1; k++) tile[pivot + 1][tx] -= tile[pivot + 1][k] * tile[k][tx];
        }
        __syncthreads();
    }
    for (int y = 1; y < TILE; y++) corner[y * size + tx] = tile[y][tx];
}
