/* program_parts (private): what the analyses share, namely memory, graphs, and the function that makes a changed copy
 * of a program. */
#ifndef GPUMPI_PROGRAM_PARTS_H
#define GPUMPI_PROGRAM_PARTS_H
#ifndef GPUMP_NO_PROGRAM

#include "base/array.h"
#include "program/program.h"

/* Runs whenever an instruction is read. A test that includes the implementation defines it to count the steps of an
 * analysis. */
#ifndef GPUMPI_COUNT_STEP
#define GPUMPI_COUNT_STEP() ((void)0)
#endif

/* Memory for an analysis: many arrays of fixed size, all freed at once. */
typedef struct gpumpi_arena_chunk gpumpi_arena_chunk;
typedef struct gpumpi_arena {
    gpump_allocator allocator;
    gpumpi_arena_chunk *chunks;
} gpumpi_arena;
/* Returns an empty arena; allocator NULL: the C library's. */
GPUMP_API gpumpi_arena gpumpi_arena_make(const gpump_allocator *allocator);
/* Sets *array, a pointer to elements, to `count` zeroed elements (room for at least one) and returns 1. Returns 0,
 * *array unchanged, when out of memory or when the size does not fit. */
GPUMP_API int gpumpi_arena_new(gpumpi_arena *arena, void *array, size_t element_bytes, size_t count);
GPUMP_API void gpumpi_arena_free(gpumpi_arena *arena);
/* 1 when `array` (an lvalue) now holds `count` zeroed elements; 0 when out of memory. */
#define GPUMPI_ARENA_NEW(arena, array, count) \
    gpumpi_arena_new((arena), (void *)&(array), sizeof *(array), (size_t)(count))

/* Groups `count` values by key (0 to keys - 1), in their order: those of key k are (*out)[(*start)[k]] to
 * (*out)[(*start)[k + 1] - 1]. 1 done, 0 out of memory. */
GPUMP_API int gpumpi_group(gpumpi_arena *arena, uint32_t keys, const uint32_t *key, const uint32_t *value, size_t count,
                           uint32_t **start, uint32_t **out);

/* A directed graph: the successors of node n are succ[succ_start[n]] to succ[succ_start[n + 1] - 1]; pred likewise. */
typedef struct gpumpi_graph {
    uint32_t nodes;
    uint32_t *succ_start, *succ, *pred_start, *pred;
} gpumpi_graph;
/* Builds a graph of `count` edges from[i] -> to[i], kept in that order. 1 done, 0 out of memory. */
GPUMP_API int gpumpi_graph_build(gpumpi_arena *arena, gpumpi_graph *graph, uint32_t nodes, const uint32_t *from,
                                 const uint32_t *to, size_t count);
/* Depth-first search from root: preorder[] and, unless NULL, postorder[] of the nodes reached; returns how many, or
 * GPUMP_NONE when out of memory. number[n] is n's place in preorder, GPUMP_NONE when not reached; parent[n] likewise a
 * node. */
GPUMP_API uint32_t gpumpi_graph_search(gpumpi_arena *arena, const gpumpi_graph *graph, uint32_t root,
                                       uint32_t *preorder, uint32_t *postorder, uint32_t *number, uint32_t *parent);
/* Immediate dominators (semi-NCA): idom[n] is GPUMP_NONE for the root and for nodes not reached. 1 done, 0 out of
 * memory. */
GPUMP_API int gpumpi_graph_dominators(gpumpi_arena *arena, const gpumpi_graph *graph, uint32_t root, uint32_t *idom);
/* Numbers the tree of idom so that a dominates b when enter[a] <= enter[b] and leave[b] <= leave[a]; nodes outside the
 * tree get enter 1, leave 0. 1 done, 0 out of memory. */
GPUMP_API int gpumpi_graph_intervals(gpumpi_arena *arena, uint32_t nodes, const uint32_t *idom, uint32_t root,
                                     uint32_t *enter, uint32_t *leave);

