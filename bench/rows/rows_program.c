/* link: minigpu_core */
/* The compiler half of iGPU: the worked example (a test compares it instruction by instruction) and the idempotent
 * regions of the mini-GPU's kernels when they run (region_runs.h): `igpu4`, launch.yaml (small.yaml with --short),
 * without regions, with sparse regions and their moves, with continuous spilling, and with short regions. */
#define _GNU_SOURCE
#include "studies/region_runs.h"
#include "reproduce.h"

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

/* The figure's kernel. Line 7 is one store whose address is computed in the instruction, because the device code is not
 * printed. */
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
    add(p, GPUMP_OP_CONSTANT, R2, no, no, no, 0, 0, 0); /* 6, line 5 */
    add(p, GPUMP_OP_COMPUTE, P, R2, width, no, 0, 0, 0);
    add(p, GPUMP_OP_BRANCH, no, P, no, no, 0, 0, 16);
    add(p, GPUMP_OP_COMPUTE, T, ROW, R2, no, 0, 0, 0); /* line 6 */
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
        gpump_preset(&gpump_regions_component, &config, "igpu", NULL) != GPUMP_OK ||
        gpump_regions_form(program, &config, &formed, &report, NULL) != GPUMP_OK) {
        reproduce_failed(result, "the analyses failed");
    } else if (!strcmp(id, "I.matmul.live")) {
        reproduce_holds(result,
                        live[place[0]] == 0 && live[place[1]] == 1 && live[place[2]] == 2 && live[place[3]] == 3,
                        "%u %u %u %u; cut %u", live[place[0]], live[place[1]], live[place[2]], live[place[3]], live[6]);
        reproduce_note(result,
                       "before line 6 %u, before line 7 %u: these depend on device code that is not printed (the paper "
                       "has 8 and 5)",
                       live[9], live[16]);
    } else {
        gpump_program_instruction(formed, 6, &boundary);
        gpump_program_instruction(formed, 7, &move);
        reproduce_holds(result,
                        report.sparse == 1 && report.moves == 1 && boundary.operation == GPUMP_OP_BOUNDARY &&
                            move.operation == GPUMP_OP_MOVE && move.uses[0] == R1 && move.defs[0] == REGISTERS &&
                            gpump_program_count(formed).instructions == gpump_program_count(program).instructions + 2,
                        "%u boundary before the loop variable is set, %u move behind it", report.sparse, report.moves);
    }
    gpump_liveness_destroy(liveness);
    gpump_program_destroy(formed);
    gpump_program_destroy(program);
}

/* ---- regions of real kernels ---- */

/* The ways to run a kernel. The paper's total is WAY_ALL; its stacks are WAY_MOVES, WAY_ALL and WAY_SHORT_32. */
enum {
    WAY_NONE,
    WAY_MOVES,
    WAY_ALL,
    WAY_CHANGED,
    WAY_SHORT_16,
    WAY_SHORT_32,
    WAY_SHORT_64,
    WAY_PUBLISHED,     /* cuts for global memory only: unsafe */
    WAY_PUBLISHED_ALL, /* likewise, with all live-ins stored, and with changed ones stored */
    WAY_PUBLISHED_CHANGED,
    WAYS
};
static const uint32_t way_regions[WAYS] = {REGIONS_NONE, REGIONS_SPARSE, REGIONS_SPARSE, REGIONS_SPARSE, 16, 32,
                                           64,           REGIONS_SPARSE, REGIONS_SPARSE, REGIONS_SPARSE};
static const uint32_t way_spilling[WAYS] = {SPILLING_NONE, SPILLING_NONE,   SPILLING_ALL, SPILLING_CHANGED,
                                            SPILLING_ALL,  SPILLING_ALL,    SPILLING_ALL, SPILLING_NONE,
                                            SPILLING_ALL,  SPILLING_CHANGED};

typedef struct outcome {
    char error[LAUNCH_ERROR_BYTES];
    region_run ways[WAYS];
    uint64_t diverged, exact, whole; /* samples of diverged warps; live registers by the stack, by Lin's union */
} outcome;
static outcome outcomes[REGION_KERNELS];
static char names[REGION_KERNELS][64];
static uint32_t kernels, measured;

