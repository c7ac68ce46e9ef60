/* compress: the code behind compress.h. The three paths write the same bytes; tests/context/compress.c holds
 * them against each other and against a bit-by-bit reading of the format. */
#include "context/compress.h"

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
/* Before a loop of eight constant steps or fewer, which clang unrolls by itself. */
#if defined(__GNUC__) && !defined(__clang__)
#define GPUMPI_COMPRESS_UNROLL _Pragma("GCC unroll 8")
#else
#define GPUMPI_COMPRESS_UNROLL
#endif

/* Groups of a block at most: 64 warps of 64 lanes in groups of 8. */
#define GPUMPI_COMPRESS_GROUPS (GPUMP_COMPRESS_MAX_WARPS * GPUMP_COMPRESS_MAX_LANES / 8)

/* Codes of the NEAR form beyond those of gpump_compress_pattern. */
enum {
    GPUMPI_COMPRESS_AGAIN =
        4, /* every lane is that of the warp before plus the constant last written for this register */
    GPUMPI_COMPRESS_MOVED = 5,  /* the same, with a constant of its own */
    GPUMPI_COMPRESS_BYTES1 = 6, /* a base, then how far each lane is above it in 1, 2 or 3 bytes */
    GPUMPI_COMPRESS_BYTES2 = 7,
    GPUMPI_COMPRESS_BYTES3 = 8,
    GPUMPI_COMPRESS_NEAR_CODES = 9
};

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

GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_put_words(unsigned char *out, const uint32_t *words,
                                                                uint32_t count) {
#ifdef GPUMPI_COMPRESS_LITTLE
    memcpy(out, words, (size_t)count * 4);
#else
    uint32_t i;
    for (i = 0; i < count; i++) gpumpi_compress_put(out + (size_t)i * 4, words[i]);
#endif
    return out + (size_t)count * 4;
}

GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_get_words(const unsigned char *in, uint32_t *words,
                                                                      uint32_t count) {
#ifdef GPUMPI_COMPRESS_LITTLE
    memcpy(words, in, (size_t)count * 4);
#else
    uint32_t i;
    for (i = 0; i < count; i++) words[i] = gpumpi_compress_get(in + (size_t)i * 4);
#endif
    return in + (size_t)count * 4;
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
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "registers", 0, layout->registers, 1,
                           GPUMP_COMPRESS_MAX_REGISTERS);
    if (layout->lanes < 1 || layout->lanes > GPUMP_COMPRESS_MAX_LANES)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "lanes", 0, layout->lanes, 1, GPUMP_COMPRESS_MAX_LANES);
    if (layout->last_lanes < 1 || layout->last_lanes > layout->lanes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "last_lanes", 0, layout->last_lanes, 1, layout->lanes);
    lowest = layout->lanes < 8 ? layout->lanes : 8;
    if (layout->group < lowest || layout->group > layout->lanes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "group", 0, layout->group, lowest, layout->lanes);
    if (layout->register_stride < layout->lanes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "register_stride", 0, layout->register_stride, layout->lanes,
                           UINT32_MAX);
    if (layout->warps > 1 && layout->warp_stride < layout->lanes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "warp_stride", 0, layout->warp_stride, layout->lanes,
                           UINT32_MAX);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_compress_layout_init(gpump_compress_layout *layout, uint32_t threads, uint32_t registers,
                                                  uint32_t lanes, uint32_t block_x, gpump_diag *diag) {
    gpump_compress_layout made;
    gpump_result result;
    if (!layout) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "layout", 0, 0, 1, UINT64_MAX);
    if (lanes < 1 || lanes > GPUMP_COMPRESS_MAX_LANES)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "lanes", 0, lanes, 1, GPUMP_COMPRESS_MAX_LANES);
    if (threads < 1 || threads > lanes * GPUMP_COMPRESS_MAX_WARPS)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "threads", 0, threads, 1,
                           (uint64_t)lanes * GPUMP_COMPRESS_MAX_WARPS);
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

GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_lanes(const gpump_compress_layout *layout, uint32_t warp) {
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
    return (layout->registers + 7) / 8 +
           (size_t)gpumpi_compress_live_count(gpumpi_compress_mask(layout, live, warp), layout->registers) *
               gpumpi_compress_lanes(layout, warp) * 4;
}

GPUMP_API gpump_result gpump_compress_bound(const gpump_compress_layout *layout, size_t *bytes, gpump_diag *diag) {
    gpump_result result = gpumpi_compress_check(layout, diag);
    uint32_t groups, lanes;
    size_t excess = 0;
    if (result != GPUMP_OK) return result;
    if (!bytes) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bytes", 0, 0, 1, UINT64_MAX);
    /* WARP: tags, two bits per register and warp (NEAR: four); BLOCK: three bits per register, and mixed never beats
     * random when larger. As the paper classifies, a register may take base and stride of every group, which is more
     * than its lanes where groups are tiny. */
    groups = gpumpi_compress_block_groups(layout);
    lanes = gpumpi_compress_words(layout);
    if (2 * groups > lanes) excess = (size_t)(2 * groups - lanes) * 4 * layout->registers;
    *bytes = gpumpi_compress_raw_bytes(layout) + excess + (layout->warps + 7) / 8 +
             (size_t)layout->warps * ((layout->registers + 1) / 2) + 3 * ((layout->registers + 7) / 8);
    return GPUMP_OK;
}

static gpump_result gpumpi_compress_bad(gpump_diag *diag, const char *field, uint64_t index, uint64_t value,
                                        uint64_t wanted) {
    return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, field, index, value, wanted, wanted);
}

/* ---- live registers as they are ---- */

GPUMPI_COMPRESS_ALWAYS int gpumpi_compress_live(const uint64_t *live, uint32_t r) {
    return !live || gpump_bits_get(live, r);
}

