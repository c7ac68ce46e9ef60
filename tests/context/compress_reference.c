/* labels: property */
/* Forms BLOCK, WARP, LIVE and RAW of compress.h, and what every reader refuses, written once more and plainly: a word
 * at a time, a register at a time. Random blocks must get these sizes and bytes, and altered ones these refusals. */
#include "context/compress_cases.h"

typedef struct bytes_out {
    unsigned char *at;
} bytes_out;
static void put_word(bytes_out *out, uint32_t word) {
    for (uint32_t k = 0; k < 4; k++) *out->at++ = (unsigned char)(word >> 8 * k);
}

static uint32_t lanes_of(const gpump_compress_layout *l, uint32_t w) {
    return w + 1 == l->warps ? l->last_lanes : l->lanes;
}
static uint32_t groups_of(const gpump_compress_layout *l, uint32_t w) {
    return (lanes_of(l, w) + l->group - 1) / l->group;
}
static const uint32_t *lanes_at(const compress_case *c, uint32_t w, uint32_t r) {
    return c->values + (size_t)w * c->layout.warp_stride + (size_t)r * c->layout.register_stride;
}
static int live_in_any(const compress_case *c, uint32_t r) {
    for (uint32_t w = 0; w < c->layout.warps; w++)
        if (compress_case_is_live(c, w, r)) return 1;
    return 0;
}

/* Base and stride of every group of a register in one warp; returns the pattern. A group of one lane has no stride of
 * its own: it takes the one before it. */
static uint32_t vectors_of(const uint32_t *v, uint32_t lanes, uint32_t group, uint32_t *base, uint32_t *stride) {
    uint32_t pattern = GPUMP_COMPRESS_UNIFORM, g = 0;
    for (uint32_t at = 0; at < lanes; at += group, g++) {
        const uint32_t end = at + group < lanes ? at + group : lanes;
        base[g] = v[at];
        stride[g] = end - at > 1 ? v[at + 1] - v[at] : g ? stride[g - 1] : 0;
        for (uint32_t i = at; i < end; i++)
            if (v[i] != base[g] + (i - at) * stride[g]) return GPUMP_COMPRESS_RANDOM;
        if (stride[g]) pattern = GPUMP_COMPRESS_STRIDED;
    }
    return pattern;
}

static size_t put_lanes(const uint32_t *v, uint32_t count, bytes_out *out) {
    for (uint32_t i = 0; i < count; i++) put_word(out, v[i]);
    return (size_t)count * 4;
}

/* One register of BLOCK: its code, and its bytes: what the whole block says in few words, else warp by warp (MIXED)
 * where that is shorter, else the lanes. */
