/* labels: command unit link: minigpu_core */
/* What helps a user with a kernel of their own: --races, --dump, init, and no result that is lost without a word. */
#include "run_command.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#define MINIGPU GPUMP_BINARY_DIR "/examples/minigpu/minigpu "
#define GOOD_RUN GPUMP_SOURCE_DIR "/tests/minigpu/good_run/"
#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"

static char output[1 << 18];

static void expect(const char *command, int status, const char *text) {
    const int is = run_command(command, output, sizeof output);
    if (is != status || (text && !strstr(output, text)))
        fail_msg("%s: exit status %d, not %d, or no \"%s\" in: %s", command, is, status, text ? text : "", output);
}

/* --races names kernel, kind, word, blocks and lines; kernels without a race are not named. */
static void races_between_blocks_are_named(void **state) {
    (void)state;
    expect(MINIGPU "run " GOOD_RUN "races.yaml --races 2>&1", 0,
           "race: kernel last_wins: 1 word: two blocks write different values, the last one stays: first 0x");
    assert_non_null(strstr(output, "(buffer word, element 0): block 0 at " GOOD_RUN "features.ptx:195, then block 1 at "
                                   "line 195"));
    assert_non_null(strstr(output, "race: kernel sum_floats: 1 word: two blocks add in floating point"));
    assert_non_null(strstr(output, "race: kernel tickets: 1 word: two blocks use atomics whose order shows"));
    assert_non_null(strstr(output, "race: kernel neighbours: 4 words: one block reads what another changes"));
    assert_null(strstr(output, "race: kernel sum_integers"));
    assert_null(strstr(output, "race: kernel _ZN6halves"));
    expect(MINIGPU "run " GOOD_RUN "races.yaml --races --preempt 900:flush 2>&1", 0, "race: kernel last_wins: 1 word");
    expect(MINIGPU "run " KERNELS "nw_1/small.yaml --races 2>&1", 0,
           "races: none between blocks, or warps of a block, in this run's order");
    expect(MINIGPU "run " GOOD_RUN "races.yaml --races --json 2>&1", 0, "\"lines\": [");
}

/* Warps of one block are looked at between two barriers; a block that is flushed or saved begins another time. A number
 * of 64 bits is one word. */
static void test_races_within_a_block_are_named(void **state) {
    static const char *const times[] = {"", "--preempt 200:flush", "--preempt 480:flush", "--preempt 500:switch"};
    char command[1024];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof times / sizeof *times; i++) {
        snprintf(command, sizeof command, MINIGPU "run " GOOD_RUN "races_within.yaml --races %s 2>&1", times[i]);
        expect(command, 0,
               i == 1 ? "race: kernel reverse_too_early: 254 words: one warp reads what another"
                      : "race: kernel reverse_too_early: 126 words: one warp reads what another");
        assert_non_null(strstr(output, "of the block's shared memory): block 0 warp 1 at " GOOD_RUN "features.ptx:316, "
                                       "then block 0 warp 0 at line 321"));
        assert_non_null(strstr(output, "race: kernel sum_doubles: 1 word: two blocks add in floating point"));
        assert_null(strstr(output, "race: kernel reverse_in_time"));
    }
    expect(MINIGPU "run " GOOD_RUN "races_within.yaml --races --json 2>&1", 0, "\"warps\": [");
    expect(MINIGPU "run " KERNELS "lud_diagonal/small.yaml --races 2>&1", 0, "races: none between blocks");
}

/* What the buffers hold when a kernel fails is said, too. */
static void test_a_failed_run_has_a_checksum(void **state) {
    (void)state;
    expect(MINIGPU "run " GOOD_RUN "../bad_run/shared_outside.yaml --json 2>/dev/null", 1, "\"checksum\": \"0x");
}

/* Stacks and trees of pointers in shared memory stay right when blocks beyond an SM's room move to frames and back. */
static void test_pointers_in_shared_memory(void **state) {
    static const char *const options[] = {"--sms 1 --duet", "--sms 1 --duet=virtual_thread:all --preempt 5000:switch",
                                          "--sms 2 --duet=duet_block:2 --config memory_model=1,l1_bytes=4096",
                                          "--sms 1 --preempt 2000:flush"};
    char command[1024];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof options / sizeof *options; i++) {
        snprintf(command, sizeof command, MINIGPU "run " GOOD_RUN "nested.yaml %s | grep -c ' right$'", options[i]);
        expect(command, 0, "3\n");
    }
}

