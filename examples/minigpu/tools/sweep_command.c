/* sweep_command: see sweep_command.h. */
#define _GNU_SOURCE
#include "tools/sweep_command.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/config.h"
#include "output.h"
#include "progress.h"
#include "tools/outputs.h"
#include "tools/report_csv.h"
#include "tools/run_command.h"
#include "tools/run_options.h"
#include "tools/sweep_table.h"

enum { PROCESSES_MAX = 256 };

typedef struct sweep_arguments {
    sweep_table table;
    const char *out, *svg, *column;
    uint32_t processes;
} sweep_arguments;

/* A process that runs one point. */
typedef struct sweep_process {
    pid_t id;
    int pipe; /* the end of its output that is read; -1: no process */
    uint32_t point;
    char *printed;
    size_t length;
} sweep_process;

typedef struct sweep {
    sweep_arguments *arguments;
    char **words; /* the words of `minigpu run`, without the varied options */
    int word_count;
    FILE *out;
    sweep_process processes[PROCESSES_MAX];
    uint32_t done, failed, running;
} sweep;

/* ==== one point ==== */

/* Returns 1 when `name` is a number of the configuration. */
static int is_number(const char *name) {
    minigpu_config config;
    minigpu_number number;
    uint32_t i;
    if (minigpu_config_preset(&config, "gtx480_shieh")) return 0;
    for (i = 0; minigpu_config_number(&config, i, &number) == 0; i++)
        if (!strcmp(number.name, name)) return 1;
    return 0;
}

/* Returns the words of `minigpu run` for a point; allocated, NULL when memory is out. */
static char **words_of(const sweep *s, uint32_t point, int *count) {
    const sweep_table *t = &s->arguments->table;
    char **words = (char **)calloc((size_t)s->word_count + t->key_count + 2, sizeof *words);
    uint32_t key;
    if (!words) return NULL;
    memcpy(words, s->words, (size_t)s->word_count * sizeof *words);
    *count = s->word_count;
    for (key = 0; key < t->key_count; key++) {
        char *word;
        const char *form = is_number(t->keys[key].name) ? "--config=%s=%s" : "--%s=%s";
        if (asprintf(&word, form, t->keys[key].name, sweep_value(t, point, key)) < 0 || !option_keep(word)) {
            free(words);
            return NULL;
        }
        words[(*count)++] = word;
    }
    return words;
}

/* Returns OPTIONS_GO_ON when a launch file can be read and the outputs are other files; an exit status. */
static int check_file(const char *path, const sweep_arguments *a) {
    const char *const outputs[] = {a->out, a->svg};
    char error[LAUNCH_ERROR_BYTES];
    launch_file launch;
    int status;
    if (launch_file_read(&launch, path, error)) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    status = outputs_spare(&launch, outputs, 2) ? 2 : OPTIONS_GO_ON;
    launch_file_free(&launch);
    return status;
}

/* Checks the options that hold for all runs: none is varied, too, and none names a file that every run would write
 * over. Returns OPTIONS_GO_ON or an exit status. */
static int check_words(const sweep *s) {
    const sweep_table *t = &s->arguments->table;
    int i;
    for (i = 1; i < s->word_count; i++) {
        const option_set *set;
        const option_row *row;
        char name[64];
        uint32_t key;
        if (strncmp(s->words[i], "--", 2) != 0) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(s->words[i] + 2, "="), s->words[i] + 2);
        if (!(row = options_find(&command_run, name, &set))) continue;
        if (row->kind == OPTION_OUTPUT || row->kind == OPTION_FOLDER)
            return option_misuse("sweep", "every run would write over the file of the run before; vary or leave out",
                                 s->words[i]);
        for (key = 0; key < t->key_count; key++)
            if (!strcmp(t->keys[key].name, row->name))
                return option_misuse("sweep", "an option is varied or given, not both; given is", s->words[i]);
    }
    return OPTIONS_GO_ON;
}

/* Checks the launch file and the options of the first point, so that an error is reported once. Returns OPTIONS_GO_ON
 * or an exit status. */
