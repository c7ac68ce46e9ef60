/* scoreboard: which registers of a warp instructions in flight will still write (destinations) or read (sources).
 *
 * The next instruction waits while one of its operands is a destination in flight, or one of its destinations a source
 * that has not been released. When sources are released is a matter of configuration (config.h, sources_released):
 * exactly this decides which instructions can be executed again after a fault. */
#ifndef MINIGPU_SCOREBOARD_H
#define MINIGPU_SCOREBOARD_H

#include <string.h>

#include "machine/state.h"

/* The i-th word of the scoreboard that an instruction names, and its bits there. */
static inline const issue_word *issue_word_at(const issue_info *info, uint32_t i, uint32_t *word) {
    const int here = i < ISSUE_WORDS;
    *word = here ? info->word[i] : info->more->word[i - ISSUE_WORDS];
    return here ? &info->bits[i] : &info->more->bits[i - ISSUE_WORDS];
}

/* May an instruction issue, as far as registers go? */
static inline int scoreboard_clear(const warp *w, const issue_info *info) {
    uint32_t i, at;
    for (i = 0; i < info->words; i++) {
        const issue_word *bits = issue_word_at(info, i, &at);
        const scoreboard_word *word = &w->scoreboard[at];
        if ((word->pending & (bits->sources | bits->destinations)) | (word->held & bits->destinations)) return 0;
    }
    return 1;
}
static inline void scoreboard_reserve(warp *w, const issue_info *info) {
    uint32_t i, n, at;
    for (i = 0; i < info->words; i++) {
        const issue_word *bits = issue_word_at(info, i, &at);
        uint64_t carry = bits->sources, *count = w->held_count[at];
        w->scoreboard[at].pending |= bits->destinations;
        w->scoreboard[at].held |= carry;
        for (n = 0; carry && n < HELD_BITS; n++) {
            const uint64_t both = count[n] & carry;
            count[n] ^= carry;
            carry = both;
        }
    }
}
static inline void scoreboard_release_sources(warp *w, const issue_info *info) {
    uint32_t i, n, at;
    for (i = 0; i < info->words; i++) {
        uint64_t borrow = issue_word_at(info, i, &at)->sources, *c = w->held_count[at];
        if (!borrow) continue;
        for (n = 0; borrow && n < HELD_BITS; n++) {
            const uint64_t none = ~c[n] & borrow;
            c[n] ^= borrow;
            borrow = none;
        }
        w->scoreboard[at].held = c[0] | c[1] | c[2] | c[3] | c[4] | c[5] | c[6] | c[7];
    }
}
static inline void scoreboard_release_destinations(warp *w, const issue_info *info) {
    uint32_t i, at;
    for (i = 0; i < info->words; i++) {
        const issue_word *bits = issue_word_at(info, i, &at);
        w->scoreboard[at].pending &= ~bits->destinations;
    }
}
/* Forgets what all instructions of the warp hold. */
static inline void scoreboard_forget(warp *w) {
    memset(w->scoreboard, 0, sizeof w->scoreboard);
    memset(w->held_count, 0, sizeof w->held_count);
}
/* Adds a register or predicate to an instruction's sources, or to its destinations: more than ISSUE_WORDS words of
 * them want info->more. */
void scoreboard_name(issue_info *info, uint32_t id, int is_destination);

/* Returns issue_info of every instruction of a program and of its end, program->count + 1 of them, to be freed with
 * free(); NULL when out of memory. A program has at most SCOREBOARD_IDS registers and predicates. */
issue_info *scoreboard_prepare(const kernel_program *program);

#endif
