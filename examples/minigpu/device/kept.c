#include "device/kept.h"

#include <stdlib.h>
#include <string.h>

#include "device/allocations.h"
#include "machine/again.h"
#include "ptx/ptx_reader.h"

/* Memory is lent in steps, so that a new allocation seldom lies beyond what a machine knows. */
#define MEMORY_STEP_BYTES (UINT64_C(256) << 20)

static uint64_t lent_end(const launch_memory *memory) {
    const uint64_t bytes = (memory->end - memory->first) / MEMORY_STEP_BYTES * MEMORY_STEP_BYTES + MEMORY_STEP_BYTES;
    return bytes < allocations_room_bytes(memory) ? memory->first + bytes : memory->end;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count) {
    return gpump_hash_bytes(hash, (const uint8_t *)bytes, count);
}

/* What a machine was built for: the kernel, its blocks, and which of its parameters point into the same buffer,
 * and its texture references. */
static uint64_t signature(const launch_kernel *k) {
    const kernel_program *program = ptx_find_kernel(k->module, k->name);
    const uint32_t numbers[] = {k->block[0], k->block[1], k->block[2], k->dynamic_shared_bytes,
                                k->process,  k->priority};
    uint64_t hash = hash_bytes(GPUMP_HASH_SEED, &program, sizeof program);
    uint32_t i, n;
    hash = hash_bytes(hash, numbers, sizeof numbers);
    for (i = 0; i < k->argument_count; i++) {
        const launch_argument *a = &k->arguments[i];
        for (n = 0; n < i && !(a->is_buffer && k->arguments[n].is_buffer && k->arguments[n].buffer == a->buffer); n++) {
        }
        hash = gpump_hash_u64(hash, n);
    }
    for (i = 0; i < k->texture_reference_count; i++)
        hash = hash_bytes(hash, &k->texture_references[i].texture.texture, sizeof(lanes_texture));
    return hash;
}

static void drop(kept_machine *e) {
    machine_free(e->machine);
    free(e->first);
    memset(e, 0, sizeof *e);
}

static int suits(const kept_machine *e, const launch_file *launch, const machine_options *options,
                 const uint64_t *signatures) {
    uint32_t i;
    if (!e->machine || e->machine->functional != (options->functional != 0) ||
        e->launch.kernel_count != launch->kernel_count || e->launch.process_count != launch->process_count ||
        launch->memory->end > e->memory.end)
        return 0;
    for (i = 0; i < launch->kernel_count; i++)
        if (e->signatures[i] != signatures[i] || !again_fits(e->machine, i, launch->kernels[i].grid)) return 0;
    return 1;
}

/* The launch becomes the entry's own, because the caller's is gone when the machine runs again. */
static void take_launch(kept_machine *e, const launch_file *launch) {
    const uint64_t end = e->machine ? e->memory.end : lent_end(launch->memory);
    e->launch = *launch;
    e->memory = *launch->memory;
    e->memory.end = end;
    memcpy(e->kernels, launch->kernels, launch->kernel_count * sizeof *e->kernels);
    memcpy(e->processes, launch->processes, launch->process_count * sizeof *e->processes);
    e->launch.memory = &e->memory;
    e->launch.kernels = e->kernels;
    e->launch.processes = e->processes;
}

static int build(kept_machine *e, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    const size_t bytes = e->launch.kernel_count * sizeof *e->first;
    e->machine = machine_build(&e->launch, options, error);
    if (!e->machine) return -1;
    if ((e->first = (kernel *)malloc(bytes))) memcpy(e->first, e->machine->kernels, bytes);
    return 0;
}

kept_machine *kept_take(kept_machines *k, const launch_file *launch, uint64_t changes, const machine_options *options,
                        char error[LAUNCH_ERROR_BYTES]) {
    uint64_t signatures[KEPT_KERNELS];
    kept_machine *e, *oldest = k->entries;
    uint32_t i;
    for (i = 0; i < launch->kernel_count; i++) signatures[i] = signature(&launch->kernels[i]);
    for (e = k->entries; e < k->entries + KEPT_MAX && !suits(e, launch, options, signatures); e++)
        if (e->used < oldest->used) oldest = e;
    if (e < k->entries + KEPT_MAX) {
        take_launch(e, launch);
        again_begin(e->machine, e->first, &e->launch, e->changes != changes);
    } else {
        e = oldest;
        drop(e);
        take_launch(e, launch);
        memcpy(e->signatures, signatures, launch->kernel_count * sizeof *signatures);
        if (build(e, options, error)) {
            drop(e);
            return NULL;
        }
    }
    e->changes = changes;
    e->used = ++k->runs;
    return e;
}

void kept_ran(kept_machine *e, int once) {
    if (once || !e->first || !again_is_possible(e->machine)) drop(e);
}

void kept_close(kept_machines *k) {
    uint32_t i;
    for (i = 0; i < KEPT_MAX; i++) drop(&k->entries[i]);
}
