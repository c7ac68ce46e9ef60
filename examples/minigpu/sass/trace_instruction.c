#include "sass/trace_instruction.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sass/trace_addresses.h"
#include "sass/trace_memory.h"
#include "sass/trace_regions.h"
#include "sass/trace_tags.h"
#include "sass/trace_values.h"

#define KEYS (2 * TRACE_PROGRAM_INSTRUCTIONS)
#define BEGINNINGS 4096u
#define BEGINNING_BYTES 84u
#define TRACE_ACCESS_BYTES 428u   /* that the end of a line may have that is compared: address and pattern */
#define TRACE_COMPARED_BYTES 512u /* that such a line may have, and the lines of a run without an access */
#define FEW_LANES 8u              /* whose addresses are read as fast as their pattern is found */

/* Sums over the lanes of a mask. */
typedef struct mask_weights {
    uint32_t weights, lane_weights; /* of the lanes' weights, and of the same times the lane */
} mask_weights;

/* Where the tracer writes the mask of a line: 0010 0000ffff ... */
#define MASK_FROM 5u
#define MASK_END 13u

#define GUESSES 4u

/* The beginning of a line, up to the bytes of its access, and what it means. */
typedef struct line_beginning {
    uint32_t length; /* 0: free */
    uint32_t whole;  /* length of the line with its end, where `text` has it and it has no access; 0: not so */
    trace_access access;
    uint32_t instruction; /* index in the program, if its addresses lie in access.space; GPUMP_NONE: not known yet */
    uint32_t next;        /* index of the beginning of the line that came behind it last */
    uint32_t is_generic;  /* its addresses say which memory they lie in */
    trace_destinations destinations;
    const trace_pattern *patterns[GUESSES]; /* of the line's end, the last time, by a hash of its mask; NULL: none */
    mask_weights weights;                   /* of the mask */
    uint32_t source_weights;                /* of its instruction's sources in the digest of what it reads */
    uint32_t any_mask; /* 1: lines with another mask are like it; `text` has that of the last one */
    char text[BEGINNING_BYTES];
} line_beginning;

#define PIECES 4u

/* The tags that a register of the warp should have, without the warp's seed. A write in some lanes lies over the
 * earlier ones as a piece. */
typedef struct register_tags {
    uint32_t count;                         /* of pieces, the last one on top; 0: each lane has its own tag */
    uint32_t firsts[PIECES], masks[PIECES]; /* lane 0's tag, from which those of the piece's lanes follow */
    uint32_t lanes[LANES];                  /* for each lane, the lane 0's tag from which its own follows */
} register_tags;

#define FOLLOWED_STEPS 65536u /* of a warp: 1.3 MB */
#define FOLLOWED_RUNS 2048u
#define FOLLOWED_BYTES (UINT32_C(1) << 17)

/* Lines that are compared at once: some without an access, and one with an access behind them. */
typedef struct line_run {
    uint32_t count;     /* of lines */
    uint32_t bytes;     /* of the lines without an access */
    uint32_t beginning; /* of the line with the access: bytes up to those of the access; 0: there is none */
    uint32_t at;        /* where the text of both begins in followed_lines.text */
    trace_access access;
    uint32_t is_generic;          /* its addresses say which memory they lie in */
    const trace_pattern *pattern; /* of the end of its line, the last time; NULL: none */
} line_run;

/* The steps of a warp of an earlier block. A warp that executes the same from its first instruction on has these
 * steps, too: it reads the same tags, but for its seed. */
typedef struct followed_warp {
    trace_steps *shared; /* NULL: there are none */
    uint32_t agrees;     /* 1: the last warp that followed it has executed all of these and no others */
    uint32_t is_whole;   /* 1: the runs are all lines of the warp */
    uint32_t run_count, bytes;
    uint64_t used; /* when a warp followed it last, counted in warps of this index */
} followed_warp;

/* Returns the steps of a way; none where it is free. */
static inline const trace_steps *steps_of(const followed_warp *way) {
    static const trace_steps none = {0, 0, 0, 0, 0, NULL, NULL, NULL};
    return way->shared ? way->shared : &none;
}

/* Its lines. They lie apart: most are never touched. */
typedef struct followed_lines {
    line_run runs[FOLLOWED_RUNS];
    char text[FOLLOWED_BYTES]; /* of the runs' lines, but for the ends of those with an access */
} followed_lines;

#define WAYS 4u /* blocks at the edges of a grid go another way than those within it */

/* The ways of the warps with one index. */
typedef struct followed_ways {
    uint64_t warps;        /* that have been read */
    uint32_t last;         /* the way of the last warp */
    uint32_t behind[WAYS]; /* the way of the warp behind one that has gone this way */
    uint32_t doubts[WAYS]; /* 1: the last such warp has gone another one */
    followed_warp ways[WAYS];
} followed_ways;

/* What reading instructions needs. */
struct trace_instructions {
    uint32_t seed, first;                 /* of the warp's tags; its first step in the block */
    uint32_t lanes;                       /* that the warp has */
    uint32_t warp;                        /* its index in the block */
    followed_warp *way;                   /* that it follows, or has left */
    uint32_t follows;                     /* 1: its steps are those of `way` so far, and nothing is known of
                                             `registers` */
    trace_steps *own;                     /* its steps, when it follows no way; NULL: it has none yet */
    uint32_t records;                     /* 1: its lines become the runs of what is followed */
    uint32_t run, run_step;               /* the run that comes next; index of its first step in the warp */
    uint32_t last;                        /* index of the last line's beginning */
    char mask_text[MASK_END - MASK_FROM]; /* the last mask that was read, and what it means */
    uint32_t mask;
    mask_weights weights;
    uint32_t key_count;          /* places of `keys`: a power of two, at least twice the program's instructions */
    uint32_t keys[KEYS];         /* instruction of a hash (trace_kernel.hashes), plus 1: a hash table; 0: free */
    uint16_t places[BEGINNINGS]; /* of a line, by a hash: its number in `beginnings`; 0: free */
    uint32_t beginning_count;    /* numbers that are taken: they lie side by side, on few pages */
    line_beginning beginnings[BEGINNINGS + 1]; /* the first one has no line */
    register_tags registers[SASS_REGISTERS + 1];
    mask_weights of_bytes[LANES / 8][256]; /* weights of 8 lanes each */
    trace_patterns patterns;
    followed_ways followed[TRACE_WARPS];
    trace_region region; /* of the warp, where there are regions */
    followed_lines lines[TRACE_WARPS][WAYS];
};

