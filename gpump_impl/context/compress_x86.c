/* compress_x86: the x86 path of compress.h, for full warps of 32 lanes in groups of 8, 16 or 32, with AVX2 and AVX-512.
 * The bytes are those of the plain path. The number of instructions limits these functions, not branches: a register
 * has the same pattern in nearly all warps of a kernel. */
#include "context/compress_parts.h"

#if defined(__GNUC__) && defined(__x86_64__) && !defined(GPUMP_NO_SIMD)
#include <immintrin.h>

/* Before a loop of eight constant steps or fewer, which clang unrolls by itself. */
#if !defined(__clang__)
#define GPUMPI_COMPRESS_UNROLL _Pragma("GCC unroll 8")
#else
#define GPUMPI_COMPRESS_UNROLL
#endif
#define GPUMPI_COMPRESS_TARGET_WIDE __attribute__((target("avx512f,avx2,bmi,bmi2,popcnt")))
#define GPUMPI_COMPRESS_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define GPUMPI_COMPRESS_LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define GPUMPI_COMPRESS_ALL(word) _mm256_set1_epi32((int)(word))
/* The compiler forgets what it knows of what p points to. */
#define GPUMPI_COMPRESS_OPAQUE(p) __asm__("" : "+r"(p))
/* Differences between neighbours, from lane `at` on: eight of them. */
#define GPUMPI_COMPRESS_STEPS(v, at) \
    _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD((v) + (at) + 1), GPUMPI_COMPRESS_LOAD((v) + (at)))
#define GPUMPI_COMPRESS_FIRST(x) _mm256_broadcastd_epi32(_mm256_castsi256_si128(x))
#define GPUMPI_COMPRESS_OR4(a, b, c, d) _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d))
#define GPUMPI_COMPRESS_XOR(a, b) _mm256_xor_si256(a, b)

/* ---- WARP form, writing ---- */

/* Returns 0 when 32 lanes have one value. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS __m256i gpumpi_compress_not_uniform(const uint32_t *v) {
    __m256i b = GPUMPI_COMPRESS_ALL(v[0]);
    return GPUMPI_COMPRESS_OR4(
        GPUMPI_COMPRESS_XOR(b, GPUMPI_COMPRESS_LOAD(v)), GPUMPI_COMPRESS_XOR(b, GPUMPI_COMPRESS_LOAD(v + 8)),
        GPUMPI_COMPRESS_XOR(b, GPUMPI_COMPRESS_LOAD(v + 16)), GPUMPI_COMPRESS_XOR(b, GPUMPI_COMPRESS_LOAD(v + 24)));
}

/* Returns 0 when the differences between neighbours are equal in each group of 32 lanes; the strides are the first
 * lanes of s[]. Windows of eight differences overlap where a group ends. With groups of eight lanes the last difference
 * of a window belongs to no group. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS __m256i gpumpi_compress_not_strided(const uint32_t *v, uint32_t group,
                                                                                  __m256i s[4]) {
    if (group == 8) {
        const __m256i next = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 7);
        __m256i differs;
        s[0] = _mm256_sub_epi32(_mm256_permutevar8x32_epi32(GPUMPI_COMPRESS_LOAD(v), next), GPUMPI_COMPRESS_LOAD(v));
        s[1] = _mm256_sub_epi32(_mm256_permutevar8x32_epi32(GPUMPI_COMPRESS_LOAD(v + 8), next),
                                GPUMPI_COMPRESS_LOAD(v + 8));
        s[2] = _mm256_sub_epi32(_mm256_permutevar8x32_epi32(GPUMPI_COMPRESS_LOAD(v + 16), next),
                                GPUMPI_COMPRESS_LOAD(v + 16));
        s[3] = _mm256_sub_epi32(_mm256_permutevar8x32_epi32(GPUMPI_COMPRESS_LOAD(v + 24), next),
                                GPUMPI_COMPRESS_LOAD(v + 24));
        differs = GPUMPI_COMPRESS_OR4(GPUMPI_COMPRESS_XOR(s[0], GPUMPI_COMPRESS_FIRST(s[0])),
                                      GPUMPI_COMPRESS_XOR(s[1], GPUMPI_COMPRESS_FIRST(s[1])),
                                      GPUMPI_COMPRESS_XOR(s[2], GPUMPI_COMPRESS_FIRST(s[2])),
                                      GPUMPI_COMPRESS_XOR(s[3], GPUMPI_COMPRESS_FIRST(s[3])));
        return _mm256_blend_epi32(differs, _mm256_setzero_si256(), 0x80);
    }
    s[0] = GPUMPI_COMPRESS_STEPS(v, 0);
    s[1] = GPUMPI_COMPRESS_STEPS(v, 16); /* the second group's first */
    s[2] = GPUMPI_COMPRESS_STEPS(v, group == 16 ? 7 : 8);
    s[3] = GPUMPI_COMPRESS_STEPS(v, 23);
    return GPUMPI_COMPRESS_OR4(GPUMPI_COMPRESS_XOR(s[0], GPUMPI_COMPRESS_FIRST(s[0])), GPUMPI_COMPRESS_XOR(s[0], s[2]),
                               GPUMPI_COMPRESS_XOR(s[1], GPUMPI_COMPRESS_FIRST(group == 16 ? s[1] : s[0])),
                               GPUMPI_COMPRESS_XOR(s[1], s[3]));
}

