/* nqu(u32 columns[96 gx], u32 lefts[96 gx], u32 rights[96 gx], u32 found[gx], s32 n, s32 rows) */
#include "reference.h"

/* Returns the ways to place queens in `rows` further rows. */
static uint32_t nqu_count(uint32_t columns, uint32_t left, uint32_t right, uint32_t all, uint32_t rows) {
    uint32_t open = ~(columns | left | right) & all, count = 0;
    while (open) {
        const uint32_t queen = open & (0u - open);
        open ^= queen;
        count += rows == 1 ? 1 : nqu_count(columns | queen, (left | queen) << 1, (right | queen) >> 1, all, rows - 1);
    }
    return count;
}

const char *reference_nqu(const reference_launch *launch) {
    const uint32_t n = reference_u32(launch, 4), rows = reference_u32(launch, 5);
    if (launch->argument_count != 6 || n < 1 || n > 16 || rows < 1 || rows > 10 || !reference_fits(launch, 1u << 20) ||
        launch->block[0] != 96 || launch->block[1] != 1 || launch->block[2] != 1 || launch->grid[1] != 1 ||
        launch->grid[2] != 1)
        return "nqu takes u32 columns, lefts, rights and found, s32 n up to 16 and rows up to 10, and a row of blocks "
               "of 96 threads";
    const uint64_t boards = 96 * (uint64_t)launch->grid[0];
    const uint32_t *columns = reference_u32s(launch, 0, boards), *lefts = reference_u32s(launch, 1, boards);
    const uint32_t *rights = reference_u32s(launch, 2, boards);
    uint32_t *found = reference_u32s(launch, 3, launch->grid[0]);
    if (!columns || !lefts || !rights || !found) return "nqu needs columns, lefts and rights[96 gx], and found[gx]";
    memset(found, 0, 4 * (size_t)launch->grid[0]);
    for (uint64_t i = 0; i < boards; i++)
        found[i / 96] += nqu_count(columns[i], lefts[i], rights[i], (1u << n) - 1, rows);
    return NULL;
}
