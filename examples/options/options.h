/* options: the options of a command as tables. Parsing, help, completion and manual pages use the tables.
 *
 * An option_row describes one option. Rows are in arrays. An array belongs to one room or part of a program, ends with
 * a row without a name, and fills one struct. A command composes its options from several arrays:
 *
 *   static const option_set run_sets[] = {{run_rows, 0}, {fault_rows, offsetof(run_arguments, faults)}, {NULL, 0}};
 *   static const option_command run = {.name = "run", .usage = "run FILE [options]", .sets = run_sets, ...};
 *   int operands, status = options_read(&run, argc, argv, &arguments, &operands);
 *   if (status != OPTIONS_GO_ON) return status;
 *
 * Rules say which options exclude or need each other, and why. A part has its rules beside its rows. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The index-th name of a list, NULL past its end. */
typedef const char *(*option_names)(uint32_t index);

/* The argument of an option, and the value that is stored at row->offset. */
typedef enum option_kind {
    OPTION_FLAG,         /* no argument; uint32_t 1 */
    OPTION_CLEAR,        /* no argument; uint32_t 0 */
    OPTION_NUMBER,       /* whole number from low to high; uint32_t */
    OPTION_NUMBER64,     /* the same; uint64_t */
    OPTION_MICROSECONDS, /* microseconds, fractions allowed, low and high in nanoseconds; uint64_t nanoseconds */
    OPTION_CHOICE,       /* one of names; uint32_t index */
    OPTION_NAME,         /* one of names; const char *, that text */
    OPTION_TEXT,         /* any text; const char * */
    OPTION_TEXTS,        /* any text, appended to an option_texts; high: how many at most */
    OPTION_INPUT,        /* a file that is read; const char * */
    OPTION_OUTPUT,       /* a file that is written; const char * */
    OPTION_FOLDER,       /* a folder; const char * */
    OPTION_READ,         /* row->read stores it */
    OPTION_KINDS
} option_kind;

#define OPTION_TEXTS_MAX 1024u
typedef struct option_texts {
    uint32_t count;
    const char *texts[OPTION_TEXTS_MAX];
} option_texts;

typedef struct option_row option_row;
/* Reads a value into the struct of the row's array. Returns 0, or -1 after a report on stderr. */
typedef int (*option_reader)(const option_row *row, const char *text, void *target);

struct option_row {
    const char *name;     /* without "--" */
    const char *argument; /* as help shows it; NULL: none */
    option_kind kind;
    size_t offset;       /* in the struct of the array */
    uint64_t low, high;  /* NUMBER, NUMBER64, MICROSECONDS */
    option_names names;  /* CHOICE, NAME: every value; other texts: words to complete with, or NULL */
    option_reader read;  /* READ */
    const char *samples; /* TEXT, READ: valid values of every form, with | between them; NULL: none without context */
    const char *missing; /* the value of an option without its argument, which then follows a "="; NULL: required */
    const char *group;   /* heading in the help */
    const char *text;    /* the option's effect. %N stands for the names. Old names: NULL */
    const char *now;     /* old names, accepted for one version with a note: the option that replaces it */
    uint32_t commands;   /* bits of the commands that take it; 0: every command that has the array */
    uint32_t often;      /* 1: help shows it first, above the groups */
    uint32_t many;       /* 1: may be repeated */
};

/* An array of rows, and where its struct lies in the command's arguments. */
typedef struct option_set {
    const option_row *rows;
    size_t target;
} option_set;

/* Options that do not go together: all terms of `given` are true, and not all terms of `needs` are (NULL: no option
 * helps). Spaces separate terms, and | separates the alternatives of a term:
 *
 *   link            the option is given, with another value than none
 *   link=uvm595     its value, or one of its values with commas or colons between them, is this
 *   preempt:        its value has a colon
 *
 * The first rule of a command that applies is reported. An array of rules ends with one without `why`. */
typedef struct option_rule {
    const char *given, *needs, *why;
} option_rule;

