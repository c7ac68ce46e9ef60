/* config: the configuration of the mini-GPU: a gpump_gpu preset, and what the preset leaves open (latencies, caches,
 * queues). */
#ifndef MINIGPU_CONFIG_H
#define MINIGPU_CONFIG_H

#include <stdint.h>

#include "gpump_once.h"
#include "ptx/instruction.h"

#define SEGMENT_BYTES 128u /* bytes of a coalescing segment, a cache line, and a transfer of a save or restore */
#define SMS_MAX 1024u
#define CONFIG_LANES 32u       /* of a warp */
#define WARP_SLOTS_MAX 64u     /* warps of one SM: they fit one 64-bit mask */
#define BLOCK_WARPS_MAX 64u    /* warps of one block */
#define WINDOW_CYCLES_MAX 128u /* longest window (machine/window.h) */

/* tests/minigpu/own_memory.sh and own_l1.sh name longer lists. */
#ifndef MEMORY_MODELS_LIST
#define MEMORY_MODELS_LIST "launch/memory_models.def"
#endif
#ifndef L1_MODELS_LIST
#define L1_MODELS_LIST "launch/l1_models.def"
#endif

typedef enum memory_model_number {
#define MEMORY_MODEL(name) MEMORY_MODEL_##name,
#include MEMORY_MODELS_LIST
#undef MEMORY_MODEL
    MEMORY_MODELS
} memory_model_number;

typedef enum l1_model_number {
#define L1_MODEL(name) L1_MODEL_##name,
#include L1_MODELS_LIST
#undef L1_MODEL
    L1_MODELS
} l1_model_number;

typedef enum scheduler_policy { SCHEDULER_GTO, SCHEDULER_LRR } scheduler_policy;

/* When the scoreboard releases the sources of an instruction, so that a later instruction may overwrite them. */
typedef enum source_release {
    RELEASE_AT_OPERAND_READ,
    RELEASE_AT_LAST_CHECK,
    RELEASE_AT_COMMIT,
    RELEASE_WHEN_ALLOWED /* as a replay queue decides: at operand read, or with the last check (not configurable) */
} source_release;

/* The form in which SMs run (machine/sm_form.h). */
typedef enum sm_form {
    SM_FORM_FASTEST, /* the fastest form that suffices for the machine on this processor */
    SM_FORM_GENERAL, /* for any processor, as is the next */
    SM_FORM_PLAIN
} sm_form;

