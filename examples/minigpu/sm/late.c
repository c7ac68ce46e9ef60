#include "sm/late.h"

#include <string.h>

late_list *late_make(machine *m, uint32_t capacity, size_t item_bytes) {
    late_list *lists = (late_list *)arena_take_array(&m->arena, m->sm_count, sizeof *lists);
    uint32_t i;
    for (i = 0; lists && i < m->sm_count; i++) {
        lists[i].cycles = (uint64_t *)arena_take_array(&m->arena, capacity, sizeof *lists[i].cycles);
        lists[i].items = (uint8_t *)arena_take_array(&m->arena, capacity, item_bytes);
        if (!lists[i].cycles || !lists[i].items) return NULL;
        lists[i].item_bytes = item_bytes;
        lists[i].capacity = capacity;
    }
    return lists;
}

void *late_add(late_list *list, uint64_t cycle) {
    if (list->count == list->capacity) return NULL;
    list->cycles[list->count] = cycle;
    return list->items + list->item_bytes * list->count++;
}

/* Empties the lists but for what was kept. */
static void end_window(late_list *lists, uint32_t sm_count) {
    uint32_t i;
    for (i = 0; i < sm_count; i++) {
        lists[i].count = lists[i].kept;
        lists[i].taken = lists[i].kept = 0;
    }
}

void *late_take(late_list *lists, uint32_t sm_count, uint64_t *cycle, uint32_t *sm) {
    late_list *first = NULL;
    uint32_t i;
    for (i = 0; i < sm_count; i++) {
        late_list *l = &lists[i];
        if (l->taken < l->count && (!first || l->cycles[l->taken] < first->cycles[first->taken])) first = l;
    }
    if (!first) {
        end_window(lists, sm_count);
        return NULL;
    }
    *cycle = first->cycles[first->taken];
    *sm = (uint32_t)(first - lists);
    return first->items + first->item_bytes * first->taken++;
}

void late_keep(late_list *list, uint64_t cycle) {
    list->cycles[list->kept] = cycle;
    memmove(list->items + list->item_bytes * list->kept++, list->items + list->item_bytes * (list->taken - 1),
            list->item_bytes);
}
