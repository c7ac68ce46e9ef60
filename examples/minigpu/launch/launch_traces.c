#define _GNU_SOURCE
#include "launch/launch_traces.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/launch_reader.h"
#include "sass/trace_reader.h"

#define LIST "kernelslist.g"

static int ends_with(const char *path, const char *ending) {
    const size_t length = strlen(path), least = strlen(ending);
    return length > least && !strcmp(path + length - least, ending);
}

int launch_traces_is_one(const char *path) {
    return ends_with(path, ".traceg") || ends_with(path, ".traceg.xz") || ends_with(path, ".traceg.zst");
}

int launch_traces_is_list(const char *path, const char *text) {
    const char *name = strrchr(path, '/');
    text += strspn(text, "\r\n");
    return !strcmp(name ? name + 1 : path, LIST) || !strncmp(text, "Memcpy", 6) || !strncmp(text, "kernel-", 7);
}

const char *launch_traces_in_folder(const char *path, char list[1024]) {
    struct stat status;
    if (stat(path, &status) || !S_ISDIR(status.st_mode)) return path;
    snprintf(list, 1024, "%.1000s%s" LIST, path, ends_with(path, "/") ? "" : "/");
    return list;
}

/* Returns the process of a stream, which is made when it is new; GPUMP_NONE when memory is out. */
static uint32_t process_of(launch_file *launch, uint64_t stream) {
    char name[40];
    uint32_t i;
    launch_process *process;
    snprintf(name, sizeof name, "stream %" PRIu64, stream);
    for (i = 0; i < launch->process_count; i++)
        if (!strcmp(launch->processes[i].name, name)) return i;
    process = (launch_process *)append(&launch->processes, &launch->process_count, sizeof *process);
    if (!process || !(process->name = strdup(name))) return GPUMP_NONE;
    process->repeat = process->weight = 1;
    return i;
}

#define KERNELS_AT_HAND 16u /* of which the reader is kept from the first look at the trace on */

/* Adds the kernel of a trace. process: GPUMP_NONE: its stream's; `space`: kernels of one space share their memory. */
static int add_kernel(launch_file *launch, const char *path, uint32_t process, uint32_t space, launch_place place,
                      char error[LAUNCH_ERROR_BYTES]) {
    launch_kernel *k = (launch_kernel *)append(&launch->kernels, &launch->kernel_count, sizeof *k);
    char **read_path = (char **)append(&launch->read_paths, &launch->read_path_count, sizeof *read_path);
    trace_kernel *trace = (trace_kernel *)calloc(1, sizeof *trace);
    if (!k || !read_path || !trace) {
        free(trace);
        return launch_file_error(launch, place, error, "out of memory");
    }
    k->trace = trace;
    k->place = k->ptx_place = k->name_place = k->grid_place = k->block_place = k->shared_place = k->arguments_place =
        k->footprint_place = place;
    *read_path = strdup(path);
    if (trace_kernel_open(trace, path, launch->kernel_count, launch->trace_map, error)) return -1;
    if (launch->kernel_count > KERNELS_AT_HAND) trace_kernel_release(trace);
    trace->space = space;
    memcpy(k->grid, trace->grid, sizeof k->grid);
    memcpy(k->block, trace->block, sizeof k->block);
    k->name = strdup(trace->program.name);
    k->process = process == GPUMP_NONE ? process_of(launch, trace->stream) : process;
    if (!*read_path || !k->name || k->process == GPUMP_NONE)
        return launch_file_error(launch, place, error, "out of memory");
    k->priority = launch->processes[k->process].priority;
    return 0;
}

/* Writes where a trace lies that the list names: beside the list, perhaps packed. */
static void find_trace(const char *list, const char *name, int length, char path[1024]) {
    static const char *const endings[] = {"", ".xz", ".zst"};
    const char *slash = strrchr(list, '/');
    uint32_t i;
    for (i = 0; i < 3; i++) {
        snprintf(path, 1024, "%.*s%.*s%s", slash ? (int)(slash - list) + 1 : 0, list, length, name, endings[i]);
        if (!access(path, R_OK)) return;
    }
    snprintf(path, 1024, "%.*s%.*s", slash ? (int)(slash - list) + 1 : 0, list, length, name);
}

/* Returns why a file that a list names is not read, with the remedy; NULL: it is tried. */
static const char *why_not(const char *path) {
    if (ends_with(path, ".tracez")) return "a .tracez is not read; make a .traceg of it by Accel-Sim's traceDsm";
    if (ends_with(path, ".trace") || ends_with(path, ".trace.xz"))
        return "a .trace is not read; make a .traceg of it by Accel-Sim's post-traces-processing";
    return access(path, R_OK) ? strerror(errno) : NULL;
}

/* Reads the lines of a list: copies, which need nothing, and kernels in the order of their launch. */
static int read_list(launch_file *launch, const char *list, const char *text, uint32_t process, uint32_t space,
                     char error[LAUNCH_ERROR_BYTES]) {
    const uint32_t before = launch->kernel_count;
    launch_place place = {1, 1};
    const char *why;
    char path[1024];
    for (; *text; place.line++) {
        const int length = (int)strcspn(text, "\r\n");
        if (!strncmp(text, "kernel-", 7)) {
            find_trace(list, text, length, path);
            if ((why = why_not(path))) {
                snprintf(error, LAUNCH_ERROR_BYTES, "%.200s:%u:1: %.200s: %s", list, place.line, path, why);
                return -1;
            }
            if (add_kernel(launch, path, process, space, place, error)) return -1;
        } else if (length && strncmp(text, "Memcpy", 6)) {
            snprintf(error, LAUNCH_ERROR_BYTES,
                     "%.300s:%u:1: \"%.*s\" is neither a copy (MemcpyHtoD,address,bytes) nor a trace (kernel-N.traceg)",
                     list, place.line, length < 60 ? length : 60, text);
            return -1;
        }
        text += length;
        text += *text == '\r';
        text += *text == '\n';
    }
    if (launch->kernel_count > before) return 0;
    snprintf(error, LAUNCH_ERROR_BYTES, "%.300s:%u:1: the list names no kernel", list, place.line);
    return -1;
}

/* Makes the map of the traces' memory, unless it is there. Returns -1 when memory is out. */
static int make_map(launch_file *launch, char error[LAUNCH_ERROR_BYTES]) {
    const launch_place nowhere = {1, 1};
    if (launch->trace_map) return 0;
    if (!(launch->trace_map = (trace_map *)calloc(1, sizeof *launch->trace_map)))
        return launch_file_error(launch, nowhere, error, "out of memory");
    launch->trace_map->base = TRACE_REGION_BYTES; /* until a machine says where */
    return 0;
}

int launch_traces_read(launch_file *launch, const char *text, char error[LAUNCH_ERROR_BYTES]) {
    const launch_place nowhere = {1, 1};
    if (make_map(launch, error)) return -1;
    return !text ? add_kernel(launch, launch->path, GPUMP_NONE, 0, nowhere, error)
                 : read_list(launch, launch->path, text, GPUMP_NONE, 0, error);
}

int launch_traces_add(launch_file *launch, const char *path, const char *text, uint32_t process, launch_place place,
                      char error[LAUNCH_ERROR_BYTES]) {
    if (make_map(launch, error)) return -1;
    return !text ? add_kernel(launch, path, process, process, place, error)
                 : read_list(launch, path, text, process, process, error);
}
