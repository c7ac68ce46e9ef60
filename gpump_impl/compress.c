/* compress: the code behind compress.h. The vector path and the plain path write the same bytes; tests/400_compress.c holds
 * them against each other and against a bit-by-bit reading of the format. */
#include "compress.h"

#include <string.h>
#if defined(__GNUC__) && defined(__x86_64__) && !defined(GPUMP_NO_SIMD)
#define GPUMPI_COMPRESS_AVX2 1
#include <immintrin.h>
#endif

#if (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) || defined(_M_X64) || defined(_M_IX86)
#define GPUMPI_COMPRESS_LITTLE 1
#endif
#if defined(__GNUC__)
#define GPUMPI_COMPRESS_ALWAYS __attribute__((always_inline)) static inline
#else
#define GPUMPI_COMPRESS_ALWAYS static inline
#endif

/* Groups of a block at most: 64 warps of 64 lanes in groups of 8. */
#define GPUMPI_COMPRESS_GROUPS (GPUMP_COMPRESS_MAX_WARPS * GPUMP_COMPRESS_MAX_LANES / 8)

/* ---- words, little endian ---- */

GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_put(unsigned char *out, uint32_t word) {
#ifdef GPUMPI_COMPRESS_LITTLE
    memcpy(out, &word, 4);
#else
    out[0] = (unsigned char)word;
    out[1] = (unsigned char)(word >> 8);
    out[2] = (unsigned char)(word >> 16);
    out[3] = (unsigned char)(word >> 24);
#endif
}

GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_get(const unsigned char *in) {
#ifdef GPUMPI_COMPRESS_LITTLE
    uint32_t word;
    memcpy(&word, in, 4);
    return word;
#else
    return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
#endif
}

GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_put_words(unsigned char *out, const uint32_t *words, uint32_t count) {
#ifdef GPUMPI_COMPRESS_LITTLE
    memcpy(out, words, (size_t)count * 4);
#else
    uint32_t i;
    for (i = 0; i < count; i++) gpumpi_compress_put(out + (size_t)i * 4, words[i]);
#endif
    return out + (size_t)count * 4;
}

GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_get_words(const unsigned char *in, uint32_t *words, uint32_t count) {
#ifdef GPUMPI_COMPRESS_LITTLE
    memcpy(words, in, (size_t)count * 4);
#else
    uint32_t i;
    for (i = 0; i < count; i++) words[i] = gpumpi_compress_get(in + (size_t)i * 4);
#endif
    return in + (size_t)count * 4;
}

/* ---- one vector register, plain C ---- */

/* 1 when v[i + 1] - v[i] is d for all i in the group. The group is at least 2 lanes. Written in blocks of four so that
 * compilers turn constant sizes into vector code. */
GPUMPI_COMPRESS_ALWAYS int gpumpi_compress_steady(const uint32_t *v, uint32_t lanes, uint32_t d) {
    uint32_t i, differs = 0;
    if (lanes >= 8 && lanes % 4 == 0) {
        for (i = 0; i < lanes - 4; i++) differs |= (v[i + 1] - v[i]) ^ d;
        for (i = lanes - 5; i < lanes - 1; i++) differs |= (v[i + 1] - v[i]) ^ d;
    } else {
        for (i = 0; i + 1 < lanes; i++) differs |= (v[i + 1] - v[i]) ^ d;
    }
    return differs == 0;
}

/* Fills base and stride of every group; returns the pattern. On RANDOM the two arrays are not complete. A group of a single
 * lane takes the stride of the group before it, so that it never spoils a pattern. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_analyse(const uint32_t *v, uint32_t lanes, uint32_t group, uint32_t *base,
                                                        uint32_t *stride) {
    uint32_t at, g = 0, any = 0;
    for (at = 0; at < lanes; at += group, g++) {
        uint32_t count = lanes - at < group ? lanes - at : group;
        uint32_t d = g ? stride[g - 1] : 0;
        if (count > 1) {
            d = v[at + 1] - v[at];
            if (count > 2 && v[at + count - 1] - v[at + count - 2] != d) return GPUMP_COMPRESS_RANDOM;
            if (!gpumpi_compress_steady(v + at, count, d)) return GPUMP_COMPRESS_RANDOM;
        }
        base[g] = v[at];
        stride[g] = d;
        any |= d;
    }
    return any ? GPUMP_COMPRESS_STRIDED : GPUMP_COMPRESS_UNIFORM;
}

GPUMPI_COMPRESS_ALWAYS int gpumpi_compress_live(const uint64_t *live, uint32_t r) { return !live || gpump_bits_get(live, r); }

/* Writes pattern vector and data of one warp; returns the end. */
GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_warp_plain(const uint32_t *values, uint32_t registers, uint32_t step,
                                                                 const uint64_t *live, uint32_t lanes, uint32_t group,
                                                                 unsigned char *out) {
    uint32_t base[8], stride[8], r, groups = (lanes + group - 1) / group, code = 0;
    unsigned char *codes = out;
    out += (registers + 3) / 4;
    for (r = 0; r < registers; r++) {
        uint32_t pattern = GPUMP_COMPRESS_DEAD;
        if (gpumpi_compress_live(live, r)) {
            const uint32_t *v = values + (size_t)r * step;
            pattern = gpumpi_compress_analyse(v, lanes, group, base, stride);
            if (pattern == GPUMP_COMPRESS_RANDOM) {
                out = gpumpi_compress_put_words(out, v, lanes);
            } else {
                out = gpumpi_compress_put_words(out, base, groups);
                if (pattern == GPUMP_COMPRESS_STRIDED) out = gpumpi_compress_put_words(out, stride, groups);
            }
        }
        code |= pattern << (2 * (r & 3));
        if ((r & 3) == 3) {
            codes[r >> 2] = (unsigned char)code;
            code = 0;
        }
    }
    if (registers & 3) codes[registers >> 2] = (unsigned char)code;
    return out;
}

/* Fills one vector register from bases and strides (little-endian words; strides NULL: uniform). */
GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_expand(uint32_t *v, uint32_t lanes, uint32_t group, const unsigned char *bases,
                                                   const unsigned char *strides) {
    uint32_t at, g = 0, i;
    for (at = 0; at < lanes; at += group, g++) {
        uint32_t count = lanes - at < group ? lanes - at : group;
        uint32_t base = gpumpi_compress_get(bases + (size_t)g * 4), d = strides ? gpumpi_compress_get(strides + (size_t)g * 4) : 0;
        if (count % 4 == 0) {
            uint32_t d2 = d * 2, d3 = d * 3, d4 = d * 4;
            for (i = 0; i < count; i += 4) {
                v[at + i] = base;
                v[at + i + 1] = base + d;
                v[at + i + 2] = base + d2;
                v[at + i + 3] = base + d3;
                base += d4;
            }
        } else {
            for (i = 0; i < count; i++) v[at + i] = base + i * d;
        }
    }
}

