/* labels: unit property */
/* gpump_spill: the mirror keeps, for every byte of a block's registers, the cycle at which the byte has left the
 * compressor or, in a restore, whether it has arrived. */
#include "model/model.h"

enum { JOBS = 5, WARPS = 24, BYTES = 40000, SAVE = 1, RESTORE = 2 };

typedef struct mirror_job {
    uint64_t cookie, start, part_start;
    uint64_t at[GPUMP_PARTS_METADATA + 1];   /* bytes of each part that have been handed over, by its gpump_part bits */
    uint64_t size[GPUMP_PARTS_METADATA + 1]; /* bytes of each part known so far */
    uint64_t arrived;                        /* restore: bytes of registers that have arrived */
    uint64_t warp_point[WARPS], warp_cycle[WARPS], warp_end[WARPS]; /* save: last register out; restore: may run */
    uint32_t warp_registers[WARPS];
    uint32_t kind, warps, warps_in, warps_out, part;
    uint32_t flight_first, flight_count;
    uint32_t flight[2 * BYTES / 8]; /* bytes of registers in each segment under way, oldest first; 0 for other parts */
    uint64_t byte_cycle[BYTES];     /* save */
} mirror_job;

static struct {
    gpump_spill *spill;
    gpump_spill_config config;
    gpump_spill_statistics statistics;
    uint64_t now, told, engine_free, cookies; /* told: the time of the last call that took one */
    mirror_job jobs[JOBS];
} w;

static uint64_t up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }
static uint32_t warps_promised(void) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < w.config.jobs; i++) sum += w.jobs[i].kind ? w.jobs[i].warps : 0;
    return sum;
}
static uint32_t under_way(void) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < w.config.jobs; i++) sum += w.jobs[i].kind ? w.jobs[i].flight_count : 0;
    return sum;
}

/* Restore: parts that are complete make way for the next, and warps whose registers are here enter the decompressor. */
static void restore_goes_on(mirror_job *j) {
    if (j->part == GPUMP_PARTS_METADATA && j->at[GPUMP_PARTS_METADATA] == j->size[GPUMP_PARTS_METADATA] &&
        !j->flight_count) {
        j->part = GPUMP_PART_SHARED_MEMORY;
        j->part_start = w.now;
    }
    if (j->part == GPUMP_PART_SHARED_MEMORY && j->at[GPUMP_PART_SHARED_MEMORY] == j->size[GPUMP_PART_SHARED_MEMORY]) {
        j->part = GPUMP_PART_REGISTERS;
        j->part_start = w.now;
    }
    if (j->part != GPUMP_PART_REGISTERS) return;
    for (uint32_t i = 0; i < j->flight_count; i++) /* shared memory that is still under way stands before them */
        if (!j->flight[j->flight_first + i]) return;
    for (uint32_t i = 0; i < j->warps; i++) {
        if (j->warp_cycle[i] != GPUMP_UNKNOWN) continue;
        if (j->warp_end[i] > j->arrived) break;
        w.engine_free =
            (w.engine_free > w.now ? w.engine_free : w.now) + up(j->warp_registers[i], w.config.registers_per_cycle);
        j->warp_cycle[i] = w.engine_free + w.config.compress_cycles;
    }
}

static gpump_spill_warp any_warp(void) {
    gpump_spill_warp warp;
    memset(&warp, 0, sizeof warp);
    warp.registers = below(once_in(8) ? 2 : 12);
    if (warp.registers) warp.bytes = below(once_in(3) ? 20 : 128 * warp.registers);
    warp.point_cycle = w.now - below((uint32_t)(w.now < 50 ? w.now + 1 : 50));
    warp.drained_cycle = warp.point_cycle;
    if (once_in(60)) warp.registers = 0, warp.bytes = 1 + below(3); /* bytes of no register */
    return warp;
}
static int is_wrong(const gpump_spill_warp *warp) { return warp->bytes && !warp->registers; }

