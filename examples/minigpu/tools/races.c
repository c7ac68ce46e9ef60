#include "tools/races.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sm/memory_access.h"

#define RACES_MAX 256u
#define ACCESS_BYTES_MAX 32u

/* The last accesses to a word since an epoch began, by blocks of a kernel, or by warps of a block between two of its
 * barriers. Both are counted from 1; 0: none. */
typedef struct word_mark {
    uint32_t epoch;
    uint32_t writer, writer_line; /* the last one that wrote it */
    uint32_t reader, reader_line;
    uint32_t other_reader, other_line; /* another one that read it */
    uint8_t changed;                   /* the writer changed the value */
    uint8_t atomic;                    /* the writer's atomic: its instruction_variant; 0: a store */
    uint8_t reported;                  /* race_kind bits that were reported */
} word_mark;

/* Marks of consecutive words. */
typedef struct mark_array {
    word_mark *marks;
    uint64_t words;
} mark_array;

/* The time between two barriers of a block. Each has its own number, which distinguishes its marks from older ones. */
typedef struct block_phase {
    uint64_t life; /* of the block when it was last seen: a flushed block begins anew */
    uint32_t phase;
} block_phase;

struct race_log {
    machine *m;
    mark_array between;   /* blocks: words of device memory */
    mark_array within;    /* warps of a block: likewise */
    mark_array *shared;   /* likewise, of shared memory: by index of the resident block */
    block_phase **phases; /* by kernel and block of its grid */
    uint32_t next_phase;
    uint32_t word_bytes;
    uint8_t **old_value_used; /* per kernel and instruction: 1 for an atomic whose result is read */
    uint8_t *has_objects;     /* per kernel: its warps also wait at barrier objects, which are not followed */
    int out_of_memory;
    race races[RACES_MAX];
    uint32_t count;
    uint64_t more; /* races that exceed the list */
};

/* One access to one word, as one of two kinds of actors. */
typedef struct word_access {
    const in_flight *r;
    word_mark *mark;
    uint32_t me; /* block or warp, from 1 */
    uint32_t within;
    uint32_t space;
    uint32_t counted; /* kinds of races in which the number that it is part of has been counted, of blocks and warps */
    uint64_t address;
} word_access;

const char *race_text(const race *one) {
    static const char *const texts[2][RACE_KINDS] = {
        {"two blocks write different values, the last one stays", "one block reads what another changes",
         "two blocks add in floating point, which rounds by order", "two blocks use atomics whose order shows"},
        {"two warps of a block write different values, the last one stays",
         "one warp reads what another of its block changes, without a barrier between them",
         "two warps of a block add in floating point, which rounds by order",
         "two warps of a block use atomics whose order shows"}};
    return texts[one->within][one->kind];
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
    log->phases[index] = (block_phase *)calloc(log->m->kernels[index].blocks + 1u, sizeof **log->phases);
    for (i = 0; seen && stack && used && i < program->count; i++) {
        const instruction *in = &program->instructions[i];
        if (in->opcode == OPCODE_ATOM) used[i] = (uint8_t)result_is_read(program, i, seen, stack);
        log->has_objects[index] |= in->variant == VARIANT_ARRIVE && in->opcode != OPCODE_BAR;
        if (in->opcode == OPCODE_LD || in->opcode == OPCODE_ST || in->opcode == OPCODE_ATOM ||
            in->opcode == OPCODE_RED) {
            const uint32_t bytes = type_bytes(in->type);
            if (bytes && bytes < log->word_bytes) log->word_bytes = bytes;
        }
    }
    free(seen);
    free(stack);
    return seen && stack && used && log->phases[index] ? 0 : -1;
}

/* ---- watching ---- */

