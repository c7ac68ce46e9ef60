/* labels: unit property */
/* restart against a plain mirror that is written from its header alone: random facts, and after each of them every
 * question and counter. Beside it, ranges field by field, refusals, the hash bit by bit, and the closed forms in long
 * double. */
#include "diagnosed.h"

#include <math.h>

enum { WARPS = 3, FRAMES = 3, STORES = 4, LATENCY = 6, PCS = 5, WORDS = 3 + 2 * 2 * FRAMES };
static uint64_t memory[2][1 << 13];

/* ==== the mirror ==== */

typedef struct mirror_region {
    gpump_restart_frame frames[FRAMES];
    uint32_t depth; /* 0: nowhere */
    int forbidden;
    uint64_t since;
} mirror_region;
typedef struct mirror_warp {
    int is_open, own_short; /* own_short: its short region began further on than its sparse one */
    mirror_region region[2];
    uint64_t verified, detected; /* cycles; UINT64_MAX: it has no error */
    uint32_t mode, last_pc, earlier_pc, restarts, stores;
} mirror_warp;
typedef struct mirror {
    gpump_restart_config config;
    mirror_warp warps[WARPS];
    gpump_restart_statistics sums;
} mirror;

static mirror_region *region_of(mirror_warp *w, uint32_t region) {
    return &w->region[region == GPUMP_RESTART_SHORT && w->own_short];
}
static int may_go_back(mirror_warp *w, uint32_t region) {
    const mirror_region *r = region_of(w, region);
    return r->depth && !r->forbidden;
}
static uint32_t mode_at(const mirror_warp *w, uint32_t pc) {
    if (w->mode == GPUMP_RESTART_AGAIN && pc != w->last_pc) return GPUMP_RESTART_RUN;
    return w->mode;
}
static void forget_exceptions(mirror_warp *w) {
    w->mode = GPUMP_RESTART_RUN;
    w->last_pc = w->earlier_pc = GPUMP_NONE;
    w->restarts = 0;
}
static mirror_warp no_warp(void) {
    mirror_warp w;
    memset(&w, 0, sizeof w);
    w.detected = UINT64_MAX;
    forget_exceptions(&w);
    return w;
}
static uint32_t all_stores(const mirror *m) {
    uint32_t i, sum = 0;
    for (i = 0; i < WARPS; i++) sum += m->warps[i].stores;
    return sum;
}

static void mirror_boundary(mirror *m, mirror_warp *w, uint32_t region, const gpump_restart_frame *frames,
                            uint32_t depth) {
    mirror_region fresh;
    memset(&fresh, 0, sizeof fresh);
    memcpy(fresh.frames, frames, depth * sizeof *frames);
    fresh.depth = depth;
    w->region[region] = fresh;
    w->own_short = region == GPUMP_RESTART_SHORT;
    w->region[1].since = 0;
    forget_exceptions(w);
    m->sums.boundaries++;
}

static void mirror_go_back(mirror *m, mirror_warp *w, uint32_t region) {
    m->sums.restarts++;
    m->sums.given_up += w->region[region].since;
    if (region == GPUMP_RESTART_SPARSE) {
        if (w->own_short) forget_exceptions(w);
        w->own_short = 0;
        w->region[0].since = 0;
    } else {
        w->region[0].since -= w->region[1].since;
    }
    w->region[1].since = 0;
    w->verified = 0;
    w->detected = UINT64_MAX;
    w->stores = 0;
}

static gpump_restart_order mirror_exception(mirror *m, mirror_warp *w, uint32_t pc, uint32_t repair) {
    gpump_restart_order order;
    const int emulates = repair == GPUMP_RESTART_EMULATED;
    order.pc = pc;
    order.other = GPUMP_NONE;
    order.region = !emulates && may_go_back(w, GPUMP_RESTART_SPARSE) ? GPUMP_RESTART_SPARSE : GPUMP_RESTART_SHORT;
    order.answer = GPUMP_RESTART_GO_BACK;
    if (w->detected != UINT64_MAX) {
        m->sums.ignored++;
        order.answer = GPUMP_RESTART_IGNORE;
        return order;
    }
    *(emulates ? &m->sums.exceptions : &m->sums.faults) += 1;
    if (emulates && mode_at(w, pc) != GPUMP_RESTART_RUN) {
        order.answer = GPUMP_RESTART_IN_PLACE;
    } else if (!may_go_back(w, order.region)) {
        m->sums.stuck++;
        order.answer = GPUMP_RESTART_STUCK;
    } else if (emulates && ((pc == w->earlier_pc && pc != w->last_pc) || w->restarts >= m->config.most_restarts)) {
        m->sums.live_locks++;
        if (w->last_pc != pc) order.other = w->last_pc;
        if (m->config.cure == GPUMP_RESTART_CURE_SPLIT && order.other != GPUMP_NONE) {
            order.answer = GPUMP_RESTART_SPLIT;
            forget_exceptions(w);
        } else {
            order.answer = GPUMP_RESTART_GO_STEP;
            w->mode = GPUMP_RESTART_STEP;
        }
    } else if (emulates) {
        w->restarts++;
        if (pc != w->last_pc) w->earlier_pc = w->last_pc;
        w->last_pc = pc;
        w->mode = GPUMP_RESTART_AGAIN;
    }
    return order;
}

/* ==== the comparison ==== */

static void same_frames(const gpump_restart_frame *a, const gpump_restart_frame *b, uint32_t depth) {
    uint32_t i;
    for (i = 0; i < depth; i++) {
        assert_true(a[i].lanes == b[i].lanes);
        assert_int_equal(a[i].pc, b[i].pc);
        assert_int_equal(a[i].reconvergence_pc, b[i].reconvergence_pc);
    }
}

