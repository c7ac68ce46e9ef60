/* labels: unit */
/* Every refusal of an SM: its code, and what its diagnostic says. */
#include "diagnosed.h"

static gpump_result check_config(const void *config, gpump_diag *diag) {
    size_t bytes;
    uint64_t bits = 77;
    gpump_sm_storage storage;
    gpump_result result = gpump_bytes(&gpump_sm_component, (const gpump_sm_config *)config, &bytes, diag);
    assert_int_equal(gpump_bits(&gpump_sm_component, (const gpump_sm_config *)config, &bits, NULL), result);
    assert_int_equal(gpump_table_bits(&gpump_sm_component, (const gpump_sm_config *)config, &storage, NULL), result);
    return result;
}

/* Each number of the configuration beyond its range, by name. */
static void wrong_numbers_of_an_sm_are_refused(void **state) {
#define FIELD(member, minimum, maximum) DIAGNOSED_FIELD(gpump_sm_config, member, minimum, maximum)
    const diagnosed_field fields[] = {
        FIELD(lanes, 1, 64),
        FIELD(block_slots, 1, 64),
        FIELD(entries, 8, 64),
        FIELD(warp_slots, 1, 256),
        FIELD(thread_slots, 1, UINT32_MAX),
        FIELD(registers, 1, 1 << 30),
        FIELD(register_granule, 1, 1 << 20),
        FIELD(shared_bytes, 0, 1 << 30),
        FIELD(shared_granule_bytes, 1, 1 << 20),
        FIELD(kernels, 1, 64),
        FIELD(placement, 0, 1),
        FIELD(techniques, 0, 15),
        FIELD(waits, 0, 127),
        FIELD(timing, 0, 1),
        FIELD(port.cycles, 1, UINT64_MAX),
        FIELD(port.bytes, 1, UINT64_MAX),
    };
#undef FIELD
    gpump_sm_config config;
    gpump_sm_storage storage;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_sm_component, &config, "gtx480_lin", NULL), GPUMP_OK);
    assert_int_equal(config.block_slots, 8);
    diagnosed_fields(&config, sizeof config, fields, sizeof fields / sizeof fields[0], check_config);
    diagnosed_null(gpump_bytes(&gpump_sm_component, NULL, &bytes, DIAG), "config");
    diagnosed_null(gpump_bytes(&gpump_sm_component, &config, NULL, DIAG), "bytes");
    diagnosed_null(gpump_bits(&gpump_sm_component, &config, NULL, DIAG), "bits");
    diagnosed_null(gpump_table_bits(&gpump_sm_component, &config, NULL, DIAG), "storage");
    diagnosed_null(gpump_table_bits(&gpump_sm_component, NULL, &storage, DIAG), "config");
}