/* Returns the lines of a way of the warp that is read. */
static inline followed_lines *lines_of(struct trace_instructions *reading, const followed_warp *way) {
    return &reading->lines[reading->warp][way - reading->followed[reading->warp].ways];
}

static void weigh_bytes(struct trace_instructions *reading) {
    uint32_t byte, value, lane;
    for (byte = 0; byte < LANES / 8; byte++)
        for (value = 0; value < 256; value++)
            for (lane = 0; lane < 8; lane++) {
                const uint32_t weight = value >> lane & 1 ? tag_weights[byte * 8 + lane] : 0;
                reading->of_bytes[byte][value].weights += weight;
                reading->of_bytes[byte][value].lane_weights += weight * tags_lane(0, byte * 8 + lane);
            }
}

static mask_weights weights_of(const struct trace_instructions *reading, uint32_t mask) {
    mask_weights sum = {0, 0};
    uint32_t byte;
    for (byte = 0; byte < LANES / 8; byte++) {
        const mask_weights *of_byte = &reading->of_bytes[byte][mask >> byte * 8 & 255];
        sum.weights += of_byte->weights;
        sum.lane_weights += of_byte->lane_weights;
    }
    return sum;
}

#define FIRST_KEYS 256u

/* Returns the place of a hash among the keys, or the free one for it. */
static uint32_t *key_of(const trace_kernel *k, uint64_t hash) {
    struct trace_instructions *reading = k->reading;
    uint32_t at = (uint32_t)(hash >> 40) & (reading->key_count - 1);
    while (reading->keys[at] && k->hashes[reading->keys[at] - 1] != hash) at = (at + 1) & (reading->key_count - 1);
    return &reading->keys[at];
}

/* Makes keys for the program's instructions and one more. A small table touches few pages. */
static void make_keys(trace_kernel *k) {
    struct trace_instructions *reading = k->reading;
    uint32_t i, wanted = reading->key_count ? reading->key_count : FIRST_KEYS;
    while (wanted < KEYS && wanted < 2 * (k->program.count + 1)) wanted *= 2;
    if (wanted == reading->key_count) return;
    memset(reading->keys, 0, reading->key_count * sizeof *reading->keys);
    reading->key_count = wanted;
    for (i = 0; i < k->program.count; i++)
        if (k->hashes[i]) *key_of(k, k->hashes[i]) = i + 1;
}

int trace_instructions_open(trace_kernel *k) {
    void *place;
    if (k->reading) return 0;
    place = mmap(NULL, sizeof *k->reading, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                 0); /* most of it is never touched */
    if (place == MAP_FAILED) return -1;
    k->reading = (struct trace_instructions *)place;
    weigh_bytes(k->reading);
    make_keys(k);
    memset(k->reading->mask_text, '0', sizeof k->reading->mask_text); /* the text of mask 0 */
    return 0;
}

void trace_instructions_close(trace_kernel *k) {
    struct trace_instructions *reading = k->reading;
    uint32_t w, n;
    if (!reading) return;
    for (w = 0; w < TRACE_WARPS; w++)
        for (n = 0; n < WAYS; n++) trace_steps_drop(k, reading->followed[w].ways[n].shared);
    trace_steps_drop(k, reading->own);
    munmap(reading, sizeof *reading);
    k->reading = NULL;
}

/* ---- the program ---- */

