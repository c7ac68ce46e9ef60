/* bench/everything_at_once [KERNEL...]: page faults, a preemption and circuit errors in one run, by four mechanisms
 * (restart in two forms), as CSV. Kernels: sgemm, hotspot and spmv, or the named ones of these.
 *
 * In each run all pages are absent at first, a page takes 2 us, and all SMs are emptied at cycle 3,000.
 *
 * - restart: regions of 32; faults, errors (Razor II) and the preemption (rewind) restart from the same record
 * - restart+switch: as restart, but the preemption saves and restores
 * - replay queue: operand log of 16 KB, switch. The queue holds what has not executed, so it repairs no error. A block
 *   with an error is flushed and starts again
 * - checkpoint: faulted accesses wait, switch. All blocks are saved now and then. An error returns the whole GPU to the
 *   last checkpoint, memory included, because the stores of a single block cannot be undone
 * - flush: faulted accesses wait, flush. A block with an error is flushed and starts again
 *
 * Columns: `cycles` until the kernel has ended; `times` relative to the undisturbed kernel without regions; `errors`
 * made at that rate; `kept` errors in blocks that must not be flushed any more. With errors a row is the median of five
 * draws.
 *
 * All mechanisms are measured, and results are checked. Errors of restart flip bits. Errors of the others do not,
 * because these could not undo a store to a wrong address. Their errors are drawn with the same rate from the
 * instructions of each block, every STEP cycles, and nothing waits for the detection. Pages that have arrived stay when
 * the GPU returns to a checkpoint. The checkpoint row takes the best of checkpoints every 500, 2,000 and 8,000 cycles
 * and at the kernel's start alone. Times above MOST_TIMES are left empty: such a run was stopped there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "output.h"
#include "parts/preempt_at/preempt_at.h"
#include "preemption/context_forms.h"
#include "analysis/analysis.h"
#include "preemption/requests.h"
#include "tools/check.h"
#include "tools/recovery.h"

enum { RATES = 5, KERNELS = 3, STEP = 16, MOST_TIMES = 15, SEEDS = 5, PREEMPTED = 3000 };
static const double rates[RATES] = {0, 1e-5, 1e-4, 1e-3, 1e-2};
static const char *const kernels[KERNELS] = {"sgemm", "hotspot", "spmv"};

typedef enum answer { GOES_BACK, STARTS_ANEW, CHECKPOINTS } answer; /* to an error */
typedef struct mechanism {
    const char *name, *scheme;
    uint32_t technique, regions;
    answer answer;
} mechanism;
static const mechanism mechanisms[] = {
    {"restart", "regions", GPUMP_TECHNIQUE_REWIND, 32, GOES_BACK},
    {"restart+switch", "regions", GPUMP_TECHNIQUE_SWITCH, 32, GOES_BACK},
    {"replay queue", "log16", GPUMP_TECHNIQUE_SWITCH, REGIONS_NONE, STARTS_ANEW},
    {"checkpoint", "stall", GPUMP_TECHNIQUE_SWITCH, REGIONS_NONE, CHECKPOINTS},
    {"flush", "stall", GPUMP_TECHNIQUE_FLUSH, REGIONS_NONE, STARTS_ANEW},
};
enum { MECHANISMS = sizeof mechanisms / sizeof *mechanisms };

typedef struct measured {
    uint64_t cycles; /* NEVER: the run was stopped */
    uint64_t errors, kept;
} measured;

/* ==== a kernel under a mechanism ==== */

typedef struct subject {
    const char *name;
    const mechanism *how;
    launch_file launch;
    machine *m;
} subject;

static void give_up(const subject *s, const char *why) {
    fprintf(stderr, "everything_at_once: %s, %s: %s\n", s->name, s->how ? s->how->name : "undisturbed", why);
    exit(2);
}

