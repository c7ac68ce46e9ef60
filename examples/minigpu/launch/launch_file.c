#define _GNU_SOURCE
#include "launch/launch_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "gpump.h"

#define LAUNCH_BUFFER_BYTES_MAX (UINT64_C(1) << 32)

static const char *const type_names[] = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"};
static const uint32_t element_bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

uint32_t launch_type_bytes(launch_type type) { return element_bytes[type]; }
const char *launch_type_name(launch_type type) { return type_names[type]; }

/* What the reading functions share. `failed` is set by the first error; the others are then not reported. */
typedef struct reader {
    launch_file *launch;
    yaml_document_t *document;
    char *error;
} reader;

int launch_file_error(const launch_file *launch, launch_place place, char error[LAUNCH_ERROR_BYTES], const char *format,
                      ...) {
    va_list arguments;
    int length = snprintf(error, LAUNCH_ERROR_BYTES, "%s:%u:%u: ", launch->path, place.line, place.column);
    if (length < 0 || length >= LAUNCH_ERROR_BYTES) return -1;
    va_start(arguments, format);
    vsnprintf(error + length, LAUNCH_ERROR_BYTES - (size_t)length, format, arguments);
    va_end(arguments);
    return -1;
}

static launch_place place_of(const yaml_node_t *node) {
    launch_place place;
    place.line = (uint32_t)node->start_mark.line + 1;
    place.column = (uint32_t)node->start_mark.column + 1;
    return place;
}

#define FAIL(r, node, ...) launch_file_error((r)->launch, place_of(node), (r)->error, __VA_ARGS__)

static const char *text_of(const yaml_node_t *node) { return (const char *)node->data.scalar.value; }

/* Grows an array by one zeroed element and returns it; NULL when out of memory. */
static void *append(void *array_pointer, uint32_t *count, size_t element_bytes) {
    void **array = (void **)array_pointer;
    uint8_t *grown = (uint8_t *)realloc(*array, (size_t)(*count + 1) * element_bytes);
    if (!grown) return NULL;
    *array = grown;
    memset(grown + (size_t)*count * element_bytes, 0, element_bytes);
    return grown + (size_t)(*count)++ * element_bytes;
}

/* ---- looking into mappings ---- */

static int check_mapping(reader *r, const yaml_node_t *node, const char *what, const char *const *keys) {
    yaml_node_pair_t *pair;
    if (node->type != YAML_MAPPING_NODE) return FAIL(r, node, "%s must be a mapping (key: value)", what);
    for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
        yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
        yaml_node_pair_t *earlier;
        uint32_t i;
        if (key->type != YAML_SCALAR_NODE) return FAIL(r, key, "a key of %s must be a word", what);
        for (i = 0; keys[i] && strcmp(keys[i], text_of(key)) != 0; i++) {}
        if (!keys[i]) {
            char list[256] = "";
            for (i = 0; keys[i]; i++) {
                if (i) strncat(list, ", ", sizeof list - strlen(list) - 1);
                strncat(list, keys[i], sizeof list - strlen(list) - 1);
            }
            return FAIL(r, key, "%s has no key \"%s\"; known keys: %s", what, text_of(key), list);
        }
        for (earlier = node->data.mapping.pairs.start; earlier < pair; earlier++) {
            if (strcmp(text_of(yaml_document_get_node(r->document, earlier->key)), text_of(key)) == 0) {
                return FAIL(r, key, "\"%s\" stands twice in %s", text_of(key), what);
            }
        }
    }
    return 0;
}

static yaml_node_t *find(reader *r, const yaml_node_t *mapping, const char *name) {
    yaml_node_pair_t *pair;
    for (pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top; pair++) {
        yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
        if (key->type == YAML_SCALAR_NODE && strcmp(text_of(key), name) == 0)
            return yaml_document_get_node(r->document, pair->value);
    }
    return NULL;
}

/* ---- values ---- */

static int read_u64(reader *r, const yaml_node_t *node, const char *what, uint64_t minimum, uint64_t maximum,
                    uint64_t *value) {
    char *end;
    if (node->type != YAML_SCALAR_NODE) return FAIL(r, node, "%s must be a number", what);
    errno = 0;
    if (text_of(node)[0] == '-')
        return FAIL(r, node, "%s is %s, must be %" PRIu64 " to %" PRIu64, what, text_of(node), minimum, maximum);
    *value = strtoull(text_of(node), &end, 0);
    if (end == text_of(node) || *end)
        return FAIL(r, node, "%s must be a whole number, not \"%s\"", what, text_of(node));
    if (errno || *value < minimum || *value > maximum) {
        return FAIL(r, node, "%s is %s, must be %" PRIu64 " to %" PRIu64, what, text_of(node), minimum, maximum);
    }
    return 0;
}

