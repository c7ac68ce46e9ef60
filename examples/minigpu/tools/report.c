#include "tools/recovery.h"
#include "tools/report.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "machine/traffic.h"
#include "sm/warp_scheduler.h"

const char *technique_name(uint32_t technique) {
    const gpump_technique *how = gpump_technique_at(technique);
    return how ? how->name : "none";
}

static const char *check_name(check_result result) {
    static const char *const names[] = {"nothing expected", "right", "wrong", "not ended", "aborted"};
    return names[result];
}

uint64_t report_cycle(const machine *m, uint64_t cycle) { return m->functional ? NEVER : cycle; }

void report_totals(const machine *m, machine_totals *totals) {
    uint32_t i;
    memset(totals, 0, sizeof *totals);
    totals->cycles = report_cycle(m, m->now);
    for (i = 0; i < m->kernel_count; i++) {
        totals->warp_instructions += m->kernels[i].warp_instructions;
        totals->thread_instructions += m->kernels[i].thread_instructions;
        totals->wasted_warp_instructions += m->kernels[i].wasted_warp_instructions;
    }
    for (i = 0; i < m->sm_count; i++) {
        const sm_statistics *s = &m->sms[i]->statistics;
        totals->l1_hits += s->l1_hits;
        totals->l1_misses += s->l1_misses;
        totals->transfer_requests += s->transfer_requests;
        totals->saved_bytes += s->saved_bytes;
        totals->restored_bytes += s->restored_bytes;
    }
    totals->requests = m->memory_system->statistics.requests;
    totals->l2_hits = m->memory_system->statistics.l2_hits;
    totals->l2_misses = m->memory_system->statistics.l2_misses;
    totals->dram_bytes = m->memory_system->statistics.dram_bytes;
    totals->network_bytes = m->memory_system->statistics.network_bytes;
}

void report_preemptions(const machine *m, preemption_summary *summary) {
    uint32_t i;
    memset(summary, 0, sizeof *summary);
    for (i = 0; i < m->preemption_count; i++) {
        const preemption_entry *entry = &m->preemptions[i];
        uint64_t latency = entry->end_cycle == NEVER ? 0 : entry->end_cycle - entry->request_cycle;
        summary->count++;
        summary->blocks += entry->blocks;
        summary->bytes_saved += entry->bytes_saved;
        summary->wasted_warp_instructions += entry->wasted_warp_instructions;
        summary->refused_blocks += entry->refused_blocks;
        if (!summary->refused) summary->refused = entry->refused;
        summary->latency_sum += latency;
        if (latency > summary->latency_max) summary->latency_max = latency;
    }
}

static double microseconds(const machine *m, uint64_t cycles) {
    return (double)cycles * 1000.0 / (double)m->config.gpu.clock_khz;
}

static double rate(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

/* Reports the cost of preemption points without a preemption: their share of the instructions. */
static void report_points(const machine *m, FILE *file) {
    uint64_t points = 0, all = 0;
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++) {
        points += m->kernels[i].counted[COUNTED_POINT];
        all += m->kernels[i].warp_instructions;
    }
    if (m->stop_at_points)
        fprintf(file, "preemption points: %" PRIu64 " of %" PRIu64 " warp instructions (%.2f%%) are there for them\n",
                points, all, all ? 100 * (double)points / (double)all : 0);
}

/* Reports the instructions that page checks add, and the absent pages that they find. */
static void report_page_faults(const machine *m, FILE *file) {
    uint64_t checks = 0, calls = 0, all = 0;
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++) {
        checks += m->kernels[i].counted[COUNTED_CHECK];
        calls += m->kernels[i].counted[COUNTED_CALL];
        all += m->kernels[i].warp_instructions;
    }
    if (!checks && (!m->page_faults.absent || m->faults_may_happen)) return;
    fprintf(file,
            "page faults: %" PRIu64 " pages absent at first, %" PRIu64 " faults served in %" PRIu64
            " calls; of %" PRIu64 " warp instructions %" PRIu64 " check and %" PRIu64 " would call\n",
            m->page_faults.absent, m->page_faults.served, m->page_faults.calls, all, checks, calls);
}

