/* restart_live_lock: the smallest host of gpump_restart. One warp executes a region in which two instructions raise an
 * exception (iGPU Figure 6): without a cure it never ends, with either cure it does.
 *
 *     build/examples/restart_live_lock          what the warp does, step by step
 *     build/examples/restart_live_lock --svg    the picture of docs/restart.md */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpump.h"
#include "output.h"

enum { LENGTH = 12, FIRST = 3, SECOND = 8, STEPS = 60, CODE_MAX = 64 };
enum { NO_CURE, SPLIT, STEP, CURES };
static const char *const titles[CURES] = {"no cure: each exception undoes the other for ever",
                                          "cure 1: both instructions in regions of their own",
                                          "cure 2: single steps, exceptions emulated in place"};

/* What the warp does in a step. */
enum { EXECUTES, RAISES, EMULATES, CROSSES };
typedef struct event {
    uint32_t pc;          /* as in the program at first */
    uint32_t what, steps; /* steps 1: it executes in single steps */
} event;
typedef struct history {
    event events[STEPS];
    uint32_t count, ended, restarts;
} history;

/* ---- the program: twelve additions between two boundaries ---- */

static int must(gpump_result result) {
    if (result >= GPUMP_OK) return 1;
    fprintf(stderr, "restart_live_lock: %s\n", gpump_result_text(result));
    exit(1);
}

static gpump_program *make_program(void) {
    gpump_program *program;
    uint32_t i, reg;
    must(gpump_program_create(NULL, &program));
    for (i = 0; i < LENGTH; i++) must(gpump_program_add_register(program, GPUMP_WIDTH_32, &reg, NULL));
    for (i = 0; i < LENGTH; i++) {
        gpump_instruction in = gpump_instruction_make(i ? GPUMP_OP_COMPUTE : GPUMP_OP_CONSTANT);
        const uint32_t def = i, use = i ? i - 1 : 0;
        in.defs = &def;
        in.def_count = 1;
        in.uses = &use;
        in.use_count = i != 0;
        must(gpump_program_add(program, &in, NULL, NULL));
    }
    {
        gpump_instruction end = gpump_instruction_make(GPUMP_OP_EXIT);
        must(gpump_program_add(program, &end, NULL, NULL));
    }
    must(gpump_program_finish(program, NULL));
    return program;
}

/* ---- the host ---- */

typedef struct host {
    gpump_restart *restart;
    gpump_program *program;    /* as it is now */
    uint32_t origin[CODE_MAX]; /* of its instructions in the program at first; GPUMP_NONE: put in */
    uint32_t pc;
    history *log;
} host;

static void note(host *h, uint32_t pc, uint32_t what) {
    event *e = &h->log->events[h->log->count++];
    e->pc = pc;
    e->what = what;
    e->steps = gpump_restart_mode_at(h->restart, 0, GPUMP_NONE) == GPUMP_RESTART_STEP;
}

static void boundary(host *h, uint32_t region, uint32_t pc) {
    gpump_restart_frame here = {1, 0, GPUMP_NONE};
    here.pc = pc;
    must(gpump_restart_report_boundary(h->restart, 0, region, &here, 1));
}

/* The dynamic compiler: new code, in which the warp's restart PC is where it was, because the split adds nothing before
 * the region's first instruction. */
static void split(host *h, const gpump_restart_order *order) {
    uint32_t i, first = 0, second = 0, origin[CODE_MAX];
    gpump_program *now;
    for (i = 0; i < gpump_program_count(h->program).instructions; i++) {
        if (h->origin[i] == order->pc) first = i;
        if (h->origin[i] == order->other) second = i;
    }
    must(gpump_regions_split(h->program, first, second, &now, NULL, NULL));
    for (i = 0; i < gpump_program_count(now).instructions && i < CODE_MAX; i++)
        origin[i] = gpump_program_origin(now)[i] == GPUMP_NONE ? GPUMP_NONE : h->origin[gpump_program_origin(now)[i]];
    gpump_program_destroy(h->program);
    h->program = now;
    memcpy(h->origin, origin, sizeof origin);
}

static void go_back(host *h, uint32_t region) {
    gpump_restart_frame there;
    uint32_t depth;
    must(gpump_restart_go_back(h->restart, 0, region, &there, 1, &depth));
    h->pc = there.pc;
    h->log->restarts++;
}

/* Returns 1 when the instruction has to be executed again. */
static int exception(host *h, uint32_t pc, int has_cure) {
    gpump_restart_order order;
    must(gpump_restart_report_exception(h->restart, 0, pc, GPUMP_RESTART_EMULATED, &order));
    if (order.answer == GPUMP_RESTART_IN_PLACE) {
        note(h, pc, EMULATES);
        gpump_restart_report_emulated(h->restart, 0);
        return 0;
    }
    note(h, pc, RAISES);
    if (order.answer == GPUMP_RESTART_SPLIT && has_cure) split(h, &order);
    go_back(h, order.region);
    return 1;
}

static void execute(host *h, int has_cure) {
    while (h->log->count < STEPS) {
        gpump_instruction in;
        const uint32_t pc = h->origin[h->pc];
        gpump_program_instruction(h->program, h->pc, &in);
        if (in.operation == GPUMP_OP_EXIT) {
            h->log->ended = 1;
            return;
        }
        if (in.operation == GPUMP_OP_BOUNDARY) {
            note(h, h->pc + 1 < CODE_MAX && h->origin[h->pc + 1] != GPUMP_NONE ? h->origin[h->pc + 1] : pc, CROSSES);
            boundary(h, GPUMP_RESTART_SHORT, ++h->pc);
            continue;
        }
        if (gpump_restart_mode_at(h->restart, 0, pc) == GPUMP_RESTART_AGAIN) { /* patched */
            note(h, pc, EMULATES);
            gpump_restart_report_emulated(h->restart, 0);
        } else if (pc == FIRST || pc == SECOND) {
            if (exception(h, pc, has_cure)) continue;
        } else {
            note(h, pc, EXECUTES);
        }
        gpump_restart_report_executed(h->restart, 0);
        h->pc++;
    }
}

