/* analyze: see analyze.h. A kernel is read, described to gpump (analysis.h), and given a machine's registers and
 * preemption points. Each step adds to the report. */
#define _GNU_SOURCE
#include "tools/analyze.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/analysis.h"
#include "launch/launch_file.h"
#include "launch/launch_traces.h"
#include "progress.h"
#include "ptx/kernel_names.h"
#include "ptx/ptx_reader.h"
#include "analysis/sm75_registers.h"
#include "tools/analyze_trace.h"
#include "tools/outputs.h"

#define STATUS_RIGHT 0
#define STATUS_BAD_INPUT 2
#define MAX_DEPTH 16
#define REGISTERS 255u /* of a thread, without --registers */

typedef struct analyze_options {
    const char *kernel; /* the only kernel to analyse; NULL: all */
    uint32_t registers; /* registers of the register file */
    uint32_t csv, survey, listing;
} analyze_options;

/* The report of one kernel. */
typedef struct kernel_report {
    uint32_t basic_blocks, loops, innermost_loops;
    uint32_t live_peak, uninitialised;
    double live_mean;
    gpump_registers_report allocation;
    uint32_t sm75; /* registers per thread that ptxas would allocate for sm_75 (sm75_registers.h); 0: unknown */
    uint32_t points, at_barriers; /* preemption points, and those of them that are barriers */
    double live_at_points;        /* mean live share of the allocated registers at the points */
    double live_diverged;         /* mean live share for a diverged warp */
    gpump_regions_report regions;
    gpump_page_checks_report checks;
    int flush_known;   /* 0: whether a block may be flushed is seen when it runs */
    uint32_t clobbers; /* instructions after which a block cannot be started anew */
} kernel_report;

/* Classes of opcodes, for surveys. The last class holds kernels that are refused for another reason than an opcode. */
enum {
    CLASS_INTEGER,
    CLASS_FLOAT,
    CLASS_DOUBLE,
    CLASS_HALF,
    CLASS_MATRIX,
    CLASS_CONTROL,
    CLASS_CALL,
    CLASS_MEMORY,
    CLASS_ATOMIC,
    CLASS_TEXTURE,
    CLASS_ASYNCHRONOUS,
    CLASS_BARRIER,
    CLASS_WARP,
    CLASS_OTHER,
    CLASSES
};
static const char *const class_names[CLASSES] = {"integers and bits",
                                                 "32-bit floating point",
                                                 "64-bit floating point",
                                                 "16-bit floating point",
                                                 "matrices",
                                                 "branches",
                                                 "calls, run-time library",
                                                 "loads and stores",
                                                 "atomics",
                                                 "textures and surfaces",
                                                 "asynchronous copies, mbarrier",
                                                 "barriers and fences",
                                                 "across the warp",
                                                 "other"};
/* The beginnings of refused opcodes, by class. */
static const struct {
    const char *prefix;
    uint32_t class;
} refused_classes[] = {{"mma", CLASS_MATRIX},      {"wmma", CLASS_MATRIX},     {"wgmma", CLASS_MATRIX},
                       {"ldmatrix", CLASS_MATRIX}, {"stmatrix", CLASS_MATRIX}, {"movmatrix", CLASS_MATRIX},
                       {"tcgen05", CLASS_MATRIX},  {"call", CLASS_CALL},       {"alloca", CLASS_CALL},
                       {"atom", CLASS_ATOMIC},     {"red", CLASS_ATOMIC},      {"multimem", CLASS_ATOMIC},
                       {"tex", CLASS_TEXTURE},     {"tld4", CLASS_TEXTURE},    {"txq", CLASS_TEXTURE},
                       {"su", CLASS_TEXTURE},      {"cp", CLASS_ASYNCHRONOUS}, {"mbarrier", CLASS_ASYNCHRONOUS},
                       {"bar", CLASS_BARRIER},     {"fence", CLASS_BARRIER},   {"membar", CLASS_BARRIER},
                       {"shfl", CLASS_WARP},       {"vote", CLASS_WARP},       {"ld", CLASS_MEMORY},
                       {"st", CLASS_MEMORY},       {"prefetch", CLASS_MEMORY}, {"br", CLASS_CONTROL}};

