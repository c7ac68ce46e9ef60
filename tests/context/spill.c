/* labels: unit property */
#include "test.h"

static gpump_spill *make(const gpump_spill_config *config) {
    size_t bytes;
    gpump_spill *spill;
    assert_int_equal(gpump_bytes(&gpump_spill_component, config, &bytes, NULL), GPUMP_OK);
    assert_int_equal(gpump_init(&gpump_spill_component, malloc(bytes), bytes, config, &spill, NULL), GPUMP_OK);
    return spill;
}
static gpump_spill_config preset(void) {
    gpump_spill_config config;
    assert_int_equal(gpump_preset(&gpump_spill_component, &config, "gtx480_lin", NULL), GPUMP_OK);
    return config;
}
static gpump_spill_warp warp(uint64_t point, uint64_t drained, uint32_t registers, uint32_t bytes) {
    gpump_spill_warp w;
    w.point_cycle = point;
    w.drained_cycle = drained;
    w.registers = registers;
    w.bytes = bytes;
    return w;
}
static gpump_result save_time(const gpump_spill_config *config, uint64_t port_cycles, uint64_t port_bytes,
                              uint64_t latency, uint64_t start, const gpump_spill_warp *warps, uint32_t count,
                              uint32_t shared_bytes, gpump_spill_times *times, gpump_diag *diag) {
    gpump_spill_transfer transfer = {warps, start, {port_cycles, port_bytes, 0}, latency, count, shared_bytes, 0, 0};
    return gpump_spill_save_time(config, &transfer, times, diag);
}

/* The view of the space for the context, filled by the host or by a pool: what does not fit is refused, and nothing
 * changes. */
static void a_save_keeps_to_its_room(void **state) {
    gpump_spill_config config = preset();
    gpump_spill *spill = make(&config);
    gpump_context_room room = {1000, 1, 0};
    gpump_spill_warp w = warp(95, 100, 4, 512);
    uint64_t hash = gpump_hash(&gpump_spill_component, spill);
    uint32_t job;
    (void)state;
    assert_int_equal(gpump_spill_save(spill, 90, 7, 2, 200, 20, &room, &job), GPUMP_ERROR_FULL);
    room.contexts = 1;
    assert_int_equal(gpump_spill_save(spill, 90, 7, 2, 981, 20, &room, &job), GPUMP_ERROR_CAPACITY);
    assert_true(gpump_hash(&gpump_spill_component, spill) == hash);
    assert_int_equal(gpump_spill_save(spill, 90, 7, 2, 200, 20, &room, &job), GPUMP_OK);
    assert_int_equal(gpump_spill_report_drained(spill, 100, job, &w), GPUMP_OK); /* 732 of 1000 bytes */
    hash = gpump_hash(&gpump_spill_component, spill);
    w.bytes = 269;
    assert_int_equal(gpump_spill_report_drained(spill, 101, job, &w), GPUMP_ERROR_CAPACITY);
    assert_int_equal(gpump_spill_report_metadata(spill, job, 289), GPUMP_ERROR_CAPACITY);
    assert_true(gpump_hash(&gpump_spill_component, spill) == hash);
    assert_int_equal(gpump_spill_report_metadata(spill, job, 10), GPUMP_OK); /* less is always taken */
    w.bytes = 278;
    assert_int_equal(gpump_spill_report_drained(spill, 101, job, &w), GPUMP_OK);
    assert_int_equal(gpump_spill_report_metadata(spill, job, 11), GPUMP_ERROR_CAPACITY);
    assert_int_equal(gpump_check(&gpump_spill_component, spill, NULL), GPUMP_OK);
    free(spill);
}

