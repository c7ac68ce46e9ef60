// Loops, switches, early returns, calls that are not inlined.
__device__ __noinline__ float helper(float x, int k) {
    if (k < 0) return -x;
    for (int i = 0; i < k; i++) x = x * 0.5f + 1.0f;
    return x;
}
struct pair { float a, b; };
__device__ __noinline__ pair both(pair p, double w) {
    pair r;
    r.a = p.b * (float)w;
    r.b = helper(p.a, 2);
    return r;
}
extern "C" __global__ void calls(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    pair p = {in[i], in[i] + 1.0f};
    if (i & 1) p = both(p, 0.25);
    out[i] = helper(p.a, i & 7) + p.b;
}
extern "C" __global__ void switches(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, r = 0;
    for (int k = 0; k < n; k++) {
        switch (in[(i + k) % n]) {
        case 0: r += 3; break;
        case 1: r ^= 0x55; break;
        case 2: r *= 7; /* falls through */
        case 3: r -= k; break;
        case 4: if (r > 1000) goto done; r <<= 1; break;
        case 5: r = __popc(r); break;
        case 6: continue;
        case 7: r = r / 3; break;
        case 8: r = -r; break;
        default: r++;
        }
        if (r < -100000) return;
    }
done:
    out[i] = r;
}
template <int N> __global__ void __launch_bounds__(128, 2) nested(const int *in, int *out) {
    int sum = 0;
    for (int i = 0; i < in[0]; i++)
        for (int j = i; j < in[1]; j++) {
            if (in[j % N] == i) break;
            while (sum < in[i % N]) sum += j + 1;
        }
    out[threadIdx.x] = sum;
}
template __global__ void nested<4>(const int *, int *);
template __global__ void nested<9>(const int *, int *);
extern "C" __global__ void wide_accumulate(const unsigned *a, unsigned *r, int n) {
    unsigned lo = 0, mid = 0, hi = 0;
    for (int i = 0; i < n; i++)
        asm("{ .reg .u32 t; mad.lo.cc.u32 %0, %3, %4, %0; madc.hi.cc.u32 %1, %3, %4, %1; addc.u32 %2, %2, 0; mov.u32 t, %0; }"
            : "+r"(lo), "+r"(mid), "+r"(hi) : "r"(a[2 * i]), "r"(a[2 * i + 1]));
    r[0] = lo, r[1] = mid, r[2] = hi;
}
