#include "analysis/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/addresses.h"
#include "ptx/ptx_internal.h" /* control_flow_resolve */

#define OPERANDS_MAX 16u

/* ---- registers ---- */

static void note_register(const operand *o, uint8_t *words) {
    if (o->kind == OPERAND_REGISTER && o->words > words[o->index]) words[o->index] = o->words;
}

static gpump_result add_registers(const kernel_program *kernel, analysis *a, gpump_diag *diag) {
    gpump_result result = GPUMP_OK;
    uint8_t *words = (uint8_t *)calloc(kernel->registers + 1, 1);
    uint32_t i, k, reg = 0;
    if (!words) return GPUMP_ERROR_MEMORY;
    for (i = 0; i < kernel->count; i++) {
        const instruction *in = &kernel->instructions[i];
        for (k = 0; k < in->destination_count; k++) note_register(&in->destinations[k], words);
        for (k = 0; k < in->source_count; k++) note_register(&in->sources[k], words);
    }
    for (i = 0; i < kernel->registers; i++) a->vector_register[i] = INSTRUCTION_NONE;
    for (i = 0; i < kernel->registers && result == GPUMP_OK; i++) {
        if (!words[i]) continue;
        result = gpump_program_add_register(a->program, words[i] == 2 ? GPUMP_WIDTH_64 : GPUMP_WIDTH_32, &reg, diag);
        a->vector_register[i] = reg;
        a->kernel_register[reg] = i;
    }
    for (i = 0; i < kernel->predicates && result == GPUMP_OK; i++) {
        result = gpump_program_add_register(a->program, GPUMP_WIDTH_PREDICATE, &reg, diag);
        a->predicate_register[i] = reg;
        a->kernel_register[reg] = i;
    }
    free(words);
    return result;
}

/* Returns 1 when the analyses see the operand, and sets its number. */
static int seen(const analysis *a, const operand *o, uint32_t *number) {
    switch (o->kind) {
    case OPERAND_REGISTER: *number = a->vector_register[o->index]; return 1;
    case OPERAND_PREDICATE: *number = a->predicate_register[o->index]; return 1;
    case OPERAND_PARAM: *number = o->index | GPUMP_OPERAND_PARAMETER; return 1;
    default: return 0;
    }
}

/* ---- memory ---- */

static uint32_t space_of(uint32_t space) {
    switch (space) {
    case SPACE_SHARED: return GPUMP_SPACE_SHARED;
    case SPACE_LOCAL: return GPUMP_SPACE_LOCAL;
    case SPACE_CONST:
    case SPACE_PARAM: return GPUMP_SPACE_CONSTANT;
    case SPACE_TEXTURE: return GPUMP_SPACE_TEXTURE;
    case SPACE_GENERIC: return GPUMP_SPACE_GENERIC;
    default: return GPUMP_SPACE_GLOBAL;
    }
}

/* Returns the object that an access touches; INSTRUCTION_NONE: unknown. */
static uint32_t object_of(const analysis *a, uint32_t space, const access_address *access) {
    uint32_t i;
    if (access->kind == PLACE_PARAMETER) return a->parameter_object[access->number];
    if (access->kind == PLACE_SHARED)
        for (i = 0; i < a->shared_count; i++)
            if (a->shared_number[i] == access->number) return a->shared_object[i];
    return a->space_object[space];
}

/* Returns the flag of an access whose address is in no register. A variable of the file is loaded with its kernel, so
 * its pages are resident; local memory is not. */
static uint32_t flags_of_base(const instruction *in) {
    if (in->opcode == OPCODE_TEX || in->sources[0].kind == OPERAND_REGISTER) return 0;
    return in->space == SPACE_LOCAL ? GPUMP_FLAG_NO_BASE : GPUMP_FLAG_RESIDENT;
}

static void describe_access(const analysis *a, const instruction *in, const access_address *access,
                            gpump_instruction *out) {
    switch (in->opcode) {
    case OPCODE_LDMATRIX:
    case OPCODE_LD: out->access = GPUMP_ACCESS_READ; break;
    case OPCODE_TEX: out->access = GPUMP_ACCESS_READ; break;
    case OPCODE_STMATRIX:
    case OPCODE_ST: out->access = GPUMP_ACCESS_WRITE; break;
    case OPCODE_ATOM:
    case OPCODE_RED:
        out->access = GPUMP_ACCESS_READ | GPUMP_ACCESS_WRITE;
        out->flags |= GPUMP_FLAG_ATOMIC;
        break;
    case OPCODE_SULD:
    case OPCODE_SUST: /* some buffer in global memory, which only the launch knows; its pages are resident */
        out->access = in->opcode == OPCODE_SULD ? GPUMP_ACCESS_READ : GPUMP_ACCESS_WRITE;
        out->flags |= GPUMP_FLAG_RESIDENT;
        out->space = GPUMP_SPACE_GLOBAL;
        out->bytes = instruction_access_bytes(in);
        return;
    case OPCODE_COPY:
        out->access = GPUMP_ACCESS_READ;
        if (a->of_blocks) break;
        /* The copy reads one memory and writes another, so its space is generic. */
        out->access |= GPUMP_ACCESS_WRITE;
        out->flags |= GPUMP_FLAG_RESIDENT;
        out->space = GPUMP_SPACE_GENERIC;
        out->bytes = in->lookup;
        return;
    case OPCODE_PRINT:
    case OPCODE_ASSERT:
    case OPCODE_MALLOC:
    case OPCODE_FREE: /* executed once, like an atomic somewhere in global memory; its pages are resident */
        out->access = GPUMP_ACCESS_READ | GPUMP_ACCESS_WRITE;
        out->flags |= GPUMP_FLAG_ATOMIC | GPUMP_FLAG_RESIDENT;
        out->space = GPUMP_SPACE_GLOBAL;
        out->bytes = 8;
        return;
    default: return;
    }
    out->space = in->opcode == OPCODE_TEX ? (uint32_t)GPUMP_SPACE_TEXTURE : space_of(in->space);
    out->bytes = in->opcode == OPCODE_TEX ? 16 : instruction_access_bytes(in);
    out->displacement = in->offset;
    if (in->flags & FLAG_VOLATILE) out->flags |= GPUMP_FLAG_VOLATILE;
    out->flags |= flags_of_base(in);
    out->object = object_of(a, out->space, access);
    /* For ldmatrix and stmatrix only the variable is known, because a lane's address names a row for other lanes. */
    if (out->object == INSTRUCTION_NONE || in->opcode == OPCODE_LDMATRIX || in->opcode == OPCODE_STMATRIX) return;
    out->address = access->address;
    out->value = access->value;
    out->offset = access->offset;
    out->thread_stride = access->thread_stride;
    if (in->opcode != OPCODE_TEX && access->kind == PLACE_ANYWHERE &&
        in->sources[0].kind == OPERAND_NONE) { /* local and constant memory */
        out->address = GPUMP_ADDRESS_FIXED;
        out->offset = in->offset;
    }
}

