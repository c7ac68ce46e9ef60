/* labels: unit property */
/* One SM, two accounts: gpump_sm lists all blocks and allocates behind gpump_sm_config.placed; gpump_duet divides that
 * room into homes and frames. Random blocks start in both, stall, move, leave by every technique and come back. After
 * each event no granule of the SM has two owners, and both accounts name the same blocks in the same state. */
#include "test.h"

enum { GRANULES = 65536, ENTRIES = 64, WARPS = GPUMP_DUET_WARPS, SAVED = 16 };

/* Served: the duet places its warps. Beside: the SM alone places it. */
typedef struct resident {
    int is_served, is_frozen;
    uint32_t number; /* on the duet, of a served block */
} resident;

typedef struct bench {
    gpump_sm_config config;
    gpump_duet_plan plan;
    gpump_sm *sm;
    gpump_duet duet;
    resident residents[ENTRIES];              /* by slot */
    gpump_duet_place held[ENTRIES][WARPS];    /* where the warps of a frozen block lay */
    gpump_footprint served_need, beside_need; /* served: kernel 1; beside: kernel 2 */
    gpump_sm_history saved[SAVED];            /* of served blocks that are off the SM */
    uint32_t saved_count;
    uint64_t now;
    uint8_t owned[GRANULES]; /* owner of a granule, from 1: registers, then shared memory */
    uint8_t slots[WARPS];    /* owner of a warp slot of the room, likewise */
} bench;

static bench b;
static uint64_t dice, number;
static uint32_t under(uint32_t limit) { return gpump_random_below(&dice, limit); }
#define must(condition) test_check(condition, test_seed(), number)

static struct { uint64_t served, beside, in_frames, restored, flushed, done, refused; } seen;

/* ---- the machine ---- */

static gpump_footprint random_need(void) {
    const uint32_t warps = 1 + under(4);
    const gpump_footprint need = {32 * warps, 32 * warps * 8 * (1 + under(6)), 256 * under(9)};
    return need;
}
static gpump_gpu random_room(void) {
    gpump_gpu gpu;
    uint32_t eighths = 2 + under(5);
    gpump_room *room = &b.config.placed;
    assert_int_equal(gpump_preset(&gpump_gpu_component, &gpu, "k20c", NULL), GPUMP_OK);
    assert_int_equal(gpump_sm_config_from_gpu(&b.config, &gpu, gpu.shared_bytes[0]), GPUMP_OK);
    room->registers = b.config.registers / 8 * eighths;
    room->shared_bytes = b.config.shared_bytes / 2048 * 256 * eighths;
    room->block_slots = b.config.block_slots / 2;
    room->warp_slots = b.config.warp_slots / 8 * (1 + under(4));
    room->thread_slots = room->warp_slots * 32;
    b.config.entries = ENTRIES;
    b.config.placement = under(2);
    b.config.waits = GPUMP_SM_WAIT_PIPELINE;
    return gpu;
}
static void make(void) {
    static const char *const presets[] = {"maxwell_duet", "duet_block", "virtual_thread"};
    const gpump_gpu gpu = random_room();
    gpump_duet_config config;
    gpump_duet *duet;
    void *memory;
    size_t bytes;
    uint32_t tries = 40;
    assert_int_equal(gpump_preset(&gpump_duet_component, &config, presets[under(3)], NULL), GPUMP_OK);
    assert_int_equal(gpump_duet_config_from_gpu(&config, &gpu, &b.config.placed, 0, NULL), GPUMP_OK);
    config.extra_blocks = GPUMP_DUET_ALL;
    config.leaves_early = under(2);
    do { /* most often one that switches */
        b.served_need = random_need();
        assert_int_equal(gpump_duet_plan_make(&config, &b.served_need, 1 + under(6), &b.plan, NULL), GPUMP_OK);
    } while ((!b.plan.native_blocks || b.plan.unit == GPUMP_DUET_OFF) && tries--);
    b.beside_need = random_need();
    assert_int_equal(gpump_bytes(&gpump_sm_component, &b.config, &bytes, NULL), GPUMP_OK);
    memory = calloc(1, bytes);
    assert_int_equal(gpump_init(&gpump_sm_component, memory, bytes, &b.config, &b.sm, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_duet_component, &b.duet, sizeof b.duet, &config, &duet, NULL), GPUMP_OK);
    assert_int_equal(gpump_duet_set_kernel(&b.duet, 0, &b.plan), GPUMP_OK);
    memset(b.residents, 0, sizeof b.residents);
    b.now = b.saved_count = 0;
}

