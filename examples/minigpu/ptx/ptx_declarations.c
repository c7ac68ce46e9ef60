/* ptx_declarations: variables, registers and formal parameters; the initial contents of constant and global memory. */
#include "ptx/ptx_internal.h"
#include <stdlib.h>
#include <string.h>

#define MAX_DIMENSIONS 8
#define MAX_VARIABLE_BYTES (UINT64_C(1) << 28)
#define MAX_BLOCK_BYTES (1u << 24) /* bytes of shared or local memory, far more than any SM has */
#define MAX_RANGE (1u << 24)

static uint64_t align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

int ptx_new_local(ptx_reader *reader, uint64_t bytes, uint32_t alignment, uint64_t *offset) {
    uint64_t start = align_up(reader->local_bytes, alignment);
    if (bytes > MAX_BLOCK_BYTES || start + bytes > MAX_BLOCK_BYTES)
        return ptx_fail(reader, &reader->token, "local memory of more than %u bytes", MAX_BLOCK_BYTES);
    *offset = start;
    reader->local_bytes = (uint32_t)(start + bytes);
    if (reader->local_bytes > reader->local_peak) reader->local_peak = reader->local_bytes;
    return 0;
}

int ptx_place_shared(ptx_reader *reader, symbol *variable) {
    uint32_t alignment = variable->alignment ? variable->alignment : 1;
    if (variable->kernel == reader->kernel_epoch) return 0;
    variable->kernel = reader->kernel_epoch;
    variable->offset = 0;
    if (variable->is_extern) {
        reader->uses_extern_shared = 1;
        if (alignment > reader->shared_alignment) reader->shared_alignment = alignment;
        return 0;
    }
    uint64_t start = align_up(reader->shared_bytes, alignment);
    if (variable->bytes > MAX_BLOCK_BYTES || start + variable->bytes > MAX_BLOCK_BYTES)
        return ptx_fail(reader, &reader->token, "shared memory of more than %u bytes", MAX_BLOCK_BYTES);
    variable->offset = start;
    reader->shared_bytes = (uint32_t)(start + variable->bytes);
    return 0;
}

/* The words between the state space and the name. */
typedef struct declaration_type {
    uint32_t type, alignment, vector, is_texture;
    uint32_t is_pointer, pointer_space;
} declaration_type;

static int read_alignment(ptx_reader *reader, uint32_t *alignment) {
    ptx_token token = reader->token;
    if (token.kind != TOKEN_INTEGER || token.value == 0 || token.value > 65536 || (token.value & (token.value - 1)))
        return ptx_fail(reader, &token, ".align needs a power of two from 1 to 65536");
    *alignment = (uint32_t)token.value;
    ptx_next(reader);
    return 0;
}

static int skip_parentheses(ptx_reader *reader) {
    if (ptx_expect(reader, '(', "after .attribute")) return -1;
    while (!ptx_at(reader, ')')) {
        if (reader->token.kind == TOKEN_END) return ptx_expect(reader, ')', "");
        ptx_next(reader);
    }
    ptx_next(reader);
    return 0;
}

