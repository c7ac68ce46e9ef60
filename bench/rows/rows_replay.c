/* Tanasic's pipeline diagrams on the toy pipeline (examples/toy_pipeline.h): T.exc.fig63, T.exc.fig66. */
#include <string.h>
#include "reproduce.h"
#include "toy_pipeline.h"

/* Writes the stages of one instruction as text, such as "F2 I4 O5 C7". */
static const char *stages(const toy *t, uint32_t i, char text[64]) {
    snprintf(text, 64, "F%llu I%llu O%llu C%llu", (unsigned long long)t->fetched[i], (unsigned long long)t->issued[i],
             (unsigned long long)t->read[i], (unsigned long long)t->committed[i]);
    return text;
}

/* Fig 6.3: the events of its prose. Fig 6.4: the printed rows of letters, in 18 columns. */
static void fig63(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const printed[TOY_FIGURE] = {"FIOEEEEEEEC", "FIOEC", "FIOEC", "FIOEC"};
    static toy baseline, disabled;
    uint32_t same = 0;
    char ld[64], add[64], sub[64];
    const toy *t = &baseline;
    (void)context;
    (void)id;
    if (!toy_figure(&baseline, "stall", 0, 0) || !toy_figure(&disabled, "wd_commit", 0, 0)) {
        reproduce_failed(result, "%s%s", baseline.trouble, disabled.trouble);
        return;
    }
    reproduce_holds(result,
                    t->read[TOY_LD] == 3 && t->issued[TOY_ADD_R2] == t->read[TOY_LD] + 1 &&
                        t->committed[TOY_ADD_R2] == 7 && t->issued[TOY_MUL_R8] > t->committed[TOY_LD] &&
                        t->committed[TOY_SUB_R9] == 8 && t->checked[TOY_LD] == 10,
                    "6.3: ld %s, add %s, sub %s, check of ld %llu", stages(t, TOY_LD, ld), stages(t, TOY_ADD_R2, add),
                    stages(t, TOY_SUB_R9, sub), (unsigned long long)t->checked[TOY_LD]);
    for (uint32_t i = 0; i < TOY_FIGURE; i++) { /* the letters have no gap and end in the right column */
        const char *row = disabled.trace[i] + disabled.fetched[i];
        const uint64_t end = i == TOY_LD ? 11 : 15 + i;
        same += !strncmp(row, printed[i], strlen(printed[i])) && disabled.committed[i] == end &&
                end - disabled.fetched[i] + 1 == strlen(printed[i]);
    }
    reproduce_holds(result, same == TOY_FIGURE, "6.4: %u/4 rows", same);
    reproduce_note(result, "the toy pipeline of examples/replay_pipeline.c; of Fig 6.3 the prose is compared");
}

/* Figs 6.6 and 6.8: the order of events in the text, without and with the fault. */
static void fig66(const reproduce_context *context, const char *id, reproduce_result *result) {
    static toy queue, queue_faults, log, log_faults;
    const toy *q = &queue, *l = &log, *qf = &queue_faults, *lf = &log_faults;
    (void)context;
    (void)id;
    if (!toy_figure(&queue, "queue", 0, 0) || !toy_figure(&queue_faults, "queue", 1, 8) ||
        !toy_figure(&log, "log16", 0, 0) || !toy_figure(&log_faults, "log16", 1, 8)) {
        reproduce_failed(result, "%s%s%s%s", queue.trouble, queue_faults.trouble, log.trouble, log_faults.trouble);
        return;
    }
    reproduce_holds(result,
                    q->issued[TOY_ADD_R2] > q->checked[TOY_LD] && q->issued[TOY_MUL_R8] > q->committed[TOY_LD] &&
                        q->committed[TOY_SUB_R9] < q->checked[TOY_LD],
                    "6.6: sub C%llu, check of ld %llu, add I%llu, ld C%llu, mul I%llu",
                    (unsigned long long)q->committed[TOY_SUB_R9], (unsigned long long)q->checked[TOY_LD],
                    (unsigned long long)q->issued[TOY_ADD_R2], (unsigned long long)q->committed[TOY_LD],
                    (unsigned long long)q->issued[TOY_MUL_R8]);
    reproduce_holds(result,
                    qf->issues[TOY_LD] == 2 && qf->issues[TOY_SUB_R9] == 1 &&
                        qf->issued[TOY_LD] < qf->issued[TOY_ADD_R2] && qf->issued[TOY_LD] < qf->issued[TOY_MUL_R8] &&
                        qf->committed[TOY_SUB_R9] < 10,
                    "after the fault ld, add, mul, not sub");
    reproduce_holds(result,
                    l->issued[TOY_ADD_R2] == l->read[TOY_LD] + 1 && l->issued[TOY_MUL_R8] > l->committed[TOY_LD] &&
                        l->committed[TOY_ADD_R2] < l->checked[TOY_LD] && l->committed[TOY_SUB_R9] < l->checked[TOY_LD],
                    "6.8: add I%llu C%llu, sub C%llu, mul I%llu", (unsigned long long)l->issued[TOY_ADD_R2],
                    (unsigned long long)l->committed[TOY_ADD_R2], (unsigned long long)l->committed[TOY_SUB_R9],
                    (unsigned long long)l->issued[TOY_MUL_R8]);
    reproduce_holds(result, lf->issues[TOY_LD] == 2 && lf->issues[TOY_ADD_R2] == 1 && lf->issues[TOY_SUB_R9] == 1,
                    "after the fault ld from the log and mul, not add, not sub");
}

const reproduce_row rows_replay[] = {{"T.exc.fig63", fig63}, {"T.exc.fig66", fig66}, {NULL, NULL}};