static int read_u32(reader *r, const yaml_node_t *node, const char *what, uint32_t minimum, uint32_t maximum,
                    uint32_t *value) {
    uint64_t wide;
    if (read_u64(r, node, what, minimum, maximum, &wide)) return -1;
    *value = (uint32_t)wide;
    return 0;
}

static int read_text(reader *r, const yaml_node_t *node, const char *what, char **text) {
    if (node->type != YAML_SCALAR_NODE || !text_of(node)[0]) return FAIL(r, node, "%s must be a text", what);
    free(*text);
    *text = strdup(text_of(node));
    return *text ? 0 : FAIL(r, node, "out of memory");
}

static int read_type(reader *r, const yaml_node_t *node, launch_type *type) {
    uint32_t i;
    if (node->type == YAML_SCALAR_NODE) {
        for (i = 0; i < sizeof type_names / sizeof *type_names; i++) {
            if (strcmp(type_names[i], text_of(node)) == 0) {
                *type = (launch_type)i;
                return 0;
            }
        }
    }
    return FAIL(r, node, "type must be one of u8 s8 u16 s16 u32 s32 u64 s64 f32 f64");
}

static int is_float(launch_type type) { return type == LAUNCH_F32 || type == LAUNCH_F64; }

/* Reads one value of a type as its bits. */
static int read_value(reader *r, const yaml_node_t *node, const char *what, launch_type type, uint64_t *bits) {
    const char *text;
    char *end;
    if (node->type != YAML_SCALAR_NODE) return FAIL(r, node, "%s must be one value of type %s", what, type_names[type]);
    text = text_of(node);
    errno = 0;
    *bits = 0;
    if (type == LAUNCH_F32) {
        float value = strtof(text, &end);
        memcpy(bits, &value, sizeof value);
    } else if (type == LAUNCH_F64) {
        double value = strtod(text, &end);
        memcpy(bits, &value, sizeof value);
    } else {
        uint32_t width = element_bytes[type] * 8;
        int is_signed = type == LAUNCH_S8 || type == LAUNCH_S16 || type == LAUNCH_S32 || type == LAUNCH_S64;
        int negative = text[0] == '-';
        uint64_t limit = is_signed     ? (UINT64_C(1) << (width - 1)) - (negative ? 0 : 1)
                         : width == 64 ? UINT64_MAX
                                       : (UINT64_C(1) << width) - 1;
        uint64_t magnitude = strtoull(text + negative, &end, 0);
        if (end != text + negative && !*end && (errno || magnitude > limit || (negative && !is_signed))) {
            return FAIL(r, node, "%s is %s, outside the range of %s", what, text, type_names[type]);
        }
        if (end == text + negative) end = (char *)text;
        *bits = negative ? 0 - magnitude : magnitude;
        if (width < 64) *bits &= (UINT64_C(1) << width) - 1;
    }
    if (end == text || *end)
        return FAIL(r, node, "%s must be a value of type %s, not \"%s\"", what, type_names[type], text);
    return 0;
}

static int read_triple(reader *r, const yaml_node_t *node, const char *what, uint32_t triple[3]) {
    static const uint32_t maxima[3] = {0x7fffffff, 65535, 65535};
    yaml_node_item_t *item;
    uint32_t i = 0;
    triple[0] = triple[1] = triple[2] = 1;
    if (node->type == YAML_SCALAR_NODE) return read_u32(r, node, what, 1, maxima[0], &triple[0]);
    if (node->type != YAML_SEQUENCE_NODE)
        return FAIL(r, node, "%s must be one to three numbers, such as [64, 1, 1]", what);
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++, i++) {
        yaml_node_t *element = yaml_document_get_node(r->document, *item);
        if (i == 3) return FAIL(r, element, "%s has more than three dimensions", what);
        if (read_u32(r, element, what, 1, maxima[i], &triple[i])) return -1;
    }
    return i ? 0 : FAIL(r, node, "%s must be one to three numbers, such as [64, 1, 1]", what);
}

/* A path relative to the launch file's folder. */
static int read_path(reader *r, const yaml_node_t *node, const char *what, char **path) {
    const char *slash = strrchr(r->launch->path, '/');
    char *text = NULL;
    if (read_text(r, node, what, &text)) return -1;
    free(*path);
    *path = NULL;
    if (text[0] == '/' || !slash) {
        *path = text;
        return 0;
    }
    if (asprintf(path, "%.*s/%s", (int)(slash - r->launch->path), r->launch->path, text) < 0) *path = NULL;
    free(text);
    return *path ? 0 : FAIL(r, node, "out of memory");
}

