/* labels: unit property */
/* Register compression: the paper's own examples, the format byte by byte, round trips, both code paths, hostile bytes.
 */
#include "context/compress_cases.h"

/* A 16 x 16 block in warps of 32: what the code of Lin Fig 2.7 holds in its registers. */
enum { TY, TX, I, INDEX, ADDRESS, TMP, EXAMPLES };
static void example_block(gpump_compress_layout *layout, uint32_t *values) {
    uint32_t thread;
    uint64_t random = 7;
    assert_int_equal(gpump_compress_layout_init(layout, 256, EXAMPLES, 32, 16, NULL), GPUMP_OK);
    assert_int_equal(layout->group, 16);
    assert_int_equal(layout->warps, 8);
    for (thread = 0; thread < 256; thread++) {
        uint32_t tx = thread % 16, ty = thread / 16, *v = values + (thread / 32) * layout->warp_stride + thread % 32;
        v[TY * 32] = ty;
        v[TX * 32] = tx;
        v[I * 32] = 3;
        v[INDEX * 32] = ty * 16 + tx;
        v[ADDRESS * 32] = 0x400u + 4 * (ty * 16 + tx);
        v[TMP * 32] = (uint32_t)gpump_random_next(&random);
    }
}

/* Uniform, strided and random registers of the paper's example are classified, and take the bytes, as the paper's text
 * says. */
static void the_papers_examples_compress_as_printed(void **state) {
    gpump_compress_layout layout;
    uint32_t values[EXAMPLES * 256];
    gpump_compress_counts counts;
    (void)state;
    example_block(&layout, values);
    assert_int_equal(gpumpi_compress_classify(values + TY * 32, 32, 16), GPUMP_COMPRESS_UNIFORM);
    assert_int_equal(gpumpi_compress_classify(values + TX * 32, 32, 16), GPUMP_COMPRESS_STRIDED);
    assert_int_equal(gpumpi_compress_classify(values + I * 32, 32, 16), GPUMP_COMPRESS_UNIFORM);
    assert_int_equal(gpumpi_compress_classify(values + TMP * 32, 32, 16), GPUMP_COMPRESS_RANDOM);
    /* At the width of the vector register, ty and tx are random: what the group of 16 is for. */
    assert_int_equal(gpumpi_compress_classify(values + TY * 32, 32, 32), GPUMP_COMPRESS_RANDOM);
    assert_int_equal(gpumpi_compress_classify(values + TX * 32, 32, 32), GPUMP_COMPRESS_RANDOM);
    assert_int_equal(gpumpi_compress_classify_block(&layout, values, TY), GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM);
    assert_int_equal(gpumpi_compress_classify_block(&layout, values, TX), GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED);
    assert_int_equal(gpumpi_compress_classify_block(&layout, values, I), GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM);
    assert_int_equal(gpumpi_compress_classify_block(&layout, values, INDEX), GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED);
    assert_int_equal(gpumpi_compress_classify_block(&layout, values, ADDRESS), GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED);
    assert_int_equal(gpumpi_compress_classify_block(&layout, values, TMP), GPUMP_COMPRESS_BLOCK_RANDOM);
    assert_int_equal(gpump_compress_count(&layout, values, NULL, GPUMP_COMPRESS_PAPER, &counts, NULL), GPUMP_OK);
    assert_int_equal(counts.bytes[GPUMP_COMPRESS_FORM_RAW], EXAMPLES * 1024);
    /* Per warp: ty, i: 2 words; tx, index, address: 4; tmp: 32; two bits each; one tag byte. */
    assert_int_equal(counts.bytes[GPUMP_COMPRESS_FORM_WARP], 1 + 8 * (2 + (2 * 2 + 3 * 4 + 32) * 4));
    /* Block: ty 16 words, tx 32, i 1, index 2, address 2, tmp 256; three planes of a byte. */
    assert_int_equal(counts.bytes[GPUMP_COMPRESS_FORM_BLOCK], 3 + (16 + 32 + 1 + 2 + 2 + 256) * 4);
    /* Ours: ty and tx as grids of 3 words. */
    assert_int_equal(gpump_compress_count(&layout, values, NULL, 0, &counts, NULL), GPUMP_OK);
    assert_int_equal(counts.bytes[GPUMP_COMPRESS_FORM_BLOCK], 3 + (3 + 3 + 1 + 2 + 2 + 256) * 4);
    assert_int_equal(counts.warp[GPUMP_COMPRESS_UNIFORM], 16);
    assert_int_equal(counts.warp[GPUMP_COMPRESS_STRIDED], 24);
    assert_int_equal(counts.warp[GPUMP_COMPRESS_RANDOM], 8);
}

