// The adapter of gpump_gpgpusim.h: slot map, queue of blocks that come back, wait bits, read sets, reservation, decide
// and second look, history, scheduler, stress mode, statistics.
#define GPUMP_IMPLEMENTATION
#define GPUMP_NO_PROGRAM // this adapter analyses no programs, so that it needs no stb_ds
#include "gpump.h"
#include "gpump_gpgpusim.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace {

const uint32_t none = GPUMP_NONE;
const uint64_t new_block = UINT64_MAX; // handle of a block that the scheduler issued and the simulator never started

struct launch_record {
    gpump_gpgpusim_launch host;
    uint32_t function; // index of its history
    uint32_t queue;
    uint64_t started; // blocks started for the first time
};

struct block_record {
    uint32_t launch;
    uint64_t index; // in the grid
    void *aside;    // the host's state of it; NULL: start() makes it
    bool saved;     // `aside` is not at its beginning, and `history` counts
    gpump_sm_history history;
    gpump_read_set *reads; // stays with the block wherever it is
    std::vector<uint64_t> reads_memory;
};

struct slot_record {
    uint32_t block;
    uint32_t waits; // reported last
    gpump_block_ref ref, scheduled;
};

struct order { // of the scheduler: start a block here
    uint32_t launch;
    uint64_t handle;
    gpump_block_ref scheduled;
};

struct sm_record {
    std::vector<uint64_t> memory;
    gpump_sm *sm;
    slot_record slots[32];
    uint32_t blocks;   // residents
    uint32_t polled;   // bit per slot: leaves, and waits are asked
    uint32_t reserved; // launch that gets the SM; none
    uint32_t putting;  // block that the host puts in just now; none
    const gpump_victim_policy *policy;
    gpump_victim_request request; // the last one
    uint64_t look_again;          // cycle of the second look; GPUMP_UNKNOWN
    bool again_from_start;        // ... because some blocks could not be told to leave
    uint64_t asked, estimated;    // asked: 0 when no request is open
    std::deque<order> orders;
    order placing;
};

struct vacated { // a request that has been met
    uint32_t sm;
    uint64_t asked, estimated, took;
};

// What one SM would give for a request.
struct offer {
    uint32_t sm, count;
    gpump_victim_decision decision;
    gpump_block_choice choices[64];
};
bool better(const offer &a, const offer &b) {
    if (a.decision.missing != b.decision.missing) return a.decision.missing < b.decision.missing;
    if ((a.decision.late == 0) != (b.decision.late == 0)) return a.decision.late == 0;
    if (a.decision.overhead != b.decision.overhead) return a.decision.overhead < b.decision.overhead;
    return a.sm < b.sm;
}

} // namespace

struct gpump_gpgpusim::implementation {
    gpump_gpgpusim &outside;
    gpump_gpgpusim_host *host;
    gpump_gpgpusim_config config;
    gpump_gpu gpu;
    gpump_port port; // of an SM
    std::string mistake;
    std::vector<sm_record> sms;
    std::vector<launch_record> launches;
    std::map<const void *, uint32_t> launch_of;   // by the host's kernel
    std::map<const void *, uint32_t> function_of; // by the host's function
    std::set<std::string> names;                  // of functions
    std::vector<gpump_cost_history> histories;    // by function number
    std::vector<block_record> blocks;
    std::vector<uint32_t> free_blocks;
    std::vector<vacated> met;
    uint64_t now;
    uint32_t away; // blocks that come back: in the list, or by the scheduler's orders
    std::vector<uint64_t> preempted_memory;
    gpump_preempted *preempted; // blocks that were saved or flushed; the cookie is the block
    // options
    uint64_t stress, stress_at, stress_count, urgent_stream, limit;
    uint32_t urgent_sms;
    bool stressed, urgent;
    const gpump_victim_policy *policy, *switch_policy, *drain_policy;
    // scheduler
    const gpump_scheduler_policy *schedule;
    uint32_t mechanism;
    std::vector<uint64_t> scheduler_memory;
    gpump_scheduler *scheduler;
    std::map<uint64_t, uint32_t> priorities;   // by stream
    std::map<uint64_t, uint32_t> queues;       // by stream: queue and process
    std::vector<uint32_t> processes;           // by queue: row of the process table
    std::vector<std::deque<uint32_t>> waiting; // by queue: launches not yet submitted
    std::vector<uint32_t> submitted;           // by queue: 1 while a launch is with the scheduler
    std::map<uint64_t, uint64_t> arrivals;     // by stream: cycle before which no launch is submitted
    std::vector<uint64_t> arrival;             // the same by queue
    uint64_t next_arrival;                     // the first cycle of these that has not come; GPUMP_UNKNOWN

