#define _GNU_SOURCE
#include "tools/pairs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launch/launch_file.h"
#include "output.h"
#include "tools/outputs.h"
#include "tools/report.h"

#define RESAMPLES 2000u
#define AGAIN 2u /* combinations of the oracle that are measured again, for as long as the policies */

/* ---- kernels ---- */

/* Finds what a launch file is called in tables: its name without the suffix; its folder's, where every kernel has a
 * file of that name (small.yaml, launch.yaml). Returns the first character, and sets *length. */
static const char *find_label(const char *path, size_t *length) {
    const char *name = strrchr(path, '/'), *folder;
    name = name ? name + 1 : path;
    *length = strcspn(name, ".");
    if (name == path || (strcmp(name, "small.yaml") && strcmp(name, "launch.yaml"))) return name;
    for (folder = name - 1; folder > path && folder[-1] != '/'; folder--) {}
    *length = (size_t)(name - 1 - folder);
    return folder;
}

static int add_file(pairs_experiment *e, const char *path) {
    pairs_kernel *k = &e->kernels[e->kernel_count];
    size_t length;
    const char *name = find_label(path, &length);
    uint32_t i;
    if (e->kernel_count == PAIRS_KERNELS || strlen(path) >= sizeof k->path || length >= sizeof k->label) {
        fprintf(stderr, "minigpu: %s: pairs takes %u kernels, with names of %u characters at most\n", path,
                PAIRS_KERNELS, (unsigned)sizeof k->label - 1);
        return 2;
    }
    for (i = 0; i < e->kernel_count; i++)
        if (strlen(e->kernels[i].label) == length && !strncmp(e->kernels[i].label, name, length) &&
            strcmp(e->kernels[i].path, path)) {
            fprintf(stderr, "minigpu: %s and %s would have one name in the table: give one of them another name\n",
                    e->kernels[i].path, path);
            return 2;
        }
    memset(k, 0, sizeof *k);
    strcpy(k->path, path);
    memcpy(k->label, name, length);
    e->kernel_count++;
    return 0;
}

static int is_launch_file(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name);
    return length > 5 && !strcmp(entry->d_name + length - 5, ".yaml") && strcmp(entry->d_name, "small.yaml") &&
           strcmp(entry->d_name, "launch.yaml");
}

