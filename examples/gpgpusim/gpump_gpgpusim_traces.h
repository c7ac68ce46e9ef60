// What a block is made of in Accel-Sim's trace mode: the same as in gpump_gpgpusim_blocks.h, but for the functional
// state, of which there is none: per warp its trace, the cursor in it, and the lanes that have ended. Nothing of the
// simulator is in this file: its classes come as the types of `Traces`, a struct of your own:
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

    struct traced_block : aside_block {
        std::vector<typename Traces::trace> traces; // one per warp, as the next three
        std::vector<size_t> cursors;
        std::vector<uint64_t> pcs;
        std::vector<std::vector<bool>> running; // lanes
    };

    static warp_type *warp_at(core_type *core, unsigned w) {
        return static_cast<warp_type *>(blocks::warp_of(core, w));
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
        aside->traces.resize(range.warps), aside->running.resize(range.warps);
        for (unsigned i = 0; i < range.warps; i++) {
            warp_type *warp = warp_at(core, range.first_warp + i);
            size_t cursor = unfetch(warp);
            aside->cursors.push_back(cursor);
            aside->pcs.push_back(cursor < warp->warp_traces.size() ? warp->warp_traces[cursor].m_pc : 0);
            aside->traces[i].swap(warp->warp_traces);
            for (size_t lane = 0; lane < warp->m_active_threads.size(); lane++)
                aside->running[i].push_back(!warp->done_exit() && warp->m_active_threads.test(lane));
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
        const traced_block *block = static_cast<const traced_block *>(aside);
        warp_at(core, w)->trace_pc = unsigned(block->cursors[i]);
        warp_at(core, w)->set_next_pc(block->pcs[i]);
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