static unsigned char *gpumpi_compress_write_live(const gpump_compress_layout *layout, const uint32_t *values,
                                                 const uint64_t *live, uint32_t warp, int mask, unsigned char *out) {
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

static const unsigned char *gpumpi_compress_read_live(const gpump_compress_layout *layout, uint32_t warp, int mask,
                                                      const unsigned char *in, uint32_t *values) {
    uint32_t *v = values + (size_t)warp * layout->warp_stride;
    const unsigned char *set = in;
    uint32_t r, lanes = gpumpi_compress_lanes(layout, warp);
    if (mask) in += (layout->registers + 7) / 8;
    for (r = 0; r < layout->registers; r++)
        if (!mask || ((uint32_t)set[r >> 3] >> (r & 7) & 1u))
            in = gpumpi_compress_get_words(in, v + (size_t)r * layout->register_stride, lanes);
    return in;
}

/* Ends a warp of the WARP form that went to out ... end: where its patterns do not pay it is written again as in LIVE.
 * tags NULL: never. */
GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_settle(const gpump_compress_layout *layout,
                                                             const uint32_t *values, const uint64_t *live,
                                                             uint32_t warp, unsigned char *tags, unsigned char *out,
                                                             unsigned char *end) {
    if (!tags || (size_t)(end - out) <= gpumpi_compress_live_bytes(layout, live, warp)) return end;
    tags[warp >> 3] = (unsigned char)(tags[warp >> 3] | 1u << (warp & 7));
    return gpumpi_compress_write_live(layout, values, live, warp, 1, out);
}

/* 0: the patterns of a full warp of 32 lanes have paid; 1: perhaps not. Pattern vectors are a bit per register longer
 * than live masks, so registers must have shrunk by less than that, and a live register that does not shrink is 128
 * bytes. Quicker than counting. */
GPUMPI_COMPRESS_ALWAYS int gpumpi_compress_doubtful(uint32_t registers, size_t bytes) {
    uint32_t patterns = (registers + 3) / 4;
    return ((0u - (uint32_t)(bytes - patterns)) & 127u) < patterns - (registers + 7) / 8;
}

/* ---- one vector register, plain C ---- */

/* Fills base and stride of every group; returns the pattern. A group of a single lane takes the stride of the group
 * before it, so that it never spoils a pattern. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_analyse(const uint32_t *v, uint32_t lanes, uint32_t group,
                                                        uint32_t *base, uint32_t *stride) {
    uint32_t at, g = 0, i, any = 0, differs = 0;
    for (at = 0; at < lanes; at += group, g++) {
        base[g] = v[at];
        stride[g] = lanes - at > 1 && group > 1 ? v[at + 1] - v[at] : g ? stride[g - 1] : 0;
        any |= stride[g];
    }
    for (at = 0, g = 0; at < lanes; at += group, g++) {
        uint32_t count = lanes - at < group ? lanes - at : group, expected = base[g], d = stride[g];
        if (!any) {
            for (i = 0; i < count; i++) differs |= v[at + i] ^ expected;
        } else {
            for (i = 0; i < count; i++, expected += d) differs |= v[at + i] ^ expected;
        }
    }
    return differs ? GPUMP_COMPRESS_RANDOM : any ? GPUMP_COMPRESS_STRIDED : GPUMP_COMPRESS_UNIFORM;
}

/* The same for 32 lanes in groups of 8, 16 or 32, four words at a time, which compilers for GNU C turn into the vector
 * instructions that every machine of the kind has. */
#if defined(__GNUC__)
typedef uint32_t gpumpi_compress_four __attribute__((vector_size(16)));
typedef uint32_t gpumpi_compress_four_anywhere __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t gpumpi_compress_two __attribute__((vector_size(16)));

/* base, base + d, base + 2d, base + 3d */
GPUMPI_COMPRESS_ALWAYS gpumpi_compress_four gpumpi_compress_ramp(uint32_t base, uint32_t d) {
    const gpumpi_compress_four odd = {0, UINT32_MAX, 0, UINT32_MAX}, upper = {0, 0, UINT32_MAX, UINT32_MAX};
    gpumpi_compress_four b = {base, base, base, base}, once = {d, d, d, d};
    return b + (once & odd) + ((once + once) & upper);
}

GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_analyse32(const uint32_t *v, uint32_t group, uint32_t *base,
                                                          uint32_t *stride) {
    gpumpi_compress_four wrong = {0, 0, 0, 0};
    gpumpi_compress_two halves;
    const uint32_t groups = 32 / group; /* a division in the loops' heads keeps gcc's sanitizer from unrolling them */
    uint32_t g, i, any = 0;
    GPUMPI_COMPRESS_UNROLL
    for (g = 0; g < groups; g++) {
        base[g] = v[g * group];
        stride[g] = v[g * group + 1] - v[g * group];
        any |= stride[g];
    }
    if (any && v[31] - v[30] != stride[groups - 1]) return GPUMP_COMPRESS_RANDOM; /* most are found here */
    GPUMPI_COMPRESS_UNROLL
    for (g = 0; g < groups; g++, v += group) {
        gpumpi_compress_four expected = {base[g], base[g], base[g], base[g]},
                             d = {stride[g], stride[g], stride[g], stride[g]};
        if (!any) {
            GPUMPI_COMPRESS_UNROLL
            for (i = 0; i < group; i += 4)
                wrong |= *(const gpumpi_compress_four_anywhere *)(const void *)(v + i) ^ expected;
        } else {
            expected = gpumpi_compress_ramp(base[g], stride[g]);
            d = d + d;
            d = d + d;
            GPUMPI_COMPRESS_UNROLL
            for (i = 0; i < group; i += 4, expected += d)
                wrong |= *(const gpumpi_compress_four_anywhere *)(const void *)(v + i) ^ expected;
        }
    }
    memcpy(&halves, &wrong, sizeof halves);
    return halves[0] | halves[1] ? GPUMP_COMPRESS_RANDOM : any ? GPUMP_COMPRESS_STRIDED : GPUMP_COMPRESS_UNIFORM;
}
#else
#define gpumpi_compress_analyse32(v, group, base, stride) gpumpi_compress_analyse(v, 32, group, base, stride)
#endif

/* 1: warps of that many lanes have code of their own. */
GPUMPI_COMPRESS_ALWAYS int gpumpi_compress_common(uint32_t lanes, uint32_t group) {
    return lanes == 32 && (group == 32 || group == 16 || group == 8);
}

#if defined(__GNUC__)
#define GPUMPI_COMPRESS_POPCNT(x) ((uint32_t)__builtin_popcountll(x))
#else
#define GPUMPI_COMPRESS_POPCNT(x) gpump_bits_count64(x)
#endif

/* ---- pattern vectors: two bits per register, taken 32 registers at a time as one word ---- */

#define GPUMPI_COMPRESS_LOW_BITS UINT64_C(0x5555555555555555)
/* Where the register lies whose pattern starts at the lowest bit of `todo`. */
#define GPUMPI_COMPRESS_REGISTER(values, todo, step) ((values) + (size_t)gpump_bits_lowest64(todo) / 2 * (step))

/* The live registers of `first` to `first` + 31. */
GPUMPI_COMPRESS_ALWAYS uint64_t gpumpi_compress_alive(const uint64_t *live, uint32_t registers, uint32_t first) {
    uint64_t alive = live ? (uint32_t)(live[first >> 6] >> (first & 32u)) : UINT32_MAX;
    return registers - first < 32 ? alive & ((UINT64_C(1) << (registers - first)) - 1u) : alive;
}

GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_put_patterns(unsigned char *codes, uint32_t registers, uint32_t first,
                                                         uint64_t word) {
    uint32_t bytes = registers - first < 32 ? (registers - first + 3) / 4 : 8;
    codes += first / 4;
    if (bytes >= 4) {
        gpumpi_compress_put(codes, (uint32_t)word);
        codes += 4;
        bytes -= 4;
        word >>= 32;
    }
    if (bytes == 4) {
        gpumpi_compress_put(codes, (uint32_t)word);
        return;
    }
    for (; bytes; bytes--, word >>= 8) *codes++ = (unsigned char)word;
}

/* `left` bytes can be read. */
GPUMPI_COMPRESS_ALWAYS uint64_t gpumpi_compress_get_patterns(const unsigned char *codes, uint32_t registers,
                                                             uint32_t first, size_t left) {
    uint32_t bytes = registers - first < 32 ? (registers - first + 3) / 4 : 8, shift;
    uint64_t word = 0;
    codes += first / 4;
    left -= first / 4;
#ifdef GPUMPI_COMPRESS_LITTLE
    if (left >= 8) {
        memcpy(&word, codes, 8);
        return bytes < 8 ? word & ((UINT64_C(1) << bytes * 8) - 1u) : word;
    }
#endif
    for (shift = 0; bytes; bytes--, shift += 8) word |= (uint64_t)*codes++ << shift;
    return word;
}

/* Writes pattern vector and data of one warp; returns the end. */
GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_warp_plain(const uint32_t *values, uint32_t registers,
                                                                 uint32_t step, const uint64_t *live, uint32_t lanes,
                                                                 uint32_t group, unsigned char *out) {
    uint32_t base[8], stride[8], first, groups = (lanes + group - 1) / group;
    unsigned char *codes = out;
    out += (registers + 3) / 4;
    for (first = 0; first < registers; first += 32, values += (size_t)32 * step) {
        uint64_t todo = gpumpi_compress_alive(live, registers, first), patterns = 0;
        for (; todo; todo &= todo - 1) {
            uint32_t r = gpump_bits_lowest64(todo), pattern;
            const uint32_t *v = values + (size_t)r * step;
            pattern = gpumpi_compress_common(lanes, group) ? gpumpi_compress_analyse32(v, group, base, stride)
                                                           : gpumpi_compress_analyse(v, lanes, group, base, stride);
            patterns |= (uint64_t)pattern << (2 * r);
            if (pattern == GPUMP_COMPRESS_RANDOM) {
                out = gpumpi_compress_put_words(out, v, lanes);
                continue;
            }
            out = gpumpi_compress_put_words(out, base, groups);
            if (pattern == GPUMP_COMPRESS_STRIDED) out = gpumpi_compress_put_words(out, stride, groups);
        }
        gpumpi_compress_put_patterns(codes, registers, first, patterns);
    }
    return out;
}

/* Fills one vector register from bases and strides (little-endian words; strides NULL: uniform). */
GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_expand(uint32_t *v, uint32_t lanes, uint32_t group,
                                                   const unsigned char *bases, const unsigned char *strides) {
    uint32_t at, g = 0, i;
    GPUMPI_COMPRESS_UNROLL
    for (at = 0; at < lanes; at += group, g++) {
        uint32_t count = lanes - at < group ? lanes - at : group;
        uint32_t base = gpumpi_compress_get(bases + (size_t)g * 4),
                 d = strides ? gpumpi_compress_get(strides + (size_t)g * 4) : 0;
#if defined(__GNUC__)
        if (lanes == 32 && count % 8 == 0) {
            gpumpi_compress_four four = gpumpi_compress_ramp(base, d), step = {d, d, d, d};
            step = step + step;
            step = step + step;
            GPUMPI_COMPRESS_UNROLL
            for (i = 0; i < count; i += 4, four += step) *(gpumpi_compress_four_anywhere *)(void *)(v + at + i) = four;
            continue;
        }
#endif
        for (i = 0; i < count; i++, base += d) v[at + i] = base;
    }
}

/* Reads pattern vector and data of one warp that has been checked; returns the end. */
GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_unwarp_plain(uint32_t *values, uint32_t registers,
                                                                         uint32_t step, uint32_t lanes, uint32_t group,
                                                                         const unsigned char *in) {
    const uint32_t groups = (lanes + group - 1) / group;
    const unsigned char *codes = in;
    uint32_t first;
    in += (registers + 3) / 4;
    for (first = 0; first < registers; first += 32, values += (size_t)32 * step) {
        uint64_t patterns = gpumpi_compress_get_patterns(codes, registers, first, (registers + 3) / 4);
        uint64_t todo = (patterns | patterns >> 1) & GPUMPI_COMPRESS_LOW_BITS;
        for (; todo; todo &= todo - 1) {
            uint32_t pattern = (uint32_t)(patterns >> gpump_bits_lowest64(todo)) & 3u;
            uint32_t *v = GPUMPI_COMPRESS_REGISTER(values, todo, step);
            if (pattern == GPUMP_COMPRESS_RANDOM) {
                in = gpumpi_compress_get_words(in, v, lanes);
            } else if (pattern == GPUMP_COMPRESS_STRIDED) {
                gpumpi_compress_expand(v, lanes, group, in, in + (size_t)groups * 4);
                in += (size_t)groups * 8;
            } else {
                gpumpi_compress_expand(v, lanes, group, in, NULL);
                in += (size_t)groups * 4;
            }
        }
    }
    return in;
}

/* ---- the NEAR form, one register ---- */

/* Bytes that hold `range`: 1 to 4. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_width(uint32_t range) {
    return range < 256 ? 1 : range < 65536 ? 2 : range < 16777216 ? 3 : 4;
}

/* Writes how far each lane is above base. */
static unsigned char *gpumpi_compress_put_bytes(unsigned char *out, const uint32_t *v, uint32_t lanes, uint32_t base,
                                                uint32_t width) {
    uint32_t i, k;
    gpumpi_compress_put(out, base);
    out += 4;
    for (i = 0; i < lanes; i++) {
        uint32_t above = v[i] - base;
        for (k = 0; k < width; k++, above >>= 8) *out++ = (unsigned char)above;
    }
    return out;
}

static const unsigned char *gpumpi_compress_get_bytes(const unsigned char *in, uint32_t *v, uint32_t lanes,
                                                      uint32_t width) {
    uint32_t i, k, base = gpumpi_compress_get(in);
    in += 4;
    for (i = 0; i < lanes; i++, in += width) {
        uint32_t above = 0;
        for (k = 0; k < width; k++) above |= (uint32_t)in[k] << (8 * k);
        v[i] = base + above;
    }
    return in;
}

/* Sets *base to the lowest lane, seen from the first lane as a signed distance, and returns the bytes that hold the
 * range: 1 to 4. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_range(const uint32_t *v, uint32_t lanes, uint32_t *base) {
    uint32_t i, low = 0x80000000u,
                high = 0x80000000u; /* distances with the sign bit turned: they compare as unsigned */
    for (i = 1; i < lanes; i++) {
        uint32_t distance = (v[i] - v[0]) ^ 0x80000000u;
        low = distance < low ? distance : low;
        high = distance > high ? distance : high;
    }
    *base = v[0] + (low ^ 0x80000000u);
    return gpumpi_compress_width(high - low);
}

