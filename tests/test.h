/* What every test includes: cmocka with its prerequisites, and the one knob for case counts and seeds. */
#ifndef GPUMP_TEST_H
#define GPUMP_TEST_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "gpump.h"

/* How many cases a property test runs: `cases` times the environment's GPUMP_TEST_CASES (default 1, may be a fraction).
 */
static inline uint64_t test_cases(uint64_t cases) {
    const char *text = getenv("GPUMP_TEST_CASES");
    double factor = text ? atof(text) : 1.0;
    return factor > 0 ? (uint64_t)((double)cases * factor) + 1 : cases;
}
/* Whether entry `index` of a list is left out: every second one where GPUMP_TEST_CASES asks for few cases, as under
 * sanitizers. */
static inline int test_leaves_out(uint64_t index) { return test_cases(10) < 10 && index % 2; }
/* The seed of a property test: the environment's GPUMP_TEST_SEED, else 1. */
static inline uint64_t test_seed(void) {
    const char *text = getenv("GPUMP_TEST_SEED");
    return text ? strtoull(text, NULL, 0) : 1;
}
/* Stops the test with seed and case number, so that the case can be run again alone. */
#define test_check(condition, seed, number)                                                         \
    do {                                                                                            \
        if (!(condition))                                                                           \
            fail_msg("%s:%d: %s (GPUMP_TEST_SEED=%llu, case %llu)", __FILE__, __LINE__, #condition, \
                     (unsigned long long)(seed), (unsigned long long)(number));                     \
    } while (0)
#endif
