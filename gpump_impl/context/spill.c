#include "context/spill.h"

#include <string.h>

#define GPUMPI_SPILL_MAGIC UINT64_C(0x67706d707370696c) /* "gpmpspil" */
#define GPUMPI_SPILL_JOBS 64
#define GPUMPI_SPILL_WARPS 256

enum { GPUMPI_SPILL_FREE = 0, GPUMPI_SPILL_SAVING = 1, GPUMPI_SPILL_RESTORING = 2 };

/* A block in transfer. `part` is the part whose segments come next. `at` counts the bytes of that part that have been
 * handed over. */
typedef struct gpumpi_spill_job {
    uint64_t cookie, start;
    uint64_t part_start;     /* from when on the current part's bytes can be read (save: shared memory, metadata) */
    uint64_t register_bytes; /* of all warps known so far */
    uint64_t room_bytes;     /* save: what the context may take */
    uint64_t at, arrived;    /* bytes of the part handed over; restore: bytes of registers arrived */
    uint32_t state, part, shared_bytes, metadata_bytes;
    uint32_t warps, warps_in, warps_out, segments_out; /* warps expected, reported, passed; segments under way */
    uint32_t buffered, gate;     /* save: register bytes that wait for a full segment; restore: segments to wait for */
    uint64_t under_way_bytes[2]; /* restore: handed over and arrived bytes of registers */
} gpumpi_spill_job;
/* A warp in the queue of its engine. */
typedef struct gpumpi_spill_entry {
    uint64_t point,
        ready;       /* save: when the compressor takes its first register; restore: when it may run, UNKNOWN before */
    uint64_t offset; /* first byte within the block's registers */
    uint32_t job, registers, bytes, taken; /* taken: bytes that have gone into segments or the buffer */
    uint32_t index, done;
} gpumpi_spill_entry;

struct gpump_spill {
    gpumpi_head head;
    uint64_t now, engine_free; /* when the compressor can take another register */
    gpump_spill_statistics statistics;
    gpump_spill_config config;
    uint32_t queued, warps_used,
        under_way; /* entries in the queue (oldest first), warps promised, segments under way */
};
typedef char gpumpi_spill_job_has_no_padding[sizeof(gpumpi_spill_job) == 9 * 8 + 10 * 4 ? 1 : -1];
typedef char gpumpi_spill_entry_has_no_padding[sizeof(gpumpi_spill_entry) == 3 * 8 + 6 * 4 ? 1 : -1];
typedef char gpumpi_spill_has_no_padding[sizeof(gpump_spill) == sizeof(gpumpi_head) + 2 * 8 +
                                                                    sizeof(gpump_spill_statistics) +
                                                                    sizeof(gpump_spill_config) + 3 * 4
                                             ? 1
                                             : -1];

static gpumpi_spill_job *gpumpi_spill_jobs(gpump_spill *spill) { return (gpumpi_spill_job *)(void *)(spill + 1); }
static const gpumpi_spill_job *gpumpi_spill_jobs_const(const gpump_spill *spill) {
    return (const gpumpi_spill_job *)(const void *)(spill + 1);
}
static gpumpi_spill_entry *gpumpi_spill_queue(gpump_spill *spill) {
    return (gpumpi_spill_entry *)(void *)(gpumpi_spill_jobs(spill) + spill->config.jobs);
}
static const gpumpi_spill_entry *gpumpi_spill_queue_const(const gpump_spill *spill) {
    return (const gpumpi_spill_entry *)(const void *)(gpumpi_spill_jobs_const(spill) + spill->config.jobs);
}

/* ---- configuration, birth, copies ---- */

static gpump_result gpumpi_spill_preset(void *filled, const char *preset) {
    gpump_spill_config *config = (gpump_spill_config *)filled;
    gpump_gpu gpu;
    gpump_result result = gpump_preset(&gpump_gpu_component, &gpu, preset, NULL);
    if (result) return result;
    memset(config, 0, sizeof *config);
    config->jobs = gpu.block_slots;
    config->warps = gpu.warp_slots;
    config->segment_bytes = 128;
    config->compress_cycles = 2;
    config->registers_per_cycle = 1;
    config->shared_bytes_per_cycle = 128;
    config->outstanding = 64;
    return GPUMP_OK;
}

static gpump_result gpumpi_spill_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_spill_config, jobs, 1, GPUMPI_SPILL_JOBS),
        GPUMPI_LIMIT(gpump_spill_config, warps, 1, GPUMPI_SPILL_WARPS),
        GPUMPI_LIMIT(gpump_spill_config, segment_bytes, 8, 4096),
        GPUMPI_LIMIT(gpump_spill_config, compress_cycles, 0, 1000),
        GPUMPI_LIMIT(gpump_spill_config, registers_per_cycle, 1, 1024),
        GPUMPI_LIMIT(gpump_spill_config, shared_bytes_per_cycle, 1, 1u << 20),
        GPUMPI_LIMIT(gpump_spill_config, outstanding, 1, 65536),
    };
    return GPUMPI_CHECK_LIMITS(checked, limits, diag);
}

static uint64_t gpumpi_spill_bytes(const void *of) {
    const gpump_spill_config *config = (const gpump_spill_config *)of;
    return sizeof(gpump_spill) + config->jobs * sizeof(gpumpi_spill_job) + config->warps * sizeof(gpumpi_spill_entry);
}

