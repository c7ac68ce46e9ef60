/* labels: unit property */
/* Every public function of the program components, in one table: each request that it makes for memory fails in turn,
 * for programs of many sizes. It must then return GPUMP_ERROR_MEMORY, leave every input as it was, set no output
 * pointer, hold nothing, and do its work when it is called again. Functions that are said to need no memory must not
 * ask for any. The table is held against the headers. (metrics takes no allocator and no program; graph, constants and
 * preserve have no public functions of their own.) */
#include "program/oracle_program.h"

#define UNTOUCHED ((gpump_program *)(void *)&untouched)
static char untouched;

enum { LIST = 4096 };

/* Everything a call can be given; made anew for each call, from one allocator. */
typedef struct scene {
    test_allocator counter;
    gpump_allocator allocator;
    gpump_program *program; /* finished, as a host writes it down */
    gpump_program *draft; /* not finished: `size` registers, objects and instructions that no arrays have grown past */
    gpump_program *whole; /* not finished, fit to be */
    gpump_program *allocated; /* onto registers */
    gpump_program *formed;    /* with boundaries */
    gpump_program *paired;    /* a region overwrites the pair of registers that it has read */
    gpump_liveness *liveness; /* of formed */
    gpump_registers_config registers;
    gpump_preempt_points_config points;
    gpump_regions_config regions;
    gpump_page_checks_config pages;
} scene;

/* ---- digests: all that the public views tell ---- */