int pairs_add(pairs_experiment *e, const char *path) {
    struct stat status;
    struct dirent **entries;
    int i, count, failed = 0;
    if (stat(path, &status)) {
        fprintf(stderr, "minigpu: cannot read %s: %s\n", path, strerror(errno));
        return 2;
    }
    if (!S_ISDIR(status.st_mode)) return add_file(e, path);
    if ((count = scandir(path, &entries, is_launch_file, alphasort)) < 1) {
        fprintf(stderr, "minigpu: %s has no launch file\n", path);
        return 2;
    }
    for (i = 0; i < count; i++) {
        char file[768];
        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        if (!failed) failed = add_file(e, file);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

/* Reads a kernel's launch file and checks that it has one kernel. */
static int read_kernel(const pairs_kernel *k, launch_file *launch) {
    char error[LAUNCH_ERROR_BYTES];
    if (launch_file_read(launch, k->path, error)) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    if (launch->kernel_count != 1) {
        fprintf(stderr, "%s: pairs needs one kernel in each file, this one has %u\n", k->path, launch->kernel_count);
        launch_file_free(launch);
        return 2;
    }
    corun_repeat(launch);
    return 0;
}

int pairs_spare(const pairs_experiment *e, const char *output) {
    uint32_t i;
    for (i = 0; i < e->kernel_count; i++) {
        launch_file launch;
        int status = output_is_input("minigpu", output, e->kernels[i].path) ? 2 : read_kernel(&e->kernels[i], &launch);
        if (status) return status;
        status = outputs_spare(&launch, &output, 1) ? 2 : 0;
        launch_file_free(&launch);
        if (status) return status;
    }
    return 0;
}

int pairs_choose_gpu(pairs_experiment *e) {
    uint32_t i;
    for (i = 0; i < e->kernel_count; i++) {
        char error[LAUNCH_ERROR_BYTES];
        launch_file launch;
        gpump_gpu gpu;
        int failed;
        if (read_kernel(&e->kernels[i], &launch)) return 2;
        failed = machine_choose_gpu(&launch, &e->run.options, &gpu, error);
        launch_file_free(&launch);
        if (failed) return fprintf(stderr, "%s\n", error), 2;
        if (i == 0) e->gpu = gpu;
        if (gpu.sms == e->gpu.sms) continue;
        fprintf(stderr, "minigpu: pairs: %s asks for %u SMs, %s for %u: the kernels of a table run on one machine\n",
                e->kernels[i].path, gpu.sms, e->kernels[0].path, e->gpu.sms);
        return 2;
    }
    return 0;
}

int pairs_machine(const pairs_experiment *e, gpump_partition_config *machine) {
    if (gpump_preset(&gpump_partition_component, machine, e->run.options.gpu, NULL)) return 0;
    machine->gpu = e->gpu;
    machine->meter.sms = e->gpu.sms;
    machine->meter.memory_mb_per_s = e->gpu.memory_mb_per_s;
    return 1;
}

int pairs_measure_alone(pairs_experiment *e) {
    uint32_t i;
    for (i = 0; i < e->kernel_count; i++) {
        pairs_kernel *k = &e->kernels[i];
        corun_experiment run = e->run;
        gpump_partition_config machine;
        gpump_demand demand;
        launch_file launch;
        gpump_diag diag;
        int status = read_kernel(k, &launch);
        if (status) return status;
        run.launch = &launch;
        status = corun_alone(&run, 0, &k->per_cycle, &k->traffic);
        launch_file_free(&launch);
        if (status) return status;
        if (!pairs_machine(e, &machine) ||
            gpump_partition_demand(&machine, &k->traffic, machine.gpu.sms, &demand, &diag)) {
            fprintf(stderr, "minigpu: %s: no demand of %s\n", k->path, run.options.gpu);
            return 1;
        }
        k->kind = gpump_partition_classify(&machine, &demand, GPUMP_PARTITION_CLASSES);
    }
    return 0;
}

/* ---- pairs ---- */

uint32_t pairs_choose(const pairs_experiment *e, uint32_t count, uint32_t chosen[][2]) {
    uint32_t(*all)[2] = malloc((size_t)PAIRS_KERNELS * PAIRS_KERNELS * sizeof *all);
    uint32_t total = 0, taken = 0, a, b, i, turn;
    uint64_t random = e->seed;
    if (!all) return 0;
    for (a = 0; a < e->kernel_count; a++)
        for (b = a + 1; b < e->kernel_count; b++) all[total][0] = a, all[total++][1] = b;
    for (i = 0; count < total && i + 1 < total; i++) {
        const uint32_t with = i + gpump_random_below(&random, total - i);
        uint32_t kept[2];
        memcpy(kept, all[i], sizeof kept);
        memcpy(all[i], all[with], sizeof kept);
        memcpy(all[with], kept, sizeof kept);
    }
    /* The combinations of classes take turns. Each gives its next pair. */
    for (turn = 0; taken < count && taken < total; turn++) {
        const uint32_t kinds = turn % (GPUMP_PARTITION_CLASSES * GPUMP_PARTITION_CLASSES);
        for (i = 0; i < total; i++) {
            const uint32_t first = e->kernels[all[i][0]].kind, second = e->kernels[all[i][1]].kind;
            const uint32_t low = first < second ? first : second, high = first < second ? second : first;
            if (all[i][0] == all[i][1] || low * GPUMP_PARTITION_CLASSES + high != kinds) continue;
            memcpy(chosen[taken++], all[i], sizeof all[i]);
            all[i][0] = all[i][1]; /* marks the pair as taken */
            break;
        }
    }
    free(all);
    return taken;
}

static pairs_row *append(pairs_table *table) {
    if (table->count == table->capacity) {
        const uint32_t capacity = table->capacity ? 2 * table->capacity : 64;
        pairs_row *grown = realloc(table->rows, capacity * sizeof *grown);
        if (!grown) return NULL;
        table->rows = grown;
        table->capacity = capacity;
    }
    memset(&table->rows[table->count], 0, sizeof *table->rows);
    return &table->rows[table->count++];
}

static int add_row(const pairs_experiment *e, uint32_t number, const uint32_t pair[2], const char *policy,
                   const corun_outcome *o, pairs_table *table) {
    pairs_row *row = append(table);
    uint32_t k;
    if (!row) {
        fputs("minigpu: out of memory for the table of pairs\n", stderr);
        return 1;
    }
    row->number = number;
    row->first = pair[0];
    row->second = pair[1];
    snprintf(row->policy, sizeof row->policy, "%s", policy);
    for (k = 0; k < 2; k++) {
        row->kinds[k] = e->kernels[pair[k]].kind;
        row->blocks[k] = o->shares[k].blocks;
        row->sms[k] = o->shares[k].sms;
        row->speed[k] = o->speed[k];
    }
    row->harmonic = o->metrics.harmonic_speedup;
    row->weighted = o->metrics.weighted_speedup;
    row->network = (o->used.up_q16 > o->used.down_q16 ? o->used.up_q16 : o->used.down_q16) / 655.36;
    row->dram = o->used.dram_q16 / 655.36;
    return 0;
}

/* Finds the best combination of blocks by an exhaustive search (Lin 4.4.1). Each combination runs for a short time, and
 * the best ones are measured again for as long as the policies. */
static int run_oracle(const pairs_experiment *e, const corun_experiment *run, const double *alone,
                      corun_outcome *best) {
    corun_experiment attempt = *run;
    gpump_partition_kernel kernels[2];
    gpump_partition_config machine;
    gpump_partition_request request;
    uint32_t blocks[2], kept[AGAIN][2], i, k;
    double harmonic[AGAIN] = {0};
    machine_options options = run->options;
    char error[LAUNCH_ERROR_BYTES];
    gpump_result result;
    struct machine *m;
    memset(kernels, 0, sizeof kernels);
    memset(kept, 0, sizeof kept);
    memset(&request, 0, sizeof request);
    if (!pairs_machine(e, &machine)) return 1;
    if (!(m = machine_build(run->launch, &options, error))) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    for (k = 0; k < 2; k++) {
        gpump_occupancy room;
        kernels[k].need = m->kernels[k].need;
        kernels[k].blocks = gpump_gpu_occupancy(&machine.gpu, &kernels[k].need, &room, NULL) ? 1 : room.blocks;
    }
    machine_free(m);
    request.count = 2;
    request.config = &machine;
    request.kernels = kernels;
    attempt.warm = e->oracle_warm;
    attempt.cycles = e->oracle_cycles;
    for (result = gpump_partition_first(&request, blocks); !result; result = gpump_partition_next(&request, blocks)) {
        corun_outcome o;
        double now;
        uint32_t tried[2];
        if (corun_fixed(&attempt, blocks, alone, &o)) return 1;
        now = o.metrics.harmonic_speedup;
        memcpy(tried, blocks, sizeof tried);
        for (i = 0; i < AGAIN; i++) { /* the list stays in order, the best first */
            double other = harmonic[i];
            uint32_t moved[2];
            if (now <= other) continue;
            memcpy(moved, kept[i], sizeof moved);
            memcpy(kept[i], tried, sizeof tried);
            memcpy(tried, moved, sizeof tried);
            harmonic[i] = now;
            now = other;
        }
    }
    memset(best, 0, sizeof *best);
    for (i = 0; i < AGAIN && harmonic[i] > 0; i++) {
        corun_outcome o;
        if (corun_fixed(run, kept[i], alone, &o)) return 1;
        if (o.metrics.harmonic_speedup > best->metrics.harmonic_speedup) *best = o;
    }
    return 0;
}

int pairs_run(const pairs_experiment *e, uint32_t number, uint32_t first, uint32_t second, pairs_table *table) {
    const uint32_t pair[2] = {first, second};
    const double alone[2] = {e->kernels[first].per_cycle, e->kernels[second].per_cycle};
    corun_experiment run = e->run;
    launch_file launch, other;
    char error[LAUNCH_ERROR_BYTES];
    corun_outcome o;
    uint32_t p;
    int status = read_kernel(&e->kernels[first], &launch);
    if (status) return status;
    status = read_kernel(&e->kernels[second], &other);
    if (!status && launch_file_join(&launch, &other, error)) {
        fprintf(stderr, "%s\n", error);
        status = 1;
    }
    if (!status) launch.kernels[launch.kernel_count - 1].arrival_cycle = e->second_after;
    run.launch = &launch;
    for (p = 0; p < e->policy_count && !status; p++) {
        status = corun_together(&run, e->policies[p], alone, &o);
        if (!status) status = add_row(e, number, pair, e->policies[p]->name, &o, table);
    }
    if (!status && e->oracle_cycles) {
        status = run_oracle(e, &run, alone, &o);
        if (!status) status = add_row(e, number, pair, "oracle", &o, table);
    }
    launch_file_free(&launch);
    return status;
}

/* ---- the table ---- */

static const char *const classes[] = {"LS", "NBI", "DBI"};

void pairs_write_header(FILE *file) {
    fputs("pair,first,second,first_class,second_class,policy,first_blocks,second_blocks,first_sms,second_sms,"
          "first_speed,second_speed,hspeedup,wspeedup,network_pct,dram_pct\n",
          file);
}
void pairs_write(FILE *file, const pairs_experiment *e, const pairs_row *row) {
    fprintf(file, "%u,%s,%s,%s,%s,%s,%u,%u,%u,%u,%.4f,%.4f,%.4f,%.4f,%.1f,%.1f\n", row->number,
            e->kernels[row->first].label, e->kernels[row->second].label, classes[row->kinds[0]], classes[row->kinds[1]],
            row->policy, row->blocks[0], row->blocks[1], row->sms[0], row->sms[1], row->speed[0], row->speed[1],
            row->harmonic, row->weighted, row->network, row->dram);
}

/* Returns the index of the kernel with a label. A new kernel is inserted in alphabetical order, and the indices in the
 * rows are adapted. */
static uint32_t kernel_of(pairs_experiment *e, pairs_table *table, const char *label, uint32_t *other) {
    uint32_t k = 0, i;
    while (k < e->kernel_count && strcmp(e->kernels[k].label, label) < 0) k++;
    if (k < e->kernel_count && !strcmp(e->kernels[k].label, label)) return k;
    if (e->kernel_count == PAIRS_KERNELS) return PAIRS_KERNELS;
    memmove(&e->kernels[k + 1], &e->kernels[k], (e->kernel_count++ - k) * sizeof *e->kernels);
    memset(&e->kernels[k], 0, sizeof *e->kernels);
    strcpy(e->kernels[k].label, label);
    for (i = 0; i < table->count; i++) {
        table->rows[i].first += table->rows[i].first >= k;
        table->rows[i].second += table->rows[i].second >= k;
    }
    if (other) *other += *other >= k;
    return k;
}

static uint32_t class_of(const char *name) {
    uint32_t kind = 0;
    while (kind < GPUMP_PARTITION_CLASSES && strcmp(classes[kind], name)) kind++;
    return kind;
}

int pairs_read(FILE *file, const char *name, pairs_experiment *e, pairs_table *table) {
    char line[512];
    unsigned long number = 0;
    while (fgets(line, sizeof line, file)) {
        char labels[2][32], kinds[2][8], behind = 0;
        pairs_row row, *place;
        if (!number++) continue; /* the header */
        memset(&row, 0, sizeof row);
        if (sscanf(line, "%u,%31[^,],%31[^,],%7[^,],%7[^,],%31[^,],%u,%u,%u,%u,%lf,%lf,%lf,%lf,%lf,%lf%c", &row.number,
                   labels[0], labels[1], kinds[0], kinds[1], row.policy, &row.blocks[0], &row.blocks[1], &row.sms[0],
                   &row.sms[1], &row.speed[0], &row.speed[1], &row.harmonic, &row.weighted, &row.network, &row.dram,
                   &behind) != 17 ||
            behind != '\n' || /* a row that was cut, or has a column more */
            (row.kinds[0] = class_of(kinds[0])) == GPUMP_PARTITION_CLASSES ||
            (row.kinds[1] = class_of(kinds[1])) == GPUMP_PARTITION_CLASSES ||
            (row.first = kernel_of(e, table, labels[0], NULL)) == PAIRS_KERNELS ||
            (row.second = kernel_of(e, table, labels[1], &row.first)) == PAIRS_KERNELS) {
            fprintf(stderr, "%s:%lu:1: no row of minigpu pairs --csv\n", name, number);
            return 2;
        }
        if (!(place = append(table))) {
            fputs("minigpu: out of memory for the table of pairs\n", stderr);
            return 1;
        }
        *place = row;
    }
    return 0;
}

static const pairs_row *find(const pairs_table *table, uint32_t number, const char *policy) {
    uint32_t i;
    for (i = 0; i < table->count; i++)
        if (table->rows[i].number == number && !strcmp(table->rows[i].policy, policy)) return &table->rows[i];
    return NULL;
}

uint32_t pairs_mean(const pairs_table *table, const char *policy, double *harmonic, double *weighted) {
    uint32_t i, pairs = 0;
    *harmonic = *weighted = 0;
    for (i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].policy, policy)) continue;
        *harmonic += table->rows[i].harmonic;
        *weighted += table->rows[i].weighted;
        pairs++;
    }
    if (pairs) *harmonic /= pairs, *weighted /= pairs;
    return pairs;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

