#define _GNU_SOURCE
#include "tools/init_signature.h"

#include <string.h>

/* C++ types by name; 2, 3 or 4 behind a vector type's name is its number of elements. */
static const struct {
    const char *name;
    launch_type type;
} scalars[] = {{"char", LAUNCH_S8},           {"signed char", LAUNCH_S8},   {"unsigned char", LAUNCH_U8},
               {"bool", LAUNCH_U8},           {"short", LAUNCH_S16},        {"unsigned short", LAUNCH_U16},
               {"int", LAUNCH_S32},           {"unsigned int", LAUNCH_U32}, {"long", LAUNCH_S64},
               {"unsigned long", LAUNCH_U64}, {"long long", LAUNCH_S64},    {"unsigned long long", LAUNCH_U64},
               {"float", LAUNCH_F32},         {"double", LAUNCH_F64},       {"__half", LAUNCH_F16},
               {"__nv_bfloat16", LAUNCH_BF16}},
  vectors[] = {{"char", LAUNCH_S8},      {"uchar", LAUNCH_U8},          {"short", LAUNCH_S16}, {"ushort", LAUNCH_U16},
               {"int", LAUNCH_S32},      {"uint", LAUNCH_U32},          {"long", LAUNCH_S64},  {"ulong", LAUNCH_U64},
               {"longlong", LAUNCH_S64}, {"ulonglong", LAUNCH_U64},     {"float", LAUNCH_F32}, {"double", LAUNCH_F64},
               {"__half", LAUNCH_F16},   {"__nv_bfloat16", LAUNCH_BF16}};

/* The first '(' outside of template arguments that begins parameters; NULL: there is none. */
static const char *parameters_of(const char *name) {
    static const char anonymous[] = "(anonymous namespace)";
    int depth = 0;
    for (; *name; name++) {
        if (!strncmp(name, anonymous, sizeof anonymous - 1)) name += sizeof anonymous - 1;
        depth += *name == '<';
        depth -= *name == '>';
        if (*name == '(' && !depth) return name + 1;
    }
    return NULL;
}

/* Copies parameter `index` of a list. Returns 1, or 0: there is none, or it is longer than `bytes`. */
static int parameter_text(const char *at, uint32_t index, char *text, size_t bytes) {
    size_t length = 0;
    int depth = 0;
    for (; *at; at++) {
        if (!depth && (*at == ')' || (*at == ',' && !index))) break;
        if (!depth && *at == ',') {
            index--;
            continue;
        }
        depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
        if (!index && length < bytes) text[length++] = *at;
    }
    if (index || !length || length == bytes) return 0;
    text[length] = 0;
    return 1;
}

/* Leaves the name of the type that a parameter is or points to. Returns how many pointers are on the way. */
static uint32_t pointed_type(char *text) {
    char name[128] = "", *word, *rest = NULL;
    uint32_t pointers = 0;
    for (word = text; *word; word++) pointers += *word == '*' || *word == '&';
    for (word = strtok_r(text, " *&", &rest); word; word = strtok_r(NULL, " *&", &rest)) {
        if (!strcmp(word, "const") || !strcmp(word, "volatile") || !strcmp(word, "__restrict__")) continue;
        if (*name) strcat(name, " ");
        strcat(name, word);
    }
    strcpy(text, name);
    return pointers;
}

int signature_parameter(const char *cpp_name, uint32_t index, signature_element *element) {
    const char *at = cpp_name ? parameters_of(cpp_name) : NULL;
    char text[128];
    size_t k, length;
    if (!at || !parameter_text(at, index, text, sizeof text) || pointed_type(text) > 1) return 0;
    for (k = 0; k < sizeof scalars / sizeof *scalars; k++) {
        if (strcmp(text, scalars[k].name)) continue;
        element->type = scalars[k].type;
        element->count = 1;
        return 1;
    }
    length = *text ? strlen(text) - 1 : 0;
    if (text[length] < '2' || text[length] > '4') return 0;
    for (k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        if (strlen(vectors[k].name) != length || strncmp(text, vectors[k].name, length)) continue;
        element->type = vectors[k].type;
        element->count = (uint32_t)(text[length] - '0');
        return 1;
    }
    return 0;
}
