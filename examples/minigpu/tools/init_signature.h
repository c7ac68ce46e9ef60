/* init_signature: what a kernel's C++ name says of its parameters. PTX has lost it: __half* is a .u64 there, and so is
 * long. */
#ifndef MINIGPU_INIT_SIGNATURE_H
#define MINIGPU_INIT_SIGNATURE_H

#include <stddef.h>

#include "launch/launch.h"

/* The elements of a C++ type: "__half2" is two of f16. */
typedef struct signature_element {
    launch_type type;
    uint32_t count;
} signature_element;

/* Finds the elements of parameter `index` (from 0) of a C++ name with parameters ("scale(__half2*, int)"): of what it
 * points to, or of itself. cpp_name may be NULL. Returns 1, or 0: the name does not say. */
int signature_parameter(const char *cpp_name, uint32_t index, signature_element *element);

#endif
