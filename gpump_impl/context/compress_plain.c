/* compress_plain: the plain path of compress.h, for every layout and machine. One loop serves all group sizes: it takes
 * eight lanes at a time where there are eight, and single lanes after that. */
#include "context/compress_parts.h"

/* ---- runs of lanes: with GNU C, eight of them by the vector instructions that every machine of the kind has ---- */

/* 32-bit x86 without SSE has no register for such a vector. */
#if defined(__GNUC__) && (!defined(__i386__) || defined(__SSE2__))
#define GPUMPI_COMPRESS_FOURS 1
typedef uint32_t gpumpi_compress_four __attribute__((vector_size(16)));
typedef int32_t gpumpi_compress_four_signed __attribute__((vector_size(16)));
typedef uint32_t gpumpi_compress_four_anywhere __attribute__((vector_size(16), aligned(4), may_alias));
#define GPUMPI_COMPRESS_FOUR(p) (*(const gpumpi_compress_four_anywhere *)(const void *)(p))
#define GPUMPI_COMPRESS_FOUR_OUT(p) (*(gpumpi_compress_four_anywhere *)(void *)(p))

/* base, base + d, base + 2d, base + 3d */
GPUMPI_COMPRESS_ALWAYS gpumpi_compress_four gpumpi_compress_ramp(uint32_t base, uint32_t d) {
    const gpumpi_compress_four odd = {0, UINT32_MAX, 0, UINT32_MAX}, upper = {0, 0, UINT32_MAX, UINT32_MAX};
    gpumpi_compress_four b = {base, base, base, base}, once = {d, d, d, d};
    return b + (once & odd) + ((once + once) & upper);
}

/* The bits in which some lane differs. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_any(gpumpi_compress_four bits) {
    return bits[0] | bits[1] | bits[2] | bits[3];
}
#endif

/* Returns 0 when v[i] is base + i * d for all `count` lanes. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_not_ramp(const uint32_t *v, uint32_t count, uint32_t base, uint32_t d) {
    uint32_t i = 0, differs = 0;
#ifdef GPUMPI_COMPRESS_FOURS
    if (count >= 8) {
        gpumpi_compress_four wrong = {0, 0, 0, 0}, low = gpumpi_compress_ramp(base, d), by = {d, d, d, d}, high;
        by = by + by;
        by = by + by;
        high = low + by;
        by = by + by;
#define GPUMPI_COMPRESS_EIGHT                                                                                   \
    wrong |= (GPUMPI_COMPRESS_FOUR(v + i) ^ low) | (GPUMPI_COMPRESS_FOUR(v + i + 4) ^ high), i += 8, low += by, \
        high += by
        if (count == 32) /* the usual count, without a loop */
            GPUMPI_COMPRESS_EIGHT, GPUMPI_COMPRESS_EIGHT, GPUMPI_COMPRESS_EIGHT, GPUMPI_COMPRESS_EIGHT;
        else
            while (i + 8 <= count) GPUMPI_COMPRESS_EIGHT;
#undef GPUMPI_COMPRESS_EIGHT
        differs = gpumpi_compress_any(wrong);
    }
#endif
    for (base += i * d; i < count; i++, base += d) differs |= v[i] ^ base;
    return differs;
}

/* v[i] = base + i * d */
GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_fill(uint32_t *v, uint32_t count, uint32_t base, uint32_t d) {
    uint32_t i = 0;
#ifdef GPUMPI_COMPRESS_FOURS
    if (count >= 8) {
        gpumpi_compress_four low = gpumpi_compress_ramp(base, d), by = {d, d, d, d}, high;
        by = by + by;
        by = by + by;
        high = low + by;
        by = by + by;
#define GPUMPI_COMPRESS_EIGHT \
    GPUMPI_COMPRESS_FOUR_OUT(v + i) = low, GPUMPI_COMPRESS_FOUR_OUT(v + i + 4) = high, i += 8, low += by, high += by
        if (count == 32)
            GPUMPI_COMPRESS_EIGHT, GPUMPI_COMPRESS_EIGHT, GPUMPI_COMPRESS_EIGHT, GPUMPI_COMPRESS_EIGHT;
        else
            while (i + 8 <= count) GPUMPI_COMPRESS_EIGHT;
#undef GPUMPI_COMPRESS_EIGHT
    }
#endif
    for (base += i * d; i < count; i++, base += d) v[i] = base;
}

