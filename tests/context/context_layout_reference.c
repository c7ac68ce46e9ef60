/* labels: property */
/* gpump_context_view beside a list of the sections that a context consists of, written down call by call: random blocks
 * have these bytes and sizes, measured ones these lengths, and reading them back gives what went or names the one thing
 * that differs. */
#include "test.h"

enum { WARPS = 6, REGISTERS = 7, LANES = 12, DEPTH = 3, WORDS = 5, SHARED = 40, FRAME = 24, ROOM = 1 << 14 };
enum { VALUES, IN_FRAME, ENDED };

typedef struct block {
    uint32_t kind[WARPS], depth[WARPS], predicate_words, last_lanes, has_own, counts_alone;
    uint32_t registers[WARPS][REGISTERS * LANES];
    uint64_t live[WARPS], predicates[WARPS][WORDS], barriers[WORDS], local[WORDS], own[WARPS];
    gpump_context_stack_entry stack[WARPS][DEPTH];
    uint8_t frame[WARPS][FRAME], shared[SHARED];
    uint32_t frame_bytes;
    gpump_compress_layout layout;
    gpump_context_view view;
} block;

static uint64_t seed, number, random_state;
static uint32_t below(uint32_t limit) { return gpump_random_below(&random_state, limit); }
#define CHECK(condition) test_check(condition, seed, number)

static void describe(void *user, uint32_t index, gpump_context_warp *warp) {
    block *b = (block *)user;
    warp->stack_entries = b->depth[index];
    warp->predicate_words = b->predicate_words;
    if (b->counts_alone) return;
    if (b->kind[index] == IN_FRAME) {
        warp->frame = b->frame[index];
        warp->frame_bytes = b->frame_bytes;
    } else {
        warp->registers = b->registers[index];
        warp->live = &b->live[index];
    }
    warp->stack = b->stack[index];
    warp->predicates = b->predicates[index];
}
static void put_own(void *user, uint32_t index, gpump_context_writer *writer) {
    gpump_context_put_words(writer, GPUMP_CONTEXT_HOST, index, &((block *)user)->own[index], 1);
}

static void make(block *b) {
    gpump_context_view *v = &b->view;
    uint32_t threads;
    memset(b, 0, sizeof *b);
    v->block.warps = 1 + below(WARPS);
    v->block.lanes = 1 + below(LANES);
    v->block.registers = below(6) ? 1 + below(REGISTERS) : 0;
    v->block.cookie = gpump_random_next(&random_state);
    b->last_lanes = 1 + below(v->block.lanes);
    threads = (v->block.warps - 1) * v->block.lanes + b->last_lanes;
    if (v->block.registers && below(4)) {
        CHECK(gpump_compress_layout_init(&b->layout, threads, v->block.registers, v->block.lanes, 0, NULL) == GPUMP_OK);
        b->layout.warp_stride = REGISTERS * LANES;
        b->layout.live_stride = 1;
        v->compress = &b->layout;
        v->allow = below(4) ? 1 + below(GPUMP_COMPRESS_ALLOW_ALL) : 0;
        if (v->allow && !below(4)) v->registers = b->registers[0], v->live = b->live;
    }
    for (uint32_t w = 0; w < v->block.warps; w++) {
        b->kind[w] = below(5) ? VALUES : v->registers ? (uint32_t)ENDED : 1 + below(2);
        b->depth[w] = b->kind[w] == ENDED ? 0 : 1 + below(DEPTH);
        b->live[w] = gpump_random_next(&random_state);
        b->own[w] = gpump_random_next(&random_state);
        for (uint32_t i = 0; i < REGISTERS * LANES; i++) b->registers[w][i] = 7 * w + below(below(2) ? 2 : 1000);
        for (uint32_t i = 0; i < DEPTH; i++) {
            b->stack[w][i].pc = below(1000);
            b->stack[w][i].reconvergence_pc = below(1000);
            b->stack[w][i].lanes = gpump_random_next(&random_state);
        }
        for (uint32_t i = 0; i < WORDS; i++) b->predicates[w][i] = gpump_random_next(&random_state);
        memset(b->frame[w], (int)below(256), FRAME);
    }
    b->frame_bytes = below(FRAME + 1);
    b->predicate_words = below(WORDS + 1);
    b->has_own = below(2);
    b->counts_alone = !v->registers && !below(4);
    for (uint32_t i = 0; i < WORDS; i++) b->barriers[i] = b->local[i] = gpump_random_next(&random_state);
    for (uint32_t i = 0; i < SHARED; i++) b->shared[i] = (uint8_t)below(256);
    v->barrier_words = below(WORDS + 1);
    v->local_words = below(WORDS + 1);
    v->shared_bytes = below(3) ? 1 + below(SHARED) : 0;
    if (!b->counts_alone || below(2)) v->barriers = b->barriers, v->local = b->local, v->shared = b->shared;
    if (!below(3)) v->control.in_place = below(GPUMP_PARTS_IN_PLACE + 1), v->control.sm = below(100);
    if (!below(3)) v->omit = 1u << (1 + below(GPUMP_CONTEXT_TYPES - 1));
    v->user = b;
    v->warp = describe;
    if (b->has_own) v->put = put_own;
}

