#include "sass/trace_instruction.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sass/trace_regions.h"
#include "sass/trace_tags.h"
#include "sass/trace_values.h"

#define KEYS (2 * TRACE_PROGRAM_INSTRUCTIONS)
#define WINDOW_BYTES (UINT64_C(1) << 24) /* of shared and local memory in generic addresses */
#define LOCAL_BYTES 1024u                /* local memory of a thread that is told apart */
#define LOCAL_BLOCKS 256u                /* blocks whose local memory is told apart */
#define BEGINNINGS 4096u
#define BEGINNING_BYTES 84u

typedef struct trace_key {
    uint64_t hash;        /* 0: free */
    uint32_t instruction; /* index in the program */
    uint32_t unused;
} trace_key;

/* The beginning of a line, up to the bytes of its access, and what it means. */
typedef struct line_beginning {
    uint32_t length; /* 0: free */
    uint32_t mask;
    uint32_t instruction; /* index in the program, if its addresses lie in `space`; GPUMP_NONE: not known yet */
    uint32_t next;        /* index of the beginning of the line that came behind it last */
    uint8_t width, space; /* of its access */
    uint8_t is_generic;   /* its addresses say which memory they lie in */
    uint8_t unused;
    uint32_t weights, lane_weights; /* sums over the mask: of the lanes' weights, and of the same times the lane */
    char text[BEGINNING_BYTES];
} line_beginning;

/* The tags that a register of the warp should have. */
typedef struct register_tags {
    uint32_t first;    /* lane 0's, from which the others follow; */
    uint32_t is_mixed; /* 1: not so, each lane has its own */
    uint32_t lanes[LANES];
} register_tags;

/* What reading instructions needs. */
struct trace_instructions {
    uint32_t seed, first;                          /* of the warp's tags; its first step in the block */
    uint32_t lanes;                                /* that the warp has */
    uint32_t last;                                 /* index of the last line's beginning */
    uint32_t boundaries[TRACE_BOUNDARY_SHORT + 1]; /* index in the program, plus 1; 0: not there yet */
    trace_key keys[KEYS]; /* what the instructions of the program were made from: a hash table */
    line_beginning beginnings[BEGINNINGS];
    register_tags registers[SASS_REGISTERS + 1];
    trace_region region; /* of the warp, where there are regions */
};

/* The addresses of an access. */
typedef struct line_addresses {
    uint32_t count;  /* one for each lane of the mask, lower lanes first */
    int is_straight; /* 1: `first` and each time `stride` more; else `list` */
    uint64_t first, stride, list[LANES];
} line_addresses;

int trace_instructions_open(trace_kernel *k) {
    void *place = mmap(NULL, sizeof *k->reading, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1, 0); /* most of it is never touched */
    if (place == MAP_FAILED) return -1;
    k->reading = (struct trace_instructions *)place;
    return 0;
}