static int read_type(ptx_reader *reader, declaration_type *declared) {
    memset(declared, 0, sizeof *declared);
    declared->vector = 1;
    while (reader->token.kind == TOKEN_DOT) {
        ptx_token token = reader->token;
        uint32_t type = ptx_type_find(token.start, token.length);
        ptx_next(reader);
        if (ptx_token_is(&token, ".align")) {
            if (read_alignment(reader, &declared->alignment)) return -1;
        } else if (ptx_token_is(&token, ".v2") || ptx_token_is(&token, ".v4")) {
            declared->vector = token.start[2] == '2' ? 2 : 4;
        } else if (ptx_token_is(&token, ".ptr")) {
            declared->is_pointer = 1;
            if (reader->token.kind == TOKEN_DOT) {
                const ptx_modifier *space = ptx_modifier_find(reader->token.start, reader->token.length, GROUP_SPACE);
                if (space) {
                    declared->pointer_space = space->value;
                    ptx_next(reader);
                }
            }
            if (ptx_token_is(&reader->token, ".align")) {
                uint32_t pointee;
                ptx_next(reader);
                if (read_alignment(reader, &pointee)) return -1;
            }
        } else if (ptx_token_is(&token, ".attribute")) {
            if (skip_parentheses(reader)) return -1;
        } else if (ptx_token_is(&token, ".texref")) {
            declared->is_texture = 1;
        } else if (type != TYPE_NONE && (type < TYPE_U4 || type == TYPE_PRED)) {
            declared->type = type;
        } else
            return ptx_refuse(reader, &token, "", "unsupported type or attribute '%.*s'; use a plain type of PTX",
                              (int)(token.length < 40 ? token.length : 40), token.start);
    }
    if (declared->type == TYPE_NONE && !declared->is_texture)
        return ptx_fail(reader, &reader->token, "the declaration has no type");
    return 0;
}

/* Reads [n][m]... and sets the counts. An empty first count is 0. */
static int read_dimensions(ptx_reader *reader, uint64_t counts[MAX_DIMENSIONS], uint32_t *dimensions) {
    *dimensions = 0;
    while (ptx_take(reader, '[')) {
        ptx_token token = reader->token;
        uint64_t count = 0;
        if (*dimensions == MAX_DIMENSIONS)
            return ptx_fail(reader, &token, "an array has at most %d dimensions", MAX_DIMENSIONS);
        if (!ptx_at(reader, ']') && ptx_constant(reader, &count)) return -1;
        if (count > MAX_VARIABLE_BYTES) return ptx_fail(reader, &token, "the array is too large");
        if (ptx_expect(reader, ']', "after the array's size")) return -1;
        counts[(*dimensions)++] = count;
    }
    return 0;
}

int ptx_formal_parameter(ptx_reader *reader, ptx_formal *formal) {
    declaration_type declared;
    uint64_t counts[MAX_DIMENSIONS];
    uint32_t dimensions;
    memset(formal, 0, sizeof *formal);
    if (ptx_token_is(&reader->token, ".reg"))
        formal->is_register = 1;
    else if (!ptx_token_is(&reader->token, ".param"))
        return ptx_fail(reader, &reader->token, "expected .param or .reg");
    ptx_next(reader);
    ptx_token token = reader->token;
    if (read_type(reader, &declared)) return -1;
    if (declared.is_texture)
        return ptx_refuse(reader, &token, "",
                          "a texture reference as parameter is not supported; pass a texture object");
    if (ptx_expect_name(reader, &formal->name, "the parameter's name")) return -1;
    if (read_dimensions(reader, counts, &dimensions)) return -1;
    formal->type = declared.type;
    formal->element_bytes = type_bytes(declared.type) * declared.vector;
    formal->is_pointer = declared.is_pointer;
    formal->pointer_space = declared.pointer_space;
    formal->bytes = formal->element_bytes;
    formal->alignment = declared.alignment ? declared.alignment : (uint32_t)formal->bytes ? (uint32_t)formal->bytes : 1;
    formal->is_array = dimensions != 0;
    for (uint32_t i = 0; i < dimensions; i++) {
        formal->bytes *= counts[i];
        if (formal->bytes > 65536) return ptx_fail(reader, &token, "the parameter is larger than 65536 bytes");
    }
    return 0;
}

/* ---- initial contents ---- */
typedef struct initializer {
    uint8_t **image;
    uint64_t base; /* byte of the variable in its image */
    uint32_t space, type;
    uint32_t dimensions;
    uint64_t counts[MAX_DIMENSIONS];
} initializer;

