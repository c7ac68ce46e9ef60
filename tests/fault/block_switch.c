/* labels: unit property */
/* block_switch: who leaves on a fault and who comes (Tanasic 6.4.1), and random lives against a plain model. */
#include "test.h"

enum { WORDS = 2048, NONE = 99 };
static uint64_t memory[WORDS];
static gpump_block_switch *unit;

/* Reports one resident, as a host without gpump_sm fills it; the port moves a byte per cycle. */
static gpump_result came(gpump_block_switch *u, uint64_t now, uint64_t cookie, uint32_t warps, uint64_t switch_cycles) {
    gpump_block_view view;
    memset(&view, 0, sizeof view);
    view.cookie = cookie;
    view.kernel = 1;
    view.state = GPUMP_BLOCK_RUNNING;
    view.threads = 32 * warps;
    view.warps = warps;
    view.context_bytes = switch_cycles / 2;
    return gpump_block_switch_report_residents(u, now, &view, 1);
}
static void make(const char *preset, uint32_t blocks) {
    gpump_block_switch_config config;
    assert_int_equal(gpump_preset(&gpump_block_switch_component, &config, preset, NULL), GPUMP_OK);
    config.port.cycles = config.port.bytes = 1;
    assert_int_equal(gpump_init(&gpump_block_switch_component, memory, sizeof memory, &config, &unit, NULL), GPUMP_OK);
    assert_int_equal(gpump_block_switch_set_blocks(unit, blocks), GPUMP_OK);
}
static void checked(void) {
    gpump_diag diag;
    if (gpump_check(&gpump_block_switch_component, unit, &diag)) fail_msg("%s", diag.field);
}
static void place(uint64_t now, uint64_t cookie) {
    assert_int_equal(came(unit, now, cookie, 2, 400), GPUMP_OK);
    checked();
}
/* Both warps of a block stop; it waits for `pending` granules, the last of which is there at `ready`. */
static void block(uint64_t now, uint64_t cookie, uint32_t pending, uint64_t ready) {
    assert_int_equal(gpump_block_switch_report_warp(unit, now, cookie, 0, 0), GPUMP_OK);
    assert_int_equal(gpump_block_switch_report_pending(unit, now, cookie, pending, ready), GPUMP_OK);
    assert_int_equal(gpump_block_switch_report_warp(unit, now, cookie, 1, 0), GPUMP_OK);
    checked();
}
static void serve(uint64_t now, uint64_t cookie) {
    assert_int_equal(gpump_block_switch_report_pending(unit, now, cookie, 0, 0), GPUMP_OK);
    for (uint32_t warp = 0; warp < 2; warp++)
        assert_int_equal(gpump_block_switch_report_warp(unit, now, cookie, warp, 1), GPUMP_OK);
    checked();
}
static void expect(uint64_t now, uint32_t kind, uint64_t cookie) {
    gpump_block_switch_action action;
    assert_int_equal(gpump_next_cycle(&gpump_block_switch_component, unit) <= now, 1);
    assert_int_equal(gpump_block_switch_next(unit, now, &action), GPUMP_OK);
    assert_int_equal(action.kind, kind);
    assert_int_equal(action.cookie, cookie);
    checked();
}
static void nothing(uint64_t now) {
    gpump_block_switch_action action;
    assert_int_equal(gpump_block_switch_next(unit, now, &action), GPUMP_EMPTY);
    checked();
}