static uint32_t put_block(const compress_case *c, uint32_t r, uint32_t paper, bytes_out *out, uint32_t *papers) {
    static uint32_t base[GPUMP_COMPRESS_MAX_WARPS * 64], stride[GPUMP_COMPRESS_MAX_WARPS * 64];
    const gpump_compress_layout *l = &c->layout;
    uint32_t pattern[GPUMP_COMPRESS_MAX_WARPS], g = 0, w, i, random = 0, same_stride = 1, even = 1, code, words,
                                                all = 0;
    size_t mixed = (l->warps + 3) / 4;
    for (w = 0; w < l->warps; w++) {
        pattern[w] = vectors_of(lanes_at(c, w, r), lanes_of(l, w), l->group, base + g, stride + g);
        if (lanes_of(l, w) == 1 && g) stride[g] = stride[g - 1]; /* a warp of one lane goes on as the block does */
        mixed += pattern[w] == GPUMP_COMPRESS_RANDOM    ? 4 * (size_t)lanes_of(l, w)
                 : pattern[w] == GPUMP_COMPRESS_STRIDED ? 8 * (size_t)groups_of(l, w)
                                                        : 4 * (size_t)groups_of(l, w);
        random |= pattern[w] == GPUMP_COMPRESS_RANDOM;
        g += groups_of(l, w);
        all += lanes_of(l, w);
    }
    for (i = 1; i < g; i++) {
        same_stride &= stride[i] == stride[0];
        even &= base[i] - base[i - 1] == base[1] - base[0];
    }
    code = random                                                                ? GPUMP_COMPRESS_BLOCK_RANDOM
           : same_stride && !stride[0] && even && (g == 1 || base[1] == base[0]) ? GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM
           : same_stride && !stride[0]                                           ? GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM
           : same_stride && even && (g == 1 || base[1] - base[0] == stride[0] * l->group)
               ? GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED
               : GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED;
    words = code == GPUMP_COMPRESS_BLOCK_RANDOM           ? all
            : code == GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM ? 1
            : code == GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM  ? g
            : code == GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED ? 2
                                                          : 2 * g;
    *papers = code; /* as the paper classifies */
    if (!paper && !random && same_stride && even && words > 3) code = GPUMP_COMPRESS_BLOCK_GRID, words = 3;
    if (!paper && mixed < 4 * (size_t)words) {
        unsigned char *codes = out->at;
        memset(codes, 0, (l->warps + 3) / 4);
        out->at += (l->warps + 3) / 4;
        for (w = 0, g = 0; w < l->warps; g += groups_of(l, w), w++) {
            codes[w / 4] = (unsigned char)(codes[w / 4] | pattern[w] << w % 4 * 2);
            if (pattern[w] == GPUMP_COMPRESS_RANDOM) {
                (void)put_lanes(lanes_at(c, w, r), lanes_of(l, w), out);
                continue;
            }
            (void)put_lanes(base + g, groups_of(l, w), out);
            if (pattern[w] == GPUMP_COMPRESS_STRIDED) (void)put_lanes(stride + g, groups_of(l, w), out);
        }
        return GPUMP_COMPRESS_BLOCK_MIXED;
    }
    if (code == GPUMP_COMPRESS_BLOCK_RANDOM) {
        for (w = 0; w < l->warps; w++) (void)put_lanes(lanes_at(c, w, r), lanes_of(l, w), out);
        return code;
    }
    i = code == GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM || code == GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED ? g : 1;
    (void)put_lanes(base, i, out);
    if (code != GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM && code != GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM)
        (void)put_lanes(stride, i, out);
    if (code == GPUMP_COMPRESS_BLOCK_GRID) put_word(out, g > 1 ? base[1] - base[0] : 0);
    return code;
}

static size_t block_by_definition(const compress_case *c, uint32_t paper, unsigned char *to, uint32_t papers[8]) {
    const uint32_t plane = (c->layout.registers + 7) / 8;
    bytes_out out = {to + (size_t)plane * 3};
    memset(to, 0, (size_t)plane * 3);
    for (uint32_t r = 0; r < c->layout.registers; r++) {
        uint32_t is_paper = GPUMP_COMPRESS_BLOCK_DEAD;
        const uint32_t code =
            live_in_any(c, r) ? put_block(c, r, paper, &out, &is_paper) : (uint32_t)GPUMP_COMPRESS_BLOCK_DEAD;
        papers[is_paper]++;
        for (uint32_t k = 0; k < 3; k++)
            if (code >> k & 1u) to[k * plane + r / 8] = (unsigned char)(to[k * plane + r / 8] | 1u << r % 8);
    }
    return (size_t)(out.at - to);
}

