/* bench/championship [--policy NAME|FILE.so]... [--csv FILE] [--svg FILE] [--weight W] [--check] [CORPUS...]: scores
 * victim policies on recorded requests (docs/championship.md). score.c reads the scenes and prices a decision; this
 * file asks the policies, and prints.
 *
 * Beside the built-in policies and those of -DGPUMP_POLICY there are `random`, and with --bounds the searches, such as
 * `best`, which know the truth. FILE.so is a policy of your own: one C file that defines championship_policy
 * and championship_layout (docs/championship.md). */
#define CHAMPIONSHIP_IS_LINKED
#include "score.c"

#include <dlfcn.h>
#include <math.h>
#include <unistd.h>

#include "output.h"
#include "policies.h"
#include "random_policy.h"

enum { POLICIES = 40, SPLITS = 8, CLUSTERS = 64, BELIEFS = 32 };

/* What a policy has reached in one split. */
typedef struct tally {
    double late, waste, lost, bytes, idle, start_us, beyond_us;
    double kernel_price[CLUSTERS]; /* sums by the first resident kernel, for intervals */
    uint64_t violations, refused, scenes, kernel_scenes[CLUSTERS];
} tally;

typedef struct entry {
    const gpump_victim_policy *policy; /* NULL: the search */
    const char *name;
    uint32_t forgets;      /* of the search */
    char instructions[16]; /* of a decision, as instructions.csv has them; empty: not measured */
    tally splits[SPLITS];
} entry;

static entry entries[POLICIES];
static uint32_t entry_count, kernel_count;
static char kernel_names[CLUSTERS][NAME];
static FILE *csv;
static double weight = 1;
static int is_anew;            /* estimates are made anew for each scene, as instructions.sh counts them */
static uint64_t moment_number; /* of all that were read */

/* ---- the search, which knows the truth ---- */

static double price_of(const verdict *v) { return v->late + weight * v->waste; }

/* The truth as estimates: when each block would leave if the other blocks of its SM stayed. */
static void know(const moment *m, gpump_cost_estimate *known) {
    for (uint32_t s = 0; s < m->sms; s++) {
        uint32_t n[KERNELS + 1] = {0};
        for (uint32_t b = m->first[s]; b < m->first[s] + m->count[s]; b++) n[m->views[b].kernel]++;
        for (uint32_t b = m->first[s]; b < m->first[s] + m->count[s]; b++) {
            const truth *t = &m->truths[b];
            for (uint32_t k = 0; k < GPUMP_TECHNIQUES; k++) {
                leaving alone;
                n[m->views[b].kernel] -= k != GPUMP_TECHNIQUE_DRAIN;
                alone = begin_leaving(m, s, n);
                n[m->views[b].kernel] += k != GPUMP_TECHNIQUE_DRAIN;
                known[b].latency[k] = k < TRUTHS ? leave_by(m, b, k, 0, &alone) : GPUMP_UNKNOWN;
                known[b].overhead[k] = k < TRUTHS ? 0 : GPUMP_UNKNOWN;
            }
            known[b].overhead[GPUMP_TECHNIQUE_FLUSH] = m->views[b].executed;
            if (t->leave[GPUMP_TECHNIQUE_SWITCH] != GPUMP_UNKNOWN)
                known[b].overhead[GPUMP_TECHNIQUE_SWITCH] = t->switch_loss;
        }
    }
}

