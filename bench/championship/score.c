/* score: reads the scenes of the championship and says what a victim policy's decisions there cost. It includes gpump.h
 * and needs nothing else. docs/championship.md has the format and the score.
 *
 * The file is also a program by itself, which prints the score of every built-in policy on each corpus file:
 *
 *     cc -O2 -I. bench/championship/score.c -o score && ./score bench/championship/train.corpus */
#ifndef CHAMPIONSHIP_IS_LINKED /* defined where this file is a part of bench/championship */
#define GPUMP_IMPLEMENTATION
#endif
#include "gpump.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRUTHS = 3, SETS = 2, NAME = 96, BLOCKS = 2048, SMS = 256, KERNELS = 16, LIMITS = 6, SHARES = 2 };
enum { SCENES = LIMITS * SHARES, END_US = 120 };
static const uint32_t limits_us[LIMITS] = {1, 2, 5, 10, 20, 50}; /* of the scenes of each moment */
static const uint32_t shares[SHARES] = {1, 3}; /* positions asked for: all that the machine has, or a third of them */

typedef struct corpus {
    uint8_t *data;
    const uint8_t *at, *end; /* what has not been read; NULL: damaged */
    uint64_t items;
} corpus;

/* What really happened to a block (bench/championship/record.c), in cycles from the request. */
typedef struct truth {
    uint64_t leave[TRUTHS]; /* by technique, when all blocks leave by it; GPUMP_UNKNOWN: it did not within END_US */
    uint64_t switch_loss;   /* warp instructions, when all blocks are switched */
    uint64_t set_technique[SETS], set_leave[SETS];
} truth;

/* A machine with its resident kernels, and the moment that was read last. */
typedef struct moment {
    char name[NAME], kernel[NAME], machine[NAME];
    gpump_gpu gpu;
    gpump_port port;
    gpump_victim_geometry geometry;
    uint64_t residents, faults, kernels, left; /* left: moments of this item that follow */
    uint64_t cycle, set_start[SETS];
    double slow; /* by what factor a drain beside the guest took longer, in the first set */
    gpump_cost_history histories[KERNELS + 2];
    uint32_t sms, total, count[SMS], first[SMS]; /* per SM: blocks, and the first one's index */
    gpump_block_view views[BLOCKS];
    truth truths[BLOCKS];
} moment;

/* A decision, and its price. */
typedef struct verdict {
    gpump_victim_place places[BLOCKS];
    gpump_block_choice choices[BLOCKS];
    gpump_victim_decision decision;
    uint64_t leave[BLOCKS]; /* of a chosen block, by its index in the moment */
    uint64_t start;
    double lost, bytes, idle, late, waste;
} verdict;

/* ---- reading ---- */

static uint64_t get(corpus *c) { /* the inverse of put in record.c */
    uint64_t value = 0;
    for (uint32_t shift = 0; c->at && shift < 64; shift += 7) {
        const uint8_t byte = c->at < c->end ? *c->at++ : 0;
        value |= (uint64_t)(byte & 127) << shift;
        if (c->at == c->end && byte > 127) break;
        if (byte < 128) return value - 1;
    }
    c->at = NULL;
    return 0;
}
static uint64_t get_below(corpus *c, uint64_t limit) { /* damages the corpus when the value is not below */
    const uint64_t value = get(c);
    if (value < limit) return value;
    c->at = NULL;
    return 0;
}
static void get_text(corpus *c, char text[NAME]) {
    const uint64_t bytes = get_below(c, NAME);
    if (!c->at || (uint64_t)(c->end - c->at) < bytes) {
        c->at = NULL;
        return;
    }
    memcpy(text, c->at, bytes);
    text[bytes] = 0;
    c->at += bytes;
}

