/* Splits the pixels of an image, three bytes each, into three planes of numbers from -128 to 127. A block of 256 threads
 * fetches its bytes as words through shared memory. */
#define THREADS 256

extern "C" __global__ void dwt2d_copy(int *red, int *green, int *blue, const unsigned *source, int pixels) {
    __shared__ unsigned words[THREADS * 3 / 4];
    int tx = threadIdx.x, word = blockIdx.x * (THREADS * 3 / 4) + tx, pixel = blockIdx.x * THREADS + tx;

    if (tx < THREADS * 3 / 4 && word * 4 < pixels * 3) words[tx] = source[word];
    __syncthreads();
    if (pixel < pixels) {
        const unsigned char *bytes = (const unsigned char *)words + 3 * tx;
        red[pixel] = (int)bytes[0] - 128;
        green[pixel] = (int)bytes[1] - 128;
        blue[pixel] = (int)bytes[2] - 128;
    }
}
