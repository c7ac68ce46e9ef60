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

enum { TRUTHS = 3, NAME = 96, BLOCKS = 2048, SMS = 256, KERNELS = 3, LIMITS = 6, SHARES = 2 };
enum { SCENES = LIMITS * SHARES, END_US = 120, GUEST = KERNELS + 1, LARGEST = 1 << 28 };
static const uint32_t limits_us[LIMITS] = {1, 2, 5, 10, 20, 50}; /* of the scenes of each moment */
static const uint32_t shares[SHARES] = {1, 3}; /* positions asked for: all that the machine has, or a third of them */

typedef struct corpus {
    uint8_t *data;
    const uint8_t *at, *end; /* what has not been read; NULL: damaged */
} corpus;

/* What really happened to a block (bench/championship/record.c), in cycles from the request. */
typedef struct truth {
    uint64_t leave[TRUTHS]; /* by technique, when all blocks leave by it; GPUMP_UNKNOWN: it did not within END_US */
    uint64_t switch_loss;   /* warp instructions, when all blocks are switched */
    uint64_t set_technique, set_order, set_leave; /* in the random set; GPUMP_UNKNOWN: the block stayed */
} truth;

/* A machine with its resident kernels, and the moment that was read last. */
typedef struct moment {
    char name[NAME], kernel[NAME], machine[NAME];
    gpump_gpu gpu;
    gpump_port port;
    gpump_victim_geometry geometry;
    uint64_t residents, faults, kernels, left, cycle; /* left: moments of this item that follow */
    double save[2 + 2 * KERNELS], drain[KERNELS + 1]; /* how sets compose (compose.h) */
    gpump_cost_history histories[KERNELS + 2];
    uint32_t sms, total, count[SMS], first[SMS]; /* per SM: blocks, and the first one's index */
    gpump_block_view views[BLOCKS];
    uint64_t on[SMS][GPUMP_VICTIM_POSITIONS]; /* per SM and position: the blocks that lie there, from bit 0 = first */
    uint32_t of[SMS][KERNELS + 1];            /* per SM: blocks by kernel */
    int64_t threads[SMS], warps[SMS];         /* per SM: free beside its blocks */
    double executed;                          /* instructions of all blocks */
    truth truths[BLOCKS];
} moment;

/* A decision, and its price. */
typedef struct verdict {
    gpump_victim_place places[BLOCKS];
    gpump_block_choice choices[BLOCKS];
    gpump_victim_decision decision;
    uint64_t start;
    double lost, bytes, idle, late, waste;
} verdict;

/* ---- reading ---- */

static uint64_t get(corpus *c) { /* the inverse of put in record.c; damages the corpus behind its end */
    uint64_t value = 0;
    for (uint32_t shift = 0; c->at && c->at < c->end && shift < 64; shift += 7) {
        value |= (uint64_t)(*c->at & 127) << shift;
        if (*c->at++ < 128) return value - 1;
    }
    c->at = NULL;
    return 0;
}
static uint32_t get32(corpus *c) { return (uint32_t)get(c); }
static uint32_t get_below(corpus *c, uint64_t limit) { /* damages the corpus when the value is not below */
    const uint64_t value = get(c);
    if (value >= limit) c->at = NULL;
    return value < limit ? (uint32_t)value : 0;
}
static double get_coefficient(corpus *c) { /* a sign in the lowest bit, then the number times 2^16 */
    const uint64_t value = get(c);
    return (value & 1 ? -1.0 : 1.0) * (double)(value >> 1) / 65536;
}
static void get_text(corpus *c, char text[NAME]) {
    const uint32_t bytes = get_below(c, NAME);
    if (c->at && (uint64_t)(c->end - c->at) < bytes) c->at = NULL;
    if (!c->at) return;
    memcpy(text, c->at, bytes), text[bytes] = 0, c->at += bytes;
}

