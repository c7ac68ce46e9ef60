// The call sites of docs/hosting.md in a host that does nothing else: two SMs whose blocks issue one instruction per
// cycle. A long kernel runs. An urgent one arrives and takes positions from it, and the long kernel is launched a
// second time. The story is run once for each of several policies. Each must lose nothing and do nothing twice. What is
// marked "host:" is your simulator's own; names in parentheses are places in GPGPU-Sim.
#include <cstdio>
#include <deque>
#include <vector>
#include "gpump.h"

namespace {
enum { LONG_FUNCTION = 1, URGENT_FUNCTION, FUNCTIONS }; // the same each time they are launched: histories go by these
const uint64_t arrival = 2200;                          // of the urgent kernel
enum { LONG_LAUNCH = 1, URGENT_LAUNCH, SECOND_LAUNCH }; // a new number for each launch: places go by these

struct Block { // host: the functional state of a block. Its index in `blocks` is the cookie that gpump carries.
    uint32_t launch, function;
    uint64_t instructions, issued; // warp instructions in all, and of this start so far
    bool saved;
    gpump_sm_history history;                 // comes with FREED, goes back to gpump_sm_place
    std::vector<gpump_read_set_segment> read; // what it had read and written when it was saved
};
struct Resident { // host: what an SM knows of the block in a slot
    gpump_block_ref ref;
    uint64_t cookie, busy_until, moved_at; // when its last instruction commits, when its context has been moved
    bool here, stopping, dropping;
};

const gpump_footprint need = {256, 256 * 24, 4096};
std::vector<Block> blocks;
std::deque<uint64_t> urgent, resume, fresh; // blocks that come back go before new ones
gpump_cost_history histories[FUNCTIONS];

int failed(const char *what, const gpump_diag &diag) {
    char text[200];
    gpump_diag_text(&diag, text, sizeof text);
    std::fprintf(stderr, "%s: %s\n", what, text);
    return 0;
}

struct Sm {
    std::vector<uint64_t> memory, set_memory; // everything gpump knows of this SM: copy it and you have a checkpoint
    gpump_sm *sm;
    std::vector<gpump_read_set *> sets; // by slot
    std::vector<Resident> slots;
    size_t ended; // blocks that ended here

    bool create() {
        gpump_sm_config config;
        gpump_read_set_config set_config;
        gpump_diag diag; // says which field is wrong
        size_t bytes, set_bytes;
        if (gpump_preset(&gpump_sm_component, &config, "gtx480_lin", NULL) ||
            gpump_preset(&gpump_read_set_component, &set_config, "default", NULL))
            return false;
        config.waits = GPUMP_SM_WAIT_PIPELINE; // what this host can report; a real one reports the whole list
        config.timing = GPUMP_SM_TIMING_PORT;  // gpump times the saves; a host with a memory model reports them itself
        config.placement = GPUMP_SM_ALIGNED;   // blocks lie on the positions that gpump_victim_decide promises
        config.kernels = 3;                    // launches with blocks on this SM at the same time
        if (gpump_bytes(&gpump_sm_component, &config, &bytes, &diag)) return failed("gpump_bytes", diag);
        if (gpump_bytes(&gpump_read_set_component, &set_config, &set_bytes, &diag)) return failed("gpump_bytes", diag);
        memory.assign((bytes + 7) / 8, 0);
        set_memory.assign(set_bytes / 8 * config.entries, 0);
        sets.assign(config.entries, NULL);
        slots.assign(config.entries, Resident());
        ended = 0;
        for (uint32_t i = 0; i < config.entries; i++)
            if (gpump_init(&gpump_read_set_component, &set_memory[set_bytes / 8 * i], set_bytes, &set_config, &sets[i],
                           &diag))
                return failed("gpump_init", diag);
        return gpump_init(&gpump_sm_component, memory.data(), bytes, &config, &sm, &diag) == GPUMP_OK;
    }

