/* instructions: functions of CUDA that are one instruction of PTX, and those on packed bytes. They are compiled for the
 * device alone. */
#include "parts.h"

#define FUNCTION(result, name, parameters, value) \
    result name parameters { return value; }

/* ==== directed rounding: rn, rz, rd (down), ru (up) ==== */

FUNCTION(float, __nv_fadd_rn, (float a, float b), __nvvm_add_rn_f(a, b))
FUNCTION(float, __nv_fsub_rn, (float a, float b), __nvvm_add_rn_f(a, -b))
FUNCTION(float, __nv_fmul_rn, (float a, float b), __nvvm_mul_rn_f(a, b))
FUNCTION(float, __nv_fdiv_rn, (float a, float b), __nvvm_div_rn_f(a, b))
FUNCTION(float, __nv_fmaf_rn, (float a, float b, float d), __nvvm_fma_rn_f(a, b, d))
FUNCTION(float, __nv_fmaf_ieee_rn, (float a, float b, float d), __nvvm_fma_rn_f(a, b, d))
FUNCTION(float, __nv_frcp_rn, (float a), __nvvm_rcp_rn_f(a))
FUNCTION(float, __nv_fsqrt_rn, (float a), __nvvm_sqrt_rn_f(a))
FUNCTION(double, __nv_dadd_rn, (double a, double b), __nvvm_add_rn_d(a, b))
FUNCTION(double, __nv_dsub_rn, (double a, double b), __nvvm_add_rn_d(a, -b))
FUNCTION(double, __nv_dmul_rn, (double a, double b), __nvvm_mul_rn_d(a, b))
FUNCTION(double, __nv_ddiv_rn, (double a, double b), __nvvm_div_rn_d(a, b))
FUNCTION(double, __nv_fma_rn, (double a, double b, double d), __nvvm_fma_rn_d(a, b, d))
FUNCTION(double, __nv_drcp_rn, (double a), __nvvm_rcp_rn_d(a))
FUNCTION(double, __nv_dsqrt_rn, (double a), __nvvm_sqrt_rn_d(a))
FUNCTION(float, __nv_double2float_rn, (double a), __nvvm_d2f_rn(a))
FUNCTION(int, __nv_float2int_rn, (float a), __nvvm_f2i_rn(a))
FUNCTION(int, __nv_double2int_rn, (double a), __nvvm_d2i_rn(a))
FUNCTION(float, __nv_int2float_rn, (int a), __nvvm_i2f_rn(a))
FUNCTION(double, __nv_int2double_rn, (int a), __nvvm_i2d_rn(a))
FUNCTION(unsigned, __nv_float2uint_rn, (float a), __nvvm_f2ui_rn(a))
FUNCTION(unsigned, __nv_double2uint_rn, (double a), __nvvm_d2ui_rn(a))
FUNCTION(float, __nv_uint2float_rn, (unsigned a), __nvvm_ui2f_rn(a))
FUNCTION(double, __nv_uint2double_rn, (unsigned a), __nvvm_ui2d_rn(a))
FUNCTION(long long, __nv_float2ll_rn, (float a), __nvvm_f2ll_rn(a))
FUNCTION(long long, __nv_double2ll_rn, (double a), __nvvm_d2ll_rn(a))
FUNCTION(float, __nv_ll2float_rn, (long long a), __nvvm_ll2f_rn(a))
FUNCTION(double, __nv_ll2double_rn, (long long a), __nvvm_ll2d_rn(a))
FUNCTION(unsigned long long, __nv_float2ull_rn, (float a), __nvvm_f2ull_rn(a))
FUNCTION(unsigned long long, __nv_double2ull_rn, (double a), __nvvm_d2ull_rn(a))
FUNCTION(float, __nv_ull2float_rn, (unsigned long long a), __nvvm_ull2f_rn(a))
FUNCTION(double, __nv_ull2double_rn, (unsigned long long a), __nvvm_ull2d_rn(a))
FUNCTION(float, __nv_fadd_rz, (float a, float b), __nvvm_add_rz_f(a, b))
FUNCTION(float, __nv_fsub_rz, (float a, float b), __nvvm_add_rz_f(a, -b))
FUNCTION(float, __nv_fmul_rz, (float a, float b), __nvvm_mul_rz_f(a, b))
FUNCTION(float, __nv_fdiv_rz, (float a, float b), __nvvm_div_rz_f(a, b))
FUNCTION(float, __nv_fmaf_rz, (float a, float b, float d), __nvvm_fma_rz_f(a, b, d))
FUNCTION(float, __nv_fmaf_ieee_rz, (float a, float b, float d), __nvvm_fma_rz_f(a, b, d))
FUNCTION(float, __nv_frcp_rz, (float a), __nvvm_rcp_rz_f(a))
FUNCTION(float, __nv_fsqrt_rz, (float a), __nvvm_sqrt_rz_f(a))
FUNCTION(double, __nv_dadd_rz, (double a, double b), __nvvm_add_rz_d(a, b))
FUNCTION(double, __nv_dsub_rz, (double a, double b), __nvvm_add_rz_d(a, -b))
FUNCTION(double, __nv_dmul_rz, (double a, double b), __nvvm_mul_rz_d(a, b))
FUNCTION(double, __nv_ddiv_rz, (double a, double b), __nvvm_div_rz_d(a, b))
FUNCTION(double, __nv_fma_rz, (double a, double b, double d), __nvvm_fma_rz_d(a, b, d))
FUNCTION(double, __nv_drcp_rz, (double a), __nvvm_rcp_rz_d(a))
FUNCTION(double, __nv_dsqrt_rz, (double a), __nvvm_sqrt_rz_d(a))
FUNCTION(float, __nv_double2float_rz, (double a), __nvvm_d2f_rz(a))
FUNCTION(int, __nv_float2int_rz, (float a), __nvvm_f2i_rz(a))
FUNCTION(int, __nv_double2int_rz, (double a), __nvvm_d2i_rz(a))
FUNCTION(float, __nv_int2float_rz, (int a), __nvvm_i2f_rz(a))
FUNCTION(unsigned, __nv_float2uint_rz, (float a), __nvvm_f2ui_rz(a))
FUNCTION(unsigned, __nv_double2uint_rz, (double a), __nvvm_d2ui_rz(a))
FUNCTION(float, __nv_uint2float_rz, (unsigned a), __nvvm_ui2f_rz(a))
FUNCTION(long long, __nv_float2ll_rz, (float a), __nvvm_f2ll_rz(a))
FUNCTION(long long, __nv_double2ll_rz, (double a), __nvvm_d2ll_rz(a))
FUNCTION(float, __nv_ll2float_rz, (long long a), __nvvm_ll2f_rz(a))
FUNCTION(double, __nv_ll2double_rz, (long long a), __nvvm_ll2d_rz(a))
FUNCTION(unsigned long long, __nv_float2ull_rz, (float a), __nvvm_f2ull_rz(a))
FUNCTION(unsigned long long, __nv_double2ull_rz, (double a), __nvvm_d2ull_rz(a))
FUNCTION(float, __nv_ull2float_rz, (unsigned long long a), __nvvm_ull2f_rz(a))
FUNCTION(double, __nv_ull2double_rz, (unsigned long long a), __nvvm_ull2d_rz(a))
FUNCTION(float, __nv_fadd_rd, (float a, float b), __nvvm_add_rm_f(a, b))
FUNCTION(float, __nv_fsub_rd, (float a, float b), __nvvm_add_rm_f(a, -b))
FUNCTION(float, __nv_fmul_rd, (float a, float b), __nvvm_mul_rm_f(a, b))
FUNCTION(float, __nv_fdiv_rd, (float a, float b), __nvvm_div_rm_f(a, b))
FUNCTION(float, __nv_fmaf_rd, (float a, float b, float d), __nvvm_fma_rm_f(a, b, d))
FUNCTION(float, __nv_fmaf_ieee_rd, (float a, float b, float d), __nvvm_fma_rm_f(a, b, d))
FUNCTION(float, __nv_frcp_rd, (float a), __nvvm_rcp_rm_f(a))
FUNCTION(float, __nv_fsqrt_rd, (float a), __nvvm_sqrt_rm_f(a))
FUNCTION(double, __nv_dadd_rd, (double a, double b), __nvvm_add_rm_d(a, b))
FUNCTION(double, __nv_dsub_rd, (double a, double b), __nvvm_add_rm_d(a, -b))
FUNCTION(double, __nv_dmul_rd, (double a, double b), __nvvm_mul_rm_d(a, b))
FUNCTION(double, __nv_ddiv_rd, (double a, double b), __nvvm_div_rm_d(a, b))
FUNCTION(double, __nv_fma_rd, (double a, double b, double d), __nvvm_fma_rm_d(a, b, d))
FUNCTION(double, __nv_drcp_rd, (double a), __nvvm_rcp_rm_d(a))
FUNCTION(double, __nv_dsqrt_rd, (double a), __nvvm_sqrt_rm_d(a))
FUNCTION(float, __nv_double2float_rd, (double a), __nvvm_d2f_rm(a))
FUNCTION(int, __nv_float2int_rd, (float a), __nvvm_f2i_rm(a))
FUNCTION(int, __nv_double2int_rd, (double a), __nvvm_d2i_rm(a))
FUNCTION(float, __nv_int2float_rd, (int a), __nvvm_i2f_rm(a))
FUNCTION(unsigned, __nv_float2uint_rd, (float a), __nvvm_f2ui_rm(a))
FUNCTION(unsigned, __nv_double2uint_rd, (double a), __nvvm_d2ui_rm(a))
FUNCTION(float, __nv_uint2float_rd, (unsigned a), __nvvm_ui2f_rm(a))
FUNCTION(long long, __nv_float2ll_rd, (float a), __nvvm_f2ll_rm(a))
FUNCTION(long long, __nv_double2ll_rd, (double a), __nvvm_d2ll_rm(a))
FUNCTION(float, __nv_ll2float_rd, (long long a), __nvvm_ll2f_rm(a))
FUNCTION(double, __nv_ll2double_rd, (long long a), __nvvm_ll2d_rm(a))
FUNCTION(unsigned long long, __nv_float2ull_rd, (float a), __nvvm_f2ull_rm(a))
FUNCTION(unsigned long long, __nv_double2ull_rd, (double a), __nvvm_d2ull_rm(a))
FUNCTION(float, __nv_ull2float_rd, (unsigned long long a), __nvvm_ull2f_rm(a))
FUNCTION(double, __nv_ull2double_rd, (unsigned long long a), __nvvm_ull2d_rm(a))
FUNCTION(float, __nv_fadd_ru, (float a, float b), __nvvm_add_rp_f(a, b))
FUNCTION(float, __nv_fsub_ru, (float a, float b), __nvvm_add_rp_f(a, -b))
FUNCTION(float, __nv_fmul_ru, (float a, float b), __nvvm_mul_rp_f(a, b))
FUNCTION(float, __nv_fdiv_ru, (float a, float b), __nvvm_div_rp_f(a, b))
FUNCTION(float, __nv_fmaf_ru, (float a, float b, float d), __nvvm_fma_rp_f(a, b, d))
FUNCTION(float, __nv_fmaf_ieee_ru, (float a, float b, float d), __nvvm_fma_rp_f(a, b, d))
FUNCTION(float, __nv_frcp_ru, (float a), __nvvm_rcp_rp_f(a))
FUNCTION(float, __nv_fsqrt_ru, (float a), __nvvm_sqrt_rp_f(a))
FUNCTION(double, __nv_dadd_ru, (double a, double b), __nvvm_add_rp_d(a, b))
FUNCTION(double, __nv_dsub_ru, (double a, double b), __nvvm_add_rp_d(a, -b))
FUNCTION(double, __nv_dmul_ru, (double a, double b), __nvvm_mul_rp_d(a, b))
FUNCTION(double, __nv_ddiv_ru, (double a, double b), __nvvm_div_rp_d(a, b))
FUNCTION(double, __nv_fma_ru, (double a, double b, double d), __nvvm_fma_rp_d(a, b, d))
FUNCTION(double, __nv_drcp_ru, (double a), __nvvm_rcp_rp_d(a))
FUNCTION(double, __nv_dsqrt_ru, (double a), __nvvm_sqrt_rp_d(a))
FUNCTION(float, __nv_double2float_ru, (double a), __nvvm_d2f_rp(a))
FUNCTION(int, __nv_float2int_ru, (float a), __nvvm_f2i_rp(a))
FUNCTION(int, __nv_double2int_ru, (double a), __nvvm_d2i_rp(a))
FUNCTION(float, __nv_int2float_ru, (int a), __nvvm_i2f_rp(a))
FUNCTION(unsigned, __nv_float2uint_ru, (float a), __nvvm_f2ui_rp(a))
FUNCTION(unsigned, __nv_double2uint_ru, (double a), __nvvm_d2ui_rp(a))
FUNCTION(float, __nv_uint2float_ru, (unsigned a), __nvvm_ui2f_rp(a))
FUNCTION(long long, __nv_float2ll_ru, (float a), __nvvm_f2ll_rp(a))
FUNCTION(long long, __nv_double2ll_ru, (double a), __nvvm_d2ll_rp(a))
FUNCTION(float, __nv_ll2float_ru, (long long a), __nvvm_ll2f_rp(a))
FUNCTION(double, __nv_ll2double_ru, (long long a), __nvvm_ll2d_rp(a))
FUNCTION(unsigned long long, __nv_float2ull_ru, (float a), __nvvm_f2ull_rp(a))
FUNCTION(unsigned long long, __nv_double2ull_ru, (double a), __nvvm_d2ull_rp(a))
FUNCTION(float, __nv_ull2float_ru, (unsigned long long a), __nvvm_ull2f_rp(a))
FUNCTION(double, __nv_ull2double_ru, (unsigned long long a), __nvvm_ull2d_rp(a))
FUNCTION(float, __nv_frsqrt_rn, (float a), (float)(1 / __builtin_sqrt((double)a)))

