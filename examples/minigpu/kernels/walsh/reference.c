/* walsh(s32 words[n]), n = blocks times twice the threads of a block, which are a power of two: each stretch becomes
 * its Walsh-Hadamard transform. */
#include "reference.h"

const char *reference_walsh(const reference_launch *launch) {
    const uint32_t threads = launch->block[0];
    const uint64_t n = (uint64_t)launch->grid[0] * 2 * threads;
    uint32_t *words = reference_u32s(launch, 0, n);
    if (launch->argument_count != 1 || !words || threads & (threads - 1) || launch->block[1] != 1 ||
        launch->block[2] != 1 || launch->grid[1] != 1 || launch->grid[2] != 1)
        return "walsh takes an s32 buffer of blocks * 2 * threads words, in blocks of a power of two of threads";
    for (uint64_t first = 0; first < n; first += 2 * threads)
        for (uint32_t half = threads; half; half >>= 1)
            for (uint32_t i = 0; i < 2 * threads; i++) {
                const uint32_t a = words[first + i], b = words[first + (i | half)];
                if (i & half) continue;
                words[first + i] = a + b;
                words[first + (i | half)] = a - b;
            }
    return NULL;
}
