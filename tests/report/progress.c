/* labels: unit */
/* When a program that runs for long says how far it is, by a clock that the test sets. */
#include "test.h"

#include <time.h>
#include <unistd.h>

static double clock_seconds;
static int clock_of_the_test(clockid_t which, struct timespec *now) {
    (void)which;
    now->tv_sec = (time_t)clock_seconds;
    now->tv_nsec = (long)((clock_seconds - (double)now->tv_sec) * 1e9);
    return 0;
}

#define clock_gettime clock_of_the_test
#include "../../examples/progress.h"

/* What progress_show writes to stderr at a time, in seconds since the program began. */
static const char *shown_at(progress *p, double seconds, double share) {
    static char text[512];
    FILE *file = tmpfile();
    const int kept = dup(STDERR_FILENO);
    size_t length;
    assert_non_null(file);
    assert_true(kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    clock_seconds = 100 + seconds;
    progress_show(p, share, "working");
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    length = fread(text, 1, sizeof text - 1, file);
    text[length] = 0;
    fclose(file);
    return text;
}

static progress begin(int is_terminal) {
    progress p;
    clock_seconds = 100;
    progress_begin(&p, "program");
    p.is_terminal = is_terminal;
    return p;
}

/* On a terminal: after two seconds, then twice a second. */
static void a_terminal_is_written_from_the_third_second_on(void **state) {
    progress p = begin(1);
    (void)state;
    assert_string_equal(shown_at(&p, 0, 0), "");
    assert_string_equal(shown_at(&p, 1.9, 0.1), "");
    assert_string_equal(shown_at(&p, 2, 0.25), "\r\033[Kprogram: working, 25%, about 6 s left");
    assert_string_equal(shown_at(&p, 2.4, 0.3), "");
    assert_string_equal(shown_at(&p, 2.5, 0.5), "\r\033[Kprogram: working, 50%, about 3 s left");
    assert_string_equal(shown_at(&p, 3.5, -1), "\r\033[Kprogram: working"); /* nobody knows how much is left */
}

/* In a file: a line a minute, so that a log of a short run holds none. */
static void a_file_gets_a_line_a_minute(void **state) {
    progress p = begin(0);
    (void)state;
    assert_string_equal(shown_at(&p, 2, 0.1), "");
    assert_string_equal(shown_at(&p, 59, 0.5), "");
    assert_string_equal(shown_at(&p, 60, 0.5), "program: working, 50%, about 60 s left\n");
    assert_string_equal(shown_at(&p, 119, 0.9), "");
    assert_string_equal(shown_at(&p, 121, 0), "program: working\n");
}

/* Where nothing is done yet, what the whole is thought to take gives the estimate. */
static void an_expected_time_is_an_estimate(void **state) {
    progress p = begin(1);
    (void)state;
    p.expected = 20;
    assert_string_equal(shown_at(&p, 5, 0), "\r\033[Kprogram: working, 0%, about 15 s left");
    assert_string_equal(shown_at(&p, 21, 0), "\r\033[Kprogram: working");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_terminal_is_written_from_the_third_second_on),
                                       cmocka_unit_test(a_file_gets_a_line_a_minute),
                                       cmocka_unit_test(an_expected_time_is_an_estimate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
