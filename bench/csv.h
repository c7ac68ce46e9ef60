/* csv: reads the tables in bench/data: comment lines with #, a line of column names, rows. Fields have no commas or
 * quotes. */
#ifndef BENCH_CSV_H
#define BENCH_CSV_H
#include <stddef.h>
#include <stdio.h>

typedef struct csv_table {
    char *text, *more;  /* the file and an appended file, cut up in place */
    const char **cells; /* rows x columns, after the names */
    const char **names; /* column names */
    size_t columns;
    size_t rows;
} csv_table;

/* Reads a whole file. Returns 1, or 0 after writing "path:line: error" into error. */
int csv_read(csv_table *table, const char *path, char *error, size_t error_bytes);
void csv_free(csv_table *table);
/* Moves the rows of `other` behind those of `table`. Returns 1, or 0 when the columns differ, something was appended
 * before, or memory is out; then both stay as they are. */
int csv_append(csv_table *table, csv_table *other);
/* Returns the text of a cell; "" for an unknown column. `row` must be below table->rows. */
const char *csv_text(const csv_table *table, size_t row, const char *column);
/* Returns 1 and sets *value when the cell is a plain number. */
int csv_number(const csv_table *table, size_t row, const char *column, double *value);
/* Writes one field, quoted when it holds a comma, a quote or a line break. */
void csv_write(FILE *file, const char *text);
#endif
