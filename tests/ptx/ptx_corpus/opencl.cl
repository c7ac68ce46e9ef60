// What clang makes of OpenCL: calls with structures, local arrays, work-group memory, narrow vectors, a switch.
typedef struct {
    float a;
    int b[3];
    double c;
} box;
__attribute__((noinline)) float helper(float x, int k) {
    for (int i = 0; i < k; i++) x = x * 0.5f + 1;
    return x;
}
__attribute__((noinline)) box make(float a, double c) {
    box b;
    b.a = a;
    b.c = c;
    b.b[0] = 1;
    b.b[1] = 2;
    b.b[2] = (int)a;
    return b;
}
int thread(void) { return __nvvm_read_ptx_sreg_tid_x(); }
__kernel void scale_and_add(__global float *x, __global float *y, float a, int n) {
    int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + thread();
    if (i < n) y[i] = a * x[i] + y[i];
}
__kernel void structures(__global float *x, int n) {
    int i = thread();
    box b = make(x[i], 2.0);
    x[i] = helper(x[i], n) + b.b[i % 3] + (float)b.c;
}
__kernel void spaces(__global int *x, __local int *s, __constant int *c) {
    int i = thread(), t[16];
    for (int k = 0; k < 16; k++) t[k] = x[k] * c[k & 3];
    s[i] = t[x[i] & 15];
    __nvvm_bar_sync(0);
    x[i] = s[i ^ 1];
}
__kernel void narrow(__global float4 *a, __global char4 *b, __global long *c, __global ushort *d) {
    int i = thread();
    a[i] = a[i] * a[i + 1];
    b[i] = b[i] + (char4)(1, 2, 3, 4);
    c[i] = c[i] % 7;
    d[i] = d[i] / 3;
}
__kernel void choose(__global int *x) {
    int i = thread();
    switch (x[i]) {
    case 0: x[i] = 5; break;
    case 1: x[i] += 3; break;
    case 2: x[i] *= 7; break;
    case 3: x[i] -= 9; break;
    case 4: x[i] ^= 77; break;
    case 5: x[i] = -x[i]; break;
    case 6: x[i] = ~x[i];
    }
}