/* Returns 0 when v[i] is before[i] + moved for all lanes. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_not_moved(const uint32_t *v, const uint32_t *before, uint32_t lanes,
                                                          uint32_t moved) {
    uint32_t i = 0, differs = 0;
#ifdef GPUMPI_COMPRESS_FOURS
    gpumpi_compress_four wrong = {0, 0, 0, 0}, by = {moved, moved, moved, moved};
    for (; i + 8 <= lanes; i += 8)
        wrong |= ((GPUMPI_COMPRESS_FOUR(v + i) - GPUMPI_COMPRESS_FOUR(before + i)) ^ by) |
                 ((GPUMPI_COMPRESS_FOUR(v + i + 4) - GPUMPI_COMPRESS_FOUR(before + i + 4)) ^ by);
    differs = gpumpi_compress_any(wrong);
#endif
    for (; i < lanes; i++) differs |= (v[i] - before[i]) ^ moved;
    return differs;
}

/* v[i] = before[i] + moved */
GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_move(uint32_t *v, const uint32_t *before, uint32_t lanes, uint32_t moved) {
    uint32_t i = 0;
#ifdef GPUMPI_COMPRESS_FOURS
    gpumpi_compress_four by = {moved, moved, moved, moved};
    for (; i + 4 <= lanes; i += 4) GPUMPI_COMPRESS_FOUR_OUT(v + i) = GPUMPI_COMPRESS_FOUR(before + i) + by;
#endif
    for (; i < lanes; i++) v[i] = before[i] + moved;
}

/* Sets *base to the lowest lane, seen from the first lane as a signed distance, and returns the bytes that hold the
 * distance from the lowest lane to the highest: 1 to 4. */
static uint32_t gpumpi_compress_range(const uint32_t *v, uint32_t lanes, uint32_t *base) {
    /* Distances with the sign bit turned compare as unsigned numbers. */
    uint32_t i = 0, k, low = 0x80000000u, high = 0x80000000u, ends[8];
#ifdef GPUMPI_COMPRESS_FOURS
    gpumpi_compress_four first = {v[0], v[0], v[0], v[0]};
    gpumpi_compress_four_signed least = {0, 0, 0, 0}, most = {0, 0, 0, 0};
    for (; i + 4 <= lanes; i += 4) {
        gpumpi_compress_four_signed x = (gpumpi_compress_four_signed)(GPUMPI_COMPRESS_FOUR(v + i) - first), below,
                                    above;
        below = x < least;
        above = x > most;
        least = (x & below) | (least & ~below);
        most = (x & above) | (most & ~above);
    }
    memcpy(ends, &least, 16);
    memcpy(ends + 4, &most, 16);
#else
    memset(ends, 0, sizeof ends);
#endif
    for (k = 0; i + k < lanes + 8; k++) { /* the ends of the vectors, then the lanes that fill no vector */
        uint32_t distance = (k < 8 ? ends[k] : v[i + k - 8] - v[0]) ^ 0x80000000u;
        low = distance < low ? distance : low;
        high = distance > high ? distance : high;
    }
    *base = v[0] + (low ^ 0x80000000u);
    return gpumpi_compress_width(high - low);
}

/* ---- one register ---- */

/* gpumpi_compress_analyse, for inlining. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_analysis(const uint32_t *v, uint32_t lanes, uint32_t group,
                                                         uint32_t *base, uint32_t *stride) {
    uint32_t at, g = 0, any = 0, differs = 0;
    for (at = 0; at < lanes; at += group, g++) {
        base[g] = v[at];
        stride[g] = lanes - at > 1 && group > 1 ? v[at + 1] - v[at] : g ? stride[g - 1] : 0;
        any |= stride[g];
    }
    /* Most random registers are found by their last two lanes. */
    if (at == lanes && group > 1 && any && v[lanes - 1] - v[lanes - 2] != stride[g - 1]) return GPUMP_COMPRESS_RANDOM;
    for (at = 0, g = 0; at < lanes; at += group, g++)
        differs |= gpumpi_compress_not_ramp(v + at, lanes - at < group ? lanes - at : group, base[g], stride[g]);
    return differs ? GPUMP_COMPRESS_RANDOM : any ? GPUMP_COMPRESS_STRIDED : GPUMP_COMPRESS_UNIFORM;
}

