/* labels: unit command link: tbsim_core */
#include <math.h>
#include "run_command.h"
#include "tbsim.h"

static tb_library *open_library(int class_end, int exact) {
    char error[300];
    tb_machine machine;
    tb_library *library;
    assert_int_equal(tb_machine_preset(&machine, "k20c"), 0);
    machine.exact = exact;
    library = tb_library_tanasic(&machine, TBSIM_DATA_DIR "/tanasic_table_5_2.csv", class_end, error, sizeof error);
    if (!library) fail_msg("%s", error);
    return library;
}

/* Each kernel alone takes the time of the table, and each application that of its class. */
static void kernels_alone_take_what_the_table_says(void **state) { /* T.iso */
    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        tb_library *library = open_library(1, exact);
        assert_int_equal(library->kernel_count, 24);
        for (uint32_t i = 0; i < 24; i++) {
            const tb_kernel *k = &library->kernels[i];
            double alone = tb_us(&library->machine, tb_kernel_alone(&library->machine, k));
            if (fabs(alone / k->alone_us - 1) > 0.02)
                fail_msg("%s takes %.2f us alone, not %.2f", k->name, alone, k->alone_us);
        }
        assert_int_equal(library->application_count, 10);
        for (uint32_t i = 0; i < 10; i++) { /* and applications what their class says, where their kernels allow it */
            const tb_application *a = &library->applications[i];
            double us = tb_us(&library->machine, library->alone[i]);
            if (!strcmp(a->name, "mri-q"))
                assert_true(us > 5000);
            else if (a->class2 == 0)
                assert_true(us < 5000);
            else if (a->class2 == 1)
                assert_true(us > 30000 && us < 115000);
            else
                assert_true(us > 400000);
        }
        tb_library_free(library);
    }
}

/* To save the blocks of an SM takes the time that the paper's table prints. */
static void a_context_switch_takes_the_tables_save_time(void **state) {
    static const double save_us[] = {16.20, 14.59, 10.24, 8.96, 5.76, 2.75, 3.71, 10.75};
    tb_library *library = open_library(1, 1);
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        const tb_kernel *k = &library->kernels[i];
        assert_true(fabs(tb_us(&library->machine, k->context_cycles * k->units_per_sm) - save_us[i]) <
                    0.03); /* a cycle per block */
    }
    tb_library_free(library);
}

/* The SMs are gpump's: a gpump_sm per SM is told everything and must come to the same times. */
static void every_sm_agrees_with_gpump_sm(void **state) {
    static const char *const policies[] = {"fcfs", "ppq", "equal", "time_slice"};
    tb_library *library = open_library(0, 0);
    (void)state;
    for (uint32_t p = 0; p < 4; p++)
        for (uint32_t mechanism = 0; mechanism < 3; mechanism++) {
            tb_workload workload;
            tb_options options;
            tb_result with, without;
            tb_random_workload(library, 4, 3, 5, 1, &workload);
            tb_options_default(&options);
            options.policy = gpump_scheduler_find(policies[p]);
            options.mechanism = mechanism == 2 ? GPUMP_TECHNIQUE_SELECT : mechanism + 1; /* switch, drain, select */
            options.limit_us = 30000;
            if (tb_run(library, &workload, &options, &without)) fail_msg("%s", without.error);
            options.use_sm = 1;
            if (tb_run(library, &workload, &options, &with)) fail_msg("%s", with.error);
            assert_true(with.cost_wrong == 0);
            assert_true(with.cycles == without.cycles);
            assert_memory_equal(&with.statistics, &without.statistics, sizeof with.statistics);
        }
    tb_library_free(library);
}

/* A sweep gives the same results on one and on several threads. */
static void sweeps_do_not_depend_on_threads(void **state) {
    enum { JOBS = 6 };
    tb_library *library = open_library(0, 0);
    tb_job jobs[2][JOBS];
    (void)state;
    memset(jobs, 0, sizeof jobs);
    for (uint32_t t = 0; t < 2; t++) {
        for (uint32_t i = 0; i < JOBS; i++) {
            jobs[t][i].count = 4;
            jobs[t][i].number = i;
            jobs[t][i].library = library;
            jobs[t][i].seed = 9;
            tb_options_default(&jobs[t][i].options);
            jobs[t][i].options.policy = gpump_scheduler_find("equal");
            jobs[t][i].options.limit_us = 50000;
        }
        assert_int_equal(tb_run_jobs(jobs[t], JOBS, t ? 3 : 1, 0), 0);
    }
    for (uint32_t i = 0; i < JOBS; i++)
        assert_memory_equal(&jobs[0][i].result, &jobs[1][i].result, sizeof jobs[0][i].result);
    tb_library_free(library);
}

