#include "launch/config.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lin 2019, Tables 3.1 and 4.1. */
static void set_maxwell(minigpu_config *config, int is_ccbp) {
    config->scheduler = is_ccbp ? SCHEDULER_LRR : SCHEDULER_GTO;
    config->memory_model = 1;
    config->l1_bytes = is_ccbp ? 24576 : 32768;
    config->l1_ways = 8;
    config->miss_queue_entries = 128; /* transaction queue entries: Table 4.1 */
    config->network_khz = 1200000;
    config->network_bytes_per_cycle = is_ccbp ? 21 : 38; /* 32 bytes at 1200 MHz, for memory_model 0 */
    config->network_cycles = 30;                         /* assumed */
    config->l2_banks = 16;
    config->l2_bytes = 16 * 131072;
    config->l2_ways = 8;
    config->l2_mshrs = 256;
    config->l2_merges = 8;         /* assumed */
    config->l2_reply_entries = 32; /* as l2_queue_entries */
    config->l2_load_cycles = 200;
    config->dram_load_cycles = is_ccbp ? 380 : 450;
    config->l2_cycles = 120; /* memory_model 0: what its parts leave of these totals */
    config->dram_cycles = config->dram_load_cycles - 200;
    config->dram_channels = 16;
    config->dram_bytes_per_cycle = 16;         /* 307 GB/s = 16 channels of 16 bytes at 1200 MHz */
    if (is_ccbp) config->dram_idle_cycles = 4; /* 8 of 12 cycles carry data: Lin 4.3.2 sustains 60 to 70% of the peak */
}

/* Tanasic 2016, Table 6.1. */
static void set_table61(minigpu_config *config) {
    config->issue_queue_entries = 96;
    config->l1_tlb_entries = 32;
    config->l1_cycles = 40;
    config->l1_bytes = 32768;
    config->l1_ways = 4;
    config->l1_misses = 32;
    config->l2_bytes = 2097152;
    config->l2_ways = 8;
    config->l2_banks = 16; /* assumed */
    config->l2_cycles = 70;
    config->l2_mshrs = 512 / 16;
    config->dram_cycles = 200;
    config->network_cycles = 1;        /* no latency is printed: it is that of the caches and of DRAM */
    config->memory_queue_entries = 64; /* assumed: as many as warps */
}

/* What a dependent load takes from issue to issue beyond l1_cycles, l2_cycles and two ways through the network. */
enum { L1_LOAD_REST = 4, L2_LOAD_REST = 9 };

/* Memory of newer GPUs. Loads: medians of pointer chases (bench/data/silicon.csv, rows M.lat.<device> that may set
 * parameters). Sizes: white papers. L1 is what the smallest choice of shared memory leaves, where a kernel needs at
 * least 1 KB of it (compute capability 8.0 and later), in 32 sets: V100 has 4 (Jia 2018), and 32 are looked up faster.
 * L1 of H100: fitted on M.lat.curve.gh200.256.9 and .h100pcie.264. L2 of A100 and H100 has two halves, and an SM caches
 * in its own. Banks: measured L2 bandwidth at 64 bytes per cycle (rows M.bw.<device>.l2); of V100 and A40 assumed. */
