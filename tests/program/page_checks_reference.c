/* labels: property */
/* Page checks of random programs with nested loops, sides of branches, guards and ways out of loops: the form that each
 * access gets is the one that its place in the program asks for, and a run makes exactly the checks that this form
 * means, reaches no absent page, and ends as without checks. */
#include "decisions.h"
#include "program/paged_thread.h"

enum { LINES = 400, ADDRESSES = 4, LOOPS = 12 };
enum { A0, SUM = ADDRESSES, LOADED, CHASED, COUNT, LAST, OUTER, OUTER_LAST, COND, GUARD, OUTER_COND, ALL_REGISTERS };
enum { FORM_NONE, FORM_PLAIN, FORM_WALK, FORM_PREDICATED };

/* An instruction of a program, and what the reference knows of it. */
typedef struct line {
    gpump_instruction in;
    uint32_t defs[1], uses[2];
    uint32_t loop;              /* innermost loop that it stands in, or NO */
    uint32_t is_access, always; /* always: each iteration runs it */
    uint32_t form;
    uint64_t page; /* of a walk: the page that it last stood on, or NO before the first */
} line;
/* An innermost loop. entry: the instruction right before it; walks begin anew there. */
typedef struct inner_loop {
    uint32_t entry, is_straight, only_loads;
} inner_loop;
typedef struct tangle {
    line lines[LINES];
    inner_loop loops[LOOPS];
    uint32_t count, loop_count, loop; /* loop: the current one, or NO */
    uint32_t always;
    uint64_t *random;
    uint64_t expected; /* checks of a run */
} tangle;

