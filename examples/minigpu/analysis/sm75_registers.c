#include "analysis/sm75_registers.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/latency_schedule.h"
#include "analysis/sm75_select.h"
#include "analysis/sm75_unroll.h"

#define STACK_POINTER 1u /* R1 is never allocated */
#define UNNAMED 2u       /* registers that count although no instruction names them */
#define CALLER 24u       /* registers of every kernel that calls a function of the run-time library */
#define FULL_SM 64u      /* with more registers per thread an SM of sm_75 cannot hold its maximum of warps */
#define NODES_MAX 16384u
#define LOOK_AHEAD 16u      /* an instruction moves across at most so many others */
#define STORES_IN_FLIGHT 5u /* six scoreboards, one of which loads use */

enum { ANY_BANK = 2 };

/* Nodes are the program's registers, followed by the registers that routines use. */
typedef struct coloring {
    const kernel_program *kernel;
    const gpump_program *program;
    uint32_t nodes, registers, words, top;
    uint64_t *conflicts;             /* bit matrix */
    uint32_t *width;                 /* 0: a predicate */
    uint32_t *color, *hint;          /* or GPUMP_NONE; hint: the other side of a move or of a widening */
    uint32_t *stored;                /* the vector store that stores the value, or GPUMP_NONE */
    uint32_t *reader_start, *reader; /* register -> instructions that read it */
    uint8_t *bank;                   /* the preferred bank, or ANY_BANK */
    uint8_t *taken;                  /* scratch: colours of a node's neighbours */
} coloring;

/* Returns the registers that an instruction's routine needs beyond its operands. The numbers are those of kernels that
 * consist of little else, as ptxas compiles them (docs/registers.md), less the operands and the registers of every
 * kernel. */
static uint32_t routine_registers(const instruction *in) {
    int wide = type_bytes(in->type) == 8;
    if (in->variant == VARIANT_APPROX || in->variant == VARIANT_FULL) return 0;
    switch (in->opcode) {
    case OPCODE_DIV:
    case OPCODE_REM:
        if (!type_is_float(in->type) && in->sources[1].kind == OPERAND_IMMEDIATE)
            return 0; /* division by a constant is a multiplication */
        if (type_is_float(in->type)) return wide ? 17 : 8;
        return wide ? 15 : in->type == TYPE_U32 ? 5 : 7;
    case OPCODE_SQRT: return wide ? 13 : 4;
    case OPCODE_RCP: return wide ? 8 : 10;
    default: return 0;
    }
}

/* Returns whether the low half of the result is the operand itself, as in cvt.s64.s32. */
static int widens(const instruction *in) {
    const operand *to = &in->destinations[0], *from = &in->sources[0];
    return in->opcode == OPCODE_CVT && !type_is_float(in->type) && !type_is_float(in->source_type) &&
           to->kind == OPERAND_REGISTER && to->words == 2 && from->kind == OPERAND_REGISTER && from->words == 1;
}

/* Returns whether an instruction reads or writes late, guarded by a scoreboard. */
static int is_late(const instruction *in) {
    if (is_routine_call(in)) return 0;
    if (in->unit == UNIT_MEMORY) return 1;
    return in->unit == UNIT_DOUBLE || in->unit == UNIT_SFU ||
           (in->opcode == OPCODE_CVT && type_is_float(in->type) != type_is_float(in->source_type));
}

/* ---- registers that are live at the same time ---- */

static void conflict(coloring *c, uint32_t a, uint32_t b) {
    if (a == b || !c->width[a] || !c->width[b]) return;
    gpump_bits_set(c->conflicts + (size_t)a * c->words, b);
    gpump_bits_set(c->conflicts + (size_t)b * c->words, a);
}
static int has(const uint32_t *list, uint32_t count, uint32_t reg) {
    while (count--)
        if (list[count] == reg) return 1;
    return 0;
}

/* Extends the lifetime of a late instruction's operands. Operands of a load stay until its result is awaited. Operands
 * of a store stay until the block ends, or until so many stores follow that the scoreboard is reused. The instruction's
 * own result may take an operand's place. */
