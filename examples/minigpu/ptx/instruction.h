/* instruction: decoded instructions, which the PTX reader produces and the machine executes. A decoded instruction is
 * one flat struct without pointers, so that it can be copied into any memory. A kernel_program is an array of
 * instructions with what a launch needs. */
#ifndef MINIGPU_INSTRUCTION_H
#define MINIGPU_INSTRUCTION_H
#include <stdint.h>

#define INSTRUCTION_DESTINATIONS 4
#define INSTRUCTION_SOURCES 10
#define INSTRUCTION_NONE \
    UINT32_MAX /* no guard, no branch target, or no reconvergence before the end of the kernel (= GPUMP_NONE) */

/* The part of the SM that executes an instruction. */
typedef enum functional_unit { UNIT_ALU, UNIT_SFU, UNIT_DOUBLE, UNIT_MEMORY, UNIT_CONTROL, UNIT_COUNT } functional_unit;

/* Every opcode: its name here, its name in PTX, its unit. 64-bit floating point uses UNIT_DOUBLE instead: see
 * instruction_unit. */
/* clang-format off */
#define OPCODES(X) \
    X(ADD, "add", ALU) X(SUB, "sub", ALU) X(MUL, "mul", ALU) X(MAD, "mad", ALU) X(FMA, "fma", ALU) \
    X(ADDC, "addc", ALU) X(SUBC, "subc", ALU) X(MADC, "madc", ALU) X(MUL24, "mul24", ALU) X(MAD24, "mad24", ALU) \
    X(SAD, "sad", ALU) X(DIV, "div", SFU) X(REM, "rem", SFU) X(ABS, "abs", ALU) X(NEG, "neg", ALU) \
    X(MIN, "min", ALU) X(MAX, "max", ALU) X(SQRT, "sqrt", SFU) X(RCP, "rcp", SFU) X(RSQRT, "rsqrt", SFU) \
    X(SIN, "sin", SFU) X(COS, "cos", SFU) X(LG2, "lg2", SFU) X(EX2, "ex2", SFU) X(TANH, "tanh", SFU) \
    X(COPYSIGN, "copysign", ALU) X(TESTP, "testp", ALU) \
    X(AND, "and", ALU) X(OR, "or", ALU) X(XOR, "xor", ALU) X(NOT, "not", ALU) X(CNOT, "cnot", ALU) \
    X(LOP3, "lop3", ALU) X(SHL, "shl", ALU) X(SHR, "shr", ALU) X(SHF, "shf", ALU) \
    X(BFE, "bfe", ALU) X(BFI, "bfi", ALU) X(PRMT, "prmt", ALU) X(POPC, "popc", ALU) X(CLZ, "clz", ALU) \
    X(BREV, "brev", ALU) X(BFIND, "bfind", ALU) X(BMSK, "bmsk", ALU) X(SZEXT, "szext", ALU) X(FNS, "fns", ALU) \
    X(VABSDIFF4, "vabsdiff4", ALU) X(DP4A, "dp4a", ALU) X(DP2A, "dp2a", ALU) \
    X(SET, "set", ALU) X(SETP, "setp", ALU) X(SELP, "selp", ALU) X(SLCT, "slct", ALU) \
    X(MOV, "mov", ALU) X(CVT, "cvt", ALU) X(CVTA, "cvta", ALU) X(ISSPACEP, "isspacep", ALU) \
    X(SHFL, "shfl", ALU) X(VOTE, "vote", ALU) X(MATCH, "match", ALU) X(ACTIVEMASK, "activemask", ALU) \
    X(ELECT, "elect", ALU) X(REDUX, "redux", ALU) X(MMA, "mma", SFU) X(MOVMATRIX, "movmatrix", ALU) \
    X(LD, "ld", MEMORY) X(ST, "st", MEMORY) X(ATOM, "atom", MEMORY) X(RED, "red", MEMORY) X(TEX, "tex", MEMORY) \
    X(SULD, "suld", MEMORY) X(SUST, "sust", MEMORY) \
    X(LDMATRIX, "ldmatrix", MEMORY) X(STMATRIX, "stmatrix", MEMORY) \
    X(COPY, "cp.async", MEMORY) X(COPY_COMMIT, "cp.async.commit_group", ALU) \
    X(COPY_WAIT, "cp.async.wait_group", ALU) \
    /* calls of CUDA's runtime library */ \
    X(PRINT, "vprintf", MEMORY) X(ASSERT, "__assertfail", MEMORY) X(MALLOC, "malloc", MEMORY) \
    X(FREE, "free", MEMORY) \
    X(MEMBAR, "membar", MEMORY) \
    X(BRA, "bra", CONTROL) X(BAR, "bar", CONTROL) X(WARPSYNC, "bar.warp.sync", CONTROL) \
    X(RET, "ret", CONTROL) X(EXIT, "exit", CONTROL) X(TRAP, "trap", CONTROL) X(NOP, "nop", CONTROL) \
    /* Instructions that analysis_lower inserts; PTX has none of them. */ \
    X(BOUNDARY, "idem.boundary", ALU)    /* starts an idempotent region */ \
    X(START_MARKER, "start_marker", ALU) /* page checks (Kim 2012): where execution continues after a call */ \
    X(CHECK, "pfchk", MEMORY)            /* tests whether an access would fault; touches no memory */ \
    X(PAGE_ENTERED, "page.entered", ALU) /* tests whether an address lies in the first bytes of a page */ \
    X(GUARDED_CALL, "sw_call", CONTROL)  /* serialises: lanes whose guard is true call the fault handler */ \
    X(PP, "pp", ALU)                     /* preemption point (Lin 2.4.1): a warp of a leaving block stops before it */ \
    X(PP_DIVERGED, "pp.diverged", ALU)   /* behind every pp: holds the live vector of a diverged warp */ \
    X(TRACED, "traced", ALU)             /* an instruction of a trace that computes; `unit` says where */
