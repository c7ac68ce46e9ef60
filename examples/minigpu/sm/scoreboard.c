#define _GNU_SOURCE
#include "sm/scoreboard.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void scoreboard_hold_again(warp *w, uint32_t at, uint64_t sources) {
    uint64_t *count = w->held_count[at], carry = sources;
    uint32_t n;
    if (!w->scoreboard[at].held_again) memset(count, 0, HELD_BITS * sizeof *count);
    w->scoreboard[at].held_again |= sources;
    for (n = 0; carry && n < HELD_BITS; n++) {
        const uint64_t both = count[n] & carry;
        count[n] ^= carry;
        carry = both;
    }
}

void scoreboard_release_again(warp *w, uint32_t at, uint64_t sources) {
    uint64_t *count = w->held_count[at], borrow = sources, any = 0;
    uint32_t n;
    for (n = 0; n < HELD_BITS; n++) {
        const uint64_t none = ~count[n] & borrow;
        count[n] ^= borrow;
        any |= count[n];
        borrow = none;
    }
    w->scoreboard[at].held_again = any;
}

void scoreboard_name(issue_info *info, uint32_t id, int is_destination) {
    const uint64_t bit = UINT64_C(1) << (id & 63u);
    uint32_t i, at = 0;
    issue_word *bits;
    for (i = 0; i < info->words; i++) {
        issue_word_at(info, i, &at);
        if (at == id >> 6) break;
    }
    if (i == info->words) {
        *(i < ISSUE_WORDS ? &info->word[i] : &info->more->word[i - ISSUE_WORDS]) = (uint8_t)(id >> 6);
        info->words++;
    }
    bits = i < ISSUE_WORDS ? &info->bits[i] : &info->more->bits[i - ISSUE_WORDS];
    *(is_destination ? &bits->destinations : &bits->sources) |= bit;
    if (i < ISSUE_WORDS) info->names[i] |= bit;
    if (is_destination) info->writes = 1;
}

