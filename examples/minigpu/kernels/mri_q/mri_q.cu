/* Q of a reconstruction from magnetic resonance: for each voxel the sum over samples of k-space of their strength, turned
 * by an angle that depends on both. A launch does one part of the samples and adds to what earlier ones have left. Samples
 * are (kx, ky, kz, strength), k in units of 2 pi; all threads read the same one. */
extern "C" __global__ void mri_q(float *real, float *imaginary, const float *x, const float *y, const float *z, int voxels,
                                 const float4 *samples, int count) {
    int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= voxels) return;
    float at_x = x[voxel], at_y = y[voxel], at_z = z[voxel];
    float sum_real = real[voxel], sum_imaginary = imaginary[voxel];
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        float4 k = samples[i];
        float angle = 6.2831853f * (k.x * at_x + k.y * at_y + k.z * at_z);
        sum_real += k.w * __cosf(angle);
        sum_imaginary += k.w * __sinf(angle);
    }
    real[voxel] = sum_real;
    imaginary[voxel] = sum_imaginary;
}
