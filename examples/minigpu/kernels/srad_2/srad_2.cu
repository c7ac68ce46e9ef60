/* Speckle-reducing diffusion, second half: each pixel takes up brightness from its neighbours, as freely as the first
 * half allowed here and one pixel to the south and east. Changes the image in place. */
#define TILE 16

extern "C" __global__ void srad_2(const float *to_north, const float *to_south, const float *to_west, const float *to_east,
                                  float *image, const float *freedom, int columns, int rows, float rate) {
    __shared__ float here[TILE][TILE];
    __shared__ float below[TILE][TILE];
    __shared__ float behind[TILE][TILE];
    __shared__ float pixels[TILE][TILE];
    __shared__ float result[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * TILE + tx, row = blockIdx.y * TILE + ty;
    int pixel = row * columns + column;

    pixels[ty][tx] = image[pixel];
    here[ty][tx] = freedom[pixel];
    if (ty == TILE - 1) below[ty][tx] = freedom[row < rows - 1 ? pixel + columns : pixel];
    if (tx == TILE - 1) behind[ty][tx] = freedom[column < columns - 1 ? pixel + 1 : pixel];
    __syncthreads();
    float own = here[ty][tx];
    float south = ty < TILE - 1 ? here[ty + 1][tx] : below[ty][tx];
    float east = tx < TILE - 1 ? here[ty][tx + 1] : behind[ty][tx];
    float divergence = own * to_north[pixel] + south * to_south[pixel] + own * to_west[pixel] + east * to_east[pixel];
    result[ty][tx] = pixels[ty][tx] + 0.25f * rate * divergence;
    __syncthreads();
    image[pixel] = result[ty][tx];
}
