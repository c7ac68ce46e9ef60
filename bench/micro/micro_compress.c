/* Register compression against memcpy of the same bytes, LZ4 and zstd level 1, at the size of a block (16 KB), of a
 * Fermi SM (128 KB) and of a GPU (32 MB), on two synthetic mixes. A block is 8 warps of 16 registers of 32 lanes: 16
 * KB.
 *
 * - live: Lin Fig 2.8 after liveness: half uniform, 40% strided, 10% random
 * - random: half random (floats with common high bits), a quarter uniform, a quarter strided: hard for every compressor
 *
 * Allowed are RAW and WARP. From 32 MB on, restores bypass the caches.
 *
 * - compress_<mix>_<path>_save: plain C, AVX2 or the best available path, against memcpy
 * - compress_<mix>_lz4, _zstd: the best path against theirs
 * - compress_bound_read, _write: lower bounds of every save and restore: each byte read once, and each byte written
 *   once (memset)
 *
 * Both sides of a row report how many bytes they read, so the frame checks that they did the same work. The compressed
 * sizes go to standard error. */
#include "micro/compress_scene.h"

enum { WARPS = 8, REGISTERS = 16, LANES = 32, BLOCK_WORDS = WARPS * REGISTERS * LANES };

static void *mix(uint64_t size, int random_half, uint32_t flags, int rival) {
    scene *s = (scene *)calloc(1, sizeof *s);
    uint64_t random = 11;
    if (!s || gpump_compress_layout_init(&s->layout, WARPS * LANES, REGISTERS, LANES, 256, NULL) != GPUMP_OK)
        return NULL;
    s->allow = GPUMP_COMPRESS_ALLOW_RAW | GPUMP_COMPRESS_ALLOW_WARP;
    s->flags = flags;
    s->name = random_half ? "random mix" : "live mix";
    s->blocks = (size_t)size / (BLOCK_WORDS * 4);
    if (!scene_room(s)) return NULL;
    for (size_t b = 0; b < s->blocks; b++)
        for (uint32_t r = 0; r < REGISTERS; r++) {
            /* The pattern depends on the register, the values on block and warp, as in a kernel. */
            uint32_t kind = (uint32_t)(r * 37 % 20);
            int uniform = random_half ? kind < 5 : kind < 10,
                strided = random_half ? kind >= 5 && kind < 10 : kind >= 10 && kind < 18;
            for (uint32_t w = 0; w < WARPS; w++) {
                uint32_t *v = s->values + b * BLOCK_WORDS + (w * REGISTERS + r) * LANES,
                         base = (uint32_t)gpump_random_next(&random);
                for (uint32_t i = 0; i < LANES; i++)
                    v[i] = uniform   ? base
                           : strided ? base + 4 * i
                                     : 0x3f800000u | ((uint32_t)gpump_random_next(&random) & 0x7fffffu);
            }
        }
    return scene_ready(s, rival);
}

typedef uint64_t piece __attribute__((vector_size(32), may_alias));
__attribute__((always_inline)) static inline void read_all(const scene *s) {
    const piece *at = (const piece *)(const void *)s->values, *end = at + s->total / sizeof *at;
    piece a = {0, 0, 0, 0}, b = a, c = a, d = a;
    for (; at < end; at += 4) {
        a |= at[0];
        b |= at[1];
        c |= at[2];
        d |= at[3];
    }
    a |= b | c | d;
    __asm__ volatile("" : : "m"(a));
}
#ifdef __x86_64__
__attribute__((target("avx2"))) static void read_avx2(const scene *s) { read_all(s); }
static int have_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
static void read_avx2(const scene *s) { read_all(s); }
static int have_avx2(void) { return 0; }
#endif
static uint64_t run_read(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t sum = 0;
    for (; operations--; sum += s->total) have_avx2() ? read_avx2(s) : read_all(s);
    return sum;
}
static uint64_t run_write(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t sum = 0;
    for (; operations--; sum += s->total) {
        memset(s->back, (int)operations, s->total);
        __asm__ volatile("" ::: "memory");
    }
    return sum;
}

