/* labels: equivalence unit slow full unsanitized link: minigpu_core */
/* What each boundary of an idempotent region is good for, and each move that keeps a live-in. Every boundary of every
 * kernel is taken away, alone, and so is every move. Three parties judge the result:
 *
 *   the analysis  gpump_clobbers_find: may something now be overwritten that the longer region has read?
 *   a watcher     of one run without restarts: is it overwritten, with another value, or has a barrier been passed?
 *   restarts      from every instruction: is the memory at the end another one?
 *
 * What the analysis allows, the watcher never objects to (at boundaries that are there for memory's sake). What the
 * watcher has nothing against, restarts never miss. Where the watcher has seen a value change, restarts are taken from
 * every place of the run, one by one. They miss what was taken away, or else prove that nothing comes of the change:
 * the kernel's own algorithm does not mind. */
#include "minigpu/restarts.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Restarts a mutant everywhere, in a process of its own: it may run wild. 1: it was caught. */
static int is_caught(const subject *s, const kernel_program *mutant, uint32_t removed, uint32_t removed_move,
                     uint32_t lasts, uint32_t level, uint64_t limit, uint64_t expected, uint64_t instructions) {
    static experiment e;
    const struct rlimit seconds = {60, 60}; /* of processor time: others may need the machine, too */
    int status;
    pid_t pid = fork();
    if (pid < 0) fail_msg("fork failed");
    if (!pid) {
        setenv("CMOCKA_TEST_ABORT", "1", 1);
        if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout)) _exit(2);
        (void)setrlimit(RLIMIT_CPU, &seconds);
        memset(&e, 0, sizeof e);
        e.removed = removed;
        e.removed_move = removed_move;
        e.lasts = lasts;
        e.level = level;
        e.most = instructions * 4000 + 1000000;
        _exit(run_once(&e, mutant, &s->launch, limit) != expected);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* What a watcher of a run without restarts finds; GPUMP_NONE: it computes something else. */
static uint32_t watched(const subject *s, const kernel_program *mutant, uint32_t removed, uint32_t removed_move,
                        uint32_t lasts, uint32_t level, uint64_t expected) {
    static experiment e;
    static region_watch watches[32];
    uint32_t i;
    memset(&e, 0, sizeof e);
    e.removed = removed;
    e.removed_move = removed_move;
    e.lasts = lasts;
    e.level = level;
    e.watch = watches;
    if (run_once(&e, mutant, &s->launch, 0) != expected) e.found = GPUMP_NONE;
    for (i = 0; i < 32; i++) watch_close(&watches[i]);
    return e.found;
}

/* ---- the analysis' word ---- */

/* A copy of a program without one instruction. */
static gpump_program *without(const gpump_program *program, uint32_t left_out) {
    gpump_program *copy;
    uint32_t i, ignored;
    assert_int_equal(gpump_program_create(NULL, &copy), GPUMP_OK);
    for (i = 0; i < gpump_program_count(program).registers; i++)
        assert_int_equal(gpump_program_add_register(copy, gpump_program_width(program, i), &ignored, NULL), GPUMP_OK);
    for (i = 0; i < gpump_program_count(program).objects; i++) {
        const gpump_memory_object object = gpump_program_object(program, i);
        assert_int_equal(gpump_program_add_object(copy, &object, &ignored, NULL), GPUMP_OK);
    }
    for (i = 0; i < gpump_program_count(program).instructions; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (i == left_out) continue;
        if (in.target != GPUMP_NONE && in.target > left_out) in.target--;
        assert_int_equal(gpump_program_add(copy, &in, NULL, NULL), GPUMP_OK);
    }
    assert_int_equal(gpump_program_finish(copy, NULL), GPUMP_OK);
    return copy;
}

