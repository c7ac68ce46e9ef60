/* vector_functions: make_char1 to make_double4. */
#ifndef MINIGPU_VECTOR_FUNCTIONS_H
#define MINIGPU_VECTOR_FUNCTIONS_H

#include "vector_types.h"

#ifdef __cplusplus
#define MINIGPU_MAKE static inline __host__ __device__
#else
#define MINIGPU_MAKE static inline
#endif
#define MINIGPU_MAKERS(name, type)                                        \
    MINIGPU_MAKE name##1 make_##name##1(type x) {                         \
        name##1 v;                                                        \
        v.x = x;                                                          \
        return v;                                                         \
    }                                                                     \
    MINIGPU_MAKE name##2 make_##name##2(type x, type y) {                 \
        name##2 v;                                                        \
        v.x = x, v.y = y;                                                 \
        return v;                                                         \
    }                                                                     \
    MINIGPU_MAKE name##3 make_##name##3(type x, type y, type z) {         \
        name##3 v;                                                        \
        v.x = x, v.y = y, v.z = z;                                        \
        return v;                                                         \
    }                                                                     \
    MINIGPU_MAKE name##4 make_##name##4(type x, type y, type z, type w) { \
        name##4 v;                                                        \
        v.x = x, v.y = y, v.z = z, v.w = w;                               \
        return v;                                                         \
    }

MINIGPU_MAKERS(char, signed char)
MINIGPU_MAKERS(uchar, unsigned char)
MINIGPU_MAKERS(short, short)
MINIGPU_MAKERS(ushort, unsigned short)
MINIGPU_MAKERS(int, int)
MINIGPU_MAKERS(uint, unsigned int)
MINIGPU_MAKERS(long, long)
MINIGPU_MAKERS(ulong, unsigned long)
MINIGPU_MAKERS(longlong, long long)
MINIGPU_MAKERS(ulonglong, unsigned long long)
MINIGPU_MAKERS(float, float)
MINIGPU_MAKERS(double, double)
#undef MINIGPU_MAKERS
#undef MINIGPU_MAKE

#endif
