/* kmeans_invert_mapping(f32 by_point[points][features], f32 by_feature[features][points], s32 points, s32 features) */
#include "reference.h"

const char *reference_kmeans_invert_mapping(const reference_launch *launch) {
    const int32_t points = reference_i32(launch, 2), features = reference_i32(launch, 3);
    if (launch->argument_count != 4 || points < 1 || features < 1)
        return "kmeans_invert_mapping takes f32 by_point and by_feature, s32 points and s32 features";
    const uint64_t width = (uint64_t)(uint32_t)points, height = (uint64_t)(uint32_t)features;
    const float *by_point = reference_f32s(launch, 0, width * height);
    float *by_feature = reference_f32s(launch, 1, width * height);
    if (!by_point || !by_feature) return "kmeans_invert_mapping needs two buffers of points*features f32";
    for (uint64_t point = 0; point < width && point < reference_threads(launch); point++)
        for (uint64_t feature = 0; feature < height; feature++)
            by_feature[feature * width + point] = by_point[point * height + feature];
    return NULL;
}
