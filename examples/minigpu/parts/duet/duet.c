#include "parts/duet/duet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_options.h"
#include "machine/traffic.h"
#include "parts/duet/duet_options.h"
#include "preemption/block_life.h"
#include "sm/gate.h"
#include "sm/pipeline.h"
#include "sm/warp_scheduler.h"
#include "preemption/context_view.h"
#include "timeline.h"

#define BIT(slot) (UINT64_C(1) << (slot))
#define GRANULE GPUMP_DUET_GRANULE_BYTES
#define VACATED 0xd0e7d0e7u

/* ---- making ---- */

static int refuse(char error[LAUNCH_ERROR_BYTES], const char *why) {
    snprintf(error, LAUNCH_ERROR_BYTES, "minigpu: --duet: %s", why);
    return -1;
}

static int read_config(const machine *m, const char *text, uint32_t space, gpump_duet_config *config,
                       char error[LAUNCH_ERROR_BYTES]) {
    const gpump_room whole = preemption_room(m, m->sms[0]->shared_bytes, 1);
    char name[64];
    const char *colon = strchr(text, ':'), *rest = colon ? colon + 1 : NULL;
    const size_t length = colon ? (size_t)(colon - text) : strlen(text);
    gpump_diag diag;
    char *end;
    if (length >= sizeof name)
        return refuse(error, "presets are maxwell_duet, duet_block, duet_whole and virtual_thread");
    memcpy(name, text, length);
    name[length] = 0;
    if (gpump_preset(&gpump_duet_component, config, name, NULL))
        return refuse(error, "presets are maxwell_duet, duet_block, duet_whole and virtual_thread");
    if (gpump_duet_config_from_gpu(config, &m->config.gpu, space == DUET_WHOLE ? &whole : &m->placed,
                                   space == DUET_WHOLE ? m->config.l1_bytes : 0, /* L1 is the other's, too */
                                   &diag)) {
        char words[200];
        gpump_diag_text(&diag, words, sizeof words);
        return refuse(error, words);
    }
    if (!rest) return 0;
    if (!strncmp(rest, "all", 3)) {
        config->extra_blocks = GPUMP_DUET_ALL;
        rest += 3;
    } else if (!strncmp(rest, "monitor", 7)) {
        config->extra_blocks = GPUMP_DUET_MONITOR;
        rest += 7;
    } else {
        const unsigned long extra = strtoul(rest, &end, 10);
        if (*rest < '0' || *rest > '9') return refuse(error, "after the preset comes :NUMBER, :all or :monitor");
        if (extra > GPUMP_DUET_BLOCKS) return refuse(error, "an SM holds at most 64 extra blocks");
        config->extra_blocks = (uint32_t)extra;
        rest = end;
    }
    if (*rest == ':') {
        const unsigned long port = strtoul(rest + 1, &end, 10);
        config->port_bytes = (uint32_t)port;
        if (port < 1 || port > 4096) return refuse(error, "a port has 1 to 4096 bytes");
        rest = end;
    }
    return *rest ? refuse(error, "the form is PRESET[:EXTRA[:PORT]]") : 0;
}

static int make_plans(machine *m, char error[LAUNCH_ERROR_BYTES]) {
    machine_duet *d = duet_of(m);
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++) {
        const kernel *k = &m->kernels[i];
        gpump_duet_config config = d->config[duet_space(m, i)];
        gpump_footprint need = k->need;
        gpump_diag diag;
        uint32_t granules;
        if (k->program->local_bytes) config.l1_granules = 0; /* local memory needs L1 */
        d->views[i].view = m->views[i];
        if (k->launch->trace) { /* tags have no patterns */
            granules = k->launch->trace->live_peak;
        } else {
            d->views[i].patterns = context_patterns(m->views[i], k->program, k->launch->block[0]);
            if (!d->views[i].patterns) return refuse(error, "out of memory");
            granules = frame_granules(&d->views[i], k->program);
        }
        if (duet_serves(m, i) && gpump_duet_plan_make(&config, &need, granules, &d->plans[i], &diag)) {
            gpump_diag_text(&diag, error, LAUNCH_ERROR_BYTES);
            return -1;
        }
    }
    return 0;
}

/* Makes the tables for one space of an SM. Returns 0, or -1 without memory. */
static int make_space(machine *m, sm_duet *d, uint32_t space) {
    const gpump_duet_config *config = &duet_of(m)->config[space];
    gpump_diag diag;
    size_t bytes;
    void *memory;
    if (gpump_bytes(&gpump_duet_component, config, &bytes, &diag) || !(memory = arena_take(&m->arena, bytes)) ||
        gpump_init(&gpump_duet_component, memory, bytes, config, &d->spaces[space], &diag))
        return -1;
    d->space = space;
    d->gpump = d->spaces[space];
    return 0;
}

/* Returns the bytes of a space, as a frame and with L1. */
static size_t space_bytes(const machine *m, uint32_t space) {
    const gpump_duet_config *config = &duet_of(m)->config[space];
    return (size_t)(config->register_granules + config->shared_granules + config->l1_granules) * GRANULE;
}

/* Does a kernel of the machine need this space? */
static int is_needed(const machine *m, uint32_t space) {
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++)
        if (duet_serves(m, i) && duet_space(m, i) == space) return 1;
    return 0;
}

