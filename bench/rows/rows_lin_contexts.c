/* link: minigpu_core */
/* Lin 2.3 and 2.5: how small contexts become, and how fast a preempted SM releases its blocks, from real values of our
 * kernels.
 *
 * A kernel is launched repeatedly. Every 10,000 cycles one SM is preempted, in turn, while the others run on. Each
 * preemption happens in forked copies of the machine, one for each technique, so it never disturbs the run:
 *
 * - naive: warps stop at once, and everything that they occupy is written
 * - selective: warps run on to their preemption point (K = 100), and what is live there is written, compressed
 * - draining: blocks run to their end
 *
 * In the copy each warp is observed: when it reaches its point, when it has drained, which registers are live, how they
 * compress. The spilling pipeline (gpump_spill) then gives the time at the SM's share of the memory bandwidth. As in
 * Fig. 2.15, latency = spilling (the pipeline writes) + draining (the pipeline waits for warps).
 *
 * Every number exists twice: with the footprints of our kernels, and, where our block is as large as the paper's, with
 * the registers and shared memory of Table 2.2. Kernels that do not fit these are left out: GT200 code has 32-bit
 * addresses, PTX 64-bit ones. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preemption/context_forms.h"
#include "machine/machine.h"
#include "preemption/preemption.h"
#include "reproduce.h"

enum {
    SIGNAL_CYCLES = 10000,
    POINT_INTERVAL = 100,
    BLOCKS = 8,
    WARPS = 32,
    SIGNALS = 24,
    SIGNALS_SHORT = 3,
    SIGNALS_LEAST = 15, /* of a kernel that is not launched again (Fig. 2.16) */
    GIVE_UP = 2000000
};

