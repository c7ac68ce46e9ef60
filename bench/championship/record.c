/* bench/championship_record --split train|test|machine --seed N --out FILE [--moments N] [--only KERNEL] [--parts DIR]:
 * records the corpus of bench/championship from the mini-GPU.
 *
 * An *item* is a machine with one to three resident kernels. Its moments are drawn evenly over the run of its first
 * kernel. At a moment the views of all blocks and the histories are written. Then the machine is forked:
 *
 * - once for each technique: every block that may leave by it does, and no block takes its room. What each block really
 *   took is the truth of a technique.
 * - once for each of three random sets: the guest arrives, and the blocks of random positions leave by random
 *   techniques. Two sets, for all positions and for a third of them, fit how the truth of a set is composed from the
 *   truths of its blocks (compose.h). The third set is written, and tells the error of that fit.
 *
 * The same seed gives the same bytes. With --parts every finished item is kept in a file of that folder, and a run that
 * was interrupted goes on behind the last of them. docs/championship.md has the format. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compose.h"
#include "machine/machine.h"
#include "output.h"
#include "parts/victims/victims.h"
#include "preemption/block_prices.h"
#include "preemption/requests.h"
#include "progress.h"
#include "random_policy.h"
#include "tools/victim_experiment.h"

enum {
    BLOCKS_MAX = 2048,
    FITTED = 2,
    SETS = FITTED + 1,
    TRUTHS = 3,
    NAME_BYTES = 96,
    ITEMS_MAX = 1024,
    LENGTH_US = 200
};
static const char *const machines[] = {"gtx480_shieh", "k20c", "p100", "a100", "h100"};
enum { MACHINES = 5, HELD_OUT = 4 };

/* Kernels with a launch that fills an SM; the odd ones are those of the test split. */
static const char *const kernels[] = {"hotspot",
                                      "pathfinder",
                                      "srad_1",
                                      "srad_2",
                                      "streamcluster",
                                      "kmeans_point",
                                      "stencil",
                                      "btree_find_k",
                                      "bfs_1",
                                      "btree_find_range_k",
                                      "sgemm",
                                      "gemm",
                                      "spmv",
                                      "lbm",
                                      "backprop_layer_forward",
                                      "dwt2d_copy",
                                      "heartwall",
                                      "nw_1",
                                      "histo",
                                      "mri_q",
                                      "lud_internal",
                                      "cfd_compute_flux",
                                      "cutcp",
                                      "tpacf",
                                      "backprop_adjust_weights",
                                      "kmeans_invert_mapping",
                                      "sad_1",
                                      "dwt2d_fdwt53",
                                      "walsh",
                                      "convolution"};
enum { KERNELS = sizeof kernels / sizeof *kernels };

typedef struct item {
    uint32_t machine, kernel, residents, faults;
    char name[NAME_BYTES];
} item;

/* What became of the blocks of one fork. */
typedef struct outcome {
    uint64_t leave[BLOCKS_MAX];    /* cycles until its room was free; NEVER: it had not left when the fork ended */
    uint64_t wasted[BLOCKS_MAX];   /* warp instructions */
    uint8_t technique[BLOCKS_MAX]; /* of a set: which was chosen; GPUMP_TECHNIQUES: it stayed */
    uint8_t is_other[BLOCKS_MAX];  /* of a set: it left by another technique, such as a drain before its save began */
    uint16_t order[BLOCKS_MAX];    /* of a set: its place in the decision */
    uint32_t done;
} outcome;

/* ---- bytes ---- */

typedef struct bytes {
    uint8_t *data;
    size_t count, room;
} bytes;

static void put_bytes(bytes *b, const void *data, size_t count) {
    if (b->count + count > b->room) {
        b->room = 2 * (b->count + count) + 4096;
        b->data = (uint8_t *)realloc(b->data, b->room);
        if (!b->data) exit(2);
    }
    memcpy(b->data + b->count, data, count);
    b->count += count;
}
/* Seven bits per byte, the lowest first; the high bit says that more follow. NEVER is 0, and all else is one larger. */
static void put(bytes *b, uint64_t value) {
    uint8_t code[10];
    size_t n = 0;
    value++;
    do code[n++] = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
    while ((value >>= 7) != 0);
    put_bytes(b, code, n);
}
static void put_text(bytes *b, const char *text) {
    put(b, strlen(text));
    put_bytes(b, text, strlen(text));
}