/* Every number beyond gpump_gpu's: X(name, default, unit, provenance, source). */
/* clang-format off */
#define MINIGPU_NUMBERS(X) \
    X(kernels_per_sm, 1, "kernels", ASSUMED, "Tanasic 5.2: one kernel on an SM; dual-kernel machines set 2") \
    X(scheduler, SCHEDULER_GTO, "scheduler_policy", PUBLISHED, "Shieh Table 4.1: GTO; gtx480_lin uses round-robin") \
    X(issue_queue_entries, 0, "instructions", PUBLISHED, \
      "out-of-order issue: of an SM between fetch and issue (Tanasic Table 6.1: 96); 0: in order") \
    X(issue_instructions, 2, "instructions", PUBLISHED, \
      "issue_queue_entries: that issue per cycle, from one or two warps (Tanasic Table 6.1)") \
    X(fetch_instructions, 2, "instructions", ASSUMED, \
      "issue_queue_entries: of one warp that are fetched per cycle, its line (Tanasic 4.2.2)") \
    X(sources_released, RELEASE_AT_OPERAND_READ, "source_release", ASSUMED, "Tanasic 6.3 describes all three") \
    X(fetch_cycles, 2, "cycles", ASSUMED, \
      "from a resolved branch until its target may issue; instructions always hit") \
    X(operand_read_cycles, 2, "cycles", ASSUMED, "from issue until the operands are captured; no bank conflicts") \
    X(issue_interval, 1, "cycles", ASSUMED, \
      "between two warp instructions of one scheduler; igpu4: 4, its pipelines are 8 wide (Menon 5.1)") \
    X(block_start_cycles, 0, "cycles", ASSUMED, \
      "from the placement of a new block until it may issue; docs/silicon.md has 268 to 363 for eight devices") \
    X(half_wavefronts, 0, "flag", ASSUMED, \
      "1: a wavefront of 64 lanes runs as two warps of 32; 0: presets of 64 lanes are refused") \
    X(board_clock_khz, 0, "kHz", PUBLISHED, "clock of the measured board; 0: the preset's") \
    X(board_memory_mb_per_s, 0, "MB/s", PUBLISHED, \
      "DRAM bandwidth of the simulated SMs as measured on the board; 0: the preset's") \
    X(alu_cycles, 8, "cycles", ASSUMED, "dependent issue on Fermi takes about 18 hot clocks in all") \
    X(sfu_cycles, 20, "cycles", ASSUMED, "special functions") \
    X(divide_cycles, 60, "cycles", ASSUMED, \
      "divisions and square roots that round correctly: a short program on real machines") \
    X(double_cycles, 16, "cycles", ASSUMED, "64-bit floating point") \
    X(control_cycles, 2, "cycles", ASSUMED, "branches, barriers, ends") \
    X(sfu_interval, 8, "cycles", DERIVED, "4 special function units for 32 lanes (Fermi)") \
    X(divide_interval, 16, "cycles", ASSUMED, "as above, twice through the unit") \
    X(double_interval, 2, "cycles", DERIVED, "16 lanes for 32 threads (Fermi)") \
    X(shared_cycles, 20, "cycles", ASSUMED, "shared memory without conflicts") \
    X(constant_cycles, 12, "cycles", ASSUMED, "constants and parameters: always in their cache") \
    X(l1_cycles, 20, "cycles", ASSUMED, "L1 hit") \
    X(l1_bytes, 16384, "bytes", PUBLISHED, "Fermi: 16 KB of L1 beside 48 KB of shared memory") \
    X(l1_ways, 4, "ways", ASSUMED, "GPGPU-Sim's GTX480") \
    X(l1_model, 0, "model", ASSUMED, "0: set-associative, the least recently used line gives way") \
    X(local_write_back, 1, "flag", PUBLISHED, \
      "Fermi: L1 keeps what is stored to local memory until its line is needed; 0: through, as for global memory") \
    X(l1_misses, 32, "lines", PUBLISHED, "misses in flight per SM; GPGPU-Sim's GTX480 (gpgpu_cache:dl1 A:32:8,8)") \
    X(l1_merges, 8, "loads", PUBLISHED, "that wait for the same line; as above") \
    X(miss_queue_entries, 8, "requests", PUBLISHED, "per kernel and SM, before the network; as above") \
    X(network_cycles, 60, "cycles", ASSUMED, "one way") \
    X(network_bytes_per_cycle, 32, "bytes", ASSUMED, \
      "per SM and direction; gtx480_shieh 16: GPGPU-Sim's network has half the printed clock") \
    X(network_flit_bytes, 32, "bytes", PUBLISHED, "GPGPU-Sim's GTX480 (flit_size)") \
    X(network_input_flits, 17, "flits", PUBLISHED, \
      "per SM, before the crossbar: GPGPU-Sim's default of 9, and 8 of vc_buf_size") \
    X(network_output_flits, 24, "flits", PUBLISHED, \
      "per L2 bank, behind it: 8 of vc_buf_size and GPGPU-Sim's default boundary_buffer_size of 16") \
    X(l2_cycles, 60, "cycles", ASSUMED, "L2 access") \
    X(l2_bytes, 786432, "bytes", PUBLISHED, "Fermi: 768 KB") \
    X(l2_ways, 8, "ways", ASSUMED, "GPGPU-Sim's GTX480") \
    X(l2_random, 0, "flag", ASSUMED, \
      "memory_model 0: a line of the set gives way by chance; 0: the least recently used one") \
    X(l2_banks, 12, "banks", ASSUMED, "two per memory channel; one access takes two cycles") \
    X(l2_queue_entries, 8, "requests", PUBLISHED, \
      "per bank; GPGPU-Sim's default (gpgpu_dram_partition_queues 8:8:8:8)") \
    X(llc_bytes, 0, "bytes", PUBLISHED, \
      "memory_model 0: last-level cache between L2 and DRAM, with the ways of L2; 0: there is none") \
    X(llc_cycles, 0, "cycles", PUBLISHED, "memory_model 0: beyond L2, a load that hits the last-level cache") \
    X(dram_channels, 6, "channels", PUBLISHED, "Shieh Table 4.1") \
    X(dram_groups, 1, "groups", ASSUMED, \
      "memory_model 0: bank groups of a channel, over which lines are hashed, each at its share of the bandwidth; " \
      "1: line after line; docs/silicon.md has 4 for eight devices") \
    X(dram_queue_entries, 32, "requests", PUBLISHED, \
      "per channel: 16 in GPGPU-Sim's scheduler (gpgpu_frfcfs_dram_sched_queue_size), " \
      "8 on the way from each of two banks") \
    X(dram_cycles, 200, "cycles", ASSUMED, "beyond L2; the bandwidth is gpump_gpu.memory_mb_per_s") \
    X(memory_model, 0, "model", ASSUMED, \
      "0: the whole way of a request is computed when it leaves its SM; 1: queued, event driven; maxwell_*: 1") \
    X(network_khz, 0, "kHz", PUBLISHED, \
      "memory_model 1: of network and L2; 0: a flit takes network_flit_bytes / network_bytes_per_cycle SM cycles") \
    X(l2_load_cycles, 0, "cycles", PUBLISHED, \
      "memory_model 1: a load that hits an idle L2, from issue to use; 0: what the parts add up to") \
    X(dram_load_cycles, 0, "cycles", PUBLISHED, "memory_model 1: likewise, a load that misses L2") \
    X(l2_hashed, 1, "flag", ASSUMED, "memory_model 1: banks by an exclusive or of all line bits; 0: linear") \
    X(l2_port_bytes, 32, "bytes", ASSUMED, "memory_model 1: of a bank's data port, per network cycle") \
    X(l2_mshrs, 32, "lines", PUBLISHED, "memory_model 1: misses in flight per bank; GPGPU-Sim's GTX480 (dl2 A:32:4)") \
    X(l2_merges, 4, "requests", PUBLISHED, "memory_model 1: that wait for the same line; as above") \
    X(l2_reply_entries, 8, "replies", PUBLISHED, \
      "memory_model 1: per bank, before the network; GPGPU-Sim's default (gpgpu_dram_partition_queues)") \
    X(l2_store_fetches, 0, "flag", ASSUMED, \
      "memory_model 1: a store of a part of an absent line reads it first; 0: L2 keeps a mask of bytes") \
    X(dram_bytes_per_cycle, 32, "bytes", ASSUMED, \
      "memory_model 1: of a channel, per command clock cycle, which follows from the bandwidth") \
    X(dram_idle_cycles, 0, "cycles", ASSUMED, \
      "memory_model 1: of a channel's data bus after each line; maxwell_ccbp: 4 after 8, so that two thirds of the " \
      "peak can be sustained (Lin 4.3.2: 60 to 70%)") \
    X(l1_tlb_entries, 0, "pages", PUBLISHED, "per SM (Tanasic Table 6.1: 32); 0: no TLBs, translation takes no time") \
    X(l1_tlb_ways, 8, "ways", PUBLISHED, "Tanasic Table 6.1") \
    X(l1_tlb_misses, 32, "pages", ASSUMED, "missed and not yet answered, per SM") \
    X(l2_tlb_entries, 1024, "pages", PUBLISHED, "for all SMs (Tanasic Table 6.1); 0: misses go to the walkers") \
    X(l2_tlb_ways, 8, "ways", PUBLISHED, "Tanasic Table 6.1") \
    X(l2_tlb_misses, 128, "pages", PUBLISHED, "Tanasic Table 6.1") \
    X(l2_tlb_cycles, 70, "cycles", PUBLISHED, "Tanasic Table 6.1") \
    X(page_walkers, 64, "walkers", PUBLISHED, "Tanasic Table 6.1") \
    X(page_walk_cycles, 500, "cycles", PUBLISHED, "Tanasic Table 6.1") \
    X(thread_registers, 63, "registers", PUBLISHED, \
      "the most a thread can have on Fermi; 255 on later machines; 0: as many as the PTX names") \
    X(schedule_window, 0, "places", ASSUMED, \
      "an instruction may start so many places earlier, as a compiler for a real GPU starts loads early " \
      "(16 did best beside ptxas); 0: the order of the PTX file") \
    X(in_flight_records, 256, "instructions", ASSUMED, "in flight per SM") \
    X(memory_queue_entries, 5, "instructions", PUBLISHED, \
      "issued, and not all sent: GPGPU-Sim's GTX480 has two collectors, two pipeline registers " \
      "and the unit's own") \
    X(read_set_segments, 2048, "segments", ASSUMED, \
      "per resident block; a block that touches more counts as clobbered on its next store") \
    X(static_flush, 1, "flag", PUBLISHED, \
      "Shieh 4.1: the compiler says what makes a block unfit to be flushed; 0: each block is watched") \
    X(saved_blocks_per_slot, 4, "contexts", ASSUMED, \
      "saved contexts the machine has room for, per block slot of all SMs") \
    X(resume_elsewhere, 1, "flag", ASSUMED, "a preempted block goes to another SM than it left, where there is one") \
    X(overwrite_freed, 1, "flag", ASSUMED, \
      "freed registers and shared memory are overwritten, so that nothing survives there by accident") \
    X(exception_cycles, 400, "cycles", ASSUMED, "from an exception of arithmetic until its warp goes on") \
    X(emulation_cycles, 400, "cycles", ASSUMED, "one instruction emulated for all its lanes, and its trap") \
    X(step_cycles, 8, "cycles", ASSUMED, "of each lane when a warp executes in single steps") \
    X(instruction_bytes, 8, "bytes", ASSUMED, "of code: where its pages begin and end (--absent code); Fermi's") \
    X(page_service_cycles, 14000, "cycles", ASSUMED, \
      "from the call of the fault handler until the page is there: 20 us over PCIe at 700 MHz") \
    X(print_bytes, 1048576, "bytes", PUBLISHED, "of text that kernels print: CUDA's cudaLimitPrintfFifoSize") \
    X(heap_bytes, 8388608, "bytes", PUBLISHED, "of malloc on the device: CUDA's cudaLimitMallocHeapSize") \
    X(switch_stalls, 0, "model", PUBLISHED, \
      "0: the bytes of a switched block travel; 1: the block stalls for the estimate of its switch instead (Shieh " \
      "4.1); 2: for one cycle (Tanasic Fig. 6.13)") \
    X(sm_form, SM_FORM_FASTEST, "sm_form", ASSUMED, \
      "0: the fastest form of the SMs' code; 1: the general one; 2: none for AVX2 alone; changes nothing else") \
    X(skip_idle, 1, "flag", ASSUMED, "cycles in which nothing can happen are skipped; changes nothing else") \
    X(watchdog_cycles, 2000000, "cycles", ASSUMED, \
      "without any progress: the machine stops and says who waits for what")
