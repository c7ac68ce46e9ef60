/* ptx_body: the statements of a kernel or function: labels, declarations, instructions. Calls are read in place: the
 * called function's text is read again at every call, with its parameters bound to the arguments. */
#include "ptx/ptx_operands.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INSTRUCTIONS (1u << 20)

static int read_statement(ptx_reader *reader);

void ptx_blank(instruction *out, const ptx_token *token) {
    memset(out, 0, sizeof *out);
    out->target = out->reconvergence = out->guard = out->check = INSTRUCTION_NONE;
    out->line = token->line;
    out->column = token->column;
    out->vector = 1;
}

static uint32_t unit_of(const instruction *i) {
    static const uint8_t units[] = {
#define OPCODE_UNIT(name, text, unit) UNIT_##unit,
        OPCODES(OPCODE_UNIT)
#undef OPCODE_UNIT
    };
    uint32_t unit = units[i->opcode];
    if ((unit == UNIT_ALU || unit == UNIT_SFU) && (i->type == TYPE_F64 || i->source_type == TYPE_F64) &&
        i->opcode != OPCODE_MOV && i->opcode != OPCODE_SELP)
        return UNIT_DOUBLE;
    return unit;
}

int ptx_emit(ptx_reader *reader, const instruction *instruction) {
    if (reader->count >= MAX_INSTRUCTIONS)
        return ptx_refuse(reader, &reader->token, "",
                          "more than %u instructions after calls are expanded; unroll less or call less",
                          MAX_INSTRUCTIONS);
    if (PTX_GROW(reader, reader->code, reader->count, reader->capacity)) return -1;
    reader->code[reader->count] = *instruction;
    reader->code[reader->count].unit = (uint8_t)unit_of(instruction);
    if (reader->keeps_loop) reader->code[reader->count].flags |= FLAG_NOUNROLL;
    reader->keeps_loop = 0;
    reader->count++;
    return 0;
}

static int add_pending(ptx_reader *reader, ptx_name name, const ptx_token *token, uint32_t instruction) {
    if (PTX_GROW(reader, reader->pending, reader->pending_count, reader->pending_capacity)) return -1;
    pending_branch *pending = &reader->pending[reader->pending_count++];
    pending->name = name;
    pending->instruction = instruction;
    pending->line = token->line;
    pending->column = token->column;
    return 0;
}

/* Reports the first branch whose label does not exist. */
static int check_labels(ptx_reader *reader, uint32_t first) {
    if (reader->pending_count <= first) return 0;
    pending_branch *pending = &reader->pending[first];
    ptx_token token = reader->token;
    token.line = pending->line;
    token.column = pending->column;
    return ptx_fail(reader, &token, "label '%.*s' is not defined",
                    (int)(pending->name.length < 80 ? pending->name.length : 80), pending->name.text);
}

/* ---- modifiers ---- */
static int read_modifiers(ptx_reader *reader, const ptx_token *name, ptx_modifier_list *list) {
    size_t length = (size_t)snprintf(list->written, sizeof list->written, "%.*s",
                                     (int)(name->length < 40 ? name->length : 40), name->start);
    list->count = 0;
    while (reader->token.kind == TOKEN_DOT) {
        if (list->count == PTX_MODIFIERS)
            return ptx_fail(reader, &reader->token, "more than %d modifiers", PTX_MODIFIERS);
        if (length < sizeof list->written)
            length +=
                (size_t)snprintf(list->written + length, sizeof list->written - length, "%.*s",
                                 (int)(reader->token.length < 60 ? reader->token.length : 60), reader->token.start);
        list->tokens[list->count++] = reader->token;
        ptx_next(reader);
    }
    return 0;
}

/* A remedy for refused instructions. The first row whose text occurs in the instruction applies. */
typedef struct refusal_remedy {
    const char *text, *remedy;
} refusal_remedy;
static const refusal_remedy remedies[] = {
    {".cube", "compute the face, and read it as a layer of tex.a2d"},
    {".acube", "compute the face, and read it as a layer of tex.a2d"},
    {".grad", "a texture has one level here; read it without .grad"},
    {"tld4", "read the four texels by tex"},
    {"sust.p", "store the bytes as they are, by sust.b"},
    {"sured", "update a buffer in global memory by red"},
    {"mma.sp", "multiply dense matrices by mma.sync"},
    {"wgmma", "compile for sm_80, where mma.sync does this"},
    {"tcgen05", "compile for sm_80, where mma.sync does this"},
    {"m8n8k4", "this shape is Volta's; compile for sm_75 or later with m16n8k8, or use wmma"},
    {"cluster.arrive", "there are no clusters; launch single blocks, as for sm_80"},
    {"cluster.wait", "there are no clusters; launch single blocks, as for sm_80"},
    {"mapa", "there are no clusters; launch single blocks, as for sm_80"},
    {".bulk", "copy with cp.async and groups, as for sm_80"},
    {"_tx", "this counts the bytes of bulk copies; copy with cp.async and use mbarrier.arrive"},
    {"ldmatrix", "load m8n8 matrices of .b16"},
    {"stmatrix", "store m8n8 matrices of .b16"},
    {"16x2", "compute the two halves one by one"},
    {"pmevent", "remove this instruction, which serves profilers only"},
    {"brkpt", "remove this instruction, which serves debuggers only"},
};

int ptx_refuse_opcode(ptx_reader *reader, const ptx_token *token, const ptx_modifier_list *list, const char *why) {
    static const char older[] = "compile for an older target, such as sm_75, or add the form to ptx_opcodes.c";
    const char *remedy = older;
    for (uint32_t i = sizeof remedies / sizeof *remedies; i-- > 0;)
        if (strstr(list->written, remedies[i].text)) remedy = remedies[i].remedy;
    for (uint32_t i = 0; i < list->count && remedy == older; i++) {
        const ptx_token *part = &list->tokens[i];
        if (ptx_type_find(part->start, part->length) == TYPE_NONE &&
            !ptx_modifier_find(part->start, part->length, UINT32_MAX))
            return ptx_refuse(reader, token, list->written,
                              "unsupported %s %s: no instruction here has '%.*s'; correct it, or %s", why,
                              list->written, (int)(part->length < 40 ? part->length : 40), part->start, older);
    }
    return ptx_refuse(reader, token, list->written, "unsupported %s %s: %s", why, list->written, remedy);
}

static void apply_modifier(instruction *out, const ptx_modifier *modifier, int *clamp) {
    uint8_t value = (uint8_t)modifier->value;
    switch (modifier->group) {
    case GROUP_ROUND:
    case GROUP_ROUND_INTEGER: out->rounding = value; break;
    case GROUP_FTZ:
    case GROUP_SATURATE:
    case GROUP_CARRY:
    case GROUP_NAN:
    case GROUP_RELU:
    case GROUP_MEMORY:
    case GROUP_UNIFORM: out->flags |= modifier->value; break;
    case GROUP_COMPARE: out->compare = value; break;
    case GROUP_SPACE: out->space = value; break;
    case GROUP_VECTOR: out->vector = value; break;
    case GROUP_LEVEL: out->lookup = value; break;
    case GROUP_CLAMP: *clamp = (int)modifier->value; break;
    case GROUP_SYNC:
    case GROUP_FENCE: break;
    default: out->variant = value;
    }
}

