/* minigpu_textures: reads through texture objects, and surfaces. T is the type of a texel, or float, float2 and float4
 * with cudaReadModeNormalizedFloat. */
#ifndef MINIGPU_TEXTURES_H
#define MINIGPU_TEXTURES_H

#define MINIGPU_TEXTURE static inline __device__

namespace minigpu {
/* The four channels that tex returns, as T. */
template <class T> struct channels;
#define MINIGPU_CHANNELS(type, element, ptx, reg, word, build)                                     \
    template <> struct channels<type> {                                                            \
        typedef word raw;                                                                          \
        static __device__ type make(raw x, raw y, raw z, raw w) {                                  \
            (void)y, (void)z, (void)w;                                                             \
            return build;                                                                          \
        }                                                                                          \
        static __device__ type fetch_1d_s(cudaTextureObject_t t, int i) {                          \
            raw x, y, z, w;                                                                        \
            __asm__ __volatile__("tex.1d.v4." ptx ".s32 {%0, %1, %2, %3}, [%4, {%5}];"             \
                                 : "=" reg(x), "=" reg(y), "=" reg(z), "=" reg(w)                  \
                                 : "l"(t), "r"(i));                                                \
            return make(x, y, z, w);                                                               \
        }                                                                                          \
        static __device__ type fetch_1d(cudaTextureObject_t t, float a) {                          \
            raw x, y, z, w;                                                                        \
            __asm__ __volatile__("tex.1d.v4." ptx ".f32 {%0, %1, %2, %3}, [%4, {%5}];"             \
                                 : "=" reg(x), "=" reg(y), "=" reg(z), "=" reg(w)                  \
                                 : "l"(t), "f"(a));                                                \
            return make(x, y, z, w);                                                               \
        }                                                                                          \
        static __device__ type fetch_2d(cudaTextureObject_t t, float a, float b) {                 \
            raw x, y, z, w;                                                                        \
            __asm__ __volatile__("tex.2d.v4." ptx ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"         \
                                 : "=" reg(x), "=" reg(y), "=" reg(z), "=" reg(w)                  \
                                 : "l"(t), "f"(a), "f"(b));                                        \
            return make(x, y, z, w);                                                               \
        }                                                                                          \
        static __device__ type fetch_3d(cudaTextureObject_t t, float a, float b, float c) {        \
            raw x, y, z, w;                                                                        \
            __asm__ __volatile__("tex.3d.v4." ptx ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];" \
                                 : "=" reg(x), "=" reg(y), "=" reg(z), "=" reg(w)                  \
                                 : "l"(t), "f"(a), "f"(b), "f"(c));                                \
            return make(x, y, z, w);                                                               \
        }                                                                                          \
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
template <class T> MINIGPU_TEXTURE void tex1Dfetch(T *value, cudaTextureObject_t t, int i) {
    *value = tex1Dfetch<T>(t, i);
}
template <class T> MINIGPU_TEXTURE void tex2D(T *value, cudaTextureObject_t t, float x, float y) {
    *value = tex2D<T>(t, x, y);
}

#undef MINIGPU_TEXTURE

#endif