/* A block leaves when none of its warps can run and somebody can come; it returns once its pages are there. */
static void a_block_leaves_and_returns(void **state) {
    gpump_block_switch_statistics s;
    (void)state;
    make("table61", 2);
    place(10, 1);
    place(10, 2);
    assert_int_equal(came(unit, 10, 3, 2, 0), GPUMP_ERROR_FULL);
    assert_int_equal(came(unit, 10, 2, 2, 0), GPUMP_OK); /* known already */
    block(20, 1, 1, 500);
    nothing(20); /* nobody could come in its place */
    assert_int_equal(gpump_block_switch_set_outside(unit, 5, UINT32_MAX), GPUMP_OK);
    expect(30, GPUMP_BLOCK_SWITCH_ACT_OUT, 1);
    nothing(30); /* its room is not free yet */
    assert_int_equal(gpump_block_switch_report_left(unit, 50, 1), GPUMP_OK);
    expect(50, GPUMP_BLOCK_SWITCH_ACT_NEW, 0);
    nothing(50);
    place(55, 3);
    assert_int_equal(gpump_block_switch_report_warp(unit, 60, 2, 0, 0), GPUMP_OK);
    assert_int_equal(gpump_block_switch_report_pending(unit, 60, 2, 1, 900), GPUMP_OK);
    nothing(60); /* warp 1 of block 2 still runs */
    serve(500, 1);
    nothing(500); /* ready, and nobody is blocked */
    assert_int_equal(gpump_block_switch_report_warp(unit, 510, 2, 1, 0), GPUMP_OK);
    expect(520, GPUMP_BLOCK_SWITCH_ACT_OUT, 2);
    assert_int_equal(gpump_block_switch_report_left(unit, 540, 2), GPUMP_OK);
    expect(540, GPUMP_BLOCK_SWITCH_ACT_IN, 1); /* before a new one */
    assert_int_equal(came(unit, 560, 1, 2, 400), GPUMP_OK);
    assert_int_equal(gpump_block_switch_report_ended(unit, 600, 3), GPUMP_OK);
    expect(600, GPUMP_BLOCK_SWITCH_ACT_NEW, 0);
    assert_int_equal(gpump_block_switch_report_none(unit, 601), GPUMP_OK);
    nothing(601);
    serve(700, 2); /* sooner than was said */
    expect(700, GPUMP_BLOCK_SWITCH_ACT_IN, 2);
    gpump_get_statistics(&gpump_block_switch_component, unit, &s);
    assert_int_equal(s.outs, 2);
    assert_int_equal(s.ins, 2);
    assert_int_equal(s.news, 2);
    assert_int_equal(s.none, 1);
    assert_int_equal(s.blocked_cycles, (30 - 20) + (520 - 510));
    assert_int_equal(s.off_cycles, (540 - 50) + (700 - 540));
    assert_int_equal(s.ready_cycles, 540 - 500);
}

/* The residents of a gpump_sm as they are: blocks that leave for good and parked ones are not new, and those that the
 * unit knows stay as they are. Two blocks find room, a third does not. */
static void residents_of_an_sm(void **state) {
    static uint64_t room[4096];
    gpump_sm_config config;
    gpump_sm_request request;
    gpump_block_ref block;
    gpump_block_choice choice;
    gpump_block_view residents[8];
    gpump_block_switch_view views[8];
    gpump_sm *sm;
    uint32_t count;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_sm_component, &config, "k20c", NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_sm_component, room, sizeof room, &config, &sm, NULL), GPUMP_OK);
    memset(&request, 0, sizeof request);
    memset(&choice, 0, sizeof choice);
    request.kernel = 1;
    request.need.threads = 96;
    for (request.cookie = 1; request.cookie <= 4; request.cookie++) {
        assert_int_equal(gpump_sm_place(sm, 1, &request, NULL, &block, NULL), GPUMP_OK);
        if (request.cookie == 1) choice.block = block;
    }
    choice.technique = GPUMP_TECHNIQUE_FLUSH;
    assert_int_equal(gpump_sm_preempt(sm, 2, &choice, 1, NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_blocks(sm, 3, residents, 8, &count), GPUMP_OK);
    assert_int_equal(count, 4);
    make("table61", 2);
    assert_int_equal(gpump_block_switch_report_residents(unit, 3, residents, count), GPUMP_ERROR_FULL);
    assert_int_equal(gpump_block_switch_blocks(unit, views, 8, &count), GPUMP_OK);
    assert_int_equal(count, 0); /* all of them or none */
    assert_int_equal(gpump_block_switch_report_residents(unit, 3, residents, 3), GPUMP_OK);
    assert_int_equal(gpump_block_switch_report_residents(unit, 4, residents, 3), GPUMP_OK);
    checked();
    assert_int_equal(gpump_block_switch_blocks(unit, views, 8, &count), GPUMP_OK);
    assert_int_equal(count, 2);
    assert_true(views[0].cookie == 2 && views[1].cookie == 3 && views[0].warps == 3 && views[0].since == 3);
    assert_int_equal(gpump_block_switch_report_residents(unit, 4, NULL, 1), GPUMP_ERROR_ARGUMENT);
}

/* A block whose warps all wait at a barrier, and for no page, stays. */
static void a_barrier_is_no_fault(void **state) {
    (void)state;
    make("table61", 1);
    assert_int_equal(gpump_block_switch_set_outside(unit, 5, UINT32_MAX), GPUMP_OK);
    place(1, 7);
    block(2, 7, 0, 0);
    nothing(2);
    assert_int_equal(gpump_block_switch_report_pending(unit, 3, 7, 2, 90), GPUMP_OK);
    expect(3, GPUMP_BLOCK_SWITCH_ACT_OUT, 7);
}

