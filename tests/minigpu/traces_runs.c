/* labels: unit link: minigpu_core */
/* Two things that the reader of traces keeps as runs: the words of a segment of global memory that one warp writes, and
 * lines of a warp that are those of the same warp in the block before. What is seen, read and refused must be the same
 * as without them. */
#define _GNU_SOURCE
#include "test.h"

#include <unistd.h>

#include "machine/machine.h"
#include "sass/trace_memory.h"
#include "sass/trace_reader.h"
#include "sass/trace_tags.h"

#define ALL UINT32_MAX
#define STORES 4u
#define FIRST_ADDRESS UINT64_C(0x7f0000000000)
#define BLOCKS 7u
#define ODD_BLOCK 4u /* that departs: three blocks are needed until lines are compared in runs */
#define LINES 64u
#define MOST_BLOCKS 32u

static char path[] = "/tmp/gpump_runs_XXXXXX.traceg";
static uint64_t number; /* of the line that is written */
/* How many depart, one after the other: with two, the second one is what is followed then. */
static uint32_t odd_blocks = 1;
static int is_loop; /* 1: all lines are one instruction, which reads what the line before it has written */
/* A letter for each block: `.` stays, a to d depart at line `at`, e to h at line `at` + 5, w to z at both. NULL: the
 * odd blocks depart at line `at`. Letters of a kind differ by how they depart. */
static const char *kinds;

/* ---- text ---- */

static void put(FILE *file, const char *text) {
    fputs(text, file);
    for (; *text; text++) number += *text == '\n';
}

static FILE *head(uint32_t version, uint32_t blocks, uint32_t threads) {
    FILE *file = fopen(path, "w");
    char text[512];
    assert_non_null(file);
    number = 1;
    snprintf(
        text, sizeof text,
        "-kernel name = made\n-kernel id = 1\n-grid dim = (%u,1,1)\n-block dim = (%u,1,1)\n-shmem = 0\n-nregs = 12\n"
        "-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x00007f4000000000\n"
        "-local mem base_addr = 0x00007f4200000000\n-nvbit version = 1.5\n-accelsim tracer version = %u\n"
        "#traces format = PC mask dest_num ...\n",
        blocks, threads, version);
    put(file, text);
    return file;
}

/* ---- words ---- */

/* A store of a warp: `bytes` of each lane of the mask, from a word on. */
typedef struct store {
    uint32_t block, warp, mask, word, bytes;
} store;

/* Events are letters: 0 and 1, a block begins; x and y, it ends; a to d, its store is executed; A to D, under the lower
 * half of its mask; p to s, as if another warp did it. The results: `.` right, s strange, l lost, o overwritten. */
typedef struct memory_case {
    const char *events, *results;
    store stores[STORES];
} memory_case;

static void write_stores(const memory_case *c) {
    FILE *file = head(4, 2, 64);
    char text[256];
    uint32_t block, warp, i;
    for (block = 0; block < 2; block++) {
        snprintf(text, sizeof text, "#BEGIN_TB\nthread block = %u,0,0\n", block);
        put(file, text);
        for (warp = 0; warp < 2; warp++) {
            uint32_t count = 1;
            for (i = 0; i < STORES; i++)
                count += c->stores[i].bytes && c->stores[i].block == block && c->stores[i].warp == warp;
            snprintf(text, sizeof text, "warp = %u\ninsts = %u\n", warp, count);
            put(file, text);
            for (i = 0; i < STORES; i++) {
                const store *s = &c->stores[i];
                if (!s->bytes || s->block != block || s->warp != warp) continue;
                snprintf(text, sizeof text, "00%u0 %08x 0 STG.E%s 2 R2 R8 %u 1 0x%llx %u\n", i, s->mask,
                         s->bytes == 16 ? ".128" : "", s->bytes, (unsigned long long)FIRST_ADDRESS + s->word * 4,
                         s->bytes);
                put(file, text);
            }
            put(file, "0090 ffffffff 0 EXIT 0 0\n");
        }
        put(file, "#END_TB\n");
    }
    fclose(file);
}

