#include "victim/victim_parts.h"

/* An SM in a decision over many. */
typedef struct gpumpi_victim_state {
    uint64_t first;  /* of one position more: the overhead, of a late one the latency */
    uint64_t second; /* the other of the two */
    uint64_t total;  /* overhead of the plan so far */
    uint32_t late;
    uint32_t quota;         /* positions given to this SM */
    uint32_t heap;          /* the heap of SM indices is spread over these */
    uint32_t kept;          /* positions that `plan` was asked for; 0: there is no plan */
    uint64_t until;         /* cycles that `plan` was given */
    gpump_victim_plan plan; /* of these positions; it obeys the rules */
    gpump_victim_plan more; /* of one position more */
} gpumpi_victim_state;

/* ---- the decision ---- */

/* Where a decision writes, and what it has counted. */
typedef struct gpumpi_victim_out {
    gpump_victim_place *places; /* NULL: only count */
    gpump_block_choice *choices;
    gpump_victim_decision *decision;
    uint64_t soonest; /* when the last victim could be out if everybody began now */
    uint32_t blocked; /* gpump_reason that stood in the way first */
    int counts_only;  /* of the decision, only the numbers of places and choices are wanted */
} gpumpi_victim_out;

GPUMP_API gpump_result gpump_victim_request_init(gpump_victim_request *request, uint32_t kernel, uint32_t positions,
                                                 uint64_t now) {
    if (!request) return GPUMP_ERROR_ARGUMENT;
    memset(request, 0, sizeof *request);
    request->kernel = kernel;
    request->positions = positions;
    request->since = request->now = now;
    request->limit_cycles = request->timeout_cycles = GPUMP_UNKNOWN;
    return GPUMP_OK;
}

static void gpumpi_victim_begin(gpumpi_victim_out *out) {
    memset(out->decision, 0, sizeof *out->decision);
    out->decision->ask_again = GPUMP_UNKNOWN;
    out->soonest = 0;
    out->blocked = 0;
}

typedef struct gpumpi_victim_context {
    const gpump_victim_policy *policy;
    const gpump_victim_request *request;
    const gpump_victim_geometry *geometry;
    uint64_t left;
    uint64_t relaxed; /* what plans are given: left, or the latency that cannot be avoided somewhere */
    /* The policy answers by the rules. What a policy of the host answers is checked before anything is written: each
     * SM's plan before it is written, and with several SMs all of them first. */
    int is_built_in;
    int obeys;       /* it has no hook that plans: its plans are made by the rules, and are not checked */
    int keeps_plans; /* its hooks answer the same question alike */
    int divides;     /* the request needs fewer positions than its SMs have */
} gpumpi_victim_context;

/* Says what is free beside the positions: `warps` and `threads` are those of all blocks that stay, and each promised
 * position will take its share. Returns how many more blocks the kernel may have, `own` being those that it has. */
static uint32_t gpumpi_victim_count_room(gpump_victim_plan_args *args, uint64_t own, uint64_t promised_positions,
                                         uint32_t warps, uint32_t threads) {
    const gpump_victim_geometry *geometry = args->geometry;
    uint64_t leaving = args->leaving, parked = args->parked, kept = args->kept;
    uint32_t promised = promised_positions ? gpumpi_bits_count64(promised_positions) : 0;
    uint32_t slots = args->sm->count + promised, has = promised + (own ? gpumpi_bits_count64(own) : 0);
    if (leaving) slots -= gpumpi_bits_count64(leaving);
    args->free_warps = (int64_t)geometry->warp_slots - warps - promised * geometry->warps;
    args->free_threads = (int64_t)geometry->thread_slots - threads - promised * geometry->threads;
    args->free_slots = (int64_t)geometry->block_slots - slots;
    args->free_entries = (int64_t)geometry->entries - slots;
    if (parked | kept) {
        args->free_slots += gpumpi_bits_count64(parked & ~leaving);
        args->free_entries -= gpumpi_bits_count64(kept & leaving);
        has -= gpumpi_bits_count64(own & parked);
    }
    return geometry->blocks > has ? geometry->blocks - has : 0;
}

/* States in which a block holds all of its parts and leaves none in place. */
#define GPUMPI_VICTIM_WHOLE \
    (1u << GPUMP_BLOCK_RUNNING | 1u << GPUMP_BLOCK_BLOCKED | 1u << GPUMP_BLOCK_DRAINING | 1u << GPUMP_BLOCK_RESTORING)
GPUMP_INLINE int gpumpi_victim_is_whole(uint32_t state) {
    return state == GPUMP_BLOCK_RUNNING || gpumpi_block_state_in(state, GPUMPI_VICTIM_WHOLE);
}

/* Clears the sets, and adds the whole blocks of an SM to those of the positions that they lie on. */
static GPUMPI_CALLED void gpumpi_victim_mark_whole(const gpump_victim_geometry *geometry, const gpump_victim_sm *sm,
                                                   uint64_t *sets) {
    const uint64_t register_factor = geometry->register_factor, shared_factor = geometry->shared_factor;
    const uint32_t positions = geometry->positions;
    const gpump_block_view *block = sm->blocks;
    uint64_t one = 1;
    uint32_t i;
    for (i = 0; i < positions; i++) sets[i] = 0;
    for (i = sm->count; i; i--, block++, one <<= 1) {
        if (!gpumpi_victim_is_whole(block->state)) continue;
        if (register_factor)
            gpumpi_victim_mark_range(block->register_base, block->registers, register_factor, positions, one, sets);
        if (shared_factor)
            gpumpi_victim_mark_range(block->shared_base, block->shared_bytes, shared_factor, positions, one, sets);
    }
}

