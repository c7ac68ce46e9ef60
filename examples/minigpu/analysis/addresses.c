#include "analysis/addresses.h"

#include <stdlib.h>
#include <string.h>

/* What all definitions of a register together tell about its value. */
typedef enum source_kind {
    SOURCE_UNSEEN,    /* no definition has been seen yet */
    SOURCE_NUMBER,    /* not an address */
    SOURCE_PARAMETER, /* an address in the buffer behind parameter `number` */
    SOURCE_SHARED,    /* an address in shared variable `number` */
    SOURCE_ANY        /* may be an address; its target is unknown */
} source_kind;

typedef struct source {
    uint32_t kind;
    uint32_t number;
} source;

/* A register with a single definition, as the expression uniform + stride * tid.x. The uniform part is the same for the
 * whole block. */
typedef struct affine {
    uint8_t known;
    int64_t stride;
} affine;

typedef struct tracer {
    const kernel_program *kernel;
    const gpump_program *flow;
    source *sources;      /* per register */
    uint32_t *definition; /* per register: the only instruction that defines it; INSTRUCTION_NONE: several or none */
    uint8_t *definitions; /* per register: the number of definitions: 0, 1, or 2 for more */
    affine *affines;      /* per register */
    uint8_t flat;         /* 1: tid.x alone distinguishes the threads of a block */
} tracer;

/* ---- which buffer ---- */

static source join(source a, source b) {
    const source any = {SOURCE_ANY, 0};
    if (a.kind == SOURCE_UNSEEN) return b;
    if (b.kind == SOURCE_UNSEEN || (a.kind == b.kind && a.number == b.number)) return a;
    return any;
}

/* The sum of two sources. An address plus a number stays in the address's buffer. */
static source sum(source a, source b) {
    const source any = {SOURCE_ANY, 0};
    if (a.kind == SOURCE_UNSEEN || b.kind == SOURCE_UNSEEN) return a.kind == SOURCE_UNSEEN ? a : b;
    if (a.kind == SOURCE_NUMBER) return b;
    return b.kind == SOURCE_NUMBER ? a : any;
}

static source source_of_operand(const tracer *t, const operand *o) {
    source s = {SOURCE_NUMBER, 0};
    if (o->kind == OPERAND_REGISTER) return t->sources[o->index];
    if (o->kind == OPERAND_IMMEDIATE && o->index && o->index != GLOBAL_VARIABLE) {
        s.kind = SOURCE_SHARED;
        s.number = o->index;
    }
    return s;
}

static source source_of_parameter(const tracer *t, int64_t offset) {
    source s = {SOURCE_NUMBER, 0};
    uint32_t i;
    for (i = 0; i < t->kernel->parameter_count; i++) {
        const kernel_parameter *p = &t->kernel->parameters[i];
        if (offset < p->offset || offset >= (int64_t)p->offset + p->bytes) continue;
        if (p->is_pointer && !p->is_array) {
            s.kind = SOURCE_PARAMETER;
            s.number = i;
        } else if (p->is_array) {
            s.kind = SOURCE_ANY;
        }
    }
    return s;
}

static source source_of_result(const tracer *t, const instruction *in) {
    const source number = {SOURCE_NUMBER, 0}, any = {SOURCE_ANY, 0};
    source a = source_of_operand(t, &in->sources[0]), b = source_of_operand(t, &in->sources[1]);
    switch (in->opcode) {
    case OPCODE_MOV: return in->vector > 1 ? any : a;
    case OPCODE_CVTA: return a;
    case OPCODE_CVT:
        return in->destinations[0].words == in->sources[0].words || a.kind == SOURCE_NUMBER ? a
               : a.kind == SOURCE_SHARED                                                    ? a
                                                                                            : any;
    case OPCODE_ADD: return sum(a, b);
    case OPCODE_SUB:
        /* The difference of two addresses is a number. */
        if (a.kind == b.kind && a.number == b.number && a.kind != SOURCE_UNSEEN && a.kind != SOURCE_ANY) return number;
        return b.kind == SOURCE_NUMBER || b.kind == SOURCE_UNSEEN ? sum(a, b) : any;
    case OPCODE_MAD: {
        source c = source_of_operand(t, &in->sources[2]);
        source product = a.kind == SOURCE_NUMBER && b.kind == SOURCE_NUMBER   ? number
                         : a.kind == SOURCE_UNSEEN || b.kind == SOURCE_UNSEEN ? (source){SOURCE_UNSEEN, 0}
                                                                              : any;
        return sum(product, c);
    }
    case OPCODE_SELP: return join(a, b);
    case OPCODE_LD:
        if (in->space == SPACE_PARAM && in->sources[0].kind == OPERAND_NONE) return source_of_parameter(t, in->offset);
        return type_bytes(in->type) == 8 ? any : number; /* a loaded 64-bit value may be a pointer */
    case OPCODE_ATOM:
    case OPCODE_TEX:
    case OPCODE_SHFL: return type_bytes(in->type) == 8 ? any : number;
    default: {
        /* Arithmetic on numbers gives a number. Any other operation on an address gives SOURCE_ANY. */
        uint32_t k;
        source all = number;
        for (k = 0; k < in->source_count; k++) {
            source s = source_of_operand(t, &in->sources[k]);
            if (s.kind == SOURCE_UNSEEN)
                all = s;
            else if (s.kind != SOURCE_NUMBER)
                return any;
        }
        return all;
    }
    }
}

