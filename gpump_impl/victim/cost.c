/* cost: the code behind cost.h */
#include "victim/cost.h"

#include <string.h>

#define GPUMPI_COST_CPI_MAX UINT32_MAX
#define GPUMPI_COST_STEPS_MAX ((uint64_t)1 << 24)

static uint64_t gpumpi_cost_cpi_of_long(uint64_t executed, uint64_t cycles) {
    if (executed == 0) return GPUMP_UNKNOWN;
    if (cycles < (uint64_t)1 << 47) return (cycles << 16) / executed + ((cycles << 16) % executed != 0);
    return gpump_muldiv_up(cycles, 65536, executed);
}
/* Most blocks fit 32-bit division, which is several times faster. */
GPUMP_INLINE uint64_t gpumpi_cost_cpi(uint64_t executed, uint64_t cycles) {
    uint32_t a = (uint32_t)cycles << 16, b = (uint32_t)executed;
    if (cycles >= 65536 || executed - 1 >= UINT32_MAX) return gpumpi_cost_cpi_of_long(executed, cycles);
    return (uint64_t)(a / b) + (a % b != 0);
}

GPUMP_API uint64_t gpumpi_cost_cpi_of(uint64_t executed, uint64_t cycles) { return gpumpi_cost_cpi(executed, cycles); }

/* CPI in steps of 1/256 cycle, limited so that 64 squares and their products fit 64 bits. */
static uint64_t gpumpi_cost_steps(uint64_t cpi) {
    return (cpi >> 8) < GPUMPI_COST_STEPS_MAX ? cpi >> 8 : GPUMPI_COST_STEPS_MAX;
}

GPUMP_API uint32_t gpumpi_cost_history_count(const gpump_cost_history *history) {
    return history->finished < GPUMP_COST_WINDOW ? (uint32_t)history->finished : GPUMP_COST_WINDOW;
}

GPUMP_API void gpump_cost_history_record(gpump_cost_history *history, uint64_t instructions, uint64_t cycles) {
    uint32_t at = (uint32_t)(history->finished % GPUMP_COST_WINDOW);
    uint64_t cpi = gpumpi_cost_cpi_of(instructions, cycles), steps;
    if (instructions == 0) return;
    if (instructions > (uint64_t)1 << 56) instructions = (uint64_t)1 << 56; /* so that the sum cannot wrap */
    if (cpi > GPUMPI_COST_CPI_MAX) cpi = GPUMPI_COST_CPI_MAX;
    if (history->finished >= GPUMP_COST_WINDOW) {
        steps = gpumpi_cost_steps(history->cpi[at]);
        history->instructions_sum -= history->instructions[at];
        history->cpi_sum -= history->cpi[at];
        history->deviation_sum -= steps;
        history->deviation_squares -= steps * steps;
    }
    steps = gpumpi_cost_steps(cpi);
    history->instructions[at] = instructions;
    history->cpi[at] = (uint32_t)cpi;
    history->instructions_sum += instructions;
    history->cpi_sum += cpi;
    history->deviation_sum += steps;
    history->deviation_squares += steps * steps;
    history->finished++;
}

/* The mean of the window, rounded up. A full window, the usual case, needs no division. */
static uint64_t gpumpi_cost_mean(uint64_t sum, uint32_t n) {
    return n == GPUMP_COST_WINDOW ? (sum + GPUMP_COST_WINDOW - 1) / GPUMP_COST_WINDOW : (sum + n - 1) / n;
}

GPUMP_API uint64_t gpumpi_cost_history_instructions(const gpump_cost_history *history) {
    return history->finished ? gpumpi_cost_mean(history->instructions_sum, gpumpi_cost_history_count(history))
                             : GPUMP_UNKNOWN;
}

GPUMP_API uint64_t gpumpi_cost_history_hash(const gpump_cost_history *history) {
    uint32_t n = gpumpi_cost_history_count(history);
    uint64_t hash = gpump_hash_u64(GPUMP_HASH_SEED, history->finished);
    hash = gpumpi_hash_u64s(hash, history->instructions, n);
    return gpumpi_hash_u32s(hash, history->cpi, n);
}

