#include "sharing/sharing_parts.h"

#include <string.h>

static const gpump_partition_policy gpumpi_partition_policies[] = {
    {0, "ccbp", "Lin's coordinated blocks and bandwidth: fair in each kernel's dominant resource.", NULL,
     gpumpi_partition_ccbp},
    {0, "smk", "Simultaneous multikernel: fair in static resources, warp instructions by quota.", NULL,
     gpumpi_partition_smk},
    {0, "ws", "Warped-Slicer: raises the slowest kernel along its speed curve.", NULL, gpumpi_partition_ws},
    {0, "ws+dai", "Warped-Slicer with the memory throttling of Dai et al.", NULL, gpumpi_partition_ws_dai},
    {0, "crisp", "The combination of blocks with the largest sum of speeds.", NULL, gpumpi_partition_crisp},
    {0, "spatial", "The SMs are divided among the kernels.", NULL, gpumpi_partition_spatial},
    {0, "even", "Each kernel gets the same part of an SM.", NULL, gpumpi_partition_even},
    {0, "leftover", "Each kernel gets what the kernels before it leave.", NULL, gpumpi_partition_leftover},
    {GPUMPI_SLACK_CANDIDATES, "slack",
     "Our own: what a queueing model finds best is tried out beside what its rivals answer.", NULL,
     gpumpi_partition_slack},
};

GPUMP_API const gpump_partition_policy *gpump_partition_policy_at(uint32_t index) {
    return index < sizeof gpumpi_partition_policies / sizeof *gpumpi_partition_policies
               ? &gpumpi_partition_policies[index]
               : NULL;
}
GPUMP_API const gpump_partition_policy *gpump_partition_find(const char *name) {
    const gpump_partition_policy *policy;
    uint32_t i;
    for (i = 0; (policy = gpump_partition_policy_at(i)) != NULL; i++)
        if (name && !strcmp(policy->name, name)) return policy;
    return NULL;
}
