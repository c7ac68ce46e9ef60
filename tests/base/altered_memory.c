/* labels: unit property */
/* Memory from outside: every bit of a component's memory is flipped, and every number in it set to small ones, one at a
 * time. Either _adopt refuses the memory,
 * or _check does, or every later call is safe: the component is driven on at random, and the sanitizers watch. Skips no
 * bit: counters, cookies and clocks may differ, tables may not contradict each other. */
#include "altered_bits.h"

enum { WORDS = 4096 };

typedef struct altered {
    const char *name;
    const gpump_component *component;
    gpump_result (*adopt)(uint64_t *memory, size_t bytes, gpump_diag *diag); /* then _check */
    void (*drive)(uint64_t *memory, uint64_t seed);                          /* calls of every kind, at random */
} altered;

static altered_tally judged; /* of the component that is altered now */

/* One run over the alterations of a memory. */
typedef struct alterations {
    const altered *one;
    uint64_t copy[WORDS], whole; /* the altered memory; the hash of the unaltered one */
    size_t bytes;
    uint32_t drive_every, refused, checked, driven;
} alterations;

/* Adopts, checks and drives the altered copy. `number` names the alteration. */
static void judge(alterations *a, const char *what, uint32_t number) {
    gpump_diag diag;
    if (a->one->adopt(a->copy, a->bytes, &diag)) {
        assert_int_equal(diag.code, GPUMP_ERROR_FORMAT);
        altered_refused(&judged, &diag);
        a->refused++;
        return;
    }
    a->checked++;
    judged.accepted++;
    judged.unhashed += gpump_hash(a->one->component, a->copy) == a->whole;
    if (a->checked % a->drive_every) return;
    a->one->drive(a->copy, test_seed() + number);
    if (a->one->adopt(a->copy, a->bytes, &diag))
        fail_msg("%s, %s %u: %s after use", a->one->name, what, number, diag.field);
    a->driven++;
}

