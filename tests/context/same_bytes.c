/* labels: property */
/* The bytes and the form that compression gives random blocks, and its bounds, beside what was written down when a
 * change was last meant. Other tests show that every block comes back; this one shows which of several forms is chosen.
 */
#include "context/compress_cases.h"
#include "decisions.h"

/* The bytes of each compressed form stay those that are written down in tests/context/decisions. */
static void bytes_of_every_form_are_as_written_down(void **state) {
    static const uint32_t allowed[] = {
        GPUMP_COMPRESS_ALLOW_LIVE,  GPUMP_COMPRESS_ALLOW_WARP, GPUMP_COMPRESS_ALLOW_WARP | GPUMP_COMPRESS_ALLOW_LIVE,
        GPUMP_COMPRESS_ALLOW_BLOCK, GPUMP_COMPRESS_ALLOW_NEAR, GPUMP_COMPRESS_ALLOW_ALL & ~GPUMP_COMPRESS_ALLOW_BLOCK,
        GPUMP_COMPRESS_ALLOW_ALL};
    static compress_case c;
    decisions all = decisions_begin(80);
    uint64_t random = 11;
    (void)state;
    compress_case_init(&c);
    for (uint32_t n = 0; n < 300; n++) {
        const gpump_compress_layout *l = &c.layout;
        size_t bound, bytes;
        do (void)compress_case_make(&c, &random);
        while (l->warps > 8 && n % 50);
        assert_int_equal(gpump_compress_bound(l, &bound, NULL), GPUMP_OK);
        decided(&all,
                "block %" PRIu32 ": %" PRIu32 " warps, %" PRIu32 " registers, %" PRIu32 " lanes (%" PRIu32
                " in the last), groups of %" PRIu32 ": %zu bytes at most",
                n, l->warps, l->registers, l->lanes, l->last_lanes, l->group, bound);
        for (uint32_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
            uint32_t form;
            assert_int_equal(
                gpump_compress_save(l, c.values, c.live, allowed[i], c.out, c.capacity, &bytes, &form, NULL), GPUMP_OK);
            assert_true(bytes <= bound);
            decided(&all, "  %02" PRIx32 ": form %" PRIu32 ", %zu bytes, 0x%016" PRIx64, allowed[i], form, bytes,
                    gpump_hash_bytes(GPUMP_HASH_SEED, c.out, bytes));
        }
    }
    compress_case_free(&c);
    assert_false(decisions_differ(&all, "tests/context/decisions/compressed.txt"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_of_every_form_are_as_written_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
