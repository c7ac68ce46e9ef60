#include "tools/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/loops.h"

/* Returns whether a process is checked. A process that has not run once is unchecked, which happens only when stop_at
 * may end the run. */
static int is_checked(const machine *m, uint32_t process) { return m->runs[process].ended || m->stop_cycle == NEVER; }

/* Returns a buffer's contents; for a process that repeats, the contents after its first run. */
static const uint8_t *contents(const machine *m, const launch_buffer *buffer) {
    const uint8_t *first = loops_first_result(m, (uint32_t)(buffer - m->launch->buffers));
    return first ? first : m->memory + (buffer->address - DEVICE_BASE);
}

/* gpump_hash_bytes, unrolled: most of what a short run does after its last cycle. */
static uint64_t hash_contents(uint64_t hash, const uint8_t *bytes, uint64_t count) {
    uint64_t i;
    for (i = 0; i + 8 <= count; i += 8) {
        hash = gpump_hash_u64(hash, bytes[i]);
        hash = gpump_hash_u64(hash, bytes[i + 1]);
        hash = gpump_hash_u64(hash, bytes[i + 2]);
        hash = gpump_hash_u64(hash, bytes[i + 3]);
        hash = gpump_hash_u64(hash, bytes[i + 4]);
        hash = gpump_hash_u64(hash, bytes[i + 5]);
        hash = gpump_hash_u64(hash, bytes[i + 6]);
        hash = gpump_hash_u64(hash, bytes[i + 7]);
    }
    return gpump_hash_bytes(hash, bytes + i, (size_t)(count - i));
}

uint64_t check_sum(const machine *m, const launch_file *launch, const launch_kernel *k) {
    uint64_t hash = GPUMP_HASH_SEED;
    uint32_t i;
    for (i = 0; i < k->argument_count; i++) {
        const launch_buffer *buffer = &launch->buffers[k->arguments[i].buffer];
        if (k->arguments[i].is_buffer) hash = hash_contents(hash, contents(m, buffer), buffer->bytes);
    }
    return hash;
}

static void element_text(const launch_buffer *buffer, const uint8_t *bytes, uint64_t index, char *text, size_t size) {
    uint32_t width = launch_type_bytes(buffer->type);
    uint64_t bits = 0;
    int length;
    memcpy(&bits, bytes + index * width, width);
    length = launch_type_text(buffer->type, bits, text, size);
    snprintf(text + length, size - (size_t)length, " (0x%0*" PRIx64 ")",
             launch_type_is_float(buffer->type) ? (int)(2 * width) : 1, bits);
}

/* Returns whether an element is near enough to the expected one. Without a tolerance the bits must be equal. NaN is
 * near NaN. */
static int near_enough(launch_type type, const uint8_t *is, const uint8_t *expected, launch_tolerance tolerance) {
    uint64_t a = 0, b = 0;
    double x, y;
    const uint32_t width = launch_type_bytes(type);
    if (memcmp(is, expected, width) == 0) return 1;
    if (!launch_type_is_float(type) || (tolerance.absolute == 0 && tolerance.relative == 0)) return 0;
    memcpy(&a, is, width);
    memcpy(&b, expected, width);
    x = launch_as_double(type, a);
    y = launch_as_double(type, b);
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return x == y || fabs(x - y) <= tolerance.absolute + tolerance.relative * fabs(y);
}

/* Notes the first element that differs by more than the tolerance. `what` names the buffer. */
static void compare(const launch_kernel *k, const char *what, const launch_buffer *buffer, const uint8_t *is,
                    const uint8_t *expected, launch_tolerance tolerance, kernel_check *check) {
    const uint32_t width = launch_type_bytes(buffer->type);
    const uint64_t elements = buffer->bytes / width;
    uint64_t i, first = elements, count = 0;
    char a[64], b[64];
    if (memcmp(is, expected, buffer->bytes) == 0) return;
    for (i = 0; i < elements; i++) {
        if (near_enough(buffer->type, is + i * width, expected + i * width, tolerance)) continue;
        if (!count++) first = i;
    }
    if (!count) return;
    if (check->result != CHECK_WRONG) {
        element_text(buffer, is, first, a, sizeof a);
        element_text(buffer, expected, first, b, sizeof b);
        snprintf(check->text, sizeof check->text,
                 "kernel %s: %s, element %" PRIu64 ": is %s, expected %s; %" PRIu64 " of %" PRIu64 " elements differ%s",
                 k->name, what, first, a, b, count, elements,
                 tolerance.absolute > 0 || tolerance.relative > 0 ? " by more than the tolerance" : "");
    }
    check->result = CHECK_WRONG;
}

/* Makes the launch's view for references, over `contents` of the launch file's buffers. The caller frees
 * view->arguments. iteration: earlier rounds of the kernel's loop. Returns 0, or -1 when memory is out. */
