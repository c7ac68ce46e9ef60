/* trace_tags: the values that the registers of a traced kernel hold. A trace has no values. A register therefore holds
 * a tag, which names the instruction that wrote it (kernel, block, warp, lane and place in the trace) and, through the
 * tags of its sources, everything before it. A register that a save, a restore or a fault has lost or exchanged is seen
 * by the first instruction that reads it: the digest of its sources differs from the digest that the trace gives. */
#ifndef MINIGPU_TRACE_TAGS_H
#define MINIGPU_TRACE_TAGS_H

#include "lanes/lanes.h"

#define TAG_STEP UINT32_C(0x27d4eb2f)
#define TAG_LANE UINT32_C(0x85ebca6b)
#define TAG_WORD UINT32_C(0xc2b2ae35)
#define TAG_SOURCE UINT32_C(0x9e3779b1)

/* Returns the seed of all tags of a warp. */
static inline uint32_t tags_seed(uint32_t kernel, uint64_t block, uint32_t warp) {
    uint64_t x = (block * 64 + warp) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)kernel << 32;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(x ^ x >> 31);
}

/* Sets the registers of a warp that has executed nothing. registers: `count` of 32 lanes each. */
static inline void tags_start(uint32_t *registers, uint32_t count, uint32_t seed) {
    uint32_t r, l;
    for (r = 0; r < count; r++)
        for (l = 0; l < LANES; l++) registers[r * LANES + l] = (seed ^ (r + 1) * TAG_WORD) + l * TAG_LANE;
}

/* Sums the sources of an instruction, lane by lane. registers: the warp's. */
static inline void tags_read(const instruction *i, const uint32_t *registers, uint32_t sums[LANES]) {
    uint32_t k, l;
    for (l = 0; l < LANES; l++) sums[l] = 0;
    for (k = 0; k < i->source_count; k++) {
        const uint32_t *from = registers + (size_t)i->sources[k].index * LANES;
        for (l = 0; l < LANES; l++) sums[l] = (sums[l] ^ from[l]) * TAG_SOURCE + k;
    }
}

/* Returns the digest of what the lanes of a mask have read. */
static inline uint32_t tags_digest(const uint32_t sums[LANES], uint32_t mask) {
    uint32_t l, digest = 0;
    for (l = 0; l < LANES; l++) digest += (sums[l] ^ l * TAG_LANE) & (mask & lane_bits[l] ? UINT32_MAX : 0);
    return digest;
}

/* Makes word `word` of the result of a warp's step-th instruction. */
static inline void tags_result(uint32_t seed, uint32_t step, uint32_t word, const uint32_t sums[LANES],
                               uint32_t result[LANES]) {
    const uint32_t base = seed + step * TAG_STEP + word * TAG_WORD;
    uint32_t l;
    for (l = 0; l < LANES; l++) result[l] = ((sums[l] ^ base) + l * TAG_LANE) * TAG_SOURCE;
}

/* Returns the tag of a word of a block's shared memory: at first, and once an instruction of the block has written it.
 */
static inline uint32_t tags_shared(uint32_t seed, uint32_t word, int is_written) {
    return (seed ^ (word + 1) * TAG_SOURCE) * TAG_WORD + (is_written ? TAG_LANE : 0);
}

#endif