static void hold_operands(coloring *c, uint32_t i, uint32_t end) {
    gpump_instruction late, in;
    gpump_program_instruction(c->program, i, &late);
    for (uint32_t u = 0; u < late.use_count; u++)
        for (uint32_t k = i + 1, waited = 0, stores = 0; k < end && !waited; k++) {
            const instruction *between = &c->kernel->instructions[k];
            stores += !late.def_count && !between->destination_count && is_late(between);
            if (stores == STORES_IN_FLIGHT) break;
            gpump_program_instruction(c->program, k, &in);
            if (has(in.defs, in.def_count, late.uses[u])) break;
            for (uint32_t d = 0; d < late.def_count; d++)
                waited |=
                    (uint32_t)(has(in.uses, in.use_count, late.defs[d]) || has(in.defs, in.def_count, late.defs[d]));
            for (uint32_t d = 0; d < in.def_count; d++) conflict(c, late.uses[u], in.defs[d]);
        }
}

static int find_conflicts(coloring *c, const gpump_liveness *liveness, int hold) {
    uint64_t *set = (uint64_t *)calloc(gpump_liveness_words(liveness) + 1, sizeof *set);
    uint32_t routine = c->registers, d, e, u, w;
    for (uint32_t i = 0; i < gpump_program_count(c->program).instructions && set; i++) {
        const instruction *from = &c->kernel->instructions[i];
        uint32_t own = routine_registers(from);
        gpump_basic_block block;
        gpump_instruction in;
        gpump_program_instruction(c->program, i, &in);
        gpump_program_basic_block(c->program, gpump_program_basic_block_of(c->program, i), &block);
        gpump_liveness_after(liveness, i, set);
        for (w = 0; w < gpump_liveness_words(liveness); w++)
            for (uint64_t word = set[w]; word; word &= word - 1) {
                uint32_t live = w * 64 + gpump_bits_lowest64(word);
                for (d = 0; d < in.def_count; d++)
                    if ((in.operation != GPUMP_OP_MOVE && !widens(from)) || in.uses[0] != live)
                        conflict(c, in.defs[d], live);
                for (e = 0; e < own; e++) conflict(c, routine + e, live);
            }
        for (d = 0; d < in.def_count; d++)
            for (e = 0; e < d; e++) conflict(c, in.defs[d], in.defs[e]);
        for (e = 0; e < own; e++) {
            for (u = 0; u < e; u++) conflict(c, routine + e, routine + u);
            for (d = 0; d < in.def_count; d++) conflict(c, routine + e, in.defs[d]);
            for (u = 0; u < in.use_count; u++) conflict(c, routine + e, in.uses[u]);
        }
        routine += own;
        if (hold && is_late(from)) hold_operands(c, i, block.first + block.count);
    }
    free(set);
    return set != NULL;
}

/* ---- colouring ---- */

static int fits(const coloring *c, uint32_t node, uint32_t at) {
    for (uint32_t half = 0; half < c->width[node]; half++)
        if (at + half == STACK_POINTER || c->taken[at + half]) return 0;
    return 1;
}
static void find_taken(const coloring *c, uint32_t node) {
    memset(c->taken, 0, c->top + 16);
    for (uint32_t w = 0; w < c->words; w++)
        for (uint64_t word = c->conflicts[(size_t)node * c->words + w]; word; word &= word - 1) {
            uint32_t other = w * 64 + gpump_bits_lowest64(word);
            if (c->color[other] != GPUMP_NONE) memset(c->taken + c->color[other], 1, c->width[other]);
        }
}
static void give(coloring *c, uint32_t node, uint32_t at) {
    c->color[node] = at;
    if (at + c->width[node] > c->top) c->top = at + c->width[node];
}

/* Counts the instructions that would read all their registers from one bank if the node were in bank 0 (even registers)
 * or in bank 1. A pair counts as its even half. */
static void bank_conflicts(const coloring *c, uint32_t node, uint32_t bad[2]) {
    bad[0] = bad[1] = 0;
    for (uint32_t r = c->reader_start[node]; r < c->reader_start[node + 1]; r++) {
        gpump_instruction in;
        uint32_t others = 0, bank[2] = {0, 0};
        gpump_program_instruction(c->program, c->reader[r], &in);
        for (uint32_t k = 0; k < in.use_count; k++) {
            uint32_t other = in.uses[k];
            if (other == node || !c->width[other]) continue;
            others++;
            if (c->width[other] == 2)
                bank[0]++;
            else if (c->color[other] != GPUMP_NONE)
                bank[c->color[other] % 2]++;
            else if (c->bank[other] != ANY_BANK)
                bank[c->bank[other]]++;
        }
        bad[0] += others && bank[0] == others;
        bad[1] += others && bank[1] == others;
    }
}

