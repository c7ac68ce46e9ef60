/* launch_buffers: the contents of device memory before the first kernel. */
#include "launch/launch_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "gpump_once.h"

#define LAUNCH_BUFFER_BYTES_MAX (UINT64_C(1) << 32)

/* Writes one element of `bytes` bytes. Callers look up the buffer's contents and type once, outside their loops. */
static inline void store(uint8_t *contents, uint32_t bytes, uint64_t index, uint64_t bits) {
    uint8_t *to = contents + index * bytes;
    if (bytes == 4) /* the most frequent size; little-endian hosts */
        memcpy(to, &bits, 4);
    else
        memcpy(to, &bits, bytes);
}

static int64_t sign_extended(launch_type type, uint64_t bits) {
    uint32_t unused = 64 - launch_type_bytes(type) * 8;
    return launch_type_is_signed(type) ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

static int fill_ramp(reader *r, launch_buffer *buffer, uint64_t count, const yaml_node_t *node) {
    static const char *const keys[] = {"start", "step", NULL};
    const uint32_t bytes = launch_type_bytes(buffer->type);
    uint64_t start = 0, step = launch_from_double(buffer->type, 1.0), i;
    yaml_node_t *value;
    if (!launch_type_is_float(buffer->type)) step = 1;
    if (check_mapping(r, node, "ramp", keys)) return -1;
    if ((value = find(r, node, "start")) && read_value(r, value, "start", buffer->type, &start)) return -1;
    if ((value = find(r, node, "step")) && read_value(r, value, "step", buffer->type, &step)) return -1;
    for (i = 0; i < count; i++) {
        if (launch_type_is_float(buffer->type)) {
            store(buffer->contents, bytes, i,
                  launch_from_double(buffer->type, launch_as_double(buffer->type, start) +
                                                       (double)i * launch_as_double(buffer->type, step)));
        } else {
            store(buffer->contents, bytes, i, start + i * step);
        }
    }
    return 0;
}

/* Fills with random numbers. Whole numbers: low to high, both included. Floating point: low plus a multiple of 2^-24 of
 * the distance, so high is excluded. */
static int fill_random(reader *r, launch_buffer *buffer, uint64_t count, const yaml_node_t *node) {
    static const char *const keys[] = {"seed", "low", "high", NULL};
    const launch_type type = buffer->type;
    const uint32_t bytes = launch_type_bytes(type);
    uint8_t *const contents = buffer->contents;
    uint64_t seed = 1, low = 0,
             high = launch_type_is_float(buffer->type) ? launch_from_double(buffer->type, 1.0) : 0xff, i, state;
    yaml_node_t *value;
    if (check_mapping(r, node, "random", keys)) return -1;
    if ((value = find(r, node, "seed")) && read_u64(r, value, "seed", 0, UINT64_MAX, &seed)) return -1;
    if ((value = find(r, node, "low")) && read_value(r, value, "low", buffer->type, &low)) return -1;
    if ((value = find(r, node, "high")) && read_value(r, value, "high", buffer->type, &high)) return -1;
    state = seed;
    if (launch_type_is_float(buffer->type)) {
        double from = launch_as_double(buffer->type, low), to = launch_as_double(buffer->type, high);
        if (!isfinite(from) || !isfinite(to)) return FAIL(r, node, "random: low and high must be finite");
        if (!(from <= to)) return FAIL(r, node, "random: low is above high");
        if (type == LAUNCH_F32) { /* the most frequent kind */
            for (i = 0; i < count; i++) {
                /* 24 bits: the conversion from a signed number is one machine instruction */
                const double unit = (double)(int32_t)(gpump_random_next(&state) >> 40) * (1.0 / 16777216.0);
                const float element = (float)(from + unit * (to - from));
                memcpy(contents + i * 4, &element, 4);
            }
            return 0;
        }
        for (i = 0; i < count; i++) {
            double unit = (double)(gpump_random_next(&state) >> 40) * (1.0 / 16777216.0);
            store(contents, bytes, i, launch_from_double(type, from + unit * (to - from)));
        }
    } else {
        uint64_t span = (uint64_t)sign_extended(buffer->type, high) - (uint64_t)sign_extended(buffer->type, low);
        int wrong = buffer->type == LAUNCH_U64 ? high < low
                                               : sign_extended(buffer->type, high) < sign_extended(buffer->type, low);
        if (wrong) return FAIL(r, node, "random: low is above high");
        if (bytes == 4 && span != UINT64_MAX) { /* the most frequent kind */
            for (i = 0; i < count; i++) {
                const uint32_t value = (uint32_t)(low + gpump_random_next(&state) % (span + 1));
                memcpy(contents + i * 4, &value, 4);
            }
            return 0;
        }
        for (i = 0; i < count; i++) {
            uint64_t random = gpump_random_next(&state);
            store(contents, bytes, i, low + (span == UINT64_MAX ? random : random % (span + 1)));
        }
    }
    return 0;
}

int find_buffer(reader *r, const yaml_node_t *node, const char *what, uint32_t process, uint32_t *index) {
    const launch_file *launch = r->launch;
    char *name = NULL;
    uint32_t i;
    if (read_text(r, node, what, &name)) return -1;
    for (i = 0; i < launch->buffer_count; i++) {
        if (launch->buffers[i].process == process && launch->buffers[i].name &&
            strcmp(launch->buffers[i].name, name) == 0)
            break;
    }
    free(name);
    if (i == launch->buffer_count)
        return FAIL(r, node, "no earlier buffer of this process is named \"%s\"", text_of(node));
    *index = i;
    return 0;
}

int read_element(reader *r, const yaml_node_t *node, uint32_t index, uint32_t behind, uint64_t *offset) {
    const launch_buffer *buffer = &r->launch->buffers[index];
    const uint32_t width = launch_type_bytes(buffer->type);
    if (read_u64(r, node, "element", 0, UINT64_MAX / 8, offset)) return -1;
    if (*offset >= buffer->bytes / width + behind)
        return FAIL(r, node, "element %" PRIu64 " is outside the buffer, which has %" PRIu64 " elements of %s", *offset,
                    buffer->bytes / width, launch_type_name(buffer->type));
    *offset *= width;
    return 0;
}

/* ---- addresses in buffers and structs ---- */

int read_pointer(reader *r, const yaml_node_t *to, const yaml_node_t *element, uint32_t process,
                 launch_pointer *pointer) {
    pointer->process = process;
    pointer->place = place_of(to);
    if (read_text(r, to, "to", &pointer->name)) return -1;
    return element ? read_u64(r, element, "element", 0, UINT64_MAX / 8, &pointer->element) : 0;
}

/* pointers: [{at: 0, to: rows, element: 0, count: 10, step: 64}]: writes `count` addresses from element `at` on. */
static int read_pointers(reader *r, const yaml_node_t *node, uint32_t holder) {
    static const char *const keys[] = {"at", "to", "element", "count", "step", NULL};
    yaml_node_item_t *item;
    if (node->type != YAML_SEQUENCE_NODE) return FAIL(r, node, "pointers must be a list (- {at: 0, to: rows})");
    if (launch_type_bytes(r->launch->buffers[holder].type) != 8)
        return FAIL(r, node, "a buffer with pointers needs elements of 8 bytes, such as type: u64, not %s",
                    launch_type_name(r->launch->buffers[holder].type));
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        const yaml_node_t *one = yaml_document_get_node(r->document, *item);
        const yaml_node_t *at, *to, *value;
        uint64_t first = 0, count = 1, step = 0, elements = r->launch->buffers[holder].bytes / 8, i;
        if (check_mapping(r, one, "a pointer", keys)) return -1;
        at = find(r, one, "at");
        to = find(r, one, "to");
        if (!at || !to) return FAIL(r, one, "a pointer needs at (an element of this buffer) and to (a buffer's name)");
        if (read_u64(r, at, "at", 0, elements - 1, &first)) return -1;
        if ((value = find(r, one, "count")) && read_u64(r, value, "count", 1, elements - first, &count)) return -1;
        if ((value = find(r, one, "step")) && read_u64(r, value, "step", 0, UINT64_C(1) << 32, &step)) return -1;
        for (i = 0; i < count; i++) {
            launch_pointer *pointer =
                (launch_pointer *)append(&r->launch->pointers, &r->launch->pointer_count, sizeof *pointer);
            if (!pointer) return FAIL(r, one, "out of memory");
            pointer->in_buffer = 1;
            pointer->holder = holder;
            pointer->at = (first + i) * 8;
            if (read_pointer(r, to, find(r, one, "element"), r->launch->buffers[holder].process, pointer)) return -1;
            pointer->element += i * step;
        }
    }
    return 0;
}

