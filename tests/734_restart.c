/* labels: equivalence unit link: minigpu_core */
/* Every idempotent region of every kernel, started again from every instruction in it: the memory at the end is that of a run without
 * restarts. What is not live at the region's start is overwritten, so that nobody lives on it by chance. By default each pair of a
 * region's start and an instruction is taken four times, by the executor of interpret.h, and the mini-GPU confirms with restarts of all its
 * warps at places throughout the run; GPUMP_TEST_CASES=100 takes nearly every instruction of every warp. A boundary taken away, or all
 * that keeps live-ins left out, must turn this red. */
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

#include "analysis.h"
#include "check.h"
#include "context_forms.h"
#include "interpret.h"
#include "machine.h"
#include "ptx_reader.h"
#include "restart.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"
static const uint32_t kinds[] = {REGIONS_SPARSE, 16, 32, 64};

/* ==== restarts in the executor ==== */

typedef struct position {
    simt_stack start[2];  /* of the sparse and of the short region */
    uint32_t must_go_on;  /* an atomic, volatile access or barrier has taken effect, and the boundary behind it not */
} position;

typedef struct experiment {
    interpreter run;
    const kernel_program *kernel;
    context_view *view;
    position at[32];
    uint8_t *taken;       /* [start][instruction]: restarts so far */
    uint64_t restarts, limit, most;
    uint32_t level, removed; /* of this boundary nobody knows; NONE */
    int missing;          /* an instruction that must not be done twice without a boundary behind it */
} experiment;

static void record(experiment *e, uint32_t w, int is_short) {
    position *p = &e->at[w];
    restart_copy_stack(&p->start[1], &e->run.warps[w].stack);
    if (!is_short) restart_copy_stack(&p->start[0], &e->run.warps[w].stack);
    p->must_go_on = 0;
}

static void overwrite_dead(const experiment *e, const interpret_warp *w) {
    static warp there;
    static kernel k;
    uint64_t live[CONTEXT_LIVE_WORDS];
    uint32_t r, lane;
    there.stack = w->stack;
    there.barrier = NONE;
    k.registers = e->kernel->registers;
    context_live(e->view, &k, &there, live);
    for (r = 0; r < e->kernel->registers; r++)
        for (lane = 0; lane < LANES && !gpump_bits_get(live, r); lane++) w->registers[r * LANES + lane] = 0xdeadbeefu ^ r;
}

/* Goes back instead of executing, when this place has not been taken often enough. */
static int restarts(experiment *e, uint32_t index) {
    interpret_warp *w = &e->run.warps[index];
    position *p = &e->at[index];
    const uint32_t pc = simt_top(&w->stack)->pc;
    const int at_boundary = e->kernel->instructions[pc].opcode == OPCODE_BOUNDARY && pc != e->removed;
    uint8_t *taken;
    if (!e->limit) return 0;
    if (p->must_go_on && !at_boundary && e->removed == NONE) e->missing = 1;
    if (p->must_go_on && at_boundary) return 0;
    taken = &e->taken[(size_t)simt_top(&p->start[e->level])->pc * e->kernel->count + pc];
    if (*taken >= e->limit) return 0;
    ++*taken;
    e->restarts++;
    restart_copy_stack(&w->stack, &p->start[e->level]);
    if (!e->level) restart_copy_stack(&p->start[1], &p->start[0]);
    p->must_go_on = 0;
    overwrite_dead(e, w);
    return 1;
}

static void step(experiment *e, uint64_t block, uint32_t index) {
    interpret_warp *w = &e->run.warps[index];
    const uint32_t pc = simt_top(&w->stack)->pc;
    const instruction *in = &e->kernel->instructions[pc];
    if (restarts(e, index)) return;
    interpret_step(&e->run, block, index);
    if (in->opcode == OPCODE_BOUNDARY && pc != e->removed) record(e, index, in->variant == VARIANT_SHORT);
    if (in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED || in->opcode == OPCODE_BAR || (in->flags & FLAG_VOLATILE)) e->at[index].must_go_on = 1;
}

/* Runs the whole launch. 1: it came to its end. */
static int run_all(experiment *e) {
    const uint64_t blocks = (uint64_t)e->run.call->grid[0] * e->run.call->grid[1] * e->run.call->grid[2];
    uint64_t block;
    uint32_t i, running;
    for (block = 0; block < blocks; block++) {
        interpret_start_block(&e->run, block);
        for (i = 0; i < e->run.warp_count; i++) record(e, i, 0);
        do {
            running = 0;
            for (i = 0; i < e->run.warp_count; i++) {
                interpret_warp *w = &e->run.warps[i];
                w->at_barrier = 0;
                while (w->stack.depth && !w->at_barrier) {
                    step(e, block, i);
                    if (e->most && e->run.instructions > e->most) return 0;
                }
                running += w->stack.depth != 0;
            }
        } while (running);
    }
    return 1;
}

