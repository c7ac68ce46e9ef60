/* analysis: a kernel as gpump's analyses see it (gpump_program), and back. Reads like a tutorial of what a host tells
 * them. */
#ifndef MINIGPU_ANALYSIS_H
#define MINIGPU_ANALYSIS_H
#include "gpump.h"
#include "ptx/instruction.h"

/* A kernel in gpump's terms. Instruction i of the program is instruction i of the kernel, and its tag is i. */
typedef struct analysis {
    uint8_t of_blocks; /* 1: what becomes of whole blocks is asked: their shared memory goes with them */
    gpump_program *program;
    uint32_t *vector_register; /* of the kernel's 32-bit register: the program's register; the second half of a pair and
                                  registers nobody uses have INSTRUCTION_NONE */
    uint32_t *predicate_register; /* of the kernel's predicate: the program's register */
    uint32_t *kernel_register;    /* of the program's register: the kernel's first 32-bit register, or predicate */
    uint32_t space_object[GPUMP_SPACES]; /* the object that stands for a whole gpump_space (local and constant memory),
                                            or INSTRUCTION_NONE */
    uint32_t *parameter_object; /* of the kernel's parameter: the memory object behind it, or INSTRUCTION_NONE */
    uint32_t *shared_number, *shared_object; /* shared variables (operand.index of their addresses) and their objects */
    uint32_t shared_count;
} analysis;

/* Describes a kernel to gpump, its memory accesses as addresses.h finds them. block: threads of the launch's blocks in
 * x, y and z, where they are known (then more is known of where threads write), else NULL. Returns GPUMP_OK, or what
 * gpump said, with *diag filled; index there is the instruction. */
gpump_result analysis_create_for(const kernel_program *kernel, const uint32_t block[3], analysis *a, gpump_diag *diag);
/* The same for a launch that hands one buffer to several parameters: alias_class[i] of parameter i is the same number
 * for those, and GPUMP_NONE for a buffer of its own. NULL: every parameter has its own. */
gpump_result analysis_create_launch(const kernel_program *kernel, const uint32_t block[3], const uint32_t *alias_class,
                                    analysis *a, gpump_diag *diag);
/* The same for any block. */
gpump_result analysis_create(const kernel_program *kernel, analysis *a, gpump_diag *diag);
void analysis_destroy(analysis *a);

/* Sets clobbers[i] to 1 where instruction i of a kernel makes its block unfit to be flushed (gpump_clobbers_block),
 * block and alias_class as for analysis_create_launch; else to 0. Kernels that read textures are refused
 * (GPUMP_ERROR_ARGUMENT): a texture may be a buffer that the kernel writes. */
gpump_result analysis_clobbers(const kernel_program *kernel, const uint32_t block[3], const uint32_t *alias_class,
                               uint8_t *clobbers, gpump_diag *diag);

/* What a kernel is made into before it runs. */
#define REGIONS_NONE 0u
#define REGIONS_SPARSE 1u
/* Continuous spilling (iGPU 4.2): the registers that a warp stores in local memory whenever it crosses a sparse
 * boundary. The warp can then be preempted at any later time without saving them. */
#define SPILLING_NONE 0u /* none: a preemption saves the live-ins */
#define SPILLING_ALL 1u  /* all live-ins, and loads them again behind the boundary, as the paper has it */
#define SPILLING_CHANGED \
    2u /* live-ins that have changed since they were last stored; only a preempted warp loads them */
/* Where page checks are (Kim): one for every access; or also, of arrays walked at a fixed step only where they enter a
 * page, and in loops that follow pointers by the loads themselves. */
typedef enum page_check_form {
    PAGE_CHECKS_NONE,
    PAGE_CHECKS_EVERY,
    PAGE_CHECKS_ARRAY,
    PAGE_CHECKS_POINTER,
    PAGE_CHECKS_KIM,
    PAGE_CHECK_FORMS
} page_check_form;
/* "none", "every", "array", "pointer", "kim" (array and pointer); NULL past the last. */
const char *page_check_form_name(uint32_t form);

/* What a lowering leaves behind so that regions can be split while the kernel runs (analysis_split). */
typedef struct analysis_source analysis_source;

typedef struct analysis_lowering {
    uint32_t registers; /* 32-bit registers of a thread at most, 2 to 1024 */
    uint32_t regions;   /* REGIONS_NONE; REGIONS_SPARSE; or N, 2 and more: sparse regions and short ones of at most N
                           instructions */
    uint32_t spilling;  /* SPILLING_...: what sparse boundaries store */
    const gpump_regions_config
        *regions_config;       /* how regions are formed; NULL: as the presets igpu and igpu_short have it */
    uint32_t shared_goes_back; /* 1: shared memory can go back, so a store there does not end a region; not with
                                  `page_checks` */
    uint32_t page_checks;      /* page_check_form */
    uint32_t page_bytes;       /* with page_checks: a power of two */
    uint32_t local_checks;     /* with page_checks, 1: of local memory, too */
    uint32_t point_interval; /* K: preemption points (Lin 2.4.1), one for every K instructions outside loops; 0: none */
    const uint32_t *block;   /* threads of the launch's blocks in x, y and z; NULL: unknown */
    const uint32_t *alias_class; /* as for analysis_create_launch; NULL */
    analysis_source **source;    /* set to what analysis_split needs (not with `spilling`); NULL: not wanted */
    const uint8_t *clobbers;     /* of analysis_clobbers: marked instructions get FLAG_CLOBBERS; NULL */
} analysis_lowering;

/* What came of it. */
typedef struct analysis_lowered {
    gpump_registers_report registers;
    gpump_regions_report regions;
    gpump_page_checks_report page_checks;
    uint32_t points; /* preemption points, barriers included */
} analysis_lowered;

/* Makes a kernel into what a real machine executes: page checks, if how->page_checks says so; idempotent regions with
 * their boundaries as instructions and their live-ins kept (OPCODE_BOUNDARY; if how->regions says so); real registers,
 * the rest spilled to local memory; preemption points (how->point_interval). *lowered is a copy of *kernel with other
 * instructions (free with analysis_free_kernel); names and parameters are shared with *kernel, which must live longer.
 * A module has to be linked before (ptx_link): instructions have other numbers afterwards. report may be NULL. Returns
 * GPUMP_OK, or what gpump said. */
gpump_result analysis_lower(const kernel_program *kernel, const analysis_lowering *how, kernel_program *lowered,
                            analysis_lowered *report, gpump_diag *diag);
/* Gives instructions `first` and `second` of the kernel as it was lowered, or split last, regions of their own. *piece
 * is the new code (free its instructions with analysis_free_kernel), and (*from)[i] (free) the instruction of the code
 * before that its i-th one was; GPUMP_NONE for one put in. *source is that of the new code then. GPUMP_ERROR_FULL: the
 * registers that a source keeps in reserve are used up. */
gpump_result analysis_split(analysis_source *source, uint32_t first, uint32_t second, kernel_program *piece,
                            uint32_t **from, gpump_diag *diag);
void analysis_free_source(analysis_source *source);
/* The same without regions: only registers. */
gpump_result analysis_allocate(const kernel_program *kernel, uint32_t registers, kernel_program *allocated,
                               gpump_registers_report *report, gpump_diag *diag);
void analysis_free_kernel(kernel_program *allocated);
#endif
