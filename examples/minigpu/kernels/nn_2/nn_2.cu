/* A network that reads digits, second layer: 50 maps of 5x5, each neuron from 5x5 neurons of all six maps before it, two
 * apart. A map's weights are the bias and 6 for each of 25 places. One block per map and image, one thread per neuron. */
extern "C" __global__ void nn_2(const float *in, const float *weights, float *out) {
    int map = blockIdx.x, image = blockIdx.y;
    const float *corner = in + image * 1014 + threadIdx.y * 26 + threadIdx.x * 2, *weight = weights + map * 151;
    float sum = weight[0];
#pragma unroll 1
    for (int y = 0; y < 5; y++)
#pragma unroll 1
        for (int x = 0; x < 5; x++) {
#pragma unroll
            for (int map = 0; map < 6; map++) sum += corner[map * 169 + y * 13 + x] * weight[1 + (y * 5 + x) * 6 + map];
        }
    float power = __expf(1.3333333f * sum);
    out[(image * 50 + map) * 25 + threadIdx.y * 5 + threadIdx.x] = 1.7159f * (1.0f - 2.0f / (power + 1.0f));
}
