/* configuration: MINIGPU, the options of `minigpu run` as key:value,key:value (runtime.h). */
#define _GNU_SOURCE
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "output.h"

#define WORDS_MAX 256
#define CUDA "CUDA programs"

static const option_row cuda_rows[] = {
    {.name = "launch-us",
     .argument = "US",
     .kind = OPTION_MICROSECONDS,
     .high = UINT64_C(1000000000),
     .offset = offsetof(configuration, launch_ns),
     .group = CUDA,
     .text = "The host needs US microseconds for a launch (3)."},
    {.name = "copy-mb-per-s",
     .argument = "N",
     .kind = OPTION_NUMBER64,
     .low = 1,
     .high = UINT64_C(1000000000),
     .offset = offsetof(configuration, copy_mb_per_s),
     .group = CUDA,
     .text = "Copies between host and device move N million bytes per second (12000)."},
    {.name = "granule-bytes",
     .argument = "N",
     .kind = OPTION_NUMBER64,
     .low = 1,
     .high = UINT64_C(1) << 30,
     .offset = offsetof(configuration, granule_bytes),
     .group = CUDA,
     .text = "Device memory is given in multiples of N bytes (1). A GPU does not notice an access a little beyond the "
             "end of an allocation: it gives whole pages."},
    {.name = "record",
     .argument = "DIR",
     .kind = OPTION_TEXT,
     .offset = offsetof(configuration, record),
     .group = CUDA,
     .text = "Writes a launch file with its buffers and results for each launch; kernels then run one by one."},
    {.name = "report",
     .kind = OPTION_FLAG,
     .offset = offsetof(configuration, report),
     .group = CUDA,
     .text = "Each machine reports its kernels on standard error when they have ended."},
    {.name = NULL}};

/* Names that papers and older versions use. */
static const char *option_name(const char *key, char *name, size_t bytes) {
    static const char *const also[][2] = {{"policy", "victims"}, {"limit_us", "deadline-us"}, {"vacate", "leave"}};
    size_t i;
    snprintf(name, bytes, "--%s", key + strspn(key, "-")); /* dashes as on a command line do no harm */
    for (i = 2; name[i]; i++)
        if (name[i] == '_') name[i] = '-';
    for (i = 0; i < sizeof also / sizeof *also; i++)
        if (!strcmp(key, also[i][0])) snprintf(name, bytes, "--%s", also[i][1]);
    return name;
}

/* Returns the word of an option and its value; NULL: it has none. The = says that an optional value follows. */
static char *word_of(const char *option, const char *value) {
    const size_t bytes = strlen(option) + (value ? strlen(value) : 0) + 2;
    char *word = option_keep((char *)malloc(bytes));
    if (word) snprintf(word, bytes, "%s%s%s", option, value ? "=" : "", value ? value : "");
    return word;
}

/* Cuts "key:value,key" into the words of a command line. The words live as long as the program. */
static int cut(const char *text, char **words) {
    char *copy = option_keep(strdup(text)), *at, *next;
    int count = 1;
    words[0] = option_keep(strdup("MINIGPU"));
    for (at = copy; at && *at && count < WORDS_MAX - 2; at = next) {
        char name[80], *colon;
        next = strchr(at, ',');
        if (next) *next++ = 0;
        if (!*at) continue; /* "sms:2," */
        colon = strchr(at, ':');
        if (colon) *colon++ = 0;
        words[count++] = *at ? word_of(option_name(at, name, sizeof name), colon) : colon; /* ":3" has no key */
    }
    return count;
}

static void defaults(configuration *c) {
    memset(c, 0, sizeof *c);
    run_arguments_default(&c->run);
    c->run.machine.gpu = "k20c";
    c->launch_ns = 3000;
    c->copy_mb_per_s = 12000;
    c->granule_bytes = 1;
}

/* Reports an output (NULL: none) that cannot be written, or that would write over a program or its source. */
static int is_unwritable(const char *path) {
    static const char *const starts[] = {"<!DOCTYPE", "<!doctype", "{", "["}; /* of an earlier page or trace */
    char start[10] = "";
    size_t i, had;
    struct stat there;
    FILE *file;
    const int is_new = path && stat(path, &there);
    if (!path || (!is_new && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))) return 0;
    if ((file = fopen(path, "rb"))) {
        had = fread(start, 1, sizeof start - 1, file);
        fclose(file);
        for (i = 0; had && i < sizeof starts / sizeof *starts; i++)
            if (!strncmp(start, starts[i], strlen(starts[i]))) break;
        if (had && i == sizeof starts / sizeof *starts) {
            fprintf(stderr, "minigpu: MINIGPU: %s is there and is neither a page nor a trace: name another file\n",
                    path);
            return 1;
        }
    }
    if ((file = fopen(path, "ab"))) return fclose(file) || (is_new && remove(path));
    return output_cannot_open("minigpu: MINIGPU", path) != 0;
}

/* Refuses the outputs of `minigpu run` that are about one launch file. */
static int is_of_run(const run_arguments *a) {
    if (!a->json && !a->csv && !a->dump && !a->races && !a->write_trace) return 0;
    return option_misuse("MINIGPU",
                         "json, csv, dump, races and write_trace are for minigpu run; record:FOLDER writes the launch "
                         "files for it",
                         NULL);
}

void configuration_read(configuration *c) {
    static option_set sets[32];
    static option_command command = {.name = "MINIGPU",
                                     .what = "how CUDA programs run on the mini-GPU",
                                     .usage = "MINIGPU=key:value,key:value ./PROGRAM",
                                     .sets = sets,
                                     .rules = run_rule_arrays,
                                     .asks = "MINIGPU=help ./PROGRAM lists the keys",
                                     .bit = COMMAND_RUN};
    const char *text = getenv("MINIGPU");
    char *words[WORDS_MAX];
    int operands, status;
    size_t i;
    for (i = 0; run_sets[i].rows; i++) sets[i] = run_sets[i];
    sets[i].rows = cuda_rows;
    defaults(c);
    if (!text || !*text) return;
    status = options_read(&command, cut(text, words), words, c, &operands);
    if (status == OPTIONS_GO_ON && operands) status = option_misuse("MINIGPU", "key:value, not", words[1]);
    if (status == OPTIONS_GO_ON && (run_arguments_finish(&c->run) || is_of_run(&c->run))) status = 2;
    if (status == OPTIONS_GO_ON && (is_unwritable(c->run.html) || is_unwritable(c->run.trace) ||
                                    output_is_output("minigpu: MINIGPU", c->run.html, c->run.trace)))
        status = 2;
    if (status != OPTIONS_GO_ON) exit(status);
    c->report |= c->run.stats; /* statistics stand below the report */
}
