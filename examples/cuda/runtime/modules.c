/* modules: kernels and variables of the program, as the compiler's constructors register them, and the PTX that they
 * come from (runtime.h). A module is read when one of its kernels or variables is first used. */
#define _GNU_SOURCE
#include "runtime.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fat_binary.h"

#define WRAPPER_MAGIC 0x466243b1u

/* The compiler's record of an object file's device code. */
typedef struct wrapper {
    uint32_t magic, version;
    const void *data; /* PTX text, or nvcc's container */
    void *unused;
} wrapper;

typedef struct binary {
    const void *data;
    uint32_t number; /* of binaries, for messages */
    char *text;      /* its PTX; NULL: not read yet */
    uint32_t module; /* NONE: not read yet */
    cudaError_t error;
    struct binary *next;
} binary;

typedef struct function {
    const void *host;
    binary *from;
    const char *name;
    kernel_entry kernel; /* program NULL: not looked up yet */
} function;

typedef struct variable {
    const void *host;
    binary *from;
    const char *name;
    uint64_t bytes, address; /* address 0: not looked up yet */
    void **managed;          /* the host's pointer to it; NULL */
    int is_texture;          /* 1: a texture reference */
    int reads_normalized;    /* 1: its texels become floats */
    struct variable *next;
} variable;

/* The section with the managed variables of a program or a library that clang has compiled. */
typedef struct managed_range {
    const char *start, *stop;
    struct managed_range *next;
} managed_range;

static binary *binaries;
static void *functions, *variables; /* trees of tsearch, by host pointer */
static variable *all_variables;
static managed_range *managed_ranges;

static int by_host(const void *a, const void *b) {
    const void *const x = *(const void *const *)a, *const y = *(const void *const *)b;
    return x < y ? -1 : x > y;
}

/* ---- what constructors call, before main ---- */

API void **__cudaRegisterFatBinary(void *from) {
    const wrapper *w = (const wrapper *)from;
    binary *b = (binary *)calloc(1, sizeof *b);
    if (!b) return NULL;
    b->data = w->magic == WRAPPER_MAGIC ? w->data : NULL;
    b->module = NONE;
    b->number = binaries ? binaries->number + 1 : 1;
    b->next = binaries;
    binaries = b;
    return (void **)b;
}

API void __cudaUnregisterFatBinary(void **handle) { (void)handle; }
API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *tid,
                                void *bid, void *block, void *grid, int *warp) {
    function *f = (function *)calloc(1, sizeof *f);
    (void)device, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    if (!f) return;
    f->host = host;
    f->from = (binary *)handle;
    f->name = name;
    tsearch(f, &functions, by_host);
}

static variable *register_variable(void **handle, const void *host, const char *name, size_t bytes) {
    variable *v = (variable *)calloc(1, sizeof *v);
    if (!v) return NULL;
    v->host = host;
    v->from = (binary *)handle;
    v->name = name;
    v->bytes = bytes;
    v->next = all_variables;
    all_variables = v;
    tsearch(v, &variables, by_host);
    return v;
}

API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
                           int constant, int global) {
    (void)device, (void)external, (void)constant, (void)global;
    register_variable(handle, host, name, bytes);
}

API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external,
                                  size_t bytes, int constant, int global) {
    variable *v = register_variable(handle, host, name, bytes);
    (void)device, (void)external, (void)constant, (void)global;
    if (v) v->managed = host;
}

API void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dimension,
                               int reads_normalized, int external) {
    variable *v = register_variable(handle, host, name, sizeof(uint64_t));
    if (v) v->is_texture = 1;
    (void)device, (void)dimension, (void)external;
    if (v) v->reads_normalized = reads_normalized;
}

API void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name, int dimension,
                               int external) {
    (void)handle, (void)host, (void)device, (void)dimension, (void)external;
    runtime_say("surface reference %s: use surface objects", name);
}

API void __cudaRegisterHostVar(void **handle, const char *device, char *host, size_t bytes);
API void __cudaRegisterHostVar(void **handle, const char *device, char *host, size_t bytes) {
    (void)handle, (void)host, (void)bytes;
    runtime_say("%s: kernels do not see variables of the host", device);
}
API void __cudaRegisterUnifiedTable(void **handle, void *table);
API void __cudaRegisterUnifiedTable(void **handle, void *table) {
    (void)handle, (void)table;
    runtime_say("functions that host and kernels call by one pointer are not there");
}

/* ---- looking up ---- */

static cudaError_t load(binary *b) {
    char error[LAUNCH_ERROR_BYTES], name[64];
    if (b->module != NONE || b->error) return b->error;
    snprintf(name, sizeof name, "%s.%u.ptx", program_invocation_short_name, b->number);
    b->text = fat_binary_ptx(b->data, error);
    if (!b->text) {
        runtime_say("%s: %s", name, error);
        return b->error = cudaErrorNoKernelImageForDevice;
    }
    b->module = device_load(cudart.device, b->text, strlen(b->text), name, error);
    if (b->module != NONE) return cudaSuccess;
    runtime_say("%s", error);
    return b->error = cudaErrorInvalidPtx;
}