void trace_instructions_close(trace_kernel *k) {
    if (k->reading) munmap(k->reading, sizeof *k->reading);
    k->reading = NULL;
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

static void make_list(line_addresses *a) {
    uint32_t n;
    for (n = 0; n < a->count; n++) a->list[n] = a->first + n * a->stride;
    a->is_straight = 0;
}

/* Reads the addresses of an access in one of three forms: a list, base and stride, base and differences. A list that
 * one stride gives is straight, too. */
static int read_addresses(line_reader *r, line_addresses *a) {
    uint64_t mode, address = 0, first_step = 0, differs = 0;
    int64_t step = 0;
    uint32_t n;
    if (trace_words_number(r, 10, 2, "the form of the addresses, 0 to 2,", &mode)) return -1;
    if (mode && trace_words_number(r, 16, UINT64_MAX, "the address", &address)) return -1;
    if (mode == 1 && trace_words_signed(r, "the stride", &step)) return -1;
    a->is_straight = mode == 1;
    a->first = address;
    a->stride = (uint64_t)step;
    if (mode == 1) return 0;
    for (n = 0; n < a->count; n++) {
        const uint64_t before = address;
        if (!mode && trace_words_number(r, 16, UINT64_MAX, "the address", &address)) return -1;
        if (mode && n) {
            const char *after = trace_words_quick_signed(r->at, &step);
            if (after)
                r->at = after;
            else if (trace_words_signed(r, "the difference of two addresses", &step))
                return -1;
            address += (uint64_t)step;
        }
        if (n == 1) first_step = address - before;
        if (n > 1) differs |= (address - before) ^ first_step;
        a->list[n] = address;
    }
    a->is_straight = n && !differs;
    a->first = a->list[0];
    a->stride = first_step;
    return 0;
}

/* Which memory a generic address lies in. */
static uint32_t generic_space_of(const trace_kernel *k, uint64_t address) {
    if (address - k->shared_base < WINDOW_BYTES) return SPACE_SHARED;
    return address - k->local_base < WINDOW_BYTES ? SPACE_LOCAL : SPACE_GLOBAL;
}

/* Returns the memory that an opcode accesses; SPACE_NONE: its addresses say it. */
static uint32_t space_of(const char *opcode) {
    const size_t length = strcspn(opcode, ".");
    if (length == 3 && opcode[2] == 'S' && (opcode[0] == 'L' || opcode[0] == 'S')) return SPACE_SHARED;
    if ((length == 4 && !memcmp(opcode, "LDSM", 4)) || (length == 5 && !memcmp(opcode, "ATOMS", 5)))
        return SPACE_SHARED;
    if (length == 3 && opcode[2] == 'L') return SPACE_LOCAL;
    if (length == 3 && opcode[2] == 'C') return SPACE_CONST;
    return length == 2 || (length == 4 && !memcmp(opcode, "ATOM", 4)) ? SPACE_NONE : SPACE_GLOBAL;
}

/* Turns addresses of the traced program on one stride into those of the machine. Returns 0 when they are no longer on
 * one stride, or one of them is wrong: then each is to be placed alone. */
static int place_straight(const trace_kernel *k, uint32_t space, uint32_t width, line_addresses *a) {
    const uint64_t length = (a->count - 1) * a->stride, end = a->first + length;
    const uint64_t low = (int64_t)length >= 0 ? a->first : end, high = (int64_t)length >= 0 ? end : a->first;
    if (low > high || (width & (width - 1)) || ((a->first | a->stride) & (width - 1))) return 0;
    if (space == SPACE_GLOBAL) {
        const uint64_t placed =
            low / TRACE_REGION_BYTES == high / TRACE_REGION_BYTES ? map_address(k->map, k->space, a->first) : 0;
        if (placed) a->first = placed;
        return placed != 0;
    }
    if (space == SPACE_SHARED) {
        const uint64_t base = k->shared_base, shared = k->program.shared_bytes;
        const int all_in_window = base && low >= base && high - base < WINDOW_BYTES;
        const uint64_t moved = all_in_window ? base : 0;
        if (!all_in_window && base && high >= base && low < base + WINDOW_BYTES) return 0;
        if (high - moved > shared || width > shared - (high - moved)) return 0;
        a->first -= moved;
        return 1;
    }
    return space == SPACE_CONST;
}

/* Shared memory begins at 0, and ends with the block's. Returns 0, or -1 with the error set. */
static int place_shared(const trace_kernel *k, line_reader *r, uint32_t width, line_addresses *a) {
    const uint64_t shared = k->program.shared_bytes, base = k->shared_base;
    const uint64_t end = shared >= width ? shared - width + 1 : 0;
    uint32_t n;
    for (n = 0; n < a->count; n++) {
        if (a->list[n] - base < WINDOW_BYTES) a->list[n] -= base;
        if (a->list[n] >= end)
            return trace_words_fail(r,
                                    "address 0x%" PRIx64 " is outside the block's %" PRIu64 " bytes of shared memory",
                                    a->list[n], shared);
    }
    return 0;
}

static void place_local(uint64_t block, uint32_t warp, uint32_t mask, line_addresses *a) {
    uint32_t n;
    for (n = 0; n < a->count; n++, mask &= mask - 1)
        a->list[n] = local_address(block, warp, gpump_bits_lowest64(mask), a->list[n]);
}

static int place_global(const trace_kernel *k, line_reader *r, line_addresses *a) {
    uint64_t region = 0, distance = 0;
    uint32_t n;
    for (n = 0; n < a->count; n++) {
        const uint64_t address = a->list[n];
        if (!n || address / TRACE_REGION_BYTES != region) {
            const uint64_t placed = map_address(k->map, k->space, address);
            if (!placed)
                return trace_words_fail(r, "the program uses more than %u regions of 2 MB of memory", TRACE_REGIONS);
            region = address / TRACE_REGION_BYTES;
            distance = placed - address;
        }
        a->list[n] = address + distance;
    }
    return 0;
}

static int is_aligned(line_reader *r, uint32_t width, const line_addresses *a) {
    uint64_t bits = width & (width - 1) ? UINT64_MAX : 0;
    uint32_t n;
    for (n = 0; n < a->count; n++) bits |= a->list[n];
    if (!(bits & (width - 1))) return 1;
    for (n = 0; n + 1 < a->count && !(width & (width - 1)) && !(a->list[n] & (width - 1)); n++) {}
    (void)trace_words_fail(r, "address 0x%" PRIx64 " is no multiple of the access's %u bytes", a->list[n], width);
    return 0;
}

/* The same for a list. Returns 0, or -1 with the error set. */
static int place_list(const trace_kernel *k, line_reader *r, const line_beginning *l, uint64_t block, uint32_t warp,
                      line_addresses *a) {
    if (l->space == SPACE_SHARED && place_shared(k, r, l->width, a)) return -1;
    if (l->space == SPACE_LOCAL) place_local(block, warp, l->mask, a);
    if (!is_aligned(r, l->width, a)) return -1;
    return (l->space == SPACE_LOCAL || l->space == SPACE_GLOBAL) && place_global(k, r, a) ? -1 : 0;
}

/* Makes room for so many addresses. Returns -1 when memory is out. */
static int reserve_addresses(trace_block *b, size_t capacity) {
    uint64_t *grown = capacity < TRACE_STRIDE ? (uint64_t *)realloc(b->addresses, capacity * sizeof *grown) : NULL;
    if (!grown) return -1;
    b->addresses = grown;
    b->address_capacity = capacity;
    return 0;
}

/* Keeps the addresses of a step: as two words where one stride gives them all. Returns -1 when memory is out. */
static int keep_addresses(trace_block *b, const line_addresses *a, trace_step *step) {
    uint64_t *to;
    if (b->address_count + LANES + 1 > b->address_capacity && reserve_addresses(b, b->address_capacity * 2 + 1024))
        return -1;
    to = b->addresses + b->address_count;
    step->addresses = (uint32_t)b->address_count | (a->is_straight ? TRACE_STRIDE : 0);
    if (a->is_straight) {
        to[0] = a->first;
        to[1] = a->stride;
        b->address_count += 2;
    } else {
        memcpy(to, a->list, a->count * sizeof *to);
        to[a->count] = 0; /* trace_addresses reads one ahead */
        b->address_count += a->count + 1;
    }
    return 0;
}

/* ---- the program ---- */

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
    trace_key *const keys = k->reading->keys;
    const uint64_t hash = hash_line(pc, l);
    uint32_t at = (uint32_t)(hash >> 40) % KEYS, i, n;
    instruction *out;
    for (; keys[at].hash; at = (at + 1) % KEYS)
        if (keys[at].hash == hash) return keys[at].instruction;
    if (k->program.count == TRACE_PROGRAM_INSTRUCTIONS) {
        trace_words_fail(r, "the kernel has more than %u different instructions", TRACE_PROGRAM_INSTRUCTIONS);
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
                trace_words_fail(r, "R%u is none of the kernel's %u registers (nregs)",
                                 (i ? out->sources : out->destinations)[n].index, k->program.registers);
                return GPUMP_NONE;
            }
    keys[at].hash = hash;
    keys[at].instruction = k->program.count;
    return k->program.count++;
}

