/* labels: unit property link: minigpu_core */
/* Every opcode against plain C, on random and adversarial operands. Each row is PTX text, so the reader is in the loop;
 * its expression sees the source operands as 64-bit words a, b, c, e (truncated to their width) and gives the
 * destination's bits. */
#include "test.h"
#include <fenv.h>
#include <math.h>
#include "lanes/lanes.h"
#include "lanes/lanes_quick.h"
#include "ptx/ptx_reader.h"

static float f(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float v;
    memcpy(&v, &low, 4);
    return v;
}
static double g(uint64_t bits) {
    double v;
    memcpy(&v, &bits, 8);
    return v;
}
/* Arithmetic gives one NaN whatever the operands' payload. */
static uint64_t F(float v) {
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return isnan(v) ? 0x7fffffffu : bits;
}
static uint64_t G(double v) {
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return isnan(v) ? UINT64_C(0xfff8000000000000) : bits;
}
static float z(uint64_t bits) { return fpclassify(f(bits)) == FP_SUBNORMAL ? copysignf(0.0f, f(bits)) : f(bits); }
static uint64_t Z(float v) { return fpclassify(v) == FP_SUBNORMAL ? F(copysignf(0.0f, v)) : F(v); }
static uint64_t saturated(float v) { return v >= 1 ? F(1) : v > 0 ? F(v) : 0; }
static int64_t s32(uint64_t v) { return (int32_t)(uint32_t)v; }
static int64_t s16(uint64_t v) { return (int16_t)(uint16_t)v; }
static int64_t s8(uint64_t v) { return (int8_t)(uint8_t)v; }
static uint64_t u32(uint64_t v) { return (uint32_t)v; }
static uint64_t u16(uint64_t v) { return (uint16_t)v; }
static int64_t clamp(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }
static uint64_t saturated_sum(int64_t v) { return u32((uint64_t)clamp(v, INT32_MIN, INT32_MAX)); }
/* Sign-magnitude order puts -0 below +0, as min and max want it. */
static int32_t order(uint64_t bits) { return (int32_t)(bits >> 31 ? ~(uint32_t)bits ^ 0x80000000u : (uint32_t)bits); }
static uint64_t least(uint64_t a, uint64_t b) {
    return isnan(f(a)) ? F(f(b)) : isnan(f(b)) ? a : order(a) < order(b) ? a : b;
}
static uint64_t most(uint64_t a, uint64_t b) {
    return isnan(f(a)) ? F(f(b)) : isnan(f(b)) ? a : order(a) > order(b) ? a : b;
}
static uint64_t bit_field(uint64_t a, uint64_t b, uint64_t c, int width, int is_signed) {
    uint64_t position = b & 0xff, length = c & 0xff, result = 0, top = position + length - 1;
    int sign = is_signed && length && (a >> (top > (uint64_t)width - 1 ? (uint64_t)width - 1 : top) & 1);
    for (int k = 0; k < width; k++) {
        int inside = (uint64_t)k < length && position + (uint64_t)k <= (uint64_t)width - 1;
        if (inside ? a >> (position + (uint64_t)k) & 1 : (uint64_t)sign) result |= UINT64_C(1) << k;
    }
    return result;
}
static uint64_t insert(uint64_t a, uint64_t b, uint64_t c, uint64_t e, int width) {
    for (uint64_t k = 0; k < (e & 0xff) && (c & 0xff) + k <= (uint64_t)width - 1; k++) {
        uint64_t bit = UINT64_C(1) << ((c & 0xff) + k);
        b = a >> k & 1 ? b | bit : b & ~bit;
    }
    return b;
}
static uint64_t permuted(uint64_t a, uint64_t b, uint64_t selector) {
    uint64_t both = u32(a) | b << 32, result = 0;
    for (int k = 0; k < 4; k++) {
        uint64_t choice = selector >> (4 * k) & 15, byte = both >> (8 * (choice & 7)) & 0xff;
        result |= (choice & 8 ? (byte >> 7) * 0xff : byte) << (8 * k);
    }
    return result;
}
static uint64_t ones(uint64_t v) {
    uint64_t n = 0;
    for (; v; v &= v - 1) n++;
    return n;
}
static uint64_t zeros(uint64_t v, int width) {
    uint64_t n = 0;
    for (int k = width; k-- > 0 && !(v >> k & 1);) n++;
    return n;
}
static uint64_t reversed(uint64_t v, int width) {
    uint64_t r = 0;
    for (int k = 0; k < width; k++) r |= (v >> k & 1) << (width - 1 - k);
    return r;
}
static uint64_t high_unsigned(uint64_t a, uint64_t b) { /* by hand: 32-bit machines have no 128-bit type */
    uint64_t low = u32(a) * u32(b), first = (a >> 32) * u32(b) + (low >> 32), second = u32(a) * (b >> 32) + u32(first);
    return (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32);
}
static uint64_t high_signed(uint64_t a, uint64_t b) {
    return high_unsigned(a, b) - (a >> 63 ? b : 0) - (b >> 63 ? a : 0);
}
static uint64_t to_s32(double v) {
    return isnan(v) ? 0 : v >= 2147483647.0 ? INT32_MAX : v <= -2147483648.0 ? 0x80000000u : u32((uint64_t)(int64_t)v);
}
static uint64_t to_u32(double v) { return isnan(v) ? 0 : v >= 4294967295.0 ? UINT32_MAX : v <= 0 ? 0 : (uint64_t)v; }
static uint64_t to_s64(double v) {
    return isnan(v)                      ? UINT64_C(1) << 63
           : v >= 9223372036854775808.0  ? INT64_MAX
           : v <= -9223372036854775808.0 ? UINT64_C(1) << 63
                                         : (uint64_t)(int64_t)v;
}
static uint64_t to_u64(double v) {
    return isnan(v) ? UINT64_C(1) << 63 : v >= 18446744073709551616.0 ? UINT64_MAX : v <= 0 ? 0 : (uint64_t)v;
}
static uint64_t under(int mode, int operation, uint64_t a, uint64_t b, uint64_t c) {
    volatile float x = f(a), y = f(b), w = f(c), r;
    int before = fegetround();
    fesetround(mode);
    switch (operation) {
    case 0: r = x + y; break;
    case 1: r = x * y; break;
    case 2: r = fmaf(x, y, w); break;
    case 3: r = x / y; break;
    default: r = sqrtf(x);
    }
    fesetround(before);
    return F(r);
}
static uint64_t narrowed(int mode, uint64_t a) {
    volatile double x = g(a);
    int before = fegetround();
    fesetround(mode);
    volatile float r = (float)x;
    fesetround(before);
    return F(r);
}
/* 16-bit floating point by its definition. format: bits of the fraction (10: f16, 7: bf16). */
static double small(uint64_t bits, int format) {
    const int bias = format == 10 ? 15 : 127, top = 2 * bias + 1, exponent = (int)(bits >> format) & top;
    const double fraction = (double)(bits & ((1u << format) - 1)), sign = bits & 0x8000 ? -1.0 : 1.0;
    if (exponent == top) return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(fraction + (double)(1 << format), exponent - bias - format)
                            : ldexp(fraction, 1 - bias - format));
}
static double h(uint64_t bits) { return small(bits & 0xffff, 10); }
static double bf(uint64_t bits) { return small(bits & 0xffff, 7); }
/* The nearest number of the format, found by bisection; ties go to the even one. */
static uint64_t nearest(double v, int format) {
    const uint64_t infinity = format == 10 ? 0x7c00 : 0x7f80, sign = signbit(v) ? 0x8000 : 0;
    const double size = fabs(v), beyond = format == 10 ? 65536.0 : ldexp(1.0, 128);
    uint64_t low = 0, high = infinity;
    if (isnan(v)) return 0x7fff;
    while (high - low > 1) {
        const uint64_t middle = (low + high) / 2;
        if (small(middle, format) <= size)
            low = middle;
        else
            high = middle;
    }
    const double between = (small(low, format) + (high == infinity ? beyond : small(high, format))) / 2;
    return sign | (size > between || (size == between && (low & 1)) ? high : low);
}
static uint64_t H(double v) { return nearest(v, 10); }
static uint64_t BF(double v) { return nearest(v, 7); }
/* x + y cut off, with the last bit set when something was cut: rounding it again is right. */
static double sticky(double x, double y) {
    const int before = fegetround();
    volatile double p = x, c = y, sum;
    uint64_t bits;
    fesetround(FE_TOWARDZERO);
    feclearexcept(FE_INEXACT);
    sum = p + c;
    const int cut = fetestexcept(FE_INEXACT);
    fesetround(before);
    if (!cut || isnan(sum)) return p + c; /* zeros of unlike sign: +0, as to the nearest */
    const double cut_off = sum;
    memcpy(&bits, &cut_off, 8);
    bits |= 1;
    return isinf(cut_off) ? cut_off : g(bits);
}
static uint64_t flushed_half(uint64_t bits) { return bits & 0x7c00 ? bits & 0xffff : bits & 0x8000; }
static double unit(double v) { return v >= 1 ? 1 : v > 0 ? v : 0; }
static int32_t half_order(uint64_t bits) {
    return bits & 0x8000 ? -1 - (int32_t)(bits & 0x7fff) : (int32_t)(bits & 0xffff);
}
static uint64_t half_extreme(uint64_t a, uint64_t b, int format, int largest, int keeps_nan) {
    const int a_nan = isnan(small(a & 0xffff, format)), b_nan = isnan(small(b & 0xffff, format));
    if ((a_nan && b_nan) || (keeps_nan && (a_nan || b_nan))) return 0x7fff;
    if (a_nan || b_nan) return (a_nan ? b : a) & 0xffff;
    return ((half_order(a) > half_order(b)) == largest ? a : b) & 0xffff;
}
static uint64_t pair(uint64_t low, uint64_t high) { return low | high << 16; }
static uint64_t tf32(uint64_t a) { /* to the nearest, ties away from zero */
    return isnan(f(a)) ? 0x7fffffff : isinf(f(a)) ? u32(a) : (u32(a) + 0x1000) & 0xffffe000u;
}

static uint64_t byte_distances(uint64_t a, uint64_t b, uint64_t c, int is_signed, int adds) {
    uint64_t bytes = 0;
    for (int k = 0; k < 32; k += 8) {
        const int64_t x = is_signed ? s8(a >> k) : (int64_t)(a >> k & 0xff),
                      y = is_signed ? s8(b >> k) : (int64_t)(b >> k & 0xff);
        const uint64_t distance = (uint64_t)(x > y ? x - y : y - x);
        bytes |= distance << k;
        c += distance;
    }
    return u32(adds ? c : bytes);
}

static uint64_t dot4(uint64_t a, uint64_t b, uint64_t c) {
    for (int k = 0; k < 4; k++) c += (uint64_t)(s8(a >> (8 * k)) * s8(b >> (8 * k)));
    return u32(c);
}