static int read_file(reader *r, const yaml_node_t *node, const char *path, uint8_t **bytes, uint64_t *count) {
    FILE *file = fopen(path, "rb");
    long size;
    if (!file) return FAIL(r, node, "cannot open %s: %s", path, strerror(errno));
    if (fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET)) {
        fclose(file);
        return FAIL(r, node, "cannot read %s: %s", path, strerror(errno));
    }
    *bytes = (uint8_t *)malloc(size ? (size_t)size : 1);
    if (!*bytes || fread(*bytes, 1, (size_t)size, file) != (size_t)size) {
        free(*bytes);
        *bytes = NULL;
        fclose(file);
        return FAIL(r, node, "cannot read %s", path);
    }
    fclose(file);
    *count = (uint64_t)size;
    return 0;
}

/* ---- buffers ---- */

static void store(launch_buffer *buffer, uint64_t index, uint64_t bits) {
    memcpy(buffer->contents + index * element_bytes[buffer->type], &bits,
           element_bytes[buffer->type]); /* little-endian hosts */
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
    uint32_t unused = 64 - element_bytes[type] * 8;
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

static int read_buffer(reader *r, const yaml_node_t *node, uint32_t process, launch_argument *argument) {
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
        read_u64(r, count_node, "count", 1, LAUNCH_BUFFER_BYTES_MAX / element_bytes[buffer->type], &count))
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
        buffer->bytes = count_node ? count * element_bytes[buffer->type] : size;
        if (size < buffer->bytes || size == 0 || buffer->bytes % element_bytes[buffer->type]) {
            return FAIL(r, value, "%s holds %" PRIu64 " bytes, the buffer wants %s", text_of(value), size,
                        count_node ? "more" : "whole elements");
        }
        return 0;
    }
    if (!count_node) return FAIL(r, node, "a buffer needs a count of elements");
    buffer->bytes = count * element_bytes[buffer->type];
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

/* ---- kernels ---- */

static int read_scalar(reader *r, const yaml_node_t *node, launch_argument *argument) {
    static const char *const keys[] = {"type", "value", NULL};
    yaml_node_t *type, *value;
    if (check_mapping(r, node, "scalar", keys)) return -1;
    type = find(r, node, "type");
    value = find(r, node, "value");
    if (!type || !value) return FAIL(r, node, "a scalar needs a type and a value");
    if (read_type(r, type, &argument->type)) return -1;
    return read_value(r, value, "value", argument->type, &argument->scalar);
}

static int append_member(reader *r, const yaml_node_t *node, launch_type type, const yaml_node_t *value,
                         launch_argument *argument) {
    uint32_t size = element_bytes[type], at = (argument->structure_bytes + size - 1) / size * size;
    uint64_t bits;
    uint8_t *grown;
    if (read_value(r, value, "value", type, &bits)) return -1;
    if (at + size > 4096) return FAIL(r, node, "a struct takes at most 4096 bytes");
    grown = (uint8_t *)realloc(argument->structure, at + size);
    if (!grown) return FAIL(r, node, "out of memory");
    memset(grown + argument->structure_bytes, 0, at - argument->structure_bytes);
    memcpy(grown + at, &bits, size); /* little-endian hosts */
    argument->structure = grown;
    argument->structure_bytes = at + size;
    return 0;
}

/* struct: [{type: f64, value: 1}, {type: s32, values: [1, 2, 3]}]: members at their natural alignment, as C lays them
 * out. */
static int read_structure(reader *r, const yaml_node_t *node, launch_argument *argument) {
    static const char *const keys[] = {"type", "value", "values", NULL};
    yaml_node_item_t *item, *one;
    uint32_t alignment = 1;
    if (node->type != YAML_SEQUENCE_NODE)
        return FAIL(r, node, "struct must be a list of members (- {type: f32, value: 1})");
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        yaml_node_t *member = yaml_document_get_node(r->document, *item), *type_node, *value, *values;
        launch_type type;
        if (check_mapping(r, member, "a member", keys)) return -1;
        type_node = find(r, member, "type");
        value = find(r, member, "value");
        values = find(r, member, "values");
        if (!type_node || !value == !values) return FAIL(r, member, "a member needs a type and either value or values");
        if (read_type(r, type_node, &type)) return -1;
        if (element_bytes[type] > alignment) alignment = element_bytes[type];
        if (value && append_member(r, member, type, value, argument)) return -1;
        if (!values) continue;
        if (values->type != YAML_SEQUENCE_NODE) return FAIL(r, values, "values must be a list");
        for (one = values->data.sequence.items.start; one < values->data.sequence.items.top; one++)
            if (append_member(r, member, type, yaml_document_get_node(r->document, *one), argument)) return -1;
    }
    if (!argument->structure) return FAIL(r, node, "a struct needs a member");
    while (argument->structure_bytes % alignment) { /* the end is padded too */
        uint8_t *grown = (uint8_t *)realloc(argument->structure, argument->structure_bytes + 1);
        if (!grown) return FAIL(r, node, "out of memory");
        argument->structure = grown;
        grown[argument->structure_bytes++] = 0;
    }
    return 0;
}

