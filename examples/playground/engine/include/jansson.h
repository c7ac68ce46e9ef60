/* jansson: the part of jansson's interface that the mini-GPU's reports use, for machines without a jansson.
 *
 * Values are written exactly as jansson writes them: a test compares whole reports. Members keep their order. Nothing
 * here reads JSON. */
#ifndef PLAYGROUND_JANSSON_H
#define PLAYGROUND_JANSSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef long long json_int_t;
#define JSON_INTEGER_FORMAT "lld"

#define JSON_INDENT(n) ((size_t)(n)&0x1fu)
#define JSON_COMPACT 0x20u
#define JSON_ENCODE_ANY 0x200u
#define JSON_ESCAPE_SLASH 0x400u
#define JSON_REAL_PRECISION(n) (((size_t)(n)&0x1fu) << 11)

typedef struct json_t json_t;

json_t *json_object(void);
json_t *json_array(void);
json_t *json_null(void);
json_t *json_boolean(int value);
json_t *json_integer(json_int_t value);
json_t *json_real(double value);
json_t *json_string(const char *text);
json_t *json_stringn(const char *text, size_t length);
json_t *json_sprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Formats: {} [] s i I f b o n, and "," ":" and blanks between them. */
json_t *json_pack(const char *format, ...);

/* These take the value over. Each returns 0, or -1 without memory or without a value. */
int json_object_set_new(json_t *object, const char *name, json_t *value);
int json_array_append_new(json_t *array, json_t *value);
int json_array_insert_new(json_t *array, size_t index, json_t *value);

json_t *json_object_get(const json_t *object, const char *name);
const char *json_string_value(const json_t *value);
void json_decref(json_t *value); /* NULL is allowed */
/* Writes a value. Returns 0, or -1. */
int json_dumpf(const json_t *value, FILE *file, size_t flags);

#endif