static int omits(const block *b, uint32_t type) { return b->view.omit >> type & 1u; }
static int has_registers(const block *b) {
    return b->view.block.registers && !(b->view.control.in_place & GPUMP_PART_REGISTERS) &&
           !omits(b, GPUMP_CONTEXT_REGISTERS);
}
static void list_bytes(gpump_context_writer *to, const block *b, uint32_t type, uint32_t index, const void *data,
                       uint64_t bytes) {
    if (!bytes || omits(b, type)) return;
    if (data)
        gpump_context_put(to, type, index, data, bytes);
    else
        (void)gpump_context_reserve(to, type, index, bytes);
}
static void list_registers(gpump_context_writer *to, const block *b, uint32_t w) {
    const gpump_context_view *v = &b->view;
    gpump_compress_layout alone = b->layout;
    alone.warps = 1;
    alone.last_lanes = w == v->block.warps - 1 ? b->last_lanes : v->block.lanes;
    if (b->counts_alone)
        (void)gpump_context_reserve(to, GPUMP_CONTEXT_REGISTERS, w,
                                    40 + 4 * (uint64_t)v->block.registers * v->block.lanes + v->block.registers);
    else if (b->kind[w] == IN_FRAME) {
        if (!omits(b, GPUMP_CONTEXT_FRAME)) gpump_context_put(to, GPUMP_CONTEXT_FRAME, w, b->frame[w], b->frame_bytes);
    } else if (v->allow && v->compress)
        CHECK(!gpumpi_context_put_compressed(to, w, &alone, b->registers[w], &b->live[w], v->allow, NULL));
    else
        gpump_context_put_registers(to, w, b->registers[w], v->block.registers, v->block.lanes);
}
/* The context of *b, section by section. */
static void list_sections(gpump_context_writer *to, const block *b) {
    const gpump_context_view *v = &b->view;
    if (!omits(b, GPUMP_CONTEXT_BLOCK)) gpump_context_put_block(to, &v->block);
    if (v->control.in_place) gpumpi_context_put_control(to, &v->control);
    if (has_registers(b) && v->registers)
        CHECK(!gpumpi_context_put_compressed(to, GPUMP_NONE, &b->layout, b->registers[0], b->live, v->allow, NULL));
    for (uint32_t w = 0; w < v->block.warps; w++) {
        if (has_registers(b) && !v->registers && b->depth[w]) list_registers(to, b, w);
        if (!omits(b, GPUMP_CONTEXT_STACK)) {
            if (b->counts_alone && b->depth[w])
                (void)gpump_context_reserve(to, GPUMP_CONTEXT_STACK, w, 16 * (uint64_t)b->depth[w]);
            else
                gpump_context_put_stack(to, w, b->stack[w], b->depth[w]);
        }
        if (!b->depth[w]) continue;
        list_bytes(to, b, GPUMP_CONTEXT_PREDICATES, w, b->counts_alone ? NULL : b->predicates[w],
                   8 * (uint64_t)b->predicate_words);
        if (b->has_own) gpump_context_put_words(to, GPUMP_CONTEXT_HOST, w, &b->own[w], 1);
    }
    list_bytes(to, b, GPUMP_CONTEXT_BARRIERS, 0, v->barriers, 8 * (uint64_t)v->barrier_words);
    list_bytes(to, b, GPUMP_CONTEXT_LOCAL, 0, v->local, 8 * (uint64_t)v->local_words);
    if (!(v->control.in_place & GPUMP_PART_SHARED_MEMORY))
        list_bytes(to, b, GPUMP_CONTEXT_SHARED, 0, v->shared, v->shared_bytes);
}

