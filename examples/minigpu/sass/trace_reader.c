#define _GNU_SOURCE
#include "sass/trace_instruction.h"
#include "sass/trace_values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RESERVED_SHARED_BYTES                                                                                        \
    1024u /* that a block takes beyond its own from sm_80 on (CUDA Programming Guide, table of compute capabilities) \
           */

#define WARP_HEAD_BYTES 64u /* of the text ahead, that the lines which begin a warp take at most */

/* ---- the head ---- */

static int read_dimensions(line_reader *r, uint32_t dimensions[3]) {
    uint64_t value;
    uint32_t i;
    for (i = 0; i < 3; i++) {
        trace_words_skip_spaces(r);
        if (*r->at != "(,,"[i]) return trace_words_fail(r, "dimensions must stand here, such as (8,1,1)");
        r->at++;
        if (trace_words_number(r, 10, UINT32_MAX, "a dimension", &value)) return -1;
        if (!value) return trace_words_fail(r, "a dimension is 0");
        dimensions[i] = (uint32_t)value;
    }
    return *r->at == ')' ? 0 : trace_words_fail(r, "a dimension is followed by ) here");
}

/* Reads a line "-name = value". Names that nobody needs are left alone. */
static int read_head_line(trace_kernel *k, line_reader *r) {
    static const struct {
        const char *name;
        uint8_t base;
    } names[] = {{"-kernel name = ", 0},
                 {"-kernel id = ", 10},
                 {"-grid dim = ", 0},
                 {"-block dim = ", 0},
                 {"-shmem = ", 10},
                 {"-nregs = ", 10},
                 {"-cuda stream id = ", 10},
                 {"-binary version = ", 10},
                 {"-shmem base_addr = ", 16},
                 {"-local mem base_addr = ", 16},
                 {"-accelsim tracer version = ", 10},
                 {"-enable lineinfo = ", 10}};
    uint32_t i, count = sizeof names / sizeof *names;
    uint64_t value = 0;
    for (i = 0; i < count && strncmp(r->line, names[i].name, strlen(names[i].name)); i++) {}
    if (i == count) return 0;
    r->at = r->line + strlen(names[i].name);
    if (names[i].base && trace_words_number(r, names[i].base, UINT64_MAX, "the value", &value)) return -1;
    switch (i) {
    case 0:
        free((char *)(uintptr_t)k->program.name);
        if (!(k->program.name = strdup(r->at))) return trace_words_fail(r, "out of memory");
        break;
    case 1: k->id = (uint32_t)value; break;
    case 2: return read_dimensions(r, k->grid);
    case 3: return read_dimensions(r, k->block);
    case 4:
        if (value > (1u << 20))
            return trace_words_fail(r, "a block has at most 1 MB of shared memory, not %" PRIu64 " bytes", value);
        k->program.shared_bytes = (uint32_t)value;
        break;
    case 5:
        if (!value || value > SASS_REGISTERS)
            return trace_words_fail(r, "a thread has 1 to 255 registers, not %" PRIu64, value);
        k->program.registers = k->program.ptx_registers = (uint32_t)value;
        break;
    case 6: k->stream = value; break;
    case 7: k->binary_version = (uint32_t)value; break;
    case 8: k->shared_base = value; break;
    case 9: k->local_base = value; break;
    case 10:
        if (value < 3 || value > 6)
            return trace_words_fail(
                r, "tracer version %" PRIu64 " is none of 3 to 6; record the trace again with such a tracer", value);
        k->tracer_version = (uint32_t)value;
        break;
    default: k->has_lines = value != 0; break;
    }
    return 0;
}

/* Returns the next line that is not empty and no comment, or NULL with the error set, or empty at the end of the text.
 */
static char *next_line(trace_kernel *k, line_reader *r) {
    char *line;
    size_t length;
    r->error[0] = 0;
    while ((line = trace_text_line(k->text, &length))) {
        r->line = r->at = line;
        r->length = length;
        if (length) return line;
    }
    r->line = r->at = "";
    if (trace_text_error(k->text)) trace_words_fail(r, "%s", trace_text_error(k->text));
    return NULL;
}

