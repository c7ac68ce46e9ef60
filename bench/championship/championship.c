/* bench/championship [--policy NAME|FILE.so]... [--csv FILE] [--svg FILE] [--weight W] [--check] [CORPUS...]: scores
 * victim policies on recorded requests (docs/championship.md). score.c reads the scenes and prices a decision; search.h
 * finds the decisions that know the truth; play.h asks the policies; table.h prints. This file is the command.
 *
 * Beside the built-in policies and those of -DGPUMP_POLICY there are `random`, and with --bounds the searches, such as
 * `best`, which know the truth. FILE.so is a policy of your own: one C file that defines championship_policy
 * and championship_layout (docs/championship.md). */
#define CHAMPIONSHIP_IS_LINKED
#include "score.c"

#include <dlfcn.h>

#include "dice_policy.h"
#include "output.h"
#include "policies.h"

#include "search.h"
#include "play.h"
#include "table.h"

/* Adds how far the composed times of an SM's blocks are from its random set, which was carried out. sums: by technique,
 * the error, the time, the blocks. */
static void check_sm(const moment *m, uint32_t s, double *sums) {
    uint32_t n[KERNELS + 1] = {0}, order[GPUMP_VICTIM_BLOCKS], count = 0, k;
    leaving l;
    for (uint32_t b = m->first[s]; b < m->first[s] + m->count[s]; b++) {
        const truth *t = &m->truths[b];
        n[m->views[b].kernel] += t->set_technique == GPUMP_TECHNIQUE_DRAIN || t->set_technique == GPUMP_UNKNOWN;
        if (t->set_technique >= TRUTHS) continue;
        for (k = count++; k > 0 && m->truths[order[k - 1]].set_order > t->set_order; k--) order[k] = order[k - 1];
        order[k] = b;
    }
    l = begin_leaving(m, s, n);
    for (k = 0; k < count; k++) {
        const truth *t = &m->truths[order[k]];
        const uint64_t composed = leave_by(m, order[k], (uint32_t)t->set_technique, 0, &l);
        if (t->set_leave == GPUMP_UNKNOWN) continue;
        sums[3 * t->set_technique] += fabs((double)composed - (double)t->set_leave);
        sums[3 * t->set_technique + 1] += (double)t->set_leave;
        sums[3 * t->set_technique + 2] += 1;
    }
}

/* ---- the command ---- */

/* Forgets an earlier call: Python may make several. */
static void begin(void) {
    memset(entries, 0, sizeof entries);
    entry_count = kernel_count = 0;
    weight = 1, is_anew = 0, seconds = 60;
    csv = NULL;
}

/* Looks up what instructions.sh has measured for a policy. */
static void read_instructions(entry *e) {
    FILE *file = fopen(CHAMPIONSHIP_DIR "/instructions.csv", "r");
    char line[256], name[64], value[16];
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%63[^,],%*u,%15[0-9]", name, value) == 2 && !strcmp(name, e->name))
            memcpy(e->instructions, value, sizeof value);
    if (file) fclose(file);
}

/* Adds an entry. A policy that is neither gpump's own nor of this directory is foreign. Returns 0, or -1 after a
 * message.
 */
static int add(const gpump_victim_policy *policy, const char *name) {
    entry *e = &entries[entry_count];
    if (entry_count == POLICIES)
        return fprintf(stderr, "championship: there is no room for policy \"%s\": at most %d\n", name, POLICIES), -1;
    if (policy && policy->cost.cpi >= GPUMP_COST_CPI_SOURCES)
        return fprintf(stderr, "championship: policy \"%s\" has cost.cpi %u; it must be below %d (gpump_cost_cpi)\n",
                       name, policy->cost.cpi, GPUMP_COST_CPI_SOURCES),
               -1;
    e->policy = policy, e->name = name;
    e->is_foreign = policy && policy != &dice_policy && policy != gpump_victim_find(name);
    read_instructions(e);
    return entry_count++, 0;
}

/* Was a policy compiled with the structs of this room? Says so where it was not. */
static int is_layout(const char *whose, const char *room, uint32_t layout, uint32_t own) {
    if (layout != own)
        fprintf(stderr,
                "championship: %s has layout %08x of room %s, the championship %08x; build both from one gpump.h "
                "(Python: pip install ./examples/python again)\n",
                whose, layout, room, own);
    return layout == own;
}

/* Adds the policy of a library. Returns 0, or -1 after a message. */
static int add_library(const char *name) {
    const gpump_victim_policy *policy;
    const uint32_t *layout;
    char path[4096];
    void *library;
    snprintf(path, sizeof path, "%s%s", strchr(name, '/') ? "" : "./", name); /* else it is looked for elsewhere */
    if (!(library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) ||
        !(policy = (const gpump_victim_policy *)dlsym(library, "championship_policy")))
        return fprintf(stderr, "championship: %s: %s; docs/championship.md says how to build an entry\n", name,
                       dlerror()),
               -1;
    if (!(layout = (const uint32_t *)dlsym(library, "championship_layout")))
        return fprintf(stderr,
                       "championship: %s does not say which gpump.h it was built from; add this line to its file: "
                       "const uint32_t championship_layout[2] = {GPUMP_LAYOUT_GPU, GPUMP_LAYOUT_VICTIM};\n",
                       name),
               -1;
    if (!is_layout(name, "gpu", layout[0], GPUMP_LAYOUT_GPU) ||
        !is_layout(name, "victim", layout[1], GPUMP_LAYOUT_VICTIM))
        return -1;
    if (!policy->name || !policy->name[0])
        return fprintf(stderr, "championship: the policy of %s has no name: set championship_policy.name\n", name), -1;
    return add(policy, policy->name);
}