/* clang-format on */

typedef enum opcode {
#define OPCODE_ENUM(name, text, unit) OPCODE_##name,
    OPCODES(OPCODE_ENUM)
#undef OPCODE_ENUM
        OPCODE_COUNT
} opcode;

/* Types: name here, name in PTX, bytes. */
/* clang-format off */
#define TYPES(X) \
    X(NONE, "", 0) X(U8, "u8", 1) X(U16, "u16", 2) X(U32, "u32", 4) X(U64, "u64", 8) \
    X(S8, "s8", 1) X(S16, "s16", 2) X(S32, "s32", 4) X(S64, "s64", 8) \
    X(B8, "b8", 1) X(B16, "b16", 2) X(B32, "b32", 4) X(B64, "b64", 8) \
    X(F16, "f16", 2) X(F32, "f32", 4) X(F64, "f64", 8) X(PRED, "pred", 0) \
    X(BF16, "bf16", 2) X(F16X2, "f16x2", 4) X(BF16X2, "bf16x2", 4) X(TF32, "tf32", 4) \
    /* types of matrix elements only */ \
    X(U4, "u4", 0) X(S4, "s4", 0) X(B1, "b1", 0) X(E4M3, "e4m3", 1) X(E5M2, "e5m2", 1)
/* clang-format on */

typedef enum value_type {
#define TYPE_ENUM(name, text, bytes) TYPE_##name,
    TYPES(TYPE_ENUM)
#undef TYPE_ENUM
        TYPE_COUNT
} value_type;

typedef enum memory_space {
    SPACE_NONE,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_CONST,
    SPACE_PARAM,
    SPACE_GENERIC,
    SPACE_TEXTURE
} memory_space;

/* Compare operators. The *U forms are also true when an operand is NaN. lo, ls, hi, hs of unsigned types are LT, LE,
 * GT, GE. */
typedef enum compare_operator {
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE,
    COMPARE_EQU,
    COMPARE_NEU,
    COMPARE_LTU,
    COMPARE_LEU,
    COMPARE_GTU,
    COMPARE_GEU,
    COMPARE_NUM,
    COMPARE_NAN
} compare_operator;

