/* bfs_1(s32 nodes[n][2], s32 edges[], u8 frontier[n], u8 marked[n], u8 visited[n], s32 cost[n], s32 n). Nodes that two
 * frontier nodes reach are written twice, with the same cost: the frontier is one level. */
#include "reference.h"

const char *reference_bfs_1(const reference_launch *launch) {
    const int32_t n = reference_i32(launch, 6);
    const uint64_t count = n > 0 ? (uint64_t)n : 0, edge_count = reference_count(launch, 1, 4);
    const int32_t *nodes = reference_i32s(launch, 0, 2 * count), *edges = reference_i32s(launch, 1, 0);
    uint8_t *frontier = reference_u8s(launch, 2, count), *marked = reference_u8s(launch, 3, count);
    const uint8_t *visited = reference_u8s(launch, 4, count);
    int32_t *cost = reference_i32s(launch, 5, count);
    if (launch->argument_count != 7 || !nodes || !edges || !frontier || !marked || !visited || !cost)
        return "bfs_1 takes s32 nodes[n][2], s32 edges, u8 frontier, marked and visited[n], s32 cost[n], s32 n";
    uint64_t threads = reference_threads(launch);
    for (uint64_t node = 0; node < count && node < threads; node++) {
        if (!frontier[node]) continue;
        frontier[node] = 0;
        for (int64_t edge = nodes[2 * node]; edge < (int64_t)nodes[2 * node] + nodes[2 * node + 1]; edge++) {
            if (edge < 0 || (uint64_t)edge >= edge_count || edges[edge] < 0 || (uint64_t)edges[edge] >= count)
                return "bfs_1: an edge lies outside the graph";
            if (visited[edges[edge]]) continue;
            cost[edges[edge]] = reference_add(cost[node], 1);
            marked[edges[edge]] = 1;
        }
    }
    return NULL;
}
