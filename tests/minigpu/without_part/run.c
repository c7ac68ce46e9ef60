/* Runs small launches on machines with different parts, and prints the cycles and the results of each. Arguments: the
 * name of a part that this program was linked without (or "none"): machines that need it are left out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"
#include "machine/machine.h"
#include "tools/check.h"

typedef struct variant {
    const char *name, *needs; /* needs: parts, each with a blank before and behind it */
    void (*set)(machine_options *o);
} variant;

static void nothing(machine_options *o) { (void)o; }
static void general(machine_options *o) { o->config = "sm_form=1"; }
static void windows(machine_options *o) { o->threads = 1; }
static void switched(machine_options *o) {
    o->preempt_cycle = 300;
    o->technique = GPUMP_TECHNIQUE_SWITCH;
}
static void rewound(machine_options *o) {
    switched(o);
    o->technique = GPUMP_TECHNIQUE_REWIND;
    o->regions = REGIONS_SPARSE;
}
static void shared_goes_back(machine_options *o) {
    rewound(o);
    o->shared_restart = SHARED_VERSIONED;
}
static void erring(machine_options *o) {
    o->regions = 16;
    o->errors.detection = "razor2";
    o->errors.errs.at = 20;
    o->errors.errs.interval = 50;
}
static void tlbs(machine_options *o) { o->config = "l1_tlb_entries=16"; }
static void faulting(machine_options *o) {
    o->absent = o->faults.absent = "all";
    o->faults.scheme = "queue";
}
static void linked(machine_options *o) {
    faulting(o);
    o->faults.link = "nvlink";
}
static void exchanged(machine_options *o) {
    linked(o);
    o->faults.extra = 2;
}
static void checked(machine_options *o) {
    o->absent = "all";
    o->page_checks = PAGE_CHECKS_EVERY;
}
static void code_absent(machine_options *o) {
    checked(o);
    o->absent = "all,code";
}
static void out_of_order(machine_options *o) { o->config = "issue_queue_entries=32"; }
static void beyond_room(machine_options *o) { o->duet = "maxwell_duet"; }
static void scheduled(machine_options *o) { o->schedule = "ppq"; }
static void with_policy(machine_options *o) { o->policy = gpump_victim_find("chimera"); }
static void grouped(machine_options *o) {
    o->config = "memory_model=1";
    o->sharing.policy = gpump_partition_find("even");
}

static const variant variants[] = {
    {"nothing", "", nothing},
    {"general form", "", general},
    {"windows", "", windows},
    {"switched", " preempt_at ", switched},
    {"rewound", " preempt_at restart ", rewound},
    {"shared memory goes back", " preempt_at restart shared_log ", shared_goes_back},
    {"errors", " restart errors ", erring},
    {"TLBs", " faults ", tlbs},
    {"faults", " faults page_checks ", faulting},
    {"faults over a link", " faults page_checks fault_unit ", linked},
    {"blocks give way", " faults page_checks fault_unit fault_switch ", exchanged},
    {"page checks", " page_checks ", checked},
    {"code is absent", " page_checks code_pages faults ", code_absent},
    {"out of order", " issue_queue ", out_of_order},
    {"beyond the room", " duet ", beyond_room},
    {"scheduled", " schedule ", scheduled},
    {"victims", " victims ", with_policy},
    {"group", " corun ", grouped},
};

static const char *const launches[] = {"kernels/saxpy/small.yaml", "kernels/pathfinder/small.yaml",
                                       "../../tests/minigpu/option_sets/quicksort_walsh.yaml"};

/* Returns 0 when the machine ran and was right. */
static int run_one(const variant *v, const char *path) {
    static char file[4096];
    launch_file launch;
    machine_options options;
    kernel_check checks[8];
    char error[LAUNCH_ERROR_BYTES] = "";
    machine *m = NULL;
    int wrong = 1;
    snprintf(file, sizeof file, "%s/%s", MINIGPU_SOURCE_DIR, path);
    machine_options_default(&options);
    v->set(&options);
    if (launch_file_read(&launch, file, error)) {
        printf("%s\n", error);
        return 1;
    }
    if ((m = machine_build(&launch, &options, error)) != NULL)
        wrong = machine_run(m, UINT64_C(1) << 32) != 1 || check_results(m, &launch, checks) != 0;
    printf("%-24s %-54s %s %" PRIu64 " %016" PRIx64 "\n", v->name, path, wrong ? m ? m->error : error : "right",
           m ? m->now : 0, m ? machine_result_hash(m, &launch) : 0);
    machine_free(m);
    launch_file_free(&launch);
    return wrong;
}

int main(int count, char **arguments) {
    char left_out[64];
    uint32_t i, n, wrong = 0;
    snprintf(left_out, sizeof left_out, " %s ", count > 1 ? arguments[1] : "none");
    for (i = 0; i < sizeof variants / sizeof *variants; i++)
        for (n = 0; n < sizeof launches / sizeof *launches && !strstr(variants[i].needs, left_out); n++)
            wrong |= (uint32_t)run_one(&variants[i], launches[n]);
    return (int)wrong;
}
