#include "machine/scoreboard.h"

#include <string.h>

static void add(issue_info *info, uint8_t *count, const kernel_program *program, const operand *o) {
    uint32_t i, words = o->kind == OPERAND_REGISTER ? o->words : o->kind == OPERAND_PREDICATE ? 1 : 0;
    uint32_t first = o->kind == OPERAND_PREDICATE ? program->registers + o->index : o->index;
    for (i = 0; i < words; i++) {
        uint32_t id = first + i, seen = 0, k;
        /* The same register twice among the sources (or destinations) counts once. */
        uint32_t start = count == &info->sources ? 0 : info->sources;
        for (k = start; k < start + *count; k++) seen |= info->ids[k] == id;
        if (!seen) info->ids[start + (*count)++] = (uint16_t)id;
    }
}

static void add_predicate(issue_info *info, uint8_t *count, const kernel_program *program, uint32_t index) {
    operand predicate;
    memset(&predicate, 0, sizeof predicate);
    predicate.kind = OPERAND_PREDICATE;
    predicate.index = index;
    add(info, count, program, &predicate);
}

static uint8_t pipe_of(const instruction *instruction) {
    switch (instruction->unit) {
    case UNIT_SFU:
        if (instruction->variant == VARIANT_APPROX || instruction->variant == VARIANT_FULL) return PIPE_SFU;
        switch (instruction->opcode) {
        case OPCODE_DIV:
        case OPCODE_REM:
        case OPCODE_SQRT:
        case OPCODE_RCP: return PIPE_DIVIDE;
        default: return PIPE_SFU;
        }
    case UNIT_DOUBLE:
        return instruction->opcode == OPCODE_DIV || instruction->opcode == OPCODE_SQRT ||
                       instruction->opcode == OPCODE_RCP
                   ? PIPE_DIVIDE
                   : PIPE_DOUBLE;
    case UNIT_CONTROL: return PIPE_CONTROL;
    default: return PIPE_ALU;
    }
}

static uint8_t copies_of(const instruction *instruction) {
    switch (instruction->opcode) {
    case OPCODE_COPY: return COPIES_STARTS;
    case OPCODE_COPY_COMMIT: return COPIES_ENDS_GROUP;
    case OPCODE_COPY_WAIT: return COPIES_WAITS;
    default: return COPIES_NOTHING;
    }
}

static uint8_t counted_as(const instruction *instruction) {
    switch (instruction->opcode) {
    case OPCODE_GUARDED_CALL: return COUNTED_CALL;
    case OPCODE_PP:
    case OPCODE_PP_DIVERGED: return COUNTED_POINT;
    default: return instruction->check != INSTRUCTION_NONE ? COUNTED_CHECK : COUNTED_NOT;
    }
}

int scoreboard_prepare(const kernel_program *program, issue_info *info) {
    uint32_t i, k;
    if (program->registers + program->predicates > SCOREBOARD_IDS) return -1;
    for (i = 0; i < program->count; i++) {
        const instruction *instruction = &program->instructions[i];
        issue_info *row = &info[i];
        memset(row, 0, sizeof *row);
        row->unit = instruction->unit;
        row->pipe = pipe_of(instruction);
        row->is_barrier = instruction->opcode == OPCODE_BAR;
        row->is_boundary = instruction->opcode == OPCODE_BOUNDARY;
        row->serialises = row->is_boundary || instruction->opcode == OPCODE_GUARDED_CALL;
        row->is_checked = instruction->check != INSTRUCTION_NONE;
        row->is_point = (uint8_t)instruction_is_point(instruction);
        row->counted = counted_as(instruction);
        row->copies = copies_of(instruction);
        row->is_global =
            instruction->unit == UNIT_MEMORY && instruction->space != SPACE_SHARED && instruction->space != SPACE_PARAM;
        for (k = 0; k < instruction->source_count; k++) {
            const operand *o = &instruction->sources[k];
            add(row, &row->sources, program, o);
            if (o->kind == OPERAND_SPECIAL || o->kind == OPERAND_PARAM) row->needs_environment = 1;
        }
        if (instruction->guard != INSTRUCTION_NONE) add_predicate(row, &row->sources, program, instruction->guard);
        for (k = 0; k < instruction->destination_count; k++)
            add(row, &row->destinations, program, &instruction->destinations[k]);
        if (row->is_checked) add_predicate(row, &row->destinations, program, instruction->check);
    }
    return 0;
}