static void same_warp(const gpump_restart *restart, const mirror *m, uint32_t i, uint64_t now) {
    mirror_warp w = m->warps[i];
    uint32_t region, pc, depth;
    for (region = 0; region < GPUMP_RESTART_REGIONS; region++) {
        const mirror_region *r = region_of(&w, region);
        gpump_restart_frame frames[FRAMES];
        assert_int_equal(gpump_restart_where(restart, i, region, frames, FRAMES, &depth),
                         r->depth ? GPUMP_OK : GPUMP_EMPTY);
        assert_int_equal(depth, r->depth);
        same_frames(frames, r->frames, depth);
        if (depth)
            assert_int_equal(gpump_restart_where(restart, i, region, frames, depth - 1, &depth), GPUMP_ERROR_CAPACITY);
        assert_int_equal(gpump_restart_may_go_back(restart, i, region), may_go_back(&w, region));
        assert_true(gpump_restart_since(restart, i, region) == w.region[region].since);
    }
    for (pc = 0; pc < PCS; pc++) assert_int_equal(gpump_restart_mode_at(restart, i, pc), mode_at(&w, pc));
    assert_int_equal(gpump_restart_is_verified(restart, i, now), now >= w.verified);
    assert_int_equal(gpump_restart_errs(restart, i), w.detected != UINT64_MAX);
    assert_int_equal(gpump_restart_has_stores(restart, i), w.stores > 0);
}

static void same(const gpump_restart *restart, const mirror *m, uint64_t now) {
    gpump_restart_statistics sums;
    uint32_t i, warp, first = GPUMP_NONE;
    assert_int_equal(gpump_check(&gpump_restart_component, restart, NULL), GPUMP_OK);
    for (i = WARPS; i-- > 0;) {
        same_warp(restart, m, i, now);
        if (m->warps[i].detected <= now) first = i;
    }
    assert_int_equal(gpump_restart_next(restart, now, &warp), first == GPUMP_NONE ? GPUMP_EMPTY : GPUMP_OK);
    assert_int_equal(warp, first);
    assert_int_equal(gpumpi_restart_may_store(restart),
                     !m->config.store_entries || all_stores(m) < m->config.store_entries);
    gpump_get_statistics(&gpump_restart_component, restart, &sums);
    assert_memory_equal(&sums, &m->sums, sizeof sums);
}

/* ==== random facts ==== */

static uint32_t random_stack(uint64_t *random, gpump_restart_frame frames[FRAMES]) {
    const uint32_t depth = 1 + gpump_random_below(random, FRAMES);
    uint32_t i;
    for (i = 0; i < depth; i++) {
        frames[i].lanes = gpump_random_next(random);
        frames[i].pc = (uint32_t)gpump_random_next(random);
        frames[i].reconvergence_pc = (uint32_t)gpump_random_next(random);
    }
    return depth;
}

/* A warp is saved, and comes back in the same slot or another, in a component of its own. */
static void travel(gpump_restart *restart, mirror *m, uint32_t from, uint32_t to) {
    mirror_warp *w = &m->warps[from];
    uint64_t words[WORDS];
    uint32_t count, expected = 3 + 2 * (w->region[0].depth + (w->own_short ? w->region[1].depth : 0));
    if (w->detected != UINT64_MAX) {
        assert_int_equal(gpump_restart_save(restart, from, words, WORDS, &count), GPUMP_BUSY);
        return;
    }
    assert_int_equal(gpump_restart_save(restart, from, words, expected - 1, &count), GPUMP_ERROR_CAPACITY);
    assert_int_equal(count, expected);
    assert_int_equal(gpump_restart_save(restart, from, words, expected, &count), GPUMP_OK);
    assert_int_equal(count, expected);
    if (to != from && m->warps[to].is_open) {
        assert_int_equal(gpump_restart_open(restart, to), GPUMP_ERROR_STATE);
        return;
    }
    assert_int_equal(gpump_restart_close(restart, from), GPUMP_OK);
    assert_int_equal(gpump_restart_restore(restart, to, words, count, NULL), GPUMP_ERROR_STATE); /* not opened */
    assert_int_equal(gpump_restart_open(restart, to), GPUMP_OK);
    assert_int_equal(gpump_restart_restore(restart, to, words, count + 1, NULL), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_restart_restore(restart, to, words, count - 1, NULL), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_restart_restore(restart, to, words, count, NULL), GPUMP_OK);
    m->warps[to] = *w;
    if (to != from) *w = no_warp();
    w = &m->warps[to];
    w->region[0].since = w->region[1].since = w->verified = 0;
    w->stores = 0;
    m->sums.restored++;
}

static void go_back(gpump_restart *restart, mirror *m, uint32_t i, uint32_t region) {
    mirror_warp *w = &m->warps[i];
    gpump_restart_frame frames[FRAMES];
    const mirror_region r = *region_of(w, region);
    uint32_t depth;
    if (!may_go_back(w, region)) {
        assert_int_equal(gpump_restart_go_back(restart, i, region, frames, FRAMES, &depth), GPUMP_BUSY);
        return;
    }
    assert_int_equal(gpump_restart_go_back(restart, i, region, frames, r.depth - 1, &depth), GPUMP_ERROR_CAPACITY);
    assert_int_equal(depth, r.depth);
    assert_int_equal(gpump_restart_go_back(restart, i, region, frames, r.depth, &depth), GPUMP_OK);
    assert_int_equal(depth, r.depth);
    same_frames(frames, r.frames, depth);
    mirror_go_back(m, w, region);
}

static void exception(gpump_restart *restart, mirror *m, uint32_t i, uint32_t pc, uint32_t repair) {
    const gpump_restart_order expected = mirror_exception(m, &m->warps[i], pc, repair);
    gpump_restart_order order;
    assert_int_equal(gpump_restart_report_exception(restart, i, pc, repair, &order), GPUMP_OK);
    assert_memory_equal(&order, &expected, sizeof order);
    if (order.answer == GPUMP_RESTART_GO_BACK || order.answer == GPUMP_RESTART_GO_STEP ||
        order.answer == GPUMP_RESTART_SPLIT)
        go_back(restart, m, i, order.region);
}

