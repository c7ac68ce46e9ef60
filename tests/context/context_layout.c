/* labels: unit property */
/* gpump_context_view: a block described by views is written in the order of its layout, measured as it is written, and
 * read back as it was, in every form of its registers; what stays in place is left out; what contradicts is named. */
#include "test.h"

enum { WARPS = 3, REGISTERS = 5, LANES = 8, DEPTH = 4, PREDICATES = 2, BARRIERS = 6, SHARED = 44 };

typedef struct content {
    uint32_t registers[WARPS * REGISTERS * LANES], depth[WARPS];
    gpump_context_stack_entry stack[WARPS][DEPTH];
    uint64_t predicates[WARPS][PREDICATES], live[WARPS], barriers[BARRIERS], local[2], own[WARPS];
    uint8_t shared[SHARED], frame[WARPS][40];
    uint32_t framed; /* bits of the warps that lie in a frame */
    gpump_compress_layout layout;
} content;

static uint32_t *registers_of(content *c, uint32_t warp) { return c->registers + warp * REGISTERS * LANES; }

static void give(void *user, uint32_t index, gpump_context_warp *warp) {
    content *c = (content *)user;
    assert_true(index < WARPS);
    if (c->framed >> index & 1) {
        warp->frame = c->frame[index];
        warp->frame_bytes = sizeof c->frame[index];
    } else {
        warp->registers = registers_of(c, index);
        warp->live = &c->live[index];
    }
    warp->stack = c->stack[index];
    warp->stack_entries = c->depth[index];
    warp->predicates = c->predicates[index];
    warp->predicate_words = PREDICATES;
}
static void largest(void *user, uint32_t index, gpump_context_warp *warp) {
    (void)user;
    (void)index;
    warp->stack_entries = DEPTH;
    warp->predicate_words = PREDICATES;
}
static void give_own(void *user, uint32_t index, gpump_context_writer *writer) {
    gpump_context_put_words(writer, GPUMP_CONTEXT_HOST + 1, index, &((content *)user)->own[index], 1);
}
static void place(void *user, uint32_t index, gpump_context_warp *warp) {
    content *c = (content *)user;
    assert_true(index < WARPS);
    warp->registers = registers_of(c, index);
    warp->stack = c->stack[index];
    warp->stack_entries = DEPTH;
    warp->predicates = c->predicates[index];
    warp->predicate_words = PREDICATES;
}
static void take(void *user, uint32_t index, const gpump_context_warp *warp, gpump_context_reader *reader) {
    content *c = (content *)user;
    uint32_t count;
    c->depth[index] = warp->stack_entries;
    if (warp->frame) {
        assert_int_equal(warp->frame_bytes, sizeof c->frame[index]);
        memcpy(c->frame[index], warp->frame, sizeof c->frame[index]);
        c->framed |= 1u << index;
    }
    (void)gpump_context_get_words(reader, GPUMP_CONTEXT_HOST + 1, index, &c->own[index], 1, &count);
}

/* A block of `seed`: warp 1 has ended; warp 2 is partly filled. */
static content block_of(uint32_t seed) {
    content c;
    memset(&c, 0, sizeof c);
    for (uint32_t i = 0; i < WARPS * REGISTERS * LANES; i++) c.registers[i] = seed * 977 + i * i % 51;
    for (uint32_t w = 0; w < WARPS; w++) {
        c.depth[w] = w == 1 ? 0 : w + 1;
        c.live[w] = 31;
        for (uint32_t i = 0; i < c.depth[w]; i++) {
            c.stack[w][i].pc = seed + i;
            c.stack[w][i].reconvergence_pc = i;
            c.stack[w][i].lanes = 255;
        }
        for (uint32_t i = 0; i < PREDICATES && w != 1; i++) c.predicates[w][i] = seed + w + i;
        if (w != 1) c.own[w] = seed * 3 + w;
    }
    for (uint32_t i = 0; i < BARRIERS; i++) c.barriers[i] = seed + 100 + i;
    c.local[0] = seed;
    memset(c.shared, (int)seed, SHARED);
    assert_int_equal(gpump_compress_layout_init(&c.layout, 2 * LANES + 3, REGISTERS, LANES, LANES, NULL), GPUMP_OK);
    return c;
}