/* How far ahead registers are prefetched, bytes: far enough for memory, and harmless when the values are in a cache. A
 * prefetch past the end does nothing. */
#define GPUMPI_COMPRESS_AHEAD 8192

/* Writes one register of 32 lanes and returns its pattern. Strides are written even when all are 0: the next register
 * overwrites them. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_one_vector(const uint32_t *v, uint32_t group,
                                                                                  unsigned char **to) {
    const uint32_t groups = 32 / group;
    unsigned char *out = *to;
    __m256i s[4], differs, any;
    uint32_t g, i;
    _mm_prefetch((const char *)v + GPUMPI_COMPRESS_AHEAD, _MM_HINT_T0);
    _mm_prefetch((const char *)v + GPUMPI_COMPRESS_AHEAD + 64, _MM_HINT_T0);
    if (group == 32 && v[0] == v[1]) { /* with one group, quicker than to look for a stride of 0 */
        differs = gpumpi_compress_not_uniform(v);
        if (_mm256_testz_si256(differs, differs)) {
            gpumpi_put_word(out, v[0]);
            *to = out + 4;
            return GPUMP_COMPRESS_UNIFORM;
        }
    } else {
        GPUMPI_COMPRESS_OPAQUE(v); /* each subtraction loads its operand itself; the branch above shares none */
        differs = gpumpi_compress_not_strided(v, group, s);
        if (_mm256_testz_si256(differs, differs)) {
            GPUMPI_COMPRESS_UNROLL
            for (g = 0; g < groups; g++) gpumpi_put_word(out + g * 4, v[g * group]);
            GPUMPI_COMPRESS_UNROLL
            for (g = 0; g < groups; g++)
                gpumpi_put_word(out + (groups + g) * 4, (uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(s[g])));
            any = group == 32   ? s[0]
                  : group == 16 ? _mm256_or_si256(s[0], s[1])
                                : GPUMPI_COMPRESS_OR4(s[0], s[1], s[2], s[3]);
            any = group == 8 ? _mm256_blend_epi32(any, _mm256_setzero_si256(), 0x80) : any;
            if (group < 32 && _mm256_testz_si256(any, any)) {
                *to = out + groups * 4;
                return GPUMP_COMPRESS_UNIFORM;
            }
            *to = out + groups * 8;
            return GPUMP_COMPRESS_STRIDED;
        }
    }
    GPUMPI_COMPRESS_UNROLL
    for (i = 0; i < 32; i += 8) _mm256_storeu_si256((__m256i *)(void *)(out + i * 4), GPUMPI_COMPRESS_LOAD(v + i));
    *to = out + 128;
    return GPUMP_COMPRESS_RANDOM;
}

