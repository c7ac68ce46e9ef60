/* compress: the format of compress.h: sizes, layouts, checks, and the order in which warps are written and read.
 * compress_plain.c and compress_x86.c write the same bytes; tests/context/compress.c compares the two, and both with a
 * bit-by-bit reading of the format. */
#include "context/compress_parts.h"

/* Groups of a block at most: 64 warps of 64 lanes in groups of 8. */
#define GPUMPI_COMPRESS_GROUPS (GPUMP_COMPRESS_MAX_WARPS * GPUMP_COMPRESS_MAX_LANES / 8)

/* ---- geometry ---- */

GPUMP_API uint32_t gpumpi_compress_group(uint32_t lanes, uint32_t block_x) {
    return block_x >= 8 && block_x < lanes && lanes % block_x == 0 ? block_x : lanes;
}

GPUMP_API uint32_t gpumpi_compress_pattern_bits(uint32_t registers) { return registers * 2; }

static gpump_result gpumpi_compress_check(const gpump_compress_layout *layout, gpump_diag *diag) {
    uint32_t lowest;
    if (!layout) return gpumpi_null(diag, "layout");
    if (layout->warps < 1 || layout->warps > GPUMP_COMPRESS_MAX_WARPS)
        return gpumpi_bad_argument(diag, "warps", 0, layout->warps, 1, GPUMP_COMPRESS_MAX_WARPS);
    if (layout->registers < 1 || layout->registers > GPUMP_COMPRESS_MAX_REGISTERS)
        return gpumpi_bad_argument(diag, "registers", 0, layout->registers, 1, GPUMP_COMPRESS_MAX_REGISTERS);
    if (layout->lanes < 1 || layout->lanes > GPUMP_COMPRESS_MAX_LANES)
        return gpumpi_bad_argument(diag, "lanes", 0, layout->lanes, 1, GPUMP_COMPRESS_MAX_LANES);
    if (layout->last_lanes < 1 || layout->last_lanes > layout->lanes)
        return gpumpi_bad_argument(diag, "last_lanes", 0, layout->last_lanes, 1, layout->lanes);
    lowest = layout->lanes < 8 ? layout->lanes : 8;
    if (layout->group < lowest || layout->group > layout->lanes)
        return gpumpi_bad_argument(diag, "group", 0, layout->group, lowest, layout->lanes);
    if (layout->register_stride < layout->lanes)
        return gpumpi_bad_argument(diag, "register_stride", 0, layout->register_stride, layout->lanes, UINT32_MAX);
    if (layout->warps > 1 && layout->warp_stride < layout->lanes)
        return gpumpi_bad_argument(diag, "warp_stride", 0, layout->warp_stride, layout->lanes, UINT32_MAX);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_compress_layout_init(gpump_compress_layout *layout, uint32_t threads, uint32_t registers,
                                                  uint32_t lanes, uint32_t block_x, gpump_diag *diag) {
    gpump_compress_layout made;
    gpump_result result;
    if (!layout) return gpumpi_null(diag, "layout");
    if (lanes < 1 || lanes > GPUMP_COMPRESS_MAX_LANES)
        return gpumpi_bad_argument(diag, "lanes", 0, lanes, 1, GPUMP_COMPRESS_MAX_LANES);
    if (threads < 1 || threads > lanes * GPUMP_COMPRESS_MAX_WARPS)
        return gpumpi_bad_argument(diag, "threads", 0, threads, 1, (uint64_t)lanes * GPUMP_COMPRESS_MAX_WARPS);
    made.warps = (threads + lanes - 1) / lanes;
    made.registers = registers;
    made.lanes = lanes;
    made.last_lanes = threads - (made.warps - 1) * lanes;
    made.group = gpumpi_compress_group(lanes, block_x);
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
    return (layout->registers + 7) / 8 +
           (size_t)gpumpi_compress_live_count(gpumpi_compress_mask(layout, live, warp), layout->registers) *
               gpumpi_compress_lanes(layout, warp) * 4;
}

GPUMP_API gpump_result gpump_compress_bound(const gpump_compress_layout *layout, size_t *bytes, gpump_diag *diag) {
    gpump_result result = gpumpi_compress_check(layout, diag);
    uint32_t groups, lanes;
    size_t excess = 0;
    if (result != GPUMP_OK) return result;
    if (!bytes) return gpumpi_null(diag, "bytes");
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
    return gpumpi_bad_bytes(diag, field, index, value, wanted, wanted);
}

/* ---- live registers as they are ---- */

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
            out = gpumpi_put_words(out, v + (size_t)r * layout->register_stride, lanes);
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
            in = gpumpi_get_words(in, v + (size_t)r * layout->register_stride, lanes);
    return in;
}

