#include "gpu/gpu.h"

#include <string.h>

/* One line per preset; `origin` has a letter per field in the order of gpumpi_gpu_fields: p published in `source`, d
 * derived from it, a assumed. Several shared-memory sizes are one field. */
typedef struct gpumpi_gpu_preset {
    const char *name;
    const char *origin;
    const char *source;
    uint32_t sms, clock_khz, lanes, schedulers, block_slots, warp_slots, thread_slots, registers, register_granule,
        shared_granule_bytes, shared_option_count, shared_bytes[GPUMP_GPU_SHARED_OPTIONS], memory_mb_per_s;
} gpumpi_gpu_preset;

static const char *const gpumpi_gpu_fields[] = {"sms",
                                                "clock_khz",
                                                "lanes",
                                                "schedulers",
                                                "block_slots",
                                                "warp_slots",
                                                "thread_slots",
                                                "registers",
                                                "register_granule",
                                                "shared_granule_bytes",
                                                "shared_option_count",
                                                "shared_bytes",
                                                "memory_mb_per_s"};
enum { GPUMPI_GPU_FIELDS = 13 };

static const gpumpi_gpu_preset gpumpi_gpu_presets[] = {
    {"gtx480_lin",
     "ppppppppddppp",
     "Lin 2019, Table 2.1",
     15,
     700000,
     32,
     2,
     8,
     48,
     1536,
     32768,
     1,
     1,
     1,
     {49152, 0, 0, 0},
     177000},
    {"gtx480_shieh",
     "pppapdppddppp",
     "Shieh 2016, Table 4.1",
     15,
     1400000,
     32,
     2,
     8,
     48,
     1536,
     32768,
     1,
     1,
     1,
     {49152, 0, 0, 0},
     177400},
    {"k20c",
     "ppaapdppddppp",
     "Tanasic 2016, Table 5.1",
     13,
     706000,
     32,
     4,
     16,
     64,
     2048,
     65536,
     1,
     1,
     3,
     {16384, 32768, 49152, 0},
     208000},
    {"table61",
     "ppappppdaappp",
     "Tanasic 2016, Table 6.1",
     16,
     1000000,
     32,
     2,
     16,
     64,
     2048,
     65536,
     1,
     1,
     1,
     {32768, 0, 0, 0},
     250000},
    {"maxwell_duet",
     "ppppppdpaappp",
     "Lin 2019, Table 3.1",
     16,
     1000000,
     32,
     4,
     32,
     64,
     2048,
     65536,
     1,
     1,
     1,
     {98304, 0, 0, 0},
     307000},
    {"maxwell_ccbp",
     "pppppdppaappp",
     "Lin 2019, Table 4.1",
     16,
     1800000,
     32,
     4,
     32,
     64,
     2048,
     65536,
     1,
     1,
     1,
     {98304, 0, 0, 0},
     319000},
    {"igpu4",
     "papaaaapaaaaa",
     "Menon 2012, 5.1",
     4,
     1300000,
     32,
     1,
     8,
     32,
     1024,
     16384,
     1,
     1,
     1,
     {16384, 0, 0, 0},
     32000},
    {"p100",
     "ppppppppppppp",
     "NVIDIA Tesla P100 white paper; CUDA occupancy tables",
     56,
     1480000,
     32,
     2,
     32,
     64,
     2048,
     65536,
     256,
     256,
     1,
     {65536, 0, 0, 0},
     732000},
    {"v100",
     "ppppppppppppp",
     "NVIDIA Tesla V100 white paper; CUDA occupancy tables",
     80,
     1530000,
     32,
     4,
     32,
     64,
     2048,
     65536,
     256,
     256,
     4,
     {16384, 32768, 65536, 98304},
     900000},
    {"a100",
     "ppppppppppppp",
     "NVIDIA A100 white paper; CUDA occupancy tables",
     108,
     1410000,
     32,
     4,
     32,
     64,
     2048,
     65536,
     256,
     128,
     4,
     {65536, 102400, 135168, 167936},
     1555000},
    {"h100",
     "ppppppppppppp",
     "NVIDIA H100 white paper (SXM5); CUDA occupancy tables",
     132,
     1830000,
     32,
     4,
     32,
     64,
     2048,
     65536,
     256,
     128,
     4,
     {102400, 135168, 200704, 233472},
     3352000},
    {"gh200",
     "ppppppppppppp",
     "NVIDIA GH200 data sheet; CUDA occupancy tables",
     132,
     1980000,
     32,
     4,
     32,
     64,
     2048,
     65536,
     256,
     128,
     4,
     {102400, 135168, 200704, 233472},
     4000000},
    {"h200",
     "aaaaaaaaaaaap",
     "NVIDIA H200 data sheet",
     132,
     1980000,
     32,
     4,
     32,
     64,
     2048,
     65536,
     256,
     128,
     4,
     {102400, 135168, 200704, 233472},
     4800000},
    {"b200",
     "aaaaaaaaaaaap",
     "NVIDIA HGX B200 data sheet",
     148,
     1965000,
     32,
     4,
     32,
     64,
     2048,
     65536,
     256,
     128,
     4,
     {102400, 135168, 200704, 233472},
     8000000},
    {"rtx4090",
     "ppppppppppppp",
     "NVIDIA Ada white paper; CUDA occupancy tables",
     128,
     2520000,
     32,
     4,
     24,
     48,
     1536,
     65536,
     256,
     128,
     4,
     {16384, 32768, 65536, 102400},
     1008000},
    {"l40",
     "ppppppppppppp",
     "NVIDIA L40 data sheet; CUDA occupancy tables",
     142,
     2490000,
     32,
     4,
     24,
     48,
     1536,
     65536,
     256,
     128,
     4,
     {16384, 32768, 65536, 102400},
     864000},
    {"a40",
     "ppppppppppppp",
     "NVIDIA A40 data sheet; CUDA occupancy tables",
     84,
     1740000,
     32,
     4,
     16,
     48,
     1536,
     65536,
     256,
     128,
     4,
     {16384, 32768, 65536, 102400},
     696000},
    {"mi100",
     "ppppadddppppp",
     "AMD Instinct data sheet; kernel driver, queue save area",
     120,
     1502000,
     64,
     4,
     32,
     40,
     2560,
     131072,
     256,
     512,
     1,
     {65536, 0, 0, 0},
     1228800},
    {"mi210",
     "ppppadddppppp",
     "AMD Instinct data sheet; kernel driver, queue save area",
     104,
     1700000,
     64,
     4,
     32,
     32,
     2048,
     131072,
     512,
     512,
     1,
     {65536, 0, 0, 0},
     1638400},
    {"mi300x",
     "ppppadddppppp",
     "AMD Instinct data sheet; kernel driver, queue save area",
     304,
     2100000,
     64,
     4,
     32,
     32,
     2048,
     131072,
     512,
     512,
     1,
     {65536, 0, 0, 0},
     5300000},
    {"gfx1030",
     "ppaadppddappp",
     "AMD RX 6900 XT data sheet; kernel driver, queue save area",
     80,
     2250000,
     32,
     4,
     32,
     32,
     1024,
     65536,
     256,
     512,
     1,
     {65536, 0, 0, 0},
     512000},
    {"gfx1012",
     "paaadppddappa",
     "AMD kernel driver, queue save area",
     20,
     1670000,
     32,
     4,
     32,
     32,
     1024,
     65536,
     256,
     512,
     1,
     {65536, 0, 0, 0},
     224000},
    {"gfx1100",
     "paaadppddappa",
     "AMD kernel driver, queue save area",
     96,
     2500000,
     32,
     4,
     32,
     32,
     1024,
     98304,
     256,
     512,
     1,
     {65536, 0, 0, 0},
     960000},
};
enum { GPUMPI_GPU_PRESETS = (int)(sizeof gpumpi_gpu_presets / sizeof gpumpi_gpu_presets[0]) };

