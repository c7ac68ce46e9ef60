#define _GNU_SOURCE
#include "tools/victim_experiment.h"

#include "parts/trace/trace.h"
#include "tools/html_page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/machine.h"
#include "policies.h"
#include "preemption/preemption.h"
#include "parts/victims/victims.h"

#define LAUNCHES_MAX 24

/* Table 4.2: registers and shared memory per block; 0: what the kernel needs. Two of the kernels here need more shared
 * memory than the table has. launches: the launches of the application, launch_1.yaml and so on; 0: measure.yaml or
 * launch.yaml. */
static const struct {
    const char *folder;
    uint32_t registers, shared_bytes, launches;
} table[VICTIM_EXPERIMENT_KERNELS] = {
    {"pathfinder", 4096, 2048, 0},
    {"hotspot", 9216, 3072, 0},
    {"streamcluster", 6144, 0, 0},
    {"dwt2d_copy", 3584, 3096, 0},
    {"dwt2d_fdwt53", 3072, 4900, 3},
    {"kmeans_invert_mapping", 3072, 3072, 0},
    {"kmeans_point", 3072, 3072, 0},
    {"stencil", 3584, 0, 0},
    {"srad_1", 5120, 6144, 0},
    {"srad_2", 5120, 5120, 0},
    {"btree_find_range_k", 5120, 0, 0},
    {"btree_find_k", 4096, 0, 0},
    {"nw_1", 1536, 2180, 24},
    {"nw_2", 1536, 2180, 24},
    {"bfs_1", 8192, 0, 10},
    {"bfs_2", 6144, 0, 10},
    {"backprop_layer_forward", 3072, 1088, 0},
    {"backprop_adjust_weights", 6144, 0, 0},
    {"heartwall", 8192, 11908, 0},
};

const char *victim_experiment_kernel(uint32_t index) {
    return index < VICTIM_EXPERIMENT_KERNELS ? table[index].folder : NULL;
}

static int read_launch(launch_file *launch, const char *dir, const char *folder, const char *name,
                       char error[LAUNCH_ERROR_BYTES]) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/%s", dir, folder, name);
    if (access(path, R_OK) != 0) snprintf(path, sizeof path, "%s/%s/launch.yaml", dir, folder);
    return launch_file_read(launch, path, error);
}

int victim_experiment_append(launch_file *first, launch_file *second) {
    launch_kernel *kernels =
        (launch_kernel *)realloc(first->kernels, (first->kernel_count + second->kernel_count) * sizeof *kernels);
    launch_buffer *buffers;
    launch_process *processes;
    uint32_t i, a;
    if (!kernels) return -1;
    first->kernels = kernels;
    buffers = (launch_buffer *)realloc(first->buffers, (first->buffer_count + second->buffer_count) * sizeof *buffers);
    if (!buffers) return -1;
    first->buffers = buffers;
    processes =
        (launch_process *)realloc(first->processes, (first->process_count + second->process_count) * sizeof *processes);
    if (!processes) return -1;
    first->processes = processes;
    for (i = 0; i < second->kernel_count; i++) {
        launch_kernel *k = &first->kernels[first->kernel_count + i];
        *k = second->kernels[i];
        k->process += first->process_count;
        k->priority = 1;
        k->arrival_cycle = NEVER;
        for (a = 0; a < k->argument_count; a++)
            if (k->arguments[a].is_buffer) k->arguments[a].buffer += first->buffer_count;
        for (a = 0; a < k->texture_reference_count; a++) k->texture_references[a].texture.buffer += first->buffer_count;
    }
    for (i = 0; i < second->buffer_count; i++) {
        first->buffers[first->buffer_count + i] = second->buffers[i];
        first->buffers[first->buffer_count + i].process += first->process_count;
    }
    for (i = 0; i < second->process_count; i++) {
        first->processes[first->process_count + i] = second->processes[i];
        first->processes[first->process_count + i].priority = 1;
    }
    first->kernel_count += second->kernel_count;
    first->buffer_count += second->buffer_count;
    first->process_count += second->process_count;
    free(second->kernels);
    free(second->buffers);
    free(second->processes);
    second->kernels = NULL;
    second->buffers = NULL;
    second->processes = NULL;
    second->kernel_count = second->buffer_count = second->process_count = 0;
    launch_file_free(second);
    return 0;
}