GPUMP_API uint64_t gpump_cost_history_bits(void) { return GPUMP_COST_WINDOW * (32 + 32) + 5 * 64; }

/* Sums over the blocks of one function that are on one SM. */
typedef struct gpumpi_cost_running {
    uint64_t count, executed, cycles, deviation_sum, deviation_squares;
    uint64_t cpis;  /* no block's CPI has other bits */
    uint64_t waits; /* not 0: a block waits for pages */
    uint64_t sizes; /* not 0: their contexts differ in size */
} gpumpi_cost_running;

/* Compares the sample variances of two sets of 2 to 64 steps by cross-multiplication: (n S2 - S1^2) / (n (n - 1)). */
static int gpumpi_cost_compare_variance(uint64_t na, uint64_t a1, uint64_t a2, uint64_t nb, uint64_t b1, uint64_t b2) {
    uint64_t a = na * a2 - a1 * a1, b = nb * b2 - b1 * b1;
    if ((a | b) >> 52) return gpumpi_compare_products(a, nb * (nb - 1), b, na * (na - 1));
    a *= nb * (nb - 1);
    b *= na * (na - 1);
    return a < b ? -1 : a > b;
}

static gpump_cost_cpi gpumpi_cost_source(const gpump_cost_history *history, const gpumpi_cost_running *running) {
    uint32_t finished = history ? gpumpi_cost_history_count(history) : 0;
    if (running->count < 2) return finished < 2 ? GPUMP_COST_CPI_SOURCES : GPUMP_COST_CPI_FINISHED;
    if (finished < 2) return GPUMP_COST_CPI_RUNNING;
    return gpumpi_cost_compare_variance(running->count, running->deviation_sum, running->deviation_squares, finished,
                                        history->deviation_sum, history->deviation_squares) <= 0
               ? GPUMP_COST_CPI_RUNNING
               : GPUMP_COST_CPI_FINISHED;
}

/* Sums over those blocks of `which` that run `function`, and their CPIs. Returns these blocks. `count` is that of all
 * blocks, which are passed one by one: their addresses need no multiplication. */
static uint64_t gpumpi_cost_survey(const gpump_block_view *blocks, uint32_t count, uint64_t which, uint32_t function,
                                   uint64_t *cpi, gpumpi_cost_running *running) {
    uint64_t mine = which, executed = 0, cycles = 0, sum = 0, squares = 0, all = 0, waits = 0, sizes = 0;
    uint32_t i = which ? gpump_bits_lowest64(which) : count, known = 0;
    const gpump_block_view *block = which ? &blocks[i] : NULL;
    const uint64_t bytes = which ? block->context_bytes : 0;
    for (; i < count; i++, block++) {
        uint64_t each, steps;
        if (gpumpi_block_function(block) != function) {
            mine &= ~((uint64_t)1 << i);
            continue;
        }
        executed += block->executed;
        cycles += block->cycles;
        waits |= block->fault_cycles;
        sizes |= block->context_bytes ^ bytes;
        cpi[i] = each = gpumpi_cost_cpi(block->executed, block->cycles);
        all |= each;
        steps = each >> 8;
        if (steps >= GPUMPI_COST_STEPS_MAX) {
            steps = each == GPUMP_UNKNOWN ? 0 : GPUMPI_COST_STEPS_MAX;
            known -= each == GPUMP_UNKNOWN;
        }
        known++;
        sum += steps;
        squares += steps * steps;
    }
    running->count = known;
    running->executed = executed;
    running->cycles = cycles;
    running->deviation_sum = sum;
    running->deviation_squares = squares;
    running->cpis = all;
    running->waits = waits;
    running->sizes = sizes;
    return mine;
}

