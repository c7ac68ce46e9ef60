/* mman: wasi-libc's mappings, which are allocated memory and refuse MAP_NORESERVE. */
#ifndef PLAYGROUND_MMAN_H
#define PLAYGROUND_MMAN_H

#include_next <sys/mman.h>

#undef MAP_NORESERVE
#define MAP_NORESERVE 0

#endif
