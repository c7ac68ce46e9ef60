/* bucketsort: each bucket is a set. next[] is where the buckets end. */
#include <stdlib.h>
#include "reference.h"

static int bucketsort_order(const void *a, const void *b) { return memcmp(a, b, 4); }

const char *check_bucketsort(const reference_launch *is, const reference_launch *expected) {
    const int32_t *ends = reference_i32s(expected, 1, 256);
    float *sides[2] = {reference_f32s(is, 0, 0), reference_f32s(expected, 0, 0)};
    int64_t from = 0;
    if (!reference_same(is, expected, 1)) return "the buckets do not end where they should";
    if (!reference_same(is, expected, 2)) return "the input has changed";
    for (int bucket = 0; bucket < 256; bucket++) {
        const int64_t end = ends[bucket];
        if (end < from || (uint64_t)end > reference_count(is, 0, 4)) return "the buckets do not stand in order";
        for (int side = 0; side < 2; side++) qsort(sides[side] + from, (size_t)(end - from), 4, bucketsort_order);
        from = end;
    }
    return reference_same(is, expected, 0) ? NULL : "a bucket holds other numbers";
}