/* g++ 12 warns of operands that its own headers leave uninitialised under a full mask. */
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
/* The same with AVX-512, where a register is two vectors and a comparison is one instruction. */
GPUMPI_COMPRESS_TARGET_WIDE GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_one_wide(const uint32_t *v, uint32_t group,
                                                                                     unsigned char **to) {
    const uint32_t groups = 32 / group;
    const __mmask16 ends = group == 8 ? 0x7f7f : 0x7fff; /* differences within a group */
    unsigned char *out = *to;
    __m512i x0 = _mm512_loadu_si512(v), x1 = _mm512_loadu_si512(v + 16), s0, s1, m0, m1;
    __mmask16 differs0, differs1;
    uint32_t g;
    _mm_prefetch((const char *)v + GPUMPI_COMPRESS_AHEAD, _MM_HINT_T0);
    _mm_prefetch((const char *)v + GPUMPI_COMPRESS_AHEAD + 64, _MM_HINT_T0);
    if (group == 32 && v[0] == v[1]) {
        m0 = _mm512_set1_epi32((int)v[0]);
        differs0 = _mm512_cmpneq_epi32_mask(x0, m0);
        differs1 = _mm512_cmpneq_epi32_mask(x1, m0);
        if (_mm512_kortestz(differs0, differs1)) {
            gpumpi_put_word(out, v[0]);
            *to = out + 4;
            return GPUMP_COMPRESS_UNIFORM;
        }
    } else {
        s0 = _mm512_sub_epi32(_mm512_alignr_epi32(group == 32 ? x1 : x0, x0, 1), x0);
        s1 = _mm512_sub_epi32(_mm512_alignr_epi32(x1, x1, 1), x1);
        if (group == 8) {
            const __m512i halves = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8);
            m0 = _mm512_permutexvar_epi32(halves, s0);
            m1 = _mm512_permutexvar_epi32(halves, s1);
        } else {
            m0 = _mm512_broadcastd_epi32(_mm512_castsi512_si128(s0));
            m1 = group == 16 ? _mm512_broadcastd_epi32(_mm512_castsi512_si128(s1)) : m0;
        }
        differs0 = group == 32 ? _mm512_cmpneq_epi32_mask(s0, m0) : _mm512_mask_cmpneq_epi32_mask(ends, s0, m0);
        differs1 = _mm512_mask_cmpneq_epi32_mask(ends, s1, m1);
        if (_mm512_kortestz(differs0, differs1)) {
            GPUMPI_COMPRESS_UNROLL
            for (g = 0; g < groups; g++) gpumpi_put_word(out + g * 4, v[g * group]);
            if (group == 8) {
                for (g = 0; g < groups; g++) gpumpi_put_word(out + (groups + g) * 4, v[g * group + 1] - v[g * group]);
            } else {
                gpumpi_put_word(out + groups * 4, (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(s0)));
                if (group == 16) gpumpi_put_word(out + 12, (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(s1)));
            }
            m0 = _mm512_or_si512(m0, m1);
            if (group < 32 && !_mm512_test_epi32_mask(m0, m0)) {
                *to = out + groups * 4;
                return GPUMP_COMPRESS_UNIFORM;
            }
            *to = out + groups * 8;
            return GPUMP_COMPRESS_STRIDED;
        }
    }
    _mm512_storeu_si512(out, x0);
    _mm512_storeu_si512(out + 64, x1);
    *to = out + 128;
    return GPUMP_COMPRESS_RANDOM;
}

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* The loop over the registers of a warp; `one` writes one register. A byte of the pattern vector is four registers. */
#define GPUMPI_COMPRESS_EACH(one)                                                                    \
    const uint32_t registers = layout->registers, step = layout->register_stride;                    \
    unsigned char *codes = out;                                                                      \
    uint32_t first, k;                                                                               \
    out += (registers + 3) / 4;                                                                      \
    for (first = 0; first < registers; first += 4) {                                                 \
        uint32_t code = 0, alive = live ? (uint32_t)(live[first >> 6] >> (first & 60u)) & 15u : 15u; \
        if (registers - first < 4) alive &= (1u << (registers - first)) - 1u;                        \
        GPUMPI_COMPRESS_UNROLL                                                                       \
        for (k = 0; k < 8; k += 2, alive >>= 1, v += step)                                           \
            if (alive & 1u) code |= one(v, group, &out) << k;                                        \
        *codes++ = (unsigned char)code;                                                              \
    }                                                                                                \
    return out
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_write_vector(
    const gpump_compress_layout *layout, const uint32_t *v, const uint64_t *live, uint32_t group, unsigned char *out) {
    GPUMPI_COMPRESS_EACH(gpumpi_compress_one_vector);
}
GPUMPI_COMPRESS_TARGET_WIDE GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_write_wide(
    const gpump_compress_layout *layout, const uint32_t *v, const uint64_t *live, uint32_t group, unsigned char *out) {
    GPUMPI_COMPRESS_EACH(gpumpi_compress_one_wide);
}
#undef GPUMPI_COMPRESS_EACH

