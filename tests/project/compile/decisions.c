/* Makes many random decisions with each component and prints one hash per component: the same on every compiler,
 * optimisation level, width and byte order, or something depends on what it must not. decisions.sh compares them. */
#define GPUMP_STATIC /* lets a compiler leave out what is not called here */
#define GPUMP_IMPLEMENTATION
#include "gpump.h"
#include <stdio.h>

static uint64_t state = 1;
static uint32_t below(uint32_t limit) { return gpump_random_below(&state, limit); }
static void print(const char *component, uint64_t hash) {
    printf("%-10s %016llx\n", component, (unsigned long long)hash);
}

static uint64_t hash_gpu(void) {
    uint64_t hash = GPUMP_HASH_SEED;
    const char *name;
    for (uint32_t preset = 0; (name = gpump_gpu_preset_name(preset)) != NULL; preset++) {
        gpump_gpu gpu;
        (void)gpump_preset(&gpump_gpu_component, &gpu, name, NULL);
        for (int i = 0; i < 2000; i++) {
            gpump_footprint need;
            gpump_occupancy occupancy;
            uint64_t bytes;
            need.threads = 1 + below(1024);
            need.registers = need.threads * below(256);
            need.shared_bytes = below(65536);
            if (gpump_gpu_occupancy(&gpu, &need, &occupancy, NULL) != GPUMP_OK) continue;
            bytes = gpump_gpu_context_bytes(&gpu, &need);
            hash = gpump_hash_u64(gpump_hash_u64(hash, occupancy.blocks), occupancy.limits);
            hash = gpump_hash_u64(gpump_hash_u64(hash, gpump_gpu_save_cycles(&gpu, bytes)),
                                  gpump_gpu_save_ps(&gpu, bytes));
        }
    }
    return hash;
}

/* Blocks come, run, are preempted by any technique and come back, at random. */
static uint64_t hash_sm(uint32_t timing) {
    static uint64_t memory[8192];
    gpump_sm_config config;
    gpump_sm *sm;
    size_t bytes;
    uint64_t now = 0, hash = GPUMP_HASH_SEED, cookie = 0;
    gpump_sm_history history;
    int have_history = 0;
    (void)gpump_preset(&gpump_sm_component, &config, "gtx480_lin", NULL);
    config.kernels = 3;
    config.timing = timing;
    config.waits = GPUMP_SM_WAIT_PIPELINE | GPUMP_SM_WAIT_STORES;
    if (gpump_bytes(&gpump_sm_component, &config, &bytes, NULL) != GPUMP_OK ||
        gpump_init(&gpump_sm_component, memory, sizeof memory, &config, &sm, NULL) != GPUMP_OK)
        return 0;
    for (int step = 0; step < 20000; step++) {
        gpump_block_view views[64];
        gpump_sm_action action;
        uint32_t count = 0;
        now += below(20);
        (void)gpump_sm_blocks(sm, now, views, 64, &count);
        switch (below(6)) {
        case 0: {
            gpump_sm_request request;
            gpump_block_ref ref;
            memset(&request, 0, sizeof request);
            request.cookie = cookie++;
            request.kernel = 1 + below(3);
            request.need.threads = 32 * (1 + below(16));
            request.need.registers = request.need.threads * (1 + below(40));
            request.need.shared_bytes = below(20000);
            (void)gpump_sm_place(sm, now, &request, have_history && below(2) ? &history : NULL, &ref, NULL);
            break;
        }
        case 1:
            if (count) {
                gpump_block_choice choice;
                const gpump_block_view *view = &views[below(count)];
                memset(&choice, 0, sizeof choice);
                choice.block = view->block;
                choice.technique = below(3);
                choice.keep = choice.technique == GPUMP_TECHNIQUE_SWITCH ? below(4) : 0;
                hash = gpump_hash_u64(hash, (uint64_t)(int64_t)gpump_sm_preempt(sm, now, &choice, 1, NULL));
            }
            break;
        default:
            for (uint32_t i = 0; i < count; i++) {
                gpump_block_ref ref = views[i].block;
                (void)gpump_sm_report_executed(sm, ref, below(9));
                if (!below(50)) (void)gpump_sm_report_clobber(sm, ref);
                if (!below(4)) (void)gpump_sm_report_waits(sm, now, ref, below(2) * GPUMP_SM_WAIT_STORES);
                if (!below(4)) (void)gpump_sm_report_saved(sm, now, ref);
                if (!below(4)) (void)gpump_sm_report_restored(sm, now, ref);
                if (!below(4)) (void)gpump_sm_report_dropped(sm, now, ref);
                if (!below(4)) (void)gpump_sm_unpark(sm, now, ref, NULL);
                if (!below(30)) (void)gpump_sm_report_done(sm, now, ref);
            }
        }
        while (gpump_sm_next(sm, now, &action) == GPUMP_OK) {
            hash = gpump_hash_u64(gpump_hash_u64(gpump_hash_u64(hash, action.kind), action.cookie), action.end_cycle);
            if (action.kind == GPUMP_SM_ACTION_FREED && action.why == GPUMP_BLOCK_SAVED)
                history = action.history, have_history = 1;
        }
        if (step % 100 == 0) hash = gpump_hash_u64(hash, gpump_hash(&gpump_sm_component, sm));
    }
    return hash;
}