/* Returns the code of a register and sets *bytes to its data bytes; out NULL: only that. before: the same register of
 * the warp before when that is saved, else NULL; *step: the constant last written. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_near(const uint32_t *v, const uint32_t *before, uint32_t lanes,
                                                     uint32_t group, uint32_t *step, unsigned char *out,
                                                     size_t *bytes) {
    uint32_t base[8], stride[8], groups = (lanes + group - 1) / group, i, differs = 1, code, lowest, width;
    if (before) {
        uint32_t moved = v[0] - before[0];
        for (differs = 0, i = 0; i < lanes; i++) differs |= (v[i] - before[i]) ^ moved;
        if (!differs) {
            code = moved == *step ? GPUMPI_COMPRESS_AGAIN : GPUMPI_COMPRESS_MOVED;
            *bytes = moved == *step ? 0 : 4;
            if (out && *bytes) gpumpi_compress_put(out, moved);
            *step = moved;
            return code;
        }
    }
    code = gpumpi_compress_common(lanes, group) ? gpumpi_compress_analyse32(v, group, base, stride)
                                                : gpumpi_compress_analyse(v, lanes, group, base, stride);
    if (code == GPUMP_COMPRESS_RANDOM) {
        *bytes = (size_t)lanes * 4;
        width = gpumpi_compress_range(v, lanes, &lowest);
        if (4 + (size_t)lanes * width < *bytes) {
            *bytes = 4 + (size_t)lanes * width;
            code = GPUMPI_COMPRESS_BYTES1 - 1 + width;
            if (out) gpumpi_compress_put_bytes(out, v, lanes, lowest, width);
        } else if (out) {
            gpumpi_compress_put_words(out, v, lanes);
        }
        return code;
    }
    *bytes = (size_t)groups * (code == GPUMP_COMPRESS_STRIDED ? 8 : 4);
    if (out) {
        out = gpumpi_compress_put_words(out, base, groups);
        if (code == GPUMP_COMPRESS_STRIDED) gpumpi_compress_put_words(out, stride, groups);
    }
    return code;
}

/* Reads one register whose code is not 0; v - back is that of the warp before. Returns what follows. */
GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_unnear(uint32_t *v, size_t back, uint32_t lanes,
                                                                   uint32_t group, uint32_t code, uint32_t *step,
                                                                   const unsigned char *in) {
    uint32_t groups = (lanes + group - 1) / group, i;
    switch (code) {
    case GPUMP_COMPRESS_UNIFORM: gpumpi_compress_expand(v, lanes, group, in, NULL); return in + (size_t)groups * 4;
    case GPUMP_COMPRESS_STRIDED:
        gpumpi_compress_expand(v, lanes, group, in, in + (size_t)groups * 4);
        return in + (size_t)groups * 8;
    case GPUMP_COMPRESS_RANDOM: return gpumpi_compress_get_words(in, v, lanes);
    case GPUMPI_COMPRESS_AGAIN:
    case GPUMPI_COMPRESS_MOVED:
        if (code == GPUMPI_COMPRESS_MOVED) {
            *step = gpumpi_compress_get(in);
            in += 4;
        }
#if defined(__GNUC__)
        if (lanes == 32) {
            gpumpi_compress_four moved = {*step, *step, *step, *step};
            GPUMPI_COMPRESS_UNROLL
            for (i = 0; i < 32; i += 4)
                *(gpumpi_compress_four_anywhere *)(void *)(v + i) =
                    *(const gpumpi_compress_four_anywhere *)(const void *)(v - back + i) + moved;
            return in;
        }
#endif
        for (i = 0; i < lanes; i++) v[i] = (v - back)[i] + *step;
        return in;
    default: return gpumpi_compress_get_bytes(in, v, lanes, code - GPUMPI_COMPRESS_BYTES1 + 1);
    }
}

/* ---- the same for 32 lanes with AVX2 ---- */

#ifdef GPUMPI_COMPRESS_AVX2
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

/* One function per direction, with the group width a constant at each call. What limits them is the number of
 * instructions, not branches: a register has the same pattern in nearly all warps of a kernel. */

/* 0 when 32 lanes have one value. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS __m256i gpumpi_compress_not_uniform(const uint32_t *v) {
    __m256i b = GPUMPI_COMPRESS_ALL(v[0]);
    return GPUMPI_COMPRESS_OR4(
        GPUMPI_COMPRESS_XOR(b, GPUMPI_COMPRESS_LOAD(v)), GPUMPI_COMPRESS_XOR(b, GPUMPI_COMPRESS_LOAD(v + 8)),
        GPUMPI_COMPRESS_XOR(b, GPUMPI_COMPRESS_LOAD(v + 16)), GPUMPI_COMPRESS_XOR(b, GPUMPI_COMPRESS_LOAD(v + 24)));
}

/* 0 when the differences between neighbours are equal in each group of 32 lanes; the strides are the first lanes of *s.
 * Windows of eight differences overlap where a group ends; with groups of eight the last of a window belongs to no
 * group. */
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

