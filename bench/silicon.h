/* silicon: measured numbers of real devices (data/silicon.csv), and how a simulated series is judged by them.
 *
 * A series is the row of its id, or all rows whose ids begin with its id and a dot. Rows with use `fit` may set
 * parameters of a simulation. Rows with use `verify` decide: a series is ok when 80 % of them have a simulated value
 * inside their bands, and no simulated value is off by more than a factor of two. A row without a simulated value is
 * not inside. */
#ifndef BENCH_SILICON_H
#define BENCH_SILICON_H
#include "csv.h"

typedef struct silicon_point {
    char id[56];  /* of the measured row */
    double value; /* simulated, in the unit of the row */
} silicon_point;

typedef struct silicon_verdict {
    unsigned rows;         /* measured rows that decide */
    unsigned inside;       /* of these, with a simulated value in the band */
    unsigned missing;      /* of these, without a simulated value */
    double median_percent; /* median error of the rows with a value */
    double farthest;       /* the largest factor by which a value is off, at least 1 */
    char farthest_id[56];
    int ok;
} silicon_verdict;

/* Returns the row of `id`, or table->rows when there is none. */
size_t silicon_row(const csv_table *table, const char *id);
/* Returns 1 when the row of `id` belongs to the series: its id is that of the series, or goes on behind a dot. */
int silicon_is_of(const char *id, const char *series);
/* Judges the simulated values of a series. Cost: rows x points. */
silicon_verdict silicon_judge(const csv_table *table, const char *series, const silicon_point *points, size_t count);
/* Writes the rows of a series with their simulated values: id, use, unit, value, low, high, simulated. */
void silicon_write(FILE *file, const csv_table *table, const char *series, const silicon_point *points, size_t count);
/* Draws a series: measured values with their bands, simulated values on top. Returns 0, or -1 when the file cannot be
 * written. */
int silicon_draw(const char *path, const csv_table *table, const char *series, const char *title,
                 const silicon_point *points, size_t count);
#endif