/* ---- tags ---- */

void trace_instructions_begin(trace_kernel *k, const trace_block *b, uint32_t warp) {
    struct trace_instructions *reading = k->reading;
    const uint32_t threads = k->block[0] * k->block[1] * k->block[2] - warp * LANES;
    uint32_t n;
    reading->seed = tags_seed(k->number, b->linear, warp);
    reading->first = (uint32_t)b->step_count;
    reading->lanes = threads < LANES ? (1u << threads) - 1 : UINT32_MAX;
    if (k->regions) trace_region_begin(&reading->region);
    for (n = 0; n < k->program.registers; n++) {
        reading->registers[n].first = tags_unwritten(reading->seed, n);
        reading->registers[n].is_mixed = 0;
    }
}

/* A register gets a tag in the lanes of a mask. */
static void write_register(register_tags *to, uint32_t first, uint32_t mask, uint32_t all) {
    uint32_t l;
    if ((mask & all) == all) {
        to->first = first;
        to->is_mixed = 0;
        return;
    }
    if (!to->is_mixed) tags_fill(to->first, to->lanes);
    to->is_mixed = 1;
    for (l = 0; l < LANES; l++) to->lanes[l] = mask & lane_bits[l] ? tags_lane(first, l) : to->lanes[l];
}

/* A register gets values in the lanes of a mask. */
static void write_values(register_tags *to, const uint32_t values[LANES], uint32_t mask) {
    uint32_t l;
    if (!to->is_mixed) tags_fill(to->first, to->lanes);
    to->is_mixed = 1;
    for (l = 0; l < LANES; l++) to->lanes[l] = mask & lane_bits[l] ? values[l] : to->lanes[l];
}

