/* The exchange between runs of bench/reproduce: shards, pieces of experiments, and merged rows of pages. */
#ifndef BENCH_PARTS_H
#define BENCH_PARTS_H
#include "progress.h"
#include "reproduce.h"

enum { PARTS_CELLS = 9 }; /* of a row of the page: id, where, what, unit, paper, ours, kind, verdict, note */
enum { PARTS_ID, PARTS_PAPER = 4, PARTS_OURS, PARTS_KIND, PARTS_VERDICT, PARTS_NOTE };

typedef struct part_row {
    char *text; /* holds the text of the cells */
    const char *cells[PARTS_CELLS];
    int model; /* the timing model of its page */
} part_row;
typedef struct part_piece {
    char *name;
    double *values;
    size_t count;
} part_piece;

typedef struct reproduce_parts {
    unsigned shard, shards; /* this run is shard `shard` of `shards`; 0: it is the whole */
    size_t asked;           /* pieces so far: piece n belongs to shard n mod shards */
    int merges;             /* 1: nothing is measured, pages are merged */
    int model;              /* of the page that is being read; 0 before its heading */
    part_row *rows;
    size_t row_count;
    part_piece *pieces;
    size_t piece_count;
    progress shown;
    double minutes, minutes_before, minutes_here; /* of the run, of earlier topics, of this topic */
} reproduce_parts;

/* Reads a page. Returns 0, or -1 after a message on standard error that names file and line. */
int parts_read(reproduce_parts *parts, const char *path, int is_short);
/* Returns the last row of an id that was read, or NULL. */
const part_row *parts_row(const reproduce_parts *parts, const char *id);
/* Returns 1 when the piece, or undivided topic, of a number belongs to this run. */
int parts_here(const reproduce_parts *parts, size_t number);
void parts_free(reproduce_parts *parts);
#endif