/* The I forms round to an integer in floating point. */
typedef enum rounding_mode {
    ROUND_NONE,
    ROUND_RN,
    ROUND_RZ,
    ROUND_RM,
    ROUND_RP,
    ROUND_RNI,
    ROUND_RZI,
    ROUND_RMI,
    ROUND_RPI,
    ROUND_RNA /* to the nearest, ties away from zero */
} rounding_mode;

/* The variant of an instruction. Its meaning depends on the opcode. */
typedef enum instruction_variant {
    VARIANT_NONE,
    VARIANT_LO,
    VARIANT_HI,
    VARIANT_WIDE, /* mul, mad, madc, mul24, mad24; dp2a lo and hi */
    VARIANT_ADD,
    VARIANT_MIN,
    VARIANT_MAX,
    VARIANT_AND,
    VARIANT_OR,
    VARIANT_XOR,
    VARIANT_EXCH,
    VARIANT_CAS,
    VARIANT_INC,
    VARIANT_DEC, /* atom, red, redux; AND OR XOR: setp's second operator */
    VARIANT_UP,
    VARIANT_DOWN,
    VARIANT_BFLY,
    VARIANT_IDX, /* shfl; IDX: trap of an indirect call */
    VARIANT_ALL,
    VARIANT_ANY,
    VARIANT_UNI,
    VARIANT_BALLOT, /* vote; match all, any */
    VARIANT_F4E,
    VARIANT_B4E,
    VARIANT_RC8,
    VARIANT_ECL,
    VARIANT_ECR,
    VARIANT_RC16, /* prmt */
    VARIANT_LEFT,
    VARIANT_RIGHT,
    VARIANT_LEFT_CLAMP,
    VARIANT_RIGHT_CLAMP, /* shf (no variant: wrap); bmsk and szext: LEFT wraps, LEFT_CLAMP clamps */
    VARIANT_APPROX,
    VARIANT_FULL, /* div, sqrt, rcp and so on; no variant: rounded as `rounding` says */
    VARIANT_FINITE,
    VARIANT_INFINITE,
    VARIANT_NUMBER,
    VARIANT_NOTANUMBER,
    VARIANT_NORMAL,
    VARIANT_SUBNORMAL, /* testp */
    VARIANT_SYNC,
    VARIANT_ARRIVE,
    VARIANT_RED_POPC,
    VARIANT_RED_AND,
    VARIANT_RED_OR,   /* bar */
    VARIANT_DROP,     /* atom of a barrier object, beside ARRIVE: mbarrier.arrive_drop */
    VARIANT_TO,       /* cvta.to.space: generic to space; no variant: space to generic */
    VARIANT_SHIFTAMT, /* bfind */
    VARIANT_1D,
    VARIANT_2D,
    VARIANT_3D,
    VARIANT_A1D,
    VARIANT_A2D,   /* tex, suld, sust; A: with layers, whose number is the first coordinate */
    VARIANT_TRANS, /* ldmatrix, stmatrix: transposed */
    VARIANT_SHORT, /* boundary: of a short region; no variant: of a sparse one */
    VARIANT_WRITE, /* pfchk: of a store or atomic; no variant: of a load */
    VARIANT_COPY   /* ld of a trace: an asynchronous copy to shared memory */
} instruction_variant;

/* Bits of `flags`. */
#define FLAG_SATURATE 1u      /* .sat */
#define FLAG_FTZ 2u           /* .ftz: subnormal inputs and results are zeros of the same sign */
#define FLAG_CARRY_OUT 4u     /* .cc: the last destination is the carry predicate */
#define FLAG_UNIFORM 8u       /* bra.uni */
#define FLAG_VOLATILE 16u     /* ld.volatile, st.volatile */
#define FLAG_NAN 32u          /* min.NaN, max.NaN: a NaN operand gives NaN */
#define FLAG_CACHE_GLOBAL 64u /* .cg, .cv: not cached in L1 */
#define FLAG_READ_ONLY 128u   /* ld.global.nc, ldu */
#define FLAG_CLOBBERS 256u    /* not PTX: blocks that have executed it may not be flushed (analysis_clobbers) */
#define FLAG_POINT 512u       /* not PTX: a barrier that is a preemption point too (bar.pp) */
#define FLAG_RELU 1024u       /* .relu: a negative result becomes 0 */
#define FLAG_NOUNROLL 2048u   /* .pragma "nounroll" stands before it: ptxas does not unroll the loop that begins here */