/* Builds the machine before its first cycle. The kernel of Table 4.2 runs its number-th launch (0: it has one), and the
 * synthetic kernel waits. alone: only the synthetic kernel, from cycle 0. */
static machine *build(const victim_experiment *e, uint32_t number, int alone, launch_file *launch,
                      char error[LAUNCH_ERROR_BYTES]) {
    launch_file synthetic;
    machine_options options;
    char name[32] = "measure.yaml";
    uint32_t c;
    if (number) snprintf(name, sizeof name, "launch_%u.yaml", number);
    if (read_launch(alone ? launch : &synthetic, e->kernels_dir, "synthetic", "launch.yaml", error)) return NULL;
    if (!alone) {
        if (read_launch(launch, e->kernels_dir, table[e->kernel].folder, name, error)) {
            launch_file_free(&synthetic);
            return NULL;
        }
        launch->kernels[0].override_registers = table[e->kernel].registers;
        launch->kernels[0].override_shared_bytes = table[e->kernel].shared_bytes;
        launch->kernels[0].priority = 0;
        if (launch->kernel_count != 1 || launch->pointer_count || launch->loop_count ||
            victim_experiment_append(launch, &synthetic)) {
            snprintf(error, LAUNCH_ERROR_BYTES, "%s: not a single kernel without pointers and loops, or out of memory",
                     launch->path);
            launch_file_free(launch);
            return NULL;
        }
    }
    machine_options_default(&options);
    options.gpu = e->gpu ? e->gpu : "gtx480_shieh";
    options.config = e->config;
    for (c = 0; c < e->case_count && !alone; c++)
        if (e->cases[c].context_form)
            options.context_form = e->cases[c].context_form; /* makes the machine run the analyses */
    options.regions = e->regions;
    options.in_place = e->in_place;
    options.policy = gpump_victim_find("dual"); /* keeps the records of policies; copies set their own */
    {
        machine *m = machine_build(launch, &options, error);
        if (!m) launch_file_free(launch);
        return m;
    }
}

/* ---- one copy: the synthetic kernel arrives now ---- */

/* Returns 1 when no measured value can change any more: the deadline has passed, every victim has left, and every block
 * of the synthetic kernel has begun. */
static int is_settled(const machine *m, const victim_request *r, uint64_t deadline) {
    uint32_t i;
    if (m->now <= deadline || r->request.since == NEVER || r->account_end == NEVER) return 0;
    for (i = 0; i < r->count; i++)
        if (r->entries[i].end_cycle == NEVER) return 0;
    return 1;
}

