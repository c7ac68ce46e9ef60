/* labels: unit */
/* Every refusal of the scheduler: its code, and what its diagnostic says; the kernel that an ISSUE names, and what
 * report_room may say. */
#include "diagnosed.h"

static gpump_result check_scheduler(const void *config, gpump_diag *diag) {
    const gpump_scheduler_config *c = (const gpump_scheduler_config *)config;
    gpump_scheduler_storage storage;
    size_t bytes;
    uint64_t bits;
    gpump_result result = gpump_bytes(&gpump_scheduler_component, c, &bytes, diag);
    assert_int_equal(gpump_bits(&gpump_scheduler_component, c, &bits, NULL), result);
    assert_int_equal(gpump_table_bits(&gpump_scheduler_component, c, &storage, NULL), result);
    return result;
}

static uint64_t memory[16384];
static gpump_scheduler *make(gpump_scheduler_config *config, uint32_t kernels_per_sm) {
    gpump_scheduler *s;
    assert_int_equal(gpump_preset(&gpump_scheduler_component, config, "k20c", NULL), GPUMP_OK);
    config->sms = 1;
    config->blocks_per_sm = 4;
    config->processes = 3;
    config->queues = 3;
    config->active_kernels = 3;
    config->saved_blocks = 4;
    config->kernels_per_sm = kernels_per_sm;
    config->decision_cycles = 0;
    assert_int_equal(gpump_init(&gpump_scheduler_component, memory, sizeof memory, config, &s, NULL), GPUMP_OK);
    return s;
}

/* Each number of the configuration beyond its range, by name. */
static void wrong_numbers_of_a_scheduler_are_refused(void **state) {
#define FIELD(member, minimum, maximum) DIAGNOSED_FIELD(gpump_scheduler_config, member, minimum, maximum)
    const diagnosed_field fields[] = {
        FIELD(sms, 1, 65536),
        FIELD(blocks_per_sm, 1, 64),
        FIELD(processes, 1, 4096),
        FIELD(queues, 1, 4096),
        FIELD(active_kernels, 1, 4096),
        FIELD(saved_blocks, 0, 4),
        FIELD(technique, 0, GPUMP_TECHNIQUE_SELECT),
        FIELD(kernels_per_sm, 1, 2),
        FIELD(slice_cycles, 1, UINT32_MAX),
        FIELD(command_mean_cycles, 1100, UINT32_MAX),
        FIELD(launch_ahead, 0, 65535),
        FIELD(launch_refill, 0, 8),
    };
#undef FIELD
    gpump_scheduler_config config;
    gpump_scheduler *s = NULL;
    size_t bytes;
    uint64_t bits;
    uint32_t offsets = 0;
    gpump_diag diag;
    (void)state;
    make(&config, 1);
    config.command_least_cycles = 1000;
    config.command_spread_cycles = 200;
    config.command_mean_cycles = 1400;
    config.launch_ahead = 7;
    config.launch_refill = 4;
    diagnosed_fields(&config, sizeof config, fields, sizeof fields / sizeof fields[0], check_scheduler);
    diagnosed_null(gpump_bytes(&gpump_scheduler_component, NULL, &bytes, DIAG), "config");
    diagnosed_null(gpump_bytes(&gpump_scheduler_component, &config, NULL, DIAG), "bytes");
    diagnosed_null(gpump_bits(&gpump_scheduler_component, &config, NULL, DIAG), "bits");
    diagnosed_null(gpump_bits(&gpump_scheduler_component, NULL, &bits, DIAG), "config");
    diagnosed_null(gpump_table_bits(&gpump_scheduler_component, &config, NULL, DIAG), "storage");
    assert_int_equal(gpump_bytes(&gpump_scheduler_component, &config, &bytes, NULL), GPUMP_OK);
    diagnosed_null(gpump_init(&gpump_scheduler_component, memory, bytes, &config, NULL, DIAG), "scheduler");
    diagnosed(gpump_init(&gpump_scheduler_component, memory, bytes - 1, &config, &s, DIAG), GPUMP_ERROR_CAPACITY,
              "bytes", 0, bytes - 1, bytes, UINT64_MAX);
    assert_null(s);
    memset(memory, 0x77, sizeof memory);
    assert_int_equal(gpump_init(&gpump_scheduler_component, memory, bytes, &config, &s, NULL), GPUMP_OK);
    assert_true(memory[bytes / 8] == UINT64_C(0x7777777777777777));
    diagnosed_null(gpump_adopt(&gpump_scheduler_component, memory, bytes, &config, NULL, DIAG), "scheduler");
    diagnosed(gpump_adopt(&gpump_scheduler_component, memory, bytes - 8, &config, &s, DIAG), GPUMP_ERROR_FORMAT,
              "bytes", 0, bytes - 8, bytes, UINT64_MAX);
    for (uint32_t word = 0; word < bytes / 8; word++) { /* adopt compares every one of the 13 offsets */
        memory[word] ^= 1;
        if (gpump_adopt(&gpump_scheduler_component, memory, bytes, &config, &s, &diag) &&
            !strcmp(diag.field, "offsets")) {
            diagnosed(gpump_adopt(&gpump_scheduler_component, memory, bytes, &config, &s, DIAG), GPUMP_ERROR_FORMAT,
                      "offsets", 0, 0, 0, 0);
            offsets++;
        }
        memory[word] ^= 1;
    }
    assert_int_equal(offsets, 13);
    diagnosed_null(gpump_check(&gpump_scheduler_component, NULL, DIAG), "scheduler");
}

