/* Register contents for the compression tests: every pattern, its near misses, and every layout. */
#ifndef COMPRESS_CASES_H
#define COMPRESS_CASES_H
#include "test.h"

typedef struct compress_case {
    gpump_compress_layout layout;
    uint32_t *values;   /* the block as it is */
    uint32_t *restored; /* the block as it came back */
    uint64_t *live;     /* NULL or masks */
    uint64_t masks[GPUMP_COMPRESS_MAX_WARPS * 4];
    unsigned char *out;
    unsigned char *other;
    size_t capacity;
} compress_case;

#define COMPRESS_CASE_WORDS ((size_t)GPUMP_COMPRESS_MAX_WARPS * 80 * 80)

static inline void compress_case_init(compress_case *c) {
    memset(c, 0, sizeof *c);
    c->values = malloc(COMPRESS_CASE_WORDS * 4);
    if (posix_memalign((void **)&c->restored, 64, COMPRESS_CASE_WORDS * 4))
        fail_msg("out of memory"); /* AROUND writes whole lines of 64 bytes */
    c->capacity = COMPRESS_CASE_WORDS * 4 + 100000;
    c->out = malloc(c->capacity);
    c->other = malloc(c->capacity);
    if (!c->values || !c->restored || !c->out || !c->other) fail_msg("out of memory");
}
static inline void compress_case_free(compress_case *c) {
    free(c->values);
    free(c->restored);
    free(c->out);
    free(c->other);
}

/* A 32-bit word that a GPU program might hold, or one made to hurt. */
static inline uint32_t compress_case_word(uint64_t *random) {
    static const uint32_t special[] = {0,           1,           0xffffffffu, 0x7fc00000u, 0x7f800001u,
                                       0xffc00000u, 0xff800000u, 0x80000000u, 0x7fffffffu, 0x3f800000u,
                                       0x00000080u, 0xdeadbeefu, 0x00800000u};
    uint64_t x = gpump_random_next(random);
    return x & 1 ? special[(x >> 8) % (sizeof special / sizeof *special)] : (uint32_t)(x >> 32);
}

/* Fills one register of the whole block. */
static inline void compress_case_register(compress_case *c, uint32_t r, uint64_t *random) {
    const gpump_compress_layout *l = &c->layout;
    uint32_t kind = gpump_random_below(random, 17), base = compress_case_word(random), x = compress_case_word(random),
             y = compress_case_word(random), w, i;
    for (w = 0; w < l->warps; w++) {
        uint32_t *v = c->values + (size_t)w * l->warp_stride + (size_t)r * l->register_stride;
        uint32_t here = gpump_random_below(random, 4), bw = compress_case_word(random), xw = compress_case_word(random);
        for (i = 0; i < l->lanes; i++) {
            uint32_t thread = w * l->lanes + i, g = thread / l->group, in = i % l->group;
            switch (kind) {
            case 0: v[i] = base; break;                                                  /* global uniform */
            case 1: v[i] = base + thread * x; break;                                     /* global strided */
            case 2: v[i] = base + g * y + in * x; break;                                 /* grid */
            case 3: v[i] = base + g * g * y; break;                                      /* local uniform */
            case 4: v[i] = base + in * (x + (g & 1)); break;                             /* local strided */
            case 5: v[i] = bw; break;                                                    /* uniform in each warp */
            case 6: v[i] = bw + in * xw; break;                                          /* strided in each warp */
            case 7: v[i] = here == 0 ? compress_case_word(random) : bw + in * xw; break; /* mixed warps */
            case 8: v[i] = 0x7fc00000u | (thread & 0x3fffffu); break;                    /* NaNs with a payload */
            case 9:
                v[i] = (uint32_t)((0x100000000ull + (uint64_t)thread * x) >> 32);
                break;                                      /* the upper half of a 64-bit pair */
            case 10: v[i] = base + in * 0x80000000u; break; /* wraps at every step */
            case 11: v[i] = base + in * 0x40000001u; break;
            case 12: v[i] = i == 0 ? bw : base + in * x; break; /* the first lane differs */
            case 13:
                v[i] = base + gpump_random_below(random, 1u << (8 + 8 * (r & 1))) - (i & 1);
                break; /* near each other, or just not */
            case 14: v[i] = base + gpump_random_below(random, 1u << 24); break;
            case 15:
                v[i] = w ? (v - l->warp_stride)[i] + (w & 2 ? x : y) : compress_case_word(random);
                break; /* as in the warp before */
            default: v[i] = compress_case_word(random); break;
            }
        }
        /* A near miss: one bit of one lane. */
        if (gpump_random_below(random, 16) == 0)
            v[gpump_random_below(random, l->lanes)] ^= 1u << gpump_random_below(random, 32);
    }
}

