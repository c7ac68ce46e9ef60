/* link: minigpu_core */
/* A libFuzzer target for launch files: the reader, and what building a machine checks of them. tests/fuzz/fuzz.sh runs
 * it; tests/fuzz/replay_launch.c replays its corpus. */
#include "fuzz/fuzz_input.h"
#include "launch/launch_file.h"
#include "machine/machine.h"

/* Is a machine for the launch built quickly? What takes time is memory that is touched: buffers, and tables whose sizes
 * are numbers of `config`. Any other number may have any size. */
static int is_quick(const launch_file *launch) {
    uint64_t bytes = 0;
    uint32_t i;
    for (i = 0; i < launch->buffer_count; i++) bytes += launch->buffers[i].bytes + 2 * launch->buffers[i].guard_bytes;
    for (i = 0; i < launch->number_count; i++)
        if (launch->numbers[i].value > 99999) return 0;
    return bytes <= UINT64_C(1) << 24 && launch->sms <= 128;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[LAUNCH_ERROR_BYTES] = "";
    launch_file launch;
    machine_options options;
    machine *m;
    if (!*fuzz_folder) {
        fuzz_make_folder();
        fuzz_link_files(GPUMP_SOURCE_DIR "/tests/minigpu/good_run", ".ptx");
        fuzz_link_files(GPUMP_SOURCE_DIR "/tests/minigpu/bad_launch", ".ptx");
    }
    if (launch_file_read(&launch, fuzz_write("launch.yaml", data, size), error)) {
        if (!strchr(error, ':')) abort(); /* a refusal names file, line and column */
        return 0;
    }
    /* What is read is read whatever its numbers are; a machine is built of those with which that is quick. */
    if (!is_quick(&launch)) {
        launch_file_free(&launch);
        return 0;
    }
    machine_options_default(&options);
    if (!(m = machine_build(&launch, &options, error)) && !strchr(error, ':')) abort();
    if (m) machine_free(m);
    launch_file_free(&launch);
    return 0;
}