/* The tables, bit by bit, for a configuration in which the numbers differ. */
static void bits_by_hand(void **state) {
    gpump_scheduler_config config;
    gpump_scheduler_storage storage;
    uint64_t bits;
    (void)state;
    make(&config, 2);
    config.sms = 5;           /* 3 bits */
    config.blocks_per_sm = 6; /* 3 bits; 0 to 6: 3 */
    config.processes = 9;     /* 4 bits */
    config.queues = 7;
    config.active_kernels = 17; /* 5 bits */
    config.saved_blocks = 30;
    assert_int_equal(gpump_table_bits(&gpump_scheduler_component, &config, &storage, NULL), GPUMP_OK);
    assert_int_equal(storage.command_buffers, 7 * (1 + 4 + 40));
    assert_int_equal(storage.ksrt, 17 * (1 + 4 + 40 + 2 * 40 + 3 + 5 + 3 + 1)); /* 0 to 30 resident: 5 bits */
    assert_int_equal(storage.smst, 5 * (2 + 2 * 5 + 2 * 3 + 0));
    assert_int_equal(storage.active_queue, 17 * 5);
    assert_int_equal(storage.ptbqs, 17 * 30 * 64);
    assert_int_equal(storage.process_table, 9 * (1 + 40 + 8));
    assert_int_equal(gpump_bits(&gpump_scheduler_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(bits, storage.command_buffers + storage.ksrt + storage.smst + storage.active_queue +
                               storage.ptbqs + storage.process_table);
}

/* Each call with a missing pointer, a wrong number, or in the wrong state. */
static void wrong_facts_for_a_scheduler_are_refused(void **state) {
    gpump_scheduler_config config;
    gpump_scheduler *s = make(&config, 1);
    gpump_scheduler_process process = {7, 4096, 0, 1};
    gpump_scheduler_command command, good;
    gpump_scheduler_action action;
    gpump_scheduler_policy policy = *gpump_scheduler_find("fcfs");
    gpump_block_ref block = {0, 0};
    uint32_t row = 77;
    (void)state;
    diagnosed_null(gpump_scheduler_open(NULL, 0, &process, &row, DIAG), "process");
    diagnosed_null(gpump_scheduler_open(s, 0, NULL, &row, DIAG), "process");
    diagnosed_null(gpump_scheduler_open(s, 0, &process, NULL, DIAG), "process");
    process.weight = GPUMP_SCHEDULER_MAX_BUDGET + 1;
    diagnosed(gpump_scheduler_open(s, 0, &process, &row, DIAG), GPUMP_ERROR_ARGUMENT, "weight", 0,
              GPUMP_SCHEDULER_MAX_BUDGET + 1, 0, GPUMP_SCHEDULER_MAX_BUDGET);
    assert_int_equal(row, 77);
    process.weight = GPUMP_SCHEDULER_MAX_BUDGET;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(gpump_scheduler_open(s, 10, &process, &row, NULL), GPUMP_OK);
        assert_int_equal(row, i);
    }
    diagnosed(gpump_scheduler_open(s, 9, &process, &row, DIAG), GPUMP_ERROR_TIME, "now", 0, 9, 10, GPUMP_UNKNOWN - 1);
    diagnosed(gpump_scheduler_open(s, 10, &process, &row, DIAG), GPUMP_ERROR_FULL, "processes", 0, 4, 0, 3);
    memset(&good, 0, sizeof good);
    good.blocks = 2;
    good.blocks_per_sm = 4;
    diagnosed_null(gpump_scheduler_submit(NULL, 10, 0, &good, DIAG), "scheduler");
    diagnosed_null(gpump_scheduler_submit(s, 10, 0, NULL, DIAG), "command");
    diagnosed(gpump_scheduler_submit(s, 10, 3, &good, DIAG), GPUMP_ERROR_ARGUMENT, "queue", 0, 3, 0, 2);
    command = good;
    command.process = 3;
    diagnosed(gpump_scheduler_submit(s, 10, 0, &command, DIAG), GPUMP_ERROR_ARGUMENT, "process", 0, 3, 0, 2);
    assert_int_equal(gpump_scheduler_close(s, 10, 2), GPUMP_OK);
    command.process = 2;
    diagnosed(gpump_scheduler_submit(s, 10, 0, &command, DIAG), GPUMP_ERROR_STATE,
              "process is not open: gpump_scheduler_open opens a process, and an aborted one stays closed", 2, 0, 1, 1);
    command = good;
    command.blocks = 0;
    diagnosed(gpump_scheduler_submit(s, 10, 0, &command, DIAG), GPUMP_ERROR_ARGUMENT, "blocks", 0, 0, 1,
              GPUMP_SCHEDULER_MAX_BLOCKS);
    command.blocks = GPUMP_SCHEDULER_MAX_BLOCKS + 1;
    diagnosed(gpump_scheduler_submit(s, 10, 0, &command, DIAG), GPUMP_ERROR_ARGUMENT, "blocks", 0,
              GPUMP_SCHEDULER_MAX_BLOCKS + 1, 1, GPUMP_SCHEDULER_MAX_BLOCKS);
    command = good;
    command.blocks_per_sm = 0;
    diagnosed(gpump_scheduler_submit(s, 10, 0, &command, DIAG), GPUMP_ERROR_ARGUMENT, "blocks_per_sm", 0, 0, 1, 4);
    command.blocks_per_sm = 5;
    diagnosed(gpump_scheduler_submit(s, 10, 0, &command, DIAG), GPUMP_ERROR_ARGUMENT, "blocks_per_sm", 0, 5, 1, 4);
    diagnosed(gpump_scheduler_submit(s, 9, 0, &good, DIAG), GPUMP_ERROR_TIME, "now", 0, 9, 10, GPUMP_UNKNOWN - 1);
    assert_int_equal(gpump_scheduler_submit(s, 10, 0, &good, NULL), GPUMP_OK);
    diagnosed(gpump_scheduler_submit(s, 10, 0, &good, DIAG), GPUMP_BUSY,
              "queue holds a command: submit again after KERNEL_DONE of this queue", 0, GPUMP_SCHEDULER_BUFFER_WAITING,
              0, 0);
    assert_int_equal(gpump_scheduler_set_priority(NULL, 10, 0, 1, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_set_priority(s, 10, 0, 1, GPUMP_SCHEDULER_MAX_BUDGET), GPUMP_OK);
    assert_int_equal(gpump_scheduler_set_priority(s, 10, 0, 1, GPUMP_SCHEDULER_MAX_BUDGET + 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_set_priority(s, 10, 2, 1, 1), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_scheduler_set_priority(s, 10, 3, 1, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_close(NULL, 10, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_close(s, 10, 3), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_report_ready(NULL, 10, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_report_ready(s, 10, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_report_finished(NULL, 10, 0, block), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_report_preempted(NULL, 10, 0, block, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_report_room(NULL, 10, 0, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_issue_extra(NULL, 10, 0, &action), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_issue_extra(s, 10, 1, &action), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_issue_extra(s, 10, 0, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_issue_extra(s, 9, 0, &action), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_scheduler_issue_extra(s, 10, 0, &action), GPUMP_EMPTY); /* the SM is idle */
    assert_int_equal(gpump_scheduler_next(NULL, &policy, 10, &action), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_next(s, NULL, 10, &action), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_next(s, &policy, 10, NULL), GPUMP_ERROR_ARGUMENT);
    policy.name = NULL;
    assert_int_equal(gpump_scheduler_next(s, &policy, 10, &action), GPUMP_ERROR_ARGUMENT);
}

/* Tables of two kernels on an SM, in `memory`, are unsound under a configuration of one kernel per SM. */
static gpump_scheduler *refused_where_one_kernel_is_allowed(gpump_scheduler_config *config) {
    static uint64_t tables[16384], others[16384];
    gpump_scheduler *s;
    gpump_diag diag;
    size_t bytes;
    assert_int_equal(gpump_bytes(&gpump_scheduler_component, config, &bytes, NULL), GPUMP_OK);
    memcpy(tables, memory, bytes);
    (void)make(config, 2);
    memcpy(others, memory, bytes);
    s = make(config, 1);
    for (size_t i = 0; i < bytes / 8; i++)
        if (memory[i] == others[i]) memory[i] = tables[i];
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, &diag), GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "two kernels on an SM");
    config->kernels_per_sm = 2;
    assert_int_equal(gpump_adopt(&gpump_scheduler_component, tables, bytes, config, &s, NULL), GPUMP_OK);
    return s;
}

/* Two kernels on one SM (kernels_per_sm 2): ISSUE names its kernel, room is for the next kernel, and as many blocks as
 * the SM has slots may be announced. */
static void two_kernels_on_an_sm_have_their_room_and_blocks(void **state) {
    gpump_scheduler_config config;
    gpump_scheduler *s = make(&config, 2);
    const gpump_scheduler_policy *policy = gpump_scheduler_find("ppq");
    gpump_scheduler_process process = {7, 4096, 0, 1};
    gpump_scheduler_command command;
    gpump_scheduler_action action;
    gpump_block_ref blocks[4];
    uint32_t row, issued = 0;
    int preempted = 0, beside = 0;
    (void)state;
    assert_int_equal(gpump_scheduler_open(s, 0, &process, &row, NULL), GPUMP_OK);
    process.priority = 5;
    assert_int_equal(gpump_scheduler_open(s, 0, &process, &row, NULL), GPUMP_OK);
    memset(&command, 0, sizeof command);
    command.blocks = 4;
    command.blocks_per_sm = 4;
    command.saved_limit = 4;
    command.cookie = 100;
    assert_int_equal(gpump_scheduler_submit(s, 0, 0, &command, NULL), GPUMP_OK);
    while (gpump_scheduler_next(s, policy, 0, &action) == GPUMP_OK) {
        if (action.kind == GPUMP_SCHEDULER_SETUP)
            assert_int_equal(gpump_scheduler_report_ready(s, 0, action.sm), GPUMP_OK);
        if (action.kind == GPUMP_SCHEDULER_ISSUE) {
            assert_int_equal(action.kernel, 1);
            assert_int_equal(action.kernel_cookie, 100);
            blocks[issued++] = action.block;
        }
    }
    assert_int_equal(issued, 4);
    command.process = 1;
    command.cookie = 200;
    assert_int_equal(gpump_scheduler_submit(s, 1, 1, &command, NULL), GPUMP_OK);
    while (gpump_scheduler_next(s, policy, 1, &action) == GPUMP_OK) {
        if (action.kind == GPUMP_SCHEDULER_PREEMPT) {
            preempted = 1;
            assert_int_equal(action.kernel, 1);
            assert_int_equal(action.next, 2);
            assert_int_equal(gpump_scheduler_report_room(s, 1, 0, 1), GPUMP_ERROR_STATE); /* not set up yet */
        }
        if (action.kind == GPUMP_SCHEDULER_SETUP) {
            assert_int_equal(action.beside, 1);
            assert_int_equal(action.kernel, 2);
            beside = 1;
            assert_int_equal(gpump_scheduler_report_ready(s, 1, action.sm), GPUMP_OK);
        }
    }
    assert_true(preempted && beside);
    assert_int_equal(gpump_scheduler_report_room(s, 1, 0, 5), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_scheduler_report_room(s, 1, 0, 4), GPUMP_OK);        /* all slots */
    assert_int_equal(gpump_scheduler_next(s, policy, 1, &action), GPUMP_EMPTY); /* and none is free */
    assert_int_equal(gpump_scheduler_report_preempted(s, 1, 0, blocks[2], 9), GPUMP_OK);
    assert_int_equal(gpump_scheduler_report_room(s, 1, 0, 4), GPUMP_OK);
    assert_int_equal(gpump_scheduler_next(s, policy, 1, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_SCHEDULER_ISSUE);
    assert_int_equal(action.kernel, 2); /* beside three blocks of kernel 1 */
    assert_int_equal(action.kernel_cookie, 200);
    assert_int_equal(action.process, 1);
    assert_int_equal(action.queue, 1);
    assert_int_equal(action.block.slot, 2);
    assert_int_equal(gpump_scheduler_look(s).sms[0].next_blocks, 1);
    assert_int_equal(gpump_scheduler_look(s).sms[0].blocks, 3);
    assert_int_equal(gpump_scheduler_look(s).sms[0].room, 3);
    assert_int_equal(gpump_scheduler_next(s, policy, 1, &action), GPUMP_EMPTY); /* four slots are taken */
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
    s = refused_where_one_kernel_is_allowed(&config);
    /* The process of the kernel that has come is aborted: its block is killed, those that leave are not. */
    assert_int_equal(gpump_scheduler_abort(s, 2, 1), GPUMP_OK);
    assert_int_equal(gpump_scheduler_next(s, policy, 2, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_SCHEDULER_KILL);
    assert_int_equal(action.sm, 0);
    assert_int_equal(action.kernel, 2);
    assert_int_equal(action.kernel_cookie, 200);
    assert_int_equal(gpump_scheduler_next(s, policy, 2, &action), GPUMP_EMPTY);
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
}

/* A preset needs a name and somewhere to go; its times are those of the machine's clock. A budget may be the largest
 * there is, and a process that nobody has opened yet is none. */
static void presets_and_budgets_at_their_limits(void **state) {
    static const struct {
        const char *name;
        uint32_t clock_khz;
    } machines[] = {{"k20c", 706000}, {"v100", 1530000}};
    gpump_scheduler_config config;
    gpump_scheduler_process process;
    gpump_scheduler_command command;
    gpump_scheduler_action action;
    gpump_scheduler *s;
    uint64_t *serial;
    uint32_t row;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_scheduler_component, NULL, "k20c", NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_scheduler_component, &config, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(gpump_preset(&gpump_scheduler_component, &config, machines[i].name, NULL), GPUMP_OK);
        assert_int_equal(config.lend_cycles, machines[i].clock_khz / 1000 * 12);
        assert_int_equal(config.slice_cycles, machines[i].clock_khz);
        assert_int_equal(config.processes, 32);
        assert_int_equal(config.queues, 32);
        assert_int_equal(config.active_kernels, config.sms);
        assert_int_equal(config.saved_blocks, config.sms * config.blocks_per_sm);
        assert_int_equal(config.technique, GPUMP_TECHNIQUE_SWITCH);
        assert_int_equal(config.kernels_per_sm, 1);
    }
    s = make(&config, 1);
    memset(&process, 0, sizeof process);
    memset(&command, 0, sizeof command);
    process.weight = GPUMP_SCHEDULER_MAX_BUDGET;
    assert_int_equal(gpump_scheduler_open(s, 0, &process, &row, NULL), GPUMP_OK);
    command.blocks = 2;
    command.process = row;
    command.blocks_per_sm = 1;
    assert_int_equal(gpump_scheduler_submit(s, 0, 0, &command, NULL), GPUMP_OK);
    while (gpump_scheduler_next(s, gpump_scheduler_find("dss"), 0, &action) == GPUMP_OK) {}
    assert_int_equal(gpump_scheduler_look(s).kernels[1].budget, GPUMP_SCHEDULER_MAX_BUDGET);
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
    serial = &((gpump_scheduler_process_row *)(uintptr_t)gpump_scheduler_look(s).processes)[row].serial;
    ++*serial;
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_ERROR_FORMAT);
    --*serial;
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
}

/* A mark that blocks are to be killed, on an SM whose kernel nobody has aborted. */
static void nobody_is_killed_unasked(void **state) {
    gpump_scheduler_config config;
    gpump_scheduler_process process;
    gpump_scheduler_command command;
    gpump_scheduler_action action;
    gpump_scheduler *s;
    gpump_scheduler_sm *sm;
    gpump_diag diag;
    uint32_t row;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_scheduler_component, &config, "k20c", NULL), GPUMP_OK);
    s = make(&config, 1);
    memset(&process, 0, sizeof process);
    memset(&command, 0, sizeof command);
    assert_int_equal(gpump_scheduler_open(s, 0, &process, &row, NULL), GPUMP_OK);
    command.process = row;
    command.blocks = 100;
    command.blocks_per_sm = 2;
    assert_int_equal(gpump_scheduler_submit(s, 0, 0, &command, NULL), GPUMP_OK);
    do {
        assert_int_equal(gpump_scheduler_next(s, gpump_scheduler_find("fcfs"), 0, &action), GPUMP_OK);
        if (action.kind == GPUMP_SCHEDULER_SETUP)
            assert_int_equal(gpump_scheduler_report_ready(s, 0, action.sm), GPUMP_OK);
    } while (action.kind != GPUMP_SCHEDULER_ISSUE); /* a second block is still to be issued there */
    sm = (gpump_scheduler_sm *)(uintptr_t)&gpump_scheduler_look(s).sms[action.sm];
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
    sm->flags |= GPUMP_SCHEDULER_SM_KILL_DUE;
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, &diag), GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "blocks to be killed whose process was not aborted");
}

/* Tables that contradict each other: the refusal says which. Row 0 of the kernels is nobody's, so its bytes do not
 * count. */
static void contradicting_tables_are_refused_by_name(void **state) {
    gpump_scheduler_config config;
    gpump_scheduler *s = make(&config, 1);
    gpump_scheduler_kernel *kernels = (gpump_scheduler_kernel *)(uintptr_t)gpump_scheduler_look(s).kernels, kept;
    gpump_scheduler_process process;
    gpump_scheduler_command command;
    gpump_scheduler_action action;
    gpump_diag diag;
    uint64_t hash;
    uint32_t row, unattended = 0;
    size_t bytes;
    (void)state;
    memset(&process, 0, sizeof process);
    memset(&command, 0, sizeof command);
    assert_int_equal(gpump_scheduler_open(s, 0, &process, &row, NULL), GPUMP_OK);
    command.blocks = 3;
    command.blocks_per_sm = 2;
    assert_int_equal(gpump_scheduler_submit(s, 0, 0, &command, NULL), GPUMP_OK);
    while (gpump_scheduler_next(s, gpump_scheduler_find("fcfs"), 0, &action) == GPUMP_OK)
        if (action.kind == GPUMP_SCHEDULER_SETUP)
            assert_int_equal(gpump_scheduler_report_ready(s, 0, action.sm), GPUMP_OK);
    assert_int_equal(gpump_bytes(&gpump_scheduler_component, &config, &bytes, NULL), GPUMP_OK);
    hash = gpump_hash(&gpump_scheduler_component, s);
    kept = kernels[0];
    memset(&kernels[0], 0xff, sizeof kernels[0]);
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
    assert_true(gpump_hash(&gpump_scheduler_component, s) == hash);
    kernels[0] = kept;
    kernels[3].in_use = 2;
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, &diag), GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "a mark of use that is neither 0 nor 1");
    kernels[3].in_use = 0;
    kernels[1].process = 1; /* open or not: not the one whose command it is */
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, &diag), GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "an active kernel and its command have different processes");
    kernels[1].process = row;
    kernels[1].queue = config.queues;
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, &diag), GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "a command and its kernel differ");
    kernels[1].queue = 0;
    assert_int_equal(gpump_scheduler_abort(s, 0, row), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
    for (uint32_t bit = 0; bit < bytes * 8; bit++) { /* exactly one bit says that KILL is to be handed over */
        memory[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
        unattended += !gpump_adopt(&gpump_scheduler_component, memory, bytes, &config, &s, NULL) &&
                      gpump_check(&gpump_scheduler_component, s, &diag) &&
                      !strcmp(diag.field, "an action that nobody would hand over");
        memory[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
    }
    assert_int_equal(unattended, 1);
    kernels[1].process = config.processes; /* no process at all, so none that was aborted */
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, &diag), GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "blocks to be killed whose process was not aborted");
}

