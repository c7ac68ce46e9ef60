/* options: reads command lines by the tables of options.h. */
#define _GNU_SOURCE
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gpump_once.h"
#include "output.h"

static const char *program_name = "minigpu"; /* the first word of reports */
static const option_program *running;        /* NULL: a command is called without a program */

int options_quiet(void) {
    const char *quiet = getenv("GPUMP_QUIET");
    return quiet && *quiet;
}

/* ==== guesses ==== */

/* Returns the letters to insert, delete or replace to change one text into the other (Levenshtein). */
static uint32_t edit_distance(const char *a, const char *b) {
    uint32_t row[64], i, j;
    const uint32_t length = (uint32_t)strlen(b);
    if (length >= 64) return UINT32_MAX;
    for (j = 0; j <= length; j++) row[j] = j;
    for (i = 1; *a; a++, i++) {
        uint32_t corner = row[0];
        row[0] = i;
        for (j = 1; j <= length; j++) {
            const uint32_t above = row[j];
            uint32_t least = corner + (*a != b[j - 1]);
            if (above + 1 < least) least = above + 1;
            if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
            row[j] = least;
            corner = above;
        }
    }
    return row[length];
}

void option_guess_begin(option_guess *guess, const char *text) {
    guess->text = text;
    guess->best = NULL;
    guess->distance = 1 + (uint32_t)strlen(text) / 3; /* a more distant name is no guess */
}

void option_guess_try(option_guess *guess, const char *name) {
    const uint32_t distance = edit_distance(guess->text, name);
    if (distance > guess->distance || (guess->best && distance == guess->distance)) return;
    guess->distance = distance;
    guess->best = name;
}

/* ==== values ==== */

int option_number(const char *option, const char *text, uint64_t low, uint64_t high, uint64_t *value) {
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && *value >= low && *value <= high) return 0;
    fprintf(stderr, "%s: %s needs a number from %" PRIu64 " to %" PRIu64 ", not \"%s\"\n", program_name, option, low,
            high, text);
    return -1;
}

int option_decimal(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end == text || *end || text[strspn(text, "0123456789.eE+-")] ? -1 : 0; /* 0x10, nan and inf are none */
}

int option_every(const char *text, uint64_t *first, uint64_t *interval) {
    char *end;
    errno = 0;
    *first = strtoull(text, &end, 10);
    if (end == text || errno || *text == '-' || !*first) return -1;
    if (!*end) return 0;
    if (*end != ':' || end[1] < '1' || end[1] > '9') return -1;
    *interval = strtoull(end + 1, &end, 10);
    return *end || errno ? -1 : 0;
}

int option_microseconds(const char *option, const char *text, uint64_t low_ns, uint64_t high_ns, uint64_t *ns) {
    const double low = (double)low_ns / 1000, high = (double)high_ns / 1000;
    double us;
    if (!option_decimal(text, &us) && us >= low && us <= high) {
        *ns = (uint64_t)(us * 1000);
        return 0;
    }
    fprintf(stderr, "%s: %s needs microseconds from %g to %.15g, not \"%s\"\n", program_name, option, low, high, text);
    return -1;
}

int option_choice(const char *option, const char *text, option_names names, uint32_t *index) {
    uint32_t i;
    for (i = 0; names(i); i++)
        if (strcmp(names(i), text) == 0) {
            *index = i;
            return 0;
        }
    fprintf(stderr, "%s: %s needs ", program_name, option);
    for (i = 0; names(i); i++) fprintf(stderr, "%s%s", i == 0 ? "" : names(i + 1) ? ", " : " or ", names(i));
    fprintf(stderr, ", not \"%s\"\n", text);
    return -1;
}

char *option_keep(char *text) {
    typedef struct kept {
        struct kept *next;
        char *text;
    } kept;
    static kept *all;
    kept *one = text ? (kept *)malloc(sizeof *one) : NULL;
    if (!one) {
        free(text);
        return NULL;
    }
    one->next = all;
    one->text = text;
    all = one;
    return text;
}

