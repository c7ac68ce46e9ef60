/* team: threads that work on the items of one task at a time side by side, and wait for each other at its end. */
#ifndef MINIGPU_TEAM_H
#define MINIGPU_TEAM_H

#include <stdint.h>

typedef struct team team;

/* What teams that follow each other have learned about the machine that they run on. All zero at first. */
typedef struct team_account {
    uint64_t lived_ns;   /* elapsed time of the stints so far: some tasks in a row, alone or together */
    uint64_t lost_ns;    /* by how much those together have taken longer than the same work alone, all in all */
    uint64_t alone_ns;   /* of a stint alone, the last one */
    uint64_t alone_cost; /* nanoseconds for 1,024 units of work when the caller does them alone, averaged; 0: unknown */
    uint64_t together_cost; /* the same when all threads do them */
    uint64_t quiet_ns;      /* how long the caller has run without losing its processor to other programs */
    uint32_t stints, tasks; /* tasks: of a stint; 0 at first */
    uint32_t always;        /* 1: tasks are never done alone (tests) */
} team_account;

/* Starts a team of `threads` threads, the caller's included, for tasks of at most `items` items, up to 65,535.
 * work(user) returns how much work all tasks together have done so far, in any unit. The account outlives the team.
 * Returns NULL when the system has no memory. A child of a later fork has no team. */
team *team_start(uint32_t threads, uint32_t items, team_account *account, uint64_t (*work)(const void *user),
                 const void *user);
/* Makes the next task begin with first(user), which some thread calls while the caller continues. Does nothing when a
 * function has already been offered for the next task. */
void team_offer(team *t, void (*first)(void *user), void *user);
/* Calls work(user, item) once for each item from 0 to items - 1, on any thread. Returns when all calls have returned,
 * the offered one included. A thread begins with the items that it did in the last task, and then helps the others.
 * Costs about a microsecond. The caller waits for no thread that has not begun to work on the task. The team measures
 * whether tasks take less time together than alone, and does them in the faster way: on a machine that is busy with
 * other programs, or with one busy item, that is alone. */
void team_do(team *t, void (*work)(void *user, uint32_t item), void *user, uint32_t items);
/* Ends the threads; NULL is allowed. A function that was offered since the last task has run, or has not begun. */
void team_stop(team *t);

/* The choice of a team, apart from it. Returns 1 when the next stint is done alone. */
uint32_t team_goes_alone(const team_account *account);
/* Accounts for a stint that has done so much work in took_ns nanoseconds, in ran_ns of which the caller had a
 * processor.
 */
void team_account_for(team_account *account, uint32_t alone, uint64_t work, uint64_t took_ns, uint64_t ran_ns);

#endif
