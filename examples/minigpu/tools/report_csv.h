/* report_csv: the measurements of a run as a table: a heading, and one row per kernel. */
#ifndef MINIGPU_REPORT_CSV_H
#define MINIGPU_REPORT_CSV_H

#include "tools/report.h"

/* Returns the index-th column's name, without a comma; NULL past the last. */
const char *report_csv_column(uint32_t index);
/* Writes a text as a field, in quotes where it has a comma or a quote, such as the C++ name of a traced kernel. */
void report_csv_text(FILE *file, const char *text);
/* Returns the bytes of the field that a line begins with, its quotes included. */
size_t report_csv_field(const char *line);
/* Writes the rows of all kernels. Fields of a kernel that has not ended are empty. */
void report_csv_rows(const run_result *result, FILE *file);
/* Writes the heading and the rows. */
void report_csv(const run_result *result, FILE *file);

#endif
