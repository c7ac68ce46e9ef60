/* The table of aes: word i holds the S-box of byte i times 2, 1, 1 and 3 in the field of AES; the round keys are
 * random words. */
#include "reference.h"

static uint32_t aes_double(uint32_t x) { return (x << 1 ^ (x & 128 ? 0x11b : 0)) & 255; }
static uint32_t aes_multiply(uint32_t x, uint32_t y) {
    uint32_t product = 0;
    for (; y; y >>= 1, x = aes_double(x))
        if (y & 1) product ^= x;
    return product;
}

const char *generate_aes(const reference_launch *launch, uint64_t seed) {
    uint32_t *keys = reference_u32s(launch, 2, 44), *table = reference_u32s(launch, 3, 256);
    uint64_t state = seed;
    if (!keys || !table) return "aes needs keys[44] and table[256]";
    for (uint32_t i = 0; i < 44; i++) keys[i] = (uint32_t)reference_random(&state);
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t inverse = 0, s;
        for (uint32_t j = 1; j < 256 && i && !inverse; j++)
            if (aes_multiply(i, j) == 1) inverse = j;
        s = (inverse ^ inverse << 1 ^ inverse << 2 ^ inverse << 3 ^ inverse << 4);
        s = ((s ^ s >> 8) & 255) ^ 0x63;
        table[i] = aes_double(s) << 24 | s << 16 | s << 8 | (aes_double(s) ^ s);
    }
    return NULL;
}
