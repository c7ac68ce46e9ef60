#include "parts/restart/recompile.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "parts/errors/error_facts.h"
#include "parts/faults/faults.h"
#include "sm/pipeline.h"
#include "parts/restart/region.h"
#include "sm/scoreboard.h"
#include "parts/restart/restart.h"
#include "preemption/context_bytes.h"
#include "preemption/context_forms.h"
#include "sm/gate.h"

/* The version that an instruction stands in; NULL: the kernel as it was built. */
static const code_version *version_of(const kernel *k, uint32_t pc) {
    const code_version *v = k->version;
    while (v && pc < v->base) v = v->before;
    return v;
}
static uint32_t base_of(const code_version *v) { return v ? v->base : 0; }
/* The version that came after v. */
static const code_version *after(const kernel *k, const code_version *v) {
    const code_version *next = k->version;
    while (next && next->before != v) next = next->before;
    return next;
}
/* Where an instruction of the version before v, counted from its start, stands in v; NONE. */
static uint32_t place_in(const code_version *v, uint32_t index) {
    uint32_t i;
    for (i = 0; i < v->count; i++)
        if (v->from[i] == index) return v->base + i;
    return NONE;
}
/* The same instruction in the newest version; NONE. */
static uint32_t newest(const kernel *k, uint32_t pc) {
    const code_version *v = version_of(k, pc);
    while (pc != NONE && v != k->version) {
        const code_version *next = after(k, v);
        pc = place_in(next, pc - base_of(v));
        v = next;
    }
    return pc;
}

static int is_boundary(const kernel *k, uint32_t pc) { return k->info[pc].is_boundary; }

/* Has the instruction of the newest version a region of its own? Moves that keep live-ins may stand before it. */
static int stands_alone(const kernel *k, uint32_t pc) {
    const uint32_t base = base_of(k->version);
    uint32_t at = pc;
    if (!is_boundary(k, pc + 1)) return 0;
    while (at > base && k->version && k->version->from[at - 1 - base] == NONE && !is_boundary(k, at - 1)) at--;
    return at > base && is_boundary(k, at - 1);
}

/* ---- a new version ---- */

static void append(const kernel *k, code_version *v, const kernel_program *piece) {
    const kernel_program *old = k->program;
    uint32_t i;
    memcpy(v->program.instructions, old->instructions, old->count * sizeof *old->instructions);
    for (i = 0; i < piece->count; i++) {
        instruction *in = &v->program.instructions[v->base + i];
        *in = piece->instructions[i];
        if (in->target != INSTRUCTION_NONE) in->target += v->base;
        if (in->reconvergence != INSTRUCTION_NONE && in->reconvergence != SIMT_NEVER) in->reconvergence += v->base;
        if (v->from[i] != NONE) in->flags |= old->instructions[base_of(v->before) + v->from[i]].flags & FLAG_CLOBBERS;
    }
}

static void free_version(code_version *v) {
    if (!v) return;
    free(v->program.instructions);
    free(v->info);
    free(v->replay);
    free(v->from);
    free(v);
}

/* Everything that knows the kernel by PC gets to know the new version. */
static int install(machine *m, uint32_t kernel_index, code_version *v, const kernel_program *piece) {
    kernel *k = &m->kernels[kernel_index];
    char error[LAUNCH_ERROR_BYTES];
    uint32_t i;
    if (!(v->info = scoreboard_prepare(&v->program))) return 0;
    for (i = 0; i < v->base; i++) v->info[i].clobbers = k->info[i].clobbers;
    for (i = 0; i < v->count; i++)
        v->info[v->base + i].clobbers =
            v->from[i] == NONE ? CLOBBERS_NEVER : k->info[base_of(v->before) + v->from[i]].clobbers;
    if (k->replay) {
        if (!(v->replay = (replay_info *)calloc(v->program.count + 1u, sizeof *v->replay))) return 0;
        faults_prepare(&v->program, v->replay, v->info);
    }
    errors_prepare(&v->program, v->info);
    if (context_view_append(m->views[kernel_index], piece, v->base, error)) return 0;
    k->version = v;
    k->program = &v->program;
    k->info = v->info;
    if (k->replay) k->replay = v->replay;
    for (i = 0; i < m->warp_count; i++)
        if (m->warps[i].sm != NONE && m->blocks[m->warps[i].block].kernel == kernel_index)
            m->warps[i].program = k->info;
    return 1;
}

int recompile_split(machine *m, uint32_t kernel_index, uint32_t first_pc, uint32_t second_pc) {
    kernel *k = &m->kernels[kernel_index];
    analysis_source *source = machine_source(m, kernel_index);
    const uint32_t first = newest(k, first_pc), second = newest(k, second_pc), base = base_of(k->version);
    kernel_program piece;
    code_version *v;
    gpump_diag diag;
    int done = 0;
    if (!source || first == NONE || second == NONE) return 0;
    if (stands_alone(k, first) && stands_alone(k, second)) return 1;
    memset(&diag, 0, sizeof diag);
    if (!(v = (code_version *)calloc(1, sizeof *v))) return 0;
    if (analysis_split(source, first - base, second - base, &piece, &v->from, &diag) == GPUMP_OK) {
        v->base = k->program->count;
        v->count = piece.count;
        v->before = k->version;
        v->program = *k->program;
        v->program.count = v->base + v->count;
        v->program.instructions = (instruction *)calloc(v->program.count, sizeof(instruction));
        if (v->program.instructions) {
            append(k, v, &piece);
            done = install(m, kernel_index, v, &piece);
        }
        analysis_free_kernel(&piece);
    }
    if (!done) free_version(v);
    return done;
}

/* ---- a warp changes over ---- */

