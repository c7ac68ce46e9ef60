/* labels: unit property */
/* Policies for faults against their rivals, on a small model of a GPU: blocks compute in turns of 500 cycles, touch
 * granules that gpump_fault serves over NVLink, and share each SM's issue rate. Each comparison runs the same launches
 * under both, prints the mean ratio with its 95% interval, and checks the direction. Seeds from 9000 on were not looked
 * at while the policies were made. */
#include <math.h>
#include "test.h"

enum { SMS = 8, SLOTS = 8, TURN = 500, BLOCKS = 400, PHASES = 6, PROCESSES = 2 };
enum { NOWHERE, HERE, LEAVING, SAVED, COMING, ENDED };
typedef struct block {
    uint32_t where, sm, phase, waits, told, process, launched; /* told: `waits` as the switcher knows it */
    uint64_t left[PHASES], granule[PHASES]; /* work of each phase, and the granule that it touches first */
    uint64_t ready;                         /* LEAVING, COMING: when that is over */
    gpump_block_ref ref;
} block;
typedef struct gpu {
    gpump_fault *fault;
    block blocks[PROCESSES * BLOCKS];
    uint32_t count[PROCESSES], finished[PROCESSES]; /* blocks of each process */
    uint64_t now, ended[PROCESSES], random, move;   /* move: cycles to save, or to restore, a block */
} gpu;
static uint64_t fault_memory[1 << 18], scheduler_memory[1 << 14], switch_memory[SMS][256];

/* busy: how long a fault occupies the link; the thesis reads as if for its whole service. */
static void make_fault(gpu *g, uint32_t busy) {
    gpump_fault_config config;
    assert_int_equal(gpump_preset(&gpump_fault_component, &config, "nvlink", NULL), GPUMP_OK);
    config.granules = 2 * BLOCKS * PHASES;
    config.waiters = 4096;
    config.migrate_busy_cycles = busy;
    assert_int_equal(gpump_init(&gpump_fault_component, fault_memory, sizeof fault_memory, &config, &g->fault, NULL),
                     GPUMP_OK);
    for (uint32_t p = 0; p < PROCESSES; p++)
        assert_int_equal(gpump_fault_map(g->fault, p, 0, BLOCKS * PHASES * 16, GPUMP_FAULT_CPU, GPUMP_TLB_READ),
                         GPUMP_OK);
}
/* Blocks of a process: `faults` phases begin with a granule that `share` blocks have in common; tail: lengths are
 * Pareto-like, 1 to 100. */