/* ---- WARP and NEAR, warp by warp ---- */

/* The path for full warps; the last warp, when it is not full, takes the plain path. */
static const gpumpi_compress_path *gpumpi_compress_path_of(const gpump_compress_layout *layout, uint32_t flags) {
    const gpumpi_compress_path *path = gpumpi_compress_x86(layout, flags);
    return path ? path : gpumpi_compress_plain();
}

/* Returns 1 when a warp of `bytes` bytes of patterns may be larger than in LIVE form, 0 when it is certainly smaller.
 * The pattern vector is a bit per register longer than the live mask, so patterns lose only when the registers shrank
 * by less than that. A live register of 32 lanes that does not shrink takes 128 bytes, so the remainder of 128 bytes
 * says by how much the others shrank. Quicker than counting the live registers. */
static int gpumpi_compress_doubtful(uint32_t registers, size_t bytes) {
    uint32_t patterns = (registers + 3) / 4;
    return ((0u - (uint32_t)(bytes - patterns)) & 127u) < patterns - (registers + 7) / 8;
}

/* WARP. Without PAPER, a warp that is larger with patterns than in LIVE form is written as in LIVE, and tagged. */
static unsigned char *gpumpi_compress_write_warps(const gpump_compress_layout *layout, const uint32_t *values,
                                                  const uint64_t *live, uint32_t allow, unsigned char *out) {
    const gpumpi_compress_path *path = gpumpi_compress_path_of(layout, allow);
    unsigned char *tags = out, *end;
    uint32_t w;
    memset(out, 0, (layout->warps + 7) / 8);
    out += (layout->warps + 7) / 8;
    for (w = 0; w < layout->warps; w++, out = end) {
        uint32_t lanes = gpumpi_compress_lanes(layout, w);
        if (lanes < layout->lanes) path = gpumpi_compress_plain();
        end = path->write_warp(layout, values + (size_t)w * layout->warp_stride, gpumpi_compress_mask(layout, live, w),
                               lanes, out);
        if (allow & GPUMP_COMPRESS_PAPER) continue;
        if (lanes == 32 && !gpumpi_compress_doubtful(layout->registers, (size_t)(end - out))) continue;
        if ((size_t)(end - out) <= gpumpi_compress_live_bytes(layout, live, w)) continue;
        tags[w >> 3] = (unsigned char)(tags[w >> 3] | 1u << (w & 7));
        end = gpumpi_compress_write_live(layout, values, live, w, 1, out);
    }
    return out;
}

/* Reads WARP, checked before. */
static void gpumpi_compress_read_warps(const gpump_compress_layout *layout, uint32_t flags, const unsigned char *in,
                                       uint32_t *values) {
    const gpumpi_compress_path *path = gpumpi_compress_path_of(layout, flags);
    const unsigned char *tags = in;
    int aligned = (uintptr_t)values % 32 == 0 && layout->register_stride % 8 == 0 && layout->warp_stride % 8 == 0;
    uint32_t w;
    in += (layout->warps + 7) / 8;
    for (w = 0; w < layout->warps; w++) {
        uint32_t lanes = gpumpi_compress_lanes(layout, w);
        if (lanes < layout->lanes) path = gpumpi_compress_plain();
        in = (uint32_t)tags[w >> 3] >> (w & 7) & 1u
                 ? gpumpi_compress_read_live(layout, w, 1, in, values)
                 : path->read_warp(layout, values + (size_t)w * layout->warp_stride, lanes,
                                   (flags & GPUMP_COMPRESS_AROUND) && aligned, in);
    }
}