/* Opens a subject. rate: of errors that flip bits. */
static void open_subject(subject *s, const char *name, const mechanism *how, double rate, int preempts) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    s->name = name;
    s->how = how;
    snprintf(path, sizeof path, "%s/kernels/%s/small.yaml", MINIGPU_SOURCE_DIR, name);
    machine_options_default(&options);
    options.context_form = CONTEXT_LIVE;
    if (how) {
        options.faults.scheme = how->scheme;
        options.absent = "all";
        options.fault_service_ns = 2000;
        options.regions = how->regions;
        options.technique = how->technique;
        if (preempts) options.preempt_cycle = PREEMPTED;
    }
    if (rate > 0) {
        options.errors.detection = "razor2";
        options.errors.rate_q32 = (uint64_t)(rate * 4294967296.0);
    }
    if (launch_file_read(&s->launch, path, error)) give_up(s, error);
    if (!(s->m = machine_build(&s->launch, &options, error))) give_up(s, error);
}

/* Closes a subject. ended: machine_run's result; more: cycles beyond the machine's clock. */
static measured close_subject(subject *s, int ended, uint64_t more) {
    gpump_restart_statistics recovery;
    kernel_check check[8];
    measured result;
    if (ended < 0) give_up(s, s->m->error);
    if (ended && check_results(s->m, &s->launch, check)) give_up(s, "other results");
    memset(&result, 0, sizeof result);
    result.cycles = ended ? s->m->now + more : NEVER;
    recovery_statistics(s->m, &recovery);
    result.errors = recovery.errors;
    machine_free(s->m);
    launch_file_free(&s->launch);
    return result;
}

static measured run(const char *name, const mechanism *how, double rate, int preempts) {
    subject s;
    open_subject(&s, name, how, rate, preempts);
    return close_subject(&s, machine_run(s.m, NEVER), 0);
}

/* ==== errors of mechanisms without restart ==== */

/* The blocks seen so far, by SM and slot. */
typedef struct seen_block {
    uint64_t linear, executed;
    int errs; /* 1: an error since it began; the block must be flushed */
} seen_block;
typedef struct seen_blocks {
    seen_block at[64][BLOCK_ENTRIES_MAX];
    uint64_t random, errors, kept; /* kept: errors in blocks that must not be flushed any more */
} seen_blocks;

/* Draws errors for the instructions that the blocks of an SM have executed since the last draw. Returns the number of
 * blocks with an error. */
static uint32_t draw_errors(const machine *m, const sm *s, double rate, seen_blocks *seen) {
    gpump_block_view views[BLOCK_ENTRIES_MAX];
    uint32_t count = BLOCK_ENTRIES_MAX, i, errors = 0;
    if (gpump_sm_blocks(s->gpump, m->now, views, BLOCK_ENTRIES_MAX, &count) != GPUMP_OK) exit(2);
    for (i = 0; i < count; i++) {
        const block *b = &m->blocks[s->block_of_entry[views[i].block.slot]];
        seen_block *block = &seen->at[s->index][views[i].block.slot];
        double right;
        if (block->linear != b->linear || views[i].executed < block->executed) { /* another one, or restarted */
            seen->kept += (uint64_t)block->errs;
            block->linear = b->linear;
            block->executed = views[i].executed;
            block->errs = 0;
            continue;
        }
        right = pow(1 - rate, (double)(views[i].executed - block->executed));
        block->executed = views[i].executed;
        if ((double)(gpump_random_next(&seen->random) >> 11) < right * 9007199254740992.0) continue;
        block->errs = 1;
        errors++;
    }
    seen->errors += errors;
    return errors;
}

/* Flushes the blocks of an SM with an error, as soon as they may be flushed. */
static void flush_errors(machine *m, sm *s, seen_blocks *seen) {
    gpump_block_view views[BLOCK_ENTRIES_MAX];
    uint32_t count = BLOCK_ENTRIES_MAX, i;
    if (gpump_sm_blocks(s->gpump, m->now, views, BLOCK_ENTRIES_MAX, &count) != GPUMP_OK) exit(2);
    for (i = 0; i < count; i++) {
        gpump_block_choice choice;
        seen_block *block = &seen->at[s->index][views[i].block.slot];
        if (!block->errs || (views[i].state != GPUMP_BLOCK_RUNNING && views[i].state != GPUMP_BLOCK_BLOCKED)) continue;
        memset(&choice, 0, sizeof choice);
        choice.block = views[i].block;
        choice.technique = GPUMP_TECHNIQUE_FLUSH;
        if (gpump_sm_may(s->gpump, choice.block, choice.technique) == GPUMP_REASON_YES &&
            preemption_carry_out(m, s, &choice, 1, 0) == GPUMP_REASON_YES) {
            block->errs = 0;
            block->linear = NEVER;
        }
    }
}

