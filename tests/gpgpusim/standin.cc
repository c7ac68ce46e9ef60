// A stand-in for GPGPU-Sim: SMs that execute small programs, with the call sites of examples/gpgpusim/README.md in the
// order of a cycle. It proves the adapter: neutral when idle, right results under stress, urgent kernels by each
// policy, processes with priorities above it. A host that forgets a part of a block must be found.
#include "gpump_gpgpusim.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace {

enum { sms = 4, slots = 4, warps = 2, lanes = 32, threads = warps * lanes };

// Programs are lists of these. r[0..3] are registers of a lane; g is the lane's number in the grid.
enum operation { load, store, load_shared, store_shared, barrier, add, multiply, atomic, repeat, leave };
struct instruction {
    operation what;
    uint32_t reg, value; // load, store: first word of an array; shared: which lane, as distance; repeat: times
};
struct program {
    const char *name;
    std::vector<instruction> code;
};

struct space_of { // as memory_space_t
    bool global;
    bool is_global() const { return global; }
};
struct executed { // as warp_inst_t
    instruction i;
    uint64_t address[lanes];
    space_of space;
    uint32_t data_size, is_vectorin, is_vectorout;
    bool isatomic() const { return i.what == atomic; }
    bool is_load() const { return i.what == load; }
    bool is_store() const { return i.what == store; }
    unsigned warp_size() const { return lanes; }
    bool active(unsigned) const { return true; }
    uint64_t get_addr(unsigned lane) const { return address[lane]; }
};

struct kernel { // as kernel_info_t
    const program *code;
    uint64_t blocks, next, done, stream, launch_at, ended_at;
    unsigned returning;
    bool launched;
    bool none_left() const { return !returning && next == blocks; } // no_more_ctas_to_run
};
struct warp {
    uint32_t pc, times, r[lanes][4];
    uint64_t busy_until, stores_until;
    bool at_barrier, ended;
};
struct block {
    kernel *of;
    uint64_t index;
    warp w[warps];
    uint32_t shared[threads];
};

struct machine : gpump_gpgpusim_host {
    std::vector<uint32_t> memory;
    std::vector<kernel *> kernels;
    block *resident[sms][slots];
    kernel *bound[sms];
    uint32_t turn[sms];
    uint64_t cycle;
    gpump_gpgpusim *gpump;
    bool forgets_shared, hides_accesses;
    bool reads_once; // as a trace is: a block is made once, and a flushed one goes back to its beginning

    machine()
        : memory(1 << 14), cycle(0), gpump(NULL), forgets_shared(false), hides_accesses(false), reads_once(false) {
        memset(resident, 0, sizeof resident), memset(bound, 0, sizeof bound), memset(turn, 0, sizeof turn);
        for (size_t i = 0; i < memory.size(); i++) memory[i] = uint32_t(i * 2654435761u >> 7);
    }

    // ---- the interface ----
    uint32_t waits(uint32_t sm, uint32_t slot) override {
        uint32_t bits = 0;
        for (const warp &w : resident[sm][slot]->w) {
            if (cycle < w.busy_until) bits |= GPUMP_GPGPUSIM_PIPELINE | GPUMP_GPGPUSIM_SCOREBOARD;
            if (cycle < w.stores_until) bits |= GPUMP_GPGPUSIM_STORES;
        }
        return bits;
    }
    void *set_aside(uint32_t sm, uint32_t slot) override {
        block *b = resident[sm][slot];
        if (waits(sm, slot)) printf("a block was taken while it waits\n"), exit(1);
        resident[sm][slot] = NULL;
        return b;
    }
    void put_back(uint32_t sm, void *, void *aside) override {
        block *b = static_cast<block *>(aside);
        if (forgets_shared) memset(b->shared, 0, sizeof b->shared);
        place(sm, b);
    }
    void squash(void *aside) override { delete static_cast<block *>(aside); }
    void *rewind(void *aside) override {
        block *b = static_cast<block *>(aside);
        if (!reads_once) return squash(aside), nullptr;
        kernel *of = b->of;
        uint64_t index = b->index;
        *b = block();
        b->of = of, b->index = index;
        return b;
    }
    void start(uint32_t sm, void *of, uint64_t index) override {
        if (reads_once) printf("a block is started although the host has it\n"), exit(1);
        place(sm, fresh(static_cast<kernel *>(of), index));
    }
    void bind(uint32_t sm, void *of, bool) override { bound[sm] = static_cast<kernel *>(of); }

