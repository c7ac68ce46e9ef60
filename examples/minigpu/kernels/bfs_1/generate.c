/* Inputs of bfs_1: the level of a random graph's search that finds the most new nodes, or the level that the launch
 * file fills cost with (-1: level 0, which 0 cannot say). */
#include <stdlib.h>
#include "graph.h"
#include "reference.h"

void bfs_graph_free(bfs_graph *graph) {
    free(graph->nodes);
    free(graph->edges);
    free(graph->level);
    graph->nodes = graph->edges = graph->level = NULL;
}

static void bfs_link(bfs_graph *graph, uint32_t *ends, const uint32_t *draws, uint64_t seed) {
    /* The same draws twice: first to count the edges of every node, then to put them in place. */
    for (int pass = 0; pass < 2; pass++) {
        uint64_t state = seed;
        for (uint32_t node = 0; node < graph->count; node++) {
            for (uint32_t draw = 0; draw < draws[node]; draw++) {
                uint32_t other = reference_random_below(&state, graph->count);
                if (pass == 0) {
                    graph->nodes[2 * node + 1]++;
                    graph->nodes[2 * other + 1]++;
                } else {
                    graph->edges[ends[node]++] = (int32_t)other;
                    graph->edges[ends[other]++] = (int32_t)node;
                }
            }
        }
        uint32_t first = 0;
        for (uint32_t node = 0; node < graph->count && pass == 0; node++) {
            graph->nodes[2 * node] = (int32_t)first;
            ends[node] = first;
            first += (uint32_t)graph->nodes[2 * node + 1];
        }
    }
}

static void bfs_levels(bfs_graph *graph, uint32_t *queue) {
    uint32_t head = 0, tail = 0, in_level = 0, most = 0;
    int32_t level = 0;
    for (uint32_t node = 0; node < graph->count; node++) graph->level[node] = -1;
    graph->level[0] = 0;
    graph->frontier = 0;
    queue[tail++] = 0;
    while (head < tail) {
        uint32_t node = queue[head++];
        if (graph->level[node] != level) {
            level = graph->level[node];
            in_level = 0;
        }
        if (++in_level > most) {
            most = in_level;
            graph->frontier = level > 0 ? level - 1 : 0;
        }
        for (int32_t edge = 0; edge < graph->nodes[2 * node + 1]; edge++) {
            uint32_t other = (uint32_t)graph->edges[graph->nodes[2 * node] + edge];
            if (graph->level[other] < 0) {
                graph->level[other] = level + 1;
                queue[tail++] = other;
            }
        }
    }
}

const char *bfs_graph_build(bfs_graph *graph, uint32_t count, uint32_t edge_count, uint64_t seed) {
    memset(graph, 0, sizeof *graph);
    if (count < 2 || edge_count % 2 != 0 || edge_count / 2 < (uint64_t)count * 2 ||
        edge_count / 2 > (uint64_t)count * 4)
        return "the graph needs at least 2 nodes and an even number of edges, 4 to 8 per node";
    graph->count = count;
    graph->edge_count = edge_count;
    graph->nodes = (int32_t *)calloc(count, 2 * sizeof(int32_t));
    graph->edges = (int32_t *)malloc(edge_count * sizeof(int32_t));
    graph->level = (int32_t *)malloc(count * sizeof(int32_t));
    uint32_t *draws = (uint32_t *)malloc(count * sizeof(uint32_t)),
             *scratch = (uint32_t *)malloc(count * sizeof(uint32_t));
    const char *error = NULL;
    if (!graph->nodes || !graph->edges || !graph->level || !draws || !scratch) {
        error = "out of memory";
    } else {
        uint64_t state = seed, sum = 0;
        for (uint32_t node = 0; node < count; node++) sum += draws[node] = 2 + reference_random_below(&state, 3);
        while (sum != edge_count / 2) {
            uint32_t node = reference_random_below(&state, count);
            if (sum < edge_count / 2 && draws[node] < 4) draws[node]++, sum++;
            if (sum > edge_count / 2 && draws[node] > 2) draws[node]--, sum--;
        }
        bfs_link(graph, scratch, draws, reference_random(&state));
        bfs_levels(graph, scratch);
    }
    free(draws);
    free(scratch);
    if (error) bfs_graph_free(graph);
    return error;
}

const char *generate_bfs_1(const reference_launch *launch, uint64_t seed) {
    const uint32_t count = reference_u32(launch, 6);
    const uint64_t edge_count = reference_count(launch, 1, 4);
    int32_t *nodes = reference_i32s(launch, 0, 2 * (uint64_t)count), *edges = reference_i32s(launch, 1, edge_count);
    uint8_t *frontier = reference_u8s(launch, 2, count), *marked = reference_u8s(launch, 3, count);
    uint8_t *visited = reference_u8s(launch, 4, count);
    int32_t *cost = reference_i32s(launch, 5, count);
    if (!nodes || !edges || !frontier || !marked || !visited || !cost || edge_count > INT32_MAX)
        return "bfs_1 takes s32 nodes[n][2], s32 edges, u8 frontier, marked and visited[n], s32 cost[n], s32 n";
    bfs_graph graph;
    const int32_t wanted = count > 0 ? cost[0] : 0;
    const char *error = bfs_graph_build(&graph, count, (uint32_t)edge_count, seed);
    if (error) return error;
    if (wanted) graph.frontier = wanted > 0 ? wanted : 0;
    memcpy(nodes, graph.nodes, 2 * (size_t)count * sizeof *nodes);
    memcpy(edges, graph.edges, (size_t)edge_count * sizeof *edges);
    for (uint32_t node = 0; node < count; node++) {
        int seen = graph.level[node] >= 0 && graph.level[node] <= graph.frontier;
        frontier[node] = graph.level[node] == graph.frontier;
        visited[node] = (uint8_t)seen;
        marked[node] = 0;
        cost[node] = seen ? graph.level[node] : -1;
    }
    bfs_graph_free(&graph);
    return NULL;
}
