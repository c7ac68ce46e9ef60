// The CUDA math library, whose code comes inlined: long chains of exact arithmetic, rounding modes, tables, slow paths, calls.
#define FUNCTION(name, type, expression) \
    extern "C" __global__ void name(const type *in, type *out) { type x = in[0], y = in[1]; out[0] = expression; }
FUNCTION(sin_f32, float, sinf(x) + 0 * y)
FUNCTION(exp_f32, float, expf(x) + 0 * y)
FUNCTION(pow_f32, float, powf(x, y))
FUNCTION(fmod_f32, float, fmodf(x, y))
FUNCTION(cos_f64, double, cos(x) + 0 * y)
FUNCTION(pow_f64, double, pow(x, y))
FUNCTION(erf_f64, double, erf(x) + 0 * y)
FUNCTION(cbrt_f64, double, cbrt(x) + 0 * y)