typedef enum operand_kind {
    OPERAND_NONE,
    OPERAND_REGISTER,  /* `words` 32-bit vector registers from `index` on; 8- and 16-bit values are zero-extended */
    OPERAND_PREDICATE, /* predicate register `index`: one 32-lane mask */
    OPERAND_IMMEDIATE, /* `immediate` */
    OPERAND_SPECIAL,   /* special register `index`: a special_register */
    OPERAND_PARAM      /* `words` words of the kernel's parameters at byte `index`: a folded ld.param */
} operand_kind;

/* Special registers: name here, name in PTX, words. */
/* clang-format off */
#define SPECIALS(X) \
    X(TID_X, "%tid.x", 1) X(TID_Y, "%tid.y", 1) X(TID_Z, "%tid.z", 1) \
    X(NTID_X, "%ntid.x", 1) X(NTID_Y, "%ntid.y", 1) X(NTID_Z, "%ntid.z", 1) \
    X(CTAID_X, "%ctaid.x", 1) X(CTAID_Y, "%ctaid.y", 1) X(CTAID_Z, "%ctaid.z", 1) \
    X(NCTAID_X, "%nctaid.x", 1) X(NCTAID_Y, "%nctaid.y", 1) X(NCTAID_Z, "%nctaid.z", 1) \
    X(LANEID, "%laneid", 1) X(WARPID, "%warpid", 1) X(NWARPID, "%nwarpid", 1) X(SMID, "%smid", 1) \
    X(NSMID, "%nsmid", 1) \
    X(GRIDID, "%gridid", 2) X(CLOCK, "%clock", 1) X(CLOCK_HI, "%clock_hi", 1) X(CLOCK64, "%clock64", 2) \
    X(GLOBALTIMER, "%globaltimer", 2) X(GLOBALTIMER_LO, "%globaltimer_lo", 1) X(GLOBALTIMER_HI, "%globaltimer_hi", 1) \
    X(LANEMASK_EQ, "%lanemask_eq", 1) X(LANEMASK_LE, "%lanemask_le", 1) X(LANEMASK_LT, "%lanemask_lt", 1) \
    X(LANEMASK_GE, "%lanemask_ge", 1) X(LANEMASK_GT, "%lanemask_gt", 1) \
    X(DYNAMIC_SMEM_SIZE, "%dynamic_smem_size", 1) X(TOTAL_SMEM_SIZE, "%total_smem_size", 1) \
    /* high and low half of the address at which blocks that wait for the whole grid count each other */ \
    X(ENVREG1, "%envreg1", 1) X(ENVREG2, "%envreg2", 1)
/* clang-format on */

typedef enum special_register {
#define SPECIAL_ENUM(name, text, words) SPECIAL_##name,
    SPECIALS(SPECIAL_ENUM)
#undef SPECIAL_ENUM
        SPECIAL_COUNT
} special_register;

#define SHARED_VARIABLE_EXTERN UINT32_C(0x80000000)
#define GLOBAL_VARIABLE UINT32_C(0x80000001)
typedef struct operand {
    uint64_t immediate; /* bits of an immediate, already of the operand's type (f32 in the low 32 bits); 0 otherwise */
    uint32_t index;  /* first 32-bit register, predicate register, special_register, or byte offset of a parameter; of
                        the address of a variable (immediate, or none in an access): 1 + where a shared one starts,
                        SHARED_VARIABLE_EXTERN, or GLOBAL_VARIABLE for what is set when the module is loaded */
    uint8_t kind;    /* operand_kind */
    uint8_t words;   /* 32-bit registers: 1 or 2; 0 for predicates and none */
    uint8_t negated; /* predicate sources only: the complement is read */
    uint8_t bytes;   /* register: its declared size (2: values are zero-extended from 16 bits); else 0 */
} operand;