/* Another word of one place in the program belongs to the race of that place. */
static void note(race_log *log, word_access *a, uint32_t kind, uint32_t earlier, uint32_t earlier_line) {
    const block *b = &log->m->blocks[a->r->block];
    const uint32_t bit = 1u << (kind + RACE_KINDS * a->within);
    race *found = log->races;
    if (a->mark->reported >> kind & 1) return;
    a->mark->reported |= (uint8_t)(1u << kind);
    while (found < log->races + log->count &&
           (found->kernel != b->kernel || found->kind != kind || found->within != a->within ||
            found->lines[0] != earlier_line || found->lines[1] != a->r->instruction->line))
        found++;
    if (found == log->races + log->count) {
        if (log->count == RACES_MAX) {
            log->more++;
            return;
        }
        log->count++;
        found->kernel = b->kernel;
        found->kind = kind;
        found->within = a->within;
        found->space = a->space;
        found->lines[0] = earlier_line;
        found->lines[1] = a->r->instruction->line;
        found->address = a->address;
        found->blocks[0] = a->within ? b->linear : earlier - 1u;
        found->blocks[1] = b->linear;
        found->warps[0] = a->within ? earlier - 1u : 0;
        found->warps[1] = log->m->warps[a->r->warp].index;
    }
    found->words += !(a->counted & bit);
    a->counted |= bit;
}

static void word_read(race_log *log, word_access *a) {
    word_mark *mark = a->mark;
    if (mark->writer && mark->writer != a->me && mark->changed)
        note(log, a, RACE_READ, mark->writer, mark->writer_line);
    if (!mark->reader || mark->reader == a->me) {
        mark->reader = a->me;
        mark->reader_line = a->r->instruction->line;
    } else {
        mark->other_reader = a->me;
        mark->other_line = a->r->instruction->line;
    }
}

static void word_changed_after_read(race_log *log, word_access *a) {
    const word_mark *mark = a->mark;
    if (mark->reader && mark->reader != a->me)
        note(log, a, RACE_READ, mark->reader, mark->reader_line);
    else if (mark->other_reader && mark->other_reader != a->me)
        note(log, a, RACE_READ, mark->other_reader, mark->other_line);
}

static void word_written(race_log *log, word_access *a, int changes) {
    word_mark *mark = a->mark;
    const int by_other = mark->writer && mark->writer != a->me;
    if (by_other && !changes) return; /* the same value again is right in either order */
    if (by_other) note(log, a, RACE_WRITES, mark->writer, mark->writer_line);
    if (changes) word_changed_after_read(log, a);
    mark->changed = (uint8_t)(changes || (mark->changed && !by_other));
    mark->writer = a->me;
    mark->writer_line = a->r->instruction->line;
    mark->atomic = 0;
}

static void word_atomic(race_log *log, word_access *a) {
    const instruction *in = a->r->instruction;
    const uint32_t kernel = log->m->blocks[a->r->block].kernel;
    word_mark *mark = a->mark;
    if (mark->writer && mark->writer != a->me) {
        uint32_t kind = RACE_KINDS;
        if (!mark->atomic)
            kind = mark->changed ? RACE_WRITES : RACE_KINDS;
        else if (log->old_value_used[kernel][a->r->pc] || mark->atomic != in->variant || in->variant == VARIANT_EXCH ||
                 in->variant == VARIANT_CAS)
            kind = RACE_OLD;
        else if (type_is_float(in->type) && in->variant == VARIANT_ADD)
            kind = RACE_FLOAT;
        if (kind != RACE_KINDS) note(log, a, kind, mark->writer, mark->writer_line);
    }
    word_changed_after_read(log, a);
    mark->changed = 1;
    mark->writer = a->me;
    mark->writer_line = in->line;
    mark->atomic = in->variant;
}

/* What an instruction does to a word, and whether a store changes it. */
typedef enum word_effect { EFFECT_READ, EFFECT_STORE, EFFECT_CHANGE, EFFECT_ATOMIC } word_effect;

/* Notes an access to a word by the actor that a->me names. `epoch` tells its marks from older ones. */
static void touch(race_log *log, word_access *a, const mark_array *array, uint64_t word, uint32_t epoch,
                  word_effect effect) {
    word_mark *mark = &array->marks[word];
    if (mark->epoch != epoch) {
        memset(mark, 0, sizeof *mark);
        mark->epoch = epoch;
    }
    a->mark = mark;
    if (effect == EFFECT_READ)
        word_read(log, a);
    else if (effect == EFFECT_ATOMIC)
        word_atomic(log, a);
    else
        word_written(log, a, effect == EFFECT_CHANGE);
}