static const gpumpi_gpu_preset *gpumpi_gpu_find(const char *preset) {
    if (preset)
        for (int i = 0; i < GPUMPI_GPU_PRESETS; i++)
            if (!strcmp(gpumpi_gpu_presets[i].name, preset)) return &gpumpi_gpu_presets[i];
    return NULL;
}

GPUMP_API const char *gpump_gpu_preset_name(uint32_t index) {
    return index < (uint32_t)GPUMPI_GPU_PRESETS ? gpumpi_gpu_presets[index].name : NULL;
}

static gpump_result gpumpi_gpu_fill(void *filled, const char *preset) {
    gpump_gpu *gpu = (gpump_gpu *)filled;
    const gpumpi_gpu_preset *found = gpumpi_gpu_find(preset);
    if (!found) return GPUMP_ERROR_UNKNOWN_NAME;
    memset(gpu, 0, sizeof *gpu);
    gpu->sms = found->sms;
    gpu->clock_khz = found->clock_khz;
    gpu->lanes = found->lanes;
    gpu->schedulers = found->schedulers;
    gpu->block_slots = found->block_slots;
    gpu->warp_slots = found->warp_slots;
    gpu->thread_slots = found->thread_slots;
    gpu->registers = found->registers;
    gpu->register_granule = found->register_granule;
    gpu->shared_granule_bytes = found->shared_granule_bytes;
    gpu->shared_option_count = found->shared_option_count;
    memcpy(gpu->shared_bytes, found->shared_bytes, sizeof gpu->shared_bytes);
    gpu->memory_mb_per_s = found->memory_mb_per_s;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_gpu_provenance(const char *preset, const char *field, gpump_provenance *provenance,
                                            const char **source) {
    const gpumpi_gpu_preset *found = gpumpi_gpu_find(preset);
    if (!field || !provenance) return GPUMP_ERROR_ARGUMENT;
    for (int i = 0; found && i < GPUMPI_GPU_FIELDS; i++) {
        if (strcmp(gpumpi_gpu_fields[i], field)) continue;
        *provenance = found->origin[i] == 'p'   ? GPUMP_PROVENANCE_PUBLISHED
                      : found->origin[i] == 'd' ? GPUMP_PROVENANCE_DERIVED
                                                : GPUMP_PROVENANCE_ASSUMED;
        if (source) *source = found->origin[i] == 'a' ? "assumed" : found->source;
        return GPUMP_OK;
    }
    return GPUMP_ERROR_UNKNOWN_NAME;
}

static gpump_result gpumpi_gpu_check_config(const void *checked, gpump_diag *diag) {
    const gpump_gpu *gpu = (const gpump_gpu *)checked;
    if (!gpu) return gpumpi_null(diag, "gpu");
#define GPUMPI_RANGE(field, minimum, maximum)                                 \
    if (gpu->field < (uint32_t)(minimum) || gpu->field > (uint32_t)(maximum)) \
    return gpumpi_bad_config(diag, #field, 0, gpu->field, (uint32_t)(minimum), (uint32_t)(maximum))
    GPUMPI_RANGE(sms, 1, 65536);
    GPUMPI_RANGE(clock_khz, 1, UINT32_MAX);
    GPUMPI_RANGE(lanes, 1, 64);
    GPUMPI_RANGE(schedulers, 1, 8);
    GPUMPI_RANGE(block_slots, 1, 64);
    GPUMPI_RANGE(warp_slots, 1, 256);
    GPUMPI_RANGE(thread_slots, 1, UINT32_MAX);
    GPUMPI_RANGE(registers, 1, 1u << 30);
    GPUMPI_RANGE(register_granule, 1, gpu->registers);
    GPUMPI_RANGE(shared_granule_bytes, 1, 1u << 20);
    GPUMPI_RANGE(shared_option_count, 1, GPUMP_GPU_SHARED_OPTIONS);
    for (uint32_t i = 0; i < gpu->shared_option_count; i++)
        if (gpu->shared_bytes[i] > (1u << 30) || (i && gpu->shared_bytes[i] <= gpu->shared_bytes[i - 1]))
            return gpumpi_bad_config(diag, "shared_bytes", i, gpu->shared_bytes[i],
                                     i ? (uint64_t)gpu->shared_bytes[i - 1] + 1u : 0, 1u << 30);
    GPUMPI_RANGE(memory_mb_per_s, 1, UINT32_MAX);
#undef GPUMPI_RANGE
    return GPUMP_OK;
}

/* Returns `value` rounded up to a multiple of `granule`. 64 bits hold the result for every 32-bit value. */
static uint64_t gpumpi_gpu_round(uint32_t value, uint32_t granule) {
    return ((uint64_t)value + granule - 1u) / granule * granule;
}

GPUMP_API void gpumpi_gpu_need(const gpump_gpu *gpu, const gpump_footprint *footprint,
                               uint64_t need[GPUMPI_GPU_RESOURCES]) {
    need[0] = 1;
    need[1] = ((uint64_t)footprint->threads + gpu->lanes - 1u) / gpu->lanes;
    need[2] = footprint->threads;
    need[3] = gpumpi_gpu_round(footprint->registers, gpu->register_granule);
    need[4] = gpumpi_gpu_round(footprint->shared_bytes, gpu->shared_granule_bytes);
}

GPUMP_API void gpumpi_gpu_capacity(const gpump_gpu *gpu, uint32_t shared_bytes,
                                   uint64_t capacity[GPUMPI_GPU_RESOURCES]) {
    capacity[0] = gpu->block_slots;
    capacity[1] = gpu->warp_slots;
    capacity[2] = gpu->thread_slots;
    capacity[3] = gpu->registers;
    capacity[4] = shared_bytes;
}

GPUMP_API gpump_result gpump_gpu_occupancy(const gpump_gpu *gpu, const gpump_footprint *need,
                                           gpump_occupancy *occupancy, gpump_diag *diag) {
    gpump_result result = gpumpi_gpu_check_config(gpu, diag);
    uint64_t takes[GPUMPI_GPU_RESOURCES], capacity[GPUMPI_GPU_RESOURCES], bounds[GPUMPI_GPU_RESOURCES];
    uint64_t blocks = UINT64_MAX;
    uint32_t option = 0, i;
    if (result) return result;
    if (!need || !occupancy) return gpumpi_null(diag, need ? "occupancy" : "need");
    if (!need->threads) return gpumpi_bad_argument(diag, "threads", 0, 0, 1, UINT32_MAX);
    gpumpi_gpu_need(gpu, need, takes);
    while (option + 1u < gpu->shared_option_count && gpu->shared_bytes[option] < takes[4]) option++;
    gpumpi_gpu_capacity(gpu, gpu->shared_bytes[option], capacity);
    for (i = 0; i < GPUMPI_GPU_RESOURCES; i++) {
        bounds[i] = takes[i] ? capacity[i] / takes[i] : UINT64_MAX;
        if (bounds[i] < blocks) blocks = bounds[i];
    }
    memset(occupancy, 0, sizeof *occupancy);
    occupancy->blocks = (uint32_t)blocks;
    for (i = 0; i < GPUMPI_GPU_RESOURCES; i++) occupancy->limits |= (uint32_t)(bounds[i] == blocks) << i;
    occupancy->shared_bytes = gpu->shared_bytes[option];
    occupancy->registers = takes[3] > UINT32_MAX ? UINT32_MAX : (uint32_t)takes[3];
    occupancy->block_shared_bytes = takes[4] > UINT32_MAX ? UINT32_MAX : (uint32_t)takes[4];
    occupancy->warps = (uint32_t)takes[1];
    return GPUMP_OK;
}

GPUMP_API uint64_t gpump_gpu_context_bytes(const gpump_gpu *gpu, const gpump_footprint *need) {
    return gpumpi_gpu_round(need->registers, gpu->register_granule) * 4u +
           gpumpi_gpu_round(need->shared_bytes, gpu->shared_granule_bytes);
}

GPUMP_API gpump_port gpump_gpu_port(const gpump_gpu *gpu) {
    gpump_port port;
    port.cycles = (uint64_t)gpu->sms * gpu->clock_khz;
    port.bytes = (uint64_t)gpu->memory_mb_per_s * 1000u;
    port.free_cycle = 0;
    return port;
}

GPUMP_API uint64_t gpump_gpu_save_cycles(const gpump_gpu *gpu, uint64_t bytes) {
    const gpump_port port = gpump_gpu_port(gpu);
    return gpump_port_cycles(&port, bytes);
}

GPUMP_API uint64_t gpump_gpu_save_ps(const gpump_gpu *gpu, uint64_t bytes) {
    return gpump_muldiv_up(bytes, (uint64_t)gpu->sms * 1000000u, gpu->memory_mb_per_s);
}

GPUMP_API uint64_t gpump_gpu_cycles_from_ns(const gpump_gpu *gpu, uint64_t ns) {
    return gpump_muldiv_up(ns, gpu->clock_khz, 1000000u);
}

static uint64_t gpumpi_gpu_align(uint64_t bytes, uint64_t to) { return (bytes + to - 1u) / to * to; }

GPUMP_API gpump_result gpump_gpu_cwsr_area(uint32_t gfx_version, uint32_t compute_units, uint32_t xccs,
                                           uint32_t simd_arrays, uint32_t arrays_per_engine, gpump_gpu_cwsr *area,
                                           gpump_diag *diag) {
    enum { PAGE = 4096 };
    uint64_t waves, wave_bytes = gfx_version < 1010 ? 8 : 12, vector = 256 * 1024, scalar = 16 * 1024,
                    local = 64 * 1024, hardware = 4096;
    int newest = gfx_version == 1250 || gfx_version == 1251;
    if (!area) return gpumpi_null(diag, "area");
    if (gfx_version < 800 || gfx_version > 1251)
        return gpumpi_bad_argument(diag, "gfx_version", 0, gfx_version, 800, 1251);
    if (!compute_units || compute_units > 65536)
        return gpumpi_bad_argument(diag, "compute_units", 0, compute_units, 1, 65536);
    if (!xccs || xccs > 64) return gpumpi_bad_argument(diag, "xccs", 0, xccs, 1, 64);
    if (gfx_version < 1010) {
        uint64_t by_arrays;
        if (!arrays_per_engine || simd_arrays < arrays_per_engine)
            return gpumpi_bad_argument(diag, "arrays_per_engine", 0, arrays_per_engine, 1, simd_arrays);
        by_arrays = (uint64_t)(simd_arrays / arrays_per_engine) * 512u;
        waves = 40u * (uint64_t)compute_units;
        if (by_arrays < waves) waves = by_arrays;
    } else {
        waves = (newest ? 64u : 32u) * (uint64_t)compute_units;
    }
    switch (gfx_version) {
    case 908:
    case 910:
    case 942:
    case 950:
    case 1250:
    case 1251: vector = 512 * 1024; break;
    case 1100:
    case 1101:
    case 1151:
    case 1200:
    case 1201: vector = 384 * 1024; break;
    default: break;
    }
    if (gfx_version == 950) local = 160 * 1024;
    if (newest) {
        local = 320 * 1024;
        scalar = 32 * 1024;
        hardware = 32 * 1024;
    }
    area->workgroup_bytes = gpumpi_gpu_align(compute_units * (vector + scalar + local + hardware), PAGE);
    area->control_stack_bytes = gpumpi_gpu_align(40 + waves * wave_bytes + 8, PAGE);
    if (gfx_version >= 1000 && gfx_version < 1100 && area->control_stack_bytes > 0x7000)
        area->control_stack_bytes = 0x7000;
    area->debugger_bytes = gpumpi_gpu_align(32 * waves, 64);
    area->save_area_bytes = gpumpi_gpu_align(area->control_stack_bytes + area->workgroup_bytes, PAGE);
    area->total_bytes = gpumpi_gpu_align(xccs * (area->save_area_bytes + area->debugger_bytes), PAGE);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_preset_for(const gpump_component *component, void *config, const char *preset,
                                        const gpump_gpu *gpu, gpump_diag *diag) {
    gpump_result result = gpump_check(&gpump_gpu_component, gpu, diag);
    if (result) return result;
    if (component && !component->methods()->preset_for)
        return gpumpi_fail_at(diag, GPUMP_ERROR_STATE, component->methods()->name, 0);
    result = gpump_preset(component, config, preset, diag); /* refuses whatever it cannot fill */
    return result ? result : component->methods()->preset_for(config, preset, gpu);
}

/* clang-format off */
static const gpumpi_methods gpumpi_gpu_hooks = {
    "gpu", "gpu", 0,
    GPUMP_LAYOUT_GPU, sizeof(gpump_gpu), 0, 0,
    0, NULL, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_gpu_fill, gpumpi_gpu_check_config, NULL, NULL, NULL,
    /* set_up, unfit, check, hash */
    NULL, NULL, NULL, NULL,
    /* preset_for, next_cycle, copy_statistics */
    NULL, NULL, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_gpu_methods(void) { return &gpumpi_gpu_hooks; }