    // Work distribution (simt_core_cluster::issue_block2core): a block per cycle while there is room.
    void place(uint64_t now) {
        if (urgent.empty()) gpump_sm_reserve(sm, 0); // all its blocks are placed: the SM takes others again
        std::deque<uint64_t> &queue = !urgent.empty() ? urgent : !resume.empty() ? resume : fresh;
        if (queue.empty()) return;
        const uint64_t cookie = queue.front();
        const Block &block = blocks[cookie];
        gpump_sm_request request = {cookie, block.launch, 0, need, block.function, 0, 0};
        gpump_block_ref ref;
        gpump_diag diag;   // when the answer is BUSY, its reason is the resource that is short
        uint32_t slot = 0; // host: the number of a free hardware slot; gpump_sm_place takes the lowest free one
        while (slot < slots.size() && slots[slot].here) slot++;
        if (slot == slots.size() ||
            gpump_sm_place_in(sm, now, slot, &request, block.saved ? &block.history : NULL, &ref, &diag) != GPUMP_OK)
            return;
        Resident resident = {ref, cookie, now, now, true, false, false};
        slots[slot] = resident;
        if (block.saved) // what it has read before counts: it travels with the block
            gpump_read_set_restore(sets[slot], block.read.data(), (uint32_t)block.read.size());
        else
            gpump_read_set_clear(sets[slot]);
        queue.pop_front();
    }

    // host: what an instruction does. A block reads its input, and overwrites it in its last quarter.
    void execute(Resident &r, Block &block) {
        const uint64_t at = block.issued++, address = r.cookie << 20 | at % (block.instructions / 4) * 128;
        if (at < block.instructions / 4)
            gpump_read_set_load(sets[r.ref.slot], address, 1);
        else if (at >= block.instructions / 4 * 3 && gpump_read_set_store(sets[r.ref.slot], address, 1))
            gpump_sm_report_clobber(sm, r.ref); // from now on it may not be flushed
    }

    // Warp schedulers (scheduler_unit::cycle): a question before each issue, facts after it.
    void issue(uint64_t now) {
        for (uint32_t slot = 0; slot < slots.size(); slot++) {
            Resident &r = slots[slot];
            if (!r.here) continue;
            Block &block = blocks[r.cookie];
            if (block.issued < block.instructions && gpump_sm_may_issue(sm, slot)) {
                execute(r, block);
                r.busy_until = now + 20;
                gpump_sm_report_executed(sm, r.ref, 1);
            }
            if (now < r.busy_until) continue;
            // Nothing is in flight any more. Its end comes first: it wins over STOP, SAVE and DROP (set_thread_exit).
            if (block.issued == block.instructions && gpump_sm_report_done(sm, now, r.ref) == GPUMP_OK)
                r.here = false;
            else if (r.stopping)
                gpump_sm_report_waits(sm, now, r.ref, 0);
            else if (r.dropping)
                gpump_sm_report_dropped(sm, now, r.ref);
            r.stopping = r.dropping = false;
        }
    }

    // The end of a cycle (shader_core_ctx::cycle): what gpump needs done. It is pulled; nothing calls back.
    void carry_out(uint64_t now) {
        gpump_sm_action a;
        while (gpump_sm_has_action(sm, now) && gpump_sm_next(sm, now, &a) == GPUMP_OK) {
            Resident &r = slots[a.block.slot];
            Block &block = blocks[a.cookie];
            switch (a.kind) {
            case GPUMP_SM_ACTION_STOP: r.stopping = true; break;
            case GPUMP_SM_ACTION_DROP: r.dropping = true; break; // host: or squash, and report dropped at once
            case GPUMP_SM_ACTION_SAVE:          // host: copy what the block has at a.register_base and a.shared_base
            case GPUMP_SM_ACTION_RESTORE:       // host: put it there. Under timing HOST, then report saved or restored
            case GPUMP_SM_ACTION_RESUME: break; // may_issue says yes from here on
            case GPUMP_SM_ACTION_FREED: freed(a, block); break;
            default: break;
            }
        }
    }

    void freed(const gpump_sm_action &a, Block &block) {
        slots[a.block.slot].here = false;
        if (a.why == GPUMP_BLOCK_DONE) {
            ended++;
            gpump_cost_history_record(&histories[a.function], a.history.executed, a.history.cycles);
            return;
        }
        block.saved = a.why == GPUMP_BLOCK_SAVED;
        block.history = a.history;
        if (block.saved) {
            uint32_t count = 0; // the first call says how many
            if (gpump_read_set_save(sets[a.block.slot], NULL, 0, &count) == GPUMP_ERROR_CAPACITY)
                block.read.resize(count);
            gpump_read_set_save(sets[a.block.slot], block.read.data(), count, &count);
        } else {
            block.issued = 0; // flushed: from the start
        }
        resume.push_back(a.cookie); // it is work that is left: the kernel has not ended (no_more_ctas_to_run)
    }
};

// Someone needs room: a view of every SM, what each block would cost, a decision, and that carried out.
struct Preemption {
    const gpump_victim_policy *policy;
    gpump_gpu gpu;
    gpump_victim_request request;
    gpump_victim_decision decision; // its ask_again: when to look again at blocks that drain
    uint32_t looked_again;

