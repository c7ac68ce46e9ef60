/* Smooths a signal: every sample becomes the weighted sum of the nine samples around it. docs/own_kernel.md takes this
 * kernel from here to its first preemption. */
#define RADIUS 4
#define THREADS 128

__constant__ float weights[2 * RADIUS + 1];

__global__ void smooth(float *out, const float *in, int count) {
    __shared__ float tile[THREADS + 2 * RADIUS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    tile[threadIdx.x + RADIUS] = i < count ? in[i] : 0;
    if (threadIdx.x < RADIUS) {
        tile[threadIdx.x] = i >= RADIUS ? in[i - RADIUS] : 0;
        tile[threadIdx.x + THREADS + RADIUS] = i + THREADS < count ? in[i + THREADS] : 0;
    }
    __syncthreads();
    if (i >= count) return;
    float sum = 0;
    for (int k = 0; k <= 2 * RADIUS; k++) sum += weights[k] * tile[threadIdx.x + k];
    out[i] = sum;
}
