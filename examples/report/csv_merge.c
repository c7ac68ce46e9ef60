#define _GNU_SOURCE
#include "csv_merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input.h"
#include "output.h"

typedef struct merge_line {
    unsigned long number, place;
    const char *part;
    char *text;
} merge_line;
static int by_number(const void *a, const void *b) {
    const merge_line *x = (const merge_line *)a, *y = (const merge_line *)b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}
typedef struct merge_lines {
    merge_line *at;
    size_t count, capacity;
    char header[1024];
    const char *first; /* the name of the first column */
} merge_lines;

/* Reads one part. Returns the exit status. */
static int merge_read(merge_lines *lines, const char *program, const char *path, FILE *in) {
    char text[1024];
    unsigned long row = 0;
    while (fgets(text, sizeof text, in)) {
        size_t length = strlen(text);
        merge_line *line;
        char *end;
        row++;
        if (!length || text[length - 1] != '\n') {
            fprintf(stderr, "%s:%lu:1: %s\n", path, row,
                    length == sizeof text - 1 ? "the line is too long for one of a sweep"
                                              : "the line has no end; the part is not complete, run it again");
            return 2;
        }
        if (row == 1) {
            const size_t name = strlen(lines->first);
            if (strncmp(text, lines->first, name) || text[name] != ',') {
                fprintf(stderr, "%s:1:1: no part of this sweep: the header must begin with \"%s,\"\n", path,
                        lines->first);
                return 2;
            }
            if (*lines->header && strcmp(lines->header, text)) {
                fprintf(stderr, "%s:1:1: not the header of the other parts\n", path);
                return 2;
            }
            memcpy(lines->header, text, length + 1);
            continue;
        }
        if (lines->count == lines->capacity) {
            size_t capacity = lines->capacity ? lines->capacity * 2 : 1024;
            merge_line *grown = (merge_line *)realloc(lines->at, capacity * sizeof *grown);
            if (!grown) return fprintf(stderr, "%s: out of memory\n", program), 1;
            lines->at = grown;
            lines->capacity = capacity;
        }
        line = &lines->at[lines->count];
        line->number = strtoul(text, &end, 10);
        if (end == text || *end != ',') {
            fprintf(stderr, "%s:%lu:1: the line does not begin with a number\n", path, row);
            return 2;
        }
        line->place = row;
        line->part = path;
        line->text = strdup(text);
        if (!line->text) return fprintf(stderr, "%s: out of memory\n", program), 1;
        lines->count++;
    }
    if (!ferror(in) && row) return 0;
    if (!ferror(in)) return fprintf(stderr, "%s:1:1: the part is empty; run it again\n", path), 2;
    fprintf(stderr, "%s: cannot read %s: %s\n", program, path, strerror(errno));
    return 2;
}

/* Sorts the lines. Each number must come from one part, and none may be missing. Returns the exit status. */
static int merge_sort(const char *program, merge_lines *lines) {
    if (lines->count) qsort(lines->at, lines->count, sizeof *lines->at, by_number);
    if (lines->count && lines->at[0].number)
        return fprintf(stderr, "%s: no part has number 0: a part is missing\n", program), 2;
    for (size_t i = 1; i < lines->count; i++) {
        const merge_line *before = &lines->at[i - 1], *line = &lines->at[i];
        if (line->number == before->number && line->part != before->part) /* words of the command line */
            return fprintf(stderr, "%s: %s and %s both have number %lu: a part is given twice\n", program, before->part,
                           line->part, line->number),
                   2;
        if (line->number > before->number + 1)
            return fprintf(stderr, "%s: no part has number %lu: a part is missing\n", program, before->number + 1), 2;
    }
    return 0;
}

int csv_merge(const char *program, const char *first, const char *target, char **parts, int count) {
    merge_lines lines;
    struct stat there;
    int status = 0;
    /* A target that exists may be a part, when the first name was forgotten. */
    if (!stat(target, &there) && S_ISREG(there.st_mode)) {
        fprintf(stderr, "%s: merge writes its first file, and %s exists: remove it, or name another one first\n",
                program, target);
        return 2;
    }
    memset(&lines, 0, sizeof lines);
    lines.first = first;
    for (int i = 0; i < count && !status; i++) {
        FILE *in = input_open_or_say(program, parts[i]);
        if (!in) {
            status = 2;
            break;
        }
        status = merge_read(&lines, program, parts[i], in);
        fclose(in);
    }
    if (!status) status = merge_sort(program, &lines);
    if (!status) {
        FILE *out = fopen(target, "w");
        if (out) {
            fputs(lines.header, out);
            for (size_t i = 0; i < lines.count; i++) fputs(lines.at[i].text, out);
            if (output_close(out, program, target)) status = 2;
        } else
            status = 2, output_cannot_open(program, target);
    }
    for (size_t i = 0; i < lines.count; i++) free(lines.at[i].text);
    free(lines.at);
    return status;
}
