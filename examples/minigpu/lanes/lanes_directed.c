/* lanes_directed: arithmetic that rounds towards zero, down or up, in the host's rounding modes. The file is compiled
 * with options that respect the rounding mode. */
#include <fenv.h>
#include <math.h>
#include "lanes/lanes_internal.h"

static int host_mode(uint32_t rounding) {
    switch (rounding) {
    case ROUND_RZ:
    case ROUND_RZI: return FE_TOWARDZERO;
    case ROUND_RM:
    case ROUND_RMI: return FE_DOWNWARD;
    case ROUND_RP:
    case ROUND_RPI: return FE_UPWARD;
    default: return FE_TONEAREST;
    }
}

static float operate_f32(uint32_t opcode, volatile float a, volatile float b, volatile float c) {
    switch (opcode) {
    case OPCODE_ADD: return a + b;
    case OPCODE_SUB: return a - b;
    case OPCODE_MUL: return a * b;
    case OPCODE_FMA: return fmaf(a, b, c);
    case OPCODE_DIV: return a / b;
    case OPCODE_RCP: return 1.0f / a;
    default: return sqrtf(a);
    }
}
static double operate_f64(uint32_t opcode, volatile double a, volatile double b, volatile double c) {
    switch (opcode) {
    case OPCODE_ADD: return a + b;
    case OPCODE_SUB: return a - b;
    case OPCODE_MUL: return a * b;
    case OPCODE_FMA: return fma(a, b, c);
    case OPCODE_DIV: return a / b;
    case OPCODE_RCP: return 1.0 / a;
    default: return sqrt(a);
    }
}

void lanes_directed(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d) {
    int before = fegetround();
    uint32_t n = i->source_count;
    fesetround(host_mode(i->rounding));
    if (i->type == TYPE_F32) EACH_LANE {
            float b = n > 1 ? READ_f32(s[1], l) : 0.0f, c = n > 2 ? READ_f32(s[2], l) : 0.0f;
            WRITE_f32(d, l, operate_f32(i->opcode, READ_f32(s[0], l), b, c));
        }
    else
        EACH_LANE {
            double b = n > 1 ? READ_f64(s[1], l) : 0.0, c = n > 2 ? READ_f64(s[2], l) : 0.0;
            WRITE_f64(d, l, operate_f64(i->opcode, READ_f64(s[0], l), b, c));
        }
    fesetround(before);
}

float lanes_directed_to_f32(double value, uint32_t rounding) {
    int before = fegetround();
    volatile double exact = value;
    fesetround(host_mode(rounding));
    volatile float result = (float)exact;
    fesetround(before);
    return result;
}

/* Converts 64-bit integers to f32 or f64. */
void lanes_directed_integers(const uint64_t *values, int is_signed, uint32_t rounding, uint32_t type,
                             lanes_operand *restrict d) {
    int before = fegetround();
    fesetround(host_mode(rounding));
    EACH_LANE {
        volatile uint64_t exact = values[l];
        if (type == TYPE_F32) {
            volatile float result = is_signed ? (float)(int64_t)exact : (float)exact;
            WRITE_f32(d, l, result);
        } else {
            volatile double result = is_signed ? (double)(int64_t)exact : (double)exact;
            WRITE_f64(d, l, result);
        }
    }
    fesetround(before);
}