/* How far ahead registers are fetched, bytes: enough for memory, and no matter to caches. It may be past the end, which
 * does no harm. */
#define GPUMPI_COMPRESS_AHEAD 8192

/* Writes one register of 32 lanes; returns its pattern. Strides are written even when all are 0: what follows goes over
 * them. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_one_vector(const uint32_t *v, uint32_t group,
                                                                                  unsigned char **to) {
    const uint32_t groups = 32 / group;
    unsigned char *out = *to;
    __m256i s[4], differs, any;
    uint32_t g, i;
    _mm_prefetch((const char *)v + GPUMPI_COMPRESS_AHEAD, _MM_HINT_T0);
    _mm_prefetch((const char *)v + GPUMPI_COMPRESS_AHEAD + 64, _MM_HINT_T0);
    if (group == 32 && v[0] == v[1]) { /* with one group this is quicker than a stride of 0 */
        differs = gpumpi_compress_not_uniform(v);
        if (_mm256_testz_si256(differs, differs)) {
            gpumpi_compress_put(out, v[0]);
            *to = out + 4;
            return GPUMP_COMPRESS_UNIFORM;
        }
    } else {
        GPUMPI_COMPRESS_OPAQUE(v); /* so that loads are part of the differences, not shared with the branch above */
        differs = gpumpi_compress_not_strided(v, group, s);
        if (_mm256_testz_si256(differs, differs)) {
            GPUMPI_COMPRESS_UNROLL
            for (g = 0; g < groups; g++) gpumpi_compress_put(out + g * 4, v[g * group]);
            GPUMPI_COMPRESS_UNROLL
            for (g = 0; g < groups; g++)
                gpumpi_compress_put(out + (groups + g) * 4, (uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(s[g])));
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
            gpumpi_compress_put(out, v[0]);
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
            for (g = 0; g < groups; g++) gpumpi_compress_put(out + g * 4, v[g * group]);
            if (group == 8) {
                for (g = 0; g < groups; g++)
                    gpumpi_compress_put(out + (groups + g) * 4, v[g * group + 1] - v[g * group]);
            } else {
                gpumpi_compress_put(out + groups * 4, (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(s0)));
                if (group == 16) gpumpi_compress_put(out + 12, (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(s1)));
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

/* The first `warps` warps, which are full; four registers at a time, which is a byte of the pattern vector. */
#define GPUMPI_COMPRESS_EACH(one, group)                                                               \
    for (; w < warps; w++) {                                                                           \
        const uint32_t *v = values + (size_t)w * layout->warp_stride;                                  \
        const uint64_t *set = gpumpi_compress_mask(layout, live, w);                                   \
        unsigned char *codes = out, *end = out + (registers + 3) / 4;                                  \
        for (first = 0; first < registers; first += 4, v += (size_t)4 * step) {                        \
            uint32_t code = 0, alive = set ? (uint32_t)(set[first >> 6] >> (first & 60u)) & 15u : 15u; \
            if (registers - first < 4) alive &= (1u << (registers - first)) - 1u;                      \
            GPUMPI_COMPRESS_UNROLL                                                                     \
            for (k = 0; k < 4; k++)                                                                    \
                if (alive >> k & 1u) code |= one(v + (size_t)k * step, group, &end) << (2 * k);        \
            *codes++ = (unsigned char)code;                                                            \
        }                                                                                              \
        out = gpumpi_compress_doubtful(registers, (size_t)(end - out))                                 \
                  ? gpumpi_compress_settle(layout, values, live, w, tags, out, end)                    \
                  : end;                                                                               \
    }
/* clang-format off */
#define GPUMPI_COMPRESS_WARPS(name, one) \
    static unsigned char *name(const gpump_compress_layout *layout, const uint32_t *values, const uint64_t *live, \
                               uint32_t warps, unsigned char *tags, unsigned char *out) { \
        const uint32_t registers = layout->registers, step = layout->register_stride; \
        uint32_t w = 0, first, k; \
        if (layout->group == 32) { \
            GPUMPI_COMPRESS_EACH(one, 32) \
        } else if (layout->group == 16) { \
            GPUMPI_COMPRESS_EACH(one, 16) \
        } else { \
            GPUMPI_COMPRESS_EACH(one, 8) \
        } \
        return out; \
    }
/* clang-format on */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_WARPS(gpumpi_compress_warps_avx2, gpumpi_compress_one_vector)
GPUMPI_COMPRESS_TARGET_WIDE GPUMPI_COMPRESS_WARPS(gpumpi_compress_warps_wide, gpumpi_compress_one_wide)
#undef GPUMPI_COMPRESS_WARPS
#undef GPUMPI_COMPRESS_EACH
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* `around` goes around the caches, for values that will not be read soon. */
/* The words of group g, or of groups g and g + 1 of 8 lanes, each in the lanes of its group. */
#define GPUMPI_COMPRESS_SPREAD(in, g)                                                                       \
    (group == 8 ? _mm512_mask_set1_epi32(_mm512_set1_epi32((int)gpumpi_compress_get((in) + (g)*4)), 0xff00, \
                                         (int)gpumpi_compress_get((in) + (g)*4 + 4))                        \
                : _mm512_set1_epi32((int)gpumpi_compress_get((in) + (g)*4)))
#define GPUMPI_COMPRESS_STORE(p, x) \
    (around ? _mm256_stream_si256((__m256i *)(void *)(p), x) : _mm256_storeu_si256((__m256i *)(void *)(p), x))

/* Reads one register that is not dead; returns what follows it. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_unone_vector(
    uint32_t *v, uint32_t group, uint32_t pattern, int around, const unsigned char *in) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const uint32_t groups = 32 / group;
    uint32_t g, i;
    if (pattern == GPUMP_COMPRESS_UNIFORM) {
        GPUMPI_COMPRESS_UNROLL
        for (g = 0; g < groups; g++) {
            __m256i x = GPUMPI_COMPRESS_ALL(gpumpi_compress_get(in + g * 4));
            GPUMPI_COMPRESS_UNROLL
            for (i = 0; i < group; i += 8) GPUMPI_COMPRESS_STORE(v + g * group + i, x);
        }
        return in + groups * 4;
    }
    if (pattern == GPUMP_COMPRESS_STRIDED) {
        GPUMPI_COMPRESS_UNROLL
        for (g = 0; g < groups; g++) {
            __m256i d = GPUMPI_COMPRESS_ALL(gpumpi_compress_get(in + (groups + g) * 4)), d8 = _mm256_slli_epi32(d, 3);
            __m256i x =
                _mm256_add_epi32(GPUMPI_COMPRESS_ALL(gpumpi_compress_get(in + g * 4)), _mm256_mullo_epi32(lane, d));
            GPUMPI_COMPRESS_UNROLL
            for (i = 0; i < group; i += 8, x = _mm256_add_epi32(x, d8)) GPUMPI_COMPRESS_STORE(v + g * group + i, x);
        }
        return in + groups * 8;
    }
    _mm_prefetch((const char *)in + GPUMPI_COMPRESS_AHEAD / 4, _MM_HINT_T0);
    _mm_prefetch((const char *)in + GPUMPI_COMPRESS_AHEAD / 4 + 64, _MM_HINT_T0);
    GPUMPI_COMPRESS_UNROLL
    for (i = 0; i < 32; i += 8) GPUMPI_COMPRESS_STORE(v + i, GPUMPI_COMPRESS_LOAD(in + i * 4));
    return in + 128;
}

/* The same with AVX-512. */
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

/* The first `warps` warps, which are full, back. The fence makes stores around the caches visible before any that
 * follow. */
#define GPUMPI_COMPRESS_EACH(one, group, around)                                                                   \
    for (; w < warps; w++) {                                                                                       \
        uint32_t *v = values + (size_t)w * layout->warp_stride;                                                    \
        const unsigned char *codes = in;                                                                           \
        if ((uint32_t)tags[w >> 3] >> (w & 7) & 1u) {                                                              \
            in = gpumpi_compress_read_live(layout, w, 1, in, values);                                              \
            continue;                                                                                              \
        }                                                                                                          \
        for (in += (registers + 3) / 4, first = 0; first < registers; first += 4, v += (size_t)4 * step) {         \
            uint32_t code = *codes++;                                                                              \
            GPUMPI_COMPRESS_UNROLL                                                                                 \
            for (k = 0; k < 4; k++)                                                                                \
                if (code >> (2 * k) & 3u) in = one(v + (size_t)k * step, group, code >> (2 * k) & 3u, around, in); \
        }                                                                                                          \
    }
/* clang-format off */
#define GPUMPI_COMPRESS_UNWARPS(name, one, around) \
    static const unsigned char *name(const gpump_compress_layout *layout, uint32_t *values, uint32_t warps, \
                                     const unsigned char *tags, \
                                     const unsigned char *in) { \
        const uint32_t registers = layout->registers, step = layout->register_stride; \
        uint32_t w = 0, first, k; \
        if (layout->group == 32) { \
            GPUMPI_COMPRESS_EACH(one, 32, around) \
        } else if (layout->group == 16) { \
            GPUMPI_COMPRESS_EACH(one, 16, around) \
        } else { \
            GPUMPI_COMPRESS_EACH(one, 8, around) \
        } \
        if (around) _mm_sfence(); \
        return in; \
    }
/* clang-format on */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_UNWARPS(gpumpi_compress_unwarps_avx2, gpumpi_compress_unone_vector,
                                               0) GPUMPI_COMPRESS_TARGET
    GPUMPI_COMPRESS_UNWARPS(gpumpi_compress_unwarps_around, gpumpi_compress_unone_vector, 1) GPUMPI_COMPRESS_TARGET_WIDE
    GPUMPI_COMPRESS_UNWARPS(gpumpi_compress_unwarps_wide, gpumpi_compress_unone_wide, 0)
#undef GPUMPI_COMPRESS_UNWARPS
#undef GPUMPI_COMPRESS_SPREAD
#undef GPUMPI_COMPRESS_EACH

    /* ---- NEAR ---- */

    /* As gpumpi_compress_near, for 32 lanes. */
    GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS uint32_t
    gpumpi_compress_near_vector(const uint32_t *v, const uint32_t *before, uint32_t group, uint32_t *step,
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
            gpumpi_compress_put(out, moved);
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
            *step = gpumpi_compress_get(in);
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

/* One full warp; `live_before` as gpumpi_compress_nears has it. */
#define GPUMPI_COMPRESS_EACH(group)                                                                                  \
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {                                          \
        if (!gpumpi_compress_live(live, r)) continue;                                                                \
        code = gpumpi_compress_near_vector(v, back && gpumpi_compress_live(live_before, r) ? v - back : NULL, group, \
                                           steps + r, &out);                                                         \
        codes[r >> 1] = (unsigned char)(codes[r >> 1] | code << (r & 1) * 4);                                        \
    }
GPUMPI_COMPRESS_TARGET static unsigned char *gpumpi_compress_near_avx2(const gpump_compress_layout *layout,
                                                                       const uint32_t *v, size_t back,
                                                                       const uint64_t *live,
                                                                       const uint64_t *live_before, uint32_t *steps,
                                                                       unsigned char *codes, unsigned char *out) {
    uint32_t r, code;
    if (layout->group == 32) {
        GPUMPI_COMPRESS_EACH(32)
    } else if (layout->group == 16) {
        GPUMPI_COMPRESS_EACH(16)
    } else {
        GPUMPI_COMPRESS_EACH(8)
    }
    return out;
}
#undef GPUMPI_COMPRESS_EACH

#define GPUMPI_COMPRESS_EACH(group)                                                        \
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {                \
        code = (uint32_t)codes[r >> 1] >> (r & 1) * 4 & 15u;                               \
        if (code) in = gpumpi_compress_unnear_vector(v, back, group, code, steps + r, in); \
    }
GPUMPI_COMPRESS_TARGET static const unsigned char *gpumpi_compress_unnear_avx2(const gpump_compress_layout *layout,
                                                                               uint32_t *v, size_t back,
                                                                               uint32_t *steps,
                                                                               const unsigned char *codes,
                                                                               const unsigned char *in) {
    uint32_t r, code;
    if (layout->group == 32) {
        GPUMPI_COMPRESS_EACH(32)
    } else if (layout->group == 16) {
        GPUMPI_COMPRESS_EACH(16)
    } else {
        GPUMPI_COMPRESS_EACH(8)
    }
    return in;
}
#undef GPUMPI_COMPRESS_EACH
#endif

/* The vector instructions to use: 0 none, 1 AVX2, 2 AVX-512. */
static int gpumpi_compress_vector(uint32_t flags) {
#ifdef GPUMPI_COMPRESS_AVX2
    if (flags & GPUMP_COMPRESS_PLAIN || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("popcnt"))
        return 0;
    return flags & GPUMP_COMPRESS_AVX2 || !__builtin_cpu_supports("avx512f") ? 1 : 2;
#else
    (void)flags;
    return 0;
#endif
}

/* WARP; without PAPER, a warp whose patterns do not pay is written as in LIVE. */
static unsigned char *gpumpi_compress_write_warps(const gpump_compress_layout *layout, const uint32_t *values,
                                                  const uint64_t *live, uint32_t allow, unsigned char *out) {
    unsigned char *tags = allow & GPUMP_COMPRESS_PAPER ? NULL : out, *end;
    uint32_t w = 0;
    memset(out, 0, (layout->warps + 7) / 8);
    out += (layout->warps + 7) / 8;
#ifdef GPUMPI_COMPRESS_AVX2
    if (gpumpi_compress_common(layout->lanes, layout->group) && gpumpi_compress_vector(allow)) {
        w = layout->warps - (layout->last_lanes < 32);
        out = gpumpi_compress_vector(allow) == 2 ? gpumpi_compress_warps_wide(layout, values, live, w, tags, out)
                                                 : gpumpi_compress_warps_avx2(layout, values, live, w, tags, out);
    }
#endif
    for (; w < layout->warps; w++) {
        const uint32_t *v = values + (size_t)w * layout->warp_stride;
        const uint64_t *set = gpumpi_compress_mask(layout, live, w);
        uint32_t lanes = gpumpi_compress_lanes(layout, w), group = layout->group, registers = layout->registers;
        uint32_t step = layout->register_stride, common = (uint32_t)gpumpi_compress_common(lanes, group);
        if (common && group == 32)
            end = gpumpi_compress_warp_plain(v, registers, step, set, 32, 32, out);
        else if (common && group == 16)
            end = gpumpi_compress_warp_plain(v, registers, step, set, 32, 16, out);
        else if (common)
            end = gpumpi_compress_warp_plain(v, registers, step, set, 32, 8, out);
        else
            end = gpumpi_compress_warp_plain(v, registers, step, set, lanes, group, out);
        out = gpumpi_compress_settle(layout, values, live, w, tags, out, end);
    }
    return out;
}

/* WARP back, checked before. */
static void gpumpi_compress_read_warps(const gpump_compress_layout *layout, uint32_t flags, const unsigned char *in,
                                       uint32_t *values) {
    const unsigned char *tags = in;
    uint32_t w = 0, group = layout->group, registers = layout->registers, step = layout->register_stride;
    in += (layout->warps + 7) / 8;
#ifdef GPUMPI_COMPRESS_AVX2
    if (gpumpi_compress_common(layout->lanes, group) && gpumpi_compress_vector(flags)) {
        int aligned = (uintptr_t)values % 32 == 0 && step % 8 == 0 && layout->warp_stride % 8 == 0;
        w = layout->warps - (layout->last_lanes < 32);
        if (flags & GPUMP_COMPRESS_AROUND && aligned)
            in = gpumpi_compress_unwarps_around(layout, values, w, tags, in);
        else if (gpumpi_compress_vector(flags) == 2)
            in = gpumpi_compress_unwarps_wide(layout, values, w, tags, in);
        else
            in = gpumpi_compress_unwarps_avx2(layout, values, w, tags, in);
    }
#endif
    (void)flags;
    for (; w < layout->warps; w++) {
        uint32_t *v = values + (size_t)w * layout->warp_stride, lanes = gpumpi_compress_lanes(layout, w);
        uint32_t common = (uint32_t)gpumpi_compress_common(lanes, group);
        if ((uint32_t)tags[w >> 3] >> (w & 7) & 1u)
            in = gpumpi_compress_read_live(layout, w, 1, in, values);
        else if (common && group == 32)
            in = gpumpi_compress_unwarp_plain(v, registers, step, 32, 32, in);
        else if (common && group == 16)
            in = gpumpi_compress_unwarp_plain(v, registers, step, 32, 16, in);
        else if (common)
            in = gpumpi_compress_unwarp_plain(v, registers, step, 32, 8, in);
        else
            in = gpumpi_compress_unwarp_plain(v, registers, step, lanes, group, in);
    }
}

#define GPUMPI_COMPRESS_EACH(lanes, group)                                                                          \
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {                                         \
        uint32_t code;                                                                                              \
        if (!gpumpi_compress_live(set, r)) continue;                                                                \
        code = gpumpi_compress_near(v, back && gpumpi_compress_live(set_before, r) ? v - back : NULL, lanes, group, \
                                    steps + r, out, &bytes);                                                        \
        total += bytes;                                                                                             \
        if (!out) continue;                                                                                         \
        codes[r >> 1] = (unsigned char)(codes[r >> 1] | code << (r & 1) * 4);                                       \
        out += bytes;                                                                                               \
    }
/* NEAR; returns its length. out NULL: only that, by the plain path. */
static size_t gpumpi_compress_nears(const gpump_compress_layout *layout, const uint32_t *values, const uint64_t *live,
                                    uint32_t flags, unsigned char *out) {
    uint32_t steps[GPUMP_COMPRESS_MAX_REGISTERS] = {0}, w, r, head = (layout->registers + 1) / 2, group = layout->group;
    size_t total = 0;
    int vector = out && gpumpi_compress_common(layout->lanes, group) && gpumpi_compress_vector(flags);
    (void)vector;
    for (w = 0; w < layout->warps; w++) {
        const uint64_t *set = gpumpi_compress_mask(layout, live, w),
                       *set_before = w ? gpumpi_compress_mask(layout, live, w - 1) : set;
        const uint32_t *v = values + (size_t)w * layout->warp_stride;
        unsigned char *codes = out;
        uint32_t lanes = gpumpi_compress_lanes(layout, w);
        size_t back = w ? layout->warp_stride : 0, bytes;
        total += head;
        if (out) {
            memset(out, 0, head);
            out += head;
        }
#ifdef GPUMPI_COMPRESS_AVX2
        if (vector && lanes == 32) {
            unsigned char *end = gpumpi_compress_near_avx2(layout, v, back, set, set_before, steps, codes, out);
            total += (size_t)(end - out);
            out = end;
            continue;
        }
#endif
        if (gpumpi_compress_common(lanes, group) && group == 32) {
            GPUMPI_COMPRESS_EACH(32, 32)
        } else if (gpumpi_compress_common(lanes, group) && group == 16) {
            GPUMPI_COMPRESS_EACH(32, 16)
        } else {
            GPUMPI_COMPRESS_EACH(lanes, group)
        }
    }
    return total;
}
#undef GPUMPI_COMPRESS_EACH

/* Checks NEAR: known codes, a warp before where one refers to it, and exactly `left` bytes. */
static gpump_result gpumpi_compress_check_nears(const gpump_compress_layout *layout, const unsigned char *in,
                                                size_t left, gpump_diag *diag) {
    static const unsigned char none[GPUMP_COMPRESS_MAX_REGISTERS / 2] = {0};
    const unsigned char *before = none;
    const size_t all = left;
    uint32_t w, r, head = (layout->registers + 1) / 2, lengths[16] = {0};
    for (w = 0; w < layout->warps; w++) {
        uint32_t lanes = gpumpi_compress_lanes(layout, w), wrong = 0, bytes = head;
        if (w == 0 || w + 1 == layout->warps) {
            lengths[GPUMP_COMPRESS_UNIFORM] = gpumpi_compress_groups(layout, w) * 4;
            lengths[GPUMP_COMPRESS_RANDOM] = lanes * 4;
            lengths[GPUMP_COMPRESS_STRIDED] = gpumpi_compress_groups(layout, w) * 8;
            lengths[GPUMPI_COMPRESS_MOVED] = 4;
            for (r = 1; r <= 3; r++) lengths[GPUMPI_COMPRESS_BYTES1 - 1 + r] = 4 + lanes * r;
        }
        if (left < head) return gpumpi_compress_bad(diag, "bytes", w, left, head);
        if (layout->registers & 1 && in[head - 1] >> 4)
            return gpumpi_compress_bad(diag, "patterns", w, in[head - 1], 0);
        for (r = 0; r < head; r++) {
            uint32_t low = in[r] & 15u, high = (uint32_t)in[r] >> 4, alone_low = !(before[r] & 15u),
                     alone_high = !(before[r] >> 4);
            bytes += lengths[low] + lengths[high];
            wrong |= (uint32_t)(low >= GPUMPI_COMPRESS_NEAR_CODES) | (uint32_t)(high >= GPUMPI_COMPRESS_NEAR_CODES) |
                     ((uint32_t)(low - GPUMPI_COMPRESS_AGAIN < 2) & alone_low) |
                     ((uint32_t)(high - GPUMPI_COMPRESS_AGAIN < 2) & alone_high);
        }
        if (wrong) return gpumpi_compress_bad(diag, "patterns", w, 0, GPUMPI_COMPRESS_NEAR_CODES - 1);
        if (left < bytes) return gpumpi_compress_bad(diag, "bytes", w, left, bytes);
        before = in;
        in += bytes;
        left -= bytes;
    }
    return left ? gpumpi_compress_bad(diag, "bytes", 0, all, all - left) : GPUMP_OK;
}

#define GPUMPI_COMPRESS_EACH(lanes, group)                                                                \
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {                               \
        uint32_t code = (uint32_t)codes[r >> 1] >> (r & 1) * 4 & 15u;                                     \
        if (code) in = gpumpi_compress_unnear(v, layout->warp_stride, lanes, group, code, steps + r, in); \
    }
/* NEAR back, checked before. */
static void gpumpi_compress_read_nears(const gpump_compress_layout *layout, uint32_t flags, const unsigned char *in,
                                       uint32_t *values) {
    uint32_t steps[GPUMP_COMPRESS_MAX_REGISTERS] = {0}, w, r, head = (layout->registers + 1) / 2;
    int vector = gpumpi_compress_common(layout->lanes, layout->group) && gpumpi_compress_vector(flags);
    (void)vector;
    for (w = 0; w < layout->warps; w++) {
        const unsigned char *codes = in;
        uint32_t *v = values + (size_t)w * layout->warp_stride, lanes = gpumpi_compress_lanes(layout, w);
        in += head;
#ifdef GPUMPI_COMPRESS_AVX2
        if (vector && lanes == 32) {
            in = gpumpi_compress_unnear_avx2(layout, v, layout->warp_stride, steps, codes, in);
            continue;
        }
#endif
        if (gpumpi_compress_common(lanes, layout->group) && layout->group == 32) {
            GPUMPI_COMPRESS_EACH(32, 32)
        } else if (gpumpi_compress_common(lanes, layout->group) && layout->group == 16) {
            GPUMPI_COMPRESS_EACH(32, 16)
        } else {
            GPUMPI_COMPRESS_EACH(lanes, layout->group)
        }
    }
}
#undef GPUMPI_COMPRESS_EACH

/* ---- classification ---- */

static uint32_t gpumpi_compress_analyse_any(const uint32_t *v, uint32_t lanes, uint32_t group, uint32_t *base,
                                            uint32_t *stride) {
    if (!gpumpi_compress_common(lanes, group)) return gpumpi_compress_analyse(v, lanes, group, base, stride);
    if (group == 32) return gpumpi_compress_analyse32(v, 32, base, stride);
    if (group == 16) return gpumpi_compress_analyse32(v, 16, base, stride);
    return gpumpi_compress_analyse32(v, 8, base, stride);
}

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
    uint32_t step; /* stride of the base vector, when it has one */
    size_t mixed;  /* bytes as MIXED */
    int grid;      /* one x stride and one base stride: GRID holds it */
} gpumpi_compress_vectors;

static uint32_t gpumpi_compress_block(const gpump_compress_layout *layout, const uint32_t *values, uint32_t number,
                                      gpumpi_compress_vectors *vectors) {
    uint32_t w, g = 0, i, random = 0, base_steady = 1, stride_uniform = 1, groups;
    uint32_t per_warp = gpumpi_compress_groups(layout, 0);
    vectors->mixed = (layout->warps + 3) / 4;
    for (w = 0; w < layout->warps; w++) {
        const uint32_t *v = values + (size_t)w * layout->warp_stride + (size_t)number * layout->register_stride;
        uint32_t lanes = gpumpi_compress_lanes(layout, w);
        uint32_t pattern = gpumpi_compress_analyse_any(v, lanes, layout->group, vectors->base + g, vectors->stride + g);
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
        return base_steady && vectors->step == 0 ? GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM
                                                 : GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM;
    if (vectors->grid && (groups == 1 || vectors->step == vectors->stride[0] * layout->group))
        return GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED;
    return GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED;
}

GPUMP_API gpump_compress_block_pattern gpump_compress_classify_block(const gpump_compress_layout *layout,
                                                                     const uint32_t *values, uint32_t number) {
    gpumpi_compress_vectors vectors;
    GPUMP_ASSERT(gpumpi_compress_check(layout, NULL) == GPUMP_OK && number < layout->registers);
    return (gpump_compress_block_pattern)gpumpi_compress_block(layout, values, number, &vectors);
}

/* The code that register gets in the BLOCK form, and its data bytes: the smallest, ties to the lower code. */
static uint32_t gpumpi_compress_block_code(const gpump_compress_layout *layout, uint32_t pattern,
                                           const gpumpi_compress_vectors *vectors, uint32_t flags, size_t *bytes) {
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

static size_t gpumpi_compress_block_bytes(const gpump_compress_layout *layout, const uint32_t *values,
                                          const uint64_t *live, uint32_t flags) {
    gpumpi_compress_vectors vectors;
    size_t bytes = 3 * ((layout->registers + 7) / 8), data;
    uint32_t r;
    for (r = 0; r < layout->registers; r++) {
        if (!gpumpi_compress_live_anywhere(layout, live, r)) continue;
        (void)gpumpi_compress_block_code(layout, gpumpi_compress_block(layout, values, r, &vectors), &vectors, flags,
                                         &data);
        bytes += data;
    }
    return bytes;
}

/* ---- writing ---- */

static unsigned char *gpumpi_compress_write_block(const gpump_compress_layout *layout, const uint32_t *values,
                                                  const uint64_t *live, uint32_t flags, unsigned char *out) {
    gpumpi_compress_vectors vectors;
    uint32_t r, w, i, plane = (layout->registers + 7) / 8;
    unsigned char *planes = out;
    memset(out, 0, (size_t)plane * 3);
    out += (size_t)plane * 3;
    for (r = 0; r < layout->registers; r++) {
        size_t data;
        uint32_t code;
        if (!gpumpi_compress_live_anywhere(layout, live, r)) continue;
        code = gpumpi_compress_block_code(layout, gpumpi_compress_block(layout, values, r, &vectors), &vectors, flags,
                                          &data);
        for (i = 0; i < 3; i++)
            if (code >> i & 1u)
                planes[i * plane + (r >> 3)] = (unsigned char)(planes[i * plane + (r >> 3)] | 1u << (r & 7));
        switch (code) {
        case GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM: out = gpumpi_compress_put_words(out, vectors.base, 1); break;
        case GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED:
            out = gpumpi_compress_put_words(out, vectors.base, 1);
            out = gpumpi_compress_put_words(out, vectors.stride, 1);
            break;
        case GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM:
            out = gpumpi_compress_put_words(out, vectors.base, vectors.groups);
            break;
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
                    out = gpumpi_compress_put_words(
                        out, values + (size_t)w * layout->warp_stride + (size_t)r * layout->register_stride,
                        gpumpi_compress_lanes(layout, w));
                } else {
                    out = gpumpi_compress_put_words(out, vectors.base + g, groups);
                    if (pattern == GPUMP_COMPRESS_STRIDED)
                        out = gpumpi_compress_put_words(out, vectors.stride + g, groups);
                }
                g += groups;
            }
            break;
        }
        default:
            for (w = 0; w < layout->warps; w++)
                out = gpumpi_compress_put_words(
                    out, values + (size_t)w * layout->warp_stride + (size_t)r * layout->register_stride,
                    gpumpi_compress_lanes(layout, w));
            break;
        }
    }
    return out;
}

GPUMP_API gpump_result gpump_compress_save(const gpump_compress_layout *layout, const uint32_t *values,
                                           const uint64_t *live, uint32_t allow, void *out, size_t capacity,
                                           size_t *bytes, uint32_t *form, gpump_diag *diag) {
    unsigned char *to = (unsigned char *)out;
    size_t bound, best, size, near;
    uint32_t w, chosen;
    gpump_result result = gpump_compress_bound(layout, &bound, diag);
    if (result != GPUMP_OK) return result;
    if (!values || !out || !bytes || !form)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "values, out, bytes or form", 0, 0, 1, UINT64_MAX);
    if (allow & GPUMP_COMPRESS_PAPER) allow &= ~GPUMP_COMPRESS_ALLOW_NEAR;
    if (!(allow & GPUMP_COMPRESS_ALLOW_ALL))
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "allow", 0, allow, 1, GPUMP_COMPRESS_ALLOW_ALL);
    if (capacity < bound) {
        *bytes = bound;
        return gpumpi_fail(diag, GPUMP_ERROR_CAPACITY, "capacity", 0, capacity, bound, UINT64_MAX);
    }
    /* The sizes of RAW and LIVE follow from the masks alone; NEAR and WARP are written at once, because one of them
     * nearly always stays. */
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
    near = allow & GPUMP_COMPRESS_ALLOW_NEAR ? gpumpi_compress_nears(layout, values, live, allow, to) : SIZE_MAX;
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
    if (near < best) {
        best = near;
        chosen = GPUMP_COMPRESS_FORM_NEAR;
        if (allow & GPUMP_COMPRESS_ALLOW_WARP)
            gpumpi_compress_nears(layout, values, live, allow, to); /* WARP is there now */
    } else if (chosen == GPUMP_COMPRESS_FORM_BLOCK) {
        gpumpi_compress_write_block(layout, values, live, allow, to);
    } else if (chosen != GPUMP_COMPRESS_FORM_WARP) {
        for (w = 0; w < layout->warps; w++)
            to = gpumpi_compress_write_live(layout, values, live, w, chosen == GPUMP_COMPRESS_FORM_LIVE, to);
    }
    *bytes = best;
    *form = chosen;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_compress_count(const gpump_compress_layout *layout, const uint32_t *values,
                                            const uint64_t *live, uint32_t flags, gpump_compress_counts *counts,
                                            gpump_diag *diag) {
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
    counts->bytes[GPUMP_COMPRESS_FORM_NEAR] = gpumpi_compress_nears(layout, values, live, flags, NULL);
    counts->bytes[GPUMP_COMPRESS_FORM_WARP] = (layout->warps + 7) / 8;
    for (w = 0; w < layout->warps; w++) {
        const uint64_t *set = gpumpi_compress_mask(layout, live, w);
        uint32_t lanes = gpumpi_compress_lanes(layout, w), groups = gpumpi_compress_groups(layout, w);
        size_t as_live = gpumpi_compress_live_bytes(layout, live, w), as_patterns = (layout->registers + 3) / 4;
        for (r = 0; r < layout->registers; r++) {
            uint32_t pattern = GPUMP_COMPRESS_DEAD;
            if (gpumpi_compress_live(set, r))
                pattern = gpumpi_compress_analyse_any(values + (size_t)w * layout->warp_stride +
                                                          (size_t)r * layout->register_stride,
                                                      lanes, layout->group, vectors.base, vectors.stride);
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

/* Sum of 32 fields of two bits, none of which is 3. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_sum(uint64_t fields) {
    fields = (fields & UINT64_C(0x3333333333333333)) + (fields >> 2 & UINT64_C(0x3333333333333333));
    fields = (fields & UINT64_C(0x0f0f0f0f0f0f0f0f)) + (fields >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f));
    return (uint32_t)((fields * UINT64_C(0x0101010101010101)) >> 56);
}

/* Checks that the warps of a LIVE (tags NULL) or WARP buffer take exactly its bytes, reading only masks and patterns.
 * Where one warp ends is where the next begins, so what counts here is how soon a length is known. `popcnt`: there is
 * an instruction that counts bits. */
GPUMPI_COMPRESS_ALWAYS gpump_result gpumpi_compress_check_each(const gpump_compress_layout *layout,
                                                               const unsigned char *tags, const unsigned char *in,
                                                               size_t left, int popcnt, gpump_diag *diag) {
    const size_t all = left;
    const uint32_t registers = layout->registers;
    uint32_t w, i, words, lanes = layout->lanes, groups = gpumpi_compress_groups(layout, 0);
    for (w = 0; w < layout->warps; w++) {
        uint32_t per_byte = !tags || ((uint32_t)tags[w >> 3] >> (w & 7) & 1u) ? 8 : 4;
        uint32_t head = (registers + per_byte - 1) / per_byte, spare = registers % per_byte;
        if (w + 1 == layout->warps) {
            lanes = layout->last_lanes;
            groups = gpumpi_compress_groups(layout, w);
        }
        if (left < head) return gpumpi_compress_bad(diag, "bytes", w, left, head);
        if (spare && in[head - 1] >> (spare * (8 / per_byte)))
            return gpumpi_compress_bad(diag, "patterns", w, in[head - 1], 0);
        words = 0;
        if (per_byte == 8) {
            for (i = 0; i < head; i++) words += gpump_bits_count64(in[i]) * lanes;
        } else {
            for (i = 0; i < registers; i += 32) {
                uint64_t patterns = gpumpi_compress_get_patterns(in, registers, i, left);
                uint64_t low = patterns & GPUMPI_COMPRESS_LOW_BITS, high = patterns >> 1 & GPUMPI_COMPRESS_LOW_BITS;
                if (popcnt)
                    words += GPUMPI_COMPRESS_POPCNT(high & ~low) * lanes +
                             (GPUMPI_COMPRESS_POPCNT(low) + GPUMPI_COMPRESS_POPCNT(low & high)) * groups;
                else
                    words +=
                        gpumpi_compress_sum(high & ~low) * lanes + gpumpi_compress_sum(low + (low & high)) * groups;
            }
        }
        if (left - head < (size_t)words * 4)
            return gpumpi_compress_bad(diag, "bytes", w, left, head + (size_t)words * 4);
        in += head + (size_t)words * 4;
        left -= head + (size_t)words * 4;
    }
    return left ? gpumpi_compress_bad(diag, "bytes", 0, all, all - left) : GPUMP_OK;
}

#ifdef GPUMPI_COMPRESS_AVX2
GPUMPI_COMPRESS_TARGET static gpump_result gpumpi_compress_check_popcnt(const gpump_compress_layout *layout,
                                                                        const unsigned char *tags,
                                                                        const unsigned char *in, size_t left,
                                                                        gpump_diag *diag) {
    return gpumpi_compress_check_each(layout, tags, in, left, 1, diag);
}
#endif

static gpump_result gpumpi_compress_check_warps(const gpump_compress_layout *layout, uint32_t flags,
                                                const unsigned char *tags, const unsigned char *in, size_t left,
                                                gpump_diag *diag) {
#ifdef GPUMPI_COMPRESS_AVX2
    if (gpumpi_compress_vector(flags)) return gpumpi_compress_check_popcnt(layout, tags, in, left, diag);
#endif
    (void)flags;
    return gpumpi_compress_check_each(layout, tags, in, left, 0, diag);
}

static uint32_t gpumpi_compress_plane_code(const unsigned char *planes, uint32_t plane, uint32_t r) {
    return ((uint32_t)planes[r >> 3] >> (r & 7) & 1u) | ((uint32_t)planes[plane + (r >> 3)] >> (r & 7) & 1u) << 1 |
           ((uint32_t)planes[2 * plane + (r >> 3)] >> (r & 7) & 1u) << 2;
}

/* Bytes that register r takes in the BLOCK form. */
static gpump_result gpumpi_compress_block_length(const gpump_compress_layout *layout, uint32_t r, uint32_t code,
                                                 const unsigned char *in, size_t left, size_t *length,
                                                 gpump_diag *diag) {
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
        if (layout->warps % 4 && in[head - 1] >> (layout->warps % 4 * 2))
            return gpumpi_compress_bad(diag, "patterns", r, in[head - 1], 0);
        for (w = 0; w < layout->warps; w++) {
            uint32_t pattern = (uint32_t)in[w >> 2] >> (2 * (w & 3)) & 3u;
            if (pattern == GPUMP_COMPRESS_DEAD)
                return gpumpi_compress_bad(diag, "patterns", r, pattern, GPUMP_COMPRESS_RANDOM);
            words += pattern == GPUMP_COMPRESS_RANDOM
                         ? gpumpi_compress_lanes(layout, w)
                         : (size_t)gpumpi_compress_groups(layout, w) * (pattern == GPUMP_COMPRESS_STRIDED ? 2 : 1);
        }
        break;
    }
    *length = head + words * 4;
    return left < *length ? gpumpi_compress_bad(diag, "bytes", r, left, *length) : GPUMP_OK;
}

/* One register of the BLOCK form, checked before. */
static void gpumpi_compress_read_block(const gpump_compress_layout *layout, uint32_t r, uint32_t code,
                                       const unsigned char *in, uint32_t *values) {
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
            uint32_t base = gpumpi_compress_get(in),
                     x = code == GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM ? 0 : gpumpi_compress_get(in + 4);
            uint32_t y = code == GPUMP_COMPRESS_BLOCK_GRID ? gpumpi_compress_get(in + 8) : x * layout->group, at, value;
            for (base += g * y, at = 0; at < lanes; at += layout->group, base += y)
                for (value = base, i = at; i < lanes && i < at + layout->group; i++, value += x) v[i] = value;
            break;
        }
        case GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM:
            gpumpi_compress_expand(v, lanes, layout->group, in + (size_t)g * 4, NULL);
            break;
        case GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED:
            gpumpi_compress_expand(v, lanes, layout->group, in + (size_t)g * 4, in + ((size_t)all + g) * 4);
            break;
        case GPUMP_COMPRESS_BLOCK_RANDOM: in = gpumpi_compress_get_words(in, v, lanes); break;
        default:
            pattern = (uint32_t)codes[w >> 2] >> (2 * (w & 3)) & 3u;
            if (pattern == GPUMP_COMPRESS_RANDOM) {
                in = gpumpi_compress_get_words(in, v, lanes);
            } else {
                gpumpi_compress_expand(v, lanes, layout->group, in,
                                       pattern == GPUMP_COMPRESS_STRIDED ? in + (size_t)groups * 4 : NULL);
                in += (size_t)groups * (pattern == GPUMP_COMPRESS_STRIDED ? 8 : 4);
            }
            break;
        }
        g += groups;
    }
}

