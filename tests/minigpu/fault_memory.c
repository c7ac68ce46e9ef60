/* labels: equivalence slow link: minigpu_core */
/* GPU memory that holds less than the buffers, the driver of today, and remote mappings. A kernel updates random words
 * of a large array: with 32 granules of memory, the least that is legal, nearly every one of its instructions faults on
 * as many pages as it has lanes. Nothing is lost and nothing happens twice, whatever is evicted; every fault is
 * accounted for at every moment; a storm ends because the holder's pages stay, and without that the watch names the
 * pages. GPUMP_TEST_CASES scales the storm: 10 are 10^6 faults. */
#include "test.h"

#include <unistd.h>

#include "parts/fault_switch/fault_switch.h"
#include "parts/fault_unit/fault_unit.h"
#include "parts/faults/faults.h"
#include "preemption/preempted.h"
#include "tools/check.h"

enum { SHIFT = 11, SUMS = 1024, MULTIPLIER = 1664525, INCREMENT = 1013904223 };

/* Thread t begins with x = t; in every round x = x * MULTIPLIER + INCREMENT, and the word x >> shift grows by x. Its
 * result is the sum of what the words of `fixed` say at the same places. */
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry storm(.param .u64 words, .param .u64 fixed, .param .u64 sums, .param .u32 "
                          "rounds,\n.param .u32 shift)\n{\n"
                          ".reg .pred %p<2>;\n.reg .b32 %r<12>;\n.reg .b64 %rd<12>;\n"
                          "ld.param.u64 %rd1, [words];\nld.param.u64 %rd2, [fixed];\nld.param.u64 %rd3, [sums];\n"
                          "ld.param.u32 %r1, [rounds];\nld.param.u32 %r9, [shift];\n"
                          "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
                          "mad.lo.s32 %r5, %r2, %r3, %r4;\nmul.wide.u32 %rd8, %r5, 4;\nadd.s64 %rd9, %rd3, %rd8;\n"
                          "mov.u32 %r6, 0;\n"
                          "L: mul.lo.u32 %r5, %r5, 1664525;\nadd.u32 %r5, %r5, 1013904223;\nshr.u32 %r7, %r5, %r9;\n"
                          "mul.wide.u32 %rd4, %r7, 4;\nadd.s64 %rd5, %rd1, %rd4;\nadd.s64 %rd6, %rd2, %rd4;\n"
                          "ld.global.u32 %r8, [%rd6];\nadd.u32 %r6, %r6, %r8;\nred.global.add.u32 [%rd5], %r5;\n"
                          "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n"
                          "st.global.u32 [%rd9], %r6;\nret;\n}\n";

static void write_launch(uint32_t rounds, uint32_t threads, const char *owner, uint32_t shift) {
    FILE *file = fopen("fault_memory.ptx", "w");
    assert_non_null(file);
    fputs(ptx, file);
    fclose(file);
    file = fopen("fault_memory.yaml", "w");
    assert_non_null(file);
    fprintf(file,
            "machine: {sms: 2}\nkernels:\n  - ptx: fault_memory.ptx\n    kernel: storm\n    grid: [%u, 1, 1]\n"
            "    block: [128, 1, 1]\n    arguments:\n"
            "      - buffer: {type: u32, count: %u, constant: 0, owner: unallocated}\n"
            "      - buffer: {type: u32, count: %u, random: {seed: 1, low: 0, high: 1000000}, owner: %s}\n"
            "      - buffer: {type: u32, count: %u, constant: 0, owner: unallocated}\n"
            "      - scalar: {type: u32, value: %u}\n      - scalar: {type: u32, value: %u}\n",
            threads / 128, 1u << (32 - shift), 1u << (32 - shift), owner, SUMS, rounds, shift);
    fclose(file);
}

static faults_options options_of(const char *scheme, const char *link) {
    faults_options faults;
    memset(&faults, 0, sizeof faults);
    faults.check = NEVER;
    faults.order = GPUMP_REPLAY_CLASS;
    faults.scheme = scheme;
    faults.link = link;
    faults.memory = 32 * fault_unit_granule_bytes();
    return faults;
}

static const char *config; /* --config; NULL: none */

static machine *build(launch_file *launch, const char *path, const faults_options *faults, uint32_t skip_idle) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m;
    machine_options_default(&options);
    options.gpu = "table61";
    options.faults = *faults;
    options.config = config;
    options.skip_idle = skip_idle;
    if (launch_file_read(launch, path, error)) fail_msg("%s", error);
    if (!(m = machine_build(launch, &options, error))) fail_msg("%s", error);
    return m;
}

