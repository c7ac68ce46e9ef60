#include "lanes/lanes_quick.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "lanes/lanes_internal.h"

/* One vector holds as many lanes as possible. A result may overlap a source, so a vector is read before it is
 * written. */
#ifdef __AVX2__
#define VECTOR_LANES 8
#else
#define VECTOR_LANES 4
#endif
typedef uint32_t words __attribute__((vector_size(4 * VECTOR_LANES), aligned(4), may_alias));
typedef int32_t integers __attribute__((vector_size(4 * VECTOR_LANES), aligned(4), may_alias));
typedef float reals __attribute__((vector_size(4 * VECTOR_LANES), aligned(4), may_alias));

#define EACH_VECTOR for (uint32_t k = 0; k < LANES; k += VECTOR_LANES)
#define GET(type, place) (*(const type *)(const void *)((place) + k))
#define PUT(place, value) (*(words *)(void *)((place) + k) = (value))

/* Returns x where the mask is all ones, else y. */
static inline words choose(words mask, words x, words y) {
#ifdef __AVX2__
    return (words)_mm256_blendv_epi8((__m256i)y, (__m256i)x, (__m256i)mask);
#else
    return (mask & x) | (~mask & y);
#endif
}
static inline words result_of(reals value) {
    return choose((words)(value == value), (words)value, (words){0} + NAN_F32);
}
/* Shifts, also by 32 and more. */
static inline words shift_left(words x, words n) { return (x << (n & 31)) & (words)(n < 32); }
static inline words shift_right(words x, words n) { return (x >> (n & 31)) & (words)(n < 32); }
static inline words shift_signed(words x, words n) {
    return (words)((integers)x >> (integers)choose((words)(n < 32), n, (words){0} + 31));
}

/* Returns the highest bit of each lane. */
static inline uint32_t mask_of(words flags) {
#ifdef __AVX2__
    return (uint32_t)_mm256_movemask_ps((__m256)flags);
#else
    uint32_t mask = 0;
    for (uint32_t l = 0; l < VECTOR_LANES; l++) mask |= (flags[l] >> 31) << l;
    return mask;
#endif
}

/* ---- each operation is a function ---- */

typedef void quick_function(const lanes_quick *q, uint32_t active, uint32_t *registers, uint32_t *predicates);

/* The first word of source k, and of the result. */
#define SOURCE(k) ((q->is_constant >> (k)&1 ? q->constants : registers) + q->from[k])
#define RESULT (registers + q->to)

/* Returns result, but the old words in the lanes that are not active. */
#define MERGED(place, result) choose((words)((GET(words, lane_bits) & active) == 0), GET(words, place), (result))

/* Writes a result of one word in the active lanes. */
#define WRITE(expression)                 \
    if (active == UINT32_MAX)             \
        EACH_VECTOR PUT(d, (expression)); \
    else                                  \
        EACH_VECTOR PUT(d, MERGED(d, (expression)))

static inline uint32_t predicate_source(const lanes_quick *q, uint32_t source, const uint32_t *predicates) {
    const uint32_t negated = q->is_negated >> source & 1;
    return predicates[q->from[source]] ^ (0 - negated);
}
static inline void write_predicate(const lanes_quick *q, uint32_t active, uint32_t *predicates, uint32_t mask) {
    predicates[q->to] = (predicates[q->to] & ~active) | (mask & active);
}

#define FUNCTION(name) \
    static void quick_##name(const lanes_quick *q, uint32_t active, uint32_t *registers, uint32_t *predicates)

#define WORDS_1(name, expression)      \
    FUNCTION(name) {                   \
        const uint32_t *a = SOURCE(0); \
        uint32_t *d = RESULT;          \
        (void)predicates;              \
        WRITE(expression);             \
    }
#define WORDS_2(name, expression)                      \
    FUNCTION(name) {                                   \
        const uint32_t *a = SOURCE(0), *b = SOURCE(1); \
        uint32_t *d = RESULT;                          \
        (void)predicates;                              \
        WRITE(expression);                             \
    }
#define X GET(words, a)
#define Y GET(words, b)

