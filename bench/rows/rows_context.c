/* Rows of in-place switching, and of the cost of the SM's tables (Lin 2.3.1, 2.4.2). */
#include <string.h>
#include "gpump_once.h"
#include "reproduce.h"

/* Lin Fig. 2.4: K1 has three blocks of 300 vector registers and 8 KB; K2 needs room for two of 200 and 10 KB. */
static void in_place_example(const reproduce_context *context, const char *id, reproduce_result *result) {
    gpump_block_view k1[3];
    gpump_in_place_need need;
    gpump_in_place_plan aligned, best;
    gpump_in_place_sm sm;
    gpump_gpu gpu;
    (void)context;
    (void)id;
    (void)gpump_preset(&gpump_gpu_component, &gpu, "gtx480_lin", NULL);
    memset(k1, 0, sizeof k1);
    for (uint32_t i = 0; i < 3; i++) {
        k1[i].register_base = i * 300 * gpu.lanes;
        k1[i].registers = 300 * gpu.lanes;
        k1[i].shared_base = i * 8192;
        k1[i].shared_bytes = 8192;
        k1[i].may = 1u << GPUMP_TECHNIQUE_SWITCH;
    }
    sm.blocks = k1;
    sm.count = 3;
    sm.registers = gpu.registers;
    sm.shared_bytes = gpu.shared_bytes[0];
    memset(&sm.placed, 0, sizeof sm.placed);
    need.blocks = 2;
    need.registers = 200 * gpu.lanes;
    need.shared_bytes = 10240;
    need.register_placement = GPUMP_IN_PLACE_FROM_ZERO;
    need.shared_placement = GPUMP_IN_PLACE_BEST;
    if (gpump_in_place_find(&sm, &need, &aligned, NULL) != GPUMP_OK) {
        reproduce_failed(result, "no plan");
        return;
    }
    need.register_placement = GPUMP_IN_PLACE_BEST;
    if (gpump_in_place_find(&sm, &need, &best, NULL) != GPUMP_OK) {
        reproduce_failed(result, "no plan");
        return;
    }
    reproduce_holds(result,
                    aligned.register_blocks == 2 && aligned.register_bases[0] == 0 &&
                        aligned.register_bases[1] == need.registers && best.register_blocks == 1 &&
                        aligned.shared_blocks == 0 && best.shared_blocks == 0,
                    "registers %u at positions %u and %u (minimum over placements: %u), shared memory %u",
                    aligned.register_blocks, aligned.register_bases[0] / gpu.lanes,
                    aligned.register_bases[1] / gpu.lanes, best.register_blocks, aligned.shared_blocks);
}

static void allocation_tables(const reproduce_context *context, const char *id, reproduce_result *result) {
    gpump_sm_config config;
    gpump_sm_storage storage;
    (void)context;
    (void)id;
    if (gpump_preset(&gpump_sm_component, &config, "gtx480_lin", NULL) ||
        gpump_table_bits(&gpump_sm_component, &config, &storage, NULL)) {
        reproduce_failed(result, "no storage");
        return;
    }
    reproduce_number(result, (double)storage.allocation_bits / 8, 0);
    reproduce_note(result, "%u entries in each of two tables; with states and block status the SM needs %u B",
                   config.entries, (unsigned)((storage.total_bits + 7) / 8));
}

static void pattern_vector(const reproduce_context *context, const char *id, reproduce_result *result) {
    (void)context;
    (void)id;
    reproduce_number(result, (double)gpumpi_compress_pattern_bits(64), 0);
}

const reproduce_row rows_context[] = {{"L.inplace.example", in_place_example},
                                      {"L.storage.alloc", allocation_tables},
                                      {"L.storage.pattern", pattern_vector},
                                      {NULL, NULL}};