static void begin_job(void) {
    gpump_spill_warp warps[WARPS + 2];
    const uint64_t time = model_time(w.now, w.told);
    const uint32_t kind = 1 + below(2), count = below(8) + (once_in(30) ? WARPS : 0),
                   shared = below(once_in(3) ? 2 : 600);
    const uint32_t metadata = below(once_in(3) ? 2 : 300);
    uint32_t job = 77, index = 0;
    gpump_result expected = GPUMP_OK;
    mirror_job *j;
    int wrong = 0;
    for (uint32_t i = 0; i < WARPS + 2; i++) {
        warps[i] = any_warp();
        if (i < count && kind == RESTORE) wrong |= is_wrong(&warps[i]);
    }
    if (count > WARPS + 2) return;
    while (index < w.config.jobs && w.jobs[index].kind) index++;
    if (wrong || !count || count > w.config.warps)
        expected = GPUMP_ERROR_ARGUMENT;
    else if (model_time_is_wrong(time, w.told))
        expected = GPUMP_ERROR_TIME;
    else if (index == w.config.jobs || warps_promised() + count > w.config.warps)
        expected = GPUMP_BUSY;
    if (kind == SAVE)
        MODEL_CALL(expected, gpump_spill_save(w.spill, time, w.cookies + 1, count, shared, metadata, NULL, &job));
    else
        MODEL_CALL(expected, gpump_spill_restore(w.spill, time, w.cookies + 1, warps, count, shared, metadata, &job));
    MODEL_CHECK(job == (expected ? 77 : index));
    if (expected) return;
    w.told = w.now;
    j = &w.jobs[index];
    memset(j, 0, offsetof(mirror_job, flight));
    j->cookie = ++w.cookies;
    j->kind = kind;
    j->start = j->part_start = w.now;
    j->warps = count;
    j->size[GPUMP_PART_SHARED_MEMORY] = shared;
    j->size[GPUMP_PARTS_METADATA] = metadata;
    j->part = GPUMP_PART_REGISTERS;
    if (kind == SAVE) return;
    j->part = GPUMP_PARTS_METADATA;
    for (uint32_t i = 0; i < count; i++) {
        j->size[GPUMP_PART_REGISTERS] += warps[i].bytes;
        j->warp_end[i] = j->size[GPUMP_PART_REGISTERS];
        j->warp_registers[i] = warps[i].registers;
        j->warp_cycle[i] = GPUMP_UNKNOWN;
    }
    j->warps_in = count;
    restore_goes_on(j);
}

static void report_drained(void) {
    gpump_spill_warp warp = any_warp();
    const uint64_t time = model_time(w.now, w.told);
    const uint32_t index = below(w.config.jobs + (once_in(20) ? 2 : 0));
    gpump_result expected = GPUMP_OK;
    mirror_job *j = &w.jobs[index < JOBS ? index : 0];
    uint64_t ready;
    if (once_in(60)) warp.point_cycle = w.now + 1;
    if (index >= w.config.jobs || is_wrong(&warp) || warp.point_cycle > time)
        expected = GPUMP_ERROR_ARGUMENT;
    else if (model_time_is_wrong(time, w.told))
        expected = GPUMP_ERROR_TIME;
    else if (j->kind != SAVE || j->warps_in == j->warps)
        expected = GPUMP_ERROR_STATE;
    MODEL_CALL(expected, gpump_spill_report_drained(w.spill, time, index, &warp));
    if (expected) return;
    w.told = w.now;
    ready = w.engine_free > w.now ? w.engine_free : w.now;
    w.engine_free = ready + up(warp.registers, w.config.registers_per_cycle);
    for (uint32_t i = 1; i <= warp.bytes; i++) /* the bytes are spread evenly over the registers */
        j->byte_cycle[j->size[GPUMP_PART_REGISTERS]++] =
            ready + up(up((uint64_t)i * warp.registers, warp.bytes), w.config.registers_per_cycle) +
            w.config.compress_cycles;
    j->warp_point[j->warps_in] = warp.point_cycle;
    j->warp_cycle[j->warps_in] = w.engine_free + w.config.compress_cycles;
    j->warp_end[j->warps_in++] = j->size[GPUMP_PART_REGISTERS];
    w.statistics.warps++;
    w.statistics.drain_cycles += w.now - warp.point_cycle;
}

