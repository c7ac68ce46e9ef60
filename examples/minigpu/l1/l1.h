/* l1: the L1 of an SM, for the load-store unit. model.h describes the functions. The plain form calls those of the
 * first L1 (launch/l1_models.def) without the table, so a machine with another one runs in the general form. */
#ifndef MINIGPU_L1_H
#define MINIGPU_L1_H

#include "l1/associative/associative.h"
#include "lanes/form.h"

typedef struct l1 {
    const l1_model *model;
    void *state;
} l1;

/* Makes the L1 of config.l1_model in the arena. Returns 0, or -1 when the arena is full. */
int l1_make(l1 *l, arena *a, const minigpu_config *config);
/* Returns whether no load waits for a line. */
int l1_is_idle(const l1 *l);

static inline cache_line *l1_find(const l1 *l, uint64_t line) {
    return IS_PLAIN ? associative_find(l->state, line) : l->model->find(l->state, line);
}
static inline cache_line *l1_victim(const l1 *l, uint64_t line) {
    return IS_PLAIN ? associative_victim(l->state, line) : l->model->victim(l->state, line);
}
static inline void l1_fill(const l1 *l, cache_line *place, uint64_t line) {
    if (IS_PLAIN)
        associative_fill(l->state, place, line);
    else
        l->model->fill(l->state, place, line);
}
static inline void l1_use(const l1 *l, cache_line *place) {
    if (IS_PLAIN)
        associative_use(l->state, place);
    else
        l->model->use(l->state, place);
}
static inline uint64_t l1_line_of(const l1 *l, const cache_line *place) {
    return IS_PLAIN ? associative_line_of(l->state, place) : l->model->line_of(l->state, place);
}
static inline cache_line *l1_place(const l1 *l, uint32_t number) {
    return IS_PLAIN ? associative_place(l->state, number) : l->model->place(l->state, number);
}
static inline uint32_t l1_number(const l1 *l, const cache_line *place) {
    return IS_PLAIN ? associative_number(l->state, place) : l->model->number(l->state, place);
}
static inline void l1_drop(const l1 *l, cache_line *place) { l->model->drop(l->state, place); }
static inline void l1_empty(const l1 *l) { l->model->empty(l->state); }
static inline uint64_t l1_hash(const l1 *l, uint64_t hash) { return l->model->hash(l->state, hash); }

/* In the plain form, where a blocked load sleeps until a reply can help it: returns the number of the first place of
 * the line's set. 0 in the others, where the load asks again whenever the SM runs. */
static inline uint32_t l1_first_of_set(const l1 *l, uint64_t line) {
    return IS_PLAIN ? (uint32_t)cache_set((const cache *)l->state, line) : 0;
}
/* Returns whether a place is in the set that begins with place `first`. */
static inline int l1_is_in_set(const l1 *l, uint32_t number, uint32_t first) {
    return !IS_PLAIN || number - first < ((const cache *)l->state)->ways;
}

#endif
