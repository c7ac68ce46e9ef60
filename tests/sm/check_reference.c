/* labels: property */
/* What gpump_check refuses of an SM, once more and plainly: tables drawn field by field, sound or with a few fields
 * altered, are refused with the first rule that they break and the entry that breaks it. */
#include "test.h"
#include "sm/sm.h"

enum { ENTRIES = 5, KERNELS = 3, LANES = 4, REGISTERS = 2, SHARED = 4 }; /* the last two: granules */
enum { R = GPUMP_PART_REGISTERS, S = GPUMP_PART_SHARED_MEMORY, SLOTS = GPUMP_PART_SLOTS };

static uint64_t random_state;
static uint32_t below(uint32_t limit) { return gpump_random_below(&random_state, limit); }
static int is_in(uint32_t state, const char *states) { return strchr(states, (int)('a' + state)) != NULL; }
#define FREE "a"
/* One letter per gpump_block_state, from a for FREE: f SAVING, g SAVED, i FLUSHED, k PARKED, l KILLED. */
#define MAY_BE_OUT "fgikl"

/* ---- the rules ---- */

static uint32_t may_be_pending(uint32_t state) {
    static const uint32_t kinds[GPUMP_BLOCK_STATES][3] = {
        [GPUMP_BLOCK_RUNNING] = {GPUMP_SM_ACTION_RESUME},
        [GPUMP_BLOCK_BLOCKED] = {GPUMP_SM_ACTION_RESUME},
        [GPUMP_BLOCK_STOPPING] = {GPUMP_SM_ACTION_STOP, GPUMP_SM_ACTION_REWIND},
        [GPUMP_BLOCK_SAVING] = {GPUMP_SM_ACTION_STOP, GPUMP_SM_ACTION_REWIND, GPUMP_SM_ACTION_SAVE},
        [GPUMP_BLOCK_SAVED] = {GPUMP_SM_ACTION_FREED},
        [GPUMP_BLOCK_RESTORING] = {GPUMP_SM_ACTION_RESTORE},
        [GPUMP_BLOCK_FLUSHED] = {GPUMP_SM_ACTION_DROP, GPUMP_SM_ACTION_FREED},
        [GPUMP_BLOCK_DONE] = {GPUMP_SM_ACTION_FREED},
        [GPUMP_BLOCK_PARKED] = {GPUMP_SM_ACTION_PARKED},
        [GPUMP_BLOCK_KILLED] = {GPUMP_SM_ACTION_DROP, GPUMP_SM_ACTION_FREED},
    };
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 3; i++)
        if (kinds[state][i]) bits |= 1u << kinds[state][i];
    return bits;
}

static int is_empty(const gpumpi_sm_slot *slot) {
    gpumpi_sm_slot copy = *slot;
    copy.generation = 0;
    for (size_t i = 0; i < sizeof copy; i++)
        if (((const unsigned char *)&copy)[i]) return 0;
    return 1;
}

/* Whether a range of so many units from `base` on, in granules, lies in `capacity`. */
static int lies_in(uint64_t base, uint64_t length, uint32_t granule, uint64_t capacity) {
    return base + length <= capacity && length % granule == 0;
}

static int has_kernel(const gpump_sm *sm, uint32_t kernel) {
    const gpumpi_sm_kernel *table = (const gpumpi_sm_kernel *)(const void *)(gpumpi_sm_slots_const(sm) + ENTRIES);
    for (uint32_t i = 0; i < KERNELS; i++)
        if (kernel && table[i].kernel == kernel) return 1;
    return 0;
}