static void make_blocks(gpu *g, uint32_t process, uint32_t count, uint32_t faults, uint32_t share, uint64_t work,
                        int tail) {
    g->count[process] = count;
    for (uint32_t b = 0; b < count; b++) {
        block *one = &g->blocks[process * BLOCKS + b];
        uint64_t length = work / 2 + gpump_random_below(&g->random, (uint32_t)work);
        if (tail) length = work * 100 / (1 + gpump_random_below(&g->random, 100)) / 4;
        memset(one, 0, sizeof *one);
        one->process = process;
        for (uint32_t p = 0; p < PHASES; p++) {
            one->left[p] = 1 + length / PHASES;
            one->granule[p] = p < faults ? (b / share) * PHASES + p : GPUMP_UNKNOWN;
        }
    }
}
/* A block touches the granule of its phase, if it has one; it waits when that is absent. */
static void touch(gpu *g, uint32_t b) {
    block *one = &g->blocks[b];
    gpump_fault_access access;
    uint32_t outcome;
    if (one->granule[one->phase] == GPUMP_UNKNOWN) return;
    memset(&access, 0, sizeof access);
    access.process = one->process;
    access.page = one->granule[one->phase] * 16;
    access.cookie = b;
    access.rights = GPUMP_TLB_READ;
    assert_int_equal(gpump_fault_report(g->fault, g->now, &access, &outcome), GPUMP_OK);
    one->waits = outcome != GPUMP_FAULT_RETRY;
}
static void wake(gpu *g) {
    gpump_fault_action action;
    while (gpump_fault_next(g->fault, g->now, &action) == GPUMP_OK)
        if (action.kind == GPUMP_FAULT_ACT_WAKE) g->blocks[action.cookie].waits = 0;
}
/* The blocks on an SM that can run share its rate: four run at full speed, more share it. */
static void compute(gpu *g, uint32_t count) {
    uint32_t running[SMS] = {0};
    for (uint32_t b = 0; b < count; b++)
        if (g->blocks[b].where == HERE && !g->blocks[b].waits) running[g->blocks[b].sm]++;
    for (uint32_t b = 0; b < count; b++) {
        block *one = &g->blocks[b];
        uint64_t budget;
        if (one->where != HERE || one->waits) continue;
        budget = running[one->sm] > 4 ? (uint64_t)TURN * 4 / running[one->sm] : TURN;
        while (budget && !one->waits && one->where == HERE) {
            const uint64_t step = one->left[one->phase] < budget ? one->left[one->phase] : budget;
            one->left[one->phase] -= step;
            budget -= step;
            if (one->left[one->phase]) break;
            if (++one->phase < PHASES)
                touch(g, b);
            else
                one->where = ENDED;
        }
    }
}
static void begin_block(gpu *g, uint32_t b, uint32_t sm) {
    g->blocks[b].sm = sm;
    if (g->blocks[b].launched) {
        g->blocks[b].where = COMING;
        g->blocks[b].ready = g->now + g->move;
        return;
    }
    g->blocks[b].launched = 1;
    g->blocks[b].where = HERE;
    touch(g, b);
}

/* ---- dss against dss_fault ---- */