/* NEAR; returns its length. */
static size_t gpumpi_compress_write_nears(const gpump_compress_layout *layout, const uint32_t *values,
                                          const uint64_t *live, uint32_t flags, unsigned char *out) {
    const gpumpi_compress_path *path = gpumpi_compress_path_of(layout, flags);
    uint32_t steps[GPUMP_COMPRESS_MAX_REGISTERS] = {0}, w;
    unsigned char *start = out;
    gpumpi_compress_near near;
    near.steps = steps;
    for (w = 0; w < layout->warps; w++) {
        near.live = gpumpi_compress_mask(layout, live, w);
        near.live_before = gpumpi_compress_mask(layout, live, w ? w - 1 : 0);
        near.back = w ? layout->warp_stride : 0;
        near.lanes = gpumpi_compress_lanes(layout, w);
        if (near.lanes < layout->lanes) path = gpumpi_compress_plain();
        out = path->write_near(layout, values + (size_t)w * layout->warp_stride, &near, out);
    }
    return (size_t)(out - start);
}

/* Reads NEAR, checked before. */
static void gpumpi_compress_read_nears(const gpump_compress_layout *layout, uint32_t flags, const unsigned char *in,
                                       uint32_t *values) {
    const gpumpi_compress_path *path = gpumpi_compress_path_of(layout, flags);
    uint32_t steps[GPUMP_COMPRESS_MAX_REGISTERS] = {0}, w;
    gpumpi_compress_near near = {NULL, NULL, layout->warp_stride, 0, steps};
    for (w = 0; w < layout->warps; w++) {
        near.lanes = gpumpi_compress_lanes(layout, w);
        if (near.lanes < layout->lanes) path = gpumpi_compress_plain();
        in = path->read_near(layout, values + (size_t)w * layout->warp_stride, &near, in);
    }
}

/* The length of NEAR, without writing it. */
static size_t gpumpi_compress_near_bytes(const gpump_compress_layout *layout, const uint32_t *values,
                                         const uint64_t *live) {
    size_t total = (size_t)layout->warps * ((layout->registers + 1) / 2), bytes;
    uint32_t w, r;
    for (r = 0; r < layout->registers; r++) {
        const uint32_t *before = NULL, *v = values + (size_t)r * layout->register_stride;
        uint32_t step = 0;
        for (w = 0; w < layout->warps; w++, v += layout->warp_stride) {
            int alive = gpumpi_compress_live(gpumpi_compress_mask(layout, live, w), r);
            if (alive) {
                gpumpi_compress_near_one(v, before, gpumpi_compress_lanes(layout, w), layout->group, &step, NULL,
                                         &bytes);
                total += bytes;
            }
            before = alive ? v : NULL;
        }
    }
    return total;
}

/* ---- classification ---- */

