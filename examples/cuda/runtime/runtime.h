/* runtime: what the files of the run-time library share. One program has one device (minigpu/device/device.h). A lock
 * makes every call exclusive, since programs may call from several threads. */
#ifndef MINIGPU_CUDART_RUNTIME_H
#define MINIGPU_CUDART_RUNTIME_H

#include "cuda_runtime_api.h"
#include "device/device.h"
#include "tools/run_options.h"

#define API __attribute__((visibility("default")))

/* ---- configuration.c ---- */

/* The settings in MINIGPU: the options of `minigpu run`, and a few more. */
typedef struct configuration {
    run_arguments run; /* first, so that the tables of `minigpu run` write into it */
    uint64_t launch_ns;
    uint64_t copy_mb_per_s; /* between host and device; 10^6 bytes per second */
    uint64_t granule_bytes; /* device memory is given in multiples of it */
    const char *record;     /* folder; NULL */
    uint32_t report;        /* 1: each machine reports what it has run, on stderr */
} configuration;
/* Reads MINIGPU. A wrong setting ends the program with status 2, after a sentence on stderr. */
void configuration_read(configuration *c);

/* ---- runtime.c ---- */

typedef struct runtime {
    configuration configuration;
    device_options options;
    device *device; /* NULL: no call has needed it yet */
    cudaError_t last, sticky;
    /* The host's clock, in device cycles: a launch adds its time, and a wait sets it to the device's clock. */
    uint64_t host_cycle;
} runtime;
extern runtime cudart;

/* Takes the lock and opens the device. Returns the sticky error of the device; cudaSuccess: there is none. */
cudaError_t runtime_enter(void);
/* Releases the lock and keeps the error for cudaGetLastError. Returns the error. */
cudaError_t runtime_leave(cudaError_t error);
/* Prints a sentence on stderr, each text once. */
void runtime_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the message of a failed machine. Returns CUDA's error for that message, which sticks. */
cudaError_t runtime_device_failed(const char *message);

#define ENTER()                                     \
    do {                                            \
        const cudaError_t sticks = runtime_enter(); \
        if (sticks) return runtime_leave(sticks);   \
    } while (0)

static inline uint64_t address_of(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }
static inline void *pointer_of(uint64_t address) { return (void *)(uintptr_t)address; }

/* ---- modules.c ---- */

typedef struct kernel_entry {
    const kernel_program *program;
    uint32_t module;
    const char *name;
} kernel_entry;
/* The kernel of a host function, whose module is loaded at its first use. */
cudaError_t modules_kernel(const void *function, kernel_entry **kernel);
/* The variable of a host variable. */
cudaError_t modules_variable(const void *variable, uint64_t *address, uint64_t *bytes);
/* The texture reference of a host variable: its module, its name in the PTX, and how its texels are read. */
cudaError_t modules_texture(const void *reference, uint32_t *module, const char **name, cudaTextureReadMode *mode);
/* Copies managed variables that clang has compiled to the device, before kernels run, or back. */
cudaError_t modules_copy_managed(int to_device);
/* The PTX text of a module that the device has read; NULL. */
const char *modules_text(const ptx_module *module);
/* Puts all variables back, for cudaDeviceReset. */
void modules_reset(void);

/* ---- memory.c ---- */

/* A copy or a memset of rows of bytes, checked. A stream holds it until all earlier operations are done. */
typedef struct memory_rows {
    uint8_t *to;
    const uint8_t *from; /* NULL: `value` is written */
    size_t to_pitch, from_pitch, to_slice, from_slice, width, height, depth;
    uint32_t value;
    uint32_t value_bytes;                /* 0, 1: each byte becomes `value`; 2, 4: each element does */
    uint32_t crosses;                    /* 1: between host and device, at the link's bandwidth */
    uint32_t to_pageable, from_pageable; /* 1: that side is memory which CUDA does not know */
} memory_rows;
void memory_move(const memory_rows *rows);
/* A memset of elements of 1, 2 or 4 bytes, in a stream. */
cudaError_t runtime_memset(void *to, size_t pitch, uint32_t value, uint32_t element_bytes, size_t elements, size_t rows,
                           cudaStream_t stream);
/* Memory of a graph's allocation node: it stays when the program frees it, since the graph may run again. */
cudaError_t memory_of_graph(void **pointer, size_t bytes);
int memory_is_of_graph(const void *pointer);

/* ---- streams.c ---- */

struct CUstream_st {
    struct CUstream_st *next; /* of all */
    uint32_t number, flags;
    int priority;
    struct operation *first, *last; /* the operations that are not done */
    uint64_t cycle;                 /* when the last operation that is done ended */
    cudaGraph_t capture;            /* takes the operations as nodes; NULL: the stream executes them */
    uint64_t capture_number;        /* of all captures; 0: the stream does not capture */
};
/* The stream of a handle: NULL, cudaStreamLegacy and cudaStreamPerThread are streams too. NULL: no such stream. */
struct CUstream_st *streams_find(cudaStream_t handle);
/* Puts a copy or a memset into a stream. A copy from pageable memory is read before the call returns, and a copy to
 * pageable memory is done when the call returns, as in CUDA. */
cudaError_t streams_move(struct CUstream_st *stream, const memory_rows *rows);
/* Puts a kernel into a stream. priority: of this launch; NULL: the stream's. */
cudaError_t streams_launch(struct CUstream_st *stream, const device_launch *launch, uint32_t parameter_bytes,
                           const int *priority);
/* Runs until all streams are empty. */
cudaError_t streams_run(void);
/* 1: all operations of the stream are done. */
int streams_is_empty(const struct CUstream_st *stream);

/* ---- textures.c ---- */

struct cudaArray {
    cudaChannelFormatDesc desc;
    size_t width, height, depth; /* texels; 0: the array has not that dimension */
    uint32_t texel_bytes;
    uint64_t address;
};

/* ---- records.c: with MINIGPU=record:DIR, for machines of one kernel ---- */

void records_built(const machine *m, const launch_file *launch);
void records_ran(const machine *m, const launch_file *launch);

/* ---- reports.c ---- */

int reports_are_wanted(void); /* of each machine: then kernels run on machines of their own */
void reports_built(void *user, machine *m, const launch_file *launch);
void reports_ran(void *user, machine *m, const launch_file *launch, int failed);
/* Says which requests of MINIGPU had no effect in any run of the program. */
void reports_end(void);

#endif