WORDS_1(MOV, X)
WORDS_1(NOT, ~X)
WORDS_1(NEG, 0 - X)
WORDS_1(F32_OF_S32, (words) __builtin_convertvector(GET(integers, a), reals))
WORDS_2(ADD, X + Y)
WORDS_2(SUB, X - Y)
WORDS_2(MUL, X *Y)
WORDS_2(AND, X &Y)
WORDS_2(OR, X | Y)
WORDS_2(XOR, X ^ Y)
WORDS_2(SHL, shift_left(X, Y))
WORDS_2(SHR_U32, shift_right(X, Y))
WORDS_2(SHR_S32, shift_signed(X, Y))
WORDS_2(MIN_U32, choose((words)(X < Y), X, Y))
WORDS_2(MIN_S32, choose((words)(GET(integers, a) < GET(integers, b)), X, Y))
WORDS_2(MAX_U32, choose((words)(X > Y), X, Y))
WORDS_2(MAX_S32, choose((words)(GET(integers, a) > GET(integers, b)), X, Y))
WORDS_2(ADD_F32, result_of(GET(reals, a) + GET(reals, b)))
WORDS_2(SUB_F32, result_of(GET(reals, a) - GET(reals, b)))
WORDS_2(MUL_F32, result_of(GET(reals, a) * GET(reals, b)))

FUNCTION(MAD) {
    const uint32_t *a = SOURCE(0), *b = SOURCE(1), *c = SOURCE(2);
    uint32_t *d = RESULT;
    (void)predicates;
    WRITE(X * Y + GET(words, c));
}

FUNCTION(SELP) {
    const uint32_t *a = SOURCE(0), *b = SOURCE(1), p = predicate_source(q, 2, predicates);
    uint32_t *d = RESULT;
    WRITE(choose((words)((GET(words, lane_bits) & p) == 0), Y, X));
}

FUNCTION(FMA_F32) {
    const uint32_t *a = SOURCE(0), *b = SOURCE(1), *c = SOURCE(2);
    uint32_t *d = RESULT;
#ifdef __FMA__
    WRITE(result_of((reals)_mm256_fmadd_ps((__m256)GET(reals, a), (__m256)GET(reals, b), (__m256)GET(reals, c))));
#else
    const lanes_operand *const sources[] = {(const lanes_operand *)(const void *)a,
                                            (const lanes_operand *)(const void *)b,
                                            (const lanes_operand *)(const void *)c};
    lanes_operand result;
    lanes_fused_f32(sources, &result);
    WRITE(GET(words, result.word[0]));
#endif
    (void)predicates;
}

/* Writes a result of two words, `low` and `high`, in the active lanes. */
static inline void write_pair(uint32_t *d, uint32_t k, uint32_t active, words low, words high) {
    if (active != UINT32_MAX) {
        low = MERGED(d, low);
        high = MERGED(d + LANES, high);
    }
    PUT(d, low);
    PUT(d + LANES, high);
}

FUNCTION(MOV_64) {
    const uint32_t *a = SOURCE(0);
    (void)predicates;
    EACH_VECTOR write_pair(RESULT, k, active, X, GET(words, a + LANES));
}

FUNCTION(ADD_64) {
    const uint32_t *a = SOURCE(0), *b = SOURCE(1);
    (void)predicates;
    EACH_VECTOR {
        const words x = X, low = x + Y, high = GET(words, a + LANES) + GET(words, b + LANES) - (words)(low < x);
        write_pair(RESULT, k, active, low, high);
    }
}

FUNCTION(EXTEND_U32) {
    const uint32_t *a = SOURCE(0);
    (void)predicates;
    EACH_VECTOR write_pair(RESULT, k, active, X, (words){0});
}

FUNCTION(EXTEND_S32) {
    const uint32_t *a = SOURCE(0);
    (void)predicates;
    EACH_VECTOR write_pair(RESULT, k, active, X, (words)(GET(integers, a) < 0));
}

