/* headlines: the first page of docs/results.md: how many rows of each paper have which verdict, and the results that
 * each paper is known for. */
#ifndef BENCH_HEADLINES_H
#define BENCH_HEADLINES_H
#include "reproduce.h"

/* A row of the page that follows. */
typedef struct headlines_row {
    const char *ours;
    unsigned verdict; /* index of its name */
} headlines_row;

/* Prints the page. rows: one per row of `targets`; a verdict of `verdict_count` or more: the row is not on the page. A
 * folder without headlines.csv gives the counts alone. Returns 0, or -1 after a message when that file names no row. */
int headlines_print(const csv_table *targets, const headlines_row *rows, const char *const *verdicts,
                    unsigned verdict_count, const char *data_dir);
#endif