static void error(gpump_restart *restart, mirror *m, uint32_t i, uint64_t now) {
    mirror_warp *w = &m->warps[i];
    const int may = m->config.latency_cycles && may_go_back(w, GPUMP_RESTART_SHORT);
    assert_int_equal(gpump_restart_report_error(restart, i, now), may ? GPUMP_OK : GPUMP_ERROR_STATE);
    if (!may) return;
    m->sums.errors++;
    if (w->detected != UINT64_MAX) return;
    m->sums.detected++;
    w->detected = now + m->config.latency_cycles;
}

/* Something of a warp that is there. */
static void something(gpump_restart *restart, mirror *m, uint32_t i, uint64_t now, uint64_t *random) {
    mirror_warp *w = &m->warps[i];
    gpump_restart_frame frames[FRAMES];
    uint32_t k, depth, region = gpump_random_below(random, 2);
    switch (gpump_random_below(random, 16)) {
    case 0:
        depth = random_stack(random, frames);
        assert_int_equal(gpump_restart_report_boundary(restart, i, region, frames, depth),
                         w->detected != UINT64_MAX ? GPUMP_ERROR_STATE : GPUMP_OK);
        if (w->detected == UINT64_MAX) mirror_boundary(m, w, region, frames, depth);
        break;
    case 1: go_back(restart, m, i, region); break;
    case 2:
        gpump_restart_forbid(restart, i);
        w->region[0].forbidden = w->region[1].forbidden = 1;
        break;
    case 3: travel(restart, m, i, gpump_random_below(random, WARPS)); break;
    case 4: error(restart, m, i, now); break;
    case 5:
        k = all_stores(m) < m->config.store_entries || !m->config.store_entries;
        assert_int_equal(gpump_restart_report_store(restart, i), k ? GPUMP_OK : GPUMP_BUSY);
        w->stores += k;
        m->sums.stores += k;
        break;
    case 6:
        assert_int_equal(gpump_restart_report_stored(restart, i), w->stores ? GPUMP_OK : GPUMP_ERROR_STATE);
        w->stores -= w->stores > 0;
        break;
    case 7:
        assert_int_equal(gpump_restart_step(restart, i),
                         may_go_back(w, GPUMP_RESTART_SHORT) ? GPUMP_OK : GPUMP_ERROR_STATE);
        if (may_go_back(w, GPUMP_RESTART_SHORT)) w->mode = GPUMP_RESTART_STEP;
        break;
    case 8:
        assert_int_equal(gpump_restart_close(restart, i), GPUMP_OK);
        assert_int_equal(gpump_restart_close(restart, i), GPUMP_ERROR_STATE);
        *w = no_warp();
        break;
    case 9:
        gpump_restart_report_unverified(restart, i, now);
        w->verified = now + m->config.latency_cycles;
        break;
    case 10:
        gpump_restart_report_emulated(restart, i);
        m->sums.emulated++;
        if (m->config.patch == GPUMP_RESTART_PATCH_ONCE && w->mode == GPUMP_RESTART_AGAIN) w->mode = GPUMP_RESTART_RUN;
        break;
    case 11:
    case 12:
    case 13: exception(restart, m, i, gpump_random_below(random, PCS), gpump_random_below(random, 4) != 0); break;
    default:
        gpump_restart_report_executed(restart, i);
        w->region[0].since++;
        w->region[1].since++;
        m->sums.steps += w->mode == GPUMP_RESTART_STEP;
    }
}

/* Boundaries, errors, exceptions and faults in random order beside a mirror of plain fields. */
static void random_facts_agree_with_the_mirror(void **state) {
    uint64_t random = test_seed(), n, now = 0, live_locks = 0, restored = 0, ignored = 0, stuck = 0;
    uint32_t run;
    (void)state;
    for (run = 0; run < 8; run++) {
        gpump_restart *restart = NULL;
        mirror m;
        uint32_t i;
        size_t bytes;
        memset(&m, 0, sizeof m);
        assert_int_equal(gpump_preset(&gpump_restart_component, &m.config, "igpu", NULL), GPUMP_OK);
        m.config.warps = WARPS;
        m.config.frames = FRAMES;
        m.config.cure = run % 2;
        m.config.patch = run / 2 % 2;
        m.config.latency_cycles = run / 4 ? LATENCY : 0;
        m.config.store_entries = run / 4 ? STORES : 0;
        m.config.most_restarts = 2 + run;
        for (i = 0; i < WARPS; i++) m.warps[i] = no_warp();
        assert_int_equal(gpump_bytes(&gpump_restart_component, &m.config, &bytes, NULL), GPUMP_OK);
        assert_true(bytes <= sizeof memory[0]);
        memset(memory[0], 0x5a, sizeof memory[0]);
        assert_int_equal(gpump_init(&gpump_restart_component, memory[0], bytes, &m.config, &restart, NULL), GPUMP_OK);
        assert_true((memory[0][bytes / 8]) == UINT64_C(0x5a5a5a5a5a5a5a5a)); /* it keeps to its bytes */
        for (n = 0; n < test_cases(20000); n++) {
            i = gpump_random_below(&random, WARPS);
            now += gpump_random_below(&random, 3);
            if (m.warps[i].is_open) {
                something(restart, &m, i, now, &random);
            } else {
                assert_int_equal(gpump_restart_open(restart, i), GPUMP_OK);
                assert_int_equal(gpump_restart_open(restart, i), GPUMP_ERROR_STATE);
                m.warps[i].is_open = 1;
            }
            same(restart, &m, now);
        }
        live_locks += m.sums.live_locks;
        restored += m.sums.restored;
        ignored += m.sums.ignored;
        stuck += m.sums.stuck;
    }
    assert_true(live_locks && restored && ignored && stuck);
}