/* WARP: each warp with its patterns, or, without `paper`, as in LIVE and with a tag where that is shorter. */
static size_t warp_by_definition(const compress_case *c, uint32_t paper, unsigned char *to) {
    const gpump_compress_layout *l = &c->layout;
    bytes_out out = {to + (l->warps + 7) / 8};
    memset(to, 0, (l->warps + 7) / 8);
    for (uint32_t w = 0; w < l->warps; w++) {
        for (uint32_t as_live = 0; as_live < 2; as_live++) {
            static unsigned char room[1 << 18];
            bytes_out here = {room};
            uint32_t count = 0;
            memset(room, 0, l->registers);
            here.at += as_live ? (l->registers + 7) / 8 : (l->registers + 3) / 4;
            for (uint32_t r = 0; r < l->registers; r++) {
                uint32_t base[64], stride[64], pattern = GPUMP_COMPRESS_RANDOM;
                if (!compress_case_is_live(c, w, r)) continue;
                count++;
                if (!as_live) pattern = vectors_of(lanes_at(c, w, r), lanes_of(l, w), l->group, base, stride);
                if (as_live)
                    room[r / 8] = (unsigned char)(room[r / 8] | 1u << r % 8);
                else
                    room[r / 4] = (unsigned char)(room[r / 4] | pattern << r % 4 * 2);
                if (pattern == GPUMP_COMPRESS_RANDOM) {
                    (void)put_lanes(lanes_at(c, w, r), lanes_of(l, w), &here);
                    continue;
                }
                (void)put_lanes(base, groups_of(l, w), &here);
                if (pattern == GPUMP_COMPRESS_STRIDED) (void)put_lanes(stride, groups_of(l, w), &here);
            }
            if (!as_live && !paper &&
                (size_t)(here.at - room) > (l->registers + 7) / 8 + (size_t)count * lanes_of(l, w) * 4) {
                to[w / 8] = (unsigned char)(to[w / 8] | 1u << w % 8);
                continue;
            }
            memcpy(out.at, room, (size_t)(here.at - room));
            out.at += here.at - room;
            break;
        }
    }
    return (size_t)(out.at - to);
}

/* RAW: all lanes of all registers of each warp. LIVE: for each warp a mask, and the lanes of the registers in it. */
static size_t lanes_by_definition(const compress_case *c, int only_live, unsigned char *to) {
    const gpump_compress_layout *l = &c->layout;
    bytes_out out = {to};
    for (uint32_t w = 0; w < l->warps; w++) {
        unsigned char *mask = out.at;
        if (only_live) {
            memset(mask, 0, (l->registers + 7) / 8);
            out.at += (l->registers + 7) / 8;
        }
        for (uint32_t r = 0; r < l->registers; r++) {
            if (only_live && !compress_case_is_live(c, w, r)) continue;
            if (only_live) mask[r / 8] = (unsigned char)(mask[r / 8] | 1u << r % 8);
            (void)put_lanes(lanes_at(c, w, r), lanes_of(l, w), &out);
        }
    }
    return (size_t)(out.at - to);
}

/* Vector registers by pattern. */
static void count_patterns(const compress_case *c, uint32_t patterns[4]) {
    uint32_t base[64], stride[64];
    for (uint32_t w = 0; w < c->layout.warps; w++)
        for (uint32_t r = 0; r < c->layout.registers; r++)
            patterns[compress_case_is_live(c, w, r)
                         ? vectors_of(lanes_at(c, w, r), lanes_of(&c->layout, w), c->layout.group, base, stride)
                         : (uint32_t)GPUMP_COMPRESS_DEAD]++;
}

/* Registers by the hundred, of one or two warps, so that live masks have several words. */
static void make_wide(compress_case *c, uint64_t *random) {
    gpump_compress_layout *l = &c->layout;
    l->warps = 1 + gpump_random_below(random, 2);
    l->registers = 100 + gpump_random_below(random, GPUMP_COMPRESS_MAX_REGISTERS - 99);
    l->lanes = l->group = l->register_stride = 1 + gpump_random_below(random, 12);
    l->last_lanes = 1 + gpump_random_below(random, l->lanes);
    l->warp_stride = l->warps == 1 ? 0 : l->registers * l->lanes; /* one warp needs none */
    l->live_stride = (l->registers + 63) / 64;
    c->live = c->masks;
    for (uint32_t i = 0; i < 2 * l->live_stride; i++) c->masks[i] = gpump_random_next(random);
    for (uint32_t r = 0; r < l->registers; r++) compress_case_register(c, r, random);
}
/* One register that takes its lanes in all warps but the last, which saves one word: the codes of the warps may cost
 * just as much. */