/* Reads pattern vector and data of one warp that has been checked; returns the end. */
GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_unwarp_plain(uint32_t *values, uint32_t registers, uint32_t step,
                                                                         uint32_t lanes, uint32_t group, const unsigned char *in) {
    uint32_t r, groups = (lanes + group - 1) / group;
    const unsigned char *codes = in;
    in += (registers + 3) / 4;
    for (r = 0; r < registers; r++) {
        uint32_t pattern = ((uint32_t)codes[r >> 2] >> (2 * (r & 3))) & 3u;
        uint32_t *v = values + (size_t)r * step;
        if (pattern == GPUMP_COMPRESS_RANDOM) {
            in = gpumpi_compress_get_words(in, v, lanes);
        } else if (pattern == GPUMP_COMPRESS_UNIFORM) {
            gpumpi_compress_expand(v, lanes, group, in, NULL);
            in += (size_t)groups * 4;
        } else if (pattern == GPUMP_COMPRESS_STRIDED) {
            gpumpi_compress_expand(v, lanes, group, in, in + (size_t)groups * 4);
            in += (size_t)groups * 8;
        }
    }
    return in;
}

/* ---- the same for 32 lanes with AVX2 ---- */

#ifdef GPUMPI_COMPRESS_AVX2
#define GPUMPI_COMPRESS_TARGET __attribute__((target("avx2")))

/* Everything below is one function per direction, with the group width a constant at each call. */
#define GPUMPI_COMPRESS_LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define GPUMPI_COMPRESS_STORE(p, x) _mm256_storeu_si256((__m256i *)(void *)(p), (x))
/* The stride at p, and the eight words that a stride gives from p on. */
#define GPUMPI_COMPRESS_ALL(p) _mm256_set1_epi32((int)*(p))
#define GPUMPI_COMPRESS_STRIDE(p) _mm256_sub_epi32(GPUMPI_COMPRESS_ALL((p) + 1), GPUMPI_COMPRESS_ALL(p))
#define GPUMPI_COMPRESS_LANES(p, d) _mm256_add_epi32(GPUMPI_COMPRESS_ALL(p), _mm256_mullo_epi32(lane, (d)))

GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_warp_vector(const uint32_t *values, uint32_t registers,
                                                                                         uint32_t step, const uint64_t *live,
                                                                                         uint32_t group, unsigned char *out) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    unsigned char *codes = out;
    uint32_t r, code = 0, g;
    out += (registers + 3) / 4;
    for (r = 0; r < registers; r++) {
        uint32_t pattern = GPUMP_COMPRESS_DEAD;
        if (gpumpi_compress_live(live, r)) {
            const uint32_t *v = values + (size_t)r * step;
            __m256i x0 = GPUMPI_COMPRESS_LOAD(v), x1 = GPUMPI_COMPRESS_LOAD(v + 8), x2 = GPUMPI_COMPRESS_LOAD(v + 16),
                    x3 = GPUMPI_COMPRESS_LOAD(v + 24), differs;
            uint32_t any = 0;
            __m256i d = GPUMPI_COMPRESS_STRIDE(v), e = GPUMPI_COMPRESS_LANES(v, d);
            if (group == 32) { /* strides and bases stay in vector registers: going through general ones costs more than the sums */
                __m256i e1 = _mm256_add_epi32(e, _mm256_slli_epi32(d, 3)), d16 = _mm256_slli_epi32(d, 4);
                differs = _mm256_or_si256(_mm256_or_si256(_mm256_xor_si256(x0, e), _mm256_xor_si256(x1, e1)),
                                          _mm256_or_si256(_mm256_xor_si256(x2, _mm256_add_epi32(e, d16)),
                                                          _mm256_xor_si256(x3, _mm256_add_epi32(e1, d16))));
                any = v[1] - v[0];
            } else if (group == 16) {
                __m256i f = GPUMPI_COMPRESS_STRIDE(v + 16), h = GPUMPI_COMPRESS_LANES(v + 16, f);
                __m256i e1 = _mm256_add_epi32(e, _mm256_slli_epi32(d, 3)), h1 = _mm256_add_epi32(h, _mm256_slli_epi32(f, 3));
                differs = _mm256_or_si256(_mm256_or_si256(_mm256_xor_si256(x0, e), _mm256_xor_si256(x1, e1)),
                                          _mm256_or_si256(_mm256_xor_si256(x2, h), _mm256_xor_si256(x3, h1)));
                any = (v[1] - v[0]) | (v[17] - v[16]);
            } else {
                __m256i d1 = GPUMPI_COMPRESS_STRIDE(v + 8), d2 = GPUMPI_COMPRESS_STRIDE(v + 16), d3 = GPUMPI_COMPRESS_STRIDE(v + 24);
                differs = _mm256_or_si256(_mm256_or_si256(_mm256_xor_si256(x0, e), _mm256_xor_si256(x1, GPUMPI_COMPRESS_LANES(v + 8, d1))),
                                          _mm256_or_si256(_mm256_xor_si256(x2, GPUMPI_COMPRESS_LANES(v + 16, d2)),
                                                          _mm256_xor_si256(x3, GPUMPI_COMPRESS_LANES(v + 24, d3))));
                any = (v[1] - v[0]) | (v[9] - v[8]) | (v[17] - v[16]) | (v[25] - v[24]);
            }
            if (!_mm256_testz_si256(differs, differs)) {
                pattern = GPUMP_COMPRESS_RANDOM;
                GPUMPI_COMPRESS_STORE(out, x0);
                GPUMPI_COMPRESS_STORE(out + 32, x1);
                GPUMPI_COMPRESS_STORE(out + 64, x2);
                GPUMPI_COMPRESS_STORE(out + 96, x3);
                out += 128;
            } else {
                pattern = any ? GPUMP_COMPRESS_STRIDED : GPUMP_COMPRESS_UNIFORM;
                for (g = 0; g < 32; g += group) gpumpi_compress_put(out + g / group * 4, v[g]);
                out += 32 / group * 4;
                if (any) {
                    for (g = 0; g < 32; g += group) gpumpi_compress_put(out + g / group * 4, v[g + 1] - v[g]);
                    out += 32 / group * 4;
                }
            }
        }
        code |= pattern << (2 * (r & 3));
        if ((r & 3) == 3) {
            codes[r >> 2] = (unsigned char)code;
            code = 0;
        }
    }
    if (registers & 3) codes[registers >> 2] = (unsigned char)code;
    return out;
}

GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_unwarp_vector(uint32_t *values, uint32_t registers,
                                                                                                 uint32_t step, uint32_t group,
                                                                                                 const unsigned char *in) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const unsigned char *codes = in;
    const uint32_t groups = 32 / group;
    uint32_t r, g, i;
    in += (registers + 3) / 4;
    for (r = 0; r < registers; r++) {
        uint32_t pattern = ((uint32_t)codes[r >> 2] >> (2 * (r & 3))) & 3u;
        uint32_t *v = values + (size_t)r * step;
        if (pattern == GPUMP_COMPRESS_RANDOM) {
            __m256i x0 = GPUMPI_COMPRESS_LOAD(in), x1 = GPUMPI_COMPRESS_LOAD(in + 32), x2 = GPUMPI_COMPRESS_LOAD(in + 64),
                    x3 = GPUMPI_COMPRESS_LOAD(in + 96);
            GPUMPI_COMPRESS_STORE(v, x0);
            GPUMPI_COMPRESS_STORE(v + 8, x1);
            GPUMPI_COMPRESS_STORE(v + 16, x2);
            GPUMPI_COMPRESS_STORE(v + 24, x3);
            in += 128;
        } else if (pattern == GPUMP_COMPRESS_UNIFORM) {
            for (g = 0; g < groups; g++) {
                __m256i x = _mm256_set1_epi32((int)gpumpi_compress_get(in + g * 4));
                for (i = 0; i < group; i += 8) GPUMPI_COMPRESS_STORE(v + g * group + i, x);
            }
            in += groups * 4;
        } else if (pattern == GPUMP_COMPRESS_STRIDED) {
            for (g = 0; g < groups; g++) {
                __m256i d = _mm256_set1_epi32((int)gpumpi_compress_get(in + (groups + g) * 4)), d8 = _mm256_slli_epi32(d, 3);
                __m256i x = _mm256_add_epi32(_mm256_set1_epi32((int)gpumpi_compress_get(in + g * 4)), _mm256_mullo_epi32(lane, d));
                for (i = 0; i < group; i += 8, x = _mm256_add_epi32(x, d8)) GPUMPI_COMPRESS_STORE(v + g * group + i, x);
            }
            in += groups * 8;
        }
    }
    return in;
}

GPUMPI_COMPRESS_TARGET static unsigned char *gpumpi_compress_warp_avx2(const uint32_t *values, uint32_t registers, uint32_t step,
                                                                       const uint64_t *live, uint32_t group, unsigned char *out) {
    if (group == 32) return gpumpi_compress_warp_vector(values, registers, step, live, 32, out);
    if (group == 16) return gpumpi_compress_warp_vector(values, registers, step, live, 16, out);
    return gpumpi_compress_warp_vector(values, registers, step, live, 8, out);
}

GPUMPI_COMPRESS_TARGET static const unsigned char *gpumpi_compress_unwarp_avx2(uint32_t *values, uint32_t registers, uint32_t step,
                                                                               uint32_t group, const unsigned char *in) {
    if (group == 32) return gpumpi_compress_unwarp_vector(values, registers, step, 32, in);
    if (group == 16) return gpumpi_compress_unwarp_vector(values, registers, step, 16, in);
    return gpumpi_compress_unwarp_vector(values, registers, step, 8, in);
}
#endif

/* 1: the vector path can be taken. */
static int gpumpi_compress_vector(uint32_t flags) {
#ifdef GPUMPI_COMPRESS_AVX2
    return !(flags & GPUMP_COMPRESS_PLAIN) && __builtin_cpu_supports("avx2");
#else
    (void)flags;
    return 0;
#endif
}

static unsigned char *gpumpi_compress_warp(const uint32_t *values, uint32_t registers, uint32_t step, const uint64_t *live,
                                           uint32_t lanes, uint32_t group, int vector, unsigned char *out) {
    if (lanes == 32 && (group == 32 || group == 16 || group == 8)) {
#ifdef GPUMPI_COMPRESS_AVX2
        if (vector) return gpumpi_compress_warp_avx2(values, registers, step, live, group, out);
#endif
        if (group == 32) return gpumpi_compress_warp_plain(values, registers, step, live, 32, 32, out);
        if (group == 16) return gpumpi_compress_warp_plain(values, registers, step, live, 32, 16, out);
        return gpumpi_compress_warp_plain(values, registers, step, live, 32, 8, out);
    }
    (void)vector;
    return gpumpi_compress_warp_plain(values, registers, step, live, lanes, group, out);
}

static const unsigned char *gpumpi_compress_unwarp(uint32_t *values, uint32_t registers, uint32_t step, uint32_t lanes,
                                                   uint32_t group, int vector, const unsigned char *in) {
    if (lanes == 32 && (group == 32 || group == 16 || group == 8)) {
#ifdef GPUMPI_COMPRESS_AVX2
        if (vector) return gpumpi_compress_unwarp_avx2(values, registers, step, group, in);
#endif
        if (group == 32) return gpumpi_compress_unwarp_plain(values, registers, step, 32, 32, in);
        if (group == 16) return gpumpi_compress_unwarp_plain(values, registers, step, 32, 16, in);
        return gpumpi_compress_unwarp_plain(values, registers, step, 32, 8, in);
    }
    (void)vector;
    return gpumpi_compress_unwarp_plain(values, registers, step, lanes, group, in);
}

/* ---- geometry ---- */

GPUMP_API uint32_t gpump_compress_group(uint32_t lanes, uint32_t block_x) {
    return block_x >= 8 && block_x < lanes && lanes % block_x == 0 ? block_x : lanes;
}

GPUMP_API uint32_t gpump_compress_pattern_bits(uint32_t registers) { return registers * 2; }

