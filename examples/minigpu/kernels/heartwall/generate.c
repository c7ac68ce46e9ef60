/* Inputs of heartwall: points on an ellipse in a frame of random pixels; each template is what surrounds the place its
 * point has moved to, up to a third of the reach away, with a little noise. */
#include "reference.h"

const char *generate_heartwall(const reference_launch *launch, uint64_t seed) {
    const uint64_t width = reference_u32(launch, 5), points = launch->grid[0];
    const int32_t reach = reference_i32(launch, 6);
    const uint64_t height = width > 0 ? reference_count(launch, 0, 4) / width : 0;
    float *frame = reference_f32s(launch, 0, width * height), *templates = reference_f32s(launch, 1, points * 256);
    int32_t *row = reference_i32s(launch, 2, points), *column = reference_i32s(launch, 3, points);
    if (!frame || !templates || !row || !column || width < 96 || height < 96 || reach < 1 || reach > 32)
        return "heartwall needs a frame of at least 96x96, templates[points][256], row and column[points], reach 1 to "
               "32";
    uint64_t state = seed;
    for (uint64_t i = 0; i < width * height; i++) frame[i] = reference_random_unit(&state);
    for (uint64_t point = 0; point < points; point++) {
        const double angle = 6.283185307179586 * (double)point / (double)points;
        row[point] = (int32_t)((double)height * 0.5 + ((double)height * 0.5 - 48.0) * sin(angle));
        column[point] = (int32_t)((double)width * 0.5 + ((double)width * 0.5 - 48.0) * cos(angle));
        const uint32_t span = 2u * (uint32_t)(reach / 3) + 1u;
        const int64_t y = row[point] + (int64_t)reference_random_below(&state, span) - reach / 3 - 8;
        const int64_t x = column[point] + (int64_t)reference_random_below(&state, span) - reach / 3 - 8;
        for (int64_t i = 0; i < 256; i++)
            templates[point * 256 + (uint64_t)i] =
                frame[(y + i / 16) * (int64_t)width + x + i % 16] + 0.1f * reference_random_unit(&state) - 0.05f;
    }
    return NULL;
}
