/* policies_command: `minigpu policies`, the experiment of victim_experiment.h as tables. Returns the exit status. */
#ifndef MINIGPU_POLICIES_COMMAND_H
#define MINIGPU_POLICIES_COMMAND_H
int policies_command(int argc, char **argv, const char *kernels_dir);
#endif
