/* gpump_dpi: gpump_sm and the victim selector behind functions that SystemVerilog calls by DPI-C.
 *
 * gpump_dpi.sv declares the same functions. A handle holds one SM. The file is C99 and C++11, because Verilator
 * compiles it as C++. Only the rooms sm and victim, and the rooms that they need, are compiled. */
#define GPUMP_STATIC
#define GPUMP_IMPLEMENTATION
#define GPUMP_ONLY_SM
#define GPUMP_ONLY_VICTIM
#include "gpump.h"

#include <stdlib.h>
#include <string.h>
#include <svdpi.h>
#ifdef GPUMP_DPI_HEADER /* the simulator's own header of the imported functions: the compiler compares the \
                           declarations */
#include GPUMP_DPI_HEADER
#endif

/* The values that gpump_dpi.sv repeats. */
typedef char gpump_dpi_orders_are_equal[GPUMP_SM_ACTION_STOP == 1 && GPUMP_SM_ACTION_SAVE == 3 &&
                                                GPUMP_SM_ACTION_RESTORE == 4 && GPUMP_SM_ACTION_DROP == 6 &&
                                                GPUMP_SM_ACTION_FREED == 8
                                            ? 1
                                            : -1];
typedef char
    gpump_dpi_states_are_equal[GPUMP_BLOCK_SAVED == 6 && GPUMP_BLOCK_FLUSHED == 8 && GPUMP_BLOCK_DONE == 9 ? 1 : -1];

typedef struct dpi_sm {
    gpump_gpu gpu;
    gpump_sm_config config;
    gpump_sm *sm;
    const gpump_victim_policy *policy;
    gpump_cost_history *histories; /* by kernel */
    gpump_sm_history *saved;       /* by cookie: the history of a block that has left with a context */
    uint32_t kernels, contexts;
    gpump_diag diag;
    char text[256];
} dpi_sm;

/* Keeps the result of a call that fills no diagnostic. */
static int kept(dpi_sm *s, gpump_result result) {
    memset(&s->diag, 0, sizeof s->diag);
    s->diag.code = result;
    return (int)result;
}

