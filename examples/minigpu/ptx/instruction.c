/* instruction: names, sizes, and text of decoded instructions. */
#include "ptx/instruction.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *opcode_name(uint32_t opcode) {
    static const char *const names[] = {
#define OPCODE_TEXT(name, text, unit) text,
        OPCODES(OPCODE_TEXT)
#undef OPCODE_TEXT
    };
    return opcode < OPCODE_COUNT ? names[opcode] : "?";
}

const char *type_name(uint32_t type) {
    static const char *const names[] = {
#define TYPE_TEXT(name, text, bytes) text,
        TYPES(TYPE_TEXT)
#undef TYPE_TEXT
    };
    return type < TYPE_COUNT ? names[type] : "?";
}

const char *space_name(uint32_t space) {
    static const char *const names[] = {"", "global", "shared", "local", "const", "param", "generic", "texture"};
    return space < sizeof names / sizeof *names ? names[space] : "?";
}

const char *special_name(uint32_t special) {
    static const char *const names[] = {
#define SPECIAL_TEXT(name, text, words) text,
        SPECIALS(SPECIAL_TEXT)
#undef SPECIAL_TEXT
    };
    return special < SPECIAL_COUNT ? names[special] : "?";
}

typedef struct text_buffer {
    char *text;
    uint32_t length, bytes;
} text_buffer;

static void append(text_buffer *buffer, const char *format, ...) {
    va_list arguments;
    if (buffer->length + 1 >= buffer->bytes) return;
    va_start(arguments, format);
    int length = vsnprintf(buffer->text + buffer->length, buffer->bytes - buffer->length, format, arguments);
    va_end(arguments);
    if (length > 0) buffer->length += (uint32_t)length;
    if (buffer->length >= buffer->bytes) buffer->length = buffer->bytes - 1;
}

static void append_operand(text_buffer *buffer, const operand *operand) {
    switch (operand->kind) {
    case OPERAND_REGISTER:
        if (operand->words == 2)
            append(buffer, "r%u:r%u", operand->index, operand->index + 1);
        else
            append(buffer, "r%u", operand->index);
        break;
    case OPERAND_PREDICATE: append(buffer, "%sp%u", operand->negated ? "!" : "", operand->index); break;
    case OPERAND_IMMEDIATE:
        append(buffer, operand->immediate < 4096 ? "%" PRIu64 : "0x%" PRIx64, operand->immediate);
        break;
    case OPERAND_SPECIAL: append(buffer, "%s", special_name(operand->index)); break;
    case OPERAND_PARAM: append(buffer, "param[%u]", operand->index); break;
    default: append(buffer, "_");
    }
}

static void append_operands(text_buffer *buffer, const operand *operands, uint32_t first, uint32_t count,
                            const char **separator) {
    for (uint32_t i = first; i < count; i++) {
        append(buffer, "%s", *separator);
        append_operand(buffer, &operands[i]);
        *separator = ", ";
    }
}

