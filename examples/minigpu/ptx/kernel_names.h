/* kernel_names: kernels and variables by the names that a user knows. A name can be the entry's name in the PTX file,
 * or its C++ name with parameters ("scale<float>(float*, int)"), or the C++ name without parameters, template arguments
 * or namespaces. The entry that fits best is meant, unless another one fits as well. */
#ifndef MINIGPU_KERNEL_NAMES_H
#define MINIGPU_KERNEL_NAMES_H

#include "ptx/ptx_reader.h"

/* Returns the PTX name of the kernel that `name` means; the kernel may be one that is refused. NULL: no kernel fits, or
 * several do, and *several tells which of the two. */
const char *kernel_name_find(const ptx_module *module, const char *name, int *several);
/* Writes the names of the file's kernels, separated by commas. C++ names stand behind the names that have one. "..."
 * replaces the names that do not fit. */
void kernel_name_list(const ptx_module *module, char *text, size_t bytes);
/* The same two functions for variables at module scope. */
const ptx_symbol *symbol_name_find(const ptx_module *module, const char *name, int *several);
void symbol_name_list(const ptx_module *module, char *text, size_t bytes);

#endif
