#include "analysis/sm75_select.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"

/* How a value is held when it needs no register: an immediate, an entry of the constant bank (a parameter, the size of
 * block or grid), or a result of the uniform data path. */
typedef enum value_kind { VALUE_REGISTER, VALUE_CONSTANT, VALUE_BANK, VALUE_UNIFORM } value_kind;

typedef struct selection {
    const gpump_program *program; /* the kernel as a program with the same instructions */
    instruction *code;            /* changed in place; removed instructions become NOPs */
    uint32_t count, registers, predicates;
    uint32_t *defs, *def_at;     /* per register: the number of instructions that write it, and the last one */
    uint32_t *uses, *other_uses; /* per register: reads, and reads other than as the address of a load or store */
    uint64_t *constant;          /* per register: its constant (VALUE_CONSTANT) */
    uint8_t *kind;               /* per register: value_kind */
    int64_t *offset;             /* per register: its value is base[] + offset[] */
    uint32_t *base;
    uint32_t *predicate_defs;
    uint8_t *predicate_shared; /* per predicate: 1 when it is the same for all lanes of a warp */
    uint32_t *moved;           /* per instruction: the branch that it now precedes, or INSTRUCTION_NONE */
} selection;

static int is_register(const operand *o) { return o->kind == OPERAND_REGISTER; }
static int is_branch(const instruction *in) { return in->opcode == OPCODE_BRA; }
static int is_access(const instruction *in) { return in->opcode == OPCODE_LD || in->opcode == OPCODE_ST; }
static void drop(instruction *in) {
    memset(in, 0, sizeof *in);
    in->opcode = OPCODE_NOP;
    in->unit = UNIT_CONTROL;
    in->guard = in->target = in->reconvergence = INSTRUCTION_NONE;
    in->vector = 1;
}

static void count_registers(selection *s) {
    memset(s->defs, 0, s->registers * sizeof *s->defs);
    memset(s->uses, 0, s->registers * sizeof *s->uses);
    memset(s->other_uses, 0, s->registers * sizeof *s->other_uses);
    for (uint32_t i = 0; i < s->count; i++) {
        const instruction *in = &s->code[i];
        for (uint32_t k = 0; k < in->destination_count; k++)
            if (is_register(&in->destinations[k])) {
                s->defs[in->destinations[k].index]++;
                s->def_at[in->destinations[k].index] = i;
            }
        for (uint32_t k = 0; k < in->source_count; k++)
            if (is_register(&in->sources[k])) {
                s->uses[in->sources[k].index]++;
                s->other_uses[in->sources[k].index] +=
                    k || !is_access(in) || (in->space != SPACE_GLOBAL && in->space != SPACE_SHARED);
            }
    }
}

/* Returns the only instruction that writes a register, whole and unguarded, or NULL. */
static instruction *only_def(const selection *s, const operand *o) {
    instruction *in;
    if (!is_register(o) || s->defs[o->index] != 1) return NULL;
    in = &s->code[s->def_at[o->index]];
    return in->guard == INSTRUCTION_NONE && in->destination_count == 1 ? in : NULL;
}
/* Returns 1 when the instruction has one destination, and no other instruction writes it. */
static int defines_alone(const selection *s, const instruction *in) {
    return in->destination_count == 1 && only_def(s, &in->destinations[0]) == in;
}
static int constant_of(const selection *s, const operand *o, int64_t *value) {
    uint64_t bits = o->immediate;
    if (is_register(o) && s->kind[o->index] == VALUE_CONSTANT)
        bits = s->constant[o->index];
    else if (o->kind != OPERAND_IMMEDIATE || o->index == GLOBAL_VARIABLE)
        return 0;
    *value = o->words == 2 ? (int64_t)bits : (int64_t)(int32_t)(uint32_t)bits;
    return 1;
}