GPUMPI_COMPRESS_TARGET static unsigned char *gpumpi_compress_avx2_write_warp(const gpump_compress_layout *layout,
                                                                             const uint32_t *v, const uint64_t *live,
                                                                             uint32_t lanes, unsigned char *out) {
    (void)lanes;
    if (layout->group == 32) return gpumpi_compress_write_vector(layout, v, live, 32, out);
    if (layout->group == 16) return gpumpi_compress_write_vector(layout, v, live, 16, out);
    return gpumpi_compress_write_vector(layout, v, live, 8, out);
}

GPUMPI_COMPRESS_TARGET_WIDE static unsigned char *gpumpi_compress_wide_write_warp(const gpump_compress_layout *layout,
                                                                                  const uint32_t *v,
                                                                                  const uint64_t *live, uint32_t lanes,
                                                                                  unsigned char *out) {
    (void)lanes;
    if (layout->group == 32) return gpumpi_compress_write_wide(layout, v, live, 32, out);
    if (layout->group == 16) return gpumpi_compress_write_wide(layout, v, live, 16, out);
    return gpumpi_compress_write_wide(layout, v, live, 8, out);
}

/* ---- WARP form, reading ---- */

/* Stores 32 lanes; `around`: past the caches, for values that will not be read soon. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_store(uint32_t *v, int around, const __m256i x[4]) {
    uint32_t i;
    if (around) {
        GPUMPI_COMPRESS_UNROLL
        for (i = 0; i < 4; i++) _mm256_stream_si256((__m256i *)(void *)(v + i * 8), x[i]);
    } else {
        GPUMPI_COMPRESS_UNROLL
        for (i = 0; i < 4; i++) _mm256_storeu_si256((__m256i *)(void *)(v + i * 8), x[i]);
    }
}

/* Reads one register that is not dead; returns the end of its data. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_unone_vector(
    uint32_t *v, uint32_t group, uint32_t pattern, int around, const unsigned char *in) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const uint32_t groups = 32 / group;
    __m256i x[4], d = _mm256_setzero_si256();
    uint32_t i;
    if (pattern == GPUMP_COMPRESS_RANDOM) {
        _mm_prefetch((const char *)in + GPUMPI_COMPRESS_AHEAD / 4, _MM_HINT_T0);
        _mm_prefetch((const char *)in + GPUMPI_COMPRESS_AHEAD / 4 + 64, _MM_HINT_T0);
        GPUMPI_COMPRESS_UNROLL
        for (i = 0; i < 4; i++) x[i] = GPUMPI_COMPRESS_LOAD(in + i * 32);
        gpumpi_compress_store(v, around, x);
        return in + 128;
    }
    if (pattern == GPUMP_COMPRESS_UNIFORM) {
        GPUMPI_COMPRESS_UNROLL
        for (i = 0; i < 4; i++) x[i] = GPUMPI_COMPRESS_ALL(gpumpi_get_word(in + i * 8 / group * 4));
        gpumpi_compress_store(v, around, x);
        return in + groups * 4;
    }
    GPUMPI_COMPRESS_UNROLL
    for (i = 0; i < 4; i++) {
        if (i * 8 % group == 0) {
            d = GPUMPI_COMPRESS_ALL(gpumpi_get_word(in + (groups + i * 8 / group) * 4));
            x[i] = _mm256_add_epi32(GPUMPI_COMPRESS_ALL(gpumpi_get_word(in + i * 8 / group * 4)),
                                    _mm256_mullo_epi32(lane, d));
            d = _mm256_slli_epi32(d, 3);
        } else {
            x[i] = _mm256_add_epi32(x[i - 1], d);
        }
    }
    gpumpi_compress_store(v, around, x);
    return in + groups * 8;
}

/* The words of group g, or of groups g and g + 1 of 8 lanes, each in the lanes of its group. */
#define GPUMPI_COMPRESS_SPREAD(in, g)                                                                   \
    (group == 8 ? _mm512_mask_set1_epi32(_mm512_set1_epi32((int)gpumpi_get_word((in) + (g)*4)), 0xff00, \
                                         (int)gpumpi_get_word((in) + (g)*4 + 4))                        \
                : _mm512_set1_epi32((int)gpumpi_get_word((in) + (g)*4)))