/* ==== the special function unit: fast and less exact ==== */

FUNCTION(float, __nv_fast_sinf, (float a), __nvvm_sin_approx_f(a))
FUNCTION(float, __nv_fast_cosf, (float a), __nvvm_cos_approx_f(a))
FUNCTION(float, __nv_fast_tanf, (float a), __nvvm_div_approx_f(__nvvm_sin_approx_f(a), __nvvm_cos_approx_f(a)))
void __nv_fast_sincosf(float a, float *sine, float *cosine) {
    *sine = __nvvm_sin_approx_f(a);
    *cosine = __nvvm_cos_approx_f(a);
}
/* log2(e) and log2(10) are each the sum of two floats: the error of one alone, times a, would pass the guide's bounds.
 */
FUNCTION(float, __nv_fast_expf, (float a), __nvvm_ex2_approx_f(__nvvm_fma_rn_f(a, 0x1.715476p+0f, a * 0x1.4ae0c0p-26f)))
FUNCTION(float, __nv_fast_exp10f, (float a),
         __nvvm_ex2_approx_f(__nvvm_fma_rn_f(a, 0x1.a934f0p+1f, a * 0x1.2f346ep-24f)))
FUNCTION(float, __nv_fast_log2f, (float a), __nvvm_lg2_approx_f(a))
FUNCTION(float, __nv_fast_logf, (float a), __nvvm_lg2_approx_f(a) * 0x1.62e430p-1f)
FUNCTION(float, __nv_fast_log10f, (float a), __nvvm_lg2_approx_f(a) * 0x1.344136p-2f)
FUNCTION(float, __nv_fast_powf, (float a, float b), __nvvm_ex2_approx_f(b *__nvvm_lg2_approx_f(a)))
FUNCTION(float, __nv_fast_fdividef, (float a, float b), __nvvm_div_approx_f(a, b))
FUNCTION(double, __nv_rcp64h, (double a), of_bits(bits_of(1 / a) & 0xffffffff00000000ull))