static uint64_t dot(uint64_t a, uint64_t b, uint64_t c, int parts, int signed_a, int signed_b, int skip) {
    for (int k = 0; k < parts; k++) {
        int64_t x = parts == 4 ? (signed_a ? s8(a >> (8 * k)) : (int64_t)(a >> (8 * k) & 0xff))
                    : signed_a ? s16(a >> (16 * k))
                               : (int64_t)(a >> (16 * k) & 0xffff);
        int64_t y = signed_b ? s8(b >> (8 * k + skip)) : (int64_t)(b >> (8 * k + skip) & 0xff);
        c += (uint64_t)(x * y);
    }
    return u32(c);
}
/* The position of the nth set bit from `base` on, upwards for n > 0, downwards for n < 0; n = 0: base itself. */
static uint64_t nth_set(uint64_t mask, uint64_t base, int64_t n) {
    int64_t left = n < 0 ? -n : n;
    if (n == 0) return base < 32 && (mask >> base & 1) ? base : UINT32_MAX;
    for (int64_t at = (int64_t)base; at >= 0 && at < 32; at += n < 0 ? -1 : 1)
        if ((mask >> at & 1) && --left == 0) return (uint64_t)at;
    return UINT32_MAX;
}

/* clang-format off */
#define ROWS(X)                                                                                                       \
    X("add.u16 %h0, %h1, %h2", 16, u16(a + b)) X("add.s32 %r0, %r1, %r2", 32, u32(a + b))                             \
    X("add.u64 %d0, %d1, %d2", 64, a + b) X("add.sat.s32 %r0, %r1, %r2", 32, saturated_sum(s32(a) + s32(b)))          \
    X("sub.s16 %h0, %h1, %h2", 16, u16(a - b)) X("sub.u32 %r0, %r1, %r2", 32, u32(a - b))                             \
    X("sub.s64 %d0, %d1, %d2", 64, a - b) X("sub.sat.s32 %r0, %r1, %r2", 32, saturated_sum(s32(a) - s32(b)))          \
    X("mul.lo.u16 %h0, %h1, %h2", 16, u16(a * b)) X("mul.hi.u16 %h0, %h1, %h2", 16, u16(a * b >> 16))                 \
    X("mul.hi.s16 %h0, %h1, %h2", 16, u16((uint64_t)(s16(a) * s16(b) >> 16)))                                         \
    X("mul.wide.u16 %r0, %h1, %h2", 32, a * b) X("mul.wide.s16 %r0, %h1, %h2", 32, u32((uint64_t)(s16(a) * s16(b))))  \
    X("mul.lo.s32 %r0, %r1, %r2", 32, u32(a * b)) X("mul.hi.u32 %r0, %r1, %r2", 32, a * b >> 32)                      \
    X("mul.hi.s32 %r0, %r1, %r2", 32, u32((uint64_t)(s32(a) * s32(b) >> 32)))                                         \
    X("mul.wide.u32 %d0, %r1, %r2", 64, a * b) X("mul.wide.s32 %d0, %r1, %r2", 64, (uint64_t)(s32(a) * s32(b)))       \
    X("mul.lo.u64 %d0, %d1, %d2", 64, a * b) X("mul.hi.u64 %d0, %d1, %d2", 64, high_unsigned(a, b))                   \
    X("mul.hi.s64 %d0, %d1, %d2", 64, high_signed(a, b))                                                              \
    X("mad.lo.s16 %h0, %h1, %h2, %h3", 16, u16(a * b + c)) X("mad.lo.u32 %r0, %r1, %r2, %r3", 32, u32(a * b + c))     \
    X("mad.hi.s32 %r0, %r1, %r2, %r3", 32, u32((uint64_t)(s32(a) * s32(b) >> 32) + c))                                \
    X("mad.hi.sat.s32 %r0, %r1, %r2, %r3", 32, saturated_sum((s32(a) * s32(b) >> 32) + s32(c)))                       \
    X("mad.wide.u32 %d0, %r1, %r2, %d3", 64, a * b + c) \
    X("mad.wide.s32 %d0, %r1, %r2, %d3", 64, (uint64_t)(s32(a) * s32(b)) + c) \
    X("mad.wide.u16 %r0, %h1, %h2, %r3", 32, u32(a * b + c)) X("mad.lo.s64 %d0, %d1, %d2, %d3", 64, a * b + c)        \
    X("mad.hi.u64 %d0, %d1, %d2, %d3", 64, high_unsigned(a, b) + c)                                                   \
    X("mul24.lo.s32 %r0, %r1, %r2", 32, \
      u32((uint64_t)((int64_t)(a << 40) >> 40) * (uint64_t)((int64_t)(b << 40) >> 40))) \
    X("mul24.hi.u32 %r0, %r1, %r2", 32, u32((a & 0xffffff) * (b & 0xffffff) >> 16))                                   \
    X("mad24.lo.u32 %r0, %r1, %r2, %r3", 32, u32((a & 0xffffff) * (b & 0xffffff) + c))                                \
    X("sad.u32 %r0, %r1, %r2, %r3", 32, u32((a > b ? a - b : b - a) + c))                                             \
    X("sad.s32 %r0, %r1, %r2, %r3", 32, u32((uint64_t)(s32(a) > s32(b) ? s32(a) - s32(b) : s32(b) - s32(a)) + c))     \
    X("sad.s64 %d0, %d1, %d2, %d3", 64, ((int64_t)a > (int64_t)b ? a - b : b - a) + c)                                \
    X("div.u16 %h0, %h1, %h2", 16, b ? a / b : 0xffff) \
    X("div.s16 %h0, %h1, %h2", 16, b ? u16((uint64_t)(s16(a) / s16(b))) : 0xffff) \
    X("div.u32 %r0, %r1, %r2", 32, b ? a / b : UINT32_MAX) \
    X("div.s32 %r0, %r1, %r2", 32, b ? u32((uint64_t)(s32(a) / s32(b))) : UINT32_MAX) \
    X("div.u64 %d0, %d1, %d2", 64, b ? a / b : UINT64_MAX)                                                            \
    X("div.s64 %d0, %d1, %d2", 64, !b ? UINT64_MAX : b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b))   \
    X("rem.u16 %h0, %h1, %h2", 16, b ? a % b : a) \
    X("rem.s16 %h0, %h1, %h2", 16, b ? u16((uint64_t)(s16(a) % s16(b))) : a) \
    X("rem.u32 %r0, %r1, %r2", 32, b ? a % b : a) \
    X("rem.s32 %r0, %r1, %r2", 32, b ? u32((uint64_t)(s32(a) % s32(b))) : a) \
    X("rem.u64 %d0, %d1, %d2", 64, b ? a % b : a)                                                                     \
    X("rem.s64 %d0, %d1, %d2", 64, !b ? a : b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b))                \
    X("neg.s16 %h0, %h1", 16, u16(0 - a)) X("neg.s32 %r0, %r1", 32, u32(0 - a)) X("neg.s64 %d0, %d1", 64, 0 - a)      \
    X("abs.s16 %h0, %h1", 16, u16(s16(a) < 0 ? 0 - a : a)) X("abs.s32 %r0, %r1", 32, u32(s32(a) < 0 ? 0 - a : a))     \
    X("abs.s64 %d0, %d1", 64, (int64_t)a < 0 ? 0 - a : a)                                                             \
    X("min.u16 %h0, %h1, %h2", 16, a < b ? a : b) X("min.s16 %h0, %h1, %h2", 16, s16(a) < s16(b) ? a : b)             \
    X("min.u32 %r0, %r1, %r2", 32, a < b ? a : b) X("min.s32 %r0, %r1, %r2", 32, s32(a) < s32(b) ? a : b)             \
    X("max.u32 %r0, %r1, %r2", 32, a > b ? a : b) X("max.s32 %r0, %r1, %r2", 32, s32(a) > s32(b) ? a : b)             \
    X("min.s64 %d0, %d1, %d2", 64, (int64_t)a < (int64_t)b ? a : b) X("max.u64 %d0, %d1, %d2", 64, a > b ? a : b)     \
    X("and.b32 %r0, %r1, %r2", 32, a & b) X("or.b32 %r0, %r1, %r2", 32, a | b) X("xor.b32 %r0, %r1, %r2", 32, a ^ b)  \
    X("and.b16 %h0, %h1, %h2", 16, a & b) X("xor.b64 %d0, %d1, %d2", 64, a ^ b) X("or.b64 %d0, %d1, %d2", 64, a | b)  \
    X("not.b32 %r0, %r1", 32, u32(~a)) X("not.b16 %h0, %h1", 16, u16(~a)) X("not.b64 %d0, %d1", 64, ~a)               \
    X("cnot.b32 %r0, %r1", 32, !a) X("cnot.b16 %h0, %h1", 16, !a) X("cnot.b64 %d0, %d1", 64, !a)                      \
    X("shl.b16 %h0, %h1, %r2", 16, b > 15 ? 0 : u16(a << b)) X("shl.b32 %r0, %r1, %r2", 32, b > 31 ? 0 : u32(a << b)) \
    X("shl.b64 %d0, %d1, %r2", 64, b > 63 ? 0 : a << b) X("shr.u16 %h0, %h1, %r2", 16, b > 15 ? 0 : a >> b)           \
    X("shr.s16 %h0, %h1, %r2", 16, u16((uint64_t)(s16(a) >> (b > 15 ? 15 : b)))) \
    X("shr.u32 %r0, %r1, %r2", 32, b > 31 ? 0 : a >> b) \
    X("shr.s32 %r0, %r1, %r2", 32, u32((uint64_t)(s32(a) >> (b > 31 ? 31 : b)))) \
    X("shr.b32 %r0, %r1, %r2", 32, b > 31 ? 0 : a >> b) \
    X("shr.u64 %d0, %d1, %r2", 64, b > 63 ? 0 : a >> b) \
    X("shr.s64 %d0, %d1, %r2", 64, (uint64_t)((int64_t)a >> (b > 63 ? 63 : b))) \
    X("shf.l.wrap.b32 %r0, %r1, %r2, %r3", 32, u32((a | b << 32) << (c & 31) >> 32))                                  \
    X("shf.r.wrap.b32 %r0, %r1, %r2, %r3", 32, u32((a | b << 32) >> (c & 31)))                                        \
    X("shf.l.clamp.b32 %r0, %r1, %r2, %r3", 32, u32((a | b << 32) << (c > 32 ? 32 : c) >> 32))                        \
    X("shf.r.clamp.b32 %r0, %r1, %r2, %r3", 32, u32((a | b << 32) >> (c > 32 ? 32 : c)))                              \
    X("bfe.u32 %r0, %r1, %r2, %r3", 32, bit_field(a, b, c, 32, 0)) \
    X("bfe.s32 %r0, %r1, %r2, %r3", 32, bit_field(a, b, c, 32, 1)) \
    X("bfe.u64 %d0, %d1, %r2, %r3", 64, bit_field(a, b, c, 64, 0)) \
    X("bfe.s64 %d0, %d1, %r2, %r3", 64, bit_field(a, b, c, 64, 1)) \
    X("bfi.b32 %r0, %r1, %r2, %r3, %r4", 32, insert(a, b, c, e, 32)) \
    X("bfi.b64 %d0, %d1, %d2, %r3, %r4", 64, insert(a, b, c, e, 64)) \
    X("prmt.b32 %r0, %r1, %r2, %r3", 32, permuted(a, b, c)) \
    X("prmt.b32.f4e %r0, %r1, %r2, %r3", 32, u32((a | b << 32) >> (8 * (c & 3)))) \
    X("prmt.b32.rc8 %r0, %r1, %r2, %r3", 32, (a >> (8 * (c & 3)) & 0xff) * 0x01010101u)                               \
    X("prmt.b32.rc16 %r0, %r1, %r2, %r3", 32, (a >> (16 * (c & 1)) & 0xffff) * 0x00010001u)                           \
    X("prmt.b32.ecl %r0, %r1, %r2, %r3", 32, \
      permuted(a, b, (c & 3) == 0 ? 0x3210 : (c & 3) == 1 ? 0x3211 : (c & 3) == 2 ? 0x3222 : 0x3333)) \
    X("prmt.b32.b4e %r0, %r1, %r2, %r3", 32, \
      permuted(a, b, (c & 3) == 0 ? 0x5670 : (c & 3) == 1 ? 0x6701 : (c & 3) == 2 ? 0x7012 : 0x0123)) \
    X("popc.b32 %r0, %r1", 32, ones(a)) X("popc.b64 %r0, %d1", 32, ones(a)) X("clz.b32 %r0, %r1", 32, zeros(a, 32))   \
    X("clz.b64 %r0, %d1", 32, zeros(a, 64)) \
    X("brev.b32 %r0, %r1", 32, reversed(a, 32)) \
    X("brev.b64 %d0, %d1", 64, reversed(a, 64)) \
    X("bfind.u32 %r0, %r1", 32, u32(31 - zeros(a, 32))) \
    X("bfind.shiftamt.u32 %r0, %r1", 32, a ? zeros(a, 32) : UINT32_MAX) \
    X("bfind.s32 %r0, %r1", 32, u32(31 - zeros(s32(a) < 0 ? u32(~a) : a, 32))) \
    X("bfind.u64 %r0, %d1", 32, u32(63 - zeros(a, 64))) \
    X("bfind.s64 %r0, %d1", 32, u32(63 - zeros((int64_t)a < 0 ? ~a : a, 64)))                                         \
    X("lop3.b32 %r0, %r1, %r2, %r3, 0x96", 32, a ^ b ^ c) \
    X("lop3.b32 %r0, %r1, %r2, %r3, 0xe8", 32, (a & b) | (a & c) | (b & c)) \
    X("lop3.b32 %r0, %r1, %r2, %r3, 0x1b", 32, u32((~a & ~b & ~c) | (~a & ~b & c) | (~a & b & c) | (a & ~b & ~c)))    \
    X("szext.wrap.s32 %r0, %r1, %r2", 32, b & 31 ? bit_field(a, 0, b & 31, 32, 1) : 0)                                \
    X("szext.clamp.u32 %r0, %r1, %r2", 32, b > 31 ? a : bit_field(a, 0, b, 32, 0))                                    \
    X("bmsk.wrap.b32 %r0, %r1, %r2", 32, u32(((UINT64_C(1) << (b & 31)) - 1) << (a & 31)))                            \
    X("dp4a.u32.s32 %r0, %r1, %r2, %r3", 32, dot(a, b, c, 4, 0, 1, 0)) \
    X("dp2a.lo.s32.u32 %r0, %r1, %r2, %r3", 32, dot(a, b, c, 2, 1, 0, 0)) \
    X("dp2a.hi.u32.s32 %r0, %r1, %r2, %r3", 32, dot(a, b, c, 2, 0, 1, 16))                                            \
    X("fns.b32 %r0, %r1, %r2, %r3", 32, nth_set(a, b, s32(c))) \
    X("prmt.b32.ecr %r0, %r1, %r2, %r3", 32, \
      permuted(a, b, (c & 3) == 0 ? 0 : (c & 3) == 1 ? 0x1110 : (c & 3) == 2 ? 0x2210 : 0x3210)) \
    X("mad24.hi.sat.s32 %r0, %r1, %r2, %r3", 32, \
      saturated_sum(s32(u32((uint64_t)(((int64_t)(a << 40) >> 40) * ((int64_t)(b << 40) >> 40)) >> 16)) + s32(c))) \
    X("bmsk.clamp.b32 %r0, %r1, %r2", 32, \
      a > 31 ? 0 : u32(((b > 31 ? UINT64_C(0xffffffff) : (UINT64_C(1) << b) - 1)) << a)) \
    X("sad.u16 %h0, %h1, %h2, %h3", 16, u16((a > b ? a - b : b - a) + c)) \
    X("min.s16 %h0, %h1, -5", 16, s16(a) < -5 ? a : 0xfffb) \
    X("dp4a.s32.s32 %r0, %r1, %r2, %r3", 32, dot4(a, b, c))                                                           \
    X("slct.b32.s32 %r0, %r1, %r2, %r3", 32, s32(c) >= 0 ? a : b) \
    X("slct.f32.f32 %f0, %f1, %f2, %f3", 32, f(c) >= 0 ? a : b) \
    X("slct.u64.s32 %d0, %d1, %d2, %r3", 64, s32(c) >= 0 ? a : b)                                                     \
    X("set.lt.u32.s32 %r0, %r1, %r2", 32, s32(a) < s32(b) ? UINT32_MAX : 0) \
    X("set.ge.f32.f32 %f0, %f1, %f2", 32, f(a) >= f(b) ? F(1) : 0) \
    X("set.gtu.u32.f32 %r0, %f1, %f2", 32, !(f(a) <= f(b)) ? UINT32_MAX : 0)                                          \
    X("mov.b32 %r0, %f1", 32, a) \
    X("mov.f64 %g0, %g1", 64, a) \
    X("mov.u16 %h0, %h1", 16, a) \
    X("mov.b64 %d0, {%r1, %r2}", 64, a | b << 32) \
    X("mov.b32 %r0, {%h1, %h2}", 32, a | b << 16) \
    X("mov.b64 {%r0, _}, %d1", 32, u32(a)) \
    X("mov.b64 {_, %r0}, %d1", 32, a >> 32) \
    X("mov.b32 {_, %h0}, %r1", 16, a >> 16) X("mov.b64 %d0, {%h1, %h2, %h3, %h4}", 64, a | b << 16 | c << 32 | e << 48)