static gpump_context_view view_of(content *c) {
    gpump_context_view view;
    memset(&view, 0, sizeof view);
    view.block.cookie = 7;
    view.block.warps = WARPS;
    view.block.lanes = LANES;
    view.block.registers = REGISTERS;
    view.compress = &c->layout;
    view.barriers = c->barriers;
    view.barrier_words = BARRIERS;
    view.local = c->local;
    view.local_words = 2;
    view.shared = c->shared;
    view.shared_bytes = SHARED;
    view.user = c;
    view.warp = give;
    view.put = give_own;
    view.took = take;
    return view;
}

static uint8_t memory[8192];

static uint64_t sum(const gpump_context_sizes *sizes) {
    return sizes->register_bytes + sizes->shared_bytes + sizes->state_bytes;
}
static uint64_t write(const gpump_context_view *view, gpump_context_sizes *sizes) {
    gpump_context_writer writer;
    uint64_t bytes;
    assert_int_equal(gpump_context_begin(&writer, memory, sizeof memory), GPUMP_OK);
    assert_int_equal(gpump_context_put_view(&writer, view, sizes), GPUMP_OK);
    assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
    assert_int_equal(sum(sizes), bytes);
    return bytes;
}
static gpump_result read(content *c, gpump_context_view *view, gpump_diag *diag) {
    gpump_context_reader reader;
    (void)c;
    view->warp = place;
    assert_int_equal(gpump_context_open(&reader, memory, sizeof memory, NULL), GPUMP_OK);
    return gpump_context_get_view(&reader, view, diag);
}

/* A reader that verifies at the end of its read refuses a context in which the byte of a register has changed, and only
 * such a context. */
