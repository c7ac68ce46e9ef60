#include "machine/sm_form.h"

#include "machine/sm_cycle.h"

int sm_form_is_plain(const machine *m) { return !(m->traits & PART_ON_PATH); }

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
    if (plain) return avx2 ? sm_cycle_plain_avx2 : sm_cycle_plain;
    return avx2 ? sm_cycle_general_avx2 : sm_cycle;
}
