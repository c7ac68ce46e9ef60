/* replay_folder: a fuzz target over the files of a folder, each as it is and damaged in random places. */
#ifndef GPUMP_FUZZ_REPLAY_H
#define GPUMP_FUZZ_REPLAY_H
#include "test.h"
#include <dirent.h>
#include <sys/stat.h>

/* Runs the target on every plain file of a folder whose name ends in `suffix`, and on `damaged` changed copies of each.
 * `choice` below 0: the input is the file; otherwise a byte with that number, then the file. Returns the files. */
static inline uint32_t replay_folder(const char *root, const char *suffix, int choice, uint64_t *seed,
                                     uint32_t damaged) {
    DIR *folder = opendir(root);
    struct dirent *entry;
    uint32_t files = 0, first = choice < 0 ? 0 : 1;
    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        char path[1024];
        struct stat about;
        size_t length = strlen(entry->d_name), end = strlen(suffix);
        uint8_t *text, *copy;
        uint32_t size;
        FILE *file;
        if (entry->d_name[0] == '.' || length < end || strcmp(entry->d_name + length - end, suffix)) continue;
        snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
        if (stat(path, &about) || !S_ISREG(about.st_mode)) continue;
        file = fopen(path, "rb");
        assert_non_null(file);
        size = (uint32_t)about.st_size + first;
        text = malloc(size + 1);
        text[0] = (uint8_t)choice;
        assert_int_equal(fread(text + first, 1, size - first, file), size - first);
        fclose(file);
        for (uint32_t i = 0; i <= damaged && (!i || size > 1 + first); i++) {
            static const char characters[] = "{}[]();:,.<>@!%_|+-*/09afxU\"\n \\$";
            copy = malloc(size + 1); /* one of its own each time, so that a sanitizer sees a byte too far */
            memcpy(copy, text, size);
            for (uint32_t places = i ? 1 + gpump_random_below(seed, 4) : 0; places; places--) {
                uint32_t at = first + gpump_random_below(seed, size - first);
                uint32_t from = first + gpump_random_below(seed, size - first);
                uint32_t run = 1 + gpump_random_below(seed, 24);
                if (gpump_random_below(seed, 2))
                    copy[at] = (uint8_t)characters[gpump_random_below(seed, sizeof characters - 1)];
                else if (at + run < size && from + run < size)
                    memcpy(copy + at, text + from, run);
            }
            assert_int_equal(LLVMFuzzerTestOneInput(copy, size), 0);
            free(copy);
        }
        free(text);
        files++;
    }
    closedir(folder);
    return files;
}
#endif
