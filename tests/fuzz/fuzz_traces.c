/* link: minigpu_core */
/* A libFuzzer target for traces: the reader of one kernel, all blocks, the registers that are live in each, and the
 * regions. What the reader takes runs on a machine, preempted, with right tags. tests/fuzz/fuzz.sh runs it;
 * tests/fuzz/replay_traces.c replays the project's traces, whole and damaged. */
#include "fuzz/fuzz_input.h"
#include "machine/machine.h"
#include "preemption/context_forms.h"
#include "preemption/preemption.h"
#include "sass/trace_reader.h"
#include "sass/trace_regions.h"

#define RUN_CYCLES 20000u
#define RUN_BLOCKS 16u

/* Runs a trace, and preempts every SM at every 500th cycle. It may wait for a barrier for ever, and end by its limit.
 */
static void run(const char *path, uint32_t regions) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    machine *m;
    uint32_t i;
    int ended = 0;
    if (launch_file_read(&launch, path, error)) abort();
    machine_options_default(&options);
    options.context_form = CONTEXT_LIVE;
    options.regions = regions;
    launch.sms = 1;
    if ((m = machine_build(&launch, &options, error))) {
        while (!ended && m->now < RUN_CYCLES && (ended = machine_run(m, m->now + 500)) == 0)
            for (i = 0; i < m->sm_count; i++)
                if (m->sms[i]->resident && !m->sms[i]->stopping)
                    preemption_request(m, m->sms[i], regions ? GPUMP_TECHNIQUE_REWIND : GPUMP_TECHNIQUE_SWITCH, 0, 0);
        if (ended < 0 && (strstr(m->error, "GPUMP_ERROR") || strstr(m->error, "that it reads"))) {
            fprintf(stderr, "%s\n", m->error);
            abort();
        }
        machine_free(m);
    }
    launch_file_free(&launch);
}

/* Reads all blocks. Returns how many there are, or 0 with the reason in error. */
static uint64_t read_blocks(trace_kernel *k, char error[TRACE_ERROR_BYTES]) {
    const uint64_t blocks = (uint64_t)k->grid[0] * k->grid[1] * k->grid[2];
    uint64_t n, live[4];
    uint32_t w;
    for (n = 0; n < blocks; n++) {
        trace_block *b = trace_kernel_block(k, n, error);
        if (!b) return 0;
        for (w = 0; w < TRACE_WARPS; w++)
            if (b->warps[w].shared) trace_live(&k->program, b->warps[w].shared->steps, 0, b->warps[w].count, live);
        trace_kernel_drop(k, b);
    }
    return blocks;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint32_t regions = size % 2 ? TRACE_REGIONS_SPARSE : 0;
    char error[TRACE_ERROR_BYTES] = "";
    trace_map *map = (trace_map *)calloc(1, sizeof *map);
    uint64_t blocks = 0;
    const char *path;
    trace_kernel k;
    if (!map) abort();
    map->base = TRACE_REGION_BYTES;
    fuzz_make_folder();
    path = fuzz_write("kernel-1.traceg", data, size);
    if (!trace_kernel_open(&k, path, 1, map, error)) {
        k.regions = regions;
        blocks = read_blocks(&k, error);
        trace_kernel_release(&k);
        if (blocks && trace_kernel_decode(&k, error)) abort(); /* what was read once is read again */
    }
    if (!blocks && !strchr(error, ':')) abort(); /* a refusal names the file */
    trace_kernel_close(&k);
    free(map);
    if (blocks && blocks <= RUN_BLOCKS) run(path, regions);
    return 0;
}
