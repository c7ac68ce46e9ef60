/* program: a kernel's instructions as analyses see them, its control flow, dominators and loops (program) */
#ifndef GPUMP_PROGRAM_H
#define GPUMP_PROGRAM_H

#include "base/component.h"

#ifndef GPUMP_NO_PROGRAM
GPUMP_BEGIN

/* A kernel as a list of instructions of one thread. The host builds a program with gpump_program_create, _add_register,
 * _add_object, _add and _finish. A finished program never changes: an analysis returns an object of its own, and a
 * transform returns a new program whose origin[] names the old instructions.
 *
 * Instructions are numbered from 0 in layout order; instruction i falls through to i + 1. A *basic block* is a maximal
 * run without branches into or out of it ("block" alone always means a thread block). */
typedef struct gpump_program gpump_program;

/* How wide a register is. 16-bit registers count as 32-bit ones. */
typedef enum gpump_width {
    GPUMP_WIDTH_PREDICATE = 0, /* one bit per lane, in a file of its own */
    GPUMP_WIDTH_32 = 1,        /* one 32-bit register */
    GPUMP_WIDTH_64 = 2         /* two 32-bit registers */
} gpump_width;

/* Operands are register numbers, with two marks in the high bits. */
/* The operand is the 64-bit value in the 32-bit registers r and r + 1, where r is even. Register allocation makes such
 * operands. */
#define GPUMP_OPERAND_PAIR UINT32_C(0x80000000)
/* The operand is no register but the kernel parameter at this byte offset. Only a use can be one. */
#define GPUMP_OPERAND_PARAMETER UINT32_C(0x40000000)
/* The bits of the register number or byte offset. */
#define GPUMP_OPERAND_INDEX UINT32_C(0x3fffffff)

/* What the library must know about an instruction. An instruction that fits none of the others is GPUMP_OP_COMPUTE. */
typedef enum gpump_operation {
    /* The host's own instruction. It reads its uses and writes its defs; with access bits also memory. */
    GPUMP_OP_COMPUTE = 0,
    GPUMP_OP_MOVE,      /* defs[0] = uses[0], same width */
    GPUMP_OP_CONSTANT,  /* defs[0] = immediate; it has no uses, so a transform may repeat it anywhere */
    GPUMP_OP_PARAMETER, /* defs[0] = the kernel parameter at byte `immediate`; constant for the whole launch */
    GPUMP_OP_ADD,       /* defs[0] = uses[0] + immediate; shows page_checks the step of an address */
    GPUMP_OP_BRANCH,    /* goes to target; falls through for lanes whose guard is false */
    GPUMP_OP_EXIT,      /* ends the lanes whose guard is true */
    GPUMP_OP_BARRIER,   /* waits for all warps of the block */
    /* Transforms insert the following instructions, and the host executes them as described here. */
    /* Local memory at byte `immediate` of the spill area = uses[0]. A predicate is stored as 0 or 1 in 4 bytes. */
    GPUMP_OP_SPILL_STORE,
    GPUMP_OP_SPILL_LOAD,   /* defs[0] = local memory at byte `immediate` of the spill area */
    GPUMP_OP_BOUNDARY,     /* starts an idempotent region; immediate is a gpump_boundary */
    GPUMP_OP_PP,           /* preemption point; immediate is its index in gpump_preempt_points */
    GPUMP_OP_PP_DIVERGED,  /* no operation: carries the live vector for a diverged warp at the PP before it */
    GPUMP_OP_BARRIER_PP,   /* a barrier that is a preemption point too; immediate as for PP */
    GPUMP_OP_START_MARKER, /* no operation: execution resumes here after a check has found a fault */
    GPUMP_OP_CLEAR_CHECK,  /* defs[0] (a predicate) = false */
    /* Sets defs[0], a predicate that is also the last use, to true when an access with `access`, `space` and `bytes` at
     * uses[0] + displacement would fault; with GPUMP_FLAG_NO_BASE the address is the displacement alone. Otherwise the
     * predicate keeps its value. The check touches no memory. */
    GPUMP_OP_CHECK,
    /* defs[0] (a predicate) = uses[0] + displacement lies in the first `bytes` bytes of a page of `immediate` bytes. */
    GPUMP_OP_PAGE_ENTERED,
    /* Lanes whose guard is true serialise, call the fault handler and continue at `target`. The target is a
     * START_MARKER, or an instruction that another transform has inserted right before a START_MARKER. */
    GPUMP_OP_GUARDED_CALL,
    GPUMP_OP_COUNT
} gpump_operation;