/* clang-format on */

/* clang-format off */
#define FLOAT_ROWS(X)                                                                                                 \
    X("add.f32 %f0, %f1, %f2", 32, F(f(a) + f(b))) X("add.rn.ftz.f32 %f0, %f1, %f2", 32, Z(z(a) + z(b)))              \
    X("add.sat.f32 %f0, %f1, %f2", 32, saturated(f(a) + f(b))) X("sub.rn.f32 %f0, %f1, %f2", 32, F(f(a) - f(b)))      \
    X("mul.f32 %f0, %f1, %f2", 32, F(f(a) * f(b))) X("mul.ftz.f32 %f0, %f1, %f2", 32, Z(z(a) * z(b)))                 \
    X("fma.rn.f32 %f0, %f1, %f2, %f3", 32, F(fmaf(f(a), f(b), f(c)))) \
    X("mad.rn.f32 %f0, %f1, %f2, %f3", 32, F(fmaf(f(a), f(b), f(c)))) \
    X("fma.rn.sat.f32 %f0, %f1, %f2, %f3", 32, saturated(fmaf(f(a), f(b), f(c))))                                     \
    X("add.rz.f32 %f0, %f1, %f2", 32, under(FE_TOWARDZERO, 0, a, b, 0)) \
    X("mul.rm.f32 %f0, %f1, %f2", 32, under(FE_DOWNWARD, 1, a, b, 0)) \
    X("fma.rm.f32 %f0, %f1, %f2, %f3", 32, under(FE_DOWNWARD, 2, a, b, c)) \
    X("fma.rp.f32 %f0, %f1, %f2, %f3", 32, under(FE_UPWARD, 2, a, b, c)) \
    X("div.rz.f32 %f0, %f1, %f2", 32, under(FE_TOWARDZERO, 3, a, b, 0)) \
    X("sqrt.rp.f32 %f0, %f1", 32, under(FE_UPWARD, 4, a, 0, 0)) \
    X("div.rn.f32 %f0, %f1, %f2", 32, F(f(a) / f(b))) \
    X("div.approx.f32 %f0, %f1, %f2", 32, F((float)((double)f(a) / (double)f(b)))) \
    X("div.full.ftz.f32 %f0, %f1, %f2", 32, Z((float)((double)z(a) / (double)z(b))))                                  \
    X("sqrt.rn.f32 %f0, %f1", 32, F(sqrtf(f(a)))) X("sqrt.approx.f32 %f0, %f1", 32, F((float)sqrt((double)f(a))))     \
    X("rcp.rn.f32 %f0, %f1", 32, F(1.0f / f(a))) X("rcp.approx.ftz.f32 %f0, %f1", 32, Z((float)(1.0 / (double)z(a)))) \
    X("rsqrt.approx.f32 %f0, %f1", 32, F((float)(1.0 / sqrt((double)f(a))))) \
    X("sin.approx.f32 %f0, %f1", 32, F((float)sin((double)f(a)))) \
    X("cos.approx.ftz.f32 %f0, %f1", 32, Z((float)cos((double)z(a)))) \
    X("lg2.approx.f32 %f0, %f1", 32, F((float)log2((double)f(a)))) \
    X("ex2.approx.ftz.f32 %f0, %f1", 32, Z((float)exp2((double)z(a)))) \
    X("tanh.approx.f32 %f0, %f1", 32, F((float)tanh((double)f(a)))) \
    X("neg.f32 %f0, %f1", 32, a ^ 0x80000000u) X("abs.f32 %f0, %f1", 32, a & 0x7fffffffu)                             \
    X("min.f32 %f0, %f1, %f2", 32, least(a, b)) X("max.f32 %f0, %f1, %f2", 32, most(a, b))                            \
    X("min.NaN.f32 %f0, %f1, %f2", 32, isnan(f(a)) || isnan(f(b)) ? 0x7fffffffu : least(a, b))                        \
    X("copysign.f32 %f0, %f1, %f2", 32, (a & 0x80000000u) | (b & 0x7fffffffu))                                        \
    X("add.f64 %g0, %g1, %g2", 64, G(g(a) + g(b))) \
    X("sub.f64 %g0, %g1, %g2", 64, G(g(a) - g(b))) \
    X("mul.rn.f64 %g0, %g1, %g2", 64, G(g(a) * g(b))) \
    X("fma.rn.f64 %g0, %g1, %g2, %g3", 64, G(fma(g(a), g(b), g(c)))) X("div.rn.f64 %g0, %g1, %g2", 64, G(g(a) / g(b))) \
    X("sqrt.rn.f64 %g0, %g1", 64, G(sqrt(g(a)))) X("rcp.rn.f64 %g0, %g1", 64, G(1.0 / g(a)))                          \
    X("min.f64 %g0, %g1, %g2", 64, \
      isnan(g(a)) ? G(g(b)) : isnan(g(b)) ? a : g(a) < g(b) || (g(a) == g(b) && a >> 63) ? a : b) \
    X("max.f64 %g0, %g1, %g2", 64, \
      isnan(g(a)) ? G(g(b)) : isnan(g(b)) ? a : g(a) > g(b) || (g(a) == g(b) && !(a >> 63)) ? a : b) \
    X("rsqrt.approx.f64 %g0, %g1", 64, G(1.0 / sqrt(g(a)))) \
    X("max.ftz.f32 %f0, %f1, %f2", 32, most(Z(z(a)), Z(z(b)))) \
    X("set.eq.xor.u32.u64 %r0, %d1, %d2, %p3", 32, (a == b) != (c != 0) ? UINT32_MAX : 0)                             \
    X("neg.f64 %g0, %g1", 64, a ^ UINT64_C(1) << 63) X("abs.f64 %g0, %g1", 64, a & ~(UINT64_C(1) << 63))              \
    X("copysign.f64 %g0, %g1, %g2", 64, (a & UINT64_C(1) << 63) | (b & ~(UINT64_C(1) << 63)))                         \
    X("cvt.rzi.s32.f32 %r0, %f1", 32, to_s32(trunc(f(a)))) X("cvt.rni.s32.f32 %r0, %f1", 32, to_s32(rint(f(a))))      \
    X("cvt.rmi.s32.f32 %r0, %f1", 32, to_s32(floor(f(a)))) X("cvt.rpi.u32.f32 %r0, %f1", 32, to_u32(ceil(f(a))))      \
    X("cvt.rzi.s64.f32 %d0, %f1", 64, to_s64(trunc(f(a)))) X("cvt.rzi.u64.f64 %d0, %g1", 64, to_u64(trunc(g(a))))     \
    X("cvt.rzi.s32.f64 %r0, %g1", 32, isnan(g(a)) ? 0x80000000u : to_s32(trunc(g(a))))                                \
    X("cvt.rzi.s16.f32 %h0, %f1", 16, \
      isnan(f(a)) ? 0 : u16((uint64_t)(int64_t)fmax(fmin(trunc(f(a)), 32767.0), -32768.0))) \
    X("cvt.rzi.u8.f32 %h0, %f1", 16, isnan(f(a)) ? 0 : (uint64_t)fmax(fmin(trunc(f(a)), 255.0), 0.0))                 \
    X("cvt.f64.f32 %g0, %f1", 64, G((double)f(a))) X("cvt.rn.f32.f64 %f0, %g1", 32, F((float)g(a)))                   \
    X("cvt.rz.f32.f64 %f0, %g1", 32, narrowed(FE_TOWARDZERO, a)) \
    X("cvt.rp.f32.f64 %f0, %g1", 32, narrowed(FE_UPWARD, a)) \
    X("cvt.rni.f32.f32 %f0, %f1", 32, F(rintf(f(a)))) X("cvt.rmi.f32.f32 %f0, %f1", 32, F(floorf(f(a))))              \
    X("cvt.rzi.f64.f64 %g0, %g1", 64, G(trunc(g(a)))) X("cvt.sat.f32.f32 %f0, %f1", 32, saturated(f(a)))              \
    X("cvt.ftz.f32.f32 %f0, %f1", 32, Z(z(a)))