/* Runs the processes in `mask` to their ends under a policy. */
static void share_gpu(gpu *g, const char *name, uint32_t mask) {
    const gpump_scheduler_policy *policy = gpump_scheduler_find(name);
    gpump_scheduler_config config;
    gpump_scheduler *s;
    uint32_t kernel[PROCESSES] = {0, 0}, row;
    assert_int_equal(gpump_preset(&gpump_scheduler_component, &config, "table61", NULL), GPUMP_OK);
    config.sms = SMS;
    config.blocks_per_sm = SLOTS;
    config.active_kernels = PROCESSES;
    config.saved_blocks = SMS * SLOTS;
    config.queues = config.processes = PROCESSES;
    assert_int_equal(
        gpump_init(&gpump_scheduler_component, scheduler_memory, sizeof scheduler_memory, &config, &s, NULL), GPUMP_OK);
    make_fault(g, 12000);
    g->now = 0;
    for (uint32_t p = 0; p < PROCESSES; p++) {
        const gpump_scheduler_process process = {p, 0, 0, SMS / PROCESSES};
        const gpump_scheduler_command command = {p, g->count[p], p, SLOTS, SMS * SLOTS, 0};
        assert_int_equal(gpump_scheduler_open(s, 0, &process, &row, NULL), GPUMP_OK);
        if (mask >> p & 1) assert_int_equal(gpump_scheduler_submit(s, 0, p, &command, NULL), GPUMP_OK);
        g->ended[p] = 0;
    }
    for (; ((mask & 1) && !g->ended[0]) || ((mask & 2) && !g->ended[1]); g->now += TURN) {
        gpump_scheduler_action a;
        assert_true(g->now < 1000000000);
        wake(g);
        while (gpump_scheduler_next(s, policy, g->now, &a) == GPUMP_OK) {
            if (a.kind == GPUMP_SCHEDULER_KERNEL_START) kernel[a.process] = a.kernel;
            if (a.kind == GPUMP_SCHEDULER_KERNEL_DONE) kernel[a.process] = 0, g->ended[a.process] = g->now;
            if (a.kind == GPUMP_SCHEDULER_SETUP)
                assert_int_equal(gpump_scheduler_report_ready(s, g->now, a.sm), GPUMP_OK);
            if (a.kind == GPUMP_SCHEDULER_PREEMPT)
                for (uint32_t b = 0; b < PROCESSES * BLOCKS; b++)
                    if (g->blocks[b].sm == a.sm && (g->blocks[b].where == HERE || g->blocks[b].where == COMING)) {
                        g->blocks[b].where = LEAVING;
                        g->blocks[b].ready = g->now + g->move;
                    }
            if (a.kind == GPUMP_SCHEDULER_ISSUE) {
                const uint32_t b = a.saved ? (uint32_t)a.handle : a.process * BLOCKS + (uint32_t)a.index;
                begin_block(g, b, a.sm);
                g->blocks[b].ref = a.block;
            }
        }
        compute(g, PROCESSES * BLOCKS);
        for (uint32_t b = 0; b < PROCESSES * BLOCKS; b++) {
            block *one = &g->blocks[b];
            if (one->where == COMING && one->ready <= g->now) one->where = HERE;
            if (one->where == ENDED && one->launched == 1) {
                assert_int_equal(gpump_scheduler_report_finished(s, g->now, one->sm, one->ref), GPUMP_OK);
                one->launched = 2;
            }
            if (one->where == LEAVING && one->ready <= g->now) {
                assert_int_equal(gpump_scheduler_report_preempted(s, g->now, one->sm, one->ref, b), GPUMP_OK);
                one->where = SAVED;
            }
        }
        for (uint32_t p = 0; p < PROCESSES; p++) { /* its blocks, those of the queue included */
            uint32_t running = 0, all = 0;
            for (uint32_t b = p * BLOCKS; kernel[p] && b < p * BLOCKS + g->count[p]; b++) {
                if (g->blocks[b].where == NOWHERE || g->blocks[b].where == ENDED) continue;
                all++;
                running += !g->blocks[b].waits;
            }
            if (kernel[p]) (void)gpump_scheduler_report_running(s, g->now, kernel[p], running, all);
        }
    }
    assert_int_equal(gpump_check(&gpump_scheduler_component, s, NULL), GPUMP_OK);
}

/* Mean and half the width of the 95% interval of values[count]. */
static double mean_of(const double *values, uint32_t count, double *half) {
    double sum = 0, squares = 0, mean;
    for (uint32_t i = 0; i < count; i++) sum += values[i];
    mean = sum / count;
    for (uint32_t i = 0; i < count; i++) squares += (values[i] - mean) * (values[i] - mean);
    *half = 2.36 * sqrt(squares / (count - 1) / count); /* Student's t for 8 samples */
    return mean;
}

enum { SAMPLES = 8 };
/* A process that faults (kind 0: much, 1: hardly) beside one that computes. */
static void make_pair(gpu *g, uint64_t seed, uint32_t kind) {
    memset(g, 0, sizeof *g);
    g->random = seed;
    g->move = 2000;
    make_blocks(g, 0, 100 + gpump_random_below(&g->random, 60), kind ? 1 : 4, kind ? 20 : 2, kind ? 60000 : 12000, 0);
    make_blocks(g, 1, 200 + gpump_random_below(&g->random, 150), 0, 1, 60000, 0);
}