    explicit implementation(gpump_gpgpusim &object) : outside(object) {}

    bool fail(const std::string &text) {
        if (mistake.empty()) mistake = "gpump: " + text;
        return false;
    }
    bool good(gpump_result result, const char *what, const gpump_diag *diag = NULL) {
        char text[256] = "";
        if (result == GPUMP_OK) return true;
        if (diag) gpump_diag_text(diag, text, sizeof text);
        return fail(std::string(what) + ": " + (*text ? text : gpump_result_text(result)));
    }
    void update_quiet() { outside.quiet = !away && !scheduler && !asked_for(); }
    bool asked_for() const {
        for (const sm_record &s : sms)
            if (s.reserved != none) return true;
        return false;
    }

    // ---- configuration ----
    bool option(const std::string &name, const std::string &value) {
        std::istringstream number(value);
        uint64_t n = 0, m = 0;
        char colon = 0;
        number >> n;
        bool is_number = !number.fail();
        if (name == "stress" && is_number) return stressed = true, stress = n, true;
        if (name == "urgent" && is_number) return urgent = true, urgent_stream = n, true;
        if (name == "sms" && is_number && n) return urgent_sms = uint32_t(n), true;
        if (name == "limit" && is_number) return limit = n, true;
        if (name == "policy") return (policy = gpump_victim_find(value.c_str())) || fail("no policy " + value);
        if (name == "schedule")
            return (schedule = gpump_scheduler_find(value.c_str())) || fail("no scheduling policy " + value);
        if (name == "mechanism") {
            mechanism = value == "select" ? (uint32_t)GPUMP_TECHNIQUE_SELECT : gpump_technique_find(value.c_str());
            return mechanism == GPUMP_TECHNIQUE_SELECT || mechanism == GPUMP_TECHNIQUE_SWITCH ||
                   mechanism == GPUMP_TECHNIQUE_DRAIN;
        }
        if (name == "priority" && is_number && number >> colon >> m && colon == ':')
            return priorities[n] = uint32_t(m), true;
        if (name == "arrive" && is_number && number >> colon >> m && colon == ':') return arrivals[n] = m, true;
        return fail("option \"" + name + "=" + value + "\" is unknown or has no such value; see gpump_gpgpusim.h");
    }
    bool options(const char *text) {
        std::istringstream words(text ? text : "");
        std::string word;
        stressed = urgent = false;
        stress = stress_at = stress_count = urgent_stream = 0;
        urgent_sms = none;
        limit = GPUMP_UNKNOWN;
        policy = gpump_victim_find("chimera");
        switch_policy = gpump_victim_find("switch");
        drain_policy = gpump_victim_find("drain");
        schedule = NULL;
        scheduler = NULL;
        next_arrival = GPUMP_UNKNOWN;
        mechanism = GPUMP_TECHNIQUE_SWITCH;
        while (words >> word) {
            size_t equals = std::min(word.find('='), word.size());
            if (!option(word.substr(0, equals), word.substr(std::min(equals + 1, word.size())))) return false;
        }
        if (schedule && (stressed || urgent)) return fail("\"schedule\" excludes \"stress\" and \"urgent\"");
        if (!schedule && !arrivals.empty()) return fail("\"arrive\" needs \"schedule\"");
        return true;
    }
    bool create() {
        gpump_sm_config one;
        gpump_diag diag;
        size_t bytes = 0;
        now = 0, away = 0;
        if (!good(gpump_preset(&gpump_gpu_component, &gpu, config.preset, NULL), config.preset)) return false;
        gpu.sms = config.sms;
        gpu.block_slots = config.block_slots, gpu.warp_slots = config.warps, gpu.thread_slots = config.threads;
        gpu.registers = config.registers;
        gpu.shared_bytes[gpu.shared_option_count - 1] = config.shared_bytes;
        port = gpump_gpu_port(&gpu);
        if (config.block_slots > 32) return fail("block_slots is above 32");
        if (!good(gpump_sm_config_from_gpu(&one, &gpu, config.shared_bytes), "the SMs")) return false;
        one.entries = one.block_slots;
        one.register_granule = one.shared_granule_bytes = 1; // the host has rounded already
        one.kernels = 64;
        one.timing = GPUMP_SM_TIMING_PORT;
        if (!good(gpump_bytes(&gpump_sm_component, &one, &bytes, &diag), "the SMs", &diag)) return false;
        sms.resize(config.sms);
        for (sm_record &s : sms) {
            s.memory.resize((bytes + 7) / 8);
            if (!good(gpump_init(&gpump_sm_component, s.memory.data(), bytes, &one, &s.sm, &diag), "an SM", &diag))
                return false;
            for (slot_record &slot : s.slots) slot.block = none;
            s.blocks = s.polled = 0;
            s.reserved = s.putting = none;
            s.policy = NULL;
            s.look_again = GPUMP_UNKNOWN;
            s.asked = s.estimated = 0;
            s.placing.launch = none;
        }
        histories.resize(1);
        return create_list() && (!schedule || create_scheduler());
    }
    bool create_list() {
        gpump_preempted_config list = gpump_preempted_config();
        gpump_diag diag;
        size_t bytes = 0;
        list.blocks = 16 * config.sms * config.block_slots; // several kernels may be away at the same time
        list.sms = config.sms;
        if (!good(gpump_bytes(&gpump_preempted_component, &list, &bytes, &diag), "the blocks that come back", &diag))
            return false;
        preempted_memory.resize((bytes + 7) / 8);
        return good(gpump_init(&gpump_preempted_component, preempted_memory.data(), bytes, &list, &preempted, &diag),
                    "the blocks that come back", &diag);
    }
    void comes_back(uint32_t at) {
        gpump_preempted_block block = {at, 0, blocks[at].launch + 1, GPUMP_NONE, GPUMP_NONE, 0};
        uint32_t handle;
        good(gpump_preempted_add(preempted, &block, &handle), "a block that left");
    }
    // Takes the next block of a launch that comes back on an SM; none.
    uint32_t take_preempted(uint32_t sm, uint32_t launch) {
        uint32_t handle = gpump_preempted_find(preempted, now, launch + 1, sm, 0);
        gpump_preempted_block block;
        if (handle == GPUMP_NONE || gpump_preempted_get(preempted, handle, &block)) return none;
        good(gpump_preempted_take(preempted, handle, sm), "a block that comes back");
        return uint32_t(block.cookie);
    }
    bool create_scheduler() {
        gpump_scheduler_config tables;
        gpump_diag diag;
        size_t bytes = 0;
        if (!good(gpump_preset(&gpump_scheduler_component, &tables, config.preset, NULL), "the scheduler"))
            return false;
        tables.sms = config.sms, tables.blocks_per_sm = config.block_slots;
        tables.active_kernels = config.sms;
        tables.saved_blocks = config.sms * config.block_slots;
        tables.technique = mechanism;
        if (!good(gpump_bytes(&gpump_scheduler_component, &tables, &bytes, &diag), "the scheduler", &diag))
            return false;
        scheduler_memory.resize((bytes + 7) / 8);
        return good(gpump_init(&gpump_scheduler_component, scheduler_memory.data(), bytes, &tables, &scheduler, &diag),
                    "the scheduler", &diag);
    }

