#include "base/component.h"

#include <string.h>

enum { GPUMPI_TABLES_MOST = 8 }; /* numbers in the storage struct of a component at most */

/* The component lacks the verb. */
static gpump_result gpumpi_lacks(gpump_diag *diag, const char *component) {
    return gpumpi_fail_at(diag, GPUMP_ERROR_STATE, component, 0);
}

/* Refuses a host that was compiled with another layout of the room. */
static gpump_result gpumpi_check_layout(const gpump_component *component, gpump_diag *diag) {
    const gpumpi_methods *methods = component->methods();
    if (component->layout == methods->layout) return GPUMP_OK;
    return gpumpi_fail(diag, GPUMP_ERROR_LAYOUT, methods->room, 0, component->layout, methods->layout, methods->layout);
}

GPUMP_API gpump_result gpumpi_check_config(const gpump_component *component, const void *config, gpump_diag *diag) {
    const gpumpi_methods *methods = component->methods();
    if (!config) return gpumpi_null(diag, "config");
    return methods->check_config ? methods->check_config(config, diag) : GPUMP_OK;
}

GPUMP_API gpump_result gpump_preset(const gpump_component *component, void *config, const char *preset,
                                    gpump_diag *diag) {
    gpump_result result;
    if (!component) return gpumpi_null(diag, "component");
    result = gpumpi_check_layout(component, diag);
    if (result) return result;
    if (!config) return gpumpi_null(diag, "config");
    if (!preset) return gpumpi_null(diag, "preset");
    if (!component->methods()->preset) return gpumpi_lacks(diag, component->methods()->name);
    result = component->methods()->preset(config, preset);
    return result ? gpumpi_fail_at(diag, result, "preset", 0) : GPUMP_OK;
}

