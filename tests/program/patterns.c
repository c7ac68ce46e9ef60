/* labels: unit property */
/* Uniform and affine registers: by hand, and against random programs that are executed lane by lane. */
#include "program/program_tools.h"

enum { LANES = 32, VALUES = 6, PREDICATES = 2, REGISTERS = VALUES + PREDICATES, LENGTH = 40 };

/* One instruction of a random program: what the library is told, and what the test executes. */
typedef struct step {
    uint32_t kind, def, a, b, c, guard, negated, target, constant;
    uint32_t leaves; /* 1: it ends the lanes that come here */
} step;

static gpump_program *build(const step *steps, uint32_t count, gpump_pattern_rule *rules, uint32_t registers) {
    const uint32_t apart = registers / REGISTERS; /* of a program's registers one in `apart` is used */
    gpump_program *program;
    uint32_t i, reg;
    assert_int_equal(gpump_program_create(test_watched(), &program), GPUMP_OK);
    for (i = 0; i < registers; i++)
        assert_int_equal(gpump_program_add_register(program,
                                                    i / apart < VALUES || i % apart || i / apart >= REGISTERS
                                                        ? GPUMP_WIDTH_32
                                                        : GPUMP_WIDTH_PREDICATE,
                                                    &reg, NULL),
                         GPUMP_OK);
    for (i = 0; i < count; i++) {
        const step *s = &steps[i];
        gpump_instruction in = gpump_instruction_make(s->target != GPUMP_NONE ? GPUMP_OP_BRANCH : GPUMP_OP_COMPUTE);
        uint32_t uses[3];
        if (i + 1 == count || s->leaves) in = gpump_instruction_make(GPUMP_OP_EXIT);
        in.uses = uses;
        if (s->a < registers) uses[in.use_count++] = s->a;
        if (s->b < registers) uses[in.use_count++] = s->b;
        if (s->c < registers) uses[in.use_count++] = s->c;
        in.defs = &s->def;
        in.def_count = s->def != GPUMP_NONE;
        in.guard = s->guard;
        if (s->negated && s->guard != GPUMP_NONE) in.flags |= GPUMP_FLAG_GUARD_NEGATED;
        in.target = s->target;
        assert_int_equal(gpump_program_add(program, &in, NULL, NULL), GPUMP_OK);
        rules[i].kind = s->kind;
        rules[i].operands[0] = s->a;
        rules[i].operands[1] = s->b;
        rules[i].operands[2] = s->c;
    }
    assert_int_equal(gpump_program_finish(program, NULL), GPUMP_OK);
    return program;
}

static uint32_t value_of(const step *s, const uint32_t *r, uint32_t operand, uint32_t lane) {
    return operand == GPUMP_NONE ? s->constant : operand == GPUMP_PATTERN_LANE ? lane : r[operand];
}
static uint32_t result_of(const step *s, const uint32_t *r, uint32_t lane, uint32_t index) {
    const uint32_t a = value_of(s, r, s->a, lane), b = value_of(s, r, s->b, lane), c = value_of(s, r, s->c, lane);
    uint32_t value;
    switch (s->kind) {
    case GPUMP_PATTERN_OF_CONSTANT: value = s->constant; break;
    case GPUMP_PATTERN_OF_FUNCTION: value = (s->a < REGISTERS ? a : 0) ^ (s->b < REGISTERS ? b >> 3 : 5); break;
    case GPUMP_PATTERN_OF_SUM: value = a + b - c; break;
    case GPUMP_PATTERN_OF_PRODUCT: value = a * b + c; break;
    case GPUMP_PATTERN_OF_SHIFT: value = a << (b & 31u); break;
    default: value = (lane + 1) * 2654435761u ^ index; break;
    }
    return s->def >= VALUES && s->def != GPUMP_NONE ? value & 1u : value;
}

static uint64_t random_state;
static uint32_t below(uint32_t limit) { return gpump_random_below(&random_state, limit); }

