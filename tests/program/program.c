/* labels: unit property */
#include "program/program_tools.h"

/* ---- the graph as the tests see it: adjacency by instruction targets, found without the library's blocks ---- */
enum { MAX_BLOCKS = 40 };
typedef struct small_graph {
    uint32_t blocks, succ[MAX_BLOCKS][2], succs[MAX_BLOCKS];
} small_graph;

/* A program of `blocks` basic blocks of one or two instructions with random branches; may hold unreachable and endless
 * parts. */
static gpump_program *random_flow(uint64_t *random, small_graph *g) {
    test_builder b = test_build(NULL);
    uint32_t p = test_register(&b, GPUMP_WIDTH_PREDICATE), x = test_register(&b, GPUMP_WIDTH_32);
    uint32_t first[MAX_BLOCKS], kind[MAX_BLOCKS], target[MAX_BLOCKS], at = 0, i;
    g->blocks = 1 + gpump_random_below(random, 12);
    for (i = 0; i < g->blocks; i++) {
        first[i] = at;
        kind[i] = gpump_random_below(random, i + 1 == g->blocks ? 2 : 6);
        if (i + 1 == g->blocks && kind[i] == 1 && gpump_random_below(random, 2)) kind[i] = 0;
        at += 2;
        target[i] = gpump_random_below(random, g->blocks);
    }
    for (i = 0; i < g->blocks; i++) {
        g->succs[i] = 0;
        test_op(&b, 0, x, x, GPUMP_NONE, GPUMP_NONE);
        switch (kind[i]) {
        case 0: test_exit(&b, GPUMP_NONE); break;
        case 1:
            test_branch(&b, GPUMP_NONE, 0, first[target[i]]);
            g->succ[i][g->succs[i]++] = target[i];
            break;
        case 2:
            test_op(&b, 0, x, x, GPUMP_NONE, GPUMP_NONE);
            g->succ[i][g->succs[i]++] = i + 1;
            break;
        default:
            test_branch(&b, p, kind[i] & 1, first[target[i]]);
            g->succ[i][g->succs[i]++] = i + 1;
            if (target[i] != i + 1) g->succ[i][g->succs[i]++] = target[i];
        }
    }
    test_finish(&b);
    return b.program;
}
/* Is `to` reachable from `from` when `without` is taken out? (GPUMP_NONE: nothing is) */
static int reaches(const small_graph *g, uint32_t from, uint32_t to, uint32_t without) {
    uint32_t stack[MAX_BLOCKS], top = 0;
    uint8_t seen[MAX_BLOCKS] = {0};
    if (from == without) return 0;
    stack[top++] = from;
    seen[from] = 1;
    while (top) {
        uint32_t at = stack[--top];
        if (at == to) return 1;
        for (uint32_t i = 0; i < g->succs[at]; i++)
            if (!seen[g->succ[at][i]] && g->succ[at][i] != without) seen[stack[top++] = g->succ[at][i]] = 1;
    }
    return 0;
}
static int ends_without(const small_graph *g, uint32_t from, uint32_t without) {
    for (uint32_t b = 0; b < g->blocks; b++)
        if (!g->succs[b] && reaches(g, from, b, without)) return 1;
    return 0;
}

/* A loop has as many blocks as it says, its header among them, and is irreducible when a block beside the header has a
 * predecessor outside. */
static void loops_agree_with_edges(const gpump_program *program, uint64_t seed, uint64_t n) {
    const uint32_t count = gpump_program_count(program).basic_blocks;
    for (uint32_t loop = 0; loop < gpump_program_count(program).loops; loop++) {
        gpump_loop l;
        uint32_t members = 0, second_entry = 0;
        gpump_program_loop(program, loop, &l);
        for (uint32_t b = 0; b < count; b++) {
            gpump_basic_block block;
            if (!gpump_program_in_loop(program, loop, b)) continue;
            members++;
            gpump_program_basic_block(program, b, &block);
            for (uint32_t e = 0; e < block.predecessor_count && b != l.header; e++) {
                gpump_basic_block from;
                gpump_program_basic_block(program, block.predecessors[e], &from);
                second_entry |= from.reachable && !gpump_program_in_loop(program, loop, block.predecessors[e]);
            }
        }
        test_check(members == l.blocks && gpump_program_in_loop(program, loop, l.header), seed, n);
        test_check(l.irreducible == second_entry, seed, n);
    }
}

