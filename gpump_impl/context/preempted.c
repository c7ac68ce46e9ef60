#include "context/preempted.h"

#include <string.h>

#define GPUMPI_PREEMPTED_MAGIC UINT64_C(0x67706d707072656d) /* "gpmpprem" */

/* Entry 0 of the links is the list itself: its next is the first block and its previous the last. Block i is entry
 * i + 1. Free entries are linked by next, and have kernel 0. */
typedef struct gpumpi_preempted_link {
    uint32_t next, previous;
} gpumpi_preempted_link;
struct gpump_preempted {
    gpumpi_head head;
    gpump_preempted_config config;
    uint32_t count, free; /* blocks that wait; the first free entry, 0: none */
    uint32_t turn;        /* the SM whose turn it is */
    uint32_t unused;
    /* then gpump_preempted_block[blocks], then gpumpi_preempted_link[blocks + 1] */
};
typedef char gpumpi_preempted_has_no_padding
    [sizeof(gpump_preempted) == sizeof(gpumpi_head) + sizeof(gpump_preempted_config) + 4 * 4 ? 1 : -1];

static gpump_preempted_block *gpumpi_preempted_blocks(gpump_preempted *preempted) {
    return (gpump_preempted_block *)(void *)(preempted + 1);
}
static const gpump_preempted_block *gpumpi_preempted_blocks_const(const gpump_preempted *preempted) {
    return (const gpump_preempted_block *)(const void *)(preempted + 1);
}
static gpumpi_preempted_link *gpumpi_preempted_links(gpump_preempted *preempted) {
    return (gpumpi_preempted_link *)(void *)(gpumpi_preempted_blocks(preempted) + preempted->config.blocks);
}
static const gpumpi_preempted_link *gpumpi_preempted_links_const(const gpump_preempted *preempted) {
    return (const gpumpi_preempted_link *)(const void *)(gpumpi_preempted_blocks_const(preempted) +
                                                         preempted->config.blocks);
}

static gpump_result gpumpi_preempted_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_preempted_config, blocks, 1, 1u << 24),
        GPUMPI_LIMIT(gpump_preempted_config, sms, 1, 65536),
    };
    return GPUMPI_CHECK_LIMITS(checked, limits, diag);
}
static uint64_t gpumpi_preempted_bytes(const void *of) {
    const gpump_preempted_config *config = (const gpump_preempted_config *)of;
    return sizeof(gpump_preempted) + (size_t)config->blocks * sizeof(gpump_preempted_block) +
           ((size_t)config->blocks + 1) * sizeof(gpumpi_preempted_link);
}

static void gpumpi_preempted_set_up(void *object) {
    gpump_preempted *fresh = (gpump_preempted *)object;
    const gpump_preempted_config *config = &fresh->config;
    fresh->free = 1;
    for (uint32_t i = 1; i < config->blocks; i++) gpumpi_preempted_links(fresh)[i].next = i + 1;
}

/* May at least one of `sms` SMs take the block? */
static int gpumpi_preempted_may_return(const gpump_preempted_block *block, uint32_t sms) {
    if (block->only_sm != GPUMP_NONE) return block->only_sm < sms && block->only_sm != block->not_sm;
    return block->not_sm == GPUMP_NONE || (block->not_sm < sms && sms > 1);
}
static int gpumpi_preempted_is_sound(const gpump_preempted *preempted, const gpump_preempted_block *block) {
    return block->kernel && gpumpi_preempted_may_return(block, preempted->config.sms) &&
           (block->not_sm == GPUMP_NONE || block->not_sm < preempted->config.sms);
}
static int gpumpi_preempted_waits(const gpump_preempted *preempted, uint32_t handle) {
    return handle < preempted->config.blocks && gpumpi_preempted_blocks_const(preempted)[handle].kernel;
}

