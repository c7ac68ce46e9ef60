/* Runs of one machine from the same moment: its arena is copied, and copied back, through one buffer. A process for
 * each run (fork) takes two to three times as long, most of it in page faults, since each page is copied when it is
 * first written. */
#ifndef TESTS_MINIGPU_MOMENT_H
#define TESTS_MINIGPU_MOMENT_H

#include "base/arena.h"
#include "machine/machine.h"

typedef struct moment {
    uint8_t *bytes;
    size_t capacity;
} moment;

/* Keeps the state of the machine. The buffer stays for the next moment, until moment_free. */
static inline void moment_keep(moment *kept, const machine *m) {
    if (kept->capacity < m->arena.used) {
        free(kept->bytes);
        kept->bytes = (uint8_t *)malloc(m->arena.used);
        kept->capacity = m->arena.used;
        assert_non_null(kept->bytes);
    }
    memcpy(kept->bytes, m->arena.base, m->arena.used);
}

/* Brings the machine back to that state. */
static inline void moment_return(const moment *kept, machine *m) { arena_restore(&m->arena, kept->bytes); }

static inline void moment_free(moment *kept) {
    free(kept->bytes);
    kept->bytes = NULL;
    kept->capacity = 0;
}
#endif