static uint32_t lower_half(uint32_t mask) {
    uint32_t n, half = 0;
    for (n = gpump_bits_count64(mask) / 2; n; n--, mask &= mask - 1) half |= mask & (0 - mask);
    return half;
}

/* Executes a case's store. */
static trace_memory_result execute(trace_memory *memory, const trace_kernel *k, trace_block *const blocks[2],
                                   const memory_case *c, char event, int is_row) {
    const uint32_t n = (uint32_t)(event >= 'p' ? event - 'p' : event >= 'a' ? event - 'a' : event - 'A');
    const store *s = &c->stores[n];
    trace_block *b = blocks[s->block];
    uint32_t step = 0, i;
    uint64_t addresses[32];
    trace_memory_access a;
    const trace_step *of;
    for (i = 0; i < n; i++) step += c->stores[i].block == s->block && c->stores[i].warp == s->warp;
    of = &b->warps[s->warp].shared->steps[step];
    trace_addresses(trace_reach_of(b, s->warp, of), of->mask, b->lists, addresses);
    a.addresses = addresses;
    a.instruction = &k->program.instructions[of->instruction];
    a.mask = event < 'a' ? lower_half(of->mask) : of->mask;
    a.step = step;
    a.warp = s->warp;
    a.seed = tags_seed(k->number, b->linear, event >= 'p' ? s->warp + 7 : s->warp);
    a.is_row = is_row && a.mask == ALL && s->bytes == 4;
    return trace_memory_write(memory, b, &a);
}

static void run_memory_case(const memory_case *c, int is_row) {
    static const char letters[] = ".stlo"; /* as trace_memory_result */
    trace_map map = {{0}, 0, 0, TRACE_REGION_BYTES};
    trace_memory *memory = trace_memory_open(&map);
    char error[TRACE_ERROR_BYTES], seen[16] = "";
    trace_kernel k;
    trace_block *blocks[2];
    uint32_t i, warp, step;
    assert_non_null(memory);
    write_stores(c);
    if (trace_kernel_open(&k, path, 1, &map, error)) fail_msg("%s", error);
    for (i = 0; i < 2; i++)
        if (!(blocks[i] = trace_kernel_block(&k, i, error))) fail_msg("%s", error);
    for (i = 0; c->events[i]; i++) {
        const char event = c->events[i];
        trace_memory_result result = TRACE_MEMORY_RIGHT;
        if (event == '0' || event == '1')
            assert_int_equal(trace_memory_begin(memory, &k, blocks[event - '0']), 0);
        else if (event == 'x' || event == 'y')
            result = trace_memory_end(memory, &k, blocks[event - 'x'], &warp, &step);
        else
            result = execute(memory, &k, blocks, c, event, is_row);
        seen[i] = letters[result];
    }
    if (strcmp(seen, c->results)) fail_msg("%s: %s, not %s", c->events, seen, c->results);
    for (i = 0; i < 2; i++) trace_kernel_drop(&k, blocks[i]);
    trace_kernel_close(&k);
    trace_memory_close(memory);
}

static void run_memory_cases(const memory_case *cases, size_t count) {
    size_t i;
    for (i = 0; i < 2 * count; i++) run_memory_case(&cases[i / 2], i % 2);
}

/* One warp writes a whole segment, half of one, or two halves of two: a store that is not executed, not the last one,
 * under a part of its mask or another warp's is seen. */
