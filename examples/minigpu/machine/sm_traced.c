/* The traced form for any processor (sm_form.h). */
#define SM_PLAIN
#define SM_TRACED
#define SM_ENTRY sm_cycle_traced
#include "machine/sm_one_file.h"