static uint32_t some_operand(int lanes) {
    const uint32_t which = below(10);
    return which == 0 ? GPUMP_NONE : which == 1 && lanes ? GPUMP_PATTERN_LANE : below(VALUES);
}

static void make_steps(step *steps) {
    uint32_t i;
    for (i = 0; i < LENGTH; i++) {
        step *s = &steps[i];
        memset(s, 0, sizeof *s);
        s->a = s->b = s->c = s->guard = s->target = s->def = GPUMP_NONE;
        s->constant = below(50);
        if (i + 1 == LENGTH) continue;
        if (i > REGISTERS && below(30) == 0) { /* lanes end here, and others go on elsewhere */
            s->leaves = 1;
            continue;
        }
        if (i > REGISTERS && below(6) == 0) { /* a branch forward */
            s->target = i + 1 + below(LENGTH - i - 1);
            s->guard = VALUES + below(PREDICATES);
            s->negated = below(2);
            continue;
        }
        s->def = i < REGISTERS ? i : below(6) ? below(VALUES) : VALUES + below(PREDICATES);
        s->kind = below(GPUMP_PATTERN_KINDS);
        if (s->def >= VALUES && s->kind != GPUMP_PATTERN_OF_NOTHING) s->kind = GPUMP_PATTERN_OF_FUNCTION;
        if (i < REGISTERS && below(2)) s->kind = GPUMP_PATTERN_OF_CONSTANT;
        if (s->kind == GPUMP_PATTERN_OF_CONSTANT || s->kind == GPUMP_PATTERN_OF_NOTHING) continue;
        s->a = some_operand(s->kind != GPUMP_PATTERN_OF_FUNCTION);
        s->b = some_operand(s->kind != GPUMP_PATTERN_OF_FUNCTION);
        if (s->kind != GPUMP_PATTERN_OF_FUNCTION && s->kind != GPUMP_PATTERN_OF_SHIFT) s->c = some_operand(1);
        if (i >= REGISTERS && below(5) == 0) s->guard = VALUES + below(PREDICATES), s->negated = below(2);
    }
}

/* Is there a base and a step that give every lane of the mask its value? */
static int is_affine(const uint32_t values[LANES], uint32_t mask) {
    uint32_t lane, step = 0, known = 0, first;
    if (!mask) return 1;
    first = gpump_bits_lowest64(mask);
    for (lane = 0; lane + 1 < LANES && !known; lane++)
        if ((mask >> lane & 3u) == 3u) step = values[lane + 1] - values[lane], known = 1;
    for (lane = 0; lane < LANES && known; lane++)
        if (mask >> lane & 1u && values[lane] != values[first] + (lane - first) * step) return 0;
    return 1;
}

