/* labels: command unit link: minigpu_core */
/* What minigpu writes: reports that parse and agree with themselves, traces that Perfetto can draw, a demo that is
 * right. */
#include "run_command.h"

#include <jansson.h>
#include <timeline.h>
#include <unistd.h>

#define PROGRAM GPUMP_BINARY_DIR "/examples/minigpu/minigpu"
#define DEMO GPUMP_SOURCE_DIR "/examples/minigpu/demo.yaml"
#define PAGE GPUMP_BINARY_DIR "/test_minigpu_output_page.html"
#define TRACE GPUMP_BINARY_DIR "/test_minigpu_output_trace.json"

static char output[1 << 20];

static json_t *run_json(const char *options) {
    char command[1024];
    json_error_t error;
    json_t *root;
    snprintf(command, sizeof command, "%s run %s --json %s", PROGRAM, DEMO, options);
    assert_int_equal(run_command(command, output, sizeof output), 0);
    root = json_loads(output, 0, &error);
    if (!root) fail_msg("line %d: %s", error.line, error.text);
    return root;
}

static json_int_t integer(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    if (!json_is_integer(value)) fail_msg("%s is missing", name);
    return json_integer_value(value);
}

/* Cycles, results, counters and preemptions in --json, beside the run. */
static void the_json_report_is_the_run(void **state) {
    json_t *root = run_json("--preempt 9000:switch"), *kernels = json_object_get(root, "kernels"),
           *totals = json_object_get(root, "totals"), *preemptions;
    json_int_t warp_instructions = 0, bytes_saved = 0;
    size_t i;
    (void)state;
    assert_int_equal(integer(root, "model_version"), GPUMP_MODEL_VERSION);
    assert_int_equal(json_array_size(kernels), 2);
    for (i = 0; i < 2; i++) {
        const json_t *kernel = json_array_get(kernels, i);
        assert_string_equal(json_string_value(json_object_get(kernel, "result")), "right");
        assert_true(integer(kernel, "end_cycle") > integer(kernel, "start_cycle"));
        assert_true(integer(kernel, "thread_instructions") <= 32 * integer(kernel, "warp_instructions"));
        warp_instructions += integer(kernel, "warp_instructions");
    }
    assert_int_equal(warp_instructions, integer(totals, "warp_instructions"));
    assert_true(json_real_value(json_object_get(root, "thread_instructions_per_second")) > 0);
    preemptions = json_object_get(root, "preemptions");
    assert_true(json_array_size(preemptions) > 0);
    for (i = 0; i < json_array_size(preemptions); i++) {
        const json_t *one = json_array_get(preemptions, i), *part = json_object_get(one, "saved_by_part");
        bytes_saved += integer(one, "bytes_saved");
        assert_true(integer(part, "register_bytes") > integer(part, "state_bytes"));
        assert_true(integer(part, "shared_bytes") > 0); /* hotspot's tiles */
        assert_int_equal(integer(part, "register_bytes") + integer(part, "shared_bytes") + integer(part, "state_bytes"),
                         integer(one, "bytes_saved"));
    }
    assert_int_equal(bytes_saved, integer(totals, "saved_bytes"));
    assert_int_equal(integer(totals, "saved_bytes"), integer(totals, "restored_bytes"));
    json_decref(root);
}

/* A line of the report names the parts of what was saved; without a save there are none. */
static void the_report_has_the_parts_of_contexts(void **state) {
    unsigned long long saved, registers, shared, rest;
    const char *line;
    (void)state;
    assert_int_equal(run_command(PROGRAM " run " DEMO " --preempt 9000:switch", output, sizeof output), 0);
    line = strstr(output, " bytes saved (");
    assert_non_null(line);
    while (line[-1] != ' ') line--;
    assert_int_equal(sscanf(line, "%llu bytes saved (%llu of registers, %llu of shared memory, %llu of state), ",
                            &saved, &registers, &shared, &rest),
                     4);
    assert_true(registers > rest && shared > 0);
    assert_int_equal(registers + shared + rest, saved);
    assert_int_equal(run_command(PROGRAM " run " DEMO " --preempt 9000:drain", output, sizeof output), 0);
    assert_non_null(strstr(output, ", 0 bytes saved, "));
}