/* ==== exceptions one after the other, in words ==== */

static gpump_restart *fresh(gpump_restart_config *config, const char *preset) {
    gpump_restart *restart = NULL;
    size_t bytes;
    gpump_restart_frame frame = {7, 100, GPUMP_NONE};
    assert_int_equal(gpump_preset(&gpump_restart_component, config, preset, NULL), GPUMP_OK);
    config->warps = WARPS;
    config->frames = FRAMES;
    assert_int_equal(gpump_bytes(&gpump_restart_component, config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_restart_component, memory[0], bytes, config, &restart, NULL), GPUMP_OK);
    assert_int_equal(gpump_restart_open(restart, 0), GPUMP_OK);
    assert_int_equal(gpump_restart_report_boundary(restart, 0, GPUMP_RESTART_SPARSE, &frame, 1), GPUMP_OK);
    return restart;
}

/* What happens to exceptions of one region, one after the other, each met with the answer that the host carries out. */
static void answers_are(const char *name, uint32_t cure, const uint32_t (*steps)[2], uint32_t count) {
    gpump_restart_config config;
    gpump_restart *restart = fresh(&config, "igpu");
    uint32_t i;
    restart->config.cure = cure;
    for (i = 0; i < count; i++) {
        gpump_restart_frame frames[FRAMES];
        gpump_restart_order order;
        uint32_t depth;
        assert_int_equal(gpump_restart_report_exception(restart, 0, steps[i][0], GPUMP_RESTART_EMULATED, &order), 0);
        if (order.answer != steps[i][1])
            fail_msg("%s, exception %u at %u: answer %u, not %u", name, i, steps[i][0], order.answer, steps[i][1]);
        if (order.answer <= GPUMP_RESTART_GO_STEP)
            assert_int_equal(gpump_restart_go_back(restart, 0, order.region, frames, FRAMES, &depth), GPUMP_OK);
    }
}

/* Sequences of exceptions, and what each is answered under each cure. */
static void second_exceptions_are_answered_as_written(void **state) {
    enum { BACK = GPUMP_RESTART_GO_BACK, HERE = GPUMP_RESTART_IN_PLACE };
    static const uint32_t same_pc[][2] = {{10, BACK}, {10, HERE}, {10, HERE}, {10, HERE}};
    static const uint32_t younger_first[][2] = {{20, BACK}, {10, BACK}, {10, HERE}, {10, HERE}}; /* no live-lock */
    static const uint32_t other_pc[][2] = {{10, BACK}, {20, BACK}, {20, HERE}, {10, GPUMP_RESTART_SPLIT}, {10, BACK}};
    static const uint32_t stepped[][2] = {{10, BACK}, {20, BACK}, {10, GPUMP_RESTART_GO_STEP}, {10, HERE}, {20, HERE}};
    static const uint32_t three[][2] = {{10, BACK}, {20, BACK}, {30, BACK}, {20, GPUMP_RESTART_SPLIT}, {10, BACK}};
    (void)state;
    answers_are("the same PC", 0, same_pc, 4);
    answers_are("the younger one first", 0, younger_first, 4);
    answers_are("another PC, split", GPUMP_RESTART_CURE_SPLIT, other_pc, 5);
    answers_are("another PC, step", GPUMP_RESTART_CURE_STEP, stepped, 5);
    answers_are("three PCs", GPUMP_RESTART_CURE_SPLIT, three, 5);
}

/* ==== ranges, refusals, bits ==== */

static gpump_result check_restart(const void *config, gpump_diag *diag) {
    uint64_t bits;
    size_t bytes;
    gpump_result result = gpump_bytes(&gpump_restart_component, (const gpump_restart_config *)config, &bytes, diag);
    assert_int_equal(gpump_bits(&gpump_restart_component, config, &bits, NULL), result);
    return result;
}

#define FIELD(name, minimum, maximum) DIAGNOSED_FIELD(gpump_restart_config, name, minimum, maximum)
/* Each number of the configuration, beyond either end of its range, is refused with the range. */
static void every_number_has_its_range(void **state) {
    static const diagnosed_field fields[] = {FIELD(warps, 1, 256),
                                             FIELD(lanes, 1, 64),
                                             FIELD(frames, 1, 256),
                                             FIELD(latency_cycles, 0, 4096),
                                             FIELD(voltage_q16, 0, 65536),
                                             FIELD(store_entries, 0, 65536),
                                             FIELD(cure, 0, 1),
                                             FIELD(patch, 0, 1),
                                             FIELD(most_restarts, 1, UINT32_MAX - 1)};
    enum { COUNT = sizeof fields / sizeof *fields };
    gpump_restart_config config;
    size_t bytes, expected;
    uint32_t i, end;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_restart_component, &config, "razor", NULL), GPUMP_OK);
    diagnosed_fields(&config, sizeof config, fields, COUNT, check_restart);
    for (i = 0; i < COUNT; i++)
        for (end = 0; end < 2; end++) {
            gpump_restart_config one = config;
            diagnosed_set(&one, &fields[i], end ? fields[i].maximum : fields[i].minimum);
            assert_int_equal(check_restart(&one, NULL), GPUMP_OK);
        }
    assert_int_equal(gpump_bytes(&gpump_restart_component, &config, &bytes, NULL), GPUMP_OK);
    expected = sizeof(gpump_restart) + 48 * (64 + 2 * 64 * 16);
    assert_int_equal(bytes, expected);
    diagnosed_null(gpump_bytes(&gpump_restart_component, NULL, &bytes, DIAG), "config");
    diagnosed_null(gpump_bytes(&gpump_restart_component, &config, NULL, DIAG), "bytes");
}

