/* labels: unit golden link: minigpu_core */
/* The PTX reader: forms of real PTX and what they decode to, refusals by name, errors by position (bad_ptx), our own
 * kernels. */
#include "test.h"
#include <dirent.h>
#include "ptx/ptx_reader.h"

#define HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"
#define REGISTERS \
    ".reg .pred %p<5>; .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .f64 %fd<9>;\n"

static ptx_module read_text(const char *text) {
    ptx_module module;
    ptx_error error;
    if (ptx_read(text, strlen(text), "t.ptx", &module, &error)) fail_msg("%s", error.text);
    return module;
}

/* Every instruction of the only kernel, one line each. */
static void check_decoded(const char *text, const char *const *lines) {
    ptx_module module = read_text(text);
    char line[256];
    if (module.refusal_count) fail_msg("%s", module.refusals[0].text);
    assert_int_equal(module.kernel_count, 1);
    const kernel_program *kernel = &module.kernels[0];
    for (uint32_t i = 0; i < kernel->count; i++) {
        instruction_text(&kernel->instructions[i], line, sizeof line);
        if (!lines[i] || strcmp(line, lines[i]))
            fail_msg("instruction %u: %s, expected %s", i, line, lines[i] ? lines[i] : "the end");
    }
    if (lines[kernel->count]) fail_msg("missing: %s", lines[kernel->count]);
    ptx_free(&module);
}

/* A kernel's text becomes the instructions of the listing, line by line. */
static void instructions_become_the_listing(void **state) {
    static const char *const lines[] = {"ld.param.u64 r0:r1, [0]",
                                        "ld.param.f32 r2, [8]",
                                        "cvta.global.to.u64 r3:r4, r0:r1",
                                        "mov.u32 r5, %ctaid.x",
                                        "mov.u32 r6, %ntid.y",
                                        "mad.lo.s32 r7, r5, r6, 0xfffffff8",
                                        "mul.wide.s32 r8:r9, r7, 4",
                                        "add.s64 r10:r11, r3:r4, r8:r9",
                                        "ld.global.f32 r12, [r10:r11+4]",
                                        "ld.global.u32 r13, [r10:r11-8]",
                                        "ld.global.v2.f32 r14, r12, [r10:r11]",
                                        "st.global.v4.u32 [r10:r11+16], r5, 10, 255, 5",
                                        "fma.rn.f32 r12, r12, r2, 0x3f800000",
                                        "add.f64 r15:r16, r15:r16, 0x3ff0000000000000",
                                        "setp.ge.s32 p0, r7, r5",
                                        "@p0 bra 18 (joins at 18)",
                                        "@!p0 bra.uni 14 (joins at 18)",
                                        "add.s32 r5, r5, 1",
                                        "bar.sync 0",
                                        "ret",
                                        NULL};
    (void)state;
    check_decoded(
        HEAD "# a preprocessor's line\n.file 1 \"a.cu\"\n.visible .entry k(.param .u64 .ptr .global .align 16 k_a, "
             ".param .f32 k_b)\n"
             ".maxntid 256, 1, 1\n.minnctapersm 2\n{\n" REGISTERS ".loc 1 3 4\n.pragma \"nounroll\";\n"
             "ld.param.u64 %rd1, [k_a]; /* a\n comment */ ld.param.f32 %f1, [k_b]; cvta.to.global.u64 %rd2, %rd1;\n"
             "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.y; mad.lo.s32 %r3, %r1, %r2, -8; mul.wide.s32 %rd3, %r3, 4; "
             "add.s64 %rd4, %rd2, %rd3;\n"
             "ld.global.f32 %f2, [%rd4+4]; ld.global.u32 %r4, [%rd4+-8]; ld.global.v2.f32 {%f3, %f2}, [%rd4];\n"
             "st.global.v4.u32 [%rd4+0x10], {%r1, 012, 0xffU, 0b101};\n"
             "fma.rn.f32 %f2, %f2, %f1, 0f3F800000; $top:\nadd.f64 %fd1, %fd1, 0d3FF0000000000000;\n$L2: setp.ge.s32 "
             "%p1, %r3, %r1;\n"
             "@%p1 bra $end; @!%p1 bra.uni $L2; add.s32 %r1, %r1, 1;\n$end:\nbar.sync 0; ret;\n}\n",
        lines);
}