/* In drawn workloads each benchmark is the urgent one equally often, and none stands twice in a workload. */
static void every_benchmark_is_prioritised_equally_often(void **state) {
    uint32_t first[10] = {0};
    tb_library *library = open_library(1, 0);
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        tb_workload workload;
        uint32_t seen = 0;
        tb_random_workload(library, 8, i, 1, 1, &workload);
        first[workload.processes[0].application]++;
        assert_int_equal(workload.processes[0].priority, 1);
        for (uint32_t p = 0; p < 8; p++) {
            assert_false((seen >> workload.processes[p].application) & 1u);
            seen |= 1u << workload.processes[p].application;
            if (p) assert_int_equal(workload.processes[p].priority, 0);
        }
    }
    for (uint32_t i = 0; i < 10; i++) assert_int_equal(first[i], 20);
    tb_library_free(library);
}

/* Figure 5.1: the deadline is met only when the running kernel can be preempted. */
static void figure_5_1(void **state) {
    static const char *const policies[] = {"fcfs", "npq", "ppq"};
    uint64_t turnaround[3];
    (void)state;
    for (int p = 0; p < 3; p++) {
        tb_machine machine;
        tb_library *library;
        tb_workload workload;
        tb_options options;
        tb_result result;
        assert_int_equal(tb_machine_preset(&machine, "k20c"), 0);
        tb_options_default(&options);
        assert_int_equal(tb_read_workload(GPUMP_SOURCE_DIR "/examples/tbsim/workloads/figure_5_1.yaml", "", &machine, 1,
                                          &library, &workload, &options),
                         0);
        options.policy = gpump_scheduler_find(policies[p]);
        assert_int_equal(tb_run(library, &workload, &options, &result), 0);
        turnaround[p] = result.processes[2].total_cycles;
        tb_library_free(library);
    }
    assert_true(turnaround[0] > turnaround[1] && turnaround[1] > 2 * turnaround[2]);
}

/* Three launches of each of two processes, none of which waits: under fcfs the processes take turns; by contexts the
 * first has all its kernels done before the second begins, and the GPU's work is the same. */
static void a_context_runs_all_its_commands(void **state) {
    static const char *const policies[] = {"fcfs", "fcfs_context"};
    uint64_t turnaround[2][2];
    char path[64] = "contexts.yaml";
    FILE *file = fopen(path, "w");
    (void)state;
    assert_non_null(file);
    fputs("machine: {gpu: k20c, sms: 1, variation: 0, setup_us: 0}\nkernels:\n"
          "  - {name: K, blocks: 16, block_us: 100, threads: 128, registers: 4096, shared_bytes: 0}\nprocesses:\n",
          file);
    for (int p = 0; p < 2; p++)
        fprintf(file,
                "  - {name: p%d, repeat: 1, start_us: %d, script: [{launch: K, stream: 0}, {launch: K, stream: 0}, "
                "{launch: K, stream: 0}]}\n",
                p, p);
    fclose(file);
    for (int p = 0; p < 2; p++) {
        tb_machine machine;
        tb_library *library;
        tb_workload workload;
        tb_options options;
        tb_result result;
        assert_int_equal(tb_machine_preset(&machine, "k20c"), 0);
        tb_options_default(&options);
        assert_int_equal(tb_read_workload(path, "", &machine, 1, &library, &workload, &options), 0);
        options.policy = tb_find_policy(policies[p]);
        assert_non_null(options.policy);
        assert_int_equal(tb_run(library, &workload, &options, &result), 0);
        for (int i = 0; i < 2; i++) turnaround[p][i] = result.processes[i].total_cycles / tb_cycles(&machine, 1);
        tb_library_free(library);
    }
    remove(path);
    assert_in_range(turnaround[0][0], 500, 520); /* its third kernel is the fifth of six */
    assert_in_range(turnaround[1][0], 300, 320);
    assert_in_range(turnaround[0][1], 598, 620);
    assert_in_range(turnaround[1][1], 598, 620);
}

/* The workloads of 5.3 end, however long a process of low priority has to wait in them. */
static void the_evaluation_ends(void **state) {
    tb_library *library = open_library(1, 0);
    tb_evaluation *evaluation = tb_evaluation_create(library, TB_FCFS, 5, 0, 0);
    tb_sample sample;
    (void)state;
    assert_non_null(evaluation);
    assert_int_equal(tb_turnaround_gain(evaluation, TB_PPQ_SWITCH, 8, -1, &sample), 0);
    assert_int_equal(sample.count, 5);
    tb_evaluation_free(evaluation);
    tb_library_free(library);
}

/* ---- the commands ---- */

static int command(const char *arguments, char *output, size_t bytes) {
    char line[1200];
    snprintf(line, sizeof line, "%s/examples/tbsim/tbsim %s 2>&1", GPUMP_BINARY_DIR, arguments);
    return run_command(line, output, bytes);
}

