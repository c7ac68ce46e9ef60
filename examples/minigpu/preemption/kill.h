/* kill: aborts a process. Its blocks leave at once, on every SM and among the preempted blocks, whatever
 * their state. Other processes are not affected. */
#ifndef MINIGPU_KILL_H
#define MINIGPU_KILL_H

#include "state/state.h"

/* Kills all blocks of a process and ends its kernels. Returns the number of blocks. */
uint32_t preemption_kill_process(machine *m, uint32_t process);

#endif
