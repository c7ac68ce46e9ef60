/* Gives each point the number of the nearest cluster centre; features are stored one after the other, centres one after
 * the other. */
extern "C" __global__ void kmeans_point(const float *by_feature, const float *centres, int *membership, int points, int features,
                                        int clusters) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) return;
    float nearest = 3.402823466e+38f;
    int best = -1;
#pragma unroll 1
    for (int cluster = 0; cluster < clusters; cluster++) {
        float distance = 0.0f;
#pragma unroll 1
        for (int feature = 0; feature < features; feature++) {
            float difference = by_feature[point + points * feature] - centres[cluster * features + feature];
            distance += difference * difference;
        }
        if (distance < nearest) {
            nearest = distance;
            best = cluster;
        }
    }
    membership[point] = best;
}