static void a_segment_of_one_warp_keeps_its_last_store(void **state) {
    static const memory_case cases[] = {
        {"0ax", "...", {{0, 0, ALL, 0, 4}}},
        {"0aax", "....", {{0, 0, ALL, 0, 4}}},
        {"0x", ".l", {{0, 0, ALL, 0, 4}}},
        {"0Ax", ".so", {{0, 0, ALL, 0, 4}}},
        {"0px", ".so", {{0, 0, ALL, 0, 4}}},
        {"0pax", ".s..", {{0, 0, ALL, 0, 4}}},
        {"0abx", "....", {{0, 0, ALL, 0, 4}, {0, 0, ALL, 0, 4}}},
        {"0abax", "....o", {{0, 0, ALL, 0, 4}, {0, 0, ALL, 0, 4}}},
        {"0bax", "...o", {{0, 0, ALL, 0, 4}, {0, 0, ALL, 0, 4}}},
        {"0ax", "...", {{0, 0, ALL, 16, 4}}},
        {"0Ax", "..o", {{0, 0, ALL, 16, 4}}},
        {"0ax", "...", {{0, 0, 0x00ffff00, 8, 4}}},
        {"0Ax", ".so", {{0, 0, 0x00ffff00, 8, 4}}},
        {"0px", ".so", {{0, 0, 0x00ffff00, 8, 4}}},
    };
    (void)state;
    run_memory_cases(cases, sizeof cases / sizeof *cases);
}

/* A second run splits the segment into its words: of the same warp, of another one, of another block, of other lanes.
 */
static void a_second_run_splits_a_segment_into_words(void **state) {
    static const memory_case cases[] = {
        {"0abx", "....", {{0, 0, ALL, 0, 4}, {0, 0, 0xffff, 0, 4}}},
        {"0abax", "....o", {{0, 0, ALL, 0, 4}, {0, 0, 0xffff, 0, 4}}},
        {"0abx", "....", {{0, 0, 0xffff, 0, 4}, {0, 0, ALL, 0, 4}}},
        {"0abax", "....o", {{0, 0, 0xffff, 0, 4}, {0, 0, ALL, 0, 4}}},
        {"0ax", "..l", {{0, 0, ALL, 0, 4}, {0, 0, 0xffff, 0, 4}}},
        {"0abx", "....", {{0, 0, 0xffff, 0, 4}, {0, 0, 0xffff, 16, 4}}},
        {"0bAx", "...o", {{0, 0, 0xffff, 0, 4}, {0, 0, 0xffff, 16, 4}}},
        {"0abx", "....", {{0, 0, ALL, 0, 4}, {0, 0, 3, 0, 16}}},
        {"0abax", "....o", {{0, 0, ALL, 0, 4}, {0, 0, 3, 0, 16}}},
        {"0ax", "...", {{0, 0, 0xff00ff00, 8, 4}}},
        {"0Ax", "..o", {{0, 0, 0xff00ff00, 8, 4}}},
        {"0ax", "...", {{0, 0, 0x0f0f0f0f, 0, 4}}},
        {"0Ax", "..o", {{0, 0, 0x0f0f0f0f, 0, 4}}},
        {"0abx", "....", {{0, 0, ALL, 0, 4}, {0, 1, 0xffff, 0, 4}}}, /* shared: either may be last */
        {"0bax", "....", {{0, 0, ALL, 0, 4}, {0, 1, 0xffff, 0, 4}}},
        {"0bAx", "...o", {{0, 0, ALL, 0, 4}, {0, 1, 0xffff, 0, 4}}},
        {"0bx", "..l", {{0, 0, ALL, 0, 4}, {0, 1, 0xffff, 0, 4}}},
        {"0abx", "....", {{0, 0, 0xffff, 0, 4}, {0, 1, 0xffff, 16, 4}}}, /* side by side */
        {"0aqbx", "..s..", {{0, 0, 0xffff, 0, 4}, {0, 1, 0xffff, 16, 4}}},
        {"0aBx", "...o", {{0, 0, 0xffff, 0, 4}, {0, 1, 0xffff, 16, 4}}},
    };
    (void)state;
    run_memory_cases(cases, sizeof cases / sizeof *cases);
}

