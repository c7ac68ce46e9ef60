/* ptx_operands: see ptx_operands.h. */
#include "ptx/ptx_operands.h"
#include <string.h>

/* Reads a special register at the place of a register's name. .x, .y or .z may follow the name. */
static int special_operand(ptx_reader *reader, raw_operand *raw) {
    char text[40];
    uint32_t length = raw->token.length;
    if (length + 3 > sizeof text) return 0;
    memcpy(text, raw->token.start, length);
    uint32_t special = ptx_special_find(text, length);
    if (special == SPECIAL_COUNT && reader->token.kind == TOKEN_DOT && reader->token.length == 2) {
        memcpy(text + length, reader->token.start, 2);
        special = ptx_special_find(text, length + 2);
        if (special != SPECIAL_COUNT) ptx_next(reader);
    }
    if (special == SPECIAL_COUNT) return 0;
    raw->kind = RAW_SPECIAL;
    raw->index = special;
    return 1;
}

static int is_special_prefix(const ptx_token *token) {
    static const char *const names[] = {"%pm",
                                        "%envreg",
                                        "%reserved_smem",
                                        "%cluster",
                                        "%is_explicit_cluster",
                                        "%nwarpid",
                                        "%current_graph_exec",
                                        "%aggr_smem_size",
                                        "%tid",
                                        "%ntid",
                                        "%ctaid",
                                        "%nctaid",
                                        "%nclusterid"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t length = (uint32_t)strlen(names[i]);
        if (token->length >= length && memcmp(token->start, names[i], length) == 0) return 1;
    }
    return 0;
}

/* Returns whether a special register describes clusters: %clusterid, %cluster_ctaid, %nclusterid and so on. */
static int is_of_clusters(const char *name, size_t length) {
    return (length > 8 && memcmp(name, "%cluster", 8) == 0) || (length > 9 && memcmp(name, "%ncluster", 9) == 0);
}

/* Bytes of shared memory that the system reserves for itself and for libraries. Here the reserved part is an ordinary
 * variable. */
#define SYSTEM_SHARED_BYTES 1024u
static int system_shared(ptx_reader *reader, raw_operand *raw) {
    static const char *const names[] = {"%reserved_smem_offset_begin", "%reserved_smem_offset_0",
                                        "%reserved_smem_offset_1", "%reserved_smem_offset_end",
                                        "%reserved_smem_offset_cap"};
    uint32_t i = 0;
    while (i < sizeof names / sizeof *names && !ptx_token_is(&raw->token, names[i])) i++;
    if (i == sizeof names / sizeof *names) return 0;
    if (!reader->system_shared) {
        reader->shared_bytes = (reader->shared_bytes + 127) / 128 * 128;
        reader->system_shared = 1 + reader->shared_bytes;
        reader->shared_bytes += SYSTEM_SHARED_BYTES;
    }
    raw->kind = RAW_INTEGER;
    raw->bits = reader->system_shared - 1 + (i < 3 ? 0 : i == 3 ? SYSTEM_SHARED_BYTES : 0);
    if (i == 4) raw->bits = SYSTEM_SHARED_BYTES;
    return 1;
}

/* Reads what follows a variable's name: `+ bytes`, `- bytes` or `[element]`. */
static int variable_addend(ptx_reader *reader, const symbol *named, raw_operand *raw) {
    uint64_t addend = 0;
    if (ptx_at(reader, '+') || ptx_at(reader, '-')) {
        if (ptx_constant(reader, &addend)) return -1;
    } else if (ptx_take(reader, '[')) {
        ptx_token index = reader->token;
        if (index.kind == TOKEN_NAME)
            return ptx_fail(reader, &index, "an element's number is a constant; add a register to the address before");
        if (ptx_constant(reader, &addend) || ptx_expect(reader, ']', "after the element's number")) return -1;
        addend *= named->element_bytes;
        raw->is_element = 1;
    }
    raw->addend = (int64_t)addend;
    return 0;
}

/* Reports a name that is not declared. */
static int unknown_operand(ptx_reader *reader, const raw_operand *raw, ptx_name name) {
    const int shown = (int)(name.length < 80 ? name.length : 80);
    if (is_special_prefix(&raw->token))
        return ptx_refuse(reader, &raw->token, "", "unsupported special register %.*s; %s", shown, name.text,
                          is_of_clusters(name.text, name.length)
                              ? "there are no clusters; launch single blocks, as for sm_80"
                              : "pass the value as an argument");
    return ptx_fail(reader, &raw->token, "'%.*s' is not declared", shown, name.text);
}

