/* analyze: what gpump's analyses find in the kernels of PTX files, as text or CSV; and a survey of whole folders. */
#ifndef MINIGPU_ANALYZE_H
#define MINIGPU_ANALYZE_H

#include "options.h"

extern const option_command analyze_command;

#endif
