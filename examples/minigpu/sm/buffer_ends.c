#include "sm/buffer_ends.h"

#include <inttypes.h>
#include <stdio.h>

#include "launch/launch.h"

/* Returns the buffer whose bytes are nearest to an address, and sets the distance in bytes; 0: inside. */
static const launch_buffer *nearest_buffer(const machine *m, uint64_t address, uint64_t *distance) {
    const launch_buffer *nearest = NULL;
    uint32_t i;
    *distance = UINT64_MAX;
    for (i = 0; i < m->launch->buffer_count; i++) {
        const launch_buffer *b = &m->launch->buffers[i];
        const uint64_t end = b->address + b->bytes, away = address < b->address ? b->address - address
                                                           : address >= end     ? address - end + 1
                                                                                : 0;
        if (away >= *distance) continue;
        *distance = away;
        nearest = b;
    }
    return nearest;
}

static int is_outside(const machine *m, uint64_t address, uint32_t bytes, int write) {
    const uint64_t at = address - DEVICE_BASE;
    const launch_buffer *nearest;
    uint64_t distance;
    if (address < DEVICE_BASE || at >= m->memory_bytes || !(m->page_table[at / PAGE_BYTES] & PAGE_READ)) return 0;
    if (at % PAGE_BYTES + bytes <= m->page_ends[at / PAGE_BYTES]) return 0;
    nearest = write ? NULL : nearest_buffer(m, address, &distance);
    return !nearest || !nearest->guard_bytes; /* guard bytes may be read, and extend to the end of their page */
}

uint32_t buffer_ends_outside(const machine *m, const in_flight *r, uint32_t lanes, uint32_t bytes) {
    const int write = !instruction_only_reads(r->instruction);
    uint32_t lane, outside = 0;
    for (lane = 0; lane < LANES; lane++)
        if (lanes >> lane & 1 && is_outside(m, r->addresses[lane], bytes, write)) outside |= 1u << lane;
    return outside;
}

void buffer_ends_nearest(const machine *m, uint64_t address, uint32_t bytes, char text[NEAREST_TEXT_BYTES]) {
    uint64_t distance;
    const launch_buffer *b = nearest_buffer(m, address, &distance);
    char name[64];
    text[0] = 0;
    if (!b) return;
    if (b->name || b->symbol)
        snprintf(name, sizeof name, "%.50s", b->name ? b->name : b->symbol);
    else
        snprintf(name, sizeof name, "of line %u", b->place.line);
    if (address < b->address)
        snprintf(text, NEAREST_TEXT_BYTES, "%" PRIu64 " bytes before the start of buffer %s", distance, name);
    else
        snprintf(text, NEAREST_TEXT_BYTES,
                 "element %" PRIu64 " of buffer %s, which has %" PRIu64 " of %s: %" PRIu64 " bytes beyond its end",
                 (address - b->address) / launch_type_bytes(b->type), name, b->bytes / launch_type_bytes(b->type),
                 launch_type_name(b->type), address + bytes - b->address - b->bytes);
}

/* Writes lanes as numbers: 0x10f is "0-3, 8". */
static void write_lanes(uint32_t lanes, char *text, size_t bytes) {
    size_t used = 0;
    uint32_t first, last;
    text[0] = 0;
    for (first = 0; first < LANES && used < bytes; first = last + 1) {
        last = first;
        if (!(lanes >> first & 1)) continue;
        while (last + 1 < LANES && lanes >> (last + 1) & 1) last++;
        used += (size_t)snprintf(text + used, bytes - used, last > first ? "%s%u-%u" : "%s%u", used ? ", " : "", first,
                                 last);
    }
}

void buffer_ends_fail(machine *m, const in_flight *r, uint32_t lanes, uint32_t bytes) {
    const block *b = &m->blocks[r->block];
    const kernel_program *program = m->kernels[b->kernel].program;
    const uint64_t address = r->addresses[gpump_bits_lowest64(lanes)];
    char where[NEAREST_TEXT_BYTES], which[100];
    buffer_ends_nearest(m, address, bytes, where);
    write_lanes(lanes, which, sizeof which);
    machine_fail(
        m, "%s:%u:%u: kernel %s: %s of %u bytes at %s; address 0x%" PRIx64 ", block %" PRIu64 " warp %u lane%s %s",
        program->file_name, r->instruction->line, r->instruction->column, program->name,
        opcode_name(r->instruction->opcode), bytes, where[0] ? where : "an address of no buffer", address, b->linear,
        m->warps[r->warp].index, lanes & (lanes - 1) ? "s" : "", which);
}
