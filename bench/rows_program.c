/* link: minigpu_core */
/* The compiler half of iGPU and Kim: the worked examples (tests/340 and 350 compare them instruction by instruction) and,
 * for every kernel folder of the mini-GPU, what idempotent regions look like when they run: `igpu4`, launch.yaml (small.yaml
 * with --short), without regions, with sparse regions and their moves, and with continuous spilling as well. */
#define _GNU_SOURCE
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "context_forms.h"
#include "machine.h"
#include "reproduce.h"
#include "restart.h"

/* ---- iGPU Fig. 3 and 4 ---- */

enum { ROW, COL, R0, R1, R2, T, VA, U, VB, P, REGISTERS, NONE_OF_THEM = 0x3fffffff };

static void add(gpump_program *program, uint32_t operation, uint32_t def, uint32_t a, uint32_t b, uint32_t c,
                uint32_t access, uint32_t object, uint32_t target) {
    gpump_instruction in = gpump_instruction_make(operation);
    uint32_t uses[3];
    in.defs = &def;
    in.def_count = def != NONE_OF_THEM;
    in.uses = uses;
    if (a != NONE_OF_THEM && operation != GPUMP_OP_BRANCH) uses[in.use_count++] = a;
    if (b != NONE_OF_THEM) uses[in.use_count++] = b;
    if (c != NONE_OF_THEM) uses[in.use_count++] = c;
    in.access = access;
    if (access) in.object = object, in.bytes = 4;
    if (operation == GPUMP_OP_BRANCH) {
        in.guard = a == NONE_OF_THEM ? GPUMP_NONE : a;
        if (in.guard != GPUMP_NONE) in.flags = GPUMP_FLAG_GUARD_NEGATED;
        in.target = target;
    }
    (void)gpump_program_add(program, &in, NULL, NULL);
}

/* The figure's kernel; line 7 as one store whose address is made in the instruction, since its device code is not printed. */
static gpump_program *matrix_multiply_accumulate(void) {
    const uint32_t no = NONE_OF_THEM, width = 8 | GPUMP_OPERAND_PARAMETER, data = 16 | GPUMP_OPERAND_PARAMETER;
    gpump_memory_object object = {GPUMP_SPACE_GLOBAL, GPUMP_NONE};
    gpump_program *p;
    uint32_t i, reg;
    if (gpump_program_create(NULL, &p) != GPUMP_OK) return NULL;
    for (i = 0; i < REGISTERS; i++)
        (void)gpump_program_add_register(p, i == P ? GPUMP_WIDTH_PREDICATE : GPUMP_WIDTH_32, &reg, NULL);
    for (i = 0; i < 3; i++) (void)gpump_program_add_object(p, &object, &reg, NULL);
    add(p, GPUMP_OP_COMPUTE, ROW, no, no, no, 0, 0, 0);    /* line 2 */
    add(p, GPUMP_OP_COMPUTE, COL, no, no, no, 0, 0, 0);    /* line 3 */
    add(p, GPUMP_OP_COMPUTE, R0, ROW, width, no, 0, 0, 0); /* line 4 */
    add(p, GPUMP_OP_COMPUTE, R0, R0, COL, no, 0, 0, 0);
    add(p, GPUMP_OP_COMPUTE, R0, R0, data, no, 0, 0, 0);
    add(p, GPUMP_OP_COMPUTE, R1, R0, no, no, GPUMP_ACCESS_READ, 2, 0);
    add(p, GPUMP_OP_CONSTANT, R2, no, no, no, 0, 0, 0);    /* 6, line 5 */
    add(p, GPUMP_OP_COMPUTE, P, R2, width, no, 0, 0, 0);
    add(p, GPUMP_OP_BRANCH, no, P, no, no, 0, 0, 16);
    add(p, GPUMP_OP_COMPUTE, T, ROW, R2, no, 0, 0, 0);     /* line 6 */
    add(p, GPUMP_OP_COMPUTE, VA, T, no, no, GPUMP_ACCESS_READ, 0, 0);
    add(p, GPUMP_OP_COMPUTE, U, COL, R2, no, 0, 0, 0);
    add(p, GPUMP_OP_COMPUTE, VB, U, no, no, GPUMP_ACCESS_READ, 1, 0);
    add(p, GPUMP_OP_COMPUTE, R1, VA, VB, R1, 0, 0, 0);
    add(p, GPUMP_OP_ADD, R2, R2, no, no, 0, 0, 0);
    add(p, GPUMP_OP_BRANCH, no, no, no, no, 0, 0, 7);
    add(p, GPUMP_OP_COMPUTE, no, ROW, R1, COL, GPUMP_ACCESS_WRITE, 2, 0); /* 16, line 7 */
    add(p, GPUMP_OP_EXIT, no, no, no, no, 0, 0, 0);
    if (gpump_program_finish(p, NULL) == GPUMP_OK) return p;
    gpump_program_destroy(p);
    return NULL;
}