    bool ask(std::vector<Sm> &sms, uint64_t now, bool again) {
        std::vector<gpump_block_view> views(64 * sms.size());
        std::vector<gpump_cost_estimate> estimates(64 * sms.size());
        std::vector<gpump_block_choice> choices(64 * sms.size());
        std::vector<gpump_victim_sm> seen(sms.size());
        std::vector<gpump_victim_place> places(request.positions);
        gpump_victim_geometry geometry;
        gpump_victim_question question = gpump_victim_question();
        gpump_diag diag;
        const gpump_port port = gpump_gpu_port(&gpu);
        request.now = now;
        for (uint32_t i = 0; i < sms.size(); i++) {
            uint32_t count = 0;
            seen[i] = gpump_victim_sm();
            if (gpump_sm_blocks(sms[i].sm, now, &views[64 * i], 64, &count)) return false;
            if (gpump_block_view_check(&views[64 * i], count, &diag)) return failed("a view", diag);
            if (gpump_cost_estimate_blocks(&port, histories, FUNCTIONS, &views[64 * i], count, NULL, &policy->cost,
                                           &estimates[64 * i], &diag))
                return failed("gpump_cost_estimate_blocks", diag);
            seen[i].blocks = &views[64 * i];
            seen[i].estimates = &estimates[64 * i];
            seen[i].count = count;
            seen[i].sm = i;
        }
        if (gpump_victim_geometry_init(&geometry, &gpu, &need, 49152, &diag)) return failed("geometry", diag);
        question.policy = policy;
        question.request = &request;
        question.geometry = &geometry;
        question.sms = seen.data();
        question.sm_count = (uint32_t)seen.size();
        question.places = places.data();
        question.place_capacity = (uint32_t)places.size();
        question.choices = choices.data();
        question.choice_capacity = (uint32_t)choices.size();
        question.ask = again ? GPUMP_VICTIM_ASK_AGAIN : GPUMP_VICTIM_ASK_POSITIONS;
        if (gpump_victim_decide(&question, &decision, &diag)) return failed("the decision", diag);
        looked_again += again;
        for (uint32_t p = 0; p < decision.places; p++) gpump_sm_reserve(sms[places[p].sm].sm, request.kernel);
        for (uint32_t c = 0, n; c < decision.choices; c += n) { // the choices of one SM follow each other: all or none
            for (n = 1; c + n < decision.choices && choices[c + n].sm == choices[c].sm;) n++;
            if (gpump_sm_preempt(sms[choices[c].sm].sm, now, &choices[c], n, &diag)) return failed("preempt", diag);
        }
        return true;
    }
};

bool run(const char *policy, gpump_sm_statistics *sum, uint32_t *looked_again) {
    std::vector<Sm> sms(2);
    Preemption preemption = Preemption();
    uint64_t now = 0, wanted = 0, urgent_placed = 0;
    size_t ended = 0;
    blocks.clear(), urgent.clear(), resume.clear(), fresh.clear();
    for (gpump_cost_history &history : histories) history = gpump_cost_history();
    preemption.policy = gpump_victim_find(policy);
    preemption.decision.ask_again = GPUMP_UNKNOWN;
    if (!preemption.policy || gpump_preset(&gpump_gpu_component, &preemption.gpu, "gtx480_lin", NULL)) return false;
    for (Sm &sm : sms)
        if (!sm.create()) return false;
    for (uint64_t i = 0; i < 64; i++) { // host: kernels are launched; the urgent one arrives later
        Block block = Block();
        block.launch = i < 32 ? LONG_LAUNCH : i < 40 ? URGENT_LAUNCH : SECOND_LAUNCH;
        block.function = block.launch == URGENT_LAUNCH ? URGENT_FUNCTION : LONG_FUNCTION;
        block.instructions = block.launch == URGENT_LAUNCH ? 300 : 1500 + 37 * (i % 32);
        wanted += block.instructions;
        blocks.push_back(block);
        if (block.launch != URGENT_LAUNCH) fresh.push_back(i);
    }
    for (; ended < blocks.size() && now < 200000; now++) {
        if (now == arrival) {
            for (uint64_t i = 32; i < 40; i++) urgent.push_back(i);
            gpump_victim_request_init(&preemption.request, URGENT_LAUNCH, (uint32_t)urgent.size(), now);
            preemption.request.limit_cycles = 1000;  // the deadline
            preemption.request.timeout_cycles = 500; // drain-then-switch: what has not ended by then is saved
            if (!preemption.ask(sms, now, false)) return false;
        }
        if (now == preemption.decision.ask_again && !preemption.ask(sms, now, true)) return false;
        for (Sm &sm : sms) sm.place(now), sm.issue(now), sm.carry_out(now);
        if (now >= arrival && urgent.empty() && !urgent_placed) urgent_placed = now;
        ended = 0;
        for (Sm &sm : sms) ended += sm.ended;
    }
    uint64_t executed = 0, wasted = 0;
    for (Sm &sm : sms) {
        gpump_sm_statistics s;
        gpump_get_statistics(&gpump_sm_component, sm.sm, &s);
        executed += s.executed, wasted += s.wasted;
        sum->saved += s.saved, sum->flushed += s.flushed, sum->drained += s.drained, sum->done += s.done;
    }
    std::printf(
        "%-17s %6d cycles; the urgent kernel is placed after %4d of them; %d instructions, %d of them in vain\n",
        policy, (int)now, (int)(urgent_placed - arrival), (int)executed, (int)wasted);
    *looked_again += preemption.looked_again;
    return ended == blocks.size() && executed - wasted == wanted; // each instruction counts once
}
// Page faults in a host that executes at issue and keeps no operands (GPGPU-Sim): timing alone. One block of eight
// warps runs over eight pages that are absent at first. When all its warps have faulted it leaves, and comes back when
// their pages are there. An instruction that is issued again is not executed again: its values are as they were.
struct FaultingSm {
    enum { WARPS = 8, LENGTH = 60, PAGES = 8, CHECK = 6, WALK = 30, DATA = 40, SERVICE = 400 };
    struct Flight { // host: a memory instruction in the load-store unit (warp_inst_t)
        uint32_t entry, page;
        uint64_t check_at, commit_at; // GPUMP_UNKNOWN: not before something happens
        bool faulted;                 // STALL: it waits in place for its page
    };
    std::vector<uint64_t> replay_memory, tlb_memory;
    gpump_replay_config config;
    gpump_replay *replay;
    gpump_tlb *tlb;
    std::vector<Flight> flights;
    std::vector<gpump_replay_entry> saved[WARPS]; // host: part of the block's context
    uint32_t next[WARPS], executed, left;         // next: the warp's PC
    uint32_t awaits[WARPS];                       // pages it has faulted on, as bits
    uint64_t walk_ends[PAGES], comes[PAGES];      // comes: 0 when the page is there
    bool here;