/* Fills everything but `want`. Returns how many positions the SM can have at most. */
static uint32_t gpumpi_victim_prepare(const gpumpi_victim_context *context, const gpump_victim_sm *sm, uint64_t *sets,
                                      gpump_victim_plan_args *args) {
    const gpump_victim_geometry *geometry = context->geometry;
    uint64_t all = ~(uint64_t)0 >> (64 - geometry->positions), own = 0, leaving = 0, fixed = 0, choosable = 0,
             parked = 0, kept = 0, closed = sm->reserved, one;
    uint32_t techniques = gpumpi_victim_techniques(context->policy), kernel = context->request->kernel, i;
    uint32_t warps = 0, threads = 0, groups = 0, most;
    const gpump_block_view *block;
    gpumpi_victim_mark_whole(geometry, sm, sets);
    for (i = 0, one = 1, block = sm->blocks; i < sm->count; i++, one <<= 1, block++) {
        uint32_t allowed = 0;
        groups |= block->group;
        if (!gpumpi_victim_is_whole(block->state)) {
            if (gpumpi_victim_keeps(block)) kept |= one;
            if (!(gpumpi_block_parts_held(block) & GPUMP_PART_SLOTS)) parked |= one;
            closed |= gpumpi_victim_mark_kept(geometry, block, one, sets);
        }
        if (block->kernel == kernel) {
            own |= one;
        } else if (block->state != GPUMP_BLOCK_RUNNING && gpumpi_block_leaves(block->state)) {
            args->allowed[i] = 0;
            leaving |= one;
            continue; /* what leaves counts as free */
        } else if ((allowed = block->may & techniques) != 0) {
            choosable |= one;
        } else {
            fixed |= one;
        }
        args->allowed[i] = (uint8_t)allowed;
        warps += block->warps;
        threads += block->threads;
    }
    args->policy = context->policy;
    args->request = context->request;
    args->geometry = geometry;
    args->sm = sm;
    args->sets = sets;
    args->left = context->relaxed;
    args->leaving = leaving;
    args->fixed = fixed;
    args->choosable = choosable;
    args->draining = 0;
    args->groups = groups;
    args->open = all & ~(gpumpi_victim_take_out(own, geometry->positions, sets) | closed);
    args->parked = parked;
    args->kept = kept;
    most = gpumpi_victim_count_room(args, own, sm->reserved & all, warps, threads);
    i = args->open == all ? geometry->positions : gpumpi_bits_count64(args->open);
    return most < i ? most : i;
}

/* Plans an SM. `from`: a plan for fewer positions, which Algorithm 1 extends; NULL: there is none. */
static void gpumpi_victim_plan(const gpump_victim_plan_args *args, const gpump_victim_plan *from,
                               gpump_victim_plan *plan) {
    plan->later = 0;
    if (args->policy->flags & GPUMP_VICTIM_WHOLE_SM)
        gpumpi_victim_plan_whole(args, plan);
    else if (args->policy->plan)
        args->policy->plan(args, plan);
    else
        gpumpi_victim_plan_further(args, from, plan);
}

/* Holds a plan of so many positions against the rules: GPUMP_REASON_YES, or what it breaks. */
static gpump_reason gpumpi_victim_check(const gpump_victim_plan_args *args, const gpump_victim_plan *plan,
                                        uint32_t positions) {
    uint64_t choosable = args->choosable, rest, covered = plan->victims | args->leaving;
    gpumpi_victim_room room;
    if (plan->victims & ~choosable) return GPUMP_REASON_NOT_RUNNING;
    for (rest = plan->victims; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = plan->technique[i];
        if (t >= GPUMP_TECHNIQUES || !(args->allowed[i] >> t & 1u))
            return gpump_technique_begins(t) == GPUMP_TECHNIQUE_BEGIN_DROP ? GPUMP_REASON_CLOBBERED
                                                                           : GPUMP_REASON_NO_TECHNIQUE;
    }
    if ((plan->positions & ~args->open) || positions > args->want) return GPUMP_REASON_POSITIONS;
    for (rest = plan->positions; rest; rest &= rest - 1)
        if (args->sets[gpump_bits_lowest64(rest)] & ~covered) return GPUMP_REASON_REGISTERS;
    if (args->groups && (gpumpi_victim_closure(args->sm, plan->victims) & ~covered)) return GPUMP_REASON_GROUP;
    if (!positions) return GPUMP_REASON_YES; /* what is short already is short without this plan */
    room = gpumpi_victim_room_without(args, 0);
    gpumpi_victim_release(args, plan->victims, &room);
    return gpumpi_victim_suffices(args->geometry, &room, positions) ? GPUMP_REASON_YES : GPUMP_REASON_WARPS;
}

/* What stands in the way of a further position on this SM. */
static gpump_reason gpumpi_victim_why(const gpump_victim_plan_args *args, uint32_t got, uint32_t most) {
    if (got >= most) return GPUMP_REASON_POSITIONS;
    if (args->fixed) {
        uint32_t may = args->sm->blocks[gpump_bits_lowest64(args->fixed)].may;
        if (args->groups) return GPUMP_REASON_GROUP;
        return may ? GPUMP_REASON_CLOBBERED : GPUMP_REASON_NO_TECHNIQUE;
    }
    return GPUMP_REASON_WARPS;
}

/* Sorts the blocks of `which` by latency; returns how many there are. */
static uint32_t gpumpi_victim_by_latency(uint64_t which, const uint64_t *latency, uint8_t *order) {
    uint32_t n = 0, j;
    for (; which; which &= which - 1) {
        uint32_t i = gpump_bits_lowest64(which);
        for (j = n++; j > 0 && latency[order[j - 1]] > latency[i]; j--) order[j] = order[j - 1];
        order[j] = (uint8_t)i;
    }
    return n;
}

/* The k-th of the positions to be free needs warps, threads and slots for k, from whichever blocks are out by then.
 * `room` is what is free while none of them is. Returns when the last is free, which was `last` without that. `wait`
 * may be NULL. */
