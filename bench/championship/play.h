/* play: the entries of the championship, and what each of them reaches in each scene. A part of championship.c.
 *
 * A policy that is not gpump's own plays in a process of its own, which has a limit of time. Where it crashes or does
 * not end, its row says so, and the other entries have their table. */
#ifndef CHAMPIONSHIP_PLAY_H
#define CHAMPIONSHIP_PLAY_H

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLICIES = 40, SPLITS = 8, CLUSTERS = 64, BELIEFS = 32 };

/* What an entry has reached in one scene. */
typedef struct outcome {
    uint64_t start;
    double late, waste, lost, idle, bytes;
    gpump_diag diag; /* why it was refused */
    int is_refused, is_done;
} outcome;

/* What an entry has reached in one split. */
typedef struct tally {
    double late, waste, lost, bytes, idle, start_us, beyond_us;
    double kernel_price[CLUSTERS]; /* sums by the first resident kernel, for intervals */
    uint64_t violations, refused, scenes, kernel_scenes[CLUSTERS];
    gpump_diag diag; /* of the first scene in which it was refused */
} tally;

typedef struct entry {
    const gpump_victim_policy *policy; /* NULL: the search */
    const char *name;
    uint32_t forgets;                    /* of the search */
    int is_foreign;                      /* it may crash, or not end */
    char instructions[16];               /* of a decision, as instructions.csv has them; empty: not measured */
    char failed[64];                     /* why it has no place; empty: it has one */
    char where[192];                     /* the scene in which it failed */
    outcome *outcomes;                   /* by scene of the present corpus */
    const gpump_cost_estimate *believes; /* of the blocks of the scene that it played last */
    tally splits[SPLITS];
} entry;

static entry entries[POLICIES];
static uint32_t entry_count;
static unsigned seconds = 60; /* that a foreign policy has for a corpus */
static int is_anew;           /* each policy estimates and decides in each scene, as instructions.sh counts it */

/* What a policy believes of the blocks of a moment. Policies of the same cost options share it. */
typedef struct belief {
    gpump_cost_options options;
    int is_told;                     /* the truth */
    const gpump_cost_estimate *same; /* those of the first belief that equals this one */
    gpump_cost_estimate estimates[BLOCKS];
} belief;
static belief beliefs[BELIEFS];
static uint32_t belief_count;

/* Returns what a policy believes of the present moment. */
static const gpump_cost_estimate *believe(const moment *m, const gpump_victim_policy *policy, uint64_t limit) {
    gpump_cost_options options = policy->cost;
    const int is_told = (policy->flags & GPUMP_VICTIM_TRUE_COSTS) != 0;
    belief *b = beliefs;
    const belief *first = beliefs;
    options.limit_cycles = options.flags & GPUMP_COST_DRAIN_LOSES ? limit : 0; /* only there it matters */
    for (; b < beliefs + belief_count; b++)
        if (b->is_told == is_told && !memcmp(&b->options, &options, sizeof options)) break;
    if (b < beliefs + belief_count && (is_told || !is_anew)) return b->same;
    if (b == beliefs + BELIEFS) b--; /* there is no room: the last one makes way */
    b->options = options, b->is_told = is_told;
    if (is_told)
        know(m, b->estimates);
    else
        estimate(m, options, limit, b->estimates);
    while (!is_anew && first < b && memcmp(first->estimates, b->estimates, m->total * sizeof *b->estimates)) first++;
    b->same = is_anew ? b->estimates : first->estimates;
    if (b == beliefs + belief_count) belief_count++;
    return b->same;
}

/* What price_sm adds for the SM of a moment. Several policies, or one within several limits, often give an SM the same
 * places and choices. */
typedef struct sm_price {
    uint64_t moment, positions, again, start;
    double lost, bytes, idle;
    uint32_t count;
    int whole;
    uint16_t choices[GPUMP_VICTIM_BLOCKS];
} sm_price;
enum { SM_PRICES = 64 };
static sm_price sm_prices[SMS][SM_PRICES];

