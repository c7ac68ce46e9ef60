/* labels: unit equivalence link: minigpu_core */
/* Matrix instructions: fragments against the layouts of the PTX manual, written down here case by case; products
 * against plain C on adversarial operands; and kernels that nvcc compiled, with known results, on the machine. */
#include "test.h"
#include <math.h>
#include "tools/check.h"
#include "lanes/lanes.h"
#include "machine/machine.h"
#include "ptx/ptx_reader.h"

#define DEPTH 256

/* ---- one mma ---- */

/* Element i of a lane's fragment of A stands at row, column; of B at row k, column group.
 *
 * The layouts are those of the PTX ISA manual, release 9.2, section 9.7.14.5, "Matrix Fragments for mma.SHAPE":
 *   .2 m8n8k4 (f64)   .3 m8n8k16   .4 m8n8k32   .5 m8n8k128   .6 m16n8k4   .7 m16n8k8
 *   .8 m16n8k16 (floating point)   .9 m16n8k16 (8 bits)   .10 m16n8k32   .11 m16n8k64   .12 m16n8k128   .13 m16n8k256
 * These formulas were compared with the text of .3 to .6, .9 to .13, and of .7 and .8 as far as A. The text of .2 and
 * of B in .7 and .8 was not at hand: those formulas continue the pattern of the sections that were read. In .13 the
 * text on A says i where i < 64, and i & 0x1F elsewhere; the layout is the latter, since i would name columns twice. */
static int a_row(int shape, int i, int group) {
    switch (shape) {
    case 16816: return (i < 2) || (i >= 4 && i < 6) ? group : group + 8;     /* f16, bf16 */
    case 1688: return i < 2 ? group : group + 8;                             /* f16, bf16 */
    case 16832: return (i < 4) || (i >= 8 && i < 12) ? group : group + 8;    /* u8, s8, e4m3, e5m2 */
    case 168160: return i < 4 ? group : group + 8;                           /* u8, s8, e4m3 with K = 16 */
    case 16864: return (i < 8) || (i >= 16 && i < 24) ? group : group + 8;   /* u4, s4 */
    case 168320: return i < 8 ? group : group + 8;                           /* u4, s4 with K = 32 */
    case 168128: return i < 32 ? group : group + 8;                          /* b1 with K = 128 */
    case 168256: return (i < 32) || (i >= 64 && i < 96) ? group : group + 8; /* b1 */
    case 16808: return i == 0 || i == 2 ? group : group + 8;                 /* tf32, f64 with K = 8 */
    case 16804: return i == 0 ? group : group + 8;                           /* tf32, f64 with K = 4 */
    default: return group;                                                   /* M = 8 */
    }
}
static int a_column(int shape, int i, int thread) {
    switch (shape) {
    case 16816: return thread * 2 + (i & 1) + (i >= 4 ? 8 : 0);
    case 1688: return thread * 2 + (i & 1);
    case 16832: return thread * 4 + (i & 3) + (i >= 8 ? 16 : 0);
    case 168160:
    case 8816: return thread * 4 + (i & 3);
    case 16864: return thread * 8 + (i & 7) + (i >= 16 ? 32 : 0);
    case 168320:
    case 8832: return thread * 8 + (i & 7);
    case 168256: return thread * 32 + (i & 31) + (i >= 64 ? 128 : 0);
    case 168128:
    case 88128: return thread * 32 + (i & 31);
    case 16808: return i < 2 ? thread : thread + 4;
    default: return thread; /* K = 4 */
    }
}
static int b_row(int shape, int i, int thread) {
    switch (shape) {
    case 16816: return thread * 2 + (i & 1) + (i >= 2 ? 8 : 0);
    case 1688: return thread * 2 + (i & 1);
    case 16832: return thread * 4 + (i & 3) + (i >= 4 ? 16 : 0);
    case 168160:
    case 8816: return thread * 4 + (i & 3);
    case 16864: return thread * 8 + (i & 7) + (i >= 8 ? 32 : 0);
    case 168320:
    case 8832: return thread * 8 + (i & 7);
    case 168256: return thread * 32 + (i & 31) + (i >= 32 ? 128 : 0);
    case 168128:
    case 88128: return thread * 32 + (i & 31);
    case 16808: return i == 0 ? thread : thread + 4;
    default: return thread;
    }
}

