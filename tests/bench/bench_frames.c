/* labels: unit command link: bench_frame */
/* bench/reproduce's verdicts on made-up targets, its refusals, and the tables in bench/data. */
#include <unistd.h>
#include "test.h"
#include "micro.h"
#include "reproduce.h"

static char directory[] = "/tmp/gpump_900_XXXXXX";

static void write_targets(const char *rows) {
    char path[64];
    FILE *file;
    snprintf(path, sizeof path, "%s/targets.csv", directory);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "# a comment\nid,source,where,what,unit,preset,paper,kind,low,high,host\n%s", rows);
    fclose(file);
}

/* Runs the program with stdout and stderr in a file; returns the exit status and the text. */
static int run(const reproduce_row *const *topics, const micro_case *const *cases, const char *arguments, char *text,
               size_t bytes) {
    char line[640], *argv[24], path[64];
    int argc = 0, status, out, err;
    FILE *file;
    size_t length;
    snprintf(line, sizeof line, "program %s", arguments);
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    argv[argc] = NULL;
    snprintf(path, sizeof path, "%s/output", directory);
    file = fopen(path, "w+");
    assert_non_null(file);
    fflush(stdout);
    fflush(stderr);
    out = dup(1), err = dup(2);
    dup2(fileno(file), 1), dup2(fileno(file), 2);
    status = topics ? reproduce_main(argc, argv, topics) : micro_main(argc, argv, cases);
    fflush(stdout);
    fflush(stderr);
    dup2(out, 1), dup2(err, 2);
    close(out), close(err);
    rewind(file);
    length = fread(text, 1, bytes - 1, file);
    text[length] = 0;
    fclose(file);
    return status;
}
static int reproduce(const reproduce_row *const *topics, const char *arguments, char *text, size_t bytes) {
    char all[512];
    snprintf(all, sizeof all, "--data %s %s", directory, arguments);
    return run(topics, NULL, all, text, bytes);
}

static void give_514(const reproduce_context *c, const char *id, reproduce_result *r) {
    (void)c;
    (void)id;
    reproduce_number(r, 514, 0);
}
static void give_half(const reproduce_context *c, const char *id, reproduce_result *r) {
    (void)c;
    (void)id;
    reproduce_number(r, 0.5, 2);
}
static void give_two(const reproduce_context *c, const char *id, reproduce_result *r) {
    (void)c;
    (void)id;
    reproduce_number(r, 1, 0);
    reproduce_number(r, 99, 0);
}
static void give_seeds(const reproduce_context *c, const char *id, reproduce_result *r) {
    const double values[] = {1, 2, 6};
    (void)c;
    (void)id;
    reproduce_samples(r, values, 3, 1);
}
static void give_yes(const reproduce_context *c, const char *id, reproduce_result *r) {
    (void)c;
    (void)id;
    reproduce_holds(r, 1, "a > b, c");
}
static void give_no(const reproduce_context *c, const char *id, reproduce_result *r) {
    (void)c;
    (void)id;
    reproduce_holds(r, 0, "a < b");
}
static void give_nothing(const reproduce_context *c, const char *id, reproduce_result *r) {
    (void)c;
    (void)id;
    (void)r;
}
static void give_second_reading(const reproduce_context *c, const char *id, reproduce_result *r) {
    (void)c;
    (void)id;
    reproduce_number(r, 7, 0);
    reproduce_reading(r, 0.5, 1, "the text says %s", "so");
}
static void give_revised(const reproduce_context *c, const char *id, reproduce_result *r) {
    (void)c;
    (void)id;
    reproduce_number(r, 0.5, 1);
    reproduce_revised(r);
}
static void give_failure(const reproduce_context *c, const char *id, reproduce_result *r) {
    (void)c;
    (void)id;
    reproduce_failed(r, "no disk");
}

static void give_wide(const reproduce_context *c, const char *id, reproduce_result *r) {
    (void)c;
    (void)id;
    reproduce_number(r, 0.5, 1);
    reproduce_interval(r, 0.4, 0.8, 1);
}
static void give_order_by_chance(const reproduce_context *c, const char *id, reproduce_result *r) {
    (void)c;
    (void)id;
    reproduce_holds(r, 1, "a > b");
    reproduce_resampled(r, 0.04);
    reproduce_resampled(r, 0.06);
}
static void give_sure_order(const reproduce_context *c, const char *id, reproduce_result *r) {
    (void)c;
    (void)id;
    reproduce_holds(r, 1, "a > b");
    reproduce_resampled(r, 0.04);
}

