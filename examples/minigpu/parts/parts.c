/* The list of parts: nothing else names them all. */
#include "state/state.h"

/* tests/minigpu/without_part.sh names a shorter list. */
#ifndef PARTS_LIST
#define PARTS_LIST "parts/parts.def"
#endif

#define PART(name) extern const part name##_part;
#include PARTS_LIST
#undef PART

static const part *const all[] = {
#define PART(name) &name##_part,
#include PARTS_LIST
#undef PART
};

int parts_configure(machine *m, const launch_file *launch, const machine_options *options,
                    char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i;
    for (i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->configure && all[i]->configure(m, launch, options, error)) return -1;
    parts_find(m);
    return 0;
}

int parts_make(machine *m, const launch_file *launch, const machine_options *options, char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i;
    for (i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->make && all[i]->make(m, launch, options, error)) return -1;
    parts_find(m);
    return 0;
}

const part *parts_at(uint32_t index) { return index < sizeof all / sizeof *all ? all[index] : NULL; }

void parts_find(machine *m) {
    uint32_t i, count = 0, on_path = 0;
    m->traits = 0;
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i]->is_present(m)) continue;
        m->parts[count++] = all[i];
        if (all[i]->traits & PART_ON_PATH) m->on_path[on_path++] = all[i];
        m->traits |= all[i]->traits;
    }
    m->parts[count] = m->on_path[on_path] = NULL;
}