/* What the sections of a context take, by what becomes of them when a part stays in place; of each warp in of_warps. */
static gpump_context_sizes sizes_of(const uint8_t *memory, uint64_t bytes, uint32_t warps, uint64_t *of_warps) {
    gpump_context_sizes sizes = {0, 0, GPUMP_CONTEXT_HEADER_BYTES};
    gpump_context_reader reader;
    gpump_context_section s;
    memset(of_warps, 0, WARPS * sizeof *of_warps);
    CHECK(gpump_context_open(&reader, memory, bytes, NULL) == GPUMP_OK);
    while (!gpump_context_next(&reader, &s)) {
        const uint64_t taken = 16 + (s.bytes + 7) / 8 * 8;
        const int registers =
            s.type == GPUMP_CONTEXT_REGISTERS || s.type == GPUMP_CONTEXT_COMPRESSED || s.type == GPUMP_CONTEXT_FRAME;
        *(registers                        ? &sizes.register_bytes
          : s.type == GPUMP_CONTEXT_SHARED ? &sizes.shared_bytes
                                           : &sizes.state_bytes) += taken;
        if (!registers && s.type != GPUMP_CONTEXT_STACK && s.type != GPUMP_CONTEXT_PREDICATES) continue;
        for (uint32_t w = 0; w < warps; w++)
            if (s.index == w || s.index == GPUMP_NONE) of_warps[w] += s.index == w ? taken : taken / warps;
    }
    return sizes;
}

/* The context of a random block has the sections that a plain list of its parts has, byte for byte. */
static void random_blocks_have_the_listed_sections(void **state) {
    static block b;
    static uint8_t memory[ROOM], expected[ROOM];
    (void)state;
    seed = random_state = test_seed();
    for (number = 0; number < test_cases(20000); number++) {
        gpump_context_writer writer, list;
        gpump_context_sizes sizes, listed;
        gpump_context_reader reader;
        uint64_t bytes, listed_bytes, of_warps[WARPS], listed_of_warps[WARPS];
        const int measured = !below(5);
        make(&b);
        memset(memory, 1, sizeof memory);
        memset(expected, 1, sizeof expected);
        CHECK(gpump_context_begin(&writer, measured ? NULL : memory, measured ? 0 : ROOM) == GPUMP_OK);
        CHECK(gpump_context_begin(&list, measured ? NULL : expected, measured ? 0 : ROOM) == GPUMP_OK);
        CHECK(gpump_context_put_view(&writer, &b.view, &sizes) == GPUMP_OK);
        list_sections(&list, &b);
        CHECK(gpump_context_end(&writer, &bytes) == gpump_context_end(&list, &listed_bytes));
        CHECK(bytes == listed_bytes && bytes < ROOM);
        CHECK(sizes.register_bytes + sizes.shared_bytes + sizes.state_bytes == bytes);
        if (measured) continue;
        CHECK(!memcmp(memory, expected, ROOM));
        listed = sizes_of(memory, bytes, b.view.block.warps, listed_of_warps);
        CHECK(sizes.register_bytes == listed.register_bytes && sizes.shared_bytes == listed.shared_bytes);
        CHECK(gpump_context_open(&reader, memory, bytes, NULL) == GPUMP_OK);
        for (uint32_t skipped = below(3); skipped; skipped--) { /* wherever the reader stands */
            gpump_context_section section;
            (void)gpump_context_next(&reader, &section);
        }
        gpump_context_bytes_by_warp(&reader, b.view.block.warps, of_warps);
        for (uint32_t w = 0; w < b.view.block.warps; w++) CHECK(of_warps[w] == listed_of_warps[w]);
    }
}

