#include "parts/errors/recompile.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "sm/pipeline.h"
#include "sm/region.h"
#include "sm/restart.h"
#include "sm/scoreboard.h"
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
/* Returns the place in version v of an instruction of the version before, both counted from the version's start; NONE.
 */
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
    free(v->from);
    free(v);
}

/* Announces the new version to all tables that are indexed by PC. */
static int install(machine *m, uint32_t kernel_index, code_version *v, const kernel_program *piece) {
    kernel *k = &m->kernels[kernel_index];
    char error[LAUNCH_ERROR_BYTES];
    uint32_t i;
    int failed;
    if (!(v->info = scoreboard_prepare(&v->program))) return 0;
    for (i = 0; i < v->base; i++) v->info[i].clobbers = k->info[i].clobbers;
    for (i = 0; i < v->count; i++)
        v->info[v->base + i].clobbers =
            v->from[i] == NONE ? CLOBBERS_NEVER : k->info[base_of(v->before) + v->from[i]].clobbers;
    PARTS_ASK(m, failed, 0, prepare, (m, kernel_index, &v->program, v->info));
    if (failed) return 0;
    if (context_view_append(m->views[kernel_index], piece, v->base, error)) return 0;
    k->version = v;
    k->program = &v->program;
    k->info = v->info;
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

/* Returns where lanes continue in v that are at the start of an inserted sequence in the version before: at the target
 * of the branches to it. */
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
