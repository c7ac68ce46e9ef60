/* fat_binary: see fat_binary.h. The container's layout is that which cuobjdump and binary tools of others document:
 * a header, then entries, each with a header of its own. */
#include "fat_binary.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"

#define CONTAINER_MAGIC 0xba55ed50u
#define KIND_PTX 1u
#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u

typedef struct container {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of the entries */
} container;

typedef struct entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes; /* behind the header */
    uint32_t compressed_bytes, options_at;
    uint16_t minor, major;
    uint32_t architecture, name_at, name_bytes;
    uint64_t flags, unused;
    uint64_t plain_bytes; /* of a compressed entry */
} entry;

/* LZ4's block format: runs of literals, each followed by a copy of what stands before. Returns 0, or -1. */
static int expand_lz4(const uint8_t *from, size_t bytes, uint8_t *to, size_t room) {
    const uint8_t *const end = from + bytes;
    uint8_t *at = to;
    while (from < end) {
        const unsigned token = *from++;
        size_t literals = token >> 4, length = token & 15, distance;
        if (literals == 15) do {
                if (from == end) return -1;
                literals += *from;
            } while (*from++ == 255);
        if (literals > (size_t)(end - from) || literals > (size_t)(to + room - at)) return -1;
        memcpy(at, from, literals);
        at += literals;
        from += literals;
        if (from == end) return at == to + room ? 0 : -1;
        if (end - from < 2) return -1;
        distance = from[0] | (size_t)from[1] << 8;
        from += 2;
        if (length == 15) do {
                if (from == end) return -1;
                length += *from;
            } while (*from++ == 255);
        length += 4;
        if (!distance || distance > (size_t)(at - to) || length > (size_t)(to + room - at)) return -1;
        for (; length; length--, at++) *at = *(at - distance);
    }
    return at == to + room ? 0 : -1;
}

/* libzstd is part of every Debian, its header is not: the library is looked for when it is needed. Returns 0, or -1. */
static int expand_zstd(const uint8_t *from, size_t bytes, uint8_t *to, size_t room) {
    typedef size_t decompress(void *to, size_t room, const void *from, size_t bytes);
    void *library = dlopen("libzstd.so.1", RTLD_NOW);
    decompress *function = library ? (decompress *)(uintptr_t)dlsym(library, "ZSTD_decompress") : NULL;
    const int result = function && function(to, room, from, bytes) == room ? 0 : -1;
    if (library) dlclose(library);
    return result;
}

static char *text_of(const entry *e, char *error) {
    const uint8_t *bytes = (const uint8_t *)e + e->header_bytes;
    const size_t count = e->flags & (FLAG_LZ4 | FLAG_ZSTD) ? e->plain_bytes : e->bytes;
    char *text;
    int failed = 0;
    if (!(text = (char *)malloc(count + 1))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory");
        return NULL;
    }
    text[count] = 0;
    if (e->flags & FLAG_LZ4)
        failed = expand_lz4(bytes, e->compressed_bytes, (uint8_t *)text, count);
    else if (e->flags & FLAG_ZSTD)
        failed = expand_zstd(bytes, e->compressed_bytes, (uint8_t *)text, count);
    else
        memcpy(text, bytes, count);
    if (failed) {
        snprintf(error, LAUNCH_ERROR_BYTES, "its compressed PTX is damaged%s",
                 e->flags & FLAG_ZSTD ? ", or libzstd.so.1 is missing" : "");
        free(text);
        return NULL;
    }
    return text;
}

char *fat_binary_ptx(const void *data, char *error) {
    const container *c = (const container *)data;
    const uint8_t *at, *end;
    const entry *best = NULL;
    if (!data) {
        snprintf(error, LAUNCH_ERROR_BYTES, "it is of an unknown kind");
        return NULL;
    }
    if (c->magic != CONTAINER_MAGIC) {
        char *text = strdup((const char *)data);
        if (!text) snprintf(error, LAUNCH_ERROR_BYTES, "out of memory");
        return text;
    }
    at = (const uint8_t *)data + c->header_bytes;
    end = at + c->bytes;
    while (at + sizeof *best <= end) {
        const entry *e = (const entry *)(const void *)at;
        if (e->kind == KIND_PTX && (!best || e->architecture > best->architecture)) best = e;
        if (!e->header_bytes) break;
        at += e->header_bytes + e->bytes;
    }
    if (best) return text_of(best, error);
    snprintf(error, LAUNCH_ERROR_BYTES,
             "it has code for GPUs of one generation, and no PTX: compile with nvcc -gencode "
             "arch=compute_80,code=compute_80");
    return NULL;
}