/* What the kernel must leave behind. */
static void check_storm(const machine *m, const launch_file *launch, uint32_t rounds, uint32_t threads,
                        uint32_t shift) {
    const size_t bytes = sizeof(uint32_t) << (32 - shift);
    uint32_t *words = (uint32_t *)calloc(1, bytes), t, i, wrong = 0;
    const uint32_t *fixed = (const uint32_t *)(const void *)launch->buffers[1].contents;
    const uint32_t *sums = (const uint32_t *)(const void *)(m->memory + (launch->buffers[2].address - DEVICE_BASE));
    assert_non_null(words);
    for (t = 0; t < threads; t++) {
        uint32_t x = t, sum = 0;
        for (i = 0; i < rounds; i++) {
            x = x * MULTIPLIER + INCREMENT;
            words[x >> shift] += x;
            sum += fixed[x >> shift];
        }
        wrong += sums[t] != sum;
    }
    wrong += memcmp(words, m->memory + (launch->buffers[0].address - DEVICE_BASE), bytes) != 0;
    free(words);
    assert_int_equal(wrong, 0);
}

/* Waits that have not ended, counted by block: on the SMs and off the chip. */
static uint64_t waiting(const machine *m) {
    uint64_t waits = 0;
    uint32_t i, n;
    for (i = 0; i < m->block_count; i++)
        if (m->blocks[i].life) waits += gpump_fault_pending(fault_unit_of(m)->fault, block_cookie(&m->blocks[i]));
    for (i = 0; i < m->kernel_count; i++)
        for (n = preempted_first(m, i); n != NONE; n = preempted_after(m, i, n))
            waits += gpump_fault_pending(fault_unit_of(m)->fault, block_cookie_of(i, m->preempted[n].linear));
    return waits;
}

/* Runs to the end; every fault and every wait is accounted for wherever it is looked at. */
static gpump_fault_statistics run_watched(machine *m, uint64_t step, const char *what) {
    gpump_fault_statistics f;
    gpump_diag diag;
    int ended;
    do {
        ended = machine_run(m, m->now + step);
        if (ended < 0) fail_msg("%s: %s", what, m->error);
        gpump_get_statistics(&gpump_fault_component, fault_unit_of(m)->fault, &f);
        if (f.reported != f.opened + f.merged + f.retried + f.invalid) fail_msg("%s: a report is not counted", what);
        if (f.opened + f.prefetched < f.served || f.opened > f.served + fault_unit_of(m)->in_flight)
            fail_msg("%s: opened %llu, served %llu, in flight %u", what, (unsigned long long)f.opened,
                     (unsigned long long)f.served, fault_unit_of(m)->in_flight);
        if (!f.prefetched && f.opened != f.served + fault_unit_of(m)->in_flight) fail_msg("%s: a fault is lost", what);
        if (f.waits != f.woken + f.cancelled + waiting(m)) fail_msg("%s: a wait is lost", what);
        if (gpump_check(&gpump_fault_component, fault_unit_of(m)->fault, &diag)) fail_msg("%s: %s", what, diag.field);
    } while (!ended);
    assert_int_equal(fault_unit_of(m)->in_flight, 0);
    assert_int_equal(fault_unit_of(m)->leaving_count, 0);
    return f;
}

/* ---- the storm ---- */