/* Reads one register with AVX-512. */
GPUMPI_COMPRESS_TARGET_WIDE GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_unone_wide(
    uint32_t *v, uint32_t group, uint32_t pattern, int around, const unsigned char *in) {
    const uint32_t groups = 32 / group, second = group == 32 ? 0 : groups / 2; /* the group of lane 16 */
    __m512i x0, x1;
    (void)around;
    if (pattern == GPUMP_COMPRESS_RANDOM) {
        _mm_prefetch((const char *)in + GPUMPI_COMPRESS_AHEAD / 4, _MM_HINT_T0);
        _mm_prefetch((const char *)in + GPUMPI_COMPRESS_AHEAD / 4 + 64, _MM_HINT_T0);
        x0 = _mm512_loadu_si512(in);
        x1 = _mm512_loadu_si512(in + 64);
        in += 128;
    } else {
        x0 = GPUMPI_COMPRESS_SPREAD(in, 0);
        x1 = GPUMPI_COMPRESS_SPREAD(in, second);
        in += groups * 4;
        if (pattern == GPUMP_COMPRESS_STRIDED) {
            const __m512i lane = group == 8 ? _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7)
                                            : _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            __m512i d = GPUMPI_COMPRESS_SPREAD(in, 0);
            x0 = _mm512_add_epi32(x0, _mm512_mullo_epi32(lane, d));
            x1 = group == 32 ? _mm512_add_epi32(x0, _mm512_maskz_slli_epi32(0xffff, d, 4))
                             : _mm512_add_epi32(x1, _mm512_mullo_epi32(lane, GPUMPI_COMPRESS_SPREAD(in, second)));
            in += groups * 4;
        }
    }
    _mm512_storeu_si512(v, x0);
    _mm512_storeu_si512(v + 16, x1);
    return in;
}

#undef GPUMPI_COMPRESS_SPREAD

/* The loop over the registers of a warp; `one` reads one register. */
#define GPUMPI_COMPRESS_EACH(one)                                                 \
    const uint32_t registers = layout->registers, step = layout->register_stride; \
    const unsigned char *codes = in, *end = in + (registers + 3) / 4;             \
    uint32_t code;                                                                \
    for (in = end; codes < end; v += (size_t)4 * step) {                          \
        uint32_t *at = v;                                                         \
        for (code = *codes++; code; code >>= 2, at += step)                       \
            if (code & 3u) in = one(at, group, code & 3u, around, in);            \
    }                                                                             \
    return in
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_read_vector(
    const gpump_compress_layout *layout, uint32_t *v, uint32_t group, int around, const unsigned char *in) {
    GPUMPI_COMPRESS_EACH(gpumpi_compress_unone_vector);
}
GPUMPI_COMPRESS_TARGET_WIDE GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_read_wide(
    const gpump_compress_layout *layout, uint32_t *v, uint32_t group, int around, const unsigned char *in) {
    GPUMPI_COMPRESS_EACH(gpumpi_compress_unone_wide);
}
#undef GPUMPI_COMPRESS_EACH

/* The fence makes stores around the caches visible before any that follow. */
GPUMPI_COMPRESS_TARGET static const unsigned char *gpumpi_compress_avx2_read_warp(const gpump_compress_layout *layout,
                                                                                  uint32_t *v, uint32_t lanes,
                                                                                  int around, const unsigned char *in) {
    (void)lanes;
    in = layout->group == 32   ? gpumpi_compress_read_vector(layout, v, 32, around, in)
         : layout->group == 16 ? gpumpi_compress_read_vector(layout, v, 16, around, in)
                               : gpumpi_compress_read_vector(layout, v, 8, around, in);
    if (around) _mm_sfence();
    return in;
}

