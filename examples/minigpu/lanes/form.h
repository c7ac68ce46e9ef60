/* form: the path of an instruction through an SM (sm_cycle, pipeline, memory_path, memory_access, lanes) is compiled in
 * several forms from one source. machine/sm_form.h lists the forms and their reasons. */
#ifndef MINIGPU_FORM_H
#define MINIGPU_FORM_H

/* Linkage of the functions of these files: static in a form that is one file. */
#ifdef SM_ENTRY
#define SM_PATH static __attribute__((unused))
#else
#define SM_PATH
#endif

/* For functions that every warp instruction passes through and that few places call. */
#define SM_INLINE static inline __attribute__((always_inline))

/* 1 in the form for machines without a part that has hooks on the path. The compiler then removes all calls of hooks.
 */
#ifdef SM_PLAIN
#define IS_PLAIN 1
#else
#define IS_PLAIN 0
#endif
/* 1 in the plain form for machines whose kernels all come from traces. */
#ifdef SM_TRACED
#define IS_TRACED 1
#else
#define IS_TRACED 0
#endif
/* Whether no SM of a machine has such a part. All forms treat such a machine alike. */
#define IS_PLAIN_MACHINE(m) (IS_PLAIN || (m)->plain)

#endif
