/* kill: a process is aborted. Its blocks go at once, on every SM and off the chip, whatever they are doing; what others
 * do is left alone. */
#ifndef MINIGPU_KILL_H
#define MINIGPU_KILL_H

#include "state/state.h"

/* Kills all blocks of a process and ends its kernels. Returns how many blocks. */
uint32_t preemption_kill_process(machine *m, uint32_t process);

#endif