static void run(uint32_t cure, history *log) {
    static uint64_t memory[64];
    gpump_restart_config config;
    host h;
    uint32_t i;
    memset(&h, 0, sizeof h);
    memset(log, 0, sizeof *log);
    h.log = log;
    h.program = make_program();
    for (i = 0; i < CODE_MAX; i++) h.origin[i] = i <= LENGTH ? i : GPUMP_NONE;
    must(gpump_preset(&gpump_restart_component, &config, "igpu", NULL));
    config.warps = config.frames = 1;
    config.cure = cure == STEP ? GPUMP_RESTART_CURE_STEP : GPUMP_RESTART_CURE_SPLIT;
    must(gpump_init(&gpump_restart_component, memory, sizeof memory, &config, &h.restart, NULL));
    must(gpump_restart_open(h.restart, 0));
    boundary(&h, GPUMP_RESTART_SPARSE, 0);
    execute(&h, cure != NO_CURE);
    gpump_program_destroy(h.program);
}

/* ---- what it says ---- */

static void print_text(uint32_t cure, const history *log) {
    uint32_t i;
    printf("%s\n ", titles[cure]);
    for (i = 0; i < log->count; i++) {
        const event *e = &log->events[i];
        if (e->what == CROSSES)
            printf(" |");
        else
            printf(" %u%s%s", e->pc, e->what == RAISES ? "!" : e->what == EMULATES ? "e" : "", e->steps ? "'" : "");
    }
    printf("\n  %s after %u restarts\n", log->ended ? "ends" : "has not ended", log->restarts);
}

enum { LEFT = 60, WIDE = 12, HIGH = 9, PANEL = 170, TOP = 50 };
static void print_panel(uint32_t cure, const history *log) {
    const uint32_t top = (uint32_t)TOP + cure * PANEL, bottom = top + LENGTH * HIGH;
    uint32_t i;
    printf("<text x=\"%d\" y=\"%u\" font-weight=\"bold\">%s</text>\n", LEFT, top - 12, titles[cure]);
    printf("<rect x=\"%d\" y=\"%u\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>\n", LEFT, top,
           STEPS * WIDE, LENGTH * HIGH);
    for (i = 0; i < 2; i++)
        printf("<text x=\"%d\" y=\"%u\" text-anchor=\"end\">PC %u</text>\n", LEFT - 6,
               bottom - (uint32_t)(i ? SECOND : FIRST) * HIGH - 1, i ? SECOND : FIRST);
    for (i = 0; i < log->count; i++) {
        const event *e = &log->events[i];
        const uint32_t x = LEFT + i * WIDE + WIDE / 2, y = bottom - e->pc * HIGH - HIGH / 2;
        if (e->what == CROSSES)
            printf("<line x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\" stroke=\"#333\" stroke-width=\"2\"/>\n", x, top, x,
                   bottom);
        else
            printf("<circle cx=\"%u\" cy=\"%u\" r=\"%u\" fill=\"%s\"%s/>\n", x, y, e->what == EXECUTES ? 2u : 4u,
                   e->what == RAISES     ? "#c33"
                   : e->what == EMULATES ? "#393"
                                         : "#555",
                   e->steps ? " stroke=\"#36c\" stroke-width=\"1.5\"" : "");
        if (e->what == RAISES)
            printf("<path d=\"M%u %u L%u %u\" stroke=\"#c33\" stroke-dasharray=\"2 2\"/>\n", x, y, x + WIDE,
                   i + 1 < log->count ? bottom - e[1].pc * HIGH - HIGH / 2 : bottom);
    }
    printf("<text x=\"%d\" y=\"%u\" fill=\"#555\">%s after %u restarts</text>\n", LEFT, bottom + 16,
           log->ended ? "ends" : "has not ended", log->restarts);
}

int main(int argc, char **argv) {
    static history logs[CURES];
    const int svg = argc == 2 && !strcmp(argv[1], "--svg");
    uint32_t cure;
    if (argc > 2 || (argc == 2 && !svg)) {
        fprintf(stderr, "usage: restart_live_lock [--svg]\n");
        return 2;
    }
    for (cure = 0; cure < CURES; cure++) run(cure, &logs[cure]);
    if (svg) {
        printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
               "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
               "<text x=\"%d\" y=\"18\">Each dot is an instruction. Red: exception, and the way back; green: emulated; "
               "black: "
               "boundary; blue ring: single step.</text>\n",
               LEFT + STEPS * WIDE + 20, TOP + CURES * PANEL, LEFT);
        for (cure = 0; cure < CURES; cure++) print_panel(cure, &logs[cure]);
        printf("</svg>\n");
    } else {
        for (cure = 0; cure < CURES; cure++) print_text(cure, &logs[cure]);
        printf("\n  number: PC; !: exception, the warp goes back; e: emulated; ': in single steps; |: a boundary\n");
    }
    return output_flush(stdout, "restart_live_lock", "standard output") || logs[NO_CURE].ended || !logs[SPLIT].ended ||
           !logs[STEP].ended;
}