/* ==== integers and bits ==== */

FUNCTION(int, __nv_abs, (int a), a < 0 ? -a : a)
FUNCTION(long long, __nv_llabs, (long long a), a < 0 ? -a : a)
FUNCTION(int, __nv_min, (int a, int b), a < b ? a : b)
FUNCTION(int, __nv_max, (int a, int b), a > b ? a : b)
FUNCTION(unsigned, __nv_umin, (unsigned a, unsigned b), a < b ? a : b)
FUNCTION(unsigned, __nv_umax, (unsigned a, unsigned b), a > b ? a : b)
FUNCTION(long long, __nv_llmin, (long long a, long long b), a < b ? a : b)
FUNCTION(long long, __nv_llmax, (long long a, long long b), a > b ? a : b)
FUNCTION(unsigned long long, __nv_ullmin, (unsigned long long a, unsigned long long b), a < b ? a : b)
FUNCTION(unsigned long long, __nv_ullmax, (unsigned long long a, unsigned long long b), a > b ? a : b)
FUNCTION(int, __nv_brev, (int a), (int)__builtin_bitreverse32((unsigned)a))
FUNCTION(long long, __nv_brevll, (long long a), (long long)__builtin_bitreverse64((unsigned long long)a))
FUNCTION(int, __nv_clz, (int a), a ? __builtin_clz((unsigned)a) : 32)
FUNCTION(int, __nv_clzll, (long long a), a ? __builtin_clzll((unsigned long long)a) : 64)
FUNCTION(int, __nv_ffs, (int a), a ? __builtin_ctz((unsigned)a) + 1 : 0)
FUNCTION(int, __nv_ffsll, (long long a), a ? __builtin_ctzll((unsigned long long)a) + 1 : 0)
FUNCTION(int, __nv_popc, (int a), __builtin_popcount((unsigned)a))
FUNCTION(int, __nv_popcll, (long long a), __builtin_popcountll((unsigned long long)a))
FUNCTION(int, __nv_byte_perm, (int a, int b, int c), (int)__nvvm_prmt((unsigned)a, (unsigned)b, (unsigned)c))
FUNCTION(int, __nv_mulhi, (int a, int b), (int)((long long)a *b >> 32))
FUNCTION(unsigned, __nv_umulhi, (unsigned a, unsigned b), (unsigned)((unsigned long long)a *b >> 32))
FUNCTION(long long, __nv_mul64hi, (long long a, long long b), (long long)((__int128)a *b >> 64))
FUNCTION(unsigned long long, __nv_umul64hi, (unsigned long long a, unsigned long long b),
         (unsigned long long)((unsigned __int128)a *b >> 64))
