/* sad_1(u16 sums[macroblocks][16][stride], u8 frame[height][width], u8 earlier[height][width], s32 width, s32 height,
 * s32 reach, s32 stride) */
#include "reference.h"

static int64_t sad_1_clamp(int64_t x, int64_t limit) { return x < 0 ? 0 : x < limit ? x : limit - 1; }

const char *reference_sad_1(const reference_launch *launch) {
    const int32_t width = reference_i32(launch, 3), height = reference_i32(launch, 4);
    const int32_t reach = reference_i32(launch, 5), stride = reference_i32(launch, 6);
    if (launch->argument_count != 7 || width < 1 || height < 1 || reach < 0 || reach > 64 || stride < 1)
        return "sad_1 takes u16 sums, u8 frame, u8 earlier, s32 width, height, reach (up to 64) and stride";
    const int32_t side = 2 * reach + 1, places = side * side;
    const uint64_t blocks_x = launch->grid[0], blocks_y = launch->grid[1];
    if (!reference_fits(launch, 1u << 20) || launch->grid[2] != 1 || launch->block[1] != 1 || launch->block[2] != 1 ||
        blocks_x * 16 != (uint64_t)width || blocks_y * 16 != (uint64_t)height || places > stride)
        return "sad_1 needs a block of threads in a row for each 16x16 pixels, and a stride for all places";
    uint16_t *sums = (uint16_t *)reference_buffer(launch, 0, blocks_x * blocks_y * 16 * (uint64_t)stride, 2);
    const uint8_t *frame = reference_u8s(launch, 1, (uint64_t)width * (uint64_t)height);
    const uint8_t *earlier = reference_u8s(launch, 2, (uint64_t)width * (uint64_t)height);
    if (!sums || !frame || !earlier) return "sad_1 needs sums[macroblocks][16][stride] and two frames";
    for (uint64_t part = 0; part < blocks_x * blocks_y * 16; part++) {
        const uint64_t block = part / 16;
        const int64_t left = (int64_t)(block % blocks_x * 16 + part % 4 * 4);
        const int64_t top = (int64_t)(block / blocks_x * 16 + part / 4 % 4 * 4);
        for (int32_t place = 0; place < places; place++) {
            uint32_t sum = 0;
            for (int64_t i = 0; i < 16; i++) {
                const int64_t x = left + i % 4, y = top + i / 4;
                const int32_t own = frame[y * width + x];
                const int32_t other = earlier[sad_1_clamp(y + place / side - reach, height) * width +
                                              sad_1_clamp(x + place % side - reach, width)];
                sum += (uint32_t)(own > other ? own - other : other - own);
            }
            sums[part * (uint64_t)stride + (uint64_t)place] = (uint16_t)sum;
        }
    }
    return NULL;
}