/* Reads a file into memory and checks its hash. Returns NULL, or what is wrong. */
static const char *corpus_open(corpus *c, const char *path) {
    FILE *file = fopen(path, "rb");
    uint64_t hash = UINT64_C(14695981039346656037);
    size_t bytes = 0, i;
    c->at = c->data = (uint8_t *)malloc(LARGEST);
    if (file && c->data) bytes = fread(c->data, 1, LARGEST, file);
    if (file) fclose(file);
    if (bytes < 17 || bytes == LARGEST) return "the file cannot be read, is too short, or is larger than 256 MiB";
    if (memcmp(c->data, "gpumpc02", 8)) return "this is no corpus of version 2";
    for (i = 0; i < bytes - 8; i++) hash = (hash ^ c->data[i]) * UINT64_C(1099511628211);
    for (; i < bytes; i++, hash >>= 8)
        if (c->data[i] != (hash & 255)) return "the hash differs: the file is damaged; record it again";
    c->at = c->data + 8, c->end = c->data + bytes - 8;
    for (i = (size_t)get(c); i > 0 && c->at; i--) get(c); /* offsets, for those who want one item */
    return NULL;
}

static void read_item(corpus *c, moment *m) {
    gpump_footprint guest;
    uint32_t shared;
    get_text(c, m->name), get_text(c, m->kernel), get_text(c, m->machine);
    m->residents = get(c), m->faults = get(c), m->kernels = get_below(c, KERNELS + 1);
    m->port.cycles = get(c), m->port.bytes = get(c), m->port.free_cycle = 0, shared = get32(c);
    guest.threads = get32(c), guest.registers = get32(c), guest.shared_bytes = get32(c), m->left = get(c);
    if (!c->at || gpump_preset(&gpump_gpu_component, &m->gpu, m->machine, NULL) || m->gpu.sms > SMS ||
        gpump_victim_geometry_init(&m->geometry, &m->gpu, &guest, shared, NULL))
        c->at = NULL;
}

static void read_block(corpus *c, moment *m, uint32_t s, gpump_block_view *v, truth *t) {
    memset(v, 0, sizeof *v);
    v->cookie = m->total, v->block.slot = get32(c);
    v->kernel = get_below(c, m->kernels + 1), v->function = get_below(c, m->kernels + 1);
    v->state = get_below(c, GPUMP_BLOCK_STATES), v->executed = get(c), v->start_cycle = m->cycle - get(c);
    v->cycles = get(c), v->context_bytes = get(c), v->register_base = get32(c), v->registers = get32(c);
    v->shared_base = get32(c), v->shared_bytes = get32(c), v->threads = get32(c), v->warps = get32(c);
    v->may = get32(c) & 7, v->faults = get32(c), v->fault_cycles = get(c), v->fault_stalls = get32(c);
    for (uint32_t k = 0; k < TRUTHS; k++) t->leave[k] = get(c);
    t->switch_loss = get(c), t->set_technique = get(c), t->set_order = t->set_leave = GPUMP_UNKNOWN;
    if (t->set_technique != GPUMP_UNKNOWN) t->set_order = get(c), t->set_leave = get(c);
    m->executed += (double)v->executed, m->of[s][v->kernel]++, m->threads[s] -= v->threads, m->warps[s] -= v->warps;
    if (!v->kernel) c->at = NULL;
}

/* Reads the next moment. Returns 0 behind the last, and when the file is damaged: c->at is NULL then. */
static int corpus_next(corpus *c, moment *m) {
    while (c->at && !m->left && c->at < c->end) read_item(c, m);
    if (!c->at || !m->left) return 0;
    m->left--, m->cycle = get(c), m->total = 0, m->sms = m->gpu.sms, m->executed = 0;
    memset(m->histories, 0, sizeof m->histories), memset(m->of, 0, sizeof m->of);
    for (uint64_t k = 1; k <= m->kernels; k++) {
        const uint64_t finished = get(c), known = finished < GPUMP_COST_WINDOW ? finished : GPUMP_COST_WINDOW;
        for (uint64_t i = 0; i < known && c->at; i++) {
            const uint64_t instructions = get(c), cpi = get(c);
            gpump_cost_history_record(&m->histories[k], instructions, gpump_muldiv_up(instructions, cpi, 65536));
        }
    }
    for (uint32_t i = 0; i < 2 + 2 * KERNELS; i++) m->save[i] = get_coefficient(c);
    for (uint32_t i = 0; i < KERNELS + 1; i++) m->drain[i] = get_coefficient(c);
    for (uint32_t s = 0; s < m->sms && c->at; s++) {
        uint64_t taken;
        m->count[s] = get_below(c, GPUMP_VICTIM_BLOCKS + 1), m->first[s] = m->total;
        m->threads[s] = m->geometry.thread_slots, m->warps[s] = m->geometry.warp_slots;
        if (m->total + m->count[s] > BLOCKS) return c->at = NULL, 0;
        for (uint32_t i = 0; i < m->count[s] && c->at; i++, m->total++)
            read_block(c, m, s, &m->views[m->total], &m->truths[m->total]);
        if (c->at && gpump_block_view_check(m->views + m->first[s], m->count[s], NULL)) c->at = NULL;
        if (!c->at) break;
        gpump_victim_candidates(&m->geometry, m->views + m->first[s], m->count[s], GUEST, m->on[s], &taken);
    }
    return c->at != NULL;
}

