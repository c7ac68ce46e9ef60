/* nvToolsExt: marks and ranges for a profiler, which is not there. They have no effect. */
#ifndef MINIGPU_NVTX_H
#define MINIGPU_NVTX_H

#include <stdint.h>

#define NVTX_VERSION 3
typedef uint64_t nvtxRangeId_t;
static inline void nvtxMarkA(const char *message) { (void)message; }
static inline int nvtxRangePushA(const char *message) { return (void)message, 0; }
static inline int nvtxRangePop(void) { return 0; }
static inline nvtxRangeId_t nvtxRangeStartA(const char *message) { return (void)message, 0; }
static inline void nvtxRangeEnd(nvtxRangeId_t range) { (void)range; }
#define nvtxMark nvtxMarkA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA

#endif