/* Presets whole; latencies and the store queue are assumed, and must not change unnoticed. */
static void presets_are_as_written_down(void **state) {
    static const struct {
        const char *name;
        uint32_t latency, rate, voltage, stores;
    } presets[] = {{"decor", 8, 42949672, 6553, 64},
                   {"emergency", 8, 429496, 6553, 64},
                   {"razor", 1, 42949672, 9830, 64},
                   {"razor2", 4, 4294967, 9830, 64},
                   {"igpu", 0, 0, 0, 0}};
    gpump_restart_config config;
    uint32_t i;
    (void)state;
    for (i = 0; i < 5; i++) {
        const gpump_restart_config expected = {48,
                                               32,
                                               64,
                                               presets[i].latency,
                                               presets[i].rate,
                                               presets[i].voltage,
                                               presets[i].stores,
                                               GPUMP_RESTART_CURE_SPLIT,
                                               GPUMP_RESTART_PATCH_REGION,
                                               8};
        memset(&config, 0x5a, sizeof config);
        assert_int_equal(gpump_preset(&gpump_restart_component, &config, presets[i].name, NULL), GPUMP_OK);
        assert_memory_equal(&config, &expected, sizeof config);
    }
    assert_int_equal(gpump_preset(&gpump_restart_component, NULL, "igpu", NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_restart_component, &config, NULL, NULL), GPUMP_ERROR_ARGUMENT);
}