    // ---- blocks ----
    uint32_t block_for(uint32_t launch, uint64_t index) {
        uint32_t at;
        if (free_blocks.empty()) {
            gpump_read_set_config set;
            size_t bytes = 0;
            at = uint32_t(blocks.size());
            blocks.resize(at + 1);
            gpump_preset(&gpump_read_set_component, &set, "default", NULL);
            set.segments = 256;
            gpump_bytes(&gpump_read_set_component, &set, &bytes, NULL);
            blocks[at].reads_memory.resize((bytes + 7) / 8);
            gpump_init(&gpump_read_set_component, blocks[at].reads_memory.data(), bytes, &set, &blocks[at].reads, NULL);
        } else {
            at = free_blocks.back();
            free_blocks.pop_back();
            gpump_read_set_clear(blocks[at].reads);
        }
        blocks[at].launch = launch, blocks[at].index = index, blocks[at].aside = NULL, blocks[at].saved = false;
        blocks[at].history = gpump_sm_history();
        return at;
    }
    void count_executed(uint32_t sm, uint32_t slot) {
        uint64_t &executed = outside.hot[sm].executed[slot];
        gpump_sm_report_executed(sms[sm].sm, sms[sm].slots[slot].ref, uint32_t(executed));
        executed = 0;
    }
    // What end_of_cycle and stopped() go by.
    void update(uint32_t sm) {
        sm_record &s = sms[sm];
        uint32_t stopped = 0;
        for (uint32_t slot = 0; slot < config.block_slots; slot++)
            if (s.slots[slot].block != none && !gpump_sm_may_issue(s.sm, s.slots[slot].ref.slot)) stopped |= 1u << slot;
        outside.hot[sm].stopped = stopped;
        outside.hot[sm].attention = s.polled || gpump_next_cycle(&gpump_sm_component, s.sm) != GPUMP_UNKNOWN;
    }
    void leave(uint32_t sm, const gpump_sm_action &action) {
        sm_record &s = sms[sm];
        uint32_t slot = action.block.slot;
        slot_record &r = s.slots[slot];
        block_record &block = blocks[r.block];
        launch_record &launch = launches[block.launch];
        s.polled &= ~(1u << slot);
        s.blocks--;
        if (action.why == GPUMP_BLOCK_DONE) {
            gpump_cost_history_record(&histories[launch.function], action.history.executed, action.history.cycles);
            if (scheduler) good(gpump_scheduler_report_finished(scheduler, now, sm, r.scheduled), "a block that ended");
            free_blocks.push_back(r.block);
        } else {
            if (action.why == GPUMP_BLOCK_SAVED)
                block.aside = host->set_aside(sm, slot), block.history = action.history, block.saved = true;
            else
                gpump_read_set_clear(block.reads);
            if (scheduler)
                good(gpump_scheduler_report_preempted(scheduler, now, sm, r.scheduled, r.block), "a block that left");
            else
                comes_back(r.block);
            ++*launch.host.returning;
            away++;
        }
        r.block = none;
        if (!s.blocks && s.asked) {
            vacated done = {sm, s.asked, s.estimated, now - s.asked};
            met.push_back(done);
            s.asked = 0, s.look_again = GPUMP_UNKNOWN;
        }
    }
    void carry_out(uint32_t sm) {
        sm_record &s = sms[sm];
        gpump_sm_action action;
        for (uint32_t slot = 0; slot < config.block_slots; slot++) {
            if (!(s.polled >> slot & 1)) continue;
            slot_record &r = s.slots[slot];
            uint32_t waits = host->waits(sm, slot);
            if (gpump_sm_state(s.sm, slot) == GPUMP_BLOCK_STOPPING) {
                if (waits == r.waits) continue;
                r.waits = waits;
                good(gpump_sm_report_waits(s.sm, now, r.ref, waits), "what a block waits for");
                if (!waits) s.polled &= ~(1u << slot);
            } else if (!waits) { // flushed, and nothing of it is in flight any more
                blocks[r.block].aside = host->rewind(host->set_aside(sm, slot));
                good(gpump_sm_report_dropped(s.sm, now, r.ref), "a block that was dropped");
                s.polled &= ~(1u << slot);
            }
        }
        while (gpump_sm_next(s.sm, now, &action) == GPUMP_OK) {
            if (action.kind == GPUMP_SM_ACTION_STOP || action.kind == GPUMP_SM_ACTION_DROP) {
                s.polled |= 1u << action.block.slot;
                s.slots[action.block.slot].waits = none;
            } else if (action.kind == GPUMP_SM_ACTION_FREED)
                leave(sm, action);
        }
        update(sm);
        update_quiet();
    }

