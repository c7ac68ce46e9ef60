/* The plain form (sm_form.h). SM_PLAIN is the name of its entry. */
#ifndef SM_PLAIN
#define SM_PLAIN sm_cycle_plain
#endif

#include "lanes/lanes.c"
#include "lanes/lanes_bits.c"
#include "lanes/lanes_compare.c"
#include "lanes/lanes_convert.c"
#include "lanes/lanes_float.c"
#include "lanes/lanes_integer.c"
#include "memory/memory_access.c"
#include "memory/memory_path.c"
#include "machine/pipeline.c"
#include "machine/sm_cycle.c"
#include "machine/sm_form.h"

void SM_PLAIN(machine *m, sm *s, uint64_t now) { sm_cycle(m, s, now); }
