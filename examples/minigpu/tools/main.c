/* minigpu: a small GPU that runs PTX and can be preempted. README.md says how. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/analysis.h"
#include "tools/analyze.h"
#include "preemption/context_forms.h"
#include "machine/machine.h"
#include "installed.h"
#include "output.h"
#include "progress.h"
#include "tools/contradictions.h"
#include "tools/corun_command.h"
#include "tools/dump.h"
#include "tools/html_page.h"
#include "tools/init_command.h"
#include "tools/options.h"
#include "tools/pairs_command.h"
#include "tools/recovery.h"
#include "tools/policies_command.h"
#include "tools/races.h"
#include "parts/fault_unit/fault_unit.h"
#include "parts/page_checks/page_faults.h"
#include "tools/report.h"
#include "tools/sharing_options.h"
#include "tools/tail_command.h"
#include "sm/runtime_calls.h"
#include "parts/trace/trace.h"
#include "policies.h"

#define EXIT_RIGHT 0
#define EXIT_WRONG 1
#define EXIT_BAD_INPUT 2
#define EXIT_INTERRUPTED 130 /* as a shell has it for a program that Ctrl-C has ended */

#ifndef MINIGPU_SOURCE_DIR
#define MINIGPU_SOURCE_DIR "."
#endif

/* Of the processor; with several threads of the clock on the wall, since theirs together say nothing of the speed. */
static double seconds_now(const machine *m) {
    struct timespec t;
    clock_gettime(m->threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Says that a file could not be written, and why. Returns the exit status. */
static int cannot_write(const char *path) {
    fprintf(stderr, "minigpu: cannot write %s: %s\n", path, strerror(errno));
    return EXIT_BAD_INPUT;
}

/* Says before the run, rather than after it, that a file (NULL: none) cannot be written. Returns the exit status. */
static int try_to_write(const char *path) {
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!path) return EXIT_RIGHT;
    if (!file) return cannot_write(path);
    fclose(file);
    return EXIT_RIGHT;
}

/* Ctrl-C: the run ends at once, and its report is written. */
static volatile sig_atomic_t stop_now;
static void on_signal(int number) {
    (void)number;
    stop_now = 1;
}

#define CYCLES_BETWEEN_LOOKS 20000u

/* Runs a machine to its end, and shows how far it is. Returns what machine_run does, 0 after Ctrl-C. */
static int run_with_progress(machine *m) {
    progress shown;
    int ended;
    progress_begin(&shown, "minigpu");
    signal(SIGINT, on_signal);
    while ((ended = machine_run(m, m->now + CYCLES_BETWEEN_LOOKS)) == 0 && !stop_now) {
        uint64_t done = 0, blocks = 0;
        char what[96];
        uint32_t i;
        for (i = 0; i < m->kernel_count; i++) {
            done += m->kernels[i].done_blocks;
            blocks += m->kernels[i].blocks;
        }
        snprintf(what, sizeof what, "cycle %" PRIu64 ", %" PRIu64 " of %" PRIu64 " blocks done", m->now, done, blocks);
        progress_show(&shown, m->launch->loop_count ? -1 : (double)done / (double)blocks, what);
    }
    progress_end(&shown);
    signal(SIGINT, SIG_DFL);
    return ended;
}

/* Runs a built machine to its end and checks it. Returns the exit status; *result points into the machine and to
 * *checks (free it). *recorded, unless recorded is NULL, gets the timeline of the run (free it; NULL: no memory). */
static int run_machine(machine *m, const launch_file *launch, timeline **recorded, run_result *result,
                       kernel_check **checks) {
    double start;
    int ended, wrong = 0;
    memset(result, 0, sizeof *result);
    result->machine = m;
    result->launch = launch;
    *checks = NULL;
    if (recorded && trace_open(m, launch)) fprintf(stderr, "minigpu: no memory to record the run\n");
    start = seconds_now(m);
    ended = run_with_progress(m);
    result->seconds = seconds_now(m) - start;
    if (recorded && !(*recorded = trace_close(m))) wrong = 1;
    if (!ended) {
        result->error = "interrupted";
        fprintf(stderr, "minigpu: interrupted at cycle %" PRIu64 "; the report is of what has run until then\n",
                m->now);
        return EXIT_INTERRUPTED;
    }
    if (ended < 0) {
        result->error = m->error;
        fprintf(stderr, "minigpu: cycle %" PRIu64 ": %s\n", m->now, m->error);
        if (m->deadlocked) machine_dump(m, stderr);
        return EXIT_WRONG;
    }
    *checks = (kernel_check *)calloc(launch->kernel_count, sizeof **checks);
    if (!*checks || check_results(m, launch, *checks) != 0) wrong = 1;
    result->checks = *checks;
    return wrong ? EXIT_WRONG : EXIT_RIGHT;
}

/* ==== minigpu run ==== */

static const char run_usage[] =
    "usage: minigpu run FILE [options]\n"
    "  FILE                  launch file (YAML; examples/minigpu/README.md describes it)\n"
    "  --gpu PRESET          the GPU, such as gtx480_shieh, k20c, v100 (default: the launch file's, or gtx480_shieh)\n"
    "  --config NAME=VALUE,...  numbers of the machine (config.h lists them), such as memory_model=1\n"
    "  --stats               print what each kernel asked of issue slots, caches, network and DRAM\n"
    "  --preempt CYCLE[:T]   at that cycle a kernel of higher priority that has not come yet arrives; where the file "
    "has "
    "none, every SM\n"
    "                        is emptied; T is switch (default), drain, flush or, with --regions, rewind\n"
    "  --context FORM        what a switch saves of the registers: naive (all, the default), live (those still "
    "needed), "
    "live+compress\n"
    "                        (and those in patterns), tb (and patterns over the whole block)\n"
    "  --points[=K]          blocks that are switched stop at preemption points only, instructions that the compiler "
    "puts in: in loops, at\n"
    "                        barriers, and one for every K (100) instructions elsewhere; without it they stop "
    "anywhere\n"
    "  --in-place            a switch leaves registers and shared memory in place that the next kernel does not need\n"
    "  --choose              with --points: each warp stops at once or runs on, whichever is estimated to be over "
    "earlier\n"
    "  --regions sparse|N[:SHARED]  the compiler forms idempotent regions (iGPU), or short ones of at most N "
    "instructions too; their\n"
    "                        boundaries are instructions. SHARED: they do not end where shared memory is overwritten, "
    "which goes back\n"
    "                        with its warp: saved, buffered or versioned (docs/restart.md)\n"
    "  --spilling all|changed  with --regions: what is live at a sparse region's start is stored there whenever it is "
    "crossed, all of it and\n"
    "                        loaded again, or what has changed; without it nothing is, until somebody preempts\n"
    "  --page-checks FORM    the compiler puts page checks in (Kim): every (before each access), array (walks through "
    "arrays: where they enter\n"
    "                        a page), pointer (loops that follow pointers: by the loads themselves), kim (array and "
    "pointer), none (default)\n"
    "  --absent LIST         pages that are absent at first: all (buffers), NAMES of buffers, code (of kernels and of "
    "the "
    "fault handler),\n"
    "                        local (arrays in local memory, with --page-checks), as in a,b,code\n"
    "  --faults SCHEME       an access to an absent page faults, and its warp can leave the SM and come back: stall "
    "(it "
    "waits in place), wd_commit,\n"
    "                        wd_check, queue, log8, log16, log32, log64 (KB of operand log), regions (it wants "
    "--regions)\n"
    "  --fault-at N[:M]      with --faults: the N-th look-up of a page evicts that page first; then every M-th\n"
    "  --fault-service US    with --faults: how long a page takes to come (default: page_service_cycles)\n"
    "  --link NAME           with --faults or --page-checks: the CPU serves faults over this link, in granules of 64 "
    "KB: nvlink, pcie3, "
    "nvlink_pipelined,\n"
    "                        pcie3_pipelined, ideal, or by NVIDIA's driver in batches: uvm595; buffers with owner: cpu "
    "or unallocated are absent at first (with "
    "--absent all: all)\n"
    "  --switch-on-fault N   with --link: a block that waits for pages gives its place to another; N more blocks per "
    "SM than fit (thesis: 4)\n"
    "  --gpu-memory BYTES[:unpinned]  with --link: pages are evicted beyond so much memory, at least 2 MB (K, M and G "
    "may follow); unpinned: no\n"
    "                        instruction's pages are kept, so that instructions may evict each other's for ever\n"
    "  --remote WHAT         with --link: pages stay with the CPU and are accessed over the link: all, thrashing "
    "(those that keep leaving;\n"
    "                        only uvm595 looks for them), none (default)\n"
    "  --local-handler       with --link: SMs allocate pages themselves that nobody has\n"
    "  --fault-order NAME    with --faults: what keeps accesses of a warp in order: class (default), address, printed "
    "(as in the thesis)\n"
    "  --fault-lazy          with --faults: a faulted access waits in place until its block is wanted\n"
    "  --errors RATE         that part of the warp instructions computes something wrong, which is detected and "
    "executed "
    "again: it wants\n"
    "                        --detection; kernels get idempotent regions (--regions 32, unless it says otherwise)\n"
    "  --detection NAME[:CYCLES]  how errors are detected, and how many cycles later: decor, emergency, razor, razor2 "
    "(iGPU Table 2)\n"
    "  --error-at N[:M]      with --detection: the N-th instruction errs, then every M-th, instead of a rate\n"
    "  --trap WHAT           exceptions of arithmetic trap, and are emulated: division (by zero), invalid (a new NaN), "
    "all; or N,\n"
    "                        the arithmetic of that line of the PTX file whenever it executes, up to two of them\n"
    "  --trap-at N[:M]       the N-th arithmetic instruction traps, once, then every M-th behind it\n"
    "  --cure NAME           with --trap: what ends a live-lock of two exceptions: split (default), step\n"
    "  --policy NAME         who makes room for a kernel of higher priority, block by block: dual, chimera, chimera+, "
    "switch, drain, flush,\n"
    "                        drain-then-switch, oracle, exact, joint, dual-larger, rewind (it wants --regions)\n"
    "  --limit US            with --policy: within how many microseconds (default: no limit)\n"
    "  --late-price N        with --limit and policy joint: a cycle beyond it is worth N warp instructions (default: "
    "the limit comes first)\n"
    "  --schedule NAME       processes share the GPU as gpump's scheduler says: fcfs, npq, ppq, ppq_shared, dss, "
    "equal, "
    "weighted, time_slice\n"
    "  --vacate NAME         with --schedule: how SMs change hands: switch (default), drain, or select (block by "
    "block)\n"
    "  --slice US            with --schedule time_slice: how long a turn lasts (1000)\n"
    "  --partition NAME      the kernels share SMs as a group, which measures and divides them: ccbp, smk, ws, "
    "ws+dai, crisp, spatial, even, leftover, slack\n" SHARING_USAGE
    "  --group N             with --schedule and --partition: the first N kernels are one command of the scheduler, "
    "and divide the SMs that it gets\n"
    "  --duet[=PRESET[:EXTRA[:PORT]]]  SMs hold blocks beyond their room and switch stalled warps in on-chip memory: "
    "maxwell_duet (default), duet_block, virtual_thread; EXTRA blocks: a number, all, or monitor; PORT: bytes per "
    "cycle (128)\n"
    "  --html OUT.html       write one page that shows the run, and opens from disk in any browser\n"
    "  --trace OUT.json      write a Chrome trace-event file: open it at https://ui.perfetto.dev\n"
    "  --dump FOLDER         write every buffer after the run: NAME.bin, its bytes, and NAME.txt, one element per "
    "line\n"
    "  --races               name words whose value depends on the order of blocks (slower)\n"
    "  --json                print the report as JSON\n"
    "  --threads N           SMs advance side by side on N threads, in windows of half the network's shortest way; "
    "the result is the\n"
    "                        same for every N from 1 to 64, and not that without --threads (README.md)\n"
    "  --every-cycle         idle cycles are simulated one by one, not skipped: slower, the same result\n"
    "exit status: 0 done and right, 1 something is wrong, 2 bad input, 130 interrupted (Ctrl-C; the report is "
    "written)\n";

static int technique_of(const char *name, uint32_t *technique) {
    uint32_t i;
    for (i = GPUMP_TECHNIQUE_FLUSH; i <= GPUMP_TECHNIQUE_REWIND; i++) {
        if (strcmp(technique_name(i), name) == 0) {
            *technique = i;
            return 0;
        }
    }
    return -1;
}

static int read_preempt(const char *text, machine_options *options) {
    char *end;
    errno = 0;
    options->preempt_cycle = strtoull(text, &end, 10);
    if (end == text || errno || *text == '-' || (*end && *end != ':') ||
        (*end == ':' && technique_of(end + 1, &options->technique))) {
        fprintf(stderr,
                "minigpu: --preempt wants CYCLE, CYCLE:switch, CYCLE:drain, CYCLE:flush or CYCLE:rewind, not \"%s\"\n",
                text);
        return -1;
    }
    return 0;
}

static int read_fault_at(const char *text, faults_options *faults) {
    char *end;
    errno = 0;
    faults->check = strtoull(text, &end, 10);
    if (end != text && !errno && *text != '-' && faults->check) {
        if (!*end) return 0;
        if (*end == ':' && end[1] >= '0' && end[1] <= '9') {
            faults->interval = strtoull(end + 1, &end, 10);
            if (!*end && !errno && faults->interval) return 0;
        }
    }
    fprintf(stderr, "minigpu: --fault-at wants N or N:M, both from 1, not \"%s\"\n", text);
    return -1;
}

static int read_gpu_memory(const char *text, faults_options *faults) {
    const uint64_t least = 32 * fault_unit_granule_bytes();
    char *end;
    uint64_t shift;
    errno = 0;
    faults->memory = strtoull(text, &end, 10);
    shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (end != text && !errno && *text != '-' && faults->memory <= (UINT64_C(1) << 40) >> shift) {
        faults->memory <<= shift;
        end += shift != 0;
        faults->unpinned = !strcmp(end, ":unpinned");
        if ((!*end || faults->unpinned) && faults->memory >= least) return 0;
    }
    fprintf(stderr,
            "minigpu: --gpu-memory wants bytes, such as 64M or 64M:unpinned, from 2M (32 granules of 64 KB, which one "
            "instruction may touch) to 1024G, not \"%s\"\n",
            text);
    return -1;
}

static const char *mechanism_name(uint32_t mechanism) {
    return mechanism == GPUMP_SCHEDULER_SWITCH   ? "switch"
           : mechanism == GPUMP_SCHEDULER_DRAIN  ? "drain"
           : mechanism == GPUMP_SCHEDULER_SELECT ? "select"
                                                 : NULL;
}

/* The page of one run. Returns 0, or -1 with errno. */
static int write_page(const char *path, const run_result *result, const machine_options *options,
                      const timeline *recorded) {
    char title[256];
    const char *file = strrchr(result->launch->path, '/');
    page *p;
    snprintf(title, sizeof title, "minigpu run: %s", file ? file + 1 : result->launch->path);
    p = page_open(path, html_page_about(result->machine, result->launch, title, ""));
    if (!p) return -1;
    page_run(p,
             options->policy                     ? options->policy->name
             : options->schedule                 ? options->schedule
             : result->machine->preemption_count ? technique_name(result->machine->technique)
                                                 : "run",
             recorded, html_page_facts(result));
    return page_close(p);
}

static int command_run(int argc, char **argv) {
    static const struct option longs[] = {{"gpu", required_argument, NULL, 'g'},
                                          {"config", required_argument, NULL, 'n'},
                                          {"stats", no_argument, NULL, 'x'},
                                          {"preempt", required_argument, NULL, 'p'},
                                          {"trace", required_argument, NULL, 't'},
                                          {"html", required_argument, NULL, 'H'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"dump", required_argument, NULL, 'D'},
                                          {"races", no_argument, NULL, 'R'},
                                          {"every-cycle", no_argument, NULL, 'e'},
                                          {"threads", required_argument, NULL, 'T'},
                                          {"context", required_argument, NULL, 'c'},
                                          {"points", optional_argument, NULL, 'P'},
                                          {"choose", no_argument, NULL, 'C'},
                                          {"in-place", no_argument, NULL, 'I'},
                                          {"regions", required_argument, NULL, 'r'},
                                          {"spilling", required_argument, NULL, 'K'},
                                          {"page-checks", required_argument, NULL, 'k'},
                                          {"absent", required_argument, NULL, 'a'},
                                          {"faults", required_argument, NULL, 'f'},
                                          {"fault-at", required_argument, NULL, 'F'},
                                          {"fault-service", required_argument, NULL, 'u'},
                                          {"link", required_argument, NULL, 'L'},
                                          {"switch-on-fault", required_argument, NULL, 'W'},
                                          {"gpu-memory", required_argument, NULL, 'G'},
                                          {"remote", required_argument, NULL, 'Q'},
                                          {"local-handler", no_argument, NULL, 'A'},
                                          {"fault-order", required_argument, NULL, 'O'},
                                          {"fault-lazy", no_argument, NULL, 'z'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"errors", required_argument, NULL, 'X'},
                                          {"detection", required_argument, NULL, 'X'},
                                          {"error-at", required_argument, NULL, 'X'},
                                          {"trap", required_argument, NULL, 'X'},
                                          {"trap-at", required_argument, NULL, 'X'},
                                          {"cure", required_argument, NULL, 'X'},
                                          {"policy", required_argument, NULL, 'o'},
                                          {"limit", required_argument, NULL, 'l'},
                                          {"late-price", required_argument, NULL, 'E'},
                                          {"schedule", required_argument, NULL, 's'},
                                          {"vacate", required_argument, NULL, 'v'},
                                          {"slice", required_argument, NULL, 'S'},
                                          {"partition", required_argument, NULL, 'q'},
                                          {"group", required_argument, NULL, 'y'},
                                          {"duet", optional_argument, NULL, 'd'},
                                          SHARING_LONGS,
                                          {NULL, 0, NULL, 0}};
    machine_options options;
    run_options own = {NEVER, 0, 0};
    uint64_t number;
    launch_file launch;
    char error[LAUNCH_ERROR_BYTES];
    const char *trace_path = NULL, *html_path = NULL, *dump_folder = NULL, *why;
    timeline *recorded = NULL;
    race_log *races = NULL;
    kernel_check *checks;
    run_result result;
    machine *m;
    uint32_t which;
    int json = 0, stats = 0, watch_races = 0, option, found, status;
    machine_options_default(&options);
    while ((option = getopt_long(argc, argv, "", longs, &found)) != -1) {
        switch (option) {
        case 'X':
            if (recovery_option(longs[found].name, optarg, &options)) return EXIT_BAD_INPUT;
            break;
        case 'Z':
            if (sharing_option(longs[found].name, optarg, &options.sharing)) return EXIT_BAD_INPUT;
            break;
        case 'g': options.gpu = optarg; break;
        case 'n': options.config = optarg; break;
        case 'x': stats = 1; break;
        case 'p':
            if (read_preempt(optarg, &options)) return EXIT_BAD_INPUT;
            break;
        case 't': trace_path = optarg; break;
        case 'H': html_path = optarg; break;
        case 'j': json = 1; break;
        case 'D': dump_folder = optarg; break;
        case 'R': watch_races = 1; break;
        case 'o':
            if (option_choice("--policy", optarg, policies_victim_name, &which)) return EXIT_BAD_INPUT;
            options.policy = policies_victim_at(which);
            break;
        case 'l':
            if (option_microseconds("--limit", optarg, 0, &own.limit_ns)) return EXIT_BAD_INPUT;
            break;
        case 'E':
            if (option_number("--late-price", optarg, 1, 1000000, &own.late_price)) return EXIT_BAD_INPUT;
            break;
        case 's':
            if (option_choice("--schedule", optarg, policies_scheduler_name, &which)) return EXIT_BAD_INPUT;
            options.schedule = optarg;
            break;
        case 'v':
            if (option_choice("--vacate", optarg, mechanism_name, &options.mechanism)) return EXIT_BAD_INPUT;
            own.vacate = 1;
            break;
        case 'S':
            if (option_microseconds("--slice", optarg, 0.001, &options.slice_ns)) return EXIT_BAD_INPUT;
            break;
        case 'q':
            if (option_choice("--partition", optarg, policies_partition_name, &which)) return EXIT_BAD_INPUT;
            options.sharing.policy = policies_partition_at(which);
            break;
        case 'y':
            if (option_number("--group", optarg, 1, GPUMP_PARTITION_KERNELS, &number)) return EXIT_BAD_INPUT;
            options.sharing.group = (uint32_t)number;
            break;
        case 'd': options.duet = optarg ? optarg : "maxwell_duet"; break;
        case 'e': options.skip_idle = 0; break;
        case 'T':
            if (option_number("--threads", optarg, 1, THREADS_MAX, &number)) return EXIT_BAD_INPUT;
            options.threads = (uint32_t)number;
            break;
        case 'c':
            if (option_choice("--context", optarg, context_form_name, &options.context_form)) return EXIT_BAD_INPUT;
            break;
        case 'k':
            if (option_choice("--page-checks", optarg, page_check_form_name, &options.page_checks))
                return EXIT_BAD_INPUT;
            break;
        case 'a': options.absent = optarg; break;
        case 'f':
            if (option_choice("--faults", optarg, faults_scheme_name, &which)) return EXIT_BAD_INPUT;
            options.faults.scheme = faults_scheme_name(which);
            break;
        case 'F':
            if (read_fault_at(optarg, &options.faults)) return EXIT_BAD_INPUT;
            break;
        case 'u':
            if (option_microseconds("--fault-service", optarg, 0.001, &options.fault_service_ns)) return EXIT_BAD_INPUT;
            break;
        case 'O':
            if (option_choice("--fault-order", optarg, faults_order_name, &options.faults.order)) return EXIT_BAD_INPUT;
            break;
        case 'z': options.faults.lazy = 1; break;
        case 'L':
            if (option_choice("--link", optarg, fault_unit_link_name, &which)) return EXIT_BAD_INPUT;
            options.faults.link = fault_unit_link_name(which);
            break;
        case 'A': options.faults.local = 1; break;
        case 'G':
            if (read_gpu_memory(optarg, &options.faults)) return EXIT_BAD_INPUT;
            break;
        case 'Q':
            if (option_choice("--remote", optarg, fault_unit_remote_name, &options.faults.remote))
                return EXIT_BAD_INPUT;
            break;
        case 'W':
            if (option_number("--switch-on-fault", optarg, 1, 64, &number)) return EXIT_BAD_INPUT;
            options.faults.extra = (uint32_t)number;
            break;
        case 'C': options.choose = 1; break;
        case 'I': options.in_place = 1; break;
        case 'K':
            options.spilling = !strcmp(optarg, "all")       ? SPILLING_ALL
                               : !strcmp(optarg, "changed") ? SPILLING_CHANGED
                                                            : SPILLING_NONE;
            if (options.spilling == SPILLING_NONE) {
                fprintf(stderr, "minigpu: --spilling wants all or changed, not \"%s\"\n", optarg);
                return EXIT_BAD_INPUT;
            }
            break;
        case 'r':
            if (recovery_regions(optarg, &options)) return EXIT_BAD_INPUT;
            break;
        case 'P':
            if (option_number("--points", optarg ? optarg : "100", 1, 1000000, &number)) return EXIT_BAD_INPUT;
            options.point_interval = (uint32_t)number;
            break;
        case 'h': fputs(run_usage, stdout); return EXIT_RIGHT;
        default: return option_misuse("run", NULL, NULL);
        }
    }
    if (optind == argc) return option_misuse("run", "which launch FILE?", NULL);
    if (optind < argc - 1)
        return option_misuse("run", "one launch FILE, and values of --points follow a =; one too many is",
                             argv[optind + 1]);
    options.faults.absent = options.absent;
    if ((why = contradiction(&options, &own)) || (why = recovery_contradiction(&options)))
        return option_misuse("run", why, NULL);
    if (output_is_input("minigpu", trace_path, argv[optind]) || output_is_input("minigpu", html_path, argv[optind]))
        return EXIT_BAD_INPUT;
    if (launch_file_read(&launch, argv[optind], error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    if (!(m = machine_build(&launch, &options, error))) {
        fprintf(stderr, "%s\n", error);
        launch_file_free(&launch);
        return EXIT_BAD_INPUT;
    }
    if (own.limit_ns != NEVER) m->limit_cycles = gpump_gpu_cycles_from_ns(&m->config.gpu, own.limit_ns);
    m->late_price = own.late_price;
    if (m->fault_scheme == GPUMP_REPLAY_REGIONS && !m->regions) {
        fprintf(stderr, "minigpu: --faults regions: warps can only go back to the start of a region where there are "
                        "regions: add --regions sparse\n");
        machine_free(m);
        launch_file_free(&launch);
        return EXIT_BAD_INPUT;
    }
    if (options.technique == GPUMP_TECHNIQUE_REWIND && !m->regions) {
        fprintf(stderr, "minigpu: blocks can only go back to the start of a region where there are regions: add "
                        "--regions sparse\n");
        machine_free(m);
        launch_file_free(&launch);
        return EXIT_BAD_INPUT;
    }
    if (watch_races && !(races = races_watch(m, error))) {
        fprintf(stderr, "minigpu: %s\n", error);
        machine_free(m);
        launch_file_free(&launch);
        return EXIT_BAD_INPUT;
    }
    if (try_to_write(trace_path) || try_to_write(html_path) || (dump_folder && dump_prepare(dump_folder))) {
        machine_free(m);
        launch_file_free(&launch);
        return EXIT_BAD_INPUT;
    }
    status = run_machine(m, &launch, trace_path || html_path ? &recorded : NULL, &result, &checks);
    result.races = races;
    if (options.errors.detection && status != EXIT_INTERRUPTED &&
        recovery_baseline(argv[optind], &options, &result.baseline_cycles, error))
        fprintf(stderr, "minigpu: the run without errors, for the energy: %s\n", error);
    runtime_calls_print(m, json ? stderr : stdout);
    if (json) {
        if (report_json(&result, stdout)) status = EXIT_WRONG;
    } else {
        report_text(&result, stdout);
        if (stats) report_statistics(m, stdout);
    }
    if (recorded && trace_path) {
        if (timeline_write_trace(recorded, trace_path))
            status = cannot_write(trace_path);
        else if (!json)
            printf("trace: %s (open it at https://ui.perfetto.dev)\n", trace_path);
    }
    if (recorded && html_path) {
        if (write_page(html_path, &result, &options, recorded))
            status = cannot_write(html_path);
        else if (!json)
            printf("page: %s (open it in a browser)\n", html_path);
    }
    timeline_free(recorded);
    if (dump_folder && dump_buffers(m, &launch, dump_folder)) status = EXIT_WRONG;
    races_free(races);
    free(checks);
    machine_free(m);
    launch_file_free(&launch);
    return status;
}

/* ==== minigpu demo ==== */

static const char *program = "minigpu"; /* as it was called, for lines that can be typed again */

static const char demo_usage[] =
    "usage: minigpu demo [FILE] [--gpu PRESET] [--html OUT.html] [--trace FOLDER]\n"
    "  Runs a launch file of two kernels (examples/minigpu/demo.yaml) once for each way of preempting the first for "
    "the "
    "second.\n"
    "  --html OUT.html    where the page goes that shows the runs side by side (preemption_demo.html)\n"
    "  --trace FOLDER     also write a Chrome trace-event file of each run there: demo-drain.json, demo-switch.json, "
    "demo-flush.json\n";

typedef struct demo_row {
    preemption_summary summary;
    uint64_t urgent_cycles, other_cycles;
    int status;
} demo_row;

/* The kernel of the highest priority. */
static uint32_t urgent_kernel(const launch_file *launch) {
    uint32_t i, urgent = 0;
    for (i = 1; i < launch->kernel_count; i++) {
        if (launch->kernels[i].priority > launch->kernels[urgent].priority) urgent = i;
    }
    return urgent;
}

/* Runs one technique. Its timeline goes to the page, which the first run opens, and to trace_path unless it is NULL. */
static int demo_run(launch_file *launch, machine_options options, const char *html_path, const char *trace_path,
                    page **shown, demo_row *row, machine **kept) {
    char error[LAUNCH_ERROR_BYTES];
    kernel_check *checks;
    run_result result;
    uint32_t urgent = urgent_kernel(launch), i;
    timeline *recorded = NULL;
    machine *m = machine_build(launch, &options, error);
    if (!m) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    if (!*shown) {
        char title[256], intro[512];
        snprintf(title, sizeof title, "%s makes room for %s", launch->kernels[urgent == 0].name,
                 launch->kernels[urgent].name);
        snprintf(intro, sizeof intro,
                 "%s has the whole GPU. Then %s arrives with a higher priority and needs SMs at once. The same run is "
                 "shown three times: the blocks of %s drain (run to their ends), are switched (saved to memory, and "
                 "restored later), or are flushed (dropped, and started again).",
                 launch->kernels[urgent == 0].name, launch->kernels[urgent].name, launch->kernels[urgent == 0].name);
        if (!(*shown = page_open(html_path, html_page_about(m, launch, title, intro)))) {
            machine_free(m);
            return cannot_write(html_path);
        }
    }
    row->status = run_machine(m, launch, &recorded, &result, &checks);
    if (recorded) page_run(*shown, technique_name(options.technique), recorded, html_page_facts(&result));
    if (recorded && trace_path && timeline_write_trace(recorded, trace_path)) row->status = cannot_write(trace_path);
    timeline_free(recorded);
    report_preemptions(m, &row->summary);
    for (i = 0; i < m->kernel_count; i++) {
        uint64_t cycles = m->kernels[i].end_cycle == NEVER ? 0 : m->kernels[i].end_cycle - m->kernels[i].ready_cycle;
        if (i == urgent)
            row->urgent_cycles = cycles;
        else if (cycles > row->other_cycles)
            row->other_cycles = cycles;
        if (checks && checks[i].result == CHECK_WRONG) fprintf(stderr, "WRONG: %s\n", checks[i].text);
    }
    free(checks);
    *kept = m;
    return row->status;
}

static int command_demo(int argc, char **argv) {
    static const struct option longs[] = {{"gpu", required_argument, NULL, 'g'},
                                          {"html", required_argument, NULL, 'H'},
                                          {"trace", required_argument, NULL, 't'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    static const uint32_t techniques[] = {GPUMP_TECHNIQUE_DRAIN, GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_FLUSH};
    static char own_folder[4096], own_path[4200];
    const char *path = own_path, *folder = NULL, *html_path = "preemption_demo.html";
    page *shown = NULL;
    machine_options options;
    launch_file launch;
    char error[LAUNCH_ERROR_BYTES];
    uint32_t i, urgent;
    int option, status = EXIT_RIGHT;
    snprintf(own_path, sizeof own_path, "%s/demo.yaml",
             installed_folder("minigpu", MINIGPU_SOURCE_DIR, own_folder, sizeof own_folder));
    machine_options_default(&options);
    while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (option) {
        case 'g': options.gpu = optarg; break;
        case 't': folder = optarg; break;
        case 'H': html_path = optarg; break;
        case 'h': fputs(demo_usage, stdout); return EXIT_RIGHT;
        default: return option_misuse("demo", NULL, NULL);
        }
    }
    if (optind < argc - 1) return option_misuse("demo", "one launch FILE; one too many is", argv[optind + 1]);
    if (optind < argc) path = argv[optind];
    if (output_is_input("minigpu", html_path, path)) return EXIT_BAD_INPUT;
    if (launch_file_read(&launch, path, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    if (launch.kernel_count < 2) {
        fprintf(stderr, "%s: the demo needs two kernels\n", path);
        launch_file_free(&launch);
        return EXIT_BAD_INPUT;
    }
    urgent = urgent_kernel(&launch);
    printf("%s runs on the whole GPU. At cycle %" PRIu64
           " %s arrives with a higher priority and needs SMs at once.\n\n",
           launch.kernels[urgent == 0].name, launch.kernels[urgent].arrival_cycle, launch.kernels[urgent].name);
    for (i = 0; i < sizeof techniques / sizeof *techniques; i++) {
        demo_row row;
        machine *m = NULL;
        char trace_path[512];
        double us;
        int ended;
        memset(&row, 0, sizeof row);
        options.technique = techniques[i];
        snprintf(trace_path, sizeof trace_path, "%s/demo-%s.json", folder ? folder : "", technique_name(techniques[i]));
        ended = demo_run(&launch, options, html_path, folder ? trace_path : NULL, &shown, &row, &m);
        if (!m) {
            if (shown) page_close(shown);
            launch_file_free(&launch);
            return ended;
        }
        us = 1000.0 / (double)m->config.gpu.clock_khz;
        if (i == 0) {
            printf("%-8s %6s %7s %18s %12s %14s %14s %14s  %s\n", "", "", "", "preemption latency", "bytes saved",
                   "work wasted", launch.kernels[urgent].name, launch.kernels[urgent == 0].name, "results");
            printf("%-8s %6s %7s %18s %12s %14s %14s %14s\n", "", "SMs", "blocks", "mean / worst, us", "",
                   "warp instr.", "us", "us");
        }
        printf("%-8s %6" PRIu64 " %7" PRIu64 " %10.2f / %5.2f %12" PRIu64 " %14" PRIu64 " %14.2f %14.2f  %s\n",
               technique_name(techniques[i]), row.summary.count, row.summary.blocks,
               row.summary.count ? (double)row.summary.latency_sum / (double)row.summary.count * us : 0,
               (double)row.summary.latency_max * us, row.summary.bytes_saved, row.summary.wasted_warp_instructions,
               (double)row.urgent_cycles * us, (double)row.other_cycles * us,
               row.status == EXIT_RIGHT ? "both right" : "WRONG");
        if (row.summary.refused_blocks) {
            printf("         %" PRIu64 " blocks were switched instead: %s\n", row.summary.refused_blocks,
                   gpump_reason_text((gpump_reason)row.summary.refused));
        }
        if (row.status != EXIT_RIGHT) status = row.status;
        machine_free(m);
    }
    if (page_close(shown)) status = cannot_write(html_path);
    if (folder)
        printf("\nTraces: %s/demo-drain.json, demo-switch.json and demo-flush.json (open them at "
               "https://ui.perfetto.dev)\n",
               folder);
    printf(
        "\nDraining saves and wastes nothing but waits for the longest block; switching moves every block's registers "
        "and shared memory; flushing is\n"
        "immediate and does the work again.\n"
        "Next: change the grids, priorities or arrival in %s, or preempt at a moment of your choice:\n"
        "  %s run %s --preempt 5000:flush --html run.html\n"
        "The three runs, side by side on one time axis, are in this page; open it in a browser:\n"
        "  %s\n",
        path, program, path, html_path);
    launch_file_free(&launch);
    return status;
}

/* ==== minigpu policies ==== */

static int command_policies(int argc, char **argv) {
    static char folder[4096];
    return policies_command(argc, argv,
                            installed_folder("minigpu/kernels", MINIGPU_SOURCE_DIR "/kernels", folder, sizeof folder));
}

static int command_pairs(int argc, char **argv) {
    static char folder[4096];
    return pairs_command(argc, argv,
                         installed_folder("minigpu/kernels", MINIGPU_SOURCE_DIR "/kernels", folder, sizeof folder));
}

/* ==== commands ==== */

static const struct {
    const char *name, *what;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", "run a launch file, check the result, report", command_run},
    {"init", "a launch file to begin with, from a PTX file", init_command},
    {"analyze", "what the analyses find in PTX files", command_analyze},
    {"tail", "how long requests take beside a batch kernel, for each partition and way of moving", tail_command},
    {"corun", "kernels that share SMs, under each partition policy: Lin chapter 4", corun_command},
    {"pairs", "pairs of kernels alone and together: the table of Lin 4.5", command_pairs},
    {"policies", "victim-selection policies at the same requests: the tables of Shieh chapter 4", command_policies},
    {"demo", "two kernels, three ways of preempting one for the other", command_demo},
};

int main(int argc, char **argv) {
    size_t i;
    FILE *out = stderr;
    if (argc > 0) program = argv[0];
    html_page_command(argc, argv);
    if (argc > 1) {
        for (i = 0; i < sizeof commands / sizeof *commands; i++) {
            if (strcmp(argv[1], commands[i].name) == 0)
                return output_status(commands[i].run(argc - 1, argv + 1), "minigpu");
        }
        if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)
            out = stdout;
        else
            fprintf(stderr, "minigpu: no command is named \"%s\"\n", argv[1]);
    }
    fputs("usage: minigpu COMMAND ... (minigpu COMMAND --help says more)\n", out);
    for (i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].what);
    return out == stdout ? output_status(EXIT_RIGHT, "minigpu") : EXIT_BAD_INPUT;
}
