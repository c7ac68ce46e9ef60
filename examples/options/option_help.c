/* option_help: help, lists and completion, from the tables of options.h. */
#include <inttypes.h>
#include <string.h>

#include "options.h"

#define COLUMNS 99u     /* the widest line of help */
#define TEXT_COLUMN 26u /* where the text of an option begins */

/* ==== help ==== */

/* Writes words, and breaks lines. Continuation lines begin at a column. */
typedef struct wrapper {
    FILE *out;
    uint32_t at, column;
} wrapper;

static void put_word(wrapper *w, const char *word, size_t length) {
    if (w->at > w->column && w->at + 1 + length > COLUMNS) {
        fprintf(w->out, "\n%*s", (int)w->column, "");
        w->at = w->column;
    } else if (w->at > w->column) {
        fputc(' ', w->out);
        w->at++;
    }
    fwrite(word, 1, length, w->out);
    w->at += (uint32_t)length;
}

/* Writes the names as a list; `end` follows the last of them. */
static void put_names(wrapper *w, option_names names, const char *end, size_t end_length) {
    char word[80];
    uint32_t i;
    for (i = 0; names(i); i++) {
        const int length = names(i + 1) ? snprintf(word, sizeof word, "%s,", names(i))
                                        : snprintf(word, sizeof word, "%s%.*s", names(i), (int)end_length, end);
        put_word(w, word, (size_t)length < sizeof word ? (size_t)length : sizeof word - 1);
    }
}

static void put_text(wrapper *w, const char *text, option_names names) {
    while (*text) {
        const size_t length = strcspn(text, " ");
        if (length >= 2 && !strncmp(text, "%N", 2) && names)
            put_names(w, names, text + 2, length - 2);
        else
            put_word(w, text, length);
        text += length;
        text += *text == ' ';
    }
    fputc('\n', w->out);
}

static void print_term(FILE *out, const char *label, const char *text, option_names names) {
    wrapper w = {out, TEXT_COLUMN, TEXT_COLUMN};
    if (strlen(label) + 4 > TEXT_COLUMN)
        fprintf(out, "  %s\n%*s", label, (int)TEXT_COLUMN, "");
    else
        fprintf(out, "  %-*s", (int)TEXT_COLUMN - 2, label);
    put_text(&w, text, names);
}

static void print_row(FILE *out, const option_row *row) {
    char label[96];
    snprintf(label, sizeof label, "--%s%s%s%s", row->name,
             row->missing    ? "[="
             : row->argument ? " "
                             : "",
             row->argument ? row->argument : "", row->missing ? "]" : "");
    print_term(out, label, row->text, row->names);
}

/* Prints the options of one group (NULL: often used options), below its heading. */
static void print_group(FILE *out, const option_command *command, const char *group) {
    const option_row *row;
    const option_set *set;
    uint32_t i, count = 0;
    for (i = 0; (row = options_row(command, i, &set)) != NULL; i++) {
        if (row->now || (group ? row->often || strcmp(row->group, group) : !row->often)) continue;
        if (!count++) fprintf(out, "%s:\n", group ? group : "Often used");
        print_row(out, row);
    }
}

/* Returns 1 when the index-th row is the first of its group. */
static int begins_group(const option_command *command, uint32_t index, const char *group) {
    const option_row *row;
    const option_set *set;
    uint32_t i;
    for (i = 0; i < index && (row = options_row(command, i, &set)) != NULL; i++)
        if (!row->now && !strcmp(row->group, group)) return 0;
    return 1;
}

/* Prints prose. Each line is a paragraph. */
static void print_notes(FILE *out, const char *notes) {
    char line[1024];
    while (notes && *notes) {
        const size_t length = strcspn(notes, "\n");
        wrapper w = {out, 0, 0};
        snprintf(line, sizeof line, "%.*s", (int)length, notes);
        put_text(&w, line, NULL);
        notes += length + (notes[length] == '\n');
    }
}

