#include "sm/translation.h"

/* Memory of the host that a device uses. Its first pages are never allocated, so that an access through a null pointer
 * is an error. */
static int is_host_memory(const machine *m, uint64_t address) {
    const launch_memory *lent = m->launch->memory;
    return lent && lent->opens_host && address >= 65536 &&
           (address < lent->first || address - DEVICE_BASE >= lent->capacity_bytes);
}

translation translate(const machine *m, uint64_t address, int write) {
    uint64_t page = (address - DEVICE_BASE) / PAGE_BYTES;
    if (address < DEVICE_BASE || address - DEVICE_BASE >= m->memory_bytes ||
        !(m->page_table[page] & (write ? PAGE_WRITE : PAGE_READ)))
        return is_host_memory(m, address) ? TRANSLATION_HIT : TRANSLATION_FAULT;
    return m->page_table[page] & (write ? PAGE_ABSENT_WRITE : PAGE_ABSENT_READ) ? TRANSLATION_ABSENT : TRANSLATION_HIT;
}
