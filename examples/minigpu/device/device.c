#define _GNU_SOURCE
#include "device/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/device_fields.h"
#include "device/share_client.h"
#include "parts/fault_unit/fault_unit.h"

/* ==== the device ==== */

/* The configuration that machine_build will choose: it is asked for a machine of no kernel in particular. */
static int choose(device *d, char error[LAUNCH_ERROR_BYTES]) {
    const device_share *share = d->options->share;
    const char *preset = d->options->machine.gpu ? d->options->machine.gpu : "gtx480_shieh";
    char text[LAUNCH_ERROR_BYTES / 2];
    if (share && share->socket >= 0) return share_client_open(d, error); /* the machine is there already */
    if (minigpu_config_preset(&d->config, preset)) {
        snprintf(error, LAUNCH_ERROR_BYTES, "no GPU preset is named \"%s\"; minigpu --list presets prints all", preset);
        return -1;
    }
    if (d->options->sms) d->config.gpu.sms = d->options->sms;
    if (d->options->machine.config &&
        minigpu_config_set_list(&d->config, d->options->machine.config, text, sizeof text)) {
        snprintf(error, LAUNCH_ERROR_BYTES, "config %s", text);
        return -1;
    }
    minigpu_config_use_board(&d->config);
    return 0;
}

static int open_memory(device *d) {
    const uint64_t alignment = d->options->machine.faults.link ? fault_unit_granule_bytes() : PAGE_BYTES;
    const device_share *share = d->options->share;
    return share ? allocations_open_shared(&d->memory, alignment, share->memory, share->part)
                 : allocations_open(&d->memory, alignment);
}

device *device_open(const device_options *options, char error[LAUNCH_ERROR_BYTES]) {
    device *d = (device *)calloc(1, sizeof *d);
    if (!d) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for a device");
        return NULL;
    }
    d->options = options;
    if (choose(d, error)) {
        free(d);
        return NULL;
    }
    if (open_memory(d)) {
        snprintf(error, LAUNCH_ERROR_BYTES, "the system gives no address space for device memory");
        free(d);
        return NULL;
    }
    return d;
}

void device_drop_started(device *d) {
    uint32_t i;
    for (i = 0; i < d->kernel_count; i++) {
        free(d->kernels[i].arguments);
        free(d->parameters[i]);
    }
    d->kernel_count = d->process_count = 0;
}

void device_forget_machines(device *d) { kept_close(&d->kept); }

void device_close(device *d) {
    uint32_t i;
    if (!d) return;
    device_drop_started(d);
    kept_close(&d->kept);
    for (i = 0; i < d->texts.count; i++) free(d->texts.texts[i]);
    free(d->texts.texts);
    for (i = 0; i < d->module_count; i++) ptx_free(&d->modules[i]);
    free(d->modules);
    free(d->const_bases);
    free(d->global_bases);
    free(d->textures);
    for (i = 0; i < d->bound_count; i++) free(d->bound[i].references);
    free(d->bound);
    allocations_close(&d->memory);
    free(d->numbers);
    free(d);
}

int device_is_at_host_addresses(const device *d) { return d->memory.lent.bytes == (uint8_t *)(uintptr_t)DEVICE_BASE; }
int device_open_host_memory(device *d) {
    if (!device_is_at_host_addresses(d)) return -1;
    d->memory.lent.opens_host = 1;
    return 0;
}
const minigpu_config *device_config(const device *d) { return &d->config; }

#define LIMIT_TEXT_BYTES 32u /* of ",print_bytes=4294967295", at most */

static int is_asked_for(const device *d, const char *name) {
    const char *const list = d->options->machine.config;
    return list && minigpu_config_named(list, list + strlen(list), name);
}

/* Makes the list of numbers for machines: those of the options, and the limits of the device. Returns 0, or -1. */
static int list_numbers(device *d) {
    const char *const asked = d->options->machine.config;
    const struct {
        const char *name;
        uint32_t value;
    } limits[] = {{"heap_bytes", d->config.heap_bytes}, {"print_bytes", d->config.print_bytes}};
    const size_t room = (asked ? strlen(asked) : 0) + sizeof limits / sizeof *limits * LIMIT_TEXT_BYTES;
    char *numbers = (char *)malloc(room);
    size_t i, length;
    if (!numbers) return -1;
    length = (size_t)snprintf(numbers, room, "%s", asked ? asked : "");
    for (i = 0; i < sizeof limits / sizeof *limits; i++)
        if (!is_asked_for(d, limits[i].name))
            length += (size_t)snprintf(numbers + length, room - length, "%s%s=%u", length ? "," : "", limits[i].name,
                                       limits[i].value);
    free(d->numbers);
    d->numbers = numbers;
    return 0;
}

