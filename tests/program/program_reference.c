/* labels: property */
/* What a program takes and says, once more and plainly: random instructions are accepted or refused as a table of the
 * operations says, with these words and numbers; two accesses may meet where trying out threads finds a byte. */
#include "program/program_tools.h"

static uint64_t seed, number, random_state;
static uint32_t below(uint32_t limit) { return gpump_random_below(&random_state, limit); }
#define CHECK(condition) test_check(condition, seed, number)

/* ---- which instructions are accepted ---- */

enum { PLAIN_REGISTERS = 7, OBJECTS = 5, ANY_WIDTH = 3 };
/* Registers 0 to 3, of which 0 and 1, 2 and 3 can be pairs, and 1 and 2 cannot. */
static const uint32_t widths[PLAIN_REGISTERS] = {GPUMP_WIDTH_32, GPUMP_WIDTH_32, GPUMP_WIDTH_32,       GPUMP_WIDTH_32,
                                                 GPUMP_WIDTH_64, GPUMP_WIDTH_32, GPUMP_WIDTH_PREDICATE};
static const uint32_t spaces[OBJECTS] = {GPUMP_SPACE_GLOBAL, GPUMP_SPACE_SHARED, GPUMP_SPACE_LOCAL,
                                         GPUMP_SPACE_CONSTANT, GPUMP_SPACE_TEXTURE};

/* How many operands an operation has, and whether it may (1) or must (2) access memory, or has a target. */
typedef struct form {
    uint32_t operation, least_defs, most_defs, least_uses, most_uses, memory, target;
} form;
static const form forms[] = {
    {GPUMP_OP_COMPUTE, 0, 16, 0, 64, 1, 0},    {GPUMP_OP_MOVE, 1, 1, 1, 1, 0, 0},
    {GPUMP_OP_CONSTANT, 1, 1, 0, 0, 0, 0},     {GPUMP_OP_PARAMETER, 1, 1, 0, 0, 0, 0},
    {GPUMP_OP_ADD, 1, 1, 1, 1, 0, 0},          {GPUMP_OP_BRANCH, 0, 0, 0, 0, 0, 1},
    {GPUMP_OP_EXIT, 0, 0, 0, 0, 0, 0},         {GPUMP_OP_BARRIER, 0, 0, 0, 2, 0, 0},
    {GPUMP_OP_SPILL_STORE, 0, 0, 1, 1, 0, 0},  {GPUMP_OP_SPILL_LOAD, 1, 1, 0, 0, 0, 0},
    {GPUMP_OP_BOUNDARY, 0, 0, 0, 0, 0, 0},     {GPUMP_OP_PP, 0, 0, 0, 0, 0, 0},
    {GPUMP_OP_PP_DIVERGED, 0, 0, 0, 0, 0, 0},  {GPUMP_OP_BARRIER_PP, 0, 0, 0, 2, 0, 0},
    {GPUMP_OP_START_MARKER, 0, 0, 0, 0, 0, 0}, {GPUMP_OP_CLEAR_CHECK, 1, 1, 0, 0, 0, 0},
    {GPUMP_OP_CHECK, 1, 1, 1, 2, 2, 0},        {GPUMP_OP_PAGE_ENTERED, 1, 1, 1, 1, 0, 0},
    {GPUMP_OP_GUARDED_CALL, 0, 0, 0, 0, 0, 1},
};

typedef struct refusal {
    const char *field; /* NULL: accepted */
    uint64_t value, minimum, maximum;
} refusal;
#define REFUSE_UNLESS(condition, field, value, minimum, maximum)                                          \
    do {                                                                                                  \
        if (!(condition)) {                                                                               \
            const refusal refused = {field, (uint64_t)(value), (uint64_t)(minimum), (uint64_t)(maximum)}; \
            return refused;                                                                               \
        }                                                                                                 \
    } while (0)