GPUMP_API uint32_t gpumpi_compress_analyse(const uint32_t *v, uint32_t lanes, uint32_t group, uint32_t *base,
                                           uint32_t *stride) {
    return lanes == 32 && group == 32 ? gpumpi_compress_analysis(v, 32, 32, base, stride)
                                      : gpumpi_compress_analysis(v, lanes, group, base, stride);
}

/* gpumpi_compress_expand, for inlining. */
GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_expansion(uint32_t *v, uint32_t lanes, uint32_t group,
                                                      const unsigned char *bases, const unsigned char *strides) {
    uint32_t at, d = 0;
    for (at = 0; at < lanes; at += group, bases += 4) {
        if (strides) {
            d = gpumpi_get_word(strides);
            strides += 4;
        }
        gpumpi_compress_fill(v + at, lanes - at < group ? lanes - at : group, gpumpi_get_word(bases), d);
    }
}

GPUMP_API void gpumpi_compress_expand(uint32_t *v, uint32_t lanes, uint32_t group, const unsigned char *bases,
                                      const unsigned char *strides) {
    gpumpi_compress_expansion(v, lanes, group, bases, strides);
}

/* gpumpi_compress_get_bytes with the width as a constant. */
GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_get_distances(const unsigned char *in, uint32_t *v, uint32_t lanes,
                                                          uint32_t base, uint32_t width) {
    uint32_t i, k;
    for (i = 0; i < lanes; i++, in += width) {
        uint32_t above = 0;
        for (k = 0; k < width; k++) above |= (uint32_t)in[k] << (8 * k);
        v[i] = base + above;
    }
}

/* gpumpi_compress_put_bytes with the width as a constant. */
GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_put_distances(unsigned char *out, const uint32_t *v, uint32_t lanes,
                                                          uint32_t base, uint32_t width) {
    uint32_t i, k;
    for (i = 0; i < lanes; i++, out += width) {
        uint32_t above = v[i] - base;
        for (k = 0; k < width; k++) out[k] = (unsigned char)(above >> (8 * k));
    }
}

GPUMP_API unsigned char *gpumpi_compress_put_bytes(unsigned char *out, const uint32_t *v, uint32_t lanes, uint32_t base,
                                                   uint32_t width) {
    gpumpi_put_word(out, base);
    out += 4;
    if (width == 1) gpumpi_compress_put_distances(out, v, lanes, base, 1);
    if (width == 2) gpumpi_compress_put_distances(out, v, lanes, base, 2);
    if (width == 3) gpumpi_compress_put_distances(out, v, lanes, base, 3);
    return out + (size_t)lanes * width;
}

GPUMP_API const unsigned char *gpumpi_compress_get_bytes(const unsigned char *in, uint32_t *v, uint32_t lanes,
                                                         uint32_t width) {
    uint32_t base = gpumpi_get_word(in);
    in += 4;
    if (width == 1) gpumpi_compress_get_distances(in, v, lanes, base, 1);
    if (width == 2) gpumpi_compress_get_distances(in, v, lanes, base, 2);
    if (width == 3) gpumpi_compress_get_distances(in, v, lanes, base, 3);
    return in + (size_t)lanes * width;
}

/* ---- one warp of the WARP form ---- */

/* Writes bases and, where `pattern` has them, strides: a few words, for which a loop is quicker than memcpy. */
GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_put_groups(unsigned char *out, uint32_t pattern,
                                                                 const uint32_t *base, const uint32_t *stride,
                                                                 uint32_t groups) {
    uint32_t g;
    for (g = 0; g < groups; g++, out += 4) gpumpi_put_word(out, base[g]);
    if (pattern != GPUMP_COMPRESS_STRIDED) return out;
    for (g = 0; g < groups; g++, out += 4) gpumpi_put_word(out, stride[g]);
    return out;
}

