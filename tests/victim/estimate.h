/* The estimates for an SM of a GPU: its port is gpump_gpu_port. */
#ifndef TESTS_ESTIMATE_H
#define TESTS_ESTIMATE_H
#include "test.h"

static inline gpump_result estimate_blocks(const gpump_gpu *gpu, const gpump_cost_history *histories,
                                           uint32_t history_count, const gpump_block_view *blocks, uint32_t count,
                                           const gpump_cost_rewind *rewind, const gpump_cost_options *options,
                                           gpump_cost_estimate *estimates, gpump_diag *diag) {
    const gpump_port port = gpump_gpu_port(gpu);
    return gpump_cost_estimate_blocks(&port, histories, history_count, blocks, count, rewind, options, estimates, diag);
}

#endif