/* The flags, waits and threads of a slot. */
static const char *broken_life(const gpump_sm *sm, const gpumpi_sm_slot *s) {
    if (s->state > GPUMP_BLOCK_KILLED) return "a state that does not exist";
    if (s->pending & ~may_be_pending(s->state)) return "an action that the state does not allow";
    if (is_in(s->state, "gj") && !s->pending) return "a block that has ended and is never freed";
    if (s->active > 1 || s->clobbered > 1 || s->to_point > 1) return "a flag that is neither 0 nor 1";
    if (s->technique != GPUMP_NONE && s->technique > GPUMP_TECHNIQUE_REWIND) return "an unknown technique";
    if (is_in(s->state, "l") && s->technique != GPUMP_NONE) return "a killed block with a technique";
    if (s->ready_cycle && !s->faults) return "a block that waits for no page until a cycle";
    if ((s->waits | sm->config.waits) != sm->config.waits) return "a wait that the host does not report";
    if ((s->placed | R | S | SLOTS) != (R | S | SLOTS) || s->unused) return "a part that nobody places";
    if ((s->placed & R ? s->registers : 0) || (s->placed & S ? s->shared_bytes : 0))
        return "a range that another component places";
    if (s->threads == 0 || (s->threads > sm->config.thread_slots && !(s->placed & SLOTS)) ||
        s->warps != s->threads / LANES + (s->threads % LANES != 0))
        return "threads and warps differ";
    if (!s->active && !is_in(s->state, MAY_BE_OUT)) return "a block without warp slots";
    if (s->active && is_in(s->state, "k") && !s->pending) return "a parked block with warp slots";
    return NULL;
}

/* What a slot holds. */
static const char *broken_parts(const gpump_sm *sm, const gpumpi_sm_slot *s) {
    const gpump_room *room = &sm->config.placed;
    if (s->held > (R | S) || s->keep > (R | S) || s->parts > (R | S)) return "a part that does not exist";
    if (s->keep & s->placed) return "a block that keeps what another component places";
    if (s->active && s->held != (R | S)) return "an active block without its ranges";
    if (is_in(s->state, "efk") && (s->keep | s->held) != s->held) return "a block that keeps what it does not hold";
    if (is_in(s->state, "k") && !s->keep) return "a parked block that keeps something else";
    if (is_in(s->state, "k") && !s->active && !s->pending && s->held != s->keep)
        return "a parked block that keeps something else";
    if (is_in(s->state, "f") && s->parts != s->held - s->keep) return "a transfer of other parts";
    if (!lies_in(s->held & R ? s->register_base : 0, s->registers, REGISTERS, sm->config.registers))
        return "registers beyond the register file";
    if ((s->held & R) && s->registers && s->register_base < room->registers)
        return "a range in the room of another component";
    if ((s->held & S) && s->shared_bytes && s->shared_base < room->shared_bytes)
        return "a range in the room of another component";
    if ((s->held & S) && s->shared_bytes) {
        if (!lies_in(s->shared_base, s->shared_bytes, SHARED, sm->shared_bytes)) return "shared memory beyond the SM's";
    } else if (!lies_in(s->held & S ? s->shared_base : 0, s->shared_bytes, SHARED, sm->config.shared_bytes)) {
        return "shared memory beyond the SM's";
    }
    if (!s->function) return "a block of no function";
    return has_kernel(sm, s->kernel) ? NULL : "a block of no kernel";
}

static int share(uint32_t a, uint32_t a_length, uint32_t b, uint32_t b_length) {
    for (uint32_t i = 0; i < a_length; i++)
        if (a + i - b < b_length) return 1;
    return 0;
}

static const char *broken_slot(const gpump_sm *sm, uint32_t i) {
    const gpumpi_sm_slot *all = gpumpi_sm_slots_const(sm), *s = &all[i];
    const char *broken;
    if (s->state == GPUMP_BLOCK_FREE) return is_empty(s) ? NULL : "a free slot that holds something";
    broken = broken_life(sm, s);
    if (!broken) broken = broken_parts(sm, s);
    for (uint32_t k = 0; k < i && !broken; k++) {
        const uint32_t both = s->held & all[k].held;
        if ((both & R) && share(s->register_base, s->registers, all[k].register_base, all[k].registers))
            broken = "registers of two blocks overlap";
        else if ((both & S) && share(s->shared_base, s->shared_bytes, all[k].shared_base, all[k].shared_bytes))
            broken = "shared memory of two blocks overlaps";
    }
    return broken;
}