/* Dominators, post-dominators and loops are those that a search of reachable blocks finds. */
static void trees_agree_with_reachability(void **state) {
    uint64_t seed = test_seed(), random = seed;
    (void)state;
    for (uint64_t n = 0; n < test_cases(20000); n++) {
        small_graph g;
        gpump_program *program = random_flow(&random, &g);
        uint32_t a, b, library_of[MAX_BLOCKS];
        /* the library joins a block to the one before it when only falling through leads there: map by first
         * instruction */
        for (a = 0; a < g.blocks; a++) library_of[a] = gpump_program_basic_block_of(program, a * 2);
        for (b = 0; b < g.blocks; b++) {
            gpump_basic_block block;
            gpump_program_basic_block(program, library_of[b], &block);
            if (block.first != b * 2) continue;
            test_check(block.reachable == (uint32_t)reaches(&g, 0, b, GPUMP_NONE), seed, n);
            for (a = 0; a < g.blocks; a++) {
                gpump_basic_block other;
                gpump_program_basic_block(program, library_of[a], &other);
                if (other.first != a * 2 || !block.reachable || !other.reachable) continue;
                test_check(gpump_program_dominates(program, library_of[a], library_of[b]) ==
                               (a == b || !reaches(&g, 0, b, a)),
                           seed, n);
                /* post-dominance, where every block can end */
                if (a != b && ends_without(&g, b, GPUMP_NONE) && block.post_dominator == library_of[a])
                    test_check(!ends_without(&g, b, a), seed, n);
            }
            /* the immediate post-dominator is the nearest: any other post-dominator post-dominates it */
            if (block.reachable && ends_without(&g, b, GPUMP_NONE)) {
                uint32_t all_can_end = 1;
                for (a = 0; a < g.blocks; a++)
                    all_can_end &= !reaches(&g, b, a, GPUMP_NONE) || ends_without(&g, a, GPUMP_NONE);
                for (a = 0; a < g.blocks && all_can_end; a++) {
                    gpump_basic_block other;
                    gpump_program_basic_block(program, library_of[a], &other);
                    if (other.first != a * 2 || a == b || ends_without(&g, b, a)) continue;
                    test_check(block.post_dominator != GPUMP_NONE, seed, n);
                    if (block.post_dominator != library_of[a]) {
                        gpump_basic_block nearest;
                        gpump_program_basic_block(program, block.post_dominator, &nearest);
                        test_check(!ends_without(&g, nearest.first / 2, a), seed, n);
                    }
                }
            }
        }
        /* loops: two reachable blocks share a loop exactly when a cycle runs through both */
        for (a = 0; a < g.blocks; a++)
            for (b = 0; b <= a; b++) {
                gpump_basic_block x, y;
                uint32_t loop;
                int together = 0, cycle = 0;
                gpump_program_basic_block(program, library_of[a], &x);
                gpump_program_basic_block(program, library_of[b], &y);
                if (x.first != a * 2 || y.first != b * 2 || !x.reachable || !y.reachable) continue;
                for (uint32_t s = 0; s < g.succs[a]; s++) cycle |= reaches(&g, g.succ[a][s], b, GPUMP_NONE);
                cycle = cycle && reaches(&g, b, a, GPUMP_NONE);
                for (loop = 0; loop < gpump_program_count(program).loops; loop++)
                    together |= gpump_program_in_loop(program, loop, library_of[a]) &&
                                gpump_program_in_loop(program, loop, library_of[b]);
                test_check(together == cycle, seed, n);
            }
        loops_agree_with_edges(program, seed, n);
        gpump_program_destroy(program);
    }
}