/* The same run gives the same report, but for the time it took. */
static void test_reports_repeat(void **state) {
    json_t *first = run_json(""), *second = run_json("");
    (void)state;
    json_object_del(first, "seconds");
    json_object_del(first, "thread_instructions_per_second");
    json_object_del(second, "seconds");
    json_object_del(second, "thread_instructions_per_second");
    assert_true(json_equal(first, second));
    json_decref(first);
    json_decref(second);
}

static void trace_of(const char *technique, const char *expected) {
    char command[1024];
    json_error_t error;
    json_t *root, *event;
    size_t i, found = 0, runs = 0, names = 0;
    double ends[64][16];
    memset(ends, 0, sizeof ends);
    snprintf(command, sizeof command, "%s run %s --preempt 20000:%s --trace %s", PROGRAM, DEMO, technique, TRACE);
    assert_int_equal(run_command(command, output, sizeof output), 0);
    root = json_load_file(TRACE, 0, &error);
    if (!root) fail_msg("line %d: %s", error.line, error.text);
    json_array_foreach(root, i, event) {
        const char *phase = json_string_value(json_object_get(event, "ph")),
                   *category = json_string_value(json_object_get(event, "cat"));
        json_int_t pid = integer(event, "pid"), tid = integer(event, "tid");
        assert_non_null(phase);
        assert_non_null(json_string_value(json_object_get(event, "name")));
        if (strcmp(phase, "M") == 0) {
            names++;
            continue;
        }
        if (strcmp(category, expected) == 0) found++;
        if (strcmp(phase, "X") != 0 || pid == 0) continue;
        /* One slot is in one phase at a time: what begins has to begin after the last one's end. */
        {
            double start = json_number_value(json_object_get(event, "ts")),
                   duration = json_number_value(json_object_get(event, "dur"));
            assert_true(pid < 64 && tid < 16);
            assert_true(start >= ends[pid][tid] - 1e-6);
            assert_true(duration > 0);
            ends[pid][tid] = start + duration;
        }
        if (strcmp(category, "run") == 0) runs++;
    }
    assert_true(found > 0);
    assert_true(runs >= 1196);   /* every block of both kernels */
    assert_true(names > 15 * 6); /* slots that are never used have no line */
    json_decref(root);
    unlink(TRACE);
}

/* A trace has a span for the save, the restore, the drain and the flush. */
static void traces_show_each_technique(void **state) {
    (void)state;
    trace_of("switch", "save");
    trace_of("switch", "restore");
    trace_of("drain", "drain");
    trace_of("flush", "flush");
}

/* The data that a page carries. */
static json_t *page_data(const char *path, long most_bytes) {
    static const char opening[] = "<script type=\"application/json\" id=\"data\">";
    static char text[4 << 20];
    FILE *file = fopen(path, "r");
    char *begin, *end;
    json_error_t error;
    json_t *root;
    size_t length;
    assert_non_null(file);
    length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    assert_true((long)length < most_bytes);
    assert_null(strstr(text, "http:")); /* nothing is fetched */
    assert_null(strstr(text, "https:"));
    assert_null(strstr(text, " src="));
    begin = strstr(text, opening);
    assert_non_null(begin);
    begin += sizeof opening - 1;
    end = strstr(begin, "</script>");
    assert_non_null(end);
    root = json_loadb(begin, (size_t)(end - begin), 0, &error);
    if (!root) fail_msg("%s: line %d: %s", path, error.line, error.text);
    return root;
}

static size_t spans_of(const json_t *run) {
    const json_t *row;
    size_t i, spans = 0;
    json_array_foreach(json_object_get(run, "rows"), i, row) spans +=
        json_array_size(json_object_get(row, "spans")) / 6;
    return spans;
}

static size_t slices_of(const char *path) {
    json_t *root = json_load_file(path, 0, NULL), *event;
    size_t i, slices = 0;
    assert_non_null(root);
    json_array_foreach(root, i, event) slices += !strcmp(json_string_value(json_object_get(event, "ph")), "X");
    json_decref(root);
    return slices;
}

