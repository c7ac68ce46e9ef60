/* analysis: a kernel as gpump's analyses see it (gpump_program), and back. Reads like a tutorial of what a host tells them. */
#ifndef MINIGPU_ANALYSIS_H
#define MINIGPU_ANALYSIS_H
#include "gpump.h"
#include "instruction.h"

/* A kernel in gpump's terms. Instruction i of the program is instruction i of the kernel, and its tag is i. */
typedef struct analysis {
    gpump_program *program;
    uint32_t *vector_register;    /* of the kernel's 32-bit register: the program's register; the second half of a pair and registers
                                     nobody uses have INSTRUCTION_NONE */
    uint32_t *predicate_register; /* of the kernel's predicate: the program's register */
    uint32_t *kernel_register;    /* of the program's register: the kernel's first 32-bit register, or predicate */
    uint32_t space_object[GPUMP_SPACES]; /* the object that stands for a whole gpump_space (local and constant memory), or INSTRUCTION_NONE */
    uint32_t *parameter_object;   /* of the kernel's parameter: the memory object behind it, or INSTRUCTION_NONE */
    uint32_t *shared_number, *shared_object; /* shared variables (operand.index of their addresses) and their objects */
    uint32_t shared_count;
} analysis;

/* Describes a kernel to gpump, its memory accesses as addresses.h finds them. block: threads of the launch's blocks in x, y and z, where
 * they are known (then more is known of where threads write), else NULL. Returns GPUMP_OK, or what gpump said, with *diag filled; index
 * there is the instruction. */
gpump_result analysis_create_for(const kernel_program *kernel, const uint32_t block[3], analysis *a, gpump_diag *diag);
/* The same for any block. */
gpump_result analysis_create(const kernel_program *kernel, analysis *a, gpump_diag *diag);
void analysis_destroy(analysis *a);

/* Gives a kernel the registers of a real machine: at most `registers` 32-bit ones per thread (2 to 1024), the rest spilled to local
 * memory. *allocated is a copy of *kernel with other instructions (free with analysis_free_kernel); names and parameters are shared
 * with *kernel, which must live longer. A module has to be linked before (ptx_link): instructions have other numbers afterwards.
 * Returns GPUMP_OK, or what gpump said. */
gpump_result analysis_allocate(const kernel_program *kernel, uint32_t registers, kernel_program *allocated, gpump_registers_report *report,
                               gpump_diag *diag);
void analysis_free_kernel(kernel_program *allocated);
#endif