/* The block rules as the paper prints them (2.3.3): global strided asks that the base vector's stride equals the stride
 * in the stride vector; local uniform asks for a stride vector that is zero-uniform and not uniform, which nothing is.
 */
static uint32_t printed_rule(const uint32_t *base, const uint32_t *stride, uint32_t n) {
    uint32_t i, base_uniform = 1, base_strided = 1, stride_uniform = 1;
    for (i = 1; i < n; i++) {
        base_uniform &= base[i] == base[0];
        base_strided &= base[i] - base[i - 1] == base[1] - base[0];
        stride_uniform &= stride[i] == stride[0];
    }
    if (base_uniform && stride_uniform && stride[0] == 0) return GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM;
    if (stride_uniform && stride[0] == 0 && !stride_uniform) return GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM;
    if (base_strided && stride_uniform && stride[0] != 0 && base[1] - base[0] == stride[0])
        return GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED;
    return GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED;
}

/* The rules as the paper prints them classify the examples of its own text wrongly, which is why ours differ. */
static void printed_rules_fail_on_the_papers_examples(void **state) {
    uint32_t base[16], stride[16], g;
    (void)state;
    for (g = 0; g < 16; g++) { /* ty * 16 + tx, which the text calls global strided */
        base[g] = 16 * g;
        stride[g] = 1;
    }
    assert_int_equal(printed_rule(base, stride, 16), GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED);
    for (g = 0; g < 16; g++) { /* ty, which the text calls local uniform */
        base[g] = g;
        stride[g] = 0;
    }
    assert_int_equal(printed_rule(base, stride, 16), GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED);
    /* Where the printed rule does say global strided, the register is not: 0..15, 1..16, 2..17, ... */
    for (g = 0; g < 16; g++) {
        base[g] = g;
        stride[g] = 1;
    }
    assert_int_equal(printed_rule(base, stride, 16), GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED);
}

/* Groups that do not divide the lanes, or are below the paper's smallest, become all lanes; sizes follow. */
static void groups_divide_the_lanes(void **state) {
    gpump_compress_layout layout;
    gpump_diag diag;
    char text[200];
    (void)state;
    assert_int_equal(gpumpi_compress_group(32, 16), 16);
    assert_int_equal(gpumpi_compress_group(32, 8), 8);
    assert_int_equal(gpumpi_compress_group(32, 4), 32); /* below the paper's smallest */
    assert_int_equal(gpumpi_compress_group(32, 1), 32);
    assert_int_equal(gpumpi_compress_group(32, 12), 32);  /* does not divide */
    assert_int_equal(gpumpi_compress_group(32, 256), 32); /* the paper's "lowest dimension" of 256 x 1 would be 1 */
    assert_int_equal(gpumpi_compress_group(64, 16), 16);
    assert_int_equal(gpumpi_compress_pattern_bits(64), 128); /* Lin 2.4.2 */
    assert_int_equal(gpump_compress_layout_init(&layout, 100, 10, 32, 100, NULL), GPUMP_OK);
    assert_int_equal(layout.warps, 4);
    assert_int_equal(layout.last_lanes, 4);
    assert_int_equal(gpump_compress_layout_init(&layout, 0, 10, 32, 100, &diag), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_compress_layout_init(&layout, 100, 257, 32, 100, &diag), GPUMP_ERROR_ARGUMENT);
    gpump_diag_text(&diag, text, sizeof text);
    assert_non_null(strstr(text, "registers"));
    assert_non_null(strstr(text, "257"));
}

