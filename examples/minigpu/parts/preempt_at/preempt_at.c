#include "parts/preempt_at/preempt_at.h"

#include "machine/machine_options.h"
#include "preemption/requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct preemptions {
    uint64_t next, every; /* cycles; every 0: once */
    uint64_t ended;       /* blocks at the last preemption */
    uint32_t passed;      /* 1: the first has passed */
    uint32_t in_vain;     /* preemptions in a row between which no block has ended */
} preemptions;

/* A run that has preempted so often and for so long, and no block has ended: caches are warm, and faulted pages have
 * come. */
#define MOST_IN_VAIN 1000u
#define MOST_CYCLES_IN_VAIN 250000u

static preemptions *of(const machine *m) { return (preemptions *)m->of_part[PART_preempt_at]; }

void preempt_at(machine *m, uint64_t cycle) {
    of(m)->next = cycle;
    of(m)->passed = 0;
    parts_find(m);
}

uint64_t preempt_at_cycle(const machine *m) { return of(m)->passed ? NEVER : of(m)->next; }

/* ---- the part ---- */

static int configure(machine *m, const launch_file *launch, const machine_options *options,
                     char error[LAUNCH_ERROR_BYTES]) {
    preemptions *p = (preemptions *)arena_take(&m->arena, sizeof *p);
    (void)launch;
    if (!p) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory");
        return -1;
    }
    memset(p, 0, sizeof *p);
    p->next = options->preempt_cycle;
    p->every = options->preempt_every;
    m->of_part[PART_preempt_at] = p;
    return 0;
}

static int is_present(const machine *m) { return of(m) && of(m)->next != NEVER; }
static uint64_t next(const machine *m) { return of(m)->next; }

/* Ends a run whose blocks lose their work again and again before one of them ends. */
static void stop_in_vain(machine *m) {
    preemptions *p = of(m);
    uint64_t ended = 0;
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++) ended += m->kernels[i].done_blocks;
    p->in_vain = ended == p->ended ? p->in_vain + 1 : 0;
    p->ended = ended;
    if (p->in_vain < MOST_IN_VAIN || p->in_vain * p->every < MOST_CYCLES_IN_VAIN || m->technique >= GPUMP_TECHNIQUES ||
        gpump_technique_begins(m->technique) != GPUMP_TECHNIQUE_BEGIN_DROP)
        return;
    machine_fail(m,
                 "the run never ends: no block has ended in %u preemptions, one every %" PRIu64
                 " cycles, and each drops what the blocks have done; take a larger --preempt-every, or switch",
                 p->in_vain, p->every);
}

/* Returns whether an SM has issued since its blocks came. Blocks that were preempted as soon as they are back, again
 * and again, would never end. */
static int has_issued(const machine *m, const sm *s) {
    uint64_t came = NEVER;
    uint32_t i;
    for (i = 0; i < BLOCK_ENTRIES_MAX; i++) {
        const uint32_t index = s->block_of_entry[i];
        if (index != NONE && m->blocks[index].start_cycle < came) came = m->blocks[index].start_cycle;
    }
    return s->progress_cycle > came;
}

static void turn(machine *m) {
    const int again = (int)of(m)->passed;
    uint32_t i, running = 0;
    int arrived = 0, owned;
    of(m)->next = of(m)->every ? m->now + of(m)->every : NEVER;
    of(m)->passed = 1;
    stop_in_vain(m);
    for (i = 0; i < m->kernel_count; i++) {
        if (m->kernels[i].state == KERNEL_ACTIVE && m->kernels[i].priority > running) running = m->kernels[i].priority;
    }
    for (i = 0; i < m->kernel_count; i++) {
        kernel *k = &m->kernels[i];
        if (k->state != KERNEL_WAITING || k->priority <= running) continue;
        k->arrival_cycle = m->now;
        arrived = 1;
    }
    PARTS_ASK(m, owned, 0, owns_sms, (m));
    for (i = 0; i < m->sm_count && !arrived && !owned; i++)
        if (!again || has_issued(m, m->sms[i])) preemption_request(m, m->sms[i], m->technique, 0, 0);
}

const part preempt_at_part = {
    .name = "preempt_at", .configure = configure, .is_present = is_present, .next = next, .turn = turn};
