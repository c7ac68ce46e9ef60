/* pathfinder(s32 steps, s32 wall[rows][columns], s32 source[columns], s32 result[columns], s32 columns, s32 first_row):
 * the rows one after the other over the whole width; how the kernel cuts them into blocks makes no difference. */
#include <stdlib.h>
#include "reference.h"

static int32_t pathfinder_smaller(int32_t a, int32_t b) { return a < b ? a : b; }

const char *reference_pathfinder(const reference_launch *launch) {
    int32_t steps = reference_i32(launch, 0), columns = reference_i32(launch, 4), first = reference_i32(launch, 5);
    uint64_t width = (uint64_t)(uint32_t)columns;
    if (launch->argument_count != 6 || steps < 1 || columns < 1 || first < 0)
        return "pathfinder takes s32 steps, s32 buffers wall, source and result, s32 columns and s32 first row";
    if (launch->block[0] > 256 || (int64_t)launch->block[0] <= 2 * (int64_t)steps)
        return "pathfinder needs a block of more than 2*steps and at most 256 threads";
    const int32_t *wall = reference_i32s(launch, 1, width * ((uint64_t)(uint32_t)first + (uint64_t)(uint32_t)steps));
    const int32_t *source = reference_i32s(launch, 2, width);
    int32_t *result = reference_i32s(launch, 3, width);
    if (!wall || !source || !result)
        return "pathfinder needs wall[first+steps][columns], source[columns], result[columns]";
    uint64_t covered = (uint64_t)launch->grid[0] * (launch->block[0] - 2 * (uint32_t)steps);
    if (covered > width) covered = width;

    int32_t *above = (int32_t *)malloc(width * 4), *here = (int32_t *)malloc(width * 4);
    if (!above || !here) {
        free(above);
        free(here);
        return "out of memory";
    }
    memcpy(above, source, width * 4);
    for (int32_t step = 0; step < steps; step++) {
        const int32_t *row = wall + ((uint64_t)(uint32_t)first + (uint64_t)(uint32_t)step) * width;
        for (uint64_t x = 0; x < width; x++) {
            int32_t best = above[x];
            if (x > 0) best = pathfinder_smaller(best, above[x - 1]);
            if (x + 1 < width) best = pathfinder_smaller(best, above[x + 1]);
            here[x] = reference_add(best, row[x]);
        }
        int32_t *swap = above;
        above = here;
        here = swap;
    }
    memcpy(result, above, covered * 4);
    free(above);
    free(here);
    return NULL;
}
