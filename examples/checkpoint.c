/* checkpoint: a host copies its machine as bytes in the middle of a preemption, checks and adopts the copy, and runs
 * both.
 *
 *     cc -I. examples/checkpoint.c -o checkpoint && ./checkpoint      (from the top of the project)
 *
 * The machine is one SM, a scheduler, a spill pipeline, a pool for contexts and a meter, all in one area of memory. Two
 * processes share it by priority: the urgent kernel arrives at cycle 300, the blocks of the long one are switched. */
#define GPUMP_IMPLEMENTATION
#include "../gpump.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 8, INSTRUCTIONS = 500, SLOTS = 4 }; /* of a kernel; of a block; blocks of the SM */

static gpump_sm_config sm_config;
static gpump_scheduler_config scheduler_config;
static gpump_spill_config spill_config;
static gpump_context_pool_config pool_config = {2, SLOTS, 32768};
static gpump_meter_config meter_config;

/* The host's own state of one block. Its index is the cookie that gpump carries. */
typedef struct block {
    gpump_block_ref sm_name, scheduler_name;
    uint64_t executed, context; /* warp instructions; where its context lies in the pool */
    gpump_sm_history history;
} block;

/* `state` is all that changes, and the components' memory behind it. The pointers lead into it. */
typedef struct state {
    uint64_t now;
    block blocks[2 * BLOCKS];
    uint64_t kernels_done;
    uint32_t here[64]; /* by slot: cookie + 1; 0: free */
} state;
typedef struct machine {
    state *host;
    gpump_sm *sm;
    gpump_scheduler *scheduler;
    gpump_spill *spill;
    gpump_context_pool *pool;
    gpump_meter *meter;
} machine;

static void must(gpump_result result, const gpump_diag *diag, const char *what) {
    char text[200] = "";
    if (!result) return;
    if (diag) gpump_diag_text(diag, text, sizeof text);
    fprintf(stderr, "%s: %s %s\n", what, gpump_result_text(result), text);
    exit(1);
}

/* The parts of a machine. Each verb of gpump takes the component first, so one loop serves them all. */
enum { PARTS = 5 };
static const struct part {
    const char *name;
    const gpump_component *component;
    const void *config;
    size_t pointer; /* offset in the machine */
} parts[PARTS] = {
    {"sm", &gpump_sm_component, &sm_config, offsetof(machine, sm)},
    {"scheduler", &gpump_scheduler_component, &scheduler_config, offsetof(machine, scheduler)},
    {"spill", &gpump_spill_component, &spill_config, offsetof(machine, spill)},
    {"pool", &gpump_context_pool_component, &pool_config, offsetof(machine, pool)},
    {"meter", &gpump_meter_component, &meter_config, offsetof(machine, meter)},
};
static const void *part_of(const machine *m, uint32_t i) {
    const void *part;
    memcpy(&part, (const char *)m + parts[i].pointer, sizeof part);
    return part;
}

/* Returns the bytes of a machine. With memory, makes its components in it, or takes over those of a byte copy. */
static size_t build(machine *m, unsigned char *memory, int adopt) {
    size_t at = (sizeof(state) + 7) / 8 * 8, bytes;
    gpump_diag diag;
    m->host = (state *)(void *)memory;
    if (memory && !adopt) memset(m->host, 0, sizeof *m->host);
    for (uint32_t i = 0; i < PARTS; i++) {
        const struct part *p = &parts[i];
        void *part = (char *)m + p->pointer;
        must(gpump_bytes(p->component, p->config, &bytes, &diag), &diag, p->name);
        if (memory && adopt)
            must(gpump_adopt(p->component, memory + at, bytes, p->config, part, &diag), &diag, p->name);
        if (memory && !adopt)
            must(gpump_init(p->component, memory + at, bytes, p->config, part, &diag), &diag, p->name);
        at += (bytes + 7) / 8 * 8;
    }
    return at;
}

static uint64_t hash_machine(const machine *m) {
    uint64_t hash = gpump_hash_u64(GPUMP_HASH_SEED, m->host->now);
    for (uint32_t i = 0; i < PARTS; i++) hash = gpump_hash_u64(hash, gpump_hash(parts[i].component, part_of(m, i)));
    return hash;
}

