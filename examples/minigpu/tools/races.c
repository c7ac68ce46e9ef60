#include "tools/races.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sm/memory_access.h"

#define RACES_MAX 256u
#define ACCESS_BYTES_MAX 32u

/* The blocks that have accessed a word since the kernel began. Block numbers start at 1; 0: no block. */
typedef struct word_mark {
    uint32_t epoch;
    uint32_t writer, writer_line; /* the last block that wrote the word */
    uint32_t reader, reader_line;
    uint32_t other_reader, other_line; /* another block that read the word */
    uint8_t changed;                   /* the writer changed the value */
    uint8_t atomic;                    /* the writer's atomic: its instruction_variant; 0: a store */
    uint8_t reported;                  /* race_kind bits that were reported */
} word_mark;

struct race_log {
    machine *m;
    word_mark *marks;
    uint64_t words;
    uint32_t word_bytes;
    uint8_t **old_value_used; /* per kernel and instruction: 1 for an atomic whose result is read */
    race races[RACES_MAX];
    uint32_t count;
    uint64_t more; /* races that exceed the list */
};

const char *race_text(uint32_t kind) {
    static const char *const texts[] = {
        "two blocks write different values, the last one stays", "one block reads what another changes",
        "two blocks add in floating point, which rounds by order", "two blocks use atomics whose order shows"};
    return kind < RACE_KINDS ? texts[kind] : "?";
}

const race *races_at(const race_log *log, uint32_t index) { return index < log->count ? &log->races[index] : NULL; }

/* ---- preparation ---- */

static int reads(const instruction *in, const operand *what) {
    uint32_t i;
    for (i = 0; i < in->source_count; i++)
        if (in->sources[i].kind == OPERAND_REGISTER && in->sources[i].index < what->index + what->words &&
            what->index < in->sources[i].index + in->sources[i].words)
            return 1;
    return 0;
}

static int overwrites(const instruction *in, const operand *what) {
    uint32_t i;
    for (i = 0; i < in->destination_count && in->guard == INSTRUCTION_NONE; i++)
        if (in->destinations[i].kind == OPERAND_REGISTER && in->destinations[i].index <= what->index &&
            in->destinations[i].index + in->destinations[i].words >= what->index + what->words)
            return 1;
    return 0;
}

/* Returns whether some path reads the first destination of instruction `at`. */
static int result_is_read(const kernel_program *program, uint32_t at, uint8_t *seen, uint32_t *stack) {
    const operand *what = &program->instructions[at].destinations[0];
    uint32_t depth = 0;
    if (!program->instructions[at].destination_count || what->kind != OPERAND_REGISTER) return 0;
    memset(seen, 0, program->count);
    stack[depth++] = at + 1;
    while (depth) {
        const uint32_t pc = stack[--depth];
        const instruction *in;
        if (pc >= program->count || seen[pc]) continue;
        seen[pc] = 1;
        in = &program->instructions[pc];
        if (reads(in, what)) return 1;
        if (overwrites(in, what)) continue;
        if (instruction_branches(in)) stack[depth++] = in->target;
        if ((in->opcode == OPCODE_BRA || in->opcode == OPCODE_RET || in->opcode == OPCODE_EXIT) &&
            in->guard == INSTRUCTION_NONE)
            continue;
        stack[depth++] = pc + 1;
    }
    return 0;
}

static int prepare_kernel(race_log *log, uint32_t index) {
    const kernel_program *program = log->m->kernels[index].program;
    uint8_t *seen = (uint8_t *)malloc(program->count + 1u);
    uint32_t *stack = (uint32_t *)malloc((2u * (size_t)program->count + 2u) * sizeof *stack), i;
    uint8_t *used = log->old_value_used[index] = (uint8_t *)calloc(program->count + 1u, 1);
    for (i = 0; seen && stack && used && i < program->count; i++) {
        const instruction *in = &program->instructions[i];
        if (in->opcode == OPCODE_ATOM) used[i] = (uint8_t)result_is_read(program, i, seen, stack);
        if (in->opcode == OPCODE_LD || in->opcode == OPCODE_ST || in->opcode == OPCODE_ATOM ||
            in->opcode == OPCODE_RED) {
            const uint32_t bytes = type_bytes(in->type);
            if (bytes && bytes < log->word_bytes) log->word_bytes = bytes;
        }
    }
    free(seen);
    free(stack);
    return seen && stack && used ? 0 : -1;
}

/* ---- watching ---- */

