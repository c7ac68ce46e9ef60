/* Inputs of both halves of the alignment: the score matrix as it stands before the launch's diagonal of tiles. */
#include "alignment.h"
#include "reference.h"

static int32_t nw_alike(uint32_t a, uint32_t b, uint64_t seed) {
    uint64_t state = seed ^ (a < b ? a * 32 + b : b * 32 + a);
    return a == b ? 4 + (int32_t)reference_random_below(&state, 6) : (int32_t)reference_random_below(&state, 6) - 4;
}

/* The letter at a place of one of the two sequences, made from the seed alone, so that none has to be kept. */
static uint32_t nw_letter(uint64_t seed, uint32_t sequence, uint64_t place) {
    uint64_t state = seed + 2 * place + sequence;
    return reference_random_below(&state, 20);
}

void nw_fill(int32_t *similarity, int32_t *score, uint64_t columns, int32_t penalty, uint64_t diagonal, uint64_t seed) {
    const uint64_t tiles = (columns - 1) / 16;
    for (uint64_t y = 0; y < columns; y++) {
        uint32_t letter = nw_letter(seed, 0, y);
        for (uint64_t x = 0; x < columns; x++) {
            similarity[y * columns + x] = y > 0 && x > 0 ? nw_alike(letter, nw_letter(seed, 1, x), seed) : 0;
            score[y * columns + x] = (int32_t)(y == 0   ? 0u - (uint32_t)x * (uint32_t)penalty
                                               : x == 0 ? 0u - (uint32_t)y * (uint32_t)penalty
                                                        : 0u);
        }
    }
    for (uint64_t sum = 0; sum < diagonal; sum++)
        for (uint64_t tile_x = 0; tile_x <= sum; tile_x++)
            if (tile_x < tiles && sum - tile_x < tiles)
                nw_tile(similarity, score, columns, penalty, tile_x, sum - tile_x);
}

const char *generate_nw_1(const reference_launch *launch, uint64_t seed) {
    const int32_t columns = reference_i32(launch, 2), penalty = reference_i32(launch, 3),
                  diagonal = reference_i32(launch, 4);
    if (launch->argument_count != 5 || columns < 17 || columns > 65537 || columns % 16 != 1 || diagonal < 1 ||
        diagonal > (columns - 1) / 16)
        return "nw_1 takes s32 similarity, score, s32 columns (16 times the tiles, plus 1), penalty, diagonal (1 to "
               "tiles)";
    const uint64_t width = (uint64_t)(uint32_t)columns, pairs = launch->grid[1];
    int32_t *similarity = reference_i32s(launch, 0, pairs * width * width);
    int32_t *score = reference_i32s(launch, 1, pairs * width * width);
    if (!similarity || !score) return "nw_1 needs two buffers of columns*columns s32 per pair";
    for (uint64_t pair = 0; pair < pairs; pair++)
        nw_fill(similarity + pair * width * width, score + pair * width * width, width, penalty,
                (uint64_t)(uint32_t)diagonal - 1, seed + (pair << 32));
    return NULL;
}
