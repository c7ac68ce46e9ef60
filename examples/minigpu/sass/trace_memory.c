#include "sass/trace_memory.h"

#include <stdlib.h>
#include <string.h>

#include "sass/trace_addresses.h"
#include "sass/trace_tags.h"

#define SEGMENT_WORDS 32u
#define CHUNK_SHIFT 14u /* of an address */
#define CHUNK_BYTES (UINT64_C(1) << CHUNK_SHIFT)
#define CHUNK_WORDS (CHUNK_BYTES / 4)
#define CHUNKS ((uint64_t)TRACE_REGIONS * (TRACE_REGION_BYTES >> CHUNK_SHIFT))
#define RUN_WORDS 8u                     /* of a run that is kept as one */
#define SHARED 1u                        /* the owner of a word that several warps write */
#define SHARES_WORDS (UINT32_C(1) << 31) /* in segment.uses: a word is shared */

/* A segment of 128 bytes. It is forgotten when no block that has not ended writes it. Most segments are written by one
 * warp, which writes the same words of it each time. Then these words are kept as one run: their owner, and the tag of
 * the first one. */
typedef struct segment {
    uint32_t uses;        /* runs of its words that such blocks write */
    uint32_t owner, tag;  /* of the run; owner 0: there is none, and the words have their own */
    uint8_t first, count; /* words of the run */
    uint8_t step;         /* from one word's tag to the next's */
    uint8_t unused;
} segment;

/* The words of 16 KB. Of each word, the lower half is the owner: the seed of the warp that writes it; 0: none does. The
 * upper half is the tag of the last store that the machine has executed; 0: none. A tag is the step of its warp times
 * 32, plus the lane, plus 1. */
typedef struct chunk {
    uint64_t words[CHUNK_WORDS]; /* 0 where the segment has one run */
    segment segments[CHUNK_WORDS / SEGMENT_WORDS];
    uint32_t used;      /* segments that have any uses */
    struct chunk *next; /* in the list of free ones, whose words are 0 */
} chunk;

struct trace_memory {
    const trace_map *map;
    chunk *chunks[CHUNKS];
    chunk *free;
};

/* What is done with words. */
typedef enum action { CLAIM, WRITE, RELEASE } action;

/* Words of a segment that lie side by side: of one lane, or of lanes side by side, 4 bytes each. */
typedef struct run {
    uint64_t address;
    uint32_t count, tag, step; /* tag: of the first word; step: from one word's tag to the next's */
    uint32_t seed;
} run;

trace_memory *trace_memory_open(const trace_map *map) {
    trace_memory *t = (trace_memory *)calloc(1, sizeof *t);
    if (t) t->map = map;
    return t;
}

void trace_memory_close(trace_memory *t) {
    const uint64_t used = t ? t->map->count * (TRACE_REGION_BYTES >> CHUNK_SHIFT) : 0;
    uint64_t i;
    for (i = 0; i < used; i++) free(t->chunks[i]);
    while (t && t->free) {
        chunk *next = t->free->next;
        free(t->free);
        t->free = next;
    }
    free(t);
}

/* Returns where the pointer to an address's chunk lies; NULL: the address is not the program's. */
static inline chunk **place_of(trace_memory *t, uint64_t address) {
    const uint64_t number = (address - t->map->base) >> CHUNK_SHIFT;
    return number < CHUNKS ? &t->chunks[number] : NULL;
}

/* Makes the chunk of an address. Returns NULL when memory is out. */
static chunk *make_chunk(trace_memory *t, chunk **at) {
    chunk *made = t->free;
    if (made)
        t->free = made->next;
    else
        made = (chunk *)calloc(1, sizeof *made); /* its pages cost memory only once they are written */
    return *at = made;
}

/* ---- a run of words ---- */

static inline uint32_t word_of(const run *r) { return (uint32_t)(r->address / 4 % CHUNK_WORDS); }

/* Returns what the n-th word of a run is once its store has been executed. */
static inline uint64_t written_word(const run *r, uint32_t n) {
    return r->seed | (uint64_t)(r->tag + n * r->step) << 32;
}