/* Reads a file into memory and checks its hash. Returns NULL, or what is wrong. */
static const char *corpus_open(corpus *c, const char *path) {
    FILE *file = fopen(path, "rb");
    uint64_t hash = UINT64_C(14695981039346656037), stored = 0;
    long bytes;
    memset(c, 0, sizeof *c);
    if (!file) return "the file cannot be read";
    if (fseek(file, 0, SEEK_END) || (bytes = ftell(file)) < 17 || fseek(file, 0, SEEK_SET) ||
        !(c->data = (uint8_t *)malloc((size_t)bytes)) || fread(c->data, 1, (size_t)bytes, file) != (size_t)bytes)
        return fclose(file), "the file is too short, or cannot be read";
    fclose(file);
    for (long i = 0; i < bytes - 8; i++) hash = (hash ^ c->data[i]) * UINT64_C(1099511628211);
    for (uint32_t i = 0; i < 8; i++) stored |= (uint64_t)c->data[bytes - 8 + i] << 8 * i;
    if (memcmp(c->data, "gpumpc01", 8)) return "this is no corpus of version 1";
    if (hash != stored) return "the hash differs: the file is damaged; record it again";
    c->at = c->data + 8;
    c->end = c->data + bytes - 8;
    c->items = get(c);
    for (uint64_t i = 0; i < c->items && c->at; i++) get(c); /* offsets, for those who want one item */
    return NULL;
}

static void read_item(corpus *c, moment *m) {
    gpump_footprint guest;
    uint64_t shared;
    get_text(c, m->name), get_text(c, m->kernel), get_text(c, m->machine);
    m->residents = get(c), m->faults = get(c), m->kernels = get_below(c, KERNELS);
    m->port.cycles = get(c), m->port.bytes = get(c), m->port.free_cycle = 0, shared = get(c);
    guest.threads = (uint32_t)get(c), guest.registers = (uint32_t)get(c), guest.shared_bytes = (uint32_t)get(c);
    m->left = get(c);
    if (!c->at || gpump_preset(&gpump_gpu_component, &m->gpu, m->machine, NULL) || m->gpu.sms > SMS ||
        gpump_victim_geometry_init(&m->geometry, &m->gpu, &guest, (uint32_t)shared, NULL))
        c->at = NULL;
}

static void read_block(corpus *c, moment *m, gpump_block_view *v, truth *t) {
    memset(v, 0, sizeof *v);
    v->cookie = m->total;
    v->block.slot = (uint32_t)get(c), v->kernel = (uint32_t)get_below(c, m->kernels + 1);
    v->function = (uint32_t)get_below(c, m->kernels + 1), v->state = (uint32_t)get_below(c, GPUMP_BLOCK_STATES);
    v->executed = get(c), v->start_cycle = m->cycle - get(c), v->cycles = get(c), v->context_bytes = get(c);
    v->register_base = (uint32_t)get(c), v->registers = (uint32_t)get(c);
    v->shared_base = (uint32_t)get(c), v->shared_bytes = (uint32_t)get(c);
    v->threads = (uint32_t)get(c), v->warps = (uint32_t)get(c), v->may = (uint32_t)get(c) & 7;
    v->faults = (uint32_t)get(c), v->fault_cycles = get(c), v->fault_stalls = (uint32_t)get(c);
    for (uint32_t k = 0; k < TRUTHS; k++) t->leave[k] = get(c);
    t->switch_loss = get(c);
    for (uint32_t k = 0; k < SETS; k++) t->set_technique[k] = get(c), t->set_leave[k] = get(c);
}

/* Reads the next moment. Returns 1, 0 behind the last, -1 when the file is damaged. */
static int corpus_next(corpus *c, moment *m) {
    double alone = 0, beside = 0;
    if (!m->left && c->at == c->end) return 0;
    while (c->at && !m->left && c->at < c->end) read_item(c, m);
    if (!c->at || !m->left--) return -1;
    m->cycle = get(c), m->total = 0, m->sms = m->gpu.sms;
    memset(m->histories, 0, sizeof m->histories);
    for (uint64_t k = 1; k <= m->kernels; k++) {
        const uint64_t finished = get(c), known = finished < GPUMP_COST_WINDOW ? finished : GPUMP_COST_WINDOW;
        for (uint64_t i = 0; i < known && c->at; i++) {
            const uint64_t instructions = get(c), cpi = get(c);
            gpump_cost_history_record(&m->histories[k], instructions, gpump_muldiv_up(instructions, cpi, 65536));
        }
    }
    for (uint32_t s = 0; s < m->sms && c->at; s++) {
        m->count[s] = (uint32_t)get_below(c, GPUMP_VICTIM_BLOCKS + 1);
        m->first[s] = m->total;
        if (m->total + m->count[s] > BLOCKS) return -1;
        for (uint32_t i = 0; i < m->count[s] && c->at; i++, m->total++) {
            truth *t = &m->truths[m->total];
            read_block(c, m, &m->views[m->total], t);
            if (t->set_technique[0] != GPUMP_TECHNIQUE_DRAIN || t->set_leave[0] == GPUMP_UNKNOWN ||
                t->leave[GPUMP_TECHNIQUE_DRAIN] == GPUMP_UNKNOWN)
                continue;
            alone += (double)t->leave[GPUMP_TECHNIQUE_DRAIN], beside += (double)t->set_leave[0];
        }
        if (c->at && gpump_block_view_check(m->views + m->first[s], m->count[s], NULL)) c->at = NULL;
    }
    for (uint32_t k = 0; k < SETS; k++) m->set_start[k] = get(c);
    m->slow = alone > 0 && beside > 0 ? beside / alone : 1;
    return c->at ? 1 : -1;
}