    // ---- decisions ----
    // Asks the policy of the SM's request how its blocks leave; `again`: the second look.
    bool ask(uint32_t sm, bool again, offer *out) {
        sm_record &s = sms[sm];
        gpump_block_view views[64];
        gpump_cost_estimate estimates[64];
        gpump_diag diag;
        uint32_t count = 0;
        for (uint32_t slot = 0; slot < config.block_slots; slot++)
            if (s.slots[slot].block != none) count_executed(sm, slot);
        s.request.now = now;
        if (!good(gpump_sm_blocks(s.sm, now, views, 64, &count), "the blocks of an SM") ||
            !good(gpump_cost_estimate_blocks(&port, histories.data(), uint32_t(histories.size()), views, count, NULL,
                                             &s.policy->cost, estimates, &diag),
                  "the estimates", &diag))
            return false;
        gpump_victim_sm view = {views, estimates, 0, count, sm};
        gpump_victim_question question = gpump_victim_question();
        question.policy = s.policy, question.request = &s.request, question.sms = &view;
        question.sm_count = 1, question.choices = out->choices, question.choice_capacity = 64;
        out->sm = sm;
        question.ask = again ? GPUMP_VICTIM_ASK_AGAIN : GPUMP_VICTIM_ASK_VACATE;
        if (!good(gpump_victim_decide(&question, &out->decision, &diag), "the decision", &diag)) return false;
        out->count = out->decision.choices;
        return true;
    }
    void ask_with(uint32_t sm, uint32_t launch, const gpump_victim_policy *with, uint64_t deadline) {
        sm_record &s = sms[sm];
        s.policy = with;
        gpump_victim_request_init(&s.request, launch + 1, 0, now); // its own blocks stay
        s.request.limit_cycles = deadline;
    }
    void apply(const offer &taken) {
        sm_record &s = sms[taken.sm];
        gpump_diag diag;
        if (taken.count && !good(gpump_sm_preempt(s.sm, now, taken.choices, taken.count, &diag), "preempt", &diag))
            return;
        s.again_from_start = taken.decision.missing != 0; // a block that is being restored, for instance
        s.look_again = s.again_from_start ? now + 100 : taken.decision.ask_again;
        update(taken.sm);
    }
    void vacate(uint32_t sm, const gpump_victim_policy *with, uint64_t deadline) {
        offer only;
        ask_with(sm, none, with, deadline);
        if (!ask(sm, false, &only)) return;
        sms[sm].asked = sms[sm].blocks ? now : 0;
        sms[sm].estimated = only.decision.latency;
        apply(only);
    }
    void look_again(uint32_t sm) {
        offer second;
        sms[sm].look_again = GPUMP_UNKNOWN;
        if (sms[sm].blocks && ask(sm, !sms[sm].again_from_start, &second)) apply(second);
    }
    // Vacates and reserves as many SMs as an urgent kernel can fill: those whose blocks lose least.
    void ask_for(uint32_t number) {
        launch_record &launch = launches[number];
        uint64_t wanted = (launch.host.blocks + launch.host.blocks_per_sm - 1) / launch.host.blocks_per_sm;
        std::vector<offer> offers;
        for (uint32_t sm = 0; sm < config.sms; sm++) {
            offer one;
            if (sms[sm].reserved != none) continue;
            ask_with(sm, number, policy, limit);
            if (!ask(sm, false, &one)) return;
            offers.push_back(one);
        }
        std::stable_sort(offers.begin(), offers.end(), better);
        wanted = std::min(wanted, std::min(uint64_t(urgent_sms), uint64_t(offers.size())));
        for (uint64_t i = 0; i < wanted; i++) {
            sm_record &s = sms[offers[size_t(i)].sm];
            s.reserved = number;
            s.asked = s.blocks ? now : 0;
            s.estimated = offers[size_t(i)].decision.latency;
            apply(offers[size_t(i)]);
        }
    }
    void stress_now() {
        uint32_t sm = gpump_random_below(&stress, config.sms), count = 0, chosen = 0;
        gpump_block_view views[64];
        gpump_block_choice choices[64];
        gpump_diag diag;
        // An SM is asked every 2,000 cycles on average, however many there are, and ever more rarely: every run ends.
        uint64_t interval = 61 + gpump_random_below(&stress, 140);
        stress_count++;
        stress_at = now + interval * std::max(1u, 16 / config.sms) * (64 + stress_count) / 64;
        for (uint32_t slot = 0; slot < config.block_slots; slot++)
            if (sms[sm].slots[slot].block != none) count_executed(sm, slot);
        if (!good(gpump_sm_blocks(sms[sm].sm, now, views, 64, &count), "the blocks of an SM")) return;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t technique = gpump_random_below(&stress, 3);
            if (!(views[i].may >> technique & 1)) continue;
            choices[chosen] = gpump_block_choice();
            choices[chosen].block = views[i].block;
            choices[chosen++].technique = technique;
        }
        if (chosen) good(gpump_sm_preempt(sms[sm].sm, now, choices, chosen, &diag), "preempt", &diag);
        update(sm);
    }

    // ---- what the options say of streams ----
    bool launched_in(uint64_t stream) const {
        for (const launch_record &launch : launches)
            if (launch.host.stream == stream) return true;
        return false;
    }
    std::vector<uint64_t> streams_without_kernels() const {
        std::vector<uint64_t> named, missing;
        if (urgent) named.push_back(urgent_stream);
        for (const std::pair<const uint64_t, uint32_t> &priority : priorities) named.push_back(priority.first);
        for (const std::pair<const uint64_t, uint64_t> &arrives : arrivals)
            if (!priorities.count(arrives.first)) named.push_back(arrives.first);
        for (uint64_t stream : named)
            if (!launched_in(stream)) missing.push_back(stream);
        return missing;
    }
    std::string streams_launched() const {
        std::set<uint64_t> streams;
        std::string text;
        for (const launch_record &launch : launches) streams.insert(launch.host.stream);
        for (uint64_t stream : streams) text += " " + std::to_string(stream);
        return text;
    }

    // ---- the scheduler ----
    void submit(uint32_t queue) {
        gpump_diag diag;
        if (submitted[queue] || waiting[queue].empty()) return;
        if (now < arrival[queue]) {
            next_arrival = std::min(next_arrival, arrival[queue]);
            return;
        }
        const launch_record &launch = launches[waiting[queue].front()];
        gpump_scheduler_command command = gpump_scheduler_command();
        command.cookie = waiting[queue].front();
        command.blocks = launch.host.blocks;
        command.process = processes[queue];
        command.blocks_per_sm = launch.host.blocks_per_sm;
        command.saved_limit = config.sms * config.block_slots;
        if (!good(gpump_scheduler_submit(scheduler, now, queue, &command, &diag), "a launch", &diag)) return;
        waiting[queue].pop_front();
        submitted[queue] = 1;
    }
    void submit_arrived() {
        next_arrival = GPUMP_UNKNOWN;
        for (uint32_t queue = 0; queue < waiting.size(); queue++) submit(queue);
    }
    void schedule_launch(uint32_t number) {
        launch_record &launch = launches[number];
        uint64_t stream = launch.host.stream;
        if (!queues.count(stream)) {
            gpump_scheduler_process process = gpump_scheduler_process();
            gpump_diag diag;
            uint32_t row = 0;
            process.cookie = stream, process.priority = priorities.count(stream) ? priorities[stream] : 0;
            process.weight = 1;
            if (!good(gpump_scheduler_open(scheduler, now, &process, &row, &diag), "a process", &diag)) return;
            uint32_t queue = uint32_t(processes.size());
            queues[stream] = queue;
            processes.push_back(row), submitted.push_back(0), waiting.push_back(std::deque<uint32_t>());
            arrival.push_back(arrivals.count(stream) ? arrivals[stream] : 0);
        }
        launch.queue = queues[stream];
        waiting[launch.queue].push_back(number);
        submit(launch.queue);
    }
    void schedule_now() {
        gpump_scheduler_action action;
        gpump_result result;
        while ((result = gpump_scheduler_next(scheduler, schedule, now, &action)) == GPUMP_OK) {
            switch (action.kind) {
            case GPUMP_SCHEDULER_KERNEL_DONE:
                submitted[action.queue] = 0;
                submit(action.queue);
                break;
            case GPUMP_SCHEDULER_PREEMPT: {
                sm_record &s = sms[action.sm];
                for (const order &o : s.orders) // issued, and not yet started
                    good(gpump_scheduler_report_preempted(scheduler, now, action.sm, o.scheduled, o.handle),
                         "an order");
                s.orders.clear();
                vacate(action.sm,
                       action.technique == GPUMP_TECHNIQUE_SELECT  ? policy
                       : action.technique == GPUMP_TECHNIQUE_DRAIN ? drain_policy
                                                                   : switch_policy,
                       action.technique == GPUMP_TECHNIQUE_SELECT ? limit : GPUMP_UNKNOWN);
                break;
            }
            case GPUMP_SCHEDULER_SETUP:
                host->bind(action.sm, launches[size_t(action.kernel_cookie)].host.kernel, action.invalidate != 0);
                good(gpump_scheduler_report_ready(scheduler, now, action.sm), "an SM that is set up");
                break;
            case GPUMP_SCHEDULER_ISSUE: {
                order one = {uint32_t(action.kernel_cookie), action.saved ? action.handle : new_block, action.block};
                sms[action.sm].orders.push_back(one);
                break;
            }
            default: break;
            }
        }
        if (result != GPUMP_EMPTY) good(result, "the scheduler");
    }
};