/* Bits of gpump_instruction.flags. */
#define GPUMP_FLAG_GUARD_NEGATED 1u /* executes where the guard is false */
#define GPUMP_FLAG_UNIFORM 2u       /* a branch that either all active lanes of a warp take or none */
#define GPUMP_FLAG_ATOMIC 4u        /* reads and writes memory in one step: must never execute twice */
#define GPUMP_FLAG_VOLATILE 8u      /* other agents observe the access: must never execute twice */
#define GPUMP_FLAG_FENCE 16u        /* orders memory; ends an idempotent region */
#define GPUMP_FLAG_CONVERGENT 32u   /* reads registers of other lanes (shuffle, vote): never moved */
/* The last def and the last use are the same predicate. An access that would fault only sets this predicate to true. */
#define GPUMP_FLAG_CHECKED 64u
/* The access touches only pages that are never absent, so page_checks inserts nothing for it. */
#define GPUMP_FLAG_RESIDENT 128u
/* No register holds the address of the access or check: the address is `displacement`, as in `st.local [8]`. */
#define GPUMP_FLAG_NO_BASE 256u

typedef enum gpump_space {
    GPUMP_SPACE_GLOBAL = 0,
    GPUMP_SPACE_SHARED,   /* of the block */
    GPUMP_SPACE_LOCAL,    /* of the thread */
    GPUMP_SPACE_CONSTANT, /* never written during a launch; parameters too */
    GPUMP_SPACE_TEXTURE,  /* never written during a launch */
    GPUMP_SPACE_GENERIC,  /* global, shared or local, known only at run time */
    GPUMP_SPACES
} gpump_space;

#define GPUMP_ACCESS_READ 1u
#define GPUMP_ACCESS_WRITE 2u

/* How much is known about the place in its object that an access touches. */
typedef enum gpump_address {
    GPUMP_ADDRESS_ANYWHERE = 0, /* nothing is known */
    GPUMP_ADDRESS_FIXED,        /* byte `offset`, the same for every thread */
    /* Byte `offset` past a value that each thread computes once; `value` names it. With thread_stride != 0 the values
     * of two threads of a block differ by a multiple of thread_stride, and never by 0. */
    GPUMP_ADDRESS_VALUE
} gpump_address;

/* One instruction. gpump_instruction_make gives one to start from. gpump_program_add copies defs[] and uses[]. */
typedef struct gpump_instruction {
    const uint32_t *defs;   /* operands written: def_count of them */
    const uint32_t *uses;   /* operands read, the guard apart: use_count of them */
    uint64_t tag;           /* the host's own word; transforms carry it along */
    int64_t immediate;      /* see gpump_operation */
    int64_t offset;         /* of the access within its object or past its value, bytes; see gpump_address */
    int64_t displacement;   /* bytes that the access adds to its address register, which is uses[0] */
    uint32_t operation;     /* gpump_operation */
    uint32_t def_count;     /* 0 to 16 */
    uint32_t use_count;     /* 0 to 64 */
    uint32_t flags;         /* GPUMP_FLAG_... */
    uint32_t guard;         /* predicate register, or GPUMP_NONE */
    uint32_t target;        /* instruction branched to; GPUMP_NONE unless BRANCH or GUARDED_CALL */
    uint32_t access;        /* GPUMP_ACCESS_... bits; 0: no memory */
    uint32_t space;         /* gpump_space, when access != 0 */
    uint32_t object;        /* object accessed; GPUMP_NONE: any of that space */
    uint32_t address;       /* gpump_address */
    uint32_t value;         /* with GPUMP_ADDRESS_VALUE: equal numbers are equal values within a thread */
    uint32_t bytes;         /* size of the access per thread */
    uint32_t thread_stride; /* with GPUMP_ADDRESS_VALUE; 0: nothing known */
} gpump_instruction;

