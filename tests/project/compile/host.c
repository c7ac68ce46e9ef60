/* A host that uses stb_ds itself beside gpump's private copy. matrix.sh compiles it in every arrangement:
 *   BEFORE, AFTER   1: stb_ds.h is included before / after gpump's implementation; 2: and implemented there
 *   OWN_ALLOCATOR   the host gives stb_ds its own realloc and free, which gpump must leave alone
 *   NO_GPUMP        this file only implements stb_ds, for the arrangement with two files */
#ifdef OWN_ALLOCATOR
#include <stdlib.h>
static int host_allocations;
#define STBDS_REALLOC(context, pointer, bytes) (host_allocations++, realloc(pointer, bytes))
#define STBDS_FREE(context, pointer) (host_allocations--, free(pointer))
#endif

#if BEFORE == 2 || defined(NO_GPUMP)
#define STB_DS_IMPLEMENTATION
#endif
#if BEFORE || defined(NO_GPUMP)
#include STB_DS_PATH
#undef STB_DS_IMPLEMENTATION
#endif

#ifndef NO_GPUMP
/* Wanted before gpump and used after it: gpump must neither consume nor lose it. */
#if AFTER == 2
#define STB_DS_IMPLEMENTATION
#endif
#include "gpump.h"
#define GPUMP_IMPLEMENTATION
#include "gpump.h"
#include "gpump.h"
#if AFTER
#include STB_DS_PATH
#endif
#if AFTER == 2 && !defined(STB_DS_IMPLEMENTATION)
#error "gpump lost the host's STB_DS_IMPLEMENTATION"
#endif
#if !BEFORE && !AFTER &&                                                                                            \
    (defined(INCLUDE_STB_DS_H) || defined(STB_DS_IMPLEMENTATION) || defined(arrput) || defined(stbds_hash_bytes) || \
     defined(STBDS_FREE))
#error "gpump left something of stb_ds behind"
#endif

#include "use_gpump.h"

int main(void) {
#if BEFORE || AFTER
    struct {
        int key, value;
    } *map = NULL, pair;
    int *array = NULL, i;
    for (i = 0; i < 1000; i++) {
        pair.key = i * 7;
        pair.value = i;
        stbds_arrput(array, i);
        stbds_hmputs(map, pair);
    }
    pair.key = 7 * 123;
    if (stbds_arrlen(array) != 1000 || array[999] != 999 || stbds_hmlen(map) != 1000) return 1;
    stbds_arrsetcap(array, 5000);
#ifndef STBDS_NO_SHORT_NAMES
    if (arrlast(array) != 999) return 1;
#endif
    stbds_arrfree(array);
    stbds_hmfree(map);
#endif
#ifdef OWN_ALLOCATOR
    if (host_allocations < 1) return 2; /* reallocations count too, so never 0 when the host's own functions ran */
#endif
    return use_gpump();
}
#endif
