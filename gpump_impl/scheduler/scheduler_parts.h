/* scheduler_parts (private): the scheduler's block of memory, for scheduler.c, which changes it, and
 * scheduler_tables.c, which lays it out, shows and checks it. */
#ifndef GPUMPI_SCHEDULER_PARTS_H
#define GPUMPI_SCHEDULER_PARTS_H

#include "scheduler/scheduler.h"

#include <string.h>

GPUMP_BEGIN

/* How many offsets the head holds, from processes_at on. */
#define GPUMPI_SCHEDULER_OFFSETS 13

/* The whole state: this head, then the tables at the offsets it holds. */
struct gpump_scheduler {
    gpumpi_head head;
    gpump_scheduler_statistics statistics;
    uint64_t now;
    uint64_t policy_due;  /* when the policy decides; GPUMP_UNKNOWN: nothing has happened since it last did */
    uint64_t policy_wake; /* when it needs to run by itself */
    uint64_t change_due;  /* when the first command that brings in another process is through; GPUMP_UNKNOWN: none */
    uint64_t arrivals;    /* sequence number of the next submission */
    uint64_t serials;     /* serial of the next process */
    uint64_t policy_state[GPUMP_SCHEDULER_STATE_WORDS];
    uint64_t processes_at, buffers_at, kernels_at, sms_at; /* offsets in bytes from the start of the block */
    uint64_t idle_at, attention_at,
        attention_summary_at; /* sets of SMs: idle; with an action to hand over; words of that not 0 */
    uint64_t done_at;         /* set of queues with KERNEL_DONE to hand over */
    uint64_t ptbqs_at, generations_at, waiting_at, active_at, owners_at; /* the last of GPUMPI_SCHEDULER_OFFSETS */
    gpump_scheduler_config config;
    uint32_t waiting_count, active_count, open_processes, idle_sms, reserved_sms;
    uint32_t admission_due; /* 1: a buffer or a row has become free or full since the policy was asked to admit */
    uint32_t done_count;    /* queues in that set */
    uint32_t unused;
};

GPUMP_INLINE void *gpumpi_scheduler_at(const gpump_scheduler *s, uint64_t offset) {
    const char *base = (const char *)s;
    void *pointer;
    base += offset;
    memcpy(&pointer, &base, sizeof pointer); /* drops const: callers that only read keep their results const */
    return pointer;
}
GPUMP_INLINE gpump_scheduler_process_row *gpumpi_scheduler_processes(const gpump_scheduler *s) {
    return (gpump_scheduler_process_row *)gpumpi_scheduler_at(s, s->processes_at);
}
GPUMP_INLINE gpump_scheduler_buffer *gpumpi_scheduler_buffers(const gpump_scheduler *s) {
    return (gpump_scheduler_buffer *)gpumpi_scheduler_at(s, s->buffers_at);
}
GPUMP_INLINE gpump_scheduler_kernel *gpumpi_scheduler_kernels(const gpump_scheduler *s) {
    return (gpump_scheduler_kernel *)gpumpi_scheduler_at(s, s->kernels_at);
}
GPUMP_INLINE gpump_scheduler_sm *gpumpi_scheduler_sms(const gpump_scheduler *s) {
    return (gpump_scheduler_sm *)gpumpi_scheduler_at(s, s->sms_at);
}
GPUMP_INLINE uint64_t *gpumpi_scheduler_words(const gpump_scheduler *s, uint64_t offset) {
    return (uint64_t *)gpumpi_scheduler_at(s, offset);
}
GPUMP_INLINE uint32_t *gpumpi_scheduler_halves(const gpump_scheduler *s, uint64_t offset) {
    return (uint32_t *)gpumpi_scheduler_at(s, offset);
}

/* The kernel that an SM is to be set up for. */
GPUMP_INLINE uint32_t gpumpi_scheduler_set_up_for(const gpump_scheduler_sm *sm) {
    return sm->state == GPUMP_SCHEDULER_SM_RESERVED ? sm->next : sm->kernel;
}
/* The lowest SM with an action to hand over; at most 16 words are looked at (65536 SMs). */
GPUMP_INLINE uint32_t gpumpi_scheduler_attended(const gpump_scheduler *s) {
    const uint64_t *summary = gpumpi_scheduler_words(s, s->attention_summary_at);
    uint32_t i = 0, word;
    while (!summary[i])
        if (++i * 4096 >= s->config.sms) return GPUMP_NONE;
    word = i * 64 + gpump_bits_lowest64(summary[i]);
    return word * 64 + gpump_bits_lowest64(gpumpi_scheduler_words(s, s->attention_at)[word]);
}
GPUMP_INLINE uint32_t gpumpi_scheduler_lowest_idle(const gpump_scheduler *s) {
    const uint64_t *words = gpumpi_scheduler_words(s, s->idle_at);
    if (!s->idle_sms) return GPUMP_NONE;
    for (uint32_t i = 0;; i++)
        if (words[i]) return i * 64 + gpump_bits_lowest64(words[i]);
}

GPUMP_END
#endif