/* The sums of gpumpi_cost_survey without CPIs of blocks and their deviation, for estimates that use neither. */
static uint64_t gpumpi_cost_sum(const gpump_block_view *blocks, uint64_t which, uint32_t function,
                                gpumpi_cost_running *running) {
    const uint64_t bytes = which ? blocks[gpump_bits_lowest64(which)].context_bytes : 0;
    uint64_t mine = which, rest;
    memset(running, 0, sizeof *running);
    for (rest = which; rest; rest &= rest - 1) {
        const gpump_block_view *block = &blocks[gpump_bits_lowest64(rest)];
        if (gpumpi_block_function(block) != function) {
            mine &= ~(rest & (0 - rest));
            continue;
        }
        running->executed += block->executed;
        running->cycles += block->cycles;
        running->waits |= block->fault_cycles;
        running->sizes |= block->context_bytes ^ bytes;
    }
    return mine;
}

static uint64_t gpumpi_cost_all(uint32_t count) { return count ? ~(uint64_t)0 >> (64 - (count < 64 ? count : 64)) : 0; }

GPUMP_API gpump_cost_cpi gpumpi_cost_cpi_source(const gpump_cost_history *history, const gpump_block_view *blocks,
                                                uint32_t count, uint32_t function) {
    gpumpi_cost_running running;
    uint64_t cpi[64];
    gpumpi_cost_survey(blocks, count, gpumpi_cost_all(count), function, cpi, &running);
    return gpumpi_cost_source(history, &running);
}

/* a x Q16.16, rounded up, saturated; GPUMP_UNKNOWN stays unknown. */
static uint64_t gpumpi_cost_times(uint64_t a, uint64_t q) {
    if ((a | q) <= UINT32_MAX) return (a * q + 65535) >> 16;
    if (a == GPUMP_UNKNOWN || q == GPUMP_UNKNOWN) return GPUMP_UNKNOWN;
    return gpump_muldiv_up(a, q, 65536);
}

/* The SM waits for the last block that can be drained in time (Chimera). Until then the slots of the other blocks are
 * idle. */
static void gpumpi_cost_charge_drains(uint64_t blocks, uint64_t limit, uint64_t ipc, gpump_cost_estimate *estimates) {
    uint64_t last = 0, rest;
    for (rest = blocks; rest; rest &= rest - 1) {
        uint64_t latency = estimates[gpump_bits_lowest64(rest)].latency[GPUMP_TECHNIQUE_DRAIN];
        if (latency != GPUMP_UNKNOWN && latency <= limit && latency > last) last = latency;
    }
    for (rest = blocks; rest; rest &= rest - 1) {
        gpump_cost_estimate *e = &estimates[gpump_bits_lowest64(rest)];
        if (e->latency[GPUMP_TECHNIQUE_DRAIN] < last)
            e->overhead[GPUMP_TECHNIQUE_DRAIN] = gpumpi_cost_times(last - e->latency[GPUMP_TECHNIQUE_DRAIN], ipc);
    }
}

/* The longest block of the window; its mean is at most that, but for rounding. */
static uint64_t gpumpi_cost_longest(const gpump_cost_history *history) {
    uint64_t longest = gpumpi_cost_history_instructions(history);
    for (uint32_t i = 0; i < gpumpi_cost_history_count(history); i++)
        if (history->instructions[i] > longest) longest = history->instructions[i];
    return longest;
}

/* A rewind saves fewer bytes, and loses what was executed since the boundaries as well. */
static void gpumpi_cost_rewinds(const gpump_port *port, uint64_t blocks, const gpump_cost_rewind *rewind, uint64_t ipc,
                                gpump_cost_estimate *estimates) {
    for (; blocks; blocks &= blocks - 1) {
        uint32_t at = gpump_bits_lowest64(blocks);
        uint64_t cycles = gpump_port_cycles(port, rewind[at].bytes);
        estimates[at].latency[GPUMP_TECHNIQUE_REWIND] = cycles;
        estimates[at].overhead[GPUMP_TECHNIQUE_REWIND] =
            gpump_add_saturated(rewind[at].executed, gpumpi_cost_times(gpump_add_saturated(cycles, cycles), ipc));
    }
}

