/* contradictions: see contradictions.h. */
#include "tools/contradictions.h"

#include <string.h>

#include "parts/fault_unit/fault_unit.h"
#include "parts/page_checks/page_faults.h"

/* What was given, as one bit each: name and when it was. */
#define FACTS(X)                                                                \
    X(SCHEDULE, o->schedule)                                                    \
    X(TIME_SLICE, o->schedule && !strcmp(o->schedule, "time_slice"))            \
    X(VACATE, run->vacate)                                                      \
    X(SLICE, o->slice_ns)                                                       \
    X(POLICY, o->policy)                                                        \
    X(TECHNIQUE, o->technique != GPUMP_TECHNIQUES)                              \
    X(LIMIT, run->limit_ns != NEVER)                                            \
    X(LATE_PRICE, run->late_price)                                              \
    X(PARTITION, o->sharing.policy)                                             \
    X(MOVE, o->sharing.leave)                                                   \
    X(PARKS, o->sharing.parks)                                                  \
    X(PLACES, o->sharing.places)                                                \
    X(IN_TURN, o->sharing.in_turn)                                              \
    X(UNSAMPLED, o->sharing.unsampled)                                          \
    X(GROUP, o->sharing.group)                                                  \
    X(DUET, o->duet)                                                            \
    X(THREADS, o->threads)                                                      \
    X(IN_PLACE, o->in_place)                                                    \
    X(REGIONS, o->regions)                                                      \
    X(SPILLING, o->spilling)                                                    \
    X(POINTS, o->point_interval)                                                \
    X(CHOOSE, o->choose)                                                        \
    X(PAGE_CHECKS, o->page_checks)                                              \
    X(ABSENT, o->absent)                                                        \
    X(ABSENT_LOCAL, page_faults_list_has(o->absent, "local"))                   \
    X(ABSENT_CODE, page_faults_list_has(o->absent, "code"))                     \
    X(FAULTS, o->faults.scheme)                                                 \
    X(FAULTS_STALL, o->faults.scheme && !strcmp(o->faults.scheme, "stall"))     \
    X(FAULTS_REGIONS, o->faults.scheme && !strcmp(o->faults.scheme, "regions")) \
    X(FINDS_ABSENT, o->faults.scheme || o->page_checks)                         \
    X(FAULT_AT, o->faults.check != NEVER)                                       \
    X(FAULT_SERVICE, o->fault_service_ns)                                       \
    X(FAULT_ORDER, o->faults.order != GPUMP_REPLAY_CLASS)                       \
    X(FAULT_LAZY, o->faults.lazy)                                               \
    X(LINK, o->faults.link)                                                     \
    X(LINK_UVM595, o->faults.link && !strcmp(o->faults.link, "uvm595"))         \
    X(SWITCH_ON_FAULT, o->faults.extra)                                         \
    X(LOCAL_HANDLER, o->faults.local)                                           \
    X(GPU_MEMORY, o->faults.memory)                                             \
    X(REMOTE, o->faults.remote)                                                 \
    X(REMOTE_THRASHING, o->faults.remote == FAULT_REMOTE_THRASHING)

enum {
#define NUMBER(name, when) NUMBER_##name,
    FACTS(NUMBER)
#undef NUMBER
};
#define BIT(name) (UINT64_C(1) << NUMBER_##name)
#define NOTHING UINT64_MAX /* nothing that could be given makes the row right */

/* Wrong are options of which all of `all` and, unless it is 0, one of `any` are given, and not all of `needs`. The
 * first row that applies is reported. */