/* The page has a run per technique, each with what the trace has, and says what came of every victim. */
static void check_demo_page(const char *path) {
    static const char *const techniques[] = {"drain", "switch", "flush"};
    json_t *root = page_data(path, 500000), *runs = json_object_get(root, "runs"), *victim;
    size_t i, n;
    assert_int_equal(json_array_size(runs), 3);
    for (i = 0; i < 3; i++) {
        const json_t *run = json_array_get(runs, i), *victims = json_object_get(run, "victims");
        char trace[512];
        snprintf(trace, sizeof trace, GPUMP_BINARY_DIR "/demo-%s.json", techniques[i]);
        assert_string_equal(json_string_value(json_object_get(run, "name")), techniques[i]);
        assert_int_equal(spans_of(run), slices_of(trace));
        assert_int_equal(json_array_size(json_object_get(run, "requests")), 1);
        assert_int_equal(json_array_size(victims), 42);
        json_array_foreach(victims, n, victim) {
            assert_true(json_is_integer(json_array_get(victim, 5))); /* it has left */
            assert_string_equal(techniques[i],
                                timeline_technique((uint32_t)json_integer_value(json_array_get(victim, 6))));
        }
    }
    json_decref(root);
}

/* Every request of a run names the kernel that needs the room, and victims are of other kernels. */
static void check_requests_are_named(const json_t *run) {
    const json_t *requests = json_object_get(run, "requests"), *request, *victim;
    size_t i;
    assert_true(json_array_size(requests) > 0);
    json_array_foreach(requests, i, request) assert_true(json_is_integer(json_object_get(request, "kernel")));
    json_array_foreach(json_object_get(run, "victims"), i, victim) {
        request = json_array_get(requests, (size_t)json_integer_value(json_array_get(victim, 0)));
        assert_true(json_integer_value(json_object_get(request, "kernel")) !=
                    json_integer_value(json_array_get(victim, 2)));
    }
}

/* A page, like a trace, is an observer's: the run is the same to the cycle. */
static void test_observers_change_nothing(void **state) {
    static const char *const options[] = {"--victims dual --deadline-us 2 --preempt 9000",
                                          "--schedule equal --leave select"};
    char watched[256];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof options / sizeof *options; i++) {
        json_t *alone = run_json(options[i]), *seen, *page;
        snprintf(watched, sizeof watched, "%s --html %s --trace %s", options[i], PAGE, TRACE);
        seen = run_json(watched);
        json_object_del(alone, "seconds");
        json_object_del(alone, "thread_instructions_per_second");
        json_object_del(seen, "seconds");
        json_object_del(seen, "thread_instructions_per_second");
        assert_true(json_equal(alone, seen));
        page = page_data(PAGE, 500000);
        assert_int_equal(spans_of(json_array_get(json_object_get(page, "runs"), 0)), slices_of(TRACE));
        check_requests_are_named(json_array_get(json_object_get(page, "runs"), 0));
        json_decref(page);
        json_decref(alone);
        json_decref(seen);
    }
    unlink(PAGE);
    unlink(TRACE);
}

/* Options that exclude each other are refused with the reason, and nothing runs. */
static void test_contradictions_are_refused(void **state) {
    (void)state;
    assert_int_equal(run_command(PROGRAM " run " DEMO " --faults queue --absent all --link nvlink --fault-lazy"
                                         " --gpu-memory 64M 2>&1",
                                 output, sizeof output),
                     2);
    assert_non_null(strstr(output, "--gpu-memory excludes --fault-lazy: warps that wait in place"));
}

/* demo prints three right runs, and writes a page and a trace of each. */
static void the_demo_writes_its_page_and_three_traces(void **state) {
    const char *at;
    int right = 0;
    (void)state;
    assert_int_equal(run_command(PROGRAM " demo --trace " GPUMP_BINARY_DIR " --html " PAGE, output, sizeof output), 0);
    for (at = output; (at = strstr(at, "both right")); at++) right++;
    assert_int_equal(right, 3);
    assert_non_null(strstr(output, "perfetto"));
    assert_int_equal(access(GPUMP_BINARY_DIR "/demo-switch.json", R_OK), 0);
    check_demo_page(PAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_json_report_is_the_run),
                                       cmocka_unit_test(the_report_has_the_parts_of_contexts),
                                       cmocka_unit_test(test_reports_repeat),
                                       cmocka_unit_test(traces_show_each_technique),
                                       cmocka_unit_test(test_observers_change_nothing),
                                       cmocka_unit_test(test_contradictions_are_refused),
                                       cmocka_unit_test(the_demo_writes_its_page_and_three_traces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