/* A loop with two branches has the basic blocks, dominators and depths that one finds by hand. */
static void a_diamond_in_a_loop(void **state) {
    test_builder b = test_build(NULL);
    uint32_t p = test_register(&b, GPUMP_WIDTH_PREDICATE), x = test_register(&b, GPUMP_WIDTH_32);
    gpump_loop loop;
    gpump_basic_block block;
    (void)state;
    test_constant(&b, x, 0);                      /* 0 */
    test_op(&b, 1, p, x, GPUMP_NONE, GPUMP_NONE); /* 1: loop header */
    test_branch(&b, p, 0, 5);                     /* 2 */
    test_op(&b, 2, x, x, GPUMP_NONE, GPUMP_NONE); /* 3 */
    test_branch(&b, GPUMP_NONE, 0, 6);            /* 4 */
    test_op(&b, 3, x, x, GPUMP_NONE, GPUMP_NONE); /* 5 */
    test_branch(&b, p, 1, 1);                     /* 6: latch */
    test_exit(&b, GPUMP_NONE);                    /* 7 */
    test_finish(&b);
    assert_int_equal(gpump_program_count(b.program).basic_blocks, 6);
    assert_int_equal(gpump_program_reconvergence(b.program, 2), 6);
    assert_int_equal(gpump_program_reconvergence(b.program, 6), 7);
    assert_int_equal(gpump_program_count(b.program).loops, 1);
    gpump_program_loop(b.program, 0, &loop);
    assert_int_equal(loop.header, 1);
    assert_int_equal(loop.blocks, 4);
    assert_int_equal(loop.irreducible, 0);
    gpump_program_basic_block(b.program, 4, &block);
    assert_int_equal(block.dominator, 1);
    assert_int_equal(block.loop_depth, 1);
    gpump_program_destroy(b.program);
}

/* A loop that never ends: its sides meet in it all the same. And a guarded call that leads to no marker, in programs of
 * all lengths: nothing behind the last instruction is looked at. */
static void nothing_behind_the_last_instruction_is_read(void **state) {
    test_builder b = test_build(NULL);
    uint32_t x = test_register(&b, GPUMP_WIDTH_32), p = test_register(&b, GPUMP_WIDTH_PREDICATE), length, i;
    (void)state;
    test_op(&b, 0, x, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE); /* 0 */
    test_op(&b, 1, x, x, GPUMP_NONE, GPUMP_NONE);          /* 1: the loop */
    test_branch(&b, p, 0, 4);                              /* 2 */
    test_op(&b, 2, x, x, GPUMP_NONE, GPUMP_NONE);          /* 3: one side */
    test_op(&b, 3, x, x, GPUMP_NONE, GPUMP_NONE);          /* 4: where they meet */
    test_branch(&b, GPUMP_NONE, 0, 1);                     /* 5 */
    test_finish(&b);
    assert_int_equal(gpump_program_reconvergence(b.program, 2), 4);
    gpump_program_destroy(b.program);
    for (length = 2; length < 70; length++) {
        gpump_instruction in = gpump_instruction_make(GPUMP_OP_GUARDED_CALL);
        gpump_diag diag;
        b = test_build(NULL);
        test_register(&b, GPUMP_WIDTH_32);
        test_register(&b, GPUMP_WIDTH_PREDICATE);
        in.guard = in.target = 1;
        test_add(&b, &in);
        for (i = 1; i < length; i++) test_constant(&b, 0, 5);
        assert_int_equal(gpump_program_finish(b.program, &diag), GPUMP_ERROR_ARGUMENT);
        assert_string_equal(diag.field, "target");
        assert_int_equal(diag.index, 0);
        gpump_program_destroy(b.program);
    }
}

