/* records: MINIGPU=record:DIR. Each launch becomes a launch file DIR/N.yaml with its PTX, its buffers as they are
 * before the kernel, and what they hold behind it, so that `minigpu run DIR/N.yaml` runs and checks the launch
 * (runtime.h).
 *
 * Every allocation is written, since a kernel may reach it through pointers in memory. Words of 8 bytes that hold an
 * address of an allocation are written as pointers, because the launch file places buffers anew. */
#define _GNU_SOURCE
#include "runtime.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RECORDS_MAX 1000u
#define POINTERS_MAX 4096u /* of one buffer; more are data that look like pointers, or a table for another tool */

static unsigned number;
static int is_open; /* the launch that runs is recorded, and its results belong to record `number` */

static FILE *open_file(const char *name, const char *suffix, const char *mode) {
    char path[1024];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s%s", cudart.configuration.record, name, suffix);
    file = fopen(path, mode);
    if (!file) runtime_say("cannot write %s: %s", path, strerror(errno));
    return file;
}

static void write_bytes(const char *name, const char *suffix, const void *bytes, size_t count) {
    FILE *file = open_file(name, suffix, "wb");
    if (!file) return;
    if (fwrite(bytes, 1, count, file) != count) runtime_say("cannot write %s%s", name, suffix);
    fclose(file);
}

/* The allocation in which a word points; NULL: it is no address. */
static const launch_buffer *pointed_to(const launch_file *launch, uint64_t word) {
    uint32_t i;
    for (i = 0; i < launch->buffer_count; i++)
        if (word - launch->buffers[i].address < launch->buffers[i].bytes && !launch->buffers[i].symbol)
            return &launch->buffers[i];
    return NULL;
}

static uint32_t index_of(const launch_file *launch, const launch_buffer *b) { return (uint32_t)(b - launch->buffers); }

static const uint8_t *contents(const machine *m, const launch_buffer *b) {
    return m->memory + (b->address - DEVICE_BASE);
}

/* pointers: [{at: 3, to: b2, element: 16}, ...]; an element of u64 is 8 bytes, those of other buffers are bytes. */
static void write_pointers(FILE *file, const machine *m, const launch_file *launch, const launch_buffer *b) {
    uint32_t count = 0;
    uint64_t i;
    for (i = 0; i < b->bytes / 8 && count < POINTERS_MAX; i++) {
        const launch_buffer *to;
        uint64_t word;
        memcpy(&word, contents(m, b) + i * 8, 8);
        if (!(to = pointed_to(launch, word)) || (word - to->address) % (to->bytes % 8 ? 1 : 8)) continue;
        fprintf(file, "%s{at: %" PRIu64 ", to: b%u, element: %" PRIu64 "}", count++ ? ", " : ", pointers: [", i,
                index_of(launch, to), (word - to->address) / (to->bytes % 8 ? 1 : 8));
    }
    if (count) fputs("]", file);
}

static void write_buffers(FILE *file, const machine *m, const launch_file *launch, const char *name) {
    uint32_t i;
    fputs("buffers:\n", file);
    for (i = 0; i < launch->buffer_count; i++) {
        const launch_buffer *b = &launch->buffers[i];
        char suffix[32];
        if (b->symbol) continue;
        snprintf(suffix, sizeof suffix, ".b%u.bin", i);
        write_bytes(name, suffix, contents(m, b), b->bytes);
        fprintf(file, "      - {name: b%u, type: %s, file: %s%s", i, b->bytes % 8 ? "u8" : "u64", name, suffix);
        if (b->bytes % 8 == 0) write_pointers(file, m, launch, b);
        fputs("}\n", file);
    }
}

/* A parameter that is bytes: the bits of a number, or a struct of 64-bit words and bytes, with its pointers. */
static void write_structure(FILE *file, const launch_file *launch, const uint8_t *bytes, uint32_t count) {
    uint32_t at;
    uint64_t word = 0;
    if (count == 1 || count == 2 || count == 4 || count == 8) { /* a struct's bits may be those of a float */
        memcpy(&word, bytes, count);
        fprintf(file, "          - struct: [{type: u%u, value: %" PRIu64 "}]\n", count * 8, word);
        return;
    }
    fputs("          - struct: [", file);
    for (at = 0; at < count; at += 8) {
        const launch_buffer *to;
        if (count - at < 8) {
            for (; at < count; at++) fprintf(file, "%s{type: u8, value: %u}", at ? ", " : "", bytes[at]);
            break;
        }
        memcpy(&word, bytes + at, 8);
        to = pointed_to(launch, word);
        if (to && (word - to->address) % (to->bytes % 8 ? 1 : 8) == 0)
            fprintf(file, "%s{pointer: {to: b%u, element: %" PRIu64 "}}", at ? ", " : "", index_of(launch, to),
                    (word - to->address) / (to->bytes % 8 ? 1 : 8));
        else
            fprintf(file, "%s{type: u64, value: %" PRIu64 "}", at ? ", " : "", word);
    }
    fputs("]\n", file);
}

