/* labels: unit link: minigpu_core */
/* Traces of kernels: written here as Accel-Sim's tracer writes them, read, run, and preempted. A trace has no values:
 * the tags of registers and of shared memory (sass/trace_tags.h) show what a preemption has lost. */
#define _GNU_SOURCE
#include "test.h"

#include <lzma.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "machine/machine.h"
#include "parts/faults/faults.h"
#include "parts/trace_writer/trace_writer.h"
#include "preemption/context_forms.h"
#include "preemption/preemption.h"
#include "sass/trace_memory.h"
#include "sass/trace_reader.h"
#include "sass/trace_tags.h"
#include "sass/trace_regions.h"
#include "sm/front_end.h"
#include "sm/gate.h"
#include "sm/pipeline.h"
#include "tools/report.h"

#if defined(__has_feature)
#define IS_SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif
#define BLOCKS 6u
#define WARPS 3u
#define ROUNDS 12u

static char folder[] = "/tmp/gpump_traces_XXXXXX";
static int has_lane_values = 1; /* 0: values are written as Accel-Sim writes them */
static uint32_t idle_warps;     /* warps of each block that a trace's head has and its blocks do not list */
static uint64_t lines;          /* warp instructions of the last trace that was written */

static void path_of(char path[128], const char *name) { snprintf(path, 128, "%s/%s", folder, name); }

static void head(FILE *file, uint32_t version, uint32_t registers, uint32_t blocks) {
    fprintf(
        file,
        "-kernel name = made\n-kernel id = 1\n-grid dim = (%u,1,1)\n-block dim = (%u,1,1)\n-shmem = 512\n-nregs = %u\n"
        "-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x00007f4000000000\n"
        "-local mem base_addr = 0x00007f4200000000\n-nvbit version = 1.5\n-accelsim tracer version = %u\n\n"
        "#traces format = PC mask dest_num ... %s\n\n",
        blocks, (WARPS + idle_warps) * 32, registers, version, has_lane_values ? TRACE_LANE_VALUES : "");
}

static void line(FILE *file, uint32_t version, const char *text) {
    fprintf(file, "%s%s\n", text, version >= 5 ? " 0" : "");
    lines++;
}

/* A warp: loads in all three forms, arithmetic, shared memory with barriers, some lanes alone, a store. */
static void write_warp(FILE *file, uint32_t version, uint32_t block, uint32_t warp) {
    const uint64_t base = UINT64_C(0x7f0000000000) + (block * WARPS + warp) * 128;
    char text[1024];
    uint32_t i, l;
    fprintf(file, "\nwarp = %u\ninsts = %u\n", warp, ROUNDS * 10 + 2);
    line(file, version, "0000 ffffffff 1 R2 S2R 0 0");
    for (i = 0; i < ROUNDS; i++) {
        snprintf(text, sizeof text, "0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x%llx 4", (unsigned long long)base + i * 4096);
        line(file, version, text);
        line(file, version, "0020 ffffffff 1 R6 IMAD.WIDE 2 R4 R255 0");
        snprintf(text, sizeof text, "0030 ffffffff 0 STS 2 R2 R6 4 1 0x%x 4", warp * 128);
        line(file, version, text);
        line(file, version, "0040 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0");
        snprintf(text, sizeof text, "0050 ffffffff 1 R8 LDS 1 R2 4 1 0x%x 4", (warp + 1) % WARPS * 128);
        line(file, version, text);
        line(file, version, "0060 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0");
        line(file, version, "0070 0000ffff 1 R8 FFMA 3 R8 R6 R7 0");
        snprintf(text, sizeof text, "0080 0000000f 1 R10 LDG.E 1 R8 4 2 0x%llx 64 -32 4096", (unsigned long long)base);
        line(file, version, text);
        line(file, version, "0090 ffffffff 1 R8 IADD3 3 R8 R10 R4 0");
        l = (uint32_t)snprintf(text, sizeof text, "00a0 00000003 0 STG.E 2 R2 R8 4 0");
        snprintf(text + l, sizeof text - l, " 0x%llx 0x%llx", (unsigned long long)base + 0x100000 + i * 256,
                 (unsigned long long)base + 0x100000 + i * 256 + 128);
        line(file, version, text);
    }
    line(file, version, "00b0 ffffffff 0 EXIT 0 0");
}

static FILE *new_file(const char *name) {
    char path[128];
    FILE *file;
    path_of(path, name);
    file = fopen(path, "w");
    assert_non_null(file);
    return file;
}

static void write_blocks(const char *name, uint32_t version, uint32_t blocks) {
    FILE *file = new_file(name);
    uint32_t b, w;
    lines = 0;
    head(file, version, 12, blocks);
    for (b = 0; b < blocks; b++) {
        fprintf(file, "\n#BEGIN_TB\n\nthread block = %u,0,0\n", b);
        for (w = 0; w < WARPS; w++) write_warp(file, version, b, w);
        fprintf(file, "\n#END_TB\n");
    }
    fclose(file);
}

static void write_trace(const char *name, uint32_t version) { write_blocks(name, version, BLOCKS); }

static void write_list(const char *list, const char *traces) {
    FILE *file = new_file(list);
    fprintf(file, "MemcpyHtoD,0x00007f0000000000,32768\n%s", traces);
    fclose(file);
}

static machine *build(launch_file *launch, const char *name, machine_options *options) {
    char path[128], error[LAUNCH_ERROR_BYTES];
    machine *m = NULL;
    path_of(path, name);
    if (launch_file_read(launch, path, error)) fail_msg("%s", error);
    launch->sms = 2;
    if (!(m = machine_build(launch, options, error))) fail_msg("%s", error);
    return m;
}

/* Runs kernel-1.traceg alone to its end, which takes so many warp instructions and blocks. */
static void run_alone(uint64_t instructions, uint64_t blocks) {
    launch_file launch;
    machine_options options;
    machine *m;
    write_list("kernelslist.g", "kernel-1.traceg\n");
    machine_options_default(&options);
    m = build(&launch, "kernelslist.g", &options);
    if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
    assert_int_equal(m->kernels[0].warp_instructions, instructions);
    assert_int_equal(m->kernels[0].done_blocks, blocks);
    machine_free(m);
    launch_file_free(&launch);
}

/* A trace of each version of the format runs to its end, with each of its instructions. */
static void all_versions_run_with_all_instructions(void **state) {
    uint32_t version;
    (void)state;
    for (version = 3; version <= 6; version++) {
        write_trace("kernel-1.traceg", version);
        run_alone(lines, BLOCKS);
    }
}

static void pack(const char *from, const char *to, int zstd) {
    static uint8_t text[4u << 20], packed[4u << 20];
    char path[128];
    size_t bytes, out = 0;
    FILE *file;
    path_of(path, from);
    file = fopen(path, "r");
    assert_non_null(file);
    bytes = fread(text, 1, sizeof text, file);
    fclose(file);
    if (zstd)
        out = ZSTD_compress(packed, sizeof packed, text, bytes, 3);
    else
        assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, text, bytes, packed, &out, sizeof packed),
                         LZMA_OK);
    path_of(path, to);
    file = fopen(path, "w");
    assert_non_null(file);
    fwrite(packed, 1, out, file);
    fclose(file);
    file = fopen(strcat(path, "_half"), "w"); /* the same, truncated */
    fwrite(packed, 1, out / 2, file);
    fclose(file);
}

