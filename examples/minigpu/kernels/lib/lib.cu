/* Monte Carlo on a market of interest rates: each thread lets 16 forward rates move eight times by random numbers of its own
 * path, then values a portfolio of swaptions with the rates that are left. The rates are an array in local memory. */
#define RATES 16
#define STEPS 8

extern "C" __global__ void lib(float *values, const float *normals, const float *first, const float *volatility, int paths,
                               float period, float strike) {
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths) return;
    float rate[RATES], root = sqrtf(period);
    for (int i = 0; i < RATES; i++) rate[i] = first[i];
#pragma unroll 1
    for (int step = 0; step < STEPS; step++) {
        float shock = root * normals[step * paths + path], drift = 0.0f;
#pragma unroll 1
        for (int i = step + 1; i < RATES; i++) {
            float own = volatility[i - step - 1], scaled = period * own;
            drift += scaled * rate[i] / (1.0f + period * rate[i]);
            rate[i] *= __expf(scaled * drift + own * (shock - 0.5f * scaled));
        }
    }
    float bond = 1.0f, annuity = 0.0f, value = 0.0f;
#pragma unroll 1
    for (int i = STEPS; i < RATES; i++) {
        bond = bond / (1.0f + period * rate[i]);
        annuity += period * bond;
        float swap = 1.0f - bond - strike * annuity;
        if (swap > 0.0f) value += swap;
    }
    values[path] = value;
}
