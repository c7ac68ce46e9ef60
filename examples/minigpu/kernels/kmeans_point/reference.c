/* kmeans_point(f32 by_feature[features][points], f32 centres[clusters][features], s32 membership[points], s32 points,
 * s32 features, s32 clusters) */
#include "reference.h"

const char *reference_kmeans_point(const reference_launch *launch) {
    const int32_t points = reference_i32(launch, 3), features = reference_i32(launch, 4),
                  clusters = reference_i32(launch, 5);
    if (launch->argument_count != 6 || points < 1 || features < 1 || clusters < 1)
        return "kmeans_point takes f32 by_feature and centres, s32 membership, s32 points, features and clusters";
    const uint64_t width = (uint64_t)(uint32_t)points, height = (uint64_t)(uint32_t)features;
    const float *by_feature = reference_f32s(launch, 0, width * height);
    const float *centres = reference_f32s(launch, 1, height * (uint64_t)(uint32_t)clusters);
    int32_t *membership = reference_i32s(launch, 2, width);
    if (!by_feature || !centres || !membership)
        return "kmeans_point needs by_feature[features][points], centres[clusters][features] and membership[points]";
    for (uint64_t point = 0; point < width && point < reference_threads(launch); point++) {
        float nearest = 3.402823466e+38f;
        int32_t best = -1;
        for (int32_t cluster = 0; cluster < clusters; cluster++) {
            float distance = 0.0f;
            for (uint64_t feature = 0; feature < height; feature++) {
                float difference =
                    by_feature[feature * width + point] - centres[(uint64_t)(uint32_t)cluster * height + feature];
                distance = fmaf(difference, difference, distance);
            }
            if (distance < nearest) {
                nearest = distance;
                best = cluster;
            }
        }
        membership[point] = best;
    }
    return NULL;
}