typedef struct product_case {
    const char *text; /* types in the order of the instruction */
    int shape, m, k;
    uint32_t d_type, a_type, b_type;
} product_case;
static const product_case cases[] = {
    {"m16n8k16.row.col.f32.f16.f16.f32", 16816, 16, 16, TYPE_F32, TYPE_F16, TYPE_F16},
    {"m16n8k16.row.col.f16.f16.f16.f16", 16816, 16, 16, TYPE_F16, TYPE_F16, TYPE_F16},
    {"m16n8k8.row.col.f32.f16.f16.f32", 1688, 16, 8, TYPE_F32, TYPE_F16, TYPE_F16},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16816, 16, 16, TYPE_F32, TYPE_BF16, TYPE_BF16},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 1688, 16, 8, TYPE_F32, TYPE_BF16, TYPE_BF16},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 16808, 16, 8, TYPE_F32, TYPE_TF32, TYPE_TF32},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 16804, 16, 4, TYPE_F32, TYPE_TF32, TYPE_TF32},
    {"m8n8k4.row.col.f64.f64.f64.f64", 884, 8, 4, TYPE_F64, TYPE_F64, TYPE_F64},
    {"m16n8k4.row.col.f64.f64.f64.f64", 16804, 16, 4, TYPE_F64, TYPE_F64, TYPE_F64},
    {"m16n8k8.row.col.f64.f64.f64.f64", 16808, 16, 8, TYPE_F64, TYPE_F64, TYPE_F64},
    {"m16n8k32.row.col.s32.u8.s8.s32", 16832, 16, 32, TYPE_S32, TYPE_U8, TYPE_S8},
    {"m16n8k32.row.col.satfinite.s32.s8.s8.s32", 16832, 16, 32, TYPE_S32, TYPE_S8, TYPE_S8},
    {"m16n8k16.row.col.s32.s8.u8.s32", 168160, 16, 16, TYPE_S32, TYPE_S8, TYPE_U8},
    {"m8n8k16.row.col.s32.u8.u8.s32", 8816, 8, 16, TYPE_S32, TYPE_U8, TYPE_U8},
    {"m16n8k64.row.col.s32.s4.u4.s32", 16864, 16, 64, TYPE_S32, TYPE_S4, TYPE_U4},
    {"m16n8k32.row.col.s32.u4.s4.s32", 168320, 16, 32, TYPE_S32, TYPE_U4, TYPE_S4},
    {"m8n8k32.row.col.s32.u4.s4.s32", 8832, 8, 32, TYPE_S32, TYPE_U4, TYPE_S4},
    {"m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 168256, 16, 256, TYPE_S32, TYPE_B1, TYPE_B1},
    {"m16n8k128.row.col.s32.b1.b1.s32.and.popc", 168128, 16, 128, TYPE_S32, TYPE_B1, TYPE_B1},
    {"m8n8k128.row.col.s32.b1.b1.s32.and.popc", 88128, 8, 128, TYPE_S32, TYPE_B1, TYPE_B1},
    {"m16n8k16.row.col.f32.e5m2.e4m3.f32", 168160, 16, 16, TYPE_F32, TYPE_E5M2, TYPE_E4M3},
    {"m16n8k32.row.col.f32.e4m3.e5m2.f32", 16832, 16, 32, TYPE_F32, TYPE_E4M3, TYPE_E5M2},
};

static int bits_of(uint32_t type) {
    switch (type) {
    case TYPE_B1: return 1;
    case TYPE_U4:
    case TYPE_S4: return 4;
    case TYPE_U8:
    case TYPE_S8:
    case TYPE_E4M3:
    case TYPE_E5M2: return 8;
    case TYPE_F16:
    case TYPE_BF16: return 16;
    case TYPE_F64: return 64;
    default: return 32;
    }
}