int resolve_pointers(reader *r) {
    launch_file *launch = r->launch;
    uint32_t i, n;
    for (i = 0; i < launch->pointer_count; i++) {
        launch_pointer *pointer = &launch->pointers[i];
        const launch_buffer *buffer;
        for (n = 0; n < launch->buffer_count; n++) {
            if (launch->buffers[n].process == pointer->process && launch->buffers[n].name &&
                strcmp(launch->buffers[n].name, pointer->name) == 0)
                break;
        }
        if (n == launch->buffer_count)
            return launch_file_error(launch, pointer->place, r->error, "no buffer of this process is named \"%s\"",
                                     pointer->name);
        buffer = &launch->buffers[n];
        pointer->buffer = n;
        pointer->offset = pointer->element * launch_type_bytes(buffer->type);
        if (pointer->offset > buffer->bytes)
            return launch_file_error(launch, pointer->place, r->error,
                                     "element %" PRIu64 " is outside buffer %s, which has %" PRIu64 " elements of %s",
                                     pointer->element, pointer->name, buffer->bytes / launch_type_bytes(buffer->type),
                                     launch_type_name(buffer->type));
    }
    return 0;
}

void launch_place_pointers(launch_file *launch) {
    uint32_t i;
    for (i = 0; i < launch->pointer_count; i++) {
        const launch_pointer *pointer = &launch->pointers[i];
        const uint64_t address = launch->buffers[pointer->buffer].address + pointer->offset;
        uint8_t *holder = pointer->in_buffer ? launch->buffers[pointer->holder].contents
                                             : launch->kernels[pointer->kernel].arguments[pointer->holder].structure;
        memcpy(holder + pointer->at, &address, sizeof address);
    }
}

