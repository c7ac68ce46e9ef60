#include "sass/trace_addresses.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_BYTES (UINT64_C(1) << 24) /* of shared and local memory in generic addresses */
#define LOCAL_BYTES 1024u                /* local memory of a thread that is told apart */
#define LOCAL_BLOCKS 256u                /* blocks whose local memory is told apart */

/* ---- from text ---- */

int trace_addresses_read(line_reader *r, line_addresses *a) {
    uint64_t mode, address = 0, first_step = 0, differs = 0;
    int64_t step = 0;
    uint32_t n;
    if (r->at[0] == ' ' && r->at[1] >= '0' && r->at[1] <= '2' && r->at[2] == ' ')
        mode = (uint64_t)(r->at[1] - '0'), r->at += 2;
    else if (trace_words_number(r, 10, 2, "the form of the addresses, 0 to 2,", &mode))
        return -1;
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

/* ---- to the machine ---- */

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

/* Local memory has no addresses in device memory. It gets some that no other memory has. Word by word, those of the
 * lanes lie side by side, as they do on a GPU. An access of more words takes the same rows of 128 bytes. */
static uint64_t local_address(uint64_t block, uint32_t warp, uint32_t lane, uint32_t width, uint64_t address) {
    const uint64_t offset = address % LOCAL_BYTES, each = width < 4 ? 4 : width;
    const uint64_t frame = ((block % LOCAL_BLOCKS) * TRACE_WARPS + warp) * LOCAL_BYTES * LANES;
    return (UINT64_C(1) << 62) + frame + offset / each * each * LANES + lane * each + offset % each;
}

void trace_addresses_list(line_addresses *a) {
    uint32_t n;
    for (n = 0; n < a->count; n++) a->list[n] = a->first + n * a->stride;
    a->is_straight = 0;
}

uint32_t trace_addresses_space(const trace_kernel *k, uint64_t address) {
    if (address - k->shared_base < WINDOW_BYTES) return SPACE_SHARED;
    return address - k->local_base < WINDOW_BYTES ? SPACE_LOCAL : SPACE_GLOBAL;
}

/* Turns the first address of the traced program into that of the machine, where all addresses of an access move with
 * it. low, high: the least and the largest address; bits: the first one and all distances, one or the other. Returns 0
 * when they do not move together, or one of them is wrong: then each is to be placed alone. */
static int place_together(const trace_kernel *k, uint32_t space, uint32_t width, uint64_t low, uint64_t high,
                          uint64_t bits, uint64_t *first) {
    if (low > high || (width & (width - 1)) || (bits & (width - 1))) return 0;
    if (space == SPACE_GLOBAL) {
        const uint64_t placed =
            low / TRACE_REGION_BYTES == high / TRACE_REGION_BYTES ? map_address(k->map, k->space, *first) : 0;
        if (placed) *first = placed;
        return placed != 0;
    }
    if (space == SPACE_SHARED) {
        const uint64_t base = k->shared_base, shared = k->program.shared_bytes;
        const int all_in_window = base && low >= base && high - base < WINDOW_BYTES;
        const uint64_t moved = all_in_window ? base : 0;
        if (!all_in_window && base && high >= base && low < base + WINDOW_BYTES) return 0;
        if (high - moved > shared || width > shared - (high - moved)) return 0;
        *first -= moved;
        return 1;
    }
    return space == SPACE_CONST;
}

/* Returns whether a trace_reach has room for a stride. */
static inline int is_stride(uint64_t stride) { return (uint64_t)((int64_t)(stride << 2) >> 2) == stride; }

static int place_straight(const trace_kernel *k, const trace_access *access, line_addresses *a) {
    const uint64_t length = (a->count - 1) * a->stride, end = a->first + length;
    const uint64_t low = (int64_t)length >= 0 ? a->first : end, high = (int64_t)length >= 0 ? end : a->first;
    return place_together(k, access->space, access->width, low, high, a->first | a->stride, &a->first);
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

static void place_local(uint64_t block, uint32_t warp, const trace_access *l, line_addresses *a) {
    uint32_t n, left = l->mask;
    for (n = 0; n < a->count; n++, left &= left - 1)
        a->list[n] = local_address(block, warp, gpump_bits_lowest64(left), l->width, a->list[n]);
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
static int place_list(const trace_kernel *k, line_reader *r, const trace_access *l, uint64_t block, uint32_t warp,
                      line_addresses *a) {
    if (l->space == SPACE_SHARED && place_shared(k, r, l->width, a)) return -1;
    if (!is_aligned(r, l->width, a)) return -1;
    if (l->space == SPACE_LOCAL) place_local(block, warp, l, a);
    return (l->space == SPACE_LOCAL || l->space == SPACE_GLOBAL) && place_global(k, r, a) ? -1 : 0;
}

int trace_addresses_place(const trace_kernel *k, line_reader *r, const trace_access *access, uint64_t block,
                          uint32_t warp, line_addresses *a) {
    if (a->is_straight && is_stride(a->stride) && place_straight(k, access, a)) return 0;
    if (a->is_straight) trace_addresses_list(a);
    return place_list(k, r, access, block, warp, a);
}

/* ---- kept ---- */

int trace_addresses_reserve(trace_pool *pool, trace_block *b, size_t capacity) {
    const size_t old_bytes = b->access_count * sizeof(trace_reach);
    trace_reach *grown = b->accesses;
    if (capacity >= UINT32_MAX ||
        !(grown = (trace_reach *)trace_pool_grow(pool, grown, old_bytes, capacity * sizeof *grown)))
        return -1;
    b->accesses = grown;
    b->access_capacity = capacity;
    return 0;
}

/* Makes room for the addresses of one more access in a list. Returns likewise. */
static int reserve_list(trace_pool *pool, trace_block *b) {
    const size_t old_bytes = b->list_count * sizeof(uint64_t), capacity = b->list_capacity * 2 + 1024;
    uint64_t *grown = b->lists;
    if (b->list_count + LANES <= b->list_capacity) return 0;
    if (!(grown = (uint64_t *)trace_pool_grow(pool, grown, old_bytes, capacity * sizeof *grown))) return -1;
    b->lists = grown;
    b->list_capacity = capacity;
    return 0;
}

/* Makes room for one more access. Returns likewise. */
static inline int make_room(trace_pool *pool, trace_block *b) {
    if (b->access_count < b->access_capacity) return 0;
    return trace_addresses_reserve(pool, b, b->access_capacity * 2 + 512);
}

/* Adds an access. There is room. */
static inline void add_access(trace_block *b, uint64_t first, uint64_t others) {
    trace_reach *to = &b->accesses[b->access_count++];
    to->first = first;
    to->others = others;
}

/* The same, of addresses that lie behind the block's lists. */
static inline void add_list(trace_block *b, uint32_t count) {
    add_access(b, b->lists[b->list_count], (uint64_t)b->list_count << 2 | TRACE_LIST);
    b->list_count += count;
}

int trace_addresses_keep(trace_pool *pool, trace_block *b, const line_addresses *a) {
    if (make_room(pool, b) || (!a->is_straight && reserve_list(pool, b))) return -1;
    if (a->is_straight) {
        add_access(b, a->first, a->stride << 2 | TRACE_STRIDE);
    } else {
        memcpy(b->lists + b->list_count, a->list, a->count * sizeof *a->list);
        add_list(b, a->count);
    }
    return 0;
}

/* Reads the differences of a list. Returns what follows them; NULL when a word has another form. *bits: all addresses,
 * one or the other. *differs: 0 when one stride gives them all. */
static const char *quick_list(const char *at, uint32_t count, uint64_t *list, uint64_t *low, uint64_t *high,
                              uint64_t *bits, uint64_t *differs) {
    uint64_t address = list[0], stride = 0;
    int64_t step;
    uint32_t n;
    *low = *high = *bits = address;
    *differs = 0;
    for (n = 1; n < count; n++) {
        if (!(at = trace_words_quick_signed(at, &step))) return NULL;
        list[n] = address += (uint64_t)step;
        if (n == 1) stride = (uint64_t)step;
        *differs |= (uint64_t)step ^ stride;
        *bits |= address;
        if (address < *low) *low = address;
        if (address > *high) *high = address;
    }
    return at;
}

const char *trace_addresses_quick(trace_kernel *k, const trace_access *access, int is_straight, uint64_t first,
                                  const char *at, trace_block *b) {
    const uint32_t count = gpump_bits_count64(access->mask);
    uint64_t *list, low = first, high = first, bits, differs = 0, placed = first, stride = 0;
    int64_t read;
    uint32_t n;
    if (make_room(&k->pool, b) || reserve_list(&k->pool, b)) return NULL;
    list = b->lists + b->list_count;
    list[0] = first;
    if (is_straight) {
        if (!(at = trace_words_quick_signed(at, &read))) return NULL;
        stride = (uint64_t)read;
        bits = first | stride;
        if (read < 0)
            low += (count - 1) * stride;
        else
            high += (count - 1) * stride;
    } else {
        if (!(at = quick_list(at, count, list, &low, &high, &bits, &differs))) return NULL;
        if (count > 1) stride = list[1] - first;
    }
    if (!place_together(k, access->space, access->width, low, high, bits, &placed)) return NULL;
    if (!differs && !is_stride(stride)) return NULL;
    if (differs) {
        for (n = 0; n < count; n++) list[n] += placed - first;
        add_list(b, count);
    } else {
        add_access(b, placed, stride << 2 | TRACE_STRIDE);
    }
    return at;
}

/* ---- patterns ---- */

const char *trace_patterns_base(const char *at) {
    return at[0] == ' ' && (at[1] == '1' || at[1] == '2') && at[2] == ' ' && at[3] == '0' && at[4] == 'x' ? at + 5
                                                                                                          : NULL;
}

/* Returns the place of a pattern, or the free one where it belongs. */
static uint32_t place_of(const trace_patterns *p, char form, uint32_t mask, const char *text, size_t length) {
    uint64_t hash = ((uint64_t)mask << 8 | (uint8_t)form) * UINT64_C(0x9e3779b97f4a7c15) + length, word;
    size_t i;
    uint32_t at;
    for (i = 0; i + 8 <= length; i += 8) {
        memcpy(&word, text + i, 8);
        hash = (hash ^ hash >> 29 ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    }
    for (; i < length; i++) hash = (hash ^ hash >> 29 ^ (uint8_t)text[i]) * UINT64_C(0x9e3779b97f4a7c15);
    for (at = (uint32_t)(hash >> 40) % (2 * TRACE_PATTERNS); p->places[at]; at = (at + 1) % (2 * TRACE_PATTERNS)) {
        const trace_pattern *one = &p->patterns[p->places[at] - 1];
        if (one->length == length && one->mask == mask && one->form == form && !memcmp(one->text, text, length)) break;
    }
    return at;
}

const trace_pattern *trace_patterns_find(const trace_patterns *p, char form, uint32_t mask, const char *text,
                                         size_t length) {
    const uint32_t number = length <= TRACE_PATTERN_BYTES ? p->places[place_of(p, form, mask, text, length)] : 0;
    return number ? &p->patterns[number - 1] : NULL;
}

const trace_pattern *trace_patterns_add(trace_patterns *p, char form, uint32_t mask, const char *text, size_t length,
                                        const line_addresses *a) {
    trace_pattern *added = &p->patterns[p->count];
    uint32_t left = mask, n;
    int is_row = 1;
    if (length > TRACE_PATTERN_BYTES || p->count == TRACE_PATTERNS || !a->count) return NULL;
    p->places[place_of(p, form, mask, text, length)] = (uint16_t)++p->count;
    for (n = 0; n < a->count; n++, left &= left - 1) {
        const int64_t offset = (int64_t)(a->is_straight ? n * a->stride : a->list[n] - a->list[0]);
        added->offsets[gpump_bits_lowest64(left)] = offset;
        added->bits |= (uint64_t)offset;
        if (offset < added->low) added->low = offset;
        if (offset > added->high) added->high = offset;
        is_row &= offset == n * 4;
    }
    added->is_row = is_row && a->count == LANES;
    added->mask = mask;
    added->form = form;
    added->length = (uint32_t)length;
    memcpy(added->text, text, length);
    return added;
}

int trace_patterns_keep(trace_kernel *k, const trace_access *access, const trace_pattern *pattern, uint64_t first,
                        trace_block *b) {
    if (first + (uint64_t)pattern->low > first || first + (uint64_t)pattern->high < first || make_room(&k->pool, b) ||
        !place_together(k, access->space, access->width, first + (uint64_t)pattern->low,
                        first + (uint64_t)pattern->high, first | pattern->bits, &first))
        return 0;
    add_access(b, first, (uint64_t)(uintptr_t)pattern); /* it begins with its offsets */
    return 1;
}