/* The counts that go with the slots. */
typedef struct counts {
    uint64_t pending, first_end;
    uint32_t blocks, warps, threads;
} counts;
static counts count(const gpump_sm *sm) {
    counts c = {0, GPUMP_UNKNOWN, 0, 0, 0};
    for (uint32_t i = 0; i < ENTRIES; i++) {
        const gpumpi_sm_slot *s = &gpumpi_sm_slots_const(sm)[i];
        if (s->state == GPUMP_BLOCK_FREE) continue;
        if (s->pending) c.pending |= (uint64_t)1 << i;
        if (is_in(s->state, "fh") && s->port_end < c.first_end) c.first_end = s->port_end;
        if (!s->active || s->placed & SLOTS) continue;
        c.blocks++;
        c.warps += s->warps;
        c.threads += s->threads;
    }
    return c;
}

static const char *broken_kernel(const gpump_sm *sm, uint32_t i) {
    const gpumpi_sm_slot *slots = gpumpi_sm_slots_const(sm);
    const gpumpi_sm_kernel *table = (const gpumpi_sm_kernel *)(const void *)(slots + ENTRIES);
    uint32_t blocks = 0, first = 1;
    for (uint32_t k = 0; k < i; k++) first &= table[k].kernel != table[i].kernel;
    for (uint32_t k = 0; k < ENTRIES; k++)
        blocks += slots[k].state != GPUMP_BLOCK_FREE && slots[k].kernel == table[i].kernel;
    if (!table[i].kernel) return table[i].blocks ? "a kernel's blocks are counted wrongly" : NULL;
    return first && blocks && table[i].blocks == blocks ? NULL : "a kernel's blocks are counted wrongly";
}

/* The first rule that an SM breaks, and where; NULL: it is sound. */
static const char *broken(const gpump_sm *sm, uint32_t *index) {
    const gpump_sm_config *config = &sm->config;
    const counts c = count(sm);
    const char *rule = NULL;
    *index = 0;
    if (sm->now == UINT64_MAX || sm->unused || sm->shared_bytes > config->shared_bytes ||
        sm->shared_bytes < config->placed.shared_bytes)
        return "now, shared_bytes or unused";
    for (uint32_t i = 0; i < ENTRIES && !rule; i++) rule = broken_slot(sm, *index = i);
    for (uint32_t i = 0; i < KERNELS && !rule; i++) rule = broken_kernel(sm, *index = i);
    if (rule) return rule;
    if (sm->port.cycles != config->port.cycles || sm->port.bytes != config->port.bytes) return "another port";
    if (sm->pending != c.pending) return "pending actions differ";
    if (config->timing == GPUMP_SM_TIMING_PORT && sm->wake_cycle > c.first_end)
        return "a transfer ends before wake_cycle";
    if (config->timing == GPUMP_SM_TIMING_HOST && sm->wake_cycle != GPUMP_UNKNOWN)
        return "wake_cycle under timing HOST";
    if (sm->blocks != c.blocks || sm->warps != c.warps || sm->threads != c.threads ||
        c.blocks + config->placed.block_slots > config->block_slots ||
        c.warps + config->placed.warp_slots > config->warp_slots ||
        c.threads + config->placed.thread_slots > config->thread_slots)
        return "counts of blocks, warps or threads differ";
    return NULL;
}

/* Whether a rule is one of slots or kernels, whose number the refusal names. */
static int is_of_an_entry(const char *rule) {
    static const char *const of_the_sm[] = {
        "now, shared_bytes or unused",  "another port",
        "pending actions differ",       "a transfer ends before wake_cycle",
        "wake_cycle under timing HOST", "counts of blocks, warps or threads differ"};
    for (size_t i = 0; i < sizeof of_the_sm / sizeof *of_the_sm; i++)
        if (!strcmp(rule, of_the_sm[i])) return 0;
    return 1;
}