/* One decoded instruction. Where operands stand:
 *
 *   ld          destinations[0..vector-1] = values; sources[0] = address
 *   st          sources[0] = address, sources[1..vector] = values
 *   atom        destinations[0] = old value; sources[0] = address, sources[1] = b, sources[2] = c (cas: b is compared,
 *               c is stored)
 *   red         as atom, without a destination
 *   tex         destinations[0..3] = texel; sources[0] = handle, or immediate index into module.textures; sources[1..]
 *               = coordinates
 *   setp        destinations[0] = p, destinations[1] = q or none; sources[0], [1] are compared, sources[2] = predicate
 *               combined by `variant`
 *   bra         target, reconvergence
 *   sw_call     as bra; the target is the marker
 *   pfchk       sources[0] = address, `check`
 *   page        page.entered: destinations[0] = p, sources[0] = address, sources[1] = bytes of a page, sources[2] = how
 *               many of its first bytes
 *   bar         sources[0] = barrier number, sources[1] = threads or none, sources[2] = predicate of bar.red
 *   mov         packs when vector > 1 and there is one destination; unpacks when vector > 1 and there is one source
 *   suld, sust  sources[0] = handle, sources[1..3] = coordinates, sources[SURFACE_VALUES..] = values; `lookup`: outside
 *               the surface 0 fails, 1 takes the nearest place, 2 takes zeros
 *   cp.async    sources[0] = address in global memory, sources[1] + sources[3] = address in shared memory, sources[2] =
 *               bytes that are read (or a predicate: none)
 *   wait_group  `lookup` groups may be left, none with VARIANT_ALL
 *   mma         sources = registers of A, then of B, then of C; destinations = D, laid out as the PTX manual has them
 *               for m16n8k* and m8n8k*
 *   addc, subc, madc
 *               the last source is the carry predicate; with FLAG_CARRY_OUT the last destination is the carry predicate
 *   others      as PTX writes them
 *
 * An address is sources[0] (none: 0) + offset. With `check`, a load or pfchk does nothing for lanes whose page is
 * absent but to set that predicate. */
#define SURFACE_VALUES 4
typedef struct instruction {
    operand destinations[INSTRUCTION_DESTINATIONS];
    operand sources[INSTRUCTION_SOURCES];
    int64_t offset;            /* bytes added to the address (ld, st, atom, red, pfchk, page.entered) */
    uint32_t target;           /* bra, sw_call: index of the instruction jumped to */
    uint32_t reconvergence;    /* bra, sw_call: index of the immediate post-dominator; INSTRUCTION_NONE: the end of the
                                  kernel */
    uint32_t guard;            /* predicate register that guards it; INSTRUCTION_NONE */
    uint32_t check;            /* pfchk, checked ld: predicate register that becomes true where the page is absent; else
                                  INSTRUCTION_NONE */
    uint32_t line, column;     /* in the PTX file, from 1 */
    uint32_t flags;            /* FLAG_* */
    uint8_t opcode;            /* opcode */
    uint8_t unit;              /* functional_unit */
    uint8_t type;              /* value_type: of the result, or of what is compared, loaded, stored */
    uint8_t source_type;       /* value_type: cvt, set, slct: of the source; tex: of the coordinates */
    uint8_t compare;           /* compare_operator (set, setp) */
    uint8_t rounding;          /* rounding_mode */
    uint8_t variant;           /* instruction_variant */
    uint8_t space;             /* memory_space (ld, st, atom, red, cvta, isspacep, tex) */
    uint8_t vector;            /* elements: 1, 2 or 4; ldmatrix, stmatrix: matrices; mma: M / 8 */
    uint8_t guard_negated;     /* 1: executes where the guard is false */
    uint8_t destination_count; /* leading destinations in use (some of them may be OPERAND_NONE: `_`) */
    uint8_t source_count;      /* leading sources in use */
    uint8_t lookup;            /* lop3: the truth table; cp.async: bytes; mma: registers of B, each a slice of K */
    uint8_t b_type, c_type;    /* value_type: mma: of B and C (source_type: of A, type: of D) */
    uint8_t reserved;
} instruction;