/* The sum of the tables, bit by bit, for a configuration in which every number differs. */
static void bits_by_hand(void **state) {
    gpump_sm_config config;
    gpump_sm_storage storage;
    uint64_t bits;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_sm_component, &config, "gtx480_lin", NULL), GPUMP_OK);
    config.block_slots = 9; /* 4 bits */
    config.entries = 11;
    config.registers = 1023;    /* 0 to 1023: 10 bits */
    config.shared_bytes = 1024; /* 0 to 1024: 11 bits */
    config.warp_slots = 31;     /* 0 to 31: 5 bits */
    config.thread_slots = 64;   /* 0 to 64: 7 bits */
    assert_int_equal(gpump_table_bits(&gpump_sm_component, &config, &storage, NULL), GPUMP_OK);
    assert_int_equal(storage.allocation_bits, 11 * (2 * 10 + 2 * 11 + 2 * (4 + 5)));
    assert_int_equal(storage.status_bits, 9 * (32 + 32 + 1));
    assert_int_equal(storage.life_bits, 11 * (4 + 2 + 2 + 6 + 5 + 7)); /* 11 states */
    assert_int_equal(storage.total_bits, storage.allocation_bits + storage.status_bits + storage.life_bits);
    assert_int_equal(gpump_bits(&gpump_sm_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(bits, storage.total_bits);
}

static uint64_t memory[4096];

static gpump_sm *make(gpump_sm_config *config, uint32_t timing) {
    gpump_sm *sm;
    assert_int_equal(gpump_preset(&gpump_sm_component, config, "gtx480_lin", NULL), GPUMP_OK);
    config->timing = timing;
    config->waits = GPUMP_SM_WAIT_PREEMPTION_POINT | GPUMP_SM_WAIT_PIPELINE;
    config->techniques = 15;
    assert_int_equal(gpump_init(&gpump_sm_component, memory, sizeof memory, config, &sm, NULL), GPUMP_OK);
    return sm;
}

static gpump_block_ref place(gpump_sm *sm, uint64_t now, uint32_t shared_bytes, uint32_t group) {
    gpump_sm_request request;
    gpump_block_ref block;
    memset(&request, 0, sizeof request);
    request.kernel = 3;
    request.group = group;
    request.need.threads = 64;
    request.need.registers = 640;
    request.need.shared_bytes = shared_bytes;
    assert_int_equal(gpump_sm_place(sm, now, &request, NULL, &block, NULL), GPUMP_OK);
    return block;
}

/* An SM's memory that is missing, short or not aligned is refused, and adopting it gives the same SM. */
static void memory_of_an_sm(void **state) {
    gpump_sm_config config;
    gpump_sm *sm, *other = NULL;
    size_t bytes;
    (void)state;
    sm = make(&config, GPUMP_SM_TIMING_HOST);
    assert_int_equal(gpump_bytes(&gpump_sm_component, &config, &bytes, NULL), GPUMP_OK);
    diagnosed_null(gpump_init(&gpump_sm_component, memory, bytes, &config, NULL, DIAG), "sm");
    diagnosed_null(gpump_init(&gpump_sm_component, memory, bytes, NULL, &other, DIAG), "config");
    diagnosed(gpump_init(&gpump_sm_component, memory, bytes - 1, &config, &other, DIAG), GPUMP_ERROR_CAPACITY, "bytes",
              0, bytes - 1, bytes, UINT64_MAX);
    diagnosed_null(gpump_init(&gpump_sm_component, NULL, bytes, &config, &other, DIAG), "memory");
    assert_int_equal(gpump_init(&gpump_sm_component, (char *)memory + 4, bytes, &config, &other, DIAG),
                     GPUMP_ERROR_ARGUMENT);
    assert_null(other);
    diagnosed_null(gpump_adopt(&gpump_sm_component, memory, bytes, &config, NULL, DIAG), "sm");
    diagnosed_null(gpump_adopt(&gpump_sm_component, memory, bytes, NULL, &other, DIAG), "config");
    assert_int_equal(gpump_adopt(&gpump_sm_component, memory, bytes, &config, &other, NULL), GPUMP_OK);
    assert_ptr_equal(other, sm);
    diagnosed_null(gpump_check(&gpump_sm_component, NULL, DIAG), "sm");
}

/* Each call with a missing pointer, an unknown block or a number that cannot be. */
static void wrong_calls_of_an_sm_are_refused(void **state) {
    gpump_sm_config config;
    gpump_sm *sm = make(&config, GPUMP_SM_TIMING_HOST);
    gpump_sm_request request;
    gpump_block_ref block = {77, 77}, nobody = {5, 9};
    const gpump_context_sizes sizes = {1, 1, 0};
    gpump_block_view view;
    uint32_t count;
    (void)state;
    memset(&request, 0, sizeof request);
    request.kernel = 3;
    request.need.threads = 64;
    diagnosed_null(gpump_sm_place(NULL, 0, &request, NULL, &block, DIAG), "sm");
    diagnosed_null(gpump_sm_place(sm, 0, NULL, NULL, &block, DIAG), "request");
    diagnosed_null(gpump_sm_place(sm, 0, &request, NULL, NULL, DIAG), "block");
    request.kernel = 0;
    diagnosed(gpump_sm_place(sm, 0, &request, NULL, &block, DIAG), GPUMP_ERROR_ARGUMENT, "kernel", 0, 0, 1, UINT32_MAX);
    request.kernel = 3;
    request.need.threads = 0;
    diagnosed(gpump_sm_place(sm, 0, &request, NULL, &block, DIAG), GPUMP_ERROR_ARGUMENT, "threads", 0, 0, 1,
              config.thread_slots);
    request.need.threads = config.thread_slots + 1;
    diagnosed_reason(gpump_sm_place(sm, 0, &request, NULL, &block, DIAG), GPUMP_ERROR_REFUSED, "need", 0,
                     GPUMP_REASON_NEVER_FITS);
    assert_int_equal(diagnosed_diag.value | diagnosed_diag.minimum | diagnosed_diag.maximum, 0);
    request.need.threads = 64;
    assert_int_equal(gpump_sm_reserve(sm, 4), GPUMP_OK);
    diagnosed_reason(gpump_sm_place(sm, 0, &request, NULL, &block, DIAG), GPUMP_BUSY, "need", 0, GPUMP_REASON_RESERVED);
    assert_int_equal(diagnosed_diag.value | diagnosed_diag.minimum | diagnosed_diag.maximum, 0);
    assert_int_equal(gpump_sm_reserve(sm, 0), GPUMP_OK);
    diagnosed(gpump_sm_place_in(sm, 0, config.entries, &request, NULL, &block, DIAG), GPUMP_ERROR_ARGUMENT, "slot", 0,
              config.entries, 0, config.entries - 1);
    assert_int_equal(block.slot, 77);
    block = place(sm, 10, 1000, 0);
    diagnosed(gpump_sm_place(sm, 9, &request, NULL, &block, DIAG), GPUMP_ERROR_TIME, "now", 0, 9, 10,
              GPUMP_UNKNOWN - 1);
    diagnosed(gpump_sm_place(sm, GPUMP_UNKNOWN, &request, NULL, &block, DIAG), GPUMP_ERROR_TIME, "now", 0,
              GPUMP_UNKNOWN, 10, GPUMP_UNKNOWN - 1);
    /* NULL and strangers */
    assert_int_equal(gpump_sm_reserve(NULL, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpumpi_sm_advance(NULL, 10), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_report_waits(NULL, 10, block, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_report_context_bytes(NULL, block, &sizes), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_report_context_bytes(sm, block, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_report_blocked(NULL, 10, block, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_report_saved(NULL, 10, block), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_report_restored(NULL, 10, block), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_report_done(NULL, 10, block), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_report_dropped(NULL, 10, block), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_report_rewound(NULL, block, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_may(NULL, block, 0), GPUMP_REASON_NO_SUCH_BLOCK);
    assert_int_equal(gpump_sm_may(sm, nobody, 0), GPUMP_REASON_NO_SUCH_BLOCK);
    assert_int_equal(gpump_sm_waits_for(NULL, block, NULL, NULL), GPUMP_REASON_NO_SUCH_BLOCK);
    assert_int_equal(gpump_sm_waits_for(sm, nobody, NULL, NULL), GPUMP_REASON_NO_SUCH_BLOCK);
    assert_int_equal(gpump_sm_waits_for(sm, block, NULL, NULL), GPUMP_REASON_NOT_RUNNING);
    assert_int_equal(gpump_sm_block(NULL, 10, block, &view), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_block(sm, 10, block, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_block(sm, 10, nobody, &view), GPUMP_ERROR_STALE);
    assert_int_equal(gpump_sm_block(sm, 10, block, &view), GPUMP_OK);
    assert_int_equal(view.kernel, 3);
    assert_int_equal(gpump_sm_blocks(NULL, 10, &view, 1, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_blocks(sm, 10, NULL, 1, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_blocks(sm, 10, &view, 1, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_sm_blocks(sm, 10, NULL, 0, &count), GPUMP_ERROR_CAPACITY);
    assert_int_equal(count, 1);
    assert_int_equal(gpump_sm_next(sm, 10, NULL), GPUMP_ERROR_ARGUMENT);
    /* a size of shared memory that is too large, or under a block */
    diagnosed_null(gpump_sm_set_shared_bytes(NULL, 1, DIAG), "sm");
    diagnosed(gpump_sm_set_shared_bytes(sm, config.shared_bytes + 1, DIAG), GPUMP_ERROR_ARGUMENT, "bytes", 0,
              config.shared_bytes + 1, 0, config.shared_bytes);
    block = place(sm, 10, 1000, 0);
    assert_int_equal(block.slot, 1);
    assert_int_equal(gpump_sm_block(sm, 10, block, &view), GPUMP_OK);
    diagnosed(gpump_sm_set_shared_bytes(sm, view.shared_base + view.shared_bytes - 1, DIAG), GPUMP_ERROR_STATE, "bytes",
              1, view.shared_base + view.shared_bytes - 1, view.shared_base + view.shared_bytes, config.shared_bytes);
    assert_int_equal(gpump_sm_set_shared_bytes(sm, view.shared_base + view.shared_bytes, NULL), GPUMP_OK);
}

/* Choices that name a block twice, a technique that it may not take, or one of another SM. */
static void wrong_choices_of_victims_are_refused(void **state) {
    gpump_sm_config config;
    gpump_sm *sm = make(&config, GPUMP_SM_TIMING_HOST);
    gpump_block_choice c[64];
    gpump_sm_action action;
    gpump_block_ref a, b;
    (void)state;
    a = place(sm, 10, 1000, 0);
    b = place(sm, 10, 1000, 0);
    memset(c, 0, sizeof c);
    c[0].block = a;
    c[1].block = b;
    c[0].technique = c[1].technique = GPUMP_TECHNIQUE_SWITCH;
    diagnosed_null(gpump_sm_preempt(NULL, 10, c, 1, DIAG), "sm");
    diagnosed_null(gpump_sm_preempt(sm, 10, NULL, 1, DIAG), "choices");
    assert_int_equal(gpump_sm_preempt(sm, 10, NULL, 0, NULL), GPUMP_OK);
    diagnosed(gpump_sm_preempt(sm, 9, c, 1, DIAG), GPUMP_ERROR_TIME, "now", 0, 9, 10, GPUMP_UNKNOWN - 1);
    diagnosed(gpump_sm_preempt(sm, 10, c, config.entries + 1, DIAG), GPUMP_ERROR_ARGUMENT, "count", 0,
              config.entries + 1, 0, config.entries);
    c[1].technique = GPUMP_TECHNIQUE_OWN; /* nobody has defined one */
    diagnosed(gpump_sm_preempt(sm, 10, c, 2, DIAG), GPUMP_ERROR_ARGUMENT, "choices.technique", 1, GPUMP_TECHNIQUE_OWN,
              0, GPUMP_TECHNIQUE_REWIND);
    c[1].technique = GPUMP_TECHNIQUE_SWITCH;
    c[1].keep = 4;
    diagnosed(gpump_sm_preempt(sm, 10, c, 2, DIAG), GPUMP_ERROR_ARGUMENT, "choices.keep", 1, 4, 0, 3);
    c[1].technique = GPUMP_TECHNIQUE_FLUSH;
    c[1].keep = 1;
    diagnosed(gpump_sm_preempt(sm, 10, c, 2, DIAG), GPUMP_ERROR_ARGUMENT, "choices.keep", 1, 1, 0, 0);
    c[1].keep = 0;
    c[1].to_point = 1;
    diagnosed(gpump_sm_preempt(sm, 10, c, 2, DIAG), GPUMP_ERROR_ARGUMENT, "choices.to_point", 1, 1, 0, 0);
    c[1].technique = GPUMP_TECHNIQUE_SWITCH;
    c[1].to_point = 2;
    diagnosed(gpump_sm_preempt(sm, 10, c, 2, DIAG), GPUMP_ERROR_ARGUMENT, "choices.to_point", 1, 2, 0, 1);
    c[1].to_point = 0;
    c[1].block = a;
    diagnosed(gpump_sm_preempt(sm, 10, c, 2, DIAG), GPUMP_ERROR_ARGUMENT, "choices (same block twice)", 1, a.slot, 0,
              0);
    c[1].block = b;
    c[2] = c[0];
    diagnosed(gpump_sm_preempt(sm, 10, c, 3, DIAG), GPUMP_ERROR_ARGUMENT, "choices (same block twice)", 2, a.slot, 0,
              0);
    c[1].block.generation += 4;
    diagnosed(gpump_sm_preempt(sm, 10, c, 2, DIAG), GPUMP_ERROR_STALE, "choices", 1, b.generation + 4, 0, 0);
    assert_int_equal(diagnosed_diag.reason, GPUMP_REASON_NO_SUCH_BLOCK);
    c[1].block = b;
    assert_int_equal(gpump_sm_report_clobber(sm, b), GPUMP_OK);
    c[1].technique = GPUMP_TECHNIQUE_FLUSH;
    diagnosed_reason(gpump_sm_preempt(sm, 10, c, 2, DIAG), GPUMP_ERROR_REFUSED, "choices", 1, GPUMP_REASON_CLOBBERED);
    c[1].technique = GPUMP_TECHNIQUE_SWITCH;
    c[0].keep = GPUMP_PART_SHARED_MEMORY;
    assert_int_equal(gpump_sm_preempt(sm, 10, c, 1, NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_report_waits(sm, 10, a, 0), GPUMP_OK);
    while (gpump_sm_next(sm, 10, &action) == GPUMP_OK) {}
    diagnosed(gpump_sm_unpark(sm, 10, a, DIAG), GPUMP_ERROR_STATE, "block", a.slot, 10, 0, 0); /* being saved */
    assert_int_equal(gpump_sm_report_saved(sm, 11, a), GPUMP_OK);
    diagnosed(gpump_sm_unpark(sm, 11, a, DIAG), GPUMP_ERROR_STATE, "block", a.slot, 11, 0, 0); /* PARKED not pulled */
    assert_int_equal(gpump_sm_next(sm, 11, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_SM_ACTION_PARKED);
    diagnosed(gpump_sm_unpark(sm, 10, a, DIAG), GPUMP_ERROR_TIME, "now", a.slot, 10, 0, 0);
    /* a parked block gives up part of what it has kept, or all; never nothing, and never what it does not have */
    c[0].keep = GPUMP_PART_SHARED_MEMORY;
    diagnosed_rule(gpump_sm_preempt(sm, 11, c, 1, DIAG), GPUMP_ERROR_ARGUMENT, "choices.keep", 0, 2, 0, 2);
    c[0].keep = GPUMP_PART_REGISTERS;
    diagnosed_rule(gpump_sm_preempt(sm, 11, c, 1, DIAG), GPUMP_ERROR_ARGUMENT, "choices.keep", 0, 1, 0, 2);
    c[0].keep = 0;
    c[0].to_point = 1;
    diagnosed_rule(gpump_sm_preempt(sm, 11, c, 1, DIAG), GPUMP_ERROR_ARGUMENT, "choices.keep", 0, 0, 0, 2);
    assert_int_equal(gpump_sm_reserve(sm, 4), GPUMP_OK);
    diagnosed_reason(gpump_sm_unpark(sm, 11, a, DIAG), GPUMP_BUSY, "need", 0, GPUMP_REASON_RESERVED);
    assert_int_equal(gpump_sm_unpark(NULL, 11, a, NULL), GPUMP_ERROR_ARGUMENT);
}

/* Blocks that run, are blocked or are being restored stay, so their group must leave together. */
static void blocks_that_stay_keep_their_group(void **state) {
    gpump_sm_config config;
    gpump_sm *sm = make(&config, GPUMP_SM_TIMING_HOST);
    gpump_block_choice c[2];
    gpump_sm_request request;
    gpump_sm_history history;
    gpump_block_ref a, b, r;
    (void)state;
    a = place(sm, 0, 0, 5);
    b = place(sm, 0, 0, 5);
    memset(c, 0, sizeof c);
    c[0].block = a;
    c[0].technique = GPUMP_TECHNIQUE_SWITCH;
    diagnosed_reason(gpump_sm_preempt(sm, 0, c, 1, DIAG), GPUMP_ERROR_REFUSED, "choices", 0, GPUMP_REASON_GROUP);
    assert_int_equal(gpump_sm_report_blocked(sm, 0, b, 1), GPUMP_OK);
    diagnosed_reason(gpump_sm_preempt(sm, 0, c, 1, DIAG), GPUMP_ERROR_REFUSED, "choices", 0, GPUMP_REASON_GROUP);
    c[1].block = b;
    c[1].technique = GPUMP_TECHNIQUE_SWITCH;
    assert_int_equal(gpump_sm_preempt(sm, 0, c, 2, NULL), GPUMP_OK);
    /* a mate that is being restored */
    memset(&request, 0, sizeof request);
    memset(&history, 0, sizeof history);
    request.kernel = 3;
    request.group = 6;
    request.need.threads = 64;
    assert_int_equal(gpump_sm_place(sm, 0, &request, &history, &r, NULL), GPUMP_OK);
    a = place(sm, 0, 0, 6);
    c[0].block = a;
    diagnosed_reason(gpump_sm_preempt(sm, 0, c, 1, DIAG), GPUMP_ERROR_REFUSED, "choices", 0, GPUMP_REASON_GROUP);
    /* the same number in another kernel is another group */
    request.kernel = 4;
    request.group = 7;
    a = place(sm, 0, 0, 7);
    c[0].block = a;
    assert_int_equal(gpump_sm_place(sm, 0, &request, NULL, &r, NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_preempt(sm, 0, c, 1, NULL), GPUMP_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_numbers_of_an_sm_are_refused),
        cmocka_unit_test(bits_by_hand),
        cmocka_unit_test(memory_of_an_sm),
        cmocka_unit_test(wrong_calls_of_an_sm_are_refused),
        cmocka_unit_test(wrong_choices_of_victims_are_refused),
        cmocka_unit_test(blocks_that_stay_keep_their_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