static uint32_t below(tangle *t, uint32_t limit) { return gpump_random_below(t->random, limit); }
static line *put(tangle *t, uint32_t operation, uint64_t tag, uint32_t def, uint32_t use0, uint32_t use1) {
    line *l = &t->lines[t->count++];
    assert_true(t->count < LINES);
    memset(l, 0, sizeof *l);
    l->in = gpump_instruction_make(operation);
    l->in.tag = tag;
    l->defs[0] = def;
    l->in.def_count = def != NO;
    if (use0 != NO) l->uses[l->in.use_count++] = use0;
    if (use1 != NO) l->uses[l->in.use_count++] = use1;
    l->loop = t->loop;
    l->always = t->always;
    return l;
}
static void put_constant(tangle *t, uint32_t reg, int64_t value) {
    put(t, GPUMP_OP_CONSTANT, 0, reg, NO, NO)->in.immediate = value;
}
static void guard(line *l, uint32_t predicate, uint32_t negated) {
    l->in.guard = predicate;
    if (negated) l->in.flags |= GPUMP_FLAG_GUARD_NEGATED;
}
static void put_access(tangle *t, uint32_t writes, uint32_t address, uint32_t guarded) {
    line *l = writes ? put(t, GPUMP_OP_COMPUTE, TAG_STORE, NO, address, SUM)
                     : put(t, GPUMP_OP_COMPUTE, TAG_LOAD, LOADED, address, NO);
    l->in.access = writes ? GPUMP_ACCESS_WRITE : GPUMP_ACCESS_READ;
    l->in.bytes = 4;
    l->in.displacement = 4 * (int64_t)below(t, 3);
    l->is_access = 1;
    if (guarded) guard(l, GUARD, below(t, 2));
    if (t->loop != NO && (writes || guarded)) t->loops[t->loop].only_loads = 0;
    if (!writes) put(t, GPUMP_OP_COMPUTE, TAG_SUM, SUM, SUM, LOADED);
}
static void put_step(tangle *t, uint32_t address, uint32_t guarded) {
    static const int64_t steps[] = {4, 8, 12, 28, PAGE - 4, PAGE, PAGE + 4, 0};
    line *l = put(t, GPUMP_OP_ADD, 0, address, address, NO);
    const uint32_t backwards = below(t, 2), choices = below(t, 3) ? 4 : 8;
    l->in.immediate = steps[below(t, choices)] * (backwards ? -1 : 1);
    if (!below(t, 12)) l->uses[0] = (address + 1) % ADDRESSES; /* from another address: no walk */
    if (!guarded) return;
    guard(l, GUARD, below(t, 2));
    if (t->loop != NO) t->loops[t->loop].only_loads = 0;
}
static void put_statement(tangle *t, uint32_t address) {
    uint32_t guarded;
    switch (below(t, 9)) {
    case 0: put_access(t, 1, address, 0); break;
    case 1:
        guarded = below(t, 3) == 0; /* a call of its own: compilers differ in which argument comes first */
        put_access(t, below(t, 2), address, guarded);
        break;
    case 2: put_step(t, address, below(t, 4) == 0); break;
    case 3: put_access(t, 0, (address + 1) % ADDRESSES, 0); break;
    case 4: /* the next address is what is loaded */
        put_access(t, 0, CHASED, 0);
        put(t, GPUMP_OP_COMPUTE, TAG_PLACE, CHASED, LOADED, NO);
        break;
    case 5: put(t, GPUMP_OP_COMPUTE, TAG_NOT_ZERO, GUARD, SUM, NO); break;
    default: put_access(t, 0, address, 0); break;
    }
}
/* Statements on one side of a branch, which some iterations leave out. */
static void put_side(tangle *t, uint32_t address) {
    const uint32_t branch = t->count, always = t->always;
    guard(put(t, GPUMP_OP_BRANCH, 0, NO, NO, NO), GUARD, below(t, 2));
    t->always = 0;
    for (uint32_t n = 1 + below(t, 2); n; n--) put_statement(t, address);
    t->always = always;
    t->lines[branch].in.target = t->count;
    if (t->loop != NO) t->loops[t->loop].is_straight = 0;
}
static void put_loop(tangle *t) {
    const uint32_t address = A0 + below(t, ADDRESSES), kind = below(t, 4), page = PAGES / 2 + below(t, 8);
    uint32_t top, way_out = NO, n;
    put_constant(t, address, (int64_t)page * PAGE + 4 * (int64_t)below(t, 16));
    put_constant(t, LAST, 1 + below(t, 12));
    put_constant(t, COUNT, 0);
    top = t->count;
    t->loop = t->loop_count++;
    t->always = 1;
    t->loops[t->loop].entry = top - 1;
    t->loops[t->loop].is_straight = t->loops[t->loop].only_loads = 1;
    if (kind == 0) put_access(t, 0, address, 0);
    for (n = 1 + below(t, 4); n; n--) {
        if (kind > 1 && !below(t, 3))
            put_side(t, address);
        else if (kind == 0)
            put_access(t, 0, below(t, 3) ? address : CHASED, 0);
        else
            put_statement(t, address);
        if (kind == 3 && way_out == NO && !below(t, 4)) {
            way_out = t->count;
            guard(put(t, GPUMP_OP_BRANCH, 0, NO, NO, NO), GUARD, below(t, 2));
            t->loops[t->loop].is_straight = 0;
        }
    }
    if (kind != 1) put_step(t, address, 0);
    put(t, GPUMP_OP_ADD, 0, COUNT, COUNT, NO)->in.immediate = 1;
    put(t, GPUMP_OP_COMPUTE, TAG_LESS, COND, COUNT, LAST);
    guard(put(t, GPUMP_OP_BRANCH, 0, NO, NO, NO), COND, 0);
    t->lines[t->count - 1].in.target = top;
    t->loop = NO;
    if (way_out != NO) t->lines[way_out].in.target = t->count;
}
static void make(tangle *t, uint64_t *random) {
    t->count = t->loop_count = t->always = 0;
    t->loop = NO;
    t->random = random;
    for (uint32_t r = 0; r < ADDRESSES; r++) put_constant(t, A0 + r, (int64_t)(8 + 12 * r) * PAGE);
    put_constant(t, SUM, 1);
    put_constant(t, LOADED, 1);
    put_constant(t, CHASED, 30 * PAGE);
    put(t, GPUMP_OP_COMPUTE, TAG_NOT_ZERO, GUARD, SUM, NO);
    for (uint32_t part = 1 + below(t, 3); part; part--) {
        const uint32_t is_outer = below(t, 3) == 0;
        uint32_t top = 0;
        if (is_outer) {
            put_constant(t, OUTER, 0);
            put_constant(t, OUTER_LAST, 1 + below(t, 3));
            top = t->count;
        }
        for (uint32_t n = 1 + below(t, 2); n; n--) {
            if (below(t, 2)) put_statement(t, A0 + below(t, ADDRESSES));
            put_loop(t);
            if (!below(t, 3)) put_side(t, A0 + below(t, ADDRESSES));
        }
        if (!is_outer) continue;
        put(t, GPUMP_OP_ADD, 0, OUTER, OUTER, NO)->in.immediate = 1;
        put(t, GPUMP_OP_COMPUTE, TAG_LESS, OUTER_COND, OUTER, OUTER_LAST);
        guard(put(t, GPUMP_OP_BRANCH, 0, NO, NO, NO), OUTER_COND, 0);
        t->lines[t->count - 1].in.target = top;
    }
    put_access(t, 1, A0, 0);
    put(t, GPUMP_OP_EXIT, 0, NO, NO, NO);
}
static gpump_program *program_of(tangle *t) {
    test_builder b = test_build(NULL);
    for (uint32_t r = 0; r < ALL_REGISTERS; r++) test_register(&b, r >= COND ? GPUMP_WIDTH_PREDICATE : GPUMP_WIDTH_32);
    for (uint32_t i = 0; i < t->count; i++) {
        t->lines[i].in.defs = t->lines[i].defs;
        t->lines[i].in.uses = t->lines[i].uses;
        test_add(&b, &t->lines[i].in);
    }
    test_finish(&b);
    return b.program;
}

