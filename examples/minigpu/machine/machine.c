#include "machine/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "analysis/latency_schedule.h"
#include "launch/absent_list.h"
#include "machine/ahead.h"
#include "preemption/context_forms.h"
#include "machine/dispatcher.h"
#include "machine/loops.h"
#include "machine/machine_build.h"
#include "sm/runtime_calls.h"
#include "preemption/preempted.h"
#include "preemption/preemption.h"
#include "ptx/kernel_names.h"
#include "ptx/ptx_reader.h"
#include "sass/trace_reader.h"
#include "sm/scoreboard.h"
#include "machine/sm_form.h"
#include "machine/window.h"

#define DEVICE_ALIGNMENT 256u
#define MOST_BLOCKS (UINT64_C(1) << 24) /* most blocks of a grid, unless the launch file allows more */

void errors_options_default(errors_options *options) {
    memset(options, 0, sizeof *options);
    options->rate_q32 = options->errs.at = options->traps_at.at = NEVER;
    options->latency_cycles = NONE;
    options->patch = GPUMP_RESTART_PATCH_REGION;
}

void machine_options_default(machine_options *options) {
    memset(options, 0, sizeof *options);
    options->preempt_cycle = NEVER;
    options->technique = GPUMP_TECHNIQUES;
    options->vacate = GPUMP_TECHNIQUE_SWITCH;
    options->leaves_by = GPUMP_TECHNIQUES;
    options->skip_idle = 1;
    options->limit_cycles = NEVER;
    options->faults.order = GPUMP_REPLAY_CLASS;
    options->faults.check = NEVER;
    options->faults.frames = NONE;
    errors_options_default(&options->errors);
}

/* ==== building ==== */

/* The constant data of a built machine, outside the arena. */
typedef struct machine_programs {
    ptx_module *modules;
    char **paths; /* path of each module's file; NULL: the launch lends the module */
    uint32_t module_count;
    uint64_t *const_bases, *global_bases; /* addresses of each module's variables */
    uint64_t end_of_variables;
    uint32_t *module_of_kernel;
    kernel_program *moved; /* in a compiler's order (schedule_window); no instructions: the module's program is used */
    kernel_program *allocated; /* with registers allocated; no instructions: the module's program is used */
    issue_info **infos;
    analysis_source **sources; /* analysis that splits a kernel's regions while it runs; NULL: regions are fixed */
    uint32_t kernel_count;
} machine_programs;

static void free_programs(machine_programs *p) {
    uint32_t i;
    for (i = 0; i < p->module_count; i++) {
        if (p->paths[i]) ptx_free(&p->modules[i]);
        free(p->paths[i]);
    }
    for (i = 0; p->infos && i < p->kernel_count; i++) free(p->infos[i]);
    for (i = 0; p->allocated && i < p->kernel_count; i++) analysis_free_kernel(&p->allocated[i]);
    for (i = 0; p->sources && i < p->kernel_count; i++) analysis_free_source(p->sources[i]);
    for (i = 0; p->moved && i < p->kernel_count; i++) free(p->moved[i].instructions);
    free(p->moved);
    free(p->sources);
    free(p->allocated);
    free(p->const_bases);
    free(p->global_bases);
    free(p->modules);
    free(p->paths);
    free(p->module_of_kernel);
    free(p->infos);
    free(p);
}

static uint64_t align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

/* Assigns addresses to the variables of all modules, at the start of device memory. Each image has its own
 * pages. */
static void link_modules(machine_programs *p) {
    uint64_t address = DEVICE_BASE;
    uint32_t i;
    for (i = 0; i < p->module_count; i++) {
        if (!p->paths[i]) continue;
        p->const_bases[i] = address;
        address = align_up(address + p->modules[i].constant_bytes, PAGE_BYTES) + PAGE_BYTES;
        p->global_bases[i] = address;
        address = align_up(address + p->modules[i].global_bytes, PAGE_BYTES) + PAGE_BYTES;
        ptx_link(&p->modules[i], p->const_bases[i], p->global_bases[i]);
    }
    p->end_of_variables = address;
}

static uint32_t choose_regions(const launch_file *launch, const machine_options *options) {
    return options->regions ? options->regions : launch->regions;
}

/* Returns an alias class for each parameter. Parameters that receive the same buffer may alias and share a
 * class. NULL: memory is out. */
static uint32_t *alias_classes(const launch_kernel *k) {
    uint32_t *classes = (uint32_t *)calloc(k->argument_count + 1u, sizeof *classes), i, n;
    for (i = 0; classes && i < k->argument_count; i++) {
        classes[i] = GPUMP_NONE;
        for (n = 0; n < k->argument_count && k->arguments[i].is_buffer; n++)
            if (n != i && k->arguments[n].is_buffer && k->arguments[n].buffer == k->arguments[i].buffer)
                classes[i] = k->arguments[i].buffer;
    }
    return classes;
}

/* Allocates the registers of a kernel. PTX may use any number of registers. A hardware thread has
 * thread_registers, and at most its share of the block's footprint or of the register file. The other
 * registers are spilled to local memory. Idempotent regions, if enabled, are formed before. */
static int lower_kernel(const minigpu_config *config, const launch_file *launch, const machine_options *options,
                        const launch_kernel *k, const uint8_t *clobbers, const kernel_program **program,
                        kernel_program *allocated, analysis_source **source, char error[LAUNCH_ERROR_BYTES]) {
    const uint64_t threads = align_up((uint64_t)k->block[0] * k->block[1] * k->block[2], LANES);
    const uint64_t room =
        (k->override_registers ? k->override_registers : config->gpu.registers) / (threads ? threads : LANES);
    uint32_t registers = config->thread_registers, *classes = NULL;
    analysis_lowering how;
    gpump_diag diag;
    gpump_result result;
    memset(&diag, 0, sizeof diag);
    memset(&how, 0, sizeof how);
    how.regions = choose_regions(launch, options);
    how.spilling = options->spilling;
    how.regions_config = options->regions_config;
    how.shared_goes_back = options->shared_restart != SHARED_CUTS;
    how.page_checks = options->page_checks;
    how.page_bytes = PAGE_BYTES;
    how.local_checks = (uint32_t)absent_list_has(options->absent, "local");
    how.point_interval = options->point_interval;
    how.block = k->block;
    how.clobbers = clobbers;
    if (traps_wanted(&options->errors) && options->errors.cure == GPUMP_RESTART_CURE_SPLIT) how.source = source;
    if ((!registers && !how.regions && !how.page_checks && !how.point_interval) || threads > 1024)
        return 0; /* the registers as PTX names them; a later check may refuse the launch */
    if (!registers) registers = 1024;
    if (room < registers) registers = (uint32_t)room;
    how.registers = registers;
    if (registers < 2)
        result = GPUMP_ERROR_FULL;
    else if ((*program)->parameter_count != k->argument_count)
        result = analysis_lower(*program, &how, allocated, NULL, &diag); /* a later check refuses the launch */
    else {
        how.alias_class = classes = alias_classes(k);
        result = classes ? analysis_lower(*program, &how, allocated, NULL, &diag) : GPUMP_ERROR_MEMORY;
        free(classes);
    }
    if (result == GPUMP_ERROR_FULL) {
        return launch_file_error(
            launch, k->override_registers ? k->footprint_place : k->block_place, error,
            "kernel %s cannot do with %u registers per thread, which is all that a block of %" PRIu64 " threads leaves",
            k->name, registers, threads);
    }
    if (result != GPUMP_OK) {
        char text[256];
        gpump_diag_text(&diag, text, sizeof text);
        return launch_file_error(launch, k->name_place, error, "kernel %s: lowering to real registers failed: %s",
                                 k->name, diag.code == result ? text : gpump_result_text(result));
    }
    *program = allocated;
    return 0;
}

/* Returns an array with 1 for each instruction of a kernel that clears the flush bit of its block. NULL: blocks
 * are watched instead, by configuration or because the analysis has no answer. */
static uint8_t *static_clobbers(const minigpu_config *config, const kernel_program *program, const launch_kernel *k) {
    uint8_t *clobbers;
    uint32_t *classes;
    gpump_diag diag;
    if (!config->static_flush || program->parameter_count != k->argument_count) return NULL;
    memset(&diag, 0, sizeof diag);
    classes = alias_classes(k);
    clobbers = (uint8_t *)calloc(program->count + 1u, 1);
    if (!classes || !clobbers || analysis_clobbers(program, k->block, classes, clobbers, &diag) != GPUMP_OK) {
        free(clobbers);
        clobbers = NULL;
    }
    free(classes);
    return clobbers;
}

static const launch_texture_reference *texture_reference(const launch_kernel *k, const char *name) {
    uint32_t i;
    for (i = 0; i < k->texture_reference_count; i++) {
        if (strcmp(k->texture_references[i].name, name) == 0) return &k->texture_references[i];
    }
    return NULL;
}

/* Returns the name of a texture reference (.texref) that the kernel reads and the launch does not give; NULL when there
 * is none. */
static const char *missing_texture_reference(const ptx_module *module, const kernel_program *program,
                                             const launch_kernel *k) {
    uint32_t i;
    for (i = 0; program->uses_textures && i < program->count; i++) {
        const instruction *in = &program->instructions[i];
        const char *name;
        if (in->opcode != OPCODE_TEX || in->sources[0].kind != OPERAND_IMMEDIATE) continue;
        name = in->sources[0].immediate < module->texture_count ? module->textures[in->sources[0].immediate].name : "?";
        if (!texture_reference(k, name)) return name;
    }
    return NULL;
}

/* Returns the number of a kernel's module, which is read from its file unless it is there already; NONE with the reason
 * in error. */
