/* machines: PPQ and DSS with switch, drain and select, from k20c to h100. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "input.h"
#include "output.h"

enum { MACHINES = 5, SCHEMES = 6 };
static const char *const machine_names[MACHINES] = {"k20c", "p100", "v100", "a100", "h100"};
static const struct {
    const char *name, *policy;
    uint32_t mechanism;
} schemes[SCHEMES] = {{"PPQ switch", "ppq", GPUMP_TECHNIQUE_SWITCH}, {"PPQ drain", "ppq", GPUMP_TECHNIQUE_DRAIN},
                      {"PPQ select", "ppq", GPUMP_TECHNIQUE_SELECT}, {"DSS switch", "equal", GPUMP_TECHNIQUE_SWITCH},
                      {"DSS drain", "equal", GPUMP_TECHNIQUE_DRAIN}, {"DSS select", "equal", GPUMP_TECHNIQUE_SELECT}};

/* The gains of each machine under each scheme. */
typedef struct gains {
    double gain[MACHINES][SCHEMES], lost[MACHINES][SCHEMES], mean_us[MACHINES][SCHEMES];
} gains;

/* The place of a gain on the axis of the picture, which is logarithmic and goes from 0.5 to `top`. */
static double place_of(double gain, double top) {
    return 280 - 230 * log2((gain > 0.5 ? gain : 0.5) * 2) / log2(top * 2);
}

/* Bars begin at 1, where nothing is gained and nothing lost. */
static int machines_svg(const char *path, double gain[MACHINES][SCHEMES], uint32_t workloads) {
    static const char *const fill[SCHEMES] = {"#4477aa", "#88aacc", "#223366", "#ee6677", "#f4a6ae", "#992233"};
    FILE *out = fopen(path, "w");
    double top = 1;
    if (!out) return output_cannot_open("tbsim", path);
    for (int m = 0; m < MACHINES; m++)
        for (int i = 0; i < SCHEMES; i++)
            if (gain[m][i] > top) top = gain[m][i];
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"340\" font-family=\"sans-serif\" "
            "font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"50\" y=\"20\" "
            "font-size=\"12\">Turnaround gain over FCFS, 8 "
            "processes, %u workloads (log scale; PPQ: prioritised process, DSS: mean of all)</text>\n",
            workloads);
    for (double line = 0.5; line <= top * 1.01; line *= 2)
        fprintf(out,
                "<line x1=\"50\" x2=\"750\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/><text x=\"45\" y=\"%.1f\" "
                "text-anchor=\"end\">%g</text>\n",
                place_of(line, top), place_of(line, top), line < 1 || line > 1 ? "#cccccc" : "#333333",
                place_of(line, top) + 4, line);
    for (int m = 0; m < MACHINES; m++) {
        for (int i = 0; i < SCHEMES; i++) {
            const double at = place_of(gain[m][i], top), one = place_of(1, top);
            fprintf(out,
                    "<rect x=\"%d\" y=\"%.1f\" width=\"18\" height=\"%.1f\" fill=\"%s\"><title>%s on %s: "
                    "%.2f</title></rect>\n",
                    60 + m * 138 + i * 20, at < one ? at : one, fabs(one - at), fill[i], schemes[i].name,
                    machine_names[m], gain[m][i]);
        }
        fprintf(out, "<text x=\"%d\" y=\"296\" text-anchor=\"middle\">%s</text>\n", 120 + m * 138, machine_names[m]);
    }
    for (int i = 0; i < SCHEMES; i++)
        fprintf(out,
                "<rect x=\"%d\" y=\"310\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%d\" y=\"320\">%s</text>\n",
                60 + i * 115, fill[i], 76 + i * 115, schemes[i].name);
    fprintf(out, "</svg>\n");
    return output_close(out, "tbsim", path);
}

/* Reads the gains from a table that `machines` has printed, which may be joined from several runs. */
static int read_gains(const char *path, double gain[MACHINES][SCHEMES], uint32_t *workloads) {
    char line[300], machine[20], scheme[20];
    FILE *in = input_open_or_say("tbsim", path);
    int number = 0, found = 0;
    if (!in) return 2;
    while (fgets(line, sizeof line, in)) {
        double value;
        int m = 0, s = 0;
        number++;
        if (sscanf(line, "%u workloads", workloads) == 1) continue;
        if (sscanf(line, "| %19[^ |] | %*u | %*f | %19[^|] | %lf |", machine, scheme, &value) != 3) continue;
        while (*scheme && scheme[strlen(scheme) - 1] == ' ') scheme[strlen(scheme) - 1] = 0;
        while (m < MACHINES && strcmp(machine, machine_names[m])) m++;
        while (s < SCHEMES && strcmp(scheme, schemes[s].name)) s++;
        if (m == MACHINES || s == SCHEMES) {
            fclose(in);
            return fprintf(stderr, "%s:%d:1: no machine or scheme of that name\n", path, number), 2;
        }
        gain[m][s] = value;
        found++;
    }
    fclose(in);
    if (found != MACHINES * SCHEMES) return fprintf(stderr, "%s: %d of %d rows\n", path, found, MACHINES * SCHEMES), 2;
    return 0;
}

