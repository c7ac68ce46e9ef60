/* labels: equivalence long slow link: minigpu_core */
/* 720_preempt_anywhere.c with a child at every single cycle of the small grids. */
#define EVERY_CYCLE
#include "720_preempt_anywhere.c"
