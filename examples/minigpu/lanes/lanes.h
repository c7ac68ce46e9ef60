/* lanes: the computation of one warp instruction. The functions are pure: they work on captured operands and change
 * neither registers nor memory of the machine. A result can therefore take effect late, or never. */
#ifndef MINIGPU_LANES_H
#define MINIGPU_LANES_H
#include "lanes/form.h"
#include "ptx/instruction.h"

#define LANES 32

/* One operand of a whole warp, in the layout of the register file: word 0 of every lane, then word 1 (64-bit values
 * only). A predicate's lane mask is word[0][0]. */
typedef struct lanes_operand {
    uint32_t word[2][LANES];
} lanes_operand;

/* The values 1 << lane. A loop over lanes that tests a mask with them can be vectorised. */
#define BITS_OF_8(first)                                                                                        \
    1u << (first), 2u << (first), 4u << (first), 8u << (first), 16u << (first), 32u << (first), 64u << (first), \
        128u << (first)
static const uint32_t lane_bits[LANES] = {BITS_OF_8(0), BITS_OF_8(8), BITS_OF_8(16), BITS_OF_8(24)};
#undef BITS_OF_8

/* The values of special registers and parameters. */
typedef struct lanes_environment {
    uint32_t block_threads[3]; /* %ntid */
    uint32_t block[3];         /* %ctaid */
    uint32_t grid[3];          /* %nctaid */
    uint32_t warp;             /* index of the warp in its block */
    uint32_t sm, sm_count;     /* %smid, %nsmid */
    uint32_t dynamic_shared_bytes, total_shared_bytes;
    uint64_t grid_id;
    uint64_t grid_workspace;   /* address in %envreg1 and %envreg2 */
    uint64_t clock;            /* %clock64 */
    uint32_t clock_khz;        /* for %globaltimer */
    const uint8_t *parameters; /* the kernel's parameter block, for folded ld.param */
    uint32_t parameter_bytes;
} lanes_environment;

/* Returns the lanes of `mask` whose guard is true, or false for a negated guard. predicates: the warp's lane masks, by
 * predicate register. */
SM_PATH uint32_t lanes_guard(const instruction *instruction, uint32_t mask, const uint32_t *predicates);
/* Captures one source operand. registers: the warp's vector registers, register r at registers[r * 32 + lane]. */
SM_PATH void lanes_read(const operand *operand, const uint32_t *registers, const uint32_t *predicates,
                        const lanes_environment *environment, lanes_operand *value);
/* Captures all sources of an instruction (instruction->source_count of them). */
SM_PATH void lanes_read_sources(const instruction *instruction, const uint32_t *registers, const uint32_t *predicates,
                                const lanes_environment *environment, lanes_operand *sources);
/* Writes one destination operand in the lanes of mask. */
SM_PATH void lanes_write(const operand *operand, uint32_t mask, const lanes_operand *value, uint32_t *registers,
                         uint32_t *predicates);

/* Writes all destinations of an instruction (instruction->destination_count). */
SM_PATH void lanes_write_all(const instruction *instruction, uint32_t mask, const lanes_operand *values,
                             uint32_t *registers, uint32_t *predicates);

/* Finds the sources for a use that ends before a register changes. Register operands are pointed to in the register
 * file; other operands are captured. */
SM_PATH void lanes_find_sources(const instruction *instruction, const uint32_t *registers, const uint32_t *predicates,
                                const lanes_environment *environment, lanes_operand *captured,
                                const lanes_operand **sources);
/* Computes an instruction that is neither a memory access nor control flow. active: the lanes that execute it, guard
 * included. Other lanes of the destinations are unspecified (0 in predicate masks). */
SM_PATH void lanes_compute(const instruction *instruction, uint32_t active, const lanes_operand *sources,
                           lanes_operand *destinations);

/* Computes an instruction as lanes_compute does, with a pointer to each source. No destination may be one of the
 * sources. */
SM_PATH void lanes_compute_from(const instruction *instruction, uint32_t active, const lanes_operand *const *sources,
                                lanes_operand *destinations);

/* Computes the addresses of a memory instruction (ld, st, atom, red) for the lanes of `active`. Addresses are in the
 * instruction's own space, which may be SPACE_GENERIC. */
SM_PATH void lanes_address(const instruction *instruction, uint32_t active, const lanes_operand *sources,
                           uint64_t addresses[LANES]);