/* The page shows the error that its launch file gives before the guesses are replaced. */
static void test_page_shows_the_error(void **state) {
    (void)state;
    expect("rm -rf page && mkdir page && cd page && cp " GPUMP_SOURCE_DIR
           "/examples/minigpu/own_kernel/smooth.ptx . && " MINIGPU "init smooth.ptx --out smooth.yaml && " MINIGPU
           "run smooth.yaml 2>&1 >/dev/null | sed 's/^/    /' >said; grep -qxFf said " GPUMP_SOURCE_DIR
           "/docs/own_kernel.md || cat said",
           0, NULL);
    assert_string_equal(output, "");
}

static long size_of(const char *path) {
    struct stat status;
    return stat(path, &status) ? -1 : (long)status.st_size;
}

/* A number outside its range is named with its limits. */
static void test_ranges_are_named(void **state) {
    (void)state;
    expect(MINIGPU "run " GOOD_RUN "pointers.yaml --config memory_model=9 2>&1", 2,
           "models, counted from 0: fixed queued");
    expect(MINIGPU "run " GOOD_RUN "pointers.yaml --config alu_cycle=4 2>&1", 2,
           "--config alu_cycle=4: the machine has no number of that name");
    expect(MINIGPU "run " GOOD_RUN "pointers.yaml --config alu_cycles 2>&1", 2,
           "--config alu_cycles: needs NAME=VALUE");
    expect(MINIGPU "run " GOOD_RUN "pointers.yaml --config memory_model=1,alu_cycles=-4 2>&1", 2,
           "--config alu_cycles=-4: the value must be a whole number from 0");
    expect(MINIGPU "run " GOOD_RUN "pointers.yaml --config alu_cycles=0 2>&1", 2, "alu_cycles must be 1 to 4294967295");
    expect(MINIGPU "run " GOOD_RUN "pointers.yaml --config read_set_segments=8 2>&1", 2,
           "read_set_segments must be 16 to");
}

/* --dump writes each buffer as bytes and as text, and loses none. */
static void every_buffer_is_dumped(void **state) {
    (void)state;
    expect("rm -rf dumped; " MINIGPU "run " GOOD_RUN "pointers.yaml --dump dumped", 0, "right");
    assert_int_equal(size_of("dumped/out.bin"), 160);
    assert_int_equal(size_of("dumped/small.bin"), 16);
    assert_int_equal(size_of("dumped/2.through_rows.argument1.bin"), 32);
    expect("grep -c '^2$' dumped/out.txt", 0, "40\n");
    expect("rm -rf dumped; " MINIGPU "run " GOOD_RUN "pointers.yaml --dump dumped --trace ./dumped/out.txt 2>&1", 2,
           "dumped/out.txt is two outputs, and one would be lost");
    expect(MINIGPU "run " GOOD_RUN "pointers.yaml --dump dumped", 0, "right");
    expect("head -1 dumped/small.txt", 0, "# s32, 4 elements, at 0x");
    expect("rm -rf no_folder; touch no_folder; " MINIGPU "run " GOOD_RUN "pointers.yaml --dump no_folder 2>&1", 2,
           "no_folder is no folder");
    expect(MINIGPU "run " GOOD_RUN "pointers.yaml --dump /proc/nowhere 2>&1", 2,
           "cannot make the folder /proc/nowhere");
    expect("sed 1d dumped/small.txt | tr '\\n' ' '", 0, "9 9 0 0 ");
    expect(MINIGPU "run " GOOD_RUN "pointers.yaml --dump no/where 2>&1", 2, "cannot make the folder no/where: No such");
}

/* Text helps for as many elements as somebody reads; the binary file has all of them. */
static void test_long_buffers_are_dumped(void **state) {
    (void)state;
    expect("rm -rf dumped; cat >long.yaml <<'EOF'\nkernels:\n  - {ptx: " GOOD_RUN "features.ptx, kernel: look_up, "
           "grid: 1, block: 8,\n     arguments: [buffer: {name: long, type: s16, count: 100000, constant: "
           "-7}]}\nEOF\n" MINIGPU "run long.yaml --dump dumped",
           0, NULL);
    assert_int_equal(size_of("dumped/long.bin"), 200000);
    expect("wc -l <dumped/long.txt", 0, "65538\n");
    expect("tail -2 dumped/long.txt", 0, "-7\n# 34464 more elements in long.bin\n");
}