/* ---- composing the truth of a set ---- */

static uint64_t end_of(const moment *m) { return gpump_gpu_cycles_from_ns(&m->gpu, END_US * UINT64_C(1000)); }
static uint64_t known_or(uint64_t value, uint64_t other) { return value == GPUMP_UNKNOWN ? other : value; }
static double ipc_of(const gpump_block_view *v) { return v->cycles ? (double)v->executed / (double)v->cycles : 0; }

/* How long the port of the SM was busy with block b when all blocks were switched: since the save before it. *stop is
 * the time until the first save began, taken to be what the first save took longer than the mean of the others. */
static uint64_t save_of(const moment *m, uint32_t s, uint32_t b, uint64_t *stop) {
    const uint64_t own = m->truths[b].leave[GPUMP_TECHNIQUE_SWITCH];
    uint64_t before = 0, first = GPUMP_UNKNOWN, last = 0, saves = 0, gap;
    for (uint32_t i = m->first[s]; i < m->first[s] + m->count[s]; i++) {
        const uint64_t one = m->truths[i].leave[GPUMP_TECHNIQUE_SWITCH];
        if (one == GPUMP_UNKNOWN) continue;
        saves++;
        if (one < own && one > before) before = one;
        if (one < first) first = one;
        if (one > last) last = one;
    }
    gap = saves > 1 ? (last - first) / (saves - 1) : first;
    *stop = saves && first > gap ? first - gap : 0;
    return own == GPUMP_UNKNOWN ? GPUMP_UNKNOWN : before ? own - before : own - *stop;
}

/* Returns when block b leaves by a technique told at cycle `told`; *port is when the saves before it on its SM end. */
static uint64_t leave_by(const moment *m, uint32_t s, uint32_t b, uint32_t technique, uint64_t told, uint64_t *port) {
    const truth *t = &m->truths[b];
    const uint64_t drain = t->leave[GPUMP_TECHNIQUE_DRAIN];
    const uint64_t drained = drain == GPUMP_UNKNOWN ? end_of(m) : (uint64_t)((double)drain * m->slow);
    uint64_t stop, save;
    if (technique == GPUMP_TECHNIQUE_FLUSH && t->leave[technique] != GPUMP_UNKNOWN) return told + t->leave[technique];
    if (technique != GPUMP_TECHNIQUE_SWITCH || (save = save_of(m, s, b, &stop)) == GPUMP_UNKNOWN) return drained;
    if (told + stop > *port) *port = told + stop;
    return *port += save;
}

/* Does the block of a view lie on registers or shared memory of a place? */
static int lies_on(const gpump_victim_geometry *g, const gpump_block_view *view, const gpump_victim_place *p) {
    return (view->register_base < p->register_base + g->registers &&
            p->register_base < view->register_base + view->registers) ||
           (view->shared_base < p->shared_base + g->shared_bytes &&
            p->shared_base < view->shared_base + view->shared_bytes);
}

/* Returns when the places of one SM have all begun, and adds to the verdict what the room of its victims idles. A place
 * waits for the victims on it, then for threads, warps and a slot. */