static gpump_result gpumpi_preempted_check(const void *object, gpump_diag *diag) {
    const gpump_preempted *preempted = (const gpump_preempted *)object;
    const gpump_preempted_block *blocks;
    const gpumpi_preempted_link *links;
    const char *wrong = NULL;
    uint32_t at, previous = 0, count = 0, free_count = 0;
    blocks = gpumpi_preempted_blocks_const(preempted);
    links = gpumpi_preempted_links_const(preempted);
    if (preempted->turn >= preempted->config.sms) wrong = "an SM beyond the last has its turn";
    for (at = links[0].next; at && !wrong; previous = at, at = links[at].next, count++) {
        if (at > preempted->config.blocks || count == preempted->config.blocks || links[at].previous != previous)
            wrong = "the list of blocks is broken";
        else if (!gpumpi_preempted_is_sound(preempted, &blocks[at - 1]))
            wrong = "a block that no SM may take";
        if (wrong) break;
    }
    if (!wrong && (links[0].previous != previous || count != preempted->count)) wrong = "counts of blocks differ";
    for (at = preempted->free; at && !wrong; free_count++) {
        if (at > preempted->config.blocks || free_count == preempted->config.blocks || blocks[at - 1].kernel)
            wrong = "the list of free entries is broken";
        else
            at = links[at].next;
    }
    if (!wrong && count + free_count != preempted->config.blocks) wrong = "an entry is in no list";
    return wrong ? gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, wrong, 0) : GPUMP_OK;
}

static uint64_t gpumpi_preempted_hash(const void *object) {
    const gpump_preempted *preempted = (const gpump_preempted *)object;
    const gpump_preempted_block *blocks = gpumpi_preempted_blocks_const(preempted);
    uint64_t hash =
        gpumpi_hash_u32s(gpumpi_hash_u32s(GPUMP_HASH_SEED, &preempted->config.blocks, 2), &preempted->count, 4);
    for (uint32_t i = 0; i < preempted->config.blocks; i++) {
        hash = gpumpi_hash_u64s(hash, &blocks[i].cookie, 2);
        hash = gpumpi_hash_u32s(hash, &blocks[i].kernel, 4);
    }
    return gpumpi_hash_u32s(hash, &gpumpi_preempted_links_const(preempted)->next,
                            2 * ((size_t)preempted->config.blocks + 1));
}

static uint64_t gpumpi_preempted_bits(const void *of) {
    const gpump_preempted_config *config = (const gpump_preempted_config *)of;
    /* cookie, ready cycle and kernel; two SMs or none; two links */
    return config->blocks * (64 + 64 + 32 + 2 * gpumpi_bits_for((uint64_t)config->sms + 1) +
                             2 * gpumpi_bits_for((uint64_t)config->blocks + 1)) +
           gpumpi_bits_for(config->sms);
}

