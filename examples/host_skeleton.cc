// The call sites of docs/hosting.md in a host that does nothing else: two SMs whose blocks issue one instruction per
// cycle and wait for nothing. A long kernel runs, an urgent one takes SM 0 from it, the long one comes back and ends.
// What is marked "host:" is your simulator's own; names in parentheses are places in GPGPU-Sim.
#include <cstdio>
#include <deque>
#include <vector>
#include "gpump.h"

namespace {
struct Block { // host: the functional state of a block. Its index in `blocks` is the cookie that gpump carries.
    uint32_t kernel;
    uint64_t instructions, issued; // warp instructions in all, and of this launch so far
    gpump_sm_history history;      // comes with FREED, goes back to gpump_sm_place
    bool saved;
};
struct Resident { // host: what an SM knows of the block in a slot
    gpump_block_ref ref;
    uint64_t cookie, busy_until, moved_at; // when its last instruction commits, when its context has been moved
    bool here, stopping;
};

const gpump_footprint footprint = {256, 256 * 24, 4096};
std::vector<Block> blocks;
std::deque<uint64_t> urgent, resume, fresh; // blocks that come back go before new ones
size_t finished;

struct Sm {
    std::vector<uint64_t> memory; // everything gpump knows of this SM: copy it and you have a checkpoint
    gpump_sm *sm;
    std::vector<Resident> slots;
    bool reserved; // for the urgent kernel

    bool create() {
        gpump_sm_config config;
        gpump_diag diag; // says which field is wrong
        size_t bytes;
        if (gpump_sm_config_preset(&config, "gtx480_lin") != GPUMP_OK) return false;
        config.waits = GPUMP_SM_WAIT_PIPELINE; // what this host can report; a real one reports the whole list
        config.kernels = 2;
        if (gpump_sm_bytes(&config, &bytes, &diag) != GPUMP_OK) return false;
        memory.resize((bytes + 7) / 8);
        slots.assign(config.entries, Resident());
        reserved = false;
        return gpump_sm_init(memory.data(), bytes, &config, &sm, &diag) == GPUMP_OK;
    }

    // Work distribution (simt_core_cluster::issue_block2core): a block per cycle while there is room.
    void place(uint64_t now) {
        if (reserved && urgent.empty()) reserved = false, gpump_sm_reserve(sm, 0);
        std::deque<uint64_t> &queue = reserved ? urgent : !resume.empty() ? resume : fresh;
        if (queue.empty()) return;
        const Block &block = blocks[queue.front()];
        gpump_sm_request request = {queue.front(), block.kernel, 0, footprint, block.kernel};
        gpump_block_ref ref;
        gpump_diag diag;   // when the answer is BUSY, its reason is the resource that is short
        uint32_t slot = 0; // host: the number of a free hardware slot; gpump_sm_place takes the lowest free one
        while (slot < slots.size() && slots[slot].here) slot++;
        if (slot == slots.size() ||
            gpump_sm_place_in(sm, now, slot, &request, block.saved ? &block.history : NULL, &ref, &diag) != GPUMP_OK)
            return;
        Resident resident = {ref, queue.front(), now, now, true, false};
        slots[ref.slot] = resident;
        queue.pop_front();
    }

    // Warp schedulers (scheduler_unit::cycle): a question before each issue, facts after it.
    void issue(uint64_t now) {
        for (uint32_t slot = 0; slot < slots.size(); slot++) {
            Resident &r = slots[slot];
            if (!r.here) continue;
            Block &block = blocks[r.cookie];
            if (block.issued < block.instructions && gpump_sm_may_issue(sm, slot)) {
                block.issued++; // host: execute it
                r.busy_until = now + 20;
                gpump_sm_report_executed(sm, r.ref, 1);
                if (block.issued == block.instructions / 2)
                    gpump_sm_report_clobber(sm, r.ref); // it overwrote what it had read
            }
            if (now < r.busy_until) continue;
            if (r.stopping)
                gpump_sm_report_waits(sm, now, r.ref, 0), r.stopping = false; // nothing is in flight any more
            else if (block.issued == block.instructions)
                gpump_sm_report_done(sm, now, r.ref), r.here = false; // (set_thread_exit)
        }
    }

