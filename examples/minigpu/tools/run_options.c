/* run_options: see run_options.h. */
#include "tools/run_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "parts/corun/corun_options.h"
#include "parts/shared_log/shared_log.h"
#include "policies.h"
#include "preemption/context_forms.h"
#include "tools/report.h"

/* ==== names ==== */

static const char *name_of(const char *const *names, uint32_t count, uint32_t index) {
    return index < count ? names[index] : NULL;
}
#define NAMES(function, ...)                                                    \
    static const char *function(uint32_t index) {                               \
        static const char *const names[] = {__VA_ARGS__};                       \
        return name_of(names, (uint32_t)(sizeof names / sizeof *names), index); \
    }
NAMES(spilling_names, "all", "changed")

/* Returns the index-th name: the techniques by number, then `names`. */
static const char *name_past_techniques(const char *const *names, uint32_t count, uint32_t index) {
    uint32_t techniques = 0;
    while (gpump_technique_at(techniques)) techniques++;
    return index < techniques ? gpump_technique_at(index)->name : name_of(names, count, index - techniques);
}
static const char *technique_names(uint32_t index) { return name_past_techniques(NULL, 0, index); }
static const char *vacate_names(uint32_t index) {
    static const char *const names[] = {"select"};
    return name_past_techniques(names, 1, index);
}
static const char *leave_names(uint32_t index) {
    static const char *const names[] = {"select", "chimera", "park"};
    return name_past_techniques(names, 3, index);
}

/* ==== values ==== */

static int refuse(const option_row *row, const char *needs, const char *text) {
    fprintf(stderr, "minigpu: --%s needs %s, not \"%s\"\n", row->name, needs, text);
    return -1;
}

static int read_preempt(const option_row *row, const char *text, void *target) {
    machine_options *options = (machine_options *)target;
    char *end;
    errno = 0;
    options->preempt_cycle = strtoull(text, &end, 10);
    if (end != text && !errno && *text != '-' && !*end) return 0;
    if (end != text && !errno && *text != '-' && *end == ':')
        return option_choice("--preempt CYCLE:TECHNIQUE", end + 1, technique_names, &options->technique);
    return refuse(row, "CYCLE or CYCLE:TECHNIQUE, such as 5000:switch", text);
}

/* Appends to the earlier --config. The text lives as long as the program. */
static int read_config(const option_row *row, const char *text, void *target) {
    machine_options *options = (machine_options *)target;
    const size_t bytes = strlen(text) + (options->config ? strlen(options->config) : 0) + 2;
    char *joined = (char *)malloc(bytes);
    (void)row;
    if (!option_keep(joined)) return -1;
    snprintf(joined, bytes, "%s%s%s", options->config ? options->config : "", options->config ? "," : "", text);
    options->config = joined;
    return 0;
}

/* Reads "all", or the number of launches that execute without time. */
static int read_functional(const option_row *row, const char *text, void *target) {
    machine_options *options = (machine_options *)target;
    char *end;
    unsigned long long launches;
    errno = 0;
    launches = strtoull(text, &end, 10);
    if (!strcmp(text, "all"))
        options->functional = FUNCTIONAL_ALL;
    else if (end == text || *end || errno || *text == '-' || !launches || launches >= FUNCTIONAL_ALL)
        return refuse(row, "all or a number of launches", text);
    else
        options->functional = (uint32_t)launches;
    return 0;
}

static int read_victims(const option_row *row, const char *text, void *target) {
    machine_options *options = (machine_options *)target;
    uint32_t which;
    (void)row;
    if (option_choice("--victims", text, policies_victim_name, &which)) return -1;
    options->policy = policies_victim_at(which);
    return 0;
}

static int read_spilling(const option_row *row, const char *text, void *target) {
    machine_options *options = (machine_options *)target;
    (void)row;
    if (option_choice("--spilling", text, spilling_names, &options->spilling)) return -1;
    options->spilling = options->spilling ? SPILLING_CHANGED : SPILLING_ALL;
    return 0;
}

/* Copies the text before a colon. Returns what follows the colon, or NULL. */
static const char *before_colon(const char *text, char *copy, size_t bytes) {
    const size_t length = strcspn(text, ":");
    snprintf(copy, bytes, "%.*s", (int)length, text);
    return text[length] ? text + length + 1 : NULL;
}

