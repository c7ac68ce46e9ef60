/* labels: property */
/* Victim selection over several SMs beside a slow model: how positions are shared out, when each place is free, and
 * what a decision says in total, each recomputed from scratch. */
#include "victim/victim_ask.h"
#include "victim/victim_cases.h"
#include "victim/oracle_victim.c"

enum { SMS = 5, MOST = 8 };

/* A question over several SMs of one kind, whose blocks and costs differ. */
typedef struct many {
    victim_case c;
    gpump_victim_sm sms[SMS];
    gpump_cost_estimate estimates[SMS][64];
    uint32_t sm_count;
} many;

/* An answer and its arrays. */
typedef struct answer {
    gpump_victim_decision d;
    gpump_victim_place places[SMS * 64];
    gpump_block_choice choices[SMS * 64];
} answer;

/* Makes threads scarcer than warps: blocks have fewer threads than lanes, and little more fits than is there.
 * Returns 0 when the incoming block does not fit. */
static int make_threads_scarce(victim_case *c, uint64_t *random) {
    uint32_t i, used = 0;
    if (gpump_random_below(random, 2) && c->sm.count) c->need.threads = (c->blocks[0].warps + !c->blocks[0].warps) * 32;
    for (i = 0; i < c->sm.count; i++) {
        gpump_block_view *b = &c->blocks[i];
        if (b->threads) b->threads -= gpump_random_below(random, b->threads < 32 ? b->threads : 32);
        used += b->threads;
    }
    c->gpu.thread_slots = used + gpump_random_below(random, 8);
    return gpump_victim_geometry_init(&c->geometry, &c->gpu, &c->need, 49152, NULL) == GPUMP_OK;
}

/* Draws a question. Costs of a few units in two of three: blocks then often cost the same, and sums differ by one. */
static int draw(many *m, uint64_t *random, uint64_t number) {
    if (!victim_case_make(&m->c, random, MOST, (uint32_t)(number % VICTIM_KINDS))) return 0;
    if (number % 7 == 3 && !m->c.sm.reserved && !make_threads_scarce(&m->c, random)) return 0;
    if (number % 3) m->c.request.limit_cycles %= 8;
    m->c.request.flags = number & 1 ? 0 : GPUMP_VICTIM_PARALLEL_SAVES;
    m->sm_count = 1 + gpump_random_below(random, SMS);
    m->c.request.positions = 1 + gpump_random_below(random, m->sm_count * m->c.geometry.blocks + 1);
    if (number % 5 < 2 && m->sm_count > 1) /* nearly all that there are: some SM gives less, and a reason */
        m->c.request.positions = m->sm_count * m->c.geometry.blocks - 1;
    for (uint32_t s = 0; s < m->sm_count; s++) {
        m->sms[s] = m->c.sm;
        m->sms[s].sm = 10 + s;
        m->sms[s].estimates = m->estimates[s];
        m->sms[s].count = gpump_random_below(random, 3) ? m->c.sm.count : gpump_random_below(random, m->c.sm.count + 1);
        for (uint32_t i = 0; i < m->c.sm.count; i++) {
            victim_case_estimate(&m->estimates[s][i], random, (uint32_t)(number % VICTIM_KINDS));
            for (uint32_t t = 0; number % 3 && t < GPUMP_TECHNIQUE_OWN; t++) {
                if (m->estimates[s][i].latency[t] != GPUMP_UNKNOWN) m->estimates[s][i].latency[t] %= 9;
                if (m->estimates[s][i].overhead[t] != GPUMP_UNKNOWN) m->estimates[s][i].overhead[t] %= 4;
            }
        }
    }
    return 1;
}

static void ask(const many *m, const gpump_victim_policy *policy, const gpump_victim_sm *sms, uint32_t sm_count,
                uint32_t positions, answer *a) {
    gpump_victim_request request = m->c.request;
    request.positions = positions;
    memset(a, 0, sizeof *a);
    assert_int_equal(victim_decide(policy, &request, &m->c.geometry, sms, sm_count, NULL, 0, a->places, SMS * 64,
                                   a->choices, SMS * 64, &a->d, NULL),
                     GPUMP_OK);
}