/* Blocks that are on the machine at a time share a segment; one that has ended has left nothing in it. */
static void a_segment_of_two_blocks_is_split_and_forgotten(void **state) {
    static const memory_case cases[] = {
        {"0a1bxy", "......", {{0, 0, 0xffff, 0, 4}, {1, 0, 0xffff, 16, 4}}}, /* split after a store */
        {"0A1bxy", ".s..o.", {{0, 0, 0xffff, 0, 4}, {1, 0, 0xffff, 16, 4}}},
        {"01abxy", "......", {{0, 0, 0xffff, 0, 4}, {1, 0, 0xffff, 16, 4}}},
        {"01axby", "......", {{0, 0, 0xffff, 0, 4}, {1, 0, 0xffff, 16, 4}}},
        {"01bxy", "...l.", {{0, 0, 0xffff, 0, 4}, {1, 0, 0xffff, 16, 4}}},
        {"0ab1acxy", "......o.", {{0, 0, 0xffff, 0, 4}, {0, 0, 0xffff, 0, 4}, {1, 0, 0xffff, 16, 4}}},
        {"01abxy", "......", {{0, 0, ALL, 0, 4}, {1, 0, ALL, 0, 4}}}, /* shared */
        {"01axby", "......", {{0, 0, ALL, 0, 4}, {1, 0, ALL, 0, 4}}},
        {"01axy", "....l", {{0, 0, ALL, 0, 4}, {1, 0, ALL, 0, 4}}},
        {"0ax1by", "......", {{0, 0, ALL, 0, 4}, {1, 0, ALL, 0, 4}}}, /* one after the other */
        {"0ax1y", "....l", {{0, 0, ALL, 0, 4}, {1, 0, ALL, 0, 4}}},
        {"0ax1By", "....so", {{0, 0, ALL, 0, 4}, {1, 0, ALL, 0, 4}}},
        {"0ax1aby", "....s..", {{0, 0, ALL, 0, 4}, {1, 0, ALL, 0, 4}}},
        {"01axaby", "....s..", {{0, 0, ALL, 0, 4}, {1, 0, ALL, 64, 4}}}, /* the chunk stays, the segment is free */
        {"0axa", "...s", {{0, 0, ALL, 0, 4}}},
        {"01abxy0px", ".......so", {{0, 0, 15, 0, 4}, {1, 0, 15, 0, 4}}}, /* no word is shared any more */
    };
    (void)state;
    run_memory_cases(cases, sizeof cases / sizeof *cases);
}

/* ---- lines ---- */

/* How a block departs from what the blocks before it have executed, at one line. */
typedef enum departure {
    STAYS,
    OTHER_REGISTER,
    OTHER_MASK,
    LINE_LESS,
    LINE_MORE,
    ENDS_EARLY,
    DAMAGED,
    WRONG_COUNT,     /* of instructions: those from the line on are not announced */
    OTHER_IMMEDIATE, /* of a loop: the text is another one, and the instruction is the same */
    DEPARTURES = DAMAGED
} departure;

/* Writes a line: few of them between accesses at first, then a run that is longer than what is compared at once. */
static void put_line(FILE *file, uint32_t i, uint32_t mask, uint64_t base, departure how) {
    char text[128];
    if (how == OTHER_MASK) mask = lower_half(mask);
    if (is_loop)
        snprintf(text, sizeof text, "0010 %08x 1 R3 IADD3 1 R3 0 %u\n", mask, how == OTHER_IMMEDIATE ? 9u : 7u);
    else if (i < 24 && (i % 12 == 4 || i % 12 == 9))
        snprintf(text, sizeof text, "%04x %08x %s R%u 4 1 0x%llx 4 0\n", i * 16, mask,
                 i % 12 == 4 ? "1 R4 LDG.E 1" : "0 STG.E 2 R2", how == OTHER_REGISTER ? 7u : 6u,
                 (unsigned long long)base + i * 128);
    else
        snprintf(text, sizeof text, "%04x %08x 1 R%u FFMA 3 R%u R4 R%u 0 0\n", i * 16, mask, i % 7 + 3, (i + 3) % 7 + 3,
                 how == OTHER_REGISTER ? 2u : (i + 5) % 7 + 3);
    if (how == DAMAGED) text[5] = 'g';
    put(file, text);
}

