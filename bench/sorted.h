/* sorted: numbers in ascending order, and their quantiles. */
#ifndef BENCH_SORTED_H
#define BENCH_SORTED_H
#include <stdlib.h>

static inline int sorted_compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts numbers, the least first. */
static inline void sorted_sort(double *values, size_t count) { qsort(values, count, sizeof *values, sorted_compare); }

/* Returns the number below which a share of the sorted numbers lies, from 0 to 1. count: 1 or more. */
static inline double sorted_quantile(const double *values, size_t count, double share) {
    return values[(size_t)(share * (double)(count - 1))];
}
#endif
