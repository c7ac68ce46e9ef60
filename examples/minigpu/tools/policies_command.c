#define _GNU_SOURCE
#include "tools/policies_command.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preemption/context_forms.h"
#include "gpump.h"
#include "policies.h"
#include "tools/html_page.h"
#include "output.h"
#include "tools/options.h"
#include "tools/policies_parts.h"
#include "tools/victim_experiment.h"

#define CLOCK_MHZ 1400u /* gtx480_shieh */
#define POLICIES_MAX 12
#define LIMITS_MAX 5

static const char usage[] =
    "usage: minigpu policies [options]\n"
    "  Kernels of Shieh Table 4.2 run on gtx480_shieh; at random times a kernel of high priority asks for room for 90 "
    "blocks within a limit. Every\n"
    "  policy meets every request in a copy of the same machine. Prints a table over all kernels and one per kernel, "
    "in Markdown.\n"
    "  --requests N       per kernel (default 16)\n"
    "  --kernel NAME      only this one, as its folder is called; may be repeated\n"
    "  --policy NAME[@P]  only these policies; may be repeated (default: dual, chimera, chimera+, joint, oracle, "
    "switch, drain, drain-then-switch);\n"
    "                     joint@P: a cycle of a late request is worth P warp instructions (without P the limit comes "
    "first, whatever it costs)\n"
    "  --limit US         only these limits, whole microseconds; may be repeated (default: 2, 3, 4, 5)\n"
    "  --switch MODEL     stall: a switched block stalls for its estimate, as in the paper (default); naive, live, "
    "live+compress, tb: its context\n"
    "                     travels through the memory path in that form\n"
    "  --regions R        sparse, or the most instructions of a short region: kernels have idempotent regions, and the "
    "policy rewind may use them\n"
    "  --in-place         switched blocks keep in place what the incoming kernel's positions do not reach, and move "
    "only the rest\n"
    "  --seed N           of the request times (default 1)\n"
    "  --processes N      at the same time (default: one per processor)\n"
    "  --html FILE        also a page: the policies side by side at one request of the first kernel, in the middle of "
    "its "
    "run, at the first limit\n"
    "  --csv FILE         also one row per kernel, request, policy and limit\n"
    "  --shard I/N        only kernels i with i mod N = I, 0 <= I < N; prints a part instead of tables\n"
    "  --merge PART...    runs nothing: the tables of these parts, with the options that their shards were given\n"
    "exit status: 0 done, 1 a run failed, 2 bad input\n";

/* Sums over requests. */
typedef struct cell {
    double violated, warm, warm_violated, in_use, wasted, idle, flush, start, waste_share, by[GPUMP_TECHNIQUES],
        error[GPUMP_TECHNIQUES], truth[GPUMP_TECHNIQUES], error_blocks[GPUMP_TECHNIQUES], bytes;
    double late_truth; /* last block began past the limit */
    uint32_t requests, waits, kernels;
    double regret_violations, regret_waste; /* beyond the oracle's at the same request */
    double beside[3][2]; /* beyond the first policy's at the same request, and squares: violations, late starts, waste
                            with idle slots */
} cell;

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

static const char *switch_model(uint32_t index) { return index ? context_form_name(index - 1) : "stall"; }

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

static void print_row(const cell *c) {
    double blocks = 0;
    uint32_t t;
    for (t = 0; t < GPUMP_TECHNIQUES; t++) blocks += c->by[t];
    printf(" %.1f | %.1f | %.1f | %.1f | %.1f | %.0f | %.2f | %.0f / %.0f / %.0f", percent(c->violated, c->requests),
           percent(c->warm_violated, c->warm), percent(c->late_truth, c->requests), percent(c->wasted, c->flush),
           percent(c->idle, c->flush), c->waits ? 100 * c->in_use / c->waits : 0,
           c->requests ? c->start / c->requests / CLOCK_MHZ : 0, percent(c->by[0], blocks), percent(c->by[1], blocks),
           percent(c->by[2], blocks));
    for (t = GPUMP_TECHNIQUE_REWIND; gpump_technique_at(t); t++)
        if (c->by[t] > 0) printf(" / %s %.0f", gpump_technique_at(t)->name, percent(c->by[t], blocks));
    printf(" |\n");
}

/* A mean difference over n requests, as a percentage of `whole` per request, and half the width of its 95% interval. */
static void print_difference(const double sums[2], double n, double whole) {
    double mean = sums[0] / n, variance = n > 1 ? (sums[1] - n * mean * mean) / (n - 1) : 0;
    printf(" %+.1f +- %.1f |", percent(mean, whole), percent(1.96 * sqrt(variance > 0 ? variance / n : 0), whole));
}

