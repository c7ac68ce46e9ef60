/* runtime: see runtime.h. */
#define _GNU_SOURCE
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

runtime cudart;

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* Operations that are left in streams when the program ends are executed, as on a GPU whose driver waits. */
static void finish(void) {
    pthread_mutex_lock(&lock);
    if (cudart.device && !cudart.sticky) streams_run();
    if (!cudart.sticky) reports_end();
    if (cudart.device) device_forget_machines(cudart.device);
    pthread_mutex_unlock(&lock);
}

/* The machine of `minigpu share`, which is in another process; NULL: `minigpu share` has not started this program.
 * Programs that this one starts have machines of their own. */
static const device_share *shared_machine(void) {
    static device_share share;
    const char *text = getenv("MINIGPU_SHARE");
    if (!text) return NULL;
    if (sscanf(text, "%d:%d:%u:%u", &share.memory, &share.socket, &share.part, &share.most) != 4 ||
        fcntl(share.memory, F_SETFD, FD_CLOEXEC) || fcntl(share.socket, F_SETFD, FD_CLOEXEC)) {
        fprintf(stderr, "minigpu: MINIGPU_SHARE is for programs that minigpu share starts\n");
        exit(2);
    }
    unsetenv("MINIGPU_SHARE");
    return &share;
}

static void open_device(void) {
    char error[LAUNCH_ERROR_BYTES];
    configuration_read(&cudart.configuration);
    cudart.options.machine = cudart.configuration.run.machine;
    cudart.options.sms = cudart.configuration.run.sms;
    cudart.options.runs_once = (uint32_t)reports_are_wanted();
    cudart.options.built = reports_built;
    cudart.options.ran = reports_ran;
    cudart.options.share = shared_machine();
    cudart.device = device_open(&cudart.options, error);
    if (!cudart.device) {
        fprintf(stderr, "MINIGPU: %s\n", error);
        exit(2);
    }
    atexit(finish);
}

cudaError_t runtime_enter(void) {
    pthread_mutex_lock(&lock);
    if (!cudart.device) open_device();
    return cudart.sticky;
}

cudaError_t runtime_leave(cudaError_t error) {
    if (error && error != cudaErrorNotReady) cudart.last = error;
    pthread_mutex_unlock(&lock);
    return error;
}

void runtime_say(const char *format, ...) {
    static char said[64][LAUNCH_ERROR_BYTES];
    static unsigned count;
    char text[LAUNCH_ERROR_BYTES];
    unsigned i;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (i = 0; i < count; i++)
        if (!strcmp(said[i], text)) return;
    if (count < 64) strcpy(said[count++], text);
    fprintf(stderr, "minigpu: %s\n", text);
}

/* Words in the machine's sentence tell which of CUDA's errors the failure is. */
cudaError_t runtime_device_failed(const char *message) {
    static const struct {
        const char *words;
        cudaError_t error;
    } kinds[] = {
        {"assertion", cudaErrorAssert},
        {"aligned", cudaErrorMisalignedAddress},
        {"no instruction has been issued", cudaErrorLaunchTimeout},
        {"trap", cudaErrorLaunchFailure},
        {"address", cudaErrorIllegalAddress},
        {"does not fit an SM", cudaErrorLaunchOutOfResources},
        {"fits no SM", cudaErrorLaunchOutOfResources},
        {"registers", cudaErrorLaunchOutOfResources},
        {"wait for each other", cudaErrorCooperativeLaunchTooLarge},
    };
    unsigned i;
    fprintf(stderr, "minigpu: %s\n", message);
    for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(message, kinds[i].words)) return cudart.sticky = kinds[i].error;
    return cudart.sticky = cudaErrorLaunchFailure;
}

/* ---- errors ---- */

API cudaError_t cudaGetLastError(void) {
    const cudaError_t error = cudart.last;
    cudart.last = cudart.sticky; /* an error of the device sticks */
    return error;
}

API cudaError_t cudaPeekAtLastError(void) { return cudart.last; }

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
#define ERROR(name, number, text) {name, #name, text},
    MINIGPU_CUDA_ERRORS(ERROR)
#undef ERROR
};

static unsigned error_index(cudaError_t error) {
    const unsigned count = sizeof errors / sizeof *errors;
    unsigned i;
    for (i = 0; i < count && errors[i].error != error; i++) {}
    return i < count ? i : count;
}

API const char *cudaGetErrorName(cudaError_t error) {
    const unsigned i = error_index(error);
    return i < sizeof errors / sizeof *errors ? errors[i].name : "unrecognized error code";
}

API const char *cudaGetErrorString(cudaError_t error) {
    const unsigned i = error_index(error);
    return i < sizeof errors / sizeof *errors ? errors[i].text : "unrecognized error code";
}