static int add_named(const char *name) {
    const gpump_victim_policy *policy = NULL;
    for (uint32_t i = 0; i < SEARCHES; i++) {
        if (strcmp(name, searches[i].name)) continue;
        if (add(NULL, searches[i].name)) return -1;
        return entries[entry_count - 1].forgets = searches[i].forgets, 0;
    }
    if (!strcmp(name, "random")) return add(&dice_policy, "random");
    if (strstr(name, ".so")) return add_library(name);
    if ((policy = policies_find_victim(name)) != NULL) return add(policy, policy->name);
    fprintf(stderr, "championship: there is no victim policy \"%s\"; there are random", name);
    for (uint32_t i = 0; i < SEARCHES; i++) fprintf(stderr, ", %s", searches[i].name);
    for (uint32_t i = 0; policies_victim_name(i); i++) fprintf(stderr, ", %s", policies_victim_name(i));
    return fputs("; a file of your own must be named NAME.so\n", stderr), -1;
}

static int usage(void) {
    fputs("usage: championship [--policy NAME|FILE.so]... [--csv FILE] [--svg FILE] [--weight W] [--check] [--bounds] "
          "[--anew]\n"
          "                    [--seconds N] [CORPUS...]\n"
          "  --policy P   only this policy (default: all): a name, or a library (docs/championship.md)\n"
          "  --csv FILE   writes a row per scene and policy\n"
          "  --svg FILE   draws waste against violations on the last corpus\n"
          "  --weight W   multiplies the waste (1)\n"
          "  --check      prints the error of the composed truth instead of scores\n"
          "  --bounds     adds the searches that know the truth, all of it or without one piece; takes far longer\n"
          "  --anew       estimates and decides for each scene and policy; the scores stay the same\n"
          "  --seconds N  ends a policy of one's own that takes longer than that for a corpus (60)\n"
          "exit status: 0 done, 1 a policy crashed or did not end, 2 bad input\n",
          stdout);
    return 0;
}

/* Says what is wrong with an argument. Returns the exit status. */
static int refuse(const char *reason, const char *argument) {
    fprintf(stderr, "championship: %s \"%s\"; championship --help lists the options\n", reason, argument);
    return 2;
}

/* Counts the scenes of a corpus. Returns 0 when it is damaged. */
static uint32_t count_scenes(corpus c) {
    static moment m;
    uint32_t scenes = 0;
    for (m.left = 0; corpus_next(&c, &m);) scenes += SCENES;
    return c.at ? scenes : 0;
}

/* Plays a corpus, and prints its table. Returns the exit status. */
static int score_corpus(corpus c, uint32_t scenes, const char *path, uint32_t split) {
    size_t bytes;
    outcome *all = play_corpus(c, scenes, &bytes);
    if (!all) return fprintf(stderr, "championship: %s: no memory for %u scenes\n", path, scenes), 2;
    count_corpus(c, split);
    print_split(split, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
    munmap(all, bytes);
    for (const entry *e = entries; e < entries + entry_count; e++)
        if (e->failed[0]) return 1;
    return 0;
}

/* Prints how far the composed truth of a corpus is from the sets that were carried out. */
static void check_corpus(corpus c, const char *path) {
    static moment m;
    double sums[3 * TRUTHS] = {0};
    for (m.left = 0; corpus_next(&c, &m);)
        for (uint32_t sm = 0; sm < m.sms; sm++) check_sm(&m, sm, sums);
    for (uint32_t t = 0; t < TRUTHS; t++)
        printf("%s: %s: %.0f blocks, off by %.0f of %.0f cycles\n", path, gpump_technique_at(t)->name, sums[3 * t + 2],
               sums[3 * t] / fmax(sums[3 * t + 2], 1), sums[3 * t + 1] / fmax(sums[3 * t + 2], 1));
}

/* Opens a corpus, and plays or checks it. Returns the exit status. */
static int take_corpus(const char *path, uint32_t split, int check) {
    corpus c;
    const char *wrong = corpus_open(&c, path);
    const uint32_t scenes = wrong ? 0 : count_scenes(c);
    int status = 0;
    if (!wrong && !scenes) wrong = "it has no scene, or a damaged one; record the file again";
    if (wrong)
        fprintf(stderr, "championship: %s: %s\n", path, wrong), status = 2;
    else if (check)
        check_corpus(c, path);
    else
        status = score_corpus(c, scenes, path, split);
    free(c.data);
    return status;
}

typedef struct arguments {
    const char *files[SPLITS], *svg, *csv;
    uint32_t count;
    int check, bounds;
} arguments;

/* Reads the command line. Returns 0; 1: it asked for help; 2: after a message. */
static int read_arguments(arguments *a, int argc, char **argv) {
    char *end;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--help")) return 1;
        if (!strcmp(argv[i], "--check"))
            a->check = 1;
        else if (!strcmp(argv[i], "--anew"))
            is_anew = 1;
        else if (!strcmp(argv[i], "--bounds"))
            a->bounds = 1;
        else if (argv[i][0] != '-' && a->count < SPLITS)
            a->files[a->count++] = argv[i];
        else if (argv[i][0] != '-')
            return refuse("there are at most 8 corpus files, without", argv[i]);
        else if (strcmp(argv[i], "--policy") && strcmp(argv[i], "--csv") && strcmp(argv[i], "--svg") &&
                 strcmp(argv[i], "--weight") && strcmp(argv[i], "--seconds"))
            return refuse("there is no option", argv[i]);
        else if (!value)
            return refuse("a value is missing behind", argv[i]);
        else if (!strcmp(argv[i], "--policy")) {
            if (add_named(argv[++i])) return 2;
        } else if (!strcmp(argv[i], "--csv"))
            a->csv = argv[++i];
        else if (!strcmp(argv[i], "--svg"))
            a->svg = argv[++i];
        else if (!strcmp(argv[i], "--seconds")) {
            const long value = strtol(argv[++i], &end, 10);
            if (value < 1 || value > 86400 || *end)
                return refuse("--seconds needs a number of 1 to 86400, not", argv[i]);
            seconds = (unsigned)value;
        } else if (!((weight = strtod(argv[++i], &end)) > 0) || *end || isinf(weight))
            return refuse("--weight needs a number above 0, not", argv[i]);
    }
    return 0;
}