/* clang-format on */

/* clang-format off */
#define INTEGER_CONVERSIONS(X)                                                                                        \
    X("cvt.rn.f32.s32 %f0, %r1", 32, F((float)(int32_t)a)) X("cvt.rn.f32.u32 %f0, %r1", 32, F((float)(uint32_t)a))    \
    X("cvt.rn.f32.u64 %f0, %d1", 32, F((float)a)) X("cvt.rn.f32.s64 %f0, %d1", 32, F((float)(int64_t)a))              \
    X("cvt.rn.f64.s32 %g0, %r1", 64, G((double)(int32_t)a)) X("cvt.rn.f64.u64 %g0, %d1", 64, G((double)a))            \
    X("cvt.rn.f32.u8 %f0, %h1", 32, F((float)(uint8_t)a)) X("cvt.rn.f32.s16 %f0, %h1", 32, F((float)s16(a)))          \
    X("cvt.u64.u32 %d0, %r1", 64, a) \
    X("cvt.s64.s32 %d0, %r1", 64, (uint64_t)s32(a)) \
    X("cvt.u32.u64 %r0, %d1", 32, u32(a)) \
    X("cvt.u16.u32 %h0, %r1", 16, u16(a)) \
    X("cvt.s32.s16 %r0, %h1", 32, u32((uint64_t)s16(a))) \
    X("cvt.u32.u16 %r0, %h1", 32, a) \
    X("cvt.s16.s8 %h0, %h1", 16, u16((uint64_t)s8(a))) X("cvt.u32.u8 %r0, %r1", 32, a & 0xff)                         \
    X("cvt.s32.s8 %r0, %r1", 32, u32((uint64_t)s8(a))) X("cvt.s8.s32 %h0, %r1", 16, u16((uint64_t)s8(a)))             \
    X("cvt.sat.u8.s32 %r0, %r1", 32, (uint64_t)clamp(s32(a), 0, 255)) \
    X("cvt.sat.s16.u32 %h0, %r1", 16, a > 32767 ? 32767 : a) \
    X("cvt.sat.s8.s64 %h0, %d1", 16, u16((uint64_t)clamp((int64_t)a, -128, 127))) \
    X("cvt.sat.u32.s64 %r0, %d1", 32, (uint64_t)clamp((int64_t)a, 0, UINT32_MAX))
/* clang-format on */

/* Predicate results: the expression is the truth of one lane. */
/* clang-format off */
#define PREDICATE_ROWS(X)                                                                                             \
    X("setp.eq.s32 %p0, %r1, %r2", 0, a == b) \
    X("setp.ne.b64 %p0, %d1, %d2", 0, a != b) \
    X("setp.lt.s32 %p0, %r1, %r2", 0, s32(a) < s32(b)) \
    X("setp.lt.u32 %p0, %r1, %r2", 0, a < b) \
    X("setp.hs.u32 %p0, %r1, %r2", 0, a >= b) \
    X("setp.ne.s32 %p0, %r1, %r2", 0, a != b) \
    X("setp.gt.s32 %p0, %r1, %r2", 0, s32(a) > s32(b)) \
    X("setp.le.s32 %p0, %r1, %r2", 0, s32(a) <= s32(b)) \
    X("setp.ge.s32 %p0, %r1, -3", 0, s32(a) >= -3) \
    X("setp.gt.u32 %p0, %r1, %r2", 0, a > b) \
    X("setp.le.u32 %p0, %r1, 7", 0, a <= 7) \
    X("setp.lt.f32 %p0, %f1, %f2", 0, f(a) < f(b)) \
    X("setp.gt.f32 %p0, %f1, %f2", 0, f(a) > f(b)) \
    X("setp.le.f32 %p0, %f1, %f2", 0, f(a) <= f(b)) \
    X("setp.ge.f32 %p0, %f1, 0f3F800000", 0, f(a) >= 1) \
    X("add.s64 %d0, %d1, -5", 64, a - 5) \
    X("or.pred %p0, %p1, %p2", 0, a || b) \
    X("setp.le.s16 %p0, %h1, %h2", 0, s16(a) <= s16(b)) \
    X("setp.gt.u16 %p0, %h1, %h2", 0, a > b) X("setp.ge.s64 %p0, %d1, %d2", 0, (int64_t)a >= (int64_t)b)              \
    X("setp.eq.f32 %p0, %f1, %f2", 0, f(a) == f(b)) X("setp.ne.f32 %p0, %f1, %f2", 0, f(a) < f(b) || f(a) > f(b))     \
    X("setp.lt.ftz.f32 %p0, %f1, %f2", 0, z(a) < z(b)) \
    X("setp.equ.f32 %p0, %f1, %f2", 0, !(f(a) < f(b) || f(a) > f(b))) \
    X("setp.neu.f32 %p0, %f1, %f2", 0, !(f(a) == f(b))) X("setp.ltu.f32 %p0, %f1, %f2", 0, !(f(a) >= f(b)))           \
    X("setp.leu.f64 %p0, %g1, %g2", 0, !(g(a) > g(b))) X("setp.gtu.f64 %p0, %g1, %g2", 0, !(g(a) <= g(b)))            \
    X("setp.geu.f32 %p0, %f1, %f2", 0, !(f(a) < f(b))) \
    X("setp.num.f32 %p0, %f1, %f2", 0, !isnan(f(a)) && !isnan(f(b))) \
    X("setp.nan.f64 %p0, %g1, %g2", 0, isnan(g(a)) || isnan(g(b)))                                                    \
    X("setp.lt.and.s32 %p0, %r1, %r2, %p3", 0, s32(a) < s32(b) && c) \
    X("setp.lt.or.s32 %p0, %r1, %r2, !%p3", 0, s32(a) < s32(b) || !c) \
    X("setp.eq.xor.u32 %p0, %r1, %r2, %p3", 0, (a == b) != (c != 0)) \
    X("setp.lt.and.s32 _|%p0, %r1, %r2, %p3", 0, s32(a) >= s32(b) && c) \
    X("and.pred %p0, %p1, %p2", 0, a && b) \
    X("xor.pred %p0, %p1, !%p2", 0, (a != 0) != !b) \
    X("not.pred %p0, %p1", 0, !a) \
    X("mov.pred %p0, %p1", 0, a) X("mov.pred %p0, 1", 0, 1)                                                           \
    X("testp.finite.f32 %p0, %f1", 0, isfinite(f(a))) \
    X("testp.infinite.f64 %p0, %g1", 0, isinf(g(a))) \
    X("testp.number.f32 %p0, %f1", 0, !isnan(f(a))) \
    X("testp.notanumber.f32 %p0, %f1", 0, isnan(f(a))) X("testp.normal.f32 %p0, %f1", 0, isnormal(f(a)))              \
    X("testp.subnormal.f64 %p0, %g1", 0, fpclassify(g(a)) == FP_SUBNORMAL)                                            \
    X("isspacep.shared %p0, %d1", 0, a - GENERIC_SHARED_BASE < GENERIC_WINDOW_BYTES) \
    X("isspacep.global %p0, %d1", 0, a - GENERIC_SHARED_BASE >= 3 * GENERIC_WINDOW_BYTES)