static int make_sm(machine *m, sm *s, char error[LAUNCH_ERROR_BYTES]) {
    sm_duet *d = (sm_duet *)arena_take(&m->arena, sizeof *d);
    size_t frame = 0;
    uint32_t space;
    if (!d) return refuse(error, "out of memory");
    for (space = 0; space < DUET_SPACES; space++) {
        if (!is_needed(m, space)) continue;
        if (make_space(m, d, space)) return refuse(error, "out of memory");
        if (space_bytes(m, space) > frame) frame = space_bytes(m, space);
    }
    if (!(d->scratch = (uint32_t *)arena_take(&m->arena, (size_t)SCOREBOARD_IDS * GRANULE)) ||
        !(d->leaving = (uint8_t *)arena_take(&m->arena, frame)) ||
        !(d->coming = (uint8_t *)arena_take(&m->arena, frame)) ||
        !(d->l1_store =
              (uint8_t *)arena_take(&m->arena, (size_t)duet_of(m)->config[DUET_WHOLE].l1_granules * GRANULE + 1)))
        return refuse(error, "out of memory");
    d->kernel = NONE;
    s->warp_of = d->warp_of;
    s->of_part[PART_duet] = d;
    return 0;
}

int duet_make(machine *m, const char *text, char error[LAUNCH_ERROR_BYTES]) {
    machine_duet *d = (machine_duet *)arena_take(&m->arena, sizeof *d);
    uint32_t i;
    if (m->policy && !(m->policy->flags & GPUMP_VICTIM_WHOLE_SM))
        return refuse(
            error,
            "an SM serves one kernel: take --victims POLICY with one that gives SMs over as a whole, such as chimera");
    if (!d) return refuse(error, "out of memory");
    m->of_part[PART_duet] = d;
    d->beside = m->beyond_room > 1 ? 1 : NONE;
    if (!(d->plans = (gpump_duet_plan *)arena_take_array(&m->arena, m->kernel_count, sizeof *d->plans)) ||
        !(d->views = (frame_view *)arena_take_array(&m->arena, m->kernel_count, sizeof *d->views)))
        return refuse(error, "out of memory");
    d->next = NEVER;
    d->kernel = NONE;
    for (i = 0; i < DUET_SPACES; i++)
        if (is_needed(m, i) && read_config(m, text, i, &d->config[i], error)) return -1;
    if (make_plans(m, error)) return -1;
    for (i = 0; i < m->sm_count; i++)
        if (make_sm(m, m->sms[i], error)) return -1;
    return 0;
}

void duet_free(machine *m) {
    uint32_t i;
    for (i = 0; duet_of(m) && duet_of(m)->views && i < m->kernel_count; i++)
        gpump_patterns_destroy(duet_of(m)->views[i].patterns);
}

/* ---- the unified space ---- */

static const gpump_duet_config *config_of(const machine *m, const sm *s) {
    return &duet_of(m)->config[sm_duet_of(s)->space];
}

static uint8_t *granule(const machine *m, const sm *s, uint32_t address) {
    const gpump_duet_config *c = config_of(m, s);
    if (address < c->register_granules) return (uint8_t *)(s->registers + (size_t)address * LANES);
    address -= c->register_granules;
    if (address < c->shared_granules) return s->shared + (size_t)address * GRANULE;
    return sm_duet_of(s)->l1_store + (size_t)(address - c->shared_granules) * GRANULE;
}

static void overwrite(uint8_t *where, size_t bytes) {
    const uint32_t pattern = VACATED;
    size_t done = sizeof pattern;
    bytes -= bytes % sizeof pattern;
    if (bytes) memcpy(where, &pattern, sizeof pattern);
    for (; done < bytes; done *= 2) memcpy(where + done, where, done < bytes - done ? done : bytes - done);
}

static const gpump_duet_plan *plan_of(const machine *m, const sm *s) {
    return &duet_of(m)->plans[sm_duet_of(s)->kernel];
}

static gpump_duet_place place_of(machine *m, const sm *s, uint32_t number) {
    gpump_duet_place place;
    memset(&place, 0, sizeof place);
    machine_must(m, "gpump_duet_where", gpump_duet_where(sm_duet_of(s)->gpump, number, &place), NULL);
    return place;
}

uint32_t *duet_open(machine *m, sm *s, warp *w) {
    sm_duet *d = sm_duet_of(s);
    if (w->slot != NONE || !plan_of(m, s)->moves_registers) return s->registers + w->register_base;
    frame_unpack(&d->kept[w->number], d->scratch, granule(m, s, place_of(m, s, w->number).registers));
    return d->scratch;
}
void duet_close(machine *m, sm *s, warp *w) {
    sm_duet *d = sm_duet_of(s);
    if (w->slot != NONE || !plan_of(m, s)->moves_registers || duet_of(m)->omit == DUET_OMIT_REPLIES) return;
    frame_pack(&d->kept[w->number], d->scratch, granule(m, s, place_of(m, s, w->number).registers));
}

static int alive(const sm *s, uint32_t number) {
    return gpump_duet_state_of(sm_duet_of(s)->gpump, number) != GPUMP_DUET_GONE;
}

/* ---- blocks come and go ---- */

uint64_t duet_slots_beside(const machine *m) {
    const uint32_t half = m->placed.warp_slots;
    return half < 32 ? (BIT(2 * half) - 1) & ~(BIT(half) - 1) : ~(BIT(half) - 1);
}

/* The most blocks of the kernel that is not served that fit behind the room of the served kernel. */
static uint32_t most_beside(const machine *m, const kernel *k) {
    gpump_gpu rest = m->config.gpu;
    gpump_occupancy fits;
    rest.block_slots -= m->placed.block_slots;
    rest.warp_slots -= m->placed.warp_slots;
    rest.thread_slots -= m->placed.thread_slots;
    rest.registers -= m->placed.registers;
    rest.shared_option_count = 1;
    rest.shared_bytes[0] = m->sms[0]->shared_bytes - m->placed.shared_bytes;
    return gpump_gpu_occupancy(&rest, &k->need, &fits, NULL) == GPUMP_OK ? fits.blocks : 0;
}

uint32_t duet_half(const machine *m, uint32_t kernel_index) {
    return duet_serves(m, kernel_index) ? duet_of(m)->plans[kernel_index].native_blocks
                                        : most_beside(m, &m->kernels[kernel_index]);
}

