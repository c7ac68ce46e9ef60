/* What gpump uses of <stdio.h>, for a compilation that has no Windows headers. */
#include <stdarg.h>
#include <stddef.h>
int snprintf(char *, size_t, const char *, ...);
int vsnprintf(char *, size_t, const char *, va_list);
