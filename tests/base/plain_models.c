/* labels: property */
/* What stands below every component, beside plain models: products of 64-bit numbers, sets of bits, hashes, the
 * sentence of a diagnostic, ranges of configurations, heads of memory, and arrays that grow. */
#include <inttypes.h>
#include <stdio.h>

#include "test.h"

/* Numbers around the powers of two, where carries are, and any others. */
static uint64_t number(uint64_t *random) {
    const uint64_t power = UINT64_C(1) << gpump_random_below(random, 64);
    switch (gpump_random_below(random, 4)) {
    case 0: return power + gpump_random_below(random, 5) - 2;
    case 1: return 0 - power + gpump_random_below(random, 5) - 2;
    case 2: return gpump_random_below(random, 4);
    default: return gpump_random_next(random) >> gpump_random_below(random, 64);
    }
}

/* a * b in eight digits of 16 bits, as one multiplies on paper. */
static void paper_product(uint64_t a, uint64_t b, uint32_t digits[8]) {
    uint64_t sums[8] = {0};
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < 4; k++) {
            const uint64_t one = (a >> 16 * i & 0xffff) * (b >> 16 * k & 0xffff);
            sums[i + k] += one & 0xffff;
            sums[i + k + 1] += one >> 16;
        }
    for (uint32_t i = 0; i < 8; i++) {
        if (i < 7) sums[i + 1] += sums[i] >> 16;
        digits[i] = (uint32_t)(sums[i] & 0xffff);
    }
}
static int compare_digits(const uint32_t a[8], const uint32_t b[8]) {
    for (uint32_t i = 8; i-- > 0;)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}
/* A quotient is right when quotient * c <= a * b < (quotient + 1) * c; it is the largest number where it does not fit.
 */
static void products_are_those_on_paper(void **state) {
    uint64_t seed = test_seed(), random = seed;
    (void)state;
    for (uint64_t n = 0; n < test_cases(100000); n++) {
        uint64_t a = number(&random), b = number(&random), c = number(&random), d = number(&random);
        const uint64_t down = gpump_muldiv_down(a, b, c), up = gpump_muldiv_up(a, b, c);
        uint32_t ab[8], cd[8], below[8], above[8], fits[8];
        if (n % 4 == 0) c = a, d = b + gpump_random_below(&random, 3) - 1;
        paper_product(a, b, ab);
        paper_product(c, d, cd);
        test_check(gpumpi_compare_products(a, b, c, d) == compare_digits(ab, cd), seed, n);
        test_check(gpump_add_saturated(a, b) == (b > UINT64_MAX - a ? UINT64_MAX : a + b), seed, n);
        if (n % 4 == 0) continue; /* c is another one now */
        paper_product(UINT64_MAX, c, fits);
        if (!c || compare_digits(ab, fits) >= 0) {
            test_check(down == UINT64_MAX && up == UINT64_MAX, seed, n);
            continue;
        }
        paper_product(down, c, below);
        paper_product(down + 1, c, above);
        test_check(compare_digits(below, ab) <= 0 && compare_digits(ab, above) < 0, seed, n);
        test_check(up == down + (compare_digits(below, ab) != 0), seed, n);
    }
}

