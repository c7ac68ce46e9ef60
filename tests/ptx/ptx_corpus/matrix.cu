// arch: sm_80
// Products of small matrices of whole numbers by every shape and element type of wmma, in both layouts, from shared memory;
// and by mma.sync with fragments from ldmatrix. One warp each; d = a * b + c.
#include <mma.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
using namespace nvcuda;

template <typename T> __device__ T element(int v) { return (T)v; }
template <> __device__ __half element<__half>(int v) { return __int2half_rn(v); }
template <> __device__ __nv_bfloat16 element<__nv_bfloat16>(int v) { return __float2bfloat16((float)v); }

// a is M x K by rows, b is K x N by rows, c and d are M x N by rows, whatever layout the fragments are loaded from.
template <int M, int N, int K, typename Fragment, typename Element, typename Sum, typename LayoutA, typename LayoutB,
          bool columns>
__device__ void product(const int *a, const int *b, const int *c, int *d) {
    __shared__ Element as[M * K], bs[K * N];
    __shared__ Sum cs[M * N];
    const bool a_rows = LayoutA().rows, b_rows = LayoutB().rows;
#pragma unroll 1
    for (int i = threadIdx.x; i < M * K; i += 32) as[a_rows ? i : i % K * M + i / K] = element<Element>(a[i]);
#pragma unroll 1
    for (int i = threadIdx.x; i < K * N; i += 32) bs[b_rows ? i : i % N * K + i / N] = element<Element>(b[i]);
#pragma unroll 1
    for (int i = threadIdx.x; i < M * N; i += 32) cs[columns ? i % N * M + i / N : i] = element<Sum>(c[i]);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, M, N, K, Fragment, typename LayoutA::type> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, Fragment, typename LayoutB::type> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
    wmma::load_matrix_sync(fa, as, a_rows ? K : M);
    wmma::load_matrix_sync(fb, bs, b_rows ? N : K);
    wmma::load_matrix_sync(fc, cs, columns ? M : N, columns ? wmma::mem_col_major : wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    __syncwarp();
    wmma::store_matrix_sync(cs, fc, columns ? M : N, columns ? wmma::mem_col_major : wmma::mem_row_major);
    __syncwarp();
#pragma unroll 1
    for (int i = threadIdx.x; i < M * N; i += 32) d[i] = (int)(float)cs[columns ? i % N * M + i / N : i];
}
struct by_rows { typedef wmma::row_major type; static const bool rows = true; };
struct by_columns { typedef wmma::col_major type; static const bool rows = false; };

#define PRODUCT(name, M, N, K, Fragment, Element, Sum, A, B, columns)                                     \
    extern "C" __global__ void name(const int *a, const int *b, const int *c, int *d) {                    \
        product<M, N, K, Fragment, Element, Sum, A, B, columns>(a, b, c, d);                               \
    }
#define LAYOUTS(name, M, N, K, Fragment, Element, Sum)                                                     \
    PRODUCT(name##_rows, M, N, K, Fragment, Element, Sum, by_rows, by_rows, false)                         \
    PRODUCT(name##_columns, M, N, K, Fragment, Element, Sum, by_columns, by_columns, true)                 \
    PRODUCT(name##_mixed, M, N, K, Fragment, Element, Sum, by_rows, by_columns, false)
LAYOUTS(f16_f32_16, 16, 16, 16, __half, __half, float)
LAYOUTS(f16_f32_32, 32, 8, 16, __half, __half, float)
LAYOUTS(f16_f32_8, 8, 32, 16, __half, __half, float)
LAYOUTS(f16_f16_16, 16, 16, 16, __half, __half, __half)
LAYOUTS(f16_f16_8, 8, 32, 16, __half, __half, __half)
LAYOUTS(bf16_16, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, float)
PRODUCT(bf16_32, 32, 8, 16, __nv_bfloat16, __nv_bfloat16, float, by_columns, by_rows, false)
LAYOUTS(s8_16, 16, 16, 16, signed char, signed char, int)
LAYOUTS(u8_8, 8, 32, 16, unsigned char, unsigned char, int)
LAYOUTS(s8_32, 32, 8, 16, signed char, signed char, int)
LAYOUTS(tf32, 16, 16, 8, wmma::precision::tf32, float, float)
LAYOUTS(f64, 8, 8, 4, double, double, double)

// 16 x 8 = 16 x 16 times 16 x 8: ldmatrix brings the fragments, the lanes keep their sums where the manual says.
extern "C" __global__ void ldmatrix_mma(const int *a, const int *b, const int *c, int *d) {
    __shared__ __align__(16) __half as[16 * 16], bs[16 * 8];
    const int lane = threadIdx.x, group = lane / 4, thread = lane % 4;
#pragma unroll 1
    for (int i = lane; i < 256; i += 32) as[i] = __int2half_rn(a[i]);
#pragma unroll 1
    for (int i = lane; i < 128; i += 32) bs[i] = __int2half_rn(b[i]);
    __syncwarp();
    unsigned ra[4], rb[2];
    float s[4];
    const unsigned pa = (unsigned)__cvta_generic_to_shared(as + lane % 16 * 16 + lane / 16 * 8);
    const unsigned pb = (unsigned)__cvta_generic_to_shared(bs + lane % 16 * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
    for (int i = 0; i < 4; i++) s[i] = (float)c[(group + i / 2 * 8) * 8 + thread * 2 + i % 2];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    for (int i = 0; i < 4; i++) d[(group + i / 2 * 8) * 8 + thread * 2 + i % 2] = (int)s[i];
}

// c = a * b of whole numbers in f16, 64 deep, 16 x 8 per warp: the next 16 of K are copied to shared memory while the warp
// multiplies the last. K is 64, b stands by columns.
extern "C" __global__ void copied_product(const __half *a, const __half *b, float *c, int n) {
    __shared__ __align__(16) __half tiles[2][4][16 * 16 + 8 * 16];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, thread = lane % 4;
    const int row = blockIdx.x * 16, column = (blockIdx.y * 4 + warp) * 8;
    float s[4] = {0, 0, 0, 0};
    auto fetch = [&](int k, int into) {
        const unsigned to = (unsigned)__cvta_generic_to_shared(tiles[into][warp]);
        const int line = lane / 2, part = lane % 2 * 8;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + (line * 16 + part) * 2),
                     "l"(a + (row + line) * 64 + k * 16 + part));
        // eight lines of b: lanes whose column is past the end copy zeros
        const int size = column + line < n ? 16 : 0;
        if (lane < 16)
            asm volatile("cp.async.ca.shared.global [%0+512], [%1], 16, %2;" ::"r"(to + (line * 16 + part) * 2),
                         "l"(b + (column + line) * 64 + k * 16 + part), "r"(size));
        asm volatile("cp.async.commit_group;");
    };
    fetch(0, 0);
#pragma unroll 1
    for (int k = 0; k < 4; k++) {
        if (k < 3) {
            fetch(k + 1, (k + 1) % 2);
            asm volatile("cp.async.wait_group 1;");
        } else
            asm volatile("cp.async.wait_all;");
        __syncwarp();
        const unsigned at = (unsigned)__cvta_generic_to_shared(tiles[k % 2][warp]);
        unsigned ra[4], rb[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(at + (lane % 16 * 16 + lane / 16 * 8) * 2));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2+512];"
                     : "=r"(rb[0]), "=r"(rb[1]) : "r"(at + (lane % 8 * 16 + lane / 8 % 2 * 8) * 2));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                     : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
        __syncwarp();
    }
    for (int i = 0; i < 4; i++)
        if (column + thread * 2 + i % 2 < n) c[(row + group + i / 2 * 8) * n + column + thread * 2 + i % 2] = s[i];
}

// Half of the block's threads fill a buffer, the other half read it; barrier objects say when it is full and when it is empty
// again.
extern "C" __global__ void handed_over(const int *in, int *out, int rounds) {
    __shared__ unsigned long long full, empty;
    __shared__ int buffer[64];
    const unsigned f = (unsigned)__cvta_generic_to_shared(&full), e = (unsigned)__cvta_generic_to_shared(&empty);
    const int t = threadIdx.x % 64;
    unsigned long long state;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(f), "r"(blockDim.x / 2));
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(e));
    }
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < rounds; k++) {
        if (threadIdx.x < 64) {
            if (k % 2) {
                asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(buffer + t)),
                             "l"(in + (blockIdx.x * rounds + k) * 64 + t));
                asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(f));
            } else {
                buffer[t] = in[(blockIdx.x * rounds + k) * 64 + t];
                asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(f));
            }
        }
        if (threadIdx.x >= 64) {
            asm volatile("{ .reg .pred p;\n"
                         "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
                         "@!p bra again;\n }" ::"r"(f), "r"(k & 1) : "memory");
            sum = sum * 3 + buffer[63 - t];
            asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(e));
        } else
            asm volatile("{ .reg .pred p;\n"
                         "again: mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n"
                         "@!p bra again;\n }" ::"r"(e), "r"(k & 1) : "memory");
    }
    if (threadIdx.x >= 64) out[blockIdx.x * 64 + t] = sum;
}
