/* What both halves of the alignment share. */
#ifndef MINIGPU_NW_ALIGNMENT_H
#define MINIGPU_NW_ALIGNMENT_H
#include <stdint.h>

/* Computes the 16x16 cells of one tile from its northern and western neighbours. */
void nw_tile(const int32_t *similarity, int32_t *score, uint64_t columns, int32_t penalty, uint64_t tile_x,
             uint64_t tile_y);
/* Fills both matrices (columns x columns; columns - 1 a multiple of 16): two random sequences over 20 letters, equal
 * letters alike by 4 to 9 and others by -4 to 1, much as in BLOSUM62; scores of all tiles on the diagonals before
 * `diagonal` (tile_x + tile_y), nothing on the others. */
void nw_fill(int32_t *similarity, int32_t *score, uint64_t columns, int32_t penalty, uint64_t diagonal, uint64_t seed);
#endif