/* ---- SMs ---- */

static gpump_sm *make(uint64_t *memory, size_t room) {
    gpump_sm_config config;
    gpump_sm *sm;
    size_t bytes;
    assert_int_equal(gpump_preset(&gpump_sm_component, &config, "gtx480_lin", NULL), GPUMP_OK);
    config.lanes = LANES;
    config.block_slots = 4;
    config.entries = ENTRIES;
    config.warp_slots = 9;
    config.thread_slots = 30;
    config.register_granule = REGISTERS;
    config.registers = 24;
    config.shared_granule_bytes = SHARED;
    config.shared_bytes = 48;
    config.kernels = KERNELS;
    config.waits = 5;
    config.timing = below(2) ? GPUMP_SM_TIMING_PORT : GPUMP_SM_TIMING_HOST;
    if (below(2)) {
        const gpump_room placed = {4, 8, below(2), below(3), 4 * below(3), 0};
        config.placed = placed;
    }
    assert_int_equal(gpump_bytes(&gpump_sm_component, &config, &bytes, NULL), GPUMP_OK);
    assert_true(bytes <= room);
    assert_int_equal(gpump_init(&gpump_sm_component, memory, bytes, &config, &sm, NULL), GPUMP_OK);
    return sm;
}

static void draw_slot(gpumpi_sm_slot *s, uint32_t i) {
    memset(s, 0, sizeof *s);
    s->generation = 1 + below(9);
    s->state = below(4) ? 1 + below(GPUMP_BLOCK_KILLED) : 0;
    if (s->state == GPUMP_BLOCK_FREE) return;
    s->kernel = 1 + below(KERNELS);
    s->function = 1 + below(3);
    s->register_base = 4 + 4 * i;
    s->registers = 2 * below(3);
    s->shared_base = 8 + 8 * i;
    s->shared_bytes = 4 * below(3);
    s->threads = 1 + below(8);
    s->warps = (s->threads + LANES - 1) / LANES;
    s->waits = below(2) ? 0 : 5u & below(8);
    s->technique = below(2) || s->state == GPUMP_BLOCK_KILLED ? GPUMP_NONE : below(GPUMP_TECHNIQUE_OWN);
    s->pending = below(3) ? may_be_pending(s->state) & below(512) : may_be_pending(s->state);
    if (is_in(s->state, "gj")) s->pending = may_be_pending(s->state);
    s->active = !is_in(s->state, MAY_BE_OUT) || (below(2) && (s->pending || s->state != GPUMP_BLOCK_PARKED));
    s->held = R | S;
    s->keep = is_in(s->state, "k") ? 1 + below(3) : is_in(s->state, "ef") ? below(4) : 0;
    if (!s->active && is_in(s->state, "k")) s->held = s->keep;
    if (!s->active && is_in(s->state, "gil")) s->held = below(4);
    s->parts = is_in(s->state, "f") ? s->held - s->keep : below(4);
    s->faults = below(3) ? 0 : below(3);
    s->ready_cycle = s->faults ? below(3) : 0;
    s->port_end = below(2) ? 100 + below(50) : below(3);
    if (below(4) == 0 && !s->keep) {
        s->placed = (R | S | SLOTS) & below(32);
        if (s->placed & R) s->registers = 0;
        if (s->placed & S) s->shared_bytes = 0;
    }
}

