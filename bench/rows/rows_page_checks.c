/* link: minigpu_core */
/* Kim's two figures on the mini-GPU (launch.yaml of array_walk and pointer_chase; small.yaml with --short). The program
 * that gpump_page_checks_insert makes is compared with the corrected figure, instruction by instruction. Then the
 * program runs with all pages present and with none, against a check and a serialising call before every access. */
#include <string.h>

#include "analysis/analysis.h"
#include "tools/check.h"
#include "machine/machine.h"
#include "reproduce.h"

/* From the loop's entry to behind the loop. r0:r1 walks through b, r4:r5 through a. p0 and p1: still on the page that
 * was checked last (false). p2: the page fault bit (pfbt). */
static const char *const figure_1[] = {"mov.pred p0, 1", /* the first iteration checks */
                                       "mov.pred p1, 1",
                                       "@!p0 page.entered p0, [r0:r1], 0x1000, 256", /* 13: loop */
                                       "@!p0 bra 20 (joins at 20)",
                                       "mov.pred p0, 0",
                                       "start_marker", /* 16: pfchk(b) */
                                       "mov.pred p2, 0",
                                       "pfchk.global.b32 p2, [r0:r1]",
                                       "@p2 sw_call 16 (joins at 20)",
                                       "ld.global.f32 r6, [r0:r1]", /* 20 */
                                       "add.f32 r6, r6, r6",
                                       "@!p1 page.entered p1, [r4:r5], 0x1000, 256",
                                       "@!p1 bra 29 (joins at 29)",
                                       "mov.pred p1, 0",
                                       "start_marker", /* 25: pfchk(a), as a store */
                                       "mov.pred p2, 0",
                                       "pfchk.global.write.b32 p2, [r4:r5]",
                                       "@p2 sw_call 25 (joins at 29)",
                                       "st.global.f32 [r4:r5], r6", /* 29 */
                                       "add.s64 r4:r5, r4:r5, 256",
                                       "add.s64 r0:r1, r0:r1, 256",
                                       "setp.lt.u64 p2, r0:r1, r2:r3",
                                       "@p2 bra 13 (joins at 34)",
                                       NULL};
/* r0 is p, r1 is the sum, param[0] points to the nodes. p0 and p1: the page fault bits of the two loads. */
static const char *const figure_2[] = {"start_marker", /* 16 */
                                       "mov.pred p0, 0",
                                       "mov.pred p1, 0",
                                       "cvt.u64.u32 r4:r5, r0", /* 19: loop */
                                       "add.s64 r4:r5, param[0], r4:r5",
                                       "ld.pfchk.global.u32 r6, p0, [r4:r5]", /* the value */
                                       "add.s32 r6, r6, r1",
                                       "ld.pfchk.global.u32 r4, p1, [r4:r5+4]", /* the link */
                                       "setp.ne.s32 p2, r4, 0",
                                       "@p1 mov.pred p0, 1",
                                       "@!p0 mov.b32 r0, r4", /* neither faulted: the iteration counts */
                                       "@!p0 mov.b32 r1, r6",
                                       "@p0 mov.pred p2, 0", /* otherwise leave */
                                       "@p2 bra 19 (joins at 30)",
                                       "@p0 sw_call 16 (joins at 31)",
                                       NULL};

/* Returns whether the whole figure is in the program. */
static int holds_figure(const kernel_program *program, const char *const *lines) {
    char text[256];
    uint32_t first, i;
    for (first = 0; first < program->count; first++) {
        for (i = 0; lines[i] && first + i < program->count; i++) {
            instruction_text(&program->instructions[first + i], text, sizeof text);
            if (strcmp(text, lines[i])) break;
        }
        if (!lines[i]) return 1;
    }
    return 0;
}

typedef struct outcome {
    char error[LAUNCH_ERROR_BYTES]; /* why the program did not run, or is wrong */
    int as_figure;
    uint64_t cycles, checks, calls, absent, served;
} outcome;

static outcome run(const reproduce_context *context, const char *name, uint32_t form, const char *absent,
                   const char *const *figure) {
    char path[1024];
    machine_options options;
    launch_file launch;
    outcome o;
    machine *m;
    memset(&o, 0, sizeof o);
    snprintf(path, sizeof path, "%s/kernels/%s/%s.yaml", MINIGPU_SOURCE_DIR, name,
             context->is_short ? "small" : "launch");
    if (launch_file_read(&launch, path, o.error)) return o;
    machine_options_default(&options);
    options.page_checks = form;
    options.absent = absent;
    if ((m = machine_build(&launch, &options, o.error))) {
        (void)check_run_one(m, &launch, o.error);
        o.as_figure = holds_figure(m->kernels[0].program, figure);
        o.cycles = m->now;
        o.checks = m->kernels[0].counted[COUNTED_CHECK];
        o.calls = m->kernels[0].counted[COUNTED_CALL];
        o.absent = m->page_faults.absent;
        o.served = m->page_faults.served;
        machine_free(m);
    }
    launch_file_free(&launch);
    return o;
}

static void page_checks(const reproduce_context *context, const char *id, reproduce_result *result) {
    const int array = !strcmp(id, "K.array");
    const char *name = array ? "array_walk" : "pointer_chase", *const *figure = array ? figure_1 : figure_2;
    const outcome without = run(context, name, PAGE_CHECKS_NONE, NULL, figure),
                  every = run(context, name, PAGE_CHECKS_EVERY, NULL, figure),
                  kim = run(context, name, PAGE_CHECKS_KIM, NULL, figure),
                  every_absent = run(context, name, PAGE_CHECKS_EVERY, "all", figure),
                  kim_absent = run(context, name, PAGE_CHECKS_KIM, "all", figure);
    const outcome *all[5] = {&without, &every, &kim, &every_absent, &kim_absent};
    uint32_t i;
    for (i = 0; i < 5; i++)
        if (all[i]->error[0]) {
            reproduce_failed(result, "%s", all[i]->error);
            return;
        }
    reproduce_holds(result,
                    kim.as_figure && kim_absent.served && every_absent.served && kim.cycles < every.cycles &&
                        (array ? kim.checks < every.checks : kim.calls < every.calls),
                    "right; %llu faults served; %llu %s against %llu, %llu cycles against %llu",
                    (unsigned long long)kim_absent.served, (unsigned long long)(array ? kim.checks : kim.calls),
                    array ? "checks" : "calls", (unsigned long long)(array ? every.checks : every.calls),
                    (unsigned long long)kim.cycles, (unsigned long long)every.cycles);
    if (!kim.as_figure) reproduce_note(result, "the program differs from the figure");
    reproduce_note(result,
                   "warp instructions of %s that check (or may call), and cycles, all pages being there; %llu cycles "
                   "without checks; when all %llu "
                   "pages are absent at first %llu cycles against %llu; the printed forms are caught in "
                   "tests/minigpu/page_checks_run.c",
                   name, (unsigned long long)without.cycles, (unsigned long long)kim_absent.absent,
                   (unsigned long long)kim_absent.cycles, (unsigned long long)every_absent.cycles);
}

const reproduce_row rows_page_checks[] = {{"K.array", page_checks}, {"K.pointer", page_checks}, {NULL, NULL}};