/* Each scheme ends right under 100,000 faults with the smallest GPU memory that is accepted. */
static void storm_at_the_smallest_memory(void **state) {
    static const struct {
        const char *scheme, *link;
        uint32_t rounds, extra, threads;
    } runs[] = {{"log16", "ideal", 4, 0, 1024},    {"queue", "nvlink", 1, 4, 256},
                {"stall", "ideal", 3, 0, 512},     {"wd_check", "uvm595", 2, 2, 256},
                {"wd_commit", "pcie3", 2, 0, 128}, {"log8", "nvlink_pipelined", 2, 4, 256}};
    const int is_whole = test_cases(100) > 100; /* with fewer cases, memory may hold all that is touched */
    uint64_t opened = 0, evicted = 0;
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof runs / sizeof *runs; i++) {
        const uint32_t rounds = (uint32_t)test_cases(runs[i].rounds);
        faults_options faults = options_of(runs[i].scheme, runs[i].link);
        gpump_fault_statistics f;
        launch_file launch;
        machine *m;
        faults.extra = runs[i].extra;
        write_launch(rounds, runs[i].threads, "cpu", SHIFT);
        m = build(&launch, "fault_memory.yaml", &faults, 1);
        f = run_watched(m, 20011 * (1 + rounds), runs[i].scheme);
        check_storm(m, &launch, rounds, runs[i].threads, SHIFT);
        print_message("%s, %s: %llu faults, %llu granules evicted, %llu written back, in %llu cycles\n", runs[i].scheme,
                      runs[i].link, (unsigned long long)f.opened, (unsigned long long)f.evicted,
                      (unsigned long long)f.written, (unsigned long long)m->now);
        assert_true(!is_whole || (f.evicted > f.opened / 2 && f.written < f.evicted));
        opened += f.opened;
        evicted += f.evicted;
        machine_free(m);
        launch_file_free(&launch);
    }
    print_message("%llu faults, %llu evictions\n", (unsigned long long)opened, (unsigned long long)evicted);
    assert_true(!is_whole || opened > 100000);
}

/* Idle cycles that are skipped change nothing. */
static void every_cycle_is_the_same(void **state) {
    static const char *const schemes[] = {"log16", "stall", "wd_check"};
    uint32_t i, skip;
    (void)state;
    write_launch(2, 128, "cpu", SHIFT);
    for (i = 0; i < 3; i++) {
        uint64_t hash[2], cycles[2];
        for (skip = 0; skip < 2; skip++) {
            faults_options faults = options_of(schemes[i], "ideal");
            launch_file launch;
            machine *m;
            faults.extra = i == 1 ? 0 : 2;
            m = build(&launch, "fault_memory.yaml", &faults, skip);
            assert_int_equal(machine_run(m, NEVER), 1);
            check_storm(m, &launch, 2, 128, SHIFT);
            cycles[skip] = m->now;
            hash[skip] = machine_hash(m);
            machine_free(m);
            launch_file_free(&launch);
        }
        assert_int_equal(cycles[0], cycles[1]);
        assert_int_equal(hash[0], hash[1]);
    }
}

/* An access faults while an older instruction still waits in the issue queue for what a load brings from slow memory:
 * the older one issues before the warp is held, also where no replay queue could keep it. */
static void an_older_instruction_waits(void **state) {
    uint32_t i;
    (void)state;
    config = "dram_cycles=5000";
    write_launch(1, 128, "gpu", SHIFT);
    for (i = 0; faults_scheme_name(i); i++) {
        faults_options faults = options_of(faults_scheme_name(i), "nvlink");
        launch_file launch;
        machine *m;
        if (!strcmp(faults.scheme, "regions")) continue; /* its warps have regions, and no queue at all */
        faults.memory = 0;
        m = build(&launch, "fault_memory.yaml", &faults, 1);
        (void)run_watched(m, 100003, faults.scheme);
        check_storm(m, &launch, 1, 128, SHIFT);
        machine_free(m);
        launch_file_free(&launch);
    }
    config = NULL;
}

/* ---- pages that evict each other ---- */

/* Without a holder, warps that want 32 pages each take them from each other; the message names pages. */
static void a_stuck_run_names_the_pages_that_are_taken_in_turns(void **state) {
    faults_options faults = options_of("stall", "ideal");
    launch_file launch;
    machine *m;
    (void)state;
    faults.unpinned = 1;
    write_launch(2, 512, "cpu", SHIFT);
    m = build(&launch, "fault_memory.yaml", &faults, 1);
    assert_int_equal(machine_run(m, NEVER), -1);
    if (!strstr(m->error, "granules have evicted each other")) fail_msg("%s", m->error);
    print_message("%s\n", m->error);
    machine_free(m);
    launch_file_free(&launch);
}

