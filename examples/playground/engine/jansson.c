/* jansson: see include/jansson.h. A value has one owner. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { OBJECT, ARRAY, TEXT, INTEGER, REAL, TRUE, FALSE, NOTHING } kind;

struct json_t {
    kind is;
    json_int_t integer;
    double real;
    char *text;     /* of TEXT */
    json_t **items; /* of OBJECT and ARRAY */
    char **names;   /* of OBJECT */
    size_t count, length;
};

static json_t *new_value(kind is) {
    json_t *value = (json_t *)calloc(1, sizeof *value);
    if (value) value->is = is;
    return value;
}

json_t *json_object(void) { return new_value(OBJECT); }
json_t *json_array(void) { return new_value(ARRAY); }
json_t *json_null(void) { return new_value(NOTHING); }
json_t *json_boolean(int value) { return new_value(value ? TRUE : FALSE); }

json_t *json_integer(json_int_t integer) {
    json_t *value = new_value(INTEGER);
    if (value) value->integer = integer;
    return value;
}

json_t *json_real(double real) {
    json_t *value = isfinite(real) ? new_value(REAL) : NULL;
    if (value) value->real = real;
    return value;
}

json_t *json_stringn(const char *text, size_t length) {
    json_t *value = new_value(TEXT);
    if (!value) return NULL;
    value->text = (char *)malloc(length + 1);
    if (!value->text) {
        free(value);
        return NULL;
    }
    memcpy(value->text, text, length);
    value->text[length] = 0;
    value->length = length;
    return value;
}

json_t *json_string(const char *text) { return text ? json_stringn(text, strlen(text)) : NULL; }

json_t *json_sprintf(const char *format, ...) {
    va_list arguments;
    char small[512];
    int length;
    va_start(arguments, format);
    length = vsnprintf(small, sizeof small, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length >= sizeof small) {
        char *large = (char *)malloc((size_t)length + 1);
        json_t *value;
        if (!large) return NULL;
        va_start(arguments, format);
        vsnprintf(large, (size_t)length + 1, format, arguments);
        va_end(arguments);
        value = json_stringn(large, (size_t)length);
        free(large);
        return value;
    }
    return length < 0 ? NULL : json_stringn(small, (size_t)length);
}

void json_decref(json_t *value) {
    size_t i;
    if (!value) return;
    for (i = 0; i < value->count; i++) {
        json_decref(value->items[i]);
        if (value->names) free(value->names[i]);
    }
    free(value->items);
    free(value->names);
    free(value->text);
    free(value);
}

/* Makes room for one more item. Returns 0, or -1. */
static int grow(json_t *value) {
    json_t **items = (json_t **)realloc(value->items, (value->count + 1) * sizeof *items);
    char **names;
    if (!items) return -1;
    value->items = items;
    if (value->is == ARRAY) return 0;
    names = (char **)realloc(value->names, (value->count + 1) * sizeof *names);
    if (!names) return -1;
    value->names = names;
    return 0;
}

int json_object_set_new(json_t *object, const char *name, json_t *value) {
    size_t i;
    char *copy;
    if (!object || !value || object->is != OBJECT) {
        json_decref(value);
        return -1;
    }
    for (i = 0; i < object->count; i++) {
        if (strcmp(object->names[i], name) != 0) continue;
        json_decref(object->items[i]);
        object->items[i] = value;
        return 0;
    }
    copy = strdup(name);
    if (!copy || grow(object)) {
        free(copy);
        json_decref(value);
        return -1;
    }
    object->names[object->count] = copy;
    object->items[object->count++] = value;
    return 0;
}

int json_array_insert_new(json_t *array, size_t index, json_t *value) {
    if (!array || !value || array->is != ARRAY || index > array->count || grow(array)) {
        json_decref(value);
        return -1;
    }
    memmove(array->items + index + 1, array->items + index, (array->count - index) * sizeof *array->items);
    array->items[index] = value;
    array->count++;
    return 0;
}

int json_array_append_new(json_t *array, json_t *value) {
    return json_array_insert_new(array, array ? array->count : 0, value);
}

json_t *json_object_get(const json_t *object, const char *name) {
    size_t i;
    for (i = 0; object && i < object->count; i++)
        if (strcmp(object->names[i], name) == 0) return object->items[i];
    return NULL;
}

const char *json_string_value(const json_t *value) { return value && value->is == TEXT ? value->text : NULL; }

/* ---- json_pack ---- */

typedef struct packing {
    const char *format;
    va_list arguments;
    int failed;
} packing;

static char next_sign(packing *p) {
    while (*p->format == ' ' || *p->format == ',' || *p->format == ':') p->format++;
    return *p->format ? *p->format++ : 0;
}