static void drop_dead(selection *s) {
    int again = 1;
    while (again) {
        again = 0;
        count_registers(s);
        for (uint32_t i = s->count; i-- > 0;) {
            instruction *in = &s->code[i];
            int dead = in->destination_count > 0 && in->unit != UNIT_CONTROL && in->opcode != OPCODE_ATOM &&
                       in->opcode != OPCODE_SHFL && in->opcode != OPCODE_VOTE && in->opcode != OPCODE_MATCH &&
                       !(in->flags & (FLAG_VOLATILE | FLAG_CARRY_OUT));
            for (uint32_t k = 0; k < in->destination_count; k++)
                dead = dead && is_register(&in->destinations[k]) && !s->uses[in->destinations[k].index];
            if (!dead) continue;
            for (uint32_t k = 0; k < in->source_count; k++)
                if (is_register(&in->sources[k])) s->uses[in->sources[k].index]--;
            drop(in);
            again = 1;
        }
    }
}

static void find_values(selection *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        const instruction *in = &s->code[i];
        const operand *to = &in->destinations[0], *from = &in->sources[0];
        int copies = in->opcode == OPCODE_MOV || (in->opcode == OPCODE_CVTA && in->space == SPACE_GLOBAL);
        if (!defines_alone(s, in) || in->vector > 1) continue;
        if (in->opcode == OPCODE_LD && in->space == SPACE_PARAM && from->kind == OPERAND_NONE &&
            type_bytes(in->type) == 4u * to->words)
            s->kind[to->index] = VALUE_BANK;
        else if (copies && from->kind == OPERAND_IMMEDIATE && from->index == GLOBAL_VARIABLE)
            s->kind[to->index] = VALUE_BANK; /* addresses of the module are in a constant bank of their own */
        else if (copies && from->kind == OPERAND_IMMEDIATE) {
            s->kind[to->index] = VALUE_CONSTANT;
            s->constant[to->index] = from->immediate;
        } else if (copies && from->kind == OPERAND_SPECIAL &&
                   ((from->index >= SPECIAL_NTID_X && from->index <= SPECIAL_NTID_Z) ||
                    (from->index >= SPECIAL_NCTAID_X && from->index <= SPECIAL_NCTAID_Z)))
            s->kind[to->index] = VALUE_BANK;
        else if (copies && is_register(from) && from->words == to->words) {
            s->kind[to->index] = s->kind[from->index];
            s->constant[to->index] = s->constant[from->index];
        }
    }
}

/* ---- addresses ---- */

/* Folds constants into an access's offset. Accesses to shared memory also take a shift of the register: [R.X4], [R.X8],
 * [R.X16]. */
static void fold_into_access(selection *s, instruction *in) {
    operand *address = &in->sources[0];
    const instruction *shift;
    int64_t bits;
    if (!in->source_count || !is_register(address)) return;
    in->offset += s->offset[address->index];
    address->index = s->base[address->index];
    shift = only_def(s, address);
    if (in->space == SPACE_SHARED && shift && shift->opcode == OPCODE_SHL &&
        constant_of(s, &shift->sources[1], &bits) && bits >= 2 && bits <= 4 && is_register(&shift->sources[0]) &&
        s->defs[shift->sources[0].index] == 1)
        *address = shift->sources[0];
}

/* Moves constants from chains of additions into the offsets of loads and stores. The rest of each chain is computed
 * once where it is the same: a[i] and b[i] in shared memory are one register and two offsets. */
static void fold_offsets(selection *s) {
    for (uint32_t i = 0; i < s->registers; i++) s->base[i] = i;
    for (uint32_t i = 0; i < s->count; i++) {
        instruction *in = &s->code[i];
        uint32_t to = in->destinations[0].index, last = in->source_count - 1u, k, n;
        int64_t c;
        if (is_access(in) || in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED) {
            fold_into_access(s, in);
            continue;
        }
        if ((in->opcode != OPCODE_ADD && in->opcode != OPCODE_MAD) || type_is_float(in->type) || !defines_alone(s, in))
            continue;
        if (in->opcode == OPCODE_ADD) {
            for (k = 0; k < 2; k++) {
                const operand *from = &in->sources[k];
                if (!is_register(from) || s->defs[from->index] != 1 || !constant_of(s, &in->sources[!k], &c)) continue;
                s->base[to] = s->base[from->index];
                s->offset[to] = s->offset[from->index] + c;
                break;
            }
            if (k < 2) continue;
        }
        if (s->other_uses[to]) continue;
        if (in->opcode == OPCODE_MAD && constant_of(s, &in->sources[last], &c)) {
            s->offset[to] += c;
            memset(&in->sources[last], 0, sizeof in->sources[last]);
            in->sources[last].kind = OPERAND_IMMEDIATE;
        }
        for (k = in->opcode == OPCODE_MAD ? last : 0; k <= last; k++) {
            operand *from = &in->sources[k];
            if (!is_register(from) || s->defs[from->index] != 1) continue;
            s->offset[to] += s->offset[from->index];
            from->index = s->base[from->index];
        }
        for (n = i; n-- > 0;) {
            const instruction *before = &s->code[n];
            if (before->opcode != in->opcode || before->variant != in->variant || !defines_alone(s, before) ||
                before->source_count != in->source_count ||
                memcmp(before->sources, in->sources, in->source_count * sizeof *in->sources))
                continue;
            if (!gpump_program_dominates(s->program, gpump_program_basic_block_of(s->program, n),
                                         gpump_program_basic_block_of(s->program, i)))
                continue;
            s->base[to] = s->base[before->destinations[0].index];
            break;
        }
    }
    drop_dead(s);
}

