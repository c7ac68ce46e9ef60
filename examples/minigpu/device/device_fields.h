/* device_fields: the fields of a device, for the files of this folder. */
#ifndef MINIGPU_DEVICE_FIELDS_H
#define MINIGPU_DEVICE_FIELDS_H

#include "device/allocations.h"
#include "device/device.h"
#include "device/kept.h"

/* PTX that the machine of other programs has not got yet. */
typedef struct share_texts {
    char **texts; /* by module; NULL: sent */
    uint32_t count;
} share_texts;

/* The texture references of a module that are bound. */
typedef struct bound_textures {
    launch_texture_reference *references;
    uint32_t count;
} bound_textures;

struct device {
    const device_options *options;
    minigpu_config config;
    char *numbers; /* of the configuration: those of the options and those of device_set_number; NULL: the former */
    allocations memory;
    ptx_module *modules;
    uint64_t *const_bases, *global_bases; /* 0: the module has none */
    uint32_t module_count;
    lanes_texture *textures;
    uint32_t texture_count;
    bound_textures *bound; /* by module, as far as any is bound */
    uint32_t bound_count;
    uint64_t cycle;
    kept_machines kept;
    share_texts texts; /* of the modules, for the machine that several programs share */
    /* kernels that device_start has accepted and device_run has not run */
    launch_kernel kernels[DEVICE_STARTED_MAX];
    device_launch launches[DEVICE_STARTED_MAX];
    launch_process processes[DEVICE_STARTED_MAX];
    uint32_t streams[DEVICE_STARTED_MAX]; /* of the processes */
    char stream_names[DEVICE_STARTED_MAX][24];
    uint8_t *parameters[DEVICE_STARTED_MAX];
    uint32_t kernel_count, process_count;
    uint64_t launched; /* kernels that were started so far */
    char error[LAUNCH_ERROR_BYTES];
};

#endif