static double small(uint64_t bits, int fraction_bits, int exponent_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1, top = 2 * bias + 1, exponent = (int)(bits >> fraction_bits) & top;
    const double fraction = (double)(bits & ((1u << fraction_bits) - 1)),
                 sign = bits >> (fraction_bits + exponent_bits) & 1 ? -1.0 : 1.0;
    if (exponent == top) return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(fraction + (double)(1 << fraction_bits), exponent - bias - fraction_bits)
                            : ldexp(fraction, 1 - bias - fraction_bits));
}

static double real_of(uint32_t type, uint64_t bits) {
    float single;
    double number;
    uint32_t low = (uint32_t)bits;
    switch (type) {
    case TYPE_F16: return small(bits, 10, 5);
    case TYPE_BF16: return small(bits, 7, 8);
    case TYPE_TF32: return small(bits >> 13, 10, 8);
    case TYPE_E5M2: return small(bits, 2, 5);
    case TYPE_E4M3: /* no infinities: the top exponent holds numbers, but for one NaN of each sign */
        if ((bits & 0x7f) == 0x7f) return (double)NAN;
        if ((bits >> 3 & 15) == 15) return (bits & 0x80 ? -1.0 : 1.0) * ldexp(8.0 + (double)(bits & 7), 5);
        return small(bits, 3, 4);
    case TYPE_F32: memcpy(&single, &low, 4); return (double)single;
    case TYPE_F64: memcpy(&number, &bits, 8); return number;
    case TYPE_S8: return (double)(int8_t)bits;
    case TYPE_S4: return (double)((int)(bits & 7) - (int)(bits & 8));
    case TYPE_S32: return (double)(int32_t)low;
    default: return (double)bits;
    }
}

/* The element i of a fragment in lane's registers. */
static uint64_t element(const lanes_operand *registers, uint32_t type, int i, uint32_t lane) {
    const int bits = bits_of(type), each = 32 / bits;
    if (bits == 64) return lanes_get(&registers[i], lane);
    const uint32_t word = registers[i / each].word[0][lane] >> (bits * (i % each));
    return bits == 32 ? word : word & ((1u << bits) - 1);
}

static uint64_t random_bits(uint64_t *seed, uint32_t type) {
    static const uint16_t halves[] = {0x0000, 0x8000, 0x0001, 0x03ff, 0x0400, 0x7bff,
                                      0xfbff, 0x3c00, 0xbc00, 0x7c00, 0x7e00};
    static const uint32_t singles[] = {0,          0x80000000, 1,          0x00800000, 0x7f7fffff,
                                       0x3f800000, 0x3f801fff, 0x7f800000, 0x7fc00000, 0xbf800001};
    uint64_t any = gpump_random_next(seed), moderate = any >> 20;
    if (type == TYPE_F64) return (moderate & UINT64_C(0x800fffffffffffff)) | UINT64_C(0x3f) << 56;
    if (type == TYPE_TF32) return any % 23 ? (uint32_t)(moderate & 0x83ffffff) | 0x3c000000 : singles[any % 10];
    if (type == TYPE_F16 || type == TYPE_BF16)
        for (uint32_t j = 0; j < 2; j++) {
            const uint64_t part = type == TYPE_BF16       ? (moderate >> (16 * j) & 0x83ff) | 0x3c00
                                  : any >> (8 * j) & 0x7f ? moderate >> (16 * j) & 0xbfff
                                                          : halves[(any >> 4) % (sizeof halves / sizeof *halves)];
            any = (any & ~(UINT64_C(0xffff) << (16 * j))) | part << (16 * j);
        }
    return (uint32_t)any;
}

