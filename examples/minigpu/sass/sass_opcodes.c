/* Names: NVIDIA, "CUDA Binary Utilities", Instruction Set Reference, tables for Volta, Turing, Ampere and Hopper. Units
 * follow the descriptions of those tables. The latency of a unit is a number of the machine (launch/config.h), the same
 * as for PTX. Registers of wide operands: the operand types that the opcode's modifiers name; fragments of matrix
 * instructions have the sizes of the PTX manual's mma. */
#include "sass/sass_opcodes.h"

#include <string.h>

typedef enum sass_kind {
    SASS_COMPUTE,
    SASS_LOAD,
    SASS_STORE,
    SASS_ATOMIC, /* reads, modifies and writes; RED has no destination */
    SASS_CONSTANT,
    SASS_BARRIER,
    SASS_CONTROL, /* the warp fetches nothing until it is executed */
    SASS_EXIT,
    SASS_FENCE,
    SASS_COPY,       /* asynchronously, from global to shared memory */
    SASS_COPY_GROUP, /* ends a group of copies */
    SASS_COPY_WAIT   /* until so many groups are left */
} sass_kind;

/* How many registers operands take. */
typedef enum sass_shape {
    SHAPE_ONE,     /* one each; pairs with .64 */
    SHAPE_WIDE,    /* with .WIDE: a pair is added to a product, and a pair results */
    SHAPE_DOUBLE,  /* pairs */
    SHAPE_CONVERT, /* .TO.FROM: a pair where the type has 64 bits */
    SHAPE_ACCESS,  /* an address (a pair with .E), and values of the access's width */
    SHAPE_COPY,    /* an address of shared memory, and one of global memory (a pair with .E) */
    SHAPE_MATRIX,  /* fragments of mma */
    SHAPE_CLOCK,   /* a pair, unless .32 */
    SHAPE_ADDRESS  /* sources are pairs: a place in the code */
} sass_shape;

typedef struct sass_row {
    const char *name;
    uint8_t unit, kind, shape;
} sass_row;

