/* What a run of bench/reproduce leaves to other runs, and takes from them: shards, pieces of experiments, and rows of
 * pages that are merged. */
#ifndef BENCH_PARTS_H
#define BENCH_PARTS_H
#include "progress.h"
#include "reproduce.h"

enum { PARTS_CELLS = 9 }; /* of a row of the page: id, where, what, unit, paper, ours, kind, verdict, note */
enum { PARTS_ID, PARTS_PAPER = 4, PARTS_OURS, PARTS_KIND, PARTS_VERDICT, PARTS_NOTE };

typedef struct part_row {
    char *text; /* what the cells point into */
    const char *cells[PARTS_CELLS];
    int model; /* the timing model that its page names */
} part_row;
typedef struct part_piece {
    char *name;
    double *values;
    size_t count;
} part_piece;

typedef struct reproduce_parts {
    unsigned shard, shards; /* this run is shard `shard` of `shards`; 0: it is the whole */
    size_t asked;           /* pieces so far: number n belongs to shard n mod shards */
    int merges;             /* 1: nothing is measured */
    int model;              /* of the page that is being read; 0 before its heading */
    part_row *rows;
    size_t row_count;
    part_piece *pieces;
    size_t piece_count;
    progress shown;
    double minutes, minutes_before, minutes_here; /* of the whole run, of the topics done, of this topic */
} reproduce_parts;

/* Reads a page. Returns 0, or -1 after a message on standard error that names file and line. */
int parts_read(reproduce_parts *parts, const char *path, int is_short);
/* The last row of that id that was read; NULL. */
const part_row *parts_row(const reproduce_parts *parts, const char *id);
/* 1 when the piece, or topic that is not divided, of that number belongs to this run. */
int parts_here(const reproduce_parts *parts, size_t number);
void parts_free(reproduce_parts *parts);
#endif