/* At most four blocks more than the SM holds (6.5.3); then only cycling. */
static void four_extra_blocks(void **state) {
    uint64_t cookie, now = 10;
    (void)state;
    make("table61", 2);
    assert_int_equal(gpump_block_switch_set_outside(unit, UINT32_MAX, UINT32_MAX), GPUMP_OK);
    place(now, 0);
    place(now, 1);
    for (cookie = 0; cookie < 4; cookie++) {
        block(++now, cookie, 1, 100000 + cookie);
        expect(now, GPUMP_BLOCK_SWITCH_ACT_OUT, cookie);
        assert_int_equal(gpump_block_switch_report_left(unit, now, cookie), GPUMP_OK);
        expect(now, GPUMP_BLOCK_SWITCH_ACT_NEW, 0);
        place(now, cookie + 2);
    }
    block(++now, 4, 1, 200000);
    block(now, 5, 1, 300000);
    nothing(now); /* a fifth has no place off the chip */
    serve(++now, 2);
    expect(now, GPUMP_BLOCK_SWITCH_ACT_OUT, 5); /* the one whose pages are furthest away */
    nothing(now);
    assert_int_equal(gpump_block_switch_report_left(unit, ++now, 5), GPUMP_OK);
    expect(now, GPUMP_BLOCK_SWITCH_ACT_IN, 2);
    nothing(now);
}

/* Without room for contexts blocks stay, and OUT is not repeated. */
static void no_room_for_contexts(void **state) {
    (void)state;
    make("table61", 2);
    assert_int_equal(gpump_block_switch_set_outside(unit, 9, 1), GPUMP_OK);
    place(1, 1);
    place(1, 2);
    block(2, 1, 1, 100);
    block(2, 2, 1, 100);
    expect(2, GPUMP_BLOCK_SWITCH_ACT_OUT, 1);
    nothing(2); /* the one context is taken */
    assert_int_equal(gpump_block_switch_report_stayed(unit, 3, 1), GPUMP_OK);
    nothing(3);
    assert_int_equal(gpump_block_switch_set_outside(unit, 9, 1), GPUMP_OK);
    expect(4, GPUMP_BLOCK_SWITCH_ACT_OUT, 1);
    assert_int_equal(gpump_block_switch_report_left(unit, 5, 1), GPUMP_OK);
    assert_int_equal(gpump_block_switch_report_ended(unit, 6, 1), GPUMP_OK); /* killed: its context is free again */
    expect(6, GPUMP_BLOCK_SWITCH_ACT_NEW, 0);
    place(6, 3);
    expect(6, GPUMP_BLOCK_SWITCH_ACT_OUT, 2);
}

/* By price a block stays when its pages are there before it could be saved and restored. */
static void switch_or_stay(void **state) {
    (void)state;
    make("priced", 1);
    assert_int_equal(gpump_block_switch_set_outside(unit, 9, UINT32_MAX), GPUMP_OK);
    place(1, 1);
    block(100, 1, 1, 500); /* in 400 cycles, which the switch takes too */
    nothing(100);
    nothing(400);
    assert_int_equal(gpump_block_switch_report_pending(unit, 410, 1, 2, 811), GPUMP_OK);
    expect(410, GPUMP_BLOCK_SWITCH_ACT_OUT, 1);
}