/* What one position more costs on an SM that has `quota`. Returns 0 where there is none. */
typedef struct offer {
    uint64_t late, overhead, latency;
} offer;
static int rate(const many *m, const gpump_victim_policy *policy, uint32_t s, uint32_t quota, offer *next) {
    static answer now, more;
    uint64_t had = 0;
    ask(m, policy, &m->sms[s], 1, quota + 1, &more);
    if (more.d.places <= quota) return 0;
    if (quota) {
        ask(m, policy, &m->sms[s], 1, quota, &now);
        had = now.d.overhead;
    }
    next->late = more.d.late != 0;
    next->overhead = more.d.overhead > had ? more.d.overhead - had : 0;
    next->latency = more.d.latency;
    return 1;
}

static int is_better(const offer *a, const offer *b) {
    if (a->late != b->late) return a->late < b->late;
    if (a->late && a->latency != b->latency) return a->latency < b->latency;
    if (a->overhead != b->overhead) return a->overhead < b->overhead;
    return a->latency < b->latency;
}

/* Gives positions out one by one to the SM whose next position is best; of equal ones the first. Where all SMs together
 * have no more than are wanted, each gives what it has. */
static void share(const many *m, const gpump_victim_policy *policy, uint32_t *quota) {
    uint32_t wanted = m->c.request.positions, given, s;
    const int all = m->sm_count == 1 || wanted >= m->sm_count * m->c.geometry.blocks;
    for (s = 0; s < m->sm_count; s++) quota[s] = all ? wanted : 0;
    for (given = 0; !all && given < wanted; given++) {
        uint32_t best = m->sm_count;
        offer least = {0, 0, 0}, next;
        for (s = 0; s < m->sm_count; s++)
            if (rate(m, policy, s, quota[s], &next) && (best == m->sm_count || is_better(&next, &least)))
                best = s, least = next;
        if (best == m->sm_count) return;
        quota[best]++;
    }
}

/* The questions of a test: each policy in turn. CHECK names the one at hand when it fails. */
static const gpump_victim_policy *policies[32];
static uint32_t policy_count;
static uint64_t seed, random_state, number, questions;
#define CHECK(condition) test_check(condition, seed, number)

/* Starts `cases` questions to the policies, but for the slow one, whose flags, of `flags`, are `wanted`. */
static void begin(uint32_t flags, uint32_t wanted, uint64_t cases) {
    const gpump_victim_policy *policy;
    policy_count = 0;
    for (uint32_t p = 0; (policy = gpump_victim_policy_at(p)) != NULL; p++)
        if ((policy->flags & flags) == wanted && strcmp(policy->name, "exact") != 0) policies[policy_count++] = policy;
    assert_true(policy_count > 0 && policy_count < 32);
    seed = random_state = test_seed();
    number = UINT64_MAX; /* before the first */
    questions = test_cases(cases);
}
/* Draws the next question whose incoming block fits; returns the policy that is asked, or NULL behind the last one. */
static const gpump_victim_policy *next(many *m) {
    while (++number < questions)
        if (draw(m, &random_state, number)) return policies[number % policy_count];
    return NULL;
}

