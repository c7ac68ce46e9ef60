/* The list of parts: nothing else names them all. */
#include "state/state.h"

#define PART(name) extern const part name##_part;
#include "parts/parts.def"
#undef PART

static const part *const all[] = {
#define PART(name) &name##_part,
#include "parts/parts.def"
#undef PART
};

void parts_find(machine *m) {
    uint32_t i, count = 0;
    m->traits = 0;
    for (i = 0; i < PARTS; i++) {
        if (!all[i]->is_present(m)) continue;
        m->parts[count++] = all[i];
        m->traits |= all[i]->traits;
    }
    m->parts[count] = NULL;
}