static int relocation_to(ptx_reader *reader, const initializer *init, uint64_t place, const ptx_token *token,
                         symbol *target, int64_t addend) {
    ptx_module *module = reader->module;
    if (target->space != SPACE_GLOBAL && target->space != SPACE_CONST)
        return ptx_fail(reader, token, "only addresses of global and constant variables can be initial values");
    if (PTX_GROW(reader, module->relocations, module->relocation_count, reader->relocation_capacity)) return -1;
    ptx_relocation *relocation = &module->relocations[module->relocation_count++];
    memset(relocation, 0, sizeof *relocation);
    relocation->kernel = INSTRUCTION_NONE;
    relocation->instruction = init->space;
    relocation->slot = type_bytes(init->type);
    relocation->symbol = target->index;
    relocation->place = place;
    relocation->addend = addend;
    return 0;
}

static void store_bits(const initializer *init, uint64_t offset, uint64_t bits) {
    for (uint32_t i = 0; i < type_bytes(init->type); i++)
        (*init->image)[init->base + offset + i] = (uint8_t)(bits >> (8 * i));
}

/* A variable or function by its name, generic(name) and name + number. */
static int read_address(ptx_reader *reader, const initializer *init, uint64_t offset) {
    ptx_token token = reader->token;
    ptx_name name;
    uint64_t addend = 0;
    const int generic = ptx_token_is(&token, "generic");
    if (generic) {
        ptx_next(reader);
        if (ptx_expect(reader, '(', "after generic")) return -1;
    }
    if (ptx_expect_name(reader, &name, "a variable")) return -1;
    if (generic && ptx_expect(reader, ')', "after the variable")) return -1;
    if ((ptx_at(reader, '+') || ptx_at(reader, '-')) && ptx_constant(reader, &addend)) return -1;
    symbol *target = ptx_lookup(reader, name);
    if (target && target->kind == SYMBOL_UNSUPPORTED)
        return ptx_refuse(reader, &token, "",
                          "the address of '%.*s' as initial value is not supported; pass an object to the kernel",
                          (int)name.length, name.text);
    if (!target || (target->kind != SYMBOL_VARIABLE && !target->address))
        return ptx_fail(reader, &token, "'%.*s' is not a variable", (int)name.length, name.text);
    if (type_bytes(init->type) < 4)
        return ptx_fail(reader, &token, "an address does not fit into .%s", type_name(init->type));
    if (target->kind == SYMBOL_FUNCTION) {
        store_bits(init, offset, target->address + addend);
        return 0;
    }
    return relocation_to(reader, init, init->base + offset, &token, target, (int64_t)addend);
}

/* Returns whether the current '-' is the sign of a floating-point literal, and consumes the sign if so. */
static int take_sign_of_float(ptx_reader *reader) {
    ptx_lexer ahead = reader->lexer;
    ptx_token next;
    if (!ptx_at(reader, '-')) return 0;
    ptx_lexer_next(&ahead, &next);
    if (next.kind != TOKEN_FLOAT32 && next.kind != TOKEN_FLOAT64) return 0;
    ptx_next(reader);
    return 1;
}

/* Returns the bits of a floating-point literal in `bytes` bytes: an f32 for 4, otherwise an f64. */
static uint64_t float_bits(const ptx_token *token, int negative, uint32_t bytes) {
    uint64_t bits = token->value;
    uint32_t low = (uint32_t)bits;
    double number;
    float single;
    if (token->kind == TOKEN_FLOAT32) {
        if (bytes == 4) return low ^ (negative ? 0x80000000u : 0); /* keeps a NaN's payload */
        memcpy(&single, &low, 4);
        number = (double)single;
    } else
        memcpy(&number, &bits, 8);
    if (negative) number = -number;
    if (bytes == 4) {
        single = (float)number;
        memcpy(&low, &single, 4);
        return low;
    }
    memcpy(&bits, &number, 8);
    return bits;
}

/* Returns the bits of an integer as an element of a type. */
static uint64_t integer_bits(uint64_t value, uint32_t type) {
    if (type == TYPE_F32) {
        float single = (float)(int64_t)value;
        uint32_t low;
        memcpy(&low, &single, 4);
        return low;
    }
    if (type == TYPE_F64) {
        double number = (double)(int64_t)value;
        memcpy(&value, &number, 8);
    }
    return value;
}

