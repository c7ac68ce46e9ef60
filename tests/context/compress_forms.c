/* labels: unit */
/* The forms WARP and NEAR of compress.h, written once more a byte at a time as the header describes them: each code
 * path gives these bytes and reads them back, for many lanes and groups. And what refusals say. */
#include "diagnosed.h"

enum { REGISTERS = 12 + 2 * 64, LANES = 64, WARPS = 2, ROOM = WARPS * REGISTERS * (LANES * 4 + 1) + 64 };

static uint32_t values[WARPS * REGISTERS * LANES];
static const uint64_t live[3] = {~UINT64_C(0x8102040810204081), ~UINT64_C(0x4081020408102040), UINT64_MAX};

static int is_live(uint32_t r) { return (int)(live[r / 64] >> r % 64 & 1); }

/* What lane `i` of a register holds, in groups of `group`: every pattern, then patterns that one lane breaks. */
static uint32_t lane_of(uint32_t r, uint32_t i, uint32_t lanes, uint32_t group, uint32_t warp) {
    const uint32_t g = i / group, in = i % group;
    switch (r) {
    case 0: return 7 + warp;                                           /* dead */
    case 1: return 0x80000000u;                                        /* uniform, and the same in all warps */
    case 2: return 1000 + 4 * i + 77 * warp;                           /* strided over all groups */
    case 3: return g * g + 3 + warp * i;                               /* uniform in each group of the first warp */
    case 4: return 5 - in * (g + 1) + warp * in;                       /* strided, another stride in each group */
    case 5: return (g ? 9 : 8 + in) + warp * i * i;                    /* strided, then uniform */
    case 6: return (i * 2654435761u) ^ (i << 20) ^ (warp ? i * i : 0); /* anything */
    case 7: return 0xffffff80u + (i * i + warp * i) % 255 + (i + 1 == lanes ? 1 : 0); /* one byte or so, over 2^32 */
    case 8: return 50 + (i % 3 == 1 ? 256 : 0) + warp * (i % 2);                      /* just two bytes */
    case 9: return 50 - (i % 3 == 1 ? 65536 : 0) + warp * (i % 2);      /* just three bytes, below the first lane */
    case 10: return 50 + (i % 3 == 1 ? 16777216 : 0) + warp * (i % 2);  /* just four bytes */
    case 11: return 50 + (i % 3 == 1 ? 16777215 : 0) + warp * 0x10000u; /* just three, then moved */
    default: break;
    }
    r -= 12;
    return (r < LANES ? 5 : 100 + 12 * i) + (r % LANES == i ? 0x01000000u << warp : 0);
}

static unsigned char *put(unsigned char *out, uint32_t word, uint32_t bytes) {
    for (uint32_t k = 0; k < bytes; k++) *out++ = (unsigned char)(word >> 8 * k);
    return out;
}

/* One register as in WARP: uniform, random or strided. Returns the pattern. */
static uint32_t put_register(const uint32_t *v, uint32_t lanes, uint32_t group, unsigned char **to) {
    uint32_t stride = 0, any = 0, pattern = GPUMP_COMPRESS_UNIFORM;
    for (uint32_t at = 0; at < lanes; at += group)
        for (uint32_t i = at + 1; i < lanes && i < at + group; i++) {
            any |= v[i] - v[i - 1];
            if (v[i] - v[i - 1] != v[at + 1] - v[at]) pattern = GPUMP_COMPRESS_RANDOM;
        }
    if (pattern != GPUMP_COMPRESS_RANDOM && any) pattern = GPUMP_COMPRESS_STRIDED;
    for (uint32_t i = 0; i < lanes; i++)
        if (pattern == GPUMP_COMPRESS_RANDOM || i % group == 0) *to = put(*to, v[i], 4);
    for (uint32_t at = 0; pattern == GPUMP_COMPRESS_STRIDED && at < lanes; at += group) {
        if (at + 1 < lanes && group > 1) stride = v[at + 1] - v[at]; /* a single lane has the stride before it */
        *to = put(*to, stride, 4);
    }
    return pattern;
}

