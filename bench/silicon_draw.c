/* The picture of a series: a column per measured row in the order of the data, or the row's number as abscissa where
 * its id has one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "silicon.h"

enum { WIDTH = 760, HEIGHT = 360, LEFT = 60, RIGHT = 740, TOP = 44, BOTTOM = 290 };

typedef struct axis {
    double low, high; /* ends of the range */
    int is_log;
} axis;
typedef struct picture {
    FILE *out;
    axis x, y;
    int numbers; /* 1: ids have a number, which is the abscissa */
} picture;

static double along(const axis *a, double value, double from, double to) {
    const double low = a->is_log ? log10(a->low) : a->low, high = a->is_log ? log10(a->high) : a->high;
    const double at = a->is_log ? log10(value) : value;
    return high > low ? from + (to - from) * (at - low) / (high - low) : (from + to) / 2;
}
static double place_x(const picture *p, double x) { return along(&p->x, x, LEFT + 12, RIGHT - 12); }
static double place_y(const picture *p, double y) { return along(&p->y, y > p->y.low ? y : p->y.low, BOTTOM, TOP); }

static void widen(axis *a, double value) {
    if (value < a->low) a->low = value;
    if (value > a->high) a->high = value;
}

/* Returns the number in the part of a row's id behind the series' id, else -1. Dots before a digit belong to it. */
static double number_of(const char *rest) {
    char *end;
    const double value = strtod(rest, &end);
    return end != rest && (!*end || *end == '.' || end[-1] == '.') && value > 0 && isfinite(value) ? value : -1;
}

/* The part of a row's id behind the series' id. */
static const char *rest_of(const char *id, const char *series) {
    const char *rest = id + strlen(series);
    return *rest ? rest + 1 : rest;
}

/* The earlier rows of a series that have the same number: they stand side by side. */
static unsigned earlier(const csv_table *table, const char *series, size_t row) {
    const double number = number_of(rest_of(csv_text(table, row, "id"), series));
    unsigned count = 0;
    for (size_t i = 0; i < row; i++) {
        const char *id = csv_text(table, i, "id");
        count += silicon_is_of(id, series) && fabs(number_of(rest_of(id, series)) - number) < 1e-9 * number;
    }
    return count;
}

/* Lines at round values of the ordinate: powers of ten with 2 and 5, or ten steps of an axis that begins at 0. */
static void draw_grid(const picture *p, const char *unit) {
    static const double steps[] = {1, 2, 5};
    for (int power = -4; power < 10; power++)
        for (int i = 0; i < 3; i++) {
            const double value = steps[i] * pow(10, power);
            if (value < p->y.low || value > p->y.high) continue;
            fprintf(p->out,
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/><text x=\"%d\" y=\"%.1f\" "
                    "text-anchor=\"end\">%g</text>\n",
                    LEFT, RIGHT, place_y(p, value), place_y(p, value), LEFT - 5, place_y(p, value) + 4, value);
        }
    fprintf(p->out, "<text x=\"%d\" y=\"%d\">%s</text>\n", 8, TOP - 6, unit);
}

/* Finds the ranges of a series. Returns its number of rows. */
static unsigned measure(picture *p, const csv_table *table, const char *series, const silicon_point *points,
                        size_t count) {
    unsigned rows = 0;
    double value;
    p->x.low = p->y.low = HUGE_VAL;
    p->x.high = p->y.high = 0;
    p->numbers = 1;
    for (size_t row = 0; row < table->rows; row++) {
        const char *id = csv_text(table, row, "id");
        if (!silicon_is_of(id, series)) continue;
        if (number_of(rest_of(id, series)) <= 0) p->numbers = 0;
        if (csv_number(table, row, "value", &value) && value > 0) widen(&p->y, value);
        if (csv_number(table, row, "low", &value) && value > 0) widen(&p->y, value);
        if (csv_number(table, row, "high", &value) && value > 0) widen(&p->y, value);
        rows++;
    }
    for (size_t i = 0; i < count; i++)
        if (silicon_is_of(points[i].id, series) && points[i].value > 0) widen(&p->y, points[i].value);
    for (size_t row = 0; p->numbers && row < table->rows; row++)
        if (silicon_is_of(csv_text(table, row, "id"), series))
            widen(&p->x, number_of(rest_of(csv_text(table, row, "id"), series)));
    if (!p->numbers) p->x.low = 0, p->x.high = rows;
    p->x.is_log = p->numbers && p->x.high > 40 * p->x.low;
    p->y.is_log = 1;
    p->y.low *= 0.8;
    p->y.high *= 1.25;
    return rows;
}

