/* sad_2(u16 large[macroblocks][9][2 pairs], u16 small[macroblocks][16][2 pairs], s32 pairs), as the words that they
 * are: halves do not carry while sums are those of bytes, but the words wrap. */
#include "reference.h"

const char *reference_sad_2(const reference_launch *launch) {
    const int32_t pairs = reference_i32(launch, 2);
    if (launch->argument_count != 3 || pairs < 1 || !reference_fits(launch, 1u << 20) || launch->grid[1] != 1 ||
        launch->grid[2] != 1 || launch->block[1] != 1 || launch->block[2] != 1)
        return "sad_2 takes u16 large, u16 small and s32 pairs, and a row of blocks of threads in a row";
    const uint64_t n = (uint64_t)pairs, blocks = launch->grid[0];
    uint32_t *large = reference_u32s(launch, 0, blocks * 9 * n);
    const uint32_t *small = reference_u32s(launch, 1, blocks * 16 * n);
    if (!large || !small) return "sad_2 needs large[blocks][9][2 pairs] and small[blocks][16][2 pairs] of u16";
    for (uint64_t block = 0; block < blocks; block++) {
        for (uint64_t pair = 0; pair < n; pair++) {
            const uint32_t *from = small + block * 16 * n + pair;
            uint32_t *to = large + block * 9 * n + pair, quarter[4];
            for (uint64_t q = 0; q < 4; q++) {
                const uint64_t part = q / 2 * 8 + q % 2 * 2;
                quarter[q] = from[part * n] + from[(part + 1) * n] + from[(part + 4) * n] + from[(part + 5) * n];
                to[q * n] = quarter[q];
            }
            to[4 * n] = quarter[0] + quarter[1];
            to[5 * n] = quarter[2] + quarter[3];
            to[6 * n] = quarter[0] + quarter[2];
            to[7 * n] = quarter[1] + quarter[3];
            to[8 * n] = quarter[0] + quarter[1] + quarter[2] + quarter[3];
        }
    }
    return NULL;
}
