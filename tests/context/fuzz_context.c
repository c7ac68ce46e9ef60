/* A libFuzzer target for the context loader: whatever the bytes are, it must refuse or read them, and touch nothing
 * else. tests/fuzz/fuzz.sh runs it.
 *
 * Each input is tried three times: as it is; with header and checksum made right, so
 * that the sections are reached; and as the compressed payload of a good context. tests/context/fuzz_corpus.c replays
 * the corpus in every test run. */
#define GPUMP_STATIC
#define GPUMP_NO_PROGRAM
#ifndef GPUMP_IMPLEMENTATION
#define GPUMP_IMPLEMENTATION
#endif
#include "gpump.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_read(const unsigned char *memory, uint64_t bytes) {
    static uint32_t values[64 * 256 * 64];
    static gpump_context_stack_entry stack[64];
    static uint64_t words[64];
    gpump_context_reader reader;
    gpump_context_section section;
    gpump_context_block block;
    gpump_context_control control;
    gpump_diag diag;
    uint32_t count, steps = 0;
    char text[300];
    memset(&diag, 0, sizeof diag);
    if (gpump_context_open(&reader, memory, bytes, &diag)) {
        if (!diag.field) abort(); /* a refusal says why */
        gpump_diag_text(&diag, text, sizeof text);
        return;
    }
    (void)gpump_context_get_block(&reader, &block);
    (void)gpumpi_context_get_control(&reader, &control);
    (void)gpumpi_context_unknown_sections(&reader);
    for (uint32_t shared = 0; shared < 200; shared += 100) (void)gpump_context_missing(&reader, shared);
    reader.next = GPUMP_CONTEXT_HEADER_BYTES;
    while (gpump_context_next(&reader, &section) == GPUMP_OK && steps++ < 40) {
        gpump_context_reader other = reader;
        gpump_compress_layout layout;
        if (section.payload < memory || section.bytes > bytes || section.payload + section.bytes > memory + bytes)
            abort();
        (void)gpump_context_get_stack(&other, section.index, stack, 64, &count);
        (void)gpump_context_get_words(&other, section.type, section.index, words, 64, &count);
        (void)gpump_context_get_registers(&other, section.index, values, 3, 32);
        memset(&layout, 0, sizeof layout);
        if (section.type != GPUMP_CONTEXT_COMPRESSED || section.bytes < 32) continue;
        layout.warps = gpumpi_get_word(section.payload + 4);
        layout.registers = gpumpi_get_word(section.payload + 8);
        layout.lanes = gpumpi_get_word(section.payload + 12);
        layout.last_lanes = gpumpi_get_word(section.payload + 16);
        layout.group = gpumpi_get_word(section.payload + 20);
        if (layout.warps > 64 || layout.registers > 256 || layout.lanes > 64) continue;
        layout.register_stride = layout.lanes;
        layout.warp_stride = layout.lanes * layout.registers;
        layout.live_stride = 0;
        (void)gpumpi_context_get_compressed(&other, section.index, &layout, values, &diag);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned char *copy;
    size_t rounded = size & ~(size_t)7;
    fuzz_read(data, size);
    if (rounded >= GPUMP_CONTEXT_HEADER_BYTES &&
        rounded < 100000) { /* the same with a good header: sections as they come */
        uint64_t offset = GPUMP_CONTEXT_HEADER_BYTES;
        uint32_t sections = 0;
        uint64_t sums[32] = {0};
        copy = (unsigned char *)malloc(rounded);
        if (!copy) return 0;
        memcpy(copy, data, rounded);
        while (rounded - offset >= GPUMP_CONTEXT_SECTION_BYTES) {
            uint64_t length = gpumpi_context_load64(copy + offset + 8),
                     room = rounded - offset - GPUMP_CONTEXT_SECTION_BYTES;
            if (length > room) gpumpi_context_store64(copy + offset + 8, length = room);
            for (uint64_t k = length; k < ((length + 7) & ~UINT64_C(7)); k++)
                copy[offset + GPUMP_CONTEXT_SECTION_BYTES + k] = 0;
            offset += GPUMP_CONTEXT_SECTION_BYTES + ((length + 7) & ~UINT64_C(7));
            sections++;
        }
        memset(copy, 0, GPUMP_CONTEXT_HEADER_BYTES);
        memcpy(copy, gpumpi_context_magic, 8);
        gpumpi_put_word(copy + 8, GPUMP_CONTEXT_VERSION);
        gpumpi_put_word(copy + 12, sections);
        gpumpi_context_store64(copy + 16, offset);
        gpumpi_context_store64(copy + 24,
                               gpumpi_context_sum_up(sums, copy, GPUMP_CONTEXT_HEADER_BYTES, offset, sections));
        fuzz_read(copy, offset);
        free(copy);
    }
    if (size >= 8 && size < 100000) { /* and as compressed registers of a shape taken from the first bytes */
        gpump_context_writer writer;
        uint64_t bytes;
        unsigned char *payload;
        copy = (unsigned char *)malloc(size + 200);
        if (!copy) return 0;
        gpump_context_begin(&writer, copy, size + 200);
        payload = (unsigned char *)gpump_context_reserve(&writer, GPUMP_CONTEXT_COMPRESSED, GPUMP_NONE, 32 + size - 8);
        if (payload) {
            gpumpi_put_word(payload, data[0] & 7u);
            gpumpi_put_word(payload + 4, data[1] & 63u);
            gpumpi_put_word(payload + 8, data[2]);
            gpumpi_put_word(payload + 12, data[3] & 127u);
            gpumpi_put_word(payload + 16, data[4] & 127u);
            gpumpi_put_word(payload + 20, data[5] & 127u);
            gpumpi_put_word(payload + 24, (uint32_t)(size - 8));
            memcpy(payload + 32, data + 8, size - 8);
            if (gpump_context_end(&writer, &bytes) == GPUMP_OK) fuzz_read(copy, bytes);
        }
        free(copy);
    }
    return 0;
}
