#include "tools/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t *contents(const machine *m, const launch_buffer *buffer) {
    return m->memory + (buffer->address - DEVICE_BASE);
}

uint64_t check_sum(const machine *m, const launch_file *launch, const launch_kernel *k) {
    uint64_t hash = GPUMP_HASH_SEED;
    uint32_t i;
    for (i = 0; i < k->argument_count; i++) {
        const launch_buffer *buffer = &launch->buffers[k->arguments[i].buffer];
        if (k->arguments[i].is_buffer) hash = gpump_hash_bytes(hash, contents(m, buffer), buffer->bytes);
    }
    return hash;
}

static void element_text(const launch_buffer *buffer, const uint8_t *bytes, uint64_t index, char *text, size_t size) {
    uint32_t width = launch_type_bytes(buffer->type);
    uint64_t bits = 0;
    float single;
    double wide;
    memcpy(&bits, bytes + index * width, width);
    if (buffer->type == LAUNCH_F32) {
        memcpy(&single, &bits, sizeof single);
        snprintf(text, size, "%.9g (0x%08" PRIx64 ")", (double)single, bits);
    } else if (buffer->type == LAUNCH_F64) {
        memcpy(&wide, &bits, sizeof wide);
        snprintf(text, size, "%.17g (0x%016" PRIx64 ")", wide, bits);
    } else {
        snprintf(text, size, "%" PRIu64 " (0x%" PRIx64 ")", bits, bits);
    }
}

/* Finds the first element that differs; 1 when there is one. */
static int differs(const launch_kernel *k, uint32_t argument, const launch_buffer *buffer, const uint8_t *is,
                   const uint8_t *expected, kernel_check *check) {
    uint32_t width = launch_type_bytes(buffer->type);
    uint64_t i;
    if (memcmp(is, expected, buffer->bytes) == 0) return 0;
    for (i = 0; memcmp(is + i * width, expected + i * width, width) == 0; i++) {}
    if (check->result != CHECK_WRONG) {
        char a[64], b[64];
        element_text(buffer, is, i, a, sizeof a);
        element_text(buffer, expected, i, b, sizeof b);
        snprintf(check->text, sizeof check->text, "kernel %s: argument %u, element %" PRIu64 ": is %s, expected %s",
                 k->name, argument, i, a, b);
    }
    check->result = CHECK_WRONG;
    return 1;
}

static void run_reference(const launch_kernel *k, const launch_file *launch, uint8_t **mirror, kernel_check *check) {
    reference_argument *arguments =
        (reference_argument *)calloc(k->argument_count ? k->argument_count : 1, sizeof *arguments);
    reference_launch view;
    const char *why;
    uint32_t i;
    if (!arguments) return;
    for (i = 0; i < k->argument_count; i++) {
        const launch_argument *a = &k->arguments[i];
        arguments[i].scalar = a->is_buffer ? 0 : a->scalar;
        arguments[i].buffer = a->is_buffer ? mirror[a->buffer] : NULL;
        arguments[i].bytes = a->is_buffer ? launch->buffers[a->buffer].bytes : 0;
    }
    memcpy(view.grid, k->grid, sizeof view.grid);
    memcpy(view.block, k->block, sizeof view.block);
    view.dynamic_shared_bytes = k->dynamic_shared_bytes;
    view.argument_count = k->argument_count;
    view.arguments = arguments;
    why = k->reference->reference(&view);
    if (why) {
        check->result = CHECK_WRONG;
        snprintf(check->text, sizeof check->text, "kernel %s: the reference refuses the launch: %s", k->name, why);
    }
    free(arguments);
}

static void check_files(const machine *m, const launch_file *launch, const launch_kernel *k, kernel_check *check) {
    uint32_t i;
    for (i = 0; i < k->expected_file_count; i++) {
        const launch_expected_file *file = &k->expected_files[i];
        const launch_buffer *buffer = &launch->buffers[k->arguments[file->argument].buffer];
        uint8_t *bytes = (uint8_t *)calloc(1, buffer->bytes + 1);
        FILE *stream = fopen(file->path, "rb");
        if (check->result == CHECK_NOTHING_EXPECTED) check->result = CHECK_RIGHT;
        if (!bytes || !stream || fread(bytes, 1, buffer->bytes + 1, stream) != buffer->bytes) {
            check->result = CHECK_WRONG;
            snprintf(check->text, sizeof check->text, "kernel %s: %s does not hold %" PRIu64 " bytes", k->name,
                     file->path, buffer->bytes);
        } else {
            differs(k, file->argument, buffer, contents(m, buffer), bytes, check);
        }
        if (stream) fclose(stream);
        free(bytes);
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
    /* First all references, in order; kernels may share buffers. */
    for (i = 0; i < launch->kernel_count; i++) {
        const launch_kernel *k = &launch->kernels[i];
        memset(&checks[i], 0, sizeof checks[i]);
        if (k->reference) {
            checks[i].result = CHECK_RIGHT;
            run_reference(k, launch, mirror, &checks[i]);
            continue;
        }
        for (n = 0; n < k->argument_count; n++) {
            if (k->arguments[n].is_buffer) known[k->arguments[n].buffer] = 0;
        }
    }
    for (i = 0; i < launch->kernel_count; i++) {
        const launch_kernel *k = &launch->kernels[i];
        for (n = 0; k->reference && n < k->argument_count; n++) {
            const launch_argument *a = &k->arguments[n];
            if (a->is_buffer && known[a->buffer])
                differs(k, n, &launch->buffers[a->buffer], contents(m, &launch->buffers[a->buffer]), mirror[a->buffer],
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
        check_files(m, launch, k, &checks[i]);
        wrong |= checks[i].result == CHECK_WRONG;
    }
    result = wrong;
done:
    for (i = 0; mirror && i < launch->buffer_count; i++) free(mirror[i]);
    free(mirror);
    free(known);
    return result;
}
