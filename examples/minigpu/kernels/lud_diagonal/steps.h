/* The steps of a tiled LU decomposition in place, tiles of 16x16, and the matrix Rodinia's lud works on. */
#ifndef MINIGPU_LUD_STEPS_H
#define MINIGPU_LUD_STEPS_H
#include <stddef.h>

void lud_factor_diagonal(float *matrix, size_t size, size_t offset);
/* The index-th tile (from 1) to the right of and below the diagonal tile. */
void lud_solve_perimeter(float *matrix, size_t size, size_t offset, size_t index);
/* The tile `down` tiles below and `right` tiles to the right of the diagonal tile (both from 1). */
void lud_update_internal(float *matrix, size_t size, size_t offset, size_t down, size_t right);
/* A symmetric matrix whose elements fall off exponentially with the distance from the diagonal, each a little different
 * by the seed, decomposed up to offset (a multiple of 16) and then by `steps` more: 1 the diagonal tile, 2 the
 * perimeter. */
void lud_fill(float *matrix, size_t size, size_t offset, int steps, unsigned long long seed);
#endif
