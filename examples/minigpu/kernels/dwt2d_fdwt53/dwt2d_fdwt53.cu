/* One level of the reversible 5/3 wavelet transform of an image in both directions. A block of 32x8 threads makes 32x32
 * coefficients from 35x35 pixels; pixels outside mirror those inside. The quarter with the averages comes first, those
 * with the differences to the right of and below it. Width and height are multiples of 32. */
#define TILE 32
#define FRAME (TILE + 3)

__device__ int mirrored(int place, int count) {
    place = abs(place);
    return place < count ? place : 2 * (count - 1) - place;
}

extern "C" __global__ void dwt2d_fdwt53(const int *image, int *bands, int width, int height) {
    __shared__ int cell[FRAME][FRAME];
    int tx = threadIdx.x, ty = threadIdx.y;
    int left = blockIdx.x * TILE - 2, top = blockIdx.y * TILE - 2;

    for (int y = ty; y < FRAME; y += blockDim.y)
        for (int x = tx; x < FRAME; x += blockDim.x)
            cell[y][x] = image[mirrored(top + y, height) * width + mirrored(left + x, width)];
    __syncthreads();
    /* Odd places keep their difference from the mean of their neighbours ... */
    for (int y = ty; y < FRAME; y += blockDim.y) {
        int x = 2 * tx + 1;
        if (x < FRAME - 1) cell[y][x] -= (cell[y][x - 1] + cell[y][x + 1]) >> 1;
    }
    __syncthreads();
    /* ... and even places take up a quarter of the differences beside them. */
    for (int y = ty; y < FRAME; y += blockDim.y) {
        int x = 2 * tx + 2;
        if (x < FRAME - 1) cell[y][x] += (cell[y][x - 1] + cell[y][x + 1] + 2) >> 2;
    }
    __syncthreads();
    for (int y = 2 * ty + 1; y < FRAME - 1; y += 2 * blockDim.y) cell[y][tx + 2] -= (cell[y - 1][tx + 2] + cell[y + 1][tx + 2]) >> 1;
    __syncthreads();
    for (int y = 2 * ty + 2; y < FRAME - 1; y += 2 * blockDim.y) cell[y][tx + 2] += (cell[y - 1][tx + 2] + cell[y + 1][tx + 2] + 2) >> 2;
    __syncthreads();
    for (int y = ty + 2; y < TILE + 2; y += blockDim.y) {
        int column = left + tx + 2, row = top + y;
        int band_x = (column & 1) * (width / 2) + (column >> 1), band_y = (row & 1) * (height / 2) + (row >> 1);
        bands[band_y * width + band_x] = cell[y][tx + 2];
    }
}
