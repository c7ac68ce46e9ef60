/* Forces between particles in boxes: those of a box feel all of their own box and of the boxes around it. One block per box,
 * one thread per particle; box after box comes into shared memory. Positions are (x, y, z, charge), forces (x, y, z,
 * potential). Up to 128 particles in a box and 27 boxes in a list. */
#define MOST 128
#define LIST 27

extern "C" __global__ void lavamd(float4 *forces, const float4 *positions, const int *boxes, const int *lengths, int particles,
                                  float decay) {
    __shared__ float4 other[MOST];
    int home = blockIdx.x, tx = threadIdx.x;
    float4 own = make_float4(0.0f, 0.0f, 0.0f, 0.0f), sum = own;
    if (tx < particles) own = positions[home * particles + tx];
    int length = lengths[home];
#pragma unroll 1
    for (int i = 0; i < length; i++) {
        int box = boxes[home * LIST + i];
        __syncthreads();
        if (tx < particles) other[tx] = positions[box * particles + tx];
        __syncthreads();
        if (tx < particles) {
#pragma unroll 1
            for (int j = 0; j < particles; j++) {
                float dx = own.x - other[j].x, dy = own.y - other[j].y, dz = own.z - other[j].z;
                float weight = other[j].w * __expf(-decay * (dx * dx + dy * dy + dz * dz));
                sum.x += weight * dx;
                sum.y += weight * dy;
                sum.z += weight * dz;
                sum.w += weight;
            }
        }
    }
    if (tx < particles) forces[home * particles + tx] = sum;
}
