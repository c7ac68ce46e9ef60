/* ptx_pointers: which parameters are pointers. PTX does not say: a pointer is a .u64 like any other. A parameter is a
 * pointer when its value, moved or with a number added, becomes the address of an access to global memory, or is
 * converted by cvta.to. */
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx_internal.h"

/* What a register holds. */
typedef enum origin_kind {
    ORIGIN_UNSEEN,    /* nothing yet */
    ORIGIN_NUMBER,    /* no address */
    ORIGIN_PARAMETER, /* the value of parameter `number`, and perhaps a number more */
    ORIGIN_ANY        /* something else that may be an address */
} origin_kind;

typedef struct origin {
    uint32_t kind; /* origin_kind */
    uint32_t number;
} origin;

typedef struct tracing {
    const ptx_reader *reader;
    kernel_program *kernel;
    origin *origins; /* per register */
} tracing;

static const origin number_origin = {ORIGIN_NUMBER, 0}, any_origin = {ORIGIN_ANY, 0};

static origin join(origin a, origin b) {
    if (a.kind == ORIGIN_UNSEEN) return b;
    if (b.kind == ORIGIN_UNSEEN || (a.kind == b.kind && a.number == b.number)) return a;
    return any_origin;
}

/* Of two parameters that are added one may be an index: if one is known to be a pointer, the other is. */
static origin sum(const tracing *t, origin a, origin b) {
    if (a.kind == ORIGIN_UNSEEN || a.kind == ORIGIN_NUMBER) return b;
    if (b.kind == ORIGIN_UNSEEN || b.kind == ORIGIN_NUMBER) return a;
    if (a.kind != ORIGIN_PARAMETER || b.kind != ORIGIN_PARAMETER) return any_origin;
    if (t->kernel->parameters[a.number].is_pointer) return a;
    return t->kernel->parameters[b.number].is_pointer ? b : any_origin;
}

static origin of_operand(const tracing *t, const operand *o) {
    if (o->kind == OPERAND_REGISTER) return t->origins[o->index];
    return o->kind == OPERAND_IMMEDIATE && o->index ? any_origin : number_origin; /* a variable's address */
}

static origin of_parameter(const tracing *t, const instruction *load) {
    origin found = any_origin;
    uint32_t k;
    if (load->sources[0].kind != OPERAND_NONE || load->vector != 1 || type_bytes(load->type) != 8) return any_origin;
    for (k = 0; k < t->kernel->parameter_count; k++) {
        const kernel_parameter *p = &t->kernel->parameters[k];
        if ((int64_t)p->offset != load->offset || p->is_array || p->bytes != 8) continue;
        found.kind = ORIGIN_PARAMETER;
        found.number = k;
    }
    return found;
}

static origin of_result(const tracing *t, const instruction *in) {
    switch (in->opcode) {
    case OPCODE_LD:
        if (in->space == SPACE_PARAM) return of_parameter(t, in);
        return type_bytes(in->type) == 8 ? any_origin : number_origin;
    case OPCODE_MOV: return in->vector > 1 ? any_origin : of_operand(t, &in->sources[0]);
    case OPCODE_CVTA: return in->variant == VARIANT_TO ? of_operand(t, &in->sources[0]) : any_origin;
    case OPCODE_ADD: return sum(t, of_operand(t, &in->sources[0]), of_operand(t, &in->sources[1]));
    case OPCODE_SUB: return of_operand(t, &in->sources[0]);
    case OPCODE_MAD: return of_operand(t, &in->sources[2]);
    case OPCODE_SELP: return join(of_operand(t, &in->sources[0]), of_operand(t, &in->sources[1]));
    case OPCODE_MUL:
    case OPCODE_SHL:
    case OPCODE_SHR:
    case OPCODE_CVT: return number_origin;
    default: return any_origin;
    }
}

static int is_access(const instruction *in) {
    return in->opcode == OPCODE_LD || in->opcode == OPCODE_ST || in->opcode == OPCODE_ATOM ||
           in->opcode == OPCODE_RED || in->opcode == OPCODE_COPY;
}

/* Marks the parameter whose value an instruction uses as an address. Returns 1 when that is news. */
static int mark(tracing *t, const instruction *in) {
    const origin base = of_operand(t, &in->sources[0]);
    kernel_parameter *p = &t->kernel->parameters[base.number];
    const int is_converted = in->opcode == OPCODE_CVTA && in->variant == VARIANT_TO;
    const int is_address = is_access(in) && (in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC ||
                                             in->space == SPACE_CONST || in->opcode == OPCODE_COPY);
    if (in->sources[0].kind != OPERAND_REGISTER || base.kind != ORIGIN_PARAMETER || p->is_pointer) return 0;
    if (!is_converted && !is_address) return 0;
    p->is_pointer = 1;
    p->space = in->space == SPACE_GENERIC ? SPACE_NONE : in->opcode == OPCODE_COPY ? SPACE_GLOBAL : in->space;
    return 1;
}

/* Goes through the code once. Returns 1 when something has become known. */
static int pass(tracing *t) {
    uint32_t i, k;
    int news = 0;
    for (i = 0; i < t->reader->count; i++) {
        const instruction *in = &t->reader->code[i];
        news |= mark(t, in);
        for (k = 0; k < in->destination_count; k++) {
            const operand *to = &in->destinations[k];
            origin *now = &t->origins[to->index], next;
            if (to->kind != OPERAND_REGISTER) continue;
            next = join(*now, of_result(t, in));
            news |= next.kind != now->kind || next.number != now->number;
            *now = next;
        }
    }
    return news;
}

int ptx_mark_pointers(const ptx_reader *reader, kernel_program *kernel) {
    tracing t;
    t.reader = reader;
    t.kernel = kernel;
    t.origins = (origin *)calloc(reader->registers + 1u, sizeof *t.origins);
    if (!t.origins) return -1;
    if (kernel->parameter_count)
        while (pass(&t)) {}
    free(t.origins);
    return 0;
}