static uint64_t mix_bytes(uint64_t h, const void *bytes, size_t count) {
    const unsigned char *p = (const unsigned char *)bytes;
    while (count--) h = oracle_mix(h, *p++);
    return oracle_mix(h, 0x100);
}
/* Field by field, as structs have holes. */
static uint64_t mix_words(uint64_t h, const uint64_t *words, size_t count) {
    return mix_bytes(h, words, count * sizeof *words);
}
static uint64_t mix_instruction(uint64_t h, const gpump_instruction *in) {
    const uint64_t words[] = {in->tag,
                              (uint64_t)in->immediate,
                              (uint64_t)in->offset,
                              (uint64_t)in->displacement,
                              in->operation,
                              in->def_count,
                              in->use_count,
                              in->flags,
                              in->guard,
                              in->target,
                              in->access,
                              in->space,
                              in->object,
                              in->address,
                              in->value,
                              in->bytes,
                              in->thread_stride};
    h = mix_bytes(h, in->defs, in->def_count * sizeof *in->defs);
    h = mix_bytes(h, in->uses, in->use_count * sizeof *in->uses);
    return mix_words(h, words, sizeof words / sizeof words[0]);
}
static uint64_t mix_block(uint64_t h, const gpump_basic_block *block) {
    const uint64_t words[] = {block->first, block->count,      block->dominator, block->post_dominator,
                              block->loop,  block->loop_depth, block->reachable};
    h = mix_bytes(h, block->successors, block->successor_count * sizeof *block->successors);
    h = mix_bytes(h, block->predecessors, block->predecessor_count * sizeof *block->predecessors);
    return mix_words(h, words, sizeof words / sizeof words[0]);
}
static uint64_t mix_point(uint64_t h, const gpump_preempt_point *p) {
    const uint64_t words[] = {
        p->vector, p->vector_diverged, p->predicates,   p->predicates_diverged, p->instruction, p->kind,
        p->loop,   p->live_registers,  p->live_diverged};
    return mix_words(h, words, sizeof words / sizeof words[0]);
}
static uint64_t digest_program(const gpump_program *program) {
    uint32_t i, k, n = gpump_program_count(program).instructions, blocks = gpump_program_count(program).basic_blocks;
    const uint32_t *origin = gpump_program_origin(program);
    uint64_t h = oracle_mix(n, blocks);
    for (i = 0; i < gpump_program_count(program).registers; i++) h = oracle_mix(h, gpump_program_width(program, i));
    for (i = 0; i < gpump_program_count(program).objects; i++) {
        gpump_memory_object object = gpump_program_object(program, i);
        h = mix_bytes(h, &object, sizeof object);
    }
    for (i = 0; i < n; i++) {
        gpump_instruction in;
        char text[200];
        gpump_program_instruction(program, i, &in);
        h = mix_instruction(h, &in);
        h = mix_bytes(h, text, gpump_program_text(program, i, text, sizeof text));
        if (origin) h = oracle_mix(h, origin[i]);
        if (!blocks) continue;
        h = oracle_mix(h, gpump_program_basic_block_of(program, i));
        if (in.operation == GPUMP_OP_BRANCH) h = oracle_mix(h, gpump_program_reconvergence(program, i));
        for (k = 0; k < n && in.access; k++)
            h = oracle_mix(h, (uint64_t)gpump_program_may_alias(program, i, k, GPUMP_UNIT_WARP));
    }
    for (i = 0; i < blocks; i++) {
        gpump_basic_block block;
        gpump_program_basic_block(program, i, &block);
        h = mix_block(h, &block);
        for (k = 0; k < blocks; k++) h = oracle_mix(h, (uint64_t)gpump_program_dominates(program, i, k));
    }
    for (i = 0; i < gpump_program_count(program).loops; i++) {
        gpump_loop loop;
        gpump_program_loop(program, i, &loop);
        h = mix_bytes(h, &loop, sizeof loop);
        for (k = 0; k < blocks; k++) h = oracle_mix(h, (uint64_t)gpump_program_in_loop(program, i, k));
    }
    return h;
}
static uint64_t digest_liveness(const gpump_program *program, const gpump_liveness *liveness) {
    static uint64_t set[64];
    uint32_t i, count, words = gpump_liveness_words(liveness);
    const uint32_t *list;
    uint64_t h = words;
    assert_true(words <= 64);
    for (i = 0; i < gpump_program_count(program).instructions; i++) {
        gpump_liveness_before(liveness, i, set);
        h = mix_bytes(h, set, words * sizeof *set);
        gpump_liveness_after(liveness, i, set);
        h = mix_bytes(h, set, words * sizeof *set);
    }
    for (i = 0; i < gpump_program_count(program).basic_blocks; i++) {
        gpumpi_liveness_block_in(liveness, i, &list, &count);
        h = mix_bytes(h, list, count * sizeof *list);
        gpumpi_liveness_block_out(liveness, i, &list, &count);
        h = mix_bytes(h, list, count * sizeof *list);
    }
    return h;
}
static uint64_t digest_inputs(const scene *s) {
    uint64_t h = digest_program(s->program);
    h = oracle_mix(h, digest_program(s->draft));
    h = oracle_mix(h, digest_program(s->whole));
    h = oracle_mix(h, digest_program(s->allocated));
    h = oracle_mix(h, digest_program(s->formed));
    h = oracle_mix(h, digest_liveness(s->formed, s->liveness));
    h = mix_bytes(h, &s->registers, sizeof s->registers);
    h = mix_bytes(h, &s->points, sizeof s->points);
    h = mix_bytes(h, &s->regions, sizeof s->regions);
    return mix_bytes(h, &s->pages, sizeof s->pages);
}

/* ---- the scene ---- */

/* Only what `finish` has not seen can be added to. */
static gpump_program *not_finished(const gpump_program *from, uint32_t instructions, const gpump_allocator *allocator) {
    gpump_program *program;
    uint32_t i, ignored;
    assert_int_equal(gpump_program_create(allocator, &program), GPUMP_OK);
    for (i = 0; i < gpump_program_count(from).registers; i++)
        assert_int_equal(gpump_program_add_register(program, gpump_program_width(from, i), &ignored, NULL), GPUMP_OK);
    for (i = 0; i < gpump_program_count(from).objects; i++) {
        gpump_memory_object object = gpump_program_object(from, i);
        assert_int_equal(gpump_program_add_object(program, &object, &ignored, NULL), GPUMP_OK);
    }
    for (i = 0; i < instructions; i++) {
        gpump_instruction in;
        gpump_program_instruction(from, i, &in);
        assert_int_equal(gpump_program_add(program, &in, NULL, NULL), GPUMP_OK);
    }
    return program;
}

