// Shuffles, votes, matches, barriers with a reduction, fences.
extern "C" __global__ void warp_sum(const float *in, float *out) {
    float v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int offset = 16; offset; offset >>= 1) v += __shfl_down_sync(0xffffffffu, v, offset);
    v = __shfl_sync(0xffffffffu, v, 0);
    v += __shfl_xor_sync(0xffffffffu, v, 1) + __shfl_up_sync(0xffffffffu, v, 2, 16);
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
extern "C" __global__ void votes(const int *in, unsigned *out) {
    int v = in[threadIdx.x];
    unsigned all = __ballot_sync(0xffffffffu, v > 3);
    if (__any_sync(0xffffffffu, v == 7)) all ^= 1;
    if (__all_sync(0xffffffffu, v < 100)) all ^= 2;
    all += __popc(__match_any_sync(0xffffffffu, v)) + __activemask();
    int n = __syncthreads_count(v & 1);
    if (__syncthreads_or(v == 9)) n++;
    if (__syncthreads_and(v != 11)) n += 2;
    __syncwarp();
    __threadfence();
    __threadfence_block();
    out[threadIdx.x] = all + n;
}
