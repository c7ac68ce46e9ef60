/* device: a mini-GPU that a program keeps. Its memory outlives launches, modules of PTX are loaded into it, and kernels
 * are started one by one. The run-time library of examples/cuda is built on it.
 *
 *     device *d = device_open(&options, 0, error);
 *     uint32_t module = device_load(d, text, strlen(text), "saxpy.ptx", error);
 *     uint64_t x = device_allocate(d, 4096, "x");
 *     memcpy(device_bytes(d, x, 4096), host_x, 4096);
 *     device_start(d, &launch, error);
 *     device_run(d, error);
 *
 * device_run builds a machine (machine/machine.h) of all kernels that have been started, or takes one that has run them
 * before, and runs it until they have ended. Kernels of one stream run in the order in which they were started; kernels
 * of different streams run beside each other, and preempt each other as the options say. Caches are cold at the start
 * of each device_run. */
#ifndef MINIGPU_DEVICE_H
#define MINIGPU_DEVICE_H

#include "machine/machine.h"
#include "ptx/ptx_reader.h"

#define DEVICE_STARTED_MAX 32u /* kernels that one machine runs; device_start runs them when there are more */
#define DEVICE_PARAMETER_BYTES_MAX 32764u /* of one kernel, as CUDA since 12.1 */

typedef struct device device;

typedef struct device_launch {
    uint32_t module;    /* as device_load numbered it */
    const char *kernel; /* its name in the PTX */
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    const uint8_t *parameters;         /* as PTX lays them out; copied. NULL: the kernel has none */
    uint32_t stream;                   /* any number: kernels of one stream run in order */
    uint32_t priority;                 /* higher goes first */
    uint64_t ready_cycle;              /* not before this cycle of the device; 0: at once */
    uint64_t *start_cycle, *end_cycle; /* written when the kernel has ended; NULL */
} device_launch;

/* What a texture or surface object reads: a handle that stands in an 8-byte parameter is replaced by it. */
#define DEVICE_TEXTURE_HANDLE UINT64_C(0x7e57000000000000)

/* Several programs on one machine (share_server.h): each has a device, and one more process has the machine. */
typedef struct device_share {
    int memory;    /* file descriptor of the device memory of all */
    int socket;    /* to the machine; -1: this process has it */
    uint32_t part; /* of the memory, for what this program allocates; NONE: this process has the machine */
    uint32_t most; /* kernels that this program starts at once, so that those of all fit one machine */
} device_share;

typedef struct device_options {
    machine_options machine;
    uint32_t sms; /* 0: the preset's */
    uint32_t
        runs_once; /* 1: each device_run builds a machine, which begins at cycle 0; for reports of whole machines */
    /* Called before a machine runs and when it has run, both before its memory goes back; NULL. failed: the machine
     * stopped with machine.error. */
    void (*built)(void *user, machine *m, const launch_file *launch);
    void (*ran)(void *user, machine *m, const launch_file *launch, int failed);
    void *user;
    const device_share *share; /* NULL: the device has a machine of its own */
} device_options;

/* Opens a device. Returns NULL with the reason in error. options must outlive the device. Device addresses are host
 * addresses too where the system gives the fixed place (device_is_at_host_addresses). */
device *device_open(const device_options *options, char error[LAUNCH_ERROR_BYTES]);
void device_close(device *d);
/* Frees the machines that wait for the next launch of their kernels. Memory and modules stay. */
void device_forget_machines(device *d);
/* 1: the host may use a device address as a pointer, so host and device share pointers. */
int device_is_at_host_addresses(const device *d);
/* Lets kernels access all memory of the host from now on, as the program itself may. Returns 0, or -1: needs
 * device_is_at_host_addresses. */
int device_open_host_memory(device *d);
/* The configuration that machines of this device get. */
const minigpu_config *device_config(const device *d);
/* Sets heap_bytes or print_bytes of the configuration, unless the options give the number or programs share the
 * machine. Returns 0, or -1: another number, or a heap that kernels use already. */
int device_set_number(device *d, const char *name, uint32_t value);

/* Returns the address of `bytes` bytes (at least 1), aligned to a page and followed by an unused page; 0 when the
 * device is full. name: for messages, copied. Cost: linear in the number of allocations. */
uint64_t device_allocate(device *d, uint64_t bytes, const char *name);
/* Gives back what begins at the address. Returns 0, or -1 when nothing that device_allocate has given begins there. */
int device_release(device *d, uint64_t address);
/* Finds the allocation in which an address lies. Returns 1, with its start and size in bytes (either may be NULL), or
 * 0. Cost: logarithmic in the number of allocations. */
int device_find(const device *d, uint64_t address, uint64_t *start, uint64_t *bytes);
/* The host's view of bytes of one allocation; NULL when they do not all lie in one. */
uint8_t *device_bytes(device *d, uint64_t address, uint64_t bytes);
/* Bytes that may be allocated in all, and bytes that are. */
void device_memory_use(const device *d, uint64_t *total, uint64_t *used);

/* Reads PTX (`length` bytes, name for messages) and places its variables. Returns its number, or NONE with the reason
 * in error. Cost: linear in the text. */
uint32_t device_load(device *d, const char *text, size_t length, const char *name, char error[LAUNCH_ERROR_BYTES]);
/* The same for variables that another process has placed at these addresses, and filled. */
uint32_t device_load_placed(device *d, const char *text, size_t length, const char *name, uint64_t const_base,
                            uint64_t global_base, char error[LAUNCH_ERROR_BYTES]);
/* The module of a number. Its memory belongs to the device. */
const ptx_module *device_module(const device *d, uint32_t module);
/* Puts the module's variables back to their first contents. */
void device_reset_variables(device *d, uint32_t module);

/* Names what a texture handle reads, or changes it; index from 0. address: of the texels. */
int device_set_texture(device *d, uint32_t index, const lanes_texture *texture);
/* Binds a texture reference (.texref) of a module, or binds it anew, for kernels that have not run yet. name: belongs
 * to the caller, and stays. texture: with the address of its texels. Returns 0, or -1: out of memory. */
int device_bind_texture(device *d, uint32_t module, const char *name, const lanes_texture *texture);

/* Starts a kernel. Returns 0, or -1 with the reason in error: the kernel is not in the module or was refused when it
 * was read, or device_run has failed. */
int device_start(device *d, const device_launch *launch, char error[LAUNCH_ERROR_BYTES]);
/* Runs until all kernels that were started have ended. Returns 0, or -1 with the reason in error: a kernel has failed,
 * and the kernels that had not ended are dropped. */
int device_run(device *d, char error[LAUNCH_ERROR_BYTES]);
/* Drops the kernels that were started. */
void device_drop_started(device *d);
/* Kernels that were started and that device_run has not run yet. */
uint32_t device_started(const device *d);
/* How many it holds: fewer where several programs share a machine. */
uint32_t device_started_most(const device *d);
/* Returns the device's present cycle. Each device_run continues from the cycle of the last one. */
uint64_t device_cycle(const device *d);
/* Lets the device be idle until a cycle. */
void device_wait_until(device *d, uint64_t cycle);

#endif
