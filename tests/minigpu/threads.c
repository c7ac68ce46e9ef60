/* labels: equivalence unit link: minigpu_core */
/* --threads: SMs that advance side by side come to right results, and to the same bits on every number of threads: all
 * bytes of the machine, whatever is preempted, observed or called meanwhile. */
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "machine/machine.h"
#include "sm/runtime_calls.h"
#include "machine/window.h"
#include "memory/store_log.h"
#include "policies.h"
#include "preemption/context_forms.h"
#include "preemption/preemption.h"
#include "preemption/requests.h"
#include "tools/check.h"

static launch_file launch;

static machine *build(const char *path, const machine_options *options) {
    char full[1024], error[LAUNCH_ERROR_BYTES];
    machine *m;
    snprintf(full, sizeof full, "%s/%s", GPUMP_SOURCE_DIR, path);
    if (launch_file_read(&launch, full, error)) fail_msg("%s", error);
    if (!(m = machine_build(&launch, options, error))) fail_msg("%s", error);
    return m;
}

static void end(machine *m) {
    machine_free(m);
    launch_file_free(&launch);
}

static machine_options with_threads(uint32_t threads, const char *config) {
    machine_options options;
    machine_options_default(&options);
    options.threads = threads;
    options.config = config;
    return options;
}

static void check_right(machine *m, const char *what) {
    kernel_check checks[8];
    uint32_t i;
    assert_true(m->kernel_count <= 8);
    if (check_results(m, &launch, checks))
        for (i = 0; i < m->kernel_count; i++)
            if (checks[i].result == CHECK_WRONG) fail_msg("%s: %s", what, checks[i].text);
}

/* Runs to the end on so many threads. */
static void finish(machine *m, uint32_t threads, const char *what) {
    m->threads = threads;
    m->lost.always = 1; /* also where it takes longer */
    if (machine_run(m, NEVER) != 1) fail_msg("%s on %u threads: %s", what, threads, m->error);
    m->threads = 1;
}

/* Records of instructions that have ended, and logs of windows that are over, hold what the stack had in lanes that did
 * not execute, and the team's account holds elapsed time: these are blanked. Everything else of the machine is
 * compared. */
static void blank(machine *m) {
    uint32_t i, n;
    memset(&m->lost, 0, sizeof m->lost);
    for (i = 0; i < m->sm_count; i++) {
        for (n = 0; n < m->config.in_flight_records; n++) {
            in_flight *r = &m->sms[i]->records[n];
            assert_int_equal(r->stage, RECORD_FREE);
            memset(r->results, 0, sizeof r->results);
            memset(r->sources, 0, sizeof r->sources);
            memset(r->addresses, 0, sizeof r->addresses);
        }
        assert_int_equal(m->sms[i]->log->bytes, 0);
        memset(m->sms[i]->log, 0,
               store_log_bytes(m->window_cycles, (m->sms[i]->log->line_capacity - m->window_cycles) / LANES));
    }
}

/* From where the machine is, runs to the end on one thread, and again on `from` to `to`: all bytes are the same. The
 * machine stays at its end. */
static void same_bits(machine *m, uint32_t from, uint32_t to, const char *what) {
    const uint32_t was = m->threads;
    uint8_t *start, *ended;
    uint32_t threads;
    size_t i;
    m->threads = 1;
    assert_non_null(start = (uint8_t *)arena_checkpoint(&m->arena));
    finish(m, 1, what);
    blank(m);
    assert_non_null(ended = (uint8_t *)arena_checkpoint(&m->arena));
    for (threads = from; threads <= to; threads++) {
        arena_restore(&m->arena, start);
        finish(m, threads, what);
        blank(m);
        if (!memcmp(m->arena.base, ended, m->arena.used)) continue;
        for (i = 0; m->arena.base[i] == ended[i]; i++) {}
        fail_msg("%s on %u threads: byte %zu of the machine is another", what, threads, i);
    }
    m->threads = was;
    free(start);
    free(ended);
}

/* ---- results ---- */

/* Each kernel gives equal bits on one and on several threads of the host, and its results are right. */
static void every_kernel_is_right_and_the_same(void **state) {
    static const char *const models[] = {"memory_model=0", "memory_model=1"};
    const reference_entry *entry;
    uint32_t n = 0;
    (void)state;
    for (entry = reference_entries; entry->name; entry++, n++) {
        machine_options options = with_threads(1, models[n % 2]);
        char path[512];
        machine *m;
        snprintf(path, sizeof path, "examples/minigpu/kernels/%s/small.yaml", entry->name);
        m = build(path, &options);
        same_bits(m, 2 + n % 3, 2 + n % 3, entry->name);
        check_right(m, entry->name);
        end(m);
    }
}

