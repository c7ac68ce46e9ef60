/* ptx_run: see ptx_run.h. */
#define _GNU_SOURCE
#include "ptx_run.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime.h"
#include "sm/runtime_calls.h"
#include "tools/no_effect.h"
#include "tools/report.h"

/* Texts that have been read, by hash and text. */
typedef struct text_entry {
    uint64_t hash;
    char *text;
    uint32_t module;
} text_entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static configuration settings;
static device_options options;
static device *opened;
static text_entry *texts;
static uint32_t text_count;
static clock_t began; /* processor time when the launch began */
static effects_seen effects;

static void ran(void *user, machine *m, const launch_file *launch, int failed) {
    kernel_check checks[1]; /* nothing is expected: the framework checks */
    run_result result;
    (void)user;
    runtime_calls_print(m, stdout);
    if (!failed) effects_note(&effects, m);
    if (!settings.report) return;
    memset(&result, 0, sizeof result);
    memset(checks, 0, sizeof checks);
    result.checks = failed ? NULL : checks;
    result.machine = m;
    result.launch = launch;
    result.seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    result.error = failed ? m->error : NULL;
    report_text(&result, stderr);
    if (settings.run.stats) report_statistics(m, stderr);
}

static void end(void) {
    no_effect_report(&settings.run, &effects, stderr);
    device_forget_machines(opened);
}

static int open_once(char error[LAUNCH_ERROR_BYTES]) {
    if (opened) return 0;
    configuration_read(&settings);
    if (settings.run.html || settings.run.trace || settings.record) {
        snprintf(error, LAUNCH_ERROR_BYTES, "MINIGPU has html, trace or record, and ptx_run makes no files");
        return -1;
    }
    options.machine = settings.run.machine;
    options.sms = settings.run.sms;
    options.ran = ran;
    opened = device_open(&options, error);
    if (!opened) return -1;
    if (!device_open_host_memory(opened)) {
        atexit(end);
        return 0;
    }
    snprintf(error, LAUNCH_ERROR_BYTES, "kernels cannot access the host's memory: the device's addresses are taken");
    device_close(opened);
    opened = NULL;
    return -1;
}

static uint32_t module_of(const char *source, char error[LAUNCH_ERROR_BYTES]) {
    const size_t length = strlen(source);
    const uint64_t hash = gpump_hash_bytes(GPUMP_HASH_SEED, source, length);
    text_entry *grown;
    uint32_t i, module;
    for (i = 0; i < text_count; i++)
        if (texts[i].hash == hash && !strcmp(texts[i].text, source)) return texts[i].module;
    module = device_load(opened, source, length, "ptx_run", error);
    if (module == NONE) return NONE;
    grown = (text_entry *)realloc(texts, (text_count + 1u) * sizeof *grown);
    if (!grown) return module;
    texts = grown;
    texts[text_count].hash = hash;
    texts[text_count].module = module;
    if ((texts[text_count].text = strdup(source))) text_count++;
    return module;
}

/* Puts the arguments where PTX has the parameters. Returns 0, or -1. */
static int lay_out(const kernel_program *program, int count, void *const *arguments, uint8_t *parameters,
                   char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i;
    if (count < 0 || (uint32_t)count != program->parameter_count) {
        snprintf(error, LAUNCH_ERROR_BYTES, "kernel %s takes %u arguments, not %d", program->name,
                 program->parameter_count, count);
        return -1;
    }
    for (i = 0; i < program->parameter_count; i++) {
        const kernel_parameter *p = &program->parameters[i];
        if (p->bytes > 8 || p->offset + p->bytes > DEVICE_PARAMETER_BYTES_MAX) {
            snprintf(error, LAUNCH_ERROR_BYTES, "parameter %s of kernel %s has %u bytes, ptx_run gives 8", p->name,
                     program->name, p->bytes);
            return -1;
        }
        memcpy(parameters + p->offset, &arguments[i], p->bytes);
    }
    return 0;
}

static int run(const char *source, int count, void *const *arguments, device_launch *launch,
               char error[LAUNCH_ERROR_BYTES]) {
    uint8_t parameters[DEVICE_PARAMETER_BYTES_MAX];
    const ptx_module *module;
    if (!source) {
        snprintf(error, LAUNCH_ERROR_BYTES, "ptx_run needs PTX text");
        return -1;
    }
    if (open_once(error) || (launch->module = module_of(source, error)) == NONE) return -1;
    module = device_module(opened, launch->module);
    if (!module->kernel_count) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s",
                 module->refusal_count ? module->refusals[0].text : "the text has no kernel");
        return -1;
    }
    launch->kernel = module->kernels[0].name;
    launch->parameters = parameters;
    if (lay_out(&module->kernels[0], count, arguments, parameters, error)) return -1;
    began = clock();
    return device_start(opened, launch, error) || device_run(opened, error) ? -1 : 0;
}

int ptx_run(const char *source, int argument_count, void *const *arguments, int block_x, int block_y, int block_z,
            int grid_x, int grid_y, int grid_z, int shared_bytes) {
    const int sizes[6] = {block_x, block_y, block_z, grid_x, grid_y, grid_z};
    char error[LAUNCH_ERROR_BYTES] = "blocks and grid need at least 1 in each dimension";
    device_launch launch;
    int i, failed = shared_bytes < 0;
    memset(&launch, 0, sizeof launch);
    for (i = 0; i < 3; i++) {
        failed |= sizes[i] < 1 || sizes[i + 3] < 1;
        launch.block[i] = (uint32_t)sizes[i];
        launch.grid[i] = (uint32_t)sizes[i + 3];
    }
    launch.dynamic_shared_bytes = (uint32_t)shared_bytes;
    pthread_mutex_lock(&lock);
    if (!failed) failed = run(source, argument_count, arguments, &launch, error);
    pthread_mutex_unlock(&lock);
    if (failed) fprintf(stderr, "ptx_run: %s\n", error);
    return failed != 0;
}
