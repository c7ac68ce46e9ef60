/* array_walk(f32 a[n], f32 b[n], u32 stretch), n = blocks times stretch: a = b * 2, which nvcc makes b + b. Stretches
 * are whole numbers of steps of 64 floats; the launch has 64 threads in a block. */
#include "reference.h"

const char *reference_array_walk(const reference_launch *launch) {
    const uint64_t stretch = reference_u32(launch, 2), n = reference_count(launch, 0, 4);
    float *a = reference_f32s(launch, 0, n);
    const float *b = reference_f32s(launch, 1, n);
    if (launch->argument_count != 3 || !a || !b || launch->block[0] != 64 || launch->block[1] != 1 ||
        launch->block[2] != 1 || !stretch || stretch % 64 || launch->grid[1] != 1 || launch->grid[2] != 1 ||
        n != launch->grid[0] * stretch)
        return "array_walk takes two f32 buffers of blocks * stretch elements and u32 stretch, a multiple of 64, in "
               "blocks of 64 threads";
    for (uint64_t i = 0; i < n; i++) a[i] = b[i] + b[i];
    return NULL;
}