static void report_metadata(void) {
    const uint32_t index = below(w.config.jobs + (once_in(20) ? 2 : 0)), metadata = below(300);
    mirror_job *j = &w.jobs[index < JOBS ? index : 0];
    gpump_result expected = index >= w.config.jobs                               ? GPUMP_ERROR_ARGUMENT
                            : j->kind != SAVE || j->part == GPUMP_PARTS_METADATA ? GPUMP_ERROR_STATE
                                                                                 : GPUMP_OK;
    MODEL_CALL(expected, gpump_spill_report_metadata(w.spill, index, metadata));
    if (!expected) j->size[GPUMP_PARTS_METADATA] = metadata;
}

static void report_moved(void) {
    const uint64_t time = model_time(w.now, w.told);
    const uint32_t index = below(w.config.jobs + (once_in(20) ? 2 : 0)), segments = below(4);
    mirror_job *j = &w.jobs[index < JOBS ? index : 0];
    gpump_result expected = GPUMP_OK;
    if (index >= w.config.jobs)
        expected = GPUMP_ERROR_ARGUMENT;
    else if (model_time_is_wrong(time, w.told))
        expected = GPUMP_ERROR_TIME;
    else if (!j->kind || segments > j->flight_count)
        expected = GPUMP_ERROR_STATE;
    MODEL_CALL(expected, gpump_spill_report_moved(w.spill, time, index, segments));
    if (expected) return;
    w.told = w.now;
    for (uint32_t i = 0; i < segments; i++) j->arrived += j->flight[j->flight_first++];
    j->flight_count -= segments;
    if (j->kind == RESTORE) restore_goes_on(j);
}

static void cancel(void) {
    const uint64_t time = model_time(w.now, w.told);
    const uint32_t index = below(w.config.jobs + (once_in(20) ? 2 : 0));
    gpump_result expected = GPUMP_OK;
    if (index >= w.config.jobs)
        expected = GPUMP_ERROR_ARGUMENT;
    else if (model_time_is_wrong(time, w.told))
        expected = GPUMP_ERROR_TIME;
    else if (!w.jobs[index].kind)
        expected = GPUMP_ERROR_STATE;
    MODEL_CALL(expected, gpump_spill_cancel(w.spill, time, index));
    if (expected) return;
    w.told = w.now;
    w.jobs[index].kind = 0;
}

/* ---- what comes next ---- */

/* The cycle at which WARP or DONE of a job is ready. */
static uint64_t event_cycle(const mirror_job *j, uint32_t *kind) {
    *kind = 0;
    if (!j->kind) return GPUMP_UNKNOWN;
    if (j->kind == RESTORE && j->part == GPUMP_PART_REGISTERS && j->warps_out < j->warps) {
        *kind = GPUMP_SPILL_WARP;
        return j->warp_cycle[j->warps_out];
    }
    if (j->part != (j->kind == SAVE ? GPUMP_PARTS_METADATA : GPUMP_PART_REGISTERS) || j->flight_count ||
        j->at[j->part] < j->size[j->part])
        return GPUMP_UNKNOWN;
    *kind = GPUMP_SPILL_DONE;
    return w.now;
}

/* The next segment of a job: bytes and cycle. A save may have a step without one: the end of a warp whose last bytes
 * wait for a full segment. */
static uint64_t segment_cycle(const mirror_job *j, uint32_t *bytes) {
    const uint64_t left = j->size[j->part] - j->at[j->part], segment = w.config.segment_bytes;
    uint64_t cycle = j->part_start;
    *bytes = (uint32_t)(left < segment ? left : segment);
    if (!j->kind) return GPUMP_UNKNOWN;
    if (j->kind == SAVE && j->part == GPUMP_PART_REGISTERS) {
        if (j->warps_out == j->warps_in) return GPUMP_UNKNOWN;
        if (j->at[GPUMP_PART_REGISTERS] + segment <= j->warp_end[j->warps_out])
            return j->byte_cycle[j->at[GPUMP_PART_REGISTERS] + segment - 1];
        if (j->warps_out + 1 < j->warps) *bytes = 0;
        return j->warp_cycle[j->warps_out];
    }
    if (!left) return GPUMP_UNKNOWN;
    if (j->kind == SAVE && j->part == GPUMP_PART_SHARED_MEMORY)
        cycle += up(j->at[j->part] + *bytes, w.config.shared_bytes_per_cycle);
    return cycle;
}