static int check_first(const sweep *s) {
    run_arguments arguments;
    int count, operands, status;
    char **words = words_of(s, 0, &count);
    if (!words) return 1;
    run_arguments_default(&arguments);
    words[count++] = (char *)"--csv"; /* as every run */
    status = options_read(&command_run, count, words, &arguments, &operands);
    if (status == OPTIONS_GO_ON && operands != 1)
        status = option_misuse("sweep", operands ? "one launch FILE; one too many is" : "which launch FILE?",
                               operands ? words[2] : NULL);
    if (status == OPTIONS_GO_ON) status = check_file(words[1], s->arguments);
    free(words);
    return status;
}

/* Starts a point. Returns 0, or -1. */
static int start(sweep *s, sweep_process *p, uint32_t point) {
    int ends[2], count;
    fflush(stdout);
    if (pipe(ends)) return -1;
    if ((p->id = fork()) < 0) return -1;
    if (p->id == 0) {
        char **words = words_of(s, point, &count);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("GPUMP_QUIET", "1", 1);
        if (words) words[count++] = (char *)"--csv";
        _exit(words ? output_status(command_run.run(&command_run, count, words), "minigpu") : 1);
    }
    close(ends[1]);
    p->pipe = ends[0];
    p->point = point;
    p->printed = NULL;
    p->length = 0;
    s->running++;
    return 0;
}

/* Reads the output of a process. Returns 1, or 0 at its end. */
static int read_more(sweep_process *p) {
    char bytes[4096], *longer;
    const ssize_t count = read(p->pipe, bytes, sizeof bytes);
    if (count <= 0) return count < 0 && errno == EINTR;
    if (!(longer = (char *)realloc(p->printed, p->length + (size_t)count + 1))) return 0;
    memcpy(longer + p->length, bytes, (size_t)count);
    p->printed = longer;
    p->length += (size_t)count;
    longer[p->length] = 0;
    return 1;
}

/* Takes the rows of a process that has ended, and writes them at once. */
static void finish(sweep *s, sweep_process *p) {
    sweep_table *t = &s->arguments->table;
    int status;
    uint32_t key;
    close(p->pipe);
    p->pipe = -1;
    s->running--;
    s->done++;
    waitpid(p->id, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && p->printed && !sweep_take(t, p->point, p->printed)) {
        fputs(t->rows[p->point], s->out);
        fflush(s->out);
    } else {
        s->failed++;
        fprintf(stderr, "minigpu: sweep: the run failed with");
        for (key = 0; key < t->key_count; key++)
            fprintf(stderr, " %s=%s", t->keys[key].name, sweep_value(t, p->point, key));
        fputc('\n', stderr);
    }
    free(p->printed);
}

/* ==== all points ==== */

/* Waits until a process has printed something or ended. */
static void wait_for_one(sweep *s) {
    struct pollfd polled[PROCESSES_MAX];
    uint32_t i;
    for (i = 0; i < s->arguments->processes; i++) polled[i] = (struct pollfd){s->processes[i].pipe, POLLIN, 0};
    if (poll(polled, s->arguments->processes, -1) < 0) return;
    for (i = 0; i < s->arguments->processes; i++)
        if (polled[i].fd >= 0 && polled[i].revents && !read_more(&s->processes[i])) finish(s, &s->processes[i]);
}

/* Runs every point that has no rows yet. Returns 0, or -1 when a process cannot be started. */
static int run_points(sweep *s, progress *shown) {
    const sweep_table *t = &s->arguments->table;
    uint32_t point = 0, i;
    char what[64];
    for (i = 0; i < PROCESSES_MAX; i++) s->processes[i].pipe = -1;
    for (;;) {
        for (i = 0; i < s->arguments->processes; i++) {
            while (point < t->points && t->rows[point]) point++;
            if (s->processes[i].pipe >= 0 || point == t->points) continue;
            if (start(s, &s->processes[i], point++)) return -1;
        }
        if (!s->running) return 0;
        snprintf(what, sizeof what, "%u of %u points", s->done, t->points);
        progress_show(shown, (double)s->done / t->points, what);
        wait_for_one(s);
    }
}

