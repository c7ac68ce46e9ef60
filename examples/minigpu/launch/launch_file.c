#define _GNU_SOURCE
#include "launch/launch_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "gpump_once.h"
#include "launch/launch_reader.h"
#include "launch/launch_traces.h"
#include "sass/trace_reader.h"

/* Reads the arguments of a generator: buffers and symbols of the process by name, and scalars. */
static int read_generator_arguments(reader *r, const yaml_node_t *node, uint32_t process, launch_kernel *view) {
    static const char *const keys[] = {"scalar", "buffer", NULL};
    yaml_node_item_t *item;
    if (node->type != YAML_SEQUENCE_NODE)
        return FAIL(r, node, "arguments must be a list (- buffer: NAME or - scalar: ...)");
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        yaml_node_t *element = yaml_document_get_node(r->document, *item), *scalar, *buffer;
        launch_argument *argument =
            (launch_argument *)append(&view->arguments, &view->argument_count, sizeof *argument);
        if (!argument) return FAIL(r, element, "out of memory");
        if (check_mapping(r, element, "an argument", keys)) return -1;
        scalar = find(r, element, "scalar");
        buffer = find(r, element, "buffer");
        if (!scalar == !buffer) return FAIL(r, element, "an argument is either a scalar or a buffer");
        argument->is_buffer = buffer != NULL;
        if (scalar ? read_scalar(r, scalar, argument) : find_buffer(r, buffer, "buffer", process, &argument->buffer))
            return -1;
    }
    return 0;
}

/* Calls a generator with the arguments of `kernel`. */
static int call_generator(reader *r, const yaml_node_t *node, const reference_entry *entry, uint64_t seed,
                          const launch_kernel *kernel) {
    reference_launch view;
    reference_argument *arguments =
        (reference_argument *)calloc(kernel->argument_count ? kernel->argument_count : 1, sizeof *arguments);
    const char *why;
    uint32_t i;
    if (!arguments) return FAIL(r, node, "out of memory");
    for (i = 0; i < kernel->argument_count; i++) {
        const launch_argument *argument = &kernel->arguments[i];
        arguments[i].scalar = argument->is_buffer ? 0 : argument->scalar;
        if (!argument->is_buffer) continue;
        arguments[i].buffer = r->launch->buffers[argument->buffer].contents + argument->offset;
        arguments[i].bytes = r->launch->buffers[argument->buffer].bytes - argument->offset;
    }
    memcpy(view.grid, kernel->grid, sizeof view.grid);
    memcpy(view.block, kernel->block, sizeof view.block);
    view.dynamic_shared_bytes = kernel->dynamic_shared_bytes;
    view.argument_count = kernel->argument_count;
    view.arguments = arguments;
    why = entry->generate(&view, seed);
    free(arguments);
    return why ? FAIL(r, node, "the generator refuses: %s", why) : 0;
}

/* Runs a built-in generator (kernels/NAME/generate.c), which fills the kernel's buffers, or the buffers that
 * `arguments` names. */
static int run_generator(reader *r, const yaml_node_t *node, const launch_kernel *kernel) {
    static const char *const keys[] = {"name", "seed", "arguments", NULL};
    const reference_entry *entry;
    launch_kernel view = *kernel;
    yaml_node_t *value, *arguments;
    uint64_t seed = 1;
    char *name = NULL;
    int failed;
    if (check_mapping(r, node, "generate", keys)) return -1;
    if ((value = find(r, node, "seed")) && read_u64(r, value, "seed", 0, UINT64_MAX, &seed)) return -1;
    if (!(value = find(r, node, "name"))) return FAIL(r, node, "generate needs the name of a built-in generator");
    if (read_text(r, value, "name", &name)) return -1;
    entry = reference_find(name);
    free(name);
    if (!entry || !entry->generate) return FAIL(r, value, "no built-in generator is named \"%s\"", text_of(value));
    if (!(arguments = find(r, node, "arguments"))) return call_generator(r, value, entry, seed, kernel);
    view.arguments = NULL;
    view.argument_count = 0;
    failed =
        read_generator_arguments(r, arguments, kernel->process, &view) || call_generator(r, value, entry, seed, &view);
    free(view.arguments);
    return failed ? -1 : 0;
}

