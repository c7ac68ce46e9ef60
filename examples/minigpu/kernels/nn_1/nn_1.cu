/* A network that reads digits, first layer: six maps of 13x13 from an image of 29x29, each neuron from 5x5 pixels two apart.
 * A map's weights are the bias and 25 more. One block per map and image, one thread per neuron. */
extern "C" __global__ void nn_1(const float *images, const float *weights, float *out) {
    int map = blockIdx.x, image = blockIdx.y;
    const float *corner = images + image * 841 + threadIdx.y * 58 + threadIdx.x * 2, *weight = weights + map * 26;
    float sum = weight[0];
#pragma unroll 1
    for (int y = 0; y < 5; y++)
#pragma unroll 1
        for (int x = 0; x < 5; x++) sum += corner[y * 29 + x] * weight[1 + y * 5 + x];
    float power = __expf(1.3333333f * sum);
    out[(image * 6 + map) * 169 + threadIdx.y * 13 + threadIdx.x] = 1.7159f * (1.0f - 2.0f / (power + 1.0f));
}