/* Returns whether all words of a run have one owner. */
static inline int is_owned(const uint64_t *words, uint32_t count, uint32_t owner) {
    uint64_t others = 0;
    uint32_t n;
    for (n = 0; n < count; n++) others |= words[n] ^ owner;
    return !(uint32_t)others;
}

/* Returns SHARES_WORDS when a word is shared, else 0. */
static inline uint32_t claim(uint64_t *words, const run *r) {
    const uint32_t count = r->count, seed = r->seed;
    const int is_free = is_owned(words, count, 0);
    uint32_t n, shares = 0;
    for (n = 0; is_free && n < count; n++) words[n] = seed;
    for (n = 0; !is_free && n < count; n++) {
        const uint32_t owner = (uint32_t)words[n];
        if (owner == seed) continue;
        words[n] = owner ? SHARED : seed;
        shares |= owner ? SHARES_WORDS : 0;
    }
    return shares;
}

/* Only words of the warp are written to: other warps write to theirs at the same time. Returns 1 when a word is neither
 * the warp's nor shared. */
static inline int write_run(uint64_t *words, const run *r) {
    const run one = *r;
    const int is_own = is_owned(words, one.count, one.seed);
    uint32_t n;
    int strange = 0;
    for (n = 0; is_own && n < one.count; n++) words[n] = written_word(&one, n);
    for (n = 0; !is_own && n < one.count; n++) {
        const uint32_t owner = (uint32_t)words[n];
        if (owner == one.seed) words[n] = written_word(&one, n);
        strange |= owner != one.seed && owner != SHARED;
    }
    return strange;
}

/* Compares the words that are still the warp's, and gives them up. Returns 1 when one has another tag. */
static inline int release(uint64_t *words, const run *r) {
    const run one = *r;
    uint64_t differ = 0;
    uint32_t n;
    int wrong = 0;
    for (n = 0; n < one.count; n++) differ |= words[n] ^ written_word(&one, n);
    if (!differ) {
        memset(words, 0, one.count * sizeof *words);
        return 0;
    }
    for (n = 0; n < one.count; n++) {
        if ((uint32_t)words[n] != one.seed) continue;
        wrong |= words[n] != written_word(&one, n);
        words[n] = 0;
    }
    return wrong;
}

/* Returns whether a run is the one run of its segment. */
static inline int is_the_run(const segment *s, const run *r) {
    return s->owner == r->seed && s->first == word_of(r) % SEGMENT_WORDS && s->count == r->count;
}

/* Gives the words of a segment's one run their own owners and tags. words: of the segment. */
static void spread(segment *s, uint64_t *words) {
    uint32_t n;
    for (n = 0; n < s->count; n++) words[s->first + n] = s->owner | (uint64_t)(s->tag ? s->tag + n * s->step : 0) << 32;
    s->owner = 0;
}

/* A block claims a run. Returns -1 when memory is out. */
static inline int claim_run(trace_memory *t, chunk **at, const run *r) {
    const uint32_t word = word_of(r);
    chunk *c = *at ? *at : make_chunk(t, at);
    segment *s;
    if (!c) return -1;
    s = &c->segments[word / SEGMENT_WORDS];
    c->used += !s->uses;
    if (!s->uses && r->count >= RUN_WORDS) {
        s->owner = r->seed;
        s->tag = 0;
        s->first = (uint8_t)(word % SEGMENT_WORDS);
        s->count = (uint8_t)r->count;
    } else if (!is_the_run(s, r)) {
        if (s->owner) spread(s, &c->words[word - word % SEGMENT_WORDS]);
        s->uses |= claim(&c->words[word], r);
    }
    s->uses++;
    return 0;
}

/* The machine executes the store of a run. Returns 1 when a word is neither the warp's nor shared. */
static inline int write_words(chunk *c, const run *r) {
    const uint32_t word = word_of(r);
    segment *s = &c->segments[word / SEGMENT_WORDS];
    if (!s->owner) return write_run(&c->words[word], r);
    if (!is_the_run(s, r)) return 1;
    s->tag = r->tag;
    s->step = (uint8_t)r->step;
    return 0;
}