static int read_footprint(reader *r, const yaml_node_t *node, launch_kernel *kernel) {
    static const char *const keys[] = {"registers", "shared_bytes", "blocks_per_sm", NULL};
    yaml_node_t *value;
    if (check_mapping(r, node, "footprint", keys)) return -1;
    kernel->footprint_place = place_of(node);
    if ((value = find(r, node, "registers")) &&
        read_u32(r, value, "registers", 1, 1u << 24, &kernel->override_registers))
        return -1;
    if ((value = find(r, node, "shared_bytes")) &&
        read_u32(r, value, "shared_bytes", 1, 1u << 24, &kernel->override_shared_bytes))
        return -1;
    if ((value = find(r, node, "blocks_per_sm")) && read_u32(r, value, "blocks_per_sm", 1, 64, &kernel->block_cap))
        return -1;
    return 0;
}

static int read_kernel(reader *r, const yaml_node_t *node, uint32_t process) {
    static const char *const keys[] = {"ptx",       "kernel",   "grid",          "block",     "dynamic_shared_bytes",
                                       "arguments", "priority", "arrival_cycle", "footprint", "generate",
                                       "expect",    "textures", "symbols",       NULL};
    launch_kernel *kernel;
    yaml_node_t *value;
    if (check_mapping(r, node, "a kernel", keys)) return -1;
    kernel = (launch_kernel *)append(&r->launch->kernels, &r->launch->kernel_count, sizeof *kernel);
    if (!kernel) return FAIL(r, node, "out of memory");
    kernel->place = place_of(node);
    kernel->arguments_place = kernel->footprint_place = kernel->shared_place = kernel->place;
    kernel->process = process;
    kernel->priority = r->launch->processes[process].priority;
    if (!(value = find(r, node, "ptx"))) return FAIL(r, node, "a kernel needs ptx: the PTX file");
    kernel->ptx_place = place_of(value);
    if (read_path(r, value, "ptx", &kernel->ptx_path)) return -1;
    if (!(value = find(r, node, "kernel"))) return FAIL(r, node, "a kernel needs kernel: the name of its entry");
    kernel->name_place = place_of(value);
    if (read_text(r, value, "kernel", &kernel->name)) return -1;
    if (!(value = find(r, node, "grid"))) return FAIL(r, node, "a kernel needs a grid");
    kernel->grid_place = place_of(value);
    if (read_triple(r, value, "grid", kernel->grid)) return -1;
    if (!(value = find(r, node, "block"))) return FAIL(r, node, "a kernel needs a block");
    kernel->block_place = place_of(value);
    if (read_triple(r, value, "block", kernel->block)) return -1;
    if ((value = find(r, node, "dynamic_shared_bytes"))) {
        kernel->shared_place = place_of(value);
        if (read_u32(r, value, "dynamic_shared_bytes", 0, 1u << 24, &kernel->dynamic_shared_bytes)) return -1;
    }
    if ((value = find(r, node, "priority")) && read_u32(r, value, "priority", 0, UINT32_MAX, &kernel->priority))
        return -1;
    if ((value = find(r, node, "arrival_cycle")) &&
        read_u64(r, value, "arrival_cycle", 0, UINT64_MAX / 4, &kernel->arrival_cycle))
        return -1;
    if ((value = find(r, node, "footprint")) && read_footprint(r, value, kernel)) return -1;
    if ((value = find(r, node, "arguments")) && read_arguments(r, value, kernel)) return -1;
    if ((value = find(r, node, "textures")) && read_texture_references(r, value, kernel)) return -1;
    if ((value = find(r, node, "symbols")) && read_symbols(r, value, kernel)) return -1;
    if ((value = find(r, node, "generate")) && run_generator(r, value, kernel)) return -1;
    if ((value = find(r, node, "expect")) && read_expect(r, value, kernel)) return -1;
    return 0;
}

static int read_kernels(reader *r, const yaml_node_t *node, uint32_t process) {
    yaml_node_item_t *item;
    if (node->type != YAML_SEQUENCE_NODE) return FAIL(r, node, "kernels must be a list (- ptx: ...)");
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        const yaml_node_t *element = yaml_document_get_node(r->document, *item);
        const yaml_node_t *loop = element->type == YAML_MAPPING_NODE ? find(r, element, "loop") : NULL;
        static const char *const loop_keys[] = {"loop", NULL};
        if (loop && check_mapping(r, element, "a list entry with a loop", loop_keys)) return -1;
        if (loop ? read_loop(r, loop, process, read_kernels) : read_kernel(r, element, process)) return -1;
    }
    return 0;
}