/* The kernels of Lin's Table 2.2 that we have, with the table's registers per warp and shared memory per block. */
typedef struct subject {
    const char *label, *folder;
    uint32_t has_barrier;
} subject;
static const subject subjects[] = {
    {"BP_1", "backprop_layer_forward", 1},
    {"BP_2", "backprop_adjust_weights", 1},
    {"BFS_1", "bfs_1", 0},
    {"BFS_2", "bfs_2", 0},
    {"BT_1", "btree_find_range_k", 1},
    {"BT_2", "btree_find_k", 1},
    {"CFD_2", "cfd_step_factor", 0},
    {"CFD_3", "cfd_compute_flux", 0},
    {"DWT_1", "dwt2d_copy", 1},
    {"DWT_2", "dwt2d_fdwt53", 1},
    {"HW_1", "heartwall", 1},
    {"HS_1", "hotspot", 1},
    {"HG_1", "histogram", 1},
    {"KM_1", "kmeans_invert_mapping", 0},
    {"LUD_1", "lud_diagonal", 1},
    {"LUD_2", "lud_perimeter", 1},
    {"LUD_3", "lud_internal", 1},
    {"SR_2", "srad_1", 1},
    {"PF_1", "pathfinder", 1},
    {"SC_1", "streamcluster", 0},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

typedef struct warp_sample {
    uint32_t ended;           /* 1: it ended before it stopped */
    uint32_t point, drained;  /* cycles after the signal */
    uint32_t registers, live; /* vector registers that the warp occupies, and live ones */
    uint32_t packed;          /* bytes of the live registers, compressed, with patterns */
    uint32_t values;          /* bytes of the live registers, compressed, without patterns */
    uint32_t stack;           /* bytes of its SIMT stack, 12 per entry */
    uint32_t at_barrier;
    uint32_t high; /* live registers that are the upper half of a 64-bit value somewhere in the kernel */
} warp_sample;
typedef struct block_sample {
    uint32_t warps;
    uint32_t register_base, registers, shared_base, shared_bytes;
    uint32_t together;              /* 1: all its warps are at a barrier; then: */
    uint32_t warp_form, block_form; /* bytes of its registers by warp-level and by block-level compression */
    warp_sample warp[WARPS];
} block_sample;
typedef struct shot {
    uint32_t ok, blocks;
    uint32_t end; /* draining: cycles until the last block has ended */
    /* Cycles until the last block has left, its context through the machine's memory path, among the other SMs'
     * traffic: naive in whole, else compressed. */
    uint32_t freed;
    block_sample block[BLOCKS];
} shot;
enum { WAY_NAIVE, WAY_SELECTIVE, WAY_DRAINING, WAY_CHOOSE };

/* ==== in the copy ==== */

typedef struct watched {
    uint32_t index;
    uint64_t life;
} watched;

static void note_high(const operand *o, uint64_t high[CONTEXT_LIVE_WORDS]) {
    if (o->kind == OPERAND_REGISTER && o->words == 2) gpump_bits_set(high, o->index + 1);
}

static uint32_t live_high(const kernel_program *program, const uint64_t live[CONTEXT_LIVE_WORDS]) {
    uint64_t high[CONTEXT_LIVE_WORDS];
    uint32_t i, n, count = 0;
    memset(high, 0, sizeof high);
    for (i = 0; i < program->count; i++) {
        const instruction *in = &program->instructions[i];
        for (n = 0; n < in->destination_count; n++) note_high(&in->destinations[n], high);
        for (n = 0; n < in->source_count; n++) note_high(&in->sources[n], high);
    }
    for (i = 0; i < CONTEXT_LIVE_WORDS; i++) count += gpump_bits_count64(high[i] & live[i]);
    return count;
}

static void measure_warp(machine *m, const block *b, const warp *w, warp_sample *sample) {
    const kernel *k = &m->kernels[b->kernel];
    uint64_t live[CONTEXT_LIVE_WORDS];
    gpump_compress_layout layout;
    gpump_compress_counts counts;
    uint32_t groups;
    sample->registers = k->need.registers / (k->warps * LANES); /* what it is given, used or not */
    sample->stack = 12 * w->stack.depth;
    sample->at_barrier = w->barrier != NONE || k->program->instructions[simt_top(&w->stack)->pc].opcode == OPCODE_BAR;
    context_live(m->views[b->kernel], k, w, live);
    sample->live = gpump_bits_count(live, CONTEXT_LIVE_WORDS);
    sample->high = live_high(k->program, live);
    if (gpump_compress_layout_init(&layout, k->need.threads, k->registers, LANES, k->launch->block[0], NULL) !=
        GPUMP_OK)
        return;
    if (w->index + 1u < layout.warps) layout.last_lanes = layout.lanes;
    layout.warps = 1;
    if (gpump_compress_count(&layout, warp_registers(m, b, w), live, GPUMP_COMPRESS_PAPER, &counts, NULL) != GPUMP_OK)
        return;
    groups = (layout.last_lanes + layout.group - 1) / layout.group;
    sample->packed = (uint32_t)counts.bytes[GPUMP_COMPRESS_FORM_WARP];
    sample->values = counts.warp[GPUMP_COMPRESS_UNIFORM] * groups * 4 +
                     counts.warp[GPUMP_COMPRESS_STRIDED] * groups * 8 +
                     counts.warp[GPUMP_COMPRESS_RANDOM] * layout.last_lanes * 4;
}

/* All of its warps stand at a barrier: what block-level compression makes of them. */
static void measure_block(machine *m, const block *b, block_sample *sample) {
    const kernel *k = &m->kernels[b->kernel];
    uint64_t live[WARPS][CONTEXT_LIVE_WORDS], packed[WARPS * CONTEXT_LIVE_WORDS];
    uint32_t i, n, words = gpump_bits_words(k->registers);
    gpump_compress_layout layout;
    gpump_compress_counts counts;
    for (i = 0; i < sample->warps; i++)
        if (sample->warp[i].ended || !sample->warp[i].at_barrier) return;
    for (i = 0; i < sample->warps; i++) {
        context_live(m->views[b->kernel], k, &m->warps[b->warps[i]], live[i]);
        for (n = 0; n < words; n++) packed[i * words + n] = live[i][n];
    }
    if (gpump_compress_layout_init(&layout, k->need.threads, k->registers, LANES, k->launch->block[0], NULL) !=
        GPUMP_OK)
        return;
    layout.live_stride = words;
    if (gpump_compress_count(&layout, warp_registers(m, b, &m->warps[b->warps[0]]), packed, GPUMP_COMPRESS_PAPER,
                             &counts, NULL) != GPUMP_OK)
        return;
    sample->together = 1;
    sample->warp_form = (uint32_t)counts.bytes[GPUMP_COMPRESS_FORM_WARP];
    sample->block_form = (uint32_t)counts.bytes[GPUMP_COMPRESS_FORM_BLOCK];
}

/* Observations until every block has left. */
typedef struct watching {
    watched blocks[BLOCKS];
    uint8_t seen[BLOCKS][WARPS], done[BLOCKS][WARPS]; /* at its point; drained or ended */
    uint64_t start;
} watching;

/* Finds the running blocks of an SM. */
static void find_blocks(const machine *m, const sm *s, watching *w, shot *out) {
    uint32_t entry;
    for (entry = 0; entry < BLOCK_ENTRIES_MAX && out->blocks < BLOCKS; entry++) {
        const block *b;
        block_sample *sample = &out->block[out->blocks];
        if (s->block_of_entry[entry] == NONE) continue;
        b = &m->blocks[s->block_of_entry[entry]];
        if (gpump_sm_state(s->gpump, entry) != GPUMP_BLOCK_RUNNING || b->warp_count > WARPS) continue;
        w->blocks[out->blocks].index = s->block_of_entry[entry];
        w->blocks[out->blocks++].life = b->life;
        sample->warps = b->warp_count;
        sample->register_base = b->register_base;
        sample->registers = m->kernels[b->kernel].need.registers;
        sample->shared_base = b->shared_base;
        sample->shared_bytes = m->kernels[b->kernel].need.shared_bytes;
    }
}

/* Observes warp n of block i. Returns 1 while the warp has neither drained nor ended. */
static uint32_t look_at_warp(machine *m, watching *watching, shot *out, uint32_t way, uint32_t i, uint32_t n) {
    block *b = &m->blocks[watching->blocks[i].index];
    warp_sample *sample = &out->block[i].warp[n];
    const warp *w = &m->warps[b->warps[n]];
    const uint32_t elapsed = (uint32_t)(m->now - watching->start);
    if (watching->done[i][n]) return 0;
    if (b->life != watching->blocks[i].life || !w->stack.depth) {
        sample->ended = watching->done[i][n] = 1;
        sample->drained = elapsed;
        return 0;
    }
    if (way == WAY_DRAINING || !gpump_warp_gate_closed_by(w->gate, GPUMP_WARP_ISSUE, GPUMP_WARP_PREEMPTION)) return 1;
    if (!watching->seen[i][n]) sample->point = elapsed;
    watching->seen[i][n] = 1;
    if (w->in_flight || w->stores || b->atomics) return 1;
    sample->drained = elapsed;
    measure_warp(m, b, w, sample);
    watching->done[i][n] = 1;
    return 0;
}

/* Observes every warp. Returns the number of warps that have neither drained nor ended. */
static uint32_t look(machine *m, watching *watching, shot *out, uint32_t way) {
    uint32_t i, n, left = 0;
    for (i = 0; i < out->blocks; i++) {
        const block *b = &m->blocks[watching->blocks[i].index];
        uint32_t pending = 0, complete = 1;
        for (n = 0; n < out->block[i].warps; n++) complete &= watching->done[i][n];
        if (complete) continue;
        for (n = 0; n < out->block[i].warps; n++) pending += look_at_warp(m, watching, out, way, i, n);
        left += pending;
        if (!pending && way == WAY_SELECTIVE && b->life == watching->blocks[i].life)
            measure_block(m, b, &out->block[i]);
    }
    return left;
}

/* Preempts an SM of this copy and observes it. */
static void shoot(machine *m, sm *s, uint32_t way, shot *out) {
    watching watching;
    uint32_t i, left;
    memset(out, 0, sizeof *out);
    memset(&watching, 0, sizeof watching);
    watching.start = m->now;
    find_blocks(m, s, &watching, out);
    if (!out->blocks) return;
    m->stop_at_points = way == WAY_SELECTIVE ? 1 : way == WAY_CHOOSE ? 2 : 0;
    m->context_form = way == WAY_NAIVE ? CONTEXT_NAIVE : CONTEXT_LIVE_COMPRESS;
    if (preemption_request(m, s, way == WAY_DRAINING ? GPUMP_TECHNIQUE_DRAIN : GPUMP_TECHNIQUE_SWITCH, 0, 0) !=
        GPUMP_REASON_YES)
        return;
    do {
        left = look(m, &watching, out, way);
        if (!left || m->now - watching.start > GIVE_UP) break;
    } while (machine_run(m, m->now + (way == WAY_DRAINING ? 8 : 1)) == 0);
    out->end = (uint32_t)(m->now - watching.start);
    for (left = way != WAY_DRAINING; left && !m->failed && m->now - watching.start < GIVE_UP;) {
        for (left = i = 0; i < out->blocks; i++)
            left += m->blocks[watching.blocks[i].index].life == watching.blocks[i].life;
        if (left && machine_run(m, m->now + 4) != 0) break;
    }
    out->freed = (uint32_t)(m->now - watching.start);
    out->ok = !m->failed && (!left || m->kernels_done == m->kernel_count);
}

/* Forks, preempts in the copy, reads the answer. Returns 0 without an answer. */
static int take_shot(machine *m, sm *s, uint32_t way, shot *out) {
    int ends[2], status;
    size_t got = 0;
    pid_t pid;
    if (pipe(ends)) return 0;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        size_t sent = 0;
        close(ends[0]);
        shoot(m, s, way, out);
        while (sent < sizeof *out) {
            ssize_t n = write(ends[1], (const char *)out + sent, sizeof *out - sent);
            if (n <= 0) break;
            sent += (size_t)n;
        }
        _exit(0);
    }
    close(ends[1]);
    while (pid > 0 && got < sizeof *out) {
        ssize_t n = read(ends[0], (char *)out + got, sizeof *out - got);
        if (n <= 0) break;
        got += (size_t)n;
    }
    close(ends[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return 0;
    return got == sizeof *out && out->ok;
}

/* ==== the pipeline ==== */

typedef struct timing {
    double latency, busy, drain; /* cycles; busy: the pipeline writes, drain: it waits */
    double bytes;
} timing;

enum { SAVE_ALL, SAVE_LIVE, SAVE_PACKED };

/* The blocks that are saved, and the port that they are saved through. */
typedef struct spilling {
    gpump_spill *spill;
    const shot *shot;
    const uint32_t *give_up; /* of each block: the parts that are saved; NULL: all */
    uint32_t what, jobs[BLOCKS], alive;
    uint8_t told[BLOCKS][WARPS];
    uint64_t last_drained, next_report, port_free, port_since, port_bytes, bytes, end;
} spilling;

static uint32_t parts_of(const spilling *r, uint32_t block) { return r->give_up ? r->give_up[block] : 3u; }

/* Opens a job for every block that has warps left. */
static void open_jobs(spilling *r) {
    uint32_t i, n;
    for (i = 0; i < r->shot->blocks; i++) {
        const block_sample *b = &r->shot->block[i];
        uint32_t stopped = 0, metadata = 0;
        for (n = 0; n < b->warps; n++) {
            if (b->warp[n].drained > r->last_drained) r->last_drained = b->warp[n].drained;
            if (b->warp[n].ended) continue;
            stopped++;
            metadata += b->warp[n].stack;
        }
        if (!stopped) continue;
        r->alive++;
        (void)gpump_spill_save(r->spill, 0, i, stopped, parts_of(r, i) & 2u ? b->shared_bytes : 0, metadata, NULL,
                               &r->jobs[i]);
    }
}

static void report_drained(spilling *r, uint64_t now, uint32_t block, const warp_sample *w) {
    const uint32_t has_registers = parts_of(r, block) & 1u;
    gpump_spill_warp out;
    out.point_cycle = w->point;
    out.drained_cycle = w->drained;
    out.registers = !has_registers ? 0 : r->what == SAVE_ALL ? w->registers : w->live;
    out.bytes = !has_registers         ? 0
                : r->what == SAVE_ALL  ? w->registers * 128
                : r->what == SAVE_LIVE ? w->live * 128
                                       : w->packed;
    if (out.bytes && !out.registers) out.registers = 1; /* only patterns */
    (void)gpump_spill_report_drained(r->spill, now, r->jobs[block], &out);
}

/* Reports the warps that have drained by now. */
static void report_all_drained(spilling *r, uint64_t now) {
    uint32_t i, n;
    if (now < r->next_report) return;
    r->next_report = UINT64_MAX;
    for (i = 0; i < r->shot->blocks; i++)
        for (n = 0; n < r->shot->block[i].warps; n++) {
            const warp_sample *w = &r->shot->block[i].warp[n];
            if (w->ended || r->told[i][n]) continue;
            if (w->drained > now) {
                if (w->drained < r->next_report) r->next_report = w->drained;
                continue;
            }
            r->told[i][n] = 1;
            report_drained(r, now, i, w);
        }
}

/* Moves the segments for which the port has time in this cycle. */
static void move(spilling *r, const gpump_gpu *gpu, uint64_t now) {
    gpump_spill_action action;
    while (r->port_free <= now && gpump_spill_next(r->spill, now, &action) == GPUMP_OK) {
        if (action.kind == GPUMP_SPILL_DONE) {
            r->alive--;
            continue;
        }
        if (now > r->port_free || !r->port_bytes) r->port_since = now, r->port_bytes = 0;
        r->port_bytes += action.bytes;
        r->bytes += action.bytes;
        r->port_free = r->port_since + gpump_gpu_save_cycles(gpu, r->port_bytes);
        r->end = r->port_free;
        (void)gpump_spill_report_moved(r->spill, now, action.job, 1);
    }
}

/* Returns the time in which the SM releases the parts in give_up of each block (NULL: all parts). */
static timing spill_time(const gpump_gpu *gpu, const shot *shot, uint32_t what, const uint32_t *give_up) {
    gpump_spill_config config;
    spilling r;
    uint64_t now;
    size_t size;
    timing result;
    memset(&result, 0, sizeof result);
    memset(&r, 0, sizeof r);
    r.shot = shot;
    r.give_up = give_up;
    r.what = what;
    if (gpump_preset(&gpump_spill_component, &config, "gtx480_lin", NULL) != GPUMP_OK) return result;
    config.warps = 256;
    config.outstanding = 65536;
    if (what != SAVE_PACKED) config.compress_cycles = 0;
    if (gpump_bytes(&gpump_spill_component, &config, &size, NULL) != GPUMP_OK ||
        gpump_init(&gpump_spill_component, malloc(size), size, &config, &r.spill, NULL) != GPUMP_OK)
        return result;
    open_jobs(&r);
    for (now = 0; r.alive && now < GIVE_UP; now++) {
        report_all_drained(&r, now);
        move(&r, gpu, now);
    }
    free(r.spill);
    if (r.last_drained > r.end) r.end = r.last_drained;
    result.latency = (double)r.end;
    result.bytes = (double)r.bytes;
    result.busy = (double)gpump_gpu_save_cycles(gpu, r.bytes);
    result.drain = result.latency - result.busy;
    return result;
}

#ifndef STOP_OR_RUN
/* Returns the time in which the SM restores what naive or selective preemption has saved, block after block through its
 * port. *first: until the first warp may run. */
static double restore_time(const gpump_gpu *gpu, const shot *shot, uint32_t what, double *first) {
    enum { PORT_BYTES = 1 << 20 };
    gpump_spill_config config;
    gpump_spill_times times;
    gpump_spill_transfer transfer;
    gpump_spill_warp warps[WARPS];
    uint32_t i, n;
    memset(&times, 0, sizeof times);
    memset(&transfer, 0, sizeof transfer);
    *first = 0;
    if (gpump_preset(&gpump_spill_component, &config, "gtx480_lin", NULL) != GPUMP_OK) return 0;
    if (what != SAVE_PACKED) config.compress_cycles = 0;
    transfer.port.bytes = PORT_BYTES;
    transfer.port.cycles = gpump_gpu_save_cycles(gpu, PORT_BYTES);
    transfer.warps = warps;
    for (i = 0; i < shot->blocks; i++) {
        const block_sample *b = &shot->block[i];
        transfer.count = transfer.metadata_bytes = 0;
        for (n = 0; n < b->warps; n++) {
            const warp_sample *w = &b->warp[n];
            gpump_spill_warp *back = &warps[transfer.count];
            if (w->ended) continue;
            memset(back, 0, sizeof *back);
            back->registers = what == SAVE_ALL ? w->registers : w->live;
            back->bytes = what == SAVE_ALL ? w->registers * 128 : what == SAVE_LIVE ? w->live * 128 : w->packed;
            if (back->bytes && !back->registers) back->registers = 1; /* only patterns */
            transfer.metadata_bytes += w->stack;
            transfer.count++;
        }
        if (!transfer.count) continue;
        transfer.shared_bytes = b->shared_bytes;
        if (gpump_spill_restore_time(&config, &transfer, &times, NULL) != GPUMP_OK) return 0;
        if (!*first) *first = (double)times.first_warp;
        transfer.start_cycle = times.end;
    }
    return (double)times.end;
}
#endif

/* ==== the experiment ==== */

/* Makes a subject's path. long.yaml runs for 15 signals where the other launches do not; measure.yaml has at least
 * three waves of blocks where launch.yaml has fewer. */
static void subject_path(const subject *subject, int lengthy, char *path, size_t bytes) {
    static const char *const names[] = {"long", "measure", "launch"};
    uint32_t i = lengthy ? 0 : 1;
    do snprintf(path, bytes, "%s/kernels/%s/%s.yaml", MINIGPU_SOURCE_DIR, subject->folder, names[i]);
    while (access(path, R_OK) && ++i < 3);
}

static int by_value(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sets the times of the signals within one run of a kernel. A kernel that ends before 15 signals is launched
 * repeatedly. *signals: the most signals, and then their number. Returns the length of that run, or 0 when it does not
 * end. The machine is at its beginning afterwards. */
static uint64_t signal_times(machine *m, uint64_t *times, uint32_t *signals) {
    void *beginning = arena_checkpoint(&m->arena);
    uint64_t length = beginning && machine_run(m, NEVER) == 1 ? m->now : 0;
    uint32_t n;
    if (beginning) arena_restore(&m->arena, beginning);
    free(beginning);
    if (length > SIGNALS_LEAST * SIGNAL_CYCLES && length <= *signals * (uint64_t)SIGNAL_CYCLES)
        *signals = (uint32_t)((length - 1) / SIGNAL_CYCLES);
    for (n = 0; n < *signals; n++) times[n] = length ? (n + 1) * (uint64_t)SIGNAL_CYCLES % length : 0;
    qsort(times, *signals, sizeof *times, by_value);
    return length;
}

/* Returns the SM of this turn, or the next SM with blocks. */
static sm *resident_sm(machine *m, uint32_t turn) {
    uint32_t n;
    for (n = 0; n < m->sm_count; n++)
        if (m->sms[(turn + n) % m->sm_count]->resident) return m->sms[(turn + n) % m->sm_count];
    return NULL;
}

static double geomean(const double *values, uint32_t count) {
    double sum = 0;
    uint32_t i;
    for (i = 0; i < count; i++) sum += log(values[i]);
    return count ? exp(sum / count) : 0;
}
static gpump_gpu gpu;
#ifndef STOP_OR_RUN /* the rest belongs to bench/reproduce */
typedef struct outcome {
    uint32_t signals, barrier_blocks;
    double occupied, live, packed, values, high; /* register bytes per warp, means */
    double busy_all, busy_live, busy_packed;     /* cycles, means over signals */
    double naive, selective, draining;           /* latencies, means */
    double worst_naive, worst_selective, worst_draining;
    double freed[2], worst_freed[2];                             /* naive, selective: through the memory path */
    double restore_all, restore_packed, first_all, first_packed; /* cycles, means */
    uint64_t length;                                             /* of one run, cycles */
    double drain_cycles;
    double warp_form, block_form; /* sums over blocks whose warps stood at a barrier */
    shot *shots;                  /* selective preemptions, for pairs */
    gpump_footprint need;
    uint32_t blocks_per_sm;
    char error[LAUNCH_ERROR_BYTES];
} outcome;

static double mean(const double *values, uint32_t count) {
    double sum = 0;
    uint32_t i;
    for (i = 0; i < count; i++) sum += values[i];
    return count ? sum / count : 0;
}

enum { OURS, PAPERS, FOOTPRINTS };
static outcome outcomes[FOOTPRINTS][SUBJECTS];
static int measured[SUBJECTS], footprints;

/* Returns the registers and shared memory of Table 2.2; 0: our block has another size. */
static int papers_footprint(const reproduce_context *context, const char *label, launch_kernel *k) {
    const uint32_t warps = (k->block[0] * k->block[1] * k->block[2] + LANES - 1) / LANES;
    char path[1024], error[256];
    csv_table table;
    size_t row;
    double value[3];
    int found = 0;
    snprintf(path, sizeof path, "%s/lin_table_2_2.csv", context->data_dir);
    if (!csv_read(&table, path, error, sizeof error)) return 0;
    for (row = 0; row < table.rows && !found; row++) {
        if (strcmp(csv_text(&table, row, "label"), label) != 0 || !csv_number(&table, row, "warps_per_tb", &value[0]) ||
            !csv_number(&table, row, "regs_per_warp", &value[1]) ||
            !csv_number(&table, row, "smem_per_tb_b", &value[2]) || (uint32_t)value[0] != warps)
            continue;
        k->override_registers = (uint32_t)value[1] * warps * LANES;
        k->override_shared_bytes = (uint32_t)value[2];
        found = 1;
    }
    csv_free(&table);
    return found;
}

/* Adds the times of one signal under all three techniques. */
static void add_times(outcome *out, const shot *naive, const shot *selective, const shot *draining, timing all,
                      timing live, timing packed) {
    uint32_t n;
    for (n = 0; n < 2; n++) {
        const double freed = n ? selective->freed : naive->freed;
        out->freed[n] += freed;
        if (freed > out->worst_freed[n]) out->worst_freed[n] = freed;
    }
    for (n = 0; n < 2; n++) {
        double first;
        *(n ? &out->restore_packed : &out->restore_all) +=
            restore_time(&gpu, n ? selective : naive, n ? SAVE_PACKED : SAVE_ALL, &first);
        *(n ? &out->first_packed : &out->first_all) += first;
    }
    out->busy_all += all.busy;
    out->busy_live += live.busy;
    out->busy_packed += packed.busy;
    out->naive += all.latency;
    out->selective += packed.latency;
    out->draining += draining->end;
    out->drain_cycles += packed.drain;
    if (all.latency > out->worst_naive) out->worst_naive = all.latency;
    if (packed.latency > out->worst_selective) out->worst_selective = packed.latency;
    if (draining->end > out->worst_draining) out->worst_draining = draining->end;
}

/* Adds the bytes of the contexts of one signal. Returns the number of warps with a context. */
static uint64_t add_contexts(outcome *out, const shot *selective) {
    uint64_t warps = 0;
    uint32_t n;
    for (n = 0; n < selective->blocks; n++) {
        const block_sample *b = &selective->block[n];
        uint32_t w;
        for (w = 0; w < b->warps; w++) {
            if (b->warp[w].ended) continue;
            warps++;
            out->occupied += b->warp[w].registers * 128.0;
            out->live += b->warp[w].live * 128.0;
            out->high += b->warp[w].high * 128.0;
            out->packed += b->warp[w].packed;
            out->values += b->warp[w].values;
        }
        if (b->together) {
            out->barrier_blocks++;
            out->warp_form += b->warp_form;
            out->block_form += b->block_form;
        }
    }
    return warps;
}

/* Divides the sums by signals and by warps. */
static void make_means(outcome *out, uint64_t warps) {
    if (out->signals) {
        const double by = 1.0 / out->signals;
        out->busy_all *= by, out->busy_live *= by, out->busy_packed *= by, out->naive *= by, out->selective *= by,
            out->draining *= by, out->drain_cycles *= by, out->freed[0] *= by, out->freed[1] *= by,
            out->restore_all *= by, out->restore_packed *= by, out->first_all *= by, out->first_packed *= by;
    }
    if (warps) {
        const double by = 1.0 / (double)warps;
        out->occupied *= by, out->live *= by, out->packed *= by, out->values *= by, out->high *= by;
    }
}

static void run_subject(const reproduce_context *context, const subject *subject, int footprint, outcome *out,
                        uint32_t signals) {
    char path[1024], error[LAUNCH_ERROR_BYTES] = "";
    machine_options options;
    launch_file launch;
    machine *m;
    uint64_t warps = 0, length, times[SIGNALS];
    uint32_t turn;
    gpump_occupancy occupancy;
    shot *naive = (shot *)malloc(sizeof *naive), *selective = (shot *)malloc(sizeof *selective),
         *draining = (shot *)malloc(sizeof *draining);
    out->shots = (shot *)calloc(signals, sizeof *out->shots);
    subject_path(subject, !context->is_short, path, sizeof path);
    machine_options_default(&options);
    options.gpu = "gtx480_lin";
    options.point_interval = POINT_INTERVAL;
    if (!naive || !selective || !draining || !out->shots) {
        snprintf(out->error, sizeof out->error, "out of memory");
    } else if (launch_file_read(&launch, path, error)) {
        snprintf(out->error, sizeof out->error, "%s", error);
    } else if (footprint == PAPERS && !papers_footprint(context, subject->label, &launch.kernels[0])) {
        snprintf(out->error, sizeof out->error, "its blocks have another size");
        launch_file_free(&launch);
    } else if (!(m = machine_build(&launch, &options, error))) {
        snprintf(out->error, sizeof out->error, "%s", error);
        launch_file_free(&launch);
    } else {
        const int spills = m->kernels[0].program->spill_bytes != 0;
        out->need = m->kernels[0].need;
        if (gpump_gpu_occupancy(&gpu, &out->need, &occupancy, NULL) == GPUMP_OK) out->blocks_per_sm = occupancy.blocks;
        out->length = length = signal_times(m, times, &signals);
        if (!length) snprintf(out->error, sizeof out->error, "its run did not end");
        if (footprint == PAPERS && spills) snprintf(out->error, sizeof out->error, "it would have to spill registers");
        for (turn = 0; !out->error[0] && turn < signals && machine_run(m, times[turn]) == 0; turn++) {
            sm *s = resident_sm(m, turn);
            timing all, live, packed;
            if (!s || !take_shot(m, s, WAY_NAIVE, naive) || !take_shot(m, s, WAY_SELECTIVE, selective) ||
                !take_shot(m, s, WAY_DRAINING, draining))
                continue;
            all = spill_time(&gpu, naive, SAVE_ALL, NULL);
            if (all.busy <= 0) continue;
            live = spill_time(&gpu, selective, SAVE_LIVE, NULL);
            packed = spill_time(&gpu, selective, SAVE_PACKED, NULL);
            add_times(out, naive, selective, draining, all, live, packed);
            warps += add_contexts(out, selective);
            out->shots[out->signals++] = *selective;
        }
        machine_free(m);
        launch_file_free(&launch);
    }
    free(naive);
    free(selective);
    free(draining);
    make_means(out, warps);
}

/* Measures a kernel. A row about one kernel runs that kernel alone. */
static void measure_subject(const reproduce_context *context, uint32_t i) {
    if (measured[i]) return;
    measured[i] = 1;
    footprints = context->is_short ? 1 : FOOTPRINTS;
    (void)gpump_preset(&gpump_gpu_component, &gpu, "gtx480_lin", NULL);
    for (int f = 0; f < footprints; f++)
        run_subject(context, &subjects[i], f, &outcomes[f][i], context->is_short ? SIGNALS_SHORT : SIGNALS);
}

static void measure_all(const reproduce_context *context) {
    for (uint32_t i = 0; i < SUBJECTS; i++) {
        reproduce_progress(context, (double)i / SUBJECTS, subjects[i].label);
        measure_subject(context, i);
    }
}

static const char *const footprint_names[FOOTPRINTS] = {"our footprints", "the paper's footprints"};

/* Notes which kernels are missing, and why: one list per reason. Paths are relative to the kernels' folder. */
static void note_missing(reproduce_result *result, int f) {
    uint32_t i, n;
    for (i = 0; i < SUBJECTS; i++) {
        const char *error = outcomes[f][i].error, *tail = strstr(error, "footprint:");
        char list[256];
        int listed = 0;
        if (!*error) continue;
        for (n = 0; n < i && strcmp(outcomes[f][n].error, error) != 0; n++) {}
        if (n < i) continue;
        list[0] = 0;
        for (n = i; n < SUBJECTS; n++)
            if (strcmp(outcomes[f][n].error, error) == 0)
                listed +=
                    snprintf(list + listed, sizeof list - (size_t)listed, "%s%s", listed ? " " : "", subjects[n].label);
        if (!tail) tail = strstr(error, "kernels/");
        reproduce_note(result, "left out with %s: %s (%s)", footprint_names[f], list, tail ? tail : error);
    }
}

static void note_samples(reproduce_result *result, int f, uint32_t kernels) {
    uint32_t i, signals = 0;
    for (i = 0; i < SUBJECTS; i++) { signals += outcomes[f][i].signals; }
    reproduce_note(result, "%s: %u kernels, %u signals", footprint_names[f], kernels, signals);
}

/* ---- rows ---- */

static void registers_removed(const reproduce_context *context, const char *id, reproduce_result *result) {
    int compressed = strcmp(id, "L.compress") == 0, f;
    measure_all(context);
    for (f = 0; f < footprints; f++) {
        double removed[SUBJECTS];
        uint32_t i, count = 0;
        for (i = 0; i < SUBJECTS; i++) {
            const outcome *o = &outcomes[f][i];
            if (o->occupied > 0) removed[count++] = 100 * (1 - (compressed ? o->packed : o->live) / o->occupied);
        }
        if (!count) {
            reproduce_failed(result, "no kernel could be measured");
            return;
        }
        reproduce_number(result, mean(removed, count), 1);
        if (f == OURS)
            reproduce_note(result, "mean over kernels of register bytes per warp at preemption points%s",
                           compressed ? ", pattern vectors counted" : "");
        note_samples(result, f, count);
        if (!compressed) note_missing(result, f);
    }
}

static void bp1(const reproduce_context *context, const char *id, reproduce_result *result) {
    int f;
    (void)id;
    measure_subject(context, 0);
    for (f = 0; f < footprints; f++) {
        const outcome *o = &outcomes[f][0];
        if (o->occupied <= 0) {
            if (f == OURS) reproduce_failed(result, "BP_1 could not be measured: %s", o->error);
            continue;
        }
        reproduce_number(result, o->live, 0);
        reproduce_number(result, o->values, 0);
        reproduce_reading(
            result, o->live - o->high, 0,
            "%s: without the upper halves of 64-bit addresses, which GT200 code has not (Table 2.2 counts "
            "its registers)",
            footprint_names[f]);
        reproduce_note(result,
                       "%s: of %.0f B occupied; with pattern vectors %.0f B; up to %.0f B of the live ones are upper "
                       "halves of 64-bit values, "
                       "which code with 32-bit addresses does not have; %u signals",
                       footprint_names[f], o->occupied, o->packed, o->high, o->signals);
    }
}

static void block_level(const reproduce_context *context, const char *id, reproduce_result *result) {
    int f;
    (void)id;
    measure_all(context);
    for (f = 0; f < footprints; f++) {
        double cut[SUBJECTS];
        uint32_t i, count = 0, blocks = 0;
        for (i = 0; i < SUBJECTS; i++) {
            const outcome *o = &outcomes[f][i];
            if (!o->barrier_blocks || o->warp_form <= 0) continue;
            cut[count++] = 100 * (1 - o->block_form / o->warp_form);
            blocks += o->barrier_blocks;
            if (o->block_form > o->warp_form)
                reproduce_note(result, "%s grows by %.0f %%", subjects[i].label, -cut[count - 1]);
        }
        if (!count) {
            reproduce_failed(result, "no block stood at a barrier");
            return;
        }
        reproduce_number(result, mean(cut, count), 1);
        reproduce_note(result, "%s: %u kernels, %u blocks all of whose warps stood at a barrier", footprint_names[f],
                       count, blocks);
    }
}

static void latencies(const reproduce_context *context, const char *id, reproduce_result *result) {
    int f;
    measure_all(context);
    for (f = 0; f < footprints; f++) {
        double spill[SUBJECTS], live[SUBJECTS], preempt[SUBJECTS], share[SUBJECTS], naive_us = 0, spill_us = 0,
                                                                                    select_us = 0;
        uint32_t i, count = 0, spilled = 0;
        for (i = 0; i < SUBJECTS; i++) {
            const outcome *o = &outcomes[f][i];
            if (!o->signals || o->selective <= 0) continue;
            if (o->busy_packed > 0) { /* otherwise its blocks end before their points, and nothing is spilled */
                spill[spilled] = o->busy_packed / o->naive;
                live[spilled++] = o->busy_live / o->naive;
            }
            preempt[count] = o->selective / o->naive;
            share[count++] = o->drain_cycles / o->selective;
            naive_us += o->naive * 1e3 / gpu.clock_khz;
            spill_us += o->busy_packed * 1e3 / gpu.clock_khz;
            select_us += o->selective * 1e3 / gpu.clock_khz;
        }
        if (!count || !spilled) {
            reproduce_failed(result, "no kernel could be measured");
            return;
        }
        if (strcmp(id, "L.spill") == 0) {
            reproduce_number(result, 100 * geomean(spill, spilled), 1);
            reproduce_note(result, "%.1f us to %.1f us; liveness alone %.1f %%; %u kernels spill", naive_us / count,
                           spill_us / count, 100 * geomean(live, spilled), spilled);
        } else if (strcmp(id, "L.preempt") == 0) {
            reproduce_number(result, 100 * geomean(preempt, count), 1);
            reproduce_note(result, "%.1f us", select_us / count);
        } else {
            reproduce_number(result, 100 * mean(share, count), 1);
        }
        note_samples(result, f, count);
    }
}

static void worst(const reproduce_context *context, const char *id, reproduce_result *result) {
    const uint64_t least = context->is_short ? 0 : (uint64_t)SIGNALS_LEAST * SIGNAL_CYCLES;
    int f;
    (void)id;
    measure_all(context);
    for (f = 0; f < footprints; f++) {
        double naive[SUBJECTS], selective[SUBJECTS], draining[SUBJECTS], port[2] = {0, 0};
        uint32_t i, count = 0;
        for (i = 0; i < SUBJECTS; i++) {
            const outcome *o = &outcomes[f][i];
            if (!o->signals || o->length <= least || o->draining <= 0 || o->freed[0] <= 0 || o->freed[1] <= 0) continue;
            naive[count] = o->worst_freed[0] / o->freed[0];
            selective[count] = o->worst_freed[1] / o->freed[1];
            draining[count++] = o->worst_draining / o->draining;
            port[0] += o->worst_naive / o->naive;
            port[1] += o->worst_selective / o->selective;
        }
        if (!count) {
            reproduce_note(result, "%s: no kernel runs for %u signals", footprint_names[f], SIGNALS_LEAST);
            continue;
        }
        reproduce_holds(result,
                        mean(naive, count) < mean(selective, count) && mean(selective, count) < mean(draining, count),
                        "%.2f, %.2f, %.2f", mean(naive, count), mean(selective, count), mean(draining, count));
        reproduce_note(
            result,
            "%s: naive, selective, draining; %u kernels that run for at least %u signals; contexts go through "
            "the memory path, by an SM's port alone naive %.2f, selective %.2f",
            footprint_names[f], count, SIGNALS_LEAST, port[0] / count, port[1] / count);
    }
    reproduce_revised(result);
}

/* Lin 2.4.3: restoring reverses saving. */
static void restoring(const reproduce_context *context, const char *id, reproduce_result *result) {
    int f;
    (void)id;
    measure_all(context);
    for (f = 0; f < footprints; f++) {
        double share[SUBJECTS], all_us = 0, packed_us = 0, first_us = 0;
        uint32_t i, count = 0;
        for (i = 0; i < SUBJECTS; i++) {
            const outcome *o = &outcomes[f][i];
            if (o->restore_all <= 0 || o->restore_packed <= 0) continue;
            share[count++] = o->restore_packed / o->restore_all;
            all_us += o->restore_all * 1e3 / gpu.clock_khz;
            packed_us += o->restore_packed * 1e3 / gpu.clock_khz;
            first_us += o->first_packed * 1e3 / gpu.clock_khz;
        }
        if (!count) continue;
        reproduce_number(result, 100 * geomean(share, count), 1);
        reproduce_note(result, "%s: %u kernels, %.2f us to %.2f us, the first warp after %.2f us", footprint_names[f],
                       count, all_us / count, packed_us / count, first_us / count);
    }
}

/* Eight pairs: the second kernel takes the SM of the first (Fig. 2.17 names pairs of this table, not all of them
 * legibly). */
static void in_place(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const pairs[8][2] = {{"BT_1", "HG_1"},  {"BP_1", "HS_1"}, {"HS_1", "PF_1"},  {"PF_1", "BP_2"},
                                            {"LUD_3", "SC_1"}, {"SR_2", "BT_2"}, {"HG_1", "BFS_1"}, {"BT_2", "CFD_2"}};
    int f;
    (void)id;
    measure_all(context);
    for (f = 0; f < footprints; f++) {
        double removed[8];
        uint32_t i, n, k, count = 0;
        reproduce_note(result, "%s", footprint_names[f]);
        for (i = 0; i < 8; i++) {
            const outcome *first = NULL, *second = NULL;
            double complete = 0, in_place = 0;
            for (k = 0; k < SUBJECTS; k++) {
                if (!strcmp(subjects[k].label, pairs[i][0])) first = &outcomes[f][k];
                if (!strcmp(subjects[k].label, pairs[i][1])) second = &outcomes[f][k];
            }
            if (!first || !second || !first->signals || !second->blocks_per_sm) {
                if (f == OURS) reproduce_note(result, "%s-%s could not be measured", pairs[i][0], pairs[i][1]);
                continue;
            }
            for (n = 0; n < first->signals; n++) {
                const shot *s = &first->shots[n];
                gpump_block_view views[BLOCKS];
                gpump_in_place_need need;
                gpump_in_place_plan plan;
                gpump_in_place_sm sm = {views, s->blocks, gpu.registers, gpu.shared_bytes[0], {0, 0, 0, 0, 0, 0}};
                memset(views, 0, sizeof views);
                for (k = 0; k < s->blocks; k++) {
                    views[k].register_base = s->block[k].register_base;
                    views[k].registers = s->block[k].registers;
                    views[k].shared_base = s->block[k].shared_base;
                    views[k].shared_bytes = s->block[k].shared_bytes;
                    views[k].may = 1u << GPUMP_TECHNIQUE_SWITCH;
                }
                need.blocks = second->blocks_per_sm;
                need.registers = second->need.registers;
                need.shared_bytes = second->need.shared_bytes;
                need.register_placement = need.shared_placement = GPUMP_IN_PLACE_BEST;
                if (gpump_in_place_find(&sm, &need, &plan, NULL) != GPUMP_OK) continue;
                complete += spill_time(&gpu, s, SAVE_PACKED, NULL).latency;
                in_place += spill_time(&gpu, s, SAVE_PACKED, plan.give_up).latency;
            }
            if (complete <= 0) continue;
            removed[count++] = 100 * (1 - in_place / complete);
            reproduce_note(result, "%s-%s %.0f", pairs[i][0], pairs[i][1], removed[count - 1]);
        }
        if (!count) {
            if (f == OURS) reproduce_failed(result, "no pair could be measured");
            continue;
        }
        if (f == OURS || count >= 6)
            reproduce_number(result, mean(removed, count), 1);
        else
            reproduce_note(result, "%s: %u pairs are too few to count", footprint_names[f], count);
    }
}

const reproduce_row rows_lin_contexts[] = {{"L.context.bp1.live", bp1},
                                           {"L.live", registers_removed},
                                           {"L.compress", registers_removed},
                                           {"L.tb", block_level},
                                           {"L.spill", latencies},
                                           {"L.preempt", latencies},
                                           {"L.drainshare", latencies},
                                           {"L.worst", worst},
                                           {"L.inplace", in_place},
                                           {"L.restore", restoring},
                                           {NULL, NULL}};
#endif
