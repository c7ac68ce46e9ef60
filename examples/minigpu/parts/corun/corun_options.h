/* corun_options: what a launch says about its group of kernels (corun.h). */
#ifndef MINIGPU_CORUN_OPTIONS_H
#define MINIGPU_CORUN_OPTIONS_H

#include "gpump.h"

/* All zero: every kernel is measured on its part of the SMs, and blocks above their caps drain. */
typedef struct corun_options {
    const gpump_partition_policy *policy; /* NULL: no group */
    const char *division;                 /* a fixed division as it was given, green:8:7; NULL: policy says it */
    uint32_t dram_sustainable_permille;   /* of DRAM's peak; 0: gpump_partition_config's */
    uint32_t in_turn;                     /* 1: kernels are measured one after the other on all SMs */
    uint32_t unsampled;                   /* 1: the policy decides without measuring */
    uint32_t places;                      /* members at most; 0: every kernel of the launch */
    const gpump_victim_policy *leave;     /* how blocks above a cap leave; NULL: they drain */
    uint32_t parks;                       /* 1: what nobody needs of them stays in place */
    uint32_t group;                       /* under a schedule: the first so many kernels are one command; 0: none */
    uint32_t window_cycles;               /* how often classes are looked at while kernels run; 0: never */
    uint32_t priorities;                  /* 1: policies see the launch's priorities, 1 more than there */
} corun_options;

#endif