/* Returns the largest power of two, at most 16, that divides an operand for certain. */
static int64_t alignment_of(const selection *s, const operand *o, int depth) {
    const instruction *in;
    int64_t c, a, b = 16;
    if (constant_of(s, o, &c)) return c & 15 ? c & -c : 16;
    if (depth > 6 || !(in = only_def(s, o))) return 1;
    switch (in->opcode) {
    case OPCODE_SHL:
        if (!constant_of(s, &in->sources[1], &c)) return 1;
        a = alignment_of(s, &in->sources[0], depth + 1) << (c < 4 ? c : 4);
        break;
    case OPCODE_MAD: b = alignment_of(s, &in->sources[2], depth + 1); /* falls through */
    case OPCODE_MUL:
        a = alignment_of(s, &in->sources[0], depth + 1) * alignment_of(s, &in->sources[1], depth + 1);
        break;
    case OPCODE_ADD:
        a = alignment_of(s, &in->sources[0], depth + 1);
        b = alignment_of(s, &in->sources[1], depth + 1);
        break;
    default: return 1;
    }
    return a < b ? a : b;
}

static int is_word_of_shared(const instruction *in) {
    return in->opcode == OPCODE_LD && in->space == SPACE_SHARED && in->vector == 1 && in->destination_count == 1 &&
           type_bytes(in->type) == 4 && in->guard == INSTRUCTION_NONE && !(in->flags & FLAG_VOLATILE) &&
           in->source_count == 1 && is_register(&in->sources[0]);
}
static int writes_memory(const instruction *in) {
    return in->opcode == OPCODE_ST || in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED ||
           in->opcode == OPCODE_BAR || in->opcode == OPCODE_MEMBAR || in->flags & FLAG_VOLATILE;
}

/* Merges four loads of adjacent words of shared memory into one of 128 bits, where the address is known to be
 * aligned. */
static void merge_loads(selection *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        instruction *first = &s->code[i], *part[4] = {NULL, NULL, NULL, NULL};
        int64_t low = first->offset & ~INT64_C(15);
        operand to[4];
        uint32_t found = 0, k, n;
        if (!is_word_of_shared(first) || alignment_of(s, &first->sources[0], 0) < 16) continue;
        for (n = i; n < s->count && found < 4; n++) {
            instruction *in = &s->code[n];
            if ((in->unit == UNIT_CONTROL && in->opcode != OPCODE_NOP) || writes_memory(in)) break;
            if (!is_word_of_shared(in) || in->sources[0].index != first->sources[0].index || in->offset < low ||
                in->offset >= low + 16 || in->offset & 3 || part[(in->offset - low) / 4])
                continue;
            part[(in->offset - low) / 4] = in;
            found++;
        }
        if (found < 4) continue;
        for (k = 0; k < 4; k++) to[k] = part[k]->destinations[0];
        for (k = 0; k < 4; k++)
            if (part[k] != first) drop(part[k]);
        memcpy(first->destinations, to, sizeof to);
        first->destination_count = first->vector = 4;
        first->offset = low;
    }
    count_registers(s);
}

