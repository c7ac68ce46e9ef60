
/* Each file that includes this header refers to the layout of each of its rooms. So the linker refuses a library, or a
 * file of the host, that was compiled with another layout; gpump_preset, gpump_init and gpump_adopt ask again when it
 * runs. */
#ifndef GPUMP_STATIC
GPUMP_BEGIN
#if defined(__GNUC__)
#define GPUMPI_LAYOUT(reference, exported) \
    extern const uint32_t exported;        \
    __attribute__((used)) static const uint32_t *const reference = &exported;
#else
#define GPUMPI_LAYOUT(reference, exported) \
    extern const uint32_t exported;        \
    static const uint32_t *const reference = &exported;
#endif
GPUMPI_LAYOUTS(GPUMPI_LAYOUT)
#undef GPUMPI_LAYOUT
GPUMP_END
#endif
