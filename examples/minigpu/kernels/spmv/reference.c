/* spmv(f32 y[rows], f32 values[], s32 columns[], s32 start[], s32 length[rows], s32 row_of[rows], f32 x[], s32 rows) */
#include "reference.h"

const char *reference_spmv(const reference_launch *launch) {
    const int32_t n = reference_i32(launch, 7);
    const uint64_t rows = n > 0 ? (uint64_t)n : 0;
    float *y = reference_f32s(launch, 0, rows);
    const float *values = reference_f32s(launch, 1, 0), *x = reference_f32s(launch, 6, 0);
    const int32_t *columns = reference_i32s(launch, 2, 0), *start = reference_i32s(launch, 3, 0);
    const int32_t *length = reference_i32s(launch, 4, rows), *row_of = reference_i32s(launch, 5, rows);
    if (launch->argument_count != 8 || !y || !values || !columns || !start || !length || !row_of || !x)
        return "spmv takes f32 y[rows], f32 values, s32 columns, s32 start, s32 length[rows], s32 row_of[rows], f32 x, "
               "s32 rows";
    for (uint64_t row = 0; row < rows && row < reference_threads(launch); row++) {
        float sum = 0.0f;
        for (int32_t j = 0; j < length[row]; j++) {
            if ((uint64_t)j >= reference_count(launch, 3, 4)) return "spmv: a row is longer than there are diagonals";
            uint64_t element = (uint64_t)((int64_t)start[j] + (int64_t)row);
            if (element >= reference_count(launch, 1, 4) || element >= reference_count(launch, 2, 4) ||
                (uint64_t)columns[element] >= reference_count(launch, 6, 4))
                return "spmv: an element lies outside the matrix";
            sum = fmaf(values[element], x[columns[element]], sum);
        }
        if ((uint64_t)row_of[row] >= rows) return "spmv: a row goes outside the result";
        y[row_of[row]] = sum;
    }
    return NULL;
}