/* The number of a block's phase. A block that is placed again, perhaps from its start, begins a phase. */
static uint32_t phase_of(race_log *log, const block *b) {
    block_phase *p = &log->phases[b->kernel][b->linear];
    if (p->life != b->life) {
        p->life = b->life;
        p->phase = ++log->next_phase;
    }
    return p->phase;
}

static void on_barrier(machine *m, const block *b) {
    race_log *log = (race_log *)m->on_access_user;
    phase_of(log, b);
    log->phases[b->kernel][b->linear].phase = ++log->next_phase;
}

/* The marks of a resident block's shared memory. */
static const mark_array *shared_marks(race_log *log, uint32_t index) {
    mark_array *array = &log->shared[index];
    const uint64_t words = log->m->blocks[index].shared_bytes / log->word_bytes + 1;
    if (array->words >= words) return array;
    free(array->marks);
    array->marks = (word_mark *)calloc(words, sizeof *array->marks);
    array->words = array->marks ? words : 0;
    log->out_of_memory |= !array->marks;
    return array;
}

/* An access to the word at a->address, seen among blocks and among the warps of its block. */
static void touch_word(race_log *log, word_access *a, word_effect effect) {
    const machine *m = log->m;
    const block *b = &m->blocks[a->r->block];
    const mark_array *within = &log->within;
    uint64_t word = a->address / log->word_bytes;
    if (a->space == SPACE_GLOBAL) {
        word = (a->address - DEVICE_BASE) / log->word_bytes;
        if (a->address < DEVICE_BASE || word >= log->between.words) return;
        a->within = 0;
        a->me = (uint32_t)b->linear + 1u;
        touch(log, a, &log->between, word, 1u + b->kernel + m->kernels[b->kernel].iteration * m->kernel_count, effect);
    } else {
        within = shared_marks(log, a->r->block);
    }
    if (log->has_objects[b->kernel] || word >= within->words) return;
    a->within = 1;
    a->me = m->warps[a->r->warp].index + 1u;
    touch(log, a, within, word, phase_of(log, b), effect);
}

/* Runs before the access takes effect, so memory still holds the old value. */
static void on_access(machine *m, const in_flight *r) {
    race_log *log = (race_log *)m->on_access_user;
    const instruction *in = r->instruction;
    const int is_store = in->opcode == OPCODE_ST, is_atomic = in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED;
    const block *b = &m->blocks[r->block];
    const uint32_t size = in->opcode == OPCODE_COPY ? in->lookup : instruction_access_bytes(in);
    const uint32_t unit = in->opcode == OPCODE_COPY ? size : type_bytes(in->type) ? type_bytes(in->type) : size;
    uint8_t bytes[LANES * ACCESS_BYTES_MAX];
    uint32_t lane, at;
    if (!is_store && !is_atomic && in->opcode != OPCODE_LD && in->opcode != OPCODE_COPY) return;
    if (is_store) lanes_to_memory(in, r->active, r->sources, bytes, size);
    for (lane = 0; lane < LANES; lane++) {
        word_access a = {r, NULL, 0, 0, 0, 0, 0};
        uint64_t address;
        if (!(r->active >> lane & 1)) continue;
        a.space = memory_access_space(r, lane, &address);
        if (a.space != SPACE_GLOBAL && a.space != SPACE_SHARED) continue;
        for (at = 0; at < size; at += log->word_bytes) {
            const uint8_t *is = a.space == SPACE_GLOBAL ? device_memory(m, address + at)
                                                        : m->sms[b->sm]->shared + b->shared_base + address + at;
            if (at % unit == 0) a.counted = 0;
            a.address = address + at;
            touch_word(log, &a,
                       is_atomic                                                    ? EFFECT_ATOMIC
                       : !is_store                                                  ? EFFECT_READ
                       : memcmp(is, bytes + lane * size + at, log->word_bytes) == 0 ? EFFECT_STORE
                                                                                    : EFFECT_CHANGE);
        }
    }
}

static int allocate_marks(mark_array *array, uint64_t words) {
    array->marks = (word_mark *)calloc(words + 1, sizeof *array->marks);
    array->words = array->marks ? words : 0;
    return array->marks ? 0 : -1;
}