static uint32_t class_of_refusal(const ptx_refusal *refusal) {
    const char *opcode = refusal->opcode;
    uint32_t i;
    if (!opcode[0]) return CLASS_OTHER;
    for (i = 0; i < sizeof refused_classes / sizeof *refused_classes; i++)
        if (strncmp(opcode, refused_classes[i].prefix, strlen(refused_classes[i].prefix)) == 0)
            return refused_classes[i].class;
    return strstr(opcode, "f16")   ? CLASS_HALF
           : strstr(opcode, "f64") ? CLASS_DOUBLE
           : strstr(opcode, "f32") ? CLASS_FLOAT
                                   : CLASS_INTEGER;
}

static uint32_t class_of(const instruction *i) {
    if (instruction_is_runtime_call(i)) return CLASS_CALL;
    switch (i->opcode) {
    case OPCODE_MMA:
    case OPCODE_MOVMATRIX:
    case OPCODE_LDMATRIX:
    case OPCODE_STMATRIX: return CLASS_MATRIX;
    case OPCODE_COPY:
    case OPCODE_COPY_COMMIT:
    case OPCODE_COPY_WAIT: return CLASS_ASYNCHRONOUS;
    case OPCODE_SULD:
    case OPCODE_SUST:
    case OPCODE_TEX: return CLASS_TEXTURE;
    case OPCODE_ATOM:
    case OPCODE_RED:
        return i->variant == VARIANT_ARRIVE || i->variant == VARIANT_DROP ? CLASS_ASYNCHRONOUS : CLASS_ATOMIC;
    case OPCODE_SHFL:
    case OPCODE_VOTE:
    case OPCODE_MATCH:
    case OPCODE_ACTIVEMASK:
    case OPCODE_ELECT:
    case OPCODE_REDUX:
    case OPCODE_WARPSYNC: return CLASS_WARP;
    case OPCODE_BAR:
    case OPCODE_MEMBAR: return CLASS_BARRIER;
    default: break;
    }
    if (i->unit == UNIT_MEMORY) return CLASS_MEMORY;
    if (i->unit == UNIT_CONTROL) return CLASS_CONTROL;
    if (type_is_half(i->type) || type_is_half(i->source_type)) return CLASS_HALF;
    if (i->type == TYPE_F64 || i->source_type == TYPE_F64) return CLASS_DOUBLE;
    return type_is_float(i->type) || type_is_float(i->source_type) ? CLASS_FLOAT : CLASS_INTEGER;
}

typedef struct totals {
    uint32_t files, unreadable, read, refused, failed;
    uint32_t read_with[CLASSES], refused_for[CLASSES]; /* kernels, by class of opcodes */
    char (*opcodes)[64];                               /* of refusals: the first word of each opcode */
    uint32_t *counts;
    uint32_t kinds, capacity;
    progress shown;       /* the progress of a survey: */
    double at, per_entry; /* the share that is done, and the share of one entry of the current folder */
} totals;

/* ---- one kernel ---- */

static gpump_result count_live(const gpump_program *program, const gpump_liveness *liveness, kernel_report *report) {
    uint32_t instructions = gpump_program_count(program).instructions, i,
             *live = (uint32_t *)calloc(instructions, sizeof *live), needed = 0;
    uint64_t sum = 0;
    gpump_result result =
        live ? gpump_liveness_pressure(liveness, live, NULL, &report->live_peak, NULL) : GPUMP_ERROR_MEMORY;
    for (i = 0; i < instructions && result == GPUMP_OK; i++) sum += live[i];
    report->live_mean = (double)sum / instructions;
    free(live);
    if (result == GPUMP_OK) {
        result = gpump_liveness_uninitialised(liveness, NULL, 0, &needed);
        report->uninitialised = needed;
        if (result == GPUMP_ERROR_CAPACITY) result = GPUMP_OK;
    }
    return result;
}

