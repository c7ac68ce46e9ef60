/* Speckle-reducing diffusion, first half: the differences of each pixel with its four neighbours, and from them how
 * freely it may exchange brightness. 16x16 threads share their tile; neighbours in other tiles come from memory, and a
 * pixel at the edge of the image is its own neighbour. Rows and columns are multiples of 16. */
#define TILE 16

extern "C" __global__ void srad_1(float *to_north, float *to_south, float *to_west, float *to_east, const float *image,
                                  float *freedom, int columns, int rows, float speckle) {
    __shared__ float centre[TILE][TILE];
    __shared__ float above[TILE][TILE];
    __shared__ float below[TILE][TILE];
    __shared__ float before[TILE][TILE];
    __shared__ float behind[TILE][TILE];
    __shared__ float result[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * TILE + tx, row = blockIdx.y * TILE + ty;
    int pixel = row * columns + column;

    centre[ty][tx] = image[pixel];
    if (ty == 0) above[ty][tx] = image[row > 0 ? pixel - columns : pixel];
    if (ty == TILE - 1) below[ty][tx] = image[row < rows - 1 ? pixel + columns : pixel];
    if (tx == 0) before[ty][tx] = image[column > 0 ? pixel - 1 : pixel];
    if (tx == TILE - 1) behind[ty][tx] = image[column < columns - 1 ? pixel + 1 : pixel];
    __syncthreads();
    float c = centre[ty][tx];
    float n = (ty > 0 ? centre[ty - 1][tx] : above[ty][tx]) - c;
    float s = (ty < TILE - 1 ? centre[ty + 1][tx] : below[ty][tx]) - c;
    float w = (tx > 0 ? centre[ty][tx - 1] : before[ty][tx]) - c;
    float e = (tx < TILE - 1 ? centre[ty][tx + 1] : behind[ty][tx]) - c;
    float gradient = (n * n + s * s + w * w + e * e) / (c * c);
    float laplacian = (n + s + w + e) / c;
    float numerator = 0.5f * gradient - 0.0625f * (laplacian * laplacian);
    float denominator = 1.0f + 0.25f * laplacian;
    float variation = numerator / (denominator * denominator);
    float excess = (variation - speckle) / (speckle * (1.0f + speckle));
    float share = 1.0f / (1.0f + excess);
    if (share < 0.0f)
        result[ty][tx] = 0.0f;
    else if (share > 1.0f)
        result[ty][tx] = 1.0f;
    else
        result[ty][tx] = share;
    __syncthreads();
    freedom[pixel] = result[ty][tx];
    to_north[pixel] = n;
    to_south[pixel] = s;
    to_west[pixel] = w;
    to_east[pixel] = e;
}