/* Returns how the last warp of a block departs at a line, where the blocks have kinds. */
static departure of_kind(uint32_t b, uint32_t line, uint32_t at) {
    static const departure ways[] = {OTHER_REGISTER, OTHER_MASK, LINE_LESS, LINE_MORE};
    const char kind = kinds[b];
    if (kind == '.' || (line != at && line != at + 5)) return STAYS;
    if (kind >= 'w') return ways[kind - 'w'];
    return (kind >= 'e') == (line != at) ? ways[(kind - 'a') % 4] : STAYS;
}

/* Returns how many lines a block of such a kind has. */
static uint32_t lines_of_kind(uint32_t b, uint32_t at) {
    uint32_t line, count = LINES;
    for (line = at; line < LINES; line++)
        count += (of_kind(b, line, at) == LINE_MORE) - (of_kind(b, line, at) == LINE_LESS);
    return count;
}

/* Writes a trace whose blocks execute the same, but for one warp of one block, which departs at a line. Returns the
 * number of that line in the file. */
static uint64_t write_departure(uint32_t version, uint32_t threads, uint32_t at, departure how) {
    const uint32_t blocks = kinds ? (uint32_t)strlen(kinds) : BLOCKS;
    FILE *file = head(version, blocks, threads);
    const uint32_t warps = (threads + 31) / 32, mask_of_last = ALL >> (warps * 32 - threads);
    uint64_t place = 0;
    char text[128];
    uint32_t b, w, i;
    for (b = 0; b < blocks; b++) {
        snprintf(text, sizeof text, "#BEGIN_TB\nthread block = %u,0,0\n", b);
        put(file, text);
        for (w = 0; w < warps; w++) {
            const int is_odd = !kinds && b >= ODD_BLOCK && b < ODD_BLOCK + odd_blocks && w + 1 == warps;
            const departure own = is_odd ? how : STAYS;
            const uint32_t mask = w + 1 == warps ? mask_of_last : ALL;
            const uint32_t count = kinds && w + 1 == warps                   ? lines_of_kind(b, at)
                                   : own == LINE_LESS                        ? LINES - 1
                                   : own == LINE_MORE                        ? LINES + 1
                                   : own == ENDS_EARLY || own == WRONG_COUNT ? at
                                                                             : LINES;
            snprintf(text, sizeof text, "warp = %u\ninsts = %u\n", w, count + 1);
            put(file, text);
            for (i = 0; i < (own == ENDS_EARLY ? at : LINES); i++) {
                const uint64_t base = FIRST_ADDRESS + (b * warps + w) * 4096;
                const departure here = kinds && w + 1 == warps ? of_kind(b, i, at) : i == at ? own : STAYS;
                if (here != STAYS) place = number;
                if (here == LINE_LESS) continue;
                if (here == LINE_MORE) put_line(file, i, mask, base, OTHER_REGISTER);
                put_line(file, i, mask, base, here != LINE_MORE ? here : STAYS);
            }
            snprintf(text, sizeof text, "0900 %08x 0 EXIT 0 0 0\n", mask);
            put(file, text);
        }
        put(file, "#END_TB\n");
    }
    fclose(file);
    return place;
}

/* Compares a warp of a block with the same one read otherwise. */
static void expect_same_warp(const trace_block *a, const trace_block *b, uint32_t warp) {
    uint64_t addresses[2][32];
    uint32_t i, lane;
    assert_int_equal(a->warps[warp].count, b->warps[warp].count);
    assert_int_equal(a->warps[warp].first, b->warps[warp].first);
    assert_int_equal(a->warps[warp].access_first, b->warps[warp].access_first);
    for (i = 0; i < a->warps[warp].count; i++) {
        const trace_step *one = &a->warps[warp].shared->steps[i], *other = &b->warps[warp].shared->steps[i];
        assert_memory_equal(one, other, sizeof *one);
        if (one->access == GPUMP_NONE) continue;
        trace_addresses(trace_reach_of(a, warp, one), one->mask, a->lists, addresses[0]);
        trace_addresses(trace_reach_of(b, warp, other), one->mask, b->lists, addresses[1]);
        for (lane = 0; lane < 32; lane++)
            if (one->mask >> lane & 1) assert_int_equal(addresses[0][lane], addresses[1][lane]);
    }
}

