/* team: base/team.h where there are no threads. The caller does every item, in their order; results do not depend on
 * it. */
#include "base/team.h"

#include <stdlib.h>

struct team {
    void (*first)(void *user);
    void *user;
};

team *team_start(uint32_t threads, uint32_t items, team_account *account, uint64_t (*work)(const void *user),
                 const void *user) {
    (void)work;
    (void)user;
    (void)threads;
    (void)items;
    (void)account;
    return (team *)calloc(1, sizeof(team));
}

void team_offer(team *t, void (*first)(void *user), void *user) {
    if (t->first) return;
    t->first = first;
    t->user = user;
}

void team_do(team *t, void (*work)(void *user, uint32_t item), void *user, uint32_t items) {
    void (*first)(void *user) = t->first;
    uint32_t i;
    t->first = NULL;
    if (first) first(t->user);
    for (i = 0; i < items; i++) work(user, i);
}

void team_stop(team *t) { free(t); }
