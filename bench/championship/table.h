/* table: what the outcomes of the scenes add up to, as a table, a CSV and a picture. A part of championship.c. */
#ifndef CHAMPIONSHIP_TABLE_H
#define CHAMPIONSHIP_TABLE_H

#include <math.h>

static char kernel_names[CLUSTERS][NAME];
static uint32_t kernel_count;
static FILE *csv;

static uint32_t kernel_number(const char *name) {
    uint32_t k;
    for (k = 0; k < kernel_count; k++)
        if (!strcmp(kernel_names[k], name)) return k;
    if (k == CLUSTERS) return k - 1;
    memcpy(kernel_names[kernel_count++], name, NAME);
    return k;
}

static void count_outcome(const moment *m, uint32_t scene, const outcome *o, tally *t) {
    const uint64_t limit = limit_of(m, scene);
    const double us = 1000.0 / (double)m->gpu.clock_khz;
    const uint32_t k = kernel_number(m->kernel);
    if (o->is_refused && !t->refused++) t->diag = o->diag;
    t->late += o->late, t->waste += o->waste, t->lost += o->lost, t->bytes += o->bytes, t->idle += o->idle;
    t->start_us += (double)o->start * us, t->violations += o->start > limit, t->scenes++;
    t->beyond_us += o->start > limit ? (double)(o->start - limit) * us : 0;
    t->kernel_price[k] += o->late + weight * o->waste, t->kernel_scenes[k]++;
}

/* Adds up the outcomes of all entries in a corpus, and writes them to the CSV. A scene without an outcome is the one in
 * which a foreign policy failed. */
static void count_corpus(corpus c, uint32_t split) {
    static moment m;
    uint32_t n = 0;
    for (m.left = 0; corpus_next(&c, &m);)
        for (uint32_t s = 0; s < SCENES; s++, n++)
            for (entry *e = entries; e < entries + entry_count; e++) {
                const outcome *o = &e->outcomes[n];
                if (!o->is_done) {
                    if (!e->where[0])
                        snprintf(e->where, sizeof e->where, "in scene %u (%s, %u us, %u positions)", n + 1, m.name,
                                 limits_us[s % LIMITS], want_of(&m, s));
                    continue;
                }
                count_outcome(&m, s, o, &e->splits[split]);
                if (!csv) continue;
                fprintf(csv, "%s,%llu,%u,%u,%s,%llu,%llu,%.4f,%.4f,%.0f,%.0f,%.0f\n", m.name,
                        (unsigned long long)m.cycle, limits_us[s % LIMITS], want_of(&m, s), e->name,
                        (unsigned long long)limit_of(&m, s), (unsigned long long)o->start, o->late, o->waste, o->lost,
                        o->idle, o->bytes);
            }
}

static double merit(const tally *t) { return t->scenes ? 100 * (t->late + weight * t->waste) / (double)t->scenes : 0; }

/* The mean difference of two policies' prices per scene, and half its 95% interval over kernels. */
static double paired(const tally *a, const tally *b, double *half) {
    double mean = 0, squares = 0, n = 0;
    for (uint32_t k = 0; k < kernel_count; k++) {
        if (!a->kernel_scenes[k]) continue;
        const double d = 100 * (a->kernel_price[k] - b->kernel_price[k]) / (double)a->kernel_scenes[k];
        n++, mean += d, squares += d * d;
    }
    mean /= n > 0 ? n : 1;
    *half = n > 1 ? 1.96 * sqrt((squares - n * mean * mean > 0 ? squares - n * mean * mean : 0) / (n - 1) / n) : 0;
    return mean;
}

static uint32_t rank_of(uint32_t split, uint32_t e, double w) {
    const tally *mine = &entries[e].splits[split];
    uint32_t rank = 1;
    for (uint32_t o = 0; o < entry_count; o++) {
        const tally *other = &entries[o].splits[split];
        if (entries[o].failed[0]) continue;
        rank += other->late + w * other->waste < mine->late + w * mine->waste - 1e-9;
    }
    return rank;
}

/* Puts the entries that have a place in order, the best first. Returns how many they are. */
static uint32_t sort_entries(uint32_t split, uint32_t *order) {
    uint32_t count = 0;
    for (uint32_t e = 0; e < entry_count; e++) {
        uint32_t k = count;
        if (entries[e].failed[0]) continue;
        for (; k > 0 && merit(&entries[order[k - 1]].splits[split]) > merit(&entries[e].splits[split]); k--)
            order[k] = order[k - 1];
        order[k] = e, count++;
    }
    return count;
}

/* Prints what the entries without a place did, and why entries were refused. */
static void print_remarks(uint32_t split) {
    for (const entry *e = entries; e < entries + entry_count; e++) {
        char why[256];
        const tally *t = &e->splits[split];
        if (e->failed[0] || !t->refused) continue;
        gpump_diag_text(&t->diag, why, sizeof why);
        printf("\n%s was refused in %llu of the scenes, and frees nothing there. The first time: %s\n", e->name,
               (unsigned long long)t->refused, why);
    }
}

