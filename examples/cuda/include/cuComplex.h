/* cuComplex: complex numbers as pairs, x the real part and y the imaginary one. */
#ifndef MINIGPU_CU_COMPLEX_H
#define MINIGPU_CU_COMPLEX_H

#include "cuda_runtime.h"
#include <math.h>

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define MINIGPU_COMPLEX static __inline__ __host__ __device__
/* suffix of C's mathematics, real type, complex type, prefix and suffix of names: cuCaddf, cuCadd. */
#define MINIGPU_COMPLEX_TYPE(f, real, complex, make)                                                             \
    MINIGPU_COMPLEX complex make(real x, real y) {                                                               \
        complex z;                                                                                               \
        z.x = x;                                                                                                 \
        z.y = y;                                                                                                 \
        return z;                                                                                                \
    }                                                                                                            \
    MINIGPU_COMPLEX real cuCreal##f(complex z) { return z.x; }                                                   \
    MINIGPU_COMPLEX real cuCimag##f(complex z) { return z.y; }                                                   \
    MINIGPU_COMPLEX complex cuConj##f(complex z) { return make(z.x, -z.y); }                                     \
    MINIGPU_COMPLEX complex cuCadd##f(complex a, complex b) { return make(a.x + b.x, a.y + b.y); }               \
    MINIGPU_COMPLEX complex cuCsub##f(complex a, complex b) { return make(a.x - b.x, a.y - b.y); }               \
    MINIGPU_COMPLEX complex cuCmul##f(complex a, complex b) {                                                    \
        return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                               \
    }                                                                                                            \
    MINIGPU_COMPLEX complex cuCfma##f(complex a, complex b, complex c) { return cuCadd##f(cuCmul##f(a, b), c); } \
    /* Smith's method: the quotient overflows only where it must. */                                             \
    MINIGPU_COMPLEX complex cuCdiv##f(complex a, complex b) {                                                    \
        const int wide = fabs##f(b.x) >= fabs##f(b.y);                                                           \
        const real ratio = wide ? b.y / b.x : b.x / b.y, by = wide ? b.x + b.y * ratio : b.y + b.x * ratio;      \
        return wide ? make((a.x + a.y * ratio) / by, (a.y - a.x * ratio) / by)                                   \
                    : make((a.x * ratio + a.y) / by, (a.y * ratio - a.x) / by);                                  \
    }                                                                                                            \
    MINIGPU_COMPLEX real cuCabs##f(complex z) { return hypot##f(z.x, z.y); }
MINIGPU_COMPLEX_TYPE(f, float, cuFloatComplex, make_cuFloatComplex)
MINIGPU_COMPLEX_TYPE(, double, cuDoubleComplex, make_cuDoubleComplex)
#undef MINIGPU_COMPLEX_TYPE
MINIGPU_COMPLEX cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
MINIGPU_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_cuDoubleComplex(z.x, z.y); }
MINIGPU_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
    return make_cuFloatComplex((float)z.x, (float)z.y);
}
#undef MINIGPU_COMPLEX

#endif
