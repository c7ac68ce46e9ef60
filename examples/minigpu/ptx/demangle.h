/* demangle: C++ names from those in object files, by the C++ runtime. */
#ifndef MINIGPU_DEMANGLE_H
#define MINIGPU_DEMANGLE_H
#ifdef __cplusplus
extern "C" {
#endif
/* The C++ name, to be freed; NULL when `name` is not one that a C++ compiler makes. */
char *demangle(const char *name);
#ifdef __cplusplus
}
#endif
#endif
