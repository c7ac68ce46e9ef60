/* lanes_directed: lanes/lanes_directed.c for WebAssembly, which only rounds to nearest. Each result is calculated in a
 * type with more than twice the bits, with its error, and then moved by one step where the direction asks for it.
 * tests/playground/directed.c compares the file with the processor's rounding modes. */
#include <math.h>

#include "lanes/lanes_internal.h"

/* A type with at least 106 bits of fraction. */
#ifdef __wasm__
typedef long double wide;
#else
typedef __float128 wide;
#endif

enum { NEAREST = 0, UP = 1, DOWN = -1, TOWARDS_ZERO = 2 };

static int direction_of(uint32_t rounding) {
    switch (rounding) {
    case ROUND_RZ:
    case ROUND_RZI: return TOWARDS_ZERO;
    case ROUND_RM:
    case ROUND_RMI: return DOWN;
    case ROUND_RP:
    case ROUND_RPI: return UP;
    default: return NEAREST;
    }
}

/* An exact value: high + low, where low is smaller than the last bit of high. */
typedef struct exact {
    wide high, low;
    int negative_zero; /* 1: the exact value is 0, and -0 when rounded down */
} exact;

static int sign_of(wide value) { return (value > 0) - (value < 0); }

static exact sum_of(wide a, wide b) {
    exact sum = {a + b, 0, 0};
    const wide part = sum.high - a;
    sum.low = (a - (sum.high - part)) + (b - part);
    sum.negative_zero = sum.high == 0 && !(a == 0 && b == 0 && !signbit((double)a) && !signbit((double)b));
    return sum;
}

/* Returns what the exact result of an operation lacks: exact minus `result`, up to a positive factor. */
static exact rest_of(uint32_t opcode, wide a, wide b, wide c, wide result) {
    exact rest;
    switch (opcode) {
    case OPCODE_ADD: rest = sum_of(a, b); break;
    case OPCODE_SUB: rest = sum_of(a, -b); break;
    case OPCODE_MUL: return sum_of(a * b, -result);
    case OPCODE_FMA: rest = sum_of(a * b, c); break;
    case OPCODE_RCP: rest = a > 0 ? sum_of(1, -result * a) : sum_of(-1, result * a); return rest;
    case OPCODE_DIV: rest = b > 0 ? sum_of(a, -result * b) : sum_of(-a, result * b); return rest;
    default: return sum_of(a, -result * result);
    }
    rest.high -= result;
    return rest;
}

/* Returns the sign of the step from a result, rounded to nearest, to the one of `direction`; 0: none. */
static int step_of(int direction, int sign_of_rest, int negative) {
    if (direction == TOWARDS_ZERO) direction = negative ? 1 : -1;
    return sign_of_rest == direction ? direction : 0;
}

static int sign_of_rest(exact rest) { return rest.high != 0 ? sign_of(rest.high) : sign_of(rest.low); }

/* Defines directed_TYPE(opcode, direction, a, b, c). */
#define DEFINE_DIRECTED(name, type, fused, root, next)                                                       \
    static type nearest_##name(uint32_t opcode, type a, type b, type c) {                                    \
        switch (opcode) {                                                                                    \
        case OPCODE_ADD: return a + b;                                                                       \
        case OPCODE_SUB: return a - b;                                                                       \
        case OPCODE_MUL: return a * b;                                                                       \
        case OPCODE_FMA: return fused(a, b, c);                                                              \
        case OPCODE_DIV: return a / b;                                                                       \
        case OPCODE_RCP: return 1 / a;                                                                       \
        default: return root(a);                                                                             \
        }                                                                                                    \
    }                                                                                                        \
    static type moved_##name(type result, int step) {                                                        \
        return step ? next(result, step > 0 ? (type)INFINITY : (type)-INFINITY) : result;                    \
    }                                                                                                        \
    static type directed_##name(uint32_t opcode, int direction, type a, type b, type c) {                    \
        const type result = nearest_##name(opcode, a, b, c);                                                 \
        const int divides = opcode == OPCODE_DIV || opcode == OPCODE_RCP;                                    \
        exact rest;                                                                                          \
        if (!direction || isnan(result) || !isfinite(a) || !isfinite(b) || !isfinite(c)) return result;      \
        if (divides && (opcode == OPCODE_DIV ? b : a) == 0) return result;                                   \
        if (isinf(result)) return moved_##name(result, step_of(direction, result > 0 ? -1 : 1, result < 0)); \
        rest = rest_of(opcode, a, b, c, result);                                                             \
        if (rest.negative_zero && !divides && opcode != OPCODE_MUL && opcode != OPCODE_SQRT)                 \
            return direction == DOWN ? (type)-0.0 : result;                                                  \
        return moved_##name(result, step_of(direction, sign_of_rest(rest), signbit(result) != 0));           \
    }
DEFINE_DIRECTED(f32, float, fmaf, sqrtf, nextafterf)
DEFINE_DIRECTED(f64, double, fma, sqrt, nextafter)

void lanes_directed(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    const int direction = direction_of(i->rounding);
    const uint32_t n = i->source_count;
    if (i->type == TYPE_F32) EACH_LANE {
            float b = n > 1 ? READ_f32(s[1], l) : 0.0f, c = n > 2 ? READ_f32(s[2], l) : 0.0f;
            WRITE_f32(d, l, directed_f32(i->opcode, direction, READ_f32(s[0], l), b, c));
        }
    else
        EACH_LANE {
            double b = n > 1 ? READ_f64(s[1], l) : 0.0, c = n > 2 ? READ_f64(s[2], l) : 0.0;
            WRITE_f64(d, l, directed_f64(i->opcode, direction, READ_f64(s[0], l), b, c));
        }
}

static float to_f32(wide value, int direction) {
    const float result = (float)value;
    return moved_f32(result, isinf(result) ? step_of(direction, result > 0 ? -1 : 1, result < 0)
                                           : step_of(direction, sign_of(value - result), signbit(result) != 0));
}

float lanes_directed_to_f32(double value, uint32_t rounding) {
    const int direction = direction_of(rounding);
    return direction && isfinite(value) ? to_f32(value, direction) : (float)value;
}

void lanes_directed_integers(const uint64_t *values, int is_signed, uint32_t rounding, uint32_t type,
                             lanes_operand *restrict d) {
    const int direction = direction_of(rounding);
    EACH_LANE {
        const wide value = is_signed ? (wide)(int64_t)values[l] : (wide)values[l];
        const double result = (double)value;
        if (type == TYPE_F32)
            WRITE_f32(d, l, to_f32(value, direction));
        else
            WRITE_f64(d, l, moved_f64(result, step_of(direction, sign_of(value - result), result < 0)));
    }
}
