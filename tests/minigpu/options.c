/* labels: command unit link: minigpu_core */
/* The tables of options: help, lists, old names, guesses and completion are made from them. Every sample of a value is
 * accepted, and every rule names options that there are. */
#include "run_command.h"

#include <string.h>
#include <unistd.h>

#include "options.h"
#include "tools/analyze.h"
#include "tools/corun_command.h"
#include "tools/demo_command.h"
#include "tools/init_command.h"
#include "tools/pairs_command.h"
#include "tools/policies_command.h"
#include "tools/run_command.h"
#include "tools/run_options.h"
#include "tools/sweep_command.h"
#include "tools/tail_command.h"

#define PROGRAM GPUMP_BINARY_DIR "/examples/minigpu/minigpu "
#define TWO GPUMP_SOURCE_DIR "/tests/minigpu/combinations/two.yaml "
#define COPIES GPUMP_SOURCE_DIR "/tests/minigpu/good_run/copies.yaml "
#define SAXPY GPUMP_SOURCE_DIR "/examples/minigpu/kernels/saxpy/small.yaml "
#define DEMO GPUMP_SOURCE_DIR "/examples/minigpu/demo.yaml "

static const option_command *const commands[] = {&command_run,      &sweep_command, &init_command,
                                                 &analyze_command,  &tail_command,  &corun_command,
                                                 &policies_command, &demo_command,  &pairs_command};
#define COMMANDS (sizeof commands / sizeof *commands)

static char output[1 << 17];

static void expect(const char *command, int status, const char *text) {
    const int is = run_command(command, output, sizeof output);
    if (is != status || (text && !strstr(output, text)))
        fail_msg("%s: exit status %d, not %d, or no \"%s\" in: %s", command, is, status, text ? text : "", output);
}

/* Lines have at most 99 columns, ten options stand first, every text ends as a sentence does. */
static void test_help(void **state) {
    const option_row *row;
    const option_set *set;
    size_t c;
    uint32_t i, often = 0;
    (void)state;
    for (c = 0; c < COMMANDS; c++) {
        FILE *file = tmpfile();
        char line[512];
        assert_non_null(file);
        options_help(commands[c], file);
        rewind(file);
        while (fgets(line, sizeof line, file))
            if (strlen(line) > 100)
                fail_msg("%s --help has a line of %zu columns: %s", commands[c]->name, strlen(line) - 1, line);
        fclose(file);
        for (i = 0; (row = options_row(commands[c], i, &set)) != NULL; i++) {
            if (!row->now && row->text[strlen(row->text) - 1] != '.')
                fail_msg("%s --%s: the text is no sentence: %s", commands[c]->name, row->name, row->text);
            often += commands[c] == &command_run && row->often;
        }
    }
    assert_int_equal(often, 10);
}

/* A row for each option, with an argument that says what it is, and a new name where it is old. */
static void test_rows(void **state) {
    const option_row *row;
    const option_set *set;
    size_t c;
    uint32_t i;
    (void)state;
    for (c = 0; c < COMMANDS; c++)
        for (i = 0; (row = options_row(commands[c], i, &set)) != NULL; i++) {
            const int is_flag = row->kind == OPTION_FLAG || row->kind == OPTION_CLEAR;
            if (row->now && !options_find(commands[c], row->now, &set))
                fail_msg("%s --%s: there is no --%s", commands[c]->name, row->name, row->now);
            if (row->now) continue;
            if (is_flag != !row->argument || (row->kind == OPTION_READ && !row->read) ||
                ((row->kind == OPTION_CHOICE || row->kind == OPTION_NAME) && !row->names) || !row->group)
                fail_msg("%s --%s: the row contradicts itself", commands[c]->name, row->name);
        }
}

static void read_one(const option_command *command, const char *name, const char *value, void *arguments) {
    char option[128], *argv[] = {(char *)command->name, option, NULL};
    option_command alone = *command;
    int operands;
    alone.rules = NULL; /* the value by itself */
    snprintf(option, sizeof option, "--%s=%s", name, value);
    if (options_read(&alone, 2, argv, arguments, &operands) != OPTIONS_GO_ON)
        fail_msg("%s refuses its sample %s", command->name, option);
}

