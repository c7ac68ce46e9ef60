/* labels: unit property */
/* Replays tests/context/fuzz_context_corpus through the fuzz target, each file also cut and changed in many places,
 * and compares the forms of the checksum. */
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

/* Whether `form` has made the sums expected[32] of data[steps * 64], and a copy of the data if it was asked to. */
static int form_agrees(void (*form)(uint64_t *, unsigned char *, const unsigned char *, size_t), const uint64_t *before,
                       const uint64_t *expected, const unsigned char *data, size_t steps, int copy) {
    unsigned char to[64 * 40 + 1];
    uint64_t sums[32];
    memcpy(sums, before, sizeof sums);
    memset(to, 0x5a, sizeof to);
    form(sums, copy ? to : NULL, data, steps);
    return !memcmp(sums, expected, sizeof sums) && (!copy || !memcmp(to, data, steps * 64)) &&
           to[copy ? steps * 64 : 0] == 0x5a;
}
#ifdef GPUMPI_CONTEXT_WIDE
static void wide(uint64_t *sums, unsigned char *to, const unsigned char *data, size_t steps) {
    gpumpi_context_wide(sums, to, data, steps * 64, 0, 0, 0, 0);
}
#endif

/* The forms of the checksum for 2, 4 and 8 lanes at a time add up to the same sums, those that this processor has, and
 * copy what they add. */
static void checksum_forms_agree(void **state) {
    unsigned char data[64 * 40];
    uint64_t seed = test_seed(), random = seed, expected[32], sums[32];
    (void)state;
    for (uint64_t n = 0; n < test_cases(300); n++) {
        const size_t steps = gpump_random_below(&random, 41);
        const int copy = n & 1;
        for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)gpump_random_below(&random, 256);
        for (size_t i = 0; i < 32; i++) expected[i] = gpump_random_next(&random);
        memcpy(sums, expected, sizeof sums);
        for (size_t i = 0; i < steps * 8; i++) {
            const uint64_t word = gpumpi_context_load64(data + i * 8);
            uint64_t *lane = expected + i % 8;
            lane[8] += lane[0] += word;
            lane[24] += lane[16] += word >> 32;
        }
#if defined(__GNUC__) && defined(__x86_64__) && !defined(GPUMP_NO_SIMD)
        test_check(form_agrees(gpumpi_context_by_2, sums, expected, data, steps, copy), seed, n);
        if (__builtin_cpu_supports("avx2"))
            test_check(form_agrees(gpumpi_context_by_4, sums, expected, data, steps, copy), seed, n);
        if (GPUMPI_CONTEXT_WIDE) test_check(form_agrees(wide, sums, expected, data, steps, copy), seed, n);
#endif
        test_check(form_agrees(gpumpi_context_add_steps, sums, expected, data, steps, copy), seed, n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(corpus_is_read_or_refused),
                                       cmocka_unit_test(checksum_forms_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