GPUMP_API gpump_result gpump_compress_restore(const gpump_compress_layout *layout, uint32_t form, uint32_t flags,
                                              const void *in, size_t bytes, uint32_t *values, gpump_diag *diag) {
    const unsigned char *from = (const unsigned char *)in, *at = from;
    uint32_t w, r, plane;
    size_t length = 0, head;
    gpump_result result = gpumpi_compress_check(layout, diag);
    if (result != GPUMP_OK) return result;
    if (!in || !values) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "in or values", 0, 0, 1, UINT64_MAX);
    switch (form) {
    case GPUMP_COMPRESS_FORM_RAW:
        if (bytes != gpumpi_compress_raw_bytes(layout))
            return gpumpi_compress_bad(diag, "bytes", 0, bytes, gpumpi_compress_raw_bytes(layout));
        for (w = 0; w < layout->warps; w++) at = gpumpi_compress_read_live(layout, w, 0, at, values);
        return GPUMP_OK;
    case GPUMP_COMPRESS_FORM_LIVE:
        result = gpumpi_compress_check_warps(layout, flags, NULL, from, bytes, diag);
        if (result != GPUMP_OK) return result;
        for (w = 0; w < layout->warps; w++) at = gpumpi_compress_read_live(layout, w, 1, at, values);
        return GPUMP_OK;
    case GPUMP_COMPRESS_FORM_WARP:
        head = (layout->warps + 7) / 8;
        if (bytes < head) return gpumpi_compress_bad(diag, "bytes", 0, bytes, head);
        if (layout->warps % 8 && from[head - 1] >> layout->warps % 8)
            return gpumpi_compress_bad(diag, "tags", 0, from[head - 1], 0);
        result = gpumpi_compress_check_warps(layout, flags, from, from + head, bytes - head, diag);
        if (result != GPUMP_OK) return result;
        gpumpi_compress_read_warps(layout, flags, from, values);
        return GPUMP_OK;
    case GPUMP_COMPRESS_FORM_NEAR:
        result = gpumpi_compress_check_nears(layout, from, bytes, diag);
        if (result == GPUMP_OK) gpumpi_compress_read_nears(layout, flags, from, values);
        return result;
    case GPUMP_COMPRESS_FORM_BLOCK:
        plane = (layout->registers + 7) / 8;
        if (bytes < (size_t)plane * 3) return gpumpi_compress_bad(diag, "bytes", 0, bytes, (size_t)plane * 3);
        for (w = 1; layout->registers % 8 && w <= 3; w++)
            if (from[w * plane - 1] >> layout->registers % 8)
                return gpumpi_compress_bad(diag, "patterns", w - 1, from[w * plane - 1], 0);
        for (at = from + (size_t)plane * 3, r = 0; r < layout->registers; r++, at += length) {
            result = gpumpi_compress_block_length(layout, r, gpumpi_compress_plane_code(from, plane, r), at,
                                                  bytes - (size_t)(at - from), &length, diag);
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
