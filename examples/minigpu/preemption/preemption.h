/* preemption: every call of gpump, in the order in which a preemption proceeds. To read the code, start in
 * block_life.c. */
#ifndef MINIGPU_PREEMPTION_H
#define MINIGPU_PREEMPTION_H

#include "preemption/block_life.h"
#include "preemption/context_bytes.h"
#include "preemption/requests.h"

#endif