/* Constant, global, shared and local variables get their addresses. */
static void addresses_of_every_space(void **state) {
    static const char *const lines[] = {"mov.u64 r0:r1, 0x1010",
                                        "ld.const.f32 r2, [4100]",
                                        "ld.const.u32 r3, [r0:r1+8]",
                                        "ld.global.u32 r3, [8192]",
                                        "mov.u32 r4, 0",
                                        "st.shared.f32 [r4+8], r2",
                                        "st.shared.f32 [64], r2",
                                        "mov.u32 r4, 144",
                                        "ld.shared.u32 r3, [148]",
                                        "mov.u64 r5:r6, 0",
                                        "cvta.local.u64 r7:r8, r5:r6",
                                        "st.local.u32 [r5:r6+4], r3",
                                        "ld.u32 r3, [r7:r8]",
                                        "atom.global.add.u32 r3, [r0:r1], 1",
                                        "red.shared.max.s32 [r4], r3",
                                        "atom.global.cas.b64 r9:r10, [r0:r1+8], r9:r10, r0:r1",
                                        "ld.volatile.shared.u32 r3, [r4]",
                                        "mov.u64 r0:r1, 0x1018",
                                        "ld.global.u32 r3, [8200]",
                                        "ld.const.f32 r2, [4112]",
                                        "mov.u32 r4, 104",
                                        "ld.shared.v2.f32 r2, r11, [104]",
                                        "ret",
                                        NULL};
    static const char text[] = HEAD
        ".const .align 4 .f32 pad[1] = {0f3F800000};\n.const .align 4 .f32 table[4] = {1.5, 0f40000000, -2.0, "
        "3};\n.global .align 8 .u64 counter;\n"
        ".global .align 8 .u64 pointer = table+4;\n.shared .align 4 .b8 block[64];\n.shared .v2 .f32 "
        "pairs[8];\n.extern .shared .align 16 .b8 "
        "dynamic[];\n"
        ".visible .entry k()\n{\n.local .align 8 .b8 __local_depot0[16];\n.shared .f32 one;\n" REGISTERS
        "mov.u64 %rd1, table+12; ld.const.f32 %f1, [pad+4]; ld.const.u32 %r1, [%rd1+8]; ld.global.u32 %r1, [counter];\n"
        "mov.u32 %r2, block; st.shared.f32 [%r2+8], %f1; st.shared.f32 [one], %f1; mov.u32 %r2, dynamic; ld.shared.u32 "
        "%r1, [dynamic+4];\n"
        "mov.u64 %rd2, __local_depot0; cvta.local.u64 %rd3, %rd2; st.local.u32 [%rd2+4], %r1; ld.u32 %r1, [%rd3];\n"
        "atom.global.add.u32 %r1, [%rd1], 1; red.shared.max.s32 [%r2], %r1; atom.global.cas.b64 %rd4, [%rd1+8], %rd4, "
        "%rd1;\n"
        "ld.volatile.shared.u32 %r1, [%r2];\n"
        /* a[i] counts elements, as a bare operand and as an address with and without brackets */
        "mov.u64 %rd1, table[5]; ld.global.u32 %r1, counter[1]; ld.const.f32 %f1, [table[3]];\n"
        "mov.u32 %r2, pairs[4]; ld.shared.v2.f32 {%f1, %f2}, pairs[4]; ret;\n}\n";
    (void)state;
    ptx_module module = read_text(text);
    kernel_program *kernel = &module.kernels[0];
    assert_int_equal(module.refusal_count, 0);
    ptx_link(&module, 0x1000, 0x2000);
    for (uint32_t i = 0; i < kernel->count; i++) {
        char line[256];
        instruction_text(&kernel->instructions[i], line, sizeof line);
        if (strcmp(line, lines[i])) fail_msg("instruction %u: %s, expected %s", i, line, lines[i]);
    }
    assert_int_equal(kernel->shared_bytes, 144);
    assert_int_equal(kernel->uses_extern_shared, 1);
    assert_int_equal(kernel->local_bytes, 16);
    assert_int_equal(module.constant_bytes, 20);
    assert_int_equal(module.global_bytes, 16);
    static const uint8_t image[20] = {0, 0,    0x80, 0x3f, 0, 0,    0xc0, 0x3f, 0,    0,
                                      0, 0x40, 0,    0,    0, 0xc0, 0,    0,    0x40, 0x40};
    assert_memory_equal(module.constant_image, image, 20);
    assert_int_equal(module.global_image[8], 0x08); /* pointer = table + 4 = 0x1008 */
    assert_int_equal(module.global_image[9], 0x10);
    ptx_link(&module, 0x5000, 0);
    assert_int_equal(module.global_image[9], 0x50);
    assert_int_equal(ptx_find_symbol(&module, "table")->address, 0x5004);
    ptx_free(&module);
}