static uint32_t width_of(uint32_t operand) {
    const uint32_t reg = operand & GPUMP_OPERAND_INDEX;
    if (operand & GPUMP_OPERAND_PARAMETER) return operand & GPUMP_OPERAND_PAIR ? (uint32_t)GPUMP_WIDTH_64 : ANY_WIDTH;
    if (operand & GPUMP_OPERAND_PAIR) return reg == 0 || reg == 2 ? (uint32_t)GPUMP_WIDTH_64 : GPUMP_NONE;
    return reg < PLAIN_REGISTERS ? widths[reg] : GPUMP_NONE;
}
static int is_predicate(uint32_t operand) { return operand == PLAIN_REGISTERS - 1; }

static refusal refuse_access(const gpump_instruction *in) {
    const refusal accepted = {NULL, 0, 0, 0};
    REFUSE_UNLESS(in->space < 6, "space", in->space, 0, 5);
    REFUSE_UNLESS(!(in->access & 2) || (in->space != GPUMP_SPACE_CONSTANT && in->space != GPUMP_SPACE_TEXTURE), "space",
                  in->space, 0, GPUMP_SPACE_LOCAL);
    REFUSE_UNLESS(in->address < 3, "address", in->address, 0, 2);
    REFUSE_UNLESS(in->bytes, "bytes", 0, 1, UINT32_MAX);
    REFUSE_UNLESS(in->object != GPUMP_NONE || in->address == GPUMP_ADDRESS_ANYWHERE, "object", GPUMP_NONE, 0,
                  OBJECTS - 1);
    if (in->object == GPUMP_NONE) return accepted;
    REFUSE_UNLESS(in->object < OBJECTS, "object", in->object, 0, OBJECTS - 1);
    REFUSE_UNLESS(in->space == GPUMP_SPACE_GENERIC || in->space == spaces[in->object], "space", in->space,
                  spaces[in->object], spaces[in->object]);
    return accepted;
}
static refusal refuse_operation(const gpump_instruction *in) {
    const refusal accepted = {NULL, 0, 0, 0};
    const uint32_t wanted = in->flags & GPUMP_FLAG_NO_BASE ? 1 : 2, def = in->def_count ? in->defs[0] : 0;
    if (in->operation == GPUMP_OP_MOVE)
        REFUSE_UNLESS(width_of(in->uses[0]) == ANY_WIDTH || width_of(in->uses[0]) == width_of(def), "uses",
                      width_of(in->uses[0]), width_of(def), width_of(def));
    if (in->operation == GPUMP_OP_CHECK) {
        REFUSE_UNLESS(in->use_count == wanted, "use_count", in->use_count, wanted, wanted);
        REFUSE_UNLESS(in->uses[wanted - 1] == def, "uses", in->uses[wanted - 1], def, def);
    }
    if (in->operation == GPUMP_OP_CHECK || in->operation == GPUMP_OP_CLEAR_CHECK ||
        in->operation == GPUMP_OP_PAGE_ENTERED)
        REFUSE_UNLESS(is_predicate(def), "defs", width_of(def), 0, 0);
    if (in->operation == GPUMP_OP_PAGE_ENTERED)
        REFUSE_UNLESS(in->immediate == 1 || in->immediate == 2 || in->immediate == 4096, "immediate", in->immediate, 1,
                      UINT32_MAX);
    if (in->operation == GPUMP_OP_GUARDED_CALL)
        REFUSE_UNLESS(in->guard != GPUMP_NONE, "guard", GPUMP_NONE, 0, PLAIN_REGISTERS - 1);
    if (in->flags & GPUMP_FLAG_CHECKED) {
        const uint32_t last = in->def_count ? in->defs[in->def_count - 1] : 0;
        REFUSE_UNLESS(in->def_count && in->use_count && in->uses[in->use_count - 1] == last, "defs", in->def_count, 1,
                      16);
        REFUSE_UNLESS(is_predicate(last), "defs", width_of(last), 0, 0);
    }
    return accepted;
}
static refusal refuse_by_definition(const gpump_instruction *in) {
    const uint32_t wants_access =
        GPUMP_FLAG_ATOMIC | GPUMP_FLAG_VOLATILE | GPUMP_FLAG_CHECKED | GPUMP_FLAG_RESIDENT | GPUMP_FLAG_NO_BASE;
    const form *f = forms;
    uint32_t i;
    REFUSE_UNLESS(in->operation < 19, "operation", in->operation, 0, 18);
    while (f->operation != in->operation) f++;
    REFUSE_UNLESS(f->least_defs <= in->def_count && in->def_count <= f->most_defs, "def_count", in->def_count,
                  f->least_defs, f->most_defs);
    REFUSE_UNLESS(f->least_uses <= in->use_count && in->use_count <= f->most_uses, "use_count", in->use_count,
                  f->least_uses, f->most_uses);
    REFUSE_UNLESS(!in->def_count || in->defs, "operands", 0, 1, 1);
    REFUSE_UNLESS(!in->use_count || in->uses, "operands", 0, 1, 1);
    for (i = 0; i < in->def_count; i++)
        REFUSE_UNLESS(width_of(in->defs[i]) < ANY_WIDTH && !(in->defs[i] & GPUMP_OPERAND_PARAMETER), "defs",
                      in->defs[i], 0, PLAIN_REGISTERS - 1);
    for (i = 0; i < in->use_count; i++)
        REFUSE_UNLESS(width_of(in->uses[i]) <= ANY_WIDTH, "uses", in->uses[i], 0, PLAIN_REGISTERS - 1);
    REFUSE_UNLESS(in->flags < 512, "flags", in->flags, 0, 511);
    REFUSE_UNLESS(in->guard == GPUMP_NONE || is_predicate(in->guard), "guard", in->guard, 0, PLAIN_REGISTERS - 1);
    REFUSE_UNLESS(in->guard != GPUMP_NONE || !(in->flags & GPUMP_FLAG_GUARD_NEGATED), "guard", GPUMP_NONE, 0, 0);
    REFUSE_UNLESS(f->target ? in->target != GPUMP_NONE : in->target == GPUMP_NONE, "target", in->target, 0, 0);
    REFUSE_UNLESS(in->access <= (f->memory ? 3u : 0u), "access", in->access, 0, f->memory ? 3 : 0);
    REFUSE_UNLESS(in->access || (f->memory != 2 && !(in->flags & wants_access)), "access", 0, 1, 3);
    if (in->access) {
        const refusal refused = refuse_access(in);
        if (refused.field) return refused;
    }
    return refuse_operation(in);
}