/* The same for the states of SMs and processes: two SMs, three kernels, kernel 3 reserved a whole SM. */
static void contradicting_states_are_refused_by_name(void **state) {
    gpump_scheduler_config config;
    gpump_scheduler *s = make(&config, 1);
    gpump_scheduler_view view;
    gpump_scheduler_process_row *processes;
    gpump_scheduler_process process;
    gpump_scheduler_command command;
    gpump_scheduler_action action;
    gpump_scheduler_sm *sms;
    gpump_diag diag;
    uint32_t *active, row, unattended = 0;
    size_t bytes;
    (void)state;
    config.sms = 2;
    assert_int_equal(gpump_init(&gpump_scheduler_component, memory, sizeof memory, &config, &s, NULL), GPUMP_OK);
    assert_int_equal(gpump_bytes(&gpump_scheduler_component, &config, &bytes, NULL), GPUMP_OK);
    view = gpump_scheduler_look(s);
    processes = (gpump_scheduler_process_row *)(uintptr_t)view.processes;
    sms = (gpump_scheduler_sm *)(uintptr_t)view.sms;
    active = (uint32_t *)(uintptr_t)view.active;
    memset(&process, 0, sizeof process);
    memset(&command, 0, sizeof command);
    for (uint32_t i = 0; i < 2; i++) {
        process.priority = i;
        assert_int_equal(gpump_scheduler_open(s, 0, &process, &row, NULL), GPUMP_OK);
    }
#define EXPECT_WRONG(text)                                                                       \
    do {                                                                                         \
        assert_int_equal(gpump_check(&gpump_scheduler_component, s, &diag), GPUMP_ERROR_FORMAT); \
        assert_string_equal(diag.field, text);                                                   \
    } while (0)
    processes[2].aborted = 1; /* nobody has opened it */
    EXPECT_WRONG("commands of a process that is not open");
    processes[2].aborted = 0;
    processes[2].commands = 1;
    EXPECT_WRONG("commands of a process that is not open");
    processes[2].commands = 0;
    command.blocks = 20;
    command.blocks_per_sm = 2;
    command.saved_limit = 4;
    assert_int_equal(gpump_scheduler_submit(s, 0, 0, &command, NULL), GPUMP_OK);
    do assert_int_equal(gpump_scheduler_next(s, gpump_scheduler_find("ppq"), 0, &action), GPUMP_OK);
    while (action.kind != GPUMP_SCHEDULER_SETUP || action.sm != 0);
    assert_int_equal(sms[1].flags, GPUMP_SCHEDULER_SM_SETUP_DUE); /* the next action */
    for (uint32_t bit = 0; bit < bytes * 8; bit++) {              /* exactly one bit says that SM 1 has one */
        memory[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
        unattended += !gpump_adopt(&gpump_scheduler_component, memory, bytes, &config, &s, NULL) &&
                      gpump_check(&gpump_scheduler_component, s, &diag) &&
                      !strcmp(diag.field, "an action that nobody would hand over");
        memory[bit >> 6] ^= (uint64_t)1 << (bit & 63u);
    }
    assert_int_equal(unattended, 1);
    sms[1].flags = GPUMP_SCHEDULER_SM_SETUP_DUE | GPUMP_SCHEDULER_SM_SETUP_RUNNING;
    EXPECT_WRONG("flags of an SM contradict each other");
    sms[1].flags = GPUMP_SCHEDULER_SM_SETUP_DUE | GPUMP_SCHEDULER_SM_SETUP_STALE;
    EXPECT_WRONG("flags of an SM contradict each other");
    sms[1].flags = GPUMP_SCHEDULER_SM_SETUP_DUE;
    command.process = 1;
    for (uint32_t queue = 1; queue < 3; queue++)
        assert_int_equal(gpump_scheduler_submit(s, 0, queue, &command, NULL), GPUMP_OK);
    assert_int_equal(gpump_scheduler_report_ready(s, 0, 0), GPUMP_OK);
    do {
        assert_int_equal(gpump_scheduler_next(s, gpump_scheduler_find("ppq"), 0, &action), GPUMP_OK);
        if (action.kind == GPUMP_SCHEDULER_SETUP)
            assert_int_equal(gpump_scheduler_report_ready(s, 0, action.sm), GPUMP_OK);
    } while (action.kind != GPUMP_SCHEDULER_PREEMPT);
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
    assert_int_equal(sms[action.sm].flags, GPUMP_SCHEDULER_SM_SWITCHING);
    sms[action.sm].flags |= GPUMP_SCHEDULER_SM_NEXT_READY; /* one kernel per SM: nothing is set up beside */
    EXPECT_WRONG("an SM is set up beside its blocks");
    sms[action.sm].flags &= ~(uint32_t)GPUMP_SCHEDULER_SM_NEXT_READY;
    assert_int_equal(gpump_scheduler_look(s).active_count, 3);
    row = active[2];
    active[2] = active[1];
    EXPECT_WRONG("the active queue names a kernel twice");
    active[2] = row;
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
#undef EXPECT_WRONG
}

/* A policy whose answers a test writes down. */
typedef struct answers {
    uint32_t admit, step_kind, steps;
    uint32_t kernels[2]; /* of the steps, in turn */
    uint64_t wake;
} answers;
static uint32_t answer_admit(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)view;
    return ((const answers *)policy->user)->admit;
}
static gpump_result answer_step(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view,
                                gpump_scheduler_step *step) {
    answers *a = (answers *)policy->user;
    uint32_t reserved = 0, idle = GPUMP_NONE;
    for (uint32_t i = view->config->sms; i-- > 0;) { /* each step sees what the step before it has changed */
        reserved += view->sms[i].state == GPUMP_SCHEDULER_SM_RESERVED;
        if (view->sms[i].state == GPUMP_SCHEDULER_SM_IDLE) idle = i;
    }
    assert_int_equal(view->reserved_sms, reserved);
    assert_int_equal(view->idle_sm, idle);
    assert_int_equal(view->queue, GPUMP_NONE);
    if (!a->steps) return GPUMP_EMPTY;
    a->steps--;
    step->kind = a->step_kind;
    step->sm = 0;
    step->kernel = a->kernels[view->sms[0].next == a->kernels[0]];
    return GPUMP_OK;
}
static uint64_t answer_wake(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)view;
    return ((const answers *)policy->user)->wake;
}

