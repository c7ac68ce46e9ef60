/* Input of lud_internal: the matrix after its diagonal tile was factored and the perimeter solved. */
#include "../lud_diagonal/steps.h"
#include "reference.h"

const char *generate_lud_internal(const reference_launch *launch, uint64_t seed) {
    const uint32_t size = reference_u32(launch, 1), offset = reference_u32(launch, 2);
    float *matrix = size > 32767 ? NULL : reference_f32s(launch, 0, (uint64_t)size * size);
    if (!matrix || size < 16 || size % 16 != 0 || offset % 16 != 0 || offset >= size)
        return "lud_internal takes f32 matrix[size][size], s32 size and s32 offset, both multiples of 16";
    lud_fill(matrix, size, offset, 2, seed);
    return NULL;
}
