/* labels: command link: minigpu_core */
/* Shards of `minigpu policies` print parts, and their merge prints what one run prints, byte for byte. */
#include "run_command.h"
#include "test.h"

#define POLICIES                                                                                                    \
    GPUMP_BINARY_DIR "/examples/minigpu/minigpu policies --kernel nw_1 --kernel dwt2d_copy --requests 1 --victims " \
                     "dual --victims chimera --deadline-us 2 "

static void run(const char *command, int status, const char *text) {
    static char output[1 << 16];
    const int is = run_command(command, output, sizeof output);
    if (is != status || (text && !strstr(output, text)))
        fail_msg("%s: exit status %d, not %d, or no \"%s\" in: %s", command, is, status, text ? text : "", output);
}

/* Shards of the experiment, merged in any order, are the whole page byte for byte. */
static void shards_merge_into_the_whole(void **state) {
    (void)state;
    run(POLICIES ">whole.md 2>&1", 0, NULL);
    run(POLICIES "--shard 0/2 >part0 2>&1", 0, NULL);
    run(POLICIES "--shard 1/2 >part1 2>&1", 0, NULL);
    run(POLICIES "--merge part1 part0 >merged.md 2>&1 && cmp whole.md merged.md", 0, NULL);
}

/* Parts that are missing, doubled, cut off or of another experiment are refused when they are merged. */
static void parts_that_do_not_fit_are_refused(void **state) {
    (void)state;
    run(POLICIES "--merge part0 2>&1", 2, "minigpu: no part has kernel ");
    run(POLICIES "--merge part0 part0 2>&1", 2, "part0: another part has a kernel of this file, too");
    run(POLICIES "--seed 2 --merge part0 part1 2>&1", 2, "part0: the file is no part of this experiment");
    run("head -c 300 part1 >cut; " POLICIES "--merge part0 cut 2>&1", 2,
        "cut: the file was cut off: run its shard again");
    run(POLICIES "--merge no/where 2>&1", 2, "cannot read no/where: No such file");
    run(POLICIES "--merge 2>&1", 2, "--merge needs parts");
    run(POLICIES "--shard 2/2 2>&1", 2, "a shard is I/N with 0 <= I < N, not \"2/2\"");
    run(POLICIES "--shard 0/2 --merge part0 2>&1", 2, "--shard comes without --merge");
    run("rm -f part0 part1 cut whole.md merged.md", 0, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shards_merge_into_the_whole),
                                       cmocka_unit_test(parts_that_do_not_fit_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