/* Gives up the words of a run that are still its warp's. Returns 1 when one of them has another tag than the run's. */
static inline int release_words(segment *s, uint64_t *word, const run *r) {
    if (!s->owner) return release(word, r);
    s->owner = 0;
    return s->tag != r->tag || (r->count > 1 && s->step != r->step);
}

/* A block gives up a run. Returns 1 when a word has another tag than the run's. */
static inline int release_run(trace_memory *t, chunk **at, const run *r) {
    const uint32_t word = word_of(r);
    chunk *c = *at;
    segment *s = &c->segments[word / SEGMENT_WORDS];
    const int wrong = release_words(s, &c->words[word], r);
    if (--s->uses & ~SHARES_WORDS) return wrong;
    if (s->uses) memset(&c->words[word - word % SEGMENT_WORDS], 0, SEGMENT_WORDS * sizeof *c->words);
    s->uses = 0;
    if (--c->used) return wrong;
    *at = NULL;
    c->next = t->free;
    t->free = c;
    return wrong;
}

/* Does one thing with a run. Returns 1 when it is wrong; -1 when memory is out. */
static inline int act(trace_memory *t, const run *r, action what) {
    chunk **at = place_of(t, r->address);
    if (!at) return what == CLAIM ? -1 : 1;
    if (what == CLAIM) return claim_run(t, at, r);
    if (!*at) return 1;
    return what == WRITE ? write_words(*at, r) : release_run(t, at, r);
}

/* Sets the run of some of the lanes that are left, from the lowest on or from the highest down. Returns these lanes. */
static inline uint32_t run_of(const trace_memory_access *a, uint32_t bytes, uint32_t left, int is_down, run *r) {
    const uint64_t *addresses = a->addresses;
    uint32_t first = is_down && !a->is_row ? 31u - (uint32_t)__builtin_clz(left) : gpump_bits_lowest64(left),
             last = first;
    r->address = addresses[first];
    if (a->is_row) {
        r->address = addresses[0] + first * 4;
        last += SEGMENT_WORDS - 1 - (uint32_t)(r->address / 4 % SEGMENT_WORDS);
        if (last >= LANES) last = LANES - 1;
    } else if (bytes == 4 && is_down) {
        for (; first && a->mask >> (first - 1) & 1 && r->address >> 2 & (SEGMENT_WORDS - 1) &&
               addresses[first - 1] + 4 == r->address;
             first--)
            r->address -= 4;
    } else if (bytes == 4) {
        while (last + 1 < LANES && a->mask >> (last + 1) & 1 && addresses[last + 1] >> 2 & (SEGMENT_WORDS - 1) &&
               addresses[last + 1] == addresses[last] + 4)
            last++;
    }
    r->count = bytes > 4 ? bytes / 4 : last - first + 1;
    r->tag = a->step * LANES + first + 1;
    r->step = bytes == 4;
    return (uint32_t)((UINT64_C(2) << last) - (UINT64_C(1) << first));
}

/* Does one thing with all words of an access. The highest lane's tag stays in a word that several lanes write, so words
 * are given up from the highest lane down. Returns likewise. */
static inline __attribute__((always_inline)) int walk(trace_memory *t, const trace_memory_access *a, action what) {
    const uint32_t bytes = instruction_access_bytes(a->instruction);
    uint32_t left = a->mask;
    int result = 0;
    run r;
    r.seed = a->seed > SHARED ? a->seed : a->seed + 2;
    while (left && result >= 0) {
        int one;
        left &= ~run_of(a, bytes, left, what == RELEASE, &r);
        if ((one = act(t, &r, what))) result = one < 0 ? one : result | one;
    }
    return result;
}

/* ---- blocks ---- */

/* Returns whether all lanes of a step access one word after the other, which is seen without the list of them. */
static inline int is_row(const trace_reach *reach, uint32_t mask, const instruction *in) {
    const uint32_t form = (uint32_t)(reach->others & TRACE_FORM);
    if (mask != UINT32_MAX || instruction_access_bytes(in) != 4) return 0;
    return form == TRACE_PATTERN ? trace_pattern_of(reach)->is_row : reach->others == (4 << 2 | TRACE_STRIDE);
}