static int apply_modifiers(ptx_reader *reader, const ptx_token *name, const ptx_opcode *row,
                           const ptx_modifier_list *list, instruction *out) {
    uint32_t seen = 0, types = 0;
    int clamp = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const ptx_token *token = &list->tokens[i];
        uint32_t type = ptx_type_find(token->start, token->length);
        const ptx_modifier *modifier = ptx_modifier_find(token->start, token->length, row->allowed);
        if (type != TYPE_NONE) {
            uint32_t allowed = types == 0 ? row->types : row->second_types;
            if (types == 2 || (types == 1 && !row->second_types) || !(allowed & TYPE_SET(type)))
                return ptx_refuse_opcode(reader, name, list, "opcode");
            if (types++ == 0)
                out->type = (uint8_t)type;
            else
                out->source_type = (uint8_t)type;
        } else if (modifier) {
            seen |= modifier->group;
            apply_modifier(out, modifier, &clamp);
        } else
            return ptx_refuse_opcode(reader, name, list, "opcode");
    }
    if (types < (row->types ? 1u : 0u) + (row->second_types ? 1u : 0u) && row->opcode != OPCODE_BAR)
        return ptx_fail(reader, name, "%s needs %s", list->written, row->second_types ? "two types" : "a type");
    if ((row->required & ~seen))
        return ptx_fail(reader, name, "%s lacks a modifier that %s needs", list->written, row->name);
    if (clamp && (seen & GROUP_CLAMP))
        out->variant = out->variant == VARIANT_RIGHT ? VARIANT_RIGHT_CLAMP : VARIANT_LEFT_CLAMP;
    else if ((seen & GROUP_CLAMP) && out->variant == VARIANT_NONE)
        out->variant = VARIANT_LEFT;
    int is_float = type_is_float(out->type);
    if (type_is_half(out->type) && row->opcode != OPCODE_CVT && out->rounding > ROUND_RN)
        return ptx_fail(reader, name, "%s: 16-bit arithmetic rounds to the nearest (.rn)", list->written);
    if ((out->opcode == OPCODE_MUL || out->opcode == OPCODE_MAD) && !is_float && !(seen & GROUP_HALF))
        return ptx_fail(reader, name, "%s needs .lo, .hi or .wide", list->written);
    if ((seen & GROUP_HALF) && is_float)
        return ptx_fail(reader, name, "%s cannot have .lo, .hi or .wide", list->written);
    if (out->variant == VARIANT_WIDE &&
        (type_bytes(out->type) == 8 || out->opcode == OPCODE_MADC || (out->flags & FLAG_CARRY_OUT)))
        return ptx_fail(reader, name, "%s cannot be .wide", list->written);
    if (((out->flags & FLAG_FTZ) && !is_float && !type_is_float(out->source_type)) ||
        ((seen & GROUP_ROUND) && !is_float && row->opcode != OPCODE_CVT))
        return ptx_fail(reader, name, "%s has a modifier for floating point only", list->written);
    if ((out->flags & FLAG_CARRY_OUT) && (is_float || type_bytes(out->type) < 4))
        return ptx_fail(reader, name, "%s cannot have .cc", list->written);
    if (is_float == 0 && out->compare >= COMPARE_EQU && out->opcode == OPCODE_SETP)
        return ptx_fail(reader, name, "%s compares for unordered operands, which integers never are", list->written);
    return 0;
}

/* Checks the rules of atomics that do not fit into the table. */
static int check_atomic(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list,
                        const instruction *out) {
    uint32_t type = out->type, allowed = TYPES_32_64;
    switch (out->variant) {
    case VARIANT_ADD: allowed = TYPES_32_64 | TYPES_FLOAT | TYPES_HALF; break;
    case VARIANT_MIN:
    case VARIANT_MAX: break;
    case VARIANT_INC:
    case VARIANT_DEC: allowed = TYPE_SET(TYPE_U32); break;
    default: allowed = TYPES_32_64 | TYPE_SET(TYPE_B32) | TYPE_SET(TYPE_B64) | TYPE_SET(TYPE_B16); break;
    }
    if (!(allowed & TYPE_SET(type)) || (type == TYPE_B16 && out->variant != VARIANT_CAS))
        return ptx_refuse_opcode(reader, name, list, "opcode");
    if (out->space != SPACE_GENERIC && out->space != SPACE_GLOBAL && out->space != SPACE_SHARED)
        return ptx_fail(reader, name, "%s: atomics are for global and shared memory", list->written);
    return 0;
}

/* ---- operands by shape ---- */
static int read_predicate_pair(ptx_reader *reader, instruction *out) {
    raw_operand raw;
    if (ptx_raw_operand(reader, &raw) || ptx_destination(reader, &raw, TYPE_PRED, 0, out, 0)) return -1;
    if (!ptx_take(reader, '|')) return 0;
    return ptx_raw_operand(reader, &raw) || ptx_destination(reader, &raw, TYPE_PRED, 0, out, 1) ? -1 : 0;
}

static uint32_t wide_type(const instruction *i) {
    if (i->variant != VARIANT_WIDE) return i->type;
    switch (i->type) {
    case TYPE_U16: return TYPE_U32;
    case TYPE_S16: return TYPE_S32;
    case TYPE_U32: return TYPE_U64;
    default: return TYPE_S64;
    }
}

static uint32_t element_type(uint32_t type, uint32_t count) {
    uint32_t bytes = type_bytes(type) / count;
    return bytes == 4 ? TYPE_B32 : bytes == 2 ? TYPE_B16 : bytes == 1 ? TYPE_B8 : TYPE_NONE;
}

/* mov: plain, packing {a, b} into one register, or unpacking one into {a, b}. */
static int read_mov(ptx_reader *reader, instruction *out) {
    raw_operand raws[4];
    uint32_t count, braces = (uint32_t)ptx_at(reader, '{');
    ptx_token token = reader->token;
    if (ptx_vector(reader, raws, 4, &count)) return -1;
    if (braces) {
        uint32_t element = element_type(out->type, count);
        if (element == TYPE_NONE || count == 1 || count == 3)
            return ptx_fail(reader, &token, "cannot unpack .%s into %u elements", type_name(out->type), count);
        for (uint32_t i = 0; i < count; i++)
            if (ptx_destination(reader, &raws[i], element, 0, out, i)) return -1;
        out->vector = (uint8_t)count;
        if (ptx_expect(reader, ',', "between the operands") || ptx_raw_operand(reader, &raws[0])) return -1;
        return ptx_source(reader, &raws[0], out->type, 0, out, 0);
    }
    if (ptx_destination(reader, &raws[0], out->type, 0, out, 0)) return -1;
    if (ptx_expect(reader, ',', "between the operands")) return -1;
    braces = (uint32_t)ptx_at(reader, '{');
    token = reader->token;
    if (ptx_vector(reader, raws, 4, &count)) return -1;
    if (!braces) return ptx_source(reader, &raws[0], out->type, 0, out, 0);
    uint32_t element = element_type(out->type, count);
    if (element == TYPE_NONE || count == 1 || count == 3)
        return ptx_fail(reader, &token, "cannot pack %u elements into .%s", count, type_name(out->type));
    out->vector = (uint8_t)count;
    for (uint32_t i = 0; i < count; i++)
        if (ptx_source(reader, &raws[i], element, 0, out, i)) return -1;
    return 0;
}