/* Reports how often each loop of the launch file has run. */
static void report_loops(const run_result *result, FILE *file) {
    uint32_t i;
    for (i = 0; i < result->launch->loop_count; i++) {
        const launch_loop *loop = &result->launch->loops[i];
        fprintf(file, "loop of line %u, %s to %s: %u of at most %u rounds\n", loop->place.line,
                result->machine->kernels[loop->first].program->name,
                result->machine->kernels[loop->first + loop->count - 1].program->name, result->machine->loop_rounds[i],
                loop->times);
    }
}

/* Reports how often each repeating process has run. */
static void report_runs(const run_result *result, FILE *file) {
    uint32_t i;
    for (i = 0; i < result->launch->process_count; i++) {
        const process_runs *runs = &result->machine->runs[i];
        if (result->launch->processes[i].repeat == 1) continue;
        fprintf(file, "%s has run %u times", result->launch->processes[i].name, runs->ended);
        if (runs->ended)
            fprintf(file, ", for the first time until cycle %" PRIu64 ", for the last until %" PRIu64,
                    runs->first_end_cycle, runs->last_end_cycle);
        fputs(runs->ended ? "; the first was checked\n" : "\n", file);
    }
}

static void report_kernels(const run_result *result, FILE *file) {
    const machine *m = result->machine;
    uint32_t i;
    fprintf(file, "%-26s %4s %9s %12s %12s %14s %10s  %s\n", "kernel", "prio", "blocks", "start", "cycles",
            "thread instr.", "wasted w.", "result");
    for (i = 0; i < m->kernel_count; i++) {
        const kernel *k = &m->kernels[i];
        fprintf(file, "%-26s %4u %9" PRIu64 " ", k->program->name, k->priority, k->blocks);
        if (report_cycle(m, k->start_cycle) == NEVER)
            fprintf(file, "%12s %12s ", "-", "-");
        else if (k->end_cycle == NEVER)
            fprintf(file, "%12" PRIu64 " %12s ", k->start_cycle, "-");
        else
            fprintf(file, "%12" PRIu64 " %12" PRIu64 " ", k->start_cycle, k->end_cycle - k->ready_cycle);
        fprintf(file, "%14" PRIu64 " %10" PRIu64 "  %s\n", k->thread_instructions, k->wasted_warp_instructions,
                result->checks                          ? check_name(result->checks[i].result)
                : k->state == KERNEL_DONE && !k->killed ? "ended, not checked"
                                                        : "not ended");
    }
}

static void report_preempted(const machine *m, FILE *file) {
    uint32_t i;
    for (i = 0; i < m->preemption_count && i < 32; i++) {
        const preemption_entry *entry = &m->preemptions[i];
        fprintf(file, "cycle %" PRIu64 ": SM %u gives up %u blocks of %s by %s: ", entry->request_cycle, entry->sm,
                entry->blocks, m->kernels[entry->kernel - 1].program->name, technique_name(entry->technique));
        if (entry->end_cycle == NEVER)
            fprintf(file, "not ended");
        else
            fprintf(file, "%" PRIu64 " cycles (%.2f us)", entry->end_cycle - entry->request_cycle,
                    microseconds(m, entry->end_cycle - entry->request_cycle));
        fprintf(file, ", %" PRIu64 " bytes saved", entry->bytes_saved);
        if (entry->bytes_saved)
            fprintf(file, " (%" PRIu64 " of registers, %" PRIu64 " of shared memory, %" PRIu64 " of state)",
                    (uint64_t)entry->saved.register_bytes, (uint64_t)entry->saved.shared_bytes,
                    (uint64_t)entry->saved.state_bytes);
        fprintf(file, ", %" PRIu64 " warp instructions wasted", entry->wasted_warp_instructions);
        if (entry->refused_blocks) {
            fprintf(file, "; %u otherwise: %s (%s)", entry->refused_blocks,
                    gpump_reason_text((gpump_reason)entry->refused), gpump_reason_remedy((gpump_reason)entry->refused));
        }
        fprintf(file, "\n");
    }
    if (m->preemption_count > 32)
        fprintf(file, "... and %u more preemptions (--json lists them)\n", m->preemption_count - 32);
}

