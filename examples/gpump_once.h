/* gpump.h for headers that are included together. Its implementation stands outside its include guard, because a host
 * may ask for it at a later #include. A compiler therefore reads all 32,000 lines again each time, which for a file of
 * the mini-GPU, whose headers include it seven times, takes longer than everything else. This file reads it once. */
#ifndef GPUMP_H
#include "gpump.h"
#endif
