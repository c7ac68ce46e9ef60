/* One layer of a neural network: block (0, by) multiplies 16 inputs with their weights to 16 hidden units, keeps the
 * products in place of the weights, and adds them up over its inputs in a tree that leaves half of the rows idle each
 * time. The host adds the blocks' partial sums. 16x16 threads. */
#define SIDE 16

extern "C" __global__ void backprop_layer_forward(const float *input, float *weights, float *partial, int hidden) {
    __shared__ float node[SIDE];
    __shared__ float product[SIDE][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y, by = blockIdx.y;
    int unit = by * SIDE + ty + 1;                  /* row 0 is the bias */
    int weight = unit * (hidden + 1) + tx + 1;      /* column 0 likewise */

    if (tx == 0) node[ty] = input[unit];
    __syncthreads();
    product[ty][tx] = weights[weight];
    __syncthreads();
    product[ty][tx] = product[ty][tx] * node[ty];
    __syncthreads();
    for (int span = 2; span <= SIDE; span *= 2) {
        if (ty % span == 0) product[ty][tx] = product[ty][tx] + product[ty + span / 2][tx];
        __syncthreads();
    }
    weights[weight] = product[ty][tx];
    __syncthreads();
    if (tx == 0) partial[by * hidden + ty] = product[tx][ty];
}
