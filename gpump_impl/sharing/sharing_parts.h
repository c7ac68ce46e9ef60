/* sharing_parts (private): the decide hooks of the built-in partition policies, which partition.c and partition_slack.c
 * define and partition_policies.c lists. */
#ifndef GPUMPI_SHARING_PARTS_H
#define GPUMPI_SHARING_PARTS_H

#include "sharing/partition.h"

GPUMP_BEGIN

#define GPUMPI_SLACK_CANDIDATES 7u /* three of the model's, four rivals' */

GPUMP_API void gpumpi_partition_ccbp(const gpump_partition_args *args, gpump_partition_share *shares);
GPUMP_API void gpumpi_partition_smk(const gpump_partition_args *args, gpump_partition_share *shares);
GPUMP_API void gpumpi_partition_ws(const gpump_partition_args *args, gpump_partition_share *shares);
GPUMP_API void gpumpi_partition_ws_dai(const gpump_partition_args *args, gpump_partition_share *shares);
GPUMP_API void gpumpi_partition_crisp(const gpump_partition_args *args, gpump_partition_share *shares);
GPUMP_API void gpumpi_partition_spatial(const gpump_partition_args *args, gpump_partition_share *shares);
GPUMP_API void gpumpi_partition_even(const gpump_partition_args *args, gpump_partition_share *shares);
GPUMP_API void gpumpi_partition_leftover(const gpump_partition_args *args, gpump_partition_share *shares);
GPUMP_API void gpumpi_partition_slack(const gpump_partition_args *args, gpump_partition_share *shares);

GPUMP_END
#endif
