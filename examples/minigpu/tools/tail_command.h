/* tail_command: minigpu tail: how long requests take beside a batch kernel, for every partition and way of moving. */
#ifndef MINIGPU_TAIL_COMMAND_H
#define MINIGPU_TAIL_COMMAND_H

/* Returns an exit status. */
int tail_command(int argc, char **argv);

#endif