/* Computes products of 64 bits, plus c unless c is NULL. The result may be in the registers of a source. */
static inline void wide(int is_signed, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t active,
                        uint32_t *d) {
    uint64_t p[LANES];
    uint32_t result[2 * LANES];
    if (is_signed)
        EACH_LANE p[l] = (uint64_t)((int64_t)(int32_t)a[l] * (int64_t)(int32_t)b[l]);
    else
        EACH_LANE p[l] = (uint64_t)a[l] * b[l];
    if (c) EACH_LANE p[l] += c[l] | (uint64_t)c[LANES + l] << 32;
    if (active == UINT32_MAX) {
        EACH_LANE d[l] = (uint32_t)p[l];
        EACH_LANE d[LANES + l] = (uint32_t)(p[l] >> 32);
        return;
    }
    EACH_LANE result[l] = (uint32_t)p[l];
    EACH_LANE result[LANES + l] = (uint32_t)(p[l] >> 32);
    EACH_VECTOR write_pair(d, k, active, GET(words, result), GET(words, result + LANES));
}

#define WIDE(name, is_signed, addend)                                  \
    FUNCTION(name) {                                                   \
        (void)predicates;                                              \
        wide(is_signed, SOURCE(0), SOURCE(1), addend, active, RESULT); \
    }
WIDE(WIDE_U32, 0, NULL)
WIDE(WIDE_S32, 1, NULL)
WIDE(WIDE_MAD_U32, 0, SOURCE(2))
WIDE(WIDE_MAD_S32, 1, SOURCE(2))

#define COMPARES(name, type, expression)                   \
    FUNCTION(name) {                                       \
        const uint32_t *a = SOURCE(0), *b = SOURCE(1);     \
        uint32_t mask = 0;                                 \
        EACH_VECTOR {                                      \
            const type x = GET(type, a), y = GET(type, b); \
            mask |= mask_of((words)(expression)) << k;     \
        }                                                  \
        write_predicate(q, active, predicates, mask);      \
    }
COMPARES(EQ, words, x == y)
COMPARES(NE, words, x != y)
COMPARES(LT_U32, words, x < y)
COMPARES(LE_U32, words, x <= y)
COMPARES(LT_S32, integers, x < y)
COMPARES(LE_S32, integers, x <= y)
COMPARES(EQ_F32, reals, x == y)
COMPARES(NE_F32, reals, (x < y) | (x > y))
COMPARES(LT_F32, reals, x < y)
COMPARES(LE_F32, reals, x <= y)

#define PREDICATES(name, expression)                          \
    FUNCTION(name) {                                          \
        (void)registers;                                      \
        write_predicate(q, active, predicates, (expression)); \
    }
PREDICATES(MOV_P, predicate_source(q, 0, predicates))
PREDICATES(NOT_P, ~predicate_source(q, 0, predicates))
PREDICATES(AND_P, predicate_source(q, 0, predicates) & predicate_source(q, 1, predicates))
PREDICATES(OR_P, predicate_source(q, 0, predicates) | predicate_source(q, 1, predicates))
PREDICATES(XOR_P, predicate_source(q, 0, predicates) ^ predicate_source(q, 1, predicates))

static quick_function *const quick_functions[QUICK_COUNT] = {NULL,
#define QUICK_ROW(name, result, a, b, c) quick_##name,
                                                             QUICK_OPERATIONS(QUICK_ROW)
#undef QUICK_ROW
};

void lanes_quick_execute(const lanes_quick *q, uint32_t active, uint32_t *registers, uint32_t *predicates) {
    quick_functions[q->operation](q, active, registers, predicates);
}

#ifndef SM_ENTRY /* once for all forms */

/* Returns the operation of an opcode on predicates. */
static uint32_t of_predicates(uint32_t opcode) {
    switch (opcode) {
    case OPCODE_MOV: return QUICK_MOV_P;
    case OPCODE_NOT: return QUICK_NOT_P;
    case OPCODE_AND: return QUICK_AND_P;
    case OPCODE_OR: return QUICK_OR_P;
    case OPCODE_XOR: return QUICK_XOR_P;
    default: return QUICK_NONE;
    }
}