static void make_tight(compress_case *c, uint64_t *random) {
    gpump_compress_layout *l = &c->layout;
    l->warps = 8 + gpump_random_below(random, 6);
    l->registers = 1;
    l->lanes = l->group = l->register_stride = l->warp_stride = 8;
    l->last_lanes = 2 + gpump_random_below(random, 2);
    c->live = NULL;
    for (uint32_t i = 0; i < 8 * l->warps; i++) c->values[i] = (uint32_t)gpump_random_next(random);
    for (uint32_t i = 0; i < 8; i++) c->values[8 * (l->warps - 1) + i] = l->last_lanes == 2 ? 5 : 5 + 3 * i;
}
static void make_small(compress_case *c, uint64_t *random, uint64_t number) {
    if (number % 20 == 7) {
        make_wide(c, random);
        return;
    }
    if (number % 20 == 8) {
        make_tight(c, random);
        return;
    }
    do (void)compress_case_make(c, random);
    while ((size_t)c->layout.warps * c->layout.registers > (number % 20 ? 60 : 600));
}

/* The forms, but NEAR, are, byte for byte, what the definition says, with and without the paper's rules; the sizes that
 * are counted without writing are the same, and whatever is allowed together gives the smallest. */
static void random_blocks_have_the_bytes_of_the_definition(void **state) {
    uint64_t seed = test_seed(), random = seed;
    compress_case c;
    unsigned char *expected;
    (void)state;
    compress_case_init(&c);
    expected = malloc(c.capacity);
    assert_non_null(expected);
    for (uint64_t n = 0; n < test_cases(4000); n++) {
        const uint32_t paper = gpump_random_below(&random, 2) ? GPUMP_COMPRESS_PAPER : 0;
        size_t sizes[GPUMP_COMPRESS_FORMS], bytes, smallest, bound;
        gpump_compress_counts counts;
        uint32_t form, papers[8] = {0}, patterns[4] = {0};
        make_small(&c, &random, n);
        test_check(gpump_compress_count(&c.layout, c.values, c.live, paper, &counts, NULL) == GPUMP_OK, seed, n);
        test_check(gpump_compress_bound(&c.layout, &bound, NULL) == GPUMP_OK, seed, n);
        for (uint32_t f = 0; f < GPUMP_COMPRESS_FORMS; f++) {
            sizes[f] = SIZE_MAX;
            if (paper && f == GPUMP_COMPRESS_FORM_NEAR) continue; /* not in the paper */
            test_check(gpump_compress_save(&c.layout, c.values, c.live, 1u << f | paper, c.out, bound, &sizes[f], &form,
                                           NULL) == GPUMP_OK,
                       seed, n);
            test_check(form == f && sizes[f] == counts.bytes[f] && sizes[f] <= bound, seed, n);
            if (f != GPUMP_COMPRESS_FORM_NEAR) {
                bytes = f == GPUMP_COMPRESS_FORM_BLOCK ? block_by_definition(&c, paper, expected, papers)
                        : f == GPUMP_COMPRESS_FORM_WARP
                            ? warp_by_definition(&c, paper, expected)
                            : lanes_by_definition(&c, f == GPUMP_COMPRESS_FORM_LIVE, expected);
                test_check(bytes == sizes[f] && !memcmp(expected, c.out, bytes), seed, n);
            }
        }
        count_patterns(&c, patterns);
        test_check(!memcmp(papers, counts.block, sizeof papers), seed, n);
        test_check(!memcmp(patterns, counts.warp, sizeof patterns), seed, n);
        for (uint32_t allow = 1; allow < 1u << GPUMP_COMPRESS_FORMS; allow++) {
            smallest = SIZE_MAX;
            for (uint32_t f = 0; f < GPUMP_COMPRESS_FORMS; f++)
                if (allow >> f & 1u && sizes[f] < smallest) smallest = sizes[f];
            if (smallest == SIZE_MAX) continue;
            test_check(gpump_compress_save(&c.layout, c.values, c.live, allow | paper, c.out, bound, &bytes, &form,
                                           NULL) == GPUMP_OK,
                       seed, n);
            test_check(bytes == smallest && allow >> form & 1u && sizes[form] == smallest, seed, n);
        }
    }
    free(expected);
    compress_case_free(&c);
}

