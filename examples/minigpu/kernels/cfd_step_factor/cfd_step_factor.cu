/* The longest stable time step of each cell of a gas flow: its size over the speed of the gas and of sound in it. The five
 * variables (density, three momenta, energy) stand one after the other. */
#define GAMMA 1.4f

extern "C" __global__ void cfd_step_factor(const float *variables, const float *areas, float *step_factors, int cells) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cells) return;
    float density = variables[i];
    float vx = variables[i + cells] / density;
    float vy = variables[i + 2 * cells] / density;
    float vz = variables[i + 3 * cells] / density;
    float energy = variables[i + 4 * cells];
    float speed_squared = vx * vx + vy * vy + vz * vz;
    float pressure = (GAMMA - 1.0f) * (energy - 0.5f * density * speed_squared);
    float sound = sqrtf(GAMMA * pressure / density);
    step_factors[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(speed_squared) + sound));
}