/* One of some words; *choice is its place among them. */
static int read_choice(reader *r, const yaml_node_t *node, const char *what, const char *const *words,
                       uint8_t *choice) {
    char *text = NULL;
    uint8_t i;
    if (read_text(r, node, what, &text)) return -1;
    for (i = 0; words[i] && strcmp(words[i], text) != 0; i++) {}
    free(text);
    if (!words[i])
        return FAIL(r, node, "%s is \"%s\", must be %s, %s or the like", what, text_of(node), words[0], words[1]);
    *choice = i;
    return 0;
}

/* How a buffer is read through a texture object. */
static int read_texture(reader *r, const yaml_node_t *node, launch_argument *argument) {
    static const char *const keys[] = {"width",      "height",      "channels", "filter",
                                       "addressing", "coordinates", "read",     NULL};
    static const char *const filters[] = {"nearest", "linear", NULL}, *const addressings[] = {"wrap", "clamp", "mirror",
                                                                                              "border", NULL};
    static const char *const coordinates[] = {"texels", "normalized", NULL}, *const reads[] = {
                                                                                 "element", "normalized_float", NULL};
    static const uint8_t types[] = {TYPE_U8,  TYPE_S8,   TYPE_U16,  TYPE_S16, TYPE_U32,
                                    TYPE_S32, TYPE_NONE, TYPE_NONE, TYPE_F32, TYPE_NONE};
    const launch_buffer *buffer = &r->launch->buffers[argument->buffer];
    lanes_texture *texture = &argument->texture;
    uint32_t channels = 1;
    yaml_node_t *value;
    if (check_mapping(r, node, "texture", keys)) return -1;
    memset(texture, 0, sizeof *texture);
    argument->is_texture = 1;
    texture->height = 1;
    texture->addressing[0] = TEXTURE_CLAMP;
    if (!(value = find(r, node, "width"))) return FAIL(r, node, "a texture needs a width");
    if (read_u32(r, value, "width", 1, 1u << 27, &texture->width)) return -1;
    if ((value = find(r, node, "height")) && read_u32(r, value, "height", 1, 65536, &texture->height)) return -1;
    if ((value = find(r, node, "channels"))) {
        if (read_u32(r, value, "channels", 1, 4, &channels)) return -1;
        if (channels == 3) return FAIL(r, value, "a texture has 1, 2 or 4 channels");
    }
    if ((value = find(r, node, "filter")) && read_choice(r, value, "filter", filters, &texture->linear)) return -1;
    if ((value = find(r, node, "addressing")) &&
        read_choice(r, value, "addressing", addressings, &texture->addressing[0]))
        return -1;
    if ((value = find(r, node, "coordinates")) &&
        read_choice(r, value, "coordinates", coordinates, &texture->normalized))
        return -1;
    if ((value = find(r, node, "read")) && read_choice(r, value, "read", reads, &texture->as_float)) return -1;
    texture->addressing[1] = texture->addressing[0];
    texture->type = types[buffer->type];
    texture->channels = (uint8_t)channels;
    texture->row_bytes = (uint64_t)texture->width * channels * element_bytes[buffer->type];
    if (texture->type == TYPE_NONE)
        return FAIL(r, node, "a texture of %s is not possible: elements of 8, 16 or 32 bits", type_names[buffer->type]);
    if (texture->row_bytes * texture->height > buffer->bytes) {
        return FAIL(r, node, "a texture of %u x %u texels takes %" PRIu64 " bytes, the buffer has %" PRIu64,
                    texture->width, texture->height, texture->row_bytes * texture->height, buffer->bytes);
    }
    return 0;
}