/* Each value that the table of options gives as a sample is taken. */
static void every_sample_of_a_value_is_accepted(void **state) {
    static char arguments[1 << 17];
    const option_row *row;
    const option_set *set;
    uint32_t i, n, samples = 0;
    (void)state;
    for (i = 0; (row = options_row(&command_run, i, &set)) != NULL; i++) {
        char copy[512], *value;
        run_arguments_default((run_arguments *)arguments);
        for (n = 0; !row->samples && row->argument && row->kind != OPTION_TEXT && row->names && row->names(n);
             n++, samples++) {
            run_arguments_default((run_arguments *)arguments);
            read_one(&command_run, row->name, row->names(n), arguments);
        }
        if (!row->samples) continue;
        snprintf(copy, sizeof copy, "%s", row->samples);
        for (value = strtok(copy, "|"); value; value = strtok(NULL, "|"), samples++) {
            run_arguments_default((run_arguments *)arguments);
            read_one(&command_run, row->name, value, arguments);
        }
    }
    assert_true(samples > 80);
}

/* Every term of a rule begins with the name of an option. */
static void check_terms(const char *terms, const char *why) {
    const option_set *set;
    while (*terms) {
        char name[64];
        const option_row *row;
        const size_t length = strcspn(terms, "=:| ");
        snprintf(name, sizeof name, "%.*s", (int)length, terms);
        row = options_find(&command_run, name, &set);
        if (!row || strcmp(row->name, name)) fail_msg("there is no --%s: %s", name, why);
        terms += strcspn(terms, "| ");
        terms += *terms != 0;
    }
}

/* Each rule's options exist, and a broken rule says what is needed. */
static void rules_name_options_that_there_are(void **state) {
    const option_rule *const *array, *rule;
    (void)state;
    for (array = command_run.rules; *array; array++)
        for (rule = *array; rule->why; rule++) {
            check_terms(rule->given, rule->why);
            if (rule->needs) check_terms(rule->needs, rule->why);
        }
    expect(PROGRAM "run " SAXPY "--link nvlink 2>&1", 2, "--link needs --faults SCHEME or --page-checks FORM");
    expect(PROGRAM "run " SAXPY "--link nvlink --page-checks none 2>&1", 2, "--link needs --faults SCHEME");
    expect(PROGRAM "run " SAXPY "--absent a,local --faults queue 2>&1", 2, "--absent local needs --page-checks");
    expect(PROGRAM "run " SAXPY "--detection razor2 --trap all --regions sparse:saved 2>&1", 2, "needs --cure step");
    expect(PROGRAM "run " SAXPY "--preempt 9:drain --leave drain 2>&1", 2, "give the technique once");
    expect(PROGRAM "run " SAXPY "--leave drain:park 2>&1", 2, "needs --schedule and --partition");
}

/* An old name does what the new one does, and a note says so; --quiet leaves the note out. */
static void test_old_names(void **state) {
    static const char *const pairs[][2] = {{"--policy drain --limit 2", "--victims drain --deadline-us 2"},
                                           {"--schedule equal --vacate drain", "--schedule equal --leave drain"},
                                           {"--partition even --config memory_model=1 --move flush",
                                            "--partition even --config memory_model=1 --leave flush"},
                                           {"--preempt 9000:drain", "--preempt 9000 --leave drain"}};
    static char first[1 << 17];
    char command[1024];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        snprintf(command, sizeof command, PROGRAM "run " DEMO "%s --json 2>/dev/null | grep -v second", pairs[i][0]);
        expect(command, 0, "\"cycles\"");
        memcpy(first, output, sizeof first);
        snprintf(command, sizeof command, PROGRAM "run " DEMO "%s --json 2>/dev/null | grep -v second", pairs[i][1]);
        expect(command, 0, NULL);
        assert_string_equal(first, output);
        /* no note: what else a slow run may say there is its progress */
        snprintf(command, sizeof command, PROGRAM "run " DEMO "%s 2>&1 >/dev/null | grep 'is now'", pairs[i][1]);
        expect(command, 1, NULL);
    }
    expect(PROGRAM "run " DEMO "--policy drain 2>&1 >/dev/null", 0, "minigpu: run: --policy is now --victims");
    expect(PROGRAM "run " DEMO "--quiet --policy drain 2>&1 >/dev/null", 0, NULL);
    assert_string_equal(output, "");
    expect(PROGRAM "policies --limit 0 2>&1", 2, "--limit is now --deadline-us");
    expect(PROGRAM "corun " DEMO "--policy nobody 2>&1", 2, "--policy is now --partition");
}