static uint64_t memory_hash(const interpreter *run) {
    uint64_t hash = GPUMP_HASH_SEED;
    uint32_t i;
    for (i = 0; i < run->launch->buffer_count; i++) hash = gpump_hash_bytes(hash, run->memory[i], (size_t)run->launch->buffers[i].bytes);
    return hash;
}

/* One run of a kernel with `limit` restarts at each place; returns its hash. */
static uint64_t run_once(experiment *e, const kernel_program *kernel, const launch_file *launch, uint64_t limit) {
    char error[LAUNCH_ERROR_BYTES];
    uint64_t hash;
    memset(&e->run, 0, sizeof e->run);
    e->kernel = kernel;
    e->limit = limit > 255 ? 255 : limit;
    e->restarts = 0;
    e->missing = 0;
    if (!(e->view = context_view_create(kernel, 0, error))) fail_msg("%s", error);
    e->taken = (uint8_t *)interpret_zeroed((uint64_t)kernel->count * kernel->count);
    interpret_open(&e->run, kernel, launch);
    hash = run_all(e) && !e->missing ? memory_hash(&e->run) : 0;
    e->most = e->run.instructions;
    interpret_close(&e->run);
    context_view_free(e->view);
    free(e->taken);
    return hash;
}

/* ==== a kernel and what it is made into ==== */

typedef struct subject {
    launch_file launch;
    ptx_module module;
    const kernel_program *kernel;
} subject;

static void open_subject(subject *s, const char *name) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    ptx_error wrong;
    snprintf(path, sizeof path, KERNELS "%s/small.yaml", name);
    if (launch_file_read(&s->launch, path, error)) fail_msg("%s", error);
    if (ptx_read_file(s->launch.kernels[0].ptx_path, &s->module, &wrong)) fail_msg("%s", wrong.text);
    s->kernel = ptx_find_kernel(&s->module, s->launch.kernels[0].name);
    assert_non_null(s->kernel);
}

static void close_subject(subject *s) {
    ptx_free(&s->module);
    launch_file_free(&s->launch);
}

static kernel_program lower(const subject *s, uint32_t regions, uint32_t registers, uint32_t only_boundaries) {
    analysis_lowering how;
    gpump_regions_config config;
    kernel_program lowered;
    gpump_diag diag;
    memset(&how, 0, sizeof how);
    how.registers = registers;
    how.regions = regions;
    assert_int_equal(gpump_regions_config_preset(&config, "igpu"), GPUMP_OK);
    config.preserve = !only_boundaries;
    how.regions_config = &config;
    how.block = s->launch.kernels[0].block;
    if (analysis_lower(s->kernel, &how, &lowered, NULL, &diag) != GPUMP_OK) fail_msg("%s cannot be lowered", s->kernel->name);
    return lowered;
}

static uint64_t undisturbed(const subject *s, const kernel_program *kernel, uint64_t *instructions) {
    static experiment e;
    uint64_t hash;
    memset(&e, 0, sizeof e);
    e.removed = NONE;
    hash = run_once(&e, kernel, &s->launch, 0);
    if (instructions) *instructions = e.most;
    return hash;
}

static void restart_every_region(const char *name) {
    static experiment e;
    subject s;
    uint64_t expected;
    uint32_t k;
    open_subject(&s, name);
    expected = undisturbed(&s, s.kernel, NULL);
    for (k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint32_t few;
        for (few = 0; few < 2; few++) { /* registers enough, and so few that most kernels spill */
            kernel_program lowered;
            uint32_t level;
            if (few && k % 2) continue; /* sparse and 32 */
            lowered = lower(&s, kinds[k], few ? 20 : 63, 0);
            assert_true(undisturbed(&s, &lowered, NULL) == expected);
            for (level = 0; level <= (kinds[k] != REGIONS_SPARSE); level++) {
                memset(&e, 0, sizeof e);
                e.removed = NONE;
                e.level = level;
                if (run_once(&e, &lowered, &s.launch, test_cases(3)) != expected)
                    fail_msg("%s, regions %u, %s registers, level %u: %s", name, kinds[k], few ? "few" : "many", level,
                             e.missing ? "an instruction that must not be done twice has no boundary behind it" : "other memory at the end");
                assert_true(e.restarts >= lowered.count / 2);
            }
            analysis_free_kernel(&lowered);
        }
    }
    close_subject(&s);
}

static void every_region_of_every_kernel(void **state) {
    const reference_entry *entry;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) restart_every_region(entry->name);
}

/* ==== the test can fail ==== */

