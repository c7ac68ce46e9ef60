/* Refusals, whole: the code, and every member of the diagnostic. */
#ifndef GPUMP_DIAGNOSED_H
#define GPUMP_DIAGNOSED_H
#include "test.h"

static gpump_diag diagnosed_diag;
static inline gpump_diag *diagnosed_fresh(void) {
    memset(&diagnosed_diag, 0x5a, sizeof diagnosed_diag);
    return &diagnosed_diag;
}
/* A value that is refused lies outside the range that is named, or the range is a single value, or the field's name has
 * the rule in parentheses: "entries (a power of two)". In bytes from outside a value may contradict others instead. */
static inline int diagnosed_is_outside(const gpump_diag *diag) {
    return diag->code == GPUMP_ERROR_FORMAT || diag->minimum == diag->maximum || diag->value < diag->minimum ||
           diag->value > diag->maximum || strchr(diag->field, '(');
}
/* `call` names its diagnostic DIAG, and must refuse with just this. */
#define DIAG diagnosed_fresh()
#define diagnosed(call, code_, field_, index_, value_, minimum_, maximum_)       \
    do {                                                                         \
        diagnosed_rule(call, code_, field_, index_, value_, minimum_, maximum_); \
        assert_true(diagnosed_is_outside(&diagnosed_diag));                      \
    } while (0)
/* The same of a value within its range that breaks another rule: a set of bits, the kind of a register.
 */
#define diagnosed_rule(call, code_, field_, index_, value_, minimum_, maximum_) \
    do {                                                                        \
        assert_int_equal(call, code_);                                          \
        assert_int_equal(diagnosed_diag.code, code_);                           \
        assert_string_equal(diagnosed_diag.field, field_);                      \
        assert_true(diagnosed_diag.index == (uint64_t)(index_));                \
        assert_true(diagnosed_diag.value == (uint64_t)(value_));                \
        assert_true(diagnosed_diag.minimum == (uint64_t)(minimum_));            \
        assert_true(diagnosed_diag.maximum == (uint64_t)(maximum_));            \
    } while (0)
/* A pointer that may not be NULL. */
#define diagnosed_null(call, field_) diagnosed(call, GPUMP_ERROR_ARGUMENT, field_, 0, 0, 1, UINT64_MAX)
/* A refusal with a reason. */
#define diagnosed_reason(call, code_, field_, index_, reason_)   \
    do {                                                         \
        assert_int_equal(call, code_);                           \
        assert_int_equal(diagnosed_diag.code, code_);            \
        assert_int_equal(diagnosed_diag.reason, reason_);        \
        assert_string_equal(diagnosed_diag.field, field_);       \
        assert_true(diagnosed_diag.index == (uint64_t)(index_)); \
    } while (0)

/* A field of a configuration: where it lies, 4 or 8 bytes wide, and the values allowed. */
typedef struct diagnosed_field {
    const char *name;
    size_t offset, width;
    uint64_t minimum, maximum;
} diagnosed_field;
#define DIAGNOSED_FIELD(type, member, minimum, maximum) \
    { #member, offsetof(type, member), sizeof(((type *)0)->member), minimum, maximum }

static inline void diagnosed_set(void *config, const diagnosed_field *field, uint64_t value) {
    const uint32_t half = (uint32_t)value;
    if (field->width == 4)
        memcpy((char *)config + field->offset, &half, 4);
    else
        memcpy((char *)config + field->offset, &value, 8);
}

/* Every field: one below the minimum and one above the maximum are refused with that field's name and range, and the
 * limits themselves are not held against it. `check` gets a configuration and a diagnostic. */
static inline void diagnosed_fields(const void *config, size_t bytes, const diagnosed_field *fields, size_t count,
                                    gpump_result (*check)(const void *config, gpump_diag *diag)) {
    uint64_t copy[64];
    assert_true(bytes <= sizeof copy);
    for (size_t i = 0; i < count; i++) {
        const diagnosed_field *f = &fields[i];
        const uint64_t top = f->width == 4 ? UINT32_MAX : UINT64_MAX;
        const uint64_t bad[2] = {f->minimum - 1, f->maximum + 1}, good[2] = {f->minimum, f->maximum};
        for (int k = 0; k < 2; k++) {
            if (k ? f->maximum < top : f->minimum > 0) {
                memcpy(copy, config, bytes);
                diagnosed_set(copy, f, bad[k]);
                diagnosed(check(copy, DIAG), GPUMP_ERROR_CONFIG, f->name, 0, bad[k], f->minimum, f->maximum);
                assert_int_equal(check(copy, NULL), GPUMP_ERROR_CONFIG);
            }
            memcpy(copy, config, bytes);
            diagnosed_set(copy, f, good[k]);
            diagnosed_fresh();
            if (check(copy, &diagnosed_diag)) assert_string_not_equal(diagnosed_diag.field, f->name);
        }
    }
}
#endif