static int read_regions(const option_row *row, const char *text, void *target) {
    machine_options *options = (machine_options *)target;
    char what[32];
    const char *shared = before_colon(text, what, sizeof what);
    options->shared_restart = SHARED_CUTS;
    if (launch_regions(what, &options->regions))
        return refuse(row, "sparse or a number of instructions from 2 to 4096", text);
    return shared ? option_choice("--regions WHAT:", shared, shared_restart_name, &options->shared_restart) : 0;
}

/* ==== --leave ==== */

static int read_leave(const option_row *row, const char *text, void *target) {
    const char **place = (const char **)((char *)target + row->offset);
    char first[16];
    const char *second = before_colon(text, first, sizeof first);
    uint32_t which;
    if (option_choice("--leave", first, leave_names, &which)) return -1;
    if (second && option_choice("--leave SCHEDULE:", second, corun_leave_name, &which)) return -1;
    *place = text;
    return 0;
}

static int read_vacate(const option_row *row, const char *text, void *target) {
    uint32_t which;
    *(const char **)((char *)target + row->offset) = text;
    return option_choice("--vacate", text, vacate_names, &which);
}

static int read_move(const option_row *row, const char *text, void *target) {
    uint32_t which;
    *(const char **)((char *)target + row->offset) = text;
    return option_choice("--move", text, corun_leave_name, &which);
}

/* With --victims, --leave names the technique by which the chosen blocks leave. */
static int finish_leave_of_victims(const machine_options *o, const char *technique, uint32_t *leaves_by) {
    uint32_t which = o->technique;
    if (technique && option_choice("--leave, with --victims,", technique, vacate_names, &which)) return 2;
    if (!gpump_technique_at(which)) return 0; /* any, or select: as the policy says */
    if (!(o->policy->techniques >> which & 1)) {
        fprintf(stderr,
                "minigpu: blocks that --victims %s chooses never leave by %s: take another technique or policy\n",
                o->policy->name, gpump_technique_at(which)->name);
        return 2;
    }
    *leaves_by = which;
    return 0;
}

/* Applies --leave to the first of these that exists: victims of a policy, SMs of a scheduler, blocks of a group,
 * preempted blocks. */
static int finish_leave(run_arguments *a) {
    machine_options *o = &a->machine;
    char first[16];
    const char *second = a->leave ? before_colon(a->leave, first, sizeof first) : NULL;
    if (second && (o->policy || !(o->schedule && o->sharing.policy)))
        return option_misuse("run",
                             "--leave SCHEDULE:GROUP needs --schedule and --partition, without --victims; otherwise "
                             "one technique is enough, not",
                             a->leave);
    if (o->policy) {
        if (finish_leave_of_victims(o, a->leave, &o->leaves_by)) return 2;
    } else if (o->schedule && (a->leave || o->technique != GPUMP_TECHNIQUES)) {
        if (a->leave && option_choice("--leave, with --schedule,", first, vacate_names, &o->vacate)) return 2;
        if (!a->leave) o->vacate = o->technique; /* --preempt CYCLE:TECHNIQUE */
        if (!gpump_technique_at(o->vacate)) o->vacate = GPUMP_TECHNIQUE_SELECT;
    } else if (a->leave && o->sharing.policy) {
        second = first;
    } else if (a->leave) {
        if (option_choice("--leave, without --schedule and --partition,", first, technique_names, &o->technique))
            return 2;
    }
    if (a->leave_group) second = a->leave_group;
    if (second && corun_set_leave(second, &o->sharing)) return 2;
    if (o->policy && o->sharing.policy) { /* blocks above their caps leave by it */
        o->sharing.leave = o->policy;
        o->policy = NULL;
    }
    return 0;
}

/* Returns whether something was asked for that takes time, or shows it. */
static int takes_time(const run_arguments *a) {
    run_arguments none;
    run_arguments_default(&none);
    none.machine.gpu = a->machine.gpu;
    none.machine.config = a->machine.config;
    none.machine.functional = a->machine.functional;
    none.sms = a->sms;
    none.dump = a->dump;
    none.json = a->json;
    none.csv = a->csv;
    none.races = a->races;
    return memcmp(&none, a, sizeof none) != 0;
}