/* clang-format on */

typedef struct minigpu_config {
    gpump_gpu gpu;
    char preset[32];
#define MINIGPU_FIELD(name, value, unit, provenance, source) uint32_t name;
    MINIGPU_NUMBERS(MINIGPU_FIELD)
#undef MINIGPU_FIELD
} minigpu_config;

/* Fills *config with a gpump preset and the defaults above. Returns 0, or -1 for an unknown preset. */
int minigpu_config_preset(minigpu_config *config, const char *preset);
/* Returns the clock of network and L2, kHz. */
uint32_t minigpu_config_network_khz(const minigpu_config *config);
/* For SMs that advance side by side (machine/window.h): the cycles of a window, which are half the network's shortest
 * latency, and no more than the way to the L2 TLB and than a page walk; and the flits that leave an SM's port while a
 * credit returns to the SM. */
uint32_t minigpu_config_window_cycles(const minigpu_config *config);
uint32_t minigpu_config_credit_flits(const minigpu_config *config);
/* Puts the board's clock and bandwidth, where they are given, in the place of the preset's, and with half_wavefronts
 * two warps of 32 lanes in the place of a wavefront of 64. */
void minigpu_config_use_board(minigpu_config *config);
/* Checks a configuration. Returns NULL, or the error. */
const char *minigpu_config_check(const minigpu_config *config);

/* Sets several numbers, each once: "NAME=VALUE,NAME=VALUE". Returns 0, or -1 with a sentence in error that begins with
 * the rejected entry. */
int minigpu_config_set_list(minigpu_config *config, const char *list, char *error, size_t bytes);
/* Returns 1 if such a list has a number of that name in front of `end`, the start of one of its entries. */
int minigpu_config_named(const char *list, const char *end, const char *name);
/* Sets the least and the greatest value that a number may have by itself. */
void minigpu_config_range(const char *name, uint32_t *least, uint32_t *most);
/* Sets one of the numbers by its name. Returns 0, or -1 for an unknown name. */
int minigpu_config_set(minigpu_config *config, const char *name, uint32_t value);

typedef struct minigpu_number {
    const char *name, *unit, *source;
    gpump_provenance provenance;
    uint64_t value;
} minigpu_number;
/* Describes the index-th number of a configuration. Returns 0, or -1 past the last. */
int minigpu_config_number(const minigpu_config *config, uint32_t index, minigpu_number *number);

#endif