/* The same for a block. */
static void expect_same_block(const trace_block *a, const trace_block *b) {
    uint32_t warp;
    assert_int_equal(a->step_count, b->step_count);
    for (warp = 0; warp < TRACE_WARPS; warp++) expect_same_warp(a, b, warp);
}

/* Reads all blocks of a trace of version 5, and of the same one of version 6, whose lines are never compared in runs.
 */
static void read_both_ways(uint32_t threads, uint32_t at, departure how) {
    const uint32_t count = kinds ? (uint32_t)strlen(kinds) : BLOCKS;
    trace_block *blocks[2][MOST_BLOCKS];
    trace_kernel kernels[2];
    trace_map maps[2];
    uint32_t i, n;
    for (i = 0; i < 2; i++) {
        const trace_map map = {{0}, 0, 0, TRACE_REGION_BYTES};
        char error[TRACE_ERROR_BYTES];
        maps[i] = map;
        (void)write_departure(5 + i, threads, at, how);
        if (trace_kernel_open(&kernels[i], path, 1, &maps[i], error)) fail_msg("%s", error);
        for (n = 0; n < count; n++)
            if (!(blocks[i][n] = trace_kernel_block(&kernels[i], n, error))) fail_msg("%s", error);
    }
    for (n = 0; n < count; n++) {
        expect_same_block(blocks[0][n], blocks[1][n]);
        for (i = 0; i < 2; i++) trace_kernel_drop(&kernels[i], blocks[i][n]);
    }
    for (i = 0; i < 2; i++) trace_kernel_close(&kernels[i]);
}

/* Runs the trace: the machine compares what every instruction reads. */
static void run_to_end(uint32_t threads, uint32_t at, departure how) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    machine *m = NULL;
    (void)write_departure(5, threads, at, how);
    machine_options_default(&options);
    options.preempt_cycle = 300;
    if (launch_file_read(&launch, path, error) || !(m = machine_build(&launch, &options, error))) fail_msg("%s", error);
    if (machine_run(m, NEVER) != 1) fail_msg("%u threads, line %u, departure %u: %s", threads, at, how, m->error);
    assert_int_equal(m->kernels[0].done_blocks, kinds ? strlen(kinds) : BLOCKS);
    machine_free(m);
    launch_file_free(&launch);
}

/* A warp that departs at any line from what it follows has the steps and digests that it has alone. */
static void a_warp_departs_within_a_run(void **state) {
    static const uint32_t threads[] = {32, 40, 64};
    uint32_t at, how, i;
    (void)state;
    for (at = 0; at < LINES; at++)
        for (how = OTHER_REGISTER; how < DEPARTURES; how++) {
            odd_blocks = 1 + at % 2;
            read_both_ways(40, at, (departure)how);
        }
    odd_blocks = 1;
    for (i = 0; i < 3; i++)
        for (how = STAYS; how < DEPARTURES; how++) {
            read_both_ways(threads[i], 11, (departure)how);
            read_both_ways(threads[i], LINES - 1, (departure)how);
            run_to_end(threads[i], 30, (departure)how);
        }
}

/* Warps go several ways in turns, as at the edges of a grid. A warp that leaves one for another has the steps and
 * digests that it has alone, and more ways than are kept do not mix. */
