/* Kernels and applications: Table 5.2, fitted block times, and an application's work around its kernels. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "input.h"
#include "tbsim.h"

const char *const tb_class_names[3] = {"SHORT", "MEDIUM", "LONG"};

uint64_t tb_cycles(const tb_machine *machine, double us) {
    return (uint64_t)(us * machine->gpu.clock_khz / 1000.0 + 0.5);
}
double tb_us(const tb_machine *machine, uint64_t cycles) { return (double)cycles * 1000.0 / machine->gpu.clock_khz; }

int tb_machine_preset(tb_machine *machine, const char *preset) {
    memset(machine, 0, sizeof *machine);
    if (gpump_preset(&gpump_gpu_component, &machine->gpu, preset, NULL) != GPUMP_OK) return -1;
    snprintf(machine->preset, sizeof machine->preset, "%s", preset);
    machine->variation = 0.2;
    machine->setup_us = 1.0;
    machine->dispatch_us = 1.0;
    machine->pcie_gb_per_s = 16.0;
    machine->burst_bytes = 4096;
    machine->launches_per_wait = 4;
    return 0;
}

/* Returns how many blocks are simulated as one unit. They are neighbours on an SM, and at least four units fit
 * there. */
static uint32_t group_of(const tb_machine *machine, uint32_t per_sm) {
    if (machine->exact) return 1;
    for (uint32_t group = per_sm / 4; group > 1; group--)
        if (per_sm % group == 0) return group;
    return 1;
}

/* Divides a kernel into chunks, as guided self-scheduling does: each chunk is a share of the rest, so the last chunks
 * are as small as blocks. */
static uint32_t lay_chunks(const tb_machine *machine, const tb_kernel *k, uint32_t *first) {
    uint32_t slots = machine->gpu.sms * k->units_per_sm * 2, at = 0, count = 0;
    while (at < k->units) {
        uint32_t size = machine->exact ? 1 : (k->units - at) / slots;
        if (first) first[count] = at;
        at += size ? size : 1;
        count++;
    }
    if (first) first[count] = k->units;
    return count;
}

/* Sets the unit times: spread evenly around the mean, the same for every launch. Their average is exactly the mean. */
static void time_units(const tb_machine *machine, tb_kernel *k, double mean_cycles) {
    uint64_t random = gpump_hash_bytes(GPUMP_HASH_SEED, k->name, strlen(k->name));
    double sum = 0, at = 0, scale;
    for (uint32_t i = 0; i < k->units; i++) {
        double x = (double)(gpump_random_next(&random) >> 11) / 9007199254740992.0;
        sum += 1 + machine->variation * (2 * x - 1);
    }
    scale = mean_cycles * k->units / sum;
    random = gpump_hash_bytes(GPUMP_HASH_SEED, k->name, strlen(k->name));
    for (uint32_t i = 0; i < k->units; i++) {
        double x = (double)(gpump_random_next(&random) >> 11) / 9007199254740992.0;
        k->unit_start[i] = (uint64_t)(at + 0.5);
        at += scale * (1 + machine->variation * (2 * x - 1));
        if ((uint64_t)(at + 0.5) <= k->unit_start[i]) at = (double)(k->unit_start[i] + 1); /* every unit takes time */
    }
    k->unit_start[k->units] = (uint64_t)(at + 0.5);
}

uint64_t tb_kernel_alone(const tb_machine *machine, const tb_kernel *kernel) {
    tb_library library;
    tb_application application;
    tb_workload workload;
    tb_op launch;
    tb_options options;
    tb_result result;
    memset(&library, 0, sizeof library);
    memset(&application, 0, sizeof application);
    memset(&workload, 0, sizeof workload);
    memset(&launch, 0, sizeof launch);
    library.machine = *machine;
    library.machine.dispatch_us = 0; /* measures the kernel without its dispatch */
    library.kernels = (tb_kernel *)kernel;
    library.kernel_count = 1;
    library.applications = &application;
    library.application_count = 1;
    launch.kind = TB_OP_LAUNCH;
    application.ops = &launch;
    application.op_count = application.streams = 1;
    workload.count = 1;
    workload.processes[0].repeat = 1;
    tb_options_default(&options);
    return tb_run(&library, &workload, &options, &result) ? 0 : result.processes[0].total_cycles;
}

