#include "parts.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gpump_once.h"
#include "input.h"

int parts_here(const reproduce_parts *parts, size_t number) {
    return !parts->shards || number % parts->shards == parts->shard;
}

static const part_piece *find_piece(const reproduce_parts *parts, const char *name) {
    for (size_t i = parts->piece_count; i-- > 0;)
        if (!strcmp(parts->pieces[i].name, name)) return &parts->pieces[i];
    return NULL;
}

reproduce_where reproduce_piece(const reproduce_context *context, const char *name, double *values, size_t count) {
    const part_piece *piece = find_piece(context->parts, name);
    if (piece && piece->count == count) {
        memcpy(values, piece->values, count * sizeof *values);
        return REPRODUCE_KNOWN;
    }
    if (piece)
        fprintf(stderr, "reproduce: piece %s has %lu values, not %lu: it was measured by another version\n", name,
                (unsigned long)piece->count, (unsigned long)count);
    return !context->parts->merges && parts_here(context->parts, context->parts->asked++) ? REPRODUCE_MEASURE
                                                                                          : REPRODUCE_ELSEWHERE;
}

void reproduce_piece_measured(const reproduce_context *context, const char *name, const double *values, size_t count) {
    if (!context->parts->shards) return;
    printf("piece %s", name);
    for (size_t i = 0; i < count; i++) printf(" %.17g", values[i]);
    printf("\n");
    fflush(stdout);
}

void reproduce_progress(const reproduce_context *context, double share, const char *what) {
    reproduce_parts *parts = context->parts;
    progress_show(&parts->shown, (parts->minutes_before + share * parts->minutes_here) / parts->minutes, what);
}

/* Divides a line "| a | b | ... |" into cells, with \| for a bar. Returns 0 when it does not have PARTS_CELLS cells. */
static int split(char *line, part_row *row) {
    char *from = line + 1, *to = line;
    int cell = 0;
    while (*from && cell < PARTS_CELLS) {
        while (*from == ' ') from++;
        row->cells[cell++] = to;
        for (; *from && *from != '|'; from++) {
            if (from[0] == '\\' && from[1] == '|') from++;
            *to++ = *from;
        }
        if (*from != '|') return 0;
        from++;
        while (to > row->cells[cell - 1] && to[-1] == ' ') to--;
        *to++ = 0;
    }
    return cell == PARTS_CELLS && (!*from || *from == '\n');
}

static int add_row(reproduce_parts *parts, const char *line) {
    part_row *grown = (part_row *)realloc(parts->rows, (parts->row_count + 1) * sizeof *grown), *row;
    if (!grown) return -1;
    parts->rows = grown;
    row = &grown[parts->row_count];
    if (!(row->text = strdup(line))) return -1;
    if (!split(row->text, row)) {
        free(row->text);
        return -1;
    }
    row->model = parts->model;
    parts->row_count++;
    return 0;
}

static int add_piece(reproduce_parts *parts, char *line) {
    part_piece *grown = (part_piece *)realloc(parts->pieces, (parts->piece_count + 1) * sizeof *grown), *piece;
    char *at = strchr(line, ' ');
    size_t room = strlen(line) / 2 + 1;
    if (!grown) return -1;
    parts->pieces = grown;
    piece = &grown[parts->piece_count];
    if (!at) return -1;
    *at++ = 0;
    piece->count = 0;
    piece->name = strdup(line);
    piece->values = (double *)malloc(room * sizeof *piece->values);
    parts->piece_count++;
    if (!piece->name || !piece->values) return -1;
    for (;;) {
        char *end;
        double value = strtod(at, &end);
        if (end == at) break;
        piece->values[piece->count++] = value;
        at = end;
    }
    return *at == '\n' ? 0 : -1; /* a line without an end was cut off */
}

/* Reads the timing model from the heading of a page. Refuses to mix short pages with others. */
static int read_heading(reproduce_parts *parts, const char *path, const char *line, int is_short) {
    const char *model = strstr(line, "(timing model ");
    if (model) parts->model = atoi(model + 14);
    if (strstr(line, "reproduce --markdown") && !strstr(line, " --short") != !is_short) {
        fprintf(stderr, "reproduce: %s is a page %s --short: merge pages of one kind\n", path,
                is_short ? "without" : "with");
        return -1;
    }
    return 0;
}

int parts_read(reproduce_parts *parts, const char *path, int is_short) {
    FILE *file = input_open_or_say("reproduce", path);
    char *line = NULL;
    size_t room = 0;
    unsigned long number = 0;
    int status = 0, in_front = 0; /* the first page has other tables */
    parts->model = 0;
    if (!file) return -1;
    while (!status && getline(&line, &room, file) > 0) {
        number++;
        status = read_heading(parts, path, line, is_short);
        if (status) break;
        if (!strncmp(line, "piece ", 6) && parts->model != GPUMP_MODEL_VERSION) {
            fprintf(stderr, "reproduce: %s has pieces of timing model %d, this is %d: measure them again\n", path,
                    parts->model, GPUMP_MODEL_VERSION);
            status = -1;
            break;
        }
        if (!strncmp(line, "piece ", 6))
            status = add_piece(parts, line + 6);
        else if (!strncmp(line, "| where |", 9) || !strncmp(line, "| source |", 10))
            in_front = 1;
        else if (line[0] != '|')
            in_front = 0;
        else if (!in_front && strncmp(line, "| id |", 6) != 0 && strncmp(line, "|---", 4) != 0)
            status = add_row(parts, line);
        if (status) fprintf(stderr, "reproduce: %s:%lu: no whole row or piece\n", path, number);
    }
    if (!status && ferror(file)) {
        fprintf(stderr, "reproduce: cannot read %s: %s\n", path, strerror(errno));
        status = -1;
    } else if (!status && !parts->model) {
        fprintf(stderr, "reproduce: %s is no page of reproduce --markdown\n", path);
        status = -1;
    }
    free(line);
    fclose(file);
    return status;
}

const part_row *parts_row(const reproduce_parts *parts, const char *id) {
    for (size_t i = parts->row_count; i-- > 0;)
        if (!strcmp(parts->rows[i].cells[PARTS_ID], id)) return &parts->rows[i];
    return NULL;
}

void parts_free(reproduce_parts *parts) {
    for (size_t i = 0; i < parts->row_count; i++) free(parts->rows[i].text);
    for (size_t i = 0; i < parts->piece_count; i++) {
        free(parts->pieces[i].name);
        free(parts->pieces[i].values);
    }
    free(parts->rows);
    free(parts->pieces);
}