static int read_text_of_file(const char *path, char **text, size_t *length, char error[LAUNCH_ERROR_BYTES]);

/* Reads the kernels of a process from traces: a kernelslist.g, or the trace of one kernel. */
static int read_traces(reader *r, const yaml_node_t *node, uint32_t process) {
    char *given = NULL, *text = NULL, list[1024];
    const char *path = NULL;
    size_t length;
    int failed = read_path(r, node, "traces", &given);
    if (!failed) path = launch_traces_in_folder(given, list);
    if (!failed && !launch_traces_is_one(path)) failed = read_text_of_file(path, &text, &length, r->error);
    if (!failed) failed = launch_traces_add(r->launch, path, text, process, place_of(node), r->error);
    free(text);
    free(given);
    return failed;
}

static int read_process(reader *r, const yaml_node_t *node, const yaml_node_t *kernels) {
    static const char *const keys[] = {"name", "priority", "weight", "repeat", "buffers", "kernels", "traces", NULL};
    uint32_t index = r->launch->process_count, i;
    launch_process *process =
        (launch_process *)append(&r->launch->processes, &r->launch->process_count, sizeof *process);
    yaml_node_t *value, *buffers, *traces = NULL;
    if (!process) return FAIL(r, node, "out of memory");
    process->repeat = process->weight = 1;
    if (!kernels) { /* an entry of "processes" */
        if (check_mapping(r, node, "a process", keys)) return -1;
        if ((value = find(r, node, "name")) && read_text(r, value, "name", &process->name)) return -1;
        if ((value = find(r, node, "priority")) && read_u32(r, value, "priority", 0, UINT32_MAX, &process->priority))
            return -1;
        if ((value = find(r, node, "weight")) &&
            read_u32(r, value, "weight", 0, GPUMP_SCHEDULER_MAX_BUDGET, &process->weight))
            return -1;
        kernels = find(r, node, "kernels");
        traces = find(r, node, "traces");
        if (!kernels == !traces) return FAIL(r, node, "a process needs either kernels or traces");
    }
    if ((value = find(r, node, "repeat")) && read_u32(r, value, "repeat", 1, UINT32_MAX, &process->repeat)) return -1;
    if (!process->name && asprintf(&process->name, "process %u", index) < 0) {
        process->name = NULL;
        return FAIL(r, node, "out of memory");
    }
    if ((buffers = find(r, node, "buffers")) && read_buffers(r, buffers, index)) return -1;
    if (traces ? read_traces(r, traces, index) : read_kernels(r, kernels, index)) return -1;
    if (value && r->launch->processes[index].repeat > 1)
        for (i = 0; i < r->launch->loop_count; i++)
            if (r->launch->kernels[r->launch->loops[i].first].process == index)
                return FAIL(r, value, "a process with a loop cannot repeat: make times of the loop larger instead");
    return 0;
}

static int read_numbers(reader *r, const yaml_node_t *node) {
    yaml_node_pair_t *pair;
    uint32_t i;
    if (node->type != YAML_MAPPING_NODE) return FAIL(r, node, "config must be a mapping (l1_bytes: 32768)");
    for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
        yaml_node_t *key = yaml_document_get_node(r->document, pair->key),
                    *value = yaml_document_get_node(r->document, pair->value);
        launch_number *number = (launch_number *)append(&r->launch->numbers, &r->launch->number_count, sizeof *number);
        if (!number) return FAIL(r, node, "out of memory");
        number->place = place_of(key);
        if (read_text(r, key, "a name of config", &number->name)) return -1;
        for (i = 0; i + 1 < r->launch->number_count; i++)
            if (!strcmp(r->launch->numbers[i].name, number->name))
                return FAIL(r, key, "\"%s\" stands twice in config", number->name);
        if (read_u32(r, value, number->name, 0, UINT32_MAX, &number->value)) return -1;
    }
    return 0;
}