/* ---- one instruction ---- */

static int is_plain_move(const instruction *in) {
    const operand *to = &in->destinations[0], *from = &in->sources[0];
    if (in->destination_count != 1 || in->source_count != 1 || in->vector > 1 || from->kind != to->kind ||
        from->words != to->words)
        return 0;
    if (in->opcode == OPCODE_CVTA)
        return in->space == SPACE_GLOBAL || in->space == SPACE_CONST; /* global addresses equal generic ones */
    return in->opcode == OPCODE_MOV && !from->negated &&
           (to->kind == OPERAND_REGISTER || to->kind == OPERAND_PREDICATE) && from->bytes == to->bytes;
}

static uint32_t operation_of(const instruction *in) {
    const operand *to = &in->destinations[0];
    switch (in->opcode) {
    case OPCODE_BRA: return GPUMP_OP_BRANCH;
    case OPCODE_RET:
    case OPCODE_EXIT:
    case OPCODE_TRAP: return GPUMP_OP_EXIT;
    case OPCODE_BAR:
        return in->variant == VARIANT_ARRIVE || in->destination_count ? GPUMP_OP_COMPUTE
                                                                      : GPUMP_OP_BARRIER; /* others: fences */
    case OPCODE_LD:
        /* A load of a whole register from a fixed place of the parameters. */
        if (in->space == SPACE_PARAM && in->sources[0].kind == OPERAND_NONE && in->vector == 1 &&
            to->kind == OPERAND_REGISTER && type_bytes(in->type) == 4u * to->words && in->offset >= 0)
            return GPUMP_OP_PARAMETER;
        return GPUMP_OP_COMPUTE;
    case OPCODE_MOV:
        if (in->vector <= 1 && in->source_count == 1 && in->sources[0].kind == OPERAND_IMMEDIATE &&
            to->kind == OPERAND_REGISTER && to->bytes >= 4)
            return GPUMP_OP_CONSTANT;
        return is_plain_move(in) ? GPUMP_OP_MOVE : GPUMP_OP_COMPUTE;
    case OPCODE_CVTA: return is_plain_move(in) ? GPUMP_OP_MOVE : GPUMP_OP_COMPUTE;
    default: return GPUMP_OP_COMPUTE;
    }
}

/* accesses: NULL leaves memory out. */
static gpump_result add_instruction(const kernel_program *kernel, analysis *a, const access_address *accesses,
                                    uint32_t index, gpump_diag *diag) {
    const instruction *in = &kernel->instructions[index];
    gpump_instruction out = gpump_instruction_make(operation_of(in));
    uint32_t defs[OPERANDS_MAX], uses[OPERANDS_MAX], k;
    for (k = 0; k < in->destination_count; k++)
        out.def_count += (uint32_t)seen(a, &in->destinations[k], &defs[out.def_count]);
    for (k = 0; k < in->source_count; k++) out.use_count += (uint32_t)seen(a, &in->sources[k], &uses[out.use_count]);
    out.defs = defs;
    out.uses = uses;
    out.tag = index;
    if (in->guard != INSTRUCTION_NONE) {
        out.guard = a->predicate_register[in->guard];
        if (in->guard_negated) out.flags |= GPUMP_FLAG_GUARD_NEGATED;
    }
    switch (out.operation) {
    case GPUMP_OP_BRANCH:
        out.target = in->target;
        if (in->flags & FLAG_UNIFORM) out.flags |= GPUMP_FLAG_UNIFORM;
        break;
    case GPUMP_OP_PARAMETER: out.immediate = in->offset; break;
    case GPUMP_OP_CONSTANT: out.immediate = (int64_t)in->sources[0].immediate; break;
    case GPUMP_OP_COMPUTE:
        if (accesses) describe_access(a, in, &accesses[index], &out);
        if (in->opcode == OPCODE_ADD && out.def_count == 1 && out.use_count == 1 &&
            in->sources[0].kind == OPERAND_REGISTER && in->sources[1].kind == OPERAND_IMMEDIATE &&
            in->sources[0].words == in->destinations[0].words && in->destinations[0].bytes >= 4 &&
            !type_is_float(in->type)) {
            out.operation = GPUMP_OP_ADD;
            out.immediate = in->destinations[0].words == 2 ? (int64_t)in->sources[1].immediate
                                                           : (int64_t)(int32_t)in->sources[1].immediate;
        }
        if (in->opcode == OPCODE_MEMBAR || in->opcode == OPCODE_BAR) out.flags |= GPUMP_FLAG_FENCE;
        if (in->opcode == OPCODE_SHFL || in->opcode == OPCODE_VOTE || in->opcode == OPCODE_MATCH ||
            in->opcode == OPCODE_ACTIVEMASK || in->opcode == OPCODE_ELECT || in->opcode == OPCODE_REDUX ||
            in->opcode == OPCODE_WARPSYNC || in->opcode == OPCODE_MMA || in->opcode == OPCODE_MOVMATRIX ||
            in->opcode == OPCODE_LDMATRIX || in->opcode == OPCODE_STMATRIX)
            out.flags |= GPUMP_FLAG_CONVERGENT;
        break;
    default: break;
    }
    return gpump_program_add(a->program, &out, NULL, diag);
}

