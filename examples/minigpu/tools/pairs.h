/* pairs: kernels measured alone, and pairs of them together under several policies (Lin 4.5). */
#ifndef MINIGPU_PAIRS_H
#define MINIGPU_PAIRS_H

#include <stdio.h>

#include "tools/corun_experiment.h"

enum { PAIRS_KERNELS = 64, PAIRS_POLICIES = 20 };

/* A kernel: the only one of a launch file. */
typedef struct pairs_kernel {
    char path[512];
    char label[32]; /* of tables: the file's name without its suffix, or its folder's */
    double per_cycle;
    uint32_t kind; /* gpump_partition_class of the kernel alone */
    gpump_traffic traffic;
} pairs_kernel;

/* The experiment: its kernels, pairs and policies. */
typedef struct pairs_experiment {
    pairs_kernel kernels[PAIRS_KERNELS];
    uint32_t kernel_count;
    const gpump_partition_policy *policies[PAIRS_POLICIES];
    uint32_t policy_count;
    corun_experiment run;   /* without launch */
    gpump_gpu gpu;          /* that the kernels' launch files describe */
    uint64_t oracle_cycles; /* cycles of each combination of blocks; 0: without the oracle */
    uint64_t oracle_warm;   /* cycles before each measurement */
    uint64_t second_after;  /* cycles from the arrival of a pair's first kernel to that of its second */
    uint32_t seed;          /* seed for the choice of pairs */
} pairs_experiment;

/* A pair under one policy: a row of the table. */
typedef struct pairs_row {
    uint32_t number, first, second; /* number of the pair; indices of its kernels */
    uint32_t kinds[2];              /* of the kernels alone */
    char policy[32];                /* "oracle": the best combination of blocks */
    uint32_t blocks[2], sms[2];
    double speed[2];
    double harmonic, weighted;
    double network, dram; /* percent of the sustainable traffic, both kernels together */
} pairs_row;

typedef struct pairs_table {
    pairs_row *rows;
    uint32_t count, capacity;
} pairs_table;

/* A ratio of mean HSpeedups over pairs, with its 95% interval. The bootstrap draws kernels, because pairs share
 * them. */
typedef struct pairs_ratio {
    double ratio, low, high;
    uint32_t pairs;
} pairs_ratio;

/* Adds a launch file with one kernel, or every .yaml file of a folder. Returns 0, or 2 after a message. */
int pairs_add(pairs_experiment *e, const char *path);
/* Checks that an output is no file that the kernels read. Returns 0, or 2 after a report. */
int pairs_spare(const pairs_experiment *e, const char *output);
/* Sets e->gpu from the kernels' launch files. Returns 0, or 2 after a report: no file, or other numbers of SMs. */
int pairs_choose_gpu(pairs_experiment *e);
/* Sets *machine, as policies and classes see e->gpu. Returns 0 when no partition preset has the GPU's name. */
int pairs_machine(const pairs_experiment *e, gpump_partition_config *machine);
/* Measures every kernel alone. Returns an exit status. */
int pairs_measure_alone(pairs_experiment *e);
/* Draws `count` pairs with e->seed into chosen[][2], equally many of each combination of two classes; all pairs when
 * there are fewer. Returns their number. */
uint32_t pairs_choose(const pairs_experiment *e, uint32_t count, uint32_t chosen[][2]);
/* Runs pair number `number` under every policy and appends its rows. Returns an exit status. */
int pairs_run(const pairs_experiment *e, uint32_t number, uint32_t first, uint32_t second, pairs_table *table);

/* Reads a table, and the kernels' labels in alphabetical order. Returns 0, or 2 after a message. */
int pairs_read(FILE *file, const char *name, pairs_experiment *e, pairs_table *table);
void pairs_write_header(FILE *file);
void pairs_write(FILE *file, const pairs_experiment *e, const pairs_row *row);
/* Returns the ratio of the mean HSpeedup under `policy` to that under `other`, over the pairs that have both. kinds:
 * the classes of both kernels; NULL: all pairs. */
pairs_ratio pairs_compare(const pairs_table *table, const char *policy, const char *other, const uint32_t *kinds);
/* Sets the mean HSpeedup and WSpeedup under a policy. Returns the number of pairs. */
uint32_t pairs_mean(const pairs_table *table, const char *policy, double *harmonic, double *weighted);
void pairs_free(pairs_table *table);

#endif
