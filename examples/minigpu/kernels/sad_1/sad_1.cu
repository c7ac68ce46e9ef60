/* Motion estimation: sums of absolute differences of a macroblock's sixteen 4x4 parts at every place of a search window.
 * One block per macroblock of 16x16 pixels. The macroblock is in shared memory; the earlier frame is read from global
 * memory at coordinates that stop at its edges, as a texture would. sums[macroblock][part][place], with `stride` places. */
extern "C" __global__ void sad_1(unsigned short *sums, const unsigned char *frame, const unsigned char *earlier, int width,
                                 int height, int reach, int stride) {
    __shared__ unsigned char own[256];
    int left = blockIdx.x * 16, top = blockIdx.y * 16, side = 2 * reach + 1, places = side * side;
    unsigned short *out = sums + (blockIdx.y * gridDim.x + blockIdx.x) * 16 * stride;
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = frame[(top + i / 16) * width + left + i % 16];
    __syncthreads();
    for (int task = threadIdx.x; task < 16 * places; task += blockDim.x) {
        int part = task / places, place = task - part * places;
        int x0 = part % 4 * 4, y0 = part / 4 * 4;
        int dx = place % side - reach, dy = place / side - reach;
        unsigned sum = 0;
#pragma unroll 1
        for (int y = y0; y < y0 + 4; y++) {
            int row = min(max(top + y + dy, 0), height - 1) * width;
#pragma unroll
            for (int x = 0; x < 4; x++) {
                int column = min(max(left + x0 + x + dx, 0), width - 1);
                sum = __usad(own[y * 16 + x0 + x], earlier[row + column], sum);
            }
        }
        out[part * stride + place] = (unsigned short)sum;
    }
}