/* Adds the memory objects. Each pointer parameter is a buffer of its own, unless the launch says otherwise. Each shared
 * variable is an object. Local memory and constant memory are one object each. */
static gpump_result add_objects(const kernel_program *kernel, analysis *a, const access_address *accesses,
                                const uint32_t *alias_class, gpump_diag *diag) {
    gpump_result result = GPUMP_OK;
    gpump_memory_object object;
    uint32_t i, k;
    for (i = 0; i < GPUMP_SPACES && result == GPUMP_OK; i++) {
        a->space_object[i] = INSTRUCTION_NONE;
        object.space = i;
        object.alias_class = GPUMP_NONE;
        if (i == GPUMP_SPACE_LOCAL || i == GPUMP_SPACE_CONSTANT)
            result = gpump_program_add_object(a->program, &object, &a->space_object[i], diag);
    }
    for (i = 0; i < kernel->parameter_count && result == GPUMP_OK; i++) {
        a->parameter_object[i] = INSTRUCTION_NONE;
        object.space = GPUMP_SPACE_GLOBAL;
        object.alias_class = alias_class ? alias_class[i] : GPUMP_NONE;
        if (kernel->parameters[i].is_pointer)
            result = gpump_program_add_object(a->program, &object, &a->parameter_object[i], diag);
    }
    a->shared_count = 0;
    for (i = 0; accesses && i < kernel->count && result == GPUMP_OK; i++) {
        if (accesses[i].kind != PLACE_SHARED) continue;
        for (k = 0; k < a->shared_count && a->shared_number[k] != accesses[i].number; k++) {}
        if (k < a->shared_count) continue;
        object.space = GPUMP_SPACE_SHARED;
        object.alias_class = GPUMP_NONE;
        a->shared_number[k] = accesses[i].number;
        result = gpump_program_add_object(a->program, &object, &a->shared_object[k], diag);
        a->shared_count++;
    }
    return result;
}

static gpump_result build(const kernel_program *kernel, analysis *a, const access_address *accesses,
                          const uint32_t *alias_class, gpump_diag *diag) {
    gpump_result result = gpump_program_create(NULL, &a->program);
    uint32_t i;
    if (result == GPUMP_OK) result = add_registers(kernel, a, diag);
    if (result == GPUMP_OK) result = add_objects(kernel, a, accesses, alias_class, diag);
    for (i = 0; i < kernel->count && result == GPUMP_OK; i++) result = add_instruction(kernel, a, accesses, i, diag);
    return result == GPUMP_OK ? gpump_program_finish(a->program, diag) : result;
}

/* Builds the program twice. The first program gives the loops and dominators that tracing the addresses needs. */
static gpump_result create(const kernel_program *kernel, const uint32_t block[3], const uint32_t *alias_class,
                           uint8_t of_blocks, analysis *a, gpump_diag *diag) {
    access_address *accesses = (access_address *)calloc(kernel->count + 1, sizeof *accesses);
    gpump_result result = GPUMP_ERROR_MEMORY;
    memset(a, 0, sizeof *a);
    a->of_blocks = of_blocks;
    a->vector_register = (uint32_t *)calloc(kernel->registers + 1, sizeof(uint32_t));
    a->predicate_register = (uint32_t *)calloc(kernel->predicates + 1, sizeof(uint32_t));
    a->kernel_register = (uint32_t *)calloc((size_t)kernel->registers + kernel->predicates + 1, sizeof(uint32_t));
    a->parameter_object = (uint32_t *)calloc(kernel->parameter_count + 1, sizeof(uint32_t));
    a->shared_number = (uint32_t *)calloc(kernel->count + 1, sizeof(uint32_t));
    a->shared_object = (uint32_t *)calloc(kernel->count + 1, sizeof(uint32_t));
    if (accesses && a->vector_register && a->predicate_register && a->kernel_register && a->parameter_object &&
        a->shared_number && a->shared_object) {
        result = build(kernel, a, NULL, alias_class, diag);
        if (result == GPUMP_OK) result = addresses_trace(kernel, a->program, block, accesses);
        if (result == GPUMP_OK) {
            gpump_program_destroy(a->program);
            a->program = NULL;
            result = build(kernel, a, accesses, alias_class, diag);
        }
    }
    free(accesses);
    if (result != GPUMP_OK) analysis_destroy(a);
    return result;
}

gpump_result analysis_create_launch(const kernel_program *kernel, const uint32_t block[3], const uint32_t *alias_class,
                                    analysis *a, gpump_diag *diag) {
    return create(kernel, block, alias_class, 0, a, diag);
}