static void try_case(machine *m, const victim_case *one, uint64_t policy_limit, uint64_t own_cycles,
                     victim_outcome *out) {
    kernel *k = &m->kernels[1];
    victim_request *r = &victims_of(m)->requests[1];
    uint64_t since = m->now, wait;
    uint32_t i, j;
    memset(out, 0, sizeof *out);
    m->policy = policies_find_victim(one->policy);
    m->limit_cycles = policy_limit;
    m->late_price = one->late_price;
    m->config.switch_stalls = one->switch_stalls;
    m->context_form = one->context_form;
    k->arrival_cycle = m->now;
    out->request_cycle = since;
    out->warm = m->kernels[0].done_blocks >= m->sm_count;
    while (k->state != KERNEL_DONE && !m->failed && !is_settled(m, r, since + one->limit_cycles + own_cycles))
        if (machine_run(m, m->now + 1000) != 0) break;
    if (m->failed || !m->policy) {
        out->failed = 1;
        if (m->failed) fprintf(stderr, "%s, request at %llu: %s\n", one->policy, (unsigned long long)since, m->error);
        return;
    }
    out->end_cycles = (k->state == KERNEL_DONE ? k->end_cycle : m->now) - since;
    out->violated = out->end_cycles > one->limit_cycles + own_cycles;
    if (r->request.since == NEVER) return; /* the SMs were idle, so no victim was needed */
    out->start_cycles = wait = r->started ? r->last_start_cycle - since : out->end_cycles;
    out->late_estimate = r->decision.late;
    out->missing = r->decision.missing;
    out->reconsidered = r->reconsidered;
    for (i = 0; i < r->count; i++) {
        const victim_entry *entry = &r->entries[i];
        uint64_t last = 0;
        out->wasted += entry->wasted;
        out->flush_waste += entry->executed_at_request;
        out->by[entry->technique]++;
        if (entry->technique == entry->first_technique && entry->estimate_cycles != NEVER &&
            entry->end_cycle != NEVER) {
            uint64_t truth = entry->end_cycle - since;
            out->error_cycles[entry->technique] +=
                entry->estimate_cycles > truth ? entry->estimate_cycles - truth : truth - entry->estimate_cycles;
            out->true_cycles[entry->technique] += truth;
            out->error_blocks[entry->technique]++;
        }
        if (!(m->policy->flags & GPUMP_VICTIM_WHOLE_SM) || !entry->cycles) continue;
        for (j = 0; j < r->count; j++)
            if (r->entries[j].sm == entry->sm && r->entries[j].end_cycle != NEVER && r->entries[j].end_cycle > last)
                last = r->entries[j].end_cycle;
        if (entry->end_cycle < last && entry->technique == GPUMP_TECHNIQUE_DRAIN)
            out->idle += gpump_muldiv_up(last - entry->end_cycle, entry->executed, entry->cycles);
    }
    out->in_use = -1;
    if (wait) {
        double sm_cycles = (double)wait * m->sm_count;
        out->in_use = ((double)r->register_cycles / m->config.gpu.registers +
                       (double)r->thread_cycles / m->config.gpu.thread_slots +
                       (double)r->shared_cycles / m->config.gpu.shared_bytes[m->config.gpu.shared_option_count - 1]) /
                      (3 * sm_cycles);
    }
    for (i = 0; i < m->sm_count; i++) out->bytes_saved += m->sms[i]->statistics.saved_bytes;
}

/* ---- another copy: no kernel arrives, no new block starts, every block runs to its end ---- */

static void find_truth(machine *m, uint64_t *ends, victim_drain_error *error) {
    gpump_block_view blocks[BLOCK_ENTRIES_MAX];
    gpump_cost_estimate estimates[2][BLOCK_ENTRIES_MAX];
    struct {
        uint64_t linear, estimate[2];
    } asked[1024];
    uint64_t since = m->now;
    uint32_t i, n, source, count, total = 0;
    memset(error, 0, sizeof *error);
    for (i = 0; i < m->sm_count; i++) {
        sm *s = m->sms[i];
        count = BLOCK_ENTRIES_MAX;
        if (gpump_sm_blocks(s->gpump, m->now, blocks, BLOCK_ENTRIES_MAX, &count) != GPUMP_OK) return;
        for (source = 0; source < 2; source++) {
            gpump_cost_options options = {GPUMP_COST_CPI_RUNNING, 0, 0};
            if (source) options.cpi = GPUMP_COST_CPI_SMALLER_DEVIATION;
            if (gpump_cost_estimate_blocks(&m->port, m->histories, m->kernel_count + 1, blocks, count, NULL, &options,
                                           estimates[source], NULL) != GPUMP_OK)
                return;
        }
        for (n = 0; n < count && total < 1024; n++) {
            asked[total].linear = m->blocks[s->block_of_entry[blocks[n].block.slot]].linear;
            asked[total].estimate[0] = estimates[0][n].latency[GPUMP_TECHNIQUE_DRAIN];
            asked[total++].estimate[1] = estimates[1][n].latency[GPUMP_TECHNIQUE_DRAIN];
        }
        if (preemption_carry_out(m, s, NULL, 0, 2) != GPUMP_REASON_YES) return; /* reserved: no new blocks */
        s->whole = 1;
    }
    m->kernels[1].arrival_cycle = m->now; /* the kernel has arrived, and waits until all blocks have left */
    m->policy = NULL;
    m->technique = GPUMP_TECHNIQUE_DRAIN;
    m->ends = ends;
    while (m->kernels[0].resident && !m->failed)
        if (machine_run(m, m->now + 1000) != 0) break;
    for (i = 0; i < total; i++) {
        uint64_t end = ends[asked[i].linear], truth;
        if (end == NEVER || end <= since || asked[i].estimate[0] == NEVER || asked[i].estimate[1] == NEVER) continue;
        truth = end - since;
        for (source = 0; source < 2; source++) {
            uint64_t estimate = asked[i].estimate[source];
            error->cycles[source] += (double)(estimate > truth ? estimate - truth : truth - estimate);
            error->relative[source] += (double)(estimate > truth ? estimate - truth : truth - estimate) / (double)truth;
        }
        error->truth += (double)truth;
        error->blocks++;
    }
}

