/* Inputs of streamcluster: coordinates stay as the launch file makes them (uniform, as Rodinia's are), all weights are
 * 1, the first points drawn at random are the centres, and every point belongs to the nearest of three of them. */
#include "reference.h"

const char *generate_streamcluster(const reference_launch *launch, uint64_t seed) {
    const uint32_t points = reference_u32(launch, 0), dimensions = reference_u32(launch, 1),
                   centres = reference_u32(launch, 3);
    const float *coordinates = reference_f32s(launch, 4, (uint64_t)points * dimensions);
    float *weight = reference_f32s(launch, 5, points), *cost = reference_f32s(launch, 7, points);
    int32_t *assigned = reference_i32s(launch, 6, points), *centre_of = reference_i32s(launch, 8, points);
    if (!coordinates || !weight || !cost || !assigned || !centre_of || centres < 1 || centres > points)
        return "streamcluster needs coordinates[dimensions][points], buffers of points elements, and 1 to points "
               "centres";
    uint64_t state = seed;
    /* Centre c is a point of the c-th part of them, so that no point is drawn twice. */
    const uint32_t part = points / centres;
    const uint32_t shift = reference_random_below(&state, part);
    for (uint32_t point = 0; point < points; point++) {
        centre_of[point] = point % part == shift && point / part < centres ? (int32_t)(point / part) : 0;
        weight[point] = 1.0f;
    }
    for (uint32_t point = 0; point < points; point++) {
        cost[point] = 3.402823466e+38f;
        for (int draw = 0; draw < 3; draw++) {
            uint32_t centre = reference_random_below(&state, centres) * part + shift;
            float distance = 0.0f;
            for (uint32_t d = 0; d < dimensions; d++) {
                float difference =
                    coordinates[(uint64_t)d * points + point] - coordinates[(uint64_t)d * points + centre];
                distance += difference * difference;
            }
            if (distance < cost[point]) {
                cost[point] = distance;
                assigned[point] = (int32_t)centre;
            }
        }
    }
    return NULL;
}