/* A block that waits for pages drains, and under stall on fault is saved, after they are there. A block that leaves
 * with its faults loses only those cycles of saving and restoring in which it would not have waited anyway. */
static void gpumpi_cost_faults(const gpump_block_view *blocks, uint64_t mine, const gpump_cost_rewind *rewind,
                               uint64_t ipc, gpump_cost_estimate *estimates) {
    for (; mine; mine &= mine - 1) {
        const uint32_t at = gpump_bits_lowest64(mine);
        const uint64_t wait = blocks[at].fault_cycles;
        gpump_cost_estimate *e = &estimates[at];
        if (!wait) continue;
        e->latency[GPUMP_TECHNIQUE_DRAIN] = gpump_add_saturated(e->latency[GPUMP_TECHNIQUE_DRAIN], wait);
        if (blocks[at].fault_stalls) {
            e->latency[GPUMP_TECHNIQUE_SWITCH] = gpump_add_saturated(e->latency[GPUMP_TECHNIQUE_SWITCH], wait);
            continue;
        }
        for (uint32_t t = GPUMP_TECHNIQUE_SWITCH; t < GPUMP_TECHNIQUE_OWN; t++) {
            const uint64_t stalls = gpump_add_saturated(e->latency[t], e->latency[t]);
            if (t == GPUMP_TECHNIQUE_DRAIN || e->overhead[t] == GPUMP_UNKNOWN) continue;
            e->overhead[t] = gpump_add_saturated(t == GPUMP_TECHNIQUE_REWIND ? rewind[at].executed : 0,
                                                 stalls > wait ? gpumpi_cost_times(stalls - wait, ipc) : 0);
        }
    }
}

/* A technique of one's own costs what the built-in one that begins alike costs, unless its hook says otherwise. */
static void gpumpi_cost_own(const gpump_port *port, const gpump_block_view *blocks, uint64_t mine, uint64_t ipc,
                            gpump_cost_estimate *estimates) {
    gpump_technique_estimate_args args;
    args.port = port;
    args.ipc = ipc;
    for (uint32_t t = GPUMP_TECHNIQUE_OWN; (args.technique = gpump_technique_at(t)) != NULL; t++)
        for (uint64_t rest = mine; rest; rest &= rest - 1) {
            gpump_cost_estimate *e = &estimates[gpump_bits_lowest64(rest)];
            args.block = &blocks[gpump_bits_lowest64(rest)];
            e->latency[t] = e->latency[args.technique->begin];
            e->overhead[t] = e->overhead[args.technique->begin];
            if (args.technique->estimate) args.technique->estimate(&args, &e->latency[t], &e->overhead[t]);
        }
}

/* The CPI that a drain is estimated with under GPUMP_COST_CPI_LARGER: that of each block so far, or that of the blocks
 * that have ended (`pace`). */
static void gpumpi_cost_larger(uint64_t mine, uint64_t pace, uint64_t *cpi) {
    if (pace == GPUMP_UNKNOWN) return;
    for (; mine; mine &= mine - 1) {
        uint64_t *own = &cpi[gpump_bits_lowest64(mine)];
        if (*own < pace || *own == GPUMP_UNKNOWN) *own = pace;
    }
}

/* A drain lasts what is left of the block's length, and loses nothing. */
static void gpumpi_cost_drain(gpump_cost_estimate *e, uint64_t length, uint64_t executed, uint64_t cpi) {
    const int known = length != GPUMP_UNKNOWN;
    const uint64_t left = length > executed ? length - executed : 0, latency = gpumpi_cost_times(left, cpi);
    e->latency[GPUMP_TECHNIQUE_DRAIN] = known ? latency : GPUMP_UNKNOWN;
    e->overhead[GPUMP_TECHNIQUE_DRAIN] = known && latency != GPUMP_UNKNOWN ? 0 : GPUMP_UNKNOWN;
}

