/* sweep_table: see sweep_table.h. */
#define _GNU_SOURCE
#include "tools/sweep_table.h"

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "tools/report_csv.h"

#define POINTS_MAX 100000u

const char *sweep_add_key(sweep_table *t, const char *text) {
    const char *equals = strchr(text, '=');
    sweep_key *key = &t->keys[t->key_count];
    uint32_t i;
    if (t->key_count == SWEEP_KEYS) return "at most 8 keys can be varied; one too many is";
    if (!equals || equals == text || !equals[1] || (size_t)(equals - text) >= sizeof key->name)
        return "--vary needs KEY=VALUE,VALUE,..., not";
    memset(key, 0, sizeof *key);
    memcpy(key->name, text, (size_t)(equals - text));
    for (i = 0; i < t->key_count; i++)
        if (!strcmp(t->keys[i].name, key->name)) return "a key is varied once; the second time is";
    for (text = equals + 1;; text++) {
        const size_t length = strcspn(text, ",");
        if (key->count == SWEEP_VALUES) return "at most 64 values of a key, in";
        if (!length || length >= sizeof key->values[0]) return "--vary needs values of 1 to 63 letters, not";
        memcpy(key->values[key->count], text, length);
        for (i = 0; i < key->count; i++)
            if (!strcmp(key->values[i], key->values[key->count])) return "a value stands twice in";
        key->count++;
        text += length;
        if (!*text) break;
    }
    t->key_count++;
    return NULL;
}

int sweep_make(sweep_table *t) {
    uint32_t i;
    t->points = 1;
    for (i = 0; i < t->key_count; i++) {
        if (t->points * t->keys[i].count > POINTS_MAX) return -1;
        t->points *= t->keys[i].count;
    }
    t->rows = (char **)calloc(t->points, sizeof *t->rows);
    return t->rows ? 0 : -1;
}

void sweep_free(sweep_table *t) {
    uint32_t i;
    for (i = 0; t->rows && i < t->points; i++) free(t->rows[i]);
    free(t->rows);
}

const char *sweep_value(const sweep_table *t, uint32_t point, uint32_t key) {
    uint32_t i;
    for (i = t->key_count - 1; i > key; i--) point /= t->keys[i].count;
    return t->keys[key].values[point % t->keys[key].count];
}

void sweep_write_heading(const sweep_table *t, FILE *file) {
    uint32_t i;
    for (i = 0; i < t->key_count; i++) fprintf(file, "%s%s", i ? "," : "", t->keys[i].name);
    for (i = 0; report_csv_column(i); i++) fprintf(file, ",%s", report_csv_column(i));
    fputc('\n', file);
}

/* Appends a line to the rows of a point. Returns 0, or -1 when memory is out. */
static int append(sweep_table *t, uint32_t point, const char *before, const char *line, size_t length) {
    char *rows = t->rows[point], *longer;
    if (asprintf(&longer, "%s%s%.*s\n", rows ? rows : "", before, (int)length, line) < 0) return -1;
    free(rows);
    t->rows[point] = longer;
    return 0;
}

int sweep_take(sweep_table *t, uint32_t point, const char *printed) {
    char before[SWEEP_KEYS * 65] = "";
    size_t used = 0;
    uint32_t i;
    for (i = 0; i < t->key_count; i++)
        used += (size_t)snprintf(before + used, sizeof before - used, "%s,", sweep_value(t, point, i));
    printed = strchr(printed, '\n'); /* behind the heading */
    while (printed && *++printed) {
        const char *end = strchr(printed, '\n');
        if (!end || append(t, point, before, printed, (size_t)(end - printed))) return -1;
        printed = end;
    }
    return t->rows[point] ? 0 : -1;
}

/* Returns the point whose values a line begins with, or t->points: no point. */
static uint32_t point_of(const sweep_table *t, const char *line) {
    uint32_t key, value, point = 0;
    for (key = 0; key < t->key_count; key++) {
        const size_t length = strcspn(line, ",");
        for (value = 0; value < t->keys[key].count; value++)
            if (strlen(t->keys[key].values[value]) == length && !strncmp(t->keys[key].values[value], line, length))
                break;
        if (value == t->keys[key].count || !line[length]) return t->points;
        point = point * t->keys[key].count + value;
        line += length + 1;
    }
    return point;
}

/* Returns the first line of the table; allocated, NULL when memory is out. */
static char *heading_of(const sweep_table *t) {
    char *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes);
    if (!memory) return NULL;
    sweep_write_heading(t, memory);
    fclose(memory);
    return text;
}

/* How many columns a line has; 0 for one with a NUL in it. */
static uint32_t columns_of(const char *line, size_t length) {
    uint32_t columns = strlen(line) == length;
    for (line += report_csv_field(line); columns && *line == ','; columns++) line += 1 + report_csv_field(line + 1);
    return columns;
}

int sweep_read(sweep_table *t, const char *path) {
    FILE *file = input_open_or_say("minigpu", path);
    char *heading = heading_of(t), *line = NULL;
    size_t bytes = 0;
    ssize_t length;
    uint32_t point, number = 1;
    int status = -1;
    if (file && heading && getline(&line, &bytes, file) > 0 && !strcmp(line, heading)) {
        status = 0;
        while (!status && (length = getline(&line, &bytes, file)) > 0) {
            number++;
            if ((point = point_of(t, line)) == t->points) continue; /* its value is no longer varied */
            if (line[length - 1] != '\n') {
                free(t->rows[point]);
                t->rows[point] = NULL;
            } else if (columns_of(line, (size_t)length) != columns_of(heading, strlen(heading))) {
                fprintf(stderr, "minigpu: line %u of %s has other columns than its heading: delete that line\n", number,
                        path);
                status = -1;
            } else
                status = append(t, point, "", line, (size_t)length - 1);
        }
    } else if (file)
        fprintf(stderr, "minigpu: %s is there and has other columns than this sweep: name another file\n", path);
    if (file) fclose(file);
    free(line);
    free(heading);
    return status;
}