static void print_split(uint32_t split, const char *name) {
    uint32_t order[POLICIES], dual = POLICIES, scenes = 0;
    const uint32_t count = sort_entries(split, order);
    for (uint32_t e = entry_count; e-- > 0;) {
        if (!strcmp(entries[e].name, "dual") && !entries[e].failed[0]) dual = e;
        if (!entries[e].failed[0]) scenes = (uint32_t)entries[e].splits[split].scenes;
    }
    printf("\n%s: %u scenes\n\n", name, scenes);
    puts("| policy | score | beside dual, per kernel | violations % | late by, us | wasted % of risk | of it idle % | "
         "KB saved | last start, us | instructions a decision | place at weight 1/4, 1, 4 |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|");
    for (uint32_t i = 0; i < count; i++) {
        const entry *e = &entries[order[i]];
        const tally *t = &e->splits[split];
        const double n = t->scenes ? (double)t->scenes : 1;
        char beside[64] = "-";
        double half, mean;
        if (dual < POLICIES) {
            mean = paired(t, &entries[dual].splits[split], &half);
            snprintf(beside, sizeof beside, "%+.2f +- %.2f", mean, half);
        }
        printf("| %s | %.2f | %s | %.1f | %.2f | %.1f | %.0f | %.0f | %.2f | %s | %u, %u, %u |\n", e->name, merit(t),
               beside, 100 * (double)t->violations / n, t->beyond_us / (t->violations ? (double)t->violations : 1),
               100 * t->waste / n, t->lost > 0 ? 100 * t->idle / t->lost : 0, t->bytes / n / 1024, t->start_us / n,
               e->instructions[0] ? e->instructions : "-", rank_of(split, order[i], 0.25), rank_of(split, order[i], 1),
               rank_of(split, order[i], 4));
    }
    for (const entry *e = entries; e < entries + entry_count; e++)
        if (e->failed[0]) printf("| %s | %s %s | - | - | - | - | - | - | - | - | - |\n", e->name, e->failed, e->where);
    print_remarks(split);
}

/* ---- the picture ---- */

/* The largest values of the two axes, % of scenes and % of the risk. */
typedef struct scales {
    double x, y;
} scales;

static double violations_of(const tally *t) { return 100 * (double)t->violations / (double)t->scenes; }
static double waste_of(const tally *t) { return 100 * t->waste / (double)t->scenes; }
static double picture_x(const tally *t, scales most) { return 60 + 620 * violations_of(t) / most.x; }
static double picture_y(const tally *t, scales most) { return 370 - 320 * waste_of(t) / most.y; }

/* Does an entry know the truth? It is a bound for the others. */
static int is_bound(const entry *e) { return !e->policy || e->policy->flags & GPUMP_VICTIM_TRUE_COSTS; }

static void draw_axes(FILE *f, scales most) {
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"420\" font-family=\"sans-serif\" "
          "font-size=\"11\">\n<rect width=\"760\" height=\"420\" fill=\"white\"/>\n"
          "<path d=\"M60 20V370H740\" fill=\"none\" stroke=\"black\"/>\n",
          f);
    for (uint32_t i = 0; i <= 4; i++)
        fprintf(f,
                "<text x=\"%u\" y=\"385\" text-anchor=\"middle\">%.0f</text><text x=\"54\" y=\"%u\" "
                "text-anchor=\"end\">%.0f</text>\n",
                60 + 155 * i, most.x * i / 4, 374 - 80 * i, most.y * i / 4);
    fputs("<text x=\"400\" y=\"405\" text-anchor=\"middle\">violations, % of scenes</text>\n"
          "<text x=\"66\" y=\"16\">waste, % of the risk</text>\n",
          f);
}

/* Draws the Pareto front: joins the policies that no other policy beats on both. `order`: by violations. */
static void draw_front(FILE *f, uint32_t split, scales most, const uint32_t *order, uint32_t count) {
    double below = 1e300;
    fputs("<path fill=\"none\" stroke=\"#888\" d=\"", f);
    for (uint32_t i = 0; i < count; i++) {
        const tally *t = &entries[order[i]].splits[split];
        if (is_bound(&entries[order[i]]) || waste_of(t) >= below) continue;
        fprintf(f, "%c%.1f %.1f", below > 1e299 ? 'M' : 'L', picture_x(t, most), picture_y(t, most));
        below = waste_of(t);
    }
    fputs("\"/>\n", f);
}

/* Draws an entry: a dot, or a ring where it knows the truth. Its name goes up until it covers no earlier one. */
static void draw_entry(FILE *f, const entry *e, double x, double y, double names[][2], uint32_t earlier) {
    double *name = names[earlier];
    name[0] = x + 6, name[1] = y - 4;
    for (uint32_t i = 0; i < earlier; i++)
        if (fabs(names[i][0] - name[0]) < 80 && fabs(names[i][1] - name[1]) < 10)
            name[1] = names[i][1] - 10.5, i = UINT32_MAX; /* from the first one again */
    fprintf(f,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\" stroke=\"#1f77b4\"/>"
            "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
            x, y, is_bound(e) ? "white" : "#1f77b4", name[0], name[1], e->name);
}

/* Draws waste against violations. Returns 0, or -1: the file cannot be written. */
static int draw(const char *path, uint32_t split) {
    FILE *f = fopen(path, "w");
    scales most = {1, 1};
    double names[POLICIES][2];
    uint32_t count = 0, order[POLICIES];
    if (!f) return -1;
    for (uint32_t e = 0, i; e < entry_count; e++) {
        const tally *t = &entries[e].splits[split];
        if (entries[e].failed[0]) continue;
        most.x = fmax(most.x, violations_of(t)), most.y = fmax(most.y, waste_of(t));
        for (i = count++; i > 0 && entries[order[i - 1]].splits[split].violations > t->violations; i--)
            order[i] = order[i - 1];
        order[i] = e;
    }
    draw_axes(f, most);
    draw_front(f, split, most, order, count);
    for (uint32_t i = 0; i < count; i++) {
        const tally *t = &entries[order[i]].splits[split];
        draw_entry(f, &entries[order[i]], picture_x(t, most), picture_y(t, most), names, i);
    }
    fputs("</svg>\n", f);
    return fclose(f) ? -1 : 0;
}

#endif