/* Tries every other technique for every victim, SM by SM, until nothing gets cheaper. */
static void improve(const moment *m, uint32_t want, uint64_t limit, verdict *v) {
    static uint64_t starts[SMS];
    uint32_t p = 0, c = 0;
    int is_late;
    set_price(m, want, limit, 0, v);
    is_late = v->late > 0;
    for (uint32_t s = 0; s < m->sms; s++) {
        const uint32_t place = p, choice = c;
        const uint64_t most = is_late ? v->start : limit; /* later than that costs more than any waste gains */
        double least;
        int better = 1;
        v->lost = v->idle = 0;
        starts[s] = price_sm(m, s, 0, &p, &c, v);
        least = v->lost + v->idle;
        for (int rounds = 0; better && rounds < 4; rounds++) {
            better = 0;
            for (uint32_t i = choice; i < c; i++)
                for (uint32_t t = 0; t < TRUTHS; t++) {
                    const uint32_t before = v->choices[i].technique;
                    uint32_t p_again = place, c_again = choice;
                    uint64_t start;
                    if (t == before || !(m->views[v->choices[i].cookie].may >> t & 1)) continue;
                    v->choices[i].technique = v->choices[i].otherwise = t;
                    v->lost = v->idle = 0;
                    start = price_sm(m, s, 0, &p_again, &c_again, v);
                    if ((start <= most || start <= starts[s]) && v->lost + v->idle < least - 1e-9) {
                        least = v->lost + v->idle, starts[s] = start, better = 1;
                        continue;
                    }
                    v->choices[i].technique = v->choices[i].otherwise = before;
                }
        }
    }
    set_price(m, want, limit, 0, v);
}

/* The cheapest decision that the search finds: policies that are told the truth, within several limits, then improved.
 */
static void search(const moment *m, uint32_t want, uint64_t limit, verdict *best) {
    static const char *const names[] = {"exact", "joint", "dual"};
    static gpump_cost_estimate known[BLOCKS];
    static verdict v;
    int any = 0;
    know(m, known);
    for (uint32_t p = 0; p < 3; p++)
        for (uint32_t share = 0; share < 3; share++) {
            const uint64_t within = share < 2 ? limit - limit * share / 4 : GPUMP_UNKNOWN;
            if (decide(m, gpump_victim_find(names[p]), known, want, within, &v)) continue;
            for (uint32_t c = 0; c < v.decision.choices; c++) v.choices[c].otherwise = v.choices[c].technique;
            set_price(m, want, limit, 0, &v);
            if (!any || price_of(&v) < price_of(best)) *best = v;
            any = 1;
        }
    if (!any) memset(&best->decision, 0, sizeof best->decision), set_price(m, want, limit, 0, best);
    improve(m, want, limit, best);
}

/* ---- what the search knows ---- */

/* Pieces of knowledge that are taken from the search, as bits. */
enum { FORGET_DRAINS = 1, FORGET_GUEST = 2, FORGET_PORT = 4, FORGET_LOSS = 8 };
static const struct {
    const char *name;
    uint32_t forgets;
} searches[] = {{"best", 0},
                {"best-drains", FORGET_DRAINS},
                {"best-guest", FORGET_GUEST},
                {"best-port", FORGET_PORT},
                {"best-loss", FORGET_LOSS},
                {"best-estimates", FORGET_DRAINS | FORGET_GUEST | FORGET_PORT | FORGET_LOSS}};
enum { SEARCHES = sizeof searches / sizeof *searches };

/* Puts the estimates that every policy has in the place of truths: drains and losses as the policy dual estimates them,
 * drains that the guest does not slow down, and a port that no running block uses. */
static void forget(moment *m, uint32_t forgets) {
    static gpump_cost_estimate estimates[BLOCKS];
    estimate(m, gpump_victim_find("dual")->cost, 0, estimates);
    for (uint32_t b = 0; b < m->total; b++) {
        truth *t = &m->truths[b];
        const uint64_t *latency = estimates[b].latency;
        if (forgets & FORGET_DRAINS) t->leave[GPUMP_TECHNIQUE_DRAIN] = latency[GPUMP_TECHNIQUE_DRAIN];
        if (!(forgets & FORGET_LOSS) || t->leave[GPUMP_TECHNIQUE_SWITCH] == GPUMP_UNKNOWN) continue;
        t->switch_loss = estimates[b].overhead[GPUMP_TECHNIQUE_SWITCH];
        t->leave[GPUMP_TECHNIQUE_SWITCH] = latency[GPUMP_TECHNIQUE_SWITCH];
    }
    if (forgets & FORGET_GUEST)
        for (uint32_t k = 0; k <= KERNELS; k++) m->drain[k] = k < KERNELS;
    if (!(forgets & FORGET_PORT)) return;
    memset(m->save, 0, sizeof m->save);
    m->save[1] = 1024 * (double)m->port.cycles / (double)(m->port.bytes ? m->port.bytes : 1);
}