/* Reads the head, up to the line with the format. */
static int read_head(trace_kernel *k, line_reader *r) {
    const char *line;
    uint64_t threads;
    while ((line = next_line(k, r))) {
        if (*line == '#') break;
        if (*line != '-') return trace_words_fail(r, "a line of the head, such as -nregs = 21, must stand here");
        if (read_head_line(k, r)) return -1;
    }
    if (!line)
        return r->error[0] ? -1
                           : trace_words_fail(r, "the head of the trace has no end: the file is empty or truncated");
    k->has_lane_values = strstr(line, TRACE_LANE_VALUES) != NULL;
    r->at = r->line;
    threads = (uint64_t)k->block[0] * k->block[1] * k->block[2];
    if (!k->program.name || !k->program.registers || !k->grid[0] || !k->block[0] || !k->tracer_version)
        return trace_words_fail(
            r, "the head lacks one of: kernel name, grid dim, block dim, nregs, accelsim tracer version");
    if (k->block[1] > 1024 || k->block[2] > 1024 || threads > 32 * TRACE_WARPS)
        return trace_words_fail(r, "a block of %" PRIu64 " threads is too large: at most 1024", threads);
    if (k->binary_version >= 80) k->program.shared_bytes += RESERVED_SHARED_BYTES;
    return 0;
}

/* ---- blocks ---- */

/* Reads "name = value" with a decimal value. */
static int read_named(line_reader *r, const char *name, uint64_t most, uint64_t *value) {
    if (strncmp(r->line, name, strlen(name))) return trace_words_fail(r, "\"%s\" must stand here", name);
    r->at = r->line + strlen(name);
    return trace_words_number(r, 10, most, "the value", value);
}

static int no_more(trace_kernel *k, line_reader *r) {
    if (r->error[0]) return -1;
    (void)k;
    return trace_words_fail(r, "the trace ends within a block: it is truncated");
}

/* A block in which nobody executes anything gets an exit, too. */
static int end_block(trace_kernel *k, line_reader *r, trace_block *b) {
    if (!b->step_count) {
        trace_instructions_begin(k, b, 0);
        if (trace_instruction_exit(k, r, b) || trace_instructions_end(k, r, b)) return -1;
    }
    return trace_values_end(b) ? trace_words_fail(r, "out of memory") : 0;
}

/* Reads "name = value" and the end of its line, where the value has at most 8 digits. Returns what follows it; NULL
 * when the text is another. */
static const char *quick_named(const char *at, const char *name, size_t length, uint64_t *value) {
    const char *const first = at + length;
    uint32_t digit;
    if (memcmp(at, name, length)) return NULL;
    *value = 0;
    for (at = first; (digit = (uint8_t)(*at - '0')) < 10 && at < first + 8; at++) *value = *value * 10 + digit;
    return at == first || *at != '\n' ? NULL : at + 1;
}

/* Takes the lines that begin a warp, behind an empty one or none. Returns 0 when they have to be read with all tests.
 */
static int take_warp_head(const trace_kernel *k, uint64_t warps, const trace_block *b, uint64_t *warp,
                          uint64_t *count) {
    trace_ahead *const ahead = trace_text_ahead(k->text);
    const int is_empty = *ahead->at == '\n';
    const char *at = ahead->at + is_empty;
    if (ahead->length < WARP_HEAD_BYTES || !(at = quick_named(at, "warp = ", 7, warp)) || *warp >= warps ||
        b->warps[*warp].count || !(at = quick_named(at, "insts = ", 8, count)))
        return 0;
    trace_text_skip(ahead, at);
    ahead->number += 1 + (uint32_t)is_empty;
    return 1;
}

/* Goes to the instructions of the next warp of a block. Returns 1; 0: the block has ended; -1 with the error set. */
static int read_warp_head(trace_kernel *k, line_reader *r, trace_block *b, uint64_t *warp, uint64_t *count) {
    const uint64_t warps = ((uint64_t)k->block[0] * k->block[1] * k->block[2] + 31) / 32;
    const char *line;
    if (take_warp_head(k, warps, b, warp, count)) return 1;
    do {
        if (!(line = next_line(k, r))) return no_more(k, r);
        if (!strncmp(line, "#END_TB", 7)) return 0;
    } while (*line == '#' || !strncmp(line, "cluster ", 8));
    if (read_named(r, "warp = ", warps - 1, warp)) return -1;
    if (b->warps[*warp].count) return trace_words_fail(r, "warp %" PRIu64 " stands twice in the block", *warp);
    if (!next_line(k, r)) return no_more(k, r);
    return read_named(r, "insts = ", UINT32_MAX / 4, count) ? -1 : 1;
}

