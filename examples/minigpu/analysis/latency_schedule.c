/* latency_schedule: list scheduling. Runs of instructions without a branch, barrier or atomic are scheduled cycle by
 * cycle. The next instruction is the ready one that starts the longest chain of dependences. */
#include "analysis/latency_schedule.h"

#include <stdlib.h>
#include <string.h>

#define SEGMENT_MAX 4096u

/* Returns the cycles until a result can be used, as a compiler assumes them. The machine's latencies may differ. */
static uint32_t latency_of(const instruction *in) {
    switch (in->opcode) {
    case OPCODE_LD:
        if (in->space == SPACE_PARAM || in->space == SPACE_CONST) return 8;
        return in->space == SPACE_SHARED ? 30 : 200;
    case OPCODE_TEX: return 200;
    case OPCODE_SHFL: return 24;
    default: return in->unit == UNIT_SFU || in->unit == UNIT_DOUBLE ? 20 : 5;
    }
}

/* The pipe of an instruction, and the cycles for which it blocks the pipe, as ptxas spaces instructions for sm_75. */
enum { PIPE_INTEGER, PIPE_FMA, PIPE_SFU, PIPE_DOUBLE, PIPE_MEMORY, PIPE_CONTROL, PIPES };
static const uint32_t pipe_cycles[PIPES] = {2, 2, 8, 8, 4, 1};
static uint32_t pipe_of(const instruction *in) {
    switch (in->unit) {
    case UNIT_ALU:
        return type_is_float(in->type) || in->opcode == OPCODE_MUL || in->opcode == OPCODE_MAD ? PIPE_FMA
                                                                                               : PIPE_INTEGER;
    case UNIT_SFU: return PIPE_SFU;
    case UNIT_DOUBLE: return PIPE_DOUBLE;
    case UNIT_MEMORY: return PIPE_MEMORY;
    default: return PIPE_CONTROL;
    }
}

int is_routine_call(const instruction *in) {
    if (in->variant == VARIANT_APPROX || in->variant == VARIANT_FULL) return 0;
    if (in->opcode == OPCODE_SQRT || in->opcode == OPCODE_RCP) return 1;
    return (in->opcode == OPCODE_DIV || in->opcode == OPCODE_REM) &&
           (type_is_float(in->type) || type_bytes(in->type) == 8);
}

/* Returns whether no instruction may move across this one. */
static int is_fixed(const instruction *in) {
    if (is_routine_call(in)) return 1;
    switch (in->opcode) {
    case OPCODE_BRA:
    case OPCODE_RET:
    case OPCODE_EXIT:
    case OPCODE_TRAP:
    case OPCODE_BAR:
    case OPCODE_WARPSYNC:
    case OPCODE_MEMBAR:
    case OPCODE_ATOM:
    case OPCODE_RED:
    case OPCODE_VOTE:
    case OPCODE_MATCH:
    case OPCODE_ACTIVEMASK:
    case OPCODE_ELECT:
    case OPCODE_REDUX: return 1;
    default: return 0;
    }
}

static int overlap(const operand *a, const operand *b) {
    if (a->kind != b->kind) return 0;
    if (a->kind == OPERAND_PREDICATE) return a->index == b->index;
    return a->kind == OPERAND_REGISTER && a->index < b->index + b->words && b->index < a->index + a->words;
}

static int reads(const instruction *in, const operand *what) {
    if (what->kind == OPERAND_PREDICATE && in->guard == what->index) return 1;
    for (uint32_t k = 0; k < in->source_count; k++)
        if (overlap(&in->sources[k], what)) return 1;
    return 0;
}
static int writes(const instruction *in, const operand *what) {
    for (uint32_t k = 0; k < in->destination_count; k++)
        if (overlap(&in->destinations[k], what)) return 1;
    return 0;
}

/* Returns the cycles that `later` waits for `earlier`; 0: they are independent. */
static uint32_t dependence(const instruction *earlier, const instruction *later) {
    uint32_t wait = 0;
    for (uint32_t k = 0; k < earlier->destination_count; k++) {
        if (reads(later, &earlier->destinations[k])) return latency_of(earlier);
        if (writes(later, &earlier->destinations[k])) wait = 1;
    }
    for (uint32_t k = 0; k < later->destination_count; k++)
        if (reads(earlier, &later->destinations[k])) wait = 1;
    int stores = earlier->opcode == OPCODE_ST || later->opcode == OPCODE_ST;
    if (earlier->flags & later->flags & FLAG_VOLATILE) wait = wait ? wait : 1;
    int both = (earlier->opcode == OPCODE_ST || earlier->opcode == OPCODE_LD) &&
               (later->opcode == OPCODE_ST || later->opcode == OPCODE_LD);
    if (stores && both &&
        (earlier->space == later->space || earlier->space == SPACE_GENERIC || later->space == SPACE_GENERIC))
        wait = 1;
    return wait;
}

typedef struct edge {
    uint32_t to, wait, next;
} edge;

typedef struct segment {
    instruction *order; /* scratch for the new order */
    uint32_t *heads, *waiting, *start, *path;
    uint8_t *done;
    edge *edges;
    uint32_t edge_count, edge_capacity;
} segment;

static int add_edge(segment *s, uint32_t from, uint32_t to, uint32_t wait) {
    if (s->edge_count == s->edge_capacity) {
        uint32_t larger = s->edge_capacity ? s->edge_capacity * 2 : 256;
        edge *grown = (edge *)realloc(s->edges, larger * sizeof *grown);
        if (!grown) return -1;
        s->edges = grown;
        s->edge_capacity = larger;
    }
    s->edges[s->edge_count].to = to;
    s->edges[s->edge_count].wait = wait;
    s->edges[s->edge_count].next = s->heads[from];
    s->heads[from] = s->edge_count++;
    s->waiting[to]++;
    return 0;
}

