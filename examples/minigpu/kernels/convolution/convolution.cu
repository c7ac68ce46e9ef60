/* Convolution of an image with nine weights; the edge of the result stays. One thread per pixel, no shared memory. */
extern "C" __global__ void convolution(float *out, const float *in, int columns, int rows) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < 1 || row < 1 || column >= columns - 1 || row >= rows - 1) return;
    const float *above = in + (row - 1) * columns + column, *here = above + columns, *below = here + columns;
    out[row * columns + column] = 0.2f * above[-1] - 0.3f * above[0] + 0.4f * above[1] + 0.5f * here[-1] + 0.6f * here[0] +
                                  0.7f * here[1] - 0.8f * below[-1] - 0.9f * below[0] + 0.1f * below[1];
}
