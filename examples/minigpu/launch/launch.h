/* launch: the contents of a launch file: processes, kernels, arguments, buffers and expected results.
 * docs/launch_files.md describes the format. Every error names file, line and column. */
#ifndef MINIGPU_LAUNCH_H
#define MINIGPU_LAUNCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/reference.h"
#include "lanes/lanes.h"

#define LAUNCH_ERROR_BYTES 512

/* A place in the launch file, both from 1. */
typedef struct launch_place {
    uint32_t line;
    uint32_t column;
} launch_place;

typedef enum launch_type {
    LAUNCH_U8,
    LAUNCH_S8,
    LAUNCH_U16,
    LAUNCH_S16,
    LAUNCH_U32,
    LAUNCH_S32,
    LAUNCH_U64,
    LAUNCH_S64,
    LAUNCH_F32,
    LAUNCH_F64,
    LAUNCH_F16, /* __half */
    LAUNCH_BF16 /* __nv_bfloat16 */
} launch_type;

/* A buffer in device memory. `contents` are the bytes before the first kernel. */
typedef struct launch_buffer {
    char *name; /* NULL: anonymous */
    launch_type type;
    uint64_t bytes;
    uint8_t *contents;      /* from the file's initialisers and generators */
    uint64_t address;       /* in device memory; set when the machine is built */
    uint64_t guard_bytes;   /* before and behind it, whole pages that read as zeros */
    char *symbol;           /* the PTX variable that the buffer is; NULL: a buffer of its own */
    uint32_t symbol_kernel; /* the kernel whose PTX file has the variable */
    uint32_t process;
    uint32_t owner; /* gpump_fault_owner: the owner of its pages at first, where faults are served (fault_unit.h) */
    launch_place place;
} launch_buffer;

/* An address inside a buffer or a struct. */
typedef struct launch_pointer {
    int in_buffer; /* 1: in buffer `holder`; 0: in argument `holder` of kernel `kernel` */
    uint32_t holder, kernel;
    uint64_t at;     /* byte in the holder */
    char *name;      /* the buffer that it points to, by name ... */
    uint32_t buffer; /* ... and by index */
    uint64_t offset; /* bytes from that buffer's start */
    uint64_t element;
    uint32_t process;
    launch_place place;
} launch_pointer;

typedef struct launch_argument {
    int is_buffer;
    uint32_t buffer;    /* index into launch_file.buffers */
    uint64_t offset;    /* offset of the pointer in the buffer */
    launch_type type;   /* of a scalar */
    uint64_t scalar;    /* its bits, zero-extended */
    uint64_t step;      /* added in each round of a loop, as bits of the type */
    uint8_t *structure; /* the bytes of a struct passed by value, padding included; NULL: none */
    uint32_t structure_bytes;
    int is_texture;        /* 1: the kernel gets a texture object of the buffer */
    lanes_texture texture; /* how the texture is read; its address is 0 */
    launch_place place;
} launch_argument;

/* A texture reference of the PTX file (.texref), and its texture. */
typedef struct launch_texture_reference {
    char *name;
    launch_argument texture;
} launch_texture_reference;

/* The tolerance of a floating-point element: absolute + relative * |expected|. */
typedef struct launch_tolerance {
    double absolute, relative;
} launch_tolerance;

/* The expected contents of a buffer: the bytes of a file, or one value for every element. */
typedef struct launch_expected {
    uint32_t buffer;
    uint64_t bits; /* bits of the value; path is NULL */
    char *path;
    launch_tolerance tolerance;
    launch_place place;
} launch_expected;

struct ptx_module;
struct trace_kernel;
struct trace_map;

/* Device memory that outlives a machine (device/device.h). Buffers then have their addresses and contents already, and
 * variables of modules are buffers. */
typedef struct launch_memory {
    uint8_t *bytes;          /* of DEVICE_BASE, whether or not there is memory */
    uint64_t first;          /* address of the first byte that there is */
    uint64_t capacity_bytes; /* from DEVICE_BASE */
    uint64_t end;            /* address behind the buffers: the machine's own memory begins there */
    uint64_t heap;           /* address of the heap of malloc, which outlives machines; 0: each machine has its own */
    uint32_t opens_host;     /* 1: addresses outside of it are those of the host, and kernels may access them */
} launch_memory;

typedef struct launch_kernel {
    char *ptx_path;                  /* path to open: relative paths start at the launch file's folder */
    const struct ptx_module *module; /* read and linked already, and outlives the machine; NULL: ptx_path is read */
    struct trace_kernel *trace;      /* the kernel comes from a trace (launch/launch_traces.h); NULL: from PTX */
    char *name;
    uint32_t process;  /* index into launch_file.processes */
    uint32_t priority; /* higher is more urgent; the process's unless the kernel has its own */
    uint64_t arrival_cycle;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    uint32_t override_registers;    /* 32-bit registers per block; 0: the kernel's own */
    uint32_t override_shared_bytes; /* shared memory per block; 0: the kernel's own */
    uint32_t block_cap;             /* at most so many blocks of this kernel on one SM; 0: no limit */
    launch_argument *arguments;
    uint32_t argument_count;
    launch_texture_reference *texture_references;
    uint32_t texture_reference_count;
    const reference_entry *reference; /* NULL: none */
    int has_checksum;
    uint64_t checksum; /* gpump_hash_bytes over the kernel's buffers in argument order */
    launch_expected *expected;
    uint32_t expected_count;
    launch_tolerance tolerance;            /* of every buffer that is compared with the reference ... */
    launch_tolerance *argument_tolerances; /* ... except arguments with their own; NULL: none */
    launch_place place;                    /* of the kernel's entry */
    launch_place ptx_place, name_place, grid_place, block_place, shared_place, arguments_place, footprint_place;
} launch_kernel;