/* ---- machines ---- */

static int read_kernel(launch_file *launch, const char *name, char error[LAUNCH_ERROR_BYTES]) {
    static const char *const files[] = {"measure", "launch_2", "launch"};
    char path[1024];
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/kernels/%s/%s.yaml", MINIGPU_SOURCE_DIR, name, files[i]);
        if (access(path, R_OK) == 0) break;
    }
    return launch_file_read(launch, path, error);
}

/* Puts another launch behind; the caller decides when it arrives and which priority it has. */
static int append(launch_file *launch, const char *name, char error[LAUNCH_ERROR_BYTES]) {
    launch_file other;
    if (read_kernel(&other, name, error)) return -1;
    if (victim_experiment_append(launch, &other)) return -1;
    return 0;
}

/* Builds the machine of an item: its resident kernels, then the guest, which fills the machine once and waits. */
static machine *build(const item *it, launch_file *launch, char error[LAUNCH_ERROR_BYTES]) {
    machine_options options;
    gpump_gpu gpu;
    gpump_footprint need = {256, it->kernel % 3 == 2 ? 8192u : 4096u, it->kernel % 3 == 1 ? 8192u : 2048u};
    gpump_occupancy fits;
    uint32_t i, first;
    machine *m;
    if (read_kernel(launch, kernels[it->kernel], error)) return NULL;
    for (i = 1; i < it->residents; i++)
        if (append(launch, kernels[(it->kernel + 2 * i) % KERNELS], error)) goto wrong;
    for (i = 0; i < launch->kernel_count; i++) launch->kernels[i].priority = 0, launch->kernels[i].arrival_cycle = 0;
    for (i = 0; i < launch->process_count; i++) launch->processes[i].priority = 0;
    first = launch->kernel_count;
    if (append(launch, "synthetic", error)) goto wrong;
    if (launch->kernel_count != first + 1 || launch->loop_count || launch->pointer_count) {
        snprintf(error, LAUNCH_ERROR_BYTES, "has loops, or buffers of pointers");
        goto wrong;
    }
    gpump_preset(&gpump_gpu_component, &gpu, machines[it->machine], NULL);
    gpump_gpu_occupancy(&gpu, &need, &fits, NULL);
    launch->kernels[first].grid[0] = gpu.sms * fits.blocks;
    launch->kernels[first].override_registers = need.registers;
    launch->kernels[first].override_shared_bytes = need.shared_bytes;
    machine_options_default(&options);
    options.gpu = machines[it->machine];
    options.config = it->residents > 2 ? "kernels_per_sm=4" : it->residents > 1 ? "kernels_per_sm=3" : NULL;
    options.policy = gpump_victim_find("dual"); /* keeps the records of requests; sets bring a policy of their own */
    if (it->faults) {
        options.faults.scheme = "log16";
        options.faults.link = "nvlink";
        for (i = 0; i < launch->buffer_count; i++)
            if (launch->buffers[i].process == 0) launch->buffers[i].owner = GPUMP_FAULT_CPU;
    }
    if ((m = machine_build(launch, &options, error)) != NULL) return m;
wrong:
    launch_file_free(launch);
    return NULL;
}

/* ---- forks ---- */

static uint64_t us(const machine *m, uint64_t microseconds) { return microseconds * m->config.gpu.clock_khz / 1000; }

/* The blocks of all SMs, numbered SM by SM in the order of the views. */
static uint32_t all_blocks(machine *m, block_prices *prices, uint32_t *numbers) {
    uint32_t i, n, total = 0;
    for (i = 0; i < m->sm_count; i++) {
        block_prices_look(m, m->sms[i], &prices[i]);
        for (n = 0; n < prices[i].count && total < BLOCKS_MAX; n++)
            numbers[total++] = m->sms[i]->block_of_entry[prices[i].views[n].block.slot];
    }
    return total;
}

