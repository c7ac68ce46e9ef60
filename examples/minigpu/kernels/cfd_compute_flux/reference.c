/* cfd_compute_flux(s32 neighbours[4][cells], f32 normals[3][4][cells], f32 variables[5][cells], f32 fluxes[5][cells],
 * s32 cells, f32 free_density, f32 free_mx, f32 free_energy) */
#include "reference.h"

typedef struct cfd_gas {
    float density, momentum[3], energy, velocity[3], pressure, speed, sound;
} cfd_gas;

static cfd_gas cfd_state(const float *variables, uint64_t cell, uint64_t cells) {
    cfd_gas g;
    g.density = variables[cell];
    g.energy = variables[cell + 4 * cells];
    for (uint64_t axis = 0; axis < 3; axis++) {
        g.momentum[axis] = variables[cell + (1 + axis) * cells];
        g.velocity[axis] = g.momentum[axis] / g.density;
    }
    const float square =
        fmaf(g.velocity[2], g.velocity[2], fmaf(g.velocity[1], g.velocity[1], g.velocity[0] * g.velocity[0]));
    g.speed = sqrtf(square);
    g.pressure = fmaf(g.density * -0.5f, square, g.energy) * (1.4f - 1.0f);
    g.sound = sqrtf(g.pressure * 1.4f / g.density);
    return g;
}

static float cfd_dot(const float *a, const float *b) { return fmaf(a[2], b[2], fmaf(a[1], b[1], a[0] * b[0])); }

const char *reference_cfd_compute_flux(const reference_launch *launch) {
    const int32_t count = reference_i32(launch, 4);
    const uint64_t cells = count > 0 ? (uint64_t)count : 0;
    const int32_t *neighbours = reference_i32s(launch, 0, 4 * cells);
    const float *normals = reference_f32s(launch, 1, 12 * cells), *variables = reference_f32s(launch, 2, 5 * cells);
    float *fluxes = reference_f32s(launch, 3, 5 * cells);
    const float free_density = reference_f32(launch, 5), free_mx = reference_f32(launch, 6),
                free_energy = reference_f32(launch, 7);
    if (launch->argument_count != 8 || !neighbours || !normals || !variables || !fluxes)
        return "cfd_compute_flux takes s32 neighbours[4][cells], f32 normals[12][cells], variables[5][cells], "
               "fluxes[5][cells], "
               "s32 cells, f32 free_density, free_mx and free_energy";
    for (uint64_t cell = 0; cell < cells && cell < reference_threads(launch); cell++) {
        const cfd_gas own = cfd_state(variables, cell, cells);
        const float free_vx = free_mx / free_density;
        float density = 0.0f, energy = 0.0f, momentum[3] = {0.0f, 0.0f, 0.0f};
        for (uint64_t face = 0; face < 4; face++) {
            const int32_t neighbour = neighbours[cell + face * cells];
            const float normal[3] = {normals[cell + face * cells], normals[cell + (face + 4) * cells],
                                     normals[cell + (face + 8) * cells]};
            if (neighbour >= count) return "cfd_compute_flux: a neighbour lies outside the grid";
            if (neighbour >= 0) {
                const cfd_gas other = cfd_state(variables, (uint64_t)neighbour, cells);
                const float area = sqrtf(cfd_dot(normal, normal));
                const float factor = area * -0.2f * 0.5f * (own.speed + other.speed + own.sound + other.sound);
                const float own_flow = cfd_dot(normal, own.velocity) * 0.5f,
                            other_flow = cfd_dot(normal, other.velocity) * 0.5f;
                const float push = (own.pressure + other.pressure) * 0.5f;
                density = fmaf(factor, own.density - other.density, density);
                density = fmaf(own_flow, own.density, fmaf(other_flow, other.density, density));
                for (int axis = 0; axis < 3; axis++) {
                    float m = fmaf(push, normal[axis], momentum[axis]);
                    m = fmaf(factor, own.momentum[axis] - other.momentum[axis], m);
                    momentum[axis] = fmaf(own_flow, own.momentum[axis], fmaf(other_flow, other.momentum[axis], m));
                }
                energy = fmaf(factor, own.energy - other.energy, energy);
                energy =
                    fmaf(own_flow, own.energy + own.pressure, fmaf(other_flow, other.energy + other.pressure, energy));
            } else if (neighbour == -1) {
                for (int axis = 0; axis < 3; axis++) momentum[axis] = fmaf(own.pressure, normal[axis], momentum[axis]);
            } else if (neighbour == -2) {
                const float half = normal[0] * 0.5f;
                density = fmaf(half, own.momentum[0] + free_mx, density);
                energy = fmaf(half, fmaf(free_vx, free_energy + 1.0f, own.velocity[0] * (own.energy + own.pressure)),
                              energy);
                momentum[0] =
                    fmaf(half, fmaf(free_mx, free_vx, 1.0f) + fmaf(own.momentum[0], own.velocity[0], own.pressure),
                         momentum[0]);
                momentum[1] = fmaf(half, own.momentum[1] * own.velocity[0], momentum[1]);
                momentum[2] = fmaf(half, own.momentum[2] * own.velocity[0], momentum[2]);
            }
        }
        fluxes[cell] = density;
        for (uint64_t axis = 0; axis < 3; axis++) fluxes[cell + (1 + axis) * cells] = momentum[axis];
        fluxes[cell + 4 * cells] = energy;
    }
    return NULL;
}
