/* Shieh: storage and candidate sets, as calculations. */
#include <string.h>
#include "gpump.h"
#include "reproduce.h"

static void storage(const reproduce_context *context, const char *id, reproduce_result *result) {
    gpump_victim_config config;
    uint64_t sm_bits, gpu_bits;
    (void)context;
    if (gpump_victim_config_preset(&config, "gtx480_shieh") != GPUMP_OK || gpump_victim_bits(&config, &sm_bits, &gpu_bits, NULL) != GPUMP_OK) {
        reproduce_failed(result, "no such preset");
        return;
    }
    reproduce_number(result, (double)(strcmp(id, "S.storage.sm") ? gpu_bits : sm_bits) / 8, 0);
}

/* Fig 3.8 and 3.9: eight blocks of 4 units on positions of 9; candidate 1 is preempted. */
static void candidates(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const uint64_t derived[4] = {0x07, 0x1c, 0x70, 0xc0}, updated[4] = {0x03, 0x00, 0x60, 0xc0};
    gpump_gpu gpu;
    gpump_footprint need = {32, 9, 0};
    gpump_victim_geometry geometry;
    gpump_block_view blocks[8];
    uint64_t sets[GPUMP_VICTIM_POSITIONS], taken;
    (void)context;
    (void)id;
    if (gpump_gpu_config_preset(&gpu, "gtx480_shieh") != GPUMP_OK) return;
    gpu.registers = 36;
    if (gpump_victim_geometry_init(&geometry, &gpu, &need, 49152, NULL) != GPUMP_OK) return;
    memset(blocks, 0, sizeof blocks);
    for (uint32_t i = 0; i < 8; i++) {
        blocks[i].kernel = 1;
        blocks[i].register_base = 4 * i;
        blocks[i].registers = 4;
    }
    gpump_victim_candidates(&geometry, blocks, 8, 2, sets, &taken);
    reproduce_holds(result, geometry.positions == 4 && !memcmp(sets, derived, sizeof derived), "sets of Fig 3.8");
    gpump_victim_candidates_update(sets, geometry.positions, sets[1]);
    reproduce_holds(result, !memcmp(sets, updated, sizeof updated), "update of Fig 3.9");
}

const reproduce_row rows_victim[] = {{"S.storage.sm", storage}, {"S.storage.gpu", storage}, {"S.candidates", candidates}, {NULL, NULL}};