/* One register of NEAR. Returns the code. */
static uint32_t put_near(const uint32_t *v, const uint32_t *before, uint32_t lanes, uint32_t group, uint32_t *step,
                         unsigned char **to) {
    unsigned char *const start = *to;
    uint32_t lowest = 0, range = 0, pattern, bytes, moved = before != NULL;
    for (uint32_t i = 0; before && i < lanes; i++) moved &= v[i] - before[i] == v[0] - before[0];
    if (moved && v[0] - before[0] == *step) return 4;
    if (moved) {
        *step = v[0] - before[0];
        *to = put(*to, *step, 4);
        return 5;
    }
    pattern = put_register(v, lanes, group, to);
    if (pattern != GPUMP_COMPRESS_RANDOM) return pattern;
    for (uint32_t i = 0; i < lanes; i++)
        if ((int32_t)(v[i] - v[0]) < (int32_t)lowest) lowest = v[i] - v[0];
    lowest += v[0];
    for (uint32_t i = 0; i < lanes; i++)
        if (v[i] - lowest > range) range = v[i] - lowest;
    bytes = range < 256 ? 1 : range < 65536 ? 2 : range < 16777216 ? 3 : 4;
    if (4 + lanes * bytes >= 4 * lanes) return pattern; /* not shorter than raw */
    *to = put(start, lowest, 4);
    for (uint32_t i = 0; i < lanes; i++) *to = put(*to, v[i] - lowest, bytes);
    return 5 + bytes;
}

static size_t by_definition(const gpump_compress_layout *layout, uint32_t form, unsigned char *out) {
    const uint32_t bits = form == GPUMP_COMPRESS_FORM_NEAR ? 4 : 2;
    const uint32_t head = (layout->registers * bits + 7) / 8;
    unsigned char *at = out;
    uint32_t steps[REGISTERS] = {0};
    if (form == GPUMP_COMPRESS_FORM_WARP) *at++ = 0; /* no tags */
    for (uint32_t w = 0; w < layout->warps; w++) {
        const uint32_t lanes = w + 1 == layout->warps ? layout->last_lanes : layout->lanes;
        unsigned char *codes = at;
        memset(codes, 0, head);
        at += head;
        for (uint32_t r = 0; r < layout->registers; r++) {
            const uint32_t *v = values + w * layout->warp_stride + r * layout->register_stride;
            uint32_t code;
            if (!is_live(r)) continue;
            code = form == GPUMP_COMPRESS_FORM_WARP
                       ? put_register(v, lanes, layout->group, &at)
                       : put_near(v, w ? v - layout->warp_stride : NULL, lanes, layout->group, &steps[r], &at);
            codes[r * bits / 8] = (unsigned char)(codes[r * bits / 8] | code << r * bits % 8);
        }
    }
    return (size_t)(at - out);
}

