/* link: minigpu_core */
/* The PTX reader over growing kernels, and the cost of computing one warp instruction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lanes/lanes.h"
#include "micro.h"
#include "ptx/ptx_reader.h"

/* ---- reading: a kernel of about `size` instructions in basic blocks of ten; one operation reads all of it ---- */

typedef struct text_state {
    char *text;
    size_t length;
} text_state;

static void *setup_text(uint64_t size) {
    text_state *s = (text_state *)calloc(1, sizeof *s);
    size_t room = (size_t)size * 48 + 1024;
    uint64_t i;
    if (!s || !(s->text = (char *)malloc(room))) return NULL;
    s->length =
        (size_t)sprintf(s->text,
                        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 k_p)\n{\n"
                        "\t.reg .pred %%p<%lu>;\n\t.reg .b32 %%r<%lu>;\n\t.reg .f32 %%f<4>;\n\t.reg .b64 %%rd<4>;\n"
                        "\tld.param.u64 %%rd1, [k_p];\n\tcvta.to.global.u64 %%rd2, %%rd1;\n",
                        (unsigned long)size + 2, (unsigned long)size + 2);
    for (i = 1; i <= size; i++) {
        unsigned long n = (unsigned long)i;
        switch (i % 10) {
        case 0:
            s->length += (size_t)sprintf(s->text + s->length, "\t@%%p%lu bra $L%lu;\n$L%lu:\n", n - 1, n / 10, n / 10);
            break;
        case 9:
            s->length += (size_t)sprintf(s->text + s->length, "\tsetp.lt.s32 %%p%lu, %%r%lu, 7;\n", n, n - 1);
            break;
        case 5:
            s->length +=
                (size_t)sprintf(s->text + s->length, "\tld.global.u32 %%r%lu, [%%rd2+%lu];\n", n, 4 * (n % 64));
            break;
        default:
            s->length += (size_t)sprintf(s->text + s->length, "\tadd.s32 %%r%lu, %%r%lu, %lu;\n", n,
                                         i > 2 && i % 10 > 1 ? n - 1 : 0ul, n % 100);
        }
    }
    s->length += (size_t)sprintf(s->text + s->length, "\tret;\n}\n");
    return s;
}
static void teardown_text(void *state) {
    free(((text_state *)state)->text);
    free(state);
}
static uint64_t run_read(void *state, uint64_t operations) {
    text_state *s = (text_state *)state;
    uint64_t sum = 0, done;
    for (done = 0; done < operations; done++) {
        ptx_module module;
        ptx_error error;
        if (ptx_read(s->text, s->length, "bench.ptx", &module, &error)) {
            fprintf(stderr, "micro: %s\n", error.text);
            exit(1);
        }
        sum += module.kernels[0].count + module.kernels[0].registers;
        ptx_free(&module);
    }
    return sum;
}

/* ---- computing: one operation is one warp instruction of 32 lanes ---- */

typedef struct lanes_state {
    instruction in;
    lanes_operand sources[INSTRUCTION_SOURCES], results[INSTRUCTION_DESTINATIONS];
} lanes_state;

static void *setup_lanes(const char *text) {
    lanes_state *s = (lanes_state *)calloc(1, sizeof *s);
    char whole[1024];
    ptx_module module;
    ptx_error error;
    uint32_t k, l;
    int length = snprintf(whole, sizeof whole,
                          ".version 8.0\n.target sm_75\n.address_size 64\n.entry k()\n{\n.reg .pred %%p<9>; .reg .b32 "
                          "%%r<9>; .reg .f32 %%f<9>;"
                          " .reg .b64 %%d<9>; .reg .f64 %%g<9>;\n%s; ret;\n}\n",
                          text);
    if (!s || ptx_read(whole, (size_t)length, "bench.ptx", &module, &error)) return NULL;
    s->in = module.kernels[0].instructions[0];
    ptx_free(&module);
    for (k = 0; k < INSTRUCTION_SOURCES; k++)
        for (l = 0; l < LANES; l++) {
            s->sources[k].word[0][l] = 0x3f800000u + 77777 * l + k;
            s->sources[k].word[1][l] = 0x3ff00000u + 9999 * l + k;
        }
    return s;
}
static uint64_t run_lanes(void *state, uint64_t operations) {
    lanes_state *s = (lanes_state *)state;
    uint64_t i, sum = 0;
    for (i = 0; i < operations; i++) {
        s->sources[0].word[0][i % LANES] ^= 1;
        lanes_compute(&s->in, UINT32_MAX, s->sources, s->results);
        sum += s->results[0].word[0][i % LANES];
    }
    return sum;
}

#define LANES_CASE(name, text) \
    static void *setup_##name(uint64_t size) { return size ? setup_lanes(text) : NULL; }
LANES_CASE(add_s32, "add.s32 %r0, %r1, %r2")
LANES_CASE(fma_f32, "fma.rn.f32 %f0, %f1, %f2, %f3")
LANES_CASE(div_f32, "div.rn.f32 %f0, %f1, %f2")
LANES_CASE(mul_wide, "mul.wide.s32 %d0, %r1, %r2")
LANES_CASE(add_f64, "add.f64 %g0, %g1, %g2")
LANES_CASE(setp_lt, "setp.lt.f32 %p0, %f1, %f2")
LANES_CASE(cvt_s32_f32, "cvt.rzi.s32.f32 %r0, %f1")
LANES_CASE(div_s32, "div.s32 %r0, %r1, %r2")
LANES_CASE(ex2, "ex2.approx.f32 %f0, %f1")
LANES_CASE(shfl, "shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1")

static const uint64_t sizes[] = {100, 1000, 10000, 100000, 0}, one[] = {1, 0};
#define ROW(name) \
    { "lanes_" #name, "a warp instruction, 32 lanes", NULL, one, setup_##name, run_lanes, NULL, free }
const micro_case micro_ptx[] = {
    {"ptx_read", "a kernel of so many instructions read", NULL, sizes, setup_text, run_read, NULL, teardown_text},
    ROW(add_s32),
    ROW(fma_f32),
    ROW(div_f32),
    ROW(mul_wide),
    ROW(add_f64),
    ROW(setp_lt),
    ROW(cvt_s32_f32),
    ROW(div_s32),
    ROW(ex2),
    ROW(shfl),
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