/* Counts preemption points. Preemption points name registers by number, so the program must be allocated. */
static gpump_result count_points(const gpump_program *allocated, kernel_report *report) {
    gpump_preempt_points_config config;
    gpump_preempt_point *points = NULL;
    gpump_program *placed = NULL;
    uint32_t count = 0, i, registers = report->allocation.registers ? report->allocation.registers : 1;
    gpump_diag diag;
    gpump_result result = gpump_preset(&gpump_preempt_points_component, &config, "lin", NULL);
    if (result != GPUMP_OK) return result;
    result = gpump_preempt_points_place(allocated, &config, &placed, NULL, 0, &count, &diag);
    if (result == GPUMP_ERROR_CAPACITY) {
        points = (gpump_preempt_point *)calloc(count, sizeof *points);
        if (!points) return GPUMP_ERROR_MEMORY;
        result = gpump_preempt_points_place(allocated, &config, &placed, points, count, &count, &diag);
    }
    if (result == GPUMP_OK) {
        report->points = count;
        for (i = 0; i < count; i++) {
            report->live_at_points += (double)points[i].live_registers / registers / count;
            report->live_diverged += (double)points[i].live_diverged / registers / count;
            report->at_barriers += points[i].kind != GPUMP_PREEMPT_PP;
        }
    }
    gpump_program_destroy(placed);
    free(points);
    return result;
}

/* Idempotent regions of a warp (iGPU). */
static gpump_result count_regions(const gpump_program *program, kernel_report *report, gpump_diag *diag) {
    gpump_regions_config config;
    gpump_program *formed = NULL;
    gpump_result result = gpump_preset(&gpump_regions_component, &config, "igpu", NULL);
    if (result == GPUMP_OK) result = gpump_regions_form(program, &config, &formed, &report->regions, diag);
    gpump_program_destroy(formed);
    return result;
}

/* Which instructions end a block's chance to be flushed, as a run decides it when every buffer is given once. */
static gpump_result count_clobbers(const kernel_program *kernel, kernel_report *report, gpump_diag *diag) {
    uint8_t *clobbers = (uint8_t *)calloc(kernel->count + 1u, 1);
    gpump_result result = clobbers ? GPUMP_OK : GPUMP_ERROR_MEMORY;
    uint32_t i;
    report->flush_known = !kernel->uses_textures;
    if (result == GPUMP_OK && report->flush_known) result = analysis_clobbers(kernel, NULL, NULL, clobbers, diag);
    for (i = 0; result == GPUMP_OK && i < kernel->count; i++) report->clobbers += clobbers[i];
    free(clobbers);
    return result;
}

/* Counts the page checks that a kernel would get (Kim). */
static gpump_result count_checks(const gpump_program *program, kernel_report *report, gpump_diag *diag) {
    gpump_page_checks_config config;
    gpump_program *checked = NULL;
    gpump_result result = gpump_preset(&gpump_page_checks_component, &config, "kim", NULL);
    if (result == GPUMP_OK) result = gpump_page_checks_insert(program, &config, &checked, &report->checks, diag);
    gpump_program_destroy(checked);
    return result;
}