void duet_left_beside(const machine *m, sm *s, const block *b, uint32_t stays) {
    const kernel *k = &m->kernels[b->kernel];
    if (!(stays & GPUMP_PART_REGISTERS))
        overwrite((uint8_t *)(s->registers + b->register_base), (size_t)k->need.registers * 4);
    if (!(stays & GPUMP_PART_SHARED_MEMORY)) overwrite(s->shared + b->shared_base, k->need.shared_bytes);
}

/* Gives an SM to another served kernel. */
static void take_kernel(machine *m, sm *s, uint32_t kernel_index) {
    sm_duet *d = sm_duet_of(s);
    d->space = duet_space(m, kernel_index);
    d->gpump = d->spaces[d->space];
    machine_must(m, "gpump_duet_set_kernel", gpump_duet_set_kernel(d->gpump, m->now, &duet_of(m)->plans[kernel_index]),
                 NULL);
    d->kernel = kernel_index;
    s->l1_is_store = 0;
    if (duet_of(m)->kernel != kernel_index) { /* the meters are looked at from here on */
        duet_of(m)->kernel = kernel_index;
        memset(&duet_of(m)->before, 0, sizeof duet_of(m)->before);
        duet_of(m)->next =
            gpump_duet_decision_cycle(d->gpump) == GPUMP_UNKNOWN ? NEVER : m->now + config_of(m, s)->skip_cycles;
    }
    if (s->wake > m->now + 1) s->wake = m->now + 1; /* a warp may have a change to report */
}

/* Is a block on the SM, or does it keep a place there, that may not stand beside one of this kernel? */
static int is_in_the_way(const machine *m, const sm *s, uint32_t kernel_index) {
    const uint32_t beside = duet_of(m)->beside;
    uint32_t sharing = 0;
    if (beside != NONE && (kernel_index == 0 || kernel_index == beside))
        sharing = s->kernel_resident[0] + s->kernel_resident[beside];
    return s->resident > sharing || (s->parked && duet_space(m, kernel_index) == DUET_WHOLE && beside != NONE);
}

gpump_reason duet_room(machine *m, sm *s, uint32_t kernel_index, int restores) {
    const uint32_t served = duet_serves(m, kernel_index) ? kernel_index : 0;
    sm_duet *d = sm_duet_of(s);
    if (d->kernel != served && (served == kernel_index || d->kernel != NONE)) {
        if (is_in_the_way(m, s, kernel_index)) return GPUMP_REASON_KERNELS;
        take_kernel(m, s, served);
    }
    if (served != kernel_index) return GPUMP_REASON_YES; /* the SM places the block, and returns whether it has room */
    return gpump_duet_room(d->gpump, restores);
}

uint32_t duet_most_blocks(const machine *m, uint32_t kernel_index) {
    const gpump_duet_plan *plan = &duet_of(m)->plans[kernel_index];
    return plan->native_blocks + plan->extra_blocks_l1;
}

/* A warp that has a home takes its slot. */
static void take_slot(machine *m, sm *s, block *b, warp *w) {
    sm_duet *d = sm_duet_of(s);
    const gpump_duet_place place = place_of(m, s, w->number);
    if (plan_of(m, s)->moves_registers || plan_of(m, s)->unit != GPUMP_DUET_BLOCK || place.is_present)
        w->register_base = place.registers * LANES;
    b->shared_base = (place.shared - config_of(m, s)->register_granules) * GRANULE;
    w->slot = place.slot;
    warp_scheduler_came(s, BIT(w->slot), d->age_of[w->number]);
    s->slot_warp[w->slot] = d->warp_of[w->number];
    s->occupied |= BIT(w->slot);
    b->slots |= BIT(w->slot);
    d->stuck &= ~BIT(w->slot);
    gpump_warp_gate_open(&w->gate, GPUMP_WARP_FETCH, GPUMP_WARP_RESIDENCY);
    gpump_warp_gate_open(&w->gate, GPUMP_WARP_ISSUE, GPUMP_WARP_RESIDENCY);
}

/* A warp without a home has no slot. */
static void give_slot(sm *s, block *b, warp *w) {
    if (w->slot != NONE) {
        const uint64_t bit = BIT(w->slot);
        warp_scheduler_left(s, bit);
        sm_duet_of(s)->reported &= ~bit;
        sm_duet_of(s)->stuck &= ~bit;
        b->slots &= ~bit;
    }
    w->slot = NONE;
    gpump_warp_gate_close(&w->gate, GPUMP_WARP_FETCH, GPUMP_WARP_RESIDENCY);
    gpump_warp_gate_close(&w->gate, GPUMP_WARP_ISSUE, GPUMP_WARP_RESIDENCY);
}

void duet_place(machine *m, sm *s, block *b, int restores) {
    sm_duet *d = sm_duet_of(s);
    gpump_diag diag;
    uint32_t i, number = 0;
    memset(&diag, 0, sizeof diag);
    machine_must(m, "gpump_duet_place_block", gpump_duet_place_block(d->gpump, m->now, restores, &number, &diag),
                 &diag);
    if (m->failed) return;
    duet_block_of(s, b)->number = number;
    for (i = 0; i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        const gpump_duet_place place = place_of(m, s, number * b->warp_count + i);
        w->number = number * b->warp_count + i;
        d->warp_of[w->number] = b->warps[i];
        d->age_of[w->number] = m->ages++;
        memset(&d->kept[w->number], 0, sizeof d->kept[0]); /* a new warp has no values yet */
        w->register_base = place.registers * LANES;        /* of a warp in a frame: when it has come in */
        b->shared_base = (place.shared - config_of(m, s)->register_granules) * GRANULE;
        w->slot = NONE;
        if (place.is_present)
            take_slot(m, s, b, w);
        else
            give_slot(s, b, w);
    }
    if (restores) (void)duet_hold(m, s, b);
}