    // Once per cycle (shader_core_ctx::cycle): what gpump wants done. It is pulled; nothing calls back.
    void carry_out(uint64_t now) {
        gpump_sm_action a;
        for (uint32_t slot = 0; slot < slots.size(); slot++) {
            if (now < slots[slot].moved_at) continue; // host: the memory system is at it
            if (gpump_sm_state(sm, slot) == GPUMP_BLOCK_SAVING) gpump_sm_report_saved(sm, now, slots[slot].ref);
            if (gpump_sm_state(sm, slot) == GPUMP_BLOCK_RESTORING) gpump_sm_report_restored(sm, now, slots[slot].ref);
        }
        while (gpump_sm_has_action(sm, now) && gpump_sm_next(sm, now, &a) == GPUMP_OK) {
            Resident &r = slots[a.block.slot];
            Block &block = blocks[a.cookie];
            switch (a.kind) {
            case GPUMP_SM_ACTION_STOP: r.stopping = true; break;
            case GPUMP_SM_ACTION_SAVE: // host: move a.bytes of the ranges at a.register_base and a.shared_base
            case GPUMP_SM_ACTION_RESTORE: r.moved_at = a.end_cycle; break; // here: at the SM's share of the bandwidth
            case GPUMP_SM_ACTION_DROP:
                gpump_sm_report_dropped(sm, now, a.block);
                break; // host: squash what is in flight
            case GPUMP_SM_ACTION_FREED:
                r.here = false;
                if (a.why == GPUMP_BLOCK_DONE) {
                    finished++;
                    break;
                }
                block.saved = a.why == GPUMP_BLOCK_SAVED;
                block.history = a.history;
                if (!block.saved) block.issued = 0; // flushed: from the start
                resume.push_back(a.cookie);
                break;
            default: break;
            }
        }
    }

    // Someone wants this SM: look at its blocks, decide, and have it carried out, all of it or nothing.
    bool vacate(uint64_t now) {
        gpump_block_view view[64];
        gpump_block_choice choices[64];
        gpump_diag diag;
        uint32_t count = 0;
        if (gpump_sm_blocks(sm, now, view, 64, &count) != GPUMP_OK) return false;
        for (uint32_t i = 0; i < count; i++) { // host: gpump_victim, or a policy of its own like this one
            bool flush = (view[i].may >> GPUMP_TECHNIQUE_FLUSH & 1) && view[i].executed < 200;
            choices[i] = gpump_block_choice();
            choices[i].block = view[i].block;
            choices[i].technique = flush ? GPUMP_TECHNIQUE_FLUSH : GPUMP_TECHNIQUE_SWITCH;
        }
        return reserved =
                   gpump_sm_preempt(sm, now, choices, count, &diag) == GPUMP_OK && gpump_sm_reserve(sm, 2) == GPUMP_OK;
    }
};
} // namespace

int main() {
    Sm sms[2];
    uint64_t now = 0, wanted = 0, executed = 0, wasted = 0, saved = 0, flushed = 0;
    if (!sms[0].create() || !sms[1].create()) return 1;
    for (uint64_t i = 0; i < 40;
         i++) { // kernels are launched: 32 long blocks, and 8 urgent ones that arrive at cycle 1000
        Block block = {i < 32 ? 1u : 2u, i < 32 ? 500 + 37 * i : 300, 0, gpump_sm_history(), false};
        wanted += block.instructions;
        blocks.push_back(block);
        (i < 32 ? fresh : urgent).push_back(i);
    }
    for (; finished < blocks.size() && now < 100000; now++) {
        if (now == 1000 && !sms[0].vacate(now)) return 1;
        for (Sm &sm : sms) sm.carry_out(now), sm.place(now), sm.issue(now);
    }
    for (Sm &sm : sms) {
        gpump_sm_statistics s;
        gpump_sm_get_statistics(sm.sm, &s);
        executed += s.executed, wasted += s.wasted, saved += s.saved, flushed += s.flushed;
    }
    std::printf("%d cycles; %d blocks saved, %d flushed; %d instructions, %d of them in vain\n", (int)now, (int)saved,
                (int)flushed, (int)executed, (int)wasted);
    return executed - wasted == wanted && saved && flushed
               ? 0
               : 1; // each instruction counts once, whatever happened on the way
}