/* Reads a variable, texture or function by its name. */
static int symbol_operand(ptx_reader *reader, raw_operand *raw, symbol *named, ptx_name name) {
    const int shown = (int)(name.length < 80 ? name.length : 80);
    switch (named->kind) {
    case SYMBOL_TEXTURE:
        raw->kind = RAW_TEXTURE;
        raw->index = named->index;
        return 0;
    case SYMBOL_VARIABLE:
        raw->kind = RAW_VARIABLE;
        raw->space = named->space;
        raw->index = named->index;
        if (named->space == SPACE_SHARED) {
            if (ptx_place_shared(reader, named)) return -1;
            raw->is_extern_shared = named->is_extern;
        } else if (named->is_extern)
            return ptx_refuse(reader, &raw->token, "",
                              "'%.*s' is defined in another file; compile it into the same one", shown, name.text);
        if (variable_addend(reader, named, raw)) return -1;
        raw->bits = named->offset + (uint64_t)raw->addend;
        return 0;
    case SYMBOL_FUNCTION:
        if (!named->address)
            return ptx_refuse(reader, &raw->token, "",
                              "the name of function '%.*s' as argument is not supported; "
                              "put the function's address into a register by mov",
                              shown, name.text);
        raw->kind = RAW_INTEGER;
        raw->bits = named->address;
        return 0;
    case SYMBOL_UNSUPPORTED:
        return ptx_refuse(
            reader, &raw->token, "",
            "'%.*s' is of a kind that is not supported; use an object (of a texture, a surface) or a buffer", shown,
            name.text);
    default: return ptx_fail(reader, &raw->token, "'%.*s' cannot be an operand", shown, name.text);
    }
}

static int named_operand(ptx_reader *reader, raw_operand *raw) {
    ptx_name name = {raw->token.start, raw->token.length};
    int found;
    ptx_next(reader);
    if (name.length == 1 && name.text[0] == '_') {
        raw->kind = RAW_SINK;
        return 0;
    }
    if (ptx_token_is(&raw->token, "WARP_SZ")) {
        raw->kind = RAW_INTEGER;
        raw->bits = 32;
        return 0;
    }
    found = ptx_lookup_register(reader, name, &raw->index, &raw->type);
    if (found < 0) return -1;
    if (found) {
        raw->kind = RAW_REGISTER;
        return 0;
    }
    if (special_operand(reader, raw)) return 0;
    if (system_shared(reader, raw)) return 0;
    symbol *named = ptx_lookup(reader, name);
    return named ? symbol_operand(reader, raw, named, name) : unknown_operand(reader, raw, name);
}

int ptx_raw_operand(ptx_reader *reader, raw_operand *raw) {
    memset(raw, 0, sizeof *raw);
    raw->token = reader->token;
    if (reader->token.kind == TOKEN_NAME) return named_operand(reader, raw);
    if (ptx_at(reader, '!')) {
        ptx_lexer ahead = reader->lexer;
        ptx_token next;
        ptx_lexer_next(&ahead, &next);
        if (next.kind == TOKEN_NAME) {
            ptx_next(reader);
            raw->token = reader->token;
            if (named_operand(reader, raw)) return -1;
            raw->negated = 1;
            if (raw->kind != RAW_REGISTER || raw->type != TYPE_PRED)
                return ptx_fail(reader, &raw->token, "only predicates are negated with '!'");
            return 0;
        }
    }
    int negative = 0;
    if (ptx_at(reader, '-')) {
        ptx_lexer ahead = reader->lexer;
        ptx_token next;
        ptx_lexer_next(&ahead, &next);
        negative = next.kind == TOKEN_FLOAT32 || next.kind == TOKEN_FLOAT64;
        if (negative) ptx_next(reader);
    }
    if (reader->token.kind == TOKEN_FLOAT32 || reader->token.kind == TOKEN_FLOAT64) {
        raw->kind = reader->token.kind == TOKEN_FLOAT32 ? RAW_FLOAT32 : RAW_FLOAT64;
        raw->bits = reader->token.value;
        if (negative) raw->bits ^= raw->kind == RAW_FLOAT32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
        ptx_next(reader);
        return 0;
    }
    if (reader->token.kind == TOKEN_END || reader->token.kind == TOKEN_BAD ||
        (reader->token.kind == TOKEN_PUNCTUATION && !strchr("-+~!(", (int)reader->token.value))) {
        return ptx_fail_expected(reader, "an operand", "");
    }
    raw->kind = RAW_INTEGER;
    return ptx_constant(reader, &raw->bits);
}