/* Sets of bits and hashes of arrays are those that loops over single bits and numbers give. */
static void sets_and_hashes_are_those_of_single_bits_and_numbers(void **state) {
    uint64_t seed = test_seed(), random = seed;
    (void)state;
    for (uint64_t n = 0; n < test_cases(20000); n++) {
        uint64_t words[9], count = number(&random), hash = gpump_random_next(&random), plain = hash, width = 0;
        uint32_t halves[9], length = gpump_random_below(&random, 9), ones = 0, low;
        unsigned char bytes[9];
        for (uint32_t i = 0; i < 9; i++) {
            words[i] = number(&random);
            halves[i] = (uint32_t)gpump_random_next(&random);
            bytes[i] = (unsigned char)gpump_random_below(&random, 256);
            for (uint32_t bit = 0; i < length && bit < 64; bit++) ones += words[i] >> bit & 1;
        }
        test_check(gpump_bits_count(words, length) == ones, seed, n);
        for (ones = low = 0; ones < 64 && !(words[0] >> ones & 1); ones++) {}
        if (words[0]) test_check(gpump_bits_lowest64(words[0]) == ones, seed, n);
        for (ones = 0; low < 64; low++) ones += words[0] >> low & 1;
        test_check(gpumpi_bits_count64(words[0]) == ones && gpump_bits_count64(words[0]) == ones, seed, n);
        if (count) /* the largest value is count - 1 */
            while (width < 64 && (count - 1) >> width) width++;
        test_check(gpumpi_bits_for(count) == width, seed, n);
        for (uint32_t i = 0; i < length; i++) plain = gpump_hash_u64(plain, words[i]);
        test_check(gpumpi_hash_u64s(hash, words, length) == plain, seed, n);
        plain = hash;
        for (uint32_t i = 0; i < length; i++) plain = gpump_hash_u64(plain, halves[i]);
        test_check(gpumpi_hash_u32s(hash, halves, length) == plain, seed, n);
        plain = hash;
        for (uint32_t i = 0; i < length; i++) plain = gpump_hash_u64(plain, bytes[i]);
        test_check(gpump_hash_bytes(hash, bytes, length) == plain, seed, n);
    }
}

/* The sentence, put together from its parts: what is wrong, where, with which value, and what would have been right. */
static void sentence_of(const gpump_diag *d, char *text, size_t bytes) {
    const char *name = gpump_result_name(d->code), *meaning = gpump_result_text(d->code);
    const char *field = d->field ? d->field : "argument";
    const int is_value = d->code == GPUMP_ERROR_ARGUMENT || d->code == GPUMP_ERROR_CONFIG;
    char place[60] = "", range[80];
    if (d->code == GPUMP_ERROR_FORMAT)
        snprintf(place, sizeof place, " at byte %" PRIu64, d->index);
    else if (d->index)
        snprintf(place, sizeof place, "[%" PRIu64 "]", d->index);
    snprintf(range, sizeof range, "%" PRIu64 " to %" PRIu64, d->minimum, d->maximum);
    if (d->maximum >= UINT64_MAX - 1) snprintf(range, sizeof range, "at least %" PRIu64, d->minimum);
    if (d->maximum == d->minimum) snprintf(range, sizeof range, "%" PRIu64, d->minimum);
    if (d->reason != GPUMP_REASON_YES) {
        snprintf(text, bytes, "%s: %s%s: %s; %s", name, field, place, gpump_reason_text(d->reason),
                 gpump_reason_remedy(d->reason));
    } else if (d->code == GPUMP_ERROR_LAYOUT) {
        snprintf(text, bytes, "%s: the host has layout %08" PRIx64 " of room %s, the library %08" PRIx64 "; %s", name,
                 d->value, field, d->minimum, meaning);
    } else if (strstr(field, ": ")) {
        snprintf(text, bytes, "%s: %s", name, field);
        if (d->index) snprintf(text + strlen(text), bytes - strlen(text), " (number %" PRIu64 ")", d->index);
    } else if (d->code == GPUMP_ERROR_ARGUMENT && d->value == 0 && d->minimum == 1 && d->maximum == UINT64_MAX) {
        snprintf(text, bytes, "%s: %s%s is NULL, must point to an object", name, field, place);
    } else if ((d->code == GPUMP_ERROR_UNKNOWN_NAME && d->maximum == 0) ||
               (d->minimum == d->maximum && (d->value == d->minimum || d->code == GPUMP_ERROR_STATE ||
                                             d->code == GPUMP_ERROR_STALE || d->code == GPUMP_ERROR_MEMORY))) {
        snprintf(text, bytes, "%s: %s%s: %s", name, field, place, meaning);
    } else if (is_value) {
        snprintf(text, bytes, "%s: %s%s is %" PRIu64 ", must be %s", name, field, place, d->value, range);
    } else {
        snprintf(text, bytes, "%s: %s%s is %" PRIu64 ", must be %s; %s", name, field, place, d->value, range, meaning);
    }
}

