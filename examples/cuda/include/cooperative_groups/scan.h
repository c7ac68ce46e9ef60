/* scan: all of it comes with cooperative_groups.h. */
#ifndef MINIGPU_COOPERATIVE_GROUPS_SCAN_H
#define MINIGPU_COOPERATIVE_GROUPS_SCAN_H
#include "cooperative_groups.h"
#endif
