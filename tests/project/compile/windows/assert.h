/* What gpump uses of <assert.h>, for a compilation that has no Windows headers. */
#define assert(condition) ((void)(condition))