/* The text of a diagnostic is put together from its parts, and is cut where the caller's buffer ends. */
static void diagnostics_read_as_their_parts_say(void **state) {
    static const uint64_t values[] = {0, 1, 2, 7, UINT64_MAX - 1, UINT64_MAX};
    static const char *const fields[] = {NULL, "warps", "block is not open: open it"};
    uint64_t seed = test_seed(), random = seed;
    (void)state;
    for (uint64_t n = 0; n < test_cases(20000); n++) {
        char expected[500], text[500], cut[20];
        gpump_diag d;
        const size_t room = 1 + gpump_random_below(&random, sizeof cut);
        d.code = (gpump_result)(3 - (int)gpump_random_below(&random, 17));
        d.reason = gpump_random_below(&random, 4) ? GPUMP_REASON_YES
                                                  : (gpump_reason)gpump_random_below(&random, GPUMP_REASON_COUNT);
        d.field = fields[gpump_random_below(&random, 3)];
        d.index = gpump_random_below(&random, 2) ? 0 : values[gpump_random_below(&random, 6)];
        d.value = values[gpump_random_below(&random, 6)];
        d.minimum = values[gpump_random_below(&random, 6)];
        d.maximum = gpump_random_below(&random, 2) ? d.minimum : values[gpump_random_below(&random, 6)];
        sentence_of(&d, expected, sizeof expected);
        test_check(gpump_diag_text(&d, text, sizeof text) == strlen(expected), seed, n);
        test_check(!strcmp(text, expected), seed, n);
        test_check(gpump_diag_text(&d, cut, room) == strlen(expected) && strlen(cut) < room, seed, n);
        test_check(!strncmp(cut, expected, strlen(cut)), seed, n);
    }
}

/* The first of several fields that is out of its range is named, with the range; both ends of a range are in it. */
static void the_first_field_out_of_its_range_is_named(void **state) {
    uint64_t seed = test_seed(), random = seed;
    (void)state;
    for (uint64_t n = 0; n < test_cases(20000); n++) {
        static const char *const names[] = {"a", "b", "c", "d"};
        uint32_t values[4], bad = 4;
        gpumpi_limit limits[4];
        gpump_diag diag;
        gpump_result result;
        const uint32_t count = gpump_random_below(&random, 5);
        for (uint32_t i = 0; i < 4; i++) {
            values[i] = gpump_random_below(&random, 5);
            limits[i].field = names[i];
            limits[i].at = (uint32_t)(i * sizeof *values);
            limits[i].minimum = gpump_random_below(&random, 3);
            limits[i].maximum = limits[i].minimum + gpump_random_below(&random, 4);
        }
        for (uint32_t i = count; i-- > 0;)
            if (values[i] < limits[i].minimum || values[i] > limits[i].maximum) bad = i;
        memset(&diag, 0, sizeof diag);
        result = gpumpi_check_limits(values, limits, count, &diag);
        test_check(result == (bad < 4 ? GPUMP_ERROR_CONFIG : GPUMP_OK), seed, n);
        if (bad == 4) continue;
        test_check(diag.field == names[bad] && diag.value == values[bad], seed, n);
        test_check(diag.minimum == limits[bad].minimum && diag.maximum == limits[bad].maximum, seed, n);
        test_check(gpumpi_range(&diag, "x", values[bad], limits[bad].minimum, limits[bad].maximum) == result, seed, n);
    }
}

/* Memory is accepted when it is aligned, long enough, and its head is the one that was written; else the first
 * difference is named with its byte. */
