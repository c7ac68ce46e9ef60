/* toy_pipeline: an SM small enough to be read in one sitting, whose warps fault, leave and come back.
 *
 * Five stages (fetch, issue, operand read, execute, commit), out-of-order issue without renaming, up to four warps of
 * four lanes, a memory of 96 words in pages of eight. gpump's replay component decides what may be fetched, issued and
 * released, and what a warp leaves with; everything that touches values is here, so this file is also the shortest
 * complete host of that component. examples/replay_pipeline.c prints its cycle diagrams, bench/rows checks them against
 * Tanasic's figures, and tests/fault runs random programs on it. */
#ifndef TOY_PIPELINE_H
#define TOY_PIPELINE_H
#include <stdio.h>
#include <string.h>
#include "gpump.h"

enum { TOY_LANES = 4, TOY_REGISTERS = 10, TOY_WINDOW = 10, TOY_SLOTS = 4, TOY_BLOCK_SLOTS = 2, TOY_BLOCK_WARPS = 2 };
enum { TOY_BLOCKS = 3, TOY_WARPS = TOY_BLOCKS * TOY_BLOCK_WARPS, TOY_OWN = 16, TOY_WORDS = TOY_WARPS * TOY_OWN };
enum { TOY_PAGE = 8, TOY_PAGES = TOY_WORDS / TOY_PAGE, TOY_PROGRAM = 48, TOY_ALL = (1 << TOY_LANES) - 1 };
enum { TOY_TRACED = 8, TOY_CYCLES = 64, TOY_OPERANDS = 3, TOY_CONTEXT_BYTES = 16384 };

typedef enum toy_op {
    TOY_ADD, /* dst = a + immediate */
    TOY_SUB,
    TOY_MUL,
    TOY_LOAD,   /* dst = [a] */
    TOY_STORE,  /* [a] = b */
    TOY_WIDE,   /* [a] = b, [a + 1] = dst: two words, so 16 bytes per lane would be logged; reads dst */
    TOY_ATOMIC, /* dst = [a]; [a] += b */
    TOY_FENCE,  /* older memory instructions have taken effect */
    TOY_SKIP,   /* control: skips `immediate` instructions when a is odd in any active lane */
    TOY_SPLIT,  /* control: only lanes with odd a go on (all, where there is none) */
    TOY_JOIN,   /* control: all lanes go on */
    TOY_EXIT    /* control: the warp ends */
} toy_op;
typedef struct toy_instruction {
    uint32_t op, dst, a, b, immediate;
} toy_instruction;

/* Mistakes that a host or a scheme can make, for tests that must notice them. */
typedef enum toy_mistake {
    TOY_RIGHT = 0,
    TOY_DROPS_LOG,      /* a saved context lacks the operands */
    TOY_DROPS_LANES,    /* a replayed instruction runs with all lanes */
    TOY_RELEASES_EARLY, /* sources are released at operand read whatever the scheme says */
    TOY_IGNORES_REPLAY  /* new instructions are fetched and issued before the replay is over */
} toy_mistake;

typedef enum toy_stage { TOY_FETCHED, TOY_ISSUED, TOY_READ, TOY_EXECUTED } toy_stage;
/* An instruction between fetch and commit. */
typedef struct toy_record {
    toy_instruction what;
    uint64_t sequence, since; /* since: the cycle in which it entered its stage */
    uint64_t next;            /* the cycle of its next check; once it has taken effect, that of its commit */
    uint32_t pc, lanes, stage, entry;
    uint32_t pending;                     /* it waits in the replay queue to be issued again */
    uint32_t logged;                      /* its operands come from the log */
    uint32_t released;                    /* its sources may be overwritten */
    uint32_t checked;                     /* how many lane checks have passed */
    uint32_t effective, waiting, faulted; /* faulted: 1 + the page it has faulted on */
    uint32_t operands[TOY_OPERANDS][TOY_LANES], result[TOY_LANES];
} toy_record;
typedef struct toy_warp {
    uint32_t registers[TOY_REGISTERS][TOY_LANES];
    toy_record records[TOY_WINDOW]; /* in program order */
    uint64_t sequence, awaits;      /* next number; pages it waits for, bit by page */
    uint32_t count, pc, lanes, restart_pc, restart_lanes;
    uint32_t warp; /* which warp of the grid is here; GPUMP_NONE: none */
    uint32_t drained, exited;
    uint32_t fresh, dropped; /* REGIONS: a control instruction has committed; the region must be executed again */
} toy_warp;
typedef struct toy_block {
    enum { TOY_NEW, TOY_HERE, TOY_LEAVING, TOY_OUT, TOY_DONE } state;
    uint32_t slot, warps[TOY_BLOCK_WARPS]; /* block slot and warp slots */
    uint64_t bytes;                        /* of its saved context */
    unsigned char context[TOY_CONTEXT_BYTES];
} toy_block;
typedef struct toy {
    gpump_replay_config config;
    gpump_replay *replay;
    toy_instruction program[TOY_PROGRAM];
    uint32_t boundary[TOY_PROGRAM]; /* REGIONS: an idempotent region begins here */
    uint32_t memory[TOY_WORDS];
    uint64_t page_comes[TOY_PAGES]; /* 0: it is there; GPUMP_UNKNOWN: absent; else the cycle at which it comes */
    toy_warp warps[TOY_SLOTS];
    toy_block blocks[TOY_BLOCKS];
    uint32_t final[TOY_WARPS][TOY_REGISTERS][TOY_LANES];
    uint64_t now, random, last_progress;
    uint32_t block_slots, rotate, mistake, missing;                  /* missing: parts that saved contexts lacked */
    uint32_t check_cycles, data_cycles, service_cycles, issue_width; /* random up to these when `random` is not 0 */
    char trace[TOY_TRACED][TOY_CYCLES + 1];                          /* warp 0: a stage letter by sequence and cycle */
    uint64_t fetched[TOY_TRACED], issued[TOY_TRACED], read[TOY_TRACED], checked[TOY_TRACED], committed[TOY_TRACED];
    uint32_t issues[TOY_TRACED]; /* the last cycle of each stage, and how often it was issued */
    uint32_t log[TOY_SLOTS * GPUMP_REPLAY_WINDOW][TOY_OPERANDS][TOY_LANES]; /* the operand log, by entry */
    uint64_t replay_memory[TOY_SLOTS * 600 + 200];
    char trouble[160]; /* what went wrong; "" : nothing */
} toy;