static const uint32_t *words(machine *m, uint32_t buffer) {
    return (const uint32_t *)(void *)device_memory(m, launch.buffers[buffer].address);
}

/* What one SM writes and another reads: in the end everybody has seen everything, in an order that could have been. */
static void what_one_sm_writes_the_others_read_in_the_end(void **state) {
    static const char *const configs[] = {"memory_model=0", "memory_model=1", "memory_model=1,network_cycles=9",
                                          "memory_model=0,network_cycles=300"};
    uint32_t c, i;
    (void)state;
    for (c = 0; c < 4; c++) {
        machine_options options = with_threads(1, configs[c]);
        machine *m = build("tests/minigpu/machine/crossing.yaml", &options);
        uint32_t sum = 0;
        same_bits(m, 2, c < 2 ? 4 : 2, configs[c]);
        for (i = 0; i < 2560; i++) assert_int_equal(words(m, 0)[i], 3 * i + 13);
        assert_int_equal(words(m, 1)[0], 2560);
        for (i = 0; i < 2560; i++) assert_int_equal(device_memory(m, launch.buffers[2].address)[i], 1);
        assert_int_equal(words(m, 3)[0], 0);
        assert_int_equal(words(m, 3)[1], 40);
        assert_int_equal(words(m, 4)[0], 40);
        for (i = 0; i < 40; i++) {
            sum += i;
            assert_int_equal(words(m, 4)[1 + i], sum);
        }
        end(m);
    }
}

/* Of stores to one word in one window the last cycle wins, and in one cycle the last SM. */
static void stores_cross_in_order(void **state) {
    static const struct {
        uint32_t sm;
        uint64_t cycle;
        uint32_t value;
    } stores[] = {{0, 9, 1}, {2, 3, 2}, {2, 9, 3}, {1, 8, 4}, {1, 9, 5}, {5, 8, 6}};
    machine_options options = with_threads(1, NULL);
    machine *m = build("tests/minigpu/machine/crossing.yaml", &options);
    const uint64_t address = launch.buffers[0].address;
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof stores / sizeof *stores; i++) {
        store_log *log = m->sms[stores[i].sm]->log;
        memcpy(store_log_put(log, stores[i].cycle, address, 4, 0), &stores[i].value, 4);
        memcpy(store_log_open(log, address / SEGMENT_BYTES, device_memory(m, address)), &stores[i].value, 4);
    }
    assert_int_equal(*(const uint32_t *)(const void *)sm_memory(m, m->sms[1], address), 5);
    assert_int_equal(*(const uint32_t *)(const void *)sm_memory(m, m->sms[3], address), 0);
    window_run(m, sm_form_choose(m), NULL); /* nobody runs yet */
    assert_int_equal(words(m, 0)[0], 3);
    for (i = 0; i < m->sm_count; i++)
        assert_int_equal(*(const uint32_t *)(const void *)sm_memory(m, m->sms[i], address), 3);
    end(m);
}

/* What crosses SMs late makes nothing of one SM late: a warp that walks along a list with nobody beside it takes as
 * long as without windows, but for where it starts and ends. */
static void windows_delay_nothing_within_an_sm(void **state) {
    static const char *const configs[] = {"memory_model=0",
                                          "memory_model=1",
                                          "memory_model=1,network_cycles=20",
                                          "memory_model=0,network_cycles=20",
                                          "l1_tlb_entries=4,l1_tlb_ways=1,l2_tlb_entries=16,l2_tlb_ways=1",
                                          "l1_tlb_entries=4,l1_tlb_ways=1,l2_tlb_entries=0"};
    uint32_t c;
    (void)state;
    for (c = 0; c < sizeof configs / sizeof *configs; c++) {
        uint64_t cycles[2], window = 0;
        uint32_t threads;
        for (threads = 0; threads < 2; threads++) {
            machine_options options = with_threads(threads, configs[c]);
            machine *m = build("examples/minigpu/kernels/pointer_chase/small.yaml", &options);
            m->kernels[0].blocks = 1; /* alone */
            assert_int_equal(machine_run(m, NEVER), 1);
            cycles[threads] = m->kernels[0].end_cycle;
            window = m->window_cycles;
            end(m);
        }
        assert_true(cycles[0] > 20 * window);
        assert_in_range(cycles[1], cycles[0], cycles[0] + window);
    }
}