/* Reads [texture, {x, y}] or [texture, x]. With .level the level follows; it is ignored because textures have one level
 * here. */
static int read_texture(ptx_reader *reader, instruction *out) {
    raw_operand raw, raws[4];
    uint32_t count, wanted = instruction_coordinates(out);
    if (ptx_expect(reader, '[', "before the texture") || ptx_raw_operand(reader, &raw)) return -1;
    if (raw.kind != RAW_TEXTURE && raw.kind != RAW_REGISTER) return ptx_fail(reader, &raw.token, "expected a texture");
    if (ptx_source(reader, &raw, TYPE_B64, 0, out, 0)) return -1;
    if (ptx_expect(reader, ',', "before the coordinates")) return -1;
    ptx_token token = reader->token;
    if (ptx_vector(reader, raws, 4, &count)) return -1;
    if (ptx_at(reader, ','))
        return ptx_refuse(reader, &token, "tex",
                          "a sampler apart from the texture is not supported; use a texture object");
    if (count < wanted) return ptx_fail(reader, &token, "the texture needs %u coordinates", wanted);
    for (uint32_t i = 0; i < wanted; i++)
        if (ptx_source(reader, &raws[i], out->source_type, 0, out, i + 1)) return -1;
    if (ptx_expect(reader, ']', "after the coordinates")) return -1;
    if (!out->lookup) return 0;
    out->lookup = 0;
    return ptx_expect(reader, ',', "before the level") || ptx_raw_operand(reader, &raw) ? -1 : 0;
}

/* bar.sync a{, b}   bar.arrive a, b   bar.red.popc.u32 d, a{, b}, c   bar.red.and.pred p, a{, b}, c */
static int read_barrier(ptx_reader *reader, const ptx_token *name, instruction *out) {
    raw_operand raws[4];
    uint32_t count = 0, at = 0;
    int reduces = out->variant >= VARIANT_RED_POPC;
    if (out->variant == VARIANT_NONE) return ptx_fail(reader, name, "%s needs .sync, .arrive or .red", "bar");
    do {
        if (count == 4) return ptx_fail(reader, &reader->token, "too many operands");
        if (ptx_raw_operand(reader, &raws[count])) return -1;
        count++;
    } while (ptx_take(reader, ','));
    if (reduces) {
        uint32_t type = out->variant == VARIANT_RED_POPC ? TYPE_U32 : TYPE_PRED;
        if (count < 3) return ptx_fail(reader, name, "bar.red needs a result, a barrier and a predicate");
        if (out->type != type) return ptx_fail(reader, name, "bar.red here needs type .%s", type_name(type));
        if (ptx_destination(reader, &raws[at++], type, 0, out, 0)) return -1;
        if (ptx_source(reader, &raws[--count], TYPE_PRED, 0, out, 2)) return -1;
    }
    if (count - at > 2 || (out->variant == VARIANT_ARRIVE && count - at != 2))
        return ptx_fail(reader, name, "wrong number of operands for a barrier");
    for (uint32_t i = 0; at < count; i++, at++)
        if (ptx_source(reader, &raws[at], TYPE_U32, 0, out, i)) return -1;
    return 0;
}

/* The type of the operand that a letter of an opcode's shape stands for. */
static uint32_t type_of_shape(char shape, const instruction *out) {
    switch (shape) {
    case 'w':
    case 'W': return wide_type(out);
    case 'r':
    case 'u': return TYPE_U32;
    case 'P': return TYPE_PRED;
    case 'b':
    case 'C': return out->source_type;
    case 'o': return out->opcode == OPCODE_MATCH || out->opcode == OPCODE_ELECT ? (uint32_t)TYPE_B32 : out->type;
    case 'a': return out->type == TYPE_NONE ? (uint32_t)TYPE_U64 : out->type;
    default: return out->type;
    }
}

/* Reads one register or immediate. *source counts the sources that were read. */
static int read_scalar(ptx_reader *reader, const ptx_token *name, char shape, uint32_t *source, instruction *out) {
    const uint32_t type = type_of_shape(shape, out);
    const int any_width = shape == 'c' || shape == 'C';
    raw_operand raw;
    if (ptx_raw_operand(reader, &raw)) return -1;
    switch (shape) {
    case 'd':
    case 'w':
    case 'r':
    case 'c': return ptx_destination(reader, &raw, type, any_width, out, 0);
    case 'o': /* d|p: the predicate is optional */
        if (ptx_destination(reader, &raw, type, 0, out, 0)) return -1;
        if (!ptx_take(reader, '|')) return 0;
        return ptx_raw_operand(reader, &raw) || ptx_destination(reader, &raw, TYPE_PRED, 0, out, 1) ? -1 : 0;
    case 'a':
    case 'b':
    case 'C':
    case 'u':
    case 'W':
    case 'P': return ptx_source(reader, &raw, type, any_width, out, (*source)++);
    case 'i':
        if (raw.kind != RAW_INTEGER || raw.bits > 255)
            return ptx_fail(reader, &raw.token, "lop3's truth table is 0 to 255");
        out->lookup = (uint8_t)raw.bits;
        return 0;
    default: return ptx_fail(reader, name, "no such shape");
    }
}

/* Reads {a, b, ...}: 'v' is a destination, 'V' a source behind the address. */
static int read_vector(ptx_reader *reader, const ptx_modifier_list *list, char shape, instruction *out) {
    const int any_width = out->opcode != OPCODE_TEX;
    ptx_token token = reader->token;
    raw_operand raws[4];
    uint32_t count;
    if (ptx_vector(reader, raws, 4, &count)) return -1;
    if (count != out->vector)
        return ptx_fail(reader, &token, "%s needs %u elements, found %u", list->written, out->vector, count);
    for (uint32_t i = 0; i < count; i++)
        if (shape == 'v' ? ptx_destination(reader, &raws[i], out->type, any_width, out, i)
                         : ptx_source(reader, &raws[i], out->type, any_width, out, i + 1))
            return -1;
    return 0;
}

static int read_branch_label(ptx_reader *reader) {
    ptx_token token = reader->token;
    ptx_name label;
    return ptx_expect_name(reader, &label, "a label") || add_pending(reader, label, &token, reader->count) ? -1 : 0;
}

static int read_operand(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, char shape,
                        uint32_t *source, instruction *out) {
    switch (shape) {
    case 'm': *source = 1; return ptx_address(reader, out);
    case 't': return read_texture(reader, out);
    case 'x': return read_mov(reader, out);
    case 'B': return read_barrier(reader, name, out);
    case 'p': return read_predicate_pair(reader, out);
    case 'l': return read_branch_label(reader);
    case 'v':
    case 'V': return read_vector(reader, list, shape, out);
    default: return read_scalar(reader, name, shape, source, out);
    }
}