/* Reads the format as compress.h describes it, word by word, slowly; used to check the bytes, not the code. */
static uint32_t slow_word(const unsigned char *p) { return p[0] + 256u * p[1] + 65536u * p[2] + 16777216u * p[3]; }
/* Four registers of two groups, one of them dead, byte by byte. */
static void the_compressed_form_by_hand(void **state) {
    gpump_compress_layout layout;
    uint32_t values[4 * 32], i, form;
    uint64_t live = 0xb; /* register 2 is dead */
    unsigned char out[1000];
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_compress_layout_init(&layout, 32, 4, 32, 16, NULL), GPUMP_OK);
    for (i = 0; i < 32; i++) {
        values[i] = i < 16 ? 0x01020304u : 0x05060708u;
        values[32 + i] = 1000 + (i % 16) * (i < 16 ? 4u : 0xfffffff0u);
        values[64 + i] = 77;
        values[96 + i] = i * i;
    }
    assert_int_equal(
        gpump_compress_save(&layout, values, &live, GPUMP_COMPRESS_ALLOW_WARP, out, sizeof out, &bytes, &form, NULL),
        GPUMP_OK);
    assert_int_equal(form, GPUMP_COMPRESS_FORM_WARP);
    assert_int_equal(bytes, 1 + 1 + 8 + 16 + 128);
    assert_int_equal(out[0], 0);                                /* no warp is tagged */
    assert_int_equal(out[1], 1u | 3u << 2 | 0u << 4 | 2u << 6); /* uniform, strided, dead, random */
    assert_memory_equal(out + 2, "\x04\x03\x02\x01\x08\x07\x06\x05", 8);
    assert_int_equal(slow_word(out + 10), 1000);
    assert_int_equal(slow_word(out + 14), 1000);
    assert_int_equal(slow_word(out + 18), 4);
    assert_int_equal(slow_word(out + 22), 0xfffffff0u);
    for (i = 0; i < 32; i++) assert_int_equal(slow_word(out + 26 + 4 * i), i * i);
    assert_int_equal(
        gpump_compress_save(&layout, values, &live, GPUMP_COMPRESS_ALLOW_LIVE, out, sizeof out, &bytes, &form, NULL),
        GPUMP_OK);
    assert_int_equal(bytes, 1 + 3 * 128);
    assert_int_equal(out[0], 0xb);
    assert_int_equal(slow_word(out + 1 + 128 + 4), 1004);
    /* As a block of one warp: local uniform would be 2 words, a grid 3, so local uniform stays; the second is local
     * strided. */
    assert_int_equal(
        gpump_compress_save(&layout, values, &live, GPUMP_COMPRESS_ALLOW_BLOCK, out, sizeof out, &bytes, &form, NULL),
        GPUMP_OK);
    assert_int_equal(bytes, 3 + 8 + 16 + 128);
    assert_int_equal(out[0], 1u | 0u | 8u); /* plane 0: codes 3, 4, 0, 5 */
    assert_int_equal(out[1], 1u);
    assert_int_equal(out[2], 2u | 8u);
}

/* NEAR, byte by byte: two warps of eight registers, the second of them partly filled. */
static void near_by_hand(void **state) {
    gpump_compress_layout layout;
    uint32_t values[2 * 8 * 32], back[2 * 8 * 32], w, i, form;
    uint64_t live[2] = {0x7f, 0xff};
    unsigned char out[2000];
    const unsigned char *at;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_compress_layout_init(&layout, 32 + 5, 8, 32, 32, NULL), GPUMP_OK);
    layout.live_stride = 1;
    for (w = 0; w < 2; w++)
        for (i = 0; i < 32; i++) {
            uint32_t *v = values + w * 256 + i;
            v[0] = 7;                          /* again, by 0 */
            v[32] = 100 + 4 * i + 1000 * w;    /* moved by 1000 */
            v[64] = 0x3f800000u + i * i % 200; /* one byte, then again */
            v[96] = 0xfffffff0u + 256 * (i * i % 50) +
                    w * i;            /* two bytes, wrapping; in the second warp no constant above the first */
            v[128] = i * i * i * 500; /* three bytes, then again */
            v[160] = i * 0x9e3779b1u * (i + 1); /* raw, then again */
            v[192] = w ? 5 : i * 3;             /* strided, then uniform */
            v[224] = 9;                         /* dead in the first warp, uniform in the second */
        }
    assert_int_equal(
        gpump_compress_save(&layout, values, live, GPUMP_COMPRESS_ALLOW_NEAR, out, sizeof out, &bytes, &form, NULL),
        GPUMP_OK);
    assert_int_equal(form, GPUMP_COMPRESS_FORM_NEAR);
    assert_memory_equal(out, "\x31\x76\x28\x03", 4);
    at = out + 4;
    assert_int_equal(slow_word(at), 7);
    assert_int_equal(slow_word(at + 4), 100);
    assert_int_equal(slow_word(at + 8), 4);
    assert_int_equal(slow_word(at + 12), 0x3f800000u);
    for (i = 0; i < 32; i++) assert_int_equal(at[16 + i], i * i % 200);
    assert_int_equal(slow_word(at + 48), 0xfffffff0u);
    for (i = 0; i < 32; i++) assert_int_equal(at[52 + 2 * i] + 256 * at[53 + 2 * i], 256 * (i * i % 50));
    assert_int_equal(slow_word(at + 116), 0);
    for (i = 0; i < 32; i++)
        assert_int_equal(at[120 + 3 * i] + 256 * at[121 + 3 * i] + 65536 * at[122 + 3 * i], i * i * i * 500);
    for (i = 0; i < 32; i++) assert_int_equal(slow_word(at + 216 + 4 * i), i * 0x9e3779b1u * (i + 1));
    assert_int_equal(slow_word(at + 344), 0);
    assert_int_equal(slow_word(at + 348), 3);
    at += 352;
    assert_memory_equal(at, "\x54\x74\x44\x11", 4);
    assert_int_equal(slow_word(at + 4), 1000);
    assert_int_equal(slow_word(at + 8), 0xfffffff0u);
    for (i = 0; i < 5; i++) assert_int_equal(at[12 + 2 * i] + 256 * at[13 + 2 * i], 256 * (i * i % 50) + i);
    assert_int_equal(slow_word(at + 22), 5);
    assert_int_equal(slow_word(at + 26), 9);
    assert_int_equal(bytes, (size_t)(at + 30 - out));
    memset(back, 0, sizeof back);
    assert_int_equal(gpump_compress_restore(&layout, form, 0, out, bytes, back, NULL), GPUMP_OK);
    for (i = 0; i < 7 * 32; i++) assert_int_equal(back[i], values[i]);
    for (i = 0; i < 32; i++) assert_int_equal(back[224 + i], 0);
    for (w = 0; w < 8; w++)
        for (i = 0; i < 32; i++) assert_int_equal(back[256 + w * 32 + i], i < 5 ? values[256 + w * 32 + i] : 0);
    /* A code that does not exist, and one that refers to a register that was dead. */
    out[0] = 0x91;
    assert_int_equal(gpump_compress_restore(&layout, form, 0, out, bytes, back, NULL), GPUMP_ERROR_FORMAT);
    out[0] = 0x31;
    out[4 + 352 + 3] = 0x41;
    assert_int_equal(gpump_compress_restore(&layout, form, 0, out, bytes - 4, back, NULL), GPUMP_ERROR_FORMAT);
    out[0] = 0x34;
    assert_int_equal(gpump_compress_restore(&layout, form, 0, out, bytes, back, NULL), GPUMP_ERROR_FORMAT);
    /* With PAPER there is no such form. */
    assert_int_equal(gpump_compress_save(&layout, values, live, GPUMP_COMPRESS_ALLOW_NEAR | GPUMP_COMPRESS_PAPER, out,
                                         sizeof out, &bytes, &form, NULL),
                     GPUMP_ERROR_ARGUMENT);
}