    bool create(const char *preset) {
        gpump_tlb_config tlb_config;
        size_t bytes, tlb_bytes;
        if (gpump_preset(&gpump_replay_component, &config, preset, NULL) ||
            gpump_preset(&gpump_tlb_component, &tlb_config, "table61_l1", NULL))
            return false;
        if (gpump_bytes(&gpump_replay_component, &config, &bytes, NULL) ||
            gpump_bytes(&gpump_tlb_component, &tlb_config, &tlb_bytes, NULL))
            return false;
        replay_memory.assign(bytes / 8, 0), tlb_memory.assign(tlb_bytes / 8, 0);
        for (uint32_t page = 0; page < PAGES; page++) walk_ends[page] = comes[page] = GPUMP_UNKNOWN;
        executed = left = 0, here = true;
        if (gpump_init(&gpump_replay_component, replay_memory.data(), bytes, &config, &replay, NULL)) return false;
        gpump_replay_set_blocks(replay, 1); // the kernel's occupancy: the log is divided by it
        for (uint32_t w = 0; w < WARPS; w++) next[w] = awaits[w] = 0, gpump_replay_open(replay, w, 0);
        return gpump_init(&gpump_tlb_component, tlb_memory.data(), tlb_bytes, &tlb_config, &tlb, NULL) == GPUMP_OK;
    }
    static uint32_t page_of(uint32_t warp, uint32_t pc) { return (warp / 2 + pc / 16) % PAGES; }
    void fly(uint64_t now, uint32_t entry, uint32_t warp, uint32_t pc) {
        const Flight flight = {entry, page_of(warp, pc), now + CHECK, GPUMP_UNKNOWN, false};
        flights.push_back(flight);
    }

