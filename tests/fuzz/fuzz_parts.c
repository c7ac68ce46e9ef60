/* link: minigpu_core */
/* A libFuzzer target for the tables that the mini-GPU's commands read again: the first byte of an input chooses a table
 * of `minigpu pairs`, a part of `minigpu policies`, or a table of `minigpu sweep`. tests/fuzz/fuzz.sh runs it;
 * tests/fuzz/replay_parts.c replays its corpus. */
#include "fuzz/fuzz_input.h"
#include "tools/pairs.h"
#include "tools/policies_parts.h"
#include "tools/sweep_table.h"

static void read_pairs(const char *path) {
    static pairs_experiment e;
    pairs_table table;
    FILE *file = fopen(path, "r");
    double harmonic, weighted;
    if (!file) abort();
    memset(&e, 0, sizeof e);
    memset(&table, 0, sizeof table);
    if (!pairs_read(file, "table", &e, &table)) {
        (void)pairs_compare(&table, "ccbp", "even", NULL);
        (void)pairs_mean(&table, "even", &harmonic, &weighted);
    }
    pairs_free(&table);
    fclose(file);
}

/* The experiment whose parts are read: two cases, three requests. */
static victim_experiment parts_experiment(void) {
    static victim_case cases[2];
    victim_experiment e;
    memset(&e, 0, sizeof e);
    memset(cases, 0, sizeof cases);
    cases[0].policy = cases[0].label = "drain";
    cases[1].policy = cases[1].label = "switch";
    memcpy(e.cases, cases, sizeof cases);
    e.case_count = 2;
    e.requests = 3;
    e.seed = 1;
    return e;
}

static void read_part(const char *path) {
    const victim_experiment e = parts_experiment();
    policies_parts parts;
    memset(&parts, 0, sizeof parts);
    (void)policies_parts_read(&parts, path, &e);
    policies_parts_free(&parts);
}

static void read_sweep(const char *path) {
    static sweep_table table;
    char drawn[600];
    memset(&table, 0, sizeof table);
    if (sweep_add_key(&table, "sms=1,2") || sweep_add_key(&table, "l1_cycles=20,30") || sweep_make(&table)) abort();
    snprintf(drawn, sizeof drawn, "%s/drawn", fuzz_folder);
    if (!sweep_read(&table, path)) (void)sweep_draw(&table, "cycles", drawn);
    sweep_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path;
    fuzz_make_folder();
    if (!size) return 0;
    path = fuzz_write("table", data + 1, size - 1);
    switch (data[0] % 3) {
    case 0: read_pairs(path); break;
    case 1: read_part(path); break;
    default: read_sweep(path); break;
    }
    return 0;
}
