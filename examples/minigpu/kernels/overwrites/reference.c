/* overwrites(u32 words[n], u32 per_thread, u32 rounds, u32 zero), n = threads times per_thread, at most 4096 rounds,
 * zero = 0: each thread writes each of its words three times in a round; only the last value is left. */
#include "reference.h"

const char *reference_overwrites(const reference_launch *launch) {
    const uint32_t per_thread = reference_u32(launch, 1), rounds = reference_u32(launch, 2);
    const uint64_t threads = (uint64_t)launch->grid[0] * launch->block[0];
    uint32_t *words = reference_u32s(launch, 0, threads * per_thread);
    if (launch->argument_count != 4 || !words || launch->block[0] > 64 || launch->block[1] != 1 ||
        launch->block[2] != 1 || launch->grid[1] != 1 || launch->grid[2] != 1 || reference_u32(launch, 3) ||
        rounds > 4096)
        return "overwrites takes a u32 buffer of threads * per_thread words, u32 per_thread, u32 rounds up to 4096 and "
               "u32 0, in blocks of at most 64 threads";
    for (uint64_t thread = 0; thread < threads; thread++) {
        uint32_t *mine = words + thread * per_thread, value = (uint32_t)(thread % launch->block[0]) + 1;
        for (uint32_t r = 0; r < rounds; r++)
            for (uint32_t i = 0; i < per_thread; i++) {
                mine[i] = value ^ r;
                mine[i] += (mine[i] + i) * 3 + 1;
                value = value * 1664525 + mine[i];
            }
    }
    return NULL;
}
