/* mri_q(f32 real[voxels], f32 imaginary[voxels], f32 x[voxels], y[voxels], z[voxels], s32 voxels, f32
 * samples[count][4], s32 count) */
#include "reference.h"

const char *reference_mri_q(const reference_launch *launch) {
    const int32_t n = reference_i32(launch, 5), count = reference_i32(launch, 7);
    const uint64_t voxels = n > 0 ? (uint64_t)n : 0;
    float *real = reference_f32s(launch, 0, voxels), *imaginary = reference_f32s(launch, 1, voxels);
    const float *x = reference_f32s(launch, 2, voxels), *y = reference_f32s(launch, 3, voxels);
    const float *z = reference_f32s(launch, 4, voxels);
    const float *samples = count < 0 ? NULL : reference_f32s(launch, 6, 4 * (uint64_t)count);
    if (launch->argument_count != 8 || !real || !imaginary || !x || !y || !z || !samples)
        return "mri_q takes f32 real, imaginary, x, y, z[voxels], s32 voxels, f32 samples[count][4] and s32 count";
    for (uint64_t voxel = 0; voxel < voxels && voxel < reference_threads(launch); voxel++) {
        for (int32_t i = 0; i < count; i++) {
            const float *k = samples + 4 * i;
            const float angle = fmaf(k[2], z[voxel], fmaf(k[0], x[voxel], k[1] * y[voxel])) * 6.2831853f;
            real[voxel] = fmaf(k[3], reference_cos_approx(angle), real[voxel]);
            imaginary[voxel] = fmaf(k[3], reference_sin_approx(angle), imaginary[voxel]);
        }
    }
    return NULL;
}
