/* sm_one_file: the whole path of an instruction through an SM as one file, with one entry, SM_ENTRY (sm_form.h). */
#include "lanes/lanes.c"
#include "lanes/lanes_bits.c"
#include "lanes/lanes_compare.c"
#include "lanes/lanes_convert.c"
#include "lanes/lanes_float.c"
#include "lanes/lanes_integer.c"
#include "lanes/lanes_matrix.c"
#include "lanes/lanes_quick.c"
#include "lanes/lanes_texture.c"
#include "sm/front_end.c"
#include "sm/memory_access.c"
#include "sm/memory_path.c"
#include "sm/pipeline.c"
#include "machine/sm_cycle.c"
#ifdef SM_FUNCTIONAL_ENTRY
#include "machine/functional.c"
#endif
#include "machine/sm_form.h"

void SM_ENTRY(machine *m, sm *s, uint64_t now) { sm_cycle(m, s, now); }
#ifdef SM_FUNCTIONAL_ENTRY
void SM_FUNCTIONAL_ENTRY(machine *m, sm *s, uint64_t now) { functional_cycle(m, s, now); }
#endif
