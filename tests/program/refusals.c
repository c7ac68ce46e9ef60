/* labels: unit */
/* Every refusal of programs, analyses and transforms: its code, and what its diagnostic says. */
#include "diagnosed.h"
#include "program/program_tools.h"

#define NOT_FINISHED "program is not finished: call gpump_program_finish first"
#define FINISHED "program is finished: add to it before gpump_program_finish"

/* Two 32-bit registers, a 64-bit one, a predicate (3), and objects of global memory (0) and constants (1). */
static test_builder draft(void) {
    test_builder b = test_build(NULL);
    test_register(&b, GPUMP_WIDTH_32);
    test_register(&b, GPUMP_WIDTH_32);
    test_register(&b, GPUMP_WIDTH_64);
    test_register(&b, GPUMP_WIDTH_PREDICATE);
    test_object(&b, GPUMP_SPACE_GLOBAL, 0);
    test_object(&b, GPUMP_SPACE_CONSTANT, 0);
    return b;
}

static gpump_program *finished(void) {
    test_builder b = draft();
    gpump_instruction exit = gpump_instruction_make(GPUMP_OP_EXIT);
    test_constant(&b, 0, 5);
    test_add(&b, &exit);
    assert_int_equal(gpump_program_finish(b.program, NULL), GPUMP_OK);
    return b.program;
}

/* Memory whose bytes are all 1, as is the width of a 32-bit register. */
static void *allocate_ones(void *user, void *memory, size_t old_bytes, size_t bytes) {
    void *fresh = bytes ? malloc(bytes) : NULL;
    (void)user;
    if (fresh) memset(fresh, 1, bytes);
    if (fresh && memory) memcpy(fresh, memory, old_bytes < bytes ? old_bytes : bytes);
    free(memory);
    return fresh;
}

/* The last register is no half of a pair, whatever lies in the memory behind it. */
static void the_last_register_alone_is_no_pair(void **state) {
    const gpump_allocator ones = {allocate_ones, NULL};
    const uint32_t uses[2] = {2 | GPUMP_OPERAND_PAIR, 4 | GPUMP_OPERAND_PAIR};
    (void)state;
    for (uint32_t last = 0; last < 2; last++) {
        test_builder b = test_build(&ones);
        gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
        for (uint32_t i = 0; i < 5; i++) test_register(&b, GPUMP_WIDTH_32);
        in.uses = &uses[last];
        in.use_count = 1;
        assert_int_equal(gpump_program_add(b.program, &in, NULL, NULL), last ? GPUMP_ERROR_ARGUMENT : GPUMP_OK);
        gpump_program_destroy(b.program);
    }
}

/* A wrong call while a program is built is refused with the argument's name, and adds nothing. */
static void a_program_that_is_built_wrongly_is_refused(void **state) {
    test_builder b = draft();
    gpump_allocator empty = {NULL, NULL};
    gpump_memory_object object = {GPUMP_SPACE_GENERIC, 0};
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_EXIT);
    gpump_program *program = NULL, *done;
    uint32_t number = 77;
    (void)state;
    assert_int_equal(gpump_program_create(NULL, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_program_create(&empty, &program), GPUMP_ERROR_ARGUMENT);
    assert_null(program);
    assert_int_equal(gpump_program_create(NULL, &program), GPUMP_OK); /* the C library's allocator */
    gpump_program_destroy(program);
    diagnosed(gpump_program_add_register(NULL, GPUMP_WIDTH_32, &number, DIAG), GPUMP_ERROR_ARGUMENT, "program or reg",
              0, 0, 1, UINT64_MAX);
    diagnosed(gpump_program_add_register(b.program, GPUMP_WIDTH_32, NULL, DIAG), GPUMP_ERROR_ARGUMENT, "program or reg",
              0, 0, 1, UINT64_MAX);
    diagnosed(gpump_program_add_register(b.program, GPUMP_WIDTH_64 + 1, &number, DIAG), GPUMP_ERROR_ARGUMENT, "width",
              4, GPUMP_WIDTH_64 + 1, 0, GPUMP_WIDTH_64);
    diagnosed(gpump_program_add_object(NULL, &object, &number, DIAG), GPUMP_ERROR_ARGUMENT, "program, what or object",
              0, 0, 1, UINT64_MAX);
    diagnosed(gpump_program_add_object(b.program, NULL, &number, DIAG), GPUMP_ERROR_ARGUMENT, "program, what or object",
              0, 0, 1, UINT64_MAX);
    diagnosed(gpump_program_add_object(b.program, &object, NULL, DIAG), GPUMP_ERROR_ARGUMENT, "program, what or object",
              0, 0, 1, UINT64_MAX);
    diagnosed(gpump_program_add_object(b.program, &object, &number, DIAG), GPUMP_ERROR_ARGUMENT, "space", 2,
              GPUMP_SPACE_GENERIC, 0, GPUMP_SPACE_TEXTURE);
    assert_int_equal(number, 77);
    diagnosed(gpump_program_add(NULL, &in, &number, DIAG), GPUMP_ERROR_ARGUMENT, "program or in", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_program_add(b.program, NULL, &number, DIAG), GPUMP_ERROR_ARGUMENT, "program or in", 0, 0, 1,
              UINT64_MAX);
    diagnosed(gpump_program_finish(NULL, DIAG), GPUMP_ERROR_ARGUMENT, "program", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_program_finish(b.program, DIAG), GPUMP_ERROR_ARGUMENT, "instructions", 0, 0, 1,
              GPUMP_OPERAND_INDEX);
    /* a branch beyond the end, and an end that is run over */
    test_branch(&b, 3, 0, 2);
    test_constant(&b, 0, 1);
    diagnosed(gpump_program_finish(b.program, DIAG), GPUMP_ERROR_ARGUMENT, "target", 0, 2, 0, 1);
    gpump_program_destroy(b.program);
    b = draft();
    test_constant(&b, 0, 1);
    test_constant(&b, 0, 1);
    diagnosed(gpump_program_finish(b.program, DIAG), GPUMP_ERROR_ARGUMENT, "operation", 1, GPUMP_OP_CONSTANT,
              GPUMP_OP_BRANCH, GPUMP_OP_EXIT);
    gpump_program_destroy(b.program);
    done = finished();
    diagnosed(gpump_program_add_register(done, GPUMP_WIDTH_32, &number, DIAG), GPUMP_ERROR_STATE, FINISHED, 0, 1, 0, 0);
    object.space = GPUMP_SPACE_GLOBAL;
    diagnosed(gpump_program_add_object(done, &object, &number, DIAG), GPUMP_ERROR_STATE, FINISHED, 0, 1, 0, 0);
    diagnosed(gpump_program_add(done, &in, &number, DIAG), GPUMP_ERROR_STATE, FINISHED, 0, 1, 0, 0);
    diagnosed(gpump_program_finish(done, DIAG), GPUMP_ERROR_STATE, FINISHED, 0, 1, 0, 0);
    gpump_program_destroy(done);
    gpump_program_destroy(NULL);
    assert_int_equal(gpump_program_count(NULL).instructions + gpump_program_count(NULL).registers +
                         gpump_program_count(NULL).objects + gpump_program_count(NULL).basic_blocks +
                         gpump_program_count(NULL).loops,
                     0);
}

