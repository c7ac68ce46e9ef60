#include "gpu/port.h"

GPUMP_API uint64_t gpump_port_take(gpump_port *port, uint64_t now, uint64_t bytes, uint64_t *start) {
    const uint64_t cycles = gpump_port_cycles(port, bytes);
    const uint64_t from = cycles && port->free_cycle > now ? port->free_cycle : now;
    const uint64_t end = gpump_add_saturated(from, cycles);
    if (cycles) port->free_cycle = end;
    if (start) *start = from;
    return end;
}

GPUMP_API uint64_t gpumpi_port_cut(gpump_port *port, uint64_t start, uint64_t end, uint64_t now) {
    const uint64_t at = start > now ? start : now;
    if (end != port->free_cycle || at >= end) return 0;
    port->free_cycle = at;
    return end - at;
}