/* A malformed instruction is refused with its index and the field, and a finished program takes no more. */
static void nonsense_is_refused_by_index(void **state) {
    test_builder b = test_build(NULL);
    uint32_t p = test_register(&b, GPUMP_WIDTH_PREDICATE), x = test_register(&b, GPUMP_WIDTH_32),
             d = test_register(&b, GPUMP_WIDTH_64);
    uint32_t a = test_object(&b, GPUMP_SPACE_GLOBAL, GPUMP_NONE), bad = 99, pair = 1 | GPUMP_OPERAND_PAIR,
             parameter = 8 | GPUMP_OPERAND_PARAMETER, n;
    gpump_instruction in, good = gpump_instruction_make(GPUMP_OP_COMPUTE);
    gpump_diag diag;
    (void)state;
    good.defs = good.uses = &x;
    good.def_count = good.use_count = 1;
    test_add(&b, &good);
    n = 1;
#define REFUSED(change, expected)                                                               \
    do {                                                                                        \
        in = good;                                                                              \
        change;                                                                                 \
        assert_int_equal(gpump_program_add(b.program, &in, NULL, &diag), GPUMP_ERROR_ARGUMENT); \
        assert_int_equal(diag.index, n);                                                        \
        assert_string_equal(diag.field, expected);                                              \
        assert_int_equal(gpump_program_count(b.program).instructions, n);                       \
    } while (0)
    REFUSED(in.operation = GPUMP_OP_COUNT, "operation");
    REFUSED(in.defs = &bad, "defs");
    REFUSED(in.uses = &bad, "uses");
    REFUSED(in.defs = &parameter, "defs");
    REFUSED(in.uses = &pair, "uses");
    REFUSED(in.def_count = 17, "def_count");
    REFUSED(in.uses = NULL, "operands");
    REFUSED(in.guard = x, "guard");
    REFUSED(in.flags = GPUMP_FLAG_GUARD_NEGATED, "guard");
    REFUSED(in.flags = 1u << 20, "flags");
    REFUSED(in.flags = GPUMP_FLAG_RESIDENT, "access");
    REFUSED(in.flags = GPUMP_FLAG_ATOMIC, "access");
    REFUSED(in.target = 0, "target");
    REFUSED(in.access = 4, "access");
    REFUSED((in.access = GPUMP_ACCESS_READ, in.bytes = 0), "bytes");
    REFUSED((in.access = GPUMP_ACCESS_READ, in.bytes = 4, in.space = 77), "space");
    REFUSED((in.access = GPUMP_ACCESS_WRITE, in.bytes = 4, in.space = GPUMP_SPACE_CONSTANT), "space");
    REFUSED((in.access = GPUMP_ACCESS_READ, in.bytes = 4, in.object = 5), "object");
    REFUSED((in.access = GPUMP_ACCESS_READ, in.bytes = 4, in.object = a, in.space = GPUMP_SPACE_SHARED), "space");
    REFUSED((in.access = GPUMP_ACCESS_READ, in.bytes = 4, in.address = GPUMP_ADDRESS_FIXED), "object");
    REFUSED((in.operation = GPUMP_OP_MOVE, in.uses = &d), "uses");
    REFUSED((in.operation = GPUMP_OP_BRANCH, in.def_count = in.use_count = 0), "target");
    REFUSED(in.operation = GPUMP_OP_EXIT, "def_count");
    REFUSED((in.operation = GPUMP_OP_CLEAR_CHECK, in.use_count = 0), "defs");
    in = gpump_instruction_make(GPUMP_OP_BRANCH);
    in.target = 7;
    in.guard = p;
    assert_int_equal(gpump_program_add(b.program, &in, &n, &diag), GPUMP_OK);
    assert_int_equal(gpump_program_finish(b.program, &diag), GPUMP_ERROR_ARGUMENT); /* a branch past the end */
    assert_int_equal(diag.index, n);
    assert_string_equal(diag.field, "target");
    for (n = 2; n < 8; n++) test_add(&b, &good);
    assert_int_equal(gpump_program_finish(b.program, &diag), GPUMP_ERROR_ARGUMENT); /* runs off the end */
    assert_int_equal(diag.index, 7);
    test_exit(&b, GPUMP_NONE);
    assert_int_equal(gpump_program_finish(b.program, &diag), GPUMP_OK);
    assert_int_equal(gpump_program_add(b.program, &good, NULL, &diag), GPUMP_ERROR_STATE);
    gpump_program_destroy(b.program);
}