/* 1 when a definition leaves nothing of the old value: no guard. */
GPUMP_INLINE int gpumpi_kills(const gpump_instruction *instruction) { return instruction->guard == GPUMP_NONE; }
/* Calls body with `reg` for each register number that an operand covers; none for a parameter. */
#define GPUMPI_OPERAND_REGISTERS(operand, reg, body)                                                  \
    do {                                                                                              \
        uint32_t reg = (operand)&GPUMP_OPERAND_INDEX;                                                 \
        const uint32_t reg##_end =                                                                    \
            (operand)&GPUMP_OPERAND_PARAMETER ? reg : reg + ((operand)&GPUMP_OPERAND_PAIR ? 2u : 1u); \
        for (; reg != reg##_end; reg++) body;                                                         \
    } while (0)

/* One instruction to insert before instruction `before` (or at the end). Several at one place keep their order. */
typedef struct gpumpi_insertion {
    /* Its target, when used, is GPUMPI_NEW | index of an insertion, or GPUMPI_NEW_BODY | number of an old instruction.
     */
    gpump_instruction instruction;
    uint32_t defs[2], uses[3]; /* where its operands live: the pointers are set from here */
    uint32_t before;
    uint32_t after_previous; /* 1: belongs to instruction before - 1, so branches to `before` do not take it */
    uint32_t entry_loop;     /* GPUMP_NONE: every path to `before` takes it; else only paths from outside that loop */
    uint32_t origin;         /* GPUMP_NONE, or the old instruction it is a copy of */
} gpumpi_insertion;
#define GPUMPI_NEW UINT32_C(0x80000000)
/* In a branch target: the old instruction itself. The branch skips the instructions inserted before it. */
#define GPUMPI_NEW_BODY UINT32_C(0x40000000)
/* An insertion of one instruction without operands. */
GPUMP_API gpumpi_insertion gpumpi_insertion_make(uint32_t operation, uint32_t before);
/* A copy of an old instruction with at most one use. */
GPUMP_API gpumpi_insertion gpumpi_insertion_copy(const gpump_program *program, uint32_t index, uint32_t before);
/* The most operands of an instruction: 16 that it writes, 64 that it reads, its guard, and one that an edit adds. */
enum { GPUMPI_EDIT_OPERANDS = 82 };

/* Makes the changed copy. Insertions are sorted by `before`; at one place those after the previous instruction come
 * first, then those of a loop's entry, then the rest. The new program knows its origin[]. */
typedef struct gpumpi_edit {
    const gpump_program *program;
    const gpumpi_insertion *insertions;
    uint32_t insertion_count;
    /* Changes *instruction in place (operands into scratch of GPUMPI_EDIT_OPERANDS entries); returns 0 to drop it.
     * NULL: nothing changes. */
    int (*rewrite)(void *user, uint32_t index, gpump_instruction *instruction, uint32_t *scratch);
    void *user;
    /* The registers of the new program; widths NULL: those of the old one. */
    const uint32_t *widths;
    uint32_t registers;
    const uint32_t *origin; /* where `program` is itself a step: its own origin[]; else NULL */
} gpumpi_edit;
/* GPUMP_OK, GPUMP_ERROR_MEMORY, or what gpump_program_add says. */
GPUMP_API gpump_result gpumpi_program_edit(const gpumpi_edit *edit, gpump_program **out, gpump_diag *diag);
/* Refuses a program that is not finished. GPUMP_ERROR_STATE. */
GPUMP_API GPUMPI_COLD gpump_result gpumpi_program_unfinished(gpump_diag *diag);
/* The allocator a program was made with. */
GPUMP_API const gpump_allocator *gpumpi_program_allocator(const gpump_program *program);

/* Memory as re-execution sees it. start[i] (the caller's to set, one per instruction): a region starts before
 * instruction i. */
typedef struct gpumpi_memory {
    const gpump_program *program;
    uint32_t unit, slots;
    /* Control flow, and for a warp also edges from the end of one diverged side to the start of the other. */
    gpumpi_graph graph;
    uint8_t *start;
    uint8_t *is_protected; /* reads whose source the thread wrote itself since its region's start, on every path */
    /* For each instruction the exactly known place that it accesses. GPUMP_NONE: the place is not exactly known, or no
     * instruction with an exactly known place writes it. */
    uint32_t *slot;
    uint32_t *stack, *seen;  /* for walks: one per block */
    uint32_t *order, blocks; /* reverse postorder of control flow */
    uint8_t *kind;           /* GPUMPI_MEMORY_... bits of each instruction */
    /* As in gpump_regions_config, with instruction numbers after origin[]; may be NULL. */
    int (*may_clobber)(void *user, uint32_t read, uint32_t write);
    void *user;
    const uint32_t *origin;
} gpumpi_memory;
#define GPUMPI_MEMORY_READS 1u
#define GPUMPI_MEMORY_MEETS_READ 2u /* a write of an object that something reads */
GPUMP_API int gpumpi_memory_make(gpumpi_arena *arena, const gpump_program *program, uint32_t unit,
                                 gpumpi_memory *memory);
/* Finds is_protected[] for start[] as it is now. 1 done, 0 out of memory. */
GPUMP_API int gpumpi_memory_protect(gpumpi_arena *arena, gpumpi_memory *memory);
/* The unprotected reads nearest before `write` that may touch what it writes, walking up from it to region starts;
 * `mark` is a number not used before. Appends them to *reads (an array.h array). 1 done, 0 out of memory. */
GPUMP_API int gpumpi_memory_walk(gpumpi_memory *memory, uint32_t write, uint32_t mark, const gpump_allocator *allocator,
                                 uint32_t **reads);
/* 1 when the instruction writes (reads) memory or a spill slot. */
GPUMP_API int gpumpi_memory_writes(const gpump_instruction *in);
GPUMP_API int gpumpi_memory_reads(const gpump_instruction *in);
/* 1 when the instruction must not execute twice and its region ends right behind it. What it writes is then never read
 * again in that region. */
GPUMP_API int gpumpi_memory_ends_region(const gpumpi_memory *memory, uint32_t i, const gpump_instruction *in);
struct gpump_liveness;
/* The registers live before instruction `index`, or behind it when `behind` is 1, in no order; returns how many stand
 * in list[], which has room for all. stamp: one per register, zero at first; mark: an even number above 0 not used with
 * it before. Cost: the registers live nearby and at most as many instructions, or 64; unlike that of a set, not the
 * number of registers. */
GPUMP_API uint32_t gpumpi_liveness_list(const struct gpump_liveness *liveness, uint32_t index, int behind,
                                        uint32_t *stamp, uint32_t mark, uint32_t *list);
/* gpump_liveness_diverged for many instructions with the same scratch arrays. *search starts as zeros. 1 done, 0 out of
 * memory. */
typedef struct gpumpi_liveness_search {
    uint32_t *found, *seen, mark;
} gpumpi_liveness_search;
GPUMP_API int gpumpi_liveness_diverged(const struct gpump_liveness *liveness, uint32_t index,
                                       gpumpi_liveness_search *search, gpumpi_arena *scratch, uint64_t *set);
/* The blocks whose last instruction decides whether basic block b runs; see liveness.c. */
GPUMP_API void gpumpi_liveness_control_of(const struct gpump_liveness *liveness, uint32_t b, const uint32_t **blocks,
                                          uint32_t *count);
/* 1 when lanes of a warp can part at the end of basic block b. */
GPUMP_API int gpumpi_program_diverges(const gpump_program *program, uint32_t b);

/* A register clobber: in the region that starts before `start`, `reg` is live in, read, then written at `write`. */
typedef struct gpumpi_register_clobber {
    uint32_t start, reg, write;
} gpumpi_register_clobber;
/* Appends all of them, at most one for each start and register. 1 done, 0 out of memory. */
GPUMP_API int gpumpi_register_clobbers(gpumpi_arena *arena, const gpump_program *program,
                                       const struct gpump_liveness *liveness, const uint8_t *start,
                                       const gpump_allocator *allocator, gpumpi_register_clobber **list);
/* gpump_regions_preserve for a program that is itself a step of a transform: origin is its own origin[], or NULL. */
struct gpump_regions_report;
GPUMP_API gpump_result gpumpi_regions_preserve(const gpump_program *program, const uint32_t *origin,
                                               gpump_program **preserved, struct gpump_regions_report *report,
                                               gpump_diag *diag);
/* Sets start[] from the BOUNDARY instructions that count at `level`. */
GPUMP_API void gpumpi_boundary_starts(const gpump_program *program, uint32_t level, uint8_t *start);

/* What is known of each register before allocation (constants.c). */
typedef struct gpumpi_registers_facts {
    uint32_t *defs, *def_at; /* how many instructions write it, and one that does */
    uint8_t *fixed;          /* 1: its only write is one unguarded CONSTANT or PARAMETER, directly or through moves */
    int64_t *offset;         /* of the parameter */
    uint8_t *parameter;      /* 1: fixed, and its value is a parameter */
} gpumpi_registers_facts;
GPUMP_API int gpumpi_registers_find_facts(const gpump_program *program, gpumpi_arena *arena,
                                          gpumpi_registers_facts *facts);
/* 1 when nothing may come between instruction i and the boundary behind it. */
GPUMP_API int gpumpi_registers_commits_with_next(const gpump_program *program, uint32_t i);
/* Folds and sinks, as the configuration says, and returns the new program. */
struct gpump_registers_config;
struct gpump_registers_report;
GPUMP_API gpump_result gpumpi_registers_prepare(const gpump_program *program,
                                                const struct gpump_registers_config *config, gpump_program **out,
                                                struct gpump_registers_report *report, gpump_diag *diag);

#endif
#endif