/* ---- do the accounts agree? ---- */

static void own(uint32_t first, uint32_t granules, uint32_t owner) {
    for (uint32_t g = first; g < first + granules; g++) {
        must(g < GRANULES && !b.owned[g]);
        b.owned[g] = (uint8_t)owner;
    }
}
/* A granule of the duet's space as a granule of the SM's. What lies there ends in the room. */
static uint32_t on_sm(uint32_t granule, uint32_t granules) {
    const uint32_t registers = b.config.placed.registers / 32, shared = b.config.placed.shared_bytes / 128;
    const int is_register = granule < registers;
    must(granule + granules <= (is_register ? registers : registers + shared));
    return is_register ? granule : b.config.registers / 32 + granule - registers;
}
/* The places of one warp of a served block: they lie in the room, and nobody else is there. */
static void own_warp(uint32_t warp, const gpump_duet_place *place, uint32_t owner) {
    const uint32_t frame = b.plan.moves_registers ? b.plan.frame_registers : b.plan.warp_granules;
    const uint32_t granules = place->is_present ? b.plan.warp_granules : frame, slot = b.duet.config.slot_granules;
    own(on_sm(place->registers, granules), granules, owner);
    seen.in_frames += !place->is_present;
    if (!place->is_present) {
        own(on_sm(place->slot_data, slot), slot, owner);
        must(!gpump_duet_may_issue(&b.duet, warp));
        return;
    }
    must(place->slot < b.config.placed.warp_slots && !b.slots[place->slot]);
    b.slots[place->slot] = (uint8_t)owner;
}
/* A served block: the SM lists it without ranges, the duet has its places; frozen, it lies where it lay. */
static void own_served(const gpump_block_view *view, uint32_t owner) {
    const resident *r = &b.residents[view->block.slot];
    uint32_t alive = 0;
    must(!view->registers && !view->shared_bytes && b.duet.blocks >> r->number & 1u);
    must(view->warps == b.plan.block_warps);
    for (uint32_t i = 0; i < b.plan.block_warps; i++) {
        gpump_duet_place place;
        const uint32_t warp = r->number * b.plan.block_warps + i;
        if (gpump_duet_where(&b.duet, warp, &place) != GPUMP_OK) continue;
        if (!alive++) own(on_sm(place.shared, b.plan.shared_granules), b.plan.shared_granules, owner);
        own_warp(warp, &place, owner);
        if (r->is_frozen) must(!memcmp(&place, &b.held[view->block.slot][i], sizeof place));
    }
    must(alive > 0);
}
static void own_beside(const gpump_block_view *view, uint32_t owner) {
    must(view->register_base >= b.config.placed.registers && view->shared_base >= b.config.placed.shared_bytes);
    own(view->register_base / 32, view->registers / 32, owner);
    own(b.config.registers / 32 + view->shared_base / 128, view->shared_bytes / 128, owner);
}
static void accounts_agree(void) {
    gpump_block_view views[ENTRIES];
    uint64_t numbers = 0;
    uint32_t count, served = 0, warps = 0;
    must(gpump_sm_blocks(b.sm, b.now, views, ENTRIES, &count) == GPUMP_OK);
    must(gpump_check(&gpump_sm_component, b.sm, NULL) == GPUMP_OK);
    must(gpump_check(&gpump_duet_component, &b.duet, NULL) == GPUMP_OK);
    memset(b.owned, 0, sizeof b.owned);
    memset(b.slots, 0, sizeof b.slots);
    for (uint32_t i = 0; i < count; i++) {
        const resident *r = &b.residents[views[i].block.slot];
        must(views[i].kernel == (r->is_served ? 1u : 2u));
        must(!r->is_frozen || !gpump_block_stays(views[i].state) || views[i].state == GPUMP_BLOCK_RESTORING);
        if (r->is_served) {
            own_served(&views[i], i + 1);
            numbers |= (uint64_t)1 << r->number;
            served++;
        } else {
            own_beside(&views[i], i + 1);
            warps += views[i].warps;
        }
    }
    must(numbers == b.duet.blocks && served == b.duet.block_count);
    must(warps + b.config.placed.warp_slots <= b.config.warp_slots);
}