static void find_sources(tracer *t) {
    uint32_t i, k, changed = 1;
    while (changed) {
        changed = 0;
        for (i = 0; i < t->kernel->count; i++) {
            const instruction *in = &t->kernel->instructions[i];
            for (k = 0; k < in->destination_count; k++) {
                const operand *to = &in->destinations[k];
                source *now = &t->sources[to->index];
                source next;
                if (to->kind != OPERAND_REGISTER) continue;
                next = join(*now, source_of_result(t, in));
                if (next.kind == now->kind && next.number == now->number) continue;
                *now = next;
                changed = 1;
            }
        }
    }
}

/* ---- how it differs between threads ---- */

static affine affine_of(const tracer *t, const operand *o) {
    affine a = {1, 0};
    if (o->kind == OPERAND_REGISTER) return t->affines[o->index];
    if (o->kind == OPERAND_SPECIAL) {
        a.stride = o->index == SPECIAL_TID_X;
        a.known = o->index == SPECIAL_TID_X || (o->index >= SPECIAL_NTID_X && o->index <= SPECIAL_NCTAID_Z);
    } else if (o->kind != OPERAND_IMMEDIATE && o->kind != OPERAND_PARAM) {
        a.known = 0;
    }
    return a;
}

static affine affine_product(const operand *by, affine a, uint32_t type) {
    affine none = {0, 0}, result = a;
    int64_t factor = type_bytes(type) == 4 ? (int64_t)(int32_t)by->immediate : (int64_t)by->immediate;
    if (!a.known) return none;
    if (a.stride == 0) return a;
    if (by->kind != OPERAND_IMMEDIATE || factor > 65536 || factor < -65536) return none;
    result.stride = a.stride * factor;
    return result;
}

static affine affine_of_result(const tracer *t, const instruction *in) {
    const affine none = {0, 0};
    affine a = affine_of(t, &in->sources[0]), b = affine_of(t, &in->sources[1]), result = none;
    uint32_t k;
    if (in->guard != INSTRUCTION_NONE || (in->unit == UNIT_MEMORY && in->opcode != OPCODE_LD)) return none;
    switch (in->opcode) {
    case OPCODE_MOV:
    case OPCODE_CVTA: return in->vector > 1 ? none : a;
    case OPCODE_CVT:
        /* Widening keeps different numbers different, and keeps their distance as long as it is far below 2^31. */
        return in->destinations[0].words >= in->sources[0].words && !type_is_float(in->type) &&
                       !type_is_float(in->source_type) && type_bytes(in->source_type) >= 4
                   ? a
                   : none;
    case OPCODE_ADD:
    case OPCODE_SUB:
        if (!a.known || !b.known || type_is_float(in->type)) break;
        result.known = 1;
        result.stride = in->opcode == OPCODE_ADD ? a.stride + b.stride : a.stride - b.stride;
        break;
    case OPCODE_SHL:
        if (in->sources[1].kind == OPERAND_IMMEDIATE && in->sources[1].immediate <= 16) {
            operand factor = in->sources[1];
            factor.immediate = UINT64_C(1) << factor.immediate;
            result = affine_product(&factor, a, in->type);
        }
        break;
    case OPCODE_MUL:
    case OPCODE_MAD:
        if (type_is_float(in->type) || in->variant == VARIANT_HI) break;
        if (a.known && b.known && a.stride == 0 && b.stride == 0)
            result = a;
        else if (b.known && b.stride == 0)
            result = affine_product(&in->sources[1], a, in->type);
        else if (a.known && a.stride == 0)
            result = affine_product(&in->sources[0], b, in->type);
        if (in->opcode == OPCODE_MAD && result.known) {
            affine c = affine_of(t, &in->sources[2]);
            result.known = c.known;
            result.stride += c.stride;
        }
        break;
    case OPCODE_LD: result.known = in->space == SPACE_PARAM && in->sources[0].kind == OPERAND_NONE; return result;
    case OPCODE_SHFL:
    case OPCODE_VOTE:
    case OPCODE_MATCH:
    case OPCODE_ACTIVEMASK:
    case OPCODE_ELECT:
    case OPCODE_REDUX: return none;
    default: /* of uniform values */
        for (k = 0; k < in->source_count; k++) {
            a = affine_of(t, &in->sources[k]);
            if (!a.known || a.stride != 0) return none;
        }
        result.known = 1;
    }
    if (result.stride > (INT64_C(1) << 20) || result.stride < -(INT64_C(1) << 20))
        return none; /* 1024 threads keep the value below 2^31 */
    return result;
}

static void find_affines(tracer *t) {
    uint32_t i;
    /* One pass in program order. A definition behind its use is in a loop and stays unknown. */
    for (i = 0; i < t->kernel->count; i++) {
        const instruction *in = &t->kernel->instructions[i];
        const operand *to = &in->destinations[0];
        if (in->destination_count == 1 && to->kind == OPERAND_REGISTER && t->definition[to->index] == i)
            t->affines[to->index] = affine_of_result(t, in);
    }
}

