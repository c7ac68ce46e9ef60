/* pairs_command: minigpu pairs, a table of pairs of kernels alone and together. */
#ifndef MINIGPU_PAIRS_COMMAND_H
#define MINIGPU_PAIRS_COMMAND_H

/* `kernels` is the folder of the kernels that are measured when no file is named. */
int pairs_command(int argc, char **argv, const char *kernels);

#endif
