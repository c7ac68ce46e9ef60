/* launch_values: places, mappings, keys, numbers, types, texts and files of a launch file. */
#define _GNU_SOURCE
#include "launch/launch_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* launch_type */
static const struct {
    const char *name;
    uint32_t bytes;
    uint8_t is_float, is_signed;
    uint8_t digits; /* a floating-point number of so many digits is read as the same bits */
} types[] = {{"u8", 1, 0, 0, 0},  {"s8", 1, 0, 1, 0},   {"u16", 2, 0, 0, 0}, {"s16", 2, 0, 1, 0},
             {"u32", 4, 0, 0, 0}, {"s32", 4, 0, 1, 0},  {"u64", 8, 0, 0, 0}, {"s64", 8, 0, 1, 0},
             {"f32", 4, 1, 0, 9}, {"f64", 8, 1, 0, 17}, {"f16", 2, 1, 0, 5}, {"bf16", 2, 1, 0, 4}};

uint32_t launch_type_bytes(launch_type type) { return types[type].bytes; }
const char *launch_type_name(launch_type type) { return types[type].name; }
int launch_type_is_float(launch_type type) { return types[type].is_float; }
int launch_type_is_signed(launch_type type) { return types[type].is_signed; }

int launch_type_text(launch_type type, uint64_t bits, char *text, size_t bytes) {
    const uint32_t unused = 64 - 8 * types[type].bytes;
    if (types[type].is_float) return snprintf(text, bytes, "%.*g", types[type].digits, launch_as_double(type, bits));
    if (types[type].is_signed) return snprintf(text, bytes, "%" PRId64, (int64_t)(bits << unused) >> unused);
    return snprintf(text, bytes, "%" PRIu64, bits);
}

double launch_as_double(launch_type type, uint64_t bits) {
    float single;
    double wide;
    switch (type) {
    case LAUNCH_F16: return half_to_double(TYPE_F16, (uint32_t)bits);
    case LAUNCH_BF16: return half_to_double(TYPE_BF16, (uint32_t)bits);
    case LAUNCH_F32: memcpy(&single, &bits, sizeof single); return (double)single;
    default: memcpy(&wide, &bits, sizeof wide); return wide;
    }
}

uint32_t launch_half_from_double(launch_type type, double value) {
    return half_from_double(type == LAUNCH_F16 ? TYPE_F16 : TYPE_BF16, value, ROUND_RN);
}

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

launch_place place_of(const yaml_node_t *node) {
    launch_place place;
    place.line = (uint32_t)node->start_mark.line + 1;
    place.column = (uint32_t)node->start_mark.column + 1;
    return place;
}

void *append(void *array_pointer, uint32_t *count, size_t element_bytes) {
    void **array = (void **)array_pointer;
    uint8_t *grown = (uint8_t *)realloc(*array, (size_t)(*count + 1) * element_bytes);
    if (!grown) return NULL;
    *array = grown;
    memset(grown + (size_t)*count * element_bytes, 0, element_bytes);
    return grown + (size_t)(*count)++ * element_bytes;
}

/* ---- mappings ---- */