/* ---- instructions ---- */

static inline int toy_is_memory(uint32_t op) { return op >= TOY_LOAD && op <= TOY_ATOMIC; }
static inline int toy_is_control(uint32_t op) { return op >= TOY_SKIP; }
static inline uint32_t toy_kind(uint32_t op) {
    return (uint32_t)(op == TOY_LOAD                      ? GPUMP_REPLAY_LOAD
                      : op == TOY_STORE || op == TOY_WIDE ? GPUMP_REPLAY_STORE
                      : op == TOY_ATOMIC                  ? GPUMP_REPLAY_ATOMIC
                      : op == TOY_FENCE || op == TOY_EXIT ? GPUMP_REPLAY_SYNC
                                                          : GPUMP_REPLAY_OTHER);
}
static inline uint32_t toy_log_units(uint32_t op) {
    return op == TOY_LOAD ? gpump_replay_log_units(0, 0) : gpump_replay_log_units(1, op == TOY_WIDE ? 16 : 4);
}
static inline uint32_t toy_writes(const toy_instruction *i) {
    return i->op <= TOY_LOAD || i->op == TOY_ATOMIC ? 1u << i->dst : 0;
}
static inline uint32_t toy_reads(const toy_instruction *i) {
    uint32_t reads = i->op == TOY_FENCE || i->op >= TOY_JOIN ? 0 : 1u << i->a;
    if (i->op == TOY_STORE || i->op == TOY_WIDE || i->op == TOY_ATOMIC) reads |= 1u << i->b;
    return i->op == TOY_WIDE ? reads | 1u << i->dst : reads;
}
static inline uint32_t toy_compute(const toy_instruction *i, uint32_t a) {
    return i->op == TOY_ADD ? a + i->immediate : i->op == TOY_SUB ? a - i->immediate : a * i->immediate;
}
/* Each warp has words of its own, but shares its pages with all others. */
static inline uint32_t toy_word(uint32_t warp, uint32_t value) { return value % TOY_OWN * TOY_WARPS + warp; }

/* Reads and writes memory for the active lanes, in lane order. */
static inline void toy_access(uint32_t *memory, uint32_t warp, const toy_instruction *i, uint32_t lanes,
                              uint32_t operands[TOY_OPERANDS][TOY_LANES], uint32_t *result) {
    for (uint32_t lane = 0; lane < TOY_LANES; lane++) {
        uint32_t *word = memory + toy_word(warp, operands[0][lane]);
        if (!(lanes >> lane & 1u)) continue;
        result[lane] = *word;
        if (i->op == TOY_STORE || i->op == TOY_WIDE) *word = operands[1][lane];
        if (i->op == TOY_WIDE) memory[toy_word(warp, operands[0][lane] + 1)] = operands[2][lane];
        if (i->op == TOY_ATOMIC) *word += operands[1][lane];
    }
}

/* Where the idempotent regions of a program begin: no register is written that the region has read, no store follows a
 * load, and control, fences, atomics and r = r + 1 are alone. */
static inline void toy_form_regions(const toy_instruction *program, uint32_t *boundary) {
    uint32_t reads = 0, loads = 0, alone = 1;
    for (uint32_t pc = 0; pc < TOY_PROGRAM; pc++) {
        const toy_instruction *i = program + pc;
        const uint32_t is_alone =
            i->op == TOY_ATOMIC || i->op == TOY_FENCE || toy_is_control(i->op) || (toy_reads(i) & toy_writes(i)) != 0;
        const int stores = i->op == TOY_STORE || i->op == TOY_WIDE;
        boundary[pc] = alone || is_alone || (reads & toy_writes(i)) || (loads && stores);
        if (boundary[pc]) reads = loads = 0;
        reads |= toy_reads(i);
        loads |= i->op == TOY_LOAD;
        alone = is_alone;
    }
}

/* ---- the machine ---- */