/* Runs to the end. Every few hundred cycles samples all diverged warps: registers live by the SIMT stack, and by Lin's
 * union. */
static int run_watching(machine *m, void *user) {
    outcome *o = (outcome *)user;
    uint64_t until = 300;
    int ended;
    while ((ended = machine_run(m, until)) == 0) {
        uint32_t i;
        until += 700;
        for (i = 0; m->views && m->views[0] && i < m->warp_count; i++) {
            const warp *w = &m->warps[i];
            uint64_t exact[CONTEXT_LIVE_WORDS], all[CONTEXT_LIVE_WORDS];
            if (w->stack.depth < 2 || w->sm == NONE || context_live_union(m->views[0], &m->kernels[0], w, all))
                continue;
            context_live(m->views[0], &m->kernels[0], w, exact);
            o->diverged++;
            o->exact += gpump_bits_count(exact, CONTEXT_LIVE_WORDS);
            o->whole += gpump_bits_count(all, CONTEXT_LIVE_WORDS);
        }
    }
    return ended;
}

/* Returns whether a kernel belongs to the paper's suite, GPGPU-Sim's: bfs_1 to wp stand for its twelve applications. */
static int in_suite(const char *name) {
    static const char *const suite[] = {"aes",  "bfs_1", "cp",   "dg",  "lib", "lps", "mum", "nn_1",
                                        "nn_2", "nn_3",  "nn_4", "nqu", "ray", "sto", "wp"};
    uint32_t i;
    for (i = 0; i < sizeof suite / sizeof *suite; i++)
        if (!strcmp(name, suite[i])) return 1;
    return 0;
}

/* The results of one kernel as a piece of the experiment: doubles only. */
enum { RUN_VALUES = 5, PIECE_VALUES = WAYS * RUN_VALUES + 4 };
static void write_piece(const outcome *o, double *values) {
    uint32_t way;
    for (way = 0; way < WAYS; way++) {
        const region_run *r = &o->ways[way];
        *values++ = (double)r->cycles;
        *values++ = (double)r->regions;
        *values++ = (double)r->boundaries;
        *values++ = r->median_length;
        *values++ = r->median_live;
    }
    *values++ = (double)o->diverged;
    *values++ = (double)o->exact;
    *values++ = (double)o->whole;
    *values++ = o->error[0] != 0;
}
static void read_piece(outcome *o, const double *values) {
    uint32_t way;
    for (way = 0; way < WAYS; way++) {
        region_run *r = &o->ways[way];
        r->cycles = (uint64_t)*values++;
        r->regions = (uint64_t)*values++;
        r->boundaries = (uint32_t)*values++;
        r->median_length = *values++;
        r->median_live = *values++;
    }
    o->diverged = (uint64_t)*values++;
    o->exact = (uint64_t)*values++;
    o->whole = (uint64_t)*values++;
    if (*values++) snprintf(o->error, sizeof o->error, "its run failed");
}

/* Returns whether a kernel runs in a way. Our kernels outside the suite are only in the notes, so they run only in the
 * ways that these print. */
static int is_run(const char *name, uint32_t way) {
    return in_suite(name) || (way != WAY_SHORT_16 && way != WAY_SHORT_64 && way != WAY_PUBLISHED_CHANGED);
}

static void run_all_ways(const char *name, int is_short, outcome *o) {
    uint32_t way;
    for (way = 0; way < WAYS && !o->error[0]; way++) {
        region_way how;
        if (!is_run(name, way)) continue;
        memset(&how, 0, sizeof how);
        how.regions = way_regions[way];
        how.spilling = way_spilling[way];
        how.lengths = way == WAY_MOVES || way == WAY_PUBLISHED;
        how.published = way >= WAY_PUBLISHED;
        how.run = way == WAY_NONE ? run_watching : NULL;
        how.user = o;
        region_run_kernel(name, is_short, &how, &o->ways[way]);
        snprintf(o->error, sizeof o->error, "%s", o->ways[way].error);
    }
}

/* Measures all kernels. Returns 1 when the suite's kernels are measured; 0: another run has some of them. Notes say how
 * many of our other kernels are measured. */
