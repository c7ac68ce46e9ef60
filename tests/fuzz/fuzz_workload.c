/* link: tbsim_core */
/* A libFuzzer target for tbsim's workload files: what is read also runs for 200 us. tests/fuzz/fuzz.sh runs it;
 * tests/fuzz/replay_workload.c replays its corpus. The benchmarks come from a table of two short kernels: fitting those
 * of Table 5.2 would take most of the time. */
#include "fuzz/fuzz_input.h"
#include "tbsim.h"

static const char table[] =
    "benchmark,dataset,kernel,launches,avg_time_us,tbs,time_per_tb_us,smem_per_tb_b,regs_per_tb,"
    "tbs_per_sm,resource_pct,save_us,class1,class2\n"
    "lbm,short,A,2,10,26,5,0,4320,15,0,0,SHORT,SHORT\n"
    "spmv,short,B,1,20,13,5,1024,8192,8,0,0,SHORT,SHORT\n";
static char benchmarks[600];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tb_machine machine;
    tb_options options;
    tb_library *library = NULL;
    tb_workload workload;
    tb_result result;
    if (!*fuzz_folder) {
        fuzz_make_folder();
        snprintf(benchmarks, sizeof benchmarks, "%s",
                 fuzz_write("table.csv", (const uint8_t *)table, sizeof table - 1));
    }
    if (fuzz_has_long_number(data, size, 5)) return 0;
    tb_options_default(&options);
    tb_machine_preset(&machine, "k20c");
    if (tb_read_workload(fuzz_write("workload.yaml", data, size), benchmarks, &machine, 1, &library, &workload,
                         &options))
        return 0;
    options.limit_us = 200;
    if (tb_run(library, &workload, &options, &result) && !*result.error) abort();
    tb_library_free(library);
    return 0;
}