static inline uint32_t toy_some(toy *t, uint32_t most) {
    return t->random && most > 1 ? 1 + gpump_random_below(&t->random, most) : most;
}
static inline void toy_complain(toy *t, const char *text) {
    if (!*t->trouble) snprintf(t->trouble, sizeof t->trouble, "cycle %llu: %s", (unsigned long long)t->now, text);
}
#define TOY_DONE_OR_SAY(call)                                     \
    do {                                                          \
        if ((call) != GPUMP_OK) toy_complain(t, #call " failed"); \
    } while (0)
static inline void toy_mark(toy *t, const toy_warp *w, uint64_t sequence, char letter) {
    if (w->warp == 0 && sequence < TOY_TRACED && t->now < TOY_CYCLES) t->trace[sequence][t->now] = letter;
}

/* Sets a machine up: preset and changes of the configuration come first, by the caller; no block is placed yet. */
static inline gpump_result toy_init(toy *t, const gpump_replay_config *config) {
    gpump_result result;
    t->config = *config;
    t->config.warps = TOY_SLOTS;
    t->config.blocks = TOY_BLOCK_SLOTS;
    t->config.lanes = TOY_LANES;
    t->config.log_entry_bytes = TOY_LANES * 8;
    result =
        gpump_init(&gpump_replay_component, t->replay_memory, sizeof t->replay_memory, &t->config, &t->replay, NULL);
    for (uint32_t i = 0; i < TOY_SLOTS; i++) t->warps[i].warp = GPUMP_NONE;
    memset(t->trace, ' ', sizeof t->trace);
    toy_form_regions(t->program, t->boundary);
    t->now = 1;
    return result;
}

static inline toy_block *toy_block_of(toy *t, const toy_warp *w) { return t->blocks + w->warp / TOY_BLOCK_WARPS; }
static inline uint32_t toy_slot(const toy *t, const toy_warp *w) { return (uint32_t)(w - t->warps); }

static inline uint32_t toy_free_slot(toy *t) {
    uint32_t slot = t->random ? gpump_random_below(&t->random, TOY_SLOTS) : 0;
    for (uint32_t i = 0; i < TOY_SLOTS; i++, slot = (slot + 1) % TOY_SLOTS)
        if (t->warps[slot].warp == GPUMP_NONE) return slot;
    return GPUMP_NONE;
}
/* Takes a block slot and warp slots; 0: none is free. */
static inline int toy_take_slots(toy *t, uint32_t b) {
    toy_block *block = t->blocks + b;
    uint32_t slot = 0;
    while (slot < TOY_BLOCK_SLOTS && (t->block_slots >> slot & 1u)) slot++;
    if (slot == TOY_BLOCK_SLOTS) return 0;
    t->block_slots |= 1u << slot;
    block->slot = slot;
    block->state = TOY_HERE;
    for (uint32_t i = 0; i < TOY_BLOCK_WARPS; i++) {
        toy_warp *w = t->warps + (block->warps[i] = toy_free_slot(t));
        memset(w, 0, sizeof *w);
        w->warp = b * TOY_BLOCK_WARPS + i;
    }
    return 1;
}
static inline void toy_free_slots(toy *t, toy_block *block) {
    t->block_slots &= ~(1u << block->slot);
    for (uint32_t i = 0; i < TOY_BLOCK_WARPS; i++) {
        toy_warp *w = t->warps + block->warps[i];
        if (!w->exited) TOY_DONE_OR_SAY(gpump_replay_close(t->replay, block->warps[i]));
        memset(w, 0xa5, sizeof *w); /* whoever reads these again gets rubbish */
        memset(t->log[block->warps[i] * GPUMP_REPLAY_WINDOW], 0xa5, GPUMP_REPLAY_WINDOW * sizeof t->log[0]);
        w->warp = GPUMP_NONE;
    }
}
/* Starts a new block with registers[warp][lane]. */
static inline int toy_place(toy *t, uint32_t b, uint32_t registers[TOY_WARPS][TOY_REGISTERS][TOY_LANES]) {
    if (!toy_take_slots(t, b)) return 0;
    for (uint32_t i = 0; i < TOY_BLOCK_WARPS; i++) {
        toy_warp *w = t->warps + t->blocks[b].warps[i];
        memcpy(w->registers, registers[w->warp], sizeof w->registers);
        w->lanes = TOY_ALL;
        TOY_DONE_OR_SAY(gpump_replay_open(t->replay, toy_slot(t, w), t->blocks[b].slot));
    }
    return 1;
}

/* ---- records ---- */

static inline void toy_remove(toy_warp *w, toy_record *r) {
    memmove(r, r + 1, (size_t)(w->records + w->count - (r + 1)) * sizeof *r);
    w->count--;
}
static inline toy_record *toy_find(toy_warp *w, uint32_t entry) {
    for (uint32_t i = 0; i < w->count; i++)
        if (w->records[i].entry == entry) return w->records + i;
    return NULL;
}
static inline gpump_replay_entry toy_entry(const toy_record *r) {
    gpump_replay_entry entry;
    entry.sequence = r->sequence;
    entry.lanes = r->lanes;
    entry.pc = r->pc;
    entry.kind = toy_kind(r->what.op);
    entry.log_units = toy_is_memory(r->what.op) ? toy_log_units(r->what.op) : 0;
    entry.flags = 0;
    return entry;
}
static inline int toy_in_flight(const toy_warp *w) {
    for (uint32_t i = 0; i < w->count; i++)
        if (w->records[i].stage != TOY_FETCHED) return 1;
    return 0;
}

static inline void toy_read_operands(toy *t, toy_warp *w, toy_record *r) {
    if (r->logged) {
        memcpy(r->operands, t->log[r->entry], sizeof r->operands);
        return;
    }
    memcpy(r->operands[0], w->registers[r->what.a], sizeof r->operands[0]);
    memcpy(r->operands[1], w->registers[r->what.b], sizeof r->operands[1]);
    memcpy(r->operands[2], w->registers[r->what.dst], sizeof r->operands[2]);
    if (r->entry != GPUMP_NONE && gpump_replay_look(t->replay, r->entry).log_units)
        memcpy(t->log[r->entry], r->operands, sizeof r->operands);
}

/* The scoreboard: what older instructions of the warp still have to do. A logged instruction reads no register. */
static inline int toy_has_hazard(const toy *t, const toy_warp *w, const toy_record *r) {
    const uint32_t writes = toy_writes(&r->what), reads = r->logged ? 0 : toy_reads(&r->what);
    if (r->what.op == TOY_EXIT && r > w->records) return 1; /* a warp ends when all else of it has committed */
    for (const toy_record *older = w->records; older < r; older++) {
        if (t->mistake == TOY_IGNORES_REPLAY && older->pending && !r->pending) continue;
        if ((reads | writes) & toy_writes(&older->what)) return 1;
        if (!older->released && !older->logged && (writes & toy_reads(&older->what))) return 1;
        if (older->stage != TOY_FETCHED) continue;
        if (toy_is_memory(r->what.op) && (toy_is_memory(older->what.op) || older->what.op == TOY_FENCE)) return 1;
    }
    return 0;
}

static inline void toy_effect(toy *t, toy_warp *w, toy_record *r) {
    toy_access(t->memory, w->warp, &r->what, r->lanes, r->operands, r->result);
    r->effective = 1;
    r->waiting = 0;
    r->released = 1;
    r->next = t->now + toy_some(t, t->data_cycles);
    if (w->warp == 0 && r->sequence < TOY_TRACED) t->checked[r->sequence] = t->now;
}

/* ---- a cycle, stage by stage ---- */

static inline void toy_pages(toy *t) {
    for (uint32_t page = 0; page < TOY_PAGES; page++)
        if (t->page_comes[page] && t->page_comes[page] <= t->now) {
            t->page_comes[page] = 0;
            t->last_progress = t->now;
        }
    for (uint32_t i = 0; i < TOY_SLOTS; i++) {
        toy_warp *w = t->warps + i;
        const uint64_t before = w->awaits;
        if (w->warp == GPUMP_NONE) continue;
        for (uint32_t page = 0; page < TOY_PAGES; page++)
            if (!t->page_comes[page]) w->awaits &= ~((uint64_t)1 << page);
        if (before && !w->awaits && toy_block_of(t, w)->state == TOY_HERE)
            TOY_DONE_OR_SAY(gpump_replay_report_served(t->replay, i));
    }
}

static inline void toy_actions(toy *t) {
    gpump_replay_action action;
    while (gpump_replay_has_actions(t->replay) && gpump_replay_next(t->replay, &action) == GPUMP_OK) {
        toy_warp *w = t->warps + action.warp;
        toy_record *r = action.entry == GPUMP_NONE ? NULL : toy_find(w, action.entry);
        t->last_progress = t->now;
        if (action.entry != GPUMP_NONE && !r) {
            toy_complain(t, "an action for an instruction that is not in the pipeline");
            continue;
        }
        switch (action.kind) {
        case GPUMP_REPLAY_ACT_EFFECT: toy_effect(t, w, r); break;
        case GPUMP_REPLAY_ACT_SQUASH: /* its operand read takes place, else there is nothing in the log */
            if (r->stage == TOY_ISSUED) toy_read_operands(t, w, r);
            toy_mark(t, w, r->sequence, 'x');
            toy_remove(w, r);
            break;
        case GPUMP_REPLAY_ACT_REFETCH:
            toy_mark(t, w, r->sequence, 'x');
            w->pc = r->pc; /* REGIONS: toy_hand_over goes back further */
            if (t->config.scheme != GPUMP_REPLAY_REGIONS) w->sequence = r->sequence;
            w->dropped = 1;
            toy_remove(w, r);
            break;
        case GPUMP_REPLAY_ACT_DRAINED: w->drained = 1; break;
        case GPUMP_REPLAY_ACT_REPLAY: {
            uint32_t handles[GPUMP_REPLAY_WINDOW], count = 0;
            TOY_DONE_OR_SAY(gpump_replay_pending(t->replay, action.warp, handles, GPUMP_REPLAY_WINDOW, &count));
            for (uint32_t i = 0; i < count; i++) {
                const gpump_replay_entry entry = gpump_replay_look(t->replay, handles[i]);
                toy_record *again = w->records + w->count++;
                memset(again, 0, sizeof *again);
                again->what = t->program[entry.pc];
                again->sequence = entry.sequence;
                again->since = t->now;
                again->pc = entry.pc;
                again->lanes = t->mistake == TOY_DROPS_LANES ? (uint32_t)TOY_ALL : (uint32_t)entry.lanes;
                again->entry = handles[i];
                again->pending = 1;
                again->logged = (entry.flags & GPUMP_REPLAY_ISSUED) && entry.log_units;
            }
            break;
        }
        default: break; /* FETCH: toy_fetch asks in every cycle */
        }
    }
}

/* Warps whose memory instructions have drained: once nothing else is in flight, the rest of the window is handed over,
 * or fetched again. */
static inline void toy_hand_over(toy *t) {
    for (uint32_t i = 0; i < TOY_SLOTS; i++) {
        toy_warp *w = t->warps + i;
        gpump_replay_entry rest[TOY_WINDOW];
        const int queue = t->config.scheme == GPUMP_REPLAY_QUEUE || t->config.scheme == GPUMP_REPLAY_LOG;
        const int regions = t->config.scheme == GPUMP_REPLAY_REGIONS;
        uint32_t count = 0;
        if (w->warp == GPUMP_NONE || w->exited || !w->drained || toy_in_flight(w)) continue;
        if (!queue && !regions && w->count && !toy_is_memory(w->records[0].what.op))
            continue; /* older ones issue yet */
        for (uint32_t k = 0; k < w->count; k++) {
            const toy_record *r = w->records + k;
            if (r->pending) continue; /* the queue has it */
            rest[count++] = toy_entry(r);
        }
        if (!queue && !regions && count) w->pc = rest[0].pc;
        if (regions && (w->dropped || count)) {
            w->pc = w->restart_pc;
            w->lanes = w->restart_lanes;
        }
        w->count = w->drained = w->dropped = 0;
        TOY_DONE_OR_SAY(gpump_replay_report_unissued(t->replay, i, rest, queue ? count : 0));
        if (!w->awaits && toy_block_of(t, w)->state == TOY_HERE)
            TOY_DONE_OR_SAY(gpump_replay_report_served(t->replay, i));
    }
}

static inline gpump_reason toy_may_issue(const toy *t, uint32_t slot, const toy_record *r) {
    if (r->pending) return gpump_replay_may_reissue(t->replay, r->entry);
    if (toy_is_memory(r->what.op)) return gpump_replay_may_issue_memory(t->replay, slot, toy_log_units(r->what.op));
    if (toy_kind(r->what.op) == GPUMP_REPLAY_SYNC)
        return gpump_replay_may(t->replay, slot, GPUMP_REPLAY_TO_SYNCHRONISE);
    if (t->mistake == TOY_IGNORES_REPLAY && gpump_replay_state_of(t->replay, slot) == GPUMP_REPLAY_REPLAY)
        return GPUMP_REASON_YES;
    return gpump_replay_may(t->replay, slot, GPUMP_REPLAY_TO_ISSUE);
}

static inline void toy_issue(toy *t) {
    uint32_t issued = 0;
    for (uint32_t i = 0; i < TOY_SLOTS; i++) {
        const uint32_t slot = (i + t->rotate) % TOY_SLOTS;
        toy_warp *w = t->warps + slot;
        for (uint32_t k = 0; w->warp != GPUMP_NONE && k < w->count && issued < t->issue_width; k++) {
            toy_record *r = w->records + k;
            if (r->stage != TOY_FETCHED || r->since == t->now || toy_has_hazard(t, w, r)) continue;
            if (toy_may_issue(t, slot, r) != GPUMP_REASON_YES) continue;
            if (r->pending) {
                TOY_DONE_OR_SAY(gpump_replay_report_reissued(t->replay, r->entry));
                if (!toy_is_memory(r->what.op)) r->entry = GPUMP_NONE;
            } else if (toy_is_memory(r->what.op)) {
                gpump_replay_entry entry = toy_entry(r);
                TOY_DONE_OR_SAY(gpump_replay_report_issued(t->replay, slot, &entry, &r->entry));
            }
            r->pending = 0;
            r->stage = TOY_ISSUED;
            r->since = t->last_progress = t->now;
            if (w->warp == 0 && r->sequence < TOY_TRACED) {
                t->issued[r->sequence] = t->now;
                t->issues[r->sequence]++;
            }
            toy_mark(t, w, r->sequence, 'I');
            issued++;
        }
    }
}

static inline int toy_may_fetch(const toy *t, const toy_warp *w) {
    const gpump_reason reason = w->warp == GPUMP_NONE || w->exited
                                    ? GPUMP_REASON_NO_SUCH_BLOCK
                                    : gpump_replay_may(t->replay, toy_slot(t, w), GPUMP_REPLAY_TO_FETCH);
    if (reason && !(reason == GPUMP_REASON_REPLAYING && t->mistake == TOY_IGNORES_REPLAY)) return 0;
    if (w->count == TOY_WINDOW || t->blocks[w->warp / TOY_BLOCK_WARPS].state != TOY_HERE) return 0;
    if (t->config.scheme == GPUMP_REPLAY_REGIONS && t->boundary[w->pc] && w->count) return 0;
    for (uint32_t i = 0; i < w->count; i++) {
        if (t->mistake == TOY_IGNORES_REPLAY && w->records[i].pending) continue;
        if (toy_is_control(w->records[i].what.op)) return 0;
        if (toy_is_memory(w->records[i].what.op) && w->records[i].stage == TOY_FETCHED) return 0;
    }
    return 1;
}
static inline void toy_fetch(toy *t) {
    for (uint32_t i = 0; i < TOY_SLOTS; i++) {
        toy_warp *w = t->warps + (i + t->rotate) % TOY_SLOTS;
        toy_record *r;
        if (!toy_may_fetch(t, w)) continue;
        r = w->records + w->count++;
        memset(r, 0, sizeof *r);
        if (t->boundary[w->pc] || w->fresh) {
            w->fresh = 0;
            w->restart_pc = w->pc;
            w->restart_lanes = w->lanes;
        }
        r->what = t->program[w->pc];
        r->sequence = w->sequence++;
        r->since = t->last_progress = t->now;
        r->pc = w->pc++;
        r->lanes = w->lanes;
        r->entry = GPUMP_NONE;
        if (toy_is_memory(r->what.op)) gpump_replay_report_fetched(t->replay, toy_slot(t, w), r->sequence);
        if (w->warp == 0 && r->sequence < TOY_TRACED) t->fetched[r->sequence] = t->now;
        toy_mark(t, w, r->sequence, 'F');
        break;
    }
    t->rotate = (t->rotate + 1) % TOY_SLOTS;
}

/* The addresses are known: ADDRESS compares them. */
static inline void toy_segments(toy *t, const toy_warp *w, const toy_record *r) {
    uint64_t words[2 * TOY_LANES];
    uint32_t count = 0;
    for (uint32_t lane = 0; toy_is_memory(r->what.op) && lane < TOY_LANES; lane++) {
        if (!(r->lanes >> lane & 1u)) continue;
        words[count++] = toy_word(w->warp, r->operands[0][lane]);
        if (r->what.op == TOY_WIDE) words[count++] = toy_word(w->warp, r->operands[0][lane] + 1);
    }
    if (toy_is_memory(r->what.op)) TOY_DONE_OR_SAY(gpump_replay_report_segments(t->replay, r->entry, words, count));
}

/* One translation check per lane and word; an absent page is a fault. */
static inline void toy_check(toy *t, toy_warp *w, toy_record *r) {
    const int stays = t->config.scheme == GPUMP_REPLAY_STALL || t->config.on_fault == GPUMP_REPLAY_LAZY;
    const uint32_t checks = TOY_LANES * (r->what.op == TOY_WIDE ? 2u : 1u);
    gpump_reason answer;
    if (r->faulted && !stays) return; /* the squash is on its way */
    for (; r->checked < checks; r->checked++) {
        const uint32_t lane = r->checked % TOY_LANES, word = r->operands[0][lane] + r->checked / TOY_LANES;
        const uint32_t page = toy_word(w->warp, word) / TOY_PAGE;
        if (!(r->lanes >> lane & 1u) || !t->page_comes[page]) continue;
        if (t->page_comes[page] == GPUMP_UNKNOWN) t->page_comes[page] = t->now + toy_some(t, t->service_cycles);
        if (r->faulted == page + 1) return; /* it is checked again until the page is there, or it is squashed */
        r->faulted = page + 1;
        w->awaits |= (uint64_t)1 << page;
        TOY_DONE_OR_SAY(gpump_replay_report_faulted(t->replay, r->entry));
        return;
    }
    TOY_DONE_OR_SAY(gpump_replay_report_checked(t->replay, r->entry, &answer));
    if (answer == GPUMP_REASON_YES)
        toy_effect(t, w, r);
    else
        r->waiting = 1;
}

static inline void toy_commit(toy *t, toy_warp *w, toy_record *r) {
    const toy_instruction *i = &r->what;
    uint32_t odd = 0;
    for (uint32_t lane = 0; lane < TOY_LANES; lane++) {
        if (!(r->lanes >> lane & 1u)) continue;
        odd |= (r->operands[0][lane] & 1u) << lane;
        if (!toy_writes(i)) continue;
        w->registers[i->dst][lane] = toy_is_memory(i->op) ? r->result[lane] : toy_compute(i, r->operands[0][lane]);
    }
    if (i->op == TOY_SKIP && odd) w->pc += i->immediate;
    if (i->op == TOY_SPLIT && odd) w->lanes = odd;
    if (i->op == TOY_JOIN) w->lanes = TOY_ALL;
    w->fresh |= (uint32_t)toy_is_control(i->op);
    if (r->entry != GPUMP_NONE) TOY_DONE_OR_SAY(gpump_replay_report_committed(t->replay, r->entry));
    if (i->op == TOY_EXIT) {
        memcpy(t->final[w->warp], w->registers, sizeof w->registers);
        w->exited = 1;
        TOY_DONE_OR_SAY(gpump_replay_close(t->replay, toy_slot(t, w)));
    }
    toy_mark(t, w, r->sequence, 'C');
    if (w->warp == 0 && r->sequence < TOY_TRACED) t->committed[r->sequence] = t->now;
    t->last_progress = t->now;
    toy_remove(w, r);
}

static inline void toy_execute(toy *t) {
    for (uint32_t i = 0; i < TOY_SLOTS; i++) {
        toy_warp *w = t->warps + i;
        for (uint32_t k = 0; w->warp != GPUMP_NONE && k < w->count; k++) {
            toy_record *r = w->records + k;
            if (r->stage == TOY_FETCHED || r->since == t->now) continue;
            if (r->stage == TOY_ISSUED) {
                toy_read_operands(t, w, r);
                r->released = !toy_is_memory(r->what.op) || gpump_replay_releases_sources(t->replay, r->entry) ||
                              t->mistake == TOY_RELEASES_EARLY;
                r->stage = TOY_READ;
                r->since = t->now;
                if (t->config.order == GPUMP_REPLAY_ADDRESS) toy_segments(t, w, r);
                if (w->warp == 0 && r->sequence < TOY_TRACED) t->read[r->sequence] = t->now;
                toy_mark(t, w, r->sequence, 'O');
                continue;
            }
            if (r->stage == TOY_READ) {
                r->stage = TOY_EXECUTED;
                r->since = t->now;
                r->next = t->now + (toy_is_memory(r->what.op) ? toy_some(t, t->check_cycles) - 1 : 1);
            }
            if (t->now < r->next || r->waiting) {
                toy_mark(t, w, r->sequence, 'E');
            } else if (!toy_is_memory(r->what.op) || r->effective) {
                toy_commit(t, w, r);
                k--;
            } else {
                toy_mark(t, w, r->sequence, 'E');
                toy_check(t, w, r);
            }
        }
    }
}

/* The watchdog: nothing has moved for long. It names the first warp that has not ended, and what holds it. */
static inline void toy_bark(toy *t) {
    for (uint32_t i = 0; i < TOY_SLOTS; i++) {
        const toy_warp *w = t->warps + i;
        char text[140];
        if (w->warp == GPUMP_NONE || w->exited) continue;
        snprintf(text, sizeof text, "warp %u has not moved since cycle %llu: %s", w->warp,
                 (unsigned long long)t->last_progress,
                 gpump_reason_text(w->count ? toy_may_issue(t, i, w->records)
                                            : gpump_replay_may(t->replay, i, GPUMP_REPLAY_TO_FETCH)));
        toy_complain(t, text);
    }
    toy_complain(t, "nothing is left that could move");
}

static inline void toy_cycle(toy *t) {
    toy_pages(t);
    toy_actions(t);
    toy_hand_over(t);
    toy_issue(t);
    toy_fetch(t);
    toy_execute(t);
    if (t->now - t->last_progress > 5000) toy_bark(t);
    t->now++;
}

/* ---- blocks leave and come back ---- */

/* Somebody needs the slots of block b. */
static inline void toy_leave(toy *t, uint32_t b) {
    toy_block *block = t->blocks + b;
    block->state = TOY_LEAVING;
    for (uint32_t i = 0; i < TOY_BLOCK_WARPS; i++)
        if (!t->warps[block->warps[i]].exited) (void)gpump_replay_squash(t->replay, block->warps[i]);
}
/* May it be saved now? Under STALL it must have come to rest by itself. */
static inline int toy_may_save(const toy *t, uint32_t b) {
    for (uint32_t i = 0; i < TOY_BLOCK_WARPS; i++) {
        const uint32_t slot = t->blocks[b].warps[i];
        const toy_warp *w = t->warps + slot;
        if (w->exited) continue;
        if (t->config.scheme == GPUMP_REPLAY_STALL ? w->count
                                                   : gpump_replay_state_of(t->replay, slot) != GPUMP_REPLAY_HELD)
            return 0;
    }
    return 1;
}
/* Returns the entries written. */
static inline uint32_t toy_put_replay(toy *t, gpump_context_writer *writer, uint32_t index, uint32_t slot) {
    gpump_replay_entry entries[GPUMP_REPLAY_WINDOW];
    uint64_t words[4 * GPUMP_REPLAY_WINDOW], log[GPUMP_REPLAY_WINDOW * (2 + TOY_OPERANDS * TOY_LANES)];
    uint32_t handles[GPUMP_REPLAY_WINDOW], count = 0, used = 0;
    TOY_DONE_OR_SAY(gpump_replay_save(t->replay, slot, entries, GPUMP_REPLAY_WINDOW, &count));
    if (!count) return 0;
    TOY_DONE_OR_SAY(gpump_replay_pending(t->replay, slot, handles, GPUMP_REPLAY_WINDOW, &count));
    gpump_replay_pack(entries, count, words);
    gpump_context_put_words(writer, GPUMP_CONTEXT_REPLAY, index, words, 4 * count);
    for (uint32_t i = 0; i < count; i++) {
        if (!(entries[i].flags & GPUMP_REPLAY_ISSUED) || !entries[i].log_units) continue;
        log[used++] = i | (uint64_t)entries[i].log_units << 32;
        log[used++] = TOY_LANES;
        for (uint32_t unit = 0; unit < entries[i].log_units; unit++)
            for (uint32_t lane = 0; lane < TOY_LANES; lane++) log[used++] = t->log[handles[i]][unit][lane];
    }
    if (used && t->mistake != TOY_DROPS_LOG) gpump_context_put_words(writer, GPUMP_CONTEXT_LOG, index, log, used);
    return count;
}
static inline void toy_save(toy *t, uint32_t b) {
    toy_block *block = t->blocks + b;
    gpump_context_writer writer;
    gpump_context_block whole;
    memset(&whole, 0, sizeof whole);
    whole.cookie = b;
    whole.warps = TOY_BLOCK_WARPS;
    whole.lanes = TOY_LANES;
    whole.registers = TOY_REGISTERS;
    (void)gpump_context_begin(&writer, block->context, sizeof block->context);
    for (uint32_t i = 0; i < TOY_BLOCK_WARPS; i++) {
        const uint32_t slot = block->warps[i];
        const toy_warp *w = t->warps + slot;
        const uint64_t own[7] = {w->sequence, w->awaits, w->exited, w->pc, w->restart_pc, w->restart_lanes, w->fresh};
        const gpump_context_stack_entry top = {w->pc, 0, w->lanes};
        gpump_context_put_words(&writer, GPUMP_CONTEXT_HOST, i, own, 7);
        gpump_context_put_stack(&writer, i, &top, w->exited ? 0 : 1);
        if (w->exited) continue;
        gpump_context_put_registers(&writer, i, w->registers[0], TOY_REGISTERS, TOY_LANES);
        whole.replay_entries += toy_put_replay(t, &writer, i, slot);
    }
    gpump_context_put_block(&writer, &whole);
    TOY_DONE_OR_SAY(gpump_context_end(&writer, &block->bytes));
    toy_free_slots(t, block);
    block->state = TOY_OUT;
    t->last_progress = t->now;
}
static inline void toy_get_replay(toy *t, gpump_context_reader *reader, uint32_t index, uint32_t slot) {
    gpump_replay_entry entries[GPUMP_REPLAY_WINDOW];
    uint64_t words[4 * GPUMP_REPLAY_WINDOW], log[GPUMP_REPLAY_WINDOW * (2 + TOY_OPERANDS * TOY_LANES)];
    uint32_t handles[GPUMP_REPLAY_WINDOW], count = 0, used = 0;
    if (gpump_context_get_words(reader, GPUMP_CONTEXT_REPLAY, index, words, 4 * GPUMP_REPLAY_WINDOW, &count)) count = 0;
    count /= 4;
    gpump_replay_unpack(words, count, entries);
    TOY_DONE_OR_SAY(gpump_replay_restore(t->replay, slot, entries, count, NULL));
    TOY_DONE_OR_SAY(gpump_replay_pending(t->replay, slot, handles, GPUMP_REPLAY_WINDOW, &count));
    if (gpump_context_get_words(reader, GPUMP_CONTEXT_LOG, index, log, sizeof log / sizeof *log, &used)) used = 0;
    for (uint32_t at = 0; at < used;) {
        const uint32_t entry = (uint32_t)log[at], units = (uint32_t)(log[at] >> 32);
        at += 2;
        for (uint32_t unit = 0; unit < units; unit++)
            for (uint32_t lane = 0; lane < TOY_LANES; lane++) t->log[handles[entry]][unit][lane] = (uint32_t)log[at++];
    }
}
/* Brings a saved block back; 0: no slot is free. */
static inline int toy_return(toy *t, uint32_t b) {
    toy_block *block = t->blocks + b;
    gpump_context_reader reader;
    if (!toy_take_slots(t, b)) return 0;
    TOY_DONE_OR_SAY(gpump_context_open(&reader, block->context, block->bytes, NULL));
    t->missing |= gpump_context_missing(&reader, 0);
    if (t->missing && !t->mistake) toy_complain(t, "a saved context lacks a part");
    for (uint32_t i = 0; i < TOY_BLOCK_WARPS; i++) {
        const uint32_t slot = block->warps[i];
        toy_warp *w = t->warps + slot;
        gpump_context_stack_entry top;
        uint64_t own[7];
        uint32_t count;
        TOY_DONE_OR_SAY(gpump_context_get_words(&reader, GPUMP_CONTEXT_HOST, i, own, 7, &count));
        w->sequence = own[0];
        w->awaits = own[1];
        for (uint32_t page = 0; page < TOY_PAGES; page++) /* came meanwhile, or was evicted again */
            if (!t->page_comes[page] || t->page_comes[page] == GPUMP_UNKNOWN) w->awaits &= ~((uint64_t)1 << page);
        w->exited = (uint32_t)own[2];
        w->pc = (uint32_t)own[3];
        w->restart_pc = (uint32_t)own[4];
        w->restart_lanes = (uint32_t)own[5];
        w->fresh = (uint32_t)own[6];
        if (w->exited) continue;
        TOY_DONE_OR_SAY(gpump_context_get_registers(&reader, i, w->registers[0], TOY_REGISTERS, TOY_LANES));
        TOY_DONE_OR_SAY(gpump_context_get_stack(&reader, i, &top, 1, &count));
        w->lanes = (uint32_t)top.lanes;
        TOY_DONE_OR_SAY(gpump_replay_open(t->replay, slot, block->slot));
        toy_get_replay(t, &reader, i, slot);
        if (!w->awaits) TOY_DONE_OR_SAY(gpump_replay_report_served(t->replay, slot));
    }
    t->last_progress = t->now;
    return 1;
}
/* A block whose warps have all exited frees its slots. */
static inline void toy_retire(toy *t, uint32_t b) {
    toy_block *block = t->blocks + b;
    if (block->state != TOY_HERE && block->state != TOY_LEAVING) return;
    for (uint32_t i = 0; i < TOY_BLOCK_WARPS; i++)
        if (!t->warps[block->warps[i]].exited) return;
    toy_free_slots(t, block);
    block->state = TOY_DONE;
}

/* ---- what it must come to: one instruction after the other ---- */

static inline void toy_reference(const toy_instruction *program, uint32_t warp,
                                 uint32_t registers[TOY_REGISTERS][TOY_LANES], uint32_t *memory) {
    uint32_t lanes = TOY_ALL;
    for (uint32_t pc = 0; program[pc].op != TOY_EXIT; pc++) {
        const toy_instruction *i = program + pc;
        uint32_t operands[TOY_OPERANDS][TOY_LANES], result[TOY_LANES], odd = 0;
        memcpy(operands[0], registers[i->a], sizeof operands[0]);
        memcpy(operands[1], registers[i->b], sizeof operands[1]);
        memcpy(operands[2], registers[i->dst], sizeof operands[2]);
        if (toy_is_memory(i->op)) toy_access(memory, warp, i, lanes, operands, result);
        for (uint32_t lane = 0; lane < TOY_LANES; lane++) {
            if (!(lanes >> lane & 1u)) continue;
            odd |= (operands[0][lane] & 1u) << lane;
            if (toy_writes(i))
                registers[i->dst][lane] = toy_is_memory(i->op) ? result[lane] : toy_compute(i, operands[0][lane]);
        }
        if (i->op == TOY_SKIP && odd) pc += i->immediate;
        if (i->op == TOY_SPLIT && odd) lanes = odd;
        if (i->op == TOY_JOIN) lanes = TOY_ALL;
    }
}

/* ---- the figures of Tanasic 6.2 and 6.3 ---- */

enum { TOY_LD, TOY_ADD_R2, TOY_MUL_R8, TOY_SUB_R9, TOY_FIGURE };
/* Runs ld R3, [R2]; add R2, R7, 8; mul R8, R3, 3; sub R9, R9, 4 as one warp under a preset: the check of the load is in
 * cycle 10, where it faults when `fault` is 1, and its page comes `service` cycles later. Returns 1 when it has ended
 * with the right values. */
static inline int toy_figure(toy *t, const char *preset, int fault, uint32_t service) {
    static const toy_instruction program[] = {{TOY_LOAD, 3, 2, 0, 0},
                                              {TOY_ADD, 2, 7, 0, 8},
                                              {TOY_MUL, 8, 3, 0, 3},
                                              {TOY_SUB, 9, 9, 0, 4},
                                              {TOY_EXIT, 0, 0, 0, 0}};
    uint32_t registers[TOY_WARPS][TOY_REGISTERS][TOY_LANES], memory[TOY_WORDS];
    gpump_replay_config config;
    memset(t, 0, sizeof *t);
    memcpy(t->program, program, sizeof program);
    t->check_cycles = 7;
    t->data_cycles = 1;
    t->service_cycles = service;
    t->issue_width = 2;
    if (gpump_preset(&gpump_replay_component, &config, preset, NULL) || toy_init(t, &config)) return 0;
    for (uint32_t i = 0; i < TOY_WORDS; i++) t->memory[i] = memory[i] = 1000 + i;
    for (uint32_t r = 0; r < TOY_REGISTERS; r++)
        for (uint32_t lane = 0; lane < TOY_LANES; lane++)
            registers[0][r][lane] = registers[1][r][lane] = 10 * r + (r != 2) * lane;
    for (uint32_t page = 0; page < TOY_PAGES; page++) t->page_comes[page] = fault ? GPUMP_UNKNOWN : 0;
    if (!toy_place(t, 0, registers)) return 0;
    (void)gpump_replay_close(t->replay, t->blocks[0].warps[1]); /* the block has one warp only */
    t->warps[t->blocks[0].warps[1]].exited = 1;
    while (!t->warps[t->blocks[0].warps[0]].exited && !*t->trouble) toy_cycle(t);
    toy_reference(program, 0, registers[0], memory);
    return !*t->trouble && !memcmp(registers[0], t->final[0], sizeof registers[0]);
}
#endif
