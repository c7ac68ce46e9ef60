/* saxpy(u32 n, f32 a, f32 x[n], f32 y[n]): the compiler fuses the multiplication and the addition. */
#include "reference.h"

const char *reference_saxpy(const reference_launch *launch) {
    uint64_t n = reference_u32(launch, 0);
    float a = reference_f32(launch, 1);
    const float *x = reference_f32s(launch, 2, n);
    float *y = reference_f32s(launch, 3, n);
    if (launch->argument_count != 4 || !x || !y) return "saxpy takes u32 n, f32 a and two f32 buffers of n elements";
    if (n > reference_threads(launch)) n = reference_threads(launch);
    for (uint64_t i = 0; i < n; i++) y[i] = fmaf(a, x[i], y[i]);
    return NULL;
}
