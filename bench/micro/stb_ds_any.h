/* stb_ds.h from wherever the system has it, for the benches that measure it. */
#if __has_include("stb_ds.h")
#include "stb_ds.h"
#else
#include <stb/stb_ds.h>
#endif