/* Fills in the committed corpora and all policies where none is named. Returns 0, or 2 after a message. */
static int complete(arguments *a, const gpump_victim_policy *own) {
    static const char *const standard[] = {CHAMPIONSHIP_DIR "/train.corpus", CHAMPIONSHIP_DIR "/test.corpus",
                                           CHAMPIONSHIP_DIR "/machine.corpus"};
    const int is_any = a->count == 0;
    uint32_t f;
    for (f = 0; is_any && f < 3; f++)
        if (access(standard[f], R_OK) == 0) a->files[a->count++] = standard[f];
    if (!a->count) return refuse("no corpus is in", CHAMPIONSHIP_DIR);
    if (!entry_count) {
        for (f = 0; policies_victim_at(f); f++)
            if (strcmp(policies_victim_name(f), "rewind")) add(policies_victim_at(f), policies_victim_name(f));
        add(&dice_policy, "random");
    }
    for (f = 0; a->bounds && f < SEARCHES; f++)
        if (add_named(searches[f].name)) return 2;
    return own && add(own, own->name) ? 2 : 0;
}

/* Opens the CSV. Returns 0, or 2 after a message: an output would write over a corpus or over another one. */
static int open_outputs(const arguments *a) {
    for (uint32_t f = 0; f < a->count; f++)
        if (output_is_input("championship", a->csv, a->files[f]) ||
            output_is_input("championship", a->svg, a->files[f]))
            return 2;
    if (output_is_output("championship", a->csv, a->svg)) return 2;
    if (a->csv && !(csv = fopen(a->csv, "w"))) return output_cannot_open("championship", a->csv), 2;
    if (csv) fputs("item,cycle,limit_us,positions,policy,limit_cycles,start_cycles,late,waste,lost,idle,bytes\n", csv);
    return 0;
}

/* Runs the command. `own` is a policy that competes too, or NULL. The two layouts are the caller's
 * GPUMP_LAYOUT_GPU and GPUMP_LAYOUT_VICTIM; where one differs from ours, the policy is not touched and the status is 2.
 * Python calls this. */
__attribute__((visibility("default"))) int championship(int argc, char **argv, const gpump_victim_policy *own,
                                                        uint32_t gpu_layout, uint32_t victim_layout) {
    arguments a = {{NULL}, NULL, NULL, 0, 0, 0};
    int status;
    if (!is_layout("the caller", "gpu", gpu_layout, GPUMP_LAYOUT_GPU) ||
        !is_layout("the caller", "victim", victim_layout, GPUMP_LAYOUT_VICTIM))
        return 2;
    begin();
    if ((status = read_arguments(&a, argc, argv)) == 1) return output_status(usage(), "championship");
    if (status || (status = complete(&a, own)) || (status = open_outputs(&a))) return status;
    for (uint32_t f = 0; f < a.count; f++) {
        status = take_corpus(a.files[f], f, a.check);
        if (status == 2) return 2;
    }
    if (csv && output_close(csv, "championship", a.csv)) return 1;
    if (a.svg && draw(a.svg, a.count - 1)) return output_cannot_open("championship", a.svg), 2;
    return output_status(status, "championship");
}

#ifndef CHAMPIONSHIP_IS_A_LIBRARY
int main(int argc, char **argv) { return championship(argc, argv, NULL, GPUMP_LAYOUT_GPU, GPUMP_LAYOUT_VICTIM); }
#endif