/* Sets a pair of registers, and overwrites it in the region that reads it. */
static gpump_program *overwritten_pair(const gpump_allocator *allocator) {
    test_builder b = test_build(allocator);
    const uint32_t pair = test_register(&b, GPUMP_WIDTH_32) | GPUMP_OPERAND_PAIR;
    gpump_instruction boundary = gpump_instruction_make(GPUMP_OP_BOUNDARY);
    test_register(&b, GPUMP_WIDTH_32);
    test_op(&b, 1, pair, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
    test_add(&b, &boundary);
    test_op(&b, 2, pair, pair, GPUMP_NONE, GPUMP_NONE);
    test_op(&b, 3, GPUMP_NONE, pair, GPUMP_NONE, GPUMP_NONE);
    test_exit(&b, GPUMP_NONE);
    assert_int_equal(test_finish(&b), GPUMP_OK);
    return b.program;
}

static void scene_make(scene *s, uint32_t size) {
    static draft d;
    uint64_t random = size + 1;
    uint32_t i, ignored, set_up = 0;
    const gpump_memory_object object = {GPUMP_SPACE_GLOBAL, GPUMP_NONE};
    memset(s, 0, sizeof *s);
    s->allocator = test_allocator_of(&s->counter);
    s->program = draft_random(&d, &random, 8 + size % 20, 2, 8, 1, &s->allocator);
    assert_non_null(s->program);
    assert_int_equal(gpump_preset(&gpump_registers_component, &s->registers, "kepler", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_preempt_points_component, &s->points, "lin", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_regions_component, &s->regions, "igpu_short", NULL), GPUMP_OK);
    assert_int_equal(gpump_preset(&gpump_page_checks_component, &s->pages, size % 2 ? "kim" : "kim_plain", NULL),
                     GPUMP_OK);
    s->registers.registers = 8; /* so few that some are spilled */
    s->points.interval = 4;
    s->regions.max_instructions = 6;
    s->whole = not_finished(s->program, gpump_program_count(s->program).instructions, &s->allocator);
    assert_int_equal(gpump_program_create(&s->allocator, &s->draft), GPUMP_OK);
    for (i = 0; i < size; i++) { /* sizes that fill growing arrays to the brim are among them */
        gpump_instruction in = gpump_instruction_make(GPUMP_OP_CONSTANT);
        assert_int_equal(gpump_program_add_register(s->draft, GPUMP_WIDTH_32, &ignored, NULL), GPUMP_OK);
        assert_int_equal(gpump_program_add_object(s->draft, &object, &ignored, NULL), GPUMP_OK);
        in.defs = &set_up;
        in.def_count = 1;
        assert_int_equal(gpump_program_add(s->draft, &in, NULL, NULL), GPUMP_OK);
    }
    assert_int_equal(gpump_registers_allocate(s->program, &s->registers, &s->allocated, NULL, NULL), GPUMP_OK);
    s->regions.preserve = 0; /* so that there is something left to preserve */
    assert_int_equal(gpump_regions_form(s->program, &s->regions, &s->formed, NULL, NULL), GPUMP_OK);
    s->regions.preserve = 1;
    s->paired = overwritten_pair(&s->allocator);
    assert_int_equal(gpump_liveness_create(s->formed, &s->allocator, &s->liveness), GPUMP_OK);
}
static void scene_free(scene *s) {
    s->counter.fail_at = 0;
    gpump_liveness_destroy(s->liveness);
    gpump_program_destroy(s->paired);
    gpump_program_destroy(s->formed);
    gpump_program_destroy(s->allocated);
    gpump_program_destroy(s->draft);
    gpump_program_destroy(s->whole);
    gpump_program_destroy(s->program);
    if (s->counter.live || s->counter.live_bytes)
        fail_msg("%llu pieces leak, %zu bytes", (unsigned long long)s->counter.live, s->counter.live_bytes);
}

/* ---- one call of each function: returns its result, mixes what it made into *made and frees that ---- */

/* A program that a call made, or did not. */
static gpump_result made_program(scene *s, gpump_result result, gpump_program *program, uint64_t *made) {
    if (result != GPUMP_OK) {
        assert_ptr_equal(program, UNTOUCHED);
        return result;
    }
    s->counter.fail_at = 0;
    *made = oracle_mix(*made, digest_program(program));
    gpump_program_destroy(program);
    return result;
}
static gpump_result call_create(scene *s, uint64_t *made) {
    gpump_program *program = UNTOUCHED;
    gpump_result result = gpump_program_create(&s->allocator, &program);
    return made_program(s, result, program, made);
}
static gpump_result call_add_register(scene *s, uint64_t *made) {
    uint32_t reg = 77;
    gpump_result result = gpump_program_add_register(s->draft, GPUMP_WIDTH_64, &reg, NULL);
    *made = oracle_mix(*made, reg);
    return result;
}
static gpump_result call_add_object(scene *s, uint64_t *made) {
    const gpump_memory_object object = {GPUMP_SPACE_SHARED, 3};
    uint32_t number = 77;
    gpump_result result = gpump_program_add_object(s->draft, &object, &number, NULL);
    *made = oracle_mix(*made, number);
    return result;
}
static gpump_result call_add(scene *s, uint64_t *made) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
    uint32_t uses[6] = {0, 0, 0, 0, 0, 0}, index = 77;
    gpump_result result;
    if (!gpump_program_count(s->draft).registers) return GPUMP_OK;
    in.defs = in.uses = uses;
    in.def_count = 1;
    in.use_count = 6;
    result = gpump_program_add(s->draft, &in, &index, NULL);
    *made = oracle_mix(*made, index);
    return result;
}
static gpump_result call_finish(scene *s, uint64_t *made) {
    gpump_result result = gpump_program_finish(s->whole, NULL);
    if (result == GPUMP_OK) *made = oracle_mix(*made, digest_program(s->whole));
    return result;
}
static gpump_result call_liveness_create(scene *s, uint64_t *made) {
    gpump_liveness *liveness = (gpump_liveness *)(void *)&untouched;
    gpump_result result = gpump_liveness_create(s->program, &s->allocator, &liveness);
    if (result != GPUMP_OK) {
        assert_ptr_equal(liveness, &untouched);
        return result;
    }
    *made = oracle_mix(*made, digest_liveness(s->program, liveness));
    gpump_liveness_destroy(liveness);
    return result;
}
static gpump_result call_enclosing(scene *s, uint64_t *made) {
    static uint32_t list[LIST];
    uint32_t count = 0, i;
    gpump_result result = GPUMP_OK;
    for (i = 0; i < gpump_program_count(s->formed).instructions && result == GPUMP_OK; i += 7) {
        result = gpump_liveness_enclosing(s->liveness, i, list, LIST, &count);
        if (result == GPUMP_OK) *made = mix_bytes(*made, list, count * sizeof *list);
    }
    return result;
}
static gpump_result call_diverged(scene *s, uint64_t *made) {
    static uint64_t set[64];
    uint32_t i;
    gpump_result result = GPUMP_OK;
    for (i = 0; i < gpump_program_count(s->formed).instructions && result == GPUMP_OK; i += 7) {
        result = gpump_liveness_diverged(s->liveness, i, set);
        if (result == GPUMP_OK) *made = mix_bytes(*made, set, gpump_liveness_words(s->liveness) * sizeof *set);
    }
    return result;
}
static gpump_result call_pressure(scene *s, uint64_t *made) {
    static uint32_t registers[LIST], predicates[LIST];
    uint32_t peak = 0, peak_predicates = 0;
    gpump_result result = gpump_liveness_pressure(s->liveness, registers, predicates, &peak, &peak_predicates);
    if (result == GPUMP_OK)
        *made = oracle_mix(mix_bytes(*made, registers, gpump_program_count(s->formed).instructions * sizeof *registers),
                           peak);
    return result;
}
static gpump_result call_uninitialised(scene *s, uint64_t *made) {
    static gpump_uninitialised list[LIST];
    uint32_t count = 0;
    gpump_result result = gpump_liveness_uninitialised(s->liveness, list, LIST, &count);
    if (result == GPUMP_OK) *made = mix_bytes(*made, list, count * sizeof *list);
    return result;
}
/* What stands in the diagnostic when memory runs out. */
static gpump_result named(gpump_result result, const gpump_diag *diag) {
    if (result == GPUMP_ERROR_MEMORY) {
        assert_int_equal(diag->code, GPUMP_ERROR_MEMORY);
        assert_string_equal(diag->field, "program");
        assert_true(!diag->index && !diag->value && !diag->minimum && !diag->maximum);
    }
    return result;
}
static gpump_result call_patterns(scene *s, uint64_t *made) {
    static gpump_pattern_rule rules[LIST];
    gpump_patterns *patterns = (gpump_patterns *)(void *)&untouched;
    uint64_t random = 5, bytes = 0;
    uint32_t i, k, n = gpump_program_count(s->formed).instructions;
    gpump_result result;
    for (i = 0; i < n; i++) {
        gpump_instruction in;
        gpump_program_instruction(s->formed, i, &in);
        rules[i].kind = gpump_random_below(&random, GPUMP_PATTERN_KINDS);
        for (k = 0; k < 3; k++) rules[i].operands[k] = k < in.use_count ? in.uses[k] : GPUMP_PATTERN_LANE;
    }
    result = gpump_patterns_create(s->formed, s->liveness, rules, &s->allocator, &patterns, NULL);
    if (result != GPUMP_OK) {
        assert_ptr_equal(patterns, &untouched);
        return result;
    }
    for (i = 0; i < n && result == GPUMP_OK; i++) {
        for (k = 0; k < gpump_program_count(s->formed).registers; k++)
            *made = oracle_mix(*made, gpump_patterns_before(patterns, i, k));
        if (i % 7) continue;
        result = gpump_patterns_live_bytes(patterns, s->formed, s->liveness, i, 1000, 32, &bytes);
        *made = oracle_mix(*made, bytes);
    }
    gpump_patterns_destroy(patterns);
    return result;
}
static gpump_result call_allocate(scene *s, uint64_t *made) {
    gpump_program *program = UNTOUCHED;
    gpump_registers_report report;
    gpump_diag diag;
    gpump_result result = gpump_registers_allocate(s->program, &s->registers, &program, &report, &diag);
    if (result == GPUMP_OK) *made = mix_bytes(*made, &report, sizeof report);
    return made_program(s, named(result, &diag), program, made);
}
static gpump_result call_place(scene *s, uint64_t *made) {
    static gpump_preempt_point points[LIST];
    gpump_program *program = UNTOUCHED;
    uint32_t count = 0;
    gpump_diag diag;
    gpump_result result = gpump_preempt_points_place(s->allocated, &s->points, &program, points, LIST, &count, &diag);
    for (uint32_t i = 0; i < count && result == GPUMP_OK; i++) *made = mix_point(*made, &points[i]);
    return made_program(s, named(result, &diag), program, made);
}
static gpump_result call_clobbers_find(scene *s, uint64_t *made) {
    static gpump_clobber list[LIST];
    uint32_t count = 0;
    gpump_result result = gpump_clobbers_find(s->formed, GPUMP_UNIT_WARP, GPUMP_BOUNDARY_SHORT, list, LIST, &count);
    if (result == GPUMP_OK) *made = mix_bytes(*made, list, count * sizeof *list);
    return result;
}
static gpump_result call_clobbers_block(scene *s, uint64_t *made) {
    static uint8_t clobbers[LIST];
    uint32_t count = 0;
    gpump_result result = gpump_clobbers_block(s->program, clobbers, &count);
    if (result == GPUMP_OK) *made = mix_bytes(*made, clobbers, gpump_program_count(s->program).instructions);
    return result;
}
static gpump_result call_form(scene *s, uint64_t *made) {
    gpump_program *program = UNTOUCHED;
    gpump_regions_report report;
    gpump_diag diag;
    gpump_result result = gpump_regions_form(s->program, &s->regions, &program, &report, &diag);
    if (result == GPUMP_OK) *made = mix_bytes(*made, &report, sizeof report);
    return made_program(s, named(result, &diag), program, made);
}
static gpump_result call_split(scene *s, uint64_t *made) {
    gpump_program *program = UNTOUCHED;
    gpump_regions_report report;
    gpump_instruction in;
    gpump_diag diag;
    gpump_result result;
    uint32_t at = 0;
    for (;; at++) {
        gpump_program_instruction(s->formed, at, &in);
        if (in.operation == GPUMP_OP_COMPUTE) break;
    }
    result = gpump_regions_split(s->formed, at, at, &program, &report, &diag);
    if (result == GPUMP_OK) *made = mix_bytes(*made, &report, sizeof report);
    return made_program(s, named(result, &diag), program, made);
}
static gpump_result call_preserve(scene *s, uint64_t *made) {
    gpump_program *program = UNTOUCHED;
    gpump_diag diag;
    gpump_result result = gpump_regions_preserve(s->formed, &program, NULL, &diag);
    return made_program(s, named(result, &diag), program, made);
}
static gpump_result call_preserve_pairs(scene *s, uint64_t *made) {
    gpump_program *program = UNTOUCHED;
    gpump_regions_report report;
    gpump_diag diag;
    gpump_result result;
    memset(&report, 0, sizeof report);
    result = gpump_regions_preserve(s->paired, &program, &report, &diag);
    if (result == GPUMP_OK) assert_int_equal(report.copies, 2);
    return made_program(s, named(result, &diag), program, made);
}
static gpump_result call_stored(scene *s, uint64_t *made) {
    static uint64_t sets[64 * 64];
    const uint32_t words = gpump_liveness_words(s->liveness);
    uint32_t count = 0;
    gpump_result result =
        gpump_regions_stored(s->formed, s->liveness, GPUMP_SPILLING_CHANGED, sets, words ? 64 * 64 / words : 0, &count);
    if (result == GPUMP_OK) *made = mix_bytes(*made, sets, (size_t)count * words * sizeof *sets);
    return result;
}
static gpump_result call_insert(scene *s, uint64_t *made) {
    gpump_program *program = UNTOUCHED;
    gpump_page_checks_report report;
    gpump_diag diag;
    gpump_result result = gpump_page_checks_insert(s->program, &s->pages, &program, &report, &diag);
    if (result == GPUMP_OK) *made = mix_bytes(*made, &report, sizeof report);
    return made_program(s, named(result, &diag), program, made);
}