/* Returns the comparison of a setp. GT and GE exchange their operands. */
static uint32_t of_compare(const instruction *i) {
    const int is_real = i->type == TYPE_F32, is_signed = type_is_signed(i->type);
    if (i->variant != VARIANT_NONE) return QUICK_NONE; /* the result is combined with a predicate */
    switch (i->compare) {
    case COMPARE_EQ: return is_real ? QUICK_EQ_F32 : QUICK_EQ;
    case COMPARE_NE: return is_real ? QUICK_NE_F32 : QUICK_NE;
    case COMPARE_LT:
    case COMPARE_GT: return is_real ? QUICK_LT_F32 : is_signed ? QUICK_LT_S32 : QUICK_LT_U32;
    case COMPARE_LE:
    case COMPARE_GE: return is_real ? QUICK_LE_F32 : is_signed ? QUICK_LE_S32 : QUICK_LE_U32;
    default: return QUICK_NONE;
    }
}

static uint32_t of_f32(const instruction *i) {
    switch (i->opcode) {
    case OPCODE_MOV: return QUICK_MOV;
    case OPCODE_ADD: return QUICK_ADD_F32;
    case OPCODE_SUB: return QUICK_SUB_F32;
    case OPCODE_MUL: return QUICK_MUL_F32;
    case OPCODE_FMA: return QUICK_FMA_F32;
    case OPCODE_SELP: return QUICK_SELP;
    case OPCODE_SETP: return of_compare(i);
    case OPCODE_CVT: return i->source_type == TYPE_S32 ? QUICK_F32_OF_S32 : QUICK_NONE;
    default: return QUICK_NONE;
    }
}

static uint32_t of_integers(const instruction *i) {
    const int is_signed = type_is_signed(i->type), is_wide = i->variant == VARIANT_WIDE;
    if (is_wide && i->opcode == OPCODE_MUL) return is_signed ? QUICK_WIDE_S32 : QUICK_WIDE_U32;
    if (is_wide && i->opcode == OPCODE_MAD) return is_signed ? QUICK_WIDE_MAD_S32 : QUICK_WIDE_MAD_U32;
    switch (i->opcode) {
    case OPCODE_MOV: return QUICK_MOV;
    case OPCODE_NOT: return QUICK_NOT;
    case OPCODE_NEG: return QUICK_NEG;
    case OPCODE_ADD: return QUICK_ADD;
    case OPCODE_SUB: return QUICK_SUB;
    case OPCODE_MUL: return i->variant == VARIANT_LO ? QUICK_MUL : QUICK_NONE;
    case OPCODE_MAD: return i->variant == VARIANT_LO ? QUICK_MAD : QUICK_NONE;
    case OPCODE_AND: return QUICK_AND;
    case OPCODE_OR: return QUICK_OR;
    case OPCODE_XOR: return QUICK_XOR;
    case OPCODE_SHL: return QUICK_SHL;
    case OPCODE_SHR: return is_signed ? QUICK_SHR_S32 : QUICK_SHR_U32;
    case OPCODE_MIN: return is_signed ? QUICK_MIN_S32 : QUICK_MIN_U32;
    case OPCODE_MAX: return is_signed ? QUICK_MAX_S32 : QUICK_MAX_U32;
    case OPCODE_SELP: return QUICK_SELP;
    case OPCODE_SETP: return of_compare(i);
    default: return QUICK_NONE;
    }
}

static uint32_t of_integers_64(const instruction *i) {
    const uint32_t from = i->source_type;
    switch (i->opcode) {
    case OPCODE_MOV: return QUICK_MOV_64;
    case OPCODE_ADD: return QUICK_ADD_64;
    case OPCODE_CVTA: return i->space == SPACE_GLOBAL ? QUICK_MOV_64 : QUICK_NONE;
    case OPCODE_CVT: return from == TYPE_S32 ? QUICK_EXTEND_S32 : from == TYPE_U32 ? QUICK_EXTEND_U32 : QUICK_NONE;
    default: return QUICK_NONE;
    }
}