GPUMP_API gpump_result gpump_preempted_add(gpump_preempted *preempted, const gpump_preempted_block *block,
                                           uint32_t *handle) {
    gpumpi_preempted_link *links;
    uint32_t at;
    if (!preempted || !block || !handle || !gpumpi_preempted_is_sound(preempted, block)) return GPUMP_ERROR_ARGUMENT;
    links = gpumpi_preempted_links(preempted);
    at = preempted->free;
    if (!at) return GPUMP_ERROR_FULL;
    preempted->free = links[at].next;
    gpumpi_preempted_blocks(preempted)[at - 1] = *block;
    links[at].next = 0;
    links[at].previous = links[0].previous;
    links[links[0].previous].next = at; /* the list itself when it is empty */
    links[0].previous = at;
    preempted->count++;
    *handle = at - 1;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_preempted_change(gpump_preempted *preempted, uint32_t handle,
                                              const gpump_preempted_block *block) {
    if (!preempted || !block || !gpumpi_preempted_is_sound(preempted, block)) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_preempted_waits(preempted, handle)) return GPUMP_ERROR_STATE;
    gpumpi_preempted_blocks(preempted)[handle] = *block;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_preempted_take(gpump_preempted *preempted, uint32_t handle, uint32_t sm) {
    gpumpi_preempted_link *links, *own;
    if (!preempted || (sm != GPUMP_NONE && sm >= preempted->config.sms)) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_preempted_waits(preempted, handle)) return GPUMP_ERROR_STATE;
    links = gpumpi_preempted_links(preempted);
    own = &links[handle + 1];
    links[own->previous].next = own->next;
    links[own->next].previous = own->previous;
    own->previous = 0;
    own->next = preempted->free;
    preempted->free = handle + 1;
    preempted->count--;
    memset(&gpumpi_preempted_blocks(preempted)[handle], 0, sizeof(gpump_preempted_block));
    if (sm != GPUMP_NONE) preempted->turn = (sm + 1) % preempted->config.sms;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_preempted_get(const gpump_preempted *preempted, uint32_t handle,
                                           gpump_preempted_block *block) {
    if (!preempted || !block) return GPUMP_ERROR_ARGUMENT;
    if (!gpumpi_preempted_waits(preempted, handle)) return GPUMP_ERROR_STATE;
    *block = gpumpi_preempted_blocks_const(preempted)[handle];
    return GPUMP_OK;
}

GPUMP_API uint32_t gpump_preempted_after(const gpump_preempted *preempted, uint32_t kernel, uint32_t handle) {
    const gpumpi_preempted_link *links = gpumpi_preempted_links_const(preempted);
    uint32_t at = links[handle == GPUMP_NONE ? 0 : handle + 1].next;
    while (at && kernel && gpumpi_preempted_blocks_const(preempted)[at - 1].kernel != kernel) at = links[at].next;
    return at ? at - 1 : GPUMP_NONE;
}

GPUMP_API uint32_t gpump_preempted_find(const gpump_preempted *preempted, uint64_t now, uint32_t kernel, uint32_t sm,
                                        int only) {
    const gpump_preempted_block *blocks = gpumpi_preempted_blocks_const(preempted);
    uint32_t at = gpump_preempted_after(preempted, kernel, GPUMP_NONE);
    for (; at != GPUMP_NONE; at = gpump_preempted_after(preempted, kernel, at)) {
        const gpump_preempted_block *block = &blocks[at];
        if (block->ready_cycle > now || block->ready_cycle == GPUMP_UNKNOWN || block->not_sm == sm) continue;
        if (block->only_sm == (only ? sm : GPUMP_NONE)) break;
    }
    return at;
}

enum { GPUMPI_PREEMPTED_LOADS = 65 }; /* loads of 0 to 64 blocks are counted, others are compared */
/* Sets first[load] to the place of the first SM of that load. Returns 0 where a load cannot be counted. */
static int gpumpi_preempted_count_loads(const uint32_t *loads, uint32_t sms, uint32_t *first) {
    uint32_t load, before = 0, most = 0;
    memset(first, 0, GPUMPI_PREEMPTED_LOADS * sizeof *first);
    for (uint32_t sm = 0; sm < sms; sm++) {
        if (loads[sm] >= GPUMPI_PREEMPTED_LOADS) return 0;
        most = loads[sm] > most ? loads[sm] : most;
        first[loads[sm]]++;
    }
    for (load = 0; load <= most; load++) {
        const uint32_t here = first[load];
        first[load] = before;
        before += here;
    }
    return 1;
}

GPUMP_API gpump_result gpump_preempted_order(const gpump_preempted *preempted, const uint32_t *loads, uint32_t *order) {
    uint32_t first[GPUMPI_PREEMPTED_LOADS], i, counted;
    if (!preempted || !order) return GPUMP_ERROR_ARGUMENT;
    counted = loads && gpumpi_preempted_count_loads(loads, preempted->config.sms, first);
    for (i = 0; i < preempted->config.sms; i++) {
        const uint32_t sm = (preempted->turn + i) % preempted->config.sms;
        uint32_t at = counted ? first[loads[sm]]++ : i;
        for (; at && loads && !counted && loads[order[at - 1]] > loads[sm]; at--) order[at] = order[at - 1];
        order[at] = sm;
    }
    return GPUMP_OK;
}

/* clang-format off */
static const gpumpi_methods gpumpi_preempted_hooks = {
    "preempted", "context", GPUMPI_PREEMPTED_MAGIC,
    GPUMP_LAYOUT_CONTEXT, sizeof(gpump_preempted_config), offsetof(gpump_preempted, config), 0,
    0, NULL, 0,
    /* preset, check_config, bytes, bits, tables */
    NULL, gpumpi_preempted_check_config, gpumpi_preempted_bytes, gpumpi_preempted_bits, NULL,
    /* set_up, unfit, check, hash */
    gpumpi_preempted_set_up, NULL, gpumpi_preempted_check, gpumpi_preempted_hash,
    /* preset_for, next_cycle, copy_statistics */
    NULL, NULL, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_preempted_methods(void) { return &gpumpi_preempted_hooks; }