/* Restarts a mutant everywhere, in a process of its own: it may run wild. 1: it was caught. */
static int is_caught(const subject *s, const kernel_program *mutant, uint32_t removed, uint32_t level, uint64_t expected, uint64_t instructions) {
    static experiment e;
    int status;
    pid_t pid = fork();
    if (pid < 0) fail_msg("fork failed");
    if (!pid) {
        setenv("CMOCKA_TEST_ABORT", "1", 1);
        if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout)) _exit(2);
        alarm(20);
        memset(&e, 0, sizeof e);
        e.removed = removed;
        e.level = level;
        e.most = instructions * 400 + 1000000;
        _exit(run_once(&e, mutant, &s->launch, 1) != expected);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* Boundaries taken away one after the other. Some do nothing for these inputs (a loop's second one, one for lanes that do not diverge
 * here), so not every one is missed; those of kernels that update memory in place are. */
static void a_boundary_removed_is_caught(void **state) {
    static const char *const names[] = {"matrix_multiply_accumulate", "saxpy", "histogram", "backprop_adjust_weights", "nw_1", "pathfinder"};
    uint32_t n, i, all = 0, caught = 0;
    (void)state;
    for (n = 0; n < sizeof names / sizeof *names; n++) {
        subject s;
        kernel_program lowered;
        uint64_t instructions, expected;
        uint32_t here = 0, boundaries = 0;
        open_subject(&s, names[n]);
        lowered = lower(&s, REGIONS_SPARSE, 63, 0);
        expected = undisturbed(&s, &lowered, &instructions);
        for (i = 0; i < lowered.count; i++) {
            if (lowered.instructions[i].opcode != OPCODE_BOUNDARY) continue;
            boundaries++;
            here += (uint32_t)is_caught(&s, &lowered, i, 0, expected, instructions);
        }
        if (boundaries && !here) fail_msg("%s: none of %u boundaries is missed when it is taken away", names[n], boundaries);
        all += boundaries;
        caught += here;
        analysis_free_kernel(&lowered);
        close_subject(&s);
    }
    print_message("%u of %u boundaries are missed when they are taken away\n", caught, all);
}

/* Boundaries without the renaming, moves and spills that keep what is live at them. */
static void live_ins_not_kept_are_caught(void **state) {
    const reference_entry *entry;
    uint32_t moved = 0, caught = 0;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        subject s;
        kernel_program kept, lost;
        uint64_t instructions, expected;
        open_subject(&s, entry->name);
        kept = lower(&s, 16, 63, 0);
        lost = lower(&s, 16, 63, 1);
        expected = undisturbed(&s, &kept, NULL);
        assert_true(undisturbed(&s, &lost, &instructions) == expected);
        if (kept.count > lost.count) { /* moves were needed */
            moved++;
            caught += (uint32_t)is_caught(&s, &lost, NONE, 1, expected, instructions);
        }
        analysis_free_kernel(&kept);
        analysis_free_kernel(&lost);
        close_subject(&s);
    }
    print_message("%u of %u kernels whose live-ins need moves are caught without them\n", caught, moved);
    assert_true(moved > 5 && caught * 10 >= moved * 9);
}

/* ==== on the mini-GPU: pipelines, several warps at once, whatever is in flight ==== */

static uint64_t restart_on_machine(const char *name, uint32_t regions, uint64_t places, uint64_t *random) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    kernel_check check;
    machine *m;
    uint64_t cycles, done = 0, place;
    uint32_t round, i;
    snprintf(path, sizeof path, KERNELS "%s/small.yaml", name);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    machine_options_default(&options);
    options.regions = regions;
    for (round = 0, cycles = 0; round < 2; round++) { /* how long it takes; then with restarts */
        if (!(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
        for (place = 1; round && place <= places; place++) {
            if (machine_run(m, cycles * place / (places + 1)) != 0) break;
            for (i = 0; i < m->warp_count; i++) {
                warp *w = &m->warps[i];
                if (w->sm == NONE || gpump_random_below(random, 2)) continue;
                done += (uint64_t)restart_warp(m, m->sms[w->sm], w, regions != REGIONS_SPARSE && gpump_random_below(random, 2));
            }
        }
        if (machine_run(m, NEVER) != 1 || check_results(m, &launch, &check))
            fail_msg("%s with regions %u after %llu restarts: %s", name, regions, (unsigned long long)done, m->failed || m->deadlocked ? m->error : check.text);
        cycles = m->now;
        machine_free(m);
    }
    launch_file_free(&launch);
    return done;
}

static void every_kernel_on_the_machine(void **state) {
    const reference_entry *entry;
    uint64_t random = test_seed(), done = 0;
    uint32_t k;
    (void)state;
    for (entry = reference_entries; entry->name; entry++)
        for (k = 0; k < sizeof kinds / sizeof *kinds; k += 2) done += restart_on_machine(entry->name, kinds[k], test_cases(30), &random);
    printf("%llu warps sent back on the machine\n", (unsigned long long)done);
    assert_true(done > 60 * test_cases(30)); /* most places find warps that can go back */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_region_of_every_kernel),
        cmocka_unit_test(a_boundary_removed_is_caught),
        cmocka_unit_test(live_ins_not_kept_are_caught),
        cmocka_unit_test(every_kernel_on_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