/* The counters of the SM, the scheduler and the pipeline up to now; the other parts keep none. */
enum { COUNTING = 3 };
typedef struct counters {
    uint64_t values[COUNTING][64];
} counters;
static void count(const machine *m, counters *now) {
    for (uint32_t i = 0; i < COUNTING; i++)
        must(gpump_get_statistics(parts[i].component, part_of(m, i), now->values[i]), NULL, parts[i].name);
}
static void print_counters(const counters *before, const counters *after) {
    for (uint32_t i = 0; i < COUNTING; i++) {
        uint64_t difference[64], value;
        const char *name, *unit;
        gpump_statistics_diff(parts[i].component, before->values[i], after->values[i], difference);
        for (uint32_t k = 0;
             gpump_statistics_field(parts[i].component, difference, k, &name, &unit, NULL, &value) == GPUMP_OK; k++)
            if (value) printf("  %s.%s %lu %s\n", parts[i].name, name, (unsigned long)value, unit);
    }
}

/* What the scheduler needs: kernels are set up at once, and blocks start, or come back from their contexts. */
static void schedule(machine *m) {
    state *s = m->host;
    gpump_scheduler_action a;
    gpump_diag diag;
    while (gpump_scheduler_next(m->scheduler, gpump_scheduler_find("ppq"), s->now, &a) == GPUMP_OK) {
        if (a.kind == GPUMP_SCHEDULER_KERNEL_START)
            must(gpump_context_pool_open(m->pool, a.kernel), NULL, "gpump_context_pool_open");
        else if (a.kind == GPUMP_SCHEDULER_KERNEL_DONE)
            s->kernels_done++;
        else if (a.kind == GPUMP_SCHEDULER_SETUP)
            must(gpump_scheduler_report_ready(m->scheduler, s->now, a.sm), NULL, "gpump_scheduler_report_ready");
        else if (a.kind == GPUMP_SCHEDULER_ISSUE) {
            uint64_t cookie = a.saved ? a.handle : a.kernel_cookie * BLOCKS + a.index;
            block *b = &s->blocks[cookie];
            gpump_sm_request request = {cookie, a.kernel, 0, {256, 256 * 24, 4096}, a.kernel, 0, 0};
            must(gpump_sm_place(m->sm, s->now, &request, a.saved ? &b->history : NULL, &b->sm_name, &diag), &diag,
                 "gpump_sm_place");
            b->scheduler_name = a.block;
            s->here[b->sm_name.slot] = (uint32_t)cookie + 1;
        } else if (a.kind == GPUMP_SCHEDULER_PREEMPT) {
            gpump_block_choice choices[64];
            gpump_block_view view[64];
            uint32_t count = 0;
            must(gpump_sm_blocks(m->sm, s->now, view, 64, &count), NULL, "gpump_sm_blocks");
            memset(choices, 0, sizeof choices);
            for (uint32_t i = 0; i < count; i++) {
                choices[i].block = view[i].block;
                choices[i].technique = GPUMP_TECHNIQUE_SWITCH;
            }
            must(gpump_sm_preempt(m->sm, s->now, choices, count, &diag), &diag, "gpump_sm_preempt");
        }
    }
}

/* What the SM needs: a stopped block has nothing in flight here; its context passes the spill pipeline. */
static void carry_out(machine *m) {
    state *s = m->host;
    gpump_spill_warp warps[8];
    gpump_context_room room;
    gpump_sm_action a;
    gpump_diag diag;
    while (gpump_sm_next(m->sm, s->now, &a) == GPUMP_OK) {
        block *b = &s->blocks[a.cookie];
        uint32_t job;
        for (uint32_t w = 0; w < a.warps; w++) {
            gpump_spill_warp one = {s->now, s->now, 24, 24 * 128};
            warps[w] = one;
        }
        switch (a.kind) {
        case GPUMP_SM_ACTION_STOP:
            must(gpump_sm_report_waits(m->sm, s->now, a.block, 0), NULL, "gpump_sm_report_waits");
            break;
        case GPUMP_SM_ACTION_SAVE:
            room = gpump_context_pool_room(m->pool, a.kernel);
            must(gpump_context_pool_take(m->pool, a.kernel, a.bytes, &b->context), NULL, "gpump_context_pool_take");
            must(gpump_spill_save(m->spill, s->now, a.cookie, a.warps, a.shared_bytes, 128, &room, &job), NULL,
                 "gpump_spill_save");
            for (uint32_t w = 0; w < a.warps; w++)
                must(gpump_spill_report_drained(m->spill, s->now, job, &warps[w]), NULL, "gpump_spill_report_drained");
            break;
        case GPUMP_SM_ACTION_RESTORE:
            must(gpump_spill_restore(m->spill, s->now, a.cookie, warps, a.warps, a.shared_bytes, 128, &job), NULL,
                 "gpump_spill_restore");
            break;
        case GPUMP_SM_ACTION_FREED:
            s->here[a.block.slot] = 0;
            b->history = a.history;
            if (a.why == GPUMP_BLOCK_DONE)
                must(gpump_scheduler_report_finished(m->scheduler, s->now, 0, b->scheduler_name), &diag, "finished");
            else
                must(gpump_scheduler_report_preempted(m->scheduler, s->now, 0, b->scheduler_name, a.cookie), &diag,
                     "preempted");
            break;
        default: break;
        }
    }
}