/* Executes an instruction on tags and values, as the machine will. index: of the step in its warp. values: that it
 * writes; NULL: tags. */
static void execute(struct trace_instructions *reading, const instruction *i, const line_beginning *l, uint32_t index,
                    const uint32_t *values, trace_step *step) {
    uint32_t n;
    step->sources = 0;
    for (n = 0; n < i->source_count; n++) {
        const register_tags *from = &reading->registers[i->sources[n].index];
        step->sources += tags_source_weight(n) * (from->is_mixed ? tags_digest(from->lanes, l->mask)
                                                                 : from->first * l->weights + l->lane_weights);
    }
    for (n = 0; n < i->destination_count; n++) {
        register_tags *to = &reading->registers[i->destinations[n].index];
        if (values)
            write_values(to, values + (size_t)n * LANES, l->mask);
        else
            write_register(to, tags_written(reading->seed, index, n), l->mask, reading->lanes);
    }
}

/* ---- lines ---- */

/* Makes room for so many steps. Returns -1 when memory is out. */
static int reserve_steps(trace_block *b, size_t capacity) {
    trace_step *grown = capacity < UINT32_MAX / 2 ? (trace_step *)realloc(b->steps, capacity * sizeof *grown) : NULL;
    if (!grown) return -1;
    b->steps = grown;
    b->step_capacity = capacity;
    return 0;
}

static trace_step *push_step(trace_block *b) {
    if (b->step_count == b->step_capacity && reserve_steps(b, b->step_capacity * 2 + 1024)) return NULL;
    return &b->steps[b->step_count++];
}

void trace_instructions_make_room(const trace_kernel *k, trace_block *b) {
    if (k->steps_room) (void)reserve_steps(b, k->steps_room);
    if (k->addresses_room) (void)reserve_addresses(b, k->addresses_room);
}

/* Reads a line up to the bytes of its access. */
static int read_words(const trace_kernel *k, line_reader *r, uint64_t *pc, uint64_t *mask, sass_line *l) {
    uint64_t value;
    r->at = r->line;
    if (k->has_lines && trace_words_number(r, 10, UINT32_MAX, "the line number", &value)) return -1;
    if (trace_words_number(r, 16, UINT32_MAX, "the PC", pc) ||
        trace_words_number(r, 16, UINT32_MAX, "the mask", mask) ||
        trace_words_registers(r, "the number of destinations", &l->destination_count, l->destinations) ||
        trace_words_opcode(r, l->opcode) ||
        trace_words_registers(r, "the number of sources", &l->source_count, l->sources) ||
        trace_words_number(r, 10, 16, "the width of the access, 0 to 16 bytes,", &value))
        return -1;
    l->width = (uint32_t)value;
    return 0;
}