static int measure_all(const reproduce_context *context, reproduce_result *result) {
    uint32_t i;
    if (!measured) {
        measured = 1;
        kernels = region_kernels(names);
        for (i = 0; i < kernels; i++) {
            double values[PIECE_VALUES];
            char piece[80];
            reproduce_progress(context, (double)i / kernels, names[i]);
            snprintf(piece, sizeof piece, "I.%s", names[i]);
            switch (reproduce_piece(context, piece, values, PIECE_VALUES)) {
            case REPRODUCE_ELSEWHERE:
                if (in_suite(names[i])) measured = 2;
                snprintf(outcomes[i].error, sizeof outcomes[i].error, "not measured");
                break;
            case REPRODUCE_KNOWN: read_piece(&outcomes[i], values); break;
            case REPRODUCE_MEASURE:
                run_all_ways(names[i], context->is_short, &outcomes[i]);
                write_piece(&outcomes[i], values);
                reproduce_piece_measured(context, piece, values, PIECE_VALUES);
            }
        }
    }
    if (measured == 2) reproduce_elsewhere(result);
    return measured == 1;
}

static double overhead(const outcome *o, uint32_t way) {
    return (double)o->ways[way].cycles / (double)o->ways[WAY_NONE].cycles;
}
/* Returns the mean overhead in percent over the kernels of the suite or over the others. *small, unless NULL: the
 * number of kernels under 4%. */
static double mean_overhead(uint32_t way, int suite, uint32_t *small) {
    double product = 0;
    uint32_t i, count = 0, under = 0;
    for (i = 0; i < kernels; i++) {
        if (outcomes[i].error[0] || in_suite(names[i]) != suite) continue;
        product += log(overhead(&outcomes[i], way));
        under += overhead(&outcomes[i], way) < 1.04;
        count++;
    }
    if (small) *small = under;
    return 100 * (exp(product / count) - 1);
}

/* Returns the median over the kernels of the suite or over the others, of lengths, or of registers live at boundaries
 * (only kernels with boundaries). *count: kernels; NAN without any. */
static double median_of(uint32_t way, int suite, int live, uint32_t *count) {
    double values[REGION_KERNELS];
    uint32_t i, n = 0;
    for (i = 0; i < kernels; i++) {
        const region_run *r = &outcomes[i].ways[way];
        if (outcomes[i].error[0] || in_suite(names[i]) != suite || (live && !r->boundaries)) continue;
        values[n++] = live ? r->median_live : r->median_length;
    }
    if (count) *count = n;
    return region_median(values, n);
}

static const char *const published_words = "antidependences through global memory only, each thread by itself, no cuts "
                                           "at barriers and atomics, as the published "
                                           "lengths suggest; unsafe; the text has neither barriers nor shared memory";

static void note_kernels(reproduce_result *result, const char *id, int suite) {
    uint32_t i;
    for (i = 0; i < kernels; i++) {
        const outcome *o = &outcomes[i];
        if (in_suite(names[i]) != suite) continue;
        if (o->error[0])
            reproduce_note(result, "%s is left out: %s", names[i], o->error);
        else if (!strcmp(id, "I.overhead"))
            reproduce_note(result, "%s %+.0f", names[i], 100 * (overhead(o, WAY_ALL) - 1));
        else if (!strcmp(id, "I.size"))
            reproduce_note(result, "%s %g", names[i], o->ways[WAY_MOVES].median_length);
        else if (o->ways[WAY_MOVES].boundaries)
            reproduce_note(result, "%s %g", names[i], o->ways[WAY_MOVES].median_live);
    }
}

static void size(const reproduce_context *context, const char *id, reproduce_result *result) {
    uint32_t count;
    if (!measure_all(context, result)) return;
    reproduce_number(result, median_of(WAY_MOVES, 1, 0, &count), 1);
    reproduce_revised(result);
    reproduce_reading(result, median_of(WAY_PUBLISHED, 1, 0, NULL), 1, "%s", published_words);
    reproduce_note(result, "suite of %u kernels", count);
    note_kernels(result, id, 1);
    reproduce_note(result, "our other kernels %g, as published %g", median_of(WAY_MOVES, 0, 0, &count),
                   median_of(WAY_PUBLISHED, 0, 0, NULL));
    reproduce_note(result, "%u of these", count);
}

