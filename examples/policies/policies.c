#include "policies.h"

#include <stdio.h>
#include <string.h>

const gpump_victim_policy *policies_victim_at(uint32_t index) {
    uint32_t built_in = 0;
    while (built_in <= index && gpump_victim_policy_at(built_in)) built_in++;
    if (index < built_in) return gpump_victim_policy_at(index);
    for (uint32_t i = 0; i < index - built_in; i++)
        if (!policies_own_victims[i]) return NULL;
    return policies_own_victims[index - built_in];
}

const gpump_scheduler_policy *policies_scheduler_at(uint32_t index) {
    uint32_t built_in = 0;
    while (built_in <= index && gpump_scheduler_policy_at(built_in)) built_in++;
    if (index < built_in) return gpump_scheduler_policy_at(index);
    for (uint32_t i = 0; i < index - built_in; i++)
        if (!policies_own_schedulers[i]) return NULL;
    return policies_own_schedulers[index - built_in];
}

const gpump_partition_policy *policies_partition_at(uint32_t index) {
    uint32_t built_in = 0;
    while (built_in <= index && gpump_partition_policy_at(built_in)) built_in++;
    if (index < built_in) return gpump_partition_policy_at(index);
    for (uint32_t i = 0; i < index - built_in; i++)
        if (!policies_own_partitions[i]) return NULL;
    return policies_own_partitions[index - built_in];
}

const char *policies_victim_name(uint32_t index) {
    const gpump_victim_policy *policy = policies_victim_at(index);
    return policy ? policy->name : NULL;
}

const char *policies_scheduler_name(uint32_t index) {
    const gpump_scheduler_policy *policy = policies_scheduler_at(index);
    return policy ? policy->name : NULL;
}

const char *policies_partition_name(uint32_t index) {
    const gpump_partition_policy *policy = policies_partition_at(index);
    return policy ? policy->name : NULL;
}

const gpump_victim_policy *policies_find_victim(const char *name) {
    for (uint32_t i = 0; policies_own_victims[i]; i++)
        if (!strcmp(policies_own_victims[i]->name, name)) return policies_own_victims[i];
    return gpump_victim_find(name);
}

const gpump_scheduler_policy *policies_find_scheduler(const char *name) {
    for (uint32_t i = 0; policies_own_schedulers[i]; i++)
        if (!strcmp(policies_own_schedulers[i]->name, name)) return policies_own_schedulers[i];
    return gpump_scheduler_find(name);
}

const gpump_partition_policy *policies_find_partition(const char *name) {
    for (uint32_t i = 0; policies_own_partitions[i]; i++)
        if (!strcmp(policies_own_partitions[i]->name, name)) return policies_own_partitions[i];
    return gpump_partition_find(name);
}

const gpump_partition_policy *policies_read_partition(const char *program, const char *text, const gpump_gpu *gpu,
                                                      uint32_t kernels, gpump_partition_fixed *fixed) {
    const gpump_partition_policy *policy = policies_find_partition(text);
    char reason[256];
    gpump_result result;
    gpump_diag diag;
    if (policy) return policy;
    result = gpump_partition_fixed_parse(text, gpu, fixed, &diag);
    if (result == GPUMP_OK && fixed->count == kernels) return &fixed->policy;
    if (result == GPUMP_OK) {
        fprintf(stderr, "%s: the division \"%s\" names %u of %u kernels: give one part for each\n", program, text,
                fixed->count, kernels);
        return NULL;
    }
    if (result == GPUMP_ERROR_UNKNOWN_NAME) {
        fprintf(stderr, "%s: there is no partition policy \"%s\"; there are", program, text);
        for (uint32_t i = 0; policies_partition_name(i); i++) fprintf(stderr, " %s", policies_partition_name(i));
        fputs(" green:A:B mps:P:Q mig:1g+3g blocks:A:B\n", stderr);
        return NULL;
    }
    gpump_diag_text(&diag, reason, sizeof reason);
    fprintf(stderr, "%s: the division \"%s\" cannot be had on %u SMs: %s\n", program, text, gpu->sms,
            reason + strlen(gpump_result_name(diag.code)) + 2);
    return NULL;
}
