/* ptx_internal: what the reader's files share. Nobody else includes it. */
#ifndef MINIGPU_PTX_INTERNAL_H
#define MINIGPU_PTX_INTERNAL_H
#include "ptx/ptx_lexer.h"
#include "ptx/ptx_opcodes.h"
#include "ptx/ptx_reader.h"

/* ---- memory: everything a module keeps, freed in one go ---- */
typedef struct ptx_chunk {
    struct ptx_chunk *next;
    size_t used, bytes;
} ptx_chunk;
/* Returns zeroed memory that lives as long as the module, or NULL. */
void *ptx_allocate(ptx_module *module, size_t bytes);
/* Copies a counted string into the module. */
char *ptx_copy_text(ptx_module *module, const char *text, size_t length);

/* ---- symbols, in nested scopes ---- */
typedef enum symbol_kind {
    SYMBOL_REGISTER,   /* a declared register; `index` is its first vector or predicate register once it is used */
    SYMBOL_RANGE,      /* %r<10>: `count` registers %r0 to %r9; not found by its bare name */
    SYMBOL_VARIABLE,   /* in `space` at `offset`; global and const: symbol `index` of the module */
    SYMBOL_TEXTURE,    /* .texref `index` */
    SYMBOL_FUNCTION,   /* .func; its text is at `place` */
    SYMBOL_LABEL,      /* instruction `index` */
    SYMBOL_TABLE,      /* .branchtargets; its text is at `place` */
    SYMBOL_CALLS,      /* .callprototype or .calltargets; its text is at `place` */
    SYMBOL_UNSUPPORTED /* declared as something this reader does not have: using it refuses the kernel */
} symbol_kind;

typedef struct ptx_name {
    const char *text;
    uint32_t length;
} ptx_name;

typedef struct symbol {
    ptx_name name;
    symbol_kind kind;
    uint32_t depth; /* of the scope it lives in */
    uint32_t next;  /* in its hash chain, older */
    uint32_t type;
    uint32_t space;
    uint32_t index;
    uint32_t count;
    uint32_t alignment;
    uint32_t element_bytes; /* variables: of an element, which a[i] counts */
    uint32_t kernel;        /* shared variables: the kernel (number + 1) that has given it an offset */
    uint32_t is_extern;     /* extern shared: starts where static shared memory ends */
    uint32_t has_body;      /* functions */
    uint32_t address;       /* functions: a number of their own, from 1; 0: the file takes no address of it */
    uint64_t offset, bytes;
    ptx_lexer place;
} symbol;

typedef struct range_entry {
    uint64_t key; /* range id and number + 1; 0: free */
    uint32_t index;
} range_entry;

/* A branch whose label is not known yet. */
typedef struct pending_branch {
    ptx_name name;
    uint32_t instruction;
    uint32_t line, column;
} pending_branch;

#define PTX_HASH_HEADS 1024
#define PTX_SCOPES 64
#define PTX_INLINE_DEPTH 16

typedef struct ptx_scope {
    uint32_t first_symbol;  /* symbols from here on belong to it */
    uint32_t first_pending; /* and pending branches */
    uint32_t local_bytes;   /* where its local variables start */
} ptx_scope;

typedef struct ptx_reader {
    ptx_lexer lexer;
    ptx_token token; /* the current one, not yet consumed */
    ptx_module *module;
    ptx_error *error;
    int refused; /* the last failure refuses a kernel; the text itself is good */
    char refused_opcode[128];
    uint32_t constant_depth; /* nesting of parentheses in a constant expression */

    symbol *symbols;
    uint32_t symbol_count, symbol_capacity;
    uint32_t heads[PTX_HASH_HEADS];
    ptx_scope scopes[PTX_SCOPES];
    uint32_t depth;
    range_entry *ranges;
    uint32_t range_count, range_capacity, range_ids;

    /* the module's growing arrays (moved into the module's memory at the end) */
    uint32_t kernel_capacity, refusal_capacity, module_symbol_capacity, texture_capacity, relocation_capacity;
    uint64_t constant_capacity, global_capacity;

    /* the kernel being read */
    const char *kernel_name;
    instruction *code;
    uint32_t count, capacity;
    pending_branch *pending;
    uint32_t pending_count, pending_capacity;
    ptx_relocation *extern_shared; /* uses of extern shared arrays: `symbol` unused */
    uint32_t extern_count, extern_capacity;
    uint32_t registers, predicates, carry;
    uint32_t kernel_epoch;
    uint32_t system_shared; /* 1 + where the system's part of shared memory starts; 0: not asked for */
    uint32_t shared_bytes, local_bytes, local_peak, shared_alignment;
    uint32_t uses_extern_shared;
    uint32_t keeps_loop; /* 1: a .pragma "nounroll" waits for its instruction */
    uint32_t inline_depth;
    uint32_t inline_symbols[PTX_INLINE_DEPTH]; /* functions being read in place of their calls */
    uint32_t *returns;                         /* branches of an inlined function's ret */
    uint32_t return_count, return_capacity;
} ptx_reader;