static uint32_t clobbers_of(const gpump_program *program) {
    uint32_t count = 0;
    const gpump_result result = gpump_clobbers_find(program, GPUMP_UNIT_WARP, GPUMP_BOUNDARY_SPARSE, NULL, 0, &count);
    assert_true(result == GPUMP_OK || result == GPUMP_ERROR_CAPACITY);
    return count;
}

/* The kernel with sparse regions as the analysis sees it: its boundaries stand in the same order as those of what is
 * lowered. */
static gpump_program *formed_of(const subject *s) {
    gpump_regions_config config;
    gpump_program *formed;
    gpump_diag diag;
    analysis a;
    assert_int_equal(analysis_create_launch(s->kernel, s->launch.kernels[0].block, s->alias_class, &a, &diag),
                     GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_regions_component, &config, "igpu", NULL), GPUMP_OK);
    assert_int_equal(gpump_regions_form(a.program, &config, &formed, NULL, NULL), GPUMP_OK);
    analysis_destroy(&a);
    return formed;
}

/* ---- boundaries ---- */

typedef enum verdict {
    CAUGHT,
    NOT_REACHED, /* no warp comes there in this run */
    ALLOWED,  /* the analysis has nothing against the longer region: it is there for a rule (loops, divergence, a copy)
               */
    MAY_ONLY, /* something may be overwritten, and is not in this run */
    SAME_VALUE,   /* it is, with the value it had */
    BARRIER_ONLY, /* a barrier is passed twice, and that changes nothing here */
    HARMLESS,     /* a value has changed, and from every place of the run a restart leaves the same memory */
    VERDICTS
} verdict;
static const char *const verdict_names[] = {"caught",
                                            "never reached",
                                            "allowed by the analysis",
                                            "not overwritten in this run",
                                            "overwritten with the same value",
                                            "a barrier passed twice, harmlessly",
                                            "a value changed, harmlessly"};
static const char *const cut_names[GPUMP_CUTS] = {"none", "clobber", "forced", "loop", "divergence", "length", "copy"};

typedef struct tally {
    uint32_t counts[GPUMP_CUTS][VERDICTS], all;
} tally;

/* A run with fewer cases takes fewer kernels. */
static int all_kernels(void) { return test_cases(16) >= 16; }
static int skipped(uint32_t n) { return !all_kernels() && n % (16 / test_cases(16)) != 0; }

static void remove_boundaries(const char *name, int one_buffer, tally *t) {
    subject s;
    kernel_program lowered;
    gpump_program *formed;
    uint64_t instructions, expected;
    uint32_t i, at = 0;
    open_subject(&s, name, one_buffer);
    if (!interpret_can(&s.module, s.kernel) || (one_buffer && !s.shared_buffers)) {
        close_subject(&s);
        return;
    }
    lowered = lower(&s, REGIONS_SPARSE, 63, 0, SPILLING_NONE);
    formed = formed_of(&s);
    expected = undisturbed(&s, &lowered, &instructions);
    assert_int_equal(clobbers_of(formed), 0);
    for (i = 0; i < lowered.count; i++) {
        gpump_program *mutant;
        gpump_instruction in;
        uint32_t may, found, dynamic;
        verdict v;
        if (lowered.instructions[i].opcode != OPCODE_BOUNDARY) continue;
        for (;; at++) {
            assert_true(at < gpump_program_count(formed).instructions);
            gpump_program_instruction(formed, at, &in);
            if (in.operation == GPUMP_OP_BOUNDARY) break;
        }
        mutant = without(formed, at++);
        may = clobbers_of(mutant);
        gpump_program_destroy(mutant);
        found = watched(&s, &lowered, i, NONE, 0, 0, expected);
        assert_true(found != GPUMP_NONE);
        dynamic = found & (FOUND_REGISTER | FOUND_MEMORY);
        v = CAUGHT;
        if (!is_caught(&s, &lowered, i, NONE, 0, 0, 1, expected, instructions) &&
            !(found & (FOUND_REGISTER | FOUND_MEMORY | FOUND_BARRIER) &&
              is_caught(&s, &lowered, i, NONE, 0, 0, UINT32_MAX, expected, instructions)))
            v = !(found & FOUND_REACHED) ? NOT_REACHED
                : dynamic                ? HARMLESS
                : found & FOUND_BARRIER  ? BARRIER_ONLY
                : found & FOUND_SAME     ? SAME_VALUE
                : may                    ? MAY_ONLY
                                         : ALLOWED;
        /* Memory only: registers that are dead behind a boundary have been given out again by the allocation, which the
         * analysis of the kernel as it was formed does not see. */
        if (found & FOUND_MEMORY && !may && in.tag != GPUMP_CUT_FORCED && in.tag != GPUMP_CUT_DIVERGENCE)
            fail_msg("%s, boundary %u (%s): the analysis allows what the watcher has seen overwritten", name, i,
                     cut_names[in.tag]);
        if (v == CAUGHT && !(found & (FOUND_REGISTER | FOUND_MEMORY | FOUND_BARRIER)))
            fail_msg("%s, boundary %u (%s): restarts miss it, and the watcher has seen nothing", name, i,
                     cut_names[in.tag]);
        if (v == HARMLESS)
            print_message("%s, boundary %u (%s): %s%schanges and memory at the end does not\n", name, i,
                          cut_names[in.tag], found & FOUND_MEMORY ? "memory " : "",
                          found & FOUND_REGISTER ? "a register " : "");
        t->counts[in.tag][v]++;
        t->all++;
    }
    gpump_program_destroy(formed);
    analysis_free_kernel(&lowered);
    close_subject(&s);
}

