/* wp(f32 celsius, vapour, cloud, rain, pressure [levels][columns], s32 columns, s32 levels, f32 seconds) */
#include "reference.h"

static float wp_saturated(float celsius, float pressure) {
    static const float of[] = {4.3e-9f, 2.38e-6f, 3.03e-4f, 2.65e-2f, 1.43f, 44.4f, 611.2f};
    float e = 2.9e-11f;
    for (uint32_t i = 0; i < sizeof of / sizeof *of; i++) e = fmaf(e, celsius, of[i]);
    e = fminf(fmaxf(e, 1.0f), 0.5f * pressure);
    return 0.622f * e / (pressure - e);
}
static float wp_eighth(float x) { return sqrtf(sqrtf(sqrtf(x))); }

/* One cell going up: air of `p` at which state[] is celsius, vapour, cloud and rain. */
static void wp_rise(float *state[4], uint64_t at, float p, float seconds) {
    float t = state[0][at], v = state[1][at], c = state[2][at], r = state[3][at];
    const float most = wp_saturated(t, p), kelvin = t + 273.15f;
    const float slope = fmaf(1.35e7f / (kelvin * kelvin), most, 1.0f), moved = fmaxf((v - most) / slope, -c);
    float grown;
    v -= moved;
    c += moved;
    t = fmaf(2490.0f, moved, t);
    grown = seconds * fmaf(1e-3f, fmaxf(c - 5e-4f, 0.0f), 2.2f * c * (r > 0 ? r / wp_eighth(r) : 0));
    grown = fminf(grown, c);
    c -= grown;
    r += grown;
    if (v < most && r > 0) {
        const float lack = 1.0f - v / most;
        float dried = seconds * lack * (0.02f * sqrtf(r));
        dried = fminf(fminf(dried, r), (most - v) / slope);
        v += dried;
        r -= dried;
        t = fmaf(-2490.0f, dried, t);
    }
    state[0][at] = t;
    state[1][at] = v;
    state[2][at] = c;
    state[3][at] = r;
}

const char *reference_wp(const reference_launch *launch) {
    const int32_t columns = reference_i32(launch, 5), levels = reference_i32(launch, 6);
    const float seconds = reference_f32(launch, 7);
    if (launch->argument_count != 8 || columns < 1 || levels < 1 || columns > 1 << 20 || levels > 1024 ||
        !reference_fits(launch, 1u << 20) || launch->block[1] != 1 || launch->block[2] != 1 || launch->grid[1] != 1 ||
        launch->grid[2] != 1 || reference_threads(launch) < (uint64_t)columns)
        return "wp takes f32 celsius, vapour, cloud, rain and pressure, s32 columns and levels, f32 seconds, and a "
               "thread for each column";
    const uint64_t cells = (uint64_t)columns * (uint64_t)levels;
    const float *pressure = reference_f32s(launch, 4, cells);
    float *state[4];
    for (uint32_t i = 0; i < 4; i++) state[i] = reference_f32s(launch, i, cells);
    if (!state[0] || !state[1] || !state[2] || !state[3] || !pressure) return "wp needs five arrays[levels][columns]";
    for (uint64_t at = 0; at < cells; at++) wp_rise(state, at, pressure[at], seconds);
    for (uint64_t column = 0; column < (uint64_t)columns; column++) {
        float falling = 0;
        for (uint64_t level = (uint64_t)levels; level-- > 0;) {
            const uint64_t at = level * (uint64_t)columns + column;
            const float r = state[3][at] + falling;
            falling = r * fminf(14.0f * wp_eighth(fmaxf(r, 0.0f)) * seconds * 0.002f, 1.0f);
            state[3][at] = r - falling;
        }
    }
    return NULL;
}