static int refused(dpi_sm *s, gpump_result code, const char *field) {
    (void)kept(s, code);
    s->diag.field = field;
    return (int)code;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an SM of the preset `preset`, for kernels 1 to `kernels` and cookies 0 to `contexts` - 1, with the victim
 * policy `policy`. Returns NULL without memory. Any other error shows in gpump_dpi_text, which is empty after success.
 */
void *gpump_dpi_open(const char *preset, const char *policy, int kernels, int contexts) {
    dpi_sm *s = (dpi_sm *)calloc(1, sizeof *s);
    size_t bytes;
    void *memory;
    if (!s || kernels < 1 || contexts < 1) return free(s), (void *)0;
    s->kernels = (uint32_t)kernels, s->contexts = (uint32_t)contexts;
    s->histories = (gpump_cost_history *)calloc(s->kernels + 1, sizeof *s->histories);
    s->saved = (gpump_sm_history *)calloc(s->contexts, sizeof *s->saved);
    s->policy = gpump_victim_find(policy);
    if (!s->policy) return (void)refused(s, GPUMP_ERROR_UNKNOWN_NAME, "policy"), s;
    if (gpump_preset(&gpump_gpu_component, &s->gpu, preset, &s->diag) ||
        gpump_preset(&gpump_sm_component, &s->config, preset, &s->diag))
        return s;
    s->config.waits = GPUMP_SM_WAIT_PIPELINE; /* what the design can report */
    if (gpump_bytes(&gpump_sm_component, &s->config, &bytes, &s->diag)) return s;
    memory = calloc(1, bytes);
    if (memory) (void)gpump_init(&gpump_sm_component, memory, bytes, &s->config, &s->sm, &s->diag);
    return s;
}

void gpump_dpi_close(void *sm) {
    dpi_sm *s = (dpi_sm *)sm;
    if (!s) return;
    free(s->sm);
    free(s->histories);
    free(s->saved);
    free(s);
}

/* The last error as a sentence; empty when there was none. */
const char *gpump_dpi_text(void *sm) {
    dpi_sm *s = (dpi_sm *)sm;
    if (!s) return "there is no memory for the SM, or it has no kernels or contexts";
    s->text[0] = 0;
    if (s->diag.code) gpump_diag_text(&s->diag, s->text, sizeof s->text);
    return s->text;
}

static gpump_block_ref ref(int slot, int generation) {
    gpump_block_ref block;
    block.slot = (uint32_t)slot, block.generation = (uint32_t)generation;
    return block;
}

int gpump_dpi_place(void *sm, long long now, int cookie, int kernel, int threads, int registers, int shared_bytes,
                    int restored, int *slot, int *generation) {
    dpi_sm *s = (dpi_sm *)sm;
    gpump_sm_request request;
    gpump_block_ref block = {0, 0};
    gpump_result result;
    if (cookie < 0 || (uint32_t)cookie >= s->contexts) return refused(s, GPUMP_ERROR_ARGUMENT, "cookie");
    if (kernel < 1 || (uint32_t)kernel > s->kernels) return refused(s, GPUMP_ERROR_ARGUMENT, "kernel");
    memset(&request, 0, sizeof request);
    request.cookie = (uint64_t)cookie;
    request.kernel = (uint32_t)kernel;
    request.need.threads = (uint32_t)threads;
    request.need.registers = (uint32_t)registers;
    request.need.shared_bytes = (uint32_t)shared_bytes;
    result = gpump_sm_place(s->sm, (uint64_t)now, &request, restored ? &s->saved[cookie] : NULL, &block, &s->diag);
    if (result == GPUMP_OK) *slot = (int)block.slot, *generation = (int)block.generation;
    return (int)result;
}

int gpump_dpi_executed(void *sm, int slot, int generation) {
    dpi_sm *s = (dpi_sm *)sm;
    return kept(s, gpump_sm_report_executed(s->sm, ref(slot, generation), 1));
}

int gpump_dpi_done(void *sm, long long now, int slot, int generation) {
    dpi_sm *s = (dpi_sm *)sm;
    return kept(s, gpump_sm_report_done(s->sm, (uint64_t)now, ref(slot, generation)));
}

int gpump_dpi_stopped(void *sm, long long now, int slot, int generation) {
    dpi_sm *s = (dpi_sm *)sm;
    return kept(s, gpump_sm_report_waits(s->sm, (uint64_t)now, ref(slot, generation), 0));
}

int gpump_dpi_dropped(void *sm, long long now, int slot, int generation) {
    dpi_sm *s = (dpi_sm *)sm;
    return kept(s, gpump_sm_report_dropped(s->sm, (uint64_t)now, ref(slot, generation)));
}

int gpump_dpi_saved(void *sm, long long now, int slot, int generation) {
    dpi_sm *s = (dpi_sm *)sm;
    return kept(s, gpump_sm_report_saved(s->sm, (uint64_t)now, ref(slot, generation)));
}

int gpump_dpi_restored(void *sm, long long now, int slot, int generation) {
    dpi_sm *s = (dpi_sm *)sm;
    return kept(s, gpump_sm_report_restored(s->sm, (uint64_t)now, ref(slot, generation)));
}

int gpump_dpi_may_issue(void *sm, int slot) { return gpump_sm_may_issue(((dpi_sm *)sm)->sm, (uint32_t)slot); }

/* The next order. The history of a block that leaves stays here until the block is placed again. */
int gpump_dpi_next(void *sm, long long now, int *order, int *cookie, int *why, int *bytes) {
    dpi_sm *s = (dpi_sm *)sm;
    gpump_sm_action a;
    gpump_result result = GPUMP_EMPTY;
    if (gpump_sm_has_action(s->sm, (uint64_t)now)) result = gpump_sm_next(s->sm, (uint64_t)now, &a);
    *order = *cookie = *why = *bytes = 0;
    if (result) return (int)result;
    *order = (int)a.kind, *cookie = (int)a.cookie, *why = (int)a.why, *bytes = (int)a.bytes;
    if (a.kind == GPUMP_SM_ACTION_FREED) {
        s->saved[a.cookie] = a.history;
        if (a.why == GPUMP_BLOCK_DONE)
            gpump_cost_history_record(&s->histories[a.function], a.history.executed, a.history.cycles);
    }
    return (int)result;
}

/* A counter of the SM by its name, such as "wasted"; -1: there is none of that name. */
long long gpump_dpi_counter(void *sm, const char *name) {
    gpump_sm_statistics statistics;
    const char *known;
    uint64_t value;
    if (gpump_get_statistics(&gpump_sm_component, ((dpi_sm *)sm)->sm, &statistics)) return -1;
    for (uint32_t i = 0; !gpump_statistics_field(&gpump_sm_component, &statistics, i, &known, NULL, NULL, &value); i++)
        if (!strcmp(known, name)) return (long long)value;
    return -1;
}

int gpump_dpi_vacate(void *sm, long long now, int kernel, int limit_us) {
    dpi_sm *s = (dpi_sm *)sm;
    gpump_block_view views[64];
    gpump_cost_estimate estimates[64];
    gpump_block_choice choices[64];
    gpump_victim_request request;
    gpump_victim_question question;
    gpump_victim_decision decision;
    gpump_victim_sm view;
    gpump_result result;
    if (limit_us < 0) return refused(s, GPUMP_ERROR_ARGUMENT, "limit_us");
    memset(&view, 0, sizeof view);
    memset(&question, 0, sizeof question);
    view.blocks = views, view.estimates = estimates;
    question.policy = s->policy, question.request = &request, question.sms = &view, question.sm_count = 1;
    question.choices = choices, question.choice_capacity = 64, question.ask = GPUMP_VICTIM_ASK_VACATE;
    (void)kept(s, GPUMP_OK);
    if ((result = gpump_sm_blocks(s->sm, (uint64_t)now, views, 64, &view.count)) ||
        (result = gpump_victim_request_init(&request, (uint32_t)kernel, 1, (uint64_t)now)))
        return kept(s, result);
    request.limit_cycles = (uint64_t)limit_us * s->gpu.clock_khz / 1000;
    if ((result = gpump_cost_estimate_blocks(&s->config.port, s->histories, s->kernels + 1, views, view.count, NULL,
                                             &s->policy->cost, estimates, &s->diag)) ||
        (result = gpump_victim_decide(&question, &decision, &s->diag)) ||
        (result = gpump_sm_preempt(s->sm, (uint64_t)now, choices, decision.choices, &s->diag)))
        return (int)result;
    return 0;
}

#ifdef __cplusplus
}
#endif
