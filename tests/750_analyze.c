/* labels: command unit link: minigpu_core */
/* minigpu analyze: text, CSV, survey, exit statuses. */
#include "run_command.h"

/* Runs a command of minigpu and captures what it prints on both streams; returns its exit status. */
static int run(const char *arguments, char *output, size_t bytes) {
    char command[2048];
    snprintf(command, sizeof command, "cd '%s' && '%s/examples/minigpu/minigpu' analyze %s 2>&1", GPUMP_SOURCE_DIR, GPUMP_BINARY_DIR, arguments);
    return run_command(command, output, bytes);
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
    assert_non_null(strstr(text, "no_such_file.ptx: No such file"));
    assert_int_equal(run("tests/bad_ptx/missing_operand.ptx", text, sizeof text), 2);
    assert_non_null(strstr(text, "tests/bad_ptx/missing_operand.ptx:11:18: add.s32 needs more operands"));
    assert_int_equal(run("examples/minigpu/kernels/saxpy/saxpy.ptx --kernel other", text, sizeof text), 2);
    assert_non_null(strstr(text, "no kernel is named \"other\""));
    assert_int_equal(run("examples/minigpu/kernels/saxpy/saxpy.ptx --registers 1", text, sizeof text), 2);
    assert_int_equal(run("--survey no_such_folder", text, sizeof text), 2);
    assert_int_equal(run("--survey docs", text, sizeof text), 2);
    assert_non_null(strstr(text, "docs: no .ptx file in it or below"));
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

/* The nth field of a CSV line, as a number. */
static double field(const char *line, uint32_t number) {
    for (; number && line; number--) line = (line = strchr(line, ',')) ? line + 1 : NULL;
    return line ? atof(line) : -1;
}

/* docs/registers.md: where ptxas uses more than 24 registers (below, its fewest cannot be measured), at least 80% of the kernels come within
 * max(2, 15%) of what it uses; 3 registers of sm_75 belong to nobody. */
static void test_registers_beside_ptxas(void **state) {
    FILE *file = fopen(GPUMP_SOURCE_DIR "/examples/minigpu/kernels/ptxas_registers.csv", "r");
    char line[512];
    uint32_t kernels = 0, close = 0;
    (void)state;
    assert_non_null(file);
    assert_int_equal(run("--survey examples/minigpu/kernels --csv", text, sizeof text), 0);
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(strstr(line, "folder,kernel,registers_default,registers_fewest"));
    while (fgets(line, sizeof line, file)) {
        char name[128], *row;
        double most = field(line, 2), fewest = field(line, 3), ours, off;
        if (most <= 24) continue;
        row = strchr(line, ',') + 1; /* the second field: the kernel, and here the file's name too */
        *strchr(row, ',') = 0;
        snprintf(name, sizeof name, "/%s.ptx,%s,read,", row, row);
        row = strstr(text, name);
        if (!row) continue;
        ours = field(row, 11) + 3;
        off = ours < fewest ? fewest - ours : ours > most ? ours - most : 0;
        kernels++;
        close += off <= (most * 0.15 > 2 ? most * 0.15 : 2);
    }
    fclose(file);
    assert_true(kernels >= 8);
    assert_true(close * 10 >= kernels * 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_file), cmocka_unit_test(test_bad_input), cmocka_unit_test(test_survey),
                                       cmocka_unit_test(test_registers_beside_ptxas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