static void matmul(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const uint32_t place[4] = {0, 1, 2, 6}; /* before lines 2 to 5 */
    gpump_program *program = matrix_multiply_accumulate(), *formed = NULL;
    gpump_regions_config config;
    gpump_regions_report report;
    gpump_liveness *liveness = NULL;
    gpump_instruction boundary, move;
    uint32_t live[32];
    (void)context;
    if (!program || gpump_liveness_create(program, NULL, &liveness) != GPUMP_OK ||
        gpump_liveness_pressure(liveness, live, NULL, NULL, NULL) != GPUMP_OK ||
        gpump_regions_config_preset(&config, "igpu") != GPUMP_OK ||
        gpump_regions_form(program, &config, &formed, &report, NULL) != GPUMP_OK) {
        reproduce_failed(result, "the analyses failed");
    } else if (!strcmp(id, "I.matmul.live")) {
        reproduce_holds(result, live[place[0]] == 0 && live[place[1]] == 1 && live[place[2]] == 2 && live[place[3]] == 3,
                        "%u %u %u %u; cut %u", live[place[0]], live[place[1]], live[place[2]], live[place[3]], live[6]);
        reproduce_note(
            result,
            "before line 6 %u, before line 7 %u: these depend on device code that is not printed (the paper has 8 and 5)",
            live[9], live[16]);
    } else {
        gpump_program_instruction(formed, 6, &boundary);
        gpump_program_instruction(formed, 7, &move);
        reproduce_holds(result,
                        report.sparse == 1 && report.moves == 1 && boundary.operation == GPUMP_OP_BOUNDARY &&
                            move.operation == GPUMP_OP_MOVE && move.uses[0] == R1 && move.defs[0] == REGISTERS &&
                            gpump_program_instructions(formed) == gpump_program_instructions(program) + 2,
                        "%u boundary before the loop variable is set, %u move behind it", report.sparse, report.moves);
    }
    gpump_liveness_destroy(liveness);
    gpump_program_destroy(formed);
    gpump_program_destroy(program);
}

/* ---- regions of real kernels ---- */

enum { KERNELS = 64, LOG = 4000000 };
typedef struct outcome {
    char name[64], error[LAUNCH_ERROR_BYTES];
    double median_length, median_live, overhead; /* instructions; registers; time with regions over time without */
    uint64_t regions;
    double moves; /* the same with boundaries and moves alone */
    uint64_t diverged, exact, whole; /* samples of diverged warps; registers live by the stack, by Lin's union */
    uint32_t boundaries, cycles[3];
} outcome;
static outcome outcomes[KERNELS];
static uint32_t kernels, measured;

