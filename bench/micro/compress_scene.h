/* compress_scene: register contents, and gpump, memcpy, LZ4 and zstd level 1 (where both are installed, BENCH_RIVALS)
 * at work on them; for micro_compress.c and micro_compress_taken.c. All blocks of a scene have one layout; values holds
 * them one after the other, without gaps, and so does out. memcpy, LZ4 and zstd get all of it in one call. Registers
 * start at a multiple of 64 bytes, where memcpy is quickest. */
#ifndef BENCH_COMPRESS_SCENE_H
#define BENCH_COMPRESS_SCENE_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if BENCH_RIVALS
#include <lz4.h>
#include <zstd.h>
#endif
#include "gpump_once.h"
#include "micro.h"

/* Returns the size from which on restores bypass the caches: that of the last-level cache, where the system tells it.
 */
static size_t beyond_caches(void) {
#ifdef _SC_LEVEL3_CACHE_SIZE
    const long last = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (last > 0) return (size_t)last;
#endif
    return (size_t)32 << 20;
}

typedef struct scene {
    gpump_compress_layout layout;
    uint32_t *values, *back;
    uint64_t *live;    /* live masks of all blocks, one after the other; NULL: all live */
    size_t live_words; /* of a block */
    unsigned char *out, *other;
    size_t *bytes, *at; /* of each block: length, and offset in out */
    uint32_t *form;
    size_t blocks, block_words, room, total, other_bytes;
    uint32_t allow, flags;
    const char *name;
} scene;

static void scene_free(void *state) {
    scene *s = (scene *)state;
    free(s->values);
    free(s->back);
    free(s->live);
    free(s->out);
    free(s->other);
    free(s->bytes);
    free(s->at);
    free(s->form);
    free(s);
}

static void *scene_memory(size_t bytes) {
    void *memory = NULL;
    return posix_memalign(&memory, 64, bytes) ? NULL : memory;
}

/* Bytes that LZ4 and zstd may need for their results. */
static size_t scene_rivals_room(const scene *s) {
#if BENCH_RIVALS
    return (size_t)ZSTD_compressBound(s->total) + (size_t)LZ4_compressBound((int)s->total);
#else
    return s->total;
#endif
}

/* Allocates all memory from s->layout and s->blocks. Returns 0 when memory is out. */
static int scene_room(scene *s) {
    s->block_words = (size_t)s->layout.warps * s->layout.warp_stride;
    s->total = s->blocks * s->block_words * 4;
    if (gpump_compress_bound(&s->layout, &s->room, NULL) != GPUMP_OK) return 0;
    s->values = (uint32_t *)scene_memory(s->total);
    s->back = (uint32_t *)scene_memory(s->total);
    s->out = (unsigned char *)scene_memory(s->blocks * s->room);
    s->other = (unsigned char *)malloc(scene_rivals_room(s));
    s->bytes = (size_t *)calloc(s->blocks, sizeof *s->bytes);
    s->at = (size_t *)calloc(s->blocks + 1, sizeof *s->at);
    s->form = (uint32_t *)calloc(s->blocks, sizeof *s->form);
    if (!s->values || !s->back || !s->out || !s->other || !s->bytes || !s->at || !s->form) return 0;
    if (s->total >= beyond_caches()) s->flags |= GPUMP_COMPRESS_AROUND;
    memset(s->back, 1, s->total); /* touched, so that no page fault is timed */
    memset(s->out, 1, s->blocks * s->room);
    return 1;
}

static uint64_t run_save(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t sum = 0;
    while (operations--)
        for (size_t b = 0; b < s->blocks; b++) {
            if (gpump_compress_save(&s->layout, s->values + b * s->block_words,
                                    s->live ? s->live + b * s->live_words : NULL, s->allow | s->flags,
                                    s->out + s->at[b], s->room, &s->bytes[b], &s->form[b], NULL) != GPUMP_OK)
                return 0;
            s->at[b + 1] = s->at[b] + s->bytes[b];
            sum += s->block_words * 4;
        }
    return sum;
}
static uint64_t run_restore(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t sum = 0;
    while (operations--)
        for (size_t b = 0; b < s->blocks; b++) {
            if (gpump_compress_restore(&s->layout, s->form[b], s->flags, s->out + s->at[b], s->bytes[b],
                                       s->back + b * s->block_words, NULL) != GPUMP_OK)
                return 0;
            sum += s->block_words * 4;
        }
    return sum;
}
static uint64_t run_memcpy(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t sum = 0;
    while (operations--) {
        memcpy(s->back, s->values, s->total);
        sum += s->total;
        __asm__ volatile("" ::: "memory");
    }
    return sum;
}
#if BENCH_RIVALS
static uint64_t run_lz4(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t sum = 0;
    while (operations--) {
        s->other_bytes = (size_t)LZ4_compress_default((const char *)s->values, (char *)s->other, (int)s->total,
                                                      LZ4_compressBound((int)s->total));
        sum += s->other_bytes ? s->total : 0;
    }
    return sum;
}
static uint64_t run_unlz4(void *state, uint64_t operations) {
    scene *s = (scene *)state;
    uint64_t sum = 0;
    while (operations--)
        sum +=
            (uint64_t)LZ4_decompress_safe((const char *)s->other, (char *)s->back, (int)s->other_bytes, (int)s->total);
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
#endif

/* Prints the compressed sizes, and prepares what the restore rows read. rival: 0 none, 1 LZ4, 2 zstd. */
static void *scene_ready(scene *s, int rival) {
    size_t ours = 0;
    if (!s || !run_save(s, 1)) return NULL;
    for (size_t b = 0; b < s->blocks; b++) ours += s->bytes[b];
#if BENCH_RIVALS
    if (rival == 1) run_lz4(s, 1);
    if (rival == 2) run_zstd(s, 1);
#endif
    if (rival)
        fprintf(stderr, "  %s, %zu bytes: gpump %.1f%%, %s %.1f%%\n", s->name, s->total,
                100.0 * (double)ours / (double)s->total, rival == 1 ? "LZ4" : "zstd -1",
                100.0 * (double)s->other_bytes / (double)s->total);
    return s;
}
#endif