static int read_element(ptx_reader *reader, const initializer *init, uint64_t offset) {
    uint64_t bits = 0;
    if (reader->token.kind == TOKEN_NAME) return read_address(reader, init, offset);
    const int negative = take_sign_of_float(reader);
    if (reader->token.kind == TOKEN_FLOAT32 || reader->token.kind == TOKEN_FLOAT64) {
        bits = float_bits(&reader->token, negative, type_bytes(init->type));
        ptx_next(reader);
    } else {
        if (ptx_constant(reader, &bits)) return -1;
        bits = integer_bits(bits, init->type);
    }
    store_bits(init, offset, bits);
    return 0;
}

/* Reads a list at one level of the array. Inner lists fill whole rows. The list belongs to `span` bytes. */
static int read_list(ptx_reader *reader, const initializer *init, uint32_t level, uint64_t offset, uint64_t span) {
    uint64_t element = type_bytes(init->type),
             row = level < init->dimensions && init->counts[level] ? span / init->counts[level] : element;
    uint64_t at = 0;
    if (!ptx_at(reader, '{')) {
        if (span < element) return ptx_fail(reader, &reader->token, "more initial values than elements");
        return read_element(reader, init, offset);
    }
    if (level > MAX_DIMENSIONS)
        return ptx_fail(reader, &reader->token, "the initial values are nested deeper than the array");
    ptx_next(reader);
    while (!ptx_at(reader, '}')) {
        int nested = ptx_at(reader, '{');
        uint64_t step = nested ? row : element;
        if (nested) at = row ? align_up(at, row) : at;
        if (step == 0 || at + step > span) return ptx_fail(reader, &reader->token, "more initial values than elements");
        if (read_list(reader, init, level + 1, offset + at, step)) return -1;
        at += step;
        if (!ptx_take(reader, ',') && !ptx_at(reader, '}')) return ptx_expect(reader, '}', "after the initial values");
    }
    ptx_next(reader);
    return 0;
}

/* A variable as it is declared, up to its '=' or the end of the declaration. */
typedef struct variable_declaration {
    ptx_token token;
    ptx_name name;
    uint32_t space, alignment, is_extern, dimensions;
    uint64_t counts[MAX_DIMENSIONS], bytes;
    const declaration_type *type;
} variable_declaration;

/* `a[] = {...}` takes its size from the list: counts the outermost elements, and goes back to the '='. */
static uint64_t count_initial_values(ptx_reader *reader) {
    ptx_lexer place = ptx_here(reader);
    uint64_t elements = 0;
    uint32_t depth = 0;
    for (;;) {
        ptx_next(reader);
        if (reader->token.kind == TOKEN_END || ptx_at(reader, ';')) break;
        if (ptx_at(reader, '{'))
            depth++;
        else if (ptx_at(reader, '}') && depth && --depth == 0)
            break;
        else if (depth == 1 && ptx_at(reader, ','))
            elements++;
    }
    ptx_go_to(reader, &place);
    return elements + 1;
}

/* Makes room for `bytes` bytes in an image; new bytes are 0. */
static int grow_image(ptx_reader *reader, uint8_t **image, uint64_t *capacity, uint64_t bytes) {
    uint8_t *grown;
    if (bytes <= *capacity) return 0;
    grown = (uint8_t *)realloc(*image, bytes * 2);
    if (!grown) return ptx_out_of_memory(reader);
    memset(grown + *capacity, 0, bytes * 2 - *capacity);
    *image = grown;
    *capacity = bytes * 2;
    return 0;
}