int tb_kernel_prepare(tb_kernel *k, const tb_machine *machine) {
    gpump_footprint need;
    double target = (double)tb_cycles(machine, k->alone_us), mean;
    uint32_t waves;
    need.threads = k->threads;
    need.registers = k->registers;
    need.shared_bytes = k->shared_bytes;
    k->group = group_of(machine, k->per_sm);
    k->units = (k->blocks + k->group - 1) / k->group;
    k->units_per_sm = k->per_sm / k->group;
    k->chunks = lay_chunks(machine, k, NULL);
    k->context_bytes = gpump_gpu_context_bytes(&machine->gpu, &need);
    k->context_cycles = gpump_gpu_save_cycles(&machine->gpu, k->context_bytes * k->group);
    k->chunk_first = (uint32_t *)malloc((k->chunks + 1) * sizeof *k->chunk_first);
    k->unit_start = (uint64_t *)malloc((k->units + (size_t)1) * sizeof *k->unit_start);
    if (!k->chunk_first || !k->unit_start) return -1;
    lay_chunks(machine, k, k->chunk_first);
    if (machine->printed_times && k->printed_block_us > 0) {
        time_units(machine, k, (double)tb_cycles(machine, k->printed_block_us));
        k->block_us = k->printed_block_us;
        return 0;
    }
    if (k->alone_us <= 0) {
        time_units(machine, k, (double)tb_cycles(machine, k->block_us));
        return 0;
    }
    waves = (k->blocks + machine->gpu.sms * k->per_sm - 1) / (machine->gpu.sms * k->per_sm);
    mean = target / waves;
    for (int step = 0; step < 4; step++) { /* the time alone is nearly proportional to the mean */
        double alone;
        time_units(machine, k, mean);
        alone = (double)tb_kernel_alone(machine, k);
        if (alone <= 0) return -1;
        if (fabs(alone - target) <= target * 0.001) break;
        mean *= target / alone;
    }
    k->block_us = tb_us(machine, 1) * mean;
    return 0;
}

/* ---- Table 5.2 ---- */

typedef struct table_row {
    char benchmark[TB_NAME], dataset[TB_NAME], kernel[TB_NAME];
    uint32_t launches, blocks, shared_bytes, registers, per_sm, class1, class2;
    double alone_us, printed_us;
} table_row;

static int class_of(const char *text) {
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, tb_class_names[i])) return i;
    return -1;
}

/* Splits a line at commas; returns the number of fields. */
static int split(char *line, char **field, int capacity) {
    int count = 0;
    line[strcspn(line, "\r\n")] = 0;
    while (count < capacity) {
        char *comma = strchr(line, ',');
        field[count++] = line;
        if (!comma) break;
        *comma = 0;
        line = comma + 1;
    }
    return count;
}

static int read_table(const char *path, table_row *rows, int capacity, char *error, size_t error_bytes) {
    char line[512];
    int count = 0, number = 0, header = 0, prefix = snprintf(error, error_bytes, "tbsim: ");
    FILE *file = input_open(path, error + prefix, error_bytes - (size_t)prefix);
    if (!file) return -1;
    while (fgets(line, sizeof line, file)) {
        char *field[16], *end;
        table_row *r = &rows[count];
        double value[16];
        number++;
        if (line[0] == '#' || line[0] == '\n') continue;
        if (split(line, field, 16) != 14) {
            snprintf(error, error_bytes, "%s:%d:1: expected 14 fields", path, number);
            goto bad;
        }
        if (!header) {
            header = 1;
            continue;
        }
        for (int i = 3; i <= 11; i++) {
            value[i] = strtod(field[i], &end);
            if (end == field[i] || *end || !(value[i] >= 0 && value[i] <= 1e9)) {
                snprintf(error, error_bytes, "%s:%d:%d: '%s' is not a number from 0 to 1e9", path, number,
                         (int)(field[i] - line) + 1, field[i]);
                goto bad;
            }
        }
        if (count == capacity || class_of(field[12]) < 0 || class_of(field[13]) < 0 || value[3] < 1 || value[5] < 1 ||
            value[9] < 1) {
            snprintf(error, error_bytes, "%s:%d:%d: unknown class, no launches, blocks or room, or too many rows", path,
                     number, (int)(field[12] - line) + 1);
            goto bad;
        }
        snprintf(r->benchmark, sizeof r->benchmark, "%.38s", field[0]);
        snprintf(r->dataset, sizeof r->dataset, "%.38s", field[1]);
        snprintf(r->kernel, sizeof r->kernel, "%.38s", field[2]);
        r->launches = (uint32_t)value[3];
        r->alone_us = value[4];
        r->blocks = (uint32_t)value[5];
        r->printed_us = value[6];
        r->shared_bytes = (uint32_t)value[7];
        r->registers = (uint32_t)value[8];
        r->per_sm = (uint32_t)value[9];
        r->class1 = (uint32_t)class_of(field[12]);
        r->class2 = (uint32_t)class_of(field[13]);
        count++;
    }
    fclose(file);
    if (!count) snprintf(error, error_bytes, "%s: no rows", path);
    return count ? count : -1;
bad:
    fclose(file);
    return -1;
}