/* Rewrites the table in the order of the points; until then rows are in the order in which runs ended. Returns an exit
 * status. */
static int rewrite(const sweep_arguments *a) {
    char path[4200];
    FILE *out;
    uint32_t i;
    if (snprintf(path, sizeof path, "%s.new", a->out) >= (int)sizeof path || !(out = fopen(path, "w")))
        return output_cannot_open("minigpu", a->out), 2;
    sweep_write_heading(&a->table, out);
    for (i = 0; i < a->table.points; i++)
        if (a->table.rows[i]) fputs(a->table.rows[i], out);
    if (output_close(out, "minigpu", path)) return 1;
    return rename(path, a->out) ? output_cannot_open("minigpu", a->out), 2 : 0;
}

/* Opens the table. The rows of an earlier sweep stay. Returns an exit status. */
static int open_table(sweep *s) {
    sweep_arguments *a = s->arguments;
    uint32_t i;
    if (access(a->out, F_OK) == 0 && sweep_read(&a->table, a->out)) return 2;
    for (i = 0; i < a->table.points; i++) s->done += a->table.rows[i] != NULL;
    if (s->done && !options_quiet())
        fprintf(stderr, "minigpu: sweep: %u of %u points are in %s already\n", s->done, a->table.points, a->out);
    if (rewrite(a)) return 2; /* drops a line that was cut off */
    s->out = fopen(a->out, "a");
    return s->out ? 0 : (output_cannot_open("minigpu", a->out), 2);
}

static int run_sweep(sweep *s) {
    sweep_arguments *a = s->arguments;
    progress shown;
    int status = open_table(s);
    if (status) return status;
    progress_begin(&shown, "minigpu sweep");
    progress_watch(
        &shown, "the rows of the points that have ended are in the file of --out; run the command again to continue");
    if (run_points(s, &shown)) {
        fprintf(stderr, "minigpu: sweep: cannot start a process: %s\n", strerror(errno));
        status = 1;
    }
    progress_unwatch(&shown);
    if (output_close(s->out, "minigpu", a->out)) return 1;
    if ((status |= rewrite(a)) != 0) return status;
    if (a->svg && sweep_draw(&a->table, a->column, a->svg)) return 2;
    if (s->failed) fprintf(stderr, "minigpu: sweep: %u of %u runs failed\n", s->failed, a->table.points);
    return s->failed ? 1 : 0;
}

/* ==== options ==== */

static int read_vary(const option_row *row, const char *text, void *target) {
    sweep_arguments *a = (sweep_arguments *)target;
    const option_set *set;
    const option_row *option;
    const char *wrong = sweep_add_key(&a->table, text), *name;
    (void)row;
    if (wrong) return option_misuse("sweep", wrong, text), -1;
    name = a->table.keys[a->table.key_count - 1].name;
    option = options_find(&command_run, name, &set);
    if ((option && option->argument && !strcmp(option->name, name)) || is_number(name)) return 0;
    return option_misuse("sweep", "neither an option of run with a value nor a number of --list config is", name), -1;
}

#define OPTIONS "Options"