static uint64_t settle_sm(const moment *m, uint32_t s, const gpump_victim_place *places, uint32_t count, int whole,
                          const uint64_t *leave, uint64_t chosen, verdict *v) {
    const gpump_victim_geometry *g = &m->geometry;
    const gpump_block_view *views = m->views + m->first[s];
    int64_t threads = g->thread_slots, warps = g->warp_slots, slots = g->block_slots;
    uint64_t ready[GPUMP_VICTIM_POSITIONS], begins[GPUMP_VICTIM_BLOCKS], last = 0, freed = 0, out = 0;
    uint32_t order[GPUMP_VICTIM_POSITIONS], n, i, k;
    for (i = 0; i < m->count[s]; i++) {
        threads -= views[i].threads, warps -= views[i].warps, slots--, begins[i] = GPUMP_UNKNOWN;
        if (chosen >> i & 1 && leave[i] > out) out = leave[i];
    }
    for (n = 0; n < count; n++) { /* in the order in which their registers and shared memory are free */
        uint64_t t = whole ? out : 0;
        for (i = 0; i < m->count[s]; i++)
            if (chosen >> i & 1 && leave[i] > t && lies_on(g, &views[i], &places[n])) t = leave[i];
        for (k = n; k > 0 && ready[k - 1] > t; k--) ready[k] = ready[k - 1], order[k] = order[k - 1];
        ready[k] = t, order[k] = n;
    }
    for (n = 0; n < count; n++) {
        if (ready[n] > last) last = ready[n];
        for (;;) {
            uint32_t next = GPUMP_NONE;
            for (i = 0; i < m->count[s]; i++)
                if (chosen >> i & 1 && !(freed >> i & 1) && (next == GPUMP_NONE || leave[i] < leave[next])) next = i;
            if (next == GPUMP_NONE || (leave[next] > last && threads >= g->threads && warps >= g->warps && slots >= 1))
                break;
            freed |= UINT64_C(1) << next;
            threads += views[next].threads, warps += views[next].warps, slots++;
            if (leave[next] > last) last = leave[next];
        }
        threads -= g->threads, warps -= g->warps, slots--;
        for (i = 0; i < m->count[s]; i++)
            if (begins[i] == GPUMP_UNKNOWN && lies_on(g, &views[i], &places[order[n]])) begins[i] = last;
    }
    for (i = 0; i < m->count[s] && count; i++)
        if (chosen >> i & 1 && known_or(begins[i], last) > leave[i])
            v->idle += (double)(known_or(begins[i], last) - leave[i]) * ipc_of(&views[i]);
    return last;
}

/* Adds what one SM loses to the verdict: its places are [*p ...], its choices [*c ...], which go behind them. Returns
 * when its places have begun. */
static uint64_t price_sm(const moment *m, uint32_t s, int whole, uint32_t *p, uint32_t *c, verdict *v) {
    const uint32_t first = *p;
    uint64_t port = 0, chosen = 0;
    while (*p < v->decision.places && v->places[*p].sm == s) ++*p;
    for (; *c < v->decision.choices && v->choices[*c].sm == s; ++*c) {
        const gpump_block_choice *choice = &v->choices[*c];
        const uint64_t again = known_or(v->decision.ask_again, UINT64_MAX / 2);
        uint32_t b = (uint32_t)choice->cookie, technique = choice->technique;
        uint64_t told = 0, at = leave_by(m, s, b, technique, 0, &port);
        if (choice->otherwise != technique && at > again) /* the second look */
            at = leave_by(m, s, b, technique = choice->otherwise, told = again, &port);
        v->leave[b] = at;
        chosen |= UINT64_C(1) << (b - m->first[s]);
        if (technique >= TRUTHS || m->truths[b].leave[technique] == GPUMP_UNKNOWN) continue;
        if (technique == GPUMP_TECHNIQUE_FLUSH)
            v->lost += (double)m->views[b].executed + (double)told * ipc_of(&m->views[b]);
        if (technique != GPUMP_TECHNIQUE_SWITCH) continue;
        v->bytes += (double)m->views[b].context_bytes;
        v->lost += (double)m->truths[b].switch_loss * (double)(at - told) / (double)(m->truths[b].leave[technique] + 1);
    }
    return settle_sm(m, s, v->places + first, *p - first, whole, v->leave + m->first[s], chosen, v);
}

/* Sets late and waste from start, lost and idle of all SMs. */
static void set_late_and_waste(const moment *m, uint32_t want, uint64_t limit, verdict *v) {
    double risk = 0;
    for (uint32_t i = 0; i < m->total; i++) risk += (double)m->views[i].executed;
    risk *= (double)want / ((double)m->geometry.blocks * m->sms);
    if (risk < 1) risk = 1;
    if (v->decision.places < want) v->start = end_of(m);
    v->lost += v->idle;
    v->waste = v->lost < risk ? v->lost / risk : 1;
    v->late = v->start <= limit ? 0 : v->start >= 2 * limit ? 1 : (double)v->start / (double)limit / 2;
}