/* Allocates what is known when the machine has been built. Returns 0, or -1: out of memory. */
static int prepare(race_log *log) {
    const machine *m = log->m;
    uint64_t words;
    uint32_t i;
    log->word_bytes = 4;
    log->old_value_used = (uint8_t **)calloc(m->kernel_count, sizeof *log->old_value_used);
    log->has_objects = (uint8_t *)calloc(m->kernel_count, 1);
    log->phases = (block_phase **)calloc(m->kernel_count, sizeof *log->phases);
    log->shared = (mark_array *)calloc(m->block_count, sizeof *log->shared);
    if (!log->old_value_used || !log->has_objects || !log->phases || !log->shared) return -1;
    for (i = 0; i < m->kernel_count; i++)
        if (prepare_kernel(log, i)) return -1;
    words = (m->local_base - DEVICE_BASE) / log->word_bytes; /* variables and buffers are the first in memory */
    return allocate_marks(&log->between, words) || allocate_marks(&log->within, words);
}

race_log *races_watch(machine *m, char error[LAUNCH_ERROR_BYTES]) {
    race_log *log = (race_log *)calloc(1, sizeof *log);
    uint32_t i;
    snprintf(error, LAUNCH_ERROR_BYTES, "--races: out of memory: it takes 64 bytes for each word of the buffers");
    if (!log) return NULL;
    log->m = m;
    for (i = 0; i < m->kernel_count && m->kernels[i].blocks < UINT32_MAX; i++) {}
    if (i < m->kernel_count)
        snprintf(error, LAUNCH_ERROR_BYTES, "--races: kernel %s has 2^32 blocks or more: make its grid smaller",
                 m->kernels[i].program->name);
    if (i < m->kernel_count || prepare(log)) {
        races_free(log);
        return NULL;
    }
    m->on_access = on_access;
    m->on_barrier = on_barrier;
    m->on_access_user = log;
    return log;
}

void races_free(race_log *log) {
    uint32_t i;
    if (!log) return;
    for (i = 0; log->old_value_used && i < log->m->kernel_count; i++) free(log->old_value_used[i]);
    for (i = 0; log->phases && i < log->m->kernel_count; i++) free(log->phases[i]);
    for (i = 0; log->shared && i < log->m->block_count; i++) free(log->shared[i].marks);
    free(log->old_value_used);
    free(log->has_objects);
    free(log->phases);
    free(log->shared);
    free(log->between.marks);
    free(log->within.marks);
    free(log);
}

/* ---- the report ---- */

void races_place(const race_log *log, const race *one, char *text, size_t bytes) {
    const launch_file *launch = log->m->launch;
    const uint64_t address = one->address;
    uint32_t i, k, n;
    if (one->space == SPACE_SHARED) {
        snprintf(text, bytes, "byte %" PRIu64 " of the block's shared memory", address);
        return;
    }
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
    for (i = 0; i < log->m->kernel_count; i++)
        if (log->has_objects[i])
            fprintf(
                file,
                "races: kernel %s waits at barrier objects (mbarrier), which are not followed: only its blocks were "
                "looked at, not the warps of a block\n",
                log->m->kernels[i].program->name);
    if (log->out_of_memory) fprintf(file, "races: out of memory for marks of shared memory: some was not looked at\n");
    if (!log->count) fprintf(file, "races: none between blocks, or warps of a block, in this run's order\n");
    for (i = 0; i < log->count; i++) {
        const race *one = &log->races[i];
        const kernel_program *program = log->m->kernels[one->kernel].program;
        char place[160], first[64] = "", then[64] = "";
        races_place(log, one, place, sizeof place);
        if (one->within) snprintf(first, sizeof first, " warp %u", one->warps[0]);
        if (one->within) snprintf(then, sizeof then, " warp %u", one->warps[1]);
        fprintf(file,
                "race: kernel %s: %" PRIu64 " word%s: %s: first 0x%" PRIx64 " (%s): block %" PRIu64
                "%s at %s:%u, then block %" PRIu64 "%s at line %u\n",
                program->name, one->words, one->words == 1 ? "" : "s", race_text(one), one->address, place,
                one->blocks[0], first, program->file_name, one->lines[0], one->blocks[1], then, one->lines[1]);
    }
    if (log->more) fprintf(file, "races: and %" PRIu64 " words between other lines\n", log->more);
}
