/* Workload files. Every message names file, line and column of the error. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>
#include "policies.h"
#include "tbsim.h"

uint32_t tb_mechanism(const char *name) {
    const uint32_t number = strcmp(name, "select") ? gpump_technique_find(name) : (uint32_t)GPUMP_TECHNIQUE_SELECT;
    return gpump_technique_begins(number) == GPUMP_TECHNIQUE_BEGIN_REWIND ? GPUMP_NONE : number; /* no regions here */
}
const char *tb_mechanism_name(uint32_t mechanism) {
    const gpump_technique *how = gpump_technique_at(mechanism);
    return how ? how->name : "select";
}

typedef struct input {
    const char *path;
    yaml_document_t document;
    int failed;
} input;

static void complain(input *in, const yaml_node_t *node, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void complain(input *in, const yaml_node_t *node, const char *format, ...) {
    va_list arguments;
    if (in->failed++) return; /* only the first error is reported */
    fprintf(stderr, "%s:%lu:%lu: ", in->path, node ? (unsigned long)node->start_mark.line + 1 : 1UL,
            node ? (unsigned long)node->start_mark.column + 1 : 1UL);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static const char *text_of(input *in, const yaml_node_t *node) {
    if (node->type != YAML_SCALAR_NODE) {
        complain(in, node, "a single value is needed here");
        return "";
    }
    return (const char *)node->data.scalar.value;
}
static double number_of(input *in, const yaml_node_t *node, double minimum, double maximum) {
    const char *text = text_of(in, node);
    char *end;
    double value = strtod(text, &end);
    if (!in->failed && (end == text || *end || !isfinite(value)))
        complain(in, node, "'%s' is not a number", text);
    else if (!in->failed && (value < minimum || value > maximum))
        complain(in, node, "%s is not between %g and %g", text, minimum, maximum);
    return in->failed ? minimum : value;
}
static uint32_t count_of(input *in, const yaml_node_t *node, double minimum, double maximum) {
    double value = number_of(in, node, minimum, maximum);
    if (!in->failed && value != floor(value)) complain(in, node, "a whole number is needed here");
    return in->failed ? (uint32_t)minimum : (uint32_t)value;
}
static int yes_of(input *in, const yaml_node_t *node) {
    const char *text = text_of(in, node);
    if (!strcmp(text, "yes") || !strcmp(text, "true")) return 1;
    if (strcmp(text, "no") && strcmp(text, "false")) complain(in, node, "yes or no is needed here, not '%s'", text);
    return 0;
}
static void name_of(input *in, const yaml_node_t *node, char *name) {
    const char *text = text_of(in, node);
    if (!*text || strlen(text) >= TB_NAME)
        complain(in, node, "a name of 1 to %d characters is needed here", TB_NAME - 1);
    else
        memcpy(name, text, strlen(text) + 1);
}

/* Walks the pairs of a mapping. */
static yaml_node_pair_t *pairs(input *in, const yaml_node_t *node, yaml_node_pair_t **end) {
    if (node->type != YAML_MAPPING_NODE) {
        complain(in, node, "'key: value' pairs are needed here");
        return *end = NULL;
    }
    *end = node->data.mapping.pairs.top;
    return node->data.mapping.pairs.start;
}
static yaml_node_item_t *items(input *in, const yaml_node_t *node, yaml_node_item_t **end) {
    if (node->type != YAML_SEQUENCE_NODE) {
        complain(in, node, "a list is needed here");
        return *end = NULL;
    }
    *end = node->data.sequence.items.top;
    return node->data.sequence.items.start;
}
static yaml_node_t *node_of(input *in, int number) { return yaml_document_get_node(&in->document, number); }

static uint32_t find_application(const tb_library *library, const char *name) {
    for (uint32_t i = 0; i < library->application_count; i++)
        if (!strcmp(library->applications[i].name, name)) return i;
    return GPUMP_NONE;
}
static uint32_t find_kernel(const tb_library *library, const char *name) {
    for (uint32_t i = library->kernel_count; i-- > 0;)
        if (!strcmp(library->kernels[i].name, name)) return i;
    return GPUMP_NONE;
}

static void read_machine(input *in, const yaml_node_t *node, tb_machine *machine) {
    yaml_node_pair_t *end, *p = pairs(in, node, &end);
    for (; p < end && !in->failed; p++) {
        const yaml_node_t *key = node_of(in, p->key), *value = node_of(in, p->value);
        const char *name = text_of(in, key);
        if (!strcmp(name, "gpu")) {
            tb_machine old = *machine;
            if (tb_machine_preset(machine, text_of(in, value)))
                complain(in, value, "no GPU is called '%s'", text_of(in, value));
            machine->variation = old.variation;
            machine->setup_us = old.setup_us;
            machine->dispatch_us = old.dispatch_us;
            machine->pcie_gb_per_s = old.pcie_gb_per_s;
            machine->burst_bytes = old.burst_bytes;
            machine->launches_per_wait = old.launches_per_wait;
            machine->exact = old.exact;
            machine->printed_times = old.printed_times;
        } else if (!strcmp(name, "sms")) { /* an SM keeps its share of the memory bandwidth */
            uint32_t sms = count_of(in, value, 1, 1024);
            machine->gpu.memory_mb_per_s = (uint32_t)((uint64_t)machine->gpu.memory_mb_per_s * sms / machine->gpu.sms);
            machine->gpu.sms = sms;
        } else if (!strcmp(name, "variation"))
            machine->variation = number_of(in, value, 0, 0.9);
        else if (!strcmp(name, "setup_us"))
            machine->setup_us = number_of(in, value, 0, 1e6);
        else if (!strcmp(name, "dispatch_us"))
            machine->dispatch_us = number_of(in, value, 0, 1e6);
        else if (!strcmp(name, "pcie_gb_per_s"))
            machine->pcie_gb_per_s = number_of(in, value, 0.001, 1e4);
        else if (!strcmp(name, "burst_bytes"))
            machine->burst_bytes = count_of(in, value, 1, 1 << 30);
        else if (!strcmp(name, "launches_per_wait"))
            machine->launches_per_wait = count_of(in, value, 1, 1e6);
        else if (!strcmp(name, "exact"))
            machine->exact = yes_of(in, value);
        else if (!strcmp(name, "printed_times"))
            machine->printed_times = yes_of(in, value);
        else
            complain(in, key, "a machine has no '%s'", name);
    }
}

static void read_kernel(input *in, const yaml_node_t *node, tb_library *library) {
    yaml_node_pair_t *end, *p = pairs(in, node, &end);
    tb_kernel *grown = (tb_kernel *)realloc(library->kernels, (library->kernel_count + 1) * sizeof *grown), *k;
    gpump_footprint need;
    gpump_occupancy occupancy;
    if (!grown) {
        complain(in, node, "out of memory");
        return;
    }
    library->kernels = grown;
    k = &grown[library->kernel_count];
    memset(k, 0, sizeof *k);
    k->threads = 256;
    for (; p < end && !in->failed; p++) {
        const yaml_node_t *key = node_of(in, p->key), *value = node_of(in, p->value);
        const char *name = text_of(in, key);
        if (!strcmp(name, "name"))
            name_of(in, value, k->name);
        else if (!strcmp(name, "blocks"))
            k->blocks = count_of(in, value, 1, 1e7);
        else if (!strcmp(name, "block_us"))
            k->block_us = number_of(in, value, 0.01, 1e9);
        else if (!strcmp(name, "alone_us"))
            k->alone_us = number_of(in, value, 0.01, 1e9);
        else if (!strcmp(name, "threads"))
            k->threads = count_of(in, value, 1, 65536);
        else if (!strcmp(name, "registers"))
            k->registers = count_of(in, value, 0, 1 << 30);
        else if (!strcmp(name, "shared_bytes"))
            k->shared_bytes = count_of(in, value, 0, 1 << 30);
        else if (!strcmp(name, "blocks_per_sm"))
            k->per_sm = count_of(in, value, 1, 64);
        else
            complain(in, key, "a kernel has no '%s'", name);
    }
    if (in->failed) return;
    if (!*k->name || !k->blocks || (k->block_us > 0) == (k->alone_us > 0)) {
        complain(in, node, "a kernel needs name, blocks, and one of block_us and alone_us");
        return;
    }
    need.threads = k->threads;
    need.registers = k->registers;
    need.shared_bytes = k->shared_bytes;
    if (gpump_gpu_occupancy(&library->machine.gpu, &need, &occupancy, NULL) != GPUMP_OK || occupancy.blocks == 0) {
        complain(in, node, "a block of '%s' does not fit on an SM", k->name);
        return;
    }
    if (!k->per_sm || k->per_sm > occupancy.blocks) k->per_sm = occupancy.blocks;
    library->kernel_count++;
    if (tb_kernel_prepare(k, &library->machine)) complain(in, node, "out of memory");
}

static void read_op(input *in, const yaml_node_t *node, const tb_library *library, tb_application *a) {
    tb_op op, *grown;
    int kinds = 0;
    memset(&op, 0, sizeof op);
    if (node->type == YAML_SCALAR_NODE) {
        if (strcmp(text_of(in, node), "sync"))
            complain(in, node, "'%s' is no step; did you mean sync?", text_of(in, node));
        op.kind = TB_OP_SYNC;
        kinds = 1;
    } else {
        yaml_node_pair_t *end, *p = pairs(in, node, &end);
        for (; p < end && !in->failed; p++) {
            const yaml_node_t *key = node_of(in, p->key), *value = node_of(in, p->value);
            const char *name = text_of(in, key);
            if (!strcmp(name, "cpu_us"))
                op.kind = TB_OP_CPU, op.us = number_of(in, value, 0, 1e9), kinds++;
            else if (!strcmp(name, "to_gpu_kb"))
                op.kind = TB_OP_TO_GPU, op.bytes = (uint64_t)(number_of(in, value, 0, 1e9) * 1024), kinds++;
            else if (!strcmp(name, "to_cpu_kb"))
                op.kind = TB_OP_TO_CPU, op.bytes = (uint64_t)(number_of(in, value, 0, 1e9) * 1024), kinds++;
            else if (!strcmp(name, "launch")) {
                op.kind = TB_OP_LAUNCH, kinds++;
                op.kernel = find_kernel(library, text_of(in, value));
                if (op.kernel == GPUMP_NONE) complain(in, value, "no kernel is called '%s'", text_of(in, value));
            } else if (!strcmp(name, "stream"))
                op.stream = count_of(in, value, 0, TB_STREAMS - 1);
            else
                complain(in, key, "a step has no '%s'", name);
        }
    }
    if (!in->failed && kinds != 1) complain(in, node, "a step is one of cpu_us, to_gpu_kb, to_cpu_kb, launch and sync");
    if (in->failed) return;
    grown = (tb_op *)realloc(a->ops, (a->op_count + 1) * sizeof *grown);
    if (!grown) {
        complain(in, node, "out of memory");
        return;
    }
    a->ops = grown;
    a->ops[a->op_count++] = op;
    if (op.kind == TB_OP_LAUNCH && op.stream + 1 > a->streams) a->streams = op.stream + 1;
}

static void read_process(input *in, const yaml_node_t *node, tb_library *library, tb_workload *workload) {
    yaml_node_pair_t *end, *p = pairs(in, node, &end);
    tb_process *process = &workload->processes[workload->count];
    if (workload->count == TB_PROCESSES) {
        complain(in, node, "more than %d processes", TB_PROCESSES);
        return;
    }
    memset(process, 0, sizeof *process);
    process->weight = 1;
    process->application = GPUMP_NONE;
    for (; p < end && !in->failed; p++) {
        const yaml_node_t *key = node_of(in, p->key), *value = node_of(in, p->value);
        const char *name = text_of(in, key);
        if (!strcmp(name, "name"))
            name_of(in, value, process->name);
        else if (!strcmp(name, "priority"))
            process->priority = count_of(in, value, 0, 1000);
        else if (!strcmp(name, "weight"))
            process->weight = count_of(in, value, 0, 1 << 20);
        else if (!strcmp(name, "start_us"))
            process->start_us = number_of(in, value, 0, 1e9);
        else if (!strcmp(name, "repeat"))
            process->repeat = count_of(in, value, 0, 1e6);
        else if (!strcmp(name, "benchmark")) {
            process->application = find_application(library, text_of(in, value));
            if (process->application == GPUMP_NONE)
                complain(in, value, "no benchmark is called '%s'", text_of(in, value));
        } else if (!strcmp(name, "script")) {
            yaml_node_item_t *last, *i = items(in, value, &last);
            tb_application *grown =
                (tb_application *)realloc(library->applications, (library->application_count + 1) * sizeof *grown);
            if (!grown) {
                complain(in, value, "out of memory");
                return;
            }
            library->applications = grown;
            memset(&grown[library->application_count], 0, sizeof *grown);
            grown[library->application_count].streams = 1;
            process->application = library->application_count++;
            for (; i < last && !in->failed; i++)
                read_op(in, node_of(in, *i), library, &library->applications[process->application]);
            if (!in->failed && !library->applications[process->application].op_count)
                complain(in, value, "a script without steps");
        } else
            complain(in, key, "a process has no '%s'", name);
    }
    if (!in->failed && process->application == GPUMP_NONE)
        complain(in, node, "a process needs a benchmark or a script");
    if (in->failed) return;
    if (!*process->name) {
        const char *name = library->applications[process->application].name;
        if (*name)
            memcpy(process->name, name, TB_NAME);
        else
            snprintf(process->name, TB_NAME, "process %u", workload->count + 1);
    }
    if (!*library->applications[process->application].name)
        memcpy(library->applications[process->application].name, process->name, TB_NAME);
    workload->count++;
}

static void read_options(input *in, const yaml_node_t *key, const yaml_node_t *value, tb_options *options,
                         int *class_end) {
    const char *name = text_of(in, key);
    if (!strcmp(name, "policy")) {
        options->policy = tb_find_policy(text_of(in, value));
        if (tb_policy_refusal(text_of(in, value)))
            complain(in, value, "policy %s: %s", text_of(in, value), tb_policy_refusal(text_of(in, value)));
        else if (!options->policy)
            complain(in, value, "no policy is called '%s'", text_of(in, value));
    } else if (!strcmp(name, "mechanism")) {
        options->mechanism = tb_mechanism(text_of(in, value));
        if (options->mechanism == GPUMP_NONE)
            complain(in, value, "no mechanism is called '%s': flush, switch, drain or select", text_of(in, value));
    } else if (!strcmp(name, "transfers")) {
        options->transfer_priority = !strcmp(text_of(in, value), "npq");
        if (!options->transfer_priority && strcmp(text_of(in, value), "fcfs"))
            complain(in, value, "transfers are fcfs or npq");
    } else if (!strcmp(name, "runs"))
        options->min_runs = count_of(in, value, 1, 1e6);
    else if (!strcmp(name, "limit_us"))
        options->limit_us = number_of(in, value, 0, 1e12);
    else if (!strcmp(name, "slice_us"))
        options->slice_us = count_of(in, value, 1, 1e6);
    else if (!strcmp(name, "launch_ahead"))
        options->launch_ahead = count_of(in, value, 0, 65535);
    else if (!strcmp(name, "launch_refill"))
        options->launch_refill = count_of(in, value, 0, 65536);
    else if (!strcmp(name, "command_least_us"))
        options->command_us[0] = number_of(in, value, 0, 1e6);
    else if (!strcmp(name, "command_spread_us"))
        options->command_us[1] = number_of(in, value, 0, 1e6);
    else if (!strcmp(name, "command_mean_us"))
        options->command_us[2] = number_of(in, value, 0, 1e6);
    else if (!strcmp(name, "select_limit_us"))
        options->select_limit_us = number_of(in, value, 0, 1e6);
    else if (!strcmp(name, "select_flush"))
        options->select_flush = yes_of(in, value);
    else if (!strcmp(name, "class_end")) {
        const char *text = text_of(in, value);
        *class_end = !strcmp(text, "low")      ? 0
                     : !strcmp(text, "middle") ? 1
                     : !strcmp(text, "high")   ? 2
                     : !strcmp(text, "none")   ? 3
                                               : -1;
        if (*class_end < 0) complain(in, value, "class_end is low, middle, high or none");
    } else
        complain(in, key, "unknown key '%s'", name);
}

static void read_all(input *in, const char *table, tb_machine *machine, int class_end, tb_library **library,
                     tb_workload *workload, tb_options *options) {
    yaml_node_t *root = yaml_document_get_root_node(&in->document);
    const yaml_node_t *kernels = NULL, *processes = NULL;
    yaml_node_pair_t *end, *p;
    yaml_node_item_t *last, *i;
    char error[300];
    if (!root) {
        complain(in, NULL, "an empty file");
        return;
    }
    for (p = pairs(in, root, &end); p < end && !in->failed; p++) {
        const yaml_node_t *key = node_of(in, p->key), *value = node_of(in, p->value);
        const char *name = text_of(in, key);
        if (!strcmp(name, "machine"))
            read_machine(in, value, machine);
        else if (!strcmp(name, "kernels"))
            kernels = value;
        else if (!strcmp(name, "processes"))
            processes = value;
        else
            read_options(in, key, value, options, &class_end);
    }
    if (in->failed) return;
    if (!processes) {
        complain(in, root, "no processes");
        return;
    }
    for (i = items(in, processes, &last); i < last && !in->failed; i++)
        for (p = pairs(in, node_of(in, *i), &end); p < end; p++)
            if (!strcmp(text_of(in, node_of(in, p->key)), "benchmark")) workload->uses_table = 1;
    if (in->failed) return;
    if (workload->uses_table) {
        *library = tb_library_tanasic(machine, table, class_end, error, sizeof error);
        if (!*library) {
            fprintf(stderr, "%s\n", error);
            in->failed++;
            return;
        }
    } else {
        *library = (tb_library *)calloc(1, sizeof **library);
        if (!*library) {
            complain(in, NULL, "out of memory");
            return;
        }
        (*library)->machine = *machine;
    }
    if (kernels)
        for (i = items(in, kernels, &last); i < last && !in->failed; i++) read_kernel(in, node_of(in, *i), *library);
    for (i = in->failed ? NULL : items(in, processes, &last); !in->failed && i < last; i++)
        read_process(in, node_of(in, *i), *library, workload);
    if (!in->failed && !workload->count) complain(in, processes, "no processes");
    if (!in->failed && tb_library_measure(*library)) complain(in, root, "the applications could not be run alone");
}

int tb_read_workload(const char *path, const char *table, tb_machine *machine, int class_end, tb_library **library,
                     tb_workload *workload, tb_options *options) {
    input in;
    yaml_parser_t parser;
    FILE *file = fopen(path, "rb");
    *library = NULL;
    memset(workload, 0, sizeof *workload);
    memset(&in, 0, sizeof in);
    in.path = path;
    if (!file || (ungetc(getc(file), file) == EOF && ferror(file))) { /* a folder can be opened and not read */
        fprintf(stderr, "tbsim: cannot read %s: %s\n", path, strerror(errno));
        if (file) fclose(file);
        return 2;
    }
    if (!yaml_parser_initialize(&parser)) {
        fclose(file);
        return 2;
    }
    yaml_parser_set_input_file(&parser, file);
    if (!yaml_parser_load(&parser, &in.document)) {
        fprintf(stderr, "%s:%lu:%lu: %s\n", path, (unsigned long)parser.problem_mark.line + 1,
                (unsigned long)parser.problem_mark.column + 1, parser.problem ? parser.problem : "not YAML");
        in.failed = 1;
    } else {
        read_all(&in, table, machine, class_end, library, workload, options);
        yaml_document_delete(&in.document);
    }
    yaml_parser_delete(&parser);
    fclose(file);
    if (in.failed) {
        tb_library_free(*library);
        *library = NULL;
    }
    return in.failed ? 2 : 0;
}
