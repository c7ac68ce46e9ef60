/* link: minigpu_core */
/* A libFuzzer target for the PTX reader. tests/fuzz/fuzz.sh runs it. What it finds goes to tests/ptx/bad_ptx, which
 * tests/ptx/fuzz_replay.c replays. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "ptx/ptx_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ptx_module module;
    ptx_error error;
    char text[256];
    if (ptx_read((const char *)data, size, "fuzz.ptx", &module, &error)) {
        if (!error.text[0]) abort();
        return 0;
    }
    ptx_link(&module, 0x100000, 0x200000);
    for (uint32_t k = 0; k < module.kernel_count; k++) {
        const kernel_program *kernel = &module.kernels[k];
        for (uint32_t i = 0; i < kernel->count; i++) {
            const instruction *in = &kernel->instructions[i];
            instruction_text(in, text, sizeof text);
            /* What the machine relies on without looking. */
            if (in->opcode >= OPCODE_COUNT || in->unit >= UNIT_COUNT || in->type >= TYPE_COUNT) abort();
            if (in->source_count > INSTRUCTION_SOURCES || in->destination_count > INSTRUCTION_DESTINATIONS) abort();
            if (in->opcode == OPCODE_BRA && in->target >= kernel->count) abort();
            if (in->reconvergence != INSTRUCTION_NONE && in->reconvergence >= kernel->count) abort();
            if (in->guard != INSTRUCTION_NONE && in->guard >= kernel->predicates) abort();
            for (uint32_t o = 0; o < INSTRUCTION_SOURCES + INSTRUCTION_DESTINATIONS; o++) {
                const operand *op =
                    o < INSTRUCTION_SOURCES ? &in->sources[o] : &in->destinations[o - INSTRUCTION_SOURCES];
                if (op->kind == OPERAND_REGISTER && (op->words == 0 || op->index + op->words > kernel->registers))
                    abort();
                if (op->kind == OPERAND_PREDICATE && op->index >= kernel->predicates) abort();
            }
        }
    }
    ptx_free(&module);
    return 0;
}
