#include "machine/again.h"

#include <string.h>

#include "machine/machine_build.h"
#include "sm/runtime_calls.h"

static int is_idle(const sm *s) {
    return !s->resident && !s->contexts_moving && !s->parked && !s->reserved_for && !s->starting_count &&
           !s->outstanding_misses && l1_is_idle(&s->l1);
}

int again_is_possible(const machine *m) {
    uint32_t i;
    if (m->failed || m->kernels_done < m->kernel_count || m->parts[0] || m->policy || m->window_cycles ||
        m->stop_cycle != NEVER || !memory_can_be_emptied(m->memory_system) || runtime_calls_heap_bytes(m))
        return 0;
    for (i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].program->uses_grid_barrier) return 0; /* its counters lie in device memory */
    for (i = 0; i < m->sm_count; i++)
        if (!is_idle(m->sms[i])) return 0;
    return 1;
}

static uint64_t blocks_of(const uint32_t grid[3]) { return (uint64_t)grid[0] * grid[1] * grid[2]; }

int again_fits(const machine *m, uint32_t index, const uint32_t grid[3]) {
    const uint64_t room = (m->preempted_count - m->block_count) / machine_kernels_at_a_time(m),
                   blocks = blocks_of(grid);
    gpump_occupancy occupancy;
    if ((uint64_t)grid[0] * grid[1] > (UINT64_C(1) << 40) / grid[2]) return 0;
    if (blocks <= room) return 1;
    return gpump_gpu_occupancy(&m->config.gpu, &m->kernels[index].need, &occupancy, NULL) == GPUMP_OK &&
           (uint64_t)occupancy.blocks * m->config.gpu.sms * m->config.saved_blocks_per_slot <= room;
}

static void begin_kernel(machine *m, uint32_t index, const kernel *first, const launch_file *launch) {
    kernel *k = &m->kernels[index];
    *k = *first;
    k->launch = &launch->kernels[index];
    k->arrival_cycle = m->now + k->launch->arrival_cycle;
    k->blocks = blocks_of(k->launch->grid);
    memset(k->textures, 0, (k->launch->argument_count + 1u) * sizeof *k->textures);
    machine_fill_parameters(launch, k);
}

static void begin_sm(sm *s) {
    l1_empty(&s->l1);
    memset(s->scheduler_last, 0, sizeof s->scheduler_last);
    s->first_scheduler = s->next_queue = 0;
    memset(&s->statistics, 0, sizeof s->statistics);
}

void again_begin(machine *m, const kernel *first, launch_file *launch, int buffers_changed) {
    uint32_t i;
    if (buffers_changed) {
        const uint64_t from = (launch->memory->first - DEVICE_BASE) / PAGE_BYTES,
                       pages = (launch->memory->end - launch->memory->first) / PAGE_BYTES;
        memset(m->page_table + from, 0, pages);
        memset(m->page_ends + from, 0, pages * sizeof *m->page_ends);
        machine_load_buffers(m, launch);
    }
    m->launch = launch;
    for (i = 0; i < m->kernel_count; i++) begin_kernel(m, i, &first[i], launch);
    for (i = 0; i < launch->process_count; i++) {
        m->runs[i].ended = 0;
        m->runs[i].first_end_cycle = m->runs[i].last_end_cycle = NEVER;
    }
    for (i = 0; i < m->sm_count; i++) begin_sm(m->sms[i]);
    memory_empty(m->memory_system);
    m->kernels_done = m->preemption_count = m->printed_count = m->printed_bytes = 0;
    m->kernels_changed = 1;
    m->printed_lost = 0;
    m->progress_cycle = m->now;
    m->dispatch_needed = 1;
}