/* Views that need no memory: one call of each kind, through the digests where they are part of one. */
static gpump_result call_program_views(scene *s, uint64_t *made) {
    *made = oracle_mix(digest_program(s->program), digest_program(s->formed));
    return GPUMP_OK;
}
static gpump_result call_instruction_make(scene *s, uint64_t *made) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_MOVE);
    (void)s;
    *made = in.operation;
    return GPUMP_OK;
}
static gpump_result call_destroy_nothing(scene *s, uint64_t *made) {
    (void)s;
    (void)made;
    gpump_program_destroy(NULL);
    gpump_liveness_destroy(NULL);
    gpump_patterns_destroy(NULL);
    return GPUMP_OK;
}
static gpump_result call_liveness_views(scene *s, uint64_t *made) {
    static uint64_t set[64];
    uint32_t registers, predicates, pc = 0;
    *made = digest_liveness(s->formed, s->liveness);
    gpump_liveness_stack(s->liveness, &pc, 1, set);
    gpump_liveness_count(s->liveness, set, &registers, &predicates);
    *made = oracle_mix(*made, registers);
    return GPUMP_OK;
}
static gpump_result call_presets(scene *s, uint64_t *made) {
    gpump_result result = gpump_preset(&gpump_registers_component, &s->registers, "fermi", NULL);
    if (result == GPUMP_OK) result = gpump_preset(&gpump_preempt_points_component, &s->points, "lin", NULL);
    if (result == GPUMP_OK) result = gpump_preset(&gpump_regions_component, &s->regions, "igpu", NULL);
    if (result == GPUMP_OK) result = gpump_preset(&gpump_page_checks_component, &s->pages, "kim", NULL);
    *made = gpumpi_live_vector_count(GPUMP_LIVE_VECTOR_REST, 60);
    return result;
}