static void agrees(const gpump_compress_layout *layout, uint32_t allow) {
    static const uint32_t paths[] = {0, GPUMP_COMPRESS_AVX2, GPUMP_COMPRESS_PLAIN};
    static unsigned char expected[ROOM], out[ROOM];
    static uint32_t back[WARPS * REGISTERS * LANES];
    const uint32_t form = allow & GPUMP_COMPRESS_ALLOW_NEAR ? GPUMP_COMPRESS_FORM_NEAR : GPUMP_COMPRESS_FORM_WARP;
    const size_t length = by_definition(layout, form, expected);
    for (uint32_t p = 0; p < 3; p++) {
        uint32_t chosen = 0;
        size_t bytes = 0, bound = 0;
        assert_int_equal(gpump_compress_bound(layout, &bound, NULL), GPUMP_OK);
        assert_true(bound < sizeof out);
        out[bound] = 0xee; /* what is past the room stays */
        assert_int_equal(gpump_compress_save(layout, values, live, allow | paths[p], out, bound, &bytes, &chosen, NULL),
                         GPUMP_OK);
        assert_int_equal(chosen, form);
        if (bytes != length || memcmp(out, expected, length))
            fail_msg("form %u, path %u, %u lanes in groups of %u: other bytes", form, p, layout->lanes, layout->group);
        assert_int_equal(out[bound], 0xee);
        memset(back, 0xa5, sizeof back);
        assert_int_equal(gpump_compress_restore(layout, form, paths[p], expected, length, back, NULL), GPUMP_OK);
        for (uint32_t at = 0; at < layout->warps * layout->warp_stride; at++) {
            const uint32_t w = at / layout->warp_stride, r = at % layout->warp_stride / layout->lanes;
            const uint32_t lanes = w + 1 == layout->warps ? layout->last_lanes : layout->lanes;
            const uint32_t is_saved = is_live(r) && at % layout->lanes < lanes;
            if (back[at] != (is_saved ? values[at] : 0xa5a5a5a5u))
                fail_msg("form %u, path %u, %u lanes in groups of %u: lane %u of register %u of warp %u", form, p,
                         layout->lanes, layout->group, at % layout->lanes, r, w);
        }
    }
}

static void lanes_in_groups(uint32_t lanes, uint32_t group, uint32_t warps, uint32_t last_lanes, uint32_t registers) {
    gpump_compress_layout layout;
    memset(&layout, 0, sizeof layout);
    layout.warps = warps;
    layout.registers = registers;
    layout.lanes = lanes;
    layout.last_lanes = last_lanes;
    layout.group = group;
    layout.register_stride = lanes;
    layout.warp_stride = registers * lanes;
    for (uint32_t w = 0; w < warps; w++)
        for (uint32_t r = 0; r < registers; r++)
            for (uint32_t i = 0; i < lanes; i++)
                values[(w * registers + r) * lanes + i] = lane_of(r, i, lanes, group, w);
    agrees(&layout, GPUMP_COMPRESS_ALLOW_WARP | GPUMP_COMPRESS_PAPER);
    agrees(&layout, GPUMP_COMPRESS_ALLOW_NEAR);
}

/* Every count of lanes and each group of lanes is saved and restored right. */
static void every_count_of_lanes(void **state) {
    (void)state;
    for (uint32_t lanes = 1; lanes <= LANES; lanes++) {
        lanes_in_groups(lanes, lanes, 2, 1 + lanes / 2, REGISTERS);
        if (lanes > 8) lanes_in_groups(lanes, 8, 2, lanes - 1, REGISTERS - lanes);
    }
}

/* Every size of a group, of lanes that it divides or not, is restored as it was. */
static void every_size_of_a_group_comes_back(void **state) {
    static const uint32_t counts[] = {17, 31, 32, 33, 64};
    (void)state;
    for (uint32_t n = 0; n < sizeof counts / sizeof *counts; n++)
        for (uint32_t group = 8; group <= counts[n]; group++)
            lanes_in_groups(counts[n], group, 2, counts[n], 12 + counts[n] + group % 5);
}

/* A block form that is cut short is refused with the count of bytes that it needs. */
static void block_says_how_short_it_is(void **state) {
    gpump_compress_layout layout;
    uint32_t back[9 * 32] = {0};
    unsigned char planes[6] = {0};
    (void)state;
    assert_int_equal(gpump_compress_layout_init(&layout, 32, 9, 32, 32, NULL), GPUMP_OK);
    /* nine registers: three planes of two bytes; all dead, there is nothing more */
    assert_int_equal(gpump_compress_restore(&layout, GPUMP_COMPRESS_FORM_BLOCK, 0, planes, 6, back, NULL), GPUMP_OK);
    diagnosed(gpump_compress_restore(&layout, GPUMP_COMPRESS_FORM_BLOCK, 0, planes, 5, back, DIAG), GPUMP_ERROR_FORMAT,
              "bytes", 0, 5, 6, 6);
    planes[0] = 1; /* a register that is live asks for more only when all planes are there */
    diagnosed(gpump_compress_restore(&layout, GPUMP_COMPRESS_FORM_BLOCK, 0, planes, 5, back, DIAG), GPUMP_ERROR_FORMAT,
              "bytes", 0, 5, 6, 6);
}

