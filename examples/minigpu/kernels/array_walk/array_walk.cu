/* a = 2 * b over arrays of many pages (Kim 2012, Fig. 1). Each block has a stretch of its own, which its threads walk
 * side by side, 64 floats at a time; a and b are buffers of the same length. */
#define STEP 64

extern "C" __global__ void array_walk(float *a, const float *b, unsigned stretch) {
    unsigned first = blockIdx.x * stretch + threadIdx.x;
    const float *end = b + first + stretch;
    a += first;
    b += first;
#pragma unroll 1
    do {
        *a = *b * 2;
        a += STEP;
        b += STEP;
    } while (b < end);
}