int launch_regions(const char *text, uint32_t *regions) {
    char *end;
    unsigned long most;
    *regions = 1; /* REGIONS_SPARSE */
    if (strcmp(text, "sparse") == 0) return 0;
    most = strtoul(text, &end, 10);
    if (end == text || *end || *text == '-' || most < 2 || most > 4096) return -1;
    *regions = (uint32_t)most;
    return 0;
}

static int read_machine(reader *r, const yaml_node_t *node) {
    static const char *const keys[] = {"gpu",    "sms",     "kernels_per_sm", "technique", "scheduler",
                                       "config", "regions", "most_blocks",    "stop_at",   NULL};
    yaml_node_t *value;
    uint32_t number;
    if (check_mapping(r, node, "machine", keys)) return -1;
    if ((value = find(r, node, "gpu"))) {
        r->launch->gpu_place = place_of(value);
        if (read_text(r, value, "gpu", &r->launch->gpu)) return -1;
    }
    if ((value = find(r, node, "most_blocks")) &&
        read_u64(r, value, "most_blocks", 1, UINT64_C(1) << 40, &r->launch->most_blocks))
        return -1;
    if ((value = find(r, node, "stop_at")) && read_u64(r, value, "stop_at", 1, UINT64_MAX / 4, &r->launch->stop_at))
        return -1;
    if ((value = find(r, node, "sms")) && read_u32(r, value, "sms", 1, 1024, &r->launch->sms)) return -1;
    if ((value = find(r, node, "kernels_per_sm")) &&
        read_u32(r, value, "kernels_per_sm", 1, 32, &r->launch->kernels_per_sm))
        return -1;
    if ((value = find(r, node, "scheduler"))) {
        if (read_text(r, value, "scheduler", &r->launch->scheduler)) return -1;
        if (strcmp(text_of(value), "gto") != 0 && strcmp(text_of(value), "lrr") != 0) {
            return FAIL(r, value, "scheduler must be gto or lrr, not \"%s\"", text_of(value));
        }
    }
    if ((value = find(r, node, "config")) && read_numbers(r, value)) return -1;
    if ((value = find(r, node, "regions")) && launch_regions(text_of(value), &r->launch->regions)) {
        return FAIL(r, value,
                    "regions must be sparse or the most instructions of a short region (2 to 4096), not \"%s\"",
                    text_of(value));
    }
    if ((value = find(r, node, "technique"))) {
        if (read_text(r, value, "technique", &r->launch->technique)) return -1;
        number = gpump_technique_find(text_of(value));
        if (number == GPUMP_NONE || gpump_technique_begins(number) == GPUMP_TECHNIQUE_BEGIN_REWIND) {
            return FAIL(r, value, "technique must be switch, drain or flush, not \"%s\"", text_of(value));
        }
    }
    return 0;
}

static int read_document(reader *r) {
    static const char *const keys[] = {"machine", "processes", "buffers", "kernels", "repeat", NULL};
    yaml_node_t *root = yaml_document_get_root_node(r->document), *processes, *kernels, *machine, *misplaced;
    if (!root) {
        launch_place place = {1, 1};
        return launch_file_error(r->launch, place, r->error, "the file is empty");
    }
    if (check_mapping(r, root, "a launch file", keys)) return -1;
    if ((machine = find(r, root, "machine")) && read_machine(r, machine)) return -1;
    processes = find(r, root, "processes");
    kernels = find(r, root, "kernels");
    if (!processes == !kernels) return FAIL(r, root, "a launch file has either kernels or processes");
    if (processes && ((misplaced = find(r, root, "repeat")) || (misplaced = find(r, root, "buffers"))))
        return FAIL(r, misplaced, "%s stands in the process that it is for, or beside kernels",
                    find(r, root, "repeat") ? "repeat" : "buffers");
    if (kernels) {
        if (read_process(r, root, kernels)) return -1;
    } else {
        yaml_node_item_t *item;
        if (processes->type != YAML_SEQUENCE_NODE)
            return FAIL(r, processes, "processes must be a list (- kernels: ...)");
        for (item = processes->data.sequence.items.start; item < processes->data.sequence.items.top; item++) {
            if (read_process(r, yaml_document_get_node(r->document, *item), NULL)) return -1;
        }
    }
    if (!r->launch->kernel_count) return FAIL(r, kernels ? kernels : processes, "there is no kernel to run");
    return resolve_pointers(r);
}

