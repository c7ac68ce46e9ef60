#include "machine/sm_form.h"

#include "machine/sm_cycle.h"

/* Returns how many kernels come from traces. */
static uint32_t traced_kernels(const machine *m) {
    uint32_t i, count = 0;
    for (i = 0; i < m->kernel_count; i++) count += m->kernels[i].launch->trace != NULL;
    return count;
}

int sm_form_is_plain(const machine *m) {
    const uint32_t traced = m->traits & PART_ON_PATH ? 0 : traced_kernels(m);
    return !(m->traits & PART_ON_PATH) && !m->config.l1_model && (!traced || traced == m->kernel_count);
}

static int has_avx2(void) {
#if defined(__GNUC__) && defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
#else
    return 0;
#endif
}

sm_cycle_form *sm_form_choose(const machine *m) {
    const int plain = m->config.sm_form != SM_FORM_GENERAL && sm_form_is_plain(m),
              avx2 = m->config.sm_form == SM_FORM_FASTEST && has_avx2();
    if (m->functional) return avx2 ? sm_functional_plain_avx2 : sm_functional_plain;
    if (plain && m->kernel_count && traced_kernels(m)) return avx2 ? sm_cycle_traced_avx2 : sm_cycle_traced;
    if (plain) return avx2 ? sm_cycle_plain_avx2 : sm_cycle_plain;
    return avx2 ? sm_cycle_general_avx2 : sm_cycle;
}