static uint32_t find_module(machine_programs *p, launch_file *launch, const launch_kernel *k,
                            char error[LAUNCH_ERROR_BYTES]) {
    ptx_error wrong;
    struct stat status;
    uint32_t n;
    for (n = 0; n < p->module_count; n++)
        if (k->module ? p->modules[n].memory == k->module->memory : p->paths[n] && !strcmp(p->paths[n], k->ptx_path))
            return n;
    if (k->module) {
        p->modules[p->module_count] = *k->module;
        return p->module_count++;
    }
    if (stat(k->ptx_path, &status) || !S_ISREG(status.st_mode)) { /* to read a pipe or a device might never end */
        launch_file_error(launch, k->ptx_place, error,
                          access(k->ptx_path, F_OK) ? "cannot open %s" : "%s is no regular file: copy the PTX into one",
                          k->ptx_path);
        return NONE;
    }
    memset(&wrong, 0, sizeof wrong);
    if (ptx_read_file(k->ptx_path, &p->modules[n], &wrong)) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s", wrong.text);
        return NONE;
    }
    p->paths[n] = strdup(k->ptx_path);
    p->module_count++;
    return n;
}

/* Allocates the programs of all kernels. Returns NULL when memory is out. */
static machine_programs *new_programs(uint32_t kernels) {
    machine_programs *p = (machine_programs *)calloc(1, sizeof *p);
    if (!p) return NULL;
    p->modules = (ptx_module *)calloc(kernels + 1u, sizeof *p->modules); /* the last module is for traces */
    p->paths = (char **)calloc(kernels, sizeof *p->paths);
    p->module_of_kernel = (uint32_t *)calloc(kernels, sizeof *p->module_of_kernel);
    p->infos = (issue_info **)calloc(kernels, sizeof *p->infos);
    p->sources = (analysis_source **)calloc(kernels, sizeof *p->sources);
    p->moved = (kernel_program *)calloc(kernels, sizeof *p->moved);
    p->allocated = (kernel_program *)calloc(kernels, sizeof *p->allocated);
    p->const_bases = (uint64_t *)calloc(kernels, sizeof *p->const_bases);
    p->global_bases = (uint64_t *)calloc(kernels, sizeof *p->global_bases);
    p->kernel_count = kernels;
    if (p->modules && p->paths && p->module_of_kernel && p->infos && p->moved && p->allocated && p->sources &&
        p->const_bases && p->global_bases)
        return p;
    free_programs(p);
    return NULL;
}

/* Returns the kernel of a module that a launch names, or NULL with the reason in error. */
static const kernel_program *find_kernel(const launch_file *launch, const launch_kernel *k, const ptx_module *module,
                                         char error[LAUNCH_ERROR_BYTES]) {
    const kernel_program *found = ptx_find_kernel(module, k->name);
    const ptx_refusal *refusal;
    const char *name;
    char list[LAUNCH_ERROR_BYTES / 2];
    int several;
    if (found) return found;
    name = kernel_name_find(module, k->name, &several);
    refusal = name ? ptx_find_refusal(module, name) : NULL;
    found = name ? ptx_find_kernel(module, name) : NULL;
    if (refusal) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s", refusal->text);
    } else if (!found) {
        kernel_name_list(module, list, sizeof list);
        launch_file_error(launch, k->name_place, error, "%s has %s kernel named \"%s\"; it has: %s", k->ptx_path,
                          several ? "more than one" : "no", k->name, list);
    }
    return found;
}

/* Puts the instructions of a kernel in the order in which a compiler would start its loads (latency_schedule), in a
 * copy: other launches may share the module. Returns 0, or -1 when memory is out. */
static int move_loads(kernel_program *moved, const kernel_program **program, uint32_t window) {
    *moved = **program;
    moved->instructions = (instruction *)malloc((moved->count + 1u) * sizeof *moved->instructions);
    if (!moved->instructions) return -1;
    memcpy(moved->instructions, (*program)->instructions, moved->count * sizeof *moved->instructions);
    *program = moved;
    return latency_schedule(moved, window);
}

/* Lowers kernel i and prepares its instructions for issue. Returns 0, or -1 with the reason in error. */
static int prepare_program(machine_programs *p, uint32_t i, const minigpu_config *config, const launch_file *launch,
                           const machine_options *options, const kernel_program **found,
                           char error[LAUNCH_ERROR_BYTES]) {
    const launch_kernel *k = &launch->kernels[i];
    const launch_place nowhere = {1, 1};
    uint8_t *clobbers;
    uint32_t n;
    int status = -1;
    if (config->schedule_window && move_loads(&p->moved[i], found, config->schedule_window))
        return launch_file_error(launch, nowhere, error, "out of memory");
    clobbers = static_clobbers(config, *found, k);
    if (lower_kernel(config, launch, options, k, clobbers, found, &p->allocated[i], &p->sources[i], error)) {
    } else if ((*found)->registers + (*found)->predicates > SCOREBOARD_IDS)
        launch_file_error(launch, k->name_place, error,
                          "kernel %s has %u registers and %u predicates, more than %u in all", k->name,
                          (*found)->registers, (*found)->predicates, SCOREBOARD_IDS);
    else if (!(p->infos[i] = scoreboard_prepare(*found)))
        launch_file_error(launch, nowhere, error, "out of memory");
    else
        status = 0;
    for (n = 0; !status && clobbers && n < (*found)->count; n++) {
        const int marked =
            *found == &p->allocated[i] ? ((*found)->instructions[n].flags & FLAG_CLOBBERS) != 0 : clobbers[n];
        p->infos[i][n].clobbers = marked ? CLOBBERS_ALWAYS : CLOBBERS_NEVER;
    }
    free(clobbers);
    return status;
}

/* Reads the PTX files of all kernels, each file once. Returns NULL with the reason in error. */
static machine_programs *read_programs(const minigpu_config *config, launch_file *launch,
                                       const machine_options *options, const kernel_program **found,
                                       char error[LAUNCH_ERROR_BYTES]) {
    machine_programs *p = new_programs(launch->kernel_count);
    const launch_place nowhere = {1, 1};
    uint32_t i, n;
    if (!p) {
        launch_file_error(launch, nowhere, error, "out of memory");
        return NULL;
    }
    for (i = 0; i < launch->kernel_count; i++) {
        launch_kernel *k = &launch->kernels[i];
        const char *missing;
        if (k->trace) {
            p->module_of_kernel[i] = launch->kernel_count;
            found[i] = &k->trace->program;
            continue;
        }
        if ((n = find_module(p, launch, k, error)) == NONE) goto failed;
        p->module_of_kernel[i] = n;
        if (!(found[i] = find_kernel(launch, k, &p->modules[n], error))) goto failed;
        if ((missing = missing_texture_reference(&p->modules[n], found[i], k)) != NULL) {
            launch_file_error(launch, k->name_place, error,
                              "kernel %s reads texture %s, which the launch does not give (textures: ...)", k->name,
                              missing);
            goto failed;
        }
    }
    link_modules(p);
    for (i = 0; i < launch->kernel_count; i++)
        if (!launch->kernels[i].trace && prepare_program(p, i, config, launch, options, &found[i], error)) goto failed;
    return p;
failed:
    free_programs(p);
    return NULL;
}

static int is_integer(uint32_t type) {
    return type == TYPE_U8 || type == TYPE_S8 || type == TYPE_U16 || type == TYPE_S16 || type == TYPE_U32 ||
           type == TYPE_S32 || type == TYPE_U64 || type == TYPE_S64;
}

/* Checks the size and type of an argument against its parameter. Returns 0, or -1 with the reason in error. */
static int check_argument(const launch_file *launch, const launch_kernel *l, const launch_argument *argument,
                          const kernel_parameter *parameter, char error[LAUNCH_ERROR_BYTES]) {
#define REFUSE(...) return launch_file_error(launch, argument->place, error, __VA_ARGS__)
    const char *name = parameter->name, *type = launch_type_name(argument->type);
    const uint32_t bytes = argument->is_buffer ? 8 : launch_type_bytes(argument->type);
    const int is_float = launch_type_is_float(argument->type);
    if (argument->structure) {
        if (argument->structure_bytes == parameter->bytes) return 0;
        REFUSE("parameter %s of kernel %s takes %u bytes, the struct has %u", name, l->name, parameter->bytes,
               argument->structure_bytes);
    }
    if (argument->is_buffer && parameter->bytes != 8)
        REFUSE("parameter %s of kernel %s is a %u-byte value, not a buffer", name, l->name, parameter->bytes);
    if (argument->is_texture && parameter->is_pointer)
        REFUSE("parameter %s of kernel %s is a pointer, not a texture object", name, l->name);
    if (!argument->is_buffer && parameter->is_pointer && (argument->scalar || argument->step))
        REFUSE("parameter %s of kernel %s is a pointer: it needs a buffer, or a scalar 0 for a null pointer", name,
               l->name);
    if (bytes != parameter->bytes)
        REFUSE("parameter %s of kernel %s takes %u bytes, a %s has %u", name, l->name, parameter->bytes, type, bytes);
    if (!argument->is_buffer && is_integer(parameter->type) && is_float)
        REFUSE("parameter %s of kernel %s is a .%s: a scalar of %s would be read as an integer", name, l->name,
               type_name(parameter->type), type);
    if (!argument->is_buffer && (parameter->type == TYPE_F32 || parameter->type == TYPE_F64) && !is_float &&
        argument->scalar)
        REFUSE("parameter %s of kernel %s is a .%s: the bits of a %s would be read as a floating-point number; write "
               "type: %s",
               name, l->name, type_name(parameter->type), type, type_name(parameter->type));
    return 0;
#undef REFUSE
}