/* Reads the beginning of a line, and keeps it. Returns -1 with the error set. */
static int read_beginning(const trace_kernel *k, line_reader *r, line_beginning *kept) {
    uint64_t pc, mask;
    sass_line l;
    size_t length;
    uint32_t left;
    kept->length = 0;
    if (strlen(r->line) != r->length) return trace_words_fail(r, "the line has a zero byte");
    if (read_words(k, r, &pc, &mask, &l)) return -1;
    length = (size_t)(r->at - r->line);
    kept->mask = (uint32_t)mask;
    kept->instruction = GPUMP_NONE;
    kept->width = (uint8_t)l.width;
    kept->space = (uint8_t)(l.width ? space_of(l.opcode) : SPACE_NONE);
    kept->is_generic = l.width && kept->space == SPACE_NONE;
    kept->weights = kept->lane_weights = 0;
    for (left = kept->mask; left; left &= left - 1) {
        const uint32_t lane = gpump_bits_lowest64(left);
        kept->weights += tag_weights[lane];
        kept->lane_weights += tag_weights[lane] * tags_lane(0, lane);
    }
    if (length > BEGINNING_BYTES) return 0; /* good for this line alone */
    kept->length = (uint32_t)length;
    memcpy(kept->text, r->line, length);
    return 0;
}

/* Returns whether a line begins as the kept one: the same words, and an end of the last one. */
static inline int begins_so(const line_reader *r, const line_beginning *kept) {
    const char end = r->line[kept->length <= r->length ? kept->length : 0];
    return kept->length && kept->length <= r->length && (end == ' ' || end == '\t' || !end) &&
           !memcmp(kept->text, r->line, kept->length);
}

/* Returns the place of the beginning of a line, by its first 16 bytes. */
static uint32_t place_of(const line_reader *r) {
    uint64_t words[2];
    memcpy(words, r->line, sizeof words); /* text ends with as many bytes more (trace_text_line) */
    return (uint32_t)(mix(mix(0, words[0]), words[1]) >> 40) % BEGINNINGS;
}

/* Returns the beginning of a line, read or known; NULL with the error set. */
static line_beginning *beginning_of(const trace_kernel *k, line_reader *r) {
    struct trace_instructions *reading = k->reading;
    line_beginning *const last = &reading->beginnings[reading->last], *kept = &reading->beginnings[last->next];
    if (!begins_so(r, kept)) {
        reading->last = last->next = place_of(r);
        kept = &reading->beginnings[reading->last];
        if (!begins_so(r, kept)) return read_beginning(k, r, kept) ? NULL : kept;
    }
    reading->last = last->next;
    r->at = r->line + kept->length;
    return kept;
}

/* Finds the instruction of a line whose addresses lie in `space`. Returns -1 with the error set. */
static int find_program_instruction(trace_kernel *k, line_reader *r, line_beginning *l, uint32_t space) {
    const char *at = r->at;
    uint64_t pc, mask;
    sass_line words;
    if (read_words(k, r, &pc, &mask, &words)) return -1;
    r->at = at;
    words.space = space;
    l->space = (uint8_t)space;
    l->instruction = find_instruction(k, r, pc, &words);
    return l->instruction == GPUMP_NONE ? -1 : 0;
}

/* Reads the addresses of a line and turns them into those of the machine. Returns -1 with the error set. */
static int take_addresses(const trace_kernel *k, line_reader *r, const trace_block *b, uint32_t warp,
                          const line_beginning *l, line_addresses *a) {
    if (a->is_straight && place_straight(k, l->space, l->width, a)) return 0;
    if (a->is_straight) make_list(a);
    return place_list(k, r, l, b->linear, warp, a);
}