#define ROW(name, unit, kind, shape) {#name, UNIT_##unit, SASS_##kind, SHAPE_##shape},
#define ALU(name) ROW(name, ALU, COMPUTE, ONE)
/* By name, for a binary search. */
/* clang-format off */
static const sass_row rows[] = {
    ROW(ACQBULK, CONTROL, CONTROL, ONE) ROW(ATOM, MEMORY, ATOMIC, ACCESS) ROW(ATOMG, MEMORY, ATOMIC, ACCESS)
    ROW(ATOMS, MEMORY, ATOMIC, ACCESS) ALU(B2R) ROW(BAR, CONTROL, BARRIER, ONE) ALU(BMMA) ALU(BMOV) ALU(BMSK)
    ROW(BPT, CONTROL, CONTROL, ONE) ROW(BRA, CONTROL, CONTROL, ONE) ROW(BREAK, CONTROL, CONTROL, ONE) ALU(BREV)
    ROW(BRX, CONTROL, CONTROL, ADDRESS) ROW(BRXU, CONTROL, CONTROL, ONE) ALU(BSSY)
    ROW(BSYNC, CONTROL, CONTROL, ONE) ROW(CALL, CONTROL, CONTROL, ADDRESS) ALU(CCTL) ALU(CCTLL) ALU(CCTLT)
    ROW(CS2R, ALU, COMPUTE, CLOCK) ALU(CSMTEST) ROW(DADD, DOUBLE, COMPUTE, DOUBLE) ROW(DEPBAR, ALU, COPY_WAIT, ONE)
    ROW(DFMA, DOUBLE, COMPUTE, DOUBLE) ROW(DMMA, DOUBLE, COMPUTE, MATRIX) ROW(DMUL, DOUBLE, COMPUTE, DOUBLE)
    ROW(DSETP, DOUBLE, COMPUTE, DOUBLE) ROW(ELECT, ALU, COMPUTE, ONE) ALU(ERRBAR) ROW(EXIT, CONTROL, EXIT, ONE)
    ROW(F2F, SFU, COMPUTE, CONVERT) ROW(F2FP, ALU, COMPUTE, ONE) ROW(F2I, SFU, COMPUTE, CONVERT)
    ROW(F2IP, SFU, COMPUTE, ONE) ALU(FADD) ALU(FADD32I) ALU(FCHK) ROW(FENCE, MEMORY, FENCE, ONE) ALU(FFMA)
    ALU(FFMA32I) ROW(FLO, SFU, COMPUTE, ONE) ALU(FMNMX) ALU(FMUL) ALU(FMUL32I)
    ROW(FRND, SFU, COMPUTE, CONVERT) ALU(FSEL) ALU(FSET) ALU(FSETP) ALU(FSWZADD) ALU(GETLMEMBASE) ALU(HADD2)
    ALU(HADD2_32I) ALU(HFMA2) ALU(HFMA2_32I) ROW(HMMA, SFU, COMPUTE, MATRIX) ALU(HMNMX2) ALU(HMUL2)
    ALU(HMUL2_32I) ALU(HSET2) ALU(HSETP2) ROW(I2F, SFU, COMPUTE, CONVERT) ROW(I2FP, ALU, COMPUTE, ONE)
    ROW(I2I, SFU, COMPUTE, CONVERT) ALU(I2IP) ALU(IABS) ALU(IADD) ALU(IADD3) ALU(IADD32I) ALU(IDP) ALU(IDP4A)
    ROW(IMAD, ALU, COMPUTE, WIDE) ROW(IMMA, SFU, COMPUTE, MATRIX) ALU(IMNMX) ROW(IMUL, ALU, COMPUTE, WIDE)
    ALU(IMUL32I) ALU(ISCADD) ALU(ISCADD32I) ALU(ISETP) ROW(JMP, CONTROL, CONTROL, ONE)
    ROW(JMX, CONTROL, CONTROL, ADDRESS) ROW(JMXU, CONTROL, CONTROL, ONE) ROW(KILL, CONTROL, CONTROL, ONE)
    ROW(LD, MEMORY, LOAD, ACCESS) ROW(LDC, MEMORY, CONSTANT, ACCESS) ROW(LDG, MEMORY, LOAD, ACCESS)
    ROW(LDGDEPBAR, ALU, COPY_GROUP, ONE)
    ROW(LDGSTS, MEMORY, COPY, COPY) ROW(LDL, MEMORY, LOAD, ACCESS) ROW(LDS, MEMORY, LOAD, ACCESS)
    ROW(LDSM, MEMORY, LOAD, ACCESS) ALU(LEA) ALU(LEPC) ALU(LOP) ALU(LOP3) ALU(LOP32I) ALU(MATCH)
    ROW(MEMBAR, MEMORY, FENCE, ONE) ALU(MOV) ALU(MOV32I) ALU(MOVM) ROW(MUFU, SFU, COMPUTE, ONE)
    ROW(NANOSLEEP, CONTROL, CONTROL, ONE) ROW(NOP, CONTROL, CONTROL, ONE) ALU(P2R) ALU(PLOP3) ALU(PMTRIG)
    ROW(POPC, SFU, COMPUTE, ONE) ALU(PRMT) ALU(PSETP) ALU(QSPC) ALU(R2B) ALU(R2P) ALU(R2UR)
    ROW(RED, MEMORY, ATOMIC, ACCESS) ALU(REDUX) ROW(RET, CONTROL, CONTROL, ADDRESS)
    ROW(RPCMOV, ALU, COMPUTE, ONE) ROW(RTT, CONTROL, CONTROL, ONE) ROW(S2R, ALU, COMPUTE, ONE) ALU(S2UR) ALU(SEL)
    ALU(SETCTAID) ALU(SETLMEMBASE) ALU(SGXT) ALU(SHF) ALU(SHFL) ALU(SHL) ALU(SHR) ROW(ST, MEMORY, STORE, ACCESS)
    ROW(STG, MEMORY, STORE, ACCESS) ROW(STL, MEMORY, STORE, ACCESS) ROW(STS, MEMORY, STORE, ACCESS)
    ROW(STSM, MEMORY, STORE, ACCESS)
    ROW(SUATOM, SFU, COMPUTE, ONE) ROW(SULD, SFU, COMPUTE, ONE) ALU(SUQUERY) ROW(SURED, SFU, COMPUTE, ONE)
    ROW(SUST, SFU, COMPUTE, ONE) ALU(SYNCS) ROW(TEX, SFU, COMPUTE, ONE) ROW(TLD, SFU, COMPUTE, ONE)
    ROW(TLD4, SFU, COMPUTE, ONE) ROW(TMML, SFU, COMPUTE, ONE) ROW(TXD, SFU, COMPUTE, ONE)
    ROW(TXQ, SFU, COMPUTE, ONE) ALU(UBMSK) ALU(UBREV) ALU(UCLEA) ALU(UF2FP) ALU(UFLO) ALU(UIADD3) ALU(UIMAD)
    ALU(UISETP) ALU(ULDC) ALU(ULEA) ALU(ULOP) ALU(ULOP3) ALU(ULOP32I) ALU(UMOV) ALU(UP2UR) ALU(UPLOP3) ALU(UPOPC)
    ALU(UPRMT) ALU(UPSETP) ALU(UR2UP) ALU(USEL) ALU(USGXT) ALU(USHF) ALU(USHL) ALU(USHR) ALU(VABSDIFF)
    ALU(VABSDIFF4) ALU(VIADD) ALU(VIADDMNMX) ALU(VIMNMX) ALU(VOTE) ALU(VOTEU) ALU(VOTE_VTG)
    ROW(WARPSYNC, CONTROL, CONTROL, ONE) ROW(YIELD, CONTROL, CONTROL, ONE)
};
/* clang-format on */

