/* altered_bits: what _adopt and _check say of a component's memory when one bit of it is altered, bit by bit: how often
 * each reason is given, with which numbers, and how many of the bits that are accepted the hash does not cover. */
#ifndef TESTS_ALTERED_BITS_H
#define TESTS_ALTERED_BITS_H

#include "decisions.h"

enum { ALTERED_REASONS = 64 };

typedef struct altered_reason {
    char text[100];
    uint32_t bits;
    uint64_t numbers; /* a sum over what the refusals say beside the text */
} altered_reason;

typedef struct altered_tally {
    altered_reason reasons[ALTERED_REASONS];
    uint32_t count, accepted, unhashed;
    uint64_t states; /* a hash of the hashes of the memories before they were altered */
} altered_tally;

/* One altered bit was refused. */
static inline void altered_refused(altered_tally *tally, const gpump_diag *diag) {
    const uint64_t numbers[] = {diag->index, diag->value, diag->minimum, diag->maximum};
    uint64_t hash = GPUMP_HASH_SEED;
    uint32_t i = 0, n;
    while (i < tally->count && strcmp(tally->reasons[i].text, diag->field) != 0) i++;
    assert_true(i < ALTERED_REASONS);
    if (i == tally->count)
        snprintf(tally->reasons[tally->count++].text, sizeof tally->reasons->text, "%s", diag->field);
    tally->reasons[i].bits++;
    for (n = 0; n < 4 && strcmp(diag->field, "layout") != 0;
         n++) /* that number changes with every struct of the room */
        hash = gpump_hash_u64(hash, numbers[n]);
    tally->reasons[i].numbers += hash;
}

static inline int altered_order(const void *a, const void *b) {
    return strcmp(((const altered_reason *)a)->text, ((const altered_reason *)b)->text);
}

/* Compares a tally with tests/FOLDER/decisions/NAME.txt: which alterations are refused is decided by the checks, and by
 * nothing else. Only where pointers have 64 bits, and with the seed that is usual. */
static inline void altered_compare(altered_tally *tally, const char *folder, const char *name) {
    decisions all = decisions_begin(ALTERED_REASONS + 2);
    char path[200];
    uint32_t i;
    qsort(tally->reasons, tally->count, sizeof tally->reasons[0], altered_order);
    for (i = 0; i < tally->count; i++)
        decided(&all, "%s: %" PRIu32 " bits, 0x%016" PRIx64, tally->reasons[i].text, tally->reasons[i].bits,
                tally->reasons[i].numbers);
    decided(&all, "accepted: %" PRIu32 " bits, of which the hash leaves out %" PRIu32, tally->accepted,
            tally->unhashed);
    decided(&all, "states: 0x%016" PRIx64, tally->states);
    snprintf(path, sizeof path, "tests/%s/decisions/%s.txt", folder, name);
    if (sizeof(void *) != 8 || test_seed() != 1)
        free(all.text);
    else if (decisions_differ(&all, path))
        fail_msg("%s: alterations of its memory are judged otherwise", name);
}
#endif