/* Returns an instruction of that operation with no operands, no guard, no target and no access. */
GPUMP_API gpump_instruction gpump_instruction_make(uint32_t operation);

/* A piece of memory that accesses name: a buffer behind a pointer parameter, a shared array, the local frame. */
typedef struct gpump_memory_object {
    uint32_t space;       /* gpump_space */
    uint32_t alias_class; /* objects of different classes never overlap; GPUMP_NONE: overlaps no other object */
} gpump_memory_object;

/* Makes an empty program and sets *program. allocator NULL: the C library's. GPUMP_ERROR_MEMORY. */
GPUMP_API gpump_result gpump_program_create(const gpump_allocator *allocator, gpump_program **program);
/* Frees a program; NULL is allowed. Analyses made from it must be destroyed first. */
GPUMP_API void gpump_program_destroy(gpump_program *program);
/* Adds a register of `width` (gpump_width) and sets *reg to its number (0, 1, ...). GPUMP_ERROR_STATE after _finish,
 * GPUMP_ERROR_FULL beyond 2^30, GPUMP_ERROR_MEMORY. Cost: constant on average. */
GPUMP_API gpump_result gpump_program_add_register(gpump_program *program, uint32_t width, uint32_t *reg,
                                                  gpump_diag *diag);
/* Adds a memory object as *what describes it and sets *object to its number. GPUMP_ERROR_STATE after _finish,
 * GPUMP_ERROR_MEMORY. Cost: constant on average. */
GPUMP_API gpump_result gpump_program_add_object(gpump_program *program, const gpump_memory_object *what,
                                                uint32_t *object, gpump_diag *diag);
/* Appends an instruction and sets *index (may be NULL) to its number. Branch targets may lie ahead. An invalid
 * instruction is refused and leaves the program unchanged: diag names the field at fault, and diag->index is the number
 * that the instruction would have had. */
GPUMP_API gpump_result gpump_program_add(gpump_program *program, const gpump_instruction *instruction, uint32_t *index,
                                         gpump_diag *diag);
/* Ends building: checks branch targets and that no path runs off the end, finds basic blocks, dominators,
 * post-dominators and loops. On failure diag->index is the instruction at fault, and the host may continue building.
 * Cost: near-linear. */
GPUMP_API gpump_result gpump_program_finish(gpump_program *program, gpump_diag *diag);

/* How large a program is. */
typedef struct gpump_program_counts {
    uint32_t instructions;
    uint32_t registers;
    uint32_t objects;
    uint32_t basic_blocks; /* 0 before gpump_program_finish */
    uint32_t loops;        /* 0 before gpump_program_finish */
} gpump_program_counts;
/* Returns the counts of a program; all 0 for NULL. */
GPUMP_API gpump_program_counts gpump_program_count(const gpump_program *program);
/* Private: one of them. */
GPUMP_API uint32_t gpumpi_program_instructions(const gpump_program *program);
GPUMP_API uint32_t gpumpi_program_registers(const gpump_program *program);
GPUMP_API uint32_t gpumpi_program_objects(const gpump_program *program);
GPUMP_API uint32_t gpumpi_program_basic_blocks(const gpump_program *program);
GPUMP_API uint32_t gpumpi_program_loops(const gpump_program *program);
/* Returns the gpump_width of register `reg`, below gpump_program_counts.registers. */
GPUMP_API uint32_t gpump_program_width(const gpump_program *program, uint32_t reg);
/* Returns memory object `object`, below gpump_program_counts.objects. */
GPUMP_API gpump_memory_object gpump_program_object(const gpump_program *program, uint32_t object);
/* Reads instruction `index` (below gpump_program_counts.instructions) into *instruction; its pointers live as long as
 * the program. */