static uint64_t hash_compress(void) {
    static uint32_t values[8 * 16 * 32];
    static unsigned char out[sizeof values + 4096];
    uint64_t hash = GPUMP_HASH_SEED;
    for (int i = 0; i < 300; i++) {
        gpump_compress_layout layout;
        size_t bytes = 0;
        uint32_t form = 0, live_word = ~(below(8) ? 0u : 5u);
        uint32_t threads = 1 + below(256), registers = 1 + below(16),
                 block_x = 1 + below(32); /* one after the other: no order among arguments */
        uint64_t live = live_word;
        if (gpump_compress_layout_init(&layout, threads, registers, 32, block_x, NULL) != GPUMP_OK) continue;
        for (uint32_t v = 0; v < 8 * 16; v++) {
            uint32_t kind = below(4), base = below(1000000), stride = below(9);
            for (uint32_t lane = 0; lane < 32; lane++)
                values[v * 32 + lane] = kind == 0   ? base
                                        : kind == 1 ? base + stride * lane
                                        : kind == 2 ? base + lane / 8
                                                    : below(0xffffffff);
        }
        layout.live_stride = 0;
        if (gpump_compress_save(&layout, values, &live, GPUMP_COMPRESS_ALLOW_ALL, out, sizeof out, &bytes, &form,
                                NULL) != GPUMP_OK)
            return 0;
        hash = gpump_hash_bytes(gpump_hash_u64(hash, form), out, bytes);
    }
    return hash;
}

/* Up to seven blocks on SM `sm`, with the costs that the policy reckons with. */
static void draw_victims(gpump_victim_sm *sm, uint32_t number, gpump_block_view *views, gpump_cost_estimate *estimates,
                         const gpump_port *port, const gpump_cost_history *histories,
                         const gpump_victim_policy *policy) {
    uint32_t count = below(8), register_base = 0, shared_base = 0;
    memset(views, 0, 8 * sizeof *views);
    for (uint32_t b = 0; b < count; b++) {
        gpump_block_view *view = &views[b];
        view->cookie = number * 100 + b;
        view->executed = below(4000);
        view->start_cycle = below(900000);
        view->cycles = 1 + below(40000);
        view->block.slot = b;
        view->kernel = 1 + below(2);
        view->state = GPUMP_BLOCK_RUNNING;
        view->registers = below(4096);
        view->register_base = register_base;
        register_base += view->registers;
        view->shared_bytes = below(6000);
        view->shared_base = shared_base;
        shared_base += view->shared_bytes;
        view->context_bytes = view->registers * 4 + view->shared_bytes;
        view->warps = 1 + below(6);
        view->threads = view->warps * 32;
        view->may = 1 + below(7);
    }
    (void)gpump_cost_estimate_blocks(port, histories, 3, views, count, NULL, &policy->cost, estimates, NULL);
    sm->blocks = views;
    sm->estimates = estimates;
    sm->reserved = 0;
    sm->count = count;
    sm->sm = number;
}

