/* link: minigpu_core */
/* Lin 4.5.1: the mean HSpeedup of ccbp beside its rivals, on pairs of the kernels fitted to Table 4.2. Readings:
 * docs/papers.md, "Kernels that share an SM". */
#include <string.h>

#include "gpump_once.h"
#include "reproduce.h"
#include "tools/pairs.h"

static const char *const policies[] = {"smk", "ws", "ws+dai", "ccbp"};
enum { POLICIES = sizeof policies / sizeof *policies };

/* The second reading: ccbp whose latency-sensitive kernels get no rate (4.5.2, objective 2: over-subscription "by the
 * bandwidth-intensive kernels" is what rates avoid; Fig. 4.5). */
static void exempt_decide(const gpump_partition_args *args, gpump_partition_share *shares) {
    gpump_partition_request request = *args->request;
    gpump_partition_args exempt = *args;
    request.flags |= GPUMP_PARTITION_EXEMPT_LATENCY;
    exempt.request = &request;
    gpump_partition_find("ccbp")->decide(&exempt, shares);
}
static const gpump_partition_policy exempt_policy = {
    0, "ccbp exempt", "ccbp without rates of latency-sensitive kernels.", NULL, exempt_decide};

/* The pairs, which run once for all rows. */
static struct {
    pairs_experiment experiment;
    pairs_table together, in_turn; /* by the way of sampling; in_turn has no oracle, and is empty with --short */
    int state;                     /* 0: not run; 1: done; -1: failed */
} run;

/* All pairs of the thirteen kernels; sampled in turn, which is a note only, eighteen of them. */
enum { ALL_PAIRS = 78, PAIRS_IN_TURN = 18, PAIRS_SHORT = 3 };

static int measure(pairs_experiment *e, uint32_t most, pairs_table *table) {
    static uint32_t chosen[ALL_PAIRS][2];
    const uint32_t count = pairs_choose(e, most, chosen);
    uint32_t i;
    for (i = 0; i < count; i++)
        if (pairs_run(e, i, chosen[i][0], chosen[i][1], table)) return -1;
    return 0;
}

static int run_once(const reproduce_context *context, reproduce_result *result) {
    pairs_experiment *e = &run.experiment;
    uint32_t i;
    if (!run.state) {
        run.state = -1;
        machine_options_default(&e->run.options);
        e->run.options.gpu = "maxwell_ccbp";
        e->run.warm = context->is_short ? 10000 : 30000;
        e->run.cycles = context->is_short ? 10000 : 60000;
        e->oracle_warm = context->is_short ? 3000 : 10000;
        e->oracle_cycles = context->is_short ? 3000 : 20000;
        e->seed = 1;
        e->policy_count = POLICIES + 1;
        for (i = 0; i < POLICIES; i++) e->policies[i] = gpump_partition_find(policies[i]);
        e->policies[POLICIES] = &exempt_policy;
        if (!pairs_add(e, MINIGPU_SOURCE_DIR "/kernels/demand") && !pairs_choose_gpu(e) && !pairs_measure_alone(e) &&
            !measure(e, context->is_short ? PAIRS_SHORT : ALL_PAIRS, &run.together))
            run.state = 1;
        e->oracle_cycles = 0;
        e->run.options.sharing.in_turn = 1;
        if (run.state > 0 && !context->is_short && measure(e, PAIRS_IN_TURN, &run.in_turn)) run.state = -1;
    }
    if (run.state < 0) reproduce_failed(result, "a pair could not be run; stderr says why");
    return run.state;
}

static double percent(double ratio) { return 100 * (ratio - 1); }

static void gain(const reproduce_context *context, const char *id, reproduce_result *result) {
    const char *rival = strrchr(id, '.') + 1;
    pairs_ratio found, other;
    if (run_once(context, result) < 0) return;
    if (!strcmp(rival, "dai")) rival = "ws+dai";
    found = pairs_compare(&run.together, "ccbp", rival, NULL);
    reproduce_number(result, percent(found.ratio), 1);
    reproduce_interval(result, percent(found.low), percent(found.high), 1);
    reproduce_note(result, "%u pairs of 78", found.pairs);
    other = pairs_compare(&run.together, "ccbp exempt", rival, NULL);
    reproduce_reading(result, percent(other.ratio), 1,
                      "latency-sensitive kernels get no rate (4.5.2); 95%% interval %.1f to %.1f", percent(other.low),
                      percent(other.high));
    other = pairs_compare(&run.in_turn, "ccbp", rival, NULL);
    if (other.pairs)
        reproduce_note(result, "kernels sampled in turn, %u pairs: %+.1f (%+.1f to %+.1f)", other.pairs,
                       percent(other.ratio), percent(other.low), percent(other.high));
}

static void order(const reproduce_context *context, const char *id, reproduce_result *result) {
    static const char *const expected[] = {"smk", "ws", "ws+dai", "oracle", "ccbp"};
    double mean[5], weighted;
    uint32_t i;
    int holds = 1;
    (void)id;
    if (run_once(context, result) < 0) return;
    for (i = 0; i < 5; i++) {
        (void)pairs_mean(&run.together, expected[i], &mean[i], &weighted);
        holds &= !i || mean[i] > mean[i - 1];
    }
    reproduce_holds(result, holds, "SMK %.3f, WS %.3f, WS+Dai %.3f, oracle %.3f, CCBP %.3f", mean[0], mean[1], mean[2],
                    mean[3], mean[4]);
    (void)pairs_mean(&run.together, "ccbp exempt", &mean[4], &weighted);
    reproduce_note(result, "CCBP whose latency-sensitive kernels get no rate %.3f", mean[4]);
    if (!run.in_turn.count) return;
    for (i = 0; i < 5; i++)
        if (i != 3) (void)pairs_mean(&run.in_turn, expected[i], &mean[i], &weighted);
    reproduce_note(result, "kernels sampled in turn: SMK %.3f, WS %.3f, WS+Dai %.3f, oracle %.3f, CCBP %.3f", mean[0],
                   mean[1], mean[2], mean[3], mean[4]);
}

const reproduce_row rows_corun[] = {{"L.ccbp.smk", gain},    {"L.ccbp.ws", gain},     {"L.ccbp.dai", gain},
                                    {"L.ccbp.oracle", gain}, {"L.ccbp.order", order}, {NULL, NULL}};
