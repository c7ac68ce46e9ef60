/* analyze: the results of gpump's analyses for the kernels of PTX files, as text or CSV, and surveys of whole
 * folders. */
#ifndef MINIGPU_ANALYZE_H
#define MINIGPU_ANALYZE_H

#include "options.h"

extern const option_command analyze_command;

#endif
