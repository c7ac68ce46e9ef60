/* labels: property long */
/* The long form of the round trips of tests/context/compress.c: 100 million vector registers. */
#include "context/compress_cases.h"

/* Registers that are saved in any form are restored bit for bit: the same as in compress.c, for a long run. */
static void what_is_saved_is_restored(void **state) {
    (void)state;
    compress_case_round_trips(test_cases(100000000));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_saved_is_restored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
