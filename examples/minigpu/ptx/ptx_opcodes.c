/* ptx_opcodes: the tables. */
#include "ptx/ptx_opcodes.h"
#include <string.h>

#define FLOAT_GROUPS (GROUP_ROUND | GROUP_FTZ | GROUP_SATURATE)
#define APPROX_GROUPS (GROUP_ROUND | GROUP_FTZ | GROUP_APPROX)

/* Sorted by name. */
static const ptx_opcode opcodes[] = {
    {"abs", "da", OPCODE_ABS, TYPES_S16 | TYPES_FLOAT, 0, GROUP_FTZ, 0},
    {"activemask", "r", OPCODE_ACTIVEMASK, TYPE_SET(TYPE_B32), 0, 0, 0},
    {"add", "daa", OPCODE_ADD, TYPES_INTEGER | TYPES_FLOAT, 0, FLOAT_GROUPS | GROUP_CARRY, 0},
    {"addc", "daa", OPCODE_ADDC, TYPES_32_64, 0, GROUP_CARRY, 0},
    {"and", "daa", OPCODE_AND, TYPES_BITS | TYPE_SET(TYPE_PRED), 0, 0, 0},
    {"atom", "dma?a", OPCODE_ATOM, TYPES_32_64 | TYPES_BITS | TYPES_FLOAT, 0, GROUP_SPACE | GROUP_MEMORY | GROUP_ATOMIC, GROUP_ATOMIC},
    {"bar", "B", OPCODE_BAR, TYPE_SET(TYPE_U32) | TYPE_SET(TYPE_PRED), 0, GROUP_BARRIER | GROUP_SYNC, GROUP_BARRIER},
    {"barrier", "B", OPCODE_BAR, TYPE_SET(TYPE_U32) | TYPE_SET(TYPE_PRED), 0, GROUP_BARRIER | GROUP_SYNC, GROUP_BARRIER},
    {"bfe", "dauu", OPCODE_BFE, TYPES_32_64, 0, 0, 0},
    {"bfi", "daauu", OPCODE_BFI, TYPE_SET(TYPE_B32) | TYPE_SET(TYPE_B64), 0, 0, 0},
    {"bfind", "ra", OPCODE_BFIND, TYPES_32_64, 0, GROUP_SHIFTAMT, 0},
    {"bmsk", "duu", OPCODE_BMSK, TYPE_SET(TYPE_B32), 0, GROUP_CLAMP, GROUP_CLAMP},
    {"bra", "l", OPCODE_BRA, 0, 0, GROUP_UNIFORM, 0},
    {"brev", "da", OPCODE_BREV, TYPE_SET(TYPE_B32) | TYPE_SET(TYPE_B64), 0, 0, 0},
    {"clz", "ra", OPCODE_CLZ, TYPE_SET(TYPE_B32) | TYPE_SET(TYPE_B64), 0, 0, 0},
    {"cnot", "da", OPCODE_CNOT, TYPES_BITS, 0, 0, 0},
    {"copysign", "daa", OPCODE_COPYSIGN, TYPES_FLOAT, 0, 0, 0},
    {"cos", "da", OPCODE_COS, TYPE_SET(TYPE_F32), 0, GROUP_FTZ | GROUP_APPROX, GROUP_APPROX},
    {"cvt", "cC", OPCODE_CVT, TYPES_INTEGER8 | TYPES_FLOAT | TYPE_SET(TYPE_F16), TYPES_INTEGER8 | TYPES_FLOAT | TYPE_SET(TYPE_F16),
     FLOAT_GROUPS | GROUP_ROUND_INTEGER, 0},
    {"cvta", "da", OPCODE_CVTA, TYPE_SET(TYPE_U32) | TYPE_SET(TYPE_U64), 0, GROUP_SPACE | GROUP_TO, GROUP_SPACE},
    {"div", "daa", OPCODE_DIV, TYPES_INTEGER | TYPES_FLOAT, 0, APPROX_GROUPS, 0},
    {"dp2a", "duuu", OPCODE_DP2A, TYPES_32, TYPES_32, GROUP_HALF, GROUP_HALF},
    {"dp4a", "duuu", OPCODE_DP4A, TYPES_32, TYPES_32, 0, 0},
    {"elect", "ou", OPCODE_ELECT, 0, 0, GROUP_SYNC, 0},
    {"ex2", "da", OPCODE_EX2, TYPE_SET(TYPE_F32), 0, GROUP_FTZ | GROUP_APPROX, GROUP_APPROX},
    {"exit", "", OPCODE_EXIT, 0, 0, 0, 0},
    {"fence", "", OPCODE_MEMBAR, 0, 0, GROUP_FENCE, 0},
    {"fma", "daaa", OPCODE_FMA, TYPES_FLOAT, 0, FLOAT_GROUPS, GROUP_ROUND},
    {"fns", "duuu", OPCODE_FNS, TYPE_SET(TYPE_B32), 0, 0, 0},
    {"isspacep", "pa", OPCODE_ISSPACEP, 0, 0, GROUP_SPACE, GROUP_SPACE},
    {"ld", "vm", OPCODE_LD, TYPES_MEMORY, 0, GROUP_SPACE | GROUP_MEMORY | GROUP_VECTOR, 0},
    {"ldu", "vm", OPCODE_LD, TYPES_MEMORY, 0, GROUP_SPACE | GROUP_MEMORY | GROUP_VECTOR, 0},
    {"lg2", "da", OPCODE_LG2, TYPE_SET(TYPE_F32), 0, GROUP_FTZ | GROUP_APPROX, GROUP_APPROX},
    {"lop3", "daaai", OPCODE_LOP3, TYPE_SET(TYPE_B32), 0, 0, 0},
    {"mad", "waaW", OPCODE_MAD, TYPES_INTEGER | TYPES_FLOAT, 0, FLOAT_GROUPS | GROUP_HALF | GROUP_CARRY, 0},
    {"mad24", "daaa", OPCODE_MAD24, TYPES_32, 0, GROUP_HALF | GROUP_SATURATE, GROUP_HALF},
    {"madc", "daaa", OPCODE_MADC, TYPES_32_64, 0, GROUP_HALF | GROUP_CARRY, GROUP_HALF},
    {"match", "oau", OPCODE_MATCH, TYPE_SET(TYPE_B32) | TYPE_SET(TYPE_B64), 0, GROUP_VOTE | GROUP_SYNC, GROUP_VOTE},
    {"max", "daa", OPCODE_MAX, TYPES_INTEGER | TYPES_FLOAT, 0, GROUP_FTZ | GROUP_NAN, 0},
    {"membar", "", OPCODE_MEMBAR, 0, 0, GROUP_FENCE, 0},
    {"min", "daa", OPCODE_MIN, TYPES_INTEGER | TYPES_FLOAT, 0, GROUP_FTZ | GROUP_NAN, 0},
    {"mov", "x", OPCODE_MOV, TYPES_INTEGER | TYPES_BITS | TYPES_FLOAT | TYPE_SET(TYPE_PRED), 0, 0, 0},
    {"mul", "waa", OPCODE_MUL, TYPES_INTEGER | TYPES_FLOAT, 0, FLOAT_GROUPS | GROUP_HALF, 0},
    {"mul24", "daa", OPCODE_MUL24, TYPES_32, 0, GROUP_HALF, GROUP_HALF},
    {"nanosleep", "u", OPCODE_NOP, TYPE_SET(TYPE_U32), 0, 0, 0},
    {"neg", "da", OPCODE_NEG, TYPES_S16 | TYPES_FLOAT, 0, GROUP_FTZ, 0},
    {"not", "da", OPCODE_NOT, TYPES_BITS | TYPE_SET(TYPE_PRED), 0, 0, 0},
    {"or", "daa", OPCODE_OR, TYPES_BITS | TYPE_SET(TYPE_PRED), 0, 0, 0},
    {"popc", "ra", OPCODE_POPC, TYPE_SET(TYPE_B32) | TYPE_SET(TYPE_B64), 0, 0, 0},
    {"prefetch", "m", OPCODE_NOP, 0, 0, GROUP_SPACE | GROUP_MEMORY, 0},
    {"prefetchu", "m", OPCODE_NOP, 0, 0, GROUP_SPACE | GROUP_MEMORY, 0},
    {"prmt", "dauu", OPCODE_PRMT, TYPE_SET(TYPE_B32), 0, GROUP_PERMUTE, 0},
    {"rcp", "da", OPCODE_RCP, TYPES_FLOAT, 0, APPROX_GROUPS, 0},
    {"red", "ma", OPCODE_RED, TYPES_32_64 | TYPES_BITS | TYPES_FLOAT, 0, GROUP_SPACE | GROUP_MEMORY | GROUP_ATOMIC, GROUP_ATOMIC},
    {"redux", "dau", OPCODE_REDUX, TYPES_32 | TYPE_SET(TYPE_B32), 0, GROUP_ATOMIC | GROUP_SYNC, GROUP_ATOMIC},
    {"rem", "daa", OPCODE_REM, TYPES_INTEGER, 0, 0, 0},
    {"ret", "", OPCODE_RET, 0, 0, GROUP_UNIFORM, 0},
    {"rsqrt", "da", OPCODE_RSQRT, TYPES_FLOAT, 0, GROUP_FTZ | GROUP_APPROX, GROUP_APPROX},
    {"sad", "daaa", OPCODE_SAD, TYPES_INTEGER, 0, 0, 0},
    {"selp", "daaP", OPCODE_SELP, TYPES_INTEGER | TYPES_BITS | TYPES_FLOAT, 0, 0, 0},
    {"set", "dbb?P", OPCODE_SET, TYPES_32 | TYPE_SET(TYPE_F32), TYPES_INTEGER | TYPES_BITS | TYPES_FLOAT,
     GROUP_COMPARE | GROUP_BOOLEAN | GROUP_FTZ, GROUP_COMPARE},
    {"setp", "paa?P", OPCODE_SETP, TYPES_INTEGER | TYPES_BITS | TYPES_FLOAT, 0, GROUP_COMPARE | GROUP_BOOLEAN | GROUP_FTZ, GROUP_COMPARE},
    {"shf", "dauu", OPCODE_SHF, TYPE_SET(TYPE_B32), 0, GROUP_FUNNEL | GROUP_CLAMP, GROUP_FUNNEL | GROUP_CLAMP},
    {"shfl", "oauu?u", OPCODE_SHFL, TYPE_SET(TYPE_B32), 0, GROUP_SHUFFLE | GROUP_SYNC, GROUP_SHUFFLE},
    {"shl", "dau", OPCODE_SHL, TYPES_BITS, 0, 0, 0},
    {"shr", "dau", OPCODE_SHR, TYPES_BITS | TYPES_INTEGER, 0, 0, 0},
    {"sin", "da", OPCODE_SIN, TYPE_SET(TYPE_F32), 0, GROUP_FTZ | GROUP_APPROX, GROUP_APPROX},
    {"slct", "daab", OPCODE_SLCT, TYPES_INTEGER | TYPES_BITS | TYPES_FLOAT, TYPE_SET(TYPE_S32) | TYPE_SET(TYPE_F32), GROUP_FTZ, 0},
    {"sqrt", "da", OPCODE_SQRT, TYPES_FLOAT, 0, APPROX_GROUPS, 0},
    {"st", "mV", OPCODE_ST, TYPES_MEMORY, 0, GROUP_SPACE | GROUP_MEMORY | GROUP_VECTOR, 0},
    {"sub", "daa", OPCODE_SUB, TYPES_INTEGER | TYPES_FLOAT, 0, FLOAT_GROUPS | GROUP_CARRY, 0},
    {"subc", "daa", OPCODE_SUBC, TYPES_32_64, 0, GROUP_CARRY, 0},
    {"szext", "dau", OPCODE_SZEXT, TYPES_32, 0, GROUP_CLAMP, GROUP_CLAMP},
    {"tanh", "da", OPCODE_TANH, TYPE_SET(TYPE_F32), 0, GROUP_APPROX, GROUP_APPROX},
    {"testp", "pa", OPCODE_TESTP, TYPES_FLOAT, 0, GROUP_TEST, GROUP_TEST},
    {"tex", "vt", OPCODE_TEX, TYPES_32 | TYPE_SET(TYPE_F32), TYPE_SET(TYPE_S32) | TYPE_SET(TYPE_F32), GROUP_TEXTURE | GROUP_VECTOR,
     GROUP_TEXTURE | GROUP_VECTOR},
    {"trap", "", OPCODE_TRAP, 0, 0, 0, 0},
    {"vote", "dP?u", OPCODE_VOTE, TYPE_SET(TYPE_PRED) | TYPE_SET(TYPE_B32), 0, GROUP_VOTE | GROUP_SYNC, GROUP_VOTE},
    {"xor", "daa", OPCODE_XOR, TYPES_BITS | TYPE_SET(TYPE_PRED), 0, 0, 0},
};

