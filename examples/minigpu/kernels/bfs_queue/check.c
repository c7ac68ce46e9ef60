/* bfs_queue: the next frontier is a set. */
#include <stdlib.h>
#include "reference.h"

static int bfs_queue_order(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

const char *check_bfs_queue(const reference_launch *is, const reference_launch *expected) {
    static const uint32_t exact[] = {0, 3, 4, 5, 6};
    const int32_t length = *reference_i32s(expected, 3, 1);
    for (uint32_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (!reference_same(is, expected, exact[i]))
            return exact[i] == 6   ? "the distances differ"
                   : exact[i] == 3 ? "the number of new nodes differs"
                                   : "an input has changed";
    if (length < 0 || (uint64_t)length > reference_count(is, 2, 4))
        return "the next frontier is longer than its buffer";
    qsort(is->arguments[2].buffer, (size_t)length, 4, bfs_queue_order);
    qsort(expected->arguments[2].buffer, (size_t)length, 4, bfs_queue_order);
    return reference_same(is, expected, 2) ? NULL : "the next frontier is another set of nodes";
}