/* Checks the size of a kernel's blocks. Returns 0, or -1 with the reason in error. */
static int check_block(const launch_file *launch, const launch_kernel *l, const kernel_program *program,
                       char error[LAUNCH_ERROR_BYTES]) {
    const uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint32_t i;
    if (threads > 1024 || l->block[2] > 64) {
        return launch_file_error(launch, l->block_place, error,
                                 "a block of %" PRIu64 " threads is too large: at most 1024, and 64 in z", threads);
    }
    for (i = 0; i < 3; i++) {
        if (program->required_threads[i] && program->required_threads[i] != l->block[i]) {
            return launch_file_error(
                launch, l->block_place, error, "kernel %s requires blocks of %u x %u x %u threads (.reqntid)", l->name,
                program->required_threads[0], program->required_threads[1], program->required_threads[2]);
        }
    }
    if (program->max_threads[0]) {
        uint64_t most = (uint64_t)program->max_threads[0] * (program->max_threads[1] ? program->max_threads[1] : 1) *
                        (program->max_threads[2] ? program->max_threads[2] : 1);
        if (threads > most)
            return launch_file_error(launch, l->block_place, error,
                                     "kernel %s allows blocks of at most %" PRIu64 " threads (.maxntid)", l->name,
                                     most);
    }
    return 0;
}

/* Counts a kernel's blocks and checks their number. Returns 0, or -1 with the reason in error. */
static int check_grid(const launch_file *launch, const launch_kernel *l, kernel *k, char error[LAUNCH_ERROR_BYTES]) {
    const uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1];
    if (blocks > (UINT64_C(1) << 40) / l->grid[2])
        return launch_file_error(launch, l->grid_place, error,
                                 "a grid of %u x %u x %u blocks is too large: at most 2^40", l->grid[0], l->grid[1],
                                 l->grid[2]);
    k->blocks = blocks * l->grid[2];
    if (k->blocks > (launch->most_blocks ? launch->most_blocks : MOST_BLOCKS))
        return launch_file_error(launch, l->grid_place, error,
                                 "a grid of %" PRIu64 " blocks would run for hours: more than %" PRIu64
                                 " need machine: {most_blocks: N}",
                                 k->blocks, launch->most_blocks ? launch->most_blocks : MOST_BLOCKS);
    return 0;
}

/* Sets the resources of a block on an SM: the kernel's needs, or the footprint of the launch. Returns 0, or
 * -1 with the reason in error. */
static int set_footprint(const machine *m, const launch_file *launch, const launch_kernel *l, kernel *k,
                         char error[LAUNCH_ERROR_BYTES]) {
    const uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint64_t registers;
    k->warps = (uint32_t)((threads + LANES - 1) / LANES);
    k->shared_bytes = k->program->shared_bytes + l->dynamic_shared_bytes;
    registers = (uint64_t)k->registers * k->warps * LANES;
    if (l->override_registers) {
        if (l->override_registers < registers) {
            return launch_file_error(launch, l->footprint_place, error,
                                     "footprint: kernel %s holds %" PRIu64 " registers per block, so %u are not enough",
                                     l->name, registers, l->override_registers);
        }
        registers = l->override_registers;
    }
    if (l->override_shared_bytes && l->override_shared_bytes < k->shared_bytes) {
        return launch_file_error(launch, l->footprint_place, error,
                                 "footprint: kernel %s uses %u bytes of shared memory per block, so %u are not enough",
                                 l->name, k->shared_bytes, l->override_shared_bytes);
    }
    k->need.threads = (uint32_t)threads;
    k->need.registers = (uint32_t)registers;
    k->need.shared_bytes = (l->override_shared_bytes ? l->override_shared_bytes : k->shared_bytes)
                           << (m->shared_restart == SHARED_BUFFERED);
    return 0;
}

/* Checks that a block fits an SM, and that blocks which wait for each other fit the GPU. Returns 0, or -1 with the
 * reason in error. */
static int check_occupancy(const machine *m, const launch_file *launch, const launch_kernel *l, const kernel *k,
                           char error[LAUNCH_ERROR_BYTES]) {
    const uint64_t threads = k->need.threads, registers = k->need.registers;
    gpump_occupancy occupancy;
    if (gpump_gpu_occupancy(&m->config.gpu, &k->need, &occupancy, NULL) != GPUMP_OK) {
        return launch_file_error(launch, l->block_place, error,
                                 "kernel %s: a block of %" PRIu64 " threads and %" PRIu64 " registers fits no SM",
                                 l->name, threads, registers);
    }
    if (!occupancy.blocks) {
        const gpump_gpu *gpu = &m->config.gpu;
        return launch_file_error(launch, l->block_place, error,
                                 "kernel %s does not fit an SM of %s: a block takes %" PRIu64 " threads of %u, %" PRIu64
                                 " registers of %u, %u bytes of shared memory of %u",
                                 l->name, m->config.preset, threads, gpu->thread_slots, registers, gpu->registers,
                                 k->need.shared_bytes, gpu->shared_bytes[gpu->shared_option_count - 1]);
    }
    if (k->program->uses_grid_barrier && k->blocks > (uint64_t)occupancy.blocks * m->config.gpu.sms) {
        return launch_file_error(launch, l->grid_place, error,
                                 "the blocks of kernel %s wait for each other, and the GPU holds %" PRIu64
                                 " of them at once: make the grid smaller than its %" PRIu64,
                                 l->name, (uint64_t)occupancy.blocks * m->config.gpu.sms, k->blocks);
    }
    return 0;
}

/* Checks one kernel against its launch and the SM, and fills in the values that follow from the launch. */
static int prepare_kernel(machine *m, launch_file *launch, uint32_t index, const kernel_program *program,
                          char error[LAUNCH_ERROR_BYTES]) {
    launch_kernel *l = &launch->kernels[index];
    kernel *k = &m->kernels[index];
    uint32_t i;
    k->program = program;
    k->launch = l;
    k->process = l->process;
    k->priority = l->priority;
    k->arrival_cycle = l->arrival_cycle;
    k->ready_cycle = k->start_cycle = k->end_cycle = NEVER;
    k->block_cap = l->block_cap;
    k->registers = program->registers;
    if (check_block(launch, l, program, error) || check_grid(launch, l, k, error) ||
        set_footprint(m, launch, l, k, error) || check_occupancy(m, launch, l, k, error))
        return -1;
    if (l->argument_count != program->parameter_count) {
        return launch_file_error(launch, l->arguments_place, error, "kernel %s takes %u arguments, the launch gives %u",
                                 l->name, program->parameter_count, l->argument_count);
    }
    for (i = 0; i < l->argument_count; i++)
        if (check_argument(launch, l, &l->arguments[i], &program->parameters[i], error)) return -1;
    return 0;
}

/* Finds the variables of PTX files that the launch fills: their addresses and sizes. */
static int find_symbols(launch_file *launch, const machine_programs *p, char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i, n;
    for (i = 0; i < launch->buffer_count; i++) {
        launch_buffer *buffer = &launch->buffers[i];
        const ptx_module *module;
        const ptx_symbol *symbol;
        uint32_t which;
        int several;
        if (!buffer->symbol || launch->memory) continue; /* lent memory has its own addresses */
        which = p->module_of_kernel[buffer->symbol_kernel];
        module = &p->modules[which];
        symbol = symbol_name_find(module, buffer->symbol, &several);
        if (!symbol) {
            char list[LAUNCH_ERROR_BYTES / 2];
            symbol_name_list(module, list, sizeof list);
            return launch_file_error(launch, buffer->place, error, "%s has %s variable named \"%s\"; it has: %s",
                                     p->paths[which], several ? "more than one" : "no", buffer->symbol, list);
        }
        if (buffer->bytes > symbol->bytes)
            return launch_file_error(launch, buffer->place, error,
                                     "variable %s has %" PRIu64 " bytes, the buffer for it has %" PRIu64,
                                     buffer->symbol, symbol->bytes, buffer->bytes);
        buffer->address = symbol->offset + (symbol->space == SPACE_CONST ? p->const_bases : p->global_bases)[which];
        for (n = 0; n < i; n++) {
            if (launch->buffers[n].symbol && launch->buffers[n].address == buffer->address)
                return launch_file_error(launch, buffer->place, error,
                                         "variable %s is given twice: its PTX file is loaded once, for all kernels",
                                         buffer->symbol);
        }
    }
    return 0;
}

static void fill_texture_references(const launch_file *launch, const ptx_module *module, kernel *k) {
    uint32_t i;
    for (i = 0; i < module->texture_count; i++) {
        const launch_texture_reference *reference = texture_reference(k->launch, module->textures[i].name);
        if (!reference) continue;
        k->texture_references[i] = reference->texture.texture;
        k->texture_references[i].address =
            launch->buffers[reference->texture.buffer].address + reference->texture.offset;
    }
}

void machine_fill_parameters(const launch_file *launch, kernel *k) {
    uint32_t i;
    for (i = 0; i < k->launch->argument_count; i++) {
        const launch_argument *argument = &k->launch->arguments[i];
        uint64_t bits = argument->is_buffer ? launch->buffers[argument->buffer].address + argument->offset
                                            : launch_scalar(argument, 0);
        if (argument->structure) {
            memcpy(k->parameters + k->program->parameters[i].offset, argument->structure, argument->structure_bytes);
            continue;
        }
        if (argument->is_texture) {
            k->textures[i] = argument->texture;
            k->textures[i].address = bits;
            bits = i + 1;
        }
        memcpy(k->parameters + k->program->parameters[i].offset, &bits,
               k->program->parameters[i].bytes <= 8 ? k->program->parameters[i].bytes : 8);
    }
}

static void map_pages(machine *m, uint64_t address, uint64_t bytes, uint8_t access) {
    uint64_t page, first = (address - DEVICE_BASE) / PAGE_BYTES,
                   last = (address + bytes - 1 - DEVICE_BASE) / PAGE_BYTES;
    if (!bytes) return;
    for (page = first; page <= last; page++) {
        m->page_table[page] = access;
        m->page_ends[page] = PAGE_BYTES;
    }
    m->page_ends[last] = (uint16_t)(address + bytes - DEVICE_BASE - last * PAGE_BYTES);
}