/* Scopes that hide names, labels that repeat, and every kind of move. */
static void inline_assembly_is_read(void **state) {
    /* Registers without %, scopes that hide names, labels that repeat in scopes; operands of every kind of move. */
    (void)state;
    ptx_module module =
        read_text(HEAD ".visible .entry k()\n{\n" REGISTERS
                       "{ .reg .pred p; .reg .u32 x; setp.ne.u32 p, %r1, 0; @p bra L; add.u32 x, x, 1; L: }\n"
                       "{ .reg .pred p; .reg .u32 x; setp.ne.u32 p, %r1, 0; @p bra L; add.u32 x, x, 1; L: }\n"
                       "mov.b64 %rd1, {%r1, %r2}; mov.b64 {%r3, %r4}, %rd1; mov.b32 {_, %rs1}, %r1; "
                       "vote.sync.ballot.b32 %r1, %p1, -1;\n"
                       "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, 0xffffffff; @!%p1 mul.f32 %f1, %f2, 2.0; "
                       "setp.lt.and.f32 %p1|%p2, %f1, %f2, !%p1;\n"
                       "prmt.b32 %r1, %r1, 0, 0x0123; add.cc.u32 %r1, %r1, %r2; addc.u32 %r1, %r1, 0; exit;\n}\n");
    kernel_program *kernel = &module.kernels[0];
    assert_int_equal(module.refusal_count, 0);
    assert_int_equal(kernel->instructions[1].target, 3);
    assert_int_equal(kernel->instructions[4].target, 6);
    assert_int_not_equal(kernel->instructions[2].destinations[0].index, kernel->instructions[5].destinations[0].index);
    assert_int_not_equal(kernel->instructions[0].destinations[0].index, kernel->instructions[3].destinations[0].index);
    const instruction *add = &kernel->instructions[kernel->count - 3], *addc = add + 1;
    assert_int_equal(add->destination_count, 2);
    assert_int_equal(add->destinations[1].kind, OPERAND_PREDICATE);
    assert_int_equal(addc->sources[2].index, add->destinations[1].index);
    ptx_free(&module);
}

