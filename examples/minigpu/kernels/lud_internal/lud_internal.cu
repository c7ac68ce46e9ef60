/* LU decomposition in place, the rest of the matrix: every tile to the right of and below the diagonal tile loses the
 * product of the perimeter tiles of its row and column. 16x16 threads. */
#define TILE 16

extern "C" __global__ void lud_internal(float *matrix, int size, int offset) {
    __shared__ float right[TILE][TILE];
    __shared__ float below[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = offset + (blockIdx.y + 1) * TILE, column = offset + (blockIdx.x + 1) * TILE;

    right[ty][tx] = matrix[(offset + ty) * size + column + tx];
    below[ty][tx] = matrix[(row + ty) * size + offset + tx];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < TILE; k++) sum += below[ty][k] * right[k][tx];
    matrix[(row + ty) * size + column + tx] -= sum;
}
