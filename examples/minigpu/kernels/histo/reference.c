/* histo(u32 result[1024], u32 overflow[1024], u32 bins[count], s32 count): the result does not depend on the order of
 * the atomics, what overflows depends on how blocks share the input. */
#include "reference.h"

enum { HISTO_BINS = 1024, HISTO_MOST = 255 };

const char *reference_histo(const reference_launch *launch) {
    const int32_t count = reference_i32(launch, 3);
    uint32_t *result = reference_u32s(launch, 0, HISTO_BINS), *overflow = reference_u32s(launch, 1, HISTO_BINS);
    const uint32_t *bins = count < 0 ? NULL : reference_u32s(launch, 2, (uint64_t)count);
    if (launch->argument_count != 4 || !result || !overflow || !bins || !reference_fits(launch, 1u << 16) ||
        launch->grid[1] != 1 || launch->grid[2] != 1 || launch->block[1] != 1 || launch->block[2] != 1)
        return "histo takes u32 result[1024], u32 overflow[1024], u32 bins[count] and s32 count, and a row of blocks";
    const uint64_t threads = launch->block[0], stride = threads * launch->grid[0], n = (uint64_t)count;
    for (uint64_t block = 0; block < launch->grid[0] && block * threads < n; block++) {
        uint32_t counts[HISTO_BINS];
        memset(counts, 0, sizeof counts);
        for (uint64_t first = block * threads; first < n; first += stride)
            for (uint64_t i = first; i < first + threads && i < n; i++) counts[bins[i] % HISTO_BINS]++;
        for (uint32_t bin = 0; bin < HISTO_BINS; bin++) {
            const uint32_t left = counts[bin] & HISTO_MOST;
            overflow[bin] += counts[bin] - left;
            if (!left) continue;
            result[bin] += left;
            if (result[bin] > HISTO_MOST) result[bin] = HISTO_MOST;
        }
    }
    return NULL;
}
