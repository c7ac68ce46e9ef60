/* A kernel whose demand is set by its arguments: how many instructions it issues between accesses, how many lines an
 * access touches, how many of the accesses are stores, and how many of them miss in L2.
 *
 * Every warp makes `accesses` accesses of 2^log2_lines lines each. A load reads from `data`, a store writes to `written`
 * what depends on the address alone, so results do not depend on the order of warps. Of 256 accesses, `stream_share` go
 * to the stream: lines that nobody has touched for long, every time in another DRAM row. It has 512 rows of 16 lines on
 * each of 16 channels, 2^(17 - log2_lines) = stream_units accesses; row_mask takes rows away, and with its lowest four
 * bits DRAM banks. The other accesses go to hot_units (a power of two) accesses' lines, which L2 keeps and L1 does not.
 * `store_share` of 256 are stores. Between two accesses a warp computes 4 * wide independent and `narrow` dependent
 * products. */
extern "C" __global__ void demand(float *out, const float *data, float *written, unsigned accesses, unsigned wide,
                                  unsigned narrow, unsigned log2_lines, unsigned hot_units, unsigned stream_units,
                                  unsigned row_mask, unsigned stream_share, unsigned store_share) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, warp = thread >> 5, lane = thread & 31;
    unsigned state = warp * 2654435761u, part = log2_lines < 4 ? 4 - log2_lines : 0;
    unsigned offset = ((lane >> (5 - log2_lines)) << 5) + (lane & ((32u >> log2_lines) - 1));
    unsigned row = warp * 40503u, column = hot_units + (warp >> 9 & ((1u << part) - 1));
    float a = 1.0f, b = 2.0f, c = 3.0f, d = 4.0f, sum = 0.0f;
#pragma unroll 1
    for (unsigned i = 0; i < accesses; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned at = (state >> 8) & (hot_units - 1);
        if ((state >> 24) < stream_share) 
            at = column + ((((row + i * 37) & row_mask) << (8 - log2_lines) | (i & 15) << part) & (stream_units - 1));
        at = ((at << log2_lines) << 5) + offset;
        if (((state >> 16) & 255u) < store_share)
            written[at] = (float)(at & 1023u);
        else
            sum += data[at];
#pragma unroll 1
        for (unsigned k = 0; k < wide; k++) {
            a = a * 0.75f + 1.0f;
            b = b * 0.75f + 1.0f;
            c = c * 0.75f + 1.0f;
            d = d * 0.75f + 1.0f;
        }
#pragma unroll 1
        for (unsigned k = 0; k < narrow; k++) sum = sum * 0.75f + 1.0f;
    }
    out[thread] = a + b + c + d + sum;
}
