#include "base/base.h"
#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

GPUMP_API const char *gpump_result_name(gpump_result result) {
    switch (result) {
#define GPUMPI_RESULT(name, value, text) \
    case GPUMP_##name: return "GPUMP_" #name;
        GPUMPI_RESULTS(GPUMPI_RESULT)
#undef GPUMPI_RESULT
    }
    return "unknown result";
}

GPUMP_API const char *gpump_result_text(gpump_result result) {
    switch (result) {
#define GPUMPI_RESULT(name, value, text) \
    case GPUMP_##name: return text;
        GPUMPI_RESULTS(GPUMPI_RESULT)
#undef GPUMPI_RESULT
    }
    return "unknown result";
}

static const char *const gpumpi_reasons[GPUMP_REASON_COUNT][2] = {
#define GPUMPI_REASON(name, text, remedy) {text, remedy},
    GPUMPI_REASONS(GPUMPI_REASON)
#undef GPUMPI_REASON
};

GPUMP_API const char *gpump_reason_text(gpump_reason reason) {
    return (unsigned)reason < (unsigned)GPUMP_REASON_COUNT ? gpumpi_reasons[reason][0] : "unknown reason";
}

GPUMP_API const char *gpump_reason_remedy(gpump_reason reason) {
    return (unsigned)reason < (unsigned)GPUMP_REASON_COUNT ? gpumpi_reasons[reason][1] : "";
}

/* The values that would have been accepted: "1 to 64", "at least 5", "8". The largest cycle stands for "no limit". */
static void gpumpi_diag_range(const gpump_diag *diag, char *text, size_t bytes) {
    const unsigned long long minimum = diag->minimum, maximum = diag->maximum;
    if (minimum == maximum)
        snprintf(text, bytes, "%llu", minimum);
    else if (maximum >= GPUMP_UNKNOWN - 1)
        snprintf(text, bytes, "at least %llu", minimum);
    else
        snprintf(text, bytes, "%llu to %llu", minimum, maximum);
}

GPUMP_API size_t gpump_diag_text(const gpump_diag *diag, char *text, size_t bytes) {
    const char *name = gpump_result_name(diag->code), *field = diag->field ? diag->field : "argument";
    /* Where a value is outside its range, the range says it all. */
    const int is_value = diag->code == GPUMP_ERROR_ARGUMENT || diag->code == GPUMP_ERROR_CONFIG;
    const int is_null = diag->code == GPUMP_ERROR_ARGUMENT && !diag->value && diag->minimum == 1 &&
                        diag->maximum == UINT64_MAX; /* as a missing pointer is reported */
    const int is_state = diag->code == GPUMP_ERROR_STATE || diag->code == GPUMP_ERROR_STALE ||
                         diag->code == GPUMP_ERROR_MEMORY; /* the value is no matter of a range */
    char place[40] = "", range[64];
    int length;
    if (diag->code == GPUMP_ERROR_FORMAT)
        snprintf(place, sizeof place, " at byte %llu", (unsigned long long)diag->index);
    else if (diag->index)
        snprintf(place, sizeof place, "[%llu]", (unsigned long long)diag->index);
    gpumpi_diag_range(diag, range, sizeof range);
    if (diag->reason != GPUMP_REASON_YES)
        length = snprintf(text, bytes, "%s: %s%s: %s; %s", name, field, place, gpump_reason_text(diag->reason),
                          gpump_reason_remedy(diag->reason));
    else if (diag->code == GPUMP_ERROR_LAYOUT)
        length = snprintf(text, bytes, "%s: the host has layout %08llx of room %s, the library %08llx; %s", name,
                          (unsigned long long)diag->value, field, (unsigned long long)diag->minimum,
                          gpump_result_text(diag->code));
    else if (strstr(field, ": ")) /* a sentence: cause and remedy */
        length = snprintf(text, bytes, diag->index ? "%s: %s (number %llu)" : "%s: %s", name, field,
                          (unsigned long long)diag->index);
    else if (is_null)
        length = snprintf(text, bytes, "%s: %s%s is NULL, must point to an object", name, field, place);
    else if ((diag->minimum == diag->maximum && (is_state || diag->value == diag->minimum)) ||
             (diag->code == GPUMP_ERROR_UNKNOWN_NAME && !diag->maximum))
        length = snprintf(text, bytes, "%s: %s%s: %s", name, field, place, gpump_result_text(diag->code));
    else
        length = snprintf(text, bytes, "%s: %s%s is %llu, must be %s%s%s", name, field, place,
                          (unsigned long long)diag->value, range, is_value ? "" : "; ",
                          is_value ? "" : gpump_result_text(diag->code));
    return length < 0 ? 0 : (size_t)length;
}