/* --quiet leaves the report of a run away, but neither what is asked for by name nor a wrong result. */
static void quiet_prints_what_is_asked_for(void **state) {
    (void)state;
    expect(PROGRAM "run " SAXPY "--quiet 2>&1", 0, NULL);
    assert_string_equal(output, "");
    expect("GPUMP_QUIET=1 " PROGRAM "run " SAXPY "2>&1", 0, NULL);
    assert_string_equal(output, "");
    expect(PROGRAM "run " SAXPY "--quiet --csv 2>&1", 0, "saxpy");
    expect(PROGRAM "run " SAXPY "--quiet --json 2>&1", 0, "\"cycles\"");
    expect(PROGRAM "run " SAXPY "--quiet --stats 2>&1", 0, "L1 loads");
    expect(PROGRAM "run " SAXPY "--quiet --races 2>&1", 0, "races");
    expect(PROGRAM "run " SAXPY "--csv --races 2>&1 >/dev/null", 0, "races: none"); /* beside the table */
    expect(PROGRAM "run " GPUMP_SOURCE_DIR "/tests/minigpu/bad_run/wrong_result.yaml --quiet 2>&1", 1, "WRONG: ");
    assert_null(strstr(output, "simulated in"));
}

/* Of two kernels that share SMs --duet serves the first; the report names the other one. */
static void duet_names_the_kernel_that_it_does_not_serve(void **state) {
    (void)state;
    expect(PROGRAM "run " TWO "--duet=maxwell_duet:all --partition even", 0, ": not served: of two kernels");
    expect(PROGRAM "run " TWO "--duet=maxwell_duet:all | grep 'not served'", 1, NULL);
}

/* A block with asynchronous copies is flushed until it overwrites what it has read, as minigpu analyze says. */
static void copies_are_flushed_as_analyze_says(void **state) {
    (void)state;
    expect(PROGRAM "run " COPIES "--preempt 400:flush", 0, "blocks of stage_in_place by flush: 0 cycles");
    assert_null(strstr(output, "otherwise"));
    expect(PROGRAM "run " COPIES "--preempt 600:flush | grep 'of stage '", 0, "by flush: 0 cycles");
    assert_null(strstr(output, "otherwise"));
    expect(PROGRAM "run " COPIES "--preempt 600:flush | grep 'of stage_in'", 0,
           "1 otherwise: the block has overwritten");
}

/* An option with one value that is given twice with two values: a note says which one counts. */
static void a_repeated_option_is_noted(void **state) {
    (void)state;
    expect(PROGRAM "run " SAXPY "--sms 2 --sms 3 2>&1", 0, "--sms is given twice: 3 counts, 2 does not");
    expect(PROGRAM "run " SAXPY "--sms 2 --sms 2 --quiet 2>&1", 0, NULL);
    assert_string_equal(output, "");
    expect(PROGRAM "run " SAXPY "--config l1_ways=2 --config l2_ways=4 2>&1 >/dev/null | grep twice", 1, NULL);
}

/* Commands, options and values that are mistyped, and what the answer says. */
static void mistyped_words_get_a_guess(void **state) {
    (void)state;
    expect(PROGRAM "rnu 2>&1", 2, "did you mean run?");
    expect(PROGRAM "run " SAXPY "--victms dual 2>&1", 2, "did you mean --victims?");
    expect(PROGRAM "run " SAXPY "--polcy dual 2>&1", 2, "did you mean --victims?");
    expect(PROGRAM "run " SAXPY "--xyzzy 2>&1", 2, "there is no option --xyzzy\n");
    expect(PROGRAM "run " SAXPY "--json=yes 2>&1", 2, "an option without a value is \"--json\"");
    expect(PROGRAM "run " SAXPY "--gpu 2>&1", 2, "--gpu needs a value: PRESET");
    expect(PROGRAM "help run", 0, "Often used:");
    expect(PROGRAM "run -h", 0, "Often used:");
    expect(PROGRAM "help rnu 2>&1", 2, "did you mean run?");
    expect(PROGRAM "--lst presets 2>&1", 2, "no option is named \"--lst\"; did you mean --list?");
    expect(PROGRAM "--versoin 2>&1", 2, "did you mean --version?");
    expect(PROGRAM "--list preset 2>&1", 2, "not \"preset\"; did you mean presets?");
    expect(PROGRAM "--version", 0, "timing model");
    expect(PROGRAM "--list presets", 0, "k20c\n");
    expect(PROGRAM "run --list presets 2>&1", 2, "--list stands in a command's place: minigpu --list\n");
    expect(PROGRAM "--list policies", 0, "--partition\tccbp\n");
    expect(PROGRAM "--list kernels", 0, "hotspot/launch.yaml\n");
    expect(PROGRAM "--list config", 0, "kernels_per_sm\t1\t1\t64\t");
    expect(PROGRAM "--list config nothing 2>&1", 2, "--list presets");
    expect(PROGRAM "--list options run", 0, "run\t--threads\tnumber\tN\t1\t64\t");
    expect(PROGRAM "--list rules run", 0, "run\tlink\tfaults|page-checks\t");
    expect(PROGRAM "--list wishes 2>&1", 2, "options or rules, not \"wishes\"");
    expect(PROGRAM "run " SAXPY "--sms 2 --json", 0, "\"sms\": 2");
    expect(PROGRAM "run --sms 0 " SAXPY "2>&1", 2, "--sms needs a number from 1 to 1024");
}