void options_help(const option_command *command, FILE *out) {
    const char *line = command->usage;
    const option_row *row;
    const option_set *set;
    uint32_t i;
    while (*line) {
        const size_t length = strcspn(line, "\n");
        fprintf(out, "%s%.*s\n", line == command->usage ? "usage: " : "       ", (int)length, line);
        line += length + (line[length] == '\n');
    }
    for (line = command->operands ? command->operands : ""; *line;) {
        char label[64], text[512];
        const size_t name = strcspn(line, "|"), length = strcspn(line, "\n");
        snprintf(label, sizeof label, "%.*s", (int)name, line);
        snprintf(text, sizeof text, "%.*s", (int)(length - name - 1), line + name + 1);
        print_term(out, label, text, NULL);
        line += length + (line[length] == '\n');
    }
    print_group(out, command, NULL);
    for (i = 0; (row = options_row(command, i, &set)) != NULL; i++)
        if (!row->now && begins_group(command, i, row->group)) print_group(out, command, row->group);
    print_notes(out, command->notes);
}

/* ==== lists ==== */

static const char *const kind_names[OPTION_KINDS] = {"flag",   "flag",   "number", "number", "microseconds",
                                                     "choice", "choice", "text",   "text",   "input",
                                                     "output", "folder", "text"};

/* Prints every value of a choice, or samples of a text, with | between them. */
static void print_values(FILE *out, const option_row *row) {
    uint32_t i;
    if (row->samples)
        fputs(row->samples, out);
    else
        for (i = 0; row->names && row->names(i); i++) fprintf(out, "%s%s", i ? "|" : "", row->names(i));
}

void options_table(const option_command *command, FILE *out) {
    const option_row *row, *now;
    const option_set *set;
    option_kind kind;
    uint32_t i;
    for (i = 0; (row = options_row(command, i, &set)) != NULL; i++) {
        now = row->now && !row->read ? options_find(command, row->now, &set) : row;
        kind = now->names && !now->samples ? OPTION_CHOICE : now->kind;
        fprintf(out, "%s\t--%s\t%s\t%s\t", command->name, row->name, kind_names[kind],
                now->argument ? now->argument : "");
        if (now->kind == OPTION_NUMBER || now->kind == OPTION_NUMBER64)
            fprintf(out, "%" PRIu64 "\t%" PRIu64 "\t", now->low, now->high);
        else if (now->kind == OPTION_MICROSECONDS)
            fprintf(out, "%g\t%.15g\t", (double)now->low / 1000, (double)now->high / 1000);
        else
            fputs("\t\t", out);
        print_values(out, now);
        fprintf(out, "\t%s\t%s\t%s\n", now->missing ? now->missing : "", now->group ? now->group : "",
                row->now ? row->now : "");
    }
}

void options_rules(const option_command *command, FILE *out) {
    const option_rule *const *array, *rule;
    for (array = command->rules; array && *array; array++)
        for (rule = *array; rule->why; rule++)
            fprintf(out, "%s\t%s\t%s\t%s\n", command->name, rule->given, rule->needs ? rule->needs : "", rule->why);
}

/* ==== completion ==== */

static int is_path(const option_row *row) {
    return row->kind == OPTION_INPUT || row->kind == OPTION_OUTPUT || row->kind == OPTION_FOLDER;
}

static void print_words(const option_row *row, FILE *out) {
    uint32_t i;
    for (i = 0; row->names && row->names(i); i++) fprintf(out, "%s%s", i ? " " : "", row->names(i));
}

static void bash_command(const option_command *command, FILE *out) {
    const option_row *row;
    const option_set *set;
    uint32_t i;
    for (i = 0; (row = options_row(command, i, &set)) != NULL; i++) {
        if (row->now || row->missing || !row->argument) continue;
        fprintf(out, "    '%s --%s') ", command->name, row->name);
        if (row->names) {
            fputs("values='", out);
            print_words(row, out);
            fputs("' ;;\n", out);
        } else
            fputs(is_path(row) ? "files=1 ;;\n" : "return ;;\n", out);
    }
    fprintf(out, "    '%s '*) options='", command->name);
    for (i = 0; (row = options_row(command, i, &set)) != NULL; i++)
        if (!row->now) fprintf(out, "%s--%s", i ? " " : "", row->name);
    fputs("' ;;\n", out);
}