static int by_name(const void *a, const void *b) { return strcmp(((const outcome *)a)->name, ((const outcome *)b)->name); }
static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}
static double median(double *values, size_t count) {
    if (!count) return NAN;
    qsort(values, count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* 32-bit registers live at a boundary, undiverged. */
static double live_at(const machine *m, uint32_t pc) {
    static warp there;
    uint64_t live[CONTEXT_LIVE_WORDS];
    memset(&there, 0, sizeof there);
    there.stack.depth = 1;
    there.stack.entries[0].pc = pc;
    there.stack.entries[0].reconvergence = SIMT_NEVER;
    there.barrier = NONE;
    context_live(m->views[0], &m->kernels[0], &there, live);
    return gpump_bits_count(live, CONTEXT_LIVE_WORDS);
}

/* Runs to the end; every few hundred cycles looks at all diverged warps: registers live by the SIMT stack, and by Lin's
 * union. */
static int run_watching(machine *m, outcome *o) {
    uint64_t until = 300;
    int ended;
    while ((ended = machine_run(m, until)) == 0) {
        uint32_t i;
        until += 700;
        for (i = 0; m->views && m->views[0] && i < m->warp_count; i++) {
            const warp *w = &m->warps[i];
            uint64_t exact[CONTEXT_LIVE_WORDS], all[CONTEXT_LIVE_WORDS];
            if (w->stack.depth < 2 || w->sm == NONE || context_live_union(m->views[0], &m->kernels[0], w, all)) continue;
            context_live(m->views[0], &m->kernels[0], w, exact);
            o->diverged++;
            o->exact += gpump_bits_count(exact, CONTEXT_LIVE_WORDS);
            o->whole += gpump_bits_count(all, CONTEXT_LIVE_WORDS);
        }
    }
    return ended;
}

static void run_kernel(const reproduce_context *context, outcome *o) {
    static region_log_entry *entries;
    uint32_t way;
    for (way = 0; way < 3 && !o->error[0];
         way++) { /* without regions, with them, with live-ins stored and loaded at their starts */
        char path[1024];
        machine_options options;
        launch_file launch;
        machine *m;
        region_log log;
        snprintf(path, sizeof path, "%s/kernels/%.63s/%s.yaml", MINIGPU_SOURCE_DIR, o->name,
                 context->is_short ? "small" : "launch");
        if (launch_file_read(&launch, path, o->error)) return;
        machine_options_default(&options);
        options.gpu = "igpu4";
        options.regions = way ? REGIONS_SPARSE : REGIONS_NONE;
        options.spilling = way == 2 ? SPILLING_ALL : SPILLING_NONE;
        options.context_form = CONTEXT_LIVE; /* nothing is preempted; it makes the live sets available */
        if (!(m = machine_build(&launch, &options, o->error))) {
            launch_file_free(&launch);
            return;
        }
        memset(&log, 0, sizeof log);
        if (!entries) entries = (region_log_entry *)malloc(LOG * sizeof *entries);
        log.entries = entries;
        log.capacity = entries ? LOG : 0;
        if (way == 1) m->region_log = &log;
        if ((way ? machine_run(m, NEVER) : run_watching(m, o)) != 1)
            snprintf(o->error, sizeof o->error, "%s", m->failed ? m->error : "its run did not end");
        m->region_log = NULL;
        o->cycles[way] = (uint32_t)m->now;
        if (way == 1 && !o->error[0]) {
            double *values = (double *)malloc((log.count + 1) * sizeof *values);
            double *live = (double *)malloc((m->kernels[0].program->count + 1u) * sizeof *live);
            uint64_t i, n = 0;
            if (values && live && m->views && m->views[0]) {
                for (i = 0; i < m->kernels[0].program->count; i++)
                    if (m->kernels[0].program->instructions[i].opcode == OPCODE_BOUNDARY) live[i] = live_at(m, (uint32_t)i);

                for (i = 0; i < log.count; i++) values[i] = (double)log.entries[i].instructions;
                o->regions = log.count + log.dropped;
                o->median_length = median(values, log.count);
                for (i = 0; i < log.count; i++)
                    if (log.entries[i].pc != NONE) values[n++] = live[log.entries[i].pc];
                o->median_live = n ? median(values, n) : 0;
                for (i = 0; i < m->kernels[0].program->count; i++)
                    o->boundaries += m->kernels[0].program->instructions[i].opcode == OPCODE_BOUNDARY;
            }
            else snprintf(o->error, sizeof o->error, "out of memory");
            free(values);
            free(live);
        }
        machine_free(m);
        launch_file_free(&launch);
    }
    o->moves = (double)o->cycles[1] / (double)o->cycles[0];
    o->overhead = (double)o->cycles[2] / (double)o->cycles[0];
}

static void measure_all(const reproduce_context *context) {
    DIR *folder = opendir(MINIGPU_SOURCE_DIR "/kernels");
    struct dirent *entry;
    uint32_t i;
    if (measured) return;
    measured = 1;
    while (folder && (entry = readdir(folder)) && kernels < KERNELS) {
        char path[1024];
        if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof outcomes[0].name) continue;
        snprintf(path, sizeof path, "%s/kernels/%s/small.yaml", MINIGPU_SOURCE_DIR, entry->d_name);
        if (access(path, R_OK) == 0) snprintf(outcomes[kernels++].name, sizeof outcomes[0].name, "%s", entry->d_name);
    }
    if (folder) closedir(folder);
    qsort(outcomes, kernels, sizeof *outcomes, by_name);
    for (i = 0; i < kernels; i++) run_kernel(context, &outcomes[i]);
}

static void regions(const reproduce_context *context, const char *id, reproduce_result *result) {
    double values[KERNELS], product = 0, moves = 0, exact = 0, whole = 0;
    uint64_t samples = 0;
    uint32_t i, count = 0, bare = 0;
    measure_all(context);
    for (i = 0; i < kernels; i++) {
        const outcome *o = &outcomes[i];
        if (o->error[0]) {
            reproduce_note(result, "%s is left out: %s", o->name, o->error);
            continue;
        }
        values[count] = !strcmp(id, "I.size") ? o->median_length : o->median_live;
        product += log(o->overhead);
        moves += log(o->moves);
        samples += o->diverged;
        if (o->diverged) {
            exact += (double)o->exact;
            whole += (double)o->whole;
        }
        bare += !o->boundaries;
        if (!strcmp(id, "I.overhead")) reproduce_note(result, "%s %+.1f %%", o->name, 100 * (o->overhead - 1));
        else reproduce_note(result, "%s %g", o->name, values[count]);
        count++;
    }
    if (!count) reproduce_failed(result, "no kernel ran");
    else if (!strcmp(id, "I.overhead")) reproduce_number(result, 100 * (exp(product / count) - 1), 1);
    else reproduce_number(result, median(values, count), 1);
    if (count && !strcmp(id, "I.overhead"))
        reproduce_note(result,
                       "boundaries and moves alone %+.1f %%; live-ins are stored and loaded at every boundary, forced ones "
                       "at barriers too, which the paper does not mention",
                       100 * (exp(moves / count) - 1));
    if (samples && !strcmp(id, "I.livein"))
        reproduce_note(result,
                       "beside it, without regions: a diverged warp keeps %.1f registers (%.0f B) by Lin's union over all "
                       "enclosing divergences, %.1f (%.0f B) by its "
                       "SIMT stack, which is exact: %.0f %% less; %llu samples",
                       whole / (double)samples, 128 * whole / (double)samples, exact / (double)samples,
                       128 * exact / (double)samples, 100 * (1 - exact / whole), (unsigned long long)samples);
    reproduce_note(result, "%u kernels, %u of them one region", count, bare);
}

/* ---- Kim ---- */

/* The two figures, as gpump_page_checks_insert makes them: counted here, compared and run in tests/350_page_checks.c. A
 * check or a call costs what it makes the machine wait for; `wait` cycles for each call fetched, since it is an execution
 * barrier. */
static void page_checks(const reproduce_context *context, const char *id, reproduce_result *result) {
    const int array = !strcmp(id, "K.array");
    const char *const presets[2] = {"kim", "kim_plain"};
    uint32_t way, in_loop[2] = {0, 0}, calls[2] = {0, 0}, checks[2] = {0, 0};
    (void)context;
    for (way = 0; way < 2; way++) {
        gpump_page_checks_config config;
        gpump_page_checks_report report;
        gpump_program *program, *checked = NULL;
        uint32_t i, reg, last = 0, top;
        if (gpump_program_create(NULL, &program) != GPUMP_OK) return;
        for (i = 0; i < 7; i++)
            (void)gpump_program_add_register(program, i == 6 ? GPUMP_WIDTH_PREDICATE : GPUMP_WIDTH_32, &reg, NULL);
        if (array) { /* a[ii] = b[ii] * 2 */
            for (i = 0; i < 4; i++) add(program, GPUMP_OP_CONSTANT, i, NONE_OF_THEM, NONE_OF_THEM, NONE_OF_THEM, 0, 0, 0);
            top = gpump_program_instructions(program);
            add(program, GPUMP_OP_COMPUTE, 4, 1, NONE_OF_THEM, NONE_OF_THEM, GPUMP_ACCESS_READ, GPUMP_NONE, 0);
            add(program, GPUMP_OP_COMPUTE, 5, 4, NONE_OF_THEM, NONE_OF_THEM, 0, 0, 0);
            add(program, GPUMP_OP_COMPUTE, NONE_OF_THEM, 0, 5, NONE_OF_THEM, GPUMP_ACCESS_WRITE, GPUMP_NONE, 0);
            for (i = 0; i < 3; i++) {
                gpump_instruction in = gpump_instruction_make(GPUMP_OP_ADD);
                in.defs = in.uses = &i;
                in.def_count = in.use_count = 1;
                in.immediate = i == 2 ? 1 : 4;
                (void)gpump_program_add(program, &in, NULL, NULL);
            }
            add(program, GPUMP_OP_COMPUTE, 6, 2, 3, NONE_OF_THEM, 0, 0, 0);
        } else { /* sum += p->value; p = p->next */
            add(program, GPUMP_OP_CONSTANT, 1, NONE_OF_THEM, NONE_OF_THEM, NONE_OF_THEM, 0, 0, 0);
            top = gpump_program_instructions(program);
            add(program, GPUMP_OP_COMPUTE, 1, 0, 1, NONE_OF_THEM, GPUMP_ACCESS_READ, GPUMP_NONE, 0);
            add(program, GPUMP_OP_COMPUTE, 0, 0, NONE_OF_THEM, NONE_OF_THEM, GPUMP_ACCESS_READ, GPUMP_NONE, 0);
            add(program, GPUMP_OP_COMPUTE, 6, 0, NONE_OF_THEM, NONE_OF_THEM, 0, 0, 0);
        }
        {
            gpump_instruction in = gpump_instruction_make(GPUMP_OP_BRANCH);
            in.guard = 6;
            in.target = top;
            (void)gpump_program_add(program, &in, NULL, NULL);
        }
        add(program, GPUMP_OP_EXIT, NONE_OF_THEM, NONE_OF_THEM, NONE_OF_THEM, NONE_OF_THEM, 0, 0, 0);
        if (gpump_program_finish(program, NULL) != GPUMP_OK ||
            gpump_page_checks_config_preset(&config, presets[way]) != GPUMP_OK ||
            gpump_page_checks_insert(program, &config, &checked, &report, NULL) != GPUMP_OK) {
            reproduce_failed(result, "the analyses failed");
            gpump_program_destroy(program);
            return;
        }
        for (i = 0; i < gpump_program_instructions(checked); i++) { /* what an iteration executes when no new page comes */
            gpump_instruction in;
            gpump_basic_block block;
            gpump_program_basic_block(checked, gpump_program_basic_block_of(checked, i), &block);
            gpump_program_instruction(checked, i, &in);
            if (block.loop == GPUMP_NONE) continue;
            last = block.loop;
            if (in.operation == GPUMP_OP_PAGE_ENTERED) { /* the four behind its branch and the reset run once per page */
                gpump_program_instruction(checked, i + 1, &in);
                in_loop[way] += 2;
                i = in.target - 1;
                continue;
            }
            in_loop[way]++;
            checks[way] += in.operation == GPUMP_OP_CHECK;
            calls[way] += in.operation == GPUMP_OP_GUARDED_CALL;
        }
        (void)last;
        gpump_program_destroy(checked);
        gpump_program_destroy(program);
    }
    if (array)
        reproduce_holds(result, checks[0] < checks[1] && calls[0] < calls[1],
                        "%u instructions an iteration, no check in it but at a new page; %u and %u checks otherwise",
                        in_loop[0], in_loop[1], checks[1]);
    else
        reproduce_holds(result, calls[0] < calls[1],
                        "%u instructions and no serialising call an iteration; %u and %u calls otherwise", in_loop[0],
                        in_loop[1], calls[1]);
    reproduce_note(
        result, "both run with pages missing in tests/350_page_checks.c, results right; the printed forms are caught there");
}

/* Two restart PCs of 4 bytes for each warp an SM can hold. */
static void restart_pcs(const reproduce_context *context, const char *id, reproduce_result *result) {
    gpump_gpu gpu;
    (void)context;
    (void)id;
    if (gpump_gpu_config_preset(&gpu, "gtx480_shieh") != GPUMP_OK) {
        reproduce_failed(result, "no such GPU");
        return;
    }
    reproduce_number(result, 2.0 * 4 * gpu.warp_slots, 0);
    reproduce_note(result, "the SIMT stack that a boundary writes down beside the PC is not counted; the paper splits warps instead");
}

const reproduce_row rows_program[] = {
    {"I.rpc", restart_pcs}, {"I.matmul.live", matmul}, {"I.matmul.code", matmul},  {"I.size", regions},
    {"I.livein", regions},  {"I.overhead", regions},   {"K.array", page_checks},   {"K.pointer", page_checks},
    {NULL, NULL}};