/* Makes a machine by its name, with the numbers that options have set. Returns 0, or -1. */
static int machine_named(const char *name, const tb_machine *given, tb_machine *machine) {
    if (tb_machine_preset(machine, name)) return -1;
    machine->variation = given->variation;
    machine->launches_per_wait = given->launches_per_wait;
    machine->dispatch_us = given->dispatch_us;
    return 0;
}

/* Jobs of every scheme, and then of FCFS; n workloads each. */
static void fill_jobs(tb_job *jobs, const arguments *a, tb_library *library) {
    const uint32_t n = a->workloads;
    for (uint32_t i = 0; i < n * (SCHEMES + 1); i++) {
        const uint32_t scheme = i / n;
        tb_options_default(&jobs[i].options);
        if (scheme < SCHEMES) {
            jobs[i].options.policy = gpump_scheduler_find(schemes[scheme].policy);
            jobs[i].options.mechanism = schemes[scheme].mechanism;
            jobs[i].options.transfer_priority = scheme < 3;
        }
        jobs[i].count = 8;
        jobs[i].number = i % n;
        jobs[i].prioritised = scheme < 3;
        jobs[i].library = library;
        jobs[i].seed = a->seed;
    }
}

/* Sums up one scheme on one machine. Returns 0, or -1. */
static int sum_up(const tb_machine *machine, const tb_library *library, const tb_job *jobs, uint32_t n, uint32_t scheme,
                  gains *all, int m) {
    double sum = 0, losses = 0, count = 0, cycles = 0, preempted = 0;
    for (uint32_t i = 0; i < n; i++) {
        const tb_job *base = &jobs[SCHEMES * n + i], *job = &jobs[scheme * n + i];
        gpump_metrics before, after;
        double ntt_before[TB_PROCESSES], ntt[TB_PROCESSES];
        if (tb_metrics(library, &base->workload, &base->result, &before, ntt_before) ||
            tb_metrics(library, &job->workload, &job->result, &after, ntt))
            return -1;
        losses += before.stp / after.stp / n;
        for (uint32_t p = 0; p < (scheme < 3 ? 1u : 8u); p++) sum += ntt_before[p] / ntt[p], count++;
        cycles += (double)job->result.preempt_cycles;
        preempted += (double)job->result.preempt_count;
    }
    all->gain[m][scheme] = sum / count;
    all->lost[m][scheme] = losses;
    all->mean_us[m][scheme] = preempted > 0 ? cycles / preempted * tb_us(machine, 1000000) / 1e6 : 0;
    return 0;
}

/* Runs every scheme on one machine, and prints its rows. Returns an exit status. */
static int run_machine(const arguments *a, int m, gains *all) {
    tb_machine machine = a->machine;
    tb_library *library;
    tb_job *jobs;
    char error[300];
    int status = 0;
    if (machine_named(machine_names[m], &a->machine, &machine)) return 2;
    library = tb_library_tanasic(&machine, a->data, (int)a->class_end, error, sizeof error);
    jobs = (tb_job *)calloc((size_t)a->workloads * (SCHEMES + 1), sizeof *jobs);
    if (!library || !jobs) {
        fprintf(stderr, "%s\n", library ? "out of memory" : error);
        return 2;
    }
    fill_jobs(jobs, a, library);
    if (tb_run_jobs(jobs, a->workloads * (SCHEMES + 1), a->threads, !a->quiet)) status = 1;
    for (uint32_t scheme = 0; scheme < SCHEMES && !status; scheme++) {
        if (sum_up(&machine, library, jobs, a->workloads, scheme, all, m)) status = 1;
        printf("| %s | %u | %.1f | %s | %.2f | %.2f | %.1f |\n", machine_names[m], machine.gpu.sms,
               machine.gpu.memory_mb_per_s / 1000.0 / machine.gpu.sms, schemes[scheme].name, all->gain[m][scheme],
               all->lost[m][scheme], all->mean_us[m][scheme]);
    }
    fflush(stdout);
    free(jobs);
    tb_library_free(library);
    return status;
}

int machines(const arguments *a) {
    static gains all;
    uint32_t workloads = a->workloads;
    int status = 0;
    if (output_is_input("tbsim", a->svg, a->table ? a->table : a->data)) return 2;
    if (a->svg) { /* tried before the runs, which may take hours */
        FILE *file = fopen(a->svg, "a");
        if (!file) return output_cannot_open("tbsim", a->svg), 2;
        fclose(file);
    }
    if (a->table) {
        status = read_gains(a->table, all.gain, &workloads);
        if (!status && (!a->svg || machines_svg(a->svg, all.gain, workloads)))
            status = option_misuse("machines", "the picture needs --svg FILE that can be written", NULL);
        return status;
    }
    printf("%u workloads of 8 processes\n\n", workloads);
    printf("| machine | SMs | save share, GB/s per SM | scheme | turnaround gain | throughput lost | mean latency of "
           "vacating an SM, us |\n");
    printf("|---|---|---|---|---|---|---|\n");
    for (int m = 0; m < MACHINES && !status; m++)
        if (!a->gpu || !strcmp(a->gpu, machine_names[m])) status = run_machine(a, m, &all);
    if (status) return status;
    return a->svg && machines_svg(a->svg, all.gain, workloads) ? 2 : 0;
}