static uint64_t gpumpi_spill_hash(const void *object) {
    const gpump_spill *spill = (const gpump_spill *)object;
    uint64_t hash = gpumpi_hash_u64s(GPUMP_HASH_SEED, &spill->now, 2);
    hash = gpumpi_hash_u64s(hash, &spill->statistics.saves, sizeof spill->statistics / 8);
    hash = gpumpi_hash_u32s(hash, &spill->config.jobs, 7);
    hash = gpumpi_hash_u32s(hash, &spill->queued, 3);
    for (uint32_t i = 0; i < spill->config.jobs; i++) {
        const gpumpi_spill_job *job = &gpumpi_spill_jobs_const(spill)[i];
        hash = gpumpi_hash_u32s(gpumpi_hash_u64s(hash, &job->cookie, 7), &job->state, 10);
        hash = gpumpi_hash_u64s(hash, job->under_way_bytes, 2);
    }
    for (uint32_t i = 0; i < spill->queued; i++) {
        const gpumpi_spill_entry *entry = &gpumpi_spill_queue_const(spill)[i];
        hash = gpumpi_hash_u32s(gpumpi_hash_u64s(hash, &entry->point, 3), &entry->job, 6);
    }
    return hash;
}

/* ---- checking: everything that the other functions rely on ---- */

static const char *gpumpi_spill_check_job(const gpump_spill *spill, uint32_t index) {
    const gpumpi_spill_job *job = &gpumpi_spill_jobs_const(spill)[index];
    const int saves = job->state == GPUMPI_SPILL_SAVING, registers = job->part == GPUMP_PART_REGISTERS;
    uint64_t bytes = 0, taken = 0;
    uint32_t in = 0, out = 0;
    for (uint32_t i = 0; i < spill->queued; i++) {
        const gpumpi_spill_entry *entry = &gpumpi_spill_queue_const(spill)[i];
        if (entry->job != index) continue;
        if (job->state == GPUMPI_SPILL_FREE) return "a warp of a job that is free";
        if (entry->index != in || entry->offset != bytes) return "warps of a job out of order";
        if (entry->done > 1 || (entry->done && out != in) || entry->taken > entry->bytes)
            return "a warp that has passed before those in front of it";
        if (entry->bytes && !entry->registers) return "a warp with bytes of no registers";
        if (saves ? entry->done && entry->taken != entry->bytes : entry->taken != 0)
            return "a warp that has passed in part";
        if (saves && entry->taken && in > out) return "a warp that has begun before those in front of it";
        if (!saves && entry->ready != GPUMP_UNKNOWN && bytes + entry->bytes > job->under_way_bytes[1])
            return "a warp that is back before its registers";
        if (!saves && entry->done && entry->ready == GPUMP_UNKNOWN) return "a warp that was back at no cycle";
        bytes += entry->bytes;
        taken += entry->taken;
        in++;
        out += entry->done;
    }
    if (job->state == GPUMPI_SPILL_FREE) return job->warps || job->segments_out ? "a free job with warps" : NULL;
    if (job->state > GPUMPI_SPILL_RESTORING ||
        (!registers && job->part != GPUMP_PART_SHARED_MEMORY && job->part != GPUMP_PARTS_METADATA))
        return "unknown state of a job";
    if (!job->warps || in != job->warps_in || in > job->warps || out != job->warps_out || bytes != job->register_bytes)
        return "counts of a job and its warps differ";
    if (job->at > (registers ? bytes : job->part == GPUMP_PART_SHARED_MEMORY ? job->shared_bytes : job->metadata_bytes))
        return "more bytes handed over than there are";
    if (saves) {
        if (registers == (out == job->warps)) return "a part that begins before the one in front of it has ended";
        if (job->buffered >= spill->config.segment_bytes || (registers && job->at + job->buffered != taken))
            return "bytes between warps and segments are lost";
        if (job->room_bytes < job->register_bytes + job->shared_bytes + job->metadata_bytes)
            return "a save larger than its room";
        return job->gate ? "a save that waits as a restore does" : NULL;
    }
    if (in != job->warps || job->gate > job->segments_out) return "a restore without its warps";
    if (job->under_way_bytes[1] > job->under_way_bytes[0] || job->under_way_bytes[0] != (registers ? job->at : 0))
        return "bytes of registers that arrive before they are asked for";
    return !registers && (job->gate || out) ? "registers before metadata and shared memory" : NULL;
}

static gpump_result gpumpi_spill_check(const void *object, gpump_diag *diag) {
    const gpump_spill *spill = (const gpump_spill *)object;
    uint64_t warps = 0, under_way = 0;
    const char *wrong = NULL;
    if (spill->queued > spill->config.warps || spill->now == GPUMP_UNKNOWN)
        wrong = "a queue that is longer than its table";
    for (uint32_t i = 0; !wrong && i < spill->queued; i++)
        if (gpumpi_spill_queue_const(spill)[i].job >= spill->config.jobs) wrong = "a warp of no job";
    for (uint32_t i = 0; !wrong && i < spill->config.jobs; i++) {
        wrong = gpumpi_spill_check_job(spill, i);
        warps += gpumpi_spill_jobs_const(spill)[i].warps;
        under_way += gpumpi_spill_jobs_const(spill)[i].segments_out;
    }
    if (!wrong && (warps != spill->warps_used || warps > spill->config.warps)) wrong = "counts of warps differ";
    if (!wrong && (under_way != spill->under_way || under_way > spill->config.outstanding))
        wrong = "counts of segments under way differ";
    return wrong ? gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, wrong, 0) : GPUMP_OK;
}

/* ---- facts ---- */