/* One row of each kind with one measured answer, and the verdict it must get. */
static void verdicts_follow_the_table(void **state) {
    static const struct {
        const char *kind_and_band, *paper;
        void (*measure)(const reproduce_context *, const char *, reproduce_result *);
        const char *verdict;
        int status;
    } cases[] = {
        {"exact,,", "514", give_514, "ok", 0},
        {"exact,,", "515", give_514, "outside", 1},
        {"exact,,", "0.5", give_half, "ok", 0},
        {"exact,,", "514 (text: 0.5 KB)", give_514, "outside", 1}, /* not one plain number: the function has to say */
        {"exact,,", "as printed", give_yes, "ok", 0},
        {"exact,,", "as printed", give_no, "outside", 1},
        {"exact,,", "514", give_nothing, "outside", 1},
        {"exact,,", "514", give_failure, "outside", 1},
        {"band,0.5,1", "9", give_half, "ok", 0},
        {"band,0.51,1", "9", give_half, "outside", 0},
        {"band,0,50", "9", give_two, "outside", 0},
        {"band,0,99", "9", give_two, "ok", 0},
        {"band,2.9,3.1", "9", give_seeds, "ok", 0},
        {"band,0,1", "9", give_nothing, "outside", 0},
        {"band,0,1", "9", give_yes, "outside", 0},
        {"order,,", "a > b", give_yes, "ok", 0},
        {"order,,", "a > b", give_no, "outside", 0},
        {"order,,", "a > b", give_514, "outside", 0},
        {"derived,,", "13", give_no, "ok", 0},
        {"band,0,1", "9", give_second_reading, "reading", 0},
        {"band,6,8", "9", give_second_reading, "ok", 0}, /* the first reading is enough */
        {"band,2,3", "9", give_second_reading, "outside", 0},
        {"exact,,", "0.5", give_second_reading, "outside", 1}, /* an exact row has one reading */
        {"band,0,1", "9", give_revised, "reading", 0},
        {"band,2,3", "9", give_revised, "outside", 0},
        {"band,0.4,0.8", "9", give_wide, "ok", 0}, /* all of the interval is inside */
        {"band,0.41,0.8", "9", give_wide, "edge", 0},
        {"band,0.4,0.79", "9", give_wide, "edge", 0},
        {"band,0.6,0.8", "9", give_wide, "outside", 0}, /* an interval that reaches inside is not enough */
        {"order,,", "a > b", give_order_by_chance, "edge", 0},
        {"order,,", "a > b", give_sure_order, "ok", 0},
        {"band,0,1", "9", NULL, "todo", 0},
        {"exact,,", "9", NULL, "todo", 0},
    };
    char text[4096], row[256], end[32];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const reproduce_row rows[] = {{cases[i].measure ? "X.row" : NULL, cases[i].measure}, {NULL, NULL}};
        const reproduce_row *const topics[] = {rows, NULL};
        snprintf(row, sizeof row, "X.row,src,1,what,u,gpu,%s,%s,calc\n", cases[i].paper, cases[i].kind_and_band);
        write_targets(row);
        if (reproduce(topics, "--csv", text, sizeof text) != cases[i].status)
            fail_msg("case %lu: status; %s", (unsigned long)i, text);
        snprintf(end, sizeof end, ",%s\n", cases[i].verdict);
        if (!strstr(text, end)) fail_msg("case %lu: expected %s in %s", (unsigned long)i, cases[i].verdict, text);
    }
}

/* The frame of the reproduction prints each row as CSV, as a table in Markdown and as a list, with the right count of
 * verdicts. */