int device_set_number(device *d, const char *name, uint32_t value) {
    const int is_heap = !strcmp(name, "heap_bytes");
    if ((!is_heap && strcmp(name, "print_bytes")) || (is_heap && d->memory.lent.heap)) return -1;
    if (is_asked_for(d, name) || d->options->share) return 0;
    if (minigpu_config_set(&d->config, name, value) || list_numbers(d)) return -1;
    device_forget_machines(d);
    return 0;
}
uint64_t device_cycle(const device *d) { return d->cycle; }
void device_wait_until(device *d, uint64_t cycle) {
    if (cycle > d->cycle) d->cycle = cycle;
}
uint32_t device_started(const device *d) { return d->kernel_count; }
uint32_t device_started_most(const device *d) {
    return d->options->share ? d->options->share->most : DEVICE_STARTED_MAX;
}

uint64_t device_allocate(device *d, uint64_t bytes, const char *name) {
    return allocations_take(&d->memory, bytes, name);
}

int device_release(device *d, uint64_t address) { return allocations_give(&d->memory, address); }

int device_find(const device *d, uint64_t address, uint64_t *start, uint64_t *bytes) {
    const launch_buffer *b = allocations_find(&d->memory, address);
    if (!b) return 0;
    if (start) *start = b->address;
    if (bytes) *bytes = b->bytes;
    return 1;
}

uint8_t *device_bytes(device *d, uint64_t address, uint64_t bytes) {
    const launch_buffer *b = allocations_find(&d->memory, address);
    return b && bytes <= b->bytes - (address - b->address) ? d->memory.lent.bytes + (address - DEVICE_BASE) : NULL;
}

void device_memory_use(const device *d, uint64_t *total, uint64_t *used) {
    uint32_t i;
    *total = allocations_room_bytes(&d->memory.lent);
    *used = 0;
    for (i = 0; i < d->memory.count; i++) *used += d->memory.buffers[i].bytes;
}

/* ==== modules and textures ==== */

/* Places one image of a module's variables. Returns its address, 0 when the device is full. */
static uint64_t place_image(device *d, const uint8_t *image, uint64_t bytes, const char *name) {
    const uint64_t address = bytes ? device_allocate(d, bytes, name) : DEVICE_BASE;
    if (address && bytes) allocations_are_variables(&d->memory, address);
    if (address && bytes) memcpy(d->memory.lent.bytes + (address - DEVICE_BASE), image, bytes);
    return address;
}

void device_reset_variables(device *d, uint32_t module) {
    const ptx_module *m = &d->modules[module];
    if (m->constant_bytes)
        memcpy(device_bytes(d, d->const_bases[module], m->constant_bytes), m->constant_image, m->constant_bytes);
    if (m->global_bytes)
        memcpy(device_bytes(d, d->global_bases[module], m->global_bytes), m->global_image, m->global_bytes);
}

/* Reads PTX into the next module. Returns its number, or NONE. */
static uint32_t read_module(device *d, const char *text, size_t length, const char *name,
                            char error[LAUNCH_ERROR_BYTES]) {
    const uint32_t n = d->module_count;
    ptx_module *modules = (ptx_module *)realloc(d->modules, (n + 1u) * sizeof *modules);
    uint64_t *const_bases, *global_bases;
    ptx_error wrong;
    if (modules) d->modules = modules;
    if ((const_bases = (uint64_t *)realloc(d->const_bases, (n + 1u) * sizeof *const_bases)))
        d->const_bases = const_bases;
    if ((global_bases = (uint64_t *)realloc(d->global_bases, (n + 1u) * sizeof *global_bases)))
        d->global_bases = global_bases;
    if (!modules || !const_bases || !global_bases) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: out of memory", name);
        return NONE;
    }
    memset(&wrong, 0, sizeof wrong);
    if (!ptx_read(text, length, name, &modules[n], &wrong)) return n;
    snprintf(error, LAUNCH_ERROR_BYTES, "%s", wrong.text);
    return NONE;
}