int run_arguments_finish(run_arguments *a) {
    machine_options *o = &a->machine;
    if (o->functional == FUNCTIONAL_ALL && takes_time(a))
        return option_misuse("run",
                             "--functional takes no time: beside it only --gpu, --sms, --config, --json, --csv, --dump "
                             "and --races have a meaning; leave the others away",
                             NULL);
    o->faults.absent = o->absent;
    if (o->absent && strcmp(o->absent, "code") && !o->faults.scheme && !o->page_checks)
        return option_misuse("run",
                             "--absent needs --faults SCHEME or --page-checks FORM, which find absent pages; "
                             "only code is fetched without them: --absent",
                             o->absent);
    if (errors_wanted(&o->errors) && !o->regions) o->regions = 32; /* iGPU 5.1 */
    return finish_leave(a);
}

void run_arguments_default(run_arguments *a) {
    memset(a, 0, sizeof *a);
    machine_options_default(&a->machine);
    a->deadline_ns = NEVER;
}

/* ==== tables ==== */

#define GPU "The GPU"
#define PREEMPTION "Preemption"
#define OUTPUT "Output"
#define SPEED "How the simulation runs"

#define MICROSECOND UINT64_C(1000)
#define SECOND UINT64_C(1000000000)

const option_row gpu_rows[] = {
    {.name = "gpu",
     .argument = "PRESET",
     .kind = OPTION_TEXT,
     .offset = offsetof(machine_options, gpu),
     .names = gpump_gpu_preset_name,
     .group = GPU,
     .often = 1,
     .text = "The GPU, such as gtx480_shieh, k20c or v100 (default: the launch file's); minigpu --list presets "
             "prints all."},
    {.name = "config",
     .argument = "NAME=VALUE,...",
     .kind = OPTION_READ,
     .read = read_config,
     .many = 1,
     .samples = "memory_model=1|l1_cycles=30,l2_cycles=80|kernels_per_sm=2",
     .group = GPU,
     .often = 1,
     .text = "Numbers of the machine, such as memory_model=1; minigpu --list config prints all."},
    {.name = NULL}};

static const option_row run_gpu_rows[] = {
    {.name = "sms",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .offset = offsetof(run_arguments, sms),
     .low = 1,
     .high = SMS_MAX,
     .group = GPU,
     .often = 1,
     .text = "So many SMs; the memory bandwidth follows their number (default: the launch file's, or the preset's)."},
    {.name = "until",
     .argument = "US",
     .kind = OPTION_MICROSECONDS,
     .low = 1,
     .high = 1000 * SECOND,
     .offset = offsetof(run_arguments, machine) + offsetof(machine_options, until_ns),
     .group = GPU,
     .text = "Stops at US microseconds of simulated time. Kernels that have not ended then are not checked."},
    {.name = NULL}};

static const option_row preempt_rows[] = {
    {.name = "preempt",
     .argument = "CYCLE[:T]",
     .kind = OPTION_READ,
     .read = read_preempt,
     .samples = "1000|1000:switch|1000:drain|1000:flush",
     .group = PREEMPTION,
     .often = 1,
     .text = "Lets the waiting kernel of higher priority arrive at CYCLE. If the launch file has none, empties every "
             "SM. T: the technique, as --leave T."},
    {.name = "preempt-every",
     .argument = "N",
     .kind = OPTION_NUMBER64,
     .low = 1,
     .high = UINT64_C(1) << 40,
     .offset = offsetof(machine_options, preempt_every),
     .group = PREEMPTION,
     .text = "With --preempt: again after N cycles, and so on. An SM on which nothing has issued since its blocks came "
             "keeps them. Blocks that are flushed before they can end never end: after 1,000 such preemptions the run "
             "stops."},
    {.name = "victims",
     .argument = "POLICY",
     .kind = OPTION_READ,
     .read = read_victims,
     .names = policies_victim_name,
     .group = PREEMPTION,
     .often = 1,
     .text = "Chooses the blocks that make room for a kernel of higher priority, and a technique for each: %N. "
             "rewind needs --regions. With --schedule: how the blocks of an SM leave that changes hands; with "
             "--partition: those above their kernel's cap."},
    {.name = "points",
     .argument = "K",
     .kind = OPTION_NUMBER,
     .missing = "100",
     .low = 1,
     .high = 1000000,
     .offset = offsetof(machine_options, point_interval),
     .group = PREEMPTION,
     .text = "Switched blocks stop only at preemption points. The compiler puts these instructions into loops, at "
             "barriers, and once per K (100) instructions elsewhere. Without it blocks stop anywhere."},
    {.name = "choose",
     .kind = OPTION_FLAG,
     .offset = offsetof(machine_options, choose),
     .group = PREEMPTION,
     .text = "With --points: each warp stops at once or runs on to its next point, whichever is estimated to end "
             "earlier."},
    {.name = "context",
     .argument = "FORM",
     .kind = OPTION_CHOICE,
     .offset = offsetof(machine_options, context_form),
     .names = context_form_name,
     .group = PREEMPTION,
     .text = "The registers that a switch saves: naive (all; default), live (those still needed), live+compress (and "
             "compressed within a warp), tb (and compressed over the whole block)."},
    {.name = "in-place",
     .kind = OPTION_FLAG,
     .offset = offsetof(machine_options, in_place),
     .group = PREEMPTION,
     .text = "A switch leaves registers and shared memory in place that the next kernel does not need."},
    {.name = "regions",
     .argument = "R[:SHARED]",
     .kind = OPTION_READ,
     .read = read_regions,
     .samples = "sparse|32|8|sparse:saved|sparse:buffered|16:versioned",
     .group = PREEMPTION,
     .text = "The compiler forms idempotent regions (iGPU). R: sparse, or N for short ones of at most N instructions "
             "too. SHARED: regions do not end where shared memory is overwritten; a restart restores the words: "
             "saved, buffered or versioned."},
    {.name = "spilling",
     .argument = "WHAT",
     .kind = OPTION_READ,
     .read = read_spilling,
     .names = spilling_names,
     .group = PREEMPTION,
     .text = "With --regions: a sparse boundary stores the live registers whenever a warp crosses it: all (and loads "
             "them again), or changed (those that have changed). Without it a preemption stores them."},
    {.name = NULL}};

