/* ptx_matrix: matrix instructions. The machine executes mma with N = 8. PTX leaves the layout of wmma's fragments open,
 * so they have the layout of mma's fragments. A wmma.mma becomes several mma. wmma.load and wmma.store become loads and
 * stores at addresses that are computed from the lane's number. */
#include <string.h>
#include "ptx/ptx_operands.h"

#define REGISTERS_MAX 16u
#define TYPES_MAX 4u

/* What the modifiers of a matrix instruction specify. */
typedef struct matrix_form {
    uint32_t m, n, k;
    uint32_t types[TYPES_MAX], type_count;
    uint32_t columns[2], layouts; /* columns: 1 where the matrix is stored by columns; layouts: how many are given */
    uint32_t matrices;            /* x1 x2 x4 */
    uint32_t space, flags, variant;
    char part; /* a, b, c or d of wmma.load and wmma.store; 'm': wmma.mma */
    uint8_t store, transposed;
} matrix_form;

static const char *const opcodes[] = {"mma", "wmma", "ldmatrix", "stmatrix", "movmatrix"};

int ptx_is_matrix(const ptx_token *name) {
    for (uint32_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (ptx_token_is(name, opcodes[i])) return 1;
    return 0;
}

/* Reads a shape such as ".m16n8k16" or ".m8n8" into m, n, k. Returns 0 when the token is no shape. */
static int read_shape(const ptx_token *token, matrix_form *form) {
    static const char letters[] = "mnk";
    uint32_t numbers[3] = {0, 0, 0}, part = 0, at = 1;
    while (part < 3 && at < token->length && token->start[at] == letters[part]) {
        const uint32_t first = ++at;
        while (at < token->length && at - first < 4 && token->start[at] >= '0' && token->start[at] <= '9')
            numbers[part] = numbers[part] * 10 + (uint32_t)(token->start[at++] - '0');
        if (at == first) return 0;
        part++;
    }
    if (part < 2 || at != token->length) return 0;
    form->m = numbers[0];
    form->n = numbers[1];
    form->k = numbers[2];
    return 1;
}

static int read_form(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, matrix_form *form) {
    memset(form, 0, sizeof *form);
    form->matrices = 1;
    form->space = SPACE_GENERIC;
    for (uint32_t i = 0; i < list->count; i++) {
        const ptx_token *token = &list->tokens[i];
        const uint32_t type = ptx_type_find(token->start, token->length);
        if (type != TYPE_NONE && form->type_count < TYPES_MAX)
            form->types[form->type_count++] = type;
        else if (ptx_token_is(token, ".sync") || ptx_token_is(token, ".aligned") || ptx_token_is(token, ".popc") ||
                 ptx_token_is(token, ".rn"))
            continue;
        else if (read_shape(token, form))
            continue;
        else if ((ptx_token_is(token, ".row") || ptx_token_is(token, ".col")) && form->layouts < 2)
            form->columns[form->layouts++] = token->start[1] == 'c';
        else if (ptx_token_is(token, ".x1") || ptx_token_is(token, ".x2") || ptx_token_is(token, ".x4"))
            form->matrices = (uint32_t)(token->start[2] - '0');
        else if (ptx_token_is(token, ".trans"))
            form->transposed = 1;
        else if (ptx_token_is(token, ".shared") || ptx_token_is(token, ".shared::cta"))
            form->space = SPACE_SHARED;
        else if (ptx_token_is(token, ".global"))
            form->space = SPACE_GLOBAL;
        else if (ptx_token_is(token, ".satfinite"))
            form->flags |= FLAG_SATURATE;
        else if (ptx_token_is(token, ".xor") || ptx_token_is(token, ".and"))
            form->variant = token->start[1] == 'x' ? VARIANT_XOR : VARIANT_AND;
        else if (ptx_token_is(token, ".load") || ptx_token_is(token, ".store"))
            form->store = token->start[1] == 's';
        else if (ptx_token_is(token, ".mma"))
            form->part = 'm';
        else if (token->length == 2 && strchr("abcd", token->start[1]))
            form->part = token->start[1];
        else
            return ptx_refuse_opcode(reader, name, list, "opcode");
    }
    return 0;
}

/* Bits of an element. */
static uint32_t element_bits(uint32_t type) {
    switch (type) {
    case TYPE_U4:
    case TYPE_S4: return 4;
    case TYPE_B1: return 1;
    default: return 8 * type_bytes(type);
    }
}
/* Elements in one register of a fragment of A or B. */
static uint32_t elements_of(uint32_t type) { return type == TYPE_F64 ? 1 : 32 / element_bits(type); }
/* Registers of an accumulator tile of `blocks` blocks of 8 rows. */
static uint32_t accumulators(uint32_t type, uint32_t blocks) { return type == TYPE_F16 ? blocks : 2 * blocks; }
static uint32_t register_type(uint32_t type) { return type == TYPE_F64 ? TYPE_F64 : TYPE_B32; }

/* Returns whether the types of D, A, B and C may occur together. */
static int good_types(const matrix_form *form, const uint32_t t[4]) {
    switch (t[1]) {
    case TYPE_F16:
        return t[2] == TYPE_F16 && (t[0] == TYPE_F16 || t[0] == TYPE_F32) && (t[3] == TYPE_F16 || t[3] == TYPE_F32);
    case TYPE_BF16:
    case TYPE_TF32: return t[2] == t[1] && t[0] == TYPE_F32 && t[3] == TYPE_F32;
    case TYPE_F64: return t[2] == TYPE_F64 && t[0] == TYPE_F64 && t[3] == TYPE_F64;
    case TYPE_E4M3:
    case TYPE_E5M2: return (t[2] == TYPE_E4M3 || t[2] == TYPE_E5M2) && t[0] == TYPE_F32 && t[3] == TYPE_F32;
    case TYPE_U8:
    case TYPE_S8: return (t[2] == TYPE_U8 || t[2] == TYPE_S8) && t[0] == TYPE_S32 && t[3] == TYPE_S32;
    case TYPE_U4:
    case TYPE_S4: return (t[2] == TYPE_U4 || t[2] == TYPE_S4) && t[0] == TYPE_S32 && t[3] == TYPE_S32;
    case TYPE_B1:
        return t[2] == TYPE_B1 && t[0] == TYPE_S32 && t[3] == TYPE_S32 &&
               (form->variant == VARIANT_XOR || form->variant == VARIANT_AND);
    default: return 0;
    }
}

/* Reads {a, b, ...}: exactly `count` registers. */
static int read_fragment(ptx_reader *reader, raw_operand *raws, uint32_t count, const char *what) {
    uint32_t found;
    ptx_token token = reader->token;
    if (ptx_vector(reader, raws, REGISTERS_MAX, &found)) return -1;
    return found == count ? 0 : ptx_fail(reader, &token, "%s takes %u registers here, found %u", what, count, found);
}

/* Emits one mma of the machine: 8 * blocks rows, 8 columns, `slices` registers along K. t: types of D, A, B, C. */
static int emit_mma(ptx_reader *reader, const instruction *proto, const matrix_form *form, const uint32_t t[4],
                    uint32_t blocks, uint32_t slices, const raw_operand *d, const raw_operand *a, const raw_operand *b,
                    const raw_operand *c) {
    instruction out = *proto;
    uint32_t slot = 0;
    out.opcode = OPCODE_MMA;
    out.type = (uint8_t)t[0];
    out.source_type = (uint8_t)t[1];
    out.b_type = (uint8_t)t[2];
    out.c_type = (uint8_t)t[3];
    out.vector = (uint8_t)blocks;
    out.lookup = (uint8_t)slices;
    out.variant = (uint8_t)form->variant;
    out.flags |= form->flags;
    for (uint32_t i = 0; i < accumulators(t[0], blocks); i++)
        if (ptx_destination(reader, &d[i], register_type(t[0]), 0, &out, i)) return -1;
    for (uint32_t i = 0; i < blocks * slices; i++)
        if (ptx_source(reader, &a[i], register_type(t[1]), 0, &out, slot++)) return -1;
    for (uint32_t i = 0; i < slices; i++)
        if (ptx_source(reader, &b[i], register_type(t[2]), 0, &out, slot++)) return -1;
    for (uint32_t i = 0; i < accumulators(t[3], blocks); i++)
        if (ptx_source(reader, &c[i], register_type(t[3]), 0, &out, slot++)) return -1;
    return ptx_emit(reader, &out);
}

/* How a matrix product is divided into mma instructions. */
typedef struct matrix_tiles {
    uint32_t blocks;        /* blocks of 8 rows in a tile */
    uint32_t slices;        /* registers along K */
    uint32_t rows, columns; /* tiles */
} matrix_tiles;

static matrix_tiles tiles_of(const matrix_form *form, uint32_t type) {
    matrix_tiles t;
    t.blocks = form->m == 8 ? 1 : 2;
    t.slices = form->k / (4 * elements_of(type));
    t.rows = form->m / (8 * t.blocks);
    t.columns = form->n / 8;
    return t;
}

static int read_mma(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, const matrix_form *form,
                    const instruction *proto) {
    raw_operand d[REGISTERS_MAX], a[REGISTERS_MAX], b[REGISTERS_MAX], c[REGISTERS_MAX];
    const uint32_t *t = form->types;
    matrix_tiles tiles;
    if (form->type_count != 4 || !good_types(form, t) || form->n != 8 || (form->m != 8 && form->m != 16) ||
        form->layouts != 2 || form->columns[0] || !form->columns[1] || (t[1] == TYPE_F16 && form->m == 8) ||
        (form->flags && t[0] != TYPE_S32) || t[0] != t[3])
        return ptx_refuse_opcode(reader, name, list, "opcode");
    tiles = tiles_of(form, t[1]);
    if ((tiles.slices != 1 && tiles.slices != 2) || form->k != tiles.slices * 4 * elements_of(t[1]) ||
        (tiles.slices == 2 && form->m == 8))
        return ptx_refuse_opcode(reader, name, list, "opcode");
    if (read_fragment(reader, d, accumulators(t[0], tiles.blocks), "D") || ptx_expect(reader, ',', "after D") ||
        read_fragment(reader, a, tiles.blocks * tiles.slices, "A") || ptx_expect(reader, ',', "after A") ||
        read_fragment(reader, b, tiles.slices, "B") || ptx_expect(reader, ',', "after B") ||
        read_fragment(reader, c, accumulators(t[3], tiles.blocks), "C"))
        return -1;
    return emit_mma(reader, proto, form, t, tiles.blocks, tiles.slices, d, a, b, c);
}

/* ---- wmma ---- */

/* Returns whether wmma has the shape for a type of A. Fragments of A and B of f16 have 8 registers in PTX for every
 * shape. */
static int good_wmma(const matrix_form *form, uint32_t type) {
    const uint32_t shape = form->m << 16 | form->n << 8 | form->k;
    switch (type) {
    case TYPE_F16:
    case TYPE_BF16:
    case TYPE_U8:
    case TYPE_S8: return shape == 0x101010 || shape == 0x200810 || shape == 0x082010;
    case TYPE_TF32: return shape == 0x101008;
    case TYPE_F64: return shape == 0x080804;
    case TYPE_U4:
    case TYPE_S4: return shape == 0x080820;
    case TYPE_B1: return shape == 0x080880;
    default: return 0;
    }
}

/* Returns a type of A that belongs to a shape. Accumulators do not name the type of A, and all types with K = 16 have
 * the same tiles. */
static uint32_t type_of_shape(const matrix_form *form) {
    return form->k == 16   ? (uint32_t)TYPE_BF16
           : form->k == 8  ? (uint32_t)TYPE_TF32
           : form->k == 4  ? (uint32_t)TYPE_F64
           : form->k == 32 ? (uint32_t)TYPE_U4
                           : (uint32_t)TYPE_B1;
}

static uint32_t fragment_registers(const matrix_form *form, char part, uint32_t type) {
    const matrix_tiles t = tiles_of(form, part == 'a' || part == 'b' ? type : type_of_shape(form));
    if (part == 'a') return t.rows * t.blocks * t.slices;
    if (part == 'b') return t.columns * t.slices;
    return t.rows * t.columns * accumulators(type, t.blocks);
}

static int same_register(const raw_operand *a, const raw_operand *b) {
    return a->kind == RAW_REGISTER && b->kind == RAW_REGISTER && a->index == b->index;
}

static int read_wmma_mma(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list,
                         const matrix_form *form, const instruction *proto) {
    raw_operand d[REGISTERS_MAX], a[REGISTERS_MAX], b[REGISTERS_MAX], c[REGISTERS_MAX];
    uint32_t t[4], a_count, b_count, d_count, c_count;
    matrix_tiles tiles;
    memcpy(t, form->types, sizeof t);
    if (form->type_count == 2) { /* two types are those of D and C: A and B are f16 */
        t[3] = t[1];
        t[1] = t[2] = TYPE_F16;
    }
    if (form->type_count < 2 || form->type_count == 3 || !good_types(form, t) || !good_wmma(form, t[1]) ||
        form->layouts != 2 || (form->flags && t[0] != TYPE_S32))
        return ptx_refuse_opcode(reader, name, list, "opcode");
    tiles = tiles_of(form, t[1]);
    a_count = t[1] == TYPE_F16 ? 8 : fragment_registers(form, 'a', t[1]);
    b_count = t[1] == TYPE_F16 ? 8 : fragment_registers(form, 'b', t[2]);
    d_count = fragment_registers(form, 'd', t[0]);
    c_count = fragment_registers(form, 'c', t[3]);
    if (read_fragment(reader, d, d_count, "D") || ptx_expect(reader, ',', "after D") ||
        read_fragment(reader, a, a_count, "A") || ptx_expect(reader, ',', "after A") ||
        read_fragment(reader, b, b_count, "B") || ptx_expect(reader, ',', "after B") ||
        read_fragment(reader, c, c_count, "C"))
        return -1;
    /* D must not overlap the sources, because the first mma writes D before the last mma reads them. */
    for (uint32_t i = 0; i < d_count; i++) {
        for (uint32_t j = 0; j < a_count || j < b_count || j < c_count; j++)
            if ((j < a_count && same_register(&d[i], &a[j])) || (j < b_count && same_register(&d[i], &b[j])) ||
                (j < c_count && same_register(&d[i], &c[j]) && (j != i || c_count != d_count)))
                return ptx_refuse(reader, name, list->written,
                                  "a register of D is one of A, B or another one of C; "
                                  "give D registers of its own");
    }
    for (uint32_t row = 0; row < tiles.rows; row++)
        for (uint32_t column = 0; column < tiles.columns; column++) {
            const uint32_t tile = row * tiles.columns + column;
            if (emit_mma(reader, proto, form, t, tiles.blocks, tiles.slices,
                         &d[tile * accumulators(t[0], tiles.blocks)], &a[row * tiles.blocks * tiles.slices],
                         &b[column * tiles.slices], &c[tile * accumulators(t[3], tiles.blocks)]))
                return -1;
        }
    return 0;
}

/* Returns a fresh register of a type. */
static raw_operand new_register(ptx_reader *reader, uint32_t type) {
    raw_operand raw;
    memset(&raw, 0, sizeof raw);
    raw.kind = RAW_REGISTER;
    raw.type = type;
    raw.index = ptx_new_register(reader, type);
    raw.token = reader->token;
    return raw;
}
static raw_operand number(ptx_reader *reader, uint64_t value) {
    raw_operand raw;
    memset(&raw, 0, sizeof raw);
    raw.kind = RAW_INTEGER;
    raw.bits = value;
    raw.token = reader->token;
    return raw;
}

/* Emits d = a op b (+ c for mad). `type` is the destination's type. Sources of mad.wide are u32. */
static int emit_integer(ptx_reader *reader, const instruction *proto, uint32_t opcode, uint32_t variant, uint32_t type,
                        const raw_operand *d, const raw_operand *a, const raw_operand *b, const raw_operand *c) {
    instruction out = *proto;
    const uint32_t wide = variant == VARIANT_WIDE ? (uint32_t)TYPE_U64 : type;
    out.guard = INSTRUCTION_NONE; /* an address may be computed in all lanes, whatever the guard */
    out.opcode = (uint8_t)opcode;
    out.variant = (uint8_t)variant;
    out.type = (uint8_t)type;
    if (ptx_destination(reader, d, wide, 0, &out, 0) || ptx_source(reader, a, type, 0, &out, 0)) return -1;
    if (b &&
        ptx_source(reader, b, opcode == OPCODE_SHL || opcode == OPCODE_SHR ? (uint32_t)TYPE_U32 : type, 0, &out, 1))
        return -1;
    if (c && ptx_source(reader, c, wide, 0, &out, 2)) return -1;
    return ptx_emit(reader, &out);
}

/* Where a fragment's elements lie in memory. The matrix is stored as lines of `stride` elements. `base` and `offset`
 * give the address of the lane's first element. */
typedef struct fragment_place {
    raw_operand base;   /* address of the lane's first element */
    raw_operand stride; /* elements from one line to the next */
    int64_t offset;
    uint32_t bits; /* of one element */
    uint32_t line_numbers[32];
    raw_operand lines[32]; /* addresses of other lines, as they were computed */
    uint32_t line_count;
} fragment_place;

/* Sets *base and *offset to the address of element `at` of a line, relative to the lane's first element. */
static int address_of(ptx_reader *reader, const instruction *proto, fragment_place *place, uint32_t line, uint32_t at,
                      raw_operand *base, int64_t *offset) {
    const int is_wide = type_bytes(place->base.type) == 8;
    *offset = place->offset + (int64_t)(at * place->bits / 8);
    *base = place->base;
    if (line == 0) return 0;
    if (place->stride.kind == RAW_INTEGER) {
        *offset += (int64_t)(line * place->stride.bits * place->bits / 8);
        return 0;
    }
    for (uint32_t i = 0; i < place->line_count; i++)
        if (place->line_numbers[i] == line) {
            *base = place->lines[i];
            return 0;
        }
    raw_operand factor = number(reader, line * place->bits / 8);
    *base = new_register(reader, place->base.type);
    if (emit_integer(reader, proto, OPCODE_MAD, is_wide ? VARIANT_WIDE : VARIANT_LO, TYPE_U32, base, &place->stride,
                     &factor, &place->base))
        return -1;
    place->line_numbers[place->line_count] = line;
    place->lines[place->line_count++] = *base;
    return 0;
}

/* Computes the address of the lane's first element. With L = lane / 4 and T = lane % 4 * each, the element is number T
 * of line L when group_is_line is set, and number L of line T otherwise. */
static int start_place(ptx_reader *reader, const instruction *proto, const instruction *access, int group_is_line,
                       uint32_t each, fragment_place *place) {
    const int is_wide = access->sources[0].words == 2;
    raw_operand lane, group, thread, at, base, two = number(reader, 2), three = number(reader, 3),
                                               factor = number(reader, each);
    memset(&lane, 0, sizeof lane);
    lane.kind = RAW_SPECIAL;
    lane.index = SPECIAL_LANEID;
    memset(&base, 0, sizeof base);
    base.kind = RAW_REGISTER;
    base.type = is_wide ? TYPE_B64 : TYPE_B32;
    base.index = access->sources[0].index;
    group = new_register(reader, TYPE_U32);
    thread = new_register(reader, TYPE_U32);
    at = new_register(reader, TYPE_U32);
    place->base = new_register(reader, base.type);
    place->offset = access->offset;
    if (emit_integer(reader, proto, OPCODE_SHR, VARIANT_NONE, TYPE_U32, &group, &lane, &two, NULL) ||
        emit_integer(reader, proto, OPCODE_AND, VARIANT_NONE, TYPE_B32, &thread, &lane, &three, NULL) ||
        emit_integer(reader, proto, OPCODE_MUL, VARIANT_LO, TYPE_U32, &thread, &thread, &factor, NULL) ||
        emit_integer(reader, proto, OPCODE_MAD, VARIANT_LO, TYPE_U32, &at, group_is_line ? &group : &thread,
                     &place->stride, group_is_line ? &thread : &group))
        return -1;
    if (place->bits < 8) {
        raw_operand shift = number(reader, place->bits == 4 ? 1 : 3);
        if (emit_integer(reader, proto, OPCODE_SHR, VARIANT_NONE, TYPE_U32, &at, &at, &shift, NULL)) return -1;
    }
    factor = number(reader, place->bits < 8 ? 1 : place->bits / 8);
    return emit_integer(reader, proto, OPCODE_MAD, is_wide ? VARIANT_WIDE : VARIANT_LO, TYPE_U32, &place->base, &at,
                        &factor, &base);
}

static int emit_access(ptx_reader *reader, const instruction *proto, uint32_t space, int store, uint32_t type,
                       const raw_operand *value, const raw_operand *base, int64_t offset) {
    instruction out = *proto;
    out.opcode = store ? OPCODE_ST : OPCODE_LD;
    out.space = (uint8_t)space;
    out.type = (uint8_t)type;
    out.offset = offset;
    if (ptx_source(reader, base, base->type, 0, &out, 0)) return -1;
    if (store ? ptx_source(reader, value, type, 1, &out, 1) : ptx_destination(reader, value, type, 1, &out, 0))
        return -1;
    return ptx_emit(reader, &out);
}

/* Loads or stores a register whose elements do not lie side by side. Each element passes through a register of its
 * own. */
static int move_parts(ptx_reader *reader, const instruction *proto, const matrix_form *form, uint32_t bits,
                      fragment_place *place, const raw_operand *value, uint32_t line, uint32_t at) {
    const uint32_t parts = 32 / bits, type = bits == 16 ? TYPE_B16 : TYPE_B8;
    raw_operand part[4];
    instruction move = *proto;
    move.opcode = OPCODE_MOV;
    move.type = TYPE_B32;
    move.vector = (uint8_t)parts;
    for (uint32_t j = 0; j < parts; j++) part[j] = new_register(reader, type);
    for (uint32_t j = 0; form->store && j < parts; j++)
        if (ptx_destination(reader, &part[j], type, 0, &move, j)) return -1;
    if (form->store && (ptx_source(reader, value, TYPE_B32, 0, &move, 0) || ptx_emit(reader, &move))) return -1;
    for (uint32_t j = 0; j < parts; j++) {
        raw_operand base;
        int64_t offset;
        if (address_of(reader, proto, place, line + j, at, &base, &offset) ||
            emit_access(reader, proto, form->space, form->store, type, &part[j], &base, offset))
            return -1;
    }
    for (uint32_t j = 0; !form->store && j < parts; j++)
        if (ptx_source(reader, &part[j], type, 0, &move, j)) return -1;
    return form->store ? 0 : ptx_destination(reader, value, TYPE_B32, 0, &move, 0) || ptx_emit(reader, &move) ? -1 : 0;
}

/* How the fragment that wmma.load or wmma.store names lies in registers and in memory. */
typedef struct fragment_form {
    matrix_tiles tiles;
    uint32_t type, needed, count; /* value_type of an element; distinct registers; registers that PTX names */
    uint32_t each;                /* adjacent elements that one lane holds */
    int group_is_line;            /* 1: a lane's line of memory is lane / 4; 0: its line follows from lane % 4 */
    int together;                 /* 1: all elements of a register are adjacent in memory */
} fragment_form;

/* Fills *f from the modifiers. Returns -1 for a fragment that wmma does not have. */
static int fragment_form_of(const matrix_form *form, fragment_form *f) {
    const uint32_t type = form->types[0], is_accumulator = form->part == 'c' || form->part == 'd',
                   shape_type = is_accumulator ? type_of_shape(form) : type;
    if (form->type_count != 1 || form->layouts != 1 || !form->part || !good_wmma(form, shape_type) || form->flags ||
        (is_accumulator && type != TYPE_F16 && type != TYPE_F32 && type != TYPE_S32 && type != TYPE_F64))
        return -1;
    f->type = type;
    f->tiles = tiles_of(form, shape_type);
    f->needed = fragment_registers(form, form->part, type);
    f->count = type == TYPE_F16 && !is_accumulator ? 8 : f->needed;
    f->each = is_accumulator ? 2 : elements_of(type);
    /* Elements are adjacent along a line: by rows for A and C, by columns for B. */
    f->group_is_line = form->part == 'b' ? form->columns[0] != 0 : !form->columns[0];
    f->together = f->group_is_line || (is_accumulator ? type != TYPE_F16 : f->each == 1);
    return f->together || element_bits(type) >= 8 ? 0 : -1;
}

/* Returns the elements from one line of a matrix in memory to the next, for an instruction that gives no stride. */
static uint32_t tight_stride(const matrix_form *form) {
    const uint32_t by_rows = form->part == 'a' ? form->k : form->n, by_columns = form->part == 'b' ? form->k : form->m;
    return form->columns[0] ? by_columns : by_rows;
}

/* Sets the position of register i's first element in the matrix, relative to the lane's first element. `across` counts
 * rows of A and C and columns of B. `along` counts the other dimension. */
static void element_place(const fragment_form *f, char part, uint32_t i, uint32_t *across, uint32_t *along) {
    const uint32_t blocks = f->tiles.blocks, slices = f->tiles.slices;
    if (part == 'a') {
        const uint32_t r = i % (blocks * slices), tile = i / (blocks * slices);
        *across = tile * 8 * blocks + 8 * (r % blocks);
        *along = r / blocks * 4 * f->each;
    } else if (part == 'b') {
        *across = i / slices * 8;
        *along = i % slices * 4 * f->each;
    } else {
        const uint32_t held = accumulators(f->type, blocks), e = i % held, tile = i / held;
        *across = tile / f->tiles.columns * 8 * blocks + 8 * (f->type == TYPE_F16 ? e : e / 2);
        *along = tile % f->tiles.columns * 8 + (f->type == TYPE_F16 ? 0 : e % 2);
    }
}

/* Reads the address, the fragment and the stride of wmma.load and wmma.store. */
static int read_wmma_operands(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list,
                              const matrix_form *form, const fragment_form *f, instruction *access, raw_operand *values,
                              raw_operand *stride) {
    access->space = (uint8_t)form->space;
    if (form->store) {
        if (ptx_address(reader, access) || ptx_expect(reader, ',', "after the address") ||
            read_fragment(reader, values, f->count, "the fragment"))
            return -1;
    } else if (read_fragment(reader, values, f->count, "the fragment") ||
               ptx_expect(reader, ',', "after the fragment") || ptx_address(reader, access))
        return -1;
    if (access->sources[0].kind != OPERAND_REGISTER)
        return ptx_refuse(reader, name, list->written, "%s of a variable by its name: put its address into a register",
                          list->written);
    *stride = number(reader, tight_stride(form));
    if (ptx_take(reader, ',') && ptx_raw_operand(reader, stride)) return -1;
    if (stride->kind != RAW_REGISTER && stride->kind != RAW_INTEGER)
        return ptx_fail(reader, name, "the stride of %s is a register or a number", list->written);
    return 0;
}

/* wmma.load.{a,b,c} {r...}, [p]{, stride}   wmma.store.d [p], {r...}{, stride} */
static int read_wmma_access(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list,
                            const matrix_form *form, const instruction *proto) {
    raw_operand values[REGISTERS_MAX];
    fragment_place place;
    fragment_form f;
    instruction access = *proto;
    memset(&place, 0, sizeof place);
    if (fragment_form_of(form, &f)) return ptx_refuse_opcode(reader, name, list, "opcode");
    if (read_wmma_operands(reader, name, list, form, &f, &access, values, &place.stride)) return -1;
    place.bits = element_bits(f.type);
    if (start_place(reader, proto, &access, f.group_is_line, f.each, &place)) return -1;
    for (uint32_t i = 0; i < f.needed; i++) {
        uint32_t across, along, line, at;
        raw_operand base;
        int64_t offset;
        element_place(&f, form->part, i, &across, &along);
        line = f.group_is_line ? across : along;
        at = f.group_is_line ? along : across;
        if (!f.together) {
            if (move_parts(reader, proto, form, place.bits, &place, &values[i], line, at)) return -1;
        } else if (address_of(reader, proto, &place, line, at, &base, &offset) ||
                   emit_access(reader, proto, form->space, form->store, register_type(f.type), &values[i], &base,
                               offset))
            return -1;
    }
    for (uint32_t i = f.needed; !form->store && i < f.count; i++) { /* PTX names more registers */
        instruction copy = *proto;
        copy.opcode = OPCODE_MOV;
        copy.type = TYPE_B32;
        if (ptx_destination(reader, &values[i], TYPE_B32, 0, &copy, 0) ||
            ptx_source(reader, &values[i % f.needed], TYPE_B32, 0, &copy, 0) || ptx_emit(reader, &copy))
            return -1;
    }
    return 0;
}

/* ---- ldmatrix, stmatrix, movmatrix ---- */

static int read_rows(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, const matrix_form *form,
                     const instruction *proto) {
    const int moves = ptx_token_is(name, "movmatrix"), stores = ptx_token_is(name, "stmatrix");
    raw_operand values[REGISTERS_MAX];
    instruction out = *proto;
    if (form->m != 8 || form->n != 8 || form->k || form->type_count != 1 || form->types[0] != TYPE_B16 ||
        form->layouts || form->part || form->flags || form->variant || (moves && !form->transposed) ||
        form->space == SPACE_GLOBAL)
        return ptx_refuse_opcode(reader, name, list, "opcode");
    out.opcode = moves ? OPCODE_MOVMATRIX : stores ? OPCODE_STMATRIX : OPCODE_LDMATRIX;
    out.type = TYPE_B16;
    out.vector = (uint8_t)form->matrices;
    out.variant = form->transposed ? VARIANT_TRANS : VARIANT_NONE;
    if (!moves) out.space = (uint8_t)form->space;
    if (stores && (ptx_address(reader, &out) || ptx_expect(reader, ',', "after the address"))) return -1;
    if (read_fragment(reader, values, form->matrices, list->written)) return -1;
    for (uint32_t i = 0; i < form->matrices; i++)
        if (stores ? ptx_source(reader, &values[i], TYPE_B32, 0, &out, i + 1)
                   : ptx_destination(reader, &values[i], TYPE_B32, 0, &out, i))
            return -1;
    if (!stores && ptx_expect(reader, ',', "after the registers")) return -1;
    if (moves) {
        if (ptx_raw_operand(reader, &values[0]) || ptx_source(reader, &values[0], TYPE_B32, 0, &out, 0)) return -1;
    } else if (!stores && ptx_address(reader, &out))
        return -1;
    return ptx_emit(reader, &out);
}

int ptx_matrix(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, const instruction *guard) {
    matrix_form form;
    if (read_form(reader, name, list, &form)) return -1;
    if (ptx_token_is(name, "mma")) return read_mma(reader, name, list, &form, guard);
    if (!ptx_token_is(name, "wmma")) return read_rows(reader, name, list, &form, guard);
    if (form.part == 'm') return read_wmma_mma(reader, name, list, &form, guard);
    return read_wmma_access(reader, name, list, &form, guard);
}