static measured run_anew(const char *name, const mechanism *how, double rate, uint64_t seed, uint64_t most) {
    static seen_blocks seen;
    measured result;
    subject s;
    uint32_t i;
    int ended = 0;
    memset(&seen, 0, sizeof seen);
    seen.random = seed;
    open_subject(&s, name, how, 0, 1);
    while (!ended && s.m->now < most) {
        ended = machine_run(s.m, s.m->now + STEP);
        for (i = 0; i < s.m->sm_count && !ended; i++) {
            draw_errors(s.m, s.m->sms[i], rate, &seen);
            flush_errors(s.m, s.m->sms[i], &seen);
        }
    }
    result = close_subject(&s, ended, 0);
    result.errors = seen.errors;
    result.kept = seen.kept;
    return result;
}

/* ==== checkpoints ==== */

/* A copy of a machine. */
typedef struct checkpoint {
    void *bytes;
    uint64_t cycle;
} checkpoint;

static void take_checkpoint(const subject *s, checkpoint *c) {
    free(c->bytes);
    if (!(c->bytes = arena_checkpoint(&s->m->arena))) give_up(s, "out of memory");
    c->cycle = s->m->now;
}

/* Returns to the checkpoint; pages that have arrived since stay. Returns the lost cycles. */
static uint64_t go_back(machine *m, const checkpoint *c, uint8_t *pages) {
    const uint64_t lost = m->now - c->cycle, count = (m->memory_bytes + PAGE_BYTES - 1) / PAGE_BYTES;
    const int preempted = preempt_at_cycle(m) == NEVER;
    uint64_t i;
    memcpy(pages, m->page_table, count);
    arena_restore(&m->arena, c->bytes);
    for (i = 0; i < count; i++) m->page_table[i] &= (uint8_t) ~(~pages[i] & (PAGE_ABSENT_READ | PAGE_ABSENT_WRITE));
    if (preempted) preempt_at(m, NEVER); /* the preemption happened once and is not repeated */
    return lost;
}

/* Returns the blocks that are still to be saved. */
static uint32_t leaving(const machine *m) {
    uint32_t i, count = 0;
    for (i = 0; i < m->preemption_count; i++) count += m->preemptions[i].blocks - m->preemptions[i].left;
    return count;
}

static measured run_checkpoints(const char *name, const mechanism *how, double rate, uint64_t seed, uint64_t interval,
                                uint64_t most) {
    static seen_blocks seen;
    uint64_t lost = 0, next = interval;
    measured result;
    checkpoint c;
    uint8_t *pages;
    subject s;
    uint32_t i;
    int ended = 0, is_saving = 0;
    memset(&seen, 0, sizeof seen);
    seen.random = seed;
    open_subject(&s, name, how, 0, 1);
    pages = (uint8_t *)malloc(s.m->memory_bytes / PAGE_BYTES + 1);
    if (!pages) give_up(&s, "out of memory");
    c.bytes = NULL;
    take_checkpoint(&s, &c);
    while (!ended && s.m->now + lost < most) {
        uint32_t errors = 0;
        ended = machine_run(s.m, s.m->now + STEP);
        for (i = 0; i < s.m->sm_count && !ended; i++) errors += draw_errors(s.m, s.m->sms[i], rate, &seen);
        if (ended) break;
        if (errors) {
            lost += go_back(s.m, &c, pages);
            is_saving = 0;
            next = s.m->now + interval;
        } else if (is_saving && !leaving(s.m)) {
            take_checkpoint(&s, &c);
            is_saving = 0;
            next = s.m->now + interval;
        } else if (!is_saving && s.m->now >= next && !leaving(s.m)) {
            s.m->preemption_count = 0; /* the log is finite */
            for (i = 0; i < s.m->sm_count; i++) preemption_request(s.m, s.m->sms[i], GPUMP_TECHNIQUE_SWITCH, 0, 0);
            is_saving = 1;
        }
    }
    free(pages);
    free(c.bytes);
    result = close_subject(&s, ended, lost);
    result.errors = seen.errors;
    return result;
}