/* Kernels that print and allocate touch what all SMs share. */
static void calls_of_the_runtime(void **state) {
    static const char *const names[] = {"greets", "lists"};
    uint32_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        machine_options options = with_threads(1, NULL);
        char path[512];
        uint64_t hash;
        machine *m;
        snprintf(path, sizeof path, "tests/ptx/corpus_launches/%s.yaml", names[i]);
        m = build(path, &options);
        same_bits(m, 2, 4, names[i]);
        hash = runtime_calls_hash(m, GPUMP_HASH_SEED);
        end(m);
        options.threads = 0;
        m = build(path, &options);
        assert_int_equal(machine_run(m, NEVER), 1);
        assert_int_equal(runtime_calls_hash(m, GPUMP_HASH_SEED), hash);
        end(m);
    }
}

/* An error is that of the first cycle and SM, on every number of threads. */
static void errors_are_the_same(void **state) {
    char first[LAUNCH_ERROR_BYTES] = "";
    uint64_t cycle = 0;
    uint32_t threads;
    (void)state;
    for (threads = 1; threads <= 4; threads++) {
        machine_options options = with_threads(threads, NULL);
        machine *m = build("tests/minigpu/machine/crossing.yaml", &options);
        uint64_t *own = (uint64_t *)(void *)m->kernels[0].parameters;
        own[0] += 4096 * 1024; /* nobody's */
        assert_int_equal(machine_run(m, NEVER), -1);
        if (threads == 1) {
            snprintf(first, sizeof first, "%s", m->error);
            cycle = m->now;
            assert_non_null(strstr(first, "belongs to no buffer"));
        }
        assert_string_equal(m->error, first);
        assert_int_equal(m->now, cycle);
        end(m);
    }
}

/* ---- preemption ---- */

static const uint32_t techniques[] = {GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_FLUSH, GPUMP_TECHNIQUE_DRAIN};

/* Every SM is emptied at some cycle, in each way; results and bits stay. */
static void preempted(const char *path, const char *config, uint32_t form, uint32_t points, uint64_t cases) {
    machine_options options = with_threads(1, config);
    uint64_t result, length, n;
    machine *m;
    void *start;
    options.context_form = form;
    options.point_interval = points;
    m = build(path, &options);
    assert_non_null(start = arena_checkpoint(&m->arena));
    finish(m, 1, path);
    check_right(m, path);
    result = machine_result_hash(m, &launch);
    length = m->kernels[0].end_cycle;
    for (n = 0; n < cases; n++) {
        uint32_t i, asked = 0;
        arena_restore(&m->arena, start);
        m->threads = 1 + (uint32_t)n % 2;
        assert_int_equal(machine_run(m, length * (2 * n + 1) / (2 * cases)), 0);
        for (i = 0; i < m->sm_count; i++)
            if (m->sms[i]->resident && (i + n) % 3)
                asked += preemption_request(m, m->sms[i], techniques[n % 3], 0, 0) == GPUMP_REASON_YES;
        if (m->kernel_count > 1) m->kernels[1].arrival_cycle = m->now;
        same_bits(m, 2, 2, path);
        if (machine_result_hash(m, &launch) != result)
            fail_msg("%s, %s, case %llu: another result", path, config, (unsigned long long)n);
        assert_true(asked || !m->preemption_count);
    }
    free(start);
    end(m);
}

/* Runs preempted anywhere, with one thread and with two, are the same. */
static void two_threads_preempt_as_one(void **state) {
    static const struct {
        const char *name;
        uint32_t form, points;
    } launches[] = {{"everything", CONTEXT_NAIVE, 0},      {"everything", CONTEXT_LIVE, 100},
                    {"hotspot", CONTEXT_LIVE_COMPRESS, 0}, {"bfs_1", CONTEXT_TB, 0},
                    {"copies", CONTEXT_NAIVE, 0},          {"barrier_objects", CONTEXT_NAIVE, 0},
                    {"printing", CONTEXT_NAIVE, 0}};
    uint32_t i, model;
    (void)state;
    for (i = 0; i < 2 * sizeof launches / sizeof *launches; i++) {
        char path[512];
        model = i % 2;
        snprintf(path, sizeof path, "tests/minigpu/preempt/%s.yaml", launches[i / 2].name);
        preempted(path, model ? "memory_model=1" : "memory_model=0", launches[i / 2].form, launches[i / 2].points,
                  test_cases(9));
    }
}

