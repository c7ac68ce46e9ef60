/* toy: the part that own_part.sh adds by the recipe of docs/extending.md: it counts the blocks that end. */
#include "machine/machine_options.h"
#include "options.h"
#include "state/state.h"

/* What --count-blocks fills. */
typedef struct toy_options {
    uint32_t counts;
} toy_options;

static const option_row options[] = {{.name = "count-blocks",
                                      .kind = OPTION_FLAG,
                                      .offset = offsetof(toy_options, counts),
                                      .group = "Output",
                                      .text = "Counts the blocks that end."},
                                     {.name = NULL}};

static uint64_t *blocks_of(const machine *m) { return (uint64_t *)m->of_part[PART_toy]; }

static int configure(machine *m, const launch_file *launch, const machine_options *o, char error[LAUNCH_ERROR_BYTES]) {
    (void)launch;
    if (!((const toy_options *)(const void *)o->of_part[PART_toy])->counts) return 0;
    if ((m->of_part[PART_toy] = arena_take(&m->arena, sizeof(uint64_t)))) return 0;
    snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for the count of blocks");
    return -1;
}

static int is_present(const machine *m) { return blocks_of(m) != NULL; }

static void block_left(machine *m, sm *s, block *b, const gpump_sm_action *action, uint32_t entry) {
    (void)s;
    (void)b;
    (void)action;
    *blocks_of(m) += entry == NONE;
}

static void report(const machine *m, FILE *file) {
    fprintf(file, "blocks that ended: %llu\n", (unsigned long long)*blocks_of(m));
}

const part toy_part = {.name = "toy",
                       .options = options,
                       .options_at = offsetof(machine_options, of_part[PART_toy]),
                       .configure = configure,
                       .is_present = is_present,
                       .block_left = block_left,
                       .report = report};
