#include "parts/faults/fault_held.h"

#include "sm/scoreboard.h"

void faults_sources(const machine *m, const warp *w, uint64_t *set) {
    const kernel *k = &m->kernels[m->blocks[w->block].kernel];
    const sm *s = m->sms[w->sm];
    gpump_replay_entry entries[GPUMP_REPLAY_WINDOW];
    uint32_t count = 0, i, n, at, r;
    if (!sm_faults_of(s) || gpump_replay_state_of(sm_faults_of(s)->replay, w->number) != GPUMP_REPLAY_HELD ||
        gpump_replay_save(sm_faults_of(s)->replay, w->number, entries, GPUMP_REPLAY_WINDOW, &count) != GPUMP_OK)
        return;
    for (i = 0; i < count; i++) {
        const issue_info *info = &k->info[entries[i].pc];
        for (n = 0; n < info->words; n++) {
            uint64_t sources = issue_word_at(info, n, &at)->sources;
            for (; sources; sources &= sources - 1)
                if ((r = at * 64 + gpump_bits_lowest64(sources)) < k->registers) gpump_bits_set(set, r);
        }
    }
}