/* What a warp held is overwritten, at home or in its frame. */
static void vacate(machine *m, sm *s, block *b, warp *w) {
    const gpump_duet_plan *plan = plan_of(m, s);
    const gpump_duet_place place = place_of(m, s, w->number);
    if (w->slot == NONE && plan->moves_registers)
        overwrite(granule(m, s, place.registers), (size_t)plan->frame_registers * GRANULE);
    else
        overwrite((uint8_t *)(s->registers + w->register_base), (size_t)plan->warp_granules * GRANULE);
    if (w->slot == NONE) overwrite(granule(m, s, place.slot_data), (size_t)config_of(m, s)->slot_granules * GRANULE);
    give_slot(s, b, w);
}

void duet_left(machine *m, sm *s, block *b) {
    uint32_t i;
    overwrite(duet_shared(m, b), (size_t)plan_of(m, s)->shared_granules * GRANULE);
    for (i = 0; i < b->warp_count; i++)
        if (alive(s, m->warps[b->warps[i]].number)) vacate(m, s, b, &m->warps[b->warps[i]]);
    machine_must(m, "gpump_duet_report_block_done",
                 gpump_duet_report_block_done(sm_duet_of(s)->gpump, m->now, duet_block_of(s, b)->number), NULL);
}

/* ---- blocks that are saved, restored or dropped ---- */

int duet_hold(machine *m, sm *s, const block *b) {
    sm_duet_of(s)->stuck = 0;
    const gpump_result result = gpump_duet_freeze(sm_duet_of(s)->gpump, m->now, duet_block_of(s, b)->number, 1);
    machine_must(m, "gpump_duet_freeze", result == GPUMP_BUSY ? GPUMP_OK : result, NULL);
    return result == GPUMP_OK;
}

void duet_release(machine *m, sm *s, const block *b) {
    sm_duet_of(s)->stuck = 0;
    machine_must(m, "gpump_duet_freeze",
                 gpump_duet_freeze(sm_duet_of(s)->gpump, m->now, duet_block_of(s, b)->number, 0), NULL);
}

const uint8_t *duet_frame(machine *m, const warp *w, uint64_t *bytes) {
    const sm *s = m->sms[w->sm];
    if (w->slot != NONE || !plan_of(m, s)->moves_registers) return NULL;
    *bytes = (uint64_t)frame_content_granules(&sm_duet_of(s)->kept[w->number]) * GRANULE;
    return granule(m, s, place_of(m, s, w->number).registers);
}

uint8_t *duet_shared(machine *m, const block *b) {
    const sm *s = m->sms[b->sm];
    uint32_t i;
    for (i = 0; plan_of(m, s)->moves_shared && i < b->warp_count; i++) { /* of a block that is switched out */
        const warp *w = &m->warps[b->warps[i]];
        if (w->slot == NONE && alive(s, w->number)) return granule(m, s, place_of(m, s, w->number).shared);
    }
    return s->shared + b->shared_base;
}

/* ---- stalls and replies ---- */

void duet_load_sent(machine *m, sm *s, in_flight *r) {
    if (r->next_free != RECORD_MISSED || !r->outstanding) return;
    r->next_free = RECORD_COUNTED;
    duet_warp_of(s, &m->warps[r->warp])->missed_loads++;
    s->changed |= warp_bit(&m->warps[r->warp]);
}

static void replies(sm *s, warp *w, uint32_t count) {
    for (; count; count--, duet_warp_of(s, w)->stall_replies--)
        gpump_duet_report_reply(sm_duet_of(s)->gpump, w->number);
    if (!duet_warp_of(s, w)->stall_replies && w->slot != NONE) sm_duet_of(s)->reported &= ~BIT(w->slot);
    if (s->wake > s->now + 1) s->wake = s->now + 1;
}

/* A load of a warp has committed. */
static void load_commits(machine *m, sm *s, warp *w, uint32_t how) {
    (void)m;
    if (how == RECORD_COUNTED) duet_warp_of(s, w)->missed_loads--;
    if (!duet_warp_of(s, w)->stall_replies || w->barrier != NONE) return;
    replies(s, w,
            pipeline_next_is_clear(w) ? duet_warp_of(s, w)->stall_replies : duet_warp_of(s, w)->stall_replies > 1);
}

/* All that a warp has in flight vanishes, so it waits for nothing any more. */
static void warp_squashed(machine *m, sm *s, warp *w) {
    if (!duet_serves(m, m->blocks[w->block].kernel)) return;
    duet_warp_of(s, w)->missed_loads = 0;
    if (duet_warp_of(s, w)->stall_replies) replies(s, w, duet_warp_of(s, w)->stall_replies);
}

void duet_barrier_opened(machine *m, sm *s, warp *w, uint64_t *once) {
    (void)m;
    (void)once;
    if (duet_warp_of(s, w)->stall_replies) replies(s, w, duet_warp_of(s, w)->stall_replies);
}

int duet_page_came(const machine *m, sm *s, warp *w) {
    if (!duet_serves(m, m->blocks[w->block].kernel)) return 1;
    if (duet_warp_of(s, w)->stall_replies) replies(s, w, duet_warp_of(s, w)->stall_replies);
    return w->slot != NONE && gpump_duet_may_issue(sm_duet_of(s)->gpump, w->number);
}

uint32_t duet_content(const machine *m, const warp *w, frame_content *content) {
    const uint32_t index = m->blocks[w->block].kernel;
    uint64_t replayed[CONTEXT_LIVE_WORDS];
    frame_look(&duet_of(m)->views[index], &m->kernels[index], w, content);
    memset(replayed, 0, sizeof replayed);
    PARTS_TELL(m, needs_registers, (m, w, replayed));
    frame_add(content, replayed);
    return frame_content_granules(content);
}