GPUMP_API gpump_result gpump_bytes(const gpump_component *component, const void *config, size_t *bytes,
                                   gpump_diag *diag) {
    uint64_t needed;
    gpump_result result;
    if (!component) return gpumpi_null(diag, "component");
    result = gpumpi_check_config(component, config, diag);
    if (result) return result;
    if (!bytes) return gpumpi_null(diag, "bytes");
    if (!component->methods()->bytes) return gpumpi_lacks(diag, component->methods()->name);
    needed = component->methods()->bytes(config);
    if (needed > SIZE_MAX) return gpumpi_bad_config(diag, "bytes", 0, needed, 0, SIZE_MAX);
    *bytes = (size_t)needed;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_bits(const gpump_component *component, const void *config, uint64_t *bits,
                                  gpump_diag *diag) {
    uint64_t storage[GPUMPI_TABLES_MOST];
    const gpumpi_methods *methods;
    gpump_result result;
    if (!component) return gpumpi_null(diag, "component");
    result = gpumpi_check_config(component, config, diag);
    if (result) return result;
    if (!bits) return gpumpi_null(diag, "bits");
    methods = component->methods();
    if (!methods->bits && !methods->tables) return gpumpi_lacks(diag, methods->name);
    *bits = methods->bits ? methods->bits(config) : methods->tables(config, storage);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_table_bits(const gpump_component *component, const void *config, void *storage,
                                        gpump_diag *diag) {
    gpump_result result;
    if (!component) return gpumpi_null(diag, "component");
    result = gpumpi_check_config(component, config, diag);
    if (result) return result;
    if (!storage) return gpumpi_null(diag, "storage");
    if (!component->methods()->tables) return gpumpi_lacks(diag, component->methods()->name);
    component->methods()->tables(config, storage);
    return GPUMP_OK;
}

/* What gpump_init and gpump_adopt ask first; sets *needed. */
static gpump_result gpumpi_check_host(const gpump_component *component, const void *config, const void *object,
                                      size_t *needed, gpump_diag *diag) {
    gpump_result result;
    if (!component) return gpumpi_null(diag, "component");
    result = gpumpi_check_layout(component, diag);
    if (!result) result = gpump_bytes(component, config, needed, diag);
    if (result) return result;
    return object ? GPUMP_OK : gpumpi_null(diag, component->methods()->name);
}

GPUMP_API gpump_result gpump_init(const gpump_component *component, void *memory, size_t bytes, const void *config,
                                  void *object, gpump_diag *diag) {
    size_t needed = 0;
    const gpumpi_methods *methods;
    gpump_result result = gpumpi_check_host(component, config, object, &needed, diag);
    if (result) return result;
    methods = component->methods();
    result = gpumpi_head_init(memory, bytes, methods->magic, methods->layout, needed, diag);
    if (result) return result;
    memcpy((char *)memory + methods->config_at, config, methods->config_bytes);
    if (methods->set_up) methods->set_up(memory);
    memcpy(object, &memory, sizeof memory);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_adopt(const gpump_component *component, void *memory, size_t bytes, const void *config,
                                   void *object, gpump_diag *diag) {
    size_t needed = 0;
    const char *unfit;
    const gpumpi_methods *methods;
    gpump_result result = gpumpi_check_host(component, config, object, &needed, diag);
    if (result) return result;
    methods = component->methods();
    result = gpumpi_head_adopt(memory, bytes, methods->magic, methods->layout, needed, diag);
    if (result) return result;
    if (memcmp((const char *)memory + methods->config_at, config, methods->config_bytes))
        return gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, "config", methods->config_at);
    unfit = methods->unfit ? methods->unfit(memory) : NULL;
    if (unfit) return gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, unfit, 0);
    memcpy(object, &memory, sizeof memory);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_check(const gpump_component *component, const void *object, gpump_diag *diag) {
    const gpumpi_methods *methods;
    const void *config;
    if (!component) return gpumpi_null(diag, "component");
    methods = component->methods();
    if (!object) return gpumpi_null(diag, methods->name);
    if (!methods->magic) return gpumpi_check_config(component, object, diag);
    if (((const gpumpi_head *)object)->magic != methods->magic)
        return gpumpi_bad_bytes(diag, "magic", 0, ((const gpumpi_head *)object)->magic, methods->magic, methods->magic);
    config = (const char *)object + methods->config_at;
    if (gpumpi_check_config(component, config, NULL) || methods->bytes(config) != ((const gpumpi_head *)object)->bytes)
        return gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, "config", methods->config_at);
    return methods->check ? methods->check(object, diag) : gpumpi_lacks(diag, methods->name);
}

GPUMP_API uint64_t gpump_hash(const gpump_component *component, const void *object) {
    const gpumpi_methods *methods = component->methods();
    GPUMP_ASSERT(methods->hash);
    return methods->hash(object);
}

GPUMP_API uint64_t gpump_next_cycle(const gpump_component *component, const void *object) {
    uint64_t (*const next_cycle)(const void *) = component->methods()->next_cycle;
    return next_cycle ? next_cycle(object) : GPUMP_UNKNOWN;
}

GPUMP_API gpump_result gpump_get_statistics(const gpump_component *component, const void *object, void *statistics) {
    const gpumpi_methods *methods;
    if (!component || !object || !statistics) return GPUMP_ERROR_ARGUMENT;
    methods = component->methods();
    if (methods->copy_statistics) {
        methods->copy_statistics(object, statistics);
        return GPUMP_OK;
    }
    if (!methods->statistics_at) return GPUMP_ERROR_STATE;
    memcpy(statistics, (const char *)object + methods->statistics_at, methods->statistics_count * sizeof(uint64_t));
    return GPUMP_OK;
}

GPUMP_API void gpump_statistics_diff(const gpump_component *component, const void *earlier, const void *later,
                                     void *difference) {
    const uint64_t *from = (const uint64_t *)earlier, *to = (const uint64_t *)later;
    uint64_t *result = (uint64_t *)difference;
    const gpumpi_methods *methods = component->methods();
    for (uint32_t i = 0; i < methods->statistics_count; i++)
        result[i] = i < 64 && methods->peaks >> i & 1u ? to[i] : to[i] - from[i];
}

GPUMP_API gpump_result gpump_statistics_field(const gpump_component *component, const void *statistics, uint32_t index,
                                              const char **name, const char **unit, const char **description,
                                              uint64_t *value) {
    const gpumpi_methods *methods;
    if (!component || !statistics) return GPUMP_ERROR_ARGUMENT;
    methods = component->methods();
    if (index >= methods->statistics_count || !methods->statistics[index][0]) return GPUMP_EMPTY;
    if (name) *name = methods->statistics[index][0];
    if (unit) *unit = methods->statistics[index][1];
    if (description) *description = methods->statistics[index][2];
    if (value) *value = ((const uint64_t *)statistics)[index];
    return GPUMP_OK;
}

/* What the files of the host refer to (layout_used.txt). */
#ifndef GPUMP_STATIC
GPUMP_BEGIN
#define GPUMPI_LAYOUT(reference, exported) \
    extern const uint32_t exported;        \
    const uint32_t exported = 1;
GPUMPI_LAYOUTS(GPUMPI_LAYOUT)
#undef GPUMPI_LAYOUT
GPUMP_END
#endif