int option_shard(const char *option, const char *text, uint32_t *shard, uint32_t *shards) {
    char extra;
    if (sscanf(text, "%" SCNu32 "/%" SCNu32 "%c", shard, shards, &extra) == 2 && *shard < *shards) return 0;
    fprintf(stderr, "%s: %s: a shard is I/N with 0 <= I < N, not \"%s\"\n", program_name, option, text);
    return -1;
}

static const char *how_to_ask; /* of the command that was read last; NULL: by --help */

int option_misuse(const char *command, const char *what, const char *value) {
    if (what)
        fprintf(stderr, "%s: %s: %s%s%s%s\n", program_name, command, what, value ? " \"" : "", value ? value : "",
                value ? "\"" : "");
    if (how_to_ask)
        fprintf(stderr, "%s\n", how_to_ask);
    else
        fprintf(stderr, "%s %s --help lists its options\n", program_name, command);
    return 2;
}

static int append(const option_row *row, const char *option, const char *text, option_texts *list) {
    if (list->count < row->high && list->count < OPTION_TEXTS_MAX) return list->texts[list->count++] = text, 0;
    fprintf(stderr, "%s: too many %s: at most %" PRIu64 "; the last is \"%s\"\n", program_name, option, row->high,
            text);
    return -1;
}

/* Stores a value as the row says. `option`: the name as typed. Returns 0, or -1 after a report. */
static int store(const option_row *row, const char *option, const char *text, void *target) {
    char *place = (char *)target + row->offset;
    uint64_t number = 0;
    uint32_t index = 0;
    switch (row->kind) {
    case OPTION_FLAG: index = 1; break;
    case OPTION_CLEAR: break;
    case OPTION_NUMBER:
        if (option_number(option, text, row->low, row->high, &number)) return -1;
        index = (uint32_t)number;
        break;
    case OPTION_NUMBER64:
        if (option_number(option, text, row->low, row->high, &number)) return -1;
        memcpy(place, &number, sizeof number);
        return 0;
    case OPTION_MICROSECONDS:
        if (option_microseconds(option, text, row->low, row->high, &number)) return -1;
        memcpy(place, &number, sizeof number);
        return 0;
    case OPTION_CHOICE:
        if (option_choice(option, text, row->names, &index)) return -1;
        break;
    case OPTION_READ: return row->read(row, text, target);
    case OPTION_TEXTS: return append(row, option, text, (option_texts *)place);
    case OPTION_NAME:
        if (option_choice(option, text, row->names, &index)) return -1; /* and is then stored like a text: */
        /* fall through */
    default: memcpy(place, &text, sizeof text); return 0;
    }
    memcpy(place, &index, sizeof index);
    return 0;
}

/* ==== options ==== */

static const option_row common_rows[] = {
    {.name = "help", .kind = OPTION_FLAG, .group = "Help", .text = "Prints this text; -h does so, too."},
    {.name = "quiet",
     .kind = OPTION_FLAG,
     .group = "Help",
     .text = "Prints errors and what is asked for by name, such as --json or --stats: no progress, no notes, no report "
             "of a run. "
             "GPUMP_QUIET=1 does so for every command."},
    {.name = NULL}};
static const option_set common_set = {common_rows, 0};

const option_row *options_row(const option_command *command, uint32_t index, const option_set **set) {
    const option_set *s;
    const option_row *row;
    for (s = command->sets; s && s->rows; s++)
        for (row = s->rows; row->name; row++)
            if ((!row->commands || row->commands & command->bit) && index-- == 0) {
                *set = s;
                return row;
            }
    *set = &common_set;
    return index < sizeof common_rows / sizeof *common_rows - 1 ? &common_rows[index] : NULL;
}

const option_row *options_find(const option_command *command, const char *name, const option_set **set) {
    const option_row *row, *found = NULL;
    const option_set *s;
    uint32_t i, similar = 0;
    for (i = 0; (row = options_row(command, i, &s)) != NULL; i++) {
        if (!strcmp(row->name, name)) return *set = s, row;
        if (row->now || strncmp(row->name, name, strlen(name))) continue;
        similar++;
        found = row;
        *set = s;
    }
    return similar == 1 ? found : NULL; /* an unambiguous beginning of a name is accepted */
}