/* ---- a buffer ---- */

/* values: [1, 2, 3]: the first elements; those behind them are zero, as in C. */
static int fill_values(reader *r, const yaml_node_t *node, launch_buffer *buffer, uint64_t count) {
    yaml_node_item_t *item = node->data.sequence.items.start;
    uint64_t i, bits;
    for (i = 0; item < node->data.sequence.items.top; item++, i++) {
        const yaml_node_t *one = yaml_document_get_node(r->document, *item);
        if (i == count) return FAIL(r, one, "values: more than the buffer's %" PRIu64 " elements", count);
        if (read_value(r, one, "an entry of values", buffer->type, &bits)) return -1;
        store(buffer->contents, launch_type_bytes(buffer->type), i, bits);
    }
    return 0;
}

/* Fills a new buffer by its only initialiser. */
static int fill(reader *r, const yaml_node_t *node, launch_buffer *buffer, const yaml_node_t *count_node,
                uint64_t count) {
    const yaml_node_t *value;
    uint64_t i, bits;
    if ((value = find(r, node, "file"))) {
        char *path = NULL;
        uint8_t *bytes = NULL;
        uint64_t size = 0;
        int failed = read_path(r, value, "file", &path) || read_file(r, value, path, &bytes, &size);
        free(path);
        if (failed) return -1;
        buffer->contents = bytes;
        buffer->bytes = count_node ? count * launch_type_bytes(buffer->type) : size;
        if (size < buffer->bytes || size == 0 || buffer->bytes % launch_type_bytes(buffer->type)) {
            return FAIL(r, value, "%s holds %" PRIu64 " bytes, the buffer needs %s", text_of(value), size,
                        count_node ? "more" : "whole elements");
        }
        return 0;
    }
    if ((value = find(r, node, "values"))) {
        if (value->type != YAML_SEQUENCE_NODE) return FAIL(r, value, "values must be a list, such as [1, 2, 3]");
        if (!count_node) count = (uint64_t)(value->data.sequence.items.top - value->data.sequence.items.start);
    }
    if (!count) return FAIL(r, node, "a buffer needs a count of elements, or values: [...]");
    buffer->bytes = count * launch_type_bytes(buffer->type);
    buffer->contents = (uint8_t *)calloc(1, (size_t)buffer->bytes);
    if (!buffer->contents) return FAIL(r, node, "out of memory for a buffer of %" PRIu64 " bytes", buffer->bytes);
    if (value) return fill_values(r, value, buffer, count);
    if ((value = find(r, node, "ramp"))) return fill_ramp(r, buffer, count, value);
    if ((value = find(r, node, "random"))) return fill_random(r, buffer, count, value);
    if ((value = find(r, node, "constant"))) {
        if (read_value(r, value, "constant", buffer->type, &bits)) return -1;
        for (i = 0; i < count; i++) store(buffer->contents, launch_type_bytes(buffer->type), i, bits);
    }
    return 0;
}

/* owner: gpu (default), cpu, or unallocated: neither side has the pages at first, and a first access allocates them. */
static int read_owner(reader *r, const yaml_node_t *node, launch_buffer *buffer) {
    static const char *const names[] = {"cpu", "unallocated", "gpu"}; /* gpump_fault_owner */
    const uint32_t count = sizeof names / sizeof *names;
    uint64_t i;
    for (buffer->owner = 0; buffer->owner < count; buffer->owner++)
        if (!strcmp(text_of(node), names[buffer->owner])) break;
    if (buffer->owner == count)
        return FAIL(r, node, "owner must be gpu, cpu or unallocated, not \"%s\"", text_of(node));
    for (i = 0; buffer->owner == GPUMP_FAULT_UNALLOCATED && i < buffer->bytes; i++)
        if (buffer->contents[i])
            return FAIL(r, node,
                        "owner: unallocated: no process has contents of an unallocated buffer, so its values must be "
                        "constant: 0");
    return 0;
}

