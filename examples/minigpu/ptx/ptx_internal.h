/* ptx_internal: what the reader's files share. No other file includes it. */
#ifndef MINIGPU_PTX_INTERNAL_H
#define MINIGPU_PTX_INTERNAL_H
#include "ptx/ptx_lexer.h"
#include "ptx/ptx_opcodes.h"
#include "ptx/ptx_reader.h"

/* ---- memory: a module's data, freed at once ---- */
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
    SYMBOL_REGISTER,   /* a declared register; `index` is its first vector or predicate register after its first use */
    SYMBOL_RANGE,      /* %r<10>: `count` registers %r0 to %r9; not found by its bare name */
    SYMBOL_VARIABLE,   /* in `space` at `offset`; global and const: symbol `index` of the module */
    SYMBOL_TEXTURE,    /* .texref `index` */
    SYMBOL_FUNCTION,   /* .func; its text is at `place` */
    SYMBOL_LABEL,      /* instruction `index` */
    SYMBOL_TABLE,      /* .branchtargets; its text is at `place` */
    SYMBOL_CALLS,      /* .callprototype or .calltargets; its text is at `place` */
    SYMBOL_UNSUPPORTED /* a declaration that this reader does not support: using it refuses the kernel */
} symbol_kind;

typedef struct ptx_name {
    const char *text;
    uint32_t length;
} ptx_name;

typedef struct symbol {
    ptx_name name;
    symbol_kind kind;
    uint32_t depth; /* of the scope it lives in */
    uint32_t next;  /* older symbol in the same hash chain */
    uint32_t type;
    uint32_t space;
    uint32_t index;
    uint32_t count;
    uint32_t alignment;
    uint32_t element_bytes; /* variables: bytes of an element, the unit of a[i] */
    uint32_t kernel;        /* shared variables: number + 1 of the last kernel that has given it an offset */
    uint32_t is_extern;     /* extern shared: starts where static shared memory ends */
    uint32_t has_body;      /* functions */
    uint32_t address;       /* functions: a number from 1; 0: the file does not take the function's address */
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
    uint32_t first_symbol;  /* the scope's first symbol */
    uint32_t first_pending; /* the scope's first pending branch */
    uint32_t local_bytes;   /* where the scope's local variables start */
} ptx_scope;

typedef struct ptx_reader {
    ptx_lexer lexer;
    ptx_token token; /* the current one, not yet consumed */
    ptx_module *module;
    ptx_error *error;
    int refused; /* 1: the last failure refuses a kernel, and the text itself is correct */
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
    uint32_t system_shared; /* 1 + start of the system's part of shared memory; 0: not used */
    uint32_t shared_bytes, local_bytes, local_peak, shared_alignment;
    uint32_t uses_extern_shared;
    uint32_t keeps_loop; /* 1: a .pragma "nounroll" applies to the next instruction */
    uint32_t inline_depth;
    uint32_t inline_symbols[PTX_INLINE_DEPTH]; /* functions being read in place of their calls */
    uint32_t *returns;                         /* branches of an inlined function's ret */
    uint32_t return_count, return_capacity;
} ptx_reader;

/* Reports an error at a token ("file:line:column: ..."). Always returns -1. */
int ptx_fail(ptx_reader *reader, const ptx_token *token, const char *format, ...);
/* Refuses the kernel for something that this reader does not support. opcode: as written, or "". Always returns -1. */
int ptx_refuse(ptx_reader *reader, const ptx_token *token, const char *opcode, const char *format, ...);
int ptx_out_of_memory(ptx_reader *reader);
/* Makes room for one more element. Returns -1 after reporting that memory is out. */
int ptx_grow(ptx_reader *reader, void **array, uint32_t count, uint32_t *capacity, size_t size);
#define PTX_GROW(reader, array, count, capacity) \
    ptx_grow((reader), (void **)&(array), (count), &(capacity), sizeof *(array))