/* ---- what is refused ---- */

typedef struct refusal {
    const char *field; /* NULL: nothing is refused */
    uint64_t index, value, wanted;
} refusal;
static refusal refuse(const char *field, uint64_t index, uint64_t value, uint64_t wanted) {
    const refusal made = {field, index, value, wanted};
    return made;
}
/* All bytes must be used up. */
static refusal refuse_rest(uint64_t bytes, uint64_t left) {
    return left ? refuse("bytes", 0, bytes, bytes - left) : refuse(NULL, 0, 0, 0);
}
static uint32_t code_at(const unsigned char *in, uint32_t r, uint32_t bits) {
    return in[r * bits / 8] >> r * bits % 8 & ((1u << bits) - 1);
}
/* Words that one register of pattern `pattern` takes in a warp. */
static size_t words_of(const gpump_compress_layout *l, uint32_t w, uint32_t pattern) {
    return pattern == GPUMP_COMPRESS_RANDOM    ? lanes_of(l, w)
           : pattern == GPUMP_COMPRESS_STRIDED ? 2 * (size_t)groups_of(l, w)
           : pattern == GPUMP_COMPRESS_UNIFORM ? groups_of(l, w)
                                               : 0;
}
/* Are the bits behind the last code of a list of codes zero? */
static int ends_in_zeros(const unsigned char *in, uint32_t codes, uint32_t bits) {
    return codes * bits % 8 == 0 || !(in[codes * bits / 8] >> codes * bits % 8);
}

/* LIVE (tags NULL) and WARP. */
static refusal refuse_warps(const gpump_compress_layout *l, const unsigned char *tags, const unsigned char *in,
                            size_t given) {
    size_t left = given;
    for (uint32_t w = 0; w < l->warps; w++) {
        const uint32_t bits = !tags || tags[w / 8] >> w % 8 & 1 ? 1 : 2, head = (l->registers * bits + 7) / 8;
        size_t bytes = head;
        if (left < head) return refuse("bytes", w, left, head);
        if (!ends_in_zeros(in, l->registers, bits)) return refuse("patterns", w, in[head - 1], 0);
        for (uint32_t r = 0; r < l->registers; r++)
            bytes += 4 * (bits == 2 ? words_of(l, w, code_at(in, r, 2)) : code_at(in, r, 1) * (size_t)lanes_of(l, w));
        if (left < bytes) return refuse("bytes", w, left, bytes);
        in += bytes;
        left -= bytes;
    }
    return refuse_rest(given, left);
}

static refusal refuse_nears(const gpump_compress_layout *l, const unsigned char *in, size_t given) {
    enum { AGAIN = 4, MOVED, BYTES1, BYTES3 = BYTES1 + 2 };
    size_t left = given;
    const unsigned char *before = NULL;
    for (uint32_t w = 0; w < l->warps; w++) {
        const uint32_t head = (l->registers + 1) / 2;
        size_t bytes = head;
        int wrong = 0;
        if (left < head) return refuse("bytes", w, left, head);
        if (!ends_in_zeros(in, l->registers, 4)) return refuse("patterns", w, in[head - 1], 0);
        for (uint32_t r = 0; r < l->registers; r++) {
            const uint32_t code = code_at(in, r, 4);
            wrong |= code > BYTES3;
            wrong |= (code == AGAIN || code == MOVED) && (!before || !code_at(before, r, 4));
            bytes += code < AGAIN                       ? 4 * words_of(l, w, code)
                     : code == MOVED                    ? 4
                     : code >= BYTES1 && code <= BYTES3 ? 4 + (size_t)lanes_of(l, w) * (code - BYTES1 + 1)
                                                        : 0;
        }
        if (wrong) return refuse("patterns", w, 0, BYTES3);
        if (left < bytes) return refuse("bytes", w, left, bytes);
        before = in;
        in += bytes;
        left -= bytes;
    }
    return refuse_rest(given, left);
}