uint32_t device_load(device *d, const char *text, size_t length, const char *name, char error[LAUNCH_ERROR_BYTES]) {
    const uint32_t n = read_module(d, text, length, name, error);
    ptx_module *m;
    if (n == NONE) return NONE;
    m = &d->modules[n];
    d->const_bases[n] = place_image(d, m->constant_image, m->constant_bytes, "constants");
    d->global_bases[n] = place_image(d, m->global_image, m->global_bytes, "variables");
    if (!d->const_bases[n] || !d->global_bases[n] ||
        (d->options->share && share_client_keep(&d->texts, n, text, length))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: device memory has no room for its variables", name);
        ptx_free(m);
        return NONE;
    }
    ptx_link(m, d->const_bases[n], d->global_bases[n]);
    d->module_count++;
    device_reset_variables(d, n); /* ptx_link has put addresses into the images */
    return n;
}

uint32_t device_load_placed(device *d, const char *text, size_t length, const char *name, uint64_t const_base,
                            uint64_t global_base, char error[LAUNCH_ERROR_BYTES]) {
    const uint32_t n = read_module(d, text, length, name, error);
    if (n == NONE) return NONE;
    d->const_bases[n] = const_base;
    d->global_bases[n] = global_base;
    ptx_link(&d->modules[n], const_base, global_base);
    d->module_count++;
    return n;
}

const ptx_module *device_module(const device *d, uint32_t module) { return &d->modules[module]; }

int device_set_texture(device *d, uint32_t index, const lanes_texture *texture) {
    if (index >= d->texture_count) {
        lanes_texture *grown = (lanes_texture *)realloc(d->textures, (index + 1u) * sizeof *grown);
        if (!grown) return -1;
        memset(grown + d->texture_count, 0, (index + 1u - d->texture_count) * sizeof *grown);
        d->textures = grown;
        d->texture_count = index + 1;
    }
    d->textures[index] = *texture;
    return 0;
}

static bound_textures *bound_of(device *d, uint32_t module) {
    if (module >= d->bound_count) {
        bound_textures *grown = (bound_textures *)realloc(d->bound, (module + 1u) * sizeof *grown);
        if (!grown) return NULL;
        memset(grown + d->bound_count, 0, (module + 1u - d->bound_count) * sizeof *grown);
        d->bound = grown;
        d->bound_count = module + 1;
    }
    return &d->bound[module];
}

int device_bind_texture(device *d, uint32_t module, const char *name, const lanes_texture *texture) {
    bound_textures *b = bound_of(d, module);
    uint32_t i = 0;
    if (!b) return -1;
    while (i < b->count && strcmp(b->references[i].name, name) != 0) i++;
    if (i == b->count) {
        launch_texture_reference *grown = (launch_texture_reference *)realloc(b->references, (i + 1u) * sizeof *grown);
        if (!grown) return -1;
        b->references = grown;
        b->count++;
    }
    memset(&b->references[i], 0, sizeof b->references[i]);
    b->references[i].name = (char *)(uintptr_t)name;
    b->references[i].texture.texture = *texture;
    return 0;
}

/* ==== starting ==== */

static uint32_t process_of(device *d, uint32_t stream, uint32_t priority) {
    uint32_t i;
    for (i = 0; i < d->process_count; i++)
        if (d->streams[i] == stream) return i;
    d->streams[i] = stream;
    snprintf(d->stream_names[i], sizeof d->stream_names[i], "stream %u", stream);
    memset(&d->processes[i], 0, sizeof d->processes[i]);
    d->processes[i].name = d->stream_names[i];
    d->processes[i].priority = priority;
    d->processes[i].repeat = d->processes[i].weight = 1;
    return d->process_count++;
}

/* One parameter as the launch file's argument: a pointer into an allocation, a texture handle, or bytes. */
static void read_argument(const device *d, const kernel_parameter *parameter, uint8_t *bytes, launch_argument *to) {
    uint64_t bits = 0;
    const launch_buffer *b;
    memset(to, 0, sizeof *to);
    to->structure = bytes;
    to->structure_bytes = parameter->bytes;
    if (parameter->bytes != 8) return;
    memcpy(&bits, bytes, 8);
    if (bits - DEVICE_TEXTURE_HANDLE < d->texture_count) {
        to->is_texture = 1;
        to->texture = d->textures[bits - DEVICE_TEXTURE_HANDLE];
        bits = to->texture.address;
    }
    b = allocations_find(&d->memory, bits);
    if (!b) {
        to->is_texture = 0;
        return;
    }
    to->is_buffer = 1;
    to->buffer = (uint32_t)(b - d->memory.buffers);
    to->offset = bits - b->address;
    to->structure = NULL;
}

