#include "ptx/kernel_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/demangle.h"

/* Returns the index-th name of a list, or NULL past its end. */
typedef const char *(*name_at)(const ptx_module *module, uint32_t index);

static const char *kernel_at(const ptx_module *module, uint32_t index) {
    if (index < module->kernel_count) return module->kernels[index].name;
    index -= module->kernel_count;
    return index < module->refusal_count ? module->refusals[index].kernel : NULL;
}

static const char *symbol_at(const ptx_module *module, uint32_t index) {
    return index < module->symbol_count ? module->symbols[index].name : NULL;
}

/* ---- how well a name fits ---- */

/* Cuts parameters, "void " and "(anonymous namespace)::" off a C++ name, in place. */
static char *without_parameters(char *text) {
    char *from = text, *at;
    int depth = 0;
    if (strncmp(from, "void ", 5) == 0) from += 5;
    while ((at = strstr(from, "(anonymous namespace)::"))) memmove(at, at + 23, strlen(at + 23) + 1);
    for (at = from; *at; at++) {
        depth += *at == '<';
        depth -= *at == '>';
        if (*at == '(' && depth == 0) *at = 0;
        if (!*at) break;
    }
    return from;
}

static void without_template_arguments(char *text) {
    char *to = text;
    int depth = 0;
    for (; *text; text++) {
        depth += *text == '<';
        if (!depth) *to++ = *text;
        depth -= *text == '>';
    }
    *to = 0;
}

static const char *without_namespaces(const char *text) {
    const char *last = text, *at;
    for (at = text; *at && *at != '<'; at++)
        if (at[0] == ':' && at[1] == ':') last = at + 2;
    return last;
}

/* Returns how well a name fits: 1: it is the C++ name without parameters; 2: also without namespaces; 3: also without
 * template arguments; 0: it does not fit. */
static int fits(const char *mangled, const char *name) {
    char *full = demangle(mangled), *text;
    int how = 0;
    if (!full) return 0;
    if (strcmp(full, name) == 0) {
        free(full);
        return 1;
    }
    text = without_parameters(full);
    if (strcmp(text, name) == 0)
        how = 1;
    else if (strcmp(without_namespaces(text), name) == 0)
        how = 2;
    if (!how) {
        without_template_arguments(text);
        if (strcmp(text, name) == 0 || strcmp(without_namespaces(text), name) == 0) how = 3;
    }
    free(full);
    return how;
}

/* Returns the index of the only name that fits best, or UINT32_MAX when no name fits or several do. */
static uint32_t find_name(const ptx_module *module, name_at at, const char *name, int *several) {
    uint32_t i, found = UINT32_MAX;
    int best = 4;
    *several = 0;
    for (i = 0; at(module, i); i++)
        if (strcmp(at(module, i), name) == 0) return i;
    for (i = 0; at(module, i); i++) {
        const int how = fits(at(module, i), name);
        if (!how || how > best) continue;
        *several = how == best;
        best = how;
        found = i;
    }
    return *several ? UINT32_MAX : found;
}

static void list_names(const ptx_module *module, name_at at, char *text, size_t bytes) {
    size_t length = 0;
    uint32_t i;
    text[0] = 0;
    for (i = 0; at(module, i); i++) {
        char *full = demangle(at(module, i));
        char one[512];
        snprintf(one, sizeof one, "%s%s%s%s", i ? ", " : "", at(module, i), full ? " = " : "", full ? full : "");
        free(full);
        if (length + strlen(one) + 6 > bytes) {
            snprintf(text + length, bytes - length, ", ...");
            return;
        }
        length += (size_t)snprintf(text + length, bytes - length, "%s", one);
    }
    if (!i) snprintf(text, bytes, "none");
}

const char *kernel_name_find(const ptx_module *module, const char *name, int *several) {
    const uint32_t index = find_name(module, kernel_at, name, several);
    return index == UINT32_MAX ? NULL : kernel_at(module, index);
}

void kernel_name_list(const ptx_module *module, char *text, size_t bytes) {
    list_names(module, kernel_at, text, bytes);
}

const ptx_symbol *symbol_name_find(const ptx_module *module, const char *name, int *several) {
    const uint32_t index = find_name(module, symbol_at, name, several);
    return index == UINT32_MAX ? NULL : &module->symbols[index];
}

void symbol_name_list(const ptx_module *module, char *text, size_t bytes) {
    list_names(module, symbol_at, text, bytes);
}