/* Returns the bits of a literal as a value of a type. */
static uint64_t literal_bits(const raw_operand *raw, uint32_t type) {
    float single;
    double number;
    uint32_t low = (uint32_t)raw->bits;
    uint64_t bits = raw->bits;
    uint32_t bytes = type_bytes(type);
    if (raw->kind == RAW_INTEGER) {
        if (type == TYPE_F32) {
            single = (float)(int64_t)raw->bits;
            memcpy(&low, &single, 4);
            return low;
        }
        if (type == TYPE_F64) {
            number = (double)(int64_t)raw->bits;
            memcpy(&bits, &number, 8);
            return bits;
        }
    } else if (raw->kind == RAW_FLOAT32) {
        if (bytes < 8) return low;
        memcpy(&single, &low, 4);
        number = (double)single;
        memcpy(&bits, &number, 8);
        return bits;
    } else {
        if (bytes == 8) return bits;
        memcpy(&number, &bits, 8);
        single = (float)number;
        memcpy(&low, &single, 4);
        return low;
    }
    return bytes >= 8 || bytes == 0 ? bits : bits & ((UINT64_C(1) << (8 * bytes)) - 1);
}

static int add_relocation(ptx_reader *reader, uint32_t slot, const raw_operand *raw) {
    ptx_module *module = reader->module;
    ptx_relocation entry;
    memset(&entry, 0, sizeof entry);
    entry.kernel = module->kernel_count;
    entry.instruction = reader->count;
    entry.slot = slot;
    entry.symbol = raw->index;
    entry.addend = raw->addend;
    if (raw->is_extern_shared) {
        if (PTX_GROW(reader, reader->extern_shared, reader->extern_count, reader->extern_capacity)) return -1;
        reader->extern_shared[reader->extern_count++] = entry;
    } else {
        if (PTX_GROW(reader, module->relocations, module->relocation_count, reader->relocation_capacity)) return -1;
        module->relocations[module->relocation_count++] = entry;
    }
    return 0;
}

static int needs_relocation(const raw_operand *raw) {
    return raw->kind == RAW_VARIABLE &&
           (raw->is_extern_shared || raw->space == SPACE_GLOBAL || raw->space == SPACE_CONST);
}

/* Checks a register's width. A register must be as wide as the instruction's type; loads, stores and conversions accept
 * wider registers. */
static int register_operand(ptx_reader *reader, const raw_operand *raw, uint32_t type, int relaxed, operand *out) {
    uint32_t have = type_bytes(raw->type), need = type_bytes(type);
    if ((raw->type == TYPE_PRED) != (type == TYPE_PRED))
        return ptx_fail(reader, &raw->token,
                        raw->type == TYPE_PRED ? "a predicate cannot stand here" : "expected a predicate");
    if (have < need || (have > need && !relaxed))
        return ptx_fail(reader, &raw->token, "a .%s register cannot hold a .%s here", type_name(raw->type),
                        type_name(type));
    out->kind = raw->type == TYPE_PRED ? OPERAND_PREDICATE : OPERAND_REGISTER;
    out->index = raw->index;
    out->words = (uint8_t)type_words(raw->type);
    out->bytes = (uint8_t)have;
    out->negated = (uint8_t)raw->negated;
    return 0;
}

/* Returns the variable that an address belongs to: 1 + its start for a shared variable, one number for all extern
 * arrays, one number for all variables that are placed when the module is loaded; 0: no variable. */
static uint32_t variable_of(const raw_operand *raw) {
    if (raw->space == SPACE_GLOBAL || raw->space == SPACE_CONST) return GLOBAL_VARIABLE;
    if (raw->space != SPACE_SHARED) return 0;
    return raw->is_extern_shared ? SHARED_VARIABLE_EXTERN : 1u + (uint32_t)(raw->bits - (uint64_t)raw->addend);
}

int ptx_source(ptx_reader *reader, const raw_operand *raw, uint32_t type, int relaxed, instruction *instruction,
               uint32_t slot) {
    if (slot >= INSTRUCTION_SOURCES) return ptx_fail(reader, &raw->token, "too many operands");
    operand *out = &instruction->sources[slot];
    memset(out, 0, sizeof *out);
    if (instruction->source_count <= slot) instruction->source_count = (uint8_t)(slot + 1);
    switch (raw->kind) {
    case RAW_REGISTER: return register_operand(reader, raw, type, relaxed, out);
    case RAW_SPECIAL:
        if (type == TYPE_PRED) return ptx_fail(reader, &raw->token, "expected a predicate");
        out->kind = OPERAND_SPECIAL;
        out->index = raw->index;
        out->words = (uint8_t)type_words(type);
        return 0;
    case RAW_INTEGER:
    case RAW_FLOAT32:
    case RAW_FLOAT64:
        out->kind = OPERAND_IMMEDIATE;
        out->immediate = literal_bits(raw, type);
        if (type == TYPE_PRED) out->immediate = raw->bits != 0;
        out->words = (uint8_t)type_words(type);
        return 0;
    case RAW_VARIABLE:
        if (type == TYPE_PRED || type_bytes(type) < 4)
            return ptx_fail(reader, &raw->token, "an address does not fit into .%s", type_name(type));
        out->kind = OPERAND_IMMEDIATE;
        out->immediate = raw->bits;
        out->index = variable_of(raw);
        out->words = (uint8_t)type_words(type);
        return needs_relocation(raw) ? add_relocation(reader, slot, raw) : 0;
    case RAW_TEXTURE:
        out->kind = OPERAND_IMMEDIATE;
        out->immediate = raw->index;
        out->words = (uint8_t)type_words(type);
        return 0;
    default: return ptx_fail(reader, &raw->token, "'_' is a destination only");
    }
}