/* What one warp cannot be written as ends the block, although the warps behind it could be. */
static void the_first_error_of_a_warp_stays(void **state) {
    static block b;
    static uint8_t memory[ROOM];
    gpump_context_writer writer;
    (void)state;
    seed = random_state = test_seed();
    do make(&b);
    while (b.view.block.warps < 2 || !b.view.allow || b.view.registers || !has_registers(&b) || b.kind[0] != VALUES ||
           b.counts_alone || b.kind[b.view.block.warps - 1] != ENDED);
    b.view.allow = 1u << 30; /* no form */
    assert_int_equal(gpump_context_begin(&writer, memory, ROOM), GPUMP_OK);
    assert_int_equal(gpump_context_put_view(&writer, &b.view, NULL), GPUMP_ERROR_ARGUMENT);
}

/* ---- reading ---- */

typedef struct target {
    block b; /* what has been read */
    uint32_t depth_room[WARPS], predicate_room, warps_taken, found_depth[WARPS], found_predicates[WARPS];
    uint64_t found_frame[WARPS];
    int has_frame[WARPS], no_registers;
} target;

static void place(void *user, uint32_t index, gpump_context_warp *warp) {
    target *t = (target *)user;
    if (!t->no_registers) warp->registers = t->b.registers[index]; /* else all pointers are as they came: none */
    if (t->depth_room[index] != GPUMP_NONE) warp->stack = t->b.stack[index];
    warp->stack_entries = t->depth_room[index] == GPUMP_NONE ? 9 : t->depth_room[index];
    warp->predicates = t->b.predicates[index];
    warp->predicate_words = t->predicate_room;
    warp->frame = t; /* of no meaning where a warp is read */
    warp->frame_bytes = index + 1;
}
static void took(void *user, uint32_t index, const gpump_context_warp *warp, gpump_context_reader *reader) {
    target *t = (target *)user;
    uint32_t count;
    CHECK(index == t->warps_taken++);
    t->found_depth[index] = warp->stack_entries;
    t->found_predicates[index] = warp->predicate_words;
    t->has_frame[index] = warp->frame != NULL;
    t->found_frame[index] = warp->frame_bytes;
    if (warp->frame) memcpy(t->b.frame[index], warp->frame, (size_t)warp->frame_bytes);
    (void)gpump_context_get_words(reader, GPUMP_CONTEXT_HOST, index, &t->b.own[index], 1, &count);
}
static void aim(target *t, const block *b) {
    gpump_context_view *v = &t->b.view;
    memset(t, 0x5a, sizeof *t);
    t->warps_taken = 0;
    t->no_registers = !below(6);
    t->predicate_room = b->predicate_words;
    for (uint32_t w = 0; w < WARPS; w++) t->depth_room[w] = DEPTH;
    memset(v, 0, sizeof *v);
    v->block = b->view.block;
    v->block.cookie = 0;
    v->compress = b->view.compress;
    if (b->view.registers) v->registers = t->b.registers[0];
    v->barriers = t->b.barriers;
    v->barrier_words = b->view.barrier_words;
    v->local = t->b.local;
    v->local_words = b->view.local_words;
    v->shared = t->b.shared;
    v->shared_bytes = b->view.shared_bytes;
    v->user = t;
    v->warp = place;
    v->took = took;
}