/* A walk stands in an innermost loop, under no guard, and in each iteration; the one write of its address in all
 * innermost loops is a step in the same loop, in each iteration too, by less than a page. */
static int is_walk(const tangle *t, uint32_t i) {
    const line *access = &t->lines[i], *step = NULL;
    uint32_t writes = 0;
    for (uint32_t k = 0; k < t->count; k++) {
        const line *l = &t->lines[k];
        if (l->loop == NO || !l->in.def_count || l->defs[0] != access->uses[0]) continue;
        writes++;
        step = l;
    }
    return access->loop != NO && access->always && access->in.guard == NO && writes == 1 &&
           step->loop == access->loop && step->always && step->in.operation == GPUMP_OP_ADD &&
           step->uses[0] == step->defs[0] && step->in.guard == NO && step->in.immediate &&
           llabs(step->in.immediate) < PAGE;
}
/* A loop of one block that only loads, and not only by walks, is predicated. */
static void give_forms(tangle *t, const gpump_page_checks_config *config, uint32_t forms[4]) {
    memset(forms, 0, 4 * sizeof *forms);
    for (uint32_t i = 0; i < t->count; i++)
        t->lines[i].form = !t->lines[i].is_access ? FORM_NONE : config->walks && is_walk(t, i) ? FORM_WALK : FORM_PLAIN;
    for (uint32_t n = 0; n < t->loop_count && config->predicated; n++) {
        uint32_t i, other = 0;
        for (i = 0; i < t->count; i++) other |= t->lines[i].loop == n && t->lines[i].form == FORM_PLAIN;
        if (!other || !t->loops[n].is_straight || !t->loops[n].only_loads) continue;
        for (i = 0; i < t->count; i++)
            if (t->lines[i].loop == n && t->lines[i].is_access) t->lines[i].form = FORM_PREDICATED;
    }
    for (uint32_t i = 0; i < t->count; i++) forms[t->lines[i].form]++;
}
/* Counts the checks that the program without checks would need: one for each access, of a walk one for each page. */
static void count_checks(thread *machine, uint32_t at, uint64_t address) {
    tangle *t = (tangle *)machine->watcher;
    line *l = &t->lines[at];
    for (uint32_t i = 0; i < t->count; i++)
        if (t->lines[i].loop != NO && t->loops[t->lines[i].loop].entry == at) t->lines[i].page = NO;
    t->expected +=
        l->form == FORM_PLAIN || l->form == FORM_PREDICATED || (l->form == FORM_WALK && l->page != address / PAGE);
    if (l->form == FORM_WALK) l->page = address / PAGE;
}

