// What a block is made of in GPGPU-Sim: gpump_gpgpusim_host, written once for every tree whose cores have the members
// that README.md lists ("What belongs to a block"). Nothing of the simulator is in this file: its classes come as the
// types of `Simulator`, a struct of your own:
//
//   struct simulator {
//       typedef gpgpu_sim gpu;
//       typedef shader_core_ctx core;
//       typedef kernel_info_t kernel;
//       typedef ptx_thread_info thread;
//       typedef simt_stack stack;
//       typedef warp_inst_t instruction;
//       typedef warp_set_t warp_set;
//       typedef dim3 index;
//       enum { barriers = MAX_BARRIERS_PER_CTA };
//       static core *core_of(gpu *, unsigned sm);
//       // Erases the entries of a slot in the functional simulator's maps.
//       static void detach(gpu *, unsigned sm, unsigned slot, unsigned first_thread, unsigned threads);
//   };
//
// The core, the kernel and the set of barriers name gpump_gpgpusim_blocks<simulator> as a friend.
#ifndef GPUMP_GPGPUSIM_BLOCKS_H
#define GPUMP_GPGPUSIM_BLOCKS_H

#include "gpump_gpgpusim.h"
#include <algorithm>

template <class Simulator> class gpump_gpgpusim_blocks : public gpump_gpgpusim_host {
    typedef typename Simulator::gpu gpu_type;
    typedef typename Simulator::core core_type;
    typedef typename Simulator::kernel kernel_type;
    typedef typename Simulator::stack stack_type;
    typedef typename Simulator::warp_set warp_set;

    gpu_type *gpu;

  protected:
    // A block that is off the chip.
    struct aside_block {
        aside_block() : rewound(false) {}
        virtual ~aside_block() {}
        bool rewound;                                            // at its beginning: nothing of what follows counts
        std::vector<typename Simulator::thread *> threads;       // registers, predicates, PC and call stack of each
        std::vector<stack_type *> stacks;                        // one per warp
        std::vector<typename Simulator::instruction> at_barrier; // the last barrier instruction of each warp
        std::vector<warp_set>
            barriers; // each barrier, warps active, warps at a barrier; bit 0 is the block's first warp
        std::vector<unsigned> reductions;
    };
    // The hardware warps and threads of a slot.
    struct slot_range {
        unsigned first_warp, warps, first_thread, threads;
    };

    // ---- the functional state, which execution at issue changes ----
    // Moves it out of a slot into a new aside_block.
    virtual aside_block *functional_out(core_type *core, uint32_t sm, unsigned slot, const slot_range &range) {
        aside_block *aside = new aside_block;
        for (unsigned thread = range.first_thread; thread < range.first_thread + range.threads; thread++) {
            aside->threads.push_back(core->m_thread[thread]);
            core->m_thread[thread] = NULL;
        }
        for (unsigned w = range.first_warp; w < range.first_warp + range.warps; w++) {
            aside->stacks.push_back(core->m_simt_stack[w]);
            core->m_simt_stack[w] = new stack_type(w, core->m_warp_size, gpu);
        }
        Simulator::detach(gpu, sm, slot, range.first_thread, range.threads);
        return aside;
    }
    // Hands it to the kernel, whose next block takes it.
    virtual void functional_in(kernel_type *kernel, aside_block *aside) {
        kernel->active_threads().assign(aside->threads.begin(), aside->threads.end());
    }
    // Lane `lane` of warp i has ended.
    virtual bool has_ended(const core_type *core, const aside_block *aside, unsigned i, unsigned lane) {
        unsigned thread = i * core->m_warp_size + lane;
        return thread >= aside->threads.size() || aside->threads[thread]->is_done();
    }
    // Gives warp i, now hardware warp w, its place in the program.
    virtual void go_on(core_type *core, unsigned w, aside_block *aside, unsigned i) {
        unsigned pc = 0, reconvergence = 0;
        delete core->m_simt_stack[w];
        core->m_simt_stack[w] = aside->stacks[i];
        if (core->m_warp[w]->functional_done()) return;
        core->m_simt_stack[w]->get_pdom_stack_top_info(&pc, &reconvergence);
        core->m_warp[w]->set_next_pc(pc);
    }
    // Asynchronous copies of warp w are under way, which no other count of the warp shows.
    virtual bool copies(core_type *, unsigned) { return false; }
    static auto warp_of(core_type *core, unsigned w) -> decltype(core->m_warp[w]) { return core->m_warp[w]; }
    static auto memory_of(core_type *core) -> decltype(core->m_ldst_unit) { return core->m_ldst_unit; }

  private:
    static slot_range range_of(const core_type *core, const kernel_type *kernel, unsigned slot) {
        slot_range range;
        range.threads = unsigned(kernel->threads_per_cta());
        range.warps = (range.threads + core->m_warp_size - 1) / core->m_warp_size;
        range.first_warp = slot * range.warps;
        range.first_thread = range.first_warp * core->m_warp_size;
        return range;
    }
    // All sets of warps that a core's barriers consist of, in a fixed order.
    template <class Set> static std::vector<warp_set *> barrier_sets(Set &barriers) {
        std::vector<warp_set *> sets;
        for (unsigned i = 0; i < barriers.m_max_barriers_per_cta; i++) sets.push_back(&barriers.m_bar_id_to_warps[i]);
        sets.push_back(&barriers.m_warp_active);
        sets.push_back(&barriers.m_warp_at_barrier);
        return sets;
    }
    static void end_thread(core_type *core, unsigned thread) {
        core->m_active_threads.reset(thread);
        core->m_not_completed--;
    }

  public:
    explicit gpump_gpgpusim_blocks(gpu_type *g) : gpu(g) {}

    uint32_t waits(uint32_t sm, uint32_t slot) {
        core_type *core = Simulator::core_of(gpu, sm);
        slot_range range = range_of(core, core->m_kernel, slot);
        uint32_t bits = 0;
        for (unsigned w = range.first_warp; w < range.first_warp + range.warps; w++) {
            if (!core->m_warp[w]->stores_done()) bits |= GPUMP_GPGPUSIM_STORES;
            if (copies(core, w)) bits |= GPUMP_GPGPUSIM_PIPELINE;
            if (core->m_warp[w]->done_exit()) continue;
            // A warp that has ended waits here until its exit is registered.
            if (core->m_warp[w]->functional_done() || core->m_warp[w]->num_issued_inst_in_pipeline())
                bits |= GPUMP_GPGPUSIM_PIPELINE;
            if (core->m_warp[w]->get_n_atomic()) bits |= GPUMP_GPGPUSIM_ATOMICS;
            bool fetching = core->m_inst_fetch_buffer.m_valid && core->m_inst_fetch_buffer.m_warp_id == w;
            if (core->m_warp[w]->ibuffer_empty() || core->m_warp[w]->imiss_pending() || fetching)
                bits |= GPUMP_GPGPUSIM_INSTRUCTION_MISSES;
            if (core->m_scoreboard->pendingWrites(w)) bits |= GPUMP_GPGPUSIM_SCOREBOARD;
        }
        return bits;
    }
    void *set_aside(uint32_t sm, uint32_t slot) {
        core_type *core = Simulator::core_of(gpu, sm);
        slot_range range = range_of(core, core->m_kernel, slot);
        aside_block *aside = functional_out(core, sm, slot, range);
        for (unsigned thread = range.first_thread; thread < range.first_thread + range.threads; thread++)
            if (core->m_active_threads.test(thread)) end_thread(core, thread);
        for (unsigned w = range.first_warp; w < range.first_warp + range.warps; w++) {
            aside->at_barrier.push_back(*core->m_warp[w]->restore_info_of_last_inst_at_barrier());
            if (!core->m_warp[w]->done_exit()) core->m_active_warps--;
            core->m_warp[w]->ibuffer_flush();
            core->m_warp[w]->reset();
        }
        warp_set own = core->m_barriers.m_cta_to_warps[slot];
        for (warp_set *set : barrier_sets(core->m_barriers)) {
            aside->barriers.push_back((*set & own) >> range.first_warp);
            *set &= ~own;
        }
        core->m_barriers.m_cta_to_warps.erase(slot);
        unsigned *reductions = core->reduction_storage[slot];
        aside->reductions.assign(reductions, reductions + Simulator::barriers);
        core->m_cta_status[slot] = 0;
        if (!--core->m_n_active_cta) core->m_kernel = NULL;
        return aside;
    }
    void put_back(uint32_t sm, void *kernel_, void *aside_) {
        core_type *core = Simulator::core_of(gpu, sm);
        kernel_type *kernel = static_cast<kernel_type *>(kernel_);
        aside_block *aside = static_cast<aside_block *>(aside_);
        unsigned slot = 0; // issue_block2core takes the first free one
        while (core->m_cta_status[slot]) slot++;
        functional_in(kernel, aside);
        start(sm, kernel, 0); // the block takes its state whatever its number
        if (!aside->rewound) put_back_warps(core, kernel, slot, aside);
        delete aside;
    }
    void squash(void *aside_) {
        aside_block *aside = static_cast<aside_block *>(aside_);
        for (typename Simulator::thread *thread : aside->threads) delete thread;
        for (stack_type *stack : aside->stacks) delete stack;
        delete aside;
    }
    void start(uint32_t sm, void *kernel_, uint64_t index) {
        kernel_type *kernel = static_cast<kernel_type *>(kernel_);
        typename Simulator::index next = kernel->m_next_cta, grid = kernel->m_grid_dim;
        kernel->m_next_cta.x = unsigned(index % grid.x);
        kernel->m_next_cta.y = unsigned(index / grid.x % grid.y);
        kernel->m_next_cta.z = unsigned(index / grid.x / grid.y);
        Simulator::core_of(gpu, sm)->issue_block2core(*kernel);
        kernel->dec_running(); // the block was counted when it started for the first time
        kernel->m_next_cta = next;
    }
    void bind(uint32_t sm, void *kernel, bool other_process) {
        core_type *core = Simulator::core_of(gpu, sm);
        core->set_kernel(static_cast<kernel_type *>(kernel));
        if (other_process) core->cache_invalidate();
    }

  private:
    // The block of a slot, which has been started from its beginning, gets the state of `aside`.
    void put_back_warps(core_type *core, kernel_type *kernel, unsigned slot, aside_block *aside) {
        slot_range range = range_of(core, kernel, slot);
        for (unsigned i = 0; i < range.warps; i++) put_back_warp(core, slot, range, i, aside);
        warp_set own = core->m_barriers.m_cta_to_warps[slot];
        std::vector<warp_set *> sets = barrier_sets(core->m_barriers);
        for (size_t i = 0; i < sets.size(); i++) *sets[i] = (*sets[i] & ~own) | aside->barriers[i] << range.first_warp;
        std::copy(aside->reductions.begin(), aside->reductions.end(), core->reduction_storage[slot]);
    }
    // A warp that has ended was registered before it left; while one lane runs, none of them is.
    void put_back_warp(core_type *core, unsigned slot, const slot_range &range, unsigned i, aside_block *aside) {
        unsigned w = range.first_warp + i, first = i * core->m_warp_size;
        unsigned lanes = std::min(unsigned(core->m_warp_size), range.threads - first);
        core->m_warp[w]->store_info_of_last_inst_at_barrier(&aside->at_barrier[i]);
        for (unsigned lane = 0; lane < lanes; lane++)
            if (has_ended(core, aside, i, lane)) core->m_warp[w]->set_completed(lane);
        if (core->m_warp[w]->functional_done()) {
            for (unsigned lane = 0; lane < lanes; lane++) end_thread(core, range.first_thread + first + lane);
            core->m_cta_status[slot] -= lanes;
            core->m_warp[w]->set_done_exit();
            core->m_active_warps--;
        }
        go_on(core, w, aside, i);
    }
};

#endif
