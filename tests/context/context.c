/* labels: unit property */
#include "test.h"

enum { WARPS = 3, REGISTERS = 7, LANES = 32, SHARED = 100 };

typedef struct sample {
    gpump_context_block block;
    uint32_t values[WARPS][REGISTERS][LANES];
    unsigned char shared[SHARED];
    gpump_context_stack_entry stack[WARPS][4];
    uint32_t depth[WARPS];
    uint64_t predicates[4], exits[WARPS], barriers[2], local[1];
} sample;

static sample make_sample(uint64_t *random) {
    sample s;
    memset(&s, 0, sizeof s);
    for (uint32_t i = 0; i < 4; i++) (&s.block.cookie)[i] = gpump_random_next(random);
    for (uint32_t i = 0; i < 15; i++) (&s.block.kernel)[i] = (uint32_t)gpump_random_next(random);
    s.block.warps = WARPS;
    s.block.lanes = LANES;
    s.block.registers = REGISTERS;
    for (uint32_t w = 0; w < WARPS; w++) {
        for (uint32_t r = 0; r < REGISTERS; r++)
            for (uint32_t l = 0; l < LANES; l++)
                s.values[w][r][l] = r < 3 ? r * 100 + l * r : (uint32_t)gpump_random_next(random);
        s.depth[w] = 1 + gpump_random_below(random, 4);
        for (uint32_t i = 0; i < 4; i++) {
            s.stack[w][i].pc = (uint32_t)gpump_random_next(random);
            s.stack[w][i].reconvergence_pc = (uint32_t)gpump_random_next(random);
            s.stack[w][i].lanes = gpump_random_next(random);
        }
        s.exits[w] = gpump_random_next(random);
    }
    for (uint32_t i = 0; i < SHARED; i++) s.shared[i] = (unsigned char)gpump_random_next(random);
    for (uint32_t i = 0; i < 4; i++) s.predicates[i] = gpump_random_next(random);
    s.barriers[0] = 5;
    s.barriers[1] = 6;
    s.local[0] = UINT64_C(0x123456789abcdef0);
    return s;
}

enum {
    LEAVE_BLOCK = 1,
    LEAVE_REGISTERS = 2,
    LEAVE_SHARED = 4,
    LEAVE_STACKS = 8,
    COMPRESS = 16,
    COMPRESS_TOGETHER = 32,
    IN_PLACE = 64
};

static void write_sample(gpump_context_writer *writer, const sample *s, int how) {
    gpump_compress_layout layout;
    assert_int_equal(gpump_compress_layout_init(&layout, WARPS * LANES, REGISTERS, LANES, 32, NULL), GPUMP_OK);
    if (!(how & LEAVE_BLOCK)) gpump_context_put_block(writer, &s->block);
    if (how & IN_PLACE) {
        gpump_context_control control = {GPUMP_PART_SHARED_MEMORY, 3, {4, 5}, 0, 0, 1024, SHARED};
        gpumpi_context_put_control(writer, &control);
    }
    if (how & COMPRESS_TOGETHER)
        assert_int_equal(gpumpi_context_put_compressed(writer, GPUMP_NONE, &layout, &s->values[0][0][0], NULL,
                                                       GPUMP_COMPRESS_ALLOW_ALL, NULL),
                         GPUMP_OK);
    layout.warps = 1;
    for (uint32_t w = 0; w < WARPS; w++) {
        if (how & COMPRESS)
            assert_int_equal(gpumpi_context_put_compressed(writer, w, &layout, &s->values[w][0][0], NULL,
                                                           GPUMP_COMPRESS_ALLOW_ALL, NULL),
                             GPUMP_OK);
        else if (!(how & (LEAVE_REGISTERS | COMPRESS_TOGETHER)) || ((how & LEAVE_REGISTERS) && w != 1))
            gpump_context_put_registers(writer, w, &s->values[w][0][0], REGISTERS, LANES);
        if (!(how & LEAVE_STACKS) || w != 2) gpump_context_put_stack(writer, w, s->stack[w], s->depth[w]);
        gpump_context_put_words(writer, GPUMP_CONTEXT_PREDICATES, w, s->predicates, 4);
    }
    gpump_context_put_words(writer, GPUMP_CONTEXT_EXITS, 0, s->exits, WARPS);
    gpump_context_put_words(writer, GPUMP_CONTEXT_BARRIERS, 0, s->barriers, 2);
    gpump_context_put_words(writer, GPUMP_CONTEXT_LOCAL, 0, s->local, 1);
    if (!(how & (LEAVE_SHARED | IN_PLACE))) gpump_context_put(writer, GPUMP_CONTEXT_SHARED, 0, s->shared, SHARED);
    gpump_context_put(writer, GPUMP_CONTEXT_HOST + 7, 9, "mine", 4);
}