/* Mostly fit for the operation; then one or two things are drawn anew. */
static void draw_operands(uint32_t *operands, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        operands[i] = below(PLAIN_REGISTERS + !below(12)) | (below(6) ? 0 : GPUMP_OPERAND_PAIR) |
                      (below(12) ? 0 : GPUMP_OPERAND_PARAMETER);
}
static void draw_access(gpump_instruction *in) {
    in->access = 1 + below(3);
    in->object = below(OBJECTS);
    in->space = below(4) ? spaces[in->object] : below(GPUMP_SPACES + 1);
    in->address = below(12) ? below(3) : 3;
    in->bytes = below(12) ? 4 : 0;
    if (!below(4)) in->object = below(2) ? GPUMP_NONE : below(OBJECTS + 2);
}
static gpump_instruction draw_instruction(uint32_t *defs, uint32_t *uses) {
    const form *f = &forms[below(sizeof forms / sizeof *forms)];
    gpump_instruction in = gpump_instruction_make(below(40) ? f->operation : (uint32_t)GPUMP_OP_COUNT + below(2));
    in.defs = below(40) ? defs : NULL;
    in.uses = below(40) ? uses : NULL;
    in.def_count = f->least_defs + below(f->most_defs - f->least_defs > 3 ? 4 : f->most_defs - f->least_defs + 1);
    in.use_count = f->least_uses + below(f->most_uses - f->least_uses > 3 ? 4 : f->most_uses - f->least_uses + 1);
    if (!below(16)) in.def_count = below(2) ? f->most_defs + below(2) : f->least_defs - (f->least_defs != 0);
    if (!below(16)) in.use_count = below(2) ? f->most_uses + below(2) : f->least_uses - (f->least_uses != 0);
    draw_operands(defs, 17);
    draw_operands(uses, 65);
    if (f->operation == GPUMP_OP_MOVE && below(2)) uses[0] = defs[0];
    if (f->target && below(16)) in.target = below(3);
    if (!below(30)) in.target = below(3);
    if (!below(3) || (f->operation == GPUMP_OP_GUARDED_CALL && below(4)))
        in.guard = below(8) ? PLAIN_REGISTERS - 1 : below(PLAIN_REGISTERS + 2);
    if (!below(3)) in.flags = 1u << below(10);
    if (f->memory ? below(5) : !below(20)) draw_access(&in);
    if (!below(30)) in.access = 4;
    if (!in.access && below(2)) in.space = below(GPUMP_SPACES + 1); /* not looked at */
    if (f->memory == 2 || f->operation == GPUMP_OP_CLEAR_CHECK || f->operation == GPUMP_OP_PAGE_ENTERED ||
        in.flags & GPUMP_FLAG_CHECKED) { /* a predicate that is the last use, too */
        if (below(6) && in.def_count) defs[in.def_count - 1] = PLAIN_REGISTERS - 1;
        if (below(6) && in.use_count && in.def_count) uses[in.use_count - 1] = defs[in.def_count - 1];
    }
    in.immediate = below(4) ? 4096 : (int64_t)below(4) - 1;
    return in;
}

