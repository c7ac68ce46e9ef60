/* cost: the code behind cost.h */
#include "cost.h"

#define GPUMPI_COST_CPI_MAX UINT32_MAX
#define GPUMPI_COST_STEPS_MAX ((uint64_t)1 << 24)

GPUMP_API uint64_t gpump_cost_cpi_of(uint64_t executed, uint64_t cycles) {
    if (executed == 0) return GPUMP_UNKNOWN;
    /* 32-bit division is several times faster, and most blocks fit it. */
    if (cycles < 65536 && executed <= UINT32_MAX) return ((uint32_t)cycles << 16) / (uint32_t)executed + (((uint32_t)cycles << 16) % (uint32_t)executed != 0);
    if (cycles < (uint64_t)1 << 47) return (cycles << 16) / executed + ((cycles << 16) % executed != 0);
    return gpump_muldiv_up(cycles, 65536, executed);
}

/* CPI in steps of 1/256 cycle, limited so that 64 squares and their products fit 64 bits. */
static uint64_t gpumpi_cost_steps(uint64_t cpi) { return (cpi >> 8) < GPUMPI_COST_STEPS_MAX ? cpi >> 8 : GPUMPI_COST_STEPS_MAX; }

GPUMP_API uint32_t gpump_cost_history_count(const gpump_cost_history *history) {
    return history->finished < GPUMP_COST_WINDOW ? (uint32_t)history->finished : GPUMP_COST_WINDOW;
}