/* Registers that no pattern fits: WARP takes what LIVE takes and a tag per warp, and nothing past the bound changes. */
static void random_registers_cost_a_tag(void **state) {
    static const uint32_t paths[] = {0, GPUMP_COMPRESS_AVX2, GPUMP_COMPRESS_PLAIN};
    static unsigned char out[ROOM + 64];
    uint64_t random = 1;
    (void)state;
    for (uint32_t i = 0; i < 33 * 32; i++) values[i] = (uint32_t)gpump_random_next(&random) * 2u + i % 2u;
    for (uint32_t registers = 1; registers <= 33; registers++)
        for (uint32_t p = 0; p < 3; p++) {
            gpump_compress_layout layout;
            size_t bound, bytes, live_bytes;
            uint32_t form;
            assert_int_equal(gpump_compress_layout_init(&layout, 32, registers, 32, 32, NULL), GPUMP_OK);
            assert_int_equal(gpump_compress_bound(&layout, &bound, NULL), GPUMP_OK);
            memset(out, 0xee, sizeof out);
            assert_int_equal(gpump_compress_save(&layout, values, NULL, GPUMP_COMPRESS_ALLOW_LIVE | paths[p], out,
                                                 bound, &live_bytes, &form, NULL),
                             GPUMP_OK);
            assert_int_equal(live_bytes, (registers + 7) / 8 + registers * 128);
            assert_int_equal(gpump_compress_save(&layout, values, NULL, GPUMP_COMPRESS_ALLOW_WARP | paths[p], out,
                                                 bound, &bytes, &form, NULL),
                             GPUMP_OK);
            assert_int_equal(bytes, 1 + live_bytes);
            for (size_t i = bound; i < bound + 64; i++) assert_int_equal(out[i], 0xee);
        }
}

/* A block of one group has no second base: whatever it holds in equal steps is global. */
static void one_group_is_global(void **state) {
    (void)state;
    for (uint32_t stride = 0; stride < 3; stride++)
        for (uint32_t threads = 64; threads >= 32; threads -= 32) {
            gpump_compress_layout layout;
            assert_int_equal(gpump_compress_layout_init(&layout, threads, 1, 32, 32, NULL), GPUMP_OK);
            /* two groups of strides 0 and 5, then the first of them alone */
            for (uint32_t i = 0; i < threads; i++) values[i] = 9 + i * (i < 32 ? stride : 5);
            assert_int_equal(gpumpi_compress_classify_block(&layout, values, 0),
                             threads > 32 ? GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED
                             : stride     ? GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED
                                          : GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM);
        }
}

/* Stores around the caches want registers at multiples of 32 bytes: others are written as without the flag. */
static void stores_around_the_caches_want_aligned_registers(void **state) {
    static uint32_t room[2 * 3 * 48 + 16];
    uint32_t *back = room + (64 - (uintptr_t)room % 64) % 64 / 4;
    unsigned char out[2 * 2 * 32 * 4 + 64];
    uint64_t random = 2;
    (void)state;
    for (uint32_t i = 0; i < 2 * 2 * 32; i++) values[i] = (uint32_t)gpump_random_next(&random);
    for (uint32_t stride = 32; stride <= 48; stride++)
        for (uint32_t extra = 0; extra <= 8; extra++) {
            gpump_compress_layout layout;
            size_t bytes;
            uint32_t form;
            assert_int_equal(gpump_compress_layout_init(&layout, 64, 2, 32, 32, NULL), GPUMP_OK);
            assert_int_equal(gpump_compress_save(&layout, values, NULL, GPUMP_COMPRESS_ALLOW_WARP, out, sizeof out,
                                                 &bytes, &form, NULL),
                             GPUMP_OK);
            layout.register_stride = stride;
            layout.warp_stride = 2 * 48 + extra;
            memset(room, 0, sizeof room);
            assert_int_equal(gpump_compress_restore(&layout, form, GPUMP_COMPRESS_AROUND, out, bytes, back, NULL),
                             GPUMP_OK);
            for (uint32_t i = 0; i < 2 * 2 * 32; i++)
                assert_int_equal(back[i / 64 * layout.warp_stride + i / 32 % 2 * stride + i % 32], values[i]);
        }
}

