/* Includes the system's stb_ds.h, for the benches that measure it. */
#if __has_include("stb_ds.h")
#include "stb_ds.h"
#else
#include <stb/stb_ds.h>
#endif