/* As price_sm, which it calls where the SM has not just had the same places and choices. */
static uint64_t price_sm_once(const moment *m, uint32_t s, int whole, uint32_t *p, uint32_t *c, verdict *v) {
    const gpump_victim_place *place = v->places + *p, *places_end = v->places + v->decision.places;
    const gpump_block_choice *choice = v->choices + *c, *choices_end = v->choices + v->decision.choices;
    const double lost = v->lost, bytes = v->bytes, idle = v->idle;
    sm_price now, *known;
    uint64_t hash = 0;
    uint32_t looks = 0;
    now.moment = moment_number, now.whole = whole, now.positions = now.count = 0;
    for (; place < places_end && place->sm == s; place++) now.positions |= (uint64_t)1 << place->position;
    for (; choice < choices_end && choice->sm == s; choice++) {
        const uint32_t what =
            (uint32_t)choice->cookie - m->first[s] + (choice->technique << 6) + (choice->otherwise << 9);
        now.choices[now.count++] = (uint16_t)what;
        hash = (hash + what) * UINT64_C(0x9e3779b97f4a7c15), looks |= choice->technique ^ choice->otherwise;
    }
    now.again = looks ? v->decision.ask_again : 0;
    hash = (hash ^ now.positions ^ now.again) * UINT64_C(0x9e3779b97f4a7c15);
    known = &sm_prices[s][hash >> 58];
    if (known->moment != now.moment || known->positions != now.positions || known->again != now.again ||
        known->count != now.count || known->whole != now.whole ||
        memcmp(known->choices, now.choices, now.count * sizeof *now.choices)) {
        v->lost = v->bytes = v->idle = 0;
        now.start = price_sm(m, s, whole, p, c, v);
        now.lost = v->lost, now.bytes = v->bytes, now.idle = v->idle;
        *known = now;
        v->lost = lost, v->bytes = bytes, v->idle = idle;
    }
    *p = (uint32_t)(place - v->places), *c = (uint32_t)(choice - v->choices);
    v->lost += known->lost, v->bytes += known->bytes, v->idle += known->idle;
    return known->start;
}

/* Returns an earlier entry that decides alike in the present scene, or NULL: its policy differs in its cost options
 * alone, and believes the same. */
static const entry *played_alike(const entry *e) {
    const gpump_victim_policy *a = e->policy;
    for (const entry *f = entries; f < e && !is_anew && belief_count < BELIEFS && !e->is_foreign; f++) {
        const gpump_victim_policy *b = f->policy;
        if (f->believes == e->believes && b && a->flags == b->flags && a->techniques == b->techniques && !a->plan &&
            !b->plan && !a->technique && !b->technique && !a->candidate && !b->candidate)
            return f;
    }
    return NULL;
}

static void play(const moment *m, uint32_t scene, entry *e, uint32_t n) {
    static verdict v;
    const uint32_t want = want_of(m, scene);
    const uint64_t limit = limit_of(m, scene);
    outcome *o = &e->outcomes[n];
    const entry *alike;
    e->believes = e->policy ? believe(m, e->policy, limit) : NULL;
    if (e->policy && (alike = played_alike(e)) != NULL) {
        *o = alike->outcomes[n];
        return;
    }
    if (!e->policy)
        search(forgotten(m, e->forgets), want, limit, &v);
    else
        o->is_refused = decide(m, e->policy, e->believes, want, limit, &v, &o->diag) != GPUMP_OK;
    set_price(m, want, limit, e->policy && e->policy->flags & GPUMP_VICTIM_WHOLE_SM, price_sm_once, &v);
    o->start = v.start, o->late = v.late, o->waste = v.waste, o->lost = v.lost, o->idle = v.idle, o->bytes = v.bytes;
    o->is_done = 1;
}

/* Plays all scenes of a corpus: one entry, or NULL: all that are not foreign. */
static void play_scenes(corpus c, const entry *only) {
    static moment m;
    uint32_t n = 0;
    for (m.left = 0; corpus_next(&c, &m); n += SCENES) {
        moment_number++, belief_count = 0;
        for (uint32_t s = 0; s < SCENES; s++)
            for (entry *e = entries; e < entries + entry_count; e++)
                if (only ? e == only : !e->is_foreign) play(&m, s, e, n + s);
    }
}

/* Plays a foreign entry in a process of its own. The process shares the outcomes. */
static void play_apart(corpus c, uint32_t scenes, entry *e) {
    pid_t child;
    int status = 0;
    fflush(NULL);
    if ((child = fork()) == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(seconds);
        play_scenes(c, e);
        fflush(NULL);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        snprintf(e->failed, sizeof e->failed, "has no process: %s", strerror(errno));
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(e->failed, sizeof e->failed, "did not end within %u s,", seconds);
    else if (WIFSIGNALED(status))
        snprintf(e->failed, sizeof e->failed, "crashed: signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) || !e->outcomes[scenes - 1].is_done)
        snprintf(e->failed, sizeof e->failed, "ended its process with status %d", WEXITSTATUS(status));
}

/* Plays a corpus of `scenes` scenes. Returns the memory of the outcomes, `bytes` of it, or NULL. */
static outcome *play_corpus(corpus c, uint32_t scenes, size_t *bytes) {
    outcome *all;
    *bytes = (size_t)entry_count * scenes * sizeof *all;
    all = (outcome *)mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return NULL;
    for (uint32_t e = 0; e < entry_count; e++) entries[e].outcomes = all + (size_t)e * scenes;
    play_scenes(c, NULL);
    for (entry *e = entries; e < entries + entry_count; e++)
        if (e->is_foreign && !e->failed[0]) play_apart(c, scenes, e);
    return all;
}

#endif
