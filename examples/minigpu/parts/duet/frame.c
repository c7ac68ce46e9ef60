#include "parts/duet/frame.h"

#include <stdlib.h>
#include <string.h>

#define GRANULE GPUMP_DUET_GRANULE_BYTES

/* ==== where a warp may be switched out ==== */

/* Returns whether the instruction uses or writes a register of the set. take: 1 removes these registers. */
static int touches(const instruction *in, uint64_t *set, int take) {
    uint32_t list[2 * (INSTRUCTION_SOURCES + INSTRUCTION_DESTINATIONS) + 2], count = 0, i, found = 0;
    for (i = 0; i < in->source_count + in->destination_count; i++) {
        const operand *o = i < in->source_count ? &in->sources[i] : &in->destinations[i - in->source_count];
        uint32_t n;
        for (n = 0; o->kind == OPERAND_REGISTER && n < o->words; n++) list[count++] = o->index + n;
    }
    for (i = 0; i < count; i++) {
        if (!gpump_bits_get(set, list[i])) continue;
        found = 1;
        if (take) gpump_bits_clear(set, list[i]);
    }
    return (int)found;
}

static int loads_global(const instruction *in) {
    return in->unit == UNIT_MEMORY && instruction_only_reads(in) &&
           (in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC || in->space == SPACE_LOCAL);
}

/* Returns the loads that may be in flight before each instruction, by a forward analysis to a fixed point. An
 * instruction that touches a register of a load waits for the load. */
static uint64_t *loads_under_way(const kernel_program *program) {
    uint64_t *before = (uint64_t *)calloc((size_t)(program->count + 1) * CONTEXT_LIVE_WORDS, sizeof *before);
    uint32_t i, n, word, changed = 1;
    while (before && changed) {
        changed = 0;
        for (i = 0; i < program->count; i++) {
            const instruction *in = &program->instructions[i];
            const int jumps = instruction_branches(in);
            const uint32_t ways[2] = {jumps && in->guard == INSTRUCTION_NONE ? NONE : i + 1, jumps ? in->target : NONE};
            uint64_t after[CONTEXT_LIVE_WORDS];
            memcpy(after, before + (size_t)i * CONTEXT_LIVE_WORDS, sizeof after);
            touches(in, after, 1);
            for (n = 0; loads_global(in) && n < in->destination_count; n++)
                for (word = 0; in->destinations[n].kind == OPERAND_REGISTER && word < in->destinations[n].words; word++)
                    gpump_bits_set(after, in->destinations[n].index + word);
            for (n = 0; n < 2; n++) {
                uint64_t *next = before + (size_t)ways[n] * CONTEXT_LIVE_WORDS;
                if (ways[n] == NONE) continue;
                for (word = 0; word < CONTEXT_LIVE_WORDS; word++) {
                    changed |= (after[word] & ~next[word]) != 0;
                    next[word] |= after[word];
                }
            }
        }
    }
    return before;
}

static uint32_t granules_of(uint64_t bytes) { return (uint32_t)((bytes + GRANULE - 1) / GRANULE); }

/* Returns the bytes of the registers of a warp before an instruction. */
static uint64_t bytes_before(const frame_view *view, const kernel_program *program, uint32_t index) {
    uint64_t bytes = 0, live[CONTEXT_LIVE_WORDS];
    uint32_t n;
    if (view->patterns && context_live_bytes(view->view, view->patterns, index, &bytes) == GPUMP_OK) return bytes;
    if (context_live_diverged(view->view, index, live) != GPUMP_OK) return (uint64_t)program->registers * GRANULE;
    for (n = 0; n < program->registers; n++) bytes += gpump_bits_get(live, n) ? GRANULE : 0;
    return bytes;
}

uint32_t frame_granules(const frame_view *view, const kernel_program *program) {
    uint64_t *under_way = loads_under_way(program);
    uint32_t i, most = 0;
    for (i = 0; i < program->count; i++) {
        const instruction *in = &program->instructions[i];
        uint32_t granules;
        if (in->opcode != OPCODE_BAR && (!under_way || !touches(in, under_way + (size_t)i * CONTEXT_LIVE_WORDS, 0)))
            continue;
        granules = granules_of(bytes_before(view, program, i));
        if (granules > most) most = granules;
    }
    free(under_way);
    return most;
}

/* ==== the contents of a frame ==== */

/* Returns the lowest register of a set from `r` on; SCOREBOARD_IDS when there is none. */
static uint32_t register_from(const uint64_t *set, uint32_t r) {
    for (; r < SCOREBOARD_IDS; r = (r | 63u) + 1) {
        const uint64_t rest = set[r / 64] >> (r % 64);
        if (rest) return r + gpump_bits_lowest64(rest);
    }
    return r;
}
#define FOR_EACH_REGISTER(set, r) for (r = register_from(set, 0); r < SCOREBOARD_IDS; r = register_from(set, r + 1))