static void write_argument(FILE *file, const launch_file *launch, const launch_argument *a) {
    const launch_buffer *b = a->is_buffer ? &launch->buffers[a->buffer] : NULL;
    if (b && !b->symbol && a->offset % (b->bytes % 8 ? 1 : 8) == 0)
        fprintf(file, "          - buffer: {same_as: b%u, element: %" PRIu64 "}\n", a->buffer,
                a->offset / (b->bytes % 8 ? 1 : 8));
    else if (a->structure)
        write_structure(file, launch, a->structure, a->structure_bytes);
    else
        runtime_say("record: a pointer to a variable, or into the middle of a word, is not recorded");
}

/* Variables of the module, by name, as they are now. */
static void write_symbols(FILE *file, const machine *m, const ptx_module *module, const char *name) {
    uint32_t i, count = 0;
    for (i = 0; i < module->symbol_count; i++) {
        const ptx_symbol *s = &module->symbols[i];
        char suffix[32];
        if (!s->bytes) continue;
        snprintf(suffix, sizeof suffix, ".s%u.bin", i);
        write_bytes(name, suffix, m->memory + (s->address - DEVICE_BASE), s->bytes);
        fprintf(file, "%s          - {name: \"%s\", buffer: {type: u8, file: %s%s}}\n",
                count++ ? "" : "        symbols:\n", s->name, name, suffix);
    }
}

static void record_name(char *name, size_t bytes) { snprintf(name, bytes, "%04u", number); }

void records_built(const machine *m, const launch_file *launch) {
    const launch_kernel *k = &launch->kernels[0];
    const char *ptx = modules_text(k->module);
    char name[32];
    FILE *file;
    uint32_t i;
    is_open = 0;
    if (!ptx) return;
    if (number == RECORDS_MAX) {
        runtime_say("record: the first %u launches are recorded, and no more", RECORDS_MAX);
        return;
    }
    number++;
    record_name(name, sizeof name);
    if (mkdir(cudart.configuration.record, 0777) && errno != EEXIST) {
        runtime_say("cannot make the folder %s: %s", cudart.configuration.record, strerror(errno));
        return;
    }
    if (!(file = open_file(name, ".yaml", "w"))) return;
    write_bytes(name, ".ptx", ptx, strlen(ptx));
    fprintf(file, "# Launch %u of %s.\nmachine: {gpu: %s}\nprocesses:\n  - name: recorded\n    ", number,
            program_invocation_short_name, m->config.preset);
    write_buffers(file, m, launch, name);
    fprintf(
        file,
        "    kernels:\n      - ptx: %s.ptx\n        kernel: %s\n        grid: [%u, %u, %u]\n        block: [%u, %u, "
        "%u]\n        dynamic_shared_bytes: %u\n",
        name, k->name, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2],
        k->dynamic_shared_bytes);
    if (k->argument_count) fputs("        arguments:\n", file);
    for (i = 0; i < k->argument_count; i++) write_argument(file, launch, &k->arguments[i]);
    write_symbols(file, m, k->module, name);
    fclose(file);
    is_open = 1;
}

/* Pointers of the device mean nothing in the launch file's memory: a buffer that holds any is not compared. */
static int holds_pointers(const machine *m, const launch_file *launch, const launch_buffer *b) {
    uint64_t i, word;
    for (i = 0; i < b->bytes / 8; i++) {
        memcpy(&word, contents(m, b) + i * 8, 8);
        if (pointed_to(launch, word)) return 1;
    }
    return 0;
}

/* A launch file has a heap of its own, so the heap of the program is for reading. */
static int is_heap(const launch_file *launch, const launch_buffer *b) {
    return launch->memory && b->address == launch->memory->heap;
}

void records_ran(const machine *m, const launch_file *launch) {
    char name[32], suffix[40];
    FILE *file;
    uint32_t i, count = 0;
    if (!is_open) return;
    record_name(name, sizeof name);
    if (!(file = open_file(name, ".yaml", "a"))) return;
    for (i = 0; i < launch->buffer_count; i++) {
        const launch_buffer *b = &launch->buffers[i];
        if (b->symbol || holds_pointers(m, launch, b) || is_heap(launch, b)) continue;
        snprintf(suffix, sizeof suffix, ".b%u.expected.bin", i);
        write_bytes(name, suffix, contents(m, b), b->bytes);
        fprintf(file, "%s            - {buffer: b%u, file: %s%s}\n",
                count++ ? "" : "        expect:\n          buffers:\n", i, name, suffix);
    }
    fclose(file);
}
