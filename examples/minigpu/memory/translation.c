#include "memory/translation.h"

translation translate(const machine *m, uint64_t address, int write) {
    uint64_t page = (address - DEVICE_BASE) / PAGE_BYTES;
    if (address < DEVICE_BASE || address - DEVICE_BASE >= m->memory_bytes ||
        !(m->page_table[page] & (write ? PAGE_WRITE : PAGE_READ)))
        return TRANSLATION_FAULT;
    return m->page_table[page] & (write ? PAGE_ABSENT_WRITE : PAGE_ABSENT_READ) ? TRANSLATION_ABSENT : TRANSLATION_HIT;
}
