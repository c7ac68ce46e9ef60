/* bench/duet_beyond [--short] [empty | tail | gpus]: the effect of blocks beyond an SM's room (--duet) on preemption,
 * and on newer GPUs, as CSV.
 *
 * The machines have four SMs of each GPU, with their share of its memory bandwidth, so that the launches fill them. All
 * extra blocks are there from the start.
 *
 * - empty: how long one SM takes to be emptied by a switch, in forked copies of the machine at times spread over the
 *   kernel's run, and the bytes that it saves
 * - tail: how long a kernel of high priority takes from its arrival to its end beside a batch kernel, over times of
 *   arrival; and when the batch kernel ends
 * - gpus: cycles of a kernel, and the blocks that fit an SM with and without extra ones */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpump_once.h"
#include "tools/in_copy.h"
#include "parts/duet/duet.h"
#include "machine/machine.h"
#include "output.h"
#include "preemption/requests.h"
#include "sorted.h"

enum { SMS = 4, MOMENTS = 8, FORMS = 3 };
static const char *const forms[FORMS] = {NULL, "maxwell_duet:all", "virtual_thread"};
static const char *const form_names[FORMS] = {"off", "maxwell_duet", "virtual_thread"};
static const char *const kernels[] = {"bfs_1", "btree_find_k", "dwt2d_fdwt53", "histogram", "hotspot"};
static uint32_t kernel_count = 5, moments = MOMENTS;

static machine *build(launch_file *launch, const char *path, const char *gpu, const char *duet, uint32_t technique) {
    char whole[1024], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m;
    snprintf(whole, sizeof whole, "%s/%s", MINIGPU_SOURCE_DIR, path);
    machine_options_default(&options);
    options.gpu = gpu;
    options.duet = duet;
    options.technique = technique;
    if (!launch_file_read(launch, whole, error)) {
        launch->sms = SMS;
        if ((m = machine_build(launch, &options, error)) != NULL) return m;
    }
    fprintf(stderr, "duet_beyond: %s: %s\n", path, error);
    exit(1);
}
static machine *build_kernel(launch_file *launch, const char *kernel, const char *gpu, const char *duet) {
    char path[256];
    snprintf(path, sizeof path, "kernels/%s/launch.yaml", kernel);
    return build(launch, path, gpu, duet, GPUMP_TECHNIQUES);
}
static void run_to_end(machine *m) {
    if (machine_run(m, NEVER) == 1) return;
    fprintf(stderr, "duet_beyond: %s\n", m->error);
    exit(1);
}
static void done(machine *m, launch_file *launch) {
    machine_free(m);
    launch_file_free(launch);
}

/* ---- empty ---- */

typedef struct outcome {
    double cycles, kilobytes;
    uint32_t blocks, taken;
} outcome;

static outcome empty(machine *m, uint32_t n) {
    outcome result = {0, 0, 0, 0};
    sm *s = m->sms[n % SMS];
    const uint32_t entry = m->preemption_count;
    const uint64_t before = s->statistics.saved_bytes;
    if (preemption_request(m, s, GPUMP_TECHNIQUE_SWITCH, 0, 1) != GPUMP_REASON_YES || m->preemption_count == entry)
        return result;
    while (m->preemptions[entry].end_cycle == NEVER)
        if (machine_run(m, m->now + 500) < 0) return result;
    result.cycles = (double)(m->preemptions[entry].end_cycle - m->preemptions[entry].request_cycle);
    result.kilobytes = (double)(s->statistics.saved_bytes - before) / 1024;
    result.blocks = m->preemptions[entry].blocks;
    result.taken = 1;
    return result;
}

static void empty_copy(machine *m, uint32_t n, void *result) { *(outcome *)result = empty(m, n); }