static void print_csv(FILE *csv, const victim_experiment *e, const victim_outcome *o, uint32_t limit, uint32_t c) {
    fprintf(csv, "%s,%llu,%s,%u,%u,%u,%llu,%llu,%llu,%llu,%llu,%u,%u,%u,%u,%llu\n", victim_experiment_kernel(e->kernel),
            (unsigned long long)o->request_cycle, e->cases[c].label, limit, o->violated, o->warm,
            (unsigned long long)o->end_cycles, (unsigned long long)o->start_cycles, (unsigned long long)o->wasted,
            (unsigned long long)o->idle, (unsigned long long)o->flush_waste, o->by[0], o->by[1], o->by[2], o->by[3],
            (unsigned long long)o->bytes_saved);
}

/* ---- the page ---- */

static json_t *outcome_row(const victim_experiment *e, const victim_outcome *o, uint32_t limit, uint32_t c) {
    return json_pack("[s,f,s,i,s,f,I,I,i,i,i,i]", victim_experiment_kernel(e->kernel),
                     (double)o->request_cycle / CLOCK_MHZ, e->cases[c].label, (int)limit,
                     o->violated ? "late" : "in time", (double)o->start_cycles / CLOCK_MHZ, (json_int_t)o->wasted,
                     (json_int_t)o->bytes_saved, (int)o->by[0], (int)o->by[1], (int)o->by[2], (int)o->by[3]);
}

/* The runs that were shown, and a table of all outcomes. Takes over show->about and rows. Returns 0, or -1 with errno.
 */
static int write_page(const char *path, const victim_experiment *e, victim_show *show, uint32_t kernel, uint32_t limit,
                      json_t *rows) {
    page *p;
    uint32_t c;
    json_object_set_new(show->about, "title",
                        json_sprintf("%s makes room within %u \u00b5s: every policy at the same request",
                                     victim_experiment_kernel(kernel), limit));
    json_object_set_new(show->about, "intro",
                        json_string("The whole machine was copied at the request, once for each policy, so all of them "
                                    "meet the same blocks. A kernel of high priority asks for room for 90 blocks. The "
                                    "tables below have the estimate for every block beside what came of it."));
    json_object_set_new(show->about, "tables",
                        json_pack("[{s:s,s:[s,s,s,s,s,s,s,s,s,s,s,s],s:o}]", "title",
                                  "Every kernel, request, policy and limit of this command", "columns", "kernel",
                                  "request at \u00b5s", "policy", "limit \u00b5s", "deadline",
                                  "last block began after \u00b5s", "wasted warp instr.", "bytes saved", "flushed",
                                  "switched", "drained", "rewound", "rows", rows));
    p = page_open(path, show->about);
    if (!p) return -1;
    for (c = 0; c < e->case_count; c++) {
        if (!show->runs[c]) continue;
        rewind(show->runs[c]);
        page_copy_run(p, show->runs[c]);
        fclose(show->runs[c]);
    }
    return page_close(p);
}

#define COLUMNS                                                                                                       \
    " violations % | after warm-up | last start late % | wasted, % of flushing | idle until the SM is empty, % | in " \
    "use % | last start, us | flush / switch / drain % |\n"
#define RULE "---|---|---|---|---|---|---|---|\n"