gpump_gpgpusim::gpump_gpgpusim(const gpump_gpgpusim_config &config, gpump_gpgpusim_host *host, const char *options)
    : self(new implementation(*this)), hot(config.sms), quiet(true) {
    for (hot_sm &h : hot) h = hot_sm();
    self->host = host;
    self->config = config;
    if (self->options(options)) self->create();
    if (self->mistake.empty()) self->update_quiet();
}
gpump_gpgpusim::~gpump_gpgpusim() { delete self; }
const char *gpump_gpgpusim::error() const { return self->mistake.empty() ? NULL : self->mistake.c_str(); }

const void *gpump_gpgpusim::named(const std::string &function) { return &*self->names.insert(function).first; }

void gpump_gpgpusim::launched(const gpump_gpgpusim_launch &host) {
    if (error()) return;
    launch_record launch;
    uint32_t &function = self->function_of[host.function], number = uint32_t(self->launches.size());
    if (!function) {
        function = uint32_t(self->histories.size());
        self->histories.push_back(gpump_cost_history());
    }
    launch.host = host;
    launch.function = function;
    launch.queue = none;
    launch.started = 0;
    self->launches.push_back(launch);
    self->launch_of[host.kernel] = number;
    if (self->scheduler)
        self->schedule_launch(number);
    else if (self->urgent && host.stream == self->urgent_stream)
        self->ask_for(number);
    self->update_quiet();
}
void gpump_gpgpusim::finished(void *kernel) { self->launch_of.erase(kernel); }

