/* launch_file: the YAML file that says what runs: processes, kernels, arguments, buffers and what must come out.
 * The format is described in README.md; every error names file, line and column. */
#ifndef MINIGPU_LAUNCH_FILE_H
#define MINIGPU_LAUNCH_FILE_H

#include <stddef.h>
#include <stdint.h>

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
    LAUNCH_F64
} launch_type;

/* A buffer in device memory; `contents` is what it holds before the first kernel. */
typedef struct launch_buffer {
    char *name; /* NULL: anonymous */
    launch_type type;
    uint64_t bytes;
    uint8_t *contents; /* as the file's initialisers and generators made it */
    uint64_t address;  /* in device memory, given when the machine is built */
    uint32_t process;
    launch_place place;
} launch_buffer;

typedef struct launch_argument {
    int is_buffer;
    uint32_t buffer;    /* index into launch_file.buffers */
    launch_type type;   /* of a scalar */
    uint64_t scalar;    /* its bits, zero-extended */
    uint8_t *structure; /* a struct by value: its bytes, padding included; NULL: none */
    uint32_t structure_bytes;
    int is_texture;        /* a buffer that the kernel gets a texture object of */
    lanes_texture texture; /* how it is read; address 0 */
    launch_place place;
} launch_argument;

/* A texture reference of the PTX file (.texref) and what it reads. */
typedef struct launch_texture_reference {
    char *name;
    launch_argument texture;
} launch_texture_reference;

/* A file whose bytes must equal an argument's buffer afterwards. */
typedef struct launch_expected_file {
    uint32_t argument;
    char *path;
    launch_place place;
} launch_expected_file;

typedef struct launch_kernel {
    char *ptx_path; /* as it is opened: relative paths are taken from the launch file's folder */
    char *name;
    uint32_t process;  /* index into launch_file.processes */
    uint32_t priority; /* higher goes first; the process's unless the kernel has its own */
    uint64_t arrival_cycle;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    uint32_t override_registers;    /* 32-bit registers per block; 0: as the kernel needs */
    uint32_t override_shared_bytes; /* shared memory per block; 0: as the kernel needs */
    uint32_t block_cap;             /* blocks of this kernel on one SM at most; 0: as many as fit */
    launch_argument *arguments;
    uint32_t argument_count;
    launch_texture_reference *texture_references;
    uint32_t texture_reference_count;
    const reference_entry *reference; /* NULL: none */
    int has_checksum;
    uint64_t checksum; /* gpump_hash_bytes over the kernel's buffers in argument order */
    launch_expected_file *expected_files;
    uint32_t expected_file_count;
    launch_place place; /* of the kernel's entry */
    launch_place ptx_place, name_place, grid_place, block_place, shared_place, arguments_place, footprint_place;
} launch_kernel;

typedef struct launch_process {
    char *name;
    uint32_t priority;
} launch_process;

/* A number of the machine that the file sets (config.h names them). */
typedef struct launch_number {
    char *name;
    uint32_t value;
    launch_place place;
} launch_number;

typedef struct launch_file {
    char *path;
    char *gpu; /* preset name; NULL: the command line's or the default */
    launch_place gpu_place;
    char *technique;         /* how a kernel of higher priority takes its SMs: switch, drain or flush; NULL: switch */
    uint32_t kernels_per_sm; /* 0: the machine's default */
    uint32_t sms;            /* 0: the preset's */
    char *scheduler;         /* gto or lrr; NULL: the preset's */
    launch_number *numbers;
    uint32_t number_count;
    uint32_t regions; /* idempotent regions, as machine_options has them; 0: none */
    launch_process *processes;
    uint32_t process_count;
    launch_kernel *kernels;
    uint32_t kernel_count;
    launch_buffer *buffers;
    uint32_t buffer_count;
} launch_file;

/* Reads a launch file. Returns 0, or -1 with the reason in error (file:line:column: ...), *launch then holding nothing.
 */
int launch_file_read(launch_file *launch, const char *path, char error[LAUNCH_ERROR_BYTES]);
void launch_file_free(launch_file *launch);
/* Writes "file:line:column: " and the formatted message to error; returns -1. */
int launch_file_error(const launch_file *launch, launch_place place, char error[LAUNCH_ERROR_BYTES], const char *format,
                      ...) __attribute__((format(printf, 4, 5)));
/* Reads what kind of idempotent regions is wanted: "sparse", or a number. Returns 0, or -1. */
int launch_regions(const char *text, uint32_t *regions);
/* Bytes of one element. */
uint32_t launch_type_bytes(launch_type type);
const char *launch_type_name(launch_type type);

#endif
