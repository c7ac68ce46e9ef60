#define _GNU_SOURCE
#include "sass/trace_text.h"

#include <errno.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#define INPUT_BYTES 65536u
#define TEXT_BYTES 65536u
#define XZ_MEMORY_BYTES (UINT64_C(128) << 20) /* that the xz decoder may take: xz -9 needs 65 MB */

typedef enum packing { PACKING_NONE, PACKING_XZ, PACKING_ZSTD } packing;

struct trace_text {
    trace_ahead ahead;
    FILE *file;
    packing packing;
    lzma_stream xz;
    ZSTD_DStream *zstd;
    ZSTD_inBuffer zstd_input;
    size_t zstd_left; /* what the zstd frame still needs; 0: it is whole */
    int at_end;       /* the packed data has ended */
    int is_cut;       /* the last line has no end */
    const char *error;
    uint8_t input[INPUT_BYTES];
    char text[TEXT_BYTES + TRACE_BEHIND_BYTES];
};

static int ends_with(const char *path, const char *end) {
    const size_t length = strlen(path), wanted = strlen(end);
    return length >= wanted && !strcmp(path + length - wanted, end);
}

static int start_unpacking(trace_text *t, const char *path) {
    const lzma_stream none = LZMA_STREAM_INIT;
    t->xz = none;
    if (ends_with(path, ".xz")) {
        t->packing = PACKING_XZ;
        return lzma_stream_decoder(&t->xz, XZ_MEMORY_BYTES, LZMA_CONCATENATED) == LZMA_OK ? 0 : -1;
    }
    if (!ends_with(path, ".zst")) return 0;
    t->packing = PACKING_ZSTD;
    t->zstd = ZSTD_createDStream();
    t->zstd_input.src = t->input;
    t->zstd_left = 1;
    return t->zstd ? 0 : -1;
}

trace_text *trace_text_open(const char *path) {
    trace_text *t = (trace_text *)calloc(1, sizeof *t);
    struct stat status;
    if (!t) return NULL;
    t->ahead.at = t->text;
    if (!(t->file = fopen(path, "rb")) || fstat(fileno(t->file), &status) || !S_ISREG(status.st_mode)) {
        if (t->file) errno = EINVAL;
        trace_text_close(t);
        return NULL;
    }
    if (!start_unpacking(t, path)) return t;
    trace_text_close(t);
    errno = ENOMEM;
    return NULL;
}

void trace_text_close(trace_text *t) {
    if (!t) return;
    if (t->file) fclose(t->file);
    if (t->packing == PACKING_XZ) lzma_end(&t->xz);
    if (t->zstd) ZSTD_freeDStream(t->zstd);
    free(t);
}

/* Each of these puts at most `room` bytes of text at `to`. Returns their number; 0: no more. */
static size_t read_xz(trace_text *t, char *to, size_t room) {
    t->xz.next_out = (uint8_t *)to;
    t->xz.avail_out = room;
    while (t->xz.avail_out == room && !t->at_end) {
        lzma_ret result;
        if (!t->xz.avail_in) {
            t->xz.next_in = t->input;
            t->xz.avail_in = fread(t->input, 1, INPUT_BYTES, t->file);
        }
        result = lzma_code(&t->xz, t->xz.avail_in ? LZMA_RUN : LZMA_FINISH);
        if (result == LZMA_STREAM_END) t->at_end = 1;
        if (result == LZMA_STREAM_END || result == LZMA_OK) continue;
        t->error = result == LZMA_BUF_ERROR        ? "the xz data is truncated"
                   : result == LZMA_MEMLIMIT_ERROR ? "the xz data needs more than 128 MB to unpack"
                                                   : "the xz data is damaged";
        break;
    }
    return room - t->xz.avail_out;
}

static size_t read_zstd(trace_text *t, char *to, size_t room) {
    ZSTD_outBuffer output;
    output.dst = to;
    output.size = room;
    output.pos = 0;
    while (!output.pos && !t->at_end) {
        if (t->zstd_input.pos == t->zstd_input.size) {
            t->zstd_input.size = fread(t->input, 1, INPUT_BYTES, t->file);
            t->zstd_input.pos = 0;
            if (!t->zstd_input.size) {
                t->at_end = 1;
                if (t->zstd_left) t->error = "the zstd data is truncated";
                break;
            }
        }
        t->zstd_left = ZSTD_decompressStream(t->zstd, &output, &t->zstd_input);
        if (!ZSTD_isError(t->zstd_left)) continue;
        t->error = "the zstd data is damaged";
        break;
    }
    return output.pos;
}

static size_t read_more(trace_text *t, char *to, size_t room) {
    if (t->error) return 0;
    switch (t->packing) {
    case PACKING_XZ: return read_xz(t, to, room);
    case PACKING_ZSTD: return read_zstd(t, to, room);
    default: return fread(to, 1, room, t->file);
    }
}

/* Moves what lies ahead to the beginning of the text and reads more behind it. Returns 0 at the end. */
static size_t read_ahead(trace_text *t) {
    size_t more;
    if (t->ahead.at != t->text) memmove(t->text, t->ahead.at, t->ahead.length);
    t->ahead.at = t->text;
    more = read_more(t, t->text + t->ahead.length, TEXT_BYTES - t->ahead.length);
    t->ahead.length += more;
    return more;
}

int trace_text_fill(trace_text *t, size_t bytes) {
    while (t->ahead.length < bytes)
        if (!read_ahead(t)) return 0;
    return 1;
}

char *trace_text_line(trace_text *t, size_t *length) {
    size_t seen = 0, bytes;
    char *line, *end;
    while (!(end = (char *)memchr(t->ahead.at + seen, '\n', t->ahead.length - seen))) {
        seen = t->ahead.length;
        if (seen >= TRACE_LINE_BYTES || !read_ahead(t)) break;
    }
    bytes = end ? (size_t)(end - t->ahead.at) : t->ahead.length;
    if (bytes >= (end ? TEXT_BYTES : TRACE_LINE_BYTES)) {
        t->ahead.number++;
        t->error = "the line is longer than 8192 characters";
        return NULL;
    }
    if (!end && (t->error || !t->ahead.length)) return NULL;
    t->is_cut = !end;
    line = t->ahead.at;
    trace_text_skip(&t->ahead, t->ahead.at + bytes + (end != NULL)); /* the last line may have no end */
    end = line + bytes;
    if (end > line && end[-1] == '\r') end--;
    *end = 0;
    *length = (size_t)(end - line);
    return line;
}

uint64_t trace_text_number(const trace_text *t) { return t->ahead.number; }
int trace_text_is_cut(const trace_text *t) { return t->is_cut; }
const char *trace_text_error(const trace_text *t) { return t->error; }