static void warps_go_several_ways_in_turns(void **state) {
    static const char *const turns[] = {
        "...a..ea..ea..ea.",       /* two edges */
        "...e...w..w.a..a..a",     /* a line that is like that of another way behind a line that is not */
        ".....w.e.w.e.a.w.e.a...", /* the same, learnt in another order */
        "..abcdefgh.wxyz.a.b.c.d.e.f.g.h",
        "abababababab",
        "...a.a.a..b.b.b..c.c.c..d.d.d..", /* expected to leave, and stays */
        "...b.b.b.c.c.c.d.d.d.z.z.z.y.y",
    };
    uint32_t at, i;
    (void)state;
    for (i = 0; i < sizeof turns / sizeof *turns; i++) {
        kinds = turns[i];
        for (at = 0; at + 5 < LINES; at++) read_both_ways(40, at, STAYS);
        run_to_end(64, 11, STAYS);
    }
    kinds = NULL;
}

/* The text of a loop looks alike everywhere: behind a line that had to be read, a run of lines is taken only where it
 * begins, else its lines would get digests of other turns of the loop. */
static void a_run_of_a_loop_is_taken_where_it_begins(void **state) {
    uint32_t at;
    (void)state;
    is_loop = 1;
    for (at = 0; at < LINES; at++) read_both_ways(40, at, OTHER_IMMEDIATE);
    run_to_end(40, 0, OTHER_IMMEDIATE);
    is_loop = 0;
}

/* A damaged line is refused with its place, wherever it lies in a run. */
static void a_damaged_line_within_a_run_is_refused(void **state) {
    uint32_t at;
    (void)state;
    for (at = 0; at < LINES; at++) {
        trace_map map = {{0}, 0, 0, TRACE_REGION_BYTES};
        char error[TRACE_ERROR_BYTES] = "", expected[128];
        const uint64_t place = write_departure(5, 64, at, DAMAGED);
        trace_kernel k;
        trace_block *b;
        uint64_t n = 0;
        if (!trace_kernel_open(&k, path, 1, &map, error))
            while (n < BLOCKS && (b = trace_kernel_block(&k, n, error))) trace_kernel_drop(&k, b), n++;
        trace_kernel_close(&k);
        assert_int_equal(n, ODD_BLOCK);
        snprintf(expected, sizeof expected, "%s:%llu:6: the mask is missing", path, (unsigned long long)place);
        if (!strstr(error, expected)) fail_msg("line %u: \"%s\" lacks \"%s\"", at, error, expected);
    }
}

/* A run does not take lines that the warp's number of instructions leaves out. */
static void lines_beyond_the_number_are_refused(void **state) {
    uint32_t at, i;
    (void)state;
    for (at = 1; at < LINES; at += 3) {
        char errors[2][TRACE_ERROR_BYTES] = {"", ""};
        for (i = 0; i < 2; i++) {
            trace_map map = {{0}, 0, 0, TRACE_REGION_BYTES};
            trace_kernel k;
            trace_block *b;
            uint64_t n = 0;
            (void)write_departure(5 + i, 64, at, WRONG_COUNT);
            if (!trace_kernel_open(&k, path, 1, &map, errors[i]))
                while (n < BLOCKS && (b = trace_kernel_block(&k, n, errors[i]))) trace_kernel_drop(&k, b), n++;
            trace_kernel_close(&k);
            assert_int_equal(n, ODD_BLOCK);
        }
        assert_string_equal(errors[0], errors[1]);
    }
}

static int make_file(void **state) {
    const int handle = mkstemps(path, 7);
    (void)state;
    return handle < 0 || close(handle);
}

static int remove_file(void **state) {
    (void)state;
    return remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_segment_of_one_warp_keeps_its_last_store),
        cmocka_unit_test(a_second_run_splits_a_segment_into_words),
        cmocka_unit_test(a_segment_of_two_blocks_is_split_and_forgotten),
        cmocka_unit_test(a_warp_departs_within_a_run),
        cmocka_unit_test(warps_go_several_ways_in_turns),
        cmocka_unit_test(a_run_of_a_loop_is_taken_where_it_begins),
        cmocka_unit_test(a_damaged_line_within_a_run_is_refused),
        cmocka_unit_test(lines_beyond_the_number_are_refused),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
