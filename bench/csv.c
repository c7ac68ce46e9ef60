#include "csv.h"
#include <stdlib.h>
#include <string.h>

static size_t count_commas(const char *line) {
    size_t count = 0;
    for (; *line; line++) count += *line == ',';
    return count;
}

static void cut(char *line, const char **cells) {
    size_t n = 0;
    cells[n++] = line;
    for (; *line; line++)
        if (*line == ',') {
            *line = 0;
            cells[n++] = line + 1;
        }
}

static char *read_all(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t length = 0, room = 0, got;
    if (!file) return NULL;
    do {
        if (room - length < 4096) {
            char *grown = (char *)realloc(text, room = room * 2 + 8192);
            if (!grown) {
                free(text);
                fclose(file);
                return NULL;
            }
            text = grown;
        }
        got = fread(text + length, 1, room - length - 1, file);
        length += got;
    } while (got);
    fclose(file);
    text[length] = 0;
    return text;
}

int csv_read(csv_table *table, const char *path, char *error, size_t error_bytes) {
    char *line, *next;
    size_t number = 0, room = 0;
    memset(table, 0, sizeof *table);
    table->text = read_all(path);
    if (!table->text) {
        snprintf(error, error_bytes, "%s: cannot be read", path);
        return 0;
    }
    for (line = table->text; *line; line = next) {
        size_t length = strcspn(line, "\r\n");
        next = line + length;
        if (*next == '\r') *next++ = 0;
        if (*next == '\n') *next++ = 0;
        number++;
        if (length == 0 || line[0] == '#') continue;
        if (!table->names) {
            table->columns = count_commas(line) + 1;
            table->names = (const char **)malloc(table->columns * sizeof *table->names);
            if (!table->names) break;
            cut(line, table->names);
            continue;
        }
        if (count_commas(line) + 1 != table->columns) {
            snprintf(error, error_bytes, "%s:%lu: %lu fields, the header names %lu", path, (unsigned long)number,
                     (unsigned long)count_commas(line) + 1, (unsigned long)table->columns);
            csv_free(table);
            return 0;
        }
        if (table->rows == room) {
            const char **grown;
            room = room * 2 + 32;
            grown = (const char **)realloc((void *)table->cells, room * table->columns * sizeof *table->cells);
            if (!grown) break;
            table->cells = grown;
        }
        cut(line, table->cells + table->rows++ * table->columns);
    }
    if (*line || !table->names) {
        snprintf(error, error_bytes, *line ? "%s:%lu: out of memory" : "%s:%lu: no line of column names", path,
                 (unsigned long)number);
        csv_free(table);
        return 0;
    }
    return 1;
}

int csv_append(csv_table *table, csv_table *other) {
    const size_t columns = table->columns;
    const char **grown;
    if (table->more || other->columns != columns) return 0;
    for (size_t i = 0; i < columns; i++)
        if (strcmp(table->names[i], other->names[i]) != 0) return 0;
    grown = (const char **)realloc((void *)table->cells, (table->rows + other->rows) * columns * sizeof *grown);
    if (!grown) return 0;
    memcpy((void *)(grown + table->rows * columns), (const void *)other->cells, other->rows * columns * sizeof *grown);
    table->cells = grown;
    table->rows += other->rows;
    table->more = other->text;
    other->text = NULL;
    csv_free(other);
    return 1;
}

void csv_free(csv_table *table) {
    free(table->more);
    free((void *)table->cells);
    free((void *)table->names);
    free(table->text);
    memset(table, 0, sizeof *table);
}

const char *csv_text(const csv_table *table, size_t row, const char *column) {
    for (size_t i = 0; i < table->columns; i++)
        if (strcmp(table->names[i], column) == 0) return table->cells[row * table->columns + i];
    return "";
}

int csv_number(const csv_table *table, size_t row, const char *column, double *value) {
    const char *text = csv_text(table, row, column);
    char *end;
    double number = strtod(text, &end);
    if (!*text || *end) return 0;
    *value = number;
    return 1;
}

void csv_write(FILE *file, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"') fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}