/* dss_fault gains throughput where kernels wait for pages, and loses nothing where they hardly wait. */
static void a_kernel_that_waits_lends_its_sms(void **state) {
    static gpu g;
    double antt[SAMPLES], stp[SAMPLES], half_antt, half_stp, mean_antt, mean_stp;
    (void)state;
    for (uint32_t kind = 0; kind < 2; kind++) {
        for (uint32_t i = 0; i < SAMPLES; i++) {
            const uint64_t seed = 9000 + test_seed() * 1000 + i;
            double alone[PROCESSES], shared[2][PROCESSES];
            for (uint32_t p = 0; p < PROCESSES; p++) {
                make_pair(&g, seed, kind);
                share_gpu(&g, "dss", 1u << p);
                alone[p] = (double)g.ended[p];
            }
            for (uint32_t policy = 0; policy < 2; policy++) {
                make_pair(&g, seed, kind);
                share_gpu(&g, policy ? "dss_fault" : "dss", 3);
                for (uint32_t p = 0; p < PROCESSES; p++) shared[policy][p] = (double)g.ended[p];
            }
            antt[i] = (shared[1][0] / alone[0] + shared[1][1] / alone[1]) /
                      (shared[0][0] / alone[0] + shared[0][1] / alone[1]);
            stp[i] = (alone[0] / shared[1][0] + alone[1] / shared[1][1]) /
                     (alone[0] / shared[0][0] + alone[1] / shared[0][1]);
        }
        mean_antt = mean_of(antt, SAMPLES, &half_antt);
        mean_stp = mean_of(stp, SAMPLES, &half_stp);
        printf("dss_fault over dss, %s: ANTT %.3f +- %.3f, STP %.3f +- %.3f\n", kind ? "few faults" : "many faults",
               mean_antt, half_antt, mean_stp, half_stp);
        if (kind == 0) {
            assert_true(mean_antt + half_antt < 1);
            assert_true(mean_stp - half_stp > 1);
        } else { /* where a kernel hardly waits, nothing is lost */
            assert_true(mean_antt - half_antt < 1.02);
            assert_true(mean_stp + half_stp > 0.98);
        }
    }
}

/* ---- switch or stay ---- */

/* Reports one resident, as a host without gpump_sm fills it; the port moves a byte per cycle. */
static gpump_result switch_came(gpump_block_switch *u, uint64_t now, uint64_t cookie, uint32_t warps,
                                uint64_t switch_cycles) {
    gpump_block_view view;
    memset(&view, 0, sizeof view);
    view.cookie = cookie;
    view.kernel = 1;
    view.state = GPUMP_BLOCK_RUNNING;
    view.threads = 32 * warps;
    view.warps = warps;
    view.context_bytes = switch_cycles / 2;
    return gpump_block_switch_report_residents(u, now, &view, 1);
}
/* Runs process 0 with a block switcher per SM: a preset, or NULL: blocks stay. Returns the cycle of the end. */
static uint64_t switch_blocks(gpu *g, const char *preset) {
    gpump_block_switch *u[SMS];
    uint32_t next = 0, done = 0;
    make_fault(g, 1000); /* services overlap: else the link alone decides, and no rule matters */
    for (uint32_t sm = 0; sm < SMS; sm++) {
        gpump_block_switch_config config;
        assert_int_equal(gpump_preset(&gpump_block_switch_component, &config, preset ? preset : "table61", NULL),
                         GPUMP_OK);
        config.port.cycles = config.port.bytes = 1;
        if (!preset) config.extra = 0; /* nobody new may come, so nobody leaves */
        assert_int_equal(gpump_init(&gpump_block_switch_component, switch_memory[sm], sizeof switch_memory[sm], &config,
                                    &u[sm], NULL),
                         GPUMP_OK);
        assert_int_equal(gpump_block_switch_set_blocks(u[sm], SLOTS), GPUMP_OK);
    }
    for (g->now = 0; done < g->count[0]; g->now += TURN) {
        assert_true(g->now < 1000000000);
        wake(g);
        for (uint32_t b = 0; b < g->count[0]; b++) {
            block *one = &g->blocks[b];
            if (one->where == LEAVING && one->ready <= g->now) {
                one->where = SAVED;
                assert_int_equal(gpump_block_switch_report_left(u[one->sm], g->now, b), GPUMP_OK);
            }
            if (one->where == COMING && one->ready <= g->now) {
                one->where = HERE;
                assert_int_equal(switch_came(u[one->sm], g->now, b, 1, 2 * g->move), GPUMP_OK);
            }
            if (one->where == NOWHERE || one->launched == 2) continue;
            if (one->waits == one->told) continue;
            one->told = one->waits;
            (void)gpump_block_switch_report_warp(u[one->sm], g->now, b, 0, !one->waits);
            (void)gpump_block_switch_report_pending(u[one->sm], g->now, b, one->waits,
                                                    one->waits ? gpump_fault_ready_cycle(g->fault, b) : 0);
        }
        for (uint32_t i = 0; i < SMS * SLOTS * 2; i++) { /* one action per SM in turn, so that new blocks are spread */
            gpump_block_switch_action a;
            const uint32_t sm = i % SMS;
            assert_int_equal(gpump_block_switch_set_outside(u[sm], g->count[0] - next, UINT32_MAX), GPUMP_OK);
            if (gpump_block_switch_next(u[sm], g->now, &a)) continue;
            if (a.kind == GPUMP_BLOCK_SWITCH_ACT_NEW) {
                assert_int_equal(switch_came(u[sm], g->now, next, 1, 2 * g->move), GPUMP_OK);
                begin_block(g, next++, sm);
            } else if (a.kind == GPUMP_BLOCK_SWITCH_ACT_IN) {
                begin_block(g, (uint32_t)a.cookie, sm);
            } else {
                g->blocks[a.cookie].where = LEAVING;
                g->blocks[a.cookie].ready = g->now + g->move;
            }
        }
        compute(g, g->count[0]);
        for (uint32_t b = 0; b < g->count[0]; b++)
            if (g->blocks[b].where == ENDED && g->blocks[b].launched == 1) {
                g->blocks[b].launched = 2;
                assert_int_equal(gpump_block_switch_report_ended(u[g->blocks[b].sm], g->now, b), GPUMP_OK);
                done++;
            }
    }
    return g->now;
}