FUNCTION(int, __nv_mul24, (int a, int b), (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)))
FUNCTION(unsigned, __nv_umul24, (unsigned a, unsigned b), (a & 0xffffff) * (b & 0xffffff))
FUNCTION(int, __nv_hadd, (int a, int b), (int)(((long long)a + b) >> 1))
FUNCTION(int, __nv_rhadd, (int a, int b), (int)(((long long)a + b + 1) >> 1))
FUNCTION(unsigned, __nv_uhadd, (unsigned a, unsigned b), (unsigned)(((unsigned long long)a + b) >> 1))
FUNCTION(unsigned, __nv_urhadd, (unsigned a, unsigned b), (unsigned)(((unsigned long long)a + b + 1) >> 1))
FUNCTION(unsigned, __nv_sad, (int a, int b, unsigned c), (unsigned)(a > b ? a - b : b - a) + c)
FUNCTION(unsigned, __nv_usad, (unsigned a, unsigned b, unsigned c), (a > b ? a - b : b - a) + c)
FUNCTION(int, __nv_float_as_int, (float a), (int)bits_of_float(a))
FUNCTION(unsigned, __nv_float_as_uint, (float a), bits_of_float(a))
FUNCTION(float, __nv_int_as_float, (int a), float_of_bits((unsigned)a))
FUNCTION(float, __nv_uint_as_float, (unsigned a), float_of_bits(a))
FUNCTION(long long, __nv_double_as_longlong, (double a), (long long)bits_of(a))
FUNCTION(double, __nv_longlong_as_double, (long long a), of_bits((unsigned long long)a))
FUNCTION(int, __nv_double2hiint, (double a), (int)(bits_of(a) >> 32))
FUNCTION(int, __nv_double2loint, (double a), (int)(unsigned)bits_of(a))
FUNCTION(double, __nv_hiloint2double, (int high, int low),
         of_bits((unsigned long long)(unsigned)high << 32 | (unsigned)low))
