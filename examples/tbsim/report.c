/* Text, CSV, pages. */
#include <stdlib.h>
#include <string.h>
#include "page.h"
#include "output.h"
#include "tbsim.h"

void tb_report_text(FILE *out, const tb_library *library, const tb_workload *workload, const tb_options *options,
                    const tb_result *result) {
    gpump_metrics metrics;
    double ntt[TB_PROCESSES];
    const tb_machine *m = &library->machine;
    uint64_t value;
    const char *name, *unit;
    fprintf(out, "policy %s, mechanism %s, %u SMs at %u MHz, model %d\n", options->policy->name,
            tb_mechanism_name(options->mechanism), m->gpu.sms, m->gpu.clock_khz / 1000, GPUMP_MODEL_VERSION);
    fprintf(out, "%-20s %8s %6s %14s %14s %8s\n", "process", "priority", "runs", "alone us", "turnaround us", "NTT");
    if (tb_metrics(library, workload, result, &metrics, ntt)) return;
    for (uint32_t i = 0; i < workload->count; i++) {
        const tb_process_result *r = &result->processes[i];
        fprintf(out, "%-20s %8u %6llu %14.2f ", workload->processes[i].name, workload->processes[i].priority,
                (unsigned long long)r->runs, tb_us(m, library->alone[workload->processes[i].application]));
        if (r->runs)
            fprintf(out, "%14.2f %8.3f\n", tb_us(m, r->total_cycles / r->runs), ntt[i]);
        else
            fprintf(out, "%14s %8s\n", "-", "-");
    }
    if (tb_unended(workload, result))
        fprintf(out, "ANTT -  STP -  fairness -  harmonic speedup -\n");
    else
        fprintf(out, "ANTT %.4f  STP %.4f  fairness %.4f  harmonic speedup %.4f\n", metrics.antt, metrics.stp,
                metrics.fairness, metrics.harmonic_speedup);
    fprintf(out, "simulated %.2f us, %llu events; SMs preempted %llu, mean %.2f us, worst %.2f us\n",
            tb_us(m, result->cycles), (unsigned long long)result->events, (unsigned long long)result->preempt_count,
            result->preempt_count ? tb_us(m, result->preempt_cycles) / (double)result->preempt_count : 0.0,
            tb_us(m, result->preempt_worst));
    for (uint32_t i = 0; gpump_statistics_field(&gpump_scheduler_component, &result->statistics, i, &name, &unit, NULL,
                                                &value) == GPUMP_OK;
         i++)
        fprintf(out, "%-20s %12llu %s\n", name, (unsigned long long)value, unit);
}

void tb_report_csv(FILE *out, const tb_library *library, const tb_workload *workload, const tb_options *options,
                   const tb_result *result) {
    gpump_metrics metrics;
    double ntt[TB_PROCESSES];
    const tb_machine *m = &library->machine;
    if (tb_metrics(library, workload, result, &metrics, ntt)) return;
    fprintf(out, "process,priority,runs,alone_us,turnaround_us,ntt,policy,mechanism,antt,stp,fairness\n");
    for (uint32_t i = 0; i < workload->count; i++) {
        const tb_process_result *r = &result->processes[i];
        fprintf(out, "%s,%u,%llu,%.3f,%.3f,%.6f,%s,%s,%.6f,%.6f,%.6f\n", workload->processes[i].name,
                workload->processes[i].priority, (unsigned long long)r->runs,
                tb_us(m, library->alone[workload->processes[i].application]),
                r->runs ? tb_us(m, r->total_cycles / r->runs) : tb_us(m, result->cycles), ntt[i], options->policy->name,
                tb_mechanism_name(options->mechanism), metrics.antt, metrics.stp, metrics.fairness);
    }
}

/* ---- a page ---- */

static json_t *pair(const char *name, json_t *value) { return json_pack("[s,o]", name, value); }

int tb_write_page(const char *path, const char *command, const char *file, const tb_library *library,
                  const tb_workload *workload, const tb_options *options, const tb_result *result) {
    const tb_machine *m = &library->machine;
    const char *name = strrchr(file, '/');
    json_t *record = json_array(), *facts = json_array();
    gpump_metrics metrics;
    double ntt[TB_PROCESSES];
    page *p;
    json_array_append_new(record, pair("command", json_string(command)));
    json_array_append_new(record, pair("launch file", json_string(file)));
    json_array_append_new(record, pair("policy", json_string(options->policy->name)));
    json_array_append_new(record, pair("mechanism", json_string(tb_mechanism_name(options->mechanism))));
    page_record_gpu(record, &m->gpu, m->preset);
    json_array_append_new(record, pair("spread of block times around their mean", json_real(m->variation)));
    json_array_append_new(record, pair("setting an SM up, us", json_real(m->setup_us)));
    json_array_append_new(record, pair("from a launch to the engine, us", json_real(m->dispatch_us)));
    json_array_append_new(record, pair("PCIe, GB/s", json_real(m->pcie_gb_per_s)));
    json_array_append_new(record, pair("every block on its own", json_string(m->exact ? "yes" : "no")));
    if (!tb_metrics(library, workload, result, &metrics, ntt)) {
        for (uint32_t i = 0; i < workload->count; i++)
            json_array_append_new(facts, pair(workload->processes[i].name, json_sprintf("NTT %.2f", ntt[i])));
        json_array_append_new(facts, pair("", json_sprintf("ANTT %.2f, STP %.2f, fairness %.2f", metrics.antt,
                                                           metrics.stp, metrics.fairness)));
    }
    p = page_open(path,
                  json_pack("{s:o,s:s,s:o,s:o}", "title",
                            json_sprintf("tbsim run: %s, %s by %s", name ? name + 1 : file, options->policy->name,
                                         tb_mechanism_name(options->mechanism)),
                            "intro",
                            "NTT: a process's turnaround time beside the one it has alone. A slice is a block, or "
                            "a unit of neighbouring blocks that run and leave together; the number is its first "
                            "block's.",
                            "record", record, "files", page_file(file)));
    if (!p) {
        json_decref(facts);
        return -1;
    }
    page_run(p, options->policy->name, options->timeline, facts);
    return page_close(p);
}