static instruction read_one(const char *text, ptx_module *module) {
    char whole[2048];
    ptx_error error;
    int length = snprintf(whole, sizeof whole,
                          ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n.reg .b32 %%r<32>;\n"
                          ".reg .f64 %%g<16>;\n.reg .b64 %%d<4>;\n%s;\nret;\n}\n",
                          text);
    if (ptx_read(whole, (size_t)length, "one.ptx", module, &error)) fail_msg("%s", error.text);
    if (module->refusal_count) fail_msg("%s", module->refusals[0].text);
    return module->kernels[0].instructions[0];
}

static int list(char *text, const char *prefix, int first, int count) {
    int length = sprintf(text, "{");
    for (int i = 0; i < count; i++) length += sprintf(text + length, "%s%s%d", i ? ", " : "", prefix, first + i);
    return length + sprintf(text + length, "}");
}

static void check_case(const product_case *c, uint64_t *seed) {
    static double a[16][DEPTH], b[DEPTH][8];
    const char *wide = c->d_type == TYPE_F64 ? "%g" : "%r";
    const int each = c->d_type == TYPE_F64 ? 1 : 32 / bits_of(c->a_type), blocks = c->m / 8,
              a_count = c->m * c->k / 32 / each, b_count = c->k * 8 / 32 / each,
              c_count = c->d_type == TYPE_F16 ? blocks : 2 * blocks;
    lanes_operand s[INSTRUCTION_SOURCES], d[INSTRUCTION_DESTINATIONS];
    ptx_module module;
    char text[512];
    int length = sprintf(text, "mma.sync.aligned.%s ", c->text);
    length += list(text + length, wide, 0, c_count);
    length += sprintf(text + length, ", ");
    length += list(text + length, wide, 4, a_count);
    length += sprintf(text + length, ", ");
    length += list(text + length, wide, 8, b_count);
    length += sprintf(text + length, ", ");
    list(text + length, wide, 12, c_count);
    const instruction i = read_one(text, &module);
    assert_int_equal(i.source_count, a_count + b_count + c_count);
    assert_int_equal(i.destination_count, c_count);
    for (int k = 0; k < a_count + b_count + c_count; k++)
        for (uint32_t l = 0; l < 32; l++)
            lanes_set(&s[k], l,
                      k < a_count                      ? random_bits(seed, c->a_type)
                      : k < a_count + b_count          ? random_bits(seed, c->b_type)
                      : c->d_type == TYPE_F32          ? random_bits(seed, TYPE_TF32)
                      : c->d_type == TYPE_S32 && l % 3 ? (uint32_t)INT32_MAX - l
                                                       : random_bits(seed, c->d_type));
    for (int l = 0; l < 32; l++) {
        for (int e = 0; e < a_count * each; e++)
            a[a_row(c->shape, e, l / 4)][a_column(c->shape, e, l % 4)] =
                real_of(c->a_type, element(s, c->a_type, e, (uint32_t)l));
        for (int e = 0; e < b_count * each; e++)
            b[b_row(c->shape, e, l % 4)][l / 4] = real_of(c->b_type, element(s + a_count, c->b_type, e, (uint32_t)l));
    }
    memset(d, 0xa5, sizeof d);
    lanes_compute(&i, UINT32_MAX, s, d);
    for (uint32_t l = 0; l < 32; l++)
        for (int e = 0; e < 2 * blocks; e++) {
            const int row = (int)(l / 4) + (e >= 2 ? 8 : 0), column = (int)(l % 4) * 2 + (e & 1);
            double sum = real_of(c->d_type, element(s + a_count + b_count, c->d_type, e, l));
            uint64_t want, got = element(d, c->d_type, e, l);
            for (int k = 0; k < c->k; k++) {
                const double x = a[row][k], y = b[k][column];
                if (c->a_type == TYPE_B1)
                    sum += strstr(c->text, "xor") ? x + y - 2 * x * y : x * y;
                else
                    sum = c->d_type == TYPE_F64 ? fma(x, y, sum) : sum + x * y;
            }
            if (c->d_type == TYPE_S32) {
                if (strstr(c->text, "satfinite"))
                    sum = sum > 2147483647.0 ? 2147483647.0 : sum < -2147483648.0 ? -2147483648.0 : sum;
                want = (uint32_t)(int64_t)sum;
            } else if (c->d_type == TYPE_F64) {
                memcpy(&want, &sum, 8);
            } else if (c->d_type == TYPE_F32) {
                const float single = (float)sum;
                uint32_t low;
                memcpy(&low, &single, 4);
                want = single != single ? 0x7fffffff : low;
            } else { /* the f16 that is nearest: no other may be nearer */
                double own = real_of(TYPE_F16, got), error = fabs(own - sum);
                want = got;
                if (isnan(sum) || fabs(sum) >= 65520.0)
                    want = isnan(sum) ? 0x7fff : sum < 0 ? 0xfc00 : 0x7c00;
                else if (!(error <= fabs(real_of(TYPE_F16, got + 1) - sum)) ||
                         ((got & 0x7fff) && !(error <= fabs(real_of(TYPE_F16, got - 1) - sum))))
                    fail_msg("%s: lane %u, element %d: 0x%x is not the nearest to %g", c->text, l, e, (unsigned)got,
                             sum);
            }
            if (got != want)
                fail_msg("%s: lane %u, element %d (row %d, column %d): 0x%llx, not 0x%llx", c->text, l, e, row, column,
                         (unsigned long long)got, (unsigned long long)want);
        }
    ptx_free(&module);
}

