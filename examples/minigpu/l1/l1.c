#include "l1/l1.h"

/* The L1s, by minigpu_config.l1_model. */
static const l1_model *const models[] = {
#define L1_MODEL(name) &name##_l1,
#include L1_MODELS_LIST
#undef L1_MODEL
};

int l1_make(l1 *l, arena *a, const minigpu_config *config) {
    l->model = models[config->l1_model];
    l->state = l->model->make(a, config);
    return l->state ? 0 : -1;
}

int l1_is_idle(const l1 *l) {
    const cache_line *place;
    uint32_t i;
    for (i = 0; (place = l->model->place(l->state, i)); i++)
        if (place->pending) return 0;
    return 1;
}