static void output_is_csv_table_and_page(void **state) {
    const reproduce_row rows[] = {{"X.a", give_yes}, {"X.b", give_seeds}, {"Z.d", give_second_reading}, {NULL, NULL}};
    const reproduce_row *const topics[] = {rows, NULL};
    char text[8192];
    (void)state;
    write_targets("Z.d,s,1,w,%,g,3,band,0,1,calc\nX.a,s,1,w,-,g,a > "
                  "b,order,,,calc\nX.b,s,1,w,%,g,3,band,4,5,calc\nY.c,s,1,w,%,g,3,band,1,5,calc\n");
    assert_int_equal(reproduce(topics, "--csv --only X.", text, sizeof text), 0);
    assert_string_equal(text, "id,paper,ours,unit,kind,verdict\nX.a,a > b,\"a > b, c\",-,order,ok\nX.b,3,3.0 (1.0 to "
                              "6.0 of 3),%,band,outside\n");
    assert_int_equal(reproduce(topics, "", text, sizeof text), 0);
    assert_non_null(strstr(text, "3 is not in 4 to 5"));
    assert_non_null(strstr(text, "4 rows: 1 ok, 0 edge, 1 reading, 1 outside, 1 todo"));
    assert_int_equal(reproduce(topics, "--markdown --only Y --only X.b", text, sizeof text), 0);
    assert_non_null(strstr(text, "| Y.c | s 1 | w | % | 3 |  | band | todo |"));
    assert_non_null(strstr(text, "2 rows: 0 ok, 0 edge, 0 reading, 1 outside, 1 todo"));
    assert_int_equal(reproduce(topics, "--list --only Y", text, sizeof text), 0);
    assert_non_null(strstr(text, "todo"));
}

/* Four pieces, each measured once; the row is their sum. */
static unsigned pieces_measured;
static void give_pieces(const reproduce_context *c, const char *id, reproduce_result *r) {
    double sum = 0;
    (void)id;
    for (int i = 0; i < 4; i++) {
        double values[2];
        char name[16];
        snprintf(name, sizeof name, "X.%d", i);
        switch (reproduce_piece(c, name, values, 2)) {
        case REPRODUCE_ELSEWHERE: reproduce_elsewhere(r); break;
        case REPRODUCE_MEASURE:
            values[0] = 1.0 / (3 + i), values[1] = i;
            pieces_measured++;
            reproduce_piece_measured(c, name, values, 2);
            break;
        case REPRODUCE_KNOWN: break;
        }
        sum += values[0] * values[1];
    }
    reproduce_number(r, sum, 15);
}

static void write_page(const char *name, const char *text) {
    char path[64];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void remove_page(const char *name) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    remove(path);
}

/* The part of a page behind its first page. */
static const char *rows_of(const char *page) {
    const char *rows = strstr(page, "## How a row is judged");
    assert_non_null(rows);
    return rows;
}

/* merge: arguments that merge pages into one with the row X.d. A page with a first page is read like one without. */
static void the_first_page_has_headlines(const reproduce_row *const *topics, const char *merge) {
    char page[8192], again[8192], arguments[128];
    write_page("headlines.csv", "id,sentence\nX.d,A half is seven\n");
    assert_int_equal(reproduce(topics, merge, page, sizeof page), 0);
    assert_non_null(strstr(page, "| S 1 | A half is seven (%) | 3 | 7.50 | ok |"));
    write_page("again", page);
    snprintf(arguments, sizeof arguments, "--headlines %s/again", directory);
    assert_int_equal(reproduce(topics, arguments, again, sizeof again), 0);
    assert_non_null(strstr(again, "| S 1 | A half is seven (%) | 3 | 7.50 | ok |"));
    assert_null(strstr(again, "| X.d |"));
    write_page("headlines.csv", "id,sentence\nX.z,No such row\n");
    assert_int_equal(reproduce(topics, arguments, again, sizeof again), 2);
    assert_non_null(strstr(again, "X.z is no row of targets.csv"));
    remove_page("headlines.csv");
    remove_page("again");
}