/* clang-format on */

/* clang-format off */
#define SELECTION_ROWS(X)                                                                                             \
    X("selp.b32 %r0, %r1, %r2, %p3", 32, c ? a : b) \
    X("selp.f64 %g0, %g1, %g2, !%p3", 64, c ? b : a) \
    X("selp.u16 %h0, %h1, 7, %p3", 16, c ? a : 7) \
    X("cvta.shared.u64 %d0, %d1", 64, a + GENERIC_SHARED_BASE) \
    X("cvta.to.local.u64 %d0, %d1", 64, a - GENERIC_LOCAL_BASE) \
    X("cvta.to.global.u64 %d0, %d1", 64, a)
/* clang-format on */

/* clang-format off */
#define HALF_ROWS(X)                                                                                                  \
    X("add.f16 %h0, %h1, %h2", 16, H(sticky(h(a), h(b)))) X("add.rn.bf16 %h0, %h1, %h2", 16, BF(sticky(bf(a), bf(b)))) \
    X("sub.f16 %h0, %h1, %h2", 16, H(sticky(h(a), -h(b)))) X("sub.bf16 %h0, %h1, %h2", 16, BF(sticky(bf(a), -bf(b)))) \
    X("mul.f16 %h0, %h1, %h2", 16, H(h(a) * h(b))) X("mul.bf16 %h0, %h1, %h2", 16, BF(bf(a) * bf(b))) \
    X("fma.rn.f16 %h0, %h1, %h2, %h3", 16, H(sticky(h(a) * h(b), h(c)))) \
    X("fma.rn.bf16 %h0, %h1, %h2, %h3", 16, BF(sticky(bf(a) * bf(b), bf(c)))) \
    X("add.sat.f16 %h0, %h1, %h2", 16, H(unit(sticky(h(a), h(b))))) \
    X("mul.ftz.f16 %h0, %h1, %h2", 16, flushed_half(H(h(flushed_half(a)) * h(flushed_half(b))))) \
    X("fma.rn.relu.f16 %h0, %h1, %h2, %h3", 16, \
      sticky(h(a) * h(b), h(c)) <= 0 ? 0 : H(sticky(h(a) * h(b), h(c)))) \
    X("neg.f16 %h0, %h1", 16, (a ^ 0x8000) & 0xffff) X("abs.bf16 %h0, %h1", 16, a & 0x7fff) \
    X("neg.ftz.f16 %h0, %h1", 16, flushed_half(a) ^ 0x8000) \
    X("min.f16 %h0, %h1, %h2", 16, half_extreme(a, b, 10, 0, 0)) \
    X("max.f16 %h0, %h1, %h2", 16, half_extreme(a, b, 10, 1, 0)) \
    X("max.NaN.bf16 %h0, %h1, %h2", 16, half_extreme(a, b, 7, 1, 1)) \
    X("ex2.approx.f16 %h0, %h1", 16, H(exp2(h(a)))) X("tanh.approx.bf16 %h0, %h1", 16, BF(tanh(bf(a)))) \
    X("add.f16x2 %r0, %r1, %r2", 32, pair(H(sticky(h(a), h(b))), H(sticky(h(a >> 16), h(b >> 16))))) \
    X("fma.rn.bf16x2 %r0, %r1, %r2, %r3", 32, \
      pair(BF(sticky(bf(a) * bf(b), bf(c))), BF(sticky(bf(a >> 16) * bf(b >> 16), bf(c >> 16))))) \
    X("mul.f16x2 %r0, %r1, %r2", 32, pair(H(h(a) * h(b)), H(h(a >> 16) * h(b >> 16)))) \
    X("neg.bf16x2 %r0, %r1", 32, u32(a) ^ 0x80008000u) \
    X("min.NaN.f16x2 %r0, %r1, %r2", 32, \
      pair(half_extreme(a, b, 10, 0, 1), half_extreme(a >> 16, b >> 16, 10, 0, 1))) \
    X("setp.lt.f16 %p0, %h1, %h2", 0, h(a) < h(b)) X("setp.geu.bf16 %p0, %h1, %h2", 0, !(bf(a) < bf(b))) \
    X("setp.eq.and.f16x2 %p0|%p4, %r1, %r2, %p3", 0, h(a) == h(b) && c) \
    X("set.gt.f16.f16 %h0, %h1, %h2", 16, h(a) > h(b) ? 0x3c00 : 0) \
    X("set.le.u32.f16 %r0, %h1, %h2", 32, h(a) <= h(b) ? UINT32_MAX : 0) \
    X("set.neu.bf16x2.bf16x2 %r0, %r1, %r2", 32, \
      pair(bf(a) == bf(b) ? 0 : 0x3f80, bf(a >> 16) == bf(b >> 16) ? 0 : 0x3f80)) \
    X("set.lt.u32.f16x2 %r0, %r1, %r2", 32, \
      pair(h(a) < h(b) ? 0xffff : 0, h(a >> 16) < h(b >> 16) ? 0xffff : 0)) \
    X("cvt.rn.bf16.f32 %h0, %f1", 16, BF((double)f(a))) X("cvt.rn.f16.f64 %h0, %g1", 16, H(g(a))) \
    X("cvt.f32.bf16 %f0, %h1", 32, F((float)bf(a))) X("cvt.rn.f16.s32 %h0, %r1", 16, H((double)s32(a))) \
    X("cvt.rn.f16x2.f32 %r0, %f1, %f2", 32, pair(H((double)f(b)), H((double)f(a)))) \
    X("cvt.rn.relu.bf16x2.f32 %r0, %f1, %f2", 32, \
      pair(f(b) <= 0 ? 0 : BF((double)f(b)), f(a) <= 0 ? 0 : BF((double)f(a)))) \
    X("cvt.rna.tf32.f32 %r0, %f1", 32, tf32(a)) \
    X("vabsdiff4.u32.u32.u32 %r0, %r1, %r2, %r3", 32, byte_distances(a, b, c, 0, 0)) \
    X("vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3", 32, byte_distances(a, b, c, 0, 1)) \
    X("vabsdiff4.s32.s32.s32.add %r0, %r1, %r2, %r3", 32, byte_distances(a, b, c, 1, 1)) \
    X("cvt.rzi.s32.bf16 %r0, %h1", 32, to_s32(bf(a)))
/* clang-format on */

#define ALL_ROWS(X) HALF_ROWS(X) ROWS(X) FLOAT_ROWS(X) INTEGER_CONVERSIONS(X) PREDICATE_ROWS(X) SELECTION_ROWS(X)

typedef struct row {
    const char *text;
    uint32_t bits; /* of the destination; 0: a predicate */
} row;
static const row rows[] = {
#define ROW(text, bits, expression) {text, bits},
    ALL_ROWS(ROW)
#undef ROW
};
#define ROW_COUNT (sizeof rows / sizeof *rows)

/* What row `number` gives. The chain folds into a jump table. */
static uint64_t expected(uint32_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t e) {
    uint32_t n = 0;
    (void)e;
#define ROW(text, bits, expression) \
    if (number == n++) return (uint64_t)(expression);
    ALL_ROWS(ROW)
#undef ROW
    return 0;
}