static void an_altered_context_is_refused_after_it_is_read(void **state) {
    content gone = block_of(3), back = block_of(3);
    gpump_context_view view = view_of(&gone);
    gpump_context_sizes sizes;
    gpump_context_reader reader;
    gpump_context_section section;
    gpump_diag diag;
    uint64_t bytes = write(&view, &sizes);
    (void)state;
    assert_int_equal(gpump_context_open(&reader, memory, bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_context_find(&reader, GPUMP_CONTEXT_REGISTERS, 0, &section), GPUMP_OK);
    for (uint64_t at = section.offset + 7; at < section.offset + section.bytes; at++) {
        const int altered = at >= section.offset + 8; /* the first time nothing is */
        if (altered) memory[at] ^= 16;
        view = view_of(&back);
        view.warp = place;
        assert_int_equal(gpump_context_open_unverified(&reader, memory, bytes, NULL), GPUMP_OK);
        assert_int_equal(gpump_context_get_view(&reader, &view, &diag), altered ? GPUMP_ERROR_FORMAT : GPUMP_OK);
        if (altered)
            assert_string_equal(diag.field, "checksum");
        else
            assert_memory_equal(back.shared, gone.shared, sizeof gone.shared);
        if (altered) memory[at] ^= 16;
    }
}

/* Raw, each smaller form, all warps together, and frames: what comes back is what went. */
static void what_is_read_is_what_was_written(void **state) {
    static const uint32_t forms[4] = {0, GPUMP_COMPRESS_ALLOW_LIVE, GPUMP_COMPRESS_ALLOW_WARP,
                                      GPUMP_COMPRESS_ALLOW_ALL};
    (void)state;
    for (uint32_t n = 0; n < 6; n++) {
        content gone = block_of(3), back = block_of(3);
        gpump_context_view view = view_of(&gone);
        gpump_context_sizes sizes;
        gpump_context_reader reader;
        uint64_t of_warps[WARPS], bytes;
        gpump_diag diag, untouched;
        view.allow = forms[n < 4 ? n : 0];
        if (n == 4) { /* together */
            view.allow = GPUMP_COMPRESS_ALLOW_ALL;
            view.registers = gone.registers;
            view.live = gone.live;
            gone.layout.live_stride = 1;
        }
        if (n == 5) {
            gone.framed = 4;
            memset(gone.frame[2], 9, sizeof gone.frame[2]);
        }
        bytes = write(&view, &sizes);
        assert_int_equal(sizes.shared_bytes, GPUMP_CONTEXT_SECTION_BYTES + 48);
        if (n == 0) assert_int_equal(sizes.register_bytes, 2 * (16 + 8 + REGISTERS * LANES * 4));
        if (n == 5) assert_int_equal(sizes.register_bytes, 16 + 8 + REGISTERS * LANES * 4 + 16 + 40);
        memset(back.registers, 0xee, sizeof back.registers);
        memset(back.stack, 0xee, sizeof back.stack);
        memset(back.predicates, 0xee, sizeof back.predicates);
        memset(back.barriers, 0xee, sizeof back.barriers);
        memset(back.local, 0xee, sizeof back.local);
        memset(back.shared, 0xee, sizeof back.shared);
        memset(back.own, 0, sizeof back.own);
        view = view_of(&back);
        if (n == 4) view.registers = back.registers;
        memset(&diag, 0x5a, sizeof diag);
        untouched = diag;
        assert_int_equal(read(&back, &view, &diag), GPUMP_OK);
        assert_memory_equal(&diag, &untouched, sizeof diag);
        assert_int_equal(view.block.cookie, 7);
        assert_memory_equal(back.depth, gone.depth, sizeof gone.depth);
        assert_memory_equal(back.barriers, gone.barriers, sizeof gone.barriers);
        assert_memory_equal(back.local, gone.local, sizeof gone.local);
        assert_memory_equal(back.shared, gone.shared, sizeof gone.shared);
        assert_memory_equal(back.own, gone.own, sizeof gone.own);
        assert_int_equal(back.framed, gone.framed);
        assert_memory_equal(back.frame, gone.frame, sizeof gone.frame);
        for (uint32_t w = 0; w < WARPS; w += 2) {
            assert_memory_equal(back.stack[w], gone.stack[w], gone.depth[w] * sizeof gone.stack[w][0]);
            assert_memory_equal(back.predicates[w], gone.predicates[w], sizeof gone.predicates[w]);
            for (uint32_t i = 0; !(gone.framed >> w & 1) && i < REGISTERS; i++)
                assert_memory_equal(registers_of(&back, w) + i * LANES, registers_of(&gone, w) + i * LANES,
                                    4 * (w == 2 && n ? 3 : LANES));
            for (uint32_t i = 0; w == 2 && n && n < 5 && i < REGISTERS; i++) /* no thread has these lanes */
                assert_int_equal(registers_of(&back, w)[i * LANES + 3], 0xeeeeeeee);
        }
        assert_int_equal(gpump_context_open(&reader, memory, sizeof memory, NULL), GPUMP_OK);
        gpump_context_bytes_by_warp(&reader, WARPS, of_warps);
        assert_true(of_warps[1] >= GPUMP_CONTEXT_SECTION_BYTES && of_warps[0] + of_warps[1] + of_warps[2] < bytes);
        if (n != 4) assert_int_equal(of_warps[1], GPUMP_CONTEXT_SECTION_BYTES); /* an empty stack */
        for (uint32_t w = 0; w < WARPS && n != 4; w++) { /* a warp alone is as long as among the others */
            gpump_context_writer writer;
            gpump_context_warp warp;
            uint8_t alone[4096];
            uint64_t length;
            memset(&warp, 0, sizeof warp);
            view = view_of(&gone);
            view.allow = forms[n < 4 ? n : 0];
            give(&gone, w, &warp);
            assert_int_equal(gpump_context_begin(&writer, alone, sizeof alone), GPUMP_OK);
            assert_int_equal(gpump_context_put_warp(&writer, &view, w, &warp), GPUMP_OK);
            assert_int_equal(gpump_context_end(&writer, &length), GPUMP_OK);
            /* but for the host's own section, whose type this version does not know */
            assert_int_equal(length - GPUMP_CONTEXT_HEADER_BYTES, of_warps[w] + (w == 1 ? 0 : 16 + 8));
        }
    }
}

/* A section of each type, of warp 1 and of all warps: bytes of warps are those of the types that a warp has. */
static void bytes_of_warps_are_those_of_their_sections(void **state) {
    static const uint32_t of_a_warp[] = {GPUMP_CONTEXT_REGISTERS, GPUMP_CONTEXT_COMPRESSED, GPUMP_CONTEXT_FRAME,
                                         GPUMP_CONTEXT_STACK,     GPUMP_CONTEXT_PREDICATES, GPUMP_CONTEXT_REPLAY,
                                         GPUMP_CONTEXT_LOG,       GPUMP_CONTEXT_RESTART};
    const uint64_t words[4] = {1, 2, 3, 4};
    (void)state;
    for (uint32_t type = 1; type < GPUMP_CONTEXT_TYPES + 1; type++)
        for (uint32_t all = 0; all < 2; all++) {
            gpump_context_writer writer;
            gpump_context_reader reader;
            uint64_t bytes, of_warps[3] = {9, 9, 9};
            uint32_t i = 0;
            assert_int_equal(gpump_context_begin(&writer, memory, sizeof memory), GPUMP_OK);
            gpump_context_put_words(&writer, type, all ? GPUMP_NONE : 1, words, 4);
            assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
            assert_int_equal(gpump_context_open(&reader, memory, sizeof memory, NULL), GPUMP_OK);
            gpump_context_bytes_by_warp(&reader, 3, of_warps);
            while (i < 8 && of_a_warp[i] != type) i++;
            for (uint32_t w = 0; w < 3; w++)
                assert_int_equal(of_warps[w], i == 8 ? 0 : all ? (16 + 32) / 3 : w == 1 ? 16 + 32 : 0);
        }
}

/* A warp that needs no register lies in a frame of no bytes. */
static void a_warp_without_registers_has_an_empty_frame(void **state) {
    content c = block_of(2);
    gpump_context_view view = view_of(&c);
    gpump_context_writer writer;
    gpump_context_reader reader;
    gpump_context_section section;
    gpump_context_warp warp;
    uint64_t bytes;
    (void)state;
    memset(&warp, 0, sizeof warp);
    warp.frame = c.frame[0];
    warp.stack = c.stack[0];
    warp.stack_entries = 1;
    assert_int_equal(gpump_context_begin(&writer, memory, sizeof memory), GPUMP_OK);
    assert_int_equal(gpump_context_put_warp(&writer, &view, 0, &warp), GPUMP_OK);
    assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
    assert_int_equal(gpump_context_open(&reader, memory, sizeof memory, NULL), GPUMP_OK);
    assert_int_equal(gpump_context_find(&reader, GPUMP_CONTEXT_FRAME, 0, &section), GPUMP_OK);
    assert_int_equal(section.bytes, 0);
}

/* Parts that stay in place move no bytes, and the sizes of the others are what they were. */
static void parts_in_place_move_no_bytes(void **state) {
    content c = block_of(4);
    gpump_context_view view = view_of(&c);
    gpump_context_sizes whole, less;
    (void)state;
    write(&view, &whole);
    for (uint32_t keep = 1; keep <= GPUMP_PARTS_IN_PLACE; keep++) {
        content back = block_of(5);
        gpump_context_view there = view_of(&back);
        view.control.in_place = keep;
        write(&view, &less);
        assert_int_equal(less.register_bytes, keep & GPUMP_PART_REGISTERS ? 0 : whole.register_bytes);
        assert_int_equal(less.shared_bytes, keep & GPUMP_PART_SHARED_MEMORY ? 0 : whole.shared_bytes);
        assert_int_equal(less.state_bytes, whole.state_bytes + GPUMP_CONTEXT_SECTION_BYTES + 32);
        assert_int_equal(read(&back, &there, NULL), GPUMP_OK);
        assert_int_equal(back.shared[0], keep & GPUMP_PART_SHARED_MEMORY ? 5 : 4);
        assert_int_equal(back.registers[0], (keep & GPUMP_PART_REGISTERS ? 5 : 4) * 977);
    }
}

/* Counts alone give the most that a block can have. */
static void counts_alone_give_the_largest_context(void **state) {
    content c = block_of(6);
    gpump_context_view view = view_of(&c);
    gpump_context_writer writer;
    gpump_context_sizes sizes, least;
    uint64_t bytes;
    (void)state;
    write(&view, &least);
    view.warp = largest;
    view.put = NULL;
    view.barriers = view.local = NULL;
    view.shared = NULL;
    assert_int_equal(gpump_context_begin(&writer, NULL, 0), GPUMP_OK);
    assert_int_equal(gpump_context_put_view(&writer, &view, &sizes), GPUMP_OK);
    assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_ERROR_CAPACITY);
    assert_int_equal(bytes, sum(&sizes));
    assert_int_equal(sizes.register_bytes, WARPS * (16 + (8 + REGISTERS * LANES * 4 + 32 + REGISTERS + 7) / 8 * 8));
    assert_int_equal(sizes.shared_bytes, least.shared_bytes);
    assert_int_equal(sizes.state_bytes, GPUMP_CONTEXT_HEADER_BYTES + 16 + 96 +
                                            WARPS * (16 + DEPTH * 16 + 16 + PREDICATES * 8) + 16 + BARRIERS * 8 + 16 +
                                            16);
}