/* Shards measure everything once, and their pages merge into the page of a whole run. */
static void shards_merge_into_the_whole(void **state) {
    const reproduce_row first[] = {{"X.a", give_yes}, REPRODUCE_DIVIDED, {"X.b", give_pieces}, {NULL, NULL}},
                        second[] = {{"X.c", give_seeds}, {NULL, NULL}}, third[] = {{"X.d", give_half}, {NULL, NULL}};
    const reproduce_row *const topics[] = {first, second, third, NULL};
    char whole[8192], merged[8192], part[8192], arguments[256], name[16];
    (void)state;
    write_targets("X.a,s,1,w | v,-,g,a > b,order,,,calc\nX.b,s,1,w,%,g,3,band,4,5,calc\nX.c,s,1,w,%,g,3,band,2.9,3.1,"
                  "calc\nX.d,s,1,w,%,g,3,band,0,1,calc\nX.e,s,1,w,%,g,3,band,0,1,calc\n");
    assert_int_equal(reproduce(topics, "--markdown", whole, sizeof whole), 0);
    for (unsigned shards = 1; shards <= 5; shards++) {
        int length = snprintf(arguments, sizeof arguments, "--markdown --merge");
        pieces_measured = 0;
        for (unsigned i = 0; i < shards; i++) {
            char shard[32];
            snprintf(shard, sizeof shard, "--shard %u/%u", i, shards);
            assert_int_equal(reproduce(topics, shard, part, sizeof part), 0);
            snprintf(name, sizeof name, "part%u", i);
            write_page(name, part);
            length += snprintf(arguments + length, sizeof arguments - (size_t)length, " %s/%s", directory, name);
        }
        assert_int_equal(pieces_measured, 4);
        assert_int_equal(reproduce(topics, arguments, merged, sizeof merged), 0);
        assert_string_equal(rows_of(merged), rows_of(whole));
        assert_non_null(strstr(merged, "| S | 3 | 0 | 0 | 1 | 1 |")); /* ok, edge, reading, outside, todo */
    }
    /* A part is missing: what it measured is todo, and the rows of a whole page stay beside one that is newer. */
    snprintf(arguments, sizeof arguments, "--merge %s/part0", directory);
    assert_int_equal(reproduce(topics, arguments, merged, sizeof merged), 0);
    assert_non_null(strstr(merged, "X.b                    todo"));
    write_page("part0", whole);
    assert_int_equal(reproduce(topics, "--markdown --only X.d", part, sizeof part), 0);
    *strstr(part, "0.50") = '7';
    write_page("part1", part);
    snprintf(arguments, sizeof arguments, "--markdown --merge %s/part0 %s/part1", directory, directory);
    assert_int_equal(reproduce(topics, arguments, merged, sizeof merged), 0);
    *strstr(whole, "0.50") = '7';
    assert_string_equal(rows_of(merged), rows_of(whole));
    the_first_page_has_headlines(topics, arguments);
    /* What a row is compared with has changed. */
    write_targets("X.a,s,1,w,-,g,a < b,order,,,calc\nX.b,s,1,w,%,g,3,band,4,5,calc\nX.c,s,1,w,%,g,3,band,2.9,3.1,"
                  "calc\nX.d,s,1,w,%,g,3,band,0,1,calc\n");
    assert_int_equal(reproduce(topics, arguments, merged, sizeof merged), 0);
    assert_non_null(strstr(merged, "X.a was compared with another published value"));
    assert_non_null(strstr(merged, "| a < b |  | order | todo |"));
}