static gpump_result gpumpi_compress_check(const gpump_compress_layout *layout, gpump_diag *diag) {
    uint32_t lowest;
    if (!layout) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "layout", 0, 0, 1, UINT64_MAX);
    if (layout->warps < 1 || layout->warps > GPUMP_COMPRESS_MAX_WARPS)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "warps", 0, layout->warps, 1, GPUMP_COMPRESS_MAX_WARPS);
    if (layout->registers < 1 || layout->registers > GPUMP_COMPRESS_MAX_REGISTERS)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "registers", 0, layout->registers, 1, GPUMP_COMPRESS_MAX_REGISTERS);
    if (layout->lanes < 1 || layout->lanes > GPUMP_COMPRESS_MAX_LANES)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "lanes", 0, layout->lanes, 1, GPUMP_COMPRESS_MAX_LANES);
    if (layout->last_lanes < 1 || layout->last_lanes > layout->lanes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "last_lanes", 0, layout->last_lanes, 1, layout->lanes);
    lowest = layout->lanes < 8 ? layout->lanes : 8;
    if (layout->group < lowest || layout->group > layout->lanes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "group", 0, layout->group, lowest, layout->lanes);
    if (layout->register_stride < layout->lanes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "register_stride", 0, layout->register_stride, layout->lanes, UINT32_MAX);
    if (layout->warps > 1 && layout->warp_stride < layout->lanes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "warp_stride", 0, layout->warp_stride, layout->lanes, UINT32_MAX);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_compress_layout_init(gpump_compress_layout *layout, uint32_t threads, uint32_t registers, uint32_t lanes,
                                        uint32_t block_x, gpump_diag *diag) {
    gpump_compress_layout made;
    gpump_result result;
    if (!layout) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "layout", 0, 0, 1, UINT64_MAX);
    if (lanes < 1 || lanes > GPUMP_COMPRESS_MAX_LANES)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "lanes", 0, lanes, 1, GPUMP_COMPRESS_MAX_LANES);
    if (threads < 1 || threads > lanes * GPUMP_COMPRESS_MAX_WARPS)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "threads", 0, threads, 1, (uint64_t)lanes * GPUMP_COMPRESS_MAX_WARPS);
    made.warps = (threads + lanes - 1) / lanes;
    made.registers = registers;
    made.lanes = lanes;
    made.last_lanes = threads - (made.warps - 1) * lanes;
    made.group = gpump_compress_group(lanes, block_x);
    made.register_stride = lanes;
    made.warp_stride = registers * lanes;
    made.live_stride = 0;
    result = gpumpi_compress_check(&made, diag);
    if (result == GPUMP_OK) *layout = made;
    return result;
}

static uint32_t gpumpi_compress_lanes(const gpump_compress_layout *layout, uint32_t warp) {
    return warp + 1 == layout->warps ? layout->last_lanes : layout->lanes;
}

static uint32_t gpumpi_compress_groups(const gpump_compress_layout *layout, uint32_t warp) {
    return (gpumpi_compress_lanes(layout, warp) + layout->group - 1) / layout->group;
}

static uint32_t gpumpi_compress_block_groups(const gpump_compress_layout *layout) {
    return (layout->warps - 1) * gpumpi_compress_groups(layout, 0) * (layout->warps > 1) +
           gpumpi_compress_groups(layout, layout->warps - 1);
}

/* Words of one register in all warps. */
static uint32_t gpumpi_compress_words(const gpump_compress_layout *layout) {
    return (layout->warps - 1) * layout->lanes + layout->last_lanes;
}

static const uint64_t *gpumpi_compress_mask(const gpump_compress_layout *layout, const uint64_t *live, uint32_t warp) {
    return live ? live + (size_t)warp * layout->live_stride : NULL;
}

static size_t gpumpi_compress_raw_bytes(const gpump_compress_layout *layout) {
    return (size_t)gpumpi_compress_words(layout) * layout->registers * 4;
}

static uint32_t gpumpi_compress_live_count(const uint64_t *live, uint32_t registers) {
    uint32_t r, count = 0;
    if (!live) return registers;
    for (r = 0; r + 64 <= registers; r += 64) count += gpump_bits_count64(live[r >> 6]);
    if (r < registers) count += gpump_bits_count64(live[r >> 6] & (((uint64_t)1 << (registers - r)) - 1));
    return count;
}

/* Bytes of one warp as in LIVE. */
static size_t gpumpi_compress_live_bytes(const gpump_compress_layout *layout, const uint64_t *live, uint32_t warp) {
    return (layout->registers + 7) / 8 + (size_t)gpumpi_compress_live_count(gpumpi_compress_mask(layout, live, warp), layout->registers) *
                                             gpumpi_compress_lanes(layout, warp) * 4;
}

GPUMP_API gpump_result gpump_compress_bound(const gpump_compress_layout *layout, size_t *bytes, gpump_diag *diag) {
    gpump_result result = gpumpi_compress_check(layout, diag);
    uint32_t groups = 0, lanes = 0, w;
    size_t excess = 0;
    if (result != GPUMP_OK) return result;
    if (!bytes) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bytes", 0, 0, 1, UINT64_MAX);
    /* WARP: tags, two bits per register and warp; BLOCK: three bits per register, and mixed never beats random when larger. As the
     * paper classifies, a register may take base and stride of every group, which is more than its lanes where groups are tiny. */
    for (w = 0; w < layout->warps; w++) {
        groups += gpumpi_compress_groups(layout, w);
        lanes += gpumpi_compress_lanes(layout, w);
    }
    if (2 * groups > lanes) excess = (size_t)(2 * groups - lanes) * 4 * layout->registers;
    *bytes = gpumpi_compress_raw_bytes(layout) + excess + (layout->warps + 7) / 8 + (size_t)layout->warps * ((layout->registers + 3) / 4) +
             3 * ((layout->registers + 7) / 8);
    return GPUMP_OK;
}

/* ---- classification ---- */

GPUMP_API gpump_compress_pattern gpump_compress_classify(const uint32_t *values, uint32_t lanes, uint32_t group) {
    uint32_t base[GPUMP_COMPRESS_MAX_LANES], stride[GPUMP_COMPRESS_MAX_LANES];
    GPUMP_ASSERT(lanes >= 1 && lanes <= GPUMP_COMPRESS_MAX_LANES && group >= 1);
    return (gpump_compress_pattern)gpumpi_compress_analyse(values, lanes, group, base, stride);
}

/* A register over the whole block: base and stride vector, and what they say. */
typedef struct gpumpi_compress_vectors {
    uint32_t base[GPUMPI_COMPRESS_GROUPS];
    uint32_t stride[GPUMPI_COMPRESS_GROUPS];
    unsigned char pattern[GPUMP_COMPRESS_MAX_WARPS]; /* per warp */
    uint32_t groups;
    uint32_t step;  /* stride of the base vector, when it has one */
    size_t mixed;   /* bytes as MIXED */
    int grid;       /* one x stride and one base stride: GRID holds it */
} gpumpi_compress_vectors;

