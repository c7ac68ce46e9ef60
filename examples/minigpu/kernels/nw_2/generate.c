/* Inputs of nw_2: the score matrix as it stands before the launch's diagonal of tiles, past the longest one. */
#include "../nw_1/alignment.h"
#include "reference.h"

const char *generate_nw_2(const reference_launch *launch, uint64_t seed) {
    const int32_t columns = reference_i32(launch, 2), penalty = reference_i32(launch, 3);
    const int32_t tiles = reference_i32(launch, 4), diagonal = reference_i32(launch, 5);
    if (launch->argument_count != 6 || columns < 17 || columns > 65537 || columns % 16 != 1 ||
        tiles != (columns - 1) / 16 || diagonal < 1 || diagonal > tiles)
        return "nw_2 takes s32 similarity, score, s32 columns (16*tiles + 1), penalty, tiles, diagonal (1 to tiles)";
    const uint64_t width = (uint64_t)(uint32_t)columns, pairs = launch->grid[1];
    int32_t *similarity = reference_i32s(launch, 0, pairs * width * width);
    int32_t *score = reference_i32s(launch, 1, pairs * width * width);
    if (!similarity || !score) return "nw_2 needs two buffers of columns*columns s32 per pair";
    for (uint64_t pair = 0; pair < pairs; pair++)
        nw_fill(similarity + pair * width * width, score + pair * width * width, width, penalty,
                (uint64_t)(2 * (int64_t)tiles - 1 - diagonal), seed + (pair << 32));
    return NULL;
}
