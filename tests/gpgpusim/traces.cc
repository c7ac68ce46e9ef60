// examples/gpgpusim/gpump_gpgpusim_traces.h on a core with the members of Accel-Sim's: a block of two warps leaves in
// the middle of its trace, and comes back in another slot or from its beginning. Two instructions lie in the buffer,
// lane 3 has ended, the other warp waits at a barrier or has ended, asynchronous copies are under way: cursor, lanes,
// counters, barriers and groups of copies must be as they were.
#include "gpump_gpgpusim_traces.h"
#include <bitset>
#include <cstdio>
#include <list>
#include <map>

namespace {

enum { warp_lanes = 32, block_warps = 2, block_threads = 40, core_warps = 8 };
typedef std::bitset<core_warps> warp_bits;

struct fake_instruction {
    int number;
};
struct fake_thread {
    bool is_done() const { return false; }
};
struct fake_gpu;
struct fake_stack {
    fake_stack(unsigned, unsigned, fake_gpu *) {}
    void get_pdom_stack_top_info(unsigned *, unsigned *) const {}
};
struct fake_line { // inst_trace_t
    uint64_t m_pc;
};
struct fake_index {
    unsigned x, y, z;
};
struct fake_warp { // shd_warp_t and trace_shd_warp_t
    std::bitset<warp_lanes> m_active_threads;
    unsigned in_pipeline, next, trace_pc;
    bool exited;
    uint64_t pc;
    const fake_instruction *buffer[2];
    fake_instruction at_barrier;
    std::vector<fake_line> warp_traces;
    unsigned m_ldgdepbar_id, m_depbar_start_id, m_depbar_group;
    bool m_waiting_ldgsts;
    std::vector<std::vector<fake_instruction>> m_ldgdepbar_buf;
    fake_warp() : in_pipeline(0), next(0), trace_pc(0), exited(true), pc(0), buffer(), at_barrier() { no_copies(); }
    void no_copies() {
        m_ldgdepbar_id = m_depbar_start_id = m_depbar_group = 0, m_waiting_ldgsts = false, m_ldgdepbar_buf.clear();
    }
    bool stores_done() const { return true; }
    bool done_exit() const { return exited; }
    void set_done_exit() { exited = true; }
    bool functional_done() const { return m_active_threads.none(); }
    unsigned num_inst_in_buffer() const { return (buffer[0] != NULL) + (buffer[1] != NULL); }
    unsigned num_issued_inst_in_pipeline() const { return in_pipeline - num_inst_in_buffer(); }
    unsigned get_n_atomic() const { return 0; }
    bool ibuffer_empty() const { return !num_inst_in_buffer(); }
    bool imiss_pending() const { return false; }
    bool ibuffer_next_valid() const { return buffer[next] != NULL; }
    const fake_instruction *ibuffer_next_inst() const { return buffer[next]; }
    void ibuffer_free() { buffer[next] = NULL; }
    void ibuffer_step() { next = (next + 1) % 2; }
    void ibuffer_flush() { in_pipeline -= num_inst_in_buffer(), buffer[0] = buffer[1] = NULL; }
    void dec_inst_in_pipeline() { in_pipeline--; }
    void reset() { exited = true, next = 0, m_active_threads.reset(), no_copies(); }
    void set_completed(unsigned lane) { m_active_threads.reset(lane); }
    void set_next_pc(uint64_t to) { pc = to; }
    void store_info_of_last_inst_at_barrier(const fake_instruction *i) { at_barrier = *i; }
    fake_instruction *restore_info_of_last_inst_at_barrier() { return &at_barrier; }
    void fetch(int number) { // one instruction into the buffer
        buffer[number % 2] = new fake_instruction();
        in_pipeline++, trace_pc++;
    }
    void copy_groups(unsigned groups, unsigned last_awaited, unsigned not_awaited) { // and a warp that waits for them
        m_ldgdepbar_id = groups, m_depbar_start_id = last_awaited, m_depbar_group = not_awaited;
        m_waiting_ldgsts = true;
        m_ldgdepbar_buf.resize(groups, std::vector<fake_instruction>(2));
    }
    bool has_copy_groups(unsigned groups, unsigned last_awaited, unsigned not_awaited) const {
        return m_ldgdepbar_id == groups && m_depbar_start_id == last_awaited && m_depbar_group == not_awaited &&
               m_waiting_ldgsts == (groups > 0) && m_ldgdepbar_buf.size() == groups;
    }
};
struct fake_kernel {
    fake_index m_next_cta, m_grid_dim;
    std::list<fake_thread *> threads;
    std::vector<std::vector<fake_line>> traces_back;
    int running, blocks_read;
    size_t threads_per_cta() const { return block_threads; }
    std::list<fake_thread *> &active_threads() { return threads; }
    void dec_running() { running--; }
};
struct fake_barriers {
    unsigned m_max_barriers_per_cta;
    warp_bits m_bar_id_to_warps[2], m_warp_active, m_warp_at_barrier;
    std::map<unsigned, warp_bits> m_cta_to_warps;
};
struct fake_scoreboard {
    bool pendingWrites(unsigned) const { return false; }
};
struct fake_memory { // ldst_unit: copies under way by warp, instruction and address
    std::map<unsigned, std::map<unsigned, std::map<unsigned, unsigned>>> m_pending_ldgsts;
};
struct fake_buffer {
    bool m_valid;
    unsigned m_warp_id;
};
struct fake_core {
    fake_kernel *m_kernel;
    unsigned m_warp_size, m_cta_status[4], reduction_storage[4][2];
    int m_not_completed, m_active_warps, m_n_active_cta;
    fake_thread *m_thread[core_warps * warp_lanes];
    fake_stack *m_simt_stack[core_warps];
    std::vector<fake_warp *> m_warp;
    std::bitset<core_warps * warp_lanes> m_active_threads;
    fake_barriers m_barriers;
    fake_buffer m_inst_fetch_buffer;
    fake_scoreboard *m_scoreboard;
    fake_memory *m_ldst_unit;
    void set_kernel(fake_kernel *kernel) { m_kernel = kernel; }
    void cache_invalidate() {}
    // The first free slot gets a block from its beginning, from the file or from `traces_back`.
    void issue_block2core(fake_kernel &kernel) {
        unsigned slot = 0;
        std::vector<std::vector<fake_line> *> to;
        while (m_cta_status[slot]) slot++;
        m_kernel = &kernel, kernel.running++, m_cta_status[slot] = block_threads, m_n_active_cta++;
        for (unsigned i = 0; i < block_warps; i++) {
            unsigned w = slot * block_warps + i;
            fake_warp &warp = *m_warp[w];
            warp.exited = false, warp.trace_pc = 0, warp.warp_traces.clear(), warp.no_copies();
            to.push_back(&warp.warp_traces);
            for (unsigned lane = 0; lane < warp_lanes && i * warp_lanes + lane < block_threads; lane++)
                warp.m_active_threads.set(lane), m_active_threads.set(w * warp_lanes + lane), m_not_completed++;
            m_active_warps++;
            m_barriers.m_cta_to_warps[slot].set(w), m_barriers.m_warp_active.set(w);
        }
        if (!gpump_gpgpusim_traces_back(kernel.traces_back, to)) read(kernel, to);
        for (unsigned i = 0; i < block_warps; i++) m_warp[slot * block_warps + i]->pc = (*to[i])[0].m_pc;
    }
    static void read(fake_kernel &kernel, const std::vector<std::vector<fake_line> *> &to) {
        for (size_t i = 0; i < to.size(); i++)
            for (uint64_t line = 0; line < 9; line++) {
                fake_line one = {uint64_t(kernel.blocks_read) * 0x10000 + i * 0x1000 + line * 16};
                to[i]->push_back(one);
            }
        kernel.blocks_read++;
    }
};
struct fake_gpu {
    fake_core core;
};
struct fake_port {
    typedef fake_gpu gpu;
    typedef fake_core core;
    typedef fake_kernel kernel;
    typedef fake_thread thread;
    typedef fake_stack stack;
    typedef fake_instruction instruction;
    typedef warp_bits warp_set;
    typedef fake_index index;
    enum { barriers = 2 };
    static core *core_of(gpu *g, unsigned) { return &g->core; }
    static void detach(gpu *, unsigned, unsigned, unsigned, unsigned) {}
};
struct fake_traces {
    typedef fake_port port;
    typedef fake_warp warp;
    typedef fake_kernel kernel;
    typedef std::vector<fake_line> trace;
};

int failures;
void check(bool right, const char *what) {
    printf("%s: %s\n", right ? "ok" : "WRONG", what);
    failures += !right;
}

// Warps of the second block have asynchronous copies in their groups, and under way.
void check_copies(gpump_gpgpusim_host &host, fake_memory &memory, fake_warp &first, fake_warp &second) {
    std::map<unsigned, std::map<unsigned, std::map<unsigned, unsigned>>> &pending = memory.m_pending_ldgsts;
    pending[3][0x40][0x80] = 0, pending[3][0x50][0x80] = 1;
    first.copy_groups(5, 4, 1), second.copy_groups(2, 1, 0);
    check(host.waits(0, 1) == GPUMP_GPGPUSIM_PIPELINE && !(host.waits(0, 0) & GPUMP_GPGPUSIM_PIPELINE),
          "a copy under way is waited for, that of a warp which has ended too");
    pending[3][0x50][0x80] = 0, pending[1][0x50][0x80] = pending[4][0x50][0x80] = 1;
    check(!host.waits(0, 1), "a block whose warps have instructions in their buffers only has nothing to wait for");
    check(pending[3].empty(), "counts of copies that are 0 are removed");
}

void run() {
    fake_kernel kernel = fake_kernel();
    fake_gpu gpu = fake_gpu();
    fake_core &core = gpu.core;
    fake_scoreboard scoreboard;
    fake_memory memory;
    fake_warp warps[core_warps];
    gpump_gpgpusim_traces<fake_traces> host(&gpu);
    kernel.m_grid_dim.x = kernel.m_grid_dim.y = kernel.m_grid_dim.z = 9;
    core.m_warp_size = warp_lanes, core.m_scoreboard = &scoreboard, core.m_ldst_unit = &memory;
    core.m_barriers.m_max_barriers_per_cta = 2;
    for (fake_warp &warp : warps) core.m_warp.push_back(&warp);
    core.issue_block2core(kernel), core.issue_block2core(kernel); // the second block, in slot 1, leaves
    fake_warp &first = warps[2], &second = warps[3], &new_first = warps[0], &new_second = warps[1];
    first.trace_pc = 4, first.set_completed(3), first.fetch(1), first.fetch(0);
    second.trace_pc = 9, second.m_active_threads.reset();
    check((host.waits(0, 1) & GPUMP_GPGPUSIM_PIPELINE) != 0, "an exit that is not registered is waited for");
    for (unsigned lane = 0; lane < block_threads - warp_lanes; lane++)
        core.m_active_threads.reset(3 * warp_lanes + lane), core.m_not_completed--, core.m_cta_status[1]--;
    second.exited = true, core.m_active_warps--;
    core.m_barriers.m_warp_at_barrier.set(2), core.m_barriers.m_warp_active.reset(3);
    core.reduction_storage[1][1] = 77;
    check_copies(host, memory, first, second);
    new_first.trace_pc = 5, new_first.set_completed(7);

    void *other = host.set_aside(0, 0), *aside = host.set_aside(0, 1);
    check(!core.m_n_active_cta && !core.m_active_warps && !core.m_not_completed && core.m_active_threads.none() &&
              !first.in_pipeline && first.has_copy_groups(0, 0, 0) && core.m_barriers.m_warp_active.none() &&
              core.m_barriers.m_warp_at_barrier.none(),
          "the slots are empty");
    host.put_back(0, &kernel, aside);
    check(new_first.trace_pc == 4 && new_first.pc == 0x10040 && new_first.warp_traces.size() == 9,
          "the cursor stands behind the last issued instruction: what was in the buffer is fetched again");
    check(new_first.has_copy_groups(5, 4, 1) && new_second.has_copy_groups(2, 1, 0), "groups of copies are kept");
    check(new_first.m_active_threads.count() == 31 && !new_first.m_active_threads.test(3) && !new_first.exited,
          "a lane that has ended stays ended, and its warp goes on");
    check(new_second.exited && new_second.m_active_threads.none(), "a warp that has ended stays ended");
    check(core.m_cta_status[0] == 32 && core.m_not_completed == 32 && core.m_active_warps == 1,
          "threads count until the exit of their warp is registered, the ended lane too");
    check(core.m_barriers.m_warp_at_barrier == warp_bits(1) && core.m_barriers.m_warp_active == warp_bits(1) &&
              core.reduction_storage[0][1] == 77,
          "the warp waits at the barrier in its new slot");
    host.put_back(0, &kernel, host.rewind(other));
    check(warps[2].trace_pc == 0 && warps[2].pc == 0 && warps[2].has_copy_groups(0, 0, 0) &&
              warps[2].m_active_threads.all() && core.m_cta_status[1] == block_threads &&
              warps[3].m_active_threads.count() == 8,
          "a flushed block starts at its beginning");
    check(kernel.blocks_read == 2 && kernel.running == 2, "each block is read once, and counted once");

    core.m_barriers.m_warp_at_barrier.set(2);
    host.put_back(0, &kernel, host.set_aside(0, 1));
    check(core.m_barriers.m_warp_at_barrier == warp_bits(5),
          "a block in a slot that is not the first keeps its barrier");
}

} // namespace

int main() {
    run();
    return failures ? 1 : 0;
}