static uint64_t hash_victim(void) {
    uint64_t hash = GPUMP_HASH_SEED;
    gpump_gpu gpu;
    (void)gpump_preset(&gpump_gpu_component, &gpu, "gtx480_shieh", NULL);
    for (int i = 0; i < 400; i++) {
        const gpump_port port = gpump_gpu_port(&gpu);
        static gpump_cost_history histories[3];
        gpump_block_view views[4][8];
        gpump_cost_estimate estimates[4][8];
        gpump_victim_sm sms[4];
        gpump_victim_place places[64];
        gpump_block_choice choices[64];
        gpump_victim_geometry geometry;
        gpump_victim_request request;
        gpump_victim_question question;
        gpump_victim_decision decision;
        gpump_footprint need;
        const gpump_victim_policy *policy;
        uint32_t kernel, instructions;
        need.threads = 32 * (1 + below(12));
        need.registers = need.threads * (8 + below(20));
        need.shared_bytes = below(12000);
        if (gpump_victim_geometry_init(&geometry, &gpu, &need, 49152, NULL) != GPUMP_OK) continue;
        kernel = 1 + below(2);
        instructions = 100 + below(5000);
        gpump_cost_history_record(&histories[kernel], instructions, 1000 + below(50000));
        request.kernel = 9;
        request.positions = 1 + below(8);
        request.flags = 0;
        request.since = request.now = 1000000;
        request.limit_cycles = below(4) ? below(9000) : GPUMP_UNKNOWN;
        request.timeout_cycles = GPUMP_UNKNOWN;
        for (uint32_t p = 0; (policy = gpump_victim_policy_at(p)) != NULL; p++) {
            for (uint32_t s = 0; s < 4; s++) draw_victims(&sms[s], s, views[s], estimates[s], &port, histories, policy);
            memset(&question, 0, sizeof question);
            question.policy = policy;
            question.request = &request;
            question.geometry = &geometry;
            question.sms = sms;
            question.sm_count = 4;
            question.places = places;
            question.choices = choices;
            question.place_capacity = question.choice_capacity = 64;
            if (gpump_victim_decide(&question, &decision, NULL) != GPUMP_OK) {
                hash = gpump_hash_u64(hash, 1);
                continue;
            }
            hash = gpump_hash_u64(gpump_hash_u64(gpump_hash_u64(hash, decision.latency), decision.overhead),
                                  decision.missing);
            for (uint32_t c = 0; c < decision.choices; c++)
                hash = gpump_hash_u64(gpump_hash_u64(hash, choices[c].cookie), choices[c].technique);
            for (uint32_t c = 0; c < decision.places; c++)
                hash = gpump_hash_u64(gpump_hash_u64(hash, places[c].sm), places[c].position);
        }
    }
    return hash;
}

/* Contexts as bytes: the same file on every machine. */
static uint64_t hash_context(void) {
    static uint32_t values[16 * 32];
    static unsigned char memory[1 << 16];
    uint64_t hash = GPUMP_HASH_SEED, bytes;
    for (int i = 0; i < 200; i++) {
        gpump_context_writer writer;
        gpump_context_block block;
        gpump_context_stack_entry entry;
        uint64_t word;
        uint32_t warps = 1 + below(6), registers = 1 + below(16);
        memset(&block, 0, sizeof block);
        block.cookie = gpump_random_next(&state);
        block.kernel = 1 + below(9);
        block.warps = warps;
        block.lanes = 32;
        block.registers = registers;
        (void)gpump_context_begin(&writer, memory, sizeof memory);
        gpump_context_put_block(&writer, &block);
        for (uint32_t w = 0; w < warps; w++) {
            for (uint32_t v = 0; v < registers * 32; v++) values[v] = (uint32_t)gpump_random_next(&state);
            gpump_context_put_registers(&writer, w, values, registers, 32);
            entry.pc = below(1000);
            entry.reconvergence_pc = below(1000);
            entry.lanes = gpump_random_next(&state);
            gpump_context_put_stack(&writer, w, &entry, 1);
            word = gpump_random_next(&state);
            gpump_context_put_words(&writer, GPUMP_CONTEXT_PREDICATES, w, &word, 1);
        }
        if (gpump_context_end(&writer, &bytes) != GPUMP_OK) return 0;
        hash = gpump_hash_bytes(hash, memory, (size_t)bytes);
    }
    return hash;
}