static int view_launch(const launch_kernel *k, const launch_file *launch, uint64_t iteration, uint8_t *const *buffers,
                       reference_launch *view) {
    reference_argument *arguments =
        (reference_argument *)calloc(k->argument_count ? k->argument_count : 1, sizeof *arguments);
    uint32_t i;
    if (!arguments) return -1;
    for (i = 0; i < k->argument_count; i++) {
        const launch_argument *a = &k->arguments[i];
        arguments[i].scalar = a->is_buffer ? 0 : launch_scalar(a, iteration);
        if (!a->is_buffer) continue;
        arguments[i].buffer = buffers[a->buffer] + a->offset;
        arguments[i].bytes = launch->buffers[a->buffer].bytes - a->offset;
    }
    memcpy(view->grid, k->grid, sizeof view->grid);
    memcpy(view->block, k->block, sizeof view->block);
    view->dynamic_shared_bytes = k->dynamic_shared_bytes;
    view->argument_count = k->argument_count;
    view->arguments = arguments;
    return 0;
}

static void run_reference(const launch_kernel *k, const launch_file *launch, uint64_t iteration, uint8_t **mirror,
                          kernel_check *check) {
    reference_launch view;
    const char *why;
    if (view_launch(k, launch, iteration, mirror, &view)) return;
    why = k->reference->reference(&view);
    if (why) {
        check->result = CHECK_WRONG;
        snprintf(check->text, sizeof check->text, "kernel %s: the reference refuses the launch: %s", k->name, why);
    }
    free((void *)view.arguments);
}

static uint8_t *copy_of(const uint8_t *from, uint64_t bytes) {
    uint8_t *copy = (uint8_t *)malloc(bytes ? bytes : 1);
    return copy ? (uint8_t *)memcpy(copy, from, bytes) : NULL;
}

/* Runs the check of a kernel that may leave its elements in any order, on copies of actual and expected elements.
 * Returns 0, or -1 when memory is out. */
static int run_check(const machine *m, const launch_file *launch, const launch_kernel *k, uint8_t *const *mirror,
                     const uint8_t *known, kernel_check *check) {
    uint8_t **copies = (uint8_t **)calloc(2 * (size_t)launch->buffer_count + 1, sizeof *copies);
    uint8_t **is = copies, **expected = copies ? copies + launch->buffer_count : NULL;
    reference_launch views[2] = {{{0}, {0}, 0, 0, NULL}, {{0}, {0}, 0, 0, NULL}};
    const char *why = NULL;
    uint32_t i, all_known = 1;
    int failed = !copies;
    for (i = 0; i < k->argument_count && !failed; i++) {
        const uint32_t at = k->arguments[i].buffer;
        if (!k->arguments[i].is_buffer || is[at]) continue;
        all_known &= known[at];
        is[at] = copy_of(contents(m, &launch->buffers[at]), launch->buffers[at].bytes);
        expected[at] = copy_of(mirror[at], launch->buffers[at].bytes);
        failed = !is[at] || !expected[at];
    }
    failed = failed || view_launch(k, launch, 0, is, &views[0]) || view_launch(k, launch, 0, expected, &views[1]);
    if (!failed && all_known && check->result != CHECK_WRONG) why = k->reference->check(&views[0], &views[1]);
    if (why) {
        check->result = CHECK_WRONG;
        snprintf(check->text, sizeof check->text, "kernel %s: %s", k->name, why);
    }
    for (i = 0; copies && i < 2 * launch->buffer_count; i++) free(copies[i]);
    free(copies);
    free((void *)views[0].arguments);
    free((void *)views[1].arguments);
    return failed ? -1 : 0;
}

static void check_buffers(const machine *m, const launch_file *launch, const launch_kernel *k, kernel_check *check) {
    uint32_t i;
    for (i = 0; i < k->expected_count; i++) {
        const launch_expected *expected = &k->expected[i];
        const launch_buffer *buffer = &launch->buffers[expected->buffer];
        const uint32_t width = launch_type_bytes(buffer->type);
        uint8_t *bytes = (uint8_t *)calloc(1, buffer->bytes + 1);
        FILE *stream = expected->path ? fopen(expected->path, "rb") : NULL;
        char what[128];
        uint64_t n;
        if (check->result == CHECK_NOTHING_EXPECTED) check->result = CHECK_RIGHT;
        snprintf(what, sizeof what, buffer->name ? "buffer %s" : "buffer of line %s%u",
                 buffer->name ? buffer->name : "", buffer->place.line);
        for (n = 0; bytes && !expected->path && n < buffer->bytes; n += width)
            memcpy(bytes + n, &expected->bits, width); /* little-endian hosts */
        if (!bytes || (expected->path && (!stream || fread(bytes, 1, buffer->bytes + 1, stream) != buffer->bytes))) {
            check->result = CHECK_WRONG;
            snprintf(check->text, sizeof check->text, "kernel %s: %s does not hold %" PRIu64 " bytes", k->name,
                     expected->path ? expected->path : "memory", buffer->bytes);
        } else {
            compare(k, what, buffer, contents(m, buffer), bytes, expected->tolerance, check);
        }
        if (stream) fclose(stream);
        free(bytes);
    }
}

/* Marks the buffers as unknown that a kernel without a reference may have written: its own, and all that pointers and
 * symbols reach. */