    // scheduler_unit::cycle: entries to be issued again go first, in program order.
    void issue(uint64_t now, uint32_t w) {
        uint32_t entry, count = 0, pending[GPUMP_REPLAY_WINDOW];
        if (gpump_replay_state_of(replay, w) == GPUMP_REPLAY_REPLAY) {
            gpump_replay_pending(replay, w, pending, GPUMP_REPLAY_WINDOW, &count);
            if (gpump_replay_may_reissue(replay, pending[0]) || gpump_replay_report_reissued(replay, pending[0]))
                return;
            fly(now, pending[0], w, gpump_replay_look(replay, pending[0]).pc);
            return;
        }
        if (next[w] == LENGTH || gpump_replay_may(replay, w, GPUMP_REPLAY_TO_FETCH))
            return; // host: asked where it fetches
        if (next[w] % 4) {
            if (!gpump_replay_may(replay, w, GPUMP_REPLAY_TO_ISSUE)) executed++, next[w]++; // it cannot fault
            return;
        }
        const gpump_replay_entry load = {next[w], 0xffffffff, next[w], GPUMP_REPLAY_LOAD, gpump_replay_log_units(0, 0),
                                         0};
        if (gpump_replay_may_issue_memory(replay, w, load.log_units)) return;
        gpump_replay_report_fetched(replay, w, load.sequence);
        if (gpump_replay_report_issued(replay, w, &load, &entry)) return;
        fly(now, entry, w, next[w]);
        executed++, next[w]++; // host: here it executes, once
    }

    void effect(uint64_t now, uint32_t entry) {
        for (Flight &flight : flights)
            if (flight.entry == entry) flight.check_at = GPUMP_UNKNOWN, flight.commit_at = now + DATA;
    }
    void checked(uint64_t now, uint32_t entry) { // the last translation check has passed
        gpump_reason answer;
        if (!gpump_replay_report_checked(replay, entry, &answer) && answer == GPUMP_REASON_YES) effect(now, entry);
    }
    // ldst_unit::memory_cycle: where an access is translated.
    void translate(uint64_t now) {
        for (size_t i = 0; i < flights.size(); i++) {
            Flight &flight = flights[i];
            uint32_t outcome;
            if (flight.check_at > now) continue;
            if (gpump_tlb_lookup(tlb, 0, flight.page, GPUMP_TLB_READ, flight.entry, &outcome)) continue; // BUSY: again
            flight.check_at = GPUMP_UNKNOWN;
            if (outcome == GPUMP_TLB_HIT) checked(now, flight.entry);
            if (outcome == GPUMP_TLB_MISS) walk_ends[flight.page] = now + WALK;
        }
        for (uint32_t page = 0; page < PAGES; page++) {
            uint64_t waiters[2048];
            uint32_t count = 0;
            if (walk_ends[page] > now) continue;
            walk_ends[page] = GPUMP_UNKNOWN; // the walk ends: the waiters are checked, or have faulted
            gpump_tlb_fill(tlb, 0, page, comes[page] ? 0 : GPUMP_TLB_READ, waiters, 2048, &count);
            for (uint32_t i = 0; i < count; i++) {
                const uint32_t entry = (uint32_t)waiters[i];
                if (!comes[page]) {
                    checked(now, entry);
                    continue;
                }
                gpump_replay_report_faulted(replay, entry);
                awaits[entry / GPUMP_REPLAY_WINDOW] |= 1u << page;
                for (Flight &flight : flights) flight.faulted |= flight.entry == entry;
                if (comes[page] == GPUMP_UNKNOWN) comes[page] = now + SERVICE; // host: the fault is sent to the CPU
            }
        }
        for (uint32_t page = 0; page < PAGES; page++)
            if (comes[page] == now) { // it has come
                comes[page] = 0;
                for (Flight &flight : flights)
                    if (flight.faulted && flight.page == page) flight.faulted = false, flight.check_at = now + 1;
                for (uint32_t w = 0; w < WARPS; w++) {
                    const uint32_t before = awaits[w];
                    awaits[w] &= ~(1u << page);
                    if (before && !awaits[w] && here) gpump_replay_report_served(replay, w);
                }
            }
    }

