/* labels: unit link: minigpu_core */
/* A team's threads do every item of every task once, and what is offered once, whoever is late. */
#include "test.h"

#include <string.h>
#include <time.h>

#include "base/team.h"

#define ITEMS 37u

typedef struct plan {
    uint32_t done[ITEMS], offered, slow, items;
    uint32_t first_over; /* 1: what was offered has returned */
} plan;

static uint64_t no_work(const void *user) {
    (void)user;
    return 0;
}

static void doze(void) {
    const struct timespec some = {0, 300000};
    nanosleep(&some, NULL);
}

static void offered(void *user) {
    plan *p = (plan *)user;
    if (p->slow == ITEMS) doze();
    p->offered++;
    __atomic_store_n(&p->first_over, 1, __ATOMIC_RELEASE);
}

static void item(void *user, uint32_t index) {
    plan *p = (plan *)user;
    if (p->slow == index) doze();
    p->done[index % ITEMS] += index < p->items ? 1 : 100;
}

static void check_task(team *t, plan *p, int offers, uint32_t times) {
    uint32_t i;
    memset(p->done, 0, sizeof p->done);
    p->offered = p->first_over = 0;
    for (i = 0; i < times && offers; i++) team_offer(t, offered, p); /* the second one changes nothing */
    if (p->slow == ITEMS) doze();
    team_do(t, item, p, p->items);
    assert_int_equal(p->offered, offers != 0);
    assert_int_equal(p->first_over, offers != 0);
    for (i = 0; i < ITEMS; i++) assert_int_equal(p->done[i], i < p->items);
}

/* More threads than cores, more items than threads and fewer, a slow item here and there: nothing is lost or done
 * twice.
 */
static void everything_is_done_once(void **state) {
    uint32_t threads, n;
    (void)state;
    for (threads = 1; threads <= 5; threads++) {
        team_account account = {0};
        team *t = team_start(threads, ITEMS, &account, no_work, NULL);
        plan p;
        assert_non_null(t);
        account.always = threads % 2 == 0;
        memset(&p, 0, sizeof p);
        for (n = 0; n < 400; n++) {
            if (n % 50 == 0) p.items = n % 100 ? ITEMS : 1 + n / 100; /* else the shares of the last task stay */
            p.slow = n % 13 == 5 ? n % (ITEMS + 1) : UINT32_MAX;
            check_task(t, &p, n % 3 != 0, 1 + n % 2);
        }
        team_stop(t);
    }
    team_stop(NULL);
}

/* What was offered last is done whole or not at all when the team has stopped. */
static void an_open_offer_ends(void **state) {
    uint32_t n;
    (void)state;
    for (n = 0; n < 60; n++) {
        team_account account = {0};
        team *t = team_start(3, 4, &account, no_work, NULL);
        plan p;
        account.always = n % 7 != 0;
        memset(&p, 0, sizeof p);
        p.slow = n % 2 ? ITEMS : UINT32_MAX;
        p.items = 4;
        assert_non_null(t);
        if (n % 3) team_do(t, item, &p, 4);
        team_offer(t, offered, &p);
        if (n % 5 == 0) doze();
        team_stop(t);
        assert_true(p.offered <= 1);
        assert_int_equal(p.offered, p.first_over);
    }
}

/* ==== alone or together ==== */

/* A simulation of so many stints of which each takes a millisecond alone, and together so many percent of that, until
 * it is stopped at twice the time. The caller has its processor for runs_percent of a stint. Returns by how many
 * permille it is slower than alone; less than 0: faster. */
static int64_t slower_permille(team_account *account, uint32_t stints, uint32_t percent, uint32_t every, uint32_t slow,
                               uint32_t runs_percent) {
    uint64_t work = 0, time = 0;
    uint32_t n;
    for (n = 0; n < stints; n++) {
        const uint32_t alone = team_goes_alone(account);
        const uint64_t own = 1000 + n / 7 % 5 * 150; /* the work of stints differs, by phases */
        const uint64_t took = own * 1000 * (alone ? 100 : every && n % every == 0 ? slow : percent) / 100;
        team_account_for(account, alone, own, took, took * runs_percent / 100);
        work += own;
        time += took;
    }
    return (int64_t)(time / work) - 1000;
}

/* Never slower than alone by more than a tenth, on whatever machine; and where together takes 60%, most is done so. */
static void the_faster_way_is_taken(void **state) {
    static const uint32_t percents[] = {50, 60, 75, 90, 99, 100, 105, 120, 200, 1000, 5000};
    uint32_t i;
    (void)state;
    for (i = 0; i < sizeof percents / sizeof *percents; i++) {
        team_account account = {0};
        const int64_t slower = slower_permille(&account, 1000, percents[i], 0, 0, 100);
        if (slower > 100) fail_msg("%u percent: %d permille slower", percents[i], (int)slower);
        if (percents[i] <= 75) assert_true(slower <= ((int64_t)percents[i] - 100) * 9);
        assert_true(slower_permille(&account, 2000, 60, 0, 0, 100) < -150);    /* the machine has become idle, */
        assert_true(slower_permille(&account, 1000, 700, 0, 0, 100) <= 100);   /* busy, */
        assert_true(slower_permille(&account, 1000, 90, 10, 500, 100) <= 100); /* and sometimes the one and the other */
    }
}

/* Where other programs take the caller's processor, nothing is tried. */
static void a_busy_machine_costs_nothing(void **state) {
    team_account account = {0};
    (void)state;
    assert_int_equal(slower_permille(&account, 1000, 100000, 0, 0, 60), 0);
    assert_int_equal(account.lost_ns, 0);
    assert_true(slower_permille(&account, 1000, 60, 0, 0, 100) < -300); /* it has become idle */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_done_once),
        cmocka_unit_test(an_open_offer_ends),
        cmocka_unit_test(the_faster_way_is_taken),
        cmocka_unit_test(a_busy_machine_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
