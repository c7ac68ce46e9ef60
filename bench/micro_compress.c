/* link: lz4 zstd */
/* Register compression against memcpy of the same bytes, LZ4 and zstd level 1, at the size of a block (16 KB), of a Fermi SM
 * (128 KB) and of a GPU (32 MB), on two synthetic mixes. A block: 8 warps of 16 registers of 32 lanes, as 16 KB.
 *   live     what Lin Fig 2.8 sees after liveness: half uniform, 40% strided, 10% random
 *   random   half random (floats with common high bits), a quarter uniform, a quarter strided: hard for anyone
 * compress_<mix>_<path>_save      plain C or AVX2 against memcpy     compress_<mix>_lz4, _zstd     AVX2's bytes against theirs
 * Both sides of a row report how many bytes went in, so the frame sees that they did the same. How small each got them goes to
 * standard error. */
#include "compress_scene.h"

enum { WARPS = 8, REGISTERS = 16, LANES = 32, BLOCK_WORDS = WARPS * REGISTERS * LANES };

static void *mix(uint64_t size, int random_half, uint32_t flags, int rival) {
    scene *s = (scene *)calloc(1, sizeof *s);
    uint64_t random = 11;
    if (!s || gpump_compress_layout_init(&s->layout, WARPS * LANES, REGISTERS, LANES, 256, NULL) != GPUMP_OK) return NULL;
    s->allow = GPUMP_COMPRESS_ALLOW_RAW | GPUMP_COMPRESS_ALLOW_WARP;
    s->flags = flags;
    s->name = random_half ? "random mix" : "live mix";
    s->blocks = (size_t)size / (BLOCK_WORDS * 4);
    if (!scene_room(s)) return NULL;
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
    return scene_ready(s, rival);
}

static void *live_plain(uint64_t size) { return mix(size, 0, GPUMP_COMPRESS_PLAIN, 0); }
static void *live_avx2(uint64_t size) { return mix(size, 0, 0, 0); }
static void *live_lz4(uint64_t size) { return mix(size, 0, 0, 1); }
static void *live_zstd(uint64_t size) { return mix(size, 0, 0, 2); }
static void *random_plain(uint64_t size) { return mix(size, 1, GPUMP_COMPRESS_PLAIN, 0); }
static void *random_avx2(uint64_t size) { return mix(size, 1, 0, 0); }
static void *random_lz4(uint64_t size) { return mix(size, 1, 0, 1); }
static void *random_zstd(uint64_t size) { return mix(size, 1, 0, 2); }

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