void gpump_gpgpusim::tick(uint64_t cycle) {
    self->now = cycle;
    if (error()) return;
    if (self->stressed && cycle >= self->stress_at) self->stress_now();
    if (quiet) return;
    for (uint32_t sm = 0; sm < self->config.sms; sm++)
        if (cycle >= self->sms[sm].look_again) self->look_again(sm);
    if (cycle >= self->next_arrival) self->submit_arrived();
    if (self->scheduler && cycle >= gpump_next_cycle(&gpump_scheduler_component, self->scheduler)) self->schedule_now();
}

void *gpump_gpgpusim::choose_now(uint32_t sm, void *kernel) {
    sm_record &s = self->sms[sm];
    if (self->scheduler) return s.orders.empty() ? NULL : self->launches[s.orders.front().launch].host.kernel;
    if (s.reserved == none) return kernel;
    launch_record &wants = self->launches[s.reserved];
    if (wants.started == wants.host.blocks && gpump_preempted_after(self->preempted, s.reserved + 1, GPUMP_NONE) ==
                                                  GPUMP_NONE) { // it has nothing left to start
        s.reserved = none;
        self->update_quiet();
        return kernel;
    }
    for (uint32_t slot = 0; slot < self->config.block_slots; slot++)
        if (s.slots[slot].block != none && self->blocks[s.slots[slot].block].launch != s.reserved) return NULL;
    if (kernel != wants.host.kernel) self->host->bind(sm, wants.host.kernel, false);
    return wants.host.kernel;
}

