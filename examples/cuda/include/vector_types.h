/* vector_types: char1 to double4, dim3. Pairs and quadruples are aligned so that one instruction loads them. */
#ifndef MINIGPU_VECTOR_TYPES_H
#define MINIGPU_VECTOR_TYPES_H

#include "host_defines.h"

#define MINIGPU_VECTORS(name, type, align2, align4) \
    struct name##1 {                                \
        type x;                                     \
    };                                              \
    struct __align__(align2) name##2 {              \
        type x, y;                                  \
    };                                              \
    struct name##3 {                                \
        type x, y, z;                               \
    };                                              \
    struct __align__(align4) name##4 {              \
        type x, y, z, w;                            \
    };                                              \
    typedef struct name##1 name##1;                 \
    typedef struct name##2 name##2;                 \
    typedef struct name##3 name##3;                 \
    typedef struct name##4 name##4;

MINIGPU_VECTORS(char, signed char, 2, 4)
MINIGPU_VECTORS(uchar, unsigned char, 2, 4)
MINIGPU_VECTORS(short, short, 4, 8)
MINIGPU_VECTORS(ushort, unsigned short, 4, 8)
MINIGPU_VECTORS(int, int, 8, 16)
MINIGPU_VECTORS(uint, unsigned int, 8, 16)
MINIGPU_VECTORS(long, long, 16, 16)
MINIGPU_VECTORS(ulong, unsigned long, 16, 16)
MINIGPU_VECTORS(longlong, long long, 16, 16)
MINIGPU_VECTORS(ulonglong, unsigned long long, 16, 16)
MINIGPU_VECTORS(float, float, 8, 16)
MINIGPU_VECTORS(double, double, 16, 16)
#undef MINIGPU_VECTORS

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    __host__ __device__ constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
        : x(x_), y(y_), z(z_) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
typedef struct dim3 dim3;

#endif
