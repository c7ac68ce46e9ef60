/* symbols(u32 from[n + 3], u32 to[n], u32 rounds), n = threads, at most 1024, and 4096 rounds: four weights of a
 * constant array, turned by one in each round, and a bias. */
#include "reference.h"

const char *reference_symbols(const reference_launch *launch) {
    static const uint32_t weights[4] = {3, 5, 7, 11};
    const uint64_t n = (uint64_t)launch->grid[0] * launch->block[0];
    const uint32_t rounds = reference_u32(launch, 2), *from = reference_u32s(launch, 0, n + 3);
    uint32_t *to = reference_u32s(launch, 1, n);
    if (launch->argument_count != 3 || !from || !to || n > 1024 || launch->block[1] != 1 || launch->block[2] != 1 ||
        launch->grid[1] != 1 || launch->grid[2] != 1 || rounds > 4096)
        return "symbols takes a u32 buffer of threads + 3 words, one of a word per thread, and u32 rounds up to 4096, "
               "with at most 1024 threads";
    for (uint64_t i = 0; i < n; i++) {
        uint32_t sum = 0;
        for (uint32_t r = 0; r < rounds; r++) {
            uint32_t weighed = 40;
            for (uint32_t k = 0; k < 4; k++) weighed += weights[(k + r) % 4] * from[i + k];
            sum = sum * 31 + weighed;
        }
        to[i] = sum + rounds;
    }
    return NULL;
}
