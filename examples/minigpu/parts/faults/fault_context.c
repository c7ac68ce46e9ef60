#include "parts/faults/fault_context.h"

#include <string.h>

#include "parts/faults/faults.h"
#include "sm/front_end.h"

/* What the log holds of one instruction: rows of a u64 per lane. Addresses are row 0; operands of an atomic have a row
 * each, those of other instructions fill rows word by word. Returns the word (two to a row) at which a source begins.
 */
static uint32_t log_word(const instruction *in, uint32_t source) {
    uint32_t i, at = 2;
    if (!source) return 0;
    if (in->opcode == OPCODE_ATOM || in->opcode == OPCODE_RED) return 2 * source;
    for (i = 1; i < source; i++)
        if (in->sources[i].kind != OPERAND_NONE)
            at += in->sources[i].kind == OPERAND_PREDICATE ? 1u : in->sources[i].words;
    return at;
}

/* Copies the captured sources of an instruction to its rows, or back. */
static void copy_operands(const instruction *in, lanes_operand *sources, uint32_t *rows, int back) {
    uint32_t i, word, lane;
    for (i = 0; i < in->source_count; i++) {
        const uint32_t first = log_word(in, i), words = in->sources[i].kind == OPERAND_NONE ? 0u
                                                        : in->sources[i].kind == OPERAND_PREDICATE
                                                            ? 1u
                                                            : in->sources[i].words;
        for (word = first; word < first + words; word++) {
            for (lane = 0; lane < LANES; lane++) {
                uint32_t *place = &rows[(word / 2 * LANES + lane) * 2 + word % 2],
                         *value = &sources[i].word[word - first][lane];
                if (back)
                    *value = *place;
                else
                    *place = *value;
            }
        }
    }
}

#define LOG_ROWS 8u /* of one instruction, at most */
typedef struct log_head {
    uint32_t entry, units, lanes, zero;
} log_head;

/* The sections of a warp that has faulted: its replay queue, and the operands that the log has for it. */
void faults_put_sections(machine *m, const warp *w, gpump_context_writer *writer) {
    const uint32_t omit = m->omit_section;
    gpump_replay_entry entries[GPUMP_REPLAY_WINDOW];
    uint64_t words[GPUMP_REPLAY_WINDOW * 4], log[GPUMP_REPLAY_WINDOW * (2 + LOG_ROWS * LANES)];
    uint32_t count, i;
    uint64_t bytes = 0;
    if (!faults_is_held(m, w) || !(count = faults_entries(m, w, entries))) return;
    gpump_replay_pack(entries, count, words);
    if (omit != GPUMP_CONTEXT_REPLAY) gpump_context_put_words(writer, GPUMP_CONTEXT_REPLAY, w->index, words, count * 4);
    for (i = 0; i < count; i++) {
        const in_flight *r = faults_operands(m, w, &entries[i]);
        log_head head;
        uint32_t rows[LOG_ROWS * LANES * 2];
        lanes_operand sources[INSTRUCTION_SOURCES];
        if (!r) continue;
        head.entry = i;
        head.units = entries[i].log_units;
        head.lanes = r->active;
        head.zero = 0;
        memset(rows, 0, sizeof rows);
        memcpy(sources, r->sources, sizeof sources);
        if (is_traced(w)) /* nothing but addresses has a value */
            memcpy(rows, r->addresses, sizeof r->addresses);
        else
            copy_operands(r->instruction, sources, rows, 0);
        memcpy((uint8_t *)log + bytes, &head, sizeof head);
        memcpy((uint8_t *)log + bytes + sizeof head, rows, head.units * LANES * 8u);
        bytes += sizeof head + head.units * LANES * 8u;
    }
    if (bytes && omit != GPUMP_CONTEXT_LOG) gpump_context_put(writer, GPUMP_CONTEXT_LOG, w->index, log, bytes);
}

void faults_get_sections(machine *m, warp *w, gpump_context_reader *reader) {
    sm *s = m->sms[w->sm];
    gpump_replay_entry entries[GPUMP_REPLAY_WINDOW];
    gpump_context_section section;
    uint64_t words[GPUMP_REPLAY_WINDOW * 4], at = 0;
    uint32_t count;
    if (gpump_context_get_words(reader, GPUMP_CONTEXT_REPLAY, w->index, words, GPUMP_REPLAY_WINDOW * 4, &count) !=
        GPUMP_OK)
        return;
    gpump_replay_unpack(words, count / 4, entries);
    faults_restore(m, s, w, entries, count / 4);
    if (m->failed || gpump_context_find(reader, GPUMP_CONTEXT_LOG, w->index, &section) != GPUMP_OK) return;
    while (at + sizeof(log_head) <= section.bytes) {
        const uint8_t *from = (const uint8_t *)section.payload + at;
        log_head head;
        uint32_t rows[LOG_ROWS * LANES * 2];
        in_flight *r;
        memcpy(&head, from, sizeof head);
        if (head.entry >= count / 4 || head.units > LOG_ROWS ||
            !(r = faults_restore_operands(m, s, w, entries[head.entry].sequence))) {
            machine_fail(m, "the operand log of a context names no instruction of its replay queue");
            return;
        }
        memset(rows, 0, sizeof rows);
        memcpy(rows, from + sizeof head, head.units * LANES * 8u);
        memset(r->sources, 0, sizeof r->sources);
        if (is_traced(w))
            memcpy(r->addresses, rows, sizeof r->addresses);
        else
            copy_operands(r->instruction, r->sources, rows, 1);
        r->active = head.lanes;
        at += sizeof head + head.units * LANES * 8u;
    }
}
