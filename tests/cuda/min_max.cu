/* min_max.cu: min and max of each pair of types that CUDA has, in kernels, on the host, and in functions of both. Each
 * value is one that another type of the list would change. */
#include <cstdio>

template <class R, class A, class B> __host__ __device__ R greatest(A a, B b) { return max(a, b); }
template <class R, class A, class B> __host__ __device__ R least(A a, B b) { return min(a, b); }

template <class R, class A, class B> __global__ void both(A a, B b, R *out) {
    out[0] = min(a, b), out[1] = max(a, b);
    out[2] = least<R>(a, b), out[3] = greatest<R>(a, b);
}

static int wrong;
template <class R, class A, class B> static void check(const char *types, A a, B b, R low, R high) {
    static R *out;
    if (!out && cudaMallocManaged(&out, 8 * sizeof *out)) return;
    both<R><<<1, 1>>>(a, b, out);
    if (cudaDeviceSynchronize()) wrong++;
    out[4] = min(a, b), out[5] = max(a, b), out[6] = least<R>(a, b), out[7] = greatest<R>(a, b);
    for (int i = 0; i < 8; i++) {
        const R wanted = i & 1 ? high : low;
        if (out[i] == wanted) continue;
        printf("%s of %s, %s %s: %g, not %g\n", i & 1 ? "max" : "min", types, i & 2 ? "a function of both" : "called",
               i & 4 ? "on the host" : "in a kernel", (double)out[i], (double)wanted);
        wrong++;
    }
}

int main() {
    const float none = __builtin_nanf("");
    check<int>("int", -7, 5, -7, 5);
    check<unsigned>("unsigned", 5u, 3000000000u, 5u, 3000000000u);
    check<unsigned>("int and unsigned", 5, 3000000000u, 5u, 3000000000u);
    check<unsigned>("unsigned and int", 3000000000u, 5, 5u, 3000000000u);
    check<long>("long", -7000000000l, 1l, -7000000000l, 1l);
    check<unsigned long>("unsigned long", 1ul, ~0ul, 1ul, ~0ul);
    check<unsigned long>("long and unsigned long", 1l, ~0ul, 1ul, ~0ul);
    check<unsigned long>("unsigned long and long", ~0ul, 1l, 1ul, ~0ul);
    check<long long>("long long", -7000000000ll, 1ll, -7000000000ll, 1ll);
    check<unsigned long long>("unsigned long long", 1ull, ~0ull, 1ull, ~0ull);
    check<unsigned long long>("long long and unsigned long long", 1ll, ~0ull, 1ull, ~0ull);
    check<unsigned long long>("unsigned long long and long long", ~0ull, 1ll, 1ull, ~0ull);
    check<float>("float", 0.25f, 0.75f, 0.25f, 0.75f);
    check<double>("double", 0.25, 1e-30, 1e-30, 0.25);
    check<double>("float and double", 0.25f, 1e-300, 1e-300, 0.25);
    check<double>("double and float", 1e-300, 0.25f, 1e-300, 0.25);
    check<float>("float, of which one is no number", none, 0.75f, 0.75f, 0.75f);
    if (!wrong) puts("min and max are right");
    return wrong != 0;
}