static unsigned char *write_new(const sample *s, int how, uint64_t *bytes) {
    gpump_context_writer writer;
    uint64_t needed;
    unsigned char *memory;
    assert_int_equal(gpump_context_begin(&writer, NULL, 0), GPUMP_OK);
    write_sample(&writer, s, how);
    assert_int_equal(gpump_context_end(&writer, &needed), GPUMP_ERROR_CAPACITY);
    memory = malloc(needed); /* exactly what was measured, so that the sanitizer sees a byte too much */
    gpump_context_begin(&writer, memory, needed);
    write_sample(&writer, s, how);
    assert_int_equal(gpump_context_end(&writer, bytes), GPUMP_OK);
    assert_true(*bytes <= needed);
    if (!(how & (COMPRESS | COMPRESS_TOGETHER))) assert_true(*bytes == needed);
    return memory;
}

/* Contexts of random blocks, raw, compressed and compressed together, are read back as they were written. */
static void everything_comes_back(void **state) {
    uint64_t seed = test_seed(), random = seed;
    (void)state;
    for (uint64_t n = 0; n < test_cases(200); n++) {
        sample s = make_sample(&random);
        uint64_t bytes;
        int how = n % 3 == 0 ? 0 : n % 3 == 1 ? COMPRESS : COMPRESS_TOGETHER;
        unsigned char *memory = write_new(&s, how, &bytes);
        gpump_context_reader reader;
        gpump_context_section section;
        gpump_context_block block;
        gpump_context_stack_entry stack[4];
        uint32_t values[REGISTERS][LANES], all[WARPS][REGISTERS][LANES], count;
        uint64_t words[8];
        gpump_compress_layout layout;
        assert_int_equal(gpump_compress_layout_init(&layout, WARPS * LANES, REGISTERS, LANES, 32, NULL), GPUMP_OK);
        test_check(gpump_context_open(&reader, memory, bytes, NULL) == GPUMP_OK, seed, n);
        test_check(gpump_context_missing(&reader, SHARED) == 0, seed, n);
        test_check(gpump_context_get_block(&reader, &block) == GPUMP_OK && !memcmp(&block, &s.block, sizeof block),
                   seed, n);
        if (how == COMPRESS_TOGETHER) {
            test_check(gpumpi_context_get_compressed(&reader, GPUMP_NONE, &layout, &all[0][0][0], NULL) == GPUMP_OK,
                       seed, n);
            test_check(!memcmp(all, s.values, sizeof all), seed, n);
        }
        layout.warps = 1;
        for (uint32_t w = WARPS; w--;) { /* out of order, too */
            if (how == 0)
                test_check(gpump_context_get_registers(&reader, w, &values[0][0], REGISTERS, LANES) == GPUMP_OK, seed,
                           n);
            if (how == COMPRESS)
                test_check(gpumpi_context_get_compressed(&reader, w, &layout, &values[0][0], NULL) == GPUMP_OK, seed,
                           n);
            if (how != COMPRESS_TOGETHER) test_check(!memcmp(values, s.values[w], sizeof values), seed, n);
            test_check(gpump_context_get_stack(&reader, w, stack, 4, &count) == GPUMP_OK && count == s.depth[w], seed,
                       n);
            test_check(!memcmp(stack, s.stack[w], count * sizeof *stack), seed, n);
        }
        test_check(gpump_context_get_words(&reader, GPUMP_CONTEXT_EXITS, 0, words, 8, &count) == GPUMP_OK &&
                       count == WARPS,
                   seed, n);
        test_check(!memcmp(words, s.exits, sizeof s.exits), seed, n);
        test_check(gpump_context_find(&reader, GPUMP_CONTEXT_SHARED, 0, &section) == GPUMP_OK &&
                       section.bytes == SHARED,
                   seed, n);
        test_check(!memcmp(section.payload, s.shared, SHARED), seed, n);
        test_check(gpump_context_find(&reader, GPUMP_CONTEXT_HOST + 7, 9, &section) == GPUMP_OK &&
                       !memcmp(section.payload, "mine", 4),
                   seed, n);
        test_check(gpumpi_context_unknown_sections(&reader) == 0, seed, n);
        free(memory);
    }
}

/* A context from which a part is missing names that part, unless the part was left in place or belongs to an ended
 * warp. */