/* Kernels of four processes under every policy, blocks ending and leaving at random. */
static uint64_t hash_scheduler(void) {
    static uint64_t memory[1 << 17];
    uint64_t hash = GPUMP_HASH_SEED;
    const gpump_scheduler_policy *policy;
    for (uint32_t p = 0; (policy = gpump_scheduler_policy_at(p)) != NULL; p++) {
        gpump_scheduler_config config;
        gpump_scheduler *scheduler;
        gpump_block_ref resident[64];
        uint64_t now = 0;
        uint32_t on_sm[64], leaving[64], residents = 0, rows[4];
        (void)gpump_preset(&gpump_scheduler_component, &config, "k20c", NULL);
        config.sms = 4;
        config.blocks_per_sm = 8;
        config.technique = p % 2 ? GPUMP_TECHNIQUE_DRAIN : GPUMP_TECHNIQUE_SWITCH;
        config.active_kernels = 4;
        config.saved_blocks = 32;
        if (gpump_init(&gpump_scheduler_component, memory, sizeof memory, &config, &scheduler, NULL) != GPUMP_OK)
            return 0;
        for (uint32_t c = 0; c < 4; c++) {
            gpump_scheduler_process process;
            memset(&process, 0, sizeof process);
            process.cookie = c;
            process.priority = below(3);
            process.weight = 1 + below(3);
            if (gpump_scheduler_open(scheduler, now, &process, &rows[c], NULL) != GPUMP_OK) return 0;
        }
        for (int step = 0; step < 2000; step++) {
            gpump_scheduler_action action;
            uint32_t c = below(4), i;
            now += below(3000);
            if (!below(3)) {
                gpump_scheduler_command command;
                memset(&command, 0, sizeof command);
                command.cookie = (uint64_t)step;
                command.blocks = 1 + below(200);
                command.process = rows[c];
                command.blocks_per_sm = 1 + below(8);
                command.saved_limit = below(33);
                (void)gpump_scheduler_submit(scheduler, now, c, &command, NULL);
            }
            for (i = 0; i < residents;) {
                int done = !below(4), out = !done && leaving[i] && !below(2);
                if (done ? gpump_scheduler_report_finished(scheduler, now, on_sm[i], resident[i]) != GPUMP_OK
                         : !out ||
                               gpump_scheduler_report_preempted(scheduler, now, on_sm[i], resident[i], i) != GPUMP_OK) {
                    i++;
                    continue;
                }
                residents--;
                resident[i] = resident[residents];
                on_sm[i] = on_sm[residents];
                leaving[i] = leaving[residents];
            }
            while (gpump_scheduler_next(scheduler, policy, now, &action) == GPUMP_OK) {
                hash = gpump_hash_u64(gpump_hash_u64(gpump_hash_u64(hash, action.kind), action.sm), action.index);
                if (action.kind == GPUMP_SCHEDULER_SETUP) (void)gpump_scheduler_report_ready(scheduler, now, action.sm);
                for (i = 0; action.kind == GPUMP_SCHEDULER_PREEMPT && i < residents; i++)
                    if (on_sm[i] == action.sm) leaving[i] = action.technique != GPUMP_TECHNIQUE_DRAIN;
                if (action.kind != GPUMP_SCHEDULER_ISSUE) continue;
                if (residents == 64) return 0;
                resident[residents] = action.block;
                on_sm[residents] = action.sm;
                leaving[residents++] = 0;
            }
        }
        hash = gpump_hash_u64(hash, gpump_hash(&gpump_scheduler_component, scheduler));
    }
    return hash;
}

#ifndef GPUMP_NO_PROGRAM
/* A program hashed by its listing. */
static uint64_t hash_listing(uint64_t hash, const gpump_program *program) {
    char text[512];
    for (uint32_t k = 0; k < gpump_program_count(program).instructions; k++)
        hash = gpump_hash_bytes(hash, text, gpump_program_text(program, k, text, sizeof text) % sizeof text);
    return hash;
}