/* With the lowest and the highest value of each number of the machine, minigpu ends: right or wrong, refused in words,
 * but neither crashed nor with the library's own text. */
static void test_extremes_of_the_machine(void **state) {
    (void)state;
    expect(PROGRAM "--list config | while IFS='\t' read -r name value low high rest; do for v in $low $high; do"
                   " timeout 20 " PROGRAM "run --until 20 --config $name=$v " SAXPY " >.extreme 2>&1; status=$?;"
                   " [ $status -le 2 ] || [ $status = 124 ] || echo \"$name=$v: exit status $status\";"
                   " grep GPUMP_ .extreme; done; done; rm -f .extreme; echo done",
           0, "done");
    assert_string_equal(output, "done\n");
    expect(PROGRAM "run --config l1_tlb_entries=12 " SAXPY "2>&1", 2,
           "l1_tlb_entries and l2_tlb_entries must be their ways (1 to 64) times a power of two, at most 65536");
}

/* The script for bash completes commands, options and values. */
static void test_completion(void **state) {
    static const struct {
        const char *words, *needs;
    } cases[] = {{"minigpu ru", "run"},
                 {"minigpu run --vict", "--victims"},
                 {"minigpu run --victims dua", "dual"},
                 {"minigpu run x.yaml --faults wd_c", "wd_check"},
                 {"minigpu --list pre", "presets"},
                 {"minigpu policies --kernel hotsp", "hotspot"}};
    char command[1024];
    size_t i;
    (void)state;
    if (run_command("bash -c 'mapfile -t x < <(compgen -W \"a b\" a)' 2>/dev/null", output, sizeof output)) skip();
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(command, sizeof command,
                 "bash -c 'source <(" PROGRAM
                 "--completion bash); COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1));"
                 " _minigpu; printf \"%%s\\n\" \"${COMPREPLY[@]}\"'",
                 cases[i].words);
        expect(command, 0, cases[i].needs);
    }
    expect(PROGRAM "--completion zsh", 0, "#compdef minigpu");
    expect(PROGRAM "--completion zsh", 0, "'help[the options of a command]'");
    expect(PROGRAM "--completion zsh", 0, "(default: the launch file'\\''s)]:PRESET:(");
    expect(PROGRAM "--completion zsh | if command -v zsh >/dev/null; then zsh -n; else cat >/dev/null; fi", 0, NULL);
    expect(PROGRAM "--completion fish 2>&1", 2, "bash or zsh");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_help),
                                       cmocka_unit_test(test_rows),
                                       cmocka_unit_test(every_sample_of_a_value_is_accepted),
                                       cmocka_unit_test(rules_name_options_that_there_are),
                                       cmocka_unit_test(quiet_prints_what_is_asked_for),
                                       cmocka_unit_test(duet_names_the_kernel_that_it_does_not_serve),
                                       cmocka_unit_test(copies_are_flushed_as_analyze_says),
                                       cmocka_unit_test(a_repeated_option_is_noted),
                                       cmocka_unit_test(mistyped_words_get_a_guess),
                                       cmocka_unit_test(test_old_names),
                                       cmocka_unit_test(test_extremes_of_the_machine),
                                       cmocka_unit_test(test_completion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
