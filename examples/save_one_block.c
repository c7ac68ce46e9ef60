/* save_one_block: a host that has nothing but an array of registers saves one block, loses it, and gets it back.
 *
 *     cc -I. examples/save_one_block.c -o save_one_block && ./save_one_block      (from the top of the project)
 */
#define GPUMP_IMPLEMENTATION
#include "../gpump.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARPS = 8, REGISTERS = 13, LANES = 32, SHARED = 1128 }; /* as large as a block of backprop's first kernel */

static uint32_t registers[WARPS][REGISTERS][LANES]; /* the host's register file: this block's part of it */
static unsigned char shared[SHARED];
static uint32_t pc[WARPS];

static const uint64_t live = 0x1f3f; /* bit r: register r is live here; 6 and 7 are dead */

/* 1. A block in the middle of its work. Addresses run along the lanes, constants are the same in all lanes, data
 * differs. */
static void fill(void) {
    for (uint32_t w = 0; w < WARPS; w++)
        for (uint32_t r = 0; r < REGISTERS; r++)
            for (uint32_t l = 0; l < LANES; l++)
                registers[w][r][l] = r < 6    ? 0x1000 * r + 4 * (w * LANES + l)
                                     : r < 12 ? 7 * r
                                              : (w * 977 + l * l * 31) * 2654435761u;
    for (uint32_t i = 0; i < SHARED; i++) shared[i] = (unsigned char)(i * 7);
    for (uint32_t w = 0; w < WARPS; w++) pc[w] = 42;
}

/* 2. What a block consists of: the same description writes it, measures it and reads it back. */
static gpump_context_stack_entry top;

static void describe_warp(void *user, uint32_t index, gpump_context_warp *warp) {
    (void)user;
    top.pc = pc[index];
    top.reconvergence_pc = GPUMP_NONE;
    top.lanes = 0xffffffff;
    warp->stack = &top;
    warp->stack_entries = 1;
}

static void take_warp(void *user, uint32_t index, const gpump_context_warp *warp, gpump_context_reader *reader) {
    (void)user;
    (void)reader; /* of sections of one's own there are none */
    pc[index] = warp->stack->pc;
}

static gpump_context_view describe(const gpump_compress_layout *layout) {
    gpump_context_view view;
    memset(&view, 0, sizeof view);
    view.block.kernel = 1;
    view.block.linear = 5;
    view.block.warps = WARPS;
    view.block.lanes = LANES;
    view.block.registers = REGISTERS;
    view.compress = layout;
    view.allow = GPUMP_COMPRESS_ALLOW_ALL;
    view.registers = &registers[0][0][0];
    view.live = &live;
    view.shared = shared;
    view.shared_bytes = SHARED;
    view.warp = describe_warp;
    view.took = take_warp;
    return view;
}

/* 3. Save. The first round only measures, the second writes. Returns the context, or NULL. */
static void *save(const gpump_compress_layout *layout, uint64_t *bytes) {
    const gpump_context_view view = describe(layout);
    gpump_context_writer writer;
    void *memory = NULL;
    *bytes = 0;
    for (int round = 0; round < 2; round++) {
        gpump_context_begin(&writer, memory, *bytes);
        if (gpump_context_put_view(&writer, &view, NULL)) break;
        if (gpump_context_end(&writer, bytes) == GPUMP_ERROR_CAPACITY && !(memory = malloc(*bytes))) break;
    }
    return memory;
}

/* 5. Restore. Returns -1 for a context that is altered, not whole, or of another block. */
static int restore(const gpump_compress_layout *layout, const void *memory, uint64_t bytes) {
    gpump_context_view view = describe(layout);
    gpump_context_reader reader;
    gpump_diag diag;
    char text[200];
    if (!gpump_context_open(&reader, memory, bytes, &diag) && !gpump_context_get_view(&reader, &view, &diag)) return 0;
    gpump_diag_text(&diag, text, sizeof text);
    printf("refused: %s\n", text);
    return -1;
}

int main(void) {
    static uint32_t before[WARPS][REGISTERS][LANES];
    gpump_compress_layout layout;
    gpump_diag diag;
    uint64_t bytes;
    void *memory;

    fill();
    memcpy(before, registers, sizeof before);
    if (gpump_compress_layout_init(&layout, WARPS * LANES, REGISTERS, LANES, 16, &diag)) return 1; /* a 16 x 16 block */
    if (!(memory = save(&layout, &bytes))) return 1;
    printf("%u registers of %u warps and %u bytes of shared memory: %u bytes raw, %u bytes saved\n",
           (unsigned)REGISTERS, (unsigned)WARPS, (unsigned)SHARED, (unsigned)(sizeof registers + SHARED),
           (unsigned)bytes);

    /* 4. Another block overwrites the registers. */
    memset(registers, 0xdd, sizeof registers);
    memset(shared, 0xdd, sizeof shared);
    memset(pc, 0xdd, sizeof pc);

    if (restore(&layout, memory, bytes)) return 1;
    for (uint32_t w = 0; w < WARPS; w++) /* dead registers may hold anything: the kernel writes before it reads them */
        for (uint32_t r = 0; r < REGISTERS; r++)
            if ((live >> r & 1) && memcmp(registers[w][r], before[w][r], sizeof before[w][r])) return 1;
    for (uint32_t i = 0; i < SHARED; i++)
        if (shared[i] != (unsigned char)(i * 7)) return 1;
    printf("restored: all live registers, shared memory and PCs are equal\n");
    free(memory);
    return pc[WARPS - 1] != 42;
}