static const option_row sweep_rows[] = {
    {.name = "vary",
     .argument = "KEY=VALUE,...",
     .kind = OPTION_READ,
     .read = read_vary,
     .many = 1,
     .group = OPTIONS,
     .samples = "sms=1,2,4|l1_bytes=16384,32768|victims=dual,chimera",
     .text = "Runs with each of these values of an option of run, such as sms=1,2,4, or of a number of minigpu --list "
             "config, such as l1_bytes=16384,32768. May be repeated: then every combination runs."},
    {.name = "out",
     .argument = "TABLE.csv",
     .kind = OPTION_OUTPUT,
     .offset = offsetof(sweep_arguments, out),
     .group = OPTIONS,
     .text = "Writes the table there, as run --csv prints it, with the varied values in front. Points whose rows are "
             "there already are not run again."},
    {.name = "svg",
     .argument = "OUT.svg",
     .kind = OPTION_OUTPUT,
     .offset = offsetof(sweep_arguments, svg),
     .group = OPTIONS,
     .text = "Draws a column over the values of the first key, a line per kernel and combination of "
             "the others."},
    {.name = "column",
     .argument = "NAME",
     .kind = OPTION_TEXT,
     .names = report_csv_column,
     .offset = offsetof(sweep_arguments, column),
     .group = OPTIONS,
     .text = "The column that --svg draws (cycles)."},
    {.name = "processes",
     .argument = "N",
     .kind = OPTION_NUMBER,
     .low = 1,
     .high = PROCESSES_MAX,
     .offset = offsetof(sweep_arguments, processes),
     .group = OPTIONS,
     .text = "N points run at the same time (default: one per processor)."},
    {.name = NULL}};
static const option_set sweep_sets[] = {{sweep_rows, 0}, {NULL, 0}};
static const option_rule sweep_rules[] = {{"column", "svg", "--column needs --svg OUT.svg, which draws it"},
                                          {NULL, NULL, NULL}};
static const option_rule *const sweep_rule_arrays[] = {sweep_rules, NULL};

/* Splits a command line into words of sweep's own options and words for run. */
static int split(const option_command *command, int argc, char **argv, char **own, char **other, int *others) {
    int i, count = 1;
    own[0] = argv[0];
    other[0] = (char *)"run";
    *others = 1;
    for (i = 1; i < argc; i++) {
        const option_set *set;
        char name[64];
        const option_row *row;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(argv[i], "="), argv[i]);
        row = !strncmp(name, "--", 2) ? options_find(command, name + 2, &set) : NULL;
        if (!row && strcmp(name, "-h") != 0) {
            other[(*others)++] = argv[i];
            continue;
        }
        own[count++] = argv[i];
        if (row && row->argument && !strchr(argv[i], '=') && i + 1 < argc) own[count++] = argv[++i];
    }
    return count;
}

static int sweep_run(const option_command *command, int argc, char **argv) {
    static sweep_arguments a;
    static sweep s;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    char **own = (char **)calloc(2 * ((size_t)argc + 1), sizeof *own);
    int operands, count, status;
    if (!own) return 1;
    a.column = "cycles";
    a.processes = processors > 1 ? (uint32_t)(processors < PROCESSES_MAX ? processors : PROCESSES_MAX) : 1;
    s.arguments = &a;
    s.words = own + argc + 1;
    count = split(command, argc, argv, own, s.words, &s.word_count);
    status = options_read(command, count, own, &a, &operands);
    if (status == OPTIONS_GO_ON && (!a.table.key_count || !a.out))
        status = option_misuse("sweep", "--vary KEY=VALUE,... and --out TABLE.csv are needed", NULL);
    if (status == OPTIONS_GO_ON && sweep_make(&a.table))
        status = option_misuse("sweep", "at most 100000 combinations of values", NULL);
    if (status == OPTIONS_GO_ON && sweep_column(a.column) == UINT32_MAX) status = 2;
    if (status == OPTIONS_GO_ON) status = check_words(&s);
    if (status == OPTIONS_GO_ON) status = check_first(&s);
    if (status == OPTIONS_GO_ON) status = run_sweep(&s);
    sweep_free(&a.table);
    free(own);
    return status;
}

const option_command sweep_command = {
    .name = "sweep",
    .what = "a launch file with every combination of values of some options, as a table",
    .usage = "minigpu sweep FILE --vary KEY=VALUE,... --out TABLE.csv [options]",
    .operands = "FILE|launch file",
    .sets = sweep_sets,
    .rules = sweep_rule_arrays,
    .notes = "Every option of minigpu run may be given, too, and holds for all runs.\n"
             "exit status: 0 done, 1 a run failed (its rows are left out), 2 bad input, 130 interrupted (Ctrl-C; the "
             "same command goes on)",
    .run = sweep_run,
};
