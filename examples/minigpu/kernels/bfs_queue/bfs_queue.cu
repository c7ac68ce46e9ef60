/* One level of a breadth-first search with a queue: every node of the frontier gives its unseen neighbours the next
 * distance, and the thread that was first at a neighbour queues it. A block queues in shared memory, then takes room in the
 * next frontier for all at once; what does not fit goes there one by one. The order of the next frontier is open. */
#define ROOM 128

extern "C" __global__ void bfs_queue(const int *frontier, int count, int *next, int *next_count, const int2 *nodes,
                                     const int *edges, int *cost, int level) {
    __shared__ int queue[ROOM];
    __shared__ int queued, start;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) queued = 0;
    __syncthreads();
    if (i < count) {
        int2 list = nodes[frontier[i]]; /* first edge and number of edges */
#pragma unroll 1
        for (int edge = list.x; edge < list.x + list.y; edge++) {
            int other = edges[edge];
            if (atomicCAS(&cost[other], -1, level) == -1) {
                int place = atomicAdd(&queued, 1);
                if (place < ROOM)
                    queue[place] = other;
                else
                    next[atomicAdd(next_count, 1)] = other;
            }
        }
    }
    __syncthreads();
    int length = min(queued, ROOM);
    if (threadIdx.x == 0) start = atomicAdd(next_count, length);
    __syncthreads();
    for (int place = threadIdx.x; place < length; place += blockDim.x) next[start + place] = queue[place];
}