/* Reads the operands that an opcode's shape asks for: one letter for each, '?' before an optional one. */
static int read_operands(ptx_reader *reader, const ptx_token *name, const ptx_opcode *row,
                         const ptx_modifier_list *list, instruction *out) {
    uint32_t source = 0;
    int first = 1, optional = 0;
    for (const char *shape = row->shape; *shape; shape++) {
        if (*shape == '?') {
            optional = 1;
            continue;
        }
        if (!first && ptx_at(reader, ';')) {
            if (!optional) return ptx_fail(reader, &reader->token, "%s needs more operands", list->written);
            optional = 0;
            continue;
        }
        optional = 0;
        if (!first && ptx_expect(reader, ',', "between the operands")) return -1;
        first = 0;
        if (read_operand(reader, name, list, *shape, &source, out)) return -1;
    }
    return 0;
}

/* Appends the carry as an operand. The kernel has one predicate register for it. */
static void add_carry(ptx_reader *reader, instruction *out) {
    int reads = out->opcode == OPCODE_ADDC || out->opcode == OPCODE_SUBC || out->opcode == OPCODE_MADC;
    operand carry;
    if (!reads && !(out->flags & FLAG_CARRY_OUT)) return;
    if (reader->carry == INSTRUCTION_NONE) reader->carry = ptx_new_register(reader, TYPE_PRED);
    memset(&carry, 0, sizeof carry);
    carry.kind = OPERAND_PREDICATE;
    carry.index = reader->carry;
    if (reads) out->sources[out->source_count++] = carry;
    if (out->flags & FLAG_CARRY_OUT) out->destinations[out->destination_count++] = carry;
}

static int check_operands(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, instruction *out) {
    switch (out->opcode) {
    case OPCODE_CVT:
        if ((uint32_t)type_is_packed(out->type) + 1 != out->source_count)
            return ptx_fail(reader, name, "%s: two numbers go into a pair, one into anything else", list->written);
        if (type_is_packed(out->type) && out->source_type != TYPE_F32)
            return ptx_refuse_opcode(reader, name, list, "opcode");
        break;
    case OPCODE_SETP:
    case OPCODE_SET:
        if ((out->variant != VARIANT_NONE) != (out->source_count == 3))
            return ptx_fail(reader, name, "%s: .and, .or, .xor go with a third source, a predicate", list->written);
        break;
    case OPCODE_ATOM:
        if ((out->variant == VARIANT_CAS) != (out->source_count == 3))
            return ptx_fail(reader, name, "%s: wrong number of operands", list->written);
        break;
    case OPCODE_MAD:
        if (type_is_float(out->type)) out->opcode = OPCODE_FMA;
        break;
    default: break;
    }
    return 0;
}

/* ---- calls ---- */
#define MAX_ARGUMENTS 64

/* Reads `(a, b, c)` of a call. Arguments are names of .param variables, registers or literals. */
static int read_arguments(ptx_reader *reader, raw_operand *arguments, uint32_t *count) {
    *count = 0;
    if (ptx_expect(reader, '(', "before the arguments")) return -1;
    if (ptx_take(reader, ')')) return 0;
    do {
        if (*count == MAX_ARGUMENTS) return ptx_fail(reader, &reader->token, "more than %d arguments", MAX_ARGUMENTS);
        if (ptx_raw_operand(reader, &arguments[*count])) return -1;
        (*count)++;
    } while (ptx_take(reader, ','));
    return ptx_expect(reader, ')', "after the arguments");
}

static void plain_mov(instruction *out, const ptx_token *token, uint32_t type) {
    ptx_blank(out, token);
    out->opcode = OPCODE_MOV;
    out->type = (uint8_t)type;
}

/* Binds one formal parameter: .param parameters to local memory, .reg parameters to registers. Arguments that are given
 * in another form are copied there. */
static int bind_formal(ptx_reader *reader, const ptx_formal *formal, const raw_operand *actual, int is_result,
                       const ptx_token *token) {
    instruction copy;
    symbol *fresh;
    if (formal->is_register) {
        fresh = ptx_declare_once(reader, token, formal->name, SYMBOL_REGISTER);
        if (!fresh) return -1;
        fresh->type = formal->type;
        fresh->element_bytes = formal->element_bytes;
        if (actual->kind == RAW_REGISTER && is_result) {
            if (type_bytes(actual->type) != type_bytes(formal->type) ||
                (actual->type == TYPE_PRED) != (formal->type == TYPE_PRED))
                return ptx_fail(reader, token, "the argument and the parameter '%.*s' differ in size",
                                (int)formal->name.length, formal->name.text);
            fresh->index = actual->index;
            return 0;
        }
        raw_operand target;
        memset(&target, 0, sizeof target);
        target.kind = RAW_REGISTER;
        target.type = formal->type;
        target.index = fresh->index = ptx_new_register(reader, formal->type);
        target.token = *token;
        if (is_result) return ptx_fail(reader, token, "the call's result needs a register");
        plain_mov(&copy, token, formal->type);
        if (ptx_destination(reader, &target, formal->type, 0, &copy, 0) ||
            ptx_source(reader, actual, formal->type, 0, &copy, 0))
            return -1;
        return ptx_emit(reader, &copy);
    }
    fresh = ptx_declare_once(reader, token, formal->name, SYMBOL_VARIABLE);
    if (!fresh) return -1;
    fresh->space = SPACE_LOCAL;
    fresh->type = formal->type;
    fresh->element_bytes = formal->element_bytes;
    fresh->bytes = formal->bytes;
    if (actual->kind == RAW_VARIABLE && actual->space == SPACE_LOCAL) {
        fresh->offset = actual->bits;
        return 0;
    }
    if (is_result || formal->is_array)
        return ptx_fail(reader, token, "the call's argument for '%.*s' must be a .param variable",
                        (int)formal->name.length, formal->name.text);
    if (ptx_new_local(reader, formal->bytes, formal->alignment, &fresh->offset)) return -1;
    ptx_blank(&copy, token);
    copy.opcode = OPCODE_ST;
    copy.space = SPACE_LOCAL;
    copy.type = (uint8_t)formal->type;
    copy.source_count = 1;
    copy.offset = (int64_t)fresh->offset;
    if (ptx_source(reader, actual, formal->type, 0, &copy, 1)) return -1;
    return ptx_emit(reader, &copy);
}

static int bind_formals(ptx_reader *reader, const raw_operand *actuals, uint32_t count, int is_result,
                        const ptx_token *token) {
    uint32_t bound = 0;
    ptx_formal formal;
    if (ptx_expect(reader, '(', "before the parameters")) return -1;
    if (!ptx_at(reader, ')')) {
        do {
            if (ptx_formal_parameter(reader, &formal)) return -1;
            if (bound == count) return ptx_fail(reader, token, "the call has too few arguments");
            if (bind_formal(reader, &formal, &actuals[bound++], is_result, token)) return -1;
        } while (ptx_take(reader, ','));
    }
    if (bound != count) return ptx_fail(reader, token, "the call has too many arguments");
    return ptx_expect(reader, ')', "after the parameters");
}

/* Removes a return that is the last instruction, because it would only jump to the next one. A return before a label
 * stays. */