/* Shards that are missing, cut off, of another kind or of another timing model are refused when they are merged. */
static void pages_that_do_not_fit_are_refused(void **state) {
    const reproduce_row rows[] = {REPRODUCE_DIVIDED, {"X.b", give_pieces}, {NULL, NULL}};
    const reproduce_row *const topics[] = {rows, NULL};
    char text[4096], page[4096], arguments[128];
    (void)state;
    write_targets("X.b,s,1,w,%,g,3,band,4,5,calc\n");
    assert_int_equal(reproduce(topics, "--shard 2/2", text, sizeof text), 2);
    assert_non_null(strstr(text, "a shard is I/N with 0 <= I < N, not '2/2'"));
    assert_int_equal(reproduce(topics, "--merge", text, sizeof text), 2);
    assert_non_null(strstr(text, "--merge needs pages"));
    assert_int_equal(reproduce(topics, "--merge /no/where", text, sizeof text), 2);
    assert_non_null(strstr(text, "cannot read /no/where: No such file"));
    assert_int_equal(reproduce(topics, "--shard 0/1", page, sizeof page), 0);
    write_page("part0", page);
    snprintf(arguments, sizeof arguments, "--short --merge %s/part0", directory);
    assert_int_equal(reproduce(topics, arguments, text, sizeof text), 2);
    assert_non_null(strstr(text, "merge pages of one kind"));
    snprintf(arguments, sizeof arguments, "--merge %s/part0", directory);
    *(strstr(page, "piece X.3") + 12) = 0;
    write_page("part0", page);
    assert_int_equal(reproduce(topics, arguments, text, sizeof text), 2);
    assert_non_null(strstr(text, ": no whole row or piece"));
    write_page("part0", "words\n");
    assert_int_equal(reproduce(topics, arguments, text, sizeof text), 2);
    assert_non_null(strstr(text, "part0 is no page of reproduce --markdown"));
    write_page("part0", "gpump 9 (timing model 1) gives\npiece X.0 1 2\n");
    assert_int_equal(reproduce(topics, arguments, text, sizeof text), 2);
    assert_non_null(strstr(text, "has pieces of timing model 1"));
    write_page("part0", "gpump 9 (timing model 1) gives\n\n| X.b | s 1 | w | % | 3 | 4.5 | band | ok | a note |\n");
    assert_int_equal(reproduce(topics, arguments, text, sizeof text), 0);
    assert_non_null(strstr(text, "a note; measured on timing model 1"));
    write_page("part0", "gpump 9 (timing model 2) gives\n\n"
                        "| X.b | s 1 | w | % | 3 | 4.5 | band | ok | a note; measured on timing model 1 |\n");
    assert_int_equal(reproduce(topics, arguments, text, sizeof text), 0);
    assert_non_null(strstr(text, "a note; measured on timing model 1"));
    assert_null(strstr(text, "measured on timing model 2")); /* the page had it from an older one */
    write_page("part0", "gpump 9 (timing model 1) gives\n\n| X.b | s 1 | w | % | 3 |  | band | todo |  |\n");
    assert_int_equal(reproduce(topics, arguments, text, sizeof text), 0);
    assert_null(strstr(text, "timing model"));
}

/* The frame of the reproduction refuses wrong options, rows without a target and damaged tables of targets. */
static void wrong_use_is_refused(void **state) {
    const reproduce_row none[] = {{NULL, NULL}}, rows[] = {{"X.a", give_yes}, {NULL, NULL}};
    const reproduce_row *const topics[] = {none, NULL}, *const one[] = {rows, NULL},
                               *const twice[] = {rows, rows, NULL};
    char text[4096];
    (void)state;
    write_targets("X.a,s,1,w,-,g,1,exact,,,calc\n");
    assert_int_equal(reproduce(topics, "--only Z", text, sizeof text), 2);
    assert_non_null(strstr(text, "no id begins with 'Z'"));
    assert_int_equal(reproduce(topics, "--fast", text, sizeof text), 2);
    assert_int_equal(reproduce(topics, "X.a", text, sizeof text), 2);
    assert_non_null(strstr(text, "unexpected argument 'X.a'"));
    assert_int_equal(reproduce(twice, "", text, sizeof text), 2);
    assert_non_null(strstr(text, "X.a has two functions"));
    assert_int_equal(reproduce(one, "", text, sizeof text), 0);
    write_targets("Y.a,s,1,w,-,g,1,exact,,,calc\n");
    assert_int_equal(reproduce(one, "", text, sizeof text), 2);
    assert_non_null(strstr(text, "X.a is not in targets.csv"));
    write_targets("X.a,s,1,w,-,g,1,band,2,,calc\n");
    assert_int_equal(reproduce(one, "", text, sizeof text), 2);
    assert_non_null(strstr(text, "the band of X.a is not two numbers"));
    write_targets("X.a,s,1,w,-,g,1,guess,2,,calc\n");
    assert_int_equal(reproduce(one, "", text, sizeof text), 2);
    write_targets("X.a,s,1,w,-,g,1,exact,,,calc\nX.a,s,1,w,-,g,1,exact,,,calc\n");
    assert_int_equal(reproduce(one, "", text, sizeof text), 2);
    write_page("added.csv", "id,source\nY.b,s\n");
    assert_int_equal(reproduce(one, "", text, sizeof text), 2);
    assert_non_null(strstr(text, "added.csv has not the columns of"));
    write_targets("X.a,s,1,w,-,g,1,exact,,,calc\n");
    write_page("added.csv",
               "id,source,where,what,unit,preset,paper,kind,low,high,host\nY.b,s,1,w,-,g,1,derived,,,calc\n");
    assert_int_equal(reproduce(one, "--list", text, sizeof text), 0);
    assert_non_null(strstr(text, "Y.b"));
    remove_page("added.csv");
    write_targets("X.a,s,1,w\n");
    assert_int_equal(reproduce(one, "", text, sizeof text), 2);
    assert_non_null(strstr(text, "targets.csv:3: 4 fields, the header names 11"));
    assert_int_equal(run(one, NULL, "--data /nowhere", text, sizeof text), 2);
    assert_non_null(strstr(text, "cannot be read"));
}