static void a_head_is_accepted_only_as_it_was_written(void **state) {
    static uint64_t words[16];
    gpump_diag diag;
    (void)state;
    for (size_t bytes = 0; bytes <= 64; bytes++) {
        memset(words, 0xa5, sizeof words);
        assert_int_equal(gpumpi_head_init(words, bytes, 5, 6, 48, &diag), bytes < 48 ? GPUMP_ERROR_CAPACITY : GPUMP_OK);
        if (bytes < 48) continue;
        for (size_t at = 0; at < sizeof words; at++)
            assert_int_equal(((unsigned char *)words)[at], at >= 48   ? 0xa5
                                                           : at == 0  ? 5
                                                           : at == 8  ? 6
                                                           : at == 16 ? 48
                                                                      : 0);
        assert_int_equal(gpumpi_head_adopt(words, bytes, 5, 6, 48, &diag), GPUMP_OK);
    }
    assert_int_equal(gpumpi_head_adopt(words, 47, 5, 6, 48, &diag), GPUMP_ERROR_FORMAT);
    assert_true(diag.value == 47 && diag.minimum == 48);
    assert_int_equal(gpumpi_head_adopt(words, sizeof(gpumpi_head) - 1, 5, 6, 48, &diag), GPUMP_ERROR_CAPACITY);
    assert_int_equal(gpumpi_head_adopt(NULL, 48, 5, 6, 48, &diag), GPUMP_ERROR_ARGUMENT);
    assert_int_equal(gpumpi_head_adopt((char *)words + 4, 48, 5, 6, 48, &diag), GPUMP_ERROR_ARGUMENT);
    for (uint64_t which = 0; which < 3; which++) {
        words[which]++;
        assert_int_equal(gpumpi_head_adopt(words, 64, 5, 6, 48, &diag), GPUMP_ERROR_FORMAT);
        assert_true(diag.index == 8 * which && diag.value == words[which] && diag.minimum == words[which] - 1);
        words[which]--;
    }
}

/* ---- arrays: private ones, so that gpump.h declares them to its implementation only ---- */
void *gpumpi_array_grow(const gpump_allocator *allocator, void *array, size_t element_bytes, size_t count);
void gpumpi_array_free(const gpump_allocator *allocator, void *array, size_t element_bytes);

typedef struct counted {
    size_t calls, bytes;
    int fails;
} counted;
static void *counted_reallocate(void *user, void *pointer, size_t old_bytes, size_t new_bytes) {
    counted *c = (counted *)user;
    assert_true(c->bytes == old_bytes && (pointer != NULL) == (old_bytes != 0));
    c->calls++;
    if (c->fails && new_bytes) return NULL;
    c->bytes = new_bytes;
    if (new_bytes) return realloc(pointer, new_bytes);
    free(pointer);
    return NULL;
}
/* An array holds what was put into it, asks rarely for more room, and tells when there is none: also where the bytes
 * are more than there are numbers. */
static void arrays_grow_by_doubling_or_tell(void **state) {
    uint64_t seed = test_seed(), random = seed;
    (void)state;
    for (uint64_t n = 0; n < test_cases(300); n++) {
        counted c = {0, 0, 0};
        gpump_allocator allocator;
        uint64_t *array = NULL;
        uint32_t count = 1 + gpump_random_below(&random, 300), at, room = 4, calls = 1;
        allocator.reallocate = counted_reallocate;
        allocator.user = &c;
        for (at = 0; at < count; at++) {
            array = (uint64_t *)gpumpi_array_grow(&allocator, array, sizeof *array, at + 1);
            test_check(array != NULL, seed, n);
            array[at] = at * 7 + n;
        }
        for (; room < count; room *= 2) calls++;
        test_check(c.calls == calls, seed, n);
        for (at = 0; at < 64; at++) { /* more than can be: nobody is asked */
            const size_t element = (size_t)1 << gpump_random_below(&random, (uint32_t)sizeof(size_t) * 5),
                         most = SIZE_MAX / element,
                         wanted = most / 2 + 2 + (size_t)(gpump_random_next(&random) % (most / 2 - 2));
            test_check(gpumpi_array_grow(&allocator, NULL, element, wanted) == NULL, seed, n);
            test_check(c.calls == calls, seed, n);
        }
        c.fails = 1;
        test_check(gpumpi_array_grow(&allocator, array, sizeof *array, room) == array, seed, n);
        test_check(gpumpi_array_grow(&allocator, array, sizeof *array, room + 1) == NULL, seed, n);
        for (at = 0; at < count; at++) test_check(array[at] == at * 7 + n, seed, n);
        gpumpi_array_free(&allocator, array, sizeof *array);
        gpumpi_array_free(&allocator, NULL, sizeof *array);
        test_check(c.bytes == 0, seed, n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_on_paper),
        cmocka_unit_test(sets_and_hashes_are_those_of_single_bits_and_numbers),
        cmocka_unit_test(diagnostics_read_as_their_parts_say),
        cmocka_unit_test(the_first_field_out_of_its_range_is_named),
        cmocka_unit_test(a_head_is_accepted_only_as_it_was_written),
        cmocka_unit_test(arrays_grow_by_doubling_or_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