#define START(operation)                    \
    in = gpump_instruction_make(operation); \
    in.defs = defs;                         \
    in.uses = uses
#define BAD_RULE(field, value, minimum, maximum)                                                                     \
    diagnosed_rule(gpump_program_add(b.program, &in, &number, DIAG), GPUMP_ERROR_ARGUMENT, field, 1, value, minimum, \
                   maximum)
#define BAD(field, value, minimum, maximum) \
    diagnosed(gpump_program_add(b.program, &in, &number, DIAG), GPUMP_ERROR_ARGUMENT, field, 1, value, minimum, maximum)

/* A wrong instruction is refused with the field's name and range, and is not added. */
static void wrong_instructions_are_refused(void **state) {
    test_builder b = draft();
    uint32_t defs[17], uses[65], number = 77;
    gpump_instruction in;
    (void)state;
    for (uint32_t i = 0; i < 17; i++) defs[i] = 0;
    for (uint32_t i = 0; i < 65; i++) uses[i] = 1;
    test_constant(&b, 0, 5); /* so that numbers are 1 */
    START(GPUMP_OP_COUNT);
    BAD("operation", GPUMP_OP_COUNT, 0, GPUMP_OP_COUNT - 1);
    START(GPUMP_OP_COMPUTE);
    in.def_count = 17;
    BAD("def_count", 17, 0, 16);
    in.def_count = 16;
    in.use_count = 65;
    BAD("use_count", 65, 0, 64);
    START(GPUMP_OP_MOVE);
    BAD("def_count", 0, 1, 1);
    in.def_count = 1;
    BAD("use_count", 0, 1, 1);
    in.use_count = 1;
    in.defs = NULL;
    BAD("operands", 0, 1, 1);
    in.defs = defs;
    in.uses = NULL;
    BAD("operands", 0, 1, 1);
    in.uses = uses;
    defs[0] = 4;
    BAD("defs", 4, 0, 3);
    defs[0] = GPUMP_OPERAND_PARAMETER;
    BAD("defs", GPUMP_OPERAND_PARAMETER, 0, 3);
    defs[0] = 0;
    uses[0] = 4;
    BAD("uses", 4, 0, 3);
    uses[0] = 2 | GPUMP_OPERAND_PAIR; /* a pair is two 32-bit registers, the first even */
    BAD("uses", 2 | GPUMP_OPERAND_PAIR, 0, 3);
    uses[0] = 1 | GPUMP_OPERAND_PAIR;
    BAD("uses", 1 | GPUMP_OPERAND_PAIR, 0, 3);
    uses[0] = 2; /* 64 bits into 32 */
    defs[1] = 2; /* not one of its operands */
    BAD("uses", GPUMP_WIDTH_64, GPUMP_WIDTH_32, GPUMP_WIDTH_32);
    defs[1] = 0;
    uses[0] = 1;
    in.flags = 512;
    BAD("flags", 512, 0, 511);
    in.flags = GPUMP_FLAG_GUARD_NEGATED;
    BAD("guard", GPUMP_NONE, 0, 0);
    in.flags = 0;
    in.guard = 4;
    BAD("guard", 4, 0, 3);
    in.guard = 0; /* not a predicate */
    diagnosed_rule(gpump_program_add(b.program, &in, &number, DIAG), GPUMP_ERROR_ARGUMENT, "guard", 1, 0, 0,
                   3); /* no predicate */
    in.guard = 3;
    in.target = 0;
    BAD("target", 0, 0, 0);
    in.target = GPUMP_NONE;
    in.access = GPUMP_ACCESS_READ;
    BAD("access", GPUMP_ACCESS_READ, 0, 0);
    in.access = 0;
    in.flags = GPUMP_FLAG_VOLATILE;
    BAD("access", 0, 1, 3);
    START(GPUMP_OP_BRANCH);
    BAD("target", GPUMP_NONE, 0, 0);
    assert_int_equal(gpump_program_count(b.program).instructions, 1); /* nothing of it was taken */
    assert_int_equal(number, 77);
    gpump_program_destroy(b.program);
}

