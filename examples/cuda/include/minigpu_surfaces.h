/* minigpu_surfaces: reads and writes through surface objects. x counts bytes, the other coordinates count texels. */
#ifndef MINIGPU_SURFACES_H
#define MINIGPU_SURFACES_H

#define MINIGPU_SURFACE static inline __device__

namespace minigpu {
enum surface_shape { SURFACE_1D, SURFACE_2D, SURFACE_3D, SURFACE_A1D, SURFACE_A2D };

/* suld and sust of one shape and one number of bytes. a, b and c are the coordinates in the instruction's order. */
template <int shape, unsigned long bytes> struct surface;
#define MINIGPU_OUT_1(reg) [w0] "=" reg(w[0])
#define MINIGPU_OUT_2(reg) MINIGPU_OUT_1(reg), [w1] "=" reg(w[1])
#define MINIGPU_OUT_4(reg) MINIGPU_OUT_2(reg), [w2] "=" reg(w[2]), [w3] "=" reg(w[3])
#define MINIGPU_IN_1(reg) [w0] reg(w[0])
#define MINIGPU_IN_2(reg) MINIGPU_IN_1(reg), [w1] reg(w[1])
#define MINIGPU_IN_4(reg) MINIGPU_IN_2(reg), [w2] reg(w[2]), [w3] reg(w[3])
#define MINIGPU_NAMES_1 "{%[w0]}"
#define MINIGPU_NAMES_2 "{%[w0], %[w1]}"
#define MINIGPU_NAMES_4 "{%[w0], %[w1], %[w2], %[w3]}"
#define MINIGPU_SULD(geometry, at, n, reg, type, clamp)                                                  \
    __asm__ __volatile__("suld.b." geometry "." type "." clamp " " MINIGPU_NAMES_##n ", [%[s], " at "];" \
                         : MINIGPU_OUT_##n(reg)                                                          \
                         : [s] "l"(s), [a] "r"(a), [b] "r"(b), [c] "r"(c)                                \
                         : "memory")
#define MINIGPU_SUST(geometry, at, n, reg, type, clamp)                                                  \
    __asm__ __volatile__("sust.b." geometry "." type "." clamp " [%[s], " at "], " MINIGPU_NAMES_##n ";" \
                         :                                                                               \
                         : MINIGPU_IN_##n(reg), [s] "l"(s), [a] "r"(a), [b] "r"(b), [c] "r"(c)           \
                         : "memory")
#define MINIGPU_CLAMPED(access, ...)                                 \
    switch (mode) {                                                  \
    case cudaBoundaryModeZero: access(__VA_ARGS__, "zero"); break;   \
    case cudaBoundaryModeClamp: access(__VA_ARGS__, "clamp"); break; \
    default: access(__VA_ARGS__, "trap"); break;                     \
    }
#define MINIGPU_SURFACE_OF(shape, geometry, at, bytes, word, n, reg, type)                                  \
    template <> struct surface<shape, bytes> {                                                              \
        typedef word words[n];                                                                              \
        static __device__ void read(words w, cudaSurfaceObject_t s, int a, int b, int c, int mode) {        \
            MINIGPU_CLAMPED(MINIGPU_SULD, geometry, at, n, reg, type)                                       \
        }                                                                                                   \
        static __device__ void write(const words w, cudaSurfaceObject_t s, int a, int b, int c, int mode) { \
            MINIGPU_CLAMPED(MINIGPU_SUST, geometry, at, n, reg, type)                                       \
        }                                                                                                   \
    };
#define MINIGPU_SURFACES_OF(shape, geometry, at)                               \
    MINIGPU_SURFACE_OF(shape, geometry, at, 1, unsigned short, 1, "h", "b8")   \
    MINIGPU_SURFACE_OF(shape, geometry, at, 2, unsigned short, 1, "h", "b16")  \
    MINIGPU_SURFACE_OF(shape, geometry, at, 4, unsigned int, 1, "r", "b32")    \
    MINIGPU_SURFACE_OF(shape, geometry, at, 8, unsigned int, 2, "r", "v2.b32") \
    MINIGPU_SURFACE_OF(shape, geometry, at, 16, unsigned int, 4, "r", "v4.b32")
MINIGPU_SURFACES_OF(SURFACE_1D, "1d", "{%[a]}")
MINIGPU_SURFACES_OF(SURFACE_2D, "2d", "{%[a], %[b]}")
MINIGPU_SURFACES_OF(SURFACE_3D, "3d", "{%[a], %[b], %[c], %[c]}")
MINIGPU_SURFACES_OF(SURFACE_A1D, "a1d", "{%[a], %[b]}")
MINIGPU_SURFACES_OF(SURFACE_A2D, "a2d", "{%[a], %[b], %[c], %[c]}")
#undef MINIGPU_SURFACES_OF
#undef MINIGPU_SURFACE_OF
#undef MINIGPU_CLAMPED
#undef MINIGPU_SUST
#undef MINIGPU_SULD
#undef MINIGPU_NAMES_4
#undef MINIGPU_NAMES_2
#undef MINIGPU_NAMES_1
#undef MINIGPU_IN_4
#undef MINIGPU_IN_2
#undef MINIGPU_IN_1
#undef MINIGPU_OUT_4
#undef MINIGPU_OUT_2
#undef MINIGPU_OUT_1

template <int shape, class T> MINIGPU_SURFACE T surface_read(cudaSurfaceObject_t s, int a, int b, int c, int mode) {
    typename surface<shape, sizeof(T)>::words words;
    T value;
    surface<shape, sizeof(T)>::read(words, s, a, b, c, mode);
    __builtin_memcpy(&value, words, sizeof value);
    return value;
}
template <int shape, class T>
MINIGPU_SURFACE void surface_write(T value, cudaSurfaceObject_t s, int a, int b, int c, int mode) {
    typename surface<shape, sizeof(T)>::words words = {0};
    __builtin_memcpy(words, &value, sizeof value);
    surface<shape, sizeof(T)>::write(words, s, a, b, c, mode);
}
} // namespace minigpu

