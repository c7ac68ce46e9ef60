/* Writing and reading the raw context of a block of n warps (24 registers, 32 lanes, 4 KB of shared memory), beside
 * copying the same bytes without sections, checks or checksum. As a view the block has SIMT stacks and predicates, too,
 * as a host's block does. */
#include <stdlib.h>
#include <string.h>
#include "gpump_once.h"
#include "micro.h"

enum { REGISTERS = 24, LANES = 32, SHARED = 4096, PREDICATES = 8 };

typedef struct block {
    uint32_t warps;
    uint32_t *values, *back;
    unsigned char shared[SHARED], *context, *copy;
    uint64_t capacity, bytes;
    gpump_context_stack_entry top;
    uint64_t predicates[PREDICATES];
} block;

static const uint64_t sizes[] = {1, 8, 32, 0};

static uint64_t write_context(block *b) {
    gpump_context_writer writer;
    uint64_t bytes = 0;
    (void)gpump_context_begin(&writer, b->context, b->capacity);
    for (uint32_t w = 0; w < b->warps; w++)
        gpump_context_put_registers(&writer, w, b->values + w * REGISTERS * LANES, REGISTERS, LANES);
    gpump_context_put(&writer, GPUMP_CONTEXT_SHARED, 0, b->shared, SHARED);
    (void)gpump_context_end(&writer, &bytes);
    return bytes;
}

static void *setup(uint64_t size) {
    block *b = (block *)calloc(1, sizeof *b);
    size_t words = (size_t)size * REGISTERS * LANES;
    if (!b) return NULL;
    b->warps = (uint32_t)size;
    b->capacity = words * 4 + SHARED + size * 512 + 1024;
    b->values = (uint32_t *)malloc(words * 4);
    b->back = (uint32_t *)malloc(words * 4);
    b->context = (unsigned char *)malloc((size_t)b->capacity);
    b->copy = (unsigned char *)malloc((size_t)b->capacity);
    if (!b->values || !b->back || !b->context || !b->copy) return NULL;
    for (size_t i = 0; i < words; i++) b->values[i] = (uint32_t)i;
    b->bytes = write_context(b);
    memcpy(b->copy, b->context, (size_t)b->bytes);
    return b->bytes ? b : NULL;
}
static void teardown(void *state) {
    block *b = (block *)state;
    free(b->values);
    free(b->back);
    free(b->context);
    free(b->copy);
    free(b);
}

static uint64_t run_write(void *state, uint64_t operations) {
    block *b = (block *)state;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++) {
        b->values[0] = (uint32_t)i;
        sum += write_context(b);
    }
    return sum;
}
static uint64_t run_write_copy(void *state, uint64_t operations) {
    block *b = (block *)state;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++) {
        b->values[0] = (uint32_t)i;
        for (uint32_t w = 0; w < b->warps; w++)
            memcpy(b->copy + w * REGISTERS * LANES * 4, b->values + w * REGISTERS * LANES, REGISTERS * LANES * 4);
        memcpy(b->copy + b->warps * REGISTERS * LANES * 4, b->shared, SHARED);
        sum += b->bytes + (b->copy[0] != (i & 255)); /* uses the copy, so that the compiler keeps it */
    }
    return sum;
}
static uint64_t read_context(block *b, uint64_t operations,
                             gpump_result (*open)(gpump_context_reader *, const void *, uint64_t, gpump_diag *)) {
    uint64_t good = 0;
    for (uint64_t i = 0; i < operations; i++) {
        gpump_context_reader reader;
        gpump_context_section section;
        if (open(&reader, b->context, b->bytes, NULL) != GPUMP_OK) continue;
        for (uint32_t w = 0; w < b->warps; w++)
            good +=
                gpump_context_get_registers(&reader, w, b->back + w * REGISTERS * LANES, REGISTERS, LANES) == GPUMP_OK;
        if (gpump_context_find(&reader, GPUMP_CONTEXT_SHARED, 0, &section) == GPUMP_OK)
            memcpy(b->shared, section.payload, SHARED);
        if (gpumpi_context_verify(&reader, NULL) != GPUMP_OK) return 0;
    }
    return good;
}
static uint64_t run_read(void *state, uint64_t operations) {
    return read_context((block *)state, operations, gpump_context_open);
}
static uint64_t run_read_unverified(void *state, uint64_t operations) {
    return read_context((block *)state, operations, gpump_context_open_unverified);
}
static uint64_t run_read_copy(void *state, uint64_t operations) {
    block *b = (block *)state;
    uint64_t good = 0;
    for (uint64_t i = 0; i < operations; i++) {
        for (uint32_t w = 0; w < b->warps; w++) {
            memcpy(b->back + w * REGISTERS * LANES, b->copy + w * REGISTERS * LANES * 4, REGISTERS * LANES * 4);
            good += b->back[w * REGISTERS * LANES] != 0xfffffffe;
        }
        memcpy(b->shared, b->copy + b->warps * REGISTERS * LANES * 4, SHARED);
    }
    return good;
}