/* Packs adjacent bytes or halves of one load into as few registers as possible. */
static void pack_loads(selection *s) {
    for (uint32_t i = 0; i < s->registers; i++) s->base[i] = i;
    for (uint32_t i = 0; i < s->count; i++) {
        instruction *in = &s->code[i];
        uint32_t each = type_bytes(in->type), k,
                 good = in->opcode == OPCODE_LD && in->vector > 1 && each < 4 && in->destination_count == in->vector;
        for (k = 0; k < in->destination_count && good; k++)
            good = is_register(&in->destinations[k]) && s->defs[in->destinations[k].index] == 1;
        if (!good) continue;
        for (k = 0; k < in->destination_count; k++)
            s->base[in->destinations[k].index] = in->destinations[k * each / 4].index;
        in->destination_count = in->vector = (uint8_t)((in->vector * each + 3) / 4);
    }
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t k = 0; k < s->code[i].source_count; k++)
            if (is_register(&s->code[i].sources[k])) s->code[i].sources[k].index = s->base[s->code[i].sources[k].index];
    count_registers(s);
}

/* ---- several PTX instructions that become one ---- */

/* mul.wide and add become IMAD.WIDE, mul and add become IMAD, shl and add become LEA (which widens its operand). */
static void fuse(selection *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        instruction *in = &s->code[i];
        const operand *to = &in->destinations[0];
        if (in->opcode != OPCODE_ADD || type_is_float(in->type) || in->destination_count != 1 ||
            in->source_count != 2 || in->guard != INSTRUCTION_NONE)
            continue;
        for (uint32_t k = 0; k < 2; k++) {
            operand other = in->sources[!k];
            const instruction *inner = only_def(s, &in->sources[k]), *widened;
            int single = inner && s->uses[in->sources[k].index] == 1;
            if (inner && inner->opcode == OPCODE_MUL && inner->source_count == 2 &&
                (inner->variant == VARIANT_WIDE ? to->words == 2
                                                : single && inner->variant == VARIANT_LO && to->words == 1)) {
                in->opcode = OPCODE_MAD;
                in->variant = inner->variant;
                in->type = inner->type;
                in->sources[0] = inner->sources[0];
                in->sources[1] = inner->sources[1];
                in->sources[2] = other;
                in->source_count = 3;
                break;
            }
            if (single && inner->opcode == OPCODE_SHL && inner->sources[1].kind == OPERAND_IMMEDIATE &&
                is_register(&inner->sources[0])) {
                in->sources[k] = inner->sources[0];
                widened = only_def(s, &inner->sources[0]);
                if (widened && widened->opcode == OPCODE_CVT && is_register(&widened->sources[0]) && to->words == 2)
                    in->sources[k] = widened->sources[0];
                break;
            }
        }
    }
    drop_dead(s);
}

/* A base in the constant bank plus an offset in registers becomes the [register + uniform register] of a load or
 * store. */
static void use_uniform_bases(selection *s) {
    for (uint32_t i = 0; i < s->registers; i++) s->base[i] = i;
    for (uint32_t i = 0; i < s->count; i++) {
        const instruction *in = &s->code[i];
        const operand *to = &in->destinations[0];
        if (in->opcode != OPCODE_ADD || in->source_count != 2 || to->words != 2 || !defines_alone(s, in) ||
            s->other_uses[to->index])
            continue;
        for (uint32_t k = 0; k < 2; k++) {
            const operand *base = &in->sources[k], *offset = &in->sources[!k];
            if (is_register(base) && s->kind[base->index] == VALUE_BANK && is_register(offset) &&
                s->kind[offset->index] == VALUE_REGISTER && offset->words == 2 && s->defs[offset->index] == 1)
                s->base[to->index] = offset->index;
        }
    }
    for (uint32_t i = 0; i < s->count; i++)
        if (is_access(&s->code[i]) && s->code[i].source_count && is_register(&s->code[i].sources[0]) &&
            s->code[i].space == SPACE_GLOBAL)
            s->code[i].sources[0].index = s->base[s->code[i].sources[0].index];
    drop_dead(s);
}

/* ---- the uniform data path ---- */

