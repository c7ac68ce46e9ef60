/* sweep_table: the points of a sweep and their rows. A point is one combination of values. Its rows come from `minigpu
 * run --csv`, with the point's values in front. A later sweep reads the table again and runs only the points without
 * rows. */
#ifndef MINIGPU_SWEEP_TABLE_H
#define MINIGPU_SWEEP_TABLE_H

#include <stdint.h>
#include <stdio.h>

enum { SWEEP_KEYS = 8, SWEEP_VALUES = 64 };

typedef struct sweep_key {
    char name[64];
    char values[SWEEP_VALUES][64];
    uint32_t count;
} sweep_key;

typedef struct sweep_table {
    sweep_key keys[SWEEP_KEYS];
    uint32_t key_count;
    uint32_t points; /* combinations; the last key varies fastest */
    char **rows;     /* per point: its lines with their ends, allocated; NULL: none yet */
} sweep_table;

/* Adds KEY=VALUE,VALUE,... Returns NULL, or the error. */
const char *sweep_add_key(sweep_table *t, const char *text);
/* Counts the points, and makes room for their rows. Returns 0, or -1: too many points, or memory is out. */
int sweep_make(sweep_table *t);
void sweep_free(sweep_table *t);
/* Returns the value of a key at a point. */
const char *sweep_value(const sweep_table *t, uint32_t point, uint32_t key);
/* Writes the first line of the table. */
void sweep_write_heading(const sweep_table *t, FILE *file);
/* Takes the output of `minigpu run --csv` for a point, heading included. Returns 0, or -1: it has no row. */
int sweep_take(sweep_table *t, uint32_t point, const char *printed);
/* Reads the rows of an earlier sweep's table. If the last line is cut off, all rows of its point are left out. Returns
 * 0, or -1 after a report: the table has other columns. */
int sweep_read(sweep_table *t, const char *path);
/* Returns the index of a column of numbers of `minigpu run --csv`, or UINT32_MAX after a report. */
uint32_t sweep_column(const char *name);
/* Draws a column over the values of the first key: one line for each kernel and each combination of the other keys.
 * Returns 0, or -1 after a report. */
int sweep_draw(const sweep_table *t, const char *column, const char *path);

#endif
