/* team: threads that do the items of one task side by side, and wait for each other. */
#ifndef MINIGPU_TEAM_H
#define MINIGPU_TEAM_H

#include <stdint.h>

typedef struct team team;

/* Starts a team of so many threads, the caller's among them, for tasks of at most `items` items. Returns NULL when the
 * system gives no memory or no threads. A process that forks afterwards has no team in its child. */
team *team_start(uint32_t threads, uint32_t items);
/* Calls work(user, item) once for each item from 0 to items - 1, on any thread, and returns when all have returned. Who
 * is through with its own share helps the others. Costs some microseconds. */
void team_do(team *t, void (*work)(void *user, uint32_t item), void *user, uint32_t items);
/* Ends the threads; NULL is allowed. */
void team_stop(team *t);

#endif