/* A block that spins for what a ready block would write leaves after fair_cycles. */
static void a_spinning_block_leaves(void **state) {
    gpump_block_switch_action action;
    (void)state;
    make("table61", 1);
    assert_int_equal(gpump_block_switch_set_outside(unit, 1, UINT32_MAX), GPUMP_OK);
    place(1, 1);
    block(2, 1, 1, 100);
    expect(2, GPUMP_BLOCK_SWITCH_ACT_OUT, 1);
    assert_int_equal(gpump_block_switch_report_left(unit, 3, 1), GPUMP_OK);
    expect(3, GPUMP_BLOCK_SWITCH_ACT_NEW, 0);
    place(4, 2);
    assert_true(gpump_next_cycle(&gpump_block_switch_component, unit) == GPUMP_UNKNOWN);
    serve(100, 1);
    assert_int_equal(gpump_next_cycle(&gpump_block_switch_component, unit), 100 + 1000000);
    nothing(100 + 999999);
    assert_int_equal(gpump_block_switch_next(unit, 100 + 1000000, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_BLOCK_SWITCH_ACT_OUT);
    assert_int_equal(action.cookie, 2);
    assert_int_equal(action.fair, 1);
    nothing(100 + 1000000);
    assert_int_equal(gpump_block_switch_report_left(unit, 1000200, 2), GPUMP_OK);
    expect(1000200, GPUMP_BLOCK_SWITCH_ACT_IN, 1);
}

/* Of two blocks that run, the one leaves that has been on the SM longest, whatever their places in the table. */
static void the_longest_on_the_sm_makes_way(void **state) {
    gpump_block_switch_view views[3];
    gpump_block_switch_action action;
    uint32_t count;
    (void)state;
    make("table61", 2);
    assert_int_equal(gpump_block_switch_set_outside(unit, 1, UINT32_MAX), GPUMP_OK);
    place(1, 1);
    place(2, 2);
    block(3, 1, 1, 50);
    expect(3, GPUMP_BLOCK_SWITCH_ACT_OUT, 1);
    assert_int_equal(gpump_block_switch_report_left(unit, 4, 1), GPUMP_OK);
    expect(4, GPUMP_BLOCK_SWITCH_ACT_NEW, 0);
    place(5, 3);
    serve(50, 1);
    assert_int_equal(gpump_block_switch_next(unit, 1000050, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_BLOCK_SWITCH_ACT_OUT);
    assert_int_equal(action.cookie, 2); /* on the SM since 2, block 3 since 5 */
    assert_int_equal(action.fair, 1);
    assert_int_equal(gpump_block_switch_report_left(unit, 1000060, 2), GPUMP_OK);
    expect(1000060, GPUMP_BLOCK_SWITCH_ACT_IN, 1);
    assert_int_equal(came(unit, 1000070, 1, 2, 400), GPUMP_OK);
    assert_int_equal(gpump_block_switch_report_pending(unit, 1000075, 2, 3, 1000500), GPUMP_OK);
    assert_int_equal(gpump_block_switch_report_warp(unit, 1000080, 3, 1, 0), GPUMP_OK);
    memset(views, 0x5a, sizeof views);
    assert_int_equal(gpump_block_switch_blocks(unit, views, 3, &count), GPUMP_OK);
    assert_int_equal(count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        static const gpump_block_switch_view expected[] = {
            {1, 1000070, 0, 0, GPUMP_BLOCK_SWITCH_ON, 2, 0, 0},
            {2, 1000060, 1000500, 0, GPUMP_BLOCK_SWITCH_OFF, 2, 3, 0},
            {3, 5, 0, 2, GPUMP_BLOCK_SWITCH_ON, 2, 0, 0},
        };
        assert_memory_equal(views + i, expected + i, sizeof *views);
    }
}

/* Places of the table that no block has may hold anything in memory from outside: no block is chosen there, and a new
 * one starts afresh. The litter is an entry of block 1, at first ready off the chip, then blocked on the SM. */
static void litter_behind_the_blocks(void **state) {
    gpump_block_switch_config config;
    gpump_block_switch_view views[3];
    unsigned char *entries, *memory_end;
    uint32_t count;
    size_t bytes, one;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_block_switch_component, &config, "table61", NULL), GPUMP_OK);
    config.blocks = config.extra = 1;
    assert_int_equal(gpump_bytes(&gpump_block_switch_component, &config, &one, NULL), GPUMP_OK);
    config.blocks = 2;
    assert_int_equal(gpump_bytes(&gpump_block_switch_component, &config, &bytes, NULL), GPUMP_OK);
    one = bytes - one;
    entries = (unsigned char *)memory + bytes - 3 * one;
    memory_end = (unsigned char *)memory + bytes;
    for (uint32_t on = 0; on < 2; on++) {
        unsigned char litter[256];
        assert_true(one <= sizeof litter);
        assert_int_equal(gpump_init(&gpump_block_switch_component, memory, bytes, &config, &unit, NULL), GPUMP_OK);
        assert_int_equal(gpump_block_switch_set_outside(unit, 1, UINT32_MAX), GPUMP_OK);
        place(1, 1);
        place(1, 2);
        block(2, 1, 1, 5000);
        memcpy(litter, entries, one);
        expect(3, GPUMP_BLOCK_SWITCH_ACT_OUT, 1);
        assert_int_equal(gpump_block_switch_report_left(unit, 4, 1), GPUMP_OK);
        assert_int_equal(gpump_block_switch_report_pending(unit, 5, 1, 0, 0), GPUMP_OK);
        if (!on) memcpy(litter, entries, one);
        assert_int_equal(gpump_block_switch_report_pending(unit, 6, 1, 1, 90), GPUMP_OK);
        for (unsigned char *at = entries + 2 * one; at <= memory_end; at += one) memcpy(at, litter, one);
        checked();
        expect(7, GPUMP_BLOCK_SWITCH_ACT_NEW, 0); /* not IN: block 1 waits */
        place(8, 9);
        assert_int_equal(gpump_block_switch_blocks(unit, views, 3, &count), GPUMP_OK);
        assert_int_equal(count, 3);
        assert_int_equal(views[2].cookie, 9);
        assert_int_equal(views[2].since, 8);
        assert_true(!views[2].stopped && !views[2].pending && !views[2].ready_cycle);
        nothing(9); /* behind the last place is no block either */
        block(10, 2, 1, 700);
        nothing(10); /* nobody is ready */
        serve(20, 1);
        expect(20, GPUMP_BLOCK_SWITCH_ACT_OUT, 2);
        assert_int_equal(gpump_block_switch_report_left(unit, 21, 2), GPUMP_OK);
        expect(22, GPUMP_BLOCK_SWITCH_ACT_IN, 1);
        assert_int_equal(came(unit, 23, 1, 2, 400), GPUMP_OK);
        memset(memory_end, 0, one);
    }
}