GPUMP_API gpump_result gpumpi_fail(gpump_diag *diag, gpump_result code, const char *field, uint64_t index,
                                   uint64_t value, uint64_t minimum, uint64_t maximum) {
    if (diag) {
        diag->code = code;
        diag->reason = GPUMP_REASON_YES;
        diag->field = field;
        diag->index = index;
        diag->value = value;
        diag->minimum = minimum;
        diag->maximum = maximum;
    }
    return code;
}

GPUMP_API gpump_result gpumpi_bad_argument(gpump_diag *diag, const char *field, uint64_t index, uint64_t value,
                                           uint64_t minimum, uint64_t maximum) {
    return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, field, index, value, minimum, maximum);
}
GPUMP_API gpump_result gpumpi_bad_config(gpump_diag *diag, const char *field, uint64_t index, uint64_t value,
                                         uint64_t minimum, uint64_t maximum) {
    return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, field, index, value, minimum, maximum);
}
GPUMP_API gpump_result gpumpi_bad_bytes(gpump_diag *diag, const char *field, uint64_t index, uint64_t value,
                                        uint64_t minimum, uint64_t maximum) {
    return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, field, index, value, minimum, maximum);
}

GPUMP_API gpump_result gpumpi_fail_at(gpump_diag *diag, gpump_result code, const char *field, uint64_t index) {
    return gpumpi_fail(diag, code, field, index, 0, 0, 0);
}

GPUMP_API gpump_result gpumpi_null(gpump_diag *diag, const char *argument) {
    return gpumpi_bad_argument(diag, argument, 0, 0, 1, UINT64_MAX);
}

GPUMP_API gpump_result gpumpi_check_limits(const void *config, const gpumpi_limit *limits, size_t count,
                                           gpump_diag *diag) {
    for (size_t i = 0; i < count; i++) {
        uint32_t value;
        memcpy(&value, (const char *)config + limits[i].at, sizeof value);
        if (value < limits[i].minimum || value > limits[i].maximum)
            return gpumpi_bad_config(diag, limits[i].field, 0, value, limits[i].minimum, limits[i].maximum);
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpumpi_range(gpump_diag *diag, const char *field, uint64_t value, uint64_t minimum,
                                    uint64_t maximum) {
    if (value >= minimum && value <= maximum) return GPUMP_OK;
    return gpumpi_bad_config(diag, field, 0, value, minimum, maximum);
}

GPUMP_API gpump_result gpumpi_refuse(gpump_diag *diag, gpump_reason reason, const char *field, uint64_t index) {
    gpumpi_fail(diag, GPUMP_ERROR_REFUSED, field, index, 0, 0, 0);
    if (diag) diag->reason = reason;
    return GPUMP_ERROR_REFUSED;
}

static void *gpumpi_default_reallocate(void *user, void *pointer, size_t old_bytes, size_t new_bytes) {
    (void)user;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, new_bytes);
}

GPUMP_API gpump_allocator gpumpi_allocator_default(void) {
    gpump_allocator allocator;
    allocator.reallocate = gpumpi_default_reallocate;
    allocator.user = NULL;
    return allocator;
}

GPUMP_API uint32_t gpumpi_bits_count64(uint64_t word) { return gpump_bits_count64(word); }

GPUMP_API uint64_t gpumpi_bits_for(uint64_t count) {
    uint64_t width = 0;
    while (width < 64 && ((uint64_t)1 << width) < count) width++;
    return width;
}

GPUMP_API uint32_t gpump_bits_count(const uint64_t *set, uint32_t words) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < words; i++) count += gpump_bits_count64(set[i]);
    return count;
}

GPUMP_API uint64_t gpumpi_hash_u32s(uint64_t hash, const uint32_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) hash = gpump_hash_u64(hash, values[i]);
    return hash;
}

GPUMP_API uint64_t gpumpi_hash_u64s(uint64_t hash, const uint64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) hash = gpump_hash_u64(hash, values[i]);
    return hash;
}

GPUMP_API uint64_t gpump_hash_bytes(uint64_t hash, const void *bytes, size_t count) {
    const unsigned char *p = (const unsigned char *)bytes;
    for (size_t i = 0; i < count; i++) hash = gpump_hash_u64(hash, p[i]);
    return hash;
}

/* a * b as high and low words */
static void gpumpi_multiply(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low) {
    uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
    uint64_t middle = (p00 >> 32) + (p01 & 0xffffffffu) + (p10 & 0xffffffffu);
    *low = (p00 & 0xffffffffu) | (middle << 32);
    *high = p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
}