/* Returns whether all registers that a warp needs to resume fit a frame. Sets *content to them. */
static int fits_frame(const machine *m, const sm *s, const warp *w, frame_content *content) {
    const uint32_t granules = duet_content(m, w, content);
    return !plan_of(m, s)->moves_registers || granules <= plan_of(m, s)->frame_registers;
}

/* Returns whether what a stalled warp needs to go on fits no frame. An SM asks in every cycle, so that the answer is
 * kept: the registers that a warp needs follow from its instruction and from what it replays. */
static int is_too_large(const machine *m, sm *s, const warp *w) {
    duet_warp *d = duet_warp_of(s, w);
    const duet_moment now = {m->blocks[w->block].life, w->sequence, w->fault_cycle};
    frame_content content;
    if (!memcmp(&d->too_large, &now, sizeof now)) return 1;
    if (fits_frame(m, s, w, &content)) return 0;
    d->too_large = now;
    return 1;
}

/* Asynchronous copies go to shared memory, which must stay where it is. */
static int copies_under_way(const warp *w) {
    uint32_t i, any = 0;
    for (i = 0; i < COPY_GROUPS; i++) any |= w->copies[i];
    return any != 0;
}

/* The slots that exist, but for those of a kernel that is not served. */
static uint64_t served_slots(const machine *m, const sm *s) {
    const uint64_t slots = m->config.gpu.warp_slots < 64 ? BIT(m->config.gpu.warp_slots) - 1 : UINT64_MAX;
    return sm_duet_of(s)->space == DUET_WHOLE ? slots : slots & ~duet_slots_beside(m);
}

/* Is the warp held for pages that are still to come, so that it may leave? Its state is complete then. Under an operand
 * log it keeps its home: warps at home may wait for the room in the log that it holds, and would never leave theirs. */
static int waits_for_page(const machine *m, const sm *s, const warp *w, uint32_t state) {
    return m->fault_scheme != GPUMP_REPLAY_LOG && w->fault_cycle > s->now && state == GPUMP_REPLAY_HELD;
}

/* Returns the stalled warps without those that are as they were when they were found too large; counts these. A warp
 * that waits for pages, with its gate closed, is the same until an instruction of it ends, its pages come, it goes
 * back, or it moves. Hundreds of cycles of an SM ask for tens of such warps. Warps that waited for nothing of this kind
 * are left out, too, until they change. */
static uint64_t without_stuck(sm *s, uint64_t stalled) {
    sm_duet *d = sm_duet_of(s);
    d->stuck = s->now < d->stuck_until ? d->stuck & stalled & s->held & ~s->calling & ~s->changed : 0;
    if (!d->stuck) d->stuck_until = NEVER;
    d->idle &= ~s->changed;
    s->changed = 0;
    d->too_large += gpump_bits_count64(d->stuck);
    return stalled & ~d->stuck & ~d->idle;
}

/* Reports the warps that wait for loads beyond L1, for pages, or at a barrier, and have nothing else in flight. */
static void report_stalls(machine *m, sm *s) {
    sm_duet *d = sm_duet_of(s);
    const int fetches_on = (m->traits & PART_ISSUES) != 0; /* behind a load, and issues what does not wait for it */
    uint64_t left = without_stuck(s, s->present & (~s->clear | s->held) & ~d->reported & served_slots(m, s));
    for (; left; left &= left - 1) {
        const uint32_t slot = gpump_bits_lowest64(left);
        warp *w = &m->warps[s->slot_warp[slot]];
        const int at_barrier = w->barrier != NONE, faulted = w->fault_cycle > s->now;
        const uint32_t missed = duet_warp_of(s, w)->missed_loads;
        const int goes_on = !at_barrier && (fetches_on || !missed || s->clear & BIT(slot)); /* but for a page */
        uint32_t state;
        int for_page;
        if (goes_on && !faulted) { /* cheap, first */
            if (fetches_on || !missed) d->idle |= BIT(slot);
            continue;
        }
        if (w->in_flight != missed || w->unchecked || gate_in_control(w) || gate_calling(w) || copies_under_way(w))
            continue;
        PARTS_ASK(m, state, (uint32_t)GPUMP_REPLAY_RUN, replay_state, (m, s, w));
        for_page = waits_for_page(m, s, w, state);
        if (!for_page && state != GPUMP_REPLAY_RUN) continue; /* the warp has entries to issue again */
        if (goes_on && !for_page) continue;
        if (!gpump_duet_may_issue(d->gpump, w->number)) continue; /* on its way in or out */
        if (is_too_large(m, s, w)) {
            d->too_large++;
            if (!for_page) continue;
            d->stuck |= BIT(slot);
            if (w->fault_cycle < d->stuck_until) d->stuck_until = w->fault_cycle;
            continue;
        }
        duet_warp_of(s, w)->stall_replies = at_barrier || for_page ? 1 : duet_warp_of(s, w)->missed_loads;
        d->reported |= BIT(slot);
        machine_must(m, "gpump_duet_report_stall",
                     gpump_duet_report_stall(d->gpump, s->now, w->number,
                                             at_barrier ? GPUMP_DUET_BARRIER
                                             : for_page ? GPUMP_DUET_PAGE
                                                        : GPUMP_DUET_LOAD,
                                             duet_warp_of(s, w)->stall_replies),
                     NULL);
    }
}

