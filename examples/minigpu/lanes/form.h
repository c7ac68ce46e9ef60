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

/* Whether an SM has a part that most machines lack, such as faults, errors, duet, rate, queue or restart. In the plain
 * form the answer is 0 at compile time, so the compiler removes the code that depends on the part. */
#ifdef SM_PLAIN
#define HAS(s, part) 0
#define IS_PLAIN 1
#else
#define HAS(s, part) ((s)->part != NULL)
#define IS_PLAIN 0
#endif
/* Whether no SM of a machine has such a part. All forms treat such a machine alike. */
#define IS_PLAIN_MACHINE(m) (IS_PLAIN || (m)->plain)

#endif