static refusal refuse_block(const gpump_compress_layout *l, const unsigned char *in, size_t given) {
    size_t left = given;
    const uint32_t plane = (l->registers + 7) / 8, heads = (l->warps + 3) / 4;
    const unsigned char *planes = in;
    uint32_t all = 0, groups = 0, w;
    for (w = 0; w < l->warps; w++) all += lanes_of(l, w), groups += groups_of(l, w);
    if (left < 3 * (size_t)plane) return refuse("bytes", 0, left, 3 * (size_t)plane);
    for (w = 0; w < 3; w++)
        if (!ends_in_zeros(in + w * plane, l->registers, 1)) return refuse("patterns", w, in[w * plane + plane - 1], 0);
    in += 3 * (size_t)plane;
    left -= 3 * (size_t)plane;
    for (uint32_t r = 0; r < l->registers; r++) {
        const uint32_t code =
            code_at(planes, r, 1) | code_at(planes + plane, r, 1) << 1 | code_at(planes + 2 * (size_t)plane, r, 1) << 2;
        size_t bytes = code == GPUMP_COMPRESS_BLOCK_DEAD             ? 0
                       : code == GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM ? 4
                       : code == GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED ? 8
                       : code == GPUMP_COMPRESS_BLOCK_GRID           ? 12
                       : code == GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM  ? 4 * (size_t)groups
                       : code == GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED  ? 8 * (size_t)groups
                       : code == GPUMP_COMPRESS_BLOCK_RANDOM         ? 4 * (size_t)all
                                                                     : heads;
        if (code == GPUMP_COMPRESS_BLOCK_MIXED) {
            if (left < heads) return refuse("bytes", r, left, heads);
            if (!ends_in_zeros(in, l->warps, 2)) return refuse("patterns", r, in[heads - 1], 0);
            for (w = 0; w < l->warps; w++) {
                if (code_at(in, w, 2) == GPUMP_COMPRESS_DEAD)
                    return refuse("patterns", r, GPUMP_COMPRESS_DEAD, GPUMP_COMPRESS_RANDOM);
                bytes += 4 * words_of(l, w, code_at(in, w, 2));
            }
        }
        if (left < bytes) return refuse("bytes", r, left, bytes);
        in += bytes;
        left -= bytes;
    }
    return refuse_rest(given, left);
}

static refusal refuse_by_definition(const gpump_compress_layout *l, uint32_t form, const unsigned char *in,
                                    size_t bytes) {
    const uint32_t tags = (l->warps + 7) / 8;
    if (form == GPUMP_COMPRESS_FORM_RAW) {
        size_t all = 0;
        for (uint32_t w = 0; w < l->warps; w++) all += 4 * (size_t)lanes_of(l, w) * l->registers;
        return bytes == all ? refuse(NULL, 0, 0, 0) : refuse("bytes", 0, bytes, all);
    }
    if (form == GPUMP_COMPRESS_FORM_LIVE) return refuse_warps(l, NULL, in, bytes);
    if (form == GPUMP_COMPRESS_FORM_NEAR) return refuse_nears(l, in, bytes);
    if (form == GPUMP_COMPRESS_FORM_BLOCK) return refuse_block(l, in, bytes);
    if (bytes < tags) return refuse("bytes", 0, bytes, tags);
    if (!ends_in_zeros(in, l->warps, 1)) return refuse("tags", 0, in[tags - 1], 0);
    return refuse_warps(l, in, in + tags, bytes - tags);
}

