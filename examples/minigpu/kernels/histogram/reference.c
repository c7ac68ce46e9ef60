/* histogram(u32 result[1024], f32 values[count], s32 count, f32 low, f32 bins_per_unit): sums of integers, so that the
 * order of the atomics makes no difference. */
#include "reference.h"

const char *reference_histogram(const reference_launch *launch) {
    const int32_t count = reference_i32(launch, 2);
    const float low = reference_f32(launch, 3), bins_per_unit = reference_f32(launch, 4);
    uint32_t *result = reference_u32s(launch, 0, 1024);
    const float *values = count < 0 ? NULL : reference_f32s(launch, 1, (uint64_t)count);
    if (launch->argument_count != 5 || !result || !values || reference_block_threads(launch) > 96 ||
        launch->block[0] > 96)
        return "histogram takes u32 result[1024], f32 values[count], s32 count, f32 low, f32 bins_per_unit, and up to "
               "96 threads";
    for (int32_t i = 0; i < count; i++) {
        int32_t bin = reference_to_s32((values[i] - low) * bins_per_unit);
        result[bin < 0 ? 0 : bin > 1023 ? 1023 : bin]++;
    }
    return NULL;
}
