/* streamcluster(s32 points, s32 dimensions, s32 candidate, s32 centres, f32 coordinates[dimensions][points],
 * f32 weight[points], s32 assigned[points], f32 cost[points], s32 centre_of[points], f32 gain[points][centres+1],
 * u8 moves[points]) */
#include "reference.h"

const char *reference_streamcluster(const reference_launch *launch) {
    const int32_t n = reference_i32(launch, 0), dimensions = reference_i32(launch, 1);
    const int32_t candidate = reference_i32(launch, 2), centres = reference_i32(launch, 3);
    if (launch->argument_count != 11 || n < 1 || dimensions < 1 || candidate < 0 || candidate >= n || centres < 1)
        return "streamcluster takes s32 points, dimensions, candidate, centres, f32 coordinates, f32 weight, s32 "
               "assigned, "
               "f32 cost, s32 centre_of, f32 gain, u8 moves";
    const uint64_t points = (uint64_t)(uint32_t)n, columns = (uint64_t)(uint32_t)centres + 1;
    const float *coordinates = reference_f32s(launch, 4, points * (uint64_t)(uint32_t)dimensions);
    const float *weight = reference_f32s(launch, 5, points), *cost = reference_f32s(launch, 7, points);
    const int32_t *assigned = reference_i32s(launch, 6, points), *centre_of = reference_i32s(launch, 8, points);
    float *gain = reference_f32s(launch, 9, points * columns);
    uint8_t *moves = reference_u8s(launch, 10, points);
    if (!coordinates || !weight || !assigned || !cost || !centre_of || !gain || !moves)
        return "streamcluster needs coordinates[dimensions][points], gain[points][centres+1] and five buffers of "
               "points elements";
    for (uint64_t point = 0; point < points && point < reference_threads(launch); point++) {
        float distance = 0.0f;
        for (int32_t d = 0; d < dimensions; d++) {
            const float *row = coordinates + (uint64_t)(uint32_t)d * points;
            float difference = row[point] - row[candidate];
            distance = fmaf(difference, difference, distance);
        }
        const float there = distance * weight[point];
        if (there < cost[point]) {
            moves[point] = 1;
            gain[point * columns + columns - 1] = there - cost[point];
        } else {
            if (assigned[point] < 0 || assigned[point] >= n || centre_of[assigned[point]] < 0 ||
                centre_of[assigned[point]] >= centres)
                return "streamcluster: a point is assigned to no centre";
            gain[point * columns + (uint64_t)(uint32_t)centre_of[assigned[point]]] = cost[point] - there;
        }
    }
    return NULL;
}