/* One kernel with every row as an instruction. */
static ptx_module read_rows(void) {
    static char text[65536];
    ptx_module module;
    ptx_error error;
    size_t length = (size_t)snprintf(text, sizeof text,
                                     ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n.reg .pred "
                                     "%%p<8>;\n.reg .b16 %%h<8>;\n.reg .b32 %%r<8>;\n"
                                     ".reg .f32 %%f<8>;\n.reg .b64 %%d<8>;\n.reg .f64 %%g<8>;\n");
    for (uint32_t i = 0; i < ROW_COUNT; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s;\n", rows[i].text);
    length += (size_t)snprintf(text + length, sizeof text - length, "ret;\n}\n");
    if (ptx_read(text, length, "rows.ptx", &module, &error)) fail_msg("%s", error.text);
    if (module.refusal_count) fail_msg("%s", module.refusals[0].text);
    assert_int_equal(module.kernels[0].count, ROW_COUNT + 1);
    return module;
}

static const uint32_t words32[] = {
    0,          1,          2,          3,          7,          8,          15,         16,         17,
    24,         31,         32,         33,         63,         64,         65,         255,        256,
    0x7fff,     0x8000,     0xffff,     0x10000,    0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe,
    0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 0x00000001, 0x007fffff, 0x00800000, 0x807fffff,
    0x3f800000, 0xbf800000, 0x3f000000, 0x3effffff, 0x40490fdb, 0x7f7fffff, 0xff7fffff, 0x4b800000, 0x4f000000,
    0xcf000000, 0x4f800000, 0x5f000000, 0x3fc00000, 0x40200000, 0x33800000, 0xb3800000, 0x437f0000, 0x477fffff,
    0x000055aa, 0x7531,     0x3210,     0xba98};
static const uint64_t words64[] = {0,
                                   1,
                                   2,
                                   63,
                                   64,
                                   65,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   UINT64_C(0x100000000),
                                   INT64_MAX,
                                   UINT64_C(1) << 63,
                                   UINT64_MAX,
                                   UINT64_C(0x7ff0000000000000),
                                   UINT64_C(0xfff0000000000000),
                                   UINT64_C(0x7ff8000000000000),
                                   UINT64_C(0x7ff0000000000001),
                                   UINT64_C(0x000fffffffffffff),
                                   UINT64_C(0x0010000000000000),
                                   1,
                                   UINT64_C(0x3ff0000000000000),
                                   UINT64_C(0xbff0000000000000),
                                   UINT64_C(0x7fefffffffffffff),
                                   UINT64_C(0x41dfffffffc00000),
                                   UINT64_C(0x41e0000000000000),
                                   UINT64_C(0x43e0000000000000),
                                   UINT64_C(0x43f0000000000000),
                                   UINT64_C(0xc3e0000000000000),
                                   UINT64_C(0x3690000000000000),
                                   UINT64_C(0x47efffffe0000000),
                                   UINT64_C(0x47efffffefffffff),
                                   UINT64_C(0x47effffff0000000),
                                   UINT64_C(0x3ff0000010000000),
                                   UINT64_C(0x3ff0000010000001),
                                   GENERIC_SHARED_BASE,
                                   GENERIC_SHARED_BASE - 1,
                                   GENERIC_SHARED_BASE + 12,
                                   GENERIC_LOCAL_BASE,
                                   UINT64_C(0x8000008000000001),
                                   UINT64_C(0xffffff7fffffffff)};

/* A double of moderate size, which random bits seldom are. */
static uint64_t f64_like(uint64_t any) {
    return (any & UINT64_C(0x800fffffffffffff)) | (UINT64_C(0x3e8) + (any >> 56 & 31)) << 52;
}
static uint64_t f32_like(uint64_t any) { return (any >> 32 & 0x807fffffu) | (0x78 + (any >> 5 & 15)) << 23; }

static uint64_t adversarial(uint64_t *seed, uint32_t bytes) {
    uint64_t any = gpump_random_next(seed);
    if (any & 3)
        any = bytes == 8 ? words64[(any >> 8) % (sizeof words64 / sizeof *words64)]
                         : words32[(any >> 8) % (sizeof words32 / sizeof *words32)];
    else if (any & 4)
        any = bytes == 8 ? f64_like(any) : f32_like(any);
    if (bytes == 2 && (any >> 40 & 1)) { /* the edges of f16 and bf16 are not those of integers */
        static const uint16_t edges[] = {0x0001, 0x03ff, 0x0400, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0xfc00,
                                         0x3c00, 0xbc00, 0x3c01, 0x007f, 0x0080, 0x7f7f, 0x7f80, 0x7f81,
                                         0xff80, 0x3f80, 0xbf80, 0x3f81, 0x1400, 0x9400, 0x6400, 0x6401,
                                         0x7bfe, 0xfbff, 0x0000, 0x8000, 0x8001, 0x83ff};
        return edges[(any >> 41) % (sizeof edges / sizeof *edges)];
    }
    return bytes == 8 ? any : bytes == 4 ? (uint32_t)any : (uint16_t)any;
}

/* The register file's own view of an operand in one lane. */
static uint64_t operand_lane(const operand *o, const uint32_t *registers, const uint32_t *predicates, uint32_t lane) {
    if (o->kind == OPERAND_PREDICATE) return predicates[o->index] >> lane & 1;
    if (o->kind == OPERAND_IMMEDIATE) return o->immediate;
    if (o->kind != OPERAND_REGISTER) return 0;
    return registers[o->index * 32 + lane] |
           (o->words == 2 ? (uint64_t)registers[(o->index + 1) * 32 + lane] << 32 : 0);
}

/* Each opcode with random and with extreme operands beside a formula in C. */
static void every_opcode_beside_its_formula(void **state) {
    ptx_module module = read_rows();
    const kernel_program *kernel = &module.kernels[0];
    uint64_t seed = test_seed(), cases = test_cases(1000);
    uint32_t *registers = malloc((kernel->registers + 1) * 32 * sizeof *registers), predicates[16],
             *before = malloc((kernel->registers + 1) * 32 * sizeof *before);
    lanes_environment environment;
    (void)state;
    memset(&environment, 0, sizeof environment);
    assert_true(kernel->predicates <= 16);
    for (uint64_t number = 0; number < cases; number++)
        for (uint32_t r = 0; r < ROW_COUNT; r++) {
            const instruction *i = &kernel->instructions[r];
            lanes_operand sources[INSTRUCTION_SOURCES], destinations[INSTRUCTION_DESTINATIONS];
            uint32_t predicates_before[16], active = number & 1 ? UINT32_MAX : (uint32_t)gpump_random_next(&seed);
            for (uint32_t p = 0; p < 16; p++) predicates[p] = predicates_before[p] = (uint32_t)gpump_random_next(&seed);
            for (uint32_t k = 0; k < i->source_count; k++)
                for (uint32_t l = 0; l < 32 && i->sources[k].kind == OPERAND_REGISTER; l++) {
                    uint64_t v = adversarial(&seed, i->sources[k].bytes);
                    registers[i->sources[k].index * 32 + l] = (uint32_t)v;
                    if (i->sources[k].words == 2) registers[(i->sources[k].index + 1) * 32 + l] = (uint32_t)(v >> 32);
                }
            memcpy(before, registers, kernel->registers * 32 * sizeof *registers);
            lanes_read_sources(i, registers, predicates, &environment, sources);
            lanes_compute(i, active, sources, destinations);
            for (uint32_t k = 0; k < i->destination_count; k++)
                lanes_write(&i->destinations[k], active, &destinations[k], registers, predicates);
            const operand *result = &i->destinations[0];
            while (result->kind == OPERAND_NONE) result++;
            for (uint32_t l = 0; l < 32; l++) {
                uint64_t x[4] = {0, 0, 0, 0}, want, got = operand_lane(result, registers, predicates, l);
                for (uint32_t k = 0; k < i->source_count && k < 4; k++)
                    x[k] = operand_lane(&i->sources[k], before, predicates_before, l);
                if (active >> l & 1) {
                    want = expected(r, x[0], x[1], x[2], x[3]);
                    if (rows[r].bits == 0) want = want != 0;
                } else
                    want = operand_lane(result, before, predicates_before, l);
                if (got != want)
                    fail_msg("%s: lane %u (%s): a=%llx b=%llx c=%llx e=%llx: got %llx, want %llx "
                             "(GPUMP_TEST_SEED=%llu, case %llu)",
                             rows[r].text, l, active >> l & 1 ? "active" : "inactive", (unsigned long long)x[0],
                             (unsigned long long)x[1], (unsigned long long)x[2], (unsigned long long)x[3],
                             (unsigned long long)got, (unsigned long long)want, (unsigned long long)test_seed(),
                             (unsigned long long)number);
            }
        }
    free(registers);
    free(before);
    ptx_free(&module);
}

/* Executes an instruction both ways on the same registers, which must look the same then. */
static void compare_quick(const instruction *i, const lanes_quick *quick, uint32_t words, uint64_t *seed,
                          const char *text) {
    uint32_t *registers = malloc(2 * (size_t)words * sizeof *registers), *other = registers + words;
    uint32_t predicates[16], other_predicates[16], k;
    const uint32_t active = gpump_random_next(seed) & 1 ? UINT32_MAX : (uint32_t)gpump_random_next(seed);
    lanes_operand sources[INSTRUCTION_SOURCES], results[INSTRUCTION_DESTINATIONS];
    lanes_environment environment;
    memset(&environment, 0, sizeof environment);
    for (k = 0; k < words; k++) registers[k] = other[k] = (uint32_t)adversarial(seed, 4);
    for (k = 0; k < 16; k++) predicates[k] = other_predicates[k] = (uint32_t)gpump_random_next(seed);
    lanes_quick_execute(quick, active, registers, predicates);
    lanes_read_sources(i, other, other_predicates, &environment, sources);
    lanes_compute(i, active, sources, results);
    lanes_write_all(i, active, results, other, other_predicates);
    for (k = 0; k < words; k++)
        if (registers[k] != other[k])
            fail_msg("%s: register %u lane %u is %x, not %x", text, k / 32, k % 32, registers[k], other[k]);
    assert_memory_equal(predicates, other_predicates, sizeof predicates);
    free(registers);
}

/* lanes_quick: every operation there, also where the result's registers are those of a source or begin in one. */
static void test_simple_instructions(void **state) {
    ptx_module module = read_rows();
    const kernel_program *kernel = &module.kernels[0];
    uint64_t seed = test_seed() + 7, cases = test_cases(100), number;
    uint32_t seen[QUICK_COUNT], r, k, shift, operation;
    (void)state;
    memset(seen, 0, sizeof seen);
    for (r = 0; r < ROW_COUNT; r++)
        for (k = 0; k < 7; k++) { /* as it stands; from each source's first register on; from its second one on */
            instruction i = kernel->instructions[r];
            const operand *source = &i.sources[k ? (k - 1) / 2 : 0];
            uint32_t *constants, count;
            lanes_quick quick;
            shift = k ? (k - 1) % 2 : 0;
            if (k && (source->kind != OPERAND_REGISTER || i.destinations[0].kind != OPERAND_REGISTER ||
                      (k - 1) / 2 >= i.source_count))
                continue;
            if (k) i.destinations[0].index = source->index + shift;
            count = lanes_quick_prepare(&i, NULL, 0, &quick);
            if (!quick.operation) continue;
            constants = malloc((count + 1) * sizeof *constants);
            assert_int_equal(lanes_quick_prepare(&i, constants, 0, &quick), count);
            seen[quick.operation]++;
            for (number = 0; number < cases; number++)
                compare_quick(&i, &quick, (kernel->registers + 3) * 32, &seed, rows[r].text);
            free(constants);
        }
    ptx_free(&module);
    for (operation = QUICK_NONE + 1; operation < QUICK_COUNT; operation++)
        if (!seen[operation]) fail_msg("no row has simple operation %u", operation);
}

/* Reads one instruction with everything declared. */
static instruction one(const char *text, ptx_module *module) {
    char whole[2048];
    ptx_error error;
    int length = snprintf(whole, sizeof whole,
                          ".version 8.0\n.target sm_75\n.address_size 64\n.global .texref t;\n.visible .entry k(.param "
                          ".u64 q) {\n.reg .pred %%p<8>;\n.reg .b16 %%h<8>;\n"
                          ".reg .b32 %%r<8>;\n.reg .f32 %%f<8>;\n.reg .b64 %%d<8>;\n.reg .f64 %%g<8>;\n%s;\nret;\n}\n",
                          text);
    if (ptx_read(whole, (size_t)length, "one.ptx", module, &error)) fail_msg("%s", error.text);
    if (module->refusal_count) fail_msg("%s", module->refusals[0].text);
    return module->kernels[0].instructions[0];
}

/* add.cc, addc, subc and madc beside 64-bit sums. */
static void carries_go_from_instruction_to_instruction(void **state) {
    ptx_module modules[4];
    uint64_t seed = test_seed() + 1;
    static const char *const texts[4] = {"add.cc.u32 %r0, %r1, %r2", "addc.cc.u32 %r0, %r1, %r2",
                                         "subc.cc.u32 %r0, %r1, %r2", "madc.hi.cc.u32 %r0, %r1, %r2, %r3"};
    (void)state;
    for (uint32_t t = 0; t < 4; t++) {
        instruction i = one(texts[t], &modules[t]);
        for (int number = 0; number < 50; number++) {
            lanes_operand s[INSTRUCTION_SOURCES], d[INSTRUCTION_DESTINATIONS];
            uint32_t carry = (uint32_t)gpump_random_next(&seed);
            for (uint32_t l = 0; l < 32; l++) {
                s[0].word[0][l] = (uint32_t)adversarial(&seed, 4);
                s[1].word[0][l] = (uint32_t)adversarial(&seed, 4);
                s[2].word[0][l] = (uint32_t)adversarial(&seed, 4);
            }
            if (t) s[t == 3 ? 3 : 2].word[0][0] = carry;
            lanes_compute(&i, UINT32_MAX, s, d);
            for (uint32_t l = 0; l < 32; l++) {
                uint64_t in = t ? carry >> l & 1 : 0, a = s[0].word[0][l], b = s[1].word[0][l], c = s[2].word[0][l];
                uint64_t r = t < 2 ? a + b + in : t == 2 ? a - b - in : (a * b >> 32) + c + in;
                assert_int_equal(d[0].word[0][l], (uint32_t)r);
                assert_int_equal(d[1].word[0][0] >> l & 1, r >> 32 & 1);
            }
        }
        ptx_free(&modules[t]);
    }
}

/* Each form of shfl, vote, match and redux with lanes that take no part. */
static void shuffles_votes_and_matches_by_hand(void **state) {
    ptx_module module;
    lanes_operand s[INSTRUCTION_SOURCES], d[INSTRUCTION_DESTINATIONS];
    instruction i;
    (void)state;
    for (uint32_t l = 0; l < 32; l++) {
        s[0].word[0][l] = 100 + l;
        s[1].word[0][l] = 3;
        s[2].word[0][l] = 31;
        s[3].word[0][l] = UINT32_MAX;
    }
    i = one("shfl.sync.down.b32 %r0|%p1, %r1, %r2, %r3, -1", &module);
    lanes_compute(&i, UINT32_MAX, s, d);
    assert_int_equal(d[0].word[0][0], 103);
    assert_int_equal(d[0].word[0][28], 131);
    assert_int_equal(d[0].word[0][29], 129);
    assert_int_equal(d[1].word[0][0], 0x1fffffff);
    ptx_free(&module);
    i = one("shfl.sync.bfly.b32 %r0, %r1, %r2, %r3, -1", &module);
    lanes_compute(&i, UINT32_MAX, s, d);
    for (uint32_t l = 0; l < 32; l++) assert_int_equal(d[0].word[0][l], 100 + (l ^ 3));
    ptx_free(&module);
    i = one("shfl.sync.up.b32 %r0|%p1, %r1, %r2, %r3, -1", &module);
    for (uint32_t l = 0; l < 32; l++) s[2].word[0][l] = 0x1800; /* segments of 8 lanes */
    lanes_compute(&i, UINT32_MAX, s, d);
    assert_int_equal(d[0].word[0][9], 109);
    assert_int_equal(d[0].word[0][12], 109);
    assert_int_equal(d[1].word[0][0], 0xf8f8f8f8u);
    ptx_free(&module);
    i = one("shfl.idx.b32 %r0, %r1, %r2, %r3", &module);
    for (uint32_t l = 0; l < 32; l++) s[2].word[0][l] = 0x181f;
    lanes_compute(&i, UINT32_MAX, s, d);
    for (uint32_t l = 0; l < 32; l++) assert_int_equal(d[0].word[0][l], 100 + (l & 24) + 3);
    ptx_free(&module);

    s[0].word[0][0] = 0x0000ff00;
    i = one("vote.sync.ballot.b32 %r0, %p1, -1", &module);
    lanes_compute(&i, 0x0fffff0f, s, d);
    assert_int_equal(d[0].word[0][5], 0x0000ff00);
    lanes_compute(&i, 0x00000fff, s, d);
    assert_int_equal(d[0].word[0][5], 0x00000f00);
    ptx_free(&module);
    i = one("vote.all.pred %p0, %p1", &module);
    lanes_compute(&i, 0x0000f000, s, d);
    assert_int_equal(d[0].word[0][0], 0xf000);
    lanes_compute(&i, 0x0001f000, s, d);
    assert_int_equal(d[0].word[0][0], 0);
    ptx_free(&module);
    for (uint32_t l = 0; l < 32; l++) s[0].word[0][l] = l % 3;
    i = one("match.any.sync.b32 %r0, %r1, -1", &module);
    lanes_compute(&i, 0xff, s, d);
    assert_int_equal(d[0].word[0][1], 0x92);
    ptx_free(&module);
    i = one("match.all.sync.b32 %r0|%p2, %r1, -1", &module);
    lanes_compute(&i, 0x49, s, d);
    assert_int_equal(d[0].word[0][0], 0x49);
    assert_int_equal(d[1].word[0][0], 0x49);
    lanes_compute(&i, 0x4b, s, d);
    assert_int_equal(d[0].word[0][0], 0);
    ptx_free(&module);
    i = one("redux.sync.max.s32 %r0, %r1, -1", &module);
    for (uint32_t l = 0; l < 32; l++) s[0].word[0][l] = (uint32_t)(l == 4 ? 5 : -(int32_t)l);
    lanes_compute(&i, UINT32_MAX, s, d);
    assert_int_equal(d[0].word[0][31], 5);
    lanes_compute(&i, 0xc0000000u, s, d);
    assert_int_equal((int32_t)d[0].word[0][31], -30);
    ptx_free(&module);
    i = one("elect.sync %r0|%p1, -1", &module);
    lanes_compute(&i, 0x50, s, d);
    assert_int_equal(d[0].word[0][7], 4);
    assert_int_equal(d[1].word[0][0], 0x10);
    ptx_free(&module);
    i = one("activemask.b32 %r0", &module);
    lanes_compute(&i, 0x1234, s, d);
    assert_int_equal(d[0].word[0][3], 0x1234);
    ptx_free(&module);
}

/* Loads extend to the register's width, stores cut, vectors lie one after the other. */
static void loads_extend_and_stores_cut(void **state) {
    /* Loads extend to the register's width, stores cut; vectors lie one after the other. */
    ptx_module module;
    uint8_t bytes[32 * 16];
    lanes_operand s[INSTRUCTION_SOURCES], d[INSTRUCTION_DESTINATIONS];
    uint64_t addresses[32];
    instruction i;
    (void)state;
    for (uint32_t k = 0; k < sizeof bytes; k++) bytes[k] = (uint8_t)(k * 37 + 129);
    i = one("ld.global.s8 %r0, [%d1+4]", &module);
    for (uint32_t l = 0; l < 32; l++) {
        s[0].word[0][l] = 0xfffffffc;
        s[0].word[1][l] = l;
    }
    lanes_address(&i, UINT32_MAX, s, addresses);
    assert_true(addresses[3] == UINT64_C(0x400000000));
    lanes_from_memory(&i, UINT32_MAX, bytes, 16, d);
    for (uint32_t l = 0; l < 32; l++) assert_int_equal((int32_t)d[0].word[0][l], (int8_t)bytes[16 * l]);
    ptx_free(&module);
    i = one("ld.shared.s16 %h0, [%r1]", &module);
    lanes_from_memory(&i, UINT32_MAX, bytes, 16, d);
    for (uint32_t l = 0; l < 32; l++) assert_int_equal(d[0].word[0][l], bytes[16 * l] | bytes[16 * l + 1] << 8);
    ptx_free(&module);
    i = one("ld.global.s32 %d0, [%d1]", &module);
    lanes_from_memory(&i, UINT32_MAX, bytes, 16, d);
    assert_true(lanes_get(&d[0], 0) ==
                (uint64_t)(int64_t)(int32_t)(bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24));
    ptx_free(&module);
    i = one("ld.global.v4.f32 {%f0, %f1, _, %f3}, [%d1]", &module);
    assert_int_equal(instruction_access_bytes(&i), 16);
    lanes_from_memory(&i, UINT32_MAX, bytes, 16, d);
    ptx_free(&module);
    instruction store = one("st.global.v4.f32 [%d1], {%f0, %f1, %f2, %f3}", &module);
    for (uint32_t k = 0; k < 4; k++) s[k + 1] = d[k];
    uint8_t back[sizeof bytes];
    lanes_to_memory(&store, UINT32_MAX, s, back, 16);
    assert_memory_equal(back, bytes, sizeof bytes);
    ptx_free(&module);
    store = one("st.global.v2.u64 [%d1], {%d2, 0x1122334455667788}", &module);
    lanes_set(&s[1], 5, UINT64_C(0xa1a2a3a4a5a6a7a8));
    lanes_environment environment;
    memset(&environment, 0, sizeof environment);
    lanes_read(&store.sources[2], NULL, NULL, &environment, &s[2]);
    lanes_to_memory(&store, UINT32_MAX, s, back, 16);
    assert_int_equal(back[5 * 16], 0xa8);
    assert_int_equal(back[5 * 16 + 7], 0xa1);
    assert_int_equal(back[5 * 16 + 8], 0x88);
    assert_int_equal(back[5 * 16 + 15], 0x11);
    ptx_free(&module);
}

/* Old value and new value of each atomic operation and type. */
static void every_atomic_operation_by_hand(void **state) {
    static const struct {
        const char *text;
        uint64_t old, b, c, want;
    } cases[] = {
        {"atom.global.add.u32 %r0, [%d1], %r2", 0xffffffff, 2, 0, 1},
        {"atom.shared.add.u64 %d0, [%d1], %d2", UINT64_C(0xffffffff), 2, 0, UINT64_C(0x100000001)},
        {"atom.global.add.f32 %f0, [%d1], %f2", 0x3f800000, 0x40000000, 0, 0x40400000},
        {"atom.global.add.f64 %g0, [%d1], %g2", UINT64_C(0x3ff0000000000000), UINT64_C(0x3ff0000000000000), 0,
         UINT64_C(0x4000000000000000)},
        {"atom.global.min.s32 %r0, [%d1], %r2", 3, 0xffffffff, 0, 0xffffffff},
        {"atom.global.min.u32 %r0, [%d1], %r2", 3, 0xffffffff, 0, 3},
        {"atom.global.max.s64 %d0, [%d1], %d2", UINT64_MAX, 4, 0, 4},
        {"atom.global.max.u32 %r0, [%d1], %r2", 3, 7, 0, 7},
        {"atom.global.and.b32 %r0, [%d1], %r2", 12, 10, 0, 8},
        {"atom.global.or.b32 %r0, [%d1], %r2", 12, 10, 0, 14},
        {"atom.global.xor.b32 %r0, [%d1], %r2", 12, 10, 0, 6},
        {"atom.global.exch.b64 %d0, [%d1], %d2", 12, 10, 0, 10},
        {"atom.global.cas.b32 %r0, [%d1], %r2, %r3", 12, 12, 99, 99},
        {"atom.global.cas.b32 %r0, [%d1], %r2, %r3", 12, 13, 99, 12},
        {"atom.global.inc.u32 %r0, [%d1], %r2", 5, 5, 0, 0},
        {"atom.global.inc.u32 %r0, [%d1], %r2", 4, 5, 0, 5},
        {"atom.global.dec.u32 %r0, [%d1], %r2", 0, 5, 0, 5},
        {"atom.global.dec.u32 %r0, [%d1], %r2", 9, 5, 0, 5},
        {"atom.acquire.gpu.global.dec.u32 %r0, [%d1], %r2", 3, 5, 0, 2},
        {"atom.global.add.noftz.f16 %h0, [%d1], %h2", 0x3c00, 0x4000, 0, 0x4200},
        {"atom.global.add.noftz.bf16 %h0, [%d1], %h2", 0x3f80, 0x4000, 0, 0x4040},
        {"atom.global.add.noftz.f16x2 %r0, [%d1], %r2", 0x7bff3c00, 0x7bff4000, 0, 0x7c004200},
        {"red.global.add.noftz.bf16x2 [%d1], %r2", 0x3f803f80, 0x40003f80, 0, 0x40404000},
        /* barrier objects: arrivals awaited now, in each phase (from bit 20), the phase (bit 63) */
        {"mbarrier.arrive.shared.b64 %d0, [%r1], 2", UINT64_C(0x500005), 2, 0, UINT64_C(0x500003)},
        {"mbarrier.arrive.b64 %d0, [%d1], 5", UINT64_C(0x500005), 5, 0, UINT64_C(0x8000000000500005)},
        {"mbarrier.arrive.b64 _, [%d1]", UINT64_C(0x8000000000500001), 1, 0, UINT64_C(0x500005)},
        {"mbarrier.arrive_drop.shared.b64 %d0, [%r1], 1", UINT64_C(0x500001), 1, 0, UINT64_C(0x8000000000400004)},
        {"red.global.add.u32 [%d1], %r2", 3, 5, 0, 8}};
    (void)state;
    for (uint32_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ptx_module module;
        instruction i = one(cases[k].text, &module);
        lanes_operand s[INSTRUCTION_SOURCES];
        lanes_set(&s[1], 7, cases[k].b);
        lanes_set(&s[2], 7, cases[k].c);
        if (lanes_atomic(&i, 7, s, cases[k].old) != cases[k].want) fail_msg("%s, row %u", cases[k].text, k);
        ptx_free(&module);
    }
}

/* Thread and block numbers, lanes and masks of warp 1 of a block of 60. */
static void special_registers_of_a_thread(void **state) {
    ptx_module module;
    lanes_environment e;
    lanes_operand v;
    instruction i = one("mov.u32 %r0, %tid.x", &module);
    (void)state;
    memset(&e, 0, sizeof e);
    e.block_threads[0] = 5;
    e.block_threads[1] = 3;
    e.block_threads[2] = 4;
    e.warp = 1;
    for (uint32_t axis = 0; axis < 3; axis++) {
        operand o = i.sources[0];
        o.index = SPECIAL_TID_X + axis;
        lanes_read(&o, NULL, NULL, &e, &v);
        for (uint32_t l = 0; l < 28; l++) {
            uint32_t t = 32 + l, want[3] = {t % 5, t / 5 % 3, t / 15};
            assert_int_equal(v.word[0][l], want[axis]);
        }
    }
    ptx_free(&module);
    e.clock = UINT64_C(0x123456789a);
    i = one("mov.u64 %d0, %clock64", &module);
    lanes_read(&i.sources[0], NULL, NULL, &e, &v);
    assert_true(lanes_get(&v, 9) == e.clock);
    ptx_free(&module);
    i = one("mov.u32 %r0, %lanemask_lt", &module);
    lanes_read(&i.sources[0], NULL, NULL, &e, &v);
    assert_int_equal(v.word[0][31], 0x7fffffff);
    ptx_free(&module);
}

/* Every f16 value through f32 and back, and the halfway points. */
static void half_precision_rounds_to_even(void **state) {
    /* Every f16 value through f32 and back; rounding at the halfway points. */
    ptx_module module;
    instruction widen = one("cvt.f32.f16 %f0, %h1", &module);
    ptx_free(&module);
    instruction narrow = one("cvt.rn.f16.f32 %h0, %f1", &module);
    ptx_free(&module);
    (void)state;
    for (uint32_t start = 0; start < 65536; start += 32) {
        lanes_operand s, d, back;
        for (uint32_t l = 0; l < 32; l++) s.word[0][l] = start + l;
        lanes_compute(&widen, UINT32_MAX, &s, &d);
        lanes_compute(&narrow, UINT32_MAX, &d, &back);
        for (uint32_t l = 0; l < 32; l++) {
            uint32_t bits = start + l, is_nan = (bits & 0x7fff) > 0x7c00;
            assert_int_equal(back.word[0][l], is_nan ? 0x7fff : bits);
        }
    }
    static const struct {
        float value;
        uint32_t want;
    } points[] = {
        {65519.0f, 0x7bff}, {65520.0f, 0x7c00}, {1.00048828125f, 0x3c00}, {1.00146484375f, 0x3c02}, {5.9604645e-8f, 1},
        {2.9802322e-8f, 0}, {3.1e-8f, 1},       {-0.0f, 0x8000}};
    for (uint32_t k = 0; k < sizeof points / sizeof *points; k++) {
        lanes_operand s, d;
        for (uint32_t l = 0; l < 32; l++) s.word[0][l] = (uint32_t)F(points[k].value);
        lanes_compute(&narrow, UINT32_MAX, &s, &d);
        assert_int_equal(d.word[0][0], points[k].want);
    }
}

/* Coordinates inside, at the edges and outside, by each filter and address mode. */
static void texels_are_filtered_and_clamped(void **state) {
    ptx_module module;
    instruction i = one("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%f4, %f5}]", &module);
    lanes_operand s[INSTRUCTION_SOURCES], d[INSTRUCTION_DESTINATIONS];
    lanes_texture t;
    uint64_t addresses[TEXTURE_TEXELS][32];
    static uint8_t texels[4 * 32 * 16];
    (void)state;
    memset(&t, 0, sizeof t);
    memset(s, 0, sizeof s);
    t.address = 1000;
    t.row_bytes = 64;
    t.width = 8;
    t.height = 4;
    t.type = TYPE_F32;
    t.channels = 1;
    t.addressing[0] = t.addressing[1] = TEXTURE_CLAMP;
    s[1].word[0][0] = (uint32_t)F(2.9f);
    s[2].word[0][0] = (uint32_t)F(1.2f);
    s[1].word[0][1] = (uint32_t)F(-3.0f);
    s[2].word[0][1] = (uint32_t)F(9.0f);
    assert_int_equal(lanes_texture_addresses(&i, UINT32_MAX, s, &t, addresses), 1);
    assert_true(addresses[0][0] == 1000 + 64 + 8);
    assert_true(addresses[0][1] == 1000 + 3 * 64);
    t.addressing[0] = TEXTURE_BORDER;
    lanes_texture_addresses(&i, UINT32_MAX, s, &t, addresses);
    assert_true(addresses[0][1] == TEXTURE_NO_TEXEL);
    t.addressing[0] = t.addressing[1] = TEXTURE_WRAP;
    lanes_texture_addresses(&i, UINT32_MAX, s, &t, addresses);
    assert_true(addresses[0][1] == 1000 + 64 + 5 * 4);
    t.addressing[0] = TEXTURE_MIRROR;
    lanes_texture_addresses(&i, UINT32_MAX, s, &t, addresses);
    assert_true(addresses[0][1] == 1000 + 64 + 2 * 4);
    /* halfway between the centres of (0,0), (1,0), (0,1), (1,1) */
    t.addressing[0] = t.addressing[1] = TEXTURE_CLAMP;
    t.linear = 1;
    s[1].word[0][0] = s[2].word[0][0] = (uint32_t)F(1.0f);
    assert_int_equal(lanes_texture_addresses(&i, UINT32_MAX, s, &t, addresses), 4);
    assert_true(addresses[0][0] == 1000 && addresses[1][0] == 1004 && addresses[2][0] == 1064 &&
                addresses[3][0] == 1068);
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t bits = (uint32_t)F((float)(k * 10));
        for (uint32_t b = 0; b < 4; b++) texels[k * 32 * 16 + b] = (uint8_t)(bits >> (8 * b));
    }
    lanes_texture_filter(&i, UINT32_MAX, s, &t, texels, d);
    assert_true(f(d[0].word[0][0]) == 15.0f);
    assert_int_equal(d[1].word[0][0], 0);
    ptx_free(&module);
    i = one("tex.1d.v4.s32.s32 {%r0, %r1, %r2, %r3}, [%d1, {%r4}]", &module);
    t.type = TYPE_S16;
    t.channels = 2;
    s[1].word[0][0] = 3;
    assert_int_equal(lanes_texture_addresses(&i, UINT32_MAX, s, &t, addresses), 1);
    assert_true(addresses[0][0] == 1012);
    texels[0] = 0xfe;
    texels[1] = 0xff;
    texels[2] = 7;
    texels[3] = 0;
    lanes_texture_filter(&i, UINT32_MAX, s, &t, texels, d);
    assert_int_equal((int32_t)d[0].word[0][0], -2);
    assert_int_equal(d[1].word[0][0], 7);
    ptx_free(&module);
}