/* A random instruction is accepted or refused as the table of rules says. */
static void instructions_are_accepted_as_by_the_table(void **state) {
    uint64_t accepted[GPUMP_OP_COUNT] = {0}, refused = 0;
    test_builder b = test_build(NULL);
    (void)state;
    seed = random_state = test_seed();
    for (uint32_t i = 0; i < PLAIN_REGISTERS; i++) test_register(&b, widths[i]);
    for (uint32_t i = 0; i < OBJECTS; i++) test_object(&b, spaces[i], GPUMP_NONE);
    for (number = 0; number < test_cases(200000); number++) {
        uint32_t defs[17], uses[65], index = 99, count = gpump_program_count(b.program).instructions;
        const gpump_instruction in = draw_instruction(defs, uses);
        const refusal wanted = refuse_by_definition(&in);
        gpump_diag diag;
        const gpump_result result = gpump_program_add(b.program, &in, &index, &diag);
        CHECK(result == (wanted.field ? GPUMP_ERROR_ARGUMENT : GPUMP_OK));
        if (wanted.field) {
            CHECK(!strcmp(diag.field, wanted.field) && diag.index == count && diag.value == wanted.value);
            CHECK(diag.minimum == wanted.minimum && diag.maximum == wanted.maximum && index == 99);
            refused++;
        } else {
            gpump_instruction back;
            gpump_program_instruction(b.program, count, &back);
            CHECK(index == count && !memcmp(back.defs, in.defs ? in.defs : defs, 4 * in.def_count));
            CHECK(!memcmp(back.uses, in.uses ? in.uses : uses, 4 * in.use_count));
            accepted[in.operation]++;
        }
    }
    for (uint32_t i = 0; i < GPUMP_OP_COUNT; i++) assert_true(accepted[i] > 0 && accepted[i] < refused);
    gpump_program_destroy(b.program);
}

/* ---- which accesses may meet ---- */