static gpump_result report_kernel(const kernel_program *kernel, uint32_t registers, kernel_report *report,
                                  gpump_diag *diag) {
    gpump_registers_config config;
    gpump_liveness *liveness = NULL;
    gpump_program *allocated = NULL;
    gpump_loop loop;
    analysis a;
    uint32_t i;
    gpump_result result;
    memset(report, 0, sizeof *report);
    memset(diag, 0, sizeof *diag);
    if ((result = analysis_create(kernel, &a, diag)) != GPUMP_OK) return result;
    report->basic_blocks = gpump_program_count(a.program).basic_blocks;
    report->loops = gpump_program_count(a.program).loops;
    for (i = 0; i < report->loops; i++) {
        gpump_program_loop(a.program, i, &loop);
        report->innermost_loops += loop.innermost;
    }
    result = gpump_liveness_create(a.program, NULL, &liveness);
    if (result == GPUMP_OK) result = count_live(a.program, liveness, report);
    if (result == GPUMP_OK) result = gpump_preset(&gpump_registers_component, &config, "kepler", NULL);
    config.registers = registers;
    config.predicates = 64;
    if (result == GPUMP_OK)
        result = gpump_registers_allocate(a.program, &config, &allocated, &report->allocation, diag);
    if (result == GPUMP_OK) result = count_points(allocated, report);
    if (result == GPUMP_OK && sm75_registers(kernel, &report->sm75)) report->sm75 = 0;
    if (result == GPUMP_OK) result = count_regions(a.program, report, diag);
    if (result == GPUMP_OK) result = count_clobbers(kernel, report, diag);
    if (result == GPUMP_OK) result = count_checks(a.program, report, diag);
    gpump_program_destroy(allocated);
    gpump_liveness_destroy(liveness);
    analysis_destroy(&a);
    return result;
}

static void print_listing(const kernel_program *kernel) {
    gpump_diag diag;
    gpump_liveness *liveness = NULL;
    uint32_t *live = (uint32_t *)calloc(kernel->count, sizeof *live), i;
    analysis a;
    char text[256];
    if (analysis_create(kernel, &a, &diag) != GPUMP_OK) {
        free(live);
        return;
    }
    if (live && gpump_liveness_create(a.program, NULL, &liveness) == GPUMP_OK &&
        gpump_liveness_pressure(liveness, live, NULL, NULL, NULL) == GPUMP_OK) {
        printf("  %6s %6s %5s  %s\n", "number", "line", "live", "instruction");
        for (i = 0; i < kernel->count; i++) {
            instruction_text(&kernel->instructions[i], text, sizeof text);
            if (i && gpump_program_basic_block_of(a.program, i) != gpump_program_basic_block_of(a.program, i - 1))
                printf("\n");
            printf("  %6u %6u %5u  %s\n", i, kernel->instructions[i].line, live[i], text);
        }
    }
    gpump_liveness_destroy(liveness);
    analysis_destroy(&a);
    free(live);
}

static void print_text(const kernel_program *kernel, const kernel_report *r, uint32_t file) {
    printf("%s (%s)\n", kernel->name, kernel->file_name);
    printf("  instructions       %u in %u basic blocks, %u loops (%u innermost)\n", kernel->count, r->basic_blocks,
           r->loops, r->innermost_loops);
    printf("  registers          %u in PTX and %u predicates; at most %u live at once, %.1f in the mean\n",
           kernel->ptx_registers, kernel->predicates, r->live_peak, r->live_mean);
    printf("  allocated          %u of %u, %u predicates; %u bytes spilled, %u parameters read in place\n",
           r->allocation.registers, file, r->allocation.predicates, r->allocation.spill_bytes, r->allocation.folded);
    if (r->sm75) printf("  on sm_75           %u registers by the model of docs/registers.md\n", r->sm75);
    printf("  memory             %u bytes shared%s, %u local, %u of parameters\n", kernel->shared_bytes,
           kernel->uses_extern_shared ? " and more" : "", kernel->local_bytes, kernel->parameter_bytes);
    printf("  preemption points  %u, %u of them barriers, the others two instructions each; %.0f%% of the registers "
           "live there, %.0f%% when diverged\n",
           r->points, r->at_barriers, 100 * r->live_at_points, 100 * r->live_diverged);
    printf("  regions            %u boundaries between idempotent regions (%u cut memory, %u at barriers and atomics, "
           "%u in loops, %u where warps diverge), %u moves\n",
           r->regions.sparse, r->regions.cuts[GPUMP_CUT_CLOBBER], r->regions.cuts[GPUMP_CUT_FORCED],
           r->regions.cuts[GPUMP_CUT_LOOP], r->regions.cuts[GPUMP_CUT_DIVERGENCE], r->regions.moves);
    printf("  page checks        %u accesses to buffers: %u checked once per page, %u by themselves in loops that "
           "follow pointers, %u one by one\n",
           r->checks.accesses, r->checks.walks, r->checks.predicated, r->checks.plain);
    if (!r->flush_known)
        printf(
            "  flush              until a block overwrites what it has read: seen when it runs, as a texture may be a "
            "buffer that the kernel writes\n");
    else if (r->clobbers)
        printf("  flush              refused once a block has executed one of %u instructions\n", r->clobbers);
    else
        printf("  flush              at any time: no block overwrites what it has read\n");
    if (r->uninitialised)
        printf("  note               %u registers may be read before they are written\n", r->uninitialised);
}