static void note(race_log *log, const in_flight *r, word_mark *mark, uint64_t address, uint32_t kind,
                 uint32_t earlier_block, uint32_t earlier_line) {
    const block *b = &log->m->blocks[r->block];
    race *found = log->races;
    if (mark->reported >> kind & 1) return;
    mark->reported |= (uint8_t)(1u << kind);
    while (found < log->races + log->count &&
           (found->kernel != b->kernel || found->kind != kind || found->lines[0] != earlier_line ||
            found->lines[1] != r->instruction->line))
        found++;
    if (found == log->races + log->count) {
        if (log->count == RACES_MAX) {
            log->more++;
            return;
        }
        log->count++;
        found->kernel = b->kernel;
        found->kind = kind;
        found->lines[0] = earlier_line;
        found->lines[1] = r->instruction->line;
        found->address = address;
        found->blocks[0] = earlier_block - 1u;
        found->blocks[1] = b->linear;
    }
    found->words++;
}

/* Returns the mark of a word. The mark is cleared when another kernel, or another round of its loop, has begun. */
static word_mark *mark_of(race_log *log, const in_flight *r, uint64_t word) {
    const machine *m = log->m;
    const uint32_t kernel = m->blocks[r->block].kernel;
    const uint32_t epoch = 1u + kernel + m->kernels[kernel].iteration * m->kernel_count;
    word_mark *mark = &log->marks[word];
    if (mark->epoch != epoch) {
        memset(mark, 0, sizeof *mark);
        mark->epoch = epoch;
    }
    return mark;
}

static void word_read(race_log *log, const in_flight *r, word_mark *mark, uint64_t address, uint32_t me) {
    if (mark->writer && mark->writer != me && mark->changed)
        note(log, r, mark, address, RACE_READ, mark->writer, mark->writer_line);
    if (!mark->reader || mark->reader == me) {
        mark->reader = me;
        mark->reader_line = r->instruction->line;
    } else {
        mark->other_reader = me;
        mark->other_line = r->instruction->line;
    }
}

static void word_changed_after_read(race_log *log, const in_flight *r, word_mark *mark, uint64_t address, uint32_t me) {
    if (mark->reader && mark->reader != me)
        note(log, r, mark, address, RACE_READ, mark->reader, mark->reader_line);
    else if (mark->other_reader && mark->other_reader != me)
        note(log, r, mark, address, RACE_READ, mark->other_reader, mark->other_line);
}

static void word_written(race_log *log, const in_flight *r, word_mark *mark, uint64_t address, uint32_t me,
                         int changes) {
    const int by_other = mark->writer && mark->writer != me;
    if (by_other && !changes) return; /* the same value again is right in either order */
    if (by_other) note(log, r, mark, address, RACE_WRITES, mark->writer, mark->writer_line);
    if (changes) word_changed_after_read(log, r, mark, address, me);
    mark->changed = (uint8_t)(changes || (mark->changed && !by_other));
    mark->writer = me;
    mark->writer_line = r->instruction->line;
    mark->atomic = 0;
}

static void word_atomic(race_log *log, const in_flight *r, word_mark *mark, uint64_t address, uint32_t me) {
    const instruction *in = r->instruction;
    const uint32_t kernel = log->m->blocks[r->block].kernel;
    if (mark->writer && mark->writer != me) {
        uint32_t kind = RACE_KINDS;
        if (!mark->atomic)
            kind = mark->changed ? RACE_WRITES : RACE_KINDS;
        else if (log->old_value_used[kernel][r->pc] || mark->atomic != in->variant || in->variant == VARIANT_EXCH ||
                 in->variant == VARIANT_CAS)
            kind = RACE_OLD;
        else if (type_is_float(in->type) && in->variant == VARIANT_ADD)
            kind = RACE_FLOAT;
        if (kind != RACE_KINDS) note(log, r, mark, address, kind, mark->writer, mark->writer_line);
    }
    word_changed_after_read(log, r, mark, address, me);
    mark->changed = 1;
    mark->writer = me;
    mark->writer_line = in->line;
    mark->atomic = in->variant;
}

