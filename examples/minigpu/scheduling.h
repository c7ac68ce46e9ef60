/* scheduling: several processes under a policy of gpump's scheduler (FCFS, NPQ, PPQ, DSS ...) instead of the dispatcher's own choice of kernels.
 *
 * Only with machine.scheduler set (`minigpu run --schedule NAME [--mechanism switch|drain|select]`): gpump_scheduler then says which kernel
 * gets which SM, when an SM is to be vacated, and which block is issued where; dispatcher.c only carries it out. */
#ifndef MINIGPU_SCHEDULING_H
#define MINIGPU_SCHEDULING_H

#include "machine.h"

#endif
