/* labels: property link: minigpu_core directed_of_engine */
/* The playground rounds without rounding modes exactly as the processor rounds with them. */
#include "lanes/lanes_internal.h"
#include "test.h"

void engine_lanes_directed(const instruction *i, const lanes_operand *const *s, lanes_operand *restrict d);
float engine_lanes_directed_to_f32(double value, uint32_t rounding);
void engine_lanes_directed_integers(const uint64_t *values, int is_signed, uint32_t rounding, uint32_t type,
                                    lanes_operand *restrict d);

static uint64_t drawn;

static uint64_t draw(void) {
    drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (drawn >> 32) ^ (drawn << 32);
}

/* Returns the bits of a number: any, a special one, or one of few digits, which cancels and rounds exactly more often.
 */
static uint64_t draw_bits(uint32_t type, uint64_t other) {
    static const uint64_t special32[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                         0x7f7fffff, 0x00800000, 1,          0x80000001, 0x007fffff, 0x7fc00000};
    static const uint64_t special64[] = {0,
                                         UINT64_C(1) << 63,
                                         UINT64_C(0x3ff) << 52,
                                         UINT64_C(0xbff) << 52,
                                         UINT64_C(0x7ff) << 52,
                                         UINT64_C(0xfff) << 52,
                                         (UINT64_C(0x7ff) << 52) - 1,
                                         UINT64_C(1) << 52,
                                         1,
                                         (UINT64_C(1) << 63) + 1,
                                         (UINT64_C(1) << 52) - 1,
                                         UINT64_C(0x7ff8) << 48};
    const int single = type == TYPE_F32;
    const uint64_t bits = draw();
    switch (draw() % 8) {
    case 0: return single ? special32[bits % 12] : special64[bits % 12];
    case 1: return other ^ (single ? 0x80000000u : UINT64_C(1) << 63); /* its negative */
    case 2: return other + bits % 9 - 4;                               /* one beside it */
    case 3:                                                            /* few digits, near 1 */
        return single ? 0x3f800000u + ((bits & 0x1f) << 19) + (bits & 0x80000000u)
                      : (UINT64_C(0x3ff) << 52) + ((bits & 0x1f) << 48) + (bits & UINT64_C(1) << 63);
    case 4: return single ? bits & 0x807fffffu : bits & UINT64_C(0x800fffffffffffff); /* below the normal ones */
    default: return single ? bits & UINT32_MAX : bits;
    }
}

static uint64_t lane_of(const lanes_operand *operand, uint32_t l) {
    return operand->word[0][l] | (uint64_t)operand->word[1][l] << 32;
}

static void set_lane(lanes_operand *operand, uint32_t l, uint64_t bits) {
    operand->word[0][l] = (uint32_t)bits;
    operand->word[1][l] = (uint32_t)(bits >> 32);
}

static int is_nan(uint32_t type, uint64_t bits) {
    return type == TYPE_F32 ? (bits & 0x7fffffffu) > 0x7f800000u && !(bits >> 32)
                            : (bits & ~(UINT64_C(1) << 63)) > UINT64_C(0x7ff) << 52;
}

/* Sums, products, quotients and roots in each rounding mode, bit for bit as the machine's own. */
static void directed_rounding_without_fenv(void **state) {
    static const uint32_t opcodes[] = {OPCODE_ADD, OPCODE_SUB, OPCODE_MUL, OPCODE_FMA,
                                       OPCODE_DIV, OPCODE_RCP, OPCODE_SQRT};
    static const uint32_t modes[] = {ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP};
    const uint64_t cases = test_cases(40000);
    uint64_t n;
    (void)state;
    drawn = test_seed();
    for (n = 0; n < cases; n++) {
        lanes_operand operands[3], wanted, got;
        const lanes_operand *sources[3] = {&operands[0], &operands[1], &operands[2]};
        instruction i;
        uint32_t l, k;
        memset(&i, 0, sizeof i);
        memset(operands, 0, sizeof operands);
        memset(&wanted, 0, sizeof wanted);
        memset(&got, 0, sizeof got);
        i.opcode = opcodes[draw() % 7];
        i.type = draw() % 2 ? TYPE_F32 : TYPE_F64;
        i.rounding = modes[draw() % 4];
        i.source_count = i.opcode == OPCODE_FMA ? 3 : i.opcode == OPCODE_RCP || i.opcode == OPCODE_SQRT ? 1 : 2;
        for (l = 0; l < 32; l++)
            for (k = 0; k < 3; k++) set_lane(&operands[k], l, draw_bits(i.type, k ? lane_of(&operands[k - 1], l) : 0));
        lanes_directed(&i, sources, &wanted);
        engine_lanes_directed(&i, sources, &got);
        for (l = 0; l < 32; l++) {
            const uint64_t a = lane_of(&wanted, l), b = lane_of(&got, l);
            test_check(a == b || (is_nan(i.type, a) && is_nan(i.type, b)), test_seed(), n);
        }
    }
}

/* Conversions between formats and integers in each rounding mode, likewise. */
static void directed_conversions_without_fenv(void **state) {
    static const uint32_t modes[] = {ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP};
    const uint64_t cases = test_cases(40000);
    uint64_t n;
    (void)state;
    drawn = test_seed();
    for (n = 0; n < cases; n++) {
        const uint32_t mode = modes[draw() % 4], type = draw() % 2 ? TYPE_F32 : TYPE_F64, sign = draw() % 2;
        const uint64_t bits = draw_bits(TYPE_F64, 0);
        uint64_t values[32];
        lanes_operand wanted, got;
        double value;
        float f, g;
        uint32_t l;
        memcpy(&value, &bits, sizeof value);
        f = lanes_directed_to_f32(value, mode);
        g = engine_lanes_directed_to_f32(value, mode);
        test_check(memcmp(&f, &g, sizeof f) == 0 || (f != f && g != g), test_seed(), n);
        memset(&wanted, 0, sizeof wanted);
        memset(&got, 0, sizeof got);
        for (l = 0; l < 32; l++) values[l] = draw() >> draw() % 64;
        lanes_directed_integers(values, (int)sign, mode, type, &wanted);
        engine_lanes_directed_integers(values, (int)sign, mode, type, &got);
        test_check(memcmp(&wanted, &got, sizeof got) == 0, test_seed(), n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(directed_rounding_without_fenv),
                                       cmocka_unit_test(directed_conversions_without_fenv)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