gpump_result analysis_create_for(const kernel_program *kernel, const uint32_t block[3], analysis *a, gpump_diag *diag) {
    return analysis_create_launch(kernel, block, NULL, a, diag);
}

gpump_result analysis_create(const kernel_program *kernel, analysis *a, gpump_diag *diag) {
    return analysis_create_for(kernel, NULL, a, diag);
}

void analysis_destroy(analysis *a) {
    gpump_program_destroy(a->program);
    free(a->vector_register);
    free(a->predicate_register);
    free(a->kernel_register);
    free(a->parameter_object);
    free(a->shared_number);
    free(a->shared_object);
    memset(a, 0, sizeof *a);
}

gpump_result analysis_clobbers(const kernel_program *kernel, const uint32_t block[3], const uint32_t *alias_class,
                               uint8_t *clobbers, gpump_diag *diag) {
    gpump_result result;
    analysis a;
    if (kernel->uses_textures) return GPUMP_ERROR_ARGUMENT;
    if ((result = create(kernel, block, alias_class, 1, &a, diag)) != GPUMP_OK) return result;
    result = gpump_clobbers_block(a.program, clobbers, NULL);
    analysis_destroy(&a);
    return result;
}

/* ---- from a program back to a kernel ---- */

/* Where the registers of the allocated program are in the kernel: vector registers first, then predicates. */
typedef struct target_file {
    uint32_t registers;    /* vector registers in use */
    uint64_t spill_base;   /* byte in local memory at which the spill area starts */
    const uint32_t *names; /* names[r]: the number of the program's register r; NULL: r */
} target_file;

static uint32_t name_of(const target_file *file, uint32_t number) { return file->names ? file->names[number] : number; }

static operand new_operand(const target_file *file, uint32_t number) {
    operand o;
    memset(&o, 0, sizeof o);
    o.index = number & GPUMP_OPERAND_INDEX;
    o.words = number & GPUMP_OPERAND_PAIR ? 2 : 1;
    o.bytes = (uint8_t)(4 * o.words);
    o.kind = OPERAND_REGISTER;
    if (!(number & GPUMP_OPERAND_PARAMETER)) o.index = name_of(file, o.index);
    if (number & GPUMP_OPERAND_PARAMETER) {
        o.kind = OPERAND_PARAM;
    } else if (o.index >= file->registers) {
        o.kind = OPERAND_PREDICATE;
        o.index -= file->registers;
        o.words = o.bytes = 0;
    }
    return o;
}

static operand immediate_operand(uint64_t value, uint8_t words) {
    operand o;
    memset(&o, 0, sizeof o);
    o.kind = OPERAND_IMMEDIATE;
    o.words = words;
    o.immediate = value;
    return o;
}

/* Replaces an operand's register. The operand keeps its declared size and its complement. */
static void replace_operand(const target_file *file, operand *o, uint32_t number) {
    operand now = new_operand(file, number);
    now.bytes = o->bytes;
    now.negated = o->negated;
    *o = now;
}

/* Makes an instruction without operands. */
static void make_bare(instruction *to, uint32_t opcode, uint32_t unit) {
    to->opcode = (uint8_t)opcode;
    to->unit = (uint8_t)unit;
    to->type = TYPE_NONE;
    to->destination_count = to->source_count = 0;
}

static void make_page_entered(const target_file *file, const gpump_instruction *from, instruction *to) {
    to->opcode = OPCODE_PAGE_ENTERED;
    to->type = TYPE_NONE;
    to->offset = from->displacement;
    to->sources[0] = new_operand(file, from->uses[0]);
    to->sources[1] = immediate_operand((uint64_t)from->immediate, 2);
    to->sources[2] = immediate_operand(from->bytes, 2);
    to->source_count = 3;
}

/* The type of a page check is as wide as the access that it checks. */
static void make_check(const target_file *file, const gpump_instruction *from, uint32_t predicate, instruction *to) {
    to->opcode = OPCODE_CHECK;
    to->unit = UNIT_MEMORY;
    to->variant = from->access & GPUMP_ACCESS_WRITE ? VARIANT_WRITE : VARIANT_NONE;
    to->space = from->space == GPUMP_SPACE_GENERIC ? SPACE_GENERIC
                : from->space == GPUMP_SPACE_LOCAL ? SPACE_LOCAL
                                                   : SPACE_GLOBAL;
    to->type = from->bytes == 1 ? TYPE_B8 : from->bytes == 2 ? TYPE_B16 : from->bytes == 4 ? TYPE_B32 : TYPE_B64;
    to->vector = (uint8_t)(from->bytes / type_bytes(to->type));
    to->offset = from->displacement;
    to->check = predicate;
    to->destination_count = 0;
    if (!(from->flags & GPUMP_FLAG_NO_BASE)) to->sources[0] = new_operand(file, from->uses[0]);
}

/* Makes a load from the parameters, or a load or store of a spilled register. */
static void make_access(const target_file *file, const gpump_instruction *from, const operand *value, instruction *to) {
    const int is_parameter = from->operation == GPUMP_OP_PARAMETER, is_store = from->operation == GPUMP_OP_SPILL_STORE;
    to->opcode = is_store ? OPCODE_ST : OPCODE_LD;
    to->unit = UNIT_MEMORY;
    to->space = is_parameter ? SPACE_PARAM : SPACE_LOCAL;
    to->offset = from->immediate + (is_parameter ? 0 : (int64_t)file->spill_base);
    if (!is_store) return;
    to->destination_count = 0;
    to->sources[1] = *value;
    to->source_count = 2;
}

/* Writes the instruction that a transform inserted, or a constant or parameter that it sets once more. Returns -1 for
 * an operation that no transform inserts. */
