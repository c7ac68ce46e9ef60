/* Inputs of histo: bins around one in the middle, so crowded there that counters of eight bits overflow: a quarter of
 * the values are that bin, a quarter are spread over 16 bins, the others over as many as sums of two uniform numbers
 * reach. */
#include "reference.h"

const char *generate_histo(const reference_launch *launch, uint64_t seed) {
    const uint32_t count = reference_u32(launch, 3);
    uint32_t *bins = reference_u32s(launch, 2, count);
    if (!bins) return "histo takes u32 result[1024], u32 overflow[1024], u32 bins[count] and s32 count";
    uint64_t state = seed;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t kind = reference_random_below(&state, 4);
        bins[i] = kind == 0   ? 511
                  : kind == 1 ? 504 + reference_random_below(&state, 16)
                              : reference_random_below(&state, 512) + reference_random_below(&state, 513);
    }
    return NULL;
}