/* Reads the warps of a block, up to its end. */
static int read_warps(trace_kernel *k, line_reader *r, trace_block *b) {
    uint64_t warp, count;
    int found;
    while ((found = read_warp_head(k, r, b, &warp, &count)) > 0) {
        trace_instructions_begin(k, b, (uint32_t)warp);
        for (; count; count--) {
            if (!k->regions && !(count -= trace_instructions_compare(k, b, count))) break;
            if (!next_line(k, r)) return no_more(k, r);
            if (trace_instruction_read(k, r, b, (uint32_t)warp)) return -1;
        }
        if (trace_instructions_end(k, r, b)) return -1;
    }
    return found ? -1 : end_block(k, r, b);
}

/* Reads the next block. Returns 1, or 0 at the end of the trace, or -1 with the error set. */
static int read_block(trace_kernel *k, line_reader *r, trace_block *b) {
    const char *line;
    uint64_t value;
    uint32_t i;
    do {
        if (!(line = next_line(k, r))) return r->error[0] ? -1 : 0;
    } while (*line == '#' && strncmp(line, "#BEGIN_TB", 9));
    if (*line != '#') return trace_words_fail(r, "#BEGIN_TB must stand here");
    b->linear = k->next;
    if (!next_line(k, r)) return no_more(k, r);
    if (read_named(r, "thread block = ", UINT32_MAX, &value)) return -1;
    for (i = 0;; i++) {
        b->coordinates[i] = (uint32_t)value;
        if (value >= k->grid[i])
            return trace_words_fail(r, "block %" PRIu64 " is outside the grid of %u x %u x %u", value, k->grid[0],
                                    k->grid[1], k->grid[2]);
        if (i == 2) break;
        if (*r->at != ',') return trace_words_fail(r, "three numbers of a block must stand here, such as 0,0,0");
        r->at++;
        if (trace_words_number(r, 10, UINT32_MAX, "the number of the block", &value)) return -1;
    }
    if (read_warps(k, r, b)) return -1;
    b->registers = k->registers;
    k->next++;
    return 1;
}

void trace_steps_drop(trace_kernel *k, trace_steps *steps) {
    if (!steps || --steps->references) return;
    steps->count = steps->store_count = 0;
    steps->next = k->spare_steps;
    k->spare_steps = steps;
}

void trace_kernel_drop(trace_kernel *k, trace_block *b) {
    uint32_t w;
    if (!b) return;
    for (w = 0; w < TRACE_WARPS; w++) trace_steps_drop(k, b->warps[w].shared);
    free(b->value_places);
    free(b->values);
    b->next = k->spare;
    k->spare = b;
}

/* Returns an empty block; NULL: memory is out. */
static trace_block *make_block(trace_kernel *k) {
    trace_block *b = k->spare, empty;
    memset(&empty, 0, sizeof empty);
    if (b) {
        k->spare = b->next;
        empty.accesses = b->accesses;
        empty.access_capacity = b->access_capacity;
        empty.lists = b->lists;
        empty.list_capacity = b->list_capacity;
        empty.executed = b->executed;
        empty.executed_bytes = b->executed_bytes;
    } else if (!(b = (trace_block *)trace_pool_take(&k->pool, sizeof *b))) {
        return NULL;
    }
    *b = empty;
    return b;
}

#define PROGRAM_BYTES (TRACE_PROGRAM_INSTRUCTIONS * sizeof(instruction)) /* address space; only a part is touched */

