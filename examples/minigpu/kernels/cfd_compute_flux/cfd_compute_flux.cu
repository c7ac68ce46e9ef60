/* What flows into each cell of a gas on an unstructured grid: through each of its four faces comes the mean flow of the two
 * cells, made stable by a share of their difference. A neighbour of -1 is a wall, -2 the free flow. Variables (density,
 * three momenta, energy) and fluxes stand one after the other; so do the faces' neighbours and normals. */
#define GAMMA 1.4f
#define SMOOTHING 0.2f

struct gas {
    float density, mx, my, mz, energy; /* as stored */
    float vx, vy, vz, pressure, speed, sound;
};

__device__ gas state_of(const float *variables, int cell, int cells) {
    gas g;
    g.density = variables[cell];
    g.mx = variables[cell + cells];
    g.my = variables[cell + 2 * cells];
    g.mz = variables[cell + 3 * cells];
    g.energy = variables[cell + 4 * cells];
    g.vx = g.mx / g.density;
    g.vy = g.my / g.density;
    g.vz = g.mz / g.density;
    float square = fmaf(g.vz, g.vz, fmaf(g.vy, g.vy, g.vx * g.vx));
    g.speed = sqrtf(square);
    g.pressure = (GAMMA - 1.0f) * fmaf(-0.5f * g.density, square, g.energy);
    g.sound = sqrtf(GAMMA * g.pressure / g.density);
    return g;
}

extern "C" __global__ void cfd_compute_flux(const int *neighbours, const float *normals, const float *variables, float *fluxes, int cells,
                                            float free_density, float free_mx, float free_energy) {
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells) return;
    gas own = state_of(variables, cell, cells);
    float density = 0.0f, mx = 0.0f, my = 0.0f, mz = 0.0f, energy = 0.0f;
    for (int face = 0; face < 4; face++) {
        int neighbour = neighbours[cell + face * cells];
        float nx = normals[cell + face * cells], ny = normals[cell + (face + 4) * cells], nz = normals[cell + (face + 8) * cells];
        if (neighbour >= 0) {
            gas other = state_of(variables, neighbour, cells);
            float area = sqrtf(fmaf(nz, nz, fmaf(ny, ny, nx * nx)));
            float factor = -area * SMOOTHING * 0.5f * (own.speed + other.speed + own.sound + other.sound);
            /* How much of each cell's volume passes the face. */
            float own_flow = 0.5f * fmaf(nz, own.vz, fmaf(ny, own.vy, nx * own.vx));
            float other_flow = 0.5f * fmaf(nz, other.vz, fmaf(ny, other.vy, nx * other.vx));
            float push = 0.5f * (own.pressure + other.pressure);
            density = fmaf(factor, own.density - other.density, density);
            density = fmaf(own_flow, own.density, fmaf(other_flow, other.density, density));
            mx = fmaf(factor, own.mx - other.mx, fmaf(push, nx, mx));
            mx = fmaf(own_flow, own.mx, fmaf(other_flow, other.mx, mx));
            my = fmaf(factor, own.my - other.my, fmaf(push, ny, my));
            my = fmaf(own_flow, own.my, fmaf(other_flow, other.my, my));
            mz = fmaf(factor, own.mz - other.mz, fmaf(push, nz, mz));
            mz = fmaf(own_flow, own.mz, fmaf(other_flow, other.mz, mz));
            energy = fmaf(factor, own.energy - other.energy, energy);
            energy = fmaf(own_flow, own.energy + own.pressure, fmaf(other_flow, other.energy + other.pressure, energy));
        } else if (neighbour == -1) {
            mx = fmaf(own.pressure, nx, mx);
            my = fmaf(own.pressure, ny, my);
            mz = fmaf(own.pressure, nz, mz);
        } else if (neighbour == -2) {
            /* The free flow moves along x at a pressure of 1. */
            float half = 0.5f * nx;
            float free_vx = free_mx / free_density;
            density = fmaf(half, free_mx + own.mx, density);
            energy = fmaf(half, fmaf(free_vx, free_energy + 1.0f, own.vx * (own.energy + own.pressure)), energy);
            mx = fmaf(half, fmaf(free_mx, free_vx, 1.0f) + fmaf(own.mx, own.vx, own.pressure), mx);
            my = fmaf(half, own.my * own.vx, my);
            mz = fmaf(half, own.mz * own.vx, mz);
        }
    }
    fluxes[cell] = density;
    fluxes[cell + cells] = mx;
    fluxes[cell + 2 * cells] = my;
    fluxes[cell + 3 * cells] = mz;
    fluxes[cell + 4 * cells] = energy;
}