static uint64_t gpumpi_victim_wait_for_room(const gpump_victim_plan_args *args, const gpump_victim_plan *plan,
                                            const uint64_t *latency, uint64_t *wait, gpumpi_victim_room *room,
                                            uint64_t last) {
    uint8_t blocks[GPUMP_VICTIM_BLOCKS], positions[GPUMP_VICTIM_POSITIONS];
    uint32_t block_count, count = gpumpi_bits_count64(plan->positions), k, out = 0;
    uint64_t freed = 0;
    if (gpumpi_victim_suffices(args->geometry, room, count)) return last; /* there is room for all at once */
    block_count = gpumpi_victim_by_latency(plan->victims | args->leaving, latency, blocks);
    if (wait) gpumpi_victim_by_latency(plan->positions, wait, positions);
    for (k = wait ? 1 : count; k <= count; k++) {
        while (!gpumpi_victim_suffices(args->geometry, room, k) && out < block_count) {
            freed = latency[blocks[out]];
            gpumpi_victim_release(args, (uint64_t)1 << blocks[out++], room);
        }
        if (wait && wait[positions[k - 1]] < freed) wait[positions[k - 1]] = freed;
    }
    return freed > last ? freed : last;
}

/* When each position of a plan is free: registers and shared memory when whoever lies on it is out, or the whole SM.
 * Returns the last. Where one block of each position has the threads that the position needs, and so the warps and a
 * slot, no position waits for the room of another. All blocks are out at `latest`. `wait` may be NULL: only the last is
 * asked for. */
static uint64_t gpumpi_victim_waits(const gpump_victim_plan_args *args, const gpump_victim_plan *plan,
                                    const uint64_t *latency, uint64_t latest, uint64_t *wait) {
    const uint64_t leaving = plan->victims | args->leaving;
    const gpump_block_view *const blocks = args->sm->blocks;
    /* Blocks whose room is no position's alone: on their way out already, or on two positions. */
    uint64_t apart = args->leaving;
    uint64_t on_positions = 0, last = 0, rest;
    int each_gives = 1;
    gpumpi_victim_room room;
    if ((args->policy->flags & GPUMP_VICTIM_WHOLE_SM) ||
        (!(plan->positions & (plan->positions - 1)) &&
         !(leaving & ~args->sets[gpump_bits_lowest64(plan->positions)]))) {
        /* The whole SM, or one position with all victims on it. */
        for (rest = wait ? plan->positions : 0; rest; rest &= rest - 1) wait[gpump_bits_lowest64(rest)] = latest;
        return latest;
    }
    for (rest = plan->positions; rest; rest &= rest - 1) {
        const uint32_t p = gpump_bits_lowest64(rest);
        const uint64_t set = args->sets[p];
        uint64_t who = set & leaving, out = 0;
        int gives = 0;
        for (; who; who &= who - 1) {
            const uint32_t i = gpump_bits_lowest64(who);
            gives |= blocks[i].threads >= args->geometry->threads;
            if (latency[i] > out) out = latency[i];
        }
        each_gives &= gives;
        apart |= on_positions & set;
        on_positions |= set;
        if (wait) wait[p] = out;
        if (out > last) last = out;
    }
    if (!wait && last == latest) return last;
    if (each_gives && !apart && (args->free_warps | args->free_threads | args->free_slots | args->free_entries) >= 0)
        return last;
    room = gpumpi_victim_room_without(args, args->leaving);
    return gpumpi_victim_wait_for_room(args, plan, latency, wait, &room, last);
}

/* Writes the choice of block i. */
static void gpumpi_victim_put(gpump_block_choice *choice, const gpump_victim_sm *sm, uint32_t i, uint32_t technique,
                              uint32_t otherwise, uint64_t latency) {
    choice->block = sm->blocks[i].block;
    choice->technique = technique;
    choice->keep = 0;
    choice->to_point = 0;
    choice->otherwise = otherwise;
    choice->sm = sm->sm;
    choice->unused = 0;
    choice->cookie = sm->blocks[i].cookie;
    choice->latency = latency;
    choice->overhead = sm->estimates[i].overhead[otherwise];
}

/* Puts the victims in the order in which they leave: those that need no port (only where `all` are wanted), then those
 * that are saved, shortest first. Writes the latency of each by itself, and to *on_port those that are saved; adds the
 * victims to the decision, and raises *latest to their latency. Returns how many are in order. */
static uint32_t gpumpi_victim_order(const gpump_victim_sm *sm, const gpump_victim_plan *plan, int all,
                                    gpump_victim_decision *decision, uint64_t *latency, uint64_t *latest,
                                    uint8_t *order, uint64_t *on_port) {
    const gpump_cost_estimate *const estimates = sm->estimates;
    uint64_t rest, saved = 0, last = *latest, overhead = decision->overhead;
    uint32_t n = 0, count = 0, first, j;
    for (rest = plan->victims; rest; rest &= rest - 1, count++) {
        const uint32_t i = gpump_bits_lowest64(rest), t = plan->technique[i];
        const gpump_cost_estimate *const e = &estimates[i];
        latency[i] = e->latency[t];
        if (latency[i] > last) last = latency[i];
        overhead = gpump_add_saturated(overhead, e->overhead[t]);
        if (gpumpi_victim_uses_port(t))
            saved |= rest & (0 - rest);
        else if (all)
            order[n++] = (uint8_t)i;
    }
    for (first = n, rest = saved; rest; rest &= rest - 1) {
        const uint32_t i = gpump_bits_lowest64(rest);
        for (j = n++; j > first && latency[order[j - 1]] > latency[i]; j--) order[j] = order[j - 1];
        order[j] = (uint8_t)i;
    }
    decision->overhead = overhead;
    decision->choices += count;
    *latest = last;
    *on_port = saved;
    return n;
}

/* As gpumpi_bits_count64, of a set that seldom has more than one block. */
GPUMP_INLINE uint32_t gpumpi_victim_few(uint64_t set) { return set & (set - 1) ? gpumpi_bits_count64(set) : set != 0; }

/* Writes the places of one SM's plan, which wait as long as `wait` says. */
static void gpumpi_victim_put_places(const gpumpi_victim_context *context, const gpump_victim_plan_args *args,
                                     const gpump_victim_plan *plan, const uint64_t *wait, gpumpi_victim_out *out) {
    gpump_victim_place *place = &out->places[out->decision->places];
    uint64_t rest;
    for (rest = plan->positions; rest; rest &= rest - 1, place++) {
        const uint32_t p = gpump_bits_lowest64(rest);
        place->latency = wait[p];
        place->sm = args->sm->sm;
        place->position = p;
        place->register_base = p * context->geometry->registers;
        place->shared_base = p * context->geometry->shared_bytes;
        place->victims = gpumpi_victim_few(args->sets[p] & plan->victims);
        place->late = context->left != GPUMP_UNKNOWN && wait[p] > context->left;
        out->decision->places++;
        out->decision->late += place->late;
    }
}

