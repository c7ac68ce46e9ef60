/* sto(u32 digests[32 gx][4], u32 store[32 gx][rounds][16], s32 rounds) */
#include "reference.h"

static uint32_t sto_turn(uint32_t x, uint32_t by) { return x << by | x >> (32 - by); }

const char *reference_sto(const reference_launch *launch) {
    const int32_t rounds = reference_i32(launch, 2);
    if (launch->argument_count != 3 || rounds < 0 || !reference_fits(launch, 1u << 20) || launch->block[0] != 32 ||
        launch->block[1] != 1 || launch->block[2] != 1 || launch->grid[1] != 1 || launch->grid[2] != 1)
        return "sto takes u32 digests, u32 store and s32 rounds, and a row of blocks of 32 threads";
    const uint64_t parts = 32 * (uint64_t)launch->grid[0];
    uint32_t *digests = reference_u32s(launch, 0, 4 * parts);
    const uint32_t *store = reference_u32s(launch, 1, 16 * parts * (uint64_t)rounds);
    if (!digests || !store) return "sto needs digests[32 gx][4] and store[32 gx][rounds][16]";
    for (uint64_t part = 0; part < parts; part++) {
        uint32_t state[4] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};
        for (uint64_t round = 0; round < (uint64_t)rounds; round++) {
            const uint32_t *words = store + (part * (uint64_t)rounds + round) * 16;
            uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
            for (uint32_t step = 0; step < 64; step++) {
                static const uint32_t times[4] = {1, 5, 3, 7}, plus[4] = {0, 1, 5, 0};
                const uint32_t kind = step / 16;
                const uint32_t mixed = kind == 0   ? (b & c) | (~b & d)
                                       : kind == 1 ? (d & b) | (~d & c)
                                       : kind == 2 ? b ^ c ^ d
                                                   : c ^ (b | ~d);
                const uint32_t word = words[(times[kind] * step + plus[kind]) % 16];
                const uint32_t next =
                    b + sto_turn(a + mixed + word + 0x9e3779b9u * (step + 1), 4 + kind % 2 + step % 4 * 5);
                a = d;
                d = c;
                c = b;
                b = next;
            }
            state[0] += a;
            state[1] += b;
            state[2] += c;
            state[3] += d;
        }
        memcpy(digests + 4 * part, state, sizeof state);
    }
    return NULL;
}