/* Appends the modifiers, each with a dot before it. */
static void append_modifiers(text_buffer *buffer, const instruction *i) {
    static const char *const compares[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                           "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
    static const char *const roundings[] = {"", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna"};
    static const char *const variants[] = {
        "",       "lo",     "hi",       "wide",     "add",    "min",        "max",     "and",
        "or",     "xor",    "exch",     "cas",      "inc",    "dec",        "up",      "down",
        "bfly",   "idx",    "all",      "any",      "uni",    "ballot",     "f4e",     "b4e",
        "rc8",    "ecl",    "ecr",      "rc16",     "l",      "r",          "l.clamp", "r.clamp",
        "approx", "full",   "finite",   "infinite", "number", "notanumber", "normal",  "subnormal",
        "sync",   "arrive", "red.popc", "red.and",  "red.or", "drop",       "to",      "shiftamt",
        "1d",     "2d",     "3d",       "a1d",      "a2d",    "trans",      "",        "write"};
    if (i->flags & FLAG_POINT) append(buffer, ".pp");
    if (i->check != INSTRUCTION_NONE && i->opcode != OPCODE_CHECK) append(buffer, ".pfchk");
    if (i->flags & FLAG_VOLATILE) append(buffer, ".volatile");
    if (i->space != SPACE_NONE && i->space != SPACE_GENERIC && i->opcode != OPCODE_TEX)
        append(buffer, ".%s", space_name(i->space));
    if (i->opcode == OPCODE_SET || i->opcode == OPCODE_SETP)
        append(buffer, ".%s", compares[i->compare < 14 ? i->compare : 0]);
    if (i->variant < sizeof variants / sizeof *variants && variants[i->variant][0])
        append(buffer, ".%s", variants[i->variant]);
    if (i->rounding != ROUND_NONE && i->rounding < sizeof roundings / sizeof *roundings)
        append(buffer, ".%s", roundings[i->rounding]);
    if (i->flags & FLAG_UNIFORM) append(buffer, ".uni");
    if (i->flags & FLAG_FTZ) append(buffer, ".ftz");
    if (i->flags & FLAG_SATURATE) append(buffer, ".sat");
    if (i->flags & FLAG_NAN) append(buffer, ".NaN");
    if (i->flags & FLAG_RELU) append(buffer, ".relu");
    if (i->flags & FLAG_CARRY_OUT) append(buffer, ".cc");
    if (i->opcode == OPCODE_LDMATRIX || i->opcode == OPCODE_STMATRIX)
        append(buffer, ".m8n8.x%u", i->vector);
    else if (i->opcode == OPCODE_MMA)
        append(buffer, ".m%un8", 8u * i->vector);
    else if (i->vector > 1 && i->opcode != OPCODE_MOV)
        append(buffer, ".v%u", i->vector);
    if (i->type != TYPE_NONE) append(buffer, ".%s", type_name(i->type));
    if (i->source_type != TYPE_NONE) append(buffer, ".%s", type_name(i->source_type));
}

/* Appends the sources. The address of an access stands in brackets. */
static void append_sources(text_buffer *buffer, const instruction *i, const char **separator) {
    if (i->opcode == OPCODE_LD || i->opcode == OPCODE_ST || i->opcode == OPCODE_ATOM || i->opcode == OPCODE_RED ||
        i->opcode == OPCODE_CHECK || i->opcode == OPCODE_PAGE_ENTERED || i->opcode == OPCODE_LDMATRIX ||
        i->opcode == OPCODE_STMATRIX || i->opcode == OPCODE_COPY) {
        append(buffer, "%s[", *separator);
        *separator = "";
        if (i->sources[0].kind != OPERAND_NONE) {
            append_operand(buffer, &i->sources[0]);
            if (i->offset) append(buffer, "%+" PRId64, i->offset);
        } else
            append(buffer, "%" PRId64, i->offset);
        append(buffer, "]");
        *separator = ", ";
        append_operands(buffer, i->sources, 1, i->source_count, separator);
    } else
        append_operands(buffer, i->sources, 0, i->source_count, separator);
}

void instruction_text(const instruction *i, char *text, uint32_t bytes) {
    text_buffer buffer;
    const char *separator = " ";
    if (bytes == 0) return;
    buffer.text = text;
    buffer.length = 0;
    buffer.bytes = bytes;
    text[0] = 0;
    if (i->guard != INSTRUCTION_NONE) append(&buffer, "@%sp%u ", i->guard_negated ? "!" : "", i->guard);
    append(&buffer, "%s", opcode_name(i->opcode));
    append_modifiers(&buffer, i);
    append_operands(&buffer, i->destinations, 0, i->destination_count, &separator);
    if (i->check != INSTRUCTION_NONE) {
        append(&buffer, "%sp%u", separator, i->check);
        separator = ", ";
    }
    append_sources(&buffer, i, &separator);
    if (i->opcode == OPCODE_LOP3) append(&buffer, ", 0x%02x", i->lookup);
    if (instruction_branches(i)) {
        append(&buffer, " %u", i->target);
        if (i->guard != INSTRUCTION_NONE && i->reconvergence == INSTRUCTION_NONE)
            append(&buffer, " (joins at the end)");
        else if (i->guard != INSTRUCTION_NONE)
            append(&buffer, " (joins at %u)", i->reconvergence);
    }
}