/* Adds one SM's plan of so many positions to the decision. */
static void gpumpi_victim_emit(const gpumpi_victim_context *context, const gpump_victim_plan_args *args,
                               const gpump_victim_plan *plan, uint32_t positions, gpumpi_victim_out *out) {
    const gpump_victim_sm *sm = args->sm;
    gpump_victim_decision *decision = out->decision;
    gpump_block_choice *choice = out->choices ? &out->choices[decision->choices] : NULL;
    uint64_t latency[GPUMP_VICTIM_BLOCKS], wait[GPUMP_VICTIM_POSITIONS], *waits = out->places ? wait : NULL;
    uint64_t rest, last, latest = 0, port = 0, later = 0, on_port;
    uint8_t order[GPUMP_VICTIM_BLOCKS];
    uint32_t n = 0, j;
    if (!positions) return;
    for (rest = args->leaving; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest);
        latency[i] = gpumpi_block_freed_after(&sm->blocks[i], sm->estimates[i].latency);
        if (latency[i] > latest) latest = latency[i];
    }
    for (rest = plan->victims & plan->later; rest; rest &= rest - 1)
        if (gpump_technique_begins(plan->technique[gpump_bits_lowest64(rest)]) != GPUMP_TECHNIQUE_BEGIN_RUN)
            later |= rest & (0 - rest);
    n = gpumpi_victim_order(sm, plan, choice != NULL, decision, latency, &latest, order, &on_port);
    if (context->request->flags & GPUMP_VICTIM_PARALLEL_SAVES) on_port = 0;
    for (j = 0; j < n; j++) {
        uint32_t i = order[j], t = plan->technique[i];
        if (on_port >> i & 1u) latency[i] = port = gpump_add_saturated(port, latency[i]);
        if (choice) /* one that runs on is out by the deadline */
            gpumpi_victim_put(choice++, sm, i, plan->later >> i & 1u ? (uint32_t)GPUMP_TECHNIQUE_DRAIN : t, t,
                              (later >> i & 1u) && latency[i] < args->left ? args->left : latency[i]);
    }
    if (port > latest) latest = port;
    last = gpumpi_victim_waits(args, plan, latency, latest, waits);
    if (last > out->soonest) out->soonest = last;
    for (rest = later; rest; rest &= rest - 1) { /* they run on, and are out by then */
        if (latency[gpump_bits_lowest64(rest)] < args->left) latency[gpump_bits_lowest64(rest)] = args->left;
    }
    if (later) last = gpumpi_victim_waits(args, plan, latency, latest < args->left ? args->left : latest, waits);
    if (last > decision->latency) decision->latency = last;
    decision->sms++;
    if (plan->ask_again < decision->ask_again) decision->ask_again = plan->ask_again;
    if (out->places) {
        gpumpi_victim_put_places(context, args, plan, wait, out);
        return;
    }
    decision->places += positions;
    decision->late += context->left != GPUMP_UNKNOWN && last > context->left; /* whether places are, not how many */
}

/* ---- heap of SMs: the best next position on top ---- */

static int gpumpi_victim_before(const void *heap, uint32_t at, uint32_t other) {
    const gpumpi_victim_state *states = (const gpumpi_victim_state *)heap;
    const uint32_t a = states[at].heap, b = states[other].heap;
    const gpumpi_victim_state *x = &states[a], *y = &states[b];
    if (x->late != y->late) return x->late < y->late;
    if (x->first != y->first) return x->first < y->first;
    return x->second != y->second ? x->second < y->second : a < b;
}

static void gpumpi_victim_swap(void *heap, uint32_t at, uint32_t other) {
    gpumpi_victim_state *states = (gpumpi_victim_state *)heap;
    const uint32_t moved = states[at].heap;
    states[at].heap = states[other].heap;
    states[other].heap = moved;
}
static void gpumpi_victim_sift(gpumpi_victim_state *states, uint32_t count, uint32_t at) {
    gpumpi_heap_sift(states, count, at, gpumpi_victim_before, gpumpi_victim_swap);
}

/* An SM that is prepared: the one that got a position last often gets the next one too. */
typedef struct gpumpi_victim_prepared {
    const gpump_victim_sm *sm; /* NULL: none */
    uint32_t most;             /* positions that it can have */
    gpump_victim_plan_args args;
    uint64_t sets[GPUMP_VICTIM_POSITIONS];
} gpumpi_victim_prepared;

/* Prepares an SM unless it is. Returns how many positions it can have. */
static GPUMPI_CALLED uint32_t gpumpi_victim_prepare_once(const gpumpi_victim_context *context,
                                                         const gpump_victim_sm *sm, gpumpi_victim_prepared *prepared) {
    if (prepared->sm != sm) prepared->most = gpumpi_victim_prepare(context, sm, prepared->sets, &prepared->args);
    prepared->sm = sm;
    return prepared->most;
}

/* What one position more (with WHOLE_SM: the SM) costs. Returns 0 when there is none. */
static uint32_t gpumpi_victim_rate(const gpumpi_victim_context *context, const gpump_victim_sm *sm,
                                   gpumpi_victim_state *state, gpumpi_victim_prepared *prepared) {
    gpump_victim_plan_args *const args = &prepared->args;
    gpump_victim_plan *const plan = &state->more;
    gpump_victim_decision decision;
    gpumpi_victim_out out;
    const int whole = (context->policy->flags & GPUMP_VICTIM_WHOLE_SM) != 0;
    uint64_t more; /* overhead */
    uint32_t got;
    if (whole && state->quota > 0) return 0;
    gpumpi_victim_prepare_once(context, sm, prepared);
    if (state->quota >= prepared->most) return 0;
    args->want = whole ? prepared->most : state->quota + 1;
    gpumpi_victim_plan(args, state->kept ? &state->plan : NULL, plan);
    got = gpumpi_bits_count64(plan->positions);
    if (got <= state->quota || (!context->obeys && gpumpi_victim_check(args, plan, got) != GPUMP_REASON_YES)) return 0;
    memset(&out, 0, sizeof out);
    memset(&decision, 0, sizeof decision);
    out.decision = &decision;
    gpumpi_victim_emit(context, args, plan, got, &out);
    more = decision.overhead > state->total ? decision.overhead - state->total : 0;
    state->late = decision.late != 0;
    state->first = state->late ? decision.latency : more;
    state->second = state->late ? more : decision.latency;
    state->total = decision.overhead;
    return got - state->quota;
}

