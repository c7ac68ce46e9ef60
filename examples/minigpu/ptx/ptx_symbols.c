/* ptx_symbols: the reader's base: module memory, messages, tokens, scopes, symbols and constant expressions. */
#include "ptx/ptx_internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */
void *ptx_allocate(ptx_module *module, size_t bytes) {
    ptx_chunk *chunk = (ptx_chunk *)module->memory;
    if (bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + 15) / 16 * 16;
    if (!chunk || chunk->bytes - chunk->used < bytes) {
        size_t size = bytes > 65536 ? bytes : 65536;
        ptx_chunk *fresh = (ptx_chunk *)calloc(1, sizeof *fresh + size);
        if (!fresh) return NULL;
        fresh->bytes = size;
        fresh->next = chunk;
        module->memory = chunk = fresh;
    }
    chunk->used += bytes;
    return (char *)(chunk + 1) + chunk->used - bytes;
}

char *ptx_copy_text(ptx_module *module, const char *text, size_t length) {
    char *copy = (char *)ptx_allocate(module, length + 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

int ptx_grow(ptx_reader *reader, void **array, uint32_t count, uint32_t *capacity, size_t size) {
    if (count < *capacity) return 0;
    uint32_t larger = *capacity ? *capacity * 2 : 64;
    void *fresh = larger > *capacity ? realloc(*array, larger * size) : NULL;
    if (!fresh) return ptx_out_of_memory(reader);
    *array = fresh;
    *capacity = larger;
    return 0;
}

/* ---- messages ---- */
static void write_message(ptx_reader *reader, const ptx_token *token, const char *format, va_list arguments) {
    ptx_error *error = reader->error;
    error->line = token->line;
    error->column = token->column;
    int length = snprintf(error->text, sizeof error->text, "%.200s:%u:%u: ", reader->module->file_name, token->line,
                          token->column);
    vsnprintf(error->text + length, sizeof error->text - (size_t)length, format, arguments);
    /* A message may quote the file: unprintable characters are replaced, so that it stays one line. */
    for (char *c = error->text; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c == 127) *c = '?';
}

int ptx_fail(ptx_reader *reader, const ptx_token *token, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_message(reader, token, format, arguments);
    va_end(arguments);
    reader->refused = 0;
    return -1;
}

int ptx_refuse(ptx_reader *reader, const ptx_token *token, const char *opcode, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_message(reader, token, format, arguments);
    va_end(arguments);
    reader->refused = 1;
    snprintf(reader->refused_opcode, sizeof reader->refused_opcode, "%s", opcode);
    return -1;
}

int ptx_out_of_memory(ptx_reader *reader) { return ptx_fail(reader, &reader->token, "out of memory"); }

/* ---- tokens ---- */
void ptx_next(ptx_reader *reader) { ptx_lexer_next(&reader->lexer, &reader->token); }

ptx_lexer ptx_here(const ptx_reader *reader) {
    ptx_lexer place = reader->lexer;
    place.at = reader->token.start;
    place.line = reader->token.line;
    place.column = reader->token.column;
    return place;
}

void ptx_go_to(ptx_reader *reader, const ptx_lexer *place) {
    reader->lexer = *place;
    ptx_next(reader);
}

int ptx_at(const ptx_reader *reader, char punctuation) {
    return reader->token.kind == TOKEN_PUNCTUATION && reader->token.value == (unsigned char)punctuation;
}

int ptx_take(ptx_reader *reader, char punctuation) {
    if (!ptx_at(reader, punctuation)) return 0;
    ptx_next(reader);
    return 1;
}

int ptx_fail_expected(ptx_reader *reader, const char *what, const char *where) {
    const ptx_token *token = &reader->token;
    int shown = (int)(token->length < 40 ? token->length : 40);
    if (token->kind == TOKEN_END)
        return ptx_fail(reader, token, "expected %s%s, found the end of the file", what, where);
    if (token->kind == TOKEN_BAD && shown > 1 && token->start[0] == '/')
        return ptx_fail(reader, token, "the comment that starts here does not end");
    if (token->kind == TOKEN_BAD && shown && token->start[0] == '"')
        return ptx_fail(reader, token, "the string that starts here does not end");
    if (token->kind == TOKEN_BAD && shown && token->start[0] >= '0' && token->start[0] <= '9')
        return ptx_fail(reader, token, "'%.*s' is not a number of 64 bits", shown, token->start);
    return ptx_fail(reader, token, "expected %s%s, found '%.*s'", what, where, shown, token->start);
}

int ptx_fail_cut(ptx_reader *reader) {
    if (reader->token.kind != TOKEN_END || strstr(reader->error->text, "the end of the file")) return -1;
    return ptx_fail(reader, &reader->token, "found the end of the file in a statement: the file is cut");
}

int ptx_expect(ptx_reader *reader, char punctuation, const char *where) {
    char what[4] = {'\'', punctuation, '\'', 0}, after[64];
    if (ptx_take(reader, punctuation)) return 0;
    snprintf(after, sizeof after, "%s%s", *where ? " " : "", where);
    return ptx_fail_expected(reader, what, after);
}

int ptx_expect_name(ptx_reader *reader, ptx_name *name, const char *what) {
    if (reader->token.kind != TOKEN_NAME) return ptx_fail_expected(reader, what, "");
    name->text = reader->token.start;
    name->length = reader->token.length;
    ptx_next(reader);
    return 0;
}

/* ---- symbols ---- */
static uint32_t hash_name(ptx_name name) {
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < name.length; i++) hash = (hash ^ (unsigned char)name.text[i]) * 16777619u;
    return (hash ^ hash >> 15) % PTX_HASH_HEADS;
}

static symbol *find(ptx_reader *reader, ptx_name name, int range) {
    uint32_t index = reader->heads[hash_name(name)];
    for (; index != INSTRUCTION_NONE; index = reader->symbols[index].next) {
        symbol *candidate = &reader->symbols[index];
        if ((candidate->kind == SYMBOL_RANGE) == range && candidate->name.length == name.length &&
            memcmp(candidate->name.text, name.text, name.length) == 0)
            return candidate;
    }
    return NULL;
}

symbol *ptx_lookup(ptx_reader *reader, ptx_name name) { return find(reader, name, 0); }

symbol *ptx_declare(ptx_reader *reader, ptx_name name, symbol_kind kind) {
    if (PTX_GROW(reader, reader->symbols, reader->symbol_count, reader->symbol_capacity)) return NULL;
    uint32_t hash = hash_name(name);
    symbol *fresh = &reader->symbols[reader->symbol_count];
    memset(fresh, 0, sizeof *fresh);
    fresh->name = name;
    fresh->kind = kind;
    fresh->depth = reader->depth;
    fresh->index = INSTRUCTION_NONE;
    fresh->next = reader->heads[hash];
    reader->heads[hash] = reader->symbol_count++;
    return fresh;
}

symbol *ptx_declare_once(ptx_reader *reader, const ptx_token *token, ptx_name name, symbol_kind kind) {
    symbol *older = find(reader, name, kind == SYMBOL_RANGE);
    if (older && older->depth == reader->depth && !older->is_extern) {
        ptx_fail(reader, token, "'%.*s' is declared twice", (int)name.length, name.text);
        return NULL;
    }
    return ptx_declare(reader, name, kind);
}

int ptx_scope_open(ptx_reader *reader) {
    if (reader->depth + 1 >= PTX_SCOPES)
        return ptx_fail(reader, &reader->token, "scopes are nested more than %d deep", PTX_SCOPES - 1);
    ptx_scope *scope = &reader->scopes[++reader->depth];
    scope->first_symbol = reader->symbol_count;
    scope->first_pending = reader->pending_count;
    scope->local_bytes = reader->local_bytes;
    return 0;
}

/* Resolves the branches to labels of this scope, moves the other branches to the enclosing scope, and drops the scope's
 * names. */
int ptx_scope_close(ptx_reader *reader) {
    ptx_scope *scope = &reader->scopes[reader->depth];
    uint32_t kept = scope->first_pending;
    for (uint32_t i = scope->first_pending; i < reader->pending_count; i++) {
        symbol *label = ptx_lookup(reader, reader->pending[i].name);
        if (label && label->kind == SYMBOL_LABEL && label->depth == reader->depth) {
            reader->code[reader->pending[i].instruction].target = label->index;
        } else
            reader->pending[kept++] = reader->pending[i];
    }
    reader->pending_count = kept;
    while (reader->symbol_count > scope->first_symbol) {
        symbol *last = &reader->symbols[--reader->symbol_count];
        reader->heads[hash_name(last->name)] = last->next;
    }
    reader->local_bytes = scope->local_bytes;
    reader->depth--;
    return 0;
}

uint32_t ptx_new_register(ptx_reader *reader, uint32_t type) {
    uint32_t index;
    if (type == TYPE_PRED) return reader->predicates++;
    index = reader->registers;
    reader->registers += type_words(type);
    return index;
}

/* Returns the register of a range's member. Members lie in a small open-addressing table, because a range may be long
 * and few of its members used. */
static int range_member(ptx_reader *reader, uint64_t range, uint32_t number, uint32_t type, uint32_t *index) {
    uint64_t key = (range << 32 | number) + 1;
    if (reader->range_count * 2 >= reader->range_capacity) {
        uint32_t larger = reader->range_capacity ? reader->range_capacity * 2 : 1024;
        range_entry *fresh = (range_entry *)calloc(larger, sizeof *fresh);
        if (!fresh) return ptx_out_of_memory(reader);
        for (uint32_t i = 0; i < reader->range_capacity; i++) {
            if (!reader->ranges[i].key) continue;
            uint32_t slot = (uint32_t)((reader->ranges[i].key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (larger - 1);
            while (fresh[slot].key) slot = (slot + 1) & (larger - 1);
            fresh[slot] = reader->ranges[i];
        }
        free(reader->ranges);
        reader->ranges = fresh;
        reader->range_capacity = larger;
    }
    uint32_t slot = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (reader->range_capacity - 1);
    while (reader->ranges[slot].key && reader->ranges[slot].key != key)
        slot = (slot + 1) & (reader->range_capacity - 1);
    if (!reader->ranges[slot].key) {
        reader->ranges[slot].key = key;
        reader->ranges[slot].index = ptx_new_register(reader, type);
        reader->range_count++;
    }
    *index = reader->ranges[slot].index;
    return 0;
}

int ptx_lookup_register(ptx_reader *reader, ptx_name name, uint32_t *index, uint32_t *type) {
    symbol *exact = ptx_lookup(reader, name);
    uint64_t number = 0, scale = 1;
    if (exact) {
        if (exact->kind != SYMBOL_REGISTER) return 0;
        if (exact->index == INSTRUCTION_NONE) exact->index = ptx_new_register(reader, exact->type);
        *index = exact->index;
        *type = exact->type;
        return 1;
    }
    /* A range's prefix may end in digits, so every split before trailing digits is tried. */
    for (uint32_t length = name.length; length > 1 && name.length - length < 9;) {
        char digit = name.text[--length];
        if (digit < '0' || digit > '9') break;
        number += (uint64_t)(digit - '0') * scale;
        scale *= 10;
        if (digit == '0' && name.length - length > 1) continue;
        ptx_name prefix = {name.text, length};
        symbol *range = find(reader, prefix, 1);
        if (range && number < range->count) {
            *type = range->type;
            return range_member(reader, range->index, (uint32_t)number, range->type, index) ? -1 : 1;
        }
    }
    return 0;
}

/* ---- constant expressions: C's operators on 64-bit integers ---- */
static int constant_binary(ptx_reader *reader, int level, uint64_t *value);

static int constant_unary(ptx_reader *reader, uint64_t *value) {
    int status;
    if (reader->token.kind == TOKEN_INTEGER) {
        *value = reader->token.value;
        ptx_next(reader);
        return 0;
    }
    if (reader->constant_depth >= 64) return ptx_fail(reader, &reader->token, "the expression is nested too deep");
    reader->constant_depth++;
    if (ptx_take(reader, '-')) {
        status = constant_unary(reader, value);
        *value = 0 - *value;
    } else if (ptx_take(reader, '+')) {
        status = constant_unary(reader, value);
    } else if (ptx_take(reader, '~')) {
        status = constant_unary(reader, value);
        *value = ~*value;
    } else if (ptx_take(reader, '!')) {
        status = constant_unary(reader, value);
        *value = !*value;
    } else if (ptx_take(reader, '(')) {
        status = constant_binary(reader, 0, value);
        if (!status) status = ptx_expect(reader, ')', "after the expression");
    } else
        status = ptx_fail_expected(reader, "an integer", "");
    reader->constant_depth--;
    return status;
}

/* Returns the binary operator of one precedence level at the current token, or 0 when there is none. */
static char constant_operator(const ptx_reader *reader, int level) {
    static const char *const levels[] = {"|", "^", "&", "<>", "+-", "*/%"};
    if (reader->token.kind != TOKEN_PUNCTUATION) return 0;
    char c = (char)reader->token.value;
    if (!strchr(levels[level], c)) return 0;
    if (level == 3 && (reader->lexer.at >= reader->lexer.end || *reader->lexer.at != c))
        return 0; /* shifts have two characters */
    return c;
}

static int constant_binary(ptx_reader *reader, int level, uint64_t *value) {
    uint64_t right = 0;
    char operator;
    if (level == 6) return constant_unary(reader, value);
    if (constant_binary(reader, level + 1, value)) return -1;
    while ((operator= constant_operator(reader, level)) != 0) {
        ptx_token token = reader->token;
        ptx_next(reader);
        if (level == 3) ptx_next(reader);
        if (constant_binary(reader, level + 1, &right)) return -1;
        switch (operator) {
        case '|': *value |= right; break;
        case '^': *value ^= right; break;
        case '&': *value &= right; break;
        case '<': *value = right < 64 ? *value << right : 0; break;
        case '>': *value = right < 64 ? *value >> right : 0; break;
        case '+': *value += right; break;
        case '-': *value -= right; break;
        case '*': *value *= right; break;
        default:
            if (!right) return ptx_fail(reader, &token, "division by zero");
            *value = operator== '/' ? *value / right : * value % right;
        }
    }
    return 0;
}

int ptx_constant(ptx_reader *reader, uint64_t *value) { return constant_binary(reader, 0, value); }
