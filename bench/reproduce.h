/* bench/reproduce: prints every row of data/targets.csv: the published value, ours, and the verdict.
 *
 * A file bench/rows_<topic>.c that exports a table adds rows (CMake finds it by name at the next build):
 *
 *     #include "reproduce.h"
 *     static void storage(const reproduce_context *context, const char *id, reproduce_result *result) {
 *         reproduce_number(result, bytes, 0);                        (one measured number, no decimals)
 *     }
 *     const reproduce_row rows_victim[] = {{"S.storage.sm", storage}, {"S.storage.gpu", storage}, {NULL, NULL}};
 *
 * A function measures and reports. It never sees the published value or the band, so it cannot be fitted to them. The
 * verdict depends on the kind of the row in targets.csv:
 *
 * - exact: a number must equal the published one; where that is not one plain number, reproduce_holds decides
 * - band: every number must lie in low to high
 * - order: reproduce_holds decides
 * - derived: reproduce_holds is printed and has no effect
 * - series: reproduce_point reports simulated values of rows of data/silicon.csv, and silicon.h says how they decide
 *
 * The verdict is edge for a row that is inside by less than its 95% interval, or whose order fails in more than 5% of
 * resamplings. The verdict is reading for a row that is inside only under a second reading of its paper, and for a row
 * whose text was revised after a value was known. The summary counts edges and readings apart. A row without a function
 * is todo. The functions of one topic may share an experiment through static variables in their file. Rows run in the
 * order of targets.csv; with --only some do not run.
 *
 * With --shard I/N a topic is measured by one of the runs. A long experiment is divided further: its rows stand behind
 * REPRODUCE_DIVIDED, every run calls them, and reproduce_piece says which run measures each piece, such as a kernel. */
#ifndef BENCH_REPRODUCE_H
#define BENCH_REPRODUCE_H
#include <stddef.h>
#include <stdint.h>
#include "csv.h"
#include "silicon.h"

typedef struct reproduce_context {
    int is_short;         /* --short: fewer samples on the same machine, for trials and for CI */
    const char *data_dir; /* the directory of the papers' tables (targets.csv and others) */
    uint32_t requests;    /* --requests: of each kernel of the rows S.*; 0: the default of these rows */
    struct reproduce_parts *parts;
    const csv_table *silicon;            /* data/silicon.csv; NULL: there is no such file */
    struct reproduce_condition_set *set; /* --set; NULL: none */
} reproduce_context;

enum { REPRODUCE_NUMBERS = 64 };
typedef struct reproduce_result {
    double numbers[REPRODUCE_NUMBERS];  /* the numbers that are compared */
    unsigned count;                     /* their number; a call beyond REPRODUCE_NUMBERS makes the row fail */
    int said;                           /* reproduce_holds was called */
    int holds;                          /* every call reported 1 */
    int failed;                         /* reproduce_failed was called */
    int revised;                        /* reproduce_revised was called */
    int elsewhere;                      /* reproduce_elsewhere was called */
    double interval[2];                 /* of reproduce_interval; both 0: none */
    double reversed;                    /* of reproduce_resampled */
    double readings[REPRODUCE_NUMBERS]; /* under other readings of the paper */
    unsigned reading_count;
    silicon_point *points; /* of reproduce_point */
    size_t point_count;
    char ours[512];  /* shown in the column "ours" */
    char note[2048]; /* why the row is outside, the number of samples, and so on */
} reproduce_result;

typedef struct reproduce_row {
    const char *id; /* as in targets.csv; NULL ends the table */
    void (*measure)(const reproduce_context *context, const char *id, reproduce_result *result);
} reproduce_row;

/* Reports a number, printed with `digits` decimals. May be called several times: each number must pass. */
void reproduce_number(reproduce_result *result, double value, int digits);
/* Reports the mean of several runs (seeds), printed as "mean (lowest to highest of count)". The mean is compared. */
void reproduce_samples(reproduce_result *result, const double *values, size_t count, int digits);
/* Reports the 95% interval of the row's number. Where the number is inside the band and the interval is not, the
 * verdict is edge. */
void reproduce_interval(reproduce_result *result, double low, double high, int digits);
/* Reports in what share of resamplings, 0 to 1, the row's relation fails: above 0.05 the verdict is edge where it would
 * be ok. Of several calls the largest share counts. */
void reproduce_resampled(reproduce_result *result, double share);
/* Returns in what share of resamplings `larger` is not above `smaller`, for two means with 95% intervals of these half
 * widths, which are taken for independent and normal. */
double reproduce_share_reversed(double larger, double larger_half, double smaller, double smaller_half);
/* Reports whether the row's relation holds, and our value in words. May be called several times: all must hold. */
void reproduce_holds(reproduce_result *result, int holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports the simulated value of the row `id` of data/silicon.csv, in the unit of that row. */
void reproduce_point(reproduce_result *result, const char *id, double value);
/* Returns the value of a row of data/silicon.csv that may set parameters. NAN when there is no such row, or when it is
 * one that decides. */
double reproduce_fitted(const reproduce_context *context, const char *id);
/* Returns the value of a condition of a row: the `usual` one, or that of --set, which the note then names. Experiments
 * on the causes of a verdict switch conditions so. */
double reproduce_condition(const reproduce_context *context, reproduce_result *result, const char *name, double usual);
/* Adds a sentence to the note: why a value is outside, sample count and confidence, what was left out. */
void reproduce_note(reproduce_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports the number under a second defensible reading, with the words of the paper that allow it. The verdict is
 * reading where the row's own numbers are outside its band and such a number is inside. */
void reproduce_reading(reproduce_result *result, double value, int digits, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Reports that the row's text, or a number behind it, was chosen after a value was known: the verdict is at best
 * reading. */
void reproduce_revised(reproduce_result *result);
/* Reports that the row could not be measured, and why; its verdict is outside. */
void reproduce_failed(reproduce_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A row of a table behind which all rows can be measured in pieces, by several runs. */
#define REPRODUCE_DIVIDED \
    { "", NULL }
typedef enum reproduce_where { REPRODUCE_MEASURE, REPRODUCE_KNOWN, REPRODUCE_ELSEWHERE } reproduce_where;
/* Returns who measures a piece of an experiment. A piece's name is unique and has no spaces. KNOWN: the piece was
 * merged, and its `count` values are in `values`. MEASURE: this run measures it and passes the values to
 * reproduce_piece_measured. ELSEWHERE: another run measures it, and the rows of the experiment call
 * reproduce_elsewhere. */
reproduce_where reproduce_piece(const reproduce_context *context, const char *name, double *values, size_t count);
void reproduce_piece_measured(const reproduce_context *context, const char *name, const double *values, size_t count);
void reproduce_elsewhere(reproduce_result *result);
/* Shows the progress of the running experiment: share from 0 to 1, and what is measured now. */
void reproduce_progress(const reproduce_context *context, double share, const char *what);

/* The program: `topics` is a NULL-terminated list of tables. Returns the exit status: 0, 1 an exact row is wrong, 2
 * usage. */
int reproduce_main(int argc, char **argv, const reproduce_row *const *topics);
#endif