    // ---- the machine ----
    block *fresh(kernel *of, uint64_t index) {
        block *b = new block();
        b->of = of, b->index = index;
        return b;
    }
    void place(uint32_t sm, block *b) {
        for (uint32_t slot = 0; slot < slots; slot++)
            if (!resident[sm][slot]) {
                resident[sm][slot] = b;
                if (gpump) gpump->placed(sm, slot, b->of, b->index);
                return;
            }
        printf("no free slot\n"), exit(1);
    }
    uint32_t count(uint32_t sm) const {
        uint32_t n = 0;
        for (const block *b : resident[sm]) n += b != NULL;
        return n;
    }
    void issue_block(uint32_t sm) { // simt_core_cluster::issue_block2core
        if (!count(sm) && (!bound[sm] || bound[sm]->none_left())) {
            bound[sm] = NULL;
            for (kernel *k : kernels)
                if (k->launched && !k->none_left()) {
                    bound[sm] = k;
                    break;
                }
        }
        kernel *k = bound[sm];
        if (gpump) k = static_cast<kernel *>(gpump->choose(sm, k));
        if (!k || k->none_left() || count(sm) == slots) return;
        if (gpump && gpump->take_back(sm, k)) return;
        place(sm, fresh(k, k->next++));
    }
    void execute(uint32_t sm, uint32_t slot, block &b, warp &w, uint32_t number) {
        executed e = executed();
        e.i = b.of->code->code[w.pc++];
        e.data_size = 4;
        w.busy_until = cycle + 9;
        for (uint32_t lane = 0; lane < lanes; lane++) {
            uint32_t thread = number * lanes + lane, g = uint32_t(b.index) * threads + thread, *r = w.r[lane];
            e.address[lane] = 4 * uint64_t(e.i.value + g);
            uint32_t &global = memory[(e.i.value + g) % memory.size()];
            switch (e.i.what) {
            case load: r[e.i.reg] = global; break;
            case store: global = r[e.i.reg]; break;
            case load_shared: r[e.i.reg] = b.shared[(thread + e.i.value) % threads]; break;
            case store_shared: b.shared[thread] = r[e.i.reg]; break;
            case add: r[e.i.reg] += r[e.i.value]; break;
            case multiply: r[e.i.reg] = r[e.i.reg] * 5 + e.i.value; break;
            case atomic: memory[e.i.value + r[e.i.reg] % 64] += 1; break;
            default: break;
            }
        }
        e.space.global = !hides_accesses && (e.i.what == load || e.i.what == store);
        if (e.i.what == load) w.busy_until = cycle + 60;
        if (e.i.what == store || e.i.what == atomic) w.stores_until = cycle + 90;
        if (e.i.what == repeat && w.times++ < e.i.value) w.pc = e.i.reg;
        if (gpump) gpump->issued(sm, slot, e);
        if (e.i.what == barrier) w.at_barrier = true;
        if (e.i.what == leave) w.ended = true;
        bool all = true;
        for (const warp &other : b.w) all = all && (other.at_barrier || other.ended);
        if (all)
            for (warp &other : b.w) other.at_barrier = false;
    }
    void core_cycle(uint32_t sm) { // shader_core_ctx::cycle
        for (uint32_t tried = 0; tried < slots * warps; tried++) {
            uint32_t at = (turn[sm] + tried) % (slots * warps), slot = at / warps;
            block *b = resident[sm][slot];
            if (!b) continue;
            warp &w = b->w[at % warps];
            if (w.ended || w.at_barrier || cycle < w.busy_until) continue;
            if (gpump && gpump->stopped(sm, slot)) continue;
            execute(sm, slot, *b, w, at % warps);
            turn[sm] = at + 1;
            break;
        }
        for (uint32_t slot = 0; slot < slots; slot++) { // register_cta_thread_exit
            block *b = resident[sm][slot];
            bool all = b != NULL;
            for (uint32_t i = 0; all && i < warps; i++)
                all = b->w[i].ended && cycle >= b->w[i].busy_until && cycle >= b->w[i].stores_until;
            if (!all) continue;
            kernel *k = b->of;
            resident[sm][slot] = NULL;
            delete b;
            if (++k->done == k->blocks) {
                k->ended_at = cycle;
                if (gpump) gpump->finished(k);
            }
            if (gpump) gpump->ended(sm, slot);
        }
        if (gpump) gpump->end_of_cycle(sm);
    }
    bool run() {
        for (; cycle < 2000000; cycle++) {
            bool all = true;
            for (kernel *k : kernels) {
                if (!k->launched && cycle >= k->launch_at) {
                    gpump_gpgpusim_launch l = {k,       k->code, &k->returning, k->blocks, slots,
                                               threads, 16,      threads * 4,   k->stream};
                    k->launched = true;
                    if (gpump) gpump->launched(l);
                }
                all = all && k->done == k->blocks;
            }
            if (all) return true;
            for (uint32_t sm = 0; sm < sms; sm++) core_cycle(sm);
            if (gpump) gpump->tick(cycle);
            if (gpump && gpump->error()) return printf("%s\n", gpump->error()), false;
            for (uint32_t sm = 0; sm < sms; sm++) issue_block(sm);
        }
        return printf("the kernels do not end\n"), false;
    }
};