/* Makes a load's destinations from the bytes that were read. Lane l's access starts at bytes[l * stride], is
 * instruction_access_bytes long, and is little-endian. */
SM_PATH void lanes_from_memory(const instruction *instruction, uint32_t active, const uint8_t *bytes, uint32_t stride,
                               lanes_operand *destinations);
/* Makes the result of a load of 4 bytes per lane, without vector, for at least one lane. Lane l's bytes are at base +
 * (addresses[l] - first & keep). */
SM_PATH void lanes_gather(const uint8_t *base, uint64_t first, uint64_t keep, uint32_t active,
                          const uint64_t addresses[LANES], lanes_operand *destination);
/* Makes a store's bytes from its sources, in the layout of lanes_from_memory. */
SM_PATH void lanes_to_memory(const instruction *instruction, uint32_t active, const lanes_operand *sources,
                             uint8_t *bytes, uint32_t stride);
/* Returns the value that an atomic stores for one lane. `old` is the value in memory (type_bytes(type) bytes,
 * zero-extended) and is also the lane's result. The caller applies the lanes of a warp one after the other, in lane
 * order. */
SM_PATH uint64_t lanes_atomic(const instruction *instruction, uint32_t lane, const lanes_operand *sources,
                              uint64_t old);
/* Sets one lane of a destination to a value (an atomic's old value). */
SM_PATH void lanes_set(lanes_operand *destination, uint32_t lane, uint64_t value);
SM_PATH uint64_t lanes_get(const lanes_operand *source, uint32_t lane);

/* A texture, as tex reads it. */
typedef enum texture_addressing { TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR, TEXTURE_BORDER } texture_addressing;
typedef struct lanes_texture {
    uint64_t address;       /* of texel (0, 0) */
    uint64_t row_bytes;     /* from one row to the next */
    uint32_t width, height; /* texels; height 0 or 1: one-dimensional */
    uint32_t depth;         /* slices of a volume, or layers, one behind the other; 0: 1 */
    uint8_t type;           /* of one channel: TYPE_U8 to TYPE_S32, TYPE_F32 */
    uint8_t channels;       /* 1, 2 or 4 */
    uint8_t linear;         /* 1: bilinear (float results only); 0: the nearest texel */
    uint8_t normalized;     /* 1: coordinates run from 0 to 1 */
    uint8_t as_float;       /* 1: integer texels of 8 and 16 bits are read as 0 to 1, or -1 to 1 */
    uint8_t addressing[3];  /* texture_addressing in x, y and z */
} lanes_texture;
#define TEXTURE_TEXELS 8
#define TEXTURE_NO_TEXEL UINT64_MAX /* outside, with TEXTURE_BORDER: zeros are read */
/* Returns the number of texels that each lane needs: 1, 2, 4 or 8. */
SM_PATH uint32_t lanes_texture_texels(const instruction *instruction, const lanes_texture *texture);
/* Sets addresses[texel][lane] for the texels that each lane needs. Returns the number of texels: 1, 2, 4 or 8.
 * texel_bytes = channels * size. */
SM_PATH uint32_t lanes_texture_addresses(const instruction *instruction, uint32_t active, const lanes_operand *sources,
                                         const lanes_texture *texture, uint64_t addresses[TEXTURE_TEXELS][LANES]);
/* Makes the result from the texels. Texel t of lane l is at texels[(t * 32 + l) * 16]. TEXTURE_NO_TEXEL reads as
 * zeros. */
SM_PATH void lanes_texture_filter(const instruction *instruction, uint32_t active, const lanes_operand *sources,
                                  const lanes_texture *texture, const uint8_t *texels, lanes_operand *destinations);
/* Sets the addresses that suld and sust access, for the lanes of `active`; TEXTURE_NO_TEXEL: no address, zeros are
 * read. Returns a mask of the lanes that are outside the surface where that is an error. */
SM_PATH uint32_t lanes_surface_addresses(const instruction *instruction, uint32_t active, const lanes_operand *sources,
                                         const lanes_texture *texture, uint64_t addresses[LANES]);
/* A number of TYPE_F16 or TYPE_BF16 as a double, and a double rounded to it. */
double half_to_double(uint32_t type, uint32_t bits);
uint32_t half_from_double(uint32_t type, double value, uint32_t rounding);

#endif
