/* Two-point correlation of directions on a sphere: how many pairs lie at each distance. Every thread keeps one point; the
 * block takes `tiles` tiles of 16 later points into shared memory, one after the other. The bin of a pair follows from its
 * cosine by bisection of falling edges; each warp counts for itself. 128 threads, up to 32 bins. */
#define WARPS 4
#define BINS 32
#define TILE 16

extern "C" __global__ void tpacf(unsigned *result, const float *x, const float *y, const float *z, int count,
                                 const float *edges, int bins, int tiles) {
    __shared__ unsigned counts[WARPS][BINS];
    __shared__ float edge[BINS], other_x[TILE], other_y[TILE], other_z[TILE];
    int tx = threadIdx.x, own = blockIdx.x * blockDim.x + tx;
    counts[tx / 32][tx % 32] = 0;
    if (tx < bins - 1) edge[tx] = edges[tx];
    float own_x = 0.0f, own_y = 0.0f, own_z = 0.0f;
    if (own < count) {
        own_x = x[own];
        own_y = y[own];
        own_z = z[own];
    }
#pragma unroll 1
    for (int tile = 0; tile < tiles; tile++) {
        int first = blockIdx.x * blockDim.x + tile * TILE;
        __syncthreads();
        if (tx < TILE && first + tx < count) {
            other_x[tx] = x[first + tx];
            other_y[tx] = y[first + tx];
            other_z[tx] = z[first + tx];
        }
        __syncthreads();
        int last = min(TILE, count - first);
#pragma unroll 1
        for (int i = 0; i < last; i++) {
            if (first + i <= own || own >= count) continue;
            float cosine = own_x * other_x[i] + own_y * other_y[i] + own_z * other_z[i];
            int low = 0, high = bins - 1;
            while (low < high) {
                int middle = (low + high) / 2;
                if (cosine >= edge[middle])
                    high = middle;
                else
                    low = middle + 1;
            }
            atomicAdd(&counts[tx / 32][low], 1u);
        }
    }
    __syncthreads();
    if (tx < bins) {
        unsigned sum = counts[0][tx] + counts[1][tx] + counts[2][tx] + counts[3][tx];
        if (sum > 0) atomicAdd(&result[tx], sum);
    }
}