static uint64_t limit_of(const moment *m, uint32_t scene) {
    return gpump_gpu_cycles_from_ns(&m->gpu, limits_us[scene % LIMITS] * UINT64_C(1000));
}
static uint32_t want_of(const moment *m, uint32_t scene) { /* positions */
    return (m->geometry.blocks * m->sms + shares[scene / LIMITS] - 1) / shares[scene / LIMITS];
}

/* ---- composing the truth of a set ---- */

static uint64_t end_of(const moment *m) { return gpump_gpu_cycles_from_ns(&m->gpu, END_US * UINT64_C(1000)); }
static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t known_or(uint64_t value, uint64_t other) { return value == GPUMP_UNKNOWN ? other : value; }
static double ipc_of(const gpump_block_view *v) { return v->cycles ? (double)v->executed / (double)v->cycles : 0; }

/* What the saves and drains of one SM share: when its first save can begin, cycles per KB of a save, by what factor the
 * drains of a kernel last longer, and when the last save ends. */
typedef struct leaving {
    double stop, rate, factor[KERNELS + 1], port;
} leaving;

/* Begins the leaving of an SM where n[k] blocks of kernel k are neither saved nor flushed. */
static leaving begin_leaving(const moment *m, uint32_t s, const uint32_t *n) {
    leaving l = {m->save[0], m->save[1], {1}, -1e18};
    double share = m->count[s];
    for (uint32_t k = 1; k <= KERNELS; k++)
        l.stop += m->save[2 * k] * n[k], l.rate += m->save[2 * k + 1] * n[k], share -= n[k];
    for (uint32_t k = 1; k <= KERNELS; k++) {
        l.factor[k] = m->drain[k - 1] + m->drain[KERNELS] * share / (m->count[s] ? m->count[s] : 1);
        l.factor[k] = l.factor[k] < 0.25 ? 0.25 : l.factor[k] > 8 ? 8 : l.factor[k];
    }
    return l;
}

/* Returns when block b leaves by a technique that it is told at cycle `told`. */
static uint64_t leave_by(const moment *m, uint32_t b, uint32_t technique, uint64_t told, leaving *l) {
    const uint64_t *leave = m->truths[b].leave, drain = leave[GPUMP_TECHNIQUE_DRAIN];
    const double cycles = l->rate * (double)m->views[b].context_bytes / 1024;
    if (technique == GPUMP_TECHNIQUE_FLUSH && leave[technique] != GPUMP_UNKNOWN) return told + leave[technique];
    if (technique != GPUMP_TECHNIQUE_SWITCH || leave[technique] == GPUMP_UNKNOWN)
        return drain == GPUMP_UNKNOWN ? end_of(m) : (uint64_t)((double)drain * l->factor[m->views[b].kernel]);
    if ((double)told + l->stop > l->port) l->port = (double)told + l->stop;
    l->port += cycles < 1 ? 1 : cycles;
    return l->port < (double)told + 1 ? told + 1 : (uint64_t)l->port;
}

/* Events of one SM in the order in which they happen. */
typedef struct timeline {
    uint64_t at[GPUMP_VICTIM_BLOCKS];
    uint32_t who[GPUMP_VICTIM_BLOCKS], count;
} timeline;

static void timeline_add(timeline *t, uint64_t at, uint32_t who) {
    uint32_t k = t->count++;
    for (; k > 0 && t->at[k - 1] > at; k--) t->at[k] = t->at[k - 1], t->who[k] = t->who[k - 1];
    t->at[k] = at, t->who[k] = who;
}

/* Returns when the places of one SM have all begun, and adds to the verdict what the room of its victims, which leave
 * as in `out`, idles. A place waits for the victims on it (`whole`: for all), then for threads, warps and a slot. */
