/* labels: command unit link: minigpu_core */
/* minigpu analyze: text, CSV, survey, exit statuses. */
#include "test.h"
#include <sys/wait.h>

/* Runs a command of minigpu and captures what it prints on both streams; returns its exit status. */
static int run(const char *arguments, char *output, size_t bytes) {
    char command[2048];
    size_t length = 0, got;
    FILE *pipe;
    snprintf(command, sizeof command, "cd '%s' && '%s/examples/minigpu/minigpu' analyze %s 2>&1", GPUMP_SOURCE_DIR, GPUMP_BINARY_DIR, arguments);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    while (length + 1 < bytes && (got = fread(output + length, 1, bytes - 1 - length, pipe)) > 0) length += got;
    output[length] = 0;
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char text[262144];

static void test_one_file(void **state) {
    (void)state;
    assert_int_equal(run("examples/minigpu/kernels/saxpy/saxpy.ptx", text, sizeof text), 0);
    assert_non_null(strstr(text, "saxpy (examples/minigpu/kernels/saxpy/saxpy.ptx)"));
    assert_non_null(strstr(text, "instructions       20 in 3 basic blocks, 0 loops"));
    assert_int_equal(run("--listing examples/minigpu/kernels/saxpy/saxpy.ptx", text, sizeof text), 0);
    assert_non_null(strstr(text, "fma.rn.f32"));
    assert_int_equal(run("tests/ptx_corpus/control.ptx --kernel switches --csv", text, sizeof text), 0);
    assert_non_null(strstr(text, "tests/ptx_corpus/control.ptx,switches,read,"));
    assert_null(strstr(text, "calls"));
}

static void test_bad_input(void **state) {
    (void)state;
    assert_int_equal(run("", text, sizeof text), 2);
    assert_int_equal(run("no_such_file.ptx", text, sizeof text), 2);
    assert_non_null(strstr(text, "no_such_file.ptx: cannot be opened"));
    assert_int_equal(run("tests/bad_ptx/missing_operand.ptx", text, sizeof text), 2);
    assert_non_null(strstr(text, "tests/bad_ptx/missing_operand.ptx:11:18: add.s32 needs more operands"));
    assert_int_equal(run("examples/minigpu/kernels/saxpy/saxpy.ptx --kernel other", text, sizeof text), 2);
    assert_non_null(strstr(text, "no kernel is named \"other\""));
    assert_int_equal(run("examples/minigpu/kernels/saxpy/saxpy.ptx --registers 1", text, sizeof text), 2);
    assert_int_equal(run("--survey no_such_folder", text, sizeof text), 2);
    assert_int_equal(run("--help", text, sizeof text), 0);
    assert_int_equal(run("--frobnicate", text, sizeof text), 2);
}

static void test_survey(void **state) {
    (void)state;
    assert_int_equal(run("--survey tests/ptx_corpus", text, sizeof text), 0);
    assert_non_null(strstr(text, "(100.0%), 0 refused, 0 not analysed"));
    assert_int_equal(run("--survey tests/bad_ptx", text, sizeof text), 0);
    assert_non_null(strstr(text, "refused for wmma         1"));
    assert_non_null(strstr(text, "kernel k: unsupported opcode wmma.load.a.sync"));
    assert_int_equal(run("--survey tests/bad_ptx --csv", text, sizeof text), 0);
    assert_non_null(strstr(text, ",refused,"));
    assert_non_null(strstr(text, ",malformed,"));
    /* every line has as many fields as the header; quoted ones hold no line breaks */
    uint32_t want = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        uint32_t fields = 1, quoted = 0;
        for (char *c = line; *c; c++) {
            quoted ^= *c == '"';
            fields += *c == ',' && !quoted;
        }
        if (!want) want = fields;
        assert_int_equal(fields, want);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_file), cmocka_unit_test(test_bad_input), cmocka_unit_test(test_survey)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