static json_t *case_facts(const machine *m, const victim_case *one, const victim_outcome *out) {
    const double us = 1000.0 / (double)m->config.gpu.clock_khz;
    return json_pack("[[s,o],[s,s],[s,I],[s,I],[s,o]]", "last block began after",
                     json_sprintf("%.2f \u00b5s", (double)out->start_cycles * us), "limit",
                     out->start_cycles > one->limit_cycles ? "missed" : "met", "wasted, warp instructions",
                     (json_int_t)out->wasted, "bytes saved", (json_int_t)out->bytes_saved, "flushed, switched, drained",
                     json_sprintf("%u, %u, %u", out->by[0], out->by[1], out->by[2]));
}

/* Tries a case, with an observer unless file is NULL, and replaces the file's contents by the observations. tries: how
 * often the same case was tried before. */
static void show_case(machine *m, const victim_case *one, uint64_t policy_limit, uint64_t own_cycles,
                      victim_outcome *out, FILE *file, uint32_t tries) {
    timeline *t;
    if (!file || trace_open(m, NULL)) {
        try_case(m, one, policy_limit, own_cycles, out);
        return;
    }
    try_case(m, one, policy_limit, own_cycles, out);
    t = trace_close(m);
    if (!tries || !out->violated) { /* of an oracle's tries, only the last counts */
        rewind(file);
        if (ftruncate(fileno(file), 0) || page_write_run(file, one->label, t, case_facts(m, one, out)) || fflush(file))
            out->failed = 1;
    }
    timeline_free(t);
}

/* ---- the oracle, which decides with the outcomes of its decisions ---- */

#define ORACLE_TRIES 10