/* What the analysis claims before an instruction holds for all lanes that come there. */
static void claims_hold(void **state) {
    uint64_t seed = test_seed(), number, cases = test_cases(3000), uniform = 0, affine = 0, unknown = 0;
    (void)state;
    for (number = 0; number < cases; number++) {
        static uint32_t seen[LENGTH][REGISTERS][LANES];
        uint32_t masks[LENGTH], lane, i, r;
        gpump_pattern_rule rules[LENGTH];
        gpump_program *program;
        gpump_liveness *liveness;
        gpump_patterns *patterns;
        step steps[LENGTH];
        random_state = seed * 1000003 + number;
        make_steps(steps);
        program = build(steps, LENGTH, rules, REGISTERS);
        assert_int_equal(gpump_liveness_create(program, test_watched(), &liveness), GPUMP_OK);
        assert_int_equal(gpump_patterns_create(program, liveness, rules, test_watched(), &patterns, NULL), GPUMP_OK);
        memset(masks, 0, sizeof masks);
        for (lane = 0; lane < LANES; lane++) {
            uint32_t registers[REGISTERS];
            for (r = 0; r < REGISTERS; r++) registers[r] = (lane * 40503u + r) & (r < VALUES ? UINT32_MAX : 1u);
            for (i = 0; i < LENGTH;) {
                const step *s = &steps[i];
                const int executes = s->guard == GPUMP_NONE || registers[s->guard] != s->negated;
                masks[i] |= 1u << lane;
                for (r = 0; r < REGISTERS; r++) seen[i][r][lane] = registers[r];
                if (executes && s->def != GPUMP_NONE) registers[s->def] = result_of(s, registers, lane, i);
                i = s->leaves ? LENGTH : executes && s->target != GPUMP_NONE ? s->target : i + 1;
            }
        }
        for (i = 0; i < LENGTH; i++) {
            if (!masks[i]) continue;
            for (r = 0; r < REGISTERS; r++) {
                const uint32_t pattern = gpump_patterns_before(patterns, i, r), first = gpump_bits_lowest64(masks[i]);
                uniform += pattern == GPUMP_PATTERN_UNIFORM;
                affine += pattern == GPUMP_PATTERN_AFFINE;
                unknown += pattern == GPUMP_PATTERN_UNKNOWN;
                for (lane = 0; lane < LANES && pattern == GPUMP_PATTERN_UNIFORM; lane++)
                    if (masks[i] >> lane & 1u) test_check(seen[i][r][lane] == seen[i][r][first], seed, number);
                if (pattern == GPUMP_PATTERN_AFFINE) test_check(is_affine(seen[i][r], masks[i]), seed, number);
            }
        }
        gpump_patterns_destroy(patterns);
        gpump_liveness_destroy(liveness);
        gpump_program_destroy(program);
    }
    assert_true(uniform > cases * 20 && affine > cases && unknown > cases * 20);
}

/* ---- the same by the definition, for programs with loops ---- */

enum { WIDEST = 200 }; /* registers: sets of one to four words */

typedef struct reference {
    const step *steps;
    gpump_program *program;
    uint32_t registers, pattern[LENGTH][WIDEST], parted[LENGTH];
} reference;

