/* The state of a breadth-first search in the middle of a random graph, for both halves of the level. */
#ifndef MINIGPU_BFS_GRAPH_H
#define MINIGPU_BFS_GRAPH_H
#include <stdint.h>

typedef struct bfs_graph {
    uint32_t count;      /* nodes */
    uint32_t edge_count; /* directed edges: twice the undirected ones */
    int32_t *nodes;      /* [count][2]: first edge, number of edges */
    int32_t *edges;      /* [edge_count] */
    int32_t *level;      /* [count]: distance from node 0, or -1 where it is not reached */
    int32_t frontier;    /* the level before the one with the most nodes: where a launch finds the most to do */
} bfs_graph;

/* Builds the graph: every node draws 2 to 4 neighbours at random (as Rodinia's input generator does, which makes six
 * edges per node), corrected at random nodes until there are edge_count of them in all. Returns NULL or what is wrong.
 */
const char *bfs_graph_build(bfs_graph *graph, uint32_t count, uint32_t edge_count, uint64_t seed);
void bfs_graph_free(bfs_graph *graph);
#endif
