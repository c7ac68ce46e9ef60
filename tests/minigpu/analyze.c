/* labels: command unit link: minigpu_core */
/* minigpu analyze: text, CSV, survey, exit statuses. */
#include "run_command.h"

/* Runs a command of minigpu and captures what it prints on both streams; returns its exit status. */
static int run(const char *arguments, char *output, size_t bytes) {
    char command[2048];
    snprintf(command, sizeof command, "cd '%s' && '%s/examples/minigpu/minigpu' analyze %s 2>&1", GPUMP_SOURCE_DIR,
             GPUMP_BINARY_DIR, arguments);
    return run_command(command, output, bytes);
}

static char text[262144];

/* Counts, the listing, and a row of CSV of one file. */
static void analyze_prints_counts_and_listing(void **state) {
    (void)state;
    assert_int_equal(run("examples/minigpu/kernels/saxpy/saxpy.ptx", text, sizeof text), 0);
    assert_non_null(strstr(text, "saxpy (examples/minigpu/kernels/saxpy/saxpy.ptx)"));
    assert_non_null(strstr(text, "instructions       20 in 3 basic blocks, 0 loops"));
    assert_int_equal(run("--listing examples/minigpu/kernels/saxpy/saxpy.ptx", text, sizeof text), 0);
    assert_non_null(strstr(text, "fma.rn.f32"));
    assert_int_equal(run("tests/ptx/ptx_corpus/control.ptx --kernel switches --csv", text, sizeof text), 0);
    assert_non_null(strstr(text, "tests/ptx/ptx_corpus/control.ptx,switches,read,"));
    assert_null(strstr(text, "calls"));
}

/* A missing file, a mistake in PTX, an unknown kernel and wrong options, each by name. */
static void analyze_names_what_is_wrong(void **state) {
    (void)state;
    assert_int_equal(run("", text, sizeof text), 2);
    assert_int_equal(run("no_such_file.ptx", text, sizeof text), 2);
    assert_non_null(strstr(text, "no_such_file.ptx: No such file"));
    assert_int_equal(run("tests/ptx/bad_ptx/missing_operand.ptx", text, sizeof text), 2);
    assert_non_null(strstr(text, "tests/ptx/bad_ptx/missing_operand.ptx:11:18: add.s32 needs more operands"));
    assert_int_equal(run("examples/minigpu/kernels/saxpy/saxpy.ptx --kernel other", text, sizeof text), 2);
    assert_non_null(strstr(text, "no kernel is named \"other\""));
    assert_int_equal(run("examples/minigpu/kernels/saxpy/saxpy.ptx --registers 1", text, sizeof text), 2);
    assert_int_equal(run("--survey no_such_folder", text, sizeof text), 2);
    assert_int_equal(run("--survey docs", text, sizeof text), 2);
    assert_non_null(strstr(text, "docs: no .ptx file in it or below"));
    assert_int_equal(run("--help", text, sizeof text), 0);
    assert_int_equal(run("--frobnicate", text, sizeof text), 2);
}

/* --kernel takes the names that init and launch files take. */
/* A kernel is found by its C++ name, and one of several is refused with the list. */
static void kernels_are_found_by_their_cpp_names(void **state) {
    (void)state;
    assert_int_equal(run("examples/minigpu/own_kernel/smooth.ptx --kernel smooth", text, sizeof text), 0);
    assert_non_null(strstr(text, "_Z6smoothPfPKfi ("));
    assert_int_equal(run("tests/minigpu/good_run/features.ptx --kernel 'scale<int>'", text, sizeof text), 0);
    assert_non_null(strstr(text, "_Z5scaleIiEvPT_S0_ ("));
    assert_int_equal(run("tests/minigpu/good_run/features.ptx --kernel scale", text, sizeof text), 2);
    assert_non_null(strstr(text, "more than one kernel is named \"scale\"; it has: weigh"));
}

/* What is said of flushing is what a run does: an asynchronous copy writes shared memory, which goes with its block,
 * and reads a buffer that another access may overwrite. */