/* What all blocks of one function on an SM share. */
typedef struct gpumpi_cost_shared {
    uint64_t mean_length, longest; /* of finished blocks, warp instructions */
    const uint64_t *cpi;           /* that drains are estimated with: of the first block */
    uint32_t of_block;             /* 1: each block has its own; 0: one for all */
    uint64_t ipc;
} gpumpi_cost_shared;

/* Estimates the blocks of `which`, the first of which is bit 0, where their contexts have one size, they have one
 * `length`, and 32 bits hold everything that a drain is calculated from. */
static GPUMPI_CALLED void gpumpi_cost_alike(const gpump_block_view *block, uint64_t which, const uint64_t *cpi,
                                            uint32_t of_block, uint64_t length, const uint64_t *save,
                                            gpump_cost_estimate *e) {
    const uint64_t latency = save[0], overhead = save[1];
    for (; which; which >>= 1, block++, e++, cpi += of_block) {
        const uint64_t executed = block->executed;
        if (!(which & 1)) continue;
        memset(e, 0xff, sizeof *e);
        e->latency[GPUMP_TECHNIQUE_FLUSH] = 0;
        e->overhead[GPUMP_TECHNIQUE_FLUSH] = executed;
        e->latency[GPUMP_TECHNIQUE_SWITCH] = latency;
        e->overhead[GPUMP_TECHNIQUE_SWITCH] = overhead;
        e->latency[GPUMP_TECHNIQUE_DRAIN] = ((length > executed ? length - executed : 0) * *cpi + 65535) >> 16;
        e->overhead[GPUMP_TECHNIQUE_DRAIN] = 0;
    }
}

/* The same for any blocks. */
static void gpumpi_cost_unlike(const gpump_port *port, const gpump_block_view *block, uint64_t which,
                               const gpumpi_cost_shared *shared, gpump_cost_estimate *e) {
    const uint64_t *cpi = shared->cpi;
    uint64_t bytes = ~block->context_bytes, save = 0, lost = 0; /* of no block yet */
    for (; which; which >>= 1, block++, e++, cpi += shared->of_block) {
        const uint32_t drops = block->may >> GPUMP_TECHNIQUE_FLUSH & 1u;
        if (!(which & 1)) continue;
        if (block->context_bytes != bytes) { /* a function's blocks mostly have contexts of the same size */
            bytes = block->context_bytes;
            save = gpump_port_cycles(port, bytes);
            lost = gpumpi_cost_times(gpump_add_saturated(save, save), shared->ipc);
        }
        memset(e, 0xff, sizeof *e);
        e->latency[GPUMP_TECHNIQUE_FLUSH] = 0;
        e->overhead[GPUMP_TECHNIQUE_FLUSH] = block->executed;
        e->latency[GPUMP_TECHNIQUE_SWITCH] = save;
        e->overhead[GPUMP_TECHNIQUE_SWITCH] = lost;
        gpumpi_cost_drain(e, drops ? shared->mean_length : shared->longest, block->executed, *cpi);
    }
}

/* Estimates the blocks of `mine` by the techniques that every block has but rewind. */
static void gpumpi_cost_built_in(const gpump_port *port, const gpump_block_view *blocks, uint64_t mine,
                                 const gpumpi_cost_running *running, uint64_t largest_cpi,
                                 const gpumpi_cost_shared *shared, gpump_cost_estimate *estimates) {
    const uint32_t at = gpump_bits_lowest64(mine);
    const gpump_block_view *const first = &blocks[at];
    uint64_t save[2];
    if (running->sizes || shared->mean_length != shared->longest || (largest_cpi | shared->longest) > UINT32_MAX) {
        gpumpi_cost_unlike(port, first, mine >> at, shared, &estimates[at]);
        return;
    }
    save[0] = gpump_port_cycles(port, first->context_bytes);
    save[1] = gpumpi_cost_times(gpump_add_saturated(save[0], save[0]), shared->ipc);
    gpumpi_cost_alike(first, mine >> at, shared->cpi, shared->of_block, shared->longest, save, &estimates[at]);
}

