/* Uses a bit of gpump. Returns 0 when it works. */
static int use_gpump(void) {
    uint64_t memory[256], value = 0;
    gpump_map *map;
    if (gpump_map_init(memory, sizeof memory, 16, &map) != GPUMP_OK) return 10;
    if (gpump_map_put(map, 7, 42) != GPUMP_OK || gpump_map_get(map, 7, &value) != GPUMP_OK || value != 42) return 11;
    return 0;
}