/* A decision over SMs is that of each SM with its share, one behind the other, and its totals are their sums. */
static void a_decision_is_that_of_each_sm_with_its_share(void **state) {
    const gpump_victim_policy *policy;
    uint64_t shared = 0;
    static many m;
    static answer whole, one;
    (void)state;
    begin(GPUMP_VICTIM_WHOLE_SM | GPUMP_VICTIM_COMMON_DEADLINE, 0, 12000);
    while ((policy = next(&m)) != NULL) {
        uint32_t quota[SMS], s;
        gpump_victim_decision sum;
        gpump_reason first = GPUMP_REASON_YES;
        share(&m, policy, quota);
        shared += m.c.request.positions < m.sm_count * m.c.geometry.blocks && m.sm_count > 1;
        ask(&m, policy, m.sms, m.sm_count, m.c.request.positions, &whole);
        memset(&sum, 0, sizeof sum);
        sum.ask_again = GPUMP_UNKNOWN;
        for (s = 0; s < m.sm_count && sum.places < m.c.request.positions; s++) {
            const uint32_t left = m.c.request.positions - sum.places, want = quota[s] < left ? quota[s] : left;
            if (!want) continue;
            ask(&m, policy, &m.sms[s], 1, want, &one);
            CHECK(memcmp(one.places, &whole.places[sum.places], one.d.places * sizeof *one.places) == 0);
            CHECK(memcmp(one.choices, &whole.choices[sum.choices], one.d.choices * sizeof *one.choices) == 0);
            sum.places += one.d.places;
            sum.choices += one.d.choices;
            sum.late += one.d.late;
            sum.sms += one.d.sms;
            sum.overhead = gpump_add_saturated(sum.overhead, one.d.overhead);
            if (one.d.latency > sum.latency) sum.latency = one.d.latency;
            if (one.d.ask_again < sum.ask_again) sum.ask_again = one.d.ask_again;
            if (first == GPUMP_REASON_YES) first = one.d.reason;
        }
        sum.missing = m.c.request.positions - sum.places;
        for (s = 0; s < m.sm_count && sum.missing && first == GPUMP_REASON_YES; s++) {
            ask(&m, policy, &m.sms[s], 1, quota[s] + 1, &one); /* what stands in the way of one more */
            if (one.d.reason != GPUMP_REASON_POSITIONS) first = one.d.reason;
        }
        sum.reason = !sum.missing ? GPUMP_REASON_YES : first == GPUMP_REASON_YES ? GPUMP_REASON_POSITIONS : first;
        CHECK(memcmp(&sum, &whole.d, sizeof sum) == 0);
    }
    assert_true(shared > questions / 8);
}

/* Whether `more` blocks of the incoming kernel fit beside those that are not in `out`: warps, threads, slots and
 * entries. */
static int fits(const many *m, const gpump_victim_sm *sm, uint64_t out, uint32_t more) {
    const gpump_victim_geometry *g = &m->c.geometry;
    uint32_t warps = 0, threads = 0, slots = 0, entries = 0, i;
    for (i = 0; i < 64; i++) more += (uint32_t)(sm->reserved >> i & 1u);
    for (i = 0; i < sm->count; i++) {
        const gpump_block_view *b = &sm->blocks[i];
        const int gone = (int)(out >> i & 1u);
        entries += !gone || oracle_stays_in_place(b);
        if (gone || b->state == GPUMP_BLOCK_PARKED) continue;
        warps += b->warps;
        threads += b->threads;
        slots++;
    }
    return warps + more * g->warps <= g->warp_slots && threads + more * g->threads <= g->thread_slots &&
           slots + more <= g->block_slots && entries + more <= g->entries;
}

/* When a set of blocks is out: each block's time is in latency[], UINT64_MAX for one that stays. */
static uint64_t out_by(const gpump_victim_sm *sm, const uint64_t *latency, const uint64_t *leaves, uint64_t cycle) {
    uint64_t out = 0;
    for (uint32_t i = 0; i < sm->count; i++)
        if (leaves[i] && latency[i] <= cycle) out |= (uint64_t)1 << i;
    return out;
}

/* Checks the choices of a decision about one SM, and writes when each block is out. */
static void check_choices(const many *m, const gpump_victim_sm *sm, const answer *a, uint64_t *latency,
                          uint64_t *leaves) {
    uint64_t port = 0, last = 0, overhead = 0;
    uint32_t i, k;
    for (i = 0; i < sm->count; i++) {
        oracle_sm o;
        o.blocks = sm->blocks;
        o.estimates = sm->estimates;
        leaves[i] = oracle_is_leaving(&sm->blocks[i]) && sm->blocks[i].kernel != VICTIM_INCOMING;
        latency[i] = leaves[i] ? oracle_leaving_latency(&o, i) : UINT64_MAX;
    }
    for (k = 0; k < a->d.choices; k++) {
        const gpump_block_choice *choice = &a->choices[k];
        const uint32_t t = choice->technique;
        const int saved = t == GPUMP_TECHNIQUE_SWITCH || t == GPUMP_TECHNIQUE_REWIND;
        uint64_t alone;
        for (i = 0; sm->blocks[i].block.slot != choice->block.slot; i++) {}
        alone = sm->estimates[i].latency[t];
        CHECK(!leaves[i] && choice->otherwise == t && choice->sm == sm->sm);
        CHECK(!saved || port == 0 || last <= alone); /* the shortest save is first */
        CHECK(saved || port == 0);                   /* what needs no port is before the saves */
        leaves[i] = 1;
        if (saved) last = alone;
        if (saved && !(m->c.request.flags & GPUMP_VICTIM_PARALLEL_SAVES))
            alone = port = gpump_add_saturated(port, alone);
        latency[i] = alone;
        CHECK(choice->latency == alone);
        CHECK(choice->overhead == sm->estimates[i].overhead[t]);
        overhead = gpump_add_saturated(overhead, choice->overhead);
    }
    CHECK(overhead == a->d.overhead);
}

