/* The plain form for any processor (sm_form.h). */
#define SM_PLAIN
#define SM_ENTRY sm_cycle_plain
#define SM_FUNCTIONAL_ENTRY sm_functional_plain
#include "machine/sm_one_file.h"