/* Warps that have ended give their slots up; with switched warps that frees a home. */
static void report_ended(machine *m, sm *s) {
    sm_duet *d = sm_duet_of(s);
    uint64_t left = s->occupied & served_slots(m, s) & ~s->present;
    for (; left; left &= left - 1) {
        warp *w = &m->warps[s->slot_warp[gpump_bits_lowest64(left)]];
        block *b = &m->blocks[w->block];
        if (w->stack.depth || w->in_flight || gate_stopped(w) || !gpump_duet_may_issue(d->gpump, w->number))
            continue; /* of a block that is restored, nothing is there yet */
        machine_must(m, "gpump_duet_report_warp_done", gpump_duet_report_warp_done(d->gpump, s->now, w->number), NULL);
        overwrite((uint8_t *)(s->registers + w->register_base), (size_t)plan_of(m, s)->warp_granules * GRANULE);
        give_slot(s, b, w);
    }
}

/* A warp that is switched out stands somewhere else now, at the start of a region. Its frame has the registers that are
 * live there, and is packed as such a frame is. */
static void warp_goes_back(machine *m, sm *s, warp *w, uint32_t region) {
    const uint32_t *registers;
    (void)region;
    if (!duet_serves(m, m->blocks[w->block].kernel) || w->slot != NONE || !plan_of(m, s)->moves_registers) return;
    registers = duet_open(m, s, w);
    (void)duet_content(m, w, &sm_duet_of(s)->kept[w->number]);
    frame_pack(&sm_duet_of(s)->kept[w->number], registers, granule(m, s, place_of(m, s, w->number).registers));
}

/* ---- moves ---- */

/* The warps of what an action names. */
static uint32_t warps_of(const gpump_duet_plan *plan, uint32_t unit, uint32_t *first) {
    *first = plan->unit == GPUMP_DUET_BLOCK ? unit * plan->block_warps : unit;
    return plan->unit == GPUMP_DUET_BLOCK ? plan->block_warps : 1;
}

/* Counts the registers that a warp takes in its frame, and those that it would take if compression used their values.
 */
static void count_registers(const machine *m, sm *s, const warp *w) {
    sm_duet *d = sm_duet_of(s);
    const kernel *k = &m->kernels[d->kernel];
    const uint32_t dynamic = frame_dynamic_granules(&d->kept[w->number], s->registers + w->register_base, k->registers);
    d->left++;
    d->static_granules += frame_content_granules(&d->kept[w->number]);
    d->dynamic_granules += dynamic;
    if (dynamic > d->dynamic_most) d->dynamic_most = dynamic;
}

/* Writes what leaves to `frame`, as it will lie there, and overwrites where it was. */
static void take_out(machine *m, sm *s, uint32_t unit, uint8_t *frame) {
    const gpump_duet_plan *plan = plan_of(m, s);
    sm_duet *d = sm_duet_of(s);
    uint32_t first, count = warps_of(plan, unit, &first), i;
    for (i = 0; i < count; i++) {
        warp *w;
        block *b;
        if (!alive(s, first + i)) continue;
        w = &m->warps[d->warp_of[first + i]];
        b = &m->blocks[w->block];
        if (plan->moves_registers) {
            uint32_t *registers = s->registers + w->register_base;
            if (!fits_frame(m, s, w, &d->kept[w->number])) machine_fail(m, "--duet: a frame is too small");
            count_registers(m, s, w);
            frame_pack(&d->kept[w->number], registers,
                       frame + (size_t)i * (plan->frame_registers + config_of(m, s)->slot_granules) * GRANULE);
            overwrite((uint8_t *)registers, (size_t)plan->warp_granules * GRANULE);
        }
        if (plan->moves_shared) memcpy(frame, s->shared + b->shared_base, (size_t)plan->shared_granules * GRANULE);
        give_slot(s, b, w);
    }
}

/* Puts what comes from `frame`, a copy of where it lay, to its home. Returns the slots of its warps. */
static uint64_t put_in(machine *m, sm *s, uint32_t unit, const uint8_t *frame) {
    const gpump_duet_plan *plan = plan_of(m, s);
    sm_duet *d = sm_duet_of(s);
    uint32_t first, count = warps_of(plan, unit, &first), i;
    uint64_t slots = 0;
    for (i = 0; i < count; i++) {
        warp *w;
        block *b;
        if (!alive(s, first + i)) continue;
        w = &m->warps[d->warp_of[first + i]];
        b = &m->blocks[w->block];
        take_slot(m, s, b, w);
        if (plan->moves_registers && duet_of(m)->omit != DUET_OMIT_REGISTERS)
            frame_unpack(&d->kept[w->number], s->registers + w->register_base,
                         frame + (size_t)i * (plan->frame_registers + config_of(m, s)->slot_granules) * GRANULE);
        if (plan->moves_shared && duet_of(m)->omit != DUET_OMIT_SHARED)
            memcpy(s->shared + b->shared_base, frame, (size_t)plan->shared_granules * GRANULE);
        slots |= BIT(w->slot);
        if (duet_warp_of(s, w)->stall_replies) d->reported |= BIT(w->slot);
        PARTS_TELL(m, warp_is_back, (m, s, w));
        if (w->stack.depth && gpump_warp_gate_may(w->gate, GPUMP_WARP_FETCH))
            pipe_put(&s->pipes[PIPE_FETCH], s->now, d->warp_of[first + i]);
    }
    return slots;
}

uint64_t duet_end_move(machine *m, sm *s) {
    sm_duet *d = sm_duet_of(s);
    const gpump_duet_plan *plan;
    size_t bytes;
    uint8_t *frame;
    if (!d->moving || d->move.end_cycle > s->now) return 0;
    plan = plan_of(m, s);
    bytes = (size_t)plan->frame_granules * GRANULE;
    frame = granule(m, s, gpump_duet_frame_granule(plan, d->move.frame));
    d->moving = 0;
    if (d->move.in != NONE) memcpy(d->coming, frame, bytes);
    overwrite(frame, bytes);
    if (d->move.out != NONE) {
        overwrite(d->leaving, bytes);
        take_out(m, s, d->move.out, d->leaving);
        if (plan->moves_shared)
            overwrite(s->shared + (size_t)d->move.home * plan->shared_granules * GRANULE,
                      (size_t)plan->shared_granules * GRANULE);
        memcpy(frame, d->leaving, bytes);
    }
    machine_must(m, "gpump_duet_report_moved", gpump_duet_report_moved(d->gpump, s->now), NULL);
    return d->move.in != NONE ? put_in(m, s, d->move.in, d->coming) : 0;
}

