/* html_page: see html_page.h. */
#include "tools/html_page.h"

#include <string.h>

#include "sm/warp_scheduler.h"
#include "preemption/context_forms.h"

static char command[1024] = "minigpu";

void html_page_command(int argc, char **argv) {
    size_t used = 0;
    int i;
    for (i = 0; i < argc && used < sizeof command; i++) {
        const char *word = argv[i], *slash = i ? NULL : strrchr(word, '/');
        const int quoted = strpbrk(word, " \t\"$&;|<>*?()'") != NULL;
        used += (size_t)snprintf(command + used, sizeof command - used, "%s%s%s%s", i ? " " : "", quoted ? "\"" : "",
                                 slash ? slash + 1 : word, quoted ? "\"" : "");
    }
}

static json_t *pair(const char *name, json_t *value) { return json_pack("[s,o]", name, value); }

json_t *html_page_about(const machine *m, const launch_file *launch, const char *title, const char *intro) {
    json_t *record = json_array();
    minigpu_number number;
    uint32_t i;
    json_array_append_new(record, pair("command", json_string(command)));
    if (launch) json_array_append_new(record, pair("launch file", json_string(launch->path)));
    json_array_append_new(record, pair("warp scheduler", json_string(warp_scheduler_name(m->config.scheduler))));
    json_array_append_new(record, pair("saved contexts hold", json_string(context_form_name(m->context_form))));
    if (m->policy) json_array_append_new(record, pair("victim policy", json_string(m->policy->name)));
    page_record_gpu(record, &m->config.gpu, m->config.preset);
    for (i = 0; minigpu_config_number(&m->config, i, &number) == 0; i++)
        json_array_append_new(record, json_pack("[o,I,s]", json_sprintf("%s, %s", number.name, number.unit),
                                                (json_int_t)number.value, number.source));
    return json_pack("{s:s,s:s,s:o,s:o}", "title", title, "intro", intro, "record", record, "files",
                     launch ? page_file(launch->path) : json_array());
}

json_t *html_page_facts(const run_result *result) {
    static const char *const verdicts[] = {"", ", result right", ", result WRONG", ", not ended", ", aborted"};
    const machine *m = result->machine;
    const double us = 1000.0 / (double)m->config.gpu.clock_khz;
    json_t *facts = json_array();
    preemption_summary summary;
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++) {
        const kernel *k = &m->kernels[i];
        if (k->end_cycle == NEVER) continue;
        json_array_append_new(
            facts, pair(k->program->name,
                        json_sprintf("%.2f \u00b5s%s", (double)(k->end_cycle - k->ready_cycle) * us,
                                     verdicts[result->checks ? result->checks[i].result : CHECK_NOTHING_EXPECTED])));
    }
    report_preemptions(m, &summary);
    if (summary.count) {
        json_array_append_new(
            facts, pair("an SM is free after", json_sprintf("%.2f \u00b5s on average, %.2f \u00b5s at worst",
                                                            (double)summary.latency_sum / (double)summary.count * us,
                                                            (double)summary.latency_max * us)));
        if (summary.bytes_saved)
            json_array_append_new(
                facts, pair("saved", json_sprintf("%" JSON_INTEGER_FORMAT " bytes", (json_int_t)summary.bytes_saved)));
        if (summary.wasted_warp_instructions)
            json_array_append_new(facts,
                                  pair("thrown away", json_sprintf("%" JSON_INTEGER_FORMAT " warp instructions",
                                                                   (json_int_t)summary.wasted_warp_instructions)));
    }
    return facts;
}
