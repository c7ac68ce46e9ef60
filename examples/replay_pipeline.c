/* replay_pipeline: prints what each exception pipeline does to four instructions of a warp, cycle by cycle.
 *
 *     build/examples/replay_pipeline                  Figs 6.3, 6.4, 6.6 and 6.8 of Tanasic's thesis
 *     build/examples/replay_pipeline wd_check queue   these presets of gpump_preset only
 *     build/examples/replay_pipeline storage          what each scheme costs in SRAM, and in a saved context
 *
 * F fetch, I issue, O operand read, E execute, C commit, x taken out of the pipeline. The load's last translation check
 * is in cycle 10. Each scheme is shown twice: the page is there, and the page comes six cycles after the check. */
#include <stdio.h>
#include <string.h>
#include "output.h"
#include "toy_pipeline.h"

static const char *const instructions[TOY_FIGURE] = {"R3 <- ld [R2]", "R2 <- add R7, 8", "R8 <- mul R3, 3",
                                                     "R9 <- sub R9, 4"};
static const struct {
    const char *preset, *title;
} figures[] = {
    {"stall", "The baseline (Fig 6.3): the load waits for its page in the pipeline, and the warp cannot leave"},
    {"wd_commit", "Warp disable until commit (Fig 6.4)"},
    {"wd_check", "Warp disable until the last TLB check (6.3.1)"},
    {"queue", "Replay queue (Fig 6.6): add waits, because the load keeps R2 until its last check"},
    {"log16", "Operand log (Fig 6.8): add and sub commit before the fault and are not replayed"},
};

static int print_diagram(const char *preset, int fault) {
    static toy machine;
    toy *t = &machine;
    int right = toy_figure(t, preset, fault, 6);
    uint64_t last = 0;
    for (uint32_t i = 0; i < TOY_FIGURE; i++)
        if (t->committed[i] > last) last = t->committed[i];
    printf("  %-16s", fault ? "page absent" : "page present");
    for (uint64_t cycle = 1; cycle <= last && cycle < TOY_CYCLES; cycle++) printf("%3llu", (unsigned long long)cycle);
    printf("\n");
    for (uint32_t i = 0; i < TOY_FIGURE; i++) {
        printf("  %-16s", instructions[i]);
        for (uint64_t cycle = 1; cycle <= last && cycle < TOY_CYCLES; cycle++) printf("%3c", t->trace[i][cycle]);
        printf("\n");
    }
    if (!right) printf("  wrong values: %s\n", *t->trouble ? t->trouble : "registers differ");
    return right;
}

/* Storage by gpump_bits, as the table of docs/exceptions.md. The context is Tanasic's: 256 KB of registers and
 * 64 KB of L1 and shared memory (6.5.2). */
static int print_storage(void) {
    static const struct {
        const char *preset;
        uint32_t entries, order;
    } rows[] = {{"stall", 32, GPUMP_REPLAY_CLASS},    {"wd_commit", 32, GPUMP_REPLAY_CLASS},
                {"wd_check", 32, GPUMP_REPLAY_CLASS}, {"regions", 32, GPUMP_REPLAY_CLASS},
                {"queue", 4, GPUMP_REPLAY_CLASS},     {"queue", 8, GPUMP_REPLAY_CLASS},
                {"queue", 32, GPUMP_REPLAY_CLASS},    {"queue", 32, GPUMP_REPLAY_ADDRESS},
                {"log8", 8, GPUMP_REPLAY_CLASS},      {"log16", 8, GPUMP_REPLAY_CLASS},
                {"log16", 32, GPUMP_REPLAY_CLASS},    {"log64", 32, GPUMP_REPLAY_CLASS}};
    printf(
        "| preset | entries per warp | order | bytes per SM | of which log | of 320 KB |\n|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gpump_replay_config config;
        uint64_t bits;
        int queue;
        if (gpump_preset(&gpump_replay_component, &config, rows[i].preset, NULL)) return 0;
        config.entries = rows[i].entries;
        config.order = rows[i].order;
        queue = config.scheme == GPUMP_REPLAY_QUEUE || config.scheme == GPUMP_REPLAY_LOG;
        if (gpump_bits(&gpump_replay_component, &config, &bits, NULL)) return 0;
        printf("| `%s` | ", rows[i].preset);
        if (queue)
            printf("%u | %s", config.entries, config.order == GPUMP_REPLAY_ADDRESS ? "ADDRESS" : "CLASS");
        else
            printf("- | -");
        printf(" | %llu | %u | %.1f%% |\n", (unsigned long long)(bits + 7) / 8, config.log_bytes,
               (double)bits / 8 / (320 * 1024) * 100);
    }
    return 1;
}

int main(int argc, char **argv) {
    int right = 1, shown = 0;
    if (argc == 2 && !strcmp(argv[1], "storage"))
        return print_storage() && !output_flush(stdout, "replay_pipeline", "stdout") ? 0 : 1;
    for (uint32_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        int wanted = argc < 2;
        for (int k = 1; k < argc; k++) wanted |= !strcmp(argv[k], figures[i].preset);
        if (!wanted) continue;
        printf("%s%s\n\n", shown ? "\n" : "", figures[i].title);
        right &= print_diagram(figures[i].preset, 0);
        printf("\n");
        right &= print_diagram(figures[i].preset, 1);
        shown++;
    }
    if (!shown) {
        fprintf(stderr, "replay_pipeline: no such preset is drawn; stall, wd_commit, wd_check, queue and log16 are\n");
        return 2;
    }
    if (output_flush(stdout, "replay_pipeline", "stdout")) return 1;
    return right ? 0 : 1;
}
