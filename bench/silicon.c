#include "silicon.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sorted.h"

size_t silicon_row(const csv_table *table, const char *id) {
    size_t row = 0;
    while (row < table->rows && strcmp(csv_text(table, row, "id"), id) != 0) row++;
    return row;
}

int silicon_is_of(const char *id, const char *series) {
    const size_t length = strlen(series);
    return !strncmp(id, series, length) && (id[length] == '.' || !id[length]);
}

static const silicon_point *find(const silicon_point *points, size_t count, const char *id) {
    for (size_t i = 0; i < count; i++)
        if (!strcmp(points[i].id, id)) return &points[i];
    return NULL;
}

/* 1 when a value is in the band of a row; an empty bound is open. */
static int is_inside(const csv_table *table, size_t row, double value) {
    double low, high;
    if (csv_number(table, row, "low", &low) && value < low * (1 - 1e-9)) return 0;
    return !csv_number(table, row, "high", &high) || value <= high * (1 + 1e-9);
}

/* The factor by which a value is off, at least 1. */
static double factor(double ours, double measured) {
    if (fabs(ours - measured) <= 1e-9 * fabs(measured)) return 1;
    if (ours <= 0 || measured <= 0) return HUGE_VAL;
    return ours > measured ? ours / measured : measured / ours;
}

silicon_verdict silicon_judge(const csv_table *table, const char *series, const silicon_point *points, size_t count) {
    silicon_verdict verdict;
    double *errors = (double *)malloc((table->rows + 1) * sizeof *errors), value;
    size_t known = 0;
    memset(&verdict, 0, sizeof verdict);
    verdict.farthest = 1;
    if (!errors) return verdict;
    for (size_t row = 0; row < table->rows; row++) {
        const char *id = csv_text(table, row, "id");
        const silicon_point *ours;
        double off;
        if (!silicon_is_of(id, series) || strcmp(csv_text(table, row, "use"), "verify") != 0) continue;
        verdict.rows++;
        ours = find(points, count, id);
        if (!ours || !csv_number(table, row, "value", &value)) {
            verdict.missing++;
            continue;
        }
        verdict.inside += (unsigned)is_inside(table, row, ours->value);
        off = is_inside(table, row, ours->value) ? 1 : factor(ours->value, value);
        if (off > verdict.farthest) {
            verdict.farthest = off;
            snprintf(verdict.farthest_id, sizeof verdict.farthest_id, "%s", id);
        }
        errors[known++] = value > 0 || value < 0 ? 100 * fabs(ours->value / value - 1) : 0;
    }
    sorted_sort(errors, known);
    if (known) verdict.median_percent = (errors[(known - 1) / 2] + errors[known / 2]) / 2;
    verdict.ok = verdict.rows && verdict.inside * 5 >= verdict.rows * 4 && verdict.farthest <= 2;
    free(errors);
    return verdict;
}

void silicon_write(FILE *file, const csv_table *table, const char *series, const silicon_point *points, size_t count) {
    static const char *const columns[] = {"id", "use", "unit", "value", "low", "high"};
    for (size_t row = 0; row < table->rows; row++) {
        const char *id = csv_text(table, row, "id");
        const silicon_point *ours = find(points, count, id);
        if (!silicon_is_of(id, series)) continue;
        for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
            fprintf(file, "%s,", csv_text(table, row, columns[i]));
        if (ours) fprintf(file, "%.10g", ours->value);
        fputc('\n', file);
    }
}