/* What leaves issues no more, even if its reply comes while it moves. */
static void begin_move(machine *m, sm *s) {
    sm_duet *d = sm_duet_of(s);
    uint32_t first, count, i;
    d->moving = 1;
    if (d->move.out == NONE) return;
    count = warps_of(plan_of(m, s), d->move.out, &first);
    for (i = first; i < first + count; i++) {
        if (!alive(s, i)) continue;
        if (m->warps[d->warp_of[i]].slot != NONE) d->stuck &= ~BIT(m->warps[d->warp_of[i]].slot);
        gate_close(s, &m->warps[d->warp_of[i]], GPUMP_WARP_ISSUE, GPUMP_WARP_RESIDENCY);
        gate_close(s, &m->warps[d->warp_of[i]], GPUMP_WARP_FETCH, GPUMP_WARP_RESIDENCY);
    }
}

uint64_t duet_cycle(machine *m, sm *s) {
    sm_duet *d = sm_duet_of(s);
    gpump_duet_action action;
    if (d->kernel == NONE) return NEVER;
    report_ended(m, s);
    report_stalls(m, s);
    while (!m->failed && gpump_duet_next(d->gpump, s->now, &action) == GPUMP_OK) {
        if (action.kind == GPUMP_DUET_L1) {
            s->l1_is_store = 1;
        } else if (action.kind == GPUMP_DUET_EXTRA) { /* also while something moves */
            m->dispatch_needed = 1;
        } else {
            d->move = action;
            begin_move(m, s);
        }
    }
    return d->moving ? d->move.end_cycle : NEVER;
}

/* ---- the monitor ---- */

void duet_look(machine *m) {
    machine_duet *d = duet_of(m);
    gpump_traffic now, change;
    gpump_utilisation utilisation;
    uint32_t i;
    traffic_of_kernel(m, d->kernel, &now);
    gpump_statistics_diff(&gpump_meter_component, &d->before, &now, &change);
    change.cycles = d->config[duet_space(m, d->kernel)].period_cycles;
    (void)gpump_meter_utilisation(&m->memory_system->meter->config, &change, &utilisation, NULL);
    for (i = 0; i < m->sm_count; i++) {
        sm *s = m->sms[i];
        if (sm_duet_of(s)->kernel != d->kernel || gpump_duet_decision_cycle(sm_duet_of(s)->gpump) > m->now) continue;
        machine_must(m, "gpump_duet_report_utilisation",
                     gpump_duet_report_utilisation(sm_duet_of(s)->gpump, m->now, &utilisation), NULL);
        if (s->wake > m->now + 1) s->wake = m->now + 1;
    }
    d->before = now;
    d->next = m->now + change.cycles;
}

void duet_warps(const machine *m, uint64_t *in_slots, uint64_t *switched_out) {
    uint32_t i, n;
    *in_slots = *switched_out = 0;
    for (i = 0; i < m->block_count; i++) {
        const block *b = &m->blocks[i];
        for (n = 0; b->life && n < b->warp_count; n++) {
            const warp *w = &m->warps[b->warps[n]];
            if (!w->stack.depth) continue;
            if (w->slot == NONE)
                ++*switched_out;
            else
                ++*in_slots;
        }
    }
}

uint64_t duet_hash(const machine *m, uint64_t hash) {
    uint32_t i, space;
    for (i = 0; i < m->sm_count; i++)
        for (space = 0; space < DUET_SPACES; space++)
            if (sm_duet_of(m->sms[i])->spaces[space])
                hash = gpump_hash_u64(hash, gpump_hash(&gpump_duet_component, sm_duet_of(m->sms[i])->spaces[space]));
    return hash;
}

/* ---- the part ---- */

/* The number of kernels that share an SM. */
static uint32_t sharers(const machine *m, const machine_options *options) {
    return options->sharing.group ? options->sharing.group : m->config.kernels_per_sm;
}

static int configure(machine *m, const launch_file *launch, const machine_options *options,
                     char error[LAUNCH_ERROR_BYTES]) {
    const uint32_t kernels = sharers(m, options);
    if (!options->duet) return 0;
    m->beyond_room = kernels > 1 ? 2 : 1;
    if (options->schedule && !options->sharing.group && kernels > 1) {
        snprintf(error, LAUNCH_ERROR_BYTES,
                 "--duet with --schedule: an SM runs one kernel at a time, not %u: --config kernels_per_sm=1", kernels);
        return -1;
    }
    if (kernels > 2 || (kernels > 1 && !options->sharing.group && launch->kernel_count != 2))
        return refuse(error, "an SM serves one kernel, alone or beside one other: not with more kernels on an SM");
    if (options->context_form != CONTEXT_TB) return 0;
    return refuse(error, "--context tb reads all registers of a block, and some may be in frames: take another form");
}

static int make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    (void)launch;
    return options->duet ? duet_make(m, options->duet, error) : 0;
}

static int is_present(const machine *m) { return duet_of(m) != NULL; }
static uint64_t next(const machine *m) { return duet_of(m)->next; }

static void kernels_have_come(machine *m) {
    if (duet_of(m)->next <= m->now) duet_look(m);
}

static void block_leaves(machine *m, sm *s, block *b, const gpump_sm_action *action) {
    if (duet_serves(m, b->kernel))
        duet_left(m, s, b);
    else
        duet_left_beside(m, s, b, action->kind == GPUMP_SM_ACTION_PARKED ? action->parts : 0);
}

