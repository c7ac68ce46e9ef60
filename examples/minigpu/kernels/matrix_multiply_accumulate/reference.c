/* matrix_multiply_accumulate(f32 a[][a_width], s32 a_width, f32 b[a_width][b_width], s32 b_width, f32 c[][c_width], s32
 * c_width) */
#include "reference.h"

const char *reference_matrix_multiply_accumulate(const reference_launch *launch) {
    const int32_t a_columns = reference_i32(launch, 1), b_columns = reference_i32(launch, 3),
                  c_columns = reference_i32(launch, 5);
    const uint64_t rows = (uint64_t)launch->grid[1] * launch->block[1],
                   columns = (uint64_t)launch->grid[0] * launch->block[0];
    if (launch->argument_count != 6 || a_columns < 0 || b_columns < 0 || c_columns < 0 ||
        (uint64_t)b_columns < columns || (uint64_t)c_columns < columns || rows > INT32_MAX)
        return "matrix_multiply_accumulate takes f32 a, s32 a_width, f32 b, s32 b_width, f32 c, s32 c_width, both at "
               "least the grid's";
    const uint64_t inner = (uint64_t)a_columns, b_width = (uint64_t)b_columns, c_width = (uint64_t)c_columns;
    const float *a = reference_f32s(launch, 0, rows * inner), *b = reference_f32s(launch, 2, inner * b_width);
    float *c = reference_f32s(launch, 4, rows * c_width);
    if (!a || !b || !c)
        return "matrix_multiply_accumulate needs a[rows][a_width], b[a_width][b_width] and c[rows][c_width]";
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t column = 0; column < columns; column++) {
            float sum = c[row * c_width + column];
            for (uint64_t i = 0; i < inner; i++) sum = fmaf(a[row * inner + i], b[i * b_width + column], sum);
            c[row * c_width + column] = sum;
        }
    return NULL;
}