/* Sets the price of v->decision, whose places and choices are those of a request for `want` positions. */
static void set_price(const moment *m, uint32_t want, uint64_t limit, int whole, verdict *v) {
    uint32_t p = 0, c = 0;
    v->start = 0, v->lost = v->bytes = v->idle = 0;
    for (uint32_t s = 0; s < m->sms; s++) {
        const uint64_t start = price_sm(m, s, whole, &p, &c, v);
        if (start > v->start) v->start = start;
    }
    set_late_and_waste(m, want, limit, v);
}

/* Asks a policy, and sets the price of its decision. `estimates` are its own, or NULL: as its cost options say. Returns
 * 0, or -1 with the reason in *diag. */
static int decide(const moment *m, const gpump_victim_policy *policy, gpump_cost_estimate *known, uint32_t want,
                  uint64_t limit, verdict *v, gpump_diag *diag) {
    static gpump_cost_estimate own[BLOCKS];
    static gpump_victim_sm sms[SMS];
    static uint64_t scratch[65536];
    gpump_cost_options options = policy->cost;
    gpump_victim_request request;
    gpump_victim_question q;
    memset(&q, 0, sizeof q);
    memset(sms, 0, sizeof sms);
    options.limit_cycles = limit;
    gpump_victim_request_init(&request, (uint32_t)m->kernels + 1, want, 0);
    request.limit_cycles = limit;
    for (uint32_t s = 0; s < m->sms; s++) {
        const uint32_t first = m->first[s];
        if (!known && gpump_cost_estimate_blocks(&m->port, m->histories, (uint32_t)m->kernels + 2, m->views + first,
                                                 m->count[s], NULL, &options, own + first, diag))
            return -1;
        sms[s].blocks = m->views + first, sms[s].count = m->count[s], sms[s].sm = s;
        sms[s].estimates = (known ? known : own) + first;
    }
    q.policy = policy, q.request = &request, q.geometry = &m->geometry, q.sms = sms, q.sm_count = m->sms;
    q.scratch = scratch, q.scratch_bytes = sizeof scratch, q.places = v->places, q.choices = v->choices;
    q.place_capacity = q.choice_capacity = BLOCKS;
    return gpump_victim_decide(&q, &v->decision, diag) ? -1 : 0;
}
static uint32_t positions_of(const moment *m, uint32_t share) {
    return (m->geometry.blocks * m->sms + share - 1) / share;
}

#ifndef CHAMPIONSHIP_IS_LINKED
int main(int argc, char **argv) {
    static moment m;
    static verdict v;
    const gpump_victim_policy *policy;
    for (uint32_t p = 0; (policy = gpump_victim_policy_at(p)) != NULL; p++)
        for (int f = 1; f < argc; f++) {
            double price = 0;
            uint64_t scenes = 0;
            gpump_diag diag;
            corpus c;
            const char *wrong = corpus_open(&c, argv[f]);
            int got = 0;
            m.left = 0;
            while (!wrong && (got = corpus_next(&c, &m)) > 0)
                for (uint32_t n = 0; n < SCENES; n++, scenes++) {
                    const uint64_t limit = gpump_gpu_cycles_from_ns(&m.gpu, limits_us[n % LIMITS] * UINT64_C(1000));
                    const uint32_t want = positions_of(&m, shares[n / LIMITS]);
                    if (decide(&m, policy, NULL, want, limit, &v, &diag)) v.decision.places = v.decision.choices = 0;
                    set_price(&m, want, limit, (policy->flags & GPUMP_VICTIM_WHOLE_SM) != 0, &v);
                    price += v.late + v.waste;
                }
            free(c.data);
            if (wrong || got < 0) return fprintf(stderr, "%s: %s\n", argv[f], wrong ? wrong : "it ends too early"), 2;
            printf("%-20s %-40s %8.2f over %llu scenes\n", policy->name, argv[f],
                   scenes ? 100 * price / (double)scenes : 0, (unsigned long long)scenes);
        }
    return 0;
}
#endif