static const ptx_modifier modifiers[] = {
    {".rn", GROUP_ROUND, ROUND_RN}, {".rz", GROUP_ROUND, ROUND_RZ}, {".rm", GROUP_ROUND, ROUND_RM}, {".rp", GROUP_ROUND, ROUND_RP},
    {".rni", GROUP_ROUND_INTEGER, ROUND_RNI}, {".rzi", GROUP_ROUND_INTEGER, ROUND_RZI},
    {".rmi", GROUP_ROUND_INTEGER, ROUND_RMI}, {".rpi", GROUP_ROUND_INTEGER, ROUND_RPI},
    {".ftz", GROUP_FTZ, FLAG_FTZ}, {".sat", GROUP_SATURATE, FLAG_SATURATE}, {".cc", GROUP_CARRY, FLAG_CARRY_OUT},
    {".NaN", GROUP_NAN, FLAG_NAN}, {".uni", GROUP_UNIFORM, FLAG_UNIFORM},
    {".lo", GROUP_HALF, VARIANT_LO}, {".hi", GROUP_HALF, VARIANT_HI}, {".wide", GROUP_HALF, VARIANT_WIDE},
    {".eq", GROUP_COMPARE, COMPARE_EQ}, {".ne", GROUP_COMPARE, COMPARE_NE}, {".lt", GROUP_COMPARE, COMPARE_LT},
    {".le", GROUP_COMPARE, COMPARE_LE}, {".gt", GROUP_COMPARE, COMPARE_GT}, {".ge", GROUP_COMPARE, COMPARE_GE},
    {".lo", GROUP_COMPARE, COMPARE_LT}, {".ls", GROUP_COMPARE, COMPARE_LE}, {".hi", GROUP_COMPARE, COMPARE_GT},
    {".hs", GROUP_COMPARE, COMPARE_GE}, {".equ", GROUP_COMPARE, COMPARE_EQU}, {".neu", GROUP_COMPARE, COMPARE_NEU},
    {".ltu", GROUP_COMPARE, COMPARE_LTU}, {".leu", GROUP_COMPARE, COMPARE_LEU}, {".gtu", GROUP_COMPARE, COMPARE_GTU},
    {".geu", GROUP_COMPARE, COMPARE_GEU}, {".num", GROUP_COMPARE, COMPARE_NUM}, {".nan", GROUP_COMPARE, COMPARE_NAN},
    {".and", GROUP_BOOLEAN, VARIANT_AND}, {".or", GROUP_BOOLEAN, VARIANT_OR}, {".xor", GROUP_BOOLEAN, VARIANT_XOR},
    {".global", GROUP_SPACE, SPACE_GLOBAL}, {".shared", GROUP_SPACE, SPACE_SHARED}, {".shared::cta", GROUP_SPACE, SPACE_SHARED},
    {".local", GROUP_SPACE, SPACE_LOCAL}, {".const", GROUP_SPACE, SPACE_CONST}, {".param", GROUP_SPACE, SPACE_PARAM},
    {".param::entry", GROUP_SPACE, SPACE_PARAM}, {".param::func", GROUP_SPACE, SPACE_PARAM},
    {".v2", GROUP_VECTOR, 2}, {".v4", GROUP_VECTOR, 4},
    {".ca", GROUP_MEMORY, 0}, {".cg", GROUP_MEMORY, FLAG_CACHE_GLOBAL}, {".cs", GROUP_MEMORY, 0}, {".lu", GROUP_MEMORY, 0},
    {".cv", GROUP_MEMORY, FLAG_CACHE_GLOBAL}, {".wb", GROUP_MEMORY, 0}, {".wt", GROUP_MEMORY, 0}, {".nc", GROUP_MEMORY, FLAG_READ_ONLY},
    {".volatile", GROUP_MEMORY, FLAG_VOLATILE}, {".weak", GROUP_MEMORY, 0}, {".relaxed", GROUP_MEMORY, 0}, {".acquire", GROUP_MEMORY, 0},
    {".release", GROUP_MEMORY, 0}, {".acq_rel", GROUP_MEMORY, 0}, {".mmio", GROUP_MEMORY, 0}, {".cta", GROUP_MEMORY, 0},
    {".cluster", GROUP_MEMORY, 0}, {".gpu", GROUP_MEMORY, 0}, {".sys", GROUP_MEMORY, 0}, {".L1", GROUP_MEMORY, 0},
    {".L2", GROUP_MEMORY, 0}, {".L1::evict_normal", GROUP_MEMORY, 0}, {".L1::evict_unchanged", GROUP_MEMORY, 0},
    {".L1::evict_first", GROUP_MEMORY, 0}, {".L1::evict_last", GROUP_MEMORY, 0}, {".L1::no_allocate", GROUP_MEMORY, FLAG_CACHE_GLOBAL},
    {".L2::evict_last", GROUP_MEMORY, 0}, {".L2::evict_normal", GROUP_MEMORY, 0}, {".L2::64B", GROUP_MEMORY, 0},
    {".L2::128B", GROUP_MEMORY, 0}, {".L2::256B", GROUP_MEMORY, 0},
    {".add", GROUP_ATOMIC, VARIANT_ADD}, {".min", GROUP_ATOMIC, VARIANT_MIN}, {".max", GROUP_ATOMIC, VARIANT_MAX},
    {".and", GROUP_ATOMIC, VARIANT_AND}, {".or", GROUP_ATOMIC, VARIANT_OR}, {".xor", GROUP_ATOMIC, VARIANT_XOR},
    {".exch", GROUP_ATOMIC, VARIANT_EXCH}, {".cas", GROUP_ATOMIC, VARIANT_CAS}, {".inc", GROUP_ATOMIC, VARIANT_INC},
    {".dec", GROUP_ATOMIC, VARIANT_DEC},
    {".approx", GROUP_APPROX, VARIANT_APPROX}, {".full", GROUP_APPROX, VARIANT_FULL},
    {".up", GROUP_SHUFFLE, VARIANT_UP}, {".down", GROUP_SHUFFLE, VARIANT_DOWN}, {".bfly", GROUP_SHUFFLE, VARIANT_BFLY},
    {".idx", GROUP_SHUFFLE, VARIANT_IDX},
    {".all", GROUP_VOTE, VARIANT_ALL}, {".any", GROUP_VOTE, VARIANT_ANY}, {".uni", GROUP_VOTE, VARIANT_UNI},
    {".ballot", GROUP_VOTE, VARIANT_BALLOT},
    {".f4e", GROUP_PERMUTE, VARIANT_F4E}, {".b4e", GROUP_PERMUTE, VARIANT_B4E}, {".rc8", GROUP_PERMUTE, VARIANT_RC8},
    {".ecl", GROUP_PERMUTE, VARIANT_ECL}, {".ecr", GROUP_PERMUTE, VARIANT_ECR}, {".rc16", GROUP_PERMUTE, VARIANT_RC16},
    {".l", GROUP_FUNNEL, VARIANT_LEFT}, {".r", GROUP_FUNNEL, VARIANT_RIGHT},
    {".wrap", GROUP_CLAMP, 0}, {".clamp", GROUP_CLAMP, 1},
    {".finite", GROUP_TEST, VARIANT_FINITE}, {".infinite", GROUP_TEST, VARIANT_INFINITE}, {".number", GROUP_TEST, VARIANT_NUMBER},
    {".notanumber", GROUP_TEST, VARIANT_NOTANUMBER}, {".normal", GROUP_TEST, VARIANT_NORMAL},
    {".subnormal", GROUP_TEST, VARIANT_SUBNORMAL},
    {".sync", GROUP_BARRIER, VARIANT_SYNC}, {".arrive", GROUP_BARRIER, VARIANT_ARRIVE}, {".red", GROUP_BARRIER, VARIANT_RED_POPC},
    {".popc", GROUP_BARRIER, VARIANT_RED_POPC}, {".and", GROUP_BARRIER, VARIANT_RED_AND}, {".or", GROUP_BARRIER, VARIANT_RED_OR},
    {".cta", GROUP_BARRIER, VARIANT_NONE},
    {".to", GROUP_TO, VARIANT_TO}, {".shiftamt", GROUP_SHIFTAMT, VARIANT_SHIFTAMT},
    {".1d", GROUP_TEXTURE, VARIANT_1D}, {".2d", GROUP_TEXTURE, VARIANT_2D},
    {".sync", GROUP_SYNC, 0}, {".aligned", GROUP_SYNC, 0},
    {".cta", GROUP_FENCE, 0}, {".gl", GROUP_FENCE, 0}, {".sys", GROUP_FENCE, 0}, {".sc", GROUP_FENCE, 0}, {".acq_rel", GROUP_FENCE, 0},
    {".gpu", GROUP_FENCE, 0}, {".cluster", GROUP_FENCE, 0}, {".acquire", GROUP_FENCE, 0}, {".release", GROUP_FENCE, 0},
};