/* Reads one register that is not dead. */
GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_get_one(uint32_t *v, uint32_t lanes, uint32_t group,
                                                                    uint32_t pattern, const unsigned char *in) {
    size_t bases = (size_t)((lanes + group - 1) / group) * 4;
    if (pattern == GPUMP_COMPRESS_RANDOM) return gpumpi_get_words(in, v, lanes);
    gpumpi_compress_expansion(v, lanes, group, in, pattern == GPUMP_COMPRESS_STRIDED ? in + bases : NULL);
    return in + (pattern == GPUMP_COMPRESS_STRIDED ? 2 * bases : bases);
}

GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_write_lanes(const gpump_compress_layout *layout,
                                                                  const uint32_t *v, const uint64_t *live,
                                                                  uint32_t lanes, uint32_t group, unsigned char *out) {
    uint32_t base[8], stride[8], r, code = 0, groups = (lanes + group - 1) / group;
    unsigned char *codes = out;
    out += (layout->registers + 3) / 4;
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {
        if (r % 4 == 0) code = 0;
        if (gpumpi_compress_live(live, r)) {
            uint32_t pattern = gpumpi_compress_analysis(v, lanes, group, base, stride);
            code |= pattern << r % 4 * 2;
            out = pattern == GPUMP_COMPRESS_RANDOM ? gpumpi_put_words(out, v, lanes)
                                                   : gpumpi_compress_put_groups(out, pattern, base, stride, groups);
        }
        codes[r / 4] = (unsigned char)code;
    }
    return out;
}

GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_read_lanes(const gpump_compress_layout *layout, uint32_t *v,
                                                                       uint32_t lanes, uint32_t group,
                                                                       const unsigned char *in) {
    const unsigned char *codes = in;
    uint32_t r;
    in += (layout->registers + 3) / 4;
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {
        uint32_t pattern = (uint32_t)codes[r / 4] >> r % 4 * 2 & 3u;
        if (pattern) in = gpumpi_compress_get_one(v, lanes, group, pattern, in);
    }
    return in;
}

/* A warp of 32 lanes has code of its own, for one group and for several. */
static unsigned char *gpumpi_compress_plain_write_warp(const gpump_compress_layout *layout, const uint32_t *v,
                                                       const uint64_t *live, uint32_t lanes, unsigned char *out) {
    if (lanes == 32 && layout->group == 32) return gpumpi_compress_write_lanes(layout, v, live, 32, 32, out);
    if (lanes == 32 && layout->group == 16) return gpumpi_compress_write_lanes(layout, v, live, 32, 16, out);
    return gpumpi_compress_write_lanes(layout, v, live, lanes, layout->group, out);
}

static const unsigned char *gpumpi_compress_plain_read_warp(const gpump_compress_layout *layout, uint32_t *v,
                                                            uint32_t lanes, int around, const unsigned char *in) {
    (void)around;
    if (lanes == 32 && layout->group == 32) return gpumpi_compress_read_lanes(layout, v, 32, 32, in);
    if (lanes == 32 && layout->group == 16) return gpumpi_compress_read_lanes(layout, v, 32, 16, in);
    return gpumpi_compress_read_lanes(layout, v, lanes, layout->group, in);
}

/* Adds up 32 fields of two bits, none of which is 3. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_sum(uint64_t fields) {
    fields = (fields & UINT64_C(0x3333333333333333)) + (fields >> 2 & UINT64_C(0x3333333333333333));
    fields = (fields & UINT64_C(0x0f0f0f0f0f0f0f0f)) + (fields >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f));
    return (uint32_t)((fields * UINT64_C(0x0101010101010101)) >> 56);
}

static uint32_t gpumpi_compress_plain_words(const gpump_compress_layout *layout, const unsigned char *patterns,
                                            size_t left, uint32_t lanes, uint32_t groups) {
    uint32_t words = 0;
    GPUMPI_COMPRESS_WORDS(words, gpumpi_compress_sum);
    return words;
}

/* ---- one warp of the NEAR form ---- */

