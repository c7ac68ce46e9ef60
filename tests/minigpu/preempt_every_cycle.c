/* labels: equivalence long slow link: minigpu_core */
/* tests/minigpu/preempt_anywhere.c with a try at every single cycle of the small grids. */
#define EVERY_CYCLE
#include "minigpu/preempt_anywhere.c"
