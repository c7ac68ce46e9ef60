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
    if (b->place_capacity < b->step_capacity) {
        uint32_t *grown = (uint32_t *)realloc(b->value_places, b->step_capacity * sizeof *grown);
        if (!grown) return -1;
        b->value_places = grown;
        b->place_capacity = b->step_capacity;
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

const uint32_t *trace_values_read(trace_kernel *k, line_reader *r, trace_block *b, uint32_t mask, uint32_t registers,
                                  int *failed) {
    const uint32_t wanted = registers * gpump_bits_count64(mask);
    uint32_t *to, count = 0, lane = 0, left = mask;
    uint64_t value;
    if (!find_values(r)) return NULL;
    if (make_room(b)) *failed = 1, (void)trace_words_fail(r, "out of memory");
    if (*failed) return NULL;
    to = b->values + b->value_count;
    memset(to, 0, (size_t)registers * LANES * sizeof *to);
    for (trace_words_skip_spaces(r); *r->at; trace_words_skip_spaces(r), count++) {
        *failed = trace_words_number(r, 16, UINT32_MAX, "the value of a register", &value) != 0;
        if (*failed) return NULL;
        if (count >= wanted) continue;
        lane = gpump_bits_lowest64(left);
        to[count / gpump_bits_count64(mask) * LANES + lane] = (uint32_t)value;
        left &= left - 1;
        if (!left) left = mask;
    }
    if (count != wanted) k->odd_values++;
    if (count != wanted || !wanted) return NULL;
    fill_places(b, b->step_count - 1);
    b->value_places[b->place_count++] = (uint32_t)b->value_count;
    b->value_count += (size_t)registers * LANES;
    return to;
}