typedef struct kernel_parameter {
    const char *name;
    uint32_t offset; /* bytes from the start of the parameters */
    uint32_t bytes;
    uint8_t type;       /* value_type of a scalar, or of an array's elements */
    uint8_t is_array;   /* a struct or array passed by value */
    uint8_t is_pointer; /* declared .ptr, or converted by cvta.to or used as an address in the kernel */
    uint8_t space;      /* of the pointer where known, else SPACE_NONE */
} kernel_parameter;

/* One kernel. Registers are counted as PTX declares and uses them; an allocator may have reduced them to a machine's.
 */
typedef struct kernel_program {
    const char *name;
    const char *file_name;
    instruction *instructions;
    uint32_t count;
    uint32_t registers;          /* 32-bit registers per thread */
    uint32_t predicates;         /* predicate registers per thread (one 32-bit lane mask each per warp) */
    uint32_t shared_bytes;       /* static shared memory per block */
    uint32_t uses_extern_shared; /* 1: extern __shared__ arrays start at shared_bytes */
    uint32_t local_bytes;        /* local memory per thread */
    uint32_t parameter_bytes;    /* size of the parameter block */
    uint32_t parameter_count;
    kernel_parameter *parameters;
    uint32_t max_threads[3];      /* .maxntid, or 0 */
    uint32_t required_threads[3]; /* .reqntid, or 0 */
    uint32_t min_blocks_per_sm;   /* .minnctapersm, or 0 */
    uint32_t uses_textures;       /* 1: has tex instructions */
    uint32_t uses_printing;       /* 1: calls printf */
    uint32_t uses_grid_barrier;   /* 1: its blocks wait for each other, so all must be on SMs at once */
    uint32_t uses_heap;           /* 1: calls malloc or free */
    uint32_t ptx_registers;       /* 32-bit registers before allocation (= registers when nothing was allocated) */
    uint32_t spill_bytes;         /* of local_bytes, what register allocation added */
    uint32_t array_bytes;         /* of local_bytes, what the kernel's own arrays take, where it was lowered */
} kernel_program;

/* Generic addresses: windows onto shared and local memory and the kernel's parameters; everything else is a global
 * address (constants are global memory that nobody writes). cvta adds the base, cvta.to subtracts it. */
#define GENERIC_SHARED_BASE UINT64_C(0x7f0000000000)
#define GENERIC_LOCAL_BASE UINT64_C(0x7f0100000000)
#define GENERIC_PARAM_BASE UINT64_C(0x7f0200000000)
#define GENERIC_WINDOW_BYTES UINT64_C(0x100000000)
/* Returns the space of a generic address and sets *offset to the address inside that space. */
static inline memory_space generic_space(uint64_t address, uint64_t *offset) {
    uint64_t window = address - GENERIC_SHARED_BASE;
    *offset = address;
    if (window >= 3 * GENERIC_WINDOW_BYTES) return SPACE_GLOBAL;
    *offset = window % GENERIC_WINDOW_BYTES;
    return window < GENERIC_WINDOW_BYTES ? SPACE_SHARED : window < 2 * GENERIC_WINDOW_BYTES ? SPACE_LOCAL : SPACE_PARAM;
}