static int is_integer_alu(const instruction *in) {
    if (in->unit != UNIT_ALU || type_is_float(in->type) || type_is_float(in->source_type)) return 0;
    switch (in->opcode) {
    case OPCODE_ADD:
    case OPCODE_SUB:
    case OPCODE_MUL:
    case OPCODE_MAD:
    case OPCODE_AND:
    case OPCODE_OR:
    case OPCODE_XOR:
    case OPCODE_NOT:
    case OPCODE_LOP3:
    case OPCODE_SHL:
    case OPCODE_SHR:
    case OPCODE_SHF:
    case OPCODE_SETP:
    case OPCODE_SELP:
    case OPCODE_MIN:
    case OPCODE_MAX:
    case OPCODE_MOV:
    case OPCODE_CVT:
    case OPCODE_CVTA: return 1;
    default: return 0;
    }
}
static int is_shared(const selection *s, const operand *o) {
    switch (o->kind) {
    case OPERAND_REGISTER: return s->kind[o->index] != VALUE_REGISTER;
    case OPERAND_PREDICATE: return s->predicate_shared[o->index];
    case OPERAND_SPECIAL: return o->index >= SPECIAL_NTID_X && o->index <= SPECIAL_NCTAID_Z;
    default: return 1;
    }
}
static int ends_lanes(const selection *s, uint32_t i) {
    while (i < s->count && s->code[i].opcode == OPCODE_NOP) i++;
    return i < s->count && (s->code[i].opcode == OPCODE_RET || s->code[i].opcode == OPCODE_EXIT) &&
           s->code[i].guard == INSTRUCTION_NONE;
}

/* Marks the basic blocks that some of the running lanes may not reach. */
static int find_parted(const selection *s, const gpump_liveness *liveness, uint8_t *parted) {
    uint32_t *branches = (uint32_t *)malloc((s->count + 1) * sizeof *branches), b, k, count;
    for (b = 0; b < gpump_program_count(s->program).basic_blocks && branches; b++) {
        gpump_basic_block block;
        gpump_program_basic_block(s->program, b, &block);
        if (gpump_liveness_enclosing(liveness, block.first, branches, s->count, &count) != GPUMP_OK) break;
        for (k = 0; k < count; k++)
            parted[b] |= !ends_lanes(s, s->code[branches[k]].target) && !ends_lanes(s, branches[k] + 1);
    }
    free(branches);
    return b == gpump_program_count(s->program).basic_blocks;
}

/* Marks 32-bit integer results that all lanes share, where all lanes execute: the uniform data path computes them. */
static int find_uniform(selection *s, const gpump_liveness *liveness) {
    uint8_t *parted = (uint8_t *)calloc(gpump_program_count(s->program).basic_blocks + 1, 1);
    int changed = parted && find_parted(s, liveness, parted), ok = changed;
    while (changed) {
        changed = 0;
        for (uint32_t i = 0; i < s->count; i++) {
            const instruction *in = &s->code[i];
            const operand *to = &in->destinations[0];
            int shared = is_integer_alu(in) && in->destination_count == 1 && in->guard == INSTRUCTION_NONE &&
                         !parted[gpump_program_basic_block_of(s->program, i)];
            for (uint32_t k = 0; k < in->source_count && shared; k++) shared = is_shared(s, &in->sources[k]);
            if (!shared) continue;
            if (to->kind == OPERAND_PREDICATE && s->predicate_defs[to->index] == 1 && !s->predicate_shared[to->index])
                s->predicate_shared[to->index] = 1, changed = 1;
            if (defines_alone(s, in) && to->words == 1 && s->kind[to->index] == VALUE_REGISTER)
                s->kind[to->index] = VALUE_UNIFORM, changed = 1;
        }
    }
    free(parted);
    return ok;
}

/* Reads the block's number into a vector register, unless only the uniform data path uses it. */
static void settle_block_number(selection *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        const instruction *in = &s->code[i];
        const operand *to = &in->destinations[0];
        int uniform = in->destination_count == 1 &&
                      (to->kind == OPERAND_PREDICATE ? s->predicate_shared[to->index]
                                                     : is_register(to) && s->kind[to->index] == VALUE_UNIFORM);
        for (uint32_t k = 0; k < in->source_count && !uniform; k++) {
            const instruction *from = only_def(s, &in->sources[k]);
            if (from && from->opcode == OPCODE_MOV && from->sources[0].kind == OPERAND_SPECIAL &&
                s->kind[in->sources[k].index] == VALUE_UNIFORM)
                s->kind[in->sources[k].index] = VALUE_REGISTER;
        }
    }
}