/* ---- too little memory ---- */

/* GPU memory that is too small for an instruction or for a buffer is refused with the reason. */
static void too_little_memory_is_refused(void **state) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    (void)state;
    machine_options_default(&options);
    options.gpu = "table61";
    options.faults = options_of("queue", "nvlink");
    options.faults.memory -= fault_unit_granule_bytes();
    write_launch(1, 128, "cpu", SHIFT);
    if (launch_file_read(&launch, "fault_memory.yaml", error)) fail_msg("%s", error);
    assert_null(machine_build(&launch, &options, error));
    if (!strstr(error, "memory")) fail_msg("%s", error);
    launch_file_free(&launch);
    options.faults.memory += fault_unit_granule_bytes();
    write_launch(1, 128, "gpu", SHIFT); /* 8 MB that the GPU is to have at first */
    if (launch_file_read(&launch, "fault_memory.yaml", error)) fail_msg("%s", error);
    assert_null(machine_build(&launch, &options, error));
    if (!strstr(error, "--gpu-memory has no room for this buffer")) fail_msg("%s", error);
    launch_file_free(&launch);
}

/* ---- remote mappings ---- */

static uint64_t run_remote(const char *link, uint32_t remote, uint64_t memory, uint32_t rounds, uint32_t shift,
                           gpump_fault_statistics *f, uint64_t *accesses) {
    faults_options faults = options_of("log16", link);
    launch_file launch;
    uint64_t cycles;
    machine *m;
    faults.remote = remote;
    faults.memory = memory;
    write_launch(rounds, 256, "cpu", shift);
    m = build(&launch, "fault_memory.yaml", &faults, 1);
    *f = run_watched(m, 100003, link);
    check_storm(m, &launch, rounds, 256, shift);
    *accesses = fault_unit_of(m)->remote_accesses;
    cycles = m->now;
    machine_free(m);
    launch_file_free(&launch);
    return cycles;
}

/* Sparse accesses to what the CPU has: over the link they cost less than 64 KB each, and nothing is evicted for them. A
 * granule accessed often enough migrates. */
static void remote_mappings(void **state) {
    const uint64_t smallest = 32 * fault_unit_granule_bytes();
    gpump_fault_statistics f;
    uint64_t accesses, stays, migrates;
    (void)state;
    migrates = run_remote("nvlink", FAULT_REMOTE_NONE, smallest, 2, SHIFT, &f, &accesses);
    assert_int_equal(f.remote + accesses, 0);
    stays = run_remote("nvlink", FAULT_REMOTE_ALL, smallest, 2, SHIFT, &f, &accesses);
    print_message("%llu cycles with migrations, %llu with remote mappings (%llu accesses)\n",
                  (unsigned long long)migrates, (unsigned long long)stays, (unsigned long long)accesses);
    assert_true(f.remote > 100 && stays < migrates); /* of the 128 granules of `fixed` */
    assert_true(accesses >= 256); /* every read of `fixed`, but where lanes share a segment or it has migrated */
    (void)run_remote("uvm595", FAULT_REMOTE_THRASHING, smallest, 20, SHIFT + 2, &f, &accesses);
    assert_true(f.delayed > 0); /* two VA blocks, and room for one */
    (void)run_remote("ideal", FAULT_REMOTE_ALL, 0, 40, SHIFT + 3, &f, &accesses);
    assert_true(f.prefetched > 0 && f.migrated >= f.prefetched && !f.evicted); /* by access counters */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storm_at_the_smallest_memory),
        cmocka_unit_test(every_cycle_is_the_same),
        cmocka_unit_test(an_older_instruction_waits),
        cmocka_unit_test(a_stuck_run_names_the_pages_that_are_taken_in_turns),
        cmocka_unit_test(too_little_memory_is_refused),
        cmocka_unit_test(remote_mappings),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink("fault_memory.ptx");
    (void)unlink("fault_memory.yaml");
    return failed;
}