/* Every block that may leave by technique t does, and none comes. */
static void all_leave(machine *m, uint32_t t, const block_prices *prices, const uint32_t *numbers, uint32_t total,
                      outcome *out) {
    const uint32_t guest = m->kernel_count - 1;
    victim_request *r = &victims_of(m)->requests[guest];
    const uint64_t since = m->now;
    static uint32_t entry_of[BLOCKS_MAX];
    uint32_t i, n, at = 0, left;
    r->request.since = r->account_cycle = r->account_end = m->now;
    for (i = 0; i < m->sm_count; i++) {
        gpump_block_choice choices[BLOCK_ENTRIES_MAX];
        uint32_t count = 0;
        memset(choices, 0, sizeof choices);
        for (n = 0; n < prices[i].count && at < total; n++, at++) {
            block *b = &m->blocks[numbers[at]];
            entry_of[at] = GPUMP_NONE;
            if (!(prices[i].views[n].may >> t & 1) || r->count == m->config.gpu.sms * m->config.gpu.block_slots)
                continue;
            choices[count].block = b->ref;
            choices[count++].technique = t;
            entry_of[at] = b->victim = r->count++;
            r->entries[b->victim] = (victim_entry){.linear = b->linear, .kernel = b->kernel, .sm = i, .technique = t};
            r->entries[b->victim].executed = prices[i].views[n].executed;
            r->entries[b->victim].cycles = prices[i].views[n].cycles;
            r->entries[b->victim].end_cycle = NEVER;
        }
        if (preemption_carry_out(m, m->sms[i], NULL, 0, guest + 1) != GPUMP_REASON_YES) return;
        m->sms[i]->whole = 1;
        if (preemption_carry_out(m, m->sms[i], choices, count, guest + 1) != GPUMP_REASON_YES) return;
    }
    do {
        if (machine_run(m, m->now + 500) != 0) break;
        for (i = left = 0; i < r->count; i++) left += r->entries[i].end_cycle == NEVER;
    } while (left && m->now - since < us(m, 120));
    for (at = 0; at < total; at++) {
        const victim_entry *e = entry_of[at] == GPUMP_NONE ? NULL : &r->entries[entry_of[at]];
        const int is_known = e && e->end_cycle != NEVER && e->technique == t;
        out->leave[at] = is_known ? e->end_cycle - since : NEVER;
        out->wasted[at] = is_known ? e->wasted : NEVER;
    }
    out->done = 1;
}

/* The guest arrives with a `share`-th of its blocks, and random blocks leave. */
static void a_set_leaves(machine *m, uint64_t seed, uint32_t share, uint32_t total, outcome *out) {
    const uint32_t guest = m->kernel_count - 1;
    victim_request *r = &victims_of(m)->requests[guest];
    const uint64_t since = m->now;
    uint32_t i, at, left;
    random_policy_state = seed;
    m->policy = &random_policy;
    m->limit_cycles = us(m, 50);
    m->kernels[guest].arrival_cycle = m->now;
    m->kernels[guest].blocks = (m->kernels[guest].blocks + share - 1) / share;
    memset(out->technique, GPUMP_TECHNIQUES, sizeof out->technique);
    do {
        if (machine_run(m, m->now + 500) != 0) break;
        for (i = left = 0; i < r->count; i++) left += r->entries[i].end_cycle == NEVER;
    } while ((left || r->request.since == NEVER) && m->now - since < us(m, 120));
    for (i = 0; i < r->count; i++)
        for (at = 0; at < total; at++) {
            if (out->leave[at] != r->entries[i].linear || out->wasted[at] != r->entries[i].kernel) continue;
            out->technique[at] = (uint8_t)r->entries[i].first_technique;
            out->is_other[at] = r->entries[i].technique != r->entries[i].first_technique;
            out->order[at] = (uint16_t)i;
            out->leave[at] = r->entries[i].end_cycle == NEVER ? NEVER : r->entries[i].end_cycle - since;
            out->wasted[at] = NEVER;
            break;
        }
    for (at = 0; at < total; at++)
        if (out->technique[at] == GPUMP_TECHNIQUES) out->leave[at] = NEVER;
    out->done = !m->failed && r->request.since == since;
}

/* ---- what is written ---- */

