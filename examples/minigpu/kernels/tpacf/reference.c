/* tpacf(u32 result[bins], f32 x[count], y[count], z[count], s32 count, f32 edges[bins - 1], s32 bins, s32 tiles):
 * integers are counted, so that the order of the atomics makes no difference. */
#include "reference.h"

const char *reference_tpacf(const reference_launch *launch) {
    const int32_t count = reference_i32(launch, 4), bins = reference_i32(launch, 6), tiles = reference_i32(launch, 7);
    if (launch->argument_count != 8 || count < 1 || bins < 1 || bins > 32 || tiles < 1 || tiles > 1 << 16)
        return "tpacf takes u32 result, f32 x, y, z, s32 count, f32 edges, s32 bins (up to 32) and s32 tiles";
    if (!reference_fits(launch, 1u << 20) || launch->block[0] != 128 || launch->block[1] != 1 ||
        launch->block[2] != 1 || launch->grid[1] != 1 || launch->grid[2] != 1)
        return "tpacf needs a row of blocks of 128 threads";
    const uint64_t n = (uint64_t)count;
    uint32_t *result = reference_u32s(launch, 0, (uint64_t)bins);
    const float *x = reference_f32s(launch, 1, n), *y = reference_f32s(launch, 2, n), *z = reference_f32s(launch, 3, n);
    const float *edges = reference_f32s(launch, 5, (uint64_t)bins - 1);
    if (!result || !x || !y || !z || !edges) return "tpacf needs result[bins], x, y, z[count] and edges[bins - 1]";
    for (uint64_t own = 0; own < n && own / 128 < launch->grid[0]; own++) {
        const uint64_t last = own / 128 * 128 + (uint64_t)tiles * 16;
        for (uint64_t other = own + 1; other < n && other < last; other++) {
            const float cosine = fmaf(z[own], z[other], fmaf(x[own], x[other], y[own] * y[other]));
            int32_t low = 0, high = bins - 1;
            while (low < high) {
                const int32_t middle = (low + high) / 2;
                if (cosine >= edges[middle])
                    high = middle;
                else
                    low = middle + 1;
            }
            result[low]++;
        }
    }
    return NULL;
}
