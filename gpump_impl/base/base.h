/* base: results, reasons, diagnostics, allocator, bit sets, stable hash, prng, wide arithmetic, sparse map */
#ifndef GPUMP_BASE_H
#define GPUMP_BASE_H

#if defined(__cplusplus) ? __cplusplus < 201103L && !defined(_MSC_VER) \
                         : defined(__STDC__) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "gpump needs C99 or C++11: compile with -std=c99, -std=c++11 or later"
#endif

#include <stddef.h>
#include <stdint.h>

/* The version of the interface; CMake and gpump.pc read it from here. */
#define GPUMP_VERSION_MAJOR 0
#define GPUMP_VERSION_MINOR 3
#define GPUMP_VERSION_PATCH 0
/* Raised whenever the same input gives other timing; reports carry it. */
#define GPUMP_MODEL_VERSION 6

/* Define GPUMP_STATIC beside GPUMP_IMPLEMENTATION to keep the whole library inside one file. */
#ifndef GPUMP_API
#ifdef GPUMP_STATIC
#if defined(__GNUC__)
#define GPUMP_API __attribute__((unused)) static
#else
#define GPUMP_API static
#endif
#else
#define GPUMP_API extern
#endif
#endif

#if defined(__GNUC__)
#define GPUMP_INLINE __attribute__((unused)) static inline
#else
#define GPUMP_INLINE static inline
#endif

#ifdef __cplusplus
#define GPUMP_BEGIN extern "C" {
#define GPUMP_END }
#else
#define GPUMP_BEGIN
#define GPUMP_END
#endif

/* Of functions that are called when something is refused: their callers keep such calls out of the way. */
#if defined(__GNUC__)
#define GPUMPI_COLD __attribute__((cold))
#define GPUMPI_CALLED __attribute__((noinline)) /* of small functions that are not hot and have many callers */
#else
#define GPUMPI_COLD
#define GPUMPI_CALLED
#endif

/* A broken invariant inside gpump: the only path that may abort. Override before including the implementation. */
#ifndef GPUMP_ASSERT
#include <assert.h>
#define GPUMP_ASSERT(condition) assert(condition)
#endif

/* "No such number": an unknown latency, an absent index. */
#define GPUMP_UNKNOWN UINT64_MAX
#define GPUMP_NONE UINT32_MAX

GPUMP_BEGIN

/* What a call returns: 0 done; above 0 "not now"; below 0 an error that left state and outputs as they were. "Not now"
 * leaves the state as it was, too, except where the function's comment says that time passes or a counter rises. */
/* clang-format off */
#define GPUMPI_RESULTS(X) \
    X(OK, 0, "done") \
    X(EMPTY, 1, "nothing to hand over now") \
    X(BUSY, 2, "a finite resource is taken; ask again after the state has changed") \
    X(ERROR_ARGUMENT, -1, "a null pointer, or a value outside its range") \
    X(ERROR_CONFIG, -2, "a configuration that contradicts itself") \
    X(ERROR_UNKNOWN_NAME, -3, "no preset, policy or kernel of that name") \
    X(ERROR_CAPACITY, -4, "the caller's array or memory is too small; the count says how much is needed") \
    X(ERROR_MEMORY, -5, "the allocator returned NULL") \
    X(ERROR_TIME, -6, "time went back") \
    X(ERROR_STALE, -7, "the (slot, generation) no longer names a block") \
    X(ERROR_STATE, -8, "the call is not allowed in this state") \
    X(ERROR_FORMAT, -9, "a buffer that is truncated, altered or foreign") \
    X(ERROR_REFUSED, -10, "the mechanism says no; the diagnostic carries the gpump_reason") \
    X(ERROR_FULL, -11, "preallocated space is used up") \
    X(ERROR_LAYOUT, -12, "compile the host again with the library's gpump.h")
/* clang-format on */

typedef enum gpump_result {
#define GPUMPI_RESULT(name, value, text) GPUMP_##name = (value),
    GPUMPI_RESULTS(GPUMPI_RESULT)
#undef GPUMPI_RESULT
} gpump_result;

/* Returns the name of a result, such as "GPUMP_ERROR_STALE"; never NULL. */
GPUMP_API const char *gpump_result_name(gpump_result result);
/* Returns what a result means, in words; never NULL. */
GPUMP_API const char *gpump_result_text(gpump_result result);

