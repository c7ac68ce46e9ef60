/* curand_kernel: random numbers on the device. Philox4x32-10 (Salmon and others 2011) gives the numbers of cuRAND.
 * XORWOW (Marsaglia 2003) is the same generator, but its sequences begin at hashed states, and not 2^67 numbers apart.
 */
#ifndef MINIGPU_CURAND_KERNEL_H
#define MINIGPU_CURAND_KERNEL_H

#include "cuda_runtime.h"

#ifdef __CUDA__
#define MINIGPU_RANDOM static inline __device__

/* ---- generators ---- */

struct curandStateXORWOW {
    unsigned int d, v[5];
    int has_normal, has_double_normal;
    float normal;
    double double_normal;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

struct curandStatePhilox4_32_10 {
    uint4 counter, output;
    uint2 key;
    unsigned int state;
    int has_normal, has_double_normal;
    float normal;
    double double_normal;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

MINIGPU_RANDOM unsigned int curand(curandStateXORWOW *s) {
    unsigned int t = s->v[0] ^ s->v[0] >> 2;
    s->v[0] = s->v[1];
    s->v[1] = s->v[2];
    s->v[2] = s->v[3];
    s->v[3] = s->v[4];
    s->v[4] = (s->v[4] ^ s->v[4] << 4) ^ (t ^ t << 1);
    s->d += 362437;
    return s->v[4] + s->d;
}
/* x = x * y over GF(2), modulo the characteristic polynomial of the 160 bits of v. Bit i % 32 of word i / 32
 * is the coefficient of degree i. */
MINIGPU_RANDOM void minigpu_multiply(unsigned int *x, const unsigned int *y) {
    unsigned int product[5] = {0};
    for (int i = 159; i >= 0; i--) {
        const unsigned int high = -(product[4] >> 31), adds = -(y[i / 32] >> i % 32 & 1);
        for (int k = 4; k; k--) product[k] = product[k] << 1 | product[k - 1] >> 31;
        product[0] <<= 1;
        product[0] ^= high & 0x00060001u;
        product[1] ^= high & 0x08610030u;
        product[2] ^= high & 0x00062121u;
        product[3] ^= high & 0x0f3c0035u;
        product[4] ^= high & 0x00000f0eu;
        for (int k = 0; k < 5; k++) product[k] ^= adds & x[k];
    }
    for (int k = 0; k < 5; k++) x[k] = product[k];
}
/* Many steps at once (Haramoto and others 2008): z to the power of count, modulo the characteristic polynomial, is a
 * sum of powers below 160. So the state after count steps is the sum of the states after these numbers of steps. */
MINIGPU_RANDOM void skipahead(unsigned long long count, curandStateXORWOW *s) {
    const unsigned int d = s->d + (unsigned int)count * 362437;
    unsigned int power[5] = {1}, square[5] = {2}, sum[5] = {0};
    if (count < 2048) {
        for (; count; count--) curand(s);
        return;
    }
    for (; count; count >>= 1) {
        if (count & 1) minigpu_multiply(power, square);
        minigpu_multiply(square, square);
    }
    for (int i = 0; i < 160; i++, curand(s))
        for (int k = 0; k < 5; k++) sum[k] ^= -(power[i / 32] >> i % 32 & 1) & s->v[k];
    for (int k = 0; k < 5; k++) s->v[k] = sum[k];
    s->d = d;
}
/* A state for each seed and sequence: SplitMix64 of both. */
MINIGPU_RANDOM void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                                curandStateXORWOW *s) {
    unsigned long long x = seed ^ sequence * 0x9e3779b97f4a7c15ull;
    for (int i = 0; i < 3; i++) {
        unsigned long long z = x += 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        z ^= z >> 31;
        if (i < 2) {
            s->v[2 * i] = (unsigned int)z;
            s->v[2 * i + 1] = (unsigned int)(z >> 32);
        } else {
            s->v[4] = (unsigned int)z | 1;
            s->d = (unsigned int)(z >> 32);
        }
    }
    s->has_normal = s->has_double_normal = 0;
    skipahead(offset, s);
}

MINIGPU_RANDOM uint4 minigpu_philox(uint4 c, uint2 key) {
    for (int round = 0; round < 10; round++) {
        const unsigned int high0 = __umulhi(0xd2511f53u, c.x), low0 = 0xd2511f53u * c.x;
        const unsigned int high1 = __umulhi(0xcd9e8d57u, c.z), low1 = 0xcd9e8d57u * c.z;
        c = make_uint4(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return c;
}
/* The counter is one number of 128 bits. */
MINIGPU_RANDOM void minigpu_advance(uint4 *c, unsigned long long n) {
    const unsigned long long low = ((unsigned long long)c->y << 32 | c->x) + n;
    c->x = (unsigned int)low;
    c->y = (unsigned int)(low >> 32);
    if (low < n && ++c->z == 0) c->w++;
}
MINIGPU_RANDOM void skipahead(unsigned long long count, curandStatePhilox4_32_10_t *s) {
    s->state += (unsigned int)(count & 3);
    count /= 4;
    if (s->state > 3) {
        count++;
        s->state -= 4;
    }
    minigpu_advance(&s->counter, count);
    s->output = minigpu_philox(s->counter, s->key);
}
MINIGPU_RANDOM void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                                curandStatePhilox4_32_10_t *s) {
    s->counter = make_uint4(0, 0, (unsigned int)sequence, (unsigned int)(sequence >> 32));
    s->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
    s->state = 0;
    s->has_normal = s->has_double_normal = 0;
    skipahead(offset, s);
}
MINIGPU_RANDOM unsigned int curand(curandStatePhilox4_32_10_t *s) {
    const unsigned int value = s->state == 0   ? s->output.x
                               : s->state == 1 ? s->output.y
                               : s->state == 2 ? s->output.z
                                               : s->output.w;
    if (++s->state == 4) {
        minigpu_advance(&s->counter, 1);
        s->output = minigpu_philox(s->counter, s->key);
        s->state = 0;
    }
    return value;
}
MINIGPU_RANDOM uint4 curand4(curandStatePhilox4_32_10_t *s) {
    const unsigned int a = curand(s), b = curand(s), c = curand(s), d = curand(s);
    return make_uint4(a, b, c, d);
}

/* ---- distributions ---- */

/* (0, 1]: cuRAND's own scaling. */
MINIGPU_RANDOM float minigpu_uniform(unsigned int x) { return (float)x * 0x1p-32f + 0x1p-33f; }
template <class State> MINIGPU_RANDOM float curand_uniform(State *s) { return minigpu_uniform(curand(s)); }
MINIGPU_RANDOM float4 curand_uniform4(curandStatePhilox4_32_10_t *s) {
    const uint4 x = curand4(s);
    return make_float4(minigpu_uniform(x.x), minigpu_uniform(x.y), minigpu_uniform(x.z), minigpu_uniform(x.w));
}
template <class State> MINIGPU_RANDOM double curand_uniform_double(State *s) {
    const unsigned long long x = curand(s), y = curand(s);
    return (double)(x ^ y << 21) * 0x1p-53 + 0x1p-54;
}
/* Box and Muller: two normal numbers at a time. */
template <class State> MINIGPU_RANDOM float2 curand_normal2(State *s) {
    const float radius = sqrtf(-2.0f * logf(curand_uniform(s)));
    float sine, cosine;
    sincospif(2.0f * curand_uniform(s), &sine, &cosine);
    return make_float2(radius * sine, radius * cosine);
}
template <class State> MINIGPU_RANDOM double2 curand_normal2_double(State *s) {
    const double radius = sqrt(-2.0 * log(curand_uniform_double(s)));
    double sine, cosine;
    sincospi(2.0 * curand_uniform_double(s), &sine, &cosine);
    return make_double2(radius * sine, radius * cosine);
}
MINIGPU_RANDOM float4 curand_normal4(curandStatePhilox4_32_10_t *s) {
    const float2 a = curand_normal2(s), b = curand_normal2(s);
    return make_float4(a.x, a.y, b.x, b.y);
}
template <class State> MINIGPU_RANDOM float curand_normal(State *s) {
    if (s->has_normal) {
        s->has_normal = 0;
        return s->normal;
    }
    const float2 pair = curand_normal2(s);
    s->normal = pair.y;
    s->has_normal = 1;
    return pair.x;
}
template <class State> MINIGPU_RANDOM double curand_normal_double(State *s) {
    if (s->has_double_normal) {
        s->has_double_normal = 0;
        return s->double_normal;
    }
    const double2 pair = curand_normal2_double(s);
    s->double_normal = pair.y;
    s->has_double_normal = 1;
    return pair.x;
}
template <class State> MINIGPU_RANDOM float curand_log_normal(State *s, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(s));
}
/* Knuth's product of uniform numbers for small means; a rounded normal number for large ones. */
template <class State> MINIGPU_RANDOM unsigned int curand_poisson(State *s, double mean) {
    unsigned int n = 0;
    if (mean > 500) {
        const double x = mean + sqrt(mean) * curand_normal_double(s) + 0.5;
        return x > 0 ? (unsigned int)x : 0;
    }
    for (double rest = mean + log(curand_uniform_double(s)); rest > 0; n++) rest += log(curand_uniform_double(s));
    return n;
}
#undef MINIGPU_RANDOM
#endif

#endif
