/* y = a*x + y over n elements, one per thread. Overwrites what it has read, so a block may not be flushed once it has
 * stored anything. */
extern "C" __global__ void saxpy(unsigned n, float a, const float *x, float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
