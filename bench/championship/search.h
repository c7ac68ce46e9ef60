/* search: bounds of the championship: decisions that are searched with the truth. A part of championship.c. */
#ifndef CHAMPIONSHIP_SEARCH_H
#define CHAMPIONSHIP_SEARCH_H

static double weight = 1;      /* of the waste in a price */
static uint64_t moment_number; /* of all that were read */

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
                known[b].latency[k] = known[b].overhead[k] = GPUMP_UNKNOWN;
                if (k >= TRUTHS) continue;
                n[m->views[b].kernel] -= k != GPUMP_TECHNIQUE_DRAIN;
                alone = begin_leaving(m, s, n);
                n[m->views[b].kernel] += k != GPUMP_TECHNIQUE_DRAIN;
                known[b].latency[k] = leave_by(m, b, k, 0, &alone), known[b].overhead[k] = 0;
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
    set_price(m, want, limit, 0, price_sm, v);
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
    set_price(m, want, limit, 0, price_sm, v);
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
            if (decide(m, gpump_victim_find(names[p]), known, want, within, &v, NULL)) continue;
            for (uint32_t c = 0; c < v.decision.choices; c++) v.choices[c].otherwise = v.choices[c].technique;
            set_price(m, want, limit, 0, price_sm, &v);
            if (!any || price_of(&v) < price_of(best)) *best = v;
            any = 1;
        }
    if (!any) memset(&best->decision, 0, sizeof best->decision), set_price(m, want, limit, 0, price_sm, best);
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

#endif
