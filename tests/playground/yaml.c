/* labels: unit property link: minigpu_core yaml_of_engine */
/* The playground's stand-in for libyaml reads every launch file of the tree as libyaml does: each node, its value, its
 * line and column. It never reads what libyaml refuses, and never anything else than libyaml. */
#define _GNU_SOURCE
#include <ftw.h>
#include <yaml.h>

#include "test.h"

#define NODES nodes_of_libyaml
char *nodes_of_libyaml(const char *text, size_t length);
#include "yaml_nodes.h"

char *nodes_of_engine(const char *text, size_t length);

static uint32_t files, refused, changed;
static uint64_t drawn;

static uint64_t draw(uint64_t below) {
    drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (drawn >> 33) % below;
}

/* Compares a text's nodes. Returns 1 when the stand-in read it. */
static int compare(const char *name, const char *text, size_t length, int must_read) {
    char *wanted = nodes_of_libyaml(text, length), *got = nodes_of_engine(text, length);
    const int read = strcmp(got, "refused") != 0;
    if ((read || must_read) && strcmp(got, wanted) != 0) {
        print_error("%s is read otherwise:\n%.*s\n---- libyaml ----\n%s---- here ----\n%s", name, (int)length, text,
                    wanted, got);
        fail();
    }
    free(wanted);
    free(got);
    return read;
}

/* Changes one character, and compares again. */
static void compare_changed(const char *name, const char *text, size_t length) {
    static const char signs[] = " :-,[]{}#\"'\nax1.";
    char *copy = (char *)malloc(length);
    uint32_t i;
    memcpy(copy, text, length);
    for (i = 0; i < test_cases(20); i++) {
        const size_t at = (size_t)draw(length);
        const char before = copy[at];
        copy[at] = signs[draw(sizeof signs - 1)];
        refused += !compare(name, copy, length, 0);
        changed++;
        copy[at] = before;
    }
    free(copy);
}

static int visit(const char *path, const struct stat *status, int kind, struct FTW *place) {
    const size_t length = strlen(path);
    FILE *file;
    char *text;
    (void)place;
    if (kind != FTW_F || length < 5 || strcmp(path + length - 5, ".yaml") != 0) return 0;
    if (!(file = fopen(path, "r")) || !(text = (char *)malloc((size_t)status->st_size + 1))) return -1;
    if (fread(text, 1, (size_t)status->st_size, file) != (size_t)status->st_size) return -1;
    fclose(file);
    compare(path, text, (size_t)status->st_size, 1);
    if (status->st_size) compare_changed(path, text, (size_t)status->st_size);
    free(text);
    files++;
    return 0;
}

/* Every launch file, and copies with a changed byte: read alike, or refused. */
static void launch_files_are_read_as_libyaml_reads_them(void **state) {
    (void)state;
    drawn = test_seed();
    assert_int_equal(nftw(GPUMP_SOURCE_DIR "/examples/minigpu", visit, 8, FTW_PHYS), 0);
    print_message("%u files alike; of %u changed ones %u are refused here\n", files, changed, refused);
    assert_true(files > 100);
    assert_true(refused < changed * 9 / 10);
}

/* Lists, maps, quotes and remarks give the events of libyaml. */
static void forms_of_yaml_are_read_as_libyaml_reads_them(void **state) {
    static const char *const texts[] = {"a: 1\nb: [1, 2, {c: d}]\n",
                                        "- 1\n- a: b\n  c: d\n-\n  e: f\n",
                                        "a:\n- 1\n- 2\nb: x # remark\n",
                                        "a: 'it''s'\nb: \"x\\ty\"\n",
                                        "{a: {b: [], c: {}}}\n",
                                        "# nothing\n",
                                        "",
                                        "a:\n  b:\n    c: 1\n  d: 2\n",
                                        "url: http://x.y/z#q\n",
                                        "a: b c  d\n",
                                        "[1,2,]\n",
                                        "a: \xc2\xb5s, x\nb: [\xc2\xb5, 2]\n",
                                        "kernels:\n  - ptx: a.ptx\n\n    grid: [1,\n      1, 1]\n"};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) compare("a form", texts[i], strlen(texts[i]), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms_of_yaml_are_read_as_libyaml_reads_them),
                                       cmocka_unit_test(launch_files_are_read_as_libyaml_reads_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
