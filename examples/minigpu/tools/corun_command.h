/* corun_command: minigpu corun, kernels that share SMs beside the same kernels alone. */
#ifndef MINIGPU_CORUN_COMMAND_H
#define MINIGPU_CORUN_COMMAND_H

int corun_command(int argc, char **argv);

#endif