/* A compressed context is never larger than the raw one, and a buffer that is too small is refused. */
static void never_larger_than_raw(void **state) {
    gpump_compress_layout layout;
    uint32_t values[8 * 7 * 32], i, form;
    unsigned char out[sizeof values + 500];
    uint64_t random = test_seed();
    size_t bytes;
    (void)state;
    /* Seven registers of noise, as in the paper's BFS, where patterns only add bytes. */
    for (i = 0; i < 8 * 7 * 32; i++) values[i] = (uint32_t)gpump_random_next(&random);
    assert_int_equal(gpump_compress_layout_init(&layout, 256, 7, 32, 256, NULL), GPUMP_OK);
    assert_int_equal(
        gpump_compress_save(&layout, values, NULL, GPUMP_COMPRESS_ALLOW_ALL, out, sizeof out, &bytes, &form, NULL),
        GPUMP_OK);
    assert_int_equal(form, GPUMP_COMPRESS_FORM_RAW);
    assert_int_equal(bytes, sizeof values);
    assert_int_equal(gpump_compress_save(&layout, values, NULL, GPUMP_COMPRESS_ALLOW_WARP | GPUMP_COMPRESS_PAPER, out,
                                         sizeof out, &bytes, &form, NULL),
                     GPUMP_OK);
    assert_true(bytes > sizeof values);
    /* Wrong use. */
    assert_int_equal(gpump_compress_save(&layout, values, NULL, 0, out, sizeof out, &bytes, &form, NULL),
                     GPUMP_ERROR_ARGUMENT);
    assert_int_equal(
        gpump_compress_save(&layout, values, NULL, GPUMP_COMPRESS_ALLOW_RAW, out, 100, &bytes, &form, NULL),
        GPUMP_ERROR_CAPACITY);
    assert_true(bytes >= sizeof values && bytes <= sizeof out);
}

/* Registers that are saved in any form are restored bit for bit. */
static void what_is_saved_is_restored(void **state) {
    (void)state;
    compress_case_round_trips(test_cases(1000000));
}

