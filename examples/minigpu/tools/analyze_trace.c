#include "tools/analyze_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpump_once.h"
#include "sass/trace_reader.h"
#include "tools/report_csv.h"
#include "tools/trace_picture.h"

#define WATCHED_SEGMENTS 32768u /* of 128 bytes that one block may read and write */
#define SEGMENT 128u

/* Adds what is live before the i-th of a warp's `count` instructions. Short warps fill several columns by each. */
static void add_time(trace_report *report, uint32_t i, uint32_t count, uint32_t alive) {
    uint32_t column = (uint32_t)((uint64_t)i * TRACE_TIMES / count);
    do {
        report->time_sum[column] += alive;
        report->time_steps[column]++;
        if (alive > report->time_peak[column]) report->time_peak[column] = alive;
    } while (++column < (uint32_t)((uint64_t)(i + 1) * TRACE_TIMES / count));
}

/* Goes through a warp from its end: a register is live in the lanes that will read it before they write it. */
static void measure_warp(const kernel_program *program, const trace_step *steps, uint32_t count, trace_report *report) {
    trace_live_count live;
    uint32_t i = count;
    memset(&live, 0, sizeof live);
    while (i-- > 0) {
        trace_live_before(&live, program, &steps[i]);
        report->live_sum += live.alive;
        report->thread_steps += gpump_bits_count64(steps[i].mask);
        if (live.alive > report->live_peak) report->live_peak = live.alive;
        add_time(report, i, count, live.alive);
    }
    report->steps += count;
    if (live.alive > report->exposed) report->exposed = live.alive;
}

/* Adds the accesses of one kind of a warp to its block's read set. Returns 1 when a word that it reads is overwritten.
 */
static int watch_warp(const kernel_program *program, const trace_block *b, uint32_t warp, gpump_read_set *set,
                      int stores) {
    uint64_t addresses[32];
    uint32_t i;
    int clobbers = 0;
    for (i = 0; i < b->warps[warp].count; i++) {
        const trace_step *step = &b->warps[warp].shared->steps[i];
        const instruction *in = &program->instructions[step->instruction];
        const uint32_t bytes = instruction_access_bytes(in);
        uint32_t left = step->mask;
        if (step->access == GPUMP_NONE || in->space != SPACE_GLOBAL || !bytes) continue;
        if (in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED) clobbers = 1;
        if ((in->opcode == OPCODE_ST) != stores) continue;
        trace_addresses(trace_reach_of(b, warp, step), step->mask, b->lists, addresses);
        for (; left; left &= left - 1) {
            const uint64_t a = addresses[gpump_bits_lowest64(left)];
            const uint32_t first = (uint32_t)(a % SEGMENT) / 4, last = (uint32_t)(a % SEGMENT + bytes - 1) / 4;
            const uint32_t words = (uint32_t)((UINT64_C(2) << last) - (UINT64_C(1) << first));
            if (stores)
                clobbers |= gpump_read_set_store(set, a - a % SEGMENT, words);
            else
                gpump_read_set_load(set, a - a % SEGMENT, words);
        }
    }
    return clobbers;
}

/* The same for a block. */
static int watch(const kernel_program *program, const trace_block *b, gpump_read_set *set, int stores) {
    uint32_t w;
    int clobbers = 0;
    for (w = 0; w < TRACE_WARPS; w++) clobbers |= watch_warp(program, b, w, set, stores);
    return clobbers;
}

/* Which warp comes first is not in a trace. All loads of a block are therefore taken to come before all its stores. */
static int may_start_anew(const kernel_program *program, const trace_block *b, gpump_read_set *set) {
    gpump_read_set_clear(set);
    return !watch(program, b, set, 0) && !watch(program, b, set, 1);
}