/* Returns the memory that an opcode accesses; SPACE_NONE: its addresses say it. */
static uint32_t space_of(const char *opcode) {
    const size_t length = strcspn(opcode, ".");
    if (length == 3 && opcode[2] == 'S' && (opcode[0] == 'L' || opcode[0] == 'S')) return SPACE_SHARED;
    if ((length == 4 && (!memcmp(opcode, "LDSM", 4) || !memcmp(opcode, "STSM", 4))) ||
        (length == 5 && !memcmp(opcode, "ATOMS", 5)))
        return SPACE_SHARED;
    if (length == 3 && opcode[2] == 'L') return SPACE_LOCAL;
    if (length == 3 && opcode[2] == 'C') return SPACE_CONST;
    return length == 2 || (length == 4 && !memcmp(opcode, "ATOM", 4)) ? SPACE_NONE : SPACE_GLOBAL;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_line(uint64_t pc, const sass_line *l) {
    uint64_t hash = mix(pc << 16 | l->width << 8 | l->space,
                        (uint64_t)l->immediate << 16 | l->destination_count << 8 | l->source_count),
             word;
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

/* Keeps the hash of the program's next instruction, for keys that are made anew; 0: it has none. Returns -1 when memory
 * is out. */
static int keep_hash(trace_kernel *k, uint64_t hash) {
    const uint32_t count = k->program.count;
    if (!(count & (count - 1)) && (!count || count >= 64)) { /* it is full */
        uint64_t *more = (uint64_t *)realloc(k->hashes, (count ? 2 * (size_t)count : 64) * sizeof *more);
        if (!more) return -1;
        k->hashes = more;
    }
    k->hashes[count] = hash;
    return 0;
}

/* Returns the number of an instruction in the program, which gets it when it is new; GPUMP_NONE with the error set. */
static uint32_t find_instruction(trace_kernel *k, line_reader *r, uint64_t pc, const sass_line *l) {
    const uint64_t hash = hash_line(pc, l);
    uint32_t *key = key_of(k, hash), i, n;
    instruction *out;
    if (*key) return *key - 1;
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
        for (n = 0; n < (i ? out->source_count : out->destination_count); n++) {
            const uint32_t number = (i ? out->sources : out->destinations)[n].index;
            if (number >= k->program.registers) {
                trace_words_fail(r, "R%u is none of the kernel's %u registers (nregs)", number, k->program.registers);
                return GPUMP_NONE;
            }
            if (number >= k->registers) k->registers = number + 1;
        }
    if (keep_hash(k, hash)) {
        trace_words_fail(r, "out of memory");
        return GPUMP_NONE;
    }
    *key = ++k->program.count;
    make_keys(k);
    return k->program.count - 1;
}

/* ---- tags ---- */

/* Nothing has been written to registers. */
static void clear_registers(struct trace_instructions *reading, uint32_t count) {
    uint32_t n;
    for (n = 0; n < count; n++) {
        reading->registers[n].count = 1;
        reading->registers[n].firsts[0] = tags_unwritten(n);
        reading->registers[n].masks[0] = UINT32_MAX;
    }
}

void trace_instructions_begin(trace_kernel *k, trace_block *b, uint32_t warp) {
    struct trace_instructions *reading = k->reading;
    followed_ways *of_index = &reading->followed[warp];
    const uint32_t threads = k->block[0] * k->block[1] * k->block[2] - warp * LANES;
    reading->seed = tags_seed(k->number, b->linear, warp);
    reading->first = b->warps[warp].first = (uint32_t)b->step_count;
    b->warps[warp].access_first = (uint32_t)b->access_count;
    reading->lanes = threads < LANES ? (1u << threads) - 1 : UINT32_MAX;
    reading->warp = warp;
    reading->follows = !k->regions && k->tracer_version < 6;
    trace_steps_drop(k, reading->own); /* of a warp that could not be read */
    reading->own = NULL;
    reading->way = &of_index->ways[of_index->behind[of_index->last]];
    reading->records = reading->follows && reading->way->agrees && !reading->way->is_whole;
    reading->run = reading->run_step = 0;
    if (reading->records) reading->way->run_count = reading->way->bytes = 0;
    if (k->regions) trace_region_begin(&reading->region);
    if (!reading->follows) clear_registers(reading, k->program.registers);
}

/* Gives each lane of a register its own tag. */
static void spread(register_tags *r) {
    uint32_t p, l;
    for (p = 0; p < r->count; p++)
        for (l = 0; l < LANES; l++) r->lanes[l] = r->masks[p] & lane_bits[l] ? r->firsts[p] : r->lanes[l];
    r->count = 0;
}

/* A register gets a tag in the lanes of a mask. */
static void write_register(register_tags *to, uint32_t first, uint32_t mask, uint32_t all) {
    if ((mask & all) == all) to->count = 0, mask = UINT32_MAX;
    if (!to->count && mask != UINT32_MAX) {
        for (; mask; mask &= mask - 1) to->lanes[gpump_bits_lowest64(mask)] = first;
        return;
    }
    while (to->count && !(to->masks[to->count - 1] & ~mask)) to->count--; /* it is hidden */
    if (to->count == PIECES) {
        spread(to);
        write_register(to, first, mask, all);
        return;
    }
    to->firsts[to->count] = first;
    to->masks[to->count++] = mask;
}

/* A register gets values in the lanes of a mask. */
static void write_values(register_tags *to, uint32_t seed, const uint32_t values[LANES], uint32_t mask) {
    uint32_t l;
    spread(to);
    for (l = 0; l < LANES; l++) to->lanes[l] = mask & lane_bits[l] ? values[l] - seed - tags_lane(0, l) : to->lanes[l];
}

/* Returns the digest of what the lanes of an instruction read from a register. */
static uint32_t digest_of(const struct trace_instructions *reading, const register_tags *from,
                          const line_beginning *l) {
    uint32_t left = l->access.mask, digest = l->weights.lane_weights, p = from->count;
    if (p && !(left & ~from->masks[p - 1])) return from->firsts[p - 1] * l->weights.weights + digest;
    for (; !p && left; left &= left - 1) {
        const uint32_t lane = gpump_bits_lowest64(left);
        digest += from->lanes[lane] * tag_weights[lane];
    }
    while (left && p-- > 0) {
        digest += from->firsts[p] * weights_of(reading, left & from->masks[p]).weights;
        left &= ~from->masks[p];
    }
    return digest;
}

/* Writes the results of an instruction. index: of the step in its warp. values: what it writes; NULL: tags. */
static void write_results(struct trace_instructions *reading, const instruction *i, uint32_t mask, uint32_t index,
                          const uint32_t *values) {
    uint32_t n;
    for (n = 0; n < i->destination_count; n++) {
        register_tags *to = &reading->registers[i->destinations[n].index];
        if (values)
            write_values(to, reading->seed, values + (size_t)n * LANES, mask);
        else
            write_register(to, tags_written(index, n), mask, reading->lanes);
    }
}

/* Copies the runs of the first lines of a way that has them to another way, which is recorded from there on. */
static void copy_runs(struct trace_instructions *reading, const followed_warp *from, followed_warp *to,
                      uint32_t lines) {
    const followed_lines *const of_from = lines_of(reading, from);
    followed_lines *const of_to = lines_of(reading, to);
    const char *end;
    line_run *run;
    to->run_count = to->bytes = 0;
    for (; lines; lines -= run->count) {
        run = &of_to->runs[to->run_count];
        *run = of_from->runs[to->run_count++];
        to->bytes = run->at + run->bytes + run->beginning;
        if (run->count <= lines) continue;
        end = of_from->text + run->at;
        for (run->count = 0; run->count < lines; run->count++) end = (const char *)memchr(end, '\n', run->bytes) + 1;
        run->bytes = (uint32_t)(end - of_from->text) - run->at;
        run->beginning = 0;
        to->bytes = run->at + run->bytes;
    }
    memcpy(of_to->text, of_from->text, to->bytes);
    reading->records = 1;
}

/* The warp leaves its way at the index-th step. Goes to another one that is the same up to there and has this step.
 * Returns 0 when there is none. */
static int take_another_way(struct trace_instructions *reading, const line_beginning *l, uint32_t index) {
    followed_warp *const ways = reading->followed[reading->warp].ways, *const from = reading->way, *to;
    const trace_step *left = steps_of(from)->steps;
    const int has_runs = from->is_whole || reading->records;
    for (to = ways; to < ways + WAYS; to++) {
        const trace_step *steps = steps_of(to)->steps;
        if (to != from && index < steps_of(to)->count && steps[index].instruction == l->instruction &&
            steps[index].mask == l->access.mask && !memcmp(steps, left, index * sizeof *steps))
            break;
    }
    if (to == ways + WAYS) return 0;
    reading->way = to;
    reading->records = reading->run = reading->run_step = 0;
    if (!to->is_whole && has_runs) copy_runs(reading, from, to, index);
    for (; to->is_whole && reading->run_step + lines_of(reading, to)->runs[reading->run].count <= index; reading->run++)
        reading->run_step += lines_of(reading, to)->runs[reading->run].count;
    return 1;
}

/* Makes room for so many steps. Returns -1 when memory is out. */
static int reserve_steps(trace_kernel *k, trace_steps *steps, size_t capacity) {
    const size_t old_bytes = steps->count * sizeof(trace_step);
    trace_step *grown = steps->steps;
    if (steps->capacity >= capacity) return 0;
    if (capacity >= UINT32_MAX / 2 ||
        !(grown = (trace_step *)trace_pool_grow(&k->pool, grown, old_bytes, capacity * sizeof *grown)))
        return -1;
    steps->steps = grown;
    steps->capacity = (uint32_t)capacity;
    return 0;
}

/* Gives the warp steps of its own, none of them yet. Returns likewise. */
static int begin_own(trace_kernel *k) {
    trace_steps *own = k->spare_steps;
    if (own) {
        k->spare_steps = own->next;
    } else if ((own = (trace_steps *)trace_pool_take(&k->pool, sizeof *own))) {
        memset(own, 0, sizeof *own);
    } else {
        return -1;
    }
    own->references = 1;
    k->reading->own = own;
    return 0;
}

/* Adds a step to the warp's own ones. Returns likewise. */
static int push_step(trace_kernel *k, trace_block *b, const trace_step *step) {
    trace_steps *own;
    if (!k->reading->own && begin_own(k)) return -1;
    own = k->reading->own;
    if (own->count == own->capacity && reserve_steps(k, own, (size_t)own->capacity * 2 + 64)) return -1;
    own->steps[own->count++] = *step;
    b->step_count++;
    return 0;
}

/* The warp goes another way than those that are known: executes its steps up to the index-th, and has them for itself.
 * Returns likewise. */
static int stop_following(trace_kernel *k, uint32_t index) {
    struct trace_instructions *reading = k->reading;
    const trace_step *steps = steps_of(reading->way)->steps;
    uint32_t n;
    reading->follows = reading->records = 0;
    if (begin_own(k) || reserve_steps(k, reading->own, index + 64)) return -1;
    if (index) memcpy(reading->own->steps, steps, index * sizeof *steps);
    reading->own->count = index;
    clear_registers(reading, k->program.registers);
    for (n = 0; n < index; n++)
        write_results(reading, &k->program.instructions[steps[n].instruction], steps[n].mask, n, NULL);
    return 0;
}

/* Returns whether a line has an access. */
static inline int has_access(const line_beginning *l) { return l->access.width && l->access.mask; }

/* Executes an instruction on tags and values, as the machine will, and adds its step. Returns likewise. */
static int execute(trace_kernel *k, trace_block *b, const line_beginning *l, uint32_t index, const uint32_t *values) {
    struct trace_instructions *reading = k->reading;
    const instruction *i = &k->program.instructions[l->instruction];
    trace_step step = {l->instruction, l->access.mask, 0, l->weights.weights * l->source_weights, GPUMP_NONE};
    uint32_t n;
    if (reading->follows && take_another_way(reading, l, index)) {
        b->step_count++;
        return 0;
    }
    if (reading->follows && stop_following(k, index)) return -1;
    for (n = 0; n < i->source_count; n++)
        step.sources += tags_source_weight(n) * digest_of(reading, &reading->registers[i->sources[n].index], l);
    write_results(reading, i, l->access.mask, index, values);
    if (has_access(l)) step.access = (uint32_t)b->access_count - 1 - b->warps[reading->warp].access_first;
    return push_step(k, b, &step);
}

/* Adds the step of an instruction that has been found, behind its access. values: what it writes; NULL: tags. Returns
 * likewise. */
static inline int add_step(trace_kernel *k, trace_block *b, const line_beginning *l, const uint32_t *values) {
    const struct trace_instructions *reading = k->reading;
    const uint32_t index = (uint32_t)b->step_count - reading->first;
    const trace_steps *way = steps_of(reading->way);
    if (reading->follows && index < way->count) {
        const trace_step *step = &way->steps[index];
        if (step->instruction == l->instruction && step->mask == l->access.mask) {
            b->step_count++;
            return 0;
        }
    }
    return execute(k, b, l, index, values);
}

/* ---- warps ---- */

/* Notes which steps write to global memory. Returns likewise. */
static int find_stores(trace_kernel *k, trace_steps *steps) {
    const instruction *program = k->program.instructions;
    uint32_t i;
    for (i = 0; i < steps->count; i++) {
        const trace_step *step = &steps->steps[i];
        if (step->access == GPUMP_NONE || !trace_memory_is_written(&program[step->instruction])) continue;
        if (steps->store_count == steps->store_capacity) {
            const uint32_t capacity = steps->store_capacity * 2 + 16;
            uint32_t *grown = (uint32_t *)trace_pool_grow(&k->pool, steps->stores, steps->store_count * sizeof *grown,
                                                          capacity * sizeof *grown);
            if (!grown) return -1;
            steps->stores = grown;
            steps->store_capacity = capacity;
        }
        steps->stores[steps->store_count++] = i;
    }
    return 0;
}

/* Makes the warp's own steps a way, in place of the one that was followed least lately. */
static void keep_way(trace_kernel *k) {
    struct trace_instructions *reading = k->reading;
    followed_warp *const ways = reading->followed[reading->warp].ways, *to = ways;
    uint32_t n;
    for (n = 1; n < WAYS; n++)
        if (ways[n].used < to->used) to = &ways[n];
    trace_steps_drop(k, to->shared);
    to->shared = reading->own;
    to->shared->references++;
    to->is_whole = 0;
    reading->way = to;
}

/* Gives the warp its steps. Returns likewise. */
static int hand_over(trace_kernel *k, trace_warp *w) {
    struct trace_instructions *reading = k->reading;
    trace_steps_drop(k, w->shared); /* of a warp that has executed nothing, and stands in the block again */
    w->shared = reading->own ? reading->own : reading->way->shared;
    if (!reading->own && w->shared) w->shared->references++;
    if (reading->own && find_stores(k, reading->own)) return -1;
    if (reading->own && !k->regions && k->tracer_version < 6 && reading->own->count <= FOLLOWED_STEPS) keep_way(k);
    reading->own = NULL;
    return 0;
}

/* The warp has gone its way: notes what the next one of its index is likely to do. count: of its steps. */
static void note_way(struct trace_instructions *reading, uint32_t count) {
    followed_ways *of_index = &reading->followed[reading->warp];
    followed_warp *way = reading->way;
    const uint32_t number = (uint32_t)(way - of_index->ways), last = of_index->last;
    way->agrees = reading->follows && count == steps_of(way)->count;
    if (way->agrees && reading->records) way->is_whole = 1;
    way->used = ++of_index->warps;
    if (of_index->behind[last] != number && of_index->doubts[last]) of_index->behind[last] = number;
    of_index->doubts[last] = of_index->behind[last] != number;
    of_index->last = number;
}

int trace_instructions_end(trace_kernel *k, line_reader *r, trace_block *b) {
    struct trace_instructions *reading = k->reading;
    const uint32_t count = (uint32_t)b->step_count - reading->first;
    const trace_step *steps = (reading->own ? reading->own : steps_of(reading->way))->steps;
    trace_warp *w = &b->warps[reading->warp];
    if (count && k->program.instructions[steps[count - 1].instruction].opcode != OPCODE_EXIT &&
        trace_instruction_exit(k, r, b))
        return -1;
    if (hand_over(k, w)) return trace_words_fail(r, "out of memory");
    w->count = (uint32_t)b->step_count - reading->first;
    note_way(reading, w->count);
    return 0;
}

/* ---- lines ---- */

void trace_instructions_make_room(trace_kernel *k, trace_block *b) {
    if (k->access_room > b->access_capacity) (void)trace_addresses_reserve(&k->pool, b, k->access_room);
}

/* The Tensor Memory Accelerator copies tiles without registers. */
static int refuse_asynchronous_copy(const line_reader *r, const char *opcode) {
    if (strncmp(opcode, "UTMA", 4) && strncmp(opcode, "UBLK", 4)) return 0;
    return trace_words_fail(r,
                            "%s is an operation of the Tensor Memory Accelerator, which the mini-GPU lacks; "
                            "trace a program without it",
                            opcode);
}

/* How many groups of copies a DEPBAR.LE leaves is its immediate, behind the bytes of the access that it does not have.
 * 0 where the trace has no immediates, as Accel-Sim takes it. */
static uint32_t groups_left(const trace_kernel *k, const line_reader *r, const char *opcode) {
    return k->tracer_version >= 5 && !strncmp(opcode, "DEPBAR", 6) ? (uint32_t)strtoul(r->at, NULL, 10) : 0;
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
        refuse_asynchronous_copy(r, l->opcode) ||
        (k->tracer_version >= 6 && strstr(l->opcode, "GMMA") &&
         trace_words_number(r, 10, 1, "whether the instruction ends a group of matrix products", &value)) ||
        trace_words_number(r, 10, 16, "the width of the access, 0 to 16 bytes,", &value))
        return -1;
    l->width = (uint32_t)value;
    l->immediate = groups_left(k, r, l->opcode);
    return 0;
}

/* Finds the instruction of a line. Returns -1 with the error set. */
static int set_instruction(trace_kernel *k, line_reader *r, line_beginning *l, uint64_t pc, const sass_line *words) {
    l->instruction = find_instruction(k, r, pc, words);
    if (l->instruction == GPUMP_NONE) return -1;
    l->source_weights = tags_source_weights(k->program.instructions[l->instruction].source_count);
    return 0;
}

/* Reads the 8 digits of a mask. Returns 1, or 0 when they are others. */
static inline int read_mask(const char *text, uint32_t *mask) { return trace_words_eight_digits(text, mask); }

/* Returns whether the mask of a line stands where the tracer writes it. */
static int has_mask(const trace_kernel *k, const char *line, size_t length) {
    uint32_t mask;
    return !k->has_lines && length > MASK_END && line[MASK_FROM - 1] == ' ' && line[MASK_END] == ' ' &&
           read_mask(line + MASK_FROM, &mask);
}

/* Gives a kept line the mask of a line that is like it. Returns 0 when that has none. */
static inline int take_mask(struct trace_instructions *reading, line_beginning *l, const char *text) {
    if (memcmp(text, reading->mask_text, sizeof reading->mask_text)) { /* the mask of the line before is known */
        uint32_t mask;
        if (!read_mask(text, &mask)) return 0;
        reading->mask = mask;
        memcpy(reading->mask_text, text, sizeof reading->mask_text);
        reading->weights = weights_of(reading, reading->mask);
    }
    memcpy(l->text + MASK_FROM, text, MASK_END - MASK_FROM);
    l->access.mask = reading->mask;
    l->weights = reading->weights;
    return 1;
}

/* Reads the beginning of a line, and keeps it. Returns -1 with the error set. */
static int read_beginning(trace_kernel *k, line_reader *r, line_beginning *kept) {
    uint64_t pc, mask;
    sass_line l;
    size_t length;
    uint32_t i;
    kept->length = kept->whole = 0;
    memset(kept->patterns, 0, sizeof kept->patterns);
    if (strlen(r->line) != r->length) return trace_words_fail(r, "the line has a zero byte");
    if (read_words(k, r, &pc, &mask, &l)) return -1;
    length = (size_t)(r->at - r->line);
    kept->access.mask = (uint32_t)mask;
    kept->instruction = GPUMP_NONE;
    kept->access.width = (uint8_t)l.width;
    kept->destinations.count = l.destination_count;
    kept->destinations.general = 0;
    for (i = 0; i < l.destination_count; i++)
        kept->destinations.general |= (uint32_t)(l.destinations[i] != SASS_REGISTERS) << i;
    kept->access.space = (uint8_t)(l.width ? space_of(l.opcode) : SPACE_NONE);
    kept->is_generic = l.width && kept->access.space == SPACE_NONE;
    kept->weights = weights_of(k->reading, kept->access.mask);
    kept->any_mask = has_mask(k, r->line, length);
    l.space = kept->access.space;
    if (!kept->is_generic && set_instruction(k, r, kept, pc, &l)) return -1;
    if (length > BEGINNING_BYTES) return 0; /* good for this line alone */
    kept->length = (uint32_t)length;
    memcpy(kept->text, r->line, length);
    return 0;
}

#define COMPARED_AT_ONCE 16u

/* Returns whether so many bytes are the same. */
static inline int is_same(const char *a, const char *b, size_t length) {
    size_t at;
    if (length < COMPARED_AT_ONCE) return !memcmp(a, b, length);
    for (at = 0; at < length - COMPARED_AT_ONCE; at += COMPARED_AT_ONCE)
        if (memcmp(a + at, b + at, COMPARED_AT_ONCE)) return 0;
    return !memcmp(a + length - COMPARED_AT_ONCE, b + length - COMPARED_AT_ONCE, COMPARED_AT_ONCE);
}

/* Returns whether a text begins with so many bytes of a kept line, but for its mask, which the kept line gets. */
static inline int is_text(struct trace_instructions *reading, const char *text, line_beginning *l, size_t length) {
    if (is_same(text, l->text, length)) return 1;
    return l->any_mask && !memcmp(text, l->text, MASK_FROM) &&
           is_same(text + MASK_END, l->text + MASK_END, length - MASK_END) && take_mask(reading, l, text + MASK_FROM);
}

/* Returns whether a line begins as the kept one: the same words, and an end of the last one. */
static inline int begins_so(struct trace_instructions *reading, const line_reader *r, line_beginning *kept) {
    const char end = r->line[kept->length <= r->length ? kept->length : 0];
    return kept->length && kept->length <= r->length && (end == ' ' || end == '\t' || !end) &&
           is_text(reading, r->line, kept, kept->length);
}

/* Returns the place of the beginning of a line, by bytes that are not its mask. */
static uint32_t place_of(const trace_kernel *k, const char *line) {
    uint32_t pc;
    uint64_t words;
    memcpy(&pc, line, sizeof pc); /* text ends with TRACE_BEHIND_BYTES more */
    memcpy(&words, line + (k->has_lines ? sizeof pc : MASK_END), sizeof words);
    return (uint32_t)(mix(mix(0, pc), words) >> 40) % BEGINNINGS;
}

/* Returns the beginning of a line that has a place, or one without a line. */
static inline line_beginning *beginning_at(struct trace_instructions *reading, uint32_t place) {
    return &reading->beginnings[reading->places[place]];
}

/* Returns the beginning of a line, read or known; NULL with the error set. */
static line_beginning *beginning_of(trace_kernel *k, line_reader *r) {
    struct trace_instructions *reading = k->reading;
    line_beginning *const last = &reading->beginnings[reading->last], *kept = &reading->beginnings[last->next];
    if (!begins_so(reading, r, kept)) {
        uint32_t place = place_of(k, r->line);
        if (begins_so(reading, r, beginning_at(reading, place ^ 1))) place ^= 1;
        kept = beginning_at(reading, place);
        if (!begins_so(reading, r, kept)) {
            line_beginning *other = beginning_at(reading, place ^ 1); /* each line has two places */
            if (kept->length && other->length) *other = *kept;
            if (kept->length && !other->length) place ^= 1;
            if (!reading->places[place]) reading->places[place] = (uint16_t)++reading->beginning_count;
            reading->last = last->next = reading->places[place];
            kept = beginning_at(reading, place);
            return read_beginning(k, r, kept) ? NULL : kept;
        }
        last->next = reading->places[place];
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
    l->access.space = (uint8_t)space;
    return set_instruction(k, r, l, pc, &words);
}

/* Adds a boundary to the warp, which is no instruction of the traced program. Returns -1 with the error set. */
static int push_boundary(trace_kernel *k, line_reader *r, trace_block *b, trace_boundary kind) {
    uint32_t *index = &k->boundaries[kind];
    trace_step step = {0, k->reading->lanes, 0, 0, GPUMP_NONE};
    if (!*index) {
        instruction *out = &k->program.instructions[k->program.count];
        if (k->program.count == TRACE_PROGRAM_INSTRUCTIONS)
            return trace_words_fail(r, "the kernel has more than %u different instructions",
                                    TRACE_PROGRAM_INSTRUCTIONS);
        if (keep_hash(k, 0)) return trace_words_fail(r, "out of memory");
        memset(out, 0, sizeof *out);
        out->opcode = OPCODE_BOUNDARY;
        out->unit = UNIT_ALU;
        out->variant = kind == TRACE_BOUNDARY_SHORT ? VARIANT_SHORT : VARIANT_NONE;
        out->guard = out->check = out->target = out->reconvergence = INSTRUCTION_NONE;
        out->line = (uint32_t)trace_text_number(k->text);
        *index = ++k->program.count;
    }
    step.instruction = *index - 1;
    return push_step(k, b, &step) ? trace_words_fail(r, "out of memory") : 0;
}

/* Ends the warp's region before an instruction where that would overwrite what the region has read. Returns likewise.
 */
static int form_regions(trace_kernel *k, line_reader *r, trace_block *b, const instruction *in,
                        const line_addresses *a) {
    line_addresses each = *a;
    trace_boundary before;
    if (each.is_straight) trace_addresses_list(&each);
    before = trace_region_take(&k->reading->region, k->regions, in, each.list, each.count);
    return before == TRACE_BOUNDARY_NONE ? 0 : push_boundary(k, r, b, before);
}

/* Returns where the pattern is noted that a line with this mask has ended with. */
static inline const trace_pattern **guess_of(line_beginning *l) {
    return &l->patterns[l->access.mask * UINT32_C(0x9e3779b1) >> 30];
}

/* Returns whether values of registers may stand behind the addresses of a line. */
static inline int may_have_values(const trace_kernel *k, const line_beginning *l) {
    return k->tracer_version >= 6 && k->program.instructions[l->instruction].destination_count;
}

/* Keeps the whole line, or the pattern of its end, so that the next one like it is compared alone. at: behind the
 * bytes of its access. a: its addresses, not yet placed. */
static void remember(trace_kernel *k, const line_reader *r, line_beginning *l, const char *at,
                     const line_addresses *a) {
    char line[TRACE_PATTERN_BYTES + 1];
    const char *end = r->line + r->length, *base = a->count ? trace_patterns_base(at) : NULL;
    const trace_pattern **guess = guess_of(l);
    if (!l->length || may_have_values(k, l)) return;
    if (!l->access.width && r->length < BEGINNING_BYTES) {
        memcpy(l->text, r->line, r->length);
        l->text[r->length] = '\n';
        l->whole = (uint32_t)r->length + 1;
    }
    if (!base || k->reading->patterns.count == TRACE_PATTERNS) return; /* then few lines have one that is known */
    while (trace_words_digit(*base) < 16) base++;
    if ((size_t)(end - base) + 1 > TRACE_PATTERN_BYTES) return;
    memcpy(line, base, (size_t)(end - base));
    line[end - base] = '\n';
    if (!(*guess = trace_patterns_find(&k->reading->patterns, at[1], l->access.mask, line, (size_t)(end - base) + 1)))
        *guess = trace_patterns_add(&k->reading->patterns, at[1], l->access.mask, line, (size_t)(end - base) + 1, a);
}

/* Returns whether a line's mask has no lanes but those of the warp. */
static inline int has_lanes(const struct trace_instructions *reading, const line_beginning *l) {
    return !(l->access.mask & ~reading->lanes);
}

static int refuse_lanes(const trace_kernel *k, line_reader *r, uint32_t warp) {
    uint32_t words;
    for (words = k->has_lines ? 2 : 1, r->at = r->line; words; words--) {
        trace_words_skip_spaces(r);
        r->at += strcspn(r->at, " \t");
    }
    trace_words_skip_spaces(r);
    return trace_words_fail(r, "the mask has lanes that warp %u lacks: the block has %u threads", warp,
                            k->block[0] * k->block[1] * k->block[2]);
}

int trace_instruction_read(trace_kernel *k, line_reader *r, trace_block *b, uint32_t warp) {
    line_beginning *l = beginning_of(k, r);
    const instruction *in;
    const uint32_t *values = NULL;
    const char *at = r->at;
    line_addresses a;
    uint32_t space;
    int failed = 0;
    if (!l) return -1;
    if (!has_lanes(k->reading, l)) return refuse_lanes(k, r, warp);
    space = l->access.space;
    a.is_straight = 0;
    a.count = l->access.width ? gpump_bits_count64(l->access.mask) : 0;
    if (l->access.width && trace_addresses_read(r, &a)) return -1;
    if (l->is_generic) space = a.count ? trace_addresses_space(k, a.is_straight ? a.first : a.list[0]) : SPACE_GLOBAL;
    if ((l->instruction == GPUMP_NONE || l->access.space != space) && find_program_instruction(k, r, l, space))
        return -1;
    remember(k, r, l, at, &a);
    if (a.count && trace_addresses_place(k, r, &l->access, b->linear, warp, &a)) return -1;
    in = &k->program.instructions[l->instruction];
    if (k->regions && form_regions(k, r, b, in, &a)) return -1;
    if (a.count && trace_addresses_keep(&k->pool, b, &a)) return trace_words_fail(r, "out of memory");
    if (k->tracer_version >= 6 && in->destination_count)
        values = trace_values_read(k, r, b, l->access.mask, &l->destinations, in->destination_count, &failed);
    if (failed) return -1;
    if (add_step(k, b, l, values)) return trace_words_fail(r, "out of memory");
    k->reading->records = 0; /* the line may have no text that is kept */
    return 0;
}

/* Returns whether a text begins as a kept line: with all of it, or up to the bytes of its access. */
static inline int is_like(struct trace_instructions *reading, const trace_ahead *ahead, line_beginning *l) {
    const size_t length = l->whole ? l->whole : l->length;
    return length && (l->whole || ahead->at[length] == ' ') && is_text(reading, ahead->at, l, length);
}

/* Returns the kept line that the text ahead is like; NULL: there is none. */
static inline line_beginning *like_text(const trace_kernel *k, const trace_ahead *ahead) {
    struct trace_instructions *reading = k->reading;
    line_beginning *const last = &reading->beginnings[reading->last], *l = &reading->beginnings[last->next];
    if (!is_like(reading, ahead, l)) {
        uint32_t place = place_of(k, ahead->at);
        if (!is_like(reading, ahead, beginning_at(reading, place))) place ^= 1;
        l = beginning_at(reading, place);
        if (!is_like(reading, ahead, l)) return NULL;
        last->next = reading->places[place];
    }
    return l;
}

/* Returns whether reading the addresses of a line costs no more than finding their pattern. */
static inline int is_read_quickly(const trace_access *access) { return gpump_bits_count64(access->mask) <= FEW_LANES; }

/* Returns the pattern of the end of a line, which begins at `at`: the guess, or another one, which becomes the guess;
 * NULL: there is none, or it is not worth finding. */
static inline const trace_pattern *pattern_of(const struct trace_instructions *reading, const trace_access *access,
                                              const trace_pattern **guess, char form, const char *at) {
    const trace_pattern *pattern = *guess;
    const char *end;
    if (pattern && pattern->form == form && pattern->mask == access->mask &&
        is_same(at, pattern->text, pattern->length))
        return pattern;
    if (is_read_quickly(access)) return NULL;
    if (!(end = (const char *)memchr(at, '\n', TRACE_PATTERN_BYTES))) return NULL;
    pattern = trace_patterns_find(&reading->patterns, form, access->mask, at, (size_t)(end + 1 - at));
    if (pattern) *guess = pattern;
    return pattern;
}

/* Keeps the addresses of an access that differs from one before it in them. behind: what follows the beginning of its
 * line, TRACE_ACCESS_BYTES at least. Returns what follows the line; NULL: the line has to be read with all tests. */
static inline const char *keep_access(trace_kernel *k, trace_block *b, const trace_access *access, int is_generic,
                                      const trace_pattern **guess, const char *behind) {
    const char *at = trace_patterns_base(behind);
    const trace_pattern *pattern;
    uint64_t first;
    if (!at || !access->mask || !(at = trace_words_quick_address(at, &first))) return NULL;
    if (is_generic && trace_addresses_space(k, first) != access->space) return NULL;
    pattern = pattern_of(k->reading, access, guess, behind[1], at);
    if (pattern) return trace_patterns_keep(k, access, pattern, first, b) ? at + pattern->length : NULL;
    if (!is_read_quickly(access) && k->reading->patterns.count < TRACE_PATTERNS) return NULL;
    at = trace_addresses_quick(k, access, behind[1] == '1', first, at, b);
    if (at) at = (const char *)memchr(at, '\n', (size_t)(behind + TRACE_ACCESS_BYTES - at));
    return at ? at + 1 : NULL;
}

/* The same for the line ahead, which is like a kept one but for its addresses. */
static const char *access_like_text(trace_kernel *k, const trace_ahead *ahead, trace_block *b, line_beginning *l) {
    if (may_have_values(k, l)) return NULL;
    return keep_access(k, b, &l->access, (int)l->is_generic, guess_of(l), ahead->at + l->length);
}

/* A line of the warp that is recorded has been taken. */
static void record(struct trace_instructions *reading, line_beginning *l) {
    followed_warp *followed = reading->way;
    followed_lines *lines = lines_of(reading, followed);
    line_run *run = followed->run_count ? &lines->runs[followed->run_count - 1] : NULL;
    const uint32_t bytes = l->whole ? l->whole : l->length;
    if (followed->run_count == FOLLOWED_RUNS || followed->bytes + bytes > FOLLOWED_BYTES) {
        reading->records = 0;
        return;
    }
    if (!run || run->beginning || run->bytes + l->whole > TRACE_COMPARED_BYTES) {
        run = &lines->runs[followed->run_count++];
        memset(run, 0, sizeof *run);
        run->at = followed->bytes;
    }
    memcpy(lines->text + followed->bytes, l->text, bytes);
    followed->bytes += bytes;
    run->count++;
    if (l->whole) {
        run->bytes += l->whole;
    } else {
        run->beginning = l->length;
        run->access = l->access;
        run->is_generic = l->is_generic;
        run->pattern = *guess_of(l);
    }
}

/* Takes a run whose text lies ahead. Returns how many of its lines have been taken: all, or those without an access. */
static inline uint32_t take_run(trace_kernel *k, trace_ahead *ahead, trace_block *b, line_run *run) {
    const char *end = ahead->at + run->bytes;
    uint32_t taken = run->count;
    if (run->beginning) {
        const char *const behind =
            keep_access(k, b, &run->access, (int)run->is_generic, &run->pattern, end + run->beginning);
        if (behind)
            end = behind;
        else
            taken--;
    }
    if (!taken) return 0;
    b->step_count += taken;
    trace_text_skip(ahead, end);
    ahead->number += taken - 1;
    return taken;
}

/* Takes runs of lines that are those of the warp that is followed, but for addresses. Returns how many lines. */
static uint64_t take_runs(trace_kernel *k, trace_block *b, uint64_t most) {
    struct trace_instructions *reading = k->reading;
    const followed_warp *followed = reading->way;
    followed_lines *const lines = lines_of(reading, followed);
    trace_ahead *const ahead = trace_text_ahead(k->text);
    const uint32_t first = reading->run_step;
    uint32_t taken = 0;
    while (reading->run < followed->run_count) {
        line_run *run = &lines->runs[reading->run];
        if (reading->run_step - first + run->count > most ||
            (ahead->length < 2 * TRACE_COMPARED_BYTES && !trace_text_fill(k->text, 2 * TRACE_COMPARED_BYTES)) ||
            memcmp(ahead->at, lines->text + run->at, run->bytes + run->beginning))
            break;
        taken = take_run(k, ahead, b, run);
        if (taken < run->count) return reading->run_step - first + taken;
        reading->run++;
        reading->run_step += run->count;
    }
    return reading->run_step - first;
}

/* The same, where the next line is the first one of a run. The access of a run may have been read by itself. */
static inline uint64_t take_next_runs(trace_kernel *k, trace_block *b, uint64_t most) {
    struct trace_instructions *reading = k->reading;
    const followed_warp *followed = reading->way;
    const uint32_t index = (uint32_t)b->step_count - reading->first;
    if (!followed->is_whole || !reading->follows) return 0;
    if (reading->run < followed->run_count &&
        reading->run_step + lines_of(reading, followed)->runs[reading->run].count == index) {
        reading->run_step = index;
        reading->run++;
    }
    return reading->run_step == index ? take_runs(k, b, most) : 0;
}

uint64_t trace_instructions_compare(trace_kernel *k, trace_block *b, uint64_t most) {
    struct trace_instructions *reading = k->reading;
    trace_ahead *const ahead = trace_text_ahead(k->text);
    uint64_t taken;
    for (taken = take_next_runs(k, b, most); taken < most; taken += 1 + take_next_runs(k, b, most - taken - 1)) {
        line_beginning *l;
        const char *end;
        if (ahead->length < TRACE_COMPARED_BYTES && !trace_text_fill(k->text, TRACE_COMPARED_BYTES)) break;
        l = like_text(k, ahead);
        if (!l || !has_lanes(k->reading, l)) break;
        end = l->whole ? ahead->at + l->whole : access_like_text(k, ahead, b, l);
        if (!end) break;
        if (add_step(k, b, l, NULL)) { /* memory is out: reading the line will say so */
            b->access_count -= (size_t)has_access(l);
            break;
        }
        reading->last = reading->beginnings[reading->last].next;
        trace_text_skip(ahead, end);
        if (reading->records) record(reading, l);
    }
    return taken;
}

int trace_instruction_exit(trace_kernel *k, line_reader *r, trace_block *b) {
    line_beginning exit;
    sass_line l;
    memset(&l, 0, sizeof l);
    memcpy(l.opcode, "EXIT", 5);
    memset(&exit, 0, sizeof exit);
    if ((exit.instruction = find_instruction(k, r, UINT32_MAX, &l)) == GPUMP_NONE) return -1;
    return add_step(k, b, &exit, NULL) ? trace_words_fail(r, "out of memory") : 0;
}