/* Without values a warp's registers count as raw, with what the heads of other forms add, for every number of them. */
static void registers_alone_give_the_most_that_a_form_takes(void **state) {
    content c = block_of(6);
    (void)state;
    for (uint32_t registers = 1; registers <= 40; registers++) {
        gpump_context_view view = view_of(&c);
        gpump_context_writer writer;
        gpump_context_warp warp;
        uint64_t bytes;
        memset(&warp, 0, sizeof warp);
        warp.stack_entries = 1;
        view.block.registers = registers;
        view.omit = 1u << GPUMP_CONTEXT_STACK;
        view.put = NULL;
        assert_int_equal(gpump_context_begin(&writer, NULL, 0), GPUMP_OK);
        assert_int_equal(gpump_context_put_warp(&writer, &view, 0, &warp), GPUMP_OK);
        assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_ERROR_CAPACITY);
        assert_int_equal(bytes,
                         GPUMP_CONTEXT_HEADER_BYTES + 16 + (8 + registers * LANES * 4 + 32 + registers + 7) / 8 * 8);
    }
}

/* What a test leaves out is not written, and its reading is not refused; without `omit` it is. */
static void omitted_parts_are_neither_written_nor_wanted(void **state) {
    static const uint32_t types[7] = {GPUMP_CONTEXT_BLOCK,     GPUMP_CONTEXT_REGISTERS, GPUMP_CONTEXT_STACK,
                                      GPUMP_CONTEXT_BARRIERS,  GPUMP_CONTEXT_LOCAL,     GPUMP_CONTEXT_SHARED,
                                      GPUMP_CONTEXT_PREDICATES};
    (void)state;
    for (uint32_t i = 0; i < 7; i++) {
        content c = block_of(7), back = block_of(8);
        gpump_context_view view = view_of(&c), there = view_of(&back);
        gpump_context_sizes all, sizes;
        gpump_context_reader reader;
        gpump_context_section section;
        gpump_diag diag;
        write(&view, &all);
        view.omit = 1u << types[i];
        assert_true(write(&view, &sizes) < sum(&all));
        assert_int_equal(gpump_context_open(&reader, memory, sizeof memory, NULL), GPUMP_OK);
        while (!gpump_context_next(&reader, &section)) assert_int_not_equal(section.type, types[i]);
        if (types[i] == GPUMP_CONTEXT_REGISTERS || types[i] == GPUMP_CONTEXT_STACK || types[i] == GPUMP_CONTEXT_BLOCK ||
            types[i] == GPUMP_CONTEXT_SHARED) {
            assert_int_equal(read(&back, &there, &diag), GPUMP_ERROR_FORMAT);
            assert_string_equal(diag.field, "parts");
            assert_int_equal(diag.index, 0);
        }
        there.omit = view.omit;
        assert_int_equal(read(&back, &there, &diag), GPUMP_OK);
        if (types[i] == GPUMP_CONTEXT_STACK) assert_int_equal(back.depth[0], GPUMP_NONE);
        if (types[i] == GPUMP_CONTEXT_BARRIERS) assert_int_equal(back.barriers[0], 108);
    }
}

