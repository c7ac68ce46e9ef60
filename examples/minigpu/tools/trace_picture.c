/* trace_picture: see trace_picture.h. Kernels stand in rows of three. */
#include "tools/trace_picture.h"

#include "output.h"
#include "sass/trace_reader.h"
#include "tools/svg.h"

enum { PER_ROW = 3, PANEL = 290, PANEL_HEIGHT = 190, TOP = 40, LEFT = 34, WIDTH = 240, HEIGHT = 120, TITLE = 34 };
static const char live_colour[] = "#4477aa", peak_colour[] = "#ee6677", allocated_colour[] = "#dddddd";

static void draw_legend(FILE *out) {
    static const char *const names[] = {"allocated", "live, mean of all warps", "live, most of any warp"};
    static const char *const colours[] = {allocated_colour, live_colour, peak_colour};
    int i;
    for (i = 0; i < 3; i++)
        fprintf(out,
                "<rect x=\"%d\" y=\"12\" width=\"10\" height=\"10\" fill=\"%s\"/><text x=\"%d\" y=\"21\">%s</text>\n",
                LEFT + i * 180, colours[i], LEFT + 16 + i * 180, names[i]);
    fprintf(out, "<text x=\"%d\" y=\"21\">registers of a thread, first to last instruction</text>\n", LEFT + 3 * 180);
}

int trace_picture_begin(trace_picture *p, const char *path, uint32_t kernels) {
    const uint32_t rows = (kernels + PER_ROW - 1) / PER_ROW;
    p->panels = 0;
    p->path = path;
    p->out = path ? fopen(path, "w") : NULL;
    if (!path) return 0;
    if (!p->out) return output_cannot_open("minigpu", path);
    svg_begin(p->out, PER_ROW * PANEL, TOP + (int)rows * PANEL_HEIGHT);
    draw_legend(p->out);
    return 0;
}

static double height_of(double registers, uint32_t allocated) { return TITLE + HEIGHT * (1 - registers / allocated); }

/* Draws a curve as steps, column by column. */
static void draw_steps(FILE *out, const trace_report *r, uint32_t allocated, int is_peak) {
    uint32_t i;
    for (i = 0; i < TRACE_TIMES; i++) {
        const double registers = is_peak            ? r->time_peak[i]
                                 : r->time_steps[i] ? (double)r->time_sum[i] / (double)r->time_steps[i]
                                                    : 0;
        const double y = height_of(registers, allocated), x = LEFT + (double)WIDTH * i / TRACE_TIMES;
        fprintf(out, "%.1f,%.1f %.1f,%.1f ", x, y, x + (double)WIDTH / TRACE_TIMES, y);
    }
}

static void draw_curves(FILE *out, const trace_report *r, uint32_t allocated) {
    fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", LEFT, TITLE, WIDTH, HEIGHT,
            allocated_colour);
    fprintf(out, "<polygon fill=\"%s\" points=\"%d,%d ", live_colour, LEFT, TITLE + HEIGHT);
    draw_steps(out, r, allocated, 0);
    fprintf(out, "%d,%d\"/>\n<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"", LEFT + WIDTH,
            TITLE + HEIGHT, peak_colour);
    draw_steps(out, r, allocated, 1);
    fputs("\"/>\n", out);
}

void trace_picture_add(trace_picture *p, const launch_kernel *k, const trace_report *r) {
    const uint32_t allocated = k->trace->program.registers, threads = k->block[0] * k->block[1] * k->block[2];
    const double mean = trace_report_mean(r);
    FILE *out = p->out;
    char name[45];
    if (!out) return;
    fprintf(out, "<g transform=\"translate(%u,%u)\">\n<text x=\"%d\" y=\"14\" font-size=\"12\">",
            p->panels % PER_ROW * PANEL, TOP + p->panels / PER_ROW * PANEL_HEIGHT, LEFT);
    p->panels++;
    snprintf(name, sizeof name, "%s", k->name);
    svg_text(out, name);
    fprintf(out, "</text>\n<text x=\"%d\" y=\"28\">%u bytes a block, %.0f live; peak %u</text>\n", LEFT,
            allocated * threads * 4, mean * threads * 4, r->live_peak);
    draw_curves(out, r, allocated);
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%u</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>"
            "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.1f</text>\n</g>\n",
            LEFT - 4, TITLE + 8, allocated, LEFT - 4, TITLE + HEIGHT, LEFT - 4,
            height_of(mean, allocated) < TITLE + 20 ? TITLE + 20.0 : height_of(mean, allocated), mean);
}

int trace_picture_end(trace_picture *p) {
    if (!p->out) return 0;
    svg_end(p->out);
    return output_close(p->out, "minigpu", p->path);
}