static const struct measured_memory {
    const char *preset;
    uint32_t l1_load_cycles, l2_load_cycles, dram_load_cycles, l1_kb, l1_ways, l2_mb, is_halved, l2_banks,
        dram_channels, llc_mb, llc_load_cycles; /* llc: between L2 and DRAM; 0: there is none */
} measured_memories[] = {
    {"v100", 28, 212, 426, 128, 32, 6, 0, 32, 32, 0, 0},
    {"a100", 33, 206, 551, 184, 46, 20, 1, 60, 40, 0, 0},
    {"h100", 32, 280, 682, 234, 8, 25, 1, 64, 40, 0, 0},
    {"gh200", 32, 280, 682, 234, 8, 25, 1, 64, 48, 0, 0},
    {"h200", 32, 280, 682, 234, 8, 25, 1, 64, 48, 0, 0},
    {"rtx4090", 36, 285, 569, 120, 30, 72, 0, 32, 12, 0, 0},
    {"l40", 34, 274, 624, 120, 30, 96, 0, 32, 12, 0, 0},
    {"a40", 33, 250, 547, 120, 30, 6, 0, 32, 12, 0, 0},
    {"mi100", 133, 266, 543, 16, 4, 8, 0, 32, 32, 0, 0},
    {"mi210", 129, 252, 587, 16, 4, 8, 0, 48, 32, 0, 0},
    {"mi300x", 119, 213, 887, 32, 4, 4, 0, 256, 128, 256, 458}, /* L2: of one of its eight dies */
    /* RX 6900 XT: L0, L2, and its 128 MB of last-level cache in the place of DRAM; the L1 of 128 KB between them is
     * left out. */
    {"gfx1030", 73, 221, 423, 16, 4, 4, 0, 16, 16, 0, 0},
};

static void set_measured(minigpu_config *config, const char *preset) {
    for (size_t i = 0; i < sizeof measured_memories / sizeof *measured_memories; i++) {
        const struct measured_memory *from = &measured_memories[i];
        if (strcmp(preset, from->preset) != 0) continue;
        config->l1_cycles = from->l1_load_cycles - L1_LOAD_REST;
        config->l2_cycles = from->l2_load_cycles - L2_LOAD_REST - 2 * config->network_cycles;
        config->dram_cycles = from->dram_load_cycles - from->l2_load_cycles;
        config->l1_bytes = from->l1_kb << 10;
        config->l1_ways = from->l1_ways;
        config->l2_bytes = from->l2_mb << 20;
        config->l2_ways = 16; /* assumed */
        config->l2_random = from->is_halved;
        config->l2_banks = from->l2_banks;
        config->dram_channels = from->dram_channels;
        config->llc_bytes = from->llc_mb << 20;
        if (from->llc_mb) config->llc_cycles = from->llc_load_cycles - from->l2_load_cycles;
        config->network_bytes_per_cycle = 64; /* of a V100's SM and later ones */
    }
}

int minigpu_config_preset(minigpu_config *config, const char *preset) {
    memset(config, 0, sizeof *config);
    if (gpump_preset(&gpump_gpu_component, &config->gpu, preset, NULL) != GPUMP_OK) return -1;
    snprintf(config->preset, sizeof config->preset, "%s", preset);
#define MINIGPU_DEFAULT(name, value, unit, provenance, source) config->name = value;
    MINIGPU_NUMBERS(MINIGPU_DEFAULT)
#undef MINIGPU_DEFAULT
    if (strncmp(preset, "gtx480", 6) != 0 && strcmp(preset, "igpu4") != 0) config->thread_registers = 255;
    if (config->thread_registers == 255) {
        /* GPGPU-Sim's SM3_KEPLER_TITAN: dl1 A:256:8,16; 8 collectors; partition queues 32:32:32:32; 64 in the memory
         * scheduler. */
        config->l1_misses = 256;
        config->miss_queue_entries = 16;
        config->memory_queue_entries = 11;
        config->l2_queue_entries = 32;
        config->dram_queue_entries = 128;
    }
    if (strncmp(preset, "maxwell", 7) == 0) set_maxwell(config, strcmp(preset, "maxwell_ccbp") == 0);
    if (strcmp(preset, "table61") == 0) set_table61(config);
    set_measured(config, preset);
    if (strcmp(preset, "gtx480_lin") == 0) config->scheduler = SCHEDULER_LRR;
    if (strcmp(preset, "gtx480_shieh") == 0) config->network_bytes_per_cycle = 16; /* 32 bytes at 700 MHz */
    if (strcmp(preset, "igpu4") == 0) {                                            /* Menon 5.1 */
        config->l1_bytes = 262144;
        config->issue_interval = 4;
    }
    return 0;
}

