/* lanes_float: floating point. Exact operations use the host's IEEE arithmetic; .approx is computed in double and
 * rounded once. */
#include <math.h>
#include "lanes/lanes_internal.h"

/* The operands as the operation sees them: subnormals flushed under .ftz. */
static const lanes_operand *const *flushed(const instruction *i, const lanes_operand *const *s, lanes_operand copy[3],
                                           const lanes_operand *copies[3]) {
    if (!(i->flags & FLAG_FTZ) || i->type != TYPE_F32) return s;
    uint32_t count = i->source_count < 3 ? i->source_count : 3;
    for (uint32_t k = 0; k < count; k++) EACH_LANE copy[k].word[0][l] = flush_bits(s[k]->word[0][l]);
    for (uint32_t k = 0; k < 3; k++) copies[k] = &copy[k < count ? k : 0]; /* operations of one source read two */
    return copies;
}

/* .sat and .ftz of a result. */
static void finish(const instruction *i, lanes_operand *restrict d) {
    if (i->type != TYPE_F32) return;
    if (i->flags & FLAG_FTZ) EACH_LANE d->word[0][l] = flush_bits(d->word[0][l]);
    if (i->flags & FLAG_SATURATE) EACH_LANE {
            float v = bits_f32(d->word[0][l]);
            d->word[0][l] = v > 0.0f ? (v < 1.0f ? f32_bits(v) : 0x3f800000u) : 0; /* NaN and -0 give +0 */
        }
}

#define F32(expression)                                     \
    EACH_LANE {                                             \
        float a = READ_f32(s[0], l), b = READ_f32(s[1], l); \
        (void)b;                                            \
        WRITE_f32(d, l, expression);                        \
    }                                                       \
    break
#define F64(expression)                                      \
    EACH_LANE {                                              \
        double a = READ_f64(s[0], l), b = READ_f64(s[1], l); \
        (void)b;                                             \
        WRITE_f64(d, l, expression);                         \
    }                                                        \
    break
#define BOTH(for_f32, for_f64) \
    if (is_f32) {              \
        F32(for_f32);          \
    } else {                   \
        F64(for_f64);          \
    }                          \
    break

/* One NaN gives the other operand (or NaN under .NaN); -0 is below +0. */
static inline float min_f32(float a, float b) {
    return a != a ? b : b != b ? a : a < b ? a : b < a ? b : f32_bits(a) >> 31 ? a : b;
}
static inline float max_f32(float a, float b) {
    return a != a ? b : b != b ? a : a > b ? a : b > a ? b : f32_bits(a) >> 31 ? b : a;
}
static inline double min_f64(double a, double b) {
    return a != a ? b : b != b ? a : a < b ? a : b < a ? b : f64_bits(a) >> 63 ? a : b;
}
static inline double max_f64(double a, double b) {
    return a != a ? b : b != b ? a : a > b ? a : b > a ? b : f64_bits(a) >> 63 ? b : a;
}

