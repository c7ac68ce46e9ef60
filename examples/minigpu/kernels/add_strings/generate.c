/* Strings of 1 to 31 letters, of lengths drawn from the seed. */
#include "reference.h"

static uint32_t draw(uint64_t *state, uint32_t below) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % below);
}

const char *generate_add_strings(const reference_launch *launch, uint64_t seed) {
    const uint64_t count = reference_count(launch, 2, 4);
    uint8_t *slots[2] = {reference_u8s(launch, 0, count * 32), reference_u8s(launch, 1, count * 32)};
    uint32_t *lengths = reference_u32s(launch, 2, count);
    uint64_t i, n;
    if (!slots[0] || !slots[1] || !lengths) return "add_strings: slots of 32 bytes for each length";
    for (i = 0; i < count; i++) {
        lengths[i] = 1 + draw(&seed, 31);
        lengths[i] |= (1 + draw(&seed, 31)) << 16;
    }
    for (i = 0; i < 2; i++)
        for (n = 0; n < count * 32; n++) slots[i][n] = (uint8_t)('a' + draw(&seed, 26));
    return NULL;
}
