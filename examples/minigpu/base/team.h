/* team: threads that do the items of one task after the other side by side, and wait for each other. */
#ifndef MINIGPU_TEAM_H
#define MINIGPU_TEAM_H

#include <stdint.h>

typedef struct team team;

/* Starts a team of so many threads, the caller's among them, for tasks of at most `items` items, up to 65,535. Returns
 * NULL when the system gives no memory or no threads. A process that forks afterwards has no team in its child. */
team *team_start(uint32_t threads, uint32_t items);
/* The next task begins with first(user), which some thread calls while the caller goes on; what was offered before
 * stays. */
void team_offer(team *t, void (*first)(void *user), void *user);
/* Calls work(user, item) once for each item from 0 to items - 1, on any thread, and returns when all have returned, and
 * what was offered too. A thread begins with the items that it did in the last task; who is through helps the others.
 * Costs about a microsecond. On a machine so busy that the others seldom run, the caller does tasks alone. */
void team_do(team *t, void (*work)(void *user, uint32_t item), void *user, uint32_t items);
/* Ends the threads; NULL is allowed. What was offered since the last task is done, or has not begun. */
void team_stop(team *t);

#endif