GPUMP_API void gpump_program_instruction(const gpump_program *program, uint32_t index, gpump_instruction *instruction);

/* Returns, for a program made by a transform, the array that gives each instruction's number in the program it was made
 * from (GPUMP_NONE for instructions put in); NULL for a program built by hand. */
GPUMP_API const uint32_t *gpump_program_origin(const gpump_program *program);

/* A basic block and its place in the graph. Numbers are basic-block numbers unless said otherwise. */
typedef struct gpump_basic_block {
    const uint32_t *successors;
    const uint32_t *predecessors;
    uint32_t successor_count; /* 0 to 2 */
    uint32_t predecessor_count;
    uint32_t first;     /* instruction */
    uint32_t count;     /* instructions */
    uint32_t dominator; /* immediate; GPUMP_NONE for the entry and for unreachable blocks */
    /* Immediate post-dominator. GPUMP_NONE: only the end of the thread. A guarded exit does not count as a path to the
     * end, because the other lanes never wait for lanes that have exited. */
    uint32_t post_dominator;
    uint32_t loop;       /* innermost loop; GPUMP_NONE */
    uint32_t loop_depth; /* 0 outside loops */
    uint32_t reachable;  /* 0: no path from the entry */
} gpump_basic_block;
/* Fills *block with basic block `basic_block`, below gpump_program_counts.basic_blocks; its arrays live as long as the
 * program. */
GPUMP_API void gpump_program_basic_block(const gpump_program *program, uint32_t basic_block, gpump_basic_block *block);
/* Returns the basic block of an instruction. */
GPUMP_API uint32_t gpump_program_basic_block_of(const gpump_program *program, uint32_t instruction);
/* Returns 1 when every path from the entry to basic block b runs through a (a itself included). Cost: constant. */
GPUMP_API int gpump_program_dominates(const gpump_program *program, uint32_t a, uint32_t b);
/* Returns the instruction where lanes that diverge at `branch` meet again: the first one of the immediate
 * post-dominator (Fung; Lin 2.3.2). GPUMP_NONE: they meet only at the end. Cost: constant. */
GPUMP_API uint32_t gpump_program_reconvergence(const gpump_program *program, uint32_t branch);

/* A loop of the nest (Havlak): for an irreducible one, `header` is its entry reached first by depth-first search. */
typedef struct gpump_loop {
    uint32_t header;      /* basic block */
    uint32_t parent;      /* enclosing loop; GPUMP_NONE */
    uint32_t depth;       /* 1 for outermost loops */
    uint32_t irreducible; /* 1: it can be entered past its header */
    uint32_t innermost;   /* 1: holds no other loop */
    uint32_t blocks;      /* basic blocks in it, inner loops included */
} gpump_loop;
/* Fills *out with loop `loop`, below gpump_program_counts.loops. */
GPUMP_API void gpump_program_loop(const gpump_program *program, uint32_t loop, gpump_loop *out);
/* Returns 1 when basic block b lies in `loop` or in a loop inside it. Cost: the depth of b. */
GPUMP_API int gpump_program_in_loop(const gpump_program *program, uint32_t loop, uint32_t b);

/* Whose accesses count when two accesses are compared: one thread's own, or any two threads' of a warp or of a block.
 * 0 is none of them, so that a configuration that was never filled is refused. */
typedef enum gpump_unit { GPUMP_UNIT_THREAD = 1, GPUMP_UNIT_WARP, GPUMP_UNIT_BLOCK } gpump_unit;
/* Returns 1 unless the accesses of instructions a and b, done by threads of one such unit (gpump_unit), can never touch
 * the same byte. */
GPUMP_API int gpump_program_may_alias(const gpump_program *program, uint32_t a, uint32_t b, uint32_t unit);

/* Writes a listing line of instruction `index` into text (at most bytes, always terminated); returns its whole length,
 * as snprintf does. The host's own operations are shown as "op<tag>". */
GPUMP_API size_t gpump_program_text(const gpump_program *program, uint32_t index, char *text, size_t bytes);

GPUMP_END
#endif
#endif