static void put_view(bytes *b, const machine *m, const gpump_block_view *v) {
    put(b, v->block.slot), put(b, v->kernel), put(b, v->function), put(b, v->state), put(b, v->executed);
    put(b, m->now - v->start_cycle), put(b, v->cycles), put(b, v->context_bytes), put(b, v->register_base);
    put(b, v->registers), put(b, v->shared_base), put(b, v->shared_bytes), put(b, v->threads), put(b, v->warps);
    put(b, v->may), put(b, v->faults), put(b, v->fault_cycles), put(b, v->fault_stalls);
}

static void put_history(bytes *b, const gpump_cost_history *h) {
    const uint64_t first = h->finished > GPUMP_COST_WINDOW ? h->finished - GPUMP_COST_WINDOW : 0;
    put(b, h->finished);
    for (uint64_t i = first; i < h->finished; i++)
        put(b, h->instructions[i % GPUMP_COST_WINDOW]), put(b, h->cpi[i % GPUMP_COST_WINDOW]);
}

/* The blocks of one fork, for the fit. `t`: the technique of all of them; TRUTHS: as the set had it. */
static void list_set(const block_prices *prices, uint32_t sms, const outcome *o, const outcome *drained, uint32_t t,
                     compose_block *blocks) {
    uint32_t at = 0;
    for (uint32_t s = 0; s < sms; s++)
        for (uint32_t n = 0; n < prices[s].count; n++, at++) {
            compose_block *b = &blocks[at];
            *b = (compose_block){.sm = s, .kernel = prices[s].views[n].kernel - 1, .alone = drained->leave[at]};
            b->bytes = prices[s].views[n].context_bytes;
            b->leave = o->is_other[at] ? NEVER : o->leave[at];
            b->technique = t < TRUTHS ? t : o->technique[at];
            b->order = t < TRUTHS ? n : o->order[at];
            if (t < TRUTHS && b->leave == NEVER) b->technique = GPUMP_TECHNIQUES;
        }
}

/* Writes the composition of this moment: each coefficient times 2^16, and its sign in the lowest bit. */
static void put_model(bytes *b, const block_prices *prices, uint32_t sms, uint32_t total, const outcome *forks) {
    static compose_block blocks[BLOCKS_MAX];
    compose_sums sums;
    compose_model model;
    const double *coefficient = model.save;
    memset(&sums, 0, sizeof sums);
    for (uint32_t f = 0; f < 1 + FITTED; f++) {
        const uint32_t t = f ? TRUTHS : GPUMP_TECHNIQUE_SWITCH;
        list_set(prices, sms, &forks[f ? TRUTHS + f - 1 : t], &forks[GPUMP_TECHNIQUE_DRAIN], t, blocks);
        compose_add(&sums, blocks, total);
    }
    compose_solve(&sums, &model);
    for (uint32_t i = 0; i < COMPOSE_SAVE + COMPOSE_DRAIN; i++, coefficient++) {
        if (i == COMPOSE_SAVE) coefficient = model.drain;
        const double most = 1e9, size = *coefficient < 0 ? -*coefficient : *coefficient;
        put(b, (uint64_t)((size < most ? size : most) * 65536 + 0.5) << 1 | (*coefficient < 0));
    }
}

/* Carries out the truths and the sets in forks. Returns 0, or -1: one of them failed. */
static int carry_out(machine *m, uint64_t seed, const block_prices *prices, const uint32_t *numbers, uint32_t total,
                     outcome *forks) {
    for (uint32_t f = 0; f < TRUTHS + SETS; f++) {
        const uint32_t set = f - TRUTHS, is_third = set == 1 || (set == FITTED && seed & 1);
        pid_t child;
        int status;
        memset(&forks[f], 0, sizeof *forks);
        for (uint32_t at = 0; f >= TRUTHS && at < total;
             at++) { /* the blocks' names, which change once they have left */
            forks[f].leave[at] = m->blocks[numbers[at]].linear;
            forks[f].wasted[at] = m->blocks[numbers[at]].kernel;
        }
        fflush(NULL);
        if ((child = fork()) < 0) exit(2);
        if (!child) {
            if (f < TRUTHS)
                all_leave(m, f, prices, numbers, total, &forks[f]);
            else
                a_set_leaves(m, seed + f, is_third ? 3 : 1, total, &forks[f]);
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || !forks[f].done) return -1;
    }
    return 0;
}

