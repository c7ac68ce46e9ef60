/* link: lz4 zstd */
/* Register compression against memcpy of the same bytes, LZ4 and zstd level 1, at the size of a block (16 KB), of a Fermi SM
 * (128 KB) and of a GPU (32 MB), on two synthetic mixes. A block: 8 warps of 16 registers of 32 lanes, as 16 KB.
 *   live     what Lin Fig 2.8 sees after liveness: half uniform, 40% strided, 10% random
 *   random   half random (floats with common high bits), a quarter uniform, a quarter strided: hard for anyone
 * compress_<mix>_<path>_save      plain C or AVX2 against memcpy     compress_<mix>_lz4, _zstd     AVX2's bytes against theirs
 * Both sides of a row report how many bytes went in, so the frame sees that they did the same. How small each got them goes to
 * standard error. */
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "gpump.h"
#include "micro.h"

enum { WARPS = 8, REGISTERS = 16, LANES = 32, BLOCK_WORDS = WARPS * REGISTERS * LANES };

typedef struct scene {
    gpump_compress_layout layout;
    uint32_t *values, *back;
    unsigned char *out, *other;
    size_t *bytes;
    uint32_t *form;
    size_t blocks, room, total, other_bytes;
    uint32_t flags;
    int random_half;
} scene;

static void scene_free(void *state) {
    scene *s = (scene *)state;
    free(s->values);
    free(s->back);
    free(s->out);
    free(s->other);
    free(s->bytes);
    free(s->form);
    free(s);
}

static scene *scene_make(uint64_t size, int random_half, uint32_t flags) {
    scene *s = (scene *)calloc(1, sizeof *s);
    uint64_t random = 11;
    if (!s || gpump_compress_layout_init(&s->layout, WARPS * LANES, REGISTERS, LANES, 256, NULL) != GPUMP_OK) return NULL;
    s->flags = flags;
    s->random_half = random_half;
    s->blocks = (size_t)size / (BLOCK_WORDS * 4);
    s->total = s->blocks * BLOCK_WORDS * 4;
    if (gpump_compress_bound(&s->layout, &s->room, NULL) != GPUMP_OK) return NULL;
    s->values = (uint32_t *)malloc(s->total);
    s->back = (uint32_t *)malloc(s->total);
    s->out = (unsigned char *)malloc(s->blocks * s->room);
    s->other = (unsigned char *)malloc((size_t)ZSTD_compressBound(s->total) + (size_t)LZ4_compressBound((int)s->total));
    s->bytes = (size_t *)calloc(s->blocks, sizeof *s->bytes);
    s->form = (uint32_t *)calloc(s->blocks, sizeof *s->form);
    if (!s->values || !s->back || !s->out || !s->other || !s->bytes || !s->form) return NULL;
    for (size_t b = 0; b < s->blocks; b++)
        for (uint32_t r = 0; r < REGISTERS; r++) {
            /* The pattern belongs to the register, the values to block and warp, as in a kernel. */
            uint32_t kind = (uint32_t)(r * 37 % 20);
            int uniform = random_half ? kind < 5 : kind < 10, strided = random_half ? kind >= 5 && kind < 10 : kind >= 10 && kind < 18;
            for (uint32_t w = 0; w < WARPS; w++) {
                uint32_t *v = s->values + b * BLOCK_WORDS + (w * REGISTERS + r) * LANES, base = (uint32_t)gpump_random_next(&random);
                for (uint32_t i = 0; i < LANES; i++)
                    v[i] = uniform ? base : strided ? base + 4 * i : 0x3f800000u | ((uint32_t)gpump_random_next(&random) & 0x7fffffu);
            }
        }
    memset(s->back, 1, s->total); /* touched, so that no page fault is timed */
    return s;
}