/* Reasons for refusing a request: code, cause, remedy. 0: the request is not refused. */
/* clang-format off */
#define GPUMPI_REASONS(X) \
    X(YES, "yes", "nothing to do") \
    X(NO_SUCH_BLOCK, "the (slot, generation) does not name a resident block", "use a reference of a resident block") \
    X(NOT_RUNNING, "the block is already leaving, being restored, or done", "wait for its present transition to end") \
    X(CLOBBERED, "the block has overwritten something its launch has read, or done an atomic", \
      "switch or drain it") \
    X(PIPELINE, "instructions of the block are in the pipeline", "wait for them to commit") \
    X(STORES, "stores of the block are not acknowledged", "wait for the acknowledgements") \
    X(ATOMICS, "atomics of the block are pending", "wait for their replies") \
    X(INSTRUCTION_MISSES, "instruction misses of the block are pending", "wait for the fetches") \
    X(SCOREBOARD, "registers of the block are reserved in the scoreboard", "wait for the write-backs") \
    X(PREEMPTION_POINT, "a warp of the block has not reached a preemption point", "let its warps run on") \
    X(NO_CONTEXT_SPACE, "the space preallocated for contexts of this kernel is full", "drain, flush, or give more") \
    X(THREADS, "not enough thread slots", "wait for blocks to leave, or use a smaller block") \
    X(WARPS, "not enough warp slots", "wait for blocks to leave, or use a smaller block") \
    X(BLOCK_SLOTS, "no block slot is free", "wait for a block to leave") \
    X(REGISTERS, "not enough contiguous registers", "wait for blocks to leave, or use fewer registers") \
    X(SHARED_MEMORY, "not enough contiguous shared memory", "wait for blocks to leave, or use less of it") \
    X(KERNELS, "as many kernels as the configuration allows are resident", "wait for one to leave") \
    X(RESERVED, "the SM is being vacated for another kernel", "wait until its next kernel is set up") \
    X(NEVER_FITS, "the block is larger than an empty SM", "use fewer threads, registers or shared memory per block") \
    X(GROUP, "the block must leave together with others", "choose the whole group") \
    X(TECHNIQUE, "the component does not know this technique", "flush, switch or drain it") \
    X(NO_TECHNIQUE, "the block may leave by none of the policy's techniques", \
      "wait, or use a policy with more of them") \
    X(POSITIONS, "every position of the SM is taken or promised", "wait for blocks of the incoming kernel to end") \
    X(WARP_DISABLED, "a memory instruction of the warp may still fault", "wait for its last check, or its commit") \
    X(FAULTED, "an instruction of the warp has faulted, or the warp is to leave", \
      "wait until its pages are there and its instructions are issued again") \
    X(REPLAYING, "instructions of the warp are to be issued again first", "issue the pending ones in program order") \
    X(MEMORY_ORDER, "an older memory instruction of the warp has not taken effect", "wait for its last check") \
    X(REPLAY_ROOM, "the warp's replay queue is full", "wait for a memory instruction to commit") \
    X(LOG_ROOM, "the block's share of the operand log is full", "wait for a memory instruction to take effect") \
    X(LONG_OPERATION, "the warp waits for loads that have left L1", "wait for their replies") \
    X(BARRIER, "the warp waits at a barrier", "let the other warps of its block arrive") \
    X(MOVING, "a context is being switched in or out", "wait until the move has ended") \
    X(SWITCHED_OUT, "the warp is switched out, and running warps hold every place", "wait until one stalls or ends") \
    X(HELD_BY_BARRIERS, "the warp is switched out, and warps at barriers hold places that they may not leave", \
      "let warps at barriers be switched out") \
    X(FRAME, "no place is free for the context of one block more", "wait for a block to end")
/* clang-format on */

typedef enum gpump_reason {
#define GPUMPI_REASON(name, text, remedy) GPUMP_REASON_##name,
    GPUMPI_REASONS(GPUMPI_REASON)
#undef GPUMPI_REASON
        GPUMP_REASON_COUNT
} gpump_reason;

/* Returns the cause that `reason` names, in words; never NULL. */
GPUMP_API const char *gpump_reason_text(gpump_reason reason);
/* Returns what the host can do about `reason`, in words; never NULL. */
GPUMP_API const char *gpump_reason_remedy(gpump_reason reason);

/* The argument that was wrong, its value and its allowed range. A call fills its gpump_diag only when the call fails. A
 * NULL gpump_diag is allowed. */