/* ---- the same block as a view ---- */

static void describe_warp(void *user, uint32_t index, gpump_context_warp *warp) {
    block *b = (block *)user;
    warp->registers = b->values + index * REGISTERS * LANES;
    warp->stack = &b->top;
    warp->stack_entries = 1;
    warp->predicates = b->predicates;
    warp->predicate_words = PREDICATES;
}

/* Where a warp that is read goes to. */
static void place_warp(void *user, uint32_t index, gpump_context_warp *warp) {
    describe_warp(user, index, warp);
    warp->registers = ((block *)user)->back + index * REGISTERS * LANES;
}

static void took_warp(void *user, uint32_t index, const gpump_context_warp *warp, gpump_context_reader *reader) {
    (void)user, (void)index, (void)warp, (void)reader;
}

static gpump_context_view view_of(block *b) {
    gpump_context_view view;
    memset(&view, 0, sizeof view);
    view.block.warps = b->warps;
    view.block.lanes = LANES;
    view.block.registers = REGISTERS;
    view.shared = b->shared;
    view.shared_bytes = SHARED;
    view.user = b;
    view.warp = describe_warp;
    view.took = took_warp;
    return view;
}

static uint64_t run_put_view(void *state, uint64_t operations) {
    block *b = (block *)state;
    const gpump_context_view view = view_of(b);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++) {
        gpump_context_writer writer;
        uint64_t bytes = 0;
        b->values[0] = (uint32_t)i;
        (void)gpump_context_begin(&writer, b->context, b->capacity);
        (void)gpump_context_put_view(&writer, &view, NULL);
        (void)gpump_context_end(&writer, &bytes);
        sum += bytes;
    }
    return sum;
}

static void *setup_view(uint64_t size) {
    block *b = (block *)setup(size);
    if (!b) return NULL;
    b->top.lanes = UINT32_MAX;
    b->top.reconvergence_pc = GPUMP_NONE;
    b->bytes = run_put_view(b, 1);
    return b->bytes ? b : NULL;
}

static uint64_t run_get_view(void *state, uint64_t operations) {
    block *b = (block *)state;
    uint64_t good = 0;
    for (uint64_t i = 0; i < operations; i++) {
        gpump_context_view view = view_of(b);
        gpump_context_reader reader;
        view.warp = place_warp;
        if (gpump_context_open_unverified(&reader, b->context, b->bytes, NULL) != GPUMP_OK) return 0;
        if (gpump_context_get_view(&reader, &view, NULL) == GPUMP_OK) good += b->warps;
    }
    return good;
}

const micro_case micro_context[] = {
    {"context_write", "the raw context of a block of n warps", "memcpy of the same bytes", sizes, setup, run_write,
     run_write_copy, teardown},
    {"context_read", "opened, checked and read back", "memcpy of the same bytes", sizes, setup, run_read, run_read_copy,
     teardown},
    {"context_copy", "read back and verified in one pass", "memcpy of the same bytes", sizes, setup,
     run_read_unverified, run_read_copy, teardown},
    {"context_put_view", "a block of n warps with stacks and predicates, written by one call",
     "memcpy of its registers", sizes, setup_view, run_put_view, run_write_copy, teardown},
    {"context_get_view", "likewise read, and verified in the same pass", "memcpy of its registers", sizes, setup_view,
     run_get_view, run_read_copy, teardown},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