bool gpump_gpgpusim::take_back_now(uint32_t sm, void *kernel) {
    sm_record &s = self->sms[sm];
    if (s.putting != none || error()) return false;
    std::map<const void *, uint32_t>::const_iterator found = self->launch_of.find(kernel);
    if (found == self->launch_of.end()) return false;
    launch_record &launch = self->launches[found->second];
    if (self->scheduler) {
        if (s.orders.empty()) return false;
        s.placing = s.orders.front();
        s.orders.pop_front();
        if (s.placing.handle == new_block) return false;
        s.putting = uint32_t(s.placing.handle);
    } else if ((s.putting = self->take_preempted(sm, found->second)) == none) {
        return false;
    }
    --*launch.host.returning;
    self->away--;
    if (self->blocks[s.putting].aside)
        self->host->put_back(sm, kernel, self->blocks[s.putting].aside);
    else
        self->host->start(sm, kernel, self->blocks[s.putting].index);
    s.putting = none;
    self->update_quiet();
    return true;
}

void gpump_gpgpusim::placed(uint32_t sm, uint32_t slot, void *kernel, uint64_t index) {
    if (error()) return;
    sm_record &s = self->sms[sm];
    slot_record &r = s.slots[slot];
    std::map<const void *, uint32_t>::const_iterator found = self->launch_of.find(kernel);
    if (found == self->launch_of.end()) {
        self->fail("a block of a kernel that launched() was not told of");
        return;
    }
    launch_record &launch = self->launches[found->second];
    uint32_t at = s.putting != none ? s.putting : self->block_for(found->second, index);
    block_record &block = self->blocks[at];
    gpump_sm_request request = gpump_sm_request();
    gpump_diag diag;
    uint32_t lanes = self->gpu.lanes;
    if (s.putting == none) launch.started++;
    request.cookie = at;
    request.kernel = found->second + 1;
    request.function = launch.function;
    request.need.threads = (launch.host.threads + lanes - 1) / lanes * lanes;
    request.need.registers = request.need.threads * ((launch.host.registers_per_thread + 3) / 4 * 4);
    request.need.shared_bytes = launch.host.shared_bytes;
    if (!self->good(
            gpump_sm_place_in(s.sm, self->now, slot, &request, block.saved ? &block.history : NULL, &r.ref, &diag),
            "a block that was placed", &diag))
        return;
    block.aside = NULL, block.saved = false;
    r.block = at;
    r.waits = none;
    r.scheduled = s.placing.scheduled;
    s.blocks++;
    hot[sm].executed[slot] = 0;
    self->update(sm);
}

