/* component: the verbs that all components share (calculation)
 *
 * Each component has one constant, gpump_<component>_component, and every verb takes it first:
 *
 *   gpump_preset   fills a configuration                    gpump_bytes    the memory that an object needs
 *   gpump_init     makes an object in that memory           gpump_bits     the SRAM that it stands for
 *   gpump_adopt    takes a byte copy of an object over      gpump_check    looks for contradictions in its tables
 *   gpump_hash     a hash of its state                      gpump_get_statistics, _diff, _field   its counters
 *   gpump_next_cycle   the cycle at which it acts by itself
 *
 * The types are those of the component: gpump_sm_component goes with gpump_sm, gpump_sm_config and gpump_sm_statistics.
 * Some components have a configuration and no object (gpump_gpu, gpump_victim_config): gpump_preset fills it,
 * gpump_check checks it, and the verbs for objects refuse it. A verb that a component lacks is GPUMP_ERROR_STATE.
 *
 * The constant stands in the host's own file and holds the layout number of the header that the host was compiled with.
 * A library of another layout refuses it (GPUMP_ERROR_LAYOUT) in gpump_preset, gpump_init and gpump_adopt. */
#ifndef GPUMP_COMPONENT_H
#define GPUMP_COMPONENT_H

#include "base/base.h"
#include "base/layout.h"

GPUMP_BEGIN

/* ---- private, here because the host's constants point at it ---- */
/* What the library knows of a component. A NULL hook: the component lacks the verb. `config` and `object` have the
 * component's types; a hook gets a configuration that check_config has taken, unless it says otherwise. */
typedef struct gpumpi_methods {
    const char *name; /* "sm" */
    const char *room; /* "sm" */
    uint64_t magic;   /* of gpumpi_head; 0: the component has no object */
    uint32_t layout;  /* the room's layout number as the library was compiled */
    uint32_t config_bytes;
    uint32_t config_at;                 /* offset of the configuration in the object */
    uint32_t statistics_at;             /* offset of the counters in the object; 0: not all in one place, or none */
    uint32_t statistics_count;          /* counters; 0: none */
    const char *const (*statistics)[3]; /* name, unit and description of each counter */
    uint64_t peaks;                     /* bit i: counter i is the highest value so far, and not a sum */
    gpump_result (*preset)(void *config, const char *preset);
    gpump_result (*check_config)(const void *config, gpump_diag *diag); /* gets any configuration, never NULL */
    uint64_t (*bytes)(const void *config);
    uint64_t (*bits)(const void *config);
    /* instead of bits: fills *storage, a struct of 64-bit numbers, and returns their sum */
    uint64_t (*tables)(const void *config, void *storage);
    void (*set_up)(void *object);             /* the object is 0 but for its head and configuration; may be NULL */
    const char *(*unfit)(const void *object); /* which of the numbers that set_up makes of the configuration is wrong */
    gpump_result (*check)(const void *object, gpump_diag *diag); /* gets an object of this configuration */
    uint64_t (*hash)(const void *object);
    gpump_result (*preset_for)(void *config, const char *preset, const void *gpu); /* gets a valid gpump_gpu */
    uint64_t (*next_cycle)(const void *object);
    void (*copy_statistics)(const void *object, void *statistics); /* where statistics_at is 0; may be NULL */
} gpumpi_methods;
/* ---- end of the private part ---- */

/* What the verbs know of a component. gpump defines one constant of this type per component. */
typedef struct gpump_component {
    const gpumpi_methods *(*methods)(void);
    uint32_t layout; /* the room's layout number as the host was compiled */
    uint32_t unused;
} gpump_component;
/* Checks *config for the functions of `component` that take one: GPUMP_ERROR_ARGUMENT for NULL, GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpumpi_check_config(const gpump_component *component, const void *config, gpump_diag *diag);
#if defined(__GNUC__)
#define GPUMPI_CONSTANT __attribute__((unused)) static const
#else
#define GPUMPI_CONSTANT static const
#endif

/* Fills *config of `component` for a preset by its name; the component's header lists the names. GPUMP_ERROR_LAYOUT,
 * GPUMP_ERROR_UNKNOWN_NAME. */