/* Reports the blocks that left registers or shared memory on their SM. */
static void report_in_place(const machine *m, FILE *file) {
    uint64_t parked = 0, unparked = 0;
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) {
        gpump_sm_statistics one;
        gpump_get_statistics(&gpump_sm_component, m->sms[i]->gpump, &one);
        parked += one.parked;
        unparked += one.unparked;
    }
    if (m->in_place || parked)
        fprintf(file,
                "in place: %" PRIu64 " blocks left registers or shared memory on their SM, %" PRIu64
                " came back to them there\n",
                parked, unparked);
}

void report_wrong(const run_result *result, FILE *file) {
    uint32_t i;
    for (i = 0; result->checks && i < result->machine->kernel_count; i++)
        if (result->checks[i].result == CHECK_WRONG) fprintf(file, "WRONG: %s\n", result->checks[i].text);
}

void report_text(const run_result *result, FILE *file) {
    const machine *m = result->machine;
    machine_totals t;
    report_totals(m, &t);
    fprintf(file, "%s: %u SMs at %.3f GHz, scheduler %s, model version %d\n", m->config.preset, m->sm_count,
            (double)m->config.gpu.clock_khz / 1e6, warp_scheduler_name(m->config.scheduler), GPUMP_MODEL_VERSION);
    report_kernels(result, file);
    if (m->functional)
        fprintf(file, "functional: no cycles; %" PRIu64 " warp instructions\n", t.warp_instructions);
    else
        fprintf(file,
                "%" PRIu64 " cycles (%.2f us), %.2f warp instructions per cycle; L1 %" PRIu64 " hits %" PRIu64
                " misses, L2 %" PRIu64 " hits %" PRIu64 " misses, DRAM %" PRIu64 " bytes\n",
                t.cycles, microseconds(m, t.cycles), t.cycles ? (double)t.warp_instructions / (double)t.cycles : 0,
                t.l1_hits, t.l1_misses, t.l2_hits, t.l2_misses, t.dram_bytes);
    report_loops(result, file);
    report_runs(result, file);
    report_points(m, file);
    report_page_faults(m, file);
    recovery_text(result, file);
    report_preempted(m, file);
    report_in_place(m, file);
    PARTS_TELL(m, report, (m, file));
    if (result->races) races_report(result->races, file);
    fprintf(file, "simulated in %.3f s: %.1f million thread instructions per second\n", result->seconds,
            rate((double)t.thread_instructions / 1e6, result->seconds));
    report_wrong(result, file);
}

/* ---- statistics per kernel ---- */

void report_traffic(const machine *m, uint32_t kernel, gpump_traffic *traffic) {
    const struct kernel *k;
    uint32_t i;
    if (!kernel) {
        gpump_meter_total(m->memory_system->meter, m->now, 0, traffic);
        return;
    }
    k = &m->kernels[kernel - 1];
    traffic_of_kernel(m, kernel - 1, traffic);
    for (i = 0; i < m->sm_count; i++) {
        const sm *s = m->sms[i];
        if (s->kernel_resident[kernel - 1]) traffic->resident_cycles += m->now - s->traffic[kernel - 1].resident_since;
    }
    if (k->start_cycle != NEVER) traffic->cycles = (k->state != KERNEL_DONE ? m->now : k->end_cycle) - k->start_cycle;
}

const gpump_meter_config *report_meter(const machine *m) { return &m->memory_system->meter->config; }

static double percent(uint64_t part, uint64_t whole) { return whole ? 100 * (double)part / (double)whole : 0; }
static double mean(uint64_t sum, uint64_t count) { return count ? (double)sum / (double)count : 0; }