void gpump_gpgpusim::ended(uint32_t sm, uint32_t slot) {
    if (error()) return;
    sm_record &s = self->sms[sm];
    if (s.slots[slot].block == none) {
        self->fail("a block that placed() was not told of has ended");
        return;
    }
    self->count_executed(sm, slot);
    s.polled &= ~(1u << slot);
    self->good(gpump_sm_report_done(s.sm, self->now, s.slots[slot].ref), "a block that ended");
    hot[sm].attention = 1; // the slot is free when end_of_cycle has pulled FREED
}

void gpump_gpgpusim::carry_out(uint32_t sm) {
    if (!error()) self->carry_out(sm);
}
void gpump_gpgpusim::clobbered(uint32_t sm, uint32_t slot) {
    if (!error()) gpump_sm_report_clobber(self->sms[sm].sm, self->sms[sm].slots[slot].ref);
}
void gpump_gpgpusim::accessed(uint32_t sm, uint32_t slot, uint64_t segment, uint32_t words, bool store) {
    if (error() || self->sms[sm].slots[slot].block == none) return;
    gpump_read_set *reads = self->blocks[self->sms[sm].slots[slot].block].reads;
    if (!store)
        gpump_read_set_load(reads, segment << 7, words);
    else if (gpump_read_set_store(reads, segment << 7, words))
        clobbered(sm, slot);
}

uint64_t gpump_gpgpusim::counter(const char *name) const {
    uint64_t sum = 0;
    for (const sm_record &s : self->sms) {
        gpump_sm_statistics statistics;
        const char *field;
        uint64_t value;
        gpump_get_statistics(&gpump_sm_component, s.sm, &statistics);
        for (uint32_t i = 0;
             gpump_statistics_field(&gpump_sm_component, &statistics, i, &field, NULL, NULL, &value) == GPUMP_OK; i++)
            if (std::string(field) == name) sum += value;
    }
    return sum;
}
uint64_t gpump_gpgpusim::slowest_request() const {
    uint64_t slowest = 0;
    for (const vacated &v : self->met) slowest = std::max(slowest, v.took);
    return slowest;
}
void gpump_gpgpusim::report(FILE *out) const {
    gpump_sm_statistics statistics = gpump_sm_statistics();
    const char *field, *unit, *description;
    if (error()) fprintf(out, "%s\n", error());
    for (uint64_t stream : self->streams_without_kernels())
        fprintf(out,
                "gpump_warning: no kernel of stream %llu was launched, which the options name (streams launched:%s)\n",
                (unsigned long long)stream, self->streams_launched().c_str());
    for (uint32_t i = 0;
         gpump_statistics_field(&gpump_sm_component, &statistics, i, &field, &unit, &description, NULL) == GPUMP_OK;
         i++)
        fprintf(out, "gpump_%s = %llu # %s: %s\n", field, (unsigned long long)counter(field), unit, description);
    for (const vacated &v : self->met) {
        fprintf(out, "gpump_vacated: SM %u, asked for at cycle %llu, empty after %llu cycles, ", v.sm,
                (unsigned long long)v.asked, (unsigned long long)v.took);
        if (v.estimated == GPUMP_UNKNOWN)
            fprintf(out, "no estimate\n");
        else
            fprintf(out, "%llu estimated\n", (unsigned long long)v.estimated);
    }
}