static uint32_t gpumpi_compress_block(const gpump_compress_layout *layout, const uint32_t *values, uint32_t number,
                                      gpumpi_compress_vectors *vectors) {
    uint32_t w, g = 0, i, random = 0, base_steady = 1, stride_uniform = 1, groups;
    uint32_t per_warp = gpumpi_compress_groups(layout, 0);
    vectors->mixed = (layout->warps + 3) / 4;
    for (w = 0; w < layout->warps; w++) {
        const uint32_t *v = values + (size_t)w * layout->warp_stride + (size_t)number * layout->register_stride;
        uint32_t lanes = gpumpi_compress_lanes(layout, w);
        uint32_t pattern = lanes == 32 && layout->group == 32
                               ? gpumpi_compress_analyse(v, 32, 32, vectors->base + g, vectors->stride + g)
                               : gpumpi_compress_analyse(v, lanes, layout->group, vectors->base + g, vectors->stride + g);
        uint32_t here = w + 1 < layout->warps ? per_warp : gpumpi_compress_groups(layout, w);
        /* A last group of one lane has no stride of its own: in a warp of a single lane it takes the block's. */
        if (lanes == 1 && g) vectors->stride[g] = vectors->stride[g - 1];
        vectors->pattern[w] = (unsigned char)pattern;
        vectors->mixed += pattern == GPUMP_COMPRESS_RANDOM    ? (size_t)lanes * 4
                          : pattern == GPUMP_COMPRESS_STRIDED ? (size_t)here * 8
                                                              : (size_t)here * 4;
        random |= pattern == GPUMP_COMPRESS_RANDOM;
        g += here;
    }
    vectors->groups = groups = g;
    vectors->step = 0;
    vectors->grid = 0;
    if (random) return GPUMP_COMPRESS_BLOCK_RANDOM;
    if (groups > 1) vectors->step = vectors->base[1] - vectors->base[0];
    for (i = 1; i < groups; i++) {
        base_steady &= vectors->base[i] - vectors->base[i - 1] == vectors->step;
        stride_uniform &= vectors->stride[i] == vectors->stride[0];
    }
    vectors->grid = base_steady && stride_uniform;
    if (stride_uniform && vectors->stride[0] == 0)
        return base_steady && vectors->step == 0 ? GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM : GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM;
    if (vectors->grid && (groups == 1 || vectors->step == vectors->stride[0] * layout->group)) return GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED;
    return GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED;
}

GPUMP_API gpump_compress_block_pattern gpump_compress_classify_block(const gpump_compress_layout *layout, const uint32_t *values, uint32_t number) {
    gpumpi_compress_vectors vectors;
    GPUMP_ASSERT(gpumpi_compress_check(layout, NULL) == GPUMP_OK && number < layout->registers);
    return (gpump_compress_block_pattern)gpumpi_compress_block(layout, values, number, &vectors);
}

/* The code that register gets in the BLOCK form, and its data bytes: the smallest, ties to the lower code. */
static uint32_t gpumpi_compress_block_code(const gpump_compress_layout *layout, uint32_t pattern, const gpumpi_compress_vectors *vectors,
                                           uint32_t flags, size_t *bytes) {
    size_t words;
    switch (pattern) {
    case GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM: words = 1; break;
    case GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED: words = 2; break;
    case GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM: words = vectors->groups; break;
    case GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED: words = (size_t)vectors->groups * 2; break;
    default: words = gpumpi_compress_words(layout); break;
    }
    *bytes = words * 4;
    if (!(flags & GPUMP_COMPRESS_PAPER)) {
        if (vectors->grid && *bytes > 12) {
            pattern = GPUMP_COMPRESS_BLOCK_GRID;
            *bytes = 12;
        }
        if (vectors->mixed < *bytes) {
            pattern = GPUMP_COMPRESS_BLOCK_MIXED;
            *bytes = vectors->mixed;
        }
    }
    return pattern;
}

static int gpumpi_compress_live_anywhere(const gpump_compress_layout *layout, const uint64_t *live, uint32_t r) {
    uint32_t w;
    if (!live) return 1;
    for (w = 0; w < (layout->live_stride ? layout->warps : 1); w++)
        if (gpump_bits_get(live + (size_t)w * layout->live_stride, r)) return 1;
    return 0;
}

static size_t gpumpi_compress_block_bytes(const gpump_compress_layout *layout, const uint32_t *values, const uint64_t *live,
                                          uint32_t flags) {
    gpumpi_compress_vectors vectors;
    size_t bytes = 3 * ((layout->registers + 7) / 8), data;
    uint32_t r;
    for (r = 0; r < layout->registers; r++) {
        if (!gpumpi_compress_live_anywhere(layout, live, r)) continue;
        (void)gpumpi_compress_block_code(layout, gpumpi_compress_block(layout, values, r, &vectors), &vectors, flags, &data);
        bytes += data;
    }
    return bytes;
}

/* ---- writing ---- */

static unsigned char *gpumpi_compress_write_live(const gpump_compress_layout *layout, const uint32_t *values, const uint64_t *live,
                                                 uint32_t warp, int mask, unsigned char *out) {
    const uint32_t *v = values + (size_t)warp * layout->warp_stride;
    const uint64_t *set = gpumpi_compress_mask(layout, live, warp);
    uint32_t r, lanes = gpumpi_compress_lanes(layout, warp);
    if (mask) {
        memset(out, 0, (layout->registers + 7) / 8);
        for (r = 0; r < layout->registers; r++)
            if (gpumpi_compress_live(set, r)) out[r >> 3] = (unsigned char)(out[r >> 3] | 1u << (r & 7));
        out += (layout->registers + 7) / 8;
    }
    for (r = 0; r < layout->registers; r++)
        if (!mask || gpumpi_compress_live(set, r))
            out = gpumpi_compress_put_words(out, v + (size_t)r * layout->register_stride, lanes);
    return out;
}

/* WARP; where LIVE is allowed as well, a warp whose patterns do not pay is written as in LIVE. */
static unsigned char *gpumpi_compress_write_warps(const gpump_compress_layout *layout, const uint32_t *values, const uint64_t *live,
                                                  uint32_t allow, unsigned char *out) {
    unsigned char *tags = out;
    uint32_t w, may_tag = !(allow & GPUMP_COMPRESS_PAPER);
    int vector = gpumpi_compress_vector(allow);
    memset(out, 0, (layout->warps + 7) / 8);
    out += (layout->warps + 7) / 8;
    for (w = 0; w < layout->warps; w++) {
        const uint64_t *set = gpumpi_compress_mask(layout, live, w);
        unsigned char *end = gpumpi_compress_warp(values + (size_t)w * layout->warp_stride, layout->registers, layout->register_stride,
                                                  set, gpumpi_compress_lanes(layout, w), layout->group, vector, out);
        if (may_tag && (size_t)(end - out) > gpumpi_compress_live_bytes(layout, live, w)) {
            tags[w >> 3] = (unsigned char)(tags[w >> 3] | 1u << (w & 7));
            end = gpumpi_compress_write_live(layout, values, live, w, 1, out);
        }
        out = end;
    }
    return out;
}