/* A wrong workload or option is refused with file, line, column and the reason. */
static void bad_input_is_named_with_line_and_column(void **state) {
    static const struct {
        const char *text, *where;
    } bad[] = {{"processes:\n  - {benchmark: nosuch}\n", "bad.yaml:2:17: no benchmark is called 'nosuch'"},
               {"processes:\n  - {benchmark: spmv, priority: high}\n", "bad.yaml:2:33: 'high' is not a number"},
               {"policy: best\nprocesses: []\n", "bad.yaml:1:9: no policy is called 'best'"},
               {"policy: dss_fault\nprocesses: []\n", "bad.yaml:1:9: policy dss_fault: blocks here access no pages"},
               {"processes: []\n", "bad.yaml:1:12: no processes"},
               {"processes: [\n", "bad.yaml:2:1: "},
               {"kernels:\n  - {name: K, blocks: 4}\nprocesses:\n  - script: [sync]\n", "bad.yaml:2:5: a kernel needs"},
               {"processes:\n  - script:\n      - launch: K\n", "bad.yaml:3:17: no kernel is called 'K'"},
               {"machine: {gpu: k20c, smss: 2}\nprocesses: []\n", "bad.yaml:1:22: a machine has no 'smss'"},
               {"kernels:\n  - {name: K, blocks: 4, block_us: 1, registers: 70000}\nprocesses:\n  - script: [sync]\n",
                "bad.yaml:2:5: a block of 'K' does not fit on an SM"},
               {"", "bad.yaml:1:1: an empty file"}};
    char output[4096];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FILE *file = fopen("bad.yaml", "w");
        assert_non_null(file);
        fputs(bad[i].text, file);
        fclose(file);
        assert_int_equal(command("run bad.yaml", output, sizeof output), 2);
        if (!strstr(output, bad[i].where)) fail_msg("expected '%s', got '%s'", bad[i].where, output);
    }
    remove("bad.yaml");
    assert_int_equal(command("run nosuch.yaml", output, sizeof output), 2);
    assert_int_equal(command("frobnicate", output, sizeof output), 2);
    assert_int_equal(command("sweep --shard 3/2", output, sizeof output), 2);
    assert_int_equal(command("sweep --data nosuch.csv", output, sizeof output), 2);
}

/* Shards of a sweep, merged in any order, are the whole sweep, and no part is overwritten. */
static void shards_merge_into_the_whole(void **state) {
    static char whole[65536], merged[65536];
    char output[4096];
    FILE *file;
    size_t length;
    (void)state;
    remove("shards_merged.csv"); /* of a run that failed */
    assert_int_equal(command("sweep --workloads 5 --processes 2 --until 20000 --quiet --out shards_whole.csv", output,
                             sizeof output),
                     0);
    assert_int_equal(
        command("sweep --workloads 5 --processes 2 --until 20000 --quiet --shard 0/2 --out shards_part0.csv", output,
                sizeof output),
        0);
    assert_int_equal(
        command("sweep --workloads 5 --processes 2 --until 20000 --quiet --shard 1/2 --out shards_part1.csv", output,
                sizeof output),
        0);
    assert_int_equal(command("merge shards_merged.csv shards_part1.csv shards_part0.csv", output, sizeof output), 0);
    /* A part is not written over. */
    assert_int_equal(command("merge shards_part1.csv shards_part0.csv", output, sizeof output), 2);
    file = fopen("shards_whole.csv", "r");
    assert_non_null(file);
    length = fread(whole, 1, sizeof whole - 1, file);
    fclose(file);
    assert_true(length > 500);
    file = fopen("shards_merged.csv", "r");
    assert_non_null(file);
    assert_true(fread(merged, 1, sizeof merged - 1, file) == length);
    fclose(file);
    assert_string_equal(whole, merged);
    remove("shards_whole.csv");
    remove("shards_merged.csv");
    remove("shards_part0.csv");
    remove("shards_part1.csv");
}

/* A trace of a run is JSON that names its processes. */
static void traces_are_written(void **state) {
    char output[8192];
    FILE *file;
    (void)state;
    assert_int_equal(command("run " GPUMP_SOURCE_DIR
                             "/examples/tbsim/workloads/figure_5_1.yaml --schedule ppq --trace t.json --csv",
                             output, sizeof output),
                     0);
    assert_non_null(strstr(output, "process,priority,runs"));
    file = fopen("t.json", "r");
    assert_non_null(file);
    assert_true(fread(output, 1, 200, file) > 100);
    assert_non_null(strstr(output, "process_name"));
    fclose(file);
    remove("t.json");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_alone_take_what_the_table_says),
        cmocka_unit_test(a_context_switch_takes_the_tables_save_time),
        cmocka_unit_test(every_sm_agrees_with_gpump_sm),
        cmocka_unit_test(sweeps_do_not_depend_on_threads),
        cmocka_unit_test(every_benchmark_is_prioritised_equally_often),
        cmocka_unit_test(figure_5_1),
        cmocka_unit_test(bad_input_is_named_with_line_and_column),
        cmocka_unit_test(shards_merge_into_the_whole),
        cmocka_unit_test(a_context_runs_all_its_commands),
        cmocka_unit_test(the_evaluation_ends),
        cmocka_unit_test(traces_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