pairs_ratio pairs_compare(const pairs_table *table, const char *policy, const char *other, const uint32_t *kinds) {
    static double ratios[RESAMPLES];
    pairs_ratio found = {0, 0, 0, 0};
    double over = 0, under = 0;
    uint64_t random = 1;
    uint32_t i, n, drawn = 0, kernels = 0;
    for (i = 0; i < table->count; i++) {
        if (table->rows[i].first >= kernels) kernels = table->rows[i].first + 1;
        if (table->rows[i].second >= kernels) kernels = table->rows[i].second + 1;
    }
    for (n = 0; n <= RESAMPLES; n++) { /* in the first round every kernel counts once */
        uint32_t times[PAIRS_KERNELS] = {0};
        over = under = 0;
        for (i = 0; i < kernels; i++) times[n ? gpump_random_below(&random, kernels) : i]++;
        for (i = 0; i < table->count; i++) {
            const pairs_row *row = &table->rows[i], *beside;
            const double weight = (double)times[row->first] * times[row->second];
            if (strcmp(row->policy, policy) || !(beside = find(table, row->number, other))) continue;
            if (kinds && !(row->kinds[0] == kinds[0] && row->kinds[1] == kinds[1]) &&
                !(row->kinds[1] == kinds[0] && row->kinds[0] == kinds[1]))
                continue;
            found.pairs += n == 0;
            over += weight * row->harmonic;
            under += weight * beside->harmonic;
        }
        if (under <= 0) continue;
        if (n)
            ratios[drawn++] = over / under;
        else
            found.ratio = over / under;
    }
    if (!drawn) found.pairs = 0; /* no pair was drawn */
    if (!drawn) return found;
    qsort(ratios, drawn, sizeof *ratios, by_value);
    found.low = ratios[drawn / 40];
    found.high = ratios[drawn - 1 - drawn / 40];
    return found;
}

void pairs_free(pairs_table *table) {
    free(table->rows);
    memset(table, 0, sizeof *table);
}