/* ---- one access ---- */

/* Returns 1 when, in every thread, the register has the same value from its definition to each time that `use` reads
 * it. */
static int computed_once(const tracer *t, uint32_t reg, uint32_t use) {
    const uint32_t at = t->definition[reg];
    gpump_basic_block block;
    uint32_t from;
    if (at == INSTRUCTION_NONE || t->kernel->instructions[at].guard != INSTRUCTION_NONE) return 0;
    from = gpump_program_basic_block_of(t->flow, at);
    gpump_program_basic_block(t->flow, from, &block);
    if (block.loop_depth != 0) return 0;
    if (from == gpump_program_basic_block_of(t->flow, use)) return at < use;
    return gpump_program_dominates(t->flow, from, gpump_program_basic_block_of(t->flow, use));
}

static void describe(const tracer *t, uint32_t index, access_address *out) {
    const instruction *in = &t->kernel->instructions[index];
    const operand *base = &in->sources[0];
    source s;
    uint32_t reg, use = index;
    memset(out, 0, sizeof *out);
    out->kind = PLACE_ANYWHERE;
    out->address = GPUMP_ADDRESS_ANYWHERE;
    if (in->opcode == OPCODE_TEX) return;
    if (base->kind == OPERAND_NONE) {
        if (in->space != SPACE_SHARED || !base->index) return;
        out->kind = PLACE_SHARED;
        out->number = base->index;
        if (base->index == SHARED_VARIABLE_EXTERN) return;
        out->address = GPUMP_ADDRESS_FIXED;
        out->offset = in->offset - (int64_t)(base->index - 1);
        return;
    }
    if (base->kind != OPERAND_REGISTER) return;
    s = t->sources[base->index];
    if (s.kind == SOURCE_PARAMETER && (in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC))
        out->kind = PLACE_PARAMETER;
    else if (s.kind == SOURCE_SHARED && in->space == SPACE_SHARED)
        out->kind = PLACE_SHARED;
    else
        return;
    out->number = s.number;
    /* Follows additions of constants back to the value that neighbouring accesses share. */
    reg = base->index;
    out->offset = in->offset;
    while (computed_once(t, reg, use)) {
        const instruction *def = &t->kernel->instructions[t->definition[reg]];
        const operand *from = &def->sources[0], *other = &def->sources[1];
        int64_t add = type_bytes(def->type) == 4 ? (int64_t)(int32_t)other->immediate : (int64_t)other->immediate;
        out->address = GPUMP_ADDRESS_VALUE;
        out->value = reg;
        if (def->opcode != OPCODE_ADD || from->kind != OPERAND_REGISTER || other->kind != OPERAND_IMMEDIATE ||
            other->index || from->words != base->words || !computed_once(t, from->index, t->definition[reg]))
            break;
        out->offset += add;
        use = t->definition[reg];
        reg = from->index;
    }
    if (out->address == GPUMP_ADDRESS_VALUE && t->flat && t->affines[out->value].known) {
        int64_t stride = t->affines[out->value].stride;
        out->thread_stride = (uint32_t)(stride < 0 ? -stride : stride);
    }
}

gpump_result addresses_trace(const kernel_program *kernel, const gpump_program *flow, const uint32_t block[3],
                             access_address *accesses) {
    gpump_result result = GPUMP_ERROR_MEMORY;
    tracer t;
    uint32_t i, k;
    memset(&t, 0, sizeof t);
    t.kernel = kernel;
    t.flow = flow;
    t.flat = block != NULL && block[1] == 1 && block[2] == 1;
    t.sources = (source *)calloc(kernel->registers + 1, sizeof *t.sources);
    t.definition = (uint32_t *)malloc(((size_t)kernel->registers + 1) * sizeof *t.definition);
    t.definitions = (uint8_t *)calloc(kernel->registers + 1, 1);
    t.affines = (affine *)calloc(kernel->registers + 1, sizeof *t.affines);
    if (t.sources && t.definition && t.definitions && t.affines) {
        for (i = 0; i <= kernel->registers; i++) t.definition[i] = INSTRUCTION_NONE;
        for (i = 0; i < kernel->count; i++) {
            const instruction *in = &kernel->instructions[i];
            for (k = 0; k < in->destination_count; k++) {
                uint32_t reg = in->destinations[k].index;
                if (in->destinations[k].kind != OPERAND_REGISTER) continue;
                t.definition[reg] = t.definitions[reg] ? INSTRUCTION_NONE : i;
                t.definitions[reg] = 1;
            }
        }
        find_sources(&t);
        find_affines(&t);
        for (i = 0; i < kernel->count; i++)
            if (instruction_access_bytes(&kernel->instructions[i]) || kernel->instructions[i].opcode == OPCODE_TEX)
                describe(&t, i, &accesses[i]);
        result = GPUMP_OK;
    }
    free(t.sources);
    free(t.definition);
    free(t.definitions);
    free(t.affines);
    return result;
}