/* A tag or a code of what is not there is refused with its byte; with 8 warps every tag is of one that is. */
static void tags_of_missing_warps_are_refused_with_their_byte(void **state) {
    gpump_compress_layout layout;
    uint32_t back[8 * 32];
    unsigned char in[16];
    (void)state;
    for (uint32_t warps = 1; warps <= 8; warps++) {
        assert_int_equal(gpump_compress_layout_init(&layout, warps * 32, 1, 32, 32, NULL), GPUMP_OK);
        memset(in, 0, sizeof in); /* the live mask of each warp, which says that its register is dead */
        in[0] = (unsigned char)((1u << warps) - 1);
        assert_int_equal(gpump_compress_restore(&layout, GPUMP_COMPRESS_FORM_WARP, 0, in, 1 + warps, back, NULL),
                         GPUMP_OK);
        if (warps == 8) break;
        in[0] = 0x80;
        diagnosed(gpump_compress_restore(&layout, GPUMP_COMPRESS_FORM_WARP, 0, in, 1 + warps, back, DIAG),
                  GPUMP_ERROR_FORMAT, "tags", 0, 0x80, 0, 0);
    }
    assert_int_equal(gpump_compress_layout_init(&layout, 32, 1, 32, 32, NULL), GPUMP_OK);
    in[0] = 0x11; /* NEAR: a code for a second register, of which there is none */
    diagnosed(gpump_compress_restore(&layout, GPUMP_COMPRESS_FORM_NEAR, 0, in, 9, back, DIAG), GPUMP_ERROR_FORMAT,
              "patterns", 0, 0x11, 0, 0);
}

/* NEAR: what a register was in the warp before counts only where it was live there. */
static void near_after_a_dead_register(void **state) {
    (void)state;
    for (uint32_t code = 4; code <= 5; code++)
        for (uint32_t dead = 0; dead < 2; dead++) {
            gpump_compress_layout layout;
            uint32_t back[2 * 2 * 32];
            unsigned char in[20] = {0};
            const size_t bytes = 1 + 4 + 1 + 4 + (code == 5 ? 4 : 0);
            assert_int_equal(gpump_compress_layout_init(&layout, 64, 2, 32, 32, NULL), GPUMP_OK);
            in[0] = dead ? 0x01 : 0x10; /* one register is uniform, the other dead */
            in[5] = (unsigned char)(dead ? 0x01 | code << 4 : 0x10 | code);
            assert_int_equal(
                gpump_compress_restore(&layout, GPUMP_COMPRESS_FORM_NEAR, 0, in, bytes, back, diagnosed_fresh()),
                GPUMP_ERROR_FORMAT);
            assert_string_equal(diagnosed_diag.field, "patterns");
            assert_int_equal(diagnosed_diag.index, 1);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_count_of_lanes),
        cmocka_unit_test(every_size_of_a_group_comes_back),
        cmocka_unit_test(block_says_how_short_it_is),
        cmocka_unit_test(random_registers_cost_a_tag),
        cmocka_unit_test(one_group_is_global),
        cmocka_unit_test(stores_around_the_caches_want_aligned_registers),
        cmocka_unit_test(tags_of_missing_warps_are_refused_with_their_byte),
        cmocka_unit_test(near_after_a_dead_register),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
