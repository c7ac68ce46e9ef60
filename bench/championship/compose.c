#include "compose.h"

#include <string.h>

#include "gpump_once.h"

/* Adds an observation to normal equations of `terms` unknowns. */
static void observe(double *sums, uint32_t terms, const double *x, double y) {
    for (uint32_t i = 0; i < terms; i++) {
        for (uint32_t j = 0; j < terms; j++) sums[i * (terms + 1) + j] += x[i] * x[j];
        sums[i * (terms + 1) + terms] += x[i] * y;
    }
}

/* Solves normal equations by elimination. A thousandth is added to each square, which draws terms with little data to
 * 0. */
static void solve(double *a, uint32_t terms, double *result) {
    const uint32_t width = terms + 1;
    for (uint32_t i = 0; i < terms; i++) a[i * width + i] = a[i * width + i] * 1.001 + 1e-9;
    for (uint32_t i = 0; i < terms; i++)
        for (uint32_t row = 0; row < terms; row++) {
            const double by = a[row * width + i] / a[i * width + i];
            for (uint32_t j = 0; row != i && j < width; j++) a[row * width + j] -= by * a[i * width + j];
        }
    for (uint32_t i = 0; i < terms; i++) result[i] = a[i * width + terms] / a[i * width + i];
}

static int leaves_at_once(const compose_block *b) {
    return b->technique == GPUMP_TECHNIQUE_SWITCH || b->technique == GPUMP_TECHNIQUE_FLUSH;
}

/* Adds the blocks of one SM. */
static void add_sm(compose_sums *sums, const compose_block *blocks, uint32_t count) {
    uint32_t others[COMPOSE_KERNELS] = {0}, leaving = 0;
    for (uint32_t i = 0; i < count; i++)
        if (leaves_at_once(&blocks[i]))
            leaving++;
        else
            others[blocks[i].kernel]++;
    for (uint32_t i = 0; i < count; i++) {
        const compose_block *b = &blocks[i];
        double x[COMPOSE_SAVE] = {0}, kb = 0;
        if (b->leave == UINT64_MAX) continue;
        if (b->technique == GPUMP_TECHNIQUE_SWITCH) {
            for (uint32_t j = 0; j < count; j++)
                if (blocks[j].technique == GPUMP_TECHNIQUE_SWITCH && blocks[j].leave != UINT64_MAX &&
                    blocks[j].order <= b->order)
                    kb += (double)blocks[j].bytes / 1024;
            x[0] = 1, x[1] = kb;
            for (uint32_t k = 0; k < COMPOSE_KERNELS; k++) x[2 + 2 * k] = others[k], x[3 + 2 * k] = kb * others[k];
            observe(sums->save[0], COMPOSE_SAVE, x, (double)b->leave);
        } else if (b->technique == GPUMP_TECHNIQUE_DRAIN && b->alone != UINT64_MAX) {
            x[b->kernel] = (double)b->alone;
            x[COMPOSE_KERNELS] = (double)b->alone * leaving / count;
            observe(sums->drain[0], COMPOSE_DRAIN, x, (double)b->leave - (double)b->alone);
        }
    }
}

void compose_add(compose_sums *sums, const compose_block *blocks, uint32_t count) {
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && blocks[end].sm == blocks[first].sm; end++) {}
        add_sm(sums, blocks + first, end - first);
    }
}

void compose_solve(compose_sums *sums, compose_model *model) {
    solve(sums->save[0], COMPOSE_SAVE, model->save);
    solve(sums->drain[0], COMPOSE_DRAIN, model->drain);
    for (uint32_t k = 0; k < COMPOSE_KERNELS; k++) model->drain[k] += 1; /* the fit is of the difference to 1 */
}