static void forget(const launch_file *launch, const launch_kernel *k, uint8_t *known) {
    uint32_t i;
    for (i = 0; i < k->argument_count; i++)
        if (k->arguments[i].is_buffer) known[k->arguments[i].buffer] = 0;
    for (i = 0; i < launch->pointer_count; i++) known[launch->pointers[i].buffer] = 0;
    for (i = 0; i < launch->buffer_count; i++)
        if (launch->buffers[i].symbol) known[i] = 0;
}

/* Runs the references of all kernels on the mirrors, in order, because kernels may share buffers. A loop repeats as
 * often as on the machine. */
static void run_references(const machine *m, const launch_file *launch, uint8_t **mirror, uint8_t *known,
                           kernel_check *checks) {
    uint32_t i = 0, n, w, round;
    while (i < launch->kernel_count) {
        const launch_loop *loop = launch_loop_at(launch, i);
        const uint32_t rounds = loop ? m->loop_rounds[loop - launch->loops] : 1, count = loop ? loop->count : 1;
        for (round = 0; round < rounds; round++) {
            for (w = 0; loop && w < loop->write_count; w++) {
                const launch_write *write = &loop->writes[w];
                memcpy(mirror[write->buffer] + write->offset, &write->bits,
                       launch_type_bytes(launch->buffers[write->buffer].type));
            }
            for (n = i; n < i + count; n++) {
                const launch_kernel *k = &launch->kernels[n];
                if (!is_checked(m, k->process)) continue;
                if (k->reference) {
                    if (checks[n].result == CHECK_NOTHING_EXPECTED) checks[n].result = CHECK_RIGHT;
                    run_reference(k, launch, round, mirror, &checks[n]);
                } else {
                    forget(launch, k, known);
                }
            }
        }
        i += count;
    }
}

int check_results(const machine *m, const launch_file *launch, kernel_check *checks) {
    uint8_t **mirror = (uint8_t **)calloc(launch->buffer_count + 1, sizeof *mirror);
    uint8_t *known = (uint8_t *)calloc(launch->buffer_count + 1, 1);
    uint32_t i, n;
    int result = -1, wrong = 0;
    if (!mirror || !known) goto done;
    for (i = 0; i < launch->buffer_count; i++) {
        mirror[i] = (uint8_t *)malloc(launch->buffers[i].bytes ? launch->buffers[i].bytes : 1);
        if (!mirror[i]) goto done;
        memcpy(mirror[i], launch->buffers[i].contents, launch->buffers[i].bytes);
        known[i] = 1;
    }
    memset(checks, 0, launch->kernel_count * sizeof *checks);
    run_references(m, launch, mirror, known, checks);
    for (i = 0; i < launch->kernel_count; i++) {
        const launch_kernel *k = &launch->kernels[i];
        if (m->kernels[i].killed) {
            checks[i].result = CHECK_ABORTED;
            wrong = 1;
            continue;
        }
        if (!is_checked(m, k->process)) {
            checks[i].result = CHECK_NOT_ENDED;
            continue;
        }
        if (k->trace) checks[i].result = CHECK_RIGHT; /* each register was compared when it was read */
        if (k->reference && k->reference->check && run_check(m, launch, k, mirror, known, &checks[i])) goto done;
        for (n = 0; k->reference && !k->reference->check && n < k->argument_count; n++) {
            const launch_argument *a = &k->arguments[n];
            char what[32];
            snprintf(what, sizeof what, "argument %u", n);
            if (a->is_buffer && known[a->buffer])
                compare(k, what, &launch->buffers[a->buffer], contents(m, &launch->buffers[a->buffer]),
                        mirror[a->buffer], k->argument_tolerances ? k->argument_tolerances[n] : k->tolerance,
                        &checks[i]);
        }
        if (k->has_checksum) {
            uint64_t sum = check_sum(m, launch, k);
            if (checks[i].result == CHECK_NOTHING_EXPECTED) checks[i].result = CHECK_RIGHT;
            if (sum != k->checksum) {
                checks[i].result = CHECK_WRONG;
                snprintf(checks[i].text, sizeof checks[i].text,
                         "kernel %s: checksum is 0x%016" PRIx64 ", expected 0x%016" PRIx64, k->name, sum, k->checksum);
            }
        }
        check_buffers(m, launch, k, &checks[i]);
        wrong |= checks[i].result == CHECK_WRONG;
    }
    result = wrong;
done:
    for (i = 0; mirror && i < launch->buffer_count; i++) free(mirror[i]);
    free(mirror);
    free(known);
    return result;
}

int check_run_one(machine *m, const launch_file *launch, char error[LAUNCH_ERROR_BYTES]) {
    kernel_check check;
    if (launch->kernel_count != 1)
        snprintf(error, LAUNCH_ERROR_BYTES, "%.200s has %u kernels, not one", launch->path, launch->kernel_count);
    else if (machine_run(m, NEVER) != 1)
        snprintf(error, LAUNCH_ERROR_BYTES, "%s", m->error);
    else if (check_results(m, launch, &check))
        snprintf(error, LAUNCH_ERROR_BYTES, "%s", check.text);
    else
        return 0;
    return -1;
}