/* Sets what the step-th instruction of a warp accesses. */
static void access_of(const trace_kernel *k, const trace_block *b, uint32_t warp, uint32_t step,
                      uint64_t addresses[LANES], trace_memory_access *a) {
    const trace_step *of = &b->warps[warp].shared->steps[step];
    const trace_reach *reach = trace_reach_of(b, warp, of);
    a->addresses = addresses;
    a->instruction = &k->program.instructions[of->instruction];
    a->is_row = is_row(reach, of->mask, a->instruction);
    if (a->is_row)
        addresses[0] = reach->first;
    else
        trace_addresses(reach, of->mask, b->lists, addresses);
    a->mask = of->mask;
    a->step = step;
}

/* No step of a block has been executed. Returns likewise. */
static int clear_executed(trace_kernel *k, trace_block *b) {
    const size_t bytes = b->step_count / 8 + 1;
    if (bytes > b->executed_bytes) {
        uint8_t *grown = (uint8_t *)trace_pool_take(&k->pool, bytes);
        if (!grown) return -1;
        b->executed = grown;
        b->executed_bytes = bytes;
    }
    memset(b->executed, 0, bytes);
    return 0;
}

/* Begins with the stores of a warp: returns how many it has, and sets what they have in common. */
static uint32_t begin_stores(const trace_kernel *k, const trace_block *b, uint32_t warp, trace_memory_access *a) {
    const trace_warp *w = &b->warps[warp];
    uint32_t count = w->shared ? w->shared->store_count : 0;
    while (count && w->shared->stores[count - 1] >= w->count) count--;
    a->warp = warp;
    a->seed = count ? tags_seed(k->number, b->linear, warp) : 0;
    return count;
}

int trace_memory_begin(trace_memory *t, trace_kernel *k, trace_block *b) {
    uint64_t addresses[LANES];
    trace_memory_access a;
    uint32_t n, count, warp;
    if (clear_executed(k, b)) return -1;
    for (warp = 0; warp < TRACE_WARPS; warp++) {
        count = begin_stores(k, b, warp, &a);
        for (n = 0; n < count; n++) {
            access_of(k, b, warp, b->warps[warp].shared->stores[n], addresses, &a);
            if (a.instruction->opcode == OPCODE_ST && walk(t, &a, CLAIM)) return -1;
        }
    }
    return 0;
}

trace_memory_result trace_memory_write(trace_memory *t, trace_block *b, const trace_memory_access *access) {
    const uint32_t index = b->warps[access->warp].first + access->step;
    const uint8_t bit = (uint8_t)(1u << index % 8);
    const int again = b->executed[index / 8] & bit;
    b->executed[index / 8] |= bit;
    if (access->instruction->opcode != OPCODE_ST) return again ? TRACE_MEMORY_TWICE : TRACE_MEMORY_RIGHT;
    return walk(t, access, WRITE) ? TRACE_MEMORY_STRANGE : TRACE_MEMORY_RIGHT;
}

trace_memory_result trace_memory_end(trace_memory *t, const trace_kernel *k, trace_block *b, uint32_t *warp,
                                     uint32_t *step) {
    trace_memory_result result = TRACE_MEMORY_RIGHT;
    uint64_t addresses[LANES];
    trace_memory_access a;
    uint32_t w, n;
    for (w = TRACE_WARPS; w-- > 0;) {
        for (n = begin_stores(k, b, w, &a); n-- > 0;) { /* the last store to a word comes first */
            const uint32_t of = b->warps[w].shared->stores[n], i = b->warps[w].first + of;
            const int is_executed = b->executed[i / 8] >> i % 8 & 1;
            int is_wrong;
            access_of(k, b, w, of, addresses, &a);
            is_wrong = a.instruction->opcode == OPCODE_ST && walk(t, &a, RELEASE);
            if (is_executed && !is_wrong) continue;
            result = is_executed ? TRACE_MEMORY_OVERWRITTEN : TRACE_MEMORY_LOST;
            *warp = w;
            *step = of;
        }
    }
    return result;
}
