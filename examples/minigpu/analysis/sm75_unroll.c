#include "analysis/sm75_unroll.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/latency_schedule.h"

/* Measured from the code that ptxas makes of loops that grow by one instruction (docs/registers.md). */
enum { ROUNDS = 4, COST_MAX = 50, COST_MAX_WITHOUT_LOADS = 22 };

/* A loop of one basic block. `last` is the branch back to `first`. */
typedef struct body {
    const instruction *code;
    uint32_t first, last;
} body;
typedef struct unroller {
    uint32_t *names; /* per register of the kernel: its register in the round that is being written */
    uint32_t registers;
    instruction *code;
    uint32_t count;
} unroller;

static int is_register(const operand *o) { return o->kind == OPERAND_REGISTER; }
static int adds_constant(const instruction *in) {
    return in->opcode == OPCODE_ADD && !type_is_float(in->type) && in->guard == INSTRUCTION_NONE &&
           in->destination_count == 1 && is_register(&in->destinations[0]) && is_register(&in->sources[0]) &&
           in->sources[0].index == in->destinations[0].index && in->sources[1].kind == OPERAND_IMMEDIATE &&
           !in->sources[1].index;
}
static uint32_t writers(const body *b, const operand *what, uint32_t *one) {
    uint32_t count = 0;
    for (uint32_t i = b->first; i <= b->last; i++)
        for (uint32_t k = 0; k < b->code[i].destination_count; k++)
            if (b->code[i].destinations[k].kind == what->kind && b->code[i].destinations[k].index == what->index) {
                count++;
                *one = i;
            }
    return count;
}

/* Returns 1 when the branch back compares a counter, which grows by a constant each round, with an invariant value. */
static int is_counted(const body *b) {
    operand predicate;
    const instruction *compare;
    uint32_t at = 0, step = 0, other = 0, counters = 0;
    memset(&predicate, 0, sizeof predicate);
    predicate.kind = OPERAND_PREDICATE;
    predicate.index = b->code[b->last].guard;
    if (writers(b, &predicate, &at) != 1) return 0;
    compare = &b->code[at];
    if (compare->opcode != OPCODE_SETP || compare->guard != INSTRUCTION_NONE || type_is_float(compare->type)) return 0;
    for (uint32_t k = 0; k < 2; k++) {
        if (!is_register(&compare->sources[k])) continue;
        if (writers(b, &compare->sources[k], &step) == 1 && adds_constant(&b->code[step]))
            counters++;
        else if (writers(b, &compare->sources[k], &other))
            return 0;
    }
    return counters == 1;
}

/* Returns whether ptxas unrolls the loop. A load counts twice. A widened product and the sum behind it count as one. */
static int can_unroll(const body *b) {
    uint32_t cost = 1, loads = 0;
    if (b->code[b->last].guard == INSTRUCTION_NONE) return 0;
    for (uint32_t i = b->first; i < b->last; i++) {
        const instruction *in = &b->code[i];
        if (in->flags & FLAG_NOUNROLL || (in->unit == UNIT_CONTROL && in->opcode != OPCODE_BAR) ||
            instruction_is_runtime_call(in) || is_routine_call(in))
            return 0;
        loads += in->opcode == OPCODE_LD;
        cost += !(in->opcode == OPCODE_MUL && in->variant == VARIANT_WIDE);
    }
    return cost + loads <= (loads ? COST_MAX : COST_MAX_WITHOUT_LOADS) && is_counted(b);
}

/* Writes one round of the loop. Each round writes registers of its own, also for counters and pointers. The last round
 * writes the original registers. */
static void write_round(unroller *u, const body *b, uint32_t round, uint32_t compare) {
    for (uint32_t i = b->first; i < b->last; i++) {
        instruction in = b->code[i];
        if (i == compare && round + 1 < ROUNDS) continue;
        for (uint32_t k = 0; k < in.source_count; k++)
            if (is_register(&in.sources[k])) in.sources[k].index = u->names[in.sources[k].index];
        for (uint32_t k = 0; k < in.destination_count && in.guard == INSTRUCTION_NONE; k++) {
            operand *to = &in.destinations[k];
            uint32_t name = to->index, one;
            if (!is_register(to) || writers(b, to, &one) > 1) continue;
            if (round + 1 < ROUNDS) {
                to->index = u->registers;
                u->registers += to->words;
            }
            u->names[name] = to->index;
        }
        u->code[u->count++] = in;
    }
}

static void write_loop(unroller *u, const body *b) {
    operand predicate;
    uint32_t compare = 0;
    memset(&predicate, 0, sizeof predicate);
    predicate.kind = OPERAND_PREDICATE;
    predicate.index = b->code[b->last].guard;
    (void)writers(b, &predicate, &compare);
    for (uint32_t round = 0; round < ROUNDS; round++) write_round(u, b, round, compare);
    u->code[u->count++] = b->code[b->last];
}

int sm75_unroll(const kernel_program *kernel, kernel_program *unrolled) {
    uint32_t count = kernel->count, i, k, *at = (uint32_t *)malloc((count + 1) * sizeof *at);
    uint8_t *is_leader = (uint8_t *)calloc(count + 1, 1);
    unroller u;
    int ok;
    memset(&u, 0, sizeof u);
    *unrolled = *kernel;
    u.registers = kernel->registers;
    u.names = (uint32_t *)malloc((kernel->registers + 1) * sizeof *u.names);
    unrolled->instructions = u.code = (instruction *)malloc(((size_t)count * ROUNDS + 1) * sizeof *u.code);
    ok = at && is_leader && u.names && u.code;
    for (i = 0; i < kernel->registers && ok; i++) u.names[i] = i;
    for (i = 0; i < count && ok; i++) {
        if (kernel->instructions[i].opcode != OPCODE_BRA) continue;
        is_leader[kernel->instructions[i].target] = is_leader[i + 1] = 1;
    }
    for (i = 0; i < count && ok; i = k) {
        body b;
        for (k = i + 1; k < count && !is_leader[k]; k++) {}
        b.code = kernel->instructions;
        b.first = i;
        b.last = k - 1;
        for (uint32_t n = i; n < k; n++) at[n] = u.count;
        if (b.code[b.last].opcode == OPCODE_BRA && b.code[b.last].target == i && can_unroll(&b))
            write_loop(&u, &b);
        else
            for (uint32_t n = i; n < k; n++) {
                at[n] = u.count;
                u.code[u.count++] = b.code[n];
            }
    }
    at[count] = u.count;
    for (i = 0; i < u.count && ok; i++) {
        if (u.code[i].opcode != OPCODE_BRA) continue;
        u.code[i].target = at[u.code[i].target];
        if (u.code[i].reconvergence != INSTRUCTION_NONE) u.code[i].reconvergence = at[u.code[i].reconvergence];
    }
    unrolled->count = u.count;
    unrolled->registers = u.registers;
    free(at);
    free(is_leader);
    free(u.names);
    if (ok) return 0;
    free(u.code);
    unrolled->instructions = NULL;
    return -1;
}