/* ---- loads that start in an earlier block ---- */

static uint32_t home_of(const selection *s, uint32_t i) {
    return gpump_program_basic_block_of(s->program, s->moved[i] == INSTRUCTION_NONE ? i : s->moved[i]);
}
/* Returns whether instruction i of block b can move to the end of block d. */
static int can_move(const selection *s, uint32_t i, uint32_t b, uint32_t d, int depth) {
    const instruction *in = &s->code[i];
    if (in->guard != INSTRUCTION_NONE || in->flags & (FLAG_VOLATILE | FLAG_CARRY_OUT) || depth > 8 ||
        !defines_alone(s, in))
        return 0;
    if (in->opcode != OPCODE_LD && in->unit != UNIT_ALU) return 0;
    for (uint32_t k = 0; k < in->source_count; k++) {
        const operand *o = &in->sources[k];
        uint32_t at, home;
        if (o->kind == OPERAND_PREDICATE) return 0;
        if (!is_register(o) || s->kind[o->index] != VALUE_REGISTER) continue;
        if (s->defs[o->index] != 1) return 0;
        at = s->def_at[o->index];
        home = home_of(s, at);
        if (home != b ? !gpump_program_dominates(s->program, home, d) : !can_move(s, at, b, d, depth + 1)) return 0;
    }
    return 1;
}
static void move_up(selection *s, uint32_t i, uint32_t b, uint32_t branch) {
    for (uint32_t k = 0; k < s->code[i].source_count; k++) {
        const operand *o = &s->code[i].sources[k];
        if (is_register(o) && s->kind[o->index] == VALUE_REGISTER && home_of(s, s->def_at[o->index]) == b)
            move_up(s, s->def_at[o->index], b, branch);
    }
    s->moved[i] = branch;
}

/* Returns 1 when block b runs as often as its dominator, and no path between the two writes memory. */
static int runs_with_dominator(const selection *s, uint32_t b, const gpump_basic_block *block, uint32_t *stack,
                               uint32_t *seen) {
    gpump_basic_block above, at;
    uint32_t up, i, top = 0;
    gpump_program_basic_block(s->program, block->dominator, &above);
    for (up = above.post_dominator; up != GPUMP_NONE && up != b; up = at.post_dominator)
        gpump_program_basic_block(s->program, up, &at);
    if (up != b || above.loop != block->loop || above.successor_count < 2) return 0;
    for (i = 0; i < above.successor_count; i++)
        if (above.successors[i] != b) seen[stack[top++] = above.successors[i]] = b + 1;
    while (top) {
        gpump_program_basic_block(s->program, stack[--top], &at);
        for (i = at.first; i < at.first + at.count; i++)
            if (writes_memory(&s->code[i])) return 0;
        for (i = 0; i < at.successor_count; i++)
            if (at.successors[i] != b && seen[at.successors[i]] != b + 1) seen[stack[top++] = at.successors[i]] = b + 1;
    }
    return 1;
}
/* Moves loads to such a dominator, with the instructions that compute their addresses. */
static int hoist_loads(selection *s) {
    uint32_t blocks = gpump_program_count(s->program).basic_blocks, b, i;
    uint32_t *stack = (uint32_t *)malloc((blocks + 1) * sizeof *stack),
             *seen = (uint32_t *)calloc(blocks + 1, sizeof *seen);
    int ok = stack && seen;
    for (b = 0; b < blocks && ok; b++) {
        gpump_basic_block block, above;
        gpump_program_basic_block(s->program, b, &block);
        if (block.dominator == GPUMP_NONE || !runs_with_dominator(s, b, &block, stack, seen)) continue;
        gpump_program_basic_block(s->program, block.dominator, &above);
        for (i = block.first; i < block.first + block.count && !writes_memory(&s->code[i]); i++)
            if (s->code[i].opcode == OPCODE_LD && s->code[i].space != SPACE_PARAM &&
                can_move(s, i, b, block.dominator, 0))
                move_up(s, i, b, above.first + above.count - 1);
    }
    free(stack);
    free(seen);
    return ok;
}

