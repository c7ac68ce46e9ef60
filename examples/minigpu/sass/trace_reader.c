#define _GNU_SOURCE
#include "sass/trace_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sass/trace_tags.h"

#define KEYS (2 * TRACE_PROGRAM_INSTRUCTIONS)
#define WINDOW_BYTES (UINT64_C(1) << 24) /* of shared and local memory in generic addresses */
#define RESERVED_SHARED_BYTES                                                                                  \
    1024u                 /* that a block takes beyond its own from sm_80 on (CUDA Programming Guide, table of \
                             compute capabilities) */
#define LOCAL_BYTES 1024u /* local memory of a thread that is told apart */
#define LOCAL_BLOCKS 256u /* blocks whose local memory is told apart */

typedef struct trace_key {
    uint64_t hash;        /* 0: free */
    uint32_t instruction; /* index in the program */
    uint32_t unused;
} trace_key;

/* ---- errors and tokens ---- */

/* A line that is being read. */
typedef struct line_reader {
    const trace_kernel *k;
    const char *line, *at; /* at: what has not been read yet */
    char *error;
} line_reader;

static int fail(const line_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(const line_reader *r, const char *format, ...) {
    va_list arguments;
    const uint64_t line = r->k->text ? trace_text_number(r->k->text) : 0;
    int length = line ? snprintf(r->error, TRACE_ERROR_BYTES, "%.300s:%" PRIu64 ":%zu: ", r->k->path, line,
                                 (size_t)(r->at - r->line) + 1)
                      : snprintf(r->error, TRACE_ERROR_BYTES, "%.300s: ", r->k->path);
    va_start(arguments, format);
    vsnprintf(r->error + length, TRACE_ERROR_BYTES - (size_t)length, format, arguments);
    va_end(arguments);
    return -1;
}

static void skip_spaces(line_reader *r) {
    while (*r->at == ' ' || *r->at == '\t') r->at++;
}

/* Returns the value of a digit; 16 and more: it is none. */
static int digit_of(char c) {
    const uint32_t decimal = (uint32_t)c - '0', letter = ((uint32_t)c | 32u) - 'a';
    return decimal < 10 ? (int)decimal : letter < 6 ? (int)letter + 10 : 16;
}

/* Reads a whole number of a base, 10 or 16 (then with 0x or without), up to `most`. */
static int read_number(line_reader *r, uint32_t base, uint64_t most, const char *what, uint64_t *value) {
    const char *first;
    uint64_t read = 0;
    uint32_t digit;
    skip_spaces(r);
    first = r->at;
    *value = 0;
    if (base == 16 && first[0] == '0' && (first[1] == 'x' || first[1] == 'X')) r->at += 2;
    if ((uint32_t)digit_of(*r->at) >= base) {
        r->at = first;
        return fail(r, "%s is missing: a %s number must stand here", what, base == 16 ? "hexadecimal" : "decimal");
    }
    for (; (digit = (uint32_t)digit_of(*r->at)) < base; r->at++) {
        if (read > UINT64_MAX / 16 - 1) { /* one more digit may not fit */
            r->at = first;
            return fail(r, "%s is larger than %" PRIu64, what, most);
        }
        read = (base == 16 ? read << 4 : read * 10) + digit;
    }
    if (read > most) {
        r->at = first;
        return fail(r, "%s is larger than %" PRIu64, what, most);
    }
    *value = read;
    if (*r->at && *r->at != ' ' && *r->at != '\t' && *r->at != ',' && *r->at != ')')
        return fail(r, "%s has a character that no number has", what);
    return 0;
}

static int read_signed(line_reader *r, const char *what, int64_t *value) {
    uint64_t amount;
    int negative;
    skip_spaces(r);
    if ((negative = *r->at == '-')) r->at++;
    if (read_number(r, 10, INT64_MAX, what, &amount)) return -1;
    *value = negative ? -(int64_t)amount : (int64_t)amount;
    return 0;
}

static int read_registers(line_reader *r, const char *what, uint32_t *count, uint32_t numbers[SASS_OPERANDS]) {
    uint64_t value;
    uint32_t i;
    if (read_number(r, 10, SASS_OPERANDS, what, &value)) return -1;
    *count = (uint32_t)value;
    for (i = 0; i < *count; i++) {
        skip_spaces(r);
        if (*r->at != 'R') return fail(r, "a register, R0 to R255, must stand here");
        r->at++;
        if (read_number(r, 10, SASS_REGISTERS, "the register's number", &value)) return -1;
        numbers[i] = (uint32_t)value;
    }
    return 0;
}

static int read_opcode(line_reader *r, char opcode[40]) {
    size_t length;
    skip_spaces(r);
    length = strcspn(r->at, " \t");
    if (!length || length > 39 || *r->at < 'A' || *r->at > 'Z')
        return fail(r, "an opcode of at most 39 characters, such as IMAD.WIDE, must stand here");
    memset(opcode, 0, 40); /* hash_line takes it in words */
    memcpy(opcode, r->at, length);
    r->at += length;
    return 0;
}

/* ---- the head ---- */

static int read_dimensions(line_reader *r, uint32_t dimensions[3]) {
    uint64_t value;
    uint32_t i;
    for (i = 0; i < 3; i++) {
        skip_spaces(r);
        if (*r->at != "(,,"[i]) return fail(r, "dimensions must stand here, such as (8,1,1)");
        r->at++;
        if (read_number(r, 10, UINT32_MAX, "a dimension", &value)) return -1;
        if (!value) return fail(r, "a dimension is 0");
        dimensions[i] = (uint32_t)value;
    }
    return *r->at == ')' ? 0 : fail(r, "a dimension is followed by ) here");
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
    if (names[i].base && read_number(r, names[i].base, UINT64_MAX, "the value", &value)) return -1;
    switch (i) {
    case 0:
        free((char *)(uintptr_t)k->program.name);
        if (!(k->program.name = strdup(r->at))) return fail(r, "out of memory");
        break;
    case 1: k->id = (uint32_t)value; break;
    case 2: return read_dimensions(r, k->grid);
    case 3: return read_dimensions(r, k->block);
    case 4:
        if (value > (1u << 20)) return fail(r, "a block has more than 1 MB of shared memory");
        k->program.shared_bytes = (uint32_t)value;
        break;
    case 5:
        if (!value || value > SASS_REGISTERS) return fail(r, "a thread has 1 to 255 registers");
        k->program.registers = k->program.ptx_registers = (uint32_t)value;
        break;
    case 6: k->stream = value; break;
    case 7: k->binary_version = (uint32_t)value; break;
    case 8: k->shared_base = value; break;
    case 9: k->local_base = value; break;
    case 10:
        if (value < 3 || value > 6)
            return fail(r, "tracer version %" PRIu64 " is none of 3 to 6; record the trace again with such a tracer",
                        value);
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
        if (strlen(line) != length) {
            fail(r, "the line has a zero byte");
            return NULL;
        }
        if (length) return line;
    }
    r->line = r->at = "";
    if (trace_text_error(k->text)) fail(r, "%s", trace_text_error(k->text));
    return NULL;
}

/* Reads the head, up to the line with the format. */
static int read_head(trace_kernel *k, line_reader *r) {
    const char *line;
    uint64_t threads;
    while ((line = next_line(k, r))) {
        if (*line == '#') break;
        if (*line != '-') return fail(r, "a line of the head, such as -nregs = 21, must stand here");
        if (read_head_line(k, r)) return -1;
    }
    if (!line) return r->error[0] ? -1 : fail(r, "the head of the trace has no end");
    r->at = r->line;
    threads = (uint64_t)k->block[0] * k->block[1] * k->block[2];
    if (!k->program.name || !k->program.registers || !k->grid[0] || !k->block[0] || !k->tracer_version)
        return fail(r, "the head lacks one of: kernel name, grid dim, block dim, nregs, accelsim tracer version");
    if (k->block[1] > 1024 || k->block[2] > 1024 || threads > 32 * TRACE_WARPS)
        return fail(r, "a block of %" PRIu64 " threads is too large: at most 1024", threads);
    if (k->binary_version >= 80) k->program.shared_bytes += RESERVED_SHARED_BYTES;
    return 0;
}

/* ---- addresses ---- */

/* Returns where a global address of the traced program lies in device memory; 0: there are too many regions. */
static uint64_t map_address(trace_map *map, uint32_t space, uint64_t address) {
    const uint64_t region = address / TRACE_REGION_BYTES + ((uint64_t)space << 44);
    uint32_t i = map->last;
    if (i >= map->count || map->regions[i] != region) {
        for (i = 0; i < map->count && map->regions[i] != region; i++) {}
        if (i == TRACE_REGIONS) return 0;
        if (i == map->count) map->regions[map->count++] = region;
        map->last = i;
    }
    return map->base + i * TRACE_REGION_BYTES + address % TRACE_REGION_BYTES;
}

/* Local memory has no addresses in device memory. It gets some that no other memory has: the same word of neighbouring
 * lanes lies side by side, as it does on a GPU. */
static uint64_t local_address(uint64_t block, uint32_t warp, uint32_t lane, uint64_t address) {
    const uint64_t word = address % LOCAL_BYTES / 4;
    return (UINT64_C(1) << 62) + (((block % LOCAL_BLOCKS) * TRACE_WARPS + warp) * (LOCAL_BYTES / 4) + word) * 128 +
           lane * 4;
}

/* Reads the addresses of an access in one of three forms: a list, base and stride, base and deltas. */
static int read_addresses(line_reader *r, uint32_t mask, uint64_t addresses[LANES]) {
    uint64_t mode, address = 0;
    int64_t step = 0;
    uint32_t left = mask, n;
    if (read_number(r, 10, 2, "the form of the addresses, 0 to 2,", &mode)) return -1;
    if (mode && read_number(r, 16, UINT64_MAX, "the address", &address)) return -1;
    if (mode == 1 && read_signed(r, "the stride", &step)) return -1;
    for (n = 0; left; left &= left - 1, n++) {
        if (!mode && read_number(r, 16, UINT64_MAX, "the address", &address)) return -1;
        if (mode == 2 && n && read_signed(r, "the difference of two addresses", &step)) return -1;
        if (mode && n) address += (uint64_t)step;
        addresses[gpump_bits_lowest64(left)] = address;
    }
    return 0;
}

/* Which memory a generic address lies in. */
static uint32_t generic_space_of(const trace_kernel *k, uint64_t address) {
    if (address - k->shared_base < WINDOW_BYTES) return SPACE_SHARED;
    return address - k->local_base < WINDOW_BYTES ? SPACE_LOCAL : SPACE_GLOBAL;
}

static uint32_t space_of(const trace_kernel *k, const char *opcode, uint32_t mask, const uint64_t addresses[LANES]) {
    const uint32_t length = (uint32_t)strcspn(opcode, ".");
    if (length == 3 && (opcode[2] == 'S') && (opcode[0] == 'L' || opcode[0] == 'S')) return SPACE_SHARED;
    if ((length == 4 && !memcmp(opcode, "LDSM", 4)) || (length == 5 && !memcmp(opcode, "ATOMS", 5)))
        return SPACE_SHARED;
    if (length == 3 && opcode[2] == 'L') return SPACE_LOCAL;
    if (length == 3 && opcode[2] == 'C') return SPACE_CONST;
    if (mask && (length == 2 || (length == 4 && !memcmp(opcode, "ATOM", 4))))
        return generic_space_of(k, addresses[gpump_bits_lowest64(mask)]);
    return SPACE_GLOBAL;
}

/* Turns the addresses of the traced program into those of the machine. */
static int place_addresses(const trace_kernel *k, line_reader *r, const sass_line *l, uint64_t block, uint32_t warp,
                           uint32_t mask, uint64_t addresses[LANES]) {
    const uint64_t shared = k->program.shared_bytes;
    uint32_t left = mask;
    for (; left; left &= left - 1) {
        uint64_t *a = &addresses[gpump_bits_lowest64(left)];
        if (l->space == SPACE_SHARED && *a >= k->shared_base && *a - k->shared_base < WINDOW_BYTES && k->shared_base)
            *a -= k->shared_base;
        if (l->space == SPACE_SHARED && (*a > shared || l->width > shared - *a))
            return fail(r, "address 0x%" PRIx64 " is outside the block's %" PRIu64 " bytes of shared memory", *a,
                        shared);
        if (l->space == SPACE_LOCAL) *a = local_address(block, warp, gpump_bits_lowest64(left), *a);
        if (l->width & (l->width - 1) || *a & (l->width - 1))
            return fail(r, "address 0x%" PRIx64 " is no multiple of the access's %u bytes", *a, l->width);
        if ((l->space == SPACE_LOCAL || l->space == SPACE_GLOBAL) && !(*a = map_address(k->map, k->space, *a)))
            return fail(r, "the program uses more than %u regions of 2 MB of memory", TRACE_REGIONS);
    }
    return 0;
}

static int push_address(trace_block *b, uint64_t address) {
    if (b->address_count == b->address_capacity) {
        const size_t capacity = b->address_capacity ? b->address_capacity * 2 : 1024;
        uint64_t *grown = (uint64_t *)realloc(b->addresses, capacity * sizeof *grown);
        if (!grown) return -1;
        b->addresses = grown;
        b->address_capacity = capacity;
    }
    b->addresses[b->address_count++] = address;
    return 0;
}

/* Keeps the addresses of a step: as two words where one stride gives them all. Returns -1 when memory is out. */
static int keep_addresses(trace_block *b, uint32_t mask, const uint64_t addresses[LANES], trace_step *step) {
    const uint32_t first = gpump_bits_lowest64(mask),
                   second = mask & (mask - 1) ? gpump_bits_lowest64(mask & (mask - 1)) : first;
    const uint64_t stride = addresses[second] - addresses[first];
    uint64_t next = addresses[first];
    uint32_t left = mask;
    if (b->address_count >= TRACE_STRIDE - 64) return -1;
    step->addresses = (uint32_t)b->address_count;
    for (; left && addresses[gpump_bits_lowest64(left)] == next; left &= left - 1) next += stride;
    if (!left) {
        step->addresses |= TRACE_STRIDE;
        return push_address(b, addresses[first]) || push_address(b, stride) ? -1 : 0;
    }
    for (left = mask; left; left &= left - 1)
        if (push_address(b, addresses[gpump_bits_lowest64(left)])) return -1;
    return push_address(b, 0); /* trace_addresses reads one ahead */
}

/* ---- instructions ---- */

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_line(uint64_t pc, const sass_line *l) {
    uint64_t hash = mix(pc << 16 | l->width << 8 | l->space, l->destination_count << 8 | l->source_count), word;
    uint32_t i;
    for (i = 0; i < sizeof l->opcode; i += 8) {
        memcpy(&word, l->opcode + i, 8);
        hash = mix(hash, word);
        if (!l->opcode[i + 7]) break;
    }
    for (i = 0; i < l->destination_count; i++) hash = mix(hash, l->destinations[i]);
    for (i = 0; i < l->source_count; i++) hash = mix(hash, l->sources[i]);
    return hash ? hash : 1;
}

/* Returns the number of an instruction in the program, which gets it when it is new; GPUMP_NONE with the error set. */
static uint32_t find_instruction(trace_kernel *k, line_reader *r, uint64_t pc, const sass_line *l) {
    const uint64_t hash = hash_line(pc, l);
    uint32_t at = (uint32_t)(hash >> 40) % KEYS, i, n;
    instruction *out;
    for (; k->keys[at].hash; at = (at + 1) % KEYS)
        if (k->keys[at].hash == hash) return k->keys[at].instruction;
    if (k->program.count == TRACE_PROGRAM_INSTRUCTIONS) {
        fail(r, "the kernel has more than %u different instructions", TRACE_PROGRAM_INSTRUCTIONS);
        return GPUMP_NONE;
    }
    out = &k->program.instructions[k->program.count];
    if (!sass_decode(l, out)) {
        memcpy(k->unknown.opcode, l->opcode, sizeof k->unknown.opcode);
        k->unknown.count++;
    }
    out->line = (uint32_t)trace_text_number(k->text);
    out->column = 1;
    for (i = 0; i < 2; i++)
        for (n = 0; n < (i ? out->source_count : out->destination_count); n++)
            if ((i ? out->sources : out->destinations)[n].index >= k->program.registers) {
                fail(r, "R%u is none of the kernel's %u registers (nregs)",
                     (i ? out->sources : out->destinations)[n].index, k->program.registers);
                return GPUMP_NONE;
            }
    k->keys[at].hash = hash;
    k->keys[at].instruction = k->program.count;
    return k->program.count++;
}

/* Executes an instruction on tags, as the machine will. */
static void execute(trace_kernel *k, uint32_t seed, uint32_t index, trace_step *step) {
    const instruction *i = &k->program.instructions[step->instruction];
    uint32_t sums[LANES], result[LANES], n, l;
    tags_read(i, k->registers, sums);
    step->sources = tags_digest(sums, step->mask);
    for (n = 0; n < i->destination_count; n++) {
        uint32_t *to = k->registers + (size_t)i->destinations[n].index * LANES;
        tags_result(seed, index, n, sums, result);
        for (l = 0; l < LANES; l++) to[l] = step->mask & lane_bits[l] ? result[l] : to[l];
    }
}

static trace_step *push_step(trace_block *b) {
    if (b->step_count == b->step_capacity) {
        const size_t capacity = b->step_capacity ? b->step_capacity * 2 : 1024;
        trace_step *grown = (trace_step *)realloc(b->steps, capacity * sizeof *grown);
        if (!grown || capacity > UINT32_MAX / 2) return NULL;
        b->steps = grown;
        b->step_capacity = capacity;
    }
    return &b->steps[b->step_count++];
}

/* Reads the line of one warp instruction. */
static int read_instruction(trace_kernel *k, line_reader *r, trace_block *b, uint32_t warp, uint32_t seed) {
    uint64_t pc, mask, value, addresses[LANES];
    sass_line l;
    trace_step *step;
    r->at = r->line;
    if (k->has_lines && read_number(r, 10, UINT32_MAX, "the line number", &value)) return -1;
    if (read_number(r, 16, UINT32_MAX, "the PC", &pc) || read_number(r, 16, UINT32_MAX, "the mask", &mask) ||
        read_registers(r, "the number of destinations", &l.destination_count, l.destinations) ||
        read_opcode(r, l.opcode) || read_registers(r, "the number of sources", &l.source_count, l.sources) ||
        read_number(r, 10, 16, "the width of the access, 0 to 16 bytes,", &value))
        return -1;
    l.width = (uint32_t)value;
    l.space = SPACE_NONE;
    if (l.width) {
        if (read_addresses(r, (uint32_t)mask, addresses)) return -1;
        l.space = space_of(k, l.opcode, (uint32_t)mask, addresses);
        if (place_addresses(k, r, &l, b->linear, warp, (uint32_t)mask, addresses)) return -1;
    }
    if (!(step = push_step(b))) return fail(r, "out of memory");
    step->mask = (uint32_t)mask;
    step->addresses = GPUMP_NONE;
    if ((step->instruction = find_instruction(k, r, pc, &l)) == GPUMP_NONE) return -1;
    if (l.width && mask && keep_addresses(b, (uint32_t)mask, addresses, step)) return fail(r, "out of memory");
    execute(k, seed, (uint32_t)b->step_count - 1 - b->warps[warp].first, step);
    return 0;
}

/* The last instruction of a warp ends it: an exit is added where the trace has none. */
static int end_warp(trace_kernel *k, line_reader *r, trace_block *b, uint32_t warp) {
    trace_warp *w = &b->warps[warp];
    trace_step *step;
    sass_line l;
    w->count = (uint32_t)(b->step_count - w->first);
    if (!w->count || k->program.instructions[b->steps[b->step_count - 1].instruction].unit == UNIT_CONTROL) return 0;
    memset(&l, 0, sizeof l);
    memcpy(l.opcode, "EXIT", 5);
    if (!(step = push_step(b))) return fail(r, "out of memory");
    memset(step, 0, sizeof *step);
    step->addresses = GPUMP_NONE;
    if ((step->instruction = find_instruction(k, r, UINT32_MAX, &l)) == GPUMP_NONE) return -1;
    w->count++;
    return 0;
}

/* ---- blocks ---- */

/* Reads "name = value" with a decimal value. */
static int read_named(line_reader *r, const char *name, uint64_t most, uint64_t *value) {
    if (strncmp(r->line, name, strlen(name))) return fail(r, "\"%s\" must stand here", name);
    r->at = r->line + strlen(name);
    return read_number(r, 10, most, "the value", value);
}

static int no_more(trace_kernel *k, line_reader *r) {
    if (r->error[0]) return -1;
    (void)k;
    return fail(r, "the trace ends within a block: it is truncated");
}

/* Reads the warps of a block, up to its end. */
static int read_warps(trace_kernel *k, line_reader *r, trace_block *b) {
    const uint64_t warps = ((uint64_t)k->block[0] * k->block[1] * k->block[2] + 31) / 32;
    const char *line;
    uint64_t warp, count;
    uint32_t seed;
    while ((line = next_line(k, r))) {
        if (!strncmp(line, "#END_TB", 7)) return 0;
        if (*line == '#') continue;
        if (read_named(r, "warp = ", warps - 1, &warp)) return -1;
        if (b->warps[warp].count) return fail(r, "warp %" PRIu64 " stands twice in the block", warp);
        if (!next_line(k, r)) return no_more(k, r);
        if (read_named(r, "insts = ", UINT32_MAX / 4, &count)) return -1;
        b->warps[warp].first = (uint32_t)b->step_count;
        seed = tags_seed(k->number, b->linear, (uint32_t)warp);
        tags_start(k->registers, k->program.registers, seed);
        for (; count; count--) {
            if (!next_line(k, r)) return no_more(k, r);
            if (read_instruction(k, r, b, (uint32_t)warp, seed)) return -1;
        }
        if (end_warp(k, r, b, (uint32_t)warp)) return -1;
    }
    return no_more(k, r);
}

/* Reads the next block. Returns 1, or 0 at the end of the trace, or -1 with the error set. */
static int read_block(trace_kernel *k, line_reader *r, trace_block *b) {
    const char *line;
    uint64_t value;
    uint32_t i;
    do {
        if (!(line = next_line(k, r))) return r->error[0] ? -1 : 0;
    } while (*line == '#' && strncmp(line, "#BEGIN_TB", 9));
    if (*line != '#') return fail(r, "#BEGIN_TB must stand here");
    b->linear = k->next;
    if (!next_line(k, r)) return no_more(k, r);
    if (read_named(r, "thread block = ", UINT32_MAX, &value)) return -1;
    for (i = 0;; i++) {
        b->coordinates[i] = (uint32_t)value;
        if (value >= k->grid[i])
            return fail(r, "block %" PRIu64 " is outside the grid of %u x %u x %u", value, k->grid[0], k->grid[1],
                        k->grid[2]);
        if (i == 2) break;
        if (*r->at != ',') return fail(r, "three numbers of a block must stand here, such as 0,0,0");
        r->at++;
        if (read_number(r, 10, UINT32_MAX, "the number of the block", &value)) return -1;
    }
    if (read_warps(k, r, b)) return -1;
    k->next++;
    return 1;
}

void trace_block_free(trace_block *b) {
    if (!b) return;
    free(b->steps);
    free(b->addresses);
    free(b);
}

/* Opens the text and reads the head. */
static int open_text(trace_kernel *k, line_reader *r) {
    r->line = r->at = "";
    trace_text_close(k->text);
    k->next = 0;
    if (!(k->text = trace_text_open(k->path))) return fail(r, "the trace cannot be read: %s", strerror(errno));
    return read_head(k, r);
}

trace_block *trace_kernel_block(trace_kernel *k, uint64_t linear, char error[TRACE_ERROR_BYTES]) {
    line_reader r;
    trace_block *b = NULL;
    int found = 1;
    r.k = k;
    r.error = error;
    if ((!k->text || k->next > linear) && open_text(k, &r)) return NULL;
    while (found > 0 && k->next <= linear) {
        trace_block_free(b);
        if (!(b = (trace_block *)calloc(1, sizeof *b))) {
            fail(&r, "out of memory");
            return NULL;
        }
        found = read_block(k, &r, b);
    }
    if (!found)
        fail(&r, "the trace has %" PRIu64 " blocks, its grid has %" PRIu64 ": it is truncated", k->next,
             (uint64_t)k->grid[0] * k->grid[1] * k->grid[2]);
    if (found > 0 && k->next < (uint64_t)k->grid[0] * k->grid[1] * k->grid[2]) return b;
    trace_text_close(k->text); /* the last one */
    k->text = NULL;
    if (found > 0) return b;
    trace_block_free(b);
    return NULL;
}

/* ---- kernels ---- */

/* Address space that takes memory only where it is written. */
static void *reserve(size_t bytes) {
    void *place = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return place == MAP_FAILED ? NULL : place;
}

int trace_kernel_open(trace_kernel *k, const char *path, uint32_t number, trace_map *map,
                      char error[TRACE_ERROR_BYTES]) {
    line_reader r;
    trace_block *first;
    memset(k, 0, sizeof *k);
    r.k = k;
    r.line = r.at = "";
    r.error = error;
    k->path = strdup(path);
    k->map = map;
    k->number = number;
    k->program.file_name = k->path;
    k->program.instructions = (instruction *)reserve(TRACE_PROGRAM_INSTRUCTIONS * sizeof(instruction));
    k->keys = (trace_key *)reserve(KEYS * sizeof *k->keys);
    k->registers = (uint32_t *)reserve((SASS_REGISTERS + 1) * LANES * sizeof(uint32_t));
    if (!k->path || !k->program.instructions || !k->keys || !k->registers) return fail(&r, "out of memory");
    if (open_text(k, &r)) return -1;
    if (!(first = trace_kernel_block(k, 0, error))) return -1;
    trace_block_free(first);
    trace_text_close(k->text);
    k->text = NULL;
    return 0;
}

void trace_kernel_close(trace_kernel *k) {
    trace_text_close(k->text);
    if (k->program.instructions) munmap(k->program.instructions, TRACE_PROGRAM_INSTRUCTIONS * sizeof(instruction));
    if (k->keys) munmap(k->keys, KEYS * sizeof *k->keys);
    if (k->registers) munmap(k->registers, (SASS_REGISTERS + 1) * LANES * sizeof(uint32_t));
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
