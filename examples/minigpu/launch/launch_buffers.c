/* launch_buffers: what device memory holds before the first kernel. */
#include "launch/launch_reader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "gpump.h"

#define LAUNCH_BUFFER_BYTES_MAX (UINT64_C(1) << 32)

static void store(launch_buffer *buffer, uint64_t index, uint64_t bits) {
    memcpy(buffer->contents + index * launch_type_bytes(buffer->type), &bits,
           launch_type_bytes(buffer->type)); /* little-endian hosts */
}

static double as_double(launch_type type, uint64_t bits) {
    float single;
    double wide;
    if (type == LAUNCH_F32) {
        memcpy(&single, &bits, sizeof single);
        return (double)single;
    }
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

static uint64_t from_double(launch_type type, double value) {
    uint64_t bits = 0;
    float single = (float)value;
    if (type == LAUNCH_F32)
        memcpy(&bits, &single, sizeof single);
    else
        memcpy(&bits, &value, sizeof value);
    return bits;
}

static int64_t sign_extended(launch_type type, uint64_t bits) {
    uint32_t unused = 64 - launch_type_bytes(type) * 8;
    int is_signed = type == LAUNCH_S8 || type == LAUNCH_S16 || type == LAUNCH_S32 || type == LAUNCH_S64;
    return is_signed ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

static int fill_ramp(reader *r, launch_buffer *buffer, uint64_t count, const yaml_node_t *node) {
    static const char *const keys[] = {"start", "step", NULL};
    uint64_t start = 0, step = from_double(buffer->type, 1.0), i;
    yaml_node_t *value;
    if (!is_float(buffer->type)) step = 1;
    if (check_mapping(r, node, "ramp", keys)) return -1;
    if ((value = find(r, node, "start")) && read_value(r, value, "start", buffer->type, &start)) return -1;
    if ((value = find(r, node, "step")) && read_value(r, value, "step", buffer->type, &step)) return -1;
    for (i = 0; i < count; i++) {
        if (is_float(buffer->type)) {
            store(
                buffer, i,
                from_double(buffer->type, as_double(buffer->type, start) + (double)i * as_double(buffer->type, step)));
        } else {
            store(buffer, i, start + i * step);
        }
    }
    return 0;
}

/* Whole numbers: low to high, both included. Floating point: multiples of 2^-24 of the distance, low included, high
 * not. */
static int fill_random(reader *r, launch_buffer *buffer, uint64_t count, const yaml_node_t *node) {
    static const char *const keys[] = {"seed", "low", "high", NULL};
    uint64_t seed = 1, low = 0, high = is_float(buffer->type) ? from_double(buffer->type, 1.0) : 0xff, i, state;
    yaml_node_t *value;
    if (check_mapping(r, node, "random", keys)) return -1;
    if ((value = find(r, node, "seed")) && read_u64(r, value, "seed", 0, UINT64_MAX, &seed)) return -1;
    if ((value = find(r, node, "low")) && read_value(r, value, "low", buffer->type, &low)) return -1;
    if ((value = find(r, node, "high")) && read_value(r, value, "high", buffer->type, &high)) return -1;
    state = seed;
    if (is_float(buffer->type)) {
        double from = as_double(buffer->type, low), to = as_double(buffer->type, high);
        if (!(from <= to)) return FAIL(r, node, "random: low is above high");
        for (i = 0; i < count; i++) {
            double unit = (double)(gpump_random_next(&state) >> 40) * (1.0 / 16777216.0);
            store(buffer, i, from_double(buffer->type, from + unit * (to - from)));
        }
    } else {
        uint64_t span = (uint64_t)sign_extended(buffer->type, high) - (uint64_t)sign_extended(buffer->type, low);
        int wrong = buffer->type == LAUNCH_U64 ? high < low
                                               : sign_extended(buffer->type, high) < sign_extended(buffer->type, low);
        if (wrong) return FAIL(r, node, "random: low is above high");
        for (i = 0; i < count; i++) {
            uint64_t random = gpump_random_next(&state);
            store(buffer, i, low + (span == UINT64_MAX ? random : random % (span + 1)));
        }
    }
    return 0;
}

int read_buffer(reader *r, const yaml_node_t *node, uint32_t process, launch_argument *argument) {
    static const char *const keys[] = {"name", "type", "count", "constant", "ramp", "random", "file", "same_as", NULL};
    static const char *const initialisers[] = {"constant", "ramp", "random", "file", NULL};
    launch_file *launch = r->launch;
    launch_buffer *buffer;
    yaml_node_t *type, *count_node, *value, *same;
    const yaml_node_t *initialiser = NULL;
    uint64_t count = 0, i;
    uint32_t k;
    if (check_mapping(r, node, "buffer", keys)) return -1;
    argument->is_buffer = 1;
    if ((same = find(r, node, "same_as"))) {
        char *name = NULL;
        if (read_text(r, same, "same_as", &name)) return -1;
        for (k = 0; k < launch->buffer_count; k++) {
            if (launch->buffers[k].process == process && launch->buffers[k].name &&
                strcmp(launch->buffers[k].name, name) == 0)
                break;
        }
        free(name);
        if (k == launch->buffer_count)
            return FAIL(r, same, "no earlier buffer of this process is named \"%s\"", text_of(same));
        argument->buffer = k;
        return 0;
    }
    type = find(r, node, "type");
    count_node = find(r, node, "count");
    if (!type) return FAIL(r, node, "a buffer needs a type");
    buffer = (launch_buffer *)append(&launch->buffers, &launch->buffer_count, sizeof *buffer);
    if (!buffer) return FAIL(r, node, "out of memory");
    argument->buffer = launch->buffer_count - 1;
    buffer->place = place_of(node);
    buffer->process = process;
    if (read_type(r, type, &buffer->type)) return -1;
    if ((value = find(r, node, "name")) && read_text(r, value, "name", &buffer->name)) return -1;
    for (k = 0; initialisers[k]; k++) {
        if (!(value = find(r, node, initialisers[k]))) continue;
        if (initialiser) return FAIL(r, value, "a buffer has one initialiser: constant, ramp, random or file");
        initialiser = value;
    }
    if (count_node &&
        read_u64(r, count_node, "count", 1, LAUNCH_BUFFER_BYTES_MAX / launch_type_bytes(buffer->type), &count))
        return -1;
    if ((value = find(r, node, "file"))) {
        char *path = NULL;
        uint8_t *bytes = NULL;
        uint64_t size = 0;
        if (read_path(r, value, "file", &path)) return -1;
        if (read_file(r, value, path, &bytes, &size)) {
            free(path);
            return -1;
        }
        free(path);
        buffer->contents = bytes;
        buffer->bytes = count_node ? count * launch_type_bytes(buffer->type) : size;
        if (size < buffer->bytes || size == 0 || buffer->bytes % launch_type_bytes(buffer->type)) {
            return FAIL(r, value, "%s holds %" PRIu64 " bytes, the buffer wants %s", text_of(value), size,
                        count_node ? "more" : "whole elements");
        }
        return 0;
    }
    if (!count_node) return FAIL(r, node, "a buffer needs a count of elements");
    buffer->bytes = count * launch_type_bytes(buffer->type);
    buffer->contents = (uint8_t *)calloc(1, (size_t)buffer->bytes);
    if (!buffer->contents) return FAIL(r, node, "out of memory for a buffer of %" PRIu64 " bytes", buffer->bytes);
    if ((value = find(r, node, "ramp"))) return fill_ramp(r, buffer, count, value);
    if ((value = find(r, node, "random"))) return fill_random(r, buffer, count, value);
    if ((value = find(r, node, "constant"))) {
        uint64_t bits;
        if (read_value(r, value, "constant", buffer->type, &bits)) return -1;
        for (i = 0; i < count; i++) store(buffer, i, bits);
    }
    return 0;
}