cudaError_t modules_kernel(const void *host, kernel_entry **kernel) {
    const void *key = host;
    void *found = tfind(&key, &functions, by_host);
    function *f = found ? *(function **)found : NULL;
    const ptx_refusal *refusal;
    cudaError_t error;
    if (!f) return cudaErrorInvalidDeviceFunction;
    if ((error = load(f->from))) return error;
    *kernel = &f->kernel;
    if (f->kernel.program) return cudaSuccess;
    f->kernel.module = f->from->module;
    f->kernel.name = f->name;
    f->kernel.program = ptx_find_kernel(device_module(cudart.device, f->kernel.module), f->name);
    if (f->kernel.program) return cudaSuccess;
    refusal = ptx_find_refusal(device_module(cudart.device, f->kernel.module), f->name);
    if (refusal)
        runtime_say("%s", refusal->text);
    else
        runtime_say("%s has no kernel named %s", device_module(cudart.device, f->kernel.module)->file_name, f->name);
    return refusal ? cudaErrorInvalidPtx : cudaErrorInvalidDeviceFunction;
}

cudaError_t modules_variable(const void *host, uint64_t *address, uint64_t *bytes) {
    const void *key = host;
    void *found = tfind(&key, &variables, by_host);
    variable *v = found ? *(variable **)found : NULL;
    const ptx_symbol *symbol;
    cudaError_t error;
    if (!v) return cudaErrorInvalidSymbol;
    if ((error = load(v->from))) return error;
    if (!v->address) {
        symbol = ptx_find_symbol(device_module(cudart.device, v->from->module), v->name);
        /* no kernel names it, so the compiler has left it out */
        v->address = symbol ? symbol->address : device_allocate(cudart.device, v->bytes ? v->bytes : 1, v->name);
        if (!v->address) return cudaErrorMemoryAllocation;
    }
    *address = v->address;
    *bytes = v->bytes;
    return cudaSuccess;
}

cudaError_t modules_texture(const void *host, uint32_t *module, const char **name, cudaTextureReadMode *mode) {
    const void *key = host;
    void *found = tfind(&key, &variables, by_host);
    variable *v = found ? *(variable **)found : NULL;
    cudaError_t error;
    if (!v || !v->is_texture) return cudaErrorInvalidTexture;
    if ((error = load(v->from))) return error;
    *module = v->from->module;
    *name = v->name;
    *mode = v->reads_normalized ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    return cudaSuccess;
}

/* ---- managed variables ---- */

/* nvcc's host code has a pointer to each managed variable, and calls this function before it reads the first one. */
API char __cudaInitModule(void **handle) {
    const variable *v;
    cudaError_t error = runtime_enter();
    for (v = all_variables; v; v = v->next) {
        uint64_t address = 0, bytes;
        if (v->from != (binary *)handle || !v->managed || *v->managed) continue;
        if (!error) error = modules_variable(v->host, &address, &bytes);
        /* Without a module the host reads zeros instead of NULL, and its next launch returns the error. */
        *v->managed = address ? pointer_of(address) : calloc(1, v->bytes ? v->bytes : 1);
    }
    runtime_leave(error);
    return 1;
}

/* clang's host code has the variables themselves. */

API void minigpu_register_managed(const void *start, const void *stop);
API void minigpu_register_managed(const void *start, const void *stop) {
    managed_range *r;
    for (r = managed_ranges; r && r->start != start; r = r->next) {} /* each source file of a program tells */
    if (r || !(r = (managed_range *)calloc(1, sizeof *r))) return;
    r->start = (const char *)start;
    r->stop = (const char *)stop;
    r->next = managed_ranges;
    managed_ranges = r;
}

static int is_managed(const variable *v) {
    const managed_range *r;
    for (r = managed_ranges; r; r = r->next)
        if ((const char *)v->host >= r->start && (const char *)v->host < r->stop) return 1;
    return 0;
}

cudaError_t modules_copy_managed(int to_device) {
    const variable *v;
    for (v = managed_ranges ? all_variables : NULL; v; v = v->next) {
        uint64_t address, bytes;
        uint8_t *device;
        cudaError_t error;
        if (!is_managed(v)) continue;
        if ((error = modules_variable(v->host, &address, &bytes))) return error;
        device = device_bytes(cudart.device, address, bytes);
        memcpy(to_device ? device : (uint8_t *)(uintptr_t)v->host, to_device ? v->host : device, bytes);
    }
    return cudaSuccess;
}

/* clang gives managed variables their first values on the device alone; the host gets them before main. */
API void __cudaRegisterFatBinaryEnd(void **handle) {
    const variable *v;
    for (v = managed_ranges ? all_variables : NULL; v && !(v->from == (binary *)handle && is_managed(v)); v = v->next) {
    }
    if (v) runtime_leave(runtime_enter() ? cudaSuccess : modules_copy_managed(0));
}

const char *modules_text(const ptx_module *module) {
    const binary *b;
    for (b = binaries; b; b = b->next)
        if (b->module != NONE && device_module(cudart.device, b->module)->memory == module->memory) return b->text;
    return NULL;
}

void modules_reset(void) {
    const binary *b;
    for (b = binaries; b; b = b->next)
        if (b->module != NONE) device_reset_variables(cudart.device, b->module);
}
