/* labels: unit */
/* Views that no SM can have are named, with the block and the field; views that an SM has are not. */
#include <time.h>

#include "diagnosed.h"

static gpump_block_view views[3];

static void good(void) {
    memset(views, 0, sizeof views);
    for (uint32_t i = 0; i < 3; i++) {
        views[i].block.slot = i;
        views[i].kernel = 1;
        views[i].state = GPUMP_BLOCK_RUNNING;
        views[i].may = 7;
        views[i].threads = 64;
        views[i].warps = 2;
        views[i].registers = 1024;
        views[i].register_base = 1024 * i;
        views[i].shared_bytes = 256;
        views[i].shared_base = 256 * i;
    }
}
static void is_wrong(const char *field, uint32_t index, uint64_t value, uint64_t minimum, uint64_t maximum) {
    gpump_diag diag;
    char text[200];
    assert_int_equal(gpump_block_view_check(views, 3, &diag), GPUMP_ERROR_ARGUMENT);
    assert_true(diag.value == value && diag.minimum == minimum && diag.maximum == maximum);
    if (strncmp(diag.field, field, strlen(field)) != 0) fail_msg("%s instead of %s", diag.field, field);
    assert_int_equal(diag.index, index);
    gpump_diag_text(&diag, text, sizeof text);
    assert_non_null(strstr(text, field));
    assert_int_equal(gpump_block_view_check(views, 3, NULL), GPUMP_ERROR_ARGUMENT);
    good();
}

/* gpump_block_view_check refuses views with wrong states, sizes, or ranges that overlap, and names the view and the
 * field. */
static void views_that_nobody_can_have(void **state) {
    (void)state;
    good();
    assert_int_equal(gpump_block_view_check(views, 3, NULL), GPUMP_OK);
    assert_int_equal(gpump_block_view_check(NULL, 0, NULL), GPUMP_OK);
    diagnosed_null(gpump_block_view_check(NULL, 1, DIAG), "blocks");
    for (uint32_t i = 0; i < 3; i++) views[i].register_base = 0; /* a host that has no addresses */
    is_wrong("blocks.register_base", 1, 0, 1024, UINT32_MAX);
    views[2].shared_base = 511;
    is_wrong("blocks.shared_base", 2, 511, 512, UINT32_MAX);
    views[1].register_base = UINT32_MAX - 1023; /* up to the end, and not around it */
    assert_int_equal(gpump_block_view_check(views, 3, NULL), GPUMP_OK);
    views[1].state = GPUMP_BLOCK_FREE;
    is_wrong("blocks.state", 1, GPUMP_BLOCK_FREE, 1, GPUMP_BLOCK_STATES - 1);
    views[1].state = GPUMP_BLOCK_STATES;
    is_wrong("blocks.state", 1, GPUMP_BLOCK_STATES, 1, GPUMP_BLOCK_STATES - 1);
    views[0].kernel = 0;
    is_wrong("blocks.kernel", 0, 0, 1, UINT32_MAX);
    views[2].may = 1u << GPUMP_TECHNIQUES;
    is_wrong("blocks.may", 2, 1u << GPUMP_TECHNIQUES, 0, (1u << GPUMP_TECHNIQUES) - 1);
    views[2].threads = 0;
    is_wrong("blocks.threads", 2, 0, 1, UINT32_MAX);
    views[2].warps = 0;
    is_wrong("blocks.warps", 2, 0, 1, UINT32_MAX);
    for (uint32_t slot = 0; slot < 130; slot += 13) { /* 65 among them */
        views[0].block.slot = views[2].block.slot = slot;
        views[0].block.generation = views[2].block.generation = 1000;
        views[1].block.slot = slot + 1;
        is_wrong("blocks.block", 2, slot, 0, UINT32_MAX);
    }
    views[0].block.slot = views[1].block.slot = 64;
    is_wrong("blocks.block", 1, 64, 0, UINT32_MAX);
    views[1].state = GPUMP_BLOCK_SAVING;
    views[1].technique = GPUMP_NONE;
    is_wrong("blocks.technique", 1, GPUMP_NONE, 0, GPUMP_TECHNIQUES - 1);
    views[1].state = GPUMP_BLOCK_STOPPING;
    views[1].keep = GPUMP_PART_STACKS;
    is_wrong("blocks.keep", 1, GPUMP_PART_STACKS, 0, GPUMP_PARTS_IN_PLACE);
    views[1].state = GPUMP_BLOCK_PARKED;
    views[1].threads = views[1].warps = views[1].registers = 0;
    assert_int_equal(gpump_block_view_check(views, 3, NULL), GPUMP_OK);
    views[1].shared_bytes = 0;
    is_wrong("blocks.registers and shared_bytes", 1, 0, 1, UINT32_MAX);
}

