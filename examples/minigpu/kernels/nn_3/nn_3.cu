/* A network that reads digits, third layer: 100 neurons, each from all 50 maps of 5x5. A neuron's weights are the bias and
 * 1,250 more. One block of one thread per neuron and image, as published. */
extern "C" __global__ void nn_3(const float *in, const float *weights, float *out) {
    int neuron = blockIdx.x, image = blockIdx.y;
    const float *before = in + image * 1250, *weight = weights + neuron * 1251;
    float sum = weight[0];
#pragma unroll 1
    for (int i = 0; i < 1250; i++) sum += before[i] * weight[1 + i];
    float power = __expf(1.3333333f * sum);
    out[image * 100 + neuron] = 1.7159f * (1.0f - 2.0f / (power + 1.0f));
}