static void drop_last_return(ptx_reader *reader, uint32_t first_code, uint32_t first_return) {
    uint32_t last = reader->count - 1;
    if (reader->return_count == first_return || reader->returns[reader->return_count - 1] != last ||
        reader->code[last].guard != INSTRUCTION_NONE)
        return;
    for (uint32_t i = first_code; i < reader->count; i++)
        if (reader->code[i].opcode == OPCODE_BRA && reader->code[i].target == reader->count) return;
    reader->return_count--;
    reader->count--;
}

/* Reads the function's text with its names bound. The function's returns jump behind the text. A guarded call jumps
 * over the text where its guard is false. */
static int expand_call(ptx_reader *reader, const ptx_token *name, uint32_t function, const raw_operand *results,
                       uint32_t result_count, const raw_operand *arguments, uint32_t argument_count,
                       const instruction *guard) {
    ptx_lexer back = ptx_here(reader), place = reader->symbols[function].place;
    uint32_t first_return = reader->return_count, first_code, skip = INSTRUCTION_NONE;
    for (uint32_t i = 0; i < reader->inline_depth; i++)
        if (reader->inline_symbols[i] == function)
            return ptx_refuse(reader, name, "call",
                              "recursive calls are not supported; use a loop with an array as stack");
    if (reader->inline_depth == PTX_INLINE_DEPTH)
        return ptx_refuse(reader, name, "call", "calls are nested more than %d deep; compile with more inlining",
                          PTX_INLINE_DEPTH);
    if (guard->guard != INSTRUCTION_NONE) {
        instruction jump;
        ptx_blank(&jump, name);
        jump.opcode = OPCODE_BRA;
        jump.guard = guard->guard;
        jump.guard_negated = !guard->guard_negated;
        skip = reader->count;
        if (ptx_emit(reader, &jump)) return -1;
    }
    first_code = reader->count;
    if (ptx_scope_open(reader)) return -1;
    uint32_t first_pending = reader->scopes[reader->depth].first_pending;
    reader->inline_symbols[reader->inline_depth++] = function;
    ptx_go_to(reader, &place);
    if (ptx_at(reader, '(')) {
        if (bind_formals(reader, results, result_count, 1, name)) return -1;
    } else if (result_count)
        return ptx_fail(reader, name, "the function returns nothing");
    while (!ptx_at(reader, '(') && !ptx_at(reader, '{') && reader->token.kind != TOKEN_END) ptx_next(reader);
    if (ptx_at(reader, '(')) {
        if (bind_formals(reader, arguments, argument_count, 0, name)) return -1;
    } else if (argument_count)
        return ptx_fail(reader, name, "the function takes no arguments");
    while (!ptx_at(reader, '{') && reader->token.kind != TOKEN_END) ptx_next(reader);
    if (ptx_expect(reader, '{', "before the function's body") || ptx_body(reader)) return -1;
    if (ptx_scope_close(reader) || check_labels(reader, first_pending)) return -1;
    drop_last_return(reader, first_code, first_return);
    for (uint32_t i = first_return; i < reader->return_count; i++)
        reader->code[reader->returns[i]].target = reader->count;
    reader->return_count = first_return;
    if (skip != INSTRUCTION_NONE) reader->code[skip].target = reader->count;
    reader->inline_depth--;
    ptx_go_to(reader, &back);
    return 0;
}

/* ---- calls of CUDA's runtime library ---- */
#define RUNTIME_ARGUMENTS 4
typedef struct runtime_call {
    const char *name;
    uint32_t opcode, arguments, result; /* result: its value_type; TYPE_NONE: none, or unused */
    uint8_t types[RUNTIME_ARGUMENTS];
} runtime_call;
static const runtime_call runtime_calls[] = {
    {"vprintf", OPCODE_PRINT, 2, TYPE_B32, {TYPE_B64, TYPE_B64, 0, 0}},
    {"__assertfail",
     OPCODE_ASSERT,
     5,
     TYPE_NONE,
     {TYPE_B64, TYPE_B64, TYPE_B32, TYPE_B64}}, /* the third argument is the size of a character */
    {"malloc", OPCODE_MALLOC, 1, TYPE_B64, {TYPE_B64, 0, 0, 0}},
    {"free", OPCODE_FREE, 1, TYPE_NONE, {TYPE_B64, 0, 0, 0}},
};

static const runtime_call *find_runtime_call(ptx_name name) {
    for (uint32_t i = 0; i < sizeof runtime_calls / sizeof *runtime_calls; i++)
        if (strlen(runtime_calls[i].name) == name.length && !memcmp(runtime_calls[i].name, name.text, name.length))
            return &runtime_calls[i];
    return NULL;
}

/* Emits a load (or store) of a .param variable of the call. */
static int move_argument(ptx_reader *reader, const instruction *proto, uint32_t opcode, uint32_t type,
                         const raw_operand *variable, const raw_operand *value) {
    instruction out = *proto;
    out.opcode = (uint8_t)opcode;
    out.space = SPACE_LOCAL;
    out.type = (uint8_t)type;
    out.source_count = 1;
    out.offset = (int64_t)variable->bits;
    if (opcode == OPCODE_LD ? ptx_destination(reader, value, type, 0, &out, 0)
                            : ptx_source(reader, value, type, 0, &out, 1))
        return -1;
    return ptx_emit(reader, &out);
}

static int emit_runtime_call(ptx_reader *reader, const ptx_token *name, const runtime_call *call,
                             const raw_operand *results, uint32_t result_count, const raw_operand *arguments,
                             uint32_t argument_count, const instruction *proto) {
    instruction out = *proto;
    raw_operand value;
    out.opcode = (uint8_t)call->opcode;
    if (argument_count != call->arguments || result_count > (call->result != TYPE_NONE))
        return ptx_fail(reader, name, "%s takes %u arguments, the call gives %u", call->name, call->arguments,
                        argument_count);
    for (uint32_t i = 0; i < argument_count && i < RUNTIME_ARGUMENTS; i++) {
        value = arguments[i];
        if (value.kind == RAW_VARIABLE && value.space == SPACE_LOCAL) {
            value.kind = RAW_REGISTER;
            value.type = call->types[i];
            value.index = ptx_new_register(reader, value.type);
            if (move_argument(reader, proto, OPCODE_LD, value.type, &arguments[i], &value)) return -1;
        }
        if (ptx_source(reader, &value, call->types[i], 0, &out, i)) return -1;
    }
    if (!result_count) return ptx_emit(reader, &out);
    value = results[0];
    if (value.kind != RAW_REGISTER) {
        value.kind = RAW_REGISTER;
        value.type = call->result;
        value.index = ptx_new_register(reader, value.type);
    }
    if (ptx_destination(reader, &value, call->result, 0, &out, 0) || ptx_emit(reader, &out)) return -1;
    if (results[0].kind == RAW_REGISTER) return 0;
    if (results[0].kind != RAW_VARIABLE || results[0].space != SPACE_LOCAL)
        return ptx_fail(reader, name, "the result of %s needs a register or a .param variable", call->name);
    return move_argument(reader, proto, OPCODE_ST, call->result, &results[0], &value);
}

/* ---- calls through a register ---- */
#define MAX_TARGETS 256