static void empty_sms(void) {
    uint32_t k, f, n;
    puts("empty,kernel,form,moments,latency_cycles,worst_cycles,kilobytes,blocks,cycles_per_block");
    for (k = 0; k < kernel_count; k++) {
        launch_file launch;
        machine *m = build_kernel(&launch, kernels[k], "maxwell_duet", NULL);
        uint64_t length;
        run_to_end(m);
        length = m->now;
        done(m, &launch);
        for (f = 0; f < FORMS; f++) {
            double cycles = 0, kilobytes = 0, worst = 0, blocks = 0;
            uint32_t taken = 0;
            m = build_kernel(&launch, kernels[k], "maxwell_duet", forms[f]);
            for (n = 0; n < moments && machine_run(m, length * (n + 1) / (moments + 3)) == 0; n++) {
                outcome one;
                if (in_copy(empty_copy, m, n, &one, sizeof one)) continue;
                taken += one.taken;
                cycles += one.cycles;
                kilobytes += one.kilobytes;
                blocks += one.blocks;
                if (one.cycles > worst) worst = one.cycles;
            }
            if (!taken || blocks <= 0) { /* the SM was idle at every time */
                printf("empty,%s,%s,0,,,,,\n", kernels[k], form_names[f]);
                done(m, &launch);
                continue;
            }
            printf("empty,%s,%s,%u,%.0f,%.0f,%.1f,%.1f,%.0f\n", kernels[k], form_names[f], taken, cycles / taken, worst,
                   kilobytes / taken, blocks / taken, cycles / blocks);
            done(m, &launch);
        }
    }
}

/* ---- tail ---- */

static void tail(void) {
    static const struct {
        const char *name;
        uint32_t technique;
    } ways[] = {{"switch", GPUMP_TECHNIQUE_SWITCH}, {"drain", GPUMP_TECHNIQUE_DRAIN}};
    const uint32_t moments = MOMENTS / 2;
    uint32_t w, f, n;
    puts("tail,technique,form,moments,median_cycles,worst_cycles,batch_cycles");
    for (w = 0; w < 2; w++) {
        for (f = 0; f < 2; f++) {
            double response[MOMENTS], batch = 0;
            for (n = 0; n < moments; n++) {
                launch_file launch;
                machine *m =
                    build(&launch, "launches/btree_synthetic.yaml", "maxwell_duet", forms[f], ways[w].technique);
                m->kernels[1].arrival_cycle = 8000 + 6000 * (uint64_t)n;
                run_to_end(m);
                response[n] = (double)(m->kernels[1].end_cycle - m->kernels[1].arrival_cycle);
                batch += (double)m->kernels[0].end_cycle / moments;
                done(m, &launch);
            }
            sorted_sort(response, moments);
            printf("tail,%s,%s,%u,%.0f,%.0f,%.0f\n", ways[w].name, form_names[f], moments, response[moments / 2],
                   response[moments - 1], batch);
        }
    }
}

/* ---- gpus ---- */

static void gpus(void) {
    static const char *const names[] = {"maxwell_duet", "p100", "v100", "a100", "h100"};
    static const char *const subjects[] = {"btree_find_k", "histogram"};
    uint32_t g, k, f;
    puts("gpus,gpu,kernel,form,cycles,blocks,extra_blocks");
    for (g = 0; g < 5; g++) {
        for (k = 0; k < 2; k++) {
            for (f = 0; f < 2; f++) {
                launch_file launch;
                machine *m = build_kernel(&launch, subjects[k], names[g], forms[f]);
                const gpump_duet_plan *plan = duet_of(m) ? &duet_of(m)->plans[0] : NULL;
                run_to_end(m);
                printf("gpus,%s,%s,%s,%lu,%u,%u\n", names[g], subjects[k], form_names[f], (unsigned long)m->now,
                       plan ? plan->native_blocks : 0, plan ? plan->extra_blocks_l1 : 0);
                done(m, &launch);
            }
        }
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*measure)(void);
    } parts[] = {{"empty", empty_sms}, {"tail", tail}, {"gpus", gpus}};
    uint32_t asked = 0, i;
    int at;
    for (at = 1; at < argc; at++) {
        for (i = 0; i < 3 && strcmp(argv[at], parts[i].name); i++) {}
        if (i < 3) {
            asked |= 1u << i;
        } else if (!strcmp(argv[at], "--short")) {
            moments = 2;
            kernel_count = 2;
        } else {
            const int helps = !strcmp(argv[at], "--help");
            fputs("usage: duet_beyond [--short] [empty | tail | gpus]...: preemption and newer GPUs beside extra "
                  "blocks, as CSV\n",
                  helps ? stdout : stderr);
            return helps ? output_status(0, "duet_beyond") : 2;
        }
    }
    for (i = 0; i < 3; i++)
        if (!asked || asked >> i & 1u) parts[i].measure();
    return output_status(0, "duet_beyond");
}