static void wrong(content *c, gpump_context_view *view, const char *field) {
    gpump_diag diag;
    assert_true(read(c, view, &diag) < 0);
    assert_string_equal(diag.field, field);
}

/* A context of another shape is refused, and what differs is named. */
static void a_context_of_another_shape_is_refused(void **state) {
    content c = block_of(1);
    gpump_context_view view = view_of(&c);
    gpump_context_sizes sizes;
    gpump_context_writer writer;
    gpump_context_warp warp;
    gpump_context_reader reader;
    (void)state;
    write(&view, &sizes);
    view.block.warps = 2;
    wrong(&c, &view, "warps");
    view = view_of(&c);
    view.block.lanes = 4;
    wrong(&c, &view, "lanes");
    view = view_of(&c);
    view.block.registers = 4;
    wrong(&c, &view, "registers");
    view = view_of(&c);
    view.barrier_words--;
    wrong(&c, &view, "barriers");
    view = view_of(&c);
    view.local_words++;
    wrong(&c, &view, "words of local memory");
    view = view_of(&c);
    view.shared_bytes--;
    wrong(&c, &view, "parts");
    view.omit = 1u << GPUMP_CONTEXT_EXITS;
    wrong(&c, &view, "bytes of shared memory");
    view = view_of(&c);
    view.warp = NULL;
    memset(&warp, 0, sizeof warp);
    assert_int_equal(gpump_context_begin(&writer, memory, sizeof memory), GPUMP_OK);
    assert_int_equal(gpump_context_put_view(&writer, &view, NULL), GPUMP_ERROR_ARGUMENT);
    view = view_of(&c);
    assert_int_equal(gpump_context_put_view(&writer, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_context_put_warp(&writer, &view, WARPS, &warp), GPUMP_ERROR_ARGUMENT);
    view.compress = NULL;
    view.registers = c.registers; /* together, and nothing says how they lie */
    assert_int_equal(gpump_context_put_view(&writer, &view, NULL), GPUMP_ERROR_ARGUMENT);
    memset(&reader, 0, sizeof reader);
    view = view_of(&c);
    view.took = NULL;
    assert_int_equal(gpump_context_get_view(&reader, &view, NULL), GPUMP_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_what_was_written),
        cmocka_unit_test(an_altered_context_is_refused_after_it_is_read),
        cmocka_unit_test(bytes_of_warps_are_those_of_their_sections),
        cmocka_unit_test(registers_alone_give_the_most_that_a_form_takes),
        cmocka_unit_test(parts_in_place_move_no_bytes),
        cmocka_unit_test(a_warp_without_registers_has_an_empty_frame),
        cmocka_unit_test(counts_alone_give_the_largest_context),
        cmocka_unit_test(omitted_parts_are_neither_written_nor_wanted),
        cmocka_unit_test(a_context_of_another_shape_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
