/* One level of a breadth-first search, second half: marked nodes become the frontier, and the host learns whether there
 * are any. */
extern "C" __global__ void bfs_2(unsigned char *frontier, unsigned char *marked, unsigned char *visited, unsigned char *more,
                                 int count) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < count && marked[node]) {
        frontier[node] = 1;
        visited[node] = 1;
        *more = 1;
        marked[node] = 0;
    }
}