/* The sizes of a function's or prototype's results and parameters. */
typedef struct signature {
    uint32_t counts[2]; /* results, parameters */
    uint64_t bytes[2][MAX_ARGUMENTS];
} signature;

static int read_sizes(ptx_reader *reader, signature *out, uint32_t list) {
    if (!ptx_take(reader, '(') || ptx_take(reader, ')')) return 0;
    do {
        ptx_formal formal;
        if (out->counts[list] == MAX_ARGUMENTS)
            return ptx_fail(reader, &reader->token, "more than %d parameters", MAX_ARGUMENTS);
        if (ptx_formal_parameter(reader, &formal)) return -1;
        out->bytes[list][out->counts[list]++] = formal.bytes;
    } while (ptx_take(reader, ','));
    return ptx_expect(reader, ')', "after the parameters");
}

/* Reads a signature, from a function's results or name, or from behind .callprototype. */
static int read_signature(ptx_reader *reader, signature *out) {
    ptx_name name;
    memset(out, 0, sizeof *out);
    return read_sizes(reader, out, 0) || ptx_expect_name(reader, &name, "a function's name") ||
           read_sizes(reader, out, 1);
}

/* Collects the functions that a call may reach. These are the functions in .calltargets, or all functions whose sizes
 * match .callprototype and whose address the file takes. A function that is being read in place is left out, because a
 * call to it would be recursive. */
static int find_targets(ptx_reader *reader, const ptx_lexer *place, uint32_t *targets, uint32_t *count) {
    signature wanted, candidate;
    ptx_name name;
    *count = 0;
    ptx_go_to(reader, place);
    uint32_t is_list = (uint32_t)ptx_token_is(&reader->token, ".calltargets");
    ptx_next(reader);
    if (!is_list && read_signature(reader, &wanted)) return -1;
    for (uint32_t i = 0; is_list || i < reader->symbol_count; i++) {
        if (is_list) {
            if (i && !ptx_take(reader, ',')) break;
            if (ptx_expect_name(reader, &name, "a function's name")) return -1;
        }
        const symbol *function = is_list ? ptx_lookup(reader, name) : &reader->symbols[i];
        if (!function || function->kind != SYMBOL_FUNCTION || !function->has_body || !function->address) continue;
        uint32_t index = (uint32_t)(function - reader->symbols), fits = 1;
        for (uint32_t k = 0; k < reader->inline_depth; k++) fits &= reader->inline_symbols[k] != index;
        if (fits && !is_list) {
            ptx_go_to(reader, &function->place);
            if (read_signature(reader, &candidate)) return -1;
            fits = memcmp(&wanted, &candidate, sizeof wanted) == 0;
        }
        if (!fits) continue;
        if (*count == MAX_TARGETS)
            return ptx_refuse(reader, &reader->token, "call",
                              "an indirect call reaches more than %d functions; give them different parameters",
                              MAX_TARGETS);
        targets[(*count)++] = index;
    }
    return 0;
}

/* Emits predicate = pointer <compare> number {and predicate}. */
static int emit_comparison(ptx_reader *reader, const ptx_token *name, const raw_operand *pointer, uint32_t compare,
                           uint32_t number, const raw_operand *predicate, uint32_t combined) {
    instruction out;
    raw_operand literal;
    memset(&literal, 0, sizeof literal);
    literal.kind = RAW_INTEGER;
    literal.bits = number;
    literal.token = *name;
    ptx_blank(&out, name);
    out.opcode = OPCODE_SETP;
    out.type = TYPE_U64;
    out.compare = (uint8_t)compare;
    if (combined) out.variant = VARIANT_AND;
    if (ptx_destination(reader, predicate, TYPE_PRED, 0, &out, 0) ||
        ptx_source(reader, pointer, TYPE_U64, 0, &out, 0) || ptx_source(reader, &literal, TYPE_U64, 0, &out, 1) ||
        (combined && ptx_source(reader, predicate, TYPE_PRED, 0, &out, 2)))
        return -1;
    return ptx_emit(reader, &out);
}

/* Reads a call through a register, from behind the register. Emits a comparison and a call for each function that the
 * call may reach. The kernel ends when the pointer is none of them. */
static int read_indirect_call(ptx_reader *reader, const ptx_token *name, const raw_operand *called,
                              const raw_operand *results, uint32_t result_count, const instruction *guard) {
    raw_operand arguments[MAX_ARGUMENTS], pointer, predicate;
    uint32_t argument_count = 0, count, targets[MAX_TARGETS], skip = INSTRUCTION_NONE;
    ptx_name prototype;
    instruction out;
    if (ptx_expect(reader, ',', "before the prototype")) return -1;
    if (ptx_at(reader, '(') &&
        (read_arguments(reader, arguments, &argument_count) || ptx_expect(reader, ',', "before the prototype")))
        return -1;
    ptx_token token = reader->token;
    if (ptx_expect_name(reader, &prototype, "a prototype")) return -1;
    if (!ptx_at(reader, ';')) return ptx_expect(reader, ';', "after the call");
    const symbol *calls = ptx_lookup(reader, prototype);
    if (!calls || calls->kind != SYMBOL_CALLS)
        return ptx_fail(reader, &token, "'%.*s' is not a prototype or a list of targets",
                        (int)(prototype.length < 80 ? prototype.length : 80), prototype.text);
    ptx_lexer back = ptx_here(reader), place = calls->place;
    if (find_targets(reader, &place, targets, &count)) return -1;
    ptx_go_to(reader, &back);
    if (!count)
        return ptx_refuse(reader, name, "call",
                          "this call reaches no function of the file whose address is taken (recursion aside); "
                          "compile the functions into the same file");
    if (guard->guard != INSTRUCTION_NONE) {
        ptx_blank(&out, name);
        out.opcode = OPCODE_BRA;
        out.guard = guard->guard;
        out.guard_negated = !guard->guard_negated;
        skip = reader->count;
        if (ptx_emit(reader, &out)) return -1;
    }
    pointer = predicate = *called; /* a copy, because a result may be written to the register */
    pointer.type = TYPE_U64;
    pointer.index = ptx_new_register(reader, TYPE_U64);
    predicate.type = TYPE_PRED;
    predicate.index = ptx_new_register(reader, TYPE_PRED);
    plain_mov(&out, name, TYPE_U64);
    if (ptx_destination(reader, &pointer, TYPE_U64, 0, &out, 0) || ptx_source(reader, called, TYPE_U64, 0, &out, 0) ||
        ptx_emit(reader, &out))
        return -1;
    for (uint32_t i = 0; i < count; i++)
        if (emit_comparison(reader, name, &pointer, COMPARE_NE, reader->symbols[targets[i]].address, &predicate, i > 0))
            return -1;
    ptx_blank(&out, name);
    out.opcode = OPCODE_TRAP;
    out.variant = VARIANT_IDX;
    out.guard = predicate.index;
    if (ptx_emit(reader, &out)) return -1;
    for (uint32_t i = 0; i < count; i++) {
        instruction chosen;
        ptx_blank(&chosen, name);
        chosen.guard = predicate.index;
        if (emit_comparison(reader, name, &pointer, COMPARE_EQ, reader->symbols[targets[i]].address, &predicate, 0) ||
            expand_call(reader, name, targets[i], results, result_count, arguments, argument_count, &chosen))
            return -1;
    }
    if (skip != INSTRUCTION_NONE) reader->code[skip].target = reader->count;
    return 0;
}

