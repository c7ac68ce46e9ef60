/* Maxwell's equations by the discontinuous Galerkin method, the part inside each element: the derivatives of the six field
 * components at the element's nodes, as products with three matrices, and the two curls. One element per block, one node
 * per thread, at most 96 of them; the fields stand in shared memory. */
#define NODES 96

__device__ static float derivative(const float *by, float r, float s, float t) {
    return __fmaf_rn(by[0], r, __fmaf_rn(by[1], s, __fmul_rn(by[2], t)));
}

extern "C" __global__ void dg(const float *fields, const float *matrices, const float *factors, float *rates, int nodes) {
    __shared__ float field[6][NODES];
    int node = threadIdx.x, element = blockIdx.x;
    for (int f = 0; f < 6; f++) field[f][node] = node < nodes ? fields[(element * 6 + f) * nodes + node] : 0;
    __syncthreads();
    if (node >= nodes) return;
    float r[6] = {0, 0, 0, 0, 0, 0}, s[6] = {0, 0, 0, 0, 0, 0}, t[6] = {0, 0, 0, 0, 0, 0};
#pragma unroll 1
    for (int m = 0; m < nodes; m++) {
        float dr = matrices[m * nodes + node], ds = matrices[(nodes + m) * nodes + node],
              dt = matrices[(2 * nodes + m) * nodes + node];
        for (int f = 0; f < 6; f++) {
            r[f] = __fmaf_rn(dr, field[f][m], r[f]);
            s[f] = __fmaf_rn(ds, field[f][m], s[f]);
            t[f] = __fmaf_rn(dt, field[f][m], t[f]);
        }
    }
    const float *x = factors + element * 9, *y = x + 3, *z = x + 6;
    float *rate = rates + element * 6 * nodes + node;
    /* The magnetic field falls by the curl of the electric one, and the electric one grows by that of the magnetic one. */
    for (int f = 0; f < 6; f += 3) {
        int to = 3 - f;
        float sign = f ? -1.0f : 1.0f;
        rate[to * nodes] = __fmul_rn(sign, __fsub_rn(derivative(y, r[f + 2], s[f + 2], t[f + 2]),
                                                     derivative(z, r[f + 1], s[f + 1], t[f + 1])));
        rate[(to + 1) * nodes] =
            __fmul_rn(sign, __fsub_rn(derivative(z, r[f], s[f], t[f]), derivative(x, r[f + 2], s[f + 2], t[f + 2])));
        rate[(to + 2) * nodes] =
            __fmul_rn(sign, __fsub_rn(derivative(x, r[f + 1], s[f + 1], t[f + 1]), derivative(y, r[f], s[f], t[f])));
    }
}
