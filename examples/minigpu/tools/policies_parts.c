#include "input.h"
#include "tools/policies_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gpump_once.h"

/* Structs are written as words, readable by machines of the same byte order and version. The heading has their
 * sizes. */
enum { OUTCOME_WORDS = sizeof(victim_outcome) / 8, ERROR_WORDS = sizeof(victim_drain_error) / 8, HEADING = 4096 };

static void heading(const victim_experiment *e, char text[HEADING]) {
    size_t length = (size_t)snprintf(text, HEADING,
                                     "minigpu policies part, timing model %d, sizes %d %d, requests %u, seed %" PRIu64
                                     ", regions %u, in place %u, gpu %s, config %s",
                                     GPUMP_MODEL_VERSION, OUTCOME_WORDS, ERROR_WORDS, e->requests, e->seed, e->regions,
                                     e->in_place, e->gpu ? e->gpu : "", e->config ? e->config : "");
    for (uint32_t c = 0; c < e->case_count && length < HEADING; c++)
        length += (size_t)snprintf(text + length, HEADING - length, ", %s %" PRIu64 " %" PRIu64 " %u %u",
                                   e->cases[c].policy, e->cases[c].limit_cycles, e->cases[c].late_price,
                                   e->cases[c].switch_stalls, e->cases[c].context_form);
}

void policies_parts_begin(FILE *out, const victim_experiment *e) {
    char text[HEADING];
    heading(e, text);
    fprintf(out, "%s\n", text);
}

static void write_words(FILE *out, const void *from, uint32_t words) {
    for (uint32_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, (const char *)from + 8 * i, 8);
        fprintf(out, "%s%" PRIx64, i ? " " : "", word);
    }
    fputc('\n', out);
}

void policies_parts_write(FILE *out, const victim_experiment *e, const victim_outcome *outcomes,
                          const victim_drain_error *errors, uint64_t own_cycles) {
    fprintf(out, "kernel %u %" PRIu64 "\n", e->kernel, own_cycles);
    for (uint32_t r = 0; r < e->requests; r++) {
        write_words(out, &errors[r], ERROR_WORDS);
        for (uint32_t c = 0; c < e->case_count; c++)
            write_words(out, &outcomes[(size_t)r * e->case_count + c], OUTCOME_WORDS);
    }
    fputs("end\n", out);
    fflush(out);
}

static int read_words(FILE *in, void *to, uint32_t words) {
    for (uint32_t i = 0; i < words; i++) {
        uint64_t word;
        if (fscanf(in, "%" SCNx64, &word) != 1) return -1;
        memcpy((char *)to + 8 * i, &word, 8);
    }
    return 0;
}

/* Reads the rest of a kernel. Returns NULL, or the error. */
static const char *read_kernel(policies_parts *parts, FILE *in, uint32_t k, const victim_experiment *e) {
    char word[8];
    if (k >= VICTIM_EXPERIMENT_KERNELS) return "the file names a kernel that the experiment does not have";
    if (parts->outcomes[k]) return "another part has a kernel of this file, too";
    parts->outcomes[k] = (victim_outcome *)calloc((size_t)e->requests * e->case_count, sizeof **parts->outcomes);
    parts->errors[k] = (victim_drain_error *)calloc(e->requests, sizeof **parts->errors);
    if (!parts->outcomes[k] || !parts->errors[k]) return "out of memory";
    for (uint32_t r = 0; r < e->requests; r++) {
        if (read_words(in, &parts->errors[k][r], ERROR_WORDS)) return "the file was cut off: run its shard again";
        for (uint32_t c = 0; c < e->case_count; c++)
            if (read_words(in, &parts->outcomes[k][(size_t)r * e->case_count + c], OUTCOME_WORDS))
                return "the file was cut off: run its shard again";
    }
    return fscanf(in, "%7s", word) == 1 && !strcmp(word, "end") ? NULL : "the file was cut off: run its shard again";
}

int policies_parts_read(policies_parts *parts, const char *path, const victim_experiment *e) {
    char wanted[HEADING], text[HEADING];
    FILE *in = input_open_or_say("minigpu", path);
    const char *wrong = NULL;
    uint32_t k;
    if (!in) return -1;
    heading(e, wanted);
    if (!fgets(text, sizeof text, in)) text[0] = 0;
    text[strcspn(text, "\n")] = 0;
    if (strcmp(text, wanted) != 0)
        wrong = "the file is no part of this experiment: give the options that its shard was given";
    while (!wrong && fscanf(in, " kernel %" SCNu32 " %" SCNu64, &k, &parts->own_cycles) == 2)
        wrong = read_kernel(parts, in, k, e);
    if (!wrong && !feof(in)) wrong = "the file was cut off: run its shard again";
    fclose(in);
    if (wrong) fprintf(stderr, "minigpu: %s: %s\n", path, wrong);
    return wrong ? -1 : 0;
}

void policies_parts_free(policies_parts *parts) {
    for (uint32_t k = 0; k < VICTIM_EXPERIMENT_KERNELS; k++) {
        free(parts->outcomes[k]);
        free(parts->errors[k]);
    }
}
