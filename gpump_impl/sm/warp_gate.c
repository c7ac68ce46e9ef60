#include "sm/warp_gate.h"

GPUMP_API const char *gpump_warp_gate_reason(gpump_warp_gate gate, gpump_warp_right right) {
    static const char *const texts[GPUMP_WARP_ASKERS] = {
        "a control instruction is in flight", "waits at a barrier", "its block is stopping", "waits for a page",
        "its kernel has spent its quota",     "is swapped out",     "held by a debugger",    "held by the host"};
    const uint32_t askers = gpumpi_warp_gate_askers(gate, right);
    return askers ? texts[gpump_bits_lowest64(askers)] : NULL;
}