/* A compressed trace runs as the plain one, and one that is cut off is refused as truncated. */
static void packed_traces_are_the_same(void **state) {
    static const char *const names[] = {"kernel-1.traceg", "kernel-1.traceg.xz", "kernel-1.traceg.zst"};
    uint64_t cycles[3];
    char half[2][128], path[128];
    uint32_t i;
    (void)state;
    write_trace("kernel-1.traceg", 5);
    pack("kernel-1.traceg", "kernel-1.traceg.xz", 0);
    pack("kernel-1.traceg", "kernel-1.traceg.zst", 1);
    for (i = 0; i < 3; i++) {
        launch_file launch;
        machine_options options;
        machine *m;
        machine_options_default(&options);
        m = build(&launch, names[i], &options);
        if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
        cycles[i] = m->now;
        machine_free(m);
        launch_file_free(&launch);
    }
    assert_int_equal(cycles[0], cycles[1]);
    assert_int_equal(cycles[0], cycles[2]);
    for (i = 0; i < 2; i++) { /* half a file */
        trace_map map = {{0}, 0, 0, TRACE_REGION_BYTES};
        char error[TRACE_ERROR_BYTES] = "";
        trace_kernel k;
        trace_block *b;
        uint64_t n = 0;
        snprintf(half[i], sizeof half[i], "%s_half", names[i + 1]);
        path_of(path, half[i]);
        path_of(half[i], i ? "half.traceg.zst" : "half.traceg.xz");
        rename(path, half[i]);
        if (!trace_kernel_open(&k, half[i], 1, &map, error))
            while ((b = trace_kernel_block(&k, n, error))) trace_kernel_drop(&k, b), n++;
        trace_kernel_close(&k);
        assert_non_null(strstr(error, "truncated"));
    }
}

/* Writes lines of so many bytes in all. The last one has no end. */
static void write_text(uint32_t bytes, uint32_t seed) {
    FILE *file = new_file("kernel-1.traceg");
    uint32_t left = 0, random = seed;
    for (; bytes; bytes--, left--) {
        if (!left) {
            random = random * 1664525u + 1013904223u;
            left = random >> 8 & 15 ? random >> 16 & 255 : random >> 16 & 8191;
            left = left < bytes ? left + 1 : bytes;
        }
        fputc(left == 1 && bytes > 1 ? '\n' : 'a' + (int)(bytes % 26), file);
    }
    fclose(file);
}

/* A plain and a packed file have the same lines, at whatever byte a piece that is read ends. */
static void lines_of_plain_and_packed_files_are_the_same(void **state) {
    static const uint32_t bytes[] = {1, 4096, 65535, 65536, 65537, 3000000};
    uint32_t i, n;
    (void)state;
    for (i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        trace_text *files[2];
        char path[128], *lines_of[2];
        size_t lengths[2];
        write_text(bytes[i], i);
        pack("kernel-1.traceg", "kernel-1.traceg.zst", 1);
        for (n = 0; n < 2; n++) {
            path_of(path, n ? "kernel-1.traceg.zst" : "kernel-1.traceg");
            assert_non_null(files[n] = trace_text_open(path));
        }
        do {
            for (n = 0; n < 2; n++) lines_of[n] = trace_text_line(files[n], &lengths[n]);
            assert_int_equal(lines_of[0] == NULL, lines_of[1] == NULL);
            if (lines_of[0]) assert_int_equal(lengths[0], lengths[1]);
            if (lines_of[0]) assert_memory_equal(lines_of[0], lines_of[1], lengths[0] + 1);
            assert_int_equal(trace_text_number(files[0]), trace_text_number(files[1]));
            assert_int_equal(trace_text_is_cut(files[0]), trace_text_is_cut(files[1]));
        } while (lines_of[0]);
        for (n = 0; n < 2; n++) assert_null(trace_text_error(files[n]));
        for (n = 0; n < 2; n++) trace_text_close(files[n]);
    }
}

/* Preempts every SM at every `step`-th cycle. Returns the cycles of the run. */
static uint64_t run_preempted(const machine_options *options, uint32_t technique, uint64_t step, uint32_t omitted,
                              char error[LAUNCH_ERROR_BYTES]) {
    launch_file launch;
    machine_options own = *options;
    machine *m = build(&launch, "kernelslist.g", &own);
    uint64_t end;
    uint32_t i;
    int ended;
    m->omit_section = omitted;
    error[0] = 0;
    while ((ended = machine_run(m, m->now + step)) == 0)
        for (i = 0; step != NEVER - m->now && i < m->sm_count && m->preemption_count < 500; i++)
            if (m->sms[i]->resident && !m->sms[i]->stopping) preemption_request(m, m->sms[i], technique, 0, 0);
    if (ended < 0) snprintf(error, LAUNCH_ERROR_BYTES, "%s", m->error);
    if (ended > 0) assert_int_equal(m->kernels[0].done_blocks, m->kernels[0].blocks);
    if (ended > 0 && technique != GPUMP_TECHNIQUE_FLUSH && !options->regions)
        assert_int_equal(m->kernels[0].warp_instructions, lines);
    end = m->now;
    machine_free(m);
    launch_file_free(&launch);
    return end;
}

/* A trace that is preempted by any technique and in any form of context ends with the tags of the plain run. */
static void preempted_traces_end_with_right_tags(void **state) {
    static const uint32_t forms[] = {CONTEXT_NAIVE, CONTEXT_LIVE, CONTEXT_LIVE_COMPRESS, CONTEXT_TB};
    const uint32_t techniques[] = {GPUMP_TECHNIQUE_SWITCH, GPUMP_TECHNIQUE_DRAIN, GPUMP_TECHNIQUE_FLUSH};
    char error[LAUNCH_ERROR_BYTES];
    uint32_t i, n;
    (void)state;
    write_trace("kernel-1.traceg", 5);
    write_list("kernelslist.g", "kernel-1.traceg\n");
    for (i = 0; i < 4; i++)
        for (n = 0; n < 3; n++) {
            machine_options options;
            machine_options_default(&options);
            options.context_form = forms[i];
            (void)run_preempted(&options, techniques[n], 997, 0, error);
            if (error[0]) fail_msg("form %u, technique %u: %s", i, n, error);
        }
}

/* A fault replays from its instruction, under every scheme, in order and out of order, and while blocks are preempted.
 */
static void absent_pages_of_traces_are_served(void **state) {
    static const char *const links[] = {NULL, "nvlink"};
    const char *scheme;
    char error[LAUNCH_ERROR_BYTES];
    uint32_t i, n;
    (void)state;
    for (n = 0; (scheme = faults_scheme_name(n)) && strcmp(scheme, "regions"); n++)
        for (i = 0; i < 4; i++) {
            machine_options options;
            machine_options_default(&options);
            if (i >= 2) options.config = "issue_queue_entries=96";
            options.context_form = CONTEXT_LIVE;
            options.faults.scheme = scheme;
            options.faults.link = links[i % 2];
            options.faults.absent = options.absent = "all";
            (void)run_preempted(&options, GPUMP_TECHNIQUE_SWITCH, 997, 0, error);
            if (error[0]) fail_msg("%s, %u: %s", scheme, i, error);
        }
}

/* Warps go back to the start of their region: preempted, after an absent page, after an error, after an exception. */
static void go_back_in_all_ways(void) {
    char error[LAUNCH_ERROR_BYTES];
    uint32_t i;
    for (i = 0; i < 8; i++) {
        machine_options options;
        machine_options_default(&options);
        options.regions = i % 2 ? 8 : TRACE_REGIONS_SPARSE;
        options.context_form = CONTEXT_LIVE;
        if (i / 2 == 1) options.faults.scheme = "regions", options.faults.absent = options.absent = "all";
        if (i / 2 == 2)
            options.errors.detection = "razor2", options.errors.errs.at = 5, options.errors.errs.interval = 97;
        if (i / 2 == 3) options.errors.traps_at.at = 5, options.errors.traps_at.interval = 11;
        (void)run_preempted(&options, i / 2 ? GPUMP_TECHNIQUE_SWITCH : GPUMP_TECHNIQUE_REWIND, 997, 0, error);
        if (error[0]) fail_msg("%u: %s", i, error);
    }
}

/* Warps of a trace that are sent back to a region's start end with the tags of the plain run. */
static void warps_of_traces_go_back(void **state) {
    (void)state;
    go_back_in_all_ways();
}

/* A tracer lists the warps that have executed something: the others have ended before they began. */
static void warps_that_a_block_does_not_list_have_ended(void **state) {
    (void)state;
    idle_warps = 2;
    write_trace("kernel-1.traceg", 5);
    idle_warps = 0;
    go_back_in_all_ways();
    write_trace("kernel-1.traceg", 5);
}

/* A block in which nobody executes anything ends. */
static void a_block_without_instructions_ends(void **state) {
    FILE *file = new_file("kernel-1.traceg");
    (void)state;
    head(file, 4, 12, 2);
    fprintf(file, "#BEGIN_TB\nthread block = 0,0,0\n#END_TB\n"
                  "#BEGIN_TB\nthread block = 1,0,0\nwarp = 1\ninsts = 1\n0000 ffffffff 0 EXIT 0 0\n#END_TB\n");
    fclose(file);
    run_alone(2, 2); /* both are exits */
}

