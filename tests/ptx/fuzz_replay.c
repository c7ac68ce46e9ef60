/* labels: unit property link: minigpu_core */
/* The fuzz target's checks over the files of bad_ptx and ptx_corpus, whole and damaged in random places. */
#include "test.h"
#include <dirent.h>
#include "ptx/fuzz_ptx.c"

static uint32_t replay_folder(const char *root, uint64_t *seed, uint32_t damaged) {
    DIR *folder = opendir(root);
    struct dirent *entry;
    uint32_t files = 0;
    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        char path[1024];
        FILE *file;
        long size;
        if (!strstr(entry->d_name, ".ptx")) continue;
        snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
        file = fopen(path, "rb");
        assert_non_null(file);
        fseek(file, 0, SEEK_END);
        size = ftell(file);
        rewind(file);
        uint8_t *text = malloc((size_t)size + 1), *copy = malloc((size_t)size + 1);
        assert_int_equal(fread(text, 1, (size_t)size, file), size);
        fclose(file);
        LLVMFuzzerTestOneInput(text, (size_t)size);
        for (uint32_t i = 0; i < damaged && size > 1; i++) {
            static const char characters[] = "{}[]();:,.<>@!%_|+-*/09afxU\"\n \\$";
            memcpy(copy, text, (size_t)size);
            uint32_t places = 1 + gpump_random_below(seed, 4);
            for (uint32_t k = 0; k < places; k++) {
                uint32_t at = gpump_random_below(seed, (uint32_t)size), from = gpump_random_below(seed, (uint32_t)size);
                uint32_t length = 1 + gpump_random_below(seed, 24);
                if (gpump_random_below(seed, 2))
                    copy[at] = (uint8_t)characters[gpump_random_below(seed, sizeof characters - 1)];
                else if (at + length < (uint32_t)size && from + length < (uint32_t)size)
                    memcpy(copy + at, text + from, length);
            }
            LLVMFuzzerTestOneInput(copy, (size_t)size);
        }
        free(text);
        free(copy);
        files++;
    }
    closedir(folder);
    return files;
}

static void test_replay(void **state) {
    uint64_t seed = test_seed();
    uint32_t damaged = (uint32_t)test_cases(1000);
    (void)state;
    assert_true(replay_folder(GPUMP_SOURCE_DIR "/tests/ptx/bad_ptx", &seed, damaged) > 50);
    assert_true(replay_folder(GPUMP_SOURCE_DIR "/tests/ptx/ptx_corpus", &seed, damaged) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