static uint32_t power_of_two(uint32_t at_least) {
    uint32_t power = 1;
    while (power < at_least) power *= 2;
    return power;
}

/* Returns 1 when an instruction of a kernel is watched while it runs. Only then are read sets made. */
static int has_watched_blocks(const machine *m) {
    uint32_t i, n;
    for (i = 0; i < m->kernel_count; i++) {
        const kernel *k = &m->kernels[i];
        if (k->launch->trace) return 1; /* its instructions are known when its blocks are read */
        for (n = 0; n < k->program->count; n++)
            if (k->info[n].clobbers == CLOBBERS_WATCHED) return 1;
    }
    return 0;
}

static int make_read_sets(machine *m, sm *s) {
    const gpump_read_set_config config = {m->config.read_set_segments};
    uint32_t i, entries = m->config.gpu.block_slots * (m->in_place ? 2u : 1u);
    size_t bytes;
    if (!has_watched_blocks(m)) return 0;
    if (gpump_bytes(&gpump_read_set_component, &config, &bytes, NULL)) return -1;
    for (i = 0; i < entries; i++) {
        void *memory = arena_take(&m->arena, bytes);
        if (!memory || gpump_init(&gpump_read_set_component, memory, bytes, &config, &s->read_sets[i], NULL)) return -1;
    }
    return 0;
}

/* Makes room for the read sets of preempted blocks. */
static int make_travelling_read_sets(machine *m) {
    const size_t capacity = m->config.read_set_segments / 4 * 3;
    uint32_t i;
    gpump_read_set_segment *room;
    if (!has_watched_blocks(m)) return 0;
    room = (gpump_read_set_segment *)arena_take_array(&m->arena, m->preempted_count * capacity, sizeof *room);
    for (i = 0; room && i < m->preempted_count; i++) m->preempted[i].read_segments = room + i * capacity;
    return room ? 0 : -1;
}

static int make_sm(machine *m, uint32_t index, uint32_t shared_bytes, char error[LAUNCH_ERROR_BYTES]) {
    const minigpu_config *c = &m->config;
    const uint32_t lengths[PIPES] = {c->fetch_cycles,  c->operand_read_cycles, c->operand_read_cycles,
                                     c->alu_cycles,    c->sfu_cycles,          c->divide_cycles,
                                     c->double_cycles, c->control_cycles,      c->constant_cycles,
                                     c->shared_cycles, c->l1_cycles,           0};
    uint32_t i, records = c->in_flight_records;
    sm *s = (sm *)arena_take(&m->arena, sizeof *s + m->kernel_count * sizeof(uint32_t));
    if (!s) goto memory;
    m->sms[index] = s;
    s->index = index;
    s->wake = s->stall_cycle = s->check_due = NEVER;
    s->warp_of = s->slot_warp;
    s->registers = (uint32_t *)arena_take_array(&m->arena, c->gpu.registers, sizeof(uint32_t));
    s->shared = (uint8_t *)arena_take(&m->arena, shared_bytes ? shared_bytes : 1);
    if (make_read_sets(m, s)) goto memory;
    s->traffic = (sm_traffic *)arena_take_array(&m->arena, m->kernel_count, sizeof *s->traffic);
    s->executed = (executed_instructions *)arena_take_array(&m->arena, m->kernel_count, sizeof *s->executed);
    s->records = (in_flight *)arena_take_array(&m->arena, records, sizeof(in_flight));
    s->waiters = (uint32_t *)arena_take_array(&m->arena, (size_t)records * LANES, sizeof(uint32_t));
    s->check_queue = (uint32_t *)arena_take_array(&m->arena, records, sizeof(uint32_t));
    s->access_queue = (uint32_t *)arena_take_array(&m->arena, records, sizeof(uint32_t));
    s->miss_queues = (miss_queue *)arena_take_array(&m->arena, c->kernels_per_sm + 1, sizeof(miss_queue));
    s->completed = (uint32_t *)arena_take_array(&m->arena, records, sizeof(uint32_t));
    s->requests = (memory_request *)arena_take_array(&m->arena, REQUESTS_PER_SM, sizeof(memory_request));
    if (!s->traffic || !s->executed || !s->registers || !s->shared || !s->records || !s->waiters || !s->check_queue ||
        !s->access_queue || !s->miss_queues || !s->requests || !s->completed || l1_make(&s->l1, &m->arena, c))
        goto memory;
    for (i = 0; i <= c->kernels_per_sm; i++) {
        s->miss_queues[i].requests = (uint32_t *)arena_take_array(&m->arena, c->miss_queue_entries, sizeof(uint32_t));
        if (!s->miss_queues[i].requests) goto memory;
    }
    pipe_make(&s->pipes[PIPE_LINK], NULL, 0);
    for (i = 0; i < PIPE_LINK; i++) {
        /* Records, or segments of them (L1 hits), or warps (fetch). */
        uint32_t entries = power_of_two(records * 2 + c->l1_cycles + c->fetch_cycles + 2 * WARP_SLOTS_MAX);
        pipe_entry *room = (pipe_entry *)arena_take_array(&m->arena, entries, sizeof *room);
        if (!room) goto memory;
        pipe_make(&s->pipes[i], room, lengths[i] ? lengths[i] : 1);
    }
    s->records_left = records;
    for (i = 0; i < records; i++) s->records[i].next_free = i + 1 < records ? i + 1 : NONE;
    for (i = 0; i < REQUESTS_PER_SM; i++) s->requests[i].next_free = i + 1 < REQUESTS_PER_SM ? i + 1 : NONE;
    for (i = 0; i < BLOCK_ENTRIES_MAX; i++) s->block_of_entry[i] = NONE;
    for (i = 0; i < c->gpu.warp_slots; i++) s->scheduler_slots[i % c->gpu.schedulers] |= UINT64_C(1) << i;
    if (c->gpu.warp_slots < 64)
        s->occupied = ~((UINT64_C(1) << c->gpu.warp_slots) - 1); /* slots that do not exist are always occupied */
    return preemption_make_sm(m, s, shared_bytes, error);
memory:
    snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for SM %u", index);
    return -1;
}

/* Makes the pools of blocks and warps. Returns -1 when the arena is full. */
static int make_pools(machine *m) {
    const uint32_t pools = m->window_cycles ? m->sm_count : 1, blocks = m->block_count / pools,
                   warps = m->warp_count / pools;
    block_pool *pool = (block_pool *)arena_take_array(&m->arena, pools, sizeof *pool);
    uint32_t i;
    if (!pool) return -1;
    for (i = 0; i < m->block_count; i++) m->blocks[i].next_free = (i + 1) % blocks ? i + 1 : NONE;
    for (i = 0; i < m->warp_count; i++) {
        m->warps[i].block = (i + 1) % warps ? i + 1 : NONE; /* free warps are linked through it */
        m->warps[i].sm = NONE;
    }
    for (i = 0; i < pools; i++) {
        pool[i].free_block = i * blocks;
        pool[i].free_warp = i * warps;
    }
    for (i = 0; i < m->sm_count; i++) m->sms[i]->pool = &pool[i % pools];
    return 0;
}

/* Orders kernels by priority, highest first, then by their order in the launch file. */
static void order_kernels(machine *m) {
    uint32_t i, n;
    for (i = 0; i < m->kernel_count; i++) {
        for (n = i; n > 0 && m->kernels[m->kernel_order[n - 1]].priority < m->kernels[i].priority; n--)
            m->kernel_order[n] = m->kernel_order[n - 1];
        m->kernel_order[n] = i;
    }
}

/* Returns the setting that excludes windows, with the reason; NULL: none. */
static const char *no_windows(const minigpu_config *config) {
    if (config->network_cycles < 2) return "network_cycles below 2: a window is half the network's shortest way";
    return NULL;
}

