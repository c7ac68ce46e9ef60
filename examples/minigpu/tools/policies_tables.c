/* policies_tables: see policies_tables.h. */
#include "tools/policies_tables.h"

#include <math.h>
#include <stdio.h>

#include "gpump_once.h"

static void add(cell *sum, const victim_outcome *o, const victim_outcome *first, const victim_outcome *oracle,
                uint64_t limit) {
    double beside[3];
    uint32_t t;
    beside[0] = (double)o->violated - (double)first->violated;
    beside[1] = (double)(o->start_cycles > limit) - (double)(first->start_cycles > limit);
    beside[2] = (double)(o->wasted + o->idle) - (double)(first->wasted + first->idle);
    for (t = 0; t < 3; t++) {
        sum->beside[t][0] += beside[t];
        sum->beside[t][1] += beside[t] * beside[t];
    }
    sum->requests++;
    sum->violated += o->violated;
    sum->warm += o->warm;
    sum->warm_violated += o->warm && o->violated;
    sum->wasted += (double)o->wasted;
    sum->idle += (double)o->idle;
    sum->flush += (double)o->flush_waste;
    sum->start += (double)o->start_cycles;
    sum->bytes += (double)o->bytes_saved;
    sum->late_truth += o->start_cycles > limit;
    if (o->in_use >= 0) {
        sum->in_use += o->in_use;
        sum->waits++;
    }
    for (t = 0; t < GPUMP_TECHNIQUES; t++) {
        sum->by[t] += o->by[t];
        sum->error[t] += (double)o->error_cycles[t];
        sum->truth[t] += (double)o->true_cycles[t];
        sum->error_blocks[t] += (double)o->error_blocks[t];
    }
    if (oracle) {
        sum->regret_violations += (double)o->violated - (double)oracle->violated;
        sum->regret_waste += (double)o->wasted - (double)oracle->wasted;
    }
}

void policies_tables_add(policies_tables *t, const victim_experiment *e, const victim_outcome *row,
                         const victim_drain_error *error) {
    uint32_t c;
    for (c = 0; c < e->case_count; c++) {
        const uint32_t limit = c % t->limit_count;
        const victim_outcome *oracle = t->oracle == GPUMP_NONE ? NULL : &row[t->oracle * t->limit_count + limit];
        add(&t->per_kernel[e->kernel][c], &row[c], &row[limit], oracle, e->cases[c].limit_cycles);
        add(&t->total[c], &row[c], &row[limit], oracle, e->cases[c].limit_cycles);
    }
    t->drain[0] += error->relative[0];
    t->drain[1] += error->relative[1];
    t->drain_blocks += error->blocks;
}

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

static void print_row(const policies_tables *t, const cell *c) {
    double blocks = 0;
    uint32_t i;
    for (i = 0; i < GPUMP_TECHNIQUES; i++) blocks += c->by[i];
    printf(" %.1f | %.1f | %.1f | %.1f | %.1f | %.0f | %.2f | %.0f / %.0f / %.0f", percent(c->violated, c->requests),
           percent(c->warm_violated, c->warm), percent(c->late_truth, c->requests), percent(c->wasted, c->flush),
           percent(c->idle, c->flush), c->waits ? 100 * c->in_use / c->waits : 0,
           c->requests ? c->start / c->requests / t->clock_mhz : 0, percent(c->by[0], blocks),
           percent(c->by[1], blocks), percent(c->by[2], blocks));
    for (i = GPUMP_TECHNIQUE_REWIND; gpump_technique_at(i); i++)
        if (c->by[i] > 0) printf(" / %s %.0f", gpump_technique_at(i)->name, percent(c->by[i], blocks));
    printf(" |\n");
}

/* Prints a mean difference over n requests as a percentage of `whole` per request, and half the width of its 95%
 * interval. */
static void print_difference(const double sums[2], double n, double whole) {
    double mean = sums[0] / n, variance = n > 1 ? (sums[1] - n * mean * mean) / (n - 1) : 0;
    printf(" %+.1f +- %.1f |", percent(mean, whole), percent(1.96 * sqrt(variance > 0 ? variance / n : 0), whole));
}

#define COLUMNS                                                                                                       \
    " violations % | after warm-up | last start late % | wasted, % of flushing | idle until the SM is empty, % | in " \
    "use % | last start, us | flush / switch / drain % |\n"
