/* One level of a breadth-first search, first half: every node of the frontier leaves it, and gives each neighbour not
 * seen before its own distance plus one and a mark for the second half. */
extern "C" __global__ void bfs_1(const int2 *nodes, const int *edges, unsigned char *frontier, unsigned char *marked,
                                 const unsigned char *visited, int *cost, int count) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < count && frontier[node]) {
        frontier[node] = 0;
        int2 list = nodes[node];                    /* first edge and number of edges */
#pragma unroll 1
        for (int edge = list.x; edge < list.x + list.y; edge++) {
            int other = edges[edge];
            if (!visited[other]) {
                cost[other] = cost[node] + 1;
                marked[other] = 1;
            }
        }
    }
}