/* ---- scenes ---- */

static uint32_t kernel_number(const char *name) {
    uint32_t k;
    for (k = 0; k < kernel_count; k++)
        if (!strcmp(kernel_names[k], name)) return k;
    if (k == CLUSTERS) return k - 1;
    memcpy(kernel_names[kernel_count++], name, NAME);
    return k;
}

/* What a policy believes of the blocks of a moment. Policies of the same cost options share it. */
typedef struct belief {
    gpump_cost_options options;
    int is_told; /* the truth */
    gpump_cost_estimate estimates[BLOCKS];
} belief;
static belief beliefs[BELIEFS];
static uint32_t belief_count;

/* Returns what a policy believes of the present moment. NULL: its cost options are refused. */
static const gpump_cost_estimate *believe(const moment *m, const gpump_victim_policy *policy, uint64_t limit) {
    gpump_cost_options options = policy->cost;
    const int is_told = (policy->flags & GPUMP_VICTIM_TRUE_COSTS) != 0;
    belief *b = beliefs;
    options.limit_cycles = options.flags & GPUMP_COST_DRAIN_LOSES ? limit : 0; /* only there it matters */
    for (; b < beliefs + belief_count; b++)
        if (b->is_told == is_told && !memcmp(&b->options, &options, sizeof options)) break;
    if (b < beliefs + belief_count && (is_told || !is_anew)) return b->estimates;
    if (b == beliefs + BELIEFS) b--; /* there is no room: the last one makes way */
    b->options = options, b->is_told = is_told;
    if (is_told)
        know(m, b->estimates);
    else if (estimate(m, options, limit, b->estimates))
        return NULL;
    if (b == beliefs + belief_count) belief_count++;
    return b->estimates;
}

/* What the searches believe of a moment: one of them at a time. */
static const moment *forgotten(const moment *m, uint32_t forgets) {
    static moment kept[SEARCHES];
    static uint64_t numbers[SEARCHES];
    uint32_t k = 0;
    if (!forgets) return m;
    while (searches[k].forgets != forgets) k++;
    if (numbers[k] != moment_number) kept[k] = *m, forget(&kept[k], forgets), numbers[k] = moment_number;
    return &kept[k];
}

static void play(const moment *m, uint32_t split, uint32_t scene, entry *e) {
    static verdict v;
    const uint32_t want = want_of(m, scene), k = kernel_number(m->kernel);
    const uint64_t limit = limit_of(m, scene);
    const double us = 1000.0 / (double)m->gpu.clock_khz;
    tally *t = &e->splits[split];
    if (!e->policy) {
        search(forgotten(m, e->forgets), want, limit, &v);
        set_price(m, want, limit, 0, &v);
    } else {
        t->refused += decide(m, e->policy, believe(m, e->policy, limit), want, limit, &v) != 0;
        set_price(m, want, limit, (e->policy->flags & GPUMP_VICTIM_WHOLE_SM) != 0, &v);
    }
    t->late += v.late, t->waste += v.waste, t->lost += v.lost, t->bytes += v.bytes, t->idle += v.idle;
    t->start_us += (double)v.start * us, t->violations += v.start > limit, t->scenes++;
    t->beyond_us += v.start > limit ? (double)(v.start - limit) * us : 0;
    t->kernel_price[k] += price_of(&v), t->kernel_scenes[k]++;
    if (csv)
        fprintf(csv, "%s,%llu,%u,%u,%s,%llu,%llu,%.4f,%.4f,%.0f,%.0f,%.0f\n", m->name, (unsigned long long)m->cycle,
                limits_us[scene % LIMITS], want, e->name, (unsigned long long)limit, (unsigned long long)v.start,
                v.late, v.waste, v.lost, v.idle, v.bytes);
}

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

