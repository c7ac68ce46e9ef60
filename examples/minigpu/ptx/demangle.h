/* demangle: C++ names from the names in object files, with the C++ run-time library. */
#ifndef MINIGPU_DEMANGLE_H
#define MINIGPU_DEMANGLE_H
#ifdef __cplusplus
extern "C" {
#endif
/* Returns the C++ name, which the caller frees; NULL when `name` is not a C++ compiler's. */
char *demangle(const char *name);
#ifdef __cplusplus
}
#endif
#endif