static const sass_row *find(const char *opcode, size_t length) {
    size_t low = 0, high = sizeof rows / sizeof *rows;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        int order = strncmp(opcode, rows[middle].name, length);
        if (!order && rows[middle].name[length]) order = -1;
        if (!order) return &rows[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Has the opcode a modifier, such as "WIDE" of IMAD.WIDE.U32? */
static int has(const char *opcode, const char *modifier) {
    const size_t length = strlen(modifier);
    const char *dot = strchr(opcode, '.');
    for (; dot; dot = strchr(dot + 1, '.'))
        if (!strncmp(dot + 1, modifier, length) && (!dot[1 + length] || dot[1 + length] == '.')) return 1;
    return 0;
}

/* The registers of the operand of a conversion: the which-th type of the modifiers, from 0. F64 also stands alone where
 * the other type is the default of 32 bits. */
static uint32_t type_registers(const char *opcode, uint32_t which) {
    const char *dot = strchr(opcode, '.');
    uint32_t seen = 0;
    for (; dot; dot = strchr(dot + 1, '.')) {
        const char kind = dot[1];
        if ((kind != 'F' && kind != 'S' && kind != 'U') || dot[2] < '1' || dot[2] > '9') continue;
        if (seen++ == which) return dot[2] == '6' ? 2 : 1;
    }
    return 1;
}

/* Returns how many matrices LDSM and STSM move, a register each; 0: the opcode is another. */
static uint32_t matrices_of(const char *opcode) {
    if (strncmp(opcode, "LDSM", 4) && strncmp(opcode, "STSM", 4)) return 0;
    return has(opcode, "4") ? 4 : has(opcode, "2") ? 2 : 1;
}

/* Registers of the fragments of mma m16n8kK and m8n8kK by the shape in the opcode: A, B, and C or D. */
static void matrix_registers(const char *opcode, uint32_t registers[3]) {
    static const struct {
        const char *shape;
        uint8_t a, b, c; /* c: of 32-bit elements */
    } shapes[] = {{"884", 2, 2, 8},   {"1684", 2, 1, 4},   {"1688", 2, 1, 4},  {"16816", 4, 2, 4},
                  {"8816", 1, 1, 2},  {"8832", 1, 1, 2},   {"16832", 4, 2, 4}, {"16864", 4, 2, 4},
                  {"88128", 1, 1, 2}, {"168128", 2, 1, 4}, {"168256", 4, 2, 4}};
    uint32_t i;
    registers[0] = registers[1] = registers[2] = 1;
    for (i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (!has(opcode, shapes[i].shape)) continue;
        registers[0] = shapes[i].a;
        registers[1] = shapes[i].b;
        registers[2] = has(opcode, "F16") ? shapes[i].c / 2u : shapes[i].c;
    }
    if (!strncmp(opcode, "IMMA.16816", 10)) { /* 8-bit elements: half of what 16-bit elements take */
        registers[0] = 2;
        registers[1] = 1;
    }
    if (!strncmp(opcode, "DMMA", 4)) registers[0] = registers[1] = 2, registers[2] = 4;
}

/* The registers of the which-th source, and of a destination. */
static uint32_t source_registers(const sass_line *line, uint32_t shape, uint32_t which) {
    const uint32_t matrices = matrices_of(line->opcode);
    const uint32_t value = matrices ? matrices : line->width > 4 ? line->width / 4 : 1;
    uint32_t matrix[3];
    switch (shape) {
    case SHAPE_WIDE: return has(line->opcode, "WIDE") && which == 2 ? 2 : 1;
    case SHAPE_DOUBLE:
    case SHAPE_ADDRESS: return 2;
    case SHAPE_CONVERT: return type_registers(line->opcode, !strncmp(line->opcode, "FRND", 4) ? 0 : 1);
    case SHAPE_ACCESS:
        if (!which) return has(line->opcode, "E") ? 2 : 1;
        return strncmp(line->opcode, "LD", 2) ? value : 1;
    case SHAPE_COPY: return which == 1 && has(line->opcode, "E") ? 2 : 1;
    case SHAPE_MATRIX: matrix_registers(line->opcode, matrix); return matrix[which < 3 ? which : 2];
    default: return has(line->opcode, "64") ? 2 : 1;
    }
}

static uint32_t destination_registers(const sass_line *line, uint32_t shape) {
    const uint32_t matrices = matrices_of(line->opcode);
    uint32_t matrix[3];
    if (matrices) return matrices;
    switch (shape) {
    case SHAPE_WIDE: return has(line->opcode, "WIDE") ? 2 : 1;
    case SHAPE_DOUBLE: return 2;
    case SHAPE_CONVERT: return type_registers(line->opcode, 0);
    case SHAPE_CLOCK: return has(line->opcode, "32") ? 1 : 2;
    case SHAPE_ACCESS: return line->width > 4 ? line->width / 4 : 1;
    case SHAPE_MATRIX: matrix_registers(line->opcode, matrix); return matrix[2];
    default: return has(line->opcode, "64") ? 2 : 1;
    }
}

/* Adds `count` registers from `first` on. A matrix's large fragments may find no place, and RZ has none. */
static void add(operand *operands, uint8_t *used, uint32_t places, uint32_t first, uint32_t count) {
    uint32_t i;
    for (i = 0; i < count && *used < places && first + i < SASS_REGISTERS; i++) {
        operand *o = &operands[(*used)++];
        o->kind = OPERAND_REGISTER;
        o->index = first + i;
        o->words = 1;
    }
}

/* The type and number of elements of an access of so many bytes per lane. */
static void set_access(instruction *out, const sass_line *line, opcode opcode) {
    out->opcode = (uint8_t)opcode;
    out->space = line->space == SPACE_LOCAL ? SPACE_GLOBAL : (uint8_t)line->space; /* trace_addresses.c places it */
    out->type = line->width == 1 ? TYPE_B8 : line->width == 2 ? TYPE_B16 : TYPE_B32;
    out->vector = line->width > 4 ? (uint8_t)(line->width / 4) : 1;
    if (opcode != OPCODE_LD && opcode != OPCODE_ST && line->width == 8) out->type = TYPE_B64;
    if (has(line->opcode, "STRONG") && has(line->opcode, "SYS")) out->flags |= FLAG_CACHE_GLOBAL;
}

/* An access by rows of matrices: eight lanes name the rows of each. */
static void set_matrices(instruction *out, const sass_line *line) {
    out->opcode = out->opcode == OPCODE_ST ? OPCODE_STMATRIX : OPCODE_LDMATRIX;
    out->type = TYPE_B16;
    out->vector = (uint8_t)matrices_of(line->opcode);
}

/* A copy loads into no register. What it writes to shared memory has no addresses in a trace. */
static void set_copy(instruction *out, const sass_line *line) {
    set_access(out, line, OPCODE_LD);
    out->variant = VARIANT_COPY;
    if (has(line->opcode, "BYPASS")) out->flags |= FLAG_CACHE_GLOBAL;
}

static void set_opcode(instruction *out, const sass_line *line, uint32_t kind) {
    switch (kind) {
    case SASS_LOAD: set_access(out, line, OPCODE_LD); break;
    case SASS_STORE: set_access(out, line, OPCODE_ST); break;
    case SASS_ATOMIC: set_access(out, line, out->destination_count ? OPCODE_ATOM : OPCODE_RED); break;
    case SASS_CONSTANT: set_access(out, line, OPCODE_LD); break;
    case SASS_BARRIER: out->opcode = OPCODE_BAR; break;
    case SASS_EXIT: out->opcode = OPCODE_EXIT; break;
    case SASS_FENCE: out->opcode = OPCODE_MEMBAR; break;
    case SASS_CONTROL: out->opcode = OPCODE_NOP; break;
    case SASS_COPY: set_copy(out, line); break;
    case SASS_COPY_GROUP: out->opcode = OPCODE_COPY_COMMIT; break;
    case SASS_COPY_WAIT: out->opcode = OPCODE_COPY_WAIT; break;
    default: out->opcode = OPCODE_TRACED; break;
    }
    if (kind == SASS_CONSTANT) out->space = SPACE_CONST;
    if (matrices_of(line->opcode) && line->width) set_matrices(out, line);
    if (kind == SASS_COPY_WAIT) out->lookup = (uint8_t)(line->immediate < UINT8_MAX ? line->immediate : UINT8_MAX);
    if (kind == SASS_BARRIER && has(line->opcode, "ARV")) out->variant = VARIANT_ARRIVE;
}

int sass_decode(const sass_line *line, instruction *out) {
    const sass_row *row = find(line->opcode, strcspn(line->opcode, "."));
    sass_row used = {"", UNIT_ALU, SASS_COMPUTE, SHAPE_ONE};
    uint32_t i;
    if (row) used = *row;
    if (!row && line->width) used.unit = UNIT_MEMORY, used.shape = SHAPE_ACCESS;
    if (!row && line->width) used.kind = line->destination_count ? SASS_LOAD : SASS_STORE;
    if (used.unit == UNIT_MEMORY && !line->width && used.kind != SASS_FENCE && used.kind != SASS_CONSTANT) {
        used.unit = UNIT_ALU; /* its addresses are not in the trace */
        used.kind = SASS_COMPUTE;
    }
    memset(out, 0, sizeof *out);
    out->unit = used.unit;
    out->guard = out->check = out->target = out->reconvergence = INSTRUCTION_NONE;
    for (i = 0; i < line->destination_count; i++)
        add(out->destinations, &out->destination_count, INSTRUCTION_DESTINATIONS, line->destinations[i],
            destination_registers(line, used.shape));
    for (i = 0; i < line->source_count; i++)
        add(out->sources, &out->source_count, INSTRUCTION_SOURCES, line->sources[i],
            source_registers(line, used.shape, i));
    set_opcode(out, line, used.kind);
    return row != NULL;
}