/* Gives node k register `first + k * apart`, for the lowest `first` that is a multiple of `step` and free for all
 * nodes. */
static void color_together(coloring *c, const uint32_t *nodes, uint32_t count, uint32_t step, uint32_t apart) {
    uint32_t at, k;
    int good = 0;
    uint8_t *bad = c->taken + c->nodes * 4 + 128; /* the second half of taken[] */
    memset(bad, 0, c->top + 64);
    for (k = 0; k < count; k++) {
        find_taken(c, nodes[k]);
        for (at = 0; at < c->top + 8; at += step) bad[at] |= (uint8_t)!fits(c, nodes[k], at + k * apart);
    }
    for (at = 0; !good; at += step) good = !bad[at];
    for (k = 0; k < count; k++) give(c, nodes[k], at - step + k * apart);
}
/* Gives the values of a vector load or store adjacent registers, aligned to their size. */
static void color_vector(coloring *c, const uint32_t *nodes, uint32_t count) {
    uint32_t width = c->width[nodes[0]], known = GPUMP_NONE, k;
    for (k = 0; k < count; k++) {
        if (c->width[nodes[k]] != width || !width || has(nodes, k, nodes[k])) return;
        if (c->color[nodes[k]] != GPUMP_NONE) known = k;
    }
    if (known == GPUMP_NONE) {
        color_together(c, nodes, count, count * width, width);
        return;
    }
    if (c->color[nodes[known]] % (count * width) != known * width)
        return; /* one value has its register: the others get the adjacent ones if these are free */
    for (k = 0; k < count; k++) {
        uint32_t at = c->color[nodes[known]] - known * width + k * width;
        if (c->color[nodes[k]] != GPUMP_NONE) continue;
        find_taken(c, nodes[k]);
        if (fits(c, nodes[k], at)) give(c, nodes[k], at);
    }
}

/* Gives a node the lowest free register. Single registers prefer the better bank, as long as an SM full of warps has
 * such registers. */
static void color_one(coloring *c, uint32_t node) {
    uint32_t hint = c->hint[node], step = c->width[node], bad[2] = {0, 0}, at;
    if (!step || c->color[node] != GPUMP_NONE) return;
    find_taken(c, node);
    if (hint != GPUMP_NONE && c->color[hint] != GPUMP_NONE && fits(c, node, c->color[hint]) &&
        c->color[hint] % step == 0) {
        give(c, node, c->color[hint]);
        return;
    }
    if (hint != GPUMP_NONE && c->color[hint] == GPUMP_NONE &&
        c->width[hint] > step) { /* the value is widened later: both halves together */
        uint32_t pair[2] = {node, hint};
        color_together(c, pair, 2, 2, 0);
        return;
    }
    if (step == 1 && node < c->registers) bank_conflicts(c, node, bad);
    if (bad[0] == bad[1] && c->bank[node] != ANY_BANK) bad[!c->bank[node]]++;
    for (at = bad[1] < bad[0]; bad[0] != bad[1] && at < FULL_SM - UNNAMED && at < c->top + 2; at += 2)
        if (fits(c, node, at)) {
            give(c, node, at);
            return;
        }
    for (at = 0; !fits(c, node, at); at += step) {}
    give(c, node, at);
}

/* Returns 1 when an instruction reads two registers, which should be in different banks. Integer sums and logic do not
 * count, because ptxas combines two of them into one instruction with three operands. */
static int reads_two(const coloring *c, uint32_t i, uint32_t pair[2]) {
    const instruction *from = &c->kernel->instructions[i];
    gpump_instruction in;
    uint32_t count = 0;
    if (from->unit == UNIT_ALU && !type_is_float(from->type) && from->opcode != OPCODE_MIN &&
        from->opcode != OPCODE_MAX)
        return 0;
    gpump_program_instruction(c->program, i, &in);
    for (uint32_t k = 0; k < in.use_count; k++) {
        if (!c->width[in.uses[k]] || has(in.uses, k, in.uses[k])) continue;
        if (count == 2) return 0;
        pair[count++] = in.uses[k];
    }
    return count == 2;
}