static void *share(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Copies the process. The copy ends when this process ends, in whatever way. */
static pid_t fork_child(void) {
    const pid_t parent = getpid(), child = fork();
    if (child) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* the parent has ended already */
    return 0;
}

/* Waits for a child. Returns 0, or -1 when the child has crashed. */
static int wait_for(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* Tries an oracle. The time that a block needs to drain depends on the other decisions: beside blocks of the arriving
 * kernel it drains more slowly than where every block drains and no kernel arrives. An oracle whose request is late
 * therefore decides again, in another copy of the machine, with the drain times that it has just measured. If the
 * request is still late, the oracle shortens its limit: by the lateness, or to less than the longest drain. Returns 0,
 * or -1 when a copy failed. */
static int try_oracle(machine *m, const victim_case *one, uint64_t own_cycles, uint64_t blocks, victim_outcome *out,
                      FILE *file) {
    const uint64_t table_bytes = blocks * sizeof(uint64_t);
    uint64_t *known = (uint64_t *)malloc(table_bytes), *seen = (uint64_t *)share(table_bytes),
             limit = one->limit_cycles;
    victim_outcome *outcome = (victim_outcome *)share(sizeof *outcome);
    uint32_t n, i;
    if (!known || !seen || !outcome) return -1;
    memcpy(known, victims_of(m)->true_ends, table_bytes);
    victims_of(m)->true_ends = known;
    for (n = 0; n < ORACLE_TRIES; n++) {
        pid_t child = fork_child();
        uint64_t late;
        if (child < 0) return -1;
        if (!child) {
            const victim_request *r = &victims_of(m)->requests[1];
            memcpy(seen, known, table_bytes);
            show_case(m, one, limit, own_cycles, outcome, file, n);
            for (i = 0; i < r->count; i++)
                if (r->entries[i].technique == GPUMP_TECHNIQUE_DRAIN && r->entries[i].kernel == 0)
                    seen[r->entries[i].linear] = r->entries[i].end_cycle;
            _exit(0);
        }
        if (wait_for(child)) return -1;
        if (n == 0 || !outcome->violated) *out = *outcome;
        if (one->decides_once || !outcome->violated || outcome->failed || !limit || !outcome->by[GPUMP_TECHNIQUE_DRAIN])
            return 0;
        memcpy(known, seen, table_bytes);
        if (!n) continue;
        late = outcome->end_cycles - one->limit_cycles - own_cycles;
        limit -= late < limit ? late : limit;
        if (limit && limit >= outcome->start_cycles) limit = outcome->start_cycles ? outcome->start_cycles - 1 : 0;
    }
    return 0;
}

/* ---- the experiment ---- */

/* Waits until fewer than `most` children run. Returns 0, or -1 when one of them has crashed. */
static int wait_below(uint32_t *running, uint32_t most) {
    while (*running >= most && *running > 0) {
        int status;
        if (waitpid(-1, &status, 0) < 0) {
            if (errno == EINTR) continue;
            return -1;
        }
        (*running)--;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return -1;
    }
    return 0;
}

static int compare_cycles(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Memory that the copies share. */
typedef struct experiment_run {
    uint64_t own_cycles, *times, *ends, blocks;
    victim_outcome *outcomes;
    victim_drain_error *errors;
} experiment_run;

/* Runs a kernel alone to its end; number ALONE: the synthetic kernel. Returns its cycles, or 0 with the reason in
 * error. */
#define ALONE UINT32_MAX
static uint64_t run_alone(const victim_experiment *e, uint32_t number, uint64_t *blocks,
                          char error[LAUNCH_ERROR_BYTES]) {
    launch_file launch;
    machine *m = build(e, number == ALONE ? 0 : number, number == ALONE, &launch, error);
    uint64_t cycles = 0;
    if (!m) return 0;
    while (m->kernels[0].state != KERNEL_DONE && !m->failed)
        if (machine_run(m, m->now + 1000) != 0) break;
    if (m->kernels[0].end_cycle == NEVER)
        snprintf(error, LAUNCH_ERROR_BYTES, "%s alone: %.400s",
                 number == ALONE ? "the synthetic kernel" : table[e->kernel].folder, m->error);
    else
        cycles = m->kernels[0].end_cycle - (number == ALONE ? m->kernels[0].ready_cycle : 0);
    if (m->kernels[0].blocks > *blocks) *blocks = m->kernels[0].blocks;
    machine_free(m);
    launch_file_free(&launch);
    return cycles;
}

/* Makes one request, `now` in this machine: a copy for the truth, then one for each case. Returns 0, or -1. */
static int try_request(const victim_experiment *e, const experiment_run *run, machine *m, uint32_t request,
                       uint32_t *running) {
    pid_t child;
    uint32_t c;
    if (wait_below(running, 1)) return -1; /* the last request's copies still read the table */
    memset(run->ends, 0xff, run->blocks * sizeof *run->ends);
    fflush(NULL);
    if ((child = fork_child()) == 0) {
        find_truth(m, run->ends, &run->errors[request]);
        _exit(0);
    }
    if (child < 0) return -1;
    (*running)++;
    if (wait_below(running, 1)) return -1;
    victims_of(m)->true_ends = run->ends;
    for (c = 0; c < e->case_count; c++) {
        if (wait_below(running, e->parallel ? e->parallel : 1)) return -1;
        if ((child = fork_child()) == 0) {
            victim_outcome *out = &run->outcomes[(size_t)request * e->case_count + c];
            const gpump_victim_policy *policy = policies_find_victim(e->cases[c].policy);
            FILE *file = e->show && e->show->request == request ? e->show->runs[c] : NULL;
            if (policy && (policy->flags & GPUMP_VICTIM_TRUE_COSTS))
                _exit(try_oracle(m, &e->cases[c], run->own_cycles, run->blocks, out, file) != 0);
            show_case(m, &e->cases[c], e->cases[c].limit_cycles, run->own_cycles, out, file, 0);
            _exit(0);
        }
        if (child < 0) return -1;
        (*running)++;
    }
    return 0;
}

/* Makes the requests from `first` on that fall into this launch. The launch takes `length` cycles and begins at
 * `begin`, counted over all launches. Returns the first request of a later launch, or UINT32_MAX with the reason in
 * error. */
static uint32_t run_launch(const victim_experiment *e, const experiment_run *run, uint32_t number, uint32_t first,
                           uint64_t begin, uint64_t length, char error[LAUNCH_ERROR_BYTES]) {
    launch_file launch;
    machine *m;
    uint32_t i = first, running = 0;
    int failed = 0;
    if (first == e->requests || run->times[first] - begin >= length) return first;
    if (!(m = build(e, number, 0, &launch, error))) return UINT32_MAX;
    snprintf(error, LAUNCH_ERROR_BYTES, "out of memory, or a copy of the machine failed");
    if (e->show && !e->show->about) e->show->about = html_page_about(m, NULL, "", "");
    for (; !failed && i < e->requests && run->times[i] - begin < length; i++) {
        if (e->progress)
            progress_show(e->progress, (double)(e->earlier_requests + i) / (e->all_requests ? e->all_requests : 1),
                          table[e->kernel].folder);
        if (machine_run(m, run->times[i] - begin) != 0) {
            snprintf(error, LAUNCH_ERROR_BYTES, "%s: %.400s", table[e->kernel].folder, m->error);
            failed = 1;
        } else
            failed = try_request(e, run, m, i, &running);
    }
    while (running)
        if (wait_below(&running, 1)) failed = 1;
    machine_free(m);
    launch_file_free(&launch);
    return failed ? UINT32_MAX : i;
}

int victim_experiment_run(const victim_experiment *e, victim_outcome *outcomes, victim_drain_error *errors,
                          uint64_t *own_cycles, char error[LAUNCH_ERROR_BYTES]) {
    const uint32_t several = table[e->kernel].launches, launches = several ? several : 1;
    const size_t outcome_bytes = (size_t)e->requests * e->case_count * sizeof *outcomes,
                 error_bytes = e->requests * sizeof *errors;
    uint64_t lengths[LAUNCHES_MAX], total = 0, begin = 0, unused = 0, random = e->seed * UINT64_C(1000003) + e->kernel;
    uint32_t i, next = 0;
    experiment_run run;
    memset(&run, 0, sizeof run);
    if (!(*own_cycles = run.own_cycles = run_alone(e, ALONE, &unused, error))) return -1;
    for (i = 0; i < launches; i++) {
        if (!(lengths[i] = run_alone(e, several ? i + 1 : 0, &run.blocks, error))) return -1;
        total += lengths[i];
    }
    run.times = (uint64_t *)malloc(e->requests * sizeof *run.times);
    run.outcomes = (victim_outcome *)share(outcome_bytes);
    run.errors = (victim_drain_error *)share(error_bytes);
    run.ends = (uint64_t *)share(run.blocks * sizeof *run.ends);
    if (!run.times || !run.outcomes || !run.errors || !run.ends) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory");
        next = UINT32_MAX;
    } else {
        for (i = 0; i < e->requests; i++) run.times[i] = gpump_random_next(&random) % total;
        qsort(run.times, e->requests, sizeof *run.times, compare_cycles);
    }
    for (i = 0; i < launches && next != UINT32_MAX; begin += lengths[i++])
        next = run_launch(e, &run, several ? i + 1 : 0, next, begin, lengths[i], error);
    if (next != UINT32_MAX) {
        memcpy(outcomes, run.outcomes, outcome_bytes);
        memcpy(errors, run.errors, error_bytes);
    }
    if (run.outcomes) munmap(run.outcomes, outcome_bytes);
    if (run.errors) munmap(run.errors, error_bytes);
    if (run.ends) munmap(run.ends, run.blocks * sizeof *run.ends);
    free(run.times);
    return next == UINT32_MAX ? -1 : 0;
}
