/* analyze: what gpump's analyses find in the kernels of PTX files, as text or CSV; and a survey of whole folders. */
#ifndef MINIGPU_ANALYZE_H
#define MINIGPU_ANALYZE_H

/* `minigpu analyze ...`; argv[0] is the command's name. Returns the exit status. */
int command_analyze(int argc, char **argv);
#endif
