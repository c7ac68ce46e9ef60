/* dwt2d_copy(s32 red[pixels], s32 green[pixels], s32 blue[pixels], u32 source[(3*pixels+3)/4], s32 pixels); the bytes
 * of a word are in little-endian order, as the GPU's are. */
#include "reference.h"

static int32_t dwt2d_byte(const uint32_t *words, uint64_t index) {
    uint32_t word;
    memcpy(&word, words + index / 4, sizeof word);
    return (int32_t)((word >> (8 * (index % 4))) & 255u) - 128;
}

const char *reference_dwt2d_copy(const reference_launch *launch) {
    const int32_t pixels = reference_i32(launch, 4);
    const uint64_t count = pixels > 0 ? (uint64_t)pixels : 0;
    int32_t *red = reference_i32s(launch, 0, count), *green = reference_i32s(launch, 1, count),
            *blue = reference_i32s(launch, 2, count);
    const uint32_t *source = reference_u32s(launch, 3, (3 * count + 3) / 4);
    if (launch->argument_count != 5 || !red || !green || !blue || !source)
        return "dwt2d_copy takes s32 red, green and blue[pixels], u32 source of three bytes per pixel, and s32 pixels";
    if (launch->block[0] != 256 || reference_block_threads(launch) != 256)
        return "dwt2d_copy needs blocks of 256 threads";
    for (uint64_t pixel = 0; pixel < count && pixel < (uint64_t)launch->grid[0] * 256; pixel++) {
        red[pixel] = dwt2d_byte(source, 3 * pixel);
        green[pixel] = dwt2d_byte(source, 3 * pixel + 1);
        blue[pixel] = dwt2d_byte(source, 3 * pixel + 2);
    }
    return NULL;
}
