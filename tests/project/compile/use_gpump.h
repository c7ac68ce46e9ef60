/* Uses a bit of gpump, and with programs an array that grows. Returns 0 when it works. */
#ifndef GPUMP_NO_PROGRAM
static int use_program(void) {
    gpump_allocator allocator = gpumpi_allocator_default();
    gpump_program *program;
    gpump_instruction instruction = gpump_instruction_make(GPUMP_OP_COMPUTE);
    uint32_t i, index = 0;
    if (gpump_program_create(&allocator, &program) != GPUMP_OK) return 20;
    for (i = 0; i < 1000; i++)
        if (gpump_program_add(program, &instruction, &index, NULL) != GPUMP_OK || index != i) return 21;
    instruction = gpump_instruction_make(GPUMP_OP_EXIT);
    if (gpump_program_add(program, &instruction, NULL, NULL) != GPUMP_OK) return 22;
    if (gpump_program_finish(program, NULL) != GPUMP_OK || gpump_program_count(program).instructions != 1001) return 23;
    gpump_program_destroy(program);
    return 0;
}
#else
static int use_program(void) { return 0; }
#endif

static int use_gpump(void) {
    uint64_t memory[256], value = 0;
    gpumpi_map *map;
    if (gpumpi_map_init(memory, sizeof memory, 16, &map) != GPUMP_OK) return 10;
    if (gpumpi_map_put(map, 7, 42) != GPUMP_OK || gpumpi_map_get(map, 7, &value) != GPUMP_OK || value != 42) return 11;
    return use_program();
}