static int overlap(int64_t a, uint32_t a_bytes, int64_t b, uint32_t b_bytes) {
    for (int64_t i = a; i < a + a_bytes; i++)
        if (i >= b && i < b + b_bytes) return 1;
    return 0;
}
/* Do two accesses to one object meet? Threads apart by any number of strides are tried. */
static int meet_in_object(const gpump_instruction *x, const gpump_instruction *y, uint32_t unit) {
    if (x->address != y->address || x->address == GPUMP_ADDRESS_ANYWHERE) return 1;
    if (x->address == GPUMP_ADDRESS_VALUE && x->value != y->value) return 1;
    if (overlap(x->offset, x->bytes, y->offset, y->bytes)) return 1;
    if (x->address == GPUMP_ADDRESS_FIXED || unit == GPUMP_UNIT_THREAD ||
        spaces[x->object % OBJECTS] == GPUMP_SPACE_LOCAL)
        return 0;
    if (!x->thread_stride || x->thread_stride != y->thread_stride) return 1;
    for (int64_t apart = -40; apart <= 40; apart++)
        if (overlap(x->offset + apart * x->thread_stride, x->bytes, y->offset, y->bytes)) return 1;
    return 0;
}
static int meet(const gpump_instruction *x, const gpump_instruction *y, const uint32_t *classes, uint32_t unit) {
    const uint32_t at_x = x->object == GPUMP_NONE ? x->space : spaces[x->object % OBJECTS],
                   at_y = y->object == GPUMP_NONE ? y->space : spaces[y->object % OBJECTS];
    if (x->operation == GPUMP_OP_CHECK || y->operation == GPUMP_OP_CHECK || !x->access || !y->access) return 0;
    if (at_x >= GPUMP_SPACE_CONSTANT && at_x != GPUMP_SPACE_GENERIC) return x->space == y->space;
    if (at_y >= GPUMP_SPACE_CONSTANT && at_y != GPUMP_SPACE_GENERIC) return x->space == y->space;
    if (at_x != GPUMP_SPACE_GENERIC && at_y != GPUMP_SPACE_GENERIC && at_x != at_y) return 0;
    if (x->object == GPUMP_NONE || y->object == GPUMP_NONE) return 1;
    if (x->object != y->object) return classes[x->object] == classes[y->object] && classes[x->object] != GPUMP_NONE;
    return meet_in_object(x, y, unit);
}

/* Two accesses are said to meet wherever trying all threads finds a byte that both touch. */
static void accesses_meet_where_trying_finds_a_byte(void **state) {
    enum { COUNT = 12 };
    uint64_t yes = 0, no = 0;
    (void)state;
    seed = random_state = test_seed();
    for (number = 0; number < test_cases(4000); number++) {
        test_builder b = test_build(NULL);
        uint32_t classes[2 * OBJECTS], x = test_register(&b, GPUMP_WIDTH_32), p = test_register(&b, 0);
        gpump_instruction all[COUNT];
        for (uint32_t i = 0; i < 2 * OBJECTS; i++)
            test_object(&b, spaces[i % OBJECTS], classes[i] = below(3) ? below(2) : GPUMP_NONE);
        for (uint32_t i = 0; i < COUNT; i++) {
            const uint32_t uses[2] = {x, p}, object = below(2 * OBJECTS), is_check = !below(10);
            gpump_instruction *in = &all[i];
            *in = gpump_instruction_make(is_check ? GPUMP_OP_CHECK : GPUMP_OP_COMPUTE);
            in->access = is_check || below(10) ? 1 : 0;
            in->uses = uses;
            in->use_count = 2;
            in->defs = &p;
            in->def_count = is_check;
            in->object = below(6) ? object : GPUMP_NONE;
            in->space = below(6) || spaces[object % OBJECTS] > GPUMP_SPACE_LOCAL ? spaces[object % OBJECTS]
                                                                                 : (uint32_t)GPUMP_SPACE_GENERIC;
            in->address = in->object == GPUMP_NONE ? 0 : below(6) ? (uint32_t)GPUMP_ADDRESS_VALUE : below(2);
            in->offset = (int64_t)below(40) - 20;
            in->value = below(5) == 0;
            in->bytes = 1 + below(8);
            in->thread_stride = below(4) ? 4 * below(5) : 12;
            test_add(&b, in);
        }
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        for (uint32_t i = 0; i < COUNT; i++)
            for (uint32_t k = 0; k < COUNT; k++)
                for (uint32_t unit = GPUMP_UNIT_THREAD; unit <= GPUMP_UNIT_BLOCK; unit++) {
                    const int expected = meet(&all[i], &all[k], classes, unit);
                    CHECK(gpump_program_may_alias(b.program, i, k, unit) == expected);
                    yes += (uint64_t)expected;
                    no += (uint64_t)!expected;
                }
        gpump_program_destroy(b.program);
    }
    assert_true(yes > no / 16 && no > yes / 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_are_accepted_as_by_the_table),
        cmocka_unit_test(accesses_meet_where_trying_finds_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, test_nothing_leaks);
}