/* Writes a moment, which is now. Returns 1, or 0 when there is nothing to preempt. */
static int put_moment(bytes *b, machine *m, uint64_t seed) {
    static outcome *forks = NULL;
    const uint32_t guest = m->kernel_count - 1;
    block_prices *prices = (block_prices *)calloc(m->sm_count, sizeof *prices);
    uint32_t numbers[BLOCKS_MAX], total, i, n, f, at;
    const outcome *set;
    if (!forks)
        forks = (outcome *)mmap(NULL, (TRUTHS + SETS) * sizeof *forks, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!prices || forks == MAP_FAILED) exit(2);
    total = all_blocks(m, prices, numbers);
    for (i = 0; i < m->sm_count; i++) block_prices_estimate(m, m->sms[i], &m->policy->cost, NULL, &prices[i]);
    if (total < 2 || m->failed || carry_out(m, seed, prices, numbers, total, forks)) return free(prices), 0;
    put(b, m->now);
    for (i = 0; i < guest; i++) put_history(b, &m->histories[i + 1]);
    put_model(b, prices, m->sm_count, total, forks);
    set = &forks[TRUTHS + FITTED];
    for (i = at = 0; i < m->sm_count; i++) {
        put(b, prices[i].count);
        for (n = 0; n < prices[i].count; n++, at++) {
            put_view(b, m, &prices[i].views[n]);
            for (f = 0; f < TRUTHS; f++) put(b, forks[f].leave[at]);
            put(b, forks[GPUMP_TECHNIQUE_SWITCH].wasted[at]);
            put(b, set->technique[at] == GPUMP_TECHNIQUES ? NEVER : set->technique[at]);
            if (set->technique[at] != GPUMP_TECHNIQUES) put(b, set->order[at]), put(b, set->leave[at]);
        }
    }
    free(prices);
    return 1;
}

static void put_head(bytes *b, const machine *m, const item *it) {
    const gpump_gpu *g = &m->config.gpu;
    const kernel *guest = &m->kernels[m->kernel_count - 1];
    put_text(b, it->name), put_text(b, kernels[it->kernel]), put_text(b, machines[it->machine]);
    put(b, it->residents), put(b, it->faults), put(b, m->kernel_count - 1), put(b, m->port.cycles),
        put(b, m->port.bytes);
    put(b, g->shared_bytes[g->shared_option_count - 1]);
    put(b, guest->need.threads), put(b, guest->need.registers), put(b, guest->need.shared_bytes);
}