typedef struct gpump_diag {
    gpump_result code;
    gpump_reason reason; /* set with GPUMP_ERROR_REFUSED; with GPUMP_BUSY only where the function's comment says so */
    const char *field;   /* the member or argument at fault, or "cause: remedy"; a string constant */
    uint64_t index;   /* which element of an array; which byte, for the bytes of a context or the head of a block that
                       * is adopted (GPUMP_ERROR_FORMAT); 0 for scalars */
    uint64_t value;   /* the value that was refused */
    uint64_t minimum; /* the smallest value allowed */
    uint64_t maximum; /* the largest value allowed */
} gpump_diag;

/* Writes a diagnostic as a sentence into text (at most `bytes` bytes, always terminated), such as
 *   GPUMP_ERROR_ARGUMENT: warps is 0, must be 1 to 64
 *   GPUMP_ERROR_ARGUMENT: config is NULL, must point to an object
 *   GPUMP_ERROR_STATE: program is not finished: call gpump_program_finish first
 *   GPUMP_ERROR_REFUSED: need: every position of the SM is taken or promised; wait for blocks to end
 * Returns the length of the whole sentence, as snprintf does. */
GPUMP_API size_t gpump_diag_text(const gpump_diag *diag, char *text, size_t bytes);

/* Memory for programs and analyses, which grow while they are built. reallocate(user, NULL, 0, n) allocates,
 * reallocate(user, p, n, 0) frees and returns NULL; returning NULL for n > 0 means out of memory and leaves p valid. */
typedef struct gpump_allocator {
    void *(*reallocate)(void *user, void *pointer, size_t old_bytes, size_t new_bytes);
    void *user;
} gpump_allocator;

/* Returns an allocator over the C library's realloc and free. */
GPUMP_API gpump_allocator gpumpi_allocator_default(void);

/* ---- bit sets: arrays of 64-bit words ---- */
/* Returns how many words a set of `bits` bits takes. */
GPUMP_INLINE uint32_t gpump_bits_words(uint32_t bits) { return (bits + 63u) / 64u; }
/* gpump_bits_get returns 1 when `bit` (from 0, below the size of the set) is in `set`, else 0. gpump_bits_set adds
 * `bit` to `set`. gpump_bits_clear removes `bit` from `set`. Cost: a mask. */
GPUMP_INLINE int gpump_bits_get(const uint64_t *set, uint32_t bit) {
    return (int)((set[bit >> 6] >> (bit & 63u)) & 1u);
}
GPUMP_INLINE void gpump_bits_set(uint64_t *set, uint32_t bit) { set[bit >> 6] |= (uint64_t)1 << (bit & 63u); }
GPUMP_INLINE void gpump_bits_clear(uint64_t *set, uint32_t bit) { set[bit >> 6] &= ~((uint64_t)1 << (bit & 63u)); }
/* Returns the number of one bits in a word. */
GPUMP_INLINE uint32_t gpump_bits_count64(uint64_t word) {
#if defined(__GNUC__) && (defined(__POPCNT__) || !defined(__x86_64__)) /* plain x86-64 would call a function */
    return (uint32_t)__builtin_popcountll(word);
#else
    word = word - ((word >> 1) & UINT64_C(0x5555555555555555));
    word = (word & UINT64_C(0x3333333333333333)) + ((word >> 2) & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)((word * UINT64_C(0x0101010101010101)) >> 56);
#endif
}
/* The same by a call, which is smaller where it is not hot. */
GPUMP_API uint32_t gpumpi_bits_count64(uint64_t word);
/* Returns the index of the lowest one bit; word must not be 0. */
GPUMP_INLINE uint32_t gpump_bits_lowest64(uint64_t word) {
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctzll(word);
#else
    return gpump_bits_count64((word & (0u - word)) - 1u);
#endif
}
/* Returns the index of the highest one bit; word must not be 0. */
GPUMP_INLINE uint32_t gpumpi_bits_highest64(uint64_t word) {
#if defined(__GNUC__)
    return 63u - (uint32_t)__builtin_clzll(word);
#else
    word |= word >> 1;
    word |= word >> 2;
    word |= word >> 4;
    word |= word >> 8;
    word |= word >> 16;
    word |= word >> 32;
    return gpump_bits_count64(word) - 1u;
#endif
}
/* Returns how many bits hold the values 0 to count - 1: the width of a field in a table of the hardware. */
GPUMP_API uint64_t gpumpi_bits_for(uint64_t count);
/* Returns the number of one bits in a set of `words` words. Cost: linear. */
GPUMP_API uint32_t gpump_bits_count(const uint64_t *set, uint32_t words);