/* ---- events ---- */

static gpump_result place_on_sm(int is_served, const gpump_sm_history *saved, gpump_block_ref *ref) {
    gpump_sm_request request;
    memset(&request, 0, sizeof request);
    request.kernel = is_served ? 1 : 2;
    request.need = is_served ? b.served_need : b.beside_need;
    request.placed = is_served ? GPUMP_PARTS_IN_PLACE | GPUMP_PART_SLOTS : 0;
    return gpump_sm_place(b.sm, b.now, &request, saved, ref, NULL);
}
/* Nothing of the block moves from here on; 0 while a part of it still does. */
static int freeze(uint32_t slot) {
    resident *r = &b.residents[slot];
    const gpump_result result = gpump_duet_freeze(&b.duet, b.now, r->number, 1);
    must(result == GPUMP_OK || result == GPUMP_BUSY);
    if (result == GPUMP_BUSY) return 0;
    r->is_frozen = 1;
    for (uint32_t i = 0; i < b.plan.block_warps; i++)
        (void)gpump_duet_where(&b.duet, r->number * b.plan.block_warps + i, &b.held[slot][i]);
    return 1;
}
/* The SM has an entry whenever the duet has a place: the room belongs to the duet alone. */
static void place_served(void) {
    const int restores = b.saved_count && under(2);
    gpump_block_ref ref;
    uint32_t block;
    if (gpump_duet_room(&b.duet, restores) != GPUMP_REASON_YES) return;
    must(place_on_sm(1, restores ? &b.saved[b.saved_count - 1] : NULL, &ref) == GPUMP_OK);
    must(gpump_duet_place_block(&b.duet, b.now, restores, &block, NULL) == GPUMP_OK);
    b.residents[ref.slot].is_served = 1;
    b.residents[ref.slot].is_frozen = 0;
    b.residents[ref.slot].number = block;
    seen.served++;
    if (!restores) return;
    b.saved_count--;
    seen.restored++;
    must(freeze(ref.slot));
}
static void place_beside(void) {
    gpump_block_ref ref;
    if (place_on_sm(0, NULL, &ref) != GPUMP_OK) {
        seen.refused++;
        return;
    }
    memset(&b.residents[ref.slot], 0, sizeof *b.residents);
    seen.beside++;
}
static void stall_or_reply(void) {
    const uint32_t warp = under(b.duet.config.warps);
    if (under(3))
        (void)gpump_duet_report_stall(&b.duet, b.now, warp, GPUMP_DUET_LOAD, 1);
    else if (gpump_duet_waits_for(&b.duet, warp) == GPUMP_REASON_LONG_OPERATION)
        gpump_duet_report_reply(&b.duet, warp);
}
static void move(void) {
    gpump_duet_action action;
    if (b.duet.job != GPUMP_NONE) {
        const uint64_t end_cycle = gpump_next_cycle(&gpump_duet_component, &b.duet);
        if (end_cycle > b.now) b.now = end_cycle;
        must(gpump_duet_report_moved(&b.duet, b.now) == GPUMP_OK);
    } else {
        (void)gpump_duet_next(&b.duet, b.now, &action);
    }
}
/* A resident, at random; 0: none. */
static int any_view(gpump_block_view *view) {
    gpump_block_view views[ENTRIES];
    uint32_t count;
    must(gpump_sm_blocks(b.sm, b.now, views, ENTRIES, &count) == GPUMP_OK);
    if (count) *view = views[under(count)];
    return count > 0;
}
static void preempt(void) {
    gpump_block_view view;
    gpump_block_choice choice;
    if (!any_view(&view)) return;
    memset(&choice, 0, sizeof choice);
    choice.block = view.block;
    choice.technique = under(3);
    (void)gpump_sm_preempt(b.sm, b.now, &choice, 1, NULL);
}
static void end_block(void) {
    gpump_block_view view;
    if (any_view(&view) && (view.state == GPUMP_BLOCK_RUNNING || view.state == GPUMP_BLOCK_DRAINING)) {
        if (b.residents[view.block.slot].is_served && !freeze(view.block.slot)) return;
        must(gpump_sm_report_done(b.sm, b.now, view.block) == GPUMP_OK);
    }
}
static void end_warp(void) {
    gpump_block_view view;
    if (any_view(&view) && b.residents[view.block.slot].is_served && view.state == GPUMP_BLOCK_RUNNING &&
        b.duet.live[b.residents[view.block.slot].number] > 1)
        (void)gpump_duet_report_warp_done(
            &b.duet, b.now, b.residents[view.block.slot].number * b.plan.block_warps + under(b.plan.block_warps));
}
/* A block that stops is complete once nothing of it moves. */
static void complete(void) {
    gpump_block_view view;
    if (!any_view(&view) || view.state != GPUMP_BLOCK_STOPPING) return;
    if (b.residents[view.block.slot].is_served && !freeze(view.block.slot)) return;
    must(gpump_sm_report_waits(b.sm, b.now, view.block, 0) == GPUMP_OK);
}
static void freed(const gpump_sm_action *action) {
    resident *r = &b.residents[action->block.slot];
    seen.done += action->why == GPUMP_BLOCK_DONE;
    seen.flushed += action->why == GPUMP_BLOCK_FLUSHED;
    if (!r->is_served) return;
    must(r->is_frozen && gpump_duet_report_block_done(&b.duet, b.now, r->number) == GPUMP_OK);
    if (action->why == GPUMP_BLOCK_SAVED && b.saved_count < SAVED) b.saved[b.saved_count++] = action->history;
    memset(r, 0, sizeof *r);
}
static void act(void) {
    gpump_sm_action action;
    const resident *r;
    if (gpump_sm_next(b.sm, b.now, &action) != GPUMP_OK) return;
    r = &b.residents[action.block.slot];
    if (action.kind == GPUMP_SM_ACTION_SAVE) must(gpump_sm_report_saved(b.sm, b.now, action.block) == GPUMP_OK);
    if (action.kind == GPUMP_SM_ACTION_RESTORE) {
        must(gpump_sm_report_restored(b.sm, b.now, action.block) == GPUMP_OK);
        must(gpump_duet_freeze(&b.duet, b.now, r->number, 0) == GPUMP_OK);
        b.residents[action.block.slot].is_frozen = 0;
    }
    if (action.kind == GPUMP_SM_ACTION_DROP) {
        while (r->is_served && !freeze(action.block.slot)) move();
        must(gpump_sm_report_dropped(b.sm, b.now, action.block) == GPUMP_OK);
    }
    if (action.kind == GPUMP_SM_ACTION_FREED) freed(&action);
}

/* The mini-GPU's account of a duet's residents agrees with the library's after every event. */
static void accounts_agree_after_random_events(void **state) {
    static void (*const events[])(void) = {
        place_served, place_served, place_beside, stall_or_reply, stall_or_reply, stall_or_reply, move,
        move,         move,         preempt,      end_block,      end_warp,       complete,       complete,
        act,          act,          act};
    const uint64_t cases = test_cases(60);
    const uint64_t *count = &seen.served;
    (void)state;
    for (number = 0; number < cases; number++) {
        dice = test_seed() * 1000003 + number;
        make();
        for (uint32_t step = 0; step < 600; step++) {
            b.now += under(4);
            events[under(sizeof events / sizeof *events)]();
            accounts_agree();
        }
        free(b.sm);
    }
    for (uint32_t i = 0; i < sizeof seen / sizeof *count; i++) assert_true(count[i] > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(accounts_agree_after_random_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