static int compare(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Records an item. Returns its moments; 0 with a message: none. */
static uint32_t record(const item *it, uint64_t seed, uint32_t moments, bytes *out) {
    char error[LAUNCH_ERROR_BYTES] = "";
    launch_file launch;
    bytes body = {NULL, 0, 0};
    uint64_t times[1024], length, random = seed;
    uint32_t n, written = 0;
    const char *c;
    machine *m;
    for (c = it->name; *c; c++) random = random * UINT64_C(6364136223846793005) + (uint8_t)*c;
    if (!(m = build(it, &launch, error))) return fprintf(stderr, "%s: %s\n", it->name, error), 0;
    /* The guest never comes here, so that the machine stops with an error behind the last resident kernel. */
    while (m->kernels[0].state != KERNEL_DONE && m->now < us(m, LENGTH_US) && machine_run(m, m->now + 5000) == 0) {}
    length = m->kernels[0].state == KERNEL_DONE ? m->kernels[0].end_cycle : m->now;
    if (m->failed && m->kernels[0].state != KERNEL_DONE)
        fprintf(stderr, "%s: %.200s\n", it->name, m->error), length = 0;
    machine_free(m);
    for (n = 0; n < moments; n++) times[n] = length ? gpump_random_next(&random) % length : 0;
    qsort(times, moments, sizeof *times, compare);
    if (length && (launch_file_free(&launch), m = build(it, &launch, error)) != NULL) {
        put_head(&body, m, it);
        {
            bytes rows = {NULL, 0, 0};
            for (n = 0; n < moments && machine_run(m, times[n]) == 0; n++)
                written += (uint32_t)put_moment(&rows, m, random + 101 * n);
            put(&body, written);
            put_bytes(&body, rows.data, rows.count);
            free(rows.data);
        }
        machine_free(m);
    }
    launch_file_free(&launch);
    if (written) put_bytes(out, body.data, body.count);
    free(body.data);
    return written;
}

/* ---- the corpus ---- */

/* Lists the items of a split. The machine that is held out has kernels of both kinds. Returns their number. */
static uint32_t list_items(const char *split, const char *only, item *items) {
    const int is_machine = !strcmp(split, "machine"), is_test = !strcmp(split, "test");
    uint32_t k, g, v, count = 0;
    for (k = 0; k < KERNELS; k++)
        for (g = 0; g < MACHINES; g++)
            for (v = 0; v < 2; v++) { /* alone, or one of: two residents, three, faults */
                item *it = &items[count];
                const uint32_t other = (k / 2 + g) % 3;
                if ((g == HELD_OUT) != is_machine || (!is_machine && (k & 1) != (uint32_t)is_test)) continue;
                if (only && strcmp(only, kernels[k])) continue;
                *it = (item){.machine = g, .kernel = k, .residents = v && other < 2 ? other + 2 : 1};
                it->faults = v && other == 2;
                snprintf(it->name, sizeof it->name, "%s.%s.%u%s", kernels[k], machines[g], it->residents,
                         it->faults ? ".faults" : "");
                count++;
            }
    return count;
}

static int read_part(const char *path, bytes *out) {
    FILE *file = fopen(path, "rb");
    char chunk[4096];
    size_t n;
    if (!file) return 0;
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0) put_bytes(out, chunk, n);
    fclose(file);
    return 1;
}

static int write_file(const char *path, const bytes *b) {
    char next[1100];
    FILE *file;
    snprintf(next, sizeof next, "%s.new", path);
    if (!(file = fopen(next, "wb"))) return -1;
    if (fwrite(b->data ? b->data : (const uint8_t *)"", 1, b->count, file) != b->count) return fclose(file), -1;
    return fclose(file) || rename(next, path) ? -1 : 0;
}

/* Writes magic, number of items, their offsets, the items, and a hash of all that stands before it. */
static int write_corpus(const char *path, const bytes *parts, uint32_t count) {
    bytes all = {NULL, 0, 0};
    uint64_t hash = UINT64_C(14695981039346656037), offset = 0;
    uint32_t i, present = 0;
    int status;
    put_bytes(&all, "gpumpc02", 8);
    for (i = 0; i < count; i++) present += parts[i].count != 0;
    put(&all, present);
    for (i = 0; i < count; offset += parts[i++].count)
        if (parts[i].count) put(&all, offset);
    for (i = 0; i < count; i++)
        if (parts[i].count) put_bytes(&all, parts[i].data, parts[i].count);
    for (i = 0; i < all.count; i++) hash = (hash ^ all.data[i]) * UINT64_C(1099511628211);
    for (i = 0; i < 8; i++) put_bytes(&all, &(uint8_t){(uint8_t)(hash >> 8 * i)}, 1);
    status = write_file(path, &all);
    free(all.data);
    return status;
}

static int usage(FILE *to) {
    fputs("usage: championship_record --split train|test|machine --seed N --out FILE [--moments N] [--only KERNEL]\n"
          "                           [--every N] [--parts DIR] [--shard I/N]\n"
          "  --moments N  so many per machine and set of kernels, 1 to 1000 (4)\n"
          "  --only K     only items whose first kernel is K\n"
          "  --every N    only every N-th item of the split (1)\n"
          "  --parts DIR  keeps each finished item in that folder, and goes on from there\n"
          "  --shard I/N  with --parts: records only items i with i mod N = I, and writes no corpus\n",
          to);
    return to == stdout ? 0 : 2;
}

typedef struct arguments {
    const char *split, *out, *folder, *only;
    uint32_t moments, every, shard, shards;
    uint64_t seed;
} arguments;

static int refuse(const char *option, const char *value, const char *expected) {
    fprintf(stderr, "championship_record: %s needs %s, not \"%s\"; --help lists the options\n", option, expected,
            value);
    return 2;
}