/* A wrong memory access is refused with the field's name and range, and is not added. */
static void wrong_memory_accesses_are_refused(void **state) {
    test_builder b = draft();
    uint32_t defs[17], uses[65], number = 77;
    gpump_instruction in, access;
    (void)state;
    for (uint32_t i = 0; i < 17; i++) defs[i] = 0;
    for (uint32_t i = 0; i < 65; i++) uses[i] = 1;
    test_constant(&b, 0, 5); /* so that numbers are 1 */
    START(GPUMP_OP_COMPUTE);
    in.access = 4;
    BAD("access", 4, 0, 3);
    START(GPUMP_OP_COMPUTE);
    access = in;
    access.use_count = 1;
    access.access = GPUMP_ACCESS_READ;
    access.space = GPUMP_SPACE_GLOBAL;
    access.object = 0;
    access.address = GPUMP_ADDRESS_ANYWHERE;
    access.bytes = 4;
    in = access;
    in.space = GPUMP_SPACES;
    BAD("space", GPUMP_SPACES, 0, GPUMP_SPACES - 1);
    in = access;
    in.access = GPUMP_ACCESS_WRITE;
    in.space = GPUMP_SPACE_CONSTANT;
    BAD("space", GPUMP_SPACE_CONSTANT, 0, GPUMP_SPACE_LOCAL);
    in.space = GPUMP_SPACE_TEXTURE;
    BAD("space", GPUMP_SPACE_TEXTURE, 0, GPUMP_SPACE_LOCAL);
    in = access;
    in.address = GPUMP_ADDRESS_VALUE + 1;
    BAD("address", GPUMP_ADDRESS_VALUE + 1, 0, GPUMP_ADDRESS_VALUE);
    in = access;
    in.bytes = 0;
    BAD("bytes", 0, 1, UINT32_MAX);
    in = access;
    in.object = 2;
    BAD("object", 2, 0, 1);
    in.object = 1;
    BAD("space", GPUMP_SPACE_GLOBAL, GPUMP_SPACE_CONSTANT, GPUMP_SPACE_CONSTANT);
    in = access;
    in.object = GPUMP_NONE;
    in.address = GPUMP_ADDRESS_VALUE;
    BAD("object", GPUMP_NONE, 0, 1);
    START(GPUMP_OP_CHECK);
    in.def_count = 1;
    in.use_count = 2;
    BAD("access", 0, 1, 3);
    in.access = GPUMP_ACCESS_READ;
    in.space = GPUMP_SPACE_GLOBAL;
    in.bytes = 4;
    in.object = GPUMP_NONE;
    uses[1] = 3;
    defs[0] = 0;
    BAD("uses", 3, 0, 0);
    uses[1] = 0;
    BAD("defs", GPUMP_WIDTH_32, 0, 0);
    START(GPUMP_OP_PAGE_ENTERED);
    in.def_count = in.use_count = 1;
    in.immediate = 4096;
    BAD("defs", GPUMP_WIDTH_32, 0, 0);
    defs[0] = 3;
    in.immediate = 0;
    BAD("immediate", 0, 1, UINT32_MAX);
    in.immediate = 4097;
    BAD_RULE("immediate", 4097, 1, UINT32_MAX);
    in.immediate = -4096;
    BAD("immediate", UINT64_MAX - 4095, 1, UINT32_MAX);
    START(GPUMP_OP_GUARDED_CALL);
    in.target = 0;
    BAD("guard", GPUMP_NONE, 0, 3);
    in = access;
    in.flags = GPUMP_FLAG_CHECKED;
    BAD("defs", 0, 1, 16);
    in.def_count = 1;
    defs[0] = 1;
    BAD("defs", GPUMP_WIDTH_32, 0, 0);
    assert_int_equal(gpump_program_count(b.program).instructions, 1); /* nothing of it was taken */
    assert_int_equal(number, 77);
    gpump_program_destroy(b.program);
}
#undef BAD
#undef START