static void test_flushing_after_copies(void **state) {
    (void)state;
    assert_int_equal(run("tests/minigpu/good_run/copies.ptx --kernel stage", text, sizeof text), 0);
    assert_non_null(strstr(text, "flush              at any time"));
    assert_int_equal(run("tests/minigpu/good_run/copies.ptx --kernel stage_in_place", text, sizeof text), 0);
    assert_non_null(strstr(text, "flush              refused once a block has executed one of 1 instructions"));
    assert_int_equal(run("tests/ptx/ptx_corpus/textures.ptx", text, sizeof text), 0);
    assert_non_null(strstr(text, "flush              until a block overwrites what it has read: seen when it runs"));
}

/* A folder's kernels: how many are read, refused and for what. */
static void a_survey_counts_read_and_refused(void **state) {
    (void)state;
    assert_int_equal(run("--survey tests/ptx/ptx_corpus", text, sizeof text), 0);
    assert_non_null(strstr(text, "(100.0%), 0 refused, 0 not analysed"));
    assert_null(strstr(text, "  matrices                              0"));
    assert_non_null(strstr(text, "  matrices                       "));
    assert_int_equal(run("--survey tests/ptx/bad_ptx", text, sizeof text), 0);
    assert_non_null(strstr(text, "refused for wgmma        1"));
    assert_non_null(strstr(text, "kernel k: unsupported opcode wgmma.mma_async.sync"));
    /* by class: mma.sp, wgmma, the mma of Volta and ldmatrix of other matrices */
    assert_non_null(strstr(text, "  matrices                              0        4     0.0%"));
    assert_int_equal(run("--survey tests/ptx/bad_ptx --csv", text, sizeof text), 0);
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

/* How many kernels of a CSV from ptxas agree with the counts in text[], as docs/registers.md says when they do: the
 * distance to what ptxas takes, or to anything between that and the fewest it can do with, is at most max(2, 15%). */
static void count_agreeing(const char *ptxas_csv, uint32_t *agreeing, uint32_t *kernels) {
    char path[1024], line[512];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", GPUMP_SOURCE_DIR, ptxas_csv);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(strstr(line, "kernel,registers_default,registers_fewest"));
    while (fgets(line, sizeof line, file)) {
        char name[128];
        const char *row;
        double most = field(line, 1), fewest = field(line, 2), ours, off;
        snprintf(name, sizeof name, ".ptx,%.*s,read,", (int)strcspn(line, ","), line);
        row = strstr(text, name);
        assert_non_null(row);
        ours = field(row, 11);
        assert_true(ours > 0);
        off = ours < fewest ? fewest - ours : ours > most ? ours - most : 0;
        *kernels += 1;
        *agreeing += off <= (most * 0.15 > 2 ? most * 0.15 : 2);
    }
    fclose(file);
}
/* Register counts beside those that ptxas printed, of known and of unseen kernels. */
static void four_of_five_register_counts_are_those_of_ptxas(void **state) {
    static const char *const unseen[] = {"unseen", "unseen_2", "unseen_3"};
    uint32_t kernels = 0, agreeing = 0;
    (void)state;
    assert_int_equal(run("--survey examples/minigpu/kernels --csv", text, sizeof text), 0);
    count_agreeing("examples/minigpu/kernels/ptxas_registers.csv", &agreeing, &kernels);
    print_message("%u of %u kernels agree with ptxas\n", agreeing, kernels);
    assert_true(kernels >= 30 && agreeing * 10 >= kernels * 8);
    kernels = agreeing = 0;
    for (uint32_t i = 0; i < 3; i++) {
        char path[256];
        snprintf(path, sizeof path, "tests/minigpu/ptxas_unseen/%s.ptx --csv", unseen[i]);
        assert_int_equal(run(path, text, sizeof text), 0);
        snprintf(path, sizeof path, "tests/minigpu/ptxas_unseen/%s.csv", unseen[i]);
        count_agreeing(path, &agreeing, &kernels);
    }
    print_message("and %u of %u others\n", agreeing, kernels);
    assert_true(kernels >= 60 && agreeing * 4 >= kernels * 3);
}

/* Loops that ptxas unrolls or keeps, calls, divisions, addresses of variables, banks, stores in flight: what
 * `ptxas -arch=sm_75 -v` of CUDA 13.0 gives. */
static void test_register_rules(void **state) {
    static const struct {
        const char *kernel;
        double ptxas;
    } rules[] = {{"divide", 12},       {"divide_unsigned", 10}, {"call", 24},         {"addresses", 14},
                 {"counted", 18},      {"counted_kept", 10},    {"not_counted", 12},  {"counted_root", 16},
                 {"counted_long", 10}, {"sum_floats", 20},      {"sum_integers", 13}, {"copies", 11}};
    (void)state;
    assert_int_equal(run("tests/minigpu/ptxas_rules.ptx --csv", text, sizeof text), 0);
    for (uint32_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        char name[128];
        const char *row;
        double off;
        snprintf(name, sizeof name, ".ptx,%s,read,", rules[i].kernel);
        row = strstr(text, name);
        assert_non_null(row);
        off = field(row, 11) - rules[i].ptxas;
        if (off < -2 || off > 2)
            fail_msg("%s: %g registers, ptxas has %g", rules[i].kernel, field(row, 11), rules[i].ptxas);
    }
}

#define TRACES GPUMP_BINARY_DIR "/test_minigpu_analyze_traces/"
#define PICTURE TRACES "picture.svg"
#define ANY_OUTPUT " 2>&1"

static void expect(const char *command, const char *is_in) {
    const int status = run_command(command, text, sizeof text);
    if (status || !strstr(text, is_in))
        fail_msg("%s: exit status %d, or no \"%s\" in: %s", command, status, is_in, text);
}

/* A trace of one warp that reads R0 in its second of three instructions, and whose name needs quotes in CSV and escapes
 * in SVG. */
static void write_trace(void) {
    FILE *file;
    expect("mkdir -p " TRACES, "");
    file = fopen(TRACES "kernel-1.traceg", "w");
    assert_non_null(file);
    fprintf(file, "-kernel name = void f<int, 3>(float&)\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-nregs = 2\n"
                  "-binary version = 80\n-accelsim tracer version = 4\n\n#traces format = PC\n\n#BEGIN_TB\nthread "
                  "block = 0,0,0\nwarp = 0\n"
                  "insts = 3\n0000 ffffffff 1 R0 S2R 0 0\n0010 ffffffff 0 ISETP.GE.AND 1 R0 0\n"
                  "0020 ffffffff 0 EXIT 0 0\n#END_TB\n");
    fclose(file);
    file = fopen(TRACES "kernelslist.g", "w");
    assert_non_null(file);
    fprintf(file, "kernel-1.traceg\n");
    fclose(file);
}

/* Allocated against live over time: one of two registers in the middle third. */
static void test_traces(void **state) {
    (void)state;
    write_trace();
    assert_int_equal(run(TRACES "kernelslist.g --svg " PICTURE, text, sizeof text), 0);
    assert_non_null(strstr(text, "[                    ++++++++++++++++++++                    ] live registers"));
    expect("cat " PICTURE, "void f&lt;int, 3&gt;(float&amp;)</text>");
    assert_non_null(strstr(text, ">256 bytes a block, 43 live; peak 1</text>"));
    assert_non_null(strstr(text, " 110.0,154.0 114.0,154.0 114.0,94.0 118.0,94.0 ")); /* up by half at a third */
    assert_non_null(strstr(text, " 190.0,94.0 194.0,94.0 194.0,154.0 198.0,154.0 "));
    assert_non_null(strstr(text, "</svg>\n"));
    assert_int_equal(run("examples/minigpu/traces/pathfinder/kernelslist.g --csv --svg " PICTURE, text, sizeof text),
                     0);
    assert_non_null(strstr(text, "\npathfinder,3,948,16,"));
    expect("grep -c '<polygon' " PICTURE, "1\n");
}

/* A picture of registers is refused where there is no trace, no space, no folder, or where it would overwrite its
 * input. */
static void test_pictures_that_cannot_be(void **state) {
    (void)state;
    write_trace();
    assert_int_equal(run("examples/minigpu/kernels/saxpy/saxpy.ptx --svg " PICTURE, text, sizeof text), 2);
    assert_non_null(strstr(text, "--svg draws the registers of traces, not of \"examples/minigpu"));
    assert_int_equal(run(TRACES "kernelslist.g --svg /dev/full", text, sizeof text), 2);
    assert_non_null(strstr(text, "cannot write /dev/full"));
    assert_int_equal(run(TRACES "kernelslist.g --svg " TRACES "kernel-1.traceg", text, sizeof text), 2);
    assert_non_null(strstr(text, "is read and would be written over"));
    assert_int_equal(run(TRACES "kernelslist.g --svg /no/folder/a.svg", text, sizeof text), 2);
    assert_non_null(strstr(text, "cannot write /no/folder/a.svg"));
}

/* A folder stands for its list. What is wrong is named with its place, and the remedy. */
static void test_lists(void **state) {
    static const struct {
        const char *list, *error;
    } cases[] = {{"hello\n", "kernelslist.g:1:1: \"hello\" is neither a copy (MemcpyHtoD,address,bytes) nor a trace"},
                 {"", "kernelslist.g:1:1: the list names no kernel"},
                 {"MemcpyHtoD,0x0,4\nkernel-7.traceg\n", "kernelslist.g:2:1: "},
                 {"kernel-7.traceg\n", "kernel-7.traceg: No such file or directory"},
                 {"kernel-1.trace\n", "make a .traceg of it by Accel-Sim's post-traces-processing"},
                 {"kernel-1.tracez\n", "make a .traceg of it by Accel-Sim's traceDsm"}};
    uint32_t i;
    (void)state;
    assert_int_equal(run("examples/minigpu/traces/pathfinder/ --csv", text, sizeof text), 0);
    assert_non_null(strstr(text, "\npathfinder,3,948,16,"));
    assert_int_equal(run("examples/minigpu/traces/pathfinder --kernel pathfinder", text, sizeof text), 2);
    assert_non_null(strstr(text, "--csv and --svg alone stand beside \"examples/minigpu/traces/pathfinder\""));
    expect("mkdir -p " TRACES, "");
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *file = fopen(TRACES "kernelslist.g", "w");
        assert_non_null(file);
        fputs(cases[i].list, file);
        fclose(file);
        assert_int_equal(run(TRACES, text, sizeof text), 2);
        if (!strstr(text, cases[i].error)) fail_msg("case %u: no \"%s\" in: %s", i, cases[i].error, text);
    }
}