/* Stores around the caches take the AVX2 code, whose vectors need the smaller alignment. */
GPUMPI_COMPRESS_TARGET_WIDE static const unsigned char *gpumpi_compress_wide_read_warp(
    const gpump_compress_layout *layout, uint32_t *v, uint32_t lanes, int around, const unsigned char *in) {
    if (around) return gpumpi_compress_avx2_read_warp(layout, v, lanes, around, in);
    if (layout->group == 32) return gpumpi_compress_read_wide(layout, v, 32, 0, in);
    if (layout->group == 16) return gpumpi_compress_read_wide(layout, v, 16, 0, in);
    return gpumpi_compress_read_wide(layout, v, 8, 0, in);
}

/* ---- NEAR form ---- */

/* gpumpi_compress_near_one for 32 lanes; writes to *to and advances it. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_near_vector(const uint32_t *v,
                                                                                   const uint32_t *before,
                                                                                   uint32_t group, uint32_t *step,
                                                                                   unsigned char **to) {
    unsigned char *out = *to;
    uint32_t code;
    if (before) {
        __m256i s0 = _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v), GPUMPI_COMPRESS_LOAD(before)),
                m = GPUMPI_COMPRESS_FIRST(s0), differs;
        differs = GPUMPI_COMPRESS_OR4(
            GPUMPI_COMPRESS_XOR(m, s0),
            GPUMPI_COMPRESS_XOR(m, _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v + 8), GPUMPI_COMPRESS_LOAD(before + 8))),
            GPUMPI_COMPRESS_XOR(m, _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v + 16), GPUMPI_COMPRESS_LOAD(before + 16))),
            GPUMPI_COMPRESS_XOR(m, _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v + 24), GPUMPI_COMPRESS_LOAD(before + 24))));
        if (_mm256_testz_si256(differs, differs)) {
            uint32_t moved = (uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(m));
            if (moved == *step) return GPUMPI_COMPRESS_AGAIN;
            *step = moved;
            gpumpi_put_word(out, moved);
            *to = out + 4;
            return GPUMPI_COMPRESS_MOVED;
        }
    }
    code = gpumpi_compress_one_vector(v, group, to);
    if (code == GPUMP_COMPRESS_RANDOM) {
        __m256i b = GPUMPI_COMPRESS_ALL(v[0]), x0 = _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v), b),
                x1 = _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v + 8), b),
                x2 = _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v + 16), b),
                x3 = _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v + 24), b);
        __m256i low = _mm256_min_epi32(_mm256_min_epi32(x0, x1), _mm256_min_epi32(x2, x3));
        __m256i high = _mm256_max_epi32(_mm256_max_epi32(x0, x1), _mm256_max_epi32(x2, x3));
        __m128i l = _mm_min_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
        __m128i h = _mm_max_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
        uint32_t lowest, width;
        l = _mm_min_epi32(l, _mm_shuffle_epi32(l, 0x4e));
        h = _mm_max_epi32(h, _mm_shuffle_epi32(h, 0x4e));
        l = _mm_min_epi32(l, _mm_shuffle_epi32(l, 0xb1));
        h = _mm_max_epi32(h, _mm_shuffle_epi32(h, 0xb1));
        lowest = (uint32_t)_mm_cvtsi128_si32(l);
        width = gpumpi_compress_width((uint32_t)_mm_cvtsi128_si32(h) - lowest);
        if (width < 4) {
            *to = gpumpi_compress_put_bytes(out, v, 32, v[0] + lowest, width);
            return GPUMPI_COMPRESS_BYTES1 - 1 + width;
        }
    }
    return code;
}

GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_unnear_vector(
    uint32_t *v, size_t back, uint32_t group, uint32_t code, uint32_t *step, const unsigned char *in) {
    uint32_t i;
    if (code == GPUMPI_COMPRESS_AGAIN || code == GPUMPI_COMPRESS_MOVED) {
        __m256i m;
        if (code == GPUMPI_COMPRESS_MOVED) {
            *step = gpumpi_get_word(in);
            in += 4;
        }
        m = GPUMPI_COMPRESS_ALL(*step);
        GPUMPI_COMPRESS_UNROLL
        for (i = 0; i < 32; i += 8)
            _mm256_storeu_si256((__m256i *)(void *)(v + i), _mm256_add_epi32(m, GPUMPI_COMPRESS_LOAD(v - back + i)));
        return in;
    }
    if (code >= GPUMPI_COMPRESS_BYTES1) return gpumpi_compress_get_bytes(in, v, 32, code - GPUMPI_COMPRESS_BYTES1 + 1);
    return gpumpi_compress_unone_vector(v, group, code, 0, in);
}

GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_write_near_vector(
    const gpump_compress_layout *layout, const uint32_t *v, const gpumpi_compress_near *near, uint32_t group,
    unsigned char *out) {
    unsigned char *codes = out;
    uint32_t r, code;
    memset(out, 0, (layout->registers + 1) / 2);
    out += (layout->registers + 1) / 2;
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {
        if (!gpumpi_compress_live(near->live, r)) continue;
        code = gpumpi_compress_near_vector(
            v, near->back && gpumpi_compress_live(near->live_before, r) ? v - near->back : NULL, group, near->steps + r,
            &out);
        codes[r >> 1] = (unsigned char)(codes[r >> 1] | code << (r & 1) * 4);
    }
    return out;
}

GPUMPI_COMPRESS_TARGET static unsigned char *gpumpi_compress_avx2_write_near(const gpump_compress_layout *layout,
                                                                             const uint32_t *v,
                                                                             const gpumpi_compress_near *near,
                                                                             unsigned char *out) {
    if (layout->group == 32) return gpumpi_compress_write_near_vector(layout, v, near, 32, out);
    if (layout->group == 16) return gpumpi_compress_write_near_vector(layout, v, near, 16, out);
    return gpumpi_compress_write_near_vector(layout, v, near, 8, out);
}

GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_read_near_vector(
    const gpump_compress_layout *layout, uint32_t *v, const gpumpi_compress_near *near, uint32_t group,
    const unsigned char *in) {
    const unsigned char *codes = in;
    uint32_t r, code;
    in += (layout->registers + 1) / 2;
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {
        code = (uint32_t)codes[r >> 1] >> (r & 1) * 4 & 15u;
        if (code) in = gpumpi_compress_unnear_vector(v, near->back, group, code, near->steps + r, in);
    }
    return in;
}

GPUMPI_COMPRESS_TARGET static const unsigned char *gpumpi_compress_avx2_read_near(const gpump_compress_layout *layout,
                                                                                  uint32_t *v,
                                                                                  const gpumpi_compress_near *near,
                                                                                  const unsigned char *in) {
    if (layout->group == 32) return gpumpi_compress_read_near_vector(layout, v, near, 32, in);
    if (layout->group == 16) return gpumpi_compress_read_near_vector(layout, v, near, 16, in);
    return gpumpi_compress_read_near_vector(layout, v, near, 8, in);
}

/* ---- the paths ---- */

