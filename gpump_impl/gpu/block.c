#include "gpu/block.h"

/* Hosts may compare and hash views and choices byte by byte: nothing hides in padding. */
typedef char gpumpi_block_view_has_no_padding[sizeof(gpump_block_view) == 5 * 8 + 16 * 4 ? 1 : -1];
typedef char gpumpi_block_choice_has_no_padding[sizeof(gpump_block_choice) == 8 * 4 + 3 * 8 ? 1 : -1];

GPUMP_API const char *gpump_technique_name(uint32_t technique) {
    static const char *const names[GPUMP_TECHNIQUES] = {"flush", "switch", "drain", "rewind"};
    return technique < GPUMP_TECHNIQUES ? names[technique] : NULL;
}
