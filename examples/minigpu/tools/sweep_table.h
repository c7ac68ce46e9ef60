/* sweep_table: the points of a sweep and their rows. A point is one combination of values; its rows come from
 * `minigpu run --csv`, with the point's values in front. The file of the table can be read again, so that points whose
 * rows are there already are not run again. */
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
    char **rows;     /* of each point: lines with their ends; NULL: not there yet. Allocated */
} sweep_table;

/* Adds KEY=VALUE,VALUE,... Returns NULL, or what is wrong. */
const char *sweep_add_key(sweep_table *t, const char *text);
/* Counts the points, and makes room for their rows. Returns 0, or -1: there are too many, or memory has run out. */
int sweep_make(sweep_table *t);
void sweep_free(sweep_table *t);
/* The value of a key at a point. */
const char *sweep_value(const sweep_table *t, uint32_t point, uint32_t key);
/* Writes the first line of the table. */
void sweep_write_heading(const sweep_table *t, FILE *file);
/* Takes what `minigpu run --csv` has printed for a point, heading included. Returns 0, or -1: there is no row. */
int sweep_take(sweep_table *t, uint32_t point, const char *printed);
/* Reads the rows of points from a table that an earlier sweep has written. A last line that has been cut off is left
 * out, with all rows of its point. Returns 0, or -1 after a report: the table has other columns. */
int sweep_read(sweep_table *t, const char *path);
/* A picture of a column over the values of the first key: a line for each combination of the other keys and each
 * kernel. Returns 0, or -1 after a report. */
int sweep_draw(const sweep_table *t, const char *column, const char *path);

#endif