static gpump_reason room(machine *m, sm *s, uint32_t kernel_index, int restores) {
    return duet_room(m, s, kernel_index, restores);
}

static uint32_t most_blocks(const machine *m, uint32_t kernel_index) {
    const int is_alone = duet_serves(m, kernel_index) && duet_space(m, kernel_index) == DUET_WHOLE;
    return is_alone ? duet_most_blocks(m, kernel_index) : NONE;
}

static uint32_t places(const machine *m, uint32_t kernel_index) {
    return duet_serves(m, kernel_index) ? (uint32_t)(GPUMP_PARTS_IN_PLACE | GPUMP_PART_SLOTS) : 0;
}

static uint64_t slots(const machine *m, uint32_t kernel_index) {
    return duet_serves(m, kernel_index) ? 0 : duet_slots_beside(m);
}

static void give_slots(machine *m, sm *s, block *b, int restores) {
    uint32_t i;
    if (duet_serves(m, b->kernel)) duet_place(m, s, b, restores);
    for (i = 0; i < b->warp_count; i++) {
        warp *w = &m->warps[b->warps[i]];
        if (!duet_serves(m, b->kernel)) duet_number_beside(s, w, b->warps[i]);
        memset(duet_warp_of(s, w), 0, sizeof(duet_warp));
    }
}

static int holds_still(machine *m, sm *s, block *b) { return !duet_serves(m, b->kernel) || duet_hold(m, s, b); }

static void block_is_restored(machine *m, sm *s, block *b) {
    if (duet_serves(m, b->kernel)) duet_release(m, s, b);
}

static uint32_t *opens_registers(machine *m, sm *s, warp *w) {
    return duet_serves(m, m->blocks[w->block].kernel) ? duet_open(m, s, w) : NULL;
}

static void closes_registers(machine *m, sm *s, warp *w) {
    if (duet_serves(m, m->blocks[w->block].kernel)) duet_close(m, s, w);
}

/* Exchanges stalled warps for warps that are switched out. */
static uint64_t cycle_ends(machine *m, sm *s) {
    uint64_t came = duet_end_move(m, s);
    for (; came; came &= came - 1) pipeline_refresh_warp(m, s, &m->warps[s->slot_warp[gpump_bits_lowest64(came)]]);
    if (s->dropping) block_life_end_drops(m, s);
    return duet_cycle(m, s);
}

static int takes_frame(machine *m, const block *b, const warp *w, const uint8_t *frame, uint64_t bytes) {
    frame_content content;
    if (!duet_serves(m, b->kernel) || bytes != (uint64_t)duet_content(m, w, &content) * GRANULE) return 0;
    frame_unpack(&content, warp_registers(m, b, w), frame);
    return 1;
}

static uint8_t *shared_memory(machine *m, const block *b) {
    return duet_serves(m, b->kernel) ? duet_shared(m, b) : NULL;
}

static uint32_t native_blocks(const machine *m, uint32_t kernel_index) {
    return duet_serves(m, kernel_index) ? duet_of(m)->plans[kernel_index].native_blocks : NONE;
}

static uint32_t most_warps(const machine *m) {
    const gpump_duet_config *config = duet_of(m)->config;
    return config[DUET_WHOLE].warps ? config[DUET_WHOLE].warps : config[DUET_HALF].warps;
}

/* Warps on the SMs: running, and in a frame. */
static int curve(const machine *m, uint32_t index, timeline_series *series, uint64_t *value) {
    static const char *const names[] = {"in slots", "switched out"};
    const timeline_series warps = {"warps",
                                   names[index % 2],
                                   "% of warp slots",
                                   100.0 / ((double)m->sm_count * m->config.gpu.warp_slots),
                                   100.0 * most_warps(m) / m->config.gpu.warp_slots,
                                   TIMELINE_GAUGE,
                                   TIMELINE_NONE};
    uint64_t counts[2];
    if (index > 1) return 0;
    duet_warps(m, &counts[0], &counts[1]);
    *series = warps;
    *value = counts[index];
    return 1;
}

static gpump_reason warp_waits_for(const machine *m, const sm *s, const warp *w) {
    return duet_serves(m, m->blocks[w->block].kernel) ? gpump_duet_waits_for(sm_duet_of(s)->gpump, w->number)
                                                      : GPUMP_REASON_YES;
}

const part duet_part = {
    .name = "duet",
    .options = duet_options,
    .traits = PART_CROSSES_SMS | PART_SEES_PLACEMENTS | PART_SHARED_BY_SMS | PART_READS_MEMORY | PART_OVERWRITES |
              PART_ON_PATH,
    .configure = configure,
    .make = make,
    .is_present = is_present,
    .close = duet_free,
    .next = next,
    .kernels_have_come = kernels_have_come,
    .room = room,
    .most_blocks = most_blocks,
    .places = places,
    .slots = slots,
    .give_slots = give_slots,
    .holds_still = holds_still,
    .block_is_restored = block_is_restored,
    .block_leaves = block_leaves,
    .opens_registers = opens_registers,
    .closes_registers = closes_registers,
    .load_leaves = duet_load_sent,
    .load_commits = load_commits,
    .warp_squashed = warp_squashed,
    .warp_goes_back = warp_goes_back,
    .barrier_opens = duet_barrier_opened,
    .cycle_ends = cycle_ends,
    .warp_frame = duet_frame,
    .takes_frame = takes_frame,
    .shared_memory = shared_memory,
    .blocks_beside = duet_half,
    .native_blocks = native_blocks,
    .curve = curve,
    .most_warps = most_warps,
    .warp_waits_for = warp_waits_for,
    .may_go_on = duet_page_came,
    .report = duet_report,
    .hash = duet_hash,
};
