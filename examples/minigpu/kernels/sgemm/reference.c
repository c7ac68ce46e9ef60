/* sgemm(f32 a[inner][rows], f32 b[inner][columns], f32 c[columns][rows], s32 rows, s32 columns, s32 inner, f32 alpha,
 * f32 beta) */
#include "reference.h"

const char *reference_sgemm(const reference_launch *launch) {
    const int32_t m = reference_i32(launch, 3), n = reference_i32(launch, 4), depth = reference_i32(launch, 5);
    const float alpha = reference_f32(launch, 6), beta = reference_f32(launch, 7);
    if (launch->argument_count != 8 || m < 1 || n < 1 || depth < 1 || depth % 8 != 0)
        return "sgemm takes f32 a, b, c, s32 rows, columns, inner (a multiple of 8), f32 alpha and beta";
    if (launch->block[0] != 16 || launch->block[1] != 8 || launch->block[2] != 1 || launch->grid[2] != 1 ||
        (uint64_t)launch->grid[0] * 128 != (uint64_t)m || (uint64_t)launch->grid[1] * 16 != (uint64_t)n)
        return "sgemm needs blocks of 16x8 threads that cover 128x16 elements each, and all of c";
    const uint64_t rows = (uint64_t)m, columns = (uint64_t)n, inner = (uint64_t)depth;
    const float *a = reference_f32s(launch, 0, rows * inner), *b = reference_f32s(launch, 1, columns * inner);
    float *c = reference_f32s(launch, 2, rows * columns);
    if (!a || !b || !c) return "sgemm needs a[inner][rows], b[inner][columns] and c[columns][rows]";
    for (uint64_t column = 0; column < columns; column++) {
        for (uint64_t row = 0; row < rows; row++) {
            float sum = 0.0f;
            for (uint64_t k = 0; k < inner; k++) sum = fmaf(a[k * rows + row], b[k * columns + column], sum);
            c[column * rows + row] = fmaf(c[column * rows + row], beta, sum * alpha);
        }
    }
    return NULL;
}