/* Parameters go through local memory, returns are branches behind the text. */
static void a_call_is_its_functions_text_in_place(void **state) {
    /* A call is its function's text in place: parameters through local memory, returns as branches behind it. */
    static const char *const lines[] = {"st.local.f32 [0], r0",
                                        "ld.local.f32 r1, [0]",
                                        "setp.gt.f32 p0, r1, 0",
                                        "@p0 bra 6 (joins at 7)",
                                        "st.local.f32 [4], 0",
                                        "bra 7",
                                        "st.local.f32 [4], r1",
                                        "ld.local.f32 r0, [4]",
                                        "ret",
                                        NULL};
    (void)state;
    check_decoded(HEAD ".func (.param .b32 f_result) f(.param .b32 f_x);\n.func (.param .b32 f_result) f(.param .b32 "
                       "f_x)\n{\n" REGISTERS "ld.param.f32 %f1, [f_x]; setp.gt.f32 %p1, %f1, 0f00000000; @%p1 bra "
                       "$take; st.param.f32 [f_result+0], 0f00000000; ret;\n"
                       "$take: st.param.f32 [f_result+0], %f1; ret;\n}\n"
                       ".visible .entry k()\n{\n" REGISTERS
                       "{ .param .b32 a; st.param.f32 [a+0], %f1; .param .b32 r; call.uni (r), f, (a); ld.param.f32 "
                       "%f1, [r+0]; } ret;\n}\n",
                  lines);
}

/* Only the functions of the list are compared; a guarded call jumps over all of it. */
static void test_call_targets(void **state) {
    static const char *const lines[] = {"mov.u64 r0:r1, 1",
                                        "mov.u64 r0:r1, 2",
                                        "@!p0 bra 9 (joins at 9)",
                                        "mov.u64 r2:r3, r0:r1",
                                        "setp.ne.u64 p1, r2:r3, 2",
                                        "@p1 trap.idx",
                                        "setp.eq.u64 p1, r2:r3, 2",
                                        "@!p1 bra 9 (joins at 9)",
                                        "mov.u32 r4, 8",
                                        "ret",
                                        NULL};
    (void)state;
    check_decoded(HEAD ".func f()\n{\n.reg .b32 %x; mov.u32 %x, 7; ret;\n}\n"
                       ".func g()\n{\n.reg .b32 %x; mov.u32 %x, 8; ret;\n}\n.visible .entry k()\n{\n" REGISTERS
                       "mov.u64 %rd1, f; mov.u64 %rd1, g; list: .calltargets g; @%p1 call %rd1, list; ret;\n}\n",
                  lines);
}

/* brx.idx becomes a comparison and a branch for each target. */
static void a_switch_is_a_chain_of_comparisons(void **state) {
    static const char *const lines[] = {"setp.eq.u32 p0, r0, 0",
                                        "@p0 bra 5 (joins at 8)",
                                        "setp.eq.u32 p0, r0, 1",
                                        "@p0 bra 7 (joins at 8)",
                                        "bra.uni 8",
                                        "mov.u32 r1, 1",
                                        "bra.uni 8",
                                        "mov.u32 r1, 2",
                                        "ret",
                                        NULL};
    (void)state;
    check_decoded(HEAD ".visible .entry k()\n{\n" REGISTERS
                       "$T: .branchtargets $a, $b, $end;\nbrx.idx %r1, $T;\n$a: mov.u32 %r2, 1; bra.uni $end;\n$b: "
                       "mov.u32 %r2, 2;\n$end: ret;\n}\n",
                  lines);
}

/* Alignment and arrays of parameters, and .reqntid. */
static void parameters_lie_at_their_offsets(void **state) {
    (void)state;
    ptx_module module = read_text(HEAD ".visible .entry k(.param .u32 n, .param .u64 in, .param .align 8 .b8 box[20], "
                                       ".param .f64 x, .param .u8 c)\n.reqntid 8, 4\n{\n" REGISTERS
                                       "ld.param.u64 %rd1, [in]; cvta.to.global.u64 %rd2, %rd1; ld.param.v2.u32 {%r1, "
                                       "%r2}, [box+8]; ld.param.u8 %rs1, [c]; ret;\n}\n.entry other() { }\n");
    const kernel_program *kernel = ptx_find_kernel(&module, "k");
    static const uint32_t offsets[] = {0, 8, 16, 40, 48}, bytes[] = {4, 8, 20, 8, 1};
    assert_non_null(kernel);
    assert_int_equal(kernel->parameter_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(kernel->parameters[i].offset, offsets[i]);
        assert_int_equal(kernel->parameters[i].bytes, bytes[i]);
        assert_int_equal(kernel->parameters[i].is_pointer, i == 1);
    }
    assert_int_equal(kernel->parameter_bytes, 49);
    assert_int_equal(kernel->parameters[1].space, SPACE_GLOBAL);
    assert_int_equal(kernel->required_threads[0], 8);
    assert_int_equal(kernel->required_threads[1], 4);
    assert_int_equal(kernel->required_threads[2], 1);
    assert_int_equal(kernel->instructions[2].offset, 24);
    assert_int_equal(module.version_major, 8);
    assert_int_equal(module.target, 75);
    kernel = ptx_find_kernel(&module, "other"); /* a body that just ends */
    assert_int_equal(kernel->count, 1);
    assert_int_equal(kernel->instructions[0].opcode, OPCODE_RET);
    ptx_free(&module);
}

