/* What the fuzz targets share that read files: an input becomes a file in a folder of its own. */
#ifndef GPUMP_FUZZ_INPUT_H
#define GPUMP_FUZZ_INPUT_H
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char fuzz_folder[256]; /* made at the first input, removed at the end */

static inline void fuzz_remove_folder(void) {
    DIR *folder = opendir(fuzz_folder);
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", fuzz_folder, entry->d_name);
        if (entry->d_name[0] != '.') (void)unlink(path);
    }
    if (folder) closedir(folder);
    (void)rmdir(fuzz_folder);
}

static inline void fuzz_make_folder(void) {
    const char *temporary = getenv("TMPDIR");
    if (*fuzz_folder) return;
    snprintf(fuzz_folder, sizeof fuzz_folder, "%s/gpump_fuzz_XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(fuzz_folder)) abort();
    atexit(fuzz_remove_folder);
}

/* Makes the files of `from` that end in `suffix` available beside the input, under their own names. */
static inline void fuzz_link_files(const char *from, const char *suffix) {
    DIR *folder = opendir(from);
    struct dirent *entry;
    if (!folder) abort();
    while ((entry = readdir(folder))) {
        char path[1200], link[600];
        size_t length = strlen(entry->d_name), end = strlen(suffix);
        if (length < end || strcmp(entry->d_name + length - end, suffix)) continue;
        snprintf(path, sizeof path, "%s/%s", from, entry->d_name);
        snprintf(link, sizeof link, "%s/%s", fuzz_folder, entry->d_name);
        if (symlink(path, link)) continue; /* two folders may have a file of one name; the first counts */
    }
    closedir(folder);
}

/* Writes the input to the file `name` of the folder. Returns its path, good until the next call. */
static inline const char *fuzz_write(const char *name, const uint8_t *data, size_t size) {
    static char path[600];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", fuzz_folder, name);
    file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file)) abort();
    return path;
}

/* Returns 1 for an input with a number of more than `most` digits: it asks for sizes that are legal, and only slow. */
static inline int fuzz_has_long_number(const uint8_t *data, size_t size, int most) {
    int digits = 0;
    for (size_t i = 0; i < size; i++) {
        int exponent = (data[i] == 'e' || data[i] == 'E') && digits; /* 1e9 is a long number too */
        if (exponent) return 1;
        digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
        if (digits > most) return 1;
    }
    return 0;
}
#endif