int read_buffer(reader *r, const yaml_node_t *node, uint32_t process, launch_argument *argument) {
    static const char *const keys[] = {"name", "type",    "count",   "constant", "ramp",        "random", "values",
                                       "file", "same_as", "element", "pointers", "guard_bytes", "owner",  NULL};
    static const char *const initialisers[] = {"constant", "ramp", "random", "values", "file", NULL};
    static const char *const same_keys[] = {"same_as", "element", NULL};
    launch_file *launch = r->launch;
    launch_buffer *buffer;
    yaml_node_t *type, *count_node, *value, *same;
    const yaml_node_t *initialiser = NULL;
    uint64_t count = 0;
    uint32_t k, index;
    if (check_mapping(r, node, "buffer", keys)) return -1;
    argument->is_buffer = 1;
    if ((same = find(r, node, "same_as"))) {
        if (check_mapping(r, node, "a buffer with same_as", same_keys) ||
            find_buffer(r, same, "same_as", process, &argument->buffer))
            return -1;
        value = find(r, node, "element");
        return value ? read_element(r, value, argument->buffer, 1, &argument->offset) : 0;
    }
    type = find(r, node, "type");
    count_node = find(r, node, "count");
    if (!type) return FAIL(r, node, "a buffer needs a type");
    buffer = (launch_buffer *)append(&launch->buffers, &launch->buffer_count, sizeof *buffer);
    if (!buffer) return FAIL(r, node, "out of memory");
    argument->buffer = index = launch->buffer_count - 1;
    buffer->place = place_of(node);
    buffer->process = process;
    if (read_type(r, type, &buffer->type)) return -1;
    if ((value = find(r, node, "name"))) {
        if (read_text(r, value, "name", &buffer->name)) return -1;
        for (k = 0; k < index; k++) {
            if (launch->buffers[k].process == process && launch->buffers[k].name &&
                strcmp(launch->buffers[k].name, buffer->name) == 0)
                return FAIL(r, value, "a buffer of this process is named \"%s\" already; same_as: %s means that one",
                            buffer->name, buffer->name);
        }
    }
    for (k = 0; initialisers[k]; k++) {
        if (!(value = find(r, node, initialisers[k]))) continue;
        if (initialiser) return FAIL(r, value, "a buffer has one initialiser: constant, ramp, random, values or file");
        initialiser = value;
    }
    if (count_node &&
        read_u64(r, count_node, "count", 1, LAUNCH_BUFFER_BYTES_MAX / launch_type_bytes(buffer->type), &count))
        return -1;
    if ((value = find(r, node, "guard_bytes")) &&
        read_u64(r, value, "guard_bytes", 0, UINT64_C(1) << 24, &buffer->guard_bytes))
        return -1;
    buffer->owner = GPUMP_FAULT_GPU;
    if (fill(r, node, buffer, count_node, count)) return -1;
    if ((value = find(r, node, "owner")) && read_owner(r, value, buffer)) return -1;
    if ((value = find(r, node, "element")) && read_element(r, value, index, 1, &argument->offset)) return -1;
    return (value = find(r, node, "pointers")) ? read_pointers(r, value, index) : 0;
}

/* buffers: - {name: pool, type: f32, count: 64}: memory that only pointers reach, or kernels by same_as. */
int read_buffers(reader *r, const yaml_node_t *node, uint32_t process) {
    yaml_node_item_t *item;
    if (node->type != YAML_SEQUENCE_NODE)
        return FAIL(r, node, "buffers must be a list (- {name: pool, type: f32, count: 64})");
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        const yaml_node_t *one = yaml_document_get_node(r->document, *item), *value;
        launch_argument unused;
        memset(&unused, 0, sizeof unused);
        if (one->type == YAML_MAPPING_NODE && ((value = find(r, one, "same_as")) || (value = find(r, one, "element"))))
            return FAIL(r, value, "an entry of buffers is memory of its own: no same_as, no element");
        if (one->type == YAML_MAPPING_NODE && !find(r, one, "name"))
            return FAIL(r, one, "an entry of buffers needs a name: nothing else reaches it");
        if (read_buffer(r, one, process, &unused)) return -1;
    }
    return 0;
}
