/* analysis: a kernel as gpump's analyses see it (gpump_program), and the way back. It shows how a host describes its
 * programs to the library. */
#ifndef MINIGPU_ANALYSIS_H
#define MINIGPU_ANALYSIS_H
#include "gpump_once.h"
#include "ptx/instruction.h"

/* A kernel in gpump's terms. Instruction i of the program is instruction i of the kernel, and its tag is i. */
typedef struct analysis {
    uint8_t of_blocks; /* 1: the analysis concerns whole blocks, whose shared memory is dropped with them */
    gpump_program *program;
    uint32_t *vector_register;    /* kernel register -> program register; INSTRUCTION_NONE for the second half of a pair
                                     and for unused registers */
    uint32_t *predicate_register; /* kernel predicate -> program register */
    uint32_t *kernel_register;    /* program register -> the kernel's first 32-bit register, or its predicate */
    uint32_t space_object[GPUMP_SPACES];     /* the object of a whole gpump_space (local and constant memory), or
                                                INSTRUCTION_NONE */
    uint32_t *parameter_object;              /* parameter -> the memory object that it points to, or INSTRUCTION_NONE */
    uint32_t *shared_number, *shared_object; /* shared variables (operand.index of their addresses) and their objects */
    uint32_t shared_count;
} analysis;

/* Describes a kernel to gpump, with its memory accesses as addresses.h finds them. block: threads of the launch's
 * blocks in x, y and z; NULL: unknown. A known block tells more about where threads write. Returns GPUMP_OK, or gpump's
 * error with *diag filled, whose index is the instruction. */
gpump_result analysis_create_for(const kernel_program *kernel, const uint32_t block[3], analysis *a, gpump_diag *diag);
/* Describes a kernel for a launch that passes one buffer to several parameters. alias_class[i] is the same number for
 * the parameters of one buffer, and GPUMP_NONE for a parameter with a buffer of its own. NULL: every parameter has its
 * own. */
gpump_result analysis_create_launch(const kernel_program *kernel, const uint32_t block[3], const uint32_t *alias_class,
                                    analysis *a, gpump_diag *diag);
/* Describes a kernel for any block. */
gpump_result analysis_create(const kernel_program *kernel, analysis *a, gpump_diag *diag);
void analysis_destroy(analysis *a);

/* Sets clobbers[i] to 1 where instruction i makes its block unfit to be flushed (gpump_clobbers_block), else to 0.
 * block and alias_class are as for analysis_create_launch. GPUMP_ERROR_ARGUMENT: the kernel reads textures; a texture
 * may be a buffer that the kernel writes. */
gpump_result analysis_clobbers(const kernel_program *kernel, const uint32_t block[3], const uint32_t *alias_class,
                               uint8_t *clobbers, gpump_diag *diag);

/* How a kernel is prepared for execution. */
#define REGIONS_NONE 0u
#define REGIONS_SPARSE 1u
/* Continuous spilling (iGPU 4.2): the registers that a warp stores in local memory whenever it crosses a sparse
 * boundary. The warp can then be preempted at any later time without saving them. */
#define SPILLING_NONE 0u /* none: a preemption saves the live-ins */
#define SPILLING_ALL 1u  /* all live-ins; the warp loads them again behind the boundary, as in the paper */
#define SPILLING_CHANGED \
    2u /* live-ins that have changed since they were last stored; only a preempted warp loads them */
/* Where page checks are placed (Kim). `every`: before each access. `array`: a walk through an array at a fixed step is
 * checked only where it enters a page. `pointer`: in loops that follow pointers, the loads themselves check. */
typedef enum page_check_form {
    PAGE_CHECKS_NONE,
    PAGE_CHECKS_EVERY,
    PAGE_CHECKS_ARRAY,
    PAGE_CHECKS_POINTER,
    PAGE_CHECKS_KIM,
    PAGE_CHECK_FORMS
} page_check_form;
/* Returns "none", "every", "array", "pointer" or "kim" (array and pointer); NULL past the last. */
const char *page_check_form_name(uint32_t form);

/* What analysis_split needs to split the regions of a lowered kernel while it runs. */
typedef struct analysis_source analysis_source;

typedef struct analysis_lowering {
    uint32_t registers; /* at most so many 32-bit registers per thread, 2 to 1024 */
    uint32_t
        regions; /* REGIONS_NONE; REGIONS_SPARSE; N >= 2: sparse regions, and short ones of at most N instructions */
    uint32_t spilling; /* SPILLING_...: what sparse boundaries store */
    const gpump_regions_config
        *regions_config;       /* how regions are formed; NULL: as in the presets igpu and igpu_short */
    uint32_t shared_goes_back; /* 1: shared memory is restored on a restart, so a store to it does not end a region; not
                                  with `page_checks` */
    uint32_t page_checks;      /* page_check_form */
    uint32_t page_bytes;       /* with page_checks: a power of two */
    uint32_t local_checks;     /* with page_checks, 1: also of local memory */
    uint32_t point_interval; /* K: preemption points (Lin 2.4.1), one for every K instructions outside loops; 0: none */
    const uint32_t *block;   /* threads of the launch's blocks in x, y and z; NULL: unknown */
    const uint32_t *alias_class; /* as for analysis_create_launch; NULL */
    analysis_source **source;    /* set to what analysis_split needs (not with `spilling`); NULL: not wanted */
    const uint8_t *clobbers;     /* result of analysis_clobbers: marked instructions get FLAG_CLOBBERS; NULL */
} analysis_lowering;

/* What the transforms report. */
typedef struct analysis_lowered {
    gpump_registers_report registers;
    gpump_regions_report regions;
    gpump_page_checks_report page_checks;
    uint32_t points; /* preemption points, barriers included */
} analysis_lowered;

/* Prepares a kernel for execution on a real machine. The steps are page checks (how->page_checks), idempotent
 * regions with boundaries as instructions and preserved live-ins (how->regions), allocation to real registers with
 * spills to local memory, and preemption points (how->point_interval). *lowered is a copy of *kernel with other
 * instructions; analysis_free_kernel frees it. It shares names and parameters with *kernel, which must live
 * longer. ptx_link comes before, because instructions have other numbers afterwards. report may be NULL. Returns
 * GPUMP_OK, or gpump's error. */
gpump_result analysis_lower(const kernel_program *kernel, const analysis_lowering *how, kernel_program *lowered,
                            analysis_lowered *report, gpump_diag *diag);
/* Gives instructions `first` and `second` of the kernel, as lowered or as split last, regions of their own. *piece is
 * the new code; analysis_free_kernel frees its instructions. (*from)[i] is the earlier number of instruction i,
 * GPUMP_NONE for an inserted one; the caller frees *from. *source describes the new code afterwards. GPUMP_ERROR_FULL:
 * the source's reserve of registers is used up. */
gpump_result analysis_split(analysis_source *source, uint32_t first, uint32_t second, kernel_program *piece,
                            uint32_t **from, gpump_diag *diag);
void analysis_free_source(analysis_source *source);
/* Allocates registers only, without regions. */
gpump_result analysis_allocate(const kernel_program *kernel, uint32_t registers, kernel_program *allocated,
                               gpump_registers_report *report, gpump_diag *diag);
void analysis_free_kernel(kernel_program *allocated);
#endif