static int make_instruction(const target_file *file, const gpump_instruction *from, instruction *to) {
    const operand none = {0, 0, OPERAND_NONE, 0, 0, 0};
    operand value = from->def_count   ? new_operand(file, from->defs[0])
                    : from->use_count ? new_operand(file, from->uses[0])
                                      : none;
    memset(to, 0, sizeof *to);
    to->target = to->reconvergence = to->guard = to->check = INSTRUCTION_NONE;
    to->vector = 1;
    to->type = value.kind == OPERAND_PREDICATE ? TYPE_PRED : value.words == 2 ? TYPE_B64 : TYPE_B32;
    to->destination_count = to->source_count = 1;
    to->opcode = OPCODE_MOV;
    to->unit = UNIT_ALU;
    to->destinations[0] = value;
    switch (from->operation) {
    case GPUMP_OP_MOVE: to->sources[0] = new_operand(file, from->uses[0]); break;
    case GPUMP_OP_BOUNDARY:
        make_bare(to, OPCODE_BOUNDARY, UNIT_ALU);
        to->variant = from->immediate == GPUMP_BOUNDARY_SHORT ? VARIANT_SHORT : VARIANT_NONE;
        break;
    case GPUMP_OP_PP: make_bare(to, OPCODE_PP, UNIT_ALU); break;
    case GPUMP_OP_PP_DIVERGED: make_bare(to, OPCODE_PP_DIVERGED, UNIT_ALU); break;
    case GPUMP_OP_START_MARKER: make_bare(to, OPCODE_START_MARKER, UNIT_ALU); break;
    case GPUMP_OP_CONSTANT: to->sources[0] = immediate_operand((uint64_t)from->immediate, value.words); break;
    case GPUMP_OP_CLEAR_CHECK: to->sources[0] = immediate_operand(0, value.words); break;
    case GPUMP_OP_PAGE_ENTERED: make_page_entered(file, from, to); break;
    case GPUMP_OP_CHECK: make_check(file, from, value.index, to); break;
    case GPUMP_OP_BRANCH:
    case GPUMP_OP_GUARDED_CALL:
        make_bare(to, from->operation == GPUMP_OP_BRANCH ? OPCODE_BRA : OPCODE_GUARDED_CALL, UNIT_CONTROL);
        to->target = from->target;
        break;
    case GPUMP_OP_PARAMETER:
    case GPUMP_OP_SPILL_LOAD:
    case GPUMP_OP_SPILL_STORE: make_access(file, from, &value, to); break;
    default: return -1;
    }
    if (!to->destination_count) to->destinations[0] = none;
    return 0;
}

/* Returns the origin of the first instruction from `i` on that has one. A page check belongs to that instruction. */
static uint32_t origin_behind(const uint32_t *origins, uint32_t i, uint32_t count) {
    while (i < count && origins[i] == GPUMP_NONE) i++;
    return i < count ? origins[i] : GPUMP_NONE;
}

/* origins: the number of each instruction in the kernel; GPUMP_NONE for inserted instructions. */
static gpump_result rewrite(const kernel_program *kernel, const gpump_program *program, const uint32_t *origins,
                            const target_file *file, kernel_program *allocated) {
    uint32_t i, k, number, count = gpump_program_count(program).instructions;
    allocated->instructions = (instruction *)calloc(count ? count : 1, sizeof(instruction));
    if (!allocated->instructions) return GPUMP_ERROR_MEMORY;
    allocated->count = count;
    for (i = 0; i < count; i++) {
        instruction *to = &allocated->instructions[i];
        const uint32_t origin = origins[i];
        gpump_instruction from;
        gpump_program_instruction(program, i, &from);
        if (origin == GPUMP_NONE || from.operation == GPUMP_OP_CONSTANT || from.operation == GPUMP_OP_PARAMETER) {
            const uint32_t place = from.operation == GPUMP_OP_CHECK ? origin_behind(origins, i, count) : origin;
            if (make_instruction(file, &from, to)) return GPUMP_ERROR_STATE;
            if (place != GPUMP_NONE) {
                to->line = kernel->instructions[place].line;
                to->column = kernel->instructions[place].column;
            } else if (i > 0) {
                to->line = to[-1].line;
                to->column = to[-1].column;
            }
        } else {
            *to = kernel->instructions[origin];
            for (k = number = 0; k < to->destination_count; k++)
                if (to->destinations[k].kind == OPERAND_REGISTER || to->destinations[k].kind == OPERAND_PREDICATE)
                    replace_operand(file, &to->destinations[k], from.defs[number++]);
            for (k = number = 0; k < to->source_count; k++)
                if (to->sources[k].kind == OPERAND_REGISTER || to->sources[k].kind == OPERAND_PREDICATE ||
                    to->sources[k].kind == OPERAND_PARAM)
                    replace_operand(file, &to->sources[k], from.uses[number++]);
            if (from.target != GPUMP_NONE) to->target = from.target;
            if (from.operation == GPUMP_OP_BARRIER_PP) to->flags |= FLAG_POINT;
            if (from.flags & GPUMP_FLAG_CHECKED)
                to->check = name_of(file, from.defs[from.def_count - 1]) - file->registers;
        }
        if (from.guard != GPUMP_NONE) {
            to->guard = name_of(file, from.guard) - file->registers;
            to->guard_negated = (from.flags & GPUMP_FLAG_GUARD_NEGATED) != 0;
        }
    }
    return control_flow_resolve(allocated->instructions, count) ? GPUMP_ERROR_MEMORY : GPUMP_OK;
}

/* ---- continuous spilling (iGPU 4.2): live registers are stored to local memory before a sparse boundary, and loaded
 * behind it ---- */

