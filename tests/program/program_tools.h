/* Shared by tests/program: short ways to write programs down, random programs, and an allocator that fails on purpose.
 */
#ifndef PROGRAM_TOOLS_H
#define PROGRAM_TOOLS_H
#include "test.h"

#include <sys/mman.h>

/* ---- an allocator that counts, fails at the N-th request, and stops who leaves his memory ---- */
typedef struct test_allocator {
    uint64_t requests, fail_at, live; /* fail_at 0: never */
    size_t live_bytes;
} test_allocator;

/* A sanitizer watches malloc's memory. Elsewhere each piece ends where a page begins that nobody may touch; what is
 * between the two, 7 bytes at most, must stay as it was filled. */
#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define TEST_WATCHED_BY_SANITIZER
#endif
#elif defined __SANITIZE_ADDRESS__
#define TEST_WATCHED_BY_SANITIZER
#endif
#ifndef TEST_WATCHED_BY_SANITIZER
enum { TEST_PAGE = 4096, TEST_PAGES = 64 };
static void *test_released[TEST_PAGES]; /* by pages: the first word of each piece is the next one's address */
static size_t test_filling(size_t bytes) { return (8 - bytes % 8) % 8; }
static size_t test_pages(size_t bytes) { return (bytes + test_filling(bytes) + TEST_PAGE - 1) / TEST_PAGE; }
#endif
static inline unsigned char *test_take(size_t bytes, int filled_with) {
#ifdef TEST_WATCHED_BY_SANITIZER
    unsigned char *taken = (unsigned char *)malloc(bytes);
    if (taken) memset(taken, filled_with, bytes);
    return taken;
#else
    const size_t pages = test_pages(bytes);
    unsigned char *first;
    if (pages < TEST_PAGES && test_released[pages]) {
        first = (unsigned char *)test_released[pages];
        memcpy(&test_released[pages], first, sizeof test_released[pages]);
    } else {
        first = (unsigned char *)mmap(NULL, (pages + 1) * TEST_PAGE, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (first == MAP_FAILED) return NULL;
        if (mprotect(first + pages * TEST_PAGE, TEST_PAGE, PROT_NONE)) return NULL;
    }
    first += pages * TEST_PAGE - bytes - test_filling(bytes);
    memset(first, filled_with, bytes);
    memset(first + bytes, 0x3c, test_filling(bytes));
    return first;
#endif
}
static inline void test_release(void *piece, size_t bytes) {
#ifdef TEST_WATCHED_BY_SANITIZER
    (void)bytes;
    free(piece);
#else
    const size_t pages = test_pages(bytes);
    unsigned char *end = (unsigned char *)piece + bytes, *first = end + test_filling(bytes) - pages * TEST_PAGE;
    if (((uintptr_t)end + test_filling(bytes)) % TEST_PAGE) fail_msg("a piece is given back with a wrong size");
    for (size_t i = 0; i < test_filling(bytes); i++)
        if (end[i] != 0x3c) fail_msg("somebody has written behind a piece of %zu bytes", bytes);
    memset(piece, 0x5b, bytes); /* so that stale pointers show */
    if (pages >= TEST_PAGES) {
        munmap(first, (pages + 1) * TEST_PAGE);
        return;
    }
    memcpy(first, &test_released[pages], sizeof test_released[pages]);
    test_released[pages] = first;
#endif
}
/* What a piece holds at first is different every time, so that results that depend on it differ. */
static inline void *test_reallocate(void *user, void *pointer, size_t old_bytes, size_t new_bytes) {
    static unsigned filled_with;
    test_allocator *a = (test_allocator *)user;
    unsigned char *moved;
    if (!pointer && old_bytes) fail_msg("a new piece has an old size");
    if (!new_bytes) {
        if (pointer) {
            a->live--, a->live_bytes -= old_bytes;
            test_release(pointer, old_bytes);
        }
        return NULL;
    }
    if (++a->requests == a->fail_at) return NULL;
    moved = test_take(new_bytes, (int)((filled_with += 89) & 255u)); /* always moves, so that stale pointers show */
    if (!moved) return NULL;
    if (pointer) {
        memcpy(moved, pointer, old_bytes < new_bytes ? old_bytes : new_bytes);
        test_release(pointer, old_bytes);
    } else
        a->live++;
    a->live_bytes += new_bytes - old_bytes;
    return moved;
}
static inline gpump_allocator test_allocator_of(test_allocator *a) {
    gpump_allocator allocator;
    allocator.reallocate = test_reallocate;
    allocator.user = a;
    return allocator;
}
/* For tests that only want their memory watched. */
static test_allocator test_watching;
static inline const gpump_allocator *test_watched(void) {
    static gpump_allocator allocator;
    allocator = test_allocator_of(&test_watching);
    return &allocator;
}
/* Ends a group of tests. */
static inline int test_nothing_leaks(void **state) {
    (void)state;
    if (!test_watching.live && !test_watching.live_bytes) return 0;
    fprintf(stderr, "%llu pieces leak\n", (unsigned long long)test_watching.live);
    return 1;
}
/* Runs job once for every request it makes, that request failing; the job must return GPUMP_ERROR_MEMORY, hold nothing
 * afterwards, and succeed when nothing fails. */
static inline void test_every_allocation_failing(gpump_result (*job)(const gpump_allocator *allocator, void *user),
                                                 void *user) {
    test_allocator counter;
    gpump_allocator allocator = test_allocator_of(&counter);
    uint64_t total, n;
    memset(&counter, 0, sizeof counter);
    assert_int_equal(job(&allocator, user), GPUMP_OK);
    assert_true(counter.requests > 0 && counter.live == 0 && counter.live_bytes == 0);
    total = counter.requests;
    for (n = 1; n <= total; n++) {
        memset(&counter, 0, sizeof counter);
        counter.fail_at = n;
        if (job(&allocator, user) != GPUMP_ERROR_MEMORY || counter.live || counter.live_bytes)
            fail_msg("request %llu of %llu failing: wrong result, or %llu pieces leak", (unsigned long long)n,
                     (unsigned long long)total, (unsigned long long)counter.live);
    }
}

/* ---- writing programs down (allocator NULL: watched); every call must succeed unless an allocator fails, then
 * `failed` is set and the rest does nothing ---- */
typedef struct test_builder {
    gpump_program *program;
    gpump_result result;
} test_builder;
static inline test_builder test_build(const gpump_allocator *allocator) {
    test_builder b;
    b.program = NULL;
    b.result = gpump_program_create(allocator ? allocator : test_watched(), &b.program);
    return b;
}
static inline uint32_t test_register(test_builder *b, uint32_t width) {
    uint32_t reg = 0;
    if (b->result == GPUMP_OK) b->result = gpump_program_add_register(b->program, width, &reg, NULL);
    return reg;
}
static inline uint32_t test_object(test_builder *b, uint32_t space, uint32_t alias_class) {
    gpump_memory_object what;
    uint32_t object = 0;
    what.space = space;
    what.alias_class = alias_class;
    if (b->result == GPUMP_OK) b->result = gpump_program_add_object(b->program, &what, &object, NULL);
    return object;
}
static inline uint32_t test_add(test_builder *b, const gpump_instruction *in) {
    uint32_t index = gpump_program_count(b->program).instructions;
    gpump_diag diag;
    if (b->result != GPUMP_OK) return index;
    b->result = gpump_program_add(b->program, in, &index, &diag);
    if (b->result != GPUMP_OK && b->result != GPUMP_ERROR_MEMORY) {
        char text[200];
        gpump_diag_text(&diag, text, sizeof text);
        fail_msg("instruction %u: %s", index, text);
    }
    return index;
}
/* A computation: up to one def and three uses; GPUMP_NONE where there is none. */
static inline uint32_t test_op(test_builder *b, uint64_t tag, uint32_t def, uint32_t u0, uint32_t u1, uint32_t u2) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
    uint32_t uses[3];
    in.defs = &def;
    in.def_count = def != GPUMP_NONE;
    in.uses = uses;
    if (u0 != GPUMP_NONE) uses[in.use_count++] = u0;
    if (u1 != GPUMP_NONE) uses[in.use_count++] = u1;
    if (u2 != GPUMP_NONE) uses[in.use_count++] = u2;
    in.tag = tag;
    return test_add(b, &in);
}
static inline uint32_t test_move(test_builder *b, uint32_t def, uint32_t use) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_MOVE);
    in.defs = &def;
    in.uses = &use;
    in.def_count = in.use_count = 1;
    return test_add(b, &in);
}
static inline uint32_t test_constant(test_builder *b, uint32_t def, int64_t value) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_CONSTANT);
    in.defs = &def;
    in.def_count = 1;
    in.immediate = value;
    return test_add(b, &in);
}
static inline uint32_t test_parameter(test_builder *b, uint32_t def, int64_t offset) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_PARAMETER);
    in.defs = &def;
    in.def_count = 1;
    in.immediate = offset;
    return test_add(b, &in);
}
/* guard GPUMP_NONE: always. negated 0 or 1. */
static inline uint32_t test_branch(test_builder *b, uint32_t guard, uint32_t negated, uint32_t target) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_BRANCH);
    in.guard = guard;
    in.flags = negated ? GPUMP_FLAG_GUARD_NEGATED : 0;
    in.target = target;
    return test_add(b, &in);
}
static inline uint32_t test_exit(test_builder *b, uint32_t guard) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_EXIT);
    in.guard = guard;
    return test_add(b, &in);
}
static inline uint32_t test_barrier(test_builder *b) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_BARRIER);
    return test_add(b, &in);
}
/* load: def = [object + index register]; address as in gpump_instruction */
static inline uint32_t test_access(test_builder *b, uint32_t access, uint64_t tag, uint32_t def, uint32_t index,
                                   uint32_t data, uint32_t space, uint32_t object, uint32_t address, uint32_t value,
                                   int64_t offset, uint32_t stride) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
    uint32_t uses[2];
    in.defs = &def;
    in.def_count = def != GPUMP_NONE;
    in.uses = uses;
    if (index != GPUMP_NONE) uses[in.use_count++] = index;
    if (data != GPUMP_NONE) uses[in.use_count++] = data;
    in.access = access;
    in.tag = tag;
    in.space = space;
    in.object = object;
    in.address = address;
    in.value = value;
    in.offset = offset;
    in.bytes = 4;
    in.thread_stride = stride;
    return test_add(b, &in);
}
static inline gpump_result test_finish(test_builder *b) {
    gpump_diag diag;
    if (b->result == GPUMP_OK) {
        b->result = gpump_program_finish(b->program, &diag);
        if (b->result != GPUMP_OK && b->result != GPUMP_ERROR_MEMORY) {
            char text[200];
            gpump_diag_text(&diag, text, sizeof text);
            fail_msg("finish, instruction %llu: %s", (unsigned long long)diag.index, text);
        }
    }
    return b->result;
}
static inline void test_print_program(const gpump_program *program) {
    for (uint32_t i = 0; i < gpump_program_count(program).instructions; i++) {
        char text[200];
        gpump_program_text(program, i, text, sizeof text);
        printf("%4u: %s\n", i, text);
    }
}
/* A hash of a program's listing. */
static inline uint64_t test_program_text_hash(const gpump_program *program) {
    uint64_t hash = GPUMP_HASH_SEED;
    for (uint32_t i = 0; i < gpump_program_count(program).instructions; i++) {
        char text[400];
        hash = gpump_hash_bytes(hash, text, gpump_program_text(program, i, text, sizeof text));
    }
    return hash;
}
/* A hash of all that a program says. */
static inline uint64_t test_program_hash(const gpump_program *program) {
    uint64_t hash = GPUMP_HASH_SEED;
    for (uint32_t i = 0; i < gpump_program_count(program).instructions; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        for (uint32_t k = 0; k < in.def_count; k++) hash = gpump_hash_u64(hash, in.defs[k]);
        for (uint32_t k = 0; k < in.use_count; k++) hash = gpump_hash_u64(hash, in.uses[k]);
        hash = gpump_hash_u64(gpump_hash_u64(hash, (uint64_t)in.immediate), (uint64_t)in.offset);
        hash = gpump_hash_u64(gpump_hash_u64(hash, (uint64_t)in.displacement), in.operation);
        hash = gpump_hash_u64(gpump_hash_u64(hash, in.flags), in.guard);
        hash = gpump_hash_u64(gpump_hash_u64(hash, in.target), in.access);
        hash = gpump_hash_u64(gpump_hash_u64(hash, in.space), in.object);
        hash = gpump_hash_u64(gpump_hash_u64(hash, in.address), in.value);
    }
    return hash;
}
#endif
