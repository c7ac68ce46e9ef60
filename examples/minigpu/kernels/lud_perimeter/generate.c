/* Inputs of lud_perimeter: matrices after the tile on the diagonal was factored. */
#include "../lud_diagonal/steps.h"
#include "reference.h"

const char *generate_lud_perimeter(const reference_launch *launch, uint64_t seed) {
    const uint32_t size = reference_u32(launch, 1), offset = reference_u32(launch, 2);
    float *matrices = size > 32767 ? NULL : reference_f32s(launch, 0, (uint64_t)launch->grid[1] * size * size);
    if (!matrices || size < 16 || size % 16 != 0 || offset % 16 != 0 || offset >= size)
        return "lud_perimeter takes f32 matrices[grid][size][size], s32 size and s32 offset, both multiples of 16";
    for (size_t matrix = 0; matrix < launch->grid[1]; matrix++)
        lud_fill(matrices + matrix * size * size, size, offset, 1, seed + matrix);
    return NULL;
}