static int measure_kernel(const launch_kernel *k, gpump_read_set *set, trace_report *report) {
    const uint64_t blocks = (uint64_t)k->grid[0] * k->grid[1] * k->grid[2];
    char error[TRACE_ERROR_BYTES];
    uint32_t w;
    memset(report, 0, sizeof *report);
    for (; report->blocks < blocks; report->blocks++) {
        trace_block *b = trace_kernel_block(k->trace, report->blocks, error);
        if (!b) {
            fprintf(stderr, "%s\n", error);
            return -1;
        }
        for (w = 0; w < TRACE_WARPS; w++)
            if (b->warps[w].count)
                measure_warp(&k->trace->program, b->warps[w].shared->steps, b->warps[w].count, report);
        report->anew += (uint64_t)may_start_anew(&k->trace->program, b, set);
        trace_kernel_drop(k->trace, b);
    }
    return 0;
}

/* One character per column: the share of the allocated registers that is live, in tenths. */
static void print_picture(const trace_report *report, uint32_t registers) {
    static const char shades[] = " .:-=+*#%@";
    uint32_t i;
    printf("  [");
    for (i = 0; i < TRACE_TIMES; i++) {
        const uint64_t most = report->time_steps[i] * registers;
        const uint64_t tenth = most ? report->time_sum[i] * 10 / most : 0;
        putchar(shades[tenth < 10 ? tenth : 9]);
    }
    printf("] live registers from the first to the last instruction; @: 90%% and more\n");
}

static void print_row(const launch_kernel *k, const trace_report *r, int csv) {
    const uint32_t registers = k->trace->program.registers, threads = k->block[0] * k->block[1] * k->block[2];
    const double mean = trace_report_mean(r);
    if (csv)
        report_csv_text(stdout, k->name);
    else
        printf("%-28.28s", k->name);
    printf(csv ? ",%" PRIu64 ",%" PRIu64 ",%u,%.2f,%u,%.1f,%u,%.0f,%.1f,%u\n"
               : " %7" PRIu64 " %10" PRIu64 " %9u %6.2f %5u %6.1f%% %9u %9.0f %10.1f%% %9u\n",
           r->blocks, r->steps, registers, mean, r->live_peak, 100 * mean / registers, registers * threads * 4,
           mean * threads * 4, r->blocks ? 100.0 * (double)r->anew / (double)r->blocks : 0, r->exposed);
    if (!csv) print_picture(r, registers);
    if (k->trace->unknown.count)
        fprintf(stderr,
                "%s: %" PRIu64 " instructions have opcodes that the table lacks, such as %s: taken as arithmetic\n",
                k->trace->path, k->trace->unknown.count, k->trace->unknown.opcode);
    if (k->trace->odd_values)
        fprintf(stderr,
                "%s: %" PRIu64
                " lines do not have one value for each lane of each register that they write: the values "
                "are left out\n",
                k->trace->path, k->trace->odd_values);
}

int analyze_trace(const launch_file *launch, int csv, const char *path) {
    const gpump_read_set_config config = {WATCHED_SEGMENTS};
    gpump_read_set *set = NULL;
    trace_picture picture;
    trace_report report;
    size_t bytes = 0;
    void *memory = NULL;
    uint32_t i;
    int failed = 0;
    if (gpump_bytes(&gpump_read_set_component, &config, &bytes, NULL) != GPUMP_OK || !(memory = malloc(bytes)) ||
        gpump_init(&gpump_read_set_component, memory, bytes, &config, &set, NULL) != GPUMP_OK) {
        free(memory);
        fprintf(stderr, "minigpu: out of memory\n");
        return -1;
    }
    if (trace_picture_begin(&picture, path, launch->kernel_count)) {
        free(memory);
        return -1;
    }
    puts(csv ? "kernel,blocks,warp_instructions,allocated,live,live_peak,live_percent,allocated_bytes,live_bytes,"
               "restartable_percent,unwritten"
             : "kernel                        blocks warp instr. allocated   live  peak   share  block, B   live, B "
               "restartable unwritten");
    for (i = 0; i < launch->kernel_count && !failed; i++)
        if (!(failed = measure_kernel(&launch->kernels[i], set, &report))) {
            print_row(&launch->kernels[i], &report, csv);
            trace_picture_add(&picture, &launch->kernels[i], &report);
        }
    free(memory);
    return trace_picture_end(&picture) ? -1 : failed;
}