/* call{.uni} {(results),} function {, (arguments)} {, prototype}; */
static int read_call(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list,
                     const instruction *guard) {
    raw_operand results[MAX_ARGUMENTS], arguments[MAX_ARGUMENTS];
    uint32_t result_count = 0, argument_count = 0;
    ptx_name called;
    ptx_token token;
    if (ptx_at(reader, '(')) {
        if (read_arguments(reader, results, &result_count) || ptx_expect(reader, ',', "after the results")) return -1;
    }
    token = reader->token;
    if (ptx_expect_name(reader, &called, "the function's name")) return -1;
    int shown = (int)(called.length < 80 ? called.length : 80);
    symbol *function = ptx_lookup(reader, called);
    if (!function || function->kind != SYMBOL_FUNCTION) {
        uint32_t index, type;
        int found = ptx_lookup_register(reader, called, &index, &type);
        if (found < 0) return -1;
        if (found) {
            raw_operand pointer;
            memset(&pointer, 0, sizeof pointer);
            pointer.kind = RAW_REGISTER;
            pointer.type = type;
            pointer.index = index;
            pointer.token = token;
            return read_indirect_call(reader, name, &pointer, results, result_count, guard);
        }
        return ptx_fail(reader, &token, "function '%.*s' is not declared", shown, called.text);
    }
    const runtime_call *runtime = function->has_body ? NULL : find_runtime_call(called);
    if (!function->has_body && !runtime)
        return ptx_refuse(reader, name, list->written,
                          "unsupported %s of '%.*s', which is not in this file: compile it into the same one",
                          list->written, shown, called.text);
    uint32_t index = (uint32_t)(function - reader->symbols);
    if (ptx_take(reader, ',') && read_arguments(reader, arguments, &argument_count)) return -1;
    if (ptx_take(reader, ',') && ptx_expect_name(reader, &called, "a prototype")) return -1;
    if (!ptx_at(reader, ';')) return ptx_expect(reader, ';', "after the call");
    if (runtime)
        return emit_runtime_call(reader, name, runtime, results, result_count, arguments, argument_count, guard);
    return expand_call(reader, name, index, results, result_count, arguments, argument_count, guard);
}

/* brx.idx r, table: a comparison and a branch for every entry but the last. */
static int read_indexed_branch(ptx_reader *reader, const ptx_token *name, const instruction *guard) {
    raw_operand raw;
    ptx_name table_name, label;
    ptx_token token;
    instruction compare, branch;
    uint32_t number = 0, skip = INSTRUCTION_NONE, predicate = ptx_new_register(reader, TYPE_PRED);
    if (ptx_raw_operand(reader, &raw) || ptx_expect(reader, ',', "before the table")) return -1;
    token = reader->token;
    if (ptx_expect_name(reader, &table_name, "a table of branch targets")) return -1;
    symbol *table = ptx_lookup(reader, table_name);
    if (!table || table->kind != SYMBOL_TABLE)
        return ptx_fail(reader, &token, "'%.*s' is not a table of branch targets",
                        (int)(table_name.length < 80 ? table_name.length : 80), table_name.text);
    ptx_lexer back = ptx_here(reader), place = table->place;
    if (guard->guard != INSTRUCTION_NONE) {
        ptx_blank(&branch, name);
        branch.opcode = OPCODE_BRA;
        branch.guard = guard->guard;
        branch.guard_negated = !guard->guard_negated;
        skip = reader->count;
        if (ptx_emit(reader, &branch)) return -1;
    }
    ptx_go_to(reader, &place);
    do {
        token = reader->token;
        if (ptx_expect_name(reader, &label, "a label")) return -1;
        ptx_blank(&branch, name);
        branch.opcode = OPCODE_BRA;
        if (!ptx_at(reader, ';')) {
            ptx_blank(&compare, name);
            compare.opcode = OPCODE_SETP;
            compare.type = TYPE_U32;
            compare.compare = COMPARE_EQ;
            compare.destination_count = 1;
            compare.destinations[0].kind = OPERAND_PREDICATE;
            compare.destinations[0].index = predicate;
            if (ptx_source(reader, &raw, TYPE_U32, 0, &compare, 0)) return -1;
            compare.sources[1].kind = OPERAND_IMMEDIATE;
            compare.sources[1].immediate = number;
            compare.sources[1].words = 1;
            compare.source_count = 2;
            branch.guard = predicate;
            if (ptx_emit(reader, &compare)) return -1;
        } else
            branch.flags |= FLAG_UNIFORM;
        if (add_pending(reader, label, &token, reader->count) || ptx_emit(reader, &branch)) return -1;
        number++;
    } while (ptx_take(reader, ','));
    if (!ptx_at(reader, ';')) return ptx_expect(reader, ';', "after the table");
    if (skip != INSTRUCTION_NONE) reader->code[skip].target = reader->count;
    ptx_go_to(reader, &back);
    return 0;
}

/* vabsdiff4.{u32,s32}.{u32,s32}.{u32,s32}{.add} d, a, b, c: four differences of bytes; .add: their sum plus c. */
static int read_vabsdiff4(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, instruction *out) {
    uint32_t types[3] = {0, 0, 0}, count = 0;
    raw_operand raw;
    out->opcode = OPCODE_VABSDIFF4;
    for (uint32_t i = 0; i < list->count; i++) {
        const ptx_token *token = &list->tokens[i];
        const uint32_t type = ptx_type_find(token->start, token->length);
        if ((type == TYPE_U32 || type == TYPE_S32) && count < 3)
            types[count++] = type;
        else if (ptx_token_is(token, ".add"))
            out->variant = VARIANT_ADD;
        else
            return ptx_refuse_opcode(reader, name, list, "opcode");
    }
    if (count != 3 || types[1] != types[2]) return ptx_refuse_opcode(reader, name, list, "opcode");
    out->type = (uint8_t)types[0];
    out->source_type = (uint8_t)types[1];
    if (ptx_raw_operand(reader, &raw) || ptx_destination(reader, &raw, TYPE_U32, 0, out, 0)) return -1;
    for (uint32_t i = 0; i < 3; i++)
        if (ptx_expect(reader, ',', "between the operands") || ptx_raw_operand(reader, &raw) ||
            ptx_source(reader, &raw, TYPE_U32, 0, out, i))
            return -1;
    return ptx_emit(reader, out) ? -1 : ptx_expect(reader, ';', "after the operands");
}

static int add_return(ptx_reader *reader, const instruction *out) {
    instruction jump = *out;
    if (PTX_GROW(reader, reader->returns, reader->return_count, reader->return_capacity)) return -1;
    reader->returns[reader->return_count++] = reader->count;
    jump.opcode = OPCODE_BRA;
    return ptx_emit(reader, &jump);
}