void report_statistics(const machine *m, FILE *file) {
    const gpump_meter_config *machine_of = report_meter(m);
    uint32_t kernel, last = m->kernel_count;
    for (kernel = 0; kernel <= last; kernel++) {
        gpump_traffic t;
        gpump_utilisation u;
        report_traffic(m, kernel, &t);
        if (!kernel && !t.flits_up) continue;
        if (kernel)
            fprintf(file, "\nkernel %u, %s, %" PRIu64 " cycles\n", kernel, m->kernels[kernel - 1].program->name,
                    t.cycles);
        else
            fprintf(file, "\ncontexts of preempted blocks, %" PRIu64 " cycles\n", t.cycles);
        if (kernel)
            fprintf(file,
                    "  issued   %12" PRIu64 " warp instructions, %.2f per cycle of the GPU; on %.1f SMs in the mean\n"
                    "  L1 loads %12" PRIu64 " lines hit (%.1f%%), %" PRIu64 " missed; stores %" PRIu64 " kept, %" PRIu64
                    " passed on; atomics %" PRIu64 "\n",
                    t.issued, mean(t.issued, t.cycles), mean(t.resident_cycles, t.cycles), t.l1_load_hits,
                    percent(t.l1_load_hits, t.l1_load_hits + t.l1_load_misses), t.l1_load_misses, t.l1_store_hits,
                    t.l1_store_misses, t.l1_atomics);
        if (!m->config.memory_model) continue;
        fprintf(
            file,
            "  network  %12" PRIu64 " flits of %u bytes to L2, %" PRIu64 " back\n"
            "  L2 loads %12" PRIu64 " lines hit (%.1f%%), %" PRIu64 " missed; stores %" PRIu64 " hit, %" PRIu64
            " missed; atomics %" PRIu64 " hit, %" PRIu64 " missed\n"
            "  DRAM     %12" PRIu64 " bytes read, %" PRIu64 " bytes written\n"
            "  latency, network cycles (%.0f MHz): to L2 %.0f, in L2 %.0f (reads of DRAM %.0f), back to the SM %.0f\n",
            t.flits_up, m->config.network_flit_bytes, t.flits_down, t.l2_load_hits,
            percent(t.l2_load_hits, t.l2_load_hits + t.l2_load_misses), t.l2_load_misses, t.l2_store_hits,
            t.l2_store_misses, t.l2_atomic_hits, t.l2_atomic_misses, t.dram_read_bytes, t.dram_written_bytes,
            machine_of->network_khz / 1000.0, mean(t.up_latency_cycles, t.up_requests),
            mean(t.l2_latency_cycles, t.l2_requests), mean(t.dram_latency_cycles, t.dram_requests),
            mean(t.down_latency_cycles, t.down_requests));
        if (gpump_meter_utilisation(machine_of, &t, &u, NULL) != GPUMP_OK) continue;
        fprintf(
            file,
            "  in use   schedulers %.1f%%, L1 data ports %.1f%%, L2 data ports %.1f%%, DRAM %.1f%%; of the network's "
            "sustainable %.0f%%: to L2 %.1f%%, back %.1f%%\n",
            u.scheduler_q16 / 655.36, u.l1_q16 / 655.36, u.l2_q16 / 655.36, u.dram_q16 / 655.36,
            machine_of->sustainable_permille / 10.0, u.up_q16 / 655.36, u.down_q16 / 655.36);
    }
    if (!m->config.memory_model)
        fprintf(file, "\nWhat lies behind the L1s is counted per kernel by memory model 1: --config memory_model=1\n");
}

/* ---- JSON ---- */

static json_t *number(uint64_t value) { return value == NEVER ? json_null() : json_integer((json_int_t)value); }

static json_t *traffic_json(const machine *m, uint32_t kernel) {
    gpump_traffic traffic;
    json_t *object = json_object();
    const char *name;
    uint64_t value;
    uint32_t i;
    report_traffic(m, kernel, &traffic);
    for (i = 0; gpump_statistics_field(&gpump_meter_component, &traffic, i, &name, NULL, NULL, &value) == GPUMP_OK; i++)
        json_object_set_new(object, name, number(value));
    return object;
}