/* Kernels with even blocks, and with lengths that differ 100-fold (the thesis's worst case), each with contexts that
 * take 2000 and 6000 cycles to move. Time under each rule over the time when blocks stay. Switching by price is not
 * better than always switching here; it must not be worse. */
static void switch_or_stay_by_price(void **state) {
    static gpu g;
    (void)state;
    for (uint32_t kind = 0; kind < 4; kind++) {
        double eager[SAMPLES], priced[SAMPLES], over[SAMPLES], half[3], means[3];
        for (uint32_t i = 0; i < SAMPLES; i++) {
            static const char *const presets[] = {NULL, "table61", "priced"};
            double time[3];
            for (uint32_t rule = 0; rule < 3; rule++) {
                memset(&g, 0, sizeof g);
                g.random = 9500 + test_seed() * 1000 + i;
                g.move = kind / 2 ? 6000 : 2000;
                make_blocks(&g, 0, 250, kind % 2 ? 2 : 4, 4, 20000, kind % 2);
                time[rule] = (double)switch_blocks(&g, presets[rule]);
            }
            eager[i] = time[1] / time[0];
            priced[i] = time[2] / time[0];
            over[i] = time[2] / time[1];
        }
        means[0] = mean_of(eager, SAMPLES, &half[0]);
        means[1] = mean_of(priced, SAMPLES, &half[1]);
        means[2] = mean_of(over, SAMPLES, &half[2]);
        printf("%s, %s contexts: switching %.3f +- %.3f of staying, by price %.3f +- %.3f; by price over always %.3f "
               "+- %.3f\n",
               kind % 2 ? "lengths 1 to 100" : "even blocks", kind / 2 ? "large" : "small", means[0], half[0], means[1],
               half[1], means[2], half[2]);
        if (kind == 0) assert_true(means[0] + half[0] < 1); /* there is something to gain */
        assert_true(means[2] - half[2] < 1.02);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_waits_lends_its_sms),
        cmocka_unit_test(switch_or_stay_by_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
