/* Motion estimation, larger parts: from the sums of sixteen 4x4 parts those of four 8x8, two 16x8, two 8x16 and the whole
 * macroblock. A thread does two places of the search window at once, as the halves of a word: a sum of 256 differences
 * of bytes fits into 16 bits. small[macroblock][16][stride / 2], large[macroblock][9][stride / 2]. */
extern "C" __global__ void sad_2(unsigned *large, const unsigned *small, int pairs) {
    const unsigned *from = small + blockIdx.x * 16 * pairs;
    unsigned *to = large + blockIdx.x * 9 * pairs;
    for (int pair = threadIdx.x; pair < pairs; pair += blockDim.x) {
        unsigned quarter[4];
#pragma unroll
        for (int q = 0; q < 4; q++) {
            int part = q / 2 * 8 + q % 2 * 2;
            quarter[q] = from[part * pairs + pair] + from[(part + 1) * pairs + pair] + from[(part + 4) * pairs + pair] +
                         from[(part + 5) * pairs + pair];
            to[q * pairs + pair] = quarter[q];
        }
        to[4 * pairs + pair] = quarter[0] + quarter[1];
        to[5 * pairs + pair] = quarter[2] + quarter[3];
        to[6 * pairs + pair] = quarter[0] + quarter[2];
        to[7 * pairs + pair] = quarter[1] + quarter[3];
        to[8 * pairs + pair] = quarter[0] + quarter[1] + quarter[2] + quarter[3];
    }
}
