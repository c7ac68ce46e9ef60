/* demand(f32 out[threads], f32 data[], f32 written[], u32 accesses, u32 wide, u32 narrow, u32 log2_lines, u32
 * hot_units, u32 stream_units, u32 row_mask, u32 stream_share, u32 store_share) */
#include "reference.h"

const char *reference_demand(const reference_launch *launch) {
    const uint32_t accesses = reference_u32(launch, 3), wide = reference_u32(launch, 4);
    const uint32_t narrow = reference_u32(launch, 5), log2_lines = reference_u32(launch, 6);
    const uint32_t hot = reference_u32(launch, 7), units = reference_u32(launch, 8), rows = reference_u32(launch, 9);
    const uint32_t stream_share = reference_u32(launch, 10), store_share = reference_u32(launch, 11);
    const uint32_t part = log2_lines < 4 ? 4 - log2_lines : 0;
    const uint64_t threads = reference_threads(launch);
    const uint64_t elements = log2_lines > 5 ? 0 : ((uint64_t)hot + units + 16) << log2_lines << 5;
    float *out = reference_f32s(launch, 0, threads), *data = reference_f32s(launch, 1, elements);
    float *written = reference_f32s(launch, 2, elements);
    if (launch->argument_count != 12 || !out || !data || !written || log2_lines > 5 || accesses > 4096 || wide > 4096 ||
        narrow > 4096 || !hot || hot & (hot - 1) || !units || units & (units - 1))
        return "demand takes f32 out[threads], f32 data and written of 32 * (hot_units + stream_units + 16) elements, "
               "times 2^log2_lines, and nine u32: accesses, wide, narrow up to 4096; log2_lines up to 5";
    for (uint64_t thread = 0; thread < threads; thread++) {
        const uint32_t warp = (uint32_t)(thread >> 5), lane = thread & 31;
        const uint32_t offset = ((lane >> (5 - log2_lines)) << 5) + (lane & ((32u >> log2_lines) - 1));
        const uint32_t row = warp * 40503u, column = hot + (warp >> 9 & ((1u << part) - 1));
        uint32_t state = warp * 2654435761u;
        float a = 1.0f, b = 2.0f, c = 3.0f, d = 4.0f, sum = 0.0f;
        for (uint32_t i = 0; i < accesses; i++) {
            state = state * 1664525u + 1013904223u;
            uint32_t at = (state >> 8) & (hot - 1);
            if ((state >> 24) < stream_share)
                at = column + ((((row + i * 37) & rows) << (8 - log2_lines) | (i & 15) << part) & (units - 1));
            at = ((at << log2_lines) << 5) + offset;
            if (((state >> 16) & 255u) < store_share)
                written[at] = (float)(at & 1023u);
            else
                sum += data[at];
            for (uint32_t k = 0; k < wide; k++) {
                a = fmaf(a, 0.75f, 1.0f);
                b = fmaf(b, 0.75f, 1.0f);
                c = fmaf(c, 0.75f, 1.0f);
                d = fmaf(d, 0.75f, 1.0f);
            }
            for (uint32_t k = 0; k < narrow; k++) sum = fmaf(sum, 0.75f, 1.0f);
        }
        out[thread] = a + b + c + d + sum;
    }
    return NULL;
}