/* Who decides about SMs decides at the beginning of windows. */
static void policies_and_schedules(void **state) {
    static const char *const policies[] = {"dual", "joint"};
    static const char *const schedules[] = {"npq", "ppq", "dss", "time_slice"};
    uint32_t i;
    (void)state;
    for (i = 0; i < 4; i++) {
        machine_options options = with_threads(1, "memory_model=1");
        machine *m;
        options.schedule = schedules[i];
        options.slice_ns = strcmp(schedules[i], "time_slice") ? 0 : 10000;
        m = build("tests/minigpu/schedule/three.yaml", &options);
        same_bits(m, 2, 3, schedules[i]);
        check_right(m, schedules[i]);
        end(m);
        if (i > 1) continue;
        options.schedule = NULL;
        options.policy = gpump_victim_find(policies[i]);
        options.limit_cycles = 3000;
        assert_non_null(options.policy);
        m = build("examples/minigpu/demo.yaml", &options);
        same_bits(m, 2, 2, policies[i]);
        check_right(m, policies[i]);
        end(m);
    }
}

/* Rewinds, contexts that stay in place, blocks that stall (Shieh 4.1). */
static void other_ways_to_leave(void **state) {
    uint32_t i;
    (void)state;
    for (i = 0; i < 3; i++) {
        machine_options options = with_threads(1, "memory_model=1");
        machine *m;
        options.preempt_cycle = 1000;
        if (i == 0) {
            options.regions = REGIONS_SPARSE;
            options.technique = GPUMP_TECHNIQUE_REWIND;
            options.context_form = CONTEXT_LIVE;
        }
        options.in_place = i == 1;
        options.switch_stalls = i == 2;
        m = build("tests/minigpu/preempt/hotspot.yaml", &options);
        same_bits(m, 2, 2, "hotspot");
        check_right(m, "hotspot");
        assert_true(m->preemption_count > 0);
        end(m);
    }
}

/* A group counts issues and misses on each SM's own clock; who gets which room is decided between two windows. */
static void kernels_that_share(void **state) {
    static const char *const policies[] = {"even", "ccbp", "smk", "ws+dai"};
    uint32_t i;
    (void)state;
    for (i = 0; i < 4; i++) {
        machine_options options = with_threads(1, "memory_model=1");
        machine *m;
        options.sharing.policy = gpump_partition_find(policies[i]);
        assert_non_null(options.sharing.policy);
        m = build("examples/minigpu/launches/hotspot_pathfinder.yaml", &options);
        same_bits(m, 2, 3, policies[i]);
        check_right(m, policies[i]);
        end(m);
    }
}

/* Checks that find every page change nothing. */
static void page_checks(void **state) {
    machine_options options = with_threads(1, NULL);
    machine *m;
    (void)state;
    options.page_checks = 1;
    m = build("examples/minigpu/kernels/array_walk/small.yaml", &options);
    same_bits(m, 2, 3, "page checks");
    check_right(m, "page checks");
    end(m);
}

/* SMs run beside each other while they share TLBs, page walkers, a fault unit and a link: what they ask of these takes
 * effect when a window has ended. */
static void faults_links_and_tlbs(void **state) {
    static const struct {
        const char *scheme, *link, *absent, *config;
        uint64_t memory;
        uint32_t remote, checks;
    } rows[] = {{NULL, NULL, NULL, "l1_tlb_entries=8,l1_tlb_misses=4,page_walkers=2", 0, 0, 0},
                {NULL, NULL, NULL, "l1_tlb_entries=8,l2_tlb_entries=0,page_walkers=2", 0, 0, 0},
                {"stall", "pcie3", NULL, NULL, 0, 0, 0},
                {"wd_commit", "uvm595", "all", NULL, 2u << 20, FAULT_REMOTE_THRASHING, 0},
                {"wd_check", "ideal", "all", "issue_queue_entries=96", 0, 0, 0},
                {"queue", "nvlink", "all", "l1_tlb_entries=32", 2u << 20, 0, 0},
                {"log16", "nvlink", "all", NULL, 0, FAULT_REMOTE_ALL, 0},
                {"queue", NULL, "all", "l1_tlb_entries=32", 0, 0, 0},
                {"log8", NULL, "all,code", NULL, 0, 0, 0},
                {NULL, NULL, "all,code", NULL, 0, 0, 1},
                {NULL, "nvlink", "all,code", NULL, 0, 0, 1}};
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        machine_options options = with_threads(1, rows[i].config);
        char what[64];
        machine *m;
        options.faults.scheme = rows[i].scheme;
        options.faults.link = rows[i].link;
        options.faults.memory = rows[i].memory;
        options.faults.remote = rows[i].remote;
        options.absent = options.faults.absent = rows[i].absent;
        options.page_checks = rows[i].checks;
        snprintf(what, sizeof what, "faults, row %u", i);
        m = build("tests/minigpu/option_sets/served.yaml", &options);
        assert_false(window_is_in_turn(m));
        same_bits(m, 2, 3, what);
        check_right(m, what);
        assert_true(!rows[i].absent || m->page_faults.served > 0);
        end(m);
    }
}