/* ---- output ---- */

static double merit(const tally *t) { return t->scenes ? 100 * (t->late + weight * t->waste) / (double)t->scenes : 0; }

/* The mean difference of two policies' prices per scene, and half its 95% interval over kernels. */
static double paired(const tally *a, const tally *b, double *half) {
    double mean = 0, squares = 0, n = 0;
    for (uint32_t k = 0; k < kernel_count; k++) {
        if (!a->kernel_scenes[k]) continue;
        const double d = 100 * (a->kernel_price[k] - b->kernel_price[k]) / (double)a->kernel_scenes[k];
        n++, mean += d, squares += d * d;
    }
    mean /= n > 0 ? n : 1;
    *half = n > 1 ? 1.96 * sqrt((squares - n * mean * mean > 0 ? squares - n * mean * mean : 0) / (n - 1) / n) : 0;
    return mean;
}

static uint32_t rank_of(uint32_t split, uint32_t e, double w) {
    const tally *mine = &entries[e].splits[split];
    uint32_t rank = 1;
    for (uint32_t o = 0; o < entry_count; o++) {
        const tally *other = &entries[o].splits[split];
        rank += other->late + w * other->waste < mine->late + w * mine->waste - 1e-9;
    }
    return rank;
}

static void print_split(uint32_t split, const char *name) {
    uint32_t order[POLICIES], dual = 0;
    for (uint32_t e = 0; e < entry_count; e++) {
        uint32_t k = e;
        if (!strcmp(entries[e].name, "dual")) dual = e;
        for (; k > 0 && merit(&entries[order[k - 1]].splits[split]) > merit(&entries[e].splits[split]); k--)
            order[k] = order[k - 1];
        order[k] = e;
    }
    printf("\n%s: %llu scenes\n\n", name, (unsigned long long)entries[0].splits[split].scenes);
    puts("| policy | score | beside dual, per kernel | violations % | late by, us | wasted % of risk | of it idle % | "
         "KB saved | last start, us | instructions a decision | place at weight 1/4, 1, 4 |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|");
    for (uint32_t i = 0; i < entry_count; i++) {
        const entry *e = &entries[order[i]];
        const tally *t = &e->splits[split];
        const double n = t->scenes ? (double)t->scenes : 1;
        double half, beside = paired(t, &entries[dual].splits[split], &half);
        printf("| %s | %.2f | %+.2f +- %.2f | %.1f | %.2f | %.1f | %.0f | %.0f | %.2f | %s | %u, %u, %u |\n", e->name,
               merit(t), beside, half, 100 * (double)t->violations / n,
               t->beyond_us / (t->violations ? (double)t->violations : 1), 100 * t->waste / n,
               t->lost > 0 ? 100 * t->idle / t->lost : 0, t->bytes / n / 1024, t->start_us / n,
               e->instructions[0] ? e->instructions : "-", rank_of(split, order[i], 0.25), rank_of(split, order[i], 1),
               rank_of(split, order[i], 4));
        if (t->refused) printf("%s was refused in %llu scenes\n", e->name, (unsigned long long)t->refused);
    }
}