static json_t *kernel_json(const run_result *result, uint32_t index) {
    const machine *m = result->machine;
    const kernel *k = &m->kernels[index];
    json_t *object = json_pack(
        "{s:s,s:s,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:i,s:i,s:i,s:o,s:o,s:o,s:o}", "name", k->program->name,
        "process", result->launch->processes[k->process].name, "priority", (int)k->priority, "arrival_cycle",
        number(k->arrival_cycle), "ready_cycle", number(report_cycle(m, k->ready_cycle)), "start_cycle",
        number(report_cycle(m, k->start_cycle)), "end_cycle", number(report_cycle(m, k->end_cycle)), "blocks",
        number(k->blocks), "warp_instructions", number(k->warp_instructions), "thread_instructions",
        number(k->thread_instructions), "wasted_warp_instructions", number(k->wasted_warp_instructions),
        "resident_cycles", number(report_cycle(m, k->resident_cycles)), "registers_per_thread", (int)k->registers,
        "registers_per_block", (int)k->need.registers, "shared_bytes_per_block", (int)k->need.shared_bytes,
        "context_bytes_at_most", number(k->context_bytes), "page_checks", number(k->counted[COUNTED_CHECK]),
        "page_calls", number(k->counted[COUNTED_CALL]), "point_instructions", number(k->counted[COUNTED_POINT]));
    if (!object) return NULL;
    json_object_set_new(object, "rounds", number(k->iteration + (k->state == KERNEL_DONE)));
    json_object_set_new(object, "traffic", traffic_json(m, index + 1));
    if (result->checks) {
        json_object_set_new(object, "result", json_string(check_name(result->checks[index].result)));
        if (result->checks[index].text[0])
            json_object_set_new(object, "difference", json_string(result->checks[index].text));
    }
    /* of a run that has not ended, too: what the buffers hold then */
    json_object_set_new(object, "checksum", json_sprintf("0x%016" PRIx64, check_sum(m, result->launch, k->launch)));
    return object;
}

static json_t *preemption_json(const machine *m, const preemption_entry *entry) {
    json_t *object =
        json_pack("{s:o,s:o,s:i,s:s,s:s,s:i,s:i,s:o,s:o}", "request_cycle", number(entry->request_cycle), "end_cycle",
                  number(entry->end_cycle), "sm", (int)entry->sm, "technique", technique_name(entry->technique),
                  "kernel", m->kernels[entry->kernel - 1].program->name, "blocks", (int)entry->blocks, "otherwise",
                  (int)entry->refused_blocks, "bytes_saved", number(entry->bytes_saved), "wasted_warp_instructions",
                  number(entry->wasted_warp_instructions));
    if (object && entry->bytes_saved)
        json_object_set_new(object, "saved_by_part",
                            json_pack("{s:o,s:o,s:o}", "register_bytes", number(entry->saved.register_bytes),
                                      "shared_bytes", number(entry->saved.shared_bytes), "state_bytes",
                                      number(entry->saved.state_bytes)));
    if (object && entry->refused_blocks)
        json_object_set_new(object, "reason", json_string(gpump_reason_text((gpump_reason)entry->refused)));
    if (object && entry->for_kernel)
        json_object_set_new(object, "for_kernel", json_string(m->kernels[entry->for_kernel - 1].program->name));
    return object;
}

