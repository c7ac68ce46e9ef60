#include "ptx/demangle.h"

#include <cxxabi.h>

/* The C++ runtime is not instrumented: the memory sanitizer has not seen that the name was written. */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define IS_WRITTEN(text) __msan_unpoison_string(text)
#endif
#endif
#ifndef IS_WRITTEN
#define IS_WRITTEN(text) (void)(text)
#endif

char *demangle(const char *name) {
    int status = 0;
    char *full = name[0] == '_' && name[1] == 'Z' ? abi::__cxa_demangle(name, 0, 0, &status) : 0;
    if (full) IS_WRITTEN(full);
    return full;
}
