/* link: minigpu_core */
/* Register compression on contexts taken from the mini-GPU: the registers of all blocks on the GPU in the middle of a
 * kernel's run, with the live mask of each warp at its PC, repeated up to the size. LZ4 and zstd get the same
 * registers, dead ones included, because they have no liveness. Allowed are RAW and WARP, the quickest forms; in the
 * rows called near RAW and NEAR, the smallest. Sizes go to standard error. */
#include "micro/compress_scene.h"
#include "preemption/context_forms.h"
#include "machine/machine.h"

static void *taken(const char *kernel_name, uint64_t size, uint32_t allow, uint32_t flags, int rival) {
    char path[1024], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    context_view *view = NULL;
    machine *m;
    const kernel *k;
    scene *s = (scene *)calloc(1, sizeof *s);
    size_t block_bytes, n = 0, found = 0;
    snprintf(path, sizeof path, "%s/kernels/%s/launch.yaml", MINIGPU_SOURCE_DIR, kernel_name);
    if (!s || launch_file_read(&launch, path, error)) return NULL;
    machine_options_default(&options);
    options.context_form = CONTEXT_LIVE;
    if (!(m = machine_build(&launch, &options, error))) return NULL;
    if (machine_run(m, 5000) != 0 || !(view = context_view_create(m->kernels[0].program, error))) return NULL;
    k = &m->kernels[0];
    if (gpump_compress_layout_init(&s->layout, k->need.threads, k->registers, LANES, launch.kernels[0].block[0],
                                   NULL) != GPUMP_OK)
        return NULL;
    s->allow = GPUMP_COMPRESS_ALLOW_RAW | allow;
    s->flags = flags;
    s->name = kernel_name;
    block_bytes = (size_t)s->layout.warps * s->layout.warp_stride * 4;
    s->blocks = size / block_bytes ? (size_t)size / block_bytes : 1;
    s->live_words = (size_t)s->layout.warps * ((k->registers + 63) / 64);
    s->layout.live_stride = (k->registers + 63) / 64;
    s->live = (uint64_t *)calloc(s->blocks * s->live_words, sizeof *s->live);
    if (!s->live || !scene_room(s)) return NULL;
    while (n < s->blocks) {
        for (uint32_t i = 0; i < m->block_count && n < s->blocks; i++) {
            const block *b = &m->blocks[i];
            if (!b->life) continue;
            found++;
            for (uint32_t w = 0; w < b->warp_count; w++) {
                const warp *one = &m->warps[b->warps[w]];
                uint64_t live[CONTEXT_LIVE_WORDS];
                memcpy(s->values + n * s->block_words + (size_t)w * s->layout.warp_stride, warp_registers(m, b, one),
                       (size_t)k->registers * LANES * 4);
                if (!one->stack.depth) continue;
                context_live(view, k, one, live);
                memcpy(s->live + n * s->live_words + (size_t)w * s->layout.live_stride, live,
                       s->layout.live_stride * sizeof *live);
            }
            n++;
        }
        if (!found) return NULL;
    }
    context_view_free(view);
    machine_free(m);
    launch_file_free(&launch);
    return scene_ready(s, rival);
}

#define KERNEL(name)                                                                                        \
    static void *name##_plain(uint64_t size) {                                                              \
        return taken(#name, size, GPUMP_COMPRESS_ALLOW_WARP, GPUMP_COMPRESS_PLAIN, 0);                      \
    }                                                                                                       \
    static void *name##_avx2(uint64_t size) {                                                               \
        return taken(#name, size, GPUMP_COMPRESS_ALLOW_WARP, GPUMP_COMPRESS_AVX2, 0);                       \
    }                                                                                                       \
    static void *name##_best(uint64_t size) { return taken(#name, size, GPUMP_COMPRESS_ALLOW_WARP, 0, 0); } \
    static void *name##_near(uint64_t size) { return taken(#name, size, GPUMP_COMPRESS_ALLOW_NEAR, 0, 0); } \
    static void *name##_near_plain(uint64_t size) {                                                         \
        return taken(#name, size, GPUMP_COMPRESS_ALLOW_NEAR, GPUMP_COMPRESS_PLAIN, 0);                      \
    }
#define KERNEL_RIVALS(name)                                                                                 \
    static void *name##_lz4(uint64_t size) { return taken(#name, size, GPUMP_COMPRESS_ALLOW_WARP, 0, 1); }  \
    static void *name##_zstd(uint64_t size) { return taken(#name, size, GPUMP_COMPRESS_ALLOW_WARP, 0, 2); } \
    static void *name##_near_lz4(uint64_t size) { return taken(#name, size, GPUMP_COMPRESS_ALLOW_NEAR, 0, 1); }
KERNEL(hotspot)
KERNEL(btree_find_k)
KERNEL(srad_1)
#if BENCH_RIVALS
KERNEL_RIVALS(hotspot)
KERNEL_RIVALS(btree_find_k)
KERNEL_RIVALS(srad_1)
#endif

static const uint64_t sizes[] = {131072, 0};

