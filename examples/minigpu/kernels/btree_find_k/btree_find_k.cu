/* Looks keys up in a B+ tree: a block descends for one query, one thread per key of the node. Node n has order+1 keys,
 * padded with the largest number, and order+1 children (in a leaf: record numbers); order = threads of the block. */
extern "C" __global__ void btree_find_k(int height, const int *keys, const int *children, const int *records, int nodes, int *current,
                                        int *next, const int *queries, int *answers) {
    int tx = threadIdx.x, query = blockIdx.x;
    int width = blockDim.x + 1;

#pragma unroll 1
    for (int level = 0; level < height; level++) {
        int node = current[query];
        if (keys[node * width + tx] <= queries[query] && keys[node * width + tx + 1] > queries[query]) {
            if (children[next[query] * width + tx] < nodes) next[query] = children[next[query] * width + tx];
        }
        __syncthreads();
        if (tx == 0) current[query] = next[query];
        __syncthreads();
    }
    int leaf = current[query];
    if (keys[leaf * width + tx] == queries[query]) answers[query] = records[children[leaf * width + tx]];
}
