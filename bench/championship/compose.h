/* compose: fits how long the saves and drains of a set take, from sets that were carried out. The recorder writes the
 * fitted model of each moment; score.c applies it to sets that were not carried out (docs/championship.md).
 *
 *     save ends   s0 + sum over k of (a_k x n_k) + KB x (s1 + sum over k of (b_k x n_k))
 *     drain ends  time without a guest x (f_k + g x share)
 *
 * KB is the context of the block and of all blocks that are saved before it on its SM. n_k is the number of blocks of
 * resident kernel k on the SM that are neither saved nor flushed: their misses have the port before the saves. share is
 * the part of the SM's blocks that are saved or flushed: the others drain faster without them. */
#ifndef CHAMPIONSHIP_COMPOSE_H
#define CHAMPIONSHIP_COMPOSE_H

#include <stdint.h>

enum { COMPOSE_KERNELS = 3, COMPOSE_SAVE = 2 + 2 * COMPOSE_KERNELS, COMPOSE_DRAIN = COMPOSE_KERNELS + 1 };

/* A block of a set. */
typedef struct compose_block {
    uint32_t sm, kernel; /* kernel: from 0 */
    uint32_t technique;  /* GPUMP_TECHNIQUES: the block stays */
    uint32_t order;      /* of its save among those of its SM */
    uint64_t bytes;      /* of its context */
    uint64_t leave;      /* cycles until it left; UINT64_MAX: unknown */
    uint64_t alone;      /* cycles of its drain without a guest; UINT64_MAX: unknown */
} compose_block;

/* Sums of two least-squares fits: the normal equations. All 0: no set yet. */
typedef struct compose_sums {
    double save[COMPOSE_SAVE][COMPOSE_SAVE + 1], drain[COMPOSE_DRAIN][COMPOSE_DRAIN + 1];
} compose_sums;

/* The model: save[] is s0, s1, a_0, b_0, a_1, ...; drain[] is f_0, f_1, f_2, g. */
typedef struct compose_model {
    double save[COMPOSE_SAVE], drain[COMPOSE_DRAIN];
} compose_model;

/* Adds a set. Its blocks stand SM by SM. */
void compose_add(compose_sums *sums, const compose_block *blocks, uint32_t count);
/* Solves the sums. A term without data is 0, and f_k without data is 1. */
void compose_solve(compose_sums *sums, compose_model *model);

#endif