/* What one view is refused for, and the least and the most that its field may be; NULL: nothing. */
typedef struct refusal {
    const char *field;
    uint64_t value, minimum, maximum;
} refusal;
static refusal refuse(const gpump_block_view *v) {
    enum { TECHNIQUES = (1 << GPUMP_TECHNIQUES) - 1 };
    const int is_saved = v->state == GPUMP_BLOCK_STOPPING || v->state == GPUMP_BLOCK_SAVING;
    /* Its slots may be gone. */
    const int may_be_out = v->state == GPUMP_BLOCK_PARKED || v->state == GPUMP_BLOCK_SAVING ||
                           v->state == GPUMP_BLOCK_SAVED || v->state == GPUMP_BLOCK_FLUSHED ||
                           v->state == GPUMP_BLOCK_KILLED;
    const refusal state = {"blocks.state", v->state, 1, GPUMP_BLOCK_STATES - 1},
                  kernel = {"blocks.kernel", 0, 1, UINT32_MAX}, may = {"blocks.may", v->may, 0, TECHNIQUES},
                  threads = {"blocks.threads", 0, 1, UINT32_MAX}, warps = {"blocks.warps", 0, 1, UINT32_MAX},
                  empty = {"blocks.registers and shared_bytes of a parked block", 0, 1, UINT32_MAX},
                  technique = {"blocks.technique", v->technique, 0, GPUMP_TECHNIQUES - 1},
                  keep = {"blocks.keep", v->keep, 0, 3}, nothing = {NULL, 0, 0, 0};
    if (v->state < 1 || v->state > GPUMP_BLOCK_STATES - 1) return state;
    if (!v->kernel) return kernel;
    if (v->may > TECHNIQUES) return may;
    if (!v->threads && (v->warps || !may_be_out)) return threads;
    if (!v->warps && v->threads) return warps;
    if (v->state == GPUMP_BLOCK_PARKED && !v->registers && !v->shared_bytes) return empty;
    if (is_saved && v->technique >= GPUMP_TECHNIQUES) return technique;
    if (is_saved && v->keep > 3) return keep;
    return nothing;
}

/* A random view is refused for the same field, with the same range, as by the definition in plain words. */
static void one_view_is_refused_as_by_the_definition(void **state) {
    uint64_t random = test_seed();
    uint32_t sound = 0, refused = 0;
    (void)state;
    for (uint32_t n = 0; n < 20000; n++) {
        gpump_block_view v;
        gpump_diag diag;
        refusal wanted;
        memset(&v, 0, sizeof v);
        v.block.slot = gpump_random_below(&random, 90);
        v.state = gpump_random_below(&random, GPUMP_BLOCK_STATES + 2);
        v.kernel = gpump_random_below(&random, 12) ? 3 : 0;
        v.function = gpump_random_below(&random, 3); /* the following are not looked at */
        v.register_base = gpump_random_below(&random, 9);
        v.shared_base = gpump_random_below(&random, 9);
        v.group = gpump_random_below(&random, 3);
        v.faults = gpump_random_below(&random, 3);
        v.may = gpump_random_below(&random, 12) ? 5 : 1u << gpump_random_below(&random, 32);
        v.threads = gpump_random_below(&random, 3) ? 64 : 0;
        v.warps = gpump_random_below(&random, 8) ? v.threads / 32 : gpump_random_below(&random, 2);
        v.registers = gpump_random_below(&random, 3) ? 0 : 9;
        v.shared_bytes = gpump_random_below(&random, 3) ? 0 : 9;
        v.technique = gpump_random_below(&random, 4) ? 1 : gpump_random_below(&random, GPUMP_TECHNIQUES + 2);
        v.keep = gpump_random_below(&random, 6);
        wanted = refuse(&v);
        if (!wanted.field) {
            sound++;
            assert_int_equal(gpump_block_view_check(&v, 1, &diag), GPUMP_OK);
            continue;
        }
        refused++;
        assert_int_equal(gpump_block_view_check(&v, 1, &diag), GPUMP_ERROR_ARGUMENT);
        assert_string_equal(diag.field, wanted.field);
        assert_true(diag.value == wanted.value && diag.minimum == wanted.minimum && diag.maximum == wanted.maximum);
    }
    assert_true(sound > 3000 && refused > 3000);
}