/* At the '=' behind a variable: writes its initial values into the image of its space, from `offset` on. */
static int read_initial_values(ptx_reader *reader, variable_declaration *variable, uint64_t offset) {
    ptx_module *module = reader->module;
    const int is_constant = variable->space == SPACE_CONST;
    uint64_t *capacity = is_constant ? &reader->constant_capacity : &reader->global_capacity;
    initializer init;
    if (variable->dimensions && variable->counts[0] == 0) {
        variable->counts[0] = count_initial_values(reader);
        variable->bytes *= variable->counts[0];
    }
    if (variable->bytes > MAX_VARIABLE_BYTES) return ptx_fail(reader, &variable->token, "the variable is too large");
    memset(&init, 0, sizeof init);
    init.image = is_constant ? &module->constant_image : &module->global_image;
    if (grow_image(reader, init.image, capacity, offset + variable->bytes)) return -1;
    init.base = offset;
    init.space = variable->space;
    init.type = variable->type->type;
    init.dimensions = variable->dimensions;
    memcpy(init.counts, variable->counts, sizeof init.counts);
    ptx_next(reader);
    return read_list(reader, &init, 0, 0, variable->bytes);
}

/* A variable in global or constant memory becomes a symbol of the module. */
static int module_variable(ptx_reader *reader, variable_declaration *variable) {
    ptx_module *module = reader->module;
    uint64_t *total = variable->space == SPACE_CONST ? &module->constant_bytes : &module->global_bytes;
    const uint64_t offset = align_up(*total, variable->alignment);
    const uint32_t index = module->symbol_count;
    symbol *fresh = ptx_declare_once(reader, &variable->token, variable->name, SYMBOL_VARIABLE);
    ptx_symbol *entry;
    if (!fresh) return -1;
    fresh->space = variable->space;
    fresh->type = variable->type->type;
    fresh->element_bytes = type_bytes(variable->type->type) * variable->type->vector;
    fresh->index = index;
    fresh->is_extern = variable->is_extern;
    if (PTX_GROW(reader, module->symbols, module->symbol_count, reader->module_symbol_capacity)) return -1;
    entry = &module->symbols[module->symbol_count++];
    memset(entry, 0, sizeof *entry);
    entry->name = ptx_copy_text(module, variable->name.text, variable->name.length);
    if (!entry->name) return ptx_out_of_memory(reader);
    if (ptx_at(reader, '=') && read_initial_values(reader, variable, offset)) return -1;
    entry = &module->symbols[index];
    entry->offset = offset;
    entry->bytes = variable->bytes;
    entry->alignment = variable->alignment;
    entry->space = (uint8_t)variable->space;
    entry->type = (uint8_t)variable->type->type;
    if (offset + variable->bytes > MAX_VARIABLE_BYTES)
        return ptx_fail(reader, &variable->token, "the variables of the file take more than %u bytes",
                        (unsigned)MAX_VARIABLE_BYTES);
    *total = offset + variable->bytes;
    return 0;
}

static int declare_register(ptx_reader *reader, const ptx_token *token, ptx_name name,
                            const declaration_type *declared) {
    symbol *fresh;
    if (declared->vector != 1)
        return ptx_refuse(reader, token, "",
                          "vector registers are not supported; declare one register for each element");
    if (!reader->kernel_name)
        return ptx_fail(reader, token, "registers are declared inside kernels and functions only");
    if (ptx_take(reader, '<')) {
        ptx_token count = reader->token;
        if (count.kind != TOKEN_INTEGER || count.value == 0 || count.value > MAX_RANGE)
            return ptx_fail(reader, &count, "a register range needs a count from 1 to %u", MAX_RANGE);
        ptx_next(reader);
        if (ptx_expect(reader, '>', "after the count")) return -1;
        fresh = ptx_declare_once(reader, token, name, SYMBOL_RANGE);
        if (!fresh) return -1;
        fresh->count = (uint32_t)count.value;
        fresh->index = reader->range_ids++;
    } else {
        fresh = ptx_declare_once(reader, token, name, SYMBOL_REGISTER);
        if (!fresh) return -1;
    }
    fresh->type = declared->type;
    return 0;
}