/* Waste against violations; the line joins those that nobody beats on both. */
static int draw(const char *path, uint32_t split) {
    FILE *f = fopen(path, "w");
    double most_x = 1, most_y = 1, below = 1e300;
    uint32_t i, e, order[POLICIES];
    if (!f) return -1;
    for (e = 0; e < entry_count; e++) {
        const tally *t = &entries[e].splits[split];
        const double x = 100 * (double)t->violations / (double)t->scenes, y = 100 * t->waste / (double)t->scenes;
        if (x > most_x) most_x = x;
        if (y > most_y) most_y = y;
        for (i = e; i > 0 && entries[order[i - 1]].splits[split].violations > t->violations; i--)
            order[i] = order[i - 1];
        order[i] = e;
    }
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"420\" font-family=\"sans-serif\" "
          "font-size=\"11\">\n<rect width=\"760\" height=\"420\" fill=\"white\"/>\n"
          "<path d=\"M60 20V370H740\" fill=\"none\" stroke=\"black\"/>\n",
          f);
    for (i = 0; i <= 4; i++)
        fprintf(f,
                "<text x=\"%u\" y=\"385\" text-anchor=\"middle\">%.0f</text><text x=\"54\" y=\"%u\" "
                "text-anchor=\"end\">%.0f</text>\n",
                60 + 155 * i, most_x * i / 4, 374 - 80 * i, most_y * i / 4);
    fputs("<text x=\"400\" y=\"405\" text-anchor=\"middle\">violations, % of scenes</text>\n"
          "<text x=\"66\" y=\"16\">waste, % of the risk</text>\n<path fill=\"none\" stroke=\"#888\" d=\"",
          f);
    for (i = e = 0; i < entry_count; i++) {
        const tally *t = &entries[order[i]].splits[split];
        const double x = (double)t->violations / (double)t->scenes, y = t->waste / (double)t->scenes;
        if (y >= below) continue;
        below = y;
        fprintf(f, "%c%.1f %.1f", e++ ? 'L' : 'M', 60 + 62000 * x / most_x, 370 - 32000 * y / most_y);
    }
    fputs("\"/>\n", f);
    for (e = 0; e < entry_count; e++) {
        const tally *t = &entries[e].splits[split];
        const double x = 60 + 62000 * (double)t->violations / (double)t->scenes / most_x,
                     y = 370 - 32000 * t->waste / (double)t->scenes / most_y;
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#1f77b4\"/><text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                x, y, x + 6, y - 4, entries[e].name);
    }
    fputs("</svg>\n", f);
    return fclose(f) ? -1 : 0;
}

/* ---- the command ---- */