static const option_row deadline_rows[] = {
    {.name = "leave",
     .argument = "TECHNIQUE",
     .kind = OPTION_READ,
     .read = read_leave,
     .names = leave_names,
     .samples = "switch|drain|flush|rewind|select|chimera|park|switch:drain|select:park",
     .offset = offsetof(run_arguments, leave),
     .group = PREEMPTION,
     .often = 1,
     .text = "How blocks leave their SM. Preempted: switch (default), drain, flush, rewind (needs --regions). With "
             "--schedule: switch (default), drain, select (block by block). With --partition, blocks above their "
             "kernel's cap: drain (default), switch, flush, chimera (block by block, what costs least), park (switch "
             "with --in-place). With both: SCHEDULE:GROUP."},
    {.name = "deadline-us",
     .argument = "US",
     .kind = OPTION_MICROSECONDS,
     .high = SECOND,
     .offset = offsetof(run_arguments, deadline_ns),
     .group = PREEMPTION,
     .text = "With --victims: room is needed within US microseconds (default: no deadline)."},
    {.name = "late-price",
     .argument = "N",
     .kind = OPTION_NUMBER64,
     .low = 1,
     .high = 1000000,
     .offset = offsetof(run_arguments, late_price),
     .group = PREEMPTION,
     .text = "With --deadline-us and --victims joint: a cycle beyond the deadline costs N warp instructions (default: "
             "the deadline comes first)."},
    {.name = "policy", .now = "victims"},
    {.name = "limit", .now = "deadline-us"},
    {.name = "vacate",
     .argument = "TECHNIQUE",
     .kind = OPTION_READ,
     .read = read_vacate,
     .names = vacate_names,
     .offset = offsetof(run_arguments, leave),
     .now = "leave"},
    {.name = "move",
     .argument = "TECHNIQUE",
     .kind = OPTION_READ,
     .read = read_move,
     .names = corun_leave_name,
     .offset = offsetof(run_arguments, leave_group),
     .now = "leave"},
    {.name = NULL}};