/* Reads a decimal number from 1 to `most`. Returns 0, or 2 after a message. */
static int read_number(const char *option, const char *value, uint64_t most, uint64_t *number) {
    char expected[64], *end;
    errno = 0;
    *number = strtoull(value, &end, 10);
    if (*value >= '0' && *value <= '9' && !*end && !errno && *number >= 1 && *number <= most) return 0;
    snprintf(expected, sizeof expected, "a number from 1 to %llu", (unsigned long long)most);
    return refuse(option, value, expected);
}

/* Reads I/N, where I is below N. Returns 0, or 2 after a message. */
static int read_shard(const char *value, arguments *a) {
    char rest;
    if (*value >= '0' && *value <= '9' && sscanf(value, "%u/%u%c", &a->shard, &a->shards, &rest) == 2 &&
        a->shard < a->shards)
        return 0;
    return refuse("--shard", value, "I/N with I below N");
}

/* Takes an option and its value. Returns 0, or 2 after a message. */
static int take_option(const char *option, const char *value, arguments *a) {
    uint64_t number = 1;
    int status = 0;
    if (!strcmp(option, "--split"))
        a->split = value;
    else if (!strcmp(option, "--out"))
        a->out = value;
    else if (!strcmp(option, "--parts"))
        a->folder = value;
    else if (!strcmp(option, "--only"))
        a->only = value;
    else if (!strcmp(option, "--seed"))
        status = read_number(option, value, UINT64_MAX, &a->seed);
    else if (!strcmp(option, "--every"))
        status = read_number(option, value, ITEMS_MAX, &number), a->every = (uint32_t)number;
    else if (!strcmp(option, "--moments"))
        status = read_number(option, value, 1000, &number), a->moments = (uint32_t)number;
    else if (!strcmp(option, "--shard"))
        status = read_shard(value, a);
    else
        return usage(stderr);
    return status;
}

/* Reads the command line. Returns 0; 1: it asked for help; 2: after a message. */
static int read_arguments(arguments *a, int argc, char **argv) {
    for (int i = 1, status; i < argc; i += 2) {
        if (!strcmp(argv[i], "--help")) return 1;
        if (i + 1 == argc) return usage(stderr);
        if ((status = take_option(argv[i], argv[i + 1], a)) != 0) return status;
    }
    if (!a->split || !a->seed || (!a->out && !(a->folder && a->shards > 1))) return usage(stderr);
    if (strcmp(a->split, "train") && strcmp(a->split, "test") && strcmp(a->split, "machine"))
        return refuse("--split", a->split, "train, test or machine");
    return 0;
}

int main(int argc, char **argv) {
    static item items[ITEMS_MAX];
    static bytes parts[ITEMS_MAX];
    arguments a = {NULL, NULL, NULL, NULL, 4, 1, 0, 1, 0};
    uint32_t count, i;
    uint64_t total = 0;
    progress bar;
    const int status = read_arguments(&a, argc, argv);
    if (status) return status == 1 ? output_status(usage(stdout), "championship_record") : status;
    if (a.folder) mkdir(a.folder, 0777);
    count = list_items(a.split, a.only, items);
    if (!count) return refuse("--only", a.only, "the name of a kernel of the split");
    progress_begin(&bar, "championship_record");
    for (i = 0; i < count; i++) {
        char path[1024] = "";
        if (i % a.every || i / a.every % a.shards != a.shard) continue;
        progress_show(&bar, (double)i / (count ? count : 1), items[i].name);
        if (a.folder) snprintf(path, sizeof path, "%s/%s.%s.%u.part", a.folder, a.split, items[i].name, a.moments);
        if (a.folder && read_part(path, &parts[i])) continue;
        total += record(&items[i], a.seed, a.moments, &parts[i]);
        if (a.folder && write_file(path, &parts[i])) return fprintf(stderr, "cannot write %s\n", path), 1;
    }
    if (a.out && a.shards == 1 && write_corpus(a.out, parts, count))
        return fprintf(stderr, "cannot write %s\n", a.out), 1;
    fprintf(stderr, "%llu moments recorded\n", (unsigned long long)total);
    for (i = 0; i < count; i++) free(parts[i].data);
    return 0;
}