/* One segment of a context passes the memory port; kernel 0 of the meter is the traffic of contexts. */
static void move_contexts(machine *m) {
    state *s = m->host;
    gpump_spill_action a;
    if (gpump_spill_next(m->spill, s->now, &a)) return;
    if (a.kind == GPUMP_SPILL_WRITE || a.kind == GPUMP_SPILL_READ) {
        gpump_meter_report_dram(m->meter, 0, a.kind == GPUMP_SPILL_WRITE, a.bytes);
        must(gpump_spill_report_moved(m->spill, s->now, a.job, 1), NULL, "gpump_spill_report_moved");
    } else if (a.kind == GPUMP_SPILL_DONE) {
        block *b = &s->blocks[a.cookie];
        if (gpump_sm_state(m->sm, b->sm_name.slot) == GPUMP_BLOCK_SAVING) {
            must(gpump_sm_report_saved(m->sm, s->now, b->sm_name), NULL, "gpump_sm_report_saved");
        } else {
            must(gpump_sm_report_restored(m->sm, s->now, b->sm_name), NULL, "gpump_sm_report_restored");
            must(gpump_context_pool_give(m->pool, b->context), NULL, "gpump_context_pool_give");
        }
    }
}

/* Runs to cycle `until`, or until both kernels are done. */
static void run(machine *m, uint64_t until) {
    state *s = m->host;
    gpump_diag diag;
    for (; s->now < until && s->kernels_done < 2; s->now++) {
        if (s->now == 0 || s->now == 300) {
            uint32_t urgent = s->now == 300;
            gpump_scheduler_command command = {urgent, BLOCKS, urgent, SLOTS, SLOTS, 0};
            must(gpump_scheduler_submit(m->scheduler, s->now, urgent, &command, &diag), &diag, "submit");
        }
        schedule(m);
        carry_out(m);
        move_contexts(m);
        uint32_t kernels = 0; /* bits: kernels with a block on the SM */
        for (uint32_t slot = 0; slot < sm_config.entries; slot++)
            if (s->here[slot]) kernels |= 1u << (s->here[slot] - 1) / BLOCKS;
        for (; kernels; kernels &= kernels - 1)
            gpump_meter_report_resident(m->meter, 1 + gpump_bits_lowest64(kernels), 1);
        for (uint32_t slot = 0; slot < sm_config.entries; slot++) {
            block *b;
            if (!s->here[slot] || !gpump_sm_may_issue(m->sm, slot)) continue;
            b = &s->blocks[s->here[slot] - 1];
            must(gpump_sm_report_executed(m->sm, b->sm_name, 1), NULL, "gpump_sm_report_executed");
            gpump_meter_report_issued(m->meter, 1 + (s->here[slot] - 1) / BLOCKS, 1);
            if (++b->executed == INSTRUCTIONS)
                must(gpump_sm_report_done(m->sm, s->now, b->sm_name), NULL, "gpump_sm_report_done");
        }
    }
}