/* The registers that were written are back, and no other word of the array has changed. */
static void compare_registers(const target *t, const block *b, uint32_t w) {
    const gpump_context_view *v = &b->view;
    const int raw = !(v->allow && v->compress), alive = b->depth[w] && b->kind[w] == VALUES;
    const uint32_t lanes = !raw && w == v->block.warps - 1 ? b->last_lanes : v->block.lanes;
    for (uint32_t r = 0; r < v->block.registers; r++)
        for (uint32_t i = 0; i < v->block.lanes; i++) {
            const uint32_t at = r * v->block.lanes + i, is = t->b.registers[w][at];
            const int back = has_registers(b) && (v->registers || (alive && !t->no_registers)) && i < lanes;
            if (back && (raw || b->live[w] >> r & 1))
                CHECK(is == b->registers[w][at]);
            else if (!back)
                CHECK(is == 0x5a5a5a5a);
        }
}
static void compare(const target *t, const block *b) {
    const gpump_context_view *v = &b->view;
    CHECK(t->warps_taken == v->block.warps && t->b.view.block.cookie == v->block.cookie);
    for (uint32_t w = 0; w < v->block.warps; w++) {
        const int framed = has_registers(b) && !v->registers && b->kind[w] == IN_FRAME;
        compare_registers(t, b, w);
        CHECK(t->has_frame[w] == framed && t->found_frame[w] == (framed ? b->frame_bytes : 0));
        CHECK(!framed || !memcmp(t->b.frame[w], b->frame[w], b->frame_bytes));
        CHECK(t->found_depth[w] == b->depth[w]);
        CHECK(!memcmp(t->b.stack[w], b->stack[w], b->depth[w] * sizeof b->stack[w][0]));
        CHECK(t->found_predicates[w] == (b->depth[w] && b->predicate_words ? b->predicate_words : GPUMP_NONE));
        if (!b->depth[w]) continue;
        CHECK(!memcmp(t->b.predicates[w], b->predicates[w], 8 * b->predicate_words));
        CHECK(!b->has_own || t->b.own[w] == b->own[w]);
    }
    CHECK(!memcmp(t->b.barriers, b->barriers, 8 * v->barrier_words));
    CHECK(!memcmp(t->b.local, b->local, 8 * v->local_words));
    if (!(v->control.in_place & GPUMP_PART_SHARED_MEMORY))
        CHECK(!memcmp(t->b.shared, b->shared, (size_t)v->shared_bytes));
}

/* One thing that the reader takes to be otherwise: what is said about it, of which warp, with which numbers. */
typedef struct difference {
    gpump_result result;
    const char *field;
    uint64_t index, is, wanted;
} difference;
static difference differ(gpump_result result, const char *field, uint64_t index, uint64_t is, uint64_t wanted) {
    const difference made = {result, field, index, is, wanted};
    return made;
}
/* The reader expects one more. */
static difference one_more(const char *field, uint32_t *expected) {
    const uint32_t is = (*expected)++;
    return differ(GPUMP_ERROR_FORMAT, field, 0, is, *expected);
}
static difference make_difference(target *t, const block *b) {
    gpump_context_view *v = &t->b.view;
    const uint32_t w = below(v->block.warps);
    switch (below(13)) {
    case 0: return one_more("warps", &v->block.warps);
    case 1: return one_more("lanes", &v->block.lanes);
    case 2: return one_more("registers", &v->block.registers);
    case 3:
        if (!b->depth[w]) break;
        t->depth_room[w] = b->depth[w] - 1;
        return differ(GPUMP_ERROR_CAPACITY, "stacks", w, 0, 0);
    case 4:
        if (!b->depth[w]) break;
        t->depth_room[w] = GPUMP_NONE; /* no array, whatever the count says */
        return differ(GPUMP_ERROR_CAPACITY, "stacks", w, 0, 0);
    case 5:
        for (uint32_t i = 0; i < v->block.warps && b->predicate_words; i++)
            if (b->depth[i]) return t->predicate_room--, differ(GPUMP_ERROR_CAPACITY, "predicates", i, 0, 0);
        break;
    case 6:
        if (!v->barrier_words) break;
        v->barrier_words--;
        return differ(GPUMP_ERROR_CAPACITY, "barriers", 0, 0, 0);
    case 7:
        if (!v->barrier_words) break;
        return one_more("barriers", &v->barrier_words);
    case 8:
        if (!v->local_words) break;
        return one_more("words of local memory", &v->local_words);
    case 9:
        if (!v->local_words) break;
        v->local = NULL;
        return differ(GPUMP_ERROR_CAPACITY, "words of local memory", 0, 0, 0);
    case 10:
        if (!v->shared_bytes || b->view.control.in_place & GPUMP_PART_SHARED_MEMORY) break;
        v->shared_bytes++;
        return differ(GPUMP_ERROR_FORMAT, "parts", 0, 0, 0);
    case 11:
        if (!v->shared_bytes || b->view.control.in_place & GPUMP_PART_SHARED_MEMORY) break;
        v->omit = 1u << GPUMP_CONTEXT_EXITS; /* some part may be missing */
        v->shared_bytes++;
        return differ(GPUMP_ERROR_FORMAT, "bytes of shared memory", 0, v->shared_bytes - 1, v->shared_bytes);
    case 12: /* the values of a warp would overlap */
        for (uint32_t i = 0; i < v->block.warps && has_registers(b) && b->view.allow; i++) {
            if (!v->registers && (b->kind[i] != VALUES || t->no_registers)) continue;
            t->b.layout = b->layout;
            t->b.layout.register_stride--;
            v->compress = &t->b.layout;
            return differ(GPUMP_ERROR_ARGUMENT, "registers", v->registers ? 0 : i, 0, 0);
        }
        break;
    default: break;
    }
    return differ(GPUMP_OK, "", 0, 0, 0);
}