/* Records an error at a token ("file:line:column: ..."); always returns -1. */
int ptx_fail(ptx_reader *reader, const ptx_token *token, const char *format, ...);
/* The same for something this reader does not know: refuses the kernel. opcode: as written, or "". */
int ptx_refuse(ptx_reader *reader, const ptx_token *token, const char *opcode, const char *format, ...);
int ptx_out_of_memory(ptx_reader *reader);
/* Makes room for one more element; returns -1 (out of memory, reported). */
int ptx_grow(ptx_reader *reader, void **array, uint32_t count, uint32_t *capacity, size_t size);
#define PTX_GROW(reader, array, count, capacity) \
    ptx_grow((reader), (void **)&(array), (count), &(capacity), sizeof *(array))

/* Moves to the next token. */
void ptx_next(ptx_reader *reader);
int ptx_at(const ptx_reader *reader, char punctuation);
/* Consumes a punctuation mark when it is there. */
int ptx_take(ptx_reader *reader, char punctuation);
/* Consumes it, or fails: "expected ';' after the operands, found 'x'". */
int ptx_expect(ptx_reader *reader, char punctuation, const char *where);
/* "expected <what><where>, found 'x'"; always returns -1. */
int ptx_fail_expected(ptx_reader *reader, const char *what, const char *where);
/* Consumes a name. */
int ptx_expect_name(ptx_reader *reader, ptx_name *name, const char *what);
/* Goes back (or forth) to a place in the text and reads the token there. */
void ptx_go_to(ptx_reader *reader, const ptx_lexer *place);
/* The place of the current token. */
ptx_lexer ptx_here(const ptx_reader *reader);
/* A constant expression of integers. */
int ptx_constant(ptx_reader *reader, uint64_t *value);

/* symbols */
int ptx_scope_open(ptx_reader *reader);
int ptx_scope_close(ptx_reader *reader);
symbol *ptx_declare(ptx_reader *reader, ptx_name name, symbol_kind kind);
/* The same, unless the scope has that name already: then it is an error and NULL. */
symbol *ptx_declare_once(ptx_reader *reader, const ptx_token *token, ptx_name name, symbol_kind kind);
symbol *ptx_lookup(ptx_reader *reader, ptx_name name);
/* Finds the register called so, declared alone or in a range, and numbers it at its first use. Sets *index and *type.
 * Returns 0 when there is none, 1 when found, -1 on failure. */
int ptx_lookup_register(ptx_reader *reader, ptx_name name, uint32_t *index, uint32_t *type);
/* Gives a register (or pair, or predicate) of its own. */
uint32_t ptx_new_register(ptx_reader *reader, uint32_t type);

/* declarations.c */
/* At a state space (.reg .shared .local .param .global .const), after linkage words: reads declarators up to and
 * including ';'. */
int ptx_declaration(ptx_reader *reader, uint32_t linkage_extern);
/* `.align 4 .b8 name[24]` and the like, after .param or .reg: one formal parameter. */
typedef struct ptx_formal {
    ptx_name name;
    uint32_t type, alignment, is_array, is_pointer, pointer_space, is_register, element_bytes;
    uint64_t bytes;
} ptx_formal;
int ptx_formal_parameter(ptx_reader *reader, ptx_formal *formal);
/* Gives a shared variable its offset in this kernel at its first use. */
int ptx_place_shared(ptx_reader *reader, symbol *variable);
/* Local memory of the current scope. */
int ptx_new_local(ptx_reader *reader, uint64_t bytes, uint32_t alignment, uint64_t *offset);

/* Behind a statement with an error: where the file ends in that statement, the error is that the file is cut. Returns
 * -1. */
int ptx_fail_cut(ptx_reader *reader);

/* body.c: from after '{' up to the matching '}', which stays current */
int ptx_body(ptx_reader *reader);
/* Forgets what belongs to one kernel. */
void ptx_kernel_reset(ptx_reader *reader);
/* Appends an instruction. */
int ptx_emit(ptx_reader *reader, const instruction *instruction);
void ptx_blank(instruction *instruction, const ptx_token *token);

/* An instruction's modifiers as they stand in the text. */
#define PTX_MODIFIERS 16
typedef struct ptx_modifier_list {
    ptx_token tokens[PTX_MODIFIERS];
    uint32_t count;
    char written[128]; /* the opcode with all of them */
} ptx_modifier_list;
/* Refuses the kernel for an instruction: "unsupported <why> <opcode as written>: <what to do>". */
int ptx_refuse_opcode(ptx_reader *reader, const ptx_token *token, const ptx_modifier_list *list, const char *why);

/* matrix.c: mma, wmma, ldmatrix, stmatrix, movmatrix, from behind the modifiers up to ';', which stays current. */
int ptx_matrix(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, const instruction *guard);
int ptx_is_matrix(const ptx_token *name);

/* surface.c: suld and sust; the same. */
int ptx_surface(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, const instruction *guard);
int ptx_is_surface(const ptx_token *name);

/* async.c: cp.async and mbarrier; the same. */
int ptx_async(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, const instruction *guard);
int ptx_is_async(const ptx_token *name, const ptx_modifier_list *list);

/* pointers.c: sets is_pointer of the kernel's parameters that its code uses as addresses. Returns -1 when out of
 * memory.
 */
int ptx_mark_pointers(const ptx_reader *reader, kernel_program *kernel);

/* control_flow.c: sets every branch's reconvergence point; returns -1 when out of memory */
int control_flow_resolve(instruction *instructions, uint32_t count);
#endif