/* Whatever kernel: the file that init writes is a launch file, and the machine takes it. */
static void test_init_writes_launch_files(void **state) {
    DIR *folder = opendir(KERNELS);
    struct dirent *entry;
    uint32_t files = 0;
    (void)state;
    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        char ptx[600], command[2048];
        snprintf(ptx, sizeof ptx, KERNELS "%s/%s.ptx", entry->d_name, entry->d_name);
        if (entry->d_name[0] == '.' || size_of(ptx) < 0) continue;
        snprintf(command, sizeof command, "rm -f init.yaml; " MINIGPU "init %s --out ./init.yaml 2>&1", ptx);
        expect(command, 0, NULL);
        expect("grep -c GUESS init.yaml", 0, NULL);
        /* whatever the guesses do, and however long it would last */
        expect("echo 'machine: {stop_at: 100000}' >>init.yaml; " MINIGPU "run init.yaml 2>&1 | grep -v '^init.yaml'", 0,
               NULL);
        files++;
    }
    closedir(folder);
    assert_true(files > 20);
    expect("rm -f init.yaml; " MINIGPU "init " GOOD_RUN "features.ptx --kernel weigh --kernel 'scale<int>' --out "
           "./init.yaml; " MINIGPU "run init.yaml 2>&1",
           1, "weigh"); /* it reads before its buffer, as guessed */
    expect("grep 'buffer: {name: k1_arg1, type: f32, count: 1024}.*the kernel reads it' init.yaml", 0, NULL);
    expect("grep 'name: k2_arg0, type: s32.*reads and writes it' init.yaml", 0, NULL);
    expect(MINIGPU "init " GOOD_RUN "features.ptx --out ./init.yaml 2>&1", 2, "cannot write ./init.yaml: File exists");
    expect(MINIGPU "init " GOOD_RUN "features.ptx --kernel scale 2>&1", 2, "has more than one kernel named \"scale\"");
    expect(MINIGPU "init nowhere.ptx 2>&1", 2, "nowhere.ptx");
    expect(MINIGPU "init 2>&1", 2, "which FILE.ptx?");
}

/* Types that PTX has lost stand in the C++ name; a pointer that only cp.async uses, or only after an addition, is one.
 */
static void test_init_names_the_elements(void **state) {
    static const char *const lines[] = {"{name: k1_arg1, type: u32, count: 1024}.*the kernel reads it",
                                        "{name: k2_arg0, type: f32, count: 1024}.*reads and writes it",
                                        "{name: k3_arg0, type: f16, count: 1024}",
                                        "{name: k3_arg2, type: f16, count: 2048}",
                                        "{name: k4_arg1, type: bf16, count: 1024}",
                                        "scalar: {type: s32, value: 1024}",
                                        "scalar: {type: u64, value: 0}.*a null pointer; .*a buffer of s32"};
    char command[512];
    size_t i;
    (void)state;
    expect("rm -f init.yaml; " MINIGPU "init " GOOD_RUN "copies.ptx --out ./init.yaml", 0, NULL);
    for (i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(command, sizeof command, "grep '%s' init.yaml", lines[i]);
        expect(command, 0, NULL);
    }
}

/* A full disk is reported by each command, with its exit status, for standard output and for files. */
static void test_a_full_disk_is_reported(void **state) {
    static const char *const commands[] = {"run " GOOD_RUN "names.yaml",
                                           "run " GOOD_RUN "names.yaml --json",
                                           "run --help",
                                           "demo --help",
                                           "help",
                                           "analyze " GOOD_RUN "features.ptx",
                                           "analyze --survey " GOOD_RUN,
                                           "init " GOOD_RUN "features.ptx"};
    char command[2048];
    size_t i;
    (void)state;
    if (access("/dev/full", W_OK)) skip();
    for (i = 0; i < sizeof commands / sizeof *commands; i++) {
        snprintf(command, sizeof command, MINIGPU "%s 2>&1 >/dev/full", commands[i]);
        expect(command, 1, "minigpu: cannot write standard output: ");
    }
    expect("rm -rf full; mkdir full; ln -s /dev/full full/data.txt; " MINIGPU "run " GOOD_RUN
           "names.yaml --dump full 2>&1",
           1, "minigpu: cannot write full/data.txt: No space left on device");
    expect(MINIGPU "run " GOOD_RUN "names.yaml --trace /dev/full 2>&1", 2,
           "minigpu: cannot write /dev/full: No space left on device");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_page_shows_the_error),
                                       cmocka_unit_test(test_a_failed_run_has_a_checksum),
                                       cmocka_unit_test(test_pointers_in_shared_memory),
                                       cmocka_unit_test(races_between_blocks_are_named),
                                       cmocka_unit_test(test_races_within_a_block_are_named),
                                       cmocka_unit_test(every_buffer_is_dumped),
                                       cmocka_unit_test(test_ranges_are_named),
                                       cmocka_unit_test(test_init_writes_launch_files),
                                       cmocka_unit_test(test_init_names_the_elements),
                                       cmocka_unit_test(test_long_buffers_are_dumped),
                                       cmocka_unit_test(test_a_full_disk_is_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