int ptx_destination(ptx_reader *reader, const raw_operand *raw, uint32_t type, int relaxed, instruction *instruction,
                    uint32_t slot) {
    if (slot >= INSTRUCTION_DESTINATIONS) return ptx_fail(reader, &raw->token, "too many operands");
    operand *out = &instruction->destinations[slot];
    memset(out, 0, sizeof *out);
    if (instruction->destination_count <= slot) instruction->destination_count = (uint8_t)(slot + 1);
    if (raw->kind == RAW_SINK) return 0;
    if (raw->kind != RAW_REGISTER || raw->negated) return ptx_fail(reader, &raw->token, "the result needs a register");
    return register_operand(reader, raw, type, relaxed, out);
}

int ptx_address(ptx_reader *reader, instruction *instruction) {
    raw_operand raw;
    operand *base = &instruction->sources[0];
    const int is_bare = reader->token.kind == TOKEN_NAME; /* a[i] is an address without brackets around it */
    const ptx_token start = reader->token;
    if (!is_bare && ptx_expect(reader, '[', "before the address")) return -1;
    if (ptx_raw_operand(reader, &raw)) return -1;
    if (is_bare && !raw.is_element)
        return ptx_fail(reader, &start, "expected '[' before the address, found '%.*s'",
                        (int)(start.length < 40 ? start.length : 40), start.start);
    memset(base, 0, sizeof *base);
    if (instruction->source_count == 0) instruction->source_count = 1;
    instruction->offset = 0;
    if (raw.kind == RAW_REGISTER) {
        uint64_t addend = 0;
        if (raw.type == TYPE_PRED || type_bytes(raw.type) < 4 || type_is_float(raw.type))
            return ptx_fail(reader, &raw.token, "a .%s register cannot be an address", type_name(raw.type));
        if (register_operand(reader, &raw, raw.type, 0, base)) return -1;
        if ((ptx_at(reader, '+') || ptx_at(reader, '-')) && ptx_constant(reader, &addend)) return -1;
        instruction->offset = (int64_t)addend;
        if (instruction->space == SPACE_PARAM && reader->inline_depth)
            instruction->space = SPACE_LOCAL; /* of the function, whose arguments live there */
    } else if (raw.kind == RAW_VARIABLE) {
        uint32_t space = instruction->space;
        if (space == SPACE_GENERIC || (space == SPACE_PARAM && raw.space == SPACE_LOCAL))
            instruction->space = (uint8_t)raw.space;
        else if (space != raw.space)
            return ptx_fail(reader, &raw.token, "'%.*s' is in .%s memory, not .%s",
                            (int)(raw.token.length < 80 ? raw.token.length : 80), raw.token.start,
                            space_name(raw.space), space_name(space));
        instruction->offset = (int64_t)raw.bits;
        base->index = variable_of(&raw);
        if (needs_relocation(&raw) && add_relocation(reader, INSTRUCTION_SOURCES, &raw)) return -1;
    } else if (raw.kind == RAW_INTEGER) {
        instruction->offset = (int64_t)raw.bits;
    } else
        return ptx_fail(reader, &raw.token, "expected an address");
    if (instruction->space == SPACE_PARAM && instruction->opcode != OPCODE_LD)
        return ptx_fail(reader, &raw.token, "a kernel reads its parameters and cannot write them");
    return is_bare ? 0 : ptx_expect(reader, ']', "after the address");
}

int ptx_vector(ptx_reader *reader, raw_operand *raws, uint32_t most, uint32_t *count) {
    *count = 0;
    if (!ptx_take(reader, '{')) {
        *count = 1;
        return ptx_raw_operand(reader, &raws[0]);
    }
    do {
        if (*count == most) return ptx_fail(reader, &reader->token, "a vector has at most %u elements", most);
        if (ptx_raw_operand(reader, &raws[*count])) return -1;
        (*count)++;
    } while (ptx_take(reader, ','));
    return ptx_expect(reader, '}', "after the vector");
}