int policies_command(int argc, char **argv, const char *kernels_dir) {
    static const struct option longs[] = {{"requests", required_argument, NULL, 'r'},
                                          {"kernel", required_argument, NULL, 'k'},
                                          {"policy", required_argument, NULL, 'p'},
                                          {"limit", required_argument, NULL, 'l'},
                                          {"switch", required_argument, NULL, 's'},
                                          {"seed", required_argument, NULL, 'S'},
                                          {"regions", required_argument, NULL, 'R'},
                                          {"in-place", no_argument, NULL, 'i'},
                                          {"processes", required_argument, NULL, 'P'},
                                          {"html", required_argument, NULL, 'H'},
                                          {"csv", required_argument, NULL, 'c'},
                                          {"shard", required_argument, NULL, 'h' + 256},
                                          {"merge", no_argument, NULL, 'm'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    static const char *const usual[] = {"dual",   "chimera", "chimera+", "joint",
                                        "oracle", "switch",  "drain",    "drain-then-switch"};
    static cell per_kernel[VICTIM_EXPERIMENT_KERNELS][POLICIES_MAX * LIMITS_MAX];
    cell total[POLICIES_MAX * LIMITS_MAX];
    const char *policies[POLICIES_MAX], *labels[POLICIES_MAX], *at, *model = "stall";
    char names[POLICIES_MAX][32];
    uint64_t prices[POLICIES_MAX] = {0};
    uint32_t policy_count = 0, limit_count = 0, limits[LIMITS_MAX], only[VICTIM_EXPERIMENT_KERNELS] = {0}, some = 0, p,
             l, c, k, r, shown = GPUMP_NONE, form = 0, stalls = 1, oracle = GPUMP_NONE;
    victim_experiment e;
    victim_outcome *outcomes;
    victim_drain_error *errors;
    uint64_t own = 0;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    progress bar;
    const char *csv_path = NULL;
    FILE *csv = NULL;
    const char *html_path = NULL;
    victim_show show;
    policies_parts parts;
    uint32_t shard = 0, shards = 0, merges = 0, chosen = 0;
    char extra;
    json_t *rows = NULL;
    int option, status = 0;
    double drain[2] = {0, 0}, drain_blocks = 0;
    memset(&e, 0, sizeof e);
    e.requests = 16;
    e.seed = 1;
    e.parallel = processors > 1 ? (uint32_t)processors : 1;
    while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        uint64_t number;
        switch (option) {
        case 'r':
            if (option_number("--requests", optarg, 1, 10000, &number)) return 2;
            e.requests = (uint32_t)number;
            break;
        case 'S':
            if (option_number("--seed", optarg, 0, UINT64_MAX, &e.seed)) return 2;
            break;
        case 'l':
            if (limit_count == LIMITS_MAX) return option_misuse("policies", "too many --limit; the last is", optarg);
            if (option_number("--limit", optarg, 1, 1000, &number)) return 2;
            limits[limit_count++] = (uint32_t)number;
            break;
        case 'p':
            if (policy_count == POLICIES_MAX)
                return option_misuse("policies", "too many --policy; the last is", optarg);
            labels[policy_count] = optarg;
            if ((at = strchr(optarg, '@')) != NULL) {
                if (option_number("--policy NAME@", at + 1, 1, 1000000, &prices[policy_count])) return 2;
                snprintf(names[policy_count], sizeof names[0], "%.*s", (int)(at - optarg), optarg);
            } else
                snprintf(names[policy_count], sizeof names[0], "%s", optarg);
            policies[policy_count] = names[policy_count];
            if (option_choice("--policy", policies[policy_count++], policies_victim_name, &k)) return 2;
            break;
        case 'k':
            if (option_choice("--kernel", optarg, victim_experiment_kernel, &k)) return 2;
            only[k] = some = 1;
            break;
        case 's':
            if (option_choice("--switch", optarg, switch_model, &k)) return 2;
            model = optarg;
            stalls = k == 0;
            form = stalls ? 0 : k - 1;
            break;
        case 'R':
            if (launch_regions(optarg, &e.regions)) {
                fprintf(stderr,
                        "minigpu: --regions wants sparse or a number of instructions from 2 to 4096, not \"%s\"\n",
                        optarg);
                return 2;
            }
            break;
        case 'H': html_path = optarg; break;
        case 'i': e.in_place = 1; break;
        case 'P':
            if (option_number("--processes", optarg, 1, 1024, &number)) return 2;
            e.parallel = (uint32_t)number;
            break;
        case 'c':
            if (csv_path) return option_misuse("policies", "--csv wants one file; the second is", optarg);
            csv_path = optarg;
            break;
        case 'm': merges = 1; break;
        case 'h' + 256:
            if (sscanf(optarg, "%u/%u%c", &shard, &shards, &extra) != 2 || shard >= shards)
                return option_misuse("policies", "a shard is I/N with 0 <= I < N, not", optarg);
            break;
        case 'h': fputs(usage, stdout); return 0;
        default: return option_misuse("policies", NULL, NULL);
        }
    }
    if (merges ? optind == argc : optind != argc)
        return option_misuse("policies", merges ? "--merge wants parts" : "options only; not one is",
                             merges ? NULL : argv[optind]);
    if (shards && (merges || csv_path || html_path))
        return option_misuse("policies", "--shard comes without --merge, --csv and --html", NULL);
    if (merges && html_path) return option_misuse("policies", "--merge has no runs to show: leave out --html", NULL);
    if (!limit_count)
        for (l = 2; l <= 5; l++) limits[limit_count++] = l;
    if (!policy_count)
        for (p = 0; p < sizeof usual / sizeof *usual; p++)
            policies[policy_count] = labels[policy_count] = usual[p], policy_count++;
    if (policy_count * limit_count > VICTIM_EXPERIMENT_CASES) {
        fprintf(stderr, "minigpu: policies: at most %d policies and limits together\n", VICTIM_EXPERIMENT_CASES);
        return 2;
    }
    for (r = (uint32_t)optind; r < (uint32_t)argc; r++)
        if (output_is_input("minigpu", csv_path, argv[r])) return 2;
    if (csv_path) { /* before the hours that the runs take */
        if (!(csv = fopen(csv_path, "w"))) return output_cannot_open("minigpu", csv_path), 2;
        fputs("kernel,request_cycle,policy,limit_us,violated,warm,end_cycles,start_cycles,wasted,idle,of_flushing,"
              "flushed,switched,drained,rewound,bytes_saved\n",
              csv);
    }
    e.kernels_dir = kernels_dir;
    e.case_count = policy_count * limit_count;
    for (p = 0; p < policy_count; p++) {
        if (strcmp(policies[p], "oracle") == 0) oracle = p;
        for (l = 0; l < limit_count; l++) {
            victim_case *one = &e.cases[p * limit_count + l];
            one->policy = policies[p];
            one->limit_cycles = (uint64_t)limits[l] * CLOCK_MHZ;
            one->label = labels[p];
            one->late_price = prices[p];
            one->switch_stalls = stalls;
            one->context_form = form;
        }
    }
    outcomes = (victim_outcome *)calloc((size_t)e.requests * e.case_count, sizeof *outcomes);
    errors = (victim_drain_error *)calloc(e.requests, sizeof *errors);
    if (!outcomes || !errors) {
        fprintf(stderr, "minigpu: out of memory\n");
        return 1;
    }
    if (html_path) {
        FILE *file = fopen(html_path, "a"); /* before the hours that the runs take */
        if (!file) return option_misuse("policies", "--html wants a file that can be written, not", html_path);
        fclose(file);
        memset(&show, 0, sizeof show);
        show.request = e.requests / 2;
        rows = json_array();
        for (p = 0; p < policy_count; p++) show.runs[p * limit_count] = tmpfile();
        e.show = &show;
    }
    memset(total, 0, sizeof total);
    memset(&parts, 0, sizeof parts);
    progress_begin(&bar, "minigpu policies");
    while (merges && optind < argc)
        if (policies_parts_read(&parts, argv[optind++], &e)) goto refused;
    if (shards) policies_parts_begin(stdout, &e);
    for (k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++) e.all_requests += !some || only[k] ? e.requests : 0;
    progress_watch(&bar, csv_path ? "the file of --csv has the kernels that were done, and no table is printed"
                         : shards ? "what is printed lacks kernels; run this shard again"
                                  : "no table is printed; --shard splits the work, --csv keeps rows");
    e.progress = &bar;
    for (k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++) {
        char error[LAUNCH_ERROR_BYTES] = "";
        if (some && !only[k]) continue;
        e.kernel = k;
        if (shards && chosen++ % shards != shard) continue;
        if (merges) {
            if (!parts.outcomes[k]) {
                fprintf(stderr, "minigpu: no part has kernel %s\n", victim_experiment_kernel(k));
                goto refused;
            }
            memcpy(outcomes, parts.outcomes[k], (size_t)e.requests * e.case_count * sizeof *outcomes);
            memcpy(errors, parts.errors[k], e.requests * sizeof *errors);
            own = parts.own_cycles;
        } else if (victim_experiment_run(&e, outcomes, errors, &own, error)) {
            fprintf(stderr, "minigpu: %s\n", error);
            status = 1;
            break;
        }
        if (shards) {
            policies_parts_write(stdout, &e, outcomes, errors, own);
            continue;
        }
        if (html_path && shown == GPUMP_NONE) shown = k;
        e.show = NULL; /* one kernel is enough to look at */
        for (r = 0; r < e.requests; r++) {
            for (c = 0; c < e.case_count; c++) {
                const victim_outcome *row = outcomes + (size_t)r * e.case_count;
                if (row[c].failed) status = 1;
                if (rows) json_array_append_new(rows, outcome_row(&e, &row[c], limits[c % limit_count], c));
                if (csv) print_csv(csv, &e, &row[c], limits[c % limit_count], c);
                add(&per_kernel[k][c], &row[c], &row[c % limit_count],
                    oracle == GPUMP_NONE ? NULL : &row[oracle * limit_count + c % limit_count],
                    e.cases[c].limit_cycles);
                add(&total[c], &row[c], &row[c % limit_count],
                    oracle == GPUMP_NONE ? NULL : &row[oracle * limit_count + c % limit_count],
                    e.cases[c].limit_cycles);
            }
            drain[0] += errors[r].relative[0];
            drain[1] += errors[r].relative[1];
            drain_blocks += errors[r].blocks;
        }
        if (csv) fflush(csv);
        e.earlier_requests += e.requests;
    }
    progress_unwatch(&bar);
    policies_parts_free(&parts);
    if (shards) {
        free(outcomes);
        free(errors);
        return status;
    }
    printf("Switches: %s%s. %u requests per kernel, seed %llu; the high-priority kernel alone takes %.2f us.\n\n",
           model, e.in_place ? ", in place" : "", e.requests, (unsigned long long)e.seed, (double)own / CLOCK_MHZ);
    fputs("| policy | limit, us |" COLUMNS "|---|---|" RULE, stdout);
    for (c = 0; c < e.case_count; c++) {
        printf("| %s | %u |", e.cases[c].label, limits[c % limit_count]);
        print_row(&total[c]);
    }
    if (drain_blocks > 0)
        printf("\nDrain estimates over %.0f resident blocks, mean error of the truth: own CPI %.1f%%, source of "
               "smaller deviation %.1f%%.\n",
               drain_blocks, 100 * drain[0] / drain_blocks, 100 * drain[1] / drain_blocks);
    printf("\nEstimate and truth of what was chosen, and regret beyond the oracle at the same requests:\n\n"
           "| policy | limit, us | drain: off by, cycles | of | switch: off by | of | KB saved per request | "
           "violations beyond the oracle's, points | waste beyond, %% of flushing |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (c = 0; c < e.case_count; c++) {
        const cell *t = &total[c];
        printf("| %s | %u |", e.cases[c].label, limits[c % limit_count]);
        printf(" %.0f | %.0f | %.0f | %.0f | %.0f |", t->error_blocks[2] > 0 ? t->error[2] / t->error_blocks[2] : 0,
               t->error_blocks[2] > 0 ? t->truth[2] / t->error_blocks[2] : 0,
               t->error_blocks[1] > 0 ? t->error[1] / t->error_blocks[1] : 0,
               t->error_blocks[1] > 0 ? t->truth[1] / t->error_blocks[1] : 0,
               t->requests ? t->bytes / t->requests / 1024 : 0);
        if (oracle == GPUMP_NONE)
            printf(" - | - |\n");
        else
            printf(" %+.1f | %+.1f |\n", percent(t->regret_violations, t->requests),
                   percent(t->regret_waste, t->flush));
    }
    if (policy_count > 1) {
        printf("\nBeside %s at the same requests, with 95%% intervals:\n\n"
               "| policy | limit, us | violations, points | last start late, points | wasted, idle slots included, %% "
               "of what %s would have flushed |\n|---|---|---|---|---|\n",
               labels[0], labels[0]);
        for (c = limit_count; c < e.case_count; c++) {
            const cell *t = &total[c];
            if (!t->requests) continue;
            printf("| %s | %u |", e.cases[c].label, limits[c % limit_count]);
            print_difference(t->beside[0], t->requests, 1);
            print_difference(t->beside[1], t->requests, 1);
            print_difference(t->beside[2], t->requests, total[c % limit_count].flush / t->requests);
            printf("\n");
        }
    }
    for (l = 0; l < limit_count; l++) {
        printf("\nPer kernel at %u us: violations %% / wasted, %% of flushing (with the idle slots of whole SMs)\n\n| "
               "kernel |",
               limits[l]);
        for (p = 0; p < policy_count; p++) printf(" %s |", labels[p]);
        printf("\n|---|");
        for (p = 0; p < policy_count; p++) printf("---|");
        printf("\n");
        for (k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++) {
            if (!per_kernel[k][0].requests) continue;
            printf("| %s |", victim_experiment_kernel(k));
            for (p = 0; p < policy_count; p++) {
                const cell *one = &per_kernel[k][p * limit_count + l];
                printf(" %.0f / %.0f |", percent(one->violated, one->requests),
                       percent(one->wasted + one->idle, one->flush));
            }
            printf("\n");
        }
    }
    if (csv && output_close(csv, "minigpu", csv_path)) status = 1;
    if (shown != GPUMP_NONE) {
        if (write_page(html_path, &e, &show, shown, limits[0], rows)) {
            fprintf(stderr, "minigpu: cannot write %s: %s\n", html_path, strerror(errno));
            status = 1;
        } else
            printf("\nPage: %s (open it in a browser)\n", html_path);
    }
    free(outcomes);
    free(errors);
    return status;
refused:
    progress_unwatch(&bar);
    policies_parts_free(&parts);
    free(outcomes);
    free(errors);
    return 2;
}
