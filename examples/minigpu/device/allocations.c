#define _GNU_SOURCE
#include "device/allocations.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "state/state.h"

#define MOST_BYTES ALLOCATIONS_FILE_BYTES
#define FEWEST_BYTES (UINT64_C(1) << 30)

/* Where memory lies at the device's own addresses, the first choice first: beyond the heap of a program at a fixed
 * address (python3 is one), and below the shadow memory of the address sanitizer. */
static const uint64_t places[] = {UINT64_C(8) << 30, DEVICE_BASE};

/* Half of the address space is for allocations, the other half for what a machine puts behind them. */
uint64_t allocations_room_bytes(const launch_memory *lent) {
    return (DEVICE_BASE + lent->capacity_bytes - lent->first) / 2;
}

/* Maps so many bytes at an address, of a file that several processes map or (file -1) of this process; MAP_FAILED. */
static void *map_at(uint64_t address, uint64_t bytes, int file, uint64_t offset) {
#ifdef MAP_FIXED_NOREPLACE
    const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *const wanted = (void *)(uintptr_t)address;
    void *base =
        mmap(wanted, bytes, PROT_READ | PROT_WRITE, kind | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, (off_t)offset);
    if (base == MAP_FAILED || base == wanted) return base;
    munmap(base, bytes); /* a kernel that does not know the flag */
#else
    (void)address, (void)bytes, (void)file, (void)offset;
#endif
    return MAP_FAILED;
}

static int lends(allocations *a, void *base, uint64_t first, uint64_t bytes) {
    a->lent.bytes = (uint8_t *)((uintptr_t)base - (uintptr_t)(first - DEVICE_BASE));
    a->lent.first = a->lent.end = first;
    a->lent.capacity_bytes = first - DEVICE_BASE + bytes;
    return 0;
}

int allocations_open(allocations *a, uint64_t alignment) {
    void *base;
    uint64_t bytes;
    size_t i;
    memset(a, 0, sizeof *a);
    a->alignment = alignment;
    for (i = 0; i < sizeof places / sizeof *places; i++)
        for (bytes = MOST_BYTES; bytes >= FEWEST_BYTES; bytes /= 2)
            if ((base = map_at(places[i], bytes, -1, 0)) != MAP_FAILED) return lends(a, base, places[i], bytes);
    base = mmap(NULL, MOST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? -1 : lends(a, base, DEVICE_BASE, MOST_BYTES);
}

/* The next address that an allocation may have, behind an unused page. */
static uint64_t behind(const allocations *a, const launch_buffer *b) {
    return (b->address + b->bytes + PAGE_BYTES + a->alignment - 1) / a->alignment * a->alignment;
}

static void find_end(allocations *a) { a->lent.end = a->count ? behind(a, &a->buffers[a->count - 1]) : a->lent.first; }

int allocations_open_shared(allocations *a, uint64_t alignment, int file, uint32_t part) {
    const uint64_t offset = part == NONE ? 0 : part * ALLOCATIONS_PART_BYTES;
    const uint64_t bytes = part == NONE ? MOST_BYTES : ALLOCATIONS_PART_BYTES;
    void *base = map_at(places[0] + offset, bytes, file, offset);
    memset(a, 0, sizeof *a);
    a->alignment = alignment;
    return base == MAP_FAILED ? -1 : lends(a, base, places[0] + offset, bytes);
}

int allocations_replace(allocations *a, const launch_buffer *buffers, uint32_t count) {
    launch_buffer *own = (launch_buffer *)malloc((count + 1u) * sizeof *own);
    if (!own) return -1;
    if (count) memcpy(own, buffers, count * sizeof *own);
    free(a->buffers);
    a->buffers = own;
    a->count = a->capacity = count;
    a->changes++;
    find_end(a);
    return 0;
}

void allocations_close(allocations *a) {
    uint32_t i;
    for (i = 0; i < a->count; i++) free(a->buffers[i].name);
    free(a->buffers);
    if (a->lent.capacity_bytes)
        munmap(a->lent.bytes + (a->lent.first - DEVICE_BASE), a->lent.capacity_bytes - (a->lent.first - DEVICE_BASE));
    memset(a, 0, sizeof *a);
}

uint64_t allocations_take(allocations *a, uint64_t bytes, const char *name) {
    const uint64_t needed = (bytes + PAGE_BYTES + a->alignment - 1) / a->alignment * a->alignment;
    uint64_t address = a->lent.first;
    launch_buffer *b;
    uint32_t i;
    if (!bytes || bytes > a->lent.capacity_bytes) return 0;
    if (a->count == a->capacity) {
        const uint32_t capacity = a->capacity ? a->capacity * 2 : 64;
        launch_buffer *grown = (launch_buffer *)realloc(a->buffers, capacity * sizeof *grown);
        if (!grown) return 0;
        a->buffers = grown;
        a->capacity = capacity;
    }
    for (i = 0; i < a->count && a->buffers[i].address - address < needed; i++) address = behind(a, &a->buffers[i]);
    if (address + needed > a->lent.first + allocations_room_bytes(&a->lent)) return 0;
    b = &a->buffers[i];
    memmove(b + 1, b, (a->count - i) * sizeof *b);
    a->count++;
    a->changes++;
    memset(b, 0, sizeof *b);
    b->address = address;
    b->bytes = bytes;
    b->type = LAUNCH_U8;
    b->name = strdup(name ? name : "?");
    find_end(a);
    return address;
}

static uint32_t index_of(const allocations *a, uint64_t address) {
    uint32_t low = 0, high = a->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (a->buffers[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : NONE;
}

const launch_buffer *allocations_find(const allocations *a, uint64_t address) {
    const uint32_t i = index_of(a, address);
    if (i == NONE || address - a->buffers[i].address >= a->buffers[i].bytes) return NULL;
    return &a->buffers[i];
}

int allocations_give(allocations *a, uint64_t address) {
    const uint32_t i = index_of(a, address);
    launch_buffer *b;
    if (i == NONE || a->buffers[i].address != address) return -1;
    b = &a->buffers[i];
    free(b->name);
    a->count--;
    a->changes++;
    memmove(b, b + 1, (a->count - i) * sizeof *b);
    find_end(a);
    return 0;
}

void allocations_are_variables(allocations *a, uint64_t address) {
    launch_buffer *b = &a->buffers[index_of(a, address)];
    b->symbol = b->name;
}