typedef struct launch_process {
    char *name;
    uint32_t priority;
    uint32_t weight; /* under a scheduler: its share (weighted), its tokens (dss) */
    uint32_t repeat; /* its kernels run so many times, each time with the buffers' first contents */
} launch_process;

/* A number of the machine that the file sets (its name is one of config.h). */
typedef struct launch_number {
    char *name;
    uint32_t value;
    launch_place place;
} launch_number;

/* One element that is written before each round of a loop, as by a copy of a host program. */
typedef struct launch_write {
    uint32_t buffer;
    uint64_t offset; /* bytes */
    uint64_t bits;
} launch_write;

typedef enum launch_compare { LAUNCH_EQUALS, LAUNCH_DIFFERS, LAUNCH_BELOW, LAUNCH_ABOVE } launch_compare;

/* A loop over kernels first to first + count - 1 of one process. The loop runs `times` rounds, or until an element of a
 * buffer satisfies a comparison, which must happen within `times` rounds. */
typedef struct launch_loop {
    uint32_t first, count;
    uint32_t times;
    int has_until;
    uint32_t buffer; /* the element ... */
    uint64_t offset;
    launch_compare compare;
    uint64_t bits; /* ... and the bits that it is compared with */
    launch_write *writes;
    uint32_t write_count;
    launch_place place;
} launch_loop;

typedef struct launch_file {
    char *path;
    const launch_memory *memory; /* NULL: the machine makes device memory */
    char **read_paths;           /* the other files that the launch file names and a run reads */
    uint32_t read_path_count;
    char *gpu; /* preset; NULL: as the command line says, or the default */
    launch_place gpu_place;
    char *technique; /* how blocks leave for a kernel of higher priority: switch, drain or flush; NULL: switch */
    uint32_t kernels_per_sm; /* 0: the machine's default */
    uint64_t most_blocks;    /* of a grid; 0: the machine's limit */
    uint64_t stop_at;        /* the run ends at this cycle; 0: when all kernels have ended */
    uint32_t sms;            /* 0: the preset's */
    char *scheduler;         /* gto or lrr; NULL: the preset's */
    launch_number *numbers;
    uint32_t number_count;
    uint32_t regions; /* idempotent regions, as in machine_options; 0: none */
    launch_process *processes;
    uint32_t process_count;
    launch_kernel *kernels;
    uint32_t kernel_count;
    launch_buffer *buffers;
    uint32_t buffer_count;
    launch_pointer *pointers;
    uint32_t pointer_count;
    struct trace_map *trace_map; /* of all traced kernels; NULL: there are none */
    launch_loop *loops;          /* in the order of their kernels */
    uint32_t loop_count;
} launch_file;

/* Writes "file:line:column: " and the formatted message to error; returns -1. */
int launch_file_error(const launch_file *launch, launch_place place, char error[LAUNCH_ERROR_BYTES], const char *format,
                      ...) __attribute__((format(printf, 4, 5)));
/* Writes the addresses inside buffers and structs. Every buffer must have its address. */
void launch_place_pointers(launch_file *launch);
/* Returns the loop that begins with a kernel, or NULL. */
const launch_loop *launch_loop_at(const launch_file *launch, uint32_t kernel);
/* Returns whether a loop may stop when its element holds these bits; always 0 without `until`. */
int launch_loop_stops(const launch_file *launch, const launch_loop *loop, const uint8_t *contents);
/* Returns a scalar's bits in the iteration-th round of its loop, from 0. */
uint64_t launch_scalar(const launch_argument *argument, uint64_t iteration);
/* An element of a floating-point type as a double. */
double launch_as_double(launch_type type, uint64_t bits);
/* A double rounded to an element of 16 bits, LAUNCH_F16 or LAUNCH_BF16. */
uint32_t launch_half_from_double(launch_type type, double value);
/* A double rounded to an element of a floating-point type. Inline, because random buffers have millions. */
static inline uint64_t launch_from_double(launch_type type, double value) {
    const float single = (float)value;
    uint64_t bits = 0;
    if (type == LAUNCH_F32)
        memcpy(&bits, &single, sizeof single);
    else if (type == LAUNCH_F64)
        memcpy(&bits, &value, sizeof value);
    else
        bits = launch_half_from_double(type, value);
    return bits;
}
/* Reads the kind of idempotent regions: "sparse", or a number. Returns 0, or -1. */
int launch_regions(const char *text, uint32_t *regions);
/* Returns the bytes of one element. */
uint32_t launch_type_bytes(launch_type type);
const char *launch_type_name(launch_type type);
int launch_type_is_float(launch_type type);
int launch_type_is_signed(launch_type type); /* a signed whole number */
/* Writes an element as text, so that reading the text gives the same bits; returns its length. */
int launch_type_text(launch_type type, uint64_t bits, char *text, size_t bytes);

#endif
