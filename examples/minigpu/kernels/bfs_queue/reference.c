/* bfs_queue(s32 frontier[count], s32 count, s32 next[], s32 next_count[1], s32 nodes[n][2], s32 edges[], s32 cost[n],
 * s32 level): the next frontier in the order of the nodes that find it. */
#include "reference.h"

const char *reference_bfs_queue(const reference_launch *launch) {
    const int32_t count = reference_i32(launch, 1), level = reference_i32(launch, 7);
    const uint64_t room = reference_count(launch, 2, 4), nodes_count = reference_count(launch, 6, 4);
    const uint64_t edge_count = reference_count(launch, 5, 4), threads = reference_threads(launch);
    const int32_t *frontier = count < 0 ? NULL : reference_i32s(launch, 0, (uint64_t)count);
    int32_t *next = reference_i32s(launch, 2, 0), *next_count = reference_i32s(launch, 3, 1);
    const int32_t *nodes = reference_i32s(launch, 4, 2 * nodes_count), *edges = reference_i32s(launch, 5, 0);
    int32_t *cost = reference_i32s(launch, 6, 0);
    if (launch->argument_count != 8 || !frontier || !next || !next_count || !nodes || !edges || !cost)
        return "bfs_queue takes s32 frontier[count], s32 count, s32 next, s32 next_count[1], s32 nodes[n][2], s32 "
               "edges, "
               "s32 cost[n], s32 level";
    for (uint64_t i = 0; i < (uint64_t)count && i < threads; i++) {
        if (frontier[i] < 0 || (uint64_t)frontier[i] >= nodes_count) return "bfs_queue: no such node in the frontier";
        const int32_t *node = nodes + 2 * frontier[i];
        for (int64_t edge = node[0]; edge < (int64_t)node[0] + node[1]; edge++) {
            if (edge < 0 || (uint64_t)edge >= edge_count || edges[edge] < 0 || (uint64_t)edges[edge] >= nodes_count)
                return "bfs_queue: an edge lies outside the graph";
            if (cost[edges[edge]] != -1) continue;
            if (*next_count < 0 || (uint64_t)*next_count >= room) return "bfs_queue: no room in the next frontier";
            cost[edges[edge]] = level;
            next[(*next_count)++] = edges[edge];
        }
    }
    return NULL;
}
