/* labels: unit property link: minigpu_core */
/* The timing wheel against a plain search for the smallest event. */
#include "test.h"

#include "memory/events.h"

#define CAPACITY 300u

typedef struct entered {
    uint64_t cycle, sequence;
    uint32_t stage, unit, waits;
} entered;

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The order by definition. */
static uint32_t smallest(const entered *all, uint32_t count) {
    uint32_t i, best = count;
    for (i = 0; i < count; i++) {
        const entered *a = &all[i], *b = &all[best];
        if (!a->waits) continue;
        if (best == count || a->cycle < b->cycle ||
            (a->cycle == b->cycle &&
             (a->stage < b->stage ||
              (a->stage == b->stage && (a->unit < b->unit || (a->unit == b->unit && a->sequence < b->sequence))))))
            best = i;
    }
    return best;
}

/* Events come out in the order of a search for the earliest one, first put first. */
static void same_order_as_a_search(void **state) {
    const uint64_t seed = test_seed(), cases = test_cases(20000);
    uint64_t random = seed * 88172645463325252u, now = 0, sequence = 0, number;
    entered all[CAPACITY];
    void *memory = malloc(events_bytes(CAPACITY));
    events *e = events_init(memory, CAPACITY);
    uint32_t waiting = 0, far = 0;
    (void)state;
    memset(all, 0, sizeof all);
    for (number = 0; number < cases; number++) {
        const uint64_t choice = next_random(&random);
        if (waiting < CAPACITY && (choice % 100 < 50 || !waiting)) {
            static const uint64_t spans[] = {1, 3, 50, 4095, 4096, 4097, 9000, 300000};
            uint32_t i;
            for (i = 0; all[i].waits; i++) {}
            all[i].cycle = now + next_random(&random) % (spans[choice / 100 % 8] + 1);
            if (choice / 1000 % 5 == 0) all[i].cycle = now + spans[choice / 100 % 8];
            all[i].stage = (uint32_t)(choice / 10000 % 3);
            all[i].unit = (uint32_t)(choice / 100000 % 4);
            all[i].sequence = sequence++;
            all[i].waits = 1;
            far += all[i].cycle - now >= EVENTS_WHEEL;
            test_check(events_put(e, all[i].cycle, all[i].stage, all[i].unit, i) == 0, seed, number);
            waiting++;
        } else {
            const uint32_t expected = smallest(all, CAPACITY);
            const uint64_t until = choice / 100 % 4 ? EVENTS_NEVER : now + choice / 1000 % 5000;
            event taken;
            test_check(events_next(e) == all[expected].cycle, seed, number);
            if (all[expected].cycle > until) {
                test_check(!events_take(e, until, &taken), seed, number);
                now = until;
            } else {
                test_check(events_take(e, until, &taken), seed, number);
                test_check(taken.value == expected && taken.cycle == all[expected].cycle, seed, number);
                test_check(event_stage(&taken) == all[expected].stage, seed, number);
                all[expected].waits = 0;
                now = taken.cycle;
                waiting--;
            }
        }
        if (number == cases / 2) { /* a byte copy goes on as the original */
            void *copy = malloc(events_bytes(CAPACITY));
            memcpy(copy, memory, events_bytes(CAPACITY));
            memset(memory, 0xa5, events_bytes(CAPACITY));
            free(memory);
            memory = copy;
            e = (events *)copy;
        }
    }
    assert_true(far > cases / 100); /* the heap was used, too */
    while (waiting < CAPACITY) {
        assert_int_equal(events_put(e, now, 0, 0, 0), 0);
        waiting++;
    }
    assert_int_equal(events_put(e, now, 0, 0, 0), -1);
    free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_order_as_a_search)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
