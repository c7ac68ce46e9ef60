/* trace_tags: the values that the registers of a traced kernel hold. A trace has no values. A register therefore holds
 * a tag, which names the instruction that wrote it: kernel, block, warp, lane and place in the trace. A register that a
 * save, a restore or a fault has lost or exchanged is seen by the first instruction that reads it: the digest of its
 * sources differs from the digest that the trace gives. */
#ifndef MINIGPU_TRACE_TAGS_H
#define MINIGPU_TRACE_TAGS_H

#include <string.h>

#include "lanes/lanes.h"

#define TAG_STEP UINT32_C(0x27d4eb2f)
#define TAG_LANE UINT32_C(0x85ebca6b)
#define TAG_WORD UINT32_C(0xc2b2ae35)
#define TAG_SOURCE UINT32_C(0x9e3779b1)

/* The tags of a register's lanes differ by TAG_LANE, so the first lane's says them all. */
static inline uint32_t tags_lane(uint32_t first, uint32_t lane) { return first + lane * TAG_LANE; }

/* Weights of the lanes in a digest: random numbers. All but one are odd, so that their sum is odd, too. */
static const uint32_t tag_weights[LANES] = {
    0xd2eac903u, 0x2c5d6bafu, 0xace1a955u, 0xf3c95789u, 0x00e03d2du, 0x0b664029u, 0xac103525u, 0xcbf27735u,
    0xb10877a9u, 0xfc27ed13u, 0x2346cc13u, 0xe0a3a91fu, 0x9b27dbdfu, 0x7714dc91u, 0x7d56ab57u, 0xf1260ebdu,
    0x29a6f2e7u, 0xc280ad37u, 0x703598afu, 0x6caf76a5u, 0xc6cce997u, 0xd670c343u, 0x918c40bfu, 0x3f0c9931u,
    0x13678d7bu, 0xcc9c26a9u, 0xb987f7c1u, 0x004498f5u, 0x9561a0d1u, 0x8fcc69d7u, 0xe2f79553u, 0x0ecaf828u,
};

/* Returns the seed of all tags of a warp. */
static inline uint32_t tags_seed(uint32_t kernel, uint64_t block, uint32_t warp) {
    uint64_t x = (block * 64 + warp) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)kernel << 32;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(x ^ x >> 31);
}

/* All tags of a warp are its seed plus what does not depend on the warp. Warps that execute the same instructions in
 * the same lanes therefore have digests that differ by a multiple of their seeds' difference. */

/* Returns the first lane's tag of a register that nothing has written, without the seed. */
static inline uint32_t tags_unwritten(uint32_t number) { return (number + 1) * TAG_WORD; }

/* Returns the first lane's tag of word `word` of the result of a warp's step-th instruction, without the seed. */
static inline uint32_t tags_written(uint32_t step, uint32_t word) {
    const uint32_t x = (step * TAG_STEP + word * TAG_WORD + TAG_LANE) * TAG_SOURCE;
    return x ^ x >> 15;
}

/* How the tags of lanes differ from lane 0's. A table, because SSE2 has no product of four words. */
#define TAG_LANES(l) (l) * TAG_LANE, ((l) + 1) * TAG_LANE, ((l) + 2) * TAG_LANE, ((l) + 3) * TAG_LANE
static const uint32_t tag_lanes[LANES] = {TAG_LANES(0),  TAG_LANES(4),  TAG_LANES(8),  TAG_LANES(12),
                                          TAG_LANES(16), TAG_LANES(20), TAG_LANES(24), TAG_LANES(28)};

/* Sets the lanes of a register. */
static inline void tags_fill(uint32_t first, uint32_t lanes[LANES]) {
    uint32_t l;
    for (l = 0; l < LANES; l++) lanes[l] = first + tag_lanes[l];
}

/* Returns the weight of an instruction's k-th source in its digest. */
static inline uint32_t tags_source_weight(uint32_t k) { return 1 + k * (TAG_SOURCE - 1); }

/* Returns the sum of the weights of so many sources. */
static inline uint32_t tags_source_weights(uint32_t count) {
    return count + count * (count - (count > 0)) / 2 * (TAG_SOURCE - 1);
}

typedef uint32_t tag_vector __attribute__((vector_size(32), aligned(4), may_alias));

/* Returns the sum of the words of a vector. By halves: a word of the upper half takes an instruction more. */
static inline uint32_t sum_of(tag_vector v) {
    typedef uint32_t half_vector __attribute__((vector_size(16)));
    half_vector low, high;
    memcpy(&low, &v, sizeof low);
    memcpy(&high, (const char *)&v + sizeof low, sizeof high);
    low += high;
    return low[0] + low[1] + low[2] + low[3];
}

/* Returns what tags_read does, for so many sources. Source k has the weight 1 + k * (TAG_SOURCE - 1), so the sum of the
 * sources is needed, and the sum of source k taken k times. */
static inline uint32_t tags_read_sources(const instruction *i, const uint32_t *registers, uint32_t mask,
                                         uint32_t count) {
    const tag_vector *weights = (const tag_vector *)(const void *)tag_weights;
    const tag_vector *bits = (const tag_vector *)(const void *)lane_bits;
    tag_vector digest = {0, 0, 0, 0, 0, 0, 0, 0};
    uint32_t k, g;
    for (g = 0; g < LANES / 8; g++) {
        tag_vector sum = {0, 0, 0, 0, 0, 0, 0, 0}, times = sum;
        for (k = count; k-- > 0;) {
            const uint32_t *from = registers + (size_t)i->sources[k].index * LANES + g * 8;
            sum += *(const tag_vector *)(const void *)from;
            if (k) times += sum;
        }
        sum = (sum + times * (TAG_SOURCE - 1)) * weights[g];
        if (mask != UINT32_MAX) sum &= (tag_vector)((bits[g] & mask) != 0);
        digest += sum;
    }
    return sum_of(digest);
}

/* Returns the digest of all sources of an instruction. registers: the warp's. */
static inline uint32_t tags_read(const instruction *i, const uint32_t *registers, uint32_t mask) {
    switch (i->source_count) {
    case 0: return 0;
    case 1: return tags_read_sources(i, registers, mask, 1);
    case 2: return tags_read_sources(i, registers, mask, 2);
    case 3: return tags_read_sources(i, registers, mask, 3);
    default: return tags_read_sources(i, registers, mask, i->source_count);
    }
}

/* Returns the tag of a word of a block's shared memory: at first, and once an instruction of the block has written it.
 */
static inline uint32_t tags_shared(uint32_t seed, uint32_t word, int is_written) {
    return seed + (word + 1) * TAG_WORD + (is_written ? TAG_LANE : 0);
}

#endif