static unsigned char *gpumpi_compress_write_block(const gpump_compress_layout *layout, const uint32_t *values, const uint64_t *live,
                                                  uint32_t flags, unsigned char *out) {
    gpumpi_compress_vectors vectors;
    uint32_t r, w, i, plane = (layout->registers + 7) / 8;
    unsigned char *planes = out;
    memset(out, 0, (size_t)plane * 3);
    out += (size_t)plane * 3;
    for (r = 0; r < layout->registers; r++) {
        size_t data;
        uint32_t code;
        if (!gpumpi_compress_live_anywhere(layout, live, r)) continue;
        code = gpumpi_compress_block_code(layout, gpumpi_compress_block(layout, values, r, &vectors), &vectors, flags, &data);
        for (i = 0; i < 3; i++)
            if (code >> i & 1u) planes[i * plane + (r >> 3)] = (unsigned char)(planes[i * plane + (r >> 3)] | 1u << (r & 7));
        switch (code) {
        case GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM: out = gpumpi_compress_put_words(out, vectors.base, 1); break;
        case GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED:
            out = gpumpi_compress_put_words(out, vectors.base, 1);
            out = gpumpi_compress_put_words(out, vectors.stride, 1);
            break;
        case GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM: out = gpumpi_compress_put_words(out, vectors.base, vectors.groups); break;
        case GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED:
            out = gpumpi_compress_put_words(out, vectors.base, vectors.groups);
            out = gpumpi_compress_put_words(out, vectors.stride, vectors.groups);
            break;
        case GPUMP_COMPRESS_BLOCK_GRID:
            out = gpumpi_compress_put_words(out, vectors.base, 1);
            out = gpumpi_compress_put_words(out, vectors.stride, 1);
            out = gpumpi_compress_put_words(out, &vectors.step, 1);
            break;
        case GPUMP_COMPRESS_BLOCK_MIXED: {
            unsigned char *codes = out;
            uint32_t g = 0;
            memset(out, 0, (layout->warps + 3) / 4);
            out += (layout->warps + 3) / 4;
            for (w = 0; w < layout->warps; w++) {
                uint32_t pattern = vectors.pattern[w], groups = gpumpi_compress_groups(layout, w);
                codes[w >> 2] = (unsigned char)(codes[w >> 2] | pattern << (2 * (w & 3)));
                if (pattern == GPUMP_COMPRESS_RANDOM) {
                    out = gpumpi_compress_put_words(out, values + (size_t)w * layout->warp_stride + (size_t)r * layout->register_stride,
                                                    gpumpi_compress_lanes(layout, w));
                } else {
                    out = gpumpi_compress_put_words(out, vectors.base + g, groups);
                    if (pattern == GPUMP_COMPRESS_STRIDED) out = gpumpi_compress_put_words(out, vectors.stride + g, groups);
                }
                g += groups;
            }
            break;
        }
        default:
            for (w = 0; w < layout->warps; w++)
                out = gpumpi_compress_put_words(out, values + (size_t)w * layout->warp_stride + (size_t)r * layout->register_stride,
                                                gpumpi_compress_lanes(layout, w));
            break;
        }
    }
    return out;
}

GPUMP_API gpump_result gpump_compress_save(const gpump_compress_layout *layout, const uint32_t *values, const uint64_t *live, uint32_t allow,
                                 void *out, size_t capacity, size_t *bytes, uint32_t *form, gpump_diag *diag) {
    unsigned char *to = (unsigned char *)out;
    size_t bound, best, size;
    uint32_t w, chosen;
    gpump_result result = gpump_compress_bound(layout, &bound, diag);
    if (result != GPUMP_OK) return result;
    if (!values || !out || !bytes || !form) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "values, out, bytes or form", 0, 0, 1, UINT64_MAX);
    if (!(allow & GPUMP_COMPRESS_ALLOW_ALL)) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "allow", 0, allow, 1, GPUMP_COMPRESS_ALLOW_ALL);
    if (capacity < bound) {
        *bytes = bound;
        return gpumpi_fail(diag, GPUMP_ERROR_CAPACITY, "capacity", 0, capacity, bound, UINT64_MAX);
    }
    /* The sizes of RAW and LIVE follow from the masks alone; WARP is written at once, because it nearly always stays. */
    best = SIZE_MAX;
    chosen = GPUMP_COMPRESS_FORMS;
    if (allow & GPUMP_COMPRESS_ALLOW_RAW) {
        best = gpumpi_compress_raw_bytes(layout);
        chosen = GPUMP_COMPRESS_FORM_RAW;
    }
    if (allow & GPUMP_COMPRESS_ALLOW_LIVE) {
        for (size = 0, w = 0; w < layout->warps; w++) size += gpumpi_compress_live_bytes(layout, live, w);
        if (size < best) {
            best = size;
            chosen = GPUMP_COMPRESS_FORM_LIVE;
        }
    }
    if (allow & GPUMP_COMPRESS_ALLOW_WARP) {
        size = (size_t)(gpumpi_compress_write_warps(layout, values, live, allow, to) - to);
        if (size < best) {
            best = size;
            chosen = GPUMP_COMPRESS_FORM_WARP;
        }
    }
    if (allow & GPUMP_COMPRESS_ALLOW_BLOCK) {
        size = gpumpi_compress_block_bytes(layout, values, live, allow);
        if (size < best) {
            best = size;
            chosen = GPUMP_COMPRESS_FORM_BLOCK;
        }
    }
    if (chosen == GPUMP_COMPRESS_FORM_BLOCK) {
        gpumpi_compress_write_block(layout, values, live, allow, to);
    } else if (chosen != GPUMP_COMPRESS_FORM_WARP) {
        for (w = 0; w < layout->warps; w++)
            to = gpumpi_compress_write_live(layout, values, live, w, chosen == GPUMP_COMPRESS_FORM_LIVE, to);
    }
    *bytes = best;
    *form = chosen;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_compress_count(const gpump_compress_layout *layout, const uint32_t *values, const uint64_t *live, uint32_t flags,
                                  gpump_compress_counts *counts, gpump_diag *diag) {
    gpumpi_compress_vectors vectors;
    uint32_t r, w;
    gpump_result result = gpumpi_compress_check(layout, diag);
    if (result != GPUMP_OK) return result;
    if (!values || !counts) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "values or counts", 0, 0, 1, UINT64_MAX);
    memset(counts, 0, sizeof *counts);
    counts->bytes[GPUMP_COMPRESS_FORM_RAW] = gpumpi_compress_raw_bytes(layout);
    counts->bytes[GPUMP_COMPRESS_FORM_BLOCK] = 3 * ((layout->registers + 7) / 8);
    for (r = 0; r < layout->registers; r++) {
        uint32_t pattern;
        size_t data;
        if (!gpumpi_compress_live_anywhere(layout, live, r)) {
            counts->block[GPUMP_COMPRESS_BLOCK_DEAD]++;
            continue;
        }
        pattern = gpumpi_compress_block(layout, values, r, &vectors);
        counts->block[pattern]++;
        (void)gpumpi_compress_block_code(layout, pattern, &vectors, flags, &data);
        counts->bytes[GPUMP_COMPRESS_FORM_BLOCK] += data;
    }
    counts->bytes[GPUMP_COMPRESS_FORM_WARP] = (layout->warps + 7) / 8;
    for (w = 0; w < layout->warps; w++) {
        const uint64_t *set = gpumpi_compress_mask(layout, live, w);
        uint32_t lanes = gpumpi_compress_lanes(layout, w), groups = gpumpi_compress_groups(layout, w);
        size_t as_live = gpumpi_compress_live_bytes(layout, live, w), as_patterns = (layout->registers + 3) / 4;
        for (r = 0; r < layout->registers; r++) {
            uint32_t pattern = GPUMP_COMPRESS_DEAD;
            if (gpumpi_compress_live(set, r))
                pattern = gpumpi_compress_analyse(values + (size_t)w * layout->warp_stride + (size_t)r * layout->register_stride, lanes,
                                                  layout->group, vectors.base, vectors.stride);
            counts->warp[pattern]++;
            as_patterns += pattern == GPUMP_COMPRESS_RANDOM    ? (size_t)lanes * 4
                           : pattern == GPUMP_COMPRESS_STRIDED ? (size_t)groups * 8
                           : pattern == GPUMP_COMPRESS_UNIFORM ? (size_t)groups * 4
                                                               : 0;
        }
        counts->bytes[GPUMP_COMPRESS_FORM_LIVE] += as_live;
        counts->bytes[GPUMP_COMPRESS_FORM_WARP] +=
            as_patterns > as_live && !(flags & GPUMP_COMPRESS_PAPER) ? as_live : as_patterns;
    }
    return GPUMP_OK;
}