static uint64_t settle_sm(const moment *m, uint32_t s, const gpump_victim_place *places, uint32_t count, int whole,
                          const timeline *out, verdict *v) {
    const gpump_victim_geometry *g = &m->geometry;
    const gpump_block_view *views = m->views + m->first[s];
    int64_t threads = m->threads[s], warps = m->warps[s], slots = (int64_t)g->block_slots - m->count[s];
    uint64_t begins[GPUMP_VICTIM_BLOCKS], last = 0; /* begins: by block, when the first place on its room has begun */
    uint32_t freed = 0, n, i;
    timeline ready;
    if (!out->count) return 0;
    memset(begins, 0xff, m->count[s] * sizeof *begins);
    for (ready.count = n = 0; n < count; n++) {
        const uint64_t on = m->on[s][places[n].position];
        for (i = out->count; i > 0 && !whole && !(on >> out->who[i - 1] & 1); i--) {}
        timeline_add(&ready, i ? out->at[i - 1] : 0, places[n].position);
    }
    for (n = 0; n < count; n++) { /* by when registers and shared memory are free */
        last = later(last, ready.at[n]);
        while (freed < out->count &&
               (out->at[freed] <= last || threads < g->threads || warps < g->warps || slots < 1)) {
            i = out->who[freed], threads += views[i].threads, warps += views[i].warps, slots++;
            last = later(last, out->at[freed++]);
        }
        threads -= g->threads, warps -= g->warps, slots--;
        for (uint64_t rest = m->on[s][ready.who[n]]; rest; rest &= rest - 1)
            if (begins[gpump_bits_lowest64(rest)] == GPUMP_UNKNOWN) begins[gpump_bits_lowest64(rest)] = last;
    }
    for (n = 0; n < out->count && count; n++) {
        const uint64_t end = known_or(begins[out->who[n]], last);
        if (end > out->at[n]) v->idle += (double)(end - out->at[n]) * ipc_of(&views[out->who[n]]);
    }
    return last;
}

/* Adds to the verdict what one SM loses. Its places begin at *p and its choices at *c, which go behind them. Returns
 * when its places have begun. */
static uint64_t price_sm(const moment *m, uint32_t s, int whole, uint32_t *p, uint32_t *c, verdict *v) {
    const uint64_t again = known_or(v->decision.ask_again, UINT64_MAX / 2);
    const gpump_victim_place *places = v->places + *p;
    const gpump_block_choice *choice = v->choices + *c, *end = v->choices + v->decision.choices;
    uint32_t n[KERNELS + 1];
    timeline out;
    leaving l;
    while (*p < v->decision.places && v->places[*p].sm == s) ++*p;
    if (choice == end || choice->sm != s) return 0; /* nobody leaves */
    memcpy(n, m->of[s], sizeof n);
    for (; v->choices + *c < end && v->choices[*c].sm == s; ++*c)
        n[m->views[v->choices[*c].cookie].kernel] -= v->choices[*c].technique != GPUMP_TECHNIQUE_DRAIN;
    l = begin_leaving(m, s, n), out.count = 0;
    for (; choice < v->choices + *c; choice++) {
        const uint32_t b = (uint32_t)choice->cookie;
        const truth *t = &m->truths[b];
        uint32_t technique = choice->technique;
        uint64_t told = 0, at = leave_by(m, b, technique, 0, &l);
        if (choice->otherwise != technique && at > again) /* the second look */
            at = leave_by(m, b, technique = choice->otherwise, told = again, &l);
        timeline_add(&out, at, b - m->first[s]);
        if (technique >= TRUTHS || t->leave[technique] == GPUMP_UNKNOWN) continue;
        if (technique == GPUMP_TECHNIQUE_FLUSH)
            v->lost += (double)m->views[b].executed + (double)told * ipc_of(&m->views[b]);
        if (technique != GPUMP_TECHNIQUE_SWITCH) continue;
        v->bytes += (double)m->views[b].context_bytes;
        v->lost += (double)t->switch_loss * (double)(at - told) / (double)(t->leave[technique] + 1);
    }
    return settle_sm(m, s, places, (uint32_t)(v->places + *p - places), whole, &out, v);
}

/* Sets the price of v->decision, whose places and choices are those of a request for `want` positions. `price` is
 * price_sm, or adds the same. */
