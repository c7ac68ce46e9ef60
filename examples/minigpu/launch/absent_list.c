#include "launch/absent_list.h"

#include <string.h>

size_t absent_list_word(const char *list, const char **rest) {
    const size_t length = strcspn(list, ",");
    *rest = list + length + (list[length] == ',');
    return length;
}

int absent_list_is(const char *word, size_t length, const char *name) {
    return name && strlen(name) == length && !strncmp(word, name, length);
}

int absent_list_has(const char *list, const char *word) {
    const char *rest = list;
    while (list && *list) {
        if (absent_list_is(list, absent_list_word(list, &rest), word)) return 1;
        list = rest;
    }
    return 0;
}

int absent_list_has_buffer(const char *list, const launch_file *launch, uint32_t buffer) {
    const char *name = launch->buffers[buffer].name;
    return name && absent_list_has(list, name);
}

int absent_list_is_texture(const launch_file *launch, uint32_t buffer) {
    uint32_t k, i;
    for (k = 0; k < launch->kernel_count; k++) {
        const launch_kernel *l = &launch->kernels[k];
        for (i = 0; i < l->argument_count; i++)
            if (l->arguments[i].is_texture && l->arguments[i].buffer == buffer) return 1;
        for (i = 0; i < l->texture_reference_count; i++)
            if (l->texture_references[i].texture.buffer == buffer) return 1;
    }
    return 0;
}