static uint32_t operation_of(const instruction *i) {
    const uint32_t unusual = FLAG_SATURATE | FLAG_FTZ | FLAG_CARRY_OUT | FLAG_NAN | FLAG_RELU;
    if ((i->flags & unusual) || i->vector > 1 || i->destination_count != 1) return QUICK_NONE;
    if (i->type == TYPE_PRED) return of_predicates(i->opcode);
    if (i->type == TYPE_F32) return i->rounding > ROUND_RN ? QUICK_NONE : of_f32(i);
    if (type_is_float(i->type)) return QUICK_NONE;
    return type_bytes(i->type) == 4 ? of_integers(i) : type_bytes(i->type) == 8 ? of_integers_64(i) : QUICK_NONE;
}

typedef struct quick_shape {
    uint8_t result, sources[QUICK_SOURCES];
} quick_shape;
static const quick_shape shapes[QUICK_COUNT] = {{0, {0, 0, 0}},
#define QUICK_SHAPE(name, result, a, b, c) {result, {a, b, c}},
                                                QUICK_OPERATIONS(QUICK_SHAPE)
#undef QUICK_SHAPE
};

/* Returns whether the operand is the same for all threads of a launch. */
static int is_of_launch(const operand *o) {
    return o->kind == OPERAND_PARAM ||
           (o->kind == OPERAND_SPECIAL && ((o->index >= SPECIAL_NTID_X && o->index <= SPECIAL_NTID_Z) ||
                                           (o->index >= SPECIAL_NCTAID_X && o->index <= SPECIAL_NCTAID_Z)));
}
static int is_constant(const operand *o) { return o->kind == OPERAND_IMMEDIATE || is_of_launch(o); }

/* Returns source k. GT and GE become LT and LE of exchanged operands. */
static const operand *source_of(const instruction *i, uint32_t k) {
    const int exchanged = i->opcode == OPCODE_SETP && (i->compare == COMPARE_GT || i->compare == COMPARE_GE);
    return &i->sources[exchanged ? 1 - k : k];
}

/* Returns whether the operands are where the operation reads them. */
static int fits(const instruction *i, const quick_shape *shape) {
    const operand *to = &i->destinations[0];
    uint32_t k, sources = 0;
    if (shape->result ? to->kind != OPERAND_REGISTER || to->words != shape->result || to->bytes != 4 * shape->result
                      : to->kind != OPERAND_PREDICATE)
        return 0;
    for (k = 0; k < QUICK_SOURCES && shape->sources[k]; k++, sources++) {
        const operand *o = &i->sources[k];
        if (shape->sources[k] == QUICK_P
                ? o->kind != OPERAND_PREDICATE
                : (o->kind != OPERAND_REGISTER && !is_constant(o)) || o->words != shape->sources[k])
            return 0;
    }
    return i->source_count == sources;
}

uint32_t lanes_quick_prepare(const instruction *i, uint32_t *constants, uint32_t first, lanes_quick *quick) {
    const uint32_t operation = operation_of(i);
    uint32_t k, l, w, count = 0;
    memset(quick, 0, sizeof *quick);
    if (!operation || !fits(i, &shapes[operation])) return 0;
    quick->operation = (uint8_t)operation;
    quick->result_words = shapes[operation].result;
    quick->to = i->destinations[0].index * (quick->result_words ? LANES : 1);
    quick->constants = constants;
    for (k = 0; k < i->source_count; k++) {
        const operand *o = source_of(i, k);
        quick->from[k] = o->index * (o->kind == OPERAND_REGISTER ? LANES : 1);
        quick->is_negated |= (uint8_t)(o->negated << k);
        if (!is_constant(o)) continue;
        quick->is_constant |= (uint8_t)(1u << k);
        quick->from[k] = first + count;
        for (w = 0; w < o->words; w++)
            for (l = 0; l < LANES; l++, count++)
                if (constants) constants[first + count] = (uint32_t)(o->immediate >> (32 * w));
    }
    return count;
}

void lanes_quick_launch(const instruction *i, const lanes_quick *quick, const lanes_environment *launch) {
    uint32_t k;
    for (k = 0; quick->operation && k < i->source_count; k++) {
        const operand *o = source_of(i, k);
        lanes_operand value;
        if (!is_of_launch(o)) continue;
        lanes_read(o, NULL, NULL, launch, &value);
        memcpy(quick->constants + quick->from[k], value.word, o->words * sizeof value.word[0]);
    }
}

#endif