typedef uint64_t pricer(const moment *, uint32_t, int, uint32_t *, uint32_t *, verdict *);
static void set_price(const moment *m, uint32_t want, uint64_t limit, int whole, pricer *price, verdict *v) {
    const double risk = m->executed * (double)want / ((double)m->geometry.blocks * m->sms);
    v->start = 0, v->lost = v->bytes = v->idle = 0;
    for (uint32_t s = 0, p = 0, c = 0; s < m->sms; s++) v->start = later(v->start, price(m, s, whole, &p, &c, v));
    if (v->decision.places < want) v->start = end_of(m);
    v->lost += v->idle;
    v->waste = v->lost < (risk < 1 ? 1 : risk) ? v->lost / (risk < 1 ? 1 : risk) : 1;
    v->late = v->start <= limit ? 0 : v->start >= 2 * limit ? 1 : (double)v->start / (double)limit / 2;
}

/* ---- asking a policy ---- */

/* Estimates all blocks as a policy's cost options say, within a limit. instructions.sh counts what is executed in here
 * and in decide(). */
__attribute__((noinline)) static void estimate(const moment *m, gpump_cost_options options, uint64_t limit,
                                               gpump_cost_estimate *estimates) {
    options.limit_cycles = limit;
    for (uint32_t s = 0; s < m->sms; s++)
        gpump_cost_estimate_blocks(&m->port, m->histories, (uint32_t)m->kernels + 2, m->views + m->first[s],
                                   m->count[s], NULL, &options, estimates + m->first[s], NULL);
}

/* Asks a policy that has these estimates of all blocks. A policy that is refused (*diag says why) frees nothing. */
__attribute__((noinline)) static gpump_result decide(const moment *m, const gpump_victim_policy *policy,
                                                     const gpump_cost_estimate *estimates, uint32_t want,
                                                     uint64_t limit, verdict *v, gpump_diag *diag) {
    static gpump_victim_sm sms[SMS];
    static uint64_t scratch[65536];
    gpump_victim_request request;
    const gpump_victim_question q = {policy,    &request,   &m->geometry, sms,    scratch, sizeof scratch,
                                     v->places, v->choices, m->sms,       BLOCKS, BLOCKS,  0};
    gpump_victim_request_init(&request, (uint32_t)m->kernels + 1, want, 0);
    request.limit_cycles = limit;
    for (uint32_t s = 0; s < m->sms; s++)
        sms[s] = (gpump_victim_sm){m->views + m->first[s], estimates + m->first[s], 0, m->count[s], s};
    memset(&v->decision, 0, sizeof v->decision);
    return gpump_victim_decide(&q, &v->decision, diag);
}

#ifndef CHAMPIONSHIP_IS_LINKED
int main(int argc, char **argv) {
    static moment m;
    static verdict v;
    static gpump_cost_estimate estimates[BLOCKS];
    const gpump_victim_policy *p;
    if (argc < 2) return fputs("usage: score CORPUS...\n", stderr), 2;
    for (int f = 1; f < argc; f++) {
        double prices[64] = {0}, scenes = 0;
        corpus c;
        const char *wrong = corpus_open(&c, argv[f]);
        for (m.left = 0; !wrong && corpus_next(&c, &m);)
            for (uint32_t n = 0; n < SCENES; n++, scenes++)
                for (uint32_t i = 0; (p = gpump_victim_policy_at(i)) != NULL; i++) {
                    estimate(&m, p->cost, limit_of(&m, n), estimates);
                    decide(&m, p, estimates, want_of(&m, n), limit_of(&m, n), &v, NULL);
                    set_price(&m, want_of(&m, n), limit_of(&m, n), p->flags & GPUMP_VICTIM_WHOLE_SM, price_sm, &v);
                    prices[i] += v.late + v.waste;
                }
        free(c.data);
        if (wrong || !c.at) return fprintf(stderr, "%s: %s\n", argv[f], wrong ? wrong : "a scene is damaged"), 2;
        for (uint32_t i = 0; (p = gpump_victim_policy_at(i)) != NULL; i++)
            printf("%-20s %-40s %8.2f over %.0f scenes\n", p->name, argv[f], 100 * prices[i] / scenes, scenes);
    }
    return fflush(stdout) ? 2 : 0;
}
#endif
