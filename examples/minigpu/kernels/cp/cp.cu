/* Electrostatic potential on a plane, from all atoms. Blocks of 16x8 threads; a thread makes eight points of a row, 16 apart,
 * and adds what it has to the potential. Atoms are (x, y, squared distance from the plane, charge). */
#define POINTS 8

extern "C" __global__ void cp(float *potential, const float4 *atoms, int count, float spacing) {
    int column = blockIdx.x * 16 * POINTS + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    int width = gridDim.x * 16 * POINTS;
    float x = column * spacing, y = row * spacing, step = 16.0f * spacing, sum[POINTS];
#pragma unroll
    for (int i = 0; i < POINTS; i++) sum[i] = 0.0f;
#pragma unroll 1
    for (int n = 0; n < count; n++) {
        float4 atom = atoms[n];
        float dy = y - atom.y, rest = dy * dy + atom.z, dx = x - atom.x;
#pragma unroll
        for (int i = 0; i < POINTS; i++) {
            sum[i] += atom.w * rsqrtf(dx * dx + rest);
            dx += step;
        }
    }
#pragma unroll
    for (int i = 0; i < POINTS; i++) potential[row * width + column + 16 * i] += sum[i];
}
