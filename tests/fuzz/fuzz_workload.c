/* link: tbsim_core */
/* A libFuzzer target for tbsim's workload files. tests/fuzz/fuzz.sh runs it; tests/fuzz/replay_workload.c replays its
 * corpus. Block times are not fitted, which would only take time: `class_end: none` is set. */
#include "fuzz/fuzz_input.h"
#include "tbsim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tb_machine machine;
    tb_options options;
    tb_library *library = NULL;
    tb_workload workload;
    fuzz_make_folder();
    if (fuzz_has_long_number(data, size, 5)) return 0;
    tb_options_default(&options);
    tb_machine_preset(&machine, "k20c");
    if (!tb_read_workload(fuzz_write("workload.yaml", data, size), TBSIM_DATA_DIR "/tanasic_table_5_2.csv", &machine, 3,
                          &library, &workload, &options))
        tb_library_free(library);
    return 0;
}