const program long_one = {
    "out of place",
    {{load, 0, 0}, {multiply, 0, 3}, {repeat, 1, 60}, {load, 1, 64}, {add, 0, 1}, {store, 0, 4096}, {leave, 0, 0}}};
const program in_place = {"in place",
                          {{load, 0, 8192},
                           {multiply, 0, 1},
                           {repeat, 1, 20},
                           {store, 0, 8192},
                           {multiply, 0, 7},
                           {repeat, 4, 40},
                           {store, 0, 8192},
                           {leave, 0, 0}}};
const program tree = {"shared",
                      {{load, 0, 0},
                       {store_shared, 0, 0},
                       {barrier, 0, 0},
                       {load_shared, 1, 1},
                       {barrier, 0, 0},
                       {add, 0, 1},
                       {store_shared, 0, 0},
                       {repeat, 2, 12},
                       {store, 0, 12288},
                       {leave, 0, 0}}};
const program count = {"atomics",
                       {{load, 0, 0},
                        {multiply, 0, 1},
                        {repeat, 1, 10},
                        {atomic, 0, 16000},
                        {multiply, 0, 3},
                        {repeat, 4, 10},
                        {atomic, 0, 16064},
                        {leave, 0, 0}}};

struct outcome {
    bool ended;
    std::vector<uint32_t> memory;
    uint64_t cycles, kernel_end[5];
    uint64_t flushed, saved, drained, done, slowest;
    std::string report;
};
std::string report_of(const gpump_gpgpusim &gpump) {
    std::string text;
    FILE *file = tmpfile();
    gpump.report(file);
    rewind(file);
    for (int c = getc(file); c != EOF; c = getc(file)) text += char(c);
    fclose(file);
    return text;
}
// The four programs one after the other on stream 0, and a short one, urgent, on stream 1.
outcome simulate(const char *options, bool forgets_shared = false, bool hides_accesses = false,
                 bool reads_once = false) {
    machine m;
    outcome o = outcome();
    kernel k[5] = {{&long_one, 60, 0, 0, 0, 0, 0, 0, false},
                   {&tree, 50, 0, 0, 0, 0, 0, 0, false},
                   {&in_place, 40, 0, 0, 0, 0, 0, 0, false},
                   {&count, 30, 0, 0, 0, 0, 0, 0, false},
                   {&tree, 6, 0, 0, 1, 1500, 0, 0, false}};
    gpump_gpgpusim_config config = {"gtx480_lin",         sms,  slots, slots * warps, slots * threads,
                                    slots * threads * 16, 16384};
    for (kernel &one : k) m.kernels.push_back(&one);
    m.forgets_shared = forgets_shared, m.hides_accesses = hides_accesses, m.reads_once = reads_once;
    if (options) m.gpump = new gpump_gpgpusim(config, &m, options);
    o.ended = m.run();
    o.memory = m.memory, o.cycles = m.cycle;
    for (int i = 0; i < 5; i++) o.kernel_end[i] = k[i].ended_at;
    if (options) {
        o.flushed = m.gpump->counter("flushed"), o.saved = m.gpump->counter("saved");
        o.drained = m.gpump->counter("drained"), o.done = m.gpump->counter("done");
        o.slowest = m.gpump->slowest_request();
        o.report = report_of(*m.gpump);
    }
    delete m.gpump;
    return o;
}

