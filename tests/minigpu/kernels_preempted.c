/* labels: equivalence unit link: minigpu_core */
/* Every kernel of examples/minigpu/kernels, preempted on all SMs at places throughout its run, by each technique, with
 * all the registers it needs and with so few that it spills: the result stays right bit for bit. (720 and 721 go
 * through five kernels cycle by cycle.) */
#include "test.h"
#include "tools/check.h"
#include "machine/machine.h"

#define KERNELS GPUMP_SOURCE_DIR "/examples/minigpu/kernels/"

static const char *const technique_names[] = {"switch", "drain", "flush"};
static const uint32_t techniques[] = {GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_DRAIN, GPUMP_TECHNIQUE_FLUSH};

typedef struct outcome {
    uint64_t cycles;
    uint32_t preemptions; /* SMs that gave up blocks */
    uint32_t refused;     /* blocks that had overwritten what they had read */
} outcome;

static outcome run(const char *name, uint32_t registers, uint32_t technique, uint64_t cycle) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    launch_kernel *k;
    kernel_check check;
    outcome result;
    machine *m;
    uint32_t i;
    snprintf(path, sizeof path, KERNELS "%s/small.yaml", name);
    if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
    k = &launch.kernels[0];
    if (registers) k->override_registers = (k->block[0] * k->block[1] * k->block[2] + 31) / 32 * 32 * registers;
    machine_options_default(&options);
    options.technique = techniques[technique];
    options.preempt_cycle = cycle;
    m = machine_build(&launch, &options, error);
    if (!m) fail_msg("%s", error);
    if (machine_run(m, NEVER) != 1 || check_results(m, &launch, &check))
        fail_msg("%s with %u registers, %s at cycle %llu: %s", name, registers, technique_names[technique],
                 (unsigned long long)cycle, m->failed || m->deadlocked ? m->error : check.text);
    result.cycles = m->now;
    result.preemptions = m->preemption_count;
    result.refused = 0;
    for (i = 0; i < m->preemption_count; i++)
        if (m->preemptions[i].refused == GPUMP_REASON_CLOBBERED) result.refused += m->preemptions[i].refused_blocks;
    machine_free(m);
    launch_file_free(&launch);
    return result;
}

/* Each kernel ends right when it is preempted by each technique, with and without a limit of registers. */
static void every_kernel_by_every_technique(void **state) {
    const reference_entry *entry;
    const uint64_t places = test_cases(2);
    uint32_t preemptions[3] = {0, 0, 0}, technique, registers;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        for (registers = 0; registers <= 16; registers += 16) {
            const uint64_t cycles = run(entry->name, registers, 0, NEVER).cycles;
            uint64_t place;
            for (technique = 0; technique < 3; technique++)
                for (place = 1; place <= places; place++)
                    preemptions[technique] +=
                        run(entry->name, registers, technique, cycles * place / (places + 1)).preemptions;
        }
    }
    for (technique = 0; technique < 3; technique++) assert_true(preemptions[technique] > 50);
}

/* What the README says of each kernel: idempotent ones may be flushed at any time, the others no more once they have
 * executed what may overwrite something they have read. Those that are idempotent in fact only, which the analysis
 * cannot see, count among the others. */
static void only_clobbering_blocks_refuse_a_flush(void **state) {
    static const char *const idempotent[] = {"pathfinder",
                                             "hotspot",
                                             "kmeans_invert_mapping",
                                             "kmeans_point",
                                             "srad_1",
                                             "streamcluster",
                                             "lbm",
                                             "stencil",
                                             "spmv",
                                             "array_walk",
                                             "pointer_chase",
                                             "dwt2d_copy",
                                             "dwt2d_fdwt53",
                                             "cfd_step_factor",
                                             "cfd_compute_flux",
                                             "cutcp",
                                             "sad_1",
                                             "sad_2",
                                             "mri_gridding",
                                             "lavamd",
                                             "convolution",
                                             "mm2",
                                             "matrix_multiply",
                                             "nn_1",
                                             "nn_2",
                                             "nn_3",
                                             "nn_4",
                                             "lps",
                                             "sto",
                                             "lib",
                                             "ray",
                                             "mum",
                                             "aes",
                                             "nqu",
                                             "dg",
                                             "add_strings",
                                             "random_graph",
                                             "demand"};
    const reference_entry *entry;
    (void)state;
    for (entry = reference_entries; entry->name; entry++) {
        const uint64_t cycles = run(entry->name, 0, 2, NEVER).cycles;
        uint32_t refused = 0, expected = 1;
        uint64_t place;
        for (place = 0; place < sizeof idempotent / sizeof idempotent[0]; place++)
            if (strcmp(entry->name, idempotent[place]) == 0) expected = 0;
        for (place = 99; place > 50 && !(expected && refused); place -= expected ? 1 : 6)
            refused += run(entry->name, 0, 2, cycles * place / 100).refused;
        if ((refused > 0) != expected) fail_msg("%s: %u blocks refused the flush", entry->name, refused);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_by_every_technique),
        cmocka_unit_test(only_clobbering_blocks_refuse_a_flush),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