/* In random programs each access is checked once, in the form that its place allows, and results stay the same. */
static void every_access_is_checked_in_the_form_of_its_place(void **state) {
    uint64_t seed = test_seed(), random = seed, ran = 0, all[4] = {0};
    static tangle t;
    (void)state;
    for (uint64_t n = 0; n < test_cases(6000); n++) {
        gpump_program *program, *checked;
        gpump_page_checks_config config = kim("kim");
        gpump_page_checks_report report;
        uint32_t forms[4];
        static thread plain, full, some;
        make(&t, &random);
        program = program_of(&t);
        config.walks = gpump_random_below(&random, 5) != 0;
        config.predicated = gpump_random_below(&random, 3) != 0;
        config.bits = 1 + gpump_random_below(&random, 8);
        give_forms(&t, &config, forms);
        test_check(gpump_page_checks_insert(program, &config, &checked, &report, NULL) == GPUMP_OK, seed, n);
        test_check(report.plain == forms[FORM_PLAIN] && report.walks == forms[FORM_WALK], seed, n);
        test_check(report.predicated == forms[FORM_PREDICATED], seed, n);
        test_check(report.accesses == report.plain + report.walks + report.predicated, seed, n);
        for (uint32_t k = 0; k < 4; k++) all[k] += forms[k];
        start(&plain, &random, 8);
        memset(plain.page, WRITABLE, sizeof plain.page);
        t.expected = 0;
        plain.watch = count_checks;
        plain.watcher = &t;
        if (run(&plain, program)) { /* it stays in its memory */
            start(&full, &random, 8);
            memset(full.page, WRITABLE, sizeof full.page);
            test_check(run(&full, checked) && full.checks == t.expected && !full.faults, seed, n);
            test_check(!memcmp(plain.word, full.word, sizeof plain.word), seed, n);
            start(&some, &random, gpump_random_below(&random, 8));
            test_check(run(&some, checked) && !some.uncaught, seed, n);
            test_check(!memcmp(plain.word, some.word, sizeof plain.word), seed, n);
            test_check(plain.reg[SUM] == some.reg[SUM] && plain.reg[SUM] == full.reg[SUM], seed, n);
            ran++;
        }
        gpump_program_destroy(checked);
        gpump_program_destroy(program);
    }
    assert_true(ran > test_cases(6000) / 2 && all[FORM_PLAIN] > ran && all[FORM_WALK] > ran / 4 &&
                all[FORM_PREDICATED] > ran / 4);
}

/* Which of several right programs is made: beside what was written down when a change was last meant. */
static void every_checked_program_is_as_written_down(void **state) {
    static tangle t;
    decisions all = decisions_begin(20);
    uint64_t random = 7;
    (void)state;
    for (uint32_t n = 0; n < 300; n++) {
        gpump_program *program, *checked;
        gpump_page_checks_config config = kim("kim");
        make(&t, &random);
        program = program_of(&t);
        config.walks = n % 5 != 0;
        config.predicated = n % 3 != 0;
        config.bits = 1 + n % 8;
        assert_int_equal(gpump_page_checks_insert(program, &config, &checked, NULL, NULL), GPUMP_OK);
        decided(&all,
                "program %" PRIu32 ": 0x%016" PRIx64 ", checked %" PRIu32 " instructions, 0x%016" PRIx64
                ", text 0x%016" PRIx64,
                n, test_program_hash(program), gpump_program_count(checked).instructions, test_program_hash(checked),
                test_program_text_hash(checked));
        gpump_program_destroy(checked);
        gpump_program_destroy(program);
    }
    assert_false(decisions_differ(&all, "tests/program/decisions/checked.txt"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_access_is_checked_in_the_form_of_its_place),
        cmocka_unit_test(every_checked_program_is_as_written_down),
    };
    return cmocka_run_group_tests(tests, NULL, test_nothing_leaks);
}