/* Makes what reading needs. A program that was released begins anew. Returns -1 when memory is out. */
static int begin_reading(trace_kernel *k) {
    if (!k->program.instructions) {
        void *place =
            mmap(NULL, PROGRAM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (place == MAP_FAILED) return -1;
        k->program.instructions = (instruction *)place;
        k->program.count = 0;
        k->unknown.count = 0;
        memset(k->boundaries, 0, sizeof k->boundaries);
    }
    return trace_instructions_open(k);
}

/* Opens the text and reads the head. */
static int open_text(trace_kernel *k, line_reader *r) {
    r->line = r->at = "";
    trace_text_close(k->text);
    k->next = 0;
    if (!(k->text = trace_text_open(k->path)))
        return trace_words_fail(r, "the trace cannot be read: %s", strerror(errno));
    return read_head(k, r);
}

trace_block *trace_kernel_block(trace_kernel *k, uint64_t linear, char error[TRACE_ERROR_BYTES]) {
    line_reader r;
    trace_block *b = NULL;
    int found = 1;
    r.k = k;
    r.error = error;
    r.line = r.at = "";
    if (begin_reading(k)) {
        trace_words_fail(&r, "out of memory");
        return NULL;
    }
    if ((!k->text || k->next > linear) && open_text(k, &r)) return NULL;
    while (found > 0 && k->next <= linear) {
        trace_kernel_drop(k, b);
        if (!(b = make_block(k))) {
            trace_words_fail(&r, "out of memory");
            return NULL;
        }
        trace_instructions_make_room(k, b);
        found = read_block(k, &r, b);
        if (found > 0) k->access_room = b->access_capacity;
    }
    if (!found)
        trace_words_fail(&r, "the trace has %" PRIu64 " blocks, its grid has %" PRIu64 ": it is truncated", k->next,
                         (uint64_t)k->grid[0] * k->grid[1] * k->grid[2]);
    if (found > 0 && k->next < (uint64_t)k->grid[0] * k->grid[1] * k->grid[2]) return b;
    trace_text_close(k->text); /* the last one */
    k->text = NULL;
    if (found > 0) return b;
    trace_kernel_drop(k, b);
    return NULL;
}

/* ---- kernels ---- */

/* Returns the most registers that are live in a warp of a block. */
static uint32_t live_peak_of(const kernel_program *program, const trace_block *b) {
    uint32_t w, i, peak = 0;
    for (w = 0; w < TRACE_WARPS; w++) {
        trace_live_count live;
        memset(&live, 0, sizeof live);
        for (i = b->warps[w].count; i-- > 0;) {
            trace_live_before(&live, program, &b->warps[w].shared->steps[i]);
            if (live.alive > peak) peak = live.alive;
        }
    }
    return peak;
}

int trace_kernel_decode(trace_kernel *k, char error[TRACE_ERROR_BYTES]) {
    trace_block *first;
    if (k->program.instructions) return 0;
    if (!(first = trace_kernel_block(k, 0, error))) return -1;
    k->live_peak = live_peak_of(&k->program, first);
    trace_kernel_drop(k, first);
    trace_text_close(k->text);
    k->text = NULL;
    return 0;
}

int trace_kernel_open(trace_kernel *k, const char *path, uint32_t number, trace_map *map,
                      char error[TRACE_ERROR_BYTES]) {
    line_reader r;
    memset(k, 0, sizeof *k);
    r.k = k;
    r.line = r.at = "";
    r.error = error;
    k->path = strdup(path);
    k->map = map;
    k->number = number;
    k->program.file_name = k->path;
    if (!k->path) return trace_words_fail(&r, "out of memory");
    return open_text(k, &r) ? -1 : trace_kernel_decode(k, error);
}

void trace_kernel_release(trace_kernel *k) {
    trace_text_close(k->text);
    k->text = NULL;
    trace_instructions_close(k);
    trace_pool_close(&k->pool);
    k->spare = NULL;
    k->spare_steps = NULL;
    if (k->program.instructions) munmap(k->program.instructions, PROGRAM_BYTES);
    k->program.instructions = NULL;
    free(k->hashes);
    k->hashes = NULL;
}

void trace_kernel_close(trace_kernel *k) {
    trace_kernel_release(k);
    free((char *)(uintptr_t)k->program.name);
    free(k->path);
    memset(k, 0, sizeof *k);
}

void trace_live(const kernel_program *program, const trace_step *steps, uint32_t from, uint32_t count,
                uint64_t live[4]) {
    uint32_t open[SASS_REGISTERS + 1], i, n;
    memset(live, 0, 4 * sizeof *live);
    memset(open, 0xff, sizeof open);
    for (i = from; i < count; i++) {
        const instruction *in = &program->instructions[steps[i].instruction];
        for (n = 0; n < in->source_count; n++)
            if (open[in->sources[n].index] & steps[i].mask) gpump_bits_set(live, in->sources[n].index);
        for (n = 0; n < in->destination_count; n++) open[in->destinations[n].index] &= ~steps[i].mask;
    }
}
