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

/* 2. Save. The first round only measures, the second writes: the same calls. Returns the context, or NULL. */
static void *save(const gpump_compress_layout *layout, uint64_t *bytes) {
    gpump_context_block block;
    gpump_context_writer writer;
    gpump_diag diag;
    void *memory = NULL;
    memset(&block, 0, sizeof block);
    block.kernel = 1;
    block.linear = 5;
    block.warps = WARPS;
    block.lanes = LANES;
    block.registers = REGISTERS;
    *bytes = 0;
    for (int round = 0; round < 2; round++) {
        gpump_context_begin(&writer, memory, *bytes);
        gpump_context_put_block(&writer, &block);
        if (gpump_context_put_compressed(&writer, GPUMP_NONE, layout, &registers[0][0][0], &live,
                                         GPUMP_COMPRESS_ALLOW_ALL, &diag))
            break;
        for (uint32_t w = 0; w < WARPS; w++) {
            gpump_context_stack_entry top = {pc[w], GPUMP_NONE, 0xffffffff};
            gpump_context_put_stack(&writer, w, &top, 1);
        }
        gpump_context_put(&writer, GPUMP_CONTEXT_SHARED, 0, shared, SHARED);
        if (gpump_context_end(&writer, bytes) == GPUMP_ERROR_CAPACITY && !(memory = malloc(*bytes))) break;
    }
    return memory;
}

/* 4. Restore, after a check that the context is whole. Returns -1 for one that is not. */
static int restore(const gpump_compress_layout *layout, const void *memory, uint64_t bytes) {
    gpump_context_reader reader;
    gpump_context_section section;
    gpump_diag diag;
    char text[200];
    if (gpump_context_open(&reader, memory, bytes, &diag)) {
        gpump_diag_text(&diag, text, sizeof text);
        printf("refused: %s\n", text);
        return -1;
    }
    if (gpump_context_missing(&reader, SHARED)) return -1;
    if (gpump_context_get_compressed(&reader, GPUMP_NONE, layout, &registers[0][0][0], &diag)) return -1;
    for (uint32_t w = 0; w < WARPS; w++) {
        gpump_context_stack_entry top;
        uint32_t count;
        if (gpump_context_get_stack(&reader, w, &top, 1, &count) || count != 1) return -1;
        pc[w] = top.pc;
    }
    if (gpump_context_find(&reader, GPUMP_CONTEXT_SHARED, 0, &section)) return -1;
    memcpy(shared, section.payload, SHARED);
    return 0;
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

    /* 3. Another block overwrites the registers. */
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
