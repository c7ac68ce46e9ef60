/* lists: see lists.h. */
#define _GNU_SOURCE
#include "tools/lists.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "installed.h"
#include "launch/config.h"
#include "policies.h"

#ifndef MINIGPU_SOURCE_DIR
#define MINIGPU_SOURCE_DIR "."
#endif

static void print_names(const char *kind, option_names names) {
    uint32_t i;
    for (i = 0; names(i); i++) printf("%s%s%s\n", kind, *kind ? "\t" : "", names(i));
}

static int print_presets(const char *argument) {
    (void)argument;
    print_names("", gpump_gpu_preset_name);
    return 0;
}

static int print_policies(const char *argument) {
    (void)argument;
    print_names("--victims", policies_victim_name);
    print_names("--schedule", policies_scheduler_name);
    print_names("--partition", policies_partition_name);
    return 0;
}

static int has_launch(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* Prints every folder of kernels with its launch files. */
static int print_kernels(const char *argument) {
    static char own[4096];
    const char *folder = installed_folder("minigpu/kernels", MINIGPU_SOURCE_DIR "/kernels", own, sizeof own);
    struct dirent **entries;
    const int count = scandir(folder, &entries, has_launch, alphasort);
    int i;
    (void)argument;
    if (count < 0) {
        fprintf(stderr, "minigpu: cannot read the folder %s\n", folder);
        return 2;
    }
    for (i = 0; i < count; i++) {
        char path[8400];
        snprintf(path, sizeof path, "%s/%s/launch.yaml", folder, entries[i]->d_name);
        if (!access(path, R_OK)) printf("%s\t%s\n", entries[i]->d_name, path);
        free(entries[i]);
    }
    free(entries);
    return 0;
}

/* Prints the numbers of a preset (gtx480_shieh): name, value, least, most, unit, source. */
static int print_config(const char *argument) {
    const char *preset = argument ? argument : "gtx480_shieh";
    minigpu_config config;
    minigpu_number number;
    uint32_t i, least, most;
    if (minigpu_config_preset(&config, preset)) {
        fprintf(stderr, "minigpu: no GPU preset is named \"%s\"; minigpu --list presets prints all\n", preset);
        return 2;
    }
    for (i = 0; minigpu_config_number(&config, i, &number) == 0; i++) {
        minigpu_config_range(number.name, &least, &most);
        printf("%s\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32 "\t%s\t%s\n", number.name, number.value, least, most,
               number.unit, number.source);
    }
    return 0;
}

const option_list lists[] = {
    {"presets", "GPUs, for --gpu.", print_presets},
    {"policies", "Policies, with the option that takes each.", print_policies},
    {"kernels", "Kernels that minigpu brings along, with a launch file of each.", print_kernels},
    {"config", "Numbers of a machine: name, value, least, most, unit, source.", print_config},
    {NULL, NULL, NULL}};
