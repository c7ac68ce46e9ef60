/* What rows of measured devices share. */
#ifndef BENCH_ROWS_SILICON_H
#define BENCH_ROWS_SILICON_H

/* The cost of a command on a GV100, microseconds: at least, evenly spread, on average. Fitted on the rows with use
 * `fit` of M.xs.l3 (least squares of relative errors): 21.5 us at least, 0 to 4 us evenly, and a tail of 2.5 us;
 * tbsim's dispatch and setup of an SM, 1 us each, are a part of it. */
#define GV100_COMMAND_US \
    { 19.5, 4, 24 }
#endif
