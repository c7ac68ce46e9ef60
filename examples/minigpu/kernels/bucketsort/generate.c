/* Inputs of bucketsort: sums of two uniform numbers, and the buckets' places as counting them would give. */
#include "reference.h"

const char *generate_bucketsort(const reference_launch *launch, uint64_t seed) {
    const uint32_t count = reference_u32(launch, 3);
    const float low = reference_f32(launch, 4), buckets_per_unit = reference_f32(launch, 5);
    float *in = reference_f32s(launch, 2, count);
    int32_t *next = reference_i32s(launch, 1, 256), counts[256], sum = 0;
    if (!in || !next || count > INT32_MAX) return "bucketsort needs next[256] and in[count]";
    uint64_t state = seed;
    memset(counts, 0, sizeof counts);
    for (uint32_t i = 0; i < count; i++) {
        in[i] = reference_random_unit(&state) + reference_random_unit(&state);
        const int32_t bucket = reference_to_s32((in[i] - low) * buckets_per_unit);
        counts[bucket < 0 ? 0 : bucket > 255 ? 255 : bucket]++;
    }
    for (uint32_t bucket = 0; bucket < 256; bucket++) {
        next[bucket] = sum;
        sum += counts[bucket];
    }
    return NULL;
}