    void carry_out(uint64_t now) {
        gpump_replay_action a;
        while (gpump_replay_has_actions(replay) && gpump_replay_next(replay, &a) == GPUMP_OK) {
            if (a.kind == GPUMP_REPLAY_ACT_EFFECT) effect(now, a.entry);
            if (a.kind == GPUMP_REPLAY_ACT_REFETCH) next[a.warp] = a.what.pc, executed--; // host: executes again
            for (size_t i = 0; i < flights.size(); i++)
                if (flights[i].entry == a.entry &&
                    (a.kind == GPUMP_REPLAY_ACT_SQUASH || a.kind == GPUMP_REPLAY_ACT_REFETCH))
                    flights.erase(flights.begin() + (long)i--);
            // host: first wait for what cannot fault; what is in the instruction buffer is fetched again
            if (a.kind == GPUMP_REPLAY_ACT_DRAINED) gpump_replay_report_unissued(replay, a.warp, NULL, 0);
        }
    }

    // The block scheduler of the SM: out when every warp is held or has ended, in when all pages are there.
    void switch_block() {
        uint32_t held = 0, ended = 0, waiting = 0;
        for (uint32_t w = 0; w < WARPS; w++) {
            held += here && gpump_replay_state_of(replay, w) == GPUMP_REPLAY_HELD;
            ended += next[w] == LENGTH;
            waiting += awaits[w] != 0;
        }
        if (here && held && held + ended >= WARPS && flights.empty() && waiting) {
            for (uint32_t w = 0; w < WARPS; w++) {
                uint32_t count = 0;
                if (gpump_replay_save(replay, w, NULL, 0, &count) == GPUMP_ERROR_CAPACITY) saved[w].resize(count);
                if (count) gpump_replay_save(replay, w, saved[w].data(), count, &count);
                saved[w].resize(count); // host: gpump_replay_context_bytes says what this adds to the context
                gpump_replay_close(replay, w);
            }
            here = false, left++;
        } else if (!here && !waiting) {
            for (uint32_t w = 0; w < WARPS; w++) {
                gpump_replay_open(replay, w, 0);
                gpump_replay_restore(replay, w, saved[w].data(), (uint32_t)saved[w].size(), NULL);
                gpump_replay_report_served(replay, w);
            }
            here = true;
        }
    }

    bool run(const char *preset) {
        uint64_t now = 0;
        uint32_t ended = 0;
        if (!create(preset)) return false;
        for (; ended < WARPS && now < 100000; now++) {
            if (here)
                for (uint32_t w = 0; w < WARPS; w++) issue(now, w);
            translate(now);
            for (size_t i = 0; i < flights.size(); i++) // ldst_unit::writeback
                if (flights[i].commit_at == now) {
                    gpump_replay_report_committed(replay, flights[i].entry);
                    flights.erase(flights.begin() + (long)i--);
                }
            carry_out(now);
            switch_block();
            ended = 0;
            for (uint32_t w = 0; w < WARPS; w++) ended += here && flights.empty() && next[w] == LENGTH;
        }
        std::printf("%-17s %6d cycles with page faults; the block left %d times\n", preset, (int)now, (int)left);
        return ended == WARPS && executed == WARPS * LENGTH && (left || config.scheme == GPUMP_REPLAY_STALL);
    }
};
} // namespace

int main() {
    const char *const policies[] = {"switch", "flush", "drain", "dual", "drain-then-switch", "joint"};
    gpump_sm_statistics sum = gpump_sm_statistics();
    uint32_t looked_again = 0;
    for (const char *policy : policies)
        if (!run(policy, &sum, &looked_again)) return std::fprintf(stderr, "%s went wrong\n", policy), 1;
    for (const char *preset : {"stall", "wd_commit", "wd_check", "queue", "log16"})
        if (!FaultingSm().run(preset)) return std::fprintf(stderr, "%s went wrong\n", preset), 1;
    std::printf("%d blocks saved, %d flushed, %d drained; %d second looks\n", (int)sum.saved, (int)sum.flushed,
                (int)sum.drained, (int)looked_again);
    return sum.saved && sum.flushed && sum.drained && looked_again && sum.done == 6 * 64 ? 0 : 1;
}