enum { NEEDS = 1, NEEDS_NONE = 0, CHANGES = 2 };
typedef struct function {
    const char *names; /* spaces between them */
    gpump_result (*call)(scene *s, uint64_t *made);
    int memory;        /* NEEDS it; CHANGES: and succeeding changes an input */
    uint64_t requests; /* made in all, over all scenes */
} function;
static function functions[] = {
    {"gpump_program_create", call_create, NEEDS, 0},
    {"gpump_program_add_register", call_add_register, NEEDS | CHANGES, 0},
    {"gpump_program_add_object", call_add_object, NEEDS | CHANGES, 0},
    {"gpump_program_add", call_add, NEEDS | CHANGES, 0},
    {"gpump_program_finish", call_finish, NEEDS | CHANGES, 0},
    {"gpump_liveness_create", call_liveness_create, NEEDS, 0},
    {"gpump_liveness_enclosing", call_enclosing, NEEDS, 0},
    {"gpump_liveness_diverged", call_diverged, NEEDS, 0},
    {"gpump_liveness_pressure", call_pressure, NEEDS, 0},
    {"gpump_liveness_uninitialised", call_uninitialised, NEEDS, 0},
    {"gpump_patterns_create gpump_patterns_live_bytes gpump_patterns_before", call_patterns, NEEDS, 0},
    {"gpump_registers_allocate", call_allocate, NEEDS, 0},
    {"gpump_preempt_points_place", call_place, NEEDS, 0},
    {"gpump_clobbers_find", call_clobbers_find, NEEDS, 0},
    {"gpump_clobbers_block", call_clobbers_block, NEEDS, 0},
    {"gpump_regions_form", call_form, NEEDS, 0},
    {"gpump_regions_split", call_split, NEEDS, 0},
    {"gpump_regions_preserve", call_preserve, NEEDS, 0},
    {"gpump_regions_preserve", call_preserve_pairs, NEEDS, 0},
    {"gpump_page_checks_insert", call_insert, NEEDS, 0},
    {"gpump_regions_stored", call_stored, NEEDS, 0},
    {"gpump_instruction_make", call_instruction_make, NEEDS_NONE, 0},
    {"gpump_program_destroy gpump_liveness_destroy gpump_patterns_destroy", call_destroy_nothing, NEEDS_NONE, 0},
    {"gpump_program_count "
     "gpump_program_width gpump_program_object gpump_program_instruction gpump_program_origin "
     "gpump_program_basic_block "
     "gpump_program_basic_block_of gpump_program_dominates gpump_program_reconvergence gpump_program_loop "
     "gpump_program_in_loop "
     "gpump_program_may_alias gpump_program_text",
     call_program_views, NEEDS_NONE, 0},
    {"gpump_liveness_words gpump_liveness_before gpump_liveness_after gpumpi_liveness_block_in "
     "gpumpi_liveness_block_out "
     "gpump_liveness_stack gpump_liveness_count",
     call_liveness_views, NEEDS_NONE, 0},
    {"gpump_preset gpump_preset gpump_preset "
     "gpump_preset "
     "gpumpi_live_vector_count",
     call_presets, NEEDS_NONE | CHANGES, 0},
};
#define FUNCTIONS (sizeof functions / sizeof functions[0])