/* ---- stable hash: the same value on every machine; feed it field by field ---- */
#define GPUMP_HASH_SEED UINT64_C(0xcbf29ce484222325)
/* Returns `hash` extended by `value`. The first call passes GPUMP_HASH_SEED. Hot. */
GPUMP_INLINE uint64_t gpump_hash_u64(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}
/* Return `hash` extended by values[count], or by bytes[count]. Cost: linear in count. */
GPUMP_API uint64_t gpumpi_hash_u32s(uint64_t hash, const uint32_t *values, size_t count);
GPUMP_API uint64_t gpumpi_hash_u64s(uint64_t hash, const uint64_t *values, size_t count);
GPUMP_API uint64_t gpump_hash_bytes(uint64_t hash, const void *bytes, size_t count);

/* ---- prng: splitmix64; the state is one word, any seed is good ---- */
/* Returns the next number, uniform over 0 to 2^64 - 1. Advances *state. */
GPUMP_INLINE uint64_t gpump_random_next(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
/* Returns a number from 0 to limit - 1 with a bias below 2^-32. Advances *state. `limit` is at least 1. */
GPUMP_INLINE uint32_t gpump_random_below(uint64_t *state, uint32_t limit) {
    return (uint32_t)(((gpump_random_next(state) >> 32) * limit) >> 32);
}

/* ---- wide arithmetic: a * b / c over a 128-bit product; limits round down, costs round up ---- */
/* Returns floor(a*b/c), saturated at UINT64_MAX; c = 0 gives UINT64_MAX. */
GPUMP_API uint64_t gpump_muldiv_down(uint64_t a, uint64_t b, uint64_t c);
/* Returns ceil(a*b/c), saturated at UINT64_MAX; c = 0 gives UINT64_MAX. */
GPUMP_API uint64_t gpump_muldiv_up(uint64_t a, uint64_t b, uint64_t c);
/* Compares a*b with c*d exactly; returns -1, 0 or 1. */
GPUMP_API int gpumpi_compare_products(uint64_t a, uint64_t b, uint64_t c, uint64_t d);
/* Returns a+b, saturated at UINT64_MAX, so that GPUMP_UNKNOWN stays unknown. */
GPUMP_INLINE uint64_t gpump_add_saturated(uint64_t a, uint64_t b) {
    const uint64_t sum = a + b;
    return sum | (0 - (uint64_t)(sum < a));
}

/* ---- the head of every hardware block: tells a foreign or stale block from a good one ---- */
typedef struct gpumpi_head {
    uint64_t magic;  /* names the component */
    uint64_t layout; /* layout number of the room whose library made it */
    uint64_t bytes;  /* size of the whole block */
} gpumpi_head;
/* Checks memory before gpump_init writes to it: not NULL, 8-byte aligned, large enough. */
GPUMP_API gpump_result gpumpi_head_check_memory(const void *memory, size_t bytes, uint64_t needed, gpump_diag *diag);
/* Makes the memory of gpump_init: checked as above, all 0, with its head. */
GPUMP_API gpump_result gpumpi_head_init(void *memory, size_t bytes, uint64_t magic, uint64_t layout, uint64_t needed,
                                        gpump_diag *diag);
/* Checks a block before gpump_adopt hands it out: alignment, magic, layout, and the size, exactly `needed`. */
GPUMP_API gpump_result gpumpi_head_adopt(const void *memory, size_t bytes, uint64_t magic, uint64_t layout,
                                         uint64_t needed, gpump_diag *diag);
/* Fills *diag unless it is NULL, and returns `code`, so that callers can `return gpumpi_fail(...)`. */
GPUMP_API GPUMPI_COLD gpump_result gpumpi_fail(gpump_diag *diag, gpump_result code, const char *field, uint64_t index,
                                               uint64_t value, uint64_t minimum, uint64_t maximum);
/* The same for the three most frequent codes, GPUMP_ERROR_ARGUMENT, _CONFIG and _FORMAT: with six arguments, a call
 * takes no stack. */
GPUMP_API GPUMPI_COLD gpump_result gpumpi_bad_argument(gpump_diag *diag, const char *field, uint64_t index,
                                                       uint64_t value, uint64_t minimum, uint64_t maximum);
GPUMP_API GPUMPI_COLD gpump_result gpumpi_bad_config(gpump_diag *diag, const char *field, uint64_t index,
                                                     uint64_t value, uint64_t minimum, uint64_t maximum);
GPUMP_API GPUMPI_COLD gpump_result gpumpi_bad_bytes(gpump_diag *diag, const char *field, uint64_t index, uint64_t value,
                                                    uint64_t minimum, uint64_t maximum);
/* gpumpi_fail without a value and a range. */
GPUMP_API GPUMPI_COLD gpump_result gpumpi_fail_at(gpump_diag *diag, gpump_result code, const char *field,
                                                  uint64_t index);
/* Refuses an argument that is NULL: "argument is NULL, must point to an object". GPUMP_ERROR_ARGUMENT. */
GPUMP_API GPUMPI_COLD gpump_result gpumpi_null(gpump_diag *diag, const char *argument);
/* Checks one field of a configuration: GPUMP_ERROR_CONFIG, and diag filled, unless minimum <= value <= maximum. */
GPUMP_API gpump_result gpumpi_range(gpump_diag *diag, const char *field, uint64_t value, uint64_t minimum,
                                    uint64_t maximum);
/* The range of a 32-bit field of a configuration, for a table of them. */
typedef struct gpumpi_limit {
    const char *field;
    uint32_t at; /* its place in the struct, bytes */
    uint32_t minimum, maximum;
} gpumpi_limit;
#define GPUMPI_LIMIT(config, field, minimum, maximum) \
    { #field, (uint32_t)offsetof(config, field), (minimum), (maximum) }
/* Checks limits[count] in their order, as gpumpi_range does. */
GPUMP_API gpump_result gpumpi_check_limits(const void *config, const gpumpi_limit *limits, size_t count,
                                           gpump_diag *diag);
#define GPUMPI_CHECK_LIMITS(config, limits, diag) \
    gpumpi_check_limits((config), (limits), sizeof(limits) / sizeof *(limits), (diag))
/* The same for a refusal with a reason. */
GPUMP_API GPUMPI_COLD gpump_result gpumpi_refuse(gpump_diag *diag, gpump_reason reason, const char *field,
                                                 uint64_t index);

/* ---- binary heap: the entry that comes before all others stands at place 0 ---- */
/* Moves the entry at place `at` of heap[count] down until neither child comes before it. before(heap, a, b): does the
 * entry at place a come before that at place b? swap(heap, a, b) exchanges two entries. */
GPUMP_INLINE void gpumpi_heap_sift(void *heap, uint32_t count, uint32_t at,
                                   int (*before)(const void *heap, uint32_t a, uint32_t b),
                                   void (*swap)(void *heap, uint32_t a, uint32_t b)) {
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && before(heap, child + 1, child)) child++;
        if (!before(heap, child, at)) return;
        swap(heap, at, child);
        at = child;
    }
}