void minigpu_config_use_board(minigpu_config *config) {
    if (config->board_clock_khz) config->gpu.clock_khz = config->board_clock_khz;
    if (config->board_memory_mb_per_s) config->gpu.memory_mb_per_s = config->board_memory_mb_per_s;
    if (config->half_wavefronts && config->gpu.lanes == 2 * CONFIG_LANES) {
        gpump_gpu *gpu = &config->gpu;
        gpu->lanes = CONFIG_LANES;
        gpu->warp_slots = 2 * gpu->warp_slots < WARP_SLOTS_MAX ? 2 * gpu->warp_slots : WARP_SLOTS_MAX;
        if (gpu->thread_slots > gpu->warp_slots * CONFIG_LANES) gpu->thread_slots = gpu->warp_slots * CONFIG_LANES;
    }
}

uint32_t minigpu_config_network_khz(const minigpu_config *config) {
    if (config->network_khz) return config->network_khz;
    return (uint32_t)gpump_muldiv_up(config->gpu.clock_khz, config->network_bytes_per_cycle,
                                     config->network_flit_bytes);
}

uint32_t minigpu_config_window_cycles(const minigpu_config *config) {
    uint32_t cycles = config->network_cycles / 2;
    if (cycles > WINDOW_CYCLES_MAX) cycles = WINDOW_CYCLES_MAX;
    if (!config->l1_tlb_entries) return cycles;
    if (cycles > config->page_walk_cycles) cycles = config->page_walk_cycles;
    return config->l2_tlb_entries && cycles > config->l2_tlb_cycles ? config->l2_tlb_cycles : cycles;
}

uint32_t minigpu_config_credit_flits(const minigpu_config *config) {
    return (uint32_t)gpump_muldiv_up(config->network_cycles, minigpu_config_network_khz(config),
                                     config->gpu.clock_khz) +
           1;
}

/* Numbers with a range: least and most. */
/* clang-format off */
#define MINIGPU_RANGES(X) \
    X(kernels_per_sm, 1, 64) X(scheduler, 0, 1) X(sources_released, 0, 2) \
    X(issue_queue_entries, 0, 127) X(issue_instructions, 1, 16) X(fetch_instructions, 1, 16) \
    X(issue_interval, 1, 64) X(instruction_bytes, 1, 4096) X(sm_form, 0, 2) \
    X(fetch_cycles, 1, 4294967295) X(operand_read_cycles, 1, 4294967295) X(alu_cycles, 1, 4294967295) \
    X(block_start_cycles, 0, 16777215) \
    X(control_cycles, 1, 4294967295) X(watchdog_cycles, 1, 4294967295) \
    X(l1_bytes, 0, 268435456) X(l1_ways, 1, 4294967295) X(l1_misses, 1, 65536) X(l1_merges, 1, 4294967295) \
    X(miss_queue_entries, 1, 65536) X(memory_queue_entries, 1, 65536) X(read_set_segments, 16, 1048576) \
    X(network_bytes_per_cycle, 1, 65536) X(network_flit_bytes, 1, 65536) X(network_input_flits, 1, 65536) \
    X(network_output_flits, 1, 65536) X(l2_bytes, 0, 268435456) X(l2_ways, 1, 4294967295) \
    X(l2_banks, 1, 65536) X(l2_queue_entries, 1, 65536) X(l2_random, 0, 1) X(l2_port_bytes, 1, 65536) \
    X(l2_mshrs, 1, 65536) X(l2_merges, 1, 65536) X(l2_reply_entries, 1, 65536) X(l2_load_cycles, 0, 65536) \
    X(dram_load_cycles, 0, 65536) X(llc_bytes, 0, 536870912) X(llc_cycles, 0, 65536) X(half_wavefronts, 0, 1) \
    X(dram_channels, 1, 65536) X(dram_groups, 1, 64) X(dram_queue_entries, 1, 65536) \
    X(dram_bytes_per_cycle, 1, 4294967295) X(dram_idle_cycles, 0, 65536) X(schedule_window, 0, 65536) \
    X(saved_blocks_per_slot, 1, 64) X(switch_stalls, 0, 2)