void frame_look(const frame_view *view, const kernel *k, const warp *w, frame_content *content) {
    uint64_t live[CONTEXT_LIVE_WORDS];
    uint32_t i, r;
    memset(content, 0, sizeof *content);
    context_live(view->view, k, w, live);
    for (i = 0; i < w->stack.depth; i++) content->lanes |= w->stack.entries[i].mask;
    FOR_EACH_REGISTER(live, r) {
        const uint32_t pattern =
            view->patterns ? context_pattern_of(view->view, view->patterns, w, r) : (uint32_t)GPUMP_PATTERN_UNKNOWN;
        gpump_bits_set(content->sets[pattern], r);
    }
}

void frame_add(frame_content *content, const uint64_t registers[CONTEXT_LIVE_WORDS]) {
    uint32_t i, n;
    for (i = 0; i < CONTEXT_LIVE_WORDS; i++) {
        for (n = 0; n < GPUMP_PATTERN_UNKNOWN; n++) content->sets[n][i] &= ~registers[i];
        content->sets[GPUMP_PATTERN_UNKNOWN][i] |= registers[i];
    }
}

uint32_t frame_content_granules(const frame_content *content) {
    static const uint32_t bytes_of[] = {4, 8, GRANULE}; /* by gpump_pattern */
    uint32_t i, word, bytes = 0;
    for (i = 0; i <= GPUMP_PATTERN_UNKNOWN; i++)
        for (word = 0; word < CONTEXT_LIVE_WORDS; word++) /* most words are empty */
            if (content->sets[i][word]) bytes += bytes_of[i] * gpump_bits_count64(content->sets[i][word]);
    return granules_of(bytes);
}

/* Returns the step of an affine register, from the lanes that have not exited. The lane whose distance from the first
 * lane has the fewest factors 2 tells most. Bits that no lane shows are 0. */
static uint32_t step_of(const uint32_t *values, uint32_t lanes, uint32_t first) {
    uint32_t i, lane = first, factors = 32, odd, inverse;
    for (i = first + 1; i < LANES; i++) {
        if (!(lanes >> i & 1u) || gpump_bits_lowest64(i - first) >= factors) continue;
        factors = gpump_bits_lowest64(i - first);
        lane = i;
    }
    if (lane == first) return 0;
    inverse = odd = (lane - first) >> factors;
    for (i = 0; i < 4; i++) inverse *= 2u - odd * inverse; /* Newton, modulo 2^32 */
    return ((values[lane] - values[first]) >> factors) * inverse;
}

void frame_pack(const frame_content *content, const uint32_t *registers, uint8_t *frame) {
    const uint32_t first = content->lanes ? gpump_bits_lowest64(content->lanes) : 0;
    uint32_t r;
    FOR_EACH_REGISTER(content->sets[GPUMP_PATTERN_UNKNOWN], r) {
        memcpy(frame, registers + (size_t)r * LANES, GRANULE);
        frame += GRANULE;
    }
    FOR_EACH_REGISTER(content->sets[GPUMP_PATTERN_UNIFORM], r) {
        memcpy(frame, registers + (size_t)r * LANES + first, 4);
        frame += 4;
    }
    FOR_EACH_REGISTER(content->sets[GPUMP_PATTERN_AFFINE], r) {
        const uint32_t *values = registers + (size_t)r * LANES, step = step_of(values, content->lanes, first);
        const uint32_t base = values[first] - first * step;
        memcpy(frame, &base, 4);
        memcpy(frame + 4, &step, 4);
        frame += 8;
    }
}

void frame_unpack(const frame_content *content, uint32_t *registers, const uint8_t *frame) {
    uint32_t r, lane, value, step;
    FOR_EACH_REGISTER(content->sets[GPUMP_PATTERN_UNKNOWN], r) {
        memcpy(registers + (size_t)r * LANES, frame, GRANULE);
        frame += GRANULE;
    }
    FOR_EACH_REGISTER(content->sets[GPUMP_PATTERN_UNIFORM], r) {
        memcpy(&value, frame, 4);
        for (lane = 0; lane < LANES; lane++) registers[(size_t)r * LANES + lane] = value;
        frame += 4;
    }
    FOR_EACH_REGISTER(content->sets[GPUMP_PATTERN_AFFINE], r) {
        memcpy(&value, frame, 4);
        memcpy(&step, frame + 4, 4);
        for (lane = 0; lane < LANES; lane++) registers[(size_t)r * LANES + lane] = value + lane * step;
        frame += 8;
    }
}

uint32_t frame_dynamic_granules(const frame_content *content, const uint32_t *registers, uint32_t count) {
    uint64_t live[CONTEXT_LIVE_WORDS];
    gpump_compress_layout layout;
    gpump_compress_counts counts;
    uint32_t i;
    for (i = 0; i < CONTEXT_LIVE_WORDS; i++) live[i] = content->sets[0][i] | content->sets[1][i] | content->sets[2][i];
    if (count > GPUMP_COMPRESS_MAX_REGISTERS ||
        gpump_compress_layout_init(&layout, LANES, count, LANES, LANES, NULL) != GPUMP_OK ||
        gpump_compress_count(&layout, registers, live, 0, &counts, NULL) != GPUMP_OK)
        return count;
    return granules_of(counts.bytes[GPUMP_COMPRESS_FORM_WARP]);
}