static int find_kernel(device *d, const device_launch *launch, const kernel_program **program,
                       char error[LAUNCH_ERROR_BYTES]) {
    const ptx_refusal *refusal;
    if (launch->module >= d->module_count) {
        snprintf(error, LAUNCH_ERROR_BYTES, "module %u has not been loaded", launch->module);
        return -1;
    }
    if ((*program = ptx_find_kernel(&d->modules[launch->module], launch->kernel))) return 0;
    refusal = ptx_find_refusal(&d->modules[launch->module], launch->kernel);
    if (refusal)
        snprintf(error, LAUNCH_ERROR_BYTES, "%s", refusal->text);
    else
        snprintf(error, LAUNCH_ERROR_BYTES, "%s has no kernel named \"%s\"", d->modules[launch->module].file_name,
                 launch->kernel);
    return -1;
}

int device_start(device *d, const device_launch *launch, char error[LAUNCH_ERROR_BYTES]) {
    const kernel_program *program;
    launch_kernel *k;
    uint32_t i;
    if (find_kernel(d, launch, &program, error)) return -1;
    if ((d->kernel_count == device_started_most(d) || d->launched == d->options->machine.functional) &&
        device_run(d, error))
        return -1;
    i = d->kernel_count;
    k = &d->kernels[i];
    memset(k, 0, sizeof *k);
    d->launches[i] = *launch;
    d->parameters[i] = (uint8_t *)malloc(program->parameter_bytes + 8u);
    k->arguments = (launch_argument *)calloc(program->parameter_count + 1u, sizeof *k->arguments);
    if (!d->parameters[i] || !k->arguments) {
        free(d->parameters[i]);
        free(k->arguments);
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for a launch");
        return -1;
    }
    if (program->parameter_bytes) memcpy(d->parameters[i], launch->parameters, program->parameter_bytes);
    k->argument_count = program->parameter_count;
    k->name = (char *)(uintptr_t)program->name;
    k->process = process_of(d, launch->stream, launch->priority);
    k->priority = launch->priority;
    memcpy(k->grid, launch->grid, sizeof k->grid);
    memcpy(k->block, launch->block, sizeof k->block);
    k->dynamic_shared_bytes = launch->dynamic_shared_bytes;
    d->kernel_count++;
    d->launched++;
    return 0;
}

/* ==== running ==== */

/* Returns the options of a machine for the kernels that were started: the first launches may take no time. */
static machine_options options_now(const device *d) {
    const machine_options *asked = &d->options->machine;
    machine_options now = *asked;
    now.functional = 0;
    if (d->numbers) now.config = d->numbers;
    if (d->launched > asked->functional || !asked->functional) return now;
    machine_options_default(&now);
    now.gpu = asked->gpu;
    now.config = d->numbers ? d->numbers : asked->config;
    now.functional = FUNCTIONAL_ALL;
    return now;
}

/* The machine begins when its first kernel is ready. */
static void begin(device *d) {
    uint64_t first = UINT64_MAX;
    uint32_t i;
    for (i = 0; i < d->kernel_count; i++)
        if (d->launches[i].ready_cycle < first) first = d->launches[i].ready_cycle;
    device_wait_until(d, first);
}

/* Gives a kernel the textures that are bound. A texture whose memory has been freed is bound no longer. */
static void read_references(device *d, uint32_t module, launch_kernel *k) {
    bound_textures *bound = module < d->bound_count ? &d->bound[module] : NULL;
    uint32_t i = 0;
    while (bound && i < bound->count) {
        launch_argument *a = &bound->references[i].texture;
        const launch_buffer *b = allocations_find(&d->memory, a->texture.address);
        if (!b) {
            bound->references[i] = bound->references[--bound->count];
            continue;
        }
        a->is_buffer = a->is_texture = 1;
        a->buffer = (uint32_t)(b - d->memory.buffers);
        a->offset = a->texture.address - b->address;
        i++;
    }
    k->texture_references = bound ? bound->references : NULL;
    k->texture_reference_count = bound ? bound->count : 0;
}

/* Allocations and modules move in their tables while kernels wait, so arguments are read last. A pointer inside a
 * struct hides from the analysis which buffers may be the same: blocks are watched then. Returns 1 when a kernel has
 * such a struct. */
