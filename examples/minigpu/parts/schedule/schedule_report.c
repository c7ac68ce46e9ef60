#include "parts/schedule/schedule_report.h"

#include <inttypes.h>
#include <jansson.h>

#include "parts/schedule/schedule_facts.h"

void schedule_report(const machine *m, FILE *file) {
    gpump_scheduler_statistics s;
    gpump_get_statistics(&gpump_scheduler_component, schedule_of(m)->scheduler, &s);
    fprintf(file,
            "schedule %s: SMs were given to a kernel %" PRIu64 " times, %" PRIu64
            " of them to another process, and taken from a running kernel %" PRIu64 " times; %" PRIu64
            " blocks left by preemption, %" PRIu64 " came back\n",
            schedule_of(m)->policy->name, s.setups, s.process_changes, s.preemptions, s.blocks_preempted,
            s.blocks_resumed);
}

void schedule_report_json(const machine *m, json_t *members) {
    const char *name;
    uint64_t value;
    uint32_t i;
    gpump_scheduler_statistics s;
    json_t *counters = json_object();
    gpump_get_statistics(&gpump_scheduler_component, schedule_of(m)->scheduler, &s);
    for (i = 0; gpump_statistics_field(&gpump_scheduler_component, &s, i, &name, NULL, NULL, &value) == GPUMP_OK; i++)
        json_object_set_new(counters, name, json_integer((json_int_t)value));
    json_object_set_new(members, "schedule", counters);
}