static void what_is_missing_is_named(void **state) {
    uint64_t random = 5, bytes;
    sample s = make_sample(&random);
    static const int how[] = {LEAVE_BLOCK, LEAVE_REGISTERS, LEAVE_SHARED, LEAVE_STACKS};
    static const uint32_t missing[] = {GPUMP_PART_BLOCK, GPUMP_PART_REGISTERS, GPUMP_PART_SHARED_MEMORY,
                                       GPUMP_PART_STACKS};
    gpump_context_reader reader;
    gpump_context_control control;
    unsigned char *memory;
    (void)state;
    for (int i = 0; i < 4; i++) {
        memory = write_new(&s, how[i], &bytes);
        assert_int_equal(gpump_context_open(&reader, memory, bytes, NULL), GPUMP_OK);
        assert_int_equal(gpump_context_missing(&reader, SHARED), missing[i]);
        free(memory);
    }
    /* a warp that has ended needs no registers: the one left out */
    s.depth[1] = 0;
    memory = write_new(&s, LEAVE_REGISTERS, &bytes);
    assert_int_equal(gpump_context_open(&reader, memory, bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_context_missing(&reader, SHARED), 0);
    free(memory);
    /* a partial context: registers in memory, shared memory in place */
    memory = write_new(&s, IN_PLACE | COMPRESS, &bytes);
    assert_int_equal(gpump_context_open(&reader, memory, bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_context_missing(&reader, SHARED), 0);
    assert_int_equal(gpumpi_context_get_control(&reader, &control), GPUMP_OK);
    assert_int_equal(control.in_place, GPUMP_PART_SHARED_MEMORY);
    assert_int_equal(control.shared_base, 1024);
    assert_int_equal(control.block.generation, 5);
    free(memory);
}

/* Fixed byte order and layout: these bytes must never change for version 2. */
static void the_bytes_are_these(void **state) {
    static const unsigned char expected[] = {
        'g', 'p', 'u',  'm',  'p',  'c',  't',  'x',  2,    0,    0,    0,    2,    0,    0,    0, 96, 0,    0, 0, 0, 0,
        0,   0,   0x52, 0x16, 0x78, 0xd4, 0x46, 0x4e, 0xfc, 0x2a, /* checksum */
        0,   0,   0,    0,    0,    0,    0,    0,    2,    0,    0,    0,    5,    0,    0,    0, 16, 0,    0, 0, 0, 0,
        0,   0,   1,    0,    0,    0,    2,    0,    0,    0,    0x78, 0x56, 0x34, 0x12, 0xff, 0, 0,  0x80, 4, 0, 0, 0,
        0,   0,   0,    0,    3,    0,    0,    0,    0,    0,    0,    0,    'a',  'b',  'c',  0, 0,  0,    0, 0};
    const uint32_t values[2] = {0x12345678, 0x800000ff};
    unsigned char memory[96];
    gpump_context_writer writer;
    uint64_t bytes;
    (void)state;
    gpump_context_begin(&writer, memory, sizeof memory);
    gpump_context_put_registers(&writer, 5, values, 1, 2);
    gpump_context_put(&writer, GPUMP_CONTEXT_SHARED, 0, "abc", 3);
    assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
    assert_int_equal(bytes, sizeof expected);
    assert_memory_equal(memory, expected, sizeof expected);
}

/* A context that is cut anywhere, or of which a byte differs, is refused with what is wrong. */
static void damage_is_refused(void **state) {
    uint64_t seed = test_seed(), random = seed, bytes;
    sample s = make_sample(&random);
    unsigned char *memory = write_new(&s, COMPRESS, &bytes);
    gpump_context_reader reader;
    gpump_diag diag;
    (void)state;
    for (uint64_t length = 0; length < bytes; length++) { /* truncated anywhere */
        unsigned char *cut = malloc(length + 1);
        memcpy(cut, memory, length);
        diag.field = NULL;
        test_check(gpump_context_open(&reader, cut, length, &diag) == GPUMP_ERROR_FORMAT, seed, length);
        test_check(diag.field && strstr(diag.field, "truncated"), seed, length);
        free(cut);
    }
    for (uint64_t bit = 0; bit < bytes * 8; bit++) { /* any one bit changed */
        memory[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        test_check(gpump_context_open(&reader, memory, bytes, NULL) == GPUMP_ERROR_FORMAT, seed, bit);
        memory[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    }
    assert_int_equal(gpump_context_open(&reader, memory, bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_context_open(&reader, memory, bytes + 0, NULL), GPUMP_OK);
    memory[8] = 1; /* the version before */
    assert_int_equal(gpump_context_open(&reader, memory, bytes, &diag), GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "version");
    assert_int_equal(diag.index, 8);
    assert_int_equal(gpump_context_open(&reader, NULL, 10, &diag), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_context_open(&reader, "what is this? not a context, whatever it may be", 47, &diag),
                     GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "magic");
    free(memory);
}

/* A context in which two words of 64 bits differ in any way is refused: exchanged words and halves, one bit turned in
 * each, a number taken from one and added to the other. The lengths stay as they were, so that the checksum decides. */
static void two_changed_words_are_refused(void **state) {
    enum { WORDS = 1200 };
    static uint64_t words[WORDS], memory[WORDS + 10];
    uint64_t seed = test_seed(), random = seed, bytes;
    unsigned char *at = (unsigned char *)memory + 40 + 16;
    gpump_context_writer writer;
    gpump_context_reader reader;
    (void)state;
    for (uint32_t i = 0; i < WORDS; i++) words[i] = gpump_random_below(&random, 4) ? gpump_random_next(&random) : 0;
    gpump_context_begin(&writer, memory, sizeof memory);
    gpump_context_put(&writer, GPUMP_CONTEXT_SHARED, 0, words, sizeof words);
    assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
    assert_int_equal(gpump_context_open(&reader, memory, bytes, NULL), GPUMP_OK);
    for (uint64_t i = 0; i < test_cases(20000); i++) {
        const uint32_t first = gpump_random_below(&random, WORDS);
        const uint32_t apart = 8 * gpump_random_below(&random, WORDS / 8) + !gpump_random_below(&random, 4);
        const uint32_t second = (first + apart) % WORDS, bit = gpump_random_below(&random, 64);
        uint64_t one, two, was[2];
        memcpy(&was[0], at + first * 8, 8);
        memcpy(&was[1], at + second * 8, 8);
        one = was[0];
        two = was[1];
        switch (gpump_random_below(&random, 4)) {
        case 0: one = was[1], two = was[0]; break;
        case 1: one ^= UINT64_C(1) << bit, two ^= UINT64_C(1) << bit; break;
        case 2: one += UINT64_C(1) << bit, two -= UINT64_C(1) << bit; break;
        default: one = was[0] << 32 | was[0] >> 32, two = was[1] << 32 | was[1] >> 32; break;
        }
        if (first == second || (one == was[0] && two == was[1])) continue;
        memcpy(at + first * 8, &one, 8);
        memcpy(at + second * 8, &two, 8);
        test_check(gpump_context_open(&reader, memory, bytes, NULL) == GPUMP_ERROR_FORMAT, seed, i);
        memcpy(at + first * 8, &was[0], 8);
        memcpy(at + second * 8, &was[1], 8);
    }
    assert_int_equal(gpump_context_open(&reader, memory, bytes, NULL), GPUMP_OK);
}

/* A context whose sections of the same length are exchanged, or in which a stretch has moved, is refused. */
static void moved_stretches_are_refused(void **state) {
    enum { BYTES = 3080, SECTIONS = 4 };
    static unsigned char data[SECTIONS][BYTES], memory[40 + SECTIONS * (BYTES + 16)], other[sizeof memory];
    uint64_t seed = test_seed(), random = seed, bytes;
    gpump_context_writer writer;
    gpump_context_reader reader;
    (void)state;
    gpump_context_begin(&writer, memory, sizeof memory);
    for (uint32_t s = 0; s < SECTIONS; s++) {
        for (uint32_t i = 0; i < BYTES; i++) data[s][i] = (unsigned char)gpump_random_below(&random, 256);
        gpump_context_put(&writer, GPUMP_CONTEXT_HOST, s, data[s], BYTES);
    }
    assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
    assert_int_equal(bytes, sizeof memory);
    for (uint64_t i = 0; i < test_cases(2000); i++) {
        const uint32_t whole = gpump_random_below(&random, 2), length = whole ? BYTES + 16 : 8u << (i % 7);
        const uint32_t from = gpump_random_below(&random, SECTIONS), to = gpump_random_below(&random, SECTIONS);
        const uint32_t place = whole ? 0 : 16 + gpump_random_below(&random, BYTES - 512);
        const size_t a = 40 + (size_t)from * (BYTES + 16) + place, b = 40 + (size_t)to * (BYTES + 16) + place;
        memcpy(other, memory, sizeof memory);
        memcpy(other + a, memory + b, length);
        if (i & 1) memcpy(other + b, memory + a, length);
        if (!memcmp(other, memory, sizeof memory)) continue;
        test_check(gpump_context_open(&reader, other, bytes, NULL) == GPUMP_ERROR_FORMAT, seed, i);
    }
}

/* The bytes do not depend on when a section gets its content: at once, or by the caller behind later sections. */
static void reserved_sections_may_be_filled_late(void **state) {
    static unsigned char data[9000], now[20000], later[20000], *payload;
    uint64_t random = test_seed(), bytes, same;
    gpump_context_writer writer;
    gpump_context_reader reader;
    (void)state;
    for (uint32_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)gpump_random_below(&random, 256);
    gpump_context_begin(&writer, now, sizeof now);
    gpump_context_put(&writer, GPUMP_CONTEXT_HOST, 0, data, 100);
    gpump_context_put(&writer, GPUMP_CONTEXT_HOST, 1, data, 9000);
    gpump_context_put(&writer, GPUMP_CONTEXT_HOST, 2, data, 5000);
    assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
    gpump_context_begin(&writer, later, sizeof later);
    gpump_context_put(&writer, GPUMP_CONTEXT_HOST, 0, data, 100);
    payload = gpump_context_reserve(&writer, GPUMP_CONTEXT_HOST, 1, 9000);
    gpump_context_put(&writer, GPUMP_CONTEXT_HOST, 2, data, 5000);
    memcpy(payload, data, 9000);
    assert_int_equal(gpump_context_end(&writer, &same), GPUMP_OK);
    assert_int_equal(bytes, same);
    assert_memory_equal(now, later, bytes);
    assert_int_equal(gpump_context_open(&reader, later, same, NULL), GPUMP_OK);
}

/* A reader that verifies at the end reads the same bytes in any order, of any number of registers, and finds every
 * altered bit of what it has copied, of what it has not, and of the header. */
static void copying_verifies(void **state) {
    enum { MOST = 40, THREADS = 7 };
    static uint32_t values[4][MOST * THREADS], back[MOST * THREADS];
    static unsigned char memory[4 * (MOST * THREADS * 4 + 64) + 9000];
    static unsigned char shared[8000];
    uint64_t seed = test_seed(), random = seed, bytes;
    (void)state;
    for (uint64_t n = 0; n < test_cases(2000); n++) {
        const uint32_t warps = 1 + gpump_random_below(&random, 4), registers = gpump_random_below(&random, MOST + 1);
        const uint32_t extra = gpump_random_below(&random, 200), altered = gpump_random_below(&random, 2);
        gpump_context_writer writer;
        gpump_context_reader reader, opened;
        gpump_diag diag;
        uint64_t bit;
        for (uint32_t w = 0; w < warps; w++)
            for (uint32_t i = 0; i < MOST * THREADS; i++) values[w][i] = (uint32_t)gpump_random_next(&random);
        gpump_context_begin(&writer, memory, sizeof memory);
        for (uint32_t w = 0; w < warps; w++) {
            gpump_context_put_registers(&writer, w, values[w], registers, THREADS);
            if (gpump_random_below(&random, 2)) gpump_context_put(&writer, GPUMP_CONTEXT_HOST, w, shared, extra);
        }
        gpump_context_put(&writer, GPUMP_CONTEXT_SHARED, 0, shared, gpump_random_below(&random, sizeof shared));
        assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
        test_check(gpump_context_open(&opened, memory, bytes, NULL) == GPUMP_OK, seed, n);
        test_check(gpumpi_context_verify(&opened, NULL) == GPUMP_OK, seed, n);
        bit = gpump_random_below(&random, (uint32_t)bytes * 8);
        if (altered) memory[bit / 8] ^= (unsigned char)(1u << bit % 8);
        diag.field = NULL;
        if (gpump_context_open_unverified(&reader, memory, bytes, &diag)) { /* a length, or padding */
            test_check(altered && diag.field, seed, n);
            continue;
        }
        for (uint32_t i = 0; i < 6; i++) { /* some twice, some never */
            const uint32_t w = gpump_random_below(&random, 3) ? i % warps : gpump_random_below(&random, warps);
            if (!gpump_random_below(&random, 4)) continue;
            if (gpump_context_get_registers(&reader, w, back, registers, THREADS))
                test_check(altered, seed, n);
            else if (!altered)
                test_check(!memcmp(back, values[w], (size_t)registers * THREADS * 4), seed, n);
        }
        for (uint32_t twice = 0; twice < 2; twice++)
            test_check(gpumpi_context_verify(&reader, &diag) == (altered ? GPUMP_ERROR_FORMAT : GPUMP_OK), seed, n);
        if (altered) assert_string_equal(diag.field, "checksum");
    }
}

/* Reading registers, stacks or words of another number than were written is refused. */
static void reading_another_shape_is_refused(void **state) {
    uint64_t random = 3, bytes, words[2];
    sample s = make_sample(&random);
    unsigned char *memory = write_new(&s, 0, &bytes);
    gpump_context_reader reader;
    gpump_context_section section;
    gpump_context_stack_entry stack[1];
    gpump_context_control control;
    gpump_compress_layout layout;
    uint32_t values[REGISTERS * LANES], count, sections = 0;
    (void)state;
    s.depth[0] = 2;
    free(memory);
    memory = write_new(&s, 0, &bytes);
    assert_int_equal(gpump_context_open(&reader, memory, bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_context_get_registers(&reader, 0, values, REGISTERS, LANES - 1), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_context_get_registers(&reader, WARPS, values, REGISTERS, LANES), GPUMP_EMPTY);
    assert_int_equal(gpump_context_get_stack(&reader, 0, stack, 1, &count), GPUMP_ERROR_CAPACITY);
    assert_int_equal(count, 2);
    assert_int_equal(gpump_context_get_words(&reader, GPUMP_CONTEXT_EXITS, 0, words, 2, &count), GPUMP_ERROR_CAPACITY);
    assert_int_equal(count, WARPS);
    assert_int_equal(gpump_context_get_words(&reader, GPUMP_CONTEXT_SHARED, 0, words, 2, &count), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpumpi_context_get_control(&reader, &control), GPUMP_EMPTY);
    gpump_compress_layout_init(&layout, 32, REGISTERS, LANES, 32, NULL);
    assert_int_equal(gpumpi_context_get_compressed(&reader, 0, &layout, values, NULL), GPUMP_EMPTY);
    while (gpump_context_next(&reader, &section) == GPUMP_OK) sections++;
    sections = 0;
    while (gpump_context_next(&reader, &section) == GPUMP_OK) sections++;
    assert_int_equal(sections, reader.sections);
    free(memory);
}

/* Sections of a later version pass from buffer to buffer unread. */
static void unknown_sections_pass_through(void **state) {
    unsigned char first[400], second[400];
    gpump_context_writer writer;
    gpump_context_reader reader;
    gpump_context_section section;
    uint64_t bytes, again;
    (void)state;
    gpump_context_begin(&writer, first, sizeof first);
    gpump_context_put(&writer, 999, 1, "later", 5);
    gpump_context_put(&writer, GPUMP_CONTEXT_HOST, 0, "host", 4);
    gpump_context_put(&writer, GPUMP_CONTEXT_LOG, 0, NULL, 0);
    assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
    assert_int_equal(gpump_context_open(&reader, first, bytes, NULL), GPUMP_OK);
    assert_int_equal(gpumpi_context_unknown_sections(&reader), 1);
    gpump_context_begin(&writer, second, sizeof second);
    while (gpump_context_next(&reader, &section) == GPUMP_OK)
        gpump_context_put(&writer, section.type, section.index, section.payload, section.bytes);
    assert_int_equal(gpump_context_end(&writer, &again), GPUMP_OK);
    assert_int_equal(bytes, again);
    assert_memory_equal(first, second, bytes);
}

/* Entries of a replay queue, and the operands that they have logged, are parts that can be missing. */
static void missing_replay_entries_and_operands_are_noticed(void **state) {
    const uint32_t lanes = 4;
    for (uint32_t leave_out = 0; leave_out < 3; leave_out++) {
        static unsigned char memory[2000];
        /* a load that was issued (flags 1) with one log entry, and one that was not and will need one */
        const uint64_t queue[8] = {1, 0xf, (uint64_t)2 << 32 | 8, (uint64_t)1 << 32 | 1,
                                   2, 0xf, (uint64_t)2 << 32 | 9, 1};
        const uint64_t log[6] = {(uint64_t)1 << 32, lanes, 1, 2, 3, 4};
        gpump_context_block block;
        gpump_context_stack_entry top = {8, 0, 0xf};
        gpump_context_writer writer;
        gpump_context_reader reader;
        uint64_t bytes;
        (void)state;
        memset(&block, 0, sizeof block);
        block.warps = 1;
        block.lanes = lanes;
        block.replay_entries = 2;
        gpump_context_begin(&writer, memory, sizeof memory);
        gpump_context_put_block(&writer, &block);
        gpump_context_put_stack(&writer, 0, &top, 1);
        if (leave_out != 1) gpump_context_put_words(&writer, GPUMP_CONTEXT_REPLAY, 0, queue, 8);
        if (leave_out != 2) gpump_context_put_words(&writer, GPUMP_CONTEXT_LOG, 0, log, 6);
        assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
        assert_int_equal(gpump_context_open(&reader, memory, bytes, NULL), GPUMP_OK);
        assert_int_equal(gpump_context_missing(&reader, 0), leave_out == 0   ? 0
                                                            : leave_out == 1 ? GPUMP_PART_REPLAY
                                                                             : GPUMP_PART_LOG);
    }
}

/* A context pool hands out each address once, refuses when it is empty, and takes back what it gave. */
static void the_pool_is_finite(void **state) {
    gpump_context_pool_config config = {2, 70, 4096}, other;
    gpump_context_pool *pool, *copy;
    size_t size;
    void *memory;
    uint64_t context, first, hash;
    gpump_diag diag;
    (void)state;
    assert_int_equal(gpump_bytes(&gpump_context_pool_component, &config, &size, NULL), GPUMP_OK);
    memory = malloc(size);
    assert_int_equal(gpump_init(&gpump_context_pool_component, memory, size - 1, &config, &pool, &diag),
                     GPUMP_ERROR_CAPACITY);
    assert_int_equal(gpump_init(&gpump_context_pool_component, memory, size, &config, &pool, &diag), GPUMP_OK);
    assert_int_equal(gpump_context_pool_take(pool, 7, 1, &context), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_context_pool_room(pool, 7).contexts, 0);
    assert_int_equal(gpump_context_pool_open(pool, 7), GPUMP_OK);
    assert_int_equal(gpump_context_pool_open(pool, 7), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_context_pool_open(pool, 9), GPUMP_OK);
    assert_int_equal(gpump_context_pool_open(pool, 11), GPUMP_ERROR_FULL);
    assert_int_equal(gpump_context_pool_take(pool, 7, 4097, &context), GPUMP_ERROR_CAPACITY);
    assert_int_equal(gpump_bits(&gpump_context_pool_component, &config, &hash, NULL), GPUMP_OK);
    assert_int_equal(hash, 2 * (15 + 70));
    for (int i = 0; i < 70; i++) {
        assert_int_equal(gpump_context_pool_take(pool, 9, 4096, &context), GPUMP_OK);
        assert_int_equal(context, 70 + i);
    }
    hash = gpump_hash(&gpump_context_pool_component, pool);
    assert_int_equal(gpump_context_pool_take(pool, 9, 1, &context), GPUMP_ERROR_FULL);
    assert_int_equal(gpump_context_pool_close(pool, 9), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_context_pool_give(pool, 0), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_context_pool_give(pool, 140), GPUMP_ERROR_ARGUMENT);
    assert_true(gpump_hash(&gpump_context_pool_component, pool) == hash);
    assert_int_equal(gpump_context_pool_room(pool, 7).contexts, 70);
    assert_int_equal(gpump_context_pool_take(pool, 7, 1, &first), GPUMP_OK);
    assert_int_equal(first, 0);
    assert_int_equal(gpump_adopt(&gpump_context_pool_component, memory, size, &config, &copy, NULL), GPUMP_OK);
    other = config;
    other.contexts = 71;
    assert_int_equal(gpump_adopt(&gpump_context_pool_component, memory, size, &other, &copy, NULL), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_context_pool_give(pool, 70 + 33), GPUMP_OK);
    assert_int_equal(gpump_context_pool_take(pool, 9, 1, &context), GPUMP_OK);
    assert_int_equal(context, 70 + 33);
    free(memory);
}

/* A section has the size that it says and no more; shapes of no values are told apart; what no memory holds fails. */
static void a_section_has_no_more_bytes_than_it_says(void **state) {
    static unsigned char memory[4096];
    gpump_context_writer writer;
    gpump_context_reader reader;
    gpump_context_block block;
    uint32_t values[8] = {0};
    gpump_diag diag;
    (void)state;
    memset(&block, 0x5a, sizeof block);
    memset(memory, 0xee, sizeof memory);
    assert_int_equal(
        gpump_context_begin(&writer, memory, GPUMP_CONTEXT_HEADER_BYTES + GPUMP_CONTEXT_SECTION_BYTES + 96), GPUMP_OK);
    gpump_context_put_block(&writer, &block);
    assert_int_equal(writer.failed, 0);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(memory[GPUMP_CONTEXT_HEADER_BYTES + GPUMP_CONTEXT_SECTION_BYTES + 96 + i], 0xee);
    gpump_context_put(&writer, 77, 0, NULL, UINT64_MAX - 6);
    assert_int_equal(writer.failed, 1);
    assert_true(writer.used == UINT64_MAX);
    assert_int_equal(gpump_context_begin(&writer, memory, sizeof memory), GPUMP_OK);
    gpump_context_put_registers(&writer, 0, values, 6, 0);
    gpump_context_put_registers(&writer, 1, values, 0, 32);
    {
        uint64_t bytes = 0;
        assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
        assert_int_equal(gpump_context_open(&reader, memory, bytes, &diag), GPUMP_OK);
    }
    assert_int_equal(gpump_context_get_registers(&reader, 0, values, 6, 0), GPUMP_OK);
    assert_int_equal(gpump_context_get_registers(&reader, 0, values, 5, 0), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_context_get_registers(&reader, 1, values, 0, 32), GPUMP_OK);
    assert_int_equal(gpump_context_get_registers(&reader, 1, values, 0, 16), GPUMP_ERROR_FORMAT);
}

/* What is missing is counted exactly: of many entries the last, of two logs the second; a section of the host says
 * nothing about registers. */
static void the_entries_that_are_missing_are_counted_exactly(void **state) {
    enum { ENTRIES = 32, LANES = 4 };
    static unsigned char memory[4000];
    uint64_t queue[ENTRIES * 4], bytes;
    /* two loads that were issued (flags 1), each with one log entry */
    const uint64_t loads[8] = {1, 0xf, (uint64_t)2 << 32 | 8, (uint64_t)1 << 32 | 1,
                               2, 0xf, (uint64_t)2 << 32 | 9, (uint64_t)1 << 32 | 1};
    const uint64_t log[12] = {(uint64_t)1 << 32, LANES, 1, 2, 3, 4, (uint64_t)1 << 32, LANES, 5, 6, 7, 8};
    gpump_context_stack_entry top = {8, 0, 0xf};
    gpump_context_block block;
    gpump_context_writer writer;
    gpump_context_reader reader, again;
    (void)state;
    memset(queue, 0, sizeof queue);
    memset(&block, 0, sizeof block);
    block.warps = 1;
    block.lanes = LANES;
    for (uint32_t left_out = 0; left_out < 2; left_out++) {
        block.replay_entries = ENTRIES;
        gpump_context_begin(&writer, memory, sizeof memory);
        gpump_context_put_block(&writer, &block);
        gpump_context_put_stack(&writer, 0, &top, 1);
        gpump_context_put_words(&writer, GPUMP_CONTEXT_REPLAY, 0, queue, (ENTRIES - left_out) * 4);
        assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
        assert_int_equal(gpump_context_open(&reader, memory, bytes, NULL), GPUMP_OK);
        assert_int_equal(gpump_context_missing(&reader, 0), left_out ? GPUMP_PART_REPLAY : 0);
        block.replay_entries = 2;
        gpump_context_begin(&writer, memory, sizeof memory);
        gpump_context_put_block(&writer, &block);
        gpump_context_put_stack(&writer, 0, &top, 1);
        gpump_context_put_words(&writer, GPUMP_CONTEXT_REPLAY, 0, loads, 8);
        gpump_context_put_words(&writer, GPUMP_CONTEXT_LOG, 0, log, left_out ? 6 : 12);
        assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
        assert_int_equal(gpump_context_open(&reader, memory, bytes, NULL), GPUMP_OK);
        assert_int_equal(gpump_context_missing(&reader, 0), left_out ? GPUMP_PART_LOG : 0);
    }
    block.replay_entries = 0;
    block.registers = 3;
    gpump_context_begin(&writer, memory, sizeof memory);
    gpump_context_put_block(&writer, &block);
    gpump_context_put_stack(&writer, 0, &top, 1);
    gpump_context_put(&writer, GPUMP_CONTEXT_HOST, GPUMP_NONE, "mine", 4);
    assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
    memset(&reader, 0, sizeof reader);
    memset(&again, 0xa5, sizeof again);
    assert_int_equal(gpump_context_open(&reader, memory, bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_context_open(&again, memory, bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_context_missing(&reader, 0), GPUMP_PART_REGISTERS);
    assert_int_equal(again.unverified, 0); /* nothing of what the memory held before */
    /* memory that does not even hold the header */
    memset(memory, 0xa5, 64);
    assert_int_equal(gpump_context_begin(&writer, memory, 8), GPUMP_OK);
    assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_ERROR_CAPACITY);
    assert_int_equal(bytes, GPUMP_CONTEXT_HEADER_BYTES);
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(memory[i], 0xa5);
}

/* Which contexts are taken counts in the hash, not only how many. */
static void the_pools_hash_sees_each_context(void **state) {
    const gpump_context_pool_config config = {2, 70, 4096};
    uint64_t hashes[3], context;
    (void)state;
    for (uint32_t kept = 0; kept < 3; kept++) {
        uint64_t memory[64];
        gpump_context_pool *pool;
        assert_int_equal(gpump_init(&gpump_context_pool_component, memory, sizeof memory, &config, &pool, NULL),
                         GPUMP_OK);
        assert_int_equal(gpump_context_pool_open(pool, 7), GPUMP_OK);
        assert_int_equal(gpump_context_pool_open(pool, 9), GPUMP_OK);
        for (uint32_t i = 0; i < 70; i++) assert_int_equal(gpump_context_pool_take(pool, 9, 1, &context), GPUMP_OK);
        for (uint32_t i = 0; i < 3; i++)
            if (i != kept) assert_int_equal(gpump_context_pool_give(pool, 70 + 34 * i), GPUMP_OK);
        hashes[kept] = gpump_hash(&gpump_context_pool_component, pool);
    }
    assert_true(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_comes_back),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(the_bytes_are_these),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(two_changed_words_are_refused),
        cmocka_unit_test(moved_stretches_are_refused),
        cmocka_unit_test(copying_verifies),
        cmocka_unit_test(reserved_sections_may_be_filled_late),
        cmocka_unit_test(reading_another_shape_is_refused),
        cmocka_unit_test(unknown_sections_pass_through),
        cmocka_unit_test(missing_replay_entries_and_operands_are_noticed),
        cmocka_unit_test(the_pool_is_finite),
        cmocka_unit_test(a_section_has_no_more_bytes_than_it_says),
        cmocka_unit_test(the_entries_that_are_missing_are_counted_exactly),
        cmocka_unit_test(the_pools_hash_sees_each_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