/* Every shape and type of mma beside sums in C. */
static void matrix_products_of_every_shape(void **state) {
    uint64_t seed = test_seed(), rounds = test_cases(40);
    (void)state;
    for (uint64_t round = 0; round < rounds; round++)
        for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(&cases[i], &seed);
}

/* ---- rows of matrices ---- */

/* Which lane gets which element of the rows that are loaded, stored and transposed. */
static void ldmatrix_and_stmatrix_place_their_rows(void **state) {
    uint8_t bytes[32 * 16], back[32 * 16];
    lanes_operand s[INSTRUCTION_SOURCES], d[INSTRUCTION_DESTINATIONS], moved;
    ptx_module module;
    (void)state;
    for (uint32_t k = 0; k < sizeof bytes; k++) bytes[k] = (uint8_t)(k * 89 + k / 256 * 7 + 3);
    for (int transposed = 0; transposed < 2; transposed++) {
        instruction load =
            read_one(transposed ? "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r0, %r1, %r2, %r3}, [%r4+32]"
                                : "ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%r0, %r1, %r2, %r3}, [%d1]",
                     &module);
        ptx_free(&module);
        assert_int_equal(instruction_access_bytes(&load), 16);
        assert_int_equal(instruction_address_lanes(&load, UINT32_MAX), UINT32_MAX);
        lanes_from_memory(&load, UINT32_MAX, bytes, 16, d);
        for (uint32_t m = 0; m < 4; m++)
            for (uint32_t l = 0; l < 32; l++)
                for (uint32_t j = 0; j < 2; j++) {
                    const uint32_t row = transposed ? l % 4 * 2 + j : l / 4,
                                   column = transposed ? l / 4 : l % 4 * 2 + j, at = (8 * m + row) * 16 + 2 * column;
                    assert_int_equal(d[m].word[0][l] >> (16 * j) & 0xffff, bytes[at] | bytes[at + 1] << 8);
                }
        instruction store =
            read_one(transposed ? "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r4], {%r0, %r1, %r2, %r3}"
                                : "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r4], {%r0, %r1, %r2, %r3}",
                     &module);
        ptx_free(&module);
        for (uint32_t m = 0; m < 4; m++) s[m + 1] = d[m];
        lanes_to_memory(&store, UINT32_MAX, s, back, 16);
        assert_memory_equal(back, bytes, sizeof bytes);
    }
    instruction two = read_one("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%r4]", &module);
    ptx_free(&module);
    assert_int_equal(instruction_address_lanes(&two, UINT32_MAX), 0xffff);
    instruction move = read_one("movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1", &module);
    ptx_free(&module);
    instruction plain = read_one("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r4]", &module);
    ptx_free(&module);
    instruction turned = read_one("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r0}, [%r4]", &module);
    ptx_free(&module);
    lanes_from_memory(&plain, UINT32_MAX, bytes, 16, &s[0]);
    lanes_from_memory(&turned, UINT32_MAX, bytes, 16, d);
    lanes_compute(&move, UINT32_MAX, s, &moved);
    assert_memory_equal(moved.word[0], d[0].word[0], sizeof moved.word[0]);
}

