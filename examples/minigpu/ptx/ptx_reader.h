/* ptx_reader: reads PTX text into decoded kernels. */
#ifndef MINIGPU_PTX_READER_H
#define MINIGPU_PTX_READER_H
#include <stddef.h>
#include "ptx/instruction.h"

/* The error of a text. `text` is a whole sentence, "file:line:column: ...". */
typedef struct ptx_error {
    uint32_t line, column;
    char text[512];
} ptx_error;

/* A kernel of the file that this reader refuses, and why. The file's other kernels run. */
typedef struct ptx_refusal {
    const char *kernel;
    const char *opcode; /* as written, such as "wmma.load.a.sync..."; "" for other causes */
    const char *text;   /* "file:line:column: kernel k: unsupported opcode wmma" */
    uint32_t line, column;
} ptx_refusal;

/* A variable at module scope. */
typedef struct ptx_symbol {
    const char *name;
    uint64_t offset;  /* in the image of its space */
    uint64_t address; /* base + offset; set by ptx_link */
    uint64_t bytes;
    uint32_t alignment;
    uint8_t space; /* SPACE_GLOBAL or SPACE_CONST */
    uint8_t type;
} ptx_symbol;

/* A texture reference (.texref) at module scope. tex names it by its index here. Texture objects are handles and have
 * no entry. */
typedef struct ptx_texture {
    const char *name;
} ptx_texture;

/* A place that holds the address of a variable. ptx_link writes the address there. */
typedef struct ptx_relocation {
    uint32_t kernel;      /* INSTRUCTION_NONE: in an image */
    uint32_t instruction; /* of the kernel; for an image: its space */
    uint32_t slot;        /* source index, or INSTRUCTION_SOURCES for the instruction's offset */
    uint32_t symbol;
    uint64_t place; /* byte in the image */
    int64_t addend;
} ptx_relocation;

typedef struct ptx_module {
    const char *file_name;
    kernel_program *kernels;
    ptx_refusal *refusals;
    ptx_symbol *symbols;
    ptx_texture *textures;
    ptx_relocation *relocations;
    uint8_t *constant_image; /* initial contents of constant memory, constant_bytes long */
    uint8_t *global_image;   /* initial contents of module-scope global memory, global_bytes long */
    uint64_t constant_bytes, global_bytes;
    uint32_t kernel_count, refusal_count, symbol_count, texture_count, relocation_count;
    uint32_t version_major, version_minor; /* .version */
    uint32_t target;                       /* the number in .target sm_NN */
    void *memory;                          /* holds all of the above */
} ptx_module;

/* Reads `length` bytes of PTX text into *module. The text need not be terminated; messages quote file_name. Returns -1
 * and sets *error (never NULL) where the text is not PTX. Kernels that this reader does not support are in
 * module->refusals. Cost: linear in the text. ptx_free frees the module. */
int ptx_read(const char *text, size_t length, const char *file_name, ptx_module *module, ptx_error *error);
/* Reads a file, as ptx_read does. */
int ptx_read_file(const char *path, ptx_module *module, ptx_error *error);
/* Gives the module-scope variables their addresses and writes the addresses wherever they are used. May be called again
 * with other bases. The host then copies the images to these addresses, both aligned to 256 bytes. Constants are read
 * at const_base + offset. */
void ptx_link(ptx_module *module, uint64_t const_base, uint64_t global_base);
void ptx_free(ptx_module *module);
/* Finds a kernel, refusal or symbol by name; NULL when absent. */
const kernel_program *ptx_find_kernel(const ptx_module *module, const char *name);
const ptx_refusal *ptx_find_refusal(const ptx_module *module, const char *name);
const ptx_symbol *ptx_find_symbol(const ptx_module *module, const char *name);
#endif