static void print_tally(const tally *t) {
    uint32_t c, v, sum[VERDICTS];
    memset(sum, 0, sizeof sum);
    for (c = 0; c < GPUMP_CUTS; c++)
        for (v = 0; v < VERDICTS; v++) {
            sum[v] += t->counts[c][v];
            if (t->counts[c][v]) print_message("  %-10s %-36s %u\n", cut_names[c], verdict_names[v], t->counts[c][v]);
        }
    print_message("  of %u:", t->all);
    for (v = 0; v < VERDICTS; v++) print_message(" %u %s%s", sum[v], verdict_names[v], v + 1 < VERDICTS ? "," : "\n");
    assert_true(sum[CAUGHT] > 0);
    if (all_kernels()) assert_true(sum[CAUGHT] * 3 > t->all && sum[CAUGHT] > 9 * sum[HARMLESS]);
}

/* If a region boundary is taken away, restarts give wrong results wherever it protects a value that changes. */
static void boundaries_are_missed_where_values_change(void **state) {
    static tally t;
    const reference_entry *entry;
    uint32_t n = 0;
    (void)state;
    for (entry = reference_entries; entry->name; entry++)
        if (!skipped(n++)) remove_boundaries(entry->name, 0, &t);
    print_message("boundaries taken away, one at a time:\n");
    print_tally(&t);
}

/* If a region boundary is taken away, restarts are wrong, too, where one buffer is passed for two parameters. */
static void boundaries_with_one_buffer_for_two(void **state) {
    static const char *const names[] = {
        "saxpy", "hotspot", "pathfinder", "stencil", "srad_1", "srad_2", "matrix_multiply_accumulate", "dwt2d_fdwt53"};
    static tally t;
    uint32_t n;
    (void)state;
    for (n = 0; n < sizeof names / sizeof *names; n++)
        if (!skipped(n)) remove_boundaries(names[n], 1, &t);
    print_message("the same with one buffer for two parameters:\n");
    print_tally(&t);
}

/* ---- moves ---- */

