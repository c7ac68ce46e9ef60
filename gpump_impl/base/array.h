/* array (private): growing arrays of the program kind, over a copy of stb_ds that the host never sees.
 *
 * stb_ds can neither report failure nor take an allocator, so it never grows anything here: gpumpi_array_reserve lays
 * an array out in stb_ds's format through the instance's own allocator, checked, and the stbds_arr macros then find
 * room. Only the macros of stb_ds are used, never its functions, so its implementation is not compiled in at all. Every
 * name it declares is renamed to gpumpi_stbds_... and its switches are put back afterwards (array_end.h): a host may
 * implement stb_ds before, after, elsewhere, in a library, or not at all. */
#ifndef GPUMPI_ARRAY_H
#define GPUMPI_ARRAY_H
#ifndef GPUMP_NO_PROGRAM

#include <stdlib.h>
#include <string.h>
#include "base/base.h"

#pragma push_macro("STB_DS_IMPLEMENTATION")
#pragma push_macro("STBDS_REALLOC")
#pragma push_macro("STBDS_FREE")
#pragma push_macro("STBDS_NO_SHORT_NAMES")
#pragma push_macro("STBDS_UNIT_TESTS")
#pragma push_macro("INCLUDE_STB_DS_H")
#pragma push_macro("stbds_arrgrow")
#undef STB_DS_IMPLEMENTATION
#undef STBDS_REALLOC
#undef STBDS_FREE
#undef STBDS_NO_SHORT_NAMES
#undef STBDS_UNIT_TESTS
#undef INCLUDE_STB_DS_H
#undef stbds_arrgrow
#define STBDS_NO_SHORT_NAMES
#define stbds_arrgrowf gpumpi_stbds_arrgrowf
#define stbds_arrfreef gpumpi_stbds_arrfreef
#define stbds_hash_bytes gpumpi_stbds_hash_bytes
#define stbds_hash_string gpumpi_stbds_hash_string
#define stbds_hmdel_key gpumpi_stbds_hmdel_key
#define stbds_hmfree_func gpumpi_stbds_hmfree_func
#define stbds_hmget_key gpumpi_stbds_hmget_key
#define stbds_hmget_key_ts gpumpi_stbds_hmget_key_ts
#define stbds_hmput_default gpumpi_stbds_hmput_default
#define stbds_hmput_key gpumpi_stbds_hmput_key
#define stbds_rand_seed gpumpi_stbds_rand_seed
#define stbds_shmode_func gpumpi_stbds_shmode_func
#define stbds_stralloc gpumpi_stbds_stralloc
#define stbds_strreset gpumpi_stbds_strreset
#define stbds_unit_tests gpumpi_stbds_unit_tests
#define stbds_array_header gpumpi_stbds_array_header
#define stbds_string_block gpumpi_stbds_string_block
#define stbds_string_arena gpumpi_stbds_string_arena
#define STBDS_SH_NONE gpumpi_stbds_sh_none
#define STBDS_SH_DEFAULT gpumpi_stbds_sh_default
#define STBDS_SH_STRDUP gpumpi_stbds_sh_strdup
#define STBDS_SH_ARENA gpumpi_stbds_sh_arena
#ifdef __cplusplus
#define stbds_arrgrowf_wrapper gpumpi_stbds_arrgrowf_wrapper
#define stbds_hmget_key_wrapper gpumpi_stbds_hmget_key_wrapper
#define stbds_hmget_key_ts_wrapper gpumpi_stbds_hmget_key_ts_wrapper
#define stbds_hmput_default_wrapper gpumpi_stbds_hmput_default_wrapper
#define stbds_hmput_key_wrapper gpumpi_stbds_hmput_key_wrapper
#define stbds_hmdel_key_wrapper gpumpi_stbds_hmdel_key_wrapper
#define stbds_shmode_func_wrapper gpumpi_stbds_shmode_func_wrapper
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wundef"
#endif
#if defined(__has_include)
#if __has_include("stb_ds.h")
#include "stb_ds.h"
#elif __has_include(<stb/stb_ds.h>)
#include <stb/stb_ds.h>
#else
#error \
    "gpump needs stb_ds.h: install libstb-dev (Debian, Ubuntu), put stb_ds.h beside gpump.h, or define GPUMP_NO_PROGRAM"
#endif
#elif defined(__TINYC__) && \
    defined(__unix__) /* no __has_include: where Debian's libstb-dev and its like put the file */
#include <stb/stb_ds.h>
#else
#include "stb_ds.h"
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* The one array macro that calls a function of stb_ds. Room is always made before, so it is never reached. */
#undef stbds_arrgrow
#define stbds_arrgrow(array, more, least) gpumpi_array_is_full()

GPUMP_BEGIN

GPUMP_INLINE void gpumpi_array_is_full(void) { GPUMP_ASSERT(0); }

/* Makes room for `count` elements in all. Returns the array, moved or not, or NULL when out of memory or when the size
 * does not fit size_t; the old array is then still valid. `array` may be NULL. */
GPUMP_API void *gpumpi_array_grow(const gpump_allocator *allocator, void *array, size_t element_bytes, size_t count);
/* Frees an array of gpumpi_array_grow; NULL is allowed. */
GPUMP_API void gpumpi_array_free(const gpump_allocator *allocator, void *array, size_t element_bytes);

/* Returns 1 when *array, a pointer to elements, has room for `more` further elements, grown if need be. Returns 0 when
 * out of memory, array unchanged. */
GPUMP_API int gpumpi_array_reserve(const gpump_allocator *allocator, void *array, size_t element_bytes, size_t more);
#define GPUMPI_ARRAY_RESERVE(allocator, array, more) \
    gpumpi_array_reserve((allocator), (void *)&(array), sizeof *(array), (size_t)(more))
/* The same without a call where there is room. Hot. */
#define GPUMPI_ARRAY_RESERVE_HOT(allocator, array, more) \
    (stbds_arrlenu(array) + (size_t)(more) <= stbds_arrcap(array) || GPUMPI_ARRAY_RESERVE((allocator), (array), (more)))
/* Appends one value; 1 done, 0 out of memory. */
#define GPUMPI_ARRAY_PUSH(allocator, array, value) \
    (GPUMPI_ARRAY_RESERVE((allocator), (array), 1) ? (stbds_arrput((array), (value)), 1) : 0)
#define GPUMPI_ARRAY_PUSH_HOT(allocator, array, value) \
    (GPUMPI_ARRAY_RESERVE_HOT((allocator), (array), 1) ? (stbds_arrput((array), (value)), 1) : 0)
/* Frees and sets to NULL. */
#define GPUMPI_ARRAY_FREE(allocator, array) (gpumpi_array_free((allocator), (array), sizeof *(array)), (array) = NULL)

GPUMP_END

#endif
#endif