/* Prints the SRAM that each component takes on the chip. */
static void print_bits(void) {
    gpump_victim_config victim_config = {0};
    gpump_diag diag;
    uint64_t value = 0;
    for (uint32_t i = 0; i < PARTS; i++) {
        must(gpump_bits(parts[i].component, parts[i].config, &value, &diag), &diag, parts[i].name);
        printf("%-10s %8lu bits of SRAM\n", parts[i].name, (unsigned long)value);
    }
    must(gpump_preset(&gpump_victim_component, &victim_config, "gtx480_lin", &diag), &diag, "victim");
    must(gpump_bits(&gpump_victim_component, &victim_config, &value, &diag), &diag, "gpump_bits");
    printf("%-10s %8lu bits of SRAM\n", "victim", (unsigned long)value);
    printf("%-10s %8lu bits of SRAM for each kernel\n", "history", (unsigned long)gpump_cost_history_bits());
}

/* Two processes: the second one has the higher priority. */
static void open_processes(machine *m) {
    gpump_diag diag;
    for (uint32_t i = 0; i < 2; i++) {
        gpump_scheduler_process process = {i, 4096, i, 1};
        uint32_t row;
        must(gpump_scheduler_open(m->scheduler, 0, &process, &row, &diag), &diag, "gpump_scheduler_open");
    }
}

int main(void) {
    machine first, second;
    unsigned char *memory, *copy;
    size_t bytes;
    gpump_diag diag;
    static counters before, after;
    gpump_sm_statistics ended;
    gpump_traffic traffic[3];
    uint64_t middle;
    int is_wrong;

    must(gpump_preset(&gpump_sm_component, &sm_config, "gtx480_lin", &diag), &diag, "sm");
    must(gpump_preset(&gpump_scheduler_component, &scheduler_config, "gtx480_lin", &diag), &diag, "scheduler");
    must(gpump_preset(&gpump_spill_component, &spill_config, "gtx480_lin", &diag), &diag, "spill");
    must(gpump_preset(&gpump_meter_component, &meter_config, "gtx480_lin", &diag), &diag, "meter");
    sm_config.kernels = meter_config.kernels = scheduler_config.active_kernels = 2;
    scheduler_config.sms = 1;
    scheduler_config.blocks_per_sm = scheduler_config.saved_blocks = SLOTS;
    bytes = build(&first, NULL, 0);
    memory = (unsigned char *)malloc(bytes); /* 8-byte aligned, as malloc does */
    copy = (unsigned char *)malloc(bytes);
    if (!memory || !copy) return 1;
    build(&first, memory, 0);
    print_bits();
    open_processes(&first);

    /* 1. Stop in the middle of the switch. A checkpoint is a byte copy. */
    run(&first, 500);
    printf("cycle 500: %u of %u contexts are free\n", (unsigned)gpump_context_pool_room(first.pool, 1).contexts, SLOTS);
    memcpy(copy, memory, bytes);
    middle = hash_machine(&first);
    count(&first, &before);
    must(gpump_meter_window(first.meter, 500, traffic, 3), NULL, "gpump_meter_window");
    printf("until then %lu bytes of contexts were written\n", (unsigned long)traffic[0].dram_written_bytes);
    run(&first, 100000);

    /* 2. Take over the copy. The checks are for bytes that came from outside, such as a file. */
    build(&second, copy, 1);
    for (uint32_t i = 0; i < PARTS - 1; i++) /* the meter has nothing that could contradict itself */
        must(gpump_check(parts[i].component, part_of(&second, i), &diag), &diag, parts[i].name);
    if (hash_machine(&second) != middle) return 1;
    must(gpump_meter_window(second.meter, 500, traffic, 3), NULL, "gpump_meter_window");
    run(&second, 100000);
    printf("both end at cycles %lu and %lu, with equal hashes: %s\n", (unsigned long)first.host->now,
           (unsigned long)second.host->now, hash_machine(&first) == hash_machine(&second) ? "yes" : "no");

    /* 3. What happened after the checkpoint. */
    count(&second, &after);
    must(gpump_get_statistics(&gpump_sm_component, second.sm, &ended), NULL, "sm");
    print_counters(&before, &after);
    for (uint32_t i = 0; i < 2; i++) {
        must(gpump_scheduler_close(first.scheduler, first.host->now, i), NULL, "gpump_scheduler_close");
        must(gpump_scheduler_close(second.scheduler, second.host->now, i), NULL, "gpump_scheduler_close");
    }
    is_wrong = hash_machine(&first) != hash_machine(&second) || ended.saved != SLOTS || ended.done != 2 * BLOCKS;
    free(memory);
    free(copy);
    return is_wrong;
}