/* Prints a CSV field, quoted where necessary. */
static void print_field(const char *text, char end) {
    if (strpbrk(text, ",\"\n")) {
        putchar('"');
        for (; *text; text++) {
            if (*text == '"') putchar('"');
            putchar(*text);
        }
        putchar('"');
    } else
        fputs(text, stdout);
    putchar(end);
}

static void print_csv_header(void) {
    puts("file,kernel,status,instructions,basic_blocks,loops,ptx_registers,predicates,live_peak,live_mean,registers,"
         "registers_sm75,spill_bytes,shared_bytes,local_bytes,"
         "parameter_bytes,preemption_points,live_at_points,live_diverged,region_boundaries,region_moves,clobbers,"
         "uninitialised,why");
}

static void print_csv(const kernel_program *kernel, const kernel_report *r) {
    print_field(kernel->file_name, ',');
    print_field(kernel->name, ',');
    printf("read,%u,%u,%u,%u,%u,%u,%.2f,%u,%u,%u,%u,%u,%u,%u,%.4f,%.4f,%u,%u,", kernel->count, r->basic_blocks,
           r->loops, kernel->ptx_registers, kernel->predicates, r->live_peak, r->live_mean, r->allocation.registers,
           r->sm75, r->allocation.spill_bytes, kernel->shared_bytes, kernel->local_bytes, kernel->parameter_bytes,
           r->points, r->live_at_points, r->live_diverged, r->regions.sparse, r->regions.moves);
    if (r->flush_known) printf("%u", r->clobbers);
    printf(",%u,\n", r->uninitialised);
}

static void print_csv_refused(const char *file, const char *kernel, const char *status, const char *why) {
    print_field(file, ',');
    print_field(kernel, ',');
    printf("%s,,,,,,,,,,,,,,,,,,,,,", status);
    print_field(why, '\n');
}

/* ---- files and folders ---- */

/* Counts a refusal by its cause: the opcode without its modifiers, or the first words of the message. */
static void count_refusal(totals *all, const ptx_refusal *refusal) {
    char kind[64];
    uint32_t i;
    const char *words = refusal->opcode[0] ? refusal->opcode : "(other)";
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(words, "."), words);
    for (i = 0; i < all->kinds && strcmp(all->opcodes[i], kind) != 0; i++) {}
    if (i == all->kinds) {
        if (all->kinds == all->capacity) {
            uint32_t larger = all->capacity ? all->capacity * 2 : 16;
            void *names = realloc(all->opcodes, larger * sizeof *all->opcodes), *counts;
            if (!names) return;
            all->opcodes = (char(*)[64])names;
            counts = realloc(all->counts, larger * sizeof *all->counts);
            if (!counts) return;
            all->counts = (uint32_t *)counts;
            all->capacity = larger;
        }
        memcpy(all->opcodes[i], kind, sizeof kind);
        all->counts[i] = 0;
        all->kinds++;
    }
    all->counts[i]++;
}

