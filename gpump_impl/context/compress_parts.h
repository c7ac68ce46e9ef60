/* compress_parts (private): what the format (compress.c), the plain path (compress_plain.c) and the x86 path
 * (compress_x86.c) share. A path writes and reads one warp. The format owns the order of the warps, and every check. */
#ifndef GPUMPI_COMPRESS_PARTS_H
#define GPUMPI_COMPRESS_PARTS_H

#include "context/compress.h"

#include <string.h>

#if (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) || defined(_M_X64) || defined(_M_IX86)
#define GPUMPI_COMPRESS_LITTLE 1
#endif
#if defined(__GNUC__)
#define GPUMPI_COMPRESS_ALWAYS __attribute__((always_inline)) static inline
#else
#define GPUMPI_COMPRESS_ALWAYS static inline
#endif

/* Codes of the NEAR form beyond those of gpump_compress_pattern. */
enum {
    GPUMPI_COMPRESS_AGAIN = 4,  /* each lane: that of the warp before plus the constant last written for the register */
    GPUMPI_COMPRESS_MOVED = 5,  /* the same, with a constant of its own */
    GPUMPI_COMPRESS_BYTES1 = 6, /* a base, then the distance of each lane above the base in 1, 2 or 3 bytes */
    GPUMPI_COMPRESS_BYTES2 = 7,
    GPUMPI_COMPRESS_BYTES3 = 8,
    GPUMPI_COMPRESS_NEAR_CODES = 9
};

/* One warp of the NEAR form. */
typedef struct gpumpi_compress_near {
    const uint64_t *live, *live_before; /* live masks of this warp and of the warp before; NULL: all are live */
    size_t back;                        /* words back to the warp before; 0: this is the first warp */
    uint32_t lanes;
    uint32_t *steps; /* for each register the constant last written */
} gpumpi_compress_near;

/* How one warp is written and read. `out` has room for the warp as it stands; `in` has been checked. Each function
 * returns the end of what it wrote or read. */
typedef struct gpumpi_compress_path {
    /* WARP form: a pattern vector, then the data. */
    unsigned char *(*write_warp)(const gpump_compress_layout *layout, const uint32_t *v, const uint64_t *live,
                                 uint32_t lanes, unsigned char *out);
    /* `around`: the values are stored around the caches. */
    const unsigned char *(*read_warp)(const gpump_compress_layout *layout, uint32_t *v, uint32_t lanes, int around,
                                      const unsigned char *in);
    /* NEAR form: four-bit codes, then the data. */
    unsigned char *(*write_near)(const gpump_compress_layout *layout, const uint32_t *v,
                                 const gpumpi_compress_near *near, unsigned char *out);
    const unsigned char *(*read_near)(const gpump_compress_layout *layout, uint32_t *v,
                                      const gpumpi_compress_near *near, const unsigned char *in);
    /* Returns the data words for which the pattern vector of one warp stands; `left` bytes can be read. */
    uint32_t (*words)(const gpump_compress_layout *layout, const unsigned char *patterns, size_t left, uint32_t lanes,
                      uint32_t groups);
} gpumpi_compress_path;

/* Plain C: every layout, every machine. */
GPUMP_API const gpumpi_compress_path *gpumpi_compress_plain(void);
/* AVX2 or AVX-512 for full warps of 32 lanes in groups of 8, 16 or 32. NULL: this processor, build or layout has none,
 * or the flags forbid it. */
GPUMP_API const gpumpi_compress_path *gpumpi_compress_x86(const gpump_compress_layout *layout, uint32_t flags);

/* Sets base and stride of every group and returns the pattern of values[lanes]. A group of a single lane takes the
 * stride of the group before it, so that the single lane never spoils a pattern. */
GPUMP_API uint32_t gpumpi_compress_analyse(const uint32_t *v, uint32_t lanes, uint32_t group, uint32_t *base,
                                           uint32_t *stride);
/* Fills one vector register from bases and strides (little-endian words; strides NULL: uniform). */
GPUMP_API void gpumpi_compress_expand(uint32_t *v, uint32_t lanes, uint32_t group, const unsigned char *bases,
                                      const unsigned char *strides);
