/* sharing_parts (private): what partition.c takes from partition_slack.c. */
#ifndef GPUMPI_SHARING_PARTS_H
#define GPUMPI_SHARING_PARTS_H

#include "sharing/partition.h"

GPUMP_BEGIN

#define GPUMPI_SLACK_CANDIDATES 7u /* three of the model's, four rivals' */

/* The decide hook of policy "slack". */
GPUMP_API void gpumpi_partition_slack(const gpump_partition_args *args, gpump_partition_share *shares);

GPUMP_END
#endif