/* 64 warps are all warps, and each counts. */
static void a_block_of_64_warps(void **state) {
    gpump_block_switch_view view;
    uint32_t count;
    (void)state;
    make("table61", 1);
    assert_int_equal(gpump_block_switch_set_outside(unit, 1, UINT32_MAX), GPUMP_OK);
    assert_int_equal(came(unit, 1, 1, 64, 0), GPUMP_OK);
    assert_int_equal(gpump_block_switch_report_pending(unit, 1, 1, 1, 900), GPUMP_OK);
    for (uint32_t warp = 0; warp < 64; warp++) {
        nothing(1);
        assert_int_equal(gpump_block_switch_report_warp(unit, 1, 1, warp, 0), GPUMP_OK);
        assert_int_equal(gpump_block_switch_blocks(unit, &view, 1, &count), GPUMP_OK);
        assert_true(view.stopped == UINT64_MAX >> (63 - warp));
        checked();
    }
    expect(1, GPUMP_BLOCK_SWITCH_ACT_OUT, 1);
}

/* Every call refuses a missing unit, a cycle in the past or none, and arguments out of range, and changes nothing. */
static void calls_with_wrong_arguments_change_nothing(void **state) {
    gpump_block_switch_view view;
    gpump_block_switch_action action;
    gpump_block_switch_statistics s;
    uint64_t hash;
    uint32_t count;
    (void)state;
    make("table61", 2);
    place(5, 1);
    hash = gpump_hash(&gpump_block_switch_component, unit);
    assert_int_equal(gpump_block_switch_set_blocks(NULL, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_block_switch_set_blocks(unit, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_block_switch_set_blocks(unit, 17), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_block_switch_set_outside(NULL, 1, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(came(unit, 5, 2, 0, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_block_switch_report_warp(unit, 5, 1, 0, 2), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_block_switch_report_pending(unit, 5, 2, 1, 9), GPUMP_EMPTY);
    assert_int_equal(gpump_block_switch_next(unit, 5, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_block_switch_blocks(NULL, &view, 1, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_block_switch_blocks(unit, &view, 1, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_block_switch_blocks(unit, NULL, 1, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_block_switch_blocks(unit, NULL, 0, &count), GPUMP_ERROR_CAPACITY);
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t now = i == 1 ? 4 : GPUMP_UNKNOWN;
        const gpump_result expected = i ? GPUMP_ERROR_TIME : GPUMP_ERROR_ARGUMENT;
        gpump_block_switch *u = i ? unit : NULL;
        assert_int_equal(came(u, now, 2, 1, 0), expected);
        assert_int_equal(gpump_block_switch_report_none(u, now), expected);
        assert_int_equal(gpump_block_switch_report_warp(u, now, 1, 0, 0), expected);
        assert_int_equal(gpump_block_switch_report_pending(u, now, 1, 1, 9), expected);
        assert_int_equal(gpump_block_switch_report_left(u, now, 1), expected);
        assert_int_equal(gpump_block_switch_report_stayed(u, now, 1), expected);
        assert_int_equal(gpump_block_switch_report_ended(u, now, 1), expected);
        assert_int_equal(gpump_block_switch_next(u, now, &action), expected);
    }
    assert_true(gpump_hash(&gpump_block_switch_component, unit) == hash);
    assert_int_equal(gpump_block_switch_report_ended(unit, 6, 1), GPUMP_OK);
    gpump_get_statistics(&gpump_block_switch_component, unit, &s);
    assert_int_equal(s.placed, 1);
    assert_int_equal(s.ended, 1);
    assert_int_equal(gpump_block_switch_blocks(unit, NULL, 0, &count), GPUMP_OK);
    assert_int_equal(count, 0);
}

/* Presets, ranges of the configuration, and calls with wrong numbers. */
static void wrong_calls_of_a_block_switch_are_refused(void **state) {
    static const char *const presets[] = {"table61", "priced"};
    gpump_block_switch_config config;
    gpump_block_switch_view views[4];
    gpump_block_switch_statistics zero, now, difference;
    gpump_block_switch *copy;
    gpump_block_switch_action action;
    gpump_diag diag;
    const char *name, *unit_name, *text;
    uint64_t bits, value, hash;
    uint32_t count, fields = 0;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_block_switch_component, &config, "none", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(gpump_preset(&gpump_block_switch_component, &config, presets[i], NULL), GPUMP_OK);
        assert_int_equal(config.priced, i);
        assert_int_equal(config.extra, 4);
        assert_int_equal(config.fair_cycles, 1000000); /* 1 ms at 1 GHz */
    }
    config.blocks = 65;
    assert_int_equal(gpump_bytes(&gpump_block_switch_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "blocks");
    config.blocks = 2;
    config.unused = 1;
    assert_int_equal(gpump_bytes(&gpump_block_switch_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "unused");
    config.unused = 0;
    config.fair_cycles = 0;
    assert_int_equal(gpump_bytes(&gpump_block_switch_component, &config, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "fair_cycles");
    config.fair_cycles = 5;
    assert_int_equal(gpump_bits(&gpump_block_switch_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(bits, 6 * (3 + 16 + 64 + 2 * 32 + 16)); /* two on the SM, four more */
    assert_int_equal(gpump_bytes(&gpump_block_switch_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_block_switch_component, memory, bytes - 1, &config, &unit, NULL),
                     GPUMP_ERROR_CAPACITY);
    assert_int_equal(gpump_init(&gpump_block_switch_component, memory, bytes, &config, &unit, NULL), GPUMP_OK);
    assert_int_equal(gpump_block_switch_set_blocks(unit, 3), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(came(unit, 5, 1, 65, 0), GPUMP_ERROR_ARGUMENT);
    place(5, 1);
    assert_int_equal(gpump_block_switch_report_warp(unit, 5, 1, 2, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_block_switch_report_warp(unit, 5, 2, 0, 0), GPUMP_EMPTY);
    assert_int_equal(gpump_block_switch_report_pending(unit, 4, 1, 0, 0), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_block_switch_report_left(unit, 5, 1), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_block_switch_report_stayed(unit, 5, 1), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_block_switch_report_none(unit, 5), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_block_switch_report_ended(unit, 5, 2), GPUMP_EMPTY);
    assert_int_equal(gpump_block_switch_next(unit, 4, &action), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_block_switch_blocks(unit, views, 0, &count), GPUMP_ERROR_CAPACITY);
    assert_int_equal(count, 1);
    assert_int_equal(gpump_block_switch_blocks(unit, views, 4, &count), GPUMP_OK);
    assert_int_equal(views[0].cookie, 1);
    assert_int_equal(views[0].state, GPUMP_BLOCK_SWITCH_ON);
    memset(&zero, 0, sizeof zero);
    gpump_get_statistics(&gpump_block_switch_component, unit, &now);
    gpump_statistics_diff(&gpump_block_switch_component, &zero, &now, &difference);
    while (gpump_statistics_field(&gpump_block_switch_component, &difference, fields, &name, &unit_name, &text,
                                  &value) == GPUMP_OK)
        assert_int_equal(value, fields++ == 0); /* one block was placed, and nothing else */
    assert_int_equal(fields, sizeof zero / 8);
    hash = gpump_hash(&gpump_block_switch_component, unit);
    memmove(memory + 64, memory, bytes);
    assert_int_equal(gpump_adopt(&gpump_block_switch_component, memory + 64, bytes, &config, &copy, NULL), GPUMP_OK);
    assert_true(gpump_hash(&gpump_block_switch_component, copy) == hash);
    config.extra = 3;
    assert_int_equal(gpump_adopt(&gpump_block_switch_component, memory + 64, bytes, &config, &copy, NULL),
                     GPUMP_ERROR_FORMAT);
}

/* ---- random lives against a plain model ---- */

enum { BLOCKS = 14, AWAY = 0, ON, LEAVING, OFF, COMING };
typedef struct life {
    gpump_block_switch_config config;
    struct {
        uint64_t since, ready_at, ready_since, known; /* known: order in which it became known */
        uint32_t where, stopped, pending;
    } blocks[BLOCKS];
    uint64_t now, random, number, order, outs, ins;
    uint32_t capacity, promised, outside, contexts;
} life;

static uint32_t count_of(const life *l, uint32_t where) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < BLOCKS; b++) count += l->blocks[b].where == where;
    return count;
}
static int blocked(const life *l, uint32_t b) {
    return l->blocks[b].where == ON && l->blocks[b].pending && l->blocks[b].stopped == 3;
}
static int ready(const life *l, uint32_t b) { return l->blocks[b].where == OFF && !l->blocks[b].pending; }
/* 1: block a goes before block b when all else is equal. */
static int before(const life *l, uint32_t a, uint32_t b) {
    return b == NONE || l->blocks[a].known < l->blocks[b].known;
}

/* What the header says is next. */
static uint32_t next_of(const life *l, uint32_t *who, uint32_t *fair) {
    uint32_t first = NONE, far = NONE, longest = NONE, can_come = 0, known = l->promised, here = l->promised, fresh;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        known += l->blocks[b].where != AWAY;
        here += l->blocks[b].where != AWAY && l->blocks[b].where != OFF;
        if (ready(l, b)) {
            can_come++;
            if (first == NONE || l->blocks[b].ready_since < l->blocks[first].ready_since ||
                (l->blocks[b].ready_since == l->blocks[first].ready_since && before(l, b, first)))
                first = b;
        }
        if (blocked(l, b) && (!l->config.priced || l->blocks[b].ready_at > l->now + 50) &&
            (far == NONE || l->blocks[b].ready_at > l->blocks[far].ready_at ||
             (l->blocks[b].ready_at == l->blocks[far].ready_at && before(l, b, far))))
            far = b;
        if (l->blocks[b].where == ON && (longest == NONE || l->blocks[b].since < l->blocks[longest].since ||
                                         (l->blocks[b].since == l->blocks[longest].since && before(l, b, longest))))
            longest = b;
    }
    *fair = 0;
    *who = first;
    if (here < l->capacity && first != NONE) return GPUMP_BLOCK_SWITCH_ACT_IN;
    fresh = known >= l->capacity + l->config.extra               ? 0
            : l->outside < l->capacity + l->config.extra - known ? l->outside
                                                                 : l->capacity + l->config.extra - known;
    if (here < l->capacity && fresh) return GPUMP_BLOCK_SWITCH_ACT_NEW;
    *who = far;
    if (!l->contexts) return 0;
    if (far != NONE && can_come + fresh > count_of(l, LEAVING)) return GPUMP_BLOCK_SWITCH_ACT_OUT;
    if (longest == NONE || can_come <= count_of(l, LEAVING) ||
        l->now < l->blocks[first].ready_since + l->config.fair_cycles)
        return 0;
    *who = longest;
    *fair = 1;
    return GPUMP_BLOCK_SWITCH_ACT_OUT;
}

static void enter(life *l, uint32_t b, uint32_t where) {
    l->blocks[b].where = where;
    l->blocks[b].since = l->now;
    if (where == OFF) l->blocks[b].ready_since = l->now;
}
static void pull(life *l) {
    gpump_block_switch_action a;
    uint32_t who, fair, kind = next_of(l, &who, &fair);
    if (kind) test_check(gpump_next_cycle(&gpump_block_switch_component, unit) <= l->now, test_seed(), l->number);
    test_check(gpump_block_switch_next(unit, l->now, &a) == (kind ? GPUMP_OK : GPUMP_EMPTY), test_seed(), l->number);
    if (!kind) { /* nothing comes sooner than the unit says */
        const uint64_t wake = gpump_next_cycle(&gpump_block_switch_component, unit);
        test_check(wake > l->now, test_seed(), l->number);
        for (uint64_t t = l->now, was = t; t < l->now + 300 && t < wake; t++) {
            l->now = t;
            test_check(!next_of(l, &who, &fair), test_seed(), l->number);
            l->now = was;
        }
        return;
    }
    test_check(a.kind == kind && a.fair == fair, test_seed(), l->number);
    if (kind == GPUMP_BLOCK_SWITCH_ACT_NEW) {
        l->promised++;
        if (l->outside != UINT32_MAX) l->outside--;
        return;
    }
    test_check(a.cookie == 100 + who, test_seed(), l->number);
    enter(l, who, kind == GPUMP_BLOCK_SWITCH_ACT_OUT ? LEAVING : COMING);
    if (kind == GPUMP_BLOCK_SWITCH_ACT_IN) {
        l->ins++;
        return;
    }
    l->outs++;
    if (l->contexts != UINT32_MAX) l->contexts--;
}

static void give_context(life *l) {
    if (l->contexts != UINT32_MAX) l->contexts++;
}
static void step(life *l) {
    const uint32_t b = gpump_random_below(&l->random, BLOCKS), what = gpump_random_below(&l->random, 16);
    const uint64_t cookie = 100 + b;
    const uint32_t where = l->blocks[b].where, known = BLOCKS - count_of(l, AWAY);
    gpump_result expected = where ? GPUMP_OK : GPUMP_EMPTY;
    if (what < 3) {                  /* placed */
        if (where == COMING) return; /* it would come back */
        expected = !where && (known - count_of(l, OFF) >= l->capacity || known >= l->capacity + l->config.extra)
                       ? GPUMP_ERROR_FULL
                       : GPUMP_OK;
        test_check(came(unit, l->now, cookie, 2, 50) == expected, test_seed(), l->number);
        if (expected || where) return;
        memset(&l->blocks[b], 0, sizeof l->blocks[b]);
        l->blocks[b].known = l->order++;
        enter(l, b, ON);
        if (l->promised) l->promised--;
    } else if (what < 8) { /* a warp stops or runs */
        const uint32_t warp = gpump_random_below(&l->random, 2), runs = gpump_random_below(&l->random, 5) == 0;
        test_check(gpump_block_switch_report_warp(unit, l->now, cookie, warp, runs) == expected, test_seed(),
                   l->number);
        if (!expected) l->blocks[b].stopped = (l->blocks[b].stopped & ~(1u << warp)) | (runs ? 0 : 1u << warp);
    } else if (what < 11) { /* faults, or pages that are there */
        const uint32_t pending = gpump_random_below(&l->random, 3);
        const uint64_t at = l->now + gpump_random_below(&l->random, 200);
        test_check(gpump_block_switch_report_pending(unit, l->now, cookie, pending, at) == expected, test_seed(),
                   l->number);
        if (expected) return;
        if (l->blocks[b].pending && !pending && where == OFF) l->blocks[b].ready_since = l->now;
        l->blocks[b].pending = pending;
        l->blocks[b].ready_at = pending ? at : 0;
    } else if (what < 13) { /* the answers to OUT and IN */
        expected = where == LEAVING ? GPUMP_OK : GPUMP_ERROR_STATE;
        if (gpump_random_below(&l->random, 8) == 0) {
            test_check(gpump_block_switch_report_stayed(unit, l->now, cookie) == expected, test_seed(), l->number);
            if (!expected) enter(l, b, ON), l->contexts = 0;
            return;
        }
        test_check(gpump_block_switch_report_left(unit, l->now, cookie) == expected, test_seed(), l->number);
        if (!expected) enter(l, b, OFF);
        if (!where) return; /* it would be a new block */
        test_check(came(unit, l->now, cookie, 2, 50) == GPUMP_OK, test_seed(), l->number);
        if (where == COMING) enter(l, b, ON), give_context(l);
    } else if (what == 13) { /* it ends */
        test_check(gpump_block_switch_report_ended(unit, l->now, cookie) == expected, test_seed(), l->number);
        if (!expected && where != ON) give_context(l);
        l->blocks[b].where = AWAY;
    } else if (what == 14) {
        l->outside = gpump_random_below(&l->random, 4) ? gpump_random_below(&l->random, 4) : UINT32_MAX;
        l->contexts = gpump_random_below(&l->random, 3) ? UINT32_MAX : gpump_random_below(&l->random, 3);
        assert_int_equal(gpump_block_switch_set_outside(unit, l->outside, l->contexts), GPUMP_OK);
        if (gpump_random_below(&l->random, 4) == 0) {
            test_check(gpump_block_switch_report_none(unit, l->now) == (l->promised ? GPUMP_OK : GPUMP_ERROR_STATE),
                       test_seed(), l->number);
            if (l->promised) l->promised--, l->outside = 0;
        }
    } else {
        l->now += gpump_random_below(&l->random, 30);
    }
}

/* Blocks stall, leave, come back and end at random; a plain model says what must happen. */
static void random_blocks_agree_with_a_plain_model(void **state) {
    static life lives;
    const uint64_t cases = test_cases(300);
    uint64_t outs = 0, ins = 0;
    (void)state;
    for (uint64_t number = 0; number < cases; number++) {
        life *l = &lives;
        memset(l, 0, sizeof *l);
        l->number = number;
        l->random = test_seed() * 104729 + number;
        assert_int_equal(
            gpump_preset(&gpump_block_switch_component, &l->config, number % 2 ? "priced" : "table61", NULL), GPUMP_OK);
        l->config.blocks = 1 + gpump_random_below(&l->random, 8);
        l->config.extra = gpump_random_below(&l->random, 6);
        l->config.fair_cycles = 1 + gpump_random_below(&l->random, 500);
        l->config.port.cycles = l->config.port.bytes = 1;
        assert_int_equal(gpump_init(&gpump_block_switch_component, memory, sizeof memory, &l->config, &unit, NULL),
                         GPUMP_OK);
        l->capacity = 1 + gpump_random_below(&l->random, l->config.blocks);
        assert_int_equal(gpump_block_switch_set_blocks(unit, l->capacity), GPUMP_OK);
        l->contexts = UINT32_MAX;
        for (uint32_t i = 0; i < 1500; i++) {
            gpump_diag diag;
            step(l);
            if (i % 2) pull(l);
            if (gpump_check(&gpump_block_switch_component, unit, &diag))
                fail_msg("case %u: %s", (unsigned)number, diag.field);
        }
        outs += l->outs;
        ins += l->ins;
    }
    printf("%llu blocks left, %llu came back\n", (unsigned long long)outs, (unsigned long long)ins);
    assert_true(outs > cases && ins > cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_leaves_and_returns),
        cmocka_unit_test(residents_of_an_sm),
        cmocka_unit_test(a_barrier_is_no_fault),
        cmocka_unit_test(four_extra_blocks),
        cmocka_unit_test(no_room_for_contexts),
        cmocka_unit_test(switch_or_stay),
        cmocka_unit_test(a_spinning_block_leaves),
        cmocka_unit_test(the_longest_on_the_sm_makes_way),
        cmocka_unit_test(litter_behind_the_blocks),
        cmocka_unit_test(a_block_of_64_warps),
        cmocka_unit_test(calls_with_wrong_arguments_change_nothing),
        cmocka_unit_test(wrong_calls_of_a_block_switch_are_refused),
        cmocka_unit_test(random_blocks_agree_with_a_plain_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