FUNCTION(unsigned short, __nv_float2half_rn, (float a), (unsigned short)__nvvm_f2h_rn(a))
float __nv_half2float(unsigned short a) {
    float result;
    __asm__("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(a));
    return result;
}

/* ==== two halves or four bytes of a word, each by itself ==== */

/* An expression of x and y, the lanes of a and b as signed or unsigned numbers, for each of `count` lanes. */
#define LANES_OF(name, count, kind, expression)                                             \
    unsigned name(unsigned a, unsigned b) {                                                 \
        const int bits = 32 / count;                                                        \
        const unsigned mask = (1u << bits) - 1;                                             \
        unsigned result = 0;                                                                \
        int i;                                                                              \
        _Pragma("unroll") for (i = 0; i < count; i++) {                                     \
            const int x = LANE_##kind(a, i, bits, mask), y = LANE_##kind(b, i, bits, mask); \
            const int low = kind##_LOW(bits), high = kind##_HIGH(bits);                     \
            (void)y, (void)low, (void)high;                                                 \
            result |= ((unsigned)(expression)&mask) << i * bits;                            \
        }                                                                                   \
        return result;                                                                      \
    }
#define LANE_SIGNED(word, i, bits, mask) ((int)((word) >> (i) * (bits) << (32 - (bits))) >> (32 - (bits)))
#define LANE_UNSIGNED(word, i, bits, mask) ((int)((word) >> (i) * (bits) & (mask)))
#define SIGNED_LOW(bits) (-(1 << ((bits)-1)))
#define SIGNED_HIGH(bits) ((1 << ((bits)-1)) - 1)
#define UNSIGNED_LOW(bits) 0
#define UNSIGNED_HIGH(bits) ((1 << (bits)) - 1)
#define CLAMP(value) ((value) < low ? low : (value) > high ? high : (value))
#define BOTH(name, kind, expression) LANES_OF(name##2, 2, kind, expression) LANES_OF(name##4, 4, kind, expression)

BOTH(__nv_vadd, SIGNED, x + y)
BOTH(__nv_vsub, SIGNED, x - y)
BOTH(__nv_vaddss, SIGNED, CLAMP(x + y))
BOTH(__nv_vaddus, UNSIGNED, CLAMP(x + y))
BOTH(__nv_vsubss, SIGNED, CLAMP(x - y))
BOTH(__nv_vsubus, UNSIGNED, CLAMP(x - y))
BOTH(__nv_vavgs, SIGNED, (x + y + 1) >> 1)
BOTH(__nv_vavgu, UNSIGNED, (x + y + 1) >> 1)
BOTH(__nv_vhaddu, UNSIGNED, (x + y) >> 1)
BOTH(__nv_vmins, SIGNED, x < y ? x : y)
BOTH(__nv_vminu, UNSIGNED, x < y ? x : y)
BOTH(__nv_vmaxs, SIGNED, x > y ? x : y)
BOTH(__nv_vmaxu, UNSIGNED, x > y ? x : y)
BOTH(__nv_vabsdiffs, SIGNED, x > y ? x - y : y - x)
BOTH(__nv_vabsdiffu, UNSIGNED, x > y ? x - y : y - x)
#define ONE_OPERAND(name, expression)                         \
    BOTH(name##_of, SIGNED, expression)                       \
    unsigned name##2(unsigned a) { return name##_of2(a, 0); } \
    unsigned name##4(unsigned a) { return name##_of4(a, 0); }
ONE_OPERAND(__nv_vabs, x < 0 ? -x : x)
ONE_OPERAND(__nv_vabsss, CLAMP(x < 0 ? -x : x))
ONE_OPERAND(__nv_vneg, -x)
ONE_OPERAND(__nv_vnegss, CLAMP(-x))
/* cmp gives all ones, set gives 1 */
#define COMPARES(name, kind, operator) \
    BOTH(__nv_vcmp##name, kind, x operator y ? -1 : 0) BOTH(__nv_vset##name, kind, x operator y)
COMPARES(eq, UNSIGNED, ==)
COMPARES(ne, UNSIGNED, !=)
COMPARES(ges, SIGNED, >=)
COMPARES(geu, UNSIGNED, >=)
COMPARES(gts, SIGNED, >)
COMPARES(gtu, UNSIGNED, >)
COMPARES(les, SIGNED, <=)
COMPARES(leu, UNSIGNED, <=)
COMPARES(lts, SIGNED, <)
COMPARES(ltu, UNSIGNED, <)
unsigned __nv_vsads2(unsigned a, unsigned b) {
    const unsigned d = __nv_vabsdiffs2(a, b);
    return (d & 0xffff) + (d >> 16);
}
unsigned __nv_vsadu2(unsigned a, unsigned b) {
    const unsigned d = __nv_vabsdiffu2(a, b);
    return (d & 0xffff) + (d >> 16);
}
unsigned __nv_vsads4(unsigned a, unsigned b) {
    const unsigned d = __nv_vabsdiffs4(a, b);
    return (d & 0xff) + (d >> 8 & 0xff) + (d >> 16 & 0xff) + (d >> 24);
}
unsigned __nv_vsadu4(unsigned a, unsigned b) {
    const unsigned d = __nv_vabsdiffu4(a, b);
    return (d & 0xff) + (d >> 8 & 0xff) + (d >> 16 & 0xff) + (d >> 24);
}
