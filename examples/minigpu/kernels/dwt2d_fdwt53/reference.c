/* dwt2d_fdwt53(s32 image[height][width], s32 bands[height][width], s32 width, s32 height): all rows, then all columns,
 * by lifting over the whole line. */
#include <stdlib.h>
#include "reference.h"

static int32_t dwt2d_shift(int32_t value, int bits) { /* rounds down, also below zero */
    return value >= 0 ? value >> bits : -(int32_t)((-(int64_t)value + (1 << bits) - 1) >> bits);
}

/* Transforms `count` numbers, `step` apart, in place: averages at even places, differences at odd ones. */
static void dwt2d_lift(int32_t *line, size_t count, size_t step) {
    for (size_t i = 1; i < count; i += 2) {
        int32_t after = line[(i + 1 < count ? i + 1 : i - 1) * step];
        line[i * step] = reference_subtract(line[i * step], dwt2d_shift(reference_add(line[(i - 1) * step], after), 1));
    }
    for (size_t i = 0; i < count; i += 2) {
        int32_t before = line[(i > 0 ? i - 1 : 1) * step];
        int32_t both = reference_add(before, line[(i + 1) * step]);
        line[i * step] = reference_add(line[i * step], dwt2d_shift(reference_add(both, 2), 2));
    }
}

const char *reference_dwt2d_fdwt53(const reference_launch *launch) {
    const int32_t columns = reference_i32(launch, 2), rows = reference_i32(launch, 3);
    if (launch->argument_count != 4 || columns < 32 || rows < 32 || columns % 32 != 0 || rows % 32 != 0)
        return "dwt2d_fdwt53 takes s32 image, s32 bands, s32 width and height, both multiples of 32";
    if (launch->block[0] != 32 || launch->block[1] < 1 || launch->block[2] != 1 || launch->grid[2] != 1 ||
        launch->grid[0] != (uint32_t)columns / 32 || launch->grid[1] != (uint32_t)rows / 32)
        return "dwt2d_fdwt53 needs a block 32 threads wide for every 32x32 pixels";
    const size_t width = (size_t)columns, height = (size_t)rows;
    const int32_t *image = reference_i32s(launch, 0, (uint64_t)width * height);
    int32_t *bands = reference_i32s(launch, 1, (uint64_t)width * height);
    if (!image || !bands) return "dwt2d_fdwt53 needs two buffers of width*height s32";
    int32_t *work = (int32_t *)malloc(width * height * sizeof *work);
    if (!work) return "out of memory";
    memcpy(work, image, width * height * sizeof *work);
    for (size_t y = 0; y < height; y++) dwt2d_lift(work + y * width, width, 1);
    for (size_t x = 0; x < width; x++) dwt2d_lift(work + x, height, width);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            bands[((y & 1) * (height / 2) + y / 2) * width + (x & 1) * (width / 2) + x / 2] = work[y * width + x];
    free(work);
    return NULL;
}
