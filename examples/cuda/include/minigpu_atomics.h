/* minigpu_atomics: atomicAdd and its kin. Forms with _block and _system differ in scope only. */
#ifndef MINIGPU_ATOMICS_H
#define MINIGPU_ATOMICS_H

#define MINIGPU_ATOMIC static inline __device__
/* One instruction of PTX: operation, its type, the register class of inline assembly, C's type. */
#define MINIGPU_ATOM(name, operation, ptx, reg, type)                                            \
    MINIGPU_ATOMIC type name(type *address, type value) {                                        \
        type old;                                                                                \
        __asm__ __volatile__("atom." operation "." ptx " %0, [%1], %2;"                          \
                             : "=" reg(old)                                                      \
                             : "l"(address), reg(value)                                          \
                             : "memory");                                                        \
        return old;                                                                              \
    }                                                                                            \
    MINIGPU_ATOMIC type name##_block(type *address, type value) { return name(address, value); } \
    MINIGPU_ATOMIC type name##_system(type *address, type value) { return name(address, value); }
#define MINIGPU_ATOM_CAS(ptx, reg, type)                                            \
    MINIGPU_ATOMIC type atomicCAS(type *address, type compare, type value) {        \
        type old;                                                                   \
        __asm__ __volatile__("atom.cas." ptx " %0, [%1], %2, %3;"                   \
                             : "=" reg(old)                                         \
                             : "l"(address), reg(compare), reg(value)               \
                             : "memory");                                           \
        return old;                                                                 \
    }                                                                               \
    MINIGPU_ATOMIC type atomicCAS_block(type *address, type compare, type value) {  \
        return atomicCAS(address, compare, value);                                  \
    }                                                                               \
    MINIGPU_ATOMIC type atomicCAS_system(type *address, type compare, type value) { \
        return atomicCAS(address, compare, value);                                  \
    }
#define MINIGPU_ATOMS_32(name, operation)          \
    MINIGPU_ATOM(name, operation, "s32", "r", int) \
    MINIGPU_ATOM(name, operation, "u32", "r", unsigned int)
#define MINIGPU_ATOMS_64(name, operation, ptx)             \
    MINIGPU_ATOM(name, operation, ptx, "l", unsigned long) \
    MINIGPU_ATOM(name, operation, ptx, "l", unsigned long long)
#define MINIGPU_ATOMS_BITS(name, operation)                 \
    MINIGPU_ATOM(name, operation, "b32", "r", int)          \
    MINIGPU_ATOM(name, operation, "b32", "r", unsigned int) \
    MINIGPU_ATOM(name, operation, "b64", "l", long long)    \
    MINIGPU_ATOMS_64(name, operation, "b64")

MINIGPU_ATOMS_32(atomicAdd, "add")
MINIGPU_ATOMS_64(atomicAdd, "add", "u64")
MINIGPU_ATOM(atomicAdd, "add", "f32", "f", float)
MINIGPU_ATOM(atomicAdd, "add", "f64", "d", double)
MINIGPU_ATOMS_32(atomicMin, "min")
MINIGPU_ATOMS_64(atomicMin, "min", "u64")
MINIGPU_ATOM(atomicMin, "min", "s64", "l", long long)
MINIGPU_ATOMS_32(atomicMax, "max")
MINIGPU_ATOMS_64(atomicMax, "max", "u64")
MINIGPU_ATOM(atomicMax, "max", "s64", "l", long long)
MINIGPU_ATOM(atomicInc, "inc", "u32", "r", unsigned int)
MINIGPU_ATOM(atomicDec, "dec", "u32", "r", unsigned int)
MINIGPU_ATOMS_BITS(atomicAnd, "and")
MINIGPU_ATOMS_BITS(atomicOr, "or")
MINIGPU_ATOMS_BITS(atomicXor, "xor")
MINIGPU_ATOM(atomicExch, "exch", "b32", "r", int)
MINIGPU_ATOM(atomicExch, "exch", "b32", "r", unsigned int)
MINIGPU_ATOM(atomicExch, "exch", "b32", "f", float)
MINIGPU_ATOM(atomicExch, "exch", "b64", "l", unsigned long long)
MINIGPU_ATOM(atomicExch, "exch", "b64", "l", unsigned long)
MINIGPU_ATOM_CAS("b32", "r", int)
MINIGPU_ATOM_CAS("b32", "r", unsigned int)
MINIGPU_ATOM_CAS("b64", "l", unsigned long long)
MINIGPU_ATOM_CAS("b64", "l", unsigned long)
MINIGPU_ATOM_CAS("b16", "h", unsigned short)

MINIGPU_ATOMIC int atomicSub(int *address, int value) { return atomicAdd(address, -value); }
MINIGPU_ATOMIC unsigned int atomicSub(unsigned int *address, unsigned int value) {
    return atomicAdd(address, 0u - value);
}

#undef MINIGPU_ATOMS_BITS
#undef MINIGPU_ATOMS_64
#undef MINIGPU_ATOMS_32
#undef MINIGPU_ATOM_CAS
#undef MINIGPU_ATOM
#undef MINIGPU_ATOMIC

#endif
