/* One layer of a neural network learns: each weight moves against its unit's error, and on in the direction of its last
 * step. 16 inputs times 16 hidden units per block of 16x16 threads; block 0 also adjusts the bias row. */
#define SIDE 16
#define RATE 0.3f
#define MOMENTUM 0.3f

extern "C" __global__ void backprop_adjust_weights(const float *error, const float *input, float *weights, float *steps,
                                                   int hidden) {
    int tx = threadIdx.x, ty = threadIdx.y, by = blockIdx.y;
    int unit = by * SIDE + ty + 1;
    int weight = unit * (hidden + 1) + tx + 1;
    float step = RATE * error[tx + 1] * input[unit] + MOMENTUM * steps[weight];
    weights[weight] += step;
    steps[weight] = step;
    __syncthreads();
    if (ty == 0 && by == 0) {
        step = RATE * error[tx + 1] + MOMENTUM * steps[tx + 1];
        weights[tx + 1] += step;
        steps[tx + 1] = step;
    }
}