/* Makes a block; the kind of layout most GPUs have, or any at all. Returns its vector registers. */
static inline uint64_t compress_case_make(compress_case *c, uint64_t *random) {
    gpump_compress_layout *l = &c->layout;
    uint32_t r, w, i, words, shape;
    if (gpump_random_below(random, 4)) {
        static const uint32_t groups[] = {8, 16, 32, 32};
        l->lanes = 32;
        l->group = groups[gpump_random_below(random, 4)];
        l->last_lanes = gpump_random_below(random, 3) ? 32 : 1 + gpump_random_below(random, 32);
    } else {
        uint32_t lowest;
        l->lanes = 1 + gpump_random_below(random, 64);
        lowest = l->lanes < 8 ? l->lanes : 8;
        l->group = lowest + gpump_random_below(random, l->lanes - lowest + 1);
        l->last_lanes = 1 + gpump_random_below(random, l->lanes);
    }
    l->warps = gpump_random_below(random, 3) ? 1 + gpump_random_below(random, 8)
                                             : 1 + gpump_random_below(random, GPUMP_COMPRESS_MAX_WARPS);
    l->registers = 1 + gpump_random_below(random, l->warps > 16 ? 32 : 80);
    l->register_stride = l->lanes + (gpump_random_below(random, 4) ? 0 : gpump_random_below(random, 8));
    l->warp_stride =
        l->registers * l->register_stride + (gpump_random_below(random, 4) ? 0 : gpump_random_below(random, 8));
    words = (l->registers + 63) / 64;
    shape = gpump_random_below(random, 6);
    c->live = shape == 0 ? NULL : c->masks;
    l->live_stride = shape < 3 ? 0 : words;
    for (w = 0; w < l->warps; w++)
        for (i = 0; i < words; i++) {
            uint64_t m = gpump_random_next(random);
            if (shape == 1 || shape == 3) m &= gpump_random_next(random) & gpump_random_next(random);
            if (shape == 5) m = gpump_random_below(random, 2) ? 0 : ~(uint64_t)0;
            c->masks[w * words + i] = m;
        }
    for (r = 0; r < l->registers; r++) compress_case_register(c, r, random);
    return (uint64_t)l->warps * l->registers;
}

static inline int compress_case_is_live(const compress_case *c, uint32_t w, uint32_t r) {
    return !c->live || gpump_bits_get(c->live + (size_t)w * c->layout.live_stride, r);
}

/* 1 when every live register came back and nothing else was touched, which holds `fill` everywhere else. */
static inline int compress_case_same(const compress_case *c, uint32_t form, uint32_t fill) {
    const gpump_compress_layout *l = &c->layout;
    uint32_t w, r, i, any;
    for (r = 0; r < l->registers; r++) {
        for (any = 0, w = 0; w < l->warps; w++) any |= (uint32_t)compress_case_is_live(c, w, r);
        for (w = 0; w < l->warps; w++) {
            size_t at = (size_t)w * l->warp_stride + (size_t)r * l->register_stride;
            uint32_t lanes = w + 1 == l->warps ? l->last_lanes : l->lanes;
            int saved = form == GPUMP_COMPRESS_FORM_RAW ||
                        (form == GPUMP_COMPRESS_FORM_BLOCK ? (int)any : compress_case_is_live(c, w, r));
            if (saved) {
                if (memcmp(c->values + at, c->restored + at, lanes * 4u)) return 0;
            } else {
                lanes = 0;
            }
            for (i = lanes; i < l->lanes; i++)
                if (c->restored[at + i] != fill) return 0;
        }
    }
    return 1;
}