/* Every opcode of the table that lanes_compute serves is in some row here, or has a test of its own above. */
static void test_rows_are_complete(void **state) {
    static const uint8_t elsewhere[] = {
        OPCODE_MADC,       OPCODE_ADDC,     OPCODE_SUBC,     OPCODE_SHFL,   OPCODE_VOTE,        OPCODE_MATCH,
        OPCODE_ACTIVEMASK, OPCODE_REDUX,    OPCODE_ELECT,    OPCODE_LD,     OPCODE_ST,          OPCODE_MMA,
        OPCODE_MOVMATRIX,  OPCODE_LDMATRIX, OPCODE_STMATRIX, OPCODE_COPY,   OPCODE_COPY_COMMIT, OPCODE_COPY_WAIT,
        OPCODE_PRINT,      OPCODE_ASSERT,   OPCODE_MALLOC,   OPCODE_FREE,   OPCODE_ATOM,        OPCODE_RED,
        OPCODE_TEX,        OPCODE_SULD,     OPCODE_SUST,     OPCODE_MEMBAR, OPCODE_BRA,         OPCODE_BAR,
        OPCODE_WARPSYNC,   OPCODE_RET,      OPCODE_EXIT,     OPCODE_TRAP,   OPCODE_NOP};
    ptx_module module = read_rows();
    uint8_t seen[OPCODE_COUNT] = {0};
    (void)state;
    for (uint32_t i = 0; i < sizeof elsewhere; i++) seen[elsewhere[i]] = 1;
    for (uint32_t i = 0; i < ROW_COUNT; i++) seen[module.kernels[0].instructions[i].opcode] = 1;
    for (uint32_t i = 0; i <= OPCODE_NOP; i++) /* those behind it are not of PTX */
        if (!seen[i]) fail_msg("no row for %s", opcode_name(i));
    ptx_free(&module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_opcode_beside_its_formula),
        cmocka_unit_test(test_simple_instructions),
        cmocka_unit_test(test_rows_are_complete),
        cmocka_unit_test(carries_go_from_instruction_to_instruction),
        cmocka_unit_test(shuffles_votes_and_matches_by_hand),
        cmocka_unit_test(loads_extend_and_stores_cut),
        cmocka_unit_test(every_atomic_operation_by_hand),
        cmocka_unit_test(special_registers_of_a_thread),
        cmocka_unit_test(half_precision_rounds_to_even),
        cmocka_unit_test(texels_are_filtered_and_clamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