/* Draws a row at the abscissa `at` of the picture. */
static void draw_row(const picture *p, const csv_table *table, size_t row, double at, const silicon_point *ours) {
    const char *id = csv_text(table, row, "id");
    const int decides = !strcmp(csv_text(table, row, "use"), "verify");
    const char *colour = decides ? "#4477aa" : "#aabbcc";
    double value = 0, low, high;
    if (!csv_number(table, row, "value", &value)) return;
    if (!csv_number(table, row, "low", &low)) low = value;
    if (!csv_number(table, row, "high", &high)) high = value;
    fprintf(p->out,
            "<path d=\"M%.1f %.1fV%.1fM%.1f %.1fh6\" stroke=\"%s\" stroke-width=\"2\" fill=\"none\"><title>%s: %g (%g "
            "to %g)</title></path>\n",
            at, place_y(p, low), place_y(p, high), at - 3, place_y(p, value), colour, id, value, low, high);
    if (ours)
        fprintf(p->out,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>%s: simulated %.4g</title></circle>\n", at,
                place_y(p, ours->value), decides ? "#cc3344" : "#eeaaaa", id, ours->value);
}

/* The legend, and the abscissa: numbers, or the first part of each id. */
static void draw_words(const picture *p, const csv_table *table, const char *series, const char *title) {
    char last[56] = "";
    unsigned at = 0;
    fprintf(p->out, "<text x=\"%d\" y=\"18\" font-size=\"12\">%s: ", LEFT, series);
    for (const char *c = title; *c; c++) fputc(*c == '<' || *c == '&' ? ' ' : *c, p->out);
    fputs("</text>\n", p->out);
    for (size_t row = 0; row < table->rows; row++) {
        const char *id = csv_text(table, row, "id"), *rest = rest_of(id, series);
        char first[56];
        double x;
        if (!silicon_is_of(id, series)) continue;
        snprintf(first, sizeof first, "%s", rest);
        if (p->numbers)
            snprintf(first, sizeof first, "%g", number_of(rest));
        else if (strrchr(first, '.'))
            *strrchr(first, '.') = 0;
        x = p->numbers ? number_of(rest) : at + 0.5;
        at++;
        if (!strcmp(first, last)) continue;
        snprintf(last, sizeof last, "%s", first);
        fprintf(p->out, "<text transform=\"translate(%.1f %d) rotate(50)\" font-size=\"9\">%s</text>\n", place_x(p, x),
                BOTTOM + 12, first);
    }
    fprintf(p->out,
            "<text x=\"%d\" y=\"31\" font-size=\"10\">blue: measured, with its band (pale: may set parameters); red: "
            "simulated</text>\n",
            LEFT);
}

int silicon_draw(const char *path, const csv_table *table, const char *series, const char *title,
                 const silicon_point *points, size_t count) {
    picture p;
    unsigned at = 0;
    const char *unit = "";
    memset(&p, 0, sizeof p);
    if (!measure(&p, table, series, points, count)) return 0;
    if (!(p.out = fopen(path, "w"))) return -1;
    fprintf(p.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            WIDTH, HEIGHT);
    for (size_t row = 0; !*unit && row < table->rows; row++)
        if (silicon_is_of(csv_text(table, row, "id"), series)) unit = csv_text(table, row, "unit");
    draw_grid(&p, unit);
    for (size_t row = 0; row < table->rows; row++) {
        const char *id = csv_text(table, row, "id");
        const silicon_point *ours = NULL;
        double x;
        if (!silicon_is_of(id, series)) continue;
        for (size_t i = 0; i < count && !ours; i++)
            if (!strcmp(points[i].id, id)) ours = &points[i];
        x = p.numbers ? number_of(rest_of(id, series)) : at + 0.5;
        draw_row(&p, table, row, place_x(&p, x) + 7 * (p.numbers ? earlier(table, series, row) : 0), ours);
        at++;
    }
    draw_words(&p, table, series, title);
    fputs("</svg>\n", p.out);
    return fclose(p.out) ? -1 : 0;
}