/* Accesses may meet only where their ranges overlap for the given unit (thread, warp, block or grid). */
static void aliasing_ranges_over_the_unit(void **state) {
    test_builder b = test_build(NULL);
    uint32_t x = test_register(&b, GPUMP_WIDTH_32), mine = test_object(&b, GPUMP_SPACE_GLOBAL, GPUMP_NONE),
             c1 = test_object(&b, GPUMP_SPACE_GLOBAL, 1), c2 = test_object(&b, GPUMP_SPACE_GLOBAL, 1),
             local = test_object(&b, GPUMP_SPACE_LOCAL, GPUMP_NONE);
    (void)state;
    /* 0, 1: A[i + 1], A[i] of 4 bytes; 2: A[8i + 4] stride 8; 3: A[8i]; 4: fixed 0; 5: fixed 4 */
    test_access(&b, 1, 0, x, x, GPUMP_NONE, GPUMP_SPACE_GLOBAL, mine, GPUMP_ADDRESS_VALUE, 1, 4, 4);
    test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_GLOBAL, mine, GPUMP_ADDRESS_VALUE, 1, 0, 4);
    test_access(&b, 1, 0, x, x, GPUMP_NONE, GPUMP_SPACE_GLOBAL, mine, GPUMP_ADDRESS_VALUE, 2, 4, 8);
    test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_GLOBAL, mine, GPUMP_ADDRESS_VALUE, 2, 0, 8);
    test_access(&b, 1, 0, x, x, GPUMP_NONE, GPUMP_SPACE_GLOBAL, mine, GPUMP_ADDRESS_FIXED, 0, 0, 0);
    test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_GLOBAL, mine, GPUMP_ADDRESS_FIXED, 0, 4, 0);
    /* 6, 7: two objects of one class; 8: unknown global; 9, 10: the local frame, by value; 11: generic; 12: unknown
     * shared */
    test_access(&b, 1, 0, x, x, GPUMP_NONE, GPUMP_SPACE_GLOBAL, c1, GPUMP_ADDRESS_FIXED, 0, 0, 0);
    test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_GLOBAL, c2, GPUMP_ADDRESS_FIXED, 0, 64, 0);
    test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_GLOBAL, GPUMP_NONE, GPUMP_ADDRESS_ANYWHERE, 0, 0, 0);
    test_access(&b, 1, 0, x, x, GPUMP_NONE, GPUMP_SPACE_LOCAL, local, GPUMP_ADDRESS_VALUE, 3, 0, 0);
    test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_LOCAL, local, GPUMP_ADDRESS_VALUE, 3, 4, 0);
    test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_GENERIC, GPUMP_NONE, GPUMP_ADDRESS_ANYWHERE, 0, 0, 0);
    test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_SHARED, GPUMP_NONE, GPUMP_ADDRESS_ANYWHERE, 0, 0, 0);
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    assert_false(gpump_program_may_alias(b.program, 0, 1, GPUMP_UNIT_THREAD));
    assert_true(gpump_program_may_alias(b.program, 0, 1, GPUMP_UNIT_WARP));
    assert_false(gpump_program_may_alias(b.program, 2, 3, GPUMP_UNIT_BLOCK));
    assert_true(gpump_program_may_alias(b.program, 0, 3, GPUMP_UNIT_THREAD)); /* other values: unknown */
    assert_false(gpump_program_may_alias(b.program, 4, 5, GPUMP_UNIT_BLOCK));
    assert_true(gpump_program_may_alias(b.program, 6, 7, GPUMP_UNIT_THREAD));
    assert_false(gpump_program_may_alias(b.program, 4, 7, GPUMP_UNIT_THREAD));
    assert_true(gpump_program_may_alias(b.program, 8, 4, GPUMP_UNIT_THREAD));
    assert_false(gpump_program_may_alias(b.program, 9, 10, GPUMP_UNIT_BLOCK)); /* nobody sees another's local memory */
    assert_true(gpump_program_may_alias(b.program, 11, 12, GPUMP_UNIT_THREAD));
    assert_true(gpump_program_may_alias(b.program, 11, 9, GPUMP_UNIT_THREAD));
    assert_false(gpump_program_may_alias(b.program, 12, 8, GPUMP_UNIT_THREAD));
    gpump_program_destroy(b.program);
}