/* Sets one 32-bit number of a slot to a small one, a bit more or less, or as large as can be. */
static void alter(gpumpi_sm_slot *s) {
    uint32_t numbers[sizeof *s / 4], at = below(3) ? below(24) + 26 : below(sizeof *s / 4);
    memcpy(numbers, s, sizeof *s);
    switch (below(4)) {
    case 0: numbers[at] = below(12); break;
    case 1: numbers[at] ^= 1u << below(9); break;
    case 2: numbers[at] += below(2) ? 1 : UINT32_MAX; break;
    default: numbers[at] = below(4) ? below(50) : GPUMP_NONE;
    }
    memcpy(s, numbers, sizeof *s);
}

/* Counts what the slots say; now and then something is one more or less. */
static void settle(gpump_sm *sm, const uint32_t *kernels) {
    gpumpi_sm_kernel *table = (gpumpi_sm_kernel *)(void *)(gpumpi_sm_slots(sm) + ENTRIES);
    const counts c = count(sm);
    uint32_t used = 0;
    memset(table, 0, KERNELS * sizeof *table);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint32_t at = 0;
        if (!kernels[i]) continue;
        while (at < used && table[at].kernel != kernels[i]) at++;
        used += at == used;
        table[at].kernel = kernels[i];
        table[at].blocks++;
    }
    sm->blocks = c.blocks;
    sm->warps = c.warps;
    sm->threads = c.threads;
    sm->pending = c.pending;
    sm->wake_cycle = sm->config.timing == GPUMP_SM_TIMING_HOST ? GPUMP_UNKNOWN : c.first_end;
    switch (below(40)) {
    case 0: sm->blocks += 1; break;
    case 1: sm->warps -= 1; break;
    case 2: sm->threads += 1; break;
    case 3: sm->pending ^= (uint64_t)1 << below(ENTRIES + 1); break;
    case 4: sm->wake_cycle += below(2) ? 1 : UINT64_MAX; break;
    case 5: table[below(KERNELS)].blocks += below(2) ? 1 : UINT32_MAX; break;
    case 6: table[below(KERNELS)].kernel = below(KERNELS + 1); break;
    case 7: sm->port.cycles++; break;
    case 8: sm->port.bytes++; break;
    case 9: sm->now = below(2) ? UINT64_MAX : 5; break;
    case 10: sm->unused = below(2); break;
    case 11: sm->shared_bytes = below(60); break;
    case 12: sm->shared_bytes = 48 - below(3); break;
    default: break;
    }
}

/* Memory that contradicts itself is refused by the first rule that it breaks. */
static void tables_are_refused_by_the_rules(void **state) {
    const uint64_t seed = test_seed(), cases = test_cases(100000);
    uint64_t sound = 0, altered = 0;
    (void)state;
    random_state = seed;
    for (uint64_t n = 0; n < cases; n++) {
        uint64_t memory[400];
        gpump_sm *sm = make(memory, sizeof memory);
        uint32_t kernels[ENTRIES], index;
        const char *rule;
        gpump_diag diag;
        for (uint32_t i = 0; i < ENTRIES; i++) {
            gpumpi_sm_slot *slot = &gpumpi_sm_slots(sm)[i];
            draw_slot(slot, i);
            kernels[i] = slot->kernel;
        }
        for (uint32_t changes = below(2) ? 1 + below(3) : 0; changes--;) alter(&gpumpi_sm_slots(sm)[below(ENTRIES)]);
        settle(sm, kernels);
        rule = broken(sm, &index);
        if (!rule) {
            sound++;
            test_check(gpump_check(&gpump_sm_component, sm, &diag) == GPUMP_OK, seed, n);
            continue;
        }
        altered++;
        test_check(gpump_check(&gpump_sm_component, sm, &diag) == GPUMP_ERROR_FORMAT, seed, n);
        if (strcmp(diag.field, rule) != 0 || (is_of_an_entry(rule) && diag.index != index))
            fail_msg("case %u: %s %u, not %s %u", (uint32_t)n, diag.field, (uint32_t)diag.index, rule, index);
    }
    assert_true(sound > cases / 8 && altered > cases / 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_are_refused_by_the_rules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