/* Adds a boundary to the warp, which is no instruction of the traced program. Returns -1 with the error set. */
static int push_boundary(trace_kernel *k, line_reader *r, trace_block *b, trace_boundary kind) {
    uint32_t *index = &k->reading->boundaries[kind];
    trace_step *step = push_step(b);
    if (!step) return trace_words_fail(r, "out of memory");
    if (!*index) {
        instruction *out = &k->program.instructions[k->program.count];
        if (k->program.count == TRACE_PROGRAM_INSTRUCTIONS)
            return trace_words_fail(r, "the kernel has more than %u different instructions",
                                    TRACE_PROGRAM_INSTRUCTIONS);
        memset(out, 0, sizeof *out);
        out->opcode = OPCODE_BOUNDARY;
        out->unit = UNIT_ALU;
        out->variant = kind == TRACE_BOUNDARY_SHORT ? VARIANT_SHORT : VARIANT_NONE;
        out->guard = out->check = out->target = out->reconvergence = INSTRUCTION_NONE;
        out->line = (uint32_t)trace_text_number(k->text);
        *index = ++k->program.count;
    }
    memset(step, 0, sizeof *step);
    step->mask = k->reading->lanes;
    step->addresses = GPUMP_NONE;
    step->instruction = *index - 1;
    return 0;
}

/* Ends the warp's region before an instruction where that would overwrite what the region has read. Returns likewise.
 */
static int form_regions(trace_kernel *k, line_reader *r, trace_block *b, const instruction *in,
                        const line_addresses *a) {
    line_addresses each = *a;
    trace_boundary before;
    if (each.is_straight) make_list(&each);
    before = trace_region_take(&k->reading->region, k->regions, in, each.list, each.count);
    return before == TRACE_BOUNDARY_NONE ? 0 : push_boundary(k, r, b, before);
}

int trace_instruction_read(trace_kernel *k, line_reader *r, trace_block *b, uint32_t warp) {
    line_beginning *l = beginning_of(k, r);
    const instruction *in;
    const uint32_t *values = NULL;
    line_addresses a;
    trace_step *step;
    uint32_t space;
    int failed = 0;
    if (!l) return -1;
    space = l->space;
    a.is_straight = 0;
    a.count = l->width ? gpump_bits_count64(l->mask) : 0;
    if (l->width && read_addresses(r, &a)) return -1;
    if (l->is_generic) space = a.count ? generic_space_of(k, a.is_straight ? a.first : a.list[0]) : SPACE_GLOBAL;
    if ((l->instruction == GPUMP_NONE || l->space != space) && find_program_instruction(k, r, l, space)) return -1;
    if (a.count && take_addresses(k, r, b, warp, l, &a)) return -1;
    in = &k->program.instructions[l->instruction];
    if (k->regions && form_regions(k, r, b, in, &a)) return -1;
    if (!(step = push_step(b))) return trace_words_fail(r, "out of memory");
    step->mask = l->mask;
    step->addresses = GPUMP_NONE;
    step->instruction = l->instruction;
    if (a.count && keep_addresses(b, &a, step)) return trace_words_fail(r, "out of memory");
    if (k->tracer_version >= 6 && in->destination_count)
        values = trace_values_read(k, r, b, l->mask, in->destination_count, &failed);
    if (failed) return -1;
    execute(k->reading, in, l, (uint32_t)b->step_count - 1 - k->reading->first, values, step);
    return 0;
}

int trace_instruction_exit(trace_kernel *k, line_reader *r, trace_block *b) {
    trace_step *step = push_step(b);
    sass_line l;
    memset(&l, 0, sizeof l);
    memcpy(l.opcode, "EXIT", 5);
    if (!step) return trace_words_fail(r, "out of memory");
    memset(step, 0, sizeof *step);
    step->addresses = GPUMP_NONE;
    step->instruction = find_instruction(k, r, UINT32_MAX, &l);
    return step->instruction == GPUMP_NONE ? -1 : 0;
}
