/* report_csv: see report_csv.h. */
#include "tools/report_csv.h"

#include <inttypes.h>
#include <string.h>

/* Sources of the numbers of a row. */
typedef struct row_facts {
    const machine *m;
    const kernel *k;
    machine_totals totals;
    preemption_summary preemptions;
} row_facts;

static uint64_t kernel_cycles(const row_facts *f) {
    return report_cycle(f->m, f->k->end_cycle) == NEVER ? NEVER : f->k->end_cycle - f->k->ready_cycle;
}

/* The numbers of a row: X(the column's name, its value). NEVER leaves the field empty. */
#define NUMBERS(X)                                              \
    X(sm_count, f->m->sm_count)                                 \
    X(ready_cycle, report_cycle(f->m, f->k->ready_cycle))       \
    X(start_cycle, report_cycle(f->m, f->k->start_cycle))       \
    X(end_cycle, report_cycle(f->m, f->k->end_cycle))           \
    X(cycles, kernel_cycles(f))                                 \
    X(blocks, f->k->blocks)                                     \
    X(warp_instructions, f->k->warp_instructions)               \
    X(thread_instructions, f->k->thread_instructions)           \
    X(wasted_warp_instructions, f->k->wasted_warp_instructions) \
    X(all_cycles, f->totals.cycles)                             \
    X(preemptions, f->preemptions.count)                        \
    X(preemption_cycles_sum, f->preemptions.latency_sum)        \
    X(preemption_cycles_max, f->preemptions.latency_max)        \
    X(saved_bytes, f->totals.saved_bytes)                       \
    X(restored_bytes, f->totals.restored_bytes)                 \
    X(l1_hits, f->totals.l1_hits)                               \
    X(l1_misses, f->totals.l1_misses)                           \
    X(l2_hits, f->totals.l2_hits)                               \
    X(l2_misses, f->totals.l2_misses)                           \
    X(dram_bytes, f->totals.dram_bytes)                         \
    X(network_bytes, f->totals.network_bytes)

const char *report_csv_column(uint32_t index) {
    static const char *const names[] = {"preset", "kernel", "process", "result",
#define COLUMN(name, value) #name,
                                        NUMBERS(COLUMN)
#undef COLUMN
    };
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

void report_csv_text(FILE *file, const char *text) {
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) fprintf(file, *text == '"' ? "\"%c" : "%c", *text);
    fputc('"', file);
}

size_t report_csv_field(const char *line) {
    size_t length = 0;
    while (line[length] == '"') { /* a doubled quote goes on with another quoted part */
        const char *end = strchr(line + length + 1, '"');
        if (!end) break;
        length = (size_t)(end - line) + 1;
    }
    return length + strcspn(line + length, ",\n");
}

static const char *result_name(const run_result *result, uint32_t kernel) {
    static const char *const names[] = {[CHECK_NOTHING_EXPECTED] = "nothing expected",
                                        [CHECK_RIGHT] = "right",
                                        [CHECK_WRONG] = "wrong",
                                        [CHECK_NOT_ENDED] = "not ended",
                                        [CHECK_ABORTED] = "aborted"};
    return result->checks ? names[result->checks[kernel].result] : "not ended";
}

static void print_number(FILE *file, uint64_t value) {
    if (value == NEVER)
        fputc(',', file);
    else
        fprintf(file, ",%" PRIu64, value);
}

void report_csv_rows(const run_result *result, FILE *file) {
    row_facts facts, *f = &facts;
    uint32_t i;
    f->m = result->machine;
    report_totals(f->m, &f->totals);
    report_preemptions(f->m, &f->preemptions);
    for (i = 0; i < f->m->kernel_count; i++) {
        f->k = &f->m->kernels[i];
        fprintf(file, "%s,", f->m->config.preset);
        report_csv_text(file, f->k->program->name);
        fputc(',', file);
        report_csv_text(file, result->launch->processes[f->k->process].name);
        fprintf(file, ",%s", result_name(result, i));
#define PRINT(name, value) print_number(file, value);
        NUMBERS(PRINT)
#undef PRINT
        fputc('\n', file);
    }
}

void report_csv(const run_result *result, FILE *file) {
    uint32_t i;
    for (i = 0; report_csv_column(i); i++) fprintf(file, "%s%s", i ? "," : "", report_csv_column(i));
    fputc('\n', file);
    report_csv_rows(result, file);
}