static int read_arguments(reader *r, const yaml_node_t *node, launch_kernel *kernel) {
    static const char *const keys[] = {"scalar", "buffer", "texture", "struct", NULL};
    yaml_node_item_t *item;
    if (node->type != YAML_SEQUENCE_NODE)
        return FAIL(r, node, "arguments must be a list (- scalar: ... or - buffer: ...)");
    kernel->arguments_place = place_of(node);
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        yaml_node_t *element = yaml_document_get_node(r->document, *item), *scalar, *buffer, *texture, *structure;
        launch_argument *argument =
            (launch_argument *)append(&kernel->arguments, &kernel->argument_count, sizeof *argument);
        if (!argument) return FAIL(r, element, "out of memory");
        if (check_mapping(r, element, "an argument", keys)) return -1;
        argument->place = place_of(element);
        scalar = find(r, element, "scalar");
        buffer = find(r, element, "buffer");
        structure = find(r, element, "struct");
        if (!!scalar + !!buffer + !!structure != 1)
            return FAIL(r, element, "an argument is either a scalar or a buffer or a struct");
        if (structure) {
            if (read_structure(r, structure, argument)) return -1;
            continue;
        }
        if (scalar ? read_scalar(r, scalar, argument) : read_buffer(r, buffer, kernel->process, argument)) return -1;
        texture = find(r, element, "texture");
        if (texture && scalar) return FAIL(r, texture, "a texture needs a buffer, not a scalar");
        if (texture && read_texture(r, texture, argument)) return -1;
    }
    return 0;
}

static int read_expect(reader *r, const yaml_node_t *node, launch_kernel *kernel) {
    static const char *const keys[] = {"reference", "checksum", "files", NULL};
    static const char *const file_keys[] = {"argument", "file", NULL};
    yaml_node_t *value;
    if (check_mapping(r, node, "expect", keys)) return -1;
    if ((value = find(r, node, "reference"))) {
        char *name = NULL;
        if (read_text(r, value, "reference", &name)) return -1;
        kernel->reference = reference_find(name);
        free(name);
        if (!kernel->reference) return FAIL(r, value, "no built-in reference is named \"%s\"", text_of(value));
    }
    if ((value = find(r, node, "checksum"))) {
        if (read_u64(r, value, "checksum", 0, UINT64_MAX, &kernel->checksum)) return -1;
        kernel->has_checksum = 1;
    }
    if ((value = find(r, node, "files"))) {
        yaml_node_item_t *item;
        if (value->type != YAML_SEQUENCE_NODE)
            return FAIL(r, value, "files must be a list (- {argument: 3, file: out.bin})");
        for (item = value->data.sequence.items.start; item < value->data.sequence.items.top; item++) {
            yaml_node_t *element = yaml_document_get_node(r->document, *item), *index, *path;
            launch_expected_file *file =
                (launch_expected_file *)append(&kernel->expected_files, &kernel->expected_file_count, sizeof *file);
            if (!file) return FAIL(r, element, "out of memory");
            if (check_mapping(r, element, "an expected file", file_keys)) return -1;
            index = find(r, element, "argument");
            path = find(r, element, "file");
            if (!index || !path) return FAIL(r, element, "an expected file needs argument (from 0) and file");
            file->place = place_of(path);
            if (read_u32(r, index, "argument", 0, UINT32_MAX, &file->argument)) return -1;
            if (file->argument >= kernel->argument_count || !kernel->arguments[file->argument].is_buffer) {
                return FAIL(r, index, "argument %u is not a buffer", file->argument);
            }
            if (read_path(r, path, "file", &file->path)) return -1;
        }
    }
    return 0;
}

/* Lets the kernel's own generator fill its buffers (kernels/NAME/generate.c). */
static int run_generator(reader *r, const yaml_node_t *node, launch_kernel *kernel) {
    static const char *const keys[] = {"name", "seed", NULL};
    const reference_entry *entry;
    reference_argument *arguments;
    reference_launch view;
    yaml_node_t *value;
    uint64_t seed = 1;
    char *name = NULL;
    const char *why;
    uint32_t i;
    if (check_mapping(r, node, "generate", keys)) return -1;
    if ((value = find(r, node, "seed")) && read_u64(r, value, "seed", 0, UINT64_MAX, &seed)) return -1;
    if (!(value = find(r, node, "name"))) return FAIL(r, node, "generate needs the name of a built-in generator");
    if (read_text(r, value, "name", &name)) return -1;
    entry = reference_find(name);
    free(name);
    if (!entry || !entry->generate) return FAIL(r, value, "no built-in generator is named \"%s\"", text_of(value));
    arguments = (reference_argument *)calloc(kernel->argument_count ? kernel->argument_count : 1, sizeof *arguments);
    if (!arguments) return FAIL(r, node, "out of memory");
    for (i = 0; i < kernel->argument_count; i++) {
        const launch_argument *argument = &kernel->arguments[i];
        arguments[i].scalar = argument->is_buffer ? 0 : argument->scalar;
        arguments[i].buffer = argument->is_buffer ? r->launch->buffers[argument->buffer].contents : NULL;
        arguments[i].bytes = argument->is_buffer ? r->launch->buffers[argument->buffer].bytes : 0;
    }
    memcpy(view.grid, kernel->grid, sizeof view.grid);
    memcpy(view.block, kernel->block, sizeof view.block);
    view.dynamic_shared_bytes = kernel->dynamic_shared_bytes;
    view.argument_count = kernel->argument_count;
    view.arguments = arguments;
    why = entry->generate(&view, seed);
    free(arguments);
    return why ? FAIL(r, value, "the generator refuses: %s", why) : 0;
}