static int declare_variable(ptx_reader *reader, const ptx_token *token, ptx_name name, uint32_t space,
                            const declaration_type *declared, uint32_t is_extern) {
    const uint32_t element_bytes = type_bytes(declared->type) * declared->vector;
    variable_declaration variable;
    memset(&variable, 0, sizeof variable);
    variable.token = *token;
    variable.name = name;
    variable.space = space;
    variable.type = declared;
    variable.is_extern = is_extern;
    variable.bytes = element_bytes;
    variable.alignment = declared->alignment ? declared->alignment : element_bytes ? element_bytes : 1;
    if (declared->type == TYPE_PRED) return ptx_fail(reader, token, "predicates live in registers only");
    if (read_dimensions(reader, variable.counts, &variable.dimensions)) return -1;
    const int is_open = variable.dimensions && variable.counts[0] == 0; /* a[]: the size comes from elsewhere */
    for (uint32_t i = is_open ? 1 : 0; i < variable.dimensions; i++) {
        variable.bytes *= variable.counts[i];
        if (variable.bytes > MAX_VARIABLE_BYTES) return ptx_fail(reader, token, "the variable is too large");
    }
    if (is_open && !ptx_at(reader, '=')) variable.bytes = 0;
    if (space == SPACE_GLOBAL || space == SPACE_CONST) return module_variable(reader, &variable);
    if (ptx_at(reader, '=')) return ptx_fail(reader, token, "only global and constant variables have initial values");
    if (!reader->kernel_name && space != SPACE_SHARED)
        return ptx_fail(reader, token, ".%s variables at module scope are not supported", space_name(space));
    symbol *fresh = ptx_declare_once(reader, token, name, SYMBOL_VARIABLE);
    if (!fresh) return -1;
    fresh->space = space == SPACE_PARAM ? SPACE_LOCAL : space; /* arguments of calls live in local memory */
    fresh->type = declared->type;
    fresh->element_bytes = element_bytes;
    fresh->alignment = variable.alignment;
    fresh->is_extern = space == SPACE_SHARED && (is_extern || is_open);
    fresh->bytes = variable.bytes;
    if (fresh->space == SPACE_LOCAL) return ptx_new_local(reader, fresh->bytes, variable.alignment, &fresh->offset);
    return 0;
}

int ptx_declaration(ptx_reader *reader, uint32_t is_extern) {
    declaration_type declared;
    int is_register = ptx_token_is(&reader->token, ".reg"), is_texture = ptx_token_is(&reader->token, ".tex");
    uint32_t space = SPACE_NONE;
    if (!is_register && !is_texture) {
        const ptx_modifier *modifier = ptx_modifier_find(reader->token.start, reader->token.length, GROUP_SPACE);
        if (!modifier) return ptx_fail(reader, &reader->token, "expected a declaration");
        space = modifier->value;
    }
    ptx_next(reader);
    if (read_type(reader, &declared)) return -1;
    do {
        ptx_token token = reader->token;
        ptx_name name;
        if (ptx_expect_name(reader, &name, "a name to declare")) return -1;
        if (is_register) {
            if (declare_register(reader, &token, name, &declared)) return -1;
        } else if (is_texture || declared.is_texture) {
            ptx_module *module = reader->module;
            symbol *fresh = ptx_declare_once(reader, &token, name, SYMBOL_TEXTURE);
            if (!fresh) return -1;
            fresh->index = module->texture_count;
            if (PTX_GROW(reader, module->textures, module->texture_count, reader->texture_capacity)) return -1;
            module->textures[module->texture_count].name = ptx_copy_text(module, name.text, name.length);
            if (!module->textures[module->texture_count++].name) return ptx_out_of_memory(reader);
        } else if (declare_variable(reader, &token, name, space, &declared, is_extern))
            return -1;
    } while (ptx_take(reader, ','));
    return ptx_expect(reader, ';', "after the declaration");
}