GPUMP_API size_t gpump_victim_scratch_bytes(uint32_t sm_count) {
    return sm_count <= 64 ? 0 : sm_count * sizeof(gpumpi_victim_state);
}

/* A block that reaches beyond the SM. */
static gpump_result gpumpi_victim_check_ranges(const gpump_victim_geometry *geometry, const gpump_victim_sm *sm,
                                               uint32_t index, gpump_diag *diag) {
    uint64_t outside = 0; /* the top bit, where a range ends behind the SM */
    uint32_t i;
    for (i = 0; i < sm->count; i++) {
        const gpump_block_view *block = &sm->blocks[i];
        outside |= (uint64_t)geometry->register_file - block->register_base - block->registers;
        outside |= (uint64_t)geometry->shared_memory_bytes - block->shared_base - block->shared_bytes;
    }
    for (i = 0; outside >> 63 && i < sm->count; i++) {
        const gpump_block_view *block = &sm->blocks[i];
        uint64_t registers = (uint64_t)block->register_base + block->registers;
        uint64_t shared = (uint64_t)block->shared_base + block->shared_bytes;
        if (registers > geometry->register_file)
            return gpumpi_bad_argument(diag, "sms.blocks.register_base + registers", index, registers, 0,
                                       geometry->register_file);
        if (shared > geometry->shared_memory_bytes)
            return gpumpi_bad_argument(diag, "sms.blocks.shared_base + shared_bytes", index, shared, 0,
                                       geometry->shared_memory_bytes);
    }
    return GPUMP_OK;
}

static gpump_result gpumpi_victim_check_question(const gpump_victim_question *question,
                                                 const gpump_victim_geometry *geometry, gpump_diag *diag) {
    const gpump_victim_policy *policy = question ? question->policy : NULL;
    const gpump_victim_request *request = question ? question->request : NULL;
    uint32_t s;
    if (!policy)
        return gpumpi_fail_at(diag, GPUMP_ERROR_ARGUMENT, "policy is NULL: gpump_victim_find did not know that name",
                              0);
    if (!policy->name) return gpumpi_null(diag, "policy.name");
    if (!request) return gpumpi_null(diag, "request");
    if (request->flags > GPUMP_VICTIM_PARALLEL_SAVES)
        return gpumpi_bad_argument(diag, "request.flags", 0, request->flags, 0, GPUMP_VICTIM_PARALLEL_SAVES);
    if (request->now < request->since)
        return gpumpi_fail(diag, GPUMP_ERROR_TIME, "request.now", 0, request->now, request->since, UINT64_MAX);
    if (question->sm_count && !question->sms) return gpumpi_null(diag, "sms");
    if ((question->place_capacity && !question->places) || (question->choice_capacity && !question->choices))
        return gpumpi_null(diag, "places or choices");
    for (s = 0; s < question->sm_count; s++) {
        const gpump_victim_sm *sm = &question->sms[s];
        gpump_result result;
        if (sm->count > GPUMP_VICTIM_BLOCKS)
            return gpumpi_bad_argument(diag, "sms.count", s, sm->count, 0, GPUMP_VICTIM_BLOCKS);
        if (sm->count && (!sm->blocks || !sm->estimates))
            return gpumpi_bad_argument(diag, "sms.blocks or estimates", s, 0, 1, UINT64_MAX);
        result = geometry ? gpumpi_victim_check_ranges(geometry, sm, s, diag) : GPUMP_OK;
        if (result != GPUMP_OK) return result;
    }
    return GPUMP_OK;
}

/* Plans one SM and adds it. *state, or NULL: a plan that it keeps for these positions is taken, and a new plan is kept
 * there. */
static gpump_result gpumpi_victim_take(const gpumpi_victim_context *context, const gpump_victim_sm *sm, uint32_t index,
                                       uint32_t want, gpumpi_victim_state *state, gpumpi_victim_out *out,
                                       gpump_diag *diag) {
    uint64_t sets[GPUMP_VICTIM_POSITIONS];
    gpump_victim_plan_args args;
    gpump_victim_plan own, *const plan = state ? &state->plan : &own;
    uint32_t most = gpumpi_victim_prepare(context, sm, sets, &args), got;
    int is_kept; /* the plan */
    args.want = want < most ? want : most;
    if (!args.want) plan->positions = plan->victims = 0;
    is_kept = !args.want || (state && state->kept == args.want && state->until == context->relaxed);
    if (!is_kept) gpumpi_victim_plan(&args, NULL, plan);
    got = gpumpi_bits_count64(plan->positions);
    if (!is_kept && !context->obeys) {
        gpump_reason reason = gpumpi_victim_check(&args, plan, got);
        if (reason != GPUMP_REASON_YES) return gpumpi_refuse(diag, reason, "policy's plan for sm", index);
    }
    if (state && context->keeps_plans) {
        state->kept = args.want;
        state->until = context->relaxed;
    }
    if (got < want && !out->blocked) out->blocked = (uint32_t)gpumpi_victim_why(&args, got, most);
    if (out->counts_only) {
        out->decision->places += got;
        out->decision->choices += plan->positions ? gpumpi_bits_count64(plan->victims) : 0;
    } else {
        gpumpi_victim_emit(context, &args, plan, got, out);
    }
    return GPUMP_OK;
}

