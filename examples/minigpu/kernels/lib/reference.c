/* lib(f32 values[paths], f32 normals[8][paths], f32 first[16], f32 volatility[15], s32 paths, f32 period, f32 strike)
 */
#include "reference.h"

enum { LIB_RATES = 16, LIB_STEPS = 8 };

const char *reference_lib(const reference_launch *launch) {
    const int32_t n = reference_i32(launch, 4);
    const float period = reference_f32(launch, 5), strike = reference_f32(launch, 6), root = sqrtf(period);
    const uint64_t paths = n > 0 ? (uint64_t)n : 0;
    float *values = reference_f32s(launch, 0, paths);
    const float *normals = reference_f32s(launch, 1, LIB_STEPS * paths), *first = reference_f32s(launch, 2, LIB_RATES);
    const float *volatility = reference_f32s(launch, 3, LIB_RATES - 1);
    if (launch->argument_count != 7 || !values || !normals || !first || !volatility)
        return "lib takes f32 values[paths], normals[8][paths], first[16], volatility[15], s32 paths, f32 period and "
               "f32 "
               "strike";
    for (uint64_t path = 0; path < paths && path < reference_threads(launch); path++) {
        float rate[LIB_RATES], bond = 1.0f, annuity = 0.0f, value = 0.0f;
        memcpy(rate, first, sizeof rate);
        for (uint64_t step = 0; step < LIB_STEPS; step++) {
            const float shock = root * normals[step * paths + path];
            float drift = 0.0f;
            for (uint64_t i = step + 1; i < LIB_RATES; i++) {
                const float own = volatility[i - step - 1], scaled = period * own;
                drift += scaled * rate[i] / fmaf(rate[i], period, 1.0f);
                rate[i] *= reference_ex2_approx(fmaf(own, fmaf(scaled, -0.5f, shock), scaled * drift) * 1.44269502f);
            }
        }
        for (uint64_t i = LIB_STEPS; i < LIB_RATES; i++) {
            bond = bond / fmaf(rate[i], period, 1.0f);
            annuity = fmaf(bond, period, annuity);
            const float swap = 1.0f - bond - annuity * strike;
            if (swap > 0.0f) value += swap;
        }
        values[path] = value;
    }
    return NULL;
}