/* Stores that wait for one page take effect in one window, each with up to 32 lines: the log has room for all of them.
 */
static void stores_that_wait_for_one_page(void **state) {
    machine_options options = with_threads(1, "l1_tlb_entries=32");
    machine *m;
    (void)state;
    options.faults.scheme = "log16";
    options.faults.link = "nvlink";
    options.absent = options.faults.absent = "all";
    m = build("examples/minigpu/kernels/spmv/launch.yaml", &options);
    if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
    check_right(m, "stores");
    end(m);
}

/* A look-up that is forced to fault is one of all SMs' look-ups, by its number. */
static void forced_faults_are_counted_in_turn(void **state) {
    machine_options options = with_threads(1, NULL);
    machine *m;
    (void)state;
    options.faults.scheme = "log16";
    options.faults.check = options.faults.interval = 100;
    m = build("tests/minigpu/option_sets/served.yaml", &options);
    assert_true(window_is_in_turn(m));
    same_bits(m, 2, 2, "forced faults");
    check_right(m, "forced faults");
    assert_true(m->page_faults.served > 0);
    end(m);
}

/* Errors are counted over all SMs (errors.h). */
static void instructions_that_err(void **state) {
    machine_options options = with_threads(1, NULL);
    machine *m;
    (void)state;
    options.regions = REGIONS_SPARSE;
    options.errors.detection = "razor2";
    options.errors.errs.at = 20;
    options.errors.errs.interval = 150;
    m = build("examples/minigpu/kernels/hotspot/small.yaml", &options);
    same_bits(m, 2, 4, "hotspot with errors");
    check_right(m, "hotspot with errors");
    end(m);
}

/* ---- copies of a machine ---- */

/* Each cycle with one thread and with two, in either memory model. */
static void checkpoints_and_forks(void **state) {
    uint64_t cycle;
    uint32_t way;
    (void)state;
    for (cycle = 100, way = 0; cycle < 1500; cycle += ++way % 4 ? 0 : 311) {
        machine_options options = with_threads(1 + way % 2, way % 4 < 2 ? "memory_model=0" : "memory_model=1");
        machine *m = build("tests/minigpu/preempt/everything.yaml", &options);
        uint64_t ours, theirs = 0;
        int ends[2], status;
        void *copy;
        pid_t pid;
        assert_int_equal(machine_run(m, cycle), 0);
        assert_int_equal(m->now % m->window_cycles, 0);
        assert_true(m->now >= cycle && m->now < cycle + m->window_cycles);
        m->kernels[1].arrival_cycle = m->now;
        preemption_request(m, m->sms[cycle % m->sm_count], GPUMP_TECHNIQUE_SWITCH, 2, 0);
        assert_int_equal(machine_run(m, cycle + 150), 0);
        assert_int_equal(pipe(ends), 0);
        if ((pid = fork()) == 0) {
            theirs = machine_run(m, NEVER) == 1 ? machine_hash(m) : 0;
            _exit(write(ends[1], &theirs, sizeof theirs) != sizeof theirs);
        }
        assert_true(pid > 0);
        copy = arena_checkpoint(&m->arena);
        assert_non_null(copy);
        assert_int_equal(machine_run(m, NEVER), 1);
        ours = machine_hash(m);
        assert_int_equal(read(ends[0], &theirs, sizeof theirs), sizeof theirs);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        assert_int_equal(theirs, ours);
        arena_restore(&m->arena, copy);
        while (machine_run(m, m->now + 7) == 0) {} /* stops between windows change nothing */
        assert_int_equal(machine_hash(m), ours);
        free(copy);
        close(ends[0]);
        close(ends[1]);
        end(m);
    }
}