typedef struct given_option {
    const option_row *row;
    const char *text;
} given_option;

/* The state of reading a command line. */
typedef struct reader {
    const option_command *command;
    void *arguments;
    given_option *given;
    uint32_t given_count;
    int at, argc;
    char **argv;
} reader;

/* Returns a command that takes an option of exactly this name, or NULL. */
static const option_command *command_with(const char *name) {
    const option_command *const *c;
    const option_set *set;
    const option_row *row;
    for (c = running ? running->commands : NULL; c && *c; c++)
        if ((row = options_find(*c, name, &set)) != NULL && !strcmp(row->name, name)) return *c;
    return NULL;
}

static int unknown_option(const reader *r, const char *name, const char *said) {
    static const char *const instead[] = {"list", "version", "completion"}; /* of a command */
    const option_command *other = command_with(name);
    option_guess guess;
    const option_set *set;
    const option_row *row;
    uint32_t i;
    if (other) {
        fprintf(stderr, "%s: %s does not take --%s; %s does\n", program_name, r->command->name, name, other->name);
        return option_misuse(r->command->name, NULL, NULL);
    }
    for (i = 0; i < sizeof instead / sizeof *instead; i++) {
        if (strcmp(name, instead[i])) continue;
        fprintf(stderr, "%s: --%s stands in a command's place: %s --%s\n", program_name, name, program_name, name);
        return 2;
    }
    option_guess_begin(&guess, name);
    for (i = 0; (row = options_row(r->command, i, &set)) != NULL; i++) option_guess_try(&guess, row->name);
    fprintf(stderr, "%s: %s: there is no option %s", program_name, r->command->name, said);
    row = guess.best ? options_find(r->command, guess.best, &set) : NULL;
    if (row) fprintf(stderr, "; did you mean --%s?", row->now ? row->now : row->name);
    fputc('\n', stderr);
    return option_misuse(r->command->name, NULL, NULL);
}

/* Returns the row that an old name stands for, or the old name's own row when it has a reader. */
static const option_row *renamed(const reader *r, const option_row *row, const option_set **set) {
    if (!row->now) return row;
    if (!options_quiet())
        fprintf(stderr, "%s: %s: --%s is now --%s; the old name goes with the next version\n", program_name,
                r->command->name, row->name, row->now);
    return row->read ? row : options_find(r->command, row->now, set);
}

/* Says so when an option that has one value is given again with another one, of which the last counts. */
static void note_repeated(const reader *r, const option_row *row, const char *text) {
    uint32_t i = r->given_count;
    while (i && r->given[i - 1].row != row) i--;
    if (i && strcmp(r->given[i - 1].text, text))
        fprintf(stderr, "%s: %s: --%s is given twice: %s counts, %s does not\n", program_name, r->command->name,
                row->name, text, r->given[i - 1].text);
}

/* Reads the option at r->at, and its value. Returns OPTIONS_GO_ON, or an exit status. */
static int read_option(reader *r) {
    char *said = r->argv[r->at], *equals = strchr(said, '='), name[64], option[72];
    const char *text = equals ? equals + 1 : NULL;
    const option_set *set;
    const option_row *row;
    const size_t length = equals ? (size_t)(equals - said) : strlen(said);
    if (!strcmp(said, "-h")) return options_help(r->command, stdout), 0;
    if (said[1] != '-' || length - 2 >= sizeof name) return unknown_option(r, "", said);
    memcpy(name, said + 2, length - 2);
    name[length - 2] = 0;
    if (!(row = options_find(r->command, name, &set))) return unknown_option(r, name, said);
    row = renamed(r, row, &set);
    if (row == &common_rows[0]) return options_help(r->command, stdout), 0;
    if (row == &common_rows[1]) return setenv("GPUMP_QUIET", "1", 1) ? 2 : OPTIONS_GO_ON;
    snprintf(option, sizeof option, "--%s", row->name);
    if (!row->argument && text) return option_misuse(r->command->name, "an option without a value is", option);
    if (row->argument && !text && row->missing) text = row->missing;
    if (row->argument && !text && ++r->at < r->argc) text = r->argv[r->at];
    if (row->argument && !text) {
        fprintf(stderr, "%s: %s: %s needs a value: %s\n", program_name, r->command->name, option, row->argument);
        return option_misuse(r->command->name, NULL, NULL);
    }
    if (store(row, option, text, (char *)r->arguments + set->target)) return 2;
    if (row->argument && !row->many && row->kind != OPTION_TEXTS && !options_quiet()) note_repeated(r, row, text);
    r->given[r->given_count].row = row;
    r->given[r->given_count++].text = text ? text : "";
    return OPTIONS_GO_ON;
}

