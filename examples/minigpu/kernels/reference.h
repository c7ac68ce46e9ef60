/* What the kernels in this directory share: how a C reference is called, how it is found by name, and the arithmetic
 * both sides agree on.
 *
 * Each folder NAME holds NAME.cu, NAME.ptx, reference.c with reference_NAME(), launch.yaml and small.yaml, and where
 * the inputs are not plain ramps or random numbers generate.c with generate_NAME(). Where the kernel leaves some
 * elements in an order of its own, check.c with check_NAME() compares them as a set. The build finds the folders by
 * themselves; nothing else has to be edited to add one. */
#ifndef MINIGPU_REFERENCE_H
#define MINIGPU_REFERENCE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One kernel argument: a buffer has pointer and size, a scalar its bits, zero-extended. */
typedef struct reference_argument {
    uint64_t scalar; /* the bits of a scalar; 0 for a buffer */
    void *buffer;    /* the buffer's contents on the host; NULL for a scalar */
    uint64_t bytes;  /* size of the buffer; 0 for a scalar */
} reference_argument;

typedef struct reference_launch {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared_bytes;
    uint32_t argument_count;
    const reference_argument *arguments; /* in the order of the kernel's parameters */
} reference_launch;

/* Transforms the buffers as the kernel would, bit for bit; returns NULL, or why the launch does not suit this reference
 * (a constant string). After an error the buffers' contents are undefined. */
typedef const char *(*reference_function)(const reference_launch *launch);
/* Fills the buffers of a launch with inputs distributed as the kernel's benchmark has them: same launch and seed, same
 * contents. Called after the buffers' own initialisers, so that it may leave some of them alone. */
typedef const char *(*reference_generator)(const reference_launch *launch, uint64_t seed);

/* Compares what the kernel left with what its reference left, where the order of some elements is open: NULL when both
 * are the same, or what differs (a constant string). Both launches hold copies, which it may reorder. */
typedef const char *(*reference_check)(const reference_launch *is, const reference_launch *expected);

typedef struct reference_entry {
    const char *name;
    reference_function reference;
    reference_generator generate; /* NULL where the launch file's own initialisers are enough */
    reference_check check;        /* NULL where buffers are compared byte for byte */
} reference_entry;

/* All folders, in the order of their names; ends with a NULL name. */
extern const reference_entry reference_entries[];
/* Returns the entry of that name, or NULL. */
const reference_entry *reference_find(const char *name);

/* ---- reading the arguments ---- */
/* Returns buffer argument `index` if it is a buffer of at least count elements of element_bytes, else NULL. */
static inline void *reference_buffer(const reference_launch *launch, uint32_t index, uint64_t count,
                                     uint64_t element_bytes) {
    if (index >= launch->argument_count || launch->arguments[index].buffer == NULL) return NULL;
    if (launch->arguments[index].bytes / element_bytes < count) return NULL;
    return launch->arguments[index].buffer;
}
static inline float *reference_f32s(const reference_launch *launch, uint32_t index, uint64_t count) {
    return (float *)reference_buffer(launch, index, count, 4);
}
static inline int32_t *reference_i32s(const reference_launch *launch, uint32_t index, uint64_t count) {
    return (int32_t *)reference_buffer(launch, index, count, 4);
}
static inline uint32_t *reference_u32s(const reference_launch *launch, uint32_t index, uint64_t count) {
    return (uint32_t *)reference_buffer(launch, index, count, 4);
}
static inline uint8_t *reference_u8s(const reference_launch *launch, uint32_t index, uint64_t count) {
    return (uint8_t *)reference_buffer(launch, index, count, 1);
}
/* Elements of element_bytes that buffer argument `index` holds; 0 for a scalar. */
static inline uint64_t reference_count(const reference_launch *launch, uint32_t index, uint64_t element_bytes) {
    return index < launch->argument_count ? launch->arguments[index].bytes / element_bytes : 0;
}
/* Scalars; 0 when the argument is a buffer or missing. */
static inline uint32_t reference_u32(const reference_launch *launch, uint32_t index) {
    return index < launch->argument_count ? (uint32_t)launch->arguments[index].scalar : 0;
}
static inline int32_t reference_i32(const reference_launch *launch, uint32_t index) {
    return (int32_t)reference_u32(launch, index);
}
static inline float reference_f32(const reference_launch *launch, uint32_t index) {
    uint32_t bits = reference_u32(launch, index);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t reference_blocks(const reference_launch *launch) {
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}
static inline uint64_t reference_block_threads(const reference_launch *launch) {
    return (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
}
static inline uint64_t reference_threads(const reference_launch *launch) {
    return reference_blocks(launch) * reference_block_threads(launch);
}

/* 1 when the grid has at most `limit` blocks and each block at most 1024 threads. */
static inline int reference_fits(const reference_launch *launch, uint64_t limit) {
    uint64_t blocks = 1, threads = 1;
    for (int i = 0; i < 3; i++) {
        blocks *= launch->grid[i];
        threads *= launch->block[i];
        if (blocks > limit || threads > 1024) return 0;
    }
    return 1;
}
/* 1 when buffer argument `index` holds the same bytes in both launches. */
static inline int reference_same(const reference_launch *a, const reference_launch *b, uint32_t index) {
    return a->arguments[index].bytes == b->arguments[index].bytes &&
           memcmp(a->arguments[index].buffer, b->arguments[index].buffer, (size_t)a->arguments[index].bytes) == 0;
}

/* ---- arithmetic ---- */
/* The .approx instructions have no exact result in the PTX manual; mini-GPU and references compute them in double and
 * round once. With .ftz, subnormal inputs and results become zeros of the same sign. */
static inline float reference_flush(float x) { return fabsf(x) < 1.17549435e-38f ? copysignf(0.0f, x) : x; }
static inline float reference_ex2_approx(float x) { return (float)exp2((double)x); }
static inline float reference_ex2_approx_ftz(float x) {
    return reference_flush((float)exp2((double)reference_flush(x)));
}
static inline float reference_lg2_approx(float x) { return (float)log2((double)x); }
static inline float reference_rcp_approx_ftz(float x) {
    return reference_flush((float)(1.0 / (double)reference_flush(x)));
}
static inline float reference_rsqrt_approx(float x) { return (float)(1.0 / sqrt((double)x)); }
static inline float reference_sin_approx(float x) { return (float)sin((double)x); }
static inline float reference_cos_approx(float x) { return (float)cos((double)x); }
/* cvt.rzi.s32.f32: towards zero, saturated, and 0 for NaN. */
static inline int32_t reference_to_s32(float x) {
    if (x != x) return 0;
    if (x >= 2147483648.0f) return INT32_MAX;
    return x < -2147483648.0f ? INT32_MIN : (int32_t)x;
}
/* Integer arithmetic that wraps, as the GPU's does. */
static inline int32_t reference_add(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
static inline int32_t reference_subtract(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }

/* ---- random numbers of the generators: splitmix64 ---- */
static inline uint64_t reference_random(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
/* Returns a number in 0 to limit-1; limit at least 1 and below 2^32. */
static inline uint32_t reference_random_below(uint64_t *state, uint32_t limit) {
    return (uint32_t)(((reference_random(state) >> 32) * limit) >> 32);
}
/* Returns a multiple of 2^-24 in [0, 1). */
static inline float reference_random_unit(uint64_t *state) {
    return (float)(reference_random(state) >> 40) * (1.0f / 16777216.0f);
}

#endif
