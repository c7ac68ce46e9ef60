/* gpump.h: GPU preemption and fault mechanisms for simulators. MIT licence (see LICENSE).
 *
 * Generated from gpump_impl/ by `cmake -P gpump_impl/generate.cmake`; edit there, not here.
 *
 * In ONE C or C++ file:   #define GPUMP_IMPLEMENTATION
 *                         #include "gpump.h"
 * everywhere else:        #include "gpump.h"
 * The other file that a host needs is stb_ds.h (Debian: libstb-dev), unless GPUMP_NO_PROGRAM is defined. GPUMP_STATIC
 * keeps the whole library inside the one file. GPUMP_ASSERT(condition) is yours to define.
 *
 * Three places to start:
 *   only sizes    gpump_gpu_config_preset, gpump_gpu_occupancy, gpump_gpu_context_bytes, gpump_gpu_save_cycles
 *   only victims  fill gpump_block_view, then gpump_cost_estimate_blocks and gpump_victim_decide
 *   a whole SM    gpump_sm_bytes, gpump_sm_init, gpump_sm_place, gpump_sm_report_executed, gpump_sm_preempt,
 *                 gpump_sm_next; examples/host_skeleton.cc is all of it in one page, docs/hosting.md says what goes
 *                 where in a simulator
 *
 * The map, room by room. A room uses only the rooms above it. The kinds: a calculation is a function of plain structs.
 * Hardware is one flat block of the caller's memory: nothing is allocated later, and a byte copy is a checkpoint. A
 * program grows while it is built, through the caller's allocator.
 *
 *   component           kind         first call                      from
 *
 * base: results, reasons for "no", exact arithmetic, hashes and bit sets that all other rooms use. Call
 * gpump_diag_text first; it puts any error into words.
 *   base                             gpump_diag_text                 results, reasons, arithmetic, a sparse map
 *
 * gpu: machines of the papers, what a block takes on them, and what running together costs. Call
 * gpump_gpu_config_preset first.
 *   gpu                 calculation  gpump_gpu_config_preset         Tanasic 5.1 Table 5.2, Lin Table 2.2,
 *                                                                    Shieh Table 4.2, AMD's CWSR
 *   block               calculation  gpump_block_leaves              a block as decisions see it; predicates
 *   metrics             calculation  gpump_metrics_compute           Tanasic 5.3, Lin 4.1
 *
 * memory: what each kernel's requests do to caches, network and DRAM. Call gpump_meter_config_preset first.
 *   meter               hardware     gpump_meter_config_preset       Lin 3.4.1: traffic and utilisations
 *
 * program: a kernel's instructions, and what a compiler learns from them before the kernel runs. Call
 * gpump_program_create first, then gpump_program_finish; every analysis takes the finished program.
 *   program             program      gpump_program_create            control flow, loops, aliasing of a kernel
 *   liveness            program      gpump_liveness_create           Lin 2.3.2
 *   registers           program      gpump_registers_allocate        onto a machine's register file, with spills
 *   preempt_points      program      gpump_preempt_points_place      Lin 2.4.1
 *   clobbers            program      gpump_clobbers_find             iGPU 3; whole blocks: Shieh 4.1
 *   regions             program      gpump_regions_form              iGPU 3 to 4.2
 *   page_checks         program      gpump_page_checks_insert        Kim 2
 *
 * context: the bytes of a block that has left its SM, and the time that moving them takes. Call gpump_context_begin
 * first to write a context, gpump_context_open to read one, and gpump_spill_save_time where only the time counts.
 *   compress            calculation  gpump_compress_save             Lin 2.3.3
 *   context             calculation  gpump_context_begin             Lin 2.3 and 2.4.2, Tanasic 5.2.2
 *   in_place            calculation  gpump_in_place_find             Lin 2.3.1
 *   spill               hardware     gpump_spill_config_preset       Lin 2.4.3
 *
 * sm: the slots, allocation tables and block life cycle of one SM. Call gpump_sm_config_preset first, then
 * gpump_sm_init and gpump_sm_place.
 *   warp_gate           calculation  gpump_warp_gate_may             may this warp go on? one word, a bit per asker
 *   sm                  hardware     gpump_sm_config_preset          Lin 2.3.1, Tanasic 5.2.2, Shieh 3.2 and 3.4.4
 *
 * victim: which blocks leave an SM for another kernel, and how. Fill a gpump_block_view for each block (gpump_sm_blocks
 * does so), then call gpump_cost_estimate_blocks and gpump_victim_decide.
 *   cost                calculation  gpump_cost_estimate_blocks      Shieh 3.3.2, Chimera
 *   victim              calculation  gpump_victim_find               Shieh chapter 3, Chimera, Tanasic 7.2.1
 *
 * scheduler: which kernel of which process gets which SM. Call gpump_scheduler_config_preset first, then
 * gpump_scheduler_init, gpump_scheduler_submit and gpump_scheduler_next.
 *   scheduler           hardware     gpump_scheduler_config_preset   Tanasic 5.2.1 to 5.2.3
 *   scheduler_policies  tables       gpump_scheduler_find            Tanasic 5.2.4, 5.3.2, 5.3.4
 *
 * What holds for every function, and is said below only where it is otherwise:
 *   results    a gpump_result is 0 when done, above 0 "not now", below 0 an error that left state and outputs as they
 *              were. NULL where a pointer is needed, and a value outside its range, are GPUMP_ERROR_ARGUMENT. Functions
 *              that return something else (questions), and those marked Hot, trust their arguments.
 *   diag       may be NULL; filled only on failure; gpump_diag_text puts it into words.
 *   now        in cycles; going back is GPUMP_ERROR_TIME, and so is GPUMP_UNKNOWN to the SM, the scheduler and the
 *              spill engine.
 *   block      a (slot, generation): GPUMP_ERROR_STALE when it names no block, or no longer.
 *   capacity   entries of the array before it, which may be NULL with 0; *count gets how many there are. When they do
 *              not fit, that is GPUMP_ERROR_CAPACITY: the array is unchanged, and *count is the number needed.
 *   hardware   _bytes says how much memory, _init makes an object in it (8-byte aligned; GPUMP_ERROR_CAPACITY when it
 *              is less), _adopt takes over a byte copy (GPUMP_ERROR_FORMAT unless size, configuration and build are the
 *              same). _adopt trusts the tables of a copy that this program made; for bytes from outside _check goes
 *              through all of them (GPUMP_ERROR_FORMAT), and then every later call is safe. _hash is the same on every
 *              machine, _bits is the cost in SRAM. A wrong configuration is GPUMP_ERROR_CONFIG; an unknown preset is
 *              GPUMP_ERROR_UNKNOWN_NAME.
 *   program    transforms set their output to a new program, to be freed by gpump_program_destroy; _destroy takes NULL,
 *              too.
 *   struct_size is the size of the struct it stands in, so that a host compiled against another version is refused.
 *   cost       constant; a place in a table, or a division. Nothing but programs and their analyses allocates.
 *   source     the first line of a component names the paper, a comment the section where that is narrower;
 *              docs/papers.md has the rest.
 */

#ifndef GPUMP_H
#define GPUMP_H

#if defined(__clang__) && defined(__cplusplus)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wold-style-cast"
#endif

/* ---- gpump_impl/base/base.h ---- */
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
#define GPUMP_VERSION_MINOR 2
#define GPUMP_VERSION_PATCH 0
/* Raised whenever the same input gives other timing; reports carry it. */
#define GPUMP_MODEL_VERSION 3

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

/* A broken invariant inside gpump: the only path that may abort. Override before including the implementation. */
#ifndef GPUMP_ASSERT
#include <assert.h>
#define GPUMP_ASSERT(condition) assert(condition)
#endif

/* "No such number": an unknown latency, an absent index. */
#define GPUMP_UNKNOWN UINT64_MAX
#define GPUMP_NONE UINT32_MAX

GPUMP_BEGIN

/* What a call returns: 0 done; above 0 "not now"; below 0 an error that left state and outputs as they were. */
/* clang-format off */
#define GPUMP_RESULTS(X) \
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
    X(ERROR_FULL, -11, "preallocated space is used up")
/* clang-format on */

typedef enum gpump_result {
#define GPUMPI_RESULT(name, value, text) GPUMP_##name = (value),
    GPUMP_RESULTS(GPUMPI_RESULT)
#undef GPUMPI_RESULT
} gpump_result;

/* Returns the name of a result, such as "GPUMP_ERROR_STALE"; never NULL. */
GPUMP_API const char *gpump_result_name(gpump_result result);
/* Returns what a result means, in words; never NULL. */
GPUMP_API const char *gpump_result_text(gpump_result result);

/* Why the answer to a question is no: code, what holds it back, what the host can do. 0 is yes. */
/* clang-format off */
#define GPUMP_REASONS(X) \
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
    X(POSITIONS, "every position of the SM is taken or promised", "wait for blocks of the incoming kernel to end")
/* clang-format on */

typedef enum gpump_reason {
#define GPUMPI_REASON(name, text, remedy) GPUMP_REASON_##name,
    GPUMP_REASONS(GPUMPI_REASON)
#undef GPUMPI_REASON
        GPUMP_REASON_COUNT
} gpump_reason;

/* Returns what `reason` says holds a request back, in words; never NULL. */
GPUMP_API const char *gpump_reason_text(gpump_reason reason);
/* Returns what the host can do about `reason`, in words; never NULL. */
GPUMP_API const char *gpump_reason_remedy(gpump_reason reason);

/* Where and how an argument was wrong. A call that takes one fills it only when it fails; NULL is allowed. */
typedef struct gpump_diag {
    gpump_result code;
    gpump_reason reason; /* set with GPUMP_ERROR_REFUSED, and with GPUMP_BUSY where that is said */
    const char *field;   /* the member or argument at fault; a string constant */
    uint64_t index;   /* which element of an array; with GPUMP_ERROR_FORMAT, which byte of the buffer; 0 for scalars */
    uint64_t value;   /* what it was */
    uint64_t minimum; /* the smallest value allowed */
    uint64_t maximum; /* the largest value allowed */
} gpump_diag;

/* Writes a diagnostic as a sentence into text (at most `bytes` bytes, always terminated), such as
 *   GPUMP_ERROR_ARGUMENT: warps is 0, must be 1 to 64
 *   GPUMP_ERROR_REFUSED: need: every position of the SM is taken or promised; wait for blocks to end
 * Returns the length of the whole sentence, as snprintf does. */
GPUMP_API size_t gpump_diag_text(const gpump_diag *diag, char *text, size_t bytes);

/* Memory for the growing kind of object (programs and analyses). reallocate(user, NULL, 0, n) allocates,
 * reallocate(user, p, n, 0) frees and returns NULL; returning NULL for n > 0 means out of memory and leaves p valid. */
typedef struct gpump_allocator {
    void *(*reallocate)(void *user, void *pointer, size_t old_bytes, size_t new_bytes);
    void *user;
} gpump_allocator;

/* Returns an allocator over the C library's realloc and free. */
GPUMP_API gpump_allocator gpump_allocator_default(void);

/* ---- bit sets: arrays of 64-bit words ---- */
/* Returns how many words a set of `bits` bits takes. */
GPUMP_INLINE uint32_t gpump_bits_words(uint32_t bits) { return (bits + 63u) / 64u; }
/* Returns 1 when `bit` (from 0, within the set) is in `set`. The same rule for _set and _clear, which put it in and
 * take it out. */
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
/* Returns the index of the lowest one bit; word must not be 0. */
GPUMP_INLINE uint32_t gpump_bits_lowest64(uint64_t word) {
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctzll(word);
#else
    return gpump_bits_count64((word & (0u - word)) - 1u);
#endif
}
/* Returns how many bits hold the values 0 to count - 1: the width of a field in a table of the hardware. */
GPUMP_INLINE uint64_t gpumpi_bits_for(uint64_t count) {
    uint64_t width = 0;
    while (width < 64 && ((uint64_t)1 << width) < count) width++;
    return width;
}
/* Returns the number of one bits in a set of `words` words. Cost: linear. */
GPUMP_API uint32_t gpump_bits_count(const uint64_t *set, uint32_t words);

/* ---- stable hash: the same value on every machine; feed it field by field ---- */
#define GPUMP_HASH_SEED UINT64_C(0xcbf29ce484222325)
/* Returns `hash` (GPUMP_HASH_SEED at first) with one more `value` in it. */
GPUMP_INLINE uint64_t gpump_hash_u64(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}
/* Return `hash` with `count` more values, or bytes, in it. Cost: linear. */
GPUMP_API uint64_t gpump_hash_u32s(uint64_t hash, const uint32_t *values, size_t count);
GPUMP_API uint64_t gpump_hash_u64s(uint64_t hash, const uint64_t *values, size_t count);
GPUMP_API uint64_t gpump_hash_bytes(uint64_t hash, const void *bytes, size_t count);

/* ---- prng: splitmix64; the state is one word, any seed is good ---- */
/* Returns the next of 2^64 numbers, all equally likely, and moves *state on. */
GPUMP_INLINE uint64_t gpump_random_next(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
/* Returns a number in 0 to limit-1 with a bias below 2^-32, and moves *state on; limit at least 1. */
GPUMP_INLINE uint32_t gpump_random_below(uint64_t *state, uint32_t limit) {
    return (uint32_t)(((gpump_random_next(state) >> 32) * limit) >> 32);
}

/* ---- wide arithmetic: a * b / c over a 128-bit product; limits round down, costs round up ---- */
/* Returns floor(a*b/c), saturated at UINT64_MAX; c = 0 gives UINT64_MAX. */
GPUMP_API uint64_t gpump_muldiv_down(uint64_t a, uint64_t b, uint64_t c);
/* Returns ceil(a*b/c), saturated at UINT64_MAX; c = 0 gives UINT64_MAX. */
GPUMP_API uint64_t gpump_muldiv_up(uint64_t a, uint64_t b, uint64_t c);
/* Compares a*b with c*d exactly; returns -1, 0 or 1. */
GPUMP_API int gpump_compare_products(uint64_t a, uint64_t b, uint64_t c, uint64_t d);
/* Returns a+b, saturated at UINT64_MAX, so that GPUMP_UNKNOWN stays unknown. */
GPUMP_INLINE uint64_t gpump_add_saturated(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

/* ---- the head of every hardware block: tells a foreign or stale block from a good one ---- */
typedef struct gpumpi_head {
    uint64_t magic;  /* names the component */
    uint64_t layout; /* hash of the configuration that fixed the offsets */
    uint64_t bytes;  /* size of the whole block */
} gpumpi_head;
/* Checks memory before gpump_x_init writes to it: not NULL, 8-byte aligned, large enough. */
GPUMP_API gpump_result gpumpi_head_check_memory(const void *memory, size_t bytes, uint64_t needed, gpump_diag *diag);
/* Checks a block before gpump_x_adopt hands it out: alignment, magic, layout, and the size, exactly `needed`. */
GPUMP_API gpump_result gpumpi_head_adopt(const void *memory, size_t bytes, uint64_t magic, uint64_t layout,
                                         uint64_t needed, gpump_diag *diag);
/* Fills *diag unless it is NULL, and returns `code`, so that callers can `return gpumpi_fail(...)`. */
GPUMP_API gpump_result gpumpi_fail(gpump_diag *diag, gpump_result code, const char *field, uint64_t index,
                                   uint64_t value, uint64_t minimum, uint64_t maximum);
/* Checks one field of a configuration: GPUMP_ERROR_CONFIG, and diag filled, unless minimum <= value <= maximum. */
GPUMP_API gpump_result gpumpi_range(gpump_diag *diag, const char *field, uint64_t value, uint64_t minimum,
                                    uint64_t maximum);
/* The same for a refusal with a reason. */
GPUMP_API gpump_result gpumpi_refuse(gpump_diag *diag, gpump_reason reason, const char *field, uint64_t index);

/* ---- sparse map: u64 key to u64 value, open addressing, fixed capacity, in the caller's memory, no pointers ---- */
typedef struct gpump_map gpump_map;
/* Sets *bytes to the memory that a map of `capacity` entries (1 to 2^30) needs. */
GPUMP_API gpump_result gpump_map_bytes(uint32_t capacity, size_t *bytes);
/* Makes an empty map in memory of at least that size, 8-byte aligned. Cost: linear in capacity. */
GPUMP_API gpump_result gpump_map_init(void *memory, size_t bytes, uint32_t capacity, gpump_map **map);
/* Stores key -> value, replacing an earlier value; GPUMP_ERROR_FULL at capacity. Hot: a few probes. */
GPUMP_API gpump_result gpump_map_put(gpump_map *map, uint64_t key, uint64_t value);
/* Finds a key: sets *value (may be NULL) and returns GPUMP_OK, or GPUMP_EMPTY when absent. Hot: a few probes. */
GPUMP_API gpump_result gpump_map_get(const gpump_map *map, uint64_t key, uint64_t *value);
/* Removes a key; GPUMP_EMPTY when absent. Hot: a few probes. */
GPUMP_API gpump_result gpump_map_remove(gpump_map *map, uint64_t key);

GPUMP_END
#endif

/* ---- gpump_impl/gpu/gpu.h ---- */
/* gpu: geometry, presets, occupancy, context sizes and save times (floor 1, calculation) */
#ifndef GPUMP_GPU_H
#define GPUMP_GPU_H



GPUMP_BEGIN

#define GPUMP_GPU_SHARED_OPTIONS 4

/* Where a number comes from. */
typedef enum gpump_provenance {
    GPUMP_PROVENANCE_PUBLISHED, /* printed in the source named */
    GPUMP_PROVENANCE_DERIVED,   /* computed from printed numbers */
    GPUMP_PROVENANCE_ASSUMED    /* ours */
} gpump_provenance;

/* A GPU as far as preemption sees it. Filled by gpump_gpu_config_preset only; every field may then be changed.
 * 0 is a value, never "default". Registers are 32-bit registers of one thread unless a name says otherwise. */
typedef struct gpump_gpu {
    uint32_t struct_size;  /* sizeof(gpump_gpu) */
    uint32_t sms;          /* streaming multiprocessors; 1 to 65536 */
    uint32_t clock_khz;    /* SM clock, kHz; at least 1 */
    uint32_t lanes;        /* threads of a warp; 1 to 64 */
    uint32_t schedulers;   /* warp schedulers of an SM; 1 to 8 */
    uint32_t block_slots;  /* blocks resident on an SM at most; 1 to 64 */
    uint32_t warp_slots;   /* warps resident on an SM at most; 1 to 256 */
    uint32_t thread_slots; /* threads resident on an SM at most */
    uint32_t registers;    /* 32-bit registers of an SM's register file */
    /* Registers are given to a block in multiples of this; 1 = none, as in the papers' tables. */
    uint32_t register_granule;
    uint32_t shared_granule_bytes; /* shared memory likewise, bytes; 1 = none */
    uint32_t shared_option_count;  /* sizes that shared memory can be set to; 1 to GPUMP_GPU_SHARED_OPTIONS */
    /* Those sizes, bytes per SM, ascending. The smallest that holds one block is used. */
    uint32_t shared_bytes[GPUMP_GPU_SHARED_OPTIONS];
    uint32_t memory_mb_per_s; /* memory bandwidth of the whole GPU, 10^6 bytes per second */
} gpump_gpu;

/* What one thread block takes on an SM. */
typedef struct gpump_footprint {
    uint32_t threads;      /* threads of the block; at least 1 */
    uint32_t registers;    /* 32-bit registers of the whole block (registers per thread x threads of its warps) */
    uint32_t shared_bytes; /* shared memory of the block, static and dynamic, bytes */
} gpump_footprint;

/* The resources an SM can run out of; bits of gpump_occupancy.limits. */
typedef enum gpump_resource {
    GPUMP_RESOURCE_BLOCK_SLOTS = 1,
    GPUMP_RESOURCE_WARP_SLOTS = 2,
    GPUMP_RESOURCE_THREAD_SLOTS = 4,
    GPUMP_RESOURCE_REGISTERS = 8,
    GPUMP_RESOURCE_SHARED_MEMORY = 16
} gpump_resource;

typedef struct gpump_occupancy {
    uint32_t blocks;             /* blocks of this footprint on an otherwise empty SM; 0: it never fits */
    uint32_t limits;             /* every gpump_resource that alone would stop one more block */
    uint32_t shared_bytes;       /* the shared-memory size chosen for it, bytes per SM */
    uint32_t registers;          /* registers of one block after rounding to the granule */
    uint32_t block_shared_bytes; /* shared memory of one block after rounding to the granule, bytes */
    uint32_t warps;              /* warps of one block */
} gpump_occupancy;

/* Fills *gpu with a machine of the papers: gtx480_lin, gtx480_shieh, k20c, table61, maxwell_duet, maxwell_ccbp, igpu4,
 * p100, v100, a100, h100, gfx1012, gfx1100. GPUMP_ERROR_UNKNOWN_NAME otherwise. Cost: a table look-up. */
GPUMP_API gpump_result gpump_gpu_config_preset(gpump_gpu *gpu, const char *preset);
/* Returns the name of the index-th preset (from 0), NULL past the last. */
GPUMP_API const char *gpump_gpu_preset_name(uint32_t index);
/* Says where a preset's field comes from: *provenance and *source (a string constant: paper and table). `field` is the
 * member's name. GPUMP_ERROR_UNKNOWN_NAME for an unknown preset or field. */
GPUMP_API gpump_result gpump_gpu_provenance(const char *preset, const char *field, gpump_provenance *provenance,
                                            const char **source);
/* Checks every field of a GPU against its range and the others: GPUMP_ERROR_CONFIG, and diag names the first at fault.
 */
GPUMP_API gpump_result gpump_gpu_check(const gpump_gpu *gpu, gpump_diag *diag);

/* Computes how many blocks of the footprint *need (threads at least 1) fit on an empty SM and which resources stop one
 * more (Shieh Table 4.2, Lin Table 2.2, Tanasic Table 5.2). A block that never fits gives GPUMP_OK with
 * occupancy->blocks = 0. Errors: those of gpump_gpu_check; GPUMP_ERROR_ARGUMENT. Cost: a few divisions. */
GPUMP_API gpump_result gpump_gpu_occupancy(const gpump_gpu *gpu, const gpump_footprint *need,
                                           gpump_occupancy *occupancy, gpump_diag *diag);
/* Returns the bytes of one block's registers and shared memory as allocated (*need rounded to the granules): what a raw
 * switch saves (Lin 2.3, Tanasic 5.1). */
GPUMP_API uint64_t gpump_gpu_context_bytes(const gpump_gpu *gpu, const gpump_footprint *need);
/* Returns the cycles to move `bytes` between one SM and memory at the SM's share of the bandwidth, rounded up
 * (Tanasic 5.1, Table 5.2). */
GPUMP_API uint64_t gpump_gpu_save_cycles(const gpump_gpu *gpu, uint64_t bytes);
/* Returns the time to move `bytes` in picoseconds, rounded up, without going through the clock. */
GPUMP_API uint64_t gpump_gpu_save_ps(const gpump_gpu *gpu, uint64_t bytes);
/* Returns `ns` nanoseconds as cycles of the SM clock, rounded up; UINT64_MAX when that does not fit. */
GPUMP_API uint64_t gpump_gpu_cycles_from_ns(const gpump_gpu *gpu, uint64_t ns);

/* AMD's queue save area for compute wave save and restore (docs/papers.md, "CWSR"). */
typedef struct gpump_gpu_cwsr {
    uint64_t control_stack_bytes; /* T */
    uint64_t workgroup_bytes;     /* W */
    uint64_t save_area_bytes;     /* S = align(T + W, page) */
    uint64_t debugger_bytes;      /* D */
    uint64_t total_bytes;         /* XCCs * (S + D), aligned to the page */
} gpump_gpu_cwsr;
/* Computes the save area of a queue on `compute_units` CUs of one of `xccs` dies. `gfx_version` is major x 100 + minor
 * x 10 + stepping: 900, 1012, 1100, ... as in gfx1012; gfx90a is 910. The local memory of gfx950 (160 KB) and gfx125x
 * (320 KB) is assumed; simd_arrays and arrays_per_engine bound the waves before gfx10.1 and are ignored later. */
GPUMP_API gpump_result gpump_gpu_cwsr_area(uint32_t gfx_version, uint32_t compute_units, uint32_t xccs,
                                           uint32_t simd_arrays, uint32_t arrays_per_engine, gpump_gpu_cwsr *area,
                                           gpump_diag *diag);

GPUMP_END
#endif

/* ---- gpump_impl/gpu/block.h ---- */
/* block: a thread block on an SM as decisions see it: name, state, parts, techniques, the choice of one (floor 1,
 * calculation)
 *
 * gpump_sm_blocks fills views of its blocks. A host that keeps an SM of its own fills the same views itself. Every
 * decision (cost, victim, in_place) reads views and nothing else, and asks the predicates below instead of comparing
 * states. */
#ifndef GPUMP_BLOCK_H
#define GPUMP_BLOCK_H



GPUMP_BEGIN

/* Names a block on one SM: the generation tells it from earlier and later blocks of the same slot. */
typedef struct gpump_block_ref {
    uint32_t slot;       /* entry of the SM's allocation tables */
    uint32_t generation; /* of that entry */
} gpump_block_ref;

/* Parts of a block; bits. An SM holds REGISTERS, SHARED_MEMORY and SLOTS. A saved context holds the first four. */
typedef enum gpump_part {
    GPUMP_PART_REGISTERS = 1,     /* its range of the register file, or what that range held */
    GPUMP_PART_SHARED_MEMORY = 2, /* its range of shared memory, or what that range held */
    GPUMP_PART_STACKS = 4,        /* the SIMT stacks of its warps */
    GPUMP_PART_BLOCK = 8,         /* which block it is, and how far it has come */
    GPUMP_PART_SLOTS = 16,        /* its block slot, warp slots and thread slots */
    GPUMP_PARTS_IN_PLACE = 3      /* registers and shared memory: what a preempted block can leave on its SM */
} gpump_part;

/* How a block leaves an SM. */
typedef enum gpump_technique {
    GPUMP_TECHNIQUE_FLUSH = 0,  /* drop the block, start it again later */
    GPUMP_TECHNIQUE_SWITCH = 1, /* save its context, restore it later */
    GPUMP_TECHNIQUE_DRAIN = 2,  /* let it run to its end */
    GPUMP_TECHNIQUE_REWIND = 3, /* drop its work since the last region boundaries, save what is live at them */
    GPUMP_TECHNIQUES = 4
} gpump_technique;

/* The life of a block on an SM. */
typedef enum gpump_block_state {
    GPUMP_BLOCK_FREE = 0,  /* no block in this slot */
    GPUMP_BLOCK_RUNNING,   /* may issue */
    GPUMP_BLOCK_BLOCKED,   /* resident, waits for something the host names */
    GPUMP_BLOCK_DRAINING,  /* issues to its end, then leaves */
    GPUMP_BLOCK_STOPPING,  /* about to be saved: waits until its state is complete */
    GPUMP_BLOCK_SAVING,    /* its context is being written */
    GPUMP_BLOCK_SAVED,     /* saved, its storage about to be freed */
    GPUMP_BLOCK_RESTORING, /* its context is being read */
    GPUMP_BLOCK_FLUSHED,   /* dropped, its storage about to be freed */
    GPUMP_BLOCK_DONE,      /* ended, its storage about to be freed */
    GPUMP_BLOCK_PARKED,    /* preempted, out of its slots; its registers, its shared memory or both still in place */
    GPUMP_BLOCK_STATES
} gpump_block_state;

/* One block that holds room on an SM. */
typedef struct gpump_block_view {
    uint64_t cookie;        /* the host's name for the block's whole life */
    uint64_t executed;      /* warp instructions executed in this launch of the block */
    uint64_t start_cycle;   /* when it began (or was restored) on this SM */
    uint64_t cycles;        /* cycles it has run, earlier residences included */
    uint64_t context_bytes; /* what a switch would save; registers and shared memory unless the host knows better */
    gpump_block_ref block;
    uint32_t kernel;        /* kernel number, from 1 */
    uint32_t state;         /* gpump_block_state */
    uint32_t register_base; /* first 32-bit register of its range */
    uint32_t registers;     /* length of that range; 0 when a parked block has given its registers up */
    uint32_t shared_base;   /* first byte of its shared memory */
    uint32_t shared_bytes;  /* length of that range; 0 likewise */
    uint32_t threads;       /* thread slots it takes; 0 when it has left its slots (parked) */
    uint32_t warps;         /* warp slots it takes; 0 likewise */
    uint32_t may;           /* bit t set: technique t is allowed now or after a bounded wait (see gpump_technique) */
    uint32_t group;         /* blocks of one kernel with the same group leave together; 0: no group */
    uint32_t technique;     /* STOPPING, SAVING: gpump_technique the block leaves by */
    uint32_t keep;          /* STOPPING, SAVING: gpump_part bits that stay in place when the block is PARKED; 0: none */
} gpump_block_view;

/* How one block is to leave its SM. gpump_victim_decide, _reconsider and _vacate write choices; gpump_sm_preempt takes
 * them as they are. A host that chooses by itself sets all to zero, then block and technique. */
typedef struct gpump_block_choice {
    gpump_block_ref block;
    uint32_t technique; /* gpump_technique */
    uint32_t keep; /* with switch and rewind: gpump_part bits that stay in place (Lin 2.3.1); 0: the block leaves */
    /* With switch. 1: warps go on issuing until the host reports that none waits for a preemption point. */
    uint32_t to_point;
    /* From here on gpump_sm_preempt reads nothing.
     *
     * The technique to apply at gpump_victim_decision.ask_again if the block still runs then. The same as `technique`:
     * there is no second technique. */
    uint32_t otherwise;
    uint32_t sm; /* number of the SM (gpump_victim_sm.sm) */
    uint32_t unused;
    uint64_t cookie;
    uint64_t latency;  /* estimated cycles until the block's room is free; GPUMP_UNKNOWN: cannot be told */
    uint64_t overhead; /* estimated loss, warp instructions; GPUMP_UNKNOWN likewise */
} gpump_block_choice;

/* ---- predicates ---- */

/* Returns the name of a technique (gpump_technique:"flush", "switch", "drain", "rewind"), NULL for any other number. */
GPUMP_API const char *gpump_technique_name(uint32_t technique);

/* Returns 1 when `state` is in `states` (bit s stands for gpump_block_state s). Hot. */
GPUMP_INLINE int gpump_block_state_in(uint32_t state, uint32_t states) {
    return state < GPUMP_BLOCK_STATES && (states >> state & 1u);
}
/* Returns 1 when a block in this state holds its slots and nothing makes it leave them: it runs, is blocked, or is
 * being restored. Hot. */
GPUMP_INLINE int gpump_block_stays(uint32_t state) {
    return gpump_block_state_in(state,
                                1u << GPUMP_BLOCK_RUNNING | 1u << GPUMP_BLOCK_BLOCKED | 1u << GPUMP_BLOCK_RESTORING);
}
/* Returns 1 when a block in this state gives up its slots, and the parts that it does not keep, without a further
 * decision. A parked block does not: its parts stay until somebody decides. Hot. */
GPUMP_INLINE int gpump_block_leaves(uint32_t state) {
    return gpump_block_state_in(state, 1u << GPUMP_BLOCK_DRAINING | 1u << GPUMP_BLOCK_STOPPING |
                                           1u << GPUMP_BLOCK_SAVING | 1u << GPUMP_BLOCK_SAVED |
                                           1u << GPUMP_BLOCK_FLUSHED | 1u << GPUMP_BLOCK_DONE);
}
/* Returns 1 when a block in this state counts as executing, so that its cycles grow: from its start until its state is
 * complete. Hot. */
GPUMP_INLINE int gpump_block_executes(uint32_t state) {
    return gpump_block_state_in(state, 1u << GPUMP_BLOCK_RUNNING | 1u << GPUMP_BLOCK_BLOCKED |
                                           1u << GPUMP_BLOCK_DRAINING | 1u << GPUMP_BLOCK_STOPPING);
}
/* Returns 1 when a block in this state is about to be saved, or is being saved: gpump_block_view.technique and .keep
 * say how, and what stays. Hot. */
GPUMP_INLINE int gpump_block_is_saved_now(uint32_t state) {
    return state == GPUMP_BLOCK_STOPPING || state == GPUMP_BLOCK_SAVING;
}

/* Returns the gpump_part bits that the block of a view holds on its SM now. Hot. */
GPUMP_INLINE uint32_t gpump_block_parts_held(const gpump_block_view *view) {
    return (view->registers ? (uint32_t)GPUMP_PART_REGISTERS : 0u) |
           (view->shared_bytes ? (uint32_t)GPUMP_PART_SHARED_MEMORY : 0u) |
           (view->state != GPUMP_BLOCK_PARKED && (view->threads | view->warps) ? (uint32_t)GPUMP_PART_SLOTS : 0u);
}
/* Returns the gpump_part bits that the block of a view gives up without a further decision; gpump_block_freed_after
 * says when. 0 for a block that stays or is parked. Hot. */
GPUMP_INLINE uint32_t gpump_block_parts_freed(const gpump_block_view *view) {
    uint32_t keep = gpump_block_is_saved_now(view->state) ? view->keep : 0;
    return gpump_block_leaves(view->state) ? gpump_block_parts_held(view) & ~keep : 0;
}
/* Returns the cycles until what the block of a view gives up (gpump_block_parts_freed) is free:
 * latency[GPUMP_TECHNIQUES] are the estimates of this block (gpump_cost_estimate.latency). 0: at once, as for a block
 * that has ended. GPUMP_UNKNOWN for a block that stays or is parked. Hot. */
GPUMP_INLINE uint64_t gpump_block_freed_after(const gpump_block_view *view, const uint64_t *latency) {
    if (!gpump_block_leaves(view->state)) return GPUMP_UNKNOWN;
    if (view->state == GPUMP_BLOCK_DRAINING) return latency[GPUMP_TECHNIQUE_DRAIN];
    if (!gpump_block_is_saved_now(view->state)) return 0;
    return latency[view->technique == GPUMP_TECHNIQUE_REWIND ? GPUMP_TECHNIQUE_REWIND : GPUMP_TECHNIQUE_SWITCH];
}

GPUMP_END
#endif

/* ---- gpump_impl/gpu/metrics.h ---- */
/* metrics: what running together costs and gains: NTT, ANTT, STP, fairness, speedups, violation rate (floor 1,
 * calculation) */
#ifndef GPUMP_METRICS_H
#define GPUMP_METRICS_H



GPUMP_BEGIN

/* One program: its turnaround time alone and in the workload, in any one unit; both at least 1. */
typedef struct gpump_metrics_run {
    uint64_t alone;  /* turnaround time when it has the machine to itself */
    uint64_t shared; /* turnaround time in the workload */
} gpump_metrics_run;

/* The system-level metrics of a workload (Eyerman and Eeckhout, IEEE Micro 2008; Tanasic 5.3.1; Lin 4.5). With NTT the
 * normalised turnaround time shared / alone of a program and NP = 1 / NTT its normalised progress: */
typedef struct gpump_metrics {
    double antt;             /* arithmetic mean of NTT; 1 is no slowdown, lower is better */
    double stp;              /* system throughput: sum of NP; up to the number of programs, higher is better */
    double fairness;         /* smallest NP / largest NP; 1 all slowed equally, towards 0 one starves */
    double harmonic_speedup; /* programs / sum of NTT = 1 / ANTT; balances throughput and fairness */
    double weighted_speedup; /* sum of NP; equals STP here, and is Lin's WSpeedup when built from rates */
    double best_ntt;         /* smallest NTT */
    double worst_ntt;        /* largest NTT */
} gpump_metrics;

/* Returns the normalised turnaround time shared / alone of one program; 0 when alone is 0. Above 1: slowed down. */
GPUMP_API double gpump_metrics_ntt(const gpump_metrics_run *run);

/* Computes the metrics of a workload. runs: one per program; count: 1 or more. Returned in *metrics.
 * GPUMP_ERROR_ARGUMENT names the program whose time is 0. Cost: linear in count, no allocation. */
GPUMP_API gpump_result gpump_metrics_compute(const gpump_metrics_run *runs, uint32_t count, gpump_metrics *metrics,
                                             gpump_diag *diag);

/* One program by its rate of work (instructions per cycle, blocks per second, ...), alone and in the workload; both
 * above 0. */
typedef struct gpump_metrics_rate {
    double alone;
    double shared;
} gpump_metrics_rate;

/* The same from `rates`, one per program: NP = shared / alone (Lin 4.5: HSpeedup and WSpeedup over IPC).
 * GPUMP_ERROR_ARGUMENT names the program whose rate is not above 0. Returned in *metrics. Cost: linear in count. */
GPUMP_API gpump_result gpump_metrics_compute_rates(const gpump_metrics_rate *rates, uint32_t count,
                                                   gpump_metrics *metrics, gpump_diag *diag);

/* Returns the share of latencies above limit, 0 to 1: the violation rate of a latency constraint (Chimera; Shieh 5.2).
 * 0 for no latencies. An unknown latency (GPUMP_UNKNOWN) is a violation. Cost: linear in count. */
GPUMP_API double gpump_metrics_violation_rate(const uint64_t *latencies, uint32_t count, uint64_t limit);

GPUMP_END
#endif

/* ---- gpump_impl/memory/meter.h ---- */
/* meter: what each kernel asks of issue slots, caches, network and DRAM (floor 2, hardware; Lin 3.4.1)
 *
 * The host reports facts as they happen; the meter sums them per kernel, hands over what has passed since the last
 * window, and turns sums into the six utilisations of Lin 3.4.1. Kernel 0 is the traffic of contexts; kernels of the
 * host count from 1. A hop is a part of a request's way: the host reports when a request enters and leaves it, and the
 * meter keeps the number in flight, its integral over time and a histogram of latencies, so that Little's law can be
 * checked: `in_flight_cycles` is the sum of the latencies once every request that entered has left. */
#ifndef GPUMP_METER_H
#define GPUMP_METER_H




GPUMP_BEGIN

#define GPUMP_METER_BUCKETS 24 /* bucket b counts latencies of 2^b to 2^(b+1) - 1 cycles; 0 is in bucket 0 */

/* The hops of a request. */
typedef enum gpump_meter_hop {
    GPUMP_METER_UP = 0, /* from the SM's miss queue to the L2 bank, its queue included */
    GPUMP_METER_L2,     /* from the bank's start to the reply queue, DRAM included */
    GPUMP_METER_DRAM,   /* in the memory channel: reads */
    GPUMP_METER_DOWN,   /* from the reply queue to the SM */
    GPUMP_METER_HOPS
} gpump_meter_hop;
/* What a request does. */
typedef enum gpump_meter_access {
    GPUMP_METER_LOAD = 0,
    GPUMP_METER_STORE,
    GPUMP_METER_ATOMIC,
    GPUMP_METER_ACCESSES
} gpump_meter_access;

/* clang-format off */
#define GPUMP_TRAFFIC(X)                                                            \
    X(cycles, "cycles", "SM clock cycles that the counters cover")                  \
    X(issued, "warp instructions", "issued")                                        \
    X(resident_cycles, "cycles", "summed over SMs: with a block of the kernel")     \
    X(l1_load_hits, "lines", "loads that L1 served")                                \
    X(l1_load_misses, "lines", "loads that left L1")                                \
    X(l1_store_hits, "lines", "stores that L1 kept")                                \
    X(l1_store_misses, "lines", "stores that left L1")                              \
    X(l1_atomics, "lines", "atomics; they always leave L1")                         \
    X(flits_up, "flits", "from SMs to L2")                                          \
    X(flits_down, "flits", "from L2 to SMs")                                        \
    X(l2_load_hits, "lines", "loads whose line was in L2")                          \
    X(l2_load_misses, "lines", "loads whose line was not, or was on its way")       \
    X(l2_store_hits, "lines", "stores likewise")                                    \
    X(l2_store_misses, "lines", "stores likewise")                                  \
    X(l2_atomic_hits, "lines", "atomics likewise")                                  \
    X(l2_atomic_misses, "lines", "atomics likewise")                                \
    X(dram_read_bytes, "bytes", "read from DRAM")                                   \
    X(dram_written_bytes, "bytes", "written back by the kernel's misses")           \
    X(up_requests, "requests", "that have left the hop up")                         \
    X(up_latency_cycles, "network cycles", "their latencies, summed")               \
    X(l2_requests, "requests", "that have left the L2")                             \
    X(l2_latency_cycles, "network cycles", "their latencies, summed")               \
    X(dram_requests, "requests", "lines read that have left DRAM")                  \
    X(dram_latency_cycles, "network cycles", "their latencies, summed")             \
    X(down_requests, "requests", "that have left the hop down")                     \
    X(down_latency_cycles, "network cycles", "their latencies, summed")
/* clang-format on */
/* What one kernel has asked for. */
typedef struct gpump_traffic {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMP_TRAFFIC(GPUMPI_FIELD)
#undef GPUMPI_FIELD
    uint64_t in_flight_cycles[GPUMP_METER_HOPS]; /* integral of the requests in flight in each hop, network cycles */
    uint64_t latencies[GPUMP_METER_HOPS][GPUMP_METER_BUCKETS]; /* requests by the logarithm of their latency */
} gpump_traffic;

/* Filled by gpump_meter_config_preset only; every field may then be changed. */
typedef struct gpump_meter_config {
    uint32_t struct_size;          /* sizeof(gpump_meter_config) */
    uint32_t kernels;              /* kernels beside kernel 0; 8; 1 to 65535 */
    uint32_t sms;                  /* SMs; 1 to 65536 */
    uint32_t schedulers;           /* warp schedulers of an SM; 1 to 8 */
    uint32_t clock_khz;            /* SM clock, kHz */
    uint32_t network_khz;          /* network and L2 clock, kHz */
    uint32_t network_ports;        /* ports of the network on its narrower side; 1 to 65536 */
    uint32_t sustainable_permille; /* of the network's peak; 600 (Lin 3.4.1); 1 to 1000 */
    uint32_t l1_hit_cycles;        /* SM cycles of L1's data port per hit; 1 (assumed) */
    uint32_t l2_banks;             /* 1 to 65536 */
    uint32_t l2_hit_cycles;        /* network cycles of a bank's data port per hit; 4 (assumed: 32 bytes wide) */
    uint32_t memory_mb_per_s;      /* peak DRAM bandwidth, 10^6 bytes per second */
} gpump_meter_config;

/* The six utilisations of Lin 3.4.1, Q16.16: 65536 is 1. */
typedef struct gpump_utilisation {
    uint32_t scheduler_q16; /* warp instructions issued over the issue slots of all schedulers */
    uint32_t l1_q16;        /* L1 data port: hits only */
    uint32_t up_q16;        /* network, SM to L2, over its sustainable throughput */
    uint32_t down_q16;      /* network, L2 to SM, likewise */
    uint32_t l2_q16;        /* L2 data port: hits only */
    uint32_t dram_q16;      /* DRAM over its peak */
} gpump_utilisation;

/* Requests of one kernel in one hop. */
typedef struct gpumpi_meter_flight {
    uint64_t count, since; /* now in flight; the cycle up to which the integral has been taken */
} gpumpi_meter_flight;
/* The head of a meter. Behind it: per kernel its sums, their values at the start of the window, and its flights. */
typedef struct gpump_meter {
    gpumpi_head head;
    uint64_t now, window_start;
    gpump_meter_config config;
} gpump_meter;
typedef char gpumpi_meter_has_no_padding[sizeof(gpump_meter) == sizeof(gpumpi_head) + 2 * 8 + 12 * 4 ? 1 : -1];
GPUMP_INLINE gpump_traffic *gpumpi_meter_traffic(gpump_meter *meter, uint32_t kernel) {
    return (gpump_traffic *)(void *)(meter + 1) + kernel;
}
GPUMP_INLINE gpumpi_meter_flight *gpumpi_meter_flights(gpump_meter *meter, uint32_t kernel) {
    return (gpumpi_meter_flight *)(void *)gpumpi_meter_traffic(meter, 2 * (meter->config.kernels + 1)) +
           (size_t)kernel * GPUMP_METER_HOPS;
}

/* Fills *config for a preset of gpump_gpu_config_preset: its SMs, schedulers, clock and bandwidth, a network of as many
 * ports and banks as SMs at the SM clock (1200 MHz on the maxwell machines, Lin Tables 3.1 and 4.1), and 8 kernels. */
GPUMP_API gpump_result gpump_meter_config_preset(gpump_meter_config *config, const char *preset);
/* Sets *bytes to the memory that a meter needs. GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_meter_bytes(const gpump_meter_config *config, size_t *bytes, gpump_diag *diag);
/* Makes a meter with all sums 0 in `memory` and sets *meter. */
GPUMP_API gpump_result gpump_meter_init(void *memory, size_t bytes, const gpump_meter_config *config,
                                        gpump_meter **meter, gpump_diag *diag);
/* Takes over a byte copy of a meter and sets *meter. */
GPUMP_API gpump_result gpump_meter_adopt(void *memory, size_t bytes, const gpump_meter_config *config,
                                         gpump_meter **meter, gpump_diag *diag);
/* Returns a hash of the whole state, the same on every machine. Cost: linear in kernels. */
GPUMP_API uint64_t gpump_meter_hash(const gpump_meter *meter);
/* Sets *bits to the storage of the meter: 64 per sum, for totals and window. GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_meter_bits(const gpump_meter_config *config, uint64_t *bits, gpump_diag *diag);

/* ---- facts. Hot: an addition or two. `kernel` is 0 to config.kernels ---- */

/* Reports that `count` warp instructions of a kernel were issued. */
GPUMP_INLINE void gpump_meter_report_issued(gpump_meter *meter, uint32_t kernel, uint64_t count) {
    gpumpi_meter_traffic(meter, kernel)->issued += count;
}
/* Reports that blocks of a kernel were on an SM for `cycles` SM cycles. */
GPUMP_INLINE void gpump_meter_report_resident(gpump_meter *meter, uint32_t kernel, uint64_t cycles) {
    gpumpi_meter_traffic(meter, kernel)->resident_cycles += cycles;
}
/* Reports that a kernel's `access` (gpump_meter_access) to one line reached L1, and whether it was a `hit`. */
GPUMP_INLINE void gpump_meter_report_l1(gpump_meter *meter, uint32_t kernel, uint32_t access, int hit) {
    (&gpumpi_meter_traffic(meter, kernel)->l1_load_hits)[2 * access + (access < GPUMP_METER_ATOMIC && !hit)]++;
}
/* Reports that a packet of `flits` flits has passed the network for a kernel, down (`down` 1) or up (0). */
GPUMP_INLINE void gpump_meter_report_flits(gpump_meter *meter, uint32_t kernel, int down, uint32_t flits) {
    (&gpumpi_meter_traffic(meter, kernel)->flits_up)[down != 0] += flits;
}
/* Reports that a kernel's `access` (gpump_meter_access) to one line reached L2, and whether it was a `hit`. */
GPUMP_INLINE void gpump_meter_report_l2(gpump_meter *meter, uint32_t kernel, uint32_t access, int hit) {
    (&gpumpi_meter_traffic(meter, kernel)->l2_load_hits)[2 * access + !hit]++;
}
/* Reports that DRAM has moved `transferred` bytes for a kernel; `writes` 1: written. */
GPUMP_INLINE void gpump_meter_report_dram(gpump_meter *meter, uint32_t kernel, int writes, uint32_t transferred) {
    (&gpumpi_meter_traffic(meter, kernel)->dram_read_bytes)[writes != 0] += transferred;
}
GPUMP_INLINE void gpumpi_meter_integrate(gpump_meter *meter, uint64_t now, uint32_t kernel, uint32_t hop) {
    gpumpi_meter_flight *flight = gpumpi_meter_flights(meter, kernel) + hop;
    gpumpi_meter_traffic(meter, kernel)->in_flight_cycles[hop] += flight->count * (now - flight->since);
    flight->since = now;
}
/* Reports that a request of a kernel enters a hop (gpump_meter_hop) at cycle `now`, in network cycles. */
GPUMP_INLINE void gpump_meter_report_enter(gpump_meter *meter, uint64_t now, uint32_t kernel, uint32_t hop) {
    gpumpi_meter_integrate(meter, now, kernel, hop);
    gpumpi_meter_flights(meter, kernel)[hop].count++;
}
/* Reports that a request of a kernel leaves a hop (gpump_meter_hop) that it entered at cycle `entered`. */
GPUMP_INLINE void gpump_meter_report_leave(gpump_meter *meter, uint64_t now, uint32_t kernel, uint32_t hop,
                                           uint64_t entered) {
    gpump_traffic *traffic = gpumpi_meter_traffic(meter, kernel);
    uint64_t latency = now - entered, rest = latency;
    uint32_t bucket = 0;
    gpumpi_meter_integrate(meter, now, kernel, hop);
    gpumpi_meter_flights(meter, kernel)[hop].count--;
    (&traffic->up_requests)[2 * hop]++;
    (&traffic->up_requests)[2 * hop + 1] += latency;
    while ((rest >>= 1) != 0 && bucket < GPUMP_METER_BUCKETS - 1) bucket++;
    traffic->latencies[hop][bucket]++;
}

/* ---- answers ---- */

/* Returns the requests of a kernel that are in a hop (gpump_meter_hop) now. */
GPUMP_API uint64_t gpump_meter_in_flight(const gpump_meter *meter, uint32_t kernel, uint32_t hop);
/* Sets *traffic to what a kernel has asked for since the first cycle; `now` in SM cycles. GPUMP_ERROR_TIME. */
GPUMP_API gpump_result gpump_meter_total(gpump_meter *meter, uint64_t now, uint32_t kernel, gpump_traffic *traffic);
/* Hands over what each kernel has asked for since the last window, traffic[config.kernels + 1] by kernel number, and
 * starts the next window; `now` in SM cycles. GPUMP_ERROR_TIME. Cost: linear in kernels. */
GPUMP_API gpump_result gpump_meter_window(gpump_meter *meter, uint64_t now, gpump_traffic *traffic, uint32_t capacity);
/* Adds the counters of *more to those of *sum, cycles excepted: the larger stays. */
GPUMP_API void gpump_traffic_add(gpump_traffic *sum, const gpump_traffic *more);
/* Sets *difference to later - earlier, counter by counter. */
GPUMP_API void gpump_traffic_diff(const gpump_traffic *earlier, const gpump_traffic *later, gpump_traffic *difference);
/* Sets *name, *unit and *description of the index-th counter and *value, its value in *traffic; GPUMP_EMPTY past the
 * last. Any pointer may be NULL but traffic. */
GPUMP_API gpump_result gpump_traffic_field(const gpump_traffic *traffic, uint32_t index, const char **name,
                                           const char **unit, const char **description, uint64_t *value);
/* Computes the six utilisations of *traffic over traffic->cycles on the machine of *config into *utilisation
 * (Lin 3.4.1). GPUMP_ERROR_CONFIG; GPUMP_EMPTY, and all 0, when no cycle has passed. */
GPUMP_API gpump_result gpump_meter_utilisation(const gpump_meter_config *config, const gpump_traffic *traffic,
                                               gpump_utilisation *utilisation, gpump_diag *diag);

GPUMP_END
#endif

/* ---- gpump_impl/program/program.h ---- */
/* program: a kernel's instructions as analyses see them, its control flow, dominators and loops (floor 1, program) */
#ifndef GPUMP_PROGRAM_H
#define GPUMP_PROGRAM_H



#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* A kernel as a list of instructions of one thread. The host builds a program with gpump_program_create, _add_register,
 * _add_object, _add and _finish. A finished program never changes: an analysis returns an object of its own, and a
 * transform returns a new program whose origin[] names the old instructions.
 *
 * Instructions are numbered from 0 in layout order; instruction i falls through to i + 1. A *basic block* is a maximal
 * run without branches into or out of it ("block" alone always means a thread block). */
typedef struct gpump_program gpump_program;

/* How wide a register is. 16-bit registers count as 32-bit ones. */
typedef enum gpump_width {
    GPUMP_WIDTH_PREDICATE = 0, /* one bit per lane, in a file of its own */
    GPUMP_WIDTH_32 = 1,        /* one 32-bit register */
    GPUMP_WIDTH_64 = 2         /* two 32-bit registers */
} gpump_width;

/* Operands are register numbers, with two marks in the high bits. */
/* The operand is the 64-bit value in the 32-bit registers r and r + 1, where r is even. Register allocation makes such
 * operands. */
#define GPUMP_OPERAND_PAIR UINT32_C(0x80000000)
/* The operand is no register but the kernel parameter at this byte offset. Only a use can be one. */
#define GPUMP_OPERAND_PARAMETER UINT32_C(0x40000000)
/* The bits of the register number or byte offset. */
#define GPUMP_OPERAND_INDEX UINT32_C(0x3fffffff)

/* What the library must know about an instruction. An instruction that fits none of the others is GPUMP_OP_COMPUTE. */
typedef enum gpump_operation {
    /* The host's own instruction. It reads its uses and writes its defs; with access bits also memory. */
    GPUMP_OP_COMPUTE = 0,
    GPUMP_OP_MOVE,      /* defs[0] = uses[0], same width */
    GPUMP_OP_CONSTANT,  /* defs[0] = immediate; it has no uses, so a transform may repeat it anywhere */
    GPUMP_OP_PARAMETER, /* defs[0] = the kernel parameter at byte `immediate`; constant for the whole launch */
    GPUMP_OP_ADD,       /* defs[0] = uses[0] + immediate; shows page_checks the step of an address */
    GPUMP_OP_BRANCH,    /* goes to target; falls through for lanes whose guard is false */
    GPUMP_OP_EXIT,      /* ends the lanes whose guard is true */
    GPUMP_OP_BARRIER,   /* waits for all warps of the block */
    /* Transforms insert the following instructions, and the host executes them as described here. */
    /* Local memory at byte `immediate` of the spill area = uses[0]. A predicate is stored as 0 or 1 in 4 bytes. */
    GPUMP_OP_SPILL_STORE,
    GPUMP_OP_SPILL_LOAD,   /* defs[0] = local memory at byte `immediate` of the spill area */
    GPUMP_OP_BOUNDARY,     /* starts an idempotent region; immediate is a gpump_boundary */
    GPUMP_OP_PP,           /* preemption point; immediate is its index in gpump_preempt_points */
    GPUMP_OP_PP_DIVERGED,  /* no operation: carries the live vector for a diverged warp at the PP before it */
    GPUMP_OP_BARRIER_PP,   /* a barrier that is a preemption point too; immediate as for PP */
    GPUMP_OP_START_MARKER, /* no operation: execution resumes here after a check has found a fault */
    GPUMP_OP_CLEAR_CHECK,  /* defs[0] (a predicate) = false */
    /* Sets defs[0], a predicate that is also uses[1], to true when an access with `access`, `space` and `bytes` at
     * uses[0] + displacement would fault. Otherwise the predicate keeps its value. The check touches no memory. */
    GPUMP_OP_CHECK,
    /* defs[0] (a predicate) = uses[0] + displacement lies in the first `bytes` bytes of a page of `immediate` bytes. */
    GPUMP_OP_PAGE_ENTERED,
    /* Lanes whose guard is true serialise, call the fault handler and continue at `target`. The target is a
     * START_MARKER, or an instruction that another transform has inserted right before a START_MARKER. */
    GPUMP_OP_GUARDED_CALL,
    GPUMP_OP_COUNT
} gpump_operation;

/* Bits of gpump_instruction.flags. */
#define GPUMP_FLAG_GUARD_NEGATED 1u /* executes where the guard is false */
#define GPUMP_FLAG_UNIFORM 2u       /* a branch that either all active lanes of a warp take or none */
#define GPUMP_FLAG_ATOMIC 4u        /* reads and writes memory in one step: must never execute twice */
#define GPUMP_FLAG_VOLATILE 8u      /* other agents observe the access: must never execute twice */
#define GPUMP_FLAG_FENCE 16u        /* orders memory; ends an idempotent region */
#define GPUMP_FLAG_CONVERGENT 32u   /* reads registers of other lanes (shuffle, vote): never moved */
/* The last def and the last use are the same predicate. An access that would fault only sets this predicate to true. */
#define GPUMP_FLAG_CHECKED 64u
/* The access touches only pages that are never absent, so page_checks inserts nothing for it. */
#define GPUMP_FLAG_RESIDENT 128u

typedef enum gpump_space {
    GPUMP_SPACE_GLOBAL = 0,
    GPUMP_SPACE_SHARED,   /* of the block */
    GPUMP_SPACE_LOCAL,    /* of the thread */
    GPUMP_SPACE_CONSTANT, /* never written during a launch; parameters too */
    GPUMP_SPACE_TEXTURE,  /* never written during a launch */
    GPUMP_SPACE_GENERIC,  /* global, shared or local, known only at run time */
    GPUMP_SPACES
} gpump_space;

#define GPUMP_ACCESS_READ 1u
#define GPUMP_ACCESS_WRITE 2u

/* How much is known about the place in its object that an access touches. */
typedef enum gpump_address {
    GPUMP_ADDRESS_ANYWHERE = 0, /* nothing is known */
    GPUMP_ADDRESS_FIXED,        /* byte `offset`, the same for every thread */
    /* Byte `offset` past a value that each thread computes once; `value` names it. With thread_stride != 0 the values
     * of two threads of a block differ by a multiple of thread_stride, and never by 0. */
    GPUMP_ADDRESS_VALUE
} gpump_address;

/* One instruction. gpump_instruction_make gives one to start from. gpump_program_add copies defs[] and uses[]. */
typedef struct gpump_instruction {
    const uint32_t *defs;   /* operands written: def_count of them */
    const uint32_t *uses;   /* operands read, the guard apart: use_count of them */
    uint64_t tag;           /* the host's own word; transforms carry it along */
    int64_t immediate;      /* see gpump_operation */
    int64_t offset;         /* of the access within its object or past its value, bytes; see gpump_address */
    int64_t displacement;   /* bytes that the access adds to its address register, which is uses[0] */
    uint32_t operation;     /* gpump_operation */
    uint32_t def_count;     /* 0 to 16 */
    uint32_t use_count;     /* 0 to 64 */
    uint32_t flags;         /* GPUMP_FLAG_... */
    uint32_t guard;         /* predicate register, or GPUMP_NONE */
    uint32_t target;        /* instruction branched to; GPUMP_NONE unless BRANCH or GUARDED_CALL */
    uint32_t access;        /* GPUMP_ACCESS_... bits; 0: no memory */
    uint32_t space;         /* gpump_space, when access != 0 */
    uint32_t object;        /* object accessed; GPUMP_NONE: any of that space */
    uint32_t address;       /* gpump_address */
    uint32_t value;         /* with GPUMP_ADDRESS_VALUE: equal numbers are equal values within a thread */
    uint32_t bytes;         /* size of the access per thread */
    uint32_t thread_stride; /* with GPUMP_ADDRESS_VALUE; 0: nothing known */
} gpump_instruction;

/* Returns an instruction of that operation with no operands, no guard, no target and no access. */
GPUMP_API gpump_instruction gpump_instruction_make(uint32_t operation);

/* A piece of memory that accesses name: a buffer behind a pointer parameter, a shared array, the local frame. */
typedef struct gpump_memory_object {
    uint32_t space;       /* gpump_space */
    uint32_t alias_class; /* objects of different classes never overlap; GPUMP_NONE: overlaps no other object */
} gpump_memory_object;

/* Makes an empty program and sets *program. allocator NULL: the C library's. GPUMP_ERROR_MEMORY. */
GPUMP_API gpump_result gpump_program_create(const gpump_allocator *allocator, gpump_program **program);
/* Frees a program; NULL is allowed. Analyses made from it must be destroyed first. */
GPUMP_API void gpump_program_destroy(gpump_program *program);
/* Adds a register of `width` (gpump_width) and sets *reg to its number (0, 1, ...). GPUMP_ERROR_STATE after _finish,
 * GPUMP_ERROR_FULL beyond 2^30, GPUMP_ERROR_MEMORY. Cost: constant on average. */
GPUMP_API gpump_result gpump_program_add_register(gpump_program *program, uint32_t width, uint32_t *reg,
                                                  gpump_diag *diag);
/* Adds a memory object as *what describes it and sets *object to its number. GPUMP_ERROR_STATE after _finish,
 * GPUMP_ERROR_MEMORY. Cost: constant on average. */
GPUMP_API gpump_result gpump_program_add_object(gpump_program *program, const gpump_memory_object *what,
                                                uint32_t *object, gpump_diag *diag);
/* Appends an instruction and sets *index (may be NULL) to its number. Branch targets may lie ahead. An invalid
 * instruction is refused and leaves the program unchanged: diag names the field at fault, and diag->index is the number
 * that the instruction would have had. */
GPUMP_API gpump_result gpump_program_add(gpump_program *program, const gpump_instruction *instruction, uint32_t *index,
                                         gpump_diag *diag);
/* Ends building: checks branch targets and that no path runs off the end, finds basic blocks, dominators,
 * post-dominators and loops. On failure diag->index is the instruction at fault, and the host may continue building.
 * Cost: near-linear. */
GPUMP_API gpump_result gpump_program_finish(gpump_program *program, gpump_diag *diag);

/* Counts; 0 for NULL. Blocks and loops are 0 before _finish. */
GPUMP_API uint32_t gpump_program_instructions(const gpump_program *program);
GPUMP_API uint32_t gpump_program_registers(const gpump_program *program);
GPUMP_API uint32_t gpump_program_objects(const gpump_program *program);
GPUMP_API uint32_t gpump_program_basic_blocks(const gpump_program *program);
GPUMP_API uint32_t gpump_program_loops(const gpump_program *program);
/* Returns the gpump_width of register `reg`, below gpump_program_registers. */
GPUMP_API uint32_t gpump_program_width(const gpump_program *program, uint32_t reg);
/* Returns memory object `object`, below gpump_program_objects. */
GPUMP_API gpump_memory_object gpump_program_object(const gpump_program *program, uint32_t object);
/* Reads instruction `index` (below gpump_program_instructions) into *instruction; its pointers live as long as the
 * program. */
GPUMP_API void gpump_program_instruction(const gpump_program *program, uint32_t index, gpump_instruction *instruction);

/* Returns, for a program made by a transform, the array that gives each instruction's number in the program it was made
 * from (GPUMP_NONE for instructions put in); NULL for a program built by hand. */
GPUMP_API const uint32_t *gpump_program_origin(const gpump_program *program);

/* A basic block and its place in the graph. Numbers are basic-block numbers unless said otherwise. */
typedef struct gpump_basic_block {
    const uint32_t *successors;
    const uint32_t *predecessors;
    uint32_t successor_count; /* 0 to 2 */
    uint32_t predecessor_count;
    uint32_t first;     /* instruction */
    uint32_t count;     /* instructions */
    uint32_t dominator; /* immediate; GPUMP_NONE for the entry and for unreachable blocks */
    /* Immediate post-dominator. GPUMP_NONE: only the end of the thread. A guarded exit does not count as a path to the
     * end, because the other lanes never wait for lanes that have exited. */
    uint32_t post_dominator;
    uint32_t loop;       /* innermost loop; GPUMP_NONE */
    uint32_t loop_depth; /* 0 outside loops */
    uint32_t reachable;  /* 0: no path from the entry */
} gpump_basic_block;
/* Fills *block with basic block `basic_block`, below gpump_program_basic_blocks; its arrays live as long as the
 * program. */
GPUMP_API void gpump_program_basic_block(const gpump_program *program, uint32_t basic_block, gpump_basic_block *block);
/* Returns the basic block of an instruction. */
GPUMP_API uint32_t gpump_program_basic_block_of(const gpump_program *program, uint32_t instruction);
/* Returns 1 when every path from the entry to basic block b runs through a (a itself included). Cost: constant. */
GPUMP_API int gpump_program_dominates(const gpump_program *program, uint32_t a, uint32_t b);
/* Returns the instruction where lanes that diverge at `branch` meet again: the first one of the immediate
 * post-dominator (Fung; Lin 2.3.2). GPUMP_NONE: they meet only at the end. Cost: constant. */
GPUMP_API uint32_t gpump_program_reconvergence(const gpump_program *program, uint32_t branch);

/* A loop of the nest (Havlak): for an irreducible one, `header` is its entry reached first by depth-first search. */
typedef struct gpump_loop {
    uint32_t header;      /* basic block */
    uint32_t parent;      /* enclosing loop; GPUMP_NONE */
    uint32_t depth;       /* 1 for outermost loops */
    uint32_t irreducible; /* 1: it can be entered past its header */
    uint32_t innermost;   /* 1: holds no other loop */
    uint32_t blocks;      /* basic blocks in it, inner loops included */
} gpump_loop;
/* Fills *out with loop `loop`, below gpump_program_loops. */
GPUMP_API void gpump_program_loop(const gpump_program *program, uint32_t loop, gpump_loop *out);
/* Returns 1 when basic block b lies in `loop` or in a loop inside it. Cost: the depth of b. */
GPUMP_API int gpump_program_in_loop(const gpump_program *program, uint32_t loop, uint32_t b);

/* Whose accesses count when two accesses are compared: one thread's own, or any two threads' of a warp or of a block.
 */
typedef enum gpump_unit { GPUMP_UNIT_THREAD = 0, GPUMP_UNIT_WARP, GPUMP_UNIT_BLOCK } gpump_unit;
/* Returns 1 unless the accesses of instructions a and b, done by threads of one such unit (gpump_unit), can never touch
 * the same byte. */
GPUMP_API int gpump_program_may_alias(const gpump_program *program, uint32_t a, uint32_t b, uint32_t unit);

/* Writes a listing line of instruction `index` into text (at most bytes, always terminated); returns its whole length,
 * as snprintf does. The host's own operations are shown as "op<tag>". */
GPUMP_API size_t gpump_program_text(const gpump_program *program, uint32_t index, char *text, size_t bytes);

GPUMP_END
#endif
#endif

/* ---- gpump_impl/program/liveness.h ---- */
/* liveness: live registers at every point, and of a diverged warp (floor 2, program) */
#ifndef GPUMP_LIVENESS_H
#define GPUMP_LIVENESS_H



#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* A register is live at a point when some path from there reads it before it is written whole (a guarded write is not
 * whole). Sets are arrays of gpump_liveness_words words, one bit per register of the program. The object refers to the
 * program, which must outlive it. */
typedef struct gpump_liveness gpump_liveness;

/* Analyses a finished program and sets *liveness. allocator NULL: the C library's. GPUMP_ERROR_STATE before _finish,
 * GPUMP_ERROR_MEMORY. Cost: near-linear in instructions plus live ranges (one walk up from its uses per register).
 * Source: Lin 2.3.2. */
GPUMP_API gpump_result gpump_liveness_create(const gpump_program *program, const gpump_allocator *allocator,
                                             gpump_liveness **liveness);
/* Frees the analysis. */
GPUMP_API void gpump_liveness_destroy(gpump_liveness *liveness);
/* Returns the 64-bit words of a set. */
GPUMP_API uint32_t gpump_liveness_words(const gpump_liveness *liveness);
/* Sets set[] to the registers live before instruction `index`. Cost: linear in the set's words and
 * in the registers live nearby; at most 64 instructions, or as many as there are live registers, are walked. */
GPUMP_API void gpump_liveness_before(const gpump_liveness *liveness, uint32_t index, uint64_t *set);
/* Sets set[] to the registers live behind instruction `index`. Cost: that of gpump_liveness_before. */
GPUMP_API void gpump_liveness_after(const gpump_liveness *liveness, uint32_t index, uint64_t *set);
/* Set *registers to the *count registers live at the start (or end) of basic block `basic_block`, ascending; the array
 * lives as long as the object. */
GPUMP_API void gpump_liveness_block_in(const gpump_liveness *liveness, uint32_t basic_block, const uint32_t **registers,
                                       uint32_t *count);
GPUMP_API void gpump_liveness_block_out(const gpump_liveness *liveness, uint32_t basic_block,
                                        const uint32_t **registers, uint32_t *count);

/* Lists in branches[], ascending, the branches that can have diverged a warp some of whose lanes stand at instruction
 * `index`. Such a branch has a path to the instruction that does not pass the branch's reconvergence point. UNIFORM
 * branches never diverge a warp and are left out. GPUMP_ERROR_CAPACITY; GPUMP_ERROR_MEMORY. Cost: the branches found
 * (transitive control dependence). */
GPUMP_API gpump_result gpump_liveness_enclosing(const gpump_liveness *liveness, uint32_t index, uint32_t *branches,
                                                uint32_t capacity, uint32_t *count);
/* Sets set[] to the registers to save when a diverged warp stops before instruction `index` and its SIMT stack is not
 * known: those live there, behind every enclosing divergence, and at the reconvergence point of each (Lin 2.3.2,
 * Fig. 2.5, for all enclosing divergences instead of one). GPUMP_ERROR_MEMORY. Cost: the branches found, a set each. */
GPUMP_API gpump_result gpump_liveness_diverged(const gpump_liveness *liveness, uint32_t index, uint64_t *set);
/* Sets set[] to the registers to save when the SIMT stack is known: pcs[count] are the instructions at which lanes of
 * the warp stand or wait (active, other side, reconvergence). Exact: the union of what is live before each. PCs beyond
 * the program are ignored. Cost: a set, and for each further PC the registers of the program. */
GPUMP_API void gpump_liveness_stack(const gpump_liveness *liveness, const uint32_t *pcs, uint32_t count, uint64_t *set);

/* Counts a set: *registers in 32-bit registers (64-bit ones count twice), *predicates apart. Either may be NULL. */
GPUMP_API void gpump_liveness_count(const gpump_liveness *liveness, const uint64_t *set, uint32_t *registers,
                                    uint32_t *predicates);
/* Fills registers[i] and predicates[i] (either may be NULL), one per instruction, with the counts live before it, and
 * *peak_registers and *peak_predicates (may be NULL) with the most that are live or being written at one place. A
 * register file must hold at least these. GPUMP_ERROR_MEMORY. Cost: linear. */
GPUMP_API gpump_result gpump_liveness_pressure(const gpump_liveness *liveness, uint32_t *registers,
                                               uint32_t *predicates, uint32_t *peak_registers,
                                               uint32_t *peak_predicates);

/* A register that some path reads before anything was written to it. Real PTX has them; they count as live from the
 * entry. */
typedef struct gpump_uninitialised {
    uint32_t reg;
    uint32_t instruction; /* the first in layout order that reads it so */
} gpump_uninitialised;
/* Lists them by register in list[]. GPUMP_ERROR_CAPACITY, GPUMP_ERROR_MEMORY. Cost: the basic blocks between the entry
 * and their uses. */
GPUMP_API gpump_result gpump_liveness_uninitialised(const gpump_liveness *liveness, gpump_uninitialised *list,
                                                    uint32_t capacity, uint32_t *count);

GPUMP_END
#endif
#endif

/* ---- gpump_impl/program/registers.h ---- */
/* registers: register allocation onto a machine's file (floor 2, program) */
#ifndef GPUMP_REGISTERS_H
#define GPUMP_REGISTERS_H



#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* The file to allocate onto. Filled by gpump_registers_config_preset only. */
typedef struct gpump_registers_config {
    uint32_t struct_size; /* sizeof(gpump_registers_config) */
    uint32_t registers;   /* 32-bit registers of a thread; 2 to 1024 */
    uint32_t predicates;  /* predicate registers of a thread; 1 to 64 */
    /* 1: an instruction without memory access may read one kernel parameter from the constant bank. */
    uint32_t fold_parameters;
    /* 1: constants and parameters are set before their first use, instead of where the source sets them. */
    uint32_t sink;
} gpump_registers_config;
/* Fills *config with "fermi" (63 registers, 7 predicates: gtx480) or "kepler" (255, 7: k20c and later).
 * GPUMP_ERROR_UNKNOWN_NAME. */
GPUMP_API gpump_result gpump_registers_config_preset(gpump_registers_config *config, const char *preset);

/* Results of an allocation. */
typedef struct gpump_registers_report {
    uint32_t registers;  /* 32-bit registers used: the highest number + 1 */
    uint32_t predicates; /* predicate registers used */
    /* The most 32-bit registers live at once before spilling. An allocation without spills needs at least as many. */
    uint32_t peak;
    uint32_t spilled;     /* registers of the input kept in local memory */
    uint32_t spill_loads; /* instructions inserted */
    uint32_t spill_stores;
    uint32_t spill_bytes;    /* of local memory per thread */
    uint32_t folded;         /* uses turned into constant-bank reads */
    uint32_t rematerialised; /* registers set again at every use instead of being kept */
    uint32_t moves_removed;  /* moves whose two sides got the same register */
} gpump_registers_report;

/* Allocates the registers of a finished program (without PAIR operands) and sets *allocated to a new program whose
 * registers 0 to report->registers - 1 are 32-bit ones and whose predicates follow; 64-bit values are aligned pairs,
 * written as PAIR operands. Intervals with holes are placed first-fit, in two orders of which the better is kept. When
 * the file is full, the cheapest intervals are spilled; a constant or a parameter is set again before each use instead.
 * Where the program has region boundaries, a value live into a region keeps its register to the region's end, so that
 * allocation makes no new antidependence (iGPU 3.2). gpump_program_origin tells where each instruction came from.
 * GPUMP_ERROR_STATE before _finish, GPUMP_ERROR_ARGUMENT (PAIR operands, config), GPUMP_ERROR_FULL (one instruction
 * needs more than the file), GPUMP_ERROR_MEMORY. Cost: near-linear without spills; every round of spilling costs about
 * the same again. */
GPUMP_API gpump_result gpump_registers_allocate(const gpump_program *program, const gpump_registers_config *config,
                                                gpump_program **allocated, gpump_registers_report *report,
                                                gpump_diag *diag);

GPUMP_END
#endif
#endif

/* ---- gpump_impl/program/preempt_points.h ---- */
/* preempt_points: where a kernel may be preempted, and what is live there (floor 3, program) */
#ifndef GPUMP_PREEMPT_POINTS_H
#define GPUMP_PREEMPT_POINTS_H



#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* Filled by gpump_preempt_points_config_preset only. */
typedef struct gpump_preempt_points_config {
    uint32_t struct_size; /* sizeof(gpump_preempt_points_config) */
    uint32_t interval;    /* K: instructions outside innermost loops per point; at least 1 */
} gpump_preempt_points_config;
/* Fills *config with "lin": K = 100 (published: any K from 100 to 1000 gives similar results, Lin 2.4.1).
 * GPUMP_ERROR_UNKNOWN_NAME. */
GPUMP_API gpump_result gpump_preempt_points_config_preset(gpump_preempt_points_config *config, const char *preset);

/* The live vector of an instruction word: 54 bits beside a 10-bit opcode (Lin 2.4.1). Bit r, 0 to 52, is 32-bit
 * register r; bit 53 stands for all from 53 up. */
#define GPUMP_LIVE_VECTOR_REGISTERS 53u
#define GPUMP_LIVE_VECTOR_REST (UINT64_C(1) << 53)
/* Returns the number of 32-bit registers that a switch saves for a thread with `registers` registers and this vector.
 */
GPUMP_API uint32_t gpump_live_vector_count(uint64_t vector, uint32_t registers);
/* Returns 1 when the vector covers register `reg`. */
GPUMP_INLINE int gpump_live_vector_has(uint64_t vector, uint32_t reg) {
    return (int)(vector >> (reg < GPUMP_LIVE_VECTOR_REGISTERS ? reg : GPUMP_LIVE_VECTOR_REGISTERS) & 1u);
}

typedef enum gpump_preempt_kind {
    GPUMP_PREEMPT_PP = 0,  /* a pp, followed by the instruction that carries the diverged vector */
    GPUMP_PREEMPT_BARRIER, /* a barrier chosen as a point: bar.pp */
    /* A barrier that was not chosen. It carries a vector too: without one, a warp that waits at this barrier while
     * other warps have stopped at their points would never stop. */
    GPUMP_PREEMPT_BARRIER_WAIT
} gpump_preempt_kind;

typedef struct gpump_preempt_point {
    uint64_t vector;          /* live when the warp stops before the point's instruction, not diverged */
    uint64_t vector_diverged; /* live when it is diverged; barriers: the same as vector */
    uint64_t predicates;      /* live predicate registers, bit 0 the first of them */
    uint64_t predicates_diverged;
    uint32_t instruction;    /* of the new program: PP or BARRIER_PP, whose immediate is this point's index */
    uint32_t kind;           /* gpump_preempt_kind */
    uint32_t loop;           /* the innermost loop it is for, in the old program; GPUMP_NONE: outside */
    uint32_t live_registers; /* 32-bit registers live there */
    uint32_t live_diverged;
} gpump_preempt_point;

/* Places preemption points (Lin 2.4.1): one in each innermost loop, and one for every K instructions outside innermost
 * loops. A point goes to the barrier with the fewest live registers. Where there is no barrier, the point goes to the
 * place with the fewest live registers, in a loop among the places that every iteration passes. Every barrier becomes a
 * BARRIER_PP with its vector. Sets *placed to a new program and points[capacity] to the points in the order of its
 * instructions. The program must be allocated (32-bit registers first, then at most 64 predicates;
 * gpump_registers_allocate gives that), at most one point per instruction. GPUMP_ERROR_CAPACITY with *count = needed,
 * and no program; GPUMP_ERROR_STATE before _finish; GPUMP_ERROR_ARGUMENT; GPUMP_ERROR_MEMORY. Cost: liveness, plus for
 * each point its enclosing divergences. */
GPUMP_API gpump_result gpump_preempt_points_place(const gpump_program *program,
                                                  const gpump_preempt_points_config *config, gpump_program **placed,
                                                  gpump_preempt_point *points, uint32_t capacity, uint32_t *count,
                                                  gpump_diag *diag);

GPUMP_END
#endif
#endif

/* ---- gpump_impl/program/clobbers.h ---- */
/* clobbers: antidependences that make re-execution read a new value, in regions and in whole blocks (floor 3, program)
 */
#ifndef GPUMP_CLOBBERS_H
#define GPUMP_CLOBBERS_H



#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* The immediate of a BOUNDARY. */
typedef enum gpump_boundary {
    GPUMP_BOUNDARY_SPARSE = 0, /* starts a sparse region, and a short one */
    GPUMP_BOUNDARY_SHORT = 1   /* starts a short region only */
} gpump_boundary;

/* A read whose source is overwritten before the region ends, and was not written in the region first (iGPU 3.1).
 * Executing the region again would read the new value. */
typedef struct gpump_clobber {
    uint32_t start; /* registers: the BOUNDARY whose region it is; memory: GPUMP_NONE */
    uint32_t read;  /* memory: the instruction that reads; registers: GPUMP_NONE */
    uint32_t write; /* the instruction that overwrites it */
    uint32_t reg;   /* the register; GPUMP_NONE: memory */
} gpump_clobber;

/* Lists the clobber antidependences left in a program with BOUNDARY instructions, memory first. level
 * GPUMP_BOUNDARY_SPARSE looks at sparse regions, GPUMP_BOUNDARY_SHORT at short ones. `unit` says whose accesses
 * can touch the same byte: GPUMP_UNIT_THREAD one thread's, GPUMP_UNIT_WARP those of a warp, whose diverged sides run
 * one after the other. The kernel's start is a boundary too. A register that holds no value at the kernel's start is no
 * clobber of the first region. An empty list means that a warp may return to its last boundary at any time, except
 * between an atomic, a volatile access or a barrier and the BOUNDARY behind it: those two must commit together.
 * GPUMP_ERROR_CAPACITY with *count = needed; GPUMP_ERROR_STATE; GPUMP_ERROR_MEMORY. Cost: the sum of region sizes. */
GPUMP_API gpump_result gpump_clobbers_find(const gpump_program *program, uint32_t unit, uint32_t level,
                                           gpump_clobber *list, uint32_t capacity, uint32_t *count);

/* Sets clobbers[i] (one byte per instruction) to 1 where a block that has executed instruction i may no longer be
 * restarted from the beginning: an atomic, a volatile write, or a write to global memory that some thread of the block
 * may have read before. A block that has executed none of them can be flushed (Chimera's relaxed idempotence). Shared
 * and local memory do not count: a fresh start finds them undefined anyway. *count (may be NULL): how many.
 * GPUMP_ERROR_MEMORY. Cost: near-linear. */
GPUMP_API gpump_result gpump_clobbers_block(const gpump_program *program, uint8_t *clobbers, uint32_t *count);

GPUMP_END
#endif
#endif

/* ---- gpump_impl/program/regions.h ---- */
/* regions: cuts a kernel into idempotent regions and keeps the registers that each region reads (floor 3, program) */
#ifndef GPUMP_REGIONS_H
#define GPUMP_REGIONS_H



#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* Cuts that can be left out in order to measure what each kind costs. A region without one of them must not be executed
 * again. */
typedef enum gpump_regions_without {
    GPUMP_REGIONS_WITHOUT_BARRIERS = 1,   /* behind barriers */
    GPUMP_REGIONS_WITHOUT_ATOMICS = 2,    /* behind atomics, volatile accesses and fences */
    GPUMP_REGIONS_WITHOUT_LOOPS = 4,      /* the second one on a way round a loop */
    GPUMP_REGIONS_WITHOUT_DIVERGENCE = 8, /* where lanes wait while others cross a boundary */
    GPUMP_REGIONS_WITHOUT_CLOBBERS = 16   /* the hitting set over memory antidependences */
} gpump_regions_without;

/* Filled by gpump_regions_config_preset, then changed at will. */
typedef struct gpump_regions_config {
    uint32_t struct_size; /* sizeof(gpump_regions_config) */
    uint32_t unit;        /* GPUMP_UNIT_WARP; GPUMP_UNIT_THREAD: aliasing within a thread only, as the papers have it */
    /* At equal loop depth, 1 prefers cuts with few live registers (iGPU), 0 cuts that separate most pairs (de Kruijf).
     */
    uint32_t few_live;
    /* The longest path through a short region, in instructions: at least 2 (published: 16, 32, 64). 0: no short
     * regions. */
    uint32_t max_instructions;
    uint32_t preserve; /* 1: keep live-ins by renaming and moves; 0: boundaries only, the host keeps the registers */
    uint32_t without;  /* GPUMP_REGIONS_WITHOUT_... bits; 0: every cut */
    /* The host's own alias analysis, or NULL. Returns 1 when instruction `write` may overwrite what instruction `read`
     * has read before, in one `unit`. Called only where gpump_program_may_alias returns 1. */
    int (*may_clobber)(void *user, uint32_t read, uint32_t write);
    void *user;
} gpump_regions_config;
/* Presets: "igpu" (sparse regions), "igpu_short" (and short ones of 32), "dekruijf". */
GPUMP_API gpump_result gpump_regions_config_preset(gpump_regions_config *config, const char *preset);

/* Why a boundary stands where it does: the tag of a BOUNDARY. */
typedef enum gpump_cut {
    GPUMP_CUT_NONE = 0,
    GPUMP_CUT_CLOBBER,    /* separates a memory read from a write that may overwrite its source (hitting set) */
    GPUMP_CUT_FORCED,     /* behind a barrier, an atomic, a volatile access or a fence */
    GPUMP_CUT_LOOP,       /* second boundary on a way round a loop */
    GPUMP_CUT_DIVERGENCE, /* where lanes may wait while others cross a boundary */
    GPUMP_CUT_LENGTH,     /* keeps a short region short */
    GPUMP_CUT_COPY,       /* second half of a copy that keeps a live-in register */
    GPUMP_CUTS
} gpump_cut;

typedef struct gpump_regions_report {
    uint32_t pairs;            /* memory antidependences cut by the hitting set */
    uint32_t cuts[GPUMP_CUTS]; /* boundaries by reason */
    uint32_t sparse;           /* boundaries in all, the kernel's start not counted */
    uint32_t shorts;
    uint32_t moves;  /* inserted to keep live-ins */
    uint32_t copies; /* moves through a second boundary */
} gpump_regions_report;

/* Divides a program into idempotent regions. Sets *formed to the program with a BOUNDARY at the start of each region,
 * except at the kernel's own start, and with the moves that keep the regions' live-in registers. Best before register
 * allocation, which then honours the boundaries; allowed after it.
 *
 * Cuts (facts: de Kruijf's compiler; iGPU 3.2) stand behind barriers, atomics, volatile accesses and fences; at a
 * greedy hitting set over memory antidependences; at least twice on every path round a loop that has any; and, where a
 * warp may be diverged at a boundary, at every place where its other lanes can wait. A warp at a BOUNDARY waits for its
 * own instructions in flight, then records the PC behind the BOUNDARY *and* its SIMT stack. At a barrier the warp waits
 * for those instructions that could still fault. A branch that decides whether a barrier is reached counts as uniform.
 * *report (may be NULL) gets the counts. GPUMP_ERROR_STATE, GPUMP_ERROR_ARGUMENT (config; program with boundaries),
 * GPUMP_ERROR_MEMORY. Cost: liveness, and the sum of region sizes a few times over. */
GPUMP_API gpump_result gpump_regions_form(const gpump_program *program, const gpump_regions_config *config,
                                          gpump_program **formed, gpump_regions_report *report, gpump_diag *diag);

/* Keeps the live-ins of the regions of a program that has boundaries: gpump_regions_form's second half, for hosts that
 * place their own. Sets *preserved to a new program; adds to *report (may be NULL). GPUMP_ERROR_STATE,
 * GPUMP_ERROR_MEMORY. Cost: the sum of region sizes, a few times over. */
GPUMP_API gpump_result gpump_regions_preserve(const gpump_program *program, gpump_program **preserved,
                                              gpump_regions_report *report, gpump_diag *diag);

/* Continuous spilling (iGPU 4.2): what a thread stores whenever it crosses a sparse boundary, so that a preempted warp
 * can restart from memory at any time afterwards. Just-in-time spilling needs no code: the preemption saves the
 * registers that are live where the SIMT stack says that the warp would restart (gpump_liveness_stack). */
typedef enum gpump_spilling {
    /* Every live-in; the region then loads it again. This is the form in the paper. */
    GPUMP_SPILLING_ALL = 0,
    /* Live-ins that may have changed since they were last stored. Only a preempted warp loads them. */
    GPUMP_SPILLING_CHANGED = 1
} gpump_spilling;

/* Sets sets[b * words], words = gpump_liveness_words, to the registers that the b-th sparse BOUNDARY of a program, in
 * layout order, stores under `spilling` (gpump_spilling), and *count to how many there are. `liveness` is that of the
 * program. Every register has one place, which no other one shares. Call with capacity (in boundaries) 0 to learn the
 * count. GPUMP_ERROR_CAPACITY, GPUMP_ERROR_ARGUMENT, GPUMP_ERROR_STATE, GPUMP_ERROR_MEMORY. Cost: near-linear in
 * instructions, times words. */
GPUMP_API gpump_result gpump_regions_stored(const gpump_program *program, const gpump_liveness *liveness,
                                            uint32_t spilling, uint64_t *sets, uint32_t capacity, uint32_t *count);

GPUMP_END
#endif
#endif

/* ---- gpump_impl/program/page_checks.h ---- */
/* page_checks: page faults without precise exceptions, by checks that the compiler inserts (floor 3, program) */
#ifndef GPUMP_PAGE_CHECKS_H
#define GPUMP_PAGE_CHECKS_H



#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* Filled by gpump_page_checks_config_preset only. */
typedef struct gpump_page_checks_config {
    uint32_t struct_size; /* sizeof(gpump_page_checks_config) */
    uint32_t page_bytes;  /* a power of two */
    uint32_t bits;        /* check predicates a loop may use; 1 to 8 (Kim 2.6) */
    uint32_t walks;       /* 1: an access with a fixed step per iteration is checked once per page (Kim 2.3) */
    /* 1: loops that follow pointers are predicated on the check; the fault handler's call stands behind the loop
     * (Kim 2.5). */
    uint32_t predicated;
} gpump_page_checks_config;
/* Presets: "kim" has pages of 4 KB, 4 check predicates, walks and predicated loops; "kim_plain" has neither walks nor
 * predicated loops, so every access gets a check and a call of its own. */
GPUMP_API gpump_result gpump_page_checks_config_preset(gpump_page_checks_config *config, const char *preset);

typedef struct gpump_page_checks_report {
    uint32_t accesses;   /* to global or generic memory */
    uint32_t walks;      /* of them, checked once per page */
    uint32_t predicated; /* of them, checked by the access itself in a predicated loop */
    uint32_t plain;      /* of them, checked one by one */
    uint32_t loops;      /* predicated loops */
} gpump_page_checks_report;

/* Inserts page checks before (or into) every access to global or generic memory, so that no unchecked access can fault.
 * Sets *checked to the new program, and *report to the number of accesses of each kind. The host executes START_MARKER,
 * CLEAR_CHECK, CHECK, PAGE_ENTERED, GUARDED_CALL and GPUMP_FLAG_CHECKED as gpump_operation says. When the call has
 * served the fault, the lanes continue at the marker, and everything between marker and call may execute again.
 *
 * A *walk* is an access that every iteration of an innermost loop makes through a register whose only change in the
 * loop is one ADD of less than a page, also in every iteration. A *predicated loop* is one basic block without stores,
 * atomics or guarded instructions that loads from addresses it has loaded: loads check themselves, carried registers
 * change only behind the last check, and a fault leaves the loop. (Departures from Kim's printed figures:
 * docs/papers.md.) Every other access is checked one by one; an atomic is checked as a write. An access with
 * GPUMP_FLAG_RESIDENT is not checked. Accesses have their address in uses[0] and displacement, and are aligned to their
 * size. GPUMP_ERROR_STATE, GPUMP_ERROR_CONFIG, GPUMP_ERROR_ARGUMENT (an access without an address register),
 * GPUMP_ERROR_MEMORY. Cost: near-linear. */
GPUMP_API gpump_result gpump_page_checks_insert(const gpump_program *program, const gpump_page_checks_config *config,
                                                gpump_program **checked, gpump_page_checks_report *report,
                                                gpump_diag *diag);

GPUMP_END
#endif
#endif

/* ---- gpump_impl/context/compress.h ---- */
/* compress: vector registers as values, bases and strides, and back, exactly (floor 2, calculation; Lin 2.3.3) */
#ifndef GPUMP_COMPRESS_H
#define GPUMP_COMPRESS_H



GPUMP_BEGIN

/* What one vector register of one warp looks like, group of lanes by group of lanes (Lin 2.3.3). The codes are the two
 * bits of the pattern vector: b = "all differences between neighbours are equal" is bit 0, and a = "and they are not 0"
 * is bit 1. */
typedef enum gpump_compress_pattern {
    GPUMP_COMPRESS_DEAD = 0,    /* not live: not saved */
    GPUMP_COMPRESS_UNIFORM = 1, /* every group holds one value; saved as one word per group */
    GPUMP_COMPRESS_RANDOM = 2,  /* anything else; saved as it is */
    GPUMP_COMPRESS_STRIDED = 3  /* every group is base + lane * stride, wrapping; saved as base and stride per group */
} gpump_compress_pattern;

/* What one register looks like over all warps of a block (Lin 2.3.3, Fig 2.11). The codes are the three bits that the
 * BLOCK form keeps per register. GRID and MIXED are ours; gpump_compress_classify_block never returns them. */
typedef enum gpump_compress_block_pattern {
    GPUMP_COMPRESS_BLOCK_DEAD = 0,
    GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM = 1, /* one value in the whole block */
    GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED = 2, /* base + thread * stride over the whole block */
    GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM = 3,  /* one value per group, not the same in all */
    GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED = 4,  /* base and stride per group, none of the above */
    GPUMP_COMPRESS_BLOCK_RANDOM = 5,         /* some group is neither uniform nor strided */
    /* base + lane in group * x stride + group * y stride: 3 words. Holds tx, ty and y * width + x. */
    GPUMP_COMPRESS_BLOCK_GRID = 6,
    GPUMP_COMPRESS_BLOCK_MIXED = 7 /* each warp in its own warp-level pattern */
} gpump_compress_block_pattern;

/* How the registers of a block are written. The form is not part of the bytes: the host keeps it beside them (a saved
 * context has a field for it), so the smallest form is never larger than the raw registers.
 *
 * All words are 32 bits, little endian, without padding. W: warps. R: registers. G: groups in the block. A register of
 * a warp has `lanes` words (in the last warp last_lanes), in groups of `group` lanes. The last group of a warp may be
 * shorter.
 *
 *   RAW    Every register of every warp, warp by warp.
 *   LIVE   Per warp: ceil(R/8) bytes of live mask (register 0 is bit 0 of byte 0), then the live registers, raw.
 *   WARP   ceil(W/8) bytes of tags, then the warps. Tag 1: the warp is written as in LIVE. Tag 0: ceil(R/4) bytes of
 *          patterns (2 bits each, register 0 lowest), then the data of each register.
 *            uniform   a word per group
 *            strided   a base per group, then a stride per group
 *            random    the lanes, raw
 *   BLOCK  Three bit planes of ceil(R/8) bytes (bit p of the block pattern in plane p), then the data of each register.
 *          A register that is live in any warp is saved for all warps.
 *            global uniform   1 word
 *            global strided   base, stride
 *            local uniform    G words
 *            local strided    G bases, G strides
 *            random           all warps, raw
 *            grid             base, x stride, y stride
 *            mixed            ceil(W/4) bytes of patterns, then each warp as in WARP
 *   NEAR   Per warp: ceil(R/2) bytes of codes (4 bits each, register 0 lowest), then the data of each register.
 *            0          dead: no data
 *            1, 2, 3    uniform, random, strided: as in WARP
 *            4          each lane is the lane of the warp before plus the constant that code 5 last gave this register
 *                       (0 when none has): no data. The register must not be dead in the warp before.
 *            5          the same with a constant of its own: a word
 *            6, 7, 8    a word, then for each lane its distance above that word, wrapping, in 1, 2, 3 bytes */
typedef enum gpump_compress_form {
    GPUMP_COMPRESS_FORM_RAW = 0,
    GPUMP_COMPRESS_FORM_LIVE = 1,
    GPUMP_COMPRESS_FORM_WARP = 2,
    /* For warps at one barrier: base and stride vectors of the block are themselves compressed. */
    GPUMP_COMPRESS_FORM_BLOCK = 3,
    /* Not in the paper, and usually the smallest: each warp beside the warp before it. */
    GPUMP_COMPRESS_FORM_NEAR = 4,
    GPUMP_COMPRESS_FORMS = 5
} gpump_compress_form;

/* Which forms gpump_compress_save may choose from: any of these added up. The smallest is taken, ties to the lower
 * form. */
#define GPUMP_COMPRESS_ALLOW_RAW 1u
#define GPUMP_COMPRESS_ALLOW_LIVE 2u
#define GPUMP_COMPRESS_ALLOW_WARP 4u
#define GPUMP_COMPRESS_ALLOW_BLOCK 8u
#define GPUMP_COMPRESS_ALLOW_NEAR 16u
#define GPUMP_COMPRESS_ALLOW_ALL 31u
/* Only what the paper has: no tags in WARP, no GRID and no MIXED in BLOCK, no NEAR. */
#define GPUMP_COMPRESS_PAPER 256u
/* AVX2, and AVX-512 for WARP, is taken where the processor has it, unless GPUMP_NO_SIMD is defined. PLAIN: use neither;
 * AVX2: no AVX-512. The bytes are the same either way. */
#define GPUMP_COMPRESS_PLAIN 512u
#define GPUMP_COMPRESS_AVX2 2048u
/* Restore of WARP: write the registers around the caches, where AVX2 is taken, values is aligned to 32 bytes and
 * strides are multiples of 8 words: faster when more is restored at once than the last-level cache holds, slower when
 * it fits. */
#define GPUMP_COMPRESS_AROUND 1024u

#define GPUMP_COMPRESS_MAX_WARPS 64
#define GPUMP_COMPRESS_MAX_REGISTERS 256
#define GPUMP_COMPRESS_MAX_LANES 64

/* Where the registers of a block lie: lane l of register r of warp w is values[w * warp_stride + r * register_stride +
 * l]. */
typedef struct gpump_compress_layout {
    uint32_t warps;           /* 1 to GPUMP_COMPRESS_MAX_WARPS; 1 to compress a warp alone */
    uint32_t registers;       /* registers of a warp, 1 to GPUMP_COMPRESS_MAX_REGISTERS */
    uint32_t lanes;           /* words of a vector register, 1 to GPUMP_COMPRESS_MAX_LANES */
    uint32_t last_lanes;      /* the same in the last warp, when the block does not fill it; 1 to lanes */
    uint32_t group;           /* lanes of a pattern group: 8 to lanes, or lanes itself; see gpump_compress_group */
    uint32_t register_stride; /* words from one register to the next; at least lanes */
    /* Words from one warp to the next; at least registers * register_stride, unless warps is 1. */
    uint32_t warp_stride;
    uint32_t live_stride; /* 64-bit words from the live mask of one warp to that of the next; 0: all warps share one */
} gpump_compress_layout;

/* How many registers had which pattern, and what each form costs. */
typedef struct gpump_compress_counts {
    uint64_t bytes[GPUMP_COMPRESS_FORMS]; /* size in each form */
    uint32_t warp[4];                     /* vector registers by gpump_compress_pattern */
    uint32_t block[8]; /* registers of the block by gpump_compress_block_pattern, classified as the paper does */
} gpump_compress_counts;

/* Returns the lanes of a pattern group: block_x, the x dimension of the block (1 or more), where that is at least 8 and
 * divides `lanes`, else `lanes` (Lin 2.3.3 takes the lowest dimension, which is 1 for a 256 x 1 block). */
GPUMP_API uint32_t gpump_compress_group(uint32_t lanes, uint32_t block_x);

/* Returns the size of one warp's pattern vector of so many `registers`, bits (Lin 2.4.2: 128 for 64 registers). */
GPUMP_API uint32_t gpump_compress_pattern_bits(uint32_t registers);

/* Fills *layout for registers packed without gaps: `lanes` words per register, warp after warp; last_lanes from
 * `threads` (threads of the block, 1 or more), the group from block_x (the block's x dimension) by
 * gpump_compress_group; all warps share one live mask. GPUMP_ERROR_ARGUMENT when a field would leave its range. */
GPUMP_API gpump_result gpump_compress_layout_init(gpump_compress_layout *layout, uint32_t threads, uint32_t registers,
                                                  uint32_t lanes, uint32_t block_x, gpump_diag *diag);

/* Returns the pattern of one vector register values[lanes] (1 to 64) in groups of `group` lanes (1 to lanes); never
 * DEAD. A single lane is uniform. Cost: linear. Source: Lin 2.3.3, Fig 2.10. */
GPUMP_API gpump_compress_pattern gpump_compress_classify(const uint32_t *values, uint32_t lanes, uint32_t group);

/* Returns the pattern of register `number` over the whole block whose registers are values[], as *layout says (both
 * must be right); never DEAD, GRID or MIXED. Lin 2.3.3 with two corrections: a global stride needs the base vector's
 * stride to equal the lane stride times `group` (the paper: the lane stride), and local uniform asks that the base
 * vector, not the stride vector, be not uniform. Cost: linear. */
GPUMP_API gpump_compress_block_pattern gpump_compress_classify_block(const gpump_compress_layout *layout,
                                                                     const uint32_t *values, uint32_t number);

/* Sets *bytes to the room that gpump_compress_save asks for: at most a few bytes per warp above the raw registers.
 * GPUMP_ERROR_ARGUMENT. */
GPUMP_API gpump_result gpump_compress_bound(const gpump_compress_layout *layout, size_t *bytes, gpump_diag *diag);

/* Writes the registers of a block.
 *   values   the registers, laid out as *layout says
 *   live     live masks, bit r of word r/64: register r; (registers + 63) / 64 words per warp; NULL: all are live
 *   allow    GPUMP_COMPRESS_ALLOW_... bits
 *   out      room for gpump_compress_bound bytes (capacity), any alignment; must not overlap values
 *   bytes    bytes written; with GPUMP_ERROR_CAPACITY the bound
 *   form     the form chosen
 * Every bit pattern survives, NaNs and wrapping strides included. Cost: linear; one pass with RAW, LIVE and one of WARP
 * and NEAR, another with both, two more with BLOCK, which is slow. */
GPUMP_API gpump_result gpump_compress_save(const gpump_compress_layout *layout, const uint32_t *values,
                                           const uint64_t *live, uint32_t allow, void *out, size_t capacity,
                                           size_t *bytes, uint32_t *form, gpump_diag *diag);

/* Reads the registers of a block back. Registers that were dead are left as they are (in RAW none is). Safe on any
 * bytes: a buffer that does not have exactly the length its own patterns imply is GPUMP_ERROR_FORMAT, and nothing is
 * written.
 *   layout   as in gpump_compress_save, though the strides may differ
 *   form     the form that gpump_compress_save reported
 *   flags    0, or GPUMP_COMPRESS_PLAIN, _AVX2 and _AROUND added up
 *   in       `bytes` bytes, any alignment
 *   values   out: the registers, laid out as *layout says
 * Cost: linear. */
GPUMP_API gpump_result gpump_compress_restore(const gpump_compress_layout *layout, uint32_t form, uint32_t flags,
                                              const void *in, size_t bytes, uint32_t *values, gpump_diag *diag);

/* Counts patterns and the size in every form into *counts, writing nothing; layout, values and live as in
 * gpump_compress_save. `flags`: 0, GPUMP_COMPRESS_PAPER. Errors: GPUMP_ERROR_ARGUMENT. Cost: two passes. */
GPUMP_API gpump_result gpump_compress_count(const gpump_compress_layout *layout, const uint32_t *values,
                                            const uint64_t *live, uint32_t flags, gpump_compress_counts *counts,
                                            gpump_diag *diag);

GPUMP_END
#endif

/* ---- gpump_impl/context/context.h ---- */
/* context: the saved state of a block as bytes, and the space such contexts live in (floor 3)
 *
 * One layout for everything a block needs to go on elsewhere (Lin 2.3, 2.4.2; Tanasic 5.2.2). All numbers
 * little-endian.
 *
 *   header, 40 bytes                              then sections, each 8-byte aligned
 *     0  8  the letters "gpumpctx"                  0  4  type (gpump_context_type; from 2^30 on the host's own)
 *     8  4  version (GPUMP_CONTEXT_VERSION)         4  4  index: the warp, or 0 for the block as a whole
 *    12  4  number of sections                      8  8  payload length n, bytes
 *    16  8  length of everything, bytes            16  n  payload
 *    24  8  checksum of everything but this field   ..  .  zeros up to the next multiple of 8
 *    32  8  zero
 *
 * A reader refuses what is truncated, altered or foreign, and says at which offset. Sections of unknown type pass
 * through and count. Version 1 readers read every version 1 file: new kinds of state become new types, never new
 * meanings of old ones. */
#ifndef GPUMP_CONTEXT_H
#define GPUMP_CONTEXT_H






GPUMP_BEGIN

#define GPUMP_CONTEXT_VERSION 1
#define GPUMP_CONTEXT_HEADER_BYTES 40
#define GPUMP_CONTEXT_SECTION_BYTES 16

typedef enum gpump_context_type {
    GPUMP_CONTEXT_BLOCK = 1,      /* which block this is: 96 bytes, gpump_context_block in order */
    GPUMP_CONTEXT_REGISTERS = 2,  /* per warp: u32 registers, u32 lanes, then u32 values [register][lane] */
    GPUMP_CONTEXT_PREDICATES = 3, /* per warp: u64 per predicate, bit = lane */
    GPUMP_CONTEXT_SHARED = 4,     /* the block's shared memory as bytes */
    /* Per warp: SIMT stack, bottom first; 16 bytes per entry: u32 pc, u32 reconvergence pc, u64 lanes. */
    GPUMP_CONTEXT_STACK = 5,
    GPUMP_CONTEXT_BARRIERS = 6, /* per block: u64 words as the host arranges them (arrival marks by warp, ...) */
    GPUMP_CONTEXT_EXITS = 7,    /* per block: u64 per warp, bit = lane that has exited */
    GPUMP_CONTEXT_LOCAL = 8,    /* per block: u64 words, where its threads' local memory lies */
    /* The block's entry of the context control block (Lin Fig. 2.12): 32 bytes, gpump_context_control in order. It says
     * which part has stayed in place, and where. */
    GPUMP_CONTEXT_CONTROL = 9,
    /* Per warp, or for all warps together at index GPUMP_NONE: u32 form, warps, registers, lanes, lanes of the last
     * warp, lanes of a pattern group, length; u32 zero; then that many bytes of pattern vectors and registers as
     * compress.h lays them out. */
    GPUMP_CONTEXT_COMPRESSED = 10,
    GPUMP_CONTEXT_REPLAY = 11,      /* reserved: replay queue */
    GPUMP_CONTEXT_LOG = 12,         /* reserved: operand log */
    GPUMP_CONTEXT_RESTART = 13,     /* reserved: restart PCs */
    GPUMP_CONTEXT_TYPES = 14,       /* the first type this version does not know */
    GPUMP_CONTEXT_HOST = 0x40000000 /* from here on the host's own */
} gpump_context_type;

/* Identity and progress of a block. */
typedef struct gpump_context_block {
    uint64_t cookie;           /* the host's name for the block */
    uint64_t linear;           /* linear block index in the grid */
    uint64_t executed;         /* warp instructions since its launch */
    uint64_t cycles;           /* cycles on an SM since its launch */
    uint32_t kernel;           /* kernel number, from 1 */
    uint32_t process;          /* process or address space */
    uint32_t block[3];         /* block index x, y, z: values, so that nothing has to be looked up */
    uint32_t grid[3];          /* grid size in blocks x, y, z */
    uint32_t block_threads[3]; /* block size in threads x, y, z */
    uint32_t warps;
    uint32_t lanes;     /* threads of a warp; 1 to 64 */
    uint32_t registers; /* 32-bit registers per thread */
    uint32_t clobbered; /* 1: must never be flushed */
    uint32_t unused;
} gpump_context_block;

/* One entry of a SIMT stack. */
typedef struct gpump_context_stack_entry {
    uint32_t pc;
    uint32_t reconvergence_pc;
    uint64_t lanes;
} gpump_context_stack_entry;

/* The parts of a block that are not in this context but still on an SM (Lin 2.3.1; the NULL pointer of 2.4.2). */
typedef struct gpump_context_control {
    uint32_t in_place;      /* GPUMP_PART_REGISTERS, GPUMP_PART_SHARED_MEMORY or both; 0: everything is here */
    uint32_t sm;            /* the SM that holds these parts */
    gpump_block_ref block;  /* the name of the block there */
    uint32_t register_base; /* first 32-bit register, and how many; 0 and 0 when they are here */
    uint32_t registers;
    uint32_t shared_base; /* first byte, and how many */
    uint32_t shared_bytes;
} gpump_context_control;

/* ---- writing ---- */

/* Writes a context into the caller's memory. Private members; plain data. */
typedef struct gpump_context_writer {
    unsigned char *memory;
    uint64_t capacity, used;
    uint32_t sections;
    uint32_t failed;
} gpump_context_writer;

/* Starts a context in `memory` of `capacity` bytes, any alignment. NULL and 0 only measure: gpump_context_end then says
 * how much. */
GPUMP_API gpump_result gpump_context_begin(gpump_context_writer *writer, void *memory, uint64_t capacity);
/* Appends a section of `type` (gpump_context_type) and `index` (the warp, or 0) and returns its payload of `bytes` zero
 * bytes to be filled, or NULL when only measuring or out of room (which gpump_context_end then says). Cost: linear in
 * bytes. */
GPUMP_API void *gpump_context_reserve(gpump_context_writer *writer, uint32_t type, uint32_t index, uint64_t bytes);
/* Appends a section of `type` and `index` with a copy of data[bytes]: shared memory, host-private state, sections
 * passed through. Here and below gpump_context_end reports what went wrong. Cost: linear. */
GPUMP_API void gpump_context_put(gpump_context_writer *writer, uint32_t type, uint32_t index, const void *data,
                                 uint64_t bytes);
/* Appends the identity and progress of the block, *block. */
GPUMP_API void gpump_context_put_block(gpump_context_writer *writer, const gpump_context_block *block);
/* Appends the registers of a warp: values[registers][lanes], 32-bit words; 64-bit registers are two of them. Cost:
 * linear. */
GPUMP_API void gpump_context_put_registers(gpump_context_writer *writer, uint32_t warp, const uint32_t *values,
                                           uint32_t registers, uint32_t lanes);
/* Appends the SIMT stack of a warp: entries[count], bottom first; count 0: all its threads have ended. Cost: linear. */
GPUMP_API void gpump_context_put_stack(gpump_context_writer *writer, uint32_t warp,
                                       const gpump_context_stack_entry *entries, uint32_t count);
/* Appends words[count], u64, as `type` and `index`: predicates, exits, barriers, local memory pointers. Cost: linear.
 */
GPUMP_API void gpump_context_put_words(gpump_context_writer *writer, uint32_t type, uint32_t index,
                                       const uint64_t *words, uint32_t count);
/* Appends the control entry of a block of which a part stays in place. */
GPUMP_API void gpump_context_put_control(gpump_context_writer *writer, const gpump_context_control *control);
/* Appends registers in the smallest form that `allow` (GPUMP_COMPRESS_ALLOW_...) permits: those of warp `index`, or of
 * all warps at index GPUMP_NONE. layout, values and live as in gpump_compress_save, errors and cost too. Until
 * gpump_context_end the writer needs room for gpump_compress_bound; measuring counts that bound, so a context may turn
 * out shorter than measured. */
GPUMP_API gpump_result gpump_context_put_compressed(gpump_context_writer *writer, uint32_t index,
                                                    const gpump_compress_layout *layout, const uint32_t *values,
                                                    const uint64_t *live, uint32_t allow, gpump_diag *diag);
/* Ends the context: writes header and checksum. Sets *bytes to its length, or with GPUMP_ERROR_CAPACITY (also when only
 * measuring) to the length needed. Cost: linear. */
GPUMP_API gpump_result gpump_context_end(gpump_context_writer *writer, uint64_t *bytes);

/* ---- reading ---- */

/* One section of a context that has been opened. */
typedef struct gpump_context_section {
    uint32_t type;                /* gpump_context_type, or the host's own */
    uint32_t index;               /* the warp, or 0 */
    uint64_t bytes;               /* payload length */
    uint64_t offset;              /* of the payload in the context */
    const unsigned char *payload; /* inside the caller's memory */
} gpump_context_section;

/* Walks a context. Private members; plain data that points into the caller's memory. */
typedef struct gpump_context_reader {
    const unsigned char *memory;
    uint64_t bytes, next;
    uint32_t sections, unused;
} gpump_context_reader;

/* Opens a context: checks magic, version, lengths, every section's bounds, padding and the checksum. GPUMP_ERROR_FORMAT
 * with the field, and its offset in diag.index. Memory may be longer than the context. Cost: linear, about the speed of
 * reading. */
GPUMP_API gpump_result gpump_context_open(gpump_context_reader *reader, const void *memory, uint64_t bytes,
                                          gpump_diag *diag);
/* Gets the next section into *section; GPUMP_EMPTY after the last, and the walk starts again. */
GPUMP_API gpump_result gpump_context_next(gpump_context_reader *reader, gpump_context_section *section);
/* Finds a section by type and index; GPUMP_EMPTY when there is none. Searches from behind the one found last, so
 * reading in order costs a step each. */
GPUMP_API gpump_result gpump_context_find(gpump_context_reader *reader, uint32_t type, uint32_t index,
                                          gpump_context_section *section);
/* Reads the block's section into *block. This and the typed reads below: GPUMP_EMPTY when the section is absent,
 * GPUMP_ERROR_FORMAT when its length contradicts its content, GPUMP_ERROR_CAPACITY when the array is too small. Cost:
 * as gpump_context_find, and linear. */
GPUMP_API gpump_result gpump_context_get_block(gpump_context_reader *reader, gpump_context_block *block);
/* Reads the registers of a warp into values[registers][lanes]; GPUMP_ERROR_FORMAT unless they were written as just so
 * many. */
GPUMP_API gpump_result gpump_context_get_registers(gpump_context_reader *reader, uint32_t warp, uint32_t *values,
                                                   uint32_t registers, uint32_t lanes);
/* Reads the SIMT stack of a warp into entries[capacity], bottom first, and sets *count. */
GPUMP_API gpump_result gpump_context_get_stack(gpump_context_reader *reader, uint32_t warp,
                                               gpump_context_stack_entry *entries, uint32_t capacity, uint32_t *count);
/* Reads the section of `type` and `index` into words[capacity] and sets *count. */
GPUMP_API gpump_result gpump_context_get_words(gpump_context_reader *reader, uint32_t type, uint32_t index,
                                               uint64_t *words, uint32_t capacity, uint32_t *count);
/* Reads the control entry into *control: which part of the block is still on an SM. */
GPUMP_API gpump_result gpump_context_get_control(gpump_context_reader *reader, gpump_context_control *control);
/* Reads compressed registers back, those of warp `index` or GPUMP_NONE as they were written; those that were dead are
 * left as they are. `layout` must have the shape they were written with, its strides may differ: values[] lies as it
 * says. GPUMP_ERROR_FORMAT. */
GPUMP_API gpump_result gpump_context_get_compressed(gpump_context_reader *reader, uint32_t index,
                                                    const gpump_compress_layout *layout, uint32_t *values,
                                                    gpump_diag *diag);
/* Returns the gpump_part bits that a restore needs and that this context neither holds nor declares to be in place; 0
 * for a whole context. `shared_bytes` is the size of the block's shared memory. Registers and stacks are missing when
 * those of any warp are; a warp whose stack is empty has ended and needs no registers. A block of more than 1024 warps
 * counts as altered. Cost: one walk. */
GPUMP_API uint32_t gpump_context_missing(gpump_context_reader *reader, uint32_t shared_bytes);
/* Counts sections whose type this version does not know; the host's own do not count. Cost: one walk. */
GPUMP_API uint32_t gpump_context_unknown_sections(const gpump_context_reader *reader);

/* ---- space for saved contexts, preallocated per kernel (Tanasic 5.2.2; hardware) ---- */

typedef struct gpump_context_pool gpump_context_pool;
/* Filled by the caller; every field counts. */
typedef struct gpump_context_pool_config {
    uint32_t struct_size; /* sizeof(gpump_context_pool_config) */
    uint32_t kernels;     /* kernels that own space at the same time; 1 to 4096 */
    uint32_t contexts;    /* contexts per kernel; 1 to 65536 */
    uint32_t unused;
    uint64_t context_bytes; /* bytes of each; at least 1 */
} gpump_context_pool_config;

/* Sets *bytes to the memory of the pool's bookkeeping (the contexts themselves are elsewhere: kernels x contexts x
 * context_bytes). */
GPUMP_API gpump_result gpump_context_pool_bytes(const gpump_context_pool_config *config, size_t *bytes,
                                                gpump_diag *diag);
/* Makes an empty pool in `memory` and sets *pool. */
GPUMP_API gpump_result gpump_context_pool_init(void *memory, size_t bytes, const gpump_context_pool_config *config,
                                               gpump_context_pool **pool, gpump_diag *diag);
/* Takes over a byte copy of a pool and sets *pool. */
GPUMP_API gpump_result gpump_context_pool_adopt(void *memory, size_t bytes, const gpump_context_pool_config *config,
                                                gpump_context_pool **pool, gpump_diag *diag);
/* Checks owners, counts and marks against each other. For memory from outside: once gpump_context_pool_adopt has taken
 * it over and this returns GPUMP_OK, every later call is safe. GPUMP_ERROR_FORMAT, and diag->field says what
 * contradicts what. Cost: linear in the memory; quadratic in kernels. */
GPUMP_API gpump_result gpump_context_pool_check(const gpump_context_pool *pool, gpump_diag *diag);
/* Returns a hash of the whole state, the same on every machine. Cost: linear. */
GPUMP_API uint64_t gpump_context_pool_hash(const gpump_context_pool *pool);
/* Sets *bits to the storage of the bookkeeping: a 15-bit owner and a bit per context. */
GPUMP_API gpump_result gpump_context_pool_bits(const gpump_context_pool_config *config, uint64_t *bits,
                                               gpump_diag *diag);
/* Gives `kernel` (from 1) its space; GPUMP_ERROR_FULL when all spaces are taken, GPUMP_ERROR_STATE when it has one.
 * Cost of this and the calls below: linear in config.kernels and in contexts / 64. */
GPUMP_API gpump_result gpump_context_pool_open(gpump_context_pool *pool, uint32_t kernel);
/* Takes the space of `kernel` back; GPUMP_ERROR_STATE while contexts are in it, or when it has none. */
GPUMP_API gpump_result gpump_context_pool_close(gpump_context_pool *pool, uint32_t kernel);
/* Takes room for one context of a kernel: sets *context, its offset being *context x context_bytes. GPUMP_ERROR_FULL
 * when the kernel's space is used up, GPUMP_ERROR_CAPACITY when `bytes` exceeds context_bytes, GPUMP_ERROR_STATE
 * without an open space. */
GPUMP_API gpump_result gpump_context_pool_take(gpump_context_pool *pool, uint32_t kernel, uint64_t bytes,
                                               uint64_t *context);
/* Gives the room of `context` back; GPUMP_ERROR_STATE when it is not taken. */
GPUMP_API gpump_result gpump_context_pool_give(gpump_context_pool *pool, uint64_t context);
/* Returns how many more contexts of a kernel fit; 0 without an open space. */
GPUMP_API uint32_t gpump_context_pool_room(const gpump_context_pool *pool, uint32_t kernel);

GPUMP_END
#endif

/* ---- gpump_impl/context/in_place.h ---- */
/* in_place: which blocks must give up registers or shared memory so that another kernel fits (calculation; Lin
 * 2.3.1)
 *
 * A preempted block may leave its registers, its shared memory or both on the SM. Only the ranges that the incoming
 * kernel needs are written to memory. gpump_in_place_find finds the smallest such set, and gpump_sm_preempt carries it
 * out (gpump_block_choice.keep). */
#ifndef GPUMP_IN_PLACE_H
#define GPUMP_IN_PLACE_H





GPUMP_BEGIN

/* Where blocks of the incoming kernel may stand. */
typedef enum gpump_in_place_placement {
    /* At 0, size, 2 x size and so on, side by side from the start (registers of Lin Fig. 2.4). */
    GPUMP_IN_PLACE_FROM_ZERO = 0,
    GPUMP_IN_PLACE_ALIGNED = 1, /* at multiples of size, those that cost least (the positions of Shieh 3.2) */
    GPUMP_IN_PLACE_BEST = 2     /* anywhere: the least over all placements */
} gpump_in_place_placement;

/* The SM before the decision. */
typedef struct gpump_in_place_sm {
    const gpump_block_view *blocks; /* gpump_sm_blocks; a block whose `may` lacks switch stays whole */
    uint32_t count;                 /* how many; 0 to 64 */
    uint32_t registers;             /* size of the register file, 32-bit registers */
    uint32_t shared_bytes;          /* size of shared memory, bytes */
    uint32_t unused;
} gpump_in_place_sm;

/* What the incoming kernel needs on this SM. */
typedef struct gpump_in_place_need {
    uint32_t blocks;             /* how many blocks must fit at the same time; 1 to 64 */
    uint32_t registers;          /* 32-bit registers of one block, rounded to the granule */
    uint32_t shared_bytes;       /* shared memory of one block, rounded, bytes */
    uint32_t register_placement; /* gpump_in_place_placement */
    uint32_t shared_placement;   /* gpump_in_place_placement */
} gpump_in_place_need;

/* The plan in numbers. */
typedef struct gpump_in_place_plan {
    uint64_t register_bytes;  /* allocated bytes of registers given up */
    uint64_t shared_bytes;    /* bytes of shared memory given up */
    uint32_t register_blocks; /* blocks that give up registers: the fewest possible */
    uint32_t shared_blocks;   /* blocks that give up shared memory: the fewest possible */
    uint32_t blocks;          /* blocks that give up either */
    uint32_t unused;
    uint32_t give_up[64];        /* for each block of the SM: gpump_part bits; 0: all of it stays */
    uint32_t register_bases[64]; /* where need->blocks blocks fit: first registers, ascending */
    uint32_t shared_bases[64];   /* and first bytes of shared memory, ascending */
} gpump_in_place_plan;

/* Finds the fewest blocks of *sm that must give up registers, and the fewest that must give up shared memory, so that
 * need->blocks blocks fit, and fills *plan. Each of the two is a minimum of its own. Ties: first blocks that give up
 * the other part already, then fewer bytes. GPUMP_ERROR_ARGUMENT, also when ranges of blocks overlap;
 * GPUMP_ERROR_REFUSED with REGISTERS or SHARED_MEMORY when there is no plan.
 * Cost: at most (blocks squared x need->blocks) steps; about 45 KB of stack. */
GPUMP_API gpump_result gpump_in_place_find(const gpump_in_place_sm *sm, const gpump_in_place_need *need,
                                           gpump_in_place_plan *plan, gpump_diag *diag);

GPUMP_END
#endif

/* ---- gpump_impl/context/spill.h ---- */
/* spill: the pipelines that write and read contexts, as timing (floor 3, hardware and calculation; Lin 2.4.3,
 * Fig. 2.13)
 *
 * Saving: each warp runs to its preemption point and drains; its live registers pass the compressor and fill a buffer
 * of the block; every full segment goes to memory; behind the last warp's registers comes the block's shared memory,
 * then the metadata (pattern vectors, SIMT stacks, control entry). Restoring is the reverse: metadata, shared memory,
 * then the registers warp by warp through the decompressor, so that a warp may run as soon as its own registers are
 * there.
 *
 * The host owns the memory: it pulls a segment only when no normal request wants the port (segments have lower
 * priority), and reports when segments have arrived. Values are nowhere here, only counts: trace-driven hosts use it as
 * well. gpump_spill_save_time runs the same pipeline against a port of fixed bandwidth, for hosts without cycles. */
#ifndef GPUMP_SPILL_H
#define GPUMP_SPILL_H




GPUMP_BEGIN

typedef struct gpump_spill gpump_spill;

/* Filled by gpump_spill_config_preset only; every field may then be changed. */
typedef struct gpump_spill_config {
    uint32_t struct_size;         /* sizeof(gpump_spill_config) */
    uint32_t jobs;                /* blocks on their way at the same time; 1 to 64 */
    uint32_t warps;               /* warps of all of them; 1 to 256 */
    uint32_t segment_bytes;       /* bytes of one memory access; 128 (Lin 2.4.3); 8 to 4096 */
    uint32_t compress_cycles;     /* latency of compressor and decompressor, cycles; 2 (Lin 2.3.3); 0: there is none */
    uint32_t registers_per_cycle; /* vector registers that pass it per cycle; 1 (fully pipelined, Lin 2.3.3) */
    uint32_t shared_bytes_per_cycle; /* shared memory read or written per cycle; 128 (assumed: 32 banks of 4 bytes) */
    uint32_t outstanding;            /* segments under way at most; 64 (assumed); 1 to 65536 */
} gpump_spill_config;

/* What one warp has to move. */
typedef struct gpump_spill_warp {
    uint64_t point_cycle;   /* when it reached its preemption point (the signal itself when it stops anywhere) */
    uint64_t drained_cycle; /* when nothing of it was in flight any more; at least point_cycle */
    uint32_t registers;     /* vector registers to move: the live ones */
    uint32_t bytes;         /* bytes they take as written */
} gpump_spill_warp;

typedef enum gpump_spill_action_kind {
    GPUMP_SPILL_WRITE = 1, /* write this segment; then gpump_spill_report_moved */
    GPUMP_SPILL_READ,      /* read it; likewise */
    GPUMP_SPILL_WARP,      /* restore: this warp's registers are in place */
    GPUMP_SPILL_DONE       /* the block is saved, or back; the job number is free again */
} gpump_spill_action_kind;
typedef enum gpump_spill_part {
    GPUMP_SPILL_REGISTERS = 0,
    GPUMP_SPILL_SHARED = 1,
    GPUMP_SPILL_METADATA = 2
} gpump_spill_part;

typedef struct gpump_spill_action {
    uint64_t cookie; /* as given with the job */
    uint64_t cycle;  /* when it was ready; at most `now` */
    uint64_t offset; /* WRITE, READ: first byte within the part */
    uint32_t bytes;  /* WRITE, READ: length, at most a segment */
    uint32_t kind;   /* gpump_spill_action_kind */
    uint32_t part;   /* WRITE, READ: gpump_spill_part */
    uint32_t job;
    uint32_t warp; /* WARP: its index */
    uint32_t unused;
} gpump_spill_action;

/* clang-format off */
#define GPUMP_SPILL_STATISTICS(X)                                                                                \
    X(saves, "blocks", "blocks saved")                                                                           \
    X(restores, "blocks", "blocks restored")                                                                     \
    X(segments, "segments", "segments handed over")                                                              \
    X(bytes, "bytes", "bytes in them")                                                                           \
    X(warps, "warps", "warps whose registers went out")                                                          \
    X(drain_cycles, "cycles", "summed over warps: from preemption point to drained")                             \
    X(spill_cycles, "cycles", "summed over warps: from preemption point to its last register handed over (Lin 2.5.2)") \
    X(save_cycles, "cycles", "summed over blocks: from job to done")                                             \
    X(restore_cycles, "cycles", "summed over blocks: from job to done")
/* clang-format on */
typedef struct gpump_spill_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMP_SPILL_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_spill_statistics;

/* Fills *config for a preset of gpump_gpu_config_preset: a job per block slot, its warp slots, and Lin's pipeline. */
GPUMP_API gpump_result gpump_spill_config_preset(gpump_spill_config *config, const char *preset);
/* Sets *bytes to the memory that a pipeline needs. GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_spill_bytes(const gpump_spill_config *config, size_t *bytes, gpump_diag *diag);
/* Makes a pipeline without jobs in `memory` and sets *spill. */
GPUMP_API gpump_result gpump_spill_init(void *memory, size_t bytes, const gpump_spill_config *config,
                                        gpump_spill **spill, gpump_diag *diag);
/* Takes over a byte copy of a pipeline and sets *spill. */
GPUMP_API gpump_result gpump_spill_adopt(void *memory, size_t bytes, const gpump_spill_config *config,
                                         gpump_spill **spill, gpump_diag *diag);
/* Checks jobs, warps and counts against each other. For memory from outside: once gpump_spill_adopt has taken it over
 * and this returns GPUMP_OK, every later call is safe. GPUMP_ERROR_FORMAT, and diag->field says what contradicts what.
 * Cost: jobs x warps. */
GPUMP_API gpump_result gpump_spill_check(const gpump_spill *spill, gpump_diag *diag);
/* Returns a hash of the whole state, the same on every machine. Cost: linear in jobs and warps. */
GPUMP_API uint64_t gpump_spill_hash(const gpump_spill *spill);

/* Begins to save a block of `warps` warps, shared_bytes of shared memory and metadata_bytes of metadata (an estimate at
 * first: gpump_spill_report_metadata); `cookie` comes back with its actions. Sets *job. GPUMP_BUSY when jobs or warps
 * are used up. */
GPUMP_API gpump_result gpump_spill_save(gpump_spill *spill, uint64_t now, uint64_t cookie, uint32_t warps,
                                        uint32_t shared_bytes, uint32_t metadata_bytes, uint32_t *job);
/* Says that a warp of the block that `job` saves (any order, each once) has drained, and in *warp what it has to move.
 * Its drained_cycle is ignored: the warp counts as drained at `now`. GPUMP_ERROR_STATE when all its warps are in. */
GPUMP_API gpump_result gpump_spill_report_drained(gpump_spill *spill, uint64_t now, uint32_t job,
                                                  const gpump_spill_warp *warp);
/* Says that the block of `job` really has metadata_bytes of metadata, as soon as that is known. GPUMP_ERROR_STATE once
 * metadata is on its way, and for restores. */
GPUMP_API gpump_result gpump_spill_report_metadata(gpump_spill *spill, uint32_t job, uint32_t metadata_bytes);
/* Begins to restore a block and sets *job; warps[count] come back in this order, and their cycles are ignored.
 * cookie, shared_bytes and metadata_bytes as in gpump_spill_save. GPUMP_BUSY likewise. Cost: linear in count. */
GPUMP_API gpump_result gpump_spill_restore(gpump_spill *spill, uint64_t now, uint64_t cookie,
                                           const gpump_spill_warp *warps, uint32_t count, uint32_t shared_bytes,
                                           uint32_t metadata_bytes, uint32_t *job);
/* Says that the oldest `segments` segments of a job that are under way have been written, or have arrived.
 * GPUMP_ERROR_STATE when there are not so many. */
GPUMP_API gpump_result gpump_spill_report_moved(gpump_spill *spill, uint64_t now, uint32_t job, uint32_t segments);
/* Forgets a job: its block has ended before it was saved. Segments under way are no longer waited for; do not report
 * them. GPUMP_ERROR_STATE when there is no such job. */
GPUMP_API gpump_result gpump_spill_cancel(gpump_spill *spill, uint64_t now, uint32_t job);
/* Hands over the next *action that is ready: WARP and DONE before segments, then segments of the block whose job began
 * first (of several, the lower job), so that blocks end one after the other and the first room is free early; another
 * block's go only while it has none ready. GPUMP_EMPTY when none is, or when `outstanding` segments are under way and
 * only segments are ready. */
GPUMP_API gpump_result gpump_spill_next(gpump_spill *spill, uint64_t now, gpump_spill_action *action);
/* Hands over the next *action that is no segment, for a host whose port is taken: after gpump_spill_report_moved a
 * block may be done. */
GPUMP_API gpump_result gpump_spill_next_event(gpump_spill *spill, uint64_t now, gpump_spill_action *action);
/* Returns the cycle at which the next action is ready without further facts; GPUMP_UNKNOWN: only a fact brings one. */
GPUMP_API uint64_t gpump_spill_next_cycle(const gpump_spill *spill);
/* Copies the counters into *statistics. */
GPUMP_API void gpump_spill_get_statistics(const gpump_spill *spill, gpump_spill_statistics *statistics);
/* Sets *name, *unit and *description of the index-th counter and *value, its value in *statistics; GPUMP_EMPTY past the
 * last. Any pointer may be NULL but statistics. */
GPUMP_API gpump_result gpump_spill_statistics_field(const gpump_spill_statistics *statistics, uint32_t index,
                                                    const char **name, const char **unit, const char **description,
                                                    uint64_t *value);

/* Sets *difference to later - earlier, field by field. */
GPUMP_API void gpump_spill_statistics_diff(const gpump_spill_statistics *earlier, const gpump_spill_statistics *later,
                                           gpump_spill_statistics *difference);
/* Sets *bits to the storage the pipeline needs: per warp its job, registers, bytes and progress; per job its part,
 * progress and counts; and one segment buffer per job. GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_spill_bits(const gpump_spill_config *config, uint64_t *bits, gpump_diag *diag);

/* ---- calculations ---- */

/* How long a save or restore takes. Cycles count from `start`. */
typedef struct gpump_spill_times {
    uint64_t end;        /* when the last byte has passed the port (save), or the last warp may run (restore) */
    uint64_t first_warp; /* restore: when the first warp may run; save: when the first warp's registers have left */
    uint64_t bytes;      /* registers, shared memory, metadata */
    uint64_t segments;
    uint64_t drain_cycles; /* summed over warps, point to drained */
    uint64_t spill_cycles; /* summed over warps, point to last register handed to the port */
} gpump_spill_times;
/* One block that passes a port of fixed bandwidth: b bytes take ceil(b x port_cycles / port_bytes) cycles, one segment
 * after the other. */
typedef struct gpump_spill_transfer {
    const gpump_spill_warp *warps; /* what each warp has to move; a restore ignores their cycles */
    uint64_t start_cycle;          /* below GPUMP_UNKNOWN */
    uint64_t port_cycles;          /* at least 1 */
    uint64_t port_bytes;           /* at least 1 */
    uint64_t latency_cycles;       /* from passing the port to a finished write, or to arrival */
    uint32_t count;                /* warps; 1 to 256 */
    uint32_t shared_bytes;         /* shared memory */
    uint32_t metadata_bytes;       /* pattern vectors, SIMT stacks, control entry */
    uint32_t unused;
} gpump_spill_transfer;
/* Computes into *times how long *transfer takes as a save. GPUMP_ERROR_CONFIG; GPUMP_ERROR_ARGUMENT, also when the end
 * does not fit into 64 bits. Cost: segments x warps at worst. */
GPUMP_API gpump_result gpump_spill_save_time(const gpump_spill_config *config, const gpump_spill_transfer *transfer,
                                             gpump_spill_times *times, gpump_diag *diag);
/* Computes into *times how long *transfer takes as a restore. Errors and cost: as gpump_spill_save_time. */
GPUMP_API gpump_result gpump_spill_restore_time(const gpump_spill_config *config, const gpump_spill_transfer *transfer,
                                                gpump_spill_times *times, gpump_diag *diag);

/* One warp at the preemption signal: stop here, or run to the next point? */
typedef struct gpump_spill_decision {
    uint64_t here_bytes;  /* what stopping here would write: the set live here, as written */
    uint64_t there_bytes; /* what stopping at the point would write */
    uint64_t distance;    /* warp instructions to that point; GPUMP_UNKNOWN: not known, or no point ahead */
    uint64_t cpi_q16;     /* cycles per warp instruction of this warp, Q16.16 */
    uint64_t port_cycles; /* the port, as above */
    uint64_t port_bytes;
    uint64_t byte_weight_q16; /* what a byte written costs beside its time, cycles, Q16.16; 0: latency alone decides */
} gpump_spill_decision;
/* Returns 1 to run on, 0 to stop now: whichever leaves earlier, bytes weighed in; a tie stops. Unknown distance stops.
 * Sets *here_cycles and *there_cycles to what either would take (may be NULL). Ours, beyond Lin 2.4.1, where every warp
 * runs on. */
GPUMP_API int gpump_spill_run_on(const gpump_spill_decision *decision, uint64_t *here_cycles, uint64_t *there_cycles);

GPUMP_END
#endif

/* ---- gpump_impl/sm/warp_gate.h ---- */
/* warp_gate: may this warp go on? One word per warp, with a bit per right and asker (floor 2, calculation)
 *
 * Preemption, faults, rate control and residency each answer "may this warp go on?" alone. A host that adopts one of
 * them asks it directly. A host that adopts several keeps a gpump_warp_gate per warp: each asker closes and opens its
 * own bit, and the hot path is a load and a mask. The bits that are set are the reasons. Amounts, such as the room in a
 * log, are asked of their owner. */
#ifndef GPUMP_WARP_GATE_H
#define GPUMP_WARP_GATE_H



GPUMP_BEGIN

/* What a warp may do. */
typedef enum gpump_warp_right {
    GPUMP_WARP_FETCH = 0,   /* fetch its next instruction */
    GPUMP_WARP_ISSUE = 1,   /* issue the instruction that it has fetched */
    GPUMP_WARP_RELEASE = 2, /* release the sources of an instruction in flight */
    GPUMP_WARP_EFFECT = 3,  /* let a store or an atomic take effect */
    GPUMP_WARP_RIGHTS = 4
} gpump_warp_right;

/* Who may object. */
typedef enum gpump_warp_asker {
    GPUMP_WARP_PIPELINE = 0,   /* a branch, barrier or exit is in flight: the next PC is unknown */
    GPUMP_WARP_BARRIER = 1,    /* the warp waits at a barrier */
    GPUMP_WARP_PREEMPTION = 2, /* its block is told to stop */
    GPUMP_WARP_FAULT = 3,      /* a page fault of it is not resolved, or its instructions await replay */
    GPUMP_WARP_RATE = 4,       /* its kernel has spent its quota */
    GPUMP_WARP_RESIDENCY = 5,  /* it is swapped out, or has no slot */
    GPUMP_WARP_DEBUG = 6,      /* a debugger or a test holds it */
    GPUMP_WARP_HOST = 7,       /* the host's own reason */
    GPUMP_WARP_ASKERS = 8
} gpump_warp_asker;

/* Bit 8 * right + asker is set while the asker objects. 0: the warp may do everything. */
typedef uint32_t gpump_warp_gate;

/* The bit of one right and asker; both below their number. */
#define GPUMP_WARP_GATE_BIT(right, asker) ((gpump_warp_gate)1 << (8u * (uint32_t)(right) + (uint32_t)(asker)))

/* Makes `asker` object to `right` in *gate. A second call changes nothing. Cost: a mask. */
GPUMP_INLINE void gpump_warp_gate_close(gpump_warp_gate *gate, gpump_warp_right right, gpump_warp_asker asker) {
    *gate |= GPUMP_WARP_GATE_BIT(right, asker);
}

/* Ends the objection of `asker` to `right` in *gate. Objections of other askers stay. Cost: a mask. */
GPUMP_INLINE void gpump_warp_gate_open(gpump_warp_gate *gate, gpump_warp_right right, gpump_warp_asker asker) {
    *gate &= ~GPUMP_WARP_GATE_BIT(right, asker);
}

/* Returns the askers that object to `right` in `gate`, as bits 1 << asker. 0: none, so the warp has the right. Cost: a
 * shift and a mask. */
GPUMP_INLINE uint32_t gpump_warp_gate_askers(gpump_warp_gate gate, gpump_warp_right right) {
    return gate >> (8u * (uint32_t)right) & 0xffu;
}

/* Returns 1 when no asker objects to `right` in `gate`, else 0. Cost: a shift and a mask. */
GPUMP_INLINE int gpump_warp_gate_may(gpump_warp_gate gate, gpump_warp_right right) {
    return gpump_warp_gate_askers(gate, right) == 0;
}

/* Returns 1 while `asker` objects to `right` in `gate`, else 0. Cost: a mask. */
GPUMP_INLINE int gpump_warp_gate_closed_by(gpump_warp_gate gate, gpump_warp_right right, gpump_warp_asker asker) {
    return (gate & GPUMP_WARP_GATE_BIT(right, asker)) != 0;
}

/* Returns the reason of the lowest asker that objects to `right` in `gate` as text, such as "waits at a barrier"; NULL
 * when no asker objects. */
GPUMP_API const char *gpump_warp_gate_reason(gpump_warp_gate gate, gpump_warp_right right);

GPUMP_END

#endif

/* ---- gpump_impl/sm/sm.h ---- */
/* sm: slots, register and shared-memory allocation tables, block life cycle, preemption (hardware)
 *
 * One streaming multiprocessor (SM) as preemption sees it (Lin 2.3.1, Tanasic 5.2.2, Shieh 3.2 and 3.4.4). The host
 * executes instructions. The SM records which block holds which registers and shared memory, how far each block is,
 * and what must happen next:
 *
 *   gpump_sm_place            -> RUNNING; for a saved block RESTORING, and a RESTORE action
 *   gpump_sm_preempt, flush   -> FLUSHED, DROP action;  report_dropped -> FREED action
 *   gpump_sm_preempt, drain   -> DRAINING;              report_done    -> FREED action
 *   gpump_sm_preempt, switch  -> STOPPING, STOP action; report_waits 0 -> SAVING, SAVE action;
 *                                report_saved -> FREED action
 *   gpump_sm_preempt, rewind  -> STOPPING, REWIND action; then as for switch
 *   report_done, at any point before report_dropped or report_saved -> FREED action
 *   switch or rewind that keeps registers or shared memory in place -> PARKED action instead of FREED;
 *                                gpump_sm_unpark brings the block back
 *
 * The room of a block is free, and its slot can be used again, when gpump_sm_next hands over FREED. */
#ifndef GPUMP_SM_H
#define GPUMP_SM_H





GPUMP_BEGIN

/* How ranges of registers and shared memory are found. */
typedef enum gpump_sm_placement {
    /* The lowest free range, for registers and for shared memory separately. */
    GPUMP_SM_FIRST_FIT = 0,
    /* The lowest position at which both are free (Shieh 3.2). Position i starts at register i x registers per block and
     * at byte i x shared bytes per block. */
    GPUMP_SM_ALIGNED = 1
} gpump_sm_placement;

/* Who times the transfer of contexts. */
typedef enum gpump_sm_timing {
    /* The host moves the bytes through its own memory model and reports when they are saved and restored. */
    GPUMP_SM_TIMING_HOST = 0,
    /* The SM's memory port moves them at its share of the bandwidth, one transfer after the other. */
    GPUMP_SM_TIMING_PORT = 1
} gpump_sm_timing;

/* What a stopped block may wait for before its state is complete; bits. A host reports the bits that it knows. */
typedef enum gpump_sm_wait {
    GPUMP_SM_WAIT_PIPELINE = 1,
    GPUMP_SM_WAIT_STORES = 2,
    GPUMP_SM_WAIT_ATOMICS = 4,
    GPUMP_SM_WAIT_INSTRUCTION_MISSES = 8,
    GPUMP_SM_WAIT_SCOREBOARD = 16,
    GPUMP_SM_WAIT_PREEMPTION_POINT = 32,
    GPUMP_SM_WAIT_ALL = 63
} gpump_sm_wait;

/* The configuration of an SM. gpump_sm_config_preset or gpump_sm_config_from_gpu fills it; every field may then be
 * changed. */
typedef struct gpump_sm_config {
    uint32_t struct_size; /* sizeof(gpump_sm_config) */
    uint32_t lanes;       /* threads of a warp; 1 to 64 */
    uint32_t block_slots; /* blocks that hold warps at the same time; 1 to 64 */
    /* Entries of the allocation tables: blocks at the same time, parked blocks included; block_slots to 64 (Lin 2.3.1:
     * 16). */
    uint32_t entries;
    uint32_t warp_slots;           /* warps at the same time; 1 to 256 */
    uint32_t thread_slots;         /* threads at the same time; at least 1 */
    uint32_t registers;            /* 32-bit registers of the register file */
    uint32_t register_granule;     /* registers are allocated in multiples of this; at least 1 */
    uint32_t shared_bytes;         /* bytes of shared memory */
    uint32_t shared_granule_bytes; /* shared memory is allocated in multiples of this; at least 1 */
    uint32_t kernels;              /* kernels with blocks here at the same time, parked blocks included; 1 to 64 */
    uint32_t placement;            /* gpump_sm_placement */
    /* Techniques that the host can carry out, as bits 1 << gpump_technique. Only a host that records the region
     * boundaries of warps can rewind; the presets leave rewind out. */
    uint32_t techniques;
    uint32_t unused;
    uint32_t waits;  /* gpump_sm_wait bits that this host reports; 0: a stopped block is complete at once */
    uint32_t timing; /* gpump_sm_timing */
    /* A context of b bytes takes ceil(b x port_cycles / port_bytes) cycles; both at least 1. */
    uint64_t port_cycles;
    uint64_t port_bytes;
    /* Bytes preallocated for the saved contexts of each kernel (Tanasic 5.2.2). UINT64_MAX: unlimited.
     * gpump_sm_set_context_room says how much is left. */
    uint64_t context_bytes;
} gpump_sm_config;

/* What happened to a block before it came here. SAVE and FREED hand it to the host, gpump_sm_place takes it back. */
typedef struct gpump_sm_history {
    uint64_t executed;       /* warp instructions since the block was launched */
    uint64_t cycles;         /* cycles it has been on an SM since then */
    uint64_t register_bytes; /* bytes of registers in its saved context */
    uint64_t shared_bytes;   /* bytes of shared memory in its saved context */
    uint32_t clobbered;      /* 1: the block has overwritten something that it read, and may never be flushed */
    uint32_t unused;
} gpump_sm_history;

/* A block that asks for room. */
typedef struct gpump_sm_request {
    uint64_t cookie;      /* the host's name for the block's whole life */
    uint32_t kernel;      /* kernel number, from 1 */
    uint32_t group;       /* blocks of one group leave together; 0: no group */
    gpump_footprint need; /* threads, registers, shared memory of the whole block */
} gpump_sm_request;

/* What the host has to do, or to know. */
typedef enum gpump_sm_action_kind {
    /* Issue no more instructions of this block. With to_point each warp first runs to its preemption point. Then report
     * waits. */
    GPUMP_SM_ACTION_STOP = 1,
    /* Send the warps of the block back to their last region boundaries, as gpump_sm_action says. Then report waits. */
    GPUMP_SM_ACTION_REWIND,
    /* Write `parts` of the context. Under timing HOST, report saved. */
    GPUMP_SM_ACTION_SAVE,
    /* Read `parts` of the context into the given ranges. Under timing HOST, report restored. */
    GPUMP_SM_ACTION_RESTORE,
    /* The restore has ended and the block may issue. Only under timing PORT, because under HOST the host knows. */
    GPUMP_SM_ACTION_RESUME,
    /* Squash what is in flight and forget the block. Then report dropped. If the exit of the block's last thread is in
     * flight, the host may let it end instead, and reports done. */
    GPUMP_SM_ACTION_DROP,
    /* The block has left its warp slots. `parts` stay in place. */
    GPUMP_SM_ACTION_PARKED,
    /* The room is free. `why` and the history say how the block left. */
    GPUMP_SM_ACTION_FREED
} gpump_sm_action_kind;

/* One action. Ranges are those that the block has (DROP and FREED: had).
 *
 * REWIND: a warp that has neither ended nor waits at a barrier goes back to the region boundary that it passed last.
 * What the warp has in flight is squashed, its PC and SIMT stack become those recorded at the boundary, and
 * gpump_sm_report_rewound counts the instructions given up. A warp that has since done something that must not happen
 * twice (an atomic, a volatile access) runs on to its next boundary instead. Until all warps stand at a boundary, the
 * host reports GPUMP_SM_WAIT_PREEMPTION_POINT, if that bit is among config.waits, and warps may issue. */
typedef struct gpump_sm_action {
    uint64_t cookie;
    uint64_t bytes;       /* SAVE, RESTORE: bytes to move */
    uint64_t start_cycle; /* SAVE, RESTORE: when the SM's memory port is free for it */
    uint64_t end_cycle;   /* SAVE, RESTORE: when the last byte has passed, at the SM's share of the bandwidth */
    gpump_sm_history history;
    gpump_block_ref block;
    uint32_t kind;      /* gpump_sm_action_kind */
    uint32_t why;       /* gpump_block_state: SAVED, FLUSHED or DONE with FREED */
    uint32_t technique; /* gpump_technique it was told to leave by; GPUMP_NONE: none */
    uint32_t parts;     /* gpump_part bits: what to move (SAVE, RESTORE), what stays (PARKED) */
    uint32_t kernel;
    uint32_t register_base, registers;
    uint32_t shared_base, shared_bytes;
    uint32_t threads, warps;
    uint32_t unused;
} gpump_sm_action;

/* Counters since gpump_sm_init; names, units and descriptions by gpump_sm_statistics_field. */
/* clang-format off */
#define GPUMP_SM_STATISTICS(X)                                                                          \
    X(placed, "blocks", "new blocks placed")                                                            \
    X(restored, "blocks", "saved blocks placed again")                                                  \
    X(unparked, "blocks", "parked blocks brought back")                                                 \
    X(done, "blocks", "blocks that ran to their end, drained ones included")                            \
    X(drained, "blocks", "blocks that ran to their end after being told to")                            \
    X(flushed, "blocks", "blocks dropped")                                                              \
    X(saved, "blocks", "blocks whose context was written")                                              \
    X(rewound, "blocks", "blocks told to go back to their last region boundaries and be saved there")   \
    X(parked, "blocks", "blocks of which a part stayed in place")                                       \
    X(executed, "warp instructions", "instructions executed here by blocks that have left; " \
      "those before a restore not again") \
    X(wasted, "warp instructions", "instructions thrown away by flushes and rewinds")                   \
    X(bytes_saved, "bytes", "context bytes written")                                                    \
    X(bytes_restored, "bytes", "context bytes read")                                                    \
    X(stop_cycles, "cycles", "summed over blocks: from being told to switch to the state being complete") \
    X(save_cycles, "cycles", "summed over blocks: from complete state to saved, or to its end")                        \
    X(restore_cycles, "cycles", "summed over blocks: from placed to running again")                     \
    X(drain_cycles, "cycles", "summed over blocks: from being told to drain to done")                   \
    X(drop_cycles, "cycles", "summed over blocks: from being told to flush to dropped, or to its end")                 \
    X(port_cycles, "cycles", "cycles the memory port was reserved for contexts")
/* clang-format on */
typedef struct gpump_sm_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMP_SM_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_sm_statistics;

/* ---- private, here so that hot facts and questions can be inline ---- */
typedef struct gpumpi_sm_slot {
    uint64_t cookie;               /* the host's name for the block */
    uint64_t executed;             /* warp instructions of this launch */
    uint64_t start_cycle;          /* when it began, or was restored, here */
    uint64_t cycles;               /* cycles it ran before start_cycle; all of them once it is being saved */
    uint64_t register_bytes;       /* what a save of its registers moves, bytes */
    uint64_t shared_context_bytes; /* what a save of its shared memory moves, bytes */
    uint64_t port_start;           /* the transfer under way: when the port is free for it */
    uint64_t port_end;             /* the transfer under way: when its last byte has passed */
    uint64_t since;                /* when the present state began, or the order to leave came */
    uint64_t moved;                /* bytes of the transfer under way */
    uint64_t taken;                /* bytes of context room that this block has taken from its kernel */
    uint64_t brought;              /* `executed` when it was placed */
    uint32_t generation;           /* of the slot: counts its blocks */
    uint32_t kernel;               /* kernel number, from 1 */
    uint32_t state;                /* gpump_block_state */
    uint32_t group;                /* blocks of one kernel and group leave together; 0: none */
    uint32_t register_base;        /* first 32-bit register of its range */
    uint32_t registers;            /* length of that range, also while it has given the range up */
    uint32_t shared_base;          /* first byte of its shared memory */
    uint32_t shared_bytes;         /* length of that range, likewise */
    uint32_t threads;              /* thread slots it takes while it is active */
    uint32_t warps;                /* warp slots it takes while it is active */
    uint32_t waits;                /* STOPPING: gpump_sm_wait bits that are still to end */
    uint32_t clobbered;            /* 1: it has overwritten something it read, and may not be flushed */
    uint32_t technique;            /* gpump_technique it was told to leave by; GPUMP_NONE */
    uint32_t keep;                 /* gpump_part bits that stay in place when it is preempted */
    uint32_t to_point;             /* 1: warps issue until they are at a preemption point or region boundary */
    uint32_t pending;              /* actions to be handed over: bit k is gpump_sm_action_kind k */
    uint32_t held;                 /* gpump_part bits of the ranges that it holds */
    uint32_t parts;                /* gpump_part bits that the transfer under way moves */
    uint32_t why;                  /* FREED: the state in which it left */
    uint32_t active;               /* 1: it holds a block slot, warp slots and thread slots */
} gpumpi_sm_slot;
typedef struct gpumpi_sm_kernel {
    uint64_t room;
    uint32_t kernel, blocks;
} gpumpi_sm_kernel;
typedef struct gpump_sm {
    gpumpi_head head;
    uint64_t now, port_free;
    uint64_t wake_cycle; /* no transfer under way ends before; GPUMP_UNKNOWN: none is under way, or timing HOST */
    uint64_t pending;    /* bit i: slot i has an action to hand over */
    gpump_sm_config config;
    gpump_sm_statistics statistics;
    uint32_t blocks, warps, threads, reserved_for, shared_bytes, unused;
} gpump_sm;
GPUMP_INLINE gpumpi_sm_slot *gpumpi_sm_slots(gpump_sm *sm) { return (gpumpi_sm_slot *)(void *)(sm + 1); }
GPUMP_INLINE const gpumpi_sm_slot *gpumpi_sm_slots_const(const gpump_sm *sm) {
    return (const gpumpi_sm_slot *)(const void *)(sm + 1);
}
GPUMP_INLINE int gpumpi_sm_names(const gpump_sm *sm, gpump_block_ref block) {
    return block.slot < sm->config.entries && gpumpi_sm_slots_const(sm)[block.slot].generation == block.generation &&
           gpumpi_sm_slots_const(sm)[block.slot].state != GPUMP_BLOCK_FREE;
}
/* ---- end of the private part ---- */

/* Fills *config for an SM of a preset of gpump_gpu_config_preset: its largest shared-memory size, one kernel at a time,
 * first fit, all waits, host timing, unlimited context space. GPUMP_ERROR_UNKNOWN_NAME otherwise. */
GPUMP_API gpump_result gpump_sm_config_preset(gpump_sm_config *config, const char *preset);
/* Fills *config for an SM of any valid *gpu in the same way; shared_bytes is one of its options
 * (gpump_occupancy.shared_bytes). GPUMP_ERROR_ARGUMENT. */
GPUMP_API gpump_result gpump_sm_config_from_gpu(gpump_sm_config *config, const gpump_gpu *gpu, uint32_t shared_bytes);
/* Sets *bytes to the memory an SM of this configuration needs. GPUMP_ERROR_CONFIG names the field at fault in diag. */
GPUMP_API gpump_result gpump_sm_bytes(const gpump_sm_config *config, size_t *bytes, gpump_diag *diag);
/* Makes an empty SM in `memory` (8-byte aligned, at least gpump_sm_bytes) and sets *sm. Nothing is allocated, then or
 * later. GPUMP_ERROR_CONFIG, GPUMP_ERROR_CAPACITY. Cost: linear in the memory. */
GPUMP_API gpump_result gpump_sm_init(void *memory, size_t bytes, const gpump_sm_config *config, gpump_sm **sm,
                                     gpump_diag *diag);
/* Takes over a byte copy of an SM of the same configuration and build and sets *sm. GPUMP_ERROR_FORMAT for anything
 * else. */
GPUMP_API gpump_result gpump_sm_adopt(void *memory, size_t bytes, const gpump_sm_config *config, gpump_sm **sm,
                                      gpump_diag *diag);
/* Checks states, ranges, counts and pending actions against each other. For memory from outside: once gpump_sm_adopt
 * has taken it over and this returns GPUMP_OK, every later call is safe. GPUMP_ERROR_FORMAT, and diag->field says what
 * contradicts what, diag->index in which slot or kernel. Cost: slots squared. */
GPUMP_API gpump_result gpump_sm_check(const gpump_sm *sm, gpump_diag *diag);
/* Returns a hash of the whole state, the same on every machine. Cost: linear in the slots. */
GPUMP_API uint64_t gpump_sm_hash(const gpump_sm *sm);

/* The SRAM an SM of this configuration needs, bits. */
typedef struct gpump_sm_storage {
    /* Register and shared-memory tables: start, length, slot and 5-bit kernel per entry (Lin 2.3.1: 160 B). */
    uint64_t allocation_bits;
    uint64_t status_bits; /* executed (32), issue cycle (32), flush bit per block slot (Shieh 3.4.4) */
    uint64_t life_bits;   /* state, technique, parts kept, waits per entry; warps and threads per entry */
    uint64_t total_bits;
} gpump_sm_storage;
/* Sets *bits to the SRAM that an SM of this configuration needs, all tables together. GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_sm_bits(const gpump_sm_config *config, uint64_t *bits, gpump_diag *diag);
/* Fills *storage with the same, table by table. GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_sm_table_bits(const gpump_sm_config *config, gpump_sm_storage *storage, gpump_diag *diag);

/* ---- facts ---- */

/* Gives a block (*request) its room at cycle `now`. `saved` is NULL for a block that starts, else the history that came
 * with its SAVE or FREED: then it is RESTORING and a RESTORE action follows. Sets *block. GPUMP_BUSY when there is no
 * room now, with the reason in diag (threads, warps, slots, registers, shared memory, kernels, reserved);
 * GPUMP_ERROR_REFUSED with NEVER_FITS when there never will be. Cost: slots squared at worst. */
GPUMP_API gpump_result gpump_sm_place(gpump_sm *sm, uint64_t now, const gpump_sm_request *request,
                                      const gpump_sm_history *saved, gpump_block_ref *block, gpump_diag *diag);
/* Places a block as gpump_sm_place does, but in the entry `slot` of the tables: for a host whose hardware slots have
 * the numbers of gpump's. slot = GPUMP_NONE takes the lowest free entry. GPUMP_BUSY with BLOCK_SLOTS in diag when a
 * block holds the entry: it is free once FREED has been pulled. GPUMP_ERROR_ARGUMENT when `slot` is not below
 * config.entries; else as gpump_sm_place. */
GPUMP_API gpump_result gpump_sm_place_in(gpump_sm *sm, uint64_t now, uint32_t slot, const gpump_sm_request *request,
                                         const gpump_sm_history *saved, gpump_block_ref *block, gpump_diag *diag);
/* Counts `warp_instructions` more warp instructions of a block. Hot: no time, no search. GPUMP_ERROR_STALE if it is not
 * here. */
GPUMP_INLINE gpump_result gpump_sm_report_executed(gpump_sm *sm, gpump_block_ref block, uint32_t warp_instructions) {
    if (!gpumpi_sm_names(sm, block)) return GPUMP_ERROR_STALE;
    gpumpi_sm_slots(sm)[block.slot].executed += warp_instructions;
    return GPUMP_OK;
}
/* Counts `warp_instructions` of a block that its warps have given up by going back to a region boundary: they are
 * wasted, and no longer part of what the block has executed. GPUMP_ERROR_STATE unless the block is STOPPING by rewind,
 * GPUMP_ERROR_ARGUMENT when it has executed less, GPUMP_ERROR_STALE. */
GPUMP_API gpump_result gpump_sm_report_rewound(gpump_sm *sm, gpump_block_ref block, uint64_t warp_instructions);
/* Clears a block's flush bit: it did an atomic, or a store to something its launch has read. Hot. GPUMP_ERROR_STALE. */
GPUMP_INLINE gpump_result gpump_sm_report_clobber(gpump_sm *sm, gpump_block_ref block) {
    if (!gpumpi_sm_names(sm, block)) return GPUMP_ERROR_STALE;
    gpumpi_sm_slots(sm)[block.slot].clobbered = 1;
    return GPUMP_OK;
}
/* Says what a STOPPING block still waits for, all its warps together: `waits`, gpump_sm_wait bits among config.waits;
 * 0: its state is complete, and SAVE follows. GPUMP_ERROR_STATE in other states. */
GPUMP_API gpump_result gpump_sm_report_waits(gpump_sm *sm, uint64_t now, gpump_block_ref block, uint32_t waits);
/* Says how many bytes a switch of this block would move, register_bytes and shared_bytes (what is live, compressed
 * ...); until then, what is allocated. GPUMP_ERROR_STATE once the block is SAVING. */
GPUMP_API gpump_result gpump_sm_report_context_bytes(gpump_sm *sm, gpump_block_ref block, uint64_t register_bytes,
                                                     uint64_t shared_bytes);
/* Says that a running block as a whole waits for something (blocked = 1), or no longer does (0). GPUMP_ERROR_STATE when
 * that is no change. */
GPUMP_API gpump_result gpump_sm_report_blocked(gpump_sm *sm, uint64_t now, gpump_block_ref block, uint32_t blocked);
/* Says that the context of a block whose SAVE was handed over has been written (timing HOST). GPUMP_ERROR_STATE. */
GPUMP_API gpump_result gpump_sm_report_saved(gpump_sm *sm, uint64_t now, gpump_block_ref block);
/* Says that the context of a block whose RESTORE was handed over has been read: it runs (timing HOST).
 * GPUMP_ERROR_STATE. */
GPUMP_API gpump_result gpump_sm_report_restored(gpump_sm *sm, uint64_t now, gpump_block_ref block);
/* Says that the last thread of the block has ended. Allowed while the block runs, is blocked, drains or stops, and also
 * after it was told to flush or while it is being saved: its last exit may then be in the pipeline. The block counts as
 * done in all of these cases. What it executed is not wasted, a pending STOP, REWIND, DROP or SAVE is withdrawn, and
 * the host forgets one that it has pulled already: it reports neither dropped nor saved. FREED follows, with why DONE.
 * GPUMP_ERROR_STATE once the block is saved, dropped or parked. */
GPUMP_API gpump_result gpump_sm_report_done(gpump_sm *sm, uint64_t now, gpump_block_ref block);
/* Says that nothing of a flushed block whose DROP was handed over is in flight any more. GPUMP_ERROR_STATE. */
GPUMP_API gpump_result gpump_sm_report_dropped(gpump_sm *sm, uint64_t now, gpump_block_ref block);
/* Lets time pass; only needed under timing PORT by hosts that ask questions before they pull actions. Cost: linear in
 * the slots. */
GPUMP_API gpump_result gpump_sm_advance(gpump_sm *sm, uint64_t now);

/* Reserves the SM for one kernel (Tanasic 5.2.2): only blocks of `kernel` are placed; 0 lifts it. */
GPUMP_API gpump_result gpump_sm_reserve(gpump_sm *sm, uint32_t kernel);
/* Says how many `bytes` are left of the space preallocated for contexts of a kernel that has blocks here
 * (GPUMP_ERROR_ARGUMENT for others). It starts at config.context_bytes with the kernel's first block; switching takes
 * from it, a restore that has ended gives back, up to config.context_bytes. Where several SMs share the space
 * (gpump_context_pool), say what is left before asking or preempting. */
GPUMP_API gpump_result gpump_sm_set_context_room(gpump_sm *sm, uint32_t kernel, uint64_t bytes);
/* Changes the size of shared memory to `bytes`, at most what gpump_sm_init got (GPUMP_ERROR_ARGUMENT): nothing may lie
 * beyond the new end (GPUMP_ERROR_STATE). Cost: linear in the slots. */
GPUMP_API gpump_result gpump_sm_set_shared_bytes(gpump_sm *sm, uint32_t bytes, gpump_diag *diag);

/* ---- questions ---- */

/* Returns 1 when warps of the block in `slot` may issue: running, draining, or stopping on the way to a preemption
 * point. Hot. */
GPUMP_INLINE int gpump_sm_may_issue(const gpump_sm *sm, uint32_t slot) {
    const gpumpi_sm_slot *block = &gpumpi_sm_slots_const(sm)[slot];
    return block->state == GPUMP_BLOCK_RUNNING || block->state == GPUMP_BLOCK_DRAINING ||
           (block->state == GPUMP_BLOCK_STOPPING && block->to_point && (block->waits & GPUMP_SM_WAIT_PREEMPTION_POINT));
}
/* Returns the state of the block in `slot` (gpump_block_state). Hot. */
GPUMP_INLINE uint32_t gpump_sm_state(const gpump_sm *sm, uint32_t slot) {
    return gpumpi_sm_slots_const(sm)[slot].state;
}
/* Returns 0 when gpump_sm_next would answer GPUMP_EMPTY at cycle `now`, so that a host need not call it; 1 when it may
 * have an action. Time need not pass in between: no call is due while the answer is 0. Hot: two loads, no search. */
GPUMP_INLINE int gpump_sm_has_action(const gpump_sm *sm, uint64_t now) {
    return sm->pending != 0 || now >= sm->wake_cycle;
}
/* Returns whether a block may leave by a technique now, or after a wait that ends by itself; else why not. */
GPUMP_API gpump_reason gpump_sm_may(const gpump_sm *sm, gpump_block_ref block, uint32_t technique);
/* Returns the first thing a STOPPING block waits for, YES for nothing; *waits gets all of them, *since when it was
 * stopped (both may be NULL). NOT_RUNNING in other states. */
GPUMP_API gpump_reason gpump_sm_waits_for(const gpump_sm *sm, gpump_block_ref block, uint32_t *waits, uint64_t *since);
/* Returns whether a block of this kernel and footprint *need finds room now; else which resource is short. Cost: slots
 * squared at worst. */
GPUMP_API gpump_reason gpump_sm_room(const gpump_sm *sm, uint32_t kernel, const gpump_footprint *need);
/* Lists the blocks here, by slot, as decisions see them, in blocks[capacity] (64 always suffice) and sets *count. `now`
 * dates .cycles. GPUMP_ERROR_CAPACITY. Cost: linear in the slots. */
GPUMP_API gpump_result gpump_sm_blocks(const gpump_sm *sm, uint64_t now, gpump_block_view *blocks, uint32_t capacity,
                                       uint32_t *count);
/* Fills the view of one block. GPUMP_ERROR_STALE. */
GPUMP_API gpump_result gpump_sm_block(const gpump_sm *sm, uint64_t now, gpump_block_ref block, gpump_block_view *view);
/* Returns the bytes that are left for contexts of a kernel; UINT64_MAX when unlimited or when it has no blocks here. */
GPUMP_API uint64_t gpump_sm_context_room(const gpump_sm *sm, uint32_t kernel);

/* ---- decisions carried out ---- */

/* Makes the blocks of choices[count] leave, each by its own technique: all of them or, on an error, none; diag.index is
 * the choice at fault and diag.reason why (GPUMP_ERROR_REFUSED). Blocks may be running, blocked or draining; a stopping
 * or parked one may be flushed, and a parked one switched again to give up more. Groups must be complete. Cost: linear
 * in the slots and choices. */
GPUMP_API gpump_result gpump_sm_preempt(gpump_sm *sm, uint64_t now, const gpump_block_choice *choices, uint32_t count,
                                        gpump_diag *diag);
/* Brings a parked block back: takes warp slots and the ranges it gave up, then RESTORE (0 bytes when all stayed in
 * place). GPUMP_BUSY with the reason when there is no room, GPUMP_ERROR_STATE when it is not parked. */
GPUMP_API gpump_result gpump_sm_unpark(gpump_sm *sm, uint64_t now, gpump_block_ref block, gpump_diag *diag);
/* Hands over the next action, by slot, in each slot in the order of its life. GPUMP_EMPTY when there is none
 * (gpump_sm_has_action asks that inline). Cost: constant; linear in the slots in a cycle in which a transfer ends
 * (timing PORT). */
GPUMP_API gpump_result gpump_sm_next(gpump_sm *sm, uint64_t now, gpump_sm_action *action);
/* Returns the cycle of the next action that comes by itself: the present one when one is ready, GPUMP_UNKNOWN when only
 * a fact can bring one. Cost: linear in the slots. */
GPUMP_API uint64_t gpump_sm_next_cycle(const gpump_sm *sm);

/* Copies the counters into *statistics; residents' instructions are in gpump_sm_blocks. */
GPUMP_API void gpump_sm_get_statistics(const gpump_sm *sm, gpump_sm_statistics *statistics);
/* Sets *difference to later - earlier, field by field: a region of interest. */
GPUMP_API void gpump_sm_statistics_diff(const gpump_sm_statistics *earlier, const gpump_sm_statistics *later,
                                        gpump_sm_statistics *difference);
/* Sets *name, *unit and *description of the index-th counter and *value, its value in *statistics; GPUMP_EMPTY past the
 * last. Any pointer may be NULL but statistics. */
GPUMP_API gpump_result gpump_sm_statistics_field(const gpump_sm_statistics *statistics, uint32_t index,
                                                 const char **name, const char **unit, const char **description,
                                                 uint64_t *value);

GPUMP_END
#endif

/* ---- gpump_impl/victim/cost.h ---- */
/* cost: latency and overhead of each technique for each block of an SM (calculation and one small table; Shieh 3.3.2)
 */
#ifndef GPUMP_COST_H
#define GPUMP_COST_H





GPUMP_BEGIN

/* Number of finished blocks of a kernel that the estimates use. */
#define GPUMP_COST_WINDOW 64

/* The finished blocks of one kernel. The struct is held by value, has no pointers, and is copied by assignment. A
 * zeroed struct is an empty history. CPI is cycles per warp instruction of one block, Q16.16. */
typedef struct gpump_cost_history {
    uint64_t finished;          /* blocks ever recorded */
    uint64_t instructions_sum;  /* over the window */
    uint64_t cpi_sum;           /* over the window, Q16.16 */
    uint64_t deviation_sum;     /* the same in steps of 1/256 cycle, at most 2^24 each: for the deviation */
    uint64_t deviation_squares; /* and its squares */
    uint64_t instructions[GPUMP_COST_WINDOW]; /* ring of the last blocks */
    uint32_t cpi[GPUMP_COST_WINDOW];          /* Q16.16, saturated */
} gpump_cost_history;

/* Where the drain estimate takes its CPI from. */
typedef enum gpump_cost_cpi {
    /* Of the two sources below, the one with the smaller standard deviation (Shieh). A tie is RUNNING. */
    GPUMP_COST_CPI_SMALLER_DEVIATION = 0,
    GPUMP_COST_CPI_RUNNING = 1,  /* the block's own CPI so far (Chimera, as recalled: docs/papers.md) */
    GPUMP_COST_CPI_FINISHED = 2, /* mean CPI of the last finished blocks */
    GPUMP_COST_CPI_SOURCES = 3
} gpump_cost_cpi;

/* Bits of gpump_cost_options.flags. DRAIN_LOSES: a drain is charged with the issue slots that idle until the last block
 * of the SM has left (Chimera). DRAIN_CAREFUL: a block that may not be flushed is assumed to run as long as the longest
 * block of the window instead of the mean one (ours). */
#define GPUMP_COST_DRAIN_LOSES 1u
#define GPUMP_COST_DRAIN_CAREFUL 2u

typedef struct gpump_cost_options {
    uint32_t cpi;   /* gpump_cost_cpi */
    uint32_t flags; /* GPUMP_COST_... */
    /* With GPUMP_COST_DRAIN_LOSES: a block whose drain fits into this many cycles is assumed to be drained. */
    uint64_t limit_cycles;
} gpump_cost_options;

/* What a rewind of one block would save and lose. */
typedef struct gpump_cost_rewind {
    uint64_t bytes;    /* live-ins of its warps' last region boundaries and its shared memory */
    uint64_t executed; /* warp instructions since those boundaries */
} gpump_cost_rewind;

/* One block's cost by each gpump_technique. */
typedef struct gpump_cost_estimate {
    uint64_t latency[GPUMP_TECHNIQUES];  /* cycles until its room is free; GPUMP_UNKNOWN: cannot be told */
    uint64_t overhead[GPUMP_TECHNIQUES]; /* warp instructions lost; GPUMP_UNKNOWN likewise */
} gpump_cost_estimate;

/* Records a finished block in *history: the warp `instructions` of its whole life and the `cycles` that it ran, without
 * stalls for a switch. A block without instructions is not recorded. Cost: a division. */
GPUMP_API void gpump_cost_history_record(gpump_cost_history *history, uint64_t instructions, uint64_t cycles);
/* Returns how many blocks the window holds, 0 to GPUMP_COST_WINDOW. */
GPUMP_API uint32_t gpump_cost_history_count(const gpump_cost_history *history);
/* Returns the mean instructions of a finished block, rounded up; GPUMP_UNKNOWN when none has finished. */
GPUMP_API uint64_t gpump_cost_history_instructions(const gpump_cost_history *history);
/* Returns a hash of the table, the same on every machine. Cost: linear in the window. */
GPUMP_API uint64_t gpump_cost_history_hash(const gpump_cost_history *history);
/* Returns the table's size, bits: per entry instructions and CPI, 32 bits each, and the five sums. */
GPUMP_API uint64_t gpump_cost_history_bits(void);

/* Returns the cycles per warp instruction of a block so far, Q16.16, rounded up; GPUMP_UNKNOWN when it has executed
 * nothing. */
GPUMP_API uint64_t gpump_cost_cpi_of(uint64_t executed, uint64_t cycles);

/* Estimates every block of one SM by every technique (Shieh 3.3.2).
 *   gpu        clock and bandwidth: a switch moves context_bytes at the SM's share (1/sms)
 *   histories  indexed by kernel number; entries past history_count, or NULL, know nothing
 *   blocks     the SM's resident blocks, count up to 64
 *   rewind     parallel to blocks, or NULL: no rewind
 *   options    NULL: Shieh's
 *   estimates  out, parallel to blocks
 * flush: 0 cycles, all executed instructions. switch: bytes over bandwidth; the kernel's mean IPC of a block on this SM
 * x 2 latencies (saved and restored). drain: (mean instructions of finished blocks - executed) x CPI, at least 0;
 * nothing lost. rewind: its bytes over bandwidth; the instructions since the boundary and the two stalls as in switch.
 * The function does not ask whether a technique is allowed (gpump_block_view.may). An estimate without enough samples
 * is GPUMP_UNKNOWN: a deviation needs two samples, an average one. Each block is estimated alone; gpump_cost_port has
 * the times of several saves that share the SM's port. Cost: a few divisions per block. Errors: GPUMP_ERROR_ARGUMENT.
 */
GPUMP_API gpump_result gpump_cost_estimate_blocks(const gpump_gpu *gpu, const gpump_cost_history *histories,
                                                  uint32_t history_count, const gpump_block_view *blocks,
                                                  uint32_t count, const gpump_cost_rewind *rewind,
                                                  const gpump_cost_options *options, gpump_cost_estimate *estimates,
                                                  gpump_diag *diag);

/* Returns which source (gpump_cost_cpi) the drain estimate of `kernel` takes on the SM of blocks[count] under
 * GPUMP_COST_CPI_SMALLER_DEVIATION; with neither deviation known, GPUMP_COST_CPI_SOURCES. Cost: linear in count. */
GPUMP_API gpump_cost_cpi gpump_cost_cpi_source(const gpump_cost_history *history, const gpump_block_view *blocks,
                                               uint32_t count, uint32_t kernel);

/* Computes the exact latency of several saves that share the port of their SM. The saves are ordered shortest first,
 * which frees each block as early as possible. `cycles` are the latencies of the saves alone (count up to 64). order[i]
 * is the index of the i-th save, and finish[k] the cycle at which save k ends. Returns the cycle at which the last save
 * ends. The paper's estimate is the longest save alone. */
GPUMP_API uint64_t gpump_cost_port(const uint64_t *cycles, uint32_t count, uint32_t *order, uint64_t *finish);

GPUMP_END
#endif

/* ---- gpump_impl/victim/victim.h ---- */
/* victim: which blocks of which SM leave, each by which technique (floor 3, calculation; Shieh chapter 3, Chimera,
 * Tanasic 7.2.1)
 *
 * Views in, decision out. A kernel that comes in gets predetermined positions on each SM (Shieh 3.2, Fig 3.7); the
 * blocks that lie on a position are its candidate victim set (3.3.1); a policy prices every block by every technique it
 * may leave by and picks candidates until the request is met (Algorithm 1). Nothing is kept between calls and nothing
 * is allocated. */
#ifndef GPUMP_VICTIM_H
#define GPUMP_VICTIM_H






GPUMP_BEGIN

#define GPUMP_VICTIM_BLOCKS 64    /* resident blocks of an SM at most: sets are 64-bit masks over the view's indices */
#define GPUMP_VICTIM_POSITIONS 64 /* positions of an SM at most */
#define GPUMP_VICTIM_NO_TECHNIQUE 255u

/* The positions of an incoming kernel on an SM. Position p: registers p * registers up, shared memory p * shared_bytes
 * up, and one block slot, `warps` warp slots and `threads` threads wherever they are free.
 *
 * `positions` counts addresses: how many blocks the register file and the shared memory have room for, one after the
 * other. `blocks` counts blocks that fit on an empty SM, where warp slots, threads and block slots are limits too
 * (gpump_occupancy.blocks). `blocks` is at most `positions`, and any `blocks` of the positions can be held at once. A
 * kernel of 256 threads, 16 registers per thread and no shared memory has 8 positions in 32,768 registers, but 6 blocks
 * where the SM has 1,536 threads. */
typedef struct gpump_victim_geometry {
    uint64_t register_factor; /* ceil(2^40 / registers), 0 without registers: divisions by multiplication */
    uint64_t shared_factor;
    uint32_t positions; /* addresses for a block; 1 to GPUMP_VICTIM_POSITIONS */
    uint32_t registers; /* of a position: the block's, rounded to the granule */
    uint32_t shared_bytes;
    uint32_t warps;
    uint32_t threads;
    uint32_t blocks;     /* blocks that fit on an empty SM; at most so many positions are taken at once */
    uint32_t warp_slots; /* of the SM */
    uint32_t thread_slots;
    uint32_t block_slots;
    uint32_t unused;
    uint32_t register_file;       /* of the SM, 32-bit registers */
    uint32_t shared_memory_bytes; /* of the SM */
    uint32_t entries;             /* blocks that the SM can name, parked ones included (gpump_sm_config.entries) */
} gpump_victim_geometry;

/* One SM as a decision sees it. */
typedef struct gpump_victim_sm {
    const gpump_block_view *blocks; /* every block that holds room there, those of the incoming kernel included */
    const gpump_cost_estimate
        *estimates;    /* parallel to blocks; from gpump_cost_estimate_blocks, or true costs for an oracle */
    uint64_t reserved; /* positions already promised to the incoming kernel and not yet filled */
    uint32_t count;    /* 0 to GPUMP_VICTIM_BLOCKS */
    uint32_t sm;       /* its number, copied to the decision */
} gpump_victim_sm;

/* Bits of gpump_victim_request.flags. */
#define GPUMP_VICTIM_SERIAL_PORT \
    1u /* saves of one SM follow each other: latencies of switch and rewind add up (policies that can) */

typedef struct gpump_victim_request {
    uint32_t struct_size;  /* sizeof(gpump_victim_request) */
    uint32_t kernel;       /* number of the incoming kernel; its own blocks are never victims */
    uint32_t positions;    /* blocks of the incoming kernel that wait for room, over all SMs */
    uint32_t flags;        /* GPUMP_VICTIM_SERIAL_PORT */
    uint64_t since;        /* cycle of the request */
    uint64_t now;          /* cycle of the decision; not before `since` */
    uint64_t limit_cycles; /* deadline of the last position, counted from `since`; GPUMP_UNKNOWN: none */
    /* Policy drain-then-switch: cycles from `since` until draining blocks are switched. GPUMP_UNKNOWN: as late as the
     * limit allows. */
    uint64_t timeout_cycles;
    /* Policy joint: price of one cycle of lateness, in warp instructions. 0: the limit is kept whatever it costs. */
    uint64_t late_price;
} gpump_victim_request;

/* A position that the incoming kernel gets. */
typedef struct gpump_victim_place {
    uint64_t latency; /* estimated cycles until registers, shared memory, warps, threads and a slot are free; 0: at
                         once; GPUMP_UNKNOWN */
    uint32_t sm;
    uint32_t position;
    uint32_t register_base;
    uint32_t shared_base;
    uint32_t victims; /* how many of the SM's victims lie on it */
    uint32_t late;    /* 1: the estimate is past the limit */
} gpump_victim_place;

typedef struct gpump_victim_decision {
    uint64_t latency;    /* of the place, or without places the choice, that is free last; estimated cycles */
    uint64_t overhead;   /* estimated loss of all choices, warp instructions; saturated */
    uint64_t ask_again;  /* cycle at which to call gpump_victim_reconsider; GPUMP_UNKNOWN: never */
    uint32_t places;     /* entries of question->places that were written */
    uint32_t choices;    /* entries of question->choices that were written */
    uint32_t late;       /* places whose latency is past the limit */
    uint32_t missing;    /* positions asked for that preemption cannot free now (vacate: blocks that stay) */
    gpump_reason reason; /* why something is missing; GPUMP_REASON_YES: nothing is */
    uint32_t sms;        /* SMs with a place or a choice */
} gpump_victim_decision;

/* ---- policies ---- */

/* Bits of gpump_victim_policy.flags. */
/* An SM is handed over only when all its blocks have left (Chimera, Tanasic). */
#define GPUMP_VICTIM_WHOLE_SM 1u
/* The estimates should be true costs: the host forks, or knows them. */
#define GPUMP_VICTIM_TRUE_COSTS 2u
/* A block that leaves already, or that was chosen for another position, does not count for the latency of a position
 * (Shieh Fig 3.9). */
#define GPUMP_VICTIM_EVICTED 4u
/* The request ends with its last position. If one position cannot be freed before the deadline, the whole request is
 * late, and the policy plans every position for the latest time instead of the deadline: freeing the others earlier
 * gains nothing. The plan hook is called several times to find that time, and again in second looks. */
#define GPUMP_VICTIM_COMMON_DEADLINE 8u

struct gpump_victim_policy;

/* What a technique hook sees. */
typedef struct gpump_victim_technique_args {
    const struct gpump_victim_policy *policy;
    const gpump_victim_request *request;
    const gpump_block_view *block;
    const gpump_cost_estimate *estimate;
    uint32_t allowed;    /* techniques the block may leave by and the policy uses, as bits; not 0 */
    uint32_t draining;   /* 1: it is draining already, the question is whether it goes on */
    uint64_t left;       /* cycles until the deadline; GPUMP_UNKNOWN: no limit */
    uint64_t *ask_again; /* lower it to a cycle after request->now to be asked again about blocks that drain */
} gpump_victim_technique_args;

/* One candidate: a position and the blocks that must leave it. */
typedef struct gpump_victim_candidate {
    uint64_t victims;  /* mask over the SM's view */
    uint64_t latency;  /* of the slowest (3.1) */
    uint64_t overhead; /* sum (3.2) */
    uint32_t position;
    uint32_t late; /* victims past the limit */
} gpump_victim_candidate;

/* What a candidate hook sees. */
typedef struct gpump_victim_candidate_args {
    const struct gpump_victim_policy *policy;
    const gpump_victim_request *request;
    const gpump_victim_candidate *candidates; /* count of them */
    uint32_t count;                           /* at least 1 */
} gpump_victim_candidate_args;

/* What a plan hook sees of an SM. Masks have a bit per block of sm->blocks, or per position. */
typedef struct gpump_victim_plan_args {
    const struct gpump_victim_policy *policy;
    const gpump_victim_request *request;
    const gpump_victim_geometry *geometry; /* NULL when `draining` is not 0 */
    const gpump_victim_sm *sm;
    const uint64_t *sets; /* candidate sets by position: the blocks on its registers or shared memory; NULL likewise */
    uint64_t open;        /* positions that may be taken */
    uint64_t leaving;     /* blocks on their way out: their room becomes free without a choice */
    uint64_t fixed;       /* blocks that may leave by no technique of the policy */
    uint64_t parked;      /* blocks that hold no slots, only registers or shared memory */
    uint64_t kept;        /* blocks of `leaving` that leave a part in place; positions under that part are not open */
    uint64_t choosable;   /* all other blocks that are not of the incoming kernel: the victims come from these */
    uint64_t left;        /* cycles until the deadline, or until the later time of GPUMP_VICTIM_COMMON_DEADLINE;
                             GPUMP_UNKNOWN: no limit */
    uint32_t want;        /* positions to take at most */
    int64_t free_warps; /* warp slots held neither by a block that stays nor by a promised position; may be negative */
    int64_t free_threads; /* thread slots, likewise */
    int64_t free_slots;   /* block slots, likewise */
    int64_t free_entries; /* entries of the allocation tables, which name parked blocks too; likewise */
    /* 0 in gpump_victim_decide. Else (vacate, reconsider): blocks that all leave. The hook answers a technique for each
     * of them, and takes no position. */
    uint64_t draining;
    uint32_t groups;                      /* not 0: some blocks must leave together */
    uint8_t allowed[GPUMP_VICTIM_BLOCKS]; /* per block: bits 1 << gpump_technique that it may leave by */
} gpump_victim_plan_args;

/* What a plan hook answers. */
typedef struct gpump_victim_plan {
    uint64_t positions; /* mask of the positions taken */
    uint64_t victims;   /* mask of the blocks that leave */
    /* Mask of the victims that go on running for now. Each of them gets its technique at `ask_again`, if it still runs
     * then. */
    uint64_t later;
    uint64_t ask_again;                     /* cycle of the second look; GPUMP_UNKNOWN: none */
    uint8_t technique[GPUMP_VICTIM_BLOCKS]; /* gpump_technique of each victim */
} gpump_victim_plan;

/* A policy: constant, with any hook NULL. What the hooks answer is checked. */
typedef struct gpump_victim_policy {
    uint32_t struct_size; /* sizeof(gpump_victim_policy) */
    uint32_t flags;       /* GPUMP_VICTIM_... */
    uint32_t techniques;  /* those it uses, as bits 1 << gpump_technique */
    uint32_t unused;
    gpump_cost_options cost; /* how its estimates are to be made */
    const char *name;
    const char *description; /* one sentence */
    void *user;
    /* Returns the technique of one block. NULL: the technique of least overhead among those within the limit; if none
     * is, the technique of least latency (Algorithm 1, lines 1 to 14). */
    uint32_t (*technique)(const gpump_victim_technique_args *args);
    /* Returns the index of the candidate to take next. NULL: the candidate of least overhead among those within the
     * limit; if none is, the candidate of least latency (lines 15 to 26). Candidates without victims are taken before
     * the hook is called. */
    uint32_t (*candidate)(const gpump_victim_candidate_args *args);
    /* Plans one SM as a whole: positions, victims, techniques. NULL: gpump_victim_plan_greedy. With
     * GPUMP_VICTIM_COMMON_DEADLINE it also answers gpump_victim_vacate and gpump_victim_reconsider
     * (args->draining is not 0 then). */
    void (*plan)(const gpump_victim_plan_args *args, gpump_victim_plan *plan);
} gpump_victim_policy;

/* Returns a built-in policy by name, NULL if there is none: dual, chimera, chimera+, switch, drain, flush,
 * drain-then-switch, oracle, exact, rewind, joint. docs/papers.md says what each does. */
GPUMP_API const gpump_victim_policy *gpump_victim_find(const char *name);
/* Returns the index-th built-in policy, NULL past the last. */
GPUMP_API const gpump_victim_policy *gpump_victim_policy_at(uint32_t index);

/* ---- the parts ---- */

/* Lays out the positions of an incoming footprint *need on SMs of *gpu with `shared_bytes` of shared memory.
 * GPUMP_ERROR_REFUSED with NEVER_FITS when one block is larger than an SM. */
GPUMP_API gpump_result gpump_victim_geometry_init(gpump_victim_geometry *geometry, const gpump_gpu *gpu,
                                                  const gpump_footprint *need, uint32_t shared_bytes, gpump_diag *diag);

/* Determines the candidate victim sets of one SM (Shieh Fig 3.3): sets[p] gets the blocks (mask over the view) whose
 * registers or shared memory reach into position p. *taken gets the positions that cannot be had: blocks of `kernel`
 * lie there, which are in no set, or a block on its way out leaves a part in place there. Cost: linear in blocks. */
GPUMP_API void gpump_victim_candidates(const gpump_victim_geometry *geometry, const gpump_block_view *blocks,
                                       uint32_t count, uint32_t kernel, uint64_t *sets, uint64_t *taken);
/* Evicts `preempted` blocks (mask) from sets[positions] (Shieh Fig 3.9). Cost: linear in positions. */
GPUMP_API void gpump_victim_candidates_update(uint64_t *sets, uint32_t positions, uint64_t preempted);

/* Algorithm 1 once, on sets of one SM: the technique of each block in any set, then the candidate.
 *   request, sm      the request and the SM's view, as in gpump_victim_decide
 *   sets, positions  candidate sets as above; `open` masks those that take part
 *   technique        out, per block of the view; GPUMP_VICTIM_NO_TECHNIQUE for blocks in no set or with none allowed
 *   chosen           out: position, victims, latency, overhead, late
 * Returns GPUMP_EMPTY when no candidate can leave. Looks at registers and shared memory only; gpump_victim_decide at
 * all four. Cost: linear in blocks x positions. */
GPUMP_API gpump_result gpump_victim_select(const gpump_victim_policy *policy, const gpump_victim_request *request,
                                           const gpump_victim_sm *sm, const uint64_t *sets, uint32_t positions,
                                           uint64_t open, uint8_t *technique, gpump_victim_candidate *chosen);

/* Fills *plan from *args as policies without a plan hook do: Algorithm 1 repeated. For hooks that want to start from
 * it. Cost: as gpump_victim_decide on one SM. */
GPUMP_API void gpump_victim_plan_greedy(const gpump_victim_plan_args *args, gpump_victim_plan *plan);

/* ---- the decision ---- */

/* Returns the scratch memory that gpump_victim_decide needs for sm_count SMs, bytes: 0 up to 64 of them (it then uses
 * the stack). */
GPUMP_API size_t gpump_victim_scratch_bytes(uint32_t sm_count);

/* A question about SMs, and where the answer goes. Set it to zero, then fill what the call names. */
typedef struct gpump_victim_question {
    const gpump_victim_policy *policy;     /* of gpump_victim_find, or the caller's */
    const gpump_victim_request *request;   /* who wants room, how much, and by when */
    const gpump_victim_geometry *geometry; /* decide only: of gpump_victim_geometry_init, the same for all SMs */
    const gpump_victim_sm *sms;            /* sm_count views; estimates made with policy->cost */
    void *scratch;                         /* decide only: 8-byte aligned; NULL when gpump_victim_scratch_bytes is 0 */
    size_t scratch_bytes;                  /* decide only: at least gpump_victim_scratch_bytes(sm_count) */
    gpump_victim_place *places;            /* decide only: out, what the incoming kernel gets, SM by SM */
    gpump_block_choice *choices;           /* out: which block leaves by which technique, SM by SM */
    uint32_t sm_count;
    uint32_t place_capacity;  /* entries of places */
    uint32_t choice_capacity; /* entries of choices */
    uint32_t unused;
} gpump_victim_question;

/* Decides which blocks leave, and how, so that request->positions blocks of the incoming kernel can start (Shieh 3.1 to
 * 3.3). Positions that are empty are taken first, then Algorithm 1 picks candidates until the request is met or nothing
 * is left. Where fewer positions are wanted than the SMs have, the SM whose next position is best goes next. Where
 * registers and shared memory of a position are free but warp slots, threads or a block slot are short, further victims
 * are added, best first.
 *
 * Fills question->places and question->choices. The choices of one SM follow each other, saves in the order in which
 * they should be done, and go to gpump_sm_preempt as they are. The host dispatches at places with latency 0 at once, at
 * the others when their victims are out, and sends no new blocks of other kernels to SMs that have a place open.
 *
 * Returns GPUMP_OK even when fewer positions can be had than asked for: decision->missing says how many, and
 * decision->reason why. Errors: GPUMP_ERROR_ARGUMENT, also for a block outside the register file or shared memory of
 * the geometry. GPUMP_ERROR_CAPACITY: decision->places and decision->choices say how many, the arrays are untouched.
 * GPUMP_ERROR_REFUSED: a hook's answer breaks the rules, with the reason. Cost: linear in the SMs. */
GPUMP_API gpump_result gpump_victim_decide(const gpump_victim_question *question, gpump_victim_decision *decision,
                                           gpump_diag *diag);

/* Says how each block leaves, within the request's limit, when whole SMs are handed over: the question of a scheduler
 * that preempts an SM (Tanasic 5.2.3) and leaves the technique open. Each block takes the technique that the policy
 * gives it (Algorithm 1, lines 3 to 14, where the policy has no hook); request->positions is not read, and blocks of
 * request->kernel stay (0: none). A block that may leave by no technique of the policy gets no choice, nor does a block
 * of its group.
 *
 * Fills question->choices in the order of the views. decision->missing counts the blocks without a choice that stay,
 * decision->reason says why the first of them does. decision->ask_again as in gpump_victim_decide. Errors as
 * gpump_victim_decide. Cost: linear in the blocks. */
GPUMP_API gpump_result gpump_victim_vacate(const gpump_victim_question *question, gpump_victim_decision *decision,
                                           gpump_diag *diag);

/* Looks again at blocks that drain, at the cycle decision->ask_again of an earlier answer: which of them are to leave
 * in another way now. Policies that never ask again change nothing. question->sms holds fresh views and estimates,
 * question->request is the earlier one with a new `now`. Fills question->choices; decision->ask_again may name a
 * further cycle. Errors and cost as gpump_victim_decide. */
GPUMP_API gpump_result gpump_victim_reconsider(const gpump_victim_question *question, gpump_victim_decision *decision,
                                               gpump_diag *diag);

/* ---- what it costs in hardware (Shieh Table 3.1) ---- */

typedef struct gpump_victim_config {
    uint32_t struct_size;  /* sizeof(gpump_victim_config) */
    uint32_t sms;          /* SMs; published: 15 */
    uint32_t positions;    /* position registers per SM, each for registers and shared memory; published: 64 */
    uint32_t address_bits; /* of a position; published: 16 */
    uint32_t candidates;   /* candidate sets per SM; published: 16 */
    uint32_t blocks;       /* blocks of an SM that can be named; published: 16 */
    uint32_t counter_bits; /* executed instructions, and issue cycle, per block; published: 32 each */
} gpump_victim_config;

/* Fills *config for a preset of gpump_gpu_config_preset: the paper's table for gtx480_shieh; elsewhere the preset's
 * SMs, block slots and address widths (derived). */
GPUMP_API gpump_result gpump_victim_config_preset(gpump_victim_config *config, const char *preset);
/* Sets *bits to the storage that victim selection adds to the GPU, all SMs together. GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_victim_bits(const gpump_victim_config *config, uint64_t *bits, gpump_diag *diag);
/* Sets *sm_bits to the storage added to each SM (positions, candidate sets, block status) and *gpu_bits to that of the
 * GPU (which block of the incoming kernel is where). GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_victim_table_bits(const gpump_victim_config *config, uint64_t *sm_bits, uint64_t *gpu_bits,
                                               gpump_diag *diag);

GPUMP_END
#endif

/* ---- gpump_impl/scheduler/scheduler.h ---- */
/* scheduler: the tables that share one GPU between processes, and the driver of its SMs (floor 4, hardware)
 *
 * The tables are those of Tanasic 5.2: command buffers, active queue, kernel and SM status tables, preempted-block
 * queues (PTBQs). The host reports facts: a command was submitted, an SM is set up, a block finished, a block left with
 * its context saved. The host pulls actions: set up an SM, issue a block, preempt an SM. A policy, a const struct of
 * hooks, decides which kernel gets which SM. The configuration's `mechanism` decides how an SM is vacated (switch,
 * drain, or per block as the victim component chooses); policies do not know it.
 *
 *   gpump_scheduler_submit fills a command buffer
 *   -> action KERNEL_START, once the policy's hook `admit` has let the command into the active queue
 *   -> action SETUP, once the policy's hook `step` has given the kernel an SM; answered by gpump_scheduler_report_ready
 *   -> actions ISSUE; each block ends in gpump_scheduler_report_finished or gpump_scheduler_report_preempted
 *   -> action PREEMPT, when the policy reserves the SM for another kernel; SETUP follows when the SM is empty
 *   -> action KERNEL_DONE after the kernel's last block; then its queue may submit again
 *
 * A kernel in the active queue has a number from 1, its row of the kernel status table; 0 is no kernel. A block on an
 * SM is named by the SM and a gpump_block_ref that the ISSUE action gives. */
#ifndef GPUMP_SCHEDULER_H
#define GPUMP_SCHEDULER_H




GPUMP_BEGIN

#define GPUMP_SCHEDULER_MAX_BLOCKS (((uint64_t)1 << 40) - 1)
#define GPUMP_SCHEDULER_MAX_BUDGET (1u << 20)
/* Token counts may be negative (debt); rows hold count + this, so that they compare as they are. */
#define GPUMP_SCHEDULER_TOKEN_ZERO (1u << 30)

/* How an SM is vacated. */
typedef enum gpump_scheduler_mechanism {
    GPUMP_SCHEDULER_SWITCH = 0, /* its blocks stop, are saved, and come back through the PTBQ (Tanasic 5.2.2) */
    GPUMP_SCHEDULER_DRAIN = 1,  /* its blocks run to their ends, none is issued */
    GPUMP_SCHEDULER_SELECT = 2  /* the host asks the victim component, which picks a technique for every block */
} gpump_scheduler_mechanism;

/* The scheduling hardware. Filled by gpump_scheduler_config_preset only; every field may then be changed. */
typedef struct gpump_scheduler_config {
    uint32_t struct_size;   /* sizeof(gpump_scheduler_config) */
    uint32_t sms;           /* SMs; 1 to 65536; preset: the machine's (published) */
    uint32_t blocks_per_sm; /* blocks on an SM at most (Tmax); 1 to 64; preset: the machine's (published) */
    uint32_t processes;     /* rows of the process table; 1 to 4096; preset 32 (assumed) */
    /* Command queues, each with a buffer of one command; 1 to 4096; preset 32 (assumed: Hyper-Q). */
    uint32_t queues;
    /* Rows of the active queue and of the KSRT; 1 to 4096; preset: the SM count (Tanasic 5.2.3). */
    uint32_t active_kernels;
    /* Entries of each kernel's PTBQ; 0 to sms x blocks_per_sm; preset: that product (Tanasic 5.2.3). */
    uint32_t saved_blocks;
    uint32_t mechanism; /* gpump_scheduler_mechanism; preset SWITCH */
    /* 1; or 2: a reserved SM may take blocks of its next kernel beside the leaving ones (Shieh 3.2). Preset 1. */
    uint32_t kernels_per_sm;
    /* Cycles from an event to the policy's decision; preset: one per SM (Tanasic 5.2.4). */
    uint32_t decision_cycles;
    uint32_t slice_cycles; /* time slice of the `time_slice` policy, cycles; at least 1; preset 1 ms (assumed) */
    uint32_t reserved;     /* 0 */
} gpump_scheduler_config;

/* A process as the process table holds it (Tanasic calls it the context table). */
typedef struct gpump_scheduler_process {
    uint64_t cookie;          /* the host's name for it */
    uint64_t page_table_base; /* goes to an SM's base page table register */
    uint32_t priority;        /* higher goes first under npq, ppq and ppq_shared */
    uint32_t weight; /* share under `weighted`, SM budget in tokens under `dss`; 0 to GPUMP_SCHEDULER_MAX_BUDGET */
} gpump_scheduler_process;

/* A kernel launch. */
typedef struct gpump_scheduler_command {
    uint64_t cookie;        /* the host's name for the launch */
    uint64_t blocks;        /* blocks of the grid; 1 to GPUMP_SCHEDULER_MAX_BLOCKS */
    uint32_t process;       /* row of the process table, from gpump_scheduler_open */
    uint32_t blocks_per_sm; /* how many of them one SM holds; 1 to the configuration's */
    uint32_t saved_limit;   /* how many saved contexts its preallocated memory holds; 0: it can only be drained */
    uint32_t unused;
} gpump_scheduler_command;

/* ---- rows of the tables: policies and observers read them, only the scheduler writes them ---- */

/* Context table. */
typedef struct gpump_scheduler_process_row {
    uint64_t cookie, page_table_base;
    uint64_t serial; /* tells processes apart that had this row at different times; 0: the row is free */
    uint32_t priority, weight;
    uint32_t commands; /* commands of it that are buffered or active */
    uint32_t unused;
} gpump_scheduler_process_row;

typedef enum gpump_scheduler_buffer_state {
    GPUMP_SCHEDULER_BUFFER_EMPTY = 0,
    GPUMP_SCHEDULER_BUFFER_WAITING, /* holds a command */
    GPUMP_SCHEDULER_BUFFER_ACTIVE,  /* the command is in the active queue */
    GPUMP_SCHEDULER_BUFFER_DONE     /* the kernel has ended; KERNEL_DONE is about to be handed over */
} gpump_scheduler_buffer_state;
/* Command buffer, one per queue. */
typedef struct gpump_scheduler_buffer {
    uint64_t cookie, blocks;
    uint64_t arrival; /* sequence number of the submission */
    uint32_t process, blocks_per_sm, saved_limit;
    uint32_t state;  /* gpump_scheduler_buffer_state */
    uint32_t kernel; /* its number when ACTIVE; otherwise 0 */
    uint32_t unused;
} gpump_scheduler_buffer;

/* Kernel status register table (KSRT). Row k belongs to kernel k; row 0 is never used. Only rows that the active queue
 * names are in use. */
typedef struct gpump_scheduler_kernel {
    uint64_t cookie;
    uint64_t blocks;      /* blocks of the grid */
    uint64_t next_block;  /* the first block never issued */
    uint64_t start_cycle; /* when it entered the active queue */
    uint64_t arrival;     /* sequence number of its submission */
    uint32_t queue, process;
    uint32_t blocks_per_sm, saved_limit;
    uint32_t resident;    /* blocks on SMs now, leaving ones included */
    uint32_t saved;       /* blocks in its PTBQ */
    uint32_t saved_first; /* ring position of the next one to come back */
    uint32_t leaving;     /* blocks that have been told to switch: room in the PTBQ is kept for them */
    uint32_t budget;      /* tokens it was given */
    uint32_t tokens;      /* GPUMP_SCHEDULER_TOKEN_ZERO + budget - owned - reserved */
    uint32_t owned;       /* SMs that run it or are being set up for it, reserved ones not counted */
    uint32_t reserved;    /* SMs being vacated for it */
    uint32_t setting_up;  /* of `owned`: SMs not ready yet */
    /* The SM that the kernel was given last: head of a list through previous_sm and next_sm. GPUMP_NONE: it owns none.
     */
    uint32_t first_sm;
    uint32_t in_use; /* 1: the row belongs to a kernel of the active queue */
    uint32_t unused;
} gpump_scheduler_kernel;

typedef enum gpump_scheduler_sm_state {
    GPUMP_SCHEDULER_SM_IDLE = 0,
    GPUMP_SCHEDULER_SM_RUNNING,
    GPUMP_SCHEDULER_SM_RESERVED
} gpump_scheduler_sm_state;
/* Bits of gpump_scheduler_sm.flags. */
typedef enum gpump_scheduler_sm_flag {
    GPUMP_SCHEDULER_SM_PREEMPT_DUE = 1,   /* PREEMPT is about to be handed over */
    GPUMP_SCHEDULER_SM_SETUP_DUE = 2,     /* SETUP is about to be handed over */
    GPUMP_SCHEDULER_SM_SETUP_RUNNING = 4, /* SETUP handed over, report_ready awaited */
    GPUMP_SCHEDULER_SM_SETUP_STALE = 8,   /* ... for a kernel that no longer gets the SM */
    GPUMP_SCHEDULER_SM_NEXT_READY = 16,   /* kernels_per_sm 2: set up for its next kernel beside the leaving one */
    GPUMP_SCHEDULER_SM_SWITCHING = 32     /* its blocks were told to switch (or to leave as selected), not to drain */
} gpump_scheduler_sm_flag;
/* SM status table. */
typedef struct gpump_scheduler_sm {
    uint64_t process_serial; /* whose page table and caches it was last set up for; 0: none yet */
    uint64_t slots;          /* bit per slot that holds a block */
    uint32_t state;          /* gpump_scheduler_sm_state */
    uint32_t flags;          /* gpump_scheduler_sm_flag bits */
    uint32_t kernel;         /* the kernel it runs; 0 when idle */
    uint32_t next;           /* the kernel it is reserved for; 0 when that kernel has ended, or when not reserved */
    uint32_t blocks;         /* resident blocks of kernel */
    uint32_t next_blocks;    /* resident blocks of next (kernels_per_sm 2) */
    uint32_t room;           /* blocks of next that may be issued at once (gpump_scheduler_report_room) */
    uint32_t leaving;        /* blocks told to switch that are still here */
    uint32_t previous_sm, next_sm; /* neighbours in the owner's list */
} gpump_scheduler_sm;

/* What a hook sees: the tables as they are. All pointers are good until the hook returns. */
typedef struct gpump_scheduler_view {
    const gpump_scheduler_config *config;
    const gpump_scheduler_process_row *processes; /* config->processes rows */
    const gpump_scheduler_buffer *buffers;        /* config->queues rows */
    const uint32_t *waiting;                      /* queues whose buffers hold a command, in order of arrival */
    const gpump_scheduler_kernel *kernels;        /* config->active_kernels + 1 rows, by kernel number */
    const uint32_t *active;                       /* the active queue: kernel numbers, oldest first */
    const gpump_scheduler_sm *sms;                /* config->sms rows */
    uint64_t *state;                              /* the policy's own words inside the block (16, zero at first) */
    uint64_t now;
    uint32_t waiting_count, active_count;
    uint32_t open_processes; /* processes open now */
    uint32_t idle_sm;        /* the lowest idle SM; GPUMP_NONE: none is idle */
    uint32_t reserved_sms;   /* SMs in state reserved */
    uint32_t queue;          /* tokens: whose command enters; otherwise GPUMP_NONE */
} gpump_scheduler_view;

#define GPUMP_SCHEDULER_STATE_WORDS 16

typedef enum gpump_scheduler_step_kind {
    GPUMP_SCHEDULER_STEP_ASSIGN = 1, /* give idle `sm` to `kernel` */
    GPUMP_SCHEDULER_STEP_RESERVE,    /* vacate running `sm` and give it to `kernel` */
    GPUMP_SCHEDULER_STEP_CHANGE_NEXT /* `sm` is reserved; it goes to `kernel` instead of its present next */
} gpump_scheduler_step_kind;
typedef struct gpump_scheduler_step {
    uint32_t kind; /* gpump_scheduler_step_kind */
    uint32_t sm;
    uint32_t kernel; /* a kernel of the active queue */
} gpump_scheduler_step;

/* A scheduling policy: constant, with any hook NULL for the default that is stated. Each hook takes the policy itself
 * and one struct of arguments. Hooks decide from these alone, so that the same state always gives the same decision.
 * Every answer is checked: an impossible one ends the run of the policy and counts as policy_errors. */
typedef struct gpump_scheduler_policy {
    uint32_t struct_size; /* sizeof(gpump_scheduler_policy) */
    uint32_t unused;
    const char *name;
    const char *description; /* one sentence */
    void *user;
    /* Which waiting command enters the active queue next: its queue, or GPUMP_NONE for none. Called while the active
     * queue has a free row. NULL: commands enter in the order of their arrival. */
    uint32_t (*admit)(const struct gpump_scheduler_policy *policy, const gpump_scheduler_view *view);
    /* How many tokens the kernel of view->queue starts with, 0 to GPUMP_SCHEDULER_MAX_BUDGET. NULL: 0. */
    uint32_t (*tokens)(const struct gpump_scheduler_policy *policy, const gpump_scheduler_view *view);
    /* The next step of a repartitioning: GPUMP_OK and *step, or GPUMP_EMPTY when no SM is to change hands. Called until
     * it returns GPUMP_EMPTY. NULL: idle SMs go to the first kernel of the active queue that has blocks to issue. */
    gpump_result (*step)(const struct gpump_scheduler_policy *policy, const gpump_scheduler_view *view,
                         gpump_scheduler_step *step);
    /* The cycle at which the policy runs although nothing was reported; GPUMP_UNKNOWN: never. Called after every run.
     * NULL: never. */
    uint64_t (*wake)(const struct gpump_scheduler_policy *policy, const gpump_scheduler_view *view);
} gpump_scheduler_policy;

/* Returns the blocks of a kernel that could be issued now: saved ones and those never issued. */
GPUMP_INLINE uint64_t gpump_scheduler_to_issue(const gpump_scheduler_kernel *kernel) {
    return kernel->blocks - kernel->next_block + kernel->saved;
}
/* Returns 1 when a kernel has blocks to issue beyond what the SMs being set up for it will take: it can use an idle SM.
 */
GPUMP_INLINE int gpump_scheduler_wants_idle(const gpump_scheduler_kernel *kernel) {
    return gpump_scheduler_to_issue(kernel) > (uint64_t)kernel->setting_up * kernel->blocks_per_sm;
}
/* Returns 1 when it has some even beyond what the SMs being vacated for it will take: one more may be reserved for it.
 */
GPUMP_INLINE int gpump_scheduler_wants_more(const gpump_scheduler_kernel *kernel) {
    return gpump_scheduler_to_issue(kernel) > (uint64_t)(kernel->setting_up + kernel->reserved) * kernel->blocks_per_sm;
}
/* Returns a kernel's token count, negative when in debt. */
GPUMP_INLINE int32_t gpump_scheduler_tokens(const gpump_scheduler_kernel *kernel) {
    return (int32_t)kernel->tokens - (int32_t)GPUMP_SCHEDULER_TOKEN_ZERO;
}

/* ---- actions ---- */
typedef enum gpump_scheduler_action_kind {
    GPUMP_SCHEDULER_KERNEL_START = 1, /* `kernel` entered the active queue */
    GPUMP_SCHEDULER_KERNEL_DONE,      /* the kernel of `queue` has ended; the queue may submit again */
    /* Vacate `sm` as `mechanism` says. Report each of its blocks of `kernel` as preempted or finished. `next` is the
     * kernel that gets the SM according to the decisions so far. */
    GPUMP_SCHEDULER_PREEMPT,
    /* Set `sm` up for `kernel`: load process id and page table base, invalidate what is named. Then report ready. */
    GPUMP_SCHEDULER_SETUP,
    /* Start a block of `kernel` on `sm`: a saved block by its handle, otherwise the block of that index. */
    GPUMP_SCHEDULER_ISSUE
} gpump_scheduler_action_kind;

/* What a change of process makes stale on an SM; bits of gpump_scheduler_action.invalidate. */
typedef enum gpump_scheduler_invalidate {
    GPUMP_SCHEDULER_INVALIDATE_TLB = 1,         /* the L1 TLB holds the other process's translations */
    GPUMP_SCHEDULER_INVALIDATE_L1 = 2,          /* the private L1 is virtually tagged */
    GPUMP_SCHEDULER_INVALIDATE_INSTRUCTIONS = 4 /* so are instruction and constant caches */
} gpump_scheduler_invalidate;

typedef struct gpump_scheduler_action {
    uint64_t index;           /* ISSUE of a new block: its linear index, from 0 */
    uint64_t handle;          /* ISSUE of a saved block: the handle it was reported preempted with */
    uint64_t kernel_cookie;   /* the launch (KERNEL_*, SETUP, ISSUE; PREEMPT: of the kernel that leaves) */
    uint64_t process_cookie;  /* its process (not PREEMPT, KERNEL_DONE) */
    uint64_t page_table_base; /* SETUP */
    gpump_block_ref block;    /* ISSUE: the name of this residence, for the reports; slot 0 to blocks_per_sm - 1 */
    uint32_t kind;            /* gpump_scheduler_action_kind */
    uint32_t sm;              /* GPUMP_NONE for KERNEL_* */
    uint32_t kernel;          /* kernel number, from 1 */
    uint32_t next;            /* PREEMPT: the number of the next kernel; 0: none any more */
    uint32_t queue, process;
    /* PREEMPT: gpump_scheduler_mechanism. DRAIN when context memory or PTBQ could not take all blocks. */
    uint32_t mechanism;
    uint32_t reason;     /* PREEMPT: gpump_reason why it is DRAIN after all; 0 */
    uint32_t invalidate; /* SETUP: gpump_scheduler_invalidate bits; 0 within one process */
    uint32_t beside;     /* SETUP: 1: the blocks of another kernel are still leaving (kernels_per_sm 2) */
    uint32_t saved;      /* ISSUE: 1: a saved block */
    uint32_t unused;
} gpump_scheduler_action;

/* clang-format off */
#define GPUMP_SCHEDULER_STATISTICS(X)                                                                             \
    X(submitted, "commands", "commands taken into a buffer")                                                      \
    X(kernels_started, "kernels", "kernels that entered the active queue")                                        \
    X(kernels_done, "kernels", "kernels that ended")                                                              \
    X(blocks_new, "blocks", "blocks issued for the first time")                                                   \
    X(blocks_resumed, "blocks", "saved blocks issued again")                                                      \
    X(blocks_finished, "blocks", "blocks that ran to their end")                                                  \
    X(blocks_preempted, "blocks", "blocks that went to a PTBQ")                                                   \
    X(preemptions, "SMs", "SMs reserved by the policy")                                                           \
    X(next_changes, "SMs", "reserved SMs given to another kernel before they were vacant")                        \
    X(drained_instead, "SMs", "SMs drained because saved contexts had no room")                                   \
    X(setups, "SMs", "SMs set up for a kernel")                                                                   \
    X(process_changes, "SMs", "of these, with a change of process")                                               \
    X(policy_runs, "runs", "runs of the policy")                                                                  \
    X(policy_steps, "steps", "steps it took")                                                                     \
    X(policy_errors, "steps", "steps refused because the policy's answer made no sense")
/* clang-format on */
typedef struct gpump_scheduler_statistics {
#define GPUMPI_FIELD(name, unit, description) uint64_t name;
    GPUMP_SCHEDULER_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
} gpump_scheduler_statistics;

typedef struct gpump_scheduler gpump_scheduler;

/* Fills *config for a machine of gpump_gpu_config_preset. */
GPUMP_API gpump_result gpump_scheduler_config_preset(gpump_scheduler_config *config, const char *preset);
/* Sets *bytes to the memory it needs. GPUMP_ERROR_CONFIG names the field at fault. */
GPUMP_API gpump_result gpump_scheduler_bytes(const gpump_scheduler_config *config, size_t *bytes, gpump_diag *diag);
/* Makes a scheduler with all SMs idle in `memory` (8-byte aligned, at least that size). Nothing is allocated, then or
 * later. GPUMP_ERROR_CONFIG, GPUMP_ERROR_CAPACITY. Cost: linear in the memory. */
GPUMP_API gpump_result gpump_scheduler_init(void *memory, size_t bytes, const gpump_scheduler_config *config,
                                            gpump_scheduler **scheduler, gpump_diag *diag);
/* Takes over a byte copy of a scheduler of the same configuration and build. GPUMP_ERROR_FORMAT for anything else. */
GPUMP_API gpump_result gpump_scheduler_adopt(void *memory, size_t bytes, const gpump_scheduler_config *config,
                                             gpump_scheduler **scheduler, gpump_diag *diag);
/* Returns a hash of the whole state, the same on every machine. Cost: linear in the tables. */
GPUMP_API uint64_t gpump_scheduler_hash(const gpump_scheduler *scheduler);

/* Checks every table against the others: counts, lists, queues, tokens, states and flags. For memory from outside: once
 * gpump_scheduler_adopt has taken it over and this returns GPUMP_OK, every later call is safe. GPUMP_ERROR_FORMAT, and
 * diag->field says what contradicts what. Cost: linear in the tables; SMs x active kernels / 64. */
GPUMP_API gpump_result gpump_scheduler_check(const gpump_scheduler *scheduler, gpump_diag *diag);

/* The SRAM that the tables take, in bits (Tanasic 5.2.3). */
typedef struct gpump_scheduler_storage {
    uint64_t command_buffers, ksrt, smst, active_queue; /* the paper: under 512 B together at 13 SMs */
    uint64_t ptbqs;                                     /* 8 B per entry: 21,632 B at 13 SMs x 16 blocks */
    uint64_t process_table;
} gpump_scheduler_storage;
/* Sets *storage to the SRAM of each table. GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_scheduler_table_bits(const gpump_scheduler_config *config,
                                                  gpump_scheduler_storage *storage, gpump_diag *diag);
/* Sets *bits to the SRAM of all tables together. GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_scheduler_bits(const gpump_scheduler_config *config, uint64_t *bits, gpump_diag *diag);

/* ---- facts; an error leaves the state as it was ---- */

/* Opens a process and sets *row, its row of the process table. GPUMP_ERROR_FULL: the table has no free row. */
GPUMP_API gpump_result gpump_scheduler_open(gpump_scheduler *scheduler, uint64_t now,
                                            const gpump_scheduler_process *process, uint32_t *row, gpump_diag *diag);
/* Changes priority and weight of an open process. The policy sees the priority at its next run; a weight counts for
 * kernels that enter the active queue later. */
GPUMP_API gpump_result gpump_scheduler_set_priority(gpump_scheduler *scheduler, uint64_t now, uint32_t process,
                                                    uint32_t priority, uint32_t weight);
/* Closes a process. GPUMP_ERROR_STATE while it has commands. */
GPUMP_API gpump_result gpump_scheduler_close(gpump_scheduler *scheduler, uint64_t now, uint32_t process);
/* Puts a kernel launch, *command, into the buffer of `queue`. GPUMP_BUSY while the queue's last command has not been
 * handed over as KERNEL_DONE. */
GPUMP_API gpump_result gpump_scheduler_submit(gpump_scheduler *scheduler, uint64_t now, uint32_t queue,
                                              const gpump_scheduler_command *command, gpump_diag *diag);
/* Says that the SETUP of `sm` is finished. GPUMP_ERROR_STATE when none was under way. */
GPUMP_API gpump_result gpump_scheduler_report_ready(gpump_scheduler *scheduler, uint64_t now, uint32_t sm);
/* Says that `block` of `sm`, as ISSUE named it, ran to its end. GPUMP_ERROR_STALE when it is not resident. */
GPUMP_API gpump_result gpump_scheduler_report_finished(gpump_scheduler *scheduler, uint64_t now, uint32_t sm,
                                                       gpump_block_ref block);
/* Says that `block` has left `sm`, which is under preemption. `handle` (which block, and where its context lies) comes
 * back with the ISSUE that resumes the block; the handle of a flushed block names no context. GPUMP_ERROR_STATE when
 * the SM is not being preempted, GPUMP_ERROR_FULL when the kernel can hold no more saved blocks. */
GPUMP_API gpump_result gpump_scheduler_report_preempted(gpump_scheduler *scheduler, uint64_t now, uint32_t sm,
                                                        gpump_block_ref block, uint64_t handle);
/* kernels_per_sm 2: says that `blocks` blocks of the next kernel fit on `sm` beside the blocks that are still leaving.
 * GPUMP_ERROR_STATE when the SM is not reserved and ready for a next kernel. */
GPUMP_API gpump_result gpump_scheduler_report_room(gpump_scheduler *scheduler, uint64_t now, uint32_t sm,
                                                   uint32_t blocks);

/* Hands over the next *action: kernels that ended, then kernels that start, then SM by SM, then what *policy decides
 * once its decision is due. `now` below GPUMP_UNKNOWN. GPUMP_EMPTY: none now. GPUMP_ERROR_REFUSED: the policy gave an
 * impossible answer, which was dropped. */
GPUMP_API gpump_result gpump_scheduler_next(gpump_scheduler *scheduler, const gpump_scheduler_policy *policy,
                                            uint64_t now, gpump_scheduler_action *action);
/* Returns when the next action may come if nothing is reported: a cycle, GPUMP_UNKNOWN for never. */
GPUMP_API uint64_t gpump_scheduler_next_cycle(const gpump_scheduler *scheduler);

/* ---- views ---- */
/* Returns the tables as a policy sees them, good until the next call that changes them. */
GPUMP_API gpump_scheduler_view gpump_scheduler_look(const gpump_scheduler *scheduler);
/* Copies the counters since gpump_scheduler_init into *statistics. */
GPUMP_API void gpump_scheduler_get_statistics(const gpump_scheduler *scheduler, gpump_scheduler_statistics *statistics);
/* Sets *difference to later - earlier, field by field. */
GPUMP_API void gpump_scheduler_statistics_diff(const gpump_scheduler_statistics *earlier,
                                               const gpump_scheduler_statistics *later,
                                               gpump_scheduler_statistics *difference);
/* Sets *name, *unit and *description of the index-th counter and *value, its value in *statistics; GPUMP_EMPTY past the
 * last. Any pointer may be NULL but statistics. */
GPUMP_API gpump_result gpump_scheduler_statistics_field(const gpump_scheduler_statistics *statistics, uint32_t index,
                                                        const char **name, const char **unit, const char **description,
                                                        uint64_t *value);

GPUMP_END
#endif

/* ---- gpump_impl/scheduler/scheduler_policies.h ---- */
/* scheduler_policies: the built-in scheduling policies (floor 4, constant tables) */
#ifndef GPUMP_SCHEDULER_POLICIES_H
#define GPUMP_SCHEDULER_POLICIES_H




GPUMP_BEGIN

/* Returns the built-in policy called `name`, NULL when there is none:
 *
 *   fcfs        commands in order of arrival, one process at a time; kernels of that process run back to back
 *               (Tanasic 2.3)
 *   npq         like fcfs, but at each change of process the waiting command of highest priority goes first
 *               (Tanasic 5.1, 5.3.2)
 *   ppq         preemptive priority: a higher priority gets the SMs of lower ones, and exclusive access
 *               (Tanasic 5.3.3, Fig. 5.5a)
 *   ppq_shared  like ppq, but SMs that the highest priority leaves free go to lower ones (Tanasic Fig. 5.5b)
 *   dss         dynamic spatial sharing: as many tokens as the process's weight (Tanasic 5.2.4)
 *   equal       dss with floor(SMs / processes) tokens each; the remainder goes one by one to the kernels that come
 *               first (Tanasic 5.3.4)
 *   weighted    dss with SMs x weight / sum of weights tokens
 *   time_slice  the whole GPU to one process after the other, slice_cycles each (named in Tanasic 5.2.3; this form is
 *               ours)
 */
GPUMP_API const gpump_scheduler_policy *gpump_scheduler_find(const char *name);
/* Returns the index-th built-in policy, NULL past the last. */
GPUMP_API const gpump_scheduler_policy *gpump_scheduler_policy_at(uint32_t index);

GPUMP_END
#endif

#if defined(__clang__) && defined(__cplusplus)
#pragma clang diagnostic pop
#endif

#endif /* GPUMP_H */

#if defined(GPUMP_IMPLEMENTATION) && !defined(GPUMP_IMPLEMENTATION_DONE)
#define GPUMP_IMPLEMENTATION_DONE

#if defined(__clang__) && defined(__cplusplus)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wold-style-cast"
#endif

/* ---- gpump_impl/base/array.h ---- */
/* array (private): growing arrays of the program kind, over a copy of stb_ds that the host never sees.
 *
 * stb_ds can neither report failure nor take an allocator, so it never grows anything here: gpumpi_array_reserve lays
 * an array out in stb_ds's format through the instance's own allocator, checked, and the stbds_arr macros then find
 * room. Only the macros of stb_ds are used, never its functions, so its implementation is not compiled in at all. Every
 * name it declares is renamed to gpumpi_stbds_... and its switches are put back afterwards (array_end.h): a host may
 * implement stb_ds before, after, elsewhere, in a library, or not at all. */
#ifndef GPUMPI_ARRAY_H
#define GPUMPI_ARRAY_H
#ifndef GPUMP_NO_PROGRAM

#include <stdlib.h>
#include <string.h>


#pragma push_macro("STB_DS_IMPLEMENTATION")
#pragma push_macro("STBDS_REALLOC")
#pragma push_macro("STBDS_FREE")
#pragma push_macro("STBDS_NO_SHORT_NAMES")
#pragma push_macro("STBDS_UNIT_TESTS")
#pragma push_macro("INCLUDE_STB_DS_H")
#pragma push_macro("stbds_arrgrow")
#undef STB_DS_IMPLEMENTATION
#undef STBDS_REALLOC
#undef STBDS_FREE
#undef STBDS_NO_SHORT_NAMES
#undef STBDS_UNIT_TESTS
#undef INCLUDE_STB_DS_H
#undef stbds_arrgrow
#define STBDS_NO_SHORT_NAMES
#define stbds_arrgrowf gpumpi_stbds_arrgrowf
#define stbds_arrfreef gpumpi_stbds_arrfreef
#define stbds_hash_bytes gpumpi_stbds_hash_bytes
#define stbds_hash_string gpumpi_stbds_hash_string
#define stbds_hmdel_key gpumpi_stbds_hmdel_key
#define stbds_hmfree_func gpumpi_stbds_hmfree_func
#define stbds_hmget_key gpumpi_stbds_hmget_key
#define stbds_hmget_key_ts gpumpi_stbds_hmget_key_ts
#define stbds_hmput_default gpumpi_stbds_hmput_default
#define stbds_hmput_key gpumpi_stbds_hmput_key
#define stbds_rand_seed gpumpi_stbds_rand_seed
#define stbds_shmode_func gpumpi_stbds_shmode_func
#define stbds_stralloc gpumpi_stbds_stralloc
#define stbds_strreset gpumpi_stbds_strreset
#define stbds_unit_tests gpumpi_stbds_unit_tests
#define stbds_array_header gpumpi_stbds_array_header
#define stbds_string_block gpumpi_stbds_string_block
#define stbds_string_arena gpumpi_stbds_string_arena
#define STBDS_SH_NONE gpumpi_stbds_sh_none
#define STBDS_SH_DEFAULT gpumpi_stbds_sh_default
#define STBDS_SH_STRDUP gpumpi_stbds_sh_strdup
#define STBDS_SH_ARENA gpumpi_stbds_sh_arena
#ifdef __cplusplus
#define stbds_arrgrowf_wrapper gpumpi_stbds_arrgrowf_wrapper
#define stbds_hmget_key_wrapper gpumpi_stbds_hmget_key_wrapper
#define stbds_hmget_key_ts_wrapper gpumpi_stbds_hmget_key_ts_wrapper
#define stbds_hmput_default_wrapper gpumpi_stbds_hmput_default_wrapper
#define stbds_hmput_key_wrapper gpumpi_stbds_hmput_key_wrapper
#define stbds_hmdel_key_wrapper gpumpi_stbds_hmdel_key_wrapper
#define stbds_shmode_func_wrapper gpumpi_stbds_shmode_func_wrapper
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wundef"
#endif
#if defined(__has_include)
#if __has_include("stb_ds.h")
#include "stb_ds.h"
#elif __has_include(<stb/stb_ds.h>)
#include <stb/stb_ds.h>
#else
#error \
    "gpump needs stb_ds.h: install libstb-dev (Debian, Ubuntu), put stb_ds.h beside gpump.h, or define GPUMP_NO_PROGRAM"
#endif
#elif defined(__TINYC__) && \
    defined(__unix__) /* no __has_include: where Debian's libstb-dev and its like put the file */
#include <stb/stb_ds.h>
#else
#include "stb_ds.h"
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* The one array macro that calls a function of stb_ds. Room is always made before, so it is never reached. */
#undef stbds_arrgrow
#define stbds_arrgrow(array, more, least) gpumpi_array_is_full()

GPUMP_BEGIN

GPUMP_INLINE void gpumpi_array_is_full(void) { GPUMP_ASSERT(0); }

/* Makes room for `count` elements in all. Returns the array, moved or not, or NULL when out of memory or when the size
 * does not fit size_t; the old array is then still valid. `array` may be NULL. */
GPUMP_API void *gpumpi_array_grow(const gpump_allocator *allocator, void *array, size_t element_bytes, size_t count);
/* Frees an array of gpumpi_array_grow; NULL is allowed. */
GPUMP_API void gpumpi_array_free(const gpump_allocator *allocator, void *array, size_t element_bytes);

/* 1 when `array` (an lvalue) has room for `more` further elements, grown if need be; 0 when out of memory, array
 * unchanged. */
#define GPUMPI_ARRAY_RESERVE(allocator, array, more)                                                 \
    (stbds_arrlenu(array) + (size_t)(more) <= stbds_arrcap(array) ||                                 \
     gpumpi_array_replace((void *)&(array), gpumpi_array_grow((allocator), (array), sizeof *(array), \
                                                              stbds_arrlenu(array) + (size_t)(more))))
/* Appends one value; 1 done, 0 out of memory. */
#define GPUMPI_ARRAY_PUSH(allocator, array, value) \
    (GPUMPI_ARRAY_RESERVE((allocator), (array), 1) ? (stbds_arrput((array), (value)), 1) : 0)
/* Frees and sets to NULL. */
#define GPUMPI_ARRAY_FREE(allocator, array) (gpumpi_array_free((allocator), (array), sizeof *(array)), (array) = NULL)

GPUMP_INLINE int gpumpi_array_replace(void *array, void *grown) {
    if (!grown) return 0;
    memcpy(array, &grown, sizeof grown);
    return 1;
}

GPUMP_END

#endif
#endif

/* ---- gpump_impl/program/program_parts.h ---- */
/* program_parts (private): what the analyses share, namely memory, graphs, and the function that makes a changed copy
 * of a program. */
#ifndef GPUMPI_PROGRAM_PARTS_H
#define GPUMPI_PROGRAM_PARTS_H
#ifndef GPUMP_NO_PROGRAM




/* Runs whenever an instruction is read. A test that includes the implementation defines it to count the steps of an
 * analysis. */
#ifndef GPUMPI_COUNT_STEP
#define GPUMPI_COUNT_STEP() ((void)0)
#endif

/* Memory for an analysis: many arrays of fixed size, all freed at once. */
typedef struct gpumpi_arena_chunk gpumpi_arena_chunk;
typedef struct gpumpi_arena {
    gpump_allocator allocator;
    gpumpi_arena_chunk *chunks;
} gpumpi_arena;
/* Returns an empty arena; allocator NULL: the C library's. */
GPUMP_API gpumpi_arena gpumpi_arena_make(const gpump_allocator *allocator);
/* Returns `count` zeroed elements (room for at least one), or NULL when out of memory or when the size does not fit. */
GPUMP_API void *gpumpi_arena_new(gpumpi_arena *arena, size_t element_bytes, size_t count);
GPUMP_API void gpumpi_arena_free(gpumpi_arena *arena);
/* 1 when `array` (an lvalue) now holds `count` zeroed elements; 0 when out of memory. */
#define GPUMPI_ARENA_NEW(arena, array, count) \
    gpumpi_array_replace((void *)&(array), gpumpi_arena_new((arena), sizeof *(array), (size_t)(count)))

/* Groups `count` values by key (0 to keys - 1), in their order: those of key k are (*out)[(*start)[k]] to
 * (*out)[(*start)[k + 1] - 1]. 1 done, 0 out of memory. */
GPUMP_API int gpumpi_group(gpumpi_arena *arena, uint32_t keys, const uint32_t *key, const uint32_t *value, size_t count,
                           uint32_t **start, uint32_t **out);

/* A directed graph: the successors of node n are succ[succ_start[n]] to succ[succ_start[n + 1] - 1]; pred likewise. */
typedef struct gpumpi_graph {
    uint32_t nodes;
    uint32_t *succ_start, *succ, *pred_start, *pred;
} gpumpi_graph;
/* Builds a graph of `count` edges from[i] -> to[i], kept in that order. 1 done, 0 out of memory. */
GPUMP_API int gpumpi_graph_build(gpumpi_arena *arena, gpumpi_graph *graph, uint32_t nodes, const uint32_t *from,
                                 const uint32_t *to, size_t count);
/* Depth-first search from root: preorder[] and, unless NULL, postorder[] of the nodes reached; returns how many, or
 * GPUMP_NONE when out of memory. number[n] is n's place in preorder, GPUMP_NONE when not reached; parent[n] likewise a
 * node. */
GPUMP_API uint32_t gpumpi_graph_search(gpumpi_arena *arena, const gpumpi_graph *graph, uint32_t root,
                                       uint32_t *preorder, uint32_t *postorder, uint32_t *number, uint32_t *parent);
/* Immediate dominators (semi-NCA): idom[n] is GPUMP_NONE for the root and for nodes not reached. 1 done, 0 out of
 * memory. */
GPUMP_API int gpumpi_graph_dominators(gpumpi_arena *arena, const gpumpi_graph *graph, uint32_t root, uint32_t *idom);
/* Numbers the tree of idom so that a dominates b when enter[a] <= enter[b] and leave[b] <= leave[a]; nodes outside the
 * tree get enter 1, leave 0. 1 done, 0 out of memory. */
GPUMP_API int gpumpi_graph_intervals(gpumpi_arena *arena, uint32_t nodes, const uint32_t *idom, uint32_t root,
                                     uint32_t *enter, uint32_t *leave);

/* 1 when a definition leaves nothing of the old value: no guard. */
GPUMP_INLINE int gpumpi_kills(const gpump_instruction *instruction) { return instruction->guard == GPUMP_NONE; }
/* Calls body with `reg` for each register number that an operand covers; none for a parameter. */
#define GPUMPI_OPERAND_REGISTERS(operand, reg, body)      \
    do {                                                  \
        if (!((operand)&GPUMP_OPERAND_PARAMETER)) {       \
            uint32_t reg = (operand)&GPUMP_OPERAND_INDEX; \
            body;                                         \
            if ((operand)&GPUMP_OPERAND_PAIR) {           \
                reg++;                                    \
                body;                                     \
            }                                             \
        }                                                 \
    } while (0)

/* One instruction to insert before instruction `before` (or at the end). Several at one place keep their order. */
typedef struct gpumpi_insertion {
    /* Its target, when used, is an old instruction number, or GPUMPI_NEW | index of an insertion. */
    gpump_instruction instruction;
    uint32_t defs[2], uses[3]; /* where its operands live: the pointers are set from here */
    uint32_t before;
    uint32_t after_previous; /* 1: belongs to instruction before - 1, so branches to `before` do not take it */
    uint32_t entry_loop;     /* GPUMP_NONE: every path to `before` takes it; else only paths from outside that loop */
    uint32_t origin;         /* GPUMP_NONE, or the old instruction it is a copy of */
} gpumpi_insertion;
#define GPUMPI_NEW UINT32_C(0x80000000)
/* In a branch target: the old instruction itself. The branch skips the instructions inserted before it. */
#define GPUMPI_NEW_BODY UINT32_C(0x40000000)
GPUMP_INLINE gpumpi_insertion gpumpi_insertion_make(uint32_t operation, uint32_t before) {
    gpumpi_insertion insertion;
    memset(&insertion, 0, sizeof insertion);
    insertion.instruction = gpump_instruction_make(operation);
    insertion.before = before;
    insertion.entry_loop = insertion.origin = GPUMP_NONE;
    return insertion;
}
/* A copy of an old instruction with at most one use. */
GPUMP_INLINE gpumpi_insertion gpumpi_insertion_copy(const gpump_program *program, uint32_t index, uint32_t before) {
    gpumpi_insertion insertion = gpumpi_insertion_make(GPUMP_OP_COMPUTE, before);
    gpump_program_instruction(program, index, &insertion.instruction);
    if (insertion.instruction.def_count) insertion.defs[0] = insertion.instruction.defs[0];
    if (insertion.instruction.use_count) insertion.uses[0] = insertion.instruction.uses[0];
    insertion.origin = index;
    return insertion;
}
/* Makes the changed copy. Insertions are sorted by `before`; at one place those after the previous instruction come
 * first, then those of a loop's entry, then the rest. The new program knows its origin[]. */
typedef struct gpumpi_edit {
    const gpump_program *program;
    const gpumpi_insertion *insertions;
    uint32_t insertion_count;
    /* Changes *instruction in place (operands into scratch of 80 entries); returns 0 to drop it. NULL: nothing changes.
     */
    int (*rewrite)(void *user, uint32_t index, gpump_instruction *instruction, uint32_t *scratch);
    void *user;
    /* The registers of the new program; widths NULL: those of the old one. */
    const uint32_t *widths;
    uint32_t registers;
    const uint32_t *origin; /* where `program` is itself a step: its own origin[]; else NULL */
} gpumpi_edit;
/* GPUMP_OK, GPUMP_ERROR_MEMORY, or what gpump_program_add says. */
GPUMP_API gpump_result gpumpi_program_edit(const gpumpi_edit *edit, gpump_program **out, gpump_diag *diag);
/* The allocator a program was made with. */
GPUMP_API const gpump_allocator *gpumpi_program_allocator(const gpump_program *program);

/* Memory as re-execution sees it. start[i] (the caller's to set, one per instruction): a region starts before
 * instruction i. */
typedef struct gpumpi_memory {
    const gpump_program *program;
    uint32_t unit, slots;
    /* Control flow, and for a warp also edges from the end of one diverged side to the start of the other. */
    gpumpi_graph graph;
    uint8_t *start;
    uint8_t *is_protected; /* reads whose source the thread wrote itself since its region's start, on every path */
    /* For each instruction the exactly known place that it accesses. GPUMP_NONE: the place is not exactly known, or no
     * instruction with an exactly known place writes it. */
    uint32_t *slot;
    uint32_t *stack, *seen;  /* for walks: one per block */
    uint32_t *order, blocks; /* reverse postorder of control flow */
    uint8_t *kind;           /* GPUMPI_MEMORY_... bits of each instruction */
    /* As in gpump_regions_config, with instruction numbers after origin[]; may be NULL. */
    int (*may_clobber)(void *user, uint32_t read, uint32_t write);
    void *user;
    const uint32_t *origin;
} gpumpi_memory;
#define GPUMPI_MEMORY_READS 1u
#define GPUMPI_MEMORY_MEETS_READ 2u /* a write of an object that something reads */
GPUMP_API int gpumpi_memory_make(gpumpi_arena *arena, const gpump_program *program, uint32_t unit,
                                 gpumpi_memory *memory);
/* Finds is_protected[] for start[] as it is now. 1 done, 0 out of memory. */
GPUMP_API int gpumpi_memory_protect(gpumpi_arena *arena, gpumpi_memory *memory);
/* The unprotected reads nearest before `write` that may touch what it writes, walking up from it to region starts;
 * `mark` is a number not used before. Appends them to *reads (an array.h array). 1 done, 0 out of memory. */
GPUMP_API int gpumpi_memory_walk(gpumpi_memory *memory, uint32_t write, uint32_t mark, const gpump_allocator *allocator,
                                 uint32_t **reads);
/* 1 when the instruction writes (reads) memory or a spill slot. */
GPUMP_API int gpumpi_memory_writes(const gpump_instruction *in);
GPUMP_API int gpumpi_memory_reads(const gpump_instruction *in);
/* 1 when the instruction must not execute twice and its region ends right behind it. What it writes is then never read
 * again in that region. */
GPUMP_API int gpumpi_memory_ends_region(const gpumpi_memory *memory, uint32_t i, const gpump_instruction *in);
struct gpump_liveness;
/* The registers live before instruction `index`, or behind it when `behind` is 1, in no order; returns how many stand
 * in list[], which has room for all. stamp: one per register, zero at first; mark: an even number above 0 not used with
 * it before. Cost: the registers live nearby and at most as many instructions, or 64; unlike that of a set, not the
 * number of registers. */
GPUMP_API uint32_t gpumpi_liveness_list(const struct gpump_liveness *liveness, uint32_t index, int behind,
                                        uint32_t *stamp, uint32_t mark, uint32_t *list);
/* gpump_liveness_diverged for many instructions with the same scratch arrays. *search starts as zeros. 1 done, 0 out of
 * memory. */
typedef struct gpumpi_liveness_search {
    uint32_t *found, *seen, mark;
} gpumpi_liveness_search;
GPUMP_API int gpumpi_liveness_diverged(const struct gpump_liveness *liveness, uint32_t index,
                                       gpumpi_liveness_search *search, gpumpi_arena *scratch, uint64_t *set);
/* The blocks whose last instruction decides whether basic block b runs; see liveness.c. */
GPUMP_API void gpumpi_liveness_control_of(const struct gpump_liveness *liveness, uint32_t b, const uint32_t **blocks,
                                          uint32_t *count);
/* 1 when lanes of a warp can part at the end of basic block b. */
GPUMP_API int gpumpi_program_diverges(const gpump_program *program, uint32_t b);

/* A register clobber: in the region that starts before `start`, `reg` is live in, read, then written at `write`. */
typedef struct gpumpi_register_clobber {
    uint32_t start, reg, write;
} gpumpi_register_clobber;
/* Appends all of them, at most one for each start and register. 1 done, 0 out of memory. */
GPUMP_API int gpumpi_register_clobbers(gpumpi_arena *arena, const gpump_program *program,
                                       const struct gpump_liveness *liveness, const uint8_t *start,
                                       const gpump_allocator *allocator, gpumpi_register_clobber **list);
/* gpump_regions_preserve for a program that is itself a step of a transform: origin is its own origin[], or NULL. */
struct gpump_regions_report;
GPUMP_API gpump_result gpumpi_regions_preserve(const gpump_program *program, const uint32_t *origin,
                                               gpump_program **preserved, struct gpump_regions_report *report,
                                               gpump_diag *diag);
/* Sets start[] from the BOUNDARY instructions that count at `level`. */
GPUMP_API void gpumpi_boundary_starts(const gpump_program *program, uint32_t level, uint8_t *start);

/* What is known of each register before allocation (constants.c). */
typedef struct gpumpi_registers_facts {
    uint32_t *defs, *def_at; /* how many instructions write it, and one that does */
    uint8_t *fixed;          /* 1: its only write is one unguarded CONSTANT or PARAMETER, directly or through moves */
    int64_t *offset;         /* of the parameter */
    uint8_t *parameter;      /* 1: fixed, and its value is a parameter */
} gpumpi_registers_facts;
GPUMP_API int gpumpi_registers_find_facts(const gpump_program *program, gpumpi_arena *arena,
                                          gpumpi_registers_facts *facts);
/* 1 when nothing may come between instruction i and the boundary behind it. */
GPUMP_API int gpumpi_registers_commits_with_next(const gpump_program *program, uint32_t i);
/* Folds and sinks, as the configuration says, and returns the new program. */
struct gpump_registers_config;
struct gpump_registers_report;
GPUMP_API gpump_result gpumpi_registers_prepare(const gpump_program *program,
                                                const struct gpump_registers_config *config, gpump_program **out,
                                                struct gpump_registers_report *report, gpump_diag *diag);

#endif
#endif

/* ---- gpump_impl/context/compress_parts.h ---- */
/* compress_parts (private): what the format (compress.c), the plain path (compress_plain.c) and the x86 path
 * (compress_x86.c) share. A path writes and reads one warp. The format owns the order of the warps, and every check. */
#ifndef GPUMPI_COMPRESS_PARTS_H
#define GPUMPI_COMPRESS_PARTS_H



#include <string.h>

#if (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) || defined(_M_X64) || defined(_M_IX86)
#define GPUMPI_COMPRESS_LITTLE 1
#endif
#if defined(__GNUC__)
#define GPUMPI_COMPRESS_ALWAYS __attribute__((always_inline)) static inline
#else
#define GPUMPI_COMPRESS_ALWAYS static inline
#endif

/* Codes of the NEAR form beyond those of gpump_compress_pattern. */
enum {
    GPUMPI_COMPRESS_AGAIN = 4,  /* each lane: that of the warp before plus the constant last written for the register */
    GPUMPI_COMPRESS_MOVED = 5,  /* the same, with a constant of its own */
    GPUMPI_COMPRESS_BYTES1 = 6, /* a base, then the distance of each lane above the base in 1, 2 or 3 bytes */
    GPUMPI_COMPRESS_BYTES2 = 7,
    GPUMPI_COMPRESS_BYTES3 = 8,
    GPUMPI_COMPRESS_NEAR_CODES = 9
};

/* One warp of the NEAR form. */
typedef struct gpumpi_compress_near {
    const uint64_t *live, *live_before; /* live masks of this warp and of the warp before; NULL: all are live */
    size_t back;                        /* words back to the warp before; 0: this is the first warp */
    uint32_t lanes;
    uint32_t *steps; /* for each register the constant last written */
} gpumpi_compress_near;

/* How one warp is written and read. `out` has room for the warp as it stands; `in` has been checked. Each function
 * returns the end of what it wrote or read. */
typedef struct gpumpi_compress_path {
    /* WARP form: a pattern vector, then the data. */
    unsigned char *(*write_warp)(const gpump_compress_layout *layout, const uint32_t *v, const uint64_t *live,
                                 uint32_t lanes, unsigned char *out);
    /* `around`: the values are stored around the caches. */
    const unsigned char *(*read_warp)(const gpump_compress_layout *layout, uint32_t *v, uint32_t lanes, int around,
                                      const unsigned char *in);
    /* NEAR form: four-bit codes, then the data. */
    unsigned char *(*write_near)(const gpump_compress_layout *layout, const uint32_t *v,
                                 const gpumpi_compress_near *near, unsigned char *out);
    const unsigned char *(*read_near)(const gpump_compress_layout *layout, uint32_t *v,
                                      const gpumpi_compress_near *near, const unsigned char *in);
    /* Returns the data words for which the pattern vector of one warp stands; `left` bytes can be read. */
    uint32_t (*words)(const gpump_compress_layout *layout, const unsigned char *patterns, size_t left, uint32_t lanes,
                      uint32_t groups);
} gpumpi_compress_path;

/* Plain C: every layout, every machine. */
GPUMP_API const gpumpi_compress_path *gpumpi_compress_plain(void);
/* AVX2 or AVX-512 for full warps of 32 lanes in groups of 8, 16 or 32. NULL: this processor, build or layout has none,
 * or the flags forbid it. */
GPUMP_API const gpumpi_compress_path *gpumpi_compress_x86(const gpump_compress_layout *layout, uint32_t flags);

/* Sets base and stride of every group and returns the pattern of values[lanes]. A group of a single lane takes the
 * stride of the group before it, so that the single lane never spoils a pattern. */
GPUMP_API uint32_t gpumpi_compress_analyse(const uint32_t *v, uint32_t lanes, uint32_t group, uint32_t *base,
                                           uint32_t *stride);
/* Fills one vector register from bases and strides (little-endian words; strides NULL: uniform). */
GPUMP_API void gpumpi_compress_expand(uint32_t *v, uint32_t lanes, uint32_t group, const unsigned char *bases,
                                      const unsigned char *strides);
/* Returns the code of one register of the NEAR form and sets *bytes to the length of its data; out NULL: measures only.
 * `before`: the same register of the warp before, where that is saved, else NULL. *step: the constant last written. */
GPUMP_API uint32_t gpumpi_compress_near_one(const uint32_t *v, const uint32_t *before, uint32_t lanes, uint32_t group,
                                            uint32_t *step, unsigned char *out, size_t *bytes);
/* BYTES1 to BYTES3: `base`, then the distance of each lane above it in `width` bytes. */
GPUMP_API unsigned char *gpumpi_compress_put_bytes(unsigned char *out, const uint32_t *v, uint32_t lanes, uint32_t base,
                                                   uint32_t width);
GPUMP_API const unsigned char *gpumpi_compress_get_bytes(const unsigned char *in, uint32_t *v, uint32_t lanes,
                                                         uint32_t width);

/* ---- words, little endian ---- */

GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_put(unsigned char *out, uint32_t word) {
#ifdef GPUMPI_COMPRESS_LITTLE
    memcpy(out, &word, 4);
#else
    out[0] = (unsigned char)word;
    out[1] = (unsigned char)(word >> 8);
    out[2] = (unsigned char)(word >> 16);
    out[3] = (unsigned char)(word >> 24);
#endif
}

GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_get(const unsigned char *in) {
#ifdef GPUMPI_COMPRESS_LITTLE
    uint32_t word;
    memcpy(&word, in, 4);
    return word;
#else
    return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
#endif
}

GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_put_words(unsigned char *out, const uint32_t *words,
                                                                uint32_t count) {
#ifdef GPUMPI_COMPRESS_LITTLE
    memcpy(out, words, (size_t)count * 4);
#else
    uint32_t i;
    for (i = 0; i < count; i++) gpumpi_compress_put(out + (size_t)i * 4, words[i]);
#endif
    return out + (size_t)count * 4;
}

GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_get_words(const unsigned char *in, uint32_t *words,
                                                                      uint32_t count) {
#ifdef GPUMPI_COMPRESS_LITTLE
    memcpy(words, in, (size_t)count * 4);
#else
    uint32_t i;
    for (i = 0; i < count; i++) words[i] = gpumpi_compress_get(in + (size_t)i * 4);
#endif
    return in + (size_t)count * 4;
}

/* ---- registers and patterns ---- */

GPUMPI_COMPRESS_ALWAYS int gpumpi_compress_live(const uint64_t *live, uint32_t r) {
    return !live || gpump_bits_get(live, r);
}

/* Bytes that hold `range`: 1 to 4. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_width(uint32_t range) {
    return range < 256 ? 1 : range < 65536 ? 2 : range < 16777216 ? 3 : 4;
}

/* Pattern vectors have two bits per register and are read 32 registers at a time as one word. `left` bytes can be
 * read. */
GPUMPI_COMPRESS_ALWAYS uint64_t gpumpi_compress_get_patterns(const unsigned char *codes, uint32_t registers,
                                                             uint32_t first, size_t left) {
    uint32_t bytes = registers - first < 32 ? (registers - first + 3) / 4 : 8, shift;
    uint64_t word = 0;
    codes += first / 4;
    left -= first / 4;
#ifdef GPUMPI_COMPRESS_LITTLE
    if (left >= 8) {
        memcpy(&word, codes, 8);
        return bytes < 8 ? word & ((UINT64_C(1) << bytes * 8) - 1u) : word;
    }
#endif
    for (shift = 0; bytes; bytes--, shift += 8) word |= (uint64_t)*codes++ << shift;
    return word;
}
#define GPUMPI_COMPRESS_LOW_BITS UINT64_C(0x5555555555555555)

/* Returns the data words of a pattern vector; `count(fields)` adds up 32 fields of two bits, each 0 or 1. */
#define GPUMPI_COMPRESS_WORDS(sum, count)                                                                         \
    do {                                                                                                          \
        uint32_t gpumpi_first;                                                                                    \
        for (gpumpi_first = 0; gpumpi_first < layout->registers; gpumpi_first += 32) {                            \
            uint64_t gpumpi_word = gpumpi_compress_get_patterns(patterns, layout->registers, gpumpi_first, left); \
            uint64_t gpumpi_low = gpumpi_word & GPUMPI_COMPRESS_LOW_BITS;                                         \
            uint64_t gpumpi_high = gpumpi_word >> 1 & GPUMPI_COMPRESS_LOW_BITS;                                   \
            (sum) += count(gpumpi_high & ~gpumpi_low) * lanes +                                                   \
                     (count(gpumpi_low) + count(gpumpi_low & gpumpi_high)) * groups;                              \
        }                                                                                                         \
    } while (0)

#endif

/* ---- gpump_impl/victim/victim_parts.h ---- */
/* victim_parts (private): what the parts of victim share. victim_positions.c lays positions out, victim_greedy.c is
 * Algorithm 1, victim_exact.c the search, victim_joint.c our policy, victim_policies.c the table, victim.c the decision
 * over SMs. */
#ifndef GPUMPI_VICTIM_PARTS_H
#define GPUMPI_VICTIM_PARTS_H



#include <string.h>

GPUMP_BEGIN

#define GPUMPI_VICTIM_F (1u << GPUMP_TECHNIQUE_FLUSH)
#define GPUMPI_VICTIM_S (1u << GPUMP_TECHNIQUE_SWITCH)
#define GPUMPI_VICTIM_D (1u << GPUMP_TECHNIQUE_DRAIN)
#define GPUMPI_VICTIM_R (1u << GPUMP_TECHNIQUE_REWIND)

/* ---- one block ---- */

/* Cycles until the deadline of a request. */
GPUMP_INLINE uint64_t gpumpi_victim_left(const gpump_victim_request *request) {
    uint64_t deadline = gpump_add_saturated(request->since, request->limit_cycles);
    if (request->limit_cycles == GPUMP_UNKNOWN) return GPUMP_UNKNOWN;
    return deadline > request->now ? deadline - request->now : 0;
}

/* Whether a technique moves bytes through the port that the blocks of an SM share. */
GPUMP_INLINE int gpumpi_victim_uses_port(uint32_t technique) {
    return technique == GPUMP_TECHNIQUE_SWITCH || technique == GPUMP_TECHNIQUE_REWIND;
}

/* One number that orders as Algorithm 1 does (lines 3 to 13 techniques, 15 to 26 candidates): the smaller the better;
 * what is in time by overhead, before what is late by latency. GPUMP_UNKNOWN is larger than anything, and costs are
 * below 2^63. */
#define GPUMPI_VICTIM_LATE ((uint64_t)1 << 63)
GPUMP_INLINE uint64_t gpumpi_victim_rank(int in_time, uint64_t latency, uint64_t overhead) {
    return in_time ? overhead & ~GPUMPI_VICTIM_LATE : latency | GPUMPI_VICTIM_LATE;
}
/* The best technique so far. */
typedef struct gpumpi_victim_pick {
    uint64_t rank;
    uint32_t technique;
} gpumpi_victim_pick;

GPUMP_INLINE gpumpi_victim_pick gpumpi_victim_consider(gpumpi_victim_pick best, const gpump_cost_estimate *estimate,
                                                       uint32_t allowed, uint32_t t, uint64_t left) {
    uint64_t rank;
    if (!(allowed >> t & 1u)) return best;
    rank = gpumpi_victim_rank(estimate->latency[t] <= left, estimate->latency[t], estimate->overhead[t]);
    if (rank > best.rank) return best;
    if (rank == best.rank && best.technique < GPUMP_TECHNIQUES) { /* equals: the other of the two numbers */
        const uint64_t *second = rank & GPUMPI_VICTIM_LATE ? estimate->overhead : estimate->latency;
        if (second[t] >= second[best.technique]) return best;
    }
    best.rank = rank;
    best.technique = t;
    return best;
}

/* Algorithm 1, lines 3 to 13. `allowed` is not 0. Unknown is never in time. */
GPUMP_INLINE gpumpi_victim_pick gpumpi_victim_pick_technique(const gpump_cost_estimate *estimate, uint32_t allowed,
                                                             uint64_t left) {
    gpumpi_victim_pick best = {GPUMP_UNKNOWN, GPUMP_TECHNIQUES};
    if (left == GPUMP_UNKNOWN) left--;
    best = gpumpi_victim_consider(best, estimate, allowed, GPUMP_TECHNIQUE_FLUSH, left);
    best = gpumpi_victim_consider(best, estimate, allowed, GPUMP_TECHNIQUE_SWITCH, left);
    best = gpumpi_victim_consider(best, estimate, allowed, GPUMP_TECHNIQUE_DRAIN, left);
    return gpumpi_victim_consider(best, estimate, allowed, GPUMP_TECHNIQUE_REWIND, left);
}
GPUMP_INLINE uint32_t gpumpi_victim_cheapest(const gpump_cost_estimate *estimate, uint32_t allowed, uint64_t left) {
    return gpumpi_victim_pick_technique(estimate, allowed, left).technique;
}

/* ---- warps, threads and slots of one SM ---- */

/* What is free of the resources that positions do not cover; negative when a promised position waits for a block that
 * does not go. `spare` is by how many the free entries of the allocation tables exceed the free slots: it changes only
 * with blocks that are parked or will be. */
typedef struct gpumpi_victim_room {
    int64_t warps, threads, slots, spare;
} gpumpi_victim_room;

/* The parts (gpump_part bits) that a block leaves in place when it goes by itself: it will be parked. */
GPUMP_INLINE uint32_t gpumpi_victim_keeps(const gpump_block_view *block) {
    return gpump_block_is_saved_now(block->state) ? block->keep & GPUMP_PARTS_IN_PLACE : 0;
}

/* Adds the room of a set of blocks. A parked block has no slot but an entry; a block that will be parked gives its slot
 * but not its entry. */
GPUMP_INLINE void gpumpi_victim_release(const gpump_victim_plan_args *args, uint64_t set, gpumpi_victim_room *room) {
    uint64_t parked = set & args->parked, kept = set & args->kept;
    for (; set; set &= set - 1) {
        const gpump_block_view *block = &args->sm->blocks[gpump_bits_lowest64(set)];
        room->warps += block->warps;
        room->threads += block->threads;
        room->slots++;
    }
    if (parked | kept) {
        room->slots -= gpump_bits_count64(parked);
        room->spare += (int64_t)gpump_bits_count64(parked) - (int64_t)gpump_bits_count64(kept);
    }
}

/* Returns the room without that of a set of blocks. */
GPUMP_INLINE gpumpi_victim_room gpumpi_victim_room_minus(const gpump_victim_plan_args *args, gpumpi_victim_room room,
                                                         uint64_t set) {
    gpumpi_victim_room held = {0, 0, 0, 0};
    gpumpi_victim_release(args, set, &held);
    room.warps -= held.warps;
    room.threads -= held.threads;
    room.slots -= held.slots;
    room.spare -= held.spare;
    return room;
}

/* What is free when the leaving blocks of `staying` do not leave. */
GPUMP_INLINE gpumpi_victim_room gpumpi_victim_room_without(const gpump_victim_plan_args *args, uint64_t staying) {
    gpumpi_victim_room room;
    room.warps = args->free_warps;
    room.threads = args->free_threads;
    room.slots = args->free_slots;
    room.spare = args->free_entries - args->free_slots;
    return staying ? gpumpi_victim_room_minus(args, room, staying) : room;
}

/* Whether `positions` more blocks fit. */
GPUMP_INLINE int gpumpi_victim_suffices(const gpump_victim_geometry *geometry, const gpumpi_victim_room *room,
                                        uint32_t positions) {
    return room->warps >= (int64_t)geometry->warps * positions &&
           room->threads >= (int64_t)geometry->threads * positions && room->slots >= positions &&
           room->slots + room->spare >= positions;
}

/* The same SM when whoever leaves by himself, but later than `limit`, stays. */
GPUMP_API gpump_victim_plan_args gpumpi_victim_args_within(const gpump_victim_plan_args *args, uint64_t limit);

/* Adds whoever must leave with a block of the set and is not on the way out. */
GPUMP_API uint64_t gpumpi_victim_closure(const gpump_victim_sm *sm, uint64_t set);

/* ---- positions ---- */

/* Adds `mark` to the sets of the positions that a range reaches into. base * factor >> 40 is base / position
 * (gpumpi_victim_factor). */
GPUMP_INLINE void gpumpi_victim_mark_range(uint32_t base, uint32_t length, uint64_t factor, uint32_t positions,
                                           uint64_t mark, uint64_t *sets) {
    uint32_t p, last;
    if (!factor || !length) return;
    p = (uint32_t)(base * factor >> 40);
    last = (uint32_t)((base + length - 1) * factor >> 40);
    for (; p <= last && p < positions; p++) sets[p] |= mark;
}
/* Likewise for these parts (gpump_part bits) of a block. */
GPUMP_INLINE void gpumpi_victim_mark_parts(const gpump_victim_geometry *geometry, const gpump_block_view *block,
                                           uint32_t parts, uint64_t mark, uint64_t *sets) {
    if (parts & GPUMP_PART_REGISTERS)
        gpumpi_victim_mark_range(block->register_base, block->registers, geometry->register_factor, geometry->positions,
                                 mark, sets);
    if (parts & GPUMP_PART_SHARED_MEMORY)
        gpumpi_victim_mark_range(block->shared_base, block->shared_bytes, geometry->shared_factor, geometry->positions,
                                 mark, sets);
}
/* Adds a block that will be parked to the sets of the positions that it clears. Returns the others that it lies on: the
 * part that it leaves in place is there. */
GPUMP_API uint64_t gpumpi_victim_mark_kept(const gpump_victim_geometry *geometry, const gpump_block_view *block,
                                           uint64_t mark, uint64_t *sets);
/* Takes the blocks of `own` out of all sets. Returns the positions that they lie on. */
GPUMP_INLINE uint64_t gpumpi_victim_take_out(uint64_t own, uint32_t positions, uint64_t *sets) {
    uint64_t taken = 0;
    uint32_t p;
    for (p = 0; p < positions && own; p++) {
        if (sets[p] & own) taken |= (uint64_t)1 << p;
        sets[p] &= ~own;
    }
    return taken;
}

/* ---- plans ---- */

/* Chimera and its kin: all blocks or none, positions from the lowest. */
GPUMP_API void gpumpi_victim_plan_whole(const gpump_victim_plan_args *args, gpump_victim_plan *plan);

/* Every block of args->choosable leaves, each by the technique that the policy gives it. */
GPUMP_API void gpumpi_victim_plan_each(const gpump_victim_plan_args *args, gpump_victim_plan *plan);

/* Positions and victims of least overhead such that every victim, and whoever leaves by himself and is in the way, is
 * out within the limit; where that cannot be, within the least latency that can. Every victim takes its cheapest
 * technique within that latency. `most` bounds the overhead, `nodes` the search; plan->positions is 0 when it ends
 * without an answer. */
GPUMP_API void gpumpi_victim_exact(const gpump_victim_plan_args *args, const gpump_cost_estimate *estimates,
                                   uint64_t most, uint32_t nodes, gpump_victim_plan *plan);

/* Ours: all victims at once (victim_joint.c). */
GPUMP_API void gpumpi_victim_plan_joint(const gpump_victim_plan_args *args, gpump_victim_plan *plan);

GPUMP_END
#endif

/* ---- gpump_impl/scheduler/scheduler_parts.h ---- */
/* scheduler_parts (private): the scheduler's block of memory, for scheduler.c, which changes it, and
 * scheduler_tables.c, which lays it out, shows and checks it. */
#ifndef GPUMPI_SCHEDULER_PARTS_H
#define GPUMPI_SCHEDULER_PARTS_H



#include <string.h>

GPUMP_BEGIN

/* How many offsets the head holds, from processes_at on. */
#define GPUMPI_SCHEDULER_OFFSETS 13

/* The whole state: this head, then the tables at the offsets it holds. */
struct gpump_scheduler {
    gpumpi_head head;
    gpump_scheduler_statistics statistics;
    uint64_t now;
    uint64_t policy_due;  /* when the policy decides; GPUMP_UNKNOWN: nothing has happened since it last did */
    uint64_t policy_wake; /* when it wants to run by itself */
    uint64_t arrivals;    /* sequence number of the next submission */
    uint64_t serials;     /* serial of the next process */
    uint64_t policy_state[GPUMP_SCHEDULER_STATE_WORDS];
    uint64_t processes_at, buffers_at, kernels_at, sms_at; /* offsets in bytes from the start of the block */
    uint64_t idle_at, attention_at,
        attention_summary_at; /* sets of SMs: idle; with an action to hand over; words of that not 0 */
    uint64_t done_at;         /* set of queues with KERNEL_DONE to hand over */
    uint64_t ptbqs_at, generations_at, waiting_at, active_at, owners_at; /* the last of GPUMPI_SCHEDULER_OFFSETS */
    gpump_scheduler_config config;
    uint32_t waiting_count, active_count, open_processes, idle_sms, reserved_sms;
    uint32_t admission_due; /* 1: a buffer or a row has become free or full since the policy was asked to admit */
    uint32_t done_count;    /* queues in that set */
    uint32_t unused;
};

GPUMP_INLINE void *gpumpi_scheduler_at(const gpump_scheduler *s, uint64_t offset) {
    const char *base = (const char *)s;
    void *pointer;
    base += offset;
    memcpy(&pointer, &base, sizeof pointer); /* drops const: callers that only read keep their results const */
    return pointer;
}
GPUMP_INLINE gpump_scheduler_process_row *gpumpi_scheduler_processes(const gpump_scheduler *s) {
    return (gpump_scheduler_process_row *)gpumpi_scheduler_at(s, s->processes_at);
}
GPUMP_INLINE gpump_scheduler_buffer *gpumpi_scheduler_buffers(const gpump_scheduler *s) {
    return (gpump_scheduler_buffer *)gpumpi_scheduler_at(s, s->buffers_at);
}
GPUMP_INLINE gpump_scheduler_kernel *gpumpi_scheduler_kernels(const gpump_scheduler *s) {
    return (gpump_scheduler_kernel *)gpumpi_scheduler_at(s, s->kernels_at);
}
GPUMP_INLINE gpump_scheduler_sm *gpumpi_scheduler_sms(const gpump_scheduler *s) {
    return (gpump_scheduler_sm *)gpumpi_scheduler_at(s, s->sms_at);
}
GPUMP_INLINE uint64_t *gpumpi_scheduler_words(const gpump_scheduler *s, uint64_t offset) {
    return (uint64_t *)gpumpi_scheduler_at(s, offset);
}
GPUMP_INLINE uint32_t *gpumpi_scheduler_halves(const gpump_scheduler *s, uint64_t offset) {
    return (uint32_t *)gpumpi_scheduler_at(s, offset);
}

/* The lowest SM with an action to hand over; at most 16 words are looked at (65536 SMs). */
GPUMP_INLINE uint32_t gpumpi_scheduler_attended(const gpump_scheduler *s) {
    const uint64_t *summary = gpumpi_scheduler_words(s, s->attention_summary_at);
    const uint64_t *words = gpumpi_scheduler_words(s, s->attention_at);
    uint32_t count = gpump_bits_words(gpump_bits_words(s->config.sms));
    for (uint32_t i = 0; i < count; i++)
        if (summary[i]) {
            uint32_t word = i * 64 + gpump_bits_lowest64(summary[i]);
            return word * 64 + gpump_bits_lowest64(words[word]);
        }
    return GPUMP_NONE;
}
GPUMP_INLINE uint32_t gpumpi_scheduler_lowest_idle(const gpump_scheduler *s) {
    const uint64_t *words = gpumpi_scheduler_words(s, s->idle_at);
    if (!s->idle_sms) return GPUMP_NONE;
    for (uint32_t i = 0;; i++)
        if (words[i]) return i * 64 + gpump_bits_lowest64(words[i]);
}

GPUMP_END
#endif

/* ---- gpump_impl/base/base.c ---- */



#include <stdio.h>
#include <stdlib.h>
#include <string.h>

GPUMP_API const char *gpump_result_name(gpump_result result) {
    switch (result) {
#define GPUMPI_RESULT(name, value, text) \
    case GPUMP_##name: return "GPUMP_" #name;
        GPUMP_RESULTS(GPUMPI_RESULT)
#undef GPUMPI_RESULT
    }
    return "unknown result";
}

GPUMP_API const char *gpump_result_text(gpump_result result) {
    switch (result) {
#define GPUMPI_RESULT(name, value, text) \
    case GPUMP_##name: return text;
        GPUMP_RESULTS(GPUMPI_RESULT)
#undef GPUMPI_RESULT
    }
    return "unknown result";
}

static const char *const gpumpi_reasons[GPUMP_REASON_COUNT][2] = {
#define GPUMPI_REASON(name, text, remedy) {text, remedy},
    GPUMP_REASONS(GPUMPI_REASON)
#undef GPUMPI_REASON
};

GPUMP_API const char *gpump_reason_text(gpump_reason reason) {
    return (unsigned)reason < (unsigned)GPUMP_REASON_COUNT ? gpumpi_reasons[reason][0] : "unknown reason";
}

GPUMP_API const char *gpump_reason_remedy(gpump_reason reason) {
    return (unsigned)reason < (unsigned)GPUMP_REASON_COUNT ? gpumpi_reasons[reason][1] : "";
}

GPUMP_API size_t gpump_diag_text(const gpump_diag *diag, char *text, size_t bytes) {
    const char *name = gpump_result_name(diag->code), *field = diag->field ? diag->field : "argument";
    const char *meaning =
        diag->code == GPUMP_ERROR_ARGUMENT ? "" : gpump_result_text(diag->code); /* there the range says it all */
    char place[40] = "", range[64];
    int length;
    if (diag->code == GPUMP_ERROR_FORMAT)
        snprintf(place, sizeof place, " at byte %llu", (unsigned long long)diag->index);
    else if (diag->index)
        snprintf(place, sizeof place, "[%llu]", (unsigned long long)diag->index);
    if (diag->minimum == diag->maximum)
        snprintf(range, sizeof range, "%llu", (unsigned long long)diag->minimum);
    else if (diag->maximum == UINT64_MAX)
        snprintf(range, sizeof range, "at least %llu", (unsigned long long)diag->minimum);
    else
        snprintf(range, sizeof range, "%llu to %llu", (unsigned long long)diag->minimum,
                 (unsigned long long)diag->maximum);
    if (diag->reason != GPUMP_REASON_YES)
        length = snprintf(text, bytes, "%s: %s%s: %s; %s", name, field, place, gpump_reason_text(diag->reason),
                          gpump_reason_remedy(diag->reason));
    else if (diag->minimum == diag->maximum &&
             (diag->code == GPUMP_ERROR_STATE || diag->code == GPUMP_ERROR_STALE || diag->code == GPUMP_ERROR_MEMORY))
        length = snprintf(text, bytes, "%s: %s%s: %s", name, field, place, meaning);
    else
        length = snprintf(text, bytes, "%s: %s%s is %llu, must be %s%s%s", name, field, place,
                          (unsigned long long)diag->value, range, *meaning ? "; " : "", meaning);
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

GPUMP_API gpump_result gpumpi_range(gpump_diag *diag, const char *field, uint64_t value, uint64_t minimum,
                                    uint64_t maximum) {
    if (value >= minimum && value <= maximum) return GPUMP_OK;
    return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, field, 0, value, minimum, maximum);
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

GPUMP_API gpump_allocator gpump_allocator_default(void) {
    gpump_allocator allocator;
    allocator.reallocate = gpumpi_default_reallocate;
    allocator.user = NULL;
    return allocator;
}

GPUMP_API uint32_t gpump_bits_count(const uint64_t *set, uint32_t words) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < words; i++) count += gpump_bits_count64(set[i]);
    return count;
}

GPUMP_API uint64_t gpump_hash_u32s(uint64_t hash, const uint32_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) hash = gpump_hash_u64(hash, values[i]);
    return hash;
}

GPUMP_API uint64_t gpump_hash_u64s(uint64_t hash, const uint64_t *values, size_t count) {
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

GPUMP_API int gpump_compare_products(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    uint64_t left_high, left_low, right_high, right_low;
    gpumpi_multiply(a, b, &left_high, &left_low);
    gpumpi_multiply(c, d, &right_high, &right_low);
    if (left_high != right_high) return left_high < right_high ? -1 : 1;
    return left_low == right_low ? 0 : left_low < right_low ? -1 : 1;
}

GPUMP_API gpump_result gpumpi_head_check_memory(const void *memory, size_t bytes, uint64_t needed, gpump_diag *diag) {
    if (!memory) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "memory", 0, 0, 1, UINT64_MAX);
    if ((uintptr_t)memory % 8u)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "memory alignment", 0, (uintptr_t)memory % 8u, 0, 0);
    if (bytes < needed) return gpumpi_fail(diag, GPUMP_ERROR_CAPACITY, "bytes", 0, bytes, needed, UINT64_MAX);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpumpi_head_adopt(const void *memory, size_t bytes, uint64_t magic, uint64_t layout,
                                         uint64_t needed, gpump_diag *diag) {
    gpump_result result = gpumpi_head_check_memory(memory, bytes, sizeof(gpumpi_head), diag);
    const gpumpi_head *head = (const gpumpi_head *)memory;
    if (result) return result;
    if (head->magic != magic) return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "magic", 0, head->magic, magic, magic);
    if (head->layout != layout) return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "layout", 0, head->layout, layout, layout);
    if (head->bytes != needed) return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "bytes", 0, head->bytes, needed, needed);
    if (bytes < needed) return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "bytes", 0, bytes, needed, UINT64_MAX);
    return GPUMP_OK;
}

/* ---- sparse map: linear probing, backward-shift deletion, at most half full ---- */
struct gpump_map {
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
static uint64_t *gpumpi_map_entries(gpump_map *map) {
    return (uint64_t *)(void *)(map + 1);
} /* per slot: key, value, used */
static const uint64_t *gpumpi_map_entries_const(const gpump_map *map) {
    return (const uint64_t *)(const void *)(map + 1);
}
static uint64_t gpumpi_map_home(const gpump_map *map, uint64_t key) {
    return gpump_hash_u64(GPUMP_HASH_SEED, key) & (map->slots - 1);
}
/* The slot that holds key, or the empty slot where the probe ends. */
static uint64_t gpumpi_map_find(const gpump_map *map, uint64_t key) {
    const uint64_t *entries = gpumpi_map_entries_const(map);
    uint64_t slot = gpumpi_map_home(map, key);
    while (entries[slot * 3 + 2] && entries[slot * 3] != key) slot = (slot + 1) & (map->slots - 1);
    return slot;
}

GPUMP_API gpump_result gpump_map_bytes(uint32_t capacity, size_t *bytes) {
    uint64_t needed;
    if (!bytes || capacity == 0 || capacity > (1u << 30)) return GPUMP_ERROR_ARGUMENT;
    needed = sizeof(gpump_map) + gpumpi_map_slots(capacity) * 24u;
    if (needed > SIZE_MAX) return GPUMP_ERROR_ARGUMENT;
    *bytes = (size_t)needed;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_map_init(void *memory, size_t bytes, uint32_t capacity, gpump_map **map) {
    size_t needed;
    gpump_result result = map ? gpump_map_bytes(capacity, &needed) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    result = gpumpi_head_check_memory(memory, bytes, needed, NULL);
    if (result) return result;
    memset(memory, 0, needed);
    *map = (gpump_map *)memory;
    (*map)->slots = gpumpi_map_slots(capacity);
    (*map)->capacity = capacity;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_map_put(gpump_map *map, uint64_t key, uint64_t value) {
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

GPUMP_API gpump_result gpump_map_get(const gpump_map *map, uint64_t key, uint64_t *value) {
    const uint64_t *entries = gpumpi_map_entries_const(map);
    uint64_t slot = gpumpi_map_find(map, key);
    if (!entries[slot * 3 + 2]) return GPUMP_EMPTY;
    if (value) *value = entries[slot * 3 + 1];
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_map_remove(gpump_map *map, uint64_t key) {
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

GPUMP_API void gpumpi_array_free(const gpump_allocator *allocator, void *array, size_t element_bytes) {
    if (array)
        allocator->reallocate(allocator->user, stbds_header(array),
                              sizeof(stbds_array_header) + stbds_arrcap(array) * element_bytes, 0);
}
#endif

/* ---- gpump_impl/gpu/gpu.c ---- */


#include <string.h>

/* One line per preset; `origin` has a letter per field in the order of gpumpi_gpu_fields: p published in `source`, d
 * derived from it, a assumed. Several shared-memory sizes are one field. */
typedef struct gpumpi_gpu_preset {
    const char *name;
    const char *origin;
    const char *source;
    uint32_t sms, clock_khz, lanes, schedulers, block_slots, warp_slots, thread_slots, registers, register_granule,
        shared_granule_bytes, shared_option_count, shared_bytes[GPUMP_GPU_SHARED_OPTIONS], memory_mb_per_s;
} gpumpi_gpu_preset;

static const char *const gpumpi_gpu_fields[] = {"sms",
                                                "clock_khz",
                                                "lanes",
                                                "schedulers",
                                                "block_slots",
                                                "warp_slots",
                                                "thread_slots",
                                                "registers",
                                                "register_granule",
                                                "shared_granule_bytes",
                                                "shared_option_count",
                                                "shared_bytes",
                                                "memory_mb_per_s"};
enum { GPUMPI_GPU_FIELDS = 13 };

static const gpumpi_gpu_preset gpumpi_gpu_presets[] = {
    {"gtx480_lin",
     "ppppppppddppp",
     "Lin 2019, Table 2.1",
     15,
     700000,
     32,
     2,
     8,
     48,
     1536,
     32768,
     1,
     1,
     1,
     {49152, 0, 0, 0},
     177000},
    {"gtx480_shieh",
     "pppapdppddppp",
     "Shieh 2016, Table 4.1",
     15,
     1400000,
     32,
     2,
     8,
     48,
     1536,
     32768,
     1,
     1,
     1,
     {49152, 0, 0, 0},
     177400},
    {"k20c",
     "ppaapdppddppp",
     "Tanasic 2016, Table 5.1",
     13,
     706000,
     32,
     4,
     16,
     64,
     2048,
     65536,
     1,
     1,
     3,
     {16384, 32768, 49152, 0},
     208000},
    {"table61",
     "ppappppdaappp",
     "Tanasic 2016, Table 6.1",
     16,
     1000000,
     32,
     2,
     16,
     64,
     2048,
     65536,
     1,
     1,
     1,
     {32768, 0, 0, 0},
     250000},
    {"maxwell_duet",
     "ppppppdpaappp",
     "Lin 2019, Table 3.1",
     16,
     1000000,
     32,
     4,
     32,
     64,
     2048,
     65536,
     1,
     1,
     1,
     {98304, 0, 0, 0},
     307000},
    {"maxwell_ccbp",
     "pppppdppaappp",
     "Lin 2019, Table 4.1",
     16,
     1800000,
     32,
     4,
     32,
     64,
     2048,
     65536,
     1,
     1,
     1,
     {98304, 0, 0, 0},
     319000},
    {"igpu4",
     "papaaaapaaaaa",
     "Menon 2012, 5.1",
     4,
     1300000,
     32,
     1,
     8,
     32,
     1024,
     16384,
     1,
     1,
     1,
     {16384, 0, 0, 0},
     32000},
    {"p100",
     "ppppppppppppp",
     "NVIDIA Tesla P100 white paper; CUDA occupancy tables",
     56,
     1480000,
     32,
     2,
     32,
     64,
     2048,
     65536,
     256,
     256,
     1,
     {65536, 0, 0, 0},
     732000},
    {"v100",
     "ppppppppppppp",
     "NVIDIA Tesla V100 white paper; CUDA occupancy tables",
     80,
     1530000,
     32,
     4,
     32,
     64,
     2048,
     65536,
     256,
     256,
     4,
     {16384, 32768, 65536, 98304},
     900000},
    {"a100",
     "ppppppppppppp",
     "NVIDIA A100 white paper; CUDA occupancy tables",
     108,
     1410000,
     32,
     4,
     32,
     64,
     2048,
     65536,
     256,
     128,
     4,
     {65536, 102400, 135168, 167936},
     1555000},
    {"h100",
     "ppppppppppppp",
     "NVIDIA H100 white paper (SXM5); CUDA occupancy tables",
     132,
     1830000,
     32,
     4,
     32,
     64,
     2048,
     65536,
     256,
     128,
     4,
     {102400, 135168, 200704, 233472},
     3352000},
    {"gfx1012",
     "paaadppddappa",
     "AMD kernel driver, queue save area",
     20,
     1670000,
     32,
     4,
     32,
     32,
     1024,
     65536,
     256,
     512,
     1,
     {65536, 0, 0, 0},
     224000},
    {"gfx1100",
     "paaadppddappa",
     "AMD kernel driver, queue save area",
     96,
     2500000,
     32,
     4,
     32,
     32,
     1024,
     98304,
     256,
     512,
     1,
     {65536, 0, 0, 0},
     960000},
};
enum { GPUMPI_GPU_PRESETS = (int)(sizeof gpumpi_gpu_presets / sizeof gpumpi_gpu_presets[0]) };

static const gpumpi_gpu_preset *gpumpi_gpu_find(const char *preset) {
    if (preset)
        for (int i = 0; i < GPUMPI_GPU_PRESETS; i++)
            if (!strcmp(gpumpi_gpu_presets[i].name, preset)) return &gpumpi_gpu_presets[i];
    return NULL;
}

GPUMP_API const char *gpump_gpu_preset_name(uint32_t index) {
    return index < (uint32_t)GPUMPI_GPU_PRESETS ? gpumpi_gpu_presets[index].name : NULL;
}

GPUMP_API gpump_result gpump_gpu_config_preset(gpump_gpu *gpu, const char *preset) {
    const gpumpi_gpu_preset *found = gpumpi_gpu_find(preset);
    if (!gpu) return GPUMP_ERROR_ARGUMENT;
    if (!found) return GPUMP_ERROR_UNKNOWN_NAME;
    memset(gpu, 0, sizeof *gpu);
    gpu->struct_size = (uint32_t)sizeof *gpu;
    gpu->sms = found->sms;
    gpu->clock_khz = found->clock_khz;
    gpu->lanes = found->lanes;
    gpu->schedulers = found->schedulers;
    gpu->block_slots = found->block_slots;
    gpu->warp_slots = found->warp_slots;
    gpu->thread_slots = found->thread_slots;
    gpu->registers = found->registers;
    gpu->register_granule = found->register_granule;
    gpu->shared_granule_bytes = found->shared_granule_bytes;
    gpu->shared_option_count = found->shared_option_count;
    memcpy(gpu->shared_bytes, found->shared_bytes, sizeof gpu->shared_bytes);
    gpu->memory_mb_per_s = found->memory_mb_per_s;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_gpu_provenance(const char *preset, const char *field, gpump_provenance *provenance,
                                            const char **source) {
    const gpumpi_gpu_preset *found = gpumpi_gpu_find(preset);
    if (!field || !provenance) return GPUMP_ERROR_ARGUMENT;
    for (int i = 0; found && i < GPUMPI_GPU_FIELDS; i++) {
        if (strcmp(gpumpi_gpu_fields[i], field)) continue;
        *provenance = found->origin[i] == 'p'   ? GPUMP_PROVENANCE_PUBLISHED
                      : found->origin[i] == 'd' ? GPUMP_PROVENANCE_DERIVED
                                                : GPUMP_PROVENANCE_ASSUMED;
        if (source) *source = found->origin[i] == 'a' ? "assumed" : found->source;
        return GPUMP_OK;
    }
    return GPUMP_ERROR_UNKNOWN_NAME;
}

GPUMP_API gpump_result gpump_gpu_check(const gpump_gpu *gpu, gpump_diag *diag) {
    if (!gpu) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "gpu", 0, 0, 1, UINT64_MAX);
#define GPUMPI_RANGE(field, minimum, maximum)                                 \
    if (gpu->field < (uint32_t)(minimum) || gpu->field > (uint32_t)(maximum)) \
    return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, #field, 0, gpu->field, (uint32_t)(minimum), (uint32_t)(maximum))
    GPUMPI_RANGE(struct_size, sizeof *gpu, sizeof *gpu);
    GPUMPI_RANGE(sms, 1, 65536);
    GPUMPI_RANGE(clock_khz, 1, UINT32_MAX);
    GPUMPI_RANGE(lanes, 1, 64);
    GPUMPI_RANGE(schedulers, 1, 8);
    GPUMPI_RANGE(block_slots, 1, 64);
    GPUMPI_RANGE(warp_slots, 1, 256);
    GPUMPI_RANGE(thread_slots, 1, UINT32_MAX);
    GPUMPI_RANGE(registers, 1, 1u << 30);
    GPUMPI_RANGE(register_granule, 1, gpu->registers);
    GPUMPI_RANGE(shared_granule_bytes, 1, 1u << 20);
    GPUMPI_RANGE(shared_option_count, 1, GPUMP_GPU_SHARED_OPTIONS);
    for (uint32_t i = 0; i < gpu->shared_option_count; i++)
        if (gpu->shared_bytes[i] > (1u << 30) || (i && gpu->shared_bytes[i] <= gpu->shared_bytes[i - 1]))
            return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "shared_bytes", i, gpu->shared_bytes[i],
                               i ? (uint64_t)gpu->shared_bytes[i - 1] + 1u : 0, 1u << 30);
    GPUMPI_RANGE(memory_mb_per_s, 1, UINT32_MAX);
#undef GPUMPI_RANGE
    return GPUMP_OK;
}

/* Returns `value` rounded up to a multiple of `granule`. 64 bits hold the result for every 32-bit value. */
static uint64_t gpumpi_gpu_round(uint32_t value, uint32_t granule) {
    return ((uint64_t)value + granule - 1u) / granule * granule;
}

GPUMP_API gpump_result gpump_gpu_occupancy(const gpump_gpu *gpu, const gpump_footprint *need,
                                           gpump_occupancy *occupancy, gpump_diag *diag) {
    gpump_result result = gpump_gpu_check(gpu, diag);
    uint64_t bounds[5], registers, shared, warps;
    uint32_t option = 0, blocks;
    static const uint32_t resources[5] = {GPUMP_RESOURCE_BLOCK_SLOTS, GPUMP_RESOURCE_WARP_SLOTS,
                                          GPUMP_RESOURCE_THREAD_SLOTS, GPUMP_RESOURCE_REGISTERS,
                                          GPUMP_RESOURCE_SHARED_MEMORY};
    if (result) return result;
    if (!need || !occupancy)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, need ? "occupancy" : "need", 0, 0, 1, UINT64_MAX);
    if (!need->threads) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "threads", 0, 0, 1, UINT32_MAX);
    warps = ((uint64_t)need->threads + gpu->lanes - 1u) / gpu->lanes;
    registers = gpumpi_gpu_round(need->registers, gpu->register_granule);
    shared = gpumpi_gpu_round(need->shared_bytes, gpu->shared_granule_bytes);
    while (option + 1u < gpu->shared_option_count && gpu->shared_bytes[option] < shared) option++;
    bounds[0] = gpu->block_slots;
    bounds[1] = gpu->warp_slots / warps;
    bounds[2] = gpu->thread_slots / need->threads;
    bounds[3] = registers ? gpu->registers / registers : UINT64_MAX;
    bounds[4] = shared ? gpu->shared_bytes[option] / shared : UINT64_MAX;
    blocks = gpu->block_slots;
    for (int i = 1; i < 5; i++)
        if (bounds[i] < blocks) blocks = (uint32_t)bounds[i];
    memset(occupancy, 0, sizeof *occupancy);
    occupancy->blocks = blocks;
    for (int i = 0; i < 5; i++)
        if (bounds[i] == blocks) occupancy->limits |= resources[i];
    occupancy->shared_bytes = gpu->shared_bytes[option];
    occupancy->registers = registers > UINT32_MAX ? UINT32_MAX : (uint32_t)registers;
    occupancy->block_shared_bytes = shared > UINT32_MAX ? UINT32_MAX : (uint32_t)shared;
    occupancy->warps = (uint32_t)warps;
    return GPUMP_OK;
}

GPUMP_API uint64_t gpump_gpu_context_bytes(const gpump_gpu *gpu, const gpump_footprint *need) {
    return gpumpi_gpu_round(need->registers, gpu->register_granule) * 4u +
           gpumpi_gpu_round(need->shared_bytes, gpu->shared_granule_bytes);
}

GPUMP_API uint64_t gpump_gpu_save_cycles(const gpump_gpu *gpu, uint64_t bytes) {
    return gpump_muldiv_up(bytes, (uint64_t)gpu->sms * gpu->clock_khz, (uint64_t)gpu->memory_mb_per_s * 1000u);
}

GPUMP_API uint64_t gpump_gpu_save_ps(const gpump_gpu *gpu, uint64_t bytes) {
    return gpump_muldiv_up(bytes, (uint64_t)gpu->sms * 1000000u, gpu->memory_mb_per_s);
}

GPUMP_API uint64_t gpump_gpu_cycles_from_ns(const gpump_gpu *gpu, uint64_t ns) {
    return gpump_muldiv_up(ns, gpu->clock_khz, 1000000u);
}

static uint64_t gpumpi_gpu_align(uint64_t bytes, uint64_t to) { return (bytes + to - 1u) / to * to; }

GPUMP_API gpump_result gpump_gpu_cwsr_area(uint32_t gfx_version, uint32_t compute_units, uint32_t xccs,
                                           uint32_t simd_arrays, uint32_t arrays_per_engine, gpump_gpu_cwsr *area,
                                           gpump_diag *diag) {
    enum { PAGE = 4096 };
    uint64_t waves, wave_bytes = gfx_version < 1010 ? 8 : 12, vector = 256 * 1024, scalar = 16 * 1024,
                    local = 64 * 1024, hardware = 4096;
    int newest = gfx_version == 1250 || gfx_version == 1251;
    if (!area) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "area", 0, 0, 1, UINT64_MAX);
    if (gfx_version < 800 || gfx_version > 1251)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "gfx_version", 0, gfx_version, 800, 1251);
    if (!compute_units || compute_units > 65536)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "compute_units", 0, compute_units, 1, 65536);
    if (!xccs || xccs > 64) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "xccs", 0, xccs, 1, 64);
    if (gfx_version < 1010) {
        uint64_t by_arrays;
        if (!arrays_per_engine || simd_arrays < arrays_per_engine)
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "arrays_per_engine", 0, arrays_per_engine, 1, simd_arrays);
        by_arrays = (uint64_t)(simd_arrays / arrays_per_engine) * 512u;
        waves = 40u * (uint64_t)compute_units;
        if (by_arrays < waves) waves = by_arrays;
    } else {
        waves = (newest ? 64u : 32u) * (uint64_t)compute_units;
    }
    switch (gfx_version) {
    case 908:
    case 910:
    case 942:
    case 950:
    case 1250:
    case 1251: vector = 512 * 1024; break;
    case 1100:
    case 1101:
    case 1151:
    case 1200:
    case 1201: vector = 384 * 1024; break;
    default: break;
    }
    if (gfx_version == 950) local = 160 * 1024;
    if (newest) {
        local = 320 * 1024;
        scalar = 32 * 1024;
        hardware = 32 * 1024;
    }
    area->workgroup_bytes = gpumpi_gpu_align(compute_units * (vector + scalar + local + hardware), PAGE);
    area->control_stack_bytes = gpumpi_gpu_align(40 + waves * wave_bytes + 8, PAGE);
    if (gfx_version >= 1000 && gfx_version < 1100 && area->control_stack_bytes > 0x7000)
        area->control_stack_bytes = 0x7000;
    area->debugger_bytes = gpumpi_gpu_align(32 * waves, 64);
    area->save_area_bytes = gpumpi_gpu_align(area->control_stack_bytes + area->workgroup_bytes, PAGE);
    area->total_bytes = gpumpi_gpu_align(xccs * (area->save_area_bytes + area->debugger_bytes), PAGE);
    return GPUMP_OK;
}

/* ---- gpump_impl/gpu/block.c ---- */


/* Hosts may compare and hash views and choices byte by byte: nothing hides in padding. */
typedef char gpumpi_block_view_has_no_padding[sizeof(gpump_block_view) == 5 * 8 + 14 * 4 ? 1 : -1];
typedef char gpumpi_block_choice_has_no_padding[sizeof(gpump_block_choice) == 8 * 4 + 3 * 8 ? 1 : -1];

GPUMP_API const char *gpump_technique_name(uint32_t technique) {
    static const char *const names[GPUMP_TECHNIQUES] = {"flush", "switch", "drain", "rewind"};
    return technique < GPUMP_TECHNIQUES ? names[technique] : NULL;
}

/* ---- gpump_impl/gpu/metrics.c ---- */


GPUMP_API double gpump_metrics_ntt(const gpump_metrics_run *run) {
    return run->alone ? (double)run->shared / (double)run->alone : 0.0;
}

/* Adds one program to the sums. gpumpi_metrics_finish turns the sums into metrics. */
static void gpumpi_metrics_add(gpump_metrics *sums, double ntt, int first) {
    sums->antt += ntt;
    sums->stp += 1.0 / ntt;
    if (first || ntt < sums->best_ntt) sums->best_ntt = ntt;
    if (first || ntt > sums->worst_ntt) sums->worst_ntt = ntt;
}

static void gpumpi_metrics_finish(gpump_metrics *sums, uint32_t count) {
    sums->antt /= (double)count;
    sums->harmonic_speedup = 1.0 / sums->antt;
    sums->weighted_speedup = sums->stp;
    sums->fairness = sums->best_ntt / sums->worst_ntt;
}

static gpump_metrics gpumpi_metrics_zero(void) {
    gpump_metrics zero;
    zero.antt = zero.stp = zero.fairness = zero.harmonic_speedup = zero.weighted_speedup = zero.best_ntt =
        zero.worst_ntt = 0.0;
    return zero;
}

GPUMP_API gpump_result gpump_metrics_compute(const gpump_metrics_run *runs, uint32_t count, gpump_metrics *metrics,
                                             gpump_diag *diag) {
    gpump_metrics sums = gpumpi_metrics_zero();
    if (!runs || !metrics || count == 0)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "count", 0, count, 1, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (runs[i].alone == 0) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "alone", i, 0, 1, UINT64_MAX);
        if (runs[i].shared == 0) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "shared", i, 0, 1, UINT64_MAX);
        gpumpi_metrics_add(&sums, gpump_metrics_ntt(&runs[i]), i == 0);
    }
    gpumpi_metrics_finish(&sums, count);
    *metrics = sums;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_metrics_compute_rates(const gpump_metrics_rate *rates, uint32_t count,
                                                   gpump_metrics *metrics, gpump_diag *diag) {
    gpump_metrics sums = gpumpi_metrics_zero();
    if (!rates || !metrics || count == 0)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "count", 0, count, 1, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (!(rates[i].alone > 0.0)) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "alone", i, 0, 1, UINT64_MAX);
        if (!(rates[i].shared > 0.0)) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "shared", i, 0, 1, UINT64_MAX);
        gpumpi_metrics_add(&sums, rates[i].alone / rates[i].shared, i == 0);
    }
    gpumpi_metrics_finish(&sums, count);
    *metrics = sums;
    return GPUMP_OK;
}

GPUMP_API double gpump_metrics_violation_rate(const uint64_t *latencies, uint32_t count, uint64_t limit) {
    uint32_t violations = 0;
    for (uint32_t i = 0; i < count; i++) violations += latencies[i] > limit || latencies[i] == GPUMP_UNKNOWN;
    return count ? (double)violations / (double)count : 0.0;
}

/* ---- gpump_impl/memory/meter.c ---- */


#include <string.h>

#define GPUMPI_METER_MAGIC UINT64_C(0x67706d706d747200) /* "gpmpmtr" */
typedef char gpumpi_traffic_has_no_padding
    [sizeof(gpump_traffic) == (26 + GPUMP_METER_HOPS * (1 + GPUMP_METER_BUCKETS)) * 8 ? 1 : -1];

GPUMP_API gpump_result gpump_meter_config_preset(gpump_meter_config *config, const char *preset) {
    gpump_gpu gpu;
    gpump_result result = config ? gpump_gpu_config_preset(&gpu, preset) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    memset(config, 0, sizeof *config);
    config->struct_size = (uint32_t)sizeof *config;
    config->kernels = 8;
    config->sms = gpu.sms;
    config->schedulers = gpu.schedulers;
    config->clock_khz = gpu.clock_khz;
    config->network_khz = strncmp(preset, "maxwell_", 8) == 0 ? 1200000 : gpu.clock_khz;
    config->network_ports = gpu.sms;
    config->sustainable_permille = 600;
    config->l1_hit_cycles = 1;
    config->l2_banks = gpu.sms;
    config->l2_hit_cycles = 4;
    config->memory_mb_per_s = gpu.memory_mb_per_s;
    return GPUMP_OK;
}

static gpump_result gpumpi_meter_check(const gpump_meter_config *config, gpump_diag *diag) {
    gpump_result result;
    if (!config) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "config", 0, 0, 1, UINT64_MAX);
#define GPUMPI_RANGE(field, minimum, maximum) \
    if ((result = gpumpi_range(diag, #field, config->field, (minimum), (maximum))) != GPUMP_OK) return result
    GPUMPI_RANGE(struct_size, (uint32_t)sizeof *config, (uint32_t)sizeof *config);
    GPUMPI_RANGE(kernels, 1u, 65535u);
    GPUMPI_RANGE(sms, 1u, 65536u);
    GPUMPI_RANGE(schedulers, 1u, 8u);
    GPUMPI_RANGE(clock_khz, 1u, UINT32_MAX);
    GPUMPI_RANGE(network_khz, 1u, UINT32_MAX);
    GPUMPI_RANGE(network_ports, 1u, 65536u);
    GPUMPI_RANGE(sustainable_permille, 1u, 1000u);
    GPUMPI_RANGE(l1_hit_cycles, 1u, 65536u);
    GPUMPI_RANGE(l2_banks, 1u, 65536u);
    GPUMPI_RANGE(l2_hit_cycles, 1u, 65536u);
    GPUMPI_RANGE(memory_mb_per_s, 1u, UINT32_MAX);
#undef GPUMPI_RANGE
    return GPUMP_OK;
}

/* Bytes that follow the head, per kernel. */
#define GPUMPI_METER_KERNEL (2 * sizeof(gpump_traffic) + GPUMP_METER_HOPS * sizeof(gpumpi_meter_flight))

GPUMP_API gpump_result gpump_meter_bytes(const gpump_meter_config *config, size_t *bytes, gpump_diag *diag) {
    gpump_result result = gpumpi_meter_check(config, diag);
    if (result) return result;
    if (!bytes) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bytes", 0, 0, 1, UINT64_MAX);
    *bytes = sizeof(gpump_meter) + (config->kernels + 1u) * GPUMPI_METER_KERNEL;
    return GPUMP_OK;
}

static uint64_t gpumpi_meter_layout(const gpump_meter_config *config) {
    return gpump_hash_u32s(gpump_hash_u64(GPUMP_HASH_SEED, sizeof(gpump_traffic)), &config->struct_size,
                           sizeof *config / 4);
}

GPUMP_API gpump_result gpump_meter_init(void *memory, size_t bytes, const gpump_meter_config *config,
                                        gpump_meter **meter, gpump_diag *diag) {
    size_t needed;
    gpump_meter *fresh = (gpump_meter *)memory;
    gpump_result result = gpump_meter_bytes(config, &needed, diag);
    if (result) return result;
    if (!meter) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "meter", 0, 0, 1, UINT64_MAX);
    result = gpumpi_head_check_memory(memory, bytes, needed, diag);
    if (result) return result;
    memset(memory, 0, needed);
    fresh->head.magic = GPUMPI_METER_MAGIC;
    fresh->head.layout = gpumpi_meter_layout(config);
    fresh->head.bytes = needed;
    fresh->config = *config;
    *meter = fresh;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_meter_adopt(void *memory, size_t bytes, const gpump_meter_config *config,
                                         gpump_meter **meter, gpump_diag *diag) {
    size_t needed;
    gpump_result result = gpump_meter_bytes(config, &needed, diag);
    if (result) return result;
    if (!meter) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "meter", 0, 0, 1, UINT64_MAX);
    result = gpumpi_head_adopt(memory, bytes, GPUMPI_METER_MAGIC, gpumpi_meter_layout(config), needed, diag);
    if (result) return result;
    if (memcmp(&((const gpump_meter *)memory)->config, config, sizeof *config))
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "config", 0, 0, 0, 0);
    *meter = (gpump_meter *)memory;
    return GPUMP_OK;
}

GPUMP_API uint64_t gpump_meter_hash(const gpump_meter *meter) {
    uint64_t hash = gpump_hash_u64s(GPUMP_HASH_SEED, &meter->now, 2);
    hash = gpump_hash_u32s(hash, &meter->config.struct_size, sizeof meter->config / 4);
    return gpump_hash_u64s(hash, (const uint64_t *)(const void *)(meter + 1),
                           (meter->config.kernels + 1u) * GPUMPI_METER_KERNEL / 8);
}

GPUMP_API gpump_result gpump_meter_bits(const gpump_meter_config *config, uint64_t *bits, gpump_diag *diag) {
    gpump_result result = gpumpi_meter_check(config, diag);
    if (result) return result;
    if (!bits) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bits", 0, 0, 1, UINT64_MAX);
    *bits = (config->kernels + 1u) * (uint64_t)GPUMPI_METER_KERNEL * 8;
    return GPUMP_OK;
}

/* ---- answers ---- */

static const gpump_traffic *gpumpi_meter_traffic_const(const gpump_meter *meter, uint32_t kernel) {
    return (const gpump_traffic *)(const void *)(meter + 1) + kernel;
}

GPUMP_API uint64_t gpump_meter_in_flight(const gpump_meter *meter, uint32_t kernel, uint32_t hop) {
    const gpumpi_meter_flight *flights =
        (const gpumpi_meter_flight *)(const void *)gpumpi_meter_traffic_const(meter, 2 * (meter->config.kernels + 1));
    return flights[(size_t)kernel * GPUMP_METER_HOPS + hop].count;
}

GPUMP_API gpump_result gpump_meter_total(gpump_meter *meter, uint64_t now, uint32_t kernel, gpump_traffic *traffic) {
    if (!meter || !traffic || kernel > meter->config.kernels) return GPUMP_ERROR_ARGUMENT;
    if (now < meter->now) return GPUMP_ERROR_TIME;
    meter->now = now;
    *traffic = *gpumpi_meter_traffic(meter, kernel);
    traffic->cycles = now;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_meter_window(gpump_meter *meter, uint64_t now, gpump_traffic *traffic, uint32_t capacity) {
    uint32_t kernels, i;
    if (!meter || !traffic) return GPUMP_ERROR_ARGUMENT;
    if (now < meter->now) return GPUMP_ERROR_TIME;
    kernels = meter->config.kernels + 1u;
    if (capacity < kernels) return GPUMP_ERROR_CAPACITY;
    for (i = 0; i < kernels; i++) {
        gpump_traffic *total = gpumpi_meter_traffic(meter, i), *start = gpumpi_meter_traffic(meter, kernels + i);
        total->cycles = now;
        gpump_traffic_diff(start, total, &traffic[i]);
        *start = *total;
    }
    meter->now = meter->window_start = now;
    return GPUMP_OK;
}

GPUMP_API void gpump_traffic_add(gpump_traffic *sum, const gpump_traffic *more) {
    uint64_t *to = &sum->cycles, cycles = sum->cycles > more->cycles ? sum->cycles : more->cycles;
    const uint64_t *from = &more->cycles;
    size_t i;
    for (i = 0; i < sizeof *sum / sizeof *to; i++) to[i] += from[i];
    sum->cycles = cycles;
}

GPUMP_API void gpump_traffic_diff(const gpump_traffic *earlier, const gpump_traffic *later, gpump_traffic *difference) {
    const uint64_t *from = &earlier->cycles, *to = &later->cycles;
    uint64_t *result = &difference->cycles;
    size_t i;
    for (i = 0; i < sizeof *earlier / sizeof *from; i++) result[i] = to[i] - from[i];
}

GPUMP_API gpump_result gpump_traffic_field(const gpump_traffic *traffic, uint32_t index, const char **name,
                                           const char **unit, const char **description, uint64_t *value) {
    static const char *const words[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
        GPUMP_TRAFFIC(GPUMPI_FIELD)
#undef GPUMPI_FIELD
    };
    if (!traffic) return GPUMP_ERROR_ARGUMENT;
    if (index >= sizeof words / sizeof words[0]) return GPUMP_EMPTY;
    if (name) *name = words[index][0];
    if (unit) *unit = words[index][1];
    if (description) *description = words[index][2];
    if (value) *value = (&traffic->cycles)[index];
    return GPUMP_OK;
}

/* part / (cycles x units), Q16.16, with units in millionths of a unit. */
static uint32_t gpumpi_meter_share(uint64_t part, uint64_t cycles, uint64_t micro_units) {
    uint64_t share = gpump_muldiv_down(gpump_muldiv_down(part, UINT64_C(65536) * 1000, cycles), 1000, micro_units);
    return share > UINT32_MAX ? UINT32_MAX : (uint32_t)share;
}

GPUMP_API gpump_result gpump_meter_utilisation(const gpump_meter_config *config, const gpump_traffic *traffic,
                                               gpump_utilisation *utilisation, gpump_diag *diag) {
    gpump_result result = gpumpi_meter_check(config, diag);
    uint64_t clock, l1_hits, l2_hits;
    if (result) return result;
    if (!traffic || !utilisation)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, traffic ? "utilisation" : "traffic", 0, 0, 1, UINT64_MAX);
    memset(utilisation, 0, sizeof *utilisation);
    if (!traffic->cycles) return GPUMP_EMPTY;
    clock = gpump_muldiv_down(config->network_khz, 1000000, config->clock_khz); /* network cycles per 10^6 SM cycles */
    l1_hits = traffic->l1_load_hits + traffic->l1_store_hits;
    l2_hits = traffic->l2_load_hits + traffic->l2_store_hits + traffic->l2_atomic_hits;
    utilisation->scheduler_q16 =
        gpumpi_meter_share(traffic->issued, traffic->cycles, UINT64_C(1000000) * config->sms * config->schedulers);
    utilisation->l1_q16 =
        gpumpi_meter_share(l1_hits * config->l1_hit_cycles, traffic->cycles, UINT64_C(1000000) * config->sms);
    utilisation->up_q16 = gpumpi_meter_share(traffic->flits_up, traffic->cycles,
                                             clock * config->network_ports * config->sustainable_permille / 1000);
    utilisation->down_q16 = gpumpi_meter_share(traffic->flits_down, traffic->cycles,
                                               clock * config->network_ports * config->sustainable_permille / 1000);
    utilisation->l2_q16 =
        gpumpi_meter_share(l2_hits * config->l2_hit_cycles, traffic->cycles, clock * config->l2_banks);
    utilisation->dram_q16 =
        gpumpi_meter_share(traffic->dram_read_bytes + traffic->dram_written_bytes, traffic->cycles,
                           gpump_muldiv_down(config->memory_mb_per_s, UINT64_C(1000000000), config->clock_khz));
    return GPUMP_OK;
}

/* ---- gpump_impl/program/program.c ---- */
/* program: building, checking, basic blocks, loops, aliasing */


#ifndef GPUMP_NO_PROGRAM
#include <stdio.h>

/* An instruction as stored: operands lie in the program's pool. */
typedef struct gpumpi_program_row {
    gpump_instruction instruction;
    size_t first_def, first_use;
} gpumpi_program_row;

struct gpump_program {
    gpumpi_arena arena; /* what _finish makes */
    gpumpi_program_row *rows;
    uint32_t *operands;
    uint8_t *widths;
    gpump_memory_object *objects;
    uint32_t *origin; /* of a transformed program */
    int finished;
    uint32_t basic_blocks, loops;
    uint32_t *first;    /* basic block -> instruction; one more at the end */
    uint32_t *block_of; /* instruction -> basic block */
    gpumpi_graph graph;
    uint32_t *idom, *ipdom, *enter, *leave, *loop_of;
    gpump_loop *loop;
};

GPUMP_API gpump_instruction gpump_instruction_make(uint32_t operation) {
    gpump_instruction instruction;
    memset(&instruction, 0, sizeof instruction);
    instruction.operation = operation;
    instruction.guard = instruction.target = instruction.object = GPUMP_NONE;
    return instruction;
}

GPUMP_API gpump_result gpump_program_create(const gpump_allocator *allocator, gpump_program **out) {
    gpumpi_arena arena = gpumpi_arena_make(allocator);
    gpump_program *program;
    if (!out || (allocator && !allocator->reallocate)) return GPUMP_ERROR_ARGUMENT;
    program = (gpump_program *)arena.allocator.reallocate(arena.allocator.user, NULL, 0, sizeof *program);
    if (!program) return GPUMP_ERROR_MEMORY;
    memset(program, 0, sizeof *program);
    program->arena = arena;
    *out = program;
    return GPUMP_OK;
}

GPUMP_API void gpump_program_destroy(gpump_program *program) {
    gpump_allocator allocator;
    if (!program) return;
    allocator = program->arena.allocator;
    gpumpi_arena_free(&program->arena);
    GPUMPI_ARRAY_FREE(&allocator, program->rows);
    GPUMPI_ARRAY_FREE(&allocator, program->operands);
    GPUMPI_ARRAY_FREE(&allocator, program->widths);
    GPUMPI_ARRAY_FREE(&allocator, program->objects);
    GPUMPI_ARRAY_FREE(&allocator, program->origin);
    allocator.reallocate(allocator.user, program, sizeof *program, 0);
}

GPUMP_API const gpump_allocator *gpumpi_program_allocator(const gpump_program *program) {
    return &program->arena.allocator;
}

GPUMP_API gpump_result gpump_program_add_register(gpump_program *program, uint32_t width, uint32_t *reg,
                                                  gpump_diag *diag) {
    uint32_t count = gpump_program_registers(program);
    if (!program || !reg) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "reg", 0, 0, 1, 1);
    if (program->finished) return gpumpi_fail(diag, GPUMP_ERROR_STATE, "program", 0, 1, 0, 0);
    if (width > GPUMP_WIDTH_64)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "width", count, width, 0, GPUMP_WIDTH_64);
    if (count > GPUMP_OPERAND_INDEX - 1u)
        return gpumpi_fail(diag, GPUMP_ERROR_FULL, "registers", count, count, 0, GPUMP_OPERAND_INDEX - 1u);
    if (!GPUMPI_ARRAY_PUSH(&program->arena.allocator, program->widths, (uint8_t)width))
        return gpumpi_fail(diag, GPUMP_ERROR_MEMORY, "widths", count, 0, 0, 0);
    *reg = count;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_program_add_object(gpump_program *program, const gpump_memory_object *what,
                                                uint32_t *object, gpump_diag *diag) {
    uint32_t count = gpump_program_objects(program);
    if (!program || !what || !object) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "object", 0, 0, 1, 1);
    if (program->finished) return gpumpi_fail(diag, GPUMP_ERROR_STATE, "program", 0, 1, 0, 0);
    if (what->space >= GPUMP_SPACE_GENERIC)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "space", count, what->space, 0, GPUMP_SPACE_TEXTURE);
    if (!GPUMPI_ARRAY_PUSH(&program->arena.allocator, program->objects, *what))
        return gpumpi_fail(diag, GPUMP_ERROR_MEMORY, "objects", count, 0, 0, 0);
    *object = count;
    return GPUMP_OK;
}

/* ---- checking one instruction ---- */

/* Returns the gpump_width of an operand, 3 for a parameter, which fits any width, or GPUMP_NONE for an invalid one. */
static uint32_t gpumpi_program_operand_width(const gpump_program *program, uint32_t operand) {
    uint32_t index = operand & GPUMP_OPERAND_INDEX, count = (uint32_t)stbds_arrlenu(program->widths);
    if (operand & GPUMP_OPERAND_PARAMETER) return operand & GPUMP_OPERAND_PAIR ? 2u : 3u;
    if (index >= count) return GPUMP_NONE;
    if (!(operand & GPUMP_OPERAND_PAIR)) return program->widths[index];
    if (index % 2 || index + 1 >= count || program->widths[index] != GPUMP_WIDTH_32 ||
        program->widths[index + 1] != GPUMP_WIDTH_32)
        return GPUMP_NONE;
    return GPUMP_WIDTH_64;
}

typedef struct gpumpi_program_form {
    uint8_t min_defs, max_defs, min_uses, max_uses, memory, target;
} gpumpi_program_form;
/* The form of each operation. memory: 1 may access memory, 2 must name the access that it checks. target: 1 needs one.
 */
static const gpumpi_program_form gpumpi_program_forms[GPUMP_OP_COUNT] = {
    {0, 16, 0, 64, 1, 0}, {1, 1, 1, 1, 0, 0}, {1, 1, 0, 0, 0, 0}, {1, 1, 0, 0, 0, 0}, {1, 1, 1, 1, 0, 0},
    {0, 0, 0, 0, 0, 1},   {0, 0, 0, 0, 0, 0}, {0, 0, 0, 2, 0, 0}, {0, 0, 1, 1, 0, 0}, {1, 1, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0},   {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 2, 0, 0}, {0, 0, 0, 0, 0, 0},
    {1, 1, 0, 0, 0, 0},   {1, 1, 2, 2, 2, 0}, {1, 1, 1, 1, 0, 0}, {0, 0, 0, 0, 0, 1}};

static gpump_result gpumpi_program_check(const gpump_program *program, const gpump_instruction *in, uint32_t index,
                                         gpump_diag *diag) {
    const gpumpi_program_form *form;
    uint32_t i, width;
#define GPUMPI_CHECK(condition, field, value, minimum, maximum)                                                  \
    do {                                                                                                         \
        if (!(condition)) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, field, index, value, minimum, maximum); \
    } while (0)
    GPUMPI_CHECK(in->operation < GPUMP_OP_COUNT, "operation", in->operation, 0, GPUMP_OP_COUNT - 1);
    form = &gpumpi_program_forms[in->operation];
    GPUMPI_CHECK(in->def_count >= form->min_defs && in->def_count <= form->max_defs, "def_count", in->def_count,
                 form->min_defs, form->max_defs);
    GPUMPI_CHECK(in->use_count >= form->min_uses && in->use_count <= form->max_uses, "use_count", in->use_count,
                 form->min_uses, form->max_uses);
    GPUMPI_CHECK((in->defs || !in->def_count) && (in->uses || !in->use_count), "operands", 0, 1, 1);
    for (i = 0; i < in->def_count; i++)
        GPUMPI_CHECK(!(in->defs[i] & GPUMP_OPERAND_PARAMETER) &&
                         gpumpi_program_operand_width(program, in->defs[i]) != GPUMP_NONE,
                     "defs", in->defs[i], 0, stbds_arrlenu(program->widths));
    for (i = 0; i < in->use_count; i++)
        GPUMPI_CHECK(gpumpi_program_operand_width(program, in->uses[i]) != GPUMP_NONE, "uses", in->uses[i], 0,
                     stbds_arrlenu(program->widths));
    GPUMPI_CHECK(!(in->flags & ~255u), "flags", in->flags, 0, 255);
    if (in->guard != GPUMP_NONE)
        GPUMPI_CHECK(in->guard < stbds_arrlenu(program->widths) && program->widths[in->guard] == GPUMP_WIDTH_PREDICATE,
                     "guard", in->guard, 0, stbds_arrlenu(program->widths));
    else
        GPUMPI_CHECK(!(in->flags & GPUMP_FLAG_GUARD_NEGATED), "guard", GPUMP_NONE, 0, 0);
    GPUMPI_CHECK((in->target != GPUMP_NONE) == (form->target != 0), "target", in->target, 0, 0);
    GPUMPI_CHECK(form->memory ? in->access <= 3 : !in->access, "access", in->access, 0, form->memory ? 3 : 0);
    GPUMPI_CHECK(form->memory != 2 || in->access, "access", in->access, 1, 3);
    GPUMPI_CHECK(!(in->flags & (GPUMP_FLAG_ATOMIC | GPUMP_FLAG_VOLATILE | GPUMP_FLAG_CHECKED | GPUMP_FLAG_RESIDENT)) ||
                     in->access,
                 "access", in->access, 1, 3);
    if (in->access) {
        GPUMPI_CHECK(in->space < GPUMP_SPACES, "space", in->space, 0, GPUMP_SPACES - 1);
        GPUMPI_CHECK(!(in->access & GPUMP_ACCESS_WRITE) ||
                         (in->space != GPUMP_SPACE_CONSTANT && in->space != GPUMP_SPACE_TEXTURE),
                     "space", in->space, 0, GPUMP_SPACE_LOCAL);
        GPUMPI_CHECK(in->address <= GPUMP_ADDRESS_VALUE, "address", in->address, 0, GPUMP_ADDRESS_VALUE);
        GPUMPI_CHECK(in->bytes >= 1, "bytes", 0, 1, UINT32_MAX);
        if (in->object != GPUMP_NONE) {
            GPUMPI_CHECK(in->object < stbds_arrlenu(program->objects), "object", in->object, 0,
                         stbds_arrlenu(program->objects));
            GPUMPI_CHECK(in->space == GPUMP_SPACE_GENERIC || program->objects[in->object].space == in->space, "space",
                         in->space, program->objects[in->object].space, program->objects[in->object].space);
        } else
            GPUMPI_CHECK(in->address == GPUMP_ADDRESS_ANYWHERE, "object", GPUMP_NONE, 0,
                         stbds_arrlenu(program->objects));
    }
    switch (in->operation) {
    case GPUMP_OP_MOVE:
        width = gpumpi_program_operand_width(program, in->uses[0]);
        GPUMPI_CHECK(width == 3 || width == gpumpi_program_operand_width(program, in->defs[0]), "uses", width,
                     gpumpi_program_operand_width(program, in->defs[0]),
                     gpumpi_program_operand_width(program, in->defs[0]));
        break;
    case GPUMP_OP_CHECK:
        GPUMPI_CHECK(in->uses[1] == in->defs[0], "uses", in->uses[1], in->defs[0], in->defs[0]); /* fall through */
    case GPUMP_OP_CLEAR_CHECK:
    case GPUMP_OP_PAGE_ENTERED:
        width = gpumpi_program_operand_width(program, in->defs[0]);
        GPUMPI_CHECK(width == GPUMP_WIDTH_PREDICATE, "defs", width, 0, 0);
        GPUMPI_CHECK(in->operation != GPUMP_OP_PAGE_ENTERED ||
                         (in->immediate > 0 && (in->immediate & (in->immediate - 1)) == 0),
                     "immediate", (uint64_t)in->immediate, 1, UINT32_MAX);
        break;
    case GPUMP_OP_GUARDED_CALL:
        GPUMPI_CHECK(in->guard != GPUMP_NONE, "guard", GPUMP_NONE, 0, stbds_arrlenu(program->widths));
        break;
    default: break;
    }
    if (in->flags & GPUMP_FLAG_CHECKED) {
        GPUMPI_CHECK(in->def_count && in->use_count && in->defs[in->def_count - 1] == in->uses[in->use_count - 1],
                     "defs", in->def_count, 1, 16);
        width = gpumpi_program_operand_width(program, in->defs[in->def_count - 1]);
        GPUMPI_CHECK(width == GPUMP_WIDTH_PREDICATE, "defs", width, 0, 0);
    }
#undef GPUMPI_CHECK
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_program_add(gpump_program *program, const gpump_instruction *in, uint32_t *index,
                                         gpump_diag *diag) {
    gpumpi_program_row row;
    uint32_t number = gpump_program_instructions(program), i;
    gpump_result result;
    if (!program || !in) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "instruction", 0, 0, 1, 1);
    if (program->finished) return gpumpi_fail(diag, GPUMP_ERROR_STATE, "program", 0, 1, 0, 0);
    if (number >= GPUMP_OPERAND_INDEX)
        return gpumpi_fail(diag, GPUMP_ERROR_FULL, "instructions", number, number, 0, GPUMP_OPERAND_INDEX - 1u);
    result = gpumpi_program_check(program, in, number, diag);
    if (result != GPUMP_OK) return result;
    row.instruction = *in;
    row.instruction.defs = row.instruction.uses = NULL; /* set when read */
    row.first_def = stbds_arrlenu(program->operands);
    row.first_use = row.first_def + in->def_count;
    if (!GPUMPI_ARRAY_RESERVE(&program->arena.allocator, program->operands, in->def_count + in->use_count) ||
        !GPUMPI_ARRAY_PUSH(&program->arena.allocator, program->rows, row))
        return gpumpi_fail(diag, GPUMP_ERROR_MEMORY, "instructions", number, 0, 0, 0);
    for (i = 0; i < in->def_count; i++) stbds_arrput(program->operands, in->defs[i]);
    for (i = 0; i < in->use_count; i++) stbds_arrput(program->operands, in->uses[i]);
    if (index) *index = number;
    return GPUMP_OK;
}

/* ---- finishing ---- */

static int gpumpi_program_ends_block(uint32_t operation) {
    return operation == GPUMP_OP_BRANCH || operation == GPUMP_OP_EXIT || operation == GPUMP_OP_GUARDED_CALL;
}
/* 1 when control can reach instruction i + 1 from i. */
static int gpumpi_program_falls_through(const gpump_instruction *in) {
    return (in->operation != GPUMP_OP_BRANCH && in->operation != GPUMP_OP_EXIT) || in->guard != GPUMP_NONE;
}

/* 1 when `target` is a START_MARKER, or what other transforms have put right before one (a boundary, a point, spill
 * code). */
static int gpumpi_program_leads_to_marker(const gpump_program *program, uint32_t target) {
    for (; target < gpump_program_instructions(program); target++)
        switch (program->rows[target].instruction.operation) {
        case GPUMP_OP_START_MARKER: return 1;
        case GPUMP_OP_BOUNDARY:
        case GPUMP_OP_PP:
        case GPUMP_OP_PP_DIVERGED:
        case GPUMP_OP_SPILL_LOAD:
        case GPUMP_OP_SPILL_STORE:
        case GPUMP_OP_MOVE:
        case GPUMP_OP_CONSTANT:
        case GPUMP_OP_PARAMETER: break;
        default: return 0;
        }
    return 0;
}

static gpump_result gpumpi_program_check_flow(const gpump_program *program, gpump_diag *diag) {
    uint32_t count = gpump_program_instructions(program), i;
    if (!count) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "instructions", 0, 0, 1, GPUMP_OPERAND_INDEX);
    for (i = 0; i < count; i++) {
        const gpump_instruction *in = &program->rows[i].instruction;
        if (in->target != GPUMP_NONE && in->target >= count)
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "target", i, in->target, 0, count - 1);
        if (in->operation == GPUMP_OP_GUARDED_CALL && !gpumpi_program_leads_to_marker(program, in->target))
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "target", i, in->target, 0, count - 1);
    }
    if (gpumpi_program_falls_through(&program->rows[count - 1].instruction))
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "operation", count - 1,
                           program->rows[count - 1].instruction.operation, GPUMP_OP_BRANCH, GPUMP_OP_EXIT);
    return GPUMP_OK;
}

/* Basic blocks and their graph; the loop numbers and trees come after. 0 out of memory. */
static int gpumpi_program_build_blocks(gpump_program *program) {
    uint32_t count = gpump_program_instructions(program), i, b, edges = 0;
    uint8_t *leader;
    uint32_t *from, *to;
    gpumpi_arena scratch = gpumpi_arena_make(&program->arena.allocator);
    int ok = 0;
    if (!GPUMPI_ARENA_NEW(&scratch, leader, (size_t)count + 1) ||
        !GPUMPI_ARENA_NEW(&program->arena, program->block_of, count))
        goto end;
    leader[0] = 1;
    for (i = 0; i < count; i++) {
        const gpump_instruction *in = &program->rows[i].instruction;
        if (in->target != GPUMP_NONE) leader[in->target] = 1;
        if (gpumpi_program_ends_block(in->operation)) leader[i + 1] = 1;
    }
    leader[count] = 0;
    for (i = b = 0; i < count; i++) b += leader[i];
    program->basic_blocks = b;
    if (!GPUMPI_ARENA_NEW(&program->arena, program->first, (size_t)b + 1) ||
        !GPUMPI_ARENA_NEW(&scratch, from, (size_t)b * 2) || !GPUMPI_ARENA_NEW(&scratch, to, (size_t)b * 2))
        goto end;
    for (i = b = 0; i < count; i++) {
        if (leader[i]) program->first[b++] = i;
        program->block_of[i] = b - 1;
    }
    program->first[b] = count;
    for (b = 0; b < program->basic_blocks; b++) {
        const gpump_instruction *last = &program->rows[program->first[b + 1] - 1].instruction;
        uint32_t target = last->target == GPUMP_NONE ? GPUMP_NONE : program->block_of[last->target];
        if (gpumpi_program_falls_through(last)) {
            from[edges] = b;
            to[edges++] = b + 1;
            if (target == b + 1) target = GPUMP_NONE;
        }
        if (target != GPUMP_NONE) {
            from[edges] = b;
            to[edges++] = target;
        }
    }
    ok = gpumpi_graph_build(&program->arena, &program->graph, program->basic_blocks, from, to, edges);
end:
    gpumpi_arena_free(&scratch);
    return ok;
}

/* Post-dominators: dominators of the reversed graph from a node behind all ends. Parts that can never end get an edge
 * to it from their last block in depth-first order, so that every block has a post-dominator. */
static int gpumpi_program_build_post_dominators(gpump_program *program) {
    uint32_t blocks = program->basic_blocks, end = blocks, b, i, edges = 0, reached, top = 0;
    uint32_t *from, *to, *preorder, *number, *parent, *stack, *idom;
    uint8_t *ends, *can_end;
    gpumpi_graph reversed;
    gpumpi_arena scratch = gpumpi_arena_make(&program->arena.allocator);
    int ok = 0;
    if (!GPUMPI_ARENA_NEW(&scratch, from, (size_t)blocks * 3) || !GPUMPI_ARENA_NEW(&scratch, to, (size_t)blocks * 3) ||
        !GPUMPI_ARENA_NEW(&scratch, preorder, blocks) || !GPUMPI_ARENA_NEW(&scratch, number, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, parent, blocks) || !GPUMPI_ARENA_NEW(&scratch, stack, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, ends, blocks) || !GPUMPI_ARENA_NEW(&scratch, can_end, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, idom, (size_t)blocks + 1))
        goto end;
    reached = gpumpi_graph_search(&program->arena, &program->graph, 0, preorder, NULL, number, parent);
    if (reached == GPUMP_NONE) goto end;
    for (b = 0; b < blocks; b++) ends[b] = program->graph.succ_start[b + 1] == program->graph.succ_start[b];
    /* First every block that ends the thread; then, latest in preorder first, every block from which no end can be
     * reached yet; then the unreachable blocks. */
    for (i = 0; i < blocks + reached + blocks; i++) {
        b = i < blocks ? i : i < blocks + reached ? preorder[blocks + reached - 1 - i] : i - blocks - reached;
        if (i < blocks ? !ends[b] : can_end[b]) continue;
        ends[b] = 1;
        if (!can_end[b]) can_end[stack[top++] = b] = 1;
        while (top) {
            uint32_t at = stack[--top], e;
            for (e = program->graph.pred_start[at]; e < program->graph.pred_start[at + 1]; e++)
                if (!can_end[program->graph.pred[e]]) can_end[stack[top++] = program->graph.pred[e]] = 1;
        }
    }
    for (b = 0; b < blocks; b++) {
        uint32_t e;
        if (ends[b]) {
            from[edges] = end;
            to[edges++] = b;
        }
        for (e = program->graph.succ_start[b]; e < program->graph.succ_start[b + 1]; e++) {
            from[edges] = program->graph.succ[e];
            to[edges++] = b;
        }
    }
    if (!gpumpi_graph_build(&scratch, &reversed, blocks + 1, from, to, edges) ||
        !gpumpi_graph_dominators(&scratch, &reversed, end, idom))
        goto end;
    for (b = 0; b < blocks; b++) program->ipdom[b] = idom[b] == end ? GPUMP_NONE : idom[b];
    ok = 1;
end:
    gpumpi_arena_free(&scratch);
    return ok;
}

static uint32_t gpumpi_program_find(uint32_t *set, uint32_t x) {
    while (set[x] != x) x = set[x] = set[set[x]];
    return x;
}

/* The loop nest by Havlak's algorithm ("Nesting of reducible and irreducible loops", 1997), loops found inner before
 * outer. */
static int gpumpi_program_build_loops(gpump_program *program) {
    uint32_t blocks = program->basic_blocks, b, i, reached, found = 0, work = 0;
    uint32_t *preorder, *number, *parent, *last, *set, *header, *list, *stamp, *extra_head, *extra_next = NULL,
                                                                                            *extra_node = NULL, *of;
    uint8_t *irreducible, *is_header;
    gpumpi_arena scratch = gpumpi_arena_make(&program->arena.allocator);
    const gpumpi_graph *g = &program->graph;
    int ok = 0;
    if (!GPUMPI_ARENA_NEW(&scratch, preorder, blocks) || !GPUMPI_ARENA_NEW(&scratch, number, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, parent, blocks) || !GPUMPI_ARENA_NEW(&scratch, last, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, set, blocks) || !GPUMPI_ARENA_NEW(&scratch, header, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, list, blocks) || !GPUMPI_ARENA_NEW(&scratch, stamp, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, extra_head, blocks) || !GPUMPI_ARENA_NEW(&scratch, irreducible, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, is_header, blocks) || !GPUMPI_ARENA_NEW(&scratch, of, blocks))
        goto end;
    reached = gpumpi_graph_search(&scratch, g, 0, preorder, NULL, number, parent);
    if (reached == GPUMP_NONE) goto end;
    for (b = 0; b < blocks; b++) {
        set[b] = b;
        header[b] = stamp[b] = extra_head[b] = GPUMP_NONE;
        last[b] = number[b];
    }
    for (i = reached; i-- > 1;)
        if (last[preorder[i]] > last[parent[preorder[i]]]) last[parent[preorder[i]]] = last[preorder[i]];
    for (i = reached; i-- > 0;) { /* headers from the inside out */
        uint32_t w = preorder[i], e, at;
        work = 0;
        for (e = g->pred_start[w]; e < g->pred_start[w + 1]; e++) {
            uint32_t v = g->pred[e];
            if (number[v] == GPUMP_NONE || number[v] < number[w] || number[v] > last[w]) continue;
            is_header[w] = 1;
            v = gpumpi_program_find(set, v);
            if (v != w && stamp[v] != w) stamp[list[work++] = v] = w;
        }
        for (at = 0; at < work; at++) {
            uint32_t x = list[at], pass;
            /* predecessors in the graph, then those handed on from irreducible loops inside */
            for (pass = 0; pass < 2; pass++)
                for (e = pass ? extra_head[x] : g->pred_start[x]; pass ? e != GPUMP_NONE : e < g->pred_start[x + 1];
                     e = pass ? extra_next[e] : e + 1) {
                    uint32_t v = pass ? extra_node[e] : g->pred[e];
                    if (number[v] == GPUMP_NONE) continue;
                    if (!pass && number[v] >= number[x] && number[v] <= last[x]) continue; /* x's own back edge */
                    v = gpumpi_program_find(set, v);
                    if (number[v] < number[w] || number[v] > last[w]) { /* entered from elsewhere */
                        irreducible[w] = 1;
                        if (!GPUMPI_ARRAY_RESERVE(&scratch.allocator, extra_next, 1) ||
                            !GPUMPI_ARRAY_RESERVE(&scratch.allocator, extra_node, 1))
                            goto end;
                        stbds_arrput(extra_next, extra_head[w]);
                        stbds_arrput(extra_node, v);
                        extra_head[w] = (uint32_t)stbds_arrlenu(extra_node) - 1;
                    } else if (v != w && stamp[v] != w)
                        stamp[list[work++] = v] = w;
                }
        }
        for (at = 0; at < work; at++) {
            header[list[at]] = w;
            set[list[at]] = w;
        }
        found += is_header[w];
    }
    program->loops = found;
    if (!GPUMPI_ARENA_NEW(&program->arena, program->loop, found)) goto end;
    for (b = 0; b < blocks; b++) program->loop_of[b] = GPUMP_NONE;
    for (i = found = 0; i < reached; i++) { /* outer loops first, numbered by the preorder of their headers */
        gpump_loop *loop;
        b = preorder[i];
        if (!is_header[b]) continue;
        loop = &program->loop[of[b] = found++];
        loop->header = b;
        loop->parent = header[b] == GPUMP_NONE ? GPUMP_NONE : of[header[b]];
        loop->depth = loop->parent == GPUMP_NONE ? 1 : program->loop[loop->parent].depth + 1;
        loop->irreducible = irreducible[b];
        loop->innermost = 1;
        if (loop->parent != GPUMP_NONE) program->loop[loop->parent].innermost = 0;
    }
    for (i = 0; i < reached; i++) {
        b = preorder[i];
        program->loop_of[b] = is_header[b] ? of[b] : header[b] == GPUMP_NONE ? GPUMP_NONE : of[header[b]];
        if (program->loop_of[b] != GPUMP_NONE) program->loop[program->loop_of[b]].blocks++;
    }
    for (i = program->loops; i-- > 0;)
        if (program->loop[i].parent != GPUMP_NONE)
            program->loop[program->loop[i].parent].blocks += program->loop[i].blocks;
    ok = 1;
end:
    GPUMPI_ARRAY_FREE(&scratch.allocator, extra_next);
    GPUMPI_ARRAY_FREE(&scratch.allocator, extra_node);
    gpumpi_arena_free(&scratch);
    return ok;
}

GPUMP_API gpump_result gpump_program_finish(gpump_program *program, gpump_diag *diag) {
    gpump_result result;
    if (!program) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "program", 0, 0, 1, 1);
    if (program->finished) return gpumpi_fail(diag, GPUMP_ERROR_STATE, "program", 0, 1, 0, 0);
    result = gpumpi_program_check_flow(program, diag);
    if (result != GPUMP_OK) return result;
    if (!gpumpi_program_build_blocks(program) ||
        !GPUMPI_ARENA_NEW(&program->arena, program->idom, program->basic_blocks) ||
        !GPUMPI_ARENA_NEW(&program->arena, program->ipdom, program->basic_blocks) ||
        !GPUMPI_ARENA_NEW(&program->arena, program->enter, program->basic_blocks) ||
        !GPUMPI_ARENA_NEW(&program->arena, program->leave, program->basic_blocks) ||
        !GPUMPI_ARENA_NEW(&program->arena, program->loop_of, program->basic_blocks) ||
        !gpumpi_graph_dominators(&program->arena, &program->graph, 0, program->idom) ||
        !gpumpi_graph_intervals(&program->arena, program->basic_blocks, program->idom, 0, program->enter,
                                program->leave) ||
        !gpumpi_program_build_post_dominators(program) || !gpumpi_program_build_loops(program)) {
        gpumpi_arena_free(&program->arena);
        program->basic_blocks = program->loops = 0;
        return gpumpi_fail(diag, GPUMP_ERROR_MEMORY, "program", 0, 0, 0, 0);
    }
    program->finished = 1;
    return GPUMP_OK;
}

/* ---- reading ---- */

GPUMP_API uint32_t gpump_program_instructions(const gpump_program *program) {
    return program ? (uint32_t)stbds_arrlenu(program->rows) : 0;
}
GPUMP_API uint32_t gpump_program_registers(const gpump_program *program) {
    return program ? (uint32_t)stbds_arrlenu(program->widths) : 0;
}
GPUMP_API uint32_t gpump_program_objects(const gpump_program *program) {
    return program ? (uint32_t)stbds_arrlenu(program->objects) : 0;
}
GPUMP_API uint32_t gpump_program_basic_blocks(const gpump_program *program) {
    return program && program->finished ? program->basic_blocks : 0;
}
GPUMP_API uint32_t gpump_program_loops(const gpump_program *program) {
    return program && program->finished ? program->loops : 0;
}
GPUMP_API uint32_t gpump_program_width(const gpump_program *program, uint32_t reg) { return program->widths[reg]; }
GPUMP_API gpump_memory_object gpump_program_object(const gpump_program *program, uint32_t object) {
    return program->objects[object];
}
GPUMP_API const uint32_t *gpump_program_origin(const gpump_program *program) { return program->origin; }

GPUMP_API void gpump_program_instruction(const gpump_program *program, uint32_t index, gpump_instruction *instruction) {
    static const uint32_t none = 0; /* a program without operands has no array to point into */
    const gpumpi_program_row *row = &program->rows[index];
    GPUMPI_COUNT_STEP();
    *instruction = row->instruction;
    instruction->defs = program->operands ? program->operands + row->first_def : &none;
    instruction->uses = program->operands ? program->operands + row->first_use : &none;
}

GPUMP_API void gpump_program_basic_block(const gpump_program *program, uint32_t b, gpump_basic_block *block) {
    const gpumpi_graph *g = &program->graph;
    block->successors = g->succ + g->succ_start[b];
    block->predecessors = g->pred + g->pred_start[b];
    block->successor_count = g->succ_start[b + 1] - g->succ_start[b];
    block->predecessor_count = g->pred_start[b + 1] - g->pred_start[b];
    block->first = program->first[b];
    block->count = program->first[b + 1] - program->first[b];
    block->dominator = program->idom[b];
    block->post_dominator = program->ipdom[b];
    block->loop = program->loop_of[b];
    block->loop_depth = block->loop == GPUMP_NONE ? 0 : program->loop[block->loop].depth;
    block->reachable = program->enter[b] <= program->leave[b];
}
GPUMP_API uint32_t gpump_program_basic_block_of(const gpump_program *program, uint32_t instruction) {
    return program->block_of[instruction];
}
GPUMP_API int gpump_program_dominates(const gpump_program *program, uint32_t a, uint32_t b) {
    return a == b || (program->enter[b] <= program->leave[b] && program->enter[a] <= program->enter[b] &&
                      program->leave[b] <= program->leave[a]);
}
GPUMP_API uint32_t gpump_program_reconvergence(const gpump_program *program, uint32_t branch) {
    uint32_t b = program->ipdom[program->block_of[branch]];
    return b == GPUMP_NONE ? GPUMP_NONE : program->first[b];
}
GPUMP_API void gpump_program_loop(const gpump_program *program, uint32_t loop, gpump_loop *out) {
    *out = program->loop[loop];
}
GPUMP_API int gpump_program_in_loop(const gpump_program *program, uint32_t loop, uint32_t b) {
    uint32_t at = program->loop_of[b];
    while (at != GPUMP_NONE && at != loop) at = program->loop[at].parent;
    return at == loop;
}

/* 1 when [a, a + a_bytes) and [b, b + b_bytes) share a byte. */
static int gpumpi_program_overlap(int64_t a, uint32_t a_bytes, int64_t b, uint32_t b_bytes) {
    return a < b ? (uint64_t)b - (uint64_t)a < a_bytes : (uint64_t)a - (uint64_t)b < b_bytes;
}

GPUMP_API int gpump_program_may_alias(const gpump_program *program, uint32_t a, uint32_t b, uint32_t unit) {
    const gpump_instruction *x = &program->rows[a].instruction, *y = &program->rows[b].instruction;
    int read_only_x, read_only_y, shared;
    if (!x->access || !y->access || x->operation == GPUMP_OP_CHECK || y->operation == GPUMP_OP_CHECK) return 0;
    read_only_x = x->space == GPUMP_SPACE_CONSTANT || x->space == GPUMP_SPACE_TEXTURE;
    read_only_y = y->space == GPUMP_SPACE_CONSTANT || y->space == GPUMP_SPACE_TEXTURE;
    if (read_only_x || read_only_y) return x->space == y->space;
    if (x->space != y->space && x->space != GPUMP_SPACE_GENERIC && y->space != GPUMP_SPACE_GENERIC) return 0;
    if (x->object == GPUMP_NONE || y->object == GPUMP_NONE) { /* an object still has its own space */
        uint32_t sx = x->object == GPUMP_NONE ? x->space : program->objects[x->object].space;
        uint32_t sy = y->object == GPUMP_NONE ? y->space : program->objects[y->object].space;
        return sx == sy || sx == GPUMP_SPACE_GENERIC || sy == GPUMP_SPACE_GENERIC;
    }
    if (x->object != y->object)
        return program->objects[x->object].space == program->objects[y->object].space &&
               program->objects[x->object].alias_class == program->objects[y->object].alias_class &&
               program->objects[x->object].alias_class != GPUMP_NONE;
    if (x->address == GPUMP_ADDRESS_ANYWHERE || y->address != x->address) return 1;
    shared = unit != GPUMP_UNIT_THREAD && program->objects[x->object].space != GPUMP_SPACE_LOCAL;
    if (x->address == GPUMP_ADDRESS_FIXED) return gpumpi_program_overlap(x->offset, x->bytes, y->offset, y->bytes);
    if (x->value != y->value || gpumpi_program_overlap(x->offset, x->bytes, y->offset, y->bytes)) return 1;
    if (!shared) return 0;
    if (!x->thread_stride || x->thread_stride != y->thread_stride) return 1;
    { /* two threads lie k strides apart: is there a k that makes the ranges meet? */
        int64_t stride = x->thread_stride, apart = (y->offset - x->offset) % stride;
        if (apart < 0) apart += stride;
        return apart < (int64_t)x->bytes || stride - apart < (int64_t)y->bytes;
    }
}

static const char *const gpumpi_program_names[GPUMP_OP_COUNT] = {
    "op",           "mov",         "constant",   "param",        "add",         "bra",         "exit",
    "bar",          "spill.store", "spill.load", "idem",         "pp",          "pp.diverged", "bar.pp",
    "start_marker", "clear_check", "check",      "page_entered", "guarded_call"};

GPUMP_API size_t gpump_program_text(const gpump_program *program, uint32_t index, char *text, size_t bytes) {
    gpump_instruction in;
    size_t length = 0;
    uint32_t i;
#define GPUMPI_PRINT(...)                                                                                      \
    do {                                                                                                       \
        int printed =                                                                                          \
            snprintf(length < bytes ? text + length : NULL, length < bytes ? bytes - length : 0, __VA_ARGS__); \
        if (printed > 0) length += (size_t)printed;                                                            \
    } while (0)
    gpump_program_instruction(program, index, &in);
    if (in.guard != GPUMP_NONE) GPUMPI_PRINT("@%sr%u ", in.flags & GPUMP_FLAG_GUARD_NEGATED ? "!" : "", in.guard);
    GPUMPI_PRINT("%s", gpumpi_program_names[in.operation]);
    if (in.operation == GPUMP_OP_COMPUTE) GPUMPI_PRINT("%llu", (unsigned long long)in.tag);
    if (in.operation == GPUMP_OP_BOUNDARY) GPUMPI_PRINT("%s", in.immediate ? ".short" : ".sparse");
    if (in.operation == GPUMP_OP_CHECK) GPUMPI_PRINT("%s", in.access & GPUMP_ACCESS_WRITE ? ".store" : ".load");
    if (in.flags & GPUMP_FLAG_CHECKED) GPUMPI_PRINT(".check");
    for (i = 0; i < in.def_count + in.use_count; i++) {
        uint32_t operand = i < in.def_count ? in.defs[i] : in.uses[i - in.def_count];
        GPUMPI_PRINT("%s%s%u%s",
                     i == 0              ? " "
                     : i == in.def_count ? " = "
                                         : ", ",
                     operand & GPUMP_OPERAND_PARAMETER ? "c" : "r", operand & GPUMP_OPERAND_INDEX,
                     operand & GPUMP_OPERAND_PAIR ? "d" : "");
    }
    switch (in.operation) {
    case GPUMP_OP_CONSTANT:
    case GPUMP_OP_PARAMETER:
    case GPUMP_OP_SPILL_STORE:
    case GPUMP_OP_SPILL_LOAD: GPUMPI_PRINT(" [%lld]", (long long)in.immediate); break;
    case GPUMP_OP_ADD: GPUMPI_PRINT(" + %lld", (long long)in.immediate); break;
    case GPUMP_OP_PAGE_ENTERED:
        GPUMPI_PRINT(" + %lld, first %u of %lld", (long long)in.displacement, in.bytes, (long long)in.immediate);
        break;
    default: break;
    }
    if (in.access) GPUMPI_PRINT(" [%+lld, %u bytes]", (long long)in.displacement, in.bytes);
    if (in.target != GPUMP_NONE) GPUMPI_PRINT(" -> %u", in.target);
#undef GPUMPI_PRINT
    return length;
}

/* ---- the changed copy ---- */

static gpump_result gpumpi_program_emit(gpump_program *out, const gpump_instruction *in, uint32_t from,
                                        gpump_diag *diag) {
    gpump_result result = gpump_program_add(out, in, NULL, diag);
    if (result != GPUMP_OK) return result;
    return GPUMPI_ARRAY_PUSH(&out->arena.allocator, out->origin, from) ? GPUMP_OK : GPUMP_ERROR_MEMORY;
}

/* Places in the new program. */
typedef struct gpumpi_edit_places {
    uint32_t *landing;  /* old instruction -> where a branch to it goes */
    uint32_t *entry;    /* old instruction -> where a branch to it from outside its loop goes */
    uint32_t *around;   /* old instruction -> where the code before it falls through to */
    uint32_t *self;     /* old instruction -> where it goes itself */
    uint32_t *inserted; /* insertion -> where it goes */
    uint8_t *dropped;   /* old instruction -> 1: it is left out */
} gpumpi_edit_places;

static gpump_result gpumpi_program_emit_insertion(gpump_program *out, const gpumpi_edit *edit, uint32_t k,
                                                  const gpumpi_edit_places *places, gpump_diag *diag) {
    gpump_instruction in = edit->insertions[k].instruction;
    in.defs = edit->insertions[k].defs;
    in.uses = edit->insertions[k].uses;
    if (in.target != GPUMP_NONE)
        in.target = in.target & GPUMPI_NEW        ? places->inserted[in.target & ~GPUMPI_NEW]
                    : in.target & GPUMPI_NEW_BODY ? places->self[in.target & ~GPUMPI_NEW_BODY]
                                                  : places->landing[in.target];
    k = edit->insertions[k].origin;
    return gpumpi_program_emit(out, &in, k == GPUMP_NONE ? GPUMP_NONE : edit->origin ? edit->origin[k] : k, diag);
}

/* Finds the place of every old instruction and of every insertion. */
static void gpumpi_program_find_places(const gpumpi_edit *edit, gpumpi_edit_places *places) {
    const gpump_program *old = edit->program;
    uint32_t count = gpump_program_instructions(old), i, k, at, scratch_operands[80];
    for (i = k = at = 0; i <= count; i++) {
        while (k < edit->insertion_count && edit->insertions[k].before == i && edit->insertions[k].after_previous)
            places->inserted[k++] = at++;
        places->around[i] = places->entry[i] = at;
        if (k < edit->insertion_count && edit->insertions[k].before == i &&
            edit->insertions[k].entry_loop != GPUMP_NONE) {
            uint32_t loop = edit->insertions[k].entry_loop;
            /* An iteration of the loop that falls through to here must jump over the code for the loop's entry. */
            if (i && gpump_program_in_loop(old, loop, old->block_of[i - 1]) &&
                gpumpi_program_falls_through(&old->rows[i - 1].instruction))
                places->entry[i] = ++at;
            while (k < edit->insertion_count && edit->insertions[k].before == i &&
                   edit->insertions[k].entry_loop != GPUMP_NONE)
                places->inserted[k++] = at++;
        }
        places->landing[i] = at;
        while (k < edit->insertion_count && edit->insertions[k].before == i) places->inserted[k++] = at++;
        places->self[i] = at;
        if (i < count) {
            gpump_instruction in;
            gpump_program_instruction(old, i, &in);
            places->dropped[i] = edit->rewrite && !edit->rewrite(edit->user, i, &in, scratch_operands);
            at += !places->dropped[i];
        }
    }
}

GPUMP_API gpump_result gpumpi_program_edit(const gpumpi_edit *edit, gpump_program **result_program, gpump_diag *diag) {
    const gpump_program *old = edit->program;
    uint32_t count = gpump_program_instructions(old), i, k, scratch_operands[80], registers;
    gpumpi_edit_places places;
    gpump_program *out = NULL;
    gpumpi_arena scratch = gpumpi_arena_make(&old->arena.allocator);
    gpump_result result = gpump_program_create(&old->arena.allocator, &out);
    if (result != GPUMP_OK) return gpumpi_fail(diag, result, "program", 0, 0, 0, 0);
    result = GPUMP_ERROR_MEMORY;
    if (!GPUMPI_ARENA_NEW(&scratch, places.landing, (size_t)count + 1) ||
        !GPUMPI_ARENA_NEW(&scratch, places.entry, (size_t)count + 1) ||
        !GPUMPI_ARENA_NEW(&scratch, places.inserted, edit->insertion_count) ||
        !GPUMPI_ARENA_NEW(&scratch, places.around, (size_t)count + 1) ||
        !GPUMPI_ARENA_NEW(&scratch, places.self, (size_t)count + 1) ||
        !GPUMPI_ARENA_NEW(&scratch, places.dropped, count))
        goto fail;
    registers = edit->widths ? edit->registers : gpump_program_registers(old);
    for (i = 0; i < registers; i++)
        if (!GPUMPI_ARRAY_PUSH(&out->arena.allocator, out->widths,
                               (uint8_t)(edit->widths ? edit->widths[i] : old->widths[i])))
            goto fail;
    for (i = 0; i < gpump_program_objects(old); i++)
        if (!GPUMPI_ARRAY_PUSH(&out->arena.allocator, out->objects, old->objects[i])) goto fail;
    gpumpi_program_find_places(edit, &places);
    for (i = k = 0; i <= count; i++) {
        for (; k < edit->insertion_count && edit->insertions[k].before == i && edit->insertions[k].after_previous;
             k++) {
            result = gpumpi_program_emit_insertion(out, edit, k, &places, diag);
            if (result != GPUMP_OK) goto fail;
        }
        if (places.entry[i] != places.around[i]) {
            gpump_instruction jump = gpump_instruction_make(GPUMP_OP_BRANCH);
            jump.target = places.landing[i];
            jump.flags = GPUMP_FLAG_UNIFORM;
            result = gpumpi_program_emit(out, &jump, GPUMP_NONE, diag);
            if (result != GPUMP_OK) goto fail;
        }
        for (; k < edit->insertion_count && edit->insertions[k].before == i; k++) {
            result = gpumpi_program_emit_insertion(out, edit, k, &places, diag);
            if (result != GPUMP_OK) goto fail;
        }
        if (i < count && !places.dropped[i]) {
            gpump_instruction in;
            gpump_program_instruction(old, i, &in);
            if (edit->rewrite) edit->rewrite(edit->user, i, &in, scratch_operands);
            if (in.target != GPUMP_NONE) {
                uint32_t header = old->block_of[in.target], loop = old->loop_of[header];
                int inside = loop != GPUMP_NONE && old->loop[loop].header == header &&
                             gpump_program_in_loop(old, loop, old->block_of[i]);
                in.target = inside ? places.landing[in.target] : places.entry[in.target];
            }
            result = gpumpi_program_emit(out, &in, edit->origin ? edit->origin[i] : i, diag);
            if (result != GPUMP_OK) goto fail;
        }
    }
    result = gpump_program_finish(out, diag);
    if (result != GPUMP_OK) goto fail;
    gpumpi_arena_free(&scratch);
    *result_program = out;
    return GPUMP_OK;
fail:
    if (result == GPUMP_ERROR_MEMORY) gpumpi_fail(diag, result, "program", 0, 0, 0, 0);
    gpumpi_arena_free(&scratch);
    gpump_program_destroy(out);
    return result;
}
#endif

/* ---- gpump_impl/program/graph.c ---- */
/* graph (private): memory of the analyses, depth-first search, dominators; see program_parts.h */


#ifndef GPUMP_NO_PROGRAM

struct gpumpi_arena_chunk {
    gpumpi_arena_chunk *next;
    uint64_t bytes; /* keeps what follows 16-aligned on 64-bit machines, 8-aligned elsewhere */
};

GPUMP_API gpumpi_arena gpumpi_arena_make(const gpump_allocator *allocator) {
    gpumpi_arena arena;
    arena.allocator = allocator ? *allocator : gpump_allocator_default();
    arena.chunks = NULL;
    return arena;
}

GPUMP_API void *gpumpi_arena_new(gpumpi_arena *arena, size_t element_bytes, size_t count) {
    size_t bytes;
    gpumpi_arena_chunk *chunk;
    if (!count) count = 1;
    if (count > (SIZE_MAX - sizeof *chunk) / element_bytes) return NULL;
    bytes = sizeof *chunk + count * element_bytes;
    chunk = (gpumpi_arena_chunk *)arena->allocator.reallocate(arena->allocator.user, NULL, 0, bytes);
    if (!chunk) return NULL;
    memset(chunk, 0, bytes);
    chunk->next = arena->chunks;
    chunk->bytes = bytes;
    arena->chunks = chunk;
    return chunk + 1;
}

GPUMP_API void gpumpi_arena_free(gpumpi_arena *arena) {
    while (arena->chunks) {
        gpumpi_arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        arena->allocator.reallocate(arena->allocator.user, chunk, (size_t)chunk->bytes, 0);
    }
}

GPUMP_API int gpumpi_group(gpumpi_arena *arena, uint32_t keys, const uint32_t *key, const uint32_t *value, size_t count,
                           uint32_t **start_out, uint32_t **out) {
    uint32_t n, *start;
    size_t i;
    if (!GPUMPI_ARENA_NEW(arena, start, (size_t)keys + 1) || !GPUMPI_ARENA_NEW(arena, *out, count)) return 0;
    for (i = 0; i < count; i++) start[key[i] + 1]++;
    for (n = 0; n < keys; n++) start[n + 1] += start[n];
    for (i = 0; i < count; i++) (*out)[start[key[i]]++] = value[i];
    for (n = keys; n > 0; n--) start[n] = start[n - 1];
    start[0] = 0;
    *start_out = start;
    return 1;
}

GPUMP_API int gpumpi_graph_build(gpumpi_arena *arena, gpumpi_graph *graph, uint32_t nodes, const uint32_t *from,
                                 const uint32_t *to, size_t count) {
    graph->nodes = nodes;
    return gpumpi_group(arena, nodes, from, to, count, &graph->succ_start, &graph->succ) &&
           gpumpi_group(arena, nodes, to, from, count, &graph->pred_start, &graph->pred);
}

GPUMP_API uint32_t gpumpi_graph_search(gpumpi_arena *arena, const gpumpi_graph *graph, uint32_t root,
                                       uint32_t *preorder, uint32_t *postorder, uint32_t *number, uint32_t *parent) {
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    uint32_t n, reached = 0, done = 0, top = 0, *stack, *next;
    if (!GPUMPI_ARENA_NEW(&scratch, stack, graph->nodes) || !GPUMPI_ARENA_NEW(&scratch, next, graph->nodes)) {
        gpumpi_arena_free(&scratch);
        return GPUMP_NONE;
    }
    for (n = 0; n < graph->nodes; n++) number[n] = parent[n] = GPUMP_NONE;
    preorder[reached] = root;
    number[root] = reached++;
    next[root] = graph->succ_start[root];
    stack[top++] = root;
    while (top) {
        uint32_t at = stack[top - 1], to;
        if (next[at] == graph->succ_start[at + 1]) {
            if (postorder) postorder[done++] = at;
            top--;
            continue;
        }
        to = graph->succ[next[at]++];
        if (number[to] != GPUMP_NONE) continue;
        preorder[reached] = to;
        number[to] = reached++;
        parent[to] = at;
        next[to] = graph->succ_start[to];
        stack[top++] = to;
    }
    gpumpi_arena_free(&scratch);
    return reached;
}

/* Semi-dominators with path compression, then the nearest common ancestor in the tree under construction (Georgiadis).
 * All numbers below are places in preorder. */
GPUMP_API int gpumpi_graph_dominators(gpumpi_arena *arena, const gpumpi_graph *graph, uint32_t root, uint32_t *idom) {
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    uint32_t n, i, reached, *preorder, *number, *parent, *semi, *label, *ancestor, *dominator, *path;
    int ok = 0;
    if (!GPUMPI_ARENA_NEW(&scratch, preorder, graph->nodes) || !GPUMPI_ARENA_NEW(&scratch, number, graph->nodes) ||
        !GPUMPI_ARENA_NEW(&scratch, parent, graph->nodes) || !GPUMPI_ARENA_NEW(&scratch, semi, graph->nodes) ||
        !GPUMPI_ARENA_NEW(&scratch, label, graph->nodes) || !GPUMPI_ARENA_NEW(&scratch, ancestor, graph->nodes) ||
        !GPUMPI_ARENA_NEW(&scratch, dominator, graph->nodes) || !GPUMPI_ARENA_NEW(&scratch, path, graph->nodes))
        goto end;
    reached = gpumpi_graph_search(&scratch, graph, root, preorder, NULL, number, parent);
    if (reached == GPUMP_NONE) goto end;
    for (i = 0; i < reached; i++) {
        semi[i] = label[i] = i;
        ancestor[i] = dominator[i] = i ? number[parent[preorder[i]]] : 0;
    }
    for (i = reached; i-- > 1;) { /* nodes above i are linked to their ancestors */
        uint32_t e, best = dominator[i];
        for (e = graph->pred_start[preorder[i]]; e < graph->pred_start[preorder[i] + 1]; e++) {
            uint32_t v = number[graph->pred[e]], length = 0, u;
            if (v == GPUMP_NONE) continue;
            if (v > i) {
                for (u = v; ancestor[u] > i; u = ancestor[u]) path[length++] = u;
                while (length--) { /* from the top down: take over the ancestor's smaller label and skip it */
                    uint32_t w = path[length], up = ancestor[w];
                    if (semi[label[up]] < semi[label[w]]) label[w] = label[up];
                    ancestor[w] = ancestor[up];
                }
                v = semi[label[v]];
            }
            if (v < best) best = v;
        }
        semi[i] = best;
        label[i] = i;
    }
    for (i = 1; i < reached; i++)
        while (dominator[i] > semi[i]) dominator[i] = dominator[dominator[i]];
    for (n = 0; n < graph->nodes; n++) idom[n] = GPUMP_NONE;
    for (i = 1; i < reached; i++) idom[preorder[i]] = preorder[dominator[i]];
    ok = 1;
end:
    gpumpi_arena_free(&scratch);
    return ok;
}

GPUMP_API int gpumpi_graph_intervals(gpumpi_arena *arena, uint32_t nodes, const uint32_t *idom, uint32_t root,
                                     uint32_t *enter, uint32_t *leave) {
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    uint32_t n, edges = 0, reached, *from, *to, *preorder, *number, *parent, *size;
    gpumpi_graph tree;
    int ok = 0;
    if (!GPUMPI_ARENA_NEW(&scratch, from, nodes) || !GPUMPI_ARENA_NEW(&scratch, to, nodes) ||
        !GPUMPI_ARENA_NEW(&scratch, preorder, nodes) || !GPUMPI_ARENA_NEW(&scratch, number, nodes) ||
        !GPUMPI_ARENA_NEW(&scratch, parent, nodes) || !GPUMPI_ARENA_NEW(&scratch, size, nodes))
        goto end;
    for (n = 0; n < nodes; n++)
        if (idom[n] != GPUMP_NONE) {
            from[edges] = idom[n];
            to[edges++] = n;
        }
    if (!gpumpi_graph_build(&scratch, &tree, nodes, from, to, edges)) goto end;
    reached = gpumpi_graph_search(&scratch, &tree, root, preorder, NULL, number, parent);
    if (reached == GPUMP_NONE) goto end;
    for (n = reached; n-- > 0;) {
        size[preorder[n]]++;
        if (n) size[parent[preorder[n]]] += size[preorder[n]];
    }
    for (n = 0; n < nodes; n++) {
        enter[n] = number[n] == GPUMP_NONE ? 1 : number[n];
        leave[n] = number[n] == GPUMP_NONE ? 0 : number[n] + size[n] - 1;
    }
    ok = 1;
end:
    gpumpi_arena_free(&scratch);
    return ok;
}
#endif

/* ---- gpump_impl/program/liveness.c ---- */
/* liveness: one walk per register, up from its uses; control dependences for divergence */



#ifndef GPUMP_NO_PROGRAM

struct gpump_liveness {
    gpumpi_arena arena;
    const gpump_program *program;
    uint32_t words;
    uint32_t *in_start, *in, *out_start, *out; /* basic block -> registers */
    uint32_t *control_start, *control;         /* basic block -> blocks whose branch decides whether it runs */
    /* Samples: the registers live before some instructions inside long basic blocks, so that no query walks far.
     * sample_at[] holds these instructions, the last first. The registers of sample k are sample[] from
     * sample_start[k] to sample_start[k + 1] - 1. */
    uint32_t *sample_at, *sample_start, *sample;
};

/* The least distance between two samples of one basic block, in instructions. Larger: slower queries. Smaller: more
 * memory. */
#define GPUMPI_LIVENESS_SPACING 64u

/* Pairs under construction. */
typedef struct gpumpi_liveness_pairs {
    uint32_t *key, *value;
} gpumpi_liveness_pairs;

static int gpumpi_liveness_push(const gpump_allocator *allocator, gpumpi_liveness_pairs *pairs, uint32_t key,
                                uint32_t value) {
    if (!GPUMPI_ARRAY_RESERVE(allocator, pairs->key, 1) || !GPUMPI_ARRAY_RESERVE(allocator, pairs->value, 1)) return 0;
    stbds_arrput(pairs->key, key);
    stbds_arrput(pairs->value, value);
    return 1;
}
static void gpumpi_liveness_free_pairs(const gpump_allocator *allocator, gpumpi_liveness_pairs *pairs) {
    GPUMPI_ARRAY_FREE(allocator, pairs->key);
    GPUMPI_ARRAY_FREE(allocator, pairs->value);
}
static int gpumpi_liveness_group(gpumpi_arena *arena, const gpumpi_liveness_pairs *pairs, uint32_t keys,
                                 uint32_t **start, uint32_t **out) {
    return gpumpi_group(arena, keys, pairs->key, pairs->value, stbds_arrlenu(pairs->key), start, out);
}

/* Finds, per register, the blocks that read it before writing it and those that write it whole. */
static int gpumpi_liveness_scan(const gpump_program *program, const gpump_allocator *allocator, gpumpi_arena *scratch,
                                gpumpi_liveness_pairs *exposed, gpumpi_liveness_pairs *kills) {
    uint32_t b, i, k, blocks = gpump_program_basic_blocks(program), registers = gpump_program_registers(program),
                      *killed, *read;
    if (!GPUMPI_ARENA_NEW(scratch, killed, registers) || !GPUMPI_ARENA_NEW(scratch, read, registers)) return 0;
    for (i = 0; i < registers; i++) killed[i] = read[i] = GPUMP_NONE;
    for (b = 0; b < blocks; b++) {
        gpump_basic_block block;
        gpump_program_basic_block(program, b, &block);
        for (i = block.first; i < block.first + block.count; i++) {
            gpump_instruction in;
            int ok = 1;
            gpump_program_instruction(program, i, &in);
            for (k = 0; k <= in.use_count; k++) {
                uint32_t operand = k < in.use_count ? in.uses[k] : in.guard;
                if (operand == GPUMP_NONE) continue;
                GPUMPI_OPERAND_REGISTERS(
                    operand, reg, if (killed[reg] != b && read[reg] != b) {
                        read[reg] = b;
                        ok = ok && gpumpi_liveness_push(allocator, exposed, reg, b);
                    });
            }
            for (k = 0; k < in.def_count && gpumpi_kills(&in); k++)
                GPUMPI_OPERAND_REGISTERS(
                    in.defs[k], reg, if (killed[reg] != b) {
                        killed[reg] = b;
                        ok = ok && gpumpi_liveness_push(allocator, kills, reg, b);
                    });
            if (!ok) return 0;
        }
    }
    return 1;
}

static int gpumpi_liveness_solve(gpump_liveness *liveness) {
    const gpump_program *program = liveness->program;
    const gpump_allocator *allocator = &liveness->arena.allocator;
    uint32_t blocks = gpump_program_basic_blocks(program), registers = gpump_program_registers(program), r, i, top,
             *exposed_start, *exposed_block, *kill_start, *kill_block, *kill, *in_mark, *out_mark, *stack;
    gpumpi_liveness_pairs exposed = {NULL, NULL}, kills = {NULL, NULL}, in = {NULL, NULL}, out = {NULL, NULL};
    gpumpi_arena scratch = gpumpi_arena_make(allocator);
    int ok = 0;
    if (!gpumpi_liveness_scan(program, allocator, &scratch, &exposed, &kills) ||
        !gpumpi_liveness_group(&scratch, &exposed, registers, &exposed_start, &exposed_block) ||
        !gpumpi_liveness_group(&scratch, &kills, registers, &kill_start, &kill_block) ||
        !GPUMPI_ARENA_NEW(&scratch, kill, blocks) || !GPUMPI_ARENA_NEW(&scratch, in_mark, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, out_mark, blocks) || !GPUMPI_ARENA_NEW(&scratch, stack, blocks))
        goto end;
    for (i = 0; i < blocks; i++) kill[i] = in_mark[i] = out_mark[i] = GPUMP_NONE;
    for (r = 0; r < registers; r++) {
        for (i = kill_start[r]; i < kill_start[r + 1]; i++) kill[kill_block[i]] = r;
        for (i = exposed_start[r], top = 0; i < exposed_start[r + 1]; i++) in_mark[stack[top++] = exposed_block[i]] = r;
        while (top) {
            gpump_basic_block block;
            uint32_t b = stack[--top];
            gpump_program_basic_block(program, b, &block);
            if (!gpumpi_liveness_push(allocator, &in, b, r)) goto end;
            for (i = 0; i < block.predecessor_count; i++) {
                uint32_t p = block.predecessors[i];
                if (out_mark[p] != r) {
                    out_mark[p] = r;
                    if (!gpumpi_liveness_push(allocator, &out, p, r)) goto end;
                }
                if (kill[p] != r && in_mark[p] != r) in_mark[stack[top++] = p] = r;
            }
        }
    }
    ok = gpumpi_liveness_group(&liveness->arena, &in, blocks, &liveness->in_start, &liveness->in) &&
         gpumpi_liveness_group(&liveness->arena, &out, blocks, &liveness->out_start, &liveness->out);
end:
    gpumpi_liveness_free_pairs(allocator, &exposed);
    gpumpi_liveness_free_pairs(allocator, &kills);
    gpumpi_liveness_free_pairs(allocator, &in);
    gpumpi_liveness_free_pairs(allocator, &out);
    gpumpi_arena_free(&scratch);
    return ok;
}

/* Block x depends on the end of block d when x post-dominates a successor of d but not d itself. (A block with one
 * successor can have such an x too, where an endless part was given an end.) */
static int gpumpi_liveness_control(gpump_liveness *liveness) {
    const gpump_program *program = liveness->program;
    const gpump_allocator *allocator = &liveness->arena.allocator;
    uint32_t blocks = gpump_program_basic_blocks(program), d, i, x;
    gpumpi_liveness_pairs pairs = {NULL, NULL};
    int ok = 1;
    for (d = 0; d < blocks && ok; d++) {
        gpump_basic_block block, at;
        gpump_program_basic_block(program, d, &block);
        for (i = 0; i < block.successor_count; i++)
            for (x = block.successors[i]; x != GPUMP_NONE && x != block.post_dominator && ok; x = at.post_dominator) {
                ok = gpumpi_liveness_push(allocator, &pairs, x, d);
                gpump_program_basic_block(program, x, &at);
            }
    }
    ok = ok && gpumpi_liveness_group(&liveness->arena, &pairs, blocks, &liveness->control_start, &liveness->control);
    gpumpi_liveness_free_pairs(allocator, &pairs);
    return ok;
}

/* Registers that a walk up a basic block has met, and how many of them are live. */
typedef struct gpumpi_liveness_walk {
    uint32_t *list, listed, live;
    uint8_t *state; /* register -> 0: not in the list; 1: in the list, dead; 2: in the list, live */
} gpumpi_liveness_walk;

static void gpumpi_liveness_met(gpumpi_liveness_walk *walk, uint32_t reg, int live) {
    if (live && !walk->state[reg]) walk->list[walk->listed++] = reg;
    walk->live += (uint32_t)live - (walk->state[reg] == 2);
    if (live || walk->state[reg]) walk->state[reg] = (uint8_t)(1 + live);
}
/* Takes registers that are dead, or all where `all` is 1, out of the list. */
static void gpumpi_liveness_drop(gpumpi_liveness_walk *walk, int all) {
    uint32_t i, kept = 0;
    for (i = 0; i < walk->listed; i++)
        if (walk->state[walk->list[i]] == 2 && !all)
            walk->list[kept++] = walk->list[i];
        else
            walk->state[walk->list[i]] = 0;
    walk->listed = kept;
    if (all) walk->live = 0;
}

/* Walks up basic block b and takes its samples. A sample stands at least as many instructions before the next one as it
 * has registers, so that all samples together are no longer than the program. */
static int gpumpi_liveness_sample_block(gpump_liveness *liveness, uint32_t b, gpumpi_liveness_walk *walk) {
    const gpump_allocator *allocator = &liveness->arena.allocator;
    uint32_t i, k, last;
    gpump_basic_block block;
    gpump_program_basic_block(liveness->program, b, &block);
    if (block.count <= GPUMPI_LIVENESS_SPACING) return 1;
    for (i = liveness->out_start[b]; i < liveness->out_start[b + 1]; i++)
        gpumpi_liveness_met(walk, liveness->out[i], 1);
    for (i = last = block.first + block.count; i-- > block.first + 1;) {
        gpump_instruction in;
        gpump_program_instruction(liveness->program, i, &in);
        for (k = 0; k < in.def_count && gpumpi_kills(&in); k++)
            GPUMPI_OPERAND_REGISTERS(in.defs[k], reg, gpumpi_liveness_met(walk, reg, 0));
        for (k = 0; k < in.use_count; k++) GPUMPI_OPERAND_REGISTERS(in.uses[k], reg, gpumpi_liveness_met(walk, reg, 1));
        if (in.guard != GPUMP_NONE) gpumpi_liveness_met(walk, in.guard, 1);
        if (last - i < GPUMPI_LIVENESS_SPACING || last - i < walk->live) continue;
        gpumpi_liveness_drop(walk, 0);
        if (!GPUMPI_ARRAY_PUSH(allocator, liveness->sample_at, i) ||
            !GPUMPI_ARRAY_RESERVE(allocator, liveness->sample, walk->listed))
            return 0;
        for (k = 0; k < walk->listed; k++) stbds_arrput(liveness->sample, walk->list[k]);
        if (!GPUMPI_ARRAY_PUSH(allocator, liveness->sample_start, (uint32_t)stbds_arrlenu(liveness->sample))) return 0;
        last = i;
    }
    gpumpi_liveness_drop(walk, 1);
    return 1;
}

static int gpumpi_liveness_take_samples(gpump_liveness *liveness) {
    uint32_t registers = gpump_program_registers(liveness->program), b;
    gpumpi_arena scratch = gpumpi_arena_make(&liveness->arena.allocator);
    gpumpi_liveness_walk walk = {NULL, 0, 0, NULL};
    int ok = GPUMPI_ARENA_NEW(&scratch, walk.list, registers) && GPUMPI_ARENA_NEW(&scratch, walk.state, registers) &&
             GPUMPI_ARRAY_PUSH(&liveness->arena.allocator, liveness->sample_start, 0u);
    for (b = gpump_program_basic_blocks(liveness->program); ok && b-- > 0;)
        ok = gpumpi_liveness_sample_block(liveness, b, &walk);
    gpumpi_arena_free(&scratch);
    return ok;
}

/* Finds the nearest place at or behind instruction `point` of basic block b whose live registers are listed: a sample,
 * or the block's end. Sets *list and *count to the registers live there, and returns the instruction that the place
 * stands before. */
static uint32_t gpumpi_liveness_known(const gpump_liveness *liveness, uint32_t b, uint32_t point, const uint32_t **list,
                                      uint32_t *count) {
    uint32_t low = 0, high = (uint32_t)stbds_arrlenu(liveness->sample_at), end;
    gpump_basic_block block;
    gpump_program_basic_block(liveness->program, b, &block);
    end = block.first + block.count;
    while (low < high) { /* samples below `low` stand at or behind the point, samples from `high` on before it */
        uint32_t middle = low + (high - low) / 2;
        if (liveness->sample_at[middle] >= point)
            low = middle + 1;
        else
            high = middle;
    }
    if (low && liveness->sample_at[low - 1] < end) {
        *list = liveness->sample + liveness->sample_start[low - 1];
        *count = liveness->sample_start[low] - liveness->sample_start[low - 1];
        return liveness->sample_at[low - 1];
    }
    gpump_liveness_block_out(liveness, b, list, count);
    return end;
}

GPUMP_API gpump_result gpump_liveness_create(const gpump_program *program, const gpump_allocator *allocator,
                                             gpump_liveness **out) {
    gpumpi_arena arena = gpumpi_arena_make(allocator);
    gpump_liveness *liveness;
    if (!program || !out) return GPUMP_ERROR_ARGUMENT;
    if (!gpump_program_basic_blocks(program)) return GPUMP_ERROR_STATE;
    liveness = (gpump_liveness *)arena.allocator.reallocate(arena.allocator.user, NULL, 0, sizeof *liveness);
    if (!liveness) return GPUMP_ERROR_MEMORY;
    memset(liveness, 0, sizeof *liveness);
    liveness->arena = arena;
    liveness->program = program;
    liveness->words = gpump_bits_words(gpump_program_registers(program));
    if (!gpumpi_liveness_solve(liveness) || !gpumpi_liveness_control(liveness) ||
        !gpumpi_liveness_take_samples(liveness)) {
        gpump_liveness_destroy(liveness);
        return GPUMP_ERROR_MEMORY;
    }
    *out = liveness;
    return GPUMP_OK;
}

GPUMP_API void gpump_liveness_destroy(gpump_liveness *liveness) {
    gpump_allocator allocator;
    if (!liveness) return;
    allocator = liveness->arena.allocator;
    GPUMPI_ARRAY_FREE(&allocator, liveness->sample_at);
    GPUMPI_ARRAY_FREE(&allocator, liveness->sample_start);
    GPUMPI_ARRAY_FREE(&allocator, liveness->sample);
    gpumpi_arena_free(&liveness->arena);
    allocator.reallocate(allocator.user, liveness, sizeof *liveness, 0);
}

GPUMP_API uint32_t gpump_liveness_words(const gpump_liveness *liveness) { return liveness->words; }

GPUMP_API void gpump_liveness_block_in(const gpump_liveness *liveness, uint32_t b, const uint32_t **registers,
                                       uint32_t *count) {
    *registers = liveness->in + liveness->in_start[b];
    *count = liveness->in_start[b + 1] - liveness->in_start[b];
}
GPUMP_API void gpump_liveness_block_out(const gpump_liveness *liveness, uint32_t b, const uint32_t **registers,
                                        uint32_t *count) {
    *registers = liveness->out + liveness->out_start[b];
    *count = liveness->out_start[b + 1] - liveness->out_start[b];
}

/* One step upwards over an instruction. */
static void gpumpi_liveness_step(const gpump_instruction *in, uint64_t *set) {
    uint32_t k;
    for (k = 0; k < in->def_count && gpumpi_kills(in); k++)
        GPUMPI_OPERAND_REGISTERS(in->defs[k], reg, gpump_bits_clear(set, reg));
    for (k = 0; k < in->use_count; k++) GPUMPI_OPERAND_REGISTERS(in->uses[k], reg, gpump_bits_set(set, reg));
    if (in->guard != GPUMP_NONE) gpump_bits_set(set, in->guard);
}

/* Sets set[] to what is live before instruction `index`, or behind it when `behind` is 1. */
static void gpumpi_liveness_at(const gpump_liveness *liveness, uint32_t index, int behind, uint64_t *set) {
    uint32_t b = gpump_program_basic_block_of(liveness->program, index), point = index + (uint32_t)behind, i, known,
             count;
    const uint32_t *list;
    memset(set, 0, liveness->words * sizeof *set);
    known = gpumpi_liveness_known(liveness, b, point, &list, &count);
    for (i = 0; i < count; i++) gpump_bits_set(set, list[i]);
    for (i = known; i-- > point;) {
        gpump_instruction in;
        gpump_program_instruction(liveness->program, i, &in);
        gpumpi_liveness_step(&in, set);
    }
}
GPUMP_API void gpump_liveness_before(const gpump_liveness *liveness, uint32_t index, uint64_t *set) {
    gpumpi_liveness_at(liveness, index, 0, set);
}
GPUMP_API uint32_t gpumpi_liveness_list(const gpump_liveness *liveness, uint32_t index, int behind, uint32_t *stamp,
                                        uint32_t mark, uint32_t *list) {
    uint32_t b = gpump_program_basic_block_of(liveness->program, index), point = index + (uint32_t)behind, i, k, known,
             touched = 0, kept = 0, count;
    const uint32_t *live;
#define GPUMPI_TOUCH(reg, is_live)                             \
    do {                                                       \
        if ((stamp[reg] & ~1u) != mark) list[touched++] = reg; \
        stamp[reg] = mark + (is_live);                         \
    } while (0)
    known = gpumpi_liveness_known(liveness, b, point, &live, &count);
    for (i = 0; i < count; i++) GPUMPI_TOUCH(live[i], 1);
    for (i = known; i-- > point;) {
        gpump_instruction in;
        gpump_program_instruction(liveness->program, i, &in);
        for (k = 0; k < in.def_count && gpumpi_kills(&in); k++)
            GPUMPI_OPERAND_REGISTERS(in.defs[k], reg, GPUMPI_TOUCH(reg, 0));
        for (k = 0; k < in.use_count; k++) GPUMPI_OPERAND_REGISTERS(in.uses[k], reg, GPUMPI_TOUCH(reg, 1));
        if (in.guard != GPUMP_NONE) GPUMPI_TOUCH(in.guard, 1);
    }
#undef GPUMPI_TOUCH
    for (i = 0; i < touched; i++)
        if (stamp[list[i]] == mark + 1) list[kept++] = list[i];
    return kept;
}
GPUMP_API void gpump_liveness_after(const gpump_liveness *liveness, uint32_t index, uint64_t *set) {
    gpumpi_liveness_at(liveness, index, 1, set);
}

/* Room for gpumpi_liveness_find_enclosing. */
static int gpumpi_liveness_make_search(const gpump_liveness *liveness, gpumpi_arena *scratch,
                                       gpumpi_liveness_search *search) {
    uint32_t blocks = gpump_program_basic_blocks(liveness->program);
    search->mark = 0;
    return GPUMPI_ARENA_NEW(scratch, search->found, (size_t)blocks + 1) &&
           GPUMPI_ARENA_NEW(scratch, search->seen, blocks);
}

/* The blocks that end in a branch enclosing basic block b, UNIFORM ones too; returns how many stand in search->found.
 */
static uint32_t gpumpi_liveness_find_enclosing(const gpump_liveness *liveness, uint32_t b,
                                               gpumpi_liveness_search *search) {
    uint32_t i, at = 0, count = 0, *found = search->found, *seen = search->seen, mark = ++search->mark;
    for (;;) {
        for (i = liveness->control_start[b]; i < liveness->control_start[b + 1]; i++)
            if (seen[liveness->control[i]] != mark) seen[found[count++] = liveness->control[i]] = mark;
        if (at == count) return count;
        b = found[at++];
    }
}

GPUMP_API void gpumpi_liveness_control_of(const gpump_liveness *liveness, uint32_t b, const uint32_t **blocks,
                                          uint32_t *count) {
    *blocks = liveness->control + liveness->control_start[b];
    *count = liveness->control_start[b + 1] - liveness->control_start[b];
}

GPUMP_API int gpumpi_program_diverges(const gpump_program *program, uint32_t b) {
    gpump_basic_block block;
    gpump_instruction in;
    gpump_program_basic_block(program, b, &block);
    gpump_program_instruction(program, block.first + block.count - 1, &in);
    return in.operation == GPUMP_OP_BRANCH && in.guard != GPUMP_NONE && !(in.flags & GPUMP_FLAG_UNIFORM) &&
           block.successor_count > 1;
}

/* The last instruction of a block when lanes can part there, else GPUMP_NONE. */
static uint32_t gpumpi_liveness_diverges(const gpump_program *program, uint32_t b) {
    gpump_basic_block block;
    gpump_program_basic_block(program, b, &block);
    return gpumpi_program_diverges(program, b) ? block.first + block.count - 1 : GPUMP_NONE;
}

GPUMP_API gpump_result gpump_liveness_enclosing(const gpump_liveness *liveness, uint32_t index, uint32_t *branches,
                                                uint32_t capacity, uint32_t *count) {
    if (!liveness || !count || (capacity && !branches) || index >= gpump_program_instructions(liveness->program))
        return GPUMP_ERROR_ARGUMENT;
    gpumpi_arena scratch = gpumpi_arena_make(&liveness->arena.allocator);
    gpumpi_liveness_search search;
    uint32_t *found, blocks, i, k, kept = 0;
    if (!gpumpi_liveness_make_search(liveness, &scratch, &search)) {
        gpumpi_arena_free(&scratch);
        return GPUMP_ERROR_MEMORY;
    }
    found = search.found;
    blocks = gpumpi_liveness_find_enclosing(liveness, gpump_program_basic_block_of(liveness->program, index), &search);
    for (i = 0; i < blocks; i++) {
        uint32_t branch = gpumpi_liveness_diverges(liveness->program, found[i]);
        if (branch == GPUMP_NONE) continue;
        for (k = kept++; k && found[k - 1] > branch; k--)
            found[k] = found[k - 1]; /* kept <= i: the front is free to hold them, sorted */
        found[k] = branch;
    }
    *count = kept;
    if (kept <= capacity)
        for (i = 0; i < kept; i++) branches[i] = found[i];
    gpumpi_arena_free(&scratch);
    return kept <= capacity ? GPUMP_OK : GPUMP_ERROR_CAPACITY;
}

GPUMP_API int gpumpi_liveness_diverged(const gpump_liveness *liveness, uint32_t index, gpumpi_liveness_search *search,
                                       gpumpi_arena *scratch, uint64_t *set) {
    uint32_t blocks, i, k, count, *found;
    const uint32_t *list;
    if (!search->found && !gpumpi_liveness_make_search(liveness, scratch, search)) return 0;
    found = search->found;
    blocks = gpumpi_liveness_find_enclosing(liveness, gpump_program_basic_block_of(liveness->program, index), search);
    gpump_liveness_before(liveness, index, set);
    for (i = 0; i < blocks; i++) {
        gpump_basic_block block;
        if (gpumpi_liveness_diverges(liveness->program, found[i]) == GPUMP_NONE) continue;
        gpump_liveness_block_out(liveness, found[i], &list, &count);
        for (k = 0; k < count; k++) gpump_bits_set(set, list[k]);
        gpump_program_basic_block(liveness->program, found[i], &block);
        if (block.post_dominator == GPUMP_NONE) continue;
        gpump_liveness_block_in(liveness, block.post_dominator, &list, &count);
        for (k = 0; k < count; k++) gpump_bits_set(set, list[k]);
    }
    return 1;
}

GPUMP_API gpump_result gpump_liveness_diverged(const gpump_liveness *liveness, uint32_t index, uint64_t *set) {
    if (!liveness || !set || index >= gpump_program_instructions(liveness->program)) return GPUMP_ERROR_ARGUMENT;
    gpumpi_arena scratch = gpumpi_arena_make(&liveness->arena.allocator);
    gpumpi_liveness_search search = {NULL, NULL, 0};
    int ok = gpumpi_liveness_diverged(liveness, index, &search, &scratch, set);
    gpumpi_arena_free(&scratch);
    return ok ? GPUMP_OK : GPUMP_ERROR_MEMORY;
}

/* Returns 1 when `reg` is live before instruction `index`. Looks for the first instruction that reads or writes it. */
static int gpumpi_liveness_is_live(const gpump_liveness *liveness, uint32_t reg, uint32_t index) {
    uint32_t b = gpump_program_basic_block_of(liveness->program, index), i, k, known, count;
    const uint32_t *list;
    known = gpumpi_liveness_known(liveness, b, index, &list, &count);
    for (i = index; i < known; i++) {
        gpump_instruction in;
        gpump_program_instruction(liveness->program, i, &in);
        if (in.guard == reg) return 1;
        for (k = 0; k < in.use_count; k++) GPUMPI_OPERAND_REGISTERS(in.uses[k], r, if (r == reg) return 1);
        for (k = 0; k < in.def_count && gpumpi_kills(&in); k++)
            GPUMPI_OPERAND_REGISTERS(in.defs[k], r, if (r == reg) return 0);
    }
    for (i = 0; i < count; i++)
        if (list[i] == reg) return 1;
    return 0;
}

GPUMP_API void gpump_liveness_stack(const gpump_liveness *liveness, const uint32_t *pcs, uint32_t count,
                                    uint64_t *set) {
    uint32_t p, r, registers = gpump_program_registers(liveness->program), first = 0;
    while (first < count && pcs[first] >= gpump_program_instructions(liveness->program)) first++;
    if (first == count) {
        memset(set, 0, liveness->words * sizeof *set);
        return;
    }
    gpump_liveness_before(liveness, pcs[first], set);
    for (p = first + 1; p < count; p++) {
        if (pcs[p] >= gpump_program_instructions(liveness->program)) continue;
        for (r = 0; r < registers; r++)
            if (!gpump_bits_get(set, r) && gpumpi_liveness_is_live(liveness, r, pcs[p])) gpump_bits_set(set, r);
    }
}

GPUMP_API void gpump_liveness_count(const gpump_liveness *liveness, const uint64_t *set, uint32_t *registers,
                                    uint32_t *predicates) {
    uint32_t w, counts[3] = {0, 0, 0};
    for (w = 0; w < liveness->words; w++) {
        uint64_t word = set[w];
        for (; word; word &= word - 1)
            counts[gpump_program_width(liveness->program, w * 64 + gpump_bits_lowest64(word))]++;
    }
    if (registers) *registers = counts[GPUMP_WIDTH_32] + 2 * counts[GPUMP_WIDTH_64];
    if (predicates) *predicates = counts[GPUMP_WIDTH_PREDICATE];
}

GPUMP_API gpump_result gpump_liveness_pressure(const gpump_liveness *liveness, uint32_t *registers,
                                               uint32_t *predicates, uint32_t *peak_registers,
                                               uint32_t *peak_predicates) {
    if (!liveness) return GPUMP_ERROR_ARGUMENT;
    const gpump_program *program = liveness->program;
    gpumpi_arena scratch = gpumpi_arena_make(&liveness->arena.allocator);
    uint64_t *set;
    uint32_t b, i, k, peak[2] = {0, 0};
    if (!GPUMPI_ARENA_NEW(&scratch, set, liveness->words)) return GPUMP_ERROR_MEMORY;
    for (b = 0; b < gpump_program_basic_blocks(program); b++) {
        gpump_basic_block block;
        const uint32_t *list;
        uint32_t count, live[2] = {0, 0}, dead[2]; /* [0] registers, [1] predicates */
        gpump_program_basic_block(program, b, &block);
        gpump_liveness_block_out(liveness, b, &list, &count);
#define GPUMPI_WIDTH(reg) gpump_program_width(program, reg)
#define GPUMPI_ADD(counts, reg, sign)                                                  \
    (GPUMPI_WIDTH(reg) == GPUMP_WIDTH_PREDICATE ? ((counts)[1] = (counts)[1] + (sign)) \
                                                : ((counts)[0] = (counts)[0] + (sign)*GPUMPI_WIDTH(reg)))
#define GPUMPI_PEAK(more)                                                 \
    do {                                                                  \
        if (live[0] + (more)[0] > peak[0]) peak[0] = live[0] + (more)[0]; \
        if (live[1] + (more)[1] > peak[1]) peak[1] = live[1] + (more)[1]; \
    } while (0)
        for (i = 0; i < count; i++) {
            gpump_bits_set(set, list[i]);
            GPUMPI_ADD(live, list[i], 1u);
        }
        for (i = block.first + block.count; i-- > block.first;) {
            gpump_instruction in;
            gpump_program_instruction(program, i, &in);
            dead[0] = dead[1] = 0; /* a result that no instruction reads still needs a register */
            for (k = 0; k < in.def_count; k++)
                GPUMPI_OPERAND_REGISTERS(in.defs[k], reg, if (!gpump_bits_get(set, reg)) GPUMPI_ADD(dead, reg, 1u));
            GPUMPI_PEAK(dead);
            for (k = 0; k < in.def_count && gpumpi_kills(&in); k++)
                GPUMPI_OPERAND_REGISTERS(
                    in.defs[k], reg, if (gpump_bits_get(set, reg)) {
                        gpump_bits_clear(set, reg);
                        GPUMPI_ADD(live, reg, 0u - 1u);
                    });
            for (k = 0; k <= in.use_count; k++) {
                uint32_t operand = k < in.use_count ? in.uses[k] : in.guard;
                if (operand == GPUMP_NONE) continue;
                GPUMPI_OPERAND_REGISTERS(
                    operand, reg, if (!gpump_bits_get(set, reg)) {
                        gpump_bits_set(set, reg);
                        GPUMPI_ADD(live, reg, 1u);
                    });
            }
            dead[0] = dead[1] = 0;
            GPUMPI_PEAK(dead);
            if (registers) registers[i] = live[0];
            if (predicates) predicates[i] = live[1];
        }
        gpump_liveness_block_in(liveness, b, &list, &count);
        for (i = 0; i < count; i++) gpump_bits_clear(set, list[i]); /* the walk leaves the block's live-ins set */
#undef GPUMPI_WIDTH
#undef GPUMPI_ADD
#undef GPUMPI_PEAK
    }
    if (peak_registers) *peak_registers = peak[0];
    if (peak_predicates) *peak_predicates = peak[1];
    gpumpi_arena_free(&scratch);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_liveness_uninitialised(const gpump_liveness *liveness, gpump_uninitialised *out,
                                                    uint32_t capacity, uint32_t *count) {
    if (!liveness || !count || (capacity && !out)) return GPUMP_ERROR_ARGUMENT;
    const gpump_program *program = liveness->program;
    gpumpi_arena scratch = gpumpi_arena_make(&liveness->arena.allocator);
    uint32_t n, i, k, top, *stack, *seen;
    const uint32_t *list;
    gpump_liveness_block_in(liveness, 0, &list, count);
    if (*count > capacity) return GPUMP_ERROR_CAPACITY;
    if (!GPUMPI_ARENA_NEW(&scratch, stack, gpump_program_basic_blocks(program)) ||
        !GPUMPI_ARENA_NEW(&scratch, seen, gpump_program_basic_blocks(program))) {
        gpumpi_arena_free(&scratch);
        return GPUMP_ERROR_MEMORY;
    }
    for (n = 0; n < *count; n++) {
        uint32_t reg = list[n], best = GPUMP_NONE;
        seen[stack[0] = 0] = n + 1;
        for (top = 1; top;) { /* forward from the entry as long as nothing writes it */
            gpump_basic_block block;
            int killed = 0;
            gpump_program_basic_block(program, stack[--top], &block);
            for (i = block.first; i < block.first + block.count && !killed; i++) {
                gpump_instruction in;
                int reads;
                gpump_program_instruction(program, i, &in);
                reads = in.guard == reg;
                for (k = 0; k < in.use_count; k++) GPUMPI_OPERAND_REGISTERS(in.uses[k], r, reads |= r == reg);
                if (reads && i < best) best = i;
                for (k = 0; k < in.def_count && gpumpi_kills(&in); k++)
                    GPUMPI_OPERAND_REGISTERS(in.defs[k], r, killed |= r == reg);
            }
            for (i = 0; i < block.successor_count && !killed; i++)
                if (seen[block.successors[i]] != n + 1) seen[stack[top++] = block.successors[i]] = n + 1;
        }
        out[n].reg = reg;
        out[n].instruction = best;
    }
    gpumpi_arena_free(&scratch);
    return GPUMP_OK;
}
#endif

/* ---- gpump_impl/program/constants.c ---- */
/* constants (private): before allocation, parameters become constant-bank reads, and constants are set where they are
 * first needed */



#ifndef GPUMP_NO_PROGRAM

/* ---- what is known of each register before allocation ---- */

GPUMP_API int gpumpi_registers_find_facts(const gpump_program *program, gpumpi_arena *arena,
                                          gpumpi_registers_facts *facts) {
    uint32_t registers = gpump_program_registers(program), i, k, count = gpump_program_instructions(program);
    if (!GPUMPI_ARENA_NEW(arena, facts->defs, registers) || !GPUMPI_ARENA_NEW(arena, facts->def_at, registers) ||
        !GPUMPI_ARENA_NEW(arena, facts->fixed, registers) || !GPUMPI_ARENA_NEW(arena, facts->offset, registers) ||
        !GPUMPI_ARENA_NEW(arena, facts->parameter, registers))
        return 0;
    for (i = 0; i < count; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        for (k = 0; k < in.def_count; k++) {
            facts->defs[in.defs[k]]++;
            facts->def_at[in.defs[k]] = i;
        }
    }
    for (i = 0; i < count; i++) {
        gpump_instruction in;
        uint32_t reg;
        gpump_program_instruction(program, i, &in);
        if (in.def_count != 1 || in.guard != GPUMP_NONE || facts->defs[reg = in.defs[0]] != 1) continue;
        if (in.operation == GPUMP_OP_CONSTANT) facts->fixed[reg] = 1;
        if (in.operation == GPUMP_OP_MOVE &&
            in.uses[0] & GPUMP_OPERAND_PARAMETER) { /* what folding leaves of a parameter's copy */
            facts->fixed[reg] = facts->parameter[reg] = 1;
            facts->offset[reg] = in.uses[0] & GPUMP_OPERAND_INDEX;
        }
        if (in.operation == GPUMP_OP_PARAMETER && in.immediate >= 0 && in.immediate < (int64_t)GPUMP_OPERAND_INDEX) {
            facts->fixed[reg] = facts->parameter[reg] = 1;
            facts->offset[reg] = in.immediate;
        }
    }
    return 1;
}

/* Folding turns uses of parameters into constant-bank reads: at most one in each instruction that touches no memory. */
typedef struct gpumpi_registers_fold {
    const gpump_program *program;
    const gpumpi_registers_facts *facts;
    uint32_t *reads; /* uses left per register */
    int enabled;
    uint32_t folded;
} gpumpi_registers_fold;

static int gpumpi_registers_may_fold(const gpumpi_registers_fold *fold, const gpump_instruction *in) {
    return fold->enabled && !in->access && !(in->flags & GPUMP_FLAG_CONVERGENT) &&
           (in->operation == GPUMP_OP_COMPUTE || in->operation == GPUMP_OP_MOVE || in->operation == GPUMP_OP_ADD);
}
static int gpumpi_registers_rewrite_fold(void *user, uint32_t index, gpump_instruction *in, uint32_t *scratch) {
    gpumpi_registers_fold *fold = (gpumpi_registers_fold *)user;
    uint32_t k, reg;
    (void)index;
    if (in->def_count == 1 && fold->facts->fixed[reg = in->defs[0]] && !fold->reads[reg]) return 0;
    if (!gpumpi_registers_may_fold(fold, in)) return 1;
    for (k = 0; k < in->use_count && !(in->uses[k] & GPUMP_OPERAND_PARAMETER); k++) {}
    if (k < in->use_count) return 1; /* the instruction reads a parameter already */
    memcpy(scratch, in->uses, in->use_count * sizeof *scratch);
    for (k = 0; k < in->use_count; k++) {
        reg = in->uses[k];
        if (!fold->facts->parameter[reg] || gpump_program_width(fold->program, reg) == GPUMP_WIDTH_PREDICATE) continue;
        scratch[k] = (uint32_t)fold->facts->offset[reg] | GPUMP_OPERAND_PARAMETER |
                     (gpump_program_width(fold->program, reg) == GPUMP_WIDTH_64 ? GPUMP_OPERAND_PAIR : 0);
        in->uses = scratch;
        break;
    }
    return 1;
}

/* Moves of a parameter are parameters too; then counts the uses that stay. */
static int gpumpi_registers_plan_fold(gpumpi_registers_fold *fold, gpumpi_arena *arena, gpumpi_registers_facts *facts) {
    const gpump_program *program = fold->program;
    uint32_t i, k, scratch[80], count = gpump_program_instructions(program);
    uint32_t *reads;
    if (!GPUMPI_ARENA_NEW(arena, reads, gpump_program_registers(program))) return 0;
    fold->reads = reads;
    for (i = 0; i < count && fold->enabled; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (in.operation == GPUMP_OP_MOVE && in.guard == GPUMP_NONE && facts->defs[in.defs[0]] == 1 &&
            !(in.uses[0] & GPUMP_OPERAND_PARAMETER) && facts->parameter[in.uses[0]] &&
            gpump_program_dominates(program, gpump_program_basic_block_of(program, facts->def_at[in.uses[0]]),
                                    gpump_program_basic_block_of(program, i))) {
            facts->fixed[in.defs[0]] = facts->parameter[in.defs[0]] = 1;
            facts->offset[in.defs[0]] = facts->offset[in.uses[0]];
        }
    }
    for (i = 0; i < gpump_program_registers(program); i++) reads[i] = 1; /* so that counting drops no instruction */
    {
        uint32_t *left;
        if (!GPUMPI_ARENA_NEW(arena, left, gpump_program_registers(program))) return 0;
        for (i = 0; i < count; i++) {
            gpump_instruction in, before;
            gpump_program_instruction(program, i, &in);
            before = in;
            gpumpi_registers_rewrite_fold(fold, i, &in, scratch);
            for (k = 0; k < in.use_count; k++) {
                if (!(in.uses[k] & GPUMP_OPERAND_PARAMETER))
                    left[in.uses[k]]++;
                else if (in.uses[k] != before.uses[k])
                    fold->folded++;
            }
            if (in.guard != GPUMP_NONE) left[in.guard]++;
        }
        fold->reads = left;
    }
    return 1;
}

/* 1 when nothing may come between instruction i and the boundary behind it. */
GPUMP_API int gpumpi_registers_commits_with_next(const gpump_program *program, uint32_t i) {
    gpump_instruction in, next;
    gpump_program_instruction(program, i, &in);
    if (!(in.flags & (GPUMP_FLAG_ATOMIC | GPUMP_FLAG_VOLATILE | GPUMP_FLAG_FENCE)) &&
        in.operation != GPUMP_OP_BARRIER && in.operation != GPUMP_OP_BARRIER_PP)
        return 0;
    gpump_program_instruction(program, i + 1, &next); /* it exists: a program ends in a branch or exit */
    return next.operation == GPUMP_OP_BOUNDARY;
}

/* Where a fixed register's only definition should stand: just before its first use in the nearest block that dominates
 * all of its uses, taken out of loops that the definition was not in. GPUMP_NONE: leave it. */
typedef struct gpumpi_registers_sink {
    const gpump_program *program;
    const gpumpi_registers_facts *facts;
    uint32_t *target; /* register -> instruction before which it is set, or GPUMP_NONE */
} gpumpi_registers_sink;

static int gpumpi_registers_rewrite_sink(void *user, uint32_t index, gpump_instruction *in, uint32_t *scratch) {
    gpumpi_registers_sink *sink = (gpumpi_registers_sink *)user;
    (void)index;
    (void)scratch;
    return !(in->def_count == 1 && sink->target[in->defs[0]] != GPUMP_NONE);
}

static int gpumpi_registers_compare_insertions(const void *a, const void *b) {
    const gpumpi_insertion *x = (const gpumpi_insertion *)a, *y = (const gpumpi_insertion *)b;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    return x->defs[0] < y->defs[0] ? -1 : x->defs[0] > y->defs[0];
}

static int gpumpi_registers_plan_sink(gpumpi_registers_sink *sink, gpumpi_arena *arena, gpumpi_insertion **insertions,
                                      uint32_t *insertion_count) {
    const gpump_program *program = sink->program;
    uint32_t registers = gpump_program_registers(program), i, k, r, *common;
    gpumpi_insertion *list = NULL;
    const gpump_allocator *allocator = &arena->allocator;
    if (!GPUMPI_ARENA_NEW(arena, sink->target, registers) || !GPUMPI_ARENA_NEW(arena, common, registers)) return 0;
    for (r = 0; r < registers; r++) sink->target[r] = common[r] = GPUMP_NONE;
    for (i = 0; i < gpump_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_basic_block block;
        uint32_t b = gpump_program_basic_block_of(program, i);
        gpump_program_basic_block(program, b, &block);
        if (!block.reachable) continue;
        gpump_program_instruction(program, i, &in);
        for (k = 0; k <= in.use_count; k++) {
            r = k < in.use_count ? in.uses[k] : in.guard;
            if (r == GPUMP_NONE || r & GPUMP_OPERAND_PARAMETER || !sink->facts->fixed[r]) continue;
            if (common[r] == GPUMP_NONE) common[r] = b;
            while (!gpump_program_dominates(program, common[r], b)) {
                gpump_program_basic_block(program, common[r], &block);
                common[r] = block.dominator;
            }
        }
    }
    for (r = 0; r < registers; r++) {
        gpump_basic_block home, block;
        gpump_instruction in;
        uint32_t b = common[r], at;
        if (b == GPUMP_NONE || sink->facts->defs[r] != 1) continue;
        gpump_program_instruction(program, sink->facts->def_at[r], &in);
        at = gpump_program_basic_block_of(program, sink->facts->def_at[r]);
        gpump_program_basic_block(program, at, &home);
        if (!home.reachable || !gpump_program_dominates(program, at, b))
            continue; /* read before written: leave it alone */
        for (;;) {
            gpump_program_basic_block(program, b, &block);
            if (b == at || block.loop == home.loop || block.loop_depth < home.loop_depth) break;
            b = block.dominator;
        }
        if (block.loop != home.loop && b != at) continue;
        at = b == gpump_program_basic_block_of(program, sink->facts->def_at[r]) ? sink->facts->def_at[r] + 1
                                                                                : block.first;
        for (; at < block.first + block.count; at++) { /* the first reader in that block, or its end */
            gpump_instruction reader;
            int reads;
            gpump_program_instruction(program, at, &reader);
            reads = reader.guard == r || reader.operation == GPUMP_OP_BRANCH || reader.operation == GPUMP_OP_EXIT ||
                    reader.operation == GPUMP_OP_GUARDED_CALL;
            for (k = 0; k < reader.use_count; k++) reads |= reader.uses[k] == r;
            if (reads || at + 1 == block.first + block.count) break;
        }
        {
            gpump_instruction last;
            gpump_program_instruction(program, at, &last);
            /* a last instruction that neither reads it nor ends the block: set it behind */
            int reads = last.guard == r || last.operation == GPUMP_OP_BRANCH || last.operation == GPUMP_OP_EXIT ||
                        last.operation == GPUMP_OP_GUARDED_CALL;
            for (k = 0; k < last.use_count; k++) reads |= last.uses[k] == r;
            if (!reads && gpumpi_registers_commits_with_next(program, at)) continue;
            if (!GPUMPI_ARRAY_RESERVE(allocator, list, 1)) {
                GPUMPI_ARRAY_FREE(allocator, list);
                return 0;
            }
            {
                gpumpi_insertion insertion =
                    gpumpi_insertion_copy(program, sink->facts->def_at[r], reads ? at : at + 1);
                insertion.after_previous = !reads;
                if (insertion.before == sink->facts->def_at[r] + 1 || insertion.before == sink->facts->def_at[r])
                    continue; /* the definition stands there already */
                stbds_arrput(list, insertion);
            }
            sink->target[r] = at;
        }
    }
    *insertion_count = (uint32_t)stbds_arrlenu(list);
    if (!GPUMPI_ARENA_NEW(arena, *insertions, *insertion_count)) {
        GPUMPI_ARRAY_FREE(allocator, list);
        return 0;
    }
    if (*insertion_count) {
        memcpy(*insertions, list, *insertion_count * sizeof *list);
        qsort(*insertions, *insertion_count, sizeof **insertions, gpumpi_registers_compare_insertions);
    }
    GPUMPI_ARRAY_FREE(allocator, list);
    return 1;
}

/* Folds parameters, then sinks constants. Each step makes a program of its own. */
GPUMP_API gpump_result gpumpi_registers_prepare(const gpump_program *program, const gpump_registers_config *config,
                                                gpump_program **out, gpump_registers_report *report, gpump_diag *diag) {
    gpumpi_arena scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    gpumpi_registers_facts facts;
    gpumpi_registers_fold fold;
    gpumpi_edit edit;
    gpump_program *folded = NULL;
    gpump_result result = GPUMP_ERROR_MEMORY;
    memset(&edit, 0, sizeof edit);
    memset(&fold, 0, sizeof fold);
    fold.program = edit.program = program;
    fold.facts = &facts;
    fold.enabled = config->fold_parameters != 0;
    if (!gpumpi_registers_find_facts(program, &scratch, &facts) || !gpumpi_registers_plan_fold(&fold, &scratch, &facts))
        goto end;
    edit.rewrite = gpumpi_registers_rewrite_fold;
    edit.user = &fold;
    result = gpumpi_program_edit(&edit, &folded, diag);
    if (result != GPUMP_OK) goto end;
    report->folded = fold.folded;
    if (config->sink) {
        gpumpi_registers_sink sink;
        gpumpi_insertion *insertions;
        gpump_program *sunk;
        result = GPUMP_ERROR_MEMORY;
        sink.program = edit.program = folded;
        sink.facts = &facts;
        if (!gpumpi_registers_find_facts(folded, &scratch, &facts) ||
            !gpumpi_registers_plan_sink(&sink, &scratch, &insertions, &edit.insertion_count))
            goto end;
        edit.insertions = insertions;
        edit.rewrite = gpumpi_registers_rewrite_sink;
        edit.user = &sink;
        edit.origin = gpump_program_origin(folded);
        result = gpumpi_program_edit(&edit, &sunk, diag);
        if (result != GPUMP_OK) goto end;
        gpump_program_destroy(folded);
        folded = sunk;
    }
    *out = folded;
    folded = NULL;
end:
    if (result == GPUMP_ERROR_MEMORY) gpumpi_fail(diag, result, "program", 0, 0, 0, 0);
    gpump_program_destroy(folded);
    gpumpi_arena_free(&scratch);
    return result;
}
#endif

/* ---- gpump_impl/program/registers.c ---- */
/* registers: intervals with holes, first fit, spilling. constants.c has the steps that run before. */



#ifndef GPUMP_NO_PROGRAM

GPUMP_API gpump_result gpump_registers_config_preset(gpump_registers_config *config, const char *preset) {
    if (!config || !preset) return GPUMP_ERROR_ARGUMENT;
    if (strcmp(preset, "fermi") && strcmp(preset, "kepler")) return GPUMP_ERROR_UNKNOWN_NAME;
    memset(config, 0, sizeof *config);
    config->struct_size = (uint32_t)sizeof *config;
    config->registers = preset[0] == 'f' ? 63 : 255;
    config->predicates = 7;
    config->fold_parameters = config->sink = 1;
    return GPUMP_OK;
}

/* ---- intervals: where each register holds a value; position 2i is instruction i's reading, 2i + 1 its writing ---- */

typedef struct gpumpi_registers_range {
    uint32_t start, end;
} gpumpi_registers_range;
typedef struct gpumpi_registers_intervals {
    uint32_t *first;                /* register -> ranges; one more at the end */
    gpumpi_registers_range *ranges; /* ascending, apart */
    uint64_t *weight;               /* cost of spilling: reads and writes, times 8 per loop around */
} gpumpi_registers_intervals;

typedef struct gpumpi_registers_raw {
    uint32_t *reg;
    gpumpi_registers_range *range;
} gpumpi_registers_raw;

static int gpumpi_registers_push(const gpump_allocator *allocator, gpumpi_registers_raw *raw, uint32_t reg,
                                 uint32_t start, uint32_t end) {
    gpumpi_registers_range range;
    range.start = start;
    range.end = end;
    if (!GPUMPI_ARRAY_RESERVE(allocator, raw->reg, 1) || !GPUMPI_ARRAY_RESERVE(allocator, raw->range, 1)) return 0;
    stbds_arrput(raw->reg, reg);
    stbds_arrput(raw->range, range);
    return 1;
}

/* Adds the ranges of one boundary: a register that is live into a region keeps its place until the next boundary of the
 * same kind. */
static int gpumpi_registers_shadow(const gpump_program *program, const gpump_liveness *liveness, uint32_t boundary,
                                   uint32_t *stamp, uint32_t *live, uint32_t *stack, uint32_t *seen,
                                   gpumpi_registers_raw *raw) {
    const gpump_allocator *allocator = gpumpi_program_allocator(program);
    gpump_instruction start;
    uint32_t count = gpumpi_liveness_list(liveness, boundary, 1, stamp, 2 * (boundary + 1), live), top = 0, r,
             first = boundary + 1, b = gpump_program_basic_block_of(program, boundary);
    gpump_program_instruction(program, boundary, &start);
    for (;;) {
        gpump_basic_block block;
        uint32_t i, end;
        gpump_program_basic_block(program, b, &block);
        end = block.first + block.count;
        for (i = first; i < end; i++) {
            gpump_instruction in;
            gpump_program_instruction(program, i, &in);
            if (in.operation == GPUMP_OP_BOUNDARY && in.immediate <= start.immediate)
                break; /* a sparse boundary ends both kinds of region, a short one only short regions */
        }
        for (r = 0; r < count; r++)
            if (!gpumpi_registers_push(allocator, raw, live[r], 2 * first, 2 * i)) return 0;
        if (i == end)
            for (i = 0; i < block.successor_count; i++)
                if (seen[block.successors[i]] != boundary + 1) seen[stack[top++] = block.successors[i]] = boundary + 1;
        if (!top) return 1;
        b = stack[--top];
        gpump_program_basic_block(program, b, &block);
        first = block.first;
    }
}

static int gpumpi_registers_compare_ranges(const void *a, const void *b) {
    const gpumpi_registers_range *x = (const gpumpi_registers_range *)a, *y = (const gpumpi_registers_range *)b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static int gpumpi_registers_build_intervals(const gpump_program *program, const gpump_liveness *liveness,
                                            gpumpi_arena *arena, gpumpi_registers_intervals *out) {
    const gpump_allocator *allocator = &arena->allocator;
    uint32_t registers = gpump_program_registers(program), blocks = gpump_program_basic_blocks(program), b, i, k, r, n,
             *end, *stack, *seen, *next, *stamp, *live;
    gpumpi_registers_raw raw = {NULL, NULL};
    gpumpi_arena scratch = gpumpi_arena_make(allocator);
    int ok = 0;
    if (!GPUMPI_ARENA_NEW(&scratch, end, registers) || !GPUMPI_ARENA_NEW(&scratch, stack, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, seen, blocks) || !GPUMPI_ARENA_NEW(&scratch, stamp, registers) ||
        !GPUMPI_ARENA_NEW(&scratch, live, registers) || !GPUMPI_ARENA_NEW(arena, out->weight, registers) ||
        !GPUMPI_ARENA_NEW(arena, out->first, (size_t)registers + 1) || !GPUMPI_ARENA_NEW(&scratch, next, registers))
        goto end;
    for (b = 0; b < blocks; b++) { /* 0 in end[]: not live */
        gpump_basic_block block;
        const uint32_t *list;
        uint32_t count;
        uint64_t cost;
        gpump_program_basic_block(program, b, &block);
        cost = UINT64_C(1) << (3 * (block.loop_depth < 10 ? block.loop_depth : 10));
        gpump_liveness_block_out(liveness, b, &list, &count);
        for (i = 0; i < count; i++) end[list[i]] = 2 * (block.first + block.count);
        for (i = block.first + block.count; i-- > block.first;) {
            gpump_instruction in;
            gpump_program_instruction(program, i, &in);
            for (k = 0; k < in.def_count; k++) {
                r = in.defs[k];
                out->weight[r] += cost;
                if (!end[r]) {
                    if (!gpumpi_registers_push(allocator, &raw, r, 2 * i + 1, 2 * i + 2)) goto end;
                } else if (gpumpi_kills(&in)) {
                    if (!gpumpi_registers_push(allocator, &raw, r, 2 * i + 1, end[r])) goto end;
                    end[r] = 0;
                }
            }
            for (k = 0; k <= in.use_count; k++) {
                r = k < in.use_count ? in.uses[k] : in.guard;
                if (r == GPUMP_NONE || r & GPUMP_OPERAND_PARAMETER) continue;
                out->weight[r] += cost;
                if (!end[r]) end[r] = 2 * i + 1;
            }
        }
        gpump_liveness_block_in(liveness, b, &list, &count);
        for (i = 0; i < count; i++) {
            if (!gpumpi_registers_push(allocator, &raw, list[i], 2 * block.first, end[list[i]])) goto end;
            end[list[i]] = 0;
        }
    }
    for (i = 0; i < gpump_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (in.operation == GPUMP_OP_BOUNDARY &&
            !gpumpi_registers_shadow(program, liveness, i, stamp, live, stack, seen, &raw))
            goto end;
    }
    n = (uint32_t)stbds_arrlenu(raw.reg);
    if (!GPUMPI_ARENA_NEW(arena, out->ranges, n)) goto end;
    for (i = 0; i < n; i++) next[raw.reg[i]]++;
    for (r = k = 0; r < registers; r++) {
        uint32_t count = next[r];
        next[r] = k;
        k += count;
    }
    for (i = 0; i < n; i++) out->ranges[next[raw.reg[i]]++] = raw.range[i];
    for (r = k = i = 0; r < registers; r++) { /* sort, then join what touches */
        uint32_t from = i;
        i = next[r];
        qsort(out->ranges + from, i - from, sizeof *out->ranges, gpumpi_registers_compare_ranges);
        out->first[r] = k;
        for (; from < i; from++) {
            if (out->ranges[from].start == out->ranges[from].end) continue;
            if (k > out->first[r] && out->ranges[from].start <= out->ranges[k - 1].end) {
                if (out->ranges[from].end > out->ranges[k - 1].end) out->ranges[k - 1].end = out->ranges[from].end;
            } else
                out->ranges[k++] = out->ranges[from];
        }
    }
    out->first[registers] = k;
    ok = 1;
end:
    GPUMPI_ARRAY_FREE(allocator, raw.reg);
    GPUMPI_ARRAY_FREE(allocator, raw.range);
    gpumpi_arena_free(&scratch);
    return ok;
}

/* ---- placing intervals ---- */

typedef struct gpumpi_registers_file {
    uint32_t size, words;  /* registers, 64-bit words of a row */
    uint64_t *rows;        /* which positions of each are taken */
    uint32_t *head, *next; /* the intervals placed in each: head[physical], next[2 * register + half] */
} gpumpi_registers_file;

typedef struct gpumpi_registers_state {
    const gpump_program *program;
    const gpumpi_registers_intervals *intervals;
    gpumpi_registers_file file[2]; /* predicates, 32-bit registers */
    uint32_t *place;               /* register -> physical, GPUMP_NONE: not placed */
    uint32_t *hint;                /* register on the other side of a move, or GPUMP_NONE */
    uint8_t *spilled;
    uint32_t used[2], spills, first_temporary, impossible;
} gpumpi_registers_state;

/* 1 when bits start to end - 1 of a row are clear; otherwise, or with `write` 1 or 2, sets (1) or clears (2) them. */
static int gpumpi_registers_row(uint64_t *row, uint32_t start, uint32_t end, int write) {
    uint32_t w = start >> 6, last = (end - 1) >> 6;
    for (; w <= last; w++) {
        uint64_t mask = ~UINT64_C(0);
        if (w == start >> 6) mask &= ~UINT64_C(0) << (start & 63);
        if (w == last) mask &= ~UINT64_C(0) >> (63 - ((end - 1) & 63));
        if (!write && row[w] & mask) return 0;
        if (write == 1) row[w] |= mask;
        if (write == 2) row[w] &= ~mask;
    }
    return 1;
}
static int gpumpi_registers_fits(const gpumpi_registers_state *state, uint32_t reg, uint32_t physical) {
    const gpumpi_registers_file *file = &state->file[gpump_program_width(state->program, reg) != GPUMP_WIDTH_PREDICATE];
    uint32_t i;
    for (i = state->intervals->first[reg]; i < state->intervals->first[reg + 1]; i++)
        if (!gpumpi_registers_row(file->rows + (size_t)physical * file->words, state->intervals->ranges[i].start,
                                  state->intervals->ranges[i].end, 0))
            return 0;
    return 1;
}
static uint32_t gpumpi_registers_span(const gpumpi_registers_state *state, uint32_t reg) {
    return gpump_program_width(state->program, reg) == GPUMP_WIDTH_64 ? 2 : 1;
}

static void gpumpi_registers_put(gpumpi_registers_state *state, uint32_t reg, uint32_t physical) {
    uint32_t kind = gpump_program_width(state->program, reg) != GPUMP_WIDTH_PREDICATE, i, half;
    gpumpi_registers_file *file = &state->file[kind];
    for (half = 0; half < gpumpi_registers_span(state, reg); half++) {
        for (i = state->intervals->first[reg]; i < state->intervals->first[reg + 1]; i++)
            gpumpi_registers_row(file->rows + (size_t)(physical + half) * file->words,
                                 state->intervals->ranges[i].start, state->intervals->ranges[i].end, 1);
        file->next[2 * reg + half] = file->head[physical + half];
        file->head[physical + half] = 2 * reg + half;
        if (physical + half + 1 > state->used[kind]) state->used[kind] = physical + half + 1;
    }
    state->place[reg] = physical;
}
static void gpumpi_registers_take_out(gpumpi_registers_state *state, uint32_t reg) {
    gpumpi_registers_file *file = &state->file[gpump_program_width(state->program, reg) != GPUMP_WIDTH_PREDICATE];
    uint32_t i, half;
    for (half = 0; half < gpumpi_registers_span(state, reg); half++) {
        uint32_t *link = &file->head[state->place[reg] + half];
        while (*link != 2 * reg + half) link = &file->next[*link];
        *link = file->next[2 * reg + half];
        for (i = state->intervals->first[reg]; i < state->intervals->first[reg + 1]; i++)
            gpumpi_registers_row(file->rows + (size_t)(state->place[reg] + half) * file->words,
                                 state->intervals->ranges[i].start, state->intervals->ranges[i].end, 2);
    }
    state->place[reg] = GPUMP_NONE;
}

static int gpumpi_registers_overlap(const gpumpi_registers_intervals *intervals, uint32_t a, uint32_t b) {
    uint32_t i = intervals->first[a], k = intervals->first[b];
    while (i < intervals->first[a + 1] && k < intervals->first[b + 1]) {
        if (intervals->ranges[i].end <= intervals->ranges[k].start)
            i++;
        else if (intervals->ranges[k].end <= intervals->ranges[i].start)
            k++;
        else
            return 1;
    }
    return 0;
}

/* Returns the cost of spilling what stands in `physical` (and its pair) in the way of reg, or UINT64_MAX when a value
 * there cannot be spilled. With evict 1 also spills it. */
static uint64_t gpumpi_registers_evict(gpumpi_registers_state *state, uint32_t reg, uint32_t physical, int evict) {
    gpumpi_registers_file *file = &state->file[gpump_program_width(state->program, reg) != GPUMP_WIDTH_PREDICATE];
    uint64_t cost = 0;
    uint32_t half, at;
    for (half = 0; half < gpumpi_registers_span(state, reg); half++)
        for (at = file->head[physical + half]; at != GPUMP_NONE;) {
            uint32_t other = at / 2;
            at = file->next[at];
            if (!gpumpi_registers_overlap(state->intervals, reg, other)) continue;
            if (other >= state->first_temporary) return UINT64_MAX;
            if (evict) {
                gpumpi_registers_take_out(state, other);
                state->spilled[other] = 1;
                state->spills++;
            } else
                cost = gpump_add_saturated(cost, state->intervals->weight[other]);
        }
    return cost;
}

static void gpumpi_registers_place_one(gpumpi_registers_state *state, uint32_t reg) {
    uint32_t kind = gpump_program_width(state->program, reg) != GPUMP_WIDTH_PREDICATE,
             span = gpumpi_registers_span(state, reg), p, best = GPUMP_NONE;
    gpumpi_registers_file *file = &state->file[kind];
    uint64_t cheapest = UINT64_MAX, cost;
    if (state->hint[reg] != GPUMP_NONE && state->place[state->hint[reg]] != GPUMP_NONE) {
        p = state->place[state->hint[reg]];
        if (p + span <= state->used[kind] && gpumpi_registers_fits(state, reg, p) &&
            (span == 1 || gpumpi_registers_fits(state, reg, p + 1)))
            best = p;
    }
    if (span == 1 && kind)
        for (p = 0; p < state->used[1] && best == GPUMP_NONE;
             p++) /* beside a neighbour in use, which leaves whole pairs free */
            if (gpumpi_registers_fits(state, reg, p) &&
                !((p ^ 1u) < file->size && gpumpi_registers_fits(state, reg, p ^ 1u)))
                best = p;
    for (p = 0; p + span <= file->size && best == GPUMP_NONE; p += span)
        if (gpumpi_registers_fits(state, reg, p) && (span == 1 || gpumpi_registers_fits(state, reg, p + 1))) best = p;
    if (best == GPUMP_NONE) {
        for (p = 0; p + span <= file->size; p += span) {
            cost = gpumpi_registers_evict(state, reg, p, 0);
            if (cost < cheapest) {
                cheapest = cost;
                best = p;
            }
        }
        if (reg < state->first_temporary && state->intervals->weight[reg] <= cheapest) {
            state->spilled[reg] = 1;
            state->spills++;
            return;
        }
        if (best == GPUMP_NONE) {
            state->impossible = 1;
            return;
        }
        gpumpi_registers_evict(state, reg, best, 1);
    }
    gpumpi_registers_put(state, reg, best);
}

/* Places all intervals in the order given. */
static void gpumpi_registers_place(gpumpi_registers_state *state, const uint32_t *order, uint32_t count) {
    uint32_t i, kind;
    for (kind = 0; kind < 2; kind++) {
        memset(state->file[kind].rows, 0, (size_t)state->file[kind].size * state->file[kind].words * sizeof(uint64_t));
        for (i = 0; i < state->file[kind].size; i++) state->file[kind].head[i] = GPUMP_NONE;
    }
    state->used[0] = state->used[1] = state->spills = state->impossible = 0;
    for (i = 0; i < gpump_program_registers(state->program); i++) {
        state->place[i] = GPUMP_NONE;
        state->spilled[i] = 0;
    }
    for (i = 0; i < count && !state->impossible; i++) gpumpi_registers_place_one(state, order[i]);
}

typedef struct gpumpi_registers_key {
    uint32_t start, reg;
} gpumpi_registers_key;
static int gpumpi_registers_compare_keys(const void *a, const void *b) {
    const gpumpi_registers_key *x = (const gpumpi_registers_key *)a, *y = (const gpumpi_registers_key *)b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->reg < y->reg ? -1 : x->reg > y->reg;
}

/* Two orders: by first position, and the same with 64-bit intervals first; the one with fewer spills, then fewer
 * registers, stays. */
static int gpumpi_registers_place_best(gpumpi_registers_state *state, gpumpi_arena *arena) {
    uint32_t registers = gpump_program_registers(state->program), count = 0, i, n = 0, pass, wide, used, spills,
             impossible, *order[2];
    gpumpi_registers_key *keys;
    if (!GPUMPI_ARENA_NEW(arena, keys, registers) || !GPUMPI_ARENA_NEW(arena, order[0], registers) ||
        !GPUMPI_ARENA_NEW(arena, order[1], registers))
        return 0;
    for (i = 0; i < registers; i++)
        if (state->intervals->first[i] < state->intervals->first[i + 1]) {
            keys[count].start = state->intervals->ranges[state->intervals->first[i]].start;
            keys[count++].reg = i;
        }
    qsort(keys, count, sizeof *keys, gpumpi_registers_compare_keys);
    for (i = 0; i < count; i++) order[0][i] = keys[i].reg;
    for (pass = 0; pass < 2; pass++)
        for (i = 0; i < count; i++) {
            wide = gpump_program_width(state->program, keys[i].reg) == GPUMP_WIDTH_64;
            if (wide == !pass) order[1][n++] = keys[i].reg;
        }
    gpumpi_registers_place(state, order[0], count);
    used = state->used[1];
    spills = state->spills;
    impossible = state->impossible;
    gpumpi_registers_place(state, order[1], count);
    if (state->impossible > impossible ||
        (state->impossible == impossible &&
         (state->spills > spills || (state->spills == spills && state->used[1] >= used))))
        gpumpi_registers_place(state, order[0], count);
    return 1;
}

/* ---- spilling: every instruction that touches a spilled register gets a fresh one for itself ---- */

typedef struct gpumpi_registers_spill {
    const gpumpi_registers_state *state;
    const gpumpi_registers_facts *facts;
    uint32_t *start; /* instruction -> its entries; one more at the end */
    uint32_t *reg, *temporary;
} gpumpi_registers_spill;

static uint32_t gpumpi_registers_instead(const gpumpi_registers_spill *spill, uint32_t index, uint32_t operand) {
    uint32_t i;
    if (operand & GPUMP_OPERAND_PARAMETER) return operand;
    for (i = spill->start[index]; i < spill->start[index + 1]; i++)
        if (spill->reg[i] == operand) return spill->temporary[i];
    return operand;
}
static int gpumpi_registers_rewrite_spill(void *user, uint32_t index, gpump_instruction *in, uint32_t *scratch) {
    const gpumpi_registers_spill *spill = (const gpumpi_registers_spill *)user;
    uint32_t k;
    if (spill->start[index] == spill->start[index + 1]) /* a fixed one set again at its uses needs no definition here */
        return !(in->def_count == 1 && spill->state->spilled[in->defs[0]] && spill->facts->fixed[in->defs[0]]);
    for (k = 0; k < in->def_count; k++) scratch[k] = gpumpi_registers_instead(spill, index, in->defs[k]);
    for (k = 0; k < in->use_count; k++) scratch[16 + k] = gpumpi_registers_instead(spill, index, in->uses[k]);
    in->defs = scratch;
    in->uses = scratch + 16;
    if (in->guard != GPUMP_NONE) in->guard = gpumpi_registers_instead(spill, index, in->guard);
    return 1;
}

/* 1 when the instruction is guarded and its guard still holds where its result will be stored: it does not write the
 * guard itself, and no region starts in between, to which the guard would then be live. */
static int gpumpi_registers_keeps_guard(const gpump_program *program, uint32_t i, const gpump_instruction *in) {
    uint32_t k;
    if (in->guard == GPUMP_NONE || gpumpi_registers_commits_with_next(program, i)) return 0;
    for (k = 0; k < in->def_count; k++)
        if (in->defs[k] == in->guard) return 0;
    return 1;
}

/* Makes the program with spill code. */
static gpump_result gpumpi_registers_spill_round(const gpumpi_registers_state *state, const uint32_t *origin,
                                                 gpumpi_arena *arena, gpumpi_registers_facts *facts,
                                                 gpump_program **out, gpump_registers_report *report,
                                                 gpump_diag *diag) {
    const gpump_program *program = state->program;
    const gpump_allocator *allocator = &arena->allocator;
    uint32_t registers = gpump_program_registers(program), count = gpump_program_instructions(program), i, k, n, *slot,
             *widths = NULL;
    gpumpi_insertion *insertions = NULL;
    gpumpi_registers_spill spill;
    gpumpi_edit edit;
    gpump_result result = GPUMP_ERROR_MEMORY;
    memset(&spill, 0, sizeof spill);
    memset(&edit, 0, sizeof edit);
    spill.state = state;
    spill.facts = facts;
    if (!GPUMPI_ARENA_NEW(arena, slot, registers) || !GPUMPI_ARENA_NEW(arena, spill.start, (size_t)count + 1)) goto end;
    for (i = 0; i < registers; i++) {
        uint32_t width = gpump_program_width(program, i);
        if (!GPUMPI_ARRAY_PUSH(allocator, widths, width)) goto end;
        if (!state->spilled[i]) continue;
        if (facts->fixed[i]) {
            report->rematerialised++;
            continue;
        }
        report->spilled++;
        if (width == GPUMP_WIDTH_64) report->spill_bytes = (report->spill_bytes + 7u) & ~7u;
        slot[i] = report->spill_bytes;
        report->spill_bytes += width == GPUMP_WIDTH_64 ? 8 : 4;
    }
    for (i = 0; i < count; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        spill.start[i] = (uint32_t)stbds_arrlenu(spill.reg);
        if (in.def_count == 1 && facts->fixed[in.defs[0]] && state->spilled[in.defs[0]]) continue;
        for (k = 0; k < in.def_count + in.use_count + 1; k++) {
            uint32_t operand = k < in.use_count    ? in.uses[k]
                               : k == in.use_count ? in.guard
                                                   : in.defs[k - in.use_count - 1];
            gpumpi_insertion insertion = gpumpi_insertion_make(GPUMP_OP_SPILL_LOAD, i);
            if (operand == GPUMP_NONE || operand & GPUMP_OPERAND_PARAMETER || !state->spilled[operand]) continue;
            for (n = spill.start[i]; n < stbds_arrlenu(spill.reg) && spill.reg[n] != operand; n++) {}
            if (n < stbds_arrlenu(spill.reg)) continue;
            if (!GPUMPI_ARRAY_PUSH(allocator, spill.reg, operand) ||
                !GPUMPI_ARRAY_PUSH(allocator, spill.temporary, (uint32_t)stbds_arrlenu(widths)) ||
                !GPUMPI_ARRAY_PUSH(allocator, widths, gpump_program_width(program, operand)))
                goto end;
            if (k > in.use_count && gpumpi_kills(&in)) continue; /* written whole */
            if (k > in.use_count &&
                gpumpi_registers_keeps_guard(program, i, &in)) {         /* written in part: only that part is stored */
                insertion = gpumpi_insertion_make(GPUMP_OP_CONSTANT, i); /* so that the register is not live before */
                insertion.instruction.def_count = 1;
            } else if (facts->fixed[operand])
                insertion = gpumpi_insertion_copy(program, facts->def_at[operand], i);
            else {
                insertion.instruction.immediate = slot[operand];
                insertion.instruction.def_count = 1;
                report->spill_loads++;
            }
            insertion.defs[0] = spill.temporary[n];
            if (!GPUMPI_ARRAY_PUSH(allocator, insertions, insertion)) goto end;
        }
        for (k = 0; k < in.def_count; k++) {
            gpumpi_insertion insertion = gpumpi_insertion_make(GPUMP_OP_SPILL_STORE, i + 1);
            if (!state->spilled[in.defs[k]]) continue;
            for (n = 0; n < k && in.defs[n] != in.defs[k]; n++) {}
            if (n < k) continue;
            for (n = spill.start[i]; spill.reg[n] != in.defs[k]; n++) {}
            insertion.instruction.immediate = slot[in.defs[k]];
            insertion.instruction.use_count = 1;
            insertion.uses[0] = spill.temporary[n];
            for (n = 0; n < in.use_count && in.uses[n] != in.defs[k]; n++) {}
            if (n == in.use_count && gpumpi_registers_keeps_guard(program, i, &in)) {
                insertion.instruction.guard = in.guard;
                insertion.instruction.flags = in.flags & GPUMP_FLAG_GUARD_NEGATED;
                for (n = spill.start[i]; n < stbds_arrlenu(spill.reg); n++)
                    if (spill.reg[n] == in.guard) insertion.instruction.guard = spill.temporary[n];
            }
            insertion.after_previous = 1;
            if (gpumpi_registers_commits_with_next(program, i)) insertion.before++;
            report->spill_stores++;
            if (!GPUMPI_ARRAY_PUSH(allocator, insertions, insertion)) goto end;
        }
    }
    spill.start[count] = (uint32_t)stbds_arrlenu(spill.reg);
    edit.program = program;
    edit.insertions = insertions;
    edit.insertion_count = (uint32_t)stbds_arrlenu(insertions);
    edit.rewrite = gpumpi_registers_rewrite_spill;
    edit.user = &spill;
    edit.widths = widths;
    edit.registers = (uint32_t)stbds_arrlenu(widths);
    edit.origin = origin;
    result = gpumpi_program_edit(&edit, out, diag);
end:
    GPUMPI_ARRAY_FREE(allocator, widths);
    GPUMPI_ARRAY_FREE(allocator, insertions);
    GPUMPI_ARRAY_FREE(allocator, spill.reg);
    GPUMPI_ARRAY_FREE(allocator, spill.temporary);
    return result;
}

/* ---- the last step: physical names ---- */

static uint32_t gpumpi_registers_physical(const gpumpi_registers_state *state, uint32_t operand) {
    uint32_t place;
    if (operand & GPUMP_OPERAND_PARAMETER) return operand;
    place = state->place[operand] == GPUMP_NONE ? 0 : state->place[operand];
    switch (gpump_program_width(state->program, operand)) {
    case GPUMP_WIDTH_PREDICATE: return state->used[1] + place;
    case GPUMP_WIDTH_64: return place | GPUMP_OPERAND_PAIR;
    default: return place;
    }
}
static int gpumpi_registers_rewrite_names(void *user, uint32_t index, gpump_instruction *in, uint32_t *scratch) {
    const gpumpi_registers_state *state = (const gpumpi_registers_state *)user;
    uint32_t k;
    (void)index;
    for (k = 0; k < in->def_count; k++) scratch[k] = gpumpi_registers_physical(state, in->defs[k]);
    for (k = 0; k < in->use_count; k++) scratch[16 + k] = gpumpi_registers_physical(state, in->uses[k]);
    in->defs = scratch;
    in->uses = scratch + 16;
    if (in->guard != GPUMP_NONE) in->guard = gpumpi_registers_physical(state, in->guard);
    return !(in->operation == GPUMP_OP_MOVE && scratch[0] == scratch[16]);
}

/* One round on `program`: places its intervals; *next is the program with spill code, or the final one with *done = 1.
 */
static gpump_result gpumpi_registers_round(const gpump_program *program, const uint32_t *origin,
                                           const gpump_registers_config *config, uint32_t first_temporary,
                                           gpump_program **next, int *done, gpump_registers_report *report,
                                           gpump_diag *diag) {
    gpumpi_arena scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    gpump_liveness *liveness = NULL;
    gpumpi_registers_intervals intervals;
    gpumpi_registers_state state;
    gpumpi_registers_facts facts;
    uint32_t registers = gpump_program_registers(program), i, kind, peak;
    gpump_result result = gpump_liveness_create(program, gpumpi_program_allocator(program), &liveness);
    if (result != GPUMP_OK) goto end;
    memset(&state, 0, sizeof state);
    state.program = program;
    state.intervals = &intervals;
    state.first_temporary = first_temporary;
    result = GPUMP_ERROR_MEMORY;
    if (!gpumpi_registers_build_intervals(program, liveness, &scratch, &intervals) ||
        !gpumpi_registers_find_facts(program, &scratch, &facts) ||
        gpump_liveness_pressure(liveness, NULL, NULL, &peak, NULL) != GPUMP_OK)
        goto end;
    if (!report->peak) report->peak = peak;
    gpump_liveness_destroy(liveness);
    liveness = NULL;
    if (!GPUMPI_ARENA_NEW(&scratch, state.place, registers) || !GPUMPI_ARENA_NEW(&scratch, state.hint, registers) ||
        !GPUMPI_ARENA_NEW(&scratch, state.spilled, registers))
        goto end;
    for (kind = 0; kind < 2; kind++) {
        gpumpi_registers_file *file = &state.file[kind];
        file->size = kind ? config->registers : config->predicates;
        file->words = gpump_program_instructions(program) / 32 + 1;
        if (!GPUMPI_ARENA_NEW(&scratch, file->rows, (size_t)file->size * file->words) ||
            !GPUMPI_ARENA_NEW(&scratch, file->head, file->size) ||
            !GPUMPI_ARENA_NEW(&scratch, file->next, (size_t)registers * 2))
            goto end;
    }
    for (i = 0; i < registers; i++) state.hint[i] = GPUMP_NONE;
    for (i = 0; i < gpump_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (in.operation != GPUMP_OP_MOVE || in.uses[0] & GPUMP_OPERAND_PARAMETER) continue;
        state.hint[in.defs[0]] = in.uses[0];
        if (state.hint[in.uses[0]] == GPUMP_NONE) state.hint[in.uses[0]] = in.defs[0];
    }
    if (!gpumpi_registers_place_best(&state, &scratch)) goto end;
    if (state.impossible) {
        result = gpumpi_fail(diag, GPUMP_ERROR_FULL, "registers", 0, config->registers, config->registers + 1u, 1024);
    } else if (state.spills) {
        *done = 0;
        result = gpumpi_registers_spill_round(&state, origin, &scratch, &facts, next, report, diag);
    } else {
        gpumpi_edit edit;
        uint32_t *widths, before = gpump_program_instructions(program);
        if (!GPUMPI_ARENA_NEW(&scratch, widths, (size_t)state.used[0] + state.used[1])) goto end;
        for (i = 0; i < state.used[1]; i++) widths[i] = GPUMP_WIDTH_32;
        memset(&edit, 0, sizeof edit);
        edit.program = program;
        edit.rewrite = gpumpi_registers_rewrite_names;
        edit.user = &state;
        edit.widths = widths;
        edit.registers = state.used[0] + state.used[1];
        edit.origin = origin;
        result = gpumpi_program_edit(&edit, next, diag);
        if (result == GPUMP_OK) {
            *done = 1;
            report->registers = state.used[1];
            report->predicates = state.used[0];
            report->moves_removed = before - gpump_program_instructions(*next);
        }
    }
end:
    if (result == GPUMP_ERROR_MEMORY) gpumpi_fail(diag, result, "program", 0, 0, 0, 0);
    gpump_liveness_destroy(liveness);
    gpumpi_arena_free(&scratch);
    return result;
}

GPUMP_API gpump_result gpump_registers_allocate(const gpump_program *program, const gpump_registers_config *config,
                                                gpump_program **allocated, gpump_registers_report *report,
                                                gpump_diag *diag) {
    gpump_program *at = NULL, *next;
    gpump_registers_report found;
    gpump_result result;
    uint32_t i, k, first_temporary;
    int done = 0;
    if (!program || !config || !allocated) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "program", 0, 0, 1, 1);
    if (!gpump_program_basic_blocks(program)) return gpumpi_fail(diag, GPUMP_ERROR_STATE, "program", 0, 0, 1, 1);
    if (config->struct_size != sizeof *config)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "struct_size", 0, config->struct_size, sizeof *config,
                           sizeof *config);
    if (config->registers < 2 || config->registers > 1024)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "registers", 0, config->registers, 2, 1024);
    if (config->predicates < 1 || config->predicates > 64)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "predicates", 0, config->predicates, 1, 64);
    for (i = 0; i < gpump_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        for (k = 0; k < in.def_count + in.use_count; k++) {
            uint32_t operand = k < in.def_count ? in.defs[k] : in.uses[k - in.def_count];
            if (operand & GPUMP_OPERAND_PAIR && !(operand & GPUMP_OPERAND_PARAMETER))
                return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "operand", i, operand, 0, GPUMP_OPERAND_INDEX);
        }
    }
    memset(&found, 0, sizeof found);
    result = gpumpi_registers_prepare(program, config, &at, &found, diag);
    first_temporary = gpump_program_registers(program);
    while (result == GPUMP_OK && !done) {
        result =
            gpumpi_registers_round(at, gpump_program_origin(at), config, first_temporary, &next, &done, &found, diag);
        if (result != GPUMP_OK) break;
        gpump_program_destroy(at);
        at = next;
    }
    if (result != GPUMP_OK) {
        gpump_program_destroy(at);
        return result;
    }
    if (report) *report = found;
    *allocated = at;
    return GPUMP_OK;
}
#endif

/* ---- gpump_impl/program/preempt_points.c ---- */
/* preempt_points: selective preemption */



#ifndef GPUMP_NO_PROGRAM

GPUMP_API gpump_result gpump_preempt_points_config_preset(gpump_preempt_points_config *config, const char *preset) {
    if (!config || !preset) return GPUMP_ERROR_ARGUMENT;
    if (strcmp(preset, "lin")) return GPUMP_ERROR_UNKNOWN_NAME;
    memset(config, 0, sizeof *config);
    config->struct_size = (uint32_t)sizeof *config;
    config->interval = 100;
    return GPUMP_OK;
}

GPUMP_API uint32_t gpump_live_vector_count(uint64_t vector, uint32_t registers) {
    uint32_t count = gpump_bits_count64(vector & (GPUMP_LIVE_VECTOR_REST - 1));
    return vector & GPUMP_LIVE_VECTOR_REST && registers > GPUMP_LIVE_VECTOR_REGISTERS
               ? count + registers - GPUMP_LIVE_VECTOR_REGISTERS
               : count;
}

/* The points chosen so far, per instruction. */
typedef struct gpumpi_preempt_plan {
    const gpump_program *program;
    uint32_t *live;   /* 32-bit registers live before each instruction */
    uint8_t *pp;      /* 1: a pp stands before the instruction; 2: the instruction is a barrier chosen as a point */
    uint32_t *loop;   /* the innermost loop that the point is for, or GPUMP_NONE */
    uint32_t *number; /* index of the point at this barrier */
} gpumpi_preempt_plan;

static int gpumpi_preempt_is_barrier(const gpump_program *program, uint32_t i) {
    gpump_instruction in;
    gpump_program_instruction(program, i, &in);
    return in.operation == GPUMP_OP_BARRIER;
}
/* 1 when instruction i must stay right behind the instruction before it. */
static int gpumpi_preempt_is_glued(const gpump_program *program, uint32_t i) {
    gpump_instruction in;
    gpump_program_instruction(program, i, &in);
    return in.operation == GPUMP_OP_BOUNDARY || in.operation == GPUMP_OP_GUARDED_CALL;
}

/* Takes instruction i for *best when it is the better place: a barrier before any other instruction, then fewer live
 * registers, then the earlier place. */
static void gpumpi_preempt_consider(const gpumpi_preempt_plan *plan, uint32_t i, uint32_t *best, int *best_is_barrier) {
    int barrier = gpumpi_preempt_is_barrier(plan->program, i);
    if (!barrier && (*best_is_barrier || gpumpi_preempt_is_glued(plan->program, i))) return;
    if (*best != GPUMP_NONE && barrier == *best_is_barrier && plan->live[i] >= plan->live[*best]) return;
    *best = i;
    *best_is_barrier = barrier;
}

static void gpumpi_preempt_choose(gpumpi_preempt_plan *plan, uint32_t best, int barrier, uint32_t loop) {
    if (best == GPUMP_NONE) return;
    plan->pp[best] = barrier ? 2 : 1;
    plan->loop[best] = loop;
}

/* One point for each innermost loop: its blocks are visited once, all loops together. */
static int gpumpi_preempt_loops(gpumpi_preempt_plan *plan, gpumpi_arena *scratch) {
    const gpump_program *program = plan->program;
    uint32_t loops = gpump_program_loops(program), b, i, l, *best;
    int *barrier;
    if (!GPUMPI_ARENA_NEW(scratch, best, loops) || !GPUMPI_ARENA_NEW(scratch, barrier, loops)) return 0;
    for (l = 0; l < loops; l++) best[l] = GPUMP_NONE;
    for (b = 0; b < gpump_program_basic_blocks(program); b++) {
        gpump_basic_block block, header;
        gpump_loop loop;
        int always = 1;
        gpump_program_basic_block(program, b, &block);
        if (block.loop == GPUMP_NONE) continue;
        gpump_program_loop(program, block.loop, &loop);
        if (!loop.innermost) continue;
        gpump_program_basic_block(program, loop.header, &header);
        for (i = 0; i < header.predecessor_count && b != loop.header; i++) /* does every iteration pass b? */
            if (gpump_program_in_loop(program, block.loop, header.predecessors[i]))
                always &= gpump_program_dominates(program, b, header.predecessors[i]);
        for (i = block.first; i < block.first + block.count; i++)
            if (always || gpumpi_preempt_is_barrier(program, i))
                gpumpi_preempt_consider(plan, i, &best[block.loop], &barrier[block.loop]);
    }
    for (l = 0; l < loops; l++) gpumpi_preempt_choose(plan, best[l], barrier[l], l);
    return 1;
}

/* One point for each K instructions outside innermost loops. */
static void gpumpi_preempt_rest(gpumpi_preempt_plan *plan, uint32_t interval) {
    const gpump_program *program = plan->program;
    uint32_t i, seen = 0, best = GPUMP_NONE;
    int barrier = 0;
    for (i = 0; i < gpump_program_instructions(program); i++) {
        gpump_basic_block block;
        gpump_program_basic_block(program, gpump_program_basic_block_of(program, i), &block);
        if (!block.reachable) continue;
        if (block.loop != GPUMP_NONE) {
            gpump_loop loop;
            gpump_program_loop(program, block.loop, &loop);
            if (loop.innermost) continue;
        }
        gpumpi_preempt_consider(plan, i, &best, &barrier);
        if (++seen < interval) continue;
        gpumpi_preempt_choose(plan, best, barrier, GPUMP_NONE);
        best = GPUMP_NONE;
        seen = 0;
        barrier = 0;
    }
}

/* A live set as the instruction word has it: registers in vector and count, predicates apart. */
static void gpumpi_preempt_vector(const gpump_program *program, const uint64_t *set, uint64_t *vector,
                                  uint64_t *predicates, uint32_t *count) {
    uint32_t r, first = 0, registers = gpump_program_registers(program);
    *vector = *predicates = 0;
    *count = 0;
    while (first < registers && gpump_program_width(program, first) == GPUMP_WIDTH_32) first++;
    for (r = 0; r < registers; r++) {
        if (!gpump_bits_get(set, r)) continue;
        if (r >= first) {
            *predicates |= UINT64_C(1) << (r - first);
            continue;
        }
        ++*count;
        *vector |= UINT64_C(1) << (r < GPUMP_LIVE_VECTOR_REGISTERS ? r : GPUMP_LIVE_VECTOR_REGISTERS);
    }
}

static int gpumpi_preempt_rewrite(void *user, uint32_t index, gpump_instruction *in, uint32_t *scratch) {
    const gpumpi_preempt_plan *plan = (const gpumpi_preempt_plan *)user;
    (void)scratch;
    if (in->operation == GPUMP_OP_BARRIER) {
        in->operation = GPUMP_OP_BARRIER_PP;
        in->immediate = plan->number[index];
    }
    return 1;
}

/* Registers must be 32-bit ones first, then predicates. */
static gpump_result gpumpi_preempt_check(const gpump_program *program, gpump_diag *diag) {
    uint32_t r, first = 0, registers = gpump_program_registers(program), i;
    while (first < registers && gpump_program_width(program, first) == GPUMP_WIDTH_32) first++;
    for (r = first; r < registers; r++)
        if (gpump_program_width(program, r) != GPUMP_WIDTH_PREDICATE || r - first >= 64)
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "registers", r, gpump_program_width(program, r), 0, 0);
    for (i = 0; i < gpump_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (in.operation == GPUMP_OP_PP || in.operation == GPUMP_OP_BARRIER_PP)
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "operation", i, in.operation, 0, GPUMP_OP_BARRIER);
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_preempt_points_place(const gpump_program *program,
                                                  const gpump_preempt_points_config *config, gpump_program **placed,
                                                  gpump_preempt_point *points, uint32_t capacity, uint32_t *count,
                                                  gpump_diag *diag) {
    gpumpi_arena scratch;
    gpumpi_preempt_plan plan;
    gpumpi_insertion *insertions;
    gpump_preempt_point *list;
    gpump_liveness *liveness = NULL;
    gpumpi_edit edit;
    uint64_t *set;
    uint32_t i, n, at, instructions = gpump_program_instructions(program);
    gpumpi_liveness_search search = {NULL, NULL, 0};
    gpump_result result;
    if (!program || !config || !placed || !count || (!points && capacity))
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "program", 0, 0, 1, 1);
    if (!gpump_program_basic_blocks(program)) return gpumpi_fail(diag, GPUMP_ERROR_STATE, "program", 0, 0, 1, 1);
    if (config->struct_size != sizeof *config)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "struct_size", 0, config->struct_size, sizeof *config,
                           sizeof *config);
    if (!config->interval) return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "interval", 0, 0, 1, UINT32_MAX);
    result = gpumpi_preempt_check(program, diag);
    if (result != GPUMP_OK) return result;
    scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    result = gpump_liveness_create(program, gpumpi_program_allocator(program), &liveness);
    if (result != GPUMP_OK) goto end;
    result = GPUMP_ERROR_MEMORY;
    plan.program = program;
    if (!GPUMPI_ARENA_NEW(&scratch, plan.live, instructions) || !GPUMPI_ARENA_NEW(&scratch, plan.pp, instructions) ||
        !GPUMPI_ARENA_NEW(&scratch, plan.loop, instructions) ||
        !GPUMPI_ARENA_NEW(&scratch, plan.number, instructions) ||
        !GPUMPI_ARENA_NEW(&scratch, set, gpump_liveness_words(liveness)) ||
        gpump_liveness_pressure(liveness, plan.live, NULL, NULL, NULL) != GPUMP_OK ||
        !gpumpi_preempt_loops(&plan, &scratch))
        goto end;
    gpumpi_preempt_rest(&plan, config->interval);
    for (i = n = at = 0; i < instructions; i++) {
        at += plan.pp[i] == 1;
        n += plan.pp[i] == 1 || gpumpi_preempt_is_barrier(program, i);
    }
    if (n > capacity) {
        *count = n;
        result = gpumpi_fail(diag, GPUMP_ERROR_CAPACITY, "points", 0, capacity, n, UINT32_MAX);
        goto end;
    }
    if (!GPUMPI_ARENA_NEW(&scratch, list, n) || !GPUMPI_ARENA_NEW(&scratch, insertions, (size_t)at * 2)) goto end;
    for (i = n = at = 0; i < instructions; i++) {
        gpump_preempt_point *point = &list[n];
        int barrier = gpumpi_preempt_is_barrier(program, i);
        if (plan.pp[i] != 1 && !barrier) continue;
        point->kind = barrier ? plan.pp[i] == 2 ? GPUMP_PREEMPT_BARRIER : GPUMP_PREEMPT_BARRIER_WAIT : GPUMP_PREEMPT_PP;
        point->loop = plan.pp[i] ? plan.loop[i] : (uint32_t)GPUMP_NONE;
        gpump_liveness_before(liveness, i, set);
        gpumpi_preempt_vector(program, set, &point->vector, &point->predicates, &point->live_registers);
        if (!barrier && !gpumpi_liveness_diverged(liveness, i, &search, &scratch, set)) goto end;
        gpumpi_preempt_vector(program, set, &point->vector_diverged, &point->predicates_diverged,
                              &point->live_diverged);
        if (barrier)
            plan.number[i] = n;
        else {
            insertions[at] = gpumpi_insertion_make(GPUMP_OP_PP, i);
            insertions[at++].instruction.immediate = n;
            insertions[at] = gpumpi_insertion_make(GPUMP_OP_PP_DIVERGED, i);
            insertions[at++].instruction.immediate = n;
        }
        n++;
    }
    memset(&edit, 0, sizeof edit);
    edit.program = program;
    edit.insertions = insertions;
    edit.insertion_count = at;
    edit.rewrite = gpumpi_preempt_rewrite;
    edit.user = &plan;
    result = gpumpi_program_edit(&edit, placed, diag);
    if (result != GPUMP_OK) goto end;
    for (i = 0; i < gpump_program_instructions(*placed); i++) {
        gpump_instruction in;
        gpump_program_instruction(*placed, i, &in);
        if (in.operation == GPUMP_OP_PP || in.operation == GPUMP_OP_BARRIER_PP) list[in.immediate].instruction = i;
    }
    if (n) memcpy(points, list, n * sizeof *points);
    *count = n;
end:
    if (result == GPUMP_ERROR_MEMORY) gpumpi_fail(diag, result, "program", 0, 0, 0, 0);
    gpump_liveness_destroy(liveness);
    gpumpi_arena_free(&scratch);
    return result;
}
#endif

/* ---- gpump_impl/program/clobbers.c ---- */
/* clobbers: finds reads that would get another value in re-execution */


#include <string.h>


#ifndef GPUMP_NO_PROGRAM

GPUMP_API int gpumpi_memory_writes(const gpump_instruction *in) {
    return in->operation == GPUMP_OP_SPILL_STORE ||
           (in->operation != GPUMP_OP_CHECK && in->access & GPUMP_ACCESS_WRITE);
}
GPUMP_API int gpumpi_memory_reads(const gpump_instruction *in) {
    return in->operation == GPUMP_OP_SPILL_LOAD || (in->operation != GPUMP_OP_CHECK && in->access & GPUMP_ACCESS_READ);
}
GPUMP_API int gpumpi_memory_ends_region(const gpumpi_memory *memory, uint32_t i, const gpump_instruction *in) {
    return in->flags & (GPUMP_FLAG_ATOMIC | GPUMP_FLAG_VOLATILE) && memory->start[i + 1];
}
static uint32_t gpumpi_memory_spill_bytes(const gpump_program *program, const gpump_instruction *in) {
    uint32_t operand = in->def_count ? in->defs[0] : in->uses[0];
    return operand & GPUMP_OPERAND_PAIR || gpump_program_width(program, operand & GPUMP_OPERAND_INDEX) == GPUMP_WIDTH_64
               ? 8
               : 4;
}
/* 1 when b may overwrite what a has read. Only spill loads and stores reach the spill area. */
static int gpumpi_memory_may_alias(const gpumpi_memory *memory, uint32_t a, uint32_t b) {
    gpump_instruction x, y;
    int spill_x, spill_y;
    gpump_program_instruction(memory->program, a, &x);
    gpump_program_instruction(memory->program, b, &y);
    spill_x = x.operation == GPUMP_OP_SPILL_LOAD || x.operation == GPUMP_OP_SPILL_STORE;
    spill_y = y.operation == GPUMP_OP_SPILL_LOAD || y.operation == GPUMP_OP_SPILL_STORE;
    if (spill_x != spill_y) return 0;
    if (!spill_x)
        return gpump_program_may_alias(memory->program, a, b, memory->unit) &&
               (!memory->may_clobber || memory->may_clobber(memory->user, memory->origin[a], memory->origin[b]));
    return x.immediate < y.immediate + (int64_t)gpumpi_memory_spill_bytes(memory->program, &y) &&
           y.immediate < x.immediate + (int64_t)gpumpi_memory_spill_bytes(memory->program, &x);
}

GPUMP_API void gpumpi_boundary_starts(const gpump_program *program, uint32_t level, uint8_t *start) {
    uint32_t i;
    for (i = 0; i < gpump_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        start[i] = in.operation == GPUMP_OP_BOUNDARY && in.immediate <= (int64_t)level;
    }
}

/* ---- the order in which a warp's instructions can follow each other ---- */

typedef struct gpumpi_memory_edges {
    uint32_t *from, *to;
} gpumpi_memory_edges;
static int gpumpi_memory_edge(const gpump_allocator *allocator, gpumpi_memory_edges *edges, uint32_t from,
                              uint32_t to) {
    if (!GPUMPI_ARRAY_RESERVE(allocator, edges->from, 1) || !GPUMPI_ARRAY_RESERVE(allocator, edges->to, 1)) return 0;
    stbds_arrput(edges->from, from);
    stbds_arrput(edges->to, to);
    return 1;
}

/* Adds the edges from one side of a divergent branch to the other. Lanes that took `side` run until they reach `meet`
 * or end. Then the lanes of the other side start. */
static int gpumpi_memory_side(gpumpi_memory *memory, uint32_t side, uint32_t meet, uint32_t other, uint32_t mark,
                              const gpump_allocator *allocator, gpumpi_memory_edges *edges) {
    uint32_t top = 0, i;
    memory->seen[memory->stack[top++] = side] = mark;
    while (top) {
        uint32_t b = memory->stack[--top];
        gpump_basic_block block;
        gpump_instruction last;
        int ends;
        gpump_program_basic_block(memory->program, b, &block);
        gpump_program_instruction(memory->program, block.first + block.count - 1, &last);
        ends = last.operation == GPUMP_OP_EXIT;
        for (i = 0; i < block.successor_count; i++) {
            uint32_t to = block.successors[i];
            if (to == meet)
                ends = 1;
            else if (memory->seen[to] != mark)
                memory->seen[memory->stack[top++] = to] = mark;
        }
        if (ends && !gpumpi_memory_edge(allocator, edges, b, other)) return 0;
    }
    return 1;
}

static int gpumpi_memory_build_graph(gpumpi_arena *arena, gpumpi_memory *memory) {
    const gpump_program *program = memory->program;
    uint32_t blocks = memory->blocks, b, i, mark = 0;
    gpumpi_memory_edges edges = {NULL, NULL};
    int ok = 1;
    for (b = 0; b < blocks && ok; b++) {
        gpump_basic_block block;
        gpump_program_basic_block(program, b, &block);
        for (i = 0; i < block.successor_count && ok; i++)
            ok = gpumpi_memory_edge(&arena->allocator, &edges, b, block.successors[i]);
        if (!ok || memory->unit == GPUMP_UNIT_THREAD || !gpumpi_program_diverges(program, b) ||
            block.successors[0] == block.post_dominator || block.successors[1] == block.post_dominator)
            continue;
        for (i = 0; i < 2 && ok; i++)
            ok = gpumpi_memory_side(memory, block.successors[i], block.post_dominator, block.successors[!i], ++mark,
                                    &arena->allocator, &edges);
    }
    ok = ok && gpumpi_graph_build(arena, &memory->graph, blocks, edges.from, edges.to, stbds_arrlenu(edges.from));
    GPUMPI_ARRAY_FREE(&arena->allocator, edges.from);
    GPUMPI_ARRAY_FREE(&arena->allocator, edges.to);
    memset(memory->seen, 0, blocks * sizeof *memory->seen);
    return ok;
}

/* ---- exactly known places ---- */

typedef struct gpumpi_memory_place {
    uint32_t spill, object, address, value, bytes, slot;
    int64_t offset;
} gpumpi_memory_place;
static int gpumpi_memory_place_of(const gpump_program *program, const gpump_instruction *in,
                                  gpumpi_memory_place *place) {
    memset(place, 0, sizeof *place);
    place->slot = GPUMP_NONE;
    if (in->operation == GPUMP_OP_SPILL_LOAD || in->operation == GPUMP_OP_SPILL_STORE) {
        place->spill = 1;
        place->offset = in->immediate;
        place->bytes = gpumpi_memory_spill_bytes(program, in);
        return 1;
    }
    if (!in->access || in->object == GPUMP_NONE || in->address == GPUMP_ADDRESS_ANYWHERE ||
        in->operation == GPUMP_OP_CHECK)
        return 0;
    place->object = in->object;
    place->address = in->address;
    place->value = in->address == GPUMP_ADDRESS_VALUE ? in->value : 0;
    place->offset = in->offset;
    place->bytes = in->bytes;
    return 1;
}
static int gpumpi_memory_compare_places(const void *a, const void *b) {
    const gpumpi_memory_place *x = (const gpumpi_memory_place *)a, *y = (const gpumpi_memory_place *)b;
    if (x->spill != y->spill) return x->spill < y->spill ? -1 : 1;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Numbers the places that some unguarded store writes exactly and some read reads exactly. */
static int gpumpi_memory_number_places(gpumpi_arena *arena, gpumpi_memory *memory) {
    const gpump_program *program = memory->program;
    uint32_t count = gpump_program_instructions(program), i, n = 0, k;
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    gpumpi_memory_place *places, place;
    if (!GPUMPI_ARENA_NEW(arena, memory->slot, count) || !GPUMPI_ARENA_NEW(&scratch, places, count)) {
        gpumpi_arena_free(&scratch);
        return 0;
    }
    for (i = 0; i < count; i++) {
        gpump_instruction in;
        memory->slot[i] = GPUMP_NONE;
        gpump_program_instruction(program, i, &in);
        if (gpumpi_memory_writes(&in) && in.guard == GPUMP_NONE && gpumpi_memory_place_of(program, &in, &place))
            places[n++] = place;
    }
    qsort(places, n, sizeof *places, gpumpi_memory_compare_places);
    for (i = k = 0; i < n; i++)
        if (!k || gpumpi_memory_compare_places(&places[i], &places[k - 1])) places[k++] = places[i];
    memory->slots = k;
    for (i = 0; i < k; i++) places[i].slot = i;
    for (i = 0; i < count && k; i++) {
        gpump_instruction in;
        const gpumpi_memory_place *found;
        gpump_program_instruction(program, i, &in);
        if ((!gpumpi_memory_writes(&in) && !gpumpi_memory_reads(&in)) || !gpumpi_memory_place_of(program, &in, &place))
            continue;
        found = (const gpumpi_memory_place *)bsearch(&place, places, k, sizeof *places, gpumpi_memory_compare_places);
        if (found) memory->slot[i] = found->slot;
    }
    gpumpi_arena_free(&scratch);
    return 1;
}

static int gpumpi_memory_compare_classes(const void *a, const void *b) {
    const uint32_t *x = (const uint32_t *)a, *y = (const uint32_t *)b;
    return *x < *y ? -1 : *x > *y;
}

/* Finds kind[]. Most writes go to objects that no instruction reads, so the search for their reads can be left out. */
static int gpumpi_memory_find_kinds(gpumpi_arena *arena, gpumpi_memory *memory) {
    const gpump_program *program = memory->program;
    uint32_t count = gpump_program_instructions(program), objects = gpump_program_objects(program), i, classes = 0,
             *class_read;
    uint8_t *is_read, anywhere = 0, spills = 0;
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    gpump_instruction in;
    if (!GPUMPI_ARENA_NEW(arena, memory->kind, count) || !GPUMPI_ARENA_NEW(&scratch, is_read, objects) ||
        !GPUMPI_ARENA_NEW(&scratch, class_read, objects)) {
        gpumpi_arena_free(&scratch);
        return 0;
    }
    for (i = 0; i < count; i++) {
        gpump_program_instruction(program, i, &in);
        if (!gpumpi_memory_reads(&in)) continue;
        memory->kind[i] = GPUMPI_MEMORY_READS;
        if (in.operation == GPUMP_OP_SPILL_LOAD)
            spills = 1;
        else if (in.object == GPUMP_NONE)
            anywhere = 1;
        else
            is_read[in.object] = 1;
    }
    for (i = 0; i < objects; i++)
        if (is_read[i]) class_read[classes++] = gpump_program_object(program, i).alias_class;
    qsort(class_read, classes, sizeof *class_read, gpumpi_memory_compare_classes);
    for (i = 0; i < count; i++) {
        int meets = anywhere;
        gpump_program_instruction(program, i, &in);
        if (!gpumpi_memory_writes(&in)) continue;
        if (in.operation == GPUMP_OP_SPILL_STORE)
            meets = spills;
        else if (in.object == GPUMP_NONE)
            meets = anywhere || classes;
        else {
            uint32_t alias_class = gpump_program_object(program, in.object).alias_class;
            meets |= is_read[in.object] ||
                     (alias_class != GPUMP_NONE && bsearch(&alias_class, class_read, classes, sizeof *class_read,
                                                           gpumpi_memory_compare_classes) != NULL);
        }
        if (meets) memory->kind[i] |= GPUMPI_MEMORY_MEETS_READ;
    }
    gpumpi_arena_free(&scratch);
    return 1;
}

GPUMP_API int gpumpi_memory_make(gpumpi_arena *arena, const gpump_program *program, uint32_t unit,
                                 gpumpi_memory *memory) {
    uint32_t count = gpump_program_instructions(program), blocks = gpump_program_basic_blocks(program), i, k, reached,
             *preorder, *number, *parent;
    gpumpi_graph flow;
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    uint32_t *from, *to, edges = 0;
    int ok = 0;
    memset(memory, 0, sizeof *memory);
    memory->program = program;
    memory->unit = unit;
    memory->blocks = blocks;
    if (!GPUMPI_ARENA_NEW(arena, memory->start, (size_t)count + 1) ||
        !GPUMPI_ARENA_NEW(arena, memory->is_protected, count) ||
        !GPUMPI_ARENA_NEW(arena, memory->stack, (size_t)blocks + 1) || !GPUMPI_ARENA_NEW(arena, memory->seen, blocks) ||
        !GPUMPI_ARENA_NEW(arena, memory->order, blocks) || !GPUMPI_ARENA_NEW(&scratch, preorder, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, number, blocks) || !GPUMPI_ARENA_NEW(&scratch, parent, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, from, (size_t)blocks * 2) || !GPUMPI_ARENA_NEW(&scratch, to, (size_t)blocks * 2))
        goto end;
    for (i = 0; i < blocks; i++) {
        gpump_basic_block block;
        gpump_program_basic_block(program, i, &block);
        for (k = 0; k < block.successor_count; k++) {
            from[edges] = i;
            to[edges++] = block.successors[k];
        }
    }
    if (!gpumpi_graph_build(&scratch, &flow, blocks, from, to, edges)) goto end;
    reached = gpumpi_graph_search(&scratch, &flow, 0, preorder, memory->order, number, parent);
    if (reached == GPUMP_NONE) goto end;
    for (i = 0; i < reached / 2; i++) {
        k = memory->order[i];
        memory->order[i] = memory->order[reached - 1 - i];
        memory->order[reached - 1 - i] = k;
    }
    ok = gpumpi_memory_build_graph(arena, memory) && gpumpi_memory_number_places(arena, memory) &&
         gpumpi_memory_find_kinds(arena, memory);
    memory->blocks = reached; /* as many as order[] has */
end:
    gpumpi_arena_free(&scratch);
    return ok;
}

GPUMP_API int gpumpi_memory_protect(gpumpi_arena *arena, gpumpi_memory *memory) {
    const gpump_program *program = memory->program;
    uint32_t words = gpump_bits_words(memory->slots), blocks = gpump_program_basic_blocks(program), k, n, i, w;
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    uint64_t *out, *set; /* out: what is surely written at the end of each block; all ones until it was visited */
    int changed = 1, last = 0;
    memset(memory->is_protected, 0, gpump_program_instructions(program));
    if (!memory->slots) return 1;
    if (!GPUMPI_ARENA_NEW(&scratch, out, (size_t)blocks * words) || !GPUMPI_ARENA_NEW(&scratch, set, words)) {
        gpumpi_arena_free(&scratch);
        return 0;
    }
    memset(out, 0xff, (size_t)blocks * words * sizeof *out);
    while (changed || !last) {
        last = !changed; /* one more round with the final sets marks the reads */
        changed = 0;
        for (n = 0; n < memory->blocks; n++) {
            uint32_t b = memory->order[n];
            gpump_basic_block block;
            gpump_program_basic_block(program, b, &block);
            memset(set, b ? 0xff : 0, words * sizeof *set);
            for (k = 0; k < block.predecessor_count && b; k++)
                for (w = 0; w < words; w++) set[w] &= out[(size_t)block.predecessors[k] * words + w];
            for (i = block.first; i < block.first + block.count; i++) {
                gpump_instruction in;
                if (memory->start[i]) memset(set, 0, words * sizeof *set);
                if (memory->slot[i] == GPUMP_NONE) continue;
                gpump_program_instruction(program, i, &in);
                if (last && gpumpi_memory_reads(&in))
                    memory->is_protected[i] = (uint8_t)gpump_bits_get(set, memory->slot[i]);
                if (gpumpi_memory_writes(&in) && in.guard == GPUMP_NONE) gpump_bits_set(set, memory->slot[i]);
            }
            if (memcmp(out + (size_t)b * words, set, words * sizeof *set)) {
                memcpy(out + (size_t)b * words, set, words * sizeof *set);
                changed = 1;
            }
        }
    }
    gpumpi_arena_free(&scratch);
    return 1;
}

/* Walks up in block b from position `at`. 1: the way on leads to the predecessors; 0: it ended at a region's start or
 * at a read; -1: out of memory. */
static int gpumpi_memory_scan(gpumpi_memory *memory, uint32_t b, uint32_t at, uint32_t write,
                              const gpump_allocator *allocator, uint32_t **reads) {
    gpump_basic_block block;
    gpump_program_basic_block(memory->program, b, &block);
    for (;;) {
        if (at < block.first + block.count && memory->start[at]) return 0;
        if (at-- == block.first) return 1;
        if (memory->kind[at] & GPUMPI_MEMORY_READS && !memory->is_protected[at] &&
            gpumpi_memory_may_alias(memory, at, write))
            return GPUMPI_ARRAY_PUSH(allocator, *reads, at) ? 0 : -1;
    }
}

GPUMP_API int gpumpi_memory_walk(gpumpi_memory *memory, uint32_t write, uint32_t mark, const gpump_allocator *allocator,
                                 uint32_t **reads) {
    uint32_t top = 0, b = gpump_program_basic_block_of(memory->program, write), at = write, e;
    gpump_instruction in;
    int own; /* only the thread itself reaches the place: other lanes do not matter */
    if (!(memory->kind[write] & GPUMPI_MEMORY_MEETS_READ)) return 1;
    gpump_program_instruction(memory->program, write, &in);
    own = in.operation == GPUMP_OP_SPILL_STORE || in.space == GPUMP_SPACE_LOCAL;
    for (;;) {
        gpump_basic_block block;
        const uint32_t *from;
        uint32_t count;
        int open = gpumpi_memory_scan(memory, b, at, write, allocator, reads);
        if (open < 0) return 0;
        gpump_program_basic_block(memory->program, b, &block);
        from = own ? block.predecessors : memory->graph.pred + memory->graph.pred_start[b];
        count = own ? block.predecessor_count : memory->graph.pred_start[b + 1] - memory->graph.pred_start[b];
        for (e = 0; open && e < count; e++)
            if (memory->seen[from[e]] != mark) memory->seen[memory->stack[top++] = from[e]] = mark;
        if (!top) return 1;
        b = memory->stack[--top];
        gpump_program_basic_block(memory->program, b, &block);
        at = block.first + block.count;
    }
}

/* ---- registers ---- */

/* What the walk through one region knows at the start of each block: the live-ins that some path has not written yet,
 * and which of them have been read. */
typedef struct gpumpi_clobbers_region {
    const gpump_program *program;
    const uint8_t *start;
    uint32_t count, words;     /* live-ins, words of a set of them */
    uint32_t *local;           /* register -> its number among them, GPUMP_NONE */
    uint32_t *where, *visited; /* block -> its place in pool (where visited says this region) */
    uint64_t *pool, *now;      /* sets: unwritten, read; two per block */
    uint8_t *reported;
} gpumpi_clobbers_region;

/* Runs block b from instruction `at`. 1: it goes on to the successors with region->now; 0: it ends; -1: out of memory.
 */
static int gpumpi_clobbers_run(gpumpi_clobbers_region *region, uint32_t b, uint32_t at, uint32_t start,
                               const gpump_allocator *allocator, gpumpi_register_clobber **list) {
    uint64_t *unwritten = region->now, *read = region->now + region->words;
    gpump_basic_block block;
    uint32_t i, k, w;
    gpump_program_basic_block(region->program, b, &block);
    for (i = at; i < block.first + block.count; i++) {
        gpump_instruction in;
        if (region->start[i] && i != at) return 0;
        gpump_program_instruction(region->program, i, &in);
        for (k = 0; k <= in.use_count; k++) {
            uint32_t operand = k < in.use_count ? in.uses[k] : in.guard;
            if (operand == GPUMP_NONE) continue;
            GPUMPI_OPERAND_REGISTERS(operand, reg, {
                uint32_t n = region->local[reg];
                if (n != GPUMP_NONE && gpump_bits_get(unwritten, n)) gpump_bits_set(read, n);
            });
        }
        for (k = 0; k < in.def_count; k++) {
            int ok = 1;
            GPUMPI_OPERAND_REGISTERS(in.defs[k], reg, {
                uint32_t n = region->local[reg];
                if (n != GPUMP_NONE) {
                    if (gpump_bits_get(read, n) && !region->reported[n]) {
                        gpumpi_register_clobber found;
                        found.start = start;
                        found.reg = reg;
                        found.write = i;
                        region->reported[n] = 1;
                        ok = ok && GPUMPI_ARRAY_PUSH(allocator, *list, found);
                    }
                    if (gpumpi_kills(&in)) gpump_bits_clear(unwritten, n);
                }
            });
            if (!ok) return -1;
        }
    }
    for (w = 0; w < 2 * region->words; w++)
        if (region->now[w]) return 1;
    return 0;
}

/* Follows one region from its start to the next boundaries, until the sets of its blocks no longer change. */
static int gpumpi_clobbers_follow(gpumpi_clobbers_region *region, uint32_t start, uint32_t *stack, uint32_t *queued,
                                  uint32_t mark, const gpump_allocator *allocator, gpumpi_register_clobber **list) {
    uint32_t b = gpump_program_basic_block_of(region->program, start), at = start, top = 0, k, w,
             sets = 2 * region->words;
    for (;;) {
        gpump_basic_block block;
        int goes_on = gpumpi_clobbers_run(region, b, at, start, allocator, list);
        if (goes_on < 0) return 0;
        gpump_program_basic_block(region->program, b, &block);
        for (k = 0; k < block.successor_count && goes_on; k++) {
            uint32_t to = block.successors[k];
            int fresh = 0;
            gpump_basic_block next;
            gpump_program_basic_block(region->program, to, &next);
            if (region->start[next.first]) continue;
            if (region->visited[to] != mark) {
                region->visited[to] = mark;
                region->where[to] = (uint32_t)(stbds_arrlenu(region->pool) / sets);
                if (!GPUMPI_ARRAY_RESERVE(allocator, region->pool, sets)) return 0;
                for (w = 0; w < sets; w++) stbds_arrput(region->pool, 0);
                fresh = 1;
            }
            for (w = 0; w < sets; w++) {
                uint64_t *old = &region->pool[(size_t)region->where[to] * sets + w];
                fresh |= (region->now[w] & ~*old) != 0;
                *old |= region->now[w];
            }
            if (fresh && queued[to] != mark) queued[stack[top++] = to] = mark;
        }
        if (!top) return 1;
        b = stack[--top];
        queued[b] = 0;
        gpump_program_basic_block(region->program, b, &block);
        at = block.first;
        memcpy(region->now, region->pool + (size_t)region->where[b] * sets, sets * sizeof *region->now);
    }
}

GPUMP_API int gpumpi_register_clobbers(gpumpi_arena *arena, const gpump_program *program,
                                       const gpump_liveness *liveness, const uint8_t *start,
                                       const gpump_allocator *allocator, gpumpi_register_clobber **list) {
    uint32_t registers = gpump_program_registers(program), blocks = gpump_program_basic_blocks(program), i, w, mark = 0,
             *stack, *queued, *live, *stamp;
    gpumpi_arena scratch = gpumpi_arena_make(&arena->allocator);
    gpumpi_clobbers_region region;
    int ok = 0;
    memset(&region, 0, sizeof region);
    region.program = program;
    region.start = start;
    if (!GPUMPI_ARENA_NEW(&scratch, region.local, registers) || !GPUMPI_ARENA_NEW(&scratch, region.where, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, region.visited, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, region.now, 2 * ((size_t)gpump_bits_words(registers) + 1)) ||
        !GPUMPI_ARENA_NEW(&scratch, region.reported, registers) || !GPUMPI_ARENA_NEW(&scratch, stack, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, queued, blocks) || !GPUMPI_ARENA_NEW(&scratch, live, registers) ||
        !GPUMPI_ARENA_NEW(&scratch, stamp, registers))
        goto end;
    for (i = 0; i < registers; i++) region.local[i] = GPUMP_NONE;
    for (i = 0; i < gpump_program_instructions(program); i++) {
        if (!start[i]) continue;
        region.count = gpumpi_liveness_list(liveness, i, 0, stamp, 2 * (i + 1), live);
        if (!region.count) continue;
        for (w = 0; w < region.count; w++) region.local[live[w]] = w;
        region.words = gpump_bits_words(region.count);
        memset(region.now, 0, 2 * region.words * sizeof *region.now);
        for (w = 0; w < region.count; w++) {
            gpump_bits_set(region.now, w);
            region.reported[w] = 0;
        }
        if (region.pool) stbds_header(region.pool)->length = 0;
        ok = gpumpi_clobbers_follow(&region, i, stack, queued, ++mark, allocator, list);
        for (w = 0; w < region.count; w++) region.local[live[w]] = GPUMP_NONE;
        if (!ok) goto end;
    }
    ok = 1;
end:
    GPUMPI_ARRAY_FREE(allocator, region.pool);
    gpumpi_arena_free(&scratch);
    return ok;
}

/* ---- the public questions ---- */

GPUMP_API gpump_result gpump_clobbers_find(const gpump_program *program, uint32_t unit, uint32_t level,
                                           gpump_clobber *out, uint32_t capacity, uint32_t *count) {
    gpumpi_arena scratch;
    const gpump_allocator *allocator;
    gpumpi_memory memory;
    gpump_liveness *liveness = NULL;
    gpumpi_register_clobber *registers = NULL;
    gpump_clobber *found = NULL, one;
    uint32_t *reads = NULL, i, k;
    gpump_result result = GPUMP_ERROR_MEMORY;
    if (!program || !count || (!out && capacity) || unit > GPUMP_UNIT_WARP || level > GPUMP_BOUNDARY_SHORT)
        return GPUMP_ERROR_ARGUMENT;
    if (!gpump_program_basic_blocks(program)) return GPUMP_ERROR_STATE;
    allocator = gpumpi_program_allocator(program);
    scratch = gpumpi_arena_make(allocator);
    if (!gpumpi_memory_make(&scratch, program, unit, &memory)) goto end;
    gpumpi_boundary_starts(program, level, memory.start);
    if (!gpumpi_memory_protect(&scratch, &memory)) goto end;
    for (i = 0; i < gpump_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (!gpumpi_memory_writes(&in) || gpumpi_memory_ends_region(&memory, i, &in)) continue;
        if (reads) stbds_header(reads)->length = 0;
        if (!gpumpi_memory_walk(&memory, i, i + 1, allocator, &reads)) goto end;
        one.start = one.reg = GPUMP_NONE;
        one.write = i;
        for (k = 0; k < stbds_arrlenu(reads); k++) {
            one.read = reads[k];
            if (!GPUMPI_ARRAY_PUSH(allocator, found, one)) goto end;
        }
    }
    result = gpump_liveness_create(program, allocator, &liveness);
    if (result != GPUMP_OK) goto end;
    result = GPUMP_ERROR_MEMORY;
    if (!gpumpi_register_clobbers(&scratch, program, liveness, memory.start, allocator, &registers)) goto end;
    for (k = 0; k < stbds_arrlenu(registers); k++) {
        one.start = registers[k].start;
        one.read = GPUMP_NONE;
        one.write = registers[k].write;
        one.reg = registers[k].reg;
        if (!GPUMPI_ARRAY_PUSH(allocator, found, one)) goto end;
    }
    *count = (uint32_t)stbds_arrlenu(found);
    result = *count <= capacity ? GPUMP_OK : GPUMP_ERROR_CAPACITY;
    if (result == GPUMP_OK && *count) memcpy(out, found, *count * sizeof *found);
end:
    GPUMPI_ARRAY_FREE(allocator, found);
    GPUMPI_ARRAY_FREE(allocator, reads);
    GPUMPI_ARRAY_FREE(allocator, registers);
    gpump_liveness_destroy(liveness);
    gpumpi_arena_free(&scratch);
    return result;
}

/* A read and the place it reads, as gpump_program_may_alias looks at it. */
typedef struct gpumpi_clobbers_read {
    uint32_t instruction, space, object, address, value, bytes, thread_stride;
    int64_t offset;
} gpumpi_clobbers_read;
static int gpumpi_clobbers_compare_places(const gpumpi_clobbers_read *x, const gpumpi_clobbers_read *y) {
    if (x->space != y->space) return x->space < y->space ? -1 : 1;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    if (x->thread_stride != y->thread_stride) return x->thread_stride < y->thread_stride ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}
static int gpumpi_clobbers_compare_reads(const void *a, const void *b) {
    const gpumpi_clobbers_read *x = (const gpumpi_clobbers_read *)a, *y = (const gpumpi_clobbers_read *)b;
    int order = gpumpi_clobbers_compare_places(x, y);
    return order ? order : x->instruction < y->instruction ? -1 : x->instruction > y->instruction;
}

static uint32_t gpumpi_clobbers_root(uint32_t *set, uint32_t x) {
    while (set[x] != x) x = set[x] = set[set[x]];
    return x;
}

/* Other warps run at other places of the program, held together only by barriers. Parts of the program connected
 * without crossing a barrier may run at the same time. In any other case a read comes before a write only where the
 * flow of control leads from the part of the read to the part of the write. The nodes of the graph of parts are places
 * between instructions: node i stands before instruction i. A barrier i separates node i from node i + 1. */
GPUMP_API gpump_result gpump_clobbers_block(const gpump_program *program, uint8_t *clobbers, uint32_t *count) {
    gpumpi_arena scratch;
    const gpump_allocator *allocator;
    gpumpi_memory memory;
    gpumpi_graph parts;
    gpumpi_clobbers_read read, *reads = NULL;
    uint32_t instructions, i, k, b, found = 0, top, *set, *from, *to, edges = 0, *stack, *seen, *writes,
                                    write_count = 0;
    gpump_result result = GPUMP_ERROR_MEMORY;
    if (!program || !clobbers) return GPUMP_ERROR_ARGUMENT;
    if (!gpump_program_basic_blocks(program)) return GPUMP_ERROR_STATE;
    allocator = gpumpi_program_allocator(program);
    scratch = gpumpi_arena_make(allocator);
    instructions = gpump_program_instructions(program);
    if (!gpumpi_memory_make(&scratch, program, GPUMP_UNIT_BLOCK, &memory) ||
        !gpumpi_memory_protect(&scratch, &memory) || !GPUMPI_ARENA_NEW(&scratch, set, instructions) ||
        !GPUMPI_ARENA_NEW(&scratch, from, instructions) || !GPUMPI_ARENA_NEW(&scratch, to, instructions) ||
        !GPUMPI_ARENA_NEW(&scratch, stack, instructions) || !GPUMPI_ARENA_NEW(&scratch, writes, instructions) ||
        !GPUMPI_ARENA_NEW(&scratch, seen, instructions))
        goto end;
    for (i = 0; i < instructions; i++) set[i] = i;
    for (b = 0; b < gpump_program_basic_blocks(program); b++) {
        gpump_basic_block block;
        gpump_program_basic_block(program, b, &block);
        for (i = block.first; i < block.first + block.count; i++) {
            gpump_instruction in;
            int last = i + 1 == block.first + block.count;
            gpump_program_instruction(program, i, &in);
            for (k = 0; k < (last ? block.successor_count : 1u); k++) {
                gpump_basic_block next;
                uint32_t target = i + 1;
                if (last) {
                    gpump_program_basic_block(program, block.successors[k], &next);
                    target = next.first;
                }
                if (in.operation == GPUMP_OP_BARRIER || in.operation == GPUMP_OP_BARRIER_PP) {
                    from[edges] = i;
                    to[edges++] = target;
                } else
                    set[gpumpi_clobbers_root(set, i)] = gpumpi_clobbers_root(set, target);
            }
        }
    }
    for (k = 0; k < edges; k++) {
        from[k] = gpumpi_clobbers_root(set, from[k]);
        to[k] = gpumpi_clobbers_root(set, to[k]);
    }
    if (!gpumpi_graph_build(&scratch, &parts, instructions, from, to, edges)) goto end;
    for (i = 0; i < instructions; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        clobbers[i] = gpumpi_memory_writes(&in) && in.flags & (GPUMP_FLAG_ATOMIC | GPUMP_FLAG_VOLATILE);
        if (in.space != GPUMP_SPACE_GLOBAL && in.space != GPUMP_SPACE_GENERIC) continue;
        if (in.operation == GPUMP_OP_SPILL_LOAD || in.operation == GPUMP_OP_SPILL_STORE) continue;
        if (memory.kind[i] & GPUMPI_MEMORY_MEETS_READ && !clobbers[i]) writes[write_count++] = i;
        if (!(memory.kind[i] & GPUMPI_MEMORY_READS) || memory.is_protected[i]) continue;
        read.instruction = i;
        read.space = in.space;
        read.object = in.object;
        read.address = in.address;
        read.value = in.value;
        read.bytes = in.bytes;
        read.thread_stride = in.thread_stride;
        read.offset = in.offset;
        if (!GPUMPI_ARRAY_PUSH(allocator, reads, read)) goto end;
    }
    /* from all reads of one place, forward through the parts; then the writes there that may meet it */
    if (reads) qsort(reads, stbds_arrlenu(reads), sizeof *reads, gpumpi_clobbers_compare_reads);
    for (k = 0; k < stbds_arrlenu(reads) && write_count;) {
        uint32_t first = k, kept = 0;
        for (top = 0; k < stbds_arrlenu(reads) && !gpumpi_clobbers_compare_places(&reads[k], &reads[first]); k++) {
            uint32_t root = gpumpi_clobbers_root(set, reads[k].instruction);
            if (seen[root] != first + 1) seen[stack[top++] = root] = first + 1;
        }
        while (top) {
            uint32_t at = stack[--top], e;
            for (e = parts.succ_start[at]; e < parts.succ_start[at + 1]; e++)
                if (seen[parts.succ[e]] != first + 1) seen[stack[top++] = parts.succ[e]] = first + 1;
        }
        for (i = 0; i < write_count; i++) {
            uint32_t w = writes[i];
            clobbers[w] = seen[gpumpi_clobbers_root(set, w)] == first + 1 &&
                          gpump_program_may_alias(program, reads[first].instruction, w, GPUMP_UNIT_BLOCK);
            if (!clobbers[w]) writes[kept++] = w;
        }
        write_count = kept;
    }
    for (i = 0; i < instructions; i++) found += clobbers[i];
    if (count) *count = found;
    result = GPUMP_OK;
end:
    GPUMPI_ARRAY_FREE(allocator, reads);
    gpumpi_arena_free(&scratch);
    return result;
}
#endif

/* ---- gpump_impl/program/regions.c ---- */
/* regions: where the boundaries of idempotent regions go */



#ifndef GPUMP_NO_PROGRAM

GPUMP_API gpump_result gpump_regions_config_preset(gpump_regions_config *config, const char *preset) {
    if (!config || !preset) return GPUMP_ERROR_ARGUMENT;
    if (strcmp(preset, "igpu") && strcmp(preset, "igpu_short") && strcmp(preset, "dekruijf"))
        return GPUMP_ERROR_UNKNOWN_NAME;
    memset(config, 0, sizeof *config);
    config->struct_size = (uint32_t)sizeof *config;
    config->unit = preset[0] == 'i' ? GPUMP_UNIT_WARP : GPUMP_UNIT_THREAD;
    config->few_live = preset[0] == 'i';
    config->max_instructions = strcmp(preset, "igpu_short") ? 0 : 32;
    config->preserve = 1;
    return GPUMP_OK;
}

/* The cuts under construction: for each instruction the reason of the cut before it, and whether the cut is short. */
typedef struct gpumpi_regions_plan {
    const gpump_program *program;
    const gpump_liveness *liveness;
    const gpump_regions_config *config;
    gpumpi_memory memory; /* memory.start[i] is set with every cut */
    uint8_t *why, *is_short;
    uint32_t *live;                 /* 32-bit registers live before each instruction */
    uint32_t *idom, *enter, *leave; /* of memory.graph */
    uint8_t *cut_in;                /* basic block -> how many cuts, 2 at most */
    uint8_t *parted;                /* basic block -> 1: a warp may be diverged there */
    uint32_t mark, pairs;
    int making_short;
} gpumpi_regions_plan;

static void gpumpi_regions_cut(gpumpi_regions_plan *plan, uint32_t i, uint32_t why) {
    uint32_t b;
    if (plan->why[i]) return;
    plan->why[i] = (uint8_t)why;
    plan->is_short[i] = (uint8_t)plan->making_short;
    plan->memory.start[i] = 1;
    b = gpump_program_basic_block_of(plan->program, i);
    if (plan->cut_in[b] < 2) plan->cut_in[b]++;
}

static int gpumpi_regions_is_boundary(const gpump_program *program, uint32_t i) {
    gpump_instruction in;
    gpump_program_instruction(program, i, &in);
    return in.operation == GPUMP_OP_BOUNDARY;
}

/* The first step puts boundaries behind barriers and whatever else must not be done twice. They belong to the
 * instruction before them, not to the place behind it: where that is a meeting point of diverged lanes, the first to
 * arrive would wait without crossing it. */
static gpump_result gpumpi_regions_forced(const gpump_program *program, uint32_t without, gpump_program **out,
                                          gpump_diag *diag) {
    const gpump_allocator *allocator = gpumpi_program_allocator(program);
    gpumpi_insertion *insertions = NULL;
    gpumpi_edit edit;
    uint32_t i;
    gpump_result result = GPUMP_ERROR_MEMORY;
    for (i = 0; i < gpump_program_instructions(program); i++) {
        gpump_instruction in;
        gpumpi_insertion behind = gpumpi_insertion_make(GPUMP_OP_BOUNDARY, i + 1);
        uint32_t kind = 0;
        gpump_program_instruction(program, i, &in);
        if (in.operation == GPUMP_OP_BARRIER || in.operation == GPUMP_OP_BARRIER_PP)
            kind = GPUMP_REGIONS_WITHOUT_BARRIERS;
        else if (in.flags & (GPUMP_FLAG_ATOMIC | GPUMP_FLAG_VOLATILE | GPUMP_FLAG_FENCE) ||
                 (gpumpi_memory_reads(&in) && gpumpi_memory_writes(&in)))
            kind = GPUMP_REGIONS_WITHOUT_ATOMICS;
        if (!kind || without & kind) continue;
        behind.instruction.tag = GPUMP_CUT_FORCED;
        behind.after_previous = 1;
        if (!GPUMPI_ARRAY_PUSH(allocator, insertions, behind)) goto end;
    }
    memset(&edit, 0, sizeof edit);
    edit.program = program;
    edit.insertions = insertions;
    edit.insertion_count = (uint32_t)stbds_arrlenu(insertions);
    result = gpumpi_program_edit(&edit, out, diag);
end:
    GPUMPI_ARRAY_FREE(allocator, insertions);
    return result;
}

/* ---- the hitting set ---- */

typedef struct gpumpi_regions_pairs {
    uint32_t *pair, *place; /* a cut before instruction place[k] separates pair pair[k] */
    uint32_t count;
    uint32_t *write; /* of each pair */
} gpumpi_regions_pairs;

static int gpumpi_regions_candidate(const gpump_allocator *allocator, gpumpi_regions_pairs *pairs, uint32_t pair,
                                    uint32_t place) {
    if (!GPUMPI_ARRAY_RESERVE(allocator, pairs->pair, 1) || !GPUMPI_ARRAY_RESERVE(allocator, pairs->place, 1)) return 0;
    stbds_arrput(pairs->pair, pair);
    stbds_arrput(pairs->place, place);
    return 1;
}

/* Places from `first` to `end` - 1 of one block: its writes, and the place with the fewest live registers. */
static int gpumpi_regions_candidates_in(gpumpi_regions_plan *plan, gpumpi_regions_pairs *pairs, uint32_t pair,
                                        uint32_t first, uint32_t end) {
    uint32_t i, best = GPUMP_NONE;
    int best_writes = 0;
    const gpump_allocator *allocator = gpumpi_program_allocator(plan->program);
    for (i = first; i < end; i++) {
        gpump_instruction in;
        gpump_program_instruction(plan->program, i, &in);
        if (gpumpi_memory_writes(&in) && !gpumpi_regions_candidate(allocator, pairs, pair, i)) return 0;
        if (!plan->config->few_live || (best != GPUMP_NONE && plan->live[i] >= plan->live[best])) continue;
        best = i;
        best_writes = gpumpi_memory_writes(&in);
    }
    return best == GPUMP_NONE || best_writes || gpumpi_regions_candidate(allocator, pairs, pair, best);
}

/* A place separates a read from a write when it stands on every way from one to the other: the write itself; what
 * stands before it in its block; and what dominates it but not the read. */
static int gpumpi_regions_candidates(gpumpi_regions_plan *plan, gpumpi_regions_pairs *pairs, uint32_t read,
                                     uint32_t write) {
    const gpump_program *program = plan->program;
    uint32_t pair = pairs->count++, home = gpump_program_basic_block_of(program, read),
             b = gpump_program_basic_block_of(program, write), at;
    gpump_basic_block block;
    if (!GPUMPI_ARRAY_PUSH(gpumpi_program_allocator(program), pairs->write, write)) return 0;
    gpump_program_basic_block(program, b, &block);
    if (b == home && read < write) return gpumpi_regions_candidates_in(plan, pairs, pair, read + 1, write + 1);
    if (!gpumpi_regions_candidates_in(plan, pairs, pair, block.first, write + 1)) return 0;
    for (at = b; b != home && plan->idom[at] != GPUMP_NONE;) {
        at = plan->idom[at];
        gpump_program_basic_block(program, at, &block);
        if (at == home) return gpumpi_regions_candidates_in(plan, pairs, pair, read + 1, block.first + block.count);
        if ((home == 0 || plan->idom[home] != GPUMP_NONE) && plan->enter[at] <= plan->enter[home] &&
            plan->leave[home] <= plan->leave[at])
            break; /* dominates the read too */
        if (!gpumpi_regions_candidates_in(plan, pairs, pair, block.first, block.first + block.count)) return 0;
    }
    return 1;
}

/* The rank of a place, best place smallest. Keys are compared in order. */
enum { GPUMPI_REGIONS_KEYS = 7 };
typedef struct gpumpi_regions_key {
    uint32_t key[GPUMPI_REGIONS_KEYS], place;
} gpumpi_regions_key;
static int gpumpi_regions_less(const gpumpi_regions_key *a, const gpumpi_regions_key *b) {
    uint32_t k;
    for (k = 0; k < GPUMPI_REGIONS_KEYS; k++)
        if (a->key[k] != b->key[k]) return a->key[k] < b->key[k];
    return a->place < b->place;
}
static void gpumpi_regions_sift(gpumpi_regions_key *heap, uint32_t count, uint32_t at) {
    for (;;) {
        uint32_t child = 2 * at + 1;
        gpumpi_regions_key moved;
        if (child >= count) return;
        if (child + 1 < count && gpumpi_regions_less(&heap[child + 1], &heap[child])) child++;
        if (!gpumpi_regions_less(&heap[child], &heap[at])) return;
        moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
        at = child;
    }
}
static int gpumpi_regions_before_loop(const gpump_program *program, uint32_t b, const gpump_basic_block *block) {
    uint32_t k;
    for (k = 0; k < block->successor_count; k++) {
        gpump_basic_block next;
        gpump_loop loop;
        gpump_program_basic_block(program, block->successors[k], &next);
        if (next.loop == GPUMP_NONE) continue;
        gpump_program_loop(program, next.loop, &loop);
        if (loop.header == block->successors[k] && !gpump_program_in_loop(program, next.loop, b)) return 1;
    }
    return 0;
}
static void gpumpi_regions_make_key(const gpumpi_regions_plan *plan, gpumpi_regions_key *key, uint32_t covers,
                                    uint32_t of, int ends_pair) {
    gpump_basic_block block;
    uint32_t b = gpump_program_basic_block_of(plan->program, key->place), live = plan->live[key->place];
    gpump_program_basic_block(plan->program, b, &block);
    key->key[0] = block.loop_depth;
    key->key[1] = plan->parted[b]; /* a boundary there brings others, where lanes wait */
    key->key[2] = plan->config->few_live ? live : 0u - covers;
    key->key[3] = plan->config->few_live ? 0u - covers : 0;
    /* de Kruijf prefers a write that ends a pair to a place before a loop; iGPU's figure 4 takes the place before the
     * loop */
    key->key[plan->config->few_live ? 5 : 4] = !ends_pair;
    key->key[plan->config->few_live ? 4 : 5] = !gpumpi_regions_before_loop(plan->program, b, &block);
    key->key[6] = 0u - of;
}

/* Chooses the best place until every pair is cut. A place's rank can only fall while others are chosen, so it is
 * computed again when the place reaches the top of the heap. */
static int gpumpi_regions_hit(gpumpi_regions_plan *plan, const gpumpi_regions_pairs *pairs) {
    const gpump_program *program = plan->program;
    gpumpi_arena scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    uint32_t instructions = gpump_program_instructions(program), n = (uint32_t)stbds_arrlenu(pairs->pair), i, k,
             count = 0, *place_start, *place_pair, *pair_start, *pair_place;
    gpumpi_regions_key *heap;
    uint8_t *hit, *ends_pair;
    int ok = 0;
    if (!gpumpi_group(&scratch, instructions, pairs->place, pairs->pair, n, &place_start, &place_pair) ||
        !gpumpi_group(&scratch, pairs->count, pairs->pair, pairs->place, n, &pair_start, &pair_place) ||
        !GPUMPI_ARENA_NEW(&scratch, heap, instructions) || !GPUMPI_ARENA_NEW(&scratch, hit, pairs->count) ||
        !GPUMPI_ARENA_NEW(&scratch, ends_pair, instructions))
        goto end;
    for (i = 0; i < pairs->count; i++) ends_pair[pairs->write[i]] = 1;
    for (i = 0; i < instructions; i++) {
        if (place_start[i] == place_start[i + 1]) continue;
        heap[count].place = i;
        gpumpi_regions_make_key(plan, &heap[count++], place_start[i + 1] - place_start[i],
                                place_start[i + 1] - place_start[i], ends_pair[i]);
    }
    for (i = count / 2; i-- > 0;) gpumpi_regions_sift(heap, count, i);
    while (count) {
        gpumpi_regions_key key = heap[0];
        uint32_t covers = 0;
        for (i = place_start[key.place]; i < place_start[key.place + 1]; i++) covers += !hit[place_pair[i]];
        if (covers) {
            gpumpi_regions_make_key(plan, &key, covers, place_start[key.place + 1] - place_start[key.place],
                                    ends_pair[key.place]);
            if (gpumpi_regions_less(&heap[0], &key)) {
                heap[0] = key;
                gpumpi_regions_sift(heap, count, 0);
                continue;
            }
            gpumpi_regions_cut(plan, key.place, GPUMP_CUT_CLOBBER);
            for (k = place_start[key.place]; k < place_start[key.place + 1]; k++) hit[place_pair[k]] = 1;
        }
        heap[0] = heap[--count];
        gpumpi_regions_sift(heap, count, 0);
    }
    ok = 1;
end:
    gpumpi_arena_free(&scratch);
    return ok;
}

/* Cuts every memory antidependence that is left. Sets *changed to 1 when it found one. */
static int gpumpi_regions_memory(gpumpi_regions_plan *plan, gpumpi_arena *arena, int *changed) {
    const gpump_program *program = plan->program;
    const gpump_allocator *allocator = gpumpi_program_allocator(program);
    gpumpi_regions_pairs pairs = {NULL, NULL, 0, NULL};
    uint32_t i, k, *reads = NULL;
    int ok = gpumpi_memory_protect(arena, &plan->memory);
    for (i = 0; i < gpump_program_instructions(program) && ok; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (!gpumpi_memory_writes(&in) || gpumpi_memory_ends_region(&plan->memory, i, &in)) continue;
        if (reads) stbds_header(reads)->length = 0;
        ok = gpumpi_memory_walk(&plan->memory, i, ++plan->mark, allocator, &reads);
        for (k = 0; ok && k < stbds_arrlenu(reads); k++)
            if (reads[k] != i) ok = gpumpi_regions_candidates(plan, &pairs, reads[k], i);
    }
    if (ok && pairs.count) {
        *changed = 1;
        plan->pairs += pairs.count;
        ok = gpumpi_regions_hit(plan, &pairs);
    }
    GPUMPI_ARRAY_FREE(allocator, reads);
    GPUMPI_ARRAY_FREE(allocator, pairs.pair);
    GPUMPI_ARRAY_FREE(allocator, pairs.place);
    GPUMPI_ARRAY_FREE(allocator, pairs.write);
    return ok;
}

/* ---- divergence: lanes that wait while others cross a boundary go on from a boundary of their own ---- */

static int gpumpi_regions_only_exits(const gpump_program *program, uint32_t b) {
    gpump_basic_block block;
    gpump_instruction in;
    gpump_program_basic_block(program, b, &block);
    gpump_program_instruction(program, block.first, &in);
    return in.operation == GPUMP_OP_EXIT && in.guard == GPUMP_NONE;
}
/* 1 when the instructions from the start of block b to a cut in it can be executed again alone. */
static int gpumpi_regions_bare(const gpumpi_regions_plan *plan, uint32_t b) {
    gpump_basic_block block;
    uint32_t i;
    gpump_program_basic_block(plan->program, b, &block);
    for (i = block.first; i < block.first + block.count; i++) {
        gpump_instruction in;
        gpump_program_instruction(plan->program, i, &in);
        if (plan->why[i]) return 1;
        if (in.def_count || in.access) return 0;
    }
    return 0;
}
static void gpumpi_regions_cut_block(gpumpi_regions_plan *plan, uint32_t b, uint32_t why, int *changed) {
    gpump_basic_block block;
    gpump_program_basic_block(plan->program, b, &block);
    if (plan->why[block.first] || gpumpi_regions_only_exits(plan->program, b)) return;
    gpumpi_regions_cut(plan, block.first, why);
    *changed = 1;
}

/* Marks every branch that decides, directly or not, whether a block in stack[] runs; found branches go on the stack. */
static void gpumpi_regions_deciders(const gpumpi_regions_plan *plan, uint32_t *stack, uint32_t top, uint8_t *seen) {
    while (top) {
        const uint32_t *list;
        uint32_t count, k;
        gpumpi_liveness_control_of(plan->liveness, stack[--top], &list, &count);
        for (k = 0; k < count; k++)
            if (!seen[list[k]]) seen[stack[top++] = list[k]] = 1;
    }
}

/* Marks blocks that decide whether a barrier is reached. stack[]: room for twice as many as there are blocks. */
static void gpumpi_regions_before_barriers(const gpumpi_regions_plan *plan, uint32_t *stack, uint8_t *to_barrier) {
    const gpump_program *program = plan->program;
    uint32_t b, i, top = 0;
    for (b = 0; b < gpump_program_basic_blocks(program); b++) {
        gpump_basic_block block;
        int barrier = 0;
        gpump_program_basic_block(program, b, &block);
        for (i = block.first; i < block.first + block.count; i++) {
            gpump_instruction in;
            gpump_program_instruction(program, i, &in);
            barrier |= in.operation == GPUMP_OP_BARRIER || in.operation == GPUMP_OP_BARRIER_PP;
        }
        if (barrier) stack[top++] = b;
    }
    gpumpi_regions_deciders(plan, stack, top, to_barrier);
}

/* 1 when the warp counts as diverged behind block b, which ends in a branch. */
static int gpumpi_regions_parts(const gpumpi_regions_plan *plan, uint32_t b, const uint8_t *to_barrier) {
    gpump_basic_block block;
    if (!gpumpi_program_diverges(plan->program, b)) return 0;
    gpump_program_basic_block(plan->program, b, &block);
    return !to_barrier[b] || block.post_dominator == GPUMP_NONE ||
           gpumpi_regions_only_exits(plan->program, block.post_dominator);
}

/* Fills parted[]: decided, directly or not, by a branch at which the warp may part. */
static int gpumpi_regions_find_parted(gpumpi_regions_plan *plan) {
    const gpump_program *program = plan->program;
    gpumpi_arena scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    uint32_t blocks = gpump_program_basic_blocks(program), b, k, *stack;
    uint8_t *to_barrier;
    int changed = plan->config->unit == GPUMP_UNIT_WARP && !(plan->config->without & GPUMP_REGIONS_WITHOUT_DIVERGENCE);
    if (!GPUMPI_ARENA_NEW(&scratch, stack, (size_t)blocks * 2) || !GPUMPI_ARENA_NEW(&scratch, to_barrier, blocks)) {
        gpumpi_arena_free(&scratch);
        return 0;
    }
    if (changed) gpumpi_regions_before_barriers(plan, stack, to_barrier);
    while (changed) {
        changed = 0;
        for (b = 0; b < blocks; b++) {
            const uint32_t *list;
            uint32_t count;
            if (plan->parted[b]) continue;
            gpumpi_liveness_control_of(plan->liveness, b, &list, &count);
            for (k = 0; k < count && !plan->parted[b]; k++)
                plan->parted[b] = (uint8_t)(plan->parted[list[k]] || gpumpi_regions_parts(plan, list[k], to_barrier));
            changed |= plan->parted[b];
        }
    }
    gpumpi_arena_free(&scratch);
    return 1;
}

/* 1 when a cut stands on a path from block `side` to `meet`. */
static int gpumpi_regions_side_has_cut(const gpumpi_regions_plan *plan, uint32_t side, uint32_t meet, uint32_t *stack,
                                       uint32_t *visited, uint32_t mark) {
    uint32_t top = 0, k;
    if (side == meet) return 0;
    visited[stack[top++] = side] = mark;
    while (top) {
        gpump_basic_block block;
        uint32_t b = stack[--top];
        if (plan->cut_in[b]) return 1;
        gpump_program_basic_block(plan->program, b, &block);
        for (k = 0; k < block.successor_count; k++)
            if (block.successors[k] != meet && visited[block.successors[k]] != mark)
                visited[stack[top++] = block.successors[k]] = mark;
    }
    return 0;
}

/* Lanes wait at the start of one side while the other runs, and at the meeting point while either does. A branch that
 * decides whether a barrier is reached, and behind which code goes on, does not diverge: all threads of a block must
 * come to a barrier. */
static int gpumpi_regions_divergence(gpumpi_regions_plan *plan, int *changed) {
    const gpump_program *program = plan->program;
    gpumpi_arena scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    uint32_t blocks = gpump_program_basic_blocks(program), b, k, top = 0, mark = 0, *stack, *visited;
    uint8_t *seen, *to_barrier;
    if (!GPUMPI_ARENA_NEW(&scratch, stack, (size_t)blocks * 2) || !GPUMPI_ARENA_NEW(&scratch, seen, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, to_barrier, blocks) || !GPUMPI_ARENA_NEW(&scratch, visited, blocks)) {
        gpumpi_arena_free(&scratch);
        return 0;
    }
    for (b = 0; b < blocks; b++)
        if (plan->cut_in[b]) stack[top++] = b;
    gpumpi_regions_deciders(plan, stack, top, seen);
    gpumpi_regions_before_barriers(plan, stack, to_barrier);
    for (b = 0; b < blocks; b++) {
        gpump_basic_block block;
        int has[2];
        if (!seen[b] || !gpumpi_regions_parts(plan, b, to_barrier)) continue;
        gpump_program_basic_block(program, b, &block);
        for (k = 0; k < 2; k++)
            has[k] =
                gpumpi_regions_side_has_cut(plan, block.successors[k], block.post_dominator, stack, visited, ++mark);
        for (k = 0; k < 2; k++)
            if (has[!k] && block.successors[k] != block.post_dominator &&
                !gpumpi_regions_bare(plan, block.successors[k]))
                gpumpi_regions_cut_block(plan, block.successors[k], GPUMP_CUT_DIVERGENCE, changed);
        if ((has[0] || has[1]) && block.post_dominator != GPUMP_NONE &&
            !gpumpi_regions_bare(plan, block.post_dominator))
            gpumpi_regions_cut_block(plan, block.post_dominator, GPUMP_CUT_DIVERGENCE, changed);
    }
    gpumpi_arena_free(&scratch);
    return 1;
}

/* ---- loops: at least two boundaries on every way round one that has any, so that a region never runs into itself ----
 */

static void gpumpi_regions_latch(gpumpi_regions_plan *plan, uint32_t b, int *changed) {
    gpump_basic_block block;
    gpump_program_basic_block(plan->program, b, &block);
    if (plan->why[block.first + block.count - 1]) return;
    gpumpi_regions_cut(plan, block.first + block.count - 1, GPUMP_CUT_LOOP);
    *changed = 1;
}

static void gpumpi_regions_back_edge(gpumpi_regions_plan *plan, uint32_t loop, uint32_t header, uint32_t latch,
                                     int *changed) {
    const gpump_program *program = plan->program;
    gpump_basic_block block, head;
    uint32_t b = latch, found = 0, nearest = GPUMP_NONE;
    gpump_program_basic_block(program, header, &head);
    for (;; b = block.dominator) { /* b: a block on every path to the latch */
        gpump_program_basic_block(program, b, &block);
        if (plan->cut_in[b] && nearest == GPUMP_NONE) nearest = b;
        found += plan->cut_in[b];
        if (b == header) break;
    }
    if (found == 0) gpumpi_regions_cut_block(plan, header, GPUMP_CUT_LOOP, changed);
    if (found == 1 && !plan->why[head.first])
        gpumpi_regions_cut_block(plan, header, GPUMP_CUT_LOOP, changed);
    else if (found <= 1)
        gpumpi_regions_latch(plan, latch, changed);
    else {
        gpump_program_basic_block(program, nearest, &block);
        if (block.loop != loop && block.loop_depth > head.loop_depth) gpumpi_regions_latch(plan, latch, changed);
    }
}

static int gpumpi_regions_loops(gpumpi_regions_plan *plan, int *changed) {
    const gpump_program *program = plan->program;
    gpumpi_arena scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    uint32_t loops = gpump_program_loops(program), blocks = gpump_program_basic_blocks(program), b, l, k, *place;
    uint8_t *has;
    if (!GPUMPI_ARENA_NEW(&scratch, has, loops) || !GPUMPI_ARENA_NEW(&scratch, place, blocks)) {
        gpumpi_arena_free(&scratch);
        return 0;
    }
    for (k = 0; k < plan->memory.blocks; k++) place[plan->memory.order[k]] = k;
    for (b = 0; b < blocks; b++) {
        gpump_basic_block block;
        gpump_loop loop;
        if (!plan->cut_in[b]) continue;
        gpump_program_basic_block(program, b, &block);
        for (l = block.loop; l != GPUMP_NONE && !has[l]; l = loop.parent) {
            has[l] = 1;
            gpump_program_loop(program, l, &loop);
        }
    }
    for (l = loops; l-- > 0;) { /* inner loops have larger numbers */
        gpump_loop loop;
        gpump_basic_block header;
        if (!has[l]) continue;
        gpump_program_loop(program, l, &loop);
        if (loop.irreducible) continue;
        gpump_program_basic_block(program, loop.header, &header);
        for (k = 0; k < header.predecessor_count; k++)
            if (gpump_program_in_loop(program, l, header.predecessors[k]))
                gpumpi_regions_back_edge(plan, l, loop.header, header.predecessors[k], changed);
    }
    for (b = 0; b < blocks; b++) { /* retreating edges of irreducible loops: both ends */
        gpump_basic_block block;
        gpump_program_basic_block(program, b, &block);
        if (!block.reachable || block.loop == GPUMP_NONE) continue;
        for (k = 0; k < block.successor_count; k++) {
            uint32_t to = block.successors[k];
            gpump_loop loop;
            if (place[to] > place[b] || gpump_program_dominates(program, to, b)) continue;
            for (l = block.loop; l != GPUMP_NONE; l = loop.parent) {
                gpump_program_loop(program, l, &loop);
                if (loop.irreducible && has[l] && gpump_program_in_loop(program, l, to)) break;
            }
            if (l == GPUMP_NONE) continue;
            gpumpi_regions_latch(plan, b, changed);
            gpumpi_regions_cut_block(plan, to, GPUMP_CUT_LOOP, changed);
        }
    }
    gpumpi_arena_free(&scratch);
    return 1;
}

/* Adds the cuts that existing cuts make necessary, until none is missing. */
static int gpumpi_regions_settle(gpumpi_regions_plan *plan, gpumpi_arena *arena) {
    int changed = 1;
    const uint32_t without = plan->config->without;
    while (changed) {
        changed = 0;
        if ((!(without & GPUMP_REGIONS_WITHOUT_CLOBBERS) && !gpumpi_regions_memory(plan, arena, &changed)) ||
            (plan->config->unit == GPUMP_UNIT_WARP && !(without & GPUMP_REGIONS_WITHOUT_DIVERGENCE) &&
             !gpumpi_regions_divergence(plan, &changed)) ||
            (!(without & GPUMP_REGIONS_WITHOUT_LOOPS) && !gpumpi_regions_loops(plan, &changed)))
            return 0;
    }
    return 1;
}

/* ---- short regions ---- */

/* The longest way, in instructions, from a region's start to before each block; cuts where it would pass the limit.
 * Loops without a cut are cut at their headers first, so that every way is finite. */
static int gpumpi_regions_shorten(gpumpi_regions_plan *plan, gpumpi_arena *arena) {
    const gpump_program *program = plan->program;
    uint32_t loops = gpump_program_loops(program), limit = plan->config->max_instructions, n, i, k, l, *length;
    int changed = 1, again = 1;
    if (!GPUMPI_ARENA_NEW(arena, length, gpump_program_basic_blocks(program))) return 0;
    plan->making_short = 1;
    for (l = loops; l-- > 0;) {
        gpump_loop loop;
        gpump_program_loop(program, l, &loop);
        gpumpi_regions_cut_block(plan, loop.header, GPUMP_CUT_LENGTH, &changed);
    }
    if (!gpumpi_regions_settle(plan, arena)) return 0;
    while (again) {
        again = 0;
        memset(length, 0, gpump_program_basic_blocks(program) * sizeof *length);
        for (changed = 1; changed;) {
            changed = 0;
            for (n = 0; n < plan->memory.blocks; n++) {
                uint32_t b = plan->memory.order[n], at;
                gpump_basic_block block;
                gpump_program_basic_block(program, b, &block);
                at = length[b];
                for (i = block.first; i < block.first + block.count; i++) {
                    if (plan->why[i])
                        at = 0;
                    else if (at >= limit) {
                        gpumpi_regions_cut(plan, i, GPUMP_CUT_LENGTH);
                        again = 1;
                        at = 0;
                    }
                    at += !gpumpi_regions_is_boundary(program, i);
                }
                for (k = 0; k < block.successor_count; k++)
                    if (at > length[block.successors[k]]) {
                        length[block.successors[k]] = at;
                        changed = 1;
                    }
            }
        }
        if (again && !gpumpi_regions_settle(plan, arena)) return 0;
    }
    return 1;
}

/* ---- putting it together ---- */

static gpump_result gpumpi_regions_insert(const gpumpi_regions_plan *plan, gpumpi_arena *scratch, gpump_program **out,
                                          gpump_regions_report *report, gpump_diag *diag) {
    uint32_t i, count = 0;
    gpumpi_insertion *insertions;
    gpumpi_edit edit;
    for (i = 0; i < gpump_program_instructions(plan->program); i++) count += plan->why[i] != 0;
    if (!GPUMPI_ARENA_NEW(scratch, insertions, count)) return GPUMP_ERROR_MEMORY;
    for (i = count = 0; i < gpump_program_instructions(plan->program); i++) {
        if (!plan->why[i]) continue;
        if (!gpumpi_regions_is_boundary(plan->program, i)) { /* the forced ones are there */
            insertions[count] = gpumpi_insertion_make(GPUMP_OP_BOUNDARY, i);
            insertions[count].instruction.immediate = plan->is_short[i] ? GPUMP_BOUNDARY_SHORT : GPUMP_BOUNDARY_SPARSE;
            insertions[count++].instruction.tag = plan->why[i];
        }
        report->cuts[plan->why[i]]++;
        if (plan->is_short[i])
            report->shorts++;
        else
            report->sparse++;
    }
    memset(&edit, 0, sizeof edit);
    edit.program = plan->program;
    edit.insertions = insertions;
    edit.insertion_count = count;
    edit.origin = gpump_program_origin(plan->program);
    return gpumpi_program_edit(&edit, out, diag);
}

/* Runs every step on the program with the forced boundaries. */
static gpump_result gpumpi_regions_make(const gpump_program *program, const gpump_regions_config *config,
                                        gpump_program **formed, gpump_regions_report *report, gpump_diag *diag) {
    gpumpi_arena scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    gpumpi_regions_plan plan;
    gpump_liveness *liveness = NULL;
    gpump_program *cut = NULL, *kept = NULL;
    uint32_t i, instructions = gpump_program_instructions(program), blocks = gpump_program_basic_blocks(program);
    gpump_result result = gpump_liveness_create(program, gpumpi_program_allocator(program), &liveness);
    if (result != GPUMP_OK) goto end;
    result = GPUMP_ERROR_MEMORY;
    memset(&plan, 0, sizeof plan);
    plan.program = program;
    plan.liveness = liveness;
    plan.config = config;
    if (!gpumpi_memory_make(&scratch, program, config->unit, &plan.memory) ||
        !GPUMPI_ARENA_NEW(&scratch, plan.why, (size_t)instructions + 1) ||
        !GPUMPI_ARENA_NEW(&scratch, plan.is_short, (size_t)instructions + 1) ||
        !GPUMPI_ARENA_NEW(&scratch, plan.live, instructions) || !GPUMPI_ARENA_NEW(&scratch, plan.idom, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, plan.enter, blocks) || !GPUMPI_ARENA_NEW(&scratch, plan.leave, blocks) ||
        !GPUMPI_ARENA_NEW(&scratch, plan.cut_in, blocks) || !GPUMPI_ARENA_NEW(&scratch, plan.parted, blocks) ||
        gpump_liveness_pressure(liveness, plan.live, NULL, NULL, NULL) != GPUMP_OK ||
        !gpumpi_graph_dominators(&scratch, &plan.memory.graph, 0, plan.idom) ||
        !gpumpi_graph_intervals(&scratch, blocks, plan.idom, 0, plan.enter, plan.leave))
        goto end;
    if (!gpumpi_regions_find_parted(&plan)) goto end;
    plan.memory.may_clobber = config->may_clobber;
    plan.memory.user = config->user;
    plan.memory.origin = gpump_program_origin(program);
    for (i = 0; i < instructions; i++)
        if (gpumpi_regions_is_boundary(program, i)) gpumpi_regions_cut(&plan, i, GPUMP_CUT_FORCED);
    if (!gpumpi_regions_settle(&plan, &scratch)) goto end;
    if (config->max_instructions && !gpumpi_regions_shorten(&plan, &scratch)) goto end;
    report->pairs = plan.pairs;
    result = gpumpi_regions_insert(&plan, &scratch, &cut, report, diag);
    if (result == GPUMP_OK && config->preserve) {
        result = gpumpi_regions_preserve(cut, gpump_program_origin(cut), &kept, report, diag);
        gpump_program_destroy(cut);
        cut = kept;
    }
    if (result == GPUMP_OK) *formed = cut;
end:
    gpump_liveness_destroy(liveness);
    gpumpi_arena_free(&scratch);
    return result;
}

GPUMP_API gpump_result gpump_regions_form(const gpump_program *program, const gpump_regions_config *config,
                                          gpump_program **formed, gpump_regions_report *report, gpump_diag *diag) {
    gpump_regions_report found;
    gpump_program *forced;
    gpump_result result;
    uint32_t i;
    if (!program || !config || !formed) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "program", 0, 0, 1, 1);
    if (!gpump_program_basic_blocks(program)) return gpumpi_fail(diag, GPUMP_ERROR_STATE, "program", 0, 0, 1, 1);
    if (config->struct_size != sizeof *config)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "struct_size", 0, config->struct_size, sizeof *config,
                           sizeof *config);
    if (config->unit > GPUMP_UNIT_WARP)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "unit", 0, config->unit, 0, GPUMP_UNIT_WARP);
    if (config->without > 31) return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "without", 0, config->without, 0, 31);
    if (config->max_instructions == 1)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "max_instructions", 0, 1, 2, UINT32_MAX);
    for (i = 0; i < gpump_program_instructions(program); i++)
        if (gpumpi_regions_is_boundary(program, i))
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "operation", i, GPUMP_OP_BOUNDARY, 0, GPUMP_OP_BARRIER);
    memset(&found, 0, sizeof found);
    result = gpumpi_regions_forced(program, config->without, &forced, diag);
    if (result == GPUMP_OK) {
        result = gpumpi_regions_make(forced, config, formed, &found, diag);
        gpump_program_destroy(forced);
    }
    if (result == GPUMP_ERROR_MEMORY) gpumpi_fail(diag, result, "program", 0, 0, 0, 0);
    if (result == GPUMP_OK && report) *report = found;
    return result;
}

/* ---- continuous spilling ---- */

/* Runs basic block b from the registers whose places hold their values at its start, `held`, to its end. Writes what
 * its boundaries store to `sets` (NULL: nowhere), from boundary `at` on; returns the next one's number. */
static uint32_t gpumpi_regions_hold(const gpump_program *program, const gpump_liveness *liveness, uint32_t b,
                                    uint64_t *held, uint64_t *live, uint64_t *sets, uint32_t at) {
    uint32_t words = gpump_liveness_words(liveness), i, k, w;
    gpump_basic_block block;
    gpump_program_basic_block(program, b, &block);
    for (i = block.first; i < block.first + block.count; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (in.operation == GPUMP_OP_BOUNDARY && in.immediate == GPUMP_BOUNDARY_SPARSE) {
            gpump_liveness_before(liveness, i, live);
            for (w = 0; w < words; w++) {
                if (sets) sets[(size_t)at * words + w] = live[w] & ~held[w];
                held[w] |= live[w];
            }
            at++;
        }
        for (k = 0; k < in.def_count; k++) GPUMPI_OPERAND_REGISTERS(in.defs[k], reg, gpump_bits_clear(held, reg));
    }
    return at;
}

GPUMP_API gpump_result gpump_regions_stored(const gpump_program *program, const gpump_liveness *liveness,
                                            uint32_t spilling, uint64_t *sets, uint32_t capacity, uint32_t *count) {
    gpumpi_arena scratch;
    uint32_t blocks, words, b, i, k, w, found = 0;
    uint64_t *ends, *held, *live;
    int changed = 1;
    if (!program || !liveness || !count || (!sets && capacity) || spilling > GPUMP_SPILLING_CHANGED)
        return GPUMP_ERROR_ARGUMENT;
    if (!(blocks = gpump_program_basic_blocks(program))) return GPUMP_ERROR_STATE;
    for (i = 0; i < gpump_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        found += in.operation == GPUMP_OP_BOUNDARY && in.immediate == GPUMP_BOUNDARY_SPARSE;
    }
    *count = found;
    if (capacity < found) return GPUMP_ERROR_CAPACITY;
    words = gpump_liveness_words(liveness);
    scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    if (!GPUMPI_ARENA_NEW(&scratch, ends, (size_t)blocks * words) || !GPUMPI_ARENA_NEW(&scratch, held, words) ||
        !GPUMPI_ARENA_NEW(&scratch, live, words)) {
        gpumpi_arena_free(&scratch);
        return GPUMP_ERROR_MEMORY;
    }
    memset(ends, 0xff,
           (size_t)blocks * words * sizeof *ends); /* held on every way: everything, until a way says otherwise */
    for (;;) {
        uint32_t at = 0;
        int last = !changed; /* one more round with the final sets writes the answer */
        changed = 0;
        for (b = 0; b < blocks; b++) {
            uint64_t *end = ends + (size_t)b * words;
            gpump_basic_block block;
            gpump_program_basic_block(program, b, &block);
            memset(held, b ? 0xff : 0, words * sizeof *held);
            for (k = 0; k < block.predecessor_count && b; k++)
                for (w = 0; w < words; w++) held[w] &= ends[(size_t)block.predecessors[k] * words + w];
            at = gpumpi_regions_hold(program, liveness, b, held, live, last ? sets : NULL, at);
            if (!memcmp(end, held, words * sizeof *held)) continue;
            memcpy(end, held, words * sizeof *held);
            changed = 1;
        }
        if (last) break;
    }
    if (spilling == GPUMP_SPILLING_ALL)
        for (i = k = 0; i < gpump_program_instructions(program); i++) {
            gpump_instruction in;
            gpump_program_instruction(program, i, &in);
            if (in.operation == GPUMP_OP_BOUNDARY && in.immediate == GPUMP_BOUNDARY_SPARSE)
                gpump_liveness_before(liveness, i, sets + (size_t)k++ * words);
        }
    gpumpi_arena_free(&scratch);
    return GPUMP_OK;
}
#endif

/* ---- gpump_impl/program/preserve.c ---- */
/* preserve: keeps the live-in registers of idempotent regions (iGPU 3.2, state preservation); declared in regions.h */



#ifndef GPUMP_NO_PROGRAM

/* ---- renaming: a register that is live across a boundary and written behind it becomes two, with a move behind the
 * boundary ---- */

/* Pieces: runs of instructions within one basic block, cut where a region starts, so that a BOUNDARY is always a
 * piece's first instruction. A register's value has three nodes in piece k: as it arrives there (behind the boundary's
 * predecessors), as it enters the piece, and as it leaves. Nodes joined by control flow within a region are one web and
 * keep one name. */
typedef struct gpumpi_preserve_conflict {
    uint32_t web, other;
} gpumpi_preserve_conflict;
enum { GPUMPI_ARRIVES = 0, GPUMPI_ENTERS = 1, GPUMPI_LEAVES = 2 };
typedef struct gpumpi_preserve {
    const gpump_program *program;
    const uint8_t *start;
    uint32_t pieces, *first, *piece_of; /* piece -> first instruction, one more at the end; instruction -> piece */
    gpumpi_graph graph;                 /* of pieces */
    uint32_t *seen_start, *seen;        /* register -> instructions that mention it, ascending */
    /* of the register at hand; entries count where their mark is mark */
    uint32_t mark, *enters, *leaves, *kills, *region, *stack;
    uint32_t *set;  /* union-find over 3 * piece + node */
    uint32_t *list; /* pieces with a node, in order of piece */
    uint32_t listed;
    uint32_t *listed_mark, *mention; /* piece -> its first entry in seen[], where mention_mark says so */
    uint32_t *mention_mark, *color, *color_mark;
    gpumpi_preserve_conflict *conflicts; /* both ways round; sorted by web before names are chosen */
    uint32_t regions;                    /* last mark in region[] */
    /* the result */
    gpumpi_insertion *moves;
    uint32_t *name_at, *name_reg, *name_use, *name_def; /* instruction, register, its names as use and as def */
    uint32_t *widths;
} gpumpi_preserve;

static uint32_t gpumpi_preserve_find(gpumpi_preserve *p, uint32_t x) {
    while (p->set[x] != x) x = p->set[x] = p->set[p->set[x]];
    return x;
}
static void gpumpi_preserve_join(gpumpi_preserve *p, uint32_t a, uint32_t b) {
    a = gpumpi_preserve_find(p, a);
    b = gpumpi_preserve_find(p, b);
    if (a < b)
        p->set[b] = a;
    else
        p->set[a] = b;
}
static uint32_t gpumpi_preserve_node(uint32_t piece, uint32_t kind) { return 3 * piece + kind; }
static void gpumpi_preserve_list(gpumpi_preserve *p, uint32_t piece) {
    uint32_t k;
    if (p->listed_mark[piece] == p->mark) return;
    p->listed_mark[piece] = p->mark;
    p->list[p->listed++] = piece;
    for (k = 0; k < 3; k++) p->set[3 * piece + k] = 3 * piece + k;
}

static int gpumpi_preserve_make_pieces(gpumpi_preserve *p, gpumpi_arena *scratch) {
    const gpump_program *program = p->program;
    uint32_t instructions = gpump_program_instructions(program), registers = gpump_program_registers(program), b, i, k,
             edges = 0, *from, *to, *key = NULL, *value = NULL;
    const gpump_allocator *allocator = &scratch->allocator;
    int ok = 1;
    if (!GPUMPI_ARENA_NEW(scratch, p->first, (size_t)instructions + 1) ||
        !GPUMPI_ARENA_NEW(scratch, p->piece_of, instructions) ||
        !GPUMPI_ARENA_NEW(scratch, from, (size_t)instructions * 2) ||
        !GPUMPI_ARENA_NEW(scratch, to, (size_t)instructions * 2))
        return 0;
    for (b = 0; b < gpump_program_basic_blocks(program); b++) {
        gpump_basic_block block;
        gpump_program_basic_block(program, b, &block);
        for (i = block.first; i < block.first + block.count; i++) {
            if (i == block.first || p->start[i]) p->first[p->pieces++] = i;
            p->piece_of[i] = p->pieces - 1;
        }
    }
    p->first[p->pieces] = instructions;
    for (b = 0; b < gpump_program_basic_blocks(program); b++) {
        gpump_basic_block block, next;
        gpump_program_basic_block(program, b, &block);
        for (i = p->piece_of[block.first]; i < p->piece_of[block.first + block.count - 1]; i++) {
            from[edges] = i;
            to[edges++] = i + 1;
        }
        for (k = 0; k < block.successor_count; k++) {
            gpump_program_basic_block(program, block.successors[k], &next);
            from[edges] = i;
            to[edges++] = p->piece_of[next.first];
        }
    }
    if (!gpumpi_graph_build(scratch, &p->graph, p->pieces, from, to, edges)) return 0;
    for (i = 0; i < instructions && ok; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        for (k = 0; k <= in.def_count + in.use_count && ok; k++) {
            uint32_t operand = k < in.def_count                  ? in.defs[k]
                               : k < in.def_count + in.use_count ? in.uses[k - in.def_count]
                                                                 : in.guard;
            if (operand == GPUMP_NONE) continue;
            GPUMPI_OPERAND_REGISTERS(operand, reg,
                                     ok = ok && GPUMPI_ARRAY_PUSH(allocator, key, reg) &&
                                          GPUMPI_ARRAY_PUSH(allocator, value, i));
        }
    }
    ok = ok && gpumpi_group(scratch, registers, key, value, stbds_arrlenu(value), &p->seen_start, &p->seen);
    GPUMPI_ARRAY_FREE(allocator, key);
    GPUMPI_ARRAY_FREE(allocator, value);
    return ok && GPUMPI_ARENA_NEW(scratch, p->enters, p->pieces) && GPUMPI_ARENA_NEW(scratch, p->leaves, p->pieces) &&
           GPUMPI_ARENA_NEW(scratch, p->kills, p->pieces) && GPUMPI_ARENA_NEW(scratch, p->region, p->pieces) &&
           GPUMPI_ARENA_NEW(scratch, p->stack, p->pieces) && GPUMPI_ARENA_NEW(scratch, p->set, (size_t)p->pieces * 3) &&
           GPUMPI_ARENA_NEW(scratch, p->list, p->pieces) && GPUMPI_ARENA_NEW(scratch, p->listed_mark, p->pieces) &&
           GPUMPI_ARENA_NEW(scratch, p->mention, p->pieces) && GPUMPI_ARENA_NEW(scratch, p->mention_mark, p->pieces) &&
           GPUMPI_ARENA_NEW(scratch, p->color, (size_t)p->pieces * 3) &&
           GPUMPI_ARENA_NEW(scratch, p->color_mark, (size_t)p->pieces * 3);
}

/* How an instruction touches a register: reads, writes whole, writes in part; alone: not as half of a pair. */
static void gpumpi_preserve_touch(const gpump_instruction *in, uint32_t reg, int *reads, int *writes, int *alone) {
    uint32_t k;
    *reads = in->guard == reg;
    *writes = 0;
    for (k = 0; k < in->use_count; k++)
        GPUMPI_OPERAND_REGISTERS(
            in->uses[k], r, if (r == reg) {
                *reads = 1;
                *alone &= !(in->uses[k] & GPUMP_OPERAND_PAIR);
            });
    for (k = 0; k < in->def_count; k++)
        GPUMPI_OPERAND_REGISTERS(
            in->defs[k], r, if (r == reg) {
                *writes = 1;
                *alone &= !(in->defs[k] & GPUMP_OPERAND_PAIR);
            });
}

/* 1 when a write of `reg` leaves nothing of its old value. A check's predicate is one operand, read and written: it
 * keeps one name. */
static int gpumpi_preserve_kills(const gpump_instruction *in, uint32_t reg) {
    int is_check = in->operation == GPUMP_OP_CHECK || (in->flags & GPUMP_FLAG_CHECKED);
    return gpumpi_kills(in) && !(is_check && in->defs[in->def_count - 1] == reg);
}

/* The webs of one register. 0: it takes part in pairs and stays as it is. */
static int gpumpi_preserve_webs(gpumpi_preserve *p, uint32_t reg) {
    uint32_t at, k, e, top = 0, last = GPUMP_NONE;
    p->mark++;
    p->listed = 0;
    for (at = p->seen_start[reg]; at < p->seen_start[reg + 1];
         at++) { /* what each piece does to it, first mention first */
        gpump_instruction in;
        int reads, writes, alone = 1;
        uint32_t piece = p->piece_of[p->seen[at]];
        if (p->seen[at] == last) continue;
        last = p->seen[at];
        gpump_program_instruction(p->program, last, &in);
        gpumpi_preserve_touch(&in, reg, &reads, &writes, &alone);
        if (!alone) return 0;
        gpumpi_preserve_list(p, piece);
        if (p->mention_mark[piece] != p->mark) {
            p->mention_mark[piece] = p->mark;
            p->mention[piece] = at;
        }
        if (reads && p->kills[piece] != p->mark && p->enters[piece] != p->mark)
            p->enters[p->stack[top++] = piece] = p->mark;
        if (writes && gpumpi_preserve_kills(&in, reg)) p->kills[piece] = p->mark;
    }
    while (top) { /* live ranges, upwards; a guarded write lets the old value through */
        uint32_t piece = p->stack[--top];
        for (e = p->graph.pred_start[piece]; e < p->graph.pred_start[piece + 1]; e++) {
            uint32_t from = p->graph.pred[e];
            gpumpi_preserve_list(p, from);
            p->leaves[from] = p->mark;
            if (p->kills[from] != p->mark && p->enters[from] != p->mark) p->enters[p->stack[top++] = from] = p->mark;
        }
    }
    for (k = 0; k < p->listed; k++) {
        uint32_t piece = p->list[k];
        if (p->kills[piece] != p->mark)
            gpumpi_preserve_join(p, gpumpi_preserve_node(piece, GPUMPI_ENTERS),
                                 gpumpi_preserve_node(piece, GPUMPI_LEAVES));
        if (p->leaves[piece] != p->mark) continue;
        for (e = p->graph.succ_start[piece]; e < p->graph.succ_start[piece + 1]; e++) {
            uint32_t to = p->graph.succ[e];
            if (p->enters[to] != p->mark) continue;
            gpumpi_preserve_join(p, gpumpi_preserve_node(piece, GPUMPI_LEAVES),
                                 gpumpi_preserve_node(to, p->start[p->first[to]] ? GPUMPI_ARRIVES : GPUMPI_ENTERS));
        }
    }
    return 1;
}

/* The webs that the region starting at piece `from` writes must not have the name that arrives there. */
static int gpumpi_preserve_conflicts(gpumpi_preserve *p, uint32_t reg, uint32_t from,
                                     const gpump_allocator *allocator) {
    uint32_t top = 0, e, at, last = GPUMP_NONE, mark = ++p->regions;
    p->region[p->stack[top++] = from] = mark;
    while (top) {
        uint32_t piece = p->stack[--top];
        if (p->mention_mark[piece] == p->mark) {
            int killed = 0;
            for (at = p->mention[piece]; at < p->seen_start[reg + 1] && p->piece_of[p->seen[at]] == piece; at++) {
                gpump_instruction in;
                gpumpi_preserve_conflict conflict;
                int reads, writes, alone = 1;
                if (p->seen[at] == last) continue;
                last = p->seen[at];
                gpump_program_instruction(p->program, last, &in);
                gpumpi_preserve_touch(&in, reg, &reads, &writes, &alone);
                if (!writes) continue;
                killed |= gpumpi_preserve_kills(&in, reg);
                conflict.web = gpumpi_preserve_find(p, gpumpi_preserve_node(from, GPUMPI_ARRIVES));
                conflict.other =
                    gpumpi_preserve_find(p, gpumpi_preserve_node(piece, killed ? GPUMPI_LEAVES : GPUMPI_ENTERS));
                if (conflict.web == conflict.other) continue; /* gpumpi_preserve_copy handles it */
                if (!GPUMPI_ARRAY_PUSH(allocator, p->conflicts, conflict)) return 0;
                e = conflict.web;
                conflict.web = conflict.other;
                conflict.other = e;
                if (!GPUMPI_ARRAY_PUSH(allocator, p->conflicts, conflict)) return 0;
            }
        }
        for (e = p->graph.succ_start[piece]; e < p->graph.succ_start[piece + 1]; e++) {
            uint32_t to = p->graph.succ[e];
            if (p->start[p->first[to]] || p->region[to] == mark) continue;
            p->region[p->stack[top++] = to] = mark;
        }
    }
    return 1;
}

static int gpumpi_preserve_by_web(const void *a, const void *b) {
    const gpumpi_preserve_conflict *x = (const gpumpi_preserve_conflict *)a, *y = (const gpumpi_preserve_conflict *)b;
    if (x->web != y->web) return x->web < y->web ? -1 : 1;
    return x->other < y->other ? -1 : x->other > y->other;
}

/* The name of a web: color 0 is the register itself, others are fresh registers made on the way. */
static uint32_t gpumpi_preserve_color(gpumpi_preserve *p, uint32_t web, uint32_t wanted) {
    uint32_t color = wanted, k, tries, first = 0, end = (uint32_t)stbds_arrlenu(p->conflicts);
    if (p->color_mark[web] == p->mark) return p->color[web];
    while (first < end) { /* its conflicts begin at first */
        k = first + (end - first) / 2;
        if (p->conflicts[k].web < web)
            first = k + 1;
        else
            end = k;
    }
    for (tries = 0;; tries++) { /* the wanted one first, then 0, 1, ... */
        int taken = 0;
        if (tries) color = tries - 1;
        for (k = first; k < stbds_arrlenu(p->conflicts) && p->conflicts[k].web == web; k++) {
            uint32_t other = p->conflicts[k].other;
            taken |= p->color_mark[other] == p->mark && p->color[other] == color;
        }
        if (!taken) break;
    }
    p->color_mark[web] = p->mark;
    return p->color[web] = color;
}

static uint32_t gpumpi_preserve_name(gpumpi_preserve *p, uint32_t reg, uint32_t *fresh, uint32_t fresh_count,
                                     uint32_t web) {
    uint32_t color = gpumpi_preserve_color(p, gpumpi_preserve_find(p, web), 0);
    (void)fresh_count;
    return color ? fresh[color - 1] : reg;
}

/* Renames one register: colors its webs, notes the names and the moves. */
static int gpumpi_preserve_rename(gpumpi_preserve *p, uint32_t reg, gpump_regions_report *report,
                                  const gpump_allocator *allocator) {
    uint32_t k, i, last = GPUMP_NONE, colors = 0, *fresh = NULL;
    int ok = 1;
    for (k = 0; k < p->listed; k++) { /* in the order of the list, which begins with the first mention */
        uint32_t piece = p->list[k], node, web;
        for (node = 0; node < 3; node++) {
            uint32_t wanted = 0;
            web = gpumpi_preserve_find(p, gpumpi_preserve_node(piece, node));
            if (node == GPUMPI_ENTERS && p->start[p->first[piece]] && p->enters[piece] == p->mark)
                wanted =
                    gpumpi_preserve_color(p, gpumpi_preserve_find(p, gpumpi_preserve_node(piece, GPUMPI_ARRIVES)), 0);
            web = gpumpi_preserve_color(p, web, wanted);
            if (web > colors) colors = web;
        }
    }
    for (i = 0; i < colors && ok; i++) {
        ok = GPUMPI_ARRAY_PUSH(allocator, fresh, (uint32_t)stbds_arrlenu(p->widths)) &&
             GPUMPI_ARRAY_PUSH(allocator, p->widths, gpump_program_width(p->program, reg));
    }
    for (k = p->seen_start[reg]; k < p->seen_start[reg + 1] && ok && colors; k++) {
        gpump_instruction in;
        int reads, writes, alone = 1;
        uint32_t piece, use, def;
        i = p->seen[k];
        if (i == last) continue;
        piece = p->piece_of[i];
        if (last == GPUMP_NONE || p->piece_of[last] != piece)
            p->region[piece] = 0; /* from here on region[] says whether the piece has killed it */
        last = i;
        gpump_program_instruction(p->program, i, &in);
        gpumpi_preserve_touch(&in, reg, &reads, &writes, &alone);
        use = gpumpi_preserve_name(p, reg, fresh, colors,
                                   gpumpi_preserve_node(piece, p->region[piece] ? GPUMPI_LEAVES : GPUMPI_ENTERS));
        if (writes && gpumpi_preserve_kills(&in, reg)) p->region[piece] = 1;
        def = gpumpi_preserve_name(p, reg, fresh, colors,
                                   gpumpi_preserve_node(piece, p->region[piece] ? GPUMPI_LEAVES : GPUMPI_ENTERS));
        ok = GPUMPI_ARRAY_PUSH(allocator, p->name_at, i) && GPUMPI_ARRAY_PUSH(allocator, p->name_reg, reg) &&
             GPUMPI_ARRAY_PUSH(allocator, p->name_use, use) && GPUMPI_ARRAY_PUSH(allocator, p->name_def, def);
    }
    for (k = 0; k < p->listed && ok && colors; k++) {
        uint32_t piece = p->list[k], arrives, enters;
        gpumpi_insertion move;
        if (!p->start[p->first[piece]] || p->enters[piece] != p->mark) continue;
        arrives = gpumpi_preserve_name(p, reg, fresh, colors, gpumpi_preserve_node(piece, GPUMPI_ARRIVES));
        enters = gpumpi_preserve_name(p, reg, fresh, colors, gpumpi_preserve_node(piece, GPUMPI_ENTERS));
        if (arrives == enters) continue;
        move = gpumpi_insertion_make(GPUMP_OP_MOVE, p->first[piece] + 1);
        move.after_previous = 1;
        move.instruction.def_count = move.instruction.use_count = 1;
        move.defs[0] = enters;
        move.uses[0] = arrives;
        report->moves++;
        ok = GPUMPI_ARRAY_PUSH(allocator, p->moves, move);
    }
    GPUMPI_ARRAY_FREE(allocator, fresh);
    return ok;
}

typedef struct gpumpi_preserve_names {
    uint32_t *start, *order; /* instruction -> entries */
    const gpumpi_preserve *preserve;
} gpumpi_preserve_names;
static int gpumpi_preserve_rewrite(void *user, uint32_t index, gpump_instruction *in, uint32_t *scratch) {
    const gpumpi_preserve_names *names = (const gpumpi_preserve_names *)user;
    const gpumpi_preserve *p = names->preserve;
    uint32_t e, k;
    if (names->start[index] == names->start[index + 1]) return 1;
    for (k = 0; k < in->def_count; k++) scratch[k] = in->defs[k];
    for (k = 0; k < in->use_count; k++) scratch[16 + k] = in->uses[k];
    for (e = names->start[index]; e < names->start[index + 1]; e++) {
        uint32_t entry = names->order[e], guard = in->guard;
        for (k = 0; k < in->def_count; k++)
            if (in->defs[k] == p->name_reg[entry]) scratch[k] = p->name_def[entry];
        for (k = 0; k < in->use_count; k++)
            if (in->uses[k] == p->name_reg[entry]) scratch[16 + k] = p->name_use[entry];
        if (guard == p->name_reg[entry] && guard != GPUMP_NONE)
            scratch[16 + in->use_count] = p->name_use[entry];
        else if (e == names->start[index])
            scratch[16 + in->use_count] = guard;
    }
    in->defs = scratch;
    in->uses = scratch + 16;
    in->guard = scratch[16 + in->use_count];
    return 1;
}

static int gpumpi_preserve_compare(const void *a, const void *b) {
    const gpumpi_insertion *x = (const gpumpi_insertion *)a, *y = (const gpumpi_insertion *)b;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    return x->defs[0] < y->defs[0] ? -1 : x->defs[0] > y->defs[0];
}
static int gpumpi_preserve_by_register(const void *a, const void *b) {
    const gpumpi_register_clobber *x = (const gpumpi_register_clobber *)a, *y = (const gpumpi_register_clobber *)b;
    if (x->reg != y->reg) return x->reg < y->reg ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}
static int gpumpi_preserve_by_start(const void *a, const void *b) {
    const gpumpi_register_clobber *x = (const gpumpi_register_clobber *)a, *y = (const gpumpi_register_clobber *)b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->reg < y->reg ? -1 : x->reg > y->reg;
}

/* The register clobbers of a program at a level. */
static gpump_result gpumpi_preserve_clobbers(const gpump_program *program, uint32_t level, uint8_t *start,
                                             gpumpi_arena *scratch, gpumpi_register_clobber **list) {
    const gpump_allocator *allocator = &scratch->allocator;
    gpump_liveness *liveness;
    gpump_result result = gpump_liveness_create(program, allocator, &liveness);
    if (result != GPUMP_OK) return result;
    gpumpi_boundary_starts(program, level, start);
    if (!gpumpi_register_clobbers(scratch, program, liveness, start, allocator, list)) result = GPUMP_ERROR_MEMORY;
    gpump_liveness_destroy(liveness);
    return result;
}

/* One level's renaming: *out stays NULL when nothing needs it. */
static gpump_result gpumpi_preserve_level(const gpump_program *program, const uint32_t *origin, uint32_t level,
                                          gpump_program **out, gpump_regions_report *report, gpump_diag *diag) {
    const gpump_allocator *allocator = gpumpi_program_allocator(program);
    gpumpi_arena scratch = gpumpi_arena_make(allocator);
    gpumpi_register_clobber *list = NULL;
    gpumpi_preserve p;
    gpumpi_preserve_names names;
    gpumpi_edit edit;
    uint8_t *start;
    uint32_t i, k, *identity;
    gpump_result result = GPUMP_ERROR_MEMORY;
    memset(&p, 0, sizeof p);
    p.program = program;
    p.regions = 1; /* 0 and 1 in region[] are renaming's */
    if (!GPUMPI_ARENA_NEW(&scratch, start, gpump_program_instructions(program))) goto end;
    p.start = start;
    result = gpumpi_preserve_clobbers(program, level, start, &scratch, &list);
    if (result != GPUMP_OK || !stbds_arrlenu(list)) goto end;
    result = GPUMP_ERROR_MEMORY;
    if (!gpumpi_preserve_make_pieces(&p, &scratch)) goto end;
    for (i = 0; i < gpump_program_registers(program); i++)
        if (!GPUMPI_ARRAY_PUSH(allocator, p.widths, gpump_program_width(program, i))) goto end;
    qsort(list, stbds_arrlenu(list), sizeof *list, gpumpi_preserve_by_register);
    for (i = 0; i < stbds_arrlenu(list); i = k) {
        int alone = gpumpi_preserve_webs(&p, list[i].reg);
        if (p.conflicts) stbds_header(p.conflicts)->length = 0;
        for (k = i; k < stbds_arrlenu(list) && list[k].reg == list[i].reg; k++)
            if (alone && !gpumpi_preserve_conflicts(&p, list[k].reg, p.piece_of[list[k].start], allocator)) goto end;
        if (p.conflicts) qsort(p.conflicts, stbds_arrlenu(p.conflicts), sizeof *p.conflicts, gpumpi_preserve_by_web);
        if (alone && !gpumpi_preserve_rename(&p, list[i].reg, report, allocator)) goto end;
    }
    names.preserve = &p;
    k = (uint32_t)stbds_arrlenu(p.name_at);
    if (!GPUMPI_ARENA_NEW(&scratch, identity, k)) goto end;
    for (i = 0; i < k; i++) identity[i] = i;
    if (!gpumpi_group(&scratch, gpump_program_instructions(program), p.name_at, identity, k, &names.start,
                      &names.order))
        goto end;
    if (p.moves) qsort(p.moves, stbds_arrlenu(p.moves), sizeof *p.moves, gpumpi_preserve_compare);
    memset(&edit, 0, sizeof edit);
    edit.program = program;
    edit.insertions = p.moves;
    edit.insertion_count = (uint32_t)stbds_arrlenu(p.moves);
    edit.rewrite = gpumpi_preserve_rewrite;
    edit.user = &names;
    edit.widths = p.widths;
    edit.registers = (uint32_t)stbds_arrlenu(p.widths);
    edit.origin = origin;
    result = gpumpi_program_edit(&edit, out, diag);
end:
    GPUMPI_ARRAY_FREE(allocator, list);
    GPUMPI_ARRAY_FREE(allocator, p.moves);
    GPUMPI_ARRAY_FREE(allocator, p.name_at);
    GPUMPI_ARRAY_FREE(allocator, p.name_reg);
    GPUMPI_ARRAY_FREE(allocator, p.name_use);
    GPUMPI_ARRAY_FREE(allocator, p.name_def);
    GPUMPI_ARRAY_FREE(allocator, p.widths);
    GPUMPI_ARRAY_FREE(allocator, p.conflicts);
    gpumpi_arena_free(&scratch);
    return result;
}

/* ---- copying through a second boundary ---- */

/* Inserts boundary; t = v; boundary; v = t. The first region only reads v, and the second writes v before it reads it,
 * so neither clobbers it. Renaming leaves few registers to copy. *out stays NULL when none is left. */
static gpump_result gpumpi_preserve_copy(const gpump_program *program, const uint32_t *origin, uint32_t level,
                                         gpump_program **out, gpump_regions_report *report, gpump_diag *diag) {
    const gpump_allocator *allocator = gpumpi_program_allocator(program);
    gpumpi_arena scratch = gpumpi_arena_make(allocator);
    gpumpi_register_clobber *list = NULL;
    gpumpi_insertion *insertions = NULL;
    gpumpi_edit edit;
    uint32_t *widths = NULL, i, k, n;
    uint8_t *start;
    gpump_result result = GPUMP_ERROR_MEMORY;
    if (!GPUMPI_ARENA_NEW(&scratch, start, gpump_program_instructions(program))) goto end;
    result = gpumpi_preserve_clobbers(program, level, start, &scratch, &list);
    if (result != GPUMP_OK || !stbds_arrlenu(list)) goto end;
    result = GPUMP_ERROR_MEMORY;
    for (i = 0; i < gpump_program_registers(program); i++)
        if (!GPUMPI_ARRAY_PUSH(allocator, widths, gpump_program_width(program, i))) goto end;
    qsort(list, stbds_arrlenu(list), sizeof *list, gpumpi_preserve_by_start);
    for (i = 0; i < stbds_arrlenu(list); i = k) {
        uint32_t first = (uint32_t)stbds_arrlenu(widths), half;
        gpump_instruction boundary;
        gpump_program_instruction(program, list[i].start, &boundary);
        for (half = 0; half < 2; half++) {
            for (k = i, n = 0; k < stbds_arrlenu(list) && list[k].start == list[i].start; k++, n++) {
                gpumpi_insertion move = gpumpi_insertion_make(GPUMP_OP_MOVE, list[i].start + 1);
                move.after_previous = 1;
                move.instruction.def_count = move.instruction.use_count = 1;
                move.defs[0] = half ? list[k].reg : first + n;
                move.uses[0] = half ? first + n : list[k].reg;
                report->moves++;
                if ((!half && !GPUMPI_ARRAY_PUSH(allocator, widths, gpump_program_width(program, list[k].reg))) ||
                    !GPUMPI_ARRAY_PUSH(allocator, insertions, move))
                    goto end;
            }
            if (!half) {
                gpumpi_insertion second = gpumpi_insertion_make(GPUMP_OP_BOUNDARY, list[i].start + 1);
                second.after_previous = 1;
                second.instruction.immediate = boundary.immediate;
                second.instruction.tag = GPUMP_CUT_COPY;
                if (!GPUMPI_ARRAY_PUSH(allocator, insertions, second)) goto end;
                report->copies += n;
                report->cuts[GPUMP_CUT_COPY]++;
                if (boundary.immediate == GPUMP_BOUNDARY_SHORT)
                    report->shorts++;
                else
                    report->sparse++;
            }
        }
    }
    memset(&edit, 0, sizeof edit);
    edit.program = program;
    edit.insertions = insertions;
    edit.insertion_count = (uint32_t)stbds_arrlenu(insertions);
    edit.widths = widths;
    edit.registers = (uint32_t)stbds_arrlenu(widths);
    edit.origin = origin;
    result = gpumpi_program_edit(&edit, out, diag);
end:
    GPUMPI_ARRAY_FREE(allocator, list);
    GPUMPI_ARRAY_FREE(allocator, insertions);
    GPUMPI_ARRAY_FREE(allocator, widths);
    gpumpi_arena_free(&scratch);
    return result;
}

GPUMP_API gpump_result gpumpi_regions_preserve(const gpump_program *program, const uint32_t *origin,
                                               gpump_program **preserved, gpump_regions_report *report,
                                               gpump_diag *diag) {
    gpump_regions_report found;
    gpump_program *at = NULL, *next;
    gpumpi_edit copy;
    gpump_result result;
    uint32_t step, quiet = 0;
    if (report)
        found = *report;
    else
        memset(&found, 0, sizeof found);
    memset(&copy, 0, sizeof copy);
    copy.program = program;
    copy.origin = origin;
    result = gpumpi_program_edit(&copy, &at, diag);
    /* rename for sparse regions, then for short ones; then copy what is left, looking at both again until both are
     * quiet */
    for (step = 0; result == GPUMP_OK && quiet < 2; step++) {
        next = NULL;
        result = step < 2 ? gpumpi_preserve_level(at, gpump_program_origin(at), step, &next, &found, diag)
                          : gpumpi_preserve_copy(at, gpump_program_origin(at), !(step % 2), &next, &found, diag);
        if (result != GPUMP_OK) break;
        quiet = next || step < 2 ? 0 : quiet + 1;
        if (!next) continue;
        gpump_program_destroy(at);
        at = next;
    }
    if (result != GPUMP_OK) {
        if (result == GPUMP_ERROR_MEMORY) gpumpi_fail(diag, result, "program", 0, 0, 0, 0);
        gpump_program_destroy(at);
        return result;
    }
    if (report) *report = found;
    *preserved = at;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_regions_preserve(const gpump_program *program, gpump_program **preserved,
                                              gpump_regions_report *report, gpump_diag *diag) {
    if (!program || !preserved) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "program", 0, 0, 1, 1);
    if (!gpump_program_basic_blocks(program)) return gpumpi_fail(diag, GPUMP_ERROR_STATE, "program", 0, 0, 1, 1);
    return gpumpi_regions_preserve(program, NULL, preserved, report, diag);
}
#endif

/* ---- gpump_impl/program/page_checks.c ---- */
/* page_checks: walks, predicated loops, and single checks */



#ifndef GPUMP_NO_PROGRAM

GPUMP_API gpump_result gpump_page_checks_config_preset(gpump_page_checks_config *config, const char *preset) {
    if (!config || !preset) return GPUMP_ERROR_ARGUMENT;
    if (strcmp(preset, "kim") && strcmp(preset, "kim_plain")) return GPUMP_ERROR_UNKNOWN_NAME;
    memset(config, 0, sizeof *config);
    config->struct_size = (uint32_t)sizeof *config;
    config->page_bytes = 4096;
    config->bits = 4;
    config->walks = config->predicated = !preset[3];
    return GPUMP_OK;
}

enum { GPUMPI_PAGES_BITS = 8 };
/* A predicated loop: one basic block. */
typedef struct gpumpi_pages_loop {
    uint32_t block, marker;          /* marker: index of its insertion */
    uint32_t bit[GPUMPI_PAGES_BITS]; /* check predicates; bit 0 holds for all at the end */
    uint32_t bits;
} gpumpi_pages_loop;

typedef struct gpumpi_pages {
    const gpump_program *program;
    const gpump_liveness *liveness;
    const gpump_page_checks_config *config;
    gpump_page_checks_report *report;
    const gpump_allocator *allocator;
    gpumpi_insertion *insertions;
    uint32_t *widths;
    uint32_t check;    /* the predicate of single checks and walks; GPUMP_NONE until needed */
    uint32_t *in_loop; /* basic block -> predicated loop + 1, or 0 */
    gpumpi_pages_loop *loops;
    /* per instruction of predicated loops */
    uint32_t *load_bit;   /* loads: which bit they set, + 1 */
    uint32_t *load_guard; /* loads: 1 when an earlier check decides whether they run */
    /* Register -> the register in which the current predicated loop keeps its next value, or GPUMP_NONE. */
    uint32_t *temporary;
    uint32_t *temporary_at;            /* instruction -> index of its first entry in renames; one more at the end */
    uint32_t *rename_from, *rename_to; /* pairs; a def is renamed when rename_def */
    uint8_t *rename_def;
} gpumpi_pages;

static int gpumpi_pages_is_access(const gpump_instruction *in) {
    return in->operation == GPUMP_OP_COMPUTE && in->access && !(in->flags & GPUMP_FLAG_RESIDENT) &&
           (in->space == GPUMP_SPACE_GLOBAL || in->space == GPUMP_SPACE_GENERIC);
}
static int gpumpi_pages_register(gpumpi_pages *pages, uint32_t width, uint32_t *reg) {
    *reg = (uint32_t)stbds_arrlenu(pages->widths);
    return GPUMPI_ARRAY_PUSH(pages->allocator, pages->widths, width);
}
static int gpumpi_pages_put(gpumpi_pages *pages, const gpumpi_insertion *insertion) {
    return GPUMPI_ARRAY_PUSH(pages->allocator, pages->insertions, *insertion);
}
/* defs[0] = immediate, under a guard unless GPUMP_NONE. */
static int gpumpi_pages_set(gpumpi_pages *pages, uint32_t before, uint32_t predicate, int64_t value, uint32_t guard) {
    gpumpi_insertion set = gpumpi_insertion_make(GPUMP_OP_CONSTANT, before);
    set.instruction.def_count = 1;
    set.defs[0] = predicate;
    set.instruction.immediate = value;
    set.instruction.guard = guard;
    return gpumpi_pages_put(pages, &set);
}

/* start_marker; clear; check; call: what stands before access i. */
static int gpumpi_pages_single(gpumpi_pages *pages, uint32_t i, const gpump_instruction *in) {
    gpumpi_insertion marker = gpumpi_insertion_make(GPUMP_OP_START_MARKER, i),
                     clear = gpumpi_insertion_make(GPUMP_OP_CLEAR_CHECK, i),
                     check = gpumpi_insertion_make(GPUMP_OP_CHECK, i),
                     call = gpumpi_insertion_make(GPUMP_OP_GUARDED_CALL, i);
    if (pages->check == GPUMP_NONE && !gpumpi_pages_register(pages, GPUMP_WIDTH_PREDICATE, &pages->check)) return 0;
    clear.instruction.def_count = 1;
    clear.defs[0] = pages->check;
    check.instruction.access = in->access;
    check.instruction.space = in->space;
    check.instruction.bytes = in->bytes;
    check.instruction.displacement = in->displacement;
    check.instruction.guard = in->guard;
    check.instruction.flags = in->flags & GPUMP_FLAG_GUARD_NEGATED;
    check.instruction.def_count = 1;
    check.instruction.use_count = 2;
    check.defs[0] = check.uses[1] = pages->check;
    check.uses[0] = in->uses[0];
    call.instruction.guard = pages->check;
    call.instruction.target = GPUMPI_NEW | (uint32_t)stbds_arrlenu(pages->insertions);
    return gpumpi_pages_put(pages, &marker) && gpumpi_pages_put(pages, &clear) && gpumpi_pages_put(pages, &check) &&
           gpumpi_pages_put(pages, &call);
}

/* 1 when every iteration of `loop` runs through basic block b. */
static int gpumpi_pages_always(const gpump_program *program, uint32_t loop, uint32_t b) {
    gpump_loop l;
    gpump_basic_block header;
    uint32_t k;
    gpump_program_loop(program, loop, &l);
    gpump_program_basic_block(program, l.header, &header);
    for (k = 0; k < header.predecessor_count; k++)
        if (gpump_program_in_loop(program, loop, header.predecessors[k]) &&
            !gpump_program_dominates(program, b, header.predecessors[k]))
            return 0;
    return 1;
}

/* Does access i walk? *step: how far in each iteration. changes: register -> its ADD when that is all that writes it in
 * its innermost loop, GPUMP_NONE when there is more. */
static int gpumpi_pages_walks(const gpumpi_pages *pages, uint32_t i, const gpump_instruction *in,
                              const uint32_t *writes, const uint32_t *add, int64_t *step) {
    const gpump_program *program = pages->program;
    uint32_t b = gpump_program_basic_block_of(program, i), reg = in->uses[0];
    gpump_basic_block block, where;
    gpump_loop loop;
    gpump_instruction change;
    if (!pages->config->walks || in->guard != GPUMP_NONE || reg & (GPUMP_OPERAND_PARAMETER | GPUMP_OPERAND_PAIR))
        return 0;
    gpump_program_basic_block(program, b, &block);
    if (block.loop == GPUMP_NONE || add[reg] == GPUMP_NONE) return 0;
    gpump_program_loop(program, block.loop, &loop);
    gpump_program_basic_block(program, gpump_program_basic_block_of(program, add[reg]), &where);
    if (!loop.innermost || loop.irreducible || where.loop != block.loop) return 0;
    if (writes[2 * reg] != block.loop || writes[2 * reg + 1] != 1) return 0; /* written elsewhere in this loop */
    gpump_program_instruction(program, add[reg], &change);
    *step = change.immediate;
    return change.guard == GPUMP_NONE && change.immediate && change.immediate > -(int64_t)pages->config->page_bytes &&
           change.immediate < (int64_t)pages->config->page_bytes && gpumpi_pages_always(program, block.loop, b) &&
           gpumpi_pages_always(program, block.loop, gpump_program_basic_block_of(program, add[reg]));
}

/* Before the loop: q = 1. Before the access: unless q, q = a page was entered; unless q, go on; q = 0; a single check.
 */
static int gpumpi_pages_walk(gpumpi_pages *pages, uint32_t i, const gpump_instruction *in, int64_t step, uint32_t q) {
    gpumpi_insertion entered = gpumpi_insertion_make(GPUMP_OP_PAGE_ENTERED, i),
                     skip = gpumpi_insertion_make(GPUMP_OP_BRANCH, i);
    entered.instruction.def_count = entered.instruction.use_count = 1;
    entered.defs[0] = q;
    entered.uses[0] = in->uses[0];
    entered.instruction.guard = q;
    entered.instruction.flags = GPUMP_FLAG_GUARD_NEGATED;
    entered.instruction.immediate = pages->config->page_bytes;
    entered.instruction.bytes = (uint32_t)(step < 0 ? -step : step);
    entered.instruction.displacement =
        in->displacement + (step < 0 ? -step : 0); /* downwards: the last bytes of a page, seen from above */
    skip.instruction.guard = q;
    skip.instruction.flags = GPUMP_FLAG_GUARD_NEGATED;
    skip.instruction.target = i | GPUMPI_NEW_BODY;
    return gpumpi_pages_put(pages, &entered) && gpumpi_pages_put(pages, &skip) &&
           gpumpi_pages_set(pages, i, q, 0, GPUMP_NONE) && gpumpi_pages_single(pages, i, in);
}

/* ---- predicated loops ---- */

/* 1 when basic block b can be a predicated loop: it branches to itself, touches memory only by loading, guards nothing,
 * and its condition is not carried. */
static int gpumpi_pages_can_predicate(const gpumpi_pages *pages, uint32_t b) {
    const gpump_program *program = pages->program;
    gpump_basic_block block;
    gpump_instruction in, last;
    const uint32_t *live;
    uint32_t i, k, count, loads = 0;
    if (!pages->config->predicated) return 0;
    gpump_program_basic_block(program, b, &block);
    gpump_program_instruction(program, block.first + block.count - 1, &last);
    if (last.operation != GPUMP_OP_BRANCH || last.guard == GPUMP_NONE || last.target != block.first ||
        block.successor_count < 2)
        return 0;
    for (i = block.first; i + 1 < block.first + block.count; i++) {
        gpump_program_instruction(program, i, &in);
        if (in.guard != GPUMP_NONE || in.flags & ~(uint32_t)(GPUMP_FLAG_UNIFORM | GPUMP_FLAG_RESIDENT) ||
            in.access & GPUMP_ACCESS_WRITE || in.def_count > 14)
            return 0;
        if (in.operation != GPUMP_OP_COMPUTE && in.operation != GPUMP_OP_MOVE && in.operation != GPUMP_OP_CONSTANT &&
            in.operation != GPUMP_OP_PARAMETER && in.operation != GPUMP_OP_ADD)
            return 0;
        for (k = 0; k < in.def_count + in.use_count; k++)
            if ((k < in.def_count ? in.defs[k] : in.uses[k - in.def_count]) & GPUMP_OPERAND_PAIR &&
                !((k < in.def_count ? in.defs[k] : in.uses[k - in.def_count]) & GPUMP_OPERAND_PARAMETER))
                return 0;
        loads += (uint32_t)gpumpi_pages_is_access(&in);
    }
    gpump_liveness_block_in(pages->liveness, b, &live, &count);
    for (k = 0; k < count; k++)
        if (live[k] == last.guard) return 0;
    for (i = block.first, k = 0; i < block.first + block.count; i++) { /* the condition must be made in the block */
        gpump_program_instruction(program, i, &in);
        k |= in.def_count && in.defs[0] == last.guard;
    }
    return loads && k;
}

/* Marks, for each register, whether it holds something loaded in this iteration. */
static int gpumpi_pages_predicate(gpumpi_pages *pages, uint32_t b, uint8_t *loaded, const uint8_t *is_walk) {
    const gpump_program *program = pages->program;
    gpumpi_pages_loop loop;
    gpumpi_insertion marker, clear, call;
    gpump_basic_block block;
    gpump_instruction in, last;
    const uint32_t *live;
    uint32_t i, k, count, used = 0, entry_loop;
    gpump_program_basic_block(program, b, &block);
    entry_loop = block.loop;
    gpump_program_instruction(program, block.first + block.count - 1, &last);
    memset(&loop, 0, sizeof loop);
    loop.block = b;
    loop.marker = (uint32_t)stbds_arrlenu(pages->insertions);
    memset(loaded, 0, gpump_program_registers(program));
    for (i = block.first; i < block.first + block.count;
         i++) { /* bits: one for each load whose address is not loaded, while they last */
        int depends = 0;
        gpump_program_instruction(program, i, &in);
        for (k = 0; k < in.use_count; k++) depends |= !(in.uses[k] & GPUMP_OPERAND_PARAMETER) && loaded[in.uses[k]];
        if (gpumpi_pages_is_access(&in) && !is_walk[i]) {
            uint32_t address = in.uses[0], bit = used < pages->config->bits ? used : 0;
            pages->load_guard[i] = used && !(address & GPUMP_OPERAND_PARAMETER) && loaded[address];
            if (pages->load_guard[i]) bit = 0;
            if (used < pages->config->bits && !pages->load_guard[i]) used++;
            pages->load_bit[i] = bit + 1;
            pages->report->predicated++;
            depends = 1;
        } else if (in.access) /* guarded when an operand comes from a checked load, which may not have been done */
            pages->load_guard[i] = (uint32_t)depends;
        for (k = 0; k < in.def_count; k++) loaded[in.defs[k]] = (uint8_t)depends;
    }
    if (!used) used = 1;
    for (loop.bits = 0; loop.bits < used; loop.bits++)
        if (!gpumpi_pages_register(pages, GPUMP_WIDTH_PREDICATE, &loop.bit[loop.bits])) return 0;
    marker = gpumpi_insertion_make(GPUMP_OP_START_MARKER, block.first);
    marker.entry_loop = entry_loop;
    if (!gpumpi_pages_put(pages, &marker)) return 0;
    for (k = 0; k < loop.bits; k++) {
        clear = gpumpi_insertion_make(GPUMP_OP_CLEAR_CHECK, block.first);
        clear.entry_loop = entry_loop;
        clear.instruction.def_count = 1;
        clear.defs[0] = loop.bit[k];
        if (!gpumpi_pages_put(pages, &clear)) return 0;
    }
    gpump_liveness_block_in(pages->liveness, b, &live, &count);
    for (k = 0; k < gpump_program_registers(program); k++) pages->temporary[k] = GPUMP_NONE;
    for (i = block.first; i < block.first + block.count; i++) {
        uint32_t n;
        pages->temporary_at[i] = (uint32_t)stbds_arrlenu(pages->rename_from);
        gpump_program_instruction(program, i, &in);
        if (pages->load_guard[i]) /* it follows what was loaded: all earlier checks count */
            for (k = 1; k < loop.bits; k++)
                if (!gpumpi_pages_set(pages, i, loop.bit[0], 1, loop.bit[k])) return 0;
        for (k = 0; k < in.use_count; k++)
            if (!(in.uses[k] & GPUMP_OPERAND_PARAMETER) && pages->temporary[in.uses[k]] != GPUMP_NONE &&
                (!GPUMPI_ARRAY_PUSH(pages->allocator, pages->rename_from, in.uses[k]) ||
                 !GPUMPI_ARRAY_PUSH(pages->allocator, pages->rename_to, pages->temporary[in.uses[k]]) ||
                 !GPUMPI_ARRAY_PUSH(pages->allocator, pages->rename_def, 0)))
                return 0;
        for (k = 0; k < in.def_count; k++) {
            for (n = 0; n < count && live[n] != in.defs[k]; n++) {}
            if (n == count) continue; /* not carried into the next iteration */
            if (pages->temporary[in.defs[k]] == GPUMP_NONE &&
                !gpumpi_pages_register(pages, gpump_program_width(program, in.defs[k]), &pages->temporary[in.defs[k]]))
                return 0;
            if (!GPUMPI_ARRAY_PUSH(pages->allocator, pages->rename_from, in.defs[k]) ||
                !GPUMPI_ARRAY_PUSH(pages->allocator, pages->rename_to, pages->temporary[in.defs[k]]) ||
                !GPUMPI_ARRAY_PUSH(pages->allocator, pages->rename_def, 1))
                return 0;
        }
    }
    i = block.first + block.count - 1;
    for (k = 1; k < loop.bits; k++)
        if (!gpumpi_pages_set(pages, i, loop.bit[0], 1, loop.bit[k])) return 0;
    for (k = 0; k < count; k++) { /* nothing faulted: the iteration counts */
        gpumpi_insertion move = gpumpi_insertion_make(GPUMP_OP_MOVE, i);
        if (pages->temporary[live[k]] == GPUMP_NONE) continue;
        move.instruction.def_count = move.instruction.use_count = 1;
        move.defs[0] = live[k];
        move.uses[0] = pages->temporary[live[k]];
        move.instruction.guard = loop.bit[0];
        move.instruction.flags = GPUMP_FLAG_GUARD_NEGATED;
        if (!gpumpi_pages_put(pages, &move)) return 0;
    }
    if (!gpumpi_pages_set(pages, i, last.guard, (last.flags & GPUMP_FLAG_GUARD_NEGATED) != 0, loop.bit[0])) return 0;
    call = gpumpi_insertion_make(GPUMP_OP_GUARDED_CALL, i + 1);
    call.after_previous = 1;
    call.instruction.guard = loop.bit[0];
    call.instruction.target = GPUMPI_NEW | loop.marker;
    pages->report->loops++;
    return gpumpi_pages_put(pages, &call) && GPUMPI_ARRAY_PUSH(pages->allocator, pages->loops, loop) &&
           ((pages->in_loop[b] = (uint32_t)stbds_arrlenu(pages->loops)) != 0);
}

static int gpumpi_pages_rewrite(void *user, uint32_t index, gpump_instruction *in, uint32_t *scratch) {
    const gpumpi_pages *pages = (const gpumpi_pages *)user;
    uint32_t b = gpump_program_basic_block_of(pages->program, index), k, e;
    const gpumpi_pages_loop *loop;
    if (!pages->in_loop[b]) return 1;
    loop = &pages->loops[pages->in_loop[b] - 1];
    for (k = 0; k < in->def_count; k++) scratch[k] = in->defs[k];
    for (k = 0; k < in->use_count; k++) scratch[16 + k] = in->uses[k];
    for (e = pages->temporary_at[index]; e < pages->temporary_at[index + 1]; e++) {
        for (k = 0; k < in->def_count && pages->rename_def[e]; k++)
            if (in->defs[k] == pages->rename_from[e]) scratch[k] = pages->rename_to[e];
        for (k = 0; k < in->use_count && !pages->rename_def[e]; k++)
            if (in->uses[k] == pages->rename_from[e]) scratch[16 + k] = pages->rename_to[e];
    }
    if (pages->load_bit[index]) {
        uint32_t bit = loop->bit[pages->load_bit[index] - 1];
        in->flags |= GPUMP_FLAG_CHECKED;
        scratch[in->def_count++] = bit;
        scratch[16 + in->use_count++] = bit;
    }
    if (pages->load_guard[index]) {
        in->guard = loop->bit[0];
        in->flags |= GPUMP_FLAG_GUARD_NEGATED;
    }
    in->defs = scratch;
    in->uses = scratch + 16;
    return 1;
}

/* Writes of each register per innermost loop: writes[2r] the loop last seen, writes[2r + 1] how often; add[r]: an ADD r
 * = r
 * + step. */
static void gpumpi_pages_changes(const gpump_program *program, uint32_t *writes, uint32_t *add) {
    uint32_t i, k, r;
    for (r = 0; r < gpump_program_registers(program); r++) {
        add[r] = writes[2 * r] = GPUMP_NONE;
        writes[2 * r + 1] = 0;
    }
    for (i = 0; i < gpump_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_basic_block block;
        gpump_loop loop;
        gpump_program_instruction(program, i, &in);
        gpump_program_basic_block(program, gpump_program_basic_block_of(program, i), &block);
        if (block.loop == GPUMP_NONE) continue;
        gpump_program_loop(program, block.loop, &loop);
        if (!loop.innermost) continue;
        for (k = 0; k < in.def_count; k++)
            GPUMPI_OPERAND_REGISTERS(in.defs[k], reg, {
                if (writes[2 * reg] == GPUMP_NONE || writes[2 * reg] == block.loop) {
                    writes[2 * reg] = block.loop;
                    writes[2 * reg + 1]++;
                } else
                    writes[2 * reg + 1] = 1000; /* several innermost loops change it */
                if (in.operation == GPUMP_OP_ADD && in.uses[0] == in.defs[k]) add[reg] = i;
            });
    }
}

static int gpumpi_pages_compare(const void *a, const void *b) {
    const uint32_t *x = (const uint32_t *)a, *y = (const uint32_t *)b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

/* Returns GPUMP_OK, or the error of an argument that gpump_page_checks_insert refuses. */
static gpump_result gpumpi_pages_refuse(const gpump_program *program, const gpump_page_checks_config *config,
                                        int has_result, gpump_diag *diag) {
    uint32_t i;
    if (!program || !config || !has_result) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "program", 0, 0, 1, 1);
    if (!gpump_program_basic_blocks(program)) return gpumpi_fail(diag, GPUMP_ERROR_STATE, "program", 0, 0, 1, 1);
    if (config->struct_size != sizeof *config)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "struct_size", 0, config->struct_size, sizeof *config,
                           sizeof *config);
    if (config->page_bytes < 16 || config->page_bytes & (config->page_bytes - 1) ||
        config->page_bytes > UINT32_C(1) << 30)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "page_bytes", 0, config->page_bytes, 16, UINT32_C(1) << 30);
    if (config->bits < 1 || config->bits > GPUMPI_PAGES_BITS)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "bits", 0, config->bits, 1, GPUMPI_PAGES_BITS);
    for (i = 0; i < gpump_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (gpumpi_pages_is_access(&in) && (!in.use_count || (in.flags & GPUMP_FLAG_CHECKED)))
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "uses", i, in.use_count, 1, 64);
    }
    return GPUMP_OK;
}

/* Checks access i, a walk of `loop`, once per page. A new predicate tells whether the page was checked; it is set at
 * the loop's entry. 1 done, 0 out of memory. */
static int gpumpi_pages_walk_entered(gpumpi_pages *pages, uint32_t i, const gpump_instruction *in, int64_t step,
                                     uint32_t innermost) {
    gpumpi_insertion entry;
    gpump_loop loop;
    gpump_basic_block header;
    uint32_t q;
    gpump_program_loop(pages->program, innermost, &loop);
    gpump_program_basic_block(pages->program, loop.header, &header);
    entry = gpumpi_insertion_make(GPUMP_OP_CONSTANT, header.first);
    entry.entry_loop = innermost;
    if (!gpumpi_pages_register(pages, GPUMP_WIDTH_PREDICATE, &q)) return 0;
    entry.instruction.def_count = 1;
    entry.instruction.immediate = 1;
    entry.defs[0] = q;
    return gpumpi_pages_put(pages, &entry) && gpumpi_pages_walk(pages, i, in, step, q);
}

/* Makes the new program from pages->insertions. Sorts them by place: behind the previous instruction, at a loop's
 * entry, then the rest. Branch targets among the insertions follow. */
static gpump_result gpumpi_pages_apply(gpumpi_pages *pages, gpumpi_arena *scratch, gpump_program **checked,
                                       gpump_diag *diag) {
    gpumpi_edit edit;
    gpumpi_insertion *sorted;
    uint32_t n = (uint32_t)stbds_arrlenu(pages->insertions), i, k, *keys, *place;
    if (!GPUMPI_ARENA_NEW(scratch, keys, (size_t)n * 2) || !GPUMPI_ARENA_NEW(scratch, place, n) ||
        !GPUMPI_ARENA_NEW(scratch, sorted, n))
        return GPUMP_ERROR_MEMORY;
    for (i = 0; i < n; i++) {
        const gpumpi_insertion *x = &pages->insertions[i];
        keys[2 * i] = 3 * x->before + (x->after_previous ? 0 : x->entry_loop != GPUMP_NONE ? 1u : 2u);
        keys[2 * i + 1] = i;
    }
    qsort(keys, n, 2 * sizeof *keys, gpumpi_pages_compare);
    for (i = 0; i < n; i++) place[keys[2 * i + 1]] = i;
    for (i = 0; i < n; i++) {
        sorted[i] = pages->insertions[keys[2 * i + 1]];
        k = sorted[i].instruction.target;
        if (k != GPUMP_NONE && k & GPUMPI_NEW) sorted[i].instruction.target = GPUMPI_NEW | place[k & ~GPUMPI_NEW];
    }
    memset(&edit, 0, sizeof edit);
    edit.program = pages->program;
    edit.insertions = sorted;
    edit.insertion_count = n;
    edit.rewrite = gpumpi_pages_rewrite;
    edit.user = pages;
    edit.widths = pages->widths;
    edit.registers = (uint32_t)stbds_arrlenu(pages->widths);
    return gpumpi_program_edit(&edit, checked, diag);
}

GPUMP_API gpump_result gpump_page_checks_insert(const gpump_program *program, const gpump_page_checks_config *config,
                                                gpump_program **checked, gpump_page_checks_report *report,
                                                gpump_diag *diag) {
    gpumpi_arena scratch;
    gpumpi_pages pages;
    gpump_liveness *liveness = NULL;
    gpump_page_checks_report found;
    uint32_t instructions = gpump_program_instructions(program), registers = gpump_program_registers(program), i, b,
             *writes, *add;
    uint8_t *loaded, *is_walk;
    gpump_result result;
    result = gpumpi_pages_refuse(program, config, checked != NULL, diag);
    if (result != GPUMP_OK) return result;
    scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    memset(&pages, 0, sizeof pages);
    memset(&found, 0, sizeof found);
    result = gpump_liveness_create(program, gpumpi_program_allocator(program), &liveness);
    if (result != GPUMP_OK) goto end;
    result = GPUMP_ERROR_MEMORY;
    pages.program = program;
    pages.liveness = liveness;
    pages.config = config;
    pages.report = &found;
    pages.allocator = gpumpi_program_allocator(program);
    pages.check = GPUMP_NONE;
    if (!GPUMPI_ARENA_NEW(&scratch, pages.in_loop, gpump_program_basic_blocks(program)) ||
        !GPUMPI_ARENA_NEW(&scratch, pages.load_bit, instructions) ||
        !GPUMPI_ARENA_NEW(&scratch, pages.load_guard, instructions) ||
        !GPUMPI_ARENA_NEW(&scratch, pages.temporary, registers) ||
        !GPUMPI_ARENA_NEW(&scratch, pages.temporary_at, (size_t)instructions + 1) ||
        !GPUMPI_ARENA_NEW(&scratch, writes, (size_t)registers * 2) || !GPUMPI_ARENA_NEW(&scratch, add, registers) ||
        !GPUMPI_ARENA_NEW(&scratch, loaded, registers) || !GPUMPI_ARENA_NEW(&scratch, is_walk, instructions))
        goto end;
    for (i = 0; i < registers; i++)
        if (!GPUMPI_ARRAY_PUSH(pages.allocator, pages.widths, gpump_program_width(program, i))) goto end;
    gpumpi_pages_changes(program, writes, add);
    for (b = 0; b < gpump_program_basic_blocks(program); b++) {
        gpump_basic_block block;
        int any = 0, predicate;
        gpump_program_basic_block(program, b, &block);
        for (i = block.first; i < block.first + block.count; i++) {
            gpump_instruction in;
            int64_t step;
            pages.temporary_at[i] = (uint32_t)stbds_arrlenu(pages.rename_from);
            gpump_program_instruction(program, i, &in);
            if (!gpumpi_pages_is_access(&in)) continue;
            found.accesses++;
            is_walk[i] = (uint8_t)gpumpi_pages_walks(&pages, i, &in, writes, add, &step);
            any |= !is_walk[i];
        }
        predicate = any && gpumpi_pages_can_predicate(&pages, b);
        if (predicate) /* walks in it check themselves as well: a call within would break the block */
            for (i = block.first; i < block.first + block.count; i++) is_walk[i] = 0;
        if (predicate && !gpumpi_pages_predicate(&pages, b, loaded, is_walk)) goto end;
        for (i = block.first; i < block.first + block.count && !predicate; i++) {
            gpump_instruction in;
            int64_t step = 0;
            gpump_program_instruction(program, i, &in);
            if (!gpumpi_pages_is_access(&in)) continue;
            if (gpumpi_pages_walks(&pages, i, &in, writes, add, &step)) {
                if (!gpumpi_pages_walk_entered(&pages, i, &in, step, block.loop)) goto end;
                found.walks++;
            } else {
                if (!gpumpi_pages_single(&pages, i, &in)) goto end;
                found.plain++;
            }
        }
    }
    pages.temporary_at[instructions] = (uint32_t)stbds_arrlenu(pages.rename_from);
    result = gpumpi_pages_apply(&pages, &scratch, checked, diag);
    if (result == GPUMP_OK && report) *report = found;
end:
    if (result == GPUMP_ERROR_MEMORY) gpumpi_fail(diag, result, "program", 0, 0, 0, 0);
    GPUMPI_ARRAY_FREE(pages.allocator, pages.insertions);
    GPUMPI_ARRAY_FREE(pages.allocator, pages.widths);
    GPUMPI_ARRAY_FREE(pages.allocator, pages.loops);
    GPUMPI_ARRAY_FREE(pages.allocator, pages.rename_from);
    GPUMPI_ARRAY_FREE(pages.allocator, pages.rename_to);
    GPUMPI_ARRAY_FREE(pages.allocator, pages.rename_def);
    gpump_liveness_destroy(liveness);
    gpumpi_arena_free(&scratch);
    return result;
}
#endif

/* ---- gpump_impl/context/compress_plain.c ---- */
/* compress_plain: the plain path of compress.h, for every layout and machine. One loop serves all group sizes: it takes
 * eight lanes at a time where there are eight, and single lanes after that. */


/* ---- runs of lanes: with GNU C, eight of them by the vector instructions that every machine of the kind has ---- */

/* 32-bit x86 without SSE has no register for such a vector. */
#if defined(__GNUC__) && (!defined(__i386__) || defined(__SSE2__))
#define GPUMPI_COMPRESS_FOURS 1
typedef uint32_t gpumpi_compress_four __attribute__((vector_size(16)));
typedef int32_t gpumpi_compress_four_signed __attribute__((vector_size(16)));
typedef uint32_t gpumpi_compress_four_anywhere __attribute__((vector_size(16), aligned(4), may_alias));
#define GPUMPI_COMPRESS_FOUR(p) (*(const gpumpi_compress_four_anywhere *)(const void *)(p))
#define GPUMPI_COMPRESS_FOUR_OUT(p) (*(gpumpi_compress_four_anywhere *)(void *)(p))

/* base, base + d, base + 2d, base + 3d */
GPUMPI_COMPRESS_ALWAYS gpumpi_compress_four gpumpi_compress_ramp(uint32_t base, uint32_t d) {
    const gpumpi_compress_four odd = {0, UINT32_MAX, 0, UINT32_MAX}, upper = {0, 0, UINT32_MAX, UINT32_MAX};
    gpumpi_compress_four b = {base, base, base, base}, once = {d, d, d, d};
    return b + (once & odd) + ((once + once) & upper);
}

/* The bits in which some lane differs. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_any(gpumpi_compress_four bits) {
    return bits[0] | bits[1] | bits[2] | bits[3];
}
#endif

/* Returns 0 when v[i] is base + i * d for all `count` lanes. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_not_ramp(const uint32_t *v, uint32_t count, uint32_t base, uint32_t d) {
    uint32_t i = 0, differs = 0;
#ifdef GPUMPI_COMPRESS_FOURS
    if (count >= 8) {
        gpumpi_compress_four wrong = {0, 0, 0, 0}, low = gpumpi_compress_ramp(base, d), by = {d, d, d, d}, high;
        by = by + by;
        by = by + by;
        high = low + by;
        by = by + by;
#define GPUMPI_COMPRESS_EIGHT                                                                                   \
    wrong |= (GPUMPI_COMPRESS_FOUR(v + i) ^ low) | (GPUMPI_COMPRESS_FOUR(v + i + 4) ^ high), i += 8, low += by, \
        high += by
        if (count == 32) /* the usual count, without a loop */
            GPUMPI_COMPRESS_EIGHT, GPUMPI_COMPRESS_EIGHT, GPUMPI_COMPRESS_EIGHT, GPUMPI_COMPRESS_EIGHT;
        else
            while (i + 8 <= count) GPUMPI_COMPRESS_EIGHT;
#undef GPUMPI_COMPRESS_EIGHT
        differs = gpumpi_compress_any(wrong);
    }
#endif
    for (base += i * d; i < count; i++, base += d) differs |= v[i] ^ base;
    return differs;
}

/* v[i] = base + i * d */
GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_fill(uint32_t *v, uint32_t count, uint32_t base, uint32_t d) {
    uint32_t i = 0;
#ifdef GPUMPI_COMPRESS_FOURS
    if (count >= 8) {
        gpumpi_compress_four low = gpumpi_compress_ramp(base, d), by = {d, d, d, d}, high;
        by = by + by;
        by = by + by;
        high = low + by;
        by = by + by;
#define GPUMPI_COMPRESS_EIGHT \
    GPUMPI_COMPRESS_FOUR_OUT(v + i) = low, GPUMPI_COMPRESS_FOUR_OUT(v + i + 4) = high, i += 8, low += by, high += by
        if (count == 32)
            GPUMPI_COMPRESS_EIGHT, GPUMPI_COMPRESS_EIGHT, GPUMPI_COMPRESS_EIGHT, GPUMPI_COMPRESS_EIGHT;
        else
            while (i + 8 <= count) GPUMPI_COMPRESS_EIGHT;
#undef GPUMPI_COMPRESS_EIGHT
    }
#endif
    for (base += i * d; i < count; i++, base += d) v[i] = base;
}

/* Returns 0 when v[i] is before[i] + moved for all lanes. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_not_moved(const uint32_t *v, const uint32_t *before, uint32_t lanes,
                                                          uint32_t moved) {
    uint32_t i = 0, differs = 0;
#ifdef GPUMPI_COMPRESS_FOURS
    gpumpi_compress_four wrong = {0, 0, 0, 0}, by = {moved, moved, moved, moved};
    for (; i + 8 <= lanes; i += 8)
        wrong |= ((GPUMPI_COMPRESS_FOUR(v + i) - GPUMPI_COMPRESS_FOUR(before + i)) ^ by) |
                 ((GPUMPI_COMPRESS_FOUR(v + i + 4) - GPUMPI_COMPRESS_FOUR(before + i + 4)) ^ by);
    differs = gpumpi_compress_any(wrong);
#endif
    for (; i < lanes; i++) differs |= (v[i] - before[i]) ^ moved;
    return differs;
}

/* v[i] = before[i] + moved */
GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_move(uint32_t *v, const uint32_t *before, uint32_t lanes, uint32_t moved) {
    uint32_t i = 0;
#ifdef GPUMPI_COMPRESS_FOURS
    gpumpi_compress_four by = {moved, moved, moved, moved};
    for (; i + 4 <= lanes; i += 4) GPUMPI_COMPRESS_FOUR_OUT(v + i) = GPUMPI_COMPRESS_FOUR(before + i) + by;
#endif
    for (; i < lanes; i++) v[i] = before[i] + moved;
}

/* Sets *base to the lowest lane, seen from the first lane as a signed distance, and returns the bytes that hold the
 * distance from the lowest lane to the highest: 1 to 4. */
static uint32_t gpumpi_compress_range(const uint32_t *v, uint32_t lanes, uint32_t *base) {
    /* Distances with the sign bit turned compare as unsigned numbers. */
    uint32_t i = 0, k, low = 0x80000000u, high = 0x80000000u, ends[8];
#ifdef GPUMPI_COMPRESS_FOURS
    gpumpi_compress_four first = {v[0], v[0], v[0], v[0]};
    gpumpi_compress_four_signed least = {0, 0, 0, 0}, most = {0, 0, 0, 0};
    for (; i + 4 <= lanes; i += 4) {
        gpumpi_compress_four_signed x = (gpumpi_compress_four_signed)(GPUMPI_COMPRESS_FOUR(v + i) - first), below,
                                    above;
        below = x < least;
        above = x > most;
        least = (x & below) | (least & ~below);
        most = (x & above) | (most & ~above);
    }
    memcpy(ends, &least, 16);
    memcpy(ends + 4, &most, 16);
#else
    memset(ends, 0, sizeof ends);
#endif
    for (k = 0; i + k < lanes + 8; k++) { /* the ends of the vectors, then the lanes that fill no vector */
        uint32_t distance = (k < 8 ? ends[k] : v[i + k - 8] - v[0]) ^ 0x80000000u;
        low = distance < low ? distance : low;
        high = distance > high ? distance : high;
    }
    *base = v[0] + (low ^ 0x80000000u);
    return gpumpi_compress_width(high - low);
}

/* ---- one register ---- */

/* gpumpi_compress_analyse, for inlining. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_analysis(const uint32_t *v, uint32_t lanes, uint32_t group,
                                                         uint32_t *base, uint32_t *stride) {
    uint32_t at, g = 0, any = 0, differs = 0;
    for (at = 0; at < lanes; at += group, g++) {
        base[g] = v[at];
        stride[g] = lanes - at > 1 && group > 1 ? v[at + 1] - v[at] : g ? stride[g - 1] : 0;
        any |= stride[g];
    }
    /* Most random registers are found by their last two lanes. */
    if (at == lanes && group > 1 && any && v[lanes - 1] - v[lanes - 2] != stride[g - 1]) return GPUMP_COMPRESS_RANDOM;
    for (at = 0, g = 0; at < lanes; at += group, g++)
        differs |= gpumpi_compress_not_ramp(v + at, lanes - at < group ? lanes - at : group, base[g], stride[g]);
    return differs ? GPUMP_COMPRESS_RANDOM : any ? GPUMP_COMPRESS_STRIDED : GPUMP_COMPRESS_UNIFORM;
}

GPUMP_API uint32_t gpumpi_compress_analyse(const uint32_t *v, uint32_t lanes, uint32_t group, uint32_t *base,
                                           uint32_t *stride) {
    return lanes == 32 && group == 32 ? gpumpi_compress_analysis(v, 32, 32, base, stride)
                                      : gpumpi_compress_analysis(v, lanes, group, base, stride);
}

/* gpumpi_compress_expand, for inlining. */
GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_expansion(uint32_t *v, uint32_t lanes, uint32_t group,
                                                      const unsigned char *bases, const unsigned char *strides) {
    uint32_t at, d = 0;
    for (at = 0; at < lanes; at += group, bases += 4) {
        if (strides) {
            d = gpumpi_compress_get(strides);
            strides += 4;
        }
        gpumpi_compress_fill(v + at, lanes - at < group ? lanes - at : group, gpumpi_compress_get(bases), d);
    }
}

GPUMP_API void gpumpi_compress_expand(uint32_t *v, uint32_t lanes, uint32_t group, const unsigned char *bases,
                                      const unsigned char *strides) {
    gpumpi_compress_expansion(v, lanes, group, bases, strides);
}

/* gpumpi_compress_get_bytes with the width as a constant. */
GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_get_distances(const unsigned char *in, uint32_t *v, uint32_t lanes,
                                                          uint32_t base, uint32_t width) {
    uint32_t i, k;
    for (i = 0; i < lanes; i++, in += width) {
        uint32_t above = 0;
        for (k = 0; k < width; k++) above |= (uint32_t)in[k] << (8 * k);
        v[i] = base + above;
    }
}

/* gpumpi_compress_put_bytes with the width as a constant. */
GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_put_distances(unsigned char *out, const uint32_t *v, uint32_t lanes,
                                                          uint32_t base, uint32_t width) {
    uint32_t i, k;
    for (i = 0; i < lanes; i++, out += width) {
        uint32_t above = v[i] - base;
        for (k = 0; k < width; k++) out[k] = (unsigned char)(above >> (8 * k));
    }
}

GPUMP_API unsigned char *gpumpi_compress_put_bytes(unsigned char *out, const uint32_t *v, uint32_t lanes, uint32_t base,
                                                   uint32_t width) {
    gpumpi_compress_put(out, base);
    out += 4;
    if (width == 1) gpumpi_compress_put_distances(out, v, lanes, base, 1);
    if (width == 2) gpumpi_compress_put_distances(out, v, lanes, base, 2);
    if (width == 3) gpumpi_compress_put_distances(out, v, lanes, base, 3);
    return out + (size_t)lanes * width;
}

GPUMP_API const unsigned char *gpumpi_compress_get_bytes(const unsigned char *in, uint32_t *v, uint32_t lanes,
                                                         uint32_t width) {
    uint32_t base = gpumpi_compress_get(in);
    in += 4;
    if (width == 1) gpumpi_compress_get_distances(in, v, lanes, base, 1);
    if (width == 2) gpumpi_compress_get_distances(in, v, lanes, base, 2);
    if (width == 3) gpumpi_compress_get_distances(in, v, lanes, base, 3);
    return in + (size_t)lanes * width;
}

/* ---- one warp of the WARP form ---- */

/* Writes bases and, where `pattern` has them, strides: a few words, for which a loop is quicker than memcpy. */
GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_put_groups(unsigned char *out, uint32_t pattern,
                                                                 const uint32_t *base, const uint32_t *stride,
                                                                 uint32_t groups) {
    uint32_t g;
    for (g = 0; g < groups; g++, out += 4) gpumpi_compress_put(out, base[g]);
    if (pattern != GPUMP_COMPRESS_STRIDED) return out;
    for (g = 0; g < groups; g++, out += 4) gpumpi_compress_put(out, stride[g]);
    return out;
}

/* Reads one register that is not dead. */
GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_get_one(uint32_t *v, uint32_t lanes, uint32_t group,
                                                                    uint32_t pattern, const unsigned char *in) {
    size_t bases = (size_t)((lanes + group - 1) / group) * 4;
    if (pattern == GPUMP_COMPRESS_RANDOM) return gpumpi_compress_get_words(in, v, lanes);
    gpumpi_compress_expansion(v, lanes, group, in, pattern == GPUMP_COMPRESS_STRIDED ? in + bases : NULL);
    return in + (pattern == GPUMP_COMPRESS_STRIDED ? 2 * bases : bases);
}

GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_write_lanes(const gpump_compress_layout *layout,
                                                                  const uint32_t *v, const uint64_t *live,
                                                                  uint32_t lanes, uint32_t group, unsigned char *out) {
    uint32_t base[8], stride[8], r, code = 0, groups = (lanes + group - 1) / group;
    unsigned char *codes = out;
    out += (layout->registers + 3) / 4;
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {
        if (r % 4 == 0) code = 0;
        if (gpumpi_compress_live(live, r)) {
            uint32_t pattern = gpumpi_compress_analysis(v, lanes, group, base, stride);
            code |= pattern << r % 4 * 2;
            out = pattern == GPUMP_COMPRESS_RANDOM ? gpumpi_compress_put_words(out, v, lanes)
                                                   : gpumpi_compress_put_groups(out, pattern, base, stride, groups);
        }
        codes[r / 4] = (unsigned char)code;
    }
    return out;
}

GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_read_lanes(const gpump_compress_layout *layout, uint32_t *v,
                                                                       uint32_t lanes, uint32_t group,
                                                                       const unsigned char *in) {
    const unsigned char *codes = in;
    uint32_t r;
    in += (layout->registers + 3) / 4;
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {
        uint32_t pattern = (uint32_t)codes[r / 4] >> r % 4 * 2 & 3u;
        if (pattern) in = gpumpi_compress_get_one(v, lanes, group, pattern, in);
    }
    return in;
}

/* A warp of 32 lanes has code of its own, for one group and for several. */
static unsigned char *gpumpi_compress_plain_write_warp(const gpump_compress_layout *layout, const uint32_t *v,
                                                       const uint64_t *live, uint32_t lanes, unsigned char *out) {
    if (lanes == 32 && layout->group == 32) return gpumpi_compress_write_lanes(layout, v, live, 32, 32, out);
    if (lanes == 32 && layout->group == 16) return gpumpi_compress_write_lanes(layout, v, live, 32, 16, out);
    return gpumpi_compress_write_lanes(layout, v, live, lanes, layout->group, out);
}

static const unsigned char *gpumpi_compress_plain_read_warp(const gpump_compress_layout *layout, uint32_t *v,
                                                            uint32_t lanes, int around, const unsigned char *in) {
    (void)around;
    if (lanes == 32 && layout->group == 32) return gpumpi_compress_read_lanes(layout, v, 32, 32, in);
    if (lanes == 32 && layout->group == 16) return gpumpi_compress_read_lanes(layout, v, 32, 16, in);
    return gpumpi_compress_read_lanes(layout, v, lanes, layout->group, in);
}

/* Adds up 32 fields of two bits, none of which is 3. */
GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_sum(uint64_t fields) {
    fields = (fields & UINT64_C(0x3333333333333333)) + (fields >> 2 & UINT64_C(0x3333333333333333));
    fields = (fields & UINT64_C(0x0f0f0f0f0f0f0f0f)) + (fields >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f));
    return (uint32_t)((fields * UINT64_C(0x0101010101010101)) >> 56);
}

static uint32_t gpumpi_compress_plain_words(const gpump_compress_layout *layout, const unsigned char *patterns,
                                            size_t left, uint32_t lanes, uint32_t groups) {
    uint32_t words = 0;
    GPUMPI_COMPRESS_WORDS(words, gpumpi_compress_sum);
    return words;
}

/* ---- one warp of the NEAR form ---- */

GPUMP_API uint32_t gpumpi_compress_near_one(const uint32_t *v, const uint32_t *before, uint32_t lanes, uint32_t group,
                                            uint32_t *step, unsigned char *out, size_t *bytes) {
    uint32_t base[8], stride[8], groups, code, lowest, width;
    if (before) {
        uint32_t moved = v[0] - before[0];
        if (!gpumpi_compress_not_moved(v, before, lanes, moved)) {
            code = moved == *step ? GPUMPI_COMPRESS_AGAIN : GPUMPI_COMPRESS_MOVED;
            *bytes = moved == *step ? 0 : 4;
            if (out && *bytes) gpumpi_compress_put(out, moved);
            *step = moved;
            return code;
        }
    }
    code = gpumpi_compress_analyse(v, lanes, group, base, stride);
    if (code == GPUMP_COMPRESS_RANDOM) {
        *bytes = (size_t)lanes * 4;
        width = gpumpi_compress_range(v, lanes, &lowest);
        if (4 + (size_t)lanes * width < *bytes) {
            *bytes = 4 + (size_t)lanes * width;
            code = GPUMPI_COMPRESS_BYTES1 - 1 + width;
            if (out) gpumpi_compress_put_bytes(out, v, lanes, lowest, width);
        } else if (out) {
            gpumpi_compress_put_words(out, v, lanes);
        }
        return code;
    }
    groups = (lanes + group - 1) / group;
    *bytes = (size_t)groups * (code == GPUMP_COMPRESS_STRIDED ? 8 : 4);
    if (out) gpumpi_compress_put_groups(out, code, base, stride, groups);
    return code;
}

static unsigned char *gpumpi_compress_plain_write_near(const gpump_compress_layout *layout, const uint32_t *v,
                                                       const gpumpi_compress_near *near, unsigned char *out) {
    uint32_t r, code;
    unsigned char *codes = out;
    size_t bytes;
    memset(out, 0, (layout->registers + 1) / 2);
    out += (layout->registers + 1) / 2;
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {
        if (!gpumpi_compress_live(near->live, r)) continue;
        code = gpumpi_compress_near_one(
            v, near->back && gpumpi_compress_live(near->live_before, r) ? v - near->back : NULL, near->lanes,
            layout->group, near->steps + r, out, &bytes);
        codes[r >> 1] = (unsigned char)(codes[r >> 1] | code << (r & 1) * 4);
        out += bytes;
    }
    return out;
}

static const unsigned char *gpumpi_compress_plain_read_near(const gpump_compress_layout *layout, uint32_t *v,
                                                            const gpumpi_compress_near *near, const unsigned char *in) {
    const unsigned char *codes = in;
    uint32_t r;
    in += (layout->registers + 1) / 2;
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {
        uint32_t code = (uint32_t)codes[r >> 1] >> (r & 1) * 4 & 15u;
        if (code == GPUMP_COMPRESS_DEAD) continue;
        if (code >= GPUMPI_COMPRESS_BYTES1) {
            in = gpumpi_compress_get_bytes(in, v, near->lanes, code - GPUMPI_COMPRESS_BYTES1 + 1);
        } else if (code >= GPUMPI_COMPRESS_AGAIN) {
            if (code == GPUMPI_COMPRESS_MOVED) {
                near->steps[r] = gpumpi_compress_get(in);
                in += 4;
            }
            gpumpi_compress_move(v, v - near->back, near->lanes, near->steps[r]);
        } else {
            in = gpumpi_compress_get_one(v, near->lanes, layout->group, code, in);
        }
    }
    return in;
}

GPUMP_API const gpumpi_compress_path *gpumpi_compress_plain(void) {
    static const gpumpi_compress_path path = {gpumpi_compress_plain_write_warp, gpumpi_compress_plain_read_warp,
                                              gpumpi_compress_plain_write_near, gpumpi_compress_plain_read_near,
                                              gpumpi_compress_plain_words};
    return &path;
}

/* ---- gpump_impl/context/compress_x86.c ---- */
/* compress_x86: the x86 path of compress.h, for full warps of 32 lanes in groups of 8, 16 or 32, with AVX2 and AVX-512.
 * The bytes are those of the plain path. The number of instructions limits these functions, not branches: a register
 * has the same pattern in nearly all warps of a kernel. */


#if defined(__GNUC__) && defined(__x86_64__) && !defined(GPUMP_NO_SIMD)
#include <immintrin.h>

/* Before a loop of eight constant steps or fewer, which clang unrolls by itself. */
#if !defined(__clang__)
#define GPUMPI_COMPRESS_UNROLL _Pragma("GCC unroll 8")
#else
#define GPUMPI_COMPRESS_UNROLL
#endif
#define GPUMPI_COMPRESS_TARGET_WIDE __attribute__((target("avx512f,avx2,bmi,bmi2,popcnt")))
#define GPUMPI_COMPRESS_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define GPUMPI_COMPRESS_LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define GPUMPI_COMPRESS_ALL(word) _mm256_set1_epi32((int)(word))
/* The compiler forgets what it knows of what p points to. */
#define GPUMPI_COMPRESS_OPAQUE(p) __asm__("" : "+r"(p))
/* Differences between neighbours, from lane `at` on: eight of them. */
#define GPUMPI_COMPRESS_STEPS(v, at) \
    _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD((v) + (at) + 1), GPUMPI_COMPRESS_LOAD((v) + (at)))
#define GPUMPI_COMPRESS_FIRST(x) _mm256_broadcastd_epi32(_mm256_castsi256_si128(x))
#define GPUMPI_COMPRESS_OR4(a, b, c, d) _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d))
#define GPUMPI_COMPRESS_XOR(a, b) _mm256_xor_si256(a, b)

/* ---- WARP form, writing ---- */

/* Returns 0 when 32 lanes have one value. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS __m256i gpumpi_compress_not_uniform(const uint32_t *v) {
    __m256i b = GPUMPI_COMPRESS_ALL(v[0]);
    return GPUMPI_COMPRESS_OR4(
        GPUMPI_COMPRESS_XOR(b, GPUMPI_COMPRESS_LOAD(v)), GPUMPI_COMPRESS_XOR(b, GPUMPI_COMPRESS_LOAD(v + 8)),
        GPUMPI_COMPRESS_XOR(b, GPUMPI_COMPRESS_LOAD(v + 16)), GPUMPI_COMPRESS_XOR(b, GPUMPI_COMPRESS_LOAD(v + 24)));
}

/* Returns 0 when the differences between neighbours are equal in each group of 32 lanes; the strides are the first
 * lanes of s[]. Windows of eight differences overlap where a group ends. With groups of eight lanes the last difference
 * of a window belongs to no group. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS __m256i gpumpi_compress_not_strided(const uint32_t *v, uint32_t group,
                                                                                  __m256i s[4]) {
    if (group == 8) {
        const __m256i next = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 7);
        __m256i differs;
        s[0] = _mm256_sub_epi32(_mm256_permutevar8x32_epi32(GPUMPI_COMPRESS_LOAD(v), next), GPUMPI_COMPRESS_LOAD(v));
        s[1] = _mm256_sub_epi32(_mm256_permutevar8x32_epi32(GPUMPI_COMPRESS_LOAD(v + 8), next),
                                GPUMPI_COMPRESS_LOAD(v + 8));
        s[2] = _mm256_sub_epi32(_mm256_permutevar8x32_epi32(GPUMPI_COMPRESS_LOAD(v + 16), next),
                                GPUMPI_COMPRESS_LOAD(v + 16));
        s[3] = _mm256_sub_epi32(_mm256_permutevar8x32_epi32(GPUMPI_COMPRESS_LOAD(v + 24), next),
                                GPUMPI_COMPRESS_LOAD(v + 24));
        differs = GPUMPI_COMPRESS_OR4(GPUMPI_COMPRESS_XOR(s[0], GPUMPI_COMPRESS_FIRST(s[0])),
                                      GPUMPI_COMPRESS_XOR(s[1], GPUMPI_COMPRESS_FIRST(s[1])),
                                      GPUMPI_COMPRESS_XOR(s[2], GPUMPI_COMPRESS_FIRST(s[2])),
                                      GPUMPI_COMPRESS_XOR(s[3], GPUMPI_COMPRESS_FIRST(s[3])));
        return _mm256_blend_epi32(differs, _mm256_setzero_si256(), 0x80);
    }
    s[0] = GPUMPI_COMPRESS_STEPS(v, 0);
    s[1] = GPUMPI_COMPRESS_STEPS(v, 16); /* the second group's first */
    s[2] = GPUMPI_COMPRESS_STEPS(v, group == 16 ? 7 : 8);
    s[3] = GPUMPI_COMPRESS_STEPS(v, 23);
    return GPUMPI_COMPRESS_OR4(GPUMPI_COMPRESS_XOR(s[0], GPUMPI_COMPRESS_FIRST(s[0])), GPUMPI_COMPRESS_XOR(s[0], s[2]),
                               GPUMPI_COMPRESS_XOR(s[1], GPUMPI_COMPRESS_FIRST(group == 16 ? s[1] : s[0])),
                               GPUMPI_COMPRESS_XOR(s[1], s[3]));
}

/* How far ahead registers are prefetched, bytes: far enough for memory, and harmless when the values are in a cache. A
 * prefetch past the end does nothing. */
#define GPUMPI_COMPRESS_AHEAD 8192

/* Writes one register of 32 lanes and returns its pattern. Strides are written even when all are 0: the next register
 * overwrites them. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_one_vector(const uint32_t *v, uint32_t group,
                                                                                  unsigned char **to) {
    const uint32_t groups = 32 / group;
    unsigned char *out = *to;
    __m256i s[4], differs, any;
    uint32_t g, i;
    _mm_prefetch((const char *)v + GPUMPI_COMPRESS_AHEAD, _MM_HINT_T0);
    _mm_prefetch((const char *)v + GPUMPI_COMPRESS_AHEAD + 64, _MM_HINT_T0);
    if (group == 32 && v[0] == v[1]) { /* with one group, quicker than to look for a stride of 0 */
        differs = gpumpi_compress_not_uniform(v);
        if (_mm256_testz_si256(differs, differs)) {
            gpumpi_compress_put(out, v[0]);
            *to = out + 4;
            return GPUMP_COMPRESS_UNIFORM;
        }
    } else {
        GPUMPI_COMPRESS_OPAQUE(v); /* each subtraction loads its operand itself; the branch above shares none */
        differs = gpumpi_compress_not_strided(v, group, s);
        if (_mm256_testz_si256(differs, differs)) {
            GPUMPI_COMPRESS_UNROLL
            for (g = 0; g < groups; g++) gpumpi_compress_put(out + g * 4, v[g * group]);
            GPUMPI_COMPRESS_UNROLL
            for (g = 0; g < groups; g++)
                gpumpi_compress_put(out + (groups + g) * 4, (uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(s[g])));
            any = group == 32   ? s[0]
                  : group == 16 ? _mm256_or_si256(s[0], s[1])
                                : GPUMPI_COMPRESS_OR4(s[0], s[1], s[2], s[3]);
            any = group == 8 ? _mm256_blend_epi32(any, _mm256_setzero_si256(), 0x80) : any;
            if (group < 32 && _mm256_testz_si256(any, any)) {
                *to = out + groups * 4;
                return GPUMP_COMPRESS_UNIFORM;
            }
            *to = out + groups * 8;
            return GPUMP_COMPRESS_STRIDED;
        }
    }
    GPUMPI_COMPRESS_UNROLL
    for (i = 0; i < 32; i += 8) _mm256_storeu_si256((__m256i *)(void *)(out + i * 4), GPUMPI_COMPRESS_LOAD(v + i));
    *to = out + 128;
    return GPUMP_COMPRESS_RANDOM;
}

/* g++ 12 warns of operands that its own headers leave uninitialised under a full mask. */
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
/* The same with AVX-512, where a register is two vectors and a comparison is one instruction. */
GPUMPI_COMPRESS_TARGET_WIDE GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_one_wide(const uint32_t *v, uint32_t group,
                                                                                     unsigned char **to) {
    const uint32_t groups = 32 / group;
    const __mmask16 ends = group == 8 ? 0x7f7f : 0x7fff; /* differences within a group */
    unsigned char *out = *to;
    __m512i x0 = _mm512_loadu_si512(v), x1 = _mm512_loadu_si512(v + 16), s0, s1, m0, m1;
    __mmask16 differs0, differs1;
    uint32_t g;
    _mm_prefetch((const char *)v + GPUMPI_COMPRESS_AHEAD, _MM_HINT_T0);
    _mm_prefetch((const char *)v + GPUMPI_COMPRESS_AHEAD + 64, _MM_HINT_T0);
    if (group == 32 && v[0] == v[1]) {
        m0 = _mm512_set1_epi32((int)v[0]);
        differs0 = _mm512_cmpneq_epi32_mask(x0, m0);
        differs1 = _mm512_cmpneq_epi32_mask(x1, m0);
        if (_mm512_kortestz(differs0, differs1)) {
            gpumpi_compress_put(out, v[0]);
            *to = out + 4;
            return GPUMP_COMPRESS_UNIFORM;
        }
    } else {
        s0 = _mm512_sub_epi32(_mm512_alignr_epi32(group == 32 ? x1 : x0, x0, 1), x0);
        s1 = _mm512_sub_epi32(_mm512_alignr_epi32(x1, x1, 1), x1);
        if (group == 8) {
            const __m512i halves = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8);
            m0 = _mm512_permutexvar_epi32(halves, s0);
            m1 = _mm512_permutexvar_epi32(halves, s1);
        } else {
            m0 = _mm512_broadcastd_epi32(_mm512_castsi512_si128(s0));
            m1 = group == 16 ? _mm512_broadcastd_epi32(_mm512_castsi512_si128(s1)) : m0;
        }
        differs0 = group == 32 ? _mm512_cmpneq_epi32_mask(s0, m0) : _mm512_mask_cmpneq_epi32_mask(ends, s0, m0);
        differs1 = _mm512_mask_cmpneq_epi32_mask(ends, s1, m1);
        if (_mm512_kortestz(differs0, differs1)) {
            GPUMPI_COMPRESS_UNROLL
            for (g = 0; g < groups; g++) gpumpi_compress_put(out + g * 4, v[g * group]);
            if (group == 8) {
                for (g = 0; g < groups; g++)
                    gpumpi_compress_put(out + (groups + g) * 4, v[g * group + 1] - v[g * group]);
            } else {
                gpumpi_compress_put(out + groups * 4, (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(s0)));
                if (group == 16) gpumpi_compress_put(out + 12, (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(s1)));
            }
            m0 = _mm512_or_si512(m0, m1);
            if (group < 32 && !_mm512_test_epi32_mask(m0, m0)) {
                *to = out + groups * 4;
                return GPUMP_COMPRESS_UNIFORM;
            }
            *to = out + groups * 8;
            return GPUMP_COMPRESS_STRIDED;
        }
    }
    _mm512_storeu_si512(out, x0);
    _mm512_storeu_si512(out + 64, x1);
    *to = out + 128;
    return GPUMP_COMPRESS_RANDOM;
}

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* The loop over the registers of a warp; `one` writes one register. A byte of the pattern vector is four registers. */
#define GPUMPI_COMPRESS_EACH(one)                                                                    \
    const uint32_t registers = layout->registers, step = layout->register_stride;                    \
    unsigned char *codes = out;                                                                      \
    uint32_t first, k;                                                                               \
    out += (registers + 3) / 4;                                                                      \
    for (first = 0; first < registers; first += 4) {                                                 \
        uint32_t code = 0, alive = live ? (uint32_t)(live[first >> 6] >> (first & 60u)) & 15u : 15u; \
        if (registers - first < 4) alive &= (1u << (registers - first)) - 1u;                        \
        GPUMPI_COMPRESS_UNROLL                                                                       \
        for (k = 0; k < 8; k += 2, alive >>= 1, v += step)                                           \
            if (alive & 1u) code |= one(v, group, &out) << k;                                        \
        *codes++ = (unsigned char)code;                                                              \
    }                                                                                                \
    return out
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_write_vector(
    const gpump_compress_layout *layout, const uint32_t *v, const uint64_t *live, uint32_t group, unsigned char *out) {
    GPUMPI_COMPRESS_EACH(gpumpi_compress_one_vector);
}
GPUMPI_COMPRESS_TARGET_WIDE GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_write_wide(
    const gpump_compress_layout *layout, const uint32_t *v, const uint64_t *live, uint32_t group, unsigned char *out) {
    GPUMPI_COMPRESS_EACH(gpumpi_compress_one_wide);
}
#undef GPUMPI_COMPRESS_EACH

GPUMPI_COMPRESS_TARGET static unsigned char *gpumpi_compress_avx2_write_warp(const gpump_compress_layout *layout,
                                                                             const uint32_t *v, const uint64_t *live,
                                                                             uint32_t lanes, unsigned char *out) {
    (void)lanes;
    if (layout->group == 32) return gpumpi_compress_write_vector(layout, v, live, 32, out);
    if (layout->group == 16) return gpumpi_compress_write_vector(layout, v, live, 16, out);
    return gpumpi_compress_write_vector(layout, v, live, 8, out);
}

GPUMPI_COMPRESS_TARGET_WIDE static unsigned char *gpumpi_compress_wide_write_warp(const gpump_compress_layout *layout,
                                                                                  const uint32_t *v,
                                                                                  const uint64_t *live, uint32_t lanes,
                                                                                  unsigned char *out) {
    (void)lanes;
    if (layout->group == 32) return gpumpi_compress_write_wide(layout, v, live, 32, out);
    if (layout->group == 16) return gpumpi_compress_write_wide(layout, v, live, 16, out);
    return gpumpi_compress_write_wide(layout, v, live, 8, out);
}

/* ---- WARP form, reading ---- */

/* Stores 32 lanes; `around`: past the caches, for values that will not be read soon. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS void gpumpi_compress_store(uint32_t *v, int around, const __m256i x[4]) {
    uint32_t i;
    if (around) {
        GPUMPI_COMPRESS_UNROLL
        for (i = 0; i < 4; i++) _mm256_stream_si256((__m256i *)(void *)(v + i * 8), x[i]);
    } else {
        GPUMPI_COMPRESS_UNROLL
        for (i = 0; i < 4; i++) _mm256_storeu_si256((__m256i *)(void *)(v + i * 8), x[i]);
    }
}

/* Reads one register that is not dead; returns the end of its data. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_unone_vector(
    uint32_t *v, uint32_t group, uint32_t pattern, int around, const unsigned char *in) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const uint32_t groups = 32 / group;
    __m256i x[4], d = _mm256_setzero_si256();
    uint32_t i;
    if (pattern == GPUMP_COMPRESS_RANDOM) {
        _mm_prefetch((const char *)in + GPUMPI_COMPRESS_AHEAD / 4, _MM_HINT_T0);
        _mm_prefetch((const char *)in + GPUMPI_COMPRESS_AHEAD / 4 + 64, _MM_HINT_T0);
        GPUMPI_COMPRESS_UNROLL
        for (i = 0; i < 4; i++) x[i] = GPUMPI_COMPRESS_LOAD(in + i * 32);
        gpumpi_compress_store(v, around, x);
        return in + 128;
    }
    if (pattern == GPUMP_COMPRESS_UNIFORM) {
        GPUMPI_COMPRESS_UNROLL
        for (i = 0; i < 4; i++) x[i] = GPUMPI_COMPRESS_ALL(gpumpi_compress_get(in + i * 8 / group * 4));
        gpumpi_compress_store(v, around, x);
        return in + groups * 4;
    }
    GPUMPI_COMPRESS_UNROLL
    for (i = 0; i < 4; i++) {
        if (i * 8 % group == 0) {
            d = GPUMPI_COMPRESS_ALL(gpumpi_compress_get(in + (groups + i * 8 / group) * 4));
            x[i] = _mm256_add_epi32(GPUMPI_COMPRESS_ALL(gpumpi_compress_get(in + i * 8 / group * 4)),
                                    _mm256_mullo_epi32(lane, d));
            d = _mm256_slli_epi32(d, 3);
        } else {
            x[i] = _mm256_add_epi32(x[i - 1], d);
        }
    }
    gpumpi_compress_store(v, around, x);
    return in + groups * 8;
}

/* The words of group g, or of groups g and g + 1 of 8 lanes, each in the lanes of its group. */
#define GPUMPI_COMPRESS_SPREAD(in, g)                                                                       \
    (group == 8 ? _mm512_mask_set1_epi32(_mm512_set1_epi32((int)gpumpi_compress_get((in) + (g)*4)), 0xff00, \
                                         (int)gpumpi_compress_get((in) + (g)*4 + 4))                        \
                : _mm512_set1_epi32((int)gpumpi_compress_get((in) + (g)*4)))

/* Reads one register with AVX-512. */
GPUMPI_COMPRESS_TARGET_WIDE GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_unone_wide(
    uint32_t *v, uint32_t group, uint32_t pattern, int around, const unsigned char *in) {
    const uint32_t groups = 32 / group, second = group == 32 ? 0 : groups / 2; /* the group of lane 16 */
    __m512i x0, x1;
    (void)around;
    if (pattern == GPUMP_COMPRESS_RANDOM) {
        _mm_prefetch((const char *)in + GPUMPI_COMPRESS_AHEAD / 4, _MM_HINT_T0);
        _mm_prefetch((const char *)in + GPUMPI_COMPRESS_AHEAD / 4 + 64, _MM_HINT_T0);
        x0 = _mm512_loadu_si512(in);
        x1 = _mm512_loadu_si512(in + 64);
        in += 128;
    } else {
        x0 = GPUMPI_COMPRESS_SPREAD(in, 0);
        x1 = GPUMPI_COMPRESS_SPREAD(in, second);
        in += groups * 4;
        if (pattern == GPUMP_COMPRESS_STRIDED) {
            const __m512i lane = group == 8 ? _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7)
                                            : _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            __m512i d = GPUMPI_COMPRESS_SPREAD(in, 0);
            x0 = _mm512_add_epi32(x0, _mm512_mullo_epi32(lane, d));
            x1 = group == 32 ? _mm512_add_epi32(x0, _mm512_maskz_slli_epi32(0xffff, d, 4))
                             : _mm512_add_epi32(x1, _mm512_mullo_epi32(lane, GPUMPI_COMPRESS_SPREAD(in, second)));
            in += groups * 4;
        }
    }
    _mm512_storeu_si512(v, x0);
    _mm512_storeu_si512(v + 16, x1);
    return in;
}

#undef GPUMPI_COMPRESS_SPREAD

/* The loop over the registers of a warp; `one` reads one register. */
#define GPUMPI_COMPRESS_EACH(one)                                                 \
    const uint32_t registers = layout->registers, step = layout->register_stride; \
    const unsigned char *codes = in, *end = in + (registers + 3) / 4;             \
    uint32_t code;                                                                \
    for (in = end; codes < end; v += (size_t)4 * step) {                          \
        uint32_t *at = v;                                                         \
        for (code = *codes++; code; code >>= 2, at += step)                       \
            if (code & 3u) in = one(at, group, code & 3u, around, in);            \
    }                                                                             \
    return in
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_read_vector(
    const gpump_compress_layout *layout, uint32_t *v, uint32_t group, int around, const unsigned char *in) {
    GPUMPI_COMPRESS_EACH(gpumpi_compress_unone_vector);
}
GPUMPI_COMPRESS_TARGET_WIDE GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_read_wide(
    const gpump_compress_layout *layout, uint32_t *v, uint32_t group, int around, const unsigned char *in) {
    GPUMPI_COMPRESS_EACH(gpumpi_compress_unone_wide);
}
#undef GPUMPI_COMPRESS_EACH

/* The fence makes stores around the caches visible before any that follow. */
GPUMPI_COMPRESS_TARGET static const unsigned char *gpumpi_compress_avx2_read_warp(const gpump_compress_layout *layout,
                                                                                  uint32_t *v, uint32_t lanes,
                                                                                  int around, const unsigned char *in) {
    (void)lanes;
    in = layout->group == 32   ? gpumpi_compress_read_vector(layout, v, 32, around, in)
         : layout->group == 16 ? gpumpi_compress_read_vector(layout, v, 16, around, in)
                               : gpumpi_compress_read_vector(layout, v, 8, around, in);
    if (around) _mm_sfence();
    return in;
}

/* Stores around the caches take the AVX2 code, whose vectors need the smaller alignment. */
GPUMPI_COMPRESS_TARGET_WIDE static const unsigned char *gpumpi_compress_wide_read_warp(
    const gpump_compress_layout *layout, uint32_t *v, uint32_t lanes, int around, const unsigned char *in) {
    if (around) return gpumpi_compress_avx2_read_warp(layout, v, lanes, around, in);
    if (layout->group == 32) return gpumpi_compress_read_wide(layout, v, 32, 0, in);
    if (layout->group == 16) return gpumpi_compress_read_wide(layout, v, 16, 0, in);
    return gpumpi_compress_read_wide(layout, v, 8, 0, in);
}

/* ---- NEAR form ---- */

/* gpumpi_compress_near_one for 32 lanes; writes to *to and advances it. */
GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS uint32_t gpumpi_compress_near_vector(const uint32_t *v,
                                                                                   const uint32_t *before,
                                                                                   uint32_t group, uint32_t *step,
                                                                                   unsigned char **to) {
    unsigned char *out = *to;
    uint32_t code;
    if (before) {
        __m256i s0 = _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v), GPUMPI_COMPRESS_LOAD(before)),
                m = GPUMPI_COMPRESS_FIRST(s0), differs;
        differs = GPUMPI_COMPRESS_OR4(
            GPUMPI_COMPRESS_XOR(m, s0),
            GPUMPI_COMPRESS_XOR(m, _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v + 8), GPUMPI_COMPRESS_LOAD(before + 8))),
            GPUMPI_COMPRESS_XOR(m, _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v + 16), GPUMPI_COMPRESS_LOAD(before + 16))),
            GPUMPI_COMPRESS_XOR(m, _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v + 24), GPUMPI_COMPRESS_LOAD(before + 24))));
        if (_mm256_testz_si256(differs, differs)) {
            uint32_t moved = (uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(m));
            if (moved == *step) return GPUMPI_COMPRESS_AGAIN;
            *step = moved;
            gpumpi_compress_put(out, moved);
            *to = out + 4;
            return GPUMPI_COMPRESS_MOVED;
        }
    }
    code = gpumpi_compress_one_vector(v, group, to);
    if (code == GPUMP_COMPRESS_RANDOM) {
        __m256i b = GPUMPI_COMPRESS_ALL(v[0]), x0 = _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v), b),
                x1 = _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v + 8), b),
                x2 = _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v + 16), b),
                x3 = _mm256_sub_epi32(GPUMPI_COMPRESS_LOAD(v + 24), b);
        __m256i low = _mm256_min_epi32(_mm256_min_epi32(x0, x1), _mm256_min_epi32(x2, x3));
        __m256i high = _mm256_max_epi32(_mm256_max_epi32(x0, x1), _mm256_max_epi32(x2, x3));
        __m128i l = _mm_min_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
        __m128i h = _mm_max_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
        uint32_t lowest, width;
        l = _mm_min_epi32(l, _mm_shuffle_epi32(l, 0x4e));
        h = _mm_max_epi32(h, _mm_shuffle_epi32(h, 0x4e));
        l = _mm_min_epi32(l, _mm_shuffle_epi32(l, 0xb1));
        h = _mm_max_epi32(h, _mm_shuffle_epi32(h, 0xb1));
        lowest = (uint32_t)_mm_cvtsi128_si32(l);
        width = gpumpi_compress_width((uint32_t)_mm_cvtsi128_si32(h) - lowest);
        if (width < 4) {
            *to = gpumpi_compress_put_bytes(out, v, 32, v[0] + lowest, width);
            return GPUMPI_COMPRESS_BYTES1 - 1 + width;
        }
    }
    return code;
}

GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_unnear_vector(
    uint32_t *v, size_t back, uint32_t group, uint32_t code, uint32_t *step, const unsigned char *in) {
    uint32_t i;
    if (code == GPUMPI_COMPRESS_AGAIN || code == GPUMPI_COMPRESS_MOVED) {
        __m256i m;
        if (code == GPUMPI_COMPRESS_MOVED) {
            *step = gpumpi_compress_get(in);
            in += 4;
        }
        m = GPUMPI_COMPRESS_ALL(*step);
        GPUMPI_COMPRESS_UNROLL
        for (i = 0; i < 32; i += 8)
            _mm256_storeu_si256((__m256i *)(void *)(v + i), _mm256_add_epi32(m, GPUMPI_COMPRESS_LOAD(v - back + i)));
        return in;
    }
    if (code >= GPUMPI_COMPRESS_BYTES1) return gpumpi_compress_get_bytes(in, v, 32, code - GPUMPI_COMPRESS_BYTES1 + 1);
    return gpumpi_compress_unone_vector(v, group, code, 0, in);
}

GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS unsigned char *gpumpi_compress_write_near_vector(
    const gpump_compress_layout *layout, const uint32_t *v, const gpumpi_compress_near *near, uint32_t group,
    unsigned char *out) {
    unsigned char *codes = out;
    uint32_t r, code;
    memset(out, 0, (layout->registers + 1) / 2);
    out += (layout->registers + 1) / 2;
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {
        if (!gpumpi_compress_live(near->live, r)) continue;
        code = gpumpi_compress_near_vector(
            v, near->back && gpumpi_compress_live(near->live_before, r) ? v - near->back : NULL, group, near->steps + r,
            &out);
        codes[r >> 1] = (unsigned char)(codes[r >> 1] | code << (r & 1) * 4);
    }
    return out;
}

GPUMPI_COMPRESS_TARGET static unsigned char *gpumpi_compress_avx2_write_near(const gpump_compress_layout *layout,
                                                                             const uint32_t *v,
                                                                             const gpumpi_compress_near *near,
                                                                             unsigned char *out) {
    if (layout->group == 32) return gpumpi_compress_write_near_vector(layout, v, near, 32, out);
    if (layout->group == 16) return gpumpi_compress_write_near_vector(layout, v, near, 16, out);
    return gpumpi_compress_write_near_vector(layout, v, near, 8, out);
}

GPUMPI_COMPRESS_TARGET GPUMPI_COMPRESS_ALWAYS const unsigned char *gpumpi_compress_read_near_vector(
    const gpump_compress_layout *layout, uint32_t *v, const gpumpi_compress_near *near, uint32_t group,
    const unsigned char *in) {
    const unsigned char *codes = in;
    uint32_t r, code;
    in += (layout->registers + 1) / 2;
    for (r = 0; r < layout->registers; r++, v += layout->register_stride) {
        code = (uint32_t)codes[r >> 1] >> (r & 1) * 4 & 15u;
        if (code) in = gpumpi_compress_unnear_vector(v, near->back, group, code, near->steps + r, in);
    }
    return in;
}

GPUMPI_COMPRESS_TARGET static const unsigned char *gpumpi_compress_avx2_read_near(const gpump_compress_layout *layout,
                                                                                  uint32_t *v,
                                                                                  const gpumpi_compress_near *near,
                                                                                  const unsigned char *in) {
    if (layout->group == 32) return gpumpi_compress_read_near_vector(layout, v, near, 32, in);
    if (layout->group == 16) return gpumpi_compress_read_near_vector(layout, v, near, 16, in);
    return gpumpi_compress_read_near_vector(layout, v, near, 8, in);
}

/* ---- the paths ---- */

GPUMPI_COMPRESS_TARGET static uint32_t gpumpi_compress_avx2_words(const gpump_compress_layout *layout,
                                                                  const unsigned char *patterns, size_t left,
                                                                  uint32_t lanes, uint32_t groups) {
    uint32_t words = 0;
    GPUMPI_COMPRESS_WORDS(words, (uint32_t)__builtin_popcountll);
    return words;
}

GPUMP_API const gpumpi_compress_path *gpumpi_compress_x86(const gpump_compress_layout *layout, uint32_t flags) {
    static const gpumpi_compress_path avx2 = {gpumpi_compress_avx2_write_warp, gpumpi_compress_avx2_read_warp,
                                              gpumpi_compress_avx2_write_near, gpumpi_compress_avx2_read_near,
                                              gpumpi_compress_avx2_words};
    static const gpumpi_compress_path wide = {gpumpi_compress_wide_write_warp, gpumpi_compress_wide_read_warp,
                                              gpumpi_compress_avx2_write_near, gpumpi_compress_avx2_read_near,
                                              gpumpi_compress_avx2_words};
    if (layout->lanes != 32 || (layout->group != 32 && layout->group != 16 && layout->group != 8)) return NULL;
    if (flags & GPUMP_COMPRESS_PLAIN || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("popcnt"))
        return NULL;
    return flags & GPUMP_COMPRESS_AVX2 || !__builtin_cpu_supports("avx512f") ? &avx2 : &wide;
}

#else
GPUMP_API const gpumpi_compress_path *gpumpi_compress_x86(const gpump_compress_layout *layout, uint32_t flags) {
    (void)layout;
    (void)flags;
    return NULL;
}
#endif

/* ---- gpump_impl/context/compress.c ---- */
/* compress: the format of compress.h: sizes, layouts, checks, and the order in which warps are written and read.
 * compress_plain.c and compress_x86.c write the same bytes; tests/context/compress.c compares the two, and both with a
 * bit-by-bit reading of the format. */


/* Groups of a block at most: 64 warps of 64 lanes in groups of 8. */
#define GPUMPI_COMPRESS_GROUPS (GPUMP_COMPRESS_MAX_WARPS * GPUMP_COMPRESS_MAX_LANES / 8)

/* ---- geometry ---- */

GPUMP_API uint32_t gpump_compress_group(uint32_t lanes, uint32_t block_x) {
    return block_x >= 8 && block_x < lanes && lanes % block_x == 0 ? block_x : lanes;
}

GPUMP_API uint32_t gpump_compress_pattern_bits(uint32_t registers) { return registers * 2; }

static gpump_result gpumpi_compress_check(const gpump_compress_layout *layout, gpump_diag *diag) {
    uint32_t lowest;
    if (!layout) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "layout", 0, 0, 1, UINT64_MAX);
    if (layout->warps < 1 || layout->warps > GPUMP_COMPRESS_MAX_WARPS)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "warps", 0, layout->warps, 1, GPUMP_COMPRESS_MAX_WARPS);
    if (layout->registers < 1 || layout->registers > GPUMP_COMPRESS_MAX_REGISTERS)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "registers", 0, layout->registers, 1,
                           GPUMP_COMPRESS_MAX_REGISTERS);
    if (layout->lanes < 1 || layout->lanes > GPUMP_COMPRESS_MAX_LANES)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "lanes", 0, layout->lanes, 1, GPUMP_COMPRESS_MAX_LANES);
    if (layout->last_lanes < 1 || layout->last_lanes > layout->lanes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "last_lanes", 0, layout->last_lanes, 1, layout->lanes);
    lowest = layout->lanes < 8 ? layout->lanes : 8;
    if (layout->group < lowest || layout->group > layout->lanes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "group", 0, layout->group, lowest, layout->lanes);
    if (layout->register_stride < layout->lanes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "register_stride", 0, layout->register_stride, layout->lanes,
                           UINT32_MAX);
    if (layout->warps > 1 && layout->warp_stride < layout->lanes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "warp_stride", 0, layout->warp_stride, layout->lanes,
                           UINT32_MAX);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_compress_layout_init(gpump_compress_layout *layout, uint32_t threads, uint32_t registers,
                                                  uint32_t lanes, uint32_t block_x, gpump_diag *diag) {
    gpump_compress_layout made;
    gpump_result result;
    if (!layout) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "layout", 0, 0, 1, UINT64_MAX);
    if (lanes < 1 || lanes > GPUMP_COMPRESS_MAX_LANES)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "lanes", 0, lanes, 1, GPUMP_COMPRESS_MAX_LANES);
    if (threads < 1 || threads > lanes * GPUMP_COMPRESS_MAX_WARPS)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "threads", 0, threads, 1,
                           (uint64_t)lanes * GPUMP_COMPRESS_MAX_WARPS);
    made.warps = (threads + lanes - 1) / lanes;
    made.registers = registers;
    made.lanes = lanes;
    made.last_lanes = threads - (made.warps - 1) * lanes;
    made.group = gpump_compress_group(lanes, block_x);
    made.register_stride = lanes;
    made.warp_stride = registers * lanes;
    made.live_stride = 0;
    result = gpumpi_compress_check(&made, diag);
    if (result == GPUMP_OK) *layout = made;
    return result;
}

static uint32_t gpumpi_compress_lanes(const gpump_compress_layout *layout, uint32_t warp) {
    return warp + 1 == layout->warps ? layout->last_lanes : layout->lanes;
}

static uint32_t gpumpi_compress_groups(const gpump_compress_layout *layout, uint32_t warp) {
    return (gpumpi_compress_lanes(layout, warp) + layout->group - 1) / layout->group;
}

static uint32_t gpumpi_compress_block_groups(const gpump_compress_layout *layout) {
    return (layout->warps - 1) * gpumpi_compress_groups(layout, 0) * (layout->warps > 1) +
           gpumpi_compress_groups(layout, layout->warps - 1);
}

/* Words of one register in all warps. */
static uint32_t gpumpi_compress_words(const gpump_compress_layout *layout) {
    return (layout->warps - 1) * layout->lanes + layout->last_lanes;
}

static const uint64_t *gpumpi_compress_mask(const gpump_compress_layout *layout, const uint64_t *live, uint32_t warp) {
    return live ? live + (size_t)warp * layout->live_stride : NULL;
}

static size_t gpumpi_compress_raw_bytes(const gpump_compress_layout *layout) {
    return (size_t)gpumpi_compress_words(layout) * layout->registers * 4;
}

static uint32_t gpumpi_compress_live_count(const uint64_t *live, uint32_t registers) {
    uint32_t r, count = 0;
    if (!live) return registers;
    for (r = 0; r + 64 <= registers; r += 64) count += gpump_bits_count64(live[r >> 6]);
    if (r < registers) count += gpump_bits_count64(live[r >> 6] & (((uint64_t)1 << (registers - r)) - 1));
    return count;
}

/* Bytes of one warp as in LIVE. */
static size_t gpumpi_compress_live_bytes(const gpump_compress_layout *layout, const uint64_t *live, uint32_t warp) {
    return (layout->registers + 7) / 8 +
           (size_t)gpumpi_compress_live_count(gpumpi_compress_mask(layout, live, warp), layout->registers) *
               gpumpi_compress_lanes(layout, warp) * 4;
}

GPUMP_API gpump_result gpump_compress_bound(const gpump_compress_layout *layout, size_t *bytes, gpump_diag *diag) {
    gpump_result result = gpumpi_compress_check(layout, diag);
    uint32_t groups, lanes;
    size_t excess = 0;
    if (result != GPUMP_OK) return result;
    if (!bytes) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bytes", 0, 0, 1, UINT64_MAX);
    /* WARP: tags, two bits per register and warp (NEAR: four); BLOCK: three bits per register, and mixed never beats
     * random when larger. As the paper classifies, a register may take base and stride of every group, which is more
     * than its lanes where groups are tiny. */
    groups = gpumpi_compress_block_groups(layout);
    lanes = gpumpi_compress_words(layout);
    if (2 * groups > lanes) excess = (size_t)(2 * groups - lanes) * 4 * layout->registers;
    *bytes = gpumpi_compress_raw_bytes(layout) + excess + (layout->warps + 7) / 8 +
             (size_t)layout->warps * ((layout->registers + 1) / 2) + 3 * ((layout->registers + 7) / 8);
    return GPUMP_OK;
}

static gpump_result gpumpi_compress_bad(gpump_diag *diag, const char *field, uint64_t index, uint64_t value,
                                        uint64_t wanted) {
    return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, field, index, value, wanted, wanted);
}

/* ---- live registers as they are ---- */

static unsigned char *gpumpi_compress_write_live(const gpump_compress_layout *layout, const uint32_t *values,
                                                 const uint64_t *live, uint32_t warp, int mask, unsigned char *out) {
    const uint32_t *v = values + (size_t)warp * layout->warp_stride;
    const uint64_t *set = gpumpi_compress_mask(layout, live, warp);
    uint32_t r, lanes = gpumpi_compress_lanes(layout, warp);
    if (mask) {
        memset(out, 0, (layout->registers + 7) / 8);
        for (r = 0; r < layout->registers; r++)
            if (gpumpi_compress_live(set, r)) out[r >> 3] = (unsigned char)(out[r >> 3] | 1u << (r & 7));
        out += (layout->registers + 7) / 8;
    }
    for (r = 0; r < layout->registers; r++)
        if (!mask || gpumpi_compress_live(set, r))
            out = gpumpi_compress_put_words(out, v + (size_t)r * layout->register_stride, lanes);
    return out;
}

static const unsigned char *gpumpi_compress_read_live(const gpump_compress_layout *layout, uint32_t warp, int mask,
                                                      const unsigned char *in, uint32_t *values) {
    uint32_t *v = values + (size_t)warp * layout->warp_stride;
    const unsigned char *set = in;
    uint32_t r, lanes = gpumpi_compress_lanes(layout, warp);
    if (mask) in += (layout->registers + 7) / 8;
    for (r = 0; r < layout->registers; r++)
        if (!mask || ((uint32_t)set[r >> 3] >> (r & 7) & 1u))
            in = gpumpi_compress_get_words(in, v + (size_t)r * layout->register_stride, lanes);
    return in;
}

/* ---- WARP and NEAR, warp by warp ---- */

/* The path for full warps; the last warp, when it is not full, takes the plain path. */
static const gpumpi_compress_path *gpumpi_compress_path_of(const gpump_compress_layout *layout, uint32_t flags) {
    const gpumpi_compress_path *path = gpumpi_compress_x86(layout, flags);
    return path ? path : gpumpi_compress_plain();
}

/* Returns 1 when a warp of `bytes` bytes of patterns may be larger than in LIVE form, 0 when it is certainly smaller.
 * The pattern vector is a bit per register longer than the live mask, so patterns lose only when the registers shrank
 * by less than that. A live register of 32 lanes that does not shrink takes 128 bytes, so the remainder of 128 bytes
 * says by how much the others shrank. Quicker than counting the live registers. */
static int gpumpi_compress_doubtful(uint32_t registers, size_t bytes) {
    uint32_t patterns = (registers + 3) / 4;
    return ((0u - (uint32_t)(bytes - patterns)) & 127u) < patterns - (registers + 7) / 8;
}

/* WARP. Without PAPER, a warp that is larger with patterns than in LIVE form is written as in LIVE, and tagged. */
static unsigned char *gpumpi_compress_write_warps(const gpump_compress_layout *layout, const uint32_t *values,
                                                  const uint64_t *live, uint32_t allow, unsigned char *out) {
    const gpumpi_compress_path *path = gpumpi_compress_path_of(layout, allow);
    unsigned char *tags = out, *end;
    uint32_t w;
    memset(out, 0, (layout->warps + 7) / 8);
    out += (layout->warps + 7) / 8;
    for (w = 0; w < layout->warps; w++, out = end) {
        uint32_t lanes = gpumpi_compress_lanes(layout, w);
        if (lanes < layout->lanes) path = gpumpi_compress_plain();
        end = path->write_warp(layout, values + (size_t)w * layout->warp_stride, gpumpi_compress_mask(layout, live, w),
                               lanes, out);
        if (allow & GPUMP_COMPRESS_PAPER) continue;
        if (lanes == 32 && !gpumpi_compress_doubtful(layout->registers, (size_t)(end - out))) continue;
        if ((size_t)(end - out) <= gpumpi_compress_live_bytes(layout, live, w)) continue;
        tags[w >> 3] = (unsigned char)(tags[w >> 3] | 1u << (w & 7));
        end = gpumpi_compress_write_live(layout, values, live, w, 1, out);
    }
    return out;
}

/* Reads WARP, checked before. */
static void gpumpi_compress_read_warps(const gpump_compress_layout *layout, uint32_t flags, const unsigned char *in,
                                       uint32_t *values) {
    const gpumpi_compress_path *path = gpumpi_compress_path_of(layout, flags);
    const unsigned char *tags = in;
    int aligned = (uintptr_t)values % 32 == 0 && layout->register_stride % 8 == 0 && layout->warp_stride % 8 == 0;
    uint32_t w;
    in += (layout->warps + 7) / 8;
    for (w = 0; w < layout->warps; w++) {
        uint32_t lanes = gpumpi_compress_lanes(layout, w);
        if (lanes < layout->lanes) path = gpumpi_compress_plain();
        in = (uint32_t)tags[w >> 3] >> (w & 7) & 1u
                 ? gpumpi_compress_read_live(layout, w, 1, in, values)
                 : path->read_warp(layout, values + (size_t)w * layout->warp_stride, lanes,
                                   (flags & GPUMP_COMPRESS_AROUND) && aligned, in);
    }
}

/* NEAR; returns its length. */
static size_t gpumpi_compress_write_nears(const gpump_compress_layout *layout, const uint32_t *values,
                                          const uint64_t *live, uint32_t flags, unsigned char *out) {
    const gpumpi_compress_path *path = gpumpi_compress_path_of(layout, flags);
    uint32_t steps[GPUMP_COMPRESS_MAX_REGISTERS] = {0}, w;
    unsigned char *start = out;
    gpumpi_compress_near near;
    near.steps = steps;
    for (w = 0; w < layout->warps; w++) {
        near.live = gpumpi_compress_mask(layout, live, w);
        near.live_before = gpumpi_compress_mask(layout, live, w ? w - 1 : 0);
        near.back = w ? layout->warp_stride : 0;
        near.lanes = gpumpi_compress_lanes(layout, w);
        if (near.lanes < layout->lanes) path = gpumpi_compress_plain();
        out = path->write_near(layout, values + (size_t)w * layout->warp_stride, &near, out);
    }
    return (size_t)(out - start);
}

/* Reads NEAR, checked before. */
static void gpumpi_compress_read_nears(const gpump_compress_layout *layout, uint32_t flags, const unsigned char *in,
                                       uint32_t *values) {
    const gpumpi_compress_path *path = gpumpi_compress_path_of(layout, flags);
    uint32_t steps[GPUMP_COMPRESS_MAX_REGISTERS] = {0}, w;
    gpumpi_compress_near near = {NULL, NULL, layout->warp_stride, 0, steps};
    for (w = 0; w < layout->warps; w++) {
        near.lanes = gpumpi_compress_lanes(layout, w);
        if (near.lanes < layout->lanes) path = gpumpi_compress_plain();
        in = path->read_near(layout, values + (size_t)w * layout->warp_stride, &near, in);
    }
}

/* The length of NEAR, without writing it. */
static size_t gpumpi_compress_near_bytes(const gpump_compress_layout *layout, const uint32_t *values,
                                         const uint64_t *live) {
    size_t total = (size_t)layout->warps * ((layout->registers + 1) / 2), bytes;
    uint32_t w, r;
    for (r = 0; r < layout->registers; r++) {
        const uint32_t *before = NULL, *v = values + (size_t)r * layout->register_stride;
        uint32_t step = 0;
        for (w = 0; w < layout->warps; w++, v += layout->warp_stride) {
            int alive = gpumpi_compress_live(gpumpi_compress_mask(layout, live, w), r);
            if (alive) {
                gpumpi_compress_near_one(v, before, gpumpi_compress_lanes(layout, w), layout->group, &step, NULL,
                                         &bytes);
                total += bytes;
            }
            before = alive ? v : NULL;
        }
    }
    return total;
}

/* ---- classification ---- */

GPUMP_API gpump_compress_pattern gpump_compress_classify(const uint32_t *values, uint32_t lanes, uint32_t group) {
    uint32_t base[GPUMP_COMPRESS_MAX_LANES], stride[GPUMP_COMPRESS_MAX_LANES];
    GPUMP_ASSERT(lanes >= 1 && lanes <= GPUMP_COMPRESS_MAX_LANES && group >= 1);
    return (gpump_compress_pattern)gpumpi_compress_analyse(values, lanes, group, base, stride);
}

/* A register over the whole block: base and stride vector, and what they say. */
typedef struct gpumpi_compress_vectors {
    uint32_t base[GPUMPI_COMPRESS_GROUPS];
    uint32_t stride[GPUMPI_COMPRESS_GROUPS];
    unsigned char pattern[GPUMP_COMPRESS_MAX_WARPS]; /* per warp */
    uint32_t groups;
    uint32_t step; /* stride of the base vector, when it has one */
    size_t mixed;  /* bytes as MIXED */
    int grid;      /* one x stride and one base stride: GRID holds it */
} gpumpi_compress_vectors;

static uint32_t gpumpi_compress_block(const gpump_compress_layout *layout, const uint32_t *values, uint32_t number,
                                      gpumpi_compress_vectors *vectors) {
    uint32_t w, g = 0, i, random = 0, base_steady = 1, stride_uniform = 1, groups;
    uint32_t per_warp = gpumpi_compress_groups(layout, 0);
    vectors->mixed = (layout->warps + 3) / 4;
    for (w = 0; w < layout->warps; w++) {
        const uint32_t *v = values + (size_t)w * layout->warp_stride + (size_t)number * layout->register_stride;
        uint32_t lanes = gpumpi_compress_lanes(layout, w);
        uint32_t pattern = gpumpi_compress_analyse(v, lanes, layout->group, vectors->base + g, vectors->stride + g);
        uint32_t here = w + 1 < layout->warps ? per_warp : gpumpi_compress_groups(layout, w);
        /* A last group of one lane has no stride of its own: in a warp of a single lane it takes the block's. */
        if (lanes == 1 && g) vectors->stride[g] = vectors->stride[g - 1];
        vectors->pattern[w] = (unsigned char)pattern;
        vectors->mixed += pattern == GPUMP_COMPRESS_RANDOM    ? (size_t)lanes * 4
                          : pattern == GPUMP_COMPRESS_STRIDED ? (size_t)here * 8
                                                              : (size_t)here * 4;
        random |= pattern == GPUMP_COMPRESS_RANDOM;
        g += here;
    }
    vectors->groups = groups = g;
    vectors->step = 0;
    vectors->grid = 0;
    if (random) return GPUMP_COMPRESS_BLOCK_RANDOM;
    if (groups > 1) vectors->step = vectors->base[1] - vectors->base[0];
    for (i = 1; i < groups; i++) {
        base_steady &= vectors->base[i] - vectors->base[i - 1] == vectors->step;
        stride_uniform &= vectors->stride[i] == vectors->stride[0];
    }
    vectors->grid = base_steady && stride_uniform;
    if (stride_uniform && vectors->stride[0] == 0)
        return base_steady && vectors->step == 0 ? GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM
                                                 : GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM;
    if (vectors->grid && (groups == 1 || vectors->step == vectors->stride[0] * layout->group))
        return GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED;
    return GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED;
}

GPUMP_API gpump_compress_block_pattern gpump_compress_classify_block(const gpump_compress_layout *layout,
                                                                     const uint32_t *values, uint32_t number) {
    gpumpi_compress_vectors vectors;
    GPUMP_ASSERT(gpumpi_compress_check(layout, NULL) == GPUMP_OK && number < layout->registers);
    return (gpump_compress_block_pattern)gpumpi_compress_block(layout, values, number, &vectors);
}

/* The code that register gets in the BLOCK form, and its data bytes: the smallest, ties to the lower code. */
static uint32_t gpumpi_compress_block_code(const gpump_compress_layout *layout, uint32_t pattern,
                                           const gpumpi_compress_vectors *vectors, uint32_t flags, size_t *bytes) {
    size_t words;
    switch (pattern) {
    case GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM: words = 1; break;
    case GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED: words = 2; break;
    case GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM: words = vectors->groups; break;
    case GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED: words = (size_t)vectors->groups * 2; break;
    default: words = gpumpi_compress_words(layout); break;
    }
    *bytes = words * 4;
    if (!(flags & GPUMP_COMPRESS_PAPER)) {
        if (vectors->grid && *bytes > 12) {
            pattern = GPUMP_COMPRESS_BLOCK_GRID;
            *bytes = 12;
        }
        if (vectors->mixed < *bytes) {
            pattern = GPUMP_COMPRESS_BLOCK_MIXED;
            *bytes = vectors->mixed;
        }
    }
    return pattern;
}

static int gpumpi_compress_live_anywhere(const gpump_compress_layout *layout, const uint64_t *live, uint32_t r) {
    uint32_t w;
    if (!live) return 1;
    for (w = 0; w < (layout->live_stride ? layout->warps : 1); w++)
        if (gpump_bits_get(live + (size_t)w * layout->live_stride, r)) return 1;
    return 0;
}

static size_t gpumpi_compress_block_bytes(const gpump_compress_layout *layout, const uint32_t *values,
                                          const uint64_t *live, uint32_t flags) {
    gpumpi_compress_vectors vectors;
    size_t bytes = 3 * ((layout->registers + 7) / 8), data;
    uint32_t r;
    for (r = 0; r < layout->registers; r++) {
        if (!gpumpi_compress_live_anywhere(layout, live, r)) continue;
        (void)gpumpi_compress_block_code(layout, gpumpi_compress_block(layout, values, r, &vectors), &vectors, flags,
                                         &data);
        bytes += data;
    }
    return bytes;
}

/* ---- writing ---- */

static unsigned char *gpumpi_compress_write_block(const gpump_compress_layout *layout, const uint32_t *values,
                                                  const uint64_t *live, uint32_t flags, unsigned char *out) {
    gpumpi_compress_vectors vectors;
    uint32_t r, w, i, plane = (layout->registers + 7) / 8;
    unsigned char *planes = out;
    memset(out, 0, (size_t)plane * 3);
    out += (size_t)plane * 3;
    for (r = 0; r < layout->registers; r++) {
        size_t data;
        uint32_t code;
        if (!gpumpi_compress_live_anywhere(layout, live, r)) continue;
        code = gpumpi_compress_block_code(layout, gpumpi_compress_block(layout, values, r, &vectors), &vectors, flags,
                                          &data);
        for (i = 0; i < 3; i++)
            if (code >> i & 1u)
                planes[i * plane + (r >> 3)] = (unsigned char)(planes[i * plane + (r >> 3)] | 1u << (r & 7));
        switch (code) {
        case GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM: out = gpumpi_compress_put_words(out, vectors.base, 1); break;
        case GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED:
            out = gpumpi_compress_put_words(out, vectors.base, 1);
            out = gpumpi_compress_put_words(out, vectors.stride, 1);
            break;
        case GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM:
            out = gpumpi_compress_put_words(out, vectors.base, vectors.groups);
            break;
        case GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED:
            out = gpumpi_compress_put_words(out, vectors.base, vectors.groups);
            out = gpumpi_compress_put_words(out, vectors.stride, vectors.groups);
            break;
        case GPUMP_COMPRESS_BLOCK_GRID:
            out = gpumpi_compress_put_words(out, vectors.base, 1);
            out = gpumpi_compress_put_words(out, vectors.stride, 1);
            out = gpumpi_compress_put_words(out, &vectors.step, 1);
            break;
        case GPUMP_COMPRESS_BLOCK_MIXED: {
            unsigned char *codes = out;
            uint32_t g = 0;
            memset(out, 0, (layout->warps + 3) / 4);
            out += (layout->warps + 3) / 4;
            for (w = 0; w < layout->warps; w++) {
                uint32_t pattern = vectors.pattern[w], groups = gpumpi_compress_groups(layout, w);
                codes[w >> 2] = (unsigned char)(codes[w >> 2] | pattern << (2 * (w & 3)));
                if (pattern == GPUMP_COMPRESS_RANDOM) {
                    out = gpumpi_compress_put_words(
                        out, values + (size_t)w * layout->warp_stride + (size_t)r * layout->register_stride,
                        gpumpi_compress_lanes(layout, w));
                } else {
                    out = gpumpi_compress_put_words(out, vectors.base + g, groups);
                    if (pattern == GPUMP_COMPRESS_STRIDED)
                        out = gpumpi_compress_put_words(out, vectors.stride + g, groups);
                }
                g += groups;
            }
            break;
        }
        default:
            for (w = 0; w < layout->warps; w++)
                out = gpumpi_compress_put_words(
                    out, values + (size_t)w * layout->warp_stride + (size_t)r * layout->register_stride,
                    gpumpi_compress_lanes(layout, w));
            break;
        }
    }
    return out;
}

GPUMP_API gpump_result gpump_compress_save(const gpump_compress_layout *layout, const uint32_t *values,
                                           const uint64_t *live, uint32_t allow, void *out, size_t capacity,
                                           size_t *bytes, uint32_t *form, gpump_diag *diag) {
    unsigned char *to = (unsigned char *)out;
    size_t bound, best, size, near;
    uint32_t w, chosen;
    gpump_result result = gpump_compress_bound(layout, &bound, diag);
    if (result != GPUMP_OK) return result;
    if (!values || !out || !bytes || !form)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "values, out, bytes or form", 0, 0, 1, UINT64_MAX);
    if (allow & GPUMP_COMPRESS_PAPER) allow &= ~GPUMP_COMPRESS_ALLOW_NEAR;
    if (!(allow & GPUMP_COMPRESS_ALLOW_ALL))
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "allow", 0, allow, 1, GPUMP_COMPRESS_ALLOW_ALL);
    if (capacity < bound) {
        *bytes = bound;
        return gpumpi_fail(diag, GPUMP_ERROR_CAPACITY, "capacity", 0, capacity, bound, UINT64_MAX);
    }
    /* The sizes of RAW and LIVE follow from the masks alone; NEAR and WARP are written at once, because one of them
     * nearly always stays. */
    best = SIZE_MAX;
    chosen = GPUMP_COMPRESS_FORMS;
    if (allow & GPUMP_COMPRESS_ALLOW_RAW) {
        best = gpumpi_compress_raw_bytes(layout);
        chosen = GPUMP_COMPRESS_FORM_RAW;
    }
    if (allow & GPUMP_COMPRESS_ALLOW_LIVE) {
        for (size = 0, w = 0; w < layout->warps; w++) size += gpumpi_compress_live_bytes(layout, live, w);
        if (size < best) {
            best = size;
            chosen = GPUMP_COMPRESS_FORM_LIVE;
        }
    }
    near = allow & GPUMP_COMPRESS_ALLOW_NEAR ? gpumpi_compress_write_nears(layout, values, live, allow, to) : SIZE_MAX;
    if (allow & GPUMP_COMPRESS_ALLOW_WARP) {
        size = (size_t)(gpumpi_compress_write_warps(layout, values, live, allow, to) - to);
        if (size < best) {
            best = size;
            chosen = GPUMP_COMPRESS_FORM_WARP;
        }
    }
    if (allow & GPUMP_COMPRESS_ALLOW_BLOCK) {
        size = gpumpi_compress_block_bytes(layout, values, live, allow);
        if (size < best) {
            best = size;
            chosen = GPUMP_COMPRESS_FORM_BLOCK;
        }
    }
    if (near < best) {
        best = near;
        chosen = GPUMP_COMPRESS_FORM_NEAR;
        if (allow & GPUMP_COMPRESS_ALLOW_WARP)
            gpumpi_compress_write_nears(layout, values, live, allow, to); /* WARP is there now */
    } else if (chosen == GPUMP_COMPRESS_FORM_BLOCK) {
        gpumpi_compress_write_block(layout, values, live, allow, to);
    } else if (chosen != GPUMP_COMPRESS_FORM_WARP) {
        for (w = 0; w < layout->warps; w++)
            to = gpumpi_compress_write_live(layout, values, live, w, chosen == GPUMP_COMPRESS_FORM_LIVE, to);
    }
    *bytes = best;
    *form = chosen;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_compress_count(const gpump_compress_layout *layout, const uint32_t *values,
                                            const uint64_t *live, uint32_t flags, gpump_compress_counts *counts,
                                            gpump_diag *diag) {
    gpumpi_compress_vectors vectors;
    uint32_t r, w;
    gpump_result result = gpumpi_compress_check(layout, diag);
    if (result != GPUMP_OK) return result;
    if (!values || !counts) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "values or counts", 0, 0, 1, UINT64_MAX);
    memset(counts, 0, sizeof *counts);
    counts->bytes[GPUMP_COMPRESS_FORM_RAW] = gpumpi_compress_raw_bytes(layout);
    counts->bytes[GPUMP_COMPRESS_FORM_BLOCK] = 3 * ((layout->registers + 7) / 8);
    for (r = 0; r < layout->registers; r++) {
        uint32_t pattern;
        size_t data;
        if (!gpumpi_compress_live_anywhere(layout, live, r)) {
            counts->block[GPUMP_COMPRESS_BLOCK_DEAD]++;
            continue;
        }
        pattern = gpumpi_compress_block(layout, values, r, &vectors);
        counts->block[pattern]++;
        (void)gpumpi_compress_block_code(layout, pattern, &vectors, flags, &data);
        counts->bytes[GPUMP_COMPRESS_FORM_BLOCK] += data;
    }
    counts->bytes[GPUMP_COMPRESS_FORM_NEAR] = gpumpi_compress_near_bytes(layout, values, live);
    counts->bytes[GPUMP_COMPRESS_FORM_WARP] = (layout->warps + 7) / 8;
    for (w = 0; w < layout->warps; w++) {
        const uint64_t *set = gpumpi_compress_mask(layout, live, w);
        uint32_t lanes = gpumpi_compress_lanes(layout, w), groups = gpumpi_compress_groups(layout, w);
        size_t as_live = gpumpi_compress_live_bytes(layout, live, w), as_patterns = (layout->registers + 3) / 4;
        for (r = 0; r < layout->registers; r++) {
            uint32_t pattern = GPUMP_COMPRESS_DEAD;
            if (gpumpi_compress_live(set, r))
                pattern = gpumpi_compress_analyse(values + (size_t)w * layout->warp_stride +
                                                      (size_t)r * layout->register_stride,
                                                  lanes, layout->group, vectors.base, vectors.stride);
            counts->warp[pattern]++;
            as_patterns += pattern == GPUMP_COMPRESS_RANDOM    ? (size_t)lanes * 4
                           : pattern == GPUMP_COMPRESS_STRIDED ? (size_t)groups * 8
                           : pattern == GPUMP_COMPRESS_UNIFORM ? (size_t)groups * 4
                                                               : 0;
        }
        counts->bytes[GPUMP_COMPRESS_FORM_LIVE] += as_live;
        counts->bytes[GPUMP_COMPRESS_FORM_WARP] +=
            as_patterns > as_live && !(flags & GPUMP_COMPRESS_PAPER) ? as_live : as_patterns;
    }
    return GPUMP_OK;
}

/* ---- reading ---- */

/* Checks that the warps of a LIVE (tags NULL) or WARP buffer take exactly its bytes, reading only masks and patterns.
 * A warp begins where the warp before it ends. */
static gpump_result gpumpi_compress_check_warps(const gpump_compress_layout *layout, uint32_t flags,
                                                const unsigned char *tags, const unsigned char *in, size_t left,
                                                gpump_diag *diag) {
    const gpumpi_compress_path *path = gpumpi_compress_path_of(layout, flags);
    const size_t all = left;
    const uint32_t registers = layout->registers;
    uint32_t w, i, words, lanes = layout->lanes, groups = gpumpi_compress_groups(layout, 0);
    for (w = 0; w < layout->warps; w++) {
        uint32_t per_byte = !tags || ((uint32_t)tags[w >> 3] >> (w & 7) & 1u) ? 8 : 4;
        uint32_t head = (registers + per_byte - 1) / per_byte, spare = registers % per_byte;
        if (w + 1 == layout->warps) {
            lanes = layout->last_lanes;
            groups = gpumpi_compress_groups(layout, w);
        }
        if (left < head) return gpumpi_compress_bad(diag, "bytes", w, left, head);
        if (spare && in[head - 1] >> (spare * (8 / per_byte)))
            return gpumpi_compress_bad(diag, "patterns", w, in[head - 1], 0);
        words = 0;
        if (per_byte == 8) {
            for (i = 0; i < head; i++) words += gpump_bits_count64(in[i]) * lanes;
        } else {
            words = path->words(layout, in, left, lanes, groups);
        }
        if (left - head < (size_t)words * 4)
            return gpumpi_compress_bad(diag, "bytes", w, left, head + (size_t)words * 4);
        in += head + (size_t)words * 4;
        left -= head + (size_t)words * 4;
    }
    return left ? gpumpi_compress_bad(diag, "bytes", 0, all, all - left) : GPUMP_OK;
}

/* Checks NEAR: known codes, a warp before where one refers to it, and exactly `left` bytes. */
static gpump_result gpumpi_compress_check_nears(const gpump_compress_layout *layout, const unsigned char *in,
                                                size_t left, gpump_diag *diag) {
    static const unsigned char none[GPUMP_COMPRESS_MAX_REGISTERS / 2] = {0};
    const unsigned char *before = none;
    const size_t all = left;
    uint32_t w, r, head = (layout->registers + 1) / 2, lengths[16] = {0};
    for (w = 0; w < layout->warps; w++) {
        uint32_t lanes = gpumpi_compress_lanes(layout, w), wrong = 0, bytes = head;
        if (w == 0 || w + 1 == layout->warps) {
            lengths[GPUMP_COMPRESS_UNIFORM] = gpumpi_compress_groups(layout, w) * 4;
            lengths[GPUMP_COMPRESS_RANDOM] = lanes * 4;
            lengths[GPUMP_COMPRESS_STRIDED] = gpumpi_compress_groups(layout, w) * 8;
            lengths[GPUMPI_COMPRESS_MOVED] = 4;
            for (r = 1; r <= 3; r++) lengths[GPUMPI_COMPRESS_BYTES1 - 1 + r] = 4 + lanes * r;
        }
        if (left < head) return gpumpi_compress_bad(diag, "bytes", w, left, head);
        if (layout->registers & 1 && in[head - 1] >> 4)
            return gpumpi_compress_bad(diag, "patterns", w, in[head - 1], 0);
        for (r = 0; r < head; r++) {
            uint32_t low = in[r] & 15u, high = (uint32_t)in[r] >> 4, alone_low = !(before[r] & 15u),
                     alone_high = !(before[r] >> 4);
            bytes += lengths[low] + lengths[high];
            wrong |= (uint32_t)(low >= GPUMPI_COMPRESS_NEAR_CODES) | (uint32_t)(high >= GPUMPI_COMPRESS_NEAR_CODES) |
                     ((uint32_t)(low - GPUMPI_COMPRESS_AGAIN < 2) & alone_low) |
                     ((uint32_t)(high - GPUMPI_COMPRESS_AGAIN < 2) & alone_high);
        }
        if (wrong) return gpumpi_compress_bad(diag, "patterns", w, 0, GPUMPI_COMPRESS_NEAR_CODES - 1);
        if (left < bytes) return gpumpi_compress_bad(diag, "bytes", w, left, bytes);
        before = in;
        in += bytes;
        left -= bytes;
    }
    return left ? gpumpi_compress_bad(diag, "bytes", 0, all, all - left) : GPUMP_OK;
}

static uint32_t gpumpi_compress_plane_code(const unsigned char *planes, uint32_t plane, uint32_t r) {
    return ((uint32_t)planes[r >> 3] >> (r & 7) & 1u) | ((uint32_t)planes[plane + (r >> 3)] >> (r & 7) & 1u) << 1 |
           ((uint32_t)planes[2 * plane + (r >> 3)] >> (r & 7) & 1u) << 2;
}

/* Bytes that register r takes in the BLOCK form. */
static gpump_result gpumpi_compress_block_length(const gpump_compress_layout *layout, uint32_t r, uint32_t code,
                                                 const unsigned char *in, size_t left, size_t *length,
                                                 gpump_diag *diag) {
    size_t words = 0, head = 0;
    uint32_t w;
    switch (code) {
    case GPUMP_COMPRESS_BLOCK_DEAD: break;
    case GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM: words = 1; break;
    case GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED: words = 2; break;
    case GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM: words = gpumpi_compress_block_groups(layout); break;
    case GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED: words = (size_t)gpumpi_compress_block_groups(layout) * 2; break;
    case GPUMP_COMPRESS_BLOCK_GRID: words = 3; break;
    case GPUMP_COMPRESS_BLOCK_RANDOM: words = gpumpi_compress_words(layout); break;
    default:
        head = (layout->warps + 3) / 4;
        if (left < head) return gpumpi_compress_bad(diag, "bytes", r, left, head);
        if (layout->warps % 4 && in[head - 1] >> (layout->warps % 4 * 2))
            return gpumpi_compress_bad(diag, "patterns", r, in[head - 1], 0);
        for (w = 0; w < layout->warps; w++) {
            uint32_t pattern = (uint32_t)in[w >> 2] >> (2 * (w & 3)) & 3u;
            if (pattern == GPUMP_COMPRESS_DEAD)
                return gpumpi_compress_bad(diag, "patterns", r, pattern, GPUMP_COMPRESS_RANDOM);
            words += pattern == GPUMP_COMPRESS_RANDOM
                         ? gpumpi_compress_lanes(layout, w)
                         : (size_t)gpumpi_compress_groups(layout, w) * (pattern == GPUMP_COMPRESS_STRIDED ? 2 : 1);
        }
        break;
    }
    *length = head + words * 4;
    return left < *length ? gpumpi_compress_bad(diag, "bytes", r, left, *length) : GPUMP_OK;
}

/* One register of the BLOCK form, checked before. */
static void gpumpi_compress_read_block(const gpump_compress_layout *layout, uint32_t r, uint32_t code,
                                       const unsigned char *in, uint32_t *values) {
    const unsigned char *codes = in;
    uint32_t w, i, g = 0, all = gpumpi_compress_block_groups(layout);
    if (code == GPUMP_COMPRESS_BLOCK_MIXED) in += (layout->warps + 3) / 4;
    for (w = 0; w < layout->warps; w++) {
        uint32_t *v = values + (size_t)w * layout->warp_stride + (size_t)r * layout->register_stride;
        uint32_t lanes = gpumpi_compress_lanes(layout, w), groups = gpumpi_compress_groups(layout, w), pattern;
        switch (code) {
        case GPUMP_COMPRESS_BLOCK_DEAD: return;
        case GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM:
        case GPUMP_COMPRESS_BLOCK_GLOBAL_STRIDED:
        case GPUMP_COMPRESS_BLOCK_GRID: {
            uint32_t base = gpumpi_compress_get(in),
                     x = code == GPUMP_COMPRESS_BLOCK_GLOBAL_UNIFORM ? 0 : gpumpi_compress_get(in + 4);
            uint32_t y = code == GPUMP_COMPRESS_BLOCK_GRID ? gpumpi_compress_get(in + 8) : x * layout->group, at, value;
            for (base += g * y, at = 0; at < lanes; at += layout->group, base += y)
                for (value = base, i = at; i < lanes && i < at + layout->group; i++, value += x) v[i] = value;
            break;
        }
        case GPUMP_COMPRESS_BLOCK_LOCAL_UNIFORM:
            gpumpi_compress_expand(v, lanes, layout->group, in + (size_t)g * 4, NULL);
            break;
        case GPUMP_COMPRESS_BLOCK_LOCAL_STRIDED:
            gpumpi_compress_expand(v, lanes, layout->group, in + (size_t)g * 4, in + ((size_t)all + g) * 4);
            break;
        case GPUMP_COMPRESS_BLOCK_RANDOM: in = gpumpi_compress_get_words(in, v, lanes); break;
        default:
            pattern = (uint32_t)codes[w >> 2] >> (2 * (w & 3)) & 3u;
            if (pattern == GPUMP_COMPRESS_RANDOM) {
                in = gpumpi_compress_get_words(in, v, lanes);
            } else {
                gpumpi_compress_expand(v, lanes, layout->group, in,
                                       pattern == GPUMP_COMPRESS_STRIDED ? in + (size_t)groups * 4 : NULL);
                in += (size_t)groups * (pattern == GPUMP_COMPRESS_STRIDED ? 8 : 4);
            }
            break;
        }
        g += groups;
    }
}

GPUMP_API gpump_result gpump_compress_restore(const gpump_compress_layout *layout, uint32_t form, uint32_t flags,
                                              const void *in, size_t bytes, uint32_t *values, gpump_diag *diag) {
    const unsigned char *from = (const unsigned char *)in, *at = from;
    uint32_t w, r, plane;
    size_t length = 0, head;
    gpump_result result = gpumpi_compress_check(layout, diag);
    if (result != GPUMP_OK) return result;
    if (!in || !values) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "in or values", 0, 0, 1, UINT64_MAX);
    switch (form) {
    case GPUMP_COMPRESS_FORM_RAW:
        if (bytes != gpumpi_compress_raw_bytes(layout))
            return gpumpi_compress_bad(diag, "bytes", 0, bytes, gpumpi_compress_raw_bytes(layout));
        for (w = 0; w < layout->warps; w++) at = gpumpi_compress_read_live(layout, w, 0, at, values);
        return GPUMP_OK;
    case GPUMP_COMPRESS_FORM_LIVE:
        result = gpumpi_compress_check_warps(layout, flags, NULL, from, bytes, diag);
        if (result != GPUMP_OK) return result;
        for (w = 0; w < layout->warps; w++) at = gpumpi_compress_read_live(layout, w, 1, at, values);
        return GPUMP_OK;
    case GPUMP_COMPRESS_FORM_WARP:
        head = (layout->warps + 7) / 8;
        if (bytes < head) return gpumpi_compress_bad(diag, "bytes", 0, bytes, head);
        if (layout->warps % 8 && from[head - 1] >> layout->warps % 8)
            return gpumpi_compress_bad(diag, "tags", 0, from[head - 1], 0);
        result = gpumpi_compress_check_warps(layout, flags, from, from + head, bytes - head, diag);
        if (result != GPUMP_OK) return result;
        gpumpi_compress_read_warps(layout, flags, from, values);
        return GPUMP_OK;
    case GPUMP_COMPRESS_FORM_NEAR:
        result = gpumpi_compress_check_nears(layout, from, bytes, diag);
        if (result == GPUMP_OK) gpumpi_compress_read_nears(layout, flags, from, values);
        return result;
    case GPUMP_COMPRESS_FORM_BLOCK:
        plane = (layout->registers + 7) / 8;
        if (bytes < (size_t)plane * 3) return gpumpi_compress_bad(diag, "bytes", 0, bytes, (size_t)plane * 3);
        for (w = 1; layout->registers % 8 && w <= 3; w++)
            if (from[w * plane - 1] >> layout->registers % 8)
                return gpumpi_compress_bad(diag, "patterns", w - 1, from[w * plane - 1], 0);
        for (at = from + (size_t)plane * 3, r = 0; r < layout->registers; r++, at += length) {
            result = gpumpi_compress_block_length(layout, r, gpumpi_compress_plane_code(from, plane, r), at,
                                                  bytes - (size_t)(at - from), &length, diag);
            if (result != GPUMP_OK) return result;
        }
        if ((size_t)(at - from) != bytes) return gpumpi_compress_bad(diag, "bytes", 0, bytes, (size_t)(at - from));
        for (at = from + (size_t)plane * 3, r = 0; r < layout->registers; r++, at += length) {
            uint32_t code = gpumpi_compress_plane_code(from, plane, r);
            (void)gpumpi_compress_block_length(layout, r, code, at, bytes - (size_t)(at - from), &length, NULL);
            gpumpi_compress_read_block(layout, r, code, at, values);
        }
        return GPUMP_OK;
    default: return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "form", 0, form, 0, GPUMP_COMPRESS_FORMS - 1);
    }
}

/* ---- gpump_impl/context/context.c ---- */


#include <string.h>

/* ---- little-endian words ---- */

static void gpumpi_context_store32(unsigned char *at, uint32_t value) {
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
    at[2] = (unsigned char)(value >> 16);
    at[3] = (unsigned char)(value >> 24);
}
static void gpumpi_context_store64(unsigned char *at, uint64_t value) {
    gpumpi_context_store32(at, (uint32_t)value);
    gpumpi_context_store32(at + 4, (uint32_t)(value >> 32));
}
static uint32_t gpumpi_context_load32(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}
static uint64_t gpumpi_context_load64(const unsigned char *at) {
    return gpumpi_context_load32(at) | (uint64_t)gpumpi_context_load32(at + 4) << 32;
}
/* Arrays: a plain copy where memory already has the format's byte order. */
static int gpumpi_context_is_little(void) {
    const uint32_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}
static void gpumpi_context_store32s(unsigned char *at, const uint32_t *values, uint64_t count) {
    if (gpumpi_context_is_little())
        memcpy(at, values, (size_t)count * 4);
    else
        for (uint64_t i = 0; i < count; i++) gpumpi_context_store32(at + i * 4, values[i]);
}
static void gpumpi_context_load32s(const unsigned char *at, uint32_t *values, uint64_t count) {
    if (gpumpi_context_is_little())
        memcpy(values, at, (size_t)count * 4);
    else
        for (uint64_t i = 0; i < count; i++) values[i] = gpumpi_context_load32(at + i * 4);
}

/* The checksum: word k of 64 bits goes into chain k mod 8, so that it runs at memory speed; each step is a bijection of
 * the chain, so any change within one word is seen. Word 3, the checksum itself, counts as 0. */
static uint64_t gpumpi_context_checksum(const unsigned char *memory, uint64_t bytes) {
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    const int little = gpumpi_context_is_little();
    uint64_t chain[8] = {1, 2, 3, 4, 5, 6, 7, 8}, word[8], words = bytes / 8;
    for (uint64_t i = 0; i < words; i += 8) {
        uint64_t here = words - i < 8 ? words - i : 8;
        if (little && here == 8)
            memcpy(word, memory + i * 8, 64);
        else
            for (uint64_t k = 0; k < here; k++) word[k] = gpumpi_context_load64(memory + (i + k) * 8);
        if (!i && here > 3) word[3] = 0;
        if (here == 8) {
#define GPUMPI_STEP(k)                     \
    chain[k] = (chain[k] ^ word[k]) * odd; \
    chain[k] ^= chain[k] >> 32
            GPUMPI_STEP(0);
            GPUMPI_STEP(1);
            GPUMPI_STEP(2);
            GPUMPI_STEP(3);
            GPUMPI_STEP(4);
            GPUMPI_STEP(5);
            GPUMPI_STEP(6);
            GPUMPI_STEP(7);
        } else {
            for (uint64_t k = 0; k < here; k++) { GPUMPI_STEP(k); }
#undef GPUMPI_STEP
        }
    }
    return gpump_hash_u64s(GPUMP_HASH_SEED, chain, 8);
}

static const unsigned char gpumpi_context_magic[8] = {'g', 'p', 'u', 'm', 'p', 'c', 't', 'x'};

/* ---- writing ---- */

GPUMP_API gpump_result gpump_context_begin(gpump_context_writer *writer, void *memory, uint64_t capacity) {
    if (!writer || (!memory && capacity)) return GPUMP_ERROR_ARGUMENT;
    memset(writer, 0, sizeof *writer);
    writer->memory = (unsigned char *)memory;
    writer->capacity = capacity;
    writer->used = GPUMP_CONTEXT_HEADER_BYTES;
    return GPUMP_OK;
}

/* Opens a section; its payload is not cleared, its padding is. */
static unsigned char *gpumpi_context_section(gpump_context_writer *writer, uint32_t type, uint32_t index,
                                             uint64_t bytes) {
    uint64_t room = bytes > UINT64_MAX - 7u ? UINT64_MAX : (bytes + 7u) & ~UINT64_C(7);
    uint64_t start = writer->used;
    unsigned char *section;
    writer->used = gpump_add_saturated(gpump_add_saturated(start, GPUMP_CONTEXT_SECTION_BYTES), room);
    writer->sections++;
    if (writer->used > writer->capacity) {
        writer->failed = 1; /* keeps counting the bytes that are needed */
        return NULL;
    }
    section = writer->memory + start;
    gpumpi_context_store32(section, type);
    gpumpi_context_store32(section + 4, index);
    gpumpi_context_store64(section + 8, bytes);
    memset(section + GPUMP_CONTEXT_SECTION_BYTES + bytes, 0, (size_t)(room - bytes));
    return section + GPUMP_CONTEXT_SECTION_BYTES;
}

GPUMP_API void *gpump_context_reserve(gpump_context_writer *writer, uint32_t type, uint32_t index, uint64_t bytes) {
    unsigned char *payload = gpumpi_context_section(writer, type, index, bytes);
    if (payload) memset(payload, 0, (size_t)bytes);
    return payload;
}

GPUMP_API void gpump_context_put(gpump_context_writer *writer, uint32_t type, uint32_t index, const void *data,
                                 uint64_t bytes) {
    unsigned char *payload = gpumpi_context_section(writer, type, index, bytes);
    if (payload && bytes) memcpy(payload, data, (size_t)bytes);
}

GPUMP_API void gpump_context_put_block(gpump_context_writer *writer, const gpump_context_block *block) {
    unsigned char *at = gpumpi_context_section(writer, GPUMP_CONTEXT_BLOCK, 0, 96);
    if (!at) return;
    for (uint32_t i = 0; i < 4; i++) gpumpi_context_store64(at + i * 8, (&block->cookie)[i]);
    gpumpi_context_store32s(at + 32, &block->kernel, 16);
}

GPUMP_API void gpump_context_put_registers(gpump_context_writer *writer, uint32_t warp, const uint32_t *values,
                                           uint32_t registers, uint32_t lanes) {
    uint64_t count = (uint64_t)registers * lanes;
    unsigned char *at = gpumpi_context_section(writer, GPUMP_CONTEXT_REGISTERS, warp, 8 + count * 4);
    if (!at) return;
    gpumpi_context_store32(at, registers);
    gpumpi_context_store32(at + 4, lanes);
    if (count) gpumpi_context_store32s(at + 8, values, count);
}

GPUMP_API void gpump_context_put_stack(gpump_context_writer *writer, uint32_t warp,
                                       const gpump_context_stack_entry *entries, uint32_t count) {
    unsigned char *at = gpumpi_context_section(writer, GPUMP_CONTEXT_STACK, warp, (uint64_t)count * 16);
    for (uint32_t i = 0; at && i < count; i++, at += 16) {
        gpumpi_context_store32(at, entries[i].pc);
        gpumpi_context_store32(at + 4, entries[i].reconvergence_pc);
        gpumpi_context_store64(at + 8, entries[i].lanes);
    }
}

GPUMP_API void gpump_context_put_words(gpump_context_writer *writer, uint32_t type, uint32_t index,
                                       const uint64_t *words, uint32_t count) {
    unsigned char *at = gpumpi_context_section(writer, type, index, (uint64_t)count * 8);
    for (uint32_t i = 0; at && i < count; i++) gpumpi_context_store64(at + i * 8u, words[i]);
}

GPUMP_API void gpump_context_put_control(gpump_context_writer *writer, const gpump_context_control *control) {
    unsigned char *at = gpumpi_context_section(writer, GPUMP_CONTEXT_CONTROL, 0, 32);
    if (at) gpumpi_context_store32s(at, &control->in_place, 8);
}

enum { GPUMPI_CONTEXT_COMPRESSED_BYTES = 32 };

GPUMP_API gpump_result gpump_context_put_compressed(gpump_context_writer *writer, uint32_t index,
                                                    const gpump_compress_layout *layout, const uint32_t *values,
                                                    const uint64_t *live, uint32_t allow, gpump_diag *diag) {
    size_t bound, bytes;
    uint32_t form;
    uint64_t start;
    unsigned char *at;
    gpump_result result = writer ? gpump_compress_bound(layout, &bound, diag) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    start = writer->used;
    at = gpumpi_context_section(writer, GPUMP_CONTEXT_COMPRESSED, index,
                                GPUMPI_CONTEXT_COMPRESSED_BYTES + (uint64_t)bound);
    if (!at) return GPUMP_OK; /* gpump_context_end says how much was needed */
    result = gpump_compress_save(layout, values, live, allow, at + GPUMPI_CONTEXT_COMPRESSED_BYTES, bound, &bytes,
                                 &form, diag);
    if (result) { /* takes the section back */
        writer->used = start;
        writer->sections--;
        return result;
    }
    memset(at, 0, GPUMPI_CONTEXT_COMPRESSED_BYTES);
    gpumpi_context_store32(at, form);
    gpumpi_context_store32(at + 4, layout->warps);
    gpumpi_context_store32(at + 8, layout->registers);
    gpumpi_context_store32(at + 12, layout->lanes);
    gpumpi_context_store32(at + 16, layout->last_lanes);
    gpumpi_context_store32(at + 20, layout->group);
    gpumpi_context_store32(at + 24, (uint32_t)bytes);
    gpumpi_context_store64(at - 8, GPUMPI_CONTEXT_COMPRESSED_BYTES + (uint64_t)bytes);
    writer->used =
        start + GPUMP_CONTEXT_SECTION_BYTES + ((GPUMPI_CONTEXT_COMPRESSED_BYTES + (uint64_t)bytes + 7u) & ~UINT64_C(7));
    /* the saver may have used the room behind what it kept: padding is zero */
    memset(at + GPUMPI_CONTEXT_COMPRESSED_BYTES + bytes, 0,
           (size_t)(writer->used - start - GPUMP_CONTEXT_SECTION_BYTES) - GPUMPI_CONTEXT_COMPRESSED_BYTES - bytes);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_end(gpump_context_writer *writer, uint64_t *bytes) {
    if (!writer || !bytes) return GPUMP_ERROR_ARGUMENT;
    *bytes = writer->used;
    if (writer->failed || writer->used > writer->capacity) return GPUMP_ERROR_CAPACITY;
    memset(writer->memory, 0, GPUMP_CONTEXT_HEADER_BYTES);
    memcpy(writer->memory, gpumpi_context_magic, 8);
    gpumpi_context_store32(writer->memory + 8, GPUMP_CONTEXT_VERSION);
    gpumpi_context_store32(writer->memory + 12, writer->sections);
    gpumpi_context_store64(writer->memory + 16, writer->used);
    gpumpi_context_store64(writer->memory + 24, gpumpi_context_checksum(writer->memory, writer->used));
    return GPUMP_OK;
}

/* ---- reading ---- */

GPUMP_API gpump_result gpump_context_open(gpump_context_reader *reader, const void *memory, uint64_t bytes,
                                          gpump_diag *diag) {
    const unsigned char *at = (const unsigned char *)memory;
    uint64_t total, checksum, offset = GPUMP_CONTEXT_HEADER_BYTES;
    uint32_t sections;
    if (!reader || !memory)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, reader ? "memory" : "reader", 0, 0, 1, UINT64_MAX);
    if (bytes < GPUMP_CONTEXT_HEADER_BYTES)
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "truncated header", bytes, bytes, GPUMP_CONTEXT_HEADER_BYTES,
                           UINT64_MAX);
    for (uint32_t i = 0; i < 8; i++)
        if (at[i] != gpumpi_context_magic[i])
            return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "magic", i, at[i], gpumpi_context_magic[i],
                               gpumpi_context_magic[i]);
    if (gpumpi_context_load32(at + 8) != GPUMP_CONTEXT_VERSION)
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "version", 8, gpumpi_context_load32(at + 8), GPUMP_CONTEXT_VERSION,
                           GPUMP_CONTEXT_VERSION);
    sections = gpumpi_context_load32(at + 12);
    total = gpumpi_context_load64(at + 16);
    if (total < GPUMP_CONTEXT_HEADER_BYTES || total % 8u)
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "length", 16, total, GPUMP_CONTEXT_HEADER_BYTES, bytes);
    if (total > bytes) return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "truncated", bytes, bytes, total, UINT64_MAX);
    if (gpumpi_context_load64(at + 32))
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "reserved", 32, gpumpi_context_load64(at + 32), 0, 0);
    for (uint32_t i = 0; i < sections; i++) {
        uint64_t length, padded;
        if (total - offset < GPUMP_CONTEXT_SECTION_BYTES)
            return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "truncated section", offset, total - offset,
                               GPUMP_CONTEXT_SECTION_BYTES, UINT64_MAX);
        length = gpumpi_context_load64(at + offset + 8);
        if (length > total - offset - GPUMP_CONTEXT_SECTION_BYTES)
            return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "section length", offset + 8, length, 0,
                               total - offset - GPUMP_CONTEXT_SECTION_BYTES);
        padded = (length + 7u) & ~UINT64_C(7); /* the rest is a multiple of 8: this fits too */
        for (uint64_t k = length; k < padded; k++)
            if (at[offset + GPUMP_CONTEXT_SECTION_BYTES + k])
                return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "padding", offset + GPUMP_CONTEXT_SECTION_BYTES + k,
                                   at[offset + GPUMP_CONTEXT_SECTION_BYTES + k], 0, 0);
        offset += GPUMP_CONTEXT_SECTION_BYTES + padded;
    }
    if (offset != total) return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "sections", 12, sections, 0, total - offset);
    checksum = gpumpi_context_checksum(at, total);
    if (checksum != gpumpi_context_load64(at + 24))
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "checksum", 24, gpumpi_context_load64(at + 24), checksum,
                           checksum);
    reader->memory = at;
    reader->bytes = total;
    reader->next = GPUMP_CONTEXT_HEADER_BYTES;
    reader->sections = sections;
    reader->unused = 0;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_next(gpump_context_reader *reader, gpump_context_section *section) {
    const unsigned char *at;
    if (!reader || !section) return GPUMP_ERROR_ARGUMENT;
    if (reader->next >= reader->bytes) {
        reader->next = GPUMP_CONTEXT_HEADER_BYTES;
        return GPUMP_EMPTY;
    }
    at = reader->memory + reader->next;
    section->type = gpumpi_context_load32(at);
    section->index = gpumpi_context_load32(at + 4);
    section->bytes = gpumpi_context_load64(at + 8);
    section->offset = reader->next + GPUMP_CONTEXT_SECTION_BYTES;
    section->payload = at + GPUMP_CONTEXT_SECTION_BYTES;
    reader->next = section->offset + ((section->bytes + 7u) & ~UINT64_C(7));
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_find(gpump_context_reader *reader, uint32_t type, uint32_t index,
                                          gpump_context_section *section) {
    gpump_context_section found;
    if (!reader || !section) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t steps = 0; steps <= reader->sections; steps++) { /* once around, the end of the walk included */
        if (gpump_context_next(reader, &found)) continue;
        if (found.type == type && found.index == index) {
            *section = found;
            return GPUMP_OK;
        }
    }
    return GPUMP_EMPTY;
}

GPUMP_API gpump_result gpump_context_get_block(gpump_context_reader *reader, gpump_context_block *block) {
    gpump_context_section section;
    gpump_result result = block ? gpump_context_find(reader, GPUMP_CONTEXT_BLOCK, 0, &section) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    if (section.bytes != 96) return GPUMP_ERROR_FORMAT;
    for (uint32_t i = 0; i < 4; i++) (&block->cookie)[i] = gpumpi_context_load64(section.payload + i * 8);
    gpumpi_context_load32s(section.payload + 32, &block->kernel, 16);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_get_registers(gpump_context_reader *reader, uint32_t warp, uint32_t *values,
                                                   uint32_t registers, uint32_t lanes) {
    gpump_context_section section;
    uint64_t count = (uint64_t)registers * lanes;
    gpump_result result = gpump_context_find(reader, GPUMP_CONTEXT_REGISTERS, warp, &section);
    if (result) return result;
    if (count && !values) return GPUMP_ERROR_ARGUMENT;
    if (section.bytes < 8 || gpumpi_context_load32(section.payload) != registers ||
        gpumpi_context_load32(section.payload + 4) != lanes || section.bytes != 8 + count * 4)
        return GPUMP_ERROR_FORMAT;
    if (count) gpumpi_context_load32s(section.payload + 8, values, count);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_get_stack(gpump_context_reader *reader, uint32_t warp,
                                               gpump_context_stack_entry *entries, uint32_t capacity, uint32_t *count) {
    gpump_context_section section;
    gpump_result result =
        count ? gpump_context_find(reader, GPUMP_CONTEXT_STACK, warp, &section) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    if (section.bytes % 16 || section.bytes / 16 > UINT32_MAX) return GPUMP_ERROR_FORMAT;
    *count = (uint32_t)(section.bytes / 16);
    if (*count > capacity || (*count && !entries)) return GPUMP_ERROR_CAPACITY;
    for (uint32_t i = 0; i < *count; i++) {
        entries[i].pc = gpumpi_context_load32(section.payload + i * 16u);
        entries[i].reconvergence_pc = gpumpi_context_load32(section.payload + i * 16u + 4);
        entries[i].lanes = gpumpi_context_load64(section.payload + i * 16u + 8);
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_get_words(gpump_context_reader *reader, uint32_t type, uint32_t index,
                                               uint64_t *words, uint32_t capacity, uint32_t *count) {
    gpump_context_section section;
    gpump_result result = count ? gpump_context_find(reader, type, index, &section) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    if (section.bytes % 8 || section.bytes / 8 > UINT32_MAX) return GPUMP_ERROR_FORMAT;
    *count = (uint32_t)(section.bytes / 8);
    if (*count > capacity || (*count && !words)) return GPUMP_ERROR_CAPACITY;
    for (uint32_t i = 0; i < *count; i++) words[i] = gpumpi_context_load64(section.payload + i * 8u);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_get_control(gpump_context_reader *reader, gpump_context_control *control) {
    gpump_context_section section;
    gpump_result result =
        control ? gpump_context_find(reader, GPUMP_CONTEXT_CONTROL, 0, &section) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    if (section.bytes != 32 ||
        gpumpi_context_load32(section.payload) > (GPUMP_PART_REGISTERS | GPUMP_PART_SHARED_MEMORY))
        return GPUMP_ERROR_FORMAT;
    gpumpi_context_load32s(section.payload, &control->in_place, 8);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_get_compressed(gpump_context_reader *reader, uint32_t index,
                                                    const gpump_compress_layout *layout, uint32_t *values,
                                                    gpump_diag *diag) {
    gpump_context_section section;
    const uint32_t *shape;
    gpump_result result =
        layout && values ? gpump_context_find(reader, GPUMP_CONTEXT_COMPRESSED, index, &section) : GPUMP_ERROR_ARGUMENT;
    if (result < 0) return gpumpi_fail(diag, result, "arguments", 0, 0, 0, 0);
    if (result) return result;
    if (section.bytes < GPUMPI_CONTEXT_COMPRESSED_BYTES ||
        gpumpi_context_load32(section.payload + 24) != section.bytes - GPUMPI_CONTEXT_COMPRESSED_BYTES)
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "compressed length", section.offset + 24, section.bytes,
                           GPUMPI_CONTEXT_COMPRESSED_BYTES, UINT32_MAX);
    shape = &layout->warps; /* warps, registers, lanes, last_lanes, group stand in the same order in both */
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t written = gpumpi_context_load32(section.payload + 4 + i * 4);
        if (written != shape[i])
            return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "compressed shape", section.offset + 4 + i * 4, written,
                               shape[i], shape[i]);
    }
    return gpump_compress_restore(layout, gpumpi_context_load32(section.payload), 0,
                                  section.payload + GPUMPI_CONTEXT_COMPRESSED_BYTES,
                                  (size_t)(section.bytes - GPUMPI_CONTEXT_COMPRESSED_BYTES), values, diag);
}

GPUMP_API uint32_t gpump_context_missing(gpump_context_reader *reader, uint32_t shared_bytes) {
    enum { WARPS = 1024 };
    uint64_t registers[WARPS / 64], stacks[WARPS / 64];
    gpump_context_reader walk = *reader;
    gpump_context_block block;
    gpump_context_control control;
    gpump_context_section section;
    uint32_t missing = 0, in_place = 0;
    int shared = !shared_bytes, together = 0;
    if (gpump_context_get_block(&walk, &block) || block.warps > WARPS) return GPUMP_PART_BLOCK;
    if (!gpump_context_get_control(&walk, &control)) in_place = control.in_place;
    memset(registers, 0, sizeof registers);
    memset(stacks, 0, sizeof stacks);
    walk.next = GPUMP_CONTEXT_HEADER_BYTES;
    while (!gpump_context_next(&walk, &section)) {
        shared |= section.type == GPUMP_CONTEXT_SHARED && section.bytes == shared_bytes;
        together |= section.type == GPUMP_CONTEXT_COMPRESSED && section.index == GPUMP_NONE;
        if (section.index >= WARPS) continue;
        if (section.type == GPUMP_CONTEXT_REGISTERS || section.type == GPUMP_CONTEXT_COMPRESSED)
            gpump_bits_set(registers, section.index);
        if (section.type == GPUMP_CONTEXT_STACK) {
            gpump_bits_set(stacks, section.index);
            if (!section.bytes)
                gpump_bits_set(registers, section.index); /* the warp has ended and needs no registers */
        }
    }
    if (!shared && !(in_place & GPUMP_PART_SHARED_MEMORY)) missing |= GPUMP_PART_SHARED_MEMORY;
    if (!block.registers || together) in_place |= GPUMP_PART_REGISTERS;
    for (uint32_t warp = 0; warp < block.warps; warp++) {
        if (!(in_place & GPUMP_PART_REGISTERS) && !gpump_bits_get(registers, warp)) missing |= GPUMP_PART_REGISTERS;
        if (!gpump_bits_get(stacks, warp)) missing |= GPUMP_PART_STACKS;
    }
    return missing;
}

GPUMP_API uint32_t gpump_context_unknown_sections(const gpump_context_reader *reader) {
    gpump_context_reader walk = *reader;
    gpump_context_section section;
    uint32_t unknown = 0;
    walk.next = GPUMP_CONTEXT_HEADER_BYTES;
    while (!gpump_context_next(&walk, &section))
        unknown += section.type == 0 || (section.type >= GPUMP_CONTEXT_TYPES && section.type < GPUMP_CONTEXT_HOST);
    return unknown;
}

/* ---- the pool ---- */

#define GPUMPI_CONTEXT_POOL_MAGIC UINT64_C(0x67706d70706f6f6c) /* "gpmppool" */

struct gpump_context_pool {
    gpumpi_head head;
    uint64_t context_bytes;
    uint32_t kernels, contexts, words, unused;
    /* then per kernel: owner (0: none), taken; then per kernel: `words` words of taken contexts */
};
typedef struct gpumpi_context_space {
    uint64_t owner;
    uint64_t taken;
} gpumpi_context_space;

static gpumpi_context_space *gpumpi_context_spaces(gpump_context_pool *pool) {
    return (gpumpi_context_space *)(void *)(pool + 1);
}
static const gpumpi_context_space *gpumpi_context_spaces_const(const gpump_context_pool *pool) {
    return (const gpumpi_context_space *)(const void *)(pool + 1);
}
static uint64_t *gpumpi_context_bits(gpump_context_pool *pool, uint32_t space) {
    return (uint64_t *)(void *)(gpumpi_context_spaces(pool) + pool->kernels) + (size_t)space * pool->words;
}

static gpump_result gpumpi_context_pool_check_config(const gpump_context_pool_config *config, gpump_diag *diag) {
    gpump_result r;
    if (!config) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "config", 0, 0, 1, UINT64_MAX);
    if ((r = gpumpi_range(diag, "struct_size", config->struct_size, sizeof *config, sizeof *config))) return r;
    if ((r = gpumpi_range(diag, "kernels", config->kernels, 1, 4096))) return r;
    if ((r = gpumpi_range(diag, "contexts", config->contexts, 1, 65536))) return r;
    return gpumpi_range(diag, "context_bytes", config->context_bytes, 1, UINT64_MAX);
}
static uint64_t gpumpi_context_pool_layout(const gpump_context_pool_config *config) {
    return gpump_hash_u64(gpump_hash_u64(gpump_hash_u64(GPUMP_HASH_SEED, config->kernels), config->contexts),
                          config->context_bytes);
}

GPUMP_API gpump_result gpump_context_pool_bytes(const gpump_context_pool_config *config, size_t *bytes,
                                                gpump_diag *diag) {
    gpump_result result = gpumpi_context_pool_check_config(config, diag);
    if (result) return result;
    if (!bytes) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bytes", 0, 0, 1, UINT64_MAX);
    *bytes = sizeof(gpump_context_pool) +
             (size_t)config->kernels * (sizeof(gpumpi_context_space) + 8u * gpump_bits_words(config->contexts));
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_pool_init(void *memory, size_t bytes, const gpump_context_pool_config *config,
                                               gpump_context_pool **pool, gpump_diag *diag) {
    size_t needed;
    gpump_context_pool *fresh = (gpump_context_pool *)memory;
    gpump_result result = gpump_context_pool_bytes(config, &needed, diag);
    if (result) return result;
    if (!pool) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "pool", 0, 0, 1, UINT64_MAX);
    result = gpumpi_head_check_memory(memory, bytes, needed, diag);
    if (result) return result;
    memset(memory, 0, needed);
    fresh->head.magic = GPUMPI_CONTEXT_POOL_MAGIC;
    fresh->head.layout = gpumpi_context_pool_layout(config);
    fresh->head.bytes = needed;
    fresh->context_bytes = config->context_bytes;
    fresh->kernels = config->kernels;
    fresh->contexts = config->contexts;
    fresh->words = gpump_bits_words(config->contexts);
    *pool = fresh;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_pool_adopt(void *memory, size_t bytes, const gpump_context_pool_config *config,
                                                gpump_context_pool **pool, gpump_diag *diag) {
    const gpump_context_pool *adopted = (const gpump_context_pool *)memory;
    size_t needed;
    gpump_result result = gpump_context_pool_bytes(config, &needed, diag);
    if (result) return result;
    if (!pool) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "pool", 0, 0, 1, UINT64_MAX);
    result =
        gpumpi_head_adopt(memory, bytes, GPUMPI_CONTEXT_POOL_MAGIC, gpumpi_context_pool_layout(config), needed, diag);
    if (result) return result;
    if (adopted->context_bytes != config->context_bytes || adopted->kernels != config->kernels ||
        adopted->contexts != config->contexts || adopted->words != gpump_bits_words(config->contexts))
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "config", 0, 0, 0, 0);
    *pool = (gpump_context_pool *)memory;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_pool_check(const gpump_context_pool *pool, gpump_diag *diag) {
    const gpumpi_context_space *spaces;
    const uint64_t *bits;
    const char *wrong = NULL;
    if (!pool) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "pool", 0, 0, 1, UINT64_MAX);
    spaces = gpumpi_context_spaces_const(pool);
    bits = (const uint64_t *)(const void *)(spaces + pool->kernels);
    for (uint32_t i = 0; i < pool->kernels && !wrong; i++, bits += pool->words) {
        if (pool->contexts & 63u && bits[pool->words - 1] >> (pool->contexts & 63u))
            wrong = "a context beyond the last";
        if (spaces[i].taken != gpump_bits_count(bits, pool->words)) wrong = "counts of contexts differ";
        if (spaces[i].owner > UINT32_MAX || (!spaces[i].owner && spaces[i].taken)) wrong = "contexts of no kernel";
        for (uint32_t j = 0; j < i; j++)
            if (spaces[i].owner && spaces[j].owner == spaces[i].owner) wrong = "a kernel with two spaces";
    }
    return wrong ? gpumpi_fail(diag, GPUMP_ERROR_FORMAT, wrong, 0, 0, 0, 0) : GPUMP_OK;
}

GPUMP_API uint64_t gpump_context_pool_hash(const gpump_context_pool *pool) {
    const uint64_t *words = (const uint64_t *)(const void *)(gpumpi_context_spaces_const(pool) + pool->kernels);
    uint64_t hash = gpump_hash_u64s(gpump_hash_u64(GPUMP_HASH_SEED, pool->context_bytes), words,
                                    (size_t)pool->kernels * pool->words);
    hash = gpump_hash_u32s(hash, &pool->kernels, 3);
    for (uint32_t i = 0; i < pool->kernels; i++)
        hash = gpump_hash_u64(gpump_hash_u64(hash, gpumpi_context_spaces_const(pool)[i].owner),
                              gpumpi_context_spaces_const(pool)[i].taken);
    return hash;
}

GPUMP_API gpump_result gpump_context_pool_bits(const gpump_context_pool_config *config, uint64_t *bits,
                                               gpump_diag *diag) {
    gpump_result result = gpumpi_context_pool_check_config(config, diag);
    if (result) return result;
    if (!bits) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bits", 0, 0, 1, UINT64_MAX);
    *bits = config->kernels * (15 + (uint64_t)config->contexts);
    return GPUMP_OK;
}

static uint32_t gpumpi_context_space_of(const gpump_context_pool *pool, uint64_t owner) {
    for (uint32_t i = 0; i < pool->kernels; i++)
        if (gpumpi_context_spaces_const(pool)[i].owner == owner) return i;
    return GPUMP_NONE;
}

GPUMP_API gpump_result gpump_context_pool_open(gpump_context_pool *pool, uint32_t kernel) {
    uint32_t space;
    if (!pool || !kernel) return GPUMP_ERROR_ARGUMENT;
    if (gpumpi_context_space_of(pool, kernel) != GPUMP_NONE) return GPUMP_ERROR_STATE;
    space = gpumpi_context_space_of(pool, 0);
    if (space == GPUMP_NONE) return GPUMP_ERROR_FULL;
    gpumpi_context_spaces(pool)[space].owner = kernel;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_pool_close(gpump_context_pool *pool, uint32_t kernel) {
    uint32_t space;
    if (!pool || !kernel) return GPUMP_ERROR_ARGUMENT;
    space = gpumpi_context_space_of(pool, kernel);
    if (space == GPUMP_NONE || gpumpi_context_spaces(pool)[space].taken) return GPUMP_ERROR_STATE;
    gpumpi_context_spaces(pool)[space].owner = 0;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_pool_take(gpump_context_pool *pool, uint32_t kernel, uint64_t bytes,
                                               uint64_t *context) {
    uint32_t space, word = 0, bit;
    uint64_t *bits;
    if (!pool || !kernel || !context) return GPUMP_ERROR_ARGUMENT;
    space = gpumpi_context_space_of(pool, kernel);
    if (space == GPUMP_NONE) return GPUMP_ERROR_STATE;
    if (bytes > pool->context_bytes) return GPUMP_ERROR_CAPACITY;
    if (gpumpi_context_spaces(pool)[space].taken == pool->contexts) return GPUMP_ERROR_FULL;
    bits = gpumpi_context_bits(pool, space);
    while (bits[word] == UINT64_MAX) word++;
    bit = word * 64u + gpump_bits_lowest64(~bits[word]);
    gpump_bits_set(bits, bit);
    gpumpi_context_spaces(pool)[space].taken++;
    *context = (uint64_t)space * pool->contexts + bit;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_pool_give(gpump_context_pool *pool, uint64_t context) {
    uint32_t space, bit;
    if (!pool || context >= (uint64_t)pool->kernels * pool->contexts) return GPUMP_ERROR_ARGUMENT;
    space = (uint32_t)(context / pool->contexts);
    bit = (uint32_t)(context % pool->contexts);
    if (!gpump_bits_get(gpumpi_context_bits(pool, space), bit)) return GPUMP_ERROR_STATE;
    gpump_bits_clear(gpumpi_context_bits(pool, space), bit);
    gpumpi_context_spaces(pool)[space].taken--;
    return GPUMP_OK;
}

GPUMP_API uint32_t gpump_context_pool_room(const gpump_context_pool *pool, uint32_t kernel) {
    uint32_t space = kernel ? gpumpi_context_space_of(pool, kernel) : GPUMP_NONE;
    return space == GPUMP_NONE ? 0 : pool->contexts - (uint32_t)gpumpi_context_spaces_const(pool)[space].taken;
}

/* ---- gpump_impl/context/in_place.c ---- */


#include <string.h>

typedef struct gpumpi_in_place_range {
    uint32_t base, length, block;
    uint64_t cost; /* of giving it up: one block, whether the block is untouched so far, bytes; UINT64_MAX: never */
} gpumpi_in_place_range;

/* Returns how many blocks of `size` fit between start and end, and sets *first to the base of the first. */
static uint32_t gpumpi_in_place_fit(uint32_t start, uint32_t end, uint32_t size, uint32_t placement, uint32_t *first) {
    uint64_t at = start;
    if (placement == GPUMP_IN_PLACE_ALIGNED) at = (at + size - 1u) / size * size;
    *first = (uint32_t)at;
    return at < end ? (end - (uint32_t)at) / size : 0;
}

/* Plans one resource. Ranges ascend. Marks the ranges to give up and writes the bases of the new blocks. Returns 0 when
 * no set of ranges makes enough room. */
static int gpumpi_in_place_solve(const gpumpi_in_place_range *ranges, uint32_t count, uint32_t capacity, uint32_t size,
                                 uint32_t wanted, uint32_t placement, unsigned char *goes, uint32_t *bases) {
    /* best[j][q]: the least cost of giving up ranges before j, j itself staying (j = count: the end), with q blocks of
     * the newcomer placed below j. from and had lead back. */
    uint64_t best[65][65];
    unsigned char from[65][65], had[65][65];
    uint32_t j, q, first, left;
    memset(goes, 0, count);
    if (!size) {
        for (q = 0; q < wanted; q++) bases[q] = 0;
        return 1;
    }
    if (placement == GPUMP_IN_PLACE_FROM_ZERO) {
        uint64_t end = (uint64_t)size * wanted;
        if (end > capacity) return 0;
        for (j = 0; j < count; j++) {
            goes[j] = ranges[j].base < end;
            if (goes[j] && ranges[j].cost == UINT64_MAX) return 0;
        }
        for (q = 0; q < wanted; q++) bases[q] = q * size;
        return 1;
    }
    memset(best, 0xff, sizeof best);
    for (j = 0; j <= count; j++) {
        uint32_t end = j < count ? ranges[j].base : capacity;
        uint64_t cost = 0; /* of all ranges strictly between the last that stays and j */
        for (uint32_t i = j + 1; i-- > 0 && cost != UINT64_MAX;) { /* i - 1 is the last that stays; 0: none */
            uint32_t start = i ? ranges[i - 1].base + ranges[i - 1].length : 0, fits;
            fits = gpumpi_in_place_fit(start, end, size, placement, &first);
            for (q = 0; q <= wanted; q++) {
                uint64_t before = i ? best[i - 1][q] : q ? UINT64_MAX : 0, total = gpump_add_saturated(before, cost);
                uint32_t now = fits < wanted - q ? q + fits : wanted;
                if (before != UINT64_MAX && total < best[j][now]) {
                    best[j][now] = total;
                    from[j][now] = (unsigned char)i;
                    had[j][now] = (unsigned char)q;
                }
            }
            if (i) cost = gpump_add_saturated(cost, ranges[i - 1].cost);
        }
    }
    if (best[count][wanted] == UINT64_MAX) return 0;
    left = wanted;
    for (j = count, q = wanted;;) {
        uint32_t i = from[j][q], before = had[j][q];
        uint32_t start = i ? ranges[i - 1].base + ranges[i - 1].length : 0, end = j < count ? ranges[j].base : capacity;
        uint32_t fits = gpumpi_in_place_fit(start, end, size, placement, &first),
                 here = q - before < fits ? q - before : fits;
        for (uint32_t k = i; k < j; k++) goes[k] = 1;
        while (here--) {
            left--;
            bases[left] = first + here * size;
        }
        if (!i) break;
        j = i - 1;
        q = before;
    }
    GPUMP_ASSERT(left == 0);
    return 1;
}

static void gpumpi_in_place_collect(const gpump_block_view *blocks, uint32_t count, int shared, const uint32_t *give_up,
                                    gpumpi_in_place_range *ranges, uint32_t *found) {
    *found = 0;
    for (uint32_t i = 0; i < count; i++) {
        gpumpi_in_place_range range;
        uint32_t at;
        range.base = shared ? blocks[i].shared_base : blocks[i].register_base;
        range.length = shared ? blocks[i].shared_bytes : blocks[i].registers;
        range.block = i;
        range.cost = !(blocks[i].may & (1u << GPUMP_TECHNIQUE_SWITCH))
                         ? UINT64_MAX
                         : ((uint64_t)1 << 56) + (give_up[i] ? 0 : (uint64_t)1 << 48) +
                               (uint64_t)range.length * (shared ? 1u : 4u);
        if (!range.length) continue;
        for (at = (*found)++; at > 0 && ranges[at - 1].base > range.base; at--) ranges[at] = ranges[at - 1];
        ranges[at] = range;
    }
}

GPUMP_API gpump_result gpump_in_place_find(const gpump_in_place_sm *sm, const gpump_in_place_need *need,
                                           gpump_in_place_plan *plan, gpump_diag *diag) {
    gpumpi_in_place_range ranges[64];
    unsigned char goes[64];
    uint32_t found;
    gpump_in_place_plan result;
    if (!sm || !need || !plan)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, !sm ? "sm" : !need ? "need" : "plan", 0, 0, 1, UINT64_MAX);
    if (sm->count > 64) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "count", 0, sm->count, 0, 64);
    if (sm->count && !sm->blocks) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "blocks", 0, 0, 1, UINT64_MAX);
    if (!need->blocks || need->blocks > 64)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "need.blocks", 0, need->blocks, 1, 64);
    if (need->register_placement > GPUMP_IN_PLACE_BEST)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "need.register_placement", 0, need->register_placement, 0,
                           GPUMP_IN_PLACE_BEST);
    if (need->shared_placement > GPUMP_IN_PLACE_BEST)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "need.shared_placement", 0, need->shared_placement, 0,
                           GPUMP_IN_PLACE_BEST);
    memset(&result, 0, sizeof result);
    for (int shared = 0; shared < 2; shared++) {
        uint32_t capacity = shared ? sm->shared_bytes : sm->registers,
                 size = shared ? need->shared_bytes : need->registers;
        gpumpi_in_place_collect(sm->blocks, sm->count, shared, result.give_up, ranges, &found);
        for (uint32_t i = 0; i < found; i++)
            if (ranges[i].length > capacity || ranges[i].base > capacity - ranges[i].length ||
                (i && ranges[i].base < ranges[i - 1].base + ranges[i - 1].length))
                return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, shared ? "blocks.shared_base" : "blocks.register_base",
                                   ranges[i].block, ranges[i].base,
                                   i ? (uint64_t)ranges[i - 1].base + ranges[i - 1].length : 0,
                                   capacity - (ranges[i].length < capacity ? ranges[i].length : capacity));
        if (!gpumpi_in_place_solve(ranges, found, capacity, size, need->blocks,
                                   shared ? need->shared_placement : need->register_placement, goes,
                                   shared ? result.shared_bases : result.register_bases))
            return gpumpi_refuse(diag, shared ? GPUMP_REASON_SHARED_MEMORY : GPUMP_REASON_REGISTERS, "need", 0);
        for (uint32_t i = 0; i < found; i++) {
            if (!goes[i]) continue;
            if (!result.give_up[ranges[i].block]) result.blocks++;
            result.give_up[ranges[i].block] |= shared ? 2u : 1u;
            if (shared) {
                result.shared_blocks++;
                result.shared_bytes += ranges[i].length;
            } else {
                result.register_blocks++;
                result.register_bytes += (uint64_t)ranges[i].length * 4u;
            }
        }
    }
    *plan = result;
    return GPUMP_OK;
}

/* ---- gpump_impl/context/spill.c ---- */


#include <string.h>

#define GPUMPI_SPILL_MAGIC UINT64_C(0x67706d707370696c) /* "gpmpspil" */
#define GPUMPI_SPILL_JOBS 64
#define GPUMPI_SPILL_WARPS 256

enum { GPUMPI_SPILL_FREE = 0, GPUMPI_SPILL_SAVING = 1, GPUMPI_SPILL_RESTORING = 2 };

/* A block in transfer. `part` is the part whose segments come next. `at` counts the bytes of that part that have been
 * handed over. */
typedef struct gpumpi_spill_job {
    uint64_t cookie, start;
    uint64_t part_start;     /* from when on the current part's bytes can be read (save: shared memory, metadata) */
    uint64_t register_bytes; /* of all warps known so far */
    uint64_t at, arrived;    /* bytes of the part handed over; restore: bytes of registers arrived */
    uint32_t state, part, shared_bytes, metadata_bytes;
    uint32_t warps, warps_in, warps_out, segments_out; /* warps expected, reported, passed; segments under way */
    uint32_t buffered, gate;     /* save: register bytes that wait for a full segment; restore: segments to wait for */
    uint64_t under_way_bytes[2]; /* restore: handed over and arrived bytes of registers */
} gpumpi_spill_job;
/* A warp in the queue of its engine. */
typedef struct gpumpi_spill_entry {
    uint64_t point,
        ready;       /* save: when the compressor takes its first register; restore: when it may run, UNKNOWN before */
    uint64_t offset; /* first byte within the block's registers */
    uint32_t job, registers, bytes, taken; /* taken: bytes that have gone into segments or the buffer */
    uint32_t index, done;
} gpumpi_spill_entry;

struct gpump_spill {
    gpumpi_head head;
    uint64_t now, engine_free; /* when the compressor can take another register */
    gpump_spill_statistics statistics;
    gpump_spill_config config;
    uint32_t queued, warps_used, under_way,
        unused; /* entries in the queue (oldest first), warps promised, segments under way */
};
typedef char gpumpi_spill_job_has_no_padding[sizeof(gpumpi_spill_job) == 8 * 8 + 10 * 4 ? 1 : -1];
typedef char gpumpi_spill_entry_has_no_padding[sizeof(gpumpi_spill_entry) == 3 * 8 + 6 * 4 ? 1 : -1];
typedef char gpumpi_spill_has_no_padding[sizeof(gpump_spill) == sizeof(gpumpi_head) + 2 * 8 +
                                                                    sizeof(gpump_spill_statistics) +
                                                                    sizeof(gpump_spill_config) + 4 * 4
                                             ? 1
                                             : -1];

static gpumpi_spill_job *gpumpi_spill_jobs(gpump_spill *spill) { return (gpumpi_spill_job *)(void *)(spill + 1); }
static const gpumpi_spill_job *gpumpi_spill_jobs_const(const gpump_spill *spill) {
    return (const gpumpi_spill_job *)(const void *)(spill + 1);
}
static gpumpi_spill_entry *gpumpi_spill_queue(gpump_spill *spill) {
    return (gpumpi_spill_entry *)(void *)(gpumpi_spill_jobs(spill) + spill->config.jobs);
}
static const gpumpi_spill_entry *gpumpi_spill_queue_const(const gpump_spill *spill) {
    return (const gpumpi_spill_entry *)(const void *)(gpumpi_spill_jobs_const(spill) + spill->config.jobs);
}

/* ---- configuration, birth, copies ---- */

GPUMP_API gpump_result gpump_spill_config_preset(gpump_spill_config *config, const char *preset) {
    gpump_gpu gpu;
    gpump_result result = config ? gpump_gpu_config_preset(&gpu, preset) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    memset(config, 0, sizeof *config);
    config->struct_size = (uint32_t)sizeof *config;
    config->jobs = gpu.block_slots;
    config->warps = gpu.warp_slots;
    config->segment_bytes = 128;
    config->compress_cycles = 2;
    config->registers_per_cycle = 1;
    config->shared_bytes_per_cycle = 128;
    config->outstanding = 64;
    return GPUMP_OK;
}

static gpump_result gpumpi_spill_check_config(const gpump_spill_config *config, gpump_diag *diag) {
    gpump_result r;
    if (!config) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "config", 0, 0, 1, UINT64_MAX);
    if ((r = gpumpi_range(diag, "struct_size", config->struct_size, sizeof *config, sizeof *config))) return r;
    if ((r = gpumpi_range(diag, "jobs", config->jobs, 1, GPUMPI_SPILL_JOBS))) return r;
    if ((r = gpumpi_range(diag, "warps", config->warps, 1, GPUMPI_SPILL_WARPS))) return r;
    if ((r = gpumpi_range(diag, "segment_bytes", config->segment_bytes, 8, 4096))) return r;
    if ((r = gpumpi_range(diag, "compress_cycles", config->compress_cycles, 0, 1000))) return r;
    if ((r = gpumpi_range(diag, "registers_per_cycle", config->registers_per_cycle, 1, 1024))) return r;
    if ((r = gpumpi_range(diag, "shared_bytes_per_cycle", config->shared_bytes_per_cycle, 1, 1u << 20))) return r;
    return gpumpi_range(diag, "outstanding", config->outstanding, 1, 65536);
}

GPUMP_API gpump_result gpump_spill_bytes(const gpump_spill_config *config, size_t *bytes, gpump_diag *diag) {
    gpump_result result = gpumpi_spill_check_config(config, diag);
    if (result) return result;
    if (!bytes) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bytes", 0, 0, 1, UINT64_MAX);
    *bytes = sizeof(gpump_spill) + config->jobs * sizeof(gpumpi_spill_job) + config->warps * sizeof(gpumpi_spill_entry);
    return GPUMP_OK;
}

static uint64_t gpumpi_spill_layout(const gpump_spill_config *config) {
    return gpump_hash_u32s(gpump_hash_u64(GPUMP_HASH_SEED, sizeof(gpumpi_spill_job)), &config->struct_size, 8);
}

GPUMP_API gpump_result gpump_spill_init(void *memory, size_t bytes, const gpump_spill_config *config,
                                        gpump_spill **spill, gpump_diag *diag) {
    size_t needed;
    gpump_spill *fresh = (gpump_spill *)memory;
    gpump_result result = gpump_spill_bytes(config, &needed, diag);
    if (result) return result;
    if (!spill) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "spill", 0, 0, 1, UINT64_MAX);
    result = gpumpi_head_check_memory(memory, bytes, needed, diag);
    if (result) return result;
    memset(memory, 0, needed);
    fresh->head.magic = GPUMPI_SPILL_MAGIC;
    fresh->head.layout = gpumpi_spill_layout(config);
    fresh->head.bytes = needed;
    fresh->config = *config;
    *spill = fresh;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_spill_adopt(void *memory, size_t bytes, const gpump_spill_config *config,
                                         gpump_spill **spill, gpump_diag *diag) {
    size_t needed;
    gpump_result result = gpump_spill_bytes(config, &needed, diag);
    if (result) return result;
    if (!spill) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "spill", 0, 0, 1, UINT64_MAX);
    result = gpumpi_head_adopt(memory, bytes, GPUMPI_SPILL_MAGIC, gpumpi_spill_layout(config), needed, diag);
    if (result) return result;
    if (memcmp(&((const gpump_spill *)memory)->config, config, sizeof *config))
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "config", 0, 0, 0, 0);
    *spill = (gpump_spill *)memory;
    return GPUMP_OK;
}

GPUMP_API uint64_t gpump_spill_hash(const gpump_spill *spill) {
    uint64_t hash = gpump_hash_u64s(GPUMP_HASH_SEED, &spill->now, 2);
    hash = gpump_hash_u64s(hash, &spill->statistics.saves, sizeof spill->statistics / 8);
    hash = gpump_hash_u32s(hash, &spill->config.struct_size, 8);
    hash = gpump_hash_u32s(hash, &spill->queued, 3);
    for (uint32_t i = 0; i < spill->config.jobs; i++) {
        const gpumpi_spill_job *job = &gpumpi_spill_jobs_const(spill)[i];
        hash = gpump_hash_u32s(gpump_hash_u64s(hash, &job->cookie, 6), &job->state, 10);
        hash = gpump_hash_u64s(hash, job->under_way_bytes, 2);
    }
    for (uint32_t i = 0; i < spill->queued; i++) {
        const gpumpi_spill_entry *entry = &gpumpi_spill_queue_const(spill)[i];
        hash = gpump_hash_u32s(gpump_hash_u64s(hash, &entry->point, 3), &entry->job, 6);
    }
    return hash;
}

/* ---- checking: everything that the other functions rely on ---- */

static const char *gpumpi_spill_check_job(const gpump_spill *spill, uint32_t index) {
    const gpumpi_spill_job *job = &gpumpi_spill_jobs_const(spill)[index];
    const int saves = job->state == GPUMPI_SPILL_SAVING, registers = job->part == GPUMP_SPILL_REGISTERS;
    uint64_t bytes = 0, taken = 0;
    uint32_t in = 0, out = 0;
    for (uint32_t i = 0; i < spill->queued; i++) {
        const gpumpi_spill_entry *entry = &gpumpi_spill_queue_const(spill)[i];
        if (entry->job != index) continue;
        if (job->state == GPUMPI_SPILL_FREE) return "a warp of a job that is free";
        if (entry->index != in || entry->offset != bytes) return "warps of a job out of order";
        if (entry->done > 1 || (entry->done && out != in) || entry->taken > entry->bytes)
            return "a warp that has passed before those in front of it";
        if (entry->bytes && !entry->registers) return "a warp with bytes of no registers";
        if (saves ? entry->done && entry->taken != entry->bytes : entry->taken != 0)
            return "a warp that has passed in part";
        if (saves && entry->taken && in > out) return "a warp that has begun before those in front of it";
        if (!saves && entry->ready != GPUMP_UNKNOWN && bytes + entry->bytes > job->under_way_bytes[1])
            return "a warp that is back before its registers";
        if (!saves && entry->done && entry->ready == GPUMP_UNKNOWN) return "a warp that was back at no cycle";
        bytes += entry->bytes;
        taken += entry->taken;
        in++;
        out += entry->done;
    }
    if (job->state == GPUMPI_SPILL_FREE) return job->warps || job->segments_out ? "a free job with warps" : NULL;
    if (job->state > GPUMPI_SPILL_RESTORING || job->part > GPUMP_SPILL_METADATA) return "unknown state of a job";
    if (!job->warps || in != job->warps_in || in > job->warps || out != job->warps_out || bytes != job->register_bytes)
        return "counts of a job and its warps differ";
    if (job->at > (registers ? bytes : job->part == GPUMP_SPILL_SHARED ? job->shared_bytes : job->metadata_bytes))
        return "more bytes handed over than there are";
    if (saves) {
        if (registers == (out == job->warps)) return "a part that begins before the one in front of it has ended";
        if (job->buffered >= spill->config.segment_bytes || (registers && job->at + job->buffered != taken))
            return "bytes between warps and segments are lost";
        return job->gate ? "a save that waits as a restore does" : NULL;
    }
    if (in != job->warps || job->gate > job->segments_out) return "a restore without its warps";
    if (job->under_way_bytes[1] > job->under_way_bytes[0] || job->under_way_bytes[0] != (registers ? job->at : 0))
        return "bytes of registers that arrive before they are asked for";
    return !registers && (job->gate || out) ? "registers before metadata and shared memory" : NULL;
}

GPUMP_API gpump_result gpump_spill_check(const gpump_spill *spill, gpump_diag *diag) {
    uint64_t warps = 0, under_way = 0;
    const char *wrong = NULL;
    if (!spill) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "spill", 0, 0, 1, UINT64_MAX);
    if (spill->queued > spill->config.warps || spill->now == GPUMP_UNKNOWN)
        wrong = "a queue that is longer than its table";
    for (uint32_t i = 0; !wrong && i < spill->queued; i++)
        if (gpumpi_spill_queue_const(spill)[i].job >= spill->config.jobs) wrong = "a warp of no job";
    for (uint32_t i = 0; !wrong && i < spill->config.jobs; i++) {
        wrong = gpumpi_spill_check_job(spill, i);
        warps += gpumpi_spill_jobs_const(spill)[i].warps;
        under_way += gpumpi_spill_jobs_const(spill)[i].segments_out;
    }
    if (!wrong && (warps != spill->warps_used || warps > spill->config.warps)) wrong = "counts of warps differ";
    if (!wrong && (under_way != spill->under_way || under_way > spill->config.outstanding))
        wrong = "counts of segments under way differ";
    return wrong ? gpumpi_fail(diag, GPUMP_ERROR_FORMAT, wrong, 0, 0, 0, 0) : GPUMP_OK;
}

/* ---- facts ---- */

static uint64_t gpumpi_spill_ceil(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

static gpump_result gpumpi_spill_begin(gpump_spill *spill, uint64_t now, uint64_t cookie, uint32_t warps,
                                       uint32_t shared_bytes, uint32_t metadata_bytes, uint32_t state, uint32_t *job) {
    gpumpi_spill_job *fresh;
    uint32_t index = 0;
    if (!spill || !job || !warps || warps > spill->config.warps) return GPUMP_ERROR_ARGUMENT;
    if (now < spill->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    while (index < spill->config.jobs && gpumpi_spill_jobs(spill)[index].state != GPUMPI_SPILL_FREE) index++;
    if (index == spill->config.jobs || warps > spill->config.warps - spill->warps_used) return GPUMP_BUSY;
    spill->now = now;
    spill->warps_used += warps;
    fresh = &gpumpi_spill_jobs(spill)[index];
    memset(fresh, 0, sizeof *fresh);
    fresh->cookie = cookie;
    fresh->start = fresh->part_start = now;
    fresh->state = state;
    fresh->shared_bytes = shared_bytes;
    fresh->metadata_bytes = metadata_bytes;
    fresh->warps = warps;
    *job = index;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_spill_save(gpump_spill *spill, uint64_t now, uint64_t cookie, uint32_t warps,
                                        uint32_t shared_bytes, uint32_t metadata_bytes, uint32_t *job) {
    gpump_result result =
        gpumpi_spill_begin(spill, now, cookie, warps, shared_bytes, metadata_bytes, GPUMPI_SPILL_SAVING, job);
    if (!result) gpumpi_spill_jobs(spill)[*job].part = GPUMP_SPILL_REGISTERS;
    return result;
}

GPUMP_API gpump_result gpump_spill_report_drained(gpump_spill *spill, uint64_t now, uint32_t job,
                                                  const gpump_spill_warp *warp) {
    gpumpi_spill_entry *entry;
    gpumpi_spill_job *to;
    if (!spill || !warp || job >= spill->config.jobs || (warp->bytes && !warp->registers) || warp->point_cycle > now)
        return GPUMP_ERROR_ARGUMENT;
    if (now < spill->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    to = &gpumpi_spill_jobs(spill)[job];
    if (to->state != GPUMPI_SPILL_SAVING || to->warps_in == to->warps) return GPUMP_ERROR_STATE;
    spill->now = now;
    entry = &gpumpi_spill_queue(spill)[spill->queued++]; /* warps_used has kept room for it */
    memset(entry, 0, sizeof *entry);
    entry->point = warp->point_cycle;
    entry->ready = spill->engine_free > now ? spill->engine_free : now;
    spill->engine_free =
        gpump_add_saturated(entry->ready, gpumpi_spill_ceil(warp->registers, spill->config.registers_per_cycle));
    entry->job = job;
    entry->registers = warp->registers;
    entry->bytes = warp->bytes;
    entry->index = to->warps_in++;
    entry->offset = to->register_bytes;
    to->register_bytes += warp->bytes;
    spill->statistics.warps++;
    spill->statistics.drain_cycles += now - warp->point_cycle;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_spill_report_metadata(gpump_spill *spill, uint32_t job, uint32_t metadata_bytes) {
    gpumpi_spill_job *of;
    if (!spill || job >= spill->config.jobs) return GPUMP_ERROR_ARGUMENT;
    of = &gpumpi_spill_jobs(spill)[job];
    if (of->state != GPUMPI_SPILL_SAVING || of->part == GPUMP_SPILL_METADATA) return GPUMP_ERROR_STATE;
    of->metadata_bytes = metadata_bytes;
    return GPUMP_OK;
}

/* Restore: registers of warps that have arrived whole enter the decompressor, in order. */
static void gpumpi_spill_decompress(gpump_spill *spill, uint32_t job, uint64_t now) {
    const gpumpi_spill_job *from = &gpumpi_spill_jobs(spill)[job];
    if (from->part != GPUMP_SPILL_REGISTERS || from->gate) return;
    for (uint32_t i = 0; i < spill->queued; i++) {
        gpumpi_spill_entry *entry = &gpumpi_spill_queue(spill)[i];
        uint64_t start = spill->engine_free > now ? spill->engine_free : now;
        if (entry->job != job || entry->ready != GPUMP_UNKNOWN) continue;
        if (entry->offset + entry->bytes > from->under_way_bytes[1]) break;
        spill->engine_free =
            gpump_add_saturated(start, gpumpi_spill_ceil(entry->registers, spill->config.registers_per_cycle));
        entry->ready = gpump_add_saturated(spill->engine_free, spill->config.compress_cycles);
    }
}

/* Restore: when a part is complete or empty, the next part begins. Metadata must have arrived first; the other parts
 * may overlap. */
static void gpumpi_spill_advance_restore(gpump_spill *spill, uint32_t job, uint64_t now) {
    gpumpi_spill_job *to = &gpumpi_spill_jobs(spill)[job];
    if (to->part == GPUMP_SPILL_METADATA && to->at == to->metadata_bytes && !to->segments_out) {
        to->part = GPUMP_SPILL_SHARED;
        to->at = 0;
        to->part_start = now;
    }
    if (to->part == GPUMP_SPILL_SHARED && to->at == to->shared_bytes) {
        to->part = GPUMP_SPILL_REGISTERS;
        to->at = 0;
        to->gate = to->segments_out; /* shared memory still under way stands before the registers */
        to->part_start = now;
    }
    gpumpi_spill_decompress(spill, job, now);
}

GPUMP_API gpump_result gpump_spill_restore(gpump_spill *spill, uint64_t now, uint64_t cookie,
                                           const gpump_spill_warp *warps, uint32_t count, uint32_t shared_bytes,
                                           uint32_t metadata_bytes, uint32_t *job) {
    gpump_result result;
    if (!warps) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < count; i++)
        if (warps[i].bytes && !warps[i].registers) return GPUMP_ERROR_ARGUMENT;
    result = gpumpi_spill_begin(spill, now, cookie, count, shared_bytes, metadata_bytes, GPUMPI_SPILL_RESTORING, job);
    if (result) return result;
    for (uint32_t i = 0; i < count; i++) {
        gpumpi_spill_entry *entry = &gpumpi_spill_queue(spill)[spill->queued++];
        gpumpi_spill_job *to = &gpumpi_spill_jobs(spill)[*job];
        memset(entry, 0, sizeof *entry);
        entry->job = *job;
        entry->registers = warps[i].registers;
        entry->bytes = warps[i].bytes;
        entry->index = i;
        entry->offset = to->register_bytes;
        entry->ready = GPUMP_UNKNOWN;
        to->register_bytes += warps[i].bytes;
        to->warps_in++;
    }
    gpumpi_spill_jobs(spill)[*job].part = GPUMP_SPILL_METADATA;
    gpumpi_spill_advance_restore(spill, *job, now);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_spill_report_moved(gpump_spill *spill, uint64_t now, uint32_t job, uint32_t segments) {
    gpumpi_spill_job *of;
    if (!spill || job >= spill->config.jobs) return GPUMP_ERROR_ARGUMENT;
    if (now < spill->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    of = &gpumpi_spill_jobs(spill)[job];
    if (of->state == GPUMPI_SPILL_FREE || segments > of->segments_out) return GPUMP_ERROR_STATE;
    spill->now = now;
    spill->under_way -= segments;
    of->segments_out -= segments;
    if (of->state == GPUMPI_SPILL_RESTORING) {
        while (segments--) {
            uint64_t left;
            if (of->gate) {
                of->gate--;
                continue;
            }
            if (of->part != GPUMP_SPILL_REGISTERS) continue;
            left = of->under_way_bytes[0] - of->under_way_bytes[1];
            of->under_way_bytes[1] += left < spill->config.segment_bytes ? left : spill->config.segment_bytes;
        }
        gpumpi_spill_advance_restore(spill, job, now);
    }
    return GPUMP_OK;
}

/* ---- what is ready, and when ---- */

/* The oldest warp of a job that still has bytes to move. */
static uint32_t gpumpi_spill_head(const gpump_spill *spill, uint32_t job) {
    for (uint32_t i = 0; i < spill->queued; i++) {
        const gpumpi_spill_entry *entry = &gpumpi_spill_queue_const(spill)[i];
        if (entry->job == job && !entry->done) return i;
    }
    return GPUMP_NONE;
}

/* When byte number `bytes` (from 1) of a warp's registers has left the compressor; spread evenly over its registers. */
static uint64_t gpumpi_spill_out(const gpump_spill *spill, const gpumpi_spill_entry *entry, uint32_t bytes) {
    uint64_t registers =
        entry->bytes ? gpumpi_spill_ceil((uint64_t)bytes * entry->registers, entry->bytes) : entry->registers;
    return gpump_add_saturated(entry->ready, gpumpi_spill_ceil(registers, spill->config.registers_per_cycle) +
                                                 spill->config.compress_cycles);
}

/* What a job can hand over next: its kind, size and the cycle; UNKNOWN when nothing without a fact. */
typedef struct gpumpi_spill_offer {
    uint64_t cycle;
    uint32_t kind, bytes, entry;
} gpumpi_spill_offer;

/* WARP or DONE, which need no port. */
static gpumpi_spill_offer gpumpi_spill_event(const gpump_spill *spill, uint32_t index) {
    const gpumpi_spill_job *job = &gpumpi_spill_jobs_const(spill)[index];
    gpumpi_spill_offer offer = {GPUMP_UNKNOWN, 0, 0, GPUMP_NONE};
    if (job->state == GPUMPI_SPILL_FREE || (job->state == GPUMPI_SPILL_RESTORING && job->part != GPUMP_SPILL_REGISTERS))
        return offer;
    if (job->state == GPUMPI_SPILL_RESTORING && job->warps_out < job->warps) {
        offer.entry = gpumpi_spill_head(spill, index);
        offer.cycle = gpumpi_spill_queue_const(spill)[offer.entry].ready;
        offer.kind = GPUMP_SPILL_WARP;
    } else if (!job->segments_out && (job->state == GPUMPI_SPILL_RESTORING
                                          ? job->at == job->register_bytes
                                          : job->part == GPUMP_SPILL_METADATA && job->at == job->metadata_bytes)) {
        offer.cycle = spill->now;
        offer.kind = GPUMP_SPILL_DONE;
    }
    return offer;
}

/* READ or WRITE; of a save also, with 0 bytes, what only goes into the buffer. */
static gpumpi_spill_offer gpumpi_spill_segment(const gpump_spill *spill, uint32_t index) {
    const gpumpi_spill_job *job = &gpumpi_spill_jobs_const(spill)[index];
    uint32_t segment = spill->config.segment_bytes;
    uint64_t whole = job->part == GPUMP_SPILL_SHARED     ? job->shared_bytes
                     : job->part == GPUMP_SPILL_METADATA ? job->metadata_bytes
                                                         : job->register_bytes;
    uint64_t left = whole - job->at;
    gpumpi_spill_offer offer = {GPUMP_UNKNOWN, 0, 0, GPUMP_NONE};
    if (job->state == GPUMPI_SPILL_FREE) return offer;
    offer.kind = job->state == GPUMPI_SPILL_RESTORING ? GPUMP_SPILL_READ : GPUMP_SPILL_WRITE;
    if (job->state == GPUMPI_SPILL_SAVING && job->part == GPUMP_SPILL_REGISTERS) {
        const uint32_t head = gpumpi_spill_head(spill, index);
        const gpumpi_spill_entry *entry;
        const uint32_t needed = segment - job->buffered; /* more bytes of this warp fill a segment */
        if (head == GPUMP_NONE) return offer;
        entry = &gpumpi_spill_queue_const(spill)[head];
        offer.entry = head;
        if (entry->bytes - entry->taken >= needed) {
            offer.bytes = segment;
            offer.cycle = gpumpi_spill_out(spill, entry, entry->taken + needed);
        } else { /* the rest of the warp goes into the buffer; behind the last warp the buffer goes out as it is */
            offer.bytes = entry->index + 1u == job->warps ? job->buffered + entry->bytes - entry->taken : 0;
            offer.cycle = gpumpi_spill_out(spill, entry, entry->bytes);
        }
        return offer;
    }
    if (!left) return offer;
    offer.bytes = left < segment ? (uint32_t)left : segment;
    offer.cycle = job->part_start;
    if (job->state == GPUMPI_SPILL_SAVING && job->part == GPUMP_SPILL_SHARED)
        offer.cycle = gpump_add_saturated(
            offer.cycle, gpumpi_spill_ceil(job->at + offer.bytes, spill->config.shared_bytes_per_cycle));
    return offer;
}

/* Save: when all segments of a part have been handed over, the next part begins. */
static void gpumpi_spill_advance_save(gpumpi_spill_job *job, uint64_t now) {
    if (job->part == GPUMP_SPILL_REGISTERS && job->warps_out == job->warps) {
        job->part = GPUMP_SPILL_SHARED;
        job->at = 0;
        job->part_start = now;
    }
    if (job->part == GPUMP_SPILL_SHARED && job->at == job->shared_bytes) {
        job->part = GPUMP_SPILL_METADATA;
        job->at = 0;
        job->part_start = now;
    }
}

static void gpumpi_spill_forget(gpump_spill *spill, uint32_t job) {
    gpumpi_spill_entry *queue = gpumpi_spill_queue(spill);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < spill->queued; i++)
        if (queue[i].job != job) queue[kept++] = queue[i];
    spill->queued = kept;
    spill->warps_used -= gpumpi_spill_jobs(spill)[job].warps;
    memset(&gpumpi_spill_jobs(spill)[job], 0, sizeof(gpumpi_spill_job));
}

GPUMP_API gpump_result gpump_spill_cancel(gpump_spill *spill, uint64_t now, uint32_t job) {
    if (!spill || job >= spill->config.jobs) return GPUMP_ERROR_ARGUMENT;
    if (now < spill->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    if (gpumpi_spill_jobs(spill)[job].state == GPUMPI_SPILL_FREE) return GPUMP_ERROR_STATE;
    spill->now = now;
    spill->under_way -= gpumpi_spill_jobs(spill)[job].segments_out;
    gpumpi_spill_forget(spill, job);
    return GPUMP_OK;
}

/* Hands over what is ready: WARP and DONE first, then, where segments are wanted, those of the job that began first. */
static gpump_result gpumpi_spill_take(gpump_spill *spill, uint64_t now, int segments, gpump_spill_action *action) {
    if (!spill || !action) return GPUMP_ERROR_ARGUMENT;
    if (now < spill->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    spill->now = now;
    for (;;) {
        gpumpi_spill_offer best = {GPUMP_UNKNOWN, 0, 0, GPUMP_NONE};
        uint32_t chosen = GPUMP_NONE;
        gpumpi_spill_job *job;
        for (uint32_t i = 0; i < spill->config.jobs; i++) {
            gpumpi_spill_offer offer = gpumpi_spill_event(spill, i);
            if (offer.cycle > now || offer.cycle >= best.cycle) continue;
            best = offer;
            chosen = i;
        }
        for (uint32_t i = 0;
             segments && !(best.kind == GPUMP_SPILL_WARP || best.kind == GPUMP_SPILL_DONE) && i < spill->config.jobs;
             i++) {
            gpumpi_spill_offer offer;
            if (chosen != GPUMP_NONE && gpumpi_spill_jobs(spill)[i].start >= gpumpi_spill_jobs(spill)[chosen].start)
                continue;
            offer = gpumpi_spill_segment(spill, i);
            if (offer.cycle > now || (offer.bytes && spill->under_way >= spill->config.outstanding)) continue;
            best = offer;
            chosen = i;
        }
        if (chosen == GPUMP_NONE) return GPUMP_EMPTY;
        job = &gpumpi_spill_jobs(spill)[chosen];
        memset(action, 0, sizeof *action);
        action->cookie = job->cookie;
        action->cycle = best.cycle;
        action->kind = best.kind;
        action->bytes = best.bytes;
        action->part = job->part;
        action->job = chosen;
        if (best.kind == GPUMP_SPILL_DONE) {
            if (job->state == GPUMPI_SPILL_SAVING) {
                spill->statistics.saves++;
                spill->statistics.save_cycles += now - job->start;
            } else {
                spill->statistics.restores++;
                spill->statistics.restore_cycles += now - job->start;
            }
            gpumpi_spill_forget(spill, chosen);
            return GPUMP_OK;
        }
        if (best.kind == GPUMP_SPILL_WARP) {
            gpumpi_spill_entry *entry = &gpumpi_spill_queue(spill)[best.entry];
            entry->done = 1;
            job->warps_out++;
            action->warp = entry->index;
            return GPUMP_OK;
        }
        action->offset = job->at;
        job->at += best.bytes;
        if (best.bytes) {
            job->segments_out++;
            spill->under_way++;
            spill->statistics.segments++;
            spill->statistics.bytes += best.bytes;
        }
        if (job->state == GPUMPI_SPILL_RESTORING) {
            if (job->part == GPUMP_SPILL_REGISTERS) job->under_way_bytes[0] += best.bytes;
            gpumpi_spill_advance_restore(spill, chosen, now);
            return GPUMP_OK;
        }
        if (best.entry != GPUMP_NONE) {
            gpumpi_spill_entry *entry = &gpumpi_spill_queue(spill)[best.entry];
            if (best.bytes == spill->config.segment_bytes &&
                entry->bytes - entry->taken >= best.bytes - job->buffered) {
                entry->taken += best.bytes - job->buffered;
                job->buffered = 0;
                /* nothing is left of the warp, or only what the buffer takes: seen at the next look */
                entry->done = entry->taken == entry->bytes;
            } else {
                job->buffered = best.bytes ? 0 : job->buffered + entry->bytes - entry->taken;
                entry->taken = entry->bytes;
                entry->done = 1;
            }
            if (entry->done) {
                job->warps_out++;
                spill->statistics.spill_cycles += now - entry->point;
                gpumpi_spill_advance_save(job, best.cycle > now ? now : best.cycle);
            }
            if (!best.bytes) continue; /* went into the buffer: nothing to hand over */
        } else {
            gpumpi_spill_advance_save(job, now);
        }
        return GPUMP_OK;
    }
}

GPUMP_API gpump_result gpump_spill_next(gpump_spill *spill, uint64_t now, gpump_spill_action *action) {
    return gpumpi_spill_take(spill, now, 1, action);
}

GPUMP_API gpump_result gpump_spill_next_event(gpump_spill *spill, uint64_t now, gpump_spill_action *action) {
    return gpumpi_spill_take(spill, now, 0, action);
}

GPUMP_API uint64_t gpump_spill_next_cycle(const gpump_spill *spill) {
    uint64_t cycle = GPUMP_UNKNOWN;
    for (uint32_t i = 0; i < spill->config.jobs; i++) {
        gpumpi_spill_offer event = gpumpi_spill_event(spill, i), segment = gpumpi_spill_segment(spill, i);
        if (event.cycle < cycle) cycle = event.cycle;
        if (segment.cycle < cycle && !(segment.bytes && spill->under_way >= spill->config.outstanding))
            cycle = segment.cycle;
    }
    return cycle < spill->now ? spill->now : cycle;
}

GPUMP_API void gpump_spill_get_statistics(const gpump_spill *spill, gpump_spill_statistics *statistics) {
    *statistics = spill->statistics;
}

GPUMP_API gpump_result gpump_spill_statistics_field(const gpump_spill_statistics *statistics, uint32_t index,
                                                    const char **name, const char **unit, const char **description,
                                                    uint64_t *value) {
    static const char *const words[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
        GPUMP_SPILL_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
    };
    if (!statistics) return GPUMP_ERROR_ARGUMENT;
    if (index >= sizeof words / sizeof words[0]) return GPUMP_EMPTY;
    if (name) *name = words[index][0];
    if (unit) *unit = words[index][1];
    if (description) *description = words[index][2];
    if (value) *value = (&statistics->saves)[index];
    return GPUMP_OK;
}

GPUMP_API void gpump_spill_statistics_diff(const gpump_spill_statistics *earlier, const gpump_spill_statistics *later,
                                           gpump_spill_statistics *difference) {
#define GPUMPI_FIELD(name, unit, description) difference->name = later->name - earlier->name;
    GPUMP_SPILL_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
}

GPUMP_API gpump_result gpump_spill_bits(const gpump_spill_config *config, uint64_t *bits, gpump_diag *diag) {
    gpump_result result = gpumpi_spill_check_config(config, diag);
    uint64_t job_width, warp_width;
    if (result) return result;
    if (!bits) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bits", 0, 0, 1, UINT64_MAX);
    job_width = gpumpi_bits_for(config->jobs);
    warp_width = gpumpi_bits_for(config->warps);
    /* a warp: its job, 8 bits of registers, 16 of bytes, 16 of bytes gone, done; 16-bit counts in bytes reach 64 KB of
     * registers */
    *bits = config->warps * (job_width + 8 + 16 + 16 + 1) +
            /* a job: saving or restoring, part, 20 bits each of bytes gone, shared memory and metadata, warps awaited,
               in and out, segments out */
            config->jobs * (2 + 2 + 20 + 20 + 20 + 3 * (warp_width + 1) + 16 + (uint64_t)config->segment_bytes * 8);
    return GPUMP_OK;
}

/* ---- calculations: the same pipeline against a port of fixed bandwidth ---- */

/* The port takes one segment after the other; its rate is exact over a busy stretch, not rounded per segment. */
typedef struct gpumpi_spill_port {
    uint64_t cycles, bytes, since, moved;
} gpumpi_spill_port;
static uint64_t gpumpi_spill_pass(gpumpi_spill_port *port, uint64_t now, uint64_t bytes) {
    uint64_t free = gpump_add_saturated(port->since, gpump_muldiv_up(port->moved, port->cycles, port->bytes));
    if (now > free || !port->moved) {
        port->since = now;
        port->moved = 0;
    }
    port->moved += bytes;
    return gpump_add_saturated(port->since, gpump_muldiv_up(port->moved, port->cycles, port->bytes));
}

static gpump_result gpumpi_spill_time(const gpump_spill_config *config, const gpump_spill_transfer *transfer,
                                      int restores, gpump_spill_times *times, gpump_diag *diag) {
    uint64_t
        memory[(sizeof(gpump_spill) + sizeof(gpumpi_spill_job) + GPUMPI_SPILL_WARPS * sizeof(gpumpi_spill_entry)) / 8 +
               1];
    const gpump_spill_warp *warps;
    uint64_t start, now, next_port, arrivals[64], end, first = GPUMP_UNKNOWN;
    uint32_t count, order[GPUMPI_SPILL_WARPS], reported = 0, job, in = 0, out = 0;
    gpump_spill_config own;
    gpump_spill_action action;
    gpump_spill *spill;
    gpumpi_spill_port port;
    gpump_result result = gpumpi_spill_check_config(config, diag);
    if (result) return result;
    memset(&action, 0, sizeof action);
    if (!transfer) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "transfer", 0, 0, 1, UINT64_MAX);
    warps = transfer->warps;
    count = transfer->count;
    start = now = next_port = end = transfer->start_cycle;
    if (start == GPUMP_UNKNOWN)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "start_cycle", 0, start, 0, GPUMP_UNKNOWN - 1);
    if (!times || !warps || !count || count > GPUMPI_SPILL_WARPS)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT,
                           !times   ? "times"
                           : !warps ? "warps"
                                    : "count",
                           0, count, 1, GPUMPI_SPILL_WARPS);
    if (!transfer->port_cycles || !transfer->port_bytes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, transfer->port_cycles ? "port_bytes" : "port_cycles", 0, 0, 1,
                           UINT64_MAX);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        if (warps[i].bytes && !warps[i].registers)
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "warps.registers", i, 0, 1, UINT32_MAX);
        if (!restores && (warps[i].point_cycle > warps[i].drained_cycle || warps[i].drained_cycle < start))
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "warps.drained_cycle", i, warps[i].drained_cycle,
                               warps[i].point_cycle > start ? warps[i].point_cycle : start, UINT64_MAX);
        for (; at > 0 && warps[order[at - 1]].drained_cycle > warps[i].drained_cycle; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    own = *config;
    own.jobs = 1;
    own.warps = count;
    if (own.outstanding > 64) own.outstanding = 64;
    gpump_spill_init(memory, sizeof memory, &own, &spill, NULL);
    if (restores)
        gpump_spill_restore(spill, start, 0, warps, count, transfer->shared_bytes, transfer->metadata_bytes, &job);
    else
        gpump_spill_save(spill, start, 0, count, transfer->shared_bytes, transfer->metadata_bytes, &job);
    port.cycles = transfer->port_cycles;
    port.bytes = transfer->port_bytes;
    port.since = start;
    port.moved = 0;
    for (;;) {
        uint64_t soonest = GPUMP_UNKNOWN, own_cycle;
        while (!restores && reported < count && warps[order[reported]].drained_cycle <= now)
            gpump_spill_report_drained(spill, now, job, &warps[order[reported++]]);
        while (out < in && arrivals[out % 64] <= now) {
            gpump_spill_report_moved(spill, now, job, 1);
            out++;
        }
        while (next_port <= now && (result = gpump_spill_next(spill, now, &action)) == GPUMP_OK) {
            if (action.kind == GPUMP_SPILL_DONE) break;
            if (action.kind == GPUMP_SPILL_WARP) {
                end = now;
                if (first == GPUMP_UNKNOWN) first = now;
                continue;
            }
            next_port = gpumpi_spill_pass(&port, now, action.bytes);
            if (!restores) {
                end = next_port;
                if (first == GPUMP_UNKNOWN && gpumpi_spill_jobs(spill)[job].warps_out) first = next_port;
            }
            arrivals[in++ % 64] = gpump_add_saturated(next_port, transfer->latency_cycles);
        }
        if (result == GPUMP_OK && action.kind == GPUMP_SPILL_DONE &&
            gpumpi_spill_jobs(spill)[job].state == GPUMPI_SPILL_FREE)
            break;
        if (!restores && reported < count) soonest = warps[order[reported]].drained_cycle;
        if (out < in && arrivals[out % 64] < soonest) soonest = arrivals[out % 64];
        own_cycle = gpump_spill_next_cycle(spill);
        if (own_cycle < next_port) own_cycle = next_port;
        if (own_cycle < soonest) soonest = own_cycle;
        if (soonest <= now) soonest = now + 1u;
        if (soonest == GPUMP_UNKNOWN) /* the last cycle does not fit into 64 bits */
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "start_cycle", 0, start, 0, GPUMP_UNKNOWN - 1);
        now = soonest;
    }
    times->end = end - start;
    times->first_warp = first == GPUMP_UNKNOWN ? end - start : first - start;
    times->bytes = spill->statistics.bytes;
    times->segments = spill->statistics.segments;
    times->drain_cycles = spill->statistics.drain_cycles;
    times->spill_cycles = spill->statistics.spill_cycles;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_spill_save_time(const gpump_spill_config *config, const gpump_spill_transfer *transfer,
                                             gpump_spill_times *times, gpump_diag *diag) {
    return gpumpi_spill_time(config, transfer, 0, times, diag);
}

GPUMP_API gpump_result gpump_spill_restore_time(const gpump_spill_config *config, const gpump_spill_transfer *transfer,
                                                gpump_spill_times *times, gpump_diag *diag) {
    return gpumpi_spill_time(config, transfer, 1, times, diag);
}

GPUMP_API int gpump_spill_run_on(const gpump_spill_decision *decision, uint64_t *here_cycles, uint64_t *there_cycles) {
    uint64_t here = gpump_muldiv_up(decision->here_bytes, decision->port_cycles, decision->port_bytes);
    uint64_t there = gpump_muldiv_up(decision->there_bytes, decision->port_cycles, decision->port_bytes);
    there = gpump_add_saturated(there, decision->distance == GPUMP_UNKNOWN
                                           ? GPUMP_UNKNOWN
                                           : gpump_muldiv_up(decision->distance, decision->cpi_q16, 65536));
    if (here_cycles) *here_cycles = here;
    if (there_cycles) *there_cycles = there;
    here = gpump_add_saturated(here, gpump_muldiv_up(decision->here_bytes, decision->byte_weight_q16, 65536));
    there = gpump_add_saturated(there, gpump_muldiv_up(decision->there_bytes, decision->byte_weight_q16, 65536));
    return there < here;
}

/* ---- gpump_impl/sm/warp_gate.c ---- */


GPUMP_API const char *gpump_warp_gate_reason(gpump_warp_gate gate, gpump_warp_right right) {
    static const char *const texts[GPUMP_WARP_ASKERS] = {
        "a control instruction is in flight", "waits at a barrier", "its block is stopping", "waits for a page",
        "its kernel has spent its quota",     "is swapped out",     "held by a debugger",    "held by the host"};
    const uint32_t askers = gpump_warp_gate_askers(gate, right);
    return askers ? texts[gpump_bits_lowest64(askers)] : NULL;
}

/* ---- gpump_impl/sm/sm.c ---- */


#include <string.h>

#define GPUMPI_SM_MAGIC UINT64_C(0x67706d70736d3031) /* "gpmpsm01" */

/* Blocks are copied byte by byte and hashed field by field: nothing may hide in padding. */
typedef char gpumpi_sm_slot_has_no_padding[sizeof(gpumpi_sm_slot) == 12 * 8 + 20 * 4 ? 1 : -1];
typedef char gpumpi_sm_config_has_no_padding[sizeof(gpump_sm_config) == 16 * 4 + 3 * 8 ? 1 : -1];
typedef char gpumpi_sm_has_no_padding[sizeof(gpump_sm) == sizeof(gpumpi_head) + 4 * 8 + sizeof(gpump_sm_config) +
                                                              sizeof(gpump_sm_statistics) + 6 * 4
                                          ? 1
                                          : -1];

static gpumpi_sm_kernel *gpumpi_sm_kernels(gpump_sm *sm) {
    return (gpumpi_sm_kernel *)(void *)(gpumpi_sm_slots(sm) + sm->config.entries);
}
static const gpumpi_sm_kernel *gpumpi_sm_kernels_const(const gpump_sm *sm) {
    return (const gpumpi_sm_kernel *)(const void *)(gpumpi_sm_slots_const(sm) + sm->config.entries);
}
/* The table entry of a kernel with blocks here; GPUMP_NONE without one. kernel 0 finds a free entry. */
static uint32_t gpumpi_sm_find_kernel(const gpump_sm *sm, uint32_t kernel) {
    const gpumpi_sm_kernel *kernels = gpumpi_sm_kernels_const(sm);
    for (uint32_t i = 0; i < sm->config.kernels; i++)
        if (kernels[i].kernel == kernel) return i;
    return GPUMP_NONE;
}

/* 1 when two ranges share an element. */
static int gpumpi_sm_overlap(uint32_t a, uint32_t a_length, uint32_t b, uint32_t b_length) {
    return a_length && b_length && a < b + b_length && b < a + a_length;
}

/* The earliest end of a transfer that is under way; GPUMP_UNKNOWN: none. */
static uint64_t gpumpi_sm_first_end(const gpump_sm *sm) {
    uint64_t cycle = GPUMP_UNKNOWN;
    for (uint32_t i = 0; i < sm->config.entries; i++) {
        const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[i];
        if ((slot->state == GPUMP_BLOCK_SAVING || slot->state == GPUMP_BLOCK_RESTORING) && slot->port_end < cycle)
            cycle = slot->port_end;
    }
    return cycle;
}

/* ---- configuration, birth, copies ---- */

GPUMP_API gpump_result gpump_sm_config_from_gpu(gpump_sm_config *config, const gpump_gpu *gpu, uint32_t shared_bytes) {
    uint32_t option = 0;
    if (!config || gpump_gpu_check(gpu, NULL)) return GPUMP_ERROR_ARGUMENT;
    while (option < gpu->shared_option_count && gpu->shared_bytes[option] != shared_bytes) option++;
    if (option == gpu->shared_option_count) return GPUMP_ERROR_ARGUMENT;
    memset(config, 0, sizeof *config);
    config->struct_size = (uint32_t)sizeof *config;
    config->lanes = gpu->lanes;
    config->block_slots = gpu->block_slots;
    config->entries = gpu->block_slots > 32 ? 64 : gpu->block_slots * 2;
    config->warp_slots = gpu->warp_slots;
    config->thread_slots = gpu->thread_slots;
    config->registers = gpu->registers;
    config->register_granule = gpu->register_granule;
    config->shared_bytes = shared_bytes;
    config->shared_granule_bytes = gpu->shared_granule_bytes;
    config->kernels = 1;
    config->placement = GPUMP_SM_FIRST_FIT;
    config->techniques = 1u << GPUMP_TECHNIQUE_FLUSH | 1u << GPUMP_TECHNIQUE_SWITCH | 1u << GPUMP_TECHNIQUE_DRAIN;
    config->waits = GPUMP_SM_WAIT_ALL;
    config->timing = GPUMP_SM_TIMING_HOST;
    config->port_cycles = (uint64_t)gpu->clock_khz * gpu->sms;
    config->port_bytes = (uint64_t)gpu->memory_mb_per_s * 1000u;
    config->context_bytes = UINT64_MAX;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_config_preset(gpump_sm_config *config, const char *preset) {
    gpump_gpu gpu;
    gpump_result result = gpump_gpu_config_preset(&gpu, preset);
    return result ? result : gpump_sm_config_from_gpu(config, &gpu, gpu.shared_bytes[gpu.shared_option_count - 1]);
}

static gpump_result gpumpi_sm_check_config(const gpump_sm_config *config, gpump_diag *diag) {
    if (!config) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "config", 0, 0, 1, UINT64_MAX);
#define GPUMPI_RANGE(field, minimum, maximum)                   \
    if (config->field < (minimum) || config->field > (maximum)) \
    return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, #field, 0, config->field, (minimum), (maximum))
    GPUMPI_RANGE(struct_size, (uint32_t)sizeof *config, (uint32_t)sizeof *config);
    GPUMPI_RANGE(lanes, 1u, 64u);
    GPUMPI_RANGE(block_slots, 1u, 64u);
    GPUMPI_RANGE(entries, config->block_slots, 64u);
    GPUMPI_RANGE(warp_slots, 1u, 256u);
    GPUMPI_RANGE(thread_slots, 1u, UINT32_MAX);
    GPUMPI_RANGE(register_granule, 1u, 1u << 20);
    GPUMPI_RANGE(registers, 1u, 1u << 30);
    GPUMPI_RANGE(shared_granule_bytes, 1u, 1u << 20);
    if (config->shared_bytes > 1u << 30)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "shared_bytes", 0, config->shared_bytes, 0, 1u << 30);
    GPUMPI_RANGE(kernels, 1u, 64u);
    if (config->placement > GPUMP_SM_ALIGNED)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "placement", 0, config->placement, 0, GPUMP_SM_ALIGNED);
    if (config->techniques >> GPUMP_TECHNIQUES)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "techniques", 0, config->techniques, 0,
                           (1u << GPUMP_TECHNIQUES) - 1);
    if (config->waits > GPUMP_SM_WAIT_ALL)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "waits", 0, config->waits, 0, GPUMP_SM_WAIT_ALL);
    if (config->timing > GPUMP_SM_TIMING_PORT)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "timing", 0, config->timing, 0, GPUMP_SM_TIMING_PORT);
    GPUMPI_RANGE(port_cycles, 1u, UINT64_MAX);
    GPUMPI_RANGE(port_bytes, 1u, UINT64_MAX);
#undef GPUMPI_RANGE
    return GPUMP_OK;
}

static uint64_t gpumpi_sm_hash_config(uint64_t hash, const gpump_sm_config *config) {
    hash = gpump_hash_u32s(hash, &config->struct_size, 16);
    return gpump_hash_u64s(hash, &config->port_cycles, 3);
}

GPUMP_API gpump_result gpump_sm_bytes(const gpump_sm_config *config, size_t *bytes, gpump_diag *diag) {
    gpump_result result = gpumpi_sm_check_config(config, diag);
    if (result) return result;
    if (!bytes) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bytes", 0, 0, 1, UINT64_MAX);
    *bytes = sizeof(gpump_sm) + config->entries * sizeof(gpumpi_sm_slot) + config->kernels * sizeof(gpumpi_sm_kernel);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_init(void *memory, size_t bytes, const gpump_sm_config *config, gpump_sm **sm,
                                     gpump_diag *diag) {
    size_t needed;
    gpump_result result = gpump_sm_bytes(config, &needed, diag);
    gpump_sm *fresh = (gpump_sm *)memory;
    if (result) return result;
    if (!sm) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "sm", 0, 0, 1, UINT64_MAX);
    result = gpumpi_head_check_memory(memory, bytes, needed, diag);
    if (result) return result;
    memset(memory, 0, needed);
    fresh->head.magic = GPUMPI_SM_MAGIC;
    fresh->head.layout = gpumpi_sm_hash_config(gpump_hash_u64(GPUMP_HASH_SEED, sizeof(gpumpi_sm_slot)), config);
    fresh->head.bytes = needed;
    fresh->config = *config;
    fresh->shared_bytes = config->shared_bytes;
    fresh->wake_cycle = GPUMP_UNKNOWN;
    for (uint32_t i = 0; i < config->entries; i++) gpumpi_sm_slots(fresh)[i].generation = 1;
    *sm = fresh;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_adopt(void *memory, size_t bytes, const gpump_sm_config *config, gpump_sm **sm,
                                      gpump_diag *diag) {
    size_t needed;
    gpump_result result = gpump_sm_bytes(config, &needed, diag);
    if (result) return result;
    if (!sm) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "sm", 0, 0, 1, UINT64_MAX);
    result = gpumpi_head_adopt(memory, bytes, GPUMPI_SM_MAGIC,
                               gpumpi_sm_hash_config(gpump_hash_u64(GPUMP_HASH_SEED, sizeof(gpumpi_sm_slot)), config),
                               needed, diag);
    if (result) return result;
    *sm = (gpump_sm *)memory;
    return GPUMP_OK;
}

/* The actions that may be pending in each state, as bits of gpump_sm_action_kind. */
static uint32_t gpumpi_sm_pending_in(uint32_t state) {
    switch (state) {
    case GPUMP_BLOCK_RUNNING:
    case GPUMP_BLOCK_BLOCKED: return 1u << GPUMP_SM_ACTION_RESUME;
    case GPUMP_BLOCK_STOPPING: return 1u << GPUMP_SM_ACTION_STOP | 1u << GPUMP_SM_ACTION_REWIND;
    case GPUMP_BLOCK_SAVING:
        return 1u << GPUMP_SM_ACTION_STOP | 1u << GPUMP_SM_ACTION_REWIND | 1u << GPUMP_SM_ACTION_SAVE;
    case GPUMP_BLOCK_RESTORING: return 1u << GPUMP_SM_ACTION_RESTORE;
    case GPUMP_BLOCK_PARKED: return 1u << GPUMP_SM_ACTION_PARKED;
    case GPUMP_BLOCK_FLUSHED: return 1u << GPUMP_SM_ACTION_DROP | 1u << GPUMP_SM_ACTION_FREED;
    case GPUMP_BLOCK_SAVED:
    case GPUMP_BLOCK_DONE: return 1u << GPUMP_SM_ACTION_FREED;
    default: return 0;
    }
}

static int gpumpi_sm_range_is_wrong(uint32_t base, uint32_t length, uint32_t granule, uint32_t capacity) {
    return length > capacity || base > capacity - length || length % granule != 0;
}

/* Returns what is wrong with slot `index` by itself; NULL: nothing. */
static const char *gpumpi_sm_check_slot(const gpump_sm *sm, uint32_t index) {
    const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[index];
    const uint32_t outside = 1u << GPUMP_BLOCK_PARKED | 1u << GPUMP_BLOCK_SAVING | 1u << GPUMP_BLOCK_SAVED |
                             1u << GPUMP_BLOCK_FLUSHED; /* states in which a block may have left its warp slots */
    uint32_t in_place = GPUMP_PARTS_IN_PLACE;
    if (slot->state == GPUMP_BLOCK_FREE) {
        gpumpi_sm_slot empty;
        memset(&empty, 0, sizeof empty);
        empty.generation = slot->generation;
        return memcmp(slot, &empty, sizeof empty) ? "a free slot that holds something" : NULL;
    }
    if (slot->state >= GPUMP_BLOCK_STATES) return "a state that does not exist";
    if (slot->pending & ~gpumpi_sm_pending_in(slot->state)) return "an action that the state does not allow";
    if (!slot->pending && (slot->state == GPUMP_BLOCK_SAVED || slot->state == GPUMP_BLOCK_DONE))
        return "a block that has ended and is never freed";
    if (slot->active > 1 || slot->clobbered > 1 || slot->to_point > 1) return "a flag that is neither 0 nor 1";
    if (slot->technique >= GPUMP_TECHNIQUES && slot->technique != GPUMP_NONE) return "an unknown technique";
    if (slot->waits & ~sm->config.waits) return "a wait that the host does not report";
    if (!slot->threads || slot->threads > sm->config.thread_slots ||
        slot->warps != (slot->threads - 1u) / sm->config.lanes + 1u)
        return "threads and warps differ";
    if (!slot->active && !gpump_block_state_in(slot->state, outside)) return "a block without warp slots";
    if (slot->active && slot->state == GPUMP_BLOCK_PARKED && !slot->pending) return "a parked block with warp slots";
    if ((slot->held | slot->keep | slot->parts) & ~in_place) return "a part that does not exist";
    if (slot->active && slot->held != in_place) return "an active block without its ranges";
    if ((gpump_block_is_saved_now(slot->state) || slot->state == GPUMP_BLOCK_PARKED) && (slot->keep & ~slot->held))
        return "a block that keeps what it does not hold";
    if (slot->state == GPUMP_BLOCK_PARKED &&
        (!slot->keep || (!slot->active && !slot->pending && slot->held != slot->keep)))
        return "a parked block that keeps something else";
    if (slot->state == GPUMP_BLOCK_SAVING && slot->parts != (slot->held & ~slot->keep))
        return "a transfer of other parts";
    if (gpumpi_sm_range_is_wrong(slot->held & GPUMP_PART_REGISTERS ? slot->register_base : 0, slot->registers,
                                 sm->config.register_granule, sm->config.registers))
        return "registers beyond the register file";
    if (gpumpi_sm_range_is_wrong(slot->held & GPUMP_PART_SHARED_MEMORY ? slot->shared_base : 0, slot->shared_bytes,
                                 sm->config.shared_granule_bytes,
                                 slot->held & GPUMP_PART_SHARED_MEMORY && slot->shared_bytes ? sm->shared_bytes
                                                                                             : sm->config.shared_bytes))
        return "shared memory beyond the SM's";
    return gpumpi_sm_find_kernel(sm, slot->kernel) == GPUMP_NONE || !slot->kernel ? "a block of no kernel" : NULL;
}

/* Returns what is wrong between the slots: ranges that overlap; NULL: nothing. */
static const char *gpumpi_sm_check_pair(const gpumpi_sm_slot *a, const gpumpi_sm_slot *b) {
    uint32_t both = a->held & b->held;
    if ((both & GPUMP_PART_REGISTERS) &&
        gpumpi_sm_overlap(a->register_base, a->registers, b->register_base, b->registers))
        return "registers of two blocks overlap";
    if ((both & GPUMP_PART_SHARED_MEMORY) &&
        gpumpi_sm_overlap(a->shared_base, a->shared_bytes, b->shared_base, b->shared_bytes))
        return "shared memory of two blocks overlaps";
    return NULL;
}

GPUMP_API gpump_result gpump_sm_check(const gpump_sm *sm, gpump_diag *diag) {
    uint64_t pending = 0, warps = 0, threads = 0, blocks = 0;
    uint32_t of_kernel[64], at = 0;
    const char *wrong = NULL;
    const gpumpi_sm_kernel *kernels;
    if (!sm) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "sm", 0, 0, 1, UINT64_MAX);
    if (sm->head.layout != gpumpi_sm_hash_config(gpump_hash_u64(GPUMP_HASH_SEED, sizeof(gpumpi_sm_slot)), &sm->config))
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "the configuration has changed", 0, 0, 0, 0);
    if (sm->now == GPUMP_UNKNOWN || sm->shared_bytes > sm->config.shared_bytes || sm->unused)
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "now, shared_bytes or unused", 0, 0, 0, 0);
    memset(of_kernel, 0, sizeof of_kernel);
    kernels = gpumpi_sm_kernels_const(sm);
    for (uint32_t i = 0; !wrong && i < sm->config.entries; i++) {
        const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[i];
        at = i;
        wrong = gpumpi_sm_check_slot(sm, i);
        if (wrong || slot->state == GPUMP_BLOCK_FREE) continue;
        for (uint32_t j = 0; !wrong && j < i; j++) wrong = gpumpi_sm_check_pair(slot, &gpumpi_sm_slots_const(sm)[j]);
        of_kernel[gpumpi_sm_find_kernel(sm, slot->kernel)]++;
        if (slot->pending) pending |= (uint64_t)1 << i;
        if (!slot->active) continue;
        blocks++;
        warps += slot->warps;
        threads += slot->threads;
    }
    for (uint32_t i = 0; !wrong && i < sm->config.kernels; i++) {
        at = i;
        if (kernels[i].blocks != of_kernel[i] || !kernels[i].kernel != !kernels[i].blocks ||
            (!kernels[i].kernel && kernels[i].room) ||
            (kernels[i].kernel && gpumpi_sm_find_kernel(sm, kernels[i].kernel) != i))
            wrong = "a kernel's blocks are counted wrongly";
    }
    if (!wrong && pending != sm->pending) wrong = "pending actions differ";
    if (!wrong && sm->config.timing == GPUMP_SM_TIMING_PORT && sm->wake_cycle > gpumpi_sm_first_end(sm))
        wrong = "a transfer ends before wake_cycle";
    if (!wrong && sm->config.timing == GPUMP_SM_TIMING_HOST && sm->wake_cycle != GPUMP_UNKNOWN)
        wrong = "wake_cycle under timing HOST";
    if (!wrong &&
        (blocks != sm->blocks || warps != sm->warps || threads != sm->threads || blocks > sm->config.block_slots ||
         warps > sm->config.warp_slots || threads > sm->config.thread_slots))
        wrong = "counts of blocks, warps or threads differ";
    return wrong ? gpumpi_fail(diag, GPUMP_ERROR_FORMAT, wrong, at, 0, 0, 0) : GPUMP_OK;
}

GPUMP_API uint64_t gpump_sm_hash(const gpump_sm *sm) {
    uint64_t hash = gpumpi_sm_hash_config(GPUMP_HASH_SEED, &sm->config);
    hash = gpump_hash_u64s(hash, &sm->now, 4);
    hash = gpump_hash_u64s(hash, &sm->statistics.placed, sizeof sm->statistics / 8);
    hash = gpump_hash_u32s(hash, &sm->blocks, 6);
    for (uint32_t i = 0; i < sm->config.entries; i++) {
        const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[i];
        hash = gpump_hash_u64s(hash, &slot->cookie, 12);
        hash = gpump_hash_u32s(hash, &slot->generation, 20);
    }
    for (uint32_t i = 0; i < sm->config.kernels; i++) {
        const gpumpi_sm_kernel *kernel = &gpumpi_sm_kernels_const(sm)[i];
        hash = gpump_hash_u64(gpump_hash_u64(gpump_hash_u64(hash, kernel->room), kernel->kernel), kernel->blocks);
    }
    return hash;
}

/* Bits that hold 0 .. values-1. */
static uint64_t gpumpi_sm_width(uint64_t values) {
    uint64_t bits = 0;
    while (((uint64_t)1 << bits) < values) bits++;
    return bits;
}

GPUMP_API gpump_result gpump_sm_bits(const gpump_sm_config *config, uint64_t *bits, gpump_diag *diag) {
    gpump_sm_storage storage;
    gpump_result result = gpump_sm_table_bits(config, &storage, diag);
    if (result) return result;
    if (!bits) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bits", 0, 0, 1, UINT64_MAX);
    *bits = storage.total_bits;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_table_bits(const gpump_sm_config *config, gpump_sm_storage *storage, gpump_diag *diag) {
    gpump_result result = gpumpi_sm_check_config(config, diag);
    uint64_t owner, registers, shared;
    if (result) return result;
    if (!storage) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "storage", 0, 0, 1, UINT64_MAX);
    owner = gpumpi_sm_width(config->block_slots) + 5; /* 32 kernels at once (Shieh 3.4.5) */
    registers = gpumpi_sm_width((uint64_t)config->registers + 1u);
    shared = gpumpi_sm_width((uint64_t)config->shared_bytes + 1u);
    storage->allocation_bits = config->entries * (2 * registers + 2 * shared + 2 * owner);
    storage->status_bits = config->block_slots * (uint64_t)(32 + 32 + 1);
    storage->life_bits =
        config->entries * (gpumpi_sm_width(GPUMP_BLOCK_STATES) + 2 + 2 + 6 + gpumpi_sm_width(config->warp_slots + 1u) +
                           gpumpi_sm_width((uint64_t)config->thread_slots + 1u));
    storage->total_bits = storage->allocation_bits + storage->status_bits + storage->life_bits;
    return GPUMP_OK;
}

/* ---- time and the memory port ---- */

static void gpumpi_sm_post(gpump_sm *sm, uint32_t index, uint32_t kind) {
    gpumpi_sm_slots(sm)[index].pending |= 1u << kind;
    sm->pending |= (uint64_t)1 << index;
}

/* Reserves the port for `bytes` from cycle `from` on. A transfer of 0 bytes does not reserve the port. */
static void gpumpi_sm_transfer(gpump_sm *sm, gpumpi_sm_slot *slot, uint64_t from, uint64_t bytes) {
    uint64_t cycles = gpump_muldiv_up(bytes, sm->config.port_cycles, sm->config.port_bytes);
    slot->moved = bytes;
    slot->port_start = cycles && sm->port_free > from ? sm->port_free : from;
    slot->port_end = gpump_add_saturated(slot->port_start, cycles);
    if (cycles) sm->port_free = slot->port_end;
    if (sm->config.timing == GPUMP_SM_TIMING_PORT && slot->port_end < sm->wake_cycle) sm->wake_cycle = slot->port_end;
    sm->statistics.port_cycles += cycles;
}

static uint64_t gpumpi_sm_part_bytes(const gpumpi_sm_slot *slot, uint32_t parts) {
    return gpump_add_saturated(parts & GPUMP_PART_REGISTERS ? slot->register_bytes : 0,
                               parts & GPUMP_PART_SHARED_MEMORY ? slot->shared_context_bytes : 0);
}

static void gpumpi_sm_give_room(gpump_sm *sm, gpumpi_sm_slot *slot) {
    uint32_t entry = gpumpi_sm_find_kernel(sm, slot->kernel);
    if (entry != GPUMP_NONE) {
        gpumpi_sm_kernel *kernel = &gpumpi_sm_kernels(sm)[entry];
        if (kernel->room < sm->config.context_bytes) { /* more may have been set: that is not cut */
            kernel->room = gpump_add_saturated(kernel->room, slot->taken);
            if (kernel->room > sm->config.context_bytes) kernel->room = sm->config.context_bytes;
        }
    }
    slot->taken = 0;
}

/* The state of a stopped or parked block is complete: starts to save the parts that the block does not keep. */
static void gpumpi_sm_start_saving(gpump_sm *sm, uint32_t index, uint64_t now) {
    gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[index];
    slot->parts = slot->held & ~slot->keep;
    if (slot->state == GPUMP_BLOCK_STOPPING) {
        sm->statistics.stop_cycles += now - slot->since;
        slot->cycles += now - slot->start_cycle;
    }
    slot->state = GPUMP_BLOCK_SAVING;
    slot->since = now;
    gpumpi_sm_transfer(sm, slot, now, gpumpi_sm_part_bytes(slot, slot->parts));
    gpumpi_sm_post(sm, index, GPUMP_SM_ACTION_SAVE);
}

static void gpumpi_sm_end_saving(gpump_sm *sm, uint32_t index, uint64_t now) {
    gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[index];
    sm->statistics.save_cycles += now - slot->since;
    sm->statistics.bytes_saved += slot->moved;
    slot->since = now;
    if (slot->keep) {
        sm->statistics.parked++;
        slot->state = GPUMP_BLOCK_PARKED;
        gpumpi_sm_post(sm, index, GPUMP_SM_ACTION_PARKED);
    } else {
        sm->statistics.saved++;
        slot->state = GPUMP_BLOCK_SAVED;
        slot->why = GPUMP_BLOCK_SAVED;
        gpumpi_sm_post(sm, index, GPUMP_SM_ACTION_FREED);
    }
}

static void gpumpi_sm_end_restoring(gpump_sm *sm, uint32_t index, uint64_t now) {
    gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[index];
    sm->statistics.restore_cycles += now - slot->since;
    sm->statistics.bytes_restored += slot->moved;
    slot->state = GPUMP_BLOCK_RUNNING;
    slot->since = slot->start_cycle = now;
    slot->technique = GPUMP_NONE;
    gpumpi_sm_give_room(sm, slot);
    if (sm->config.timing == GPUMP_SM_TIMING_PORT) gpumpi_sm_post(sm, index, GPUMP_SM_ACTION_RESUME);
}

/* Time passes: under port timing, transfers that have been handed over and have ended take effect. */
GPUMP_API gpump_result gpump_sm_advance(gpump_sm *sm, uint64_t now) {
    if (!sm) return GPUMP_ERROR_ARGUMENT;
    if (now < sm->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    sm->now = now;
    if (now < sm->wake_cycle) return GPUMP_OK;
    for (uint32_t i = 0; i < sm->config.entries; i++) {
        gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[i];
        if (slot->port_end > now) continue;
        if (slot->state == GPUMP_BLOCK_SAVING && !(slot->pending & (1u << GPUMP_SM_ACTION_SAVE)))
            gpumpi_sm_end_saving(sm, i, slot->port_end);
        else if (slot->state == GPUMP_BLOCK_RESTORING && !(slot->pending & (1u << GPUMP_SM_ACTION_RESTORE)))
            gpumpi_sm_end_restoring(sm, i, slot->port_end);
    }
    sm->wake_cycle = gpumpi_sm_first_end(sm);
    return GPUMP_OK;
}

/* ---- room ---- */

/* The end of a range of `part` that overlaps [base, base + length), 0 for none. */
static uint32_t gpumpi_sm_obstacle(const gpump_sm *sm, uint32_t part, uint32_t base, uint32_t length) {
    for (uint32_t i = 0; i < sm->config.entries; i++) {
        const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[i];
        uint32_t other = part == GPUMP_PART_REGISTERS ? slot->register_base : slot->shared_base;
        uint32_t other_length = part == GPUMP_PART_REGISTERS ? slot->registers : slot->shared_bytes;
        if ((slot->held & part) && gpumpi_sm_overlap(base, length, other, other_length)) return other + other_length;
    }
    return 0;
}
/* Finds the lowest free range of one part; the bases tried are multiples of `step` (0: any). 1 found. */
static int gpumpi_sm_find_range(const gpump_sm *sm, uint32_t part, uint32_t length, uint32_t step, uint32_t *base) {
    uint32_t capacity = part == GPUMP_PART_REGISTERS ? sm->config.registers : sm->shared_bytes, at = 0, end;
    for (;;) {
        if (length > capacity || at > capacity - length) return 0;
        end = gpumpi_sm_obstacle(sm, part, at, length);
        if (!end) break;
        at = step ? (end + step - 1u) / step * step : end;
    }
    *base = at;
    return 1;
}

static uint32_t gpumpi_sm_rounded(uint32_t value, uint32_t granule) {
    uint64_t rounded = ((uint64_t)value + granule - 1u) / granule * granule;
    return rounded > UINT32_MAX ? UINT32_MAX : (uint32_t)rounded;
}

/* Finds room for the parts asked for; YES with the bases, else what is short. */
static gpump_reason gpumpi_sm_find_ranges(const gpump_sm *sm, uint32_t parts, uint32_t registers, uint32_t shared,
                                          uint32_t *register_base, uint32_t *shared_base) {
    int aligned = sm->config.placement == GPUMP_SM_ALIGNED;
    uint32_t position = 0, ends[2];
    *register_base = *shared_base = 0;
    if ((parts & GPUMP_PART_REGISTERS) &&
        !gpumpi_sm_find_range(sm, GPUMP_PART_REGISTERS, registers, aligned ? registers : 0, register_base))
        return GPUMP_REASON_REGISTERS;
    if ((parts & GPUMP_PART_SHARED_MEMORY) &&
        !gpumpi_sm_find_range(sm, GPUMP_PART_SHARED_MEMORY, shared, aligned ? shared : 0, shared_base))
        return GPUMP_REASON_SHARED_MEMORY;
    if (!aligned || parts != GPUMP_PARTS_IN_PLACE || !registers || !shared) return GPUMP_REASON_YES;
    for (;;) { /* both at the same position; every step passes an obstacle */
        uint64_t at_registers = (uint64_t)position * registers, at_shared = (uint64_t)position * shared;
        uint32_t next = position;
        if (at_registers + registers > sm->config.registers) return GPUMP_REASON_REGISTERS;
        if (at_shared + shared > sm->shared_bytes) return GPUMP_REASON_SHARED_MEMORY;
        ends[0] = gpumpi_sm_obstacle(sm, GPUMP_PART_REGISTERS, (uint32_t)at_registers, registers);
        ends[1] = gpumpi_sm_obstacle(sm, GPUMP_PART_SHARED_MEMORY, (uint32_t)at_shared, shared);
        if (!ends[0] && !ends[1]) {
            *register_base = (uint32_t)at_registers;
            *shared_base = (uint32_t)at_shared;
            return GPUMP_REASON_YES;
        }
        if (ends[0]) next = (uint32_t)(((uint64_t)ends[0] + registers - 1u) / registers);
        if (ends[1] && ((uint64_t)ends[1] + shared - 1u) / shared > next)
            next = (uint32_t)(((uint64_t)ends[1] + shared - 1u) / shared);
        position = next;
    }
}

static uint32_t gpumpi_sm_warps(const gpump_sm *sm, uint32_t threads) {
    return (uint32_t)(((uint64_t)threads + sm->config.lanes - 1u) / sm->config.lanes);
}

/* Room among slots, warps and threads for a block that becomes active. */
static gpump_reason gpumpi_sm_active_room(const gpump_sm *sm, uint32_t threads) {
    if (sm->blocks >= sm->config.block_slots) return GPUMP_REASON_BLOCK_SLOTS;
    if (gpumpi_sm_warps(sm, threads) > sm->config.warp_slots - sm->warps) return GPUMP_REASON_WARPS;
    if (threads > sm->config.thread_slots - sm->threads) return GPUMP_REASON_THREADS;
    return GPUMP_REASON_YES;
}

static uint32_t gpumpi_sm_free_slot(const gpump_sm *sm) {
    for (uint32_t i = 0; i < sm->config.entries; i++)
        if (gpumpi_sm_slots_const(sm)[i].state == GPUMP_BLOCK_FREE) return i;
    return GPUMP_NONE;
}

static gpump_reason gpumpi_sm_find_room(const gpump_sm *sm, uint32_t kernel, const gpump_footprint *need,
                                        uint32_t *register_base, uint32_t *shared_base) {
    uint32_t registers = gpumpi_sm_rounded(need->registers, sm->config.register_granule);
    uint32_t shared = gpumpi_sm_rounded(need->shared_bytes, sm->config.shared_granule_bytes);
    gpump_reason reason;
    if (registers > sm->config.registers || shared > sm->config.shared_bytes ||
        need->threads > sm->config.thread_slots || gpumpi_sm_warps(sm, need->threads) > sm->config.warp_slots)
        return GPUMP_REASON_NEVER_FITS;
    if (sm->reserved_for && sm->reserved_for != kernel) return GPUMP_REASON_RESERVED;
    if (gpumpi_sm_find_kernel(sm, kernel) == GPUMP_NONE && gpumpi_sm_find_kernel(sm, 0) == GPUMP_NONE)
        return GPUMP_REASON_KERNELS;
    reason = gpumpi_sm_active_room(sm, need->threads);
    if (reason) return reason;
    if (gpumpi_sm_free_slot(sm) == GPUMP_NONE) return GPUMP_REASON_BLOCK_SLOTS;
    return gpumpi_sm_find_ranges(sm, GPUMP_PARTS_IN_PLACE, registers, shared, register_base, shared_base);
}

GPUMP_API gpump_reason gpump_sm_room(const gpump_sm *sm, uint32_t kernel, const gpump_footprint *need) {
    uint32_t register_base, shared_base;
    return gpumpi_sm_find_room(sm, kernel, need, &register_base, &shared_base);
}

static gpump_result gpumpi_sm_no_room(gpump_reason reason, gpump_diag *diag) {
    gpumpi_fail(diag, reason == GPUMP_REASON_NEVER_FITS ? GPUMP_ERROR_REFUSED : GPUMP_BUSY, "need", 0, 0, 0, 0);
    if (diag) diag->reason = reason;
    return reason == GPUMP_REASON_NEVER_FITS ? GPUMP_ERROR_REFUSED : GPUMP_BUSY;
}

GPUMP_API gpump_result gpump_sm_place_in(gpump_sm *sm, uint64_t now, uint32_t where, const gpump_sm_request *request,
                                         const gpump_sm_history *saved, gpump_block_ref *block, gpump_diag *diag) {
    uint32_t register_base, shared_base, index, entry;
    gpump_reason reason;
    gpump_result result;
    gpumpi_sm_slot *slot;
    gpumpi_sm_kernel *kernel;
    if (!sm || !request || !block)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT,
                           !sm        ? "sm"
                           : !request ? "request"
                                      : "block",
                           0, 0, 1, UINT64_MAX);
    if (!request->kernel) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "kernel", 0, 0, 1, UINT32_MAX);
    if (!request->need.threads)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "threads", 0, 0, 1, sm->config.thread_slots);
    if (where != GPUMP_NONE && where >= sm->config.entries)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "slot", 0, where, 0, sm->config.entries - 1);
    if (now < sm->now || now == GPUMP_UNKNOWN)
        return gpumpi_fail(diag, GPUMP_ERROR_TIME, "now", 0, now, sm->now, UINT64_MAX);
    reason = gpumpi_sm_find_room(sm, request->kernel, &request->need, &register_base, &shared_base);
    if (reason == GPUMP_REASON_NEVER_FITS) return gpumpi_sm_no_room(reason, diag);
    index = where == GPUMP_NONE ? gpumpi_sm_free_slot(sm) : where;
    if (!reason && gpumpi_sm_slots(sm)[index].state != GPUMP_BLOCK_FREE) reason = GPUMP_REASON_BLOCK_SLOTS;
    result = gpump_sm_advance(sm, now); /* frees nothing by itself: room comes with FREED and PARKED */
    if (result) return result;
    if (reason) return gpumpi_sm_no_room(reason, diag);
    slot = &gpumpi_sm_slots(sm)[index];
    entry = gpumpi_sm_find_kernel(sm, request->kernel);
    if (entry == GPUMP_NONE) {
        entry = gpumpi_sm_find_kernel(sm, 0);
        gpumpi_sm_kernels(sm)[entry].kernel = request->kernel;
        gpumpi_sm_kernels(sm)[entry].room = sm->config.context_bytes;
    }
    kernel = &gpumpi_sm_kernels(sm)[entry];
    kernel->blocks++;
    slot->cookie = request->cookie;
    slot->kernel = request->kernel;
    slot->group = request->group;
    slot->registers = gpumpi_sm_rounded(request->need.registers, sm->config.register_granule);
    slot->shared_bytes = gpumpi_sm_rounded(request->need.shared_bytes, sm->config.shared_granule_bytes);
    slot->register_base = register_base;
    slot->shared_base = shared_base;
    slot->threads = request->need.threads;
    slot->warps = gpumpi_sm_warps(sm, request->need.threads);
    slot->held = GPUMP_PARTS_IN_PLACE;
    slot->active = 1;
    slot->technique = GPUMP_NONE;
    slot->since = slot->start_cycle = now;
    slot->register_bytes = (uint64_t)slot->registers * 4u;
    slot->shared_context_bytes = slot->shared_bytes;
    sm->blocks++;
    sm->warps += slot->warps;
    sm->threads += slot->threads;
    if (saved) {
        sm->statistics.restored++;
        slot->executed = slot->brought = saved->executed;
        slot->cycles = saved->cycles;
        slot->clobbered = saved->clobbered != 0;
        slot->state = GPUMP_BLOCK_RESTORING;
        slot->parts = GPUMP_PARTS_IN_PLACE;
        slot->taken = gpump_add_saturated(saved->register_bytes, saved->shared_bytes);
        gpumpi_sm_transfer(sm, slot, now, slot->taken);
        gpumpi_sm_post(sm, index, GPUMP_SM_ACTION_RESTORE);
    } else {
        sm->statistics.placed++;
        slot->state = GPUMP_BLOCK_RUNNING;
    }
    block->slot = index;
    block->generation = slot->generation;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_place(gpump_sm *sm, uint64_t now, const gpump_sm_request *request,
                                      const gpump_sm_history *saved, gpump_block_ref *block, gpump_diag *diag) {
    return gpump_sm_place_in(sm, now, GPUMP_NONE, request, saved, block, diag);
}

GPUMP_API gpump_result gpump_sm_reserve(gpump_sm *sm, uint32_t kernel) {
    if (!sm) return GPUMP_ERROR_ARGUMENT;
    sm->reserved_for = kernel;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_set_context_room(gpump_sm *sm, uint32_t kernel, uint64_t bytes) {
    uint32_t entry = sm && kernel ? gpumpi_sm_find_kernel(sm, kernel) : GPUMP_NONE;
    if (entry == GPUMP_NONE) return GPUMP_ERROR_ARGUMENT;
    gpumpi_sm_kernels(sm)[entry].room = bytes;
    return GPUMP_OK;
}

GPUMP_API uint64_t gpump_sm_context_room(const gpump_sm *sm, uint32_t kernel) {
    uint32_t entry = kernel ? gpumpi_sm_find_kernel(sm, kernel) : GPUMP_NONE;
    return entry == GPUMP_NONE ? UINT64_MAX : gpumpi_sm_kernels_const(sm)[entry].room;
}

GPUMP_API gpump_result gpump_sm_set_shared_bytes(gpump_sm *sm, uint32_t bytes, gpump_diag *diag) {
    if (!sm) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "sm", 0, 0, 1, UINT64_MAX);
    if (bytes > sm->config.shared_bytes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bytes", 0, bytes, 0, sm->config.shared_bytes);
    for (uint32_t i = 0; i < sm->config.entries; i++) {
        const gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[i];
        if ((slot->held & GPUMP_PART_SHARED_MEMORY) && slot->shared_bytes &&
            slot->shared_base + slot->shared_bytes > bytes)
            return gpumpi_fail(diag, GPUMP_ERROR_STATE, "bytes", i, bytes, slot->shared_base + slot->shared_bytes,
                               sm->config.shared_bytes);
    }
    sm->shared_bytes = bytes;
    return GPUMP_OK;
}

/* ---- facts ---- */

/* 1 when the block's transfer is under way and ends by `now` without a report (timing PORT). */
static int gpumpi_sm_transfer_ends(const gpump_sm *sm, const gpumpi_sm_slot *slot, uint64_t now) {
    return sm->config.timing == GPUMP_SM_TIMING_PORT && slot->port_end <= now && !slot->pending &&
           (slot->state == GPUMP_BLOCK_SAVING || slot->state == GPUMP_BLOCK_RESTORING);
}
/* The state a block has once time has passed to `now`. A save that ends is left out: PARKED or FREED must be pulled
 * before anything else can be said of the block. */
static uint32_t gpumpi_sm_state_at(const gpump_sm *sm, const gpumpi_sm_slot *slot, uint64_t now) {
    return slot->state == GPUMP_BLOCK_RESTORING && gpumpi_sm_transfer_ends(sm, slot, now)
               ? (uint32_t)GPUMP_BLOCK_RUNNING
               : slot->state;
}

/* Every timed fact begins here: arguments, time, name, state (bits); only then time passes, so that errors change
 * nothing. */
static gpump_result gpumpi_sm_enter(gpump_sm *sm, uint64_t now, gpump_block_ref block, uint32_t states,
                                    gpumpi_sm_slot **slot) {
    if (!sm) return GPUMP_ERROR_ARGUMENT;
    if (now < sm->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    if (!gpumpi_sm_names(sm, block)) return GPUMP_ERROR_STALE;
    *slot = &gpumpi_sm_slots(sm)[block.slot];
    if (!(states & (1u << gpumpi_sm_state_at(sm, *slot, now)))) return GPUMP_ERROR_STATE;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_report_waits(gpump_sm *sm, uint64_t now, gpump_block_ref block, uint32_t waits) {
    gpumpi_sm_slot *slot;
    gpump_result result;
    if (!sm || (waits & ~(sm->config.waits))) return GPUMP_ERROR_ARGUMENT;
    result = gpumpi_sm_enter(sm, now, block, 1u << GPUMP_BLOCK_STOPPING, &slot);
    if (result) return result;
    gpump_sm_advance(sm, now);
    slot->waits = waits;
    if (!waits) gpumpi_sm_start_saving(sm, block.slot, now);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_report_context_bytes(gpump_sm *sm, gpump_block_ref block, uint64_t register_bytes,
                                                     uint64_t shared_bytes) {
    gpumpi_sm_slot *slot, probe;
    if (!sm) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_sm_names(sm, block)) return GPUMP_ERROR_STALE;
    slot = &gpumpi_sm_slots(sm)[block.slot];
    if (!gpump_block_executes(slot->state)) return GPUMP_ERROR_STATE;
    probe = *slot;
    probe.register_bytes = register_bytes;
    probe.shared_context_bytes = shared_bytes;
    if (slot->state == GPUMP_BLOCK_STOPPING) { /* room has been taken for the old size */
        gpumpi_sm_kernel *kernel = &gpumpi_sm_kernels(sm)[gpumpi_sm_find_kernel(sm, slot->kernel)];
        uint64_t bytes = gpumpi_sm_part_bytes(&probe, slot->held & ~slot->keep);
        if (kernel->room != UINT64_MAX) {
            uint64_t room = gpump_add_saturated(kernel->room, slot->taken);
            if (bytes > room) return GPUMP_ERROR_FULL;
            kernel->room = room - bytes;
        }
        probe.taken = bytes;
    }
    *slot = probe;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_report_blocked(gpump_sm *sm, uint64_t now, gpump_block_ref block, uint32_t blocked) {
    gpumpi_sm_slot *slot;
    gpump_result result =
        gpumpi_sm_enter(sm, now, block, 1u << (blocked ? GPUMP_BLOCK_RUNNING : GPUMP_BLOCK_BLOCKED), &slot);
    if (result) return result;
    gpump_sm_advance(sm, now);
    slot->state = blocked ? GPUMP_BLOCK_BLOCKED : GPUMP_BLOCK_RUNNING;
    return GPUMP_OK;
}

/* A transfer has ended at `now`. If it was the last one planned, the port is free from then on. */
static void gpumpi_sm_correct_port(gpump_sm *sm, const gpumpi_sm_slot *slot, uint64_t now) {
    if (slot->moved && slot->port_end == sm->port_free) sm->port_free = now;
}

GPUMP_API gpump_result gpump_sm_report_saved(gpump_sm *sm, uint64_t now, gpump_block_ref block) {
    gpumpi_sm_slot *slot;
    gpump_result result = gpumpi_sm_enter(sm, now, block, 1u << GPUMP_BLOCK_SAVING, &slot);
    if (result) return result;
    if (sm->config.timing != GPUMP_SM_TIMING_HOST || (slot->pending & (1u << GPUMP_SM_ACTION_SAVE)))
        return GPUMP_ERROR_STATE;
    gpump_sm_advance(sm, now);
    gpumpi_sm_correct_port(sm, slot, now);
    gpumpi_sm_end_saving(sm, block.slot, now);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_report_restored(gpump_sm *sm, uint64_t now, gpump_block_ref block) {
    gpumpi_sm_slot *slot;
    gpump_result result = gpumpi_sm_enter(sm, now, block, 1u << GPUMP_BLOCK_RESTORING, &slot);
    if (result) return result;
    if (sm->config.timing != GPUMP_SM_TIMING_HOST || (slot->pending & (1u << GPUMP_SM_ACTION_RESTORE)))
        return GPUMP_ERROR_STATE;
    gpump_sm_advance(sm, now);
    gpumpi_sm_correct_port(sm, slot, now);
    gpumpi_sm_end_restoring(sm, block.slot, now);
    return GPUMP_OK;
}

/* A transfer ends early at `now`. If it was the last one planned, the port is free for what was left of it. */
static void gpumpi_sm_cut_transfer(gpump_sm *sm, const gpumpi_sm_slot *slot, uint64_t now) {
    uint64_t end = slot->port_start > now ? slot->port_start : now;
    if (slot->port_end != sm->port_free || end >= slot->port_end) return;
    sm->statistics.port_cycles -= slot->port_end - end;
    sm->port_free = end;
}

GPUMP_API gpump_result gpump_sm_report_done(gpump_sm *sm, uint64_t now, gpump_block_ref block) {
    gpumpi_sm_slot *slot;
    gpump_result result =
        gpumpi_sm_enter(sm, now, block,
                        1u << GPUMP_BLOCK_RUNNING | 1u << GPUMP_BLOCK_BLOCKED | 1u << GPUMP_BLOCK_DRAINING |
                            1u << GPUMP_BLOCK_STOPPING | 1u << GPUMP_BLOCK_SAVING | 1u << GPUMP_BLOCK_FLUSHED,
                        &slot);
    if (result) return result;
    /* A block without warp slots executes nothing. One that is dropped or saved by now has nothing in flight. */
    if (!slot->active || (slot->pending & (1u << GPUMP_SM_ACTION_FREED)) ||
        (slot->state == GPUMP_BLOCK_SAVING && gpumpi_sm_transfer_ends(sm, slot, now)))
        return GPUMP_ERROR_STATE;
    gpump_sm_advance(sm, now);
    if (gpump_block_executes(slot->state)) slot->cycles += now - slot->start_cycle;
    if (slot->state == GPUMP_BLOCK_STOPPING) sm->statistics.stop_cycles += now - slot->since;
    if (slot->state == GPUMP_BLOCK_DRAINING) {
        sm->statistics.drained++;
        sm->statistics.drain_cycles += now - slot->since;
    }
    if (slot->state == GPUMP_BLOCK_FLUSHED) { /* its last exit was in the pipeline */
        slot->cycles += now - slot->since;
        sm->statistics.drop_cycles += now - slot->since;
    }
    if (slot->state == GPUMP_BLOCK_SAVING) {
        gpumpi_sm_cut_transfer(sm, slot, now);
        sm->statistics.save_cycles += now - slot->since;
    }
    sm->statistics.done++;
    slot->pending = 0;
    gpumpi_sm_give_room(sm, slot);
    slot->state = slot->why = GPUMP_BLOCK_DONE;
    slot->since = now;
    gpumpi_sm_post(sm, block.slot, GPUMP_SM_ACTION_FREED);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_report_dropped(gpump_sm *sm, uint64_t now, gpump_block_ref block) {
    gpumpi_sm_slot *slot;
    gpump_result result = gpumpi_sm_enter(sm, now, block, 1u << GPUMP_BLOCK_FLUSHED, &slot);
    if (result) return result;
    if (slot->pending) return GPUMP_ERROR_STATE; /* DROP comes first, and this only once */
    gpump_sm_advance(sm, now);
    sm->statistics.flushed++;
    sm->statistics.wasted += slot->executed;
    sm->statistics.drop_cycles += now - slot->since;
    slot->why = GPUMP_BLOCK_FLUSHED;
    slot->since = now;
    gpumpi_sm_post(sm, block.slot, GPUMP_SM_ACTION_FREED);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_report_rewound(gpump_sm *sm, gpump_block_ref block, uint64_t warp_instructions) {
    gpumpi_sm_slot *slot;
    if (!sm) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_sm_names(sm, block)) return GPUMP_ERROR_STALE;
    slot = &gpumpi_sm_slots(sm)[block.slot];
    if (slot->state != GPUMP_BLOCK_STOPPING || slot->technique != GPUMP_TECHNIQUE_REWIND) return GPUMP_ERROR_STATE;
    if (warp_instructions > slot->executed) return GPUMP_ERROR_ARGUMENT;
    slot->executed -= warp_instructions;
    sm->statistics.executed += warp_instructions; /* they were executed here, whatever becomes of the block */
    sm->statistics.wasted += warp_instructions;
    return GPUMP_OK;
}

/* ---- questions ---- */

/* 1 when a technique writes a context. */
static int gpumpi_sm_saves(uint32_t technique) {
    return technique == GPUMP_TECHNIQUE_SWITCH || technique == GPUMP_TECHNIQUE_REWIND;
}

/* gpump_sm_may of a block that is here. */
GPUMP_INLINE gpump_reason gpumpi_sm_may(const gpump_sm *sm, const gpumpi_sm_slot *slot, uint32_t technique) {
    int running;
    if (technique >= GPUMP_TECHNIQUES || !(sm->config.techniques >> technique & 1u)) return GPUMP_REASON_TECHNIQUE;
    running =
        slot->state == GPUMP_BLOCK_RUNNING || slot->state == GPUMP_BLOCK_BLOCKED || slot->state == GPUMP_BLOCK_DRAINING;
    if (slot->state == GPUMP_BLOCK_PARKED && !slot->pending)
        running = technique == GPUMP_TECHNIQUE_FLUSH || technique == GPUMP_TECHNIQUE_SWITCH;
    if (slot->state == GPUMP_BLOCK_STOPPING) running = technique == GPUMP_TECHNIQUE_FLUSH;
    if (slot->state == GPUMP_BLOCK_DRAINING && technique == GPUMP_TECHNIQUE_DRAIN) running = 0;
    if (!running) return GPUMP_REASON_NOT_RUNNING;
    if (technique == GPUMP_TECHNIQUE_FLUSH && slot->clobbered) return GPUMP_REASON_CLOBBERED;
    if (gpumpi_sm_saves(technique) && gpumpi_sm_part_bytes(slot, slot->held) > gpump_sm_context_room(sm, slot->kernel))
        return GPUMP_REASON_NO_CONTEXT_SPACE;
    return GPUMP_REASON_YES;
}

GPUMP_API gpump_reason gpump_sm_may(const gpump_sm *sm, gpump_block_ref block, uint32_t technique) {
    if (!sm || !gpumpi_sm_names(sm, block)) return GPUMP_REASON_NO_SUCH_BLOCK;
    return gpumpi_sm_may(sm, &gpumpi_sm_slots_const(sm)[block.slot], technique);
}

GPUMP_API gpump_reason gpump_sm_waits_for(const gpump_sm *sm, gpump_block_ref block, uint32_t *waits, uint64_t *since) {
    static const gpump_reason reasons[6] = {GPUMP_REASON_PIPELINE,   GPUMP_REASON_STORES,
                                            GPUMP_REASON_ATOMICS,    GPUMP_REASON_INSTRUCTION_MISSES,
                                            GPUMP_REASON_SCOREBOARD, GPUMP_REASON_PREEMPTION_POINT};
    const gpumpi_sm_slot *slot;
    if (!sm || !gpumpi_sm_names(sm, block)) return GPUMP_REASON_NO_SUCH_BLOCK;
    slot = &gpumpi_sm_slots_const(sm)[block.slot];
    if (slot->state != GPUMP_BLOCK_STOPPING) return GPUMP_REASON_NOT_RUNNING;
    if (waits) *waits = slot->waits;
    if (since) *since = slot->since;
    for (uint32_t i = 0; i < 6; i++)
        if (slot->waits & (1u << i)) return reasons[i];
    return GPUMP_REASON_YES;
}

static void gpumpi_sm_view(const gpump_sm *sm, uint64_t now, uint32_t index, gpump_block_view *view) {
    const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[index];
    gpump_block_ref ref;
    ref.slot = index;
    ref.generation = slot->generation;
    memset(view, 0, sizeof *view);
    view->cookie = slot->cookie;
    view->executed = slot->executed;
    view->start_cycle = slot->start_cycle;
    view->cycles = slot->cycles;
    if (gpump_block_executes(slot->state) && now > slot->start_cycle) view->cycles += now - slot->start_cycle;
    view->context_bytes = gpumpi_sm_part_bytes(slot, slot->held);
    view->block = ref;
    view->kernel = slot->kernel;
    view->state = slot->state;
    if (slot->held & GPUMP_PART_REGISTERS) {
        view->register_base = slot->register_base;
        view->registers = slot->registers;
    }
    if (slot->held & GPUMP_PART_SHARED_MEMORY) {
        view->shared_base = slot->shared_base;
        view->shared_bytes = slot->shared_bytes;
    }
    if (slot->active) { /* a parked block has left its warp slots */
        view->threads = slot->threads;
        view->warps = slot->warps;
    }
    for (uint32_t technique = 0; technique < GPUMP_TECHNIQUES; technique++)
        if (gpumpi_sm_may(sm, slot, technique) == GPUMP_REASON_YES) view->may |= 1u << technique;
    view->group = slot->group;
    view->technique = slot->technique;
    if (gpump_block_is_saved_now(slot->state)) view->keep = slot->keep;
}

GPUMP_API gpump_result gpump_sm_block(const gpump_sm *sm, uint64_t now, gpump_block_ref block, gpump_block_view *view) {
    if (!sm || !view) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_sm_names(sm, block)) return GPUMP_ERROR_STALE;
    gpumpi_sm_view(sm, now, block.slot, view);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_blocks(const gpump_sm *sm, uint64_t now, gpump_block_view *blocks, uint32_t capacity,
                                       uint32_t *count) {
    uint32_t here = 0;
    if (!sm || !count || (capacity && !blocks)) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < sm->config.entries; i++) here += gpumpi_sm_slots_const(sm)[i].state != GPUMP_BLOCK_FREE;
    *count = here;
    if (here > capacity) return GPUMP_ERROR_CAPACITY;
    here = 0;
    for (uint32_t i = 0; i < sm->config.entries; i++)
        if (gpumpi_sm_slots_const(sm)[i].state != GPUMP_BLOCK_FREE) gpumpi_sm_view(sm, now, i, &blocks[here++]);
    return GPUMP_OK;
}

/* ---- decisions ---- */

/* Holds choice i against the rules. needed[] counts, by entry of the kernel table, the bytes that the choices so far
 * take from the room for contexts. */
static gpump_result gpumpi_sm_check_choice(const gpump_sm *sm, const gpump_block_choice *choice, uint32_t i,
                                           uint64_t *needed, gpump_diag *diag) {
    const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[choice->block.slot];
    int saves = gpumpi_sm_saves(choice->technique), switches = choice->technique == GPUMP_TECHNIQUE_SWITCH;
    gpump_reason reason;
    uint32_t entry;
    if (choice->technique >= GPUMP_TECHNIQUES)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "choices.technique", i, choice->technique, 0,
                           GPUMP_TECHNIQUES - 1);
    if (choice->keep > GPUMP_PARTS_IN_PLACE || (choice->keep && !saves))
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "choices.keep", i, choice->keep, 0,
                           saves ? GPUMP_PARTS_IN_PLACE : 0);
    if (choice->to_point > 1 ||
        (choice->to_point && !(switches && (sm->config.waits & GPUMP_SM_WAIT_PREEMPTION_POINT))))
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "choices.to_point", i, choice->to_point, 0, switches ? 1 : 0);
    reason = gpump_sm_may(sm, choice->block, choice->technique);
    if (reason == GPUMP_REASON_NO_CONTEXT_SPACE && choice->keep) reason = GPUMP_REASON_YES; /* counted below */
    if (reason) return gpumpi_refuse(diag, reason, "choices", i);
    if (!saves) return GPUMP_OK;
    if (slot->state == GPUMP_BLOCK_PARKED &&
        ((choice->keep & ~slot->held) || choice->keep == slot->held || choice->to_point))
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "choices.keep", i, choice->keep, 0, slot->held);
    entry = gpumpi_sm_find_kernel(sm, slot->kernel);
    needed[entry] = gpump_add_saturated(needed[entry], gpumpi_sm_part_bytes(slot, slot->held & ~choice->keep));
    if (needed[entry] > gpumpi_sm_kernels_const(sm)[entry].room)
        return gpumpi_refuse(diag, GPUMP_REASON_NO_CONTEXT_SPACE, "choices", i);
    return GPUMP_OK;
}

/* Holds all choices against the rules, each alone and together. Nothing changes. */
static gpump_result gpumpi_sm_check_choices(const gpump_sm *sm, const gpump_block_choice *choices, uint32_t count,
                                            gpump_diag *diag) {
    uint64_t chosen = 0, needed[64];
    memset(needed, 0, sizeof needed);
    for (uint32_t i = 0; i < count; i++) {
        gpump_result result;
        if (!gpumpi_sm_names(sm, choices[i].block)) {
            gpumpi_fail(diag, GPUMP_ERROR_STALE, "choices", i, choices[i].block.generation, 0, 0);
            if (diag) diag->reason = GPUMP_REASON_NO_SUCH_BLOCK;
            return GPUMP_ERROR_STALE;
        }
        if (chosen & ((uint64_t)1 << choices[i].block.slot))
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "choices (same block twice)", i, choices[i].block.slot, 0,
                               0);
        chosen |= (uint64_t)1 << choices[i].block.slot;
        result = gpumpi_sm_check_choice(sm, &choices[i], i, needed, diag);
        if (result) return result;
    }
    for (uint32_t i = 0; i < count; i++) {
        const gpumpi_sm_slot *slot = &gpumpi_sm_slots_const(sm)[choices[i].block.slot];
        if (!slot->group || slot->state == GPUMP_BLOCK_PARKED) continue; /* a parked block has left already */
        for (uint32_t other = 0; other < sm->config.entries; other++) {
            const gpumpi_sm_slot *mate = &gpumpi_sm_slots_const(sm)[other];
            if (gpump_block_stays(mate->state) && mate->group == slot->group && mate->kernel == slot->kernel &&
                !(chosen & ((uint64_t)1 << other)))
                return gpumpi_refuse(diag, GPUMP_REASON_GROUP, "choices", i);
        }
    }
    return GPUMP_OK;
}

/* Tells a block to be saved, or a parked one to give up more. */
static void gpumpi_sm_save_block(gpump_sm *sm, uint32_t index, const gpump_block_choice *choice, uint64_t now) {
    gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[index];
    gpumpi_sm_kernel *kernel = &gpumpi_sm_kernels(sm)[gpumpi_sm_find_kernel(sm, slot->kernel)];
    uint64_t bytes = gpumpi_sm_part_bytes(slot, slot->held & ~choice->keep);
    int rewinds = choice->technique == GPUMP_TECHNIQUE_REWIND;
    if (kernel->room != UINT64_MAX) kernel->room -= bytes;
    slot->taken = gpump_add_saturated(slot->taken, bytes);
    slot->keep = choice->keep;
    slot->to_point = choice->to_point;
    if (slot->state == GPUMP_BLOCK_PARKED) {
        gpumpi_sm_start_saving(sm, index, now);
        return;
    }
    if (rewinds) {
        slot->to_point = (sm->config.waits & GPUMP_SM_WAIT_PREEMPTION_POINT) != 0;
        sm->statistics.rewound++;
    }
    slot->state = GPUMP_BLOCK_STOPPING;
    slot->waits = sm->config.waits;
    if (!slot->to_point) slot->waits &= ~(uint32_t)GPUMP_SM_WAIT_PREEMPTION_POINT;
    gpumpi_sm_post(sm, index, rewinds ? GPUMP_SM_ACTION_REWIND : GPUMP_SM_ACTION_STOP);
    if (!slot->waits && !rewinds) gpumpi_sm_start_saving(sm, index, now);
}

GPUMP_API gpump_result gpump_sm_preempt(gpump_sm *sm, uint64_t now, const gpump_block_choice *choices, uint32_t count,
                                        gpump_diag *diag) {
    uint64_t scratch[(sizeof(gpump_sm) + 64 * sizeof(gpumpi_sm_slot) + 64 * sizeof(gpumpi_sm_kernel)) / 8];
    const gpump_sm *then = sm;
    gpump_result result;
    if (!sm || (count && !choices))
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, sm ? "choices" : "sm", 0, 0, 1, UINT64_MAX);
    if (now < sm->now || now == GPUMP_UNKNOWN)
        return gpumpi_fail(diag, GPUMP_ERROR_TIME, "now", 0, now, sm->now, UINT64_MAX);
    if (count > sm->config.entries)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "count", 0, count, 0, sm->config.entries);
    if (sm->config.timing == GPUMP_SM_TIMING_PORT) {
        /* Whether a choice is allowed may depend on transfers that end by `now`, and an error must change nothing: so
         * time passes in a copy first. */
        memcpy(scratch, sm, (size_t)sm->head.bytes);
        gpump_sm_advance((gpump_sm *)(void *)scratch, now);
        then = (const gpump_sm *)(const void *)scratch;
    }
    result = gpumpi_sm_check_choices(then, choices, count, diag);
    if (result) return result;
    gpump_sm_advance(sm, now);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = choices[i].block.slot;
        gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[index];
        if (slot->state == GPUMP_BLOCK_DRAINING) sm->statistics.drain_cycles += now - slot->since;
        if (slot->state == GPUMP_BLOCK_STOPPING) sm->statistics.stop_cycles += now - slot->since;
        slot->technique = choices[i].technique;
        slot->since = now;
        slot->pending = 0; /* an unread STOP or RESUME is overtaken */
        sm->pending &= ~((uint64_t)1 << index);
        if (choices[i].technique == GPUMP_TECHNIQUE_FLUSH) {
            if (slot->state != GPUMP_BLOCK_PARKED) slot->cycles += now - slot->start_cycle;
            gpumpi_sm_give_room(sm, slot);
            slot->state = GPUMP_BLOCK_FLUSHED;
            gpumpi_sm_post(sm, index, GPUMP_SM_ACTION_DROP);
        } else if (choices[i].technique == GPUMP_TECHNIQUE_DRAIN) {
            slot->state = GPUMP_BLOCK_DRAINING;
        } else {
            gpumpi_sm_save_block(sm, index, &choices[i], now);
        }
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_sm_unpark(gpump_sm *sm, uint64_t now, gpump_block_ref block, gpump_diag *diag) {
    gpumpi_sm_slot *slot;
    gpump_reason reason;
    uint32_t register_base, shared_base, missing;
    gpump_result result = gpumpi_sm_enter(sm, now, block, 1u << GPUMP_BLOCK_PARKED, &slot);
    if (!result && slot->pending) result = GPUMP_ERROR_STATE;
    if (result) return gpumpi_fail(diag, result, result == GPUMP_ERROR_TIME ? "now" : "block", block.slot, now, 0, 0);
    gpump_sm_advance(sm, now);
    if (sm->reserved_for && sm->reserved_for != slot->kernel) return gpumpi_sm_no_room(GPUMP_REASON_RESERVED, diag);
    missing = GPUMP_PARTS_IN_PLACE & ~slot->held;
    reason = gpumpi_sm_active_room(sm, slot->threads);
    if (!reason)
        reason = gpumpi_sm_find_ranges(sm, missing, slot->registers, slot->shared_bytes, &register_base, &shared_base);
    if (reason) return gpumpi_sm_no_room(reason, diag);
    if (missing & GPUMP_PART_REGISTERS) slot->register_base = register_base;
    if (missing & GPUMP_PART_SHARED_MEMORY) slot->shared_base = shared_base;
    slot->held = GPUMP_PARTS_IN_PLACE;
    slot->parts = missing;
    slot->state = GPUMP_BLOCK_RESTORING;
    slot->since = now;
    slot->active = 1;
    sm->blocks++;
    sm->warps += slot->warps;
    sm->threads += slot->threads;
    sm->statistics.unparked++;
    gpumpi_sm_transfer(sm, slot, now, gpumpi_sm_part_bytes(slot, missing));
    gpumpi_sm_post(sm, block.slot, GPUMP_SM_ACTION_RESTORE);
    return GPUMP_OK;
}

/* ---- actions ---- */

/* Takes a block out of its block slot, warp slots and thread slots. */
static void gpumpi_sm_leave(gpump_sm *sm, gpumpi_sm_slot *slot) {
    if (!slot->active) return;
    slot->active = 0;
    sm->blocks--;
    sm->warps -= slot->warps;
    sm->threads -= slot->threads;
}

GPUMP_API gpump_result gpump_sm_next(gpump_sm *sm, uint64_t now, gpump_sm_action *action) {
    gpump_result result = action ? gpump_sm_advance(sm, now) : GPUMP_ERROR_ARGUMENT;
    gpumpi_sm_slot *slot;
    uint32_t index, kind;
    if (result) return result;
    if (!sm->pending) return GPUMP_EMPTY;
    index = gpump_bits_lowest64(sm->pending);
    slot = &gpumpi_sm_slots(sm)[index];
    kind = gpump_bits_lowest64(slot->pending);
    slot->pending &= ~(1u << kind);
    if (!slot->pending) sm->pending &= ~((uint64_t)1 << index);
    memset(action, 0, sizeof *action);
    action->kind = kind;
    action->cookie = slot->cookie;
    action->block.slot = index;
    action->block.generation = slot->generation;
    action->technique = slot->technique;
    action->kernel = slot->kernel;
    action->register_base = slot->register_base;
    action->registers = slot->registers;
    action->shared_base = slot->shared_base;
    action->shared_bytes = slot->shared_bytes;
    action->threads = slot->threads;
    action->warps = slot->warps;
    action->history.executed = slot->executed;
    action->history.cycles = slot->cycles;
    action->history.register_bytes = slot->register_bytes;
    action->history.shared_bytes = slot->shared_context_bytes;
    action->history.clobbered = slot->clobbered;
    if (kind == GPUMP_SM_ACTION_SAVE || kind == GPUMP_SM_ACTION_RESTORE) {
        action->parts = slot->parts;
        action->bytes = slot->moved;
        action->start_cycle = slot->port_start;
        action->end_cycle = slot->port_end;
    } else if (kind == GPUMP_SM_ACTION_PARKED) {
        action->parts = slot->keep;
        gpumpi_sm_leave(sm, slot);
        slot->held = slot->keep;
    } else if (kind == GPUMP_SM_ACTION_FREED) {
        gpumpi_sm_kernel *kernel = &gpumpi_sm_kernels(sm)[gpumpi_sm_find_kernel(sm, slot->kernel)];
        uint32_t generation = slot->generation;
        action->why = slot->why;
        sm->statistics.executed += slot->executed - slot->brought;
        gpumpi_sm_leave(sm, slot);
        if (!--kernel->blocks) memset(kernel, 0, sizeof *kernel);
        memset(slot, 0, sizeof *slot);
        slot->generation = generation + 1u;
    }
    return GPUMP_OK;
}

GPUMP_API uint64_t gpump_sm_next_cycle(const gpump_sm *sm) {
    if (sm->pending) return sm->now;
    return sm->config.timing == GPUMP_SM_TIMING_PORT ? gpumpi_sm_first_end(sm) : GPUMP_UNKNOWN;
}

/* ---- statistics ---- */

GPUMP_API void gpump_sm_get_statistics(const gpump_sm *sm, gpump_sm_statistics *statistics) {
    *statistics = sm->statistics;
}

GPUMP_API void gpump_sm_statistics_diff(const gpump_sm_statistics *earlier, const gpump_sm_statistics *later,
                                        gpump_sm_statistics *difference) {
#define GPUMPI_FIELD(name, unit, description) difference->name = later->name - earlier->name;
    GPUMP_SM_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
}

GPUMP_API gpump_result gpump_sm_statistics_field(const gpump_sm_statistics *statistics, uint32_t index,
                                                 const char **name, const char **unit, const char **description,
                                                 uint64_t *value) {
    static const char *const words[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
        GPUMP_SM_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
    };
    if (!statistics) return GPUMP_ERROR_ARGUMENT;
    if (index >= sizeof words / sizeof words[0]) return GPUMP_EMPTY;
    if (name) *name = words[index][0];
    if (unit) *unit = words[index][1];
    if (description) *description = words[index][2];
    if (value) *value = (&statistics->placed)[index];
    return GPUMP_OK;
}

/* ---- gpump_impl/victim/cost.c ---- */
/* cost: the code behind cost.h */


#define GPUMPI_COST_CPI_MAX UINT32_MAX
#define GPUMPI_COST_STEPS_MAX ((uint64_t)1 << 24)

static uint64_t gpumpi_cost_cpi_of_long(uint64_t executed, uint64_t cycles) {
    if (executed == 0) return GPUMP_UNKNOWN;
    if (cycles < (uint64_t)1 << 47) return (cycles << 16) / executed + ((cycles << 16) % executed != 0);
    return gpump_muldiv_up(cycles, 65536, executed);
}
/* Most blocks fit 32-bit division, which is several times faster. */
GPUMP_INLINE uint64_t gpumpi_cost_cpi(uint64_t executed, uint64_t cycles) {
    uint32_t a = (uint32_t)cycles << 16, b = (uint32_t)executed;
    if (cycles >= 65536 || executed - 1 >= UINT32_MAX) return gpumpi_cost_cpi_of_long(executed, cycles);
    return (uint64_t)(a / b) + (a % b != 0);
}

GPUMP_API uint64_t gpump_cost_cpi_of(uint64_t executed, uint64_t cycles) { return gpumpi_cost_cpi(executed, cycles); }

/* CPI in steps of 1/256 cycle, limited so that 64 squares and their products fit 64 bits. */
static uint64_t gpumpi_cost_steps(uint64_t cpi) {
    return (cpi >> 8) < GPUMPI_COST_STEPS_MAX ? cpi >> 8 : GPUMPI_COST_STEPS_MAX;
}

GPUMP_API uint32_t gpump_cost_history_count(const gpump_cost_history *history) {
    return history->finished < GPUMP_COST_WINDOW ? (uint32_t)history->finished : GPUMP_COST_WINDOW;
}

GPUMP_API void gpump_cost_history_record(gpump_cost_history *history, uint64_t instructions, uint64_t cycles) {
    uint32_t at = (uint32_t)(history->finished % GPUMP_COST_WINDOW);
    uint64_t cpi = gpump_cost_cpi_of(instructions, cycles), steps;
    if (instructions == 0) return;
    if (instructions > (uint64_t)1 << 56) instructions = (uint64_t)1 << 56; /* so that the sum cannot wrap */
    if (cpi > GPUMPI_COST_CPI_MAX) cpi = GPUMPI_COST_CPI_MAX;
    if (history->finished >= GPUMP_COST_WINDOW) {
        steps = gpumpi_cost_steps(history->cpi[at]);
        history->instructions_sum -= history->instructions[at];
        history->cpi_sum -= history->cpi[at];
        history->deviation_sum -= steps;
        history->deviation_squares -= steps * steps;
    }
    steps = gpumpi_cost_steps(cpi);
    history->instructions[at] = instructions;
    history->cpi[at] = (uint32_t)cpi;
    history->instructions_sum += instructions;
    history->cpi_sum += cpi;
    history->deviation_sum += steps;
    history->deviation_squares += steps * steps;
    history->finished++;
}

/* The mean of the window, rounded up. A full window, the usual case, needs no division. */
static uint64_t gpumpi_cost_mean(uint64_t sum, uint32_t n) {
    return n == GPUMP_COST_WINDOW ? (sum + GPUMP_COST_WINDOW - 1) / GPUMP_COST_WINDOW : (sum + n - 1) / n;
}

GPUMP_API uint64_t gpump_cost_history_instructions(const gpump_cost_history *history) {
    return history->finished ? gpumpi_cost_mean(history->instructions_sum, gpump_cost_history_count(history))
                             : GPUMP_UNKNOWN;
}

GPUMP_API uint64_t gpump_cost_history_hash(const gpump_cost_history *history) {
    uint32_t n = gpump_cost_history_count(history);
    uint64_t hash = gpump_hash_u64(GPUMP_HASH_SEED, history->finished);
    hash = gpump_hash_u64s(hash, history->instructions, n);
    return gpump_hash_u32s(hash, history->cpi, n);
}

GPUMP_API uint64_t gpump_cost_history_bits(void) { return GPUMP_COST_WINDOW * (32 + 32) + 5 * 64; }

/* Sums over the blocks of one kernel that are on one SM. */
typedef struct gpumpi_cost_running {
    uint64_t count, executed, cycles, deviation_sum, deviation_squares;
} gpumpi_cost_running;

/* Compares the sample variances of two sets of 2 to 64 steps by cross-multiplication: (n S2 - S1^2) / (n (n - 1)). */
static int gpumpi_cost_compare_variance(uint64_t na, uint64_t a1, uint64_t a2, uint64_t nb, uint64_t b1, uint64_t b2) {
    uint64_t a = na * a2 - a1 * a1, b = nb * b2 - b1 * b1;
    if ((a | b) >> 52) return gpump_compare_products(a, nb * (nb - 1), b, na * (na - 1));
    a *= nb * (nb - 1);
    b *= na * (na - 1);
    return a < b ? -1 : a > b;
}

static gpump_cost_cpi gpumpi_cost_source(const gpump_cost_history *history, const gpumpi_cost_running *running) {
    uint32_t finished = history ? gpump_cost_history_count(history) : 0;
    if (running->count < 2) return finished < 2 ? GPUMP_COST_CPI_SOURCES : GPUMP_COST_CPI_FINISHED;
    if (finished < 2) return GPUMP_COST_CPI_RUNNING;
    return gpumpi_cost_compare_variance(running->count, running->deviation_sum, running->deviation_squares, finished,
                                        history->deviation_sum, history->deviation_squares) <= 0
               ? GPUMP_COST_CPI_RUNNING
               : GPUMP_COST_CPI_FINISHED;
}

/* Sums over those blocks of `which` that run `kernel`, and their CPIs. Returns these blocks. */
static uint64_t gpumpi_cost_survey(const gpump_block_view *blocks, uint64_t which, uint32_t kernel, uint64_t *cpi,
                                   gpumpi_cost_running *running) {
    uint64_t mine = which, idle = 0, executed = 0, cycles = 0, sum = 0, squares = 0, rest;
    for (rest = which; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        uint64_t steps;
        if (blocks[i].kernel != kernel) {
            mine &= ~(rest & (0 - rest));
            continue;
        }
        cpi[i] = gpumpi_cost_cpi(blocks[i].executed, blocks[i].cycles);
        executed += blocks[i].executed;
        cycles += blocks[i].cycles;
        steps = cpi[i] >> 8;
        if (steps >= GPUMPI_COST_STEPS_MAX) {
            steps = cpi[i] == GPUMP_UNKNOWN ? 0 : GPUMPI_COST_STEPS_MAX;
            idle += cpi[i] == GPUMP_UNKNOWN;
        }
        sum += steps;
        squares += steps * steps;
    }
    running->count = gpump_bits_count64(mine) - idle;
    running->executed = executed;
    running->cycles = cycles;
    running->deviation_sum = sum;
    running->deviation_squares = squares;
    return mine;
}

static uint64_t gpumpi_cost_all(uint32_t count) { return count ? ~(uint64_t)0 >> (64 - (count < 64 ? count : 64)) : 0; }

GPUMP_API gpump_cost_cpi gpump_cost_cpi_source(const gpump_cost_history *history, const gpump_block_view *blocks,
                                               uint32_t count, uint32_t kernel) {
    gpumpi_cost_running running;
    uint64_t cpi[64];
    gpumpi_cost_survey(blocks, gpumpi_cost_all(count), kernel, cpi, &running);
    return gpumpi_cost_source(history, &running);
}

/* a x Q16.16, rounded up, saturated; GPUMP_UNKNOWN stays unknown. */
static uint64_t gpumpi_cost_times(uint64_t a, uint64_t q) {
    if ((a | q) <= UINT32_MAX) return (a * q + 65535) >> 16;
    if (a == GPUMP_UNKNOWN || q == GPUMP_UNKNOWN) return GPUMP_UNKNOWN;
    return gpump_muldiv_up(a, q, 65536);
}

/* The SM waits for the last block that can be drained in time (Chimera). Until then the slots of the other blocks are
 * idle. */
static void gpumpi_cost_charge_drains(uint64_t blocks, uint64_t limit, uint64_t ipc, gpump_cost_estimate *estimates) {
    uint64_t last = 0, rest;
    for (rest = blocks; rest; rest &= rest - 1) {
        uint64_t latency = estimates[gpump_bits_lowest64(rest)].latency[GPUMP_TECHNIQUE_DRAIN];
        if (latency != GPUMP_UNKNOWN && latency <= limit && latency > last) last = latency;
    }
    for (rest = blocks; rest; rest &= rest - 1) {
        gpump_cost_estimate *e = &estimates[gpump_bits_lowest64(rest)];
        if (e->latency[GPUMP_TECHNIQUE_DRAIN] < last)
            e->overhead[GPUMP_TECHNIQUE_DRAIN] = gpumpi_cost_times(last - e->latency[GPUMP_TECHNIQUE_DRAIN], ipc);
    }
}

GPUMP_API gpump_result gpump_cost_estimate_blocks(const gpump_gpu *gpu, const gpump_cost_history *histories,
                                                  uint32_t history_count, const gpump_block_view *blocks,
                                                  uint32_t count, const gpump_cost_rewind *rewind,
                                                  const gpump_cost_options *options, gpump_cost_estimate *estimates,
                                                  gpump_diag *diag) {
    static const gpump_cost_options published = {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0};
    uint64_t cpi[64], todo;
    if (!options) options = &published;
    if (!gpu || (count && (!blocks || !estimates)))
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "gpu, blocks or estimates", 0, 0, 1, UINT64_MAX);
    if (count > 64) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "count", 0, count, 0, 64);
    if (options->cpi >= GPUMP_COST_CPI_SOURCES)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "options.cpi", 0, options->cpi, 0, GPUMP_COST_CPI_SOURCES - 1);
    /* Kernel by kernel: every mean is over the blocks of one kernel on this SM. */
    for (todo = gpumpi_cost_all(count); todo;) {
        const gpump_cost_history *history;
        gpumpi_cost_running running;
        uint32_t kernel = blocks[gpump_bits_lowest64(todo)].kernel, source = options->cpi, i;
        uint64_t mean_length = GPUMP_UNKNOWN, longest, pace = GPUMP_UNKNOWN, ipc, mine, rest, bytes, save,
                 save_overhead;
        mine = gpumpi_cost_survey(blocks, todo, kernel, cpi, &running);
        todo &= ~mine;
        history = histories && kernel < history_count && histories[kernel].finished ? &histories[kernel] : NULL;
        if (source == GPUMP_COST_CPI_SMALLER_DEVIATION) source = gpumpi_cost_source(history, &running);
        if (history) {
            mean_length = gpump_cost_history_instructions(history);
            if (source == GPUMP_COST_CPI_FINISHED)
                pace = gpumpi_cost_mean(history->cpi_sum, gpump_cost_history_count(history));
        }
        longest = mean_length;
        for (i = 0; history && (options->flags & GPUMP_COST_DRAIN_CAREFUL) && i < gpump_cost_history_count(history);
             i++)
            if (history->instructions[i] > longest) longest = history->instructions[i];
        ipc = gpumpi_cost_cpi(running.cycles,
                              running.executed); /* Q16.16; warp instructions per cycle of a block: the mean here */
        bytes = blocks[gpump_bits_lowest64(mine)].context_bytes;
        save = gpump_gpu_save_cycles(gpu, bytes);
        save_overhead = gpumpi_cost_times(gpump_add_saturated(save, save), ipc);
        for (rest = mine; rest; rest &= rest - 1) {
            uint32_t at = gpump_bits_lowest64(rest);
            const gpump_block_view *block = &blocks[at];
            gpump_cost_estimate *e = &estimates[at];
            uint64_t length = block->may >> GPUMP_TECHNIQUE_FLUSH & 1u ? mean_length : longest;
            uint64_t each = source == GPUMP_COST_CPI_RUNNING ? cpi[at] : pace, executed = block->executed;
            if (block->context_bytes != bytes) { /* a kernel's blocks mostly have contexts of the same size */
                bytes = block->context_bytes;
                save = gpump_gpu_save_cycles(gpu, bytes);
                save_overhead = gpumpi_cost_times(gpump_add_saturated(save, save), ipc);
            }
            e->latency[GPUMP_TECHNIQUE_FLUSH] = 0;
            e->overhead[GPUMP_TECHNIQUE_FLUSH] = executed;
            e->latency[GPUMP_TECHNIQUE_SWITCH] = save;
            e->overhead[GPUMP_TECHNIQUE_SWITCH] = save_overhead;
            e->latency[GPUMP_TECHNIQUE_DRAIN] =
                length == GPUMP_UNKNOWN ? GPUMP_UNKNOWN
                                        : gpumpi_cost_times(length > executed ? length - executed : 0, each);
            e->overhead[GPUMP_TECHNIQUE_DRAIN] = e->latency[GPUMP_TECHNIQUE_DRAIN] == GPUMP_UNKNOWN ? GPUMP_UNKNOWN : 0;
            e->latency[GPUMP_TECHNIQUE_REWIND] = e->overhead[GPUMP_TECHNIQUE_REWIND] = GPUMP_UNKNOWN;
        }
        for (rest = rewind ? mine : 0; rest; rest &= rest - 1) {
            uint32_t at = gpump_bits_lowest64(rest);
            uint64_t cycles = gpump_gpu_save_cycles(gpu, rewind[at].bytes);
            estimates[at].latency[GPUMP_TECHNIQUE_REWIND] = cycles;
            estimates[at].overhead[GPUMP_TECHNIQUE_REWIND] =
                gpump_add_saturated(rewind[at].executed, gpumpi_cost_times(gpump_add_saturated(cycles, cycles), ipc));
        }
        if (options->flags & GPUMP_COST_DRAIN_LOSES)
            gpumpi_cost_charge_drains(mine, options->limit_cycles, ipc, estimates);
    }
    return GPUMP_OK;
}

GPUMP_API uint64_t gpump_cost_port(const uint64_t *cycles, uint32_t count, uint32_t *order, uint64_t *finish) {
    uint64_t now = 0;
    uint32_t i, j;
    for (i = 0; i < count; i++) {
        for (j = i; j > 0 && cycles[order[j - 1]] > cycles[i]; j--) order[j] = order[j - 1];
        order[j] = i;
    }
    for (i = 0; i < count; i++) {
        now = gpump_add_saturated(now, cycles[order[i]]);
        finish[order[i]] = now;
    }
    return now;
}

/* ---- gpump_impl/victim/victim_positions.c ---- */


/* ---- geometry and candidate sets ---- */

/* x * factor >> 40 is x / divisor, for x and divisor below 2^20. */
static uint64_t gpumpi_victim_factor(uint32_t divisor) {
    return divisor ? (((uint64_t)1 << 40) + divisor - 1) / divisor : 0;
}

GPUMP_API gpump_result gpump_victim_geometry_init(gpump_victim_geometry *geometry, const gpump_gpu *gpu,
                                                  const gpump_footprint *need, uint32_t shared_bytes,
                                                  gpump_diag *diag) {
    gpump_gpu fixed;
    gpump_occupancy occupancy;
    gpump_result result;
    uint32_t positions = GPUMP_VICTIM_POSITIONS;
    if (!geometry || !gpu || !need)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "geometry, gpu or need", 0, 0, 1, UINT64_MAX);
    if (gpu->registers >= 1u << 20)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "registers", 0, gpu->registers, 0, (1u << 20) - 1);
    if (shared_bytes >= 1u << 20)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "shared_bytes", 0, shared_bytes, 0, (1u << 20) - 1);
    fixed = *gpu;
    fixed.shared_option_count = 1;
    fixed.shared_bytes[0] = shared_bytes;
    result = gpump_gpu_occupancy(&fixed, need, &occupancy, diag);
    if (result != GPUMP_OK) return result;
    if (occupancy.blocks == 0) return gpumpi_refuse(diag, GPUMP_REASON_NEVER_FITS, "need", 0);
    if (occupancy.registers && gpu->registers / occupancy.registers < positions)
        positions = gpu->registers / occupancy.registers;
    if (occupancy.block_shared_bytes && shared_bytes / occupancy.block_shared_bytes < positions)
        positions = shared_bytes / occupancy.block_shared_bytes;
    if (!occupancy.registers && !occupancy.block_shared_bytes) positions = occupancy.blocks;
    geometry->register_factor = gpumpi_victim_factor(occupancy.registers);
    geometry->shared_factor = gpumpi_victim_factor(occupancy.block_shared_bytes);
    geometry->positions = positions;
    geometry->registers = occupancy.registers;
    geometry->shared_bytes = occupancy.block_shared_bytes;
    geometry->warps = occupancy.warps;
    geometry->threads = need->threads;
    geometry->blocks = occupancy.blocks;
    geometry->warp_slots = gpu->warp_slots;
    geometry->thread_slots = gpu->thread_slots;
    geometry->block_slots = gpu->block_slots;
    geometry->unused = 0;
    geometry->register_file = gpu->registers;
    geometry->shared_memory_bytes = shared_bytes;
    geometry->entries = gpu->block_slots > GPUMP_VICTIM_BLOCKS / 2 ? GPUMP_VICTIM_BLOCKS : gpu->block_slots * 2;
    return GPUMP_OK;
}

GPUMP_API uint64_t gpumpi_victim_mark_kept(const gpump_victim_geometry *geometry, const gpump_block_view *block,
                                           uint64_t mark, uint64_t *sets) {
    uint64_t kept[GPUMP_VICTIM_POSITIONS], positions = 0;
    uint32_t keeps = gpumpi_victim_keeps(block), p;
    memset(kept, 0, sizeof kept);
    gpumpi_victim_mark_parts(geometry, block, GPUMP_PARTS_IN_PLACE & ~keeps, mark, sets);
    gpumpi_victim_mark_parts(geometry, block, keeps, 1, kept);
    for (p = 0; p < geometry->positions; p++) positions |= kept[p] << p;
    return positions;
}

GPUMP_API void gpump_victim_candidates(const gpump_victim_geometry *geometry, const gpump_block_view *blocks,
                                       uint32_t count, uint32_t kernel, uint64_t *sets, uint64_t *taken) {
    uint64_t own = 0, kept = 0;
    uint32_t i;
    memset(sets, 0, geometry->positions * sizeof *sets);
    for (i = 0; i < count; i++) {
        if (gpumpi_victim_keeps(&blocks[i]))
            kept |= gpumpi_victim_mark_kept(geometry, &blocks[i], (uint64_t)1 << i, sets);
        else
            gpumpi_victim_mark_parts(geometry, &blocks[i], GPUMP_PARTS_IN_PLACE, (uint64_t)1 << i, sets);
        if (blocks[i].kernel == kernel) own |= (uint64_t)1 << i;
    }
    *taken = gpumpi_victim_take_out(own, geometry->positions, sets) | kept;
}

GPUMP_API void gpump_victim_candidates_update(uint64_t *sets, uint32_t positions, uint64_t preempted) {
    uint32_t p;
    for (p = 0; p < positions; p++) sets[p] &= ~preempted;
}

/* ---- storage ---- */

static uint32_t gpumpi_victim_width(uint32_t values) {
    uint32_t bits = 0;
    while (values > 1 && bits < 32 && (uint64_t)1 << bits < values) bits++;
    return bits;
}

GPUMP_API gpump_result gpump_victim_config_preset(gpump_victim_config *config, const char *preset) {
    gpump_gpu gpu;
    gpump_result result;
    uint32_t largest, i;
    if (!config) return GPUMP_ERROR_ARGUMENT;
    result = gpump_gpu_config_preset(&gpu, preset);
    if (result != GPUMP_OK) return result;
    memset(config, 0, sizeof *config);
    config->struct_size = (uint32_t)sizeof *config;
    config->sms = gpu.sms;
    config->counter_bits = 32;
    if (!strcmp(preset, "gtx480_shieh")) {
        config->positions = 64;
        config->address_bits = 16;
        config->candidates = config->blocks = 16;
        return GPUMP_OK;
    }
    largest = gpu.registers;
    for (i = 0; i < gpu.shared_option_count; i++)
        if (gpu.shared_bytes[i] > largest) largest = gpu.shared_bytes[i];
    config->positions = GPUMP_VICTIM_POSITIONS;
    config->address_bits = gpumpi_victim_width(largest);
    config->candidates = config->blocks = gpu.block_slots;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_victim_bits(const gpump_victim_config *config, uint64_t *bits, gpump_diag *diag) {
    uint64_t sm_bits, gpu_bits;
    gpump_result result = gpump_victim_table_bits(config, &sm_bits, &gpu_bits, diag);
    if (result != GPUMP_OK) return result;
    if (!bits) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bits", 0, 0, 1, UINT64_MAX);
    *bits = sm_bits * config->sms + gpu_bits;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_victim_table_bits(const gpump_victim_config *config, uint64_t *sm_bits, uint64_t *gpu_bits,
                                               gpump_diag *diag) {
    uint64_t id;
    if (!config || !sm_bits || !gpu_bits)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "config, sm_bits or gpu_bits", 0, 0, 1, UINT64_MAX);
    if (config->struct_size != sizeof *config)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "struct_size", 0, config->struct_size, sizeof *config,
                           sizeof *config);
    id = gpumpi_victim_width(config->blocks);
    *sm_bits = (uint64_t)2 * config->address_bits * config->positions + id * config->blocks * config->candidates +
               (uint64_t)(2 * config->counter_bits + 1) * config->blocks;
    *gpu_bits = id * config->blocks * config->sms;
    return GPUMP_OK;
}

/* ---- gpump_impl/victim/victim_greedy.c ---- */


/* The blocks of one SM once each has its technique. */
typedef struct gpumpi_victim_priced {
    uint64_t latency[GPUMP_VICTIM_BLOCKS];
    uint64_t overhead[GPUMP_VICTIM_BLOCKS];
    uint64_t late; /* blocks that no technique gets out in time */
    uint64_t ask_again;
    uint8_t technique[GPUMP_VICTIM_BLOCKS];
} gpumpi_victim_priced;

/* Prices every block of `which`. A hook's answer outside `allowed` makes the block NO_TECHNIQUE; the check of the plan
 * names it. */
static void gpumpi_victim_price(const gpump_victim_policy *policy, const gpump_victim_request *request,
                                const gpump_victim_sm *sm, uint64_t which, const uint8_t *allowed, uint64_t left,
                                gpumpi_victim_priced *priced) {
    const gpump_cost_estimate *estimates = sm->estimates;
    uint64_t late = 0, rest;
    priced->ask_again = GPUMP_UNKNOWN;
    for (rest = policy->technique ? 0 : which; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        gpumpi_victim_pick pick = gpumpi_victim_pick_technique(&estimates[i], allowed[i], left);
        priced->technique[i] = (uint8_t)pick.technique;
        priced->latency[i] = estimates[i].latency[pick.technique];
        priced->overhead[i] = estimates[i].overhead[pick.technique];
        late |= pick.rank >> 63 << i;
    }
    for (rest = policy->technique ? which : 0; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t;
        gpump_victim_technique_args args;
        args.policy = policy;
        args.request = request;
        args.block = &sm->blocks[i];
        args.estimate = &estimates[i];
        args.allowed = allowed[i];
        args.draining = sm->blocks[i].state == GPUMP_BLOCK_DRAINING;
        args.left = left;
        args.ask_again = &priced->ask_again;
        t = policy->technique(&args);
        priced->technique[i] = (uint8_t)(t < GPUMP_TECHNIQUES ? t : GPUMP_VICTIM_NO_TECHNIQUE);
        priced->latency[i] = t < GPUMP_TECHNIQUES ? estimates[i].latency[t] : GPUMP_UNKNOWN;
        priced->overhead[i] = t < GPUMP_TECHNIQUES ? estimates[i].overhead[t] : GPUMP_UNKNOWN;
        if (priced->latency[i] > left || priced->latency[i] == GPUMP_UNKNOWN) late |= (uint64_t)1 << i;
    }
    priced->late = late;
}

/* ---- one candidate: Algorithm 1 ---- */

/* The rank of a candidate (Algorithm 1, lines 21 to 26). */
GPUMP_INLINE uint64_t gpumpi_victim_rank_of(const gpump_victim_candidate *c) {
    return gpumpi_victim_rank(!c->late, c->latency, c->overhead);
}

/* 1 when candidate a is preferred to candidate b of the same rank. A tie goes to the lower position. */
static int gpumpi_victim_breaks_tie(const gpump_victim_candidate *a, const gpump_victim_candidate *b) {
    if (a->late) return a->overhead < b->overhead;
    return a->latency != b->latency ? a->latency < b->latency : !a->victims && b->victims;
}

static int gpumpi_victim_better(const gpump_victim_candidate *a, const gpump_victim_candidate *b) {
    uint64_t x = gpumpi_victim_rank_of(a), y = gpumpi_victim_rank_of(b);
    return x != y ? x < y : gpumpi_victim_breaks_tie(a, b);
}

/* Sums up a set of victims. The blocks of `waits` leave without a decision, but the position is free only after them.
 */
GPUMP_INLINE void gpumpi_victim_sum(const gpumpi_victim_priced *priced, uint64_t set, uint64_t waits,
                                    gpump_victim_candidate *candidate) {
    uint64_t latency = 0, overhead = 0, late = (set | waits) & priced->late;
    candidate->victims = set;
    candidate->late = late ? gpump_bits_count64(late) : 0;
    for (; set; set &= set - 1) {
        uint32_t i = gpump_bits_lowest64(set);
        if (priced->latency[i] > latency) latency = priced->latency[i];
        overhead = gpump_add_saturated(overhead, priced->overhead[i]);
    }
    for (; waits; waits &= waits - 1) {
        uint32_t i = gpump_bits_lowest64(waits);
        if (priced->latency[i] > latency) latency = priced->latency[i];
    }
    candidate->latency = latency;
    candidate->overhead = overhead;
}

static uint32_t gpumpi_victim_ask_candidate(const gpump_victim_policy *policy, const gpump_victim_request *request,
                                            const gpump_victim_candidate *candidates, uint32_t count) {
    gpump_victim_candidate_args args;
    args.policy = policy;
    args.request = request;
    args.candidates = candidates;
    args.count = count;
    return policy->candidate(&args);
}

GPUMP_API gpump_result gpump_victim_select(const gpump_victim_policy *policy, const gpump_victim_request *request,
                                           const gpump_victim_sm *sm, const uint64_t *sets, uint32_t positions,
                                           uint64_t open, uint8_t *technique, gpump_victim_candidate *chosen) {
    gpumpi_victim_priced priced;
    gpump_victim_candidate candidates[GPUMP_VICTIM_POSITIONS];
    uint8_t allowed[GPUMP_VICTIM_BLOCKS];
    uint64_t all = 0, fixed = 0, left, rest;
    uint32_t p, i, count = 0, best = 0;
    if (!policy || !request || !sm || !sets || !technique || !chosen || positions > GPUMP_VICTIM_POSITIONS ||
        sm->count > GPUMP_VICTIM_BLOCKS || (sm->count && (!sm->blocks || !sm->estimates)))
        return GPUMP_ERROR_ARGUMENT;
    left = gpumpi_victim_left(request);
    memset(allowed, 0, sizeof allowed);
    for (p = 0; p < positions; p++)
        if (open >> p & 1u) all |= sets[p];
    if (all && (sm->count == 0 || all >> (sm->count - 1) > 1))
        return GPUMP_ERROR_ARGUMENT; /* a block not in the view */
    for (rest = all; rest; rest &= rest - 1) {
        i = gpump_bits_lowest64(rest);
        allowed[i] = (uint8_t)(sm->blocks[i].may & policy->techniques);
        if (!allowed[i]) fixed |= (uint64_t)1 << i;
    }
    memset(technique, (int)GPUMP_VICTIM_NO_TECHNIQUE, sm->count);
    gpumpi_victim_price(policy, request, sm, all & ~fixed, allowed, left, &priced);
    for (rest = all & ~fixed; rest; rest &= rest - 1) {
        i = gpump_bits_lowest64(rest);
        technique[i] = priced.technique[i];
    }
    for (p = 0; p < positions; p++) {
        gpump_victim_candidate *c = &candidates[count];
        if (!(open >> p & 1u) || (sets[p] & fixed)) continue;
        gpumpi_victim_sum(&priced, sets[p], 0, c);
        c->position = p;
        if (count == 0 || gpumpi_victim_better(c, &candidates[best])) best = count;
        count++;
    }
    if (count == 0) return GPUMP_EMPTY;
    if (policy->candidate) {
        best = gpumpi_victim_ask_candidate(policy, request, candidates, count);
        if (best >= count) return GPUMP_ERROR_REFUSED;
    }
    *chosen = candidates[best];
    return GPUMP_OK;
}

/* ---- positions until the request is met ---- */

GPUMP_API uint64_t gpumpi_victim_closure(const gpump_victim_sm *sm, uint64_t set) {
    uint64_t all = set, rest;
    uint32_t i;
    for (rest = set; rest; rest &= rest - 1) {
        const gpump_block_view *block = &sm->blocks[gpump_bits_lowest64(rest)];
        if (!block->group || !gpump_block_stays(block->state)) continue; /* a parked one has left already */
        for (i = 0; i < sm->count; i++) {
            const gpump_block_view *mate = &sm->blocks[i];
            if (mate->group == block->group && mate->kernel == block->kernel && gpump_block_stays(mate->state))
                all |= (uint64_t)1 << i;
        }
    }
    return all;
}

GPUMP_API gpump_victim_plan_args gpumpi_victim_args_within(const gpump_victim_plan_args *args, uint64_t limit) {
    gpump_victim_plan_args within = *args;
    gpumpi_victim_room room;
    uint64_t rest, late = 0;
    for (rest = args->leaving; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        if (gpump_block_freed_after(&args->sm->blocks[i], args->sm->estimates[i].latency) > limit)
            late |= (uint64_t)1 << i;
    }
    room = gpumpi_victim_room_without(args, late);
    within.free_warps = room.warps;
    within.free_threads = room.threads;
    within.free_slots = room.slots;
    within.free_entries = room.slots + room.spare;
    within.leaving &= ~late;
    within.fixed |= late;
    return within;
}

/* Blocks that a policy may choose, best first under Algorithm 1's rule; `late` are those that are late themselves or
 * must leave together with one that is. */
static uint32_t gpumpi_victim_sort(const gpumpi_victim_priced *priced, uint64_t which, uint64_t late, uint8_t *order) {
    uint32_t n = 0, j;
    for (; which; which &= which - 1) {
        uint32_t i = gpump_bits_lowest64(which);
        uint64_t rank = gpumpi_victim_rank(!(late >> i & 1u), priced->latency[i], priced->overhead[i]);
        for (j = n++; j > 0; j--) {
            uint32_t o = order[j - 1];
            if (gpumpi_victim_rank(!(late >> o & 1u), priced->latency[o], priced->overhead[o]) <= rank) break;
            order[j] = (uint8_t)o;
        }
        order[j] = (uint8_t)i;
    }
    return n;
}

/* Adds the best blocks of `order` to a set until `positions` more positions fit. Then drops the blocks that are not
 * needed. Returns the extended set, or 0 when no set suffices. */
static uint64_t gpumpi_victim_fill(const gpump_victim_plan_args *args, const uint8_t *order, uint32_t n, uint64_t gone,
                                   int groups, uint64_t set, gpumpi_victim_room room, uint32_t positions) {
    uint64_t added = 0, rest;
    uint32_t k;
    for (k = 0; k < n && !gpumpi_victim_suffices(args->geometry, &room, positions); k++) {
        uint64_t more = (uint64_t)1 << order[k];
        if (more & (gone | set | added)) continue;
        if (groups) {
            more = gpumpi_victim_closure(args->sm, more) & ~args->leaving;
            if (more & args->fixed) continue;
            more &= ~(set | added | gone);
        }
        added |= more;
        gpumpi_victim_release(args, more, &room);
    }
    if (!gpumpi_victim_suffices(args->geometry, &room, positions)) return 0;
    for (rest = groups ? 0 : added; rest && gpump_bits_count64(added) > 1; rest &= rest - 1) {
        gpumpi_victim_room without = gpumpi_victim_room_minus(args, room, rest & (0 - rest));
        if (gpumpi_victim_suffices(args->geometry, &without, positions)) {
            room = without;
            added &= ~(rest & (0 - rest));
        }
    }
    return set | added;
}

/* Returns 1 when all positions that the plan takes are free before the deadline. */
static int gpumpi_victim_greedy(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    const gpump_victim_policy *policy = args->policy;
    gpumpi_victim_priced priced;
    gpump_victim_candidate candidates[GPUMP_VICTIM_POSITIONS]; /* by position */
    uint8_t order[GPUMP_VICTIM_BLOCKS];
    gpumpi_victim_room room;
    const uint64_t *sets = args->sets;
    uint64_t gone = args->leaving, open = args->open, waiting = ~(uint64_t)0, rest;
    uint32_t ordered = GPUMP_NONE, taken;
    int groups = args->groups != 0, in_time = 1;
    gpumpi_victim_price(policy, args->request, args->sm, args->choosable, args->allowed, args->left, &priced);
    plan->positions = plan->victims = 0;
    plan->ask_again = priced.ask_again;
    if (policy->flags & GPUMP_VICTIM_EVICTED) waiting = 0;
    for (rest = args->leaving & waiting; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        priced.latency[i] = gpump_block_freed_after(&args->sm->blocks[i], args->sm->estimates[i].latency);
        if (priced.latency[i] > args->left || priced.latency[i] == GPUMP_UNKNOWN) priced.late |= (uint64_t)1 << i;
    }
    room = gpumpi_victim_room_without(args, 0);
    for (taken = 0; taken < args->want; taken++) {
        const gpump_victim_candidate *best = NULL;
        gpumpi_victim_room after = room;
        uint64_t best_rank = GPUMP_UNKNOWN;
        int fits;
        for (rest = open; rest; rest &= rest - 1) {
            uint32_t p = gpump_bits_lowest64(rest);
            gpump_victim_candidate *c = &candidates[p];
            uint64_t rank;
            if (taken == 0 || (c->victims & gone)) { /* only those that the last choice has changed */
                uint64_t set = sets[p] & ~gone;
                if (groups) set = gpumpi_victim_closure(args->sm, set) & ~gone;
                if (set & args->fixed) {
                    open &= ~((uint64_t)1 << p);
                    continue;
                }
                gpumpi_victim_sum(&priced, set, sets[p] & gone & waiting, c);
                c->position = p;
            }
            rank = gpumpi_victim_rank_of(c);
            if (rank > best_rank || (rank == best_rank && best && !gpumpi_victim_breaks_tie(c, best))) continue;
            best = c;
            best_rank = rank;
        }
        if (!best) break;
        gpumpi_victim_release(args, best->victims, &after);
        fits = gpumpi_victim_suffices(args->geometry, &after, 1);
        if (!fits || (policy->candidate && (best->victims || best->latency))) {
            /* What a position does not hold of warps, threads or slots costs further victims: that may change the
             * order. */
            gpump_victim_candidate shown[GPUMP_VICTIM_POSITIONS];
            uint32_t count = 0, pick = 0;
            if (ordered == GPUMP_NONE)
                ordered =
                    gpumpi_victim_sort(&priced, args->choosable,
                                       groups ? gpumpi_victim_closure(args->sm, priced.late) : priced.late, order);
            for (rest = open; rest; rest &= rest - 1) {
                uint32_t p = gpump_bits_lowest64(rest);
                uint64_t set = candidates[p].victims;
                after = room;
                gpumpi_victim_release(args, set, &after);
                shown[count] = candidates[p];
                if (!gpumpi_victim_suffices(args->geometry, &after, 1)) {
                    set = gpumpi_victim_fill(args, order, ordered, gone, groups, set, after, 1);
                    if (!set) { /* not even with everyone out */
                        open &= ~((uint64_t)1 << p);
                        continue;
                    }
                    gpumpi_victim_sum(&priced, set, sets[p] & gone & waiting, &shown[count]);
                }
                if (gpumpi_victim_better(&shown[count], &shown[pick])) pick = count;
                count++;
            }
            if (policy->candidate && count) pick = gpumpi_victim_ask_candidate(policy, args->request, shown, count);
            if (pick >= count) break;
            candidates[shown[pick].position] = shown[pick];
            best = &candidates[shown[pick].position];
            after = room;
            gpumpi_victim_release(args, best->victims, &after);
        }
        in_time &= !best->late;
        plan->positions |= (uint64_t)1 << best->position;
        plan->victims |= best->victims;
        open &= ~((uint64_t)1 << best->position);
        gone |= best->victims;
        room.warps = after.warps - args->geometry->warps;
        room.threads = after.threads - args->geometry->threads;
        room.slots = after.slots - 1;
        room.spare = after.spare;
    }
    for (rest = plan->victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        plan->technique[i] = priced.technique[i];
    }
    return in_time;
}

GPUMP_API void gpump_victim_plan_greedy(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    if (args->leaving && !(args->policy->flags & GPUMP_VICTIM_EVICTED)) {
        /* The first attempt leaves out the room of blocks that leave too late. The second attempt counts only when it
         * gives more positions. */
        gpump_victim_plan_args within = gpumpi_victim_args_within(args, args->left);
        gpump_victim_plan sure;
        if (gpumpi_victim_greedy(&within, &sure)) {
            uint32_t positions = gpump_bits_count64(sure.positions);
            if (positions < args->want) gpumpi_victim_greedy(args, plan);
            if (positions == args->want || gpump_bits_count64(plan->positions) <= positions) *plan = sure;
            return;
        }
    }
    gpumpi_victim_greedy(args, plan);
}

GPUMP_API void gpumpi_victim_plan_each(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpumpi_victim_priced priced;
    uint64_t rest;
    gpumpi_victim_price(args->policy, args->request, args->sm, args->choosable, args->allowed, args->left, &priced);
    plan->victims = args->choosable;
    plan->ask_again = priced.ask_again;
    for (rest = args->choosable; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        plan->technique[i] = priced.technique[i];
    }
}

/* Policies that, like Chimera, evict all blocks of an SM or none. Positions are taken from the lowest. */
GPUMP_API void gpumpi_victim_plan_whole(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpumpi_victim_room room;
    uint64_t rest;
    uint32_t taken;
    plan->positions = plan->victims = 0;
    plan->ask_again = GPUMP_UNKNOWN;
    if (args->fixed) return;
    if (args->policy->plan) {
        args->policy->plan(args, plan);
        return;
    }
    room = gpumpi_victim_room_without(args, 0);
    gpumpi_victim_release(args, args->choosable, &room);
    for (rest = args->open, taken = 0;
         rest && taken < args->want && gpumpi_victim_suffices(args->geometry, &room, taken + 1);
         rest &= rest - 1, taken++)
        plan->positions |= rest & (0 - rest);
    if (plan->positions) gpumpi_victim_plan_each(args, plan);
}

/* ---- gpump_impl/victim/victim_exact.c ---- */


/* ---- the exact plan ---- */

typedef struct gpumpi_victim_search {
    const gpump_victim_plan_args *args;
    const uint64_t *overhead; /* per block */
    uint64_t usable;          /* blocks that may be chosen */
    uint64_t sets[GPUMP_VICTIM_POSITIONS];
    uint64_t alone[GPUMP_VICTIM_POSITIONS]; /* overhead of the blocks that lie on this position only */
    uint8_t position[GPUMP_VICTIM_POSITIONS];
    uint8_t item[GPUMP_VICTIM_BLOCKS]; /* usable blocks, cheapest first */
    uint32_t positions, items, want;
    uint32_t nodes;
    int groups;
    uint64_t most; /* overhead at most */
    uint64_t best_overhead, best_positions, best_victims;
    int found;
} gpumpi_victim_search;

static uint64_t gpumpi_victim_total(const gpumpi_victim_search *search, uint64_t set) {
    uint64_t sum = 0;
    for (; set; set &= set - 1) sum = gpump_add_saturated(sum, search->overhead[gpump_bits_lowest64(set)]);
    return sum;
}

/* Fills up warps, threads and slots at least overhead, from item k on. */
static void gpumpi_victim_search_fill(gpumpi_victim_search *search, uint64_t positions, uint64_t victims,
                                      uint64_t overhead, uint32_t k) {
    const gpump_victim_plan_args *args = search->args;
    gpumpi_victim_room room;
    if (overhead > search->most || (search->found && overhead >= search->best_overhead)) return;
    room = gpumpi_victim_room_without(args, 0);
    gpumpi_victim_release(args, victims, &room);
    if (gpumpi_victim_suffices(args->geometry, &room, search->want)) {
        search->found = 1;
        search->best_overhead = overhead;
        search->best_positions = positions;
        search->best_victims = victims;
        return;
    }
    for (; k < search->items && search->nodes > 0; k++) {
        uint64_t more = (uint64_t)1 << search->item[k];
        if (more & victims) continue;
        if (search->groups) {
            more = gpumpi_victim_closure(args->sm, more) & ~args->leaving;
            if (more & ~search->usable) continue;
            more &= ~victims;
        }
        search->nodes--;
        gpumpi_victim_search_fill(search, positions, victims | more,
                                  gpump_add_saturated(overhead, gpumpi_victim_total(search, more)), k + 1);
        /* Blocks of equal size free the same room, so trying the cheapest first is enough. */
        {
            const gpump_block_view *a = &args->sm->blocks[search->item[k]];
            uint32_t j, alike = !search->groups;
            for (j = k + 1; j < search->items && alike; j++) {
                const gpump_block_view *b = &args->sm->blocks[search->item[j]];
                alike = b->warps == a->warps && b->threads == a->threads;
            }
            if (alike) return;
        }
    }
}

static void gpumpi_victim_search_positions(gpumpi_victim_search *search, uint32_t k, uint32_t chosen,
                                           uint64_t positions, uint64_t victims) {
    uint64_t overhead = gpumpi_victim_total(search, victims), bound = overhead;
    uint32_t i, missing = search->want - chosen;
    if (search->nodes == 0) return;
    search->nodes--;
    if (missing == 0) {
        gpumpi_victim_search_fill(search, positions, victims, overhead, 0);
        return;
    }
    if (search->positions - k < missing) return;
    /* Positions are sorted by the overhead of the blocks that lie on them alone, so the next `missing` positions are a
     * lower bound of the overhead still to come. */
    for (i = k; i < k + missing; i++) bound = gpump_add_saturated(bound, search->alone[i]);
    if (bound > search->most || (search->found && bound >= search->best_overhead)) return;
    gpumpi_victim_search_positions(search, k + 1, chosen + 1, positions | (uint64_t)1 << search->position[k],
                                   victims | search->sets[k]);
    /* Positions with the same victims are equivalent: leaving one of them out leaves all of them out. */
    for (i = k + 1; i < search->positions && search->sets[i] == search->sets[k]; i++) {}
    gpumpi_victim_search_positions(search, i, chosen, positions, victims);
}

GPUMP_API void gpumpi_victim_exact(const gpump_victim_plan_args *args, const gpump_cost_estimate *estimates,
                                   uint64_t most, uint32_t nodes, gpump_victim_plan *plan) {
    gpumpi_victim_search search;
    gpump_victim_plan_args within = *args; /* as of the limit in question */
    uint64_t fastest[GPUMP_VICTIM_BLOCKS], overhead[GPUMP_VICTIM_BLOCKS], choosable = args->choosable, rest,
                                                                          limit = args->left;
    uint32_t want, p, i, j;
    plan->positions = plan->victims = 0;
    plan->ask_again = GPUMP_UNKNOWN;
    search.args = &within;
    search.overhead = overhead;
    search.groups = args->groups != 0;
    for (rest = choosable; rest; rest &= rest - 1) {
        i = gpump_bits_lowest64(rest);
        fastest[i] = GPUMP_UNKNOWN;
        for (p = 0; p < GPUMP_TECHNIQUES; p++)
            if ((args->allowed[i] >> p & 1u) && estimates[i].latency[p] < fastest[i])
                fastest[i] = estimates[i].latency[p];
    }
    /* The fewest cycles in which `want` positions can be had: whether they can depends only on which blocks may be
     * chosen. */
    for (want = args->want; want > 0; want--) {
        limit = args->left;
        for (;;) {
            gpumpi_victim_room room;
            uint64_t next = GPUMP_UNKNOWN, bad;
            uint32_t positions = 0, more = 0;
            if (args->leaving) within = gpumpi_victim_args_within(args, limit);
            search.usable = 0;
            for (rest = choosable; rest; rest &= rest - 1) {
                i = gpump_bits_lowest64(rest);
                if (fastest[i] <= limit) search.usable |= (uint64_t)1 << i;
            }
            bad = ~search.usable & ~within.leaving;
            for (rest = search.groups ? search.usable : 0; rest; rest &= rest - 1) {
                uint64_t one = rest & (0 - rest);
                if (gpumpi_victim_closure(args->sm, one) & bad) search.usable &= ~one;
            }
            for (p = 0; p < args->geometry->positions; p++)
                if ((args->open >> p & 1u) && !(args->sets[p] & ~within.leaving & ~search.usable)) positions++;
            room = gpumpi_victim_room_without(&within, 0);
            gpumpi_victim_release(&within, search.usable, &room);
            if (positions >= want && gpumpi_victim_suffices(args->geometry, &room, want)) goto possible;
            for (rest = choosable & ~search.usable; rest; rest &= rest - 1) {
                i = gpump_bits_lowest64(rest);
                if (fastest[i] > limit && (!more || fastest[i] < next)) {
                    next = fastest[i];
                    more = 1;
                }
            }
            for (rest = args->leaving & ~within.leaving; rest; rest &= rest - 1) {
                uint64_t latency;
                i = gpump_bits_lowest64(rest);
                latency = gpump_block_freed_after(&args->sm->blocks[i], args->sm->estimates[i].latency);
                if (!more || latency < next) next = latency;
                more = 1;
            }
            if (!more) break;
            limit = next;
        }
    }
    return;
possible:
    for (rest = search.usable; rest; rest &= rest - 1) {
        i = gpump_bits_lowest64(rest);
        plan->technique[i] = (uint8_t)gpumpi_victim_cheapest(&estimates[i], args->allowed[i], limit);
        overhead[i] = estimates[i].overhead[plan->technique[i]];
    }
    search.want = want;
    search.most = most;
    search.nodes = nodes;
    search.found = 0;
    search.best_overhead = GPUMP_UNKNOWN;
    search.best_positions = search.best_victims = 0;
    search.positions = search.items = 0;
    for (rest = search.usable; rest; rest &= rest - 1) {
        i = gpump_bits_lowest64(rest);
        for (j = search.items++; j > 0 && overhead[search.item[j - 1]] > overhead[i]; j--)
            search.item[j] = search.item[j - 1];
        search.item[j] = (uint8_t)i;
    }
    for (p = 0; p < args->geometry->positions; p++) {
        uint64_t set = args->sets[p] & ~within.leaving, others = 0, alone;
        uint32_t q;
        if (search.groups) set = gpumpi_victim_closure(args->sm, set) & ~within.leaving;
        if (!(args->open >> p & 1u) || (set & ~search.usable)) continue;
        for (q = 0; q < args->geometry->positions; q++)
            if (q != p && (args->open >> q & 1u)) others |= args->sets[q];
        if (search.groups) others = gpumpi_victim_closure(args->sm, others);
        alone = gpumpi_victim_total(&search, set & ~others);
        for (j = search.positions++;
             j > 0 && (search.alone[j - 1] > alone || (search.alone[j - 1] == alone && search.sets[j - 1] > set));
             j--) {
            search.alone[j] = search.alone[j - 1];
            search.sets[j] = search.sets[j - 1];
            search.position[j] = search.position[j - 1];
        }
        search.alone[j] = alone;
        search.sets[j] = set;
        search.position[j] = (uint8_t)p;
    }
    gpumpi_victim_search_positions(&search, 0, 0, 0, 0);
    plan->positions = search.best_positions; /* 0: nothing below `most`, or the node budget */
    plan->victims = search.best_victims;
}

/* ---- gpump_impl/victim/victim_joint.c ---- */
/* joint, ours: all victims of a request at once. docs/victims.md says what it adds to Algorithm 1 and what each part is
 * worth. */


#define GPUMPI_VICTIM_PORT (GPUMPI_VICTIM_S | GPUMPI_VICTIM_R)
#define GPUMPI_VICTIM_SAVE_MARGIN \
    5 /* saves are planned to end a fifth of the limit early: what is in flight has to end first */
#define GPUMPI_VICTIM_DROP_MARGIN 32 /* flushes take next to no time */
#define GPUMPI_VICTIM_JOINT_NODES 2000u

/* The cheapest technique of a block within `limit`, without those in `avoid`; GPUMP_TECHNIQUES when there is none. */
static uint32_t gpumpi_victim_within(const gpump_cost_estimate *estimate, uint32_t allowed, uint32_t avoid,
                                     uint64_t limit) {
    uint32_t t = GPUMP_TECHNIQUES;
    allowed &= ~avoid;
    if (allowed) t = gpumpi_victim_cheapest(estimate, allowed, limit);
    if (t < GPUMP_TECHNIQUES && (estimate->latency[t] > limit || estimate->latency[t] == GPUMP_UNKNOWN))
        t = GPUMP_TECHNIQUES;
    return t;
}

/* A drain that turns out too long ends in a flush. The probability of that is at most estimate / time (Markov's
 * inequality); half of the bound is used. */
static void gpumpi_victim_charge_drains(const gpump_victim_plan_args *args, uint64_t blocks,
                                        gpump_cost_estimate *estimates) {
    for (; blocks; blocks &= blocks - 1) {
        uint32_t i = gpump_bits_lowest64(blocks);
        uint64_t drain;
        estimates[i] = args->sm->estimates[i];
        drain = estimates[i].latency[GPUMP_TECHNIQUE_DRAIN];
        if (drain == GPUMP_UNKNOWN || args->left == GPUMP_UNKNOWN || args->left == 0 ||
            !(args->allowed[i] & GPUMPI_VICTIM_F))
            continue;
        if (drain == 0 && args->draining && !args->request->late_price &&
            args->left <= args->request->limit_cycles / GPUMPI_VICTIM_DROP_MARGIN) {
            estimates[i].latency[GPUMP_TECHNIQUE_DRAIN] =
                GPUMP_UNKNOWN; /* past its expected end, and this is the last look: it may run for long */
            continue;
        }
        if (drain > args->left) drain = args->left;
        estimates[i].overhead[GPUMP_TECHNIQUE_DRAIN] =
            gpump_muldiv_up(estimates[i].overhead[GPUMP_TECHNIQUE_FLUSH], drain, args->left) / 2;
    }
}

/* Gives the victims techniques such that all have left within the limit. Where that is impossible, all leave within the
 * least possible latency. Returns the latency. The saves of an SM follow each other, so their times add up. When one
 * victim exceeds the limit in any case, the others take the cheapest technique that ends by the same cycle. */
static uint64_t gpumpi_victim_assign(const gpump_victim_plan_args *args, const gpump_cost_estimate *estimates,
                                     uint64_t victims, gpump_victim_plan *plan) {
    uint64_t rest, forced = 0, limit = args->left, port;
    int serial = (args->request->flags & GPUMP_VICTIM_SERIAL_PORT) != 0;
    /* The least time in which all victims can leave. A victim that can neither be flushed nor drained in time must be
     * saved. */
    for (rest = victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t;
        uint32_t ways = serial ? args->allowed[i] & GPUMPI_VICTIM_PORT : args->allowed[i];
        uint64_t soonest = GPUMP_UNKNOWN;
        if (gpumpi_victim_within(&estimates[i], args->allowed[i], GPUMPI_VICTIM_PORT, limit) < GPUMP_TECHNIQUES)
            continue;
        if (!ways) ways = args->allowed[i]; /* nothing but the drain */
        for (t = 0; t < GPUMP_TECHNIQUES; t++)
            if ((ways >> t & 1u) && estimates[i].latency[t] < soonest) soonest = estimates[i].latency[t];
        if (soonest == GPUMP_UNKNOWN)
            forced = GPUMP_UNKNOWN - 1;
        else if (serial)
            forced = gpump_add_saturated(forced, soonest);
        else if (soonest > forced)
            forced = soonest;
    }
    if (limit != GPUMP_UNKNOWN && forced > limit) limit = forced;
    port = 0;
    for (rest = victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = gpumpi_victim_within(&estimates[i], args->allowed[i], 0, limit);
        if (t == GPUMP_TECHNIQUES) t = gpumpi_victim_cheapest(&estimates[i], args->allowed[i], limit);
        plan->technique[i] = (uint8_t)t;
        if (gpumpi_victim_uses_port(t)) port = gpump_add_saturated(port, estimates[i].latency[t]);
    }
    /* The port is overloaded: the victim whose other technique costs least per port cycle saved is not saved. */
    while (serial && port > limit) {
        uint32_t who = GPUMP_NONE, how = 0;
        uint64_t best_more = 0, best_won = 0;
        for (rest = victims; rest; rest &= rest - 1) {
            uint32_t i = gpump_bits_lowest64(rest), was = plan->technique[i], t;
            uint64_t more, won;
            if (!gpumpi_victim_uses_port(was)) continue;
            t = gpumpi_victim_within(&estimates[i], args->allowed[i], GPUMPI_VICTIM_PORT, limit);
            won = estimates[i].latency[was];
            if (t == GPUMP_TECHNIQUES) { /* the other way to save it, where that is shorter */
                t = was == GPUMP_TECHNIQUE_SWITCH ? (uint32_t)GPUMP_TECHNIQUE_REWIND : (uint32_t)GPUMP_TECHNIQUE_SWITCH;
                if (!(args->allowed[i] >> t & 1u) || estimates[i].latency[t] >= won) continue;
                won -= estimates[i].latency[t];
            }
            more = estimates[i].overhead[t] > estimates[i].overhead[was]
                       ? estimates[i].overhead[t] - estimates[i].overhead[was]
                       : 0;
            if (who == GPUMP_NONE || gpump_compare_products(more, best_won, best_more, won) < 0) {
                who = i;
                how = t;
                best_more = more;
                best_won = won;
            }
        }
        if (who == GPUMP_NONE) break;
        port -= best_won;
        plan->technique[who] = (uint8_t)how;
    }
    return limit;
}

/* No block stops earlier than necessary. A block that will be saved runs until its save begins, and may end before. A
 * block that is expected to end is reconsidered at the last cycle at which another technique is still in time. */
static void gpumpi_victim_run_on(const gpump_victim_plan_args *args, uint64_t victims, uint64_t limit,
                                 gpump_victim_plan *plan) {
    const gpump_victim_request *request = args->request;
    const gpump_cost_estimate *estimates = args->sm->estimates;
    uint64_t rest, step, save_by, drop_by, port = 0, next = GPUMP_UNKNOWN, guess[GPUMP_VICTIM_BLOCKS];
    uint32_t n = 0, j;
    uint8_t order[GPUMP_VICTIM_BLOCKS];
    int serial = (request->flags & GPUMP_VICTIM_SERIAL_PORT) != 0;
    if (limit >= GPUMP_UNKNOWN - 1) return;
    step = request->limit_cycles / 32 + 1; /* looks closer than this are not worth it */
    save_by = request->limit_cycles / GPUMPI_VICTIM_SAVE_MARGIN;
    save_by = limit > save_by ? limit - save_by : 0;
    drop_by = request->limit_cycles / GPUMPI_VICTIM_DROP_MARGIN;
    drop_by = limit > drop_by ? limit - drop_by : 0;
    for (rest = victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = plan->technique[i];
        uint64_t drain = estimates[i].latency[GPUMP_TECHNIQUE_DRAIN],
                 save = estimates[i].latency[GPUMP_TECHNIQUE_SWITCH];
        if (!(args->allowed[i] & GPUMPI_VICTIM_D)) continue;
        if (gpumpi_victim_uses_port(t)) {
            /* A block without history: half of such blocks run on for as long as they have run. */
            guess[i] = drain == GPUMP_UNKNOWN ? args->sm->blocks[i].cycles : drain;
            for (j = n++; j > 0 && guess[order[j - 1]] > guess[i]; j--) order[j] = order[j - 1];
            order[j] = (uint8_t)i;
            continue;
        }
        if (t == GPUMP_TECHNIQUE_FLUSH && (drain > limit || drop_by <= step))
            continue; /* it will not end, or there is no time */
        plan->later |= (uint64_t)1 << i;
        if ((args->allowed[i] & GPUMPI_VICTIM_F) && drop_by > step && drop_by < next) next = drop_by;
        if (t == GPUMP_TECHNIQUE_DRAIN && (args->allowed[i] & GPUMPI_VICTIM_S) && save < save_by &&
            save_by - save > step && save_by - save < next)
            next = save_by - save;
    }
    /* Those likeliest to end are saved last. With one port a save begins when the one before it is expected to end, so
     * that the port is never idle; with a port of its own, at the last moment, unless the block will hardly have ended
     * by then. */
    for (j = n; j-- > 0;) {
        uint32_t i = order[j];
        uint64_t cycles = estimates[i].latency[plan->technique[i]], start = save_by > cycles ? save_by - cycles : 0;
        if (serial)
            start = port;
        else if (guess[i] / 2 > start)
            start = 0;
        port = gpump_add_saturated(port, cycles);
        if (start <= step) continue;
        plan->later |= (uint64_t)1 << i;
        if (start < next) next = start;
    }
    if (next != GPUMP_UNKNOWN) plan->ask_again = gpump_add_saturated(request->now, next);
}

/* Cycles until the last victim of a plan has left. */
static uint64_t gpumpi_victim_last_out(const gpump_victim_plan_args *args, const gpump_victim_plan *plan) {
    uint64_t last = 0, port = 0, rest;
    for (rest = plan->victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = plan->technique[i];
        uint64_t latency = args->sm->estimates[i].latency[t];
        if (gpumpi_victim_uses_port(t) && (args->request->flags & GPUMP_VICTIM_SERIAL_PORT))
            latency = port = gpump_add_saturated(port, latency);
        if (latency > last) last = latency;
    }
    return last;
}

/* The same search for the victims that need the port least. Returns as gpumpi_victim_assign. */
static uint64_t gpumpi_victim_spare_port(const gpump_victim_plan_args *args, const gpump_cost_estimate *estimates,
                                         gpump_victim_plan *plan) {
    gpump_cost_estimate port[GPUMP_VICTIM_BLOCKS];
    uint32_t i, t;
    for (i = 0; i < args->sm->count; i++)
        for (t = 0; t < GPUMP_TECHNIQUES; t++) {
            port[i].latency[t] = args->sm->estimates[i].latency[t];
            port[i].overhead[t] = gpumpi_victim_uses_port(t) ? port[i].latency[t] : 0;
        }
    gpumpi_victim_exact(args, port, args->left, GPUMPI_VICTIM_JOINT_NODES, plan);
    return gpumpi_victim_assign(args, estimates, plan->victims, plan);
}

GPUMP_API void gpumpi_victim_plan_joint(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpump_cost_estimate estimates[GPUMP_VICTIM_BLOCKS];
    uint64_t limit, last;
    gpumpi_victim_charge_drains(args, args->draining | args->choosable, estimates);
    plan->victims = args->draining;
    plan->positions = 0;
    if (!args->draining) {
        gpumpi_victim_exact(args, estimates, GPUMP_UNKNOWN, GPUMPI_VICTIM_JOINT_NODES, plan);
        if (!plan->positions && args->want) gpump_victim_plan_greedy(args, plan);
    }
    limit = gpumpi_victim_assign(args, estimates, plan->victims, plan);
    last = args->draining ? 0 : gpumpi_victim_last_out(args, plan);
    if (last > args->left) { /* only where saves follow each other can other victims be earlier */
        gpump_victim_plan other;
        uint64_t other_limit;
        other.later = 0;
        other_limit = gpumpi_victim_spare_port(args, estimates, &other);
        if (gpump_bits_count64(other.positions) >= gpump_bits_count64(plan->positions) &&
            gpumpi_victim_last_out(args, &other) < last) {
            *plan = other;
            limit = other_limit;
        }
    }
    plan->ask_again = GPUMP_UNKNOWN;
    gpumpi_victim_run_on(args, plan->victims, limit, plan);
}

/* ---- gpump_impl/victim/victim_policies.c ---- */


/* ---- exact ---- */

#define GPUMPI_VICTIM_NODES 200000u

static void gpumpi_victim_plan_exact(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    gpumpi_victim_exact(args, args->sm->estimates, GPUMP_UNKNOWN, GPUMPI_VICTIM_NODES, plan);
    if (!plan->positions && args->want) gpump_victim_plan_greedy(args, plan);
}

/* ---- drain, then switch (Tanasic 7.2.1) ---- */

static uint32_t gpumpi_victim_technique_timeout(const gpump_victim_technique_args *args) {
    const gpump_victim_request *request = args->request;
    uint64_t timeout = request->timeout_cycles, at, save = args->estimate->latency[GPUMP_TECHNIQUE_SWITCH];
    if (timeout == GPUMP_UNKNOWN && request->limit_cycles != GPUMP_UNKNOWN)
        timeout = request->limit_cycles > save ? request->limit_cycles - save : 0;
    at = gpump_add_saturated(request->since, timeout);
    if (!(args->allowed >> GPUMP_TECHNIQUE_SWITCH & 1u)) return GPUMP_TECHNIQUE_DRAIN;
    if (request->now >= at || !(args->allowed >> GPUMP_TECHNIQUE_DRAIN & 1u)) return GPUMP_TECHNIQUE_SWITCH;
    if (at < *args->ask_again) *args->ask_again = at;
    return GPUMP_TECHNIQUE_DRAIN;
}

/* ---- the built-in policies ---- */

#define GPUMPI_VICTIM_SIZE ((uint32_t)sizeof(gpump_victim_policy))

static const gpump_victim_policy gpumpi_victim_policies[] = {
    {GPUMPI_VICTIM_SIZE,
     GPUMP_VICTIM_EVICTED,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D,
     0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "dual",
     "Shieh's dual-kernel scheme: position by position, Algorithm 1, CPI from the source of smaller deviation.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMPI_VICTIM_SIZE,
     GPUMP_VICTIM_WHOLE_SM,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D,
     0,
     {GPUMP_COST_CPI_RUNNING, GPUMP_COST_DRAIN_LOSES, 0},
     "chimera",
     "Chimera: whole SMs, each block its cheapest technique, a block's own CPI, drains charged with the slots they "
     "leave idle.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMPI_VICTIM_SIZE,
     GPUMP_VICTIM_WHOLE_SM,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D,
     0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, GPUMP_COST_DRAIN_LOSES, 0},
     "chimera+",
     "Chimera with the dual-kernel scheme's drain estimate.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMPI_VICTIM_SIZE,
     GPUMP_VICTIM_WHOLE_SM,
     GPUMPI_VICTIM_S,
     0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "switch",
     "Every block of the SM is saved.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMPI_VICTIM_SIZE,
     GPUMP_VICTIM_WHOLE_SM,
     GPUMPI_VICTIM_D,
     0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "drain",
     "Every block of the SM runs to its end.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMPI_VICTIM_SIZE,
     GPUMP_VICTIM_WHOLE_SM,
     GPUMPI_VICTIM_F,
     0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "flush",
     "Every block of the SM is dropped; an SM with a block that must not be is left alone.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMPI_VICTIM_SIZE,
     GPUMP_VICTIM_WHOLE_SM,
     GPUMPI_VICTIM_S | GPUMPI_VICTIM_D,
     0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "drain-then-switch",
     "Drains; what has not ended after a time-out is saved (Tanasic 7.2.1).",
     NULL,
     gpumpi_victim_technique_timeout,
     NULL,
     NULL},
    {GPUMPI_VICTIM_SIZE,
     GPUMP_VICTIM_EVICTED | GPUMP_VICTIM_TRUE_COSTS,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D,
     0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "oracle",
     "The dual-kernel scheme, to be fed with true costs.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMPI_VICTIM_SIZE,
     0,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D,
     0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "exact",
     "Of all sets of positions and victims the one of least overhead within the limit, else within the least latency.",
     NULL,
     NULL,
     NULL,
     gpumpi_victim_plan_exact},
    {GPUMPI_VICTIM_SIZE,
     GPUMP_VICTIM_EVICTED,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D | GPUMPI_VICTIM_R,
     0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0},
     "rewind",
     "The dual-kernel scheme with rewind as a fourth technique.",
     NULL,
     NULL,
     NULL,
     NULL},
    {GPUMPI_VICTIM_SIZE,
     GPUMP_VICTIM_COMMON_DEADLINE,
     GPUMPI_VICTIM_F | GPUMPI_VICTIM_S | GPUMPI_VICTIM_D | GPUMPI_VICTIM_R,
     0,
     {GPUMP_COST_CPI_SMALLER_DEVIATION, GPUMP_COST_DRAIN_CAREFUL, 0},
     "joint",
     "All victims at once: exact sets, one port per SM, one common deadline, drains that are looked at again.",
     NULL,
     NULL,
     NULL,
     gpumpi_victim_plan_joint},
};

GPUMP_API const gpump_victim_policy *gpump_victim_policy_at(uint32_t index) {
    return index < sizeof gpumpi_victim_policies / sizeof *gpumpi_victim_policies ? &gpumpi_victim_policies[index]
                                                                                  : NULL;
}

GPUMP_API const gpump_victim_policy *gpump_victim_find(const char *name) {
    uint32_t i;
    for (i = 0; name && gpump_victim_policy_at(i); i++)
        if (!strcmp(gpump_victim_policy_at(i)->name, name)) return gpump_victim_policy_at(i);
    return NULL;
}

/* ---- gpump_impl/victim/victim.c ---- */


/* An SM in a decision over many. */
typedef struct gpumpi_victim_state {
    uint64_t overhead; /* of one position more */
    uint64_t latency;
    uint64_t total; /* overhead of the plan so far */
    uint32_t late;
    uint32_t quota; /* positions given to this SM */
    uint32_t heap;  /* the heap of SM indices is spread over these */
    uint32_t unused;
} gpumpi_victim_state;

/* ---- the decision ---- */

/* Where a decision writes, and what it has counted. */
typedef struct gpumpi_victim_out {
    gpump_victim_place *places; /* NULL: only count */
    gpump_block_choice *choices;
    gpump_victim_decision *decision;
    uint64_t soonest; /* when the last victim could be out if everybody began now */
    uint32_t blocked; /* gpump_reason that stood in the way first */
} gpumpi_victim_out;

static void gpumpi_victim_begin(gpumpi_victim_out *out) {
    memset(out->decision, 0, sizeof *out->decision);
    out->decision->ask_again = GPUMP_UNKNOWN;
    out->soonest = 0;
    out->blocked = 0;
}

typedef struct gpumpi_victim_context {
    const gpump_victim_policy *policy;
    const gpump_victim_request *request;
    const gpump_victim_geometry *geometry;
    uint64_t left;
    uint64_t relaxed; /* what plans are given: left, or the latency that cannot be avoided somewhere */
} gpumpi_victim_context;

/* Fills everything but `want`. Returns how many positions the SM can have at most. */
static uint32_t gpumpi_victim_prepare(const gpumpi_victim_context *context, const gpump_victim_sm *sm, uint64_t *sets,
                                      gpump_victim_plan_args *args) {
    const gpump_victim_geometry *geometry = context->geometry;
    /* States in which a block holds all of its parts and leaves none in place. */
    const uint32_t whole = 1u << GPUMP_BLOCK_RUNNING | 1u << GPUMP_BLOCK_BLOCKED | 1u << GPUMP_BLOCK_DRAINING |
                           1u << GPUMP_BLOCK_RESTORING;
    uint64_t all = ~(uint64_t)0 >> (64 - geometry->positions), own = 0, leaving = 0, fixed = 0, choosable = 0,
             parked = 0, kept = 0, closed = sm->reserved;
    uint32_t techniques = context->policy->techniques & ((1u << GPUMP_TECHNIQUES) - 1),
             kernel = context->request->kernel, i;
    uint32_t warps = 0, threads = 0, groups = 0, slots, promised, most;
    for (i = 0; i < geometry->positions; i++) sets[i] = 0;
    for (i = 0; i < sm->count; i++) {
        const gpump_block_view *block = &sm->blocks[i];
        uint64_t one = (uint64_t)1 << i;
        uint32_t allowed = 0;
        groups |= block->group;
        if (gpump_block_state_in(block->state, whole)) {
            gpumpi_victim_mark_parts(geometry, block, GPUMP_PARTS_IN_PLACE, one, sets);
        } else {
            if (gpumpi_victim_keeps(block)) kept |= one;
            if (!(gpump_block_parts_held(block) & GPUMP_PART_SLOTS)) parked |= one;
            closed |= gpumpi_victim_mark_kept(geometry, block, one, sets);
        }
        if (block->kernel == kernel)
            own |= one;
        else if (gpump_block_leaves(block->state))
            leaving |= one;
        else if ((allowed = block->may & techniques) != 0)
            choosable |= one;
        else
            fixed |= one;
        args->allowed[i] = (uint8_t)allowed;
        if (leaving & one) continue; /* what leaves counts as free */
        warps += block->warps;
        threads += block->threads;
    }
    args->policy = context->policy;
    args->request = context->request;
    args->geometry = geometry;
    args->sm = sm;
    args->sets = sets;
    args->left = context->relaxed;
    args->leaving = leaving;
    args->fixed = fixed;
    args->choosable = choosable;
    args->draining = 0;
    args->groups = groups;
    args->open = all & ~(gpumpi_victim_take_out(own, geometry->positions, sets) | closed);
    /* Promised positions will take their share. */
    promised = sm->reserved & all ? gpump_bits_count64(sm->reserved & all) : 0;
    slots = sm->count + promised;
    if (leaving) slots -= gpump_bits_count64(leaving);
    warps += promised * geometry->warps;
    threads += promised * geometry->threads;
    args->free_warps = (int64_t)geometry->warp_slots - warps;
    args->free_threads = (int64_t)geometry->thread_slots - threads;
    args->free_slots = (int64_t)geometry->block_slots - slots;
    args->free_entries = (int64_t)geometry->entries - slots;
    most = promised + (own ? gpump_bits_count64(own) : 0);
    if (parked | kept) {
        args->free_slots += gpump_bits_count64(parked & ~leaving);
        args->free_entries -= gpump_bits_count64(kept & leaving);
        most -= gpump_bits_count64(own & parked);
    }
    args->parked = parked;
    args->kept = kept;
    most = geometry->blocks > most ? geometry->blocks - most : 0;
    i = args->open == all ? geometry->positions : gpump_bits_count64(args->open);
    return most < i ? most : i;
}

static void gpumpi_victim_plan(const gpump_victim_plan_args *args, gpump_victim_plan *plan) {
    plan->later = 0;
    if (args->policy->flags & GPUMP_VICTIM_WHOLE_SM)
        gpumpi_victim_plan_whole(args, plan);
    else if (args->policy->plan)
        args->policy->plan(args, plan);
    else
        gpump_victim_plan_greedy(args, plan);
}

/* Holds a plan against the rules: GPUMP_REASON_YES, or what it breaks. */
static gpump_reason gpumpi_victim_check(const gpump_victim_plan_args *args, const gpump_victim_plan *plan) {
    uint64_t choosable = args->choosable, rest, covered = plan->victims | args->leaving;
    uint32_t positions = gpump_bits_count64(plan->positions);
    gpumpi_victim_room room;
    if (plan->victims & ~choosable) return GPUMP_REASON_NOT_RUNNING;
    for (rest = plan->victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = plan->technique[i];
        if (t >= GPUMP_TECHNIQUES || !(args->allowed[i] >> t & 1u))
            return t == GPUMP_TECHNIQUE_FLUSH ? GPUMP_REASON_CLOBBERED : GPUMP_REASON_NO_TECHNIQUE;
    }
    if ((plan->positions & ~args->open) || positions > args->want) return GPUMP_REASON_POSITIONS;
    for (rest = plan->positions; rest; rest &= rest - 1)
        if (args->sets[gpump_bits_lowest64(rest)] & ~covered) return GPUMP_REASON_REGISTERS;
    if (args->groups && (gpumpi_victim_closure(args->sm, plan->victims) & ~covered)) return GPUMP_REASON_GROUP;
    if (!positions) return GPUMP_REASON_YES; /* what is short already is short without this plan */
    room = gpumpi_victim_room_without(args, 0);
    gpumpi_victim_release(args, plan->victims, &room);
    return gpumpi_victim_suffices(args->geometry, &room, positions) ? GPUMP_REASON_YES : GPUMP_REASON_WARPS;
}

/* What stands in the way of a further position on this SM. */
static gpump_reason gpumpi_victim_why(const gpump_victim_plan_args *args, uint32_t got, uint32_t most) {
    if (got >= most) return GPUMP_REASON_POSITIONS;
    if (args->fixed) {
        uint32_t may = args->sm->blocks[gpump_bits_lowest64(args->fixed)].may;
        if (args->groups) return GPUMP_REASON_GROUP;
        return may ? GPUMP_REASON_CLOBBERED : GPUMP_REASON_NO_TECHNIQUE;
    }
    return GPUMP_REASON_WARPS;
}

/* Sorts the blocks of `which` by latency; returns how many there are. */
static uint32_t gpumpi_victim_by_latency(uint64_t which, const uint64_t *latency, uint8_t *order) {
    uint32_t n = 0, j;
    for (; which; which &= which - 1) {
        uint32_t i = gpump_bits_lowest64(which);
        for (j = n++; j > 0 && latency[order[j - 1]] > latency[i]; j--) order[j] = order[j - 1];
        order[j] = (uint8_t)i;
    }
    return n;
}

/* The k-th of the positions to be free needs warps, threads and slots for k, from whichever blocks are out by then. */
static void gpumpi_victim_wait_for_room(const gpump_victim_plan_args *args, const gpump_victim_plan *plan,
                                        const uint64_t *latency, uint64_t *wait) {
    uint8_t blocks[GPUMP_VICTIM_BLOCKS], positions[GPUMP_VICTIM_POSITIONS];
    uint32_t block_count = gpumpi_victim_by_latency(plan->victims | args->leaving, latency, blocks), k, out = 0;
    uint32_t count = gpumpi_victim_by_latency(plan->positions, wait, positions);
    gpumpi_victim_room room = gpumpi_victim_room_without(args, args->leaving);
    uint64_t last = 0;
    for (k = 0; k < count; k++) {
        while (!gpumpi_victim_suffices(args->geometry, &room, k + 1) && out < block_count) {
            last = latency[blocks[out]];
            gpumpi_victim_release(args, (uint64_t)1 << blocks[out++], &room);
        }
        if (wait[positions[k]] < last) wait[positions[k]] = last;
    }
}

/* When each position of a plan is free: registers and shared memory when whoever lies on it is out, or the whole SM.
 * Returns the last. */
static uint64_t gpumpi_victim_waits(const gpump_victim_plan_args *args, const gpump_victim_plan *plan,
                                    const uint64_t *latency, int whole, uint64_t *wait) {
    uint64_t leaving = plan->victims | args->leaving, on_positions = 0, last = 0, rest;
    for (rest = plan->positions; rest; rest &= rest - 1) {
        uint32_t p = gpump_bits_lowest64(rest);
        uint64_t who = whole ? leaving : args->sets[p] & leaving;
        on_positions |= args->sets[p];
        wait[p] = 0;
        for (; who; who &= who - 1)
            if (latency[gpump_bits_lowest64(who)] > wait[p]) wait[p] = latency[gpump_bits_lowest64(who)];
    }
    if (args->leaving || (plan->victims & ~on_positions)) gpumpi_victim_wait_for_room(args, plan, latency, wait);
    for (rest = plan->positions; rest; rest &= rest - 1)
        if (wait[gpump_bits_lowest64(rest)] > last) last = wait[gpump_bits_lowest64(rest)];
    return last;
}

/* Writes the choice of block i. */
static void gpumpi_victim_put(gpump_block_choice *choice, const gpump_victim_sm *sm, uint32_t i, uint32_t technique,
                              uint32_t otherwise, uint64_t latency) {
    choice->block = sm->blocks[i].block;
    choice->technique = technique;
    choice->keep = 0;
    choice->to_point = 0;
    choice->otherwise = otherwise;
    choice->sm = sm->sm;
    choice->unused = 0;
    choice->cookie = sm->blocks[i].cookie;
    choice->latency = latency;
    choice->overhead = sm->estimates[i].overhead[otherwise];
}

/* Adds one SM's plan to the decision. */
static void gpumpi_victim_emit(const gpumpi_victim_context *context, const gpump_victim_plan_args *args,
                               const gpump_victim_plan *plan, gpumpi_victim_out *out) {
    const gpump_victim_sm *sm = args->sm;
    gpump_victim_decision *decision = out->decision;
    uint64_t latency[GPUMP_VICTIM_BLOCKS], wait[GPUMP_VICTIM_POSITIONS], rest, last, port = 0, later = 0;
    uint8_t order[GPUMP_VICTIM_BLOCKS];
    uint32_t n = 0, j;
    int whole = (context->policy->flags & GPUMP_VICTIM_WHOLE_SM) != 0,
        serial = (context->request->flags & GPUMP_VICTIM_SERIAL_PORT) != 0;
    if (!plan->positions) return;
    for (rest = args->leaving; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        latency[i] = gpump_block_freed_after(&sm->blocks[i], sm->estimates[i].latency);
    }
    /* Saves go shortest first, behind everything that needs no port. */
    for (rest = plan->victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        uint32_t key_port = (uint32_t)gpumpi_victim_uses_port(plan->technique[i]);
        latency[i] = sm->estimates[i].latency[plan->technique[i]];
        for (j = n++; j > 0; j--) {
            uint32_t o = order[j - 1], o_port = (uint32_t)gpumpi_victim_uses_port(plan->technique[o]);
            if (o_port < key_port || (o_port == key_port && (!key_port || latency[o] <= latency[i]))) break;
            order[j] = (uint8_t)o;
        }
        order[j] = (uint8_t)i;
    }
    for (j = 0; j < n; j++) {
        uint32_t i = order[j], t = plan->technique[i];
        if (serial && gpumpi_victim_uses_port(t)) latency[i] = port = gpump_add_saturated(port, latency[i]);
        if ((plan->later >> i & 1u) && t != GPUMP_TECHNIQUE_DRAIN) later |= (uint64_t)1 << i;
        if (out->choices) /* one that runs on is out by the deadline */
            gpumpi_victim_put(&out->choices[decision->choices], sm, i,
                              plan->later >> i & 1u ? (uint32_t)GPUMP_TECHNIQUE_DRAIN : t, t,
                              (later >> i & 1u) && latency[i] < args->left ? args->left : latency[i]);
        decision->choices++;
        decision->overhead = gpump_add_saturated(decision->overhead, sm->estimates[i].overhead[t]);
    }
    last = gpumpi_victim_waits(args, plan, latency, whole, wait);
    if (last > out->soonest) out->soonest = last;
    for (rest = later; rest; rest &= rest - 1) /* they run on, and are out by then */
        if (latency[gpump_bits_lowest64(rest)] < args->left) latency[gpump_bits_lowest64(rest)] = args->left;
    if (later) gpumpi_victim_waits(args, plan, latency, whole, wait);
    for (rest = plan->positions; rest; rest &= rest - 1) {
        uint32_t p = gpump_bits_lowest64(rest), late = context->left != GPUMP_UNKNOWN && wait[p] > context->left;
        if (out->places) {
            gpump_victim_place *place = &out->places[decision->places];
            place->latency = wait[p];
            place->sm = sm->sm;
            place->position = p;
            place->register_base = p * context->geometry->registers;
            place->shared_base = p * context->geometry->shared_bytes;
            place->victims = gpump_bits_count64(args->sets[p] & plan->victims);
            place->late = late;
        }
        decision->places++;
        decision->late += late;
        if (wait[p] > decision->latency) decision->latency = wait[p];
    }
    decision->sms++;
    if (plan->ask_again < decision->ask_again) decision->ask_again = plan->ask_again;
}

/* ---- heap of SMs: the best next position on top ---- */

static int gpumpi_victim_before(const gpumpi_victim_state *states, uint32_t a, uint32_t b) {
    const gpumpi_victim_state *x = &states[a], *y = &states[b];
    if (x->late != y->late) return x->late < y->late;
    if (!x->late) {
        if (x->overhead != y->overhead) return x->overhead < y->overhead;
        if (x->latency != y->latency) return x->latency < y->latency;
    } else {
        if (x->latency != y->latency) return x->latency < y->latency;
        if (x->overhead != y->overhead) return x->overhead < y->overhead;
    }
    return a < b;
}

static void gpumpi_victim_sift(gpumpi_victim_state *states, uint32_t count, uint32_t at) {
    for (;;) {
        uint32_t child = 2 * at + 1, swap;
        if (child >= count) return;
        if (child + 1 < count && gpumpi_victim_before(states, states[child + 1].heap, states[child].heap)) child++;
        if (!gpumpi_victim_before(states, states[child].heap, states[at].heap)) return;
        swap = states[at].heap;
        states[at].heap = states[child].heap;
        states[child].heap = swap;
        at = child;
    }
}

/* What one position more (with WHOLE_SM: the SM) costs. Returns 0 when there is none. */
static uint32_t gpumpi_victim_rate(const gpumpi_victim_context *context, const gpump_victim_sm *sm,
                                   gpumpi_victim_state *state) {
    uint64_t sets[GPUMP_VICTIM_POSITIONS];
    gpump_victim_plan_args args;
    gpump_victim_plan plan;
    gpump_victim_decision decision;
    gpumpi_victim_out out;
    uint32_t most = gpumpi_victim_prepare(context, sm, sets, &args);
    int whole = (context->policy->flags & GPUMP_VICTIM_WHOLE_SM) != 0;
    if (whole ? state->quota > 0 : state->quota >= most) return 0;
    args.want = whole ? most : state->quota + 1;
    gpumpi_victim_plan(&args, &plan);
    if (gpump_bits_count64(plan.positions) <= state->quota || gpumpi_victim_check(&args, &plan) != GPUMP_REASON_YES)
        return 0;
    memset(&out, 0, sizeof out);
    memset(&decision, 0, sizeof decision);
    out.decision = &decision;
    gpumpi_victim_emit(context, &args, &plan, &out);
    state->overhead = decision.overhead > state->total ? decision.overhead - state->total : 0;
    state->latency = decision.latency;
    state->late = decision.late != 0;
    state->total = decision.overhead;
    return gpump_bits_count64(plan.positions) - state->quota;
}

GPUMP_API size_t gpump_victim_scratch_bytes(uint32_t sm_count) {
    return sm_count <= 64 ? 0 : sm_count * sizeof(gpumpi_victim_state);
}

/* A block that reaches beyond the SM. */
static gpump_result gpumpi_victim_check_ranges(const gpump_victim_geometry *geometry, const gpump_victim_sm *sm,
                                               uint32_t index, gpump_diag *diag) {
    uint64_t outside = 0; /* the top bit, where a range ends behind the SM */
    uint32_t i;
    for (i = 0; i < sm->count; i++) {
        const gpump_block_view *block = &sm->blocks[i];
        outside |= (uint64_t)geometry->register_file - block->register_base - block->registers;
        outside |= (uint64_t)geometry->shared_memory_bytes - block->shared_base - block->shared_bytes;
    }
    for (i = 0; outside >> 63 && i < sm->count; i++) {
        const gpump_block_view *block = &sm->blocks[i];
        uint64_t registers = (uint64_t)block->register_base + block->registers;
        uint64_t shared = (uint64_t)block->shared_base + block->shared_bytes;
        if (registers > geometry->register_file)
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "sms.blocks.register_base + registers", index, registers, 0,
                               geometry->register_file);
        if (shared > geometry->shared_memory_bytes)
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "sms.blocks.shared_base + shared_bytes", index, shared, 0,
                               geometry->shared_memory_bytes);
    }
    return GPUMP_OK;
}

static gpump_result gpumpi_victim_check_question(const gpump_victim_question *question,
                                                 const gpump_victim_geometry *geometry, gpump_diag *diag) {
    const gpump_victim_policy *policy = question ? question->policy : NULL;
    const gpump_victim_request *request = question ? question->request : NULL;
    uint32_t s;
    if (!policy || policy->struct_size != sizeof *policy || !policy->name)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "policy.struct_size", 0, policy ? policy->struct_size : 0,
                           sizeof *policy, sizeof *policy);
    if (!request || request->struct_size != sizeof *request)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "request.struct_size", 0, request ? request->struct_size : 0,
                           sizeof *request, sizeof *request);
    if (request->now < request->since)
        return gpumpi_fail(diag, GPUMP_ERROR_TIME, "request.now", 0, request->now, request->since, UINT64_MAX);
    if (question->sm_count && !question->sms)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "sms", 0, 0, 1, UINT64_MAX);
    if ((question->place_capacity && !question->places) || (question->choice_capacity && !question->choices))
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "places or choices", 0, 0, 1, UINT64_MAX);
    for (s = 0; s < question->sm_count; s++) {
        const gpump_victim_sm *sm = &question->sms[s];
        gpump_result result;
        if (sm->count > GPUMP_VICTIM_BLOCKS)
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "sms.count", s, sm->count, 0, GPUMP_VICTIM_BLOCKS);
        if (sm->count && (!sm->blocks || !sm->estimates))
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "sms.blocks or estimates", s, 0, 1, UINT64_MAX);
        result = geometry ? gpumpi_victim_check_ranges(geometry, sm, s, diag) : GPUMP_OK;
        if (result != GPUMP_OK) return result;
    }
    return GPUMP_OK;
}

/* Built-in policies answer by the rules. What a policy of the host answers is checked before anything is written: each
 * SM's plan before it is written, and with several SMs all of them in a run of their own. */
static int gpumpi_victim_is_built_in(const gpump_victim_policy *policy) {
    uint32_t i;
    for (i = 0; gpump_victim_policy_at(i); i++)
        if (gpump_victim_policy_at(i) == policy) return 1;
    return 0;
}

/* Plans one SM and adds it. */
static gpump_result gpumpi_victim_take(const gpumpi_victim_context *context, const gpump_victim_sm *sm, uint32_t index,
                                       uint32_t want, gpumpi_victim_out *out, gpump_diag *diag) {
    uint64_t sets[GPUMP_VICTIM_POSITIONS];
    gpump_victim_plan_args args;
    gpump_victim_plan plan;
    gpump_reason reason;
    uint32_t most = gpumpi_victim_prepare(context, sm, sets, &args);
    args.want = want < most ? want : most;
    if (args.want)
        gpumpi_victim_plan(&args, &plan);
    else
        plan.positions = plan.victims = 0;
    reason = args.want ? gpumpi_victim_check(&args, &plan) : GPUMP_REASON_YES;
    if (reason != GPUMP_REASON_YES) return gpumpi_refuse(diag, reason, "policy's plan for sm", index);
    if (gpump_bits_count64(plan.positions) < want && !out->blocked)
        out->blocked = (uint32_t)gpumpi_victim_why(&args, gpump_bits_count64(plan.positions), most);
    gpumpi_victim_emit(context, &args, &plan, out);
    return GPUMP_OK;
}

/* The decision itself, in one pass over the SMs once quotas stand. */
static gpump_result gpumpi_victim_run(const gpumpi_victim_context *context, const gpump_victim_sm *sms,
                                      uint32_t sm_count, const gpumpi_victim_state *states, gpumpi_victim_out *out,
                                      gpump_diag *diag) {
    uint32_t s, wanted = context->request->positions;
    gpumpi_victim_begin(out);
    for (s = 0; s < sm_count && out->decision->places < wanted; s++) {
        uint32_t want = wanted - out->decision->places;
        gpump_result result;
        if (states && states[s].quota < want) want = states[s].quota;
        if (!want) continue;
        result = gpumpi_victim_take(context, &sms[s], s, want, out, diag);
        if (result != GPUMP_OK) return result;
    }
    out->decision->missing = wanted - out->decision->places;
    out->decision->reason = GPUMP_REASON_YES;
    /* SMs that got no quota have not been asked why. */
    for (s = 0; s < sm_count && states && out->decision->missing && !out->blocked; s++) {
        uint64_t sets[GPUMP_VICTIM_POSITIONS];
        gpump_victim_plan_args args;
        uint32_t most = gpumpi_victim_prepare(context, &sms[s], sets, &args);
        if (states[s].quota < most) out->blocked = (uint32_t)gpumpi_victim_why(&args, states[s].quota, most);
    }
    if (out->decision->missing)
        out->decision->reason = out->blocked ? (gpump_reason)out->blocked : GPUMP_REASON_POSITIONS;
    return GPUMP_OK;
}

/* Fewer positions than the SMs could have: gives them out one by one, where the next is best. */
static void gpumpi_victim_share(const gpumpi_victim_context *context, const gpump_victim_sm *sms, uint32_t sm_count,
                                gpumpi_victim_state *states) {
    uint32_t count = 0, given = 0, s;
    memset(states, 0, sm_count * sizeof *states);
    for (s = 0; s < sm_count; s++)
        if (gpumpi_victim_rate(context, &sms[s], &states[s])) states[count++].heap = s;
    for (s = count; s-- > 0;) gpumpi_victim_sift(states, count, s);
    while (count && given < context->request->positions) {
        const gpump_victim_sm *sm = &sms[states[0].heap];
        gpumpi_victim_state *top = &states[states[0].heap];
        if (context->policy->flags & GPUMP_VICTIM_WHOLE_SM) {
            uint64_t sets[GPUMP_VICTIM_POSITIONS];
            gpump_victim_plan_args args;
            top->quota = gpumpi_victim_prepare(context, sm, sets, &args);
            given += top->quota;
        } else {
            top->quota++;
            given++;
        }
        if (!gpumpi_victim_rate(context, sm, top)) states[0].heap = states[--count].heap;
        gpumpi_victim_sift(states, count, 0);
    }
}

/* ---- blocks that leave whole SMs, and a second look at blocks that drain ---- */

/* Asks the policy about args->draining, whose blocks all leave, and writes those choices that are not drains; `drains`:
 * drains too. */
static gpump_result gpumpi_victim_answer(const gpump_victim_plan_args *args, uint32_t index, int drains,
                                         gpumpi_victim_out *out, gpump_diag *diag) {
    const gpump_victim_sm *sm = args->sm;
    gpump_victim_decision *decision = out->decision;
    gpump_victim_plan plan;
    uint64_t rest, port = 0;
    uint32_t before = decision->choices;
    int bills = args->policy->plan && (args->policy->flags & GPUMP_VICTIM_COMMON_DEADLINE); /* what stays counts too */
    plan.later = 0;
    if (bills)
        args->policy->plan(args, &plan);
    else
        gpumpi_victim_plan_each(args, &plan);
    for (rest = plan.victims & args->draining; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = plan.technique[i];
        if (t >= GPUMP_TECHNIQUES || !((uint32_t)args->allowed[i] >> t & 1u))
            return gpumpi_refuse(diag, GPUMP_REASON_NO_TECHNIQUE, "policy's plan for sm", index);
    }
    for (rest = plan.victims & args->draining; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = plan.technique[i], later = (uint32_t)(plan.later >> i & 1u);
        int silent = !drains && (t == GPUMP_TECHNIQUE_DRAIN || later);
        uint64_t latency;
        if (silent && !bills) continue;
        latency = sm->estimates[i].latency[t];
        if ((args->request->flags & GPUMP_VICTIM_SERIAL_PORT) && gpumpi_victim_uses_port(t))
            latency = port = gpump_add_saturated(port, latency);
        if (latency > out->soonest) out->soonest = latency;
        decision->overhead = gpump_add_saturated(decision->overhead, sm->estimates[i].overhead[t]);
        if (silent) continue;
        if (later && latency < args->left) latency = args->left; /* it runs on, and is out by then */
        if (out->choices)
            gpumpi_victim_put(&out->choices[decision->choices], sm, i, later ? (uint32_t)GPUMP_TECHNIQUE_DRAIN : t, t,
                              latency);
        decision->choices++;
        if (latency > decision->latency) decision->latency = latency;
    }
    decision->sms += decision->choices != before;
    if (plan.ask_again < decision->ask_again) decision->ask_again = plan.ask_again;
    return GPUMP_OK;
}

/* The draining blocks of every SM. */
static gpump_result gpumpi_victim_look_again(const gpumpi_victim_context *context, const gpump_victim_sm *sms,
                                             uint32_t sm_count, gpumpi_victim_out *out, gpump_diag *diag) {
    uint32_t s, i;
    gpumpi_victim_begin(out);
    for (s = 0; s < sm_count; s++) {
        const gpump_victim_sm *sm = &sms[s];
        gpump_victim_plan_args args;
        gpump_result result;
        memset(&args, 0, sizeof args);
        args.policy = context->policy;
        args.request = context->request;
        args.sm = sm;
        args.left = context->relaxed;
        for (i = 0; i < sm->count; i++) {
            const gpump_block_view *block = &sm->blocks[i];
            if (block->state != GPUMP_BLOCK_DRAINING || block->kernel == context->request->kernel) continue;
            args.allowed[i] = (uint8_t)((block->may & context->policy->techniques) | GPUMPI_VICTIM_D);
            args.draining |= (uint64_t)1 << i;
        }
        args.choosable = args.draining;
        if (!args.draining) continue;
        result = gpumpi_victim_answer(&args, s, 0, out, diag);
        if (result != GPUMP_OK) return result;
    }
    return GPUMP_OK;
}

/* All blocks of every SM. */
static gpump_result gpumpi_victim_empty(const gpumpi_victim_context *context, const gpump_victim_sm *sms,
                                        uint32_t sm_count, gpumpi_victim_out *out, gpump_diag *diag) {
    const uint32_t kernel = context->request->kernel;
    uint32_t s, i;
    gpumpi_victim_begin(out);
    for (s = 0; s < sm_count; s++) {
        const gpump_victim_sm *sm = &sms[s];
        gpump_victim_plan_args args;
        gpump_result result;
        uint64_t rest, stay = 0;
        memset(&args, 0, sizeof args);
        args.policy = context->policy;
        args.request = context->request;
        args.sm = sm;
        args.left = context->left;
        for (i = 0; i < sm->count; i++) {
            const gpump_block_view *block = &sm->blocks[i];
            if (gpump_block_leaves(block->state) || (kernel && block->kernel == kernel)) continue;
            args.allowed[i] = (uint8_t)(block->may & context->policy->techniques);
            args.groups |= block->group;
            if (args.allowed[i])
                args.choosable |= (uint64_t)1 << i;
            else
                args.fixed |= (uint64_t)1 << i;
        }
        for (rest = args.groups ? args.choosable : 0; rest; rest &= rest - 1)
            if (gpumpi_victim_closure(sm, rest & (0 - rest)) & args.fixed) stay |= rest & (0 - rest);
        if (args.fixed) { /* groups only explain why others stay */
            out->decision->missing += gpump_bits_count64(args.fixed | stay);
            if (!out->decision->reason)
                out->decision->reason = sm->blocks[gpump_bits_lowest64(args.fixed)].may ? GPUMP_REASON_CLOBBERED
                                                                                        : GPUMP_REASON_NO_TECHNIQUE;
        }
        args.draining = args.choosable &= ~stay;
        if (!args.choosable) continue;
        result = gpumpi_victim_answer(&args, s, 1, out, diag);
        if (result != GPUMP_OK) return result;
    }
    return GPUMP_OK;
}

/* ---- one deadline for all ---- */

/* What a plan costs: what it wastes, and what its lateness is worth. */
static uint64_t gpumpi_victim_bill(const gpumpi_victim_context *context, const gpumpi_victim_out *out) {
    uint64_t late = out->soonest > context->left ? out->soonest - context->left : 0,
             price = context->request->late_price;
    if (price && late > UINT64_MAX / price) return UINT64_MAX;
    return gpump_add_saturated(out->decision->overhead, late * price);
}

/* Chooses the time for which all positions are planned, and sets context->relaxed. A request ends with its last
 * position. If one position is late, finishing the others early gains nothing: all are planned for the latest time.
 * Where avoiding lateness costs more than the lateness, all positions may take longer. `first` is the result of the
 * plan within context->left. */
static gpump_result gpumpi_victim_settle(gpumpi_victim_context *context, const gpump_victim_sm *sms, uint32_t sm_count,
                                         const gpumpi_victim_state *states, int again, const gpumpi_victim_out *first,
                                         gpump_diag *diag) {
    static const uint8_t eighths[] = {1, 2, 4, 8, 16, 24, 40, 80}; /* of the limit, beyond it */
    uint64_t price = context->request->late_price, best, until = context->left;
    uint32_t k;
    if (first->soonest > until && first->soonest != GPUMP_UNKNOWN) until = first->soonest;
    best = gpumpi_victim_bill(context, first);
    for (k = 0; price && k < sizeof eighths; k++) {
        gpump_victim_decision decision;
        gpumpi_victim_out out;
        gpump_result result;
        uint64_t more = context->request->limit_cycles / 8 * eighths[k], bill;
        if (more > best / price) break; /* so late, nothing can be cheaper */
        context->relaxed = gpump_add_saturated(context->left, more);
        if (context->relaxed <= until) continue;
        out.places = NULL;
        out.choices = NULL;
        out.decision = &decision;
        result = again ? gpumpi_victim_look_again(context, sms, sm_count, &out, diag)
                       : gpumpi_victim_run(context, sms, sm_count, states, &out, diag);
        if (result != GPUMP_OK) return result;
        bill = gpumpi_victim_bill(context, &out);
        if (bill >= best) continue;
        best = bill;
        until = out.soonest > context->left ? out.soonest : context->left;
    }
    context->relaxed = until;
    return GPUMP_OK;
}

/* What a call does with its question: the three differ in how a plan is made. */
typedef enum gpumpi_victim_call {
    GPUMPI_VICTIM_DECIDE,
    GPUMPI_VICTIM_VACATE,
    GPUMPI_VICTIM_RECONSIDER
} gpumpi_victim_call;

static gpump_result gpumpi_victim_once(const gpumpi_victim_context *context, const gpump_victim_question *question,
                                       const gpumpi_victim_state *states, gpumpi_victim_call call,
                                       gpumpi_victim_out *out, gpump_diag *diag) {
    if (call == GPUMPI_VICTIM_DECIDE)
        return gpumpi_victim_run(context, question->sms, question->sm_count, states, out, diag);
    if (call == GPUMPI_VICTIM_VACATE) return gpumpi_victim_empty(context, question->sms, question->sm_count, out, diag);
    return gpumpi_victim_look_again(context, question->sms, question->sm_count, out, diag);
}

/* Answers a question whose input has been checked. Nothing is written before it is known to fit and to be right. */
static gpump_result gpumpi_victim_make(gpumpi_victim_context *context, const gpump_victim_question *question,
                                       const gpumpi_victim_state *states, gpumpi_victim_call call,
                                       gpump_victim_decision *decision, gpump_diag *diag) {
    gpump_victim_decision made;
    gpumpi_victim_out out;
    uint64_t most_choices = 0;
    uint32_t s;
    int common = call != GPUMPI_VICTIM_VACATE && (question->policy->flags & GPUMP_VICTIM_COMMON_DEADLINE) &&
                 (call == GPUMPI_VICTIM_DECIDE || question->policy->plan) && context->left != GPUMP_UNKNOWN;
    int enough = (call != GPUMPI_VICTIM_DECIDE || question->place_capacity >= question->request->positions) &&
                 (question->sm_count == 1 || gpumpi_victim_is_built_in(question->policy));
    gpump_result result;
    for (s = 0; s < question->sm_count; s++) most_choices += question->sms[s].count;
    enough = enough && question->choice_capacity >= most_choices;
    out.places = enough ? question->places : NULL;
    out.choices = enough ? question->choices : NULL;
    out.decision = &made;
    result = gpumpi_victim_once(context, question, states, call, &out, diag);
    if (result == GPUMP_OK && common) {
        result = gpumpi_victim_settle(context, question->sms, question->sm_count, states,
                                      call == GPUMPI_VICTIM_RECONSIDER, &out, diag);
        if (result == GPUMP_OK && context->relaxed != context->left)
            result = gpumpi_victim_once(context, question, states, call, &out, diag);
    }
    if (result == GPUMP_OK && !enough) { /* counted so far */
        if ((call == GPUMPI_VICTIM_DECIDE && made.places > question->place_capacity) ||
            made.choices > question->choice_capacity) {
            decision->places = made.places;
            decision->choices = made.choices;
            return gpumpi_fail(diag, GPUMP_ERROR_CAPACITY, "place_capacity or choice_capacity", 0,
                               question->choice_capacity, made.choices, UINT64_MAX);
        }
        out.places = question->places;
        out.choices = question->choices;
        result = gpumpi_victim_once(context, question, states, call, &out, diag);
    }
    if (result == GPUMP_OK) *decision = made;
    return result;
}

static void gpumpi_victim_context_of(const gpump_victim_question *question, const gpump_victim_geometry *geometry,
                                     gpumpi_victim_context *context) {
    context->policy = question->policy;
    context->request = question->request;
    context->geometry = geometry;
    context->left = context->relaxed = gpumpi_victim_left(question->request);
}

GPUMP_API gpump_result gpump_victim_decide(const gpump_victim_question *question, gpump_victim_decision *decision,
                                           gpump_diag *diag) {
    gpumpi_victim_state stack[64], *states = NULL;
    gpumpi_victim_context context;
    const gpump_victim_geometry *geometry = question ? question->geometry : NULL;
    size_t scratch_bytes;
    gpump_result result;
    if (!geometry || !decision)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "geometry or decision", 0, 0, 1, UINT64_MAX);
    result = gpumpi_victim_check_question(question, geometry, diag);
    if (result != GPUMP_OK) return result;
    if (geometry->positions < 1 || geometry->positions > GPUMP_VICTIM_POSITIONS)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "geometry.positions", 0, geometry->positions, 1,
                           GPUMP_VICTIM_POSITIONS);
    gpumpi_victim_context_of(question, geometry, &context);
    if (question->sm_count > 1 && question->request->positions < (uint64_t)question->sm_count * geometry->blocks) {
        scratch_bytes = gpump_victim_scratch_bytes(question->sm_count);
        if (scratch_bytes > 0 && (!question->scratch || question->scratch_bytes < scratch_bytes))
            return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "scratch_bytes", 0, question->scratch_bytes, scratch_bytes,
                               UINT64_MAX);
        states = question->sm_count <= 64 ? stack : (gpumpi_victim_state *)question->scratch;
        gpumpi_victim_share(&context, question->sms, question->sm_count, states);
    }
    return gpumpi_victim_make(&context, question, states, GPUMPI_VICTIM_DECIDE, decision, diag);
}

GPUMP_API gpump_result gpump_victim_vacate(const gpump_victim_question *question, gpump_victim_decision *decision,
                                           gpump_diag *diag) {
    gpumpi_victim_context context;
    gpump_result result = gpumpi_victim_check_question(question, NULL, diag);
    if (result != GPUMP_OK) return result;
    if (!decision) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "decision", 0, 0, 1, UINT64_MAX);
    gpumpi_victim_context_of(question, NULL, &context);
    return gpumpi_victim_make(&context, question, NULL, GPUMPI_VICTIM_VACATE, decision, diag);
}

GPUMP_API gpump_result gpump_victim_reconsider(const gpump_victim_question *question, gpump_victim_decision *decision,
                                               gpump_diag *diag) {
    gpumpi_victim_context context;
    gpump_result result = gpumpi_victim_check_question(question, NULL, diag);
    if (result != GPUMP_OK) return result;
    if (!decision) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "decision", 0, 0, 1, UINT64_MAX);
    if (!question->policy->technique &&
        !(question->policy->plan && (question->policy->flags & GPUMP_VICTIM_COMMON_DEADLINE))) {
        memset(decision, 0, sizeof *decision); /* it never asks again */
        decision->ask_again = GPUMP_UNKNOWN;
        return GPUMP_OK;
    }
    gpumpi_victim_context_of(question, NULL, &context);
    return gpumpi_victim_make(&context, question, NULL, GPUMPI_VICTIM_RECONSIDER, decision, diag);
}

/* ---- gpump_impl/scheduler/scheduler_tables.c ---- */



#include <string.h>

#define GPUMPI_SCHEDULER_MAGIC UINT64_C(0x31444843534d5047) /* "GPMSCHD1" */

/* ---- configuration ---- */

GPUMP_API gpump_result gpump_scheduler_config_preset(gpump_scheduler_config *config, const char *preset) {
    gpump_gpu gpu;
    gpump_result result;
    if (!config || !preset) return GPUMP_ERROR_ARGUMENT;
    result = gpump_gpu_config_preset(&gpu, preset);
    if (result) return result;
    memset(config, 0, sizeof *config);
    config->struct_size = (uint32_t)sizeof *config;
    config->sms = gpu.sms;
    config->blocks_per_sm = gpu.block_slots;
    config->processes = 32;
    config->queues = 32;
    config->active_kernels = gpu.sms;
    config->saved_blocks = gpu.sms * gpu.block_slots;
    config->mechanism = GPUMP_SCHEDULER_SWITCH;
    config->kernels_per_sm = 1;
    config->decision_cycles = gpu.sms;
    config->slice_cycles = gpu.clock_khz; /* 1 ms */
    return GPUMP_OK;
}

static gpump_result gpumpi_scheduler_check_config(const gpump_scheduler_config *c, gpump_diag *diag) {
    gpump_result r;
    if (!c) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "config", 0, 0, 1, UINT64_MAX);
    if ((r = gpumpi_range(diag, "struct_size", c->struct_size, sizeof *c, sizeof *c))) return r;
    if ((r = gpumpi_range(diag, "sms", c->sms, 1, 65536))) return r;
    if ((r = gpumpi_range(diag, "blocks_per_sm", c->blocks_per_sm, 1, 64))) return r;
    if ((r = gpumpi_range(diag, "processes", c->processes, 1, 4096))) return r;
    if ((r = gpumpi_range(diag, "queues", c->queues, 1, 4096))) return r;
    if ((r = gpumpi_range(diag, "active_kernels", c->active_kernels, 1, 4096))) return r;
    if ((r = gpumpi_range(diag, "saved_blocks", c->saved_blocks, 0, (uint64_t)c->sms * c->blocks_per_sm))) return r;
    if ((r = gpumpi_range(diag, "mechanism", c->mechanism, 0, GPUMP_SCHEDULER_SELECT))) return r;
    if ((r = gpumpi_range(diag, "kernels_per_sm", c->kernels_per_sm, 1, 2))) return r;
    if ((r = gpumpi_range(diag, "slice_cycles", c->slice_cycles, 1, UINT32_MAX))) return r;
    return gpumpi_range(diag, "reserved", c->reserved, 0, 0);
}

/* Lays the tables out; returns the size of the block. u64 tables come first, so everything is aligned. */
static uint64_t gpumpi_scheduler_layout(gpump_scheduler *s, const gpump_scheduler_config *c) {
    uint64_t at = sizeof *s, words = gpump_bits_words(c->sms);
    s->processes_at = at, at += (uint64_t)c->processes * sizeof(gpump_scheduler_process_row);
    s->buffers_at = at, at += (uint64_t)c->queues * sizeof(gpump_scheduler_buffer);
    s->kernels_at = at, at += (c->active_kernels + UINT64_C(1)) * sizeof(gpump_scheduler_kernel);
    s->sms_at = at, at += (uint64_t)c->sms * sizeof(gpump_scheduler_sm);
    s->idle_at = at, at += words * 8;
    s->attention_at = at, at += words * 8;
    s->attention_summary_at = at, at += gpump_bits_words((uint32_t)words) * UINT64_C(8);
    s->done_at = at, at += gpump_bits_words(c->queues) * UINT64_C(8);
    s->ptbqs_at = at, at += (uint64_t)c->active_kernels * c->saved_blocks * 8;
    s->generations_at = at, at += (uint64_t)c->sms * c->blocks_per_sm * 4;
    s->owners_at = at, at += (uint64_t)c->sms * c->blocks_per_sm * 4;
    s->waiting_at = at, at += (uint64_t)c->queues * 4;
    s->active_at = at, at += (uint64_t)c->active_kernels * 4;
    return (at + 7) & ~UINT64_C(7);
}

static uint64_t gpumpi_scheduler_layout_hash(const gpump_scheduler_config *c) {
    uint64_t hash = gpump_hash_u64(GPUMP_HASH_SEED, sizeof(struct gpump_scheduler));
    const uint32_t fields[] = {c->sms, c->blocks_per_sm, c->processes, c->queues, c->active_kernels, c->saved_blocks};
    return gpump_hash_u32s(hash, fields, sizeof fields / sizeof *fields);
}

GPUMP_API gpump_result gpump_scheduler_bytes(const gpump_scheduler_config *config, size_t *bytes, gpump_diag *diag) {
    gpump_result result = gpumpi_scheduler_check_config(config, diag);
    gpump_scheduler layout;
    uint64_t needed;
    if (result) return result;
    if (!bytes) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bytes", 0, 0, 1, UINT64_MAX);
    needed = gpumpi_scheduler_layout(&layout, config);
    if (needed > SIZE_MAX)
        return gpumpi_fail(diag, GPUMP_ERROR_CONFIG, "saved_blocks", 0, config->saved_blocks, 0, SIZE_MAX / 8);
    *bytes = (size_t)needed;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_init(void *memory, size_t bytes, const gpump_scheduler_config *config,
                                            gpump_scheduler **scheduler, gpump_diag *diag) {
    size_t needed;
    gpump_result result = gpump_scheduler_bytes(config, &needed, diag);
    gpump_scheduler *s = (gpump_scheduler *)memory;
    if (result) return result;
    if (!scheduler) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "scheduler", 0, 0, 1, UINT64_MAX);
    result = gpumpi_head_check_memory(memory, bytes, needed, diag);
    if (result) return result;
    memset(memory, 0, needed);
    gpumpi_scheduler_layout(s, config);
    s->head.magic = GPUMPI_SCHEDULER_MAGIC;
    s->head.layout = gpumpi_scheduler_layout_hash(config);
    s->head.bytes = needed;
    s->config = *config;
    s->policy_due = s->policy_wake = GPUMP_UNKNOWN;
    s->serials = 1;
    s->idle_sms = config->sms;
    for (uint32_t i = 0; i < config->sms; i++) {
        gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[i];
        sm->previous_sm = sm->next_sm = GPUMP_NONE;
        gpump_bits_set(gpumpi_scheduler_words(s, s->idle_at), i);
    }
    *scheduler = s;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_adopt(void *memory, size_t bytes, const gpump_scheduler_config *config,
                                             gpump_scheduler **scheduler, gpump_diag *diag) {
    gpump_scheduler layout, *adopted = (gpump_scheduler *)memory;
    size_t needed;
    gpump_result result = gpump_scheduler_bytes(config, &needed, diag);
    if (result) return result;
    if (!scheduler) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "scheduler", 0, 0, 1, UINT64_MAX);
    result =
        gpumpi_head_adopt(memory, bytes, GPUMPI_SCHEDULER_MAGIC, gpumpi_scheduler_layout_hash(config), needed, diag);
    if (result) return result;
    if (memcmp(&adopted->config, config, sizeof *config))
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "config", 0, 0, 0, 0);
    gpumpi_scheduler_layout(&layout, config);
    if (memcmp(&adopted->processes_at, &layout.processes_at, GPUMPI_SCHEDULER_OFFSETS * sizeof(uint64_t)))
        return gpumpi_fail(diag, GPUMP_ERROR_FORMAT, "offsets", 0, 0, 0, 0);
    *scheduler = adopted;
    return GPUMP_OK;
}

GPUMP_API uint64_t gpump_scheduler_hash(const gpump_scheduler *s) {
    const gpump_scheduler_config *c = &s->config;
    uint64_t hash = gpump_hash_u64(GPUMP_HASH_SEED, s->head.layout);
    hash = gpump_hash_u64s(hash, &s->statistics.submitted, sizeof s->statistics / 8);
    hash = gpump_hash_u64s(hash, &s->now, 5);
    hash = gpump_hash_u64s(hash, s->policy_state, GPUMP_SCHEDULER_STATE_WORDS);
    hash = gpump_hash_u32s(hash, &s->config.struct_size, sizeof s->config / 4);
    hash = gpump_hash_u32s(hash, &s->waiting_count, 8);
    for (uint32_t i = 0; i < c->processes; i++) {
        const gpump_scheduler_process_row *row = &gpumpi_scheduler_processes(s)[i];
        hash = gpump_hash_u32s(gpump_hash_u64s(hash, &row->cookie, 3), &row->priority, 4);
    }
    for (uint32_t i = 0; i < c->queues; i++) {
        const gpump_scheduler_buffer *row = &gpumpi_scheduler_buffers(s)[i];
        hash = gpump_hash_u32s(gpump_hash_u64s(hash, &row->cookie, 3), &row->process, 6);
    }
    for (uint32_t i = 1; i <= c->active_kernels; i++) {
        const gpump_scheduler_kernel *row = &gpumpi_scheduler_kernels(s)[i];
        hash = gpump_hash_u32s(gpump_hash_u64s(hash, &row->cookie, 5), &row->queue, 16);
    }
    for (uint32_t i = 0; i < c->sms; i++) {
        const gpump_scheduler_sm *row = &gpumpi_scheduler_sms(s)[i];
        hash = gpump_hash_u32s(gpump_hash_u64s(hash, &row->process_serial, 2), &row->state, 10);
    }
    hash = gpump_hash_u64s(hash, gpumpi_scheduler_words(s, s->idle_at), (size_t)((s->generations_at - s->idle_at) / 8));
    return gpump_hash_u32s(hash, gpumpi_scheduler_halves(s, s->generations_at),
                           (size_t)(((uint64_t)c->sms * c->blocks_per_sm * 2 + c->queues + c->active_kernels)));
}

GPUMP_API gpump_result gpump_scheduler_table_bits(const gpump_scheduler_config *c, gpump_scheduler_storage *storage,
                                                  gpump_diag *diag) {
    gpump_result result = gpumpi_scheduler_check_config(c, diag);
    uint64_t process, kernel, resident, grid = 40, pointer = 40;
    if (result) return result;
    if (!storage) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "storage", 0, 0, 1, UINT64_MAX);
    process = gpumpi_bits_for(c->processes);
    kernel = gpumpi_bits_for(c->active_kernels);
    resident = gpumpi_bits_for((uint64_t)c->sms * c->blocks_per_sm + 1);
    /* valid, process, pointer to the launch descriptor */
    storage->command_buffers = c->queues * (1 + process + pointer);
    /* valid, process, descriptor, grid and next block, blocks per SM, resident blocks, tokens with sign */
    storage->ksrt = c->active_kernels * (1 + process + pointer + 2 * grid + gpumpi_bits_for(c->blocks_per_sm) +
                                         resident + gpumpi_bits_for(c->sms) + 1);
    /* state, kernel, next, running blocks, and of a second kernel when it may hold one */
    storage->smst = c->sms * (2 + 2 * kernel + c->kernels_per_sm * gpumpi_bits_for(c->blocks_per_sm + UINT64_C(1)));
    storage->active_queue = c->active_kernels * kernel;
    /* block id and stack pointer, 32 bits each */
    storage->ptbqs = (uint64_t)c->active_kernels * c->saved_blocks * 64;
    /* valid, page table base, priority */
    storage->process_table = c->processes * (1 + pointer + 8);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_bits(const gpump_scheduler_config *config, uint64_t *bits, gpump_diag *diag) {
    gpump_scheduler_storage storage;
    gpump_result result = gpump_scheduler_table_bits(config, &storage, diag);
    if (result) return result;
    if (!bits) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "bits", 0, 0, 1, UINT64_MAX);
    *bits = storage.command_buffers + storage.ksrt + storage.smst + storage.active_queue + storage.ptbqs +
            storage.process_table;
    return GPUMP_OK;
}

/* ---- views ---- */

GPUMP_API gpump_scheduler_view gpump_scheduler_look(const gpump_scheduler *s) {
    gpump_scheduler_view view;
    view.config = &s->config;
    view.processes = gpumpi_scheduler_processes(s);
    view.buffers = gpumpi_scheduler_buffers(s);
    view.waiting = gpumpi_scheduler_halves(s, s->waiting_at);
    view.kernels = gpumpi_scheduler_kernels(s);
    view.active = gpumpi_scheduler_halves(s, s->active_at);
    view.sms = gpumpi_scheduler_sms(s);
    view.state = (uint64_t *)gpumpi_scheduler_at(s, offsetof(struct gpump_scheduler, policy_state));
    view.now = s->now;
    view.waiting_count = s->waiting_count;
    view.active_count = s->active_count;
    view.open_processes = s->open_processes;
    view.idle_sm = gpumpi_scheduler_lowest_idle(s);
    view.reserved_sms = s->reserved_sms;
    view.queue = GPUMP_NONE;
    return view;
}

GPUMP_API void gpump_scheduler_get_statistics(const gpump_scheduler *s, gpump_scheduler_statistics *statistics) {
    *statistics = s->statistics;
}

GPUMP_API void gpump_scheduler_statistics_diff(const gpump_scheduler_statistics *earlier,
                                               const gpump_scheduler_statistics *later,
                                               gpump_scheduler_statistics *difference) {
#define GPUMPI_FIELD(name, unit, description) difference->name = later->name - earlier->name;
    GPUMP_SCHEDULER_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
}

GPUMP_API gpump_result gpump_scheduler_statistics_field(const gpump_scheduler_statistics *statistics, uint32_t index,
                                                        const char **name, const char **unit, const char **description,
                                                        uint64_t *value) {
    static const char *const fields[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
        GPUMP_SCHEDULER_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
    };
    if (!statistics) return GPUMP_ERROR_ARGUMENT;
    if (index >= sizeof fields / sizeof *fields) return GPUMP_EMPTY;
    if (name) *name = fields[index][0];
    if (unit) *unit = fields[index][1];
    if (description) *description = fields[index][2];
    if (value) *value = (&statistics->submitted)[index];
    return GPUMP_OK;
}

/* ---- checking: everything that the other functions rely on ---- */

/* A set of `bits` bits: nothing beyond the last, and how many are in it. */
static int gpumpi_scheduler_set_fits(const uint64_t *words, uint32_t bits, uint32_t count) {
    uint32_t length = gpump_bits_words(bits);
    if (bits & 63u && words[length - 1] >> (bits & 63u)) return 0;
    return gpump_bits_count(words, length) == count;
}

static const char *gpumpi_scheduler_check_queues(const gpump_scheduler *s) {
    const gpump_scheduler_config *c = &s->config;
    const gpump_scheduler_kernel *kernels = gpumpi_scheduler_kernels(s);
    const gpump_scheduler_buffer *buffers = gpumpi_scheduler_buffers(s);
    const uint32_t *active = gpumpi_scheduler_halves(s, s->active_at);
    const uint32_t *waiting = gpumpi_scheduler_halves(s, s->waiting_at);
    uint32_t in_use = 0, in_state[4] = {0, 0, 0, 0};
    if (s->active_count > c->active_kernels || s->waiting_count > c->queues) return "a queue is longer than its table";
    for (uint32_t i = 0; i < c->queues; i++) {
        const gpump_scheduler_buffer *b = &buffers[i];
        if (b->state > GPUMP_SCHEDULER_BUFFER_DONE) return "unknown state of a command buffer";
        in_state[b->state]++;
        if (gpump_bits_get(gpumpi_scheduler_words(s, s->done_at), i) != (b->state == GPUMP_SCHEDULER_BUFFER_DONE))
            return "the set of ended kernels and a command buffer differ";
        if (b->state == GPUMP_SCHEDULER_BUFFER_EMPTY) continue;
        if (b->process >= c->processes || !gpumpi_scheduler_processes(s)[b->process].serial)
            return "a command of a process that is not open";
        if (!b->blocks || b->blocks > GPUMP_SCHEDULER_MAX_BLOCKS || !b->blocks_per_sm ||
            b->blocks_per_sm > c->blocks_per_sm || b->saved_limit > c->saved_blocks || b->arrival >= s->arrivals)
            return "a command out of range";
        if (b->state == GPUMP_SCHEDULER_BUFFER_ACTIVE && (!b->kernel || b->kernel > c->active_kernels ||
                                                          !kernels[b->kernel].in_use || kernels[b->kernel].queue != i))
            return "a command and its kernel differ";
    }
    if (in_state[GPUMP_SCHEDULER_BUFFER_WAITING] != s->waiting_count ||
        in_state[GPUMP_SCHEDULER_BUFFER_ACTIVE] != s->active_count ||
        in_state[GPUMP_SCHEDULER_BUFFER_DONE] != s->done_count ||
        !gpumpi_scheduler_set_fits(gpumpi_scheduler_words(s, s->done_at), c->queues, s->done_count))
        return "counts of command buffers differ";
    for (uint32_t i = 0; i < s->waiting_count; i++) { /* ascending arrivals: no queue stands here twice */
        if (waiting[i] >= c->queues || buffers[waiting[i]].state != GPUMP_SCHEDULER_BUFFER_WAITING)
            return "the waiting list names a buffer without a command";
        if (i && buffers[waiting[i]].arrival <= buffers[waiting[i - 1]].arrival)
            return "the waiting list is out of order";
    }
    for (uint32_t i = 1; i <= c->active_kernels; i++) {
        if (kernels[i].in_use > 1) return "a mark of use that is neither 0 nor 1";
        in_use += kernels[i].in_use;
    }
    if (in_use != s->active_count) return "the active queue and the KSRT differ";
    for (uint32_t i = 0; i < s->active_count; i++) {
        if (!active[i] || active[i] > c->active_kernels || !kernels[active[i]].in_use)
            return "the active queue names a free row";
        for (uint32_t j = 0; j < i; j++)
            if (active[j] == active[i]) return "the active queue names a kernel twice";
    }
    return NULL;
}

static const char *gpumpi_scheduler_check_processes(const gpump_scheduler *s) {
    const gpump_scheduler_config *c = &s->config;
    const gpump_scheduler_process_row *rows = gpumpi_scheduler_processes(s);
    uint64_t commands = 0, in_buffers = 0;
    uint32_t open = 0;
    for (uint32_t i = 0; i < c->processes; i++) {
        if (!rows[i].serial && rows[i].commands) return "commands of a process that is not open";
        if (rows[i].serial >= s->serials || rows[i].weight > GPUMP_SCHEDULER_MAX_BUDGET)
            return "a process out of range";
        open += rows[i].serial != 0;
        commands += rows[i].commands;
        for (uint32_t j = 0; rows[i].commands && j < c->queues; j++)
            if (gpumpi_scheduler_buffers(s)[j].state && gpumpi_scheduler_buffers(s)[j].process == i) in_buffers++;
        if (commands != in_buffers) return "commands of a process and its buffers differ";
    }
    for (uint32_t j = 0; j < c->queues; j++) commands -= gpumpi_scheduler_buffers(s)[j].state != 0;
    if (commands) return "commands of processes and buffers differ";
    return open == s->open_processes ? NULL : "the count of open processes differs";
}

/* Whether gpump_scheduler_next has something to hand over for an SM. */
static int gpumpi_scheduler_has_action(const gpump_scheduler *s, const gpump_scheduler_sm *sm) {
    const gpump_scheduler_kernel *kernels = gpumpi_scheduler_kernels(s);
    if (sm->flags & (GPUMP_SCHEDULER_SM_PREEMPT_DUE | GPUMP_SCHEDULER_SM_SETUP_DUE)) return 1;
    if (sm->state == GPUMP_SCHEDULER_SM_RUNNING && !(sm->flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING))
        return sm->blocks < kernels[sm->kernel].blocks_per_sm && gpump_scheduler_to_issue(&kernels[sm->kernel]);
    return 0;
}

static const char *gpumpi_scheduler_check_sm(const gpump_scheduler *s, uint32_t index) {
    enum {
        PREEMPT_DUE = GPUMP_SCHEDULER_SM_PREEMPT_DUE,
        SETUP_DUE = GPUMP_SCHEDULER_SM_SETUP_DUE,
        SETUP_RUNNING = GPUMP_SCHEDULER_SM_SETUP_RUNNING,
        STALE = GPUMP_SCHEDULER_SM_SETUP_STALE,
        READY = GPUMP_SCHEDULER_SM_NEXT_READY,
        SWITCHING = GPUMP_SCHEDULER_SM_SWITCHING
    };
    const gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    const gpump_scheduler_kernel *kernels = gpumpi_scheduler_kernels(s);
    const uint32_t *owners = gpumpi_scheduler_halves(s, s->owners_at) + (uint64_t)index * s->config.blocks_per_sm;
    const uint32_t last = s->config.active_kernels, setup = sm->flags & (SETUP_DUE | SETUP_RUNNING | READY);
    uint32_t blocks = 0, next_blocks = 0;
    int idle = gpump_bits_get(gpumpi_scheduler_words(s, s->idle_at), index);
    if (sm->kernel > last || sm->next > last || (sm->kernel && !kernels[sm->kernel].in_use) ||
        (sm->next && !kernels[sm->next].in_use))
        return "an SM of a kernel that is not active";
    if (sm->process_serial >= s->serials) return "an SM of a process that never was";
    if (s->config.blocks_per_sm < 64 && sm->slots >> s->config.blocks_per_sm) return "a slot beyond the last is taken";
    for (uint32_t slot = 0; slot < s->config.blocks_per_sm; slot++)
        if ((sm->slots >> slot) & 1u) {
            if (owners[slot] && owners[slot] == sm->kernel)
                blocks++;
            else if (owners[slot] && owners[slot] == sm->next)
                next_blocks++;
            else
                return "a block of a kernel that the SM neither runs nor is reserved for";
        }
    if (blocks != sm->blocks || next_blocks != sm->next_blocks) return "block counts and slots of an SM differ";
    if ((sm->kernel && blocks > kernels[sm->kernel].blocks_per_sm) ||
        (sm->next && next_blocks > kernels[sm->next].blocks_per_sm))
        return "more blocks than the kernel may have on an SM";
    if (next_blocks && s->config.kernels_per_sm == 1) return "two kernels on an SM";
    if (idle != (sm->state == GPUMP_SCHEDULER_SM_IDLE)) return "the set of idle SMs and a state differ";
    if (sm->leaving > sm->blocks || (sm->leaving && !(sm->flags & SWITCHING)))
        return "more blocks leaving than were told to";
    if (sm->flags >= SWITCHING * 2u || (sm->flags & STALE && !(sm->flags & SETUP_RUNNING)) || (setup & (setup - 1)))
        return "flags of an SM contradict each other";
    if (sm->room > s->config.blocks_per_sm) return "room for more blocks than there are slots";
    if (gpumpi_scheduler_has_action(s, sm) && !gpump_bits_get(gpumpi_scheduler_words(s, s->attention_at), index))
        return "an action that nobody would hand over";
    switch (sm->state) {
    case GPUMP_SCHEDULER_SM_IDLE:
        return sm->slots || sm->flags || sm->kernel || sm->next ? "an idle SM that is not empty" : NULL;
    case GPUMP_SCHEDULER_SM_RUNNING:
        if (!sm->kernel || sm->next) return "an SM runs no kernel, or two";
        return sm->flags & ~(uint32_t)(SETUP_DUE | SETUP_RUNNING) || (sm->flags & SETUP_DUE && blocks)
                   ? "flags of a running SM"
                   : NULL;
    case GPUMP_SCHEDULER_SM_RESERVED:
        if (!blocks) /* a setup that is no longer wanted has to end first */
            return sm->kernel || (sm->flags | SWITCHING) != (SETUP_RUNNING | STALE | SWITCHING)
                       ? "a vacant SM is still reserved"
                       : NULL;
        if (sm->flags & PREEMPT_DUE && sm->flags != PREEMPT_DUE) return "flags of an SM before its preemption";
        if (setup && s->config.kernels_per_sm == 1) return "an SM is set up beside its blocks";
        return sm->flags & (SETUP_DUE | READY) && !sm->next ? "an SM is set up for no kernel" : NULL;
    default: return "unknown state of an SM";
    }
}

/* Kernels `first` to first + 63: what the SMs say about them, in one walk over the SMs. */
static const char *gpumpi_scheduler_check_kernels(const gpump_scheduler *s, uint32_t first) {
    struct {
        uint32_t owned, reserved, resident, leaving, setting_up;
    } seen[64];
    const gpump_scheduler_sm *sms = gpumpi_scheduler_sms(s);
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < s->config.sms; i++) {
        uint32_t kernel = sms[i].kernel - first, next = sms[i].next - first;
        if (next < 64) seen[next].reserved++, seen[next].resident += sms[i].next_blocks;
        if (kernel >= 64) continue;
        seen[kernel].resident += sms[i].blocks;
        seen[kernel].leaving += sms[i].leaving;
        if (sms[i].state != GPUMP_SCHEDULER_SM_RUNNING) continue;
        seen[kernel].owned++;
        seen[kernel].setting_up +=
            (sms[i].flags & (GPUMP_SCHEDULER_SM_SETUP_DUE | GPUMP_SCHEDULER_SM_SETUP_RUNNING)) != 0;
    }
    for (uint32_t row = first; row < first + 64 && row <= s->config.active_kernels; row++) {
        const gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[row];
        uint32_t listed = 0, before = GPUMP_NONE;
        if (!k->in_use) continue;
        if (k->queue >= s->config.queues || gpumpi_scheduler_buffers(s)[k->queue].kernel != row ||
            gpumpi_scheduler_buffers(s)[k->queue].state != GPUMP_SCHEDULER_BUFFER_ACTIVE ||
            gpumpi_scheduler_buffers(s)[k->queue].process != k->process)
            return "an active kernel and its queue differ";
        if (k->blocks > GPUMP_SCHEDULER_MAX_BLOCKS || !k->blocks_per_sm || k->blocks_per_sm > s->config.blocks_per_sm ||
            k->budget > GPUMP_SCHEDULER_MAX_BUDGET)
            return "a kernel out of range";
        for (uint32_t i = k->first_sm; i != GPUMP_NONE; before = i, i = sms[i].next_sm) {
            if (i >= s->config.sms || sms[i].kernel != row || sms[i].state != GPUMP_SCHEDULER_SM_RUNNING ||
                sms[i].previous_sm != before)
                return "an SM in a list it does not belong to";
            if (++listed > seen[row - first].owned) break;
        }
        if (listed != seen[row - first].owned || listed != k->owned) return "owned SMs and the list differ";
        if (seen[row - first].reserved != k->reserved) return "reserved SMs differ";
        if (seen[row - first].resident != k->resident) return "resident blocks differ";
        if (seen[row - first].leaving != k->leaving) return "leaving blocks differ";
        if (seen[row - first].setting_up != k->setting_up) return "SMs being set up differ";
        if (k->tokens != GPUMP_SCHEDULER_TOKEN_ZERO + k->budget - k->owned - k->reserved)
            return "tokens are not conserved";
        if (k->saved_limit > s->config.saved_blocks || k->saved > k->saved_limit ||
            (k->saved_first && k->saved_first >= s->config.saved_blocks))
            return "a PTBQ has overflowed";
        if ((uint64_t)k->saved + k->leaving > k->saved_limit) return "room in a PTBQ is promised twice";
        if (k->next_block > k->blocks) return "more blocks issued than the grid has";
        if (k->next_block == k->blocks && !k->resident && !k->saved) return "a kernel without blocks is active";
    }
    return NULL;
}

GPUMP_API gpump_result gpump_scheduler_check(const gpump_scheduler *s, gpump_diag *diag) {
    const uint64_t *attention, *summary;
    uint32_t idle = 0, reserved = 0, words;
    const char *wrong;
    if (!s) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "scheduler", 0, 0, 1, UINT64_MAX);
    attention = gpumpi_scheduler_words(s, s->attention_at);
    summary = gpumpi_scheduler_words(s, s->attention_summary_at);
    words = gpump_bits_words(s->config.sms);
    wrong = gpumpi_scheduler_check_queues(s);
    if (!wrong) wrong = gpumpi_scheduler_check_processes(s);
    for (uint32_t i = 0; i < s->config.sms && !wrong; i++) {
        wrong = gpumpi_scheduler_check_sm(s, i);
        idle += gpumpi_scheduler_sms(s)[i].state == GPUMP_SCHEDULER_SM_IDLE;
        reserved += gpumpi_scheduler_sms(s)[i].state == GPUMP_SCHEDULER_SM_RESERVED;
    }
    if (!wrong && (idle != s->idle_sms || reserved != s->reserved_sms ||
                   !gpumpi_scheduler_set_fits(gpumpi_scheduler_words(s, s->idle_at), s->config.sms, idle)))
        wrong = "counts of idle or reserved SMs differ";
    for (uint32_t i = 0; i < words && !wrong; i++)
        if (gpump_bits_get(summary, i) != (attention[i] != 0)) wrong = "SMs with actions and their summary differ";
    if (!wrong && (!gpumpi_scheduler_set_fits(attention, s->config.sms, gpump_bits_count(attention, words)) ||
                   !gpumpi_scheduler_set_fits(summary, words, gpump_bits_count(summary, gpump_bits_words(words)))))
        wrong = "an action of an SM beyond the last";
    for (uint32_t first = 1; first <= s->config.active_kernels && !wrong; first += 64)
        wrong = gpumpi_scheduler_check_kernels(s, first);
    return wrong ? gpumpi_fail(diag, GPUMP_ERROR_FORMAT, wrong, 0, 0, 0, 0) : GPUMP_OK;
}

/* ---- gpump_impl/scheduler/scheduler.c ---- */


/* ---- small state changes ---- */

static void gpumpi_scheduler_policy_event(gpump_scheduler *s) {
    if (s->policy_due == GPUMP_UNKNOWN) s->policy_due = gpump_add_saturated(s->now, s->config.decision_cycles);
}

static void gpumpi_scheduler_attend(gpump_scheduler *s, uint32_t sm) {
    gpump_bits_set(gpumpi_scheduler_words(s, s->attention_at), sm);
    gpump_bits_set(gpumpi_scheduler_words(s, s->attention_summary_at), sm >> 6);
}
static void gpumpi_scheduler_ignore(gpump_scheduler *s, uint32_t sm) {
    uint64_t *words = gpumpi_scheduler_words(s, s->attention_at);
    gpump_bits_clear(words, sm);
    if (!words[sm >> 6]) gpump_bits_clear(gpumpi_scheduler_words(s, s->attention_summary_at), sm >> 6);
}

/* Puts an SM at the head of its owner's list and charges a token. */
static void gpumpi_scheduler_own(gpump_scheduler *s, uint32_t index, uint32_t kernel) {
    gpump_scheduler_sm *sms = gpumpi_scheduler_sms(s), *sm = &sms[index];
    gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[kernel];
    sm->kernel = kernel;
    sm->previous_sm = GPUMP_NONE;
    sm->next_sm = k->first_sm;
    if (k->first_sm != GPUMP_NONE) sms[k->first_sm].previous_sm = index;
    k->first_sm = index;
    k->owned++;
    k->tokens--;
}
static void gpumpi_scheduler_disown(gpump_scheduler *s, uint32_t index) {
    gpump_scheduler_sm *sms = gpumpi_scheduler_sms(s), *sm = &sms[index];
    gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[sm->kernel];
    if (sm->previous_sm != GPUMP_NONE)
        sms[sm->previous_sm].next_sm = sm->next_sm;
    else
        k->first_sm = sm->next_sm;
    if (sm->next_sm != GPUMP_NONE) sms[sm->next_sm].previous_sm = sm->previous_sm;
    sm->previous_sm = sm->next_sm = GPUMP_NONE;
    k->owned--;
    k->tokens++;
}
/* Sets or clears the kernel for which an SM is reserved, and moves the token with it. */
static void gpumpi_scheduler_promise(gpump_scheduler *s, gpump_scheduler_sm *sm, uint32_t kernel) {
    gpump_scheduler_kernel *kernels = gpumpi_scheduler_kernels(s);
    if (sm->next) {
        kernels[sm->next].reserved--;
        kernels[sm->next].tokens++;
    }
    sm->next = kernel;
    if (kernel) {
        kernels[kernel].reserved++;
        kernels[kernel].tokens--;
    }
}

static void gpumpi_scheduler_idle(gpump_scheduler *s, uint32_t index) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    sm->state = GPUMP_SCHEDULER_SM_IDLE;
    sm->flags = 0;
    sm->kernel = sm->next = 0;
    gpump_bits_set(gpumpi_scheduler_words(s, s->idle_at), index);
    s->idle_sms++;
    gpumpi_scheduler_ignore(s, index);
    gpumpi_scheduler_policy_event(s); /* event 2: an SM becomes idle */
}

/* 1 for an owned SM without resident blocks whose kernel has no block to issue. */
static void gpumpi_scheduler_release(gpump_scheduler *s, uint32_t index) {
    gpumpi_scheduler_disown(s, index);
    gpumpi_scheduler_idle(s, index);
}

static void gpumpi_scheduler_setup(gpump_scheduler *s, uint32_t index, uint32_t kernel) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    gpumpi_scheduler_own(s, index, kernel);
    gpumpi_scheduler_kernels(s)[kernel].setting_up++;
    sm->state = GPUMP_SCHEDULER_SM_RUNNING;
    sm->flags = GPUMP_SCHEDULER_SM_SETUP_DUE;
    gpumpi_scheduler_attend(s, index);
}

/* A reserved SM has lost its last block of the old kernel. */
static void gpumpi_scheduler_vacate(gpump_scheduler *s, uint32_t index) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    uint32_t next = sm->next, flags = sm->flags;
    GPUMP_ASSERT(sm->blocks == 0 && sm->leaving == 0);
    if (flags & GPUMP_SCHEDULER_SM_SETUP_STALE) { /* report_ready comes back here */
        sm->kernel = 0;
        return;
    }
    s->reserved_sms--;
    if (!next || (gpump_scheduler_to_issue(&gpumpi_scheduler_kernels(s)[next]) == 0 && sm->next_blocks == 0)) {
        gpumpi_scheduler_promise(s, sm, 0);
        if (flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING) { /* set up beside the old kernel for one that has nothing left */
            s->reserved_sms++;
            sm->kernel = 0;
            sm->flags = GPUMP_SCHEDULER_SM_SETUP_RUNNING | GPUMP_SCHEDULER_SM_SETUP_STALE;
            return;
        }
        gpumpi_scheduler_idle(s, index);
        return;
    }
    gpumpi_scheduler_promise(s, sm, 0);
    if (flags & (GPUMP_SCHEDULER_SM_NEXT_READY | GPUMP_SCHEDULER_SM_SETUP_RUNNING)) { /* kernels_per_sm 2 */
        gpumpi_scheduler_own(s, index, next);
        sm->state = GPUMP_SCHEDULER_SM_RUNNING;
        sm->flags = flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING;
        if (sm->flags) gpumpi_scheduler_kernels(s)[next].setting_up++;
        sm->blocks = sm->next_blocks;
        sm->next_blocks = sm->room = 0;
        gpumpi_scheduler_attend(s, index);
        return;
    }
    gpumpi_scheduler_setup(s, index, next);
}

/* A kernel has no block left: its row, its place in the active queue and its SMs become free. */
static void gpumpi_scheduler_end_kernel(gpump_scheduler *s, uint32_t kernel) {
    gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[kernel];
    gpump_scheduler_buffer *buffer = &gpumpi_scheduler_buffers(s)[k->queue];
    gpump_scheduler_sm *sms = gpumpi_scheduler_sms(s);
    uint32_t *active = gpumpi_scheduler_halves(s, s->active_at), at = 0;
    for (uint32_t i = k->first_sm; i != GPUMP_NONE;) { /* SMs set up for it, or about to be, that it no longer needs */
        uint32_t after = sms[i].next_sm;
        GPUMP_ASSERT(sms[i].blocks == 0);
        gpumpi_scheduler_disown(s, i);
        if (sms[i].flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING) { /* idle once that is over */
            sms[i].state = GPUMP_SCHEDULER_SM_RESERVED;
            sms[i].kernel = 0;
            sms[i].flags = GPUMP_SCHEDULER_SM_SETUP_RUNNING | GPUMP_SCHEDULER_SM_SETUP_STALE;
            s->reserved_sms++;
        } else
            gpumpi_scheduler_idle(s, i);
        i = after;
    }
    if (k->reserved)
        for (uint32_t i = 0; i < s->config.sms; i++)
            if (sms[i].next == kernel) {
                gpumpi_scheduler_promise(s, &sms[i], 0);
                sms[i].room = 0;
                if (sms[i].flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING) sms[i].flags |= GPUMP_SCHEDULER_SM_SETUP_STALE;
                sms[i].flags &= ~(uint32_t)(GPUMP_SCHEDULER_SM_NEXT_READY | GPUMP_SCHEDULER_SM_SETUP_DUE);
            }
    while (active[at] != kernel) at++;
    s->active_count--;
    memmove(active + at, active + at + 1, (s->active_count - at) * sizeof *active);
    k->in_use = 0;
    buffer->state = GPUMP_SCHEDULER_BUFFER_DONE;
    gpump_bits_set(gpumpi_scheduler_words(s, s->done_at), k->queue);
    s->done_count++;
    s->admission_due = 1;
    s->statistics.kernels_done++;
}

/* Ends a kernel that has run out of blocks. */
static void gpumpi_scheduler_settle(gpump_scheduler *s, uint32_t kernel) {
    const gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[kernel];
    if (k->resident == 0 && k->saved == 0 && k->next_block == k->blocks) gpumpi_scheduler_end_kernel(s, kernel);
}

/* ---- facts ---- */

static gpump_result gpumpi_scheduler_time(gpump_scheduler *s, uint64_t now) {
    if (now < s->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    s->now = now;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_open(gpump_scheduler *s, uint64_t now, const gpump_scheduler_process *process,
                                            uint32_t *row, gpump_diag *diag) {
    gpump_scheduler_process_row *rows;
    uint32_t i = 0;
    if (!s || !process || !row) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "process", 0, 0, 1, UINT64_MAX);
    if (process->weight > GPUMP_SCHEDULER_MAX_BUDGET)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "weight", 0, process->weight, 0, GPUMP_SCHEDULER_MAX_BUDGET);
    if (now < s->now || now == GPUMP_UNKNOWN)
        return gpumpi_fail(diag, GPUMP_ERROR_TIME, "now", 0, now, s->now, GPUMP_UNKNOWN - 1);
    rows = gpumpi_scheduler_processes(s);
    while (i < s->config.processes && rows[i].serial) i++;
    if (i == s->config.processes) return gpumpi_fail(diag, GPUMP_ERROR_FULL, "processes", 0, i + UINT64_C(1), 0, i);
    s->now = now;
    memset(&rows[i], 0, sizeof rows[i]);
    rows[i].cookie = process->cookie;
    rows[i].page_table_base = process->page_table_base;
    rows[i].priority = process->priority;
    rows[i].weight = process->weight;
    rows[i].serial = s->serials++;
    s->open_processes++;
    *row = i;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_set_priority(gpump_scheduler *s, uint64_t now, uint32_t process,
                                                    uint32_t priority, uint32_t weight) {
    if (!s || process >= s->config.processes || weight > GPUMP_SCHEDULER_MAX_BUDGET) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_scheduler_processes(s)[process].serial) return GPUMP_ERROR_STATE;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    gpumpi_scheduler_processes(s)[process].priority = priority;
    gpumpi_scheduler_processes(s)[process].weight = weight;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_close(gpump_scheduler *s, uint64_t now, uint32_t process) {
    gpump_scheduler_process_row *row;
    if (!s || process >= s->config.processes) return GPUMP_ERROR_ARGUMENT;
    row = &gpumpi_scheduler_processes(s)[process];
    if (!row->serial || row->commands) return GPUMP_ERROR_STATE;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    memset(row, 0, sizeof *row);
    s->open_processes--;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_submit(gpump_scheduler *s, uint64_t now, uint32_t queue,
                                              const gpump_scheduler_command *command, gpump_diag *diag) {
    gpump_scheduler_buffer *buffer;
    if (!s || !command) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "command", 0, 0, 1, UINT64_MAX);
    if (queue >= s->config.queues)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "queue", 0, queue, 0, s->config.queues - 1);
    if (command->process >= s->config.processes)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "process", 0, command->process, 0, s->config.processes - 1);
    if (!gpumpi_scheduler_processes(s)[command->process].serial)
        return gpumpi_fail(diag, GPUMP_ERROR_STATE, "process", command->process, 0, 1, 1);
    if (command->blocks < 1 || command->blocks > GPUMP_SCHEDULER_MAX_BLOCKS)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "blocks", 0, command->blocks, 1, GPUMP_SCHEDULER_MAX_BLOCKS);
    if (command->blocks_per_sm < 1 || command->blocks_per_sm > s->config.blocks_per_sm)
        return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "blocks_per_sm", 0, command->blocks_per_sm, 1,
                           s->config.blocks_per_sm);
    if (now < s->now || now == GPUMP_UNKNOWN)
        return gpumpi_fail(diag, GPUMP_ERROR_TIME, "now", 0, now, s->now, GPUMP_UNKNOWN - 1);
    buffer = &gpumpi_scheduler_buffers(s)[queue];
    if (buffer->state != GPUMP_SCHEDULER_BUFFER_EMPTY)
        return gpumpi_fail(diag, GPUMP_BUSY, "queue", queue, buffer->state, 0, 0);
    s->now = now;
    buffer->cookie = command->cookie;
    buffer->blocks = command->blocks;
    buffer->arrival = s->arrivals++;
    buffer->process = command->process;
    buffer->blocks_per_sm = command->blocks_per_sm;
    buffer->saved_limit = command->saved_limit < s->config.saved_blocks ? command->saved_limit : s->config.saved_blocks;
    buffer->state = GPUMP_SCHEDULER_BUFFER_WAITING;
    buffer->kernel = 0;
    gpumpi_scheduler_halves(s, s->waiting_at)[s->waiting_count++] = queue;
    gpumpi_scheduler_processes(s)[command->process].commands++;
    s->admission_due = 1;
    s->statistics.submitted++;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_report_ready(gpump_scheduler *s, uint64_t now, uint32_t index) {
    gpump_scheduler_sm *sm;
    if (!s || index >= s->config.sms) return GPUMP_ERROR_ARGUMENT;
    sm = &gpumpi_scheduler_sms(s)[index];
    if (!(sm->flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING)) return GPUMP_ERROR_STATE;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    sm->flags &= ~(uint32_t)GPUMP_SCHEDULER_SM_SETUP_RUNNING;
    if (sm->flags & GPUMP_SCHEDULER_SM_SETUP_STALE) {
        sm->flags &= ~(uint32_t)GPUMP_SCHEDULER_SM_SETUP_STALE;
        if (sm->blocks == 0)
            gpumpi_scheduler_vacate(s, index);
        else if (sm->next) { /* beside a leaving kernel, and `next` has changed meanwhile */
            sm->flags |= GPUMP_SCHEDULER_SM_SETUP_DUE;
            gpumpi_scheduler_attend(s, index);
        }
    } else if (sm->state == GPUMP_SCHEDULER_SM_RESERVED)
        sm->flags |= GPUMP_SCHEDULER_SM_NEXT_READY;
    else {
        gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[sm->kernel];
        k->setting_up--;
        if (gpump_scheduler_to_issue(k))
            gpumpi_scheduler_attend(s, index);
        else if (sm->blocks == 0)
            gpumpi_scheduler_release(s, index);
    }
    return GPUMP_OK;
}

/* Returns the kernel of a resident block, 0 when (sm, block) names none. */
static uint32_t gpumpi_scheduler_owner(const gpump_scheduler *s, uint32_t sm, gpump_block_ref block) {
    uint32_t at;
    if (sm >= s->config.sms || block.slot >= s->config.blocks_per_sm) return 0;
    at = sm * s->config.blocks_per_sm + block.slot;
    if (!((gpumpi_scheduler_sms(s)[sm].slots >> block.slot) & 1u) ||
        gpumpi_scheduler_halves(s, s->generations_at)[at] != block.generation)
        return 0;
    return gpumpi_scheduler_halves(s, s->owners_at)[at];
}

/* A block leaves its slot, finished or saved. */
static void gpumpi_scheduler_leave(gpump_scheduler *s, uint32_t index, uint32_t slot, uint32_t kernel) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[kernel];
    sm->slots &= ~((uint64_t)1 << slot);
    k->resident--;
    if (kernel != sm->kernel) {
        sm->next_blocks--;
        return;
    }
    sm->blocks--;
    if (sm->leaving) { /* it was told to switch; the room kept for its context is used, or no longer needed */
        sm->leaving--;
        k->leaving--;
    }
}

/* After a block has left: frees the SM when it is empty, and ends the kernel when this was its last block. */
static void gpumpi_scheduler_after_leave(gpump_scheduler *s, uint32_t index, uint32_t kernel) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    if (sm->state == GPUMP_SCHEDULER_SM_RESERVED) {
        if (sm->blocks == 0 && sm->kernel == kernel) gpumpi_scheduler_vacate(s, index);
    } else if (gpump_scheduler_to_issue(&gpumpi_scheduler_kernels(s)[kernel]))
        gpumpi_scheduler_attend(s, index);
    else if (sm->blocks == 0)
        gpumpi_scheduler_release(s, index);
    gpumpi_scheduler_settle(s, kernel);
}

GPUMP_API gpump_result gpump_scheduler_report_finished(gpump_scheduler *s, uint64_t now, uint32_t index,
                                                       gpump_block_ref block) {
    uint32_t kernel;
    if (!s) return GPUMP_ERROR_ARGUMENT;
    kernel = gpumpi_scheduler_owner(s, index, block);
    if (!kernel) return GPUMP_ERROR_STALE;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    s->statistics.blocks_finished++;
    gpumpi_scheduler_leave(s, index, block.slot, kernel);
    gpumpi_scheduler_after_leave(s, index, kernel);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_report_preempted(gpump_scheduler *s, uint64_t now, uint32_t index,
                                                        gpump_block_ref block, uint64_t handle) {
    uint32_t kernel, had;
    gpump_scheduler_kernel *k;
    gpump_scheduler_sm *sm;
    if (!s) return GPUMP_ERROR_ARGUMENT;
    kernel = gpumpi_scheduler_owner(s, index, block);
    if (!kernel) return GPUMP_ERROR_STALE;
    sm = &gpumpi_scheduler_sms(s)[index];
    if (sm->state != GPUMP_SCHEDULER_SM_RESERVED || sm->flags & GPUMP_SCHEDULER_SM_PREEMPT_DUE || kernel != sm->kernel)
        return GPUMP_ERROR_STATE;
    k = &gpumpi_scheduler_kernels(s)[kernel];
    if (k->saved + k->leaving - (sm->leaving ? 1u : 0u) >= k->saved_limit) return GPUMP_ERROR_FULL;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    had = gpump_scheduler_to_issue(k) != 0;
    gpumpi_scheduler_words(s, s->ptbqs_at)[(uint64_t)(kernel - 1) * s->config.saved_blocks +
                                           (k->saved_first + k->saved) % s->config.saved_blocks] = handle;
    k->saved++;
    s->statistics.blocks_preempted++;
    gpumpi_scheduler_leave(s, index, block.slot, kernel);
    gpumpi_scheduler_after_leave(s, index, kernel);
    if (!had) { /* the kernel had nothing to issue, so its SMs may have room, and idle SMs may now be of use to it */
        for (uint32_t i = k->first_sm; i != GPUMP_NONE; i = gpumpi_scheduler_sms(s)[i].next_sm)
            if (!(gpumpi_scheduler_sms(s)[i].flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING)) gpumpi_scheduler_attend(s, i);
        if (s->idle_sms) gpumpi_scheduler_policy_event(s);
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_scheduler_report_room(gpump_scheduler *s, uint64_t now, uint32_t index, uint32_t blocks) {
    gpump_scheduler_sm *sm;
    if (!s || index >= s->config.sms || blocks > s->config.blocks_per_sm) return GPUMP_ERROR_ARGUMENT;
    sm = &gpumpi_scheduler_sms(s)[index];
    if (sm->state != GPUMP_SCHEDULER_SM_RESERVED || !(sm->flags & GPUMP_SCHEDULER_SM_NEXT_READY) || !sm->next)
        return GPUMP_ERROR_STATE;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    sm->room = blocks;
    if (blocks) gpumpi_scheduler_attend(s, index);
    return GPUMP_OK;
}

/* ---- decisions ---- */

/* Moves the command of `queue` into the active queue. */
static void gpumpi_scheduler_admit(gpump_scheduler *s, const gpump_scheduler_policy *policy, gpump_scheduler_view *view,
                                   uint32_t queue, uint32_t position, gpump_scheduler_action *action) {
    gpump_scheduler_buffer *buffer = &gpumpi_scheduler_buffers(s)[queue];
    gpump_scheduler_kernel *kernels = gpumpi_scheduler_kernels(s), *k;
    uint32_t *waiting = gpumpi_scheduler_halves(s, s->waiting_at), row = 1, budget = 0;
    view->queue = queue;
    if (policy->tokens) budget = policy->tokens(policy, view);
    if (budget > GPUMP_SCHEDULER_MAX_BUDGET) {
        s->statistics.policy_errors++;
        budget = GPUMP_SCHEDULER_MAX_BUDGET;
    }
    s->waiting_count--;
    memmove(waiting + position, waiting + position + 1, (s->waiting_count - position) * sizeof *waiting);
    while (kernels[row].in_use) row++;
    k = &kernels[row];
    memset(k, 0, sizeof *k);
    k->cookie = buffer->cookie;
    k->blocks = buffer->blocks;
    k->start_cycle = s->now;
    k->arrival = buffer->arrival;
    k->queue = queue;
    k->process = buffer->process;
    k->blocks_per_sm = buffer->blocks_per_sm;
    k->saved_limit = buffer->saved_limit;
    k->budget = budget;
    k->tokens = GPUMP_SCHEDULER_TOKEN_ZERO + budget;
    k->first_sm = GPUMP_NONE;
    k->in_use = 1;
    buffer->state = GPUMP_SCHEDULER_BUFFER_ACTIVE;
    buffer->kernel = row;
    gpumpi_scheduler_halves(s, s->active_at)[s->active_count++] = row;
    s->statistics.kernels_started++;
    gpumpi_scheduler_policy_event(s); /* event 1: a kernel is inserted in the active queue */
    action->kind = GPUMP_SCHEDULER_KERNEL_START;
    action->kernel = row;
    action->queue = queue;
    action->process = k->process;
    action->kernel_cookie = k->cookie;
    action->process_cookie = gpumpi_scheduler_processes(s)[k->process].cookie;
}

/* Asks the policy for a command; 1 when one was taken. */
static gpump_result gpumpi_scheduler_try_admit(gpump_scheduler *s, const gpump_scheduler_policy *policy,
                                               gpump_scheduler_action *action) {
    gpump_scheduler_view view;
    uint32_t queue, position = 0;
    if (!s->admission_due || !s->waiting_count || s->active_count == s->config.active_kernels) {
        s->admission_due = 0;
        return GPUMP_EMPTY;
    }
    view = gpump_scheduler_look(s);
    queue = policy->admit ? policy->admit(policy, &view) : view.waiting[0];
    if (queue == GPUMP_NONE) {
        s->admission_due = 0;
        return GPUMP_EMPTY;
    }
    while (position < s->waiting_count && view.waiting[position] != queue) position++;
    if (position == s->waiting_count) {
        s->statistics.policy_errors++;
        s->admission_due = 0;
        return GPUMP_ERROR_REFUSED;
    }
    gpumpi_scheduler_admit(s, policy, &view, queue, position, action);
    return GPUMP_OK;
}

static void gpumpi_scheduler_reserve(gpump_scheduler *s, uint32_t index, uint32_t kernel) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    gpump_scheduler_kernel *owner = &gpumpi_scheduler_kernels(s)[sm->kernel];
    uint32_t flags = sm->flags;
    if (flags & (GPUMP_SCHEDULER_SM_SETUP_DUE | GPUMP_SCHEDULER_SM_SETUP_RUNNING)) owner->setting_up--;
    gpumpi_scheduler_disown(s, index);
    sm->state = GPUMP_SCHEDULER_SM_RESERVED;
    sm->flags = 0;
    sm->room = 0;
    s->reserved_sms++;
    s->statistics.preemptions++;
    gpumpi_scheduler_promise(s, sm, kernel);
    if (sm->blocks) {
        /* blocks of a kernel that took the SM over beside another one (kernels_per_sm 2) may run while its setup is not
         * yet over */
        GPUMP_ASSERT(!(flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING));
        sm->flags = GPUMP_SCHEDULER_SM_PREEMPT_DUE;
        gpumpi_scheduler_attend(s, index);
    } else if (flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING) {
        sm->flags = GPUMP_SCHEDULER_SM_SETUP_RUNNING | GPUMP_SCHEDULER_SM_SETUP_STALE;
        sm->kernel = 0;
    } else {
        gpumpi_scheduler_ignore(s, index);
        gpumpi_scheduler_vacate(s, index);
    }
}

static void gpumpi_scheduler_change_next(gpump_scheduler *s, uint32_t index, uint32_t kernel) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    gpumpi_scheduler_promise(s, sm, kernel);
    s->statistics.next_changes++;
    sm->room = 0;
    if (s->config.kernels_per_sm == 2 && sm->blocks && !(sm->flags & GPUMP_SCHEDULER_SM_PREEMPT_DUE)) {
        sm->flags &= ~(uint32_t)GPUMP_SCHEDULER_SM_NEXT_READY;
        if (sm->flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING)
            sm->flags |= GPUMP_SCHEDULER_SM_SETUP_STALE;
        else {
            sm->flags |= GPUMP_SCHEDULER_SM_SETUP_DUE;
            gpumpi_scheduler_attend(s, index);
        }
    }
}

/* Checks a step of the policy against the tables and carries it out. Returns 0 for an impossible step. */
static int gpumpi_scheduler_apply(gpump_scheduler *s, const gpump_scheduler_step *step) {
    gpump_scheduler_sm *sm;
    if (step->sm >= s->config.sms || !step->kernel || step->kernel > s->config.active_kernels) return 0;
    if (!gpumpi_scheduler_kernels(s)[step->kernel].in_use) return 0;
    if (!(step->kind == GPUMP_SCHEDULER_STEP_ASSIGN ? gpump_scheduler_wants_idle : gpump_scheduler_wants_more)(
            &gpumpi_scheduler_kernels(s)[step->kernel]))
        return 0;
    sm = &gpumpi_scheduler_sms(s)[step->sm];
    switch (step->kind) {
    case GPUMP_SCHEDULER_STEP_ASSIGN:
        if (sm->state != GPUMP_SCHEDULER_SM_IDLE) return 0;
        gpump_bits_clear(gpumpi_scheduler_words(s, s->idle_at), step->sm);
        s->idle_sms--;
        gpumpi_scheduler_setup(s, step->sm, step->kernel);
        return 1;
    case GPUMP_SCHEDULER_STEP_RESERVE:
        if (sm->state != GPUMP_SCHEDULER_SM_RUNNING || sm->kernel == step->kernel) return 0;
        if (sm->blocks && sm->flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING) return 0;
        gpumpi_scheduler_reserve(s, step->sm, step->kernel);
        return 1;
    case GPUMP_SCHEDULER_STEP_CHANGE_NEXT:
        if (sm->state != GPUMP_SCHEDULER_SM_RESERVED || sm->next == step->kernel || sm->next_blocks) return 0;
        if (s->config.kernels_per_sm == 2 && sm->kernel == step->kernel) return 0;
        gpumpi_scheduler_change_next(s, step->sm, step->kernel);
        return 1;
    default: return 0;
    }
}

/* The default step: idle SMs to the first kernel in active-queue order that can use one. */
static gpump_result gpumpi_scheduler_default_step(const gpump_scheduler_view *view, gpump_scheduler_step *step) {
    if (view->idle_sm == GPUMP_NONE) return GPUMP_EMPTY;
    for (uint32_t i = 0; i < view->active_count; i++)
        if (gpump_scheduler_wants_idle(&view->kernels[view->active[i]])) {
            step->kind = GPUMP_SCHEDULER_STEP_ASSIGN;
            step->sm = view->idle_sm;
            step->kernel = view->active[i];
            return GPUMP_OK;
        }
    return GPUMP_EMPTY;
}

/* One whole run of the policy. A policy that never ends is stopped: in a sound run each SM changes its kernel, or its
 * next kernel, less often than there are SMs and kernels together. */
static gpump_result gpumpi_scheduler_run_policy(gpump_scheduler *s, const gpump_scheduler_policy *policy) {
    uint64_t limit = ((uint64_t)s->config.sms + s->config.active_kernels) * 4 + 16;
    gpump_result result = GPUMP_OK;
    gpump_scheduler_view view = gpump_scheduler_look(s);
    s->policy_due = s->policy_wake = GPUMP_UNKNOWN;
    s->statistics.policy_runs++;
    for (;;) {
        gpump_scheduler_step step;
        view.idle_sm = gpumpi_scheduler_lowest_idle(s);
        view.reserved_sms = s->reserved_sms;
        step.kind = step.sm = step.kernel = GPUMP_NONE;
        if ((policy->step ? policy->step(policy, &view, &step) : gpumpi_scheduler_default_step(&view, &step)) !=
            GPUMP_OK)
            break;
        if (limit-- == 0 || !gpumpi_scheduler_apply(s, &step)) {
            s->statistics.policy_errors++;
            result = GPUMP_ERROR_REFUSED;
            break;
        }
        s->statistics.policy_steps++;
    }
    if (policy->wake) s->policy_wake = policy->wake(policy, &view);
    if (s->policy_wake <= s->now) s->policy_wake = s->now + 1;
    if (s->waiting_count) s->admission_due = 1; /* a policy that declined may have changed its mind */
    return result;
}

/* ---- actions ---- */

static void gpumpi_scheduler_hand_preempt(gpump_scheduler *s, uint32_t index, gpump_scheduler_action *action) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[sm->kernel];
    sm->flags &= ~(uint32_t)GPUMP_SCHEDULER_SM_PREEMPT_DUE;
    action->kind = GPUMP_SCHEDULER_PREEMPT;
    action->kernel = sm->kernel;
    action->kernel_cookie = k->cookie;
    action->process = k->process;
    action->queue = k->queue;
    action->next = sm->next;
    action->mechanism = s->config.mechanism;
    if (s->config.mechanism != GPUMP_SCHEDULER_DRAIN) {
        if ((uint64_t)k->saved + k->leaving + sm->blocks <= k->saved_limit) {
            sm->leaving = sm->blocks;
            k->leaving += sm->blocks;
            sm->flags |= GPUMP_SCHEDULER_SM_SWITCHING;
        } else {
            action->mechanism = GPUMP_SCHEDULER_DRAIN;
            action->reason = GPUMP_REASON_NO_CONTEXT_SPACE;
            s->statistics.drained_instead++;
        }
    }
    if (s->config.kernels_per_sm == 2 && sm->next) sm->flags |= GPUMP_SCHEDULER_SM_SETUP_DUE;
}

static void gpumpi_scheduler_hand_setup(gpump_scheduler *s, uint32_t index, gpump_scheduler_action *action) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    uint32_t kernel = sm->state == GPUMP_SCHEDULER_SM_RESERVED ? sm->next : sm->kernel;
    const gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[kernel];
    const gpump_scheduler_process_row *process = &gpumpi_scheduler_processes(s)[k->process];
    sm->flags = (sm->flags & ~(uint32_t)GPUMP_SCHEDULER_SM_SETUP_DUE) | GPUMP_SCHEDULER_SM_SETUP_RUNNING;
    action->kind = GPUMP_SCHEDULER_SETUP;
    action->kernel = kernel;
    action->kernel_cookie = k->cookie;
    action->process = k->process;
    action->queue = k->queue;
    action->process_cookie = process->cookie;
    action->page_table_base = process->page_table_base;
    action->beside = sm->state == GPUMP_SCHEDULER_SM_RESERVED;
    s->statistics.setups++;
    if (sm->process_serial != process->serial) {
        if (sm->process_serial)
            action->invalidate = GPUMP_SCHEDULER_INVALIDATE_TLB | GPUMP_SCHEDULER_INVALIDATE_L1 |
                                 GPUMP_SCHEDULER_INVALIDATE_INSTRUCTIONS;
        sm->process_serial = process->serial;
        s->statistics.process_changes++;
    }
}

static void gpumpi_scheduler_hand_issue(gpump_scheduler *s, uint32_t index, uint32_t kernel,
                                        gpump_scheduler_action *action) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    gpump_scheduler_kernel *k = &gpumpi_scheduler_kernels(s)[kernel];
    uint32_t slot = gpump_bits_lowest64(~sm->slots), at = index * s->config.blocks_per_sm + slot;
    uint32_t *generation = &gpumpi_scheduler_halves(s, s->generations_at)[at];
    sm->slots |= (uint64_t)1 << slot;
    if (kernel == sm->kernel)
        sm->blocks++;
    else
        sm->next_blocks++, sm->room--;
    k->resident++;
    gpumpi_scheduler_halves(s, s->owners_at)[at] = kernel;
    ++*generation;
    action->kind = GPUMP_SCHEDULER_ISSUE;
    action->block.slot = slot;
    action->block.generation = *generation;
    action->kernel = kernel;
    action->kernel_cookie = k->cookie;
    action->process = k->process;
    action->queue = k->queue;
    action->process_cookie = gpumpi_scheduler_processes(s)[k->process].cookie;
    if (k->saved) {
        action->saved = 1;
        action->handle =
            gpumpi_scheduler_words(s, s->ptbqs_at)[(uint64_t)(kernel - 1) * s->config.saved_blocks + k->saved_first];
        k->saved_first = (k->saved_first + 1) % s->config.saved_blocks;
        k->saved--;
        s->statistics.blocks_resumed++;
    } else {
        action->index = k->next_block++;
        s->statistics.blocks_new++;
    }
}

/* Finds the next action of one SM. Returns 0 when there is none, and takes the SM off the list. */
static int gpumpi_scheduler_hand_sm(gpump_scheduler *s, uint32_t index, gpump_scheduler_action *action) {
    gpump_scheduler_sm *sm = &gpumpi_scheduler_sms(s)[index];
    const gpump_scheduler_kernel *kernels = gpumpi_scheduler_kernels(s);
    action->sm = index;
    if (sm->flags & GPUMP_SCHEDULER_SM_PREEMPT_DUE) {
        gpumpi_scheduler_hand_preempt(s, index, action);
        return 1;
    }
    if (sm->flags & GPUMP_SCHEDULER_SM_SETUP_DUE) {
        gpumpi_scheduler_hand_setup(s, index, action);
        return 1;
    }
    if (sm->state == GPUMP_SCHEDULER_SM_RUNNING && !(sm->flags & GPUMP_SCHEDULER_SM_SETUP_RUNNING)) {
        if (sm->blocks < kernels[sm->kernel].blocks_per_sm && gpump_scheduler_to_issue(&kernels[sm->kernel])) {
            gpumpi_scheduler_hand_issue(s, index, sm->kernel, action);
            return 1;
        }
        gpumpi_scheduler_ignore(s, index);
        if (sm->blocks == 0) gpumpi_scheduler_release(s, index); /* other SMs have taken what there was to issue */
        return 0;
    }
    if (sm->state == GPUMP_SCHEDULER_SM_RESERVED && sm->flags & GPUMP_SCHEDULER_SM_NEXT_READY && sm->room && sm->next &&
        sm->blocks + sm->next_blocks < s->config.blocks_per_sm && sm->next_blocks < kernels[sm->next].blocks_per_sm &&
        gpump_scheduler_to_issue(&kernels[sm->next])) {
        gpumpi_scheduler_hand_issue(s, index, sm->next, action);
        return 1;
    }
    gpumpi_scheduler_ignore(s, index);
    return 0;
}

static void gpumpi_scheduler_hand_done(gpump_scheduler *s, gpump_scheduler_action *action) {
    uint64_t *done = gpumpi_scheduler_words(s, s->done_at);
    gpump_scheduler_buffer *buffer;
    uint32_t queue = 0;
    while (!done[queue >> 6]) queue += 64;
    queue += gpump_bits_lowest64(done[queue >> 6]);
    gpump_bits_clear(done, queue);
    s->done_count--;
    buffer = &gpumpi_scheduler_buffers(s)[queue];
    action->kind = GPUMP_SCHEDULER_KERNEL_DONE;
    action->kernel = buffer->kernel;
    action->queue = queue;
    action->process = buffer->process;
    action->kernel_cookie = buffer->cookie;
    gpumpi_scheduler_processes(s)[buffer->process].commands--;
    memset(buffer, 0, sizeof *buffer);
}

GPUMP_API gpump_result gpump_scheduler_next(gpump_scheduler *s, const gpump_scheduler_policy *policy, uint64_t now,
                                            gpump_scheduler_action *action) {
    gpump_scheduler_action next;
    uint32_t sm;
    if (!s || !policy || !action || policy->struct_size != sizeof *policy) return GPUMP_ERROR_ARGUMENT;
    if (gpumpi_scheduler_time(s, now)) return GPUMP_ERROR_TIME;
    memset(&next, 0, sizeof next);
    next.sm = GPUMP_NONE;
    for (;;) {
        gpump_result result;
        if (s->done_count) {
            gpumpi_scheduler_hand_done(s, &next);
            break;
        }
        if (s->admission_due) {
            result = gpumpi_scheduler_try_admit(s, policy, &next);
            if (result == GPUMP_OK) break;
            if (result != GPUMP_EMPTY) return result;
        }
        sm = gpumpi_scheduler_attended(s);
        if (sm != GPUMP_NONE) {
            if (gpumpi_scheduler_hand_sm(s, sm, &next)) break;
            next.sm = GPUMP_NONE;
            continue;
        }
        if (now < s->policy_due && now < s->policy_wake) return GPUMP_EMPTY;
        result = gpumpi_scheduler_run_policy(s, policy);
        if (result != GPUMP_OK) return result;
    }
    *action = next;
    return GPUMP_OK;
}

GPUMP_API uint64_t gpump_scheduler_next_cycle(const gpump_scheduler *s) {
    uint64_t due = s->policy_due < s->policy_wake ? s->policy_due : s->policy_wake;
    if (s->done_count || s->admission_due || gpumpi_scheduler_attended(s) != GPUMP_NONE || due <= s->now) return s->now;
    return due;
}

/* ---- gpump_impl/scheduler/scheduler_policies.c ---- */


#include <string.h>

static gpump_result gpumpi_policy_step(gpump_scheduler_step *step, gpump_scheduler_step_kind kind, uint32_t sm,
                                       uint32_t kernel) {
    step->kind = kind;
    step->sm = sm;
    step->kernel = kernel;
    return GPUMP_OK;
}
static uint32_t gpumpi_policy_priority(const gpump_scheduler_view *view, uint32_t kernel) {
    return view->processes[view->kernels[kernel].process].priority;
}
/* The waiting command of highest priority, the oldest of these. */
static uint32_t gpumpi_policy_first_waiting(const gpump_scheduler_view *view) {
    uint32_t best = view->waiting[0];
    for (uint32_t i = 1; i < view->waiting_count; i++)
        if (view->processes[view->buffers[view->waiting[i]].process].priority >
            view->processes[view->buffers[best].process].priority)
            best = view->waiting[i];
    return best;
}
/* One process at a time: a command of another process than the active one's has to wait until that has no kernel left.
 */
static uint32_t gpumpi_policy_one_process(const gpump_scheduler_view *view, uint32_t queue) {
    if (view->active_count && view->kernels[view->active[0]].process != view->buffers[queue].process) return GPUMP_NONE;
    return queue;
}

/* ---- fcfs, npq: the step is the default one ---- */

static uint32_t gpumpi_policy_fcfs_admit(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;

    return gpumpi_policy_one_process(view, view->waiting[0]);
}
static uint32_t gpumpi_policy_npq_admit(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;

    return gpumpi_policy_one_process(view, gpumpi_policy_first_waiting(view));
}

/* ---- ppq, ppq_shared ---- */

static uint32_t gpumpi_policy_ppq_admit(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;
    return gpumpi_policy_first_waiting(view);
}

/* A priority level belongs to the process whose kernel came first; its other processes wait, as under fcfs. */
static uint32_t gpumpi_policy_leader(const gpump_scheduler_view *view, uint32_t priority) {
    for (uint32_t i = 0; i < view->active_count; i++)
        if (gpumpi_policy_priority(view, view->active[i]) == priority) return view->kernels[view->active[i]].process;
    return GPUMP_NONE;
}

/* Vacates an SM of lower priority than `kernel`'s, the lowest first; one already being vacated is taken over before
 * another is. */
static gpump_result gpumpi_policy_take(const gpump_scheduler_view *view, uint32_t kernel, gpump_scheduler_step *step) {
    uint32_t priority = gpumpi_policy_priority(view, kernel), victim = 0;
    if (!gpump_scheduler_wants_more(&view->kernels[kernel])) return GPUMP_EMPTY;
    if (view->reserved_sms)
        for (uint32_t i = 0; i < view->config->sms; i++) {
            const gpump_scheduler_sm *sm = &view->sms[i];
            if (sm->state == GPUMP_SCHEDULER_SM_RESERVED && !sm->next_blocks && sm->kernel != kernel &&
                (!sm->next || gpumpi_policy_priority(view, sm->next) < priority))
                return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_CHANGE_NEXT, i, kernel);
        }
    for (uint32_t i = 0; i < view->active_count; i++) {
        uint32_t k = view->active[i];
        if (view->kernels[k].owned && gpumpi_policy_priority(view, k) < priority &&
            (!victim || gpumpi_policy_priority(view, k) <= gpumpi_policy_priority(view, victim)))
            victim = k;
    }
    if (!victim) return GPUMP_EMPTY;
    return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_RESERVE, view->kernels[victim].first_sm, kernel);
}

static gpump_result gpumpi_policy_ppq(const gpump_scheduler_view *view, gpump_scheduler_step *step, int shared) {
    uint64_t level = UINT64_MAX; /* levels are taken from the top; those below this one are left */
    for (;;) {
        uint32_t top = 0, leader;
        int found = 0;
        for (uint32_t i = 0; i < view->active_count; i++) {
            uint32_t priority = gpumpi_policy_priority(view, view->active[i]);
            if (priority < level && (!found || priority > top)) top = priority, found = 1;
        }
        if (!found) return GPUMP_EMPTY;
        leader = gpumpi_policy_leader(view, top);
        for (uint32_t i = 0; i < view->active_count; i++) {
            uint32_t k = view->active[i];
            if (gpumpi_policy_priority(view, k) != top || view->kernels[k].process != leader) continue;
            if (view->idle_sm != GPUMP_NONE && gpump_scheduler_wants_idle(&view->kernels[k]))
                return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_ASSIGN, view->idle_sm, k);
            if (gpumpi_policy_take(view, k, step) == GPUMP_OK) return GPUMP_OK;
        }
        if (!shared || top == 0) return GPUMP_EMPTY;
        level = top;
    }
}
static gpump_result gpumpi_policy_ppq_step(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view,
                                           gpump_scheduler_step *step) {
    (void)policy;

    return gpumpi_policy_ppq(view, step, 0);
}
static gpump_result gpumpi_policy_ppq_shared_step(const gpump_scheduler_policy *policy,
                                                  const gpump_scheduler_view *view, gpump_scheduler_step *step) {
    (void)policy;

    return gpumpi_policy_ppq(view, step, 1);
}

/* ---- dss, equal, weighted ---- */

/* The kernel of highest token count among those that can use an idle SM, or one more reserved one; ties in active-queue
 * order. */
static uint32_t gpumpi_policy_richest(const gpump_scheduler_view *view, int more) {
    uint32_t best = 0;
    for (uint32_t i = 0; i < view->active_count; i++) {
        const gpump_scheduler_kernel *k = &view->kernels[view->active[i]];
        if ((more ? gpump_scheduler_wants_more(k) : gpump_scheduler_wants_idle(k)) &&
            (!best || k->tokens > view->kernels[best].tokens))
            best = view->active[i];
    }
    return best;
}

/* Algorithm 1 of Tanasic as its text means it: as printed, a kernel alone or two with equal counts never get an idle
 * SM, and a difference of one is exchanged for ever (docs/papers.md). */
static gpump_result gpumpi_policy_dss_step(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view,
                                           gpump_scheduler_step *step) {
    (void)policy;

    uint32_t richest, poorest = 0;
    if (view->idle_sm != GPUMP_NONE) {
        richest = gpumpi_policy_richest(view, 0);
        if (richest) return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_ASSIGN, view->idle_sm, richest);
    }
    richest = gpumpi_policy_richest(view, 1);
    if (!richest) return GPUMP_EMPTY;
    /* A reserved SM whose next kernel has nothing left to issue goes to the richest kernel instead: Algorithm 1 changes
     * the decision of the next kernel. */
    if (view->reserved_sms)
        for (uint32_t i = 0; i < view->config->sms; i++) {
            const gpump_scheduler_sm *sm = &view->sms[i];
            if (sm->state == GPUMP_SCHEDULER_SM_RESERVED && !sm->next_blocks && sm->next != richest &&
                (view->config->kernels_per_sm == 1 || sm->kernel != richest) &&
                (!sm->next || !gpump_scheduler_to_issue(&view->kernels[sm->next])))
                return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_CHANGE_NEXT, i, richest);
        }
    for (uint32_t i = 0; i < view->active_count; i++) {
        const gpump_scheduler_kernel *k = &view->kernels[view->active[i]];
        if (k->owned && (!poorest || k->tokens < view->kernels[poorest].tokens)) poorest = view->active[i];
    }
    if (!poorest || view->kernels[richest].tokens < view->kernels[poorest].tokens + 2) return GPUMP_EMPTY;
    return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_RESERVE, view->kernels[poorest].first_sm, richest);
}
static uint32_t gpumpi_policy_dss_tokens(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;

    return view->processes[view->buffers[view->queue].process].weight;
}
/* floor(SMs / processes), and one more for the first kernels until the remainder is given away (Tanasic 5.3.4) */
static uint32_t gpumpi_policy_equal_tokens(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;

    uint32_t share = view->config->sms / view->open_processes, remainder = view->config->sms % view->open_processes;
    for (uint32_t i = 0; i < view->active_count; i++)
        if (view->kernels[view->active[i]].budget > share && remainder) remainder--;
    return share + (remainder ? 1u : 0u);
}
static uint32_t gpumpi_policy_weighted_tokens(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;

    uint64_t sum = 0;
    for (uint32_t i = 0; i < view->config->processes; i++)
        if (view->processes[i].serial) sum += view->processes[i].weight;
    return sum ? (uint32_t)((uint64_t)view->config->sms * view->processes[view->buffers[view->queue].process].weight /
                            sum)
               : 0;
}

/* ---- time_slice: state[0] is the process whose turn it is, plus 1; state[1] when its turn ends ---- */

static int gpumpi_policy_has_kernel(const gpump_scheduler_view *view, uint32_t process) {
    for (uint32_t i = 0; i < view->active_count; i++)
        if (view->kernels[view->active[i]].process == process) return 1;
    return 0;
}
static gpump_result gpumpi_policy_slice_step(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view,
                                             gpump_scheduler_step *step) {
    (void)policy;

    uint32_t turn = view->state[0] ? (uint32_t)view->state[0] - 1 : view->config->processes - 1, first = 0;
    if (!view->active_count) return GPUMP_EMPTY;
    for (uint32_t i = 0; i < view->active_count && view->state[0] && view->now >= view->state[1]; i++) {
        const gpump_scheduler_kernel *k = &view->kernels[view->active[i]];
        /* A turn shorter than vacating an SM and setting it up would get nobody anywhere: it is extended. */
        if (k->process == turn && (k->setting_up || (k->reserved && !k->owned)))
            view->state[1] = gpump_add_saturated(view->now, view->config->slice_cycles);
    }
    if (!view->state[0] || view->now >= view->state[1] || !gpumpi_policy_has_kernel(view, turn)) {
        do turn = (turn + 1) % view->config->processes;
        while (!gpumpi_policy_has_kernel(view, turn));
        view->state[0] = turn + UINT64_C(1);
        view->state[1] = gpump_add_saturated(view->now, view->config->slice_cycles);
    }
    for (uint32_t i = 0; i < view->active_count && view->idle_sm != GPUMP_NONE;
         i++) { /* idle SMs: whose turn it is first, then anyone */
        uint32_t k = view->active[i];
        if (!gpump_scheduler_wants_idle(&view->kernels[k])) continue;
        if (view->kernels[k].process == turn)
            return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_ASSIGN, view->idle_sm, k);
        if (!first) first = k;
    }
    if (first) return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_ASSIGN, view->idle_sm, first);
    for (uint32_t i = 0; i < view->active_count && !first; i++)
        if (view->kernels[view->active[i]].process == turn &&
            gpump_scheduler_wants_more(&view->kernels[view->active[i]]))
            first = view->active[i];
    if (!first) return GPUMP_EMPTY;
    if (view->reserved_sms)
        for (uint32_t i = 0; i < view->config->sms; i++) {
            const gpump_scheduler_sm *sm = &view->sms[i];
            if (sm->state == GPUMP_SCHEDULER_SM_RESERVED && !sm->next_blocks &&
                (view->config->kernels_per_sm == 1 || sm->kernel != first) &&
                (!sm->next || view->kernels[sm->next].process != turn))
                return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_CHANGE_NEXT, i, first);
        }
    for (uint32_t i = 0; i < view->active_count; i++)
        if (view->kernels[view->active[i]].owned && view->kernels[view->active[i]].process != turn)
            return gpumpi_policy_step(step, GPUMP_SCHEDULER_STEP_RESERVE, view->kernels[view->active[i]].first_sm,
                                      first);
    return GPUMP_EMPTY;
}
static uint64_t gpumpi_policy_slice_wake(const gpump_scheduler_policy *policy, const gpump_scheduler_view *view) {
    (void)policy;

    uint32_t turn = (uint32_t)view->state[0] - 1;
    for (uint32_t i = 0; i < view->active_count; i++)
        if (view->state[0] && view->kernels[view->active[i]].process != turn) return view->state[1];
    return GPUMP_UNKNOWN;
}

/* clang-format off: one row for each policy */
#define GPUMPI_POLICY(name, description, admit, tokens, step, wake) \
    { (uint32_t)sizeof(gpump_scheduler_policy), 0, name, description, NULL, admit, tokens, step, wake }
static const gpump_scheduler_policy gpumpi_policies[] = {
    GPUMPI_POLICY("fcfs", "One process at a time, in the order of arrival.", gpumpi_policy_fcfs_admit, NULL, NULL,
                  NULL),
    GPUMPI_POLICY("npq", "One process at a time, the highest priority first, without preemption.",
                  gpumpi_policy_npq_admit, NULL, NULL, NULL),
    GPUMPI_POLICY("ppq", "Preemptive priority with exclusive access.", gpumpi_policy_ppq_admit, NULL,
                  gpumpi_policy_ppq_step, NULL),
    GPUMPI_POLICY("ppq_shared", "Preemptive priority; lower priorities get the SMs that higher ones leave free.",
                  gpumpi_policy_ppq_admit, NULL, gpumpi_policy_ppq_shared_step, NULL),
    GPUMPI_POLICY("dss", "Dynamic spatial sharing: as many tokens as the process's weight.", NULL,
                  gpumpi_policy_dss_tokens, gpumpi_policy_dss_step, NULL),
    GPUMPI_POLICY("equal", "Dynamic spatial sharing with equal shares of the SMs.", NULL, gpumpi_policy_equal_tokens,
                  gpumpi_policy_dss_step, NULL),
    GPUMPI_POLICY("weighted", "Dynamic spatial sharing in proportion to the weights.", NULL,
                  gpumpi_policy_weighted_tokens, gpumpi_policy_dss_step, NULL),
    GPUMPI_POLICY("time_slice", "The whole GPU to one process after the other.", NULL, NULL, gpumpi_policy_slice_step,
                  gpumpi_policy_slice_wake),
};
#undef GPUMPI_POLICY
/* clang-format on */

GPUMP_API const gpump_scheduler_policy *gpump_scheduler_policy_at(uint32_t index) {
    return index < sizeof gpumpi_policies / sizeof *gpumpi_policies ? &gpumpi_policies[index] : NULL;
}

GPUMP_API const gpump_scheduler_policy *gpump_scheduler_find(const char *name) {
    for (uint32_t i = 0; name && gpump_scheduler_policy_at(i); i++)
        if (!strcmp(gpump_scheduler_policy_at(i)->name, name)) return gpump_scheduler_policy_at(i);
    return NULL;
}

/* ---- gpump_impl/base/array_end.h ---- */
/* array_end (private): gives the host its stb_ds back; the last thing in gpump.h, never included by hand. */
#ifndef GPUMP_NO_PROGRAM
#undef stbds_arrgrowf
#undef stbds_arrfreef
#undef stbds_hash_bytes
#undef stbds_hash_string
#undef stbds_hmdel_key
#undef stbds_hmfree_func
#undef stbds_hmget_key
#undef stbds_hmget_key_ts
#undef stbds_hmput_default
#undef stbds_hmput_key
#undef stbds_rand_seed
#undef stbds_shmode_func
#undef stbds_stralloc
#undef stbds_strreset
#undef stbds_unit_tests
#undef stbds_array_header
#undef stbds_string_block
#undef stbds_string_arena
#undef STBDS_SH_NONE
#undef STBDS_SH_DEFAULT
#undef STBDS_SH_STRDUP
#undef STBDS_SH_ARENA
#ifdef __cplusplus
#undef stbds_arrgrowf_wrapper
#undef stbds_hmget_key_wrapper
#undef stbds_hmget_key_ts_wrapper
#undef stbds_hmput_default_wrapper
#undef stbds_hmput_key_wrapper
#undef stbds_hmdel_key_wrapper
#undef stbds_shmode_func_wrapper
#endif
#pragma pop_macro("stbds_arrgrow")
#pragma pop_macro("INCLUDE_STB_DS_H")
#pragma pop_macro("STBDS_UNIT_TESTS")
#pragma pop_macro("STBDS_NO_SHORT_NAMES")
#undef STBDS_REALLOC
#undef STBDS_FREE
#pragma pop_macro("STBDS_FREE")
#pragma pop_macro("STBDS_REALLOC")
#pragma pop_macro("STB_DS_IMPLEMENTATION")
#endif

#if defined(__clang__) && defined(__cplusplus)
#pragma clang diagnostic pop
#endif

#endif /* GPUMP_IMPLEMENTATION */
