#include "sass/trace_values.h"

#include <stdlib.h>
#include <string.h>

#include "lanes/lanes.h"

/* Goes to the word Val, or to the end of the line. Returns 1 at the word. */
static int find_values(line_reader *r) {
    for (;;) {
        trace_words_skip_spaces(r);
        if (!*r->at) return 0;
        if (!strncmp(r->at, "Val", 3) && (!r->at[3] || r->at[3] == ' ')) break;
        r->at += strcspn(r->at, " \t");
    }
    r->at += 3;
    return 1;
}

/* Makes room for one more step's values and place. Returns -1 when memory is out. */
static int make_room(trace_block *b) {
    const size_t room = (size_t)INSTRUCTION_DESTINATIONS * LANES;
    if (b->place_capacity <= b->step_count) {
        const size_t capacity = b->step_count * 2 + 1024;
        uint32_t *grown = (uint32_t *)realloc(b->value_places, capacity * sizeof *grown);
        if (!grown) return -1;
        b->value_places = grown;
        b->place_capacity = capacity;
    }
    if (b->value_count + room > b->value_capacity) {
        const size_t capacity = b->value_capacity * 2 + 32 * room;
        uint32_t *grown = capacity < UINT32_MAX ? (uint32_t *)realloc(b->values, capacity * sizeof *grown) : NULL;
        if (!grown) return -1;
        b->values = grown;
        b->value_capacity = capacity;
    }
    return 0;
}

/* Steps without values, up to `count`. */
static void fill_places(trace_block *b, size_t count) {
    while (b->place_count < count) b->value_places[b->place_count++] = GPUMP_NONE;
}

int trace_values_end(trace_block *b) {
    if (!b->value_places) return 0;
    if (make_room(b)) return -1;
    fill_places(b, b->step_count);
    return 0;
}

/* Reads the values of one register as Accel-Sim writes them: 1 and the value of all lanes, or 32 and one for each.
 * Returns 0; 1: another number, or wider than a register; -1 with the error set. */
static int read_register(line_reader *r, uint32_t to[LANES]) {
    uint64_t count, value = 0;
    uint32_t i;
    int is_odd = 0;
    trace_words_skip_spaces(r);
    if (!*r->at) return 1;
    if (trace_words_number(r, 10, LANES, "the number of values, 1 or 32,", &count)) return -1;
    if (count != 1 && count != LANES) return 1;
    for (i = 0; i < LANES; i++) {
        if (i < count && trace_words_number(r, 16, UINT64_MAX, "the value of a register", &value)) return -1;
        is_odd |= value > UINT32_MAX;
        to[i] = (uint32_t)value;
    }
    return is_odd;
}

/* Reads the values of all destinations that a line names; those of general registers go to `to`. Returns likewise. */
static int read_destinations(line_reader *r, const trace_destinations *named, uint32_t registers, uint32_t *to) {
    uint32_t i, taken = 0, left_out[LANES];
    int result = gpump_bits_count64(named->general) == registers ? 0 : 1;
    for (i = 0; !result && i < named->count; i++)
        result = read_register(r, named->general >> i & 1 ? to + (size_t)taken++ * LANES : left_out);
    return result;
}

/* Reads the values of the lanes of the mask, register after register, as the mini-GPU writes them. Returns likewise. */
static int read_lanes(line_reader *r, uint32_t mask, uint32_t registers, uint32_t *to) {
    const uint32_t lanes = gpump_bits_count64(mask), wanted = registers * lanes;
    uint32_t count = 0, left = mask;
    uint64_t value;
    for (trace_words_skip_spaces(r); *r->at; trace_words_skip_spaces(r), count++) {
        if (trace_words_number(r, 16, UINT32_MAX, "the value of a register", &value)) return -1;
        if (count >= wanted) continue;
        to[count / lanes * LANES + gpump_bits_lowest64(left)] = (uint32_t)value;
        left &= left - 1;
        if (!left) left = mask;
    }
    return count != wanted || !wanted;
}

const uint32_t *trace_values_read(trace_kernel *k, line_reader *r, trace_block *b, uint32_t mask,
                                  const trace_destinations *named, uint32_t registers, int *failed) {
    uint32_t *to;
    int result;
    if (!find_values(r)) return NULL;
    if (make_room(b)) *failed = 1, (void)trace_words_fail(r, "out of memory");
    if (*failed) return NULL;
    to = b->values + b->value_count;
    memset(to, 0, (size_t)registers * LANES * sizeof *to);
    result = k->has_lane_values ? read_lanes(r, mask, registers, to) : read_destinations(r, named, registers, to);
    *failed = result < 0;
    k->odd_values += result > 0;
    if (result) return NULL;
    fill_places(b, b->step_count);
    b->value_places[b->place_count++] = (uint32_t)b->value_count;
    b->value_count += (size_t)registers * LANES;
    return to;
}