/* Where lanes that stand at the start of something in the version before v stand in v: branches to it say so. */
static uint32_t entry_in(const kernel *k, const code_version *v, uint32_t pc) {
    const uint32_t base = base_of(v->before);
    uint32_t i;
    for (i = 0; i < v->count; i++) {
        const instruction *now = &k->program->instructions[v->base + i];
        if (v->from[i] != NONE && now->target != INSTRUCTION_NONE &&
            k->program->instructions[base + v->from[i]].target == pc)
            return now->target;
    }
    if (pc == base) return v->base;
    i = place_in(v, pc - base - 1);
    return i == NONE ? NONE : i + 1;
}

/* The stack of a warp at its restart PC, in the version v that follows its own. Returns 0 when there is no such place.
 */
static int translate_stack(const kernel *k, const code_version *v, simt_stack *stack) {
    const uint32_t base = base_of(v->before), top = stack->depth - 1, pc = stack->entries[top].pc;
    uint32_t i;
    for (i = 0; i < stack->depth; i++) {
        simt_entry *e = &stack->entries[i];
        if (i < top && (e->pc = entry_in(k, v, e->pc)) == NONE) return 0;
        if (e->reconvergence != SIMT_NEVER && (e->reconvergence = entry_in(k, v, e->reconvergence)) == NONE) return 0;
    }
    if (pc == base) {
        stack->entries[top].pc = v->base;
        return 1;
    }
    if (!is_boundary(k, pc - 1) || (i = place_in(v, pc - 1 - base)) == NONE) return 0;
    stack->entries[top].pc = i + 1;
    return 1;
}

int recompile_move_warp(machine *m, sm *s, warp *w) {
    const uint32_t kernel_index = m->blocks[w->block].kernel;
    const kernel *k = &m->kernels[kernel_index];
    const code_version *v = version_of(k, simt_top(&w->stack)->pc);
    uint64_t here[CONTEXT_LIVE_WORDS], there[CONTEXT_LIVE_WORDS];
    warp moved = *w;
    while (v != k->version) {
        v = after(k, v);
        if (!translate_stack(k, v, &moved.stack)) return 0;
    }
    context_live_all(m->views[kernel_index], w, here);
    context_live_all(m->views[kernel_index], &moved, there);
    if (memcmp(here, there, sizeof here)) return 0;
    w->stack = moved.stack;
    restart_record(m, s, w, 1);
    pipeline_refresh_warp(m, s, w);
    return 1;
}

void recompile_free(machine *m) {
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++) {
        code_version *v = m->kernels[i].version, *before;
        for (; v; v = before) {
            before = v->before;
            free_version(v);
        }
    }
}

/* ---- the part ---- */

static int is_present(const machine *m) { return m->regions != 0; }

static void warp_came(machine *m, sm *s, warp *w) {
    if (w->slot != NONE) machine_must(m, "gpump_restart_open", gpump_restart_open(s->restart, w->slot), NULL);
}

static void warp_starts(machine *m, sm *s, warp *w) { restart_record(m, s, w, 0); }

static void warp_leaves(machine *m, sm *s, warp *w) {
    machine_must(m, "gpump_restart_close", gpump_restart_close(s->restart, w->slot), NULL);
}

static uint64_t hash_sm(const machine *m, const sm *s, uint64_t hash) {
    (void)m;
    return gpump_hash_u64(hash, gpump_hash(&gpump_restart_component, s->restart));
}

/* Sends every warp back to the start of its region, where it stays. Who must not go back goes on to the boundary ahead.
 */
static void block_rewinds(machine *m, sm *s, block *b) {
    uint32_t i, running = 0;
    for (i = 0; i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        if (gate_stopped(w)) continue;
        if (w->stack.depth && w->barrier == NONE) {
            const uint64_t dropped = gpump_restart_since(s->restart, w->slot, GPUMP_RESTART_SPARSE);
            if (!restart_warp(m, s, w, GPUMP_RESTART_SPARSE)) {
                running++;
                continue;
            }
            b->rewound += dropped;
            machine_must(m, "gpump_sm_report_rewound", gpump_sm_report_rewound(s->gpump, b->ref, dropped), NULL);
            m->kernels[b->kernel].wasted_warp_instructions += dropped;
            if (b->preemption != NONE) m->preemptions[b->preemption].wasted_warp_instructions += dropped;
        }
        gate_stop(s, w);
    }
    if (!running) b->to_point = 0;
}

/* What a rewind of one block would save and lose: what is live where its warps would go back to, and what they have
 * done since. A block that can be switched can also go back, at the latest at the next boundary. */
static void price_rewind(machine *m, const block *b, gpump_cost_rewind *rewind) {
    warp there;
    const kernel *k = &m->kernels[b->kernel];
    const sm *s = m->sms[b->sm];
    uint32_t i, registers;
    rewind->bytes = b->keep & GPUMP_PART_SHARED_MEMORY ? 0 : k->shared_bytes;
    rewind->executed = 0;
    for (i = 0; i < b->warp_count; i++) {
        const warp *w = &m->warps[b->warps[i]];
        if (!w->stack.depth) continue;
        there = *w;
        if (restart_may(s, w, GPUMP_RESTART_SPARSE)) {
            restart_where(s, w, GPUMP_RESTART_SPARSE, &there.stack);
            rewind->executed += gpump_restart_since(s->restart, w->slot, GPUMP_RESTART_SPARSE);
        }
        rewind->bytes += context_bytes_of_warp(m, b, &there, &registers);
    }
}

const part restart_part = {
    .name = "restart",
    .is_present = is_present,
    .close = recompile_free,
    .block_rewinds = block_rewinds,
    .warp_came = warp_came,
    .warp_starts = warp_starts,
    .warp_leaves = warp_leaves,
    .price_rewind = price_rewind,
    .hash_sm = hash_sm,
};