#define ROWS(name)                                                                                                 \
    {"compress_" #name "_plain_save", "plain C", "memcpy", sizes, name##_plain, run_save, run_memcpy, scene_free}, \
        {"compress_" #name "_plain_restore",                                                                       \
         "plain C",                                                                                                \
         "memcpy",                                                                                                 \
         sizes,                                                                                                    \
         name##_plain,                                                                                             \
         run_restore,                                                                                              \
         run_memcpy,                                                                                               \
         scene_free},                                                                                              \
        {"compress_" #name "_avx2_save",                                                                           \
         "AVX2 where there is one",                                                                                \
         "memcpy",                                                                                                 \
         sizes,                                                                                                    \
         name##_avx2,                                                                                              \
         run_save,                                                                                                 \
         run_memcpy,                                                                                               \
         scene_free},                                                                                              \
        {"compress_" #name "_avx2_restore",                                                                        \
         "AVX2 where there is one",                                                                                \
         "memcpy",                                                                                                 \
         sizes,                                                                                                    \
         name##_avx2,                                                                                              \
         run_restore,                                                                                              \
         run_memcpy,                                                                                               \
         scene_free},                                                                                              \
        {"compress_" #name "_best_save",                                                                           \
         "the best there is",                                                                                      \
         "memcpy",                                                                                                 \
         sizes,                                                                                                    \
         name##_best,                                                                                              \
         run_save,                                                                                                 \
         run_memcpy,                                                                                               \
         scene_free},                                                                                              \
        {"compress_" #name "_best_restore",                                                                        \
         "the best there is",                                                                                      \
         "memcpy",                                                                                                 \
         sizes,                                                                                                    \
         name##_best,                                                                                              \
         run_restore,                                                                                              \
         run_memcpy,                                                                                               \
         scene_free},                                                                                              \
        {"compress_" #name "_near_save",                                                                           \
         "the best there is",                                                                                      \
         "memcpy",                                                                                                 \
         sizes,                                                                                                    \
         name##_near,                                                                                              \
         run_save,                                                                                                 \
         run_memcpy,                                                                                               \
         scene_free},                                                                                              \
        {"compress_" #name "_near_restore",                                                                        \
         "the best there is",                                                                                      \
         "memcpy",                                                                                                 \
         sizes,                                                                                                    \
         name##_near,                                                                                              \
         run_restore,                                                                                              \
         run_memcpy,                                                                                               \
         scene_free},                                                                                              \
        {"compress_" #name "_near_plain_save",                                                                     \
         "plain C",                                                                                                \
         "memcpy",                                                                                                 \
         sizes,                                                                                                    \
         name##_near_plain,                                                                                        \
         run_save,                                                                                                 \
         run_memcpy,                                                                                               \
         scene_free},                                                                                              \
    {                                                                                                              \
        "compress_" #name "_near_plain_restore", "plain C", "memcpy", sizes, name##_near_plain, run_restore,       \
            run_memcpy, scene_free                                                                                 \
    }
#if BENCH_RIVALS
#define ROWS_RIVALS(name)                                                                                       \
    {                                                                                                           \
        "compress_" #name "_best_save_lz4",                                                                     \
        "the best there is",                                                                                    \
        "LZ4",                                                                                                  \
        sizes,                                                                                                  \
        name##_lz4,                                                                                             \
        run_save,                                                                                               \
        run_lz4,                                                                                                \
        scene_free},                                                                                            \
        {"compress_" #name "_best_restore_lz4",                                                                 \
         "the best there is",                                                                                   \
         "LZ4",                                                                                                 \
         sizes,                                                                                                 \
         name##_lz4,                                                                                            \
         run_restore,                                                                                           \
         run_unlz4,                                                                                             \
         scene_free},                                                                                           \
        {"compress_" #name "_best_save_zstd",                                                                   \
         "the best there is",                                                                                   \
         "zstd -1",                                                                                             \
         sizes,                                                                                                 \
         name##_zstd,                                                                                           \
         run_save,                                                                                              \
         run_zstd,                                                                                              \
         scene_free},                                                                                           \
        {"compress_" #name "_best_restore_zstd",                                                                \
         "the best there is",                                                                                   \
         "zstd -1",                                                                                             \
         sizes,                                                                                                 \
         name##_zstd,                                                                                           \
         run_restore,                                                                                           \
         run_unzstd,                                                                                            \
         scene_free},                                                                                           \
        {"compress_" #name "_near_save_lz4",                                                                    \
         "the best there is",                                                                                   \
         "LZ4",                                                                                                 \
         sizes,                                                                                                 \
         name##_near_lz4,                                                                                       \
         run_save,                                                                                              \
         run_lz4,                                                                                               \
         scene_free},                                                                                           \
    {                                                                                                           \
        "compress_" #name "_near_restore_lz4", "the best there is", "LZ4", sizes, name##_near_lz4, run_restore, \
            run_unlz4, scene_free                                                                               \
    }
#endif
const micro_case micro_compress_taken[] = {ROWS(hotspot),
                                           ROWS(btree_find_k),
                                           ROWS(srad_1),
#if BENCH_RIVALS
                                           ROWS_RIVALS(hotspot),
                                           ROWS_RIVALS(btree_find_k),
                                           ROWS_RIVALS(srad_1),
#endif
                                           {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
