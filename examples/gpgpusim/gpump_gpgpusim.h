// gpump in GPGPU-Sim: everything that a port would write again, and nothing of the simulator. The simulator's side
// implements gpump_gpgpusim_host (what a block is made of) and calls gpump_gpgpusim (the call sites); README.md says
// where each call goes. Blocks are named as the simulator names them: SM and hardware slot. Kernels are the host's own
// pointers, which the adapter compares and hands back.
#ifndef GPUMP_GPGPUSIM_H
#define GPUMP_GPGPUSIM_H

#include <stdint.h>
#include <stdio.h>
#include <string>
#include <vector>

// What a block that leaves may wait for; the same bits as gpump_sm_wait.
enum {
    GPUMP_GPGPUSIM_PIPELINE = 1, // instructions in flight, or an exit that is not yet registered
    GPUMP_GPGPUSIM_STORES = 2,
    GPUMP_GPGPUSIM_ATOMICS = 4,
    GPUMP_GPGPUSIM_INSTRUCTION_MISSES = 8, // an empty instruction buffer, or a fetch under way
    GPUMP_GPGPUSIM_SCOREBOARD = 16
};

// What the simulator's side does. Each call names an SM and a hardware slot of it, or a kernel.
class gpump_gpgpusim_host {
  public:
    virtual ~gpump_gpgpusim_host() {}
    // Returns what the warps of a block that issues nothing still wait for, bits of the enum above; 0: the state of the
    // block is complete, stays complete, and may be taken out. Asked once per cycle while a block leaves.
    virtual uint32_t waits(uint32_t sm, uint32_t slot) = 0;
    // Takes a block out of its slot, which is free afterwards. Returns the block's state, to be kept by the adapter.
    virtual void *set_aside(uint32_t sm, uint32_t slot) = 0;
    // Puts a block that was set aside into a free slot of an SM that runs `kernel`. placed() is called before it
    // returns.
    virtual void put_back(uint32_t sm, void *kernel, void *aside) = 0;
    // Throws away the state of a block that was set aside (a flush).
    virtual void squash(void *aside) = 0;
    // The same, where a block cannot be started from its number alone (a trace is read once): returns the block at its
    // beginning, for put_back(); NULL: start() makes it again.
    virtual void *rewind(void *aside) { return squash(aside), (void *)NULL; }
    // Starts block `index` of `kernel` from its beginning (after a flush). placed() is called before it returns.
    virtual void start(uint32_t sm, void *kernel, uint64_t index) = 0;
    // Gives an empty SM to `kernel`; `other_process`: caches that hold virtual addresses are stale.
    virtual void bind(uint32_t sm, void *kernel, bool other_process) = 0;
};

// The simulator's SMs, as its own configuration says.
struct gpump_gpgpusim_config {
    const char *preset;    // of gpump_preset: clock and memory bandwidth; "gtx480_lin"
    uint32_t sms;          // num_shader()
    uint32_t block_slots;  // max_cta_per_core; 1 to 32
    uint32_t warps;        // max_warps_per_shader
    uint32_t threads;      // n_thread_per_shader
    uint32_t registers;    // gpgpu_shader_registers
    uint32_t shared_bytes; // gpgpu_shmem_size
};

// A kernel launch. Threads and registers are given as the kernel has them: the adapter rounds them as max_cta() does,
// to whole warps and to multiples of 4 registers per thread.
struct gpump_gpgpusim_launch {
    void *kernel;           // kernel_info_t
    const void *function;   // named(): launches of one function share the history of finished blocks
    unsigned *returning;    // a counter in the kernel; while it is not 0, no_more_ctas_to_run() answers false
    uint64_t blocks;        // blocks of the grid
    uint32_t blocks_per_sm; // max_cta()
    uint32_t threads, registers_per_thread, shared_bytes; // of a block
    uint64_t stream; // kernels of one stream follow each other; a stream is a process to the scheduler
};

class gpump_gpgpusim {
  public:
    // `options` are words "name=value", separated by spaces; NULL: none, and nothing is ever preempted.
    //   stress=SEED        every 61 to 200 cycles a random SM, every block of it by a random technique
    //   urgent=STREAM      kernels of this stream preempt others
    //   sms=N              ... on so many SMs at most (all that the kernel can fill)
    //   policy=NAME        ... by this victim policy (chimera)
    //   limit=CYCLES       ... before this deadline (none)
    //   schedule=NAME      gpump_scheduler decides which kernel gets which SM: fcfs, ppq, dss, ...
    //   mechanism=NAME     ... and vacates an SM so: switch (the default), drain, select (`policy` and `limit` decide)
    //   priority=STREAM:N  ... priority of a stream; the default is 0, higher goes first
    //   arrive=STREAM:CYCLE  ... gets no kernel of this stream before this cycle, as if the CPU had launched it then
    // A mistake is told by error(); the object then does nothing.
    gpump_gpgpusim(const gpump_gpgpusim_config &config, gpump_gpgpusim_host *host, const char *options);
    ~gpump_gpgpusim();
    // Returns what is wrong, in words; NULL while all is well. After an error nothing more is preempted.
    const char *error() const;
    // Returns the same pointer for the same name of a function, for `function` of a launch.
    const void *named(const std::string &function);