GPUMP_API gpump_compress_pattern gpumpi_compress_classify(const uint32_t *values, uint32_t lanes, uint32_t group) {
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

/* The lanes' values of register r in warp w. */
static const uint32_t *gpumpi_compress_vector(const gpump_compress_layout *layout, const uint32_t *values, uint32_t w,
                                              uint32_t r) {
    return values + (size_t)w * layout->warp_stride + (size_t)r * layout->register_stride;
}

static uint32_t gpumpi_compress_block(const gpump_compress_layout *layout, const uint32_t *values, uint32_t number,
                                      gpumpi_compress_vectors *vectors) {
    uint32_t w, g = 0, i, random = 0, base_steady = 1, stride_uniform = 1, groups;
    uint32_t per_warp = gpumpi_compress_groups(layout, 0);
    vectors->mixed = (layout->warps + 3) / 4;
    for (w = 0; w < layout->warps; w++) {
        const uint32_t *v = gpumpi_compress_vector(layout, values, w, number);
        uint32_t lanes = gpumpi_compress_lanes(layout, w);
        uint32_t pattern = gpumpi_compress_analyse(v, lanes, layout->group, vectors->base + g, vectors->stride + g);
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

GPUMP_API gpump_compress_block_pattern gpumpi_compress_classify_block(const gpump_compress_layout *layout,
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

/* A register whose warps follow different patterns: two bits per warp say which, then what each pattern needs. */
static unsigned char *gpumpi_compress_write_mixed(const gpump_compress_layout *layout, const uint32_t *values,
                                                  uint32_t r, const gpumpi_compress_vectors *vectors,
                                                  unsigned char *out) {
    unsigned char *codes = out;
    uint32_t w, g = 0;
    memset(out, 0, (layout->warps + 3) / 4);
    out += (layout->warps + 3) / 4;
    for (w = 0; w < layout->warps; w++) {
        uint32_t pattern = vectors->pattern[w], groups = gpumpi_compress_groups(layout, w);
        codes[w >> 2] = (unsigned char)(codes[w >> 2] | pattern << (2 * (w & 3)));
        if (pattern == GPUMP_COMPRESS_RANDOM) {
            out = gpumpi_put_words(out, gpumpi_compress_vector(layout, values, w, r), gpumpi_compress_lanes(layout, w));
        } else {
            out = gpumpi_put_words(out, vectors->base + g, groups);
            if (pattern == GPUMP_COMPRESS_STRIDED) out = gpumpi_put_words(out, vectors->stride + g, groups);
        }
        g += groups;
    }
    return out;
}

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
        case GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM: out = gpumpi_put_words(out, vectors.base, 1); break;
        case GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED:
            out = gpumpi_put_words(out, vectors.base, 1);
            out = gpumpi_put_words(out, vectors.stride, 1);
            break;
        case GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM: out = gpumpi_put_words(out, vectors.base, vectors.groups); break;
        case GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED:
            out = gpumpi_put_words(out, vectors.base, vectors.groups);
            out = gpumpi_put_words(out, vectors.stride, vectors.groups);
            break;
        case GPUMP_COMPRESS_BLOCK_GRID:
            out = gpumpi_put_words(out, vectors.base, 1);
            out = gpumpi_put_words(out, vectors.stride, 1);
            out = gpumpi_put_words(out, &vectors.step, 1);
            break;
        case GPUMP_COMPRESS_BLOCK_MIXED: out = gpumpi_compress_write_mixed(layout, values, r, &vectors, out); break;
        default:
            for (w = 0; w < layout->warps; w++)
                out = gpumpi_put_words(out, gpumpi_compress_vector(layout, values, w, r),
                                       gpumpi_compress_lanes(layout, w));
            break;
        }
    }
    return out;
}

/* Chooses a form when it is smaller than the one that was chosen before it. */
static void gpumpi_compress_offer(uint32_t form, size_t size, size_t *best, uint32_t *chosen) {
    if (size >= *best) return;
    *best = size;
    *chosen = form;
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
        return gpumpi_bad_argument(diag, "values, out, bytes or form", 0, 0, 1, UINT64_MAX);
    if (allow & GPUMP_COMPRESS_PAPER) allow &= ~GPUMP_COMPRESS_ALLOW_NEAR;
    if (!(allow & GPUMP_COMPRESS_ALLOW_ALL))
        return gpumpi_bad_argument(diag, "allow", 0, allow, 1, GPUMP_COMPRESS_ALLOW_ALL);
    if (capacity < bound) {
        *bytes = bound;
        return gpumpi_fail(diag, GPUMP_ERROR_CAPACITY, "capacity", 0, capacity, bound, UINT64_MAX);
    }
    /* The sizes of RAW and LIVE follow from the masks alone; NEAR and WARP are written at once, because one of them
     * nearly always stays. */
    best = SIZE_MAX;
    chosen = GPUMP_COMPRESS_FORMS;
    if (allow & GPUMP_COMPRESS_ALLOW_RAW)
        gpumpi_compress_offer(GPUMP_COMPRESS_FORM_RAW, gpumpi_compress_raw_bytes(layout), &best, &chosen);
    if (allow & GPUMP_COMPRESS_ALLOW_LIVE) {
        for (size = 0, w = 0; w < layout->warps; w++) size += gpumpi_compress_live_bytes(layout, live, w);
        gpumpi_compress_offer(GPUMP_COMPRESS_FORM_LIVE, size, &best, &chosen);
    }
    near = allow & GPUMP_COMPRESS_ALLOW_NEAR ? gpumpi_compress_write_nears(layout, values, live, allow, to) : SIZE_MAX;
    if (allow & GPUMP_COMPRESS_ALLOW_WARP) {
        size = (size_t)(gpumpi_compress_write_warps(layout, values, live, allow, to) - to);
        gpumpi_compress_offer(GPUMP_COMPRESS_FORM_WARP, size, &best, &chosen);
    }
    if (allow & GPUMP_COMPRESS_ALLOW_BLOCK)
        gpumpi_compress_offer(GPUMP_COMPRESS_FORM_BLOCK, gpumpi_compress_block_bytes(layout, values, live, allow),
                              &best, &chosen);
    if (near < best) {
        best = near;
        chosen = GPUMP_COMPRESS_FORM_NEAR;
        if (allow & GPUMP_COMPRESS_ALLOW_WARP)
            gpumpi_compress_write_nears(layout, values, live, allow, to); /* WARP is there now */
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
    if (!values || !counts) return gpumpi_null(diag, "values or counts");
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
    counts->bytes[GPUMP_COMPRESS_FORM_NEAR] = gpumpi_compress_near_bytes(layout, values, live);
    counts->bytes[GPUMP_COMPRESS_FORM_WARP] = (layout->warps + 7) / 8;
    for (w = 0; w < layout->warps; w++) {
        const uint64_t *set = gpumpi_compress_mask(layout, live, w);
        uint32_t lanes = gpumpi_compress_lanes(layout, w), groups = gpumpi_compress_groups(layout, w);
        size_t as_live = gpumpi_compress_live_bytes(layout, live, w), as_patterns = (layout->registers + 3) / 4;
        for (r = 0; r < layout->registers; r++) {
            uint32_t pattern = GPUMP_COMPRESS_DEAD;
            if (gpumpi_compress_live(set, r))
                pattern = gpumpi_compress_analyse(values + (size_t)w * layout->warp_stride +
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

/* Checks that the warps of a LIVE (tags NULL) or WARP buffer take exactly its bytes, reading only masks and patterns.
 * A warp begins where the warp before it ends. */
static gpump_result gpumpi_compress_check_warps(const gpump_compress_layout *layout, uint32_t flags,
                                                const unsigned char *tags, const unsigned char *in, size_t left,
                                                gpump_diag *diag) {
    const gpumpi_compress_path *path = gpumpi_compress_path_of(layout, flags);
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
            words = path->words(layout, in, left, lanes, groups);
        }
        if (left - head < (size_t)words * 4)
            return gpumpi_compress_bad(diag, "bytes", w, left, head + (size_t)words * 4);
        in += head + (size_t)words * 4;
        left -= head + (size_t)words * 4;
    }
    return left ? gpumpi_compress_bad(diag, "bytes", 0, all, all - left) : GPUMP_OK;
}

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
            uint32_t base = gpumpi_get_word(in),
                     x = code == GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM ? 0 : gpumpi_get_word(in + 4);
            uint32_t y = code == GPUMP_COMPRESS_BLOCK_GRID ? gpumpi_get_word(in + 8) : x * layout->group, at, value;
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
        case GPUMP_COMPRESS_BLOCK_RANDOM: in = gpumpi_get_words(in, v, lanes); break;
        default:
            pattern = (uint32_t)codes[w >> 2] >> (2 * (w & 3)) & 3u;
            if (pattern == GPUMP_COMPRESS_RANDOM) {
                in = gpumpi_get_words(in, v, lanes);
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
    if (!in || !values) return gpumpi_null(diag, "in or values");
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
    default: return gpumpi_bad_bytes(diag, "form", 0, form, 0, GPUMP_COMPRESS_FORMS - 1);
    }
}
