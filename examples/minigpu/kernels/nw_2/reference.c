/* nw_2(s32 similarity[columns][columns], s32 score[columns][columns], s32 columns, s32 penalty, s32 tiles, s32
 * diagonal) */
#include "../nw_1/alignment.h"
#include "reference.h"

const char *reference_nw_2(const reference_launch *launch) {
    const int32_t columns = reference_i32(launch, 2), penalty = reference_i32(launch, 3);
    const int32_t tiles = reference_i32(launch, 4), diagonal = reference_i32(launch, 5);
    if (launch->argument_count != 6 || columns < 17 || columns > 65537 || columns % 16 != 1 ||
        tiles != (columns - 1) / 16 || diagonal < 1 || diagonal > tiles)
        return "nw_2 takes s32 similarity, score, s32 columns (16*tiles + 1), penalty, tiles, diagonal (1 to tiles)";
    if (reference_block_threads(launch) != 16 || launch->block[0] != 16 || launch->grid[0] != (uint32_t)diagonal ||
        launch->grid[2] != 1)
        return "nw_2 needs a grid of the diagonal's tiles x pairs of sequences, and blocks of 16 threads";
    const uint64_t width = (uint64_t)(uint32_t)columns, pairs = launch->grid[1];
    const int32_t *similarity = reference_i32s(launch, 0, pairs * width * width);
    int32_t *score = reference_i32s(launch, 1, pairs * width * width);
    if (!similarity || !score) return "nw_2 needs two buffers of columns*columns s32 per pair";
    for (uint64_t pair = 0; pair < pairs; pair++)
        for (uint32_t block = 0; block < launch->grid[0]; block++)
            nw_tile(similarity + pair * width * width, score + pair * width * width, width, penalty,
                    block + (uint32_t)tiles - (uint32_t)diagonal, (uint32_t)tiles - 1 - block);
    return NULL;
}
