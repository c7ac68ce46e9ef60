/* The lists of a cell are the same when they have the same nodes: every node's successor is replaced by its cell, and
 * then all nodes are compared. */
#include "reference.h"

/* Returns NULL, or what is wrong with the lists. */
static const char *name_cells(const reference_launch *launch) {
    const uint64_t cells = reference_count(launch, 1, 4), nodes = reference_count(launch, 2, 16);
    int32_t *heads = reference_i32s(launch, 1, 0), *heap = reference_i32s(launch, 2, 0);
    uint64_t cell, walked = 0;
    for (cell = 0; cell < cells; cell++) {
        int32_t node = heads[cell], next;
        for (; node != -1; node = next, walked++) {
            if (node < 0 || (uint64_t)node >= nodes) return "a list leads outside the heap";
            if (walked == nodes) return "a list does not end, or two lists share a node";
            next = heap[4 * node + 3];
            heap[4 * node + 3] = (int32_t)cell;
        }
        heads[cell] = -1;
    }
    return NULL;
}

const char *check_grid_points(const reference_launch *is, const reference_launch *expected) {
    const char *why = name_cells(is);
    if (!why) why = name_cells(expected);
    if (!why && !reference_same(is, expected, 0)) why = "the points differ";
    if (!why && !reference_same(is, expected, 2)) why = "the nodes of a list differ";
    return why;
}