static void name_operand(issue_info *info, const kernel_program *program, const operand *o, int is_destination) {
    uint32_t i, words = o->kind == OPERAND_REGISTER ? o->words : o->kind == OPERAND_PREDICATE ? 1 : 0;
    const uint32_t first = o->kind == OPERAND_PREDICATE ? program->registers + o->index : o->index;
    for (i = 0; i < words; i++) scoreboard_name(info, first + i, is_destination);
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
    case OPCODE_LD: return instruction->variant == VARIANT_COPY ? COPIES_STARTS : COPIES_NOTHING;
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

/* Fills the row of an instruction that issue reads, without its execution. row: zeroed, with its `more`. */
static void prepare_one(issue_info *row, const kernel_program *program, const instruction *instruction) {
    uint32_t k;
    row->instruction = instruction;
    row->unit = instruction->unit;
    row->pipe = pipe_of(instruction);
    row->is_barrier = instruction->opcode == OPCODE_BAR;
    row->is_boundary = instruction->opcode == OPCODE_BOUNDARY;
    row->serialises = row->is_boundary || instruction->opcode == OPCODE_GUARDED_CALL;
    row->is_checked = instruction->check != INSTRUCTION_NONE;
    row->guard = instruction->guard;
    row->guard_negated = instruction->guard_negated;
    row->is_point = (uint8_t)instruction_is_point(instruction);
    row->counted = counted_as(instruction);
    row->copies = copies_of(instruction);
    row->is_ordered = row->is_barrier || row->serialises || row->copies > COPIES_STARTS;
    row->is_global =
        instruction->unit == UNIT_MEMORY && instruction->space != SPACE_SHARED && instruction->space != SPACE_PARAM;
    for (k = 0; k < instruction->source_count; k++) {
        const operand *o = &instruction->sources[k];
        name_operand(row, program, o, 0);
        if (o->kind == OPERAND_SPECIAL || o->kind == OPERAND_PARAM) row->needs_environment = 1;
    }
    if (instruction->guard != INSTRUCTION_NONE) scoreboard_name(row, program->registers + instruction->guard, 0);
    for (k = 0; k < instruction->destination_count; k++) name_operand(row, program, &instruction->destinations[k], 1);
    if (row->is_checked) scoreboard_name(row, program->registers + instruction->check, 1);
    if (row->words > 1 || row->counted || !row->writes) row->asks_more |= COMMITS_MORE;
    if (row->words > 1 || row->is_ordered) row->asks_more |= ISSUES_MORE;
}

/* Returns the next_overwrites of an instruction, `info`. */
static uint8_t overwrites(const issue_info *next, const issue_info *info) {
    uint32_t i, k, at, other;
    if (!scoreboard_overwrites(next, info)) return NEXT_OVERWRITES_NOT;
    for (i = 0; i < next->words; i++) {
        const issue_word *bits = issue_word_at(next, i, &at);
        for (k = 0; k < info->words; k++) {
            const uint64_t written = issue_word_at(info, k, &other)->destinations;
            if (at == other && (written & (bits->sources | bits->destinations))) return NEXT_WAITS;
        }
    }
    return NEXT_OVERWRITES;
}

#define SIMPLE_PCS (UINT32_C(1) << 24) /* PCs that have room beside a slot in the item of a pipeline */

issue_info *scoreboard_prepare(const kernel_program *program) {
    const size_t count = program->count + (size_t)1;
    issue_info *info;
    issue_more_words *more;
    lanes_quick quick;
    void *room;
    uint32_t i, words = 0, *constants;
    for (i = 0; i < program->count; i++) words += lanes_quick_prepare(&program->instructions[i], NULL, 0, &quick);
    if (posix_memalign(&room, sizeof *info, words * sizeof *constants + count * (sizeof *info + sizeof *more)))
        return NULL;
    info = (issue_info *)room;
    constants = (uint32_t *)(info + count);
    more = (issue_more_words *)(void *)(constants + words);
    memset(room, 0, words * sizeof *constants + count * (sizeof *info + sizeof *more));
    words = 0;
    for (i = 0; i < program->count; i++) {
        info[i].more = &more[i];
        prepare_one(&info[i], program, &program->instructions[i]);
        words += lanes_quick_prepare(&program->instructions[i], constants, words, &info[i].quick);
        if (info[i].quick.operation && info[i].unit == UNIT_ALU && info[i].words <= ISSUE_WORDS)
            info[i].is_simple = SIMPLE_ARITHMETIC;
        else if (program->instructions[i].opcode == OPCODE_BRA && i < SIMPLE_PCS)
            info[i].is_simple = SIMPLE_BRANCH;
    }
    info[program->count].asks_more = ISSUES_MORE; /* so that the end of the program is seen */
    info[program->count].quick.constants = constants;
    info[program->count].quick.from[0] = words;
    for (i = 0; i + 1 < count; i++) info[i].next_overwrites = overwrites(&info[i + 1], &info[i]);
    return info;
}

/* Bytes of the room for a traced kernel: rows, the row behind the last one, and their further words. */
static size_t room_bytes(uint32_t capacity) {
    return ((size_t)capacity + 1) * (sizeof(issue_info) + sizeof(issue_more_words));
}

issue_info *scoreboard_reserve_room(uint32_t capacity) {
    void *room =
        mmap(NULL, room_bytes(capacity), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room == MAP_FAILED ? NULL : (issue_info *)room;
}

void scoreboard_release(issue_info *info, uint32_t capacity) { munmap(info, room_bytes(capacity)); }

/* Returns the simple_kind of an instruction of a trace. What branches do is in the masks of the steps behind them. */
static uint8_t kind_of_traced(const issue_info *row, uint32_t opcode) {
    if (row->unit == UNIT_CONTROL) return opcode == OPCODE_NOP && !row->writes ? SIMPLE_BRANCH : SIMPLE_NOT;
    return row->unit == UNIT_ALU && row->pipe == PIPE_ALU && row->words <= ISSUE_WORDS && !row->copies &&
                   opcode != OPCODE_BOUNDARY
               ? SIMPLE_ARITHMETIC
               : SIMPLE_NOT;
}

void scoreboard_add(issue_info *info, uint32_t capacity, const kernel_program *program, uint32_t from) {
    issue_more_words *more = (issue_more_words *)(void *)(info + capacity + 1);
    uint32_t i;
    for (i = from; i < program->count; i++) {
        info[i].more = &more[i];
        prepare_one(&info[i], program, &program->instructions[i]);
        info[i].is_simple = kind_of_traced(&info[i], program->instructions[i].opcode);
    }
    for (i = from ? from - 1 : 0; i + 1 < program->count; i++)
        info[i].next_overwrites = overwrites(&info[i + 1], &info[i]);
}

int scoreboard_move_constants(issue_info *info, uint32_t count, arena *a) {
    const lanes_quick *end = &info[count].quick;
    uint32_t *constants = (uint32_t *)arena_take_array(a, end->from[0] + 1u, sizeof *constants), i;
    if (!constants) return -1;
    memcpy(constants, end->constants, end->from[0] * sizeof *constants);
    for (i = 0; i <= count; i++) info[i].quick.constants = constants;
    return 0;
}

void scoreboard_take_launch(const kernel *k) {
    lanes_environment e;
    uint32_t i;
    if (k->launch->trace) return; /* it has no values */
    memset(&e, 0, sizeof e);
    memcpy(e.block_threads, k->launch->block, sizeof e.block_threads);
    memcpy(e.grid, k->launch->grid, sizeof e.grid);
    e.parameters = k->parameters;
    e.parameter_bytes = k->program->parameter_bytes;
    for (i = 0; i < k->program->count; i++) lanes_quick_launch(&k->program->instructions[i], &k->info[i].quick, &e);
}
