/* link: minigpu_core */
/* A libFuzzer target for the analyses: every kernel that is read is analysed and lowered, in a way that the input's
 * hash chooses. tests/fuzz/fuzz.sh runs it; tests/fuzz/replay_analysis.c replays its corpus. */
#include <string.h>
#include "analysis/analysis.h"
#include "gpump.h"
#include "ptx/ptx_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_INSTRUCTIONS_MAX 3000u

static void fuzz_kernel(const kernel_program *kernel, uint64_t choice) {
    static const uint32_t registers[] = {2, 8, 24, 63, 255, 1024}, regions[] = {REGIONS_NONE, REGIONS_SPARSE, 2, 17};
    static const uint32_t block[3] = {32, 4, 2};
    static uint8_t clobbers[FUZZ_INSTRUCTIONS_MAX];
    analysis_lowering how;
    analysis_lowered report;
    analysis known;
    kernel_program lowered;
    gpump_diag diag;
    memset(&how, 0, sizeof how);
    how.registers = registers[choice % 6];
    how.regions = regions[(choice >> 8) % 4];
    how.spilling = how.regions ? (uint32_t)(choice >> 16) % 3 : SPILLING_NONE;
    how.page_checks = (uint32_t)(choice >> 24) % PAGE_CHECK_FORMS;
    how.page_bytes = 4096;
    how.point_interval = (uint32_t)(choice >> 32) % 3 * 50;
    how.block = (choice >> 40) & 1 ? block : NULL;
    if (analysis_create_for(kernel, how.block, &known, &diag) == GPUMP_OK) analysis_destroy(&known);
    if (analysis_clobbers(kernel, how.block, NULL, clobbers, &diag) == GPUMP_OK) how.clobbers = clobbers;
    if (analysis_lower(kernel, &how, &lowered, &report, &diag) == GPUMP_OK) analysis_free_kernel(&lowered);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint64_t choice = gpump_hash_bytes(GPUMP_HASH_SEED, data, size);
    ptx_module module;
    ptx_error error;
    if (ptx_read((const char *)data, size, "fuzz.ptx", &module, &error)) return 0;
    ptx_link(&module, 0x100000, 0x200000);
    for (uint32_t k = 0; k < module.kernel_count; k++)
        if (module.kernels[k].count && module.kernels[k].count <= FUZZ_INSTRUCTIONS_MAX)
            fuzz_kernel(&module.kernels[k], choice + k);
    ptx_free(&module);
    return 0;
}
