/* lanes_float: floating point. Exact operations use the host's IEEE arithmetic. .approx is computed in double and
 * rounded once. */
#include <math.h>
#include "lanes/lanes_internal.h"

/* Returns the operands as the operation reads them: under .ftz subnormals are flushed. */
static const lanes_operand *const *flushed(const instruction *i, const lanes_operand *const *s, lanes_operand copy[3],
                                           const lanes_operand *copies[3]) {
    if (!(i->flags & FLAG_FTZ) || i->type != TYPE_F32) return s;
    uint32_t count = i->source_count < 3 ? i->source_count : 3;
    for (uint32_t k = 0; k < count; k++) EACH_LANE copy[k].word[0][l] = flush_bits(s[k]->word[0][l]);
    for (uint32_t k = 0; k < 3; k++) copies[k] = &copy[k < count ? k : 0]; /* operations of one source read two */
    return copies;
}

static int is_approximate(const instruction *i) { return i->variant == VARIANT_APPROX || i->variant == VARIANT_FULL; }

/* Applies .ftz and .sat to a result. */
static void finish(const instruction *i, lanes_operand *restrict d) {
    if (i->type != TYPE_F32) return;
    if (i->flags & FLAG_FTZ) EACH_LANE d->word[0][l] = flush_bits(d->word[0][l]);
    if (i->flags & FLAG_SATURATE) EACH_LANE {
            float v = bits_f32(d->word[0][l]);
            d->word[0][l] = v > 0.0f ? (v < 1.0f ? f32_bits(v) : 0x3f800000u) : 0; /* NaN and -0 become +0 */
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

/* If one operand is NaN, the result is the other operand (or NaN under .NaN). -0 is below +0. */
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

/* Without the FMA instruction, fused multiply-add is a library call per lane. Both round alike. */
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

/* An operation on one warp's operands. The result is not yet flushed or saturated. */
typedef void operation(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d);

static void arithmetic(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    const int is_f32 = i->type == TYPE_F32;
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
    default: break;
    }
}

/* Division and roots are exact, or under .approx and .full computed in double and rounded once. */
static void division(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    const int is_f32 = i->type == TYPE_F32, approximate = is_approximate(i);
    switch (i->opcode) {
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
    default: break;
    }
}

static void transcendental(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    const int is_f32 = i->type == TYPE_F32;
    switch (i->opcode) {
    case OPCODE_SIN: BOTH((float)sin((double)a), sin(a));
    case OPCODE_COS: BOTH((float)cos((double)a), cos(a));
    case OPCODE_LG2: BOTH((float)log2((double)a), log2(a));
    case OPCODE_EX2: BOTH((float)exp2((double)a), exp2(a));
    case OPCODE_TANH: BOTH((float)tanh((double)a), tanh(a));
    default: break;
    }
}

static void minimum_maximum(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    const int is_f32 = i->type == TYPE_F32, keeps_nan = (i->flags & FLAG_NAN) != 0;
    switch (i->opcode) {
    case OPCODE_MIN:
        if (keeps_nan) { BOTH(a != a ? a : b != b ? b : min_f32(a, b), a != a ? a : b != b ? b : min_f64(a, b)); }
        BOTH(min_f32(a, b), min_f64(a, b));
    case OPCODE_MAX:
        if (keeps_nan) { BOTH(a != a ? a : b != b ? b : max_f32(a, b), a != a ? a : b != b ? b : max_f64(a, b)); }
        BOTH(max_f32(a, b), max_f64(a, b));
    default: break;
    }
}

/* abs, neg and copysign change the sign bit only, of a NaN too. copysign takes the sign of a and the rest of b. */
static void sign(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    const uint32_t bit = 0x80000000u, top = i->type == TYPE_F32 ? 0 : 1;
    const lanes_operand *from = i->opcode == OPCODE_COPYSIGN ? s[1] : s[0];
    const uint32_t clear = i->opcode == OPCODE_NEG ? 0 : bit, flip = i->opcode == OPCODE_NEG ? bit : 0,
                   take = i->opcode == OPCODE_COPYSIGN ? bit : 0;
    EACH_LANE {
        const uint32_t high = from->word[top][l], sign_of = s[0]->word[top][l] & take;
        d->word[0][l] = from->word[0][l];
        d->word[top][l] = ((high & ~clear) ^ flip) | sign_of;
    }
}

/* Returns the operation of an opcode, or NULL for an opcode that is not of floating point. */
static operation *operation_of(uint32_t opcode) {
    switch (opcode) {
    case OPCODE_ADD:
    case OPCODE_SUB:
    case OPCODE_MUL:
    case OPCODE_FMA: return arithmetic;
    case OPCODE_DIV:
    case OPCODE_SQRT:
    case OPCODE_RCP:
    case OPCODE_RSQRT: return division;
    case OPCODE_SIN:
    case OPCODE_COS:
    case OPCODE_LG2:
    case OPCODE_EX2:
    case OPCODE_TANH: return transcendental;
    case OPCODE_MIN:
    case OPCODE_MAX: return minimum_maximum;
    case OPCODE_ABS:
    case OPCODE_NEG:
    case OPCODE_COPYSIGN: return sign;
    default: return NULL;
    }
}

int lanes_float(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    lanes_operand copy[3];
    const lanes_operand *copies[3];
    operation *compute;
    if (type_is_half(i->type)) return lanes_half(i, s, d);
    if (!type_is_float(i->type) || !(compute = operation_of(i->opcode))) return 0;
    s = flushed(i, s, copy, copies);
    if (i->rounding > ROUND_RN && !is_approximate(i))
        lanes_directed(i, s, d);
    else
        compute(i, s, d);
    finish(i, d);
    return 1;
}