/* Ranges of one object alias when they share a byte, whichever comes first and however far they lie from 0. Nobody
 * writes constants, through no pointer. */
static void aliasing_ranges_share_a_byte(void **state) {
    static const struct {
        int64_t a, b;
        int alias;
    } cases[] = {{100, 103, 1}, {103, 100, 1}, {100, 104, 0}, {104, 100, 0}, {100, 100, 1}, {-2, 1, 1}, {-4, 0, 0}};
    test_builder b = test_build(NULL);
    const uint32_t x = test_register(&b, GPUMP_WIDTH_32), object = test_object(&b, GPUMP_SPACE_GLOBAL, GPUMP_NONE),
                   constants = test_object(&b, GPUMP_SPACE_CONSTANT, GPUMP_NONE);
    uint32_t n;
    (void)state;
    for (n = 0; n < 7; n++) {
        test_access(&b, 1, 0, x, x, GPUMP_NONE, GPUMP_SPACE_GLOBAL, object, GPUMP_ADDRESS_FIXED, 0, cases[n].a, 0);
        test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_GLOBAL, object, GPUMP_ADDRESS_FIXED, 0, cases[n].b, 0);
    }
    test_access(&b, 1, 0, x, x, GPUMP_NONE, GPUMP_SPACE_CONSTANT, constants, GPUMP_ADDRESS_FIXED, 0, 0, 0);
    test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_GENERIC, GPUMP_NONE, GPUMP_ADDRESS_ANYWHERE, 0, 0, 0);
    test_access(&b, 1, 0, x, x, GPUMP_NONE, GPUMP_SPACE_CONSTANT, GPUMP_NONE, GPUMP_ADDRESS_ANYWHERE, 0, 0, 0);
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    for (n = 0; n < 7; n++)
        assert_int_equal(gpump_program_may_alias(b.program, 2 * n, 2 * n + 1, GPUMP_UNIT_THREAD), cases[n].alias);
    assert_false(gpump_program_may_alias(b.program, 14, 15, GPUMP_UNIT_BLOCK));
    assert_false(gpump_program_may_alias(b.program, 15, 14, GPUMP_UNIT_BLOCK));
    assert_false(gpump_program_may_alias(b.program, 16, 15, GPUMP_UNIT_BLOCK));
    assert_true(gpump_program_may_alias(b.program, 14, 16, GPUMP_UNIT_BLOCK));
    gpump_program_destroy(b.program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_diamond_in_a_loop),           cmocka_unit_test(nothing_behind_the_last_instruction_is_read),
        cmocka_unit_test(trees_agree_with_reachability), cmocka_unit_test(nonsense_is_refused_by_index),
        cmocka_unit_test(aliasing_ranges_over_the_unit), cmocka_unit_test(aliasing_ranges_share_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, test_nothing_leaks);
}