/* Names as PTX writes them; "?" when out of range. */
const char *opcode_name(uint32_t opcode);
const char *type_name(uint32_t type);
const char *space_name(uint32_t space);
const char *special_name(uint32_t special);
/* Size of a type in bytes (predicates 0). */
static inline uint32_t type_bytes(uint32_t type) {
    static const uint8_t bytes[] = {
#define TYPE_BYTES(name, text, size) size,
        TYPES(TYPE_BYTES)
#undef TYPE_BYTES
    };
    return type < TYPE_COUNT ? bytes[type] : 0;
}
/* How many 32-bit registers a value of it takes (predicates 0). */
static inline uint32_t type_words(uint32_t type) {
    uint32_t bytes = type_bytes(type);
    return bytes == 8 ? 2 : bytes != 0;
}
/* Which of the kinds a type is; half: 16-bit floating point, packed in pairs or not. */
static inline int type_is_packed(uint32_t type) { return type == TYPE_F16X2 || type == TYPE_BF16X2; }
static inline int type_is_half(uint32_t type) { return type == TYPE_F16 || type == TYPE_BF16 || type_is_packed(type); }
static inline int type_is_float(uint32_t type) {
    return type == TYPE_F32 || type == TYPE_F64 || type == TYPE_TF32 || type_is_half(type);
}
static inline int type_is_signed(uint32_t type) { return type >= TYPE_S8 && type <= TYPE_S64; }
/* Writes an instruction in PTX's manner, with registers as r0, r1 (pairs r0:r1) and predicates as p0; always
 * terminated. */
void instruction_text(const instruction *instruction, char *text, uint32_t bytes);
/* Bytes each lane moves: ld, st: elements times size (pfchk: those of the access it is for); atom, red: one value;
 * others 0. */
static inline uint32_t instruction_access_bytes(const instruction *instruction) {
    switch (instruction->opcode) {
    case OPCODE_SULD:
    case OPCODE_SUST:
    case OPCODE_LD:
    case OPCODE_ST:
        if (instruction->type == TYPE_PRED) return 4; /* a spilled predicate: 0 or 1 */
        return type_bytes(instruction->type) * instruction->vector;
    case OPCODE_CHECK: return type_bytes(instruction->type) * instruction->vector;
    case OPCODE_ATOM:
    case OPCODE_RED: return type_bytes(instruction->type);
    case OPCODE_LDMATRIX:
    case OPCODE_STMATRIX: return 16; /* a row */
    case OPCODE_COPY: return instruction->lookup;
    default: return 0;
    }
}
/* Lanes whose address counts: all that execute it, but for ldmatrix and stmatrix, where eight lanes name the rows of
 * each matrix. */
static inline uint32_t instruction_address_lanes(const instruction *i, uint32_t active) {
    if (i->opcode != OPCODE_LDMATRIX && i->opcode != OPCODE_STMATRIX) return active;
    return i->vector < 4 ? active & ((1u << (8 * i->vector)) - 1) : active;
}
/* 1: ld, ldmatrix, tex, or pfchk of a load; 0: other memory instructions. */
static inline int instruction_only_reads(const instruction *i) {
    return i->opcode == OPCODE_LD || i->opcode == OPCODE_TEX || i->opcode == OPCODE_SULD ||
           i->opcode == OPCODE_LDMATRIX || i->opcode == OPCODE_COPY ||
           (i->opcode == OPCODE_CHECK && i->variant != VARIANT_WRITE);
}
/* Coordinates of tex, suld and sust, the layer's number among them. */
static inline uint32_t instruction_coordinates(const instruction *i) {
    return i->variant == VARIANT_1D ? 1 : i->variant == VARIANT_2D || i->variant == VARIANT_A1D ? 2 : 3;
}
static inline int instruction_is_layered(const instruction *i) {
    return i->variant == VARIANT_A1D || i->variant == VARIANT_A2D;
}
/* 1 for calls of CUDA's runtime library: printf, assert, malloc, free. Their sources are the arguments. */
static inline int instruction_is_runtime_call(const instruction *i) {
    return i->opcode >= OPCODE_PRINT && i->opcode <= OPCODE_FREE;
}
/* 1 for preemption points: pp, bar.pp. */
static inline int instruction_is_point(const instruction *i) {
    return i->opcode == OPCODE_PP || (i->flags & FLAG_POINT) != 0;
}
/* 1 for what can go on elsewhere than at the next instruction: bra, sw_call. */
static inline int instruction_branches(const instruction *i) {
    return i->opcode == OPCODE_BRA || i->opcode == OPCODE_GUARDED_CALL;
}
#endif
