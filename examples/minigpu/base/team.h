/* team: threads that work on the items of one task at a time side by side, and wait for each other at its end. */
#ifndef MINIGPU_TEAM_H
#define MINIGPU_TEAM_H

#include <stdint.h>

typedef struct team team;

/* What teams that follow each other have lost so far. All zero at first. */
typedef struct team_account {
    uint64_t lived_ns; /* elapsed time of the teams that have ended */
    uint64_t lost_ns;  /* elapsed time in which a caller slept, because a thread that it waited for did not run */
} team_account;

/* Starts a team of `threads` threads, the caller's included, for tasks of at most `items` items, up to 65,535. The
 * account outlives the team: what earlier teams have lost counts. Returns NULL when the system has no memory or no
 * threads. A child of a later fork has no team. */
team *team_start(uint32_t threads, uint32_t items, team_account *account);
/* Makes the next task begin with first(user), which some thread calls while the caller continues. Does nothing when a
 * function has already been offered for the next task. */
void team_offer(team *t, void (*first)(void *user), void *user);
/* Calls work(user, item) once for each item from 0 to items - 1, on any thread. Returns when all calls have returned,
 * the offered one included. A thread begins with the items that it did in the last task, and then helps the others.
 * Costs about a microsecond. On a machine so busy that the other threads seldom run, the caller does tasks alone. */
void team_do(team *t, void (*work)(void *user, uint32_t item), void *user, uint32_t items);
/* Ends the threads; NULL is allowed. A function that was offered since the last task has run, or has not begun. */
void team_stop(team *t);

#endif
