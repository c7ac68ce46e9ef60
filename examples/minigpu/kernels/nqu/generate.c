/* Boards of nqu: all legal ways to fill the first n - rows rows, in order, from a random one on, and from the start
 * again at the end; bits as after these rows. */
#include "reference.h"

const char *generate_nqu(const reference_launch *launch, uint64_t seed) {
    const uint64_t boards = 96 * (uint64_t)launch->grid[0];
    const uint32_t n = reference_u32(launch, 4), first = n - reference_u32(launch, 5);
    uint32_t *columns = reference_u32s(launch, 0, boards), *lefts = reference_u32s(launch, 1, boards);
    uint32_t *rights = reference_u32s(launch, 2, boards);
    uint32_t c[32] = {0}, l[32] = {0}, r[32] = {0}, tried[32] = {0}, row = 0;
    uint64_t board = 0, state = seed;
    uint32_t skipped = reference_random_below(&state, 1000);
    if (!columns || !lefts || !rights || n < 4 || n > 16 || first < 1 || first >= n)
        return "nqu needs columns, lefts and rights[96 gx], and 1 to n-1 first rows of 4 to 16";
    while (board < boards) {
        const uint32_t open = ~tried[row] & ((1u << n) - 1), queen = open & (0u - open);
        if (!open) {
            if (row)
                row--;
            else
                tried[0] = 0;
            continue;
        }
        tried[row] |= queen;
        c[row + 1] = c[row] | queen;
        l[row + 1] = (l[row] | queen) << 1;
        r[row + 1] = (r[row] | queen) >> 1;
        tried[row + 1] = c[row + 1] | l[row + 1] | r[row + 1];
        if (++row < first) continue;
        if (skipped) {
            skipped--;
            row--;
            continue;
        }
        columns[board] = c[row];
        lefts[board] = l[row];
        rights[board++] = r[row];
        row--;
    }
    return NULL;
}