static void analyze_kernel(const kernel_program *kernel, const analyze_options *options, totals *all) {
    kernel_report report;
    gpump_diag diag;
    char text[256];
    gpump_result result = report_kernel(kernel, options->registers, &report, &diag);
    if (result != GPUMP_OK) {
        gpump_diag_text(&diag, text, sizeof text);
        all->failed++;
        if (options->csv)
            print_csv_refused(kernel->file_name, kernel->name, "failed", text);
        else
            printf("%s (%s)\n  cannot be analysed: %s\n", kernel->name, kernel->file_name, text);
        return;
    }
    all->read++;
    uint32_t classes = 0, i;
    for (i = 0; i < kernel->count; i++) classes |= 1u << class_of(&kernel->instructions[i]);
    for (i = 0; i < CLASSES; i++) all->read_with[i] += classes >> i & 1;
    if (options->csv)
        print_csv(kernel, &report);
    else if (!options->survey)
        print_text(kernel, &report, options->registers);
    if (options->listing && !options->csv) print_listing(kernel);
}

static void report_no_kernel(const char *path, const char *name, const ptx_module *module, int several) {
    char list[1024];
    kernel_name_list(module, list, sizeof list);
    if (!name)
        fprintf(stderr, "%s: no kernel in it\n", path);
    else
        fprintf(stderr, "%s: %s is named \"%s\"; it has: %s\n", path, several ? "more than one kernel" : "no kernel",
                name, list);
}

/* Analyses a file. Returns STATUS_BAD_INPUT when the file is not PTX, or when no kernel (of that name) could be
 * read. */