int failures;
void check(bool right, const std::string &what) {
    printf("%s: %s\n", right ? "ok" : "WRONG", what.c_str());
    failures += !right;
}

// A kernel that the host launches at cycle 1,500 arrives later where the options say so.
void check_arrivals(const outcome &plain) {
    const std::string ppq = "schedule=ppq priority=1:5";
    outcome at_once = simulate(ppq.c_str()), late = simulate((ppq + " arrive=1:6000").c_str());
    outcome past = simulate((ppq + " arrive=1:1000 arrive=0:0").c_str());
    outcome nobody = simulate((ppq + " arrive=7:6000").c_str());
    check(late.ended && late.memory == plain.memory && late.saved && late.kernel_end[4] > 6000 &&
              at_once.kernel_end[4] < 6000 && late.kernel_end[4] - 6000 < 2 * (at_once.kernel_end[4] - 1500),
          "arrive: the kernel of high priority ends at cycle " + std::to_string(late.kernel_end[4]) + " instead of " +
              std::to_string(at_once.kernel_end[4]));
    check(past.cycles == at_once.cycles && past.kernel_end[4] == at_once.kernel_end[4],
          "arrive: a cycle that is over changes nothing");
    check(nobody.report.find("no kernel of stream 7 was launched") != std::string::npos &&
              nobody.cycles == at_once.cycles,
          "arrive: a stream that launches nothing is named in the report");
}

} // namespace

