/* sweep_picture: draws a sweep's table (sweep_table.h) as SVG. */
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "tools/report_csv.h"
#include "tools/svg.h"
#include "tools/sweep_table.h"

enum { LINES_MAX = 64, LEFT = 80, RIGHT = 560, TOP = 40, BOTTOM = 330, WIDTH = 860 };

/* One line of the picture: a kernel at one combination of the keys other than the first. */
typedef struct picture_line {
    char label[128];
    double values[SWEEP_VALUES];
    int is_there[SWEEP_VALUES];
} picture_line;

typedef struct picture {
    const sweep_table *table;
    picture_line lines[LINES_MAX];
    uint32_t count;
    double most;
} picture;

/* Copies the index-th field of a row. */
static void field(const char *row, uint32_t index, char *copy, size_t bytes) {
    size_t length;
    for (; index; index--) row += report_csv_field(row) + 1;
    length = report_csv_field(row);
    if (length > 1 && *row == '"') row++, length -= 2;
    snprintf(copy, bytes, "%.*s", (int)length, row);
}

static picture_line *find_line(picture *p, const char *label) {
    uint32_t i;
    for (i = 0; i < p->count; i++)
        if (!strcmp(p->lines[i].label, label)) return &p->lines[i];
    if (p->count == LINES_MAX) return NULL;
    snprintf(p->lines[p->count].label, sizeof p->lines[0].label, "%s", label);
    return &p->lines[p->count++];
}

/* Adds the column's value of every row of a point. */
static void add_point(picture *p, uint32_t point, uint32_t column) {
    const sweep_table *t = p->table;
    const uint32_t x = point / (t->points / t->keys[0].count);
    const char *row = t->rows[point];
    for (; row && *row; row = strchr(row, '\n') + 1) {
        char label[128], value[64];
        picture_line *line;
        uint32_t key;
        size_t used;
        field(row, t->key_count + 1, label, sizeof label); /* the kernel */
        for (key = 1; key < t->key_count; key++) {
            used = strlen(label);
            snprintf(label + used, sizeof label - used, " %s=%s", t->keys[key].name, sweep_value(t, point, key));
        }
        field(row, t->key_count + column, value, sizeof value);
        if (!*value || !(line = find_line(p, label))) continue;
        line->values[x] = strtod(value, NULL);
        line->is_there[x] = 1;
        if (line->values[x] > p->most) p->most = line->values[x];
    }
}

static double x_of(const picture *p, uint32_t x) {
    const uint32_t count = p->table->keys[0].count;
    return count > 1 ? LEFT + 20 + (double)(RIGHT - LEFT - 40) * x / (count - 1) : (LEFT + RIGHT) / 2.0;
}
static double y_of(const picture *p, double value) { return BOTTOM - (BOTTOM - TOP) * value / (p->most * 1.05); }

static void draw_axes(const picture *p, const char *column, FILE *out) {
    const sweep_key *key = &p->table->keys[0];
    uint32_t i;
    fprintf(out, "<text x=\"%d\" y=\"24\" font-size=\"13\">%s</text>\n", LEFT, column);
    for (i = 0; i <= 4; i++) {
        const double value = p->most * i / 4;
        fprintf(out,
                "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#cccccc\"/><text x=\"%d\" y=\"%.1f\" "
                "text-anchor=\"end\">%.6g</text>\n",
                LEFT, RIGHT, y_of(p, value), y_of(p, value), LEFT - 6, y_of(p, value) + 4, value);
    }
    for (i = 0; i < key->count; i++)
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x_of(p, i), BOTTOM + 18,
                key->values[i]);
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", (LEFT + RIGHT) / 2, BOTTOM + 38,
            key->name);
}

static void draw_line(const picture *p, uint32_t index, FILE *out) {
    static const char *const colours[] = {"#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#777777"};
    const char *colour = colours[index % (sizeof colours / sizeof *colours)];
    const picture_line *line = &p->lines[index];
    uint32_t i;
    fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colour);
    for (i = 0; i < p->table->keys[0].count; i++)
        if (line->is_there[i]) fprintf(out, "%.1f,%.1f ", x_of(p, i), y_of(p, line->values[i]));
    fputs("\"/>\n", out);
    for (i = 0; i < p->table->keys[0].count; i++)
        if (line->is_there[i]) {
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>", x_of(p, i),
                    y_of(p, line->values[i]), colour);
            svg_text(out, line->label);
            fprintf(out, ": %.15g</title></circle>\n", line->values[i]);
        }
    fprintf(out, "<rect x=\"%d\" y=\"%u\" width=\"10\" height=\"10\" fill=\"%s\"/><text x=\"%d\" y=\"%u\">", RIGHT + 20,
            TOP + 16 * index, colour, RIGHT + 36, TOP + 9 + 16 * index);
    svg_text(out, line->label);
    fputs("</text>\n", out);
}

uint32_t sweep_column(const char *name) {
    static const char *const texts[] = {"preset", "kernel", "process", "result"};
    uint32_t i;
    for (i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(texts[i], name))
            return fprintf(stderr, "minigpu: --column needs a column of numbers, not \"%s\"\n", name), UINT32_MAX;
    for (i = 0; report_csv_column(i); i++)
        if (!strcmp(report_csv_column(i), name)) return i;
    fprintf(stderr, "minigpu: --column needs a column of run --csv, not \"%s\"\n", name);
    return UINT32_MAX;
}

int sweep_draw(const sweep_table *t, const char *column, const char *path) {
    static picture p;
    const uint32_t index = sweep_column(column);
    FILE *out;
    uint32_t i;
    if (index == UINT32_MAX) return -1;
    memset(&p, 0, sizeof p);
    p.table = t;
    for (i = 0; i < t->points; i++) add_point(&p, i, index);
    if (!(p.most > 0)) p.most = 1;
    if (!(out = fopen(path, "w"))) return output_cannot_open("minigpu", path);
    svg_begin(out, WIDTH, TOP + 16 * p.count > BOTTOM + 50 ? (int)(TOP + 16 * p.count) : BOTTOM + 50);
    draw_axes(&p, column, out);
    for (i = 0; i < p.count; i++) draw_line(&p, i, out);
    svg_end(out);
    return output_close(out, "minigpu", path);
}
