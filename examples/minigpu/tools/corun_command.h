/* corun_command: minigpu corun, kernels that share SMs beside the same kernels alone. */
#ifndef MINIGPU_CORUN_COMMAND_H
#define MINIGPU_CORUN_COMMAND_H

#include <stdint.h>

/* The partition policies that the mini-GPU can carry out, from 0; NULL past the last. */
const char *corun_policy_name(uint32_t index);
int corun_command(int argc, char **argv);

#endif