/* Runs before the access takes effect, so memory still holds the old value. */
static void on_access(machine *m, const in_flight *r) {
    race_log *log = (race_log *)m->on_access_user;
    const instruction *in = r->instruction;
    const int is_store = in->opcode == OPCODE_ST, is_atomic = in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED;
    const uint32_t me = (uint32_t)m->blocks[r->block].linear + 1u, size = instruction_access_bytes(in);
    uint8_t bytes[LANES * ACCESS_BYTES_MAX];
    uint32_t lane, at;
    if (!is_store && !is_atomic && in->opcode != OPCODE_LD) return;
    if (is_store) lanes_to_memory(in, r->active, r->sources, bytes, size);
    for (lane = 0; lane < LANES; lane++) {
        uint64_t address;
        if (!(r->active >> lane & 1) || !memory_access_global(r, lane, &address)) continue;
        for (at = 0; at < size; at += log->word_bytes) {
            const uint64_t here = address + at, word = (here - DEVICE_BASE) / log->word_bytes;
            word_mark *mark;
            if (here < DEVICE_BASE || word >= log->words) continue;
            mark = mark_of(log, r, word);
            if (is_store)
                word_written(log, r, mark, here, me,
                             memcmp(device_memory(m, here), bytes + lane * size + at, log->word_bytes) != 0);
            else if (is_atomic)
                word_atomic(log, r, mark, here, me);
            else
                word_read(log, r, mark, here, me);
        }
    }
}

race_log *races_watch(machine *m, char error[LAUNCH_ERROR_BYTES]) {
    race_log *log = (race_log *)calloc(1, sizeof *log);
    uint32_t i;
    if (!log) goto memory;
    log->m = m;
    log->word_bytes = 4;
    log->old_value_used = (uint8_t **)calloc(m->kernel_count, sizeof *log->old_value_used);
    if (!log->old_value_used) goto memory;
    for (i = 0; i < m->kernel_count; i++) {
        if (m->kernels[i].blocks >= UINT32_MAX) {
            races_free(log);
            snprintf(error, LAUNCH_ERROR_BYTES, "--races: kernel %s has 2^32 blocks or more: make its grid smaller",
                     m->kernels[i].program->name);
            return NULL;
        }
        if (prepare_kernel(log, i)) goto memory;
    }
    log->words = (m->local_base - DEVICE_BASE) / log->word_bytes; /* variables and buffers are the first in memory */
    log->marks = (word_mark *)calloc(log->words + 1, sizeof *log->marks);
    if (!log->marks) goto memory;
    m->on_access = on_access;
    m->on_access_user = log;
    return log;
memory:
    races_free(log);
    snprintf(error, LAUNCH_ERROR_BYTES, "--races: out of memory: it takes 32 bytes for each word of the buffers");
    return NULL;
}

void races_free(race_log *log) {
    uint32_t i;
    if (!log) return;
    for (i = 0; log->old_value_used && i < log->m->kernel_count; i++) free(log->old_value_used[i]);
    free(log->old_value_used);
    free(log->marks);
    free(log);
}

/* ---- the report ---- */

void races_place(const race_log *log, uint64_t address, char *text, size_t bytes) {
    const launch_file *launch = log->m->launch;
    uint32_t i, k, n;
    for (i = 0; i < launch->buffer_count; i++) {
        const launch_buffer *b = &launch->buffers[i];
        const uint64_t element = (address - b->address) / launch_type_bytes(b->type);
        if (address < b->address || address >= b->address + b->bytes) continue;
        if (b->name) {
            snprintf(text, bytes, "buffer %s, element %" PRIu64, b->name, element);
            return;
        }
        for (k = 0; k < launch->kernel_count; k++) {
            for (n = 0; n < launch->kernels[k].argument_count; n++) {
                if (!launch->kernels[k].arguments[n].is_buffer || launch->kernels[k].arguments[n].buffer != i) continue;
                snprintf(text, bytes, "argument %u of %s, element %" PRIu64, n, launch->kernels[k].name, element);
                return;
            }
        }
    }
    snprintf(text, bytes, "a variable of the PTX file");
}

void races_report(const race_log *log, FILE *file) {
    uint32_t i;
    if (!log->count) fprintf(file, "races: none between blocks in this run's order\n");
    for (i = 0; i < log->count; i++) {
        const race *one = &log->races[i];
        const kernel_program *program = log->m->kernels[one->kernel].program;
        char place[160];
        races_place(log, one->address, place, sizeof place);
        fprintf(file,
                "race: kernel %s: %" PRIu64 " word%s: %s: first 0x%" PRIx64 " (%s): block %" PRIu64
                " at %s:%u, then block %" PRIu64 " at line %u\n",
                program->name, one->words, one->words == 1 ? "" : "s", race_text(one->kind), one->address, place,
                one->blocks[0], program->file_name, one->lines[0], one->blocks[1], one->lines[1]);
    }
    if (log->more) fprintf(file, "races: and %" PRIu64 " words between other lines\n", log->more);
}