/* What `in` holds is restored to the same words, and no others, with every set of flags; into an array that starts
 * anywhere. */
static void restores_alike(compress_case *c, uint32_t form, const unsigned char *in, size_t bytes, uint64_t seed,
                           uint64_t n) {
    static const uint32_t flags[] = {GPUMP_COMPRESS_PLAIN, 0, GPUMP_COMPRESS_AROUND, GPUMP_COMPRESS_AROUND};
    const gpump_compress_layout *l = &c->layout;
    const size_t words =
        (size_t)(l->warps - 1) * l->warp_stride + (size_t)(l->registers - 1) * l->register_stride + l->lanes;
    uint32_t *first = c->restored, *second = c->restored + (words + 31) / 16 * 16;
    memset(first, 0x5a, words * 4);
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t *to = k ? second + (k == 3) : first;
        memset(to, 0x5a, words * 4);
        test_check(gpump_compress_restore(l, form, flags[k], in, bytes, to, NULL) == GPUMP_OK, seed, n);
        test_check(!memcmp(to, first, words * 4), seed, n);
    }
}

/* Whole, cut, lengthened, or with changed bits: accepted or refused, for which warp or register and which
 * number, as by the definition. Each way of writing the registers writes the same. */
static void altered_blocks_are_refused_as_by_the_definition(void **state) {
    uint64_t seed = test_seed(), random = seed, refused = 0, accepted = 0;
    compress_case c;
    (void)state;
    compress_case_init(&c);
    for (uint64_t n = 0; n < test_cases(6000); n++) {
        const uint32_t f = gpump_random_below(&random, GPUMP_COMPRESS_FORMS);
        uint32_t form, k;
        size_t bytes;
        make_small(&c, &random, n);
        test_check(gpump_compress_save(&c.layout, c.values, c.live, 1u << f, c.out, c.capacity, &bytes, &form, NULL) ==
                       GPUMP_OK,
                   seed, n);
        for (k = 0; k < 16; k++) {
            const uint32_t change = gpump_random_below(&random, 4);
            const size_t length = change == 1   ? gpump_random_below(&random, (uint32_t)bytes + 1)
                                  : change == 2 ? bytes + gpump_random_below(&random, 9)
                                                : bytes;
            unsigned char *altered = malloc(length ? length : 1); /* a sanitizer watches its end */
            refusal expected;
            gpump_result result;
            gpump_diag diag;
            assert_non_null(altered);
            memset(altered, 0, length);
            memcpy(altered, c.out, length < bytes ? length : bytes);
            if (change == 3 && length)
                altered[gpump_random_below(&random, k % 2 && length > 12 ? 12 : (uint32_t)length)] ^=
                    (unsigned char)(1u << gpump_random_below(&random, 8));
            expected = refuse_by_definition(&c.layout, f, altered, length);
            memset(&diag, 0, sizeof diag);
            result = gpump_compress_restore(&c.layout, f, k % 3 ? 0 : GPUMP_COMPRESS_PLAIN, altered, length, c.restored,
                                            &diag);
            test_check(result == (expected.field ? GPUMP_ERROR_FORMAT : GPUMP_OK), seed, n);
            if (expected.field) {
                test_check(!strcmp(diag.field, expected.field) && diag.index == expected.index, seed, n);
                test_check(diag.value == expected.value, seed, n);
                test_check(diag.minimum == expected.wanted && diag.maximum == expected.wanted, seed, n);
                refused++;
            } else {
                restores_alike(&c, f, altered, length, seed, n);
                accepted++;
            }
            free(altered);
        }
    }
    compress_case_free(&c);
    assert_true(refused > accepted / 4 && accepted > refused / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_blocks_have_the_bytes_of_the_definition),
        cmocka_unit_test(altered_blocks_are_refused_as_by_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
