/* launch_expect: the expected results, and the tolerances of floating-point elements. */
#include "launch/launch_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static int read_limit(reader *r, const yaml_node_t *node, const char *what, double *limit) {
    char *end;
    if (node->type != YAML_SCALAR_NODE) return FAIL(r, node, "%s must be a number", what);
    *limit = strtod(text_of(node), &end);
    if (end == text_of(node) || *end || !isfinite(*limit) || *limit < 0)
        return FAIL(r, node, "%s must be a finite number, 0 or more, not \"%s\"", what, text_of(node));
    return 0;
}

/* Reads absolute and relative of a mapping, if it has them. The buffer's elements must then be floating-point. */
static int read_tolerance(reader *r, const yaml_node_t *node, const launch_buffer *buffer,
                          launch_tolerance *tolerance) {
    const yaml_node_t *absolute = find(r, node, "absolute"), *relative = find(r, node, "relative");
    if ((absolute || relative) && buffer && !launch_type_is_float(buffer->type))
        return FAIL(r, node, "a tolerance needs a buffer of f32 or f64, this one has %s: leave it out",
                    launch_type_name(buffer->type));
    if (absolute && read_limit(r, absolute, "absolute", &tolerance->absolute)) return -1;
    return relative ? read_limit(r, relative, "relative", &tolerance->relative) : 0;
}

static int read_argument(reader *r, const yaml_node_t *node, const launch_kernel *kernel, uint32_t *index) {
    if (read_u32(r, node, "argument", 0, UINT32_MAX, index)) return -1;
    if (*index >= kernel->argument_count || !kernel->arguments[*index].is_buffer)
        return FAIL(r, node, "argument %u is not a buffer", *index);
    return 0;
}

/* tolerance: {absolute: 1e-6, relative: 1e-5}, or a list of these with argument: N each. */
static int read_tolerances(reader *r, const yaml_node_t *node, launch_kernel *kernel) {
    static const char *const keys[] = {"absolute", "relative", NULL};
    static const char *const list_keys[] = {"argument", "absolute", "relative", NULL};
    yaml_node_item_t *item;
    if (!kernel->reference)
        return FAIL(r, node, "tolerance is for reference: ...; an entry of buffers has its own absolute and relative");
    if (node->type != YAML_SEQUENCE_NODE)
        return check_mapping(r, node, "tolerance", keys) || read_tolerance(r, node, NULL, &kernel->tolerance) ? -1 : 0;
    kernel->argument_tolerances =
        (launch_tolerance *)calloc(kernel->argument_count + 1, sizeof *kernel->argument_tolerances);
    if (!kernel->argument_tolerances) return FAIL(r, node, "out of memory");
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        const yaml_node_t *one = yaml_document_get_node(r->document, *item), *argument;
        uint32_t index;
        if (check_mapping(r, one, "a tolerance", list_keys)) return -1;
        if (!(argument = find(r, one, "argument")))
            return FAIL(r, one, "a tolerance in a list needs argument (from 0), absolute and relative");
        if (read_argument(r, argument, kernel, &index) ||
            read_tolerance(r, one, &r->launch->buffers[kernel->arguments[index].buffer],
                           &kernel->argument_tolerances[index]))
            return -1;
    }
    return 0;
}

/* Reads the path, and refuses a file that cannot be the buffer's contents: no result of a run would be right. */
static int read_expected_file(reader *r, const yaml_node_t *node, launch_expected *expected) {
    const uint64_t wanted = r->launch->buffers[expected->buffer].bytes;
    uint64_t count = 0;
    uint8_t *bytes = NULL;
    if (read_path(r, node, "file", &expected->path) || read_file(r, node, expected->path, &bytes, &count)) return -1;
    free(bytes);
    if (count != wanted)
        return FAIL(r, node, "%s has %" PRIu64 " bytes, and the buffer has %" PRIu64, expected->path, count, wanted);
    return 0;
}

/* buffers: - {argument: 3, file: out.bin} or - {buffer: out, constant: 1.0, absolute: 1e-6} */
static int read_expected(reader *r, const yaml_node_t *node, launch_kernel *kernel) {
    static const char *const keys[] = {"argument", "buffer", "file", "constant", "absolute", "relative", NULL};
    const yaml_node_t *argument, *name, *path, *constant;
    launch_expected *expected = (launch_expected *)append(&kernel->expected, &kernel->expected_count, sizeof *expected);
    uint32_t index;
    if (!expected) return FAIL(r, node, "out of memory");
    if (check_mapping(r, node, "an expected buffer", keys)) return -1;
    argument = find(r, node, "argument");
    name = find(r, node, "buffer");
    path = find(r, node, "file");
    constant = find(r, node, "constant");
    if (!argument == !name || !path == !constant)
        return FAIL(r, node, "an expected buffer needs argument (from 0) or buffer (a name), and file or constant");
    expected->place = place_of(path ? path : constant);
    if (argument) {
        if (read_argument(r, argument, kernel, &index)) return -1;
        expected->buffer = kernel->arguments[index].buffer;
    } else if (find_buffer(r, name, "buffer", kernel->process, &expected->buffer)) {
        return -1;
    }
    if (read_tolerance(r, node, &r->launch->buffers[expected->buffer], &expected->tolerance)) return -1;
    return path ? read_expected_file(r, path, expected)
                : read_value(r, constant, "constant", r->launch->buffers[expected->buffer].type, &expected->bits);
}

int read_expect(reader *r, const yaml_node_t *node, launch_kernel *kernel) {
    static const char *const keys[] = {"reference", "checksum", "buffers", "files", "tolerance", NULL};
    const yaml_node_t *value;
    yaml_node_item_t *item;
    if (check_mapping(r, node, "expect", keys)) return -1;
    if ((value = find(r, node, "reference"))) {
        char *name = NULL;
        if (read_text(r, value, "reference", &name)) return -1;
        kernel->reference = reference_find(name);
        free(name);
        if (!kernel->reference) return FAIL(r, value, "no built-in reference is named \"%s\"", text_of(value));
    }
    if ((value = find(r, node, "tolerance")) && read_tolerances(r, value, kernel)) return -1;
    if ((value = find(r, node, "checksum"))) {
        if (read_u64(r, value, "checksum", 0, UINT64_MAX, &kernel->checksum)) return -1;
        kernel->has_checksum = 1;
    }
    if (!(value = find(r, node, "buffers")) && !(value = find(r, node, "files"))) return 0; /* files: the older name */
    if (value->type != YAML_SEQUENCE_NODE)
        return FAIL(r, value, "buffers must be a list (- {argument: 3, file: out.bin})");
    for (item = value->data.sequence.items.start; item < value->data.sequence.items.top; item++)
        if (read_expected(r, yaml_document_get_node(r->document, *item), kernel)) return -1;
    return 0;
}