/* One call with request `fail_at` failing; returns how many requests it made. expected: what a call that succeeds
 * makes. */
static uint64_t call_once(const function *f, uint32_t size, uint64_t fail_at, uint64_t *expected) {
    scene s;
    uint64_t before, made = 0, pieces, requests;
    size_t bytes;
    gpump_result result;
    scene_make(&s, size);
    before = digest_inputs(&s);
    pieces = s.counter.live;
    bytes = s.counter.live_bytes;
    s.counter.requests = 0;
    s.counter.fail_at = fail_at;
    result = f->call(&s, &made);
    requests = s.counter.requests;
    s.counter.fail_at = 0;
    if (fail_at) {
        uint64_t again = 0;
        if (result != GPUMP_ERROR_MEMORY)
            fail_msg("%s, size %u: request %llu fails, the result is %d", f->names, size, (unsigned long long)fail_at,
                     (int)result);
        if (digest_inputs(&s) != before)
            fail_msg("%s, size %u: request %llu fails and an input has changed", f->names, size,
                     (unsigned long long)fail_at);
        if (!(f->memory & CHANGES) && (s.counter.live != pieces || s.counter.live_bytes != bytes))
            fail_msg("%s, size %u: request %llu fails and %lld pieces stay", f->names, size,
                     (unsigned long long)fail_at, (long long)(s.counter.live - pieces));
        assert_int_equal(f->call(&s, &again), GPUMP_OK);
        if (again != *expected)
            fail_msg("%s, size %u: after request %llu has failed the call makes something else", f->names, size,
                     (unsigned long long)fail_at);
    } else {
        if (result != GPUMP_OK) fail_msg("%s, size %u: result %d", f->names, size, (int)result);
        *expected = made;
    }
    if (!(f->memory & CHANGES)) {
        assert_true(digest_inputs(&s) == before);
        assert_true(s.counter.live == pieces && s.counter.live_bytes == bytes);
    }
    scene_free(&s);
    return requests;
}