static int analyze_file(const char *path, const analyze_options *options, totals *all) {
    ptx_module module;
    ptx_error error;
    const char *only = NULL; /* the chosen kernel's name in the file */
    uint32_t i, found = 0;
    int several = 0;
    all->files++;
    if (ptx_read_file(path, &module, &error)) {
        all->unreadable++;
        if (options->survey && options->csv)
            print_csv_refused(path, "", "malformed", error.text);
        else
            fprintf(options->survey ? stdout : stderr, "%s\n", error.text);
        return STATUS_BAD_INPUT;
    }
    if (options->kernel) only = kernel_name_find(&module, options->kernel, &several);
    for (i = 0; i < module.kernel_count; i++) {
        if (options->kernel && (!only || strcmp(module.kernels[i].name, only) != 0)) continue;
        if (found++ && !options->csv && !options->survey) printf("\n");
        analyze_kernel(&module.kernels[i], options, all);
    }
    for (i = 0; i < module.refusal_count; i++) {
        if (options->kernel && (!only || strcmp(module.refusals[i].kernel, only) != 0)) continue;
        found++;
        all->refused++;
        count_refusal(all, &module.refusals[i]);
        all->refused_for[class_of_refusal(&module.refusals[i])]++;
        if (options->csv)
            print_csv_refused(path, module.refusals[i].kernel, "refused", module.refusals[i].text);
        else
            printf("%s%s\n", options->survey ? "" : "refused: ", module.refusals[i].text);
    }
    if (!found && !options->survey) report_no_kernel(path, options->kernel, &module, several);
    ptx_free(&module);
    return all->read ? STATUS_RIGHT : STATUS_BAD_INPUT;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Surveys a folder's entries in alphabetical order. */
static void survey_folder(const char *root, const analyze_options *options, totals *all, int depth) {
    DIR *folder = depth < MAX_DEPTH ? opendir(root) : NULL;
    struct dirent *entry;
    char **names = NULL;
    size_t count = 0, i;
    if (!folder) return;
    while ((entry = readdir(folder))) {
        char **grown, *name;
        if (entry->d_name[0] == '.') continue;
        grown = (char **)realloc(names, (count + 1) * sizeof *names);
        if (!grown) break;
        names = grown;
        if (asprintf(&name, "%s/%s", root, entry->d_name) < 0) break;
        names[count++] = name;
    }
    closedir(folder);
    if (count) qsort(names, count, sizeof *names, by_name);
    for (i = 0; i < count; i++) {
        const double begun = all->at, per_entry = all->per_entry;
        struct stat status;
        size_t length = strlen(names[i]);
        progress_show(&all->shown, begun, names[i]);
        all->per_entry /= (double)count;
        if (lstat(names[i], &status) == 0 && S_ISDIR(status.st_mode))
            survey_folder(names[i], options, all, depth + 1);
        else if (length > 4 && strcmp(names[i] + length - 4, ".ptx") == 0)
            analyze_file(names[i], options, all);
        all->per_entry = per_entry;
        all->at = begun + per_entry / (double)count;
        free(names[i]);
    }
    free(names);
}

static void print_totals(const totals *all) {
    uint32_t kernels = all->read + all->refused + all->failed, i;
    printf("%u files, %u of them malformed; %u kernels: %u read", all->files, all->unreadable, kernels, all->read);
    if (kernels) printf(" (%.1f%%)", 100.0 * all->read / kernels);
    printf(", %u refused, %u not analysed\n", all->refused, all->failed);
    printf("  %-30s %8s %8s %8s\n", "kernels with", "read", "refused", "share");
    for (i = 0; i < CLASSES; i++) {
        const uint32_t with = all->read_with[i] + all->refused_for[i];
        if (with)
            printf("  %-30s %8u %8u %7.1f%%\n", class_names[i], all->read_with[i], all->refused_for[i],
                   100.0 * all->read_with[i] / with);
    }
    for (i = 0; i < all->kinds; i++) printf("  refused for %-12s %u\n", all->opcodes[i], all->counts[i]);
}

typedef struct analyze_arguments {
    analyze_options options;
    const char *folder, *svg;
} analyze_arguments;

static const option_row analyze_rows[] = {
    {.name = "kernel",
     .argument = "NAME",
     .kind = OPTION_TEXT,
     .offset = offsetof(analyze_arguments, options.kernel),
     .group = "Options",
     .text = "Only this kernel, by its name in the file or in C++."},
    {.name = "registers",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .low = 2,
     .high = 1024,
     .offset = offsetof(analyze_arguments, options.registers),
     .group = "Options",
     .text = "Allocates onto N 32-bit registers per thread (255)."},
    {.name = "listing",
     .kind = OPTION_FLAG,
     .offset = offsetof(analyze_arguments, options.listing),
     .group = "Options",
     .text = "Prints the decoded instructions, too, with the registers live before each."},
    {.name = "csv",
     .kind = OPTION_FLAG,
     .offset = offsetof(analyze_arguments, options.csv),
     .group = "Options",
     .text = "Prints one line per kernel."},
    {.name = "svg",
     .argument = "OUT.svg",
     .kind = OPTION_OUTPUT,
     .offset = offsetof(analyze_arguments, svg),
     .group = "Options",
     .text = "Of traces: draws each kernel's registers, allocated and live, over the life of its warps."},
    {.name = "survey",
     .argument = "FOLDER",
     .kind = OPTION_FOLDER,
     .offset = offsetof(analyze_arguments, folder),
     .group = "Options",
     .text = "Every .ptx file in FOLDER and below: which kernels can be read, which are refused, and why."},
    {.name = NULL}};
static const option_set analyze_sets[] = {{analyze_rows, 0}, {NULL, 0}};
static const option_rule analyze_rules[] = {
    {"listing csv|survey", NULL, "--listing is for the text of one file: leave --csv and --survey away"},
    {NULL, NULL, NULL}};
static const option_rule *const analyze_rule_arrays[] = {analyze_rules, NULL};

/* Checks the operands. Returns an exit status. */
static int check_operands(const analyze_arguments *a, int operands, char **argv) {
    struct stat state;
    if (a->folder && operands)
        return option_misuse("analyze", "--survey FOLDER stands alone; one too many is", argv[1]);
    if (!a->folder && !operands) return option_misuse("analyze", "which FILE.ptx, or --survey FOLDER?", NULL);
    if (operands > 1) return option_misuse("analyze", "one FILE.ptx; one too many is", argv[2]);
    if (!a->folder || (stat(a->folder, &state) == 0 && S_ISDIR(state.st_mode))) return STATUS_RIGHT;
    fprintf(stderr, "%s: not a folder\n", a->folder);
    return STATUS_BAD_INPUT;
}

static int survey(const analyze_arguments *a, totals *all) {
    progress_begin(&all->shown, "minigpu analyze");
    all->per_entry = 1;
    survey_folder(a->folder, &a->options, all, 0);
    progress_end(&all->shown);
    if (!a->options.csv) print_totals(all);
    if (all->files) return STATUS_RIGHT;
    fprintf(stderr, "%s: no .ptx file in it or below\n", a->folder);
    return STATUS_BAD_INPUT;
}

/* Returns whether the operand is a trace, or a list of traces, by its name or by how it begins. */
static int is_trace(const char *path) {
    char list[1024], beginning[64] = "";
    FILE *file;
    path = launch_traces_in_folder(path, list);
    if (launch_traces_is_one(path)) return 1;
    if ((file = fopen(path, "r"))) {
        if (!fgets(beginning, sizeof beginning, file)) beginning[0] = 0;
        fclose(file);
    }
    return launch_traces_is_list(path, beginning);
}

static int analyze_traces(const char *path, const analyze_arguments *a) {
    char error[LAUNCH_ERROR_BYTES];
    launch_file launch;
    int failed;
    if (a->options.kernel || a->options.registers != REGISTERS || a->options.listing)
        return option_misuse("analyze",
                             "of traces, all kernels are analysed as they were compiled: --csv and --svg alone "
                             "stand beside",
                             path);
    if (launch_file_read(&launch, path, error)) {
        fprintf(stderr, "%s\n", error);
        return STATUS_BAD_INPUT;
    }
    failed = outputs_spare(&launch, &a->svg, 1) || analyze_trace(&launch, a->options.csv != 0, a->svg);
    launch_file_free(&launch);
    return failed ? STATUS_BAD_INPUT : STATUS_RIGHT;
}

static int analyze(const option_command *command, int argc, char **argv) {
    analyze_arguments a;
    totals all;
    int operands, status;
    memset(&a, 0, sizeof a);
    memset(&all, 0, sizeof all);
    a.options.registers = REGISTERS;
    status = options_read(command, argc, argv, &a, &operands);
    if (status != OPTIONS_GO_ON) return status;
    if ((status = check_operands(&a, operands, argv)) != STATUS_RIGHT) return status;
    if (!a.folder && is_trace(argv[1])) return analyze_traces(argv[1], &a);
    if (a.svg)
        return option_misuse("analyze", "--svg draws the registers of traces, not of", a.folder ? a.folder : argv[1]);
    a.options.survey = a.folder != NULL;
    if (a.options.csv) print_csv_header();
    status = a.folder ? survey(&a, &all) : analyze_file(argv[1], &a.options, &all);
    free(all.opcodes);
    free(all.counts);
    return status;
}

const option_command analyze_command = {
    .name = "analyze",
    .what = "what the analyses find in PTX files, and in traces",
    .usage = "minigpu analyze FILE.ptx [options]\nminigpu analyze kernelslist.g [--csv] [--svg OUT.svg]\nminigpu "
             "analyze --survey "
             "FOLDER [--csv]",
    .sets = analyze_sets,
    .rules = analyze_rule_arrays,
    .notes = "exit status: 0 done, 2 bad input, or no kernel could be read",
    .run = analyze,
};