#define LAUNCH_FILE_BYTES_MAX (UINT64_C(1) << 24)
#define LAUNCH_NESTING_MAX 100u

/* Reads a whole file, which may be a pipe. Returns 0, or -1 with the reason in error. */
static int read_text_of_file(const char *path, char **text, size_t *length, char error[LAUNCH_ERROR_BYTES]) {
    FILE *file = fopen(path, "rb");
    char *grown = NULL;
    *length = 0;
    *text = NULL;
    if (!file) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: %s", path, strerror(errno));
        return -1;
    }
    do {
        if ((grown = (char *)realloc(*text, *length + 65536 + 1))) {
            *text = grown;
            *length += fread(grown + *length, 1, 65536, file);
        }
    } while (grown && !feof(file) && !ferror(file) && *length <= LAUNCH_FILE_BYTES_MAX);
    if (grown && feof(file) && *length <= LAUNCH_FILE_BYTES_MAX) {
        grown[*length] = 0;
        fclose(file);
        return 0;
    }
    snprintf(error, LAUNCH_ERROR_BYTES, "%s: %s", path,
             !grown         ? "out of memory"
             : ferror(file) ? strerror(errno)
                            : "more than 16 MB are no launch file; data goes into files of its own (file: ...)");
    fclose(file);
    free(*text);
    return -1;
}

/* Limits the nesting depth, because the parser's time grows with its square. Open brackets in quotes count, too: the
 * limit is far above the needs of a launch file. */
static int check_nesting(const launch_file *launch, const char *text, size_t length, char error[LAUNCH_ERROR_BYTES]) {
    launch_place place = {1, 1};
    uint32_t depth = 0, dashes = 0, start = 1;
    size_t i;
    for (i = 0; i < length; i++, place.column++) {
        if (text[i] == '\n') {
            place.line++;
            place.column = dashes = 0;
            start = 1;
            continue;
        }
        if (text[i] == '[' || text[i] == '{') depth++;
        if ((text[i] == ']' || text[i] == '}') && depth) depth--;
        if (start && (text[i] == '-' || text[i] == '?' || text[i] == ':'))
            dashes++;
        else if (text[i] != ' ')
            start = 0;
        if (depth > LAUNCH_NESTING_MAX || dashes > LAUNCH_NESTING_MAX)
            return launch_file_error(launch, place, error, "nested more than %u levels deep", LAUNCH_NESTING_MAX);
    }
    return 0;
}

static int ends_in(const char *path, const char *ending) {
    const size_t length = strlen(path), least = strlen(ending);
    return length > least && !strcmp(path + length - least, ending);
}

int launch_file_read(launch_file *launch, const char *path, char error[LAUNCH_ERROR_BYTES]) {
    char list[1024];
    yaml_parser_t parser;
    yaml_document_t document;
    reader r;
    char *text = NULL;
    size_t length = 0;
    int result;
    memset(launch, 0, sizeof *launch);
    path = launch_traces_in_folder(path, list);
    if (!launch_traces_is_one(path) && read_text_of_file(path, &text, &length, error)) return -1;
    launch->path = strdup(path);
    if (!launch->path || !yaml_parser_initialize(&parser)) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: out of memory", path);
        free(text);
        launch_file_free(launch);
        return -1;
    }
    if (text) yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    r.launch = launch;
    r.document = &document;
    r.error = error;
    r.loop_depth = 0;
    if (!text || launch_traces_is_list(path, text)) {
        result = launch_traces_read(launch, text, error);
    } else if (check_nesting(launch, text, length, error)) {
        result = -1;
    } else if (ends_in(path, ".ptx") || ends_in(path, ".cu")) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s is no launch file: %sminigpu init FILE.ptx writes one for its kernels",
                 path, ends_in(path, ".cu") ? "compile it to PTX (nvcc -ptx), then " : "");
        result = -1;
    } else if (!yaml_parser_load(&parser, &document)) {
        launch_place place;
        place.line = (uint32_t)parser.problem_mark.line + 1;
        place.column = (uint32_t)parser.problem_mark.column + 1;
        result =
            launch_file_error(launch, place, error, "not YAML: %s%s%s", parser.problem ? parser.problem : "unreadable",
                              parser.context ? ", " : "", parser.context ? parser.context : "");
    } else {
        result = read_document(&r);
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    free(text);
    if (result) launch_file_free(launch);
    return result;
}