/* Appends a store (or load) of each vector register in a set. Returns the number of registers. */
static uint32_t move_registers(const target_file *file, const uint64_t *set, uint32_t operation,
                               const instruction *place, instruction *code) {
    uint32_t reg, count = 0;
    for (reg = 0; reg < file->registers; reg++) {
        gpump_instruction from = gpump_instruction_make(operation);
        if (!gpump_bits_get(set, reg)) continue;
        from.defs = from.uses = &reg;
        from.def_count = operation == GPUMP_OP_SPILL_LOAD;
        from.use_count = operation == GPUMP_OP_SPILL_STORE;
        from.immediate = (int64_t)reg * 4;
        (void)make_instruction(file, &from, &code[count]);
        code[count].line = place->line;
        code[count++].column = place->column;
    }
    return count;
}

/* Inserts stores before every sparse boundary of a lowered kernel, and loads behind it when all live-ins are stored.
 * Predicates are not stored. */
static gpump_result spill_at_boundaries(kernel_program *lowered, const gpump_program *program, const target_file *file,
                                        uint32_t spilling) {
    const uint32_t count = lowered->count;
    const int all = spilling == SPILLING_ALL;
    target_file at_base = *file;
    gpump_liveness *liveness = NULL;
    gpump_result result = gpump_liveness_create(program, NULL, &liveness);
    const uint32_t words = result == GPUMP_OK ? gpump_liveness_words(liveness) : 0;
    uint32_t *place = (uint32_t *)calloc(count + 1u, sizeof *place), i, at = 0, boundary = 0, boundaries = 0;
    uint64_t *sets = (uint64_t *)calloc((size_t)count * words + 1u, sizeof *sets);
    instruction *code = NULL;
    if (result == GPUMP_OK && (!place || !sets)) result = GPUMP_ERROR_MEMORY;
    if (result == GPUMP_OK)
        result = gpump_regions_stored(program, liveness, all ? GPUMP_SPILLING_ALL : GPUMP_SPILLING_CHANGED, sets, count,
                                      &boundaries);
    if (result == GPUMP_OK) {
        const uint32_t moved = gpump_bits_count(sets, boundaries * words) * 2u;
        if (!(code = (instruction *)calloc(count + moved + 1u, sizeof *code))) result = GPUMP_ERROR_MEMORY;
    }
    at_base.spill_base = (lowered->local_bytes + 7u) / 8u * 8u;
    for (i = 0; result == GPUMP_OK && i < count; i++) {
        const instruction *in = &lowered->instructions[i];
        const uint64_t *set =
            in->opcode == OPCODE_BOUNDARY && in->variant != VARIANT_SHORT ? sets + (size_t)boundary++ * words : NULL;
        place[i] = at; /* a branch to a boundary executes the stores first */
        if (set) at += move_registers(&at_base, set, GPUMP_OP_SPILL_STORE, in, code + at);
        code[at++] = *in;
        if (set && all) at += move_registers(&at_base, set, GPUMP_OP_SPILL_LOAD, in, code + at);
    }
    if (result == GPUMP_OK) {
        for (i = 0; i < at; i++)
            if (code[i].target != INSTRUCTION_NONE) code[i].target = place[code[i].target];
        free(lowered->instructions);
        lowered->instructions = code;
        lowered->count = at;
        lowered->local_bytes = (uint32_t)at_base.spill_base + file->registers * 4;
        code = NULL;
        if (control_flow_resolve(lowered->instructions, at)) result = GPUMP_ERROR_MEMORY;
    }
    free(code);
    free(place);
    free(sets);
    gpump_liveness_destroy(liveness);
    return result;
}

/* ---- transforms ---- */

/* Returns whether a write can clobber what a region reads. Shared memory is restored when a region restarts, so plain
 * stores to it cannot. */
static int outside_shared(void *user, uint32_t read, uint32_t write) {
    gpump_instruction in;
    (void)read;
    gpump_program_instruction((const gpump_program *)user, write, &in);
    return in.space != GPUMP_SPACE_SHARED || in.access != GPUMP_ACCESS_WRITE;
}

static gpump_result form_regions(gpump_program *program, const analysis_lowering *how, gpump_program **formed,
                                 gpump_regions_report *report, gpump_diag *diag) {
    gpump_regions_config config;
    gpump_result result =
        gpump_preset(&gpump_regions_component, &config, how->regions == REGIONS_SPARSE ? "igpu" : "igpu_short", NULL);
    if (how->regions_config) config = *how->regions_config;
    if (how->regions != REGIONS_SPARSE) config.max_instructions = how->regions;
    if (how->shared_goes_back) {
        config.may_clobber = outside_shared;
        config.user = (void *)program; /* only read */
    }
    return result == GPUMP_OK ? gpump_regions_form(program, &config, formed, report, diag) : result;
}

static gpump_result insert_page_checks(const gpump_program *program, const analysis_lowering *how,
                                       gpump_program **checked, gpump_page_checks_report *report, gpump_diag *diag) {
    gpump_page_checks_config config;
    gpump_result result = gpump_preset(&gpump_page_checks_component, &config, "kim", NULL);
    config.page_bytes = how->page_bytes;
    config.local = how->local_checks;
    config.walks = how->page_checks == PAGE_CHECKS_ARRAY || how->page_checks == PAGE_CHECKS_KIM;
    config.predicated = how->page_checks == PAGE_CHECKS_POINTER || how->page_checks == PAGE_CHECKS_KIM;
    return result == GPUMP_OK ? gpump_page_checks_insert(program, &config, checked, report, diag) : result;
}

