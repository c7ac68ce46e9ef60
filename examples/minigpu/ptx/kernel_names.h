/* kernel_names: kernels and variables by the names that a user knows. A name means an entry if it is the entry's own
 * name in the PTX file, its C++ name with parameters ("scale<float>(float*, int)"), or that without parameters, without
 * template arguments or without namespaces, as long as no other entry fits as well. */
#ifndef MINIGPU_KERNEL_NAMES_H
#define MINIGPU_KERNEL_NAMES_H

#include "ptx/ptx_reader.h"

/* The name in the PTX file of a kernel that can be run or is refused. NULL: none fits, or several do; *several says
 * which. */
const char *kernel_name_find(const ptx_module *module, const char *name, int *several);
/* Writes the file's kernels, with commas between them and C++ names behind those that have one; "..." where they do not
 * fit. */
void kernel_name_list(const ptx_module *module, char *text, size_t bytes);
/* The same for variables at module scope. */
const ptx_symbol *symbol_name_find(const ptx_module *module, const char *name, int *several);
void symbol_name_list(const ptx_module *module, char *text, size_t bytes);

#endif