/* ---- output: an operand that an instruction cannot read in place is moved into a register first ---- */

typedef struct copied {
    uint64_t constant;
    uint32_t words, reg, at;
} copied;
typedef struct output {
    instruction *code;
    uint32_t count, copies;
    copied *list; /* constants that are in registers; entries of the constant bank are read again each time */
} output;

/* Makes an operand read no vector register. */
static void read_nothing(operand *o) {
    memset(o, 0, sizeof *o);
    o->kind = OPERAND_SPECIAL;
    o->index = SPECIAL_NTID_X;
}

static void copy_before(selection *s, output *out, operand *o, uint32_t kind, uint64_t constant, uint32_t at) {
    uint32_t words = is_register(o) ? o->words : 1, c;
    instruction *move = &out->code[out->count];
    memset(o, 0, sizeof *o);
    o->kind = OPERAND_REGISTER;
    o->words = (uint8_t)words;
    o->bytes = (uint8_t)(4 * words);
    for (c = 0; c < out->copies && kind == VALUE_CONSTANT; c++) {
        const copied *known = &out->list[c];
        if (known->constant != constant || known->words != words ||
            !gpump_program_dominates(s->program, home_of(s, known->at), home_of(s, at)))
            continue;
        o->index = known->reg;
        return;
    }
    o->index = s->registers;
    s->registers += words;
    if (kind == VALUE_CONSTANT) {
        copied *known = &out->list[out->copies++];
        known->constant = constant;
        known->words = words;
        known->at = at;
        known->reg = o->index;
    }
    drop(move);
    move->opcode = OPCODE_MOV;
    move->unit = UNIT_ALU;
    move->type = words == 2 ? TYPE_B64 : TYPE_B32;
    move->destination_count = move->source_count = 1;
    move->destinations[0] = *o;
    read_nothing(&move->sources[0]);
    out->count++;
}

/* Writes one instruction. One operand of an arithmetic instruction may be an immediate, in the constant bank or, for
 * integer instructions, uniform. The address of an access may be so, too. Zero is register RZ. */
static void emit_one(selection *s, output *out, uint32_t i) {
    instruction in = s->code[i];
    int arithmetic = in.unit == UNIT_ALU || in.unit == UNIT_SFU || in.unit == UNIT_DOUBLE, taken = 0;
    if (in.opcode == OPCODE_NOP) return;
    if (in.destination_count == 1 && is_register(&in.destinations[0]) &&
        s->kind[in.destinations[0].index] != VALUE_REGISTER)
        return;
    for (uint32_t k = in.source_count; k-- > 0;) { /* from the end, where an addend in the constant bank is */
        operand *o = &in.sources[k];
        uint32_t kind = VALUE_REGISTER;
        uint64_t constant = is_register(o) ? s->constant[o->index] : o->immediate;
        int zero;
        if (is_register(o)) kind = s->kind[o->index];
        if (o->kind == OPERAND_IMMEDIATE) kind = o->index == GLOBAL_VARIABLE ? VALUE_BANK : VALUE_CONSTANT;
        if (o->kind == OPERAND_PARAM) kind = VALUE_BANK;
        if (kind == VALUE_REGISTER) continue;
        zero = kind == VALUE_CONSTANT && !constant;
        if (zero ||
            (in.unit == UNIT_MEMORY ? k == 0
                                    : !arithmetic || (!taken && (kind != VALUE_UNIFORM || is_integer_alu(&in))))) {
            taken |= !zero;
            read_nothing(o);
        } else
            copy_before(s, out, o, kind, constant, i);
    }
    out->code[out->count++] = in;
}

