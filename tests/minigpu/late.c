/* labels: unit link: minigpu_core */
/* Changes that SMs make within a window are taken in the order of cycle and SM, and those that are kept come first in
 * the next window. */
#include "test.h"

#include "sm/late.h"

enum { SMS = 3, ROOM = 4 };

static void add(late_list *list, uint64_t cycle, uint32_t item) {
    uint32_t *to = (uint32_t *)late_add(list, cycle);
    assert_non_null(to);
    *to = item;
}

static void expect(late_list *lists, uint64_t cycle, uint32_t sm, uint32_t item) {
    uint64_t at;
    uint32_t by;
    const uint32_t *change = (const uint32_t *)late_take(lists, SMS, &at, &by);
    assert_non_null(change);
    assert_int_equal(at, cycle);
    assert_int_equal(by, sm);
    assert_int_equal(*change, item);
}

/* Changes that SMs have kept for a window's end are taken in the order of cycle, then SM, then entry. */
static void changes_are_taken_by_cycle_and_sm(void **state) {
    static machine m;
    late_list *lists;
    uint64_t cycle;
    uint32_t sm, i;
    (void)state;
    assert_int_equal(arena_open(&m.arena, 1 << 20), 0);
    m.sm_count = SMS;
    assert_non_null(lists = late_make(&m, ROOM, sizeof(uint32_t)));
    add(&lists[2], 5, 25);
    add(&lists[2], 7, 27);
    add(&lists[0], 7, 7);
    add(&lists[1], 5, 15);
    add(&lists[1], 6, 16);
    expect(lists, 5, 1, 15);
    expect(lists, 5, 2, 25);
    late_keep(&lists[2], 40); /* the first of two */
    expect(lists, 6, 1, 16);
    late_keep(&lists[1], 40);
    expect(lists, 7, 0, 7);
    expect(lists, 7, 2, 27);
    assert_null(late_take(lists, SMS, &cycle, &sm));
    add(&lists[0], 39, 39);
    add(&lists[2], 41, 41);
    expect(lists, 39, 0, 39);
    expect(lists, 40, 1, 16);
    expect(lists, 40, 2, 25);
    expect(lists, 41, 2, 41);
    assert_null(late_take(lists, SMS, &cycle, &sm));
    for (i = 0; i < ROOM; i++) add(&lists[1], i, i);
    assert_null(late_add(&lists[1], ROOM)); /* full */
    arena_close(&m.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(changes_are_taken_by_cycle_and_sm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