/* A random block that is read back equals the one that was written, or the first field that differs is named. */
static void random_blocks_come_back_or_their_difference_is_named(void **state) {
    static block b;
    static target t;
    static uint8_t memory[ROOM];
    uint64_t whole = 0, different = 0;
    (void)state;
    seed = random_state = test_seed();
    for (number = 0; number < test_cases(20000); number++) {
        gpump_context_writer writer;
        gpump_context_reader reader;
        gpump_diag diag;
        difference wanted;
        gpump_result result;
        uint64_t bytes;
        make(&b);
        if (b.counts_alone || !b.view.barriers) continue;
        b.view.omit = 0;
        CHECK(gpump_context_begin(&writer, memory, ROOM) == GPUMP_OK);
        CHECK(gpump_context_put_view(&writer, &b.view, NULL) == GPUMP_OK);
        CHECK(gpump_context_end(&writer, &bytes) == GPUMP_OK);
        if (b.view.registers && !has_registers(&b)) continue; /* the host would not ask for them together */
        aim(&t, &b);
        wanted = below(2) ? make_difference(&t, &b) : differ(GPUMP_OK, "", 0, 0, 0);
        memset(&diag, 0, sizeof diag);
        CHECK(gpump_context_open(&reader, memory, bytes, NULL) == GPUMP_OK);
        result = gpump_context_get_view(&reader, &t.b.view, &diag);
        CHECK(result == wanted.result);
        if (result == GPUMP_OK) {
            compare(&t, &b);
            whole++;
            continue;
        }
        different++;
        CHECK(!strcmp(diag.field, wanted.field) && diag.index == wanted.index && diag.code == result);
        CHECK(diag.value == wanted.is && diag.minimum == wanted.wanted && diag.maximum == wanted.wanted);
    }
    assert_true(whole > different / 4 && different > whole / 8);
}

/* A warp that has registers does not lie in a frame, whatever else is in its context. */
static void registers_come_before_a_frame(void **state) {
    static block b;
    static target t;
    static uint8_t memory[ROOM];
    gpump_context_writer writer;
    gpump_context_reader reader;
    uint64_t bytes;
    (void)state;
    seed = random_state = test_seed();
    do make(&b);
    while (b.view.block.warps != 1 || b.view.allow || b.view.control.in_place || !b.view.block.registers ||
           b.kind[0] != VALUES || b.counts_alone || !b.view.barriers);
    b.view.omit = 0;
    assert_int_equal(gpump_context_begin(&writer, memory, ROOM), GPUMP_OK);
    assert_int_equal(gpump_context_put_view(&writer, &b.view, NULL), GPUMP_OK);
    gpump_context_put(&writer, GPUMP_CONTEXT_FRAME, 0, b.frame[0], FRAME);
    assert_int_equal(gpump_context_end(&writer, &bytes), GPUMP_OK);
    do aim(&t, &b);
    while (t.no_registers);
    assert_int_equal(gpump_context_open(&reader, memory, bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_context_get_view(&reader, &t.b.view, NULL), GPUMP_OK);
    compare(&t, &b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_blocks_have_the_listed_sections),
        cmocka_unit_test(the_first_error_of_a_warp_stays),
        cmocka_unit_test(registers_come_before_a_frame),
        cmocka_unit_test(random_blocks_come_back_or_their_difference_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
