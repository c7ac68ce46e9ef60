/* The plain form for x86 with AVX2 (sm_form.h); CMakeLists.txt has the compiler's options. */
#ifdef __AVX2__
#define SM_PLAIN
#define SM_ENTRY sm_cycle_plain_avx2
#define SM_FUNCTIONAL_ENTRY sm_functional_plain_avx2
#include "machine/sm_one_file.h"
#else
#include "machine/sm_form.h"

void sm_cycle_plain_avx2(machine *m, sm *s, uint64_t now) { sm_cycle_plain(m, s, now); }
void sm_functional_plain_avx2(machine *m, sm *s, uint64_t now) { sm_functional_plain(m, s, now); }
#endif