/* The C++ name of a traced kernel may have commas. */
static void test_names_in_tables(void **state) {
    (void)state;
    write_trace();
    assert_int_equal(run(TRACES "kernelslist.g --csv", text, sizeof text), 0);
    assert_non_null(strstr(text, "\n\"void f<int, 3>(float&)\",1,3,2,0.33,1,"));
    expect(GPUMP_BINARY_DIR "/examples/minigpu/minigpu run " TRACES "kernelslist.g --csv" ANY_OUTPUT,
           ",\"void f<int, 3>(float&)\",stream 0,");
    expect("rm -f " TRACES "t.csv; cd " TRACES " && " GPUMP_BINARY_DIR "/examples/minigpu/minigpu sweep kernelslist.g "
           "--vary sms=1,2 --out t.csv --svg t.svg --quiet" ANY_OUTPUT " && " GPUMP_BINARY_DIR
           "/examples/minigpu/minigpu sweep kernelslist.g --vary sms=1,2 --out t.csv" ANY_OUTPUT,
           "2 of 2 points are in");
    expect("cat " TRACES "t.svg", "<title>void f&lt;int, 3&gt;(float&amp;): ");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(analyze_prints_counts_and_listing),
                                       cmocka_unit_test(analyze_names_what_is_wrong),
                                       cmocka_unit_test(kernels_are_found_by_their_cpp_names),
                                       cmocka_unit_test(test_flushing_after_copies),
                                       cmocka_unit_test(a_survey_counts_read_and_refused),
                                       cmocka_unit_test(four_of_five_register_counts_are_those_of_ptxas),
                                       cmocka_unit_test(test_register_rules),
                                       cmocka_unit_test(test_traces),
                                       cmocka_unit_test(test_pictures_that_cannot_be),
                                       cmocka_unit_test(test_names_in_tables),
                                       cmocka_unit_test(test_lists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