/* Returns the code of one register of the NEAR form and sets *bytes to the length of its data; out NULL: measures only.
 * `before`: the same register of the warp before, where that is saved, else NULL. *step: the constant last written. */
GPUMP_API uint32_t gpumpi_compress_near_one(const uint32_t *v, const uint32_t *before, uint32_t lanes, uint32_t group,
                                            uint32_t *step, unsigned char *out, size_t *bytes);
/* BYTES1 to BYTES3: `base`, then the distance of each lane above it in `width` bytes. */
GPUMP_API unsigned char *gpumpi_compress_put_bytes(unsigned char *out, const uint32_t *v, uint32_t lanes, uint32_t base,
                                                   uint32_t width);
GPUMP_API const unsigned char *gpumpi_compress_get_bytes(const unsigned char *in, uint32_t *v, uint32_t lanes,
                                                         uint32_t width);

/* ---- words, little endian ---- */

GPUMPI_COMPRESS_ALWAYS void gpumpi_put_word(unsigned char *out, uint32_t word) {
#ifdef GPUMPI_COMPRESS_LITTLE
    memcpy(out, &word, 4);
#else
    out[0] = (unsigned char)word;
    out[1] = (unsigned char)(word >> 8);
    out[2] = (unsigned char)(word >> 16);
    out[3] = (unsigned char)(word >> 24);
#endif
}

GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_get_word(const unsigned char *in) {
#ifdef GPUMPI_COMPRESS_LITTLE
    uint32_t word;
    memcpy(&word, in, 4);
    return word;
#else
    return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
#endif
}

GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_put_words(unsigned char *out, const uint32_t *words, size_t count) {
#ifdef GPUMPI_COMPRESS_LITTLE
    memcpy(out, words, count * 4);
#else
    size_t i;
    for (i = 0; i < count; i++) gpumpi_put_word(out + i * 4, words[i]);
#endif
    return out + count * 4;
}

GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_get_words(const unsigned char *in, uint32_t *words, size_t count) {
#ifdef GPUMPI_COMPRESS_LITTLE
    memcpy(words, in, count * 4);
#else
    size_t i;
    for (i = 0; i < count; i++) words[i] = gpumpi_get_word(in + i * 4);
#endif
    return in + count * 4;
}

/* ---- registers and patterns ---- */

GPUMPI_COMPRESS_ALWAYS int gpumpi_compress_live(const uint64_t *live, uint32_t r) {
    return !live || gpump_bits_get(live, r);
}

/* Bytes that hold `range`: 1 to 4. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_width(uint32_t range) {
    return range < 256 ? 1 : range < 65536 ? 2 : range < 16777216 ? 3 : 4;
}

/* Pattern vectors have two bits per register and are read 32 registers at a time as one word. `left` bytes can be
 * read. */
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
#define GPUMPI_COMPRESS_LOW_BITS UINT64_C(0x5555555555555555)

/* Returns the data words of a pattern vector; `count(fields)` adds up 32 fields of two bits, each 0 or 1. */
#define GPUMPI_COMPRESS_WORDS(sum, count)                                                                         \
    do {                                                                                                          \
        uint32_t gpumpi_first;                                                                                    \
        for (gpumpi_first = 0; gpumpi_first < layout->registers; gpumpi_first += 32) {                            \
            uint64_t gpumpi_word = gpumpi_compress_get_patterns(patterns, layout->registers, gpumpi_first, left); \
            uint64_t gpumpi_low = gpumpi_word & GPUMPI_COMPRESS_LOW_BITS;                                         \
            uint64_t gpumpi_high = gpumpi_word >> 1 & GPUMPI_COMPRESS_LOW_BITS;                                   \
            (sum) += count(gpumpi_high & ~gpumpi_low) * lanes +                                                   \
                     (count(gpumpi_low) + count(gpumpi_low & gpumpi_high)) * groups;                              \
        }                                                                                                         \
    } while (0)

#endif