typedef struct option_command {
    const char *name, *what;         /* what: one line for the list of commands */
    const char *usage;               /* lines, each begins with the command's name */
    const char *operands;            /* "FILE|text\n" for each operand; NULL: none */
    const option_set *sets;          /* ends with one without rows */
    const option_rule *const *rules; /* arrays; ends with NULL; NULL: none */
    const char *notes;               /* prose below the options; NULL: none */
    const char *asks;                /* a sentence: how one asks for the options; NULL: by PROGRAM NAME --help */
    uint32_t bit;                    /* in option_row.commands */
    int (*run)(const struct option_command *command, int argc, char **argv); /* argv[0]: the command's name */
} option_command;

/* A list for --list NAME [ARGUMENT]. print returns an exit status; argument may be NULL. */
typedef struct option_list {
    const char *name, *what;
    int (*print)(const char *argument);
} option_list;

typedef struct option_program {
    const char *name;
    const option_command *const *commands; /* ends with NULL */
    const option_list *lists;              /* ends with one without a name; "options" and "rules" are built in */
} option_program;

/* Runs the command that argv names. Understands help [COMMAND], --help, -h, --version, --list and --completion. Returns
 * the exit status: 2 for bad input. */
int options_main(const option_program *program, int argc, char **argv);

#define OPTIONS_GO_ON (-1)
/* Reads a command's options into its arguments, and checks its rules. Operands are moved to argv[1], argv[2], ...;
 * *operands is their number. Returns OPTIONS_GO_ON, or the exit status after help (0) or a report (2). */
int options_read(const option_command *command, int argc, char **argv, void *arguments, int *operands);
/* 1: --quiet was given to this program, or GPUMP_QUIET is set: neither progress nor notes are shown. */
int options_quiet(void);

/* ---- for readers of values: each returns 0, or -1 after a report ---- */

int option_number(const char *option, const char *text, uint64_t low, uint64_t high, uint64_t *value);
/* A number that may have a fraction and an exponent of ten; -1: the text is none, and nothing is reported. */
int option_decimal(const char *text, double *value);
/* N or N:M, both from 1; *interval stays where there is no M. -1: the text is neither, and nothing is reported. */
int option_every(const char *text, uint64_t *first, uint64_t *interval);
/* *ns is whole nanoseconds, from low_ns to high_ns. */
int option_microseconds(const char *option, const char *text, uint64_t low_ns, uint64_t high_ns, uint64_t *ns);
/* *index is which of the names. */
int option_choice(const char *option, const char *text, option_names names, uint32_t *index);
/* Keeps an allocated text until the program ends. Returns the text, or NULL: it was NULL, or memory is out. */
char *option_keep(char *text);
/* I/N with 0 <= I < N. */
int option_shard(const char *option, const char *text, uint32_t *shard, uint32_t *shards);
/* Reports an error in a command's line, and how to learn more; `value` may be NULL. Returns 2. */
int option_misuse(const char *command, const char *what, const char *value);

/* ---- what the tables say ---- */

/* The help of one command, of at most 99 columns. */
void options_help(const option_command *command, FILE *out);
/* One line per option, columns with tabs between them: command, --name, kind, argument, low, high, values, missing,
 * group, replacement of an old name. */
void options_table(const option_command *command, FILE *out);
/* One line per rule: command, given, needs, why. */
void options_rules(const option_command *command, FILE *out);
/* Writes a completion script for "bash" or "zsh". Returns 0, or -1: there is no such shell. */
int options_completion(const option_program *program, const char *shell, FILE *out);
/* The option of that name that a command takes, and its set; NULL. */
const option_row *options_find(const option_command *command, const char *name, const option_set **set);
/* A search for the name that is nearest to `text`. best is NULL when no name is near. */
typedef struct option_guess {
    const char *text, *best;
    uint32_t distance;
} option_guess;
void option_guess_begin(option_guess *guess, const char *text);
void option_guess_try(option_guess *guess, const char *name);
/* Returns the i-th row that a command takes, options of all commands last; NULL past the last. */
const option_row *options_row(const option_command *command, uint32_t index, const option_set **set);

#endif