static const option_row output_rows[] = {
    {.name = "html",
     .argument = "OUT.html",
     .kind = OPTION_OUTPUT,
     .offset = offsetof(run_arguments, html),
     .group = OUTPUT,
     .often = 1,
     .text = "Writes one page that shows the run; it opens from disk in any browser."},
    {.name = "trace",
     .argument = "OUT.json",
     .kind = OPTION_OUTPUT,
     .offset = offsetof(run_arguments, trace),
     .group = OUTPUT,
     .text = "Writes a Chrome trace-event file: open it at https://ui.perfetto.dev."},
    {.name = "write-trace",
     .argument = "FOLDER",
     .kind = OPTION_FOLDER,
     .offset = offsetof(run_arguments, write_trace),
     .group = OUTPUT,
     .text = "Writes the kernels as traces, which Accel-Sim and minigpu run read."},
    {.name = "write-values",
     .kind = OPTION_FLAG,
     .offset = offsetof(run_arguments, write_values),
     .group = OUTPUT,
     .text = "With --write-trace: the values that instructions write to registers, too (tracer version 6)."},
    {.name = "json",
     .kind = OPTION_FLAG,
     .offset = offsetof(run_arguments, json),
     .group = OUTPUT,
     .text = "Prints the report as JSON."},
    {.name = "csv",
     .kind = OPTION_FLAG,
     .offset = offsetof(run_arguments, csv),
     .group = OUTPUT,
     .text = "Prints the report as a table with one row per kernel."},
    {.name = "stats",
     .kind = OPTION_FLAG,
     .offset = offsetof(run_arguments, stats),
     .group = OUTPUT,
     .text = "Prints also what each kernel asked of issue slots, caches, network and DRAM."},
    {.name = "dump",
     .argument = "FOLDER",
     .kind = OPTION_FOLDER,
     .offset = offsetof(run_arguments, dump),
     .group = OUTPUT,
     .text = "Writes every buffer after the run: NAME.bin, its bytes, and NAME.txt, its first 65536 elements as "
             "text."},
    {.name = "races",
     .kind = OPTION_FLAG,
     .offset = offsetof(run_arguments, races),
     .group = OUTPUT,
     .text = "Names words whose value depends on the order of blocks, or of the warps of a block (slower). With "
             "--csv: on standard error."},
    {.name = NULL}};

static const option_row speed_rows[] = {
    {.name = "threads",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .low = 1,
     .high = THREADS_MAX,
     .offset = offsetof(machine_options, threads),
     .group = SPEED,
     .text = "SMs advance side by side on N threads, in windows of half the network's shortest way. The result is the "
             "same for every N from 1 to 64, and differs from that without --threads."},
    {.name = "functional",
     .argument = "N",
     .kind = OPTION_READ,
     .read = read_functional,
     .missing = "all",
     .samples = "all",
     .group = SPEED,
     .text = "Executes the kernels without time: no cycles, caches or preemption, the same results, several times as "
             "fast. N: the first N launches of a CUDA program; later ones take time."},
    {.name = "every-cycle",
     .kind = OPTION_CLEAR,
     .offset = offsetof(machine_options, skip_idle),
     .group = SPEED,
     .text = "Simulates idle cycles one by one instead of skipping them: slower, the same result."},
    {.name = NULL}};

#define MACHINE offsetof(run_arguments, machine)
static const option_set sets_before_parts[] = {
    {gpu_rows, MACHINE}, {run_gpu_rows, 0}, {preempt_rows, MACHINE}, {deadline_rows, 0}};
static const option_set sets_behind_parts[] = {{output_rows, 0}, {speed_rows, MACHINE}};
#define BEFORE (sizeof sets_before_parts / sizeof *sets_before_parts)
#define BEHIND (sizeof sets_behind_parts / sizeof *sets_behind_parts)
option_set run_sets[BEFORE + PARTS + BEHIND + 1];

/* ==== rules ==== */

static const option_rule run_rules[] = {
    {"preempt: leave", "partition", "--preempt CYCLE:TECHNIQUE and --leave TECHNIQUE: give the technique once"},
    {"preempt-every", "preempt", "--preempt-every N needs --preempt CYCLE, the first one"},
    {"choose", "points", "--choose needs --points: there is nothing to run on to"},
    {"spilling", "regions", "--spilling needs --regions sparse"},
    {"deadline-us", "victims", "--deadline-us needs --victims POLICY"},
    {"late-price", "deadline-us", "--late-price needs --deadline-us US"},
    {"json csv", NULL, "--json and --csv exclude each other: both are the report on standard output"},
    {"write-values", "write-trace", "--write-values needs --write-trace FOLDER"},
    {NULL, NULL, NULL}};

const option_rule *run_rule_arrays[PARTS + 2] = {run_rules};

/* The options and rules of parts join the others before main begins. */
static __attribute__((constructor)) void join_options_of_parts(void) {
    const part *one;
    uint32_t i, count = BEFORE, rules = 1;
    memcpy(run_sets, sets_before_parts, sizeof sets_before_parts);
    for (i = 0; (one = parts_at(i)); i++) {
        if (one->rules) run_rule_arrays[rules++] = one->rules;
        if (!one->options) continue;
        run_sets[count].rows = one->options;
        run_sets[count++].target = MACHINE + one->options_at;
    }
    memcpy(&run_sets[count], sets_behind_parts, sizeof sets_behind_parts);
}