/* Sizes without writing agree with what is written. */
static void sizes_without_writing_are_those_written(void **state) {
    uint64_t seed = test_seed(), random = seed, number, cases = test_cases(1500);
    compress_case c;
    (void)state;
    compress_case_init(&c);
    for (number = 0; number < cases; number++) {
        uint32_t flags = number & 1 ? GPUMP_COMPRESS_PAPER : 0, form, f, total = 0, live = 0, w, r;
        gpump_compress_counts counts;
        size_t bytes;
        compress_case_make(&c, &random);
        test_check(gpump_compress_count(&c.layout, c.values, c.live, flags, &counts, NULL) == GPUMP_OK, seed, number);
        for (f = 0; f < GPUMP_COMPRESS_FORMS; f++) {
            if (f == GPUMP_COMPRESS_FORM_NEAR && flags) continue; /* the paper has no such form */
            test_check(gpump_compress_save(&c.layout, c.values, c.live, 1u << f | flags, c.out, c.capacity, &bytes,
                                           &form, NULL) == GPUMP_OK,
                       seed, number);
            test_check(bytes == counts.bytes[f], seed, number);
        }
        for (f = 0; f < 4; f++) total += counts.warp[f];
        for (w = 0; w < c.layout.warps; w++)
            for (r = 0; r < c.layout.registers; r++) live += (uint32_t)compress_case_is_live(&c, w, r);
        test_check(total == c.layout.warps * c.layout.registers && counts.warp[0] == total - live, seed, number);
        for (total = 0, f = 0; f < 8; f++) total += counts.block[f];
        test_check(total == c.layout.registers, seed, number);
    }
    compress_case_free(&c);
}

/* Cut, lengthened, or with a bit flipped: either refused with nothing written, or read without leaving the buffers. */
static void altered_contexts_are_refused_or_read_within_their_buffers(void **state) {
    uint64_t seed = test_seed(), random = seed, number, cases = test_cases(4000), refused = 0;
    compress_case c;
    (void)state;
    compress_case_init(&c);
    for (number = 0; number < cases; number++) {
        uint32_t form, what = gpump_random_below(&random, 4);
        size_t bytes, words;
        unsigned char *exact;
        uint32_t *room;
        gpump_diag diag;
        gpump_result result;
        compress_case_make(&c, &random);
        if (c.layout.warps > 8) c.layout.warps = 8;
        words = (size_t)c.layout.warps * c.layout.warp_stride;
        test_check(gpump_compress_save(&c.layout, c.values, c.live,
                                       1u << gpump_random_below(&random, GPUMP_COMPRESS_FORMS), c.out, c.capacity,
                                       &bytes, &form, NULL) == GPUMP_OK,
                   seed, number);
        if (what == 0) bytes = gpump_random_below(&random, (uint32_t)bytes);
        if (what == 1) bytes += 1 + gpump_random_below(&random, 9);
        if (what == 2)
            c.out[gpump_random_below(&random, (uint32_t)(bytes < 40 ? bytes : 40))] ^=
                (unsigned char)(1u << gpump_random_below(&random, 8));
        if (what == 3) form = gpump_random_below(&random, 7);
        /* Exact allocations, so that the address sanitizer sees a step beyond either. */
        exact = malloc(bytes + 1);
        room = malloc(words * 4);
        test_check(exact && room, seed, number);
        memcpy(exact, c.out, bytes);
        memset(room, 0x5a, words * 4);
        result = gpump_compress_restore(&c.layout, form, 0, exact, bytes, room, &diag);
        test_check(result == GPUMP_OK || result == GPUMP_ERROR_FORMAT, seed, number);
        if (result != GPUMP_OK) {
            size_t i;
            refused++;
            for (i = 0; i < words; i++) test_check(room[i] == 0x5a5a5a5au, seed, number);
            test_check(diag.code == GPUMP_ERROR_FORMAT && diag.field, seed, number);
        }
        if (what == 0 || what == 1) test_check(result == GPUMP_ERROR_FORMAT, seed, number);
        free(exact);
        free(room);
    }
    assert_true(refused > cases / 2);
    compress_case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_examples_compress_as_printed),
        cmocka_unit_test(printed_rules_fail_on_the_papers_examples),
        cmocka_unit_test(groups_divide_the_lanes),
        cmocka_unit_test(the_compressed_form_by_hand),
        cmocka_unit_test(near_by_hand),
        cmocka_unit_test(never_larger_than_raw),
        cmocka_unit_test(what_is_saved_is_restored),
        cmocka_unit_test(sizes_without_writing_are_those_written),
        cmocka_unit_test(altered_contexts_are_refused_or_read_within_their_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