GPUMPI_COMPRESS_TARGET static uint32_t gpumpi_compress_avx2_words(const gpump_compress_layout *layout,
                                                                  const unsigned char *patterns, size_t left,
                                                                  uint32_t lanes, uint32_t groups) {
    uint32_t words = 0;
    GPUMPI_COMPRESS_WORDS(words, (uint32_t)__builtin_popcountll);
    return words;
}

GPUMP_API const gpumpi_compress_path *gpumpi_compress_x86(const gpump_compress_layout *layout, uint32_t flags) {
    static const gpumpi_compress_path avx2 = {gpumpi_compress_avx2_write_warp, gpumpi_compress_avx2_read_warp,
                                              gpumpi_compress_avx2_write_near, gpumpi_compress_avx2_read_near,
                                              gpumpi_compress_avx2_words};
    static const gpumpi_compress_path wide = {gpumpi_compress_wide_write_warp, gpumpi_compress_wide_read_warp,
                                              gpumpi_compress_avx2_write_near, gpumpi_compress_avx2_read_near,
                                              gpumpi_compress_avx2_words};
    if (layout->lanes != 32 || (layout->group != 32 && layout->group != 16 && layout->group != 8)) return NULL;
    if (flags & GPUMP_COMPRESS_PLAIN || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("popcnt"))
        return NULL;
    return flags & GPUMP_COMPRESS_AVX2 || !__builtin_cpu_supports("avx512f") ? &avx2 : &wide;
}

#else
GPUMP_API const gpumpi_compress_path *gpumpi_compress_x86(const gpump_compress_layout *layout, uint32_t flags) {
    (void)layout;
    (void)flags;
    return NULL;
}
#endif