/* ---- kernels of nvcc on the machine ---- */

typedef struct kernel_case {
    const char *name;
    int m, n, k;
} kernel_case;
#define LAYOUTS(name, m, n, k) \
    {name "_rows", m, n, k}, {name "_columns", m, n, k}, { name "_mixed", m, n, k }
static const kernel_case kernels[] = {
    LAYOUTS("f16_f32_16", 16, 16, 16), LAYOUTS("f16_f32_32", 32, 8, 16), LAYOUTS("f16_f32_8", 8, 32, 16),
    LAYOUTS("f16_f16_16", 16, 16, 16), LAYOUTS("f16_f16_8", 8, 32, 16),  LAYOUTS("bf16_16", 16, 16, 16),
    LAYOUTS("s8_16", 16, 16, 16),      LAYOUTS("u8_8", 8, 32, 16),       LAYOUTS("s8_32", 32, 8, 16),
    LAYOUTS("tf32", 16, 16, 8),        LAYOUTS("f64", 8, 8, 4),          {"bf16_32", 32, 8, 16},
    {"ldmatrix_mma", 16, 8, 16}};

static const int *contents(const launch_file *launch, uint32_t buffer) {
    return (const int *)(const void *)launch->buffers[buffer].contents;
}

/* Kernels compiled from CUDA with mma, on the whole machine. */
static void kernels_of_matrix_instructions_end_right(void **state) {
    (void)state;
    for (uint32_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const kernel_case *c = &kernels[i];
        const char *path = "matrix_launch.yaml";
        char error[LAUNCH_ERROR_BYTES];
        launch_file launch;
        machine_options options;
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file,
                "kernels:\n  - ptx: %s/tests/ptx/ptx_corpus/matrix.ptx\n    kernel: %s\n    grid: 1\n    block: 32\n"
                "    arguments:\n"
                "      - buffer: {type: s32, count: %d, random: {seed: 1, low: %d, high: 5}}\n"
                "      - buffer: {type: s32, count: %d, random: {seed: 2, low: %d, high: 6}}\n"
                "      - buffer: {type: s32, count: %d, random: {seed: 3, low: -20, high: 20}}\n"
                "      - buffer: {type: s32, count: %d}\n",
                GPUMP_SOURCE_DIR, c->name, c->m * c->k, c->name[0] == 'u' ? 0 : -5, c->k * c->n,
                c->name[0] == 'u' ? 0 : -6, c->m * c->n, c->m * c->n);
        fclose(file);
        if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
        machine_options_default(&options);
        machine *m = machine_build(&launch, &options, error);
        if (!m) fail_msg("%s: %s", c->name, error);
        if (machine_run(m, NEVER) != 1) fail_msg("%s: %s", c->name, m->error);
        const int *a = contents(&launch, 0), *b = contents(&launch, 1), *before = contents(&launch, 2);
        const int *d = (const int *)(const void *)device_memory(m, launch.buffers[3].address);
        for (int row = 0; row < c->m; row++)
            for (int column = 0; column < c->n; column++) {
                int want = before[row * c->n + column];
                for (int k = 0; k < c->k; k++) want += a[row * c->k + k] * b[k * c->n + column];
                if (d[row * c->n + column] != want)
                    fail_msg("%s: row %d, column %d: %d, not %d", c->name, row, column, d[row * c->n + column], want);
            }
        machine_free(m);
        launch_file_free(&launch);
        remove(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(matrix_products_of_every_shape),
                                       cmocka_unit_test(ldmatrix_and_stmatrix_place_their_rows),
                                       cmocka_unit_test(kernels_of_matrix_instructions_end_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
