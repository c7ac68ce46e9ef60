/* trace_picture: draws the registers of traced kernels as SVG, allocated against live over the life of a warp. */
#ifndef MINIGPU_TRACE_PICTURE_H
#define MINIGPU_TRACE_PICTURE_H

#include <stdio.h>

#include "tools/analyze_trace.h"

/* A picture that is being written. */
typedef struct trace_picture {
    FILE *out; /* NULL: no picture */
    const char *path;
    uint32_t panels; /* drawn so far */
} trace_picture;

/* Begins a picture of so many kernels. path: NULL for none. Returns 0, or -1 after a report. */
int trace_picture_begin(trace_picture *p, const char *path, uint32_t kernels);
/* Draws the next kernel. */
void trace_picture_add(trace_picture *p, const launch_kernel *k, const trace_report *report);
/* Ends the picture. Returns 0, or -1 after a report. */
int trace_picture_end(trace_picture *p);

#endif