/* Writes a trace of one warp of 32 lanes from its lines, without the immediates of version 5. */
static void write_lines(const char *const *texts, uint32_t count) {
    FILE *file = new_file("kernel-1.traceg");
    uint32_t i;
    lines = 0;
    head(file, 4, 12, 1);
    fprintf(file, "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = %u\n", count);
    for (i = 0; i < count; i++) line(file, 4, texts[i]);
    fprintf(file, "#END_TB\n");
    fclose(file);
}

/* Registers that a compiler has spilled: each lane has its own word at an address. Wide accesses are as aligned as they
 * are in the trace, and take the same rows as their words. */
static void local_memory_lies_word_by_word(void **state) {
    static const char *const texts[] = {"0000 ffffffff 1 R2 S2R 0 0",
                                        "0010 ffffffff 0 STL 2 R2 R2 4 1 0x20 0",
                                        "0020 ffffffff 1 R4 LDL.128 1 R2 16 1 0x20 0",
                                        "0030 ffffffff 1 R4 LDL.64 1 R2 8 1 0x28 0",
                                        "0040 00000002 1 R4 LDL.U8 1 R2 1 1 0x25 0",
                                        "0050 ffffffff 1 R4 LD 1 R2 4 1 0x7f4200000030 0",
                                        "0060 ffffffff 0 EXIT 0 0"};
    static const struct {
        uint64_t first, second; /* lane, from the first line's; second: of the next lane */
    } expected[] = {{0, 4}, {0, 16}, {256, 264}, {128 + 4 + 1, 0}, {512, 516}};
    trace_map map = {{0}, 0, 0, TRACE_REGION_BYTES};
    char path[128], error[TRACE_ERROR_BYTES];
    uint64_t addresses[32], origin = 0;
    machine_options options;
    trace_kernel k;
    trace_block *b;
    uint32_t i;
    (void)state;
    write_lines(texts, 7);
    path_of(path, "kernel-1.traceg");
    if (trace_kernel_open(&k, path, 1, &map, error) || !(b = trace_kernel_block(&k, 0, error))) fail_msg("%s", error);
    for (i = 0; i < 5; i++) {
        const trace_step *step = &b->warps[0].shared->steps[i + 1];
        const uint32_t lane = gpump_bits_lowest64(step->mask);
        assert_int_equal(k.program.instructions[step->instruction].space, SPACE_GLOBAL);
        trace_addresses(trace_reach_of(b, 0, step), step->mask, b->lists, addresses);
        if (!i) origin = addresses[0];
        assert_int_equal(addresses[lane] - origin, expected[i].first);
        if (expected[i].second) assert_int_equal(addresses[lane + 1] - origin, expected[i].second);
    }
    trace_kernel_drop(&k, b);
    trace_kernel_close(&k);
    write_list("kernelslist.g", "kernel-1.traceg\n");
    machine_options_default(&options);
    (void)run_preempted(&options, GPUMP_TECHNIQUE_SWITCH, 97, 0, error);
    if (error[0]) fail_msg("%s", error);
}

/* A region ends before a store to a word that it has read, behind a barrier, and after so many instructions. */
static void regions_end_where_a_read_word_is_overwritten(void **state) {
    static trace_region region;
    const uint64_t words[2] = {4096, 4100}, others[1] = {8192};
    instruction load, store, barrier;
    (void)state;
    memset(&load, 0, sizeof load);
    load.unit = UNIT_MEMORY;
    load.space = SPACE_GLOBAL;
    load.type = TYPE_B32;
    load.vector = 1;
    store = barrier = load;
    load.opcode = OPCODE_LD;
    store.opcode = OPCODE_ST;
    barrier.opcode = OPCODE_BAR;
    trace_region_begin(&region);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &load, words, 2), TRACE_BOUNDARY_NONE);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &store, others, 1), TRACE_BOUNDARY_NONE);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &load, others, 1), TRACE_BOUNDARY_NONE);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &store, others, 1), TRACE_BOUNDARY_NONE);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &store, words + 1, 1), TRACE_BOUNDARY_SPARSE);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &store, words, 1), TRACE_BOUNDARY_NONE);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &barrier, words, 0), TRACE_BOUNDARY_NONE);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &load, words, 1), TRACE_BOUNDARY_SPARSE);
    assert_int_equal(trace_region_take(&region, 2, &load, words, 1), TRACE_BOUNDARY_NONE);
    assert_int_equal(trace_region_take(&region, 2, &load, words, 1), TRACE_BOUNDARY_SHORT);
}

/* A store of bytes leaves the rest of its word as it was: who loads the word then has read it. */
static void a_word_that_was_written_in_part_is_read(void **state) {
    static trace_region region;
    instruction load, store, store_byte;
    const uint64_t word[1] = {0x1000}, last_byte[1] = {0x1003};
    (void)state;
    memset(&load, 0, sizeof load);
    load.opcode = OPCODE_LD;
    load.space = SPACE_GLOBAL;
    load.type = TYPE_U32;
    load.vector = 1;
    store = store_byte = load;
    store.opcode = store_byte.opcode = OPCODE_ST;
    store_byte.type = TYPE_U8;
    trace_region_begin(&region);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &store_byte, word, 1), TRACE_BOUNDARY_NONE);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &store_byte, last_byte, 1), TRACE_BOUNDARY_NONE);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &load, word, 1), TRACE_BOUNDARY_NONE);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &store_byte, last_byte, 1),
                     TRACE_BOUNDARY_SPARSE);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &store_byte, word, 1), TRACE_BOUNDARY_NONE);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &store, word, 1), TRACE_BOUNDARY_NONE);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &load, word, 1), TRACE_BOUNDARY_NONE);
    assert_int_equal(trace_region_take(&region, TRACE_REGIONS_SPARSE, &store, word, 1), TRACE_BOUNDARY_NONE);
}

/* Runs a trace in a process of its own. Returns the most memory that the process had, in KB. */
static long memory_of_run(const char *name) {
    struct rusage usage;
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        machine_options options;
        launch_file launch;
        machine *m;
        machine_options_default(&options);
        m = build(&launch, name, &options);
        _exit(machine_run(m, NEVER) == 1 ? 0 : 1);
    }
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    assert_int_equal(status, 0);
    return usage.ru_maxrss;
}

/* A trace of 35 MB takes no more memory than one of 1 MB: blocks are freed when they have ended. (A sanitizer keeps
 * what is freed for a while.) */
static void memory_does_not_depend_on_the_length(void **state) {
    long small, large;
    (void)state;
    write_blocks("kernel-1.traceg", 5, 60);
    small = memory_of_run("kernel-1.traceg");
    write_blocks("kernel-1.traceg", 5, 2000);
    large = memory_of_run("kernel-1.traceg");
    write_trace("kernel-1.traceg", 5);
    if (!IS_SANITIZED && large > small + 4096) fail_msg("%ld KB became %ld KB", small, large);
}

#define KERNELS 20u

/* Runs a list of many kernels, twice as one process, whose blocks go back or are switched every 300 cycles. What a
 * kernel needs to be read is freed at its end, and made anew: its instructions keep their places in the program. */
static void run_list(uint32_t regions) {
    machine_options options;
    launch_file launch;
    uint32_t i;
    machine *m;
    int ended;
    machine_options_default(&options);
    options.regions = regions;
    m = build(&launch, "list.yaml", &options);
    while ((ended = machine_run(m, m->now + 300)) == 0)
        for (i = 0; i < m->sm_count; i++)
            if (m->sms[i]->resident && !m->sms[i]->stopping)
                preemption_request(m, m->sms[i], regions ? GPUMP_TECHNIQUE_REWIND : GPUMP_TECHNIQUE_SWITCH, 0, 0);
    if (ended < 0) fail_msg("%u: %s", regions, m->error);
    assert_int_equal(m->kernel_count, KERNELS);
    assert_true(m->preempted_count <= m->block_count + BLOCKS); /* one of the kernels runs at a time */
    assert_int_equal(m->runs[0].ended, 2);
    for (i = 0; i < KERNELS; i++) {
        const trace_kernel *trace = m->kernels[i].launch->trace;
        assert_null(trace->reading);
        assert_null(trace->spare);
        assert_int_equal(trace->program.count, m->kernels[0].launch->trace->program.count);
        if (!regions) assert_int_equal(m->kernels[i].warp_instructions, 2 * lines);
    }
    machine_free(m);
    launch_file_free(&launch);
}