/* ---- reading ---- */

static gpump_result gpumpi_compress_bad(gpump_diag *diag, const char *field, uint64_t index, uint64_t value, uint64_t wanted) {
    return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, field, index, value, wanted, wanted);
}

/* Sets *length to the bytes that one warp takes, reading only its patterns; `left` bytes are there. */
static gpump_result gpumpi_compress_warp_length(const gpump_compress_layout *layout, uint32_t warp, int tagged, const unsigned char *in,
                                                size_t left, size_t *length, gpump_diag *diag) {
    uint32_t r, head = tagged ? (layout->registers + 7) / 8 : (layout->registers + 3) / 4, uniform = 0, random = 0, strided = 0, live = 0;
    uint32_t per_byte = tagged ? 8 : 4, spare = layout->registers % per_byte;
    if (left < head) return gpumpi_compress_bad(diag, "bytes", warp, left, head);
    if (spare && in[head - 1] >> (spare * (8 / per_byte))) return gpumpi_compress_bad(diag, "patterns", warp, in[head - 1], 0);
    for (r = 0; r < head; r++) {
        uint32_t byte = in[r];
        if (tagged) {
            live += gpump_bits_count64(byte);
        } else {
            uint32_t high = byte >> 1 & 0x55u, low = byte & 0x55u;
            uniform += gpump_bits_count64(low & ~high);
            random += gpump_bits_count64(high & ~low);
            strided += gpump_bits_count64(high & low);
        }
    }
    *length = head + ((size_t)gpumpi_compress_lanes(layout, warp) * (random + live) +
                      (size_t)gpumpi_compress_groups(layout, warp) * (uniform + 2 * (size_t)strided)) * 4;
    return left < *length ? gpumpi_compress_bad(diag, "bytes", warp, left, *length) : GPUMP_OK;
}

static uint32_t gpumpi_compress_plane_code(const unsigned char *planes, uint32_t plane, uint32_t r) {
    return ((uint32_t)planes[r >> 3] >> (r & 7) & 1u) | ((uint32_t)planes[plane + (r >> 3)] >> (r & 7) & 1u) << 1 |
           ((uint32_t)planes[2 * plane + (r >> 3)] >> (r & 7) & 1u) << 2;
}

/* Bytes that register r takes in the BLOCK form. */
static gpump_result gpumpi_compress_block_length(const gpump_compress_layout *layout, uint32_t r, uint32_t code, const unsigned char *in,
                                                 size_t left, size_t *length, gpump_diag *diag) {
    size_t words = 0, head = 0;
    uint32_t w;
    switch (code) {
    case GPUMP_COMPRESS_BLOCK_DEAD: break;
    case GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM: words = 1; break;
    case GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED: words = 2; break;
    case GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM: words = gpumpi_compress_block_groups(layout); break;
    case GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED: words = (size_t)gpumpi_compress_block_groups(layout) * 2; break;
    case GPUMP_COMPRESS_BLOCK_GRID: words = 3; break;
    case GPUMP_COMPRESS_BLOCK_RANDOM: words = gpumpi_compress_words(layout); break;
    default:
        head = (layout->warps + 3) / 4;
        if (left < head) return gpumpi_compress_bad(diag, "bytes", r, left, head);
        if (layout->warps % 4 && in[head - 1] >> (layout->warps % 4 * 2)) return gpumpi_compress_bad(diag, "patterns", r, in[head - 1], 0);
        for (w = 0; w < layout->warps; w++) {
            uint32_t pattern = (uint32_t)in[w >> 2] >> (2 * (w & 3)) & 3u;
            if (pattern == GPUMP_COMPRESS_DEAD) return gpumpi_compress_bad(diag, "patterns", r, pattern, GPUMP_COMPRESS_RANDOM);
            words += pattern == GPUMP_COMPRESS_RANDOM ? gpumpi_compress_lanes(layout, w)
                                                      : (size_t)gpumpi_compress_groups(layout, w) * (pattern == GPUMP_COMPRESS_STRIDED ? 2 : 1);
        }
        break;
    }
    *length = head + words * 4;
    return left < *length ? gpumpi_compress_bad(diag, "bytes", r, left, *length) : GPUMP_OK;
}