/* When any one request for memory fails, each function returns the failure, leaks nothing, and changes nothing. */
static void every_request_of_every_function_fails_once(void **state) {
    uint64_t failed = 0;
    (void)state;
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        function *f = &functions[i];
        /* builders grow arrays at powers of two; the others have many requests each, so that fewer programs do */
        uint32_t sizes = f->memory & CHANGES ? 66 : (uint32_t)test_cases(8), size;
        for (size = 0; size < sizes; size++) {
            const uint32_t programs = f->memory & CHANGES ? size : 19 - size % 20; /* the largest one is among few */
            uint64_t expected = 0, n, requests = call_once(f, programs, 0, &expected);
            f->requests += requests;
            if (f->memory & CHANGES && requests > 2 && size >= test_cases(8)) continue;
            for (n = 1; n <= requests; n++, failed++) call_once(f, programs, n, &expected);
        }
        if ((f->requests > 0) != (f->memory & NEEDS))
            fail_msg("%s: %llu requests", f->names, (unsigned long long)f->requests);
    }
    print_message("%llu requests failed in turn\n", (unsigned long long)failed);
}

/* ---- is the table whole? ---- */

static int in_table(const char *name) {
    size_t length = strlen(name);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        for (const char *at = functions[i].names; (at = strstr(at, name)); at += length)
            if ((at == functions[i].names || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return 1;
    return 0;
}

/* The table of this test lists each public function of a program's component, so that none goes without its failures.
 */
static void the_table_names_every_public_function(void **state) {
    static const char *const components[] = {"program",        "liveness", "constants", "registers",
                                             "preempt_points", "clobbers", "regions",   "preserve",
                                             "page_checks",    "graph",    "patterns"};
    uint32_t found = 0;
    (void)state;
    for (uint32_t i = 0; i < sizeof components / sizeof components[0]; i++) {
        char path[1024], line[1024];
        FILE *file;
        snprintf(path, sizeof path, "%s/gpump_impl/program/%s.h", GPUMP_SOURCE_DIR, components[i]);
        file = fopen(path, "r");
        if (!file) continue; /* a component without a header has no public function */
        while (fgets(line, sizeof line, file)) {
            char *name, *end;
            if (strncmp(line, "GPUMP_API", 9) != 0) continue;
            end = strchr(line, '(');
            assert_non_null(end);
            *end = 0;
            for (name = end; name[-1] != ' ' && name[-1] != '*'; name--) {}
            if (!strncmp(name, "gpumpi_", 7)) continue; /* private */
            if (!in_table(name)) fail_msg("%s is not in the table", name);
            found++;
        }
        fclose(file);
    }
    assert_true(found >= 39);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_names_every_public_function),
        cmocka_unit_test(every_request_of_every_function_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