/* ==== rules ==== */

/* Returns 1 when `value` is in `text`, whose values have commas or colons between them. */
static int has_value(const char *text, const char *value, size_t length) {
    for (;; text++) {
        const size_t piece = strcspn(text, ",:");
        if (piece == length && !strncmp(text, value, length)) return 1;
        text += piece;
        if (!*text) return 0;
    }
}

/* Returns 1 when an alternative of a term, of this length, is true. */
static int is_given(const reader *r, const char *term, size_t length) {
    const size_t name = strcspn(term, "=:|") < length ? strcspn(term, "=:|") : length;
    uint32_t i;
    for (i = 0; i < r->given_count; i++) {
        const given_option *g = &r->given[i];
        const char *called = g->row->now ? g->row->now : g->row->name;
        if (strlen(called) != name || strncmp(called, term, name)) continue;
        if (name == length && strcmp(g->text, "none")) return 1;
        if (name < length && term[name] == ':' && strchr(g->text, ':')) return 1;
        if (name < length && term[name] == '=' && has_value(g->text, term + name + 1, length - name - 1)) return 1;
    }
    return 0;
}

/* Returns 1 when every term has a true alternative. */
static int are_given(const reader *r, const char *terms) {
    int one = 0;
    while (*terms) {
        const size_t length = strcspn(terms, " |");
        one |= is_given(r, terms, length);
        terms += length;
        if (*terms != '|') {
            if (!one) return 0;
            one = 0;
        }
        terms += *terms != 0;
    }
    return 1;
}

/* Returns why the options do not go together, or NULL. */
static const char *broken_rule(const reader *r) {
    const option_rule *const *array, *rule;
    for (array = r->command->rules; array && *array; array++)
        for (rule = *array; rule->why; rule++)
            if (are_given(r, rule->given) && !(rule->needs && are_given(r, rule->needs))) return rule->why;
    return NULL;
}

int options_read(const option_command *command, int argc, char **argv, void *arguments, int *operands) {
    reader r = {command, arguments, NULL, 0, 1, argc, argv};
    int status = OPTIONS_GO_ON, count = 0, all = 0;
    const char *why;
    how_to_ask = command->asks;
    r.given = (given_option *)calloc((size_t)argc + 1, sizeof *r.given);
    if (!r.given) return 1;
    for (; r.at < r.argc && status == OPTIONS_GO_ON; r.at++) {
        char *word = argv[r.at];
        if (!all && !strcmp(word, "--"))
            all = 1;
        else if (all || *word != '-' || !word[1])
            argv[++count] = word;
        else
            status = read_option(&r);
    }
    if (status == OPTIONS_GO_ON && (why = broken_rule(&r)) != NULL) status = option_misuse(command->name, why, NULL);
    free(r.given);
    *operands = count;
    return status;
}

/* ==== programs ==== */

static const option_command *find_command(const option_program *program, const char *name) {
    const option_command *const *c;
    for (c = program->commands; *c; c++)
        if (!strcmp((*c)->name, name)) return *c;
    return NULL;
}

