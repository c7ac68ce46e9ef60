#include "machine/traffic.h"

#include <string.h>

#include "memory/memory.h"

void traffic_on_sm(const machine *m, const sm *s, uint32_t kernel_index, gpump_traffic *traffic) {
    const sm_traffic *from = &s->traffic[kernel_index];
    memset(traffic, 0, sizeof *traffic);
    traffic->cycles = m->now;
    traffic->issued = from->issued;
    traffic->resident_cycles = from->resident_cycles;
    traffic->l1_load_hits = from->l1_load_hits;
    traffic->l1_load_misses = from->l1_load_misses;
    traffic->l1_store_hits = from->l1_store_hits;
    traffic->l1_store_misses = from->l1_store_misses;
    traffic->l1_atomics = from->l1_atomics;
}

void traffic_of_kernel(const machine *m, uint32_t kernel_index, gpump_traffic *traffic) {
    gpump_traffic here;
    uint32_t i;
    (void)gpump_meter_total(m->memory_system->meter, m->now, kernel_index + 1, traffic);
    for (i = 0; i < m->sm_count; i++) {
        traffic_on_sm(m, m->sms[i], kernel_index, &here);
        gpump_traffic_add(traffic, &here);
    }
}