/* How many registers each operation writes and reads, whether it may access memory, and whether it has a target. */
static void operations_have_their_operands(void **state) {
    static const struct {
        uint32_t operation, least_defs, most_defs, least_uses, most_uses, accesses, must_access, has_target;
    } all[] = {{GPUMP_OP_COMPUTE, 0, 16, 0, 64, 1, 0, 0},    {GPUMP_OP_MOVE, 1, 1, 1, 1, 0, 0, 0},
               {GPUMP_OP_CONSTANT, 1, 1, 0, 0, 0, 0, 0},     {GPUMP_OP_PARAMETER, 1, 1, 0, 0, 0, 0, 0},
               {GPUMP_OP_ADD, 1, 1, 1, 1, 0, 0, 0},          {GPUMP_OP_BRANCH, 0, 0, 0, 0, 0, 0, 1},
               {GPUMP_OP_EXIT, 0, 0, 0, 0, 0, 0, 0},         {GPUMP_OP_BARRIER, 0, 0, 0, 2, 0, 0, 0},
               {GPUMP_OP_SPILL_STORE, 0, 0, 1, 1, 0, 0, 0},  {GPUMP_OP_SPILL_LOAD, 1, 1, 0, 0, 0, 0, 0},
               {GPUMP_OP_BOUNDARY, 0, 0, 0, 0, 0, 0, 0},     {GPUMP_OP_PP, 0, 0, 0, 0, 0, 0, 0},
               {GPUMP_OP_PP_DIVERGED, 0, 0, 0, 0, 0, 0, 0},  {GPUMP_OP_BARRIER_PP, 0, 0, 0, 2, 0, 0, 0},
               {GPUMP_OP_START_MARKER, 0, 0, 0, 0, 0, 0, 0}, {GPUMP_OP_CLEAR_CHECK, 1, 1, 0, 0, 0, 0, 0},
               {GPUMP_OP_CHECK, 1, 1, 2, 2, 1, 1, 0},        {GPUMP_OP_PAGE_ENTERED, 1, 1, 1, 1, 0, 0, 0},
               {GPUMP_OP_GUARDED_CALL, 0, 0, 0, 0, 0, 0, 1}};
    uint32_t defs[17], uses[65], n, k, d, u;
    (void)state;
    assert_int_equal(sizeof all / sizeof all[0], GPUMP_OP_COUNT);
    for (k = 0; k < 17; k++) defs[k] = 3; /* the predicate: every operation may write and read it */
    for (k = 0; k < 65; k++) uses[k] = 3;
    for (n = 0; n < GPUMP_OP_COUNT; n++) {
        test_builder b = draft();
        assert_int_equal(all[n].operation, n);
        for (d = 0; d <= 17; d++)
            for (u = 0; u <= 65; u += u > 2 && u < 62 ? 20 : 1)
                for (k = 0; k < 8; k++) { /* with and without access, target; memory or not */
                    const int fits = d >= all[n].least_defs && d <= all[n].most_defs && u >= all[n].least_uses &&
                                     u <= all[n].most_uses && (k & 1u) == all[n].has_target &&
                                     (!(k >> 1 & 1u) || all[n].accesses) && (k >> 1 & 1u) >= all[n].must_access;
                    gpump_instruction in = gpump_instruction_make(n);
                    in.defs = defs;
                    in.uses = uses;
                    in.def_count = d;
                    in.use_count = u;
                    if (k & 1u) in.target = 0;
                    if (k >> 1 & 1u) in.access = GPUMP_ACCESS_READ, in.space = GPUMP_SPACE_GLOBAL;
                    in.bytes = 4;
                    in.immediate = 4096;
                    if (n == GPUMP_OP_GUARDED_CALL) in.guard = 3;
                    if ((gpump_program_add(b.program, &in, NULL, NULL) == GPUMP_OK) != fits)
                        fail_msg("operation %u with %u defs, %u uses, access %u, target %u", n, d, u, k >> 1 & 1u,
                                 k & 1u);
                }
        gpump_program_destroy(b.program);
    }
}

/* A program's text names what the instruction does, and nothing else. */
static void a_program_as_text_names_what_it_does(void **state) {
    static const char *const expected[] = {"constant r0 [5]", "@!r3 op7 r0 = r1, r1",
                                           "op8.check r0, r3 = r1, r3 [+0, 4 bytes]",
                                           "check.load r3 = r1, r3 [+0, 4 bytes]", "exit"};
    test_builder b = draft();
    uint32_t defs[2] = {0, 3}, uses[2] = {1, 1}, i;
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
    char text[100], cut[8];
    (void)state;
    test_constant(&b, 0, 5);
    in.defs = defs;
    in.uses = uses;
    in.def_count = 1;
    in.use_count = 2;
    in.tag = 7;
    in.guard = 3;
    in.flags = GPUMP_FLAG_GUARD_NEGATED;
    test_add(&b, &in);
    for (i = 0; i < 2; i++) {
        in = gpump_instruction_make(i ? GPUMP_OP_CHECK : GPUMP_OP_COMPUTE);
        in.defs = defs + i;
        in.uses = uses;
        in.def_count = 2 - i;
        in.use_count = 2;
        uses[1] = 3;
        in.tag = 8;
        in.flags = i ? 0 : GPUMP_FLAG_CHECKED;
        in.access = GPUMP_ACCESS_READ;
        in.space = GPUMP_SPACE_GLOBAL;
        in.bytes = 4;
        test_add(&b, &in);
    }
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    for (i = 0; i < 5; i++) {
        assert_int_equal(gpump_program_text(b.program, i, text, sizeof text), strlen(expected[i]));
        assert_string_equal(text, expected[i]);
        assert_int_equal(gpump_program_text(b.program, i, cut, sizeof cut), strlen(expected[i]));
        assert_true(!strncmp(cut, expected[i], 7) && strlen(cut) <= 7);
    }
    gpump_program_destroy(b.program);
}

/* Programs that are fit to run but that an analysis cannot take: the diagnostic names the instruction. */
static void programs_that_do_not_fit(void **state) {
    static const uint32_t already[] = {GPUMP_OP_BOUNDARY, GPUMP_OP_PP, GPUMP_OP_BARRIER_PP};
    gpump_regions_config regions;
    gpump_preempt_points_config preempt;
    gpump_program *out = NULL;
    gpump_preempt_point points[2];
    gpump_instruction in;
    test_builder b;
    uint32_t i, count = 77;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_regions_component, &regions, "igpu", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_preempt_points_component, &preempt, "lin", NULL), GPUMP_OK);
    for (i = 0; i < 3; i++) { /* what a transform has put in, it does not put in again */
        b = test_build(NULL);
        test_register(&b, GPUMP_WIDTH_32);
        test_constant(&b, 0, 5);
        in = gpump_instruction_make(already[i]);
        test_add(&b, &in);
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        if (!i)
            diagnosed(gpump_regions_form(b.program, &regions, &out, NULL, DIAG), GPUMP_ERROR_ARGUMENT, "operation", 1,
                      GPUMP_OP_BOUNDARY, 0, GPUMP_OP_BARRIER);
        else
            diagnosed(gpump_preempt_points_place(b.program, &preempt, &out, points, 2, &count, DIAG),
                      GPUMP_ERROR_ARGUMENT, "operation", 1, already[i], 0, GPUMP_OP_BARRIER);
        gpump_program_destroy(b.program);
    }
    for (i = 64; i <= 65; i++) { /* a context has 64 predicates */
        uint32_t k;
        b = test_build(NULL);
        test_register(&b, GPUMP_WIDTH_32);
        for (k = 0; k < i; k++) test_register(&b, GPUMP_WIDTH_PREDICATE);
        test_barrier(&b);
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        if (i == 64) {
            diagnosed(gpump_preempt_points_place(b.program, &preempt, &out, NULL, 0, &count, DIAG),
                      GPUMP_ERROR_CAPACITY, "points", 0, 0, 1, UINT32_MAX);
            assert_int_equal(count, 1);
        } else
            diagnosed(gpump_preempt_points_place(b.program, &preempt, &out, points, 2, &count, DIAG),
                      GPUMP_ERROR_ARGUMENT, "registers", 65, GPUMP_WIDTH_PREDICATE, 0, 0);
        gpump_program_destroy(b.program);
    }
    assert_null(out);
}

