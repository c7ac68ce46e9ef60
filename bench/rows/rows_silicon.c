/* Rows of measured devices that need no simulation: save areas, bounds, and fixed costs that other rows of the same
 * device have set. */
#include <math.h>
#include <string.h>
#include "gpump_once.h"
#include "reproduce.h"

/* Products whose save areas the driver's formula gives. arrays: shader arrays, which bound the waves before gfx10.1. */
static const struct {
    const char *name;
    uint32_t version, compute_units, arrays;
} products[] = {{"gfx906", 906, 60, 4},   {"gfx908", 908, 120, 8},  {"gfx942", 942, 38, 4},  {"gfx950", 950, 32, 4},
                {"gfx1030", 1030, 80, 0}, {"gfx1100", 1100, 96, 0}, {"gfx1201", 1201, 64, 0}};

static void save_areas(const reproduce_context *context, const char *id, reproduce_result *result) {
    (void)context;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const uint32_t cus = products[i].compute_units;
        gpump_gpu_cwsr area;
        char row[56];
        if (gpump_gpu_cwsr_area(products[i].version, cus, 1, products[i].arrays, 1, &area, NULL) != GPUMP_OK) {
            reproduce_note(result, "%s is refused", products[i].name);
            continue;
        }
        {
            const struct {
                const char *name;
                uint64_t value;
            } fields[] = {{"waves", area.debugger_bytes / 32}, {"percu", area.workgroup_bytes / cus},
                          {"wgdata", area.workgroup_bytes},    {"ctl", area.control_stack_bytes},
                          {"cwsr", area.save_area_bytes},      {"debug", area.debugger_bytes}};
            for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
                snprintf(row, sizeof row, "%s.%s.%s", id, products[i].name, fields[k].name);
                reproduce_point(result, row, (double)fields[k].value);
            }
        }
    }
}

/* All SMs save everything that they can hold, at their shares of the bandwidth. */
static void floors(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const presets[][2] = {{"p100", "p100"}, {"v100", "v100"}, {"a100", "a100_40"}, {"h100", "h100"}};
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        char row[56];
        double floor_us, ours_us;
        gpump_gpu gpu;
        uint64_t bytes;
        (void)gpump_preset(&gpump_gpu_component, &gpu, presets[i][0], NULL);
        bytes = 4 * (uint64_t)gpu.registers + gpu.shared_bytes[gpu.shared_option_count - 1];
        ours_us = 1e-6 * (double)gpump_gpu_save_ps(&gpu, bytes);
        snprintf(row, sizeof row, "%s.%s", id, presets[i][1]);
        floor_us = reproduce_fitted(context, row);
        reproduce_point(result, row, ours_us);
        reproduce_holds(result, ours_us >= floor_us * 0.999, "%s %.1f us, bound %.1f", presets[i][0], ours_us,
                        floor_us);
    }
}

static void launches(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const ways[] = {"a100_80_stream", "a100_80_graph", "h200_stream", "h200_graph",
                                       "l40_stream",     "l40_graph",     "a40_stream",  "a40_graph"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char row[56];
        snprintf(row, sizeof row, "%s.%s", id, ways[i]);
        reproduce_holds(result, 1, "%s %.1f", ways[i], reproduce_fitted(context, row));
    }
    reproduce_note(result, "an input; tbsim's dispatch_us is 1 us (assumed)");
}

/* A context switch costs what it cost with the other kernels on the same device. context_us.BOARD of --set: more for
 * the kernels of tasks 2 and 6, which are one kernel, on two sizes of matrices. */
static void switches(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const boards[] = {"xavier", "orin"};
    for (int i = 0; i < 2; i++)
        for (int task = 2; task <= 6; task += 4) {
            char row[56];
            double sum = 0, more;
            snprintf(row, sizeof row, "context_us.%s", boards[i]);
            more = reproduce_condition(context, result, row, 0);
            for (int other = 1; other <= 5; other += 4) {
                snprintf(row, sizeof row, "%s.%s.%d", id, boards[i], other);
                sum += reproduce_fitted(context, row);
            }
            snprintf(row, sizeof row, "%s.%s.%d", id, boards[i], task);
            reproduce_point(result, row, sum / 2 + more);
        }
    reproduce_note(result, "the mean of the rows of the same device that may set parameters: a fixed command cost");
}

/* A hint pays the fixed command cost before the request comes. What is left of the cost is added to the request, and at
 * least what a request costs whose hint came long before. A microsecond of lead pays the share that lies on the line
 * through the two rows that may set parameters. hint_paid of --set: another share. */
static double with_hint(const reproduce_context *context, double lead_us, reproduce_result *result) {
    const double all = reproduce_fitted(context, "M.gp.hint.0"), least = reproduce_fitted(context, "M.gp.hint.150");
    const double paid = lead_us * reproduce_condition(context, result, "hint_paid", (all - least) / 150);
    return all - paid > least ? all - paid : least;
}
static void hints(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const uint32_t leads[] = {50, 100, 200};
    for (size_t i = 0; i < 3; i++) {
        char row[56];
        snprintf(row, sizeof row, "%s.%u", id, leads[i]);
        reproduce_point(result, row, with_hint(context, leads[i], result));
    }
    reproduce_revised(result); /* it was a microsecond per microsecond, and the row at 50 us was known */
}
static void hint_bound(const reproduce_context *context, const char *id, reproduce_result *result) {
    reproduce_point(result, id, with_hint(context, 1000, result));
}

/* Two kernels of one block of 1024 threads on each SM: together they take the time of one if both blocks fit. */
static void sleepers(const reproduce_context *context, const char *id, reproduce_result *result) {
    const gpump_footprint need = {1024, 1024 * 16, 0};
    gpump_gpu gpu;
    gpump_occupancy fits;
    char row[56];
    (void)context;
    (void)gpump_preset(&gpump_gpu_component, &gpu, "h100", NULL);
    if (gpump_gpu_occupancy(&gpu, &need, &fits, NULL) != GPUMP_OK) return;
    snprintf(row, sizeof row, "%s.tb.1", id);
    reproduce_point(result, row, fits.blocks >= 2 ? 0.5 : 1);
}

const reproduce_row rows_silicon[] = {
    {"M.cwsr", save_areas},     {"M.floor", floors},         {"M.launch", launches}, {"M.gp.hint", hints},
    {"M.gp.bound", hint_bound}, {"M.gcaps.theta", switches}, {"M.intf", sleepers},   {NULL, NULL}};