static const struct {
    uint64_t all, any, needs;
    const char *why;
} table[] = {
    {BIT(SCHEDULE) | BIT(POLICY), 0, NOTHING, "--schedule and --policy exclude each other"},
    {0, BIT(MOVE) | BIT(PLACES) | BIT(IN_TURN) | BIT(UNSAMPLED), BIT(PARTITION),
     "--move, --places, --in-turn and --unsampled need --partition NAME"},
    {BIT(PARTITION) | BIT(POLICY), 0, NOTHING, "--partition excludes --policy"},
    {BIT(GROUP), 0, BIT(SCHEDULE) | BIT(PARTITION), "--group needs --schedule NAME and --partition NAME"},
    {BIT(PARTITION) | BIT(SCHEDULE), 0, BIT(GROUP) | BIT(UNSAMPLED),
     "--partition with --schedule needs --group N and --unsampled: while a group measures, the scheduler would take "
     "SMs from it"},
    {BIT(GROUP), BIT(PLACES) | BIT(FAULTS) | BIT(PAGE_CHECKS) | BIT(ABSENT), NOTHING,
     "--group excludes --places, --faults, --page-checks and --absent"},
    {BIT(DUET), BIT(SCHEDULE) | BIT(MOVE) | BIT(PARKS) | BIT(IN_PLACE) | BIT(REGIONS) | BIT(POINTS) | BIT(THREADS),
     NOTHING,
     "--duet excludes --schedule, --move, --in-place, --points, --regions and --threads (docs/duet.md says why); "
     "--preempt, --policy, --absent and --faults go with it"},
    {BIT(DUET) | BIT(SWITCH_ON_FAULT), 0, NOTHING,
     "--duet excludes --switch-on-fault: warps that wait for pages leave their slots by themselves"},
    {BIT(DUET) | BIT(GPU_MEMORY), 0, NOTHING,
     "--duet excludes --gpu-memory: a warp in a frame would keep the pages that it waited for"},
    {BIT(TECHNIQUE), BIT(SCHEDULE) | BIT(POLICY), NOTHING,
     "--preempt CYCLE:TECHNIQUE with --policy or --schedule: these choose the technique; give the cycle only"},
    {BIT(CHOOSE), 0, BIT(POINTS), "--choose needs --points: there is nothing to run on to"},
    {BIT(SPILLING), 0, BIT(REGIONS), "--spilling needs --regions sparse"},
    {BIT(LIMIT), 0, BIT(POLICY), "--limit needs --policy NAME"},
    {BIT(LATE_PRICE), 0, BIT(LIMIT), "--late-price needs --limit US"},
    {BIT(IN_PLACE) | BIT(SCHEDULE), 0, NOTHING,
     "--in-place is not available under --schedule: the scheduler empties an SM before another kernel gets it; use "
     "--policy NAME or --preempt CYCLE:switch"},
    {0, BIT(FAULT_AT) | BIT(FAULT_SERVICE) | BIT(FAULT_LAZY) | BIT(FAULT_ORDER), BIT(FAULTS),
     "--fault-at, --fault-service, --fault-order and --fault-lazy need --faults SCHEME"},
    {BIT(LINK), 0, BIT(FINDS_ABSENT),
     "--link needs --faults SCHEME or --page-checks FORM: somebody must find absent pages"},
    {BIT(LINK), BIT(FAULT_SERVICE) | BIT(FAULT_AT), NOTHING,
     "--link serves faults in its own time: no --fault-service, and no --fault-at"},
    {BIT(LINK) | BIT(THREADS), 0, NOTHING,
     "--link and --threads exclude each other: the fault unit is one for all SMs"},
    {BIT(LINK) | BIT(IN_PLACE), 0, NOTHING, "--link and --in-place exclude each other"},
    {BIT(SWITCH_ON_FAULT), 0, BIT(LINK),
     "--switch-on-fault needs --link NAME, and a scheme under which a warp can leave: not stall"},
    {BIT(SWITCH_ON_FAULT) | BIT(FAULTS_STALL), 0, NOTHING,
     "--switch-on-fault needs --link NAME, and a scheme under which a warp can leave: not stall"},
    {BIT(SWITCH_ON_FAULT), BIT(POLICY) | BIT(PARTITION), NOTHING,
     "--switch-on-fault excludes --policy and --partition"},
    {BIT(LOCAL_HANDLER), 0, BIT(LINK), "--local-handler needs --link NAME"},
    {BIT(LOCAL_HANDLER) | BIT(LINK_UVM595), 0, NOTHING,
     "--local-handler needs a link that serves faults one by one: not uvm595"},
    {0, BIT(GPU_MEMORY) | BIT(REMOTE), BIT(LINK), "--gpu-memory and --remote need --link NAME"},
    {BIT(ABSENT_LOCAL), 0, BIT(PAGE_CHECKS),
     "--absent local needs --page-checks FORM: local memory faults only where it is checked"},
    {BIT(GPU_MEMORY) | BIT(ABSENT_CODE), 0, NOTHING,
     "--gpu-memory excludes --absent code: what code occupies is no buffer's, and is not evicted"},
    {BIT(GPU_MEMORY) | BIT(PAGE_CHECKS), 0, NOTHING,
     "--gpu-memory excludes --page-checks: a page could be evicted between its check and its access"},
    {BIT(GPU_MEMORY) | BIT(FAULTS_REGIONS), 0, NOTHING,
     "--gpu-memory excludes --faults regions: the pages of a whole region would have to stay"},
    {BIT(GPU_MEMORY) | BIT(FAULT_LAZY), 0, NOTHING,
     "--gpu-memory excludes --fault-lazy: warps that wait in place keep others out of the load-store unit"},
    {BIT(REMOTE_THRASHING), 0, BIT(LINK_UVM595),
     "--remote thrashing needs --link uvm595: other links do not look for pages that thrash"},
    {BIT(VACATE), 0, BIT(SCHEDULE), "--vacate needs --schedule NAME"},
    {BIT(SLICE), 0, BIT(TIME_SLICE), "--slice needs --schedule time_slice"},
};

const char *contradiction(const machine_options *o, const run_options *run) {
    uint64_t given = 0;
    uint32_t i;
#define SET(name, when) given |= (when) ? BIT(name) : 0;
    FACTS(SET)
#undef SET
    for (i = 0; i < sizeof table / sizeof *table; i++)
        if ((given & table[i].all) == table[i].all && (!table[i].any || given & table[i].any) &&
            (given & table[i].needs) != table[i].needs)
            return table[i].why;
    return NULL;
}
