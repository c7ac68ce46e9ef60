/* labels: command unit link: minigpu_core */
/* Every file of tests/minigpu/bad_launch names the message it must cause on its first line ("# expect: line:column:
 * text"); the program must print exactly that place and exit with 2. "# expect-in-ptx: ..." stands for a place in a PTX
 * file. */
#include "run_command.h"

#include <dirent.h>

#define FOLDER GPUMP_SOURCE_DIR "/tests/minigpu/bad_launch"

static void check_file(const char *name) {
    char path[512], line[512], command[1200], output[8192], expected[1200];
    FILE *file;
    int status;
    snprintf(path, sizeof path, "%s/%s", FOLDER, name);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    line[strcspn(line, "\n")] = 0;
    snprintf(command, sizeof command, "%s/examples/minigpu/minigpu run '%s' 2>&1 >/dev/null", GPUMP_BINARY_DIR, path);
    status = run_command(command, output, sizeof output);
    if (strncmp(line, "# expect-in-ptx: ", 17) == 0) {
        snprintf(expected, sizeof expected, "%s", line + 17);
    } else {
        int place = 0;
        if (strncmp(line, "# expect: ", 10) != 0) fail_msg("%s does not say what it expects", name);
        sscanf(line + 10, "%*d:%*d: %n", &place);
        snprintf(expected, sizeof expected, "%s:%.*s", path, place, line + 10);
        if (!strstr(output, line + 10 + place)) fail_msg("%s: exit status %d, printed: %s", name, status, output);
    }
    if (status != 2 || !strstr(output, expected)) fail_msg("%s: exit status %d, printed: %s", name, status, output);
    if (strchr(output, '\n') != output + strlen(output) - 1) fail_msg("%s: more than one line: %s", name, output);
}

/* Each file of bad_launch is refused with the text in its first line. */
static void every_bad_launch_file_says_its_error(void **state) {
    DIR *folder = opendir(FOLDER);
    struct dirent *entry;
    int files = 0;
    (void)state;
    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".yaml") != 0) continue;
        check_file(entry->d_name);
        files++;
    }
    closedir(folder);
    assert_true(files > 20);
}

/* Runs every file of a folder and looks for its first line's message ("# expect: ...") among what is printed. Returns
 * how many files there are. */
static int run_folder(const char *name, int expected_status) {
    char folder_path[512];
    DIR *folder;
    struct dirent *entry;
    int files = 0;
    snprintf(folder_path, sizeof folder_path, "%s/tests/minigpu/%s", GPUMP_SOURCE_DIR, name);
    folder = opendir(folder_path);
    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        char path[1024], line[512], command[2048], output[65536];
        size_t length = strlen(entry->d_name);
        FILE *file;
        int status;
        if (length < 5 || strcmp(entry->d_name + length - 5, ".yaml") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder_path, entry->d_name);
        file = fopen(path, "r");
        assert_non_null(file);
        assert_non_null(fgets(line, sizeof line, file));
        fclose(file);
        line[strcspn(line, "\n")] = 0;
        assert_true(strncmp(line, "# expect: ", 10) == 0);
        snprintf(command, sizeof command, "%s/examples/minigpu/minigpu run '%s' 2>&1", GPUMP_BINARY_DIR, path);
        status = run_command(command, output, sizeof output);
        if (status != expected_status || !strstr(output, line + 10))
            fail_msg("%s: exit status %d, printed: %s", entry->d_name, status, output);
        files++;
    }
    closedir(folder);
    return files;
}

/* Files of tests/minigpu/bad_run are fine, but what they run is not. */
static void test_every_bad_run(void **state) {
    (void)state;
    assert_true(run_folder("bad_run", 1) >= 9);
}

/* Files of tests/minigpu/good_run use what launch files can say beside plain buffers, and every expectation holds. */
static void test_every_good_run(void **state) {
    (void)state;
    assert_true(run_folder("good_run", 0) >= 7);
}

/* Commands and options that do not exist, and missing operands. */
static void bad_command_lines_end_with_2(void **state) {
    static const char *const bad[] = {"",
                                      "walk",
                                      "run",
                                      "run nowhere.yaml",
                                      "run " GPUMP_SOURCE_DIR
                                      "/examples/minigpu/kernels/saxpy/small.yaml --preempt 50:rewind",
                                      "run --preempt x nowhere.yaml",
                                      "run --preempt 5:push nowhere.yaml",
                                      "run --colour nowhere.yaml",
                                      "demo nowhere.yaml"};
    char command[1024], output[8192];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(command, sizeof command, "%s/examples/minigpu/minigpu %s 2>&1", GPUMP_BINARY_DIR, bad[i]);
        if (run_command(command, output, sizeof output) != 2) fail_msg("minigpu %s: %s", bad[i], output);
        assert_true(strlen(output) > 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_bad_launch_file_says_its_error),
                                       cmocka_unit_test(test_every_bad_run), cmocka_unit_test(test_every_good_run),
                                       cmocka_unit_test(bad_command_lines_end_with_2)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
