/* form: the way of an instruction through an SM (sm_cycle, pipeline, memory_path, memory_access, lanes) is compiled in
 * several forms from one source; machine/sm_form.h says which, and why. */
#ifndef MINIGPU_FORM_H
#define MINIGPU_FORM_H

/* Linkage of what these files offer: in a form that is one file, nobody else's. */
#ifdef SM_ENTRY
#define SM_PATH static __attribute__((unused))
#else
#define SM_PATH
#endif

/* What every warp instruction passes through and few places call. */
#define SM_INLINE static inline __attribute__((always_inline))

/* Does an SM have a part that most machines lack: faults, errors, duet, rate, queue, restart? In the plain form the
 * answer is 0 at compile time, and so what depends on it is gone. */
#ifdef SM_PLAIN
#define HAS(s, part) 0
#define IS_PLAIN 1
#else
#define HAS(s, part) ((s)->part != NULL)
#define IS_PLAIN 0
#endif
/* Has no SM of a machine such a part? All forms do the same with such a machine. */
#define IS_PLAIN_MACHINE(m) (IS_PLAIN || (m)->plain)

#endif
