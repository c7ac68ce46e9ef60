/* labels: unit link: minigpu_core */
/* A team's threads do every item of every task once, and what is offered once, whoever is late. */
#include "test.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/team.h"

#define ITEMS 37u

typedef struct plan {
    uint32_t done[ITEMS], offered, slow, items;
    uint32_t first_over; /* 1: what was offered has returned */
} plan;

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
        team_account account = {0, 0};
        team *t = team_start(threads, ITEMS, &account);
        plan p;
        assert_non_null(t);
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
        team_account account = {0, 0};
        team *t = team_start(3, 4, &account);
        plan p;
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

static void note_thread(void *user, uint32_t item) { ((pthread_t *)user)[item] = pthread_self(); }

/* With an account that has lost most of its time, the caller does all items. */
static void losses_outlive_a_team(void **state) {
    team_account account = {1000000u, 1000000000u};
    team *t = team_start(3, ITEMS, &account);
    pthread_t by[ITEMS];
    uint32_t i;
    (void)state;
    assert_non_null(t);
    team_do(t, note_thread, by, ITEMS);
    team_stop(t);
    for (i = 0; i < ITEMS; i++) assert_true(pthread_equal(by[i], pthread_self()));
    assert_true(account.lived_ns > 1000000u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_done_once),
        cmocka_unit_test(an_open_offer_ends),
        cmocka_unit_test(losses_outlive_a_team),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
