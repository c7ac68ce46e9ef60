/* A small host of one room, for room.sh: ROOM_<name> says which. Exit status: 0 when the room works alone. */
#define GPUMP_IMPLEMENTATION
#include "gpump.h"

#if defined(ROOM_base)
int main(void) {
    uint64_t memory[256], value = 0;
    gpumpi_map *map;
    if (gpumpi_map_init(memory, sizeof memory, 16, &map) != GPUMP_OK) return 1;
    return gpumpi_map_put(map, 7, 42) != GPUMP_OK || gpumpi_map_get(map, 7, &value) != GPUMP_OK || value != 42;
}

#elif defined(ROOM_gpu)
int main(void) {
    gpump_gpu gpu;
    gpump_footprint need = {128, 128 * 40, 4096};
    gpump_occupancy fits;
    if (gpump_preset(&gpump_gpu_component, &gpu, "k20c", NULL) != GPUMP_OK) return 1;
    return gpump_gpu_occupancy(&gpu, &need, &fits, NULL) != GPUMP_OK ||
           fits.blocks != 4; /* the smallest shared memory of a K20c holds four */
}

#elif defined(ROOM_memory)
int main(void) {
    static uint64_t memory[4096];
    gpump_meter_config config;
    gpump_meter *meter;
    gpump_traffic traffic;
    if (gpump_preset(&gpump_meter_component, &config, "k20c", NULL) != GPUMP_OK) return 1;
    if (gpump_init(&gpump_meter_component, memory, sizeof memory, &config, &meter, NULL) != GPUMP_OK) return 1;
    gpump_meter_report_enter(meter, 10, 1, GPUMP_METER_DRAM);
    gpump_meter_report_leave(meter, 60, 1, GPUMP_METER_DRAM, 10);
    return gpump_meter_total(meter, 100, 1, &traffic) != GPUMP_OK || traffic.dram_latency_cycles != 50;
}

#elif defined(ROOM_fault)
int main(void) {
    static uint64_t memory[65536];
    gpump_replay_config config;
    gpump_replay *replay;
    gpump_replay_entry load = {1, 0xffffffff, 8, GPUMP_REPLAY_LOAD, 1, 0};
    gpump_reason answer;
    uint32_t entry;
    if (gpump_preset(&gpump_replay_component, &config, "log16", NULL) != GPUMP_OK) return 1;
    if (gpump_init(&gpump_replay_component, memory, sizeof memory, &config, &replay, NULL) != GPUMP_OK) return 1;
    if (gpump_replay_open(replay, 3, 0) != GPUMP_OK) return 1;
    if (gpump_replay_report_issued(replay, 3, &load, &entry) != GPUMP_OK) return 1;
    return gpump_replay_report_checked(replay, entry, &answer) != GPUMP_OK || answer != GPUMP_REASON_YES;
}

#elif defined(ROOM_program)
int main(void) {
    gpump_allocator allocator = gpumpi_allocator_default();
    gpump_instruction instruction = gpump_instruction_make(GPUMP_OP_COMPUTE);
    gpump_program *program;
    uint32_t i, count;
    if (gpump_program_create(&allocator, &program) != GPUMP_OK) return 1;
    for (i = 0; i < 100; i++)
        if (gpump_program_add(program, &instruction, NULL, NULL) != GPUMP_OK) return 1;
    instruction = gpump_instruction_make(GPUMP_OP_EXIT);
    if (gpump_program_add(program, &instruction, NULL, NULL) != GPUMP_OK) return 1;
    if (gpump_program_finish(program, NULL) != GPUMP_OK) return 1;
    count = gpump_program_count(program).instructions;
    gpump_program_destroy(program);
    return count != 101;
}

#elif defined(ROOM_context)
int main(void) {
    static uint32_t values[16 * 32], back[16 * 32];
    static unsigned char out[16 * 32 * 4 + 100];
    gpump_compress_layout layout;
    size_t bytes;
    uint32_t i, form;
    for (i = 0; i < 16 * 32; i++) values[i] = i / 32 * 1000 + i % 32 * 4;
    if (gpump_compress_layout_init(&layout, 32, 16, 32, 256, NULL) != GPUMP_OK) return 1;
    if (gpump_compress_save(&layout, values, NULL, GPUMP_COMPRESS_ALLOW_ALL, out, sizeof out, &bytes, &form, NULL) !=
        GPUMP_OK)
        return 1;
    if (gpump_compress_restore(&layout, form, 0, out, bytes, back, NULL) != GPUMP_OK) return 1;
    return memcmp(values, back, sizeof values) != 0 || bytes >= sizeof values / 8;
}

#elif defined(ROOM_sm)
int main(void) {
    static uint64_t memory[8192];
    gpump_gpu gpu;
    gpump_sm_config config;
    gpump_sm *sm;
    size_t bytes;
    if (gpump_preset(&gpump_gpu_component, &gpu, "k20c", NULL) != GPUMP_OK) return 1;
    if (gpump_sm_config_from_gpu(&config, &gpu, 49152) != GPUMP_OK) return 1;
    if (gpump_bytes(&gpump_sm_component, &config, &bytes, NULL) != GPUMP_OK || bytes > sizeof memory) return 1;
    return gpump_init(&gpump_sm_component, memory, sizeof memory, &config, &sm, NULL) != GPUMP_OK ||
           gpump_hash(&gpump_sm_component, sm) == 0;
}

#elif defined(ROOM_victim)
int main(void) {
    gpump_gpu gpu;
    gpump_footprint need = {128, 128 * 40, 4096};
    gpump_victim_geometry geometry;
    if (gpump_preset(&gpump_gpu_component, &gpu, "k20c", NULL) != GPUMP_OK) return 1;
    if (gpump_victim_geometry_init(&geometry, &gpu, &need, 49152, NULL) != GPUMP_OK) return 1;
    return geometry.positions < 1 || !gpump_victim_find("chimera");
}

#elif defined(ROOM_scheduler)
int main(void) {
    static uint64_t memory[1 << 16];
    gpump_scheduler_config config;
    gpump_scheduler *scheduler;
    size_t bytes;
    if (gpump_preset(&gpump_scheduler_component, &config, "k20c", NULL) != GPUMP_OK) return 1;
    if (gpump_bytes(&gpump_scheduler_component, &config, &bytes, NULL) != GPUMP_OK || bytes > sizeof memory) return 1;
    return gpump_init(&gpump_scheduler_component, memory, sizeof memory, &config, &scheduler, NULL) != GPUMP_OK ||
           gpump_hash(&gpump_scheduler_component, scheduler) == 0;
}

#elif defined(ROOM_duet)
int main(void) {
    static uint64_t memory[2048];
    gpump_duet_config config;
    gpump_duet_plan plan;
    gpump_duet *duet;
    gpump_footprint need = {256, 256 * 28, 0};
    uint32_t block;
    if (gpump_preset(&gpump_duet_component, &config, "maxwell_duet", NULL) != GPUMP_OK) return 1;
    if (gpump_duet_plan_make(&config, &need, 18, &plan, NULL) != GPUMP_OK) return 1;
    if (gpump_init(&gpump_duet_component, memory, sizeof memory, &config, &duet, NULL) != GPUMP_OK) return 1;
    if (gpump_duet_set_kernel(duet, 0, &plan) != GPUMP_OK) return 1;
    return gpump_duet_place_block(duet, 0, 0, &block, NULL) != GPUMP_OK || !gpump_duet_may_issue(duet, 0);
}

#else /* a room without a host of its own here: that it compiles is checked */
int main(void) { return 0; }
#endif