static void *setup_counter(uint64_t size) { return size < 100 ? calloc(1, 8) : NULL; }
static uint64_t work(void *state, uint64_t operations) {
    uint64_t hash = *(uint64_t *)state;
    for (uint64_t i = 0; i < operations; i++) hash = gpump_hash_u64(hash, i);
    return hash;
}
static uint64_t other_work(void *state, uint64_t operations) { return work(state, operations) + 1; }

/* The frame of the micro-benchmarks times each case, compares its result with its rival's, and reports what disagrees.
 */
static void micro_times_and_compares(void **state) {
    static const uint64_t small[] = {8, 16, 0}, large[] = {100, 0};
    const micro_case good[] = {{"a_hash", "one hash", "itself", small, setup_counter, work, work, free},
                               {"b_hash", "one hash", NULL, small, setup_counter, work, NULL, free},
                               {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
    const micro_case bad[] = {{"a", "", "other", small, setup_counter, work, other_work, free},
                              {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
    const micro_case full[] = {{"a", "", NULL, large, setup_counter, work, NULL, free},
                               {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
    const micro_case *const goods[] = {good, NULL}, *const bads[] = {bad, NULL}, *const fulls[] = {full, NULL};
    char text[4096];
    (void)state;
    assert_int_equal(run(NULL, goods, "--short --csv", text, sizeof text), 0);
    assert_true(strncmp(text, "name,size,ns,rival,rival_ns,ratio\na_hash,8,", 43) == 0);
    assert_non_null(strstr(text, "b_hash,16,"));
    assert_int_equal(run(NULL, goods, "--short --only a", text, sizeof text), 0);
    assert_null(strstr(text, "b_hash"));
    assert_int_equal(run(NULL, goods, "--only z", text, sizeof text), 2);
    assert_int_equal(run(NULL, goods, "--what", text, sizeof text), 2);
    assert_int_equal(run(NULL, bads, "--short", text, sizeof text), 1);
    assert_non_null(strstr(text, "disagree"));
    assert_int_equal(run(NULL, fulls, "--short", text, sizeof text), 1);
}

/* The papers' tables are copies; where the originals are at hand, they are compared. */
static void tables_are_the_originals(void **state) {
    static const char *const names[] = {"targets", "lin_table_2_2", "lin_table_4_2", "shieh_table_4_2",
                                        "tanasic_table_5_2"};
    char error[512], path[512];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        csv_table ours, original;
        snprintf(path, sizeof path, "%s/bench/data/%s.csv", GPUMP_SOURCE_DIR, names[i]);
        if (!csv_read(&ours, path, error, sizeof error)) fail_msg("%s", error);
        snprintf(path, sizeof path, "%s/../shared/data/%s.csv", GPUMP_SOURCE_DIR, names[i]);
        if (csv_read(&original, path, error, sizeof error)) {
            assert_int_equal(ours.rows, original.rows);
            assert_int_equal(ours.columns, original.columns);
            for (size_t c = 0; c < ours.columns; c++) assert_string_equal(ours.names[c], original.names[c]);
            for (size_t c = 0; c < ours.rows * ours.columns; c++) assert_string_equal(ours.cells[c], original.cells[c]);
            csv_free(&original);
        }
        csv_free(&ours);
    }
}

static int make_directory(void **state) {
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}
static int remove_directory(void **state) {
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "%s/targets.csv", directory);
    remove(path);
    snprintf(path, sizeof path, "%s/output", directory);
    remove(path);
    for (unsigned i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/part%u", directory, i);
        remove(path);
    }
    return rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_follow_the_table),
        cmocka_unit_test(output_is_csv_table_and_page),
        cmocka_unit_test(wrong_use_is_refused),
        cmocka_unit_test(micro_times_and_compares),
        cmocka_unit_test(tables_are_the_originals),
        cmocka_unit_test(shards_merge_into_the_whole),
        cmocka_unit_test(pages_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