static uint64_t gpumpi_spill_ceil(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

static gpump_result gpumpi_spill_begin(gpump_spill *spill, uint64_t now, uint64_t cookie, uint32_t warps,
                                       uint32_t shared_bytes, uint32_t metadata_bytes, uint32_t state, uint32_t *job) {
    gpumpi_spill_job *fresh;
    uint32_t index = 0;
    if (!spill || !job || !warps || warps > spill->config.warps) return GPUMP_ERROR_ARGUMENT;
    if (now < spill->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    while (index < spill->config.jobs && gpumpi_spill_jobs(spill)[index].state != GPUMPI_SPILL_FREE) index++;
    if (index == spill->config.jobs || warps > spill->config.warps - spill->warps_used) return GPUMP_BUSY;
    spill->now = now;
    spill->warps_used += warps;
    fresh = &gpumpi_spill_jobs(spill)[index];
    memset(fresh, 0, sizeof *fresh);
    fresh->cookie = cookie;
    fresh->start = fresh->part_start = now;
    fresh->state = state;
    fresh->shared_bytes = shared_bytes;
    fresh->metadata_bytes = metadata_bytes;
    fresh->warps = warps;
    *job = index;
    return GPUMP_OK;
}

/* 1 when the context of a job would outgrow its room with `more` bytes. */
static int gpumpi_spill_outgrows(const gpumpi_spill_job *job, uint64_t more) {
    return more > job->room_bytes - (job->register_bytes + job->shared_bytes + job->metadata_bytes);
}

GPUMP_API gpump_result gpump_spill_save(gpump_spill *spill, uint64_t now, uint64_t cookie, uint32_t warps,
                                        uint32_t shared_bytes, uint32_t metadata_bytes, const gpump_context_room *room,
                                        uint32_t *job) {
    const uint64_t room_bytes = room ? room->context_bytes : UINT64_MAX;
    gpump_result result;
    if (!spill || !job) return GPUMP_ERROR_ARGUMENT;
    if (room && !room->contexts) return GPUMP_ERROR_FULL;
    if ((uint64_t)shared_bytes + metadata_bytes > room_bytes) return GPUMP_ERROR_CAPACITY;
    result = gpumpi_spill_begin(spill, now, cookie, warps, shared_bytes, metadata_bytes, GPUMPI_SPILL_SAVING, job);
    if (result) return result;
    gpumpi_spill_jobs(spill)[*job].part = GPUMP_PART_REGISTERS;
    gpumpi_spill_jobs(spill)[*job].room_bytes = room_bytes;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_spill_report_drained(gpump_spill *spill, uint64_t now, uint32_t job,
                                                  const gpump_spill_warp *warp) {
    gpumpi_spill_entry *entry;
    gpumpi_spill_job *to;
    if (!spill || !warp || job >= spill->config.jobs || (warp->bytes && !warp->registers) || warp->point_cycle > now)
        return GPUMP_ERROR_ARGUMENT;
    if (now < spill->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    to = &gpumpi_spill_jobs(spill)[job];
    if (to->state != GPUMPI_SPILL_SAVING || to->warps_in == to->warps) return GPUMP_ERROR_STATE;
    if (gpumpi_spill_outgrows(to, warp->bytes)) return GPUMP_ERROR_CAPACITY;
    spill->now = now;
    entry = &gpumpi_spill_queue(spill)[spill->queued++]; /* warps_used has kept room for it */
    memset(entry, 0, sizeof *entry);
    entry->point = warp->point_cycle;
    entry->ready = spill->engine_free > now ? spill->engine_free : now;
    spill->engine_free =
        gpump_add_saturated(entry->ready, gpumpi_spill_ceil(warp->registers, spill->config.registers_per_cycle));
    entry->job = job;
    entry->registers = warp->registers;
    entry->bytes = warp->bytes;
    entry->index = to->warps_in++;
    entry->offset = to->register_bytes;
    to->register_bytes += warp->bytes;
    spill->statistics.warps++;
    spill->statistics.drain_cycles += now - warp->point_cycle;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_spill_report_metadata(gpump_spill *spill, uint32_t job, uint32_t metadata_bytes) {
    gpumpi_spill_job *of;
    if (!spill || job >= spill->config.jobs) return GPUMP_ERROR_ARGUMENT;
    of = &gpumpi_spill_jobs(spill)[job];
    if (of->state != GPUMPI_SPILL_SAVING || of->part == GPUMP_PARTS_METADATA) return GPUMP_ERROR_STATE;
    if (metadata_bytes > of->metadata_bytes && gpumpi_spill_outgrows(of, metadata_bytes - of->metadata_bytes))
        return GPUMP_ERROR_CAPACITY;
    of->metadata_bytes = metadata_bytes;
    return GPUMP_OK;
}

/* Restore: registers of warps that have arrived whole enter the decompressor, in order. */
static void gpumpi_spill_decompress(gpump_spill *spill, uint32_t job, uint64_t now) {
    const gpumpi_spill_job *from = &gpumpi_spill_jobs(spill)[job];
    if (from->part != GPUMP_PART_REGISTERS || from->gate) return;
    for (uint32_t i = from->warps_out; i < spill->queued; i++) {
        gpumpi_spill_entry *entry = &gpumpi_spill_queue(spill)[i];
        uint64_t start = spill->engine_free > now ? spill->engine_free : now;
        if (entry->job != job || entry->ready != GPUMP_UNKNOWN) continue;
        if (entry->offset + entry->bytes > from->under_way_bytes[1]) break;
        spill->engine_free =
            gpump_add_saturated(start, gpumpi_spill_ceil(entry->registers, spill->config.registers_per_cycle));
        entry->ready = gpump_add_saturated(spill->engine_free, spill->config.compress_cycles);
    }
}

/* Restore: when a part is complete or empty, the next part begins. Metadata must have arrived first; the other parts
 * may overlap. */
static void gpumpi_spill_advance_restore(gpump_spill *spill, uint32_t job, uint64_t now) {
    gpumpi_spill_job *to = &gpumpi_spill_jobs(spill)[job];
    if (to->part == GPUMP_PARTS_METADATA && to->at == to->metadata_bytes && !to->segments_out) {
        to->part = GPUMP_PART_SHARED_MEMORY;
        to->at = 0;
        to->part_start = now;
    }
    if (to->part == GPUMP_PART_SHARED_MEMORY && to->at == to->shared_bytes) {
        to->part = GPUMP_PART_REGISTERS;
        to->at = 0;
        to->gate = to->segments_out; /* shared memory still under way stands before the registers */
        to->part_start = now;
    }
    gpumpi_spill_decompress(spill, job, now);
}

GPUMP_API gpump_result gpump_spill_restore(gpump_spill *spill, uint64_t now, uint64_t cookie,
                                           const gpump_spill_warp *warps, uint32_t count, uint32_t shared_bytes,
                                           uint32_t metadata_bytes, uint32_t *job) {
    gpump_result result;
    if (!warps) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < count; i++)
        if (warps[i].bytes && !warps[i].registers) return GPUMP_ERROR_ARGUMENT;
    result = gpumpi_spill_begin(spill, now, cookie, count, shared_bytes, metadata_bytes, GPUMPI_SPILL_RESTORING, job);
    if (result) return result;
    for (uint32_t i = 0; i < count; i++) {
        gpumpi_spill_entry *entry = &gpumpi_spill_queue(spill)[spill->queued++];
        gpumpi_spill_job *to = &gpumpi_spill_jobs(spill)[*job];
        memset(entry, 0, sizeof *entry);
        entry->job = *job;
        entry->registers = warps[i].registers;
        entry->bytes = warps[i].bytes;
        entry->index = i;
        entry->offset = to->register_bytes;
        entry->ready = GPUMP_UNKNOWN;
        to->register_bytes += warps[i].bytes;
        to->warps_in++;
    }
    gpumpi_spill_jobs(spill)[*job].part = GPUMP_PARTS_METADATA;
    gpumpi_spill_advance_restore(spill, *job, now);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_spill_report_moved(gpump_spill *spill, uint64_t now, uint32_t job, uint32_t segments) {
    gpumpi_spill_job *of;
    if (!spill || job >= spill->config.jobs) return GPUMP_ERROR_ARGUMENT;
    if (now < spill->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    of = &gpumpi_spill_jobs(spill)[job];
    if (of->state == GPUMPI_SPILL_FREE || segments > of->segments_out) return GPUMP_ERROR_STATE;
    spill->now = now;
    spill->under_way -= segments;
    of->segments_out -= segments;
    if (of->state == GPUMPI_SPILL_RESTORING) {
        while (segments--) {
            uint64_t left;
            if (of->gate) {
                of->gate--;
                continue;
            }
            if (of->part != GPUMP_PART_REGISTERS) continue;
            left = of->under_way_bytes[0] - of->under_way_bytes[1];
            of->under_way_bytes[1] += left < spill->config.segment_bytes ? left : spill->config.segment_bytes;
        }
        gpumpi_spill_advance_restore(spill, job, now);
    }
    return GPUMP_OK;
}

/* ---- what is ready, and when ---- */

/* The oldest warp of a job that still has bytes to move. In front of it are at least the warps that have passed. */
static uint32_t gpumpi_spill_head(const gpump_spill *spill, uint32_t job) {
    for (uint32_t i = gpumpi_spill_jobs_const(spill)[job].warps_out; i < spill->queued; i++) {
        const gpumpi_spill_entry *entry = &gpumpi_spill_queue_const(spill)[i];
        if (entry->job == job && !entry->done) return i;
    }
    return GPUMP_NONE;
}

/* When byte number `bytes` (from 1) of a warp's registers has left the compressor; spread evenly over its registers. */
static uint64_t gpumpi_spill_out(const gpump_spill *spill, const gpumpi_spill_entry *entry, uint32_t bytes) {
    uint64_t registers =
        entry->bytes ? gpumpi_spill_ceil((uint64_t)bytes * entry->registers, entry->bytes) : entry->registers;
    return gpump_add_saturated(entry->ready, gpumpi_spill_ceil(registers, spill->config.registers_per_cycle) +
                                                 spill->config.compress_cycles);
}

/* What a job can hand over next: its kind, size and the cycle; UNKNOWN when nothing without a fact. */
typedef struct gpumpi_spill_offer {
    uint64_t cycle;
    uint32_t kind, bytes, entry;
} gpumpi_spill_offer;

/* WARP or DONE, which need no port. */
static gpumpi_spill_offer gpumpi_spill_event(const gpump_spill *spill, uint32_t index) {
    const gpumpi_spill_job *job = &gpumpi_spill_jobs_const(spill)[index];
    gpumpi_spill_offer offer = {GPUMP_UNKNOWN, 0, 0, GPUMP_NONE};
    if (job->state == GPUMPI_SPILL_FREE || (job->state == GPUMPI_SPILL_RESTORING && job->part != GPUMP_PART_REGISTERS))
        return offer;
    if (job->state == GPUMPI_SPILL_RESTORING && job->warps_out < job->warps) {
        offer.entry = gpumpi_spill_head(spill, index);
        offer.cycle = gpumpi_spill_queue_const(spill)[offer.entry].ready;
        offer.kind = GPUMP_SPILL_WARP;
    } else if (!job->segments_out && (job->state == GPUMPI_SPILL_RESTORING
                                          ? job->at == job->register_bytes
                                          : job->part == GPUMP_PARTS_METADATA && job->at == job->metadata_bytes)) {
        offer.cycle = spill->now;
        offer.kind = GPUMP_SPILL_DONE;
    }
    return offer;
}

/* READ or WRITE; of a save also, with 0 bytes, what only goes into the buffer. */
static gpumpi_spill_offer gpumpi_spill_segment(const gpump_spill *spill, uint32_t index) {
    const gpumpi_spill_job *job = &gpumpi_spill_jobs_const(spill)[index];
    uint32_t segment = spill->config.segment_bytes;
    uint64_t whole = job->part == GPUMP_PART_SHARED_MEMORY ? job->shared_bytes
                     : job->part == GPUMP_PARTS_METADATA   ? job->metadata_bytes
                                                           : job->register_bytes;
    uint64_t left = whole - job->at;
    gpumpi_spill_offer offer = {GPUMP_UNKNOWN, 0, 0, GPUMP_NONE};
    if (job->state == GPUMPI_SPILL_FREE) return offer;
    offer.kind = job->state == GPUMPI_SPILL_RESTORING ? GPUMP_SPILL_READ : GPUMP_SPILL_WRITE;
    if (job->state == GPUMPI_SPILL_SAVING && job->part == GPUMP_PART_REGISTERS) {
        const uint32_t head = gpumpi_spill_head(spill, index);
        const gpumpi_spill_entry *entry;
        const uint32_t needed = segment - job->buffered; /* more bytes of this warp fill a segment */
        if (head == GPUMP_NONE) return offer;
        entry = &gpumpi_spill_queue_const(spill)[head];
        offer.entry = head;
        if (entry->bytes - entry->taken >= needed) {
            offer.bytes = segment;
            offer.cycle = gpumpi_spill_out(spill, entry, entry->taken + needed);
        } else { /* the rest of the warp goes into the buffer; behind the last warp the buffer goes out as it is */
            offer.bytes = entry->index + 1u == job->warps ? job->buffered + entry->bytes - entry->taken : 0;
            offer.cycle = gpumpi_spill_out(spill, entry, entry->bytes);
        }
        return offer;
    }
    if (!left) return offer;
    offer.bytes = left < segment ? (uint32_t)left : segment;
    offer.cycle = job->part_start;
    if (job->state == GPUMPI_SPILL_SAVING && job->part == GPUMP_PART_SHARED_MEMORY)
        offer.cycle = gpump_add_saturated(
            offer.cycle, gpumpi_spill_ceil(job->at + offer.bytes, spill->config.shared_bytes_per_cycle));
    return offer;
}

/* Save: when all segments of a part have been handed over, the next part begins. */
static void gpumpi_spill_advance_save(gpumpi_spill_job *job, uint64_t now) {
    if (job->part == GPUMP_PART_REGISTERS && job->warps_out == job->warps) {
        job->part = GPUMP_PART_SHARED_MEMORY;
        job->at = 0;
        job->part_start = now;
    }
    if (job->part == GPUMP_PART_SHARED_MEMORY && job->at == job->shared_bytes) {
        job->part = GPUMP_PARTS_METADATA;
        job->at = 0;
        job->part_start = now;
    }
}

static void gpumpi_spill_forget(gpump_spill *spill, uint32_t job) {
    gpumpi_spill_entry *queue = gpumpi_spill_queue(spill);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < spill->queued; i++)
        if (queue[i].job != job) queue[kept++] = queue[i];
    spill->queued = kept;
    spill->warps_used -= gpumpi_spill_jobs(spill)[job].warps;
    memset(&gpumpi_spill_jobs(spill)[job], 0, sizeof(gpumpi_spill_job));
}

GPUMP_API gpump_result gpump_spill_cancel(gpump_spill *spill, uint64_t now, uint32_t job) {
    if (!spill || job >= spill->config.jobs) return GPUMP_ERROR_ARGUMENT;
    if (now < spill->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    if (gpumpi_spill_jobs(spill)[job].state == GPUMPI_SPILL_FREE) return GPUMP_ERROR_STATE;
    spill->now = now;
    spill->under_way -= gpumpi_spill_jobs(spill)[job].segments_out;
    gpumpi_spill_forget(spill, job);
    return GPUMP_OK;
}

/* What the spill hands over at `now`: what ended before what is sent, and of segments those of the transfer that began
 * first. Returns the job, or GPUMP_NONE. */
static uint32_t gpumpi_spill_choose(gpump_spill *spill, uint64_t now, int segments, gpumpi_spill_offer *best) {
    const gpumpi_spill_job *jobs = gpumpi_spill_jobs(spill);
    uint32_t chosen = GPUMP_NONE, i;
    best->cycle = GPUMP_UNKNOWN;
    best->kind = best->bytes = 0;
    best->entry = GPUMP_NONE;
    for (i = 0; i < spill->config.jobs; i++) {
        gpumpi_spill_offer offer = gpumpi_spill_event(spill, i);
        if (offer.cycle > now || offer.cycle >= best->cycle) continue;
        *best = offer;
        chosen = i;
    }
    if (!segments || best->kind == GPUMP_SPILL_WARP || best->kind == GPUMP_SPILL_DONE) return chosen;
    for (i = 0; i < spill->config.jobs; i++) {
        gpumpi_spill_offer offer;
        if (chosen != GPUMP_NONE && jobs[i].start >= jobs[chosen].start) continue;
        offer = gpumpi_spill_segment(spill, i);
        if (offer.cycle > now || (offer.bytes && spill->under_way >= spill->config.outstanding)) continue;
        *best = offer;
        chosen = i;
    }
    return chosen;
}

/* A job has ended: it is counted and forgotten. */
static void gpumpi_spill_end(gpump_spill *spill, uint32_t job, uint64_t now) {
    const gpumpi_spill_job *ends = &gpumpi_spill_jobs(spill)[job];
    if (ends->state == GPUMPI_SPILL_SAVING) {
        spill->statistics.saves++;
        spill->statistics.save_cycles += now - ends->start;
    } else {
        spill->statistics.restores++;
        spill->statistics.restore_cycles += now - ends->start;
    }
    gpumpi_spill_forget(spill, job);
}

/* Takes a segment's bytes from a warp that has drained: whole segments leave, and what is too little for one stays in
 * the job's buffer until the next warp fills it. */
static void gpumpi_spill_take_warp(gpump_spill *spill, gpumpi_spill_job *job, const gpumpi_spill_offer *offer,
                                   uint64_t now) {
    gpumpi_spill_entry *entry = &gpumpi_spill_queue(spill)[offer->entry];
    if (offer->bytes == spill->config.segment_bytes && entry->bytes - entry->taken >= offer->bytes - job->buffered) {
        entry->taken += offer->bytes - job->buffered;
        job->buffered = 0;
        /* nothing is left of the warp, or only what the buffer takes: seen at the next look */
        entry->done = entry->taken == entry->bytes;
    } else {
        job->buffered = offer->bytes ? 0 : job->buffered + entry->bytes - entry->taken;
        entry->taken = entry->bytes;
        entry->done = 1;
    }
    if (!entry->done) return;
    job->warps_out++;
    spill->statistics.spill_cycles += now - entry->point;
    gpumpi_spill_advance_save(job, offer->cycle > now ? now : offer->cycle);
}

/* Hands over what is ready: WARP and DONE first, then, where segments are wanted, those of the job that began first. */
static gpump_result gpumpi_spill_take(gpump_spill *spill, uint64_t now, int segments, gpump_spill_action *action) {
    if (!spill || !action) return GPUMP_ERROR_ARGUMENT;
    if (now < spill->now || now == GPUMP_UNKNOWN) return GPUMP_ERROR_TIME;
    spill->now = now;
    for (;;) {
        gpumpi_spill_offer best;
        uint32_t chosen = gpumpi_spill_choose(spill, now, segments, &best);
        gpumpi_spill_job *job;
        if (chosen == GPUMP_NONE) return GPUMP_EMPTY;
        job = &gpumpi_spill_jobs(spill)[chosen];
        memset(action, 0, sizeof *action);
        action->cookie = job->cookie;
        action->cycle = best.cycle;
        action->kind = best.kind;
        action->bytes = best.bytes;
        action->part = job->part;
        action->job = chosen;
        if (best.kind == GPUMP_SPILL_DONE) {
            gpumpi_spill_end(spill, chosen, now);
            return GPUMP_OK;
        }
        if (best.kind == GPUMP_SPILL_WARP) {
            gpumpi_spill_entry *entry = &gpumpi_spill_queue(spill)[best.entry];
            entry->done = 1;
            job->warps_out++;
            action->warp = entry->index;
            return GPUMP_OK;
        }
        action->offset = job->at;
        job->at += best.bytes;
        if (best.bytes) {
            job->segments_out++;
            spill->under_way++;
            spill->statistics.segments++;
            spill->statistics.bytes += best.bytes;
        }
        if (job->state == GPUMPI_SPILL_RESTORING) {
            if (job->part == GPUMP_PART_REGISTERS) job->under_way_bytes[0] += best.bytes;
            gpumpi_spill_advance_restore(spill, chosen, now);
            return GPUMP_OK;
        }
        if (best.entry == GPUMP_NONE) {
            gpumpi_spill_advance_save(job, now);
            return GPUMP_OK;
        }
        gpumpi_spill_take_warp(spill, job, &best, now);
        if (best.bytes) return GPUMP_OK; /* without bytes it went into the buffer: nothing to hand over */
    }
}

GPUMP_API gpump_result gpump_spill_next(gpump_spill *spill, uint64_t now, gpump_spill_action *action) {
    return gpumpi_spill_take(spill, now, 1, action);
}

GPUMP_API gpump_result gpump_spill_next_event(gpump_spill *spill, uint64_t now, gpump_spill_action *action) {
    return gpumpi_spill_take(spill, now, 0, action);
}

static uint64_t gpumpi_spill_next_cycle(const void *of) {
    const gpump_spill *spill = (const gpump_spill *)of;
    uint64_t cycle = GPUMP_UNKNOWN;
    for (uint32_t i = 0; i < spill->config.jobs; i++) {
        gpumpi_spill_offer event = gpumpi_spill_event(spill, i), segment = gpumpi_spill_segment(spill, i);
        if (event.cycle < cycle) cycle = event.cycle;
        if (segment.cycle < cycle && !(segment.bytes && spill->under_way >= spill->config.outstanding))
            cycle = segment.cycle;
    }
    return cycle < spill->now ? spill->now : cycle;
}

static uint64_t gpumpi_spill_bits(const void *of) {
    const gpump_spill_config *config = (const gpump_spill_config *)of;
    uint64_t job_width, warp_width;
    job_width = gpumpi_bits_for(config->jobs);
    warp_width = gpumpi_bits_for(config->warps);
    /* a warp: its job, 8 bits of registers, 16 of bytes, 16 of bytes gone, done; 16-bit counts in bytes reach 64 KB of
     * registers */
    return config->warps * (job_width + 8 + 16 + 16 + 1) +
           /* a job: saving or restoring, part, 20 bits each of bytes gone, shared memory and metadata, warps awaited,
              in and out, segments out */
           config->jobs * (2 + 2 + 20 + 20 + 20 + 3 * (warp_width + 1) + 16 + (uint64_t)config->segment_bytes * 8);
}

/* ---- calculations: the same pipeline against a port of fixed bandwidth ---- */

/* The port takes one segment after the other; its rate is exact over a busy stretch, not rounded per segment. */
typedef struct gpumpi_spill_port {
    gpump_port port;
    uint64_t since, moved;
} gpumpi_spill_port;
static uint64_t gpumpi_spill_pass(gpumpi_spill_port *port, uint64_t now, uint64_t bytes) {
    uint64_t free = gpump_add_saturated(port->since, gpump_port_cycles(&port->port, port->moved));
    if (now > free || !port->moved) {
        port->since = now;
        port->moved = 0;
    }
    port->moved += bytes;
    return gpump_add_saturated(port->since, gpump_port_cycles(&port->port, port->moved));
}

/* Refuses a transfer whose time cannot be computed; writes the order in which its warps have drained. */
static gpump_result gpumpi_spill_check_transfer(const gpump_spill_transfer *transfer, int restores, int has_times,
                                                uint32_t *order, gpump_diag *diag) {
    const gpump_spill_warp *warps;
    uint64_t start;
    if (!transfer) return gpumpi_null(diag, "transfer");
    warps = transfer->warps;
    start = transfer->start_cycle;
    if (start == GPUMP_UNKNOWN) return gpumpi_bad_argument(diag, "start_cycle", 0, start, 0, GPUMP_UNKNOWN - 1);
    if (!has_times || !warps) return gpumpi_null(diag, has_times ? "warps" : "times");
    if (!transfer->count || transfer->count > GPUMPI_SPILL_WARPS)
        return gpumpi_bad_argument(diag, "count", 0, transfer->count, 1, GPUMPI_SPILL_WARPS);
    if (!transfer->port.cycles || !transfer->port.bytes)
        return gpumpi_bad_argument(diag, transfer->port.cycles ? "port.bytes" : "port.cycles", 0, 0, 1,
                                   GPUMP_UNKNOWN - 1);
    for (uint32_t i = 0; i < transfer->count; i++) {
        uint32_t at = i;
        if (warps[i].bytes && !warps[i].registers)
            return gpumpi_bad_argument(diag, "warps.registers", i, 0, 1, UINT32_MAX);
        if (!restores && (warps[i].point_cycle > warps[i].drained_cycle || warps[i].drained_cycle < start))
            return gpumpi_bad_argument(diag, "warps.drained_cycle", i, warps[i].drained_cycle,
                                       warps[i].point_cycle > start ? warps[i].point_cycle : start, UINT64_MAX);
        for (; at > 0 && warps[order[at - 1]].drained_cycle > warps[i].drained_cycle; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    return GPUMP_OK;
}

/* A transfer alone on a port: its segments pass one after the other, and each counts as moved after the latency. */
typedef struct gpumpi_spill_run {
    const gpump_spill_transfer *transfer;
    gpump_spill *spill;
    gpumpi_spill_port port;
    uint64_t next_port, arrivals[64], first, end; /* first: a warp's bytes were all out, GPUMP_UNKNOWN: not yet */
    uint32_t job, in, out;                        /* segments sent, segments moved */
    int restores;
} gpumpi_spill_run;

/* Sends what can go at `now`. Returns whether the transfer has ended. */
static int gpumpi_spill_send(gpumpi_spill_run *run, uint64_t now) {
    gpump_spill_action action;
    while (run->out < run->in && run->arrivals[run->out % 64] <= now) {
        gpump_spill_report_moved(run->spill, now, run->job, 1);
        run->out++;
    }
    while (run->next_port <= now && gpump_spill_next(run->spill, now, &action) == GPUMP_OK) {
        if (action.kind == GPUMP_SPILL_DONE) return 1;
        if (action.kind == GPUMP_SPILL_WARP) {
            run->end = now;
            if (run->first == GPUMP_UNKNOWN) run->first = now;
            continue;
        }
        run->next_port = gpumpi_spill_pass(&run->port, now, action.bytes);
        if (!run->restores) {
            run->end = run->next_port;
            if (run->first == GPUMP_UNKNOWN && gpumpi_spill_jobs(run->spill)[run->job].warps_out)
                run->first = run->next_port;
        }
        run->arrivals[run->in++ % 64] = gpump_add_saturated(run->next_port, run->transfer->latency_cycles);
    }
    return 0;
}

/* The next cycle at which the transfer can go on, `drained` being the next at which a warp has drained. */
static uint64_t gpumpi_spill_soonest(const gpumpi_spill_run *run, uint64_t now, uint64_t drained) {
    uint64_t soonest = drained, own = gpump_next_cycle(&gpump_spill_component, run->spill);
    if (run->out < run->in && run->arrivals[run->out % 64] < soonest) soonest = run->arrivals[run->out % 64];
    if (own < run->next_port) own = run->next_port;
    if (own < soonest) soonest = own;
    return soonest <= now ? now + 1u : soonest;
}

static gpump_result gpumpi_spill_time(const gpump_spill_config *config, const gpump_spill_transfer *transfer,
                                      int restores, gpump_spill_times *times, gpump_diag *diag) {
    uint64_t
        memory[(sizeof(gpump_spill) + sizeof(gpumpi_spill_job) + GPUMPI_SPILL_WARPS * sizeof(gpumpi_spill_entry)) / 8 +
               1];
    uint32_t order[GPUMPI_SPILL_WARPS], reported = 0;
    uint64_t now;
    gpump_spill_config own;
    gpumpi_spill_run run;
    gpump_result result = gpumpi_check_config(&gpump_spill_component, config, diag);
    if (result == GPUMP_OK) result = gpumpi_spill_check_transfer(transfer, restores, times != NULL, order, diag);
    if (result != GPUMP_OK) return result;
    memset(&run, 0, sizeof run);
    run.transfer = transfer;
    run.restores = restores;
    run.first = GPUMP_UNKNOWN;
    now = run.next_port = run.end = run.port.since = transfer->start_cycle;
    run.port.port = transfer->port;
    own = *config;
    own.jobs = 1;
    own.warps = transfer->count;
    if (own.outstanding > 64) own.outstanding = 64;
    gpump_init(&gpump_spill_component, memory, sizeof memory, &own, &run.spill, NULL);
    if (restores)
        gpump_spill_restore(run.spill, now, 0, transfer->warps, transfer->count, transfer->shared_bytes,
                            transfer->metadata_bytes, &run.job);
    else
        gpump_spill_save(run.spill, now, 0, transfer->count, transfer->shared_bytes, transfer->metadata_bytes, NULL,
                         &run.job);
    for (;;) {
        uint64_t drained = GPUMP_UNKNOWN;
        for (; !restores && reported < transfer->count; reported++) {
            drained = transfer->warps[order[reported]].drained_cycle;
            if (drained > now) break;
            gpump_spill_report_drained(run.spill, now, run.job, &transfer->warps[order[reported]]);
        }
        if (reported == transfer->count) drained = GPUMP_UNKNOWN;
        if (gpumpi_spill_send(&run, now)) break;
        now = gpumpi_spill_soonest(&run, now, drained);
        if (now == GPUMP_UNKNOWN) /* the last cycle does not fit into 64 bits */
            return gpumpi_bad_argument(
                diag,
                "the transfer never ends: its last cycle does not fit into 64 bits, so give the port "
                "more bytes per cycle",
                0, now, 0, GPUMP_UNKNOWN - 1);
    }
    times->end = run.end - transfer->start_cycle;
    times->first_warp = (run.first == GPUMP_UNKNOWN ? run.end : run.first) - transfer->start_cycle;
    times->bytes = run.spill->statistics.bytes;
    times->segments = run.spill->statistics.segments;
    times->drain_cycles = run.spill->statistics.drain_cycles;
    times->spill_cycles = run.spill->statistics.spill_cycles;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_spill_save_time(const gpump_spill_config *config, const gpump_spill_transfer *transfer,
                                             gpump_spill_times *times, gpump_diag *diag) {
    return gpumpi_spill_time(config, transfer, 0, times, diag);
}

GPUMP_API gpump_result gpump_spill_restore_time(const gpump_spill_config *config, const gpump_spill_transfer *transfer,
                                                gpump_spill_times *times, gpump_diag *diag) {
    return gpumpi_spill_time(config, transfer, 1, times, diag);
}

GPUMP_API int gpump_spill_run_on(const gpump_spill_decision *decision, uint64_t *here_cycles, uint64_t *there_cycles) {
    uint64_t here = gpump_port_cycles(&decision->port, decision->here_bytes);
    uint64_t there = gpump_port_cycles(&decision->port, decision->there_bytes);
    there = gpump_add_saturated(there, decision->distance == GPUMP_UNKNOWN
                                           ? GPUMP_UNKNOWN
                                           : gpump_muldiv_up(decision->distance, decision->cpi_q16, 65536));
    if (here_cycles) *here_cycles = here;
    if (there_cycles) *there_cycles = there;
    here = gpump_add_saturated(here, gpump_muldiv_up(decision->here_bytes, decision->byte_weight_q16, 65536));
    there = gpump_add_saturated(there, gpump_muldiv_up(decision->there_bytes, decision->byte_weight_q16, 65536));
    return there < here;
}

static const char *const gpumpi_spill_counters[][3] = {
#define GPUMPI_FIELD(name, unit, description) {#name, unit, description},
    GPUMPI_SPILL_STATISTICS(GPUMPI_FIELD)
#undef GPUMPI_FIELD
};
/* clang-format off */
static const gpumpi_methods gpumpi_spill_hooks = {
    "spill", "context", GPUMPI_SPILL_MAGIC,
    GPUMP_LAYOUT_CONTEXT, sizeof(gpump_spill_config),
    offsetof(gpump_spill, config), offsetof(gpump_spill, statistics),
    sizeof gpumpi_spill_counters / sizeof *gpumpi_spill_counters, gpumpi_spill_counters, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_spill_preset, gpumpi_spill_check_config, gpumpi_spill_bytes, gpumpi_spill_bits, NULL,
    /* set_up, unfit, check, hash */
    NULL, NULL, gpumpi_spill_check, gpumpi_spill_hash,
    /* preset_for, next_cycle, copy_statistics */
    NULL, gpumpi_spill_next_cycle, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_spill_methods(void) { return &gpumpi_spill_hooks; }