/* A kernel that is refused leaves the other kernels of the file usable, and is named with its line and column. */
static void test_refusal_leaves_the_rest(void **state) {
    (void)state;
    ptx_module module = read_text(
        HEAD ".global .surfref s;\n.entry a()\n{\n" REGISTERS
             "\twmma.mma.sync.aligned.row {%r1}, {%r2};\n{ { } }\nret;\n}\n"
             ".entry b()\n{\n" REGISTERS "mov.u32 %r1, %r2; ret;\n}\n.entry c()\n{\n" REGISTERS
             "suld.p.1d.b32.trap {%r1}, [s, {%r2}]; ret;\n}\n.entry d() { .reg .b64 %rd<2>; mov.u64 %rd1, s; ret; }\n");
    assert_int_equal(module.kernel_count, 1);
    assert_string_equal(module.kernels[0].name, "b");
    assert_int_equal(module.refusal_count, 3);
    assert_string_equal(module.refusals[0].kernel, "a");
    assert_string_equal(module.refusals[0].opcode, "wmma.mma.sync.aligned.row");
    assert_int_equal(module.refusals[0].line, 8);
    assert_int_equal(module.refusals[0].column, 2);
    assert_string_equal(ptx_find_refusal(&module, "c")->opcode, "suld.p.1d.b32.trap");
    assert_non_null(strstr(ptx_find_refusal(&module, "d")->text, "'s' is of a kind that is not supported"));
    assert_null(ptx_find_kernel(&module, "a"));
    ptx_free(&module);
}

/* An if-else in a loop with a break, and a loop without an end. */
static void branches_join_at_their_postdominator(void **state) {
    /* if-else in a loop with a break, and an endless loop. */
    (void)state;
    ptx_module module =
        read_text(HEAD ".entry k()\n{\n" REGISTERS
                       "$loop: @%p1 bra $out;\n@%p2 bra $else;\nadd.s32 %r1, %r1, 1;\nbra $join;\n$else: add.s32 %r1, "
                       "%r1, 2;\n$join: @%p3 bra $loop;\n$out: @%p4 ret;\nadd.s32 %r1, %r1, 3; ret;\n}\n"
                       ".entry e()\n{\n" REGISTERS "$l: @%p1 bra $l; $m: bra $m;\n}\n");
    const instruction *i = module.kernels[0].instructions;
    assert_int_equal(i[0].reconvergence, 6);
    assert_int_equal(i[1].reconvergence, 5);
    assert_int_equal(i[5].reconvergence, 6);
    assert_int_equal(module.kernels[1].instructions[0].reconvergence, 1);
    ptx_free(&module);
}

/* Reads a whole file into a buffer that is exactly as long, so that a sanitizer sees any step beyond it. */
static char *load(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    char *text;
    if (!file) fail_msg("cannot open %s", path);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    text = malloc(*length ? *length : 1);
    assert_int_equal(fread(text, 1, *length, file), *length);
    fclose(file);
    return text;
}

