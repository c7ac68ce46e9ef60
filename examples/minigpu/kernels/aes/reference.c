/* aes(u32 ciphers[256 gx][4], u32 plains[256 gx][4], u32 keys[44], u32 table[256]) */
#include "reference.h"

/* Byte `row` (0: the highest) of a column's word. */
static uint32_t aes_byte(uint32_t word, uint32_t row) { return word >> (24 - 8 * row) & 255; }
static uint32_t aes_turn(uint32_t x, uint32_t by) { return by ? x >> by | x << (32 - by) : x; }

const char *reference_aes(const reference_launch *launch) {
    if (launch->argument_count != 4 || !reference_fits(launch, 1u << 20) || launch->block[0] != 256 ||
        launch->block[1] != 1 || launch->block[2] != 1 || launch->grid[1] != 1 || launch->grid[2] != 1)
        return "aes takes u32 ciphers, plains, keys and table, and a row of blocks of 256 threads";
    const uint64_t blocks = 256 * (uint64_t)launch->grid[0];
    uint32_t *ciphers = reference_u32s(launch, 0, 4 * blocks);
    const uint32_t *plains = reference_u32s(launch, 1, 4 * blocks), *keys = reference_u32s(launch, 2, 44);
    const uint32_t *table = reference_u32s(launch, 3, 256);
    if (!ciphers || !plains || !keys || !table) return "aes needs ciphers and plains[256 gx][4], keys[44], table[256]";
    for (uint64_t block = 0; block < blocks; block++) {
        uint32_t state[4], next[4];
        for (uint32_t c = 0; c < 4; c++) state[c] = plains[4 * block + c] ^ keys[c];
        for (uint32_t round = 1; round <= 10; round++) {
            for (uint32_t c = 0; c < 4; c++) {
                next[c] = keys[4 * round + c];
                for (uint32_t row = 0; row < 4; row++) {
                    const uint32_t entry = table[aes_byte(state[(c + row) % 4], row)];
                    next[c] ^= round < 10 ? aes_turn(entry, 8 * row) : (entry >> 8 & 255) << (24 - 8 * row);
                }
            }
            memcpy(state, next, sizeof state);
        }
        memcpy(ciphers + 4 * block, state, sizeof state);
    }
    return NULL;
}