/* Answers of a policy that make no sense are refused and counted, one by one, and the policy is not asked again before
 * something has changed. A policy that never ends is stopped, and one that needs to run at once runs a cycle later. */
static void senseless_answers_of_a_policy_are_refused_and_counted(void **state) {
    gpump_scheduler_config config;
    gpump_scheduler *s = make(&config, 2);
    answers said = {2, 0, 0, {0, 0}, GPUMP_UNKNOWN};
    const gpump_scheduler_policy policy = {"answers", "As written.", &said,      answer_admit,
                                           NULL,      answer_step,   answer_wake};
    gpump_scheduler_process process;
    gpump_scheduler_command command;
    gpump_scheduler_action action;
    gpump_scheduler_statistics before, after;
    uint32_t row;
    (void)state;
    memset(&process, 0, sizeof process);
    memset(&command, 0, sizeof command);
    assert_int_equal(gpump_scheduler_open(s, 0, &process, &row, NULL), GPUMP_OK);
    command.blocks = 20;
    command.blocks_per_sm = 2;
    command.saved_limit = 4;
    assert_int_equal(gpump_scheduler_submit(s, 0, 0, &command, NULL), GPUMP_OK);
    assert_int_equal(gpump_scheduler_next(s, &policy, 0, &action), GPUMP_ERROR_REFUSED); /* no command waits in 2 */
    gpump_get_statistics(&gpump_scheduler_component, s, &after);
    assert_int_equal(after.policy_errors, 1);
    assert_int_equal(gpump_scheduler_next(s, &policy, 0, &action), GPUMP_EMPTY);
    for (uint32_t queue = 1; queue < 3; queue++)
        assert_int_equal(gpump_scheduler_submit(s, 0, queue, &command, NULL), GPUMP_OK);
    for (said.admit = 0; said.admit < 3; said.admit++) {
        assert_int_equal(gpump_scheduler_next(s, &policy, 0, &action), GPUMP_OK);
        assert_int_equal(action.kind, GPUMP_SCHEDULER_KERNEL_START);
        assert_int_equal(action.kernel, said.admit + 1);
    }
    said.step_kind = GPUMP_SCHEDULER_STEP_ASSIGN;
    said.steps = 1;
    said.kernels[0] = said.kernels[1] = 1;
    while (gpump_scheduler_next(s, &policy, 0, &action) == GPUMP_OK) {
        if (action.kind == GPUMP_SCHEDULER_SETUP)
            assert_int_equal(gpump_scheduler_report_ready(s, 0, action.sm), GPUMP_OK);
    }
    assert_int_equal(gpump_scheduler_look(s).sms[0].blocks, 2);
    gpump_get_statistics(&gpump_scheduler_component, s, &before);
    assert_int_equal(before.policy_steps, 1);
    said.wake = 7; /* the cycle in which the policy runs */
    assert_int_equal(gpump_scheduler_report_running(s, 7, 2, 0, 4), GPUMP_OK);
    assert_int_equal(gpump_scheduler_next(s, &policy, 7, &action), GPUMP_EMPTY);
    assert_true(gpump_next_cycle(&gpump_scheduler_component, s) == 8);
    gpump_get_statistics(&gpump_scheduler_component, s, &after);
    assert_int_equal(after.policy_runs, before.policy_runs + 1);
    said.wake = 20;
    said.step_kind = GPUMP_SCHEDULER_STEP_RESERVE;
    said.steps = 1;
    said.kernels[0] = said.kernels[1] = 2;
    while (gpump_scheduler_next(s, &policy, 8, &action) == GPUMP_OK) {}
    assert_int_equal(gpump_scheduler_look(s).sms[0].next, 2);
    said.step_kind = GPUMP_SCHEDULER_STEP_CHANGE_NEXT; /* back to the kernel whose blocks are told to leave */
    said.steps = 1;
    said.kernels[0] = said.kernels[1] = 1;
    said.wake = GPUMP_UNKNOWN;
    gpump_get_statistics(&gpump_scheduler_component, s, &before);
    assert_int_equal(gpump_scheduler_next(s, &policy, 20, &action), GPUMP_ERROR_REFUSED);
    gpump_get_statistics(&gpump_scheduler_component, s, &after);
    assert_int_equal(after.policy_errors, before.policy_errors + 1);
    assert_int_equal(after.policy_steps, before.policy_steps);
    assert_int_equal(gpump_scheduler_look(s).sms[0].next, 2);
    said.steps = 1000; /* from kernel 2 to kernel 3 and back */
    said.kernels[0] = 3;
    said.kernels[1] = 2;
    assert_int_equal(gpump_scheduler_report_running(s, 30, 2, 4, 4), GPUMP_OK);
    before = after;
    assert_int_equal(gpump_scheduler_next(s, &policy, 30, &action), GPUMP_ERROR_REFUSED);
    gpump_get_statistics(&gpump_scheduler_component, s, &after);
    assert_int_equal(after.policy_steps - before.policy_steps, 4 * (config.sms + config.active_kernels) + 16);
    assert_int_equal(after.policy_errors, before.policy_errors + 1);
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
}