/* Returns whether an instruction sets a constant. Constants are free, so one is set only when its reader waits for
 * nothing else. */
static int sets_constant(const instruction *in) {
    return in->opcode == OPCODE_MOV && in->source_count == 1 && in->guard == INSTRUCTION_NONE &&
           (in->sources[0].kind == OPERAND_IMMEDIATE ||
            (in->sources[0].kind == OPERAND_SPECIAL && in->sources[0].index >= SPECIAL_NTID_X &&
             in->sources[0].index <= SPECIAL_NTID_Z));
}
static int is_awaited(const segment *s, uint32_t i, uint32_t now) {
    uint32_t k = s->heads[i];
    for (; k != INSTRUCTION_NONE; k = s->edges[k].next)
        if (s->waiting[s->edges[k].to] == 1 && s->start[s->edges[k].to] <= now + s->edges[k].wait) return 1;
    return s->heads[i] == INSTRUCTION_NONE;
}

static int schedule_segment(segment *s, instruction *code, uint32_t count, uint32_t window) {
    uint32_t i, k, placed = 0, oldest = 0, now = 0, pipe_free[PIPES] = {0, 0, 0, 0, 0, 0};
    s->edge_count = 0;
    for (i = 0; i < count; i++) {
        s->heads[i] = INSTRUCTION_NONE;
        s->waiting[i] = s->start[i] = s->done[i] = 0;
    }
    for (i = 0; i < count; i++)
        for (k = i + 1; k < count; k++) {
            uint32_t wait = dependence(&code[i], &code[k]);
            if (wait && add_edge(s, i, k, wait)) return -1;
        }
    for (i = count; i-- > 0;) { /* longest chain that starts here */
        s->path[i] = latency_of(&code[i]);
        for (k = s->heads[i]; k != INSTRUCTION_NONE; k = s->edges[k].next)
            if (s->path[s->edges[k].to] + s->edges[k].wait > s->path[i])
                s->path[i] = s->path[s->edges[k].to] + s->edges[k].wait;
    }
    while (placed < count) {
        uint32_t best = INSTRUCTION_NONE, soonest = UINT32_MAX, early = INSTRUCTION_NONE;
        while (s->done[oldest]) oldest++;
        for (i = oldest; i < count && i - oldest < window; i++) {
            if (s->done[i] || s->waiting[i]) continue;
            if (sets_constant(&code[i]) && !is_awaited(s, i, now)) {
                if (early == INSTRUCTION_NONE) early = i;
                continue;
            }
            uint32_t ready = s->start[i] > pipe_free[pipe_of(&code[i])] ? s->start[i] : pipe_free[pipe_of(&code[i])];
            if (ready > now) {
                if (ready < soonest) soonest = ready;
            } else if (best == INSTRUCTION_NONE || s->path[i] > s->path[best])
                best = i;
        }
        if (best == INSTRUCTION_NONE && soonest != UINT32_MAX) {
            now = soonest;
            continue;
        }
        if (best == INSTRUCTION_NONE) best = early;
        s->done[best] = 1;
        pipe_free[pipe_of(&code[best])] = now + pipe_cycles[pipe_of(&code[best])];
        s->order[placed++] = code[best];
        for (k = s->heads[best]; k != INSTRUCTION_NONE; k = s->edges[k].next) {
            edge *e = &s->edges[k];
            s->waiting[e->to]--;
            if (now + e->wait > s->start[e->to]) s->start[e->to] = now + e->wait;
        }
        now++;
    }
    memcpy(code, s->order, count * sizeof *code);
    return 0;
}

int latency_schedule(kernel_program *kernel, uint32_t window) {
    segment s;
    uint8_t *leader = (uint8_t *)calloc(kernel->count + 1, 1);
    uint32_t first = 0, i, size = kernel->count < SEGMENT_MAX ? kernel->count : SEGMENT_MAX;
    int status = -1;
    memset(&s, 0, sizeof s);
    s.order = (instruction *)malloc(size * sizeof *s.order);
    s.heads = (uint32_t *)malloc(size * sizeof *s.heads);
    s.waiting = (uint32_t *)malloc(size * sizeof *s.waiting);
    s.start = (uint32_t *)malloc(size * sizeof *s.start);
    s.path = (uint32_t *)malloc(size * sizeof *s.path);
    s.done = (uint8_t *)malloc(size);
    if (!leader || !s.order || !s.heads || !s.waiting || !s.start || !s.path || !s.done) goto done;
    for (i = 0; i < kernel->count; i++)
        if (kernel->instructions[i].opcode == OPCODE_BRA) leader[kernel->instructions[i].target] = 1;
    status = 0;
    for (i = 0; i <= kernel->count && !status; i++) {
        int fixed = i < kernel->count && is_fixed(&kernel->instructions[i]);
        if (i < kernel->count && !leader[i] && !fixed && i - first < size) continue;
        if (i > first) status = schedule_segment(&s, kernel->instructions + first, i - first, window);
        first = fixed ? i + 1 : i;
    }
done:
    free(leader);
    free(s.order);
    free(s.heads);
    free(s.waiting);
    free(s.start);
    free(s.path);
    free(s.done);
    free(s.edges);
    return status;
}