/* A list of more kernels than have their readers at hand runs alone, and with regions of both kinds. */
static void kernels_of_a_list_are_read_anew(void **state) {
    char names[KERNELS * 16 + 1] = "";
    uint32_t i;
    FILE *file;
    (void)state;
    write_trace("kernel-1.traceg", 5);
    for (i = 0; i < KERNELS; i++) strcat(names, "kernel-1.traceg\n");
    write_list("kernelslist.g", names);
    file = new_file("list.yaml");
    fprintf(file, "processes:\n  - repeat: 2\n    traces: kernelslist.g\n");
    fclose(file);
    for (i = 0; i < 3; i++) run_list(i == 0 ? TRACE_REGIONS_NONE : i == 1 ? (uint32_t)TRACE_REGIONS_SPARSE : 5u);
}

/* The kernels of a list that have ended keep no instructions. (A sanitizer keeps what is freed for a while.) */
static void memory_does_not_depend_on_the_kernels(void **state) {
    const uint32_t kernels[2] = {50, 450};
    const long most_for_a_kernel = 2; /* KB: with its instructions it takes 24 and more */
    long memory[2];
    uint32_t i, n;
    (void)state;
    write_trace("kernel-1.traceg", 5);
    for (i = 0; i < 2; i++) {
        FILE *file = new_file("kernelslist.g");
        for (n = 0; n < kernels[i]; n++) fputs("kernel-1.traceg\n", file);
        fclose(file);
        memory[i] = memory_of_run("kernelslist.g");
    }
    if (!IS_SANITIZED && memory[1] > memory[0] + (kernels[1] - kernels[0]) * most_for_a_kernel)
        fail_msg("%ld KB became %ld KB", memory[0], memory[1]);
}

