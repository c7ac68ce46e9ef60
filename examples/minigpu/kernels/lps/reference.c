/* lps(f32 from[layers][height][width], f32 to[layers][height][width], s32 width, s32 height, s32 layers) */
#include "reference.h"

const char *reference_lps(const reference_launch *launch) {
    const int32_t columns = reference_i32(launch, 2), rows = reference_i32(launch, 3), deep = reference_i32(launch, 4);
    if (launch->argument_count != 5 || columns < 1 || rows < 1 || deep < 1 || columns > 65536 || rows > 65536 ||
        !reference_fits(launch, 1u << 20) || launch->block[0] != 32 || launch->block[1] != 4 || launch->block[2] != 1 ||
        launch->grid[2] != 1 || launch->grid[0] != ((uint32_t)columns + 31) / 32 ||
        launch->grid[1] != ((uint32_t)rows + 3) / 4)
        return "lps takes f32 from, f32 to, s32 width, height and layers, and blocks of 32x4 threads that cover a "
               "layer";
    const uint64_t width = (uint64_t)columns, height = (uint64_t)rows, layer = width * height, layers = (uint64_t)deep;
    const float *from = reference_f32s(launch, 0, layer * layers);
    float *to = reference_f32s(launch, 1, layer * layers);
    if (!from || !to) return "lps needs from and to[layers][height][width]";
    for (uint64_t i = 0; i < layer * layers; i++) {
        const uint64_t x = i % width, y = i / width % height, z = i / layer;
        to[i] =
            x == 0 || y == 0 || z == 0 || x + 1 == width || y + 1 == height || z + 1 == layers
                ? from[i]
                : (from[i - 1] + from[i + 1] + from[i - width] + from[i + width] + from[i - layer] + from[i + layer]) *
                      0.16666667f;
    }
    return NULL;
}