/* The earliest cycle by which `more` blocks fit. */
static uint64_t room_after(const many *m, const gpump_victim_sm *sm, const uint64_t *latency, const uint64_t *leaves,
                           uint32_t more) {
    uint64_t best = UINT64_MAX;
    uint32_t i;
    if (fits(m, sm, 0, more)) return 0;
    for (i = 0; i < sm->count; i++)
        if (leaves[i] && latency[i] < best && fits(m, sm, out_by(sm, latency, leaves, latency[i]), more))
            best = latency[i];
    return best;
}

/* A place of a decision about one SM is free when who lies on it is out, and when there is room for as many blocks as
 * are placed by then. latency[i]: when block i is out; leaves[i]: whether it is. */
static void check_places(const many *m, const gpump_victim_policy *policy, const answer *a, const uint64_t *latency,
                         const uint64_t *leaves) {
    const gpump_victim_geometry *g = &m->c.geometry;
    uint64_t wait[64], all = 0, last = 0;
    uint32_t k, j, i, late = 0;
    for (i = 0; i < m->sms[0].count; i++)
        if (leaves[i] && latency[i] > all) all = latency[i];
    for (k = 0; k < a->d.places; k++) { /* registers and shared memory */
        const uint32_t p = a->places[k].position;
        uint32_t victims = 0;
        wait[k] = policy->flags & GPUMP_VICTIM_WHOLE_SM ? all : 0;
        for (i = 0; i < m->sms[0].count; i++) {
            const gpump_block_view *b = &m->sms[0].blocks[i];
            const uint32_t freed = oracle_is_leaving(b) ? 3 & ~oracle_stays_in_place(b) : 3;
            if (!leaves[i] || !((freed & 1 && oracle_overlap((uint64_t)p * g->registers, g->registers, b->register_base,
                                                             b->registers)) ||
                                (freed & 2 && oracle_overlap((uint64_t)p * g->shared_bytes, g->shared_bytes,
                                                             b->shared_base, b->shared_bytes))))
                continue;
            victims += !oracle_is_leaving(b);
            if (latency[i] > wait[k]) wait[k] = latency[i];
        }
        CHECK(a->places[k].victims == victims);
    }
    for (k = 0; k < a->d.places; k++) { /* the n-th place to be free needs room for n */
        uint32_t n = 1;
        uint64_t room;
        for (j = 0; j < a->d.places; j++) n += wait[j] < wait[k] || (wait[j] == wait[k] && j < k);
        room = room_after(m, m->sms, latency, leaves, n);
        if (wait[k] > room) room = wait[k];
        CHECK(a->places[k].latency == room);
        CHECK(a->places[k].late == (room > m->c.request.limit_cycles));
        late += room > m->c.request.limit_cycles;
        if (room > last) last = room;
    }
    CHECK(a->d.late == late && a->d.latency == last && a->d.sms == (a->d.places > 0));
}

/* A place is free when all blocks that hold it have left and its registers and shared memory are free. */
static void a_place_is_free_when_its_blocks_are_out_and_room_is_there(void **state) {
    const gpump_victim_policy *policy;
    uint64_t placed = 0;
    static many m;
    static answer a;
    (void)state;
    begin(GPUMP_VICTIM_COMMON_DEADLINE, 0, 40000);
    while ((policy = next(&m)) != NULL) {
        uint64_t latency[64], leaves[64];
        ask(&m, policy, m.sms, 1, m.c.request.positions, &a);
        check_choices(&m, m.sms, &a, latency, leaves);
        check_places(&m, policy, &a, latency, leaves);
        placed += a.d.places > 1;
    }
    assert_true(placed > questions / 10);
}