/* Places preemption points. Their live registers are not used, because the host's SIMT stack gives more precise ones
 * (context_forms.h). */
static gpump_result place_points(const gpump_program *program, uint32_t interval, gpump_program **placed,
                                 uint32_t *count, gpump_diag *diag) {
    const uint32_t capacity = gpump_program_count(program).instructions;
    gpump_preempt_points_config config;
    gpump_preempt_point *points = (gpump_preempt_point *)calloc(capacity + 1u, sizeof *points);
    gpump_result result =
        points ? gpump_preset(&gpump_preempt_points_component, &config, "lin", NULL) : GPUMP_ERROR_MEMORY;
    if (result == GPUMP_OK) {
        config.interval = interval;
        result = gpump_preempt_points_place(program, &config, placed, points, capacity, count, diag);
    }
    free(points);
    return result;
}

const char *page_check_form_name(uint32_t form) {
    static const char *const names[PAGE_CHECK_FORMS] = {"none", "every", "array", "pointer", "kim"};
    return form < PAGE_CHECK_FORMS ? names[form] : NULL;
}

/* A program and the results of its transforms, in order. */
#define TRANSFORMS_MAX 4u
typedef struct transform_chain {
    gpump_program *programs[TRANSFORMS_MAX + 1u];
    uint32_t last;
} transform_chain;

/* Returns where the next transform stores its result. */
static gpump_program **next_program(transform_chain *chain) { return &chain->programs[chain->last + 1u]; }

/* Returns the instruction of the first program that each instruction of the last program comes from. */
static uint32_t *origins_of(const transform_chain *chain) {
    const uint32_t count = gpump_program_count(chain->programs[chain->last]).instructions;
    uint32_t *origins = (uint32_t *)calloc(count + 1u, sizeof *origins), i, step;
    for (i = 0; origins && i < count; i++) {
        origins[i] = i;
        for (step = chain->last; step && origins[i] != GPUMP_NONE; step--)
            origins[i] = gpump_program_origin(chain->programs[step])[origins[i]];
    }
    return origins;
}

/* ---- splitting regions while a kernel runs ---- */

/* Registers of each kind that a kernel keeps in reserve for the copies of live-ins that split regions need. */
#define RESERVE 4u

struct analysis_source {
    const kernel_program *kernel; /* the kernel as written */
    gpump_program *program;       /* the program as lowered, or as split last */
    uint32_t *origins;            /* for each instruction of `program`, its number in *kernel */
    target_file file;             /* including the reserve */
    uint32_t vectors, predicates; /* registers of the program as lowered */
};

/* Takes over program and origins, and adds the reserve to the lowered kernel. Returns NULL when memory is out; then
 * nothing is taken over. */
static analysis_source *keep_source(const kernel_program *kernel, gpump_program *program, uint32_t *origins,
                                    const target_file *file, kernel_program *lowered) {
    analysis_source *source = (analysis_source *)calloc(1, sizeof *source);
    if (!source) return NULL;
    source->kernel = kernel;
    source->program = program;
    source->origins = origins;
    source->vectors = file->registers;
    source->predicates = lowered->predicates;
    source->file = *file;
    source->file.registers = lowered->registers += RESERVE;
    lowered->predicates += RESERVE;
    return source;
}

void analysis_free_source(analysis_source *source) {
    if (!source) return;
    gpump_program_destroy(source->program);
    free(source->origins);
    free(source);
}

/* Names the registers of a split program. Added registers come from the reserve. */
static gpump_result name_registers(const analysis_source *source, const gpump_program *program, uint32_t *names) {
    uint32_t r, vectors = 0, predicates = 0;
    for (r = 0; r < gpump_program_count(program).registers; r++) {
        const uint32_t known = source->vectors + source->predicates;
        if (r < source->vectors)
            names[r] = r;
        else if (r < known)
            names[r] = source->file.registers + r - source->vectors;
        else if (gpump_program_width(program, r) == GPUMP_WIDTH_PREDICATE && predicates < RESERVE)
            names[r] = source->file.registers + source->predicates + predicates++;
        else if (gpump_program_width(program, r) == GPUMP_WIDTH_32 && vectors < RESERVE)
            names[r] = source->vectors + vectors++;
        else
            return GPUMP_ERROR_FULL;
    }
    return GPUMP_OK;
}

gpump_result analysis_split(analysis_source *source, uint32_t first, uint32_t second, kernel_program *piece,
                            uint32_t **from, gpump_diag *diag) {
    gpump_program *split = NULL;
    target_file file = source->file;
    uint32_t *names = NULL, *origins = NULL, count, i;
    gpump_result result = gpump_regions_split(source->program, first, second, &split, NULL, diag);
    if (result != GPUMP_OK) return result;
    count = gpump_program_count(split).instructions;
    names = (uint32_t *)calloc(gpump_program_count(split).registers + 1u, sizeof *names);
    origins = (uint32_t *)calloc(count + 1u, sizeof *origins);
    *from = (uint32_t *)calloc(count + 1u, sizeof **from);
    *piece = *source->kernel;
    piece->instructions = NULL;
    result = names && origins && *from ? name_registers(source, split, names) : GPUMP_ERROR_MEMORY;
    if (result == GPUMP_OK) {
        for (i = 0; i < count; i++) {
            (*from)[i] = gpump_program_origin(split)[i];
            origins[i] = (*from)[i] == GPUMP_NONE ? GPUMP_NONE : source->origins[(*from)[i]];
        }
        file.names = names;
        result = rewrite(source->kernel, split, origins, &file, piece);
    }
    free(names);
    if (result != GPUMP_OK) {
        free(piece->instructions);
        free(*from);
        *from = NULL;
        free(origins);
        gpump_program_destroy(split);
        return result;
    }
    piece->registers = source->file.registers;
    piece->predicates = source->predicates + RESERVE;
    gpump_program_destroy(source->program);
    free(source->origins);
    source->program = split;
    source->origins = origins;
    return GPUMP_OK;
}

