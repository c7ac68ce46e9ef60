/* quicksort(u32 words[n], s32 stretch), n = threads times stretch: each stretch is sorted, ascending. */
#include "reference.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

const char *reference_quicksort(const reference_launch *launch) {
    const uint64_t stretch = reference_u32(launch, 1), threads = (uint64_t)launch->grid[0] * launch->block[0];
    uint32_t *words = reference_u32s(launch, 0, threads * stretch);
    if (launch->argument_count != 2 || !words || launch->block[0] != 32 || launch->block[1] != 1 ||
        launch->block[2] != 1 || launch->grid[1] != 1 || launch->grid[2] != 1 || !stretch || stretch > 1024)
        return "quicksort takes a u32 buffer of threads * stretch words and s32 stretch, 1 to 1024, in blocks of 32 "
               "threads";
    for (uint64_t thread = 0; thread < threads; thread++)
        qsort(words + thread * stretch, stretch, sizeof *words, compare);
    return NULL;
}
