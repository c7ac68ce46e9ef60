/* Inputs of bfs_2: what bfs_1 leaves behind in a random graph with six edges per node, at the busiest level of the
 * search, or at the level before the one that the launch file fills more with. */
#include "../bfs_1/graph.h"
#include "reference.h"

const char *generate_bfs_2(const reference_launch *launch, uint64_t seed) {
    const uint32_t count = reference_u32(launch, 4);
    uint8_t *frontier = reference_u8s(launch, 0, count), *marked = reference_u8s(launch, 1, count);
    uint8_t *visited = reference_u8s(launch, 2, count), *more = reference_u8s(launch, 3, 1);
    if (!frontier || !marked || !visited || !more || count > UINT32_MAX / 6)
        return "bfs_2 takes u8 frontier[n], marked[n], visited[n], more[1], and s32 n";
    bfs_graph graph;
    const char *error = bfs_graph_build(&graph, count, count * 6, seed);
    if (error) return error;
    if (*more) graph.frontier = *more - 1;
    for (uint32_t node = 0; node < count; node++) {
        frontier[node] = 0;
        marked[node] = graph.level[node] == graph.frontier + 1;
        visited[node] = graph.level[node] >= 0 && graph.level[node] <= graph.frontier;
    }
    *more = 0;
    bfs_graph_free(&graph);
    return NULL;
}
