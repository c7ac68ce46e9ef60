#include "memory/dram.h"

#include <string.h>

static dram_bank *banks(const dram *d) { return (dram_bank *)(uintptr_t)(d + 1); }
static dram_entry *entries(const dram *d) { return (dram_entry *)(uintptr_t)(banks(d) + d->config.banks); }

void dram_config_gddr5(dram_config *config) {
    memset(config, 0, sizeof *config);
    config->queue_entries = 128;
    config->banks = 16;
    config->lines_per_row = 16;
    config->rrd = 6;
    config->rcd = 12;
    config->ras = 28;
    config->rp = 12;
    config->rc = 40;
    config->cl = 12;
    config->wl = 4;
    config->cdlr = 5;
    config->wr = 12;
}

size_t dram_bytes(const dram_config *config) {
    return sizeof(dram) + config->banks * sizeof(dram_bank) + config->queue_entries * sizeof(dram_entry);
}

dram *dram_init(void *memory, const dram_config *config) {
    dram *d = (dram *)memory;
    uint32_t i;
    memset(d, 0, dram_bytes(config));
    d->config = *config;
    for (i = 0; i < config->banks; i++) banks(d)[i].row = DRAM_NEVER;
    return d;
}

void dram_put(dram *d, uint64_t now, uint64_t line, uint32_t is_write, uint32_t item) {
    dram_entry *entry = &entries(d)[d->count++];
    uint64_t visit = line / d->config.lines_per_row;
    entry->row = visit / d->config.banks;
    /* Consecutive rows of one bank are spread over all banks. */
    entry->bank = (uint32_t)((visit ^ entry->row ^ entry->row / d->config.banks) & (d->config.banks - 1));
    entry->arrived = now;
    entry->item = item;
    entry->is_write = is_write;
    d->waiting_writes += is_write != 0;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Returns when the column command could go for a row that is not open in this bank, if its precharge went at `now`. */
static uint64_t open_row(const dram *d, uint64_t now, const dram_bank *bank, uint64_t *activate) {
    uint64_t at = now;
    if (bank->row != DRAM_NEVER) at = later(at, bank->precharge_at) + d->config.rp;
    at = later(at, bank->activate_at);
    if (d->last_activate) at = later(at, d->last_activate - 1 + d->config.rrd);
    *activate = at;
    return at + d->config.rcd;
}

uint64_t dram_next(const dram *d, uint64_t now) {
    const uint64_t lead = d->config.rp + d->config.rcd + d->config.cl;
    if (!d->count) return DRAM_NEVER;
    return d->data_end > now + lead ? d->data_end - lead : now;
}

/* Returns the request whose data could begin first, the oldest among equals. Sets *best to the cycle of its data. */
static uint32_t choose(const dram *d, uint64_t now, uint64_t *best) {
    const dram_config *c = &d->config;
    uint64_t miss[64], known = 0; /* miss[i] is valid where bit i of known is set */
    uint64_t activate = 0;
    /* No request's data begins before these cycles. A request that reaches the earlier one need not be compared with
     * younger requests. */
    const uint64_t read = later(now, d->read_at) + c->cl, write = later(now, d->write_at) + c->wl;
    const uint64_t earliest = d->waiting_writes == 0          ? read
                              : d->waiting_writes == d->count ? write
                              : read < write                  ? read
                                                              : write;
    uint32_t i, chosen = 0;
    *best = DRAM_NEVER;
    for (i = 0; i < (c->in_order ? 1 : d->count); i++) {
        const dram_entry *entry = &entries(d)[i];
        const dram_bank *bank = &banks(d)[entry->bank];
        uint64_t at, data;
        if (bank->row == entry->row) {
            at = later(now, bank->column_at);
        } else {
            if (!(known >> entry->bank & 1)) {
                miss[entry->bank] = open_row(d, now, bank, &activate);
                known |= UINT64_C(1) << entry->bank;
            }
            at = miss[entry->bank];
        }
        data = entry->is_write ? later(at, d->write_at) + c->wl : later(at, d->read_at) + c->cl;
        if (data >= *best) continue;
        *best = data;
        chosen = i;
        if (data == earliest) break;
    }
    return chosen;
}

void dram_pick(dram *d, uint64_t now, dram_entry *picked, uint64_t *end) {
    const dram_config *c = &d->config;
    uint64_t activate = 0, best, column;
    const uint32_t chosen = choose(d, now, &best);
    dram_bank *bank;
    int is_hit;
    *picked = entries(d)[chosen];
    d->count--;
    d->waiting_writes -= picked->is_write != 0;
    memmove(&entries(d)[chosen], &entries(d)[chosen + 1], (d->count - chosen) * sizeof(dram_entry));
    bank = &banks(d)[picked->bank];
    is_hit = bank->row == picked->row;
    if (!is_hit) {
        bank->column_at = open_row(d, now, bank, &activate);
        bank->row = picked->row;
        bank->activate_at = activate + c->rc;
        bank->precharge_at = activate + c->ras;
        d->last_activate = activate + 1;
    }
    column = best - (picked->is_write ? c->wl : c->cl);
    *end = best + c->line_cycles;
    d->data_end = *end + c->idle_cycles;
    if (picked->is_write) {
        d->write_at = column + c->line_cycles + c->idle_cycles;
        d->read_at = *end + later(c->cdlr, c->idle_cycles);
        bank->precharge_at = later(bank->precharge_at, *end + c->wr);
        d->writes++;
    } else {
        d->read_at = column + c->line_cycles + c->idle_cycles;
        /* The bus turns round: two cycles between the last read data and the first written data. */
        d->write_at = *end + later(2, c->idle_cycles) - c->wl;
        bank->precharge_at = later(bank->precharge_at, column + c->line_cycles);
        d->reads++;
    }
    d->hits += (uint64_t)is_hit;
    d->latency_cycles += *end - picked->arrived;
}