static int read_arguments(device *d) {
    uint32_t i, n;
    int structs = 0;
    for (i = 0; i < d->kernel_count; i++) {
        launch_kernel *k = &d->kernels[i];
        const kernel_program *program = ptx_find_kernel(&d->modules[d->launches[i].module], k->name);
        k->module = &d->modules[d->launches[i].module];
        k->arrival_cycle = d->launches[i].ready_cycle > d->cycle ? d->launches[i].ready_cycle - d->cycle : 0;
        k->ptx_path = (char *)(uintptr_t)k->module->file_name;
        read_references(d, d->launches[i].module, k);
        for (n = 0; n < k->argument_count; n++) {
            const kernel_parameter *parameter = &program->parameters[n];
            read_argument(d, parameter, d->parameters[i] + parameter->offset, &k->arguments[n]);
            structs |= parameter->bytes > 8;
        }
    }
    return structs;
}

/* began: the machine's cycle when the run began. */
static void take_times(device *d, const machine *m, uint64_t began) {
    uint32_t i;
    for (i = 0; i < d->kernel_count; i++) {
        const kernel *k = &m->kernels[i];
        const device_launch *l = &d->launches[i];
        const uint64_t start = k->start_cycle == NEVER ? k->ready_cycle : k->start_cycle;
        if (k->end_cycle == NEVER) continue;
        if (l->start_cycle) *l->start_cycle = d->cycle + start - began;
        if (l->end_cycle) *l->end_cycle = d->cycle + k->end_cycle - began;
    }
    d->cycle += m->now - began;
}

static void describe(device *d, launch_file *launch) {
    static char watched[] = "static_flush";
    static launch_number number = {watched, 0, {0, 0}};
    memset(launch, 0, sizeof *launch);
    launch->path = (char *)(uintptr_t)d->modules[d->launches[0].module].file_name;
    launch->memory = &d->memory.lent;
    launch->sms = d->options->sms;
    launch->most_blocks = UINT64_C(1) << 40;
    if (read_arguments(d)) {
        launch->numbers = &number;
        launch->number_count = 1;
    }
    launch->processes = d->processes;
    launch->process_count = d->process_count;
    launch->kernels = d->kernels;
    launch->kernel_count = d->kernel_count;
    launch->buffers = d->memory.buffers;
    launch->buffer_count = d->memory.count;
}

/* Kernels that call malloc get the device's heap. Programs that share a machine have one for each run of it. Returns 0,
 * or -1. */
static int make_heap(device *d, char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i;
    for (i = 0; i < d->kernel_count; i++)
        if (ptx_find_kernel(&d->modules[d->launches[i].module], d->kernels[i].name)->uses_heap) break;
    if (i == d->kernel_count || d->memory.lent.heap || d->options->share) return 0;
    d->memory.lent.heap = device_allocate(d, d->config.heap_bytes, "the heap of malloc");
    if (d->memory.lent.heap) {
        memset(device_bytes(d, d->memory.lent.heap, 16), 0, 16); /* no pieces yet */
        return 0;
    }
    snprintf(error, LAUNCH_ERROR_BYTES, "no device memory for the heap of malloc, %u bytes", d->config.heap_bytes);
    device_drop_started(d);
    return -1;
}

int device_run(device *d, char error[LAUNCH_ERROR_BYTES]) {
    launch_file launch;
    kept_machine *kept;
    machine *m;
    machine_options options;
    uint64_t began;
    int failed;
    if (!d->kernel_count) return 0;
    if (d->options->share && d->options->share->socket >= 0) return share_client_run(d, error);
    if (make_heap(d, error)) return -1;
    options = options_now(d);
    begin(d);
    describe(d, &launch);
    kept = kept_take(&d->kept, &launch, d->memory.changes, &options, error);
    if (!kept) {
        device_drop_started(d);
        return -1;
    }
    m = kept->machine;
    began = m->now;
    if (d->options->built) d->options->built(d->options->user, m, &kept->launch);
    failed = machine_run(m, NEVER) < 0;
    if (failed) snprintf(error, LAUNCH_ERROR_BYTES, "%s", m->error);
    take_times(d, m, began);
    if (d->options->ran) d->options->ran(d->options->user, m, &kept->launch, failed);
    kept_ran(kept, d->options->runs_once);
    device_drop_started(d);
    return failed ? -1 : 0;
}