static json_t *pack_value(packing *p, char sign) {
    json_t *value;
    char next;
    switch (sign) {
    case '{':
        value = json_object();
        while ((next = next_sign(p)) == 's') {
            const char *name = va_arg(p->arguments, const char *);
            p->failed |= json_object_set_new(value, name, pack_value(p, next_sign(p)));
        }
        p->failed |= next != '}';
        return value;
    case '[':
        value = json_array();
        while ((next = next_sign(p)) && next != ']') p->failed |= json_array_append_new(value, pack_value(p, next));
        p->failed |= next != ']';
        return value;
    case 's': return json_string(va_arg(p->arguments, const char *));
    case 'i': return json_integer(va_arg(p->arguments, int));
    case 'I': return json_integer(va_arg(p->arguments, json_int_t));
    case 'f': return json_real(va_arg(p->arguments, double));
    case 'b': return json_boolean(va_arg(p->arguments, int));
    case 'o': return va_arg(p->arguments, json_t *);
    case 'n': return json_null();
    default: p->failed = 1; return NULL;
    }
}

json_t *json_pack(const char *format, ...) {
    packing p = {.format = format};
    json_t *value;
    va_start(p.arguments, format);
    value = pack_value(&p, next_sign(&p));
    va_end(p.arguments);
    if (value && !p.failed) return value;
    json_decref(value);
    return NULL;
}

/* ---- writing ---- */

static int write_text(const char *text, size_t length, FILE *file, size_t flags) {
    int failed = fputc('"', file) == EOF;
    size_t i;
    for (i = 0; i < length; i++) {
        static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
        const unsigned char c = (unsigned char)text[i];
        const char *found = c ? strchr(from, c) : NULL;
        if (found)
            failed |= fprintf(file, "\\%c", to[found - from]) < 0;
        else if (c == '/' && (flags & JSON_ESCAPE_SLASH))
            failed |= fputs("\\/", file) < 0;
        else if (c < 0x20)
            failed |= fprintf(file, "\\u%04X", c) < 0;
        else
            failed |= fputc(c, file) == EOF;
    }
    return failed | (fputc('"', file) == EOF);
}

/* Writes a number that reads back as a real: with a point or an exponent, and no sign or zeros before the latter. */
static int write_real(double value, FILE *file, size_t flags) {
    const int precision = (int)(flags >> 11 & 0x1f);
    char text[64], *exponent, *end;
    snprintf(text, sizeof text - 3, "%.*g", precision ? precision : 17, value);
    if (!strpbrk(text, ".e")) strcat(text, ".0");
    if ((exponent = strchr(text, 'e')) != NULL) {
        char *start = ++exponent;
        end = start + 1;
        if (*start == '-') start++;
        while (*end == '0') end++;
        if (end != start) memmove(start, end, strlen(end) + 1);
    }
    return fputs(text, file) < 0;
}

static int new_line(FILE *file, size_t flags, int depth, int space) {
    const size_t indent = flags & 0x1f;
    if (!indent) return space && !(flags & JSON_COMPACT) && fputc(' ', file) == EOF;
    return fprintf(file, "\n%*s", (int)(indent * (size_t)depth), "") < 0;
}

static int write_value(const json_t *value, FILE *file, size_t flags, int depth) {
    size_t i;
    int failed = 0;
    switch (value->is) {
    case TEXT: return write_text(value->text, value->length, file, flags);
    case INTEGER: return fprintf(file, "%lld", value->integer) < 0;
    case REAL: return write_real(value->real, file, flags);
    case TRUE: return fputs("true", file) < 0;
    case FALSE: return fputs("false", file) < 0;
    case NOTHING: return fputs("null", file) < 0;
    default: break;
    }
    failed |= fputc(value->is == OBJECT ? '{' : '[', file) == EOF;
    for (i = 0; i < value->count; i++) {
        failed |= (i && fputc(',', file) == EOF) | new_line(file, flags, depth + 1, i != 0);
        if (value->is == OBJECT)
            failed |= write_text(value->names[i], strlen(value->names[i]), file, flags) |
                      (fputs(flags & JSON_COMPACT ? ":" : ": ", file) < 0);
        failed |= write_value(value->items[i], file, flags, depth + 1);
    }
    if (value->count) failed |= new_line(file, flags, depth, 0);
    return failed | (fputc(value->is == OBJECT ? '}' : ']', file) == EOF);
}

int json_dumpf(const json_t *value, FILE *file, size_t flags) {
    return value && !write_value(value, file, flags, 0) ? 0 : -1;
}