/* By hand: the first register leaves the compressor 1 + 2 cycles after the warp has drained, one more each cycle. */
static void one_warp_by_hand(void **state) {
    gpump_spill_config config = preset();
    gpump_spill *spill = make(&config);
    gpump_spill_action action;
    gpump_spill_warp w = warp(95, 100, 4, 4 * 64);
    gpump_spill_statistics statistics;
    uint32_t job;
    (void)state;
    assert_int_equal(gpump_spill_save(spill, 90, 7, 1, 200, 20, NULL, &job), GPUMP_OK);
    assert_true(gpump_next_cycle(&gpump_spill_component, spill) == GPUMP_UNKNOWN);
    assert_int_equal(gpump_spill_report_drained(spill, 100, job, &w), GPUMP_OK);
    /* 64 bytes per register: two registers fill a segment */
    assert_int_equal(gpump_next_cycle(&gpump_spill_component, spill), 104);
    assert_int_equal(gpump_spill_next(spill, 103, &action), GPUMP_EMPTY);
    assert_int_equal(gpump_spill_next(spill, 104, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_SPILL_WRITE);
    assert_int_equal(action.bytes, 128);
    assert_int_equal(action.cookie, 7);
    assert_int_equal(gpump_next_cycle(&gpump_spill_component, spill), 106);
    assert_int_equal(gpump_spill_next(spill, 106, &action), GPUMP_OK);
    assert_int_equal(action.offset, 128);
    /* shared memory from then on, 128 bytes per cycle */
    assert_int_equal(gpump_next_cycle(&gpump_spill_component, spill), 107);
    assert_int_equal(gpump_spill_next(spill, 107, &action), GPUMP_OK);
    assert_int_equal(action.part, GPUMP_PART_SHARED_MEMORY);
    assert_int_equal(gpump_spill_next(spill, 110, &action), GPUMP_OK);
    assert_int_equal(action.cycle, 108);
    assert_int_equal(action.bytes, 72);
    assert_int_equal(gpump_spill_next(spill, 110, &action), GPUMP_OK);
    assert_int_equal(action.part, GPUMP_PARTS_METADATA);
    assert_int_equal(action.bytes, 20);
    assert_int_equal(gpump_spill_next(spill, 200, &action), GPUMP_EMPTY); /* five segments are under way */
    assert_int_equal(gpump_spill_report_moved(spill, 200, job, 6), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_spill_report_moved(spill, 200, job, 5), GPUMP_OK);
    assert_int_equal(gpump_spill_next(spill, 200, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_SPILL_DONE);
    assert_int_equal(gpump_spill_next(spill, 200, &action), GPUMP_EMPTY);
    gpump_get_statistics(&gpump_spill_component, spill, &statistics);
    assert_int_equal(statistics.drain_cycles, 5);
    assert_int_equal(statistics.spill_cycles, 106 - 95); /* from its own point */
    assert_int_equal(statistics.save_cycles, 110);
    assert_int_equal(statistics.bytes, 256 + 200 + 20);
    assert_int_equal(statistics.segments, 5);
    free(spill);
}

/* A restore's requests in order, cycle by cycle: patterns first, then registers warp by warp. */
static void restore_by_hand(void **state) {
    gpump_spill_config config = preset();
    gpump_spill *spill = make(&config);
    gpump_spill_action action;
    gpump_spill_warp w[2] = {warp(0, 0, 4, 100), warp(0, 0, 2, 156)};
    uint32_t job;
    (void)state;
    assert_int_equal(gpump_spill_restore(spill, 10, 1, w, 2, 128, 32, &job), GPUMP_OK);
    assert_int_equal(gpump_spill_next(spill, 10, &action), GPUMP_OK);
    assert_int_equal(action.part, GPUMP_PARTS_METADATA);
    assert_int_equal(gpump_spill_next(spill, 10, &action), GPUMP_EMPTY); /* the patterns must be known first */
    assert_int_equal(gpump_spill_report_moved(spill, 50, job, 1), GPUMP_OK);
    assert_int_equal(gpump_spill_next(spill, 50, &action), GPUMP_OK);
    assert_int_equal(action.part, GPUMP_PART_SHARED_MEMORY);
    assert_int_equal(gpump_spill_next(spill, 50, &action), GPUMP_OK);
    assert_int_equal(action.part, GPUMP_PART_REGISTERS);
    assert_int_equal(action.bytes, 128);
    assert_int_equal(gpump_spill_next(spill, 50, &action), GPUMP_OK);
    assert_int_equal(action.bytes, 128);
    assert_int_equal(gpump_spill_report_moved(spill, 80, job, 2),
                     GPUMP_OK); /* shared memory and 128 of 256 bytes: warp 0 */
    assert_int_equal(gpump_next_cycle(&gpump_spill_component, spill), 86); /* four registers, two cycles */
    assert_int_equal(gpump_spill_next(spill, 85, &action), GPUMP_EMPTY);
    assert_int_equal(gpump_spill_next(spill, 86, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_SPILL_WARP);
    assert_int_equal(action.warp, 0);
    assert_int_equal(gpump_spill_report_moved(spill, 90, job, 1), GPUMP_OK);
    assert_int_equal(gpump_spill_next(spill, 94, &action), GPUMP_OK);
    assert_int_equal(action.cycle, 94);
    assert_int_equal(action.warp, 1);
    assert_int_equal(gpump_spill_next(spill, 94, &action), GPUMP_OK);
    assert_int_equal(action.kind, GPUMP_SPILL_DONE);
    free(spill);
}

/* A host that ticks every cycle, one segment at a time through a port; returns when each thing happened. */
typedef struct tick_result {
    uint64_t end, bytes, spill_cycles, drain_cycles;
} tick_result;
static tick_result tick(const gpump_spill_config *config, uint64_t port_cycles, uint64_t port_bytes, uint64_t latency,
                        uint64_t start, const gpump_spill_warp *warps, uint32_t count, uint32_t shared,
                        uint32_t metadata, int restores) {
    gpump_spill *spill = make(config);
    gpump_spill_action action;
    gpump_spill_statistics statistics;
    tick_result r = {0, 0, 0, 0};
    uint64_t arrivals[4096], busy_since = 0, busy_bytes = 0, port_free = 0;
    uint32_t job, in = 0, out = 0;
    int done = 0;
    if (restores)
        assert_int_equal(gpump_spill_restore(spill, start, 0, warps, count, shared, metadata, &job), GPUMP_OK);
    else
        assert_int_equal(gpump_spill_save(spill, start, 0, count, shared, metadata, NULL, &job), GPUMP_OK);
    for (uint64_t now = start; !done; now++) {
        assert_true(now < start + 1000000);
        for (uint32_t i = 0; !restores && i < count; i++)
            if (warps[i].drained_cycle == now)
                assert_int_equal(gpump_spill_report_drained(spill, now, job, &warps[i]), GPUMP_OK);
        for (; out < in && arrivals[out] <= now; out++)
            assert_int_equal(gpump_spill_report_moved(spill, now, job, 1), GPUMP_OK);
        while (port_free <= now && gpump_spill_next(spill, now, &action) == GPUMP_OK) {
            if (action.kind == GPUMP_SPILL_DONE) done = 1;
            if (action.kind == GPUMP_SPILL_WARP && restores) r.end = now - start;
            if (action.kind > GPUMP_SPILL_READ) continue;
            if (now > port_free || !busy_bytes) busy_since = now, busy_bytes = 0;
            busy_bytes += action.bytes;
            port_free = busy_since + gpump_muldiv_up(busy_bytes, port_cycles, port_bytes);
            arrivals[in++] = port_free + latency;
            if (!restores) r.end = port_free - start;
        }
    }
    gpump_get_statistics(&gpump_spill_component, spill, &statistics);
    r.bytes = statistics.bytes;
    r.spill_cycles = statistics.spill_cycles;
    r.drain_cycles = statistics.drain_cycles;
    free(spill);
    return r;
}

/* The times that the pipeline calculates are those that a machine of single cycles takes. */
static void the_calculation_is_the_machine(void **state) {
    uint64_t seed = test_seed(), random = seed;
    (void)state;
    for (uint64_t n = 0; n < test_cases(300); n++) {
        gpump_spill_config config = preset();
        gpump_spill_warp warps[12];
        gpump_spill_times times;
        tick_result ticked;
        uint32_t count = 1 + gpump_random_below(&random, 12),
                 shared = gpump_random_below(&random, 3) * gpump_random_below(&random, 2000);
        uint32_t metadata = gpump_random_below(&random, 3) * 100;
        uint64_t port_cycles = 1 + gpump_random_below(&random, 10), port_bytes = 1 + gpump_random_below(&random, 200),
                 total = shared + metadata;
        const int wide = !gpump_random_below(&random, 4); /* several segments in a cycle, which may arrive in it */
        uint64_t latency = gpump_random_below(&random, wide ? 3 : 300), start = gpump_random_below(&random, 1000);
        int restores = (int)gpump_random_below(&random, 2);
        gpump_spill_transfer transfer;
        if (wide) port_cycles = 1, port_bytes = 128 + gpump_random_below(&random, 4000);
        config.outstanding = 1 + gpump_random_below(&random, 64);
        config.registers_per_cycle = 1 + gpump_random_below(&random, 3);
        config.compress_cycles = gpump_random_below(&random, 4);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t point = start + gpump_random_below(&random, 400);
            warps[i] = warp(point, point + gpump_random_below(&random, 50), gpump_random_below(&random, 40), 0);
            if (warps[i].registers) warps[i].bytes = gpump_random_below(&random, warps[i].registers * 130);
            total += warps[i].bytes;
        }
        transfer.warps = warps;
        transfer.count = count;
        transfer.port.cycles = port_cycles;
        transfer.port.bytes = port_bytes;
        transfer.latency_cycles = latency;
        transfer.start_cycle = start;
        transfer.shared_bytes = shared;
        transfer.metadata_bytes = metadata;
        if (restores)
            test_check(gpump_spill_restore_time(&config, &transfer, &times, NULL) == GPUMP_OK, seed, n);
        else
            test_check(gpump_spill_save_time(&config, &transfer, &times, NULL) == GPUMP_OK, seed, n);
        ticked = tick(&config, port_cycles, port_bytes, latency, start, warps, count, shared, metadata, restores);
        test_check(times.bytes == total && ticked.bytes == total, seed, n);
        test_check(times.end == ticked.end, seed, n);
        test_check(times.drain_cycles == ticked.drain_cycles && times.spill_cycles == ticked.spill_cycles, seed, n);
        /* never faster than the port, and no slower than everything one after the other */
        test_check(times.end >= gpump_muldiv_down(total, port_cycles, port_bytes) || !total, seed, n);
    }
}

/* Lin's worked case: BP_1's 13 registers of 8 warps, raw, take the port's time; compressed to 64 bytes per warp, the
 * drain's. */
static void compression_turns_port_time_into_drain_time(void **state) {
    gpump_spill_config config = preset();
    gpump_gpu gpu;
    gpump_spill_warp raw[8], small[8];
    gpump_spill_times all, few;
    uint64_t cycles, bytes;
    (void)state;
    gpump_preset(&gpump_gpu_component, &gpu, "gtx480_lin", NULL);
    cycles = (uint64_t)gpu.clock_khz * gpu.sms;
    bytes = (uint64_t)gpu.memory_mb_per_s * 1000;
    for (uint32_t i = 0; i < 8; i++) {
        raw[i] = warp(0, 0, 13, 1664);
        small[i] = warp(0, 0, 5, 64 + 16);
    }
    assert_int_equal(save_time(&config, cycles, bytes, 0, 0, raw, 8, 1128, &all, NULL), GPUMP_OK);
    assert_int_equal(save_time(&config, cycles, bytes, 0, 0, small, 8, 1128, &few, NULL), GPUMP_OK);
    assert_true(all.end >= gpump_gpu_save_cycles(&gpu, 14440) && all.end <= gpump_gpu_save_cycles(&gpu, 14440) + 10);
    assert_true(few.end * 4 < all.end);
}

typedef struct watched {
    int active, saving;
    uint64_t cookie, registers, shared, metadata, seen[GPUMP_PARTS_METADATA + 1], under_way;
    uint32_t warps, drained, out;
} watched;

/* One unit with its jobs as the test sees them, and what names the case when a check fails. */
typedef struct life {
    gpump_spill_config config;
    gpump_spill *spill;
    watched jobs[64];
    uint64_t random, seed, n, now, cookie, begun, done;
} life;
static uint32_t life_below(life *l, uint32_t limit) { return gpump_random_below(&l->random, limit); }

static gpump_result life_begins(life *l, const gpump_spill_warp *warps) {
    const uint32_t count = 1 + life_below(l, 6), shared = life_below(l, 1000), metadata = life_below(l, 200);
    const int saving = (int)life_below(l, 2);
    uint32_t index;
    const gpump_result result =
        saving ? gpump_spill_save(l->spill, l->now, l->cookie, count, shared, metadata, NULL, &index)
               : gpump_spill_restore(l->spill, l->now, l->cookie, warps, count, shared, metadata, &index);
    watched *w = &l->jobs[result ? 0 : index];
    if (result) return result;
    test_check(!w->active, l->seed, l->n);
    memset(w, 0, sizeof *w);
    w->active = 1;
    w->saving = saving;
    w->cookie = l->cookie++;
    w->shared = shared;
    w->metadata = metadata;
    w->warps = count;
    for (uint32_t i = 0; !saving && i < count; i++) w->registers += warps[i].bytes;
    l->begun++;
    return GPUMP_OK;
}

static gpump_result life_moves(life *l, uint32_t index) {
    watched *w = &l->jobs[index];
    const uint32_t moved = life_below(l, 4);
    const gpump_result result = gpump_spill_report_moved(l->spill, l->now, index, moved);
    test_check((result == GPUMP_OK) == (w->active && moved <= w->under_way), l->seed, l->n);
    if (!result) w->under_way -= moved;
    return result;
}

/* A segment follows the one before it in its part, and parts come in their order. */
static void life_segment(const life *l, watched *w, const gpump_spill_action *action) {
    const int has_registers = w->seen[GPUMP_PART_REGISTERS] == w->registers;
    const int has_shared = w->seen[GPUMP_PART_SHARED_MEMORY] == w->shared;
    const int has_metadata = w->seen[GPUMP_PARTS_METADATA] == w->metadata;
    test_check(action->kind == (w->saving ? GPUMP_SPILL_WRITE : GPUMP_SPILL_READ), l->seed, l->n);
    test_check(action->bytes > 0 && action->bytes <= l->config.segment_bytes && action->offset == w->seen[action->part],
               l->seed, l->n);
    if (w->saving && action->part == GPUMP_PART_SHARED_MEMORY)
        test_check(w->drained == w->warps && has_registers, l->seed, l->n);
    if (w->saving && action->part == GPUMP_PARTS_METADATA) test_check(has_shared, l->seed, l->n);
    if (!w->saving && action->part != GPUMP_PARTS_METADATA) test_check(has_metadata, l->seed, l->n);
    if (!w->saving && action->part == GPUMP_PART_REGISTERS) test_check(has_shared, l->seed, l->n);
    w->seen[action->part] += action->bytes;
    w->under_way++;
}

static void life_acts(life *l) {
    gpump_spill_action action;
    uint64_t under_way = 0;
    while (gpump_spill_next(l->spill, l->now, &action) == GPUMP_OK) {
        watched *w = &l->jobs[action.job];
        const int has_rest =
            w->seen[GPUMP_PART_SHARED_MEMORY] == w->shared && w->seen[GPUMP_PARTS_METADATA] == w->metadata;
        test_check(w->active && w->cookie == action.cookie && action.cycle <= l->now, l->seed, l->n);
        if (action.kind == GPUMP_SPILL_WARP) {
            test_check(!w->saving && action.warp == w->out && has_rest, l->seed, l->n);
            w->out++;
        } else if (action.kind == GPUMP_SPILL_DONE) {
            test_check(w->seen[GPUMP_PART_REGISTERS] == w->registers && has_rest && !w->under_way, l->seed, l->n);
            test_check(w->saving ? w->drained == w->warps : w->out == w->warps, l->seed, l->n);
            w->active = 0;
            l->done++;
        } else
            life_segment(l, w, &action);
    }
    for (uint32_t i = 0; i < l->config.jobs; i++) under_way += l->jobs[i].under_way;
    test_check(under_way <= l->config.outstanding, l->seed, l->n);
}

/* One fact, good or bad, about a job; an error changes nothing. */
static void life_step(life *l) {
    const uint32_t index = life_below(l, l->config.jobs), metadata = life_below(l, 300);
    watched *w = &l->jobs[index];
    gpump_spill_warp warps[40];
    gpump_result result = GPUMP_OK;
    uint64_t hash = gpump_hash(&gpump_spill_component, l->spill);
    l->now += life_below(l, 10);
    for (int i = 0; i < 40; i++) {
        warps[i] = warp(l->now, l->now, life_below(l, 20), 0);
        if (warps[i].registers) warps[i].bytes = life_below(l, 128 * warps[i].registers + 1);
    }
    if (!life_below(l, 60)) {
        result = gpump_spill_cancel(l->spill, l->now, index);
        test_check((result == GPUMP_OK) == w->active, l->seed, l->n);
        l->begun -= w->active != 0;
        w->active = 0;
        w->under_way = 0;
        return;
    }
    switch (life_below(l, 6)) {
    case 0: result = life_begins(l, warps); break;
    case 1:
    case 2:
        result = gpump_spill_report_drained(l->spill, l->now, index, &warps[0]);
        test_check((result == GPUMP_OK) == (w->active && w->saving && w->drained < w->warps), l->seed, l->n);
        if (!result) w->drained++, w->registers += warps[0].bytes;
        break;
    case 3:
        if (life_below(l, 8) == 0 && gpump_spill_report_metadata(l->spill, index, metadata) == GPUMP_OK) {
            test_check(w->active && w->saving && w->seen[GPUMP_PARTS_METADATA] == 0, l->seed, l->n);
            w->metadata = metadata;
        }
        hash = gpump_hash(&gpump_spill_component, l->spill);
        result = life_moves(l, index);
        break;
    default: life_acts(l);
    }
    if (result < 0) test_check(gpump_hash(&gpump_spill_component, l->spill) == hash, l->seed, l->n);
}

/* Whatever has begun ends. */
static void life_ends(life *l) {
    for (int guard = 0; l->done < l->begun; guard++) {
        gpump_spill_action action;
        gpump_spill_warp w = warp(l->now, l->now, 3, 100);
        test_check(guard < 100000, l->seed, l->n);
        l->now++;
        for (uint32_t i = 0; i < l->config.jobs; i++) {
            if (!l->jobs[i].active) continue;
            if (gpump_spill_report_drained(l->spill, l->now, i, &w) == GPUMP_OK) l->jobs[i].drained++;
            while (gpump_spill_report_moved(l->spill, l->now, i, 1) == GPUMP_OK) {}
        }
        while (gpump_spill_next(l->spill, l->now, &action) == GPUMP_OK)
            if (action.kind == GPUMP_SPILL_DONE) l->jobs[action.job].active = 0, l->done++;
    }
}

/* Several blocks at once, facts in any order, good and bad: bytes are conserved and in order, errors change nothing. */
static void random_jobs_conserve_bytes_and_their_order(void **state) {
    static life l;
    (void)state;
    memset(&l, 0, sizeof l);
    l.seed = l.random = test_seed();
    for (l.n = 0; l.n < test_cases(300); l.n++) {
        size_t bytes;
        void *memory;
        gpump_spill *copy;
        memset(l.jobs, 0, sizeof l.jobs);
        l.now = l.cookie = l.begun = l.done = 0;
        l.config = preset();
        l.config.jobs = 1 + life_below(&l, 5);
        l.config.warps = 1 + life_below(&l, 30);
        l.config.outstanding = 1 + life_below(&l, 10);
        l.spill = make(&l.config);
        gpump_bytes(&gpump_spill_component, &l.config, &bytes, NULL);
        memory = malloc(bytes);
        for (int step = 0; step < 400; step++) {
            life_step(&l);
            if (step % 100) continue;
            memcpy(memory, l.spill, bytes);
            test_check(gpump_adopt(&gpump_spill_component, memory, bytes, &l.config, &copy, NULL) == GPUMP_OK &&
                           gpump_hash(&gpump_spill_component, copy) == gpump_hash(&gpump_spill_component, l.spill),
                       l.seed, l.n);
        }
        life_ends(&l);
        free(memory);
        free(l.spill);
    }
}

/* A warp runs on to the next preemption point only where that costs less than to save it at once. */
static void stop_now_or_run_on(void **state) {
    gpump_spill_decision d = {1664, 64, 30, UINT64_C(4) << 16, {700000 * 15, 177000000, 0}, 0};
    uint64_t here, there;
    (void)state;
    assert_int_equal(gpump_spill_run_on(&d, &here, &there),
                     0); /* 99 cycles to write all here, 120 + 4 to go there first */
    assert_int_equal(here, 99);
    assert_int_equal(there, 124);
    d.distance = 20;
    assert_int_equal(gpump_spill_run_on(&d, &here, &there), 1);
    d.distance = GPUMP_UNKNOWN;
    assert_int_equal(gpump_spill_run_on(&d, NULL, NULL), 0);
    d.here_bytes = d.there_bytes; /* a tie stops: nothing is gained by a point that is here */
    d.distance = 0;
    assert_int_equal(gpump_spill_run_on(&d, &here, &there), 0);
    assert_int_equal(here, there);
    d.here_bytes = 1664;
    d.distance = 30;
    d.byte_weight_q16 = 65536 / 8; /* bytes cost bandwidth that others want */
    assert_int_equal(gpump_spill_run_on(&d, NULL, NULL), 1);
}

/* The first job's gate (segments to wait for): behind the head are 7 words of 8 bytes, and 9 of 4. */
static uint32_t *gate_of(gpump_spill *spill) {
    return (uint32_t *)(void *)((char *)spill + sizeof(gpumpi_head) + 2 * 8 + sizeof(gpump_spill_statistics) +
                                sizeof(gpump_spill_config) + 3 * 4 + 7 * 8 + 9 * 4);
}
/* A restore cannot wait for more segments than are under way: nothing would ever open its gate. */
static void a_gate_that_never_opens(void **state) {
    gpump_spill_config config = preset();
    gpump_spill *spill = make(&config);
    gpump_spill_action action;
    gpump_spill_warp w = warp(0, 0, 4, 256);
    gpump_diag diag;
    uint32_t job;
    (void)state;
    assert_int_equal(gpump_spill_restore(spill, 10, 1, &w, 1, 128, 0, &job), GPUMP_OK);
    assert_int_equal(gpump_spill_next(spill, 10, &action), GPUMP_OK);
    assert_int_equal(action.part, GPUMP_PART_SHARED_MEMORY);
    assert_int_equal(*gate_of(spill), 1);
    assert_int_equal(gpump_check(&gpump_spill_component, spill, NULL), GPUMP_OK);
    *gate_of(spill) = 2;
    assert_int_equal(gpump_check(&gpump_spill_component, spill, &diag), GPUMP_ERROR_FORMAT);
    assert_string_equal(diag.field, "a restore without its warps");
    free(spill);
}

/* Times that do not fit into 64 bits are an error, not an assertion or a loop. */
static void times_beyond_64_bits_are_refused(void **state) {
    const gpump_spill_config config = preset();
    gpump_spill_times times, kept;
    gpump_spill_warp w;
    gpump_diag diag;
    (void)state;
    memset(&times, 0x5a, sizeof times);
    kept = times;
    for (uint32_t i = 0; i < 8; i++) {
        const uint64_t far[] = {GPUMP_UNKNOWN, GPUMP_UNKNOWN - 1};
        const uint64_t end = far[i & 1];
        gpump_spill_transfer transfer = {&w, 20, {1, 1, 0}, 0, 1, 100, 0, 0};
        w = warp(11, 20, 4, 512);
        if (i / 2 == 0) transfer.latency_cycles = end;
        if (i / 2 == 1) transfer.port.cycles = end;
        if (i / 2 == 2) w.point_cycle = w.drained_cycle = transfer.start_cycle = end;
        if (i / 2 == 3) w.drained_cycle = end;
        assert_int_equal(gpump_spill_save_time(&config, &transfer, &times, &diag), GPUMP_ERROR_ARGUMENT);
        if (i / 2 != 3) /* a restore ignores the cycles of warps */
            assert_int_equal(gpump_spill_restore_time(&config, &transfer, &times, &diag), GPUMP_ERROR_ARGUMENT);
        assert_memory_equal(&times, &kept, sizeof times);
    }
}

/* Differences of statistics have names and units, and the bits of a spill unit grow with its configuration. */
static void statistics_and_bits_are_those_of_the_configuration(void **state) {
    const gpump_spill_config config = preset();
    gpump_spill_config bad;
    gpump_spill_statistics early, late, difference;
    const char *name, *unit, *words;
    uint64_t value, bits, fewer;
    uint32_t i = 0;
    (void)state;
    memset(&early, 0, sizeof early);
    memset(&late, 0, sizeof late);
    early.bytes = 5;
    late.bytes = 12;
    gpump_statistics_diff(&gpump_spill_component, &early, &late, &difference);
    for (; gpump_statistics_field(&gpump_spill_component, &difference, i, &name, &unit, &words, &value) == GPUMP_OK;
         i++) {
        assert_true(*name && *unit && *words);
        assert_int_equal(value, strcmp(name, "bytes") ? 0 : 7);
    }
    assert_int_equal(i, sizeof early / 8);
    bad = config;
    bad.jobs = 1;
    assert_int_equal(gpump_bits(&gpump_spill_component, &config, &bits, NULL), GPUMP_OK);
    assert_int_equal(gpump_bits(&gpump_spill_component, &bad, &fewer, NULL), GPUMP_OK);
    assert_true(fewer < bits && fewer > 1024);
    bad.jobs = 0;
    assert_int_equal(gpump_bits(&gpump_spill_component, &bad, &fewer, NULL), GPUMP_ERROR_CONFIG);
}

/* Calls with wrong numbers, in the wrong state or back in time are refused, and change nothing. */
static void wrong_calls_of_spill_are_refused(void **state) {
    gpump_spill_config config = preset(), bad = config;
    gpump_spill *spill = make(&config), *other;
    gpump_spill_warp w = warp(5, 5, 0, 8);
    gpump_spill_times times;
    gpump_spill_action action;
    gpump_diag diag;
    size_t bytes;
    uint32_t job;
    (void)state;
    assert_int_equal(gpump_spill_save(spill, 10, 0, 0, 0, 0, NULL, &job), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_save(spill, 10, 0, config.warps + 1, 0, 0, NULL, &job), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_save(spill, 10, 0, config.warps, 0, 0, NULL, &job), GPUMP_OK);
    assert_int_equal(gpump_spill_save(spill, 10, 0, 1, 0, 0, NULL, &job), GPUMP_BUSY);
    assert_int_equal(gpump_spill_save(spill, 9, 0, 1, 0, 0, NULL, &job), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_spill_report_drained(spill, 10, 0, &w), GPUMP_ERROR_ARGUMENT); /* bytes without registers */
    w = warp(11, 11, 1, 8);
    assert_int_equal(gpump_spill_report_drained(spill, 10, 0, &w), GPUMP_ERROR_ARGUMENT); /* its point lies ahead */
    assert_int_equal(gpump_spill_report_drained(spill, 11, 63, &w), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_report_drained(spill, 11, 1, &w), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_spill_report_moved(spill, 11, 1, 0), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_spill_next(spill, 9, &action), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_spill_report_metadata(spill, 1, 5), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_spill_report_metadata(spill, 0, 5), GPUMP_OK);
    assert_int_equal(gpump_spill_cancel(spill, 9, 0), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_spill_cancel(spill, 11, 1), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_spill_cancel(spill, 11, 64), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(save_time(&config, 1, 1, 0, 0, &w, 257, 0, &times, &diag), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(save_time(&config, 0, 1, 0, 0, &w, 1, 0, &times, &diag), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(save_time(&config, 1, 1, 0, 12, &w, 1, 0, &times, &diag), GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "warps.drained_cycle");
    assert_int_equal(gpump_spill_next(spill, GPUMP_UNKNOWN, &action), GPUMP_ERROR_TIME);
    assert_int_equal(gpump_spill_save(spill, GPUMP_UNKNOWN, 0, 1, 0, 0, NULL, &job), GPUMP_ERROR_TIME);
    bad.segment_bytes = 0;
    assert_int_equal(gpump_bytes(&gpump_spill_component, &bad, &bytes, &diag), GPUMP_ERROR_CONFIG);
    assert_string_equal(diag.field, "segment_bytes");
    gpump_bytes(&gpump_spill_component, &config, &bytes, NULL);
    bad = config;
    bad.jobs = 3;
    assert_int_equal(gpump_adopt(&gpump_spill_component, spill, bytes, &bad, &other, NULL), GPUMP_ERROR_FORMAT);
    assert_int_equal(gpump_preset(&gpump_spill_component, &bad, "none", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    free(spill);
}

/* Three blocks, whose warps drain in turn, leave one after the other, also while only events are asked for. */
static void blocks_leave_in_order(void **state) {
    gpump_spill_config config = preset();
    gpump_spill *spill = make(&config);
    gpump_spill_action action;
    gpump_spill_warp w = warp(0, 0, 8, 8 * 128);
    uint64_t now = 0;
    uint32_t jobs[3], i, n, current = 0, done = 0, segments[3] = {0, 0, 0};
    (void)state;
    for (i = 0; i < 3; i++) assert_int_equal(gpump_spill_save(spill, now, i, 2, 1024, 64, NULL, &jobs[i]), GPUMP_OK);
    for (n = 0; n < 2; n++)
        for (i = 3; i-- > 0;) assert_int_equal(gpump_spill_report_drained(spill, now, jobs[i], &w), GPUMP_OK);
    for (now = 1000; done < 3; now += 10) {
        assert_int_equal(gpump_spill_next(spill, now, &action), GPUMP_OK);
        assert_int_equal(action.kind, GPUMP_SPILL_WRITE);
        assert_int_equal(action.cookie, current);
        if (++segments[current] < 2 * 8 + 1024 / 128 + 1) continue;
        assert_int_equal(gpump_spill_next_event(spill, now, &action), GPUMP_EMPTY);
        assert_int_equal(gpump_spill_report_moved(spill, now, jobs[current], segments[current]), GPUMP_OK);
        assert_int_equal(gpump_spill_next_event(spill, now, &action),
                         GPUMP_OK); /* the port may be taken: others' segments are ready, and stay */
        assert_int_equal(action.kind, GPUMP_SPILL_DONE);
        assert_int_equal(action.cookie, current);
        assert_int_equal(gpump_spill_next_event(spill, now, &action), GPUMP_EMPTY);
        current++;
        done++;
    }
    assert_int_equal(gpump_spill_next(spill, now, &action), GPUMP_EMPTY);
    /* Who has nothing ready does not hold up the others. */
    for (i = 0; i < 2; i++) assert_int_equal(gpump_spill_save(spill, now, i, 1, 0, 64, NULL, &jobs[i]), GPUMP_OK);
    assert_int_equal(gpump_spill_report_drained(spill, now, jobs[1], &w), GPUMP_OK);
    assert_int_equal(gpump_spill_next(spill, now + 100, &action), GPUMP_OK);
    assert_int_equal(action.cookie, 1);
    assert_int_equal(gpump_spill_next_event(NULL, now, &action), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_spill_next_event(spill, 5, &action), GPUMP_ERROR_TIME);
    free(spill);
}

/* A transfer takes the same time whenever it begins, and the same as ever: the time of 300 random transfers and the
 * state of an engine on the way, as one number each. A change has to be meant, and is written down here. */
static void same_times_and_states(void **state) {
    static const uint64_t expected[] = {UINT64_C(0x0334b9c3e423aac1), UINT64_C(0x0edd325649ad70e8)};
    uint64_t random = 1, found[2] = {GPUMP_HASH_SEED, GPUMP_HASH_SEED};
    gpump_spill_config config = preset();
    gpump_spill *spill = make(&config);
    (void)state;
    for (uint32_t n = 0; n < 300; n++) {
        gpump_spill_warp warps[2][24];
        gpump_spill_times times[2];
        const uint64_t start = gpump_random_below(&random, 100000), cycles = 1 + gpump_random_below(&random, 3),
                       bytes = 16u << gpump_random_below(&random, 5), latency = gpump_random_below(&random, 900);
        const uint32_t count = 1 + gpump_random_below(&random, 24), shared = gpump_random_below(&random, 9000);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t registers = 1 + gpump_random_below(&random, 40);
            const uint64_t drained = gpump_random_below(&random, 3000);
            warps[0][i] = warp(drained, drained, registers, registers * (1 + gpump_random_below(&random, 128)));
            warps[1][i] = warps[0][i];
            warps[1][i].point_cycle += start;
            warps[1][i].drained_cycle += start;
        }
        for (uint32_t restore = 0; restore < 2; restore++) {
            for (uint32_t k = 0; k < 2; k++) {
                const gpump_spill_transfer transfer = {warps[k], k * start, {cycles, bytes, 0}, latency, count, shared,
                                                       n,        0};
                memset(&times[k], (int)(17 + k), sizeof times[k]);
                assert_int_equal(
                    (restore ? gpump_spill_restore_time : gpump_spill_save_time)(&config, &transfer, &times[k], NULL),
                    GPUMP_OK);
            }
            assert_memory_equal(&times[0], &times[1], sizeof times[0]);
            found[0] = gpumpi_hash_u64s(found[0], &times[0].end, sizeof times[0] / 8);
        }
    }
    for (uint32_t step = 0, jobs = 0, job[3] = {0}; step < 200; step++) {
        const uint64_t now = 20 * step;
        const gpump_spill_warp w = warp(now, now, 1 + gpump_random_below(&random, 30), 900);
        gpump_spill_action action;
        if (step % 40 == 0 && gpump_spill_save(spill, now, step, 4, 1000, 20, NULL, &job[jobs % 3]) == GPUMP_OK) jobs++;
        if (jobs) (void)gpump_spill_report_drained(spill, now, job[gpump_random_below(&random, 3)], &w);
        if (gpump_random_below(&random, 2)) (void)gpump_spill_next(spill, now, &action);
        found[1] = gpump_hash_u64(found[1], gpump_hash(&gpump_spill_component, spill));
    }
    free(spill);
    for (uint32_t i = 0; i < 2; i++)
        if (found[i] != expected[i]) printf("UINT64_C(0x%016llx)\n", (unsigned long long)found[i]);
    assert_memory_equal(found, expected, sizeof found);
}

/* A transfer takes as long whenever it begins, and the first warp of one is the last as well. */
static void times_do_not_depend_on_the_start(void **state) {
    gpump_spill_config config;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_spill_component, &config, "gtx480_lin", NULL), GPUMP_OK);
    for (uint32_t restores = 0; restores < 2; restores++)
        for (uint32_t count = 1; count < 4; count++) {
            gpump_spill_times times[2];
            memset(times, 0, sizeof times);
            for (uint32_t later = 0; later < 2; later++) {
                const uint64_t start = later ? 1000000 : 0;
                gpump_spill_warp warps[3];
                gpump_spill_transfer transfer = {warps, start, {1, 32, 0}, 100, count, 256, 64, 0};
                for (uint32_t i = 0; i < 3; i++) {
                    warps[i].point_cycle = warps[i].drained_cycle = start + 50 * i;
                    warps[i].registers = 70;
                    warps[i].bytes = 70 * 128; /* more segments than may be under way */
                }
                assert_int_equal((restores ? gpump_spill_restore_time : gpump_spill_save_time)(&config, &transfer,
                                                                                               &times[later], NULL),
                                 GPUMP_OK);
            }
            assert_memory_equal(&times[0], &times[1], sizeof times[0]);
            assert_true(times[0].first_warp > 0 && times[0].first_warp <= times[0].end);
            if (restores) assert_int_equal(times[0].first_warp<times[0].end, count> 1);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_save_keeps_to_its_room),
        cmocka_unit_test(one_warp_by_hand),
        cmocka_unit_test(restore_by_hand),
        cmocka_unit_test(the_calculation_is_the_machine),
        cmocka_unit_test(compression_turns_port_time_into_drain_time),
        cmocka_unit_test(random_jobs_conserve_bytes_and_their_order),
        cmocka_unit_test(stop_now_or_run_on),
        cmocka_unit_test(wrong_calls_of_spill_are_refused),
        cmocka_unit_test(times_beyond_64_bits_are_refused),
        cmocka_unit_test(statistics_and_bits_are_those_of_the_configuration),
        cmocka_unit_test(a_gate_that_never_opens),
        cmocka_unit_test(blocks_leave_in_order),
        cmocka_unit_test(same_times_and_states),
        cmocka_unit_test(times_do_not_depend_on_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