static measured best_checkpoints(const char *name, const mechanism *how, double rate, uint64_t seed, uint64_t most) {
    static const uint64_t intervals[] = {2000, 500, 8000, UINT64_MAX / 2};
    measured best;
    uint32_t i;
    memset(&best, 0, sizeof best);
    best.cycles = NEVER;
    for (i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        const uint64_t until = best.cycles < most ? best.cycles : most;
        const measured one = run_checkpoints(name, how, rate, seed, intervals[i], until);
        if (one.cycles < best.cycles) best = one;
    }
    return best;
}

/* ==== all mechanisms ==== */

/* Prints the end of a line. */
static void print_measured(const measured *r, uint64_t undisturbed) {
    if (r->cycles <= MOST_TIMES * undisturbed)
        printf("%llu,%.3f,%llu,%llu\n", (unsigned long long)r->cycles, (double)r->cycles / (double)undisturbed,
               (unsigned long long)r->errors, (unsigned long long)r->kept);
    else
        printf(",,,\n");
    fflush(stdout);
}

static int by_cycles(const void *a, const void *b) {
    const uint64_t x = ((const measured *)a)->cycles, y = ((const measured *)b)->cycles;
    return x < y ? -1 : x > y;
}

/* Returns the median of SEEDS draws of errors. A run that does not end counts as the longest. */
static measured with_errors(const char *name, const mechanism *how, double rate, uint64_t most) {
    measured draws[SEEDS];
    uint32_t i, endless = 0;
    if (how->answer == GOES_BACK) return run(name, how, rate, 1);
    for (i = 0; i < SEEDS; i++) {
        draws[i] = how->answer == STARTS_ANEW ? run_anew(name, how, rate, i + 1, most)
                                              : best_checkpoints(name, how, rate, i + 1, most);
        if (draws[i].cycles > most && 2 * ++endless > SEEDS) return draws[i];
    }
    qsort(draws, SEEDS, sizeof *draws, by_cycles);
    return draws[SEEDS / 2];
}

static void measure(const char *name, const mechanism *how, uint64_t undisturbed) {
    const measured faults = run(name, how, 0, 0);
    uint32_t i;
    printf("%s,%s,faults,", name, how->name);
    print_measured(&faults, undisturbed);
    for (i = 0; i < RATES; i++) {
        const measured with =
            rates[i] > 0 ? with_errors(name, how, rates[i], MOST_TIMES * undisturbed) : run(name, how, 0, 1);
        printf("%s,%s,%g,", name, how->name, rates[i]);
        print_measured(&with, undisturbed);
    }
}

int main(int argc, char **argv) {
    uint32_t k, i;
    int a;
    if (argc > 1 && argv[1][0] == '-') {
        const int help = !strcmp(argv[1], "--help");
        fputs(
            "usage: everything_at_once [KERNEL...]: faults, a preemption and errors in one run, by four mechanisms, as "
            "CSV\n",
            help ? stdout : stderr);
        return help ? output_status(0, "everything_at_once") : 2;
    }
    for (a = 1; a < argc; a++) {
        for (k = 0; k < KERNELS && strcmp(argv[a], kernels[k]); k++) {}
        if (k == KERNELS) return fprintf(stderr, "everything_at_once: no kernel is named \"%s\"\n", argv[a]), 2;
    }
    printf("kernel,mechanism,rate,cycles,times,errors,kept\n");
    for (k = 0; k < KERNELS; k++) {
        measured undisturbed;
        for (a = 1; a < argc && strcmp(argv[a], kernels[k]); a++) {}
        if (argc > 1 && a == argc) continue;
        undisturbed = run(kernels[k], NULL, 0, 0);
        printf("%s,undisturbed,0,", kernels[k]);
        print_measured(&undisturbed, undisturbed.cycles);
        for (i = 0; i < MECHANISMS; i++) measure(kernels[k], &mechanisms[i], undisturbed.cycles);
    }
    return output_status(0, "everything_at_once");
}
