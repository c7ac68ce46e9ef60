/* Samples of k-space brought onto a grid: a cell adds up the samples within `reach`, each with a weight that falls off with
 * the distance. Samples are (x, y, real, imaginary), in cells, sorted into bins of 16x8 cells, first[bin] to
 * first[bin + 1]; a block makes the cells of one bin from nine bins, 64 samples at a time through shared memory. How many
 * samples a bin has differs widely, and so does the time of a block. */
#define CHUNK 64

extern "C" __global__ void mri_gridding(float2 *grid, const float4 *samples, const int *first, float reach2,
                                        float inverse_reach2) {
    __shared__ float4 near[CHUNK];
    int thread = threadIdx.y * 16 + threadIdx.x;
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float x = (float)column, y = (float)row, real = 0.0f, imaginary = 0.0f;
#pragma unroll 1
    for (int neighbour = 0; neighbour < 9; neighbour++) {
        int bin_x = (int)blockIdx.x + neighbour % 3 - 1, bin_y = (int)blockIdx.y + neighbour / 3 - 1;
        if (bin_x < 0 || bin_y < 0 || bin_x >= (int)gridDim.x || bin_y >= (int)gridDim.y) continue;
        int bin = bin_y * gridDim.x + bin_x, end = first[bin + 1];
#pragma unroll 1
        for (int from = first[bin]; from < end; from += CHUNK) {
            int count = min(CHUNK, end - from);
            __syncthreads();
            if (thread < count) near[thread] = samples[from + thread];
            __syncthreads();
#pragma unroll 1
            for (int i = 0; i < count; i++) {
                float4 sample = near[i];
                float dx = sample.x - x, dy = sample.y - y, distance2 = dx * dx + dy * dy;
                if (distance2 < reach2) {
                    float weight = 1.0f - distance2 * inverse_reach2;
                    weight *= weight;
                    real += weight * sample.z;
                    imaginary += weight * sample.w;
                }
            }
        }
    }
    grid[row * gridDim.x * 16 + column] = make_float2(real, imaginary);
}