/* ---- lowering ---- */

/* Adds the last transform's program to the chain if the transform succeeded. */
static gpump_result chained(transform_chain *chain, gpump_result result) {
    chain->last += result == GPUMP_OK;
    return result;
}

static gpump_result allocate_registers(const gpump_program *program, uint32_t registers, gpump_program **allocated,
                                       gpump_registers_report *report, gpump_diag *diag) {
    gpump_registers_config config;
    gpump_result result = gpump_preset(&gpump_registers_component, &config, "fermi", NULL);
    config.registers = registers;
    config.predicates = 64; /* lane masks are not in the register file here, so there is no reason to spill one */
    return result == GPUMP_OK ? gpump_registers_allocate(program, &config, allocated, report, diag) : result;
}

/* Applies the transforms that `how` asks for, in this order: page checks, regions, registers, preemption points. */
static gpump_result transform(const analysis_lowering *how, transform_chain *chain, analysis_lowered *report,
                              gpump_diag *diag) {
    gpump_result result = GPUMP_OK;
    if (how->page_checks != PAGE_CHECKS_NONE)
        result = chained(chain, insert_page_checks(chain->programs[chain->last], how, next_program(chain),
                                                   &report->page_checks, diag));
    if (result == GPUMP_OK && how->regions != REGIONS_NONE)
        result = chained(chain,
                         form_regions(chain->programs[chain->last], how, next_program(chain), &report->regions, diag));
    if (result == GPUMP_OK)
        result = chained(chain, allocate_registers(chain->programs[chain->last], how->registers, next_program(chain),
                                                   &report->registers, diag));
    if (result == GPUMP_OK && how->point_interval)
        result = chained(chain, place_points(chain->programs[chain->last], how->point_interval, next_program(chain),
                                             &report->points, diag));
    return result;
}

/* Writes the last program as a kernel, with its registers, spill space and marks. */
static gpump_result write_kernel(const kernel_program *kernel, const analysis_lowering *how,
                                 const gpump_program *program, const uint32_t *origins, const target_file *file,
                                 const analysis_lowered *report, kernel_program *lowered) {
    const gpump_registers_report *r = &report->registers;
    gpump_result result = rewrite(kernel, program, origins, file, lowered);
    for (uint32_t i = 0; how->clobbers && result == GPUMP_OK && i < lowered->count; i++)
        if (origins[i] != GPUMP_NONE && how->clobbers[origins[i]]) lowered->instructions[i].flags |= FLAG_CLOBBERS;
    lowered->registers = r->registers;
    lowered->predicates = r->predicates;
    lowered->ptx_registers = kernel->registers;
    lowered->spill_bytes = r->spill_bytes;
    if (r->spill_bytes) lowered->local_bytes = (uint32_t)file->spill_base + r->spill_bytes;
    if (result == GPUMP_OK && how->regions != REGIONS_NONE && how->spilling)
        result = spill_at_boundaries(lowered, program, file, how->spilling);
    return result;
}

gpump_result analysis_lower(const kernel_program *kernel, const analysis_lowering *how, kernel_program *lowered,
                            analysis_lowered *report, gpump_diag *diag) {
    transform_chain chain;
    analysis_lowered ignored;
    gpump_result result;
    target_file file = {0, 0, NULL};
    uint32_t *origins = NULL, i;
    analysis a;
    if (!report) report = &ignored;
    memset(report, 0, sizeof *report);
    memset(&chain, 0, sizeof chain);
    *lowered = *kernel;
    lowered->instructions = NULL;
    lowered->array_bytes = kernel->local_bytes;
    if ((result = analysis_create_launch(kernel, how->block, how->alias_class, &a, diag)) != GPUMP_OK) return result;
    chain.programs[0] = a.program;
    result = transform(how, &chain, report, diag);
    if (result == GPUMP_OK && !(origins = origins_of(&chain))) result = GPUMP_ERROR_MEMORY;
    if (result == GPUMP_OK) {
        file.registers = report->registers.registers;
        file.spill_base = (kernel->local_bytes + 7u) / 8u * 8u;
        result = write_kernel(kernel, how, chain.programs[chain.last], origins, &file, report, lowered);
    }
    if (result == GPUMP_OK && how->source && !how->spilling) {
        *how->source = keep_source(kernel, chain.programs[chain.last], origins, &file, lowered);
        if (*how->source) { /* the source owns both from here on */
            origins = NULL;
            chain.last--;
        }
    }
    if (result != GPUMP_OK) analysis_free_kernel(lowered);
    free(origins);
    for (i = chain.last; i > 0; i--) gpump_program_destroy(chain.programs[i]);
    analysis_destroy(&a);
    return result;
}

gpump_result analysis_allocate(const kernel_program *kernel, uint32_t registers, kernel_program *allocated,
                               gpump_registers_report *report, gpump_diag *diag) {
    analysis_lowering how;
    analysis_lowered lowered;
    gpump_result result;
    memset(&how, 0, sizeof how);
    how.registers = registers;
    result = analysis_lower(kernel, &how, allocated, &lowered, diag);
    *report = lowered.registers;
    return result;
}

void analysis_free_kernel(kernel_program *allocated) {
    free(allocated->instructions);
    memset(allocated, 0, sizeof *allocated);
}