/* Flips every bit, and sets every 32-bit number to each of the small ones: indices at their bounds are among these. */
static void alter_everything(const altered *one, const uint64_t *good, size_t bytes, uint32_t drive_every) {
    static alterations a;
    enum { NUMBERS = 17 };
    memset(&a, 0, sizeof a);
    a.one = one;
    a.bytes = bytes;
    a.whole = gpump_hash(one->component, good);
    a.drive_every = test_cases(10) < 2 ? 16 * drive_every : drive_every; /* a tenth of the cases: tests/mutate */
    judged.states = gpump_hash_u64(judged.states, a.whole);
    memcpy(a.copy, good, bytes);
    assert_int_equal(one->adopt(a.copy, bytes, NULL), GPUMP_OK); /* unaltered memory is good, before and after use */
    one->drive(a.copy, test_seed());
    assert_int_equal(one->adopt(a.copy, bytes, NULL), GPUMP_OK);
    for (uint32_t bit = 0; bit < bytes * 8; bit++) {
        memcpy(a.copy, good, bytes);
        a.copy[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
        judge(&a, "bit", bit);
    }
    a.drive_every *= 4;
    for (uint32_t i = 0; i < bytes / 4 * NUMBERS; i++) {
        const uint32_t number = i % NUMBERS, at = i / NUMBERS * 4;
        memcpy(a.copy, good, bytes);
        memcpy((unsigned char *)a.copy + at, &number, sizeof number);
        if (memcmp(a.copy, good, bytes)) judge(&a, "number", i);
    }
    printf("%s: %u refused, %u harmless, %u of these driven on\n", one->name, a.refused, a.checked, a.driven);
    assert_true(a.refused && a.driven);
}

/* The alterations of all its scenes are judged as they were. */
static void compare(const altered *one) {
    altered_compare(&judged, "base", one->name);
    memset(&judged, 0, sizeof judged);
}

/* ---- scheduler ---- */

static gpump_scheduler_config scheduler_config(uint32_t kernels_per_sm) {
    gpump_scheduler_config config;
    assert_int_equal(gpump_preset(&gpump_scheduler_component, &config, "k20c", NULL), GPUMP_OK);
    config.sms = 5;
    config.blocks_per_sm = 3;
    config.processes = 3;
    config.queues = 4;
    config.active_kernels = 3;
    config.saved_blocks = 8;
    config.kernels_per_sm = kernels_per_sm;
    config.decision_cycles = 2;
    config.slice_cycles = 40;
    return config;
}
static uint32_t scheduler_kernels_per_sm;

static gpump_result scheduler_adopt(uint64_t *memory, size_t bytes, gpump_diag *diag) {
    gpump_scheduler_config config = scheduler_config(scheduler_kernels_per_sm);
    gpump_scheduler *scheduler;
    gpump_result result = gpump_adopt(&gpump_scheduler_component, memory, bytes, &config, &scheduler, diag);
    return result ? result : gpump_check(&gpump_scheduler_component, scheduler, diag);
}

/* The host reads what is resident from the tables: a block's generation is not shown, so it remembers the last ones. */
static gpump_block_ref resident[5][3];
static int building; /* the tables are being filled, nothing is altered yet */

static void scheduler_drive(uint64_t *memory, uint64_t seed) {
    gpump_scheduler *s = (gpump_scheduler *)(void *)memory;
    gpump_block_ref here[5][3];
    uint64_t random = seed, now = gpump_scheduler_look(s).now;
    memcpy(here, resident, sizeof here);
    for (int step = 0; step < 150; step++) {
        const gpump_scheduler_policy *policy = gpump_scheduler_policy_at(seed % 9u);
        gpump_scheduler_action action;
        gpump_scheduler_command command;
        uint32_t sm = gpump_random_below(&random, 5), slot = gpump_random_below(&random, 3);
        now = gpump_add_saturated(now, gpump_random_below(&random, 4));
        memset(&command, 0, sizeof command);
        command.process = gpump_random_below(&random, 3);
        command.blocks = 1 + gpump_random_below(&random, 20);
        command.blocks_per_sm = 1 + gpump_random_below(&random, 3);
        command.saved_limit = gpump_random_below(&random, 9);
        switch (gpump_random_below(&random, 6)) {
        case 0: (void)gpump_scheduler_submit(s, now, gpump_random_below(&random, 4), &command, NULL); break;
        case 1: (void)gpump_scheduler_report_ready(s, now, sm); break;
        case 2: (void)gpump_scheduler_report_finished(s, now, sm, here[sm][slot]); break;
        case 3: (void)gpump_scheduler_report_preempted(s, now, sm, here[sm][slot], 7); break;
        case 4:
            (void)gpump_scheduler_report_room(s, now, sm, slot);
            (void)gpump_scheduler_issue_extra(s, now, sm, &action);
            (void)gpump_scheduler_report_running(s, now, 1 + slot, sm, sm * slot);
            if (!gpump_random_below(&random, 20)) (void)gpump_scheduler_abort(s, now, slot);
            break;
        default: (void)gpump_scheduler_set_priority(s, now, slot, gpump_random_below(&random, 3), 1 + slot);
        }
        for (int i = 0; i < 40 && gpump_scheduler_next(s, policy, now, &action) == GPUMP_OK; i++)
            if (action.kind == GPUMP_SCHEDULER_ISSUE) {
                assert_true(action.sm < 5 && action.block.slot < 3);
                here[action.sm][action.block.slot] = action.block;
            }
        if (building) memcpy(resident, here, sizeof here);
    }
    (void)gpump_hash(&gpump_scheduler_component, s);
    (void)gpump_next_cycle(&gpump_scheduler_component, s);
}

/* Where one bit of a scheduler's memory is altered, adopting it is refused, or every call that follows ends without a
 * crash. */
static void altered_bits_of_a_scheduler_are_refused_or_harmless(void **state) {
    static uint64_t memory[WORDS], good[WORDS];
    const altered scheduler = {"scheduler", &gpump_scheduler_component, scheduler_adopt, scheduler_drive};
    (void)state;
    for (uint32_t scene = 0; gpump_scheduler_policy_at(scene / 2);
         scene++) { /* every policy, with one kernel per SM and two */
        gpump_scheduler_config config;
        gpump_scheduler *s;
        size_t bytes;
        scheduler_kernels_per_sm = 1 + scene % 2;
        config = scheduler_config(scheduler_kernels_per_sm);
        memset(resident, 0, sizeof resident);
        assert_int_equal(gpump_bytes(&gpump_scheduler_component, &config, &bytes, NULL), GPUMP_OK);
        assert_true(bytes <= sizeof memory);
        assert_int_equal(gpump_init(&gpump_scheduler_component, memory, bytes, &config, &s, NULL), GPUMP_OK);
        for (uint32_t i = 0; i < 3; i++) {
            gpump_scheduler_process process = {i, 4096 * i, i, 1};
            uint32_t row;
            assert_int_equal(gpump_scheduler_open(s, 0, &process, &row, NULL), GPUMP_OK);
        }
        building = 1;
        scheduler_drive(memory, test_seed() * 9 + scene / 2);
        building = 0;
        memcpy(good, memory, sizeof good);
        alter_everything(&scheduler, good, bytes, 3);
    }
    compare(&scheduler);
}

/* ---- spill ---- */

static gpump_spill_config spill_config(void) {
    gpump_spill_config config;
    assert_int_equal(gpump_preset(&gpump_spill_component, &config, "gtx480_lin", NULL), GPUMP_OK);
    config.jobs = 3;
    config.warps = 12;
    config.outstanding = 4;
    return config;
}

static gpump_result spill_adopt(uint64_t *memory, size_t bytes, gpump_diag *diag) {
    gpump_spill_config config = spill_config();
    gpump_spill *spill;
    gpump_result result = gpump_adopt(&gpump_spill_component, memory, bytes, &config, &spill, diag);
    return result ? result : gpump_check(&gpump_spill_component, spill, diag);
}

static void spill_drive(uint64_t *memory, uint64_t seed) {
    gpump_spill *spill = (gpump_spill *)(void *)memory;
    uint64_t random = seed, now = 1000;
    for (int step = 0; step < 200; step++) {
        gpump_spill_warp warps[4];
        gpump_spill_action action;
        uint32_t job = gpump_random_below(&random, 3), count = 1 + gpump_random_below(&random, 4), at;
        now += gpump_random_below(&random, 20);
        for (uint32_t i = 0; i < 4; i++) {
            warps[i].point_cycle = warps[i].drained_cycle = now - gpump_random_below(&random, 10);
            warps[i].registers = 1 + gpump_random_below(&random, 30);
            warps[i].bytes = gpump_random_below(&random, 30 * 128);
        }
        switch (gpump_random_below(&random, 16)) {
        case 0: (void)gpump_spill_save(spill, now, 5, count, 300, 40, NULL, &at); break;
        case 1: (void)gpump_spill_restore(spill, now, 6, warps, count, 300, 40, &at); break;
        case 2: (void)gpump_spill_report_metadata(spill, job, 60); break;
        case 3: (void)gpump_spill_cancel(spill, now, job); break;
        case 4:
        case 5:
        case 6: (void)gpump_spill_report_drained(spill, now, job, warps); break;
        default: (void)gpump_spill_report_moved(spill, now, job, 1);
        }
        for (int i = 0; i < 10 && gpump_spill_next(spill, now, &action) == GPUMP_OK; i++) {}
        if (gpump_spill_next_event(spill, now, &action) == GPUMP_OK) assert_true(action.job < 3);
        (void)gpump_next_cycle(&gpump_spill_component, spill);
    }
    (void)gpump_hash(&gpump_spill_component, spill);
}

/* Where one bit of a spill unit's memory is altered, adopting it is refused, or every call that follows ends without a
 * crash. */
static void altered_bits_of_a_spill_unit_are_refused_or_harmless(void **state) {
    static uint64_t memory[WORDS], good[WORDS];
    const altered spill_engine = {"spill", &gpump_spill_component, spill_adopt, spill_drive};
    gpump_spill_config config = spill_config();
    gpump_spill *spill;
    gpump_spill_action action;
    gpump_spill_warp warps[4] = {{20, 30, 12, 700}, {10, 30, 3, 300}, {4, 30, 30, 3000}, {30, 30, 0, 0}};
    uint32_t job;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_bytes(&gpump_spill_component, &config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes <= sizeof memory);
    assert_int_equal(gpump_init(&gpump_spill_component, memory, bytes, &config, &spill, NULL), GPUMP_OK);
    /* one block in the middle of its save, one in the middle of its restore */
    assert_int_equal(gpump_spill_save(spill, 30, 1, 4, 200, 50, NULL, &job), GPUMP_OK);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(gpump_spill_report_drained(spill, 40, job, &warps[i]), GPUMP_OK);
    assert_int_equal(gpump_spill_restore(spill, 41, 2, warps, 4, 200, 50, &job), GPUMP_OK);
    for (uint64_t now = 41; now < 300; now++)
        while (gpump_spill_next(spill, now, &action) == GPUMP_OK)
            if (action.kind == GPUMP_SPILL_READ && now < 200)
                assert_int_equal(gpump_spill_report_moved(spill, now, action.job, 1), GPUMP_OK);
    memcpy(good, memory, sizeof good);
    alter_everything(&spill_engine, good, bytes, 1);
    compare(&spill_engine);
}

/* ---- pool ---- */

static const gpump_context_pool_config pool_config = {3, 70, 1000};

static gpump_result pool_adopt(uint64_t *memory, size_t bytes, gpump_diag *diag) {
    gpump_context_pool *pool;
    gpump_result result = gpump_adopt(&gpump_context_pool_component, memory, bytes, &pool_config, &pool, diag);
    return result ? result : gpump_check(&gpump_context_pool_component, pool, diag);
}

static void pool_drive(uint64_t *memory, uint64_t seed) {
    gpump_context_pool *pool = (gpump_context_pool *)(void *)memory;
    uint64_t random = seed, context;
    for (int step = 0; step < 500; step++) {
        uint32_t kernel = 1 + gpump_random_below(&random, 5);
        switch (gpump_random_below(&random, 6)) {
        case 0: (void)gpump_context_pool_open(pool, kernel); break;
        case 1: (void)gpump_context_pool_close(pool, kernel); break;
        case 2: (void)gpump_context_pool_give(pool, gpump_random_below(&random, 220)); break;
        default:
            if (gpump_context_pool_take(pool, kernel, 900, &context) == GPUMP_OK) assert_true(context < 210);
        }
        assert_true(gpump_context_pool_room(pool, kernel).contexts <= 70);
    }
    (void)gpump_hash(&gpump_context_pool_component, pool);
}

/* Where one bit of a context pool's memory is altered, adopting it is refused, or every call that follows ends without
 * a crash. */
static void altered_bits_of_a_context_pool_are_refused_or_harmless(void **state) {
    static uint64_t memory[WORDS], good[WORDS];
    const altered contexts = {"context_pool", &gpump_context_pool_component, pool_adopt, pool_drive};
    gpump_context_pool *pool;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_bytes(&gpump_context_pool_component, &pool_config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes <= sizeof memory);
    assert_int_equal(gpump_init(&gpump_context_pool_component, memory, bytes, &pool_config, &pool, NULL), GPUMP_OK);
    pool_drive(memory, test_seed());
    memcpy(good, memory, sizeof good);
    alter_everything(&contexts, good, bytes, 1);
    compare(&contexts);
}

/* ---- blocks that have left ---- */

static const gpump_preempted_config preempted_config = {7, 5};

static gpump_result preempted_adopt(uint64_t *memory, size_t bytes, gpump_diag *diag) {
    gpump_preempted *preempted;
    gpump_result result = gpump_adopt(&gpump_preempted_component, memory, bytes, &preempted_config, &preempted, diag);
    return result ? result : gpump_check(&gpump_preempted_component, preempted, diag);
}

static void preempted_drive(uint64_t *memory, uint64_t seed) {
    gpump_preempted *preempted = (gpump_preempted *)(void *)memory;
    uint64_t random = seed;
    for (int step = 0; step < 300; step++) {
        const uint32_t sm = gpump_random_below(&random, 5), kernel = gpump_random_below(&random, 3);
        gpump_preempted_block block = {5, 9, 1 + kernel, GPUMP_NONE, GPUMP_NONE, 0};
        uint32_t order[5], handle = gpump_random_below(&random, 7);
        if (kernel == 1) block.only_sm = sm;
        if (kernel == 2) block.not_sm = sm;
        switch (gpump_random_below(&random, 4)) {
        case 0: (void)gpump_preempted_take(preempted, handle, kernel ? sm : GPUMP_NONE); break;
        case 1: (void)gpump_preempted_change(preempted, handle, &block); break;
        default: (void)gpump_preempted_add(preempted, &block, &handle);
        }
        handle = gpump_preempted_find(preempted, 20, kernel, sm, step & 1);
        assert_true(handle == GPUMP_NONE || handle < 7);
        assert_int_equal(gpump_preempted_order(preempted, NULL, order), GPUMP_OK);
        assert_true(order[0] < 5);
    }
    (void)gpump_hash(&gpump_preempted_component, preempted);
}

/* Where one bit of a list of preempted blocks is altered, adopting it is refused, or every call that follows ends
 * without a crash. */
static void altered_bits_of_a_list_of_blocks_are_refused_or_harmless(void **state) {
    static uint64_t memory[WORDS], good[WORDS];
    const altered one = {"preempted", &gpump_preempted_component, preempted_adopt, preempted_drive};
    gpump_preempted *preempted;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_bytes(&gpump_preempted_component, &preempted_config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes <= sizeof memory);
    assert_int_equal(gpump_init(&gpump_preempted_component, memory, bytes, &preempted_config, &preempted, NULL),
                     GPUMP_OK);
    preempted_drive(memory, test_seed());
    memcpy(good, memory, sizeof good);
    alter_everything(&one, good, bytes, 1);
    compare(&one);
}

/* ---- what a block has read ---- */

static const gpump_read_set_config read_set_config = {16};

static gpump_result read_set_adopt(uint64_t *memory, size_t bytes, gpump_diag *diag) {
    gpump_read_set *set;
    gpump_result result = gpump_adopt(&gpump_read_set_component, memory, bytes, &read_set_config, &set, diag);
    return result ? result : gpump_check(&gpump_read_set_component, set, diag);
}
static void read_set_drive(uint64_t *memory, uint64_t seed) {
    gpump_read_set *set = (gpump_read_set *)(void *)memory;
    uint64_t random = seed;
    for (int step = 0; step < 60; step++) {
        const uint64_t address = 128 * (uint64_t)gpump_random_below(&random, 30);
        if (!gpump_random_below(&random, 20)) gpump_read_set_clear(set);
        if (gpump_random_below(&random, 2)) gpump_read_set_load(set, address, 5);
        (void)gpump_read_set_store(set, address, 1u << gpump_random_below(&random, 32));
    }
    (void)gpump_hash(&gpump_read_set_component, set);
}

/* Where one bit of a read set's memory is altered, adopting it is refused, or every call that follows ends without a
 * crash. */
static void altered_bits_of_a_read_set_are_refused_or_harmless(void **state) {
    static uint64_t memory[WORDS], good[WORDS];
    const altered one = {"read_set", &gpump_read_set_component, read_set_adopt, read_set_drive};
    gpump_read_set *set;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_bytes(&gpump_read_set_component, &read_set_config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes <= sizeof memory);
    assert_int_equal(gpump_init(&gpump_read_set_component, memory, bytes, &read_set_config, &set, NULL), GPUMP_OK);
    for (uint32_t life = 0; life < 5; life++) { /* entries of earlier epochs stay in the table */
        gpump_read_set_clear(set);
        for (uint32_t i = 0; i < 8 - life; i++) gpump_read_set_load(set, 128 * (uint64_t)(7 * i + life), 3);
    }
    memcpy(good, memory, sizeof good);
    alter_everything(&one, good, bytes, 1);
    compare(&one);
}

/* ---- SM ---- */

static uint32_t sm_timing;

static gpump_sm_config sm_config(void) {
    gpump_sm_config config;
    assert_int_equal(gpump_preset(&gpump_sm_component, &config, "gtx480_lin", NULL), GPUMP_OK);
    config.block_slots = 4;
    config.entries = 6;
    config.kernels = 3;
    config.techniques |= 1u << GPUMP_TECHNIQUE_REWIND;
    config.timing = sm_timing;
    return config;
}

static gpump_result sm_adopt(uint64_t *memory, size_t bytes, gpump_diag *diag) {
    gpump_sm_config config = sm_config();
    gpump_sm *sm;
    gpump_result result = gpump_adopt(&gpump_sm_component, memory, bytes, &config, &sm, diag);
    return result ? result : gpump_check(&gpump_sm_component, sm, diag);
}

static void sm_drive(uint64_t *memory, uint64_t seed) {
    gpump_sm *sm = (gpump_sm *)(void *)memory;
    uint64_t random = seed, now = sm->now;
    for (int step = 0; step < 150; step++) {
        gpump_block_view view[64];
        gpump_block_choice choices[64];
        gpump_sm_action action;
        gpump_sm_request request = {
            7, 1 + gpump_random_below(&random, 4), gpump_random_below(&random, 2), {64, 0, 0}, 0, 0, 0};
        gpump_sm_history history = {100, 1000, {5000, 300, 7}, 0, 0};
        gpump_block_ref block = {0, 0};
        gpump_context_sizes sizes = {0, 40, 3};
        uint32_t count = 0, chosen = 0, pick;
        now = gpump_add_saturated(now, gpump_random_below(&random, 60));
        assert_int_equal(gpump_sm_blocks(sm, now, view, 64, &count), GPUMP_OK);
        pick = gpump_random_below(&random, 6);
        if (count) block = view[pick % count].block;
        request.need.registers = 1 + gpump_random_below(&random, 12000);
        request.need.shared_bytes = gpump_random_below(&random, 12000);
        memset(choices, 0, sizeof choices);
        for (uint32_t i = 0; i < count; i++) {
            if (gpump_random_below(&random, 2)) continue;
            choices[chosen].block = view[i].block;
            choices[chosen].technique = gpump_random_below(&random, GPUMP_TECHNIQUE_OWN);
            choices[chosen].keep = gpump_random_below(&random, 4);
            choices[chosen].to_point = gpump_random_below(&random, 2);
            chosen++;
        }
        if (count && chosen > 1 && gpump_random_below(&random, 2)) chosen = 1; /* most often legal alone */
        switch (gpump_random_below(&random, 14)) {
        case 0:
        case 1: (void)gpump_sm_place(sm, now, &request, step & 1 ? &history : NULL, &block, NULL); break;
        case 2:
        case 3: (void)gpump_sm_preempt(sm, now, choices, chosen, NULL); break;
        case 4:
        case 5: (void)gpump_sm_report_waits(sm, now, block, gpump_random_below(&random, 3)); break;
        case 6: (void)gpump_sm_report_saved(sm, now, block); break;
        case 7: (void)gpump_sm_report_restored(sm, now, block); break;
        case 8: (void)gpump_sm_report_done(sm, now, block); break;
        case 9: (void)gpump_sm_report_dropped(sm, now, block); break;
        case 10: (void)gpump_sm_unpark(sm, now, block, NULL); break;
        case 11:
            sizes.register_bytes = gpump_random_next(&random);
            (void)gpump_sm_report_context_bytes(sm, block, &sizes);
            break;
        case 12: (void)gpump_sm_report_blocked(sm, now, block, pick & 1); break;
        default: (void)gpump_sm_set_shared_bytes(sm, 16384 * (1 + pick % 3), NULL);
        }
        (void)gpump_sm_report_executed(sm, block, 3);
        if (pick)
            for (int i = 0; i < 20 && gpump_sm_next(sm, now, &action) == GPUMP_OK; i++) {}
        (void)gpump_next_cycle(&gpump_sm_component, sm);
    }
    (void)gpump_hash(&gpump_sm_component, sm);
}

/* Where one bit of an SM's memory is altered, adopting it is refused, or every call that follows ends without a crash.
 */
static void altered_bits_of_an_sm_are_refused_or_harmless(void **state) {
    static uint64_t memory[WORDS], good[WORDS];
    const altered one = {"sm", &gpump_sm_component, sm_adopt, sm_drive};
    (void)state;
    for (uint32_t scene = 0; scene < 8; scene++) { /* both timings, four residents each */
        gpump_sm_config config;
        gpump_sm *sm;
        size_t bytes;
        sm_timing = scene % 2 ? GPUMP_SM_TIMING_PORT : GPUMP_SM_TIMING_HOST;
        config = sm_config();
        assert_int_equal(gpump_bytes(&gpump_sm_component, &config, &bytes, NULL), GPUMP_OK);
        assert_true(bytes <= sizeof memory);
        assert_int_equal(gpump_init(&gpump_sm_component, memory, bytes, &config, &sm, NULL), GPUMP_OK);
        for (uint32_t i = 0; i < 3; i++) { /* the check holds on the way, too */
            gpump_diag diag;
            sm_drive(memory, test_seed() * 8 + scene + 100 * i);
            if (gpump_check(&gpump_sm_component, sm, &diag)) fail_msg("scene %u, round %u: %s", scene, i, diag.field);
        }
        memcpy(good, memory, sizeof good);
        alter_everything(&one, good, bytes, 3);
    }
    compare(&one);
}

/* The cycle that is never is refused by every call, and bytes beyond 64 bits count as the most there are. */
static void an_sm_refuses_the_last_cycle_and_saturates_huge_contexts(void **state) {
    static uint64_t memory[WORDS];
    gpump_sm_config config = sm_config();
    const gpump_context_sizes huge = {(uint64_t)1 << 63, (uint64_t)1 << 63, (uint64_t)1 << 63};
    const gpump_context_room room = {200000, 1, 1};
    gpump_block_view view;
    gpump_sm_request request = {7, 1, 0, {64, 1000, 1000}, 0, 0, 0};
    gpump_block_ref block;
    gpump_block_choice choice;
    gpump_diag diag;
    gpump_sm *sm;
    gpump_sm_action action;
    (void)state;
    assert_int_equal(gpump_init(&gpump_sm_component, memory, sizeof memory, &config, &sm, NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_place(sm, GPUMP_UNKNOWN, &request, NULL, &block, &diag), GPUMP_ERROR_TIME);
    assert_int_equal(gpumpi_sm_advance(sm, GPUMP_UNKNOWN), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_sm_next(sm, GPUMP_UNKNOWN, &action), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_sm_place(sm, 1, &request, NULL, &block, &diag), GPUMP_OK);
    assert_int_equal(gpump_sm_report_done(sm, GPUMP_UNKNOWN, block), GPUMP_ERROR_TIME);
    /* 2^63 + 2^63 + 2^63 bytes wrap to 2^63: they must not pass for a context that fits */
    assert_int_equal(gpump_sm_report_context_bytes(sm, block, &huge), GPUMP_OK);
    memset(&choice, 0, sizeof choice);
    choice.block = block;
    choice.technique = GPUMP_TECHNIQUE_SWITCH;
    assert_int_equal(gpump_sm_preempt(sm, GPUMP_UNKNOWN, &choice, 1, &diag), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_sm_block(sm, 2, block, &view), GPUMP_OK);
    assert_true(view.context_bytes == UINT64_MAX);
    assert_int_equal(view.may >> GPUMP_TECHNIQUE_SWITCH & 1, 1);
    gpump_technique_limit_by_room(&view, 1, &room, 1);
    assert_int_equal(view.may >> GPUMP_TECHNIQUE_SWITCH & 1, 0);
}

/* ---- TLB ---- */

static gpump_tlb_config tlb_config(void) {
    gpump_tlb_config config;
    assert_int_equal(gpump_preset(&gpump_tlb_component, &config, "table61_l1", NULL), GPUMP_OK);
    config.entries = 8;
    config.ways = 2;
    config.misses = 5;
    config.waiters = 12;
    return config;
}

static gpump_result tlb_adopt(uint64_t *memory, size_t bytes, gpump_diag *diag) {
    gpump_tlb_config config = tlb_config();
    gpump_tlb *tlb;
    gpump_result result = gpump_adopt(&gpump_tlb_component, memory, bytes, &config, &tlb, diag);
    return result ? result : gpump_check(&gpump_tlb_component, tlb, diag);
}

static void tlb_drive(uint64_t *memory, uint64_t seed) {
    gpump_tlb *tlb = (gpump_tlb *)(void *)memory;
    uint64_t random = seed, waiters[12];
    for (int step = 0; step < 150; step++) {
        const uint32_t process = gpump_random_below(&random, 2);
        const uint64_t page = gpump_random_below(&random, 12);
        uint32_t outcome, count;
        switch (gpump_random_below(&random, 8)) {
        case 0: (void)gpump_tlb_cancel(tlb, process, page, page % 3); break;
        case 1: (void)gpump_tlb_invalidate(tlb, process, page, 3); break;
        case 2:
        case 3: (void)gpump_tlb_fill(tlb, process, page, (uint32_t)(page % 8), waiters, 12, &count); break;
        default: (void)gpump_tlb_lookup(tlb, process, page, GPUMP_TLB_READ, page % 3, &outcome);
        }
    }
    (void)gpump_hash(&gpump_tlb_component, tlb);
}

/* Where one bit of a TLB's memory is altered, adopting it is refused, or every call that follows ends without a crash.
 */
static void altered_bits_of_a_tlb_are_refused_or_harmless(void **state) {
    static uint64_t memory[WORDS], good[WORDS];
    const altered one = {"tlb", &gpump_tlb_component, tlb_adopt, tlb_drive};
    gpump_tlb_config config = tlb_config();
    gpump_tlb *tlb;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_bytes(&gpump_tlb_component, &config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes <= sizeof memory);
    assert_int_equal(gpump_init(&gpump_tlb_component, memory, bytes, &config, &tlb, NULL), GPUMP_OK);
    tlb_drive(memory, test_seed());
    memcpy(good, memory, sizeof good);
    alter_everything(&one, good, bytes, 1);
    compare(&one);
}

/* ---- replay ---- */

static uint32_t replay_scheme;

static gpump_replay_config replay_config(void) {
    gpump_replay_config config;
    assert_int_equal(gpump_preset(&gpump_replay_component, &config, "log8", NULL), GPUMP_OK);
    config.scheme = replay_scheme;
    config.warps = 2;
    config.blocks = 2;
    config.entries = 6;
    config.log_bytes = 12 * 256;
    config.order = replay_scheme % 3;
    config.on_fault = replay_scheme / 2 % 2;
    return config;
}

static gpump_result replay_adopt(uint64_t *memory, size_t bytes, gpump_diag *diag) {
    gpump_replay_config config = replay_config();
    gpump_replay *replay;
    gpump_result result = gpump_adopt(&gpump_replay_component, memory, bytes, &config, &replay, diag);
    return result ? result : gpump_check(&gpump_replay_component, replay, diag);
}

static void replay_drive(uint64_t *memory, uint64_t seed) {
    gpump_replay *r = (gpump_replay *)(void *)memory;
    uint64_t random = seed, sequence = 1;
    for (int step = 0; step < 200; step++) {
        const uint32_t warp = gpump_random_below(&random, 2), pick = gpump_random_below(&random, 20);
        const uint32_t handle = warp * GPUMP_REPLAY_WINDOW + gpump_random_below(&random, 5);
        gpump_replay_entry entries[GPUMP_REPLAY_WINDOW], one = {sequence, 15, 7, 0, 1 + handle % 3, 0};
        gpump_replay_action action;
        gpump_reason answer;
        uint32_t handles[GPUMP_REPLAY_WINDOW], entry, count;
        const uint64_t segments[2] = {sequence, handle};
        one.kind = gpump_random_below(&random, GPUMP_REPLAY_KINDS);
        switch (pick) {
        case 0: (void)gpump_replay_open(r, warp, warp); break;
        case 1:
            if (!gpump_random_below(&random, 8)) (void)gpump_replay_close(r, warp);
            break;
        case 2: (void)gpump_replay_set_blocks(r, 1 + warp); break;
        case 3: gpump_replay_report_fetched(r, warp, sequence); break;
        case 4: (void)gpump_replay_report_faulted(r, handle); break;
        case 5:
        case 6: (void)gpump_replay_report_committed(r, handle); break;
        case 7: (void)gpump_replay_report_unissued(r, warp, &one, one.kind && gpump_random_below(&random, 2)); break;
        case 8: (void)gpump_replay_report_served(r, warp); break;
        case 9:
            if (gpump_replay_pending(r, warp, handles, GPUMP_REPLAY_WINDOW, &count) == GPUMP_OK && count)
                (void)gpump_replay_report_reissued(r, handles[0]);
            break;
        case 10: (void)gpump_replay_report_reissued(r, handle); break;
        case 11:
            if (!gpump_random_below(&random, 3)) (void)gpump_replay_squash(r, warp);
            break;
        case 12: /* it leaves and comes back at once */
            if (gpump_replay_save(r, warp, entries, GPUMP_REPLAY_WINDOW, &count)) break;
            (void)gpump_replay_close(r, warp);
            (void)gpump_replay_open(r, warp, warp);
            (void)gpump_replay_restore(r, warp, entries, count, NULL);
            break;
        case 13: (void)gpump_replay_report_segments(r, handle, segments, 2); break;
        case 14:
        case 15: (void)gpump_replay_report_checked(r, handle, &answer); break;
        default: (void)gpump_replay_report_issued(r, warp, &one, &entry);
        }
        sequence++;
        (void)gpump_replay_may(r, warp, GPUMP_REPLAY_TO_FETCH);
        (void)gpump_replay_may_issue_memory(r, warp, 2);
        (void)gpump_replay_may(r, warp, GPUMP_REPLAY_TO_SYNCHRONISE);
        (void)gpumpi_replay_may_take_effect(r, handle);
        (void)gpump_replay_may_reissue(r, handle);
        (void)gpump_replay_waits_for_page(r, warp, 2);
        if (pick & 1)
            for (int i = 0; i < 200 && gpump_replay_next(r, &action) == GPUMP_OK; i++) {}
    }
    (void)gpump_hash(&gpump_replay_component, r);
}

/* Where one bit of a replay unit's memory is altered, adopting it is refused, or every call that follows ends without a
 * crash. */
static void altered_bits_of_a_replay_unit_are_refused_or_harmless(void **state) {
    static uint64_t memory[WORDS], good[WORDS];
    const altered one = {"replay", &gpump_replay_component, replay_adopt, replay_drive};
    (void)state;
    for (replay_scheme = 0; replay_scheme < GPUMP_REPLAY_SCHEMES; replay_scheme++) {
        gpump_replay_config config = replay_config();
        gpump_replay *r;
        gpump_diag diag;
        size_t bytes;
        assert_int_equal(gpump_bytes(&gpump_replay_component, &config, &bytes, NULL), GPUMP_OK);
        assert_true(bytes <= sizeof memory);
        assert_int_equal(gpump_init(&gpump_replay_component, memory, bytes, &config, &r, NULL), GPUMP_OK);
        for (uint32_t i = 0; i < 20; i++) { /* the check holds on the way, too */
            replay_drive(memory, test_seed() * 8 + replay_scheme + 100 * i);
            if (gpump_check(&gpump_replay_component, r, &diag))
                fail_msg("scheme %u, round %u: %s", replay_scheme, i, diag.field);
        }
        memcpy(good, memory, sizeof good);
        alter_everything(&one, good, bytes, 16);
    }
    compare(&one);
}

/* ---- fault unit ---- */

static const char *fault_preset; /* "uvm595" and "pcie3": with memory for two granules */
static gpump_fault_config fault_config(void) {
    gpump_fault_config config;
    assert_int_equal(gpump_preset(&gpump_fault_component, &config, fault_preset, NULL), GPUMP_OK);
    if (!config.local) {
        config.touches = 1;
        config.memory = 2;
        config.uvm.remote = config.uvm.batch > 1;
        config.uvm.thrash_delays = 1;
        config.uvm.counter = 3;
        config.uvm.batch = config.uvm.batch > 1 ? 4 : 1;
    }
    config.sms = 2;
    config.processes = 2;
    config.ranges = 4;
    config.granules = 16;
    config.faults = 6;
    config.waiters = 10;
    return config;
}

static gpump_result fault_adopt(uint64_t *memory, size_t bytes, gpump_diag *diag) {
    gpump_fault_config config = fault_config();
    gpump_fault *fault;
    gpump_result result = gpump_adopt(&gpump_fault_component, memory, bytes, &config, &fault, diag);
    return result ? result : gpump_check(&gpump_fault_component, fault, diag);
}

static void fault_drive(uint64_t *memory, uint64_t seed) {
    gpump_fault *f = (gpump_fault *)(void *)memory;
    uint64_t random = seed, now = gpump_next_cycle(&gpump_fault_component, f);
    if (now == GPUMP_UNKNOWN) now = 0;
    for (int step = 0; step < 200; step++) {
        gpump_fault_access access;
        gpump_fault_action action;
        uint32_t outcome;
        memset(&access, 0, sizeof access);
        access.page = gpump_random_below(&random, 70);
        access.cookie = gpump_random_below(&random, 4);
        access.process = gpump_random_below(&random, 2);
        access.sm = gpump_random_below(&random, 2);
        access.warp = gpump_random_below(&random, 64);
        access.rights = 1 + gpump_random_below(&random, 3);
        now = gpump_add_saturated(now, gpump_random_below(&random, 2000));
        switch (gpump_random_below(&random, 12)) {
        case 8: (void)gpump_fault_release(f, now, access.cookie, access.warp); break;
        case 9: (void)gpump_fault_report_remote(f, now, access.process, access.page, 2); break;
        case 10: (void)gpump_fault_report_unmapped(f, now, access.process, access.page, access.sm); break;
        case 0: (void)gpump_fault_cancel(f, access.cookie); break;
        case 1: (void)gpump_fault_unmap(f, access.process); break;
        case 2:
            (void)gpump_fault_map(f, access.process, access.page / 16 * 16, 16 * (1 + access.sm), access.sm,
                                  access.rights);
            break;
        case 3:
            for (int i = 0; i < 40 && gpump_fault_next(f, now, &action) == GPUMP_OK; i++)
                if (action.kind == GPUMP_FAULT_ACT_UNMAP && gpump_random_below(&random, 4))
                    (void)gpump_fault_report_unmapped(f, now, action.process, action.page, access.sm);
            break;
        default: (void)gpump_fault_report(f, now, &access, &outcome);
        }
        (void)gpump_fault_pending(f, access.cookie);
        (void)gpump_fault_ready_cycle(f, access.cookie);
        (void)gpump_next_cycle(&gpump_fault_component, f);
        (void)gpump_fault_stuck(f, 1, NULL, 0, &outcome);
    }
    (void)gpump_hash(&gpump_fault_component, f);
}

/* Where one bit of a fault unit's memory is altered, adopting it is refused, or every call that follows ends without a
 * crash. */
static void altered_bits_of_a_fault_unit_are_refused_or_harmless(void **state) {
    static uint64_t memory[WORDS], good[WORDS];
    static const char *const presets[] = {"nvlink_local", "pcie3", "uvm595"};
    const altered one = {"fault", &gpump_fault_component, fault_adopt, fault_drive};
    (void)state;
    for (uint32_t preset = 0; preset < 3; preset++) {
        gpump_fault_config config;
        gpump_fault *fault;
        gpump_diag diag;
        size_t bytes;
        fault_preset = presets[preset];
        config = fault_config();
        assert_int_equal(gpump_bytes(&gpump_fault_component, &config, &bytes, NULL), GPUMP_OK);
        assert_true(bytes <= sizeof memory);
        assert_int_equal(gpump_init(&gpump_fault_component, memory, bytes, &config, &fault, NULL), GPUMP_OK);
        for (uint32_t i = 0; i < 20; i++) {
            fault_drive(memory, test_seed() * 8 + i);
            if (gpump_check(&gpump_fault_component, fault, &diag))
                fail_msg("%s, round %u: %s", fault_preset, i, diag.field);
        }
        memcpy(good, memory, sizeof good);
        alter_everything(&one, good, bytes, preset ? 4 : 1);
    }
    compare(&one);
}

/* ---- block switcher ---- */

/* Reports one resident, as a host without gpump_sm fills it; the port moves a byte per cycle. */
static gpump_result switch_came(gpump_block_switch *u, uint64_t now, uint64_t cookie, uint32_t warps,
                                uint64_t switch_cycles) {
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
static gpump_block_switch_config switch_config(void) {
    gpump_block_switch_config config;
    assert_int_equal(gpump_preset(&gpump_block_switch_component, &config, "table61", NULL), GPUMP_OK);
    config.blocks = 3;
    config.extra = 2;
    config.fair_cycles = 100;
    return config;
}

static gpump_result switch_adopt(uint64_t *memory, size_t bytes, gpump_diag *diag) {
    gpump_block_switch_config config = switch_config();
    gpump_block_switch *unit;
    gpump_result result = gpump_adopt(&gpump_block_switch_component, memory, bytes, &config, &unit, diag);
    return result ? result : gpump_check(&gpump_block_switch_component, unit, diag);
}

static void switch_drive(uint64_t *memory, uint64_t seed) {
    gpump_block_switch *u = (gpump_block_switch *)(void *)memory;
    uint64_t random = seed, now = gpump_next_cycle(&gpump_block_switch_component, u);
    if (now == GPUMP_UNKNOWN) now = 0;
    for (int step = 0; step < 200; step++) {
        gpump_block_switch_view views[8];
        gpump_block_switch_action action;
        const uint64_t cookie = gpump_random_below(&random, 7);
        const uint32_t some = gpump_random_below(&random, 3);
        uint32_t count;
        now = gpump_add_saturated(now, gpump_random_below(&random, 30));
        switch (gpump_random_below(&random, 9)) {
        case 0:
        case 1: (void)gpump_block_switch_report_left(u, now, cookie); break;
        case 2: (void)switch_came(u, now, cookie, 1 + some, 50); break;
        case 3: (void)gpump_block_switch_set_outside(u, some, some ? UINT32_MAX : 2); break;
        case 4: (void)gpump_block_switch_report_pending(u, now, cookie, some, now + 90); break;
        case 5:
            (void)(some ? gpump_block_switch_report_none(u, now) : gpump_block_switch_report_stayed(u, now, cookie));
            break;
        case 6:
            if (!some) (void)gpump_block_switch_report_ended(u, now, cookie);
            break;
        default: (void)gpump_block_switch_report_warp(u, now, cookie, some, cookie & 1u);
        }
        (void)gpump_block_switch_next(u, now, &action);
        (void)gpump_next_cycle(&gpump_block_switch_component, u);
        assert_int_equal(gpump_block_switch_blocks(u, views, 8, &count), GPUMP_OK);
    }
    (void)gpump_hash(&gpump_block_switch_component, u);
}

/* Where one bit of a block switch unit's memory is altered, adopting it is refused, or every call that follows ends
 * without a crash. */
static void altered_bits_of_a_block_switch_are_refused_or_harmless(void **state) {
    static uint64_t memory[WORDS], good[WORDS];
    const altered one = {"block_switch", &gpump_block_switch_component, switch_adopt, switch_drive};
    gpump_block_switch_config config = switch_config();
    gpump_block_switch *unit;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_bytes(&gpump_block_switch_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_block_switch_component, memory, bytes, &config, &unit, NULL), GPUMP_OK);
    for (uint32_t i = 0; i < 20; i++) {
        switch_drive(memory, test_seed() * 8 + i);
        assert_int_equal(gpump_check(&gpump_block_switch_component, unit, NULL), GPUMP_OK);
    }
    memcpy(good, memory, sizeof good);
    alter_everything(&one, good, bytes, 1);
    compare(&one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(altered_bits_of_a_scheduler_are_refused_or_harmless),
        cmocka_unit_test(altered_bits_of_a_spill_unit_are_refused_or_harmless),
        cmocka_unit_test(altered_bits_of_a_context_pool_are_refused_or_harmless),
        cmocka_unit_test(altered_bits_of_a_list_of_blocks_are_refused_or_harmless),
        cmocka_unit_test(altered_bits_of_a_read_set_are_refused_or_harmless),
        cmocka_unit_test(altered_bits_of_an_sm_are_refused_or_harmless),
        cmocka_unit_test(an_sm_refuses_the_last_cycle_and_saturates_huge_contexts),
        cmocka_unit_test(altered_bits_of_a_tlb_are_refused_or_harmless),
        cmocka_unit_test(altered_bits_of_a_replay_unit_are_refused_or_harmless),
        cmocka_unit_test(altered_bits_of_a_fault_unit_are_refused_or_harmless),
        cmocka_unit_test(altered_bits_of_a_block_switch_are_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