GPUMP_API void gpump_cost_history_record(gpump_cost_history *history, uint64_t instructions, uint64_t cycles) {
    uint32_t at = (uint32_t)(history->finished % GPUMP_COST_WINDOW);
    uint64_t cpi = gpump_cost_cpi_of(instructions, cycles), steps;
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

GPUMP_API uint64_t gpump_cost_history_instructions(const gpump_cost_history *history) {
    uint32_t n = gpump_cost_history_count(history);
    return n ? (history->instructions_sum + n - 1) / n : GPUMP_UNKNOWN;
}

GPUMP_API uint64_t gpump_cost_history_hash(const gpump_cost_history *history) {
    uint32_t n = gpump_cost_history_count(history);
    uint64_t hash = gpump_hash_u64(GPUMP_HASH_SEED, history->finished);
    hash = gpump_hash_u64s(hash, history->instructions, n);
    return gpump_hash_u32s(hash, history->cpi, n);
}

GPUMP_API uint64_t gpump_cost_history_bits(void) { return GPUMP_COST_WINDOW * (32 + 32) + 5 * 64; }

/* Sums over the blocks of one kernel that are on one SM. */
typedef struct gpumpi_cost_running {
    uint64_t count, executed, cycles, deviation_sum, deviation_squares;
} gpumpi_cost_running;

/* Compares the sample variances of two sets of n >= 2 steps by cross-multiplication: (n S2 - S1^2) / (n (n - 1)). */
static int gpumpi_cost_compare_variance(uint64_t na, uint64_t a1, uint64_t a2, uint64_t nb, uint64_t b1, uint64_t b2) {
    return gpump_compare_products(na * a2 - a1 * a1, nb * (nb - 1), nb * b2 - b1 * b1, na * (na - 1));
}

static gpump_cost_cpi gpumpi_cost_source(const gpump_cost_history *history, const gpumpi_cost_running *running) {
    uint32_t finished = history ? gpump_cost_history_count(history) : 0;
    if (running->count < 2) return finished < 2 ? GPUMP_COST_CPI_SOURCES : GPUMP_COST_CPI_FINISHED;
    if (finished < 2) return GPUMP_COST_CPI_RUNNING;
    return gpumpi_cost_compare_variance(running->count, running->deviation_sum, running->deviation_squares, finished,
                                        history->deviation_sum, history->deviation_squares) <= 0
               ? GPUMP_COST_CPI_RUNNING
               : GPUMP_COST_CPI_FINISHED;
}

static void gpumpi_cost_add(gpumpi_cost_running *running, uint64_t executed, uint64_t cycles, uint64_t cpi) {
    running->executed += executed;
    running->cycles += cycles;
    if (cpi != GPUMP_UNKNOWN) {
        uint64_t steps = gpumpi_cost_steps(cpi);
        running->count++;
        running->deviation_sum += steps;
        running->deviation_squares += steps * steps;
    }
}

GPUMP_API gpump_cost_cpi gpump_cost_cpi_source(const gpump_cost_history *history, const gpump_block_view *blocks, uint32_t count,
                                               uint32_t kernel) {
    gpumpi_cost_running running = {0, 0, 0, 0, 0};
    uint32_t i;
    for (i = 0; i < count && i < 64; i++)
        if (blocks[i].kernel == kernel)
            gpumpi_cost_add(&running, blocks[i].executed, blocks[i].cycles, gpump_cost_cpi_of(blocks[i].executed, blocks[i].cycles));
    return gpumpi_cost_source(history, &running);
}

/* a x Q16.16, rounded up, saturated; GPUMP_UNKNOWN stays unknown. */
static uint64_t gpumpi_cost_times(uint64_t a, uint64_t q) {
    if (a == GPUMP_UNKNOWN || q == GPUMP_UNKNOWN) return GPUMP_UNKNOWN;
    if (a <= UINT32_MAX && q < UINT32_MAX) return (a * q + 65535) >> 16;
    return gpump_muldiv_up(a, q, 65536);
}

GPUMP_API gpump_result gpump_cost_estimate_blocks(const gpump_gpu *gpu, const gpump_cost_history *histories, uint32_t history_count,
                                                  const gpump_block_view *blocks, uint32_t count, const gpump_cost_rewind *rewind,
                                                  const gpump_cost_options *options, gpump_cost_estimate *estimates, gpump_diag *diag) {
    uint64_t cpi[64], done = 0, memo_bytes = GPUMP_UNKNOWN, memo_cycles = 0;
    uint32_t first, i, source = options ? options->cpi : (uint32_t)GPUMP_COST_CPI_SMALLER_DEVIATION, flags = options ? options->flags : 0;
    if (!gpu || (count && (!blocks || !estimates))) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "gpu, blocks or estimates", 0, 0, 1, UINT64_MAX);
    if (count > 64) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "count", 0, count, 0, 64);
    if (source >= GPUMP_COST_CPI_SOURCES) return gpumpi_fail(diag, GPUMP_ERROR_ARGUMENT, "options.cpi", 0, source, 0, GPUMP_COST_CPI_SOURCES - 1);
    /* Kernel by kernel: all that is averaged is averaged over the blocks of one kernel on this SM. */
    for (first = 0; first < count; first++) {
        const gpump_cost_history *history;
        gpumpi_cost_running running = {0, 0, 0, 0, 0};
        uint64_t instructions = GPUMP_UNKNOWN, longest, finished_cpi = GPUMP_UNKNOWN, ipc, last = 0;
        uint32_t kernel = blocks[first].kernel, use = source;
        if (done >> first & 1u) continue;
        history = histories && kernel < history_count ? &histories[kernel] : NULL;
        if (history && history->finished == 0) history = NULL;
        for (i = first; i < count; i++) {
            if (blocks[i].kernel != kernel) continue;
            cpi[i] = gpump_cost_cpi_of(blocks[i].executed, blocks[i].cycles);
            gpumpi_cost_add(&running, blocks[i].executed, blocks[i].cycles, cpi[i]);
        }
        if (use == GPUMP_COST_CPI_SMALLER_DEVIATION) use = gpumpi_cost_source(history, &running);
        if (history) {
            uint32_t n = gpump_cost_history_count(history);
            instructions = gpump_cost_history_instructions(history);
            finished_cpi = (history->cpi_sum + n - 1) / n;
        }
        longest = instructions;
        for (i = 0; history && (flags & GPUMP_COST_DRAIN_CAREFUL) && i < gpump_cost_history_count(history); i++)
            if (history->instructions[i] > longest) longest = history->instructions[i];
        /* Warp instructions per cycle of a block, Q16.16: the mean over the kernel's blocks here. */
        ipc = gpump_cost_cpi_of(running.cycles, running.executed);
        for (i = first; i < count; i++) {
            const gpump_block_view *block = &blocks[i];
            gpump_cost_estimate *e = &estimates[i];
            uint64_t pace, left, length = block->may >> GPUMP_TECHNIQUE_FLUSH & 1u ? instructions : longest;
            if (block->kernel != kernel) continue;
            done |= (uint64_t)1 << i;
            e->latency[GPUMP_TECHNIQUE_FLUSH] = 0;
            e->overhead[GPUMP_TECHNIQUE_FLUSH] = block->executed;
            if (block->context_bytes != memo_bytes) {
                memo_bytes = block->context_bytes;
                memo_cycles = gpump_gpu_save_cycles(gpu, memo_bytes);
            }
            e->latency[GPUMP_TECHNIQUE_SWITCH] = memo_cycles;
            e->overhead[GPUMP_TECHNIQUE_SWITCH] = gpumpi_cost_times(gpump_add_saturated(memo_cycles, memo_cycles), ipc);
            pace = use == GPUMP_COST_CPI_RUNNING ? cpi[i] : use == GPUMP_COST_CPI_FINISHED ? finished_cpi : GPUMP_UNKNOWN;
            left = length == GPUMP_UNKNOWN ? GPUMP_UNKNOWN : length > block->executed ? length - block->executed : 0;
            e->latency[GPUMP_TECHNIQUE_DRAIN] = gpumpi_cost_times(left, pace);
            e->overhead[GPUMP_TECHNIQUE_DRAIN] = 0;
            if (e->latency[GPUMP_TECHNIQUE_DRAIN] == GPUMP_UNKNOWN) e->overhead[GPUMP_TECHNIQUE_DRAIN] = GPUMP_UNKNOWN;
            e->latency[GPUMP_TECHNIQUE_REWIND] = e->overhead[GPUMP_TECHNIQUE_REWIND] = GPUMP_UNKNOWN;
            if (rewind) {
                uint64_t cycles = gpump_gpu_save_cycles(gpu, rewind[i].bytes);
                e->latency[GPUMP_TECHNIQUE_REWIND] = cycles;
                e->overhead[GPUMP_TECHNIQUE_REWIND] =
                    gpump_add_saturated(rewind[i].executed, gpumpi_cost_times(gpump_add_saturated(cycles, cycles), ipc));
            }
        }
        if (flags & GPUMP_COST_DRAIN_LOSES) {
            /* The last of those that can be drained in time ends the wait; until then the slots of the others are idle. */
            for (i = first; i < count; i++) {
                uint64_t latency = blocks[i].kernel == kernel ? estimates[i].latency[GPUMP_TECHNIQUE_DRAIN] : GPUMP_UNKNOWN;
                if (latency != GPUMP_UNKNOWN && latency <= options->limit_cycles && latency > last) last = latency;
            }
            for (i = first; i < count; i++) {
                uint64_t latency = blocks[i].kernel == kernel ? estimates[i].latency[GPUMP_TECHNIQUE_DRAIN] : GPUMP_UNKNOWN;
                if (latency < last) estimates[i].overhead[GPUMP_TECHNIQUE_DRAIN] = gpumpi_cost_times(last - latency, ipc);
            }
        }
    }
    return GPUMP_OK;
}

GPUMP_API uint64_t gpump_cost_port(const uint64_t *cycles, uint32_t count, uint32_t *order, uint64_t *finish) {
    uint64_t now = 0;
    uint32_t i, j;
    for (i = 0; i < count; i++) {
        for (j = i; j > 0 && cycles[order[j - 1]] > cycles[i]; j--) order[j] = order[j - 1];
        order[j] = i;
    }
    for (i = 0; i < count; i++) {
        now = gpump_add_saturated(now, cycles[order[i]]);
        finish[order[i]] = now;
    }
    return now;
}
