/* labels: unit property */
/* Replays tests/context/fuzz_context_corpus through the fuzz target, each file also cut and changed in many places. */
#include "context/fuzz_context.c"

#include "test.h"
#include <dirent.h>

/* Each file of the fuzzer's corpus, whole or cut short, is read or refused without a crash. */
static void corpus_is_read_or_refused(void **state) {
    char path[1024];
    struct dirent *entry;
    uint64_t seed = test_seed(), random = seed;
    int files = 0;
    DIR *folder;
    (void)state;
    snprintf(path, sizeof path, "%s/tests/context/fuzz_context_corpus", GPUMP_SOURCE_DIR);
    folder = opendir(path);
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        unsigned char data[65536], *exact;
        size_t size;
        FILE *file;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/tests/context/fuzz_context_corpus/%s", GPUMP_SOURCE_DIR, entry->d_name);
        file = fopen(path, "rb");
        assert_non_null(file);
        size = fread(data, 1, sizeof data, file);
        fclose(file);
        files++;
        for (uint64_t n = 0; n < test_cases(200); n++) {
            size_t length = n ? gpump_random_below(&random, (uint32_t)size + 1) : size;
            exact = malloc(length + 1); /* so that the sanitizer sees a byte too far */
            memcpy(exact, data, length);
            for (uint32_t i = n ? gpump_random_below(&random, 4) : 0; i && length; i--)
                exact[gpump_random_below(&random, (uint32_t)length)] ^=
                    (unsigned char)(1u << gpump_random_below(&random, 8));
            assert_int_equal(LLVMFuzzerTestOneInput(exact, length), 0);
            free(exact);
        }
    }
    closedir(folder);
    assert_true(files >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(corpus_is_read_or_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
