/* link: minigpu_core */
/* A libFuzzer target for traces: the reader of one kernel, all blocks, and the registers that are live in each.
 * tests/fuzz/fuzz.sh runs it; tests/fuzz/replay_traces.c replays the project's traces, whole and damaged. */
#include "fuzz/fuzz_input.h"
#include "sass/trace_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[TRACE_ERROR_BYTES] = "";
    trace_map *map = (trace_map *)calloc(1, sizeof *map);
    trace_kernel k;
    if (!map) abort();
    map->base = TRACE_REGION_BYTES;
    fuzz_make_folder();
    if (!trace_kernel_open(&k, fuzz_write("kernel-1.traceg", data, size), 1, map, error)) {
        const uint64_t blocks = (uint64_t)k.grid[0] * k.grid[1] * k.grid[2];
        uint64_t n, live[4];
        uint32_t w;
        for (n = 0; n < blocks; n++) {
            trace_block *b = trace_kernel_block(&k, n, error);
            if (!b) break;
            for (w = 0; w < TRACE_WARPS; w++)
                trace_live(&k.program, b->steps + b->warps[w].first, 0, b->warps[w].count, live);
            trace_block_free(b);
        }
        if (n < blocks && !strchr(error, ':')) abort(); /* a refusal names the file */
    } else if (!strchr(error, ':')) {
        abort();
    }
    trace_kernel_close(&k);
    free(map);
    return 0;
}
