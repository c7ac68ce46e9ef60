#include "machine/loops.h"

#include <inttypes.h>
#include <string.h>

int loops_make(machine *m, const launch_file *launch) {
    m->launch = launch;
    m->loop_rounds = (uint32_t *)arena_take_array(&m->arena, launch->loop_count + 1u, sizeof *m->loop_rounds);
    return m->loop_rounds ? 0 : -1;
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

void loops_kernel_ended(machine *m, uint32_t index) {
    const launch_loop *loop = NULL;
    uint32_t i, rounds;
    for (i = 0; i < m->launch->loop_count && !loop; i++) {
        if (m->launch->loops[i].first + m->launch->loops[i].count - 1 == index) loop = &m->launch->loops[i];
    }
    if (!loop || (loop->has_until && launch_loop_stops(m->launch, loop, buffer_memory(m, loop->buffer)))) return;
    rounds = m->loop_rounds[loop - m->launch->loops];
    if (rounds == loop->times) {
        if (loop->has_until)
            machine_fail(
                m,
                "%s:%u:%u: the loop has run %u times, and what it waits for has not come: raise times, or look "
                "at until",
                m->launch->path, loop->place.line, loop->place.column, rounds);
        return;
    }
    for (i = loop->first; i < loop->first + loop->count; i++) {
        kernel *k = &m->kernels[i];
        k->state = KERNEL_WAITING;
        k->next_block = k->done_blocks = 0;
        k->iteration++;
        m->kernels_done--;
    }
}