/* Reports an unknown preset. Returns -1. */
static int refuse_preset(const launch_file *launch, const machine_options *options, const char *preset,
                         char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i;
    char names[200] = "";
    const char *name;
    for (i = 0; (name = gpump_gpu_preset_name(i)); i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", name);
    if (!options->gpu && launch->gpu)
        return launch_file_error(launch, launch->gpu_place, error, "no GPU preset is named \"%s\"; there are %s",
                                 preset, names);
    snprintf(error, LAUNCH_ERROR_BYTES, "minigpu: --gpu needs one of %s, not \"%s\"", names, preset);
    return -1;
}

static int choose_config(minigpu_config *config, launch_file *launch, const machine_options *options,
                         char error[LAUNCH_ERROR_BYTES]) {
    const char *preset = options->gpu ? options->gpu : launch->gpu ? launch->gpu : "gtx480_shieh", *why;
    char text[LAUNCH_ERROR_BYTES / 2];
    uint32_t i;
    if (minigpu_config_preset(config, preset)) return refuse_preset(launch, options, preset, error);
    /* A group divides the bandwidth of the queued memory: model 1, unless the launch or --config names another. */
    if (options->sharing.policy) config->memory_model = 1;
    for (i = 0; i < launch->number_count; i++) {
        const launch_number *number = &launch->numbers[i];
        if (minigpu_config_set(config, number->name, number->value)) {
            return launch_file_error(launch, number->place, error,
                                     "the machine has no number \"%s\" (config.h and --json list them)", number->name);
        }
    }
    if (launch->sms) {
        /* A GPU with fewer SMs gets a proportional share of the memory bandwidth, so that the bandwidth of an
         * SM is unchanged. */
        config->gpu.memory_mb_per_s =
            (uint32_t)gpump_muldiv_up(config->gpu.memory_mb_per_s, launch->sms, config->gpu.sms);
        config->gpu.sms = launch->sms;
    }
    if (launch->kernels_per_sm) config->kernels_per_sm = launch->kernels_per_sm;
    if (launch->scheduler) config->scheduler = strcmp(launch->scheduler, "lrr") == 0 ? SCHEDULER_LRR : SCHEDULER_GTO;
    if (options->config && minigpu_config_set_list(config, options->config, text, sizeof text)) {
        snprintf(error, LAUNCH_ERROR_BYTES, "minigpu: --config %s", text);
        return -1;
    }
    minigpu_config_use_board(config);
    config->skip_idle = options->skip_idle;
    if (options->fault_service_ns) {
        const uint64_t cycles = gpump_gpu_cycles_from_ns(&config->gpu, options->fault_service_ns);
        config->page_service_cycles = cycles < UINT32_MAX ? (uint32_t)cycles : UINT32_MAX;
    }
    if (options->faults.scheme && !strncmp(options->faults.scheme, "log", 3)) /* the log keeps operands in records */
        config->in_flight_records += LOG_UNITS_MAX;
    if (options->switch_stalls) config->switch_stalls = options->switch_stalls;
    /* A policy decides block by block, so an SM may hold blocks of two kernels. */
    if (options->policy && !options->schedule && !options->duet && config->kernels_per_sm < 2)
        config->kernels_per_sm = 2;
    if (options->sharing.policy && config->kernels_per_sm < launch->kernel_count)
        config->kernels_per_sm = launch->kernel_count;
    if ((why = minigpu_config_check(config))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: GPU %s: %s", launch->path, preset, why);
        return -1;
    }
    if (!options->threads) return 0;
    if ((why = no_windows(config))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: --threads does not go together with %s; leave --threads away",
                 launch->path, why);
        return -1;
    }
    config->network_input_flits += minigpu_config_credit_flits(config); /* flits that pass while a credit moves */
    return 0;
}

int machine_choose_gpu(launch_file *launch, const machine_options *options, gpump_gpu *gpu,
                       char error[LAUNCH_ERROR_BYTES]) {
    minigpu_config config;
    if (choose_config(&config, launch, options, error)) return -1;
    *gpu = config.gpu;
    return 0;
}

static uint32_t choose_technique(const launch_file *launch, const machine_options *options) {
    if (options->technique != GPUMP_TECHNIQUES) return options->technique;
    return launch->technique ? gpump_technique_find(launch->technique) : (uint32_t)GPUMP_TECHNIQUE_SWITCH;
}

/* Returns the alignment of buffers in bytes. */
static uint64_t parts_alignment(const machine *m, const machine_options *options) {
    const part *const *p;
    uint64_t most = 1;
    for (p = m->parts; *p; p++) {
        const uint64_t one = (*p)->alignment ? (*p)->alignment(options) : 1;
        if (one > most) most = one;
    }
    return most;
}

/* Returns the most bytes that parts add to the context of a block. */
static uint64_t parts_context_bytes(const machine *m, const kernel *k) {
    const part *const *p;
    uint64_t bytes = 0;
    for (p = m->parts; *p; p++)
        if ((*p)->context_bytes) bytes += (*p)->context_bytes(m, k);
    return bytes;
}

/* Returns the device memory that the launch lends; NULL: it is too small. The memory behind the buffers
 * belongs to the machine. Of that memory, only the ranges that must be zero are cleared, which excludes
 * contexts and local memory. */
static uint8_t *lent_memory(const launch_memory *memory, const machine *m) {
    if (m->memory_bytes > memory->capacity_bytes) return NULL;
    memset(memory->bytes + (m->grid_workspaces - DEVICE_BASE), 0, m->context_base - m->grid_workspaces);
    return memory->bytes;
}

/* The memory needs of a launch's kernels. */
typedef struct memory_plan {
    uint64_t context_bytes, contexts; /* context of the largest kernel; most saved blocks of a kernel */
    uint64_t workspaces_end;          /* address behind the workspaces of grid barriers */
    uint64_t heap;                    /* address of the kernels' heap */
    uint32_t shared_bytes;            /* shared memory of an SM, for the kernel that needs most */
    uint32_t local_needed;            /* 1: a kernel has local memory */
} memory_plan;

static int out_of_memory(const launch_file *launch, char error[LAUNCH_ERROR_BYTES]) {
    snprintf(error, LAUNCH_ERROR_BYTES, "%s: out of memory for the machine", launch->path);
    return -1;
}

/* Prepares the instructions of a kernel; parts/cursor does so for a traced one, when its blocks are read. Returns -1
 * when memory is out. */
static int prepare_instructions(machine *m, uint32_t index, issue_info *info) {
    kernel *k = &m->kernels[index];
    int failed;
    k->info = info;
    if (scoreboard_move_constants(info, k->program->count, &m->arena)) return -1;
    PARTS_ASK(m, failed, 0, prepare, (m, index, k->program, info));
    return failed;
}

/* Makes one kernel of the launch, and adds its needs to the plan. */
static int make_kernel(machine *m, launch_file *launch, uint32_t index, const kernel_program *program,
                       const machine_programs *p, memory_plan *plan, char error[LAUNCH_ERROR_BYTES]) {
    const minigpu_config *c = &m->config;
    kernel *k = &m->kernels[index];
    gpump_occupancy occupancy;
    uint64_t per_kernel;
    if (prepare_kernel(m, launch, index, program, error)) return -1;
    if (!k->launch->trace && prepare_instructions(m, index, p->infos[index])) return out_of_memory(launch, error);
    k->parameters = (uint8_t *)arena_take(&m->arena, align_up(k->program->parameter_bytes + 8, 8));
    k->textures = (lanes_texture *)arena_take_array(&m->arena, k->launch->argument_count + 1, sizeof *k->textures);
    k->texture_references = (lanes_texture *)arena_take_array(
        &m->arena, p->modules[p->module_of_kernel[index]].texture_count + 1, sizeof *k->texture_references);
    if (!k->parameters || !k->textures || !k->texture_references) return out_of_memory(launch, error);
    k->context_bytes = preemption_context_bytes(k) + parts_context_bytes(m, k);
    if (k->context_bytes > plan->context_bytes) plan->context_bytes = k->context_bytes;
    gpump_gpu_occupancy(&c->gpu, &k->need, &occupancy, NULL);
    if (occupancy.shared_bytes > plan->shared_bytes) plan->shared_bytes = occupancy.shared_bytes;
    per_kernel = (uint64_t)occupancy.blocks * c->gpu.sms * c->saved_blocks_per_slot;
    if (per_kernel > k->blocks) per_kernel = k->blocks;
    if (per_kernel > plan->contexts) plan->contexts = per_kernel;
    if (k->program->local_bytes) {
        uint64_t frame = align_up((uint64_t)k->program->local_bytes * k->warps * LANES, PAGE_BYTES);
        if (frame > m->local_stride) m->local_stride = frame;
        plan->local_needed = 1;
    }
    if (k->program->predicates > m->predicate_stride) m->predicate_stride = k->program->predicates;
    return 0;
}

static int make_kernels(machine *m, launch_file *launch, const kernel_program **programs, const machine_programs *p,
                        memory_plan *plan, char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i;
    m->kernel_count = launch->kernel_count;
    m->kernels = (kernel *)arena_take_array(&m->arena, m->kernel_count, sizeof(kernel));
    m->kernel_order = (uint32_t *)arena_take_array(&m->arena, m->kernel_count, sizeof(uint32_t));
    m->kernels_open = (uint32_t *)arena_take_array(&m->arena, 2 * (size_t)m->kernel_count, sizeof(uint32_t));
    m->kernels_changed = 1;
    if (!m->kernels || !m->kernel_order || !m->kernels_open) return out_of_memory(launch, error);
    for (i = 0; i < m->kernel_count; i++)
        if (make_kernel(m, launch, i, programs[i], p, plan, error)) return -1;
    order_kernels(m);
    if (plan->contexts > 65536) plan->contexts = 65536;
    return 0;
}

static uint32_t resident_blocks(const machine *m) { return m->config.gpu.sms * m->config.gpu.block_slots; }

/* Lays out device memory: module variables, buffers, local memory, saved contexts. Each has its own pages and
 * an unmapped page after them, so that an access beyond the end is detected. Returns the end address. */
static uint64_t lay_out_memory(machine *m, launch_file *launch, uint64_t address, uint64_t alignment,
                               memory_plan *plan) {
    const part *const *part_;
    uint32_t i;
    for (i = 0; i < launch->buffer_count; i++) {
        const uint64_t guard = align_up(launch->buffers[i].guard_bytes, PAGE_BYTES);
        if (launch->buffers[i].symbol || launch->memory) continue;
        launch->buffers[i].address = align_up(address + guard, alignment);
        address = align_up(launch->buffers[i].address + launch->buffers[i].bytes, PAGE_BYTES) + guard + PAGE_BYTES;
    }
    if (launch->memory) address = launch->memory->end;
    address = align_up(address, alignment);
    launch_place_pointers(launch);
    m->local_base = address;
    if (plan->local_needed) {
        m->local_count = m->local_count_free = resident_blocks(m) + (uint32_t)plan->contexts * m->kernel_count;
        address += m->local_stride * m->local_count + PAGE_BYTES;
    }
    m->grid_workspaces = address;
    for (i = 0; i < m->kernel_count && !m->kernels[i].program->uses_grid_barrier; i++) {}
    if (i < m->kernel_count)
        address = align_up(address + (uint64_t)m->kernel_count * GRID_WORKSPACE_BYTES, PAGE_BYTES) + PAGE_BYTES;
    plan->workspaces_end = plan->heap = address;
    if (launch->memory && launch->memory->heap)
        plan->heap = launch->memory->heap;
    else if (runtime_calls_heap_bytes(m))
        address = align_up(address + runtime_calls_heap_bytes(m), PAGE_BYTES) + PAGE_BYTES;
    m->context_base = address;
    m->context_stride = align_up(plan->context_bytes, DEVICE_ALIGNMENT);
    address = align_up(address + m->context_stride * plan->contexts * m->kernel_count, PAGE_BYTES) + PAGE_BYTES;
    for (part_ = m->parts; *part_; part_++)
        if ((*part_)->lay_out) address = (*part_)->lay_out(m, address, alignment);
    return address;
}