#define MINIGPU_LIST(...) __VA_ARGS__
#define MINIGPU_SURFACE_CALLS(name, shape, parameters, a, b, c)                             \
    template <class T>                                                                      \
    MINIGPU_SURFACE T name##read(cudaSurfaceObject_t s, parameters,                         \
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {     \
        return minigpu::surface_read<minigpu::shape, T>(s, a, b, c, mode);                  \
    }                                                                                       \
    template <class T>                                                                      \
    MINIGPU_SURFACE void name##read(T *value, cudaSurfaceObject_t s, parameters,            \
                                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
        *value = minigpu::surface_read<minigpu::shape, T>(s, a, b, c, mode);                \
    }                                                                                       \
    template <class T>                                                                      \
    MINIGPU_SURFACE void name##write(T value, cudaSurfaceObject_t s, parameters,            \
                                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
        minigpu::surface_write<minigpu::shape>(value, s, a, b, c, mode);                    \
    }
MINIGPU_SURFACE_CALLS(surf1D, SURFACE_1D, int x, x, 0, 0)
MINIGPU_SURFACE_CALLS(surf2D, SURFACE_2D, MINIGPU_LIST(int x, int y), x, y, 0)
MINIGPU_SURFACE_CALLS(surf3D, SURFACE_3D, MINIGPU_LIST(int x, int y, int z), x, y, z)
MINIGPU_SURFACE_CALLS(surf1DLayered, SURFACE_A1D, MINIGPU_LIST(int x, int layer), layer, x, 0)
MINIGPU_SURFACE_CALLS(surf2DLayered, SURFACE_A2D, MINIGPU_LIST(int x, int y, int layer), layer, x, y)
#undef MINIGPU_SURFACE_CALLS
#undef MINIGPU_LIST
#undef MINIGPU_SURFACE

#endif