/* clang-format on */

#define RANGE_TEXT(name, least, most) name " must be " least " to " most

static int is_outside(uint32_t value, uint32_t least, uint32_t most) { return value < least || value > most; }

/* Returns whether a TLB, which has `ways` of at least 1, may have so many entries; 0: there is no TLB. */
static int is_tlb(uint32_t entries, uint32_t ways) {
    const uint32_t sets = entries / ways;
    return !entries || (entries <= 65536 && ways <= 64 && sets * ways == entries && sets && !(sets & (sets - 1)));
}

const char *minigpu_config_check(const minigpu_config *config) {
    const gpump_gpu *gpu = &config->gpu;
    if (gpump_check(&gpump_gpu_component, gpu, NULL) != GPUMP_OK) return "the GPU's numbers contradict each other";
    if (gpu->lanes != CONFIG_LANES)
        return "the mini-GPU has warps of 32 lanes; half_wavefronts=1 halves wavefronts of 64";
    if (gpu->warp_slots > WARP_SLOTS_MAX) return "the mini-GPU has at most 64 warp slots per SM";
    if (gpu->sms > SMS_MAX) return "the mini-GPU has at most 1024 SMs";
#define MINIGPU_IN_RANGE(name, least, most) \
    if (is_outside(config->name, UINT32_C(least), UINT32_C(most))) return RANGE_TEXT(#name, #least, #most);
    MINIGPU_RANGES(MINIGPU_IN_RANGE)
#undef MINIGPU_IN_RANGE
    if (config->memory_model >= MEMORY_MODELS) {
        return "memory_model must be the number of one of these models, counted from 0:"
#define MEMORY_MODEL(name) " " #name
#include MEMORY_MODELS_LIST
#undef MEMORY_MODEL
            ;
    }
    if (config->l1_model >= L1_MODELS) {
        return "l1_model must be the number of one of these L1s, counted from 0:"
#define L1_MODEL(name) " " #name
#include L1_MODELS_LIST
#undef L1_MODEL
            ;
    }
    if (config->l1_bytes / SEGMENT_BYTES / config->l1_ways == 0 ||
        config->l2_bytes / SEGMENT_BYTES / config->l2_ways == 0) {
        return "a cache is smaller than one set";
    }
    if (config->read_set_segments & (config->read_set_segments - 1)) return "read_set_segments must be a power of two";
    if (config->l1_tlb_entries &&
        (!config->l1_tlb_ways || !config->l1_tlb_misses || !config->page_walkers || !config->page_walk_cycles ||
         config->l1_tlb_misses > 1024 ||
         (config->l2_tlb_entries && (!config->l2_tlb_ways || !config->l2_tlb_misses || !config->l2_tlb_cycles))))
        return "TLBs need ways, misses (1 to 1024), walkers and latencies of at least 1";
    if (config->l1_tlb_entries && (!is_tlb(config->l1_tlb_entries, config->l1_tlb_ways) ||
                                   (config->l2_tlb_entries && !is_tlb(config->l2_tlb_entries, config->l2_tlb_ways))))
        return "l1_tlb_entries and l2_tlb_entries must be their ways (1 to 64) times a power of two, at most 65536";
    if (config->in_flight_records < 2 * gpu->schedulers || config->in_flight_records > 4096)
        return "in_flight_records must be 2 per scheduler to 4096";
    return NULL;
}

int minigpu_config_set(minigpu_config *config, const char *name, uint32_t value) {
#define MINIGPU_SET(number, default_value, unit, provenance, source) \
    if (strcmp(name, #number) == 0) {                                \
        config->number = value;                                      \
        return 0;                                                    \
    }
    MINIGPU_NUMBERS(MINIGPU_SET)
#undef MINIGPU_SET
    return -1;
}

void minigpu_config_range(const char *name, uint32_t *least, uint32_t *most) {
    *least = 0;
    *most = UINT32_MAX;
#define MINIGPU_RANGE_OF(number, low, high) \
    if (strcmp(name, #number) == 0) {       \
        *least = low;                       \
        *most = UINT32_C(high);             \
    }
    MINIGPU_RANGES(MINIGPU_RANGE_OF)
#undef MINIGPU_RANGE_OF
    if (!strcmp(name, "memory_model")) *most = MEMORY_MODELS - 1;
    if (!strcmp(name, "l1_model")) *most = L1_MODELS - 1;
}

int minigpu_config_named(const char *list, const char *end, const char *name) {
    const size_t length = strlen(name);
    for (; list < end; list += strcspn(list, ",") + 1)
        if (!strncmp(list, name, length) && list[length] == '=') return 1;
    return 0;
}
/* Says what is wrong with the entry of a list at `entry`. Returns -1. */
static int refuse_entry(minigpu_config *config, const char *list, const char *entry, char *error, size_t bytes) {
    const int length = (int)strcspn(entry, ",="), whole = (int)strcspn(entry, ",");
    char name[64];
    uint32_t known;
    snprintf(name, sizeof name, "%.*s", length, entry);
    known = length < (int)sizeof name && !minigpu_config_set(config, name, 0);
    snprintf(error, bytes, "%.*s: %s", whole, entry,
             length == whole                           ? "needs NAME=VALUE"
             : minigpu_config_named(list, entry, name) ? "the number has a value already"
             : known                                   ? "the value must be a whole number from 0 to 4294967295"
                     : "the machine has no number of that name; minigpu --list config prints all");
    return -1;
}

int minigpu_config_set_list(minigpu_config *config, const char *list, char *error, size_t bytes) {
    const char *const whole = list;
    if (!*list) return refuse_entry(config, whole, list, error, bytes);
    while (*list) {
        const char *equals = strchr(list, '='), *comma = list + strcspn(list, ",");
        char name[64];
        char *end;
        unsigned long value;
        if (!equals || equals > comma || (size_t)(equals - list) >= sizeof name || equals[1] < '0' || equals[1] > '9')
            return refuse_entry(config, whole, list, error, bytes);
        memcpy(name, list, (size_t)(equals - list));
        name[equals - list] = 0;
        value = strtoul(equals + 1, &end, 10);
        if (end != comma || value > UINT32_MAX || minigpu_config_named(whole, list, name) ||
            minigpu_config_set(config, name, (uint32_t)value))
            return refuse_entry(config, whole, list, error, bytes);
        list = *comma ? comma + 1 : comma;
    }
    return 0;
}

int minigpu_config_number(const minigpu_config *config, uint32_t index, minigpu_number *number) {
    static const minigpu_number numbers[] = {
#define MINIGPU_ROW(name, value, unit, provenance, source) {#name, unit, source, GPUMP_PROVENANCE_##provenance, 0},
        MINIGPU_NUMBERS(MINIGPU_ROW)
#undef MINIGPU_ROW
    };
    static const size_t offsets[] = {
#define MINIGPU_OFFSET(name, value, unit, provenance, source) offsetof(minigpu_config, name),
        MINIGPU_NUMBERS(MINIGPU_OFFSET)
#undef MINIGPU_OFFSET
    };
    uint32_t value;
    if (index >= sizeof numbers / sizeof *numbers) return -1;
    *number = numbers[index];
    memcpy(&value, (const char *)config + offsets[index], sizeof value);
    number->value = value;
    return 0;
}