/* ---- sparse map: u64 key to u64 value, open addressing, fixed capacity, in the caller's memory, no pointers ---- */
typedef struct gpumpi_map gpumpi_map;
/* Sets *bytes to the memory that a map of `capacity` entries (1 to 2^30) needs. */
GPUMP_API gpump_result gpumpi_map_bytes(uint32_t capacity, size_t *bytes);
/* Makes an empty map of `capacity` entries in `memory` (8-byte aligned, at least gpumpi_map_bytes) and sets *map.
 * GPUMP_ERROR_CAPACITY, GPUMP_ERROR_ARGUMENT. Cost: linear in capacity. */
GPUMP_API gpump_result gpumpi_map_init(void *memory, size_t bytes, uint32_t capacity, gpumpi_map **map);
/* Stores `value` under `key`. An earlier value of `key` is replaced. GPUMP_ERROR_FULL: the map already holds `capacity`
 * other keys. Hot: a few probes. */
GPUMP_API gpump_result gpumpi_map_put(gpumpi_map *map, uint64_t key, uint64_t value);
/* Looks `key` up and sets *value (may be NULL). GPUMP_EMPTY: the map does not hold `key`. Hot: a few probes. */
GPUMP_API gpump_result gpumpi_map_get(const gpumpi_map *map, uint64_t key, uint64_t *value);
/* Removes `key`. GPUMP_EMPTY: the map does not hold `key`. Hot: a few probes. */
GPUMP_API gpump_result gpumpi_map_remove(gpumpi_map *map, uint64_t key);

GPUMP_END
#endif