/* Returns the threads per block, which the table does not have: the most that fit per_sm times into 2048. */
static uint32_t threads_of(const table_row *r) {
    uint32_t threads = 2048 / r->per_sm / 32 * 32;
    return threads > 1024 ? 1024 : threads < 32 ? 32 : threads;
}

static int add_op(tb_application *a, tb_op_kind kind, uint32_t kernel, double us, double bytes) {
    tb_op *grown = (tb_op *)realloc(a->ops, (a->op_count + 1) * sizeof *grown);
    if (!grown) return -1;
    a->ops = grown;
    memset(&grown[a->op_count], 0, sizeof *grown);
    grown[a->op_count].kind = kind;
    grown[a->op_count].kernel = kernel;
    grown[a->op_count].us = us;
    grown[a->op_count].bytes = (uint64_t)bytes;
    a->op_count++;
    return 0;
}

/* Writes an application's script. Around its kernels it computes and copies for so long that a run alone takes the time
 * of its class. Assumed: a fifth of that time is transfers over PCIe, three to the GPU and one back. Of the rest a
 * quarter comes before the launches, a quarter after them, and half between them. The application waits after every
 * fourth launch. Launches of several kernels alternate. */
static int write_script(tb_application *a, const table_row *rows, uint32_t first_kernel, int count,
                        const tb_machine *machine, int class_end) {
    static const double ends[3][3] = {{0.25, 0.5, 1.0}, {30000, 72500, 115000}, {400000, 600000, 800000}};
    double total, rest, transfer_bytes, cpu;
    uint32_t launches = 0, done = 0, given[16] = {0}, pauses;
    for (int i = 0; i < count; i++) {
        a->gpu_us += rows[i].launches * rows[i].alone_us;
        launches += rows[i].launches;
    }
    if (class_end == 3)
        total = a->gpu_us;
    else if (a->class2 == 0) /* under 5 ms; mri-q's kernels alone take 6.8 ms, although its label says less */
        total = a->gpu_us < 5000 ? a->gpu_us + ends[0][class_end] * (5000 - a->gpu_us) : a->gpu_us * 1.05;
    else
        total = ends[a->class2][class_end];
    if (total < a->gpu_us) total = a->gpu_us;
    rest = total - a->gpu_us;
    transfer_bytes = rest * 0.2 * machine->pcie_gb_per_s * 1000.0;
    cpu = rest * 0.8;
    pauses = (launches + machine->launches_per_wait - 1) / machine->launches_per_wait;
    a->streams = 1;
    if (add_op(a, TB_OP_CPU, 0, cpu / 4, 0)) return -1;
    for (int i = 0; i < 3; i++)
        if (add_op(a, TB_OP_TO_GPU, 0, 0, transfer_bytes / 4)) return -1;
    while (done < launches) {
        int best = 0; /* the kernel whose next launch is due first when each kernel spreads its launches evenly */
        for (int i = 1; i < count; i++)
            if ((given[i] + 0.5) / rows[i].launches < (given[best] + 0.5) / rows[best].launches) best = i;
        given[best]++;
        if (add_op(a, TB_OP_LAUNCH, first_kernel + (uint32_t)best, 0, 0)) return -1;
        if ((++done % machine->launches_per_wait == 0 || done == launches) &&
            (add_op(a, TB_OP_SYNC, 0, 0, 0) || add_op(a, TB_OP_CPU, 0, cpu / 2 / pauses, 0)))
            return -1;
    }
    return add_op(a, TB_OP_TO_CPU, 0, 0, transfer_bytes / 4) || add_op(a, TB_OP_CPU, 0, cpu / 4, 0) ? -1 : 0;
}