/* Forgets an earlier call: Python may make several. */
static void begin(void) {
    memset(entries, 0, sizeof entries);
    entry_count = kernel_count = 0;
    weight = 1, is_anew = 0;
    csv = NULL;
    random_policy_state = 1;
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

static int add(const gpump_victim_policy *policy, const char *name) {
    if (entry_count == POLICIES) return fputs("championship: too many policies\n", stderr), -1;
    entries[entry_count].policy = policy;
    entries[entry_count].name = name;
    read_instructions(&entries[entry_count++]);
    return 0;
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

static int add_named(const char *name) {
    const gpump_victim_policy *policy = NULL;
    const uint32_t *layout;
    void *library;
    for (uint32_t i = 0; i < SEARCHES; i++) {
        if (strcmp(name, searches[i].name)) continue;
        if (add(NULL, searches[i].name)) return -1;
        return entries[entry_count - 1].forgets = searches[i].forgets, 0;
    }
    if (!strcmp(name, "random")) return add(&random_policy, "random");
    if (!strstr(name, ".so")) {
        if ((policy = policies_find_victim(name)) != NULL) return add(policy, policy->name);
        fprintf(stderr, "championship: there is no victim policy \"%s\"; there are random", name);
        for (uint32_t i = 0; i < SEARCHES; i++) fprintf(stderr, ", %s", searches[i].name);
        for (uint32_t i = 0; policies_victim_name(i); i++) fprintf(stderr, ", %s", policies_victim_name(i));
        return fputs("\n", stderr), -1;
    }
    if (!(library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) ||
        !(policy = (const gpump_victim_policy *)dlsym(library, "championship_policy")))
        return fprintf(stderr, "championship: %s: %s\n", name, dlerror()), -1;
    if (!(layout = (const uint32_t *)dlsym(library, "championship_layout")))
        return fprintf(stderr,
                       "championship: %s does not say which gpump.h it was built from; add this line to its file: "
                       "const uint32_t championship_layout[2] = {GPUMP_LAYOUT_GPU, GPUMP_LAYOUT_VICTIM};\n",
                       name),
               -1;
    if (!is_layout(name, "gpu", layout[0], GPUMP_LAYOUT_GPU) ||
        !is_layout(name, "victim", layout[1], GPUMP_LAYOUT_VICTIM))
        return -1;
    return add(policy, policy->name);
}

static int usage(void) {
    fputs("usage: championship [--policy NAME|FILE.so]... [--csv FILE] [--svg FILE] [--weight W] [--check] [--bounds] "
          "[--anew]\n"
          "                    [CORPUS...]\n"
          "  --policy P   only this policy (default: all): a name, or a library (docs/championship.md)\n"
          "  --csv FILE   writes a row per scene and policy\n"
          "  --svg FILE   draws waste against violations on the last corpus\n"
          "  --weight W   multiplies the waste (1)\n"
          "  --check      prints the error of the composed truth instead of scores\n"
          "  --bounds     adds the searches that know the truth, all of it or without one piece; takes far longer\n"
          "  --anew       estimates the blocks for each scene, not once for each moment; the scores stay the same\n"
          "exit status: 0 done, 2 bad input\n",
          stdout);
    return 0;
}

/* Says what is wrong with an argument. Returns the exit status. */
static int refuse(const char *reason, const char *argument) {
    fprintf(stderr, "championship: %s \"%s\"; championship --help lists the options\n", reason, argument);
    return 2;
}

/* Plays all scenes of a file. Returns 0, or -1 after a message. */
static int play_corpus(const char *path, uint32_t split, int check, double *sums) {
    static moment m;
    corpus c;
    const char *wrong = corpus_open(&c, path);
    for (m.left = 0; !wrong && corpus_next(&c, &m);) {
        moment_number++, belief_count = 0;
        for (uint32_t sm = 0; check && sm < m.sms; sm++) check_sm(&m, sm, sums);
        for (uint32_t scene = 0; scene < SCENES && !check; scene++)
            for (uint32_t e = 0; e < entry_count; e++) play(&m, split, scene, &entries[e]);
    }
    free(c.data);
    if (!wrong && c.at) return 0;
    fprintf(stderr, "championship: %s: %s\n", path, wrong ? wrong : "a scene is damaged; record the file again");
    return -1;
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
                 strcmp(argv[i], "--weight"))
            return refuse("there is no option", argv[i]);
        else if (!value)
            return refuse("a value is missing behind", argv[i]);
        else if (!strcmp(argv[i], "--policy")) {
            if (add_named(argv[++i])) return 2;
        } else if (!strcmp(argv[i], "--csv"))
            a->csv = argv[++i];
        else if (!strcmp(argv[i], "--svg"))
            a->svg = argv[++i];
        else if (!((weight = strtod(argv[++i], &end)) > 0) || *end || isinf(weight))
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
        add(&random_policy, "random");
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
        const char *path = a.files[f];
        double sums[3 * TRUTHS] = {0};
        if (play_corpus(path, f, a.check, sums)) return 2;
        if (!a.check) print_split(f, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
        for (uint32_t t = 0; a.check && t < TRUTHS; t++)
            printf("%s: %s: %.0f blocks, off by %.0f of %.0f cycles\n", path, gpump_technique_at(t)->name,
                   sums[3 * t + 2], sums[3 * t] / fmax(sums[3 * t + 2], 1), sums[3 * t + 1] / fmax(sums[3 * t + 2], 1));
    }
    if (csv && output_close(csv, "championship", a.csv)) return 1;
    if (a.svg && draw(a.svg, a.count - 1)) return output_cannot_open("championship", a.svg), 2;
    return output_status(0, "championship");
}

#ifndef CHAMPIONSHIP_IS_A_LIBRARY
int main(int argc, char **argv) { return championship(argc, argv, NULL, GPUMP_LAYOUT_GPU, GPUMP_LAYOUT_VICTIM); }
#endif