/* A move that keeps a live-in stands behind its boundary, on the same line. */
static int keeps_live_in(const kernel_program *k, uint32_t i) {
    const instruction *in = &k->instructions[i];
    uint32_t b = i;
    if (in->opcode != OPCODE_MOV || in->source_count != 1 || in->sources[0].kind != in->destinations[0].kind) return 0;
    if (in->sources[0].kind != OPERAND_REGISTER && in->sources[0].kind != OPERAND_PREDICATE) return 0;
    while (b > 0 && k->instructions[b].opcode != OPCODE_BOUNDARY && k->instructions[b].line == in->line) b--;
    return k->instructions[b].opcode == OPCODE_BOUNDARY && k->instructions[b].line == in->line;
}

/* If a move that keeps a live-in is taken away, restarts give wrong results wherever the value changes. */
static void moves_are_missed_where_values_change(void **state) {
    static const uint32_t kinds[] = {REGIONS_SPARSE, 16}, lasts[] = {NONE, 2, 1, 0};
    static const char *const how_long[] = {"for good", "for two more regions", "for one more region",
                                           "for the rest of its region"};
    uint32_t counts[4][VERDICTS], caught = 0, harmless = 0, k, i;
    const reference_entry *entry;
    (void)state;
    memset(counts, 0, sizeof counts);
    for (entry = reference_entries; entry->name; entry++) {
        for (k = 0; k < 2 && !skipped((uint32_t)(entry - reference_entries)); k++) {
            subject s;
            kernel_program lowered;
            uint64_t instructions, expected;
            open_subject(&s, entry->name, 0);
            if (!interpret_can(&s.module, s.kernel)) {
                close_subject(&s);
                continue;
            }
            lowered = lower(&s, kinds[k], 63, 0, SPILLING_NONE);
            expected = undisturbed(&s, &lowered, &instructions);
            for (i = 0; i < lowered.count; i++) {
                uint32_t found, dynamic, n;
                verdict v = CAUGHT;
                if (!keeps_live_in(&lowered, i)) continue;
                /* for good, or, where one of the two registers is used for something else afterwards, for as long as
                 * possible */
                for (n = 0; n < 3 && is_caught(&s, &lowered, NONE, i, lasts[n], k, 0, expected, instructions); n++) {}
                found = watched(&s, &lowered, NONE, i, lasts[n], k, expected);
                assert_true(found != GPUMP_NONE);
                found &= ~(uint32_t)FOUND_BARRIER;
                dynamic = found & (FOUND_REGISTER | FOUND_MEMORY);
                if (!is_caught(&s, &lowered, NONE, i, lasts[n], k, 1, expected, instructions) &&
                    !(dynamic && is_caught(&s, &lowered, NONE, i, lasts[n], k, UINT32_MAX, expected, instructions)))
                    v = !(found & FOUND_REACHED) ? NOT_REACHED
                        : dynamic                ? HARMLESS
                        : found & FOUND_SAME     ? SAME_VALUE
                                                 : MAY_ONLY;
                if (v == CAUGHT && !dynamic)
                    fail_msg("%s, move %u: restarts miss it, and the watcher has seen nothing", entry->name, i);
                if (v == HARMLESS)
                    print_message("%s, move %u of %s regions: the register changes and memory at the end does not\n",
                                  entry->name, i, k ? "short" : "sparse");
                counts[n][v]++;
            }
            analysis_free_kernel(&lowered);
            close_subject(&s);
        }
    }
    print_message("moves taken away, one at a time:\n");
    for (k = 0; k < 4; k++) {
        print_message("  %s:", how_long[k]);
        for (i = 0; i < VERDICTS; i++)
            if (counts[k][i]) print_message(" %u %s;", counts[k][i], verdict_names[i]);
        print_message("\n");
        caught += counts[k][CAUGHT];
        harmless += counts[k][HARMLESS];
    }
    assert_true(caught > (all_kernels() ? 3 * harmless : 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boundaries_are_missed_where_values_change),
        cmocka_unit_test(boundaries_with_one_buffer_for_two),
        cmocka_unit_test(moves_are_missed_where_values_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
