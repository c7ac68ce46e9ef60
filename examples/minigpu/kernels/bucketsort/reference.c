/* bucketsort(f32 out[], s32 next[256], f32 in[count], s32 count, f32 low, f32 buckets_per_unit): numbers of a bucket in
 * the order in which they come. */
#include "reference.h"

const char *reference_bucketsort(const reference_launch *launch) {
    const int32_t count = reference_i32(launch, 3);
    const float low = reference_f32(launch, 4), buckets_per_unit = reference_f32(launch, 5);
    float *out = reference_f32s(launch, 0, 0);
    int32_t *next = reference_i32s(launch, 1, 256);
    const float *in = count < 0 ? NULL : reference_f32s(launch, 2, (uint64_t)count);
    const uint64_t room = reference_count(launch, 0, 4);
    if (launch->argument_count != 6 || !out || !next || !in || !reference_fits(launch, 1u << 20) ||
        launch->block[1] != 1 || launch->block[2] != 1 || launch->grid[1] != 1 || launch->grid[2] != 1)
        return "bucketsort takes f32 out, s32 next[256], f32 in[count], s32 count, f32 low, f32 buckets_per_unit, and "
               "a "
               "row of blocks";
    for (uint64_t i = 0; i < (uint64_t)count && i < 4 * reference_threads(launch); i++) {
        int32_t bucket = reference_to_s32((in[i] - low) * buckets_per_unit);
        bucket = bucket < 0 ? 0 : bucket > 255 ? 255 : bucket;
        if (next[bucket] < 0 || (uint64_t)next[bucket] >= room) return "bucketsort: a bucket has no room";
        out[next[bucket]++] = in[i];
    }
    return NULL;
}