/* strcmp of a counted string with a terminated one. */
static int compare_text(const char *text, uint32_t length, const char *other) {
    int order = strncmp(text, other, length);
    return order ? order : other[length] ? -1 : 0;
}

const ptx_opcode *ptx_opcode_find(const char *name, uint32_t length) {
    uint32_t low = 0, high = sizeof opcodes / sizeof *opcodes;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = compare_text(name, length, opcodes[middle].name);
        if (order == 0) return &opcodes[middle];
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return NULL;
}

const ptx_modifier *ptx_modifier_find(const char *text, uint32_t length, uint32_t allowed) {
    for (uint32_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
        if ((modifiers[i].group & allowed) && compare_text(text, length, modifiers[i].text) == 0) return &modifiers[i];
    return NULL;
}

uint32_t ptx_type_find(const char *text, uint32_t length) {
    if (length < 3) return TYPE_NONE;
    for (uint32_t type = TYPE_NONE + 1; type < TYPE_COUNT; type++)
        if (compare_text(text + 1, length - 1, type_name(type)) == 0) return type;
    return TYPE_NONE;
}

uint32_t ptx_special_find(const char *text, uint32_t length) {
    uint32_t special = 0;
    while (special < SPECIAL_COUNT && compare_text(text, length, special_name(special)) != 0) special++;
    return special;
}