GPUMP_API gpump_result gpump_preset(const gpump_component *component, void *config, const char *preset,
                                    gpump_diag *diag);
/* Sets *bytes to the memory that an object of `component` with configuration *config needs. GPUMP_ERROR_CONFIG names
 * the field at fault in diag. */
GPUMP_API gpump_result gpump_bytes(const gpump_component *component, const void *config, size_t *bytes,
                                   gpump_diag *diag);
/* Sets *bits to the SRAM that the hardware of `component` with configuration *config has. GPUMP_ERROR_CONFIG. */
GPUMP_API gpump_result gpump_bits(const gpump_component *component, const void *config, uint64_t *bits,
                                  gpump_diag *diag);
/* Fills *storage, such as a gpump_sm_storage, with the bits of each table of that SRAM. GPUMP_ERROR_CONFIG.
 * GPUMP_ERROR_STATE: `component` has one sum only. */
GPUMP_API gpump_result gpump_table_bits(const gpump_component *component, const void *config, void *storage,
                                        gpump_diag *diag);
/* Makes an object of `component` in `memory` (8-byte aligned, at least gpump_bytes) and sets *object, a pointer of the
 * component's type. The object never allocates memory. GPUMP_ERROR_LAYOUT, GPUMP_ERROR_CONFIG, GPUMP_ERROR_CAPACITY.
 * Cost: linear in the memory. */
GPUMP_API gpump_result gpump_init(const gpump_component *component, void *memory, size_t bytes, const void *config,
                                  void *object, gpump_diag *diag);
/* Adopts a byte copy of an object of `component` with the same configuration and build, and sets *object, a pointer of
 * the component's type. Its tables are not checked. GPUMP_ERROR_FORMAT: any other bytes. GPUMP_ERROR_LAYOUT: the host
 * was compiled with another layout. Cost: constant. */
GPUMP_API gpump_result gpump_adopt(const gpump_component *component, void *memory, size_t bytes, const void *config,
                                   void *object, gpump_diag *diag);
/* Checks all tables of an `object` of `component` against each other, for bytes from outside the program. After
 * GPUMP_OK every later call is safe. GPUMP_ERROR_FORMAT: diag->field describes the contradiction, diag->index is the
 * entry. For a component without objects it checks the configuration `object` (GPUMP_ERROR_CONFIG). Cost: up to entries
 * squared. */
GPUMP_API gpump_result gpump_check(const gpump_component *component, const void *object, gpump_diag *diag);
/* Returns a hash of the whole state of an `object` of `component`, the same on every machine. Cost: linear in its
 * memory. */
GPUMP_API uint64_t gpump_hash(const gpump_component *component, const void *object);
/* Returns the cycle at which an `object` of `component` has its next action without a further report: that of the last
 * call when an action is due already, GPUMP_UNKNOWN when every action needs a report first or `component` lacks the
 * verb. Cost: linear in the slots, jobs or kernels of the object at most. */
GPUMP_API uint64_t gpump_next_cycle(const gpump_component *component, const void *object);
/* Copies the counters of an `object` of `component` into *statistics, a struct of the component's type; gpump_rate has
 * one per kernel, and fills statistics[config.kernels]. GPUMP_ERROR_STATE: the component keeps none. */
GPUMP_API gpump_result gpump_get_statistics(const gpump_component *component, const void *object, void *statistics);
/* Sets *difference to *later minus *earlier, counter by counter: what `component` counted in between. Of the highest
 * value of something it is that of *later. *difference may
 * be one of the two. */
GPUMP_API void gpump_statistics_diff(const gpump_component *component, const void *earlier, const void *later,
                                     void *difference);
/* Sets the name, unit, description and value of counter `index` (from 0) of *statistics; each out pointer may be NULL.
 * GPUMP_EMPTY: `component` has no counter of that index. */
GPUMP_API gpump_result gpump_statistics_field(const gpump_component *component, const void *statistics, uint32_t index,
                                              const char **name, const char **unit, const char **description,
                                              uint64_t *value);

GPUMP_END
#endif
