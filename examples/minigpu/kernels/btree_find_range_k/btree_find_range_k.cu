/* Looks key ranges up in a B+ tree: a block descends for both ends of one query at once, one thread per key of the node,
 * and gives the first record and their number. Nodes as in btree_find_k; leaves number their records in key order. */
extern "C" __global__ void btree_find_range_k(int height, const int *keys, const int *children, int nodes, int *current, int *next,
                                              int *last_current, int *last_next, const int *starts, const int *ends, int *first,
                                              int *length) {
    int tx = threadIdx.x, query = blockIdx.x;
    int width = blockDim.x + 1;

#pragma unroll 1
    for (int level = 0; level < height; level++) {
        int node = current[query], last_node = last_current[query];
        if (keys[node * width + tx] <= starts[query] && keys[node * width + tx + 1] > starts[query]) {
            if (children[next[query] * width + tx] < nodes) next[query] = children[next[query] * width + tx];
        }
        if (keys[last_node * width + tx] <= ends[query] && keys[last_node * width + tx + 1] > ends[query]) {
            if (children[last_next[query] * width + tx] < nodes) last_next[query] = children[last_next[query] * width + tx];
        }
        __syncthreads();
        if (tx == 0) {
            current[query] = next[query];
            last_current[query] = last_next[query];
        }
        __syncthreads();
    }
    int leaf = current[query], last_leaf = last_current[query];
    if (keys[leaf * width + tx] == starts[query]) first[query] = children[leaf * width + tx];
    __syncthreads();
    if (keys[last_leaf * width + tx] == ends[query]) length[query] = children[last_leaf * width + tx] - first[query] + 1;
}
