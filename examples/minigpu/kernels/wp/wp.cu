/* Clouds and rain in columns of air, one column per thread (microphysics after Kessler): going up, vapour condenses to cloud
 * or cloud evaporates until the air is saturated, cloud turns into rain, and rain evaporates; going down, rain falls. The
 * pressure of saturation is a polynomial. Everything is updated in place. */
__device__ static float saturated(float celsius, float pressure) {
    float e = 2.9e-11f;
    e = __fmaf_rn(e, celsius, 4.3e-9f);
    e = __fmaf_rn(e, celsius, 2.38e-6f);
    e = __fmaf_rn(e, celsius, 3.03e-4f);
    e = __fmaf_rn(e, celsius, 2.65e-2f);
    e = __fmaf_rn(e, celsius, 1.43f);
    e = __fmaf_rn(e, celsius, 44.4f);
    e = __fmaf_rn(e, celsius, 611.2f);
    e = fminf(fmaxf(e, 1.0f), __fmul_rn(0.5f, pressure));
    return __fdiv_rn(__fmul_rn(0.622f, e), __fsub_rn(pressure, e));
}
/* x to the power of 7/8 */
__device__ static float most_of(float x) { return x > 0 ? __fdiv_rn(x, __fsqrt_rn(__fsqrt_rn(__fsqrt_rn(x)))) : 0; }

extern "C" __global__ void wp(float *celsius, float *vapour, float *cloud, float *rain, const float *pressure, int columns,
                              int levels, float seconds) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    int at = column;
#pragma unroll 1
    for (int level = 0; level < levels; level++, at += columns) {
        float t = celsius[at], v = vapour[at], c = cloud[at], r = rain[at], p = pressure[at];
        float most = saturated(t, p);
        float kelvin = __fadd_rn(t, 273.15f);
        float slope = __fmaf_rn(__fdiv_rn(1.35e7f, __fmul_rn(kelvin, kelvin)), most, 1.0f);
        float moved = fmaxf(__fdiv_rn(__fsub_rn(v, most), slope), -c);
        v = __fsub_rn(v, moved);
        c = __fadd_rn(c, moved);
        t = __fmaf_rn(2490.0f, moved, t);
        float grown = __fmul_rn(seconds, __fmaf_rn(1e-3f, fmaxf(__fsub_rn(c, 5e-4f), 0.0f),
                                                   __fmul_rn(__fmul_rn(2.2f, c), most_of(r))));
        grown = fminf(grown, c);
        c = __fsub_rn(c, grown);
        r = __fadd_rn(r, grown);
        if (v < most && r > 0) {
            float lack = __fsub_rn(1.0f, __fdiv_rn(v, most));
            float dried = __fmul_rn(__fmul_rn(seconds, lack), __fmul_rn(0.02f, __fsqrt_rn(r)));
            dried = fminf(fminf(dried, r), __fdiv_rn(__fsub_rn(most, v), slope));
            v = __fadd_rn(v, dried);
            r = __fsub_rn(r, dried);
            t = __fmaf_rn(-2490.0f, dried, t);
        }
        celsius[at] = t;
        vapour[at] = v;
        cloud[at] = c;
        rain[at] = r;
    }
    float falling = 0;
#pragma unroll 1
    for (int level = levels - 1; level >= 0; level--) {
        at -= columns;
        float r = __fadd_rn(rain[at], falling);
        float speed = __fmul_rn(14.0f, __fsqrt_rn(__fsqrt_rn(__fsqrt_rn(fmaxf(r, 0.0f)))));
        falling = __fmul_rn(r, fminf(__fmul_rn(__fmul_rn(speed, seconds), 0.002f), 1.0f));
        rain[at] = __fsub_rn(r, falling);
    }
}