/* Pairs are what register allocation makes, and a check needs an address: first or last in a program. */
static void operands_that_do_not_fit(void **state) {
    gpump_registers_config registers;
    gpump_page_checks_config pages;
    gpump_program *out = NULL;
    gpump_instruction in;
    test_builder b;
    uint32_t i, pair = 0 | GPUMP_OPERAND_PAIR;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_registers_component, &registers, "kepler", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_page_checks_component, &pages, "kim", NULL), GPUMP_OK);
    for (i = 0; i < 2; i++) {
        b = test_build(NULL);
        test_register(&b, GPUMP_WIDTH_32);
        test_register(&b, GPUMP_WIDTH_32);
        if (i) test_constant(&b, 0, 5);
        in = gpump_instruction_make(GPUMP_OP_COMPUTE);
        in.uses = &pair;
        in.use_count = 1;
        test_add(&b, &in);
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        diagnosed(gpump_registers_allocate(b.program, &registers, &out, NULL, DIAG), GPUMP_ERROR_ARGUMENT, "operand", i,
                  pair, 0, GPUMP_OPERAND_INDEX);
        gpump_program_destroy(b.program);
        b = test_build(NULL);
        test_register(&b, GPUMP_WIDTH_32);
        if (i) test_constant(&b, 0, 5);
        in = gpump_instruction_make(GPUMP_OP_COMPUTE); /* an access whose address nobody gives */
        in.access = GPUMP_ACCESS_WRITE;
        in.space = GPUMP_SPACE_GLOBAL;
        in.bytes = 4;
        test_add(&b, &in);
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        diagnosed(gpump_page_checks_insert(b.program, &pages, &out, NULL, DIAG), GPUMP_ERROR_ARGUMENT, "uses", i, 0, 1,
                  64);
        gpump_program_destroy(b.program);
    }
    assert_null(out);
}

/* A guarded call leads to a marker, perhaps through what stands right before it. */
static void guarded_calls_lead_to_markers(void **state) {
    gpump_instruction in;
    test_builder b;
    uint32_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
        b = test_build(NULL);
        test_register(&b, GPUMP_WIDTH_32);
        test_register(&b, GPUMP_WIDTH_PREDICATE);
        in = gpump_instruction_make(GPUMP_OP_GUARDED_CALL);
        in.guard = 1;
        in.target = 1;
        test_add(&b, &in);
        test_constant(&b, 0, 5);
        if (i) test_op(&b, 0, 0, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        in = gpump_instruction_make(GPUMP_OP_START_MARKER);
        test_add(&b, &in);
        test_exit(&b, GPUMP_NONE);
        if (i)
            diagnosed_rule(gpump_program_finish(b.program, DIAG), GPUMP_ERROR_ARGUMENT, "target", 0, 1, 0, 4);
        else
            assert_int_equal(gpump_program_finish(b.program, NULL), GPUMP_OK);
        gpump_program_destroy(b.program);
    }
}