/* Fused multiply-add is a call per lane where the compiler may not assume the instruction. Both ways round alike. */
#if defined(__GNUC__) && defined(__x86_64__)
#define FMA_INSTRUCTION __attribute__((target("fma,avx2")))
static int has_fma(void) { return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"); }
#else
#define FMA_INSTRUCTION
static int has_fma(void) { return 0; }
#endif
FMA_INSTRUCTION void lanes_fused_f32(const lanes_operand *const *s, lanes_operand *restrict d) {
    EACH_LANE {
        float a, b, c, r;
        uint32_t bits;
        memcpy(&a, &s[0]->word[0][l], 4);
        memcpy(&b, &s[1]->word[0][l], 4);
        memcpy(&c, &s[2]->word[0][l], 4);
        r = __builtin_fmaf(a, b, c);
        memcpy(&bits, &r, 4);
        d->word[0][l] = r == r ? bits : NAN_F32;
    }
}

int lanes_float(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    lanes_operand copy[3];
    const lanes_operand *copies[3];
    int is_f32 = i->type == TYPE_F32, approximate = i->variant == VARIANT_APPROX || i->variant == VARIANT_FULL;
    if (type_is_half(i->type)) return lanes_half(i, s, d);
    if (!type_is_float(i->type)) return 0;
    switch (i->opcode) {
    case OPCODE_ADD:
    case OPCODE_SUB:
    case OPCODE_MUL:
    case OPCODE_FMA:
    case OPCODE_DIV:
    case OPCODE_ABS:
    case OPCODE_NEG:
    case OPCODE_MIN:
    case OPCODE_MAX:
    case OPCODE_SQRT:
    case OPCODE_RCP:
    case OPCODE_RSQRT:
    case OPCODE_SIN:
    case OPCODE_COS:
    case OPCODE_LG2:
    case OPCODE_EX2:
    case OPCODE_TANH:
    case OPCODE_COPYSIGN: break;
    default: return 0;
    }
    s = flushed(i, s, copy, copies);
    if (i->rounding > ROUND_RN && !approximate) {
        lanes_directed(i, s, d);
        finish(i, d);
        return 1;
    }
    switch (i->opcode) {
    case OPCODE_ADD: BOTH(a + b, a + b);
    case OPCODE_SUB: BOTH(a - b, a - b);
    case OPCODE_MUL: BOTH(a * b, a * b);
    case OPCODE_FMA:
        if (is_f32 && has_fma()) {
            lanes_fused_f32(s, d);
            break;
        }
        BOTH(fmaf(a, b, READ_f32(s[2], l)), fma(a, b, READ_f64(s[2], l)));
    case OPCODE_DIV:
        if (is_f32 && approximate) { F32((float)((double)a / (double)b)); }
        BOTH(a / b, a / b);
    case OPCODE_SQRT:
        if (is_f32 && approximate) { F32((float)sqrt((double)a)); }
        BOTH(sqrtf(a), sqrt(a));
    case OPCODE_RCP:
        if (is_f32 && approximate) { F32((float)(1.0 / (double)a)); }
        BOTH(1.0f / a, 1.0 / a);
    case OPCODE_RSQRT: BOTH((float)(1.0 / sqrt((double)a)), 1.0 / sqrt(a));
    case OPCODE_SIN: BOTH((float)sin((double)a), sin(a));
    case OPCODE_COS: BOTH((float)cos((double)a), cos(a));
    case OPCODE_LG2: BOTH((float)log2((double)a), log2(a));
    case OPCODE_EX2: BOTH((float)exp2((double)a), exp2(a));
    case OPCODE_TANH: BOTH((float)tanh((double)a), tanh(a));
    case OPCODE_MIN:
        if (i->flags & FLAG_NAN) {
            BOTH(a != a ? a : b != b ? b : min_f32(a, b), a != a ? a : b != b ? b : min_f64(a, b));
        }
        BOTH(min_f32(a, b), min_f64(a, b));
    case OPCODE_MAX:
        if (i->flags & FLAG_NAN) {
            BOTH(a != a ? a : b != b ? b : max_f32(a, b), a != a ? a : b != b ? b : max_f64(a, b));
        }
        BOTH(max_f32(a, b), max_f64(a, b));
    /* These touch the sign bit only, of a NaN too. */
    case OPCODE_ABS:
    case OPCODE_NEG: {
        uint32_t sign = 0x80000000u, clear = i->opcode == OPCODE_ABS ? sign : 0,
                 flip = i->opcode == OPCODE_NEG ? sign : 0, top = is_f32 ? 0 : 1;
        EACH_LANE {
            uint32_t high = s[0]->word[top][l];
            d->word[0][l] = s[0]->word[0][l];
            d->word[top][l] = (high & ~clear) ^ flip;
        }
        break;
    }
    case OPCODE_COPYSIGN: { /* the sign of a, the rest of b */
        uint32_t top = is_f32 ? 0 : 1;
        EACH_LANE {
            uint32_t sign = s[0]->word[top][l] & 0x80000000u, rest = s[1]->word[top][l] & 0x7fffffffu;
            d->word[0][l] = s[1]->word[0][l];
            d->word[top][l] = sign | rest;
        }
        break;
    }
    default: break;
    }
    finish(i, d);
    return 1;
}