/* The decision itself, in one pass over the SMs once quotas stand. */
static gpump_result gpumpi_victim_run(const gpumpi_victim_context *context, const gpump_victim_sm *sms,
                                      uint32_t sm_count, gpumpi_victim_state *states, gpumpi_victim_out *out,
                                      gpump_diag *diag) {
    uint32_t s, wanted = context->request->positions;
    gpumpi_victim_begin(out);
    for (s = 0; s < sm_count && out->decision->places < wanted; s++) {
        uint32_t want = wanted - out->decision->places;
        gpump_result result;
        if (states && states[s].quota < want) want = states[s].quota;
        if (!want) continue;
        result = gpumpi_victim_take(context, &sms[s], s, want, states ? &states[s] : NULL, out, diag);
        if (result != GPUMP_OK) return result;
    }
    out->decision->missing = wanted - out->decision->places;
    out->decision->reason = GPUMP_REASON_YES;
    /* SMs that got no quota have not been asked why. */
    for (s = 0; s < sm_count && states && out->decision->missing && !out->blocked; s++) {
        uint64_t sets[GPUMP_VICTIM_POSITIONS];
        gpump_victim_plan_args args;
        uint32_t most = gpumpi_victim_prepare(context, &sms[s], sets, &args);
        if (states[s].quota < most) out->blocked = (uint32_t)gpumpi_victim_why(&args, states[s].quota, most);
    }
    if (out->decision->missing)
        out->decision->reason = out->blocked ? (gpump_reason)out->blocked : GPUMP_REASON_POSITIONS;
    return GPUMP_OK;
}

/* Fewer positions than the SMs could have: gives them out one by one, where the next is best. */
static void gpumpi_victim_share(const gpumpi_victim_context *context, const gpump_victim_sm *sms, uint32_t sm_count,
                                gpumpi_victim_state *states) {
    gpumpi_victim_prepared prepared;
    uint32_t count = 0, given = 0, s;
    prepared.sm = NULL;
    for (s = 0; s < sm_count; s++)
        if (gpumpi_victim_rate(context, &sms[s], &states[s], &prepared)) states[count++].heap = s;
    for (s = count; s-- > 0;) gpumpi_victim_sift(states, count, s);
    while (count && given < context->request->positions) {
        const gpump_victim_sm *sm = &sms[states[0].heap];
        gpumpi_victim_state *top = &states[states[0].heap];
        if (context->policy->flags & GPUMP_VICTIM_WHOLE_SM) {
            top->quota = gpumpi_victim_prepare_once(context, sm, &prepared);
            given += top->quota;
        } else {
            top->quota++;
            given++;
        }
        if (context->keeps_plans) {
            top->plan = top->more;
            top->kept = top->quota;
            top->until = context->relaxed;
        }
        if (context->keeps_plans && given >= context->request->positions) break; /* nobody asks for a further one */
        if (!gpumpi_victim_rate(context, sm, top, &prepared)) states[0].heap = states[--count].heap;
        gpumpi_victim_sift(states, count, 0);
    }
}

/* ---- blocks that leave whole SMs, and a second look at blocks that drain ---- */

/* Asks the policy about args->draining, whose blocks all leave, and writes those choices that are not drains; `drains`:
 * drains too. */
static gpump_result gpumpi_victim_answer(const gpump_victim_plan_args *args, uint32_t index, int drains,
                                         gpumpi_victim_out *out, gpump_diag *diag) {
    const gpump_victim_sm *sm = args->sm;
    gpump_victim_decision *decision = out->decision;
    gpump_victim_plan plan;
    uint64_t rest, port = 0;
    uint32_t before = decision->choices;
    int bills = args->policy->plan && (args->policy->flags & GPUMP_VICTIM_COMMON_DEADLINE); /* what stays counts too */
    plan.later = 0;
    if (bills)
        args->policy->plan(args, &plan);
    else
        gpumpi_victim_plan_each(args, &plan);
    for (rest = plan.victims & args->draining; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = plan.technique[i];
        if (t >= GPUMP_TECHNIQUES || !((uint32_t)args->allowed[i] >> t & 1u))
            return gpumpi_refuse(diag, GPUMP_REASON_NO_TECHNIQUE, "policy's plan for sm", index);
    }
    for (rest = plan.victims & args->draining; rest; rest &= rest - 1) {
        uint32_t i = gpump_bits_lowest64(rest), t = plan.technique[i], later = (uint32_t)(plan.later >> i & 1u);
        int silent = !drains && (gpump_technique_begins(t) == GPUMP_TECHNIQUE_BEGIN_RUN || later);
        uint64_t latency;
        if (silent && !bills) continue;
        latency = sm->estimates[i].latency[t];
        if (!(args->request->flags & GPUMP_VICTIM_PARALLEL_SAVES) && gpumpi_victim_uses_port(t))
            latency = port = gpump_add_saturated(port, latency);
        if (latency > out->soonest) out->soonest = latency;
        decision->overhead = gpump_add_saturated(decision->overhead, sm->estimates[i].overhead[t]);
        if (silent) continue;
        if (later && latency < args->left) latency = args->left; /* it runs on, and is out by then */
        if (out->choices)
            gpumpi_victim_put(&out->choices[decision->choices], sm, i, later ? (uint32_t)GPUMP_TECHNIQUE_DRAIN : t, t,
                              latency);
        decision->choices++;
        if (latency > decision->latency) decision->latency = latency;
    }
    decision->sms += decision->choices != before;
    if (plan.ask_again < decision->ask_again) decision->ask_again = plan.ask_again;
    return GPUMP_OK;
}

/* The draining blocks of every SM. */
static gpump_result gpumpi_victim_look_again(const gpumpi_victim_context *context, const gpump_victim_sm *sms,
                                             uint32_t sm_count, gpumpi_victim_out *out, gpump_diag *diag) {
    uint32_t s, i;
    gpumpi_victim_begin(out);
    for (s = 0; s < sm_count; s++) {
        const gpump_victim_sm *sm = &sms[s];
        gpump_victim_plan_args args;
        gpump_result result;
        memset(&args, 0, sizeof args);
        args.policy = context->policy;
        args.request = context->request;
        args.sm = sm;
        args.left = context->relaxed;
        for (i = 0; i < sm->count; i++) {
            const gpump_block_view *block = &sm->blocks[i];
            if (block->state != GPUMP_BLOCK_DRAINING || block->kernel == context->request->kernel) continue;
            args.allowed[i] = (uint8_t)((block->may & gpumpi_victim_techniques(context->policy)) | GPUMPI_VICTIM_D);
            args.draining |= (uint64_t)1 << i;
        }
        args.choosable = args.draining;
        if (!args.draining) continue;
        result = gpumpi_victim_answer(&args, s, 0, out, diag);
        if (result != GPUMP_OK) return result;
    }
    return GPUMP_OK;
}

