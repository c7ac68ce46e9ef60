/* trace_writer: writes the kernels of a run as traces that Accel-Sim, and `minigpu run kernelslist.g`, read (tracer
 * version 5, or 6 with the values of registers). PTX has no SASS: each instruction gets the name of a SASS opcode of
 * the same unit and operands. */
#ifndef MINIGPU_TRACE_WRITER_H
#define MINIGPU_TRACE_WRITER_H

#include "state/state.h"

/* Begins to write the traces of a machine that has not run to a folder, which must exist: kernelslist.g, and
 * kernel-N.traceg for each kernel. has_values: 1 for the values that instructions write to registers (tracer version
 * 6). Returns 0, or -1 with the reason in error. */
int trace_writer_open(machine *m, const char *folder, int has_values, char error[LAUNCH_ERROR_BYTES]);
/* Ends the files. Returns 0, or -1 when one could not be written; errno says why. */
int trace_writer_close(machine *m);

#endif