/* Policies that let a block run on until a deadline: such a block counts as out by then, in its places as well. */
static void a_place_waits_for_blocks_that_run_on(void **state) {
    const gpump_victim_policy *policy;
    uint64_t runs_on = 0;
    static many m;
    static answer a;
    (void)state;
    begin(GPUMP_VICTIM_COMMON_DEADLINE, GPUMP_VICTIM_COMMON_DEADLINE, 40000);
    while ((policy = next(&m)) != NULL) {
        uint64_t latency[64], leaves[64];
        for (uint32_t i = 0; i < m.sms[0].count && m.c.request.limit_cycles > 2; i++) /* just in time, or just not */
            if (gpump_random_below(&random_state, 2))
                m.estimates[0][i].latency[GPUMP_TECHNIQUE_SWITCH] =
                    m.c.request.limit_cycles - gpump_random_below(&random_state, 3);
        ask(&m, policy, m.sms, 1, m.c.request.positions, &a);
        for (uint32_t i = 0; i < m.sms[0].count; i++) {
            oracle_sm o;
            o.blocks = m.sms[0].blocks;
            o.estimates = m.sms[0].estimates;
            leaves[i] = oracle_is_leaving(&o.blocks[i]) && o.blocks[i].kernel != VICTIM_INCOMING;
            latency[i] = leaves[i] ? oracle_leaving_latency(&o, i) : UINT64_MAX;
            for (uint32_t k = 0; k < a.d.choices; k++) {
                if (a.choices[k].block.slot != o.blocks[i].block.slot) continue;
                leaves[i] = 1;
                latency[i] = a.choices[k].latency;
                if (a.choices[k].technique == a.choices[k].otherwise) continue;
                CHECK(a.choices[k].technique == GPUMP_TECHNIQUE_DRAIN);
                CHECK(latency[i] >= m.c.request.limit_cycles);
                runs_on++;
            }
        }
        check_places(&m, policy, &a, latency, leaves);
    }
    assert_true(runs_on > questions / 20);
}

/* Arrays that are one entry too short are left alone, and the answer says how many entries it needs. */
static void arrays_that_are_too_short_are_left_alone(void **state) {
    const gpump_victim_policy *policy;
    uint64_t asked = 0;
    static many m;
    static answer a, untouched, b;
    (void)state;
    memset(&untouched, 0x5a, sizeof untouched);
    begin(0, 0, 20000);
    while ((policy = next(&m)) != NULL) {
        ask(&m, policy, m.sms, m.sm_count, m.c.request.positions, &a);
        for (uint32_t less = 0; less < 2; less++) { /* choices, then places */
            if (!(less ? a.d.places : a.d.choices)) continue;
            b = untouched;
            CHECK(victim_decide(policy, &m.c.request, &m.c.geometry, m.sms, m.sm_count, NULL, 0, b.places,
                                a.d.places - less, b.choices, a.d.choices - !less, &b.d, NULL) == GPUMP_ERROR_CAPACITY);
            CHECK(b.d.places == a.d.places && b.d.choices == a.d.choices);
            CHECK(!memcmp(b.places, untouched.places, sizeof b.places));
            CHECK(!memcmp(b.choices, untouched.choices, sizeof b.choices));
            asked++;
        }
    }
    assert_true(asked > questions / 4);
}

/* Whether another block of the same kernel and group, neither of them parked, has no way out. */
static int is_held_by_its_group(const gpump_victim_sm *sm, uint32_t i, uint32_t techniques) {
    const gpump_block_view *b = &sm->blocks[i];
    for (uint32_t j = 0; j < sm->count; j++) {
        const gpump_block_view *other = &sm->blocks[j];
        if (b->group && other->group == b->group && other->kernel == b->kernel && b->state != GPUMP_BLOCK_PARKED &&
            other->state != GPUMP_BLOCK_PARKED && !oracle_is_leaving(other) && !(other->may & techniques))
            return 1;
    }
    return 0;
}

