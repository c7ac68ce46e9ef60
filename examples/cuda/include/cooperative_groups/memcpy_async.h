/* memcpy_async: all of it comes with cooperative_groups.h. */
#ifndef MINIGPU_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define MINIGPU_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#include "cooperative_groups.h"
#endif
