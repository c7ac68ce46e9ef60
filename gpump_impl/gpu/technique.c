#include "gpu/technique.h"

#include <string.h>

#define GPUMPI_TECHNIQUE_HERE (1u << GPUMP_BLOCK_RUNNING | 1u << GPUMP_BLOCK_BLOCKED)

static const gpump_technique gpumpi_technique_flush = {GPUMPI_TECHNIQUE_HERE | 1u << GPUMP_BLOCK_DRAINING |
                                                           1u << GPUMP_BLOCK_STOPPING | 1u << GPUMP_BLOCK_PARKED,
                                                       1,
                                                       GPUMP_TECHNIQUE_BEGIN_DROP,
                                                       0,
                                                       0,
                                                       "flush",
                                                       "Drops the block, which starts again later.",
                                                       NULL};
static const gpump_technique gpumpi_technique_switch = {GPUMPI_TECHNIQUE_HERE | 1u << GPUMP_BLOCK_DRAINING |
                                                            1u << GPUMP_BLOCK_PARKED,
                                                        0,
                                                        GPUMP_TECHNIQUE_BEGIN_STOP,
                                                        GPUMP_SM_WAIT_ALL & ~GPUMP_SM_WAIT_PREEMPTION_POINT,
                                                        GPUMP_PARTS_IN_PLACE,
                                                        "switch",
                                                        "Saves the block's context, which is restored later.",
                                                        NULL};
static const gpump_technique gpumpi_technique_drain = {
    GPUMPI_TECHNIQUE_HERE, 0, GPUMP_TECHNIQUE_BEGIN_RUN, 0, 0, "drain", "Lets the block run to its end.", NULL};
static const gpump_technique gpumpi_technique_rewind = {
    GPUMPI_TECHNIQUE_HERE | 1u << GPUMP_BLOCK_DRAINING,
    0,
    GPUMP_TECHNIQUE_BEGIN_REWIND,
    GPUMP_SM_WAIT_ALL,
    GPUMP_PARTS_IN_PLACE,
    "rewind",
    "Drops the block's work since its last region boundaries, and saves what is live at them.",
    NULL};

/* Techniques of the host's own, by number. */
#if (defined(GPUMP_TECHNIQUE_5) && !defined(GPUMP_TECHNIQUE_4)) || \
    (defined(GPUMP_TECHNIQUE_6) && !defined(GPUMP_TECHNIQUE_5)) || \
    (defined(GPUMP_TECHNIQUE_7) && !defined(GPUMP_TECHNIQUE_6))
#error "techniques of your own have numbers without a gap: define GPUMP_TECHNIQUE_4 first, then _5, _6, _7"
#endif
GPUMP_BEGIN
#ifdef GPUMP_TECHNIQUE_4
extern const gpump_technique GPUMP_TECHNIQUE_4;
#endif
#ifdef GPUMP_TECHNIQUE_5
extern const gpump_technique GPUMP_TECHNIQUE_5;
#endif
#ifdef GPUMP_TECHNIQUE_6
extern const gpump_technique GPUMP_TECHNIQUE_6;
#endif
#ifdef GPUMP_TECHNIQUE_7
extern const gpump_technique GPUMP_TECHNIQUE_7;
#endif
GPUMP_END

static const gpump_technique *const gpumpi_technique_list[GPUMP_TECHNIQUES + 1] = {&gpumpi_technique_flush,
                                                                                   &gpumpi_technique_switch,
                                                                                   &gpumpi_technique_drain,
                                                                                   &gpumpi_technique_rewind,
#ifdef GPUMP_TECHNIQUE_4
                                                                                   &GPUMP_TECHNIQUE_4,
#endif
#ifdef GPUMP_TECHNIQUE_5
                                                                                   &GPUMP_TECHNIQUE_5,
#endif
#ifdef GPUMP_TECHNIQUE_6
                                                                                   &GPUMP_TECHNIQUE_6,
#endif
#ifdef GPUMP_TECHNIQUE_7
                                                                                   &GPUMP_TECHNIQUE_7,
#endif
                                                                                   NULL};

GPUMP_API const gpump_technique *gpump_technique_at(uint32_t number) {
    return number < GPUMP_TECHNIQUES ? gpumpi_technique_list[number] : NULL;
}

GPUMP_API uint32_t gpumpi_techniques(void) {
    uint32_t count = 0;
    while (gpumpi_technique_list[count]) count++;
    return (1u << count) - 1u;
}

GPUMP_API uint32_t gpump_technique_find(const char *name) {
    for (uint32_t i = 0; name && gpumpi_technique_list[i]; i++)
        if (!strcmp(gpumpi_technique_list[i]->name, name)) return i;
    return GPUMP_NONE;
}

GPUMP_API gpump_result gpumpi_technique_check(uint32_t technique, gpump_diag *diag) {
    if (technique == GPUMP_TECHNIQUE_SELECT || gpump_technique_at(technique)) return GPUMP_OK;
    return gpumpi_bad_config(diag, "technique", 0, technique, 0, GPUMP_TECHNIQUE_SELECT);
}

/* Is there space for one context more of `bytes` bytes of a kernel? */
static int gpumpi_technique_has_room(const gpump_context_room *rooms, uint32_t count, uint32_t kernel, uint64_t bytes) {
    for (uint32_t i = 0; i < count; i++)
        if (rooms[i].kernel == kernel) return rooms[i].contexts && bytes <= rooms[i].context_bytes;
    return 1;
}

GPUMP_API void gpump_technique_limit_by_room(gpump_block_view *blocks, uint32_t count, const gpump_context_room *rooms,
                                             uint32_t room_count) {
    uint32_t saving = 0;
    for (uint32_t i = 0; i < GPUMP_TECHNIQUES; i++)
        if (gpumpi_technique_saves(i)) saving |= 1u << i;
    for (uint32_t i = 0; i < count; i++) {
        gpump_block_view *block = &blocks[i];
        if (!(block->may & saving) || block->state == GPUMP_BLOCK_PARKED) continue;
        if (!gpumpi_technique_has_room(rooms, room_count, block->kernel, block->context_bytes)) block->may &= ~saving;
    }
}