/* Parts are told again of a program that has grown. They come to the same as if it had been known from the start. */
static void instructions_may_be_prepared_again(void **state) {
    machine_options options;
    launch_file launch;
    machine *m;
    issue_info *before;
    uint32_t i, failed;
    const kernel *k;
    (void)state;
    write_trace("kernel-1.traceg", 5);
    write_list("kernelslist.g", "kernel-1.traceg\n");
    for (i = 0; i < 2; i++) {
        machine_options_default(&options);
        options.regions = 5;
        if (i) options.faults.scheme = "regions";
        if (!i) options.errors.detection = "decor", options.errors.errs.at = 5;
        m = build(&launch, "kernelslist.g", &options);
        assert_int_equal(machine_run(m, 100), 0);
        k = &m->kernels[0];
        assert_non_null(before = (issue_info *)malloc((k->program->count + 1) * sizeof *before));
        memcpy(before, k->info, k->program->count * sizeof *before);
        PARTS_ASK(m, failed, 0, prepare, (m, 0, k->program, (issue_info *)(uintptr_t)k->info));
        assert_int_equal(failed, 0);
        assert_memory_equal(before, k->info, k->program->count * sizeof *before);
        free(before);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* Options that a trace gives no meaning are refused by a sentence. */
static void options_without_meaning_are_refused(void **state) {
    static const char *const reasons[] = {"--absent can only be all", "leave --points",
                                          "give --regions without :SHARED", "leave --duet or --regions away"};
    char path[128], error[LAUNCH_ERROR_BYTES];
    uint32_t i;
    (void)state;
    write_trace("kernel-1.traceg", 5);
    write_list("kernelslist.g", "kernel-1.traceg\n");
    path_of(path, "kernelslist.g");
    for (i = 0; i < 4; i++) {
        machine_options options;
        launch_file launch;
        machine_options_default(&options);
        if (i == 0) options.absent = "code";
        if (i == 1) options.point_interval = 5;
        if (i == 2) options.regions = 5, options.shared_restart = SHARED_BUFFERED;
        if (i == 3) options.regions = 5, options.duet = "maxwell_duet:2";
        if (launch_file_read(&launch, path, error)) fail_msg("%s", error);
        assert_null(machine_build(&launch, &options, error));
        if (!strstr(error, reasons[i])) fail_msg("%s", error);
        launch_file_free(&launch);
    }
}

/* A truncated trace ends the run with an error: the report says which kernels have ended. */
static void kernels_that_ended_before_an_error_are_reported(void **state) {
    char path[128], report[8192] = "";
    machine_options options;
    run_result result;
    launch_file launch;
    FILE *file;
    (void)state;
    write_trace("kernel-1.traceg", 5);
    write_trace("kernel-2.traceg", 5);
    path_of(path, "kernel-2.traceg");
    assert_int_equal(truncate(path, 30000), 0);
    write_list("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\n");
    machine_options_default(&options);
    memset(&result, 0, sizeof result);
    result.machine = build(&launch, "kernelslist.g", &options);
    result.launch = &launch;
    assert_int_equal(machine_run((machine *)(uintptr_t)result.machine, NEVER), -1);
    assert_non_null(strstr(result.machine->error, "truncated"));
    assert_non_null(file = fmemopen(report, sizeof report, "w"));
    report_text(&result, file);
    fclose(file);
    assert_non_null(strstr(report, "  ended, not checked\n"));
    assert_non_null(strstr(report, "  not ended\n"));
    machine_free((machine *)(uintptr_t)result.machine);
    launch_file_free(&launch);
    (void)remove(path);
}

/* SMs that advance on several threads come to the same bits: of cycles, preemptions and the SM. (All device
 * memory of a trace, 8 GB, would take a minute to hash.) */
static void threads_of_traces_give_the_same_bits(void **state) {
    uint64_t hashes[3];
    uint32_t i;
    (void)state;
    write_trace("kernel-1.traceg", 5);
    write_list("kernelslist.g", "kernel-1.traceg\n");
    for (i = 0; i < 3; i++) {
        machine_options options;
        launch_file launch;
        machine *m;
        machine_options_default(&options);
        options.threads = i + 1;
        options.preempt_cycle = 997;
        m = build(&launch, "kernelslist.g", &options);
        if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
        assert_true(m->preemption_count > 0);
        hashes[i] = machine_hash(m) ^ m->preemptions[0].end_cycle << 32;
        assert_int_equal(hashes[i], hashes[0]);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* Warps of a trace that a duet switches out end with the tags of the plain run. */
static void warps_of_traces_are_switched_out(void **state) {
    machine_options options;
    char error[LAUNCH_ERROR_BYTES];
    (void)state;
    write_trace("kernel-1.traceg", 5);
    write_list("kernelslist.g", "kernel-1.traceg\n");
    machine_options_default(&options);
    options.duet = "maxwell_duet:2";
    (void)run_preempted(&options, GPUMP_TECHNIQUE_SWITCH, 997, 0, error);
    if (error[0]) fail_msg("%s", error);
}

/* Registers, shared memory or stack that a switch loses are noticed by the tags. */
static void lost_registers_and_shared_memory_are_seen(void **state) {
    const uint32_t sections[] = {GPUMP_CONTEXT_REGISTERS, GPUMP_CONTEXT_SHARED, GPUMP_CONTEXT_STACK};
    machine_options options;
    char error[LAUNCH_ERROR_BYTES];
    uint32_t i;
    (void)state;
    write_trace("kernel-1.traceg", 5);
    write_list("kernelslist.g", "kernel-1.traceg\n");
    machine_options_default(&options);
    for (i = 0; i < 3; i++) {
        (void)run_preempted(&options, GPUMP_TECHNIQUE_SWITCH, 997, sections[i], error);
        if (!error[0]) fail_msg("section %u was lost, and nobody has seen it", sections[i]);
    }
}

/* Moves the cursor of a running warp without an instruction in flight: past its next step, when that is a store to
 * global memory (by 1), or back to its last but one, when that was an atomic (by -2). Returns 0: no warp is there. */
static int move_a_cursor(machine *m, int by) {
    uint32_t i;
    for (i = 0; i < m->sm_count; i++) {
        sm *s = m->sms[i];
        uint64_t left;
        for (left = s->occupied & s->present; left; left &= left - 1) {
            warp *w = &m->warps[s->slot_warp[gpump_bits_lowest64(left)]];
            const uint32_t step = front_end_step(w), at = by > 0 ? step : step + (uint32_t)by;
            const instruction *in;
            if (w->in_flight || gate_stopped(w) || step < 2 || step + 1 >= w->trace.count) continue;
            in = &m->kernels[0].program->instructions[w->trace.steps[at].instruction];
            if (in->space != SPACE_GLOBAL || in->opcode != (by > 0 ? OPCODE_ST : OPCODE_RED)) continue;
            w->sequence = step + (uint32_t)by;
            front_end_go_to_step(w, step + (uint32_t)by);
            pipeline_refresh_warp(m, s, w);
            return 1;
        }
    }
    return 0;
}

/* Changes a lane of a register of the first warp. */
static void change_register(machine *m, uint32_t number) {
    sm *s = m->sms[0];
    const warp *w = &m->warps[s->slot_warp[gpump_bits_lowest64(s->occupied)]];
    s->registers[w->register_base + number * 32 + 7] ^= 1;
}

/* A branch is an instruction as others are: what it reads is compared. A warp whose trace ends with one gets an exit.
 */
static void branches_of_a_trace_are_executed(void **state) {
    static const char *const texts[] = {"0000 ffffffff 1 R2 S2R 0 0",    "0010 ffffffff 1 R4 MOV 0 0",
                                        "0020 ffffffff 1 R4 MOV 1 R4 0", "0030 ffffffff 1 R4 MOV 1 R4 0",
                                        "0040 ffffffff 1 R4 MOV 1 R4 0", "0050 ffffffff 0 BRX 1 R2 0",
                                        "0060 ffffffff 0 BRA 0 0"};
    static const struct {
        uint32_t lines, changed; /* changed: register that is changed once 3 instructions have issued; 0: none */
        const char *error;
    } cases[] = {{7, 0, ""}, {6, 0, ""}, {7, 2, "a register that it reads is not"}, {7, 6, ""}};
    uint32_t i;
    (void)state;
    write_list("kernelslist.g", "kernel-1.traceg\n");
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        machine_options options;
        launch_file launch;
        machine *m;
        int ended, changed = !cases[i].changed;
        machine_options_default(&options);
        write_lines(texts, cases[i].lines);
        m = build(&launch, "kernelslist.g", &options);
        while ((ended = machine_run(m, m->now + 1)) == 0) {
            if (changed || m->sms[0]->statistics.issued < 3) continue;
            change_register(m, cases[i].changed);
            changed = 1;
        }
        assert_true(changed);
        if (ended != (*cases[i].error ? -1 : 1)) fail_msg("case %u ends with %d: %s", i, ended, m->error);
        if (!strstr(m->error, cases[i].error)) fail_msg("%s", m->error);
        if (ended > 0) assert_int_equal(m->sms[0]->statistics.issued, cases[i].lines + 1); /* and the exit */
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* A warp may end where an earlier one of its index went on: it has no stores behind its end. */
static void a_warp_ends_before_the_one_it_follows(void **state) {
    static const char *const texts[] = {
        "0000 ffffffff 1 R2 S2R 0 0", "0010 ffffffff 0 STG.E 2 R2 R2 4 1 0x7f0000000000 4", "0020 0000ffff 0 EXIT 0 0",
        "0030 ffff0000 0 STG.E 2 R2 R2 4 1 0x7f0000001000 4", "0040 ffff0000 0 EXIT 0 0"};
    FILE *file = new_file("kernel-1.traceg");
    uint32_t b, i;
    (void)state;
    head(file, 4, 12, 3);
    for (b = 0; b < 3; b++) {
        fprintf(file, "#BEGIN_TB\nthread block = %u,0,0\nwarp = 0\ninsts = %u\n", b, b == 1 ? 3u : 5u);
        for (i = 0; i < (b == 1 ? 3u : 5u); i++) line(file, 4, texts[i]);
        fprintf(file, "#END_TB\n");
    }
    fclose(file);
    run_alone(13, 3);
}

/* The addresses of constants may lie anywhere, at any stride. */
static void a_stride_may_be_large(void **state) {
    static const char *const texts[] = {"0000 00000003 1 R2 LDC 0 4 1 0x100 4611686018427387904",
                                        "0010 00000003 0 EXIT 0 0"};
    trace_map map = {{0}, 0, 0, TRACE_REGION_BYTES};
    char path[128], error[TRACE_ERROR_BYTES];
    uint64_t addresses[32];
    const trace_step *step;
    trace_kernel k;
    trace_block *b = NULL;
    (void)state;
    write_lines(texts, 2);
    path_of(path, "kernel-1.traceg");
    if (trace_kernel_open(&k, path, 1, &map, error) || !(b = trace_kernel_block(&k, 0, error))) fail_msg("%s", error);
    step = b->warps[0].shared->steps;
    trace_addresses(trace_reach_of(b, 0, step), step->mask, b->lists, addresses);
    assert_true(addresses[1] - addresses[0] == UINT64_C(1) << 62);
    trace_kernel_drop(&k, b);
    trace_kernel_close(&k);
}

/* A trace whose blocks add to one word. */
static void write_atomics(void) {
    FILE *file = new_file("kernel-1.traceg");
    uint32_t b, w, i;
    head(file, 5, 12, BLOCKS);
    for (b = 0; b < BLOCKS; b++) {
        fprintf(file, "\n#BEGIN_TB\n\nthread block = %u,0,0\n", b);
        for (w = 0; w < WARPS; w++) {
            fprintf(file, "\nwarp = %u\ninsts = %u\n", w, 3 * ROUNDS + 2);
            line(file, 5, "0000 ffffffff 1 R2 S2R 0 0");
            for (i = 0; i < ROUNDS; i++) {
                line(file, 5, "0010 00000001 0 RED.E.ADD 2 R2 R2 4 0 0x7f0000000000");
                line(file, 5, "0020 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f0000001000 4");
                line(file, 5, "0030 ffffffff 1 R6 IADD3 2 R4 R2 0"); /* waits until the atomic is done, too */
            }
            line(file, 5, "0040 ffffffff 0 EXIT 0 0");
        }
        fprintf(file, "\n#END_TB\n");
    }
    fclose(file);
}

/* In a machine whose blocks were switched and are back, a warp that goes on behind a store, or before an atomic that it
 * has executed, ends the run. */
static void wrong_cursors_of_preempted_blocks_are_seen(void **state) {
    static const struct {
        int by;
        const char *error;
    } cases[] = {{0, ""},
                 {1, "this access to global memory was never executed"},
                 {-2, "an atomic that the warp has already executed is not"}};
    uint32_t i;
    (void)state;
    write_list("kernelslist.g", "kernel-1.traceg\n");
    for (i = 0; i < 3; i++) {
        machine_options options;
        launch_file launch;
        machine *m;
        int ended, moved = cases[i].by == 0;
        machine_options_default(&options);
        options.preempt_cycle = 200;
        if (cases[i].by < 0)
            write_atomics();
        else
            write_trace("kernel-1.traceg", 5);
        m = build(&launch, "kernelslist.g", &options);
        while ((ended = machine_run(m, m->now + 1)) == 0)
            if (!moved && m->kernels[0].resumed) moved = move_a_cursor(m, cases[i].by);
        assert_true(moved && m->preemption_count > 0);
        if (ended != (cases[i].by ? -1 : 1)) fail_msg("case %u ends with %d", i, ended);
        if (!strstr(m->error, cases[i].error)) fail_msg("%s", m->error);
        machine_free(m);
        launch_file_free(&launch);
    }
}

/* Executes the stores of a block that write to global memory, but for the omitted-th, as if it were a block of another
 * seed, and the first one of each warp once more where `repeats`. Returns what is found while they run, else at the
 * end.
 */
static trace_memory_result execute_stores(trace_memory *memory, trace_kernel *k, trace_block *b, uint32_t omitted,
                                          uint32_t seed, int repeats) {
    uint32_t w, i, n = 0, step;
    for (w = 0; w < WARPS; w++) {
        uint64_t addresses[32];
        trace_memory_access first = {NULL, NULL, 0, 0, 0, 0, 0}, a;
        for (i = 0; i < b->warps[w].count; i++) {
            const trace_step *of = &b->warps[w].shared->steps[i];
            const instruction *in = &k->program.instructions[of->instruction];
            if (!trace_memory_is_written(in) || n++ == omitted) continue;
            trace_addresses(trace_reach_of(b, w, of), of->mask, b->lists, addresses);
            a = (trace_memory_access){addresses, in, of->mask, i, tags_seed(k->number, b->linear, w) + seed, w, 0};
            if (trace_memory_write(memory, b, &a) != TRACE_MEMORY_RIGHT) return TRACE_MEMORY_STRANGE;
            if (!first.mask) first = a;
        }
        first.addresses = addresses; /* of the last one: an earlier store to the same words */
        if (repeats && trace_memory_write(memory, b, &first) != TRACE_MEMORY_RIGHT) return TRACE_MEMORY_STRANGE;
    }
    return trace_memory_end(memory, k, b, &w, &step);
}

/* A store that a preemption has lost, one of a wrong block, and stores in a wrong order are seen. */
static void wrong_stores_are_seen(void **state) {
    static const struct {
        uint32_t omitted, seed;
        int repeats;
        trace_memory_result result;
    } cases[] = {{UINT32_MAX, 0, 0, TRACE_MEMORY_RIGHT},
                 {0, 0, 0, TRACE_MEMORY_LOST},
                 {ROUNDS * WARPS - 1, 0, 0, TRACE_MEMORY_LOST},
                 {UINT32_MAX, 1, 0, TRACE_MEMORY_STRANGE},
                 {UINT32_MAX, 0, 1, TRACE_MEMORY_OVERWRITTEN}};
    char path[128], error[TRACE_ERROR_BYTES];
    uint32_t i;
    (void)state;
    write_trace("kernel-1.traceg", 5);
    path_of(path, "kernel-1.traceg");
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        trace_map map = {{0}, 0, 0, TRACE_REGION_BYTES};
        trace_memory *memory = trace_memory_open(&map);
        trace_kernel k;
        trace_block *b = NULL;
        assert_non_null(memory);
        if (trace_kernel_open(&k, path, 1, &map, error) || !(b = trace_kernel_block(&k, 1, error)))
            fail_msg("%s", error);
        assert_int_equal(trace_memory_begin(memory, &k, b), 0);
        assert_int_equal(execute_stores(memory, &k, b, cases[i].omitted, cases[i].seed, cases[i].repeats),
                         cases[i].result);
        trace_kernel_drop(&k, b);
        trace_kernel_close(&k);
        trace_memory_close(memory);
    }
}

/* Returns the error of a trace with one line changed. */
static void error_of(const char *old, const char *new, char error[TRACE_ERROR_BYTES]) {
    static char text[1u << 20];
    trace_map map = {{0}, 0, 0, TRACE_REGION_BYTES};
    char path[128], *at;
    trace_kernel k;
    trace_block *b;
    size_t bytes;
    uint64_t n = 0;
    FILE *file;
    write_trace("bad.traceg", 3);
    path_of(path, "bad.traceg");
    file = fopen(path, "r");
    bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = 0;
    at = strstr(text, old);
    assert_non_null(at);
    file = fopen(path, "w");
    fprintf(file, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    fclose(file);
    error[0] = 0;
    if (!trace_kernel_open(&k, path, 1, &map, error))
        while (n < BLOCKS && (b = trace_kernel_block(&k, n, error))) trace_kernel_drop(&k, b), n++;
    trace_kernel_close(&k);
}

/* A file that ends within a line says so. */
static void a_line_that_is_cut_says_so(void **state) {
    char path[128], error[TRACE_ERROR_BYTES] = "";
    trace_map map = {{0}, 0, 0, TRACE_REGION_BYTES};
    FILE *file = new_file("bad.traceg");
    trace_kernel k;
    (void)state;
    head(file, 3, 12, 1);
    fprintf(file, "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 2\n0000 ffffffff 1 R2 IADD3 2");
    fclose(file);
    path_of(path, "bad.traceg");
    assert_int_equal(trace_kernel_open(&k, path, 1, &map, error), -1);
    assert_non_null(strstr(error, "; the file ends within this line: it is truncated"));
    trace_kernel_close(&k);
}

/* A malformed trace is refused with line, column and the reason. */
static void what_is_malformed_is_refused_with_its_place(void **state) {
    static const char *const cases[][3] = {
        {"tracer version = 3", "tracer version = 9", ":12:29: tracer version 9 is none of 3 to 6"},
        {"-nregs = 12", "-nregs = 300", ":6:13: a thread has 1 to 255 registers, not 300"},
        {"(96,1,1)", "(80,1,1)", ":273:6: the mask has lanes that warp 2 lacks: the block has 80 threads"},
        {"-nregs = 12", "-nregs = 9", "R10 is none of the kernel's 9 registers"},
        {"(6,1,1)", "(6,1)", ":3:"},
        {"0000 ffffffff 1 R2 S2R 0 0", "0000 ffffffff 1 R2 S2R 0", ":23:"},
        {"0000 ffffffff 1 R2", "0000 gfffffff 1 R2", ":23:6: the mask is missing"},
        {"0000 ffffffff 1 R2", "0000 ffffffff 9 R2", ":23:15: the number of destinations is larger than 8"},
        {"R4 LDG.E 1 R2 4 1", "R4 LDG.E 1 R2 4 7", ":24:"},
        {"STS 2 R2 R6 4 1 0x0", "STS 2 R2 R6 4 1 0x200", "outside the block's 512 bytes"},
        {"LDG.E 1 R2 4 1 0x7f0000000000", "LDG.E 1 R2 4 1 0x7f0000000002", "no multiple of the access's 4 bytes"},
        {"#END_TB\n\n#BEGIN_TB\n\nthread block = 5", "#END_TB\n\n#BEGIN_TB\n\nthread block = 6", "outside the grid"},
        {"STS 2 R2 R6 4 1 0x0 4", "STL.64 2 R2 R6 8 1 0x4 0", "address 0x4 is no multiple of the access's 8 bytes"},
        {"warp = 1", "warp = 7", "is larger than 2"},
        {"warp = 1", "warp = 0", "stands twice"},
        {"insts = 122", "insts = 99999", ":"},
        {"(6,1,1)", "(7,1,1)", "the trace has 6 blocks, its grid has 7: it is truncated"},
    };
    char error[TRACE_ERROR_BYTES];
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        error_of(cases[i][0], cases[i][1], error);
        if (i + 1 == sizeof cases / sizeof *cases && !error[0]) { /* six blocks are there, the seventh is asked for */
            trace_map map = {{0}, 0, 0, TRACE_REGION_BYTES};
            char path[128];
            trace_kernel k;
            path_of(path, "bad.traceg");
            assert_int_equal(trace_kernel_open(&k, path, 1, &map, error), 0);
            assert_null(trace_kernel_block(&k, 6, error));
            trace_kernel_close(&k);
        }
        if (!strstr(error, cases[i][2])) fail_msg("case %u: \"%s\" lacks \"%s\"", i, error, cases[i][2]);
    }
}

/* What a run has done. */
typedef struct done {
    uint64_t cycles, warp_instructions, l1, requests;
} done;

static done run_to_end(machine *m) {
    done d = {0, 0, 0, 0};
    uint32_t i;
    if (machine_run(m, NEVER) != 1) fail_msg("%s", m->error);
    d.cycles = m->now;
    d.warp_instructions = m->kernels[0].warp_instructions;
    for (i = 0; i < m->sm_count; i++) d.l1 += m->sms[i]->statistics.l1_hits + m->sms[i]->statistics.l1_misses;
    d.requests = m->memory_system->statistics.requests;
    return d;
}

static machine *build_from(launch_file *launch, const char *path) {
    char error[LAUNCH_ERROR_BYTES];
    machine_options options;
    machine *m = NULL;
    machine_options_default(&options);
    if (launch_file_read(launch, path, error) || !(m = machine_build(launch, &options, error))) fail_msg("%s", error);
    return m;
}

static void expect_same_text(const char *left, const char *right) {
    FILE *files[2] = {fopen(left, "r"), fopen(right, "r")};
    int c;
    assert_non_null(files[0]);
    assert_non_null(files[1]);
    do {
        c = fgetc(files[0]);
        assert_int_equal(c, fgetc(files[1]));
    } while (c != EOF);
    fclose(files[0]);
    fclose(files[1]);
}

/* A kernel runs from PTX and from its own trace: the same instructions and requests; cycles differ as predicates are
 * not in a trace. The trace in the repository is the one that is written. */
static void a_written_trace_runs_like_its_kernel(void **state) {
    static const char *const kernels[] = {"saxpy", "hotspot", "pathfinder"};
    char path[256], error[LAUNCH_ERROR_BYTES];
    uint32_t i;
    (void)state;
    for (i = 0; i < 3; i++) {
        launch_file launch;
        machine *m;
        done ptx, trace;
        snprintf(path, sizeof path, GPUMP_SOURCE_DIR "/examples/minigpu/kernels/%s/small.yaml", kernels[i]);
        m = build_from(&launch, path);
        if (trace_writer_open(m, folder, 0, error)) fail_msg("%s", error);
        ptx = run_to_end(m);
        assert_int_equal(trace_writer_close(m), 0);
        machine_free(m);
        launch_file_free(&launch);
        snprintf(path, sizeof path, "%s/kernelslist.g", folder);
        m = build_from(&launch, path);
        trace = run_to_end(m);
        assert_int_equal(trace.warp_instructions, ptx.warp_instructions);
        assert_int_equal(trace.l1, ptx.l1);
        assert_int_equal(trace.requests, ptx.requests);
        assert_in_range(trace.cycles, ptx.cycles * 9 / 10, ptx.cycles);
        machine_free(m);
        launch_file_free(&launch);
    }
    snprintf(path, sizeof path, "%s/kernel-1.traceg", folder);
    expect_same_text(path, GPUMP_SOURCE_DIR "/examples/minigpu/traces/pathfinder/kernel-1.traceg");
}

/* Registers that hold the values of a trace, as its steps write them. */
static void write_step(const trace_kernel *k, const trace_block *b, uint32_t warp, uint32_t i,
                       uint32_t (*registers)[32]) {
    const trace_step *step = &b->warps[warp].shared->steps[i];
    const instruction *in = &k->program.instructions[step->instruction];
    const uint32_t place = b->value_places ? b->value_places[b->warps[warp].first + i] : GPUMP_NONE;
    uint32_t n, lane;
    assert_true(!in->destination_count || place != GPUMP_NONE);
    for (n = 0; n < in->destination_count; n++)
        for (lane = 0; lane < 32; lane++)
            if (step->mask >> lane & 1) registers[in->destinations[n].index][lane] = b->values[place + n * 32 + lane];
}

/* Compares what a store takes from its last register with device memory after the run. Returns the words compared. */
static uint32_t compare_store(const machine *m, const trace_kernel *k, const trace_block *b, uint32_t warp, uint32_t i,
                              const uint32_t (*registers)[32]) {
    const trace_step *step = &b->warps[warp].shared->steps[i];
    const instruction *in = &k->program.instructions[step->instruction];
    uint64_t addresses[32];
    uint32_t lane, word, count = 0;
    if (in->opcode != OPCODE_ST || in->space != SPACE_GLOBAL || !step->mask) return 0;
    trace_addresses(trace_reach_of(b, warp, step), step->mask, b->lists, addresses);
    for (lane = 0; lane < 32; lane++) {
        const uint64_t placed = addresses[lane] - k->map->base;
        const uint64_t address =
            k->map->regions[placed / TRACE_REGION_BYTES] * TRACE_REGION_BYTES + placed % TRACE_REGION_BYTES;
        if (!(step->mask >> lane & 1)) continue;
        memcpy(&word, m->memory + (address - DEVICE_BASE), sizeof word);
        assert_int_equal(word, registers[in->sources[in->source_count - 1].index][lane]);
        count++;
    }
    return count;
}

/* A trace of version 6 has the values that the kernel has computed: what its stores take from registers is what the
 * kernel has left in memory. Run from the trace, every read of a register is compared with them. */
static void written_values_are_those_of_the_kernel(void **state) {
    static uint32_t registers[SASS_REGISTERS + 1][32];
    trace_map map = {{0}, 0, 0, TRACE_REGION_BYTES};
    char path[256], error[LAUNCH_ERROR_BYTES];
    uint32_t compared = 0, warp;
    launch_file launch;
    trace_kernel k;
    trace_block *b;
    uint64_t linear;
    machine *m;
    (void)state;
    m = build_from(&launch, GPUMP_SOURCE_DIR "/examples/minigpu/kernels/saxpy/small.yaml");
    if (trace_writer_open(m, folder, 1, error)) fail_msg("%s", error);
    (void)run_to_end(m);
    assert_int_equal(trace_writer_close(m), 0);
    snprintf(path, sizeof path, "%s/kernel-1.traceg", folder);
    if (trace_kernel_open(&k, path, 1, &map, error)) fail_msg("%s", error);
    assert_int_equal(k.tracer_version, 6);
    for (linear = 0; linear < k.grid[0]; linear++) {
        if (!(b = trace_kernel_block(&k, linear, error))) fail_msg("%s", error);
        for (warp = 0; warp < TRACE_WARPS; warp++) {
            uint32_t i;
            for (i = 0; i < b->warps[warp].count; i++) {
                compared += compare_store(m, &k, b, warp, i, (const uint32_t(*)[32])registers);
                write_step(&k, b, warp, i, registers);
            }
        }
        trace_kernel_drop(&k, b);
    }
    assert_int_equal(k.odd_values, 0);
    assert_in_range(compared, 64, UINT32_MAX);
    trace_kernel_close(&k);
    machine_free(m);
    launch_file_free(&launch);
}

/* From a trace of version 6, the cycles are those of version 5, and blocks come back with the values that they had: in
 * every form of a context, and from the start of their regions. */
static void traces_with_values_are_preempted(void **state) {
    static const uint32_t forms[] = {CONTEXT_NAIVE, CONTEXT_LIVE, CONTEXT_LIVE_COMPRESS, CONTEXT_TB};
    uint64_t cycles[2];
    char path[256], error[LAUNCH_ERROR_BYTES];
    machine_options options;
    launch_file launch;
    machine *m;
    uint32_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        m = build_from(&launch, GPUMP_SOURCE_DIR "/examples/minigpu/kernels/hotspot/small.yaml");
        if (trace_writer_open(m, folder, (int)i, error)) fail_msg("%s", error);
        (void)run_to_end(m);
        assert_int_equal(trace_writer_close(m), 0);
        machine_free(m);
        launch_file_free(&launch);
        snprintf(path, sizeof path, "%s/kernelslist.g", folder);
        m = build_from(&launch, path);
        cycles[i] = run_to_end(m).cycles;
        lines = m->kernels[0].warp_instructions;
        machine_free(m);
        launch_file_free(&launch);
    }
    assert_int_equal(cycles[0], cycles[1]);
    for (i = 0; i < 5; i++) {
        machine_options_default(&options);
        options.context_form = forms[i < 4 ? i : 1];
        options.regions = i < 4 ? 0 : TRACE_REGIONS_SPARSE;
        (void)run_preempted(&options, i < 4 ? GPUMP_TECHNIQUE_SWITCH : GPUMP_TECHNIQUE_REWIND, 500, 0, error);
        if (error[0]) fail_msg("%s", error);
    }
    machine_options_default(&options);
    (void)run_preempted(&options, GPUMP_TECHNIQUE_SWITCH, 500, GPUMP_CONTEXT_REGISTERS, error);
    if (!error[0]) fail_msg("registers were lost, and nobody has seen it");
}

/* Writes a trace of one warp of 32 lanes, of which one instruction has some values. */
static void write_values(const char *name, const char *values) {
    FILE *file = new_file(name);
    head(file, 6, 12, 1);
    fprintf(file,
            "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 4\n0000 00000003 1 R4 MOV 0 0 0 0 NoVal\n"
            "0010 00000003 1 R2 IMAD.WIDE 1 R4 0 0 0 %s\n0020 00000003 1 R5 IADD3 2 R2 R3 0 0 0 Val 7 8\n"
            "0030 00000003 0 EXIT 0 0 0 0 NoVal\n#END_TB\n",
            values);
    fclose(file);
}

/* Values are read register after register. What is no number is refused with its place; another number of values than
 * lanes times registers is left out and counted. */
static void values_are_read_refused_or_counted(void **state) {
    static const struct {
        const char *text, *error;
        uint64_t odd;
    } cases[] = {{"Val 1 2 0x3 4", "", 0},
                 {"Val 1 2 3", "", 1},
                 {"Val", "", 1},
                 {"NoVal", "", 0},
                 {"Val 1 2 3 4 5", "", 1},
                 {"Val 1 2 3x 4", "21:50: the value", 0},
                 {"Val 1 2 1ffffffff 4", "21:49: the value", 0}};
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        trace_map map = {{0}, 0, 0, TRACE_REGION_BYTES};
        char path[128], error[TRACE_ERROR_BYTES] = "";
        trace_kernel k;
        trace_block *b;
        write_values("bad.traceg", cases[i].text);
        path_of(path, "bad.traceg");
        if (trace_kernel_open(&k, path, 1, &map, error) || !(b = trace_kernel_block(&k, 0, error))) {
            if (!*cases[i].error || !strstr(error, cases[i].error)) fail_msg("case %u: %s", i, error);
            trace_kernel_close(&k);
            continue;
        }
        assert_string_equal(cases[i].error, "");
        assert_int_equal(k.odd_values, 2 * cases[i].odd); /* the first block is read twice */
        assert_int_equal(b->value_places[0], GPUMP_NONE);
        assert_int_equal(b->value_places[1] == GPUMP_NONE, i != 0);
        if (!i) {
            const uint32_t *values = b->values + b->value_places[1];
            assert_int_equal(values[0], 1);
            assert_int_equal(values[1], 2);
            assert_int_equal(values[32], 3);
            assert_int_equal(values[33], 4);
        }
        assert_int_equal(b->values[b->value_places[2] + 1], 8);
        assert_int_equal(b->value_places[3], GPUMP_NONE);
        trace_kernel_drop(&k, b);
        trace_kernel_close(&k);
    }
}

/* A line as Accel-Sim writes version 6: clusters, uniform registers and predicates, values of all lanes or of each,
 * then those of sources. Operations of the Tensor Memory Accelerator are refused. */
static void values_of_accel_sim_are_read_or_refused(void **state) {
    static const struct {
        const char *line, *error;
        uint32_t has_values, values[3]; /* of lanes 0, 1 and 31 */
    } cases[] = {
        {"0010 00000003 2 P0 R2 IADD3 2 R4 UR6 0 0 0 Val 1 1 1 0x2a 1 7 1 8", "", 1, {42, 42, 42}},
        {"0010 00000003 1 R2 MOV 1 R4 0 0 0 Val 32 1 2 3 4 5 6 7 8 9 a b c d e f 10 11 12 13 14 15 16 17 18 19 "
         "1a 1b 1c 1d 1e 1f 20 1 5",
         "",
         1,
         {1, 2, 32}},
        {"0010 ffffffff 4 R2 R3 R6 R7 HGMMA.64x8x16.F32 1 UR4 1 0 0 0 NoVal", "", 0, {0, 0, 0}},
        {"0010 00000003 1 R2 MOV 1 R4 0 0 0 Val 2 1 2 1 5", "", 0, {0, 0, 0}},
        {"0010 00000003 1 R2 MOV 1 R4 0 0 0 Val 1 1ffffffff 1 5", "", 0, {0, 0, 0}},
        {"0010 00000003 1 R2 MOV 1 R4 0 0 0 Val 32 1 2", "the value of a register is missing", 0, {0, 0, 0}},
        {"0010 00000001 0 UTMALDG.2D 1 UR4 16 0x400 0 4096 0 4 0x7f0000000000 2 128 0 0 NoVal",
         "Tensor Memory Accelerator",
         0,
         {0, 0, 0}},
        {"0010 00000003 1 Q2 MOV 1 R4 0 0 0 NoVal", "a register, R0 to R255", 0, {0, 0, 0}}};
    uint32_t i;
    (void)state;
    has_lane_values = 0;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        trace_map map = {{0}, 0, 0, TRACE_REGION_BYTES};
        char path[128], error[TRACE_ERROR_BYTES] = "";
        FILE *file = new_file("bad.traceg");
        trace_kernel k;
        trace_block *b = NULL;
        head(file, 6, 12, 1);
        fprintf(file,
                "#BEGIN_TB\nthread block = 0,0,0\ncluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\n"
                "warp = 0\ninsts = 2\n%s\n0030 00000003 0 EXIT 0 0 0 0 NoVal\n#END_TB\n",
                cases[i].line);
        fclose(file);
        path_of(path, "bad.traceg");
        if (!trace_kernel_open(&k, path, 1, &map, error)) b = trace_kernel_block(&k, 0, error);
        if (!b != !!*cases[i].error || !strstr(error, cases[i].error)) fail_msg("case %u: %s", i, error);
        if (b && cases[i].has_values != (b->value_places && b->value_places[0] != GPUMP_NONE)) fail_msg("case %u", i);
        if (b && cases[i].has_values) {
            const uint32_t *values = b->values + b->value_places[0];
            assert_int_equal(values[0], cases[i].values[0]);
            assert_int_equal(values[1], cases[i].values[1]);
            assert_int_equal(values[31], cases[i].values[2]);
        }
        trace_kernel_drop(&k, b);
        trace_kernel_close(&k);
    }
    has_lane_values = 1;
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    static const char *const names[] = {"kernel-1.traceg", "kernel-1.traceg.xz", "kernel-1.traceg.zst",
                                        "kernelslist.g",   "bad.traceg",         "half.traceg.xz",
                                        "half.traceg.zst", "list.yaml",          "kernel-1.traceg.zst_half"};
    char path[128];
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(path, names[i]);
        (void)remove(path);
    }
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_versions_run_with_all_instructions),
        cmocka_unit_test(packed_traces_are_the_same),
        cmocka_unit_test(preempted_traces_end_with_right_tags),
        cmocka_unit_test(absent_pages_of_traces_are_served),
        cmocka_unit_test(warps_of_traces_go_back),
        cmocka_unit_test(warps_that_a_block_does_not_list_have_ended),
        cmocka_unit_test(threads_of_traces_give_the_same_bits),
        cmocka_unit_test(memory_does_not_depend_on_the_length),
        cmocka_unit_test(lines_of_plain_and_packed_files_are_the_same),
        cmocka_unit_test(kernels_of_a_list_are_read_anew),
        cmocka_unit_test(memory_does_not_depend_on_the_kernels),
        cmocka_unit_test(instructions_may_be_prepared_again),
        cmocka_unit_test(options_without_meaning_are_refused),
        cmocka_unit_test(kernels_that_ended_before_an_error_are_reported),
        cmocka_unit_test(a_block_without_instructions_ends),
        cmocka_unit_test(local_memory_lies_word_by_word),
        cmocka_unit_test(regions_end_where_a_read_word_is_overwritten),
        cmocka_unit_test(a_word_that_was_written_in_part_is_read),
        cmocka_unit_test(warps_of_traces_are_switched_out),
        cmocka_unit_test(lost_registers_and_shared_memory_are_seen),
        cmocka_unit_test(wrong_cursors_of_preempted_blocks_are_seen),
        cmocka_unit_test(branches_of_a_trace_are_executed),
        cmocka_unit_test(a_warp_ends_before_the_one_it_follows),
        cmocka_unit_test(a_stride_may_be_large),
        cmocka_unit_test(wrong_stores_are_seen),
        cmocka_unit_test(a_written_trace_runs_like_its_kernel),
        cmocka_unit_test(written_values_are_those_of_the_kernel),
        cmocka_unit_test(traces_with_values_are_preempted),
        cmocka_unit_test(values_are_read_refused_or_counted),
        cmocka_unit_test(values_of_accel_sim_are_read_or_refused),
        cmocka_unit_test(what_is_malformed_is_refused_with_its_place),
        cmocka_unit_test(a_line_that_is_cut_says_so),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
