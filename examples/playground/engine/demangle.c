/* demangle: ptx/demangle.h without a C++ run-time library: C++ names are shown as PTX has them. */
#include "ptx/demangle.h"

#include <stddef.h>

char *demangle(const char *name) {
    (void)name;
    return NULL;
}