    // ---- call sites, in the order of a cycle ----
    void launched(const gpump_gpgpusim_launch &launch); // gpgpu_sim::launch
    void finished(void *kernel);                        // gpgpu_sim::set_kernel_done
    void tick(uint64_t cycle);                          // gpgpu_sim::cycle, before issue_block2core
    // The kernel whose block the SM takes next, NULL for none; `kernel` is the simulator's own choice.
    void *choose(uint32_t sm, void *kernel) { return quiet ? kernel : choose_now(sm, kernel); }
    // 1: a block that comes back was put in, and the caller starts none of its own (shader_core_ctx::issue_block2core).
    bool take_back(uint32_t sm, void *kernel) { return quiet ? false : take_back_now(sm, kernel); }
    void placed(uint32_t sm, uint32_t slot, void *kernel, uint64_t index); // at the end of that function
    // 1: warps of this block must not issue (scheduler_unit::cycle).
    bool stopped(uint32_t sm, uint32_t slot) const { return hot[sm].stopped >> slot & 1; }
    // A warp instruction was executed; `instruction` is a warp_inst_t (shader_core_ctx::issue_warp).
    template <class Instruction> void issued(uint32_t sm, uint32_t slot, const Instruction &instruction) {
        hot[sm].executed[slot]++;
        if (instruction.isatomic())
            clobbered(sm, slot);
        else if ((instruction.is_load() || instruction.is_store()) && instruction.space.is_global())
            accesses(sm, slot, instruction);
    }
    void ended(uint32_t sm, uint32_t slot); // shader_core_ctx::register_cta_thread_exit, when no thread is left
    void end_of_cycle(uint32_t sm) {        // shader_core_ctx::cycle, last
        if (hot[sm].attention) carry_out(sm);
    }

    // Prints counters and, for each SM that was asked for, how long it took to vacate it beside the estimate.
    void report(FILE *out) const;
    // A counter of gpump_sm_statistics, summed over the SMs; 0 for an unknown name.
    uint64_t counter(const char *name) const;
    // The cycles that the slowest SM took until it was empty, of all requests that have been met; 0: none.
    uint64_t slowest_request() const;

  private:
    gpump_gpgpusim(const gpump_gpgpusim &);
    gpump_gpgpusim &operator=(const gpump_gpgpusim &);

    struct hot_sm {            // what the hot call sites read and write
        uint32_t stopped;      // bit per slot: may not issue
        uint32_t attention;    // not 0: end_of_cycle has something to do
        uint64_t executed[32]; // warp instructions not yet reported to gpump_sm, by slot
    };
    struct implementation;
    implementation *self;
    std::vector<hot_sm> hot;
    bool quiet; // nothing is away, asked for or scheduled

    void *choose_now(uint32_t sm, void *kernel);
    bool take_back_now(uint32_t sm, void *kernel);
    void carry_out(uint32_t sm);
    void clobbered(uint32_t sm, uint32_t slot);
    void accessed(uint32_t sm, uint32_t slot, uint64_t segment, uint32_t words, bool store);

    // Lanes that follow each other mostly touch the same 128-byte segment: it is looked up once.
    template <class Instruction> void accesses(uint32_t sm, uint32_t slot, const Instruction &instruction) {
        bool store = instruction.is_store(), vector = instruction.is_vectorin || instruction.is_vectorout;
        if (store && vector) return clobbered(sm, slot); // the instruction names the size of one element only
        uint32_t bytes = vector ? 4 * instruction.data_size : instruction.data_size;
        uint64_t segment = 0;
        uint32_t words = 0;
        for (unsigned lane = 0; lane < instruction.warp_size(); lane++) {
            if (!instruction.active(lane)) continue;
            uint64_t first = instruction.get_addr(lane), last = first + bytes - 1;
            for (uint64_t at = first & ~UINT64_C(3); at <= last; at += 4) {
                if (words && at >> 7 != segment) accessed(sm, slot, segment, words, store), words = 0;
                segment = at >> 7;
                words |= 1u << (at >> 2 & 31);
            }
        }
        if (words) accessed(sm, slot, segment, words, store);
    }
};

#endif
