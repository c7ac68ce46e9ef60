/* One time step of a lattice-Boltzmann fluid (D3Q19): every cell reads its 19 particle densities, lets them collide, and
 * streams them to its neighbours; a solid cell sends them back where they came from. All 19 are in registers at once.
 * Thread = x, block = (y, z); one layer of cells surrounds the fluid and only receives. Densities of one direction stand
 * together. */
#include "directions.h"

extern "C" __global__ void lbm(const float *source, float *target, const unsigned char *solid, int width, int layer, int cells,
                               float omega) {
    int cell = (blockIdx.y + 1) * layer + (blockIdx.x + 1) * width + threadIdx.x + 1;
#define LOAD(q, x, y, z, opposite, along, weight) float f##q = source[q * cells + cell];
    LBM_DIRECTIONS(LOAD)
    if (solid[cell]) {
#define BOUNCE(q, x, y, z, opposite, along, weight) target[q * cells + cell + (x) + (y) * width + (z) * layer] = f##opposite;
        LBM_DIRECTIONS(BOUNCE)
        return;
    }
    float density = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8 + f9 + f10 + f11 + f12 + f13 + f14 + f15 + f16 + f17 + f18;
    float ux = (f1 - f2 + f7 - f8 + f9 - f10 + f11 - f12 + f13 - f14) / density;
    float uy = (f3 - f4 + f7 - f8 - f9 + f10 + f15 - f16 + f17 - f18) / density;
    float uz = (f5 - f6 + f11 - f12 - f13 + f14 + f15 - f16 - f17 + f18) / density;
    float still = 1.0f - 1.5f * (ux * ux + uy * uy + uz * uz);
#define COLLIDE(q, x, y, z, opposite, along, weight)                                                                    \
    {                                                                                                                   \
        float u = along;                                                                                                \
        float balance = (weight) * density * fmaf(u, fmaf(4.5f, u, 3.0f), still);                                            \
        target[q * cells + cell + (x) + (y) * width + (z) * layer] = f##q + omega * (balance - f##q);                   \
    }
    LBM_DIRECTIONS(COLLIDE)
}
