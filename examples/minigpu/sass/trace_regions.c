#include "sass/trace_regions.h"

#define PLACES (2 * TRACE_REGION_WORDS)
#define WORDS_OF_ACCESS (32u * 4) /* at most: 16 bytes of each lane, on words of their own */

/* What a region has done with a word. Read: of a part of it at least, before the region wrote that part. */
enum { WORD_READ = 1, WORD_WRITTEN, WORD_WRITTEN_IN_PART };

static void next_region(trace_region *g) {
    g->number++;
    g->count = g->instructions = g->ends_behind = 0;
}

void trace_region_begin(trace_region *g) { next_region(g); }

/* Returns the place of a word, or the free one where it belongs. */
static uint32_t place_of(const trace_region *g, uint64_t word) {
    uint32_t at = (uint32_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 40) % PLACES;
    while (g->number_of[at] == g->number && g->words[at] != word) at = (at + 1) % PLACES;
    return at;
}

/* Does a store overwrite a word that the region has read? */
static int overwrites(const trace_region *g, uint64_t space, const uint64_t *addresses, uint32_t count,
                      uint32_t bytes) {
    uint32_t i;
    for (i = 0; i < count; i++) {
        uint64_t word = addresses[i] / 4;
        for (; word <= (addresses[i] + bytes - 1) / 4; word++) {
            const uint32_t at = place_of(g, word | space);
            if (g->number_of[at] == g->number && g->access[at] == WORD_READ) return 1;
        }
    }
    return 0;
}

/* What an access makes of a word that the region has treated so before; 0: not at all. */
static uint8_t access_after(uint8_t before, int reads, int is_whole) {
    if (before == WORD_READ || before == WORD_WRITTEN) return before;
    return reads ? WORD_READ : is_whole ? WORD_WRITTEN : WORD_WRITTEN_IN_PART;
}

/* Adds the words of an access. */
static void add(trace_region *g, uint64_t space, const uint64_t *addresses, uint32_t count, uint32_t bytes, int reads) {
    uint32_t i;
    for (i = 0; i < count; i++) {
        const uint64_t end = addresses[i] + bytes;
        uint64_t word = addresses[i] / 4;
        for (; word <= (end - 1) / 4; word++) {
            const uint32_t at = place_of(g, word | space);
            const int is_new = g->number_of[at] != g->number,
                      is_whole = word * 4 >= addresses[i] && word * 4 + 4 <= end;
            g->access[at] = access_after(is_new ? 0 : g->access[at], reads, is_whole);
            g->number_of[at] = g->number;
            g->words[at] = word | space;
            g->count += (uint32_t)is_new;
        }
    }
}

static int is_irrevocable(const instruction *in) {
    return in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED || in->opcode == OPCODE_BAR;
}

trace_boundary trace_region_take(trace_region *g, uint32_t regions, const instruction *in, const uint64_t *addresses,
                                 uint32_t count) {
    const uint64_t space = (uint64_t)in->space << 60;
    const uint32_t bytes = instruction_access_bytes(in);
    const int is_store = in->opcode == OPCODE_ST || in->opcode == OPCODE_STMATRIX;
    const int is_load = in->opcode == OPCODE_LD || in->opcode == OPCODE_LDMATRIX;
    const int accesses = (is_store || is_load) && bytes && count;
    trace_boundary before = TRACE_BOUNDARY_NONE;
    if (g->ends_behind || (accesses && g->count + WORDS_OF_ACCESS > TRACE_REGION_WORDS) ||
        (accesses && is_store && overwrites(g, space, addresses, count, bytes))) {
        before = TRACE_BOUNDARY_SPARSE;
        next_region(g);
    } else if (regions > TRACE_REGIONS_SPARSE && g->instructions >= regions) {
        before = TRACE_BOUNDARY_SHORT;
        g->instructions = 0;
    }
    if (accesses) add(g, space, addresses, count, bytes, !is_store);
    g->instructions++;
    g->ends_behind = (uint32_t)is_irrevocable(in);
    return before;
}