/* Each file of bad_ptx is refused at its line with the text that it names. */
static void every_bad_file_says_its_error(void **state) {
    DIR *folder = opendir(GPUMP_SOURCE_DIR "/tests/ptx/bad_ptx");
    struct dirent *entry;
    uint32_t count = 0;
    (void)state;
    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        char path[1024], expected[512], *text;
        const char *got = "no error";
        size_t length, line = 0;
        ptx_module module;
        ptx_error error;
        if (!strstr(entry->d_name, ".ptx")) continue;
        snprintf(path, sizeof path, "%s/tests/ptx/bad_ptx/%s", GPUMP_SOURCE_DIR, entry->d_name);
        text = load(path, &length);
        while (line < length && text[line] != '\n') line++;
        snprintf(expected, sizeof expected, "%.*s", (int)(line > 11 ? line - 11 : 0),
                 text + 11); /* behind "// expect: " */
        int status = ptx_read(text, length, entry->d_name, &module, &error);
        if (status)
            got = error.text;
        else if (module.refusal_count)
            got = module.refusals[0].text;
        if (strcmp(got, expected))
            fail_msg("%s: got      %s\n%s: expected %s", entry->d_name, got, entry->d_name, expected);
        if (!status) ptx_free(&module);
        free(text);
        count++;
    }
    closedir(folder);
    assert_true(count > 50);
}

/* Cut anywhere, a file gives an error or reads; it never crashes. */
static void test_truncation(void **state) {
    size_t length;
    char *text = load(GPUMP_SOURCE_DIR "/examples/minigpu/kernels/saxpy/saxpy.ptx", &length);
    (void)state;
    for (size_t cut = 0; cut < length; cut++) {
        char *part = malloc(cut ? cut : 1);
        ptx_module module;
        ptx_error error;
        memcpy(part, text, cut);
        if (ptx_read(part, cut, "cut.ptx", &module, &error) == 0)
            ptx_free(&module);
        else
            assert_true(error.text[0] && error.line >= 1);
        free(part);
    }
    free(text);
}

static uint32_t read_folder(const char *root, int deep, uint32_t *refused) {
    DIR *folder = opendir(root);
    struct dirent *entry;
    uint32_t count = 0;
    if (!folder) return 0;
    while ((entry = readdir(folder))) {
        char path[1024];
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".ptx") == 0) {
            ptx_module module;
            ptx_error error;
            if (ptx_read_file(path, &module, &error)) fail_msg("%s", error.text);
            if (module.refusal_count && !refused) fail_msg("%s", module.refusals[0].text);
            if (refused) *refused += module.refusal_count;
            count += module.kernel_count;
            ptx_free(&module);
        } else if (deep)
            count += read_folder(path, 0, refused);
    }
    closedir(folder);
    return count;
}

/* Every PTX file of the kernels' folder is read whole. */
static void every_kernel_of_the_project_is_read(void **state) {
    (void)state;
    assert_true(read_folder(GPUMP_SOURCE_DIR "/examples/minigpu/kernels", 1, NULL) >= 1);
}

/* Every PTX file of the corpus is read whole. */
static void every_kernel_of_the_corpus_is_read(void **state) {
    (void)state;
    assert_true(read_folder(GPUMP_SOURCE_DIR "/tests/ptx/ptx_corpus", 0, NULL) >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_become_the_listing),
        cmocka_unit_test(addresses_of_every_space),
        cmocka_unit_test(inline_assembly_is_read),
        cmocka_unit_test(a_call_is_its_functions_text_in_place),
        cmocka_unit_test(test_call_targets),
        cmocka_unit_test(a_switch_is_a_chain_of_comparisons),
        cmocka_unit_test(parameters_lie_at_their_offsets),
        cmocka_unit_test(test_refusal_leaves_the_rest),
        cmocka_unit_test(branches_join_at_their_postdominator),
        cmocka_unit_test(every_bad_file_says_its_error),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(every_kernel_of_the_project_is_read),
        cmocka_unit_test(every_kernel_of_the_corpus_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