static const unsigned char *gpumpi_compress_read_live(const gpump_compress_layout *layout, uint32_t warp, int mask, const unsigned char *in,
                                                      uint32_t *values) {
    uint32_t *v = values + (size_t)warp * layout->warp_stride;
    const unsigned char *set = in;
    uint32_t r, lanes = gpumpi_compress_lanes(layout, warp);
    if (mask) in += (layout->registers + 7) / 8;
    for (r = 0; r < layout->registers; r++)
        if (!mask || ((uint32_t)set[r >> 3] >> (r & 7) & 1u)) in = gpumpi_compress_get_words(in, v + (size_t)r * layout->register_stride, lanes);
    return in;
}

/* One register of the BLOCK form, checked before. */
static void gpumpi_compress_read_block(const gpump_compress_layout *layout, uint32_t r, uint32_t code, const unsigned char *in,
                                       uint32_t *values) {
    const unsigned char *codes = in;
    uint32_t w, i, g = 0, all = gpumpi_compress_block_groups(layout);
    if (code == GPUMP_COMPRESS_BLOCK_MIXED) in += (layout->warps + 3) / 4;
    for (w = 0; w < layout->warps; w++) {
        uint32_t *v = values + (size_t)w * layout->warp_stride + (size_t)r * layout->register_stride;
        uint32_t lanes = gpumpi_compress_lanes(layout, w), groups = gpumpi_compress_groups(layout, w), pattern;
        switch (code) {
        case GPUMP_COMPRESS_BLOCK_DEAD: return;
        case GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM:
        case GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED:
        case GPUMP_COMPRESS_BLOCK_GRID: {
            uint32_t base = gpumpi_compress_get(in), x = code == GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM ? 0 : gpumpi_compress_get(in + 4);
            uint32_t y = code == GPUMP_COMPRESS_BLOCK_GRID ? gpumpi_compress_get(in + 8) : x * layout->group;
            for (i = 0; i < lanes; i++) v[i] = base + (g + i / layout->group) * y + i % layout->group * x;
            break;
        }
        case GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM: gpumpi_compress_expand(v, lanes, layout->group, in + (size_t)g * 4, NULL); break;
        case GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED:
            gpumpi_compress_expand(v, lanes, layout->group, in + (size_t)g * 4, in + ((size_t)all + g) * 4);
            break;
        case GPUMP_COMPRESS_BLOCK_RANDOM: in = gpumpi_compress_get_words(in, v, lanes); break;
        default:
            pattern = (uint32_t)codes[w >> 2] >> (2 * (w & 3)) & 3u;
            if (pattern == GPUMP_COMPRESS_RANDOM) {
                in = gpumpi_compress_get_words(in, v, lanes);
            } else {
                gpumpi_compress_expand(v, lanes, layout->group, in, pattern == GPUMP_COMPRESS_STRIDED ? in + (size_t)groups * 4 : NULL);
                in += (size_t)groups * (pattern == GPUMP_COMPRESS_STRIDED ? 8 : 4);
            }
            break;
        }
        g += groups;
    }
}

GPUMP_API gpump_result gpump_compress_restore(const gpump_compress_layout *layout, uint32_t form, uint32_t flags, const void *in, size_t bytes,
                                    uint32_t *values, gpump_diag *diag) {
    const unsigned char *from = (const unsigned char *)in, *at = from;
    uint32_t w, r, plane;
    size_t length = 0, head;
    int vector;
    gpump_result result = gpumpi_compress_check(layout, diag);
    if (result != GPUMP_OK) return result;
    if (!in || !values) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "in or values", 0, 0, 1, UINT64_MAX);
    switch (form) {
    case GPUMP_COMPRESS_FORM_RAW:
        if (bytes != gpumpi_compress_raw_bytes(layout)) return gpumpi_compress_bad(diag, "bytes", 0, bytes, gpumpi_compress_raw_bytes(layout));
        for (w = 0; w < layout->warps; w++) at = gpumpi_compress_read_live(layout, w, 0, at, values);
        return GPUMP_OK;
    case GPUMP_COMPRESS_FORM_LIVE:
    case GPUMP_COMPRESS_FORM_WARP:
        head = form == GPUMP_COMPRESS_FORM_WARP ? (layout->warps + 7) / 8 : 0;
        if (bytes < head) return gpumpi_compress_bad(diag, "bytes", 0, bytes, head);
        if (head && layout->warps % 8 && from[head - 1] >> layout->warps % 8)
            return gpumpi_compress_bad(diag, "tags", 0, from[head - 1], 0);
        for (at = from + head, w = 0; w < layout->warps; w++, at += length) {
            result = gpumpi_compress_warp_length(layout, w, !head || ((uint32_t)from[w >> 3] >> (w & 7) & 1u), at, bytes - (size_t)(at - from), &length, diag);
            if (result != GPUMP_OK) return result;
        }
        if ((size_t)(at - from) != bytes) return gpumpi_compress_bad(diag, "bytes", 0, bytes, (size_t)(at - from));
        vector = gpumpi_compress_vector(flags);
        for (at = from + head, w = 0; w < layout->warps; w++) {
            if (!head || ((uint32_t)from[w >> 3] >> (w & 7) & 1u))
                at = gpumpi_compress_read_live(layout, w, 1, at, values);
            else
                at = gpumpi_compress_unwarp(values + (size_t)w * layout->warp_stride, layout->registers, layout->register_stride,
                                            gpumpi_compress_lanes(layout, w), layout->group, vector, at);
        }
        return GPUMP_OK;
    case GPUMP_COMPRESS_FORM_BLOCK:
        plane = (layout->registers + 7) / 8;
        if (bytes < (size_t)plane * 3) return gpumpi_compress_bad(diag, "bytes", 0, bytes, (size_t)plane * 3);
        for (w = 1; layout->registers % 8 && w <= 3; w++)
            if (from[w * plane - 1] >> layout->registers % 8) return gpumpi_compress_bad(diag, "patterns", w - 1, from[w * plane - 1], 0);
        for (at = from + (size_t)plane * 3, r = 0; r < layout->registers; r++, at += length) {
            result = gpumpi_compress_block_length(layout, r, gpumpi_compress_plane_code(from, plane, r), at, bytes - (size_t)(at - from),
                                                  &length, diag);
            if (result != GPUMP_OK) return result;
        }
        if ((size_t)(at - from) != bytes) return gpumpi_compress_bad(diag, "bytes", 0, bytes, (size_t)(at - from));
        for (at = from + (size_t)plane * 3, r = 0; r < layout->registers; r++, at += length) {
            uint32_t code = gpumpi_compress_plane_code(from, plane, r);
            (void)gpumpi_compress_block_length(layout, r, code, at, bytes - (size_t)(at - from), &length, NULL);
            gpumpi_compress_read_block(layout, r, code, at, values);
        }
        return GPUMP_OK;
    default: return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "form", 0, form, 0, GPUMP_COMPRESS_FORMS - 1);
    }
}