static uint64_t run_save(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t sum = 0;
    while (operations--)
        for (size_t b = 0; b < s->blocks; b++) {
            if (gpump_compress_save(&s->layout, s->values + b * BLOCK_WORDS, NULL, GPUMP_COMPRESS_ALLOW_RAW | GPUMP_COMPRESS_ALLOW_WARP | s->flags,
                                    s->out + b * s->room, s->room, &s->bytes[b], &s->form[b], NULL) != GPUMP_OK)
                return 0;
            sum += BLOCK_WORDS * 4;
        }
    return sum;
}
static uint64_t run_restore(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t sum = 0;
    while (operations--)
        for (size_t b = 0; b < s->blocks; b++) {
            if (gpump_compress_restore(&s->layout, s->form[b], s->flags, s->out + b * s->room, s->bytes[b], s->back + b * BLOCK_WORDS, NULL) != GPUMP_OK)
                return 0;
            sum += BLOCK_WORDS * 4;
        }
    return sum;
}
static uint64_t run_memcpy(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t sum = 0;
    while (operations--)
        for (size_t b = 0; b < s->blocks; b++) {
            memcpy(s->back + b * BLOCK_WORDS, s->values + b * BLOCK_WORDS, BLOCK_WORDS * 4);
            sum += BLOCK_WORDS * 4;
            __asm__ volatile("" ::: "memory");
        }
    return sum;
}
static uint64_t run_lz4(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t sum = 0;
    while (operations--) {
        s->other_bytes = (size_t)LZ4_compress_default((const char *)s->values, (char *)s->other, (int)s->total, LZ4_compressBound((int)s->total));
        sum += s->other_bytes ? s->total : 0;
    }
    return sum;
}
static uint64_t run_unlz4(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t sum = 0;
    while (operations--) sum += (uint64_t)LZ4_decompress_safe((const char *)s->other, (char *)s->back, (int)s->other_bytes, (int)s->total);
    return sum;
}
static uint64_t run_zstd(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t sum = 0;
    while (operations--) {
        s->other_bytes = ZSTD_compress(s->other, ZSTD_compressBound(s->total), s->values, s->total, 1);
        sum += ZSTD_isError(s->other_bytes) ? 0 : s->total;
    }
    return sum;
}
static uint64_t run_unzstd(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t sum = 0;
    while (operations--) sum += ZSTD_decompress(s->back, s->total, s->other, s->other_bytes);
    return sum;
}

/* Says once per size how small each got it, and prepares what the restore rows read. */
static void *prepared(scene *s, int rival) {
    size_t ours = 0;
    if (!s || !run_save(s, 1)) return NULL;
    for (size_t b = 0; b < s->blocks; b++) ours += s->bytes[b];
    if (rival == 1) run_lz4(s, 1);
    if (rival == 2) run_zstd(s, 1);
    if (rival)
        fprintf(stderr, "  %s mix, %zu bytes: gpump %.1f%%, %s %.1f%%\n", s->random_half ? "random" : "live", s->total, 100.0 * (double)ours / (double)s->total,
                rival == 1 ? "LZ4" : "zstd -1", 100.0 * (double)s->other_bytes / (double)s->total);
    return s;
}
static void *live_plain(uint64_t size) { return prepared(scene_make(size, 0, GPUMP_COMPRESS_PLAIN), 0); }
static void *live_avx2(uint64_t size) { return prepared(scene_make(size, 0, 0), 0); }
static void *live_lz4(uint64_t size) { return prepared(scene_make(size, 0, 0), 1); }
static void *live_zstd(uint64_t size) { return prepared(scene_make(size, 0, 0), 2); }
static void *random_plain(uint64_t size) { return prepared(scene_make(size, 1, GPUMP_COMPRESS_PLAIN), 0); }
static void *random_avx2(uint64_t size) { return prepared(scene_make(size, 1, 0), 0); }
static void *random_lz4(uint64_t size) { return prepared(scene_make(size, 1, 0), 1); }
static void *random_zstd(uint64_t size) { return prepared(scene_make(size, 1, 0), 2); }

static const uint64_t sizes[] = {16384, 131072, 33554432, 0};

#define MIX(mix)                                                                                                                   \
    {"compress_" #mix "_plain_save", "plain C", "memcpy", sizes, mix##_plain, run_save, run_memcpy, scene_free},                   \
    {"compress_" #mix "_plain_restore", "plain C", "memcpy", sizes, mix##_plain, run_restore, run_memcpy, scene_free},             \
    {"compress_" #mix "_best_save", "AVX2 where there is one", "memcpy", sizes, mix##_avx2, run_save, run_memcpy, scene_free},     \
    {"compress_" #mix "_best_restore", "AVX2 where there is one", "memcpy", sizes, mix##_avx2, run_restore, run_memcpy, scene_free}, \
    {"compress_" #mix "_best_save_lz4", "AVX2 where there is one", "LZ4", sizes, mix##_lz4, run_save, run_lz4, scene_free},        \
    {"compress_" #mix "_best_restore_lz4", "AVX2 where there is one", "LZ4", sizes, mix##_lz4, run_restore, run_unlz4, scene_free}, \
    {"compress_" #mix "_best_save_zstd", "AVX2 where there is one", "zstd -1", sizes, mix##_zstd, run_save, run_zstd, scene_free}, \
    {"compress_" #mix "_best_restore_zstd", "AVX2 where there is one", "zstd -1", sizes, mix##_zstd, run_restore, run_unzstd, scene_free}
const micro_case micro_compress[] = {MIX(live), MIX(random), {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
