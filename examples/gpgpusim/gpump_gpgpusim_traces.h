// What a block is made of in Accel-Sim's trace mode: the same as in gpump_gpgpusim_blocks.h, but for the functional
// state, of which there is none: per warp its trace, the cursor in it, the lanes that have ended, and its groups of
// asynchronous copies. Nothing of the simulator is in this file: its classes come as the types of `Traces`, a struct of
// your own:
//
//   struct traces {
//       typedef simulator port;                // the struct of gpump_gpgpusim_blocks.h
//       typedef trace_shd_warp_t warp;         // has warp_traces and trace_pc
//       typedef trace_kernel_info_t kernel;    // has traces_back, a member that you add
//       typedef std::vector<inst_trace_t> trace;
//   };
//
// shd_warp_t and trace_shd_warp_t name gpump_gpgpusim_traces<traces> as a friend.
#ifndef GPUMP_GPGPUSIM_TRACES_H
#define GPUMP_GPGPUSIM_TRACES_H

#include "gpump_gpgpusim_blocks.h"

// The traces of a block that comes back go to its warps (trace_kernel_info_t::get_next_threadblock_traces, first).
// Returns false when no block comes back: the caller reads those of the next block.
template <class Trace> bool gpump_gpgpusim_traces_back(std::vector<Trace> &from, const std::vector<Trace *> &to) {
    if (from.empty()) return false;
    for (size_t i = 0; i < to.size(); i++) to[i]->swap(from[i]);
    from.clear();
    return true;
}

template <class Traces> class gpump_gpgpusim_traces : public gpump_gpgpusim_blocks<typename Traces::port> {
    typedef gpump_gpgpusim_blocks<typename Traces::port> blocks;
    typedef typename blocks::aside_block aside_block;
    typedef typename blocks::slot_range slot_range;
    typedef typename Traces::port::core core_type;
    typedef typename Traces::port::kernel kernel_type;
    typedef typename Traces::warp warp_type;

    // The groups of asynchronous copies of a warp (LDGSTS, LDGDEPBAR, DEPBAR).
    struct copy_groups {
        unsigned count, last_awaited, not_awaited;
        bool waiting;
        decltype(warp_type::m_ldgdepbar_buf) copies; // by group
    };
    struct traced_block : aside_block {
        std::vector<typename Traces::trace> traces; // one per warp, as the next four
        std::vector<copy_groups> groups;
        std::vector<size_t> cursors;
        std::vector<uint64_t> pcs;
        std::vector<std::vector<bool>> running; // lanes
    };

    static warp_type *warp_at(core_type *core, unsigned w) {
        return static_cast<warp_type *>(blocks::warp_of(core, w));
    }
    // Moves the groups between a warp and a block that is off the chip.
    static void swap_groups(warp_type *warp, copy_groups &groups) {
        std::swap(warp->m_ldgdepbar_id, groups.count);
        std::swap(warp->m_depbar_start_id, groups.last_awaited);
        std::swap(warp->m_depbar_group, groups.not_awaited);
        std::swap(warp->m_waiting_ldgsts, groups.waiting);
        warp->m_ldgdepbar_buf.swap(groups.copies);
    }
    // Empties the instruction buffer. Returns the cursor behind the last instruction that was issued.
    static size_t unfetch(warp_type *warp) {
        size_t cursor = warp->trace_pc;
        for (unsigned left = warp->num_inst_in_buffer(); left; warp->ibuffer_step()) {
            if (!warp->ibuffer_next_valid()) continue;
            if (warp->ibuffer_next_inst()) cursor--;
            delete warp->ibuffer_next_inst();
            warp->ibuffer_free();
            warp->dec_inst_in_pipeline();
            left--;
        }
        return cursor;
    }

  protected:
    aside_block *functional_out(core_type *core, uint32_t, unsigned, const slot_range &range) {
        traced_block *aside = new traced_block;
        aside->traces.resize(range.warps), aside->running.resize(range.warps), aside->groups.resize(range.warps);
        for (unsigned i = 0; i < range.warps; i++) {
            warp_type *warp = warp_at(core, range.first_warp + i);
            size_t cursor = unfetch(warp);
            aside->cursors.push_back(cursor);
            aside->pcs.push_back(cursor < warp->warp_traces.size() ? warp->warp_traces[cursor].m_pc : 0);
            aside->traces[i].swap(warp->warp_traces);
            swap_groups(warp, aside->groups[i]);
            for (size_t lane = 0; lane < warp->m_active_threads.size(); lane++)
                aside->running[i].push_back(warp->m_active_threads.test(lane));
        }
        return aside;
    }
    void functional_in(kernel_type *kernel, aside_block *aside) {
        static_cast<typename Traces::kernel *>(kernel)->traces_back.swap(static_cast<traced_block *>(aside)->traces);
    }
    bool has_ended(const core_type *, const aside_block *aside, unsigned i, unsigned lane) {
        return !static_cast<const traced_block *>(aside)->running[i][lane];
    }
    void go_on(core_type *core, unsigned w, aside_block *aside, unsigned i) {
        traced_block *block = static_cast<traced_block *>(aside);
        warp_at(core, w)->trace_pc = unsigned(block->cursors[i]);
        warp_at(core, w)->set_next_pc(block->pcs[i]);
        swap_groups(warp_at(core, w), block->groups[i]);
    }
    // A copy is in no pipeline and reserves no register: the unit for loads and stores counts it.
    bool copies(core_type *core, unsigned w) {
        auto &pending = blocks::memory_of(core)->m_pending_ldgsts[w];
        for (const auto &instruction : pending)
            for (const auto &address : instruction.second)
                if (address.second) return true;
        pending.clear(); // of counts that are 0, which the simulator keeps
        return false;
    }

  public:
    explicit gpump_gpgpusim_traces(typename Traces::port::gpu *gpu) : blocks(gpu) {}
    // The file has been read past this block: it starts again from the traces that it has.
    void *rewind(void *aside) {
        static_cast<aside_block *>(aside)->rewound = true;
        return aside;
    }
};

#endif