/* Vacating SMs names every block that may leave and whose group may, once, in order, and counts the others. */
static void vacating_names_every_block_that_may_leave(void **state) {
    const gpump_victim_policy *policy;
    uint64_t stayed = 0;
    static many m;
    static answer a;
    (void)state;
    begin(GPUMP_VICTIM_COMMON_DEADLINE, 0, 40000);
    while ((policy = next(&m)) != NULL) {
        const uint32_t techniques = policy->techniques & 15u;
        uint64_t overhead = 0, latency = 0;
        uint32_t s, i, k = 0, stay = 0, sms = 0;
        gpump_reason reason = GPUMP_REASON_YES;
        if (number % 4 == 0) m.c.request.kernel = 0; /* for nobody: the blocks of every kernel leave */
        memset(&a, 0, sizeof a);
        CHECK(victim_ask(GPUMP_VICTIM_ASK_VACATE, policy, &m.c.request, m.sms, m.sm_count, a.choices, SMS * 64, &a.d,
                         NULL) == GPUMP_OK);
        for (s = 0; s < m.sm_count; s++) {
            const gpump_victim_sm *sm = &m.sms[s];
            const uint32_t before = k;
            uint64_t port = 0;
            for (i = 0; i < sm->count; i++) {
                const gpump_block_view *b = &sm->blocks[i];
                const gpump_block_choice *choice = &a.choices[k];
                uint64_t cycles;
                if (oracle_is_leaving(b) || (m.c.request.kernel && b->kernel == VICTIM_INCOMING)) continue;
                if (!(b->may & techniques) && reason == GPUMP_REASON_YES)
                    reason = b->may ? GPUMP_REASON_CLOBBERED : GPUMP_REASON_NO_TECHNIQUE;
                if (!(b->may & techniques) || is_held_by_its_group(sm, i, techniques)) {
                    stay++;
                    continue;
                }
                CHECK(k++ < a.d.choices && choice->sm == sm->sm && choice->block.slot == b->block.slot &&
                      choice->cookie == b->cookie && (b->may & techniques) >> choice->technique & 1u);
                cycles = sm->estimates[i].latency[choice->technique];
                if (!(m.c.request.flags & GPUMP_VICTIM_PARALLEL_SAVES) &&
                    (choice->technique == GPUMP_TECHNIQUE_SWITCH || choice->technique == GPUMP_TECHNIQUE_REWIND))
                    cycles = port = gpump_add_saturated(port, cycles);
                CHECK(choice->latency == cycles);
                overhead = gpump_add_saturated(overhead, sm->estimates[i].overhead[choice->technique]);
                if (cycles > latency) latency = cycles;
            }
            sms += k > before;
        }
        CHECK(a.d.choices == k && a.d.missing == stay && a.d.sms == sms && a.d.reason == reason);
        CHECK(a.d.overhead == overhead && a.d.latency == latency && a.d.places == 0);
        stayed += stay > 0;
    }
    assert_true(stayed > questions / 20);
}

/* A view of 64 blocks is the largest that a decision takes; one more is refused. */
static void sixty_four_blocks_are_taken(void **state) {
    static gpump_block_view blocks[65];
    static gpump_cost_estimate estimates[65];
    static answer a;
    gpump_victim_request request;
    gpump_victim_sm sm;
    (void)state;
    memset(&sm, 0, sizeof sm);
    sm.blocks = blocks;
    sm.estimates = estimates;
    assert_int_equal(gpump_victim_request_init(&request, VICTIM_INCOMING, 1, 0), GPUMP_OK);
    for (uint32_t i = 0; i < 65; i++) {
        blocks[i].kernel = 1;
        blocks[i].state = GPUMP_BLOCK_RUNNING;
        blocks[i].may = 1u << GPUMP_TECHNIQUE_SWITCH;
        blocks[i].block.slot = i;
    }
    for (sm.count = 64; sm.count < 66; sm.count++)
        assert_int_equal(victim_ask(GPUMP_VICTIM_ASK_VACATE, gpump_victim_find("switch"), &request, &sm, 1, a.choices,
                                    SMS * 64, &a.d, NULL),
                         sm.count == 64 ? GPUMP_OK : GPUMP_ERROR_ARGUMENT);
    assert_int_equal(a.d.choices, 64);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_decision_is_that_of_each_sm_with_its_share),
        cmocka_unit_test(a_place_is_free_when_its_blocks_are_out_and_room_is_there),
        cmocka_unit_test(a_place_waits_for_blocks_that_run_on),
        cmocka_unit_test(arrays_that_are_too_short_are_left_alone),
        cmocka_unit_test(sixty_four_blocks_are_taken),
        cmocka_unit_test(vacating_names_every_block_that_may_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