int check_mapping(reader *r, const yaml_node_t *node, const char *what, const char *const *keys) {
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

yaml_node_t *find(reader *r, const yaml_node_t *mapping, const char *name) {
    yaml_node_pair_t *pair;
    for (pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top; pair++) {
        yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
        if (key->type == YAML_SCALAR_NODE && strcmp(text_of(key), name) == 0)
            return yaml_document_get_node(r->document, pair->value);
    }
    return NULL;
}

/* ---- values ---- */

int read_u64(reader *r, const yaml_node_t *node, const char *what, uint64_t minimum, uint64_t maximum,
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

int read_u32(reader *r, const yaml_node_t *node, const char *what, uint32_t minimum, uint32_t maximum,
             uint32_t *value) {
    uint64_t wide;
    if (read_u64(r, node, what, minimum, maximum, &wide)) return -1;
    *value = (uint32_t)wide;
    return 0;
}

int read_text(reader *r, const yaml_node_t *node, const char *what, char **text) {
    if (node->type != YAML_SCALAR_NODE || !text_of(node)[0]) return FAIL(r, node, "%s must be a text", what);
    free(*text);
    *text = strdup(text_of(node));
    return *text ? 0 : FAIL(r, node, "out of memory");
}

int read_type(reader *r, const yaml_node_t *node, launch_type *type) {
    uint32_t i;
    if (node->type == YAML_SCALAR_NODE) {
        for (i = 0; i < sizeof types / sizeof *types; i++) {
            if (strcmp(types[i].name, text_of(node)) == 0) {
                *type = (launch_type)i;
                return 0;
            }
        }
    }
    return FAIL(r, node, "type must be one of u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64");
}

/* Reads one value of a type as its bits. */
int read_value(reader *r, const yaml_node_t *node, const char *what, launch_type type, uint64_t *bits) {
    const char *text;
    char *end;
    if (node->type != YAML_SCALAR_NODE) return FAIL(r, node, "%s must be one value of type %s", what, types[type].name);
    text = text_of(node);
    errno = 0;
    *bits = 0;
    if (type == LAUNCH_F32) { /* in one rounding */
        float value = strtof(text, &end);
        memcpy(bits, &value, sizeof value);
    } else if (launch_type_is_float(type)) {
        const double value = strtod(text, &end);
        *bits = launch_from_double(type, value);
        if (isfinite(value) && isinf(launch_as_double(type, *bits))) errno = ERANGE;
    } else {
        uint32_t width = types[type].bytes * 8;
        int is_signed = launch_type_is_signed(type);
        int negative = text[0] == '-';
        uint64_t limit = is_signed     ? (UINT64_C(1) << (width - 1)) - (negative ? 0 : 1)
                         : width == 64 ? UINT64_MAX
                                       : (UINT64_C(1) << width) - 1;
        uint64_t magnitude = strtoull(text + negative, &end, 0);
        if (end != text + negative && !*end && (errno || magnitude > limit || (negative && !is_signed))) {
            return FAIL(r, node, "%s is %s, outside the range of %s", what, text, types[type].name);
        }
        if (end == text + negative) end = (char *)text;
        *bits = negative ? 0 - magnitude : magnitude;
        if (width < 64) *bits &= (UINT64_C(1) << width) - 1;
    }
    if (launch_type_is_float(type) && errno == ERANGE && isinf(launch_as_double(type, *bits)))
        return FAIL(r, node, "%s is %s, outside the range of %s", what, text, types[type].name);
    if (end == text || *end)
        return FAIL(r, node, "%s must be a value of type %s, not \"%s\"", what, types[type].name, text);
    return 0;
}

int read_triple(reader *r, const yaml_node_t *node, const char *what, uint32_t triple[3]) {
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
int read_path(reader *r, const yaml_node_t *node, const char *what, char **path) {
    const char *slash = strrchr(r->launch->path, '/');
    char *text = NULL, **kept;
    if (read_text(r, node, what, &text)) return -1;
    free(*path);
    *path = NULL;
    if (text[0] == '/' || !slash)
        *path = text;
    else {
        if (asprintf(path, "%.*s/%s", (int)(slash - r->launch->path), r->launch->path, text) < 0) *path = NULL;
        free(text);
    }
    kept = (char **)append(&r->launch->read_paths, &r->launch->read_path_count, sizeof *kept);
    if (kept && *path) *kept = strdup(*path);
    return *path && kept && *kept ? 0 : FAIL(r, node, "out of memory");
}

int read_file(reader *r, const yaml_node_t *node, const char *path, uint8_t **bytes, uint64_t *count) {
    struct stat status;
    const int is_file = !stat(path, &status) && S_ISREG(status.st_mode); /* opening a pipe would block */
    FILE *file = is_file ? fopen(path, "rb") : NULL;
    long size;
    if (!is_file && !access(path, F_OK))
        return FAIL(r, node, "%s is no regular file: copy its contents into one", path);
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