static int emit(selection *s, kernel_program *to) {
    uint32_t *at = (uint32_t *)malloc((s->count + 1) * sizeof *at), i, k;
    size_t most = (size_t)s->count * (INSTRUCTION_SOURCES + 1) + 1;
    uint8_t *is_target = (uint8_t *)calloc(s->count + 1, 1); /* per instruction: 1 when a move goes there */
    output out = {NULL, 0, 0, NULL};
    int ok;
    out.code = to->instructions = (instruction *)malloc(most * sizeof *out.code);
    out.list = (copied *)malloc(most * sizeof *out.list);
    ok = at && is_target && out.code && out.list;
    for (i = 0; i < s->count && ok; i++)
        if (s->moved[i] != INSTRUCTION_NONE) is_target[s->moved[i]] = 1;
    for (i = 0; i < s->count && ok; i++) {
        at[i] = out.count;
        if (s->moved[i] != INSTRUCTION_NONE) continue;
        for (k = i + 1; k < s->count && is_target[i]; k++)
            if (s->moved[k] == i) emit_one(s, &out, k);
        emit_one(s, &out, i);
    }
    for (i = 0; i < out.count && ok; i++) {
        instruction *in = &out.code[i];
        if (!is_branch(in)) continue;
        in->target = at[in->target];
        if (in->reconvergence != INSTRUCTION_NONE) in->reconvergence = at[in->reconvergence];
    }
    to->count = out.count;
    to->registers = s->registers;
    free(at);
    free(is_target);
    free(out.list);
    return ok;
}

static int allocate(selection *s, const kernel_program *kernel) {
    size_t registers = kernel->registers + 1u, instructions = kernel->count + 1u, predicates = kernel->predicates + 1u;
    s->count = kernel->count;
    s->registers = kernel->registers;
    s->predicates = kernel->predicates;
    s->code = (instruction *)malloc(instructions * sizeof *s->code);
    s->defs = (uint32_t *)calloc(registers, sizeof *s->defs);
    s->def_at = (uint32_t *)calloc(registers, sizeof *s->def_at);
    s->uses = (uint32_t *)calloc(registers, sizeof *s->uses);
    s->other_uses = (uint32_t *)calloc(registers, sizeof *s->other_uses);
    s->constant = (uint64_t *)calloc(registers, sizeof *s->constant);
    s->kind = (uint8_t *)calloc(registers, sizeof *s->kind);
    s->offset = (int64_t *)calloc(registers, sizeof *s->offset);
    s->base = (uint32_t *)calloc(registers, sizeof *s->base);
    s->predicate_defs = (uint32_t *)calloc(predicates, sizeof *s->predicate_defs);
    s->predicate_shared = (uint8_t *)calloc(predicates, sizeof *s->predicate_shared);
    s->moved = (uint32_t *)malloc(instructions * sizeof *s->moved);
    return s->code && s->defs && s->def_at && s->uses && s->other_uses && s->constant && s->kind && s->offset &&
           s->base && s->predicate_defs && s->predicate_shared && s->moved;
}
static void release(selection *s) {
    free(s->code);
    free(s->defs);
    free(s->def_at);
    free(s->uses);
    free(s->other_uses);
    free(s->constant);
    free(s->kind);
    free(s->offset);
    free(s->base);
    free(s->predicate_defs);
    free(s->predicate_shared);
    free(s->moved);
}

int sm75_select(const kernel_program *kernel, kernel_program *selected) {
    selection s;
    analysis a;
    gpump_diag diag;
    gpump_liveness *liveness = NULL;
    int ok;
    memset(&s, 0, sizeof s);
    *selected = *kernel;
    selected->instructions = NULL;
    ok = allocate(&s, kernel) && analysis_create(kernel, &a, &diag) == GPUMP_OK;
    if (ok) {
        memcpy(s.code, kernel->instructions, kernel->count * sizeof *s.code);
        for (uint32_t i = 0; i < s.count; i++) {
            s.moved[i] = INSTRUCTION_NONE;
            for (uint32_t k = 0; k < s.code[i].destination_count; k++)
                if (s.code[i].destinations[k].kind == OPERAND_PREDICATE)
                    s.predicate_defs[s.code[i].destinations[k].index]++;
        }
        s.program = a.program;
        count_registers(&s);
        find_values(&s);
        fold_offsets(&s);
        merge_loads(&s);
        pack_loads(&s);
        fuse(&s);
        use_uniform_bases(&s);
        ok = gpump_liveness_create(a.program, NULL, &liveness) == GPUMP_OK && find_uniform(&s, liveness);
        settle_block_number(&s);
        ok = ok && hoist_loads(&s) && emit(&s, selected);
        gpump_liveness_destroy(liveness);
        analysis_destroy(&a);
    }
    release(&s);
    if (ok) return 0;
    free(selected->instructions);
    selected->instructions = NULL;
    return -1;
}