tb_library *tb_library_tanasic(const tb_machine *machine, const char *path, int class_end, char *error,
                               size_t error_bytes) {
    table_row rows[64];
    int count = read_table(path, rows, 64, error, error_bytes);
    tb_library *library = count > 0 ? (tb_library *)calloc(1, sizeof *library) : NULL;
    double scale = machine->gpu.sms / 13.0; /* a grid in proportion: the same waves, the same time alone */
    if (!library) return NULL;
    library->machine = *machine;
    library->kernels = (tb_kernel *)calloc((size_t)count, sizeof *library->kernels);
    library->applications = (tb_application *)calloc((size_t)count, sizeof *library->applications);
    if (!library->kernels || !library->applications) goto memory;
    for (int i = 0; i < count; i++) {
        tb_kernel *k = &library->kernels[library->kernel_count++];
        gpump_footprint need;
        gpump_occupancy occupancy;
        snprintf(k->name, sizeof k->name, "%.39s", rows[i].kernel);
        k->blocks = (uint32_t)(rows[i].blocks * scale + 0.5);
        k->registers = rows[i].registers;
        k->shared_bytes = rows[i].shared_bytes;
        k->threads = threads_of(&rows[i]);
        k->per_sm = rows[i].per_sm;
        need.threads = k->threads;
        need.registers = k->registers;
        need.shared_bytes = k->shared_bytes;
        if (gpump_gpu_occupancy(&machine->gpu, &need, &occupancy, NULL) != GPUMP_OK || occupancy.blocks == 0) {
            snprintf(error, error_bytes, "%s: a block does not fit on this machine", k->name);
            goto bad;
        }
        if (machine->gpu.sms != 13) k->per_sm = occupancy.blocks;
        k->alone_us = rows[i].alone_us;
        k->printed_block_us = rows[i].printed_us;
        if (tb_kernel_prepare(k, machine)) goto memory;
    }
    for (int i = 0; i < count;) {
        tb_application *a = &library->applications[library->application_count++];
        int last = i;
        while (last < count && !strcmp(rows[last].benchmark, rows[i].benchmark)) last++;
        snprintf(a->name, sizeof a->name, "%.39s", rows[i].benchmark);
        a->class1 = rows[i].class1;
        a->class2 = rows[i].class2;
        if (write_script(a, rows + i, (uint32_t)i, last - i, machine, class_end)) goto memory;
        i = last;
    }
    if (tb_library_measure(library)) goto memory;
    return library;
memory:
    snprintf(error, error_bytes, "out of memory");
bad:
    tb_library_free(library);
    return NULL;
}

int tb_library_measure(tb_library *library) {
    uint64_t *alone = (uint64_t *)realloc(
        library->alone, (library->application_count ? library->application_count : 1) * sizeof *alone);
    if (!alone) return -1;
    library->alone = alone;
    for (uint32_t i = 0; i < library->application_count; i++) {
        tb_workload workload;
        tb_options options;
        tb_result result;
        memset(&workload, 0, sizeof workload);
        workload.count = 1;
        workload.processes[0].application = i;
        workload.processes[0].repeat = 1;
        tb_options_default(&options);
        if (tb_run(library, &workload, &options, &result)) return -1;
        alone[i] = result.processes[0].total_cycles ? result.processes[0].total_cycles : 1;
    }
    return 0;
}

void tb_kernel_free(tb_kernel *kernel) {
    free(kernel->chunk_first);
    free(kernel->unit_start);
}

void tb_library_free(tb_library *library) {
    if (!library) return;
    for (uint32_t i = 0; i < library->kernel_count; i++) tb_kernel_free(&library->kernels[i]);
    for (uint32_t i = 0; i < library->application_count; i++) free(library->applications[i].ops);
    free(library->kernels);
    free(library->applications);
    free(library->alone);
    free(library);
}