/* Liveness refuses NULL, drafts and numbers out of range. */
static void liveness_refuses(void **state) {
    gpump_program *program = finished();
    test_builder b = draft();
    gpump_uninitialised list[4];
    uint32_t count = 77;
    uint32_t branches[4];
    uint64_t set[4];
    gpump_liveness *liveness = NULL;
    (void)state;
    assert_int_equal(gpump_liveness_create(NULL, NULL, &liveness), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_liveness_create(program, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_liveness_create(b.program, NULL, &liveness), GPUMP_ERROR_STATE);
    assert_null(liveness);
    assert_int_equal(gpump_liveness_create(program, NULL, &liveness), GPUMP_OK);
    assert_int_equal(gpump_liveness_enclosing(NULL, 0, branches, 4, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_liveness_enclosing(liveness, 0, branches, 4, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_liveness_enclosing(liveness, 0, NULL, 4, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_liveness_enclosing(liveness, 2, branches, 4, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(count, 77);
    assert_int_equal(gpump_liveness_enclosing(liveness, 1, NULL, 0, &count), GPUMP_OK);
    assert_int_equal(count, 0);
    assert_int_equal(gpump_liveness_diverged(NULL, 0, set), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_liveness_diverged(liveness, 0, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_liveness_diverged(liveness, 2, set), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_liveness_diverged(liveness, 1, set), GPUMP_OK);
    assert_int_equal(gpump_liveness_pressure(NULL, NULL, NULL, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_liveness_pressure(liveness, NULL, NULL, NULL, NULL), GPUMP_OK);
    assert_int_equal(gpump_liveness_pressure(liveness, NULL, NULL, &count, NULL), GPUMP_OK);
    assert_int_equal(count, 1); /* the constant that nobody reads */
    assert_int_equal(gpump_liveness_uninitialised(NULL, list, 4, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_liveness_uninitialised(liveness, NULL, 4, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_liveness_uninitialised(liveness, list, 4, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_liveness_uninitialised(liveness, NULL, 0, &count), GPUMP_OK);
    gpump_liveness_destroy(NULL);
    gpump_liveness_destroy(liveness);
    gpump_program_destroy(program);
    gpump_program_destroy(b.program);
}

/* So do patterns, and rules about operands and kinds that do not exist. */
static void patterns_refuse(void **state) {
    gpump_program *program = finished();
    test_builder b = draft();
    gpump_patterns *patterns = NULL;
    gpump_pattern_rule rules[2] = {{0, {0, 0, 0}}, {0, {0, 0, 0}}};
    uint64_t bytes;
    gpump_liveness *liveness = NULL;
    (void)state;
    assert_int_equal(gpump_liveness_create(program, NULL, &liveness), GPUMP_OK);
    for (int i = 0; i < 4; i++)
        diagnosed(gpump_patterns_create(i == 0 ? NULL : program, i == 1 ? NULL : liveness, i == 2 ? NULL : rules, NULL,
                                        i == 3 ? NULL : &patterns, DIAG),
                  GPUMP_ERROR_ARGUMENT, "program, liveness, rules, patterns", 0, 0, 1, UINT64_MAX);
    for (int i = 0; i < 6; i++) { /* each operand of each rule, and its kind */
        uint32_t *operand = &rules[i / 3].operands[i % 3];
        *operand = 4;
        diagnosed(gpump_patterns_create(program, liveness, rules, NULL, &patterns, DIAG), GPUMP_ERROR_ARGUMENT,
                  "operands", i / 3, 4, 0, 3);
        *operand = i % 2 ? GPUMP_NONE : GPUMP_PATTERN_LANE;
        rules[i / 3].kind = GPUMP_PATTERN_KINDS;
        diagnosed(gpump_patterns_create(program, liveness, rules, NULL, &patterns, DIAG), GPUMP_ERROR_ARGUMENT, "kind",
                  i / 3, GPUMP_PATTERN_KINDS, 0, GPUMP_PATTERN_KINDS - 1);
        rules[i / 3].kind = GPUMP_PATTERN_KINDS - 1; /* 5: no register of this program */
        assert_int_equal(gpump_patterns_create(program, liveness, rules, NULL, &patterns, NULL), GPUMP_OK);
        gpump_patterns_destroy(patterns);
    }
    gpump_patterns_destroy(NULL);
    assert_int_equal(gpump_patterns_create(program, liveness, rules, NULL, &patterns, NULL), GPUMP_OK);
    for (int i = 0; i < 5; i++) {
        bytes = 77;
        assert_int_equal(gpump_patterns_live_bytes(i == 0 ? NULL : patterns, i == 1 ? NULL : program,
                                                   i == 2 ? NULL : liveness, i == 4 ? 2 : 0, 4, 32,
                                                   i == 3 ? NULL : &bytes),
                         GPUMP_ERROR_ARGUMENT);
        assert_int_equal(bytes, 77);
    }
    gpump_patterns_destroy(patterns);
    gpump_liveness_destroy(liveness);
    gpump_program_destroy(program);
    gpump_program_destroy(b.program);
}

/* So do clobbers, and units and boundaries that do not exist. */
static void clobbers_refuse(void **state) {
    gpump_program *program = finished();
    test_builder b = draft();
    gpump_clobber clobbers[4];
    uint8_t marks[4];
    uint32_t count = 77;
    (void)state;
    assert_int_equal(gpump_clobbers_find(NULL, GPUMP_UNIT_THREAD, 0, clobbers, 4, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_clobbers_find(program, GPUMP_UNIT_THREAD, 0, clobbers, 4, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_clobbers_find(program, GPUMP_UNIT_THREAD, 0, NULL, 4, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_clobbers_find(program, 0, 0, clobbers, 4, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_clobbers_find(program, GPUMP_UNIT_WARP + 1, 0, clobbers, 4, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_clobbers_find(program, GPUMP_UNIT_THREAD, GPUMP_BOUNDARY_SHORT + 1, clobbers, 4, &count),
                     GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_clobbers_find(b.program, GPUMP_UNIT_THREAD, 0, clobbers, 4, &count), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_clobbers_find(program, GPUMP_UNIT_WARP, GPUMP_BOUNDARY_SHORT, NULL, 0, &count), GPUMP_OK);
    assert_int_equal(gpump_clobbers_block(NULL, marks, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_clobbers_block(program, NULL, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_clobbers_block(b.program, marks, &count), GPUMP_ERROR_STATE);
    assert_int_equal(gpump_clobbers_block(program, marks, NULL), GPUMP_OK);
    gpump_program_destroy(program);
    gpump_program_destroy(b.program);
}

/* So do regions, and configurations out of range. */
static void regions_refuse(void **state) {
    gpump_program *program = finished();
    test_builder b = draft();
    gpump_regions_config regions, never_filled;
    uint32_t count = 77;
    uint64_t set[4];
    gpump_program *out = NULL;
    gpump_liveness *liveness = NULL;
    (void)state;
    assert_int_equal(gpump_liveness_create(program, NULL, &liveness), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_regions_component, NULL, "igpu", NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_regions_component, &regions, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_regions_component, &regions, "none", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_preset(&gpump_regions_component, &regions, "igpu", NULL), GPUMP_OK);
    diagnosed(gpump_regions_form(NULL, &regions, &out, NULL, DIAG), GPUMP_ERROR_ARGUMENT, "program, config or formed",
              0, 0, 1, UINT64_MAX);
    diagnosed(gpump_regions_form(program, NULL, &out, NULL, DIAG), GPUMP_ERROR_ARGUMENT, "program, config or formed", 0,
              0, 1, UINT64_MAX);
    diagnosed(gpump_regions_form(program, &regions, NULL, NULL, DIAG), GPUMP_ERROR_ARGUMENT,
              "program, config or formed", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_regions_form(b.program, &regions, &out, NULL, DIAG), GPUMP_ERROR_STATE, NOT_FINISHED, 0, 0, 1, 1);
    memset(&never_filled, 0, sizeof never_filled);
    diagnosed(gpump_regions_form(program, &never_filled, &out, NULL, DIAG), GPUMP_ERROR_CONFIG, "unit", 0, 0, 1, 2);
    regions.unit = GPUMP_UNIT_WARP + 1;
    diagnosed(gpump_regions_form(program, &regions, &out, NULL, DIAG), GPUMP_ERROR_CONFIG, "unit", 0,
              GPUMP_UNIT_WARP + 1, GPUMP_UNIT_THREAD, GPUMP_UNIT_WARP);
    regions.unit = GPUMP_UNIT_WARP;
    regions.without = 32;
    diagnosed(gpump_regions_form(program, &regions, &out, NULL, DIAG), GPUMP_ERROR_CONFIG, "without", 0, 32, 0, 31);
    regions.without = 0;
    regions.max_instructions = 1;
    diagnosed(gpump_regions_form(program, &regions, &out, NULL, DIAG), GPUMP_ERROR_CONFIG, "max_instructions", 0, 1, 2,
              UINT32_MAX);
    regions.max_instructions = 2;
    assert_int_equal(gpump_regions_form(program, &regions, &out, NULL, NULL), GPUMP_OK);
    gpump_program_destroy(out);
    out = NULL;
    diagnosed(gpump_regions_preserve(NULL, &out, NULL, DIAG), GPUMP_ERROR_ARGUMENT, "program or preserved", 0, 0, 1,
              UINT64_MAX);
    diagnosed(gpump_regions_preserve(program, NULL, NULL, DIAG), GPUMP_ERROR_ARGUMENT, "program or preserved", 0, 0, 1,
              UINT64_MAX);
    diagnosed(gpump_regions_preserve(b.program, &out, NULL, DIAG), GPUMP_ERROR_STATE, NOT_FINISHED, 0, 0, 1, 1);
    assert_int_equal(gpump_regions_stored(NULL, liveness, 0, set, 4, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_regions_stored(program, NULL, 0, set, 4, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_regions_stored(program, liveness, 0, NULL, 4, &count), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_regions_stored(program, liveness, 0, set, 4, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_regions_stored(program, liveness, GPUMP_SPILLING_CHANGED + 1, set, 4, &count),
                     GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_regions_stored(program, liveness, GPUMP_SPILLING_CHANGED, NULL, 0, &count), GPUMP_OK);
    assert_int_equal(count, 0);
    gpump_liveness_destroy(liveness);
    gpump_program_destroy(program);
    gpump_program_destroy(b.program);
}

/* So does register allocation. */
static void registers_refuse(void **state) {
    gpump_program *program = finished();
    test_builder b = draft();
    gpump_registers_config registers;
    gpump_program *out = NULL;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_registers_component, NULL, "fermi", NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_registers_component, &registers, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_registers_component, &registers, "none", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_preset(&gpump_registers_component, &registers, "fermi", NULL), GPUMP_OK);
    diagnosed(gpump_registers_allocate(NULL, &registers, &out, NULL, DIAG), GPUMP_ERROR_ARGUMENT,
              "program, config or allocated", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_registers_allocate(program, NULL, &out, NULL, DIAG), GPUMP_ERROR_ARGUMENT,
              "program, config or allocated", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_registers_allocate(program, &registers, NULL, NULL, DIAG), GPUMP_ERROR_ARGUMENT,
              "program, config or allocated", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_registers_allocate(b.program, &registers, &out, NULL, DIAG), GPUMP_ERROR_STATE, NOT_FINISHED, 0, 0,
              1, 1);
    for (uint32_t too_few = 0; too_few < 2; too_few++) { /* 0: never filled */
        registers.registers = too_few;
        diagnosed(gpump_registers_allocate(program, &registers, &out, NULL, DIAG), GPUMP_ERROR_CONFIG, "registers", 0,
                  too_few, 2, 1024);
    }
    registers.registers = 1025;
    diagnosed(gpump_registers_allocate(program, &registers, &out, NULL, DIAG), GPUMP_ERROR_CONFIG, "registers", 0, 1025,
              2, 1024);
    registers.registers = 1024;
    registers.predicates = 0;
    diagnosed(gpump_registers_allocate(program, &registers, &out, NULL, DIAG), GPUMP_ERROR_CONFIG, "predicates", 0, 0,
              1, 64);
    registers.predicates = 65;
    diagnosed(gpump_registers_allocate(program, &registers, &out, NULL, DIAG), GPUMP_ERROR_CONFIG, "predicates", 0, 65,
              1, 64);
    registers.predicates = 64;
    assert_int_equal(gpump_registers_allocate(program, &registers, &out, NULL, NULL), GPUMP_OK);
    gpump_program_destroy(out);
    gpump_program_destroy(program);
    gpump_program_destroy(b.program);
}

/* So do preemption points, and registers in the wrong order. */
static void preempt_points_refuse(void **state) {
    gpump_program *program = finished();
    test_builder b = draft();
    gpump_preempt_point points[4];
    gpump_preempt_points_config preempt;
    uint32_t count = 77;
    gpump_program *out = NULL;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_preempt_points_component, NULL, "lin", NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_preempt_points_component, &preempt, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_preempt_points_component, &preempt, "none", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_preset(&gpump_preempt_points_component, &preempt, "lin", NULL), GPUMP_OK);
    diagnosed(gpump_preempt_points_place(NULL, &preempt, &out, points, 4, &count, DIAG), GPUMP_ERROR_ARGUMENT,
              "program, config or result", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_preempt_points_place(program, NULL, &out, points, 4, &count, DIAG), GPUMP_ERROR_ARGUMENT,
              "program, config or result", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_preempt_points_place(program, &preempt, NULL, points, 4, &count, DIAG), GPUMP_ERROR_ARGUMENT,
              "program, config or result", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_preempt_points_place(program, &preempt, &out, NULL, 4, &count, DIAG), GPUMP_ERROR_ARGUMENT,
              "program, config or result", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_preempt_points_place(program, &preempt, &out, points, 4, NULL, DIAG), GPUMP_ERROR_ARGUMENT,
              "program, config or result", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_preempt_points_place(b.program, &preempt, &out, points, 4, &count, DIAG), GPUMP_ERROR_STATE,
              NOT_FINISHED, 0, 0, 1, 1);
    /* a register of 64 bits between those of 32 and the predicates */
    diagnosed(gpump_preempt_points_place(program, &preempt, &out, points, 4, &count, DIAG), GPUMP_ERROR_ARGUMENT,
              "registers", 2, GPUMP_WIDTH_64, 0, 0);
    preempt.interval = 0;
    diagnosed(gpump_preempt_points_place(program, &preempt, &out, points, 4, &count, DIAG), GPUMP_ERROR_CONFIG,
              "interval", 0, 0, 1, UINT32_MAX);
    gpump_program_destroy(program);
    gpump_program_destroy(b.program);
}

/* So do page checks. */
static void page_checks_refuse(void **state) {
    gpump_program *program = finished();
    test_builder b = draft();
    gpump_page_checks_config pages;
    gpump_program *out = NULL;
    (void)state;
    assert_int_equal(gpump_preset(&gpump_page_checks_component, NULL, "kim", NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_page_checks_component, &pages, NULL, NULL), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpump_preset(&gpump_page_checks_component, &pages, "none", NULL), GPUMP_ERROR_UNKNOWN_NAME);
    assert_int_equal(gpump_preset(&gpump_page_checks_component, &pages, "kim", NULL), GPUMP_OK);
    diagnosed(gpump_page_checks_insert(NULL, &pages, &out, NULL, DIAG), GPUMP_ERROR_ARGUMENT,
              "program, config or result", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_page_checks_insert(program, NULL, &out, NULL, DIAG), GPUMP_ERROR_ARGUMENT,
              "program, config or result", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_page_checks_insert(program, &pages, NULL, NULL, DIAG), GPUMP_ERROR_ARGUMENT,
              "program, config or result", 0, 0, 1, UINT64_MAX);
    diagnosed(gpump_page_checks_insert(b.program, &pages, &out, NULL, DIAG), GPUMP_ERROR_STATE, NOT_FINISHED, 0, 0, 1,
              1);
    for (int i = 0; i < 4; i++) {
        static const uint32_t bad[4] = {0, 8, 4097, UINT32_C(1) << 31};
        pages.page_bytes = bad[i];
        diagnosed(gpump_page_checks_insert(program, &pages, &out, NULL, DIAG), GPUMP_ERROR_CONFIG,
                  "page_bytes (a power of two)", 0, bad[i], 16, 1 << 30);
    }
    pages.page_bytes = 16;
    assert_int_equal(gpump_page_checks_insert(program, &pages, &out, NULL, NULL), GPUMP_OK);
    gpump_program_destroy(out);
    out = NULL;
    pages.page_bytes = 1 << 30;
    pages.bits = 0;
    assert_int_equal(gpump_page_checks_insert(program, &pages, &out, NULL, DIAG), GPUMP_ERROR_CONFIG);
    assert_string_equal(diagnosed_diag.field, "bits");
    assert_int_equal(diagnosed_diag.index, 0);
    assert_int_equal(diagnosed_diag.minimum, 1);
    pages.bits = (uint32_t)diagnosed_diag.maximum + 1;
    assert_int_equal(gpump_page_checks_insert(program, &pages, &out, NULL, DIAG), GPUMP_ERROR_CONFIG);
    pages.bits--;
    assert_int_equal(gpump_page_checks_insert(program, &pages, &out, NULL, NULL), GPUMP_OK);
    gpump_program_destroy(out);
    gpump_program_destroy(program);
    gpump_program_destroy(b.program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_that_is_built_wrongly_is_refused),
        cmocka_unit_test(the_last_register_alone_is_no_pair),
        cmocka_unit_test(wrong_instructions_are_refused),
        cmocka_unit_test(wrong_memory_accesses_are_refused),
        cmocka_unit_test(operations_have_their_operands),
        cmocka_unit_test(a_program_as_text_names_what_it_does),
        cmocka_unit_test(programs_that_do_not_fit),
        cmocka_unit_test(operands_that_do_not_fit),
        cmocka_unit_test(guarded_calls_lead_to_markers),
        cmocka_unit_test(liveness_refuses),
        cmocka_unit_test(patterns_refuse),
        cmocka_unit_test(clobbers_refuse),
        cmocka_unit_test(regions_refuse),
        cmocka_unit_test(registers_refuse),
        cmocka_unit_test(preempt_points_refuse),
        cmocka_unit_test(page_checks_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