/* All blocks of every SM. */
static gpump_result gpumpi_victim_empty(const gpumpi_victim_context *context, const gpump_victim_sm *sms,
                                        uint32_t sm_count, gpumpi_victim_out *out, gpump_diag *diag) {
    const uint32_t kernel = context->request->kernel;
    uint32_t s, i;
    gpumpi_victim_begin(out);
    for (s = 0; s < sm_count; s++) {
        const gpump_victim_sm *sm = &sms[s];
        gpump_victim_plan_args args;
        gpump_result result;
        uint64_t rest, stay = 0;
        memset(&args, 0, sizeof args);
        args.policy = context->policy;
        args.request = context->request;
        args.sm = sm;
        args.left = context->left;
        for (i = 0; i < sm->count; i++) {
            const gpump_block_view *block = &sm->blocks[i];
            if (gpumpi_block_leaves(block->state) || (kernel && block->kernel == kernel)) continue;
            args.allowed[i] = (uint8_t)(block->may & gpumpi_victim_techniques(context->policy));
            args.groups |= block->group;
            if (args.allowed[i])
                args.choosable |= (uint64_t)1 << i;
            else
                args.fixed |= (uint64_t)1 << i;
        }
        for (rest = args.groups ? args.choosable : 0; rest; rest &= rest - 1)
            if (gpumpi_victim_closure(sm, rest & (0 - rest)) & args.fixed) stay |= rest & (0 - rest);
        if (args.fixed) { /* groups only explain why others stay */
            out->decision->missing += gpumpi_bits_count64(args.fixed | stay);
            if (!out->decision->reason)
                out->decision->reason = sm->blocks[gpump_bits_lowest64(args.fixed)].may ? GPUMP_REASON_CLOBBERED
                                                                                        : GPUMP_REASON_NO_TECHNIQUE;
        }
        args.draining = args.choosable &= ~stay;
        if (!args.choosable) continue;
        result = gpumpi_victim_answer(&args, s, 1, out, diag);
        if (result != GPUMP_OK) return result;
    }
    return GPUMP_OK;
}

/* ---- one deadline for all ---- */

/* What a plan costs: what it wastes, and what its lateness is worth. */
static uint64_t gpumpi_victim_bill(const gpumpi_victim_context *context, const gpumpi_victim_out *out) {
    uint64_t late = out->soonest > context->left ? out->soonest - context->left : 0,
             price = context->request->late_price;
    if (price && late > UINT64_MAX / price) return UINT64_MAX;
    return gpump_add_saturated(out->decision->overhead, late * price);
}

/* Chooses the time for which all positions are planned, and sets context->relaxed. A request ends with its last
 * position. If one position is late, finishing the others early gains nothing: all are planned for the latest time.
 * Where avoiding lateness costs more than the lateness, all positions may take longer. `first` is the result of the
 * plan within context->left. */
static gpump_result gpumpi_victim_settle(gpumpi_victim_context *context, const gpump_victim_sm *sms, uint32_t sm_count,
                                         gpumpi_victim_state *states, int again, const gpumpi_victim_out *first,
                                         gpump_diag *diag) {
    static const uint8_t eighths[] = {1, 2, 4, 8, 16, 24, 40, 80}; /* of the limit, beyond it */
    uint64_t price = context->request->late_price, best, until = context->left;
    uint32_t k;
    if (first->soonest > until && first->soonest != GPUMP_UNKNOWN) until = first->soonest;
    best = gpumpi_victim_bill(context, first);
    for (k = 0; price && k < sizeof eighths; k++) {
        gpump_victim_decision decision;
        gpumpi_victim_out out;
        gpump_result result;
        uint64_t more = context->request->limit_cycles / 8 * eighths[k], bill;
        if (more > best / price) break; /* so late, nothing can be cheaper */
        context->relaxed = gpump_add_saturated(context->left, more);
        if (context->relaxed <= until) continue;
        out.places = NULL;
        out.choices = NULL;
        out.decision = &decision;
        out.counts_only = 0;
        result = again ? gpumpi_victim_look_again(context, sms, sm_count, &out, diag)
                       : gpumpi_victim_run(context, sms, sm_count, states, &out, diag);
        if (result != GPUMP_OK) return result;
        bill = gpumpi_victim_bill(context, &out);
        if (bill >= best) continue;
        best = bill;
        until = out.soonest > context->left ? out.soonest : context->left;
    }
    context->relaxed = until;
    return GPUMP_OK;
}

static gpump_result gpumpi_victim_once(const gpumpi_victim_context *context, const gpump_victim_question *question,
                                       gpumpi_victim_state *states, gpumpi_victim_out *out, gpump_diag *diag) {
    if (question->ask == GPUMP_VICTIM_ASK_POSITIONS)
        return gpumpi_victim_run(context, question->sms, question->sm_count, states, out, diag);
    if (question->ask == GPUMP_VICTIM_ASK_VACATE)
        return gpumpi_victim_empty(context, question->sms, question->sm_count, out, diag);
    return gpumpi_victim_look_again(context, question->sms, question->sm_count, out, diag);
}

/* Whether the division of a request has made and checked all plans of its SMs. */
static int gpumpi_victim_has_plans(const gpumpi_victim_context *context, const gpump_victim_question *question) {
    return question->ask == GPUMP_VICTIM_ASK_POSITIONS && context->keeps_plans && context->divides &&
           !(context->policy->flags & (GPUMP_VICTIM_WHOLE_SM | GPUMP_VICTIM_COMMON_DEADLINE));
}