/* Each built-in technique is found by its name, and a number or name of nobody's technique is none. */
static void every_technique_has_a_name(void **state) {
    (void)state;
    static const char *const names[] = {"flush", "switch", "drain", "rewind"};
    for (uint32_t i = 0; i < GPUMP_TECHNIQUE_OWN; i++) {
        const gpump_technique *how = gpump_technique_at(i);
        assert_string_equal(how->name, names[i]);
        assert_int_equal(how->begin, i); /* a built-in technique begins as its number says */
        assert_int_equal(gpump_technique_begins(i), i);
        assert_int_equal(gpump_technique_find(names[i]), i);
    }
    for (uint32_t i = GPUMP_TECHNIQUE_OWN; i < GPUMP_TECHNIQUES + 2; i++) { /* nobody has defined one */
        assert_null(gpump_technique_at(i));
        assert_int_equal(gpump_technique_begins(i), GPUMP_NONE);
    }
    assert_int_equal(gpump_technique_find("kill"), GPUMP_NONE);
    assert_int_equal(gpump_technique_find("select"), GPUMP_NONE);
    assert_int_equal(gpump_technique_find(NULL), GPUMP_NONE);
}

/* A block may not be switched, nor rewound, where its kernel has no space for one context more of its size. */
static void space_for_contexts(void **state) {
    enum { SAVE = 1 << GPUMP_TECHNIQUE_SWITCH | 1 << GPUMP_TECHNIQUE_REWIND, ALL = 15 };
    gpump_context_room rooms[2] = {{1000, 1, 1}, {UINT64_MAX, 2, UINT32_MAX}};
    (void)state;
    good();
    for (uint32_t i = 0; i < 3; i++) {
        views[i].kernel = i + 1;
        views[i].context_bytes = 1000;
        views[i].may = ALL;
    }
    gpump_technique_limit_by_room(views, 3, rooms, 2);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(views[i].may, ALL); /* the third kernel has no room: no limit */
    rooms[0].context_bytes = 999;
    rooms[1].contexts = 0;
    views[2].kernel = 2;
    views[2].state = GPUMP_BLOCK_PARKED; /* it has its context */
    gpump_technique_limit_by_room(views, 3, NULL, 0);
    assert_int_equal(views[0].may, ALL);
    gpump_technique_limit_by_room(views, 3, rooms, 2);
    assert_int_equal(views[0].may, ALL & ~SAVE);
    assert_int_equal(views[1].may, ALL & ~SAVE);
    assert_int_equal(views[2].may, ALL);
    views[0].may = 1u << GPUMP_TECHNIQUE_DRAIN; /* nothing is added */
    rooms[0].context_bytes = 1000;
    gpump_technique_limit_by_room(views, 1, rooms, 2);
    assert_int_equal(views[0].may, 1u << GPUMP_TECHNIQUE_DRAIN);
}

/* The first block in the list that shares what it may not with a block before it; `count`: none does. */
static uint32_t first_clash(const gpump_block_view *list, uint32_t count, refusal *wanted) {
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const gpump_block_view *a = &list[i], *b = &list[j];
            const refusal twice = {"blocks.block (the same block twice)", a->block.slot, 0, UINT32_MAX},
                          registers = {"blocks.register_base (registers of two blocks overlap)", a->register_base,
                                       b->register_base + b->registers, UINT32_MAX},
                          shared = {"blocks.shared_base (shared memory of two blocks overlaps)", a->shared_base,
                                    b->shared_base + b->shared_bytes, UINT32_MAX};
            *wanted = twice;
            if (a->block.slot == b->block.slot && a->block.generation == b->block.generation) return i;
            *wanted = registers;
            for (uint32_t r = 0; r < a->registers; r++)
                if (a->register_base + r - b->register_base < b->registers) return i;
            *wanted = shared;
            for (uint32_t r = 0; r < a->shared_bytes; r++)
                if (a->shared_base + r - b->shared_base < b->shared_bytes) return i;
        }
    return count;
}

/* Blocks in any order of slots and places, some of them without registers or shared memory, beside a search unit by
 * unit and pair by pair. */