/* Loads the variables of modules, and maps their pages. */
static void load_modules(machine *m, const machine_programs *p) {
    uint32_t i;
    for (i = 0; i < p->module_count; i++) {
        if (!p->paths[i]) continue;
        if (p->modules[i].constant_bytes)
            memcpy(device_memory(m, p->const_bases[i]), p->modules[i].constant_image, p->modules[i].constant_bytes);
        if (p->modules[i].global_bytes)
            memcpy(device_memory(m, p->global_bases[i]), p->modules[i].global_image, p->modules[i].global_bytes);
        map_pages(m, p->const_bases[i], p->modules[i].constant_bytes, PAGE_READ);
        map_pages(m, p->global_bases[i], p->modules[i].global_bytes, PAGE_READ | PAGE_WRITE);
    }
}

void machine_load_buffers(machine *m, const launch_file *launch) {
    uint32_t i;
    for (i = 0; i < launch->buffer_count; i++) {
        if (!launch->memory)
            memcpy(device_memory(m, launch->buffers[i].address), launch->buffers[i].contents, launch->buffers[i].bytes);
        if (launch->buffers[i].symbol && !launch->memory) continue;
        map_pages(m, launch->buffers[i].address - align_up(launch->buffers[i].guard_bytes, PAGE_BYTES),
                  align_up(launch->buffers[i].bytes, PAGE_BYTES) +
                      2 * align_up(launch->buffers[i].guard_bytes, PAGE_BYTES),
                  PAGE_READ);
        map_pages(m, launch->buffers[i].address, launch->buffers[i].bytes, PAGE_READ | PAGE_WRITE);
    }
}

/* Allocates device memory up to an end address, and fills it with the contents that the launch gives. */
static int make_memory(machine *m, launch_file *launch, const machine_programs *p, uint64_t end,
                       const memory_plan *plan, char error[LAUNCH_ERROR_BYTES]) {
    /* Of the range for traced memory (parts/cursor) most is never used. */
    void *(*const take)(arena *, size_t, size_t) = launch->trace_map ? arena_take_sparse : arena_take_array;
    const size_t pages = (end - DEVICE_BASE) / PAGE_BYTES + 1;
    uint32_t i;
    m->memory_bytes = end - DEVICE_BASE;
    m->memory = launch->memory ? lent_memory(launch->memory, m) : (uint8_t *)arena_take(&m->arena, m->memory_bytes);
    m->page_table = (uint8_t *)take(&m->arena, pages, 1);
    m->page_ends = (uint16_t *)take(&m->arena, pages, sizeof *m->page_ends);
    if (!m->memory || !m->page_table || !m->page_ends) return out_of_memory(launch, error);
    if (runtime_calls_build(m, plan->heap)) return out_of_memory(launch, error);
    map_pages(m, m->grid_workspaces, plan->workspaces_end - m->grid_workspaces, PAGE_READ | PAGE_WRITE);
    map_pages(m, plan->heap, runtime_calls_heap_bytes(m), PAGE_READ | PAGE_WRITE);
    load_modules(m, p);
    machine_load_buffers(m, launch);
    if (plan->local_needed) {
        map_pages(m, m->local_base, m->local_stride * m->local_count, PAGE_READ | PAGE_WRITE);
        m->local_free = (uint32_t *)arena_take_array(&m->arena, m->local_count, sizeof(uint32_t));
        if (!m->local_free) return out_of_memory(launch, error);
        for (i = 0; i < m->local_count; i++) m->local_free[i] = i;
    }
    for (i = 0; i < m->kernel_count; i++) {
        machine_fill_parameters(launch, &m->kernels[i]);
        scoreboard_take_launch(&m->kernels[i]);
        fill_texture_references(launch, &p->modules[p->module_of_kernel[i]], &m->kernels[i]);
    }
    return loops_make(m, launch) ? out_of_memory(launch, error) : 0;
}

uint32_t machine_kernels_at_a_time(const machine *m) {
    return m->kernel_count < m->launch->process_count ? m->kernel_count : m->launch->process_count;
}

/* Makes blocks, warps, SMs and the memory behind them. */
static int make_hardware(machine *m, const launch_file *launch, const memory_plan *plan,
                         char error[LAUNCH_ERROR_BYTES]) {
    const minigpu_config *c = &m->config;
    uint32_t i;
    m->port = gpump_gpu_port(&c->gpu);
    m->block_count = resident_blocks(m) * (m->in_place ? 2 : 1); /* parked blocks are saved while others run */
    m->warp_count = c->gpu.sms * c->gpu.warp_slots * (m->beyond_room ? 2 : 1);
    m->preempted_count = m->block_count + (uint32_t)plan->contexts * machine_kernels_at_a_time(m);
    m->blocks = (block *)arena_take_array(&m->arena, m->block_count, sizeof(block));
    m->warps = (warp *)arena_take_array(&m->arena, m->warp_count, sizeof(warp));
    m->predicates =
        (uint32_t *)arena_take_array(&m->arena, (size_t)m->warp_count * (m->predicate_stride + 1), sizeof(uint32_t));
    m->sms = (sm **)arena_take_array(&m->arena, c->gpu.sms, sizeof(sm *));
    m->memory_system = memory_make(&m->arena, c, c->gpu.sms, m->kernel_count);
    m->sm_count = c->gpu.sms;
    if (!m->blocks || !m->warps || !m->predicates || !m->sms || !m->memory_system || preempted_make(m) ||
        make_travelling_read_sets(m))
        return out_of_memory(launch, error);
    for (i = 0; i < m->sm_count; i++)
        if (make_sm(m, i, plan->shared_bytes, error)) return -1;
    if (make_pools(m)) return out_of_memory(launch, error);
    if (m->window_cycles && window_make(m, error)) return -1;
    for (i = 0; i < m->sm_count; i++) {
        m->sms[i]->reply_cycle = memory_sm_cycle_at(m->memory_system, i);
        m->sms[i]->network_full = memory_least_cycles(m->memory_system) ? memory_full(m->memory_system, i) : NULL;
    }
    if (preemption_make_context_pool(m, (uint32_t)plan->contexts, error)) return -1;
    m->histories = (gpump_cost_history *)arena_take_array(&m->arena, m->kernel_count + 1, sizeof *m->histories);
    return m->histories ? 0 : out_of_memory(launch, error);
}

/* Builds the machine in an open arena. */
static int build(machine *m, launch_file *launch, const kernel_program **programs, machine_programs *p,
                 const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    const uint64_t alignment = parts_alignment(m, options); /* alignment of buffers */
    memory_plan plan = {0, 0, 0, 0, 0, 0};
    if (make_kernels(m, launch, programs, p, &plan, error) || find_symbols(launch, p, error)) return -1;
    if (make_memory(m, launch, p, lay_out_memory(m, launch, p->end_of_variables, alignment, &plan), &plan, error))
        return -1;
    return make_hardware(m, launch, &plan, error);
}

/* Size of the arena: more than any launch needs. Pages that are never written cost nothing. */
static size_t arena_bytes_for(const launch_file *launch) {
    uint64_t bytes = UINT64_C(16) << 30;
    uint32_t i;
    if (launch->trace_map) bytes += (TRACE_REGIONS * TRACE_REGION_BYTES) + ((uint64_t)launch->kernel_count << 30);
    for (i = 0; i < launch->buffer_count; i++)
        bytes += launch->buffers[i].bytes + 2 * launch->buffers[i].guard_bytes + 4 * PAGE_BYTES;
    return (size_t)bytes;
}

/* Analyses every kernel for partial saves, preemption points and rewinds. */
static int analyse_kernels(machine *m, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i;
    m->stop_at_points = options->point_interval ? 1u + (options->choose != 0) : 0;
    if (m->context_form == CONTEXT_NAIVE && !m->stop_at_points && !m->regions && !options->duet) return 0;
    if (!(m->views = (context_view **)calloc(m->kernel_count, sizeof *m->views))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory");
        return -1;
    }
    for (i = 0; i < m->kernel_count; i++) {
        if (m->kernels[i].launch->trace) continue; /* the trace contains the live registers */
        if (!(m->views[i] = context_view_create(m->kernels[i].program, error))) return -1;
    }
    return 0;
}

/* Copies to the machine what the options say about all of it. Parts read their own options. */
static void take_options(machine *m, const launch_file *launch, const machine_options *options) {
    m->policy = options->schedule ? NULL : options->policy; /* the scheduler uses the policy to empty SMs */
    m->limit_cycles = options->limit_cycles;
    m->functional = options->functional != 0;
    m->threads = options->threads;
    m->window_cycles = options->threads ? minigpu_config_window_cycles(&m->config) : 0;
    m->technique = choose_technique(launch, options);
    m->leaves_by = options->leaves_by;
    m->context_form = options->context_form;
    m->in_place = options->in_place || options->sharing.parks;
    /* Behind blocks that --duet places, a multiple of a block's size may have no place for both of its parts. */
    m->is_aligned = !options->duet && (m->policy || (options->schedule && m->in_place));
    m->local_is_absent = options->page_checks && absent_list_has(options->absent, "local");
    m->regions = choose_regions(launch, options) != REGIONS_NONE;
    m->shared_restart = m->regions ? options->shared_restart : (uint32_t)SHARED_CUTS;
    m->sources_released = m->config.sources_released;
}

