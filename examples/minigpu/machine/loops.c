#include "machine/loops.h"

#include "machine/stream.h"

#include <inttypes.h>
#include <string.h>

int loops_make(machine *m, const launch_file *launch) {
    uint32_t i, n;
    m->launch = launch;
    m->stop_cycle = launch->stop_at ? launch->stop_at : NEVER;
    m->loop_rounds = (uint32_t *)arena_take_array(&m->arena, launch->loop_count + 1u, sizeof *m->loop_rounds);
    m->runs = (process_runs *)arena_take_array(&m->arena, launch->process_count, sizeof *m->runs);
    if (!m->loop_rounds || !m->runs) return -1;
    for (i = 0; i < launch->process_count; i++) {
        uint64_t bytes = 0;
        m->runs[i].first_end_cycle = m->runs[i].last_end_cycle = NEVER;
        if (launch->processes[i].repeat == 1) continue;
        for (n = 0; n < launch->buffer_count; n++)
            if (launch->buffers[n].process == i) bytes += launch->buffers[n].bytes;
        if (!(m->runs[i].first_results = (uint8_t *)arena_take(&m->arena, bytes + 1))) return -1;
    }
    return 0;
}

static uint8_t *buffer_memory(machine *m, uint32_t buffer) {
    return device_memory(m, m->launch->buffers[buffer].address);
}

void loops_kernel_starts(machine *m, uint32_t index) {
    const launch_loop *loop = m->launch->loop_count ? launch_loop_at(m->launch, index) : NULL;
    kernel *k = &m->kernels[index];
    uint32_t i;
    k->round_cycle = m->now;
    for (i = 0; k->iteration && i < k->launch->argument_count; i++) {
        const launch_argument *argument = &k->launch->arguments[i];
        const uint64_t bits = launch_scalar(argument, k->iteration);
        if (argument->step)
            memcpy(k->parameters + k->program->parameters[i].offset, &bits, launch_type_bytes(argument->type));
    }
    if (!loop) return;
    m->loop_rounds[loop - m->launch->loops]++;
    for (i = 0; i < loop->write_count; i++) {
        const launch_write *write = &loop->writes[i];
        memcpy(buffer_memory(m, write->buffer) + write->offset, &write->bits,
               launch_type_bytes(m->launch->buffers[write->buffer].type));
    }
}

const uint8_t *loops_first_result(const machine *m, uint32_t buffer) {
    const launch_buffer *wanted = &m->launch->buffers[buffer];
    const process_runs *runs = &m->runs[wanted->process];
    uint64_t offset = 0;
    uint32_t i;
    if (!runs->ended) return NULL;
    if (!runs->first_results) return device_memory((machine *)(uintptr_t)m, wanted->address);
    for (i = 0; i < buffer; i++)
        if (m->launch->buffers[i].process == wanted->process) offset += m->launch->buffers[i].bytes;
    return runs->first_results + offset;
}

/* Sets kernels to wait for their next round. */
static void wait_again(machine *m, uint32_t first, uint32_t count) {
    uint32_t i;
    for (i = first; i < first + count; i++) {
        kernel *k = &m->kernels[i];
        k->state = KERNEL_WAITING;
        k->next_block = k->done_blocks = 0;
        m->kernels_done--;
    }
    m->kernels_changed = 1;
}

/* Handles the end of all kernels of a process: keeps the results of its first run, and starts its next run. */
static void process_ended(machine *m, uint32_t process) {
    process_runs *runs = &m->runs[process];
    uint8_t *keep = runs->first_results;
    uint32_t i;
    runs->last_end_cycle = m->now;
    if (!runs->ended++) runs->first_end_cycle = m->now;
    for (i = 0; runs->ended == 1 && keep && i < m->launch->buffer_count; i++) {
        const launch_buffer *buffer = &m->launch->buffers[i];
        if (buffer->process != process) continue;
        memcpy(keep, buffer_memory(m, i), buffer->bytes);
        keep += buffer->bytes;
    }
    if (runs->ended == m->launch->processes[process].repeat) return;
    for (i = 0; i < m->launch->buffer_count; i++)
        if (m->launch->buffers[i].process == process)
            memcpy(buffer_memory(m, i), m->launch->buffers[i].contents, m->launch->buffers[i].bytes);
    for (i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].process == process) wait_again(m, i, 1);
    stream_ended(m, process);
}

void loops_kernel_ended(machine *m, uint32_t index) {
    const launch_loop *loop = NULL;
    uint32_t i, rounds = 0;
    for (i = 0; i < m->launch->loop_count && !loop; i++) {
        if (m->launch->loops[i].first + m->launch->loops[i].count - 1 == index) loop = &m->launch->loops[i];
    }
    if (loop) rounds = m->loop_rounds[loop - m->launch->loops];
    if (loop && !(loop->has_until && launch_loop_stops(m->launch, loop, buffer_memory(m, loop->buffer)))) {
        if (rounds < loop->times) {
            wait_again(m, loop->first, loop->count);
            for (i = loop->first; i < loop->first + loop->count; i++) m->kernels[i].iteration++;
            return;
        }
        if (loop->has_until)
            machine_fail(
                m,
                "%s:%u:%u: the loop has run %u times, and its condition does not hold: raise times, or correct "
                "until",
                m->launch->path, loop->place.line, loop->place.column, rounds);
    }
    for (i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].process == m->kernels[index].process && m->kernels[i].state != KERNEL_DONE) return;
    process_ended(m, m->kernels[index].process);
}
