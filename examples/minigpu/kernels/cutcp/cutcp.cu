/* Electrostatic potential on a lattice, from the atoms within a cutoff distance. A block of 8x4x2 threads makes a region of
 * 8x4x4 points; the atoms are sorted into bins as large as a region, with an empty bin at every end. The block takes 27
 * bins, nine at a time, into shared memory. A bin's unused places hold atoms without charge, far away. */
#define BIN_ATOMS 4

extern "C" __global__ void cutcp(float *potential, const float4 *atoms, int bins_x, int bins_y, float spacing, float cutoff2,
                                 float inverse_cutoff2) {
    __shared__ float4 near[9 * BIN_ATOMS];
    int thread = (threadIdx.z * 4 + threadIdx.y) * 8 + threadIdx.x;
    int column = blockIdx.x * 8 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y, layer = blockIdx.z * 4 + threadIdx.z;
    float x = column * spacing, y = row * spacing, z0 = layer * spacing, z1 = (layer + 2) * spacing;
    float sum0 = 0.0f, sum1 = 0.0f;
#pragma unroll 1
    for (int plane = 0; plane < 3; plane++) {
        __syncthreads();
        if (thread < 9 * BIN_ATOMS) {
            int bin = thread / BIN_ATOMS;
            int home = ((blockIdx.z + plane) * bins_y + blockIdx.y + bin / 3) * bins_x + blockIdx.x + bin % 3;
            near[thread] = atoms[home * BIN_ATOMS + thread % BIN_ATOMS];
        }
        __syncthreads();
#pragma unroll 1
        for (int i = 0; i < 9 * BIN_ATOMS; i++) {
            float4 atom = near[i];
            float dx = atom.x - x, dy = atom.y - y, dz0 = atom.z - z0, dz1 = atom.z - z1;
            float flat = dx * dx + dy * dy;
            float distance0 = flat + dz0 * dz0, distance1 = flat + dz1 * dz1;
            if (distance0 < cutoff2) {
                float fade = 1.0f - distance0 * inverse_cutoff2;
                sum0 += atom.w * rsqrtf(distance0) * fade * fade;
            }
            if (distance1 < cutoff2) {
                float fade = 1.0f - distance1 * inverse_cutoff2;
                sum1 += atom.w * rsqrtf(distance1) * fade * fade;
            }
        }
    }
    int width = gridDim.x * 8, point = (layer * gridDim.y * 4 + row) * width + column;
    potential[point] = sum0;
    potential[point + 2 * gridDim.y * 4 * width] = sum1;
}