/* ---- what does not go together ---- */

/* What stands in the way of --threads is named, with the remedy. */
static void refusals_name_what_is_in_the_way(void **state) {
    machine_options options = with_threads(2, "network_cycles=1");
    char error[LAUNCH_ERROR_BYTES] = "";
    (void)state;
    assert_int_equal(launch_file_read(&launch, GPUMP_SOURCE_DIR "/examples/minigpu/demo.yaml", error), 0);
    assert_null(machine_build(&launch, &options, error));
    assert_non_null(strstr(error, "network_cycles"));
    assert_non_null(strstr(error, "leave --threads away"));
    launch_file_free(&launch);
}

/* ---- the log alone ---- */

/* Stores of random places and sizes against a plain copy of memory: the SM sees its own, memory only those taken. */
static void the_log_against_a_copy_of_memory(void **state) {
    enum { LINES = 24, BYTES = LINES * SEGMENT_BYTES, CYCLES = 60 };
    static uint8_t memory[BYTES], seen[BYTES];
    uint64_t random = test_seed() * 2 + 1, number, cases = test_cases(2000);
    store_log *log = store_log_init(calloc(1, store_log_bytes(CYCLES, 1)), CYCLES, 1);
    uint32_t cycle, i;
    (void)state;
    for (number = 0; number < cases; number++) {
        const store_entry *e;
        for (cycle = 0; cycle < CYCLES; cycle++) {
            uint8_t data[32];
            uint32_t at, bytes;
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            bytes = 1u << (random >> 33) % 6;
            at = (uint32_t)(random >> 40) % (BYTES / bytes) * bytes;
            if (random >> 63) continue;
            for (i = 0; i < bytes; i++) data[i] = (uint8_t)(random >> (i % 8 * 8)) ^ (uint8_t)cycle;
            memcpy(store_log_put(log, cycle, at, bytes, 0), data, bytes);
            memcpy(store_log_open(log, at / SEGMENT_BYTES, memory + at / SEGMENT_BYTES * SEGMENT_BYTES) +
                       at % SEGMENT_BYTES,
                   data, bytes);
            memcpy(seen + at, data, bytes);
        }
        for (i = 0; i < LINES; i++) {
            const uint8_t *line = store_log_line(log, i);
            test_check(!line || store_log_may_hold(log, i), test_seed(), number);
            test_check(!memcmp(line ? line : memory + i * SEGMENT_BYTES, seen + i * SEGMENT_BYTES, SEGMENT_BYTES),
                       test_seed(), number);
        }
        for (cycle = 0; cycle < CYCLES; cycle++)
            while ((e = store_log_take(log, cycle))) {
                test_check(e->cycle == cycle && !e->lanes, test_seed(), number);
                memcpy(memory + e->address, store_entry_data(e), e->bytes);
            }
        test_check(log->next_cycle == STORE_LOG_NEVER && !memcmp(memory, seen, BYTES), test_seed(), number);
        store_log_clear(log);
        for (i = 0; i < LINES; i++) test_check(!store_log_line(log, i), test_seed(), number);
    }
    free(log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_cross_in_order),
        cmocka_unit_test(windows_delay_nothing_within_an_sm),
        cmocka_unit_test(every_kernel_is_right_and_the_same),
        cmocka_unit_test(what_one_sm_writes_the_others_read_in_the_end),

        cmocka_unit_test(calls_of_the_runtime),
        cmocka_unit_test(errors_are_the_same),
        cmocka_unit_test(two_threads_preempt_as_one),
        cmocka_unit_test(policies_and_schedules),
        cmocka_unit_test(other_ways_to_leave),
        cmocka_unit_test(kernels_that_share),
        cmocka_unit_test(page_checks),
        cmocka_unit_test(faults_links_and_tlbs),
        cmocka_unit_test(stores_that_wait_for_one_page),
        cmocka_unit_test(forced_faults_are_counted_in_turn),
        cmocka_unit_test(instructions_that_err),
        cmocka_unit_test(checkpoints_and_forks),
        cmocka_unit_test(refusals_name_what_is_in_the_way),
        cmocka_unit_test(the_log_against_a_copy_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