/* Returns whether a machine that executes without time has a part, which takes time. The reason is in error. */
static int takes_time(const machine *m, const launch_file *launch, char error[LAUNCH_ERROR_BYTES]) {
    if (!m->functional || !m->parts[0]) return 0;
    snprintf(error, LAUNCH_ERROR_BYTES,
             "%s: --functional takes no time, but the launch file or --config asks for %s, which does", launch->path,
             m->parts[0]->name);
    return 1;
}

machine *machine_build(launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    minigpu_config config;
    const kernel_program **programs;
    machine_programs *p;
    arena a;
    machine *m;
    if (choose_config(&config, launch, options, error)) return NULL;
    programs = (const kernel_program **)calloc(launch->kernel_count, sizeof *programs);
    if (!programs) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: out of memory", launch->path);
        return NULL;
    }
    p = read_programs(&config, launch, options, programs, error);
    if (!p) {
        free(programs);
        return NULL;
    }
    if (arena_open(&a, arena_bytes_for(launch))) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: the system gives no address space for the machine", launch->path);
        free(programs);
        free_programs(p);
        return NULL;
    }
    m = (machine *)arena_take(&a, sizeof *m);
    m->arena = a;
    m->config = config;
    m->programs = p;
    take_options(m, launch, options);
    if (parts_configure(m, launch, options, error) || takes_time(m, launch, error) ||
        build(m, launch, programs, p, options, error)) {
        free(programs);
        machine_free(m);
        return NULL;
    }
    free(programs);
    if (analyse_kernels(m, options, error) || parts_make(m, launch, options, error)) {
        machine_free(m);
        return NULL;
    }
    if (options->until_ns) {
        const uint64_t until = gpump_gpu_cycles_from_ns(&config.gpu, options->until_ns);
        if (until < m->stop_cycle) m->stop_cycle = until;
    }
    m->plain = (uint32_t)sm_form_is_plain(m);
    m->sources_timed = m->plain && m->sources_released == RELEASE_AT_OPERAND_READ && m->config.operand_read_cycles <= 2;
    m->dispatch_needed = 1;
    error[0] = 0; /* parts write down what may go wrong before they begin */
    return m;
}

void machine_free(machine *m) {
    arena a;
    uint32_t i;
    if (!m) return;
    parts_find(m); /* the machine may be only partly built */
    PARTS_TELL(m, close, (m));
    for (i = 0; m->views && i < m->kernel_count; i++) context_view_free(m->views[i]);
    free(m->views);
    free_programs(m->programs);
    a = m->arena;
    arena_close(&a);
}

struct analysis_source *machine_source(machine *m, uint32_t kernel_index) {
    return m->programs->sources[kernel_index];
}

/* ==== running ==== */

/* Returns whether the warp's next instruction waits for room in the operand log. */
static int waits_for_log(const machine *m, const warp *w) {
    int waits;
    PARTS_ASK(m, waits, 0, waits_for_log, (m, w));
    return waits;
}

/* Writes the usual causes of a deadlock, if one of them applies: a full operand log, or a scheduler whose
 * turns are too short. */
static void name_cause(const machine *m, char *text, size_t bytes) {
    uint32_t i, moving = 0;
    int owned;
    for (i = 0; i < m->warp_count && !waits_for_log(m, &m->warps[i]); i++) {}
    if (i < m->warp_count)
        snprintf(text, bytes,
                 "; warp %u of block %" PRIu64
                 " of kernel %s waits for room in the operand log: --faults with a larger "
                 "log, or queue",
                 m->warps[i].index, m->blocks[m->warps[i].block].linear,
                 m->kernels[m->blocks[m->warps[i].block].kernel].program->name);
    PARTS_ASK(m, owned, 0, owns_sms, (m));
    for (i = 0; i < m->sm_count; i++) moving += m->sms[i]->contexts_moving;
    if (owned && moving)
        snprintf(text, bytes,
                 "; the scheduler takes SMs away before the %u blocks that are moving are back: turns must be longer "
                 "than a save and a restore (--slice)",
                 moving);
}

static int deadlock(machine *m) {
    char text[LAUNCH_ERROR_BYTES] = "", page[160] = "", cause[240] = "";
    const warp *waits = NULL;
    uint32_t i;
    name_cause(m, cause, sizeof cause);
    for (i = 0; i < m->warp_count; i++)
        if (m->warps[i].sm != NONE && m->warps[i].fault_address &&
            (!waits || m->warps[i].fault_since < waits->fault_since))
            waits = &m->warps[i];
    if (waits)
        snprintf(page, sizeof page,
                 "; warp %u of block %" PRIu64 " of kernel %s waits for the page of address 0x%" PRIx64
                 " since cycle %" PRIu64,
                 waits->index, m->blocks[waits->block].linear, m->kernels[m->blocks[waits->block].kernel].program->name,
                 waits->fault_address, waits->fault_since);
    snprintf(text, sizeof text,
             "no instruction has been issued since cycle %" PRIu64 " (now %" PRIu64 "): %u of %u kernels done%s%s",
             m->progress_cycle, m->now, m->kernels_done, m->kernel_count, page, cause);
    machine_fail(m, "%s", text);
    m->deadlocked = 1;
    return -1;
}

static int is_active(const machine *m) {
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++) {
        if (m->kernels[i].state == KERNEL_ACTIVE) return 1;
    }
    return 0;
}

/* Adds the SMs' counts of instructions to their kernels. */
static void sum_executed(machine *m) {
    uint32_t i, k, n;
    for (i = 0; i < m->sm_count; i++) {
        for (k = 0; k < m->kernel_count; k++) {
            executed_instructions *executed = &m->sms[i]->executed[k];
            m->kernels[k].warp_instructions += executed->warp_instructions;
            m->kernels[k].thread_instructions += executed->thread_instructions;
            for (n = 0; n < COUNTED; n++) m->kernels[k].counted[n] += executed->counted[n];
            memset(executed, 0, sizeof *executed);
        }
    }
}

/* Runs cycle m->now of all SMs, in turn, and of the memory. may_go_ahead: 1: SMs may run ahead where
 * ahead_end allows it. ahead_end is called once, when the first SM could run ahead. */
static void run_cycle(machine *m, sm_cycle_form *cycle, int may_go_ahead, uint64_t arrival, uint64_t until) {
    const uint64_t *replies = memory_sm_cycles(m->memory_system), now = m->now;
    uint64_t ahead = NEVER; /* ahead_end has not been called */
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) {
        sm *s = m->sms[i];
        if (m->settling && ahead_settles(s) == now) ahead_settle(m, s);
        if (s->wake > now && replies[i] > now) continue;
        cycle(m, s, m->now);
        /* Where a block is to be placed, one may have ended in this cycle. */
        if (may_go_ahead && !m->dispatch_needed && !m->failed && ahead_is_alone(s, ahead_next(s))) {
            if (ahead == NEVER) ahead = ahead_end(m, arrival, until);
            if (ahead) ahead_go(m, s, cycle, ahead);
        }
        if (s->progress_cycle > m->progress_cycle) m->progress_cycle = s->progress_cycle;
    }
    memory_advance(m->memory_system, m->now);
}

/* Returns the next cycle in which an SM has work or should look at the memory, or `next` if that is earlier. */
static uint64_t next_of_sms(const machine *m, uint64_t next) {
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) {
        const uint64_t reply = memory_sm_cycle(m->memory_system, i);
        if (m->sms[i]->wake < next) next = m->sms[i]->wake;
        if (reply < next) next = reply;
    }
    for (i = 0; m->settling && i < m->sm_count; i++)
        if (ahead_settles(m->sms[i]) < next) next = ahead_settles(m->sms[i]);
    return next;
}

/* Returns the next cycle in which the memory has work, or `next` if that is earlier. Before that, the memory passes the
 * cycles before `next` and `alone_until` in which it alone has work. */
static uint64_t next_of_memory(machine *m, uint64_t next, uint64_t alone_until) {
    const uint64_t end = next < alone_until ? next : alone_until;
    uint64_t cycle = memory_next_cycle(m->memory_system);
    if (cycle < end) {
        const uint64_t *replies = memory_sm_cycles(m->memory_system);
        uint32_t i;
        memory_advance_alone(m->memory_system, end);
        cycle = memory_next_cycle(m->memory_system);
        for (i = 0; i < m->sm_count; i++) next = replies[i] < next ? replies[i] : next;
    }
    return cycle < next ? cycle : next;
}

/* Returns the first cycle from `cycle` on at which the machine may stop. */
static uint64_t stop_from(const machine *m, uint64_t cycle) { return m->window_cycles ? window_from(m, cycle) : cycle; }

/* Gives their turn to the parts for which one is due. */
static void turns_of_parts(machine *m) {
    const part *const *p;
    for (p = m->parts; *p; p++)
        if ((*p)->turn && (!(*p)->next || (*p)->next(m) <= m->now)) (*p)->turn(m);
}

/* Returns the next cycle in which a part has work, or `next` if that is earlier. */
static uint64_t next_of_parts(machine *m, uint64_t next) {
    const part *const *p;
    for (p = m->parts; *p; p++) {
        uint64_t cycle = (*p)->next ? (*p)->next(m) : NEVER;
        if (cycle <= m->now) cycle = m->now + !m->window_cycles;
        if (cycle < next) next = cycle;
    }
    return next;
}

/* Returns whether a part wants a turn in cycles in which no block has ended. The cursor of traces wants none. */
static int parts_take_turns(const machine *m) {
    const part *const *p;
    for (p = m->parts; *p; p++)
        if ((*p)->turn || (*p)->next || (*p)->before_arrivals || (*p)->kernels_have_come || (*p)->before_placing ||
            (*p)->sms_have_run)
            return 1;
    return 0;
}

