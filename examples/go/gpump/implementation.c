/* The library, compiled once; the Go files include declarations only. */
#define GPUMP_IMPLEMENTATION
#include "../../../gpump.h"