/* What the analyses and transforms make of a program: live counts, allocation onto a small file, preemption points. */
static uint64_t hash_analyses(uint64_t hash, const gpump_program *program) {
    static gpump_preempt_point points[512];
    gpump_liveness *liveness;
    gpump_registers_config config;
    gpump_registers_report report;
    gpump_preempt_points_config where;
    gpump_program *allocated, *placed;
    uint64_t set[4];
    uint32_t registers, predicates, count = 0;
    if (gpump_liveness_create(program, NULL, &liveness) != GPUMP_OK || gpump_liveness_words(liveness) > 4) return 0;
    for (uint32_t k = 0; k < gpump_program_count(program).instructions; k++) {
        if (gpump_liveness_diverged(liveness, k, set) != GPUMP_OK) return 0;
        gpump_liveness_count(liveness, set, &registers, &predicates);
        hash = gpump_hash_u64(gpump_hash_u64(hash, registers), predicates);
    }
    gpump_liveness_destroy(liveness);
    (void)gpump_preset(&gpump_registers_component, &config, "fermi", NULL);
    config.registers = 8;
    if (gpump_registers_allocate(program, &config, &allocated, &report, NULL) ==
        GPUMP_OK) { /* with spills, most of the time */
        hash = hash_listing(gpump_hash_u64(hash, report.spilled), allocated);
        gpump_program_destroy(allocated);
    }
    config.registers = 63;
    if (gpump_registers_allocate(program, &config, &allocated, &report, NULL) != GPUMP_OK) return hash;
    hash = hash_listing(gpump_hash_u64(hash, report.registers), allocated);
    (void)gpump_preset(&gpump_preempt_points_component, &where, "lin", NULL);
    where.interval = 10;
    if (gpump_preempt_points_place(allocated, &where, &placed, points, 512, &count, NULL) == GPUMP_OK) {
        hash = hash_listing(hash, placed);
        for (uint32_t p = 0; p < count; p++)
            hash = gpump_hash_u64(gpump_hash_u64(hash, points[p].vector), points[p].vector_diverged);
        gpump_program_destroy(placed);
    }
    gpump_program_destroy(allocated);
    return hash;
}

/* Random control flow, and everything that is computed about it. */
static uint64_t hash_program(void) {
    uint64_t hash = GPUMP_HASH_SEED;
    for (int i = 0; i < 300; i++) {
        gpump_program *program;
        uint32_t length = 3 + below(60), regs[8], predicate;
        if (gpump_program_create(NULL, &program) != GPUMP_OK) return 0;
        for (uint32_t r = 0; r < 8; r++)
            (void)gpump_program_add_register(program, r < 6 ? GPUMP_WIDTH_32 : GPUMP_WIDTH_64, &regs[r], NULL);
        (void)gpump_program_add_register(program, GPUMP_WIDTH_PREDICATE, &predicate, NULL);
        for (uint32_t k = 0; k < length; k++) {
            gpump_instruction in = gpump_instruction_make(below(3) ? GPUMP_OP_COMPUTE : GPUMP_OP_BRANCH);
            uint32_t defs[1], uses[2];
            if (in.operation == GPUMP_OP_BRANCH) {
                in.target = below(length + 1);
                in.guard = below(4) ? predicate : GPUMP_NONE;
            } else {
                defs[0] = below(9);
                uses[0] = below(8);
                uses[1] = below(8);
                in.defs = defs;
                in.uses = uses;
                in.def_count = 1;
                in.use_count = 2;
            }
            if (gpump_program_add(program, &in, NULL, NULL) != GPUMP_OK) return 1;
        }
        gpump_instruction end = gpump_instruction_make(GPUMP_OP_EXIT);
        (void)gpump_program_add(program, &end, NULL, NULL);
        if (gpump_program_finish(program, NULL) == GPUMP_OK) {
            for (uint32_t b = 0; b < gpump_program_count(program).basic_blocks; b++) {
                gpump_basic_block block;
                gpump_program_basic_block(program, b, &block);
                hash = gpump_hash_u64(gpump_hash_u64(hash, block.dominator), block.post_dominator);
                hash = gpump_hash_u64(gpump_hash_u64(hash, block.loop), block.loop_depth);
            }
            hash = hash_analyses(hash_listing(hash, program), program);
        }
        gpump_program_destroy(program);
    }
    return hash;
}
#endif

int main(void) {
    print("gpu", hash_gpu());
    print("sm", hash_sm(GPUMP_SM_TIMING_HOST));
    print("sm port", hash_sm(GPUMP_SM_TIMING_PORT));
    print("compress", hash_compress());
    print("context", hash_context());
    print("victim", hash_victim());
    print("scheduler", hash_scheduler());
#ifndef GPUMP_NO_PROGRAM
    print("program", hash_program());
#endif
    return 0;
}
