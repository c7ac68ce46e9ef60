/* labels: unit link: minigpu_ptx */
/* ptx_run on host memory: arrays of the heap, of the stack and of low addresses, numbers as arguments, texts that are
 * read once, wrong use. */
#include "test.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "ptx_run.h"

/* to[i] = from[i] * factor + (number of the block), i over the whole grid. */
static const char text[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry scale(.param .u64 to, .param .u64 from, .param .u32 factor)\n{\n"
                           ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
                           "ld.param.u64 %rd1, [to];\nld.param.u64 %rd2, [from];\nld.param.u32 %r1, [factor];\n"
                           "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
                           "mad.lo.s32 %r5, %r2, %r3, %r4;\nmul.wide.u32 %rd3, %r5, 4;\n"
                           "add.s64 %rd4, %rd2, %rd3;\nadd.s64 %rd5, %rd1, %rd3;\n"
                           "ld.global.u32 %r6, [%rd4];\nmad.lo.s32 %r7, %r6, %r1, %r2;\n"
                           "st.global.u32 [%rd5], %r7;\nret;\n}\n";

static int scale(uint32_t *to, const uint32_t *from, uint32_t factor, int threads, int blocks) {
    void *arguments[] = {to, (void *)(uintptr_t)from, (void *)(uintptr_t)factor};
    return ptx_run(text, 3, arguments, threads, 1, 1, blocks, 1, 1, 0);
}

/* Kernels read and write what malloc returned, without a copy. */
static void kernels_access_the_hosts_own_memory(void **unused) {
    uint32_t from[256], i, round;
    uint32_t *to = (uint32_t *)calloc(256, sizeof *to);
    (void)unused;
    assert_non_null(to);
    for (i = 0; i < 256; i++) from[i] = i * i;
    for (round = 1; round < 20; round++) {
        assert_int_equal(scale(to, from, round, 64, 4), 0);
        for (i = 0; i < 256; i++) assert_int_equal(to[i], from[i] * round + i / 64);
    }
    free(to);
}

/* Text that is no PTX, a missing kernel or argument, and an empty grid end with 1 and a message. */
static void wrong_runs_return_1(void **unused) {
    static const char nothing[] = ".version 7.0\n.target sm_80\n.address_size 64\n";
    uint32_t values[64] = {0};
    void *arguments[] = {values, values, NULL};
    (void)unused;
    assert_int_equal(ptx_run(NULL, 0, NULL, 1, 1, 1, 1, 1, 1, 0), 1);
    assert_int_equal(ptx_run("this is no PTX", 0, NULL, 1, 1, 1, 1, 1, 1, 0), 1);
    assert_int_equal(ptx_run(nothing, 0, NULL, 1, 1, 1, 1, 1, 1, 0), 1);
    assert_int_equal(ptx_run(text, 2, arguments, 1, 1, 1, 1, 1, 1, 0), 1); /* an argument is missing */
    assert_int_equal(ptx_run(text, 3, arguments, 0, 1, 1, 1, 1, 1, 0), 1);
    assert_int_equal(ptx_run(text, 3, arguments, 2048, 1, 1, 1, 1, 1, 0), 1);                 /* too many threads */
    assert_int_equal(ptx_run(text, 3, (void *[]){NULL, NULL, NULL}, 1, 1, 1, 1, 1, 1, 0), 1); /* null pointers */
    assert_int_equal(scale(values, values, 1, 32, 1), 0);                                     /* and it goes on */
}

#if defined(__SANITIZE_ADDRESS__)
#define HAS_LOW_MEMORY 0
#elif defined(__has_feature)
#define HAS_LOW_MEMORY (!__has_feature(address_sanitizer))
#else
#define HAS_LOW_MEMORY 1
#endif

/* Standard error while a kernel of two blocks runs, which is to return `wanted`. */
static const char *said_by_a_run(int wanted) {
    static char said[4096];
    FILE *file = tmpfile();
    const int kept = dup(2);
    uint32_t values[64] = {0};
    int status;
    assert_non_null(file);
    dup2(fileno(file), 2);
    status = scale(values, values, 1, 32, 2);
    dup2(kept, 2);
    assert_int_equal(status, wanted);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = 0;
    fclose(file);
    close(kept);
    return said;
}

/* Pages, traces and records are made by the run-time library of programs. The next call reads MINIGPU again. */
static void files_of_programs_are_refused(void **unused) {
    static const char *const settings[] = {"html:page.html", "trace:trace.json", "record:folder"};
    size_t i;
    (void)unused;
    for (i = 0; i < 3; i++) {
        assert_int_equal(setenv("MINIGPU", settings[i], 1), 0);
        assert_non_null(strstr(said_by_a_run(1), "ptx_run makes no files"));
    }
    assert_int_equal(setenv("MINIGPU", "report,stats,preempt:100:switch", 1), 0);
}

/* MINIGPU=report: the kernel, and the blocks that MINIGPU=preempt has moved, stand on standard error. */
static void a_report_says_what_was_preempted(void **unused) {
    const char *said = said_by_a_run(0);
    (void)unused;
    assert_non_null(strstr(said, "\nscale "));
    assert_non_null(strstr(said, "gives up 1 blocks of scale by switch"));
    assert_non_null(strstr(said, "L1 loads"));
}

/* A program at a fixed address, as python3 often is, has its heap between 16 MB and some GB: kernels access it. */
static void low_memory(void **unused) {
    uint32_t i, *const low = (uint32_t *)(uintptr_t)0x10000000, *const high = (uint32_t *)(uintptr_t)0x3f000000;
    (void)unused;
    for (i = 0; i < 64; i++) low[i] = i;
    assert_int_equal(scale(high, low, 3, 32, 2), 0);
    for (i = 0; i < 64; i++) assert_int_equal(high[i], i * 3 + i / 32);
}

static int map_low_memory(void **unused) {
    const uintptr_t places[] = {0x10000000, 0x3f000000};
    size_t i;
    (void)unused;
    for (i = 0; HAS_LOW_MEMORY && i < 2; i++) {
        void *const wanted = (void *)places[i];
        if (mmap(wanted, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != wanted) return -1;
    }
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_programs_are_refused), cmocka_unit_test(kernels_access_the_hosts_own_memory),
        cmocka_unit_test(wrong_runs_return_1), cmocka_unit_test(a_report_says_what_was_preempted),
        cmocka_unit_test(low_memory)};
    return _cmocka_run_group_tests("ptx_run", tests, 4u + HAS_LOW_MEMORY, map_low_memory, NULL);
}