/* Round trips `count` vector registers or a few more, through every form and every code path. */
static inline void compress_case_round_trips(uint64_t count) {
    static const uint32_t allowed[] = {GPUMP_COMPRESS_ALLOW_RAW,
                                       GPUMP_COMPRESS_ALLOW_LIVE,
                                       GPUMP_COMPRESS_ALLOW_WARP,
                                       GPUMP_COMPRESS_ALLOW_BLOCK,
                                       GPUMP_COMPRESS_ALLOW_ALL,
                                       GPUMP_COMPRESS_ALLOW_WARP | GPUMP_COMPRESS_PAPER,
                                       GPUMP_COMPRESS_ALLOW_BLOCK | GPUMP_COMPRESS_PAPER,
                                       GPUMP_COMPRESS_ALLOW_NEAR,
                                       GPUMP_COMPRESS_ALLOW_ALL | GPUMP_COMPRESS_PAPER};
    static const uint32_t paths[] = {0, GPUMP_COMPRESS_PLAIN, GPUMP_COMPRESS_AVX2, GPUMP_COMPRESS_AROUND,
                                     GPUMP_COMPRESS_AROUND | GPUMP_COMPRESS_AVX2};
    uint64_t seed = test_seed(), random = seed, done = 0, number = 0;
    compress_case c;
    compress_case_init(&c);
    while (done < count) {
        uint64_t start = random;
        uint32_t allow = allowed[number % 9], form, plain_form, w, r;
        size_t bytes, plain_bytes, bound, raw = 0;
        uint64_t registers = compress_case_make(&c, &random);
        size_t words = (size_t)c.layout.warps * c.layout.warp_stride;
        done += registers;
        number++;
        test_check(gpump_compress_bound(&c.layout, &bound, NULL) == GPUMP_OK && bound <= c.capacity, seed, start);
        test_check(gpump_compress_save(&c.layout, c.values, c.live, allow, c.out, bound, &bytes, &form, NULL) ==
                       GPUMP_OK,
                   seed, start);
        test_check(bytes <= bound && (allow >> form & 1u), seed, start);
        test_check(gpump_compress_save(&c.layout, c.values, c.live, allow | GPUMP_COMPRESS_PLAIN, c.other, bound,
                                       &plain_bytes, &plain_form, NULL) == GPUMP_OK,
                   seed, start);
        test_check(plain_form == form && plain_bytes == bytes && !memcmp(c.out, c.other, bytes), seed, start);
        test_check(gpump_compress_save(&c.layout, c.values, c.live, allow | GPUMP_COMPRESS_AVX2, c.other, bound,
                                       &plain_bytes, &plain_form, NULL) == GPUMP_OK,
                   seed, start);
        test_check(plain_form == form && plain_bytes == bytes && !memcmp(c.out, c.other, bytes), seed, start);
        memset(c.restored, 0xa5, words * 4);
        test_check(gpump_compress_restore(&c.layout, form, paths[number / 9 % 5], c.out, bytes, c.restored, NULL) ==
                       GPUMP_OK,
                   seed, start);
        test_check(compress_case_same(&c, form, 0xa5a5a5a5u), seed, start);
        if (allow == GPUMP_COMPRESS_ALLOW_ALL) {
            for (w = 0; w < c.layout.warps; w++)
                for (r = 0; r < c.layout.registers; r++)
                    raw += (w + 1 == c.layout.warps ? c.layout.last_lanes : c.layout.lanes) * 4u;
            test_check(bytes <= raw, seed, start);
        }
    }
    compress_case_free(&c);
}
#endif
