/* Turns points stored one after the other into features stored one after the other. */
extern "C" __global__ void kmeans_invert_mapping(const float *by_point, float *by_feature, int points, int features) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point < points) {
#pragma unroll 1
        for (int feature = 0; feature < features; feature++)
            by_feature[point + points * feature] = by_point[point * features + feature];
    }
}
