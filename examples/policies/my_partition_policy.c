/* my_partition_policy: a policy of your own that divides an SM takes one file. Copy this one, change its hook and its
 * name, and build it into the hosts:
 *
 *     cmake -S . -B build -DGPUMP_POLICY=/path/to/my_partition_policy.c && cmake --build build
 *     build/examples/minigpu/minigpu corun FILE --partition worst_first --partition ccbp
 *
 * This policy tries every combination of blocks and takes the one whose slowest kernel is fastest, measured beside the
 * kernel's speed with all blocks. It sets no limits of bandwidth. */
#include "gpump.h"

/* Speed with that many blocks, in thousandths of the speed with all of them. */
static uint64_t relative_speed(const gpump_partition_kernel *kernel, uint32_t blocks) {
    const uint64_t all = kernel->curve[kernel->blocks - 1].speed_q16;
    return all ? gpump_muldiv_down(kernel->curve[blocks - 1].speed_q16, 1000, all) : 1000;
}

static void worst_first_decide(const gpump_partition_args *args, gpump_partition_share *shares) {
    const gpump_partition_request *request = args->request;
    uint32_t blocks[GPUMP_PARTITION_KERNELS];
    uint64_t best = 0;
    gpump_result result = gpump_partition_first(request, blocks);
    for (; !result; result = gpump_partition_next(request, blocks)) {
        uint64_t slowest = UINT64_MAX;
        for (uint32_t k = 0; k < request->count; k++) {
            const uint64_t speed = relative_speed(&request->kernels[k], blocks[k]);
            if (speed < slowest) slowest = speed;
        }
        if (slowest + 1 <= best) continue;
        best = slowest + 1; /* of equals the last: it uses the most blocks */
        for (uint32_t k = 0; k < request->count; k++) shares[k].blocks = blocks[k];
    }
}

const gpump_partition_policy my_partition_policy = {
    0, "worst_first", "The combination of blocks whose slowest kernel is fastest.", NULL, worst_first_decide,
};
