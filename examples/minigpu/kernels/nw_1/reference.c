/* nw_1(s32 similarity[columns][columns], s32 score[columns][columns], s32 columns, s32 penalty, s32 diagonal) */
#include "alignment.h"
#include "reference.h"

static int32_t nw_larger(int32_t a, int32_t b) { return a > b ? a : b; }

void nw_tile(const int32_t *similarity, int32_t *score, uint64_t columns, int32_t penalty, uint64_t tile_x,
             uint64_t tile_y) {
    for (uint64_t y = tile_y * 16 + 1; y <= tile_y * 16 + 16; y++) {
        for (uint64_t x = tile_x * 16 + 1; x <= tile_x * 16 + 16; x++) {
            int32_t *cell = score + y * columns + x;
            int32_t match = reference_add(cell[-(int64_t)columns - 1], similarity[y * columns + x]);
            *cell = nw_larger(match, reference_subtract(nw_larger(cell[-1], cell[-(int64_t)columns]), penalty));
        }
    }
}

const char *reference_nw_1(const reference_launch *launch) {
    const int32_t columns = reference_i32(launch, 2), penalty = reference_i32(launch, 3),
                  diagonal = reference_i32(launch, 4);
    if (launch->argument_count != 5 || columns < 17 || columns > 65537 || columns % 16 != 1 || diagonal < 1 ||
        diagonal > (columns - 1) / 16)
        return "nw_1 takes s32 similarity, score, s32 columns (16 times the tiles, plus 1), penalty, diagonal (1 to "
               "tiles)";
    if (reference_block_threads(launch) != 16 || launch->block[0] != 16 || launch->grid[0] != (uint32_t)diagonal ||
        launch->grid[2] != 1)
        return "nw_1 needs a grid of the diagonal's tiles x pairs of sequences, and blocks of 16 threads";
    const uint64_t width = (uint64_t)(uint32_t)columns, pairs = launch->grid[1];
    const int32_t *similarity = reference_i32s(launch, 0, pairs * width * width);
    int32_t *score = reference_i32s(launch, 1, pairs * width * width);
    if (!similarity || !score) return "nw_1 needs two buffers of columns*columns s32 per pair";
    for (uint64_t pair = 0; pair < pairs; pair++)
        for (uint32_t block = 0; block < launch->grid[0]; block++)
            nw_tile(similarity + pair * width * width, score + pair * width * width, width, penalty, block,
                    launch->grid[0] - 1 - block);
    return NULL;
}