/* ---- one instruction, behind its guard ---- */
static int read_instruction(ptx_reader *reader, const ptx_token *name, instruction *out) {
    ptx_modifier_list list;
    if (read_modifiers(reader, name, &list)) return -1;
    if (ptx_token_is(name, "call")) {
        for (uint32_t i = 0; i < list.count; i++)
            if (!ptx_token_is(&list.tokens[i], ".uni")) return ptx_refuse_opcode(reader, name, &list, "opcode");
        if (read_call(reader, name, &list, out)) return -1;
        return ptx_expect(reader, ';', "after the call");
    }
    if (ptx_token_is(name, "brx") && list.count && ptx_token_is(&list.tokens[0], ".idx")) {
        if (read_indexed_branch(reader, name, out)) return -1;
        return ptx_expect(reader, ';', "after the branch");
    }
    if (ptx_is_matrix(name)) {
        if (ptx_matrix(reader, name, &list, out)) return -1;
        return ptx_expect(reader, ';', "after the operands");
    }
    if (ptx_token_is(name, "vabsdiff4")) return read_vabsdiff4(reader, name, &list, out);
    if (ptx_is_surface(name)) {
        if (ptx_surface(reader, name, &list, out)) return -1;
        return ptx_expect(reader, ';', "after the operands");
    }
    if (ptx_is_async(name, &list)) {
        if (ptx_async(reader, name, &list, out)) return -1;
        return ptx_expect(reader, ';', "after the operands");
    }
    if (ptx_token_is(name, "bar") && list.count && ptx_token_is(&list.tokens[0], ".warp")) {
        raw_operand raw;
        out->opcode = OPCODE_WARPSYNC;
        if (ptx_raw_operand(reader, &raw) || ptx_source(reader, &raw, TYPE_U32, 0, out, 0) ||
            ptx_expect(reader, ';', "after the operands"))
            return -1;
        return ptx_emit(reader, out);
    }
    if (ptx_token_is(name, "pmevent") || ptx_token_is(name, "brkpt"))
        return ptx_refuse_opcode(reader, name, &list, "opcode");
    const ptx_opcode *row = ptx_opcode_find(name->start, name->length);
    if (!row) return ptx_refuse_opcode(reader, name, &list, "opcode");
    out->opcode = (uint8_t)row->opcode;
    if (row->allowed & GROUP_SPACE) out->space = SPACE_GENERIC;
    if (apply_modifiers(reader, name, row, &list, out)) return -1;
    if ((out->opcode == OPCODE_ATOM || out->opcode == OPCODE_RED) && check_atomic(reader, name, &list, out)) return -1;
    if (out->opcode == OPCODE_TEX) out->space = SPACE_TEXTURE;
    if (out->opcode == OPCODE_ELECT) out->type = TYPE_B32;
    if (out->opcode == OPCODE_ISSPACEP) out->type = TYPE_U64;
    if (ptx_token_is(name, "ldu")) out->flags |= FLAG_READ_ONLY;
    if (read_operands(reader, name, row, &list, out)) return -1;
    if (!ptx_at(reader, ';')) return ptx_expect(reader, ';', "after the operands");
    if (check_operands(reader, name, &list, out)) return -1;
    add_carry(reader, out);
    if (out->opcode == OPCODE_NOP) { /* a hint has no effect, so its operands are not used */
        ptx_blank(out, name);
        out->opcode = OPCODE_NOP;
    }
    if (out->opcode == OPCODE_RET && reader->inline_depth ? add_return(reader, out) : ptx_emit(reader, out)) return -1;
    ptx_next(reader);
    return 0;
}

/* ---- statements ---- */
static int skip_to_semicolon(ptx_reader *reader) {
    while (!ptx_at(reader, ';')) {
        if (reader->token.kind == TOKEN_END) return ptx_expect(reader, ';', "after the directive");
        ptx_next(reader);
    }
    ptx_next(reader);
    return 0;
}

/* Skips the rest of a line that .loc or .file began. These directives end without a semicolon. */
static void skip_line(ptx_reader *reader, uint32_t line) {
    while (reader->token.kind != TOKEN_END && reader->token.line == line) ptx_next(reader);
}

static int read_directive(ptx_reader *reader) {
    ptx_token token = reader->token;
    if (ptx_token_is(&token, ".loc") || ptx_token_is(&token, ".file")) {
        skip_line(reader, token.line);
        return 0;
    }
    if (ptx_token_is(&token, ".pragma")) {
        ptx_next(reader);
        reader->keeps_loop |= ptx_token_is(&reader->token, "\"nounroll\"");
        return skip_to_semicolon(reader);
    }
    if (ptx_token_is(&token, ".callprototype") || ptx_token_is(&token, ".calltargets"))
        return skip_to_semicolon(reader);
    if (ptx_token_is(&token, ".extern")) {
        ptx_next(reader);
        return ptx_declaration(reader, 1);
    }
    return ptx_declaration(reader, 0);
}

/* Reads what follows `name:`. The name is a label, a table of branch targets, or a prototype. */
static int read_label(ptx_reader *reader, const ptx_token *token) {
    ptx_name name = {token->start, token->length};
    symbol *fresh = ptx_declare_once(reader, token, name, SYMBOL_LABEL);
    if (!fresh) return -1;
    fresh->index = reader->count;
    if (ptx_token_is(&reader->token, ".branchtargets")) {
        fresh->kind = SYMBOL_TABLE;
        ptx_next(reader);
        fresh->place = ptx_here(reader);
        return skip_to_semicolon(reader);
    }
    if (ptx_token_is(&reader->token, ".callprototype") || ptx_token_is(&reader->token, ".calltargets")) {
        fresh->kind = SYMBOL_CALLS;
        fresh->place = ptx_here(reader);
        return skip_to_semicolon(reader);
    }
    return 0;
}

static int read_statement(ptx_reader *reader) {
    instruction out;
    ptx_token token = reader->token;
    if (token.kind == TOKEN_DOT) return read_directive(reader);
    if (ptx_take(reader, ';')) return 0;
    ptx_blank(&out, &token);
    if (ptx_take(reader, '@')) {
        raw_operand raw;
        int negated = ptx_take(reader, '!');
        if (ptx_raw_operand(reader, &raw)) return -1;
        if (raw.kind != RAW_REGISTER || raw.type != TYPE_PRED || raw.negated)
            return ptx_fail(reader, &raw.token, "the guard must be a predicate");
        out.guard = raw.index;
        out.guard_negated = (uint8_t)negated;
        token = reader->token;
        out.line = token.line;
        out.column = token.column;
    }
    ptx_name name;
    if (ptx_expect_name(reader, &name, "an instruction")) return -1;
    if (out.guard == INSTRUCTION_NONE && ptx_take(reader, ':')) return read_label(reader, &token);
    return read_instruction(reader, &token, &out);
}

int ptx_body(ptx_reader *reader) {
    uint32_t outside = reader->depth;
    if (ptx_scope_open(reader)) return -1;
    while (reader->depth > outside) {
        if (reader->token.kind == TOKEN_END) return ptx_expect(reader, '}', "at the end of the body");
        if (ptx_take(reader, '{')) {
            if (ptx_scope_open(reader)) return -1;
        } else if (ptx_at(reader, '}')) {
            if (ptx_scope_close(reader)) return -1;
            if (reader->depth > outside) ptx_next(reader);
        } else if (read_statement(reader))
            return ptx_fail_cut(reader);
    }
    return 0;
}