static uint64_t gpumpi_muldiv(uint64_t a, uint64_t b, uint64_t c, int round_up) {
    uint64_t high, low, quotient = 0, remainder;
    if (c == 0) return UINT64_MAX;
    high = 0;
    low = a * b;
    if ((a | b) >> 32) gpumpi_multiply(a, b, &high, &low);
    if (high == 0) {
        quotient = low / c;
        return round_up && low % c ? quotient + 1 : quotient;
    }
    if (high >= c) return UINT64_MAX;
    remainder = high;
    for (int bit = 63; bit >= 0; bit--) { /* long division; the remainder stays below c */
        uint64_t carry = remainder >> 63;
        remainder = (remainder << 1) | ((low >> bit) & 1u);
        if (carry || remainder >= c) {
            remainder -= c;
            quotient |= (uint64_t)1 << bit;
        }
    }
    return round_up && remainder ? gpump_add_saturated(quotient, 1) : quotient;
}

GPUMP_API uint64_t gpump_muldiv_down(uint64_t a, uint64_t b, uint64_t c) { return gpumpi_muldiv(a, b, c, 0); }
GPUMP_API uint64_t gpump_muldiv_up(uint64_t a, uint64_t b, uint64_t c) { return gpumpi_muldiv(a, b, c, 1); }

GPUMP_API int gpumpi_compare_products(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    uint64_t left_high, left_low, right_high, right_low;
    gpumpi_multiply(a, b, &left_high, &left_low);
    gpumpi_multiply(c, d, &right_high, &right_low);
    if (left_high != right_high) return left_high < right_high ? -1 : 1;
    return left_low == right_low ? 0 : left_low < right_low ? -1 : 1;
}