/* A block on an SM that does not exist is unknown, whatever lies behind the table of SMs. */
static void no_such_sm(void **state) {
    gpump_scheduler_config config;
    gpump_scheduler *s = make(&config, 1);
    gpump_scheduler_process process;
    gpump_scheduler_command command;
    gpump_scheduler_action action;
    gpump_block_ref block;
    uint64_t hash;
    uint32_t row;
    (void)state;
    memset(&process, 0, sizeof process);
    memset(&command, 0, sizeof command);
    assert_int_equal(gpump_scheduler_open(s, 0, &process, &row, NULL), GPUMP_OK);
    command.blocks = 20;
    command.blocks_per_sm = 4;
    assert_int_equal(gpump_scheduler_submit(s, 0, 1, &command, NULL), GPUMP_OK);
    do {
        assert_int_equal(gpump_scheduler_next(s, gpump_scheduler_find("fcfs"), 0, &action), GPUMP_OK);
        if (action.kind == GPUMP_SCHEDULER_SETUP)
            assert_int_equal(gpump_scheduler_report_ready(s, 0, action.sm), GPUMP_OK);
    } while (action.kind != GPUMP_SCHEDULER_ISSUE);
    hash = gpump_hash(&gpump_scheduler_component, s);
    for (block.slot = 0; block.slot < 4; block.slot++)
        for (block.generation = 0; block.generation < 3; block.generation++) {
            assert_int_equal(gpump_scheduler_report_finished(s, 0, config.sms, block), GPUMP_ERROR_STALE);
            assert_int_equal(gpump_scheduler_report_preempted(s, 0, config.sms, block, 1), GPUMP_ERROR_STALE);
        }
    assert_true(gpump_hash(&gpump_scheduler_component, s) == hash);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradicting_states_are_refused_by_name),
        cmocka_unit_test(senseless_answers_of_a_policy_are_refused_and_counted),
        cmocka_unit_test(no_such_sm),
        cmocka_unit_test(contradicting_tables_are_refused_by_name),
        cmocka_unit_test(nobody_is_killed_unasked),
        cmocka_unit_test(wrong_numbers_of_a_scheduler_are_refused),
        cmocka_unit_test(bits_by_hand),
        cmocka_unit_test(wrong_facts_for_a_scheduler_are_refused),
        cmocka_unit_test(two_kernels_on_an_sm_have_their_room_and_blocks),
        cmocka_unit_test(presets_and_budgets_at_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