static int read_footprint(reader *r, const yaml_node_t *node, launch_kernel *kernel) {
    static const char *const keys[] = {"registers", "shared_bytes", "blocks_per_sm", NULL};
    yaml_node_t *value;
    if (check_mapping(r, node, "footprint", keys)) return -1;
    kernel->footprint_place = place_of(node);
    if ((value = find(r, node, "registers")) &&
        read_u32(r, value, "registers", 1, 1u << 24, &kernel->override_registers))
        return -1;
    if ((value = find(r, node, "shared_bytes")) &&
        read_u32(r, value, "shared_bytes", 1, 1u << 24, &kernel->override_shared_bytes))
        return -1;
    if ((value = find(r, node, "blocks_per_sm")) && read_u32(r, value, "blocks_per_sm", 1, 64, &kernel->block_cap))
        return -1;
    return 0;
}

/* textures: - {name: image, texture: {...}, buffer: {...}} */
static int read_texture_references(reader *r, const yaml_node_t *node, launch_kernel *kernel) {
    static const char *const keys[] = {"name", "texture", "buffer", NULL};
    yaml_node_item_t *item;
    if (node->type != YAML_SEQUENCE_NODE)
        return FAIL(r, node, "textures must be a list (- {name: image, texture: {...}, buffer: {...}})");
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        yaml_node_t *element = yaml_document_get_node(r->document, *item), *name, *texture, *buffer;
        launch_texture_reference *reference = (launch_texture_reference *)append(
            &kernel->texture_references, &kernel->texture_reference_count, sizeof *reference);
        if (!reference) return FAIL(r, element, "out of memory");
        if (check_mapping(r, element, "a texture reference", keys)) return -1;
        name = find(r, element, "name");
        texture = find(r, element, "texture");
        buffer = find(r, element, "buffer");
        if (!name || !texture || !buffer) return FAIL(r, element, "a texture reference needs name, texture and buffer");
        reference->texture.place = place_of(element);
        if (read_text(r, name, "name", &reference->name) ||
            read_buffer(r, buffer, kernel->process, &reference->texture) ||
            read_texture(r, texture, &reference->texture))
            return -1;
    }
    return 0;
}

static int read_kernel(reader *r, const yaml_node_t *node, uint32_t process) {
    static const char *const keys[] = {"ptx",
                                       "kernel",
                                       "grid",
                                       "block",
                                       "dynamic_shared_bytes",
                                       "arguments",
                                       "priority",
                                       "arrival_cycle",
                                       "footprint",
                                       "generate",
                                       "expect",
                                       "textures",
                                       NULL};
    launch_kernel *kernel;
    yaml_node_t *value;
    if (check_mapping(r, node, "a kernel", keys)) return -1;
    kernel = (launch_kernel *)append(&r->launch->kernels, &r->launch->kernel_count, sizeof *kernel);
    if (!kernel) return FAIL(r, node, "out of memory");
    kernel->place = place_of(node);
    kernel->arguments_place = kernel->footprint_place = kernel->shared_place = kernel->place;
    kernel->process = process;
    kernel->priority = r->launch->processes[process].priority;
    if (!(value = find(r, node, "ptx"))) return FAIL(r, node, "a kernel needs ptx: the PTX file");
    kernel->ptx_place = place_of(value);
    if (read_path(r, value, "ptx", &kernel->ptx_path)) return -1;
    if (!(value = find(r, node, "kernel"))) return FAIL(r, node, "a kernel needs kernel: the name of its entry");
    kernel->name_place = place_of(value);
    if (read_text(r, value, "kernel", &kernel->name)) return -1;
    if (!(value = find(r, node, "grid"))) return FAIL(r, node, "a kernel needs a grid");
    kernel->grid_place = place_of(value);
    if (read_triple(r, value, "grid", kernel->grid)) return -1;
    if (!(value = find(r, node, "block"))) return FAIL(r, node, "a kernel needs a block");
    kernel->block_place = place_of(value);
    if (read_triple(r, value, "block", kernel->block)) return -1;
    if ((value = find(r, node, "dynamic_shared_bytes"))) {
        kernel->shared_place = place_of(value);
        if (read_u32(r, value, "dynamic_shared_bytes", 0, 1u << 24, &kernel->dynamic_shared_bytes)) return -1;
    }
    if ((value = find(r, node, "priority")) && read_u32(r, value, "priority", 0, UINT32_MAX, &kernel->priority))
        return -1;
    if ((value = find(r, node, "arrival_cycle")) &&
        read_u64(r, value, "arrival_cycle", 0, UINT64_MAX / 4, &kernel->arrival_cycle))
        return -1;
    if ((value = find(r, node, "footprint")) && read_footprint(r, value, kernel)) return -1;
    if ((value = find(r, node, "arguments")) && read_arguments(r, value, kernel)) return -1;
    if ((value = find(r, node, "textures")) && read_texture_references(r, value, kernel)) return -1;
    if ((value = find(r, node, "generate")) && run_generator(r, value, kernel)) return -1;
    if ((value = find(r, node, "expect")) && read_expect(r, value, kernel)) return -1;
    return 0;
}

