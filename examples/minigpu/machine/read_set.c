#include "machine/read_set.h"

/* Entries of earlier blocks stay where they are: their keys carry another life. */
static read_set_entry *look_up(const machine *m, sm *s, uint32_t entry, uint64_t life, uint64_t segment) {
    uint32_t size = m->config.read_set_segments, probe;
    read_set_entry *table = s->read_sets + (size_t)entry * size;
    uint64_t key = life << 40 | (segment / SEGMENT_BYTES & ((UINT64_C(1) << 40) - 1));
    uint32_t at = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 40) & (size - 1);
    for (probe = 0; probe < size; probe++, at = (at + 1) & (size - 1)) {
        read_set_entry *found = &table[at];
        if (found->key == key) return found;
        if (found->key >> 40 != (key >> 40)) {
            if (s->read_set_used[entry] >= size / 4 * 3) return NULL;
            s->read_set_used[entry]++;
            found->key = key;
            found->read = found->written = 0;
            return found;
        }
    }
    return NULL;
}

void read_set_clear(const machine *m, sm *s, uint32_t entry) {
    (void)m;
    s->read_set_used[entry] = 0;
}

void read_set_assume_all(const machine *m, sm *s, uint32_t entry) {
    s->read_set_used[entry] = m->config.read_set_segments;
}

void read_set_load(const machine *m, sm *s, uint32_t entry, uint64_t life, uint64_t segment, uint32_t words) {
    read_set_entry *found = look_up(m, s, entry, life, segment);
    if (found) found->read |= words & ~found->written;
}

int read_set_store(const machine *m, sm *s, uint32_t entry, uint64_t life, uint64_t segment, uint32_t words) {
    read_set_entry *found = look_up(m, s, entry, life, segment);
    if (!found) return 1;
    found->written |= words & ~found->read;
    return (found->read & words) != 0;
}
