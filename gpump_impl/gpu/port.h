/* port: how long bytes take on their way to memory or back (calculation; Tanasic 5.1, Lin 2.4.3 and 3.6)
 *
 * One model for every transfer: a port of fixed bandwidth that carries one transfer after the other. The SM's port, a
 * pipeline of contexts alone (gpump_spill_save_time), the estimates of costs and the moves of duet all take a
 * gpump_port. gpump_gpu_port makes the one of an SM; a host may fill the struct with numbers of its own. */
#ifndef GPUMP_PORT_H
#define GPUMP_PORT_H

#include "base/base.h"

GPUMP_BEGIN

/* A port. b bytes take ceil(b x cycles / bytes) cycles. */
typedef struct gpump_port {
    uint64_t cycles;     /* in so many cycles ... */
    uint64_t bytes;      /* ... so many bytes pass; both at least 1 */
    uint64_t free_cycle; /* the first cycle at which the port is free; 0: it has carried nothing */
} gpump_port;

/* Returns the cycles that `bytes` bytes take once they have the port. */
GPUMP_INLINE uint64_t gpump_port_cycles(const gpump_port *port, uint64_t bytes) {
    return gpump_muldiv_up(bytes, port->cycles, port->bytes);
}
/* Gives the port to a transfer of `bytes` bytes that is ready at cycle `now`: sets *start (may be NULL) to the cycle at
 * which the port is free for it, and returns the cycle at which the last byte has passed. 0 bytes do not wait. */
GPUMP_API uint64_t gpump_port_take(gpump_port *port, uint64_t now, uint64_t bytes, uint64_t *start);
/* Ends the transfer from `start` to `end` at cycle `now`. If the transfer was the last one planned, the port is free
 * for what was left of it. Returns the cycles left. */
GPUMP_API uint64_t gpumpi_port_cut(gpump_port *port, uint64_t start, uint64_t end, uint64_t now);

GPUMP_END
#endif