static void *live_plain(uint64_t size) { return mix(size, 0, GPUMP_COMPRESS_PLAIN, 0); }
static void *live_avx2(uint64_t size) { return mix(size, 0, GPUMP_COMPRESS_AVX2, 0); }
static void *live_best(uint64_t size) { return mix(size, 0, 0, 0); }
static void *random_plain(uint64_t size) { return mix(size, 1, GPUMP_COMPRESS_PLAIN, 0); }
static void *random_avx2(uint64_t size) { return mix(size, 1, GPUMP_COMPRESS_AVX2, 0); }
static void *random_best(uint64_t size) { return mix(size, 1, 0, 0); }
#if BENCH_RIVALS
static void *live_lz4(uint64_t size) { return mix(size, 0, 0, 1); }
static void *live_zstd(uint64_t size) { return mix(size, 0, 0, 2); }
static void *random_lz4(uint64_t size) { return mix(size, 1, 0, 1); }
static void *random_zstd(uint64_t size) { return mix(size, 1, 0, 2); }
#endif

static const uint64_t sizes[] = {16384, 131072, 33554432, 0};

#define MIX(mix)                                                                                                     \
    {"compress_" #mix "_plain_save", "plain C", "memcpy", sizes, mix##_plain, run_save, run_memcpy, scene_free},     \
        {"compress_" #mix "_plain_restore",                                                                          \
         "plain C",                                                                                                  \
         "memcpy",                                                                                                   \
         sizes,                                                                                                      \
         mix##_plain,                                                                                                \
         run_restore,                                                                                                \
         run_memcpy,                                                                                                 \
         scene_free},                                                                                                \
        {"compress_" #mix "_avx2_save",                                                                              \
         "AVX2 where there is one",                                                                                  \
         "memcpy",                                                                                                   \
         sizes,                                                                                                      \
         mix##_avx2,                                                                                                 \
         run_save,                                                                                                   \
         run_memcpy,                                                                                                 \
         scene_free},                                                                                                \
        {"compress_" #mix "_avx2_restore",                                                                           \
         "AVX2 where there is one",                                                                                  \
         "memcpy",                                                                                                   \
         sizes,                                                                                                      \
         mix##_avx2,                                                                                                 \
         run_restore,                                                                                                \
         run_memcpy,                                                                                                 \
         scene_free},                                                                                                \
        {"compress_" #mix "_best_save",                                                                              \
         "the best there is",                                                                                        \
         "memcpy",                                                                                                   \
         sizes,                                                                                                      \
         mix##_best,                                                                                                 \
         run_save,                                                                                                   \
         run_memcpy,                                                                                                 \
         scene_free},                                                                                                \
    {                                                                                                                \
        "compress_" #mix "_best_restore", "the best there is", "memcpy", sizes, mix##_best, run_restore, run_memcpy, \
            scene_free                                                                                               \
    }
#if BENCH_RIVALS
#define MIX_RIVALS(mix)                                                                                               \
    {"compress_" #mix "_best_save_lz4", "the best there is", "LZ4", sizes, mix##_lz4, run_save, run_lz4, scene_free}, \
        {"compress_" #mix "_best_restore_lz4",                                                                        \
         "the best there is",                                                                                         \
         "LZ4",                                                                                                       \
         sizes,                                                                                                       \
         mix##_lz4,                                                                                                   \
         run_restore,                                                                                                 \
         run_unlz4,                                                                                                   \
         scene_free},                                                                                                 \
        {"compress_" #mix "_best_save_zstd",                                                                          \
         "the best there is",                                                                                         \
         "zstd -1",                                                                                                   \
         sizes,                                                                                                       \
         mix##_zstd,                                                                                                  \
         run_save,                                                                                                    \
         run_zstd,                                                                                                    \
         scene_free},                                                                                                 \
    {                                                                                                                 \
        "compress_" #mix "_best_restore_zstd", "the best there is", "zstd -1", sizes, mix##_zstd, run_restore,        \
            run_unzstd, scene_free                                                                                    \
    }
#endif
const micro_case micro_compress[] = {
    {"compress_bound_read", "every byte read", "memcpy", sizes, live_plain, run_read, run_memcpy, scene_free},
    {"compress_bound_write", "every byte written", "memcpy", sizes, live_plain, run_write, run_memcpy, scene_free},
    MIX(live),
    MIX(random),
#if BENCH_RIVALS
    MIX_RIVALS(live),
    MIX_RIVALS(random),
#endif
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
