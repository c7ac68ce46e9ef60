/* cfd_step_factor(f32 variables[5][cells], f32 areas[cells], f32 step_factors[cells], s32 cells) */
#include "reference.h"

const char *reference_cfd_step_factor(const reference_launch *launch) {
    const int32_t count = reference_i32(launch, 3);
    const uint64_t cells = count > 0 ? (uint64_t)count : 0;
    const float *variables = reference_f32s(launch, 0, 5 * cells), *areas = reference_f32s(launch, 1, cells);
    float *step_factors = reference_f32s(launch, 2, cells);
    if (launch->argument_count != 4 || !variables || !areas || !step_factors)
        return "cfd_step_factor takes f32 variables[5][cells], f32 areas[cells], f32 step_factors[cells] and s32 cells";
    for (uint64_t i = 0; i < cells && i < reference_threads(launch); i++) {
        const float density = variables[i], vx = variables[i + cells] / density;
        const float vy = variables[i + 2 * cells] / density, vz = variables[i + 3 * cells] / density;
        const float speed_squared = fmaf(vz, vz, fmaf(vx, vx, vy * vy));
        const float pressure = (variables[i + 4 * cells] - density * 0.5f * speed_squared) * (1.4f - 1.0f);
        const float sound = sqrtf(pressure * 1.4f / density);
        step_factors[i] = 0.5f / (sqrtf(areas[i]) * (sound + sqrtf(speed_squared)));
    }
    return NULL;
}