void launch_file_free(launch_file *launch) {
    uint32_t i, k;
    for (i = 0; i < launch->kernel_count; i++) {
        launch_kernel *kernel = &launch->kernels[i];
        for (k = 0; k < kernel->expected_count; k++) free(kernel->expected[k].path);
        free(kernel->expected);
        free(kernel->argument_tolerances);
        for (k = 0; k < kernel->texture_reference_count; k++) free(kernel->texture_references[k].name);
        free(kernel->texture_references);
        for (k = 0; k < kernel->argument_count; k++) free(kernel->arguments[k].structure);
        free(kernel->arguments);
        free(kernel->ptx_path);
        free(kernel->name);
        if (kernel->trace) trace_kernel_close(kernel->trace);
        free(kernel->trace);
    }
    free(launch->trace_map);
    for (i = 0; i < launch->buffer_count; i++) {
        free(launch->buffers[i].name);
        free(launch->buffers[i].symbol);
        free(launch->buffers[i].contents);
    }
    for (i = 0; i < launch->read_path_count; i++) free(launch->read_paths[i]);
    free(launch->read_paths);
    for (i = 0; i < launch->process_count; i++) free(launch->processes[i].name);
    for (i = 0; i < launch->number_count; i++) free(launch->numbers[i].name);
    for (i = 0; i < launch->pointer_count; i++) free(launch->pointers[i].name);
    for (i = 0; i < launch->loop_count; i++) free(launch->loops[i].writes);
    free(launch->pointers);
    free(launch->loops);
    free(launch->numbers);
    free(launch->kernels);
    free(launch->buffers);
    free(launch->processes);
    free(launch->gpu);
    free(launch->technique);
    free(launch->scheduler);
    free(launch->path);
    memset(launch, 0, sizeof *launch);
}

/* Moves the elements of one array behind those of another. Returns 0 when memory is out. */
static int move(void *to, uint32_t *count, void *from, uint32_t *from_count, size_t bytes) {
    void **target = (void **)to, **source = (void **)from;
    uint8_t *grown;
    if (!*from_count) return 1;
    if (!(grown = (uint8_t *)realloc(*target, (*count + *from_count) * bytes))) return 0;
    memcpy(grown + *count * bytes, *source, *from_count * bytes);
    free(*source);
    *target = grown;
    *count += *from_count;
    *source = NULL;
    *from_count = 0;
    return 1;
}

int launch_file_join(launch_file *launch, launch_file *other, char error[LAUNCH_ERROR_BYTES]) {
    const uint32_t kernels = launch->kernel_count, buffers = launch->buffer_count, processes = launch->process_count;
    uint32_t i, k;
    for (i = 0; i < other->kernel_count; i++) {
        launch_kernel *kernel = &other->kernels[i];
        kernel->process += processes;
        for (k = 0; k < kernel->argument_count; k++) kernel->arguments[k].buffer += buffers;
        for (k = 0; k < kernel->expected_count; k++) kernel->expected[k].buffer += buffers;
        for (k = 0; k < kernel->texture_reference_count; k++) kernel->texture_references[k].texture.buffer += buffers;
    }
    for (i = 0; i < other->buffer_count; i++) {
        other->buffers[i].process += processes;
        other->buffers[i].symbol_kernel += kernels;
    }
    for (i = 0; i < other->pointer_count; i++) {
        launch_pointer *pointer = &other->pointers[i];
        pointer->holder += pointer->in_buffer ? buffers : 0;
        pointer->kernel += kernels;
        pointer->buffer += buffers;
        pointer->process += processes;
    }
    for (i = 0; i < other->loop_count; i++) {
        launch_loop *loop = &other->loops[i];
        loop->first += kernels;
        loop->buffer += buffers;
        for (k = 0; k < loop->write_count; k++) loop->writes[k].buffer += buffers;
    }
#define MOVE(array, count) move(&launch->array, &launch->count, &other->array, &other->count, sizeof *launch->array)
    if (!MOVE(processes, process_count) || !MOVE(kernels, kernel_count) || !MOVE(buffers, buffer_count) ||
        !MOVE(pointers, pointer_count) || !MOVE(loops, loop_count)) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: out of memory", other->path);
        return -1;
    }
#undef MOVE
    launch_file_free(other);
    return 0;
}