static void views_in_any_order(void **state) {
    uint64_t random = test_seed();
    uint32_t sound = 0, clashes = 0;
    (void)state;
    good();
    for (uint32_t n = 0; n < 20000; n++) {
        static gpump_block_view list[70];
        const uint32_t count = n % 100 ? gpump_random_below(&random, 9) : gpump_random_below(&random, 71);
        const uint32_t most = 1 + gpump_random_below(&random, 5);
        gpump_diag diag;
        refusal wanted;
        uint32_t clash;
        memset(list, 0, sizeof list);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t at =
                gpump_random_below(&random, 3) ? i * 5 : (count - i) * 5 + gpump_random_below(&random, 9);
            const uint32_t size = 1 + gpump_random_below(&random, most);
            list[i] = views[0];
            list[i].block.slot = gpump_random_below(&random, 20) ? i : gpump_random_below(&random, 70);
            list[i].block.generation = gpump_random_below(&random, 2);
            list[i].registers = gpump_random_below(&random, 4) ? size : 0;
            list[i].register_base = at;
            list[i].shared_bytes = gpump_random_below(&random, 4) ? size : 0;
            list[i].shared_base = gpump_random_below(&random, 40) ? i * 5 : at;
            if (n % 4) continue;
            list[i].block.slot = i; /* all in order, and every now and then one that begins too early */
            list[i].register_base = 10 + i * 5 - (gpump_random_below(&random, 9) ? 0 : gpump_random_below(&random, 9));
            list[i].shared_base = 10 + i * 5 - (gpump_random_below(&random, 9) ? 0 : gpump_random_below(&random, 9));
        }
        clash = first_clash(list, count, &wanted);
        if (clash == count) {
            sound++;
            assert_int_equal(gpump_block_view_check(list, count, NULL), GPUMP_OK);
            continue;
        }
        clashes++;
        assert_int_equal(gpump_block_view_check(list, count, &diag), GPUMP_ERROR_ARGUMENT);
        assert_int_equal(diag.index, clash);
        assert_string_equal(diag.field, wanted.field);
        assert_true(diag.value == wanted.value && diag.minimum == wanted.minimum && diag.maximum == wanted.maximum);
    }
    assert_true(sound > 3000 && clashes > 3000);
}

/* Processor time of many checks. On a busy machine it may be any: one attempt of several has to be right. */
static clock_t check_often(const gpump_block_view *list, uint32_t count) {
    const clock_t begin = clock();
    for (uint32_t i = 0; i < 300; i++) assert_int_equal(gpump_block_view_check(list, count, NULL), GPUMP_OK);
    return clock() - begin;
}

/* 64 sound blocks, nearly in the order of their places, are not compared pair by pair, as blocks of slots beyond 63
 * are. */
static void sound_views_are_checked_in_linear_time(void **state) {
    (void)state;
    good();
    for (uint32_t layout = 0; layout < 8; layout++) { /* bits: neighbours swapped; no registers; no shared memory */
        gpump_block_view list[64];
        int linear = 0;
        for (uint32_t i = 0; i < 64; i++) {
            list[i] = views[0];
            list[i].registers = layout & 2 && i % 3 == 0 ? 0 : 16;
            list[i].register_base = list[i].registers ? 16 * (layout & 1 ? i ^ 1u : i) : 24;
            list[i].shared_bytes = layout & 4 && i % 3 == 0 ? 0 : 16;
            list[i].shared_base = list[i].shared_bytes ? 16 * (layout & 1 ? i ^ 1u : i) : 24;
        }
        for (uint32_t attempt = 0; attempt < 5 && !linear; attempt++) {
            clock_t times[2] = {0, 0};
            while (times[1] < CLOCKS_PER_SEC / 40) /* several ticks of a coarse clock */
                for (uint32_t far = 0; far < 2; far++) {
                    for (uint32_t i = 0; i < 64; i++) list[i].block.slot = 63 - i + 64 * far;
                    times[far] += check_often(list, 64);
                }
            linear = 2 * times[0] < times[1];
        }
        assert_true(linear);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_that_nobody_can_have),
        cmocka_unit_test(views_in_any_order),
        cmocka_unit_test(sound_views_are_checked_in_linear_time),
        cmocka_unit_test(one_view_is_refused_as_by_the_definition),
        cmocka_unit_test(space_for_contexts),
        cmocka_unit_test(every_technique_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