GPUMP_API gpump_result gpump_cost_estimate_blocks(const gpump_port *port, const gpump_cost_history *histories,
                                                  uint32_t history_count, const gpump_block_view *blocks,
                                                  uint32_t count, const gpump_cost_rewind *rewind,
                                                  const gpump_cost_options *options, gpump_cost_estimate *estimates,
                                                  gpump_diag *diag) {
    static const gpump_cost_options published = {GPUMP_COST_CPI_SMALLER_DEVIATION, 0, 0};
    uint64_t cpi[64], todo;
    if (!options) options = &published;
    if (!port || !port->cycles || !port->bytes || (count && (!blocks || !estimates)))
        return gpumpi_bad_argument(diag, "port, blocks or estimates", 0, 0, 1, UINT64_MAX);
    if (count > 64) return gpumpi_bad_argument(diag, "count", 0, count, 0, 64);
    if (options->cpi >= GPUMP_COST_CPI_SOURCES)
        return gpumpi_bad_argument(diag, "options.cpi", 0, options->cpi, 0, GPUMP_COST_CPI_SOURCES - 1);
    /* Function by function: every mean is over the blocks of one function on this SM. */
    for (todo = gpumpi_cost_all(count); todo;) {
        const gpump_cost_history *history;
        gpumpi_cost_running running;
        gpumpi_cost_shared shared;
        uint32_t function = gpumpi_block_function(&blocks[gpump_bits_lowest64(todo)]), source = options->cpi;
        uint64_t pace = GPUMP_UNKNOWN, mine;
        mine = source == GPUMP_COST_CPI_FINISHED ? gpumpi_cost_sum(blocks, todo, function, &running)
                                                 : gpumpi_cost_survey(blocks, count, todo, function, cpi, &running);
        todo &= ~mine;
        history = histories && function < history_count && histories[function].finished ? &histories[function] : NULL;
        if (source == GPUMP_COST_CPI_SMALLER_DEVIATION) source = gpumpi_cost_source(history, &running);
        shared.mean_length = history ? gpumpi_cost_history_instructions(history) : GPUMP_UNKNOWN;
        if (history && (source == GPUMP_COST_CPI_FINISHED || source == GPUMP_COST_CPI_LARGER))
            pace = gpumpi_cost_mean(history->cpi_sum, gpumpi_cost_history_count(history));
        shared.longest =
            history && (options->flags & GPUMP_COST_DRAIN_CAREFUL) ? gpumpi_cost_longest(history) : shared.mean_length;
        shared.ipc = gpumpi_cost_cpi(running.cycles, running.executed); /* Q16.16; of a block: the mean here */
        if (source == GPUMP_COST_CPI_LARGER) gpumpi_cost_larger(mine, pace, cpi);
        shared.of_block = source == GPUMP_COST_CPI_RUNNING || source == GPUMP_COST_CPI_LARGER;
        shared.cpi = shared.of_block ? &cpi[gpump_bits_lowest64(mine)] : &pace;
        gpumpi_cost_built_in(port, blocks, mine, &running,
                             source == GPUMP_COST_CPI_RUNNING  ? running.cpis
                             : source == GPUMP_COST_CPI_LARGER ? running.cpis | pace
                                                               : pace,
                             &shared, estimates);
        if (rewind) gpumpi_cost_rewinds(port, mine, rewind, shared.ipc, estimates);
        if (running.waits) gpumpi_cost_faults(blocks, mine, rewind, shared.ipc, estimates);
        if (options->flags & GPUMP_COST_DRAIN_LOSES)
            gpumpi_cost_charge_drains(mine, options->limit_cycles, shared.ipc, estimates);
        gpumpi_cost_own(port, blocks, mine, shared.ipc, estimates);
    }
    return GPUMP_OK;
}