static uint32_t worse(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t reference_of(const reference *f, uint32_t at, uint32_t operand) {
    return operand == GPUMP_NONE           ? (uint32_t)GPUMP_PATTERN_UNIFORM
           : operand == GPUMP_PATTERN_LANE ? (uint32_t)GPUMP_PATTERN_AFFINE
                                           : f->pattern[at][operand];
}
/* The pattern of register r behind instruction `at`. */
static uint32_t reference_behind(const reference *f, uint32_t at, uint32_t r) {
    const step *s = &f->steps[at];
    const uint32_t a = reference_of(f, at, s->a), b = reference_of(f, at, s->b), c = reference_of(f, at, s->c);
    uint32_t made = GPUMP_PATTERN_UNKNOWN;
    if (s->def != r) return f->pattern[at][r];
    if (s->kind == GPUMP_PATTERN_OF_CONSTANT) made = GPUMP_PATTERN_UNIFORM;
    if (s->kind == GPUMP_PATTERN_OF_FUNCTION && !a && !b && !c) made = GPUMP_PATTERN_UNIFORM;
    if (s->kind == GPUMP_PATTERN_OF_SUM) made = worse(worse(a, b), c);
    if (s->kind == GPUMP_PATTERN_OF_PRODUCT && (!a || !b)) made = worse(worse(a, b), c);
    if (s->kind == GPUMP_PATTERN_OF_SHIFT && !b) made = a;
    if (f->parted[at] || reference_of(f, at, s->guard)) made = GPUMP_PATTERN_UNKNOWN;
    return s->guard == GPUMP_NONE ? made : worse(made, f->pattern[at][r]);
}
/* Can lanes of a warp that part at branch `from` stand at `to` before all of them meet again? */
static int reference_inside(const reference *f, uint32_t from, uint32_t to) {
    const uint32_t meet = gpump_program_reconvergence(f->program, from);
    uint32_t list[LENGTH + 1], count = 0, i, n;
    uint8_t seen[LENGTH + 1] = {0};
    for (i = 0, list[count++] = from; i < count; i++)
        for (n = 0; n < 2; n++) {
            const step *s = &f->steps[list[i]];
            const uint32_t next = n                                                   ? s->target
                                  : s->leaves                                         ? GPUMP_NONE
                                  : s->target != GPUMP_NONE && s->guard == GPUMP_NONE ? GPUMP_NONE
                                                                                      : list[i] + 1;
            if (next >= LENGTH || next == meet || seen[next]) continue;
            seen[next] = 1;
            list[count++] = next;
        }
    return seen[to];
}
static int reference_parts(const reference *f, uint32_t branch) {
    const step *s = &f->steps[branch];
    return s->target != GPUMP_NONE && s->guard != GPUMP_NONE && s->target != branch + 1 &&
           (f->pattern[branch][s->guard] != GPUMP_PATTERN_UNIFORM || f->parted[branch]);
}
/* Pulls from the end to the start until nothing changes. */
static void reference_solve(reference *f) {
    uint32_t i, k, r, changed = 1;
    memset(f->pattern, 0, sizeof f->pattern);
    memset(f->parted, 0, sizeof f->parted);
    for (r = 0; r < f->registers; r++) f->pattern[0][r] = GPUMP_PATTERN_UNKNOWN;
    while (changed) {
        changed = 0;
        for (i = LENGTH; i-- > 0;) {
            for (k = 0; k < LENGTH; k++) {
                const step *s = &f->steps[k];
                const int falls = k + 1 == i && !s->leaves && (s->target == GPUMP_NONE || s->guard != GPUMP_NONE);
                if (!falls && s->target != i) continue;
                for (r = 0; r < f->registers; r++) {
                    const uint32_t joined = worse(f->pattern[i][r], reference_behind(f, k, r));
                    changed |= joined != f->pattern[i][r];
                    f->pattern[i][r] = joined;
                }
            }
            for (k = 0; k < LENGTH && !f->parted[i]; k++)
                if (reference_parts(f, k) && reference_inside(f, k, i)) f->parted[i] = changed = 1;
        }
    }
}
/* The bytes that a frame takes at `at`: every place where lanes may wait, one after the other. */
static uint64_t reference_bytes(const reference *f, const gpump_liveness *liveness, uint32_t at, uint32_t below_,
                                uint32_t lanes) {
    uint32_t places[4 * LENGTH], count = 1, k, r;
    uint64_t live[8], sum = 0;
    places[0] = at;
    for (k = 0; k < LENGTH && f->parted[at]; k++)
        if (reference_parts(f, k) && reference_inside(f, k, at)) {
            places[count++] = k + 1;
            places[count++] = f->steps[k].target;
            places[count++] = gpump_program_reconvergence(f->program, k);
        }
    for (r = 0; r < f->registers && r < below_; r++) {
        uint32_t worst = 0, needed = 0;
        for (k = 0; k < count; k++) {
            if (places[k] >= LENGTH) continue;
            gpump_liveness_before(liveness, places[k], live);
            needed |= (uint32_t)gpump_bits_get(live, r);
            worst = worse(worst, f->pattern[places[k]][r]);
        }
        if (needed) sum += worst == GPUMP_PATTERN_UNIFORM ? 4 : worst == GPUMP_PATTERN_AFFINE ? 8 : 4 * lanes;
    }
    return sum;
}

/* The pattern of each value by lane and block is that of its definition. */
static void answers_are_the_definition(void **state) {
    uint64_t seed = test_seed(), number, cases = test_cases(1200), bytes, sums = 0;
    (void)state;
    for (number = 0; number < cases; number++) {
        static const uint32_t sizes[] = {REGISTERS, 64, 65, 129, WIDEST};
        static reference f;
        gpump_pattern_rule *rules = (gpump_pattern_rule *)malloc(LENGTH * sizeof *rules);
        gpump_liveness *liveness;
        gpump_patterns *patterns;
        step steps[LENGTH];
        uint32_t i, r, k;
        random_state = seed * 1000033 + number;
        make_steps(steps);
        for (i = REGISTERS; i + 1 < LENGTH; i++) /* branches back, to a side that skips them or not */
            if (steps[i].target != GPUMP_NONE && below(3) == 0)
                steps[i].target = below(8) ? REGISTERS + below(i + 1 - REGISTERS) : 0;
        f.steps = steps;
        f.registers = sizes[below(5)];
        for (i = 0; i < LENGTH; i++) {
            uint32_t *const named[] = {&steps[i].def, &steps[i].a, &steps[i].b, &steps[i].c, &steps[i].guard};
            for (k = 0; k < 5; k++)
                if (*named[k] < REGISTERS) *named[k] *= f.registers / REGISTERS;
        }
        f.program = build(steps, LENGTH, rules, f.registers);
        reference_solve(&f);
        assert_int_equal(gpump_liveness_create(f.program, test_watched(), &liveness), GPUMP_OK);
        assert_int_equal(gpump_patterns_create(f.program, liveness, rules, test_watched(), &patterns, NULL), GPUMP_OK);
        for (i = 0; i < LENGTH; i++) {
            const uint32_t limits[] = {0, 3, f.registers / 2, 1000};
            for (r = 0; r < f.registers; r++)
                test_check(gpump_patterns_before(patterns, i, r) == f.pattern[i][r], seed, number);
            for (k = 0; k < 4; k++) {
                assert_int_equal(gpump_patterns_live_bytes(patterns, f.program, liveness, i, limits[k], LANES, &bytes),
                                 GPUMP_OK);
                test_check(bytes == reference_bytes(&f, liveness, i, limits[k], LANES), seed, number);
                sums += bytes;
            }
        }
        gpump_patterns_destroy(patterns);
        gpump_liveness_destroy(liveness);
        gpump_program_destroy(f.program);
        free(rules);
    }
    assert_true(sums > cases * 1000);
}

/* An instruction with two results: its rule is about the first. The second is uniform where all that is read is, and of
 * a constant; otherwise it is unknown, also where the first is affine. */
static void two_results(void **state) {
    static const struct {
        uint32_t kind, operand, reads, first, second;
    } cases[] = {
        {GPUMP_PATTERN_OF_CONSTANT, GPUMP_NONE, GPUMP_NONE, GPUMP_PATTERN_UNIFORM, GPUMP_PATTERN_UNIFORM},
        {GPUMP_PATTERN_OF_CONSTANT, GPUMP_NONE, 1, GPUMP_PATTERN_UNIFORM, GPUMP_PATTERN_UNIFORM},
        {GPUMP_PATTERN_OF_SUM, 0, 0, GPUMP_PATTERN_UNIFORM, GPUMP_PATTERN_UNIFORM},
        {GPUMP_PATTERN_OF_SUM, 1, 1, GPUMP_PATTERN_AFFINE, GPUMP_PATTERN_UNKNOWN},
        {GPUMP_PATTERN_OF_FUNCTION, 0, 0, GPUMP_PATTERN_UNIFORM, GPUMP_PATTERN_UNIFORM},
        {GPUMP_PATTERN_OF_FUNCTION, 1, 1, GPUMP_PATTERN_UNKNOWN, GPUMP_PATTERN_UNKNOWN},
        {GPUMP_PATTERN_OF_NOTHING, 0, 0, GPUMP_PATTERN_UNKNOWN, GPUMP_PATTERN_UNKNOWN},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        test_builder b = test_build(NULL);
        gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
        const uint32_t defs[2] = {2, 3}, reads = cases[n].reads;
        gpump_pattern_rule rules[4];
        gpump_liveness *liveness;
        gpump_patterns *patterns;
        (void)state;
        for (uint32_t i = 0; i < 4; i++) test_register(&b, GPUMP_WIDTH_32);
        memset(rules, 0, sizeof rules);
        for (uint32_t i = 0; i < 4; i++)
            for (uint32_t k = 0; k < 3; k++) rules[i].operands[k] = GPUMP_NONE;
        test_op(&b, 1, 0, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        rules[0].kind = GPUMP_PATTERN_OF_CONSTANT;
        test_op(&b, 2, 1, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        rules[1].kind = GPUMP_PATTERN_OF_SUM;
        rules[1].operands[0] = GPUMP_PATTERN_LANE;
        in.defs = defs;
        in.def_count = 2;
        in.uses = &reads;
        in.use_count = reads != GPUMP_NONE;
        test_add(&b, &in);
        rules[2].kind = cases[n].kind;
        rules[2].operands[0] = cases[n].operand;
        test_exit(&b, GPUMP_NONE);
        rules[3].kind = GPUMP_PATTERN_OF_NOTHING;
        test_finish(&b);
        assert_int_equal(gpump_liveness_create(b.program, test_watched(), &liveness), GPUMP_OK);
        assert_int_equal(gpump_patterns_create(b.program, liveness, rules, test_watched(), &patterns, NULL), GPUMP_OK);
        assert_int_equal(gpump_patterns_before(patterns, 3, 2), cases[n].first);
        assert_int_equal(gpump_patterns_before(patterns, 3, 3), cases[n].second);
        gpump_patterns_destroy(patterns);
        gpump_liveness_destroy(liveness);
        gpump_program_destroy(b.program);
    }
}

/* base + lane x 4, under a branch on the lane: what is written there is unknown, what was known stays. */
static void by_hand(void **state) {
    static const step steps[] = {
        {GPUMP_PATTERN_OF_CONSTANT, 0, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, 0, GPUMP_NONE, 7, 0},
        {GPUMP_PATTERN_OF_PRODUCT, 1, GPUMP_PATTERN_LANE, GPUMP_NONE, 0, GPUMP_NONE, 0, GPUMP_NONE, 4, 0},
        {GPUMP_PATTERN_OF_FUNCTION, VALUES, 1, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, 0, GPUMP_NONE, 0, 0},
        {GPUMP_PATTERN_OF_NOTHING, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, VALUES, 0, 5, 0, 0},
        {GPUMP_PATTERN_OF_CONSTANT, 2, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, 0, GPUMP_NONE, 9, 0},
        {GPUMP_PATTERN_OF_PRODUCT, 3, 1, 1, GPUMP_NONE, GPUMP_NONE, 0, GPUMP_NONE, 0, 0},
        {GPUMP_PATTERN_OF_SHIFT, 4, 1, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, 0, GPUMP_NONE, 2, 0},
        {GPUMP_PATTERN_OF_NOTHING, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, 0, GPUMP_NONE, 0, 0},
    };
    static const uint32_t expected[] = {GPUMP_PATTERN_UNIFORM, GPUMP_PATTERN_AFFINE, GPUMP_PATTERN_UNKNOWN,
                                        GPUMP_PATTERN_UNKNOWN, GPUMP_PATTERN_AFFINE};
    gpump_pattern_rule rules[8];
    gpump_program *program = build(steps, 8, rules, REGISTERS);
    gpump_liveness *liveness;
    gpump_patterns *patterns;
    gpump_diag diag;
    uint32_t i;
    (void)state;
    assert_int_equal(gpump_liveness_create(program, test_watched(), &liveness), GPUMP_OK);
    assert_int_equal(gpump_patterns_create(program, liveness, rules, test_watched(), &patterns, NULL), GPUMP_OK);
    for (i = 0; i < 5; i++) assert_int_equal(gpump_patterns_before(patterns, 7, i), expected[i]);
    gpump_patterns_destroy(patterns);
    rules[3].kind = GPUMP_PATTERN_KINDS;
    assert_int_equal(gpump_patterns_create(program, liveness, rules, test_watched(), &patterns, &diag),
                     GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "kind");
    assert_int_equal(diag.index, 3);
    rules[3].kind = 0;
    rules[2].operands[1] = REGISTERS;
    assert_int_equal(gpump_patterns_create(program, liveness, rules, test_watched(), &patterns, &diag),
                     GPUMP_ERROR_ARGUMENT);
    assert_string_equal(diag.field, "operands");
    gpump_liveness_destroy(liveness);
    gpump_program_destroy(program);
}

/* What a frame must hold, with a branch on the lane (0) and on a constant (1): an affine register, and one that a side
 * of the branch writes. The lanes that do not run may still need it, and where they have parted nothing is known of it.
 */
static void live_bytes_by_hand(void **state) {
    static const uint64_t expected[2][8] = {{0, 0, 8, 8 + 4, 8 + 4, 8 + 128, 8 + 128, 0},
                                            {0, 4, 4 + 8, 4 + 8 + 4, 8 + 4, 8, 8 + 4, 0}};
    uint32_t on_constant, i;
    (void)state;
    for (on_constant = 0; on_constant < 2; on_constant++) {
        const step steps[] = {
            {GPUMP_PATTERN_OF_CONSTANT, 0, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, 0, GPUMP_NONE, 7, 0},
            {GPUMP_PATTERN_OF_PRODUCT, 1, GPUMP_PATTERN_LANE, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, 0, GPUMP_NONE, 4, 0},
            {GPUMP_PATTERN_OF_CONSTANT, 3, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, 0, GPUMP_NONE, 8, 0},
            {GPUMP_PATTERN_OF_FUNCTION, VALUES, on_constant ? 0u : 1u, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, 0,
             GPUMP_NONE, 0, 0},
            {GPUMP_PATTERN_OF_NOTHING, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, VALUES, 0, 6, 0, 0},
            {GPUMP_PATTERN_OF_CONSTANT, 3, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, 0, GPUMP_NONE, 9, 0},
            {GPUMP_PATTERN_OF_SUM, 5, 1, 3, GPUMP_NONE, GPUMP_NONE, 0, GPUMP_NONE, 0, 0},
            {GPUMP_PATTERN_OF_NOTHING, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, 0, GPUMP_NONE, 0, 0},
        };
        gpump_pattern_rule rules[8];
        gpump_program *program = build(steps, 8, rules, REGISTERS);
        gpump_liveness *liveness;
        gpump_patterns *patterns;
        uint64_t bytes;
        assert_int_equal(gpump_liveness_create(program, test_watched(), &liveness), GPUMP_OK);
        assert_int_equal(gpump_patterns_create(program, liveness, rules, test_watched(), &patterns, NULL), GPUMP_OK);
        for (i = 0; i < 8; i++) {
            assert_int_equal(gpump_patterns_live_bytes(patterns, program, liveness, i, VALUES, LANES, &bytes),
                             GPUMP_OK);
            if (bytes != expected[on_constant][i])
                fail_msg("branch %u, instruction %u: %u bytes", on_constant, i, (unsigned)bytes);
        }
        assert_int_equal(gpump_patterns_live_bytes(patterns, program, liveness, 8, VALUES, LANES, &bytes),
                         GPUMP_ERROR_ARGUMENT);
        gpump_patterns_destroy(patterns);
        gpump_liveness_destroy(liveness);
        gpump_program_destroy(program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(claims_hold), cmocka_unit_test(answers_are_the_definition),
                                       cmocka_unit_test(by_hand), cmocka_unit_test(two_results),
                                       cmocka_unit_test(live_bytes_by_hand)};
    return cmocka_run_group_tests(tests, NULL, test_nothing_leaks);
}
