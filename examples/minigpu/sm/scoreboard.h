/* scoreboard: the registers of a warp that instructions in flight will still write (destinations) or read (sources).
 *
 * The next instruction waits while one of its operands is a destination in flight, or one of its destinations is a
 * source that has not been released. The configuration decides when sources are released (config.h, sources_released).
 * This decides which instructions can be executed again after a fault. */
#ifndef MINIGPU_SCOREBOARD_H
#define MINIGPU_SCOREBOARD_H

#include <string.h>

#include "state/state.h"

/* issue_info.asks_more: what most simple instructions (sm/simple.h) do not ask for. Commit: it names further words,
 * or is counted, or writes nothing. Issue: it names further words, or the memory order may hold it. */
enum { COMMITS_MORE = 1, ISSUES_MORE = 2 };

/* Returns the i-th word of the scoreboard that an instruction names, and its bits there. */
static inline const issue_word *issue_word_at(const issue_info *info, uint32_t i, uint32_t *word) {
    const int here = i < ISSUE_WORDS;
    *word = here ? info->word[i] : info->more->word[i - ISSUE_WORDS];
    return here ? &info->bits[i] : &info->more->bits[i - ISSUE_WORDS];
}

static inline uint64_t scoreboard_conflicts(const warp *w, uint32_t at, const issue_word *bits) {
    const scoreboard_word *word = &w->scoreboard[at];
    return (word->pending & (bits->sources | bits->destinations)) | (word->held & bits->destinations);
}
/* Returns whether registers let an instruction issue. */
static inline int scoreboard_clear(const warp *w, const issue_info *info) {
    uint64_t conflicts = scoreboard_conflicts(w, info->word[0], &info->bits[0]);
    uint32_t i;
    if (info->words > 1) conflicts |= scoreboard_conflicts(w, info->word[1], &info->bits[1]);
    for (i = ISSUE_WORDS; i < info->words; i++)
        conflicts |= scoreboard_conflicts(w, info->more->word[i - ISSUE_WORDS], &info->more->bits[i - ISSUE_WORDS]);
    return !conflicts;
}

/* Hold sources that are held already once more, or once less. */
void scoreboard_hold_again(warp *w, uint32_t at, uint64_t sources);
void scoreboard_release_again(warp *w, uint32_t at, uint64_t sources);

static inline void scoreboard_reserve(warp *w, const issue_info *info) {
    uint32_t i, at;
    for (i = 0; i < info->words; i++) {
        const issue_word *bits = issue_word_at(info, i, &at);
        scoreboard_word *word = &w->scoreboard[at];
        const uint64_t again = word->held & bits->sources;
        word->pending |= bits->destinations;
        word->held |= bits->sources;
        if (again) scoreboard_hold_again(w, at, again);
    }
}
/* Reserves only the destinations; sources are held by time (machine.sources_timed). */
static inline void scoreboard_reserve_destinations(warp *w, const issue_info *info) {
    uint32_t i;
    w->scoreboard[info->word[0]].pending |= info->bits[0].destinations;
    if (info->words > 1) w->scoreboard[info->word[1]].pending |= info->bits[1].destinations;
    for (i = ISSUE_WORDS; i < info->words; i++)
        w->scoreboard[info->more->word[i - ISSUE_WORDS]].pending |= info->more->bits[i - ISSUE_WORDS].destinations;
}
/* Returns whether an instruction overwrites a source of an earlier one. */
static inline int scoreboard_overwrites(const issue_info *later, const issue_info *earlier) {
    uint32_t i, k, at, other;
    for (i = 0; i < later->words; i++) {
        const uint64_t destinations = issue_word_at(later, i, &at)->destinations;
        for (k = 0; destinations && k < earlier->words; k++) {
            const uint64_t sources = issue_word_at(earlier, k, &other)->sources;
            if (at == other && (destinations & sources)) return 1;
        }
    }
    return 0;
}
static inline void scoreboard_release_sources(warp *w, const issue_info *info) {
    uint32_t i, at;
    for (i = 0; i < info->words; i++) {
        const issue_word *bits = issue_word_at(info, i, &at);
        scoreboard_word *word = &w->scoreboard[at];
        const uint64_t again = word->held_again & bits->sources;
        word->held &= ~bits->sources | again;
        if (again) scoreboard_release_again(w, at, again);
    }
}
static inline void scoreboard_release_destinations(warp *w, const issue_info *info) {
    uint32_t i;
    w->scoreboard[info->word[0]].pending &= ~info->bits[0].destinations;
    if (info->words > 1) w->scoreboard[info->word[1]].pending &= ~info->bits[1].destinations;
    for (i = ISSUE_WORDS; i < info->words; i++)
        w->scoreboard[info->more->word[i - ISSUE_WORDS]].pending &= ~info->more->bits[i - ISSUE_WORDS].destinations;
}
/* Clears what all instructions of the warp hold. */
static inline void scoreboard_forget(warp *w) { memset(w->scoreboard, 0, sizeof w->scoreboard); }
/* Adds a register or predicate to an instruction's sources or destinations. More than ISSUE_WORDS words of them go to
 * info->more. */
void scoreboard_name(issue_info *info, uint32_t id, int is_destination);

/* Returns issue_info of every instruction of a program and of its end, program->count + 1 of them, which the caller
 * frees; NULL when memory is out. A program has at most SCOREBOARD_IDS registers and predicates. */
issue_info *scoreboard_prepare(const kernel_program *program);
/* Makes room for the issue_info of `capacity` instructions, zeroed, which scoreboard_release gives back; NULL when the
 * system refuses. Only filled entries take memory. */
issue_info *scoreboard_reserve_room(uint32_t capacity);
void scoreboard_release(issue_info *info, uint32_t capacity);
/* Fills in the issue_info of instructions `from` to program->count - 1 of a traced kernel, in such room. */
void scoreboard_add(issue_info *info, uint32_t capacity, const kernel_program *program, uint32_t from);
/* Moves the constants of the instructions (lanes_quick.h) to the arena, so that a copy of the arena has them. count:
 * the program's instructions. Returns 0, or -1 when the arena is full. */
int scoreboard_move_constants(issue_info *info, uint32_t count, arena *a);
/* Sets a kernel's parameters and sizes as constants of its instructions (lanes_quick.h). These must not change while
 * the kernel runs. */
void scoreboard_take_launch(const kernel *k);

#endif