static void save_goes_on(mirror_job *j, uint64_t cycle) {
    if (j->part == GPUMP_PART_REGISTERS && j->warps_out == j->warps) {
        j->part = GPUMP_PART_SHARED_MEMORY;
        j->part_start = cycle;
    }
    if (j->part == GPUMP_PART_SHARED_MEMORY && j->at[GPUMP_PART_SHARED_MEMORY] == j->size[GPUMP_PART_SHARED_MEMORY]) {
        j->part = GPUMP_PARTS_METADATA;
        j->part_start = cycle;
    }
}

/* Takes the segment, or the step without one. */
static void take_segment(mirror_job *j, uint64_t cycle, uint32_t bytes) {
    const uint32_t part = j->part;
    j->at[part] += bytes;
    if (bytes) {
        w.statistics.segments++;
        w.statistics.bytes += bytes;
        MODEL_CHECK(j->flight_first + j->flight_count < 2 * BYTES / 8);
        j->flight[j->flight_first + j->flight_count++] = part == GPUMP_PART_REGISTERS ? bytes : 0;
    }
    if (j->kind == RESTORE) {
        restore_goes_on(j);
        return;
    }
    if (part != GPUMP_PART_REGISTERS) {
        save_goes_on(j, w.now);
        return;
    }
    /* A warp is out when its last byte has been handed over or waits in the buffer. */
    if (bytes < w.config.segment_bytes || j->at[GPUMP_PART_REGISTERS] == j->warp_end[j->warps_out]) {
        w.statistics.spill_cycles += w.now - j->warp_point[j->warps_out];
        j->warps_out++;
        save_goes_on(j, cycle);
    }
}

static void next(void) {
    const uint64_t time = model_time(w.now, w.told);
    const int segments = !once_in(4);
    gpump_spill_action a;
    memset(&a, 0, sizeof a);
    if (model_time_is_wrong(time, w.told)) {
        MODEL_CALL(GPUMP_ERROR_TIME, gpump_spill_next(w.spill, time, &a));
        return;
    }
    w.told = w.now;
    for (;;) {
        mirror_job *chosen = NULL;
        uint64_t best = GPUMP_UNKNOWN, cycle;
        uint32_t kind = 0, bytes = 0, k;
        for (mirror_job *j = w.jobs; j < w.jobs + w.config.jobs; j++) {
            cycle = event_cycle(j, &k);
            if (cycle > w.now || cycle >= best) continue;
            best = cycle;
            chosen = j;
            kind = k;
        }
        for (mirror_job *j = w.jobs; segments && !kind && j < w.jobs + w.config.jobs; j++) {
            uint32_t size;
            if (chosen && j->start >= chosen->start) continue;
            cycle = segment_cycle(j, &size);
            if (cycle > w.now || (size && under_way() >= w.config.outstanding)) continue;
            best = cycle;
            chosen = j;
            bytes = size;
        }
        if (!chosen) {
            MODEL_CALL(GPUMP_EMPTY,
                       segments ? gpump_spill_next(w.spill, time, &a) : gpump_spill_next_event(w.spill, time, &a));
            return;
        }
        if (!kind && !bytes) { /* nothing to hand over: the next look of the same call */
            take_segment(chosen, best, 0);
            continue;
        }
        MODEL_CALL(GPUMP_OK,
                   segments ? gpump_spill_next(w.spill, time, &a) : gpump_spill_next_event(w.spill, time, &a));
        MODEL_CHECK(a.cookie == chosen->cookie && a.job == (uint32_t)(chosen - w.jobs) && a.cycle == best);
        if (!kind) {
            MODEL_CHECK(a.kind == (chosen->kind == SAVE ? GPUMP_SPILL_WRITE : GPUMP_SPILL_READ));
            MODEL_CHECK(a.part == chosen->part && a.bytes == bytes && a.offset == chosen->at[chosen->part]);
            take_segment(chosen, best, bytes);
            return;
        }
        MODEL_CHECK(a.kind == kind && a.bytes == 0);
        if (kind == GPUMP_SPILL_WARP) {
            MODEL_CHECK(a.warp == chosen->warps_out);
            chosen->warps_out++;
            return;
        }
        if (chosen->kind == SAVE) {
            w.statistics.saves++;
            w.statistics.save_cycles += w.now - chosen->start;
        } else {
            w.statistics.restores++;
            w.statistics.restore_cycles += w.now - chosen->start;
        }
        chosen->kind = 0;
        return;
    }
}