/* Answers a question whose input has been checked. Nothing is written before it is known to fit and to be right. */
static gpump_result gpumpi_victim_make(gpumpi_victim_context *context, const gpump_victim_question *question,
                                       gpumpi_victim_state *states, gpump_victim_decision *decision, gpump_diag *diag) {
    gpump_victim_decision made;
    gpumpi_victim_out out;
    uint64_t most_choices = 0;
    uint32_t s;
    int common = question->ask != GPUMP_VICTIM_ASK_VACATE && (question->policy->flags & GPUMP_VICTIM_COMMON_DEADLINE) &&
                 (question->ask == GPUMP_VICTIM_ASK_POSITIONS || question->policy->plan) &&
                 context->left != GPUMP_UNKNOWN;
    int enough =
        (question->ask != GPUMP_VICTIM_ASK_POSITIONS || question->place_capacity >= question->request->positions) &&
        (question->sm_count == 1 || context->is_built_in || gpumpi_victim_has_plans(context, question));
    gpump_result result;
    for (s = 0; s < question->sm_count; s++) most_choices += question->sms[s].count;
    enough = enough && question->choice_capacity >= most_choices;
    out.places = enough ? question->places : NULL;
    out.choices = enough ? question->choices : NULL;
    out.decision = &made;
    out.counts_only = !enough && !common;
    result = gpumpi_victim_once(context, question, states, &out, diag);
    if (result == GPUMP_OK && common) {
        result = gpumpi_victim_settle(context, question->sms, question->sm_count, states,
                                      question->ask == GPUMP_VICTIM_ASK_AGAIN, &out, diag);
        if (result == GPUMP_OK && context->relaxed != context->left)
            result = gpumpi_victim_once(context, question, states, &out, diag);
    }
    if (result == GPUMP_OK && !enough) { /* counted so far */
        if ((question->ask == GPUMP_VICTIM_ASK_POSITIONS && made.places > question->place_capacity) ||
            made.choices > question->choice_capacity) {
            decision->places = made.places;
            decision->choices = made.choices;
            return gpumpi_fail(diag, GPUMP_ERROR_CAPACITY, "place_capacity or choice_capacity", 0,
                               question->choice_capacity, made.choices, UINT64_MAX);
        }
        out.places = question->places;
        out.choices = question->choices;
        out.counts_only = 0;
        result = gpumpi_victim_once(context, question, states, &out, diag);
    }
    if (result == GPUMP_OK) *decision = made;
    return result;
}

/* Divides the positions of a request between its SMs, where it needs fewer than they have. *states remains NULL where
 * there is nothing to divide and no plan to keep. A policy of the host is planned twice then, for want of scratch. */
static gpump_result gpumpi_victim_divide(gpumpi_victim_context *context, const gpump_victim_question *question,
                                         gpumpi_victim_state *stack, gpumpi_victim_state **states, gpump_diag *diag) {
    const size_t scratch_bytes = gpump_victim_scratch_bytes(question->sm_count);
    const int fits = question->scratch_bytes >= scratch_bytes && (scratch_bytes == 0 || question->scratch);
    const int divides = question->request->positions < (uint64_t)question->sm_count * context->geometry->blocks;
    uint32_t s;
    context->divides = divides;
    if (question->sm_count <= 1 || (!divides && (context->is_built_in || !context->keeps_plans || !fits)))
        return GPUMP_OK;
    if (!fits) return gpumpi_bad_argument(diag, "scratch_bytes", 0, question->scratch_bytes, scratch_bytes, UINT64_MAX);
    *states = scratch_bytes == 0 ? stack : (gpumpi_victim_state *)question->scratch;
    for (s = 0; s < question->sm_count; s++) {
        gpumpi_victim_state *state = &(*states)[s];
        state->quota = divides ? 0 : UINT32_MAX;
        state->kept = state->late = 0;
        state->total = 0;
    }
    if (divides) gpumpi_victim_share(context, question->sms, question->sm_count, *states);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_victim_decide(const gpump_victim_question *question, gpump_victim_decision *decision,
                                           gpump_diag *diag) {
    gpumpi_victim_state stack[64], *states = NULL;
    gpumpi_victim_context context;
    const int positions = question && question->ask == GPUMP_VICTIM_ASK_POSITIONS;
    const gpump_victim_geometry *geometry = positions ? question->geometry : NULL;
    gpump_result result;
    if (!question || !decision || (positions && !geometry))
        return gpumpi_bad_argument(diag, "question, geometry or decision", 0, 0, 1, UINT64_MAX);
    if (question->ask > GPUMP_VICTIM_ASK_AGAIN)
        return gpumpi_bad_argument(diag, "ask", 0, question->ask, 0, GPUMP_VICTIM_ASK_AGAIN);
    result = gpumpi_victim_check_question(question, geometry, diag);
    if (result != GPUMP_OK) return result;
    if (geometry && (geometry->positions < 1 || geometry->positions > GPUMP_VICTIM_POSITIONS))
        return gpumpi_bad_argument(diag, "geometry.positions", 0, geometry->positions, 1, GPUMP_VICTIM_POSITIONS);
    if (question->ask == GPUMP_VICTIM_ASK_AGAIN && !question->policy->technique &&
        !(question->policy->plan && (question->policy->flags & GPUMP_VICTIM_COMMON_DEADLINE))) {
        memset(decision, 0, sizeof *decision); /* the policy never asks again */
        decision->ask_again = GPUMP_UNKNOWN;
        return GPUMP_OK;
    }
    context.policy = question->policy;
    context.request = question->request;
    context.geometry = geometry;
    context.left = context.relaxed = gpumpi_victim_left(question->request);
    context.is_built_in = gpumpi_victim_is_built_in(question->policy);
    context.obeys = context.is_built_in && !question->policy->plan;
    context.divides = 0;
    context.keeps_plans = !(question->policy->flags & GPUMP_VICTIM_HAS_STATE);
    if (geometry) result = gpumpi_victim_divide(&context, question, stack, &states, diag);
    return result ? result : gpumpi_victim_make(&context, question, states, decision, diag);
}
