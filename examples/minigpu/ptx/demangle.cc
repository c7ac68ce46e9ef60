#include "ptx/demangle.h"

#include <cxxabi.h>

char *demangle(const char *name) {
    int status = 0;
    return name[0] == '_' && name[1] == 'Z' ? abi::__cxa_demangle(name, 0, 0, &status) : 0;
}
