/* helper_functions: what CUDA's samples include for their command line and their times. Images are not here. */
#ifndef MINIGPU_HELPER_FUNCTIONS_H
#define MINIGPU_HELPER_FUNCTIONS_H

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include "helper_string.h"
#include "helper_timer.h"

#endif