static int run(machine *m, uint64_t until, team *team) {
    sm_cycle_form *const cycle = sm_form_choose(m);
    const int turns = parts_take_turns(m), ahead = ahead_is_possible(m), alone = !turns && !m->window_cycles;
    const uint64_t stop = until < m->stop_cycle ? until : m->stop_cycle;
    uint64_t arrival = 0, placing = NEVER;
    while (!m->failed) {
        uint64_t next;
        int awaited, skips; /* 1: cycles without work are skipped */
        if (m->now >= m->stop_cycle) return 1;
        if (m->now >= until) return 0;
        if (m->now >= arrival || m->dispatch_needed || m->window_cycles || turns) { /* else no block has ended */
            turns_of_parts(m);
            arrival = dispatcher_kernels(m);
            PARTS_TELL(m, kernels_have_come, (m));
            if (m->kernels_done == m->kernel_count) return m->failed ? -1 : 1;
            do placing = dispatcher_place(m);
            while (m->window_cycles && m->dispatch_needed && !m->failed); /* else one block per SM and cycle */
        }
        if (m->window_cycles)
            window_run(m, cycle, team);
        else
            run_cycle(m, cycle, ahead, arrival, until);
        if (m->failed) break;
        PARTS_TELL(m, sms_have_run, (m));
        next = next_of_sms(m, NEVER);
        if (arrival < next) next = arrival;
        if (placing < next) next = placing;
        skips = !m->dispatch_needed && !m->parts_ask && m->config.skip_idle;
        next = next_of_memory(m, next, alone && skips ? stop : 0);
        next = next_of_parts(m, next);
        if (!skips) next = m->now + !m->window_cycles;
        if (next == NEVER) return deadlock(m);
        if (next < m->now) next = m->now; /* the event was due within the window */
        if (next > m->progress_cycle && next - m->progress_cycle > m->config.watchdog_cycles) {
            PARTS_ASK(m, awaited, 0, is_awaited, (m));
            if (is_active(m) && !awaited) return deadlock(m);
            /* All kernels have ended or not arrived, or warps wait for a page that will arrive. */
            m->progress_cycle = next;
        }
        if (m->window_cycles) next -= next % m->window_cycles;
        if (next > stop_from(m, m->stop_cycle)) next = stop_from(m, m->stop_cycle);
        m->next_cycle = next;
        m->now = next < stop_from(m, until) ? next : stop_from(m, until);
    }
    return -1;
}

uint64_t machine_next_cycle(const machine *m) { return m->next_cycle > m->now ? m->next_cycle : m->now; }

static uint64_t issued_by_sms(const void *user) {
    const machine *m = (const machine *)user;
    uint64_t issued = 0;
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) issued += m->sms[i]->statistics.issued;
    return issued;
}

int machine_run(machine *m, uint64_t until) {
    team *team = m->window_cycles && m->threads > 1 && !window_is_in_turn(m)
                     ? team_start(m->threads, m->sm_count, &m->lost, issued_by_sms, m)
                     : NULL;
    const int ended = run(m, until, team);
    team_stop(team);
    if (m->window_cycles) window_settle(m);
    sum_executed(m);
    return ended;
}

void machine_dump(const machine *m, void *output) {
    FILE *file = (FILE *)output;
    uint32_t i, n, e;
    for (i = 0; i < m->kernel_count; i++) {
        const kernel *k = &m->kernels[i];
        for (n = preempted_first(m, i), e = 0; n != NONE; n = preempted_after(m, i, n)) e++;
        fprintf(file,
                "kernel %u %s: %" PRIu64 " of %" PRIu64 " blocks done, %" PRIu64 " started, %u on SMs, %u preempted\n",
                i + 1, k->program->name, k->done_blocks, k->blocks, k->next_block, k->resident, e);
    }
    for (i = 0; i < m->sm_count; i++) {
        const sm *s = m->sms[i];
        if (!s->resident) continue;
        fprintf(file,
                "SM %u: %u blocks, %u instructions before their last check, %u accesses, %u misses outstanding, %u "
                "requests behind it, %u contexts moving\n",
                i, s->resident, s->check_count, s->access_count, s->outstanding_misses,
                memory_under_way(m->memory_system, i), s->contexts_moving);
        for (e = 0; e < BLOCK_ENTRIES_MAX; e++) {
            const block *b;
            if (s->block_of_entry[e] == NONE) continue;
            b = &m->blocks[s->block_of_entry[e]];
            fprintf(file,
                    "  block %" PRIu64
                    " of kernel %u: state %u, %u of %u warps live, %u in flight, %u stores, %u atomics, %u transfers\n",
                    b->linear, b->kernel + 1, gpump_sm_state(s->gpump, e), b->live_warps, b->warp_count, b->in_flight,
                    b->stores, b->atomics, b->transfers);
            for (n = 0; n < b->warp_count; n++) {
                const warp *w = &m->warps[b->warps[n]];
                const uint64_t bit = warp_bit(w);
                const char *why = gpump_warp_gate_reason(w->gate, GPUMP_WARP_ISSUE);
                gpump_reason reason;
                uint32_t pc;
                if (!w->stack.depth) continue;
                if (!why) why = gpump_warp_gate_reason(w->gate, GPUMP_WARP_FETCH);
                pc = simt_top(&w->stack)->pc;
                if (waits_for_log(m, w)) fprintf(file, "    warp %u: no room in the operand log\n", n);
                if (w->fault_address)
                    fprintf(file, "    warp %u: its page at 0x%" PRIx64 " is absent since cycle %" PRIu64 "\n", n,
                            w->fault_address, w->fault_since);
                PARTS_ASK(m, reason, GPUMP_REASON_YES, warp_waits_for, (m, s, w));
                if (reason != GPUMP_REASON_YES) fprintf(file, "    warp %u: %s\n", n, gpump_reason_text(reason));
                fprintf(file, "    warp %u: instruction %u (line %u), lanes %08x,%s%s%s%s%s %u in flight\n", n, pc,
                        pc < m->kernels[b->kernel].program->count ? m->kernels[b->kernel].program->instructions[pc].line
                                                                  : 0,
                        simt_top(&w->stack)->mask, why ? " " : "", why ? why : "", why ? "," : "",
                        s->fetched & bit ? "" : " not fetched,", s->clear & bit ? "" : " waits for registers,",
                        w->in_flight);
            }
        }
    }
}

/* ==== results ==== */

uint64_t machine_result_hash(const machine *m, const launch_file *launch) {
    uint64_t hash = runtime_calls_hash(m, GPUMP_HASH_SEED);
    uint32_t i;
    for (i = 0; i < launch->buffer_count; i++) {
        hash = gpump_hash_bytes(hash, m->memory + (launch->buffers[i].address - DEVICE_BASE), launch->buffers[i].bytes);
    }
    return hash;
}

/* The memory of a traced program is a range of 8 GB, of which only the regions in use count. */
static uint64_t hash_device_memory(const machine *m, uint64_t hash) {
    const trace_map *map = m->launch->trace_map;
    const uint64_t first = map ? map->base - DEVICE_BASE : m->memory_bytes;
    const uint64_t end = map ? first + TRACE_REGIONS * TRACE_REGION_BYTES : m->memory_bytes;
    hash = gpump_hash_bytes(hash, m->memory, first + (map ? map->count * TRACE_REGION_BYTES : 0));
    return gpump_hash_bytes(hash, m->memory + end, m->memory_bytes - end);
}

uint64_t machine_hash(const machine *m) {
    uint64_t hash = gpump_hash_u64(GPUMP_HASH_SEED, m->now);
    const part *const *p;
    uint32_t i, n;
    hash = hash_device_memory(m, hash);
    hash = gpump_hash_bytes(hash, m->page_table, m->memory_bytes / PAGE_BYTES);
    hash = runtime_calls_hash(m, hash);
    hash = gpump_hash_u64(hash, gpump_hash(&gpump_context_pool_component, m->context_pool));
    for (p = m->parts; *p; p++)
        if ((*p)->hash) hash = (*p)->hash(m, hash);
    hash = memory_hash(m->memory_system, hash);
    for (i = 0; i < m->kernel_count; i++) {
        hash = gpump_hash_u64(hash, m->kernels[i].done_blocks);
        hash = gpump_hash_u64(hash, m->kernels[i].warp_instructions);
        hash = gpump_hash_u64(hash, m->kernels[i].end_cycle);
        hash = gpump_hash_u64(hash, m->runs[m->kernels[i].process].ended);
    }
    for (i = 0; i < m->sm_count; i++) {
        const sm *s = m->sms[i];
        hash = gpump_hash_u64(hash, gpump_hash(&gpump_sm_component, s->gpump));
        hash = gpump_hash_u64(hash, gpump_hash(&gpump_spill_component, s->spill));
        hash = gpumpi_hash_u32s(hash, s->registers, m->config.gpu.registers);
        hash = l1_hash(&s->l1, hash);
        hash = gpump_hash_u64(hash, s->present ^ s->fetched << 1);
        hash = gpump_hash_u64(hash, s->statistics.issued);
        for (p = m->parts; *p; p++)
            if ((*p)->hash_sm) hash = (*p)->hash_sm(m, s, hash);
    }
    for (i = 0; i < m->warp_count; i++) {
        const warp *w = &m->warps[i];
        if (w->sm == NONE) continue;
        hash = gpump_hash_u64(hash, w->sequence);
        for (n = 0; n < w->stack.depth; n++) {
            hash = gpump_hash_u64(hash, (uint64_t)w->stack.entries[n].pc << 32 | w->stack.entries[n].mask);
        }
        for (n = 0; n < m->predicate_stride; n++)
            hash = gpump_hash_u64(hash, m->predicates[(size_t)i * m->predicate_stride + n]);
    }
    return hash;
}