static int read_kernels(reader *r, const yaml_node_t *node, uint32_t process) {
    yaml_node_item_t *item;
    if (node->type != YAML_SEQUENCE_NODE) return FAIL(r, node, "kernels must be a list (- ptx: ...)");
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        if (read_kernel(r, yaml_document_get_node(r->document, *item), process)) return -1;
    }
    return 0;
}

static int read_process(reader *r, const yaml_node_t *node, const yaml_node_t *kernels) {
    static const char *const keys[] = {"name", "priority", "kernels", NULL};
    uint32_t index = r->launch->process_count;
    launch_process *process =
        (launch_process *)append(&r->launch->processes, &r->launch->process_count, sizeof *process);
    yaml_node_t *value;
    if (!process) return FAIL(r, node, "out of memory");
    if (!kernels) { /* an entry of "processes" */
        if (check_mapping(r, node, "a process", keys)) return -1;
        if ((value = find(r, node, "name")) && read_text(r, value, "name", &process->name)) return -1;
        if ((value = find(r, node, "priority")) && read_u32(r, value, "priority", 0, UINT32_MAX, &process->priority))
            return -1;
        if (!(kernels = find(r, node, "kernels"))) return FAIL(r, node, "a process needs kernels");
    }
    if (!process->name && asprintf(&process->name, "process %u", index) < 0) {
        process->name = NULL;
        return FAIL(r, node, "out of memory");
    }
    return read_kernels(r, kernels, index);
}

static int read_numbers(reader *r, const yaml_node_t *node) {
    yaml_node_pair_t *pair;
    if (node->type != YAML_MAPPING_NODE) return FAIL(r, node, "config must be a mapping (l1_bytes: 32768)");
    for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
        yaml_node_t *key = yaml_document_get_node(r->document, pair->key),
                    *value = yaml_document_get_node(r->document, pair->value);
        launch_number *number = (launch_number *)append(&r->launch->numbers, &r->launch->number_count, sizeof *number);
        if (!number) return FAIL(r, node, "out of memory");
        number->place = place_of(key);
        if (read_text(r, key, "a name of config", &number->name)) return -1;
        if (read_u32(r, value, number->name, 0, UINT32_MAX, &number->value)) return -1;
    }
    return 0;
}

int launch_regions(const char *text, uint32_t *regions) {
    char *end;
    unsigned long most;
    *regions = 1; /* REGIONS_SPARSE */
    if (strcmp(text, "sparse") == 0) return 0;
    most = strtoul(text, &end, 10);
    if (end == text || *end || *text == '-' || most < 2 || most > 4096) return -1;
    *regions = (uint32_t)most;
    return 0;
}

static int read_machine(reader *r, const yaml_node_t *node) {
    static const char *const keys[] = {"gpu",       "sms",    "kernels_per_sm", "technique",
                                       "scheduler", "config", "regions",        NULL};
    yaml_node_t *value;
    if (check_mapping(r, node, "machine", keys)) return -1;
    if ((value = find(r, node, "gpu"))) {
        r->launch->gpu_place = place_of(value);
        if (read_text(r, value, "gpu", &r->launch->gpu)) return -1;
    }
    if ((value = find(r, node, "sms")) && read_u32(r, value, "sms", 1, 1024, &r->launch->sms)) return -1;
    if ((value = find(r, node, "kernels_per_sm")) &&
        read_u32(r, value, "kernels_per_sm", 1, 32, &r->launch->kernels_per_sm))
        return -1;
    if ((value = find(r, node, "scheduler"))) {
        if (read_text(r, value, "scheduler", &r->launch->scheduler)) return -1;
        if (strcmp(text_of(value), "gto") != 0 && strcmp(text_of(value), "lrr") != 0) {
            return FAIL(r, value, "scheduler must be gto or lrr, not \"%s\"", text_of(value));
        }
    }
    if ((value = find(r, node, "config")) && read_numbers(r, value)) return -1;
    if ((value = find(r, node, "regions")) && launch_regions(text_of(value), &r->launch->regions)) {
        return FAIL(r, value,
                    "regions must be sparse or the most instructions of a short region (2 to 4096), not \"%s\"",
                    text_of(value));
    }
    if ((value = find(r, node, "technique"))) {
        if (read_text(r, value, "technique", &r->launch->technique)) return -1;
        if (strcmp(text_of(value), "switch") != 0 && strcmp(text_of(value), "drain") != 0 &&
            strcmp(text_of(value), "flush") != 0) {
            return FAIL(r, value, "technique must be switch, drain or flush, not \"%s\"", text_of(value));
        }
    }
    return 0;
}

