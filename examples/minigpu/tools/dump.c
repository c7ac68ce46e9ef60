#include "tools/dump.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "tools/outputs.h"

#define NAME_BYTES 256u
#define PATH_BYTES 4096u
#define TEXT_ELEMENTS 65536u /* of a buffer that are written as text */

/* Makes the name of a buffer's files: letters, digits, - . and _ only. */
static void file_name(const launch_file *launch, uint32_t index, char name[NAME_BYTES]) {
    const launch_buffer *buffer = &launch->buffers[index];
    const int several = launch->process_count > 1;
    const char *process = several ? launch->processes[buffer->process].name : "", *dot = several ? "." : "";
    uint32_t k, a;
    char *at;
    snprintf(name, NAME_BYTES, "%s%sbuffer%u", process, dot, index + 1);
    for (k = 0; k < launch->kernel_count && !buffer->name; k++) {
        const launch_kernel *kernel = &launch->kernels[k];
        for (a = 0; a < kernel->argument_count; a++) {
            if (!kernel->arguments[a].is_buffer || kernel->arguments[a].buffer != index) continue;
            snprintf(name, NAME_BYTES, "%s%s%u.%.100s.argument%u", process, dot, k + 1, kernel->name, a);
            k = launch->kernel_count - 1;
            break;
        }
    }
    if (buffer->name) snprintf(name, NAME_BYTES, "%s%s%.180s", process, dot, buffer->name);
    for (at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("-._", *at)) *at = '_';
}

/* One element per line, up to TEXT_ELEMENTS of them. The .bin file has all elements. */
static void write_text(const launch_buffer *buffer, const uint8_t *bytes, const char *binary, FILE *file) {
    const uint32_t width = launch_type_bytes(buffer->type);
    const uint64_t elements = buffer->bytes / width, shown = elements < TEXT_ELEMENTS ? elements : TEXT_ELEMENTS;
    uint64_t i;
    char text[64];
    fprintf(file, "# %s, %" PRIu64 " elements, at 0x%" PRIx64 "\n", launch_type_name(buffer->type), elements,
            buffer->address);
    for (i = 0; i < shown; i++) {
        uint64_t bits = 0;
        memcpy(&bits, bytes + i * width, width); /* little-endian hosts */
        launch_type_text(buffer->type, bits, text, sizeof text);
        fprintf(file, "%s\n", text);
    }
    if (shown < elements) fprintf(file, "# %" PRIu64 " more elements in %s\n", elements - shown, binary);
}

static FILE *open_file(const char *path) {
    FILE *file = fopen(path, "wb");
    if (!file) fprintf(stderr, "minigpu: --dump: cannot write %s: %s\n", path, strerror(errno));
    return file;
}

/* Makes the path of a buffer's file with a suffix. */
static void file_path(const launch_file *launch, uint32_t index, const char *folder, const char *ending,
                      char path[PATH_BYTES]) {
    char name[NAME_BYTES], other[NAME_BYTES];
    uint32_t n;
    file_name(launch, index, name);
    for (n = 0; n < index; n++) { /* names that differ only in characters that files cannot have */
        file_name(launch, n, other);
        if (strcmp(name, other) == 0) snprintf(name + strlen(name), sizeof name - strlen(name), ".%u", index + 1);
    }
    snprintf(path, PATH_BYTES, "%s/%s%s", folder, name, ending);
}

int dump_prepare(const launch_file *launch, const char *folder, const char *trace, const char *html) {
    char path[PATH_BYTES];
    const char *const outputs[] = {trace, html, path};
    struct stat status;
    uint32_t i;
    if (mkdir(folder, 0777) && errno != EEXIST) {
        fprintf(stderr, "minigpu: --dump: cannot make the folder %s: %s\n", folder, strerror(errno));
        return -1;
    }
    if (!stat(folder, &status) && !S_ISDIR(status.st_mode)) {
        fprintf(stderr, "minigpu: --dump: %s is no folder: name another place for the buffers\n", folder);
        return -1;
    }
    if (access(folder, W_OK | X_OK)) {
        fprintf(stderr, "minigpu: --dump: cannot write to the folder %s: %s\n", folder, strerror(errno));
        return -1;
    }
    for (i = 0; i < 2 * launch->buffer_count; i++) {
        file_path(launch, i / 2, folder, i % 2 ? ".bin" : ".txt", path);
        if (outputs_spare(launch, outputs, 3)) return -1;
    }
    return 0;
}

int dump_buffers(const machine *m, const launch_file *launch, const char *folder) {
    uint32_t i;
    for (i = 0; i < launch->buffer_count; i++) {
        const launch_buffer *buffer = &launch->buffers[i];
        const uint8_t *bytes = m->memory + (buffer->address - DEVICE_BASE);
        char path[PATH_BYTES], binary[PATH_BYTES];
        FILE *file;
        file_path(launch, i, folder, ".bin", binary);
        if (!(file = open_file(binary))) return -1;
        fwrite(bytes, 1, buffer->bytes, file);
        if (output_close(file, "minigpu", binary)) return -1;
        file_path(launch, i, folder, ".txt", path);
        if (!(file = open_file(path))) return -1;
        write_text(buffer, bytes, strrchr(binary, '/') + 1, file);
        if (output_close(file, "minigpu", path)) return -1;
    }
    return 0;
}