GPUMP_API gpump_result gpumpi_head_check_memory(const void *memory, size_t bytes, uint64_t needed, gpump_diag *diag) {
    if (!memory) return gpumpi_bad_argument(diag, "memory", 0, 0, 1, UINT64_MAX);
    if ((uintptr_t)memory % 8u)
        return gpumpi_bad_argument(diag, "memory is not aligned: its address must be a multiple of 8", 0,
                                   (uintptr_t)memory % 8u, 0, 0);
    if (bytes < needed) return gpumpi_fail(diag, GPUMP_ERROR_CAPACITY, "bytes", 0, bytes, needed, UINT64_MAX);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpumpi_head_init(void *memory, size_t bytes, uint64_t magic, uint64_t layout, uint64_t needed,
                                        gpump_diag *diag) {
    gpumpi_head *head = (gpumpi_head *)memory;
    gpump_result result = gpumpi_head_check_memory(memory, bytes, needed, diag);
    if (result) return result;
    memset(memory, 0, (size_t)needed);
    head->magic = magic;
    head->layout = layout;
    head->bytes = needed;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpumpi_head_adopt(const void *memory, size_t bytes, uint64_t magic, uint64_t layout,
                                         uint64_t needed, gpump_diag *diag) {
    gpump_result result = gpumpi_head_check_memory(memory, bytes, sizeof(gpumpi_head), diag);
    const gpumpi_head *head = (const gpumpi_head *)memory;
    if (result) return result;
    if (head->magic != magic) return gpumpi_bad_bytes(diag, "magic", 0, head->magic, magic, magic);
    if (head->layout != layout)
        return gpumpi_bad_bytes(diag, "layout", offsetof(gpumpi_head, layout), head->layout, layout, layout);
    if (head->bytes != needed)
        return gpumpi_bad_bytes(diag, "bytes", offsetof(gpumpi_head, bytes), head->bytes, needed, needed);
    if (bytes < needed) return gpumpi_bad_bytes(diag, "bytes", 0, bytes, needed, UINT64_MAX);
    return GPUMP_OK;
}

/* ---- sparse map: linear probing, backward-shift deletion, at most half full ---- */
struct gpumpi_map {
    uint64_t slots; /* a power of two, at least twice the capacity */
    uint64_t capacity;
    uint64_t count;
    uint64_t unused;
};

static uint64_t gpumpi_map_slots(uint32_t capacity) {
    uint64_t slots = 2;
    while (slots < (uint64_t)capacity * 2u) slots *= 2;
    return slots;
}
static uint64_t *gpumpi_map_entries(gpumpi_map *map) {
    return (uint64_t *)(void *)(map + 1);
} /* per slot: key, value, used */
static const uint64_t *gpumpi_map_entries_const(const gpumpi_map *map) {
    return (const uint64_t *)(const void *)(map + 1);
}
static uint64_t gpumpi_map_home(const gpumpi_map *map, uint64_t key) {
    return gpump_hash_u64(GPUMP_HASH_SEED, key) & (map->slots - 1);
}
/* The slot that holds key, or the empty slot where the probe ends. */
static uint64_t gpumpi_map_find(const gpumpi_map *map, uint64_t key) {
    const uint64_t *entries = gpumpi_map_entries_const(map);
    uint64_t slot = gpumpi_map_home(map, key);
    while (entries[slot * 3 + 2] && entries[slot * 3] != key) slot = (slot + 1) & (map->slots - 1);
    return slot;
}

GPUMP_API gpump_result gpumpi_map_bytes(uint32_t capacity, size_t *bytes) {
    uint64_t needed;
    if (!bytes || capacity == 0 || capacity > (1u << 30)) return GPUMP_ERROR_ARGUMENT;
    needed = sizeof(gpumpi_map) + gpumpi_map_slots(capacity) * 24u;
    if (needed > SIZE_MAX) return GPUMP_ERROR_ARGUMENT;
    *bytes = (size_t)needed;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpumpi_map_init(void *memory, size_t bytes, uint32_t capacity, gpumpi_map **map) {
    size_t needed = 0;
    gpump_result result = map ? gpumpi_map_bytes(capacity, &needed) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    result = gpumpi_head_check_memory(memory, bytes, needed, NULL);
    if (result) return result;
    memset(memory, 0, needed);
    *map = (gpumpi_map *)memory;
    (*map)->slots = gpumpi_map_slots(capacity);
    (*map)->capacity = capacity;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpumpi_map_put(gpumpi_map *map, uint64_t key, uint64_t value) {
    uint64_t *entries = gpumpi_map_entries(map);
    uint64_t slot = gpumpi_map_find(map, key);
    if (!entries[slot * 3 + 2]) {
        if (map->count == map->capacity) return GPUMP_ERROR_FULL;
        map->count++;
    }
    entries[slot * 3] = key;
    entries[slot * 3 + 1] = value;
    entries[slot * 3 + 2] = 1;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpumpi_map_get(const gpumpi_map *map, uint64_t key, uint64_t *value) {
    const uint64_t *entries = gpumpi_map_entries_const(map);
    uint64_t slot = gpumpi_map_find(map, key);
    if (!entries[slot * 3 + 2]) return GPUMP_EMPTY;
    if (value) *value = entries[slot * 3 + 1];
    return GPUMP_OK;
}

GPUMP_API gpump_result gpumpi_map_remove(gpumpi_map *map, uint64_t key) {
    uint64_t *entries = gpumpi_map_entries(map);
    uint64_t mask = map->slots - 1, hole = gpumpi_map_find(map, key), slot = hole;
    if (!entries[hole * 3 + 2]) return GPUMP_EMPTY;
    for (;;) { /* close the gap: move back whatever the hole would cut off from its home slot */
        slot = (slot + 1) & mask;
        if (!entries[slot * 3 + 2]) break;
        if (((slot - gpumpi_map_home(map, entries[slot * 3])) & mask) >= ((slot - hole) & mask)) {
            memcpy(&entries[hole * 3], &entries[slot * 3], 24);
            hole = slot;
        }
    }
    memset(&entries[hole * 3], 0, 24);
    map->count--;
    return GPUMP_OK;
}

#ifndef GPUMP_NO_PROGRAM
GPUMP_API void *gpumpi_array_grow(const gpump_allocator *allocator, void *array, size_t element_bytes, size_t count) {
    size_t old_capacity = stbds_arrcap(array), capacity = old_capacity < 4 ? 4 : old_capacity, bytes;
    stbds_array_header *header = array ? stbds_header(array) : NULL;
    int is_new = !array;
    if (count <= old_capacity && array) return array;
    while (capacity < count) {
        if (capacity > SIZE_MAX / 2) return NULL;
        capacity *= 2;
    }
    if (capacity > (SIZE_MAX - sizeof *header) / element_bytes) return NULL;
    bytes = sizeof *header + capacity * element_bytes;
    header = (stbds_array_header *)allocator->reallocate(
        allocator->user, header, is_new ? 0 : sizeof *header + old_capacity * element_bytes, bytes);
    if (!header) return NULL;
    if (is_new) memset(header, 0, sizeof *header);
    header->capacity = capacity;
    return header + 1;
}

GPUMP_API int gpumpi_array_reserve(const gpump_allocator *allocator, void *array, size_t element_bytes, size_t more) {
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    if (stbds_arrlenu((char *)old) + more <= stbds_arrcap((char *)old)) return 1;
    grown = gpumpi_array_grow(allocator, old, element_bytes, stbds_arrlenu((char *)old) + more);
    if (grown) memcpy(array, &grown, sizeof grown);
    return grown != NULL;
}

GPUMP_API void gpumpi_array_free(const gpump_allocator *allocator, void *array, size_t element_bytes) {
    if (array)
        allocator->reallocate(allocator->user, stbds_header(array),
                              sizeof(stbds_array_header) + stbds_arrcap(array) * element_bytes, 0);
}
#endif
