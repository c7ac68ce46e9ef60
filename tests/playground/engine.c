/* labels: unit link: minigpu_core playground_engine */
/* The playground's engine, compiled for this machine: what it says of a running machine is JSON, blocks lie apart
 * within the register file and shared memory, and a look never changes the run. */
#define _GNU_SOURCE
#include "../../examples/playground/engine/engine.h"

#include <jansson.h>
#include <unistd.h>

#include "test.h"

#define DEMO GPUMP_SOURCE_DIR "/examples/minigpu/demo.yaml"

/* Calls a function that writes to standard output, and reads what it wrote as JSON. */
static json_t *said(void (*speak)(void)) {
    FILE *file = tmpfile();
    json_error_t error;
    json_t *value;
    int before;
    assert_non_null(file);
    fflush(stdout);
    before = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    speak();
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    rewind(file);
    value = json_loadf(file, 0, &error);
    fclose(file);
    if (!value) fail_msg("line %d: %s", error.line, error.text);
    return value;
}

static void report(void) { engine_report(); }

static json_int_t number(const json_t *list, size_t index) { return json_integer_value(json_array_get(list, index)); }

/* Checks that ranges (at `from` and from + 1 of each block) of one SM lie apart and end before `all`. */
static void check_ranges(const json_t *blocks, size_t from, json_int_t all) {
    size_t i, k;
    for (i = 0; i < json_array_size(blocks); i++) {
        const json_t *a = json_array_get(blocks, i);
        assert_true(number(a, from) + number(a, from + 1) <= all);
        for (k = 0; k < i; k++) {
            const json_t *b = json_array_get(blocks, k);
            if (number(a, 0) != number(b, 0)) continue;
            assert_true(number(a, from) + number(a, from + 1) <= number(b, from) ||
                        number(b, from) + number(b, from + 1) <= number(a, from));
        }
    }
}

/* What the page asks of the engine: the machine, a look at each cycle, and the last one. */
static void looks_describe_the_machine(void **state) {
    static const char words[] = "run\0" DEMO "\0--preempt\0"
                                "20000:flush";
    json_t *about, *look, *last;
    json_int_t registers, shared;
    uint32_t hash;
    (void)state;
    memcpy(engine_text(sizeof words), words, sizeof words);
    assert_int_equal(engine_open(4), 0);
    assert_true(engine_request_cycle() == 20000);
    about = said(engine_describe);
    registers = json_integer_value(json_object_get(json_object_get(about, "gpu"), "registers"));
    shared = json_integer_value(json_object_get(json_object_get(about, "gpu"), "shared"));
    assert_true(registers > 0 && shared > 0);
    assert_int_equal(engine_run(20100), 0);
    hash = engine_hash();
    look = said(engine_look);
    assert_int_equal(engine_hash(), hash);
    assert_int_equal(json_integer_value(json_object_get(look, "now")), 20100);
    assert_true(json_array_size(json_object_get(look, "blocks")) > 15);
    check_ranges(json_object_get(look, "blocks"), 5, registers);
    check_ranges(json_object_get(look, "blocks"), 7, shared);
    assert_true(json_array_size(json_object_get(look, "victims")) > 0);
    assert_int_equal(engine_run(1e15), 1);
    last = said(report);
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(json_object_get(last, "kernels"), 0), "result")), "right");
    json_decref(about);
    json_decref(look);
    json_decref(last);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(looks_describe_the_machine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
