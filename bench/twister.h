/* twister: the Mersenne twister (MT19937), with which sources of measured rows made their random numbers. */
#ifndef BENCH_TWISTER_H
#define BENCH_TWISTER_H
#include <stdint.h>
#include <string.h>

enum { TWISTER = 624 };
typedef struct twister {
    uint32_t state[TWISTER];
    uint32_t at;
    int has_saved; /* a number that a user has drawn and not used yet */
    double saved;
} twister;

static inline void twister_seed(twister *t, uint32_t value) {
    memset(t, 0, sizeof *t);
    t->at = TWISTER;
    t->state[0] = value;
    for (uint32_t i = 1; i < TWISTER; i++) t->state[i] = 1812433253u * (t->state[i - 1] ^ (t->state[i - 1] >> 30)) + i;
}

static inline uint32_t twister_draw(twister *t) {
    uint32_t y;
    if (t->at == TWISTER) {
        for (uint32_t i = 0; i < TWISTER; i++) {
            y = (t->state[i] & 0x80000000u) | (t->state[(i + 1) % TWISTER] & 0x7fffffffu);
            t->state[i] = t->state[(i + 397) % TWISTER] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
        }
        t->at = 0;
    }
    y = t->state[t->at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

/* Returns a number from 0 to 1 of 64 bits, the lower half first (C++'s std::generate_canonical). */
static inline double twister_unit(twister *t) {
    const double low = twister_draw(t);
    return (low + twister_draw(t) * 4294967296.0) / 18446744073709551616.0;
}

/* Returns a number from 0 to 1 of 53 bits, the upper part first (NumPy's legacy generator). */
static inline double twister_unit53(twister *t) {
    const double high = twister_draw(t) >> 5;
    return (high * 67108864.0 + (twister_draw(t) >> 6)) / 9007199254740992.0;
}
#endif
