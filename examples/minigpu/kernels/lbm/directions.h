/* The 19 directions of the D3Q19 lattice: X(number, x, y, z, number of the opposite direction, component of the
 * velocity (ux, uy, uz) along it, part of the density it has at rest). Kernel and reference walk the same list. */
/* clang-format off */
#define LBM_DIRECTIONS(X)                                                                                             \
    X(0, 0, 0, 0, 0, 0.0f, 1.0f / 3.0f)                                                                               \
    X(1, 1, 0, 0, 2, ux, 1.0f / 18.0f)                                                                                \
    X(2, -1, 0, 0, 1, -ux, 1.0f / 18.0f)                                                                              \
    X(3, 0, 1, 0, 4, uy, 1.0f / 18.0f)                                                                                \
    X(4, 0, -1, 0, 3, -uy, 1.0f / 18.0f)                                                                              \
    X(5, 0, 0, 1, 6, uz, 1.0f / 18.0f)                                                                                \
    X(6, 0, 0, -1, 5, -uz, 1.0f / 18.0f)                                                                              \
    X(7, 1, 1, 0, 8, ux + uy, 1.0f / 36.0f)                                                                           \
    X(8, -1, -1, 0, 7, -ux - uy, 1.0f / 36.0f)                                                                        \
    X(9, 1, -1, 0, 10, ux - uy, 1.0f / 36.0f)                                                                         \
    X(10, -1, 1, 0, 9, uy - ux, 1.0f / 36.0f)                                                                         \
    X(11, 1, 0, 1, 12, ux + uz, 1.0f / 36.0f)                                                                         \
    X(12, -1, 0, -1, 11, -ux - uz, 1.0f / 36.0f)                                                                      \
    X(13, 1, 0, -1, 14, ux - uz, 1.0f / 36.0f)                                                                        \
    X(14, -1, 0, 1, 13, uz - ux, 1.0f / 36.0f)                                                                        \
    X(15, 0, 1, 1, 16, uy + uz, 1.0f / 36.0f)                                                                         \
    X(16, 0, -1, -1, 15, -uy - uz, 1.0f / 36.0f)                                                                      \
    X(17, 0, 1, -1, 18, uy - uz, 1.0f / 36.0f)                                                                        \
    X(18, 0, -1, 1, 17, uz - uy, 1.0f / 36.0f)
/* clang-format on */
