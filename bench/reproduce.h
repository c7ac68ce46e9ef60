/* bench/reproduce: prints every row of data/targets.csv: the published value, ours, and the verdict.
 *
 * To add rows, add a file bench/rows_<topic>.c that exports a table (CMake finds it by name; run cmake again, or just
 * build):
 *
 *     #include "reproduce.h"
 *     static void storage(const reproduce_context *context, const char *id, reproduce_result *result) {
 *         reproduce_number(result, bytes, 0);                        (one measured number, no decimals)
 *     }
 *     const reproduce_row rows_victim[] = {{"S.storage.sm", storage}, {"S.storage.gpu", storage}, {NULL, NULL}};
 *
 * A function measures and says what it found; it never sees the published value or the band, so it cannot be fitted to
 * them. The verdict comes from targets.csv:
 *
 *     exact    A number must equal the published one; where that is not one plain number, reproduce_holds decides.
 *     band     Every number given must lie in low to high.
 *     order    reproduce_holds decides.
 *     derived  reproduce_holds is printed and changes nothing.
 *
 * A row that is inside only under a second reading of its paper, or whose text was revised after a value was known, has
 * the verdict reading, which the summary counts apart.
 * A row without a function is todo. The functions of one topic may share an experiment through static variables in
 * their file; rows are asked in the order of targets.csv, and with --only some are not asked at all.
 *
 * With --shard I/N a topic is measured by one of the runs. A long experiment is divided further: its rows stand behind
 * REPRODUCE_DIVIDED, every run asks them, and each part of it (a kernel, say) is asked for by reproduce_piece. */
#ifndef BENCH_REPRODUCE_H
#define BENCH_REPRODUCE_H
#include <stddef.h>
#include <stdint.h>
#include "csv.h"

typedef struct reproduce_context {
    int is_short;         /* --short: fewer samples, same machine; for trying things out and for CI */
    const char *data_dir; /* the directory of the papers' tables (targets.csv and others) */
    uint32_t requests;    /* --requests: of each kernel of the rows S.*; 0: as many as these rows take */
    struct reproduce_parts *parts;
} reproduce_context;

enum { REPRODUCE_NUMBERS = 64 };
typedef struct reproduce_result {
    double numbers[REPRODUCE_NUMBERS];  /* what is compared */
    unsigned count;                     /* how many; a call beyond REPRODUCE_NUMBERS makes the row fail */
    int said;                           /* reproduce_holds was called */
    int holds;                          /* and every call said yes */
    int failed;                         /* reproduce_failed was called */
    int revised;                        /* reproduce_revised was called */
    int elsewhere;                      /* reproduce_elsewhere was called */
    double readings[REPRODUCE_NUMBERS]; /* of other readings of the paper */
    unsigned reading_count;
    char ours[512];  /* printed as "ours" */
    char note[2048]; /* why it is outside, how many samples, ... */
} reproduce_result;

typedef struct reproduce_row {
    const char *id; /* as in targets.csv; NULL ends the table */
    void (*measure)(const reproduce_context *context, const char *id, reproduce_result *result);
} reproduce_row;

/* Reports a number, printed with `digits` decimals. Called again for rows with several values: each must pass. */
void reproduce_number(reproduce_result *result, double value, int digits);
/* Reports the mean of several runs (seeds), printed as "mean (lowest to highest of count)". The mean is compared. */
void reproduce_samples(reproduce_result *result, const double *values, size_t count, int digits);
/* Says whether the row's relation holds, and ours in words. Called again: all must hold. */
void reproduce_holds(reproduce_result *result, int holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds a sentence to the note: the reason why a value is outside, sample count and confidence, what was left out. */
void reproduce_note(reproduce_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports the number of a second defensible reading, with the words of the paper that allow it. Where the row's own
 * numbers are outside its band and one of these is inside, the verdict is reading. */
void reproduce_reading(reproduce_result *result, double value, int digits, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Says that the row's text was revised after a value was known: the verdict is at best reading. */
void reproduce_revised(reproduce_result *result);
/* Says that the row could not be measured, and why; its verdict is outside. */
void reproduce_failed(reproduce_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A row of a table behind which all rows can be measured in pieces, by several runs. */
#define REPRODUCE_DIVIDED \
    { "", NULL }
typedef enum reproduce_where { REPRODUCE_MEASURE, REPRODUCE_KNOWN, REPRODUCE_ELSEWHERE } reproduce_where;
/* Asks for a piece of an experiment, by a name without spaces that no other piece has. KNOWN: it was merged, its
 * `count` values are in `values`. MEASURE: this run has to, and then gives them to reproduce_piece_measured. ELSEWHERE:
 * another run does; the experiment's rows cannot be told here, and call reproduce_elsewhere. */
reproduce_where reproduce_piece(const reproduce_context *context, const char *name, double *values, size_t count);
void reproduce_piece_measured(const reproduce_context *context, const char *name, const double *values, size_t count);
void reproduce_elsewhere(reproduce_result *result);
/* Says how far the experiment that is running is: share from 0 to 1, and what is measured now. */
void reproduce_progress(const reproduce_context *context, double share, const char *what);

/* The program: `topics` is a NULL-terminated list of tables. Returns the exit status: 0, 1 an exact row is wrong, 2
 * usage. */
int reproduce_main(int argc, char **argv, const reproduce_row *const *topics);
#endif