static void event(void) {
    switch (below(24)) {
    case 0:
    case 1:
    case 2: begin_job(); break;
    case 3:
    case 4:
    case 5:
    case 6: report_drained(); break;
    case 7: report_metadata(); break;
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
    case 13: report_moved(); break;
    case 14:
        if (once_in(8)) cancel();
        break;
    case 15:
    case 16: w.now += below(20); break;
    default: next();
    }
}

static void compare(void) {
    gpump_spill_statistics statistics;
    uint64_t wake = GPUMP_UNKNOWN, known;
    gpump_get_statistics(&gpump_spill_component, w.spill, &statistics);
    MODEL_CHECK(!memcmp(&statistics, &w.statistics, sizeof statistics));
    MODEL_RISES(statistics);
    for (uint32_t i = 0; i < w.config.jobs; i++) {
        uint32_t kind, bytes;
        uint64_t cycle = event_cycle(&w.jobs[i], &kind);
        if (kind == GPUMP_SPILL_DONE) cycle = 0; /* at once, whenever that is */
        if (cycle < wake) wake = cycle;
        cycle = segment_cycle(&w.jobs[i], &bytes);
        if (cycle < wake && !(bytes && under_way() >= w.config.outstanding)) wake = cycle;
    }
    known = gpump_next_cycle(&gpump_spill_component, w.spill); /* not before the time of the last call */
    MODEL_CHECK(known == wake || (known > wake && known <= w.now));
}

static size_t begin(void *memory) {
    size_t bytes;
    memset(&w.statistics, 0, sizeof w.statistics);
    w.now = w.told = w.engine_free = w.cookies = 0;
    for (uint32_t i = 0; i < JOBS; i++) memset(&w.jobs[i], 0, offsetof(mirror_job, flight));
    MODEL_CHECK(gpump_preset(&gpump_spill_component, &w.config, "gtx480_lin", NULL) == GPUMP_OK);
    w.config.jobs = 1 + below(JOBS);
    w.config.warps = 1 + below(WARPS);
    w.config.segment_bytes = once_in(2) ? 128 : 8 + below(100);
    w.config.compress_cycles = below(4);
    w.config.registers_per_cycle = 1 + below(3);
    w.config.shared_bytes_per_cycle = 1 + below(200);
    w.config.outstanding = 1 + below(10);
    MODEL_CHECK(gpump_bytes(&gpump_spill_component, &w.config, &bytes, NULL) == GPUMP_OK);
    MODEL_CHECK(gpump_init(&gpump_spill_component, memory, bytes, &w.config, &w.spill, NULL) == GPUMP_OK);
    return bytes;
}
static gpump_result adopt(void *memory, size_t bytes) {
    gpump_result result = gpump_adopt(&gpump_spill_component, memory, bytes, &w.config, &w.spill, NULL);
    return result ? result : gpump_check(&gpump_spill_component, w.spill, NULL);
}
static uint64_t hash(void) { return gpump_hash(&gpump_spill_component, w.spill); }

/* A spill pipeline agrees with a plain model after each of random calls. */
static void a_pipeline_and_its_mirror(void **state) {
    static const model spill = {"spill", 1000, begin, event, compare, adopt, hash};
    (void)state;
    model_run(&spill);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_and_its_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