static int read_document(reader *r) {
    static const char *const keys[] = {"machine", "processes", "kernels", NULL};
    yaml_node_t *root = yaml_document_get_root_node(r->document), *processes, *kernels, *machine;
    if (!root) {
        launch_place place = {1, 1};
        return launch_file_error(r->launch, place, r->error, "the file is empty");
    }
    if (check_mapping(r, root, "a launch file", keys)) return -1;
    if ((machine = find(r, root, "machine")) && read_machine(r, machine)) return -1;
    processes = find(r, root, "processes");
    kernels = find(r, root, "kernels");
    if (!processes == !kernels) return FAIL(r, root, "a launch file has either kernels or processes");
    if (kernels) {
        if (read_process(r, root, kernels)) return -1;
    } else {
        yaml_node_item_t *item;
        if (processes->type != YAML_SEQUENCE_NODE)
            return FAIL(r, processes, "processes must be a list (- kernels: ...)");
        for (item = processes->data.sequence.items.start; item < processes->data.sequence.items.top; item++) {
            if (read_process(r, yaml_document_get_node(r->document, *item), NULL)) return -1;
        }
    }
    if (!r->launch->kernel_count) return FAIL(r, kernels ? kernels : processes, "there is no kernel to run");
    return 0;
}

int launch_file_read(launch_file *launch, const char *path, char error[LAUNCH_ERROR_BYTES]) {
    yaml_parser_t parser;
    yaml_document_t document;
    reader r;
    FILE *file;
    int result;
    memset(launch, 0, sizeof *launch);
    launch->path = strdup(path);
    if (!launch->path) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: out of memory", path);
        return -1;
    }
    file = fopen(path, "rb");
    if (!file || (fgetc(file) == EOF && ferror(file))) { /* a folder can be opened, but not read */
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: %s", path, strerror(errno));
        if (file) fclose(file);
        launch_file_free(launch);
        return -1;
    }
    rewind(file);
    if (!yaml_parser_initialize(&parser)) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: out of memory", path);
        fclose(file);
        launch_file_free(launch);
        return -1;
    }
    yaml_parser_set_input_file(&parser, file);
    r.launch = launch;
    r.document = &document;
    r.error = error;
    if (!yaml_parser_load(&parser, &document)) {
        launch_place place;
        place.line = (uint32_t)parser.problem_mark.line + 1;
        place.column = (uint32_t)parser.problem_mark.column + 1;
        result =
            launch_file_error(launch, place, error, "not YAML: %s%s%s", parser.problem ? parser.problem : "unreadable",
                              parser.context ? ", " : "", parser.context ? parser.context : "");
    } else {
        result = read_document(&r);
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    fclose(file);
    if (result) launch_file_free(launch);
    return result;
}

void launch_file_free(launch_file *launch) {
    uint32_t i, k;
    for (i = 0; i < launch->kernel_count; i++) {
        launch_kernel *kernel = &launch->kernels[i];
        for (k = 0; k < kernel->expected_file_count; k++) free(kernel->expected_files[k].path);
        free(kernel->expected_files);
        for (k = 0; k < kernel->texture_reference_count; k++) free(kernel->texture_references[k].name);
        free(kernel->texture_references);
        for (k = 0; k < kernel->argument_count; k++) free(kernel->arguments[k].structure);
        free(kernel->arguments);
        free(kernel->ptx_path);
        free(kernel->name);
    }
    for (i = 0; i < launch->buffer_count; i++) {
        free(launch->buffers[i].name);
        free(launch->buffers[i].contents);
    }
    for (i = 0; i < launch->process_count; i++) free(launch->processes[i].name);
    for (i = 0; i < launch->number_count; i++) free(launch->numbers[i].name);
    free(launch->numbers);
    free(launch->kernels);
    free(launch->buffers);
    free(launch->processes);
    free(launch->gpu);
    free(launch->technique);
    free(launch->scheduler);
    free(launch->path);
    memset(launch, 0, sizeof *launch);
}