typedef struct partner_count {
    uint32_t node, partners;
} partner_count;
static int most_partners(const void *a, const void *b) {
    const partner_count *x = (const partner_count *)a, *y = (const partner_count *)b;
    if (x->partners != y->partners) return x->partners < y->partners ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Chooses the bank of each node before its register. The node that is read together with most others, such as a sum,
 * chooses first, and the others take the other bank. Eight loads that are added up one after the other therefore take
 * 16 registers. Pairs are in bank 0. Returns 0 when memory is out. */
static int choose_banks(coloring *c) {
    partner_count *order = (partner_count *)calloc(c->nodes + 1, sizeof *order);
    uint32_t pair[2], i, r;
    if (!order) return 0;
    for (i = 0; i < c->nodes; i++) {
        order[i].node = i;
        c->bank[i] = c->width[i] == 2 ? 0 : ANY_BANK;
    }
    for (i = 0; i < gpump_program_count(c->program).instructions; i++)
        if (reads_two(c, i, pair)) order[pair[0]].partners++, order[pair[1]].partners++;
    qsort(order, c->registers, sizeof *order, most_partners);
    for (i = 0; i < c->registers && order[i].partners > 1; i++) {
        const uint32_t node = order[i].node;
        uint32_t in_bank[2] = {0, 0};
        for (r = c->reader_start[node]; c->width[node] == 1 && r < c->reader_start[node + 1]; r++) {
            if (!reads_two(c, c->reader[r], pair)) continue;
            uint32_t other = pair[pair[0] == node];
            if (c->bank[other] != ANY_BANK) in_bank[c->bank[other]]++;
        }
        if (c->width[node] == 1) c->bank[node] = in_bank[0] > in_bank[1];
    }
    free(order);
    return 1;
}

static void color_all(coloring *c) {
    uint32_t routine = c->registers, i, k;
    for (i = 0; i < c->nodes; i++) c->color[i] = c->hint[i] = c->stored[i] = GPUMP_NONE;
    for (i = 0; i < gpump_program_count(c->program).instructions; i++) {
        gpump_instruction in;
        const instruction *from = &c->kernel->instructions[i];
        gpump_program_instruction(c->program, i, &in);
        for (k = 1;
             k < in.use_count && from->opcode == OPCODE_ST && from->vector > 1 && in.use_count == from->vector + 1u;
             k++)
            c->stored[in.uses[k]] = i;
        if (in.operation != GPUMP_OP_MOVE && !widens(from)) continue;
        c->hint[in.defs[0]] = in.uses[0];
        c->hint[in.uses[0]] = in.defs[0];
    }
    for (i = 0; i < gpump_program_count(c->program).instructions; i++) {
        const instruction *from = &c->kernel->instructions[i];
        gpump_instruction in;
        gpump_program_instruction(c->program, i, &in);
        if (from->opcode == OPCODE_LD && from->vector > 1 && in.def_count == from->vector)
            color_vector(c, in.defs, in.def_count);
        for (k = 0; k < in.def_count; k++) {
            gpump_instruction store;
            if (c->stored[in.defs[k]] != GPUMP_NONE) {
                gpump_program_instruction(c->program, c->stored[in.defs[k]], &store);
                color_vector(c, store.uses + 1, store.use_count - 1);
            }
            color_one(c, in.defs[k]);
        }
        for (k = routine_registers(from); k-- > 0;) color_one(c, routine++);
    }
}

static int find_readers(coloring *c) {
    uint32_t count = gpump_program_count(c->program).instructions, i, k, pass, total = 0;
    c->reader_start = (uint32_t *)calloc(c->registers + 2, sizeof *c->reader_start);
    for (pass = 0; pass < 2 && c->reader_start; pass++) {
        for (i = 0; i < count; i++) {
            gpump_instruction in;
            gpump_program_instruction(c->program, i, &in);
            for (k = 0; k < in.use_count; k++) {
                if (has(in.uses, k, in.uses[k])) continue; /* the same operand twice */
                if (pass)
                    c->reader[c->reader_start[in.uses[k] + 1]++] = i;
                else
                    c->reader_start[in.uses[k] + 1]++, total++;
            }
        }
        if (pass) break;
        c->reader = (uint32_t *)malloc((total + 1) * sizeof *c->reader);
        if (!c->reader) return 0;
        for (i = c->registers + 1, k = total;
             i-- > 1;) { /* [r + 1]: where the readers of r begin; after the second pass, where they end */
            k -= c->reader_start[i];
            c->reader_start[i] = k;
        }
    }
    return c->reader_start != NULL;
}

/* Counts the registers when instructions move at most `window` places, with or without held operands. Returns 0,
 * or -1. */
static int count_registers(const kernel_program *kernel, uint32_t window, int hold, uint32_t *registers) {
    kernel_program unrolled, selected;
    analysis a;
    coloring c;
    gpump_diag diag;
    gpump_liveness *liveness = NULL;
    int ok = 0;
    memset(&c, 0, sizeof c);
    if (sm75_unroll(kernel, &unrolled)) return -1;
    ok = !sm75_select(&unrolled, &selected);
    free(unrolled.instructions);
    if (!ok) return -1;
    ok = 0;
    if (latency_schedule(&selected, window) || analysis_create(&selected, &a, &diag) != GPUMP_OK) {
        free(selected.instructions);
        return -1;
    }
    c.kernel = &selected;
    c.program = a.program;
    c.registers = c.nodes = gpump_program_count(a.program).registers;
    for (uint32_t i = 0; i < selected.count; i++) c.nodes += routine_registers(&selected.instructions[i]);
    c.words = gpump_bits_words(c.nodes);
    if (c.nodes <= NODES_MAX && gpump_liveness_create(a.program, NULL, &liveness) == GPUMP_OK) {
        c.conflicts = (uint64_t *)calloc((size_t)c.nodes * c.words + 1, sizeof *c.conflicts);
        c.width = (uint32_t *)calloc(c.nodes + 1, sizeof *c.width);
        c.color = (uint32_t *)malloc((c.nodes + 1) * sizeof *c.color);
        c.hint = (uint32_t *)malloc((c.nodes + 1) * sizeof *c.hint);
        c.stored = (uint32_t *)malloc((c.nodes + 1) * sizeof *c.stored);
        c.bank = (uint8_t *)malloc(c.nodes + 1);
        c.taken = (uint8_t *)malloc(2 * ((size_t)c.nodes * 4 + 128)); /* no node is above, aligned to four */
        ok = c.conflicts && c.width && c.color && c.hint && c.stored && c.bank && c.taken && find_readers(&c);
    }
    if (ok) {
        for (uint32_t i = 0; i < c.nodes; i++)
            c.width[i] = i < c.registers ? gpump_program_width(a.program, i) : 1u; /* widths count registers */
        ok = find_conflicts(&c, liveness, hold) && choose_banks(&c);
        if (ok) color_all(&c);
        *registers = (c.top > STACK_POINTER ? c.top : STACK_POINTER + 1) + UNNAMED;
        for (uint32_t i = 0; i < selected.count; i++)
            if (*registers < CALLER && instruction_is_runtime_call(&selected.instructions[i])) *registers = CALLER;
    }
    gpump_liveness_destroy(liveness);
    analysis_destroy(&a);
    free(selected.instructions);
    free(c.conflicts);
    free(c.width);
    free(c.color);
    free(c.hint);
    free(c.stored);
    free(c.taken);
    free(c.bank);
    free(c.reader_start);
    free(c.reader);
    return ok ? 0 : -1;
}

/* Schedules loads as early as their latencies ask for, within the look-ahead. If that needs more registers than an SM
 * full of warps has, operands are not held, and then instructions move less and less. */
int sm75_registers(const kernel_program *kernel, uint32_t *registers) {
    int status = count_registers(kernel, LOOK_AHEAD, 1, registers);
    for (uint32_t window = LOOK_AHEAD; !status && *registers > FULL_SM && window; window /= 2)
        status = count_registers(kernel, window, 0, registers);
    return status;
}
