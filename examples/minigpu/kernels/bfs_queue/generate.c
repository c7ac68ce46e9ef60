/* Inputs of bfs_queue: the level of a random graph's search that finds the most new nodes (that of bfs_1), as a queue
 * in the order in which the search comes by. The scalars `count` and `level` stay as the launch file has them, as
 * constants of the generated graph: a frontier that is longer than `count` is cut off, a shorter one is filled with
 * node 0, whose neighbours have all been seen. */
#include "../bfs_1/graph.h"
#include "reference.h"

const char *generate_bfs_queue(const reference_launch *launch, uint64_t seed) {
    const uint32_t count = reference_u32(launch, 1);
    const uint64_t nodes_count = reference_count(launch, 6, 4), edge_count = reference_count(launch, 5, 4);
    int32_t *frontier = reference_i32s(launch, 0, count), *next_count = reference_i32s(launch, 3, 1);
    int32_t *nodes = reference_i32s(launch, 4, 2 * nodes_count), *edges = reference_i32s(launch, 5, edge_count);
    int32_t *cost = reference_i32s(launch, 6, nodes_count);
    if (!frontier || !next_count || !nodes || !edges || !cost || edge_count > INT32_MAX || nodes_count > INT32_MAX)
        return "bfs_queue takes s32 frontier[count], s32 count, s32 next, s32 next_count[1], s32 nodes[n][2], s32 "
               "edges, "
               "s32 cost[n], s32 level";
    bfs_graph graph;
    const char *error = bfs_graph_build(&graph, (uint32_t)nodes_count, (uint32_t)edge_count, seed);
    if (error) return error;
    memcpy(nodes, graph.nodes, 2 * (size_t)nodes_count * sizeof *nodes);
    memcpy(edges, graph.edges, (size_t)edge_count * sizeof *edges);
    uint32_t found = 0;
    for (uint32_t node = 0; node < nodes_count; node++) {
        const int seen = graph.level[node] >= 0 && graph.level[node] <= graph.frontier;
        if (graph.level[node] == graph.frontier && found < count) frontier[found++] = (int32_t)node;
        cost[node] = seen ? graph.level[node] : -1;
    }
    while (found < count) frontier[found++] = 0;
    *next_count = 0;
    bfs_graph_free(&graph);
    return NULL;
}
