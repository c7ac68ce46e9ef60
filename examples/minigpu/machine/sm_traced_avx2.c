/* The traced form for x86 with AVX2 (sm_form.h); CMakeLists.txt has the compiler's options. */
#ifdef __AVX2__
#define SM_PLAIN
#define SM_TRACED
#define SM_ENTRY sm_cycle_traced_avx2
#include "machine/sm_one_file.h"
#else
#include "machine/sm_form.h"

void sm_cycle_traced_avx2(machine *m, sm *s, uint64_t now) { sm_cycle_traced(m, s, now); }
#endif