/* Moves to the next token. */
void ptx_next(ptx_reader *reader);
int ptx_at(const ptx_reader *reader, char punctuation);
/* Consumes a punctuation mark if it is the current token. Returns whether it was. */
int ptx_take(ptx_reader *reader, char punctuation);
/* Consumes a punctuation mark, or fails: "expected ';' after the operands, found 'x'". */
int ptx_expect(ptx_reader *reader, char punctuation, const char *where);
/* Reports "expected <what><where>, found 'x'". Always returns -1. */
int ptx_fail_expected(ptx_reader *reader, const char *what, const char *where);
/* Consumes a name. */
int ptx_expect_name(ptx_reader *reader, ptx_name *name, const char *what);
/* Moves to a place in the text and reads the token there. */
void ptx_go_to(ptx_reader *reader, const ptx_lexer *place);
/* Returns the place of the current token. */
ptx_lexer ptx_here(const ptx_reader *reader);
/* Reads a constant expression of integers. */
int ptx_constant(ptx_reader *reader, uint64_t *value);

/* symbols */
int ptx_scope_open(ptx_reader *reader);
int ptx_scope_close(ptx_reader *reader);
symbol *ptx_declare(ptx_reader *reader, ptx_name name, symbol_kind kind);
/* Declares a name, unless the scope has the name already: then reports an error and returns NULL. */
symbol *ptx_declare_once(ptx_reader *reader, const ptx_token *token, ptx_name name, symbol_kind kind);
symbol *ptx_lookup(ptx_reader *reader, ptx_name name);
/* Finds a register by its name, declared alone or in a range, and numbers it at its first use. Sets *index and *type.
 * Returns 0 when there is none, 1 when found, -1 on failure. */
int ptx_lookup_register(ptx_reader *reader, ptx_name name, uint32_t *index, uint32_t *type);
/* Returns the number of a fresh register (or pair, or predicate). */
uint32_t ptx_new_register(ptx_reader *reader, uint32_t type);

/* ptx_declarations.c */
/* Reads a declaration up to and including ';'. The current token is its state space (.reg .shared .local .param .global
 * .const), behind any linkage words. */
int ptx_declaration(ptx_reader *reader, uint32_t linkage_extern);
/* One formal parameter, such as `.align 4 .b8 name[24]`, from behind .param or .reg. */
typedef struct ptx_formal {
    ptx_name name;
    uint32_t type, alignment, is_array, is_pointer, pointer_space, is_register, element_bytes;
    uint64_t bytes;
} ptx_formal;
int ptx_formal_parameter(ptx_reader *reader, ptx_formal *formal);
/* Gives a shared variable its offset in this kernel at its first use. */
int ptx_place_shared(ptx_reader *reader, symbol *variable);
/* Reserves local memory in the current scope. */
int ptx_new_local(ptx_reader *reader, uint64_t bytes, uint32_t alignment, uint64_t *offset);

/* Follows an error in a statement: if the file ends within the statement, the error becomes that the file is cut.
 * Returns -1. */
int ptx_fail_cut(ptx_reader *reader);

/* ptx_body.c: reads from behind '{' to the matching '}', which stays current. */
int ptx_body(ptx_reader *reader);
/* Drops what belongs to one kernel. */
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
/* Refuses the kernel for an instruction: "unsupported <why> <opcode as written>: <remedy>". */
int ptx_refuse_opcode(ptx_reader *reader, const ptx_token *token, const ptx_modifier_list *list, const char *why);

/* ptx_matrix.c: reads mma, wmma, ldmatrix, stmatrix, movmatrix, from behind the modifiers to ';', which stays
 * current. */
int ptx_matrix(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, const instruction *guard);
int ptx_is_matrix(const ptx_token *name);

/* ptx_surface.c: reads suld and sust, from behind the modifiers to ';', which stays current. */
int ptx_surface(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, const instruction *guard);
int ptx_is_surface(const ptx_token *name);

/* ptx_async.c: reads cp.async and mbarrier, from behind the modifiers to ';', which stays current. */
int ptx_async(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, const instruction *guard);
int ptx_is_async(const ptx_token *name, const ptx_modifier_list *list);

/* pointers.c: sets is_pointer of the kernel's parameters that its code uses as addresses. Returns -1 when out of
 * memory.
 */
int ptx_mark_pointers(const ptx_reader *reader, kernel_program *kernel);

/* control_flow.c: sets the reconvergence point of every branch. Returns -1 when memory is out. */
int control_flow_resolve(instruction *instructions, uint32_t count);
#endif