static int print_usage(const option_program *program, FILE *out) {
    const option_command *const *c;
    const option_list *list;
    fprintf(out, "usage: %s COMMAND ... (%s help COMMAND says more)\n", program->name, program->name);
    for (c = program->commands; *c; c++) fprintf(out, "  %-10s %s\n", (*c)->name, (*c)->what);
    fprintf(out, "Without a command:\n");
    fprintf(out, "  %-25s %s\n", "--help", "Prints this text; -h does so, too.");
    fprintf(out, "  %-25s %s\n", "--version", "Prints the version, and that of the timing model.");
    for (list = program->lists; list && list->name; list++) {
        char label[40];
        snprintf(label, sizeof label, "--list %s", list->name);
        fprintf(out, "  %-25s %s\n", label, list->what);
    }
    fprintf(out, "  %-25s %s\n", "--list options [COMMAND]",
            "Options, one per line, with the kind and range of values.");
    fprintf(out, "  %-25s %s\n", "--list rules [COMMAND]", "Options that exclude or need each other, and why.");
    fprintf(out, "  %-25s %s\n", "--completion SHELL", "Prints a completion script for bash or zsh.");
    return 0;
}

static int unknown_command(const option_program *program, const char *name) {
    static const char *const others[] = {"help", "--help", "--version", "--list", "--completion", NULL};
    const option_command *const *c;
    const char *const *other;
    option_guess guess;
    option_guess_begin(&guess, name);
    for (c = program->commands; *c; c++) option_guess_try(&guess, (*c)->name);
    for (other = others; *other; other++) option_guess_try(&guess, *other);
    fprintf(stderr, "%s: no %s is named \"%s\"", program->name, *name == '-' ? "option" : "command", name);
    if (guess.best) fprintf(stderr, "; did you mean %s?", guess.best);
    fputc('\n', stderr);
    print_usage(program, stderr);
    return 2;
}

/* name: NULL when --list has no argument. */
static int unknown_list(const option_program *program, const char *name) {
    const option_list *list;
    option_guess guess;
    option_guess_begin(&guess, name ? name : "");
    fprintf(stderr, "%s: --list needs ", program->name);
    for (list = program->lists; list && list->name; list++) {
        fprintf(stderr, "%s, ", list->name);
        option_guess_try(&guess, list->name);
    }
    option_guess_try(&guess, "options");
    option_guess_try(&guess, "rules");
    fprintf(stderr, "options or rules%s%s%s", name ? ", not \"" : "", name ? name : "", name ? "\"" : "");
    if (name && guess.best) fprintf(stderr, "; did you mean %s?", guess.best);
    fputc('\n', stderr);
    return 2;
}

static int print_list(const option_program *program, const char *name, const char *argument) {
    const int is_options = name && !strcmp(name, "options"), is_rules = name && !strcmp(name, "rules");
    const option_list *list;
    const option_command *const *c;
    if ((is_options || is_rules) && argument && !find_command(program, argument))
        return unknown_command(program, argument);
    for (c = program->commands; (is_options || is_rules) && *c; c++)
        if (!argument || !strcmp((*c)->name, argument)) (is_rules ? options_rules : options_table)(*c, stdout);
    if (is_options || is_rules) return 0;
    for (list = program->lists; name && list && list->name; list++)
        if (!strcmp(list->name, name)) return list->print(argument);
    return unknown_list(program, name);
}

static int run_program(const option_program *program, int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : NULL, *next = argc > 2 ? argv[2] : NULL;
    const option_command *command = word ? find_command(program, word) : NULL;
    if (command) return command->run(command, argc - 1, argv + 1);
    if (!word) return print_usage(program, stderr), 2;
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        if (!next) return print_usage(program, stdout);
        if (!(command = find_command(program, next))) return unknown_command(program, next);
        options_help(command, stdout);
        return 0;
    }
    if (!strcmp(word, "--version")) {
        printf("%s, gpump %d.%d.%d, timing model %d\n", program->name, GPUMP_VERSION_MAJOR, GPUMP_VERSION_MINOR,
               GPUMP_VERSION_PATCH, GPUMP_MODEL_VERSION);
        return 0;
    }
    if (!strcmp(word, "--list")) return print_list(program, next, argc > 3 ? argv[3] : NULL);
    if (!strcmp(word, "--completion")) {
        if (next && !options_completion(program, next, stdout)) return 0;
        fprintf(stderr, "%s: --completion needs bash or zsh\n", program->name);
        return 2;
    }
    return unknown_command(program, word);
}

int options_main(const option_program *program, int argc, char **argv) {
    program_name = program->name;
    running = program;
    return output_status(run_program(program, argc, argv), program->name);
}
