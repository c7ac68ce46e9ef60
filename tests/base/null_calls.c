/* labels: unit unsanitized */
/* What the rules in gpump.h promise of NULL, for every function that returns a gpump_result. The calls are written out
 * of the headers: null_calls.awk. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

#include "test.h"

static uint64_t zeros[1 << 13];
#define ZEROS ((void *)zeros)
#define ZERO(type) (*(const type *)zero())
static const void *zero(void) {
    static const uint64_t no_value[64];
    return no_value;
}

/* Arrays that may be NULL when they are empty, and parameters that may be: these calls are not made. */
static const char *const may_be_null[] = {
    "gpump_block_view_check(blocks)",
    "gpump_block_switch_blocks(blocks)",
    "gpump_context_begin(memory)",
    "gpump_context_get_registers(values)",
    "gpump_context_get_stack(entries)",
    "gpump_context_get_words(words)",
    "gpump_liveness_pressure(registers)",
    "gpump_liveness_pressure(predicates)",
    "gpump_liveness_pressure(peak_registers)",
    "gpump_liveness_pressure(peak_predicates)",
    "gpump_liveness_uninitialised(list)",
    "gpump_patterns_create(allocator)",
    "gpump_preempted_order(loads)",
    "gpump_program_create(allocator)",
    "gpump_read_set_restore(segments)",
    "gpump_read_set_save(segments)",
    "gpump_sharing_advance(machine)",
    "gpump_sharing_advance(policy)",
    "gpump_sm_blocks(blocks)",
    "gpump_sm_preempt(choices)",
    "gpump_spill_save(room)",
    "gpump_statistics_field(name)",
    "gpump_statistics_field(unit)",
    "gpump_statistics_field(description)",
    "gpump_statistics_field(value)",
    "gpump_tlb_fill(waiters)",
};
static int may(const char *call) {
    for (size_t i = 0; i < sizeof may_be_null / sizeof *may_be_null; i++)
        if (!strcmp(may_be_null[i], call)) return 1;
    return 0;
}

static sigjmp_buf back;
static void crashed(int number) { siglongjmp(back, number); }
static uint32_t tried, wrong;

static void judge(const char *call, int is_right, int result) {
    tried++;
    if (is_right) return;
    wrong++;
    print_error("%s: %s\n", call, result == INT32_MAX ? "crashes" : gpump_result_name((gpump_result)result));
}
#define TRY(call, arguments_of, is_right)               \
    do {                                                \
        volatile int result = INT32_MAX;                \
        memset(zeros, 0, sizeof zeros);                 \
        if (!sigsetjmp(back, 1)) result = arguments_of; \
        judge(call, is_right, result);                  \
    } while (0)

/* Catches what a call with NULL may raise; returns what was there before. */
static void catch_signals(void (*handler)(int)) {
    signal(SIGSEGV, handler);
    signal(SIGFPE, handler);
    signal(SIGABRT, handler);
}
static void report(uint32_t least) {
    catch_signals(SIG_DFL);
    print_message("%u calls, %u wrong\n", tried, wrong);
    assert_true(tried >= least);
    assert_int_equal(wrong, 0);
}

/* Each public function whose pointers are all NULL returns GPUMP_ERROR_ARGUMENT and does not crash. */
static void all_pointers_null_is_an_argument_error(void **state) {
    (void)state;
    tried = wrong = 0;
    catch_signals(crashed);
#define ALL(name, arguments) \
    TRY(#name "()", name arguments, result == GPUMP_ERROR_ARGUMENT || !strcmp(#name, "gpump_block_view_check"));
#define ONE(name, parameter, arguments)
#include "null_calls.h"
#undef ALL
#undef ONE
    report(180);
}

/* Zeros behind the other pointers are often no configuration and no program, which may be said first. */
static int is_refusal(int result) {
    return result == GPUMP_ERROR_ARGUMENT || result == GPUMP_ERROR_CONFIG || result == GPUMP_ERROR_STATE ||
           result == GPUMP_ERROR_UNKNOWN_NAME;
}

/* Each public function of which one pointer is NULL refuses the call, unless its contract allows NULL there. */
static void one_pointer_null_is_refused(void **state) {
    (void)state;
    tried = wrong = 0;
    catch_signals(crashed);
#define ALL(name, arguments)
#define ONE(name, parameter, arguments) \
    if (!may(#name "(" #parameter ")")) TRY(#name "(" #parameter ")", name arguments, is_refusal(result));
#include "null_calls.h"
    report(380);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_pointers_null_is_an_argument_error),
                                       cmocka_unit_test(one_pointer_null_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
