/* minigpu_textures: reads through texture objects and texture references. T is the type of a texel, or float, float2
 * and float4 with cudaReadModeNormalizedFloat. */
#ifndef MINIGPU_TEXTURES_H
#define MINIGPU_TEXTURES_H

#define MINIGPU_TEXTURE static inline __device__

namespace minigpu {
/* The four channels that tex returns, as T. A fetch is the tex instruction of one geometry: `at` names its coordinates,
 * and the rest are its parameters as the instruction takes them. */
template <class T> struct channels;
#define MINIGPU_LIST(...) __VA_ARGS__
#define MINIGPU_FETCH(name, type, ptx, reg, geometry, coordinate, at, parameters, ...)                      \
    static __device__ type name(cudaTextureObject_t t, parameters) {                                        \
        raw x, y, z, w;                                                                                     \
        __asm__ __volatile__("tex." geometry ".v4." ptx "." coordinate " {%0, %1, %2, %3}, [%4, {" at "}];" \
                             : "=" reg(x), "=" reg(y), "=" reg(z), "=" reg(w)                               \
                             : "l"(t), __VA_ARGS__);                                                        \
        return make(x, y, z, w);                                                                            \
    }
#define MINIGPU_CHANNELS(type, element, ptx, reg, word, build)                                                         \
    template <> struct channels<type> {                                                                                \
        typedef word raw;                                                                                              \
        static __device__ type make(raw x, raw y, raw z, raw w) {                                                      \
            (void)y, (void)z, (void)w;                                                                                 \
            return build;                                                                                              \
        }                                                                                                              \
        MINIGPU_FETCH(fetch_1d_s, type, ptx, reg, "1d", "s32", "%5", int i, "r"(i))                                    \
        MINIGPU_FETCH(fetch_1d, type, ptx, reg, "1d", "f32", "%5", float a, "f"(a))                                    \
        MINIGPU_FETCH(fetch_2d, type, ptx, reg, "2d", "f32", "%5, %6", MINIGPU_LIST(float a, float b), "f"(a), "f"(b)) \
        MINIGPU_FETCH(fetch_a1d, type, ptx, reg, "a1d", "f32", "%5, %6", MINIGPU_LIST(float a, int layer), "r"(layer), \
                      "f"(a))                                                                                          \
        MINIGPU_FETCH(fetch_a2d, type, ptx, reg, "a2d", "f32", "%5, %6, %7, %7",                                       \
                      MINIGPU_LIST(float a, float b, int layer), "r"(layer), "f"(a), "f"(b))                           \
        MINIGPU_FETCH(fetch_3d, type, ptx, reg, "3d", "f32", "%5, %6, %7, %7",                                         \
                      MINIGPU_LIST(float a, float b, float c), "f"(a), "f"(b), "f"(c))                                 \
    };
#define MINIGPU_ALL_CHANNELS(name, element, ptx, reg, word)                                                            \
    MINIGPU_CHANNELS(name##1, element, ptx, reg, word, make_##name##1((element)x))                                     \
    MINIGPU_CHANNELS(name##2, element, ptx, reg, word, make_##name##2((element)x, (element)y))                         \
    MINIGPU_CHANNELS(name##4, element, ptx, reg, word, make_##name##4((element)x, (element)y, (element)z, (element)w)) \
    MINIGPU_CHANNELS(element, element, ptx, reg, word, (element)x)
MINIGPU_ALL_CHANNELS(char, signed char, "s32", "r", int)
MINIGPU_ALL_CHANNELS(uchar, unsigned char, "u32", "r", unsigned int)
MINIGPU_ALL_CHANNELS(short, short, "s32", "r", int)
MINIGPU_ALL_CHANNELS(ushort, unsigned short, "u32", "r", unsigned int)
MINIGPU_ALL_CHANNELS(int, int, "s32", "r", int)
MINIGPU_ALL_CHANNELS(uint, unsigned int, "u32", "r", unsigned int)
MINIGPU_ALL_CHANNELS(float, float, "f32", "f", float)
MINIGPU_CHANNELS(char, char, "s32", "r", int, (char)x)
#undef MINIGPU_ALL_CHANNELS
#undef MINIGPU_CHANNELS
#undef MINIGPU_FETCH
} // namespace minigpu

template <class T> MINIGPU_TEXTURE T tex1Dfetch(cudaTextureObject_t t, int i) {
    return minigpu::channels<T>::fetch_1d_s(t, i);
}
template <class T> MINIGPU_TEXTURE T tex1D(cudaTextureObject_t t, float x) {
    return minigpu::channels<T>::fetch_1d(t, x);
}
template <class T> MINIGPU_TEXTURE T tex2D(cudaTextureObject_t t, float x, float y) {
    return minigpu::channels<T>::fetch_2d(t, x, y);
}
template <class T> MINIGPU_TEXTURE T tex3D(cudaTextureObject_t t, float x, float y, float z) {
    return minigpu::channels<T>::fetch_3d(t, x, y, z);
}
template <class T> MINIGPU_TEXTURE T tex1DLayered(cudaTextureObject_t t, float x, int layer) {
    return minigpu::channels<T>::fetch_a1d(t, x, layer);
}
template <class T> MINIGPU_TEXTURE T tex2DLayered(cudaTextureObject_t t, float x, float y, int layer) {
    return minigpu::channels<T>::fetch_a2d(t, x, y, layer);
}
template <class T> MINIGPU_TEXTURE void tex1D(T *value, cudaTextureObject_t t, float x) { *value = tex1D<T>(t, x); }
template <class T> MINIGPU_TEXTURE void tex3D(T *value, cudaTextureObject_t t, float x, float y, float z) {
    *value = tex3D<T>(t, x, y, z);
}
template <class T> MINIGPU_TEXTURE void tex1Dfetch(T *value, cudaTextureObject_t t, int i) {
    *value = tex1Dfetch<T>(t, i);
}
template <class T> MINIGPU_TEXTURE void tex2D(T *value, cudaTextureObject_t t, float x, float y) {
    *value = tex2D<T>(t, x, y);
}

/* Texture references. clang passes them in registers; minigpu-cc writes their names into the tex instructions. */
namespace minigpu {
template <class T, int mode> struct texel { typedef T type; };
#define MINIGPU_NORMALIZED(name, element)                                                    \
    template <> struct texel<element, cudaReadModeNormalizedFloat> { typedef float type; };  \
    template <> struct texel<name##1, cudaReadModeNormalizedFloat> { typedef float1 type; }; \
    template <> struct texel<name##2, cudaReadModeNormalizedFloat> { typedef float2 type; }; \
    template <> struct texel<name##4, cudaReadModeNormalizedFloat> { typedef float4 type; };
MINIGPU_NORMALIZED(char, signed char)
MINIGPU_NORMALIZED(uchar, unsigned char)
MINIGPU_NORMALIZED(short, short)
MINIGPU_NORMALIZED(ushort, unsigned short)
#undef MINIGPU_NORMALIZED
template <class T, int dimensions, cudaTextureReadMode mode>
MINIGPU_TEXTURE cudaTextureObject_t bound(texture<T, dimensions, mode> reference) {
    return *(const cudaTextureObject_t *)(const void *)&reference;
}
} // namespace minigpu
#define MINIGPU_REFERENCE(function, dimensions, parameters, ...)                                                  \
    template <class T, cudaTextureReadMode mode>                                                                  \
    MINIGPU_TEXTURE typename minigpu::texel<T, mode>::type function(texture<T, dimensions, mode> t, parameters) { \
        return function<typename minigpu::texel<T, mode>::type>(minigpu::bound(t), __VA_ARGS__);                  \
    }
MINIGPU_REFERENCE(tex1Dfetch, 1, int i, i)
MINIGPU_REFERENCE(tex1D, 1, float x, x)
MINIGPU_REFERENCE(tex2D, 2, MINIGPU_LIST(float x, float y), x, y)
MINIGPU_REFERENCE(tex3D, 3, MINIGPU_LIST(float x, float y, float z), x, y, z)
MINIGPU_REFERENCE(tex1DLayered, cudaTextureType1DLayered, MINIGPU_LIST(float x, int layer), x, layer)
MINIGPU_REFERENCE(tex2DLayered, cudaTextureType2DLayered, MINIGPU_LIST(float x, float y, int layer), x, y, layer)
#undef MINIGPU_LIST
#undef MINIGPU_REFERENCE

#undef MINIGPU_TEXTURE

#endif