static void bash_completion(const option_program *program, FILE *out) {
    const option_command *const *c;
    const option_list *list;
    fprintf(out, "# Completion of %s for bash, from its tables of options.\n", program->name);
    fprintf(out,
            "_%s() {\n"
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= values= files=\n"
            "    COMPREPLY=()\n"
            "    case \"${COMP_WORDS[1]} $before\" in\n"
            "    *' %s' | 'help help') values='",
            program->name, program->name);
    for (c = program->commands; *c; c++) fprintf(out, "%s ", (*c)->name);
    fputs("help --help --version --list --completion' ;;\n    '--list --list') values='", out);
    for (list = program->lists; list && list->name; list++) fprintf(out, "%s ", list->name);
    fputs("options rules' ;;\n    '--completion --completion') values='bash zsh' ;;\n", out);
    for (c = program->commands; *c; c++) bash_command(*c, out);
    fprintf(out,
            "    esac\n"
            "    if [ -n \"$values\" ]; then mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\")\n"
            "    elif [ -z \"$files\" ] && [ \"${word#-}\" != \"$word\" ]; then\n"
            "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
            "    else mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); fi\n"
            "}\n"
            "complete -o filenames -F _%s %s\n",
            program->name, program->name);
}

/* Prints the first sentence of a text within single quotes of zsh. Each character of `special` gets a backslash. */
static void print_sentence(const char *text, const char *special, FILE *out) {
    for (; *text && !(*text == '.' && (!text[1] || text[1] == ' ')) && strncmp(text, "%N", 2); text++) {
        if (*text == '\'') fputs("'\\'", out);
        if (strchr(special, *text)) fputc('\\', out);
        fputc(*text, out);
    }
}

static void zsh_command(const option_command *command, FILE *out) {
    const option_row *row;
    const option_set *set;
    uint32_t i;
    fprintf(out, "    %s)\n        _arguments \\\n", command->name);
    for (i = 0; (row = options_row(command, i, &set)) != NULL; i++) {
        if (row->now) continue;
        fprintf(out, "            '%s--%s%s[", row->many ? "*" : "", row->name,
                row->missing    ? "=-"
                : row->argument ? "="
                                : "");
        print_sentence(row->text, "[]\\", out);
        fputs("]", out);
        if (row->argument) {
            fprintf(out, "%s:", row->missing ? ":" : "");
            print_sentence(row->argument, ":\\", out);
            fputs(":", out);
            if (row->names) {
                fputc('(', out);
                print_words(row, out);
                fputc(')', out);
            } else if (is_path(row))
                fputs(row->kind == OPTION_FOLDER ? "_files -/" : "_files", out);
        }
        fputs("' \\\n", out);
    }
    fputs("            '*:file:_files' ;;\n", out);
}

static void zsh_completion(const option_program *program, FILE *out) {
    const option_command *const *c;
    const option_list *list;
    fprintf(out,
            "#compdef %s\n# Completion of %s for zsh, from its tables of options.\n"
            "_%s() {\n    if (( CURRENT == 2 )); then\n        _values command",
            program->name, program->name, program->name);
    for (c = program->commands; *c; c++) {
        fprintf(out, " \\\n            '%s[", (*c)->name);
        print_sentence((*c)->what, "[]\\", out);
        fputs("]'", out);
    }
    fputs(" \\\n            'help[the options of a command]' --help --version --list --completion\n"
          "        return\n    fi\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n    help) _values "
          "command",
          out);
    for (c = program->commands; *c; c++) fprintf(out, " %s", (*c)->name);
    fputs(" ;;\n    --list) _values list", out);
    for (list = program->lists; list && list->name; list++) fprintf(out, " %s", list->name);
    fputs(" options rules ;;\n    --completion) _values shell bash zsh ;;\n", out);
    for (c = program->commands; *c; c++) zsh_command(*c, out);
    fprintf(out, "    esac\n}\n_%s \"$@\"\n", program->name);
}

int options_completion(const option_program *program, const char *shell, FILE *out) {
    if (!strcmp(shell, "bash"))
        bash_completion(program, out);
    else if (!strcmp(shell, "zsh"))
        zsh_completion(program, out);
    else
        return -1;
    return 0;
}