/* Bits of a small machine, table by table, counted by hand. */
static void bits_are_those_of_the_tables(void **state) {
    gpump_restart_config config;
    gpump_restart_storage storage;
    uint64_t bits;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_restart_component, &config, "razor2", NULL), GPUMP_OK);
    config.warps = 10;
    config.lanes = 16;
    config.frames = 7;
    config.latency_cycles = 3;
    config.store_entries = 63;
    config.most_restarts = 7;
    assert_int_equal(gpump_bits(&gpump_restart_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(gpump_table_bits(&gpump_restart_component, &config, &storage, NULL), GPUMP_OK);
    assert_int_equal(storage.pc_bits, 10 * 2 * 32);
    assert_int_equal(storage.store_bits, 63 * (64 + 64 + 16));
    assert_int_equal(storage.pc_bits + storage.warp_bits + storage.store_bits, bits);
    /* stacks of 7 entries of two PCs and 16 lanes, 0 to 7 of them: 3 bits; two PCs, mode 2, forbidden 2, restarts 0 to
     * 7: 3; cycles 0 to 3: 2, twice; stores 0 to 63: 6; a queue of address, data and lanes. One more needs a bit more.
     */
    assert_int_equal(bits, 10 * (2 * (7 * (64 + 16) + 3) + 64 + 2 + 2 + 3 + 2 * 2 + 6) + 63 * (64 + 64 + 16));
    config.frames++;
    config.latency_cycles++;
    config.store_entries++;
    config.most_restarts++;
    assert_int_equal(gpump_bits(&gpump_restart_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(bits, 10 * (2 * (8 * (64 + 16) + 4) + 64 + 2 + 2 + 4 + 2 * 3 + 7) + 64 * (64 + 64 + 16));
}

#define NOT_FRESH "warp is closed or has boundaries: call gpump_restart_open just before gpump_restart_restore"
/* Missing pointers, wrong numbers, and calls in the wrong state are refused, and change nothing. */
static void wrong_calls_of_restart_are_refused(void **state) {
    gpump_restart_config config, other;
    gpump_restart *restart = fresh(&config, "razor2"), *adopted = NULL;
    gpump_restart_frame frames[FRAMES + 1];
    gpump_restart_order order;
    uint64_t words[WORDS];
    uint32_t n;
    size_t bytes;
    (void)state;
    memset(frames, 0, sizeof frames);
    assert_int_equal(gpump_bytes(&gpump_restart_component, &config, &bytes, NULL), GPUMP_OK);
    diagnosed_null(gpump_init(&gpump_restart_component, memory[1], bytes, &config, NULL, DIAG), "restart");
    diagnosed_null(gpump_adopt(&gpump_restart_component, memory[0], bytes, &config, NULL, DIAG), "restart");
    diagnosed_null(gpump_check(&gpump_restart_component, NULL, DIAG), "restart");
    assert_true(gpump_init(&gpump_restart_component, memory[1], bytes - 1, &config, &adopted, NULL) != GPUMP_OK);
    assert_null(adopted);
    assert_int_equal(gpump_adopt(&gpump_restart_component, memory[0], bytes, &config, &adopted, NULL), GPUMP_OK);
    assert_ptr_equal(adopted, restart);
    for (n = 1; n < sizeof config / 4; n++) { /* not `unused`'s layout either: another configuration is refused */
        uint32_t raw[sizeof config / 4];
        if (n == 10) continue; /* most_restarts below */
        memcpy(raw, &config, sizeof config);
        raw[n] += raw[n] ? (uint32_t)-1 : 1u;
        memcpy(&other, raw, sizeof other);
        adopted = NULL;
        assert_true(gpump_adopt(&gpump_restart_component, memory[0], bytes, &other, &adopted, NULL) != GPUMP_OK);
        assert_null(adopted);
    }
    restart->config.most_restarts++; /* altered behind the layout's back */
    diagnosed(gpump_adopt(&gpump_restart_component, memory[0], bytes, &config, &adopted, DIAG), GPUMP_ERROR_FORMAT,
              "config", offsetof(gpump_restart, config), 0, 0, 0);
    restart->config.most_restarts--;
    /* No component, no warp there, no such warp, no such region. */
    assert_int_equal(gpump_restart_open(NULL, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_open(restart, WARPS), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_close(NULL, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_close(restart, WARPS), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_close(restart, 1), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_restart_where(NULL, 0, 0, frames, 1, &n), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_where(restart, WARPS, 0, frames, 1, &n), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_where(restart, 0, 2, frames, 1, &n), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_where(restart, 0, 0, frames, 1, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_where(restart, 0, 0, NULL, 1, &n), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_where(restart, 0, 0, NULL, 0, &n), GPUMP_ERROR_CAPACITY);
    assert_int_equal(n, 1);
    assert_int_equal(gpump_restart_report_boundary(NULL, 0, 0, frames, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_boundary(restart, WARPS, 0, frames, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_boundary(restart, 0, 2, frames, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_boundary(restart, 0, 0, NULL, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_boundary(restart, 0, 0, frames, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_boundary(restart, 0, 0, frames, FRAMES + 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_boundary(restart, 1, 0, frames, 1), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_restart_go_back(restart, 1, 0, frames, 1, &n), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_go_back(restart, 0, 2, frames, 1, &n), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_go_back(restart, WARPS, 0, frames, 1, &n), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_go_back(NULL, 0, 0, frames, 1, &n), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_error(restart, 1, 0), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_store(restart, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_stored(restart, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_step(restart, 1), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_next(NULL, 0, &n), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_next(restart, 0, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_exception(NULL, 0, 5, 0, &order), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_exception(restart, WARPS, 5, 0, &order), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_exception(restart, 0, 5, 0, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_exception(restart, 0, 5, 2, &order), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_exception(restart, 0, GPUMP_NONE, 0, &order), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_report_exception(restart, 1, 5, 0, &order), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_restart_save(restart, 1, words, WORDS, &n), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_save(restart, 0, words, WORDS, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_save(restart, 0, NULL, 1, &n), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_save(restart, 0, NULL, 0, &n), GPUMP_ERROR_CAPACITY);
    assert_int_equal(n, 5);
    assert_int_equal(gpump_restart_restore(NULL, 0, words, 3, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_restore(restart, WARPS, words, 3, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_restart_restore(restart, 1, NULL, 3, NULL), GPUMP_ERROR_ARGUMENT);
    diagnosed(gpump_restart_restore(restart, 0, words, 3, DIAG), GPUMP_ERROR_STATE, NOT_FRESH, 0, 0, 0, 0);
    assert_int_equal(gpump_restart_open(restart, 2), GPUMP_OK);
    diagnosed(gpump_restart_restore(restart, 2, words, 2, DIAG), GPUMP_ERROR_FORMAT, "count", 0, 2, 3, UINT32_MAX);
}

/* Words of a context one by one: each that contradicts is refused by name, and the last value allowed is taken. */
static void contradicting_words_of_a_context_are_refused_by_name(void **state) {
    static const struct {
        const char *field; /* NULL: taken */
        uint64_t first, pcs, restarts;
    } cases[] = {
        {NULL, 3, UINT64_MAX, 0},
        {"depth", 4, UINT64_MAX, 0},
        {"depth", UINT64_C(4) << 16 | 1, UINT64_MAX, 0},
        {NULL, UINT64_C(3) << 16 | 3, UINT64_MAX, 0},
        {"mode", UINT64_C(3) << 32 | 1, UINT64_MAX, 0},
        {"mode", UINT64_C(2) << 32, UINT64_MAX, 0},
        {"mode", UINT64_C(1) << 32, 9, 0},
        {NULL, UINT64_C(2) << 32 | 1, UINT64_MAX, 0},
        {NULL, UINT64_C(2) << 32 | 1, 9, 0},
        {NULL, UINT64_C(1) << 32 | 1, 9, 0},
        {NULL, UINT64_C(1) << 32 | UINT64_C(1) << 16, 9, 0},
        {"exception_pc", UINT64_C(1) << 32 | 1, UINT64_MAX, 0},
        {"exception_pc", 1, 9, 0},
        {"flags", UINT64_C(8) << 48 | 1, UINT64_MAX, 0},
        {NULL, UINT64_C(6) << 48 | 1, UINT64_MAX, 0},
        {NULL, 1, UINT64_MAX, 8},
        {"restarts", 1, UINT64_MAX, 9},
        {"restarts", 1, UINT64_MAX, UINT64_C(1) << 32},
    };
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        gpump_restart_config config;
        gpump_restart *restart = fresh(&config, "igpu");
        uint64_t words[WORDS];
        const uint32_t count = 3 + 2 * (uint32_t)((cases[i].first & 0xffff) + (cases[i].first >> 16 & 0xffff));
        memset(words, 0, sizeof words);
        words[0] = cases[i].first;
        words[1] = cases[i].pcs;
        words[2] = cases[i].restarts;
        assert_int_equal(gpump_restart_open(restart, 1), GPUMP_OK);
        if (!cases[i].field) {
            assert_int_equal(gpump_restart_restore(restart, 1, words, count, NULL), GPUMP_OK);
            continue;
        }
        diagnosed(gpump_restart_restore(restart, 1, words, count, DIAG), GPUMP_ERROR_FORMAT, cases[i].field, 0, 0, 0,
                  0);
    }
}

/* Memory that contradicts itself is refused by the name of the field and the warp; and every bit that is somebody's
 * state counts in the hash. */
static void test_check_and_hash(void **state) {
    gpump_restart_config config;
    gpump_restart *restart = fresh(&config, "razor2");
    gpumpi_restart_warp *w = (gpumpi_restart_warp *)(void *)(restart + 1), kept;
    gpump_restart_frame frames[FRAMES] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    uint64_t hash, seen = 0;
    uint32_t word, bit, n;
    size_t bytes;
    (void)state;
    assert_int_equal(gpump_restart_report_boundary(restart, 0, GPUMP_RESTART_SHORT, frames, 2), GPUMP_OK);
    assert_int_equal(gpump_bytes(&gpump_restart_component, &config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_restart_component, restart, NULL), GPUMP_OK);
    hash = gpump_hash(&gpump_restart_component, restart);
    for (word = 0; word < bytes / 8; word++)
        for (bit = 0; bit < 64; bit++) {
            const size_t at = word * 8u;
            const size_t first = sizeof(gpump_restart) + WARPS * sizeof *w; /* of the frames */
            int is_state = at == offsetof(gpump_restart, erring) ||
                           (at >= offsetof(gpump_restart, statistics) && at < offsetof(gpump_restart, config));
            is_state |= at >= sizeof(gpump_restart) && at < sizeof(gpump_restart) + sizeof *w;
            is_state |= at >= first && at < first + 16;                              /* one sparse frame */
            is_state |= at >= first + FRAMES * 16 && at < first + (FRAMES + 2) * 16; /* two of the short region */
            memory[0][word] ^= UINT64_C(1) << bit;
            /* flags must stay open, depths must stay in range: these are compared through the words alone */
            if (is_state && !(at == sizeof(gpump_restart) + offsetof(gpumpi_restart_warp, depth)) &&
                !(at == sizeof(gpump_restart) + offsetof(gpumpi_restart_warp, mode))) {
                if (gpump_hash(&gpump_restart_component, restart) == hash)
                    fail_msg("bit %u of word %u is not hashed", bit, word);
                seen++;
            }
            memory[0][word] ^= UINT64_C(1) << bit;
        }
    assert_true(seen > 64 * 20);
    w->flags |= GPUMPI_RESTART_FORBIDDEN;
    assert_true(gpump_hash(&gpump_restart_component, restart) != hash);
    w->flags &= ~(uint32_t)GPUMPI_RESTART_FORBIDDEN;
    for (n = 0; n < 10; n++) {
        static const char *const fields[] = {"flags",    "mode",   "depth",  "depth",  "exception_pc",
                                             "restarts", "erring", "erring", "stores", "erring"};
        const uint64_t erring = restart->erring[0];
        const uint32_t stores = restart->stores;
        const uint32_t index = n == 9 ? WARPS : n == 7 ? 1 : 0;
        kept = *w;
        if (n == 0) w->flags = 8;
        if (n == 1) w->mode = GPUMP_RESTART_MODES;
        if (n == 2) w->depth[0] = FRAMES + 1;
        if (n == 3) w->depth[1] = FRAMES + 1;
        if (n == 4) w->exception_pc = 4;
        if (n == 5) w->restarts = config.most_restarts + 1;
        if (n == 6) w->detect_cycle = 9;
        if (n == 7) restart->erring[0] = 2;
        if (n == 8) w->stores = 1;
        if (n == 9) restart->erring[0] = UINT64_C(1) << WARPS;
        assert_int_equal(gpump_check(&gpump_restart_component, restart, DIAG), GPUMP_ERROR_FORMAT);
        assert_string_equal(diagnosed_diag.field, fields[n]);
        assert_int_equal(diagnosed_diag.index, index);
        *w = kept;
        restart->erring[0] = erring;
        restart->stores = stores;
    }
    /* Slots without a warp hold nothing. */
    for (n = 0; n < 4; n++) {
        kept = w[1];
        if (n == 0) w[1].flags = GPUMPI_RESTART_FORBIDDEN;
        if (n == 1) w[1].depth[0] = 1;
        if (n == 2) w[1].depth[1] = 1;
        if (n == 3) w[1].stores = restart->stores = 1;
        diagnosed(gpump_check(&gpump_restart_component, restart, DIAG), GPUMP_ERROR_FORMAT, "flags", 1, 0, 0, 0);
        w[1] = kept;
        restart->stores = 0;
    }
    /* More stores than the queue has. */
    w->stores = restart->stores = config.store_entries;
    assert_int_equal(gpump_check(&gpump_restart_component, restart, NULL), GPUMP_OK);
    w->stores = restart->stores = config.store_entries + 1;
    diagnosed(gpump_check(&gpump_restart_component, restart, DIAG), GPUMP_ERROR_FORMAT, "stores", 0,
              config.store_entries + 1, config.store_entries + 1, config.store_entries + 1);
}

/* All 64 warps, or 256: the sets have no room to spare. */
static void test_most_warps_of(uint32_t warps) {
    static uint64_t large[256 * (8 + 4 * FRAMES) + 64];
    gpump_restart_config config;
    gpump_restart *restart = NULL;
    gpump_restart_frame frames[FRAMES] = {{1, 2, 3}};
    uint32_t warp, depth;
    size_t bytes;
    assert_int_equal(gpump_preset(&gpump_restart_component, &config, "razor", NULL), GPUMP_OK);
    config.warps = warps;
    config.frames = FRAMES;
    assert_int_equal(gpump_bytes(&gpump_restart_component, &config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes <= sizeof large);
    assert_int_equal(gpump_init(&gpump_restart_component, large, bytes, &config, &restart, NULL), GPUMP_OK);
    for (warp = 0; warp < warps; warp++) {
        assert_int_equal(gpump_restart_open(restart, warp), GPUMP_OK);
        assert_int_equal(gpump_restart_report_boundary(restart, warp, warp % 2, frames, 1), GPUMP_OK);
    }
    assert_int_equal(gpump_restart_report_error(restart, warps - 1, 5), GPUMP_OK);
    assert_int_equal(gpump_check(&gpump_restart_component, restart, NULL), GPUMP_OK);
    assert_int_equal(gpump_restart_next(restart, 6, &warp), GPUMP_OK);
    assert_int_equal(warp, warps - 1);
    assert_int_equal(gpump_restart_go_back(restart, warps - 1, GPUMP_RESTART_SHORT, frames, FRAMES, &depth), GPUMP_OK);
    assert_int_equal(gpump_restart_next(restart, 6, &warp), GPUMP_EMPTY);
}
/* With 64 and with 256 warps, the last warp has its record. */
static void the_last_warp_is_as_good_as_the_first(void **state) {
    (void)state;
    test_most_warps_of(64);
    test_most_warps_of(256);
}

/* Each counter has its name, and the difference of two readings is that of each field. */
static void counters_have_names_and_differences(void **state) {
    static const char *const names[] = {"boundaries", "restarts", "given_up", "errors",  "detected",
                                        "exceptions", "faults",   "ignored",  "stuck",   "emulated",
                                        "live_locks", "steps",    "stores",   "restored"};
    enum { COUNT = sizeof names / sizeof *names };
    gpump_restart_statistics earlier, later, difference;
    uint64_t *a = &earlier.boundaries, *b = &later.boundaries, value;
    const char *name, *unit, *description;
    uint32_t i;
    (void)state;
    assert_int_equal(sizeof earlier, COUNT * 8);
    for (i = 0; i < COUNT; i++) {
        a[i] = i * i;
        b[i] = 1000 + 7 * i;
    }
    gpump_statistics_diff(&gpump_restart_component, &earlier, &later, &difference);
    for (i = 0; i < COUNT; i++) {
        assert_true((&difference.boundaries)[i] == b[i] - a[i]);
        assert_int_equal(
            gpump_statistics_field(&gpump_restart_component, &later, i, &name, &unit, &description, &value), GPUMP_OK);
        assert_string_equal(name, names[i]);
        assert_true(value == b[i] && *unit && *description);
    }
    assert_int_equal(gpump_statistics_field(&gpump_restart_component, &later, COUNT, NULL, NULL, NULL, NULL),
                     GPUMP_EMPTY);
}

/* ==== closed forms ==== */

/* Tries of a region, instruction by instruction: the chance that the first error is in the i-th one, times what the try
 * then costs, over the chance that a try passes. */
static long double expected_of(uint32_t n, uint32_t rate, uint32_t latency) {
    const long double p = (long double)rate / 4294967296.0L;
    long double reached = 1, lost = 0;
    uint32_t i;
    for (i = 1; i <= n; i++) {
        lost += reached * p * (long double)((uint64_t)i + latency < n ? i + latency : n);
        reached *= 1 - p;
    }
    return 65536 * ((long double)n + lost / reached);
}

/* Lengths, rates and latencies up to their limits beside long double. */
static void the_expected_time_is_that_of_long_double(void **state) {
    static const uint32_t lengths[] = {1, 2, 3, 10, 31, 32, 33, 64, 100, 1000, 1u << 16},
                          latencies[] = {0, 1, 4, 8, 30, 31, 32, 64, UINT32_MAX},
                          rates[] = {0, 1, 4294967, 42949672, 1u << 30, 3u << 30};
    uint32_t n, l, r;
    (void)state;
    for (n = 0; n < sizeof lengths / 4; n++)
        for (l = 0; l < sizeof latencies / 4; l++)
            for (r = 0; r < sizeof rates / 4; r++) {
                const long double expected = expected_of(lengths[n], rates[r], latencies[l]);
                const uint64_t got = gpump_restart_expected(lengths[n], rates[r], latencies[l]);
                if (expected > 1e15L) {
                    assert_true(got > UINT64_C(1) << 49);
                    continue;
                }
                if (fabsl((long double)got - expected) > 2 + expected * 1e-9L)
                    fail_msg("%u instructions, rate %u, latency %u: %llu, not %.3Lf", lengths[n], rates[r],
                             latencies[l], (unsigned long long)got, expected);
            }
    assert_true(gpump_restart_expected((1u << 20) + 1, 0, 0) == UINT64_MAX);
    assert_true(gpump_restart_expected(0, 0, 0) == UINT64_MAX);
    assert_true(gpump_restart_expected(1u << 20, 0, 0) == UINT64_C(1) << 36);
}

/* Random voltages and times beside exact products. */
static void energy_is_exact_to_the_last_bit(void **state) {
    uint64_t random = test_seed();
    uint32_t i;
    (void)state;
    for (i = 0; i < test_cases(1000); i++) {
        const uint32_t voltage = gpump_random_below(&random, 65537);
        const uint64_t time = 1 + gpump_random_below(&random, 1u << 24);
        const uint64_t left = 65536 - voltage; /* left^2 time / 2^32 to the nearest: at most 2^56 here */
        const uint64_t expected = ((left * left >> 1) * time / (UINT64_C(1) << 8) + (UINT64_C(1) << 22)) >> 23;
        const uint64_t got = gpump_restart_energy(voltage, time);
        assert_true(got + 1 >= expected && expected + 1 >= got);
    }
    assert_int_equal(gpump_restart_energy(65535, UINT64_C(1) << 31), 1); /* half of the last place: up */
    assert_int_equal(gpump_restart_energy(65535, (UINT64_C(1) << 31) - 1), 0);
    assert_int_equal(gpump_restart_energy(70000, UINT64_C(1) << 40), 0);
    assert_true(gpump_restart_energy(0, UINT64_MAX / 4) == UINT64_MAX / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_facts_agree_with_the_mirror),
        cmocka_unit_test(second_exceptions_are_answered_as_written),
        cmocka_unit_test(every_number_has_its_range),
        cmocka_unit_test(presets_are_as_written_down),
        cmocka_unit_test(bits_are_those_of_the_tables),
        cmocka_unit_test(wrong_calls_of_restart_are_refused),
        cmocka_unit_test(contradicting_words_of_a_context_are_refused_by_name),
        cmocka_unit_test(test_check_and_hash),
        cmocka_unit_test(the_last_warp_is_as_good_as_the_first),
        cmocka_unit_test(counters_have_names_and_differences),
        cmocka_unit_test(the_expected_time_is_that_of_long_double),
        cmocka_unit_test(energy_is_exact_to_the_last_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