static void livein(const reproduce_context *context, const char *id, reproduce_result *result) {
    double exact = 0, whole = 0;
    uint64_t samples = 0;
    uint32_t i, count, others;
    if (!measure_all(context, result)) return;
    for (i = 0; i < kernels; i++) {
        samples += outcomes[i].diverged;
        exact += (double)outcomes[i].exact;
        whole += (double)outcomes[i].whole;
    }
    reproduce_number(result, median_of(WAY_MOVES, 1, 1, &count), 1);
    reproduce_revised(result);
    reproduce_reading(result, median_of(WAY_PUBLISHED, 1, 1, NULL), 1, "%s", published_words);
    reproduce_note(result, "%u kernels of the suite have boundaries", count);
    note_kernels(result, id, 1);
    reproduce_note(result, "our other kernels that have boundaries %g", median_of(WAY_MOVES, 0, 1, &others));
    reproduce_note(result, "%u of these", others);
    if (samples)
        reproduce_note(
            result,
            "beside it, without regions: a diverged warp keeps %.1f registers (%.0f B) by Lin's union over all "
            "enclosing divergences, %.1f (%.0f B) by its SIMT stack, which is exact: %.0f %% less; %llu "
            "samples of all kernels",
            whole / (double)samples, 128 * whole / (double)samples, exact / (double)samples,
            128 * exact / (double)samples, 100 * (1 - exact / whole), (unsigned long long)samples);
}

static void total_overhead(const reproduce_context *context, const char *id, reproduce_result *result) {
    uint32_t small = 0;
    int suite;
    if (!measure_all(context, result)) return;
    reproduce_number(result, mean_overhead(WAY_ALL, 1, NULL), 1);
    reproduce_revised(result);
    reproduce_reading(result, mean_overhead(WAY_PUBLISHED_ALL, 1, NULL), 1, "%s", published_words);
    note_kernels(result, id, 1);
    for (suite = 1; suite >= 0; suite--) {
        const double by_32 = mean_overhead(WAY_SHORT_32, suite, &small);
        uint32_t count;
        (void)median_of(WAY_MOVES, suite, 0, &count);
        if (!count) continue;
        reproduce_note(
            result,
            "%s (%u kernels): all stored %+.1f %%, only changes stored %+.1f %%, boundaries and moves alone, which is "
            "what just-in-time spilling costs until somebody preempts, %+.1f %%; as published %+.1f %%; all "
            "stored and short regions of 32 %+.1f %%, %u kernels of them under 4 %%",
            suite ? "suite" : "our other kernels", count, mean_overhead(WAY_ALL, suite, NULL),
            mean_overhead(WAY_CHANGED, suite, NULL), mean_overhead(WAY_MOVES, suite, NULL),
            mean_overhead(WAY_PUBLISHED_ALL, suite, NULL), by_32, small);
    }
    reproduce_note(result,
                   "suite, short regions of 16 and 64 %+.1f and %+.1f %%, as published and changes only %+.1f %%",
                   mean_overhead(WAY_SHORT_16, 1, NULL), mean_overhead(WAY_SHORT_64, 1, NULL),
                   mean_overhead(WAY_PUBLISHED_CHANGED, 1, NULL));
}

/* Two restart PCs of 4 bytes for each warp that an SM can hold. */
static void restart_pcs(const reproduce_context *context, const char *id, reproduce_result *result) {
    gpump_restart_config config;
    gpump_restart_storage storage;
    (void)context;
    (void)id;
    if (gpump_preset(&gpump_restart_component, &config, "igpu", NULL) != GPUMP_OK ||
        gpump_table_bits(&gpump_restart_component, &config, &storage, NULL) != GPUMP_OK) {
        reproduce_failed(result, "gpump_preset");
        return;
    }
    reproduce_number(result, (double)storage.pc_bits / 8, 0);
    reproduce_note(
        result,
        "the SIMT stack that a boundary writes down beside the PC is not counted; the paper splits warps instead");
}

const reproduce_row rows_program[] = {
    {"I.rpc", restart_pcs}, {"I.matmul.live", matmul}, {"I.matmul.code", matmul},      REPRODUCE_DIVIDED,
    {"I.size", size},       {"I.livein", livein},      {"I.overhead", total_overhead}, {NULL, NULL}};