static json_t *races_json(const run_result *result) {
    json_t *list = json_array();
    const race *one;
    uint32_t i;
    for (i = 0; (one = races_at(result->races, i)); i++) {
        json_t *entry;
        char place[160];
        races_place(result->races, one, place, sizeof place);
        entry = json_pack("{s:s,s:s,s:o,s:s,s:s,s:[o,o],s:[i,i]}", "kernel",
                          result->machine->kernels[one->kernel].program->name, "kind", race_text(one), "words",
                          number(one->words), "place", place, "ptx",
                          result->machine->kernels[one->kernel].program->file_name, "blocks", number(one->blocks[0]),
                          number(one->blocks[1]), "lines", (int)one->lines[0], (int)one->lines[1]);
        if (entry && one->within)
            json_object_set_new(entry, "warps", json_pack("[i,i]", (int)one->warps[0], (int)one->warps[1]));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *totals_json(const machine_totals *t) {
    return json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "cycles", number(t->cycles), "warp_instructions",
        number(t->warp_instructions), "thread_instructions", number(t->thread_instructions), "wasted_warp_instructions",
        number(t->wasted_warp_instructions), "l1_hits", number(t->l1_hits), "l1_misses", number(t->l1_misses),
        "l2_hits", number(t->l2_hits), "l2_misses", number(t->l2_misses), "requests", number(t->requests),
        "context_requests", number(t->transfer_requests), "saved_bytes", number(t->saved_bytes), "restored_bytes",
        number(t->restored_bytes), "dram_bytes", number(t->dram_bytes), "network_bytes", number(t->network_bytes));
}

static json_t *processes_json(const run_result *result) {
    const machine *m = result->machine;
    json_t *processes = json_array();
    uint32_t i;
    for (i = 0; i < result->launch->process_count; i++)
        json_array_append_new(processes,
                              json_pack("{s:s,s:o,s:o,s:o}", "name", result->launch->processes[i].name, "runs_ended",
                                        number(m->runs[i].ended), "first_end_cycle",
                                        number(report_cycle(m, m->runs[i].first_end_cycle)), "last_end_cycle",
                                        number(report_cycle(m, m->runs[i].last_end_cycle))));
    return processes;
}

int report_json(const run_result *result, FILE *file) {
    const machine *m = result->machine;
    machine_totals t;
    json_t *root = json_object(), *kernels = json_array(), *preemptions = json_array(), *config = json_object(),
           *recovery;
    minigpu_number n;
    uint32_t i;
    int failed;
    report_totals(m, &t);
    for (i = 0; i < m->kernel_count; i++) json_array_append_new(kernels, kernel_json(result, i));
    for (i = 0; i < m->preemption_count; i++)
        json_array_append_new(preemptions, preemption_json(m, &m->preemptions[i]));
    for (i = 0; minigpu_config_number(&m->config, i, &n) == 0; i++)
        json_object_set_new(config, n.name, number(n.value));
    json_object_set_new(root, "page_faults",
                        json_pack("{s:o,s:o,s:o}", "absent_pages", number(m->page_faults.absent), "served",
                                  number(m->page_faults.served), "calls", number(m->page_faults.calls)));
    if ((recovery = recovery_json(result))) json_object_set_new(root, "recovery", recovery);
    PARTS_TELL(m, report_json, (m, root));
    if (result->races) json_object_set_new(root, "races", races_json(result));
    json_object_set_new(root, "model_version", json_integer(GPUMP_MODEL_VERSION));
    json_object_set_new(root, "launch_file", json_string(result->launch->path));
    json_object_set_new(root, "gpu", json_string(m->config.preset));
    json_object_set_new(root, "sms", json_integer(m->sm_count));
    json_object_set_new(root, "clock_khz", json_integer(m->config.gpu.clock_khz));
    json_object_set_new(root, "scheduler", json_string(warp_scheduler_name(m->config.scheduler)));
    json_object_set_new(root, "functional", json_boolean(m->functional));
    json_object_set_new(root, "config", config);
    json_object_set_new(root, "processes", processes_json(result));
    json_object_set_new(root, "kernels", kernels);
    json_object_set_new(root, "preemptions", preemptions);
    json_object_set_new(root, "totals", totals_json(&t));
    json_object_set_new(root, "error", result->error ? json_string(result->error) : json_null());
    json_object_set_new(root, "seconds", json_real(result->seconds));
    json_object_set_new(root, "thread_instructions_per_second",
                        json_real(rate((double)t.thread_instructions, result->seconds)));
    failed = json_dumpf(root, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) || fputc('\n', file) == EOF;
    json_decref(root);
    return failed ? -1 : 0;
}