#define RULE "---|---|---|---|---|---|---|---|\n"

static void print_all(const policies_tables *t, const victim_experiment *e) {
    uint32_t c;
    fputs("| policy | limit, us |" COLUMNS "|---|---|" RULE, stdout);
    for (c = 0; c < e->case_count; c++) {
        printf("| %s | %u |", e->cases[c].label, t->limits[c % t->limit_count]);
        print_row(t, &t->total[c]);
    }
    if (t->drain_blocks > 0)
        printf("\nDrain estimates over %.0f resident blocks, mean error of the truth: own CPI %.1f%%, source of "
               "smaller deviation %.1f%%.\n",
               t->drain_blocks, 100 * t->drain[0] / t->drain_blocks, 100 * t->drain[1] / t->drain_blocks);
}

static double mean(double sum, double count) { return count > 0 ? sum / count : 0; }

static void print_estimates(const policies_tables *t, const victim_experiment *e) {
    uint32_t i;
    printf("\nEstimate and truth of what was chosen, and regret beyond the oracle at the same requests:\n\n"
           "| policy | limit, us | drain: off by, cycles | of | switch: off by | of | KB saved per request | "
           "violations beyond the oracle's, points | waste beyond, %% of flushing |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (i = 0; i < e->case_count; i++) {
        const cell *c = &t->total[i];
        printf("| %s | %u |", e->cases[i].label, t->limits[i % t->limit_count]);
        printf(" %.0f | %.0f | %.0f | %.0f | %.0f |", mean(c->error[2], c->error_blocks[2]),
               mean(c->truth[2], c->error_blocks[2]), mean(c->error[1], c->error_blocks[1]),
               mean(c->truth[1], c->error_blocks[1]), mean(c->bytes, c->requests) / 1024);
        if (t->oracle == GPUMP_NONE)
            printf(" - | - |\n");
        else
            printf(" %+.1f | %+.1f |\n", percent(c->regret_violations, c->requests),
                   percent(c->regret_waste, c->flush));
    }
}

static void print_differences(const policies_tables *t, const victim_experiment *e) {
    uint32_t i;
    if (t->policy_count < 2) return;
    printf("\nBeside %s at the same requests, with 95%% intervals:\n\n"
           "| policy | limit, us | violations, points | last start late, points | wasted, idle slots included, %% "
           "of what %s would have flushed |\n|---|---|---|---|---|\n",
           t->labels[0], t->labels[0]);
    for (i = t->limit_count; i < e->case_count; i++) {
        const cell *c = &t->total[i];
        if (!c->requests) continue;
        printf("| %s | %u |", e->cases[i].label, t->limits[i % t->limit_count]);
        print_difference(c->beside[0], c->requests, 1);
        print_difference(c->beside[1], c->requests, 1);
        print_difference(c->beside[2], c->requests, t->total[i % t->limit_count].flush / c->requests);
        printf("\n");
    }
}

static void print_kernels(const policies_tables *t, uint32_t limit) {
    uint32_t k, p;
    printf("\nPer kernel at %u us: violations %% / wasted, %% of flushing (with the idle slots of whole SMs)\n\n| "
           "kernel |",
           t->limits[limit]);
    for (p = 0; p < t->policy_count; p++) printf(" %s |", t->labels[p]);
    printf("\n|---|");
    for (p = 0; p < t->policy_count; p++) printf("---|");
    printf("\n");
    for (k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++) {
        if (!t->per_kernel[k][0].requests) continue;
        printf("| %s |", victim_experiment_kernel(k));
        for (p = 0; p < t->policy_count; p++) {
            const cell *c = &t->per_kernel[k][p * t->limit_count + limit];
            printf(" %.0f / %.0f |", percent(c->violated, c->requests), percent(c->wasted + c->idle, c->flush));
        }
        printf("\n");
    }
}

void policies_tables_print(const policies_tables *t, const victim_experiment *e, const char *model,
                           uint64_t own_cycles) {
    uint32_t l;
    printf("Switches: %s%s. %u requests per kernel, seed %llu; the high-priority kernel alone takes %.2f us.\n\n",
           model, e->in_place ? ", in place" : "", e->requests, (unsigned long long)e->seed,
           (double)own_cycles / t->clock_mhz);
    print_all(t, e);
    print_estimates(t, e);
    print_differences(t, e);
    for (l = 0; l < t->limit_count; l++) print_kernels(t, l);
}
