/* check: what the programs here do about errors of the run-time library. */
#ifndef CHECK_H
#define CHECK_H

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                                 \
    do {                                                                                                            \
        const cudaError_t error = (call);                                                                           \
        if (error == cudaSuccess) break;                                                                            \
        fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, cudaGetErrorName(error), cudaGetErrorString(error)); \
        exit(1);                                                                                                    \
    } while (0)

#endif