GPUMP_API uint32_t gpumpi_compress_near_one(const uint32_t *v, const uint32_t *before, uint32_t lanes, uint32_t group,
                                            uint32_t *step, unsigned char *out, size_t *bytes) {
    uint32_t base[8], stride[8], groups, code, lowest, width;
    if (before) {
        uint32_t moved = v[0] - before[0];
        if (!gpumpi_compress_not_moved(v, before, lanes, moved)) {
            code = moved == *step ? GPUMPI_COMPRESS_AGAIN : GPUMPI_COMPRESS_MOVED;
            *bytes = moved == *step ? 0 : 4;
            if (out && *bytes) gpumpi_put_word(out, moved);
            *step = moved;
            return code;
        }
    }
    code = gpumpi_compress_analyse(v, lanes, group, base, stride);
    if (code == GPUMP_COMPRESS_RANDOM) {
        *bytes = (size_t)lanes * 4;
        width = gpumpi_compress_range(v, lanes, &lowest);
        if (4 + (size_t)lanes * width < *bytes) {
            *bytes = 4 + (size_t)lanes * width;
            code = GPUMPI_COMPRESS_BYTES1 - 1 + width;
            if (out) gpumpi_compress_put_bytes(out, v, lanes, lowest, width);
        } else if (out) {
            gpumpi_put_words(out, v, lanes);
        }
        return code;
    }
    groups = (lanes + group - 1) / group;
    *bytes = (size_t)groups * (code == GPUMP_COMPRESS_STRIDED ? 8 : 4);
    if (out) gpumpi_compress_put_groups(out, code, base, stride, groups);
    return code;
}

static unsigned char *gpumpi_compress_plain_write_near(const gpump_compress_layout *layout, const uint32_t *v,
                                                       const gpumpi_compress_near *near, unsigned char *out) {
    uint32_t r, code;
    unsigned char *codes = out;
    size_t bytes;
    memset(out, 0, (layout->registers + 1) / 2);
    out += (layout->registers + 1) / 2;
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {
        if (!gpumpi_compress_live(near->live, r)) continue;
        code = gpumpi_compress_near_one(
            v, near->back && gpumpi_compress_live(near->live_before, r) ? v - near->back : NULL, near->lanes,
            layout->group, near->steps + r, out, &bytes);
        codes[r >> 1] = (unsigned char)(codes[r >> 1] | code << (r & 1) * 4);
        out += bytes;
    }
    return out;
}

static const unsigned char *gpumpi_compress_plain_read_near(const gpump_compress_layout *layout, uint32_t *v,
                                                            const gpumpi_compress_near *near, const unsigned char *in) {
    const unsigned char *codes = in;
    uint32_t r;
    in += (layout->registers + 1) / 2;
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {
        uint32_t code = (uint32_t)codes[r >> 1] >> (r & 1) * 4 & 15u;
        if (code == GPUMP_COMPRESS_DEAD) continue;
        if (code >= GPUMPI_COMPRESS_BYTES1) {
            in = gpumpi_compress_get_bytes(in, v, near->lanes, code - GPUMPI_COMPRESS_BYTES1 + 1);
        } else if (code >= GPUMPI_COMPRESS_AGAIN) {
            if (code == GPUMPI_COMPRESS_MOVED) {
                near->steps[r] = gpumpi_get_word(in);
                in += 4;
            }
            gpumpi_compress_move(v, v - near->back, near->lanes, near->steps[r]);
        } else {
            in = gpumpi_compress_get_one(v, near->lanes, layout->group, code, in);
        }
    }
    return in;
}

GPUMP_API const gpumpi_compress_path *gpumpi_compress_plain(void) {
    static const gpumpi_compress_path path = {gpumpi_compress_plain_write_warp, gpumpi_compress_plain_read_warp,
                                              gpumpi_compress_plain_write_near, gpumpi_compress_plain_read_near,
                                              gpumpi_compress_plain_words};
    return &path;
}
