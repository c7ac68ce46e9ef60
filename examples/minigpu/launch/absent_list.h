/* absent_list: the pages that are absent at first (--absent): a list with commas of "all" (every buffer that no texture
 * reads), names of buffers, "code" (pages of code) and "local" (arrays in local memory, where checks find them); NULL:
 * nothing is absent. */
#ifndef MINIGPU_ABSENT_LIST_H
#define MINIGPU_ABSENT_LIST_H

#include "launch/launch_file.h"

#include <stddef.h>

/* Does the list have that word, or that buffer? */
int absent_list_has(const char *list, const char *word);
int absent_list_has_buffer(const char *list, const launch_file *launch, uint32_t buffer);
/* The length of the list's first word; *rest: what follows it. Is it this name (NULL: no)? */
size_t absent_list_word(const char *list, const char **rest);
int absent_list_is(const char *word, size_t length, const char *name);
/* Does a texture read this buffer? Its accesses are not checked. */
int absent_list_is_texture(const launch_file *launch, uint32_t buffer);

#endif
