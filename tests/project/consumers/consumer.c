/* A project that uses gpump from outside: compiled against gpump::gpump, and with OWN_COPY against gpump.h alone. */
#ifdef OWN_COPY
#define GPUMP_IMPLEMENTATION
#endif
#include <gpump.h>
#include <stdio.h>
#include "use_gpump.h"

int main(void) {
    printf("gpump %d.%d.%d\n", GPUMP_VERSION_MAJOR, GPUMP_VERSION_MINOR, GPUMP_VERSION_PATCH);
    return use_gpump();
}