int main() {
    outcome plain = simulate(NULL), idle = simulate("");
    check(plain.ended && idle.ended && plain.memory == idle.memory && plain.cycles == idle.cycles && idle.done == 186,
          "neutral: with the adapter and nobody preempting, the same cycles and the same memory");

    uint64_t flushed = 0, saved = 0, drained = 0, slowest_stress = 0;
    for (int seed = 1; seed <= 40; seed++) {
        outcome o = simulate(("stress=" + std::to_string(seed)).c_str());
        if (!o.ended || o.memory != plain.memory) check(false, "stress, seed " + std::to_string(seed));
        flushed += o.flushed, saved += o.saved, drained += o.drained;
        slowest_stress = std::max(slowest_stress, o.cycles);
    }
    check(slowest_stress < plain.cycles * 3 / 2,
          "stress on four SMs leaves blocks time to run: " + std::to_string(slowest_stress) + " cycles instead of " +
              std::to_string(plain.cycles));
    check(flushed > 100 && saved > 100 && drained > 100, "stress: 40 seeds; " + std::to_string(flushed) +
                                                             " blocks flushed, " + std::to_string(saved) + " saved, " +
                                                             std::to_string(drained) + " drained");
    check(simulate("stress=1", true).memory != plain.memory, "stress finds a host that forgets shared memory");
    check(simulate("stress=1", false, true).memory != plain.memory,
          "stress finds a host that reports no loads and stores");

    for (int seed = 1; seed <= 10; seed++) {
        std::string options = "stress=" + std::to_string(seed);
        outcome once = simulate(options.c_str(), false, false, true), again = simulate(options.c_str());
        check(once.ended && once.memory == plain.memory && once.flushed && once.cycles == again.cycles &&
                  once.flushed == again.flushed && once.saved == again.saved,
              "stress, seed " + std::to_string(seed) + ": flushed blocks that are rewound take the cycles of new ones");
    }
    for (const char *policy : {"drain", "switch", "flush", "chimera", "drain-then-switch", "joint"}) {
        outcome o = simulate((std::string("urgent=1 sms=2 limit=4000 policy=") + policy).c_str());
        check(o.ended && o.memory == plain.memory && o.kernel_end[4] < plain.kernel_end[4],
              std::string("urgent by ") + policy + ": ends at cycle " + std::to_string(o.kernel_end[4]) +
                  " instead of " + std::to_string(plain.kernel_end[4]));
        bool saves = o.saved > 0, flushes = o.flushed > 0, drains = o.drained > 0;
        check(!strcmp(policy, "drain")    ? drains && !saves && !flushes
              : !strcmp(policy, "switch") ? saves && !drains && !flushes
              : !strcmp(policy, "flush")  ? flushes && !drains && !saves
                                          : drains || saves || flushes,
              std::string("... and blocks left by ") + policy);
    }
    outcome nobody = simulate("urgent=7"), somebody = simulate("urgent=1");
    check(nobody.report.find("no kernel of stream 7 was launched") != std::string::npos &&
              nobody.report.find("streams launched: 0 1)") != std::string::npos &&
              somebody.report.find("gpump_warning") == std::string::npos,
          "a stream in the options that launches nothing is named in the report");
    outcome in_time = simulate("urgent=1 sms=2 limit=800 policy=drain-then-switch");
    check(in_time.ended && in_time.memory == plain.memory && in_time.saved && in_time.slowest <= 800 + 100,
          "urgent by drain-then-switch: the saves of an SM follow each other and still end at the limit of 800 cycles, "
          "but for what is in flight: " +
              std::to_string(in_time.slowest));
    outcome later = simulate("schedule=fcfs");
    check(later.ended && later.memory == plain.memory, "scheduled: fcfs");
    for (const char *mechanism : {"switch", "drain", "select"}) {
        outcome o = simulate((std::string("schedule=ppq priority=1:5 limit=2000 mechanism=") + mechanism).c_str());
        check(o.ended && o.memory == plain.memory && o.kernel_end[4] < later.kernel_end[4],
              std::string("scheduled: ppq, ") + mechanism + ": the kernel of high priority ends at cycle " +
                  std::to_string(o.kernel_end[4]) + " instead of " + std::to_string(later.kernel_end[4]));
    }
    check_arrivals(plain);
    gpump_gpgpusim_config config = {"gtx480_lin", 4, 4, 8, 256, 4096, 16384};
    for (const char *wrong : {"policy=none", "stress", "limit=x", "priority=1", "schedule=ppq stress=1", "colour=red",
                              "arrive=1:500", "schedule=ppq arrive=1", "schedule=ppq arrive=1;5"})
        check(gpump_gpgpusim(config, NULL, wrong).error() != NULL, std::string("refused: ") + wrong);
    config.preset = "none";
    check(gpump_gpgpusim(config, NULL, "").error() != NULL, "refused: a preset that there is none of");
    return failures ? 1 : 0;
}
