/* lanes: captures operands, writes results, computes addresses, converts memory values, and calls the computation of an
 * opcode. */
#include "lanes/lanes_internal.h"

#include "gpump_once.h"

uint32_t lanes_guard(const instruction *i, uint32_t mask, const uint32_t *predicates) {
    if (i->guard == INSTRUCTION_NONE) return mask;
    uint32_t value = predicates[i->guard];
    return mask & (i->guard_negated ? ~value : value);
}

static inline uint64_t read_bytes(const uint8_t *bytes, uint32_t count) {
    uint64_t value = 0;
    for (uint32_t b = 0; b < count; b++) value |= (uint64_t)bytes[b] << (8 * b);
    return value;
}

/* Copies one word of all lanes in the largest vectors of the form; memcpy would use the smallest. */
static inline void copy_word(const uint32_t *from, uint32_t *to) {
    typedef uint32_t quarter __attribute__((vector_size(32), aligned(4), may_alias));
    for (uint32_t k = 0; k < LANES; k += 8) *(quarter *)(to + k) = *(const quarter *)(from + k);
}

static void fill(lanes_operand *value, uint64_t bits, uint32_t words) {
    EACH_LANE value->word[0][l] = (uint32_t)bits;
    if (words == 2) EACH_LANE value->word[1][l] = (uint32_t)(bits >> 32);
}

/* Fills in the thread coordinates of a warp's lanes: lane 0 by division, the others by counting. */
static void fill_thread(const lanes_environment *e, uint32_t axis, lanes_operand *value) {
    uint32_t width = e->block_threads[0] ? e->block_threads[0] : 1,
             height = e->block_threads[1] ? e->block_threads[1] : 1;
    uint32_t linear = e->warp * LANES, at[3];
    at[0] = linear % width;
    at[1] = linear / width % height;
    at[2] = linear / width / height;
    if (width % LANES == 0) { /* each warp is a part of one row */
        EACH_LANE value->word[0][l] = axis ? at[axis] : at[0] + l;
        return;
    }
    EACH_LANE {
        value->word[0][l] = at[axis];
        if (++at[0] == width) {
            at[0] = 0;
            if (++at[1] == height) {
                at[1] = 0;
                at[2]++;
            }
        }
    }
}

static uint64_t nanoseconds(const lanes_environment *e) { return gpump_muldiv_down(e->clock, 1000000, e->clock_khz); }

static void read_special(const operand *o, const lanes_environment *e, lanes_operand *value) {
    uint64_t v = 0;
    switch (o->index) {
    case SPECIAL_TID_X:
    case SPECIAL_TID_Y:
    case SPECIAL_TID_Z:
        fill_thread(e, o->index - SPECIAL_TID_X, value);
        if (o->words == 2) memset(value->word[1], 0, sizeof value->word[1]);
        return;
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z: v = e->block_threads[o->index - SPECIAL_NTID_X]; break;
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z: v = e->block[o->index - SPECIAL_CTAID_X]; break;
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z: v = e->grid[o->index - SPECIAL_NCTAID_X]; break;
    case SPECIAL_WARPID: v = e->warp; break;
    case SPECIAL_NWARPID:
        v = ((uint64_t)e->block_threads[0] * e->block_threads[1] * e->block_threads[2] + LANES - 1) / LANES;
        break;
    case SPECIAL_ENVREG1: v = e->grid_workspace >> 32; break;
    case SPECIAL_ENVREG2: v = (uint32_t)e->grid_workspace; break;
    case SPECIAL_SMID: v = e->sm; break;
    case SPECIAL_NSMID: v = e->sm_count; break;
    case SPECIAL_GRIDID: v = e->grid_id; break;
    case SPECIAL_CLOCK: v = (uint32_t)e->clock; break;
    case SPECIAL_CLOCK_HI: v = e->clock >> 32; break;
    case SPECIAL_CLOCK64: v = e->clock; break;
    case SPECIAL_GLOBALTIMER: v = nanoseconds(e); break;
    case SPECIAL_GLOBALTIMER_LO: v = (uint32_t)nanoseconds(e); break;
    case SPECIAL_GLOBALTIMER_HI: v = nanoseconds(e) >> 32; break;
    case SPECIAL_DYNAMIC_SMEM_SIZE: v = e->dynamic_shared_bytes; break;
    case SPECIAL_TOTAL_SMEM_SIZE: v = e->total_shared_bytes; break;
    default:
        EACH_LANE {
            uint32_t own = 1u << l, x = l;
            switch (o->index) {
            case SPECIAL_LANEMASK_EQ: x = own; break;
            case SPECIAL_LANEMASK_LE: x = own | (own - 1); break;
            case SPECIAL_LANEMASK_LT: x = own - 1; break;
            case SPECIAL_LANEMASK_GE: x = ~(own - 1); break;
            case SPECIAL_LANEMASK_GT: x = ~(own | (own - 1)); break;
            default: break; /* laneid */
            }
            value->word[0][l] = x;
        }
        if (o->words == 2) memset(value->word[1], 0, sizeof value->word[1]);
        return;
    }
    fill(value, v, o->words);
}

static uint64_t parameter(const operand *o, const lanes_environment *e) {
    const uint8_t *from = e->parameters + o->index;
    const uint32_t left = o->index < e->parameter_bytes ? e->parameter_bytes - o->index : 0, bytes = 4u * o->words;
    if (bytes == 4 && left >= 4) return read_bytes(from, 4);
    if (bytes == 8 && left >= 8) return read_bytes(from, 8);
    return read_bytes(from, bytes < left ? bytes : left);
}

void lanes_read(const operand *o, const uint32_t *registers, const uint32_t *predicates, const lanes_environment *e,
                lanes_operand *value) {
    switch (o->kind) {
    case OPERAND_REGISTER:
        copy_word(registers + (size_t)o->index * LANES, value->word[0]);
        if (o->words == 2) copy_word(registers + ((size_t)o->index + 1) * LANES, value->word[1]);
        break;
    case OPERAND_PREDICATE: value->word[0][0] = o->negated ? ~predicates[o->index] : predicates[o->index]; break;
    case OPERAND_IMMEDIATE:
        if (o->words == 0)
            value->word[0][0] = o->immediate ? UINT32_MAX : 0; /* a predicate */
        else
            fill(value, o->immediate, o->words);
        break;
    case OPERAND_SPECIAL: read_special(o, e, value); break;
    case OPERAND_PARAM: fill(value, parameter(o, e), o->words); break;
    default: fill(value, 0, 2);
    }
}

void lanes_read_sources(const instruction *i, const uint32_t *registers, const uint32_t *predicates,
                        const lanes_environment *e, lanes_operand *sources) {
    for (uint32_t k = 0; k < i->source_count; k++) {
        const operand *o = &i->sources[k];
        if (o->kind == OPERAND_REGISTER && o->words == 1) /* the most frequent case */
            copy_word(registers + (size_t)o->index * LANES, sources[k].word[0]);
        else
            lanes_read(o, registers, predicates, e, &sources[k]);
    }
}

void lanes_write(const operand *o, uint32_t mask, const lanes_operand *value, uint32_t *registers,
                 uint32_t *predicates) {
    if (o->kind == OPERAND_PREDICATE) {
        predicates[o->index] = (predicates[o->index] & ~mask) | (value->word[0][0] & mask);
    } else if (o->kind == OPERAND_REGISTER) {
        uint32_t *to = registers + (size_t)o->index * LANES;
        if (mask == UINT32_MAX) {
            copy_word(value->word[0], to);
            if (o->words == 2) copy_word(value->word[1], to + LANES);
            return;
        }
        for (uint32_t w = 0; w < o->words; w++, to += LANES)
            EACH_LANE to[l] = mask & lane_bits[l] ? value->word[w][l] : to[l];
    }
}

void lanes_write_all(const instruction *i, uint32_t mask, const lanes_operand *values, uint32_t *registers,
                     uint32_t *predicates) {
    for (uint32_t k = 0; k < i->destination_count; k++)
        lanes_write(&i->destinations[k], mask, &values[k], registers, predicates);
}

void lanes_find_sources(const instruction *i, const uint32_t *registers, const uint32_t *predicates,
                        const lanes_environment *e, lanes_operand *captured, const lanes_operand **sources) {
    sources[0] = sources[1] = sources[2] = captured; /* an operation reads as many sources as its widest form has */
    for (uint32_t k = 0; k < i->source_count; k++) {
        const operand *o = &i->sources[k];
        if (o->kind == OPERAND_REGISTER) { /* most often; the register file holds whole operands */
            sources[k] = (const lanes_operand *)(const void *)(registers + (size_t)o->index * LANES);
        } else {
            lanes_read(o, registers, predicates, e, &captured[k]);
            sources[k] = &captured[k];
        }
    }
}

void lanes_compute(const instruction *i, uint32_t active, const lanes_operand *s, lanes_operand *d) {
    const lanes_operand *sources[INSTRUCTION_SOURCES];
    for (uint32_t k = 0; k < INSTRUCTION_SOURCES; k++) sources[k] = &s[k < i->source_count ? k : 0];
    lanes_compute_from(i, active, sources, d);
}

void lanes_compute_from(const instruction *i, uint32_t active, const lanes_operand *const *s, lanes_operand *d) {
    switch (i->opcode) {
    case OPCODE_ADD:
    case OPCODE_SUB:
    case OPCODE_MUL:
    case OPCODE_DIV:
    case OPCODE_ABS:
    case OPCODE_NEG:
    case OPCODE_MIN:
    case OPCODE_MAX:
        if (type_is_float(i->type))
            lanes_float(i, s, d);
        else
            lanes_integer(i, active, s, d);
        break;
    case OPCODE_MAD:
    case OPCODE_ADDC:
    case OPCODE_SUBC:
    case OPCODE_MADC:
    case OPCODE_MUL24:
    case OPCODE_MAD24:
    case OPCODE_SAD:
    case OPCODE_REM:
    case OPCODE_VABSDIFF4:
    case OPCODE_DP4A:
    case OPCODE_DP2A: lanes_integer(i, active, s, d); break;
    case OPCODE_SETP:
    case OPCODE_SET:
    case OPCODE_SELP:
    case OPCODE_SLCT:
    case OPCODE_TESTP:
    case OPCODE_ISSPACEP:
    case OPCODE_PAGE_ENTERED: lanes_compare(i, active, s, d); break;
    case OPCODE_CVT:
    case OPCODE_CVTA: lanes_convert(i, s, d); break;
    case OPCODE_SHFL:
    case OPCODE_VOTE:
    case OPCODE_MATCH:
    case OPCODE_ACTIVEMASK:
    case OPCODE_ELECT:
    case OPCODE_REDUX: lanes_warp(i, active, s, d); break;
    case OPCODE_MMA:
    case OPCODE_MOVMATRIX: lanes_matrix(i, s, d); break;
    case OPCODE_COPY_COMMIT:
    case OPCODE_COPY_WAIT:
    case OPCODE_BOUNDARY:
    case OPCODE_START_MARKER:
    case OPCODE_PP:
    case OPCODE_PP_DIVERGED: break;
    default:
        if (!lanes_bits(i, active, s, d)) lanes_float(i, s, d);
    }
}

void lanes_address(const instruction *i, uint32_t active, const lanes_operand *s, uint64_t addresses[LANES]) {
    uint64_t offset = (uint64_t)i->offset;
    (void)active;
    if (i->sources[0].kind == OPERAND_NONE) {
        EACH_LANE addresses[l] = offset;
    } else if (i->sources[0].words == 2) {
        EACH_LANE addresses[l] = lane64(&s[0], l) + offset;
    } else
        EACH_LANE addresses[l] = s[0].word[0][l] + offset;
}

/* Returns four bytes of memory as a word, the lowest byte first. */
static inline uint32_t read_word(const uint8_t *bytes) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
#else
    return (uint32_t)read_bytes(bytes, 4);
#endif
}

static inline void write_word(uint8_t *bytes, uint32_t word) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(bytes, &word, sizeof word);
#else
    for (uint32_t b = 0; b < 4; b++) bytes[b] = (uint8_t)(word >> (8 * b));
#endif
}

void lanes_gather(const uint8_t *base, uint64_t first, uint64_t keep, uint32_t active, const uint64_t addresses[LANES],
                  lanes_operand *restrict d) {
    uint64_t at[LANES], any;
    uint32_t lane = 0;
    while (!(active >> lane & 1)) lane++;
    any = addresses[lane];
    if (active == UINT32_MAX)
        EACH_LANE at[l] = (addresses[l] - first) & keep;
    else
        EACH_LANE at[l] = ((active & lane_bits[l] ? addresses[l] : any) - first) & keep;
    EACH_LANE d->word[0][l] = read_word(base + at[l]);
}

/* Makes values of 32 or 64 bits from the bytes of a smaller type. */
static inline void widen(const uint8_t *from, uint32_t stride, uint32_t size, uint32_t is_signed, uint32_t keep,
                         lanes_operand *restrict d) {
    const uint32_t shift = 64 - 8 * size;
    EACH_LANE {
        uint64_t value = read_bytes(from + (size_t)l * stride, size);
        if (is_signed) value = (uint64_t)((int64_t)(value << shift) >> shift);
        d->word[0][l] = (uint32_t)value & keep;
        d->word[1][l] = (uint32_t)(value >> 32);
    }
}

void lanes_from_memory(const instruction *i, uint32_t active, const uint8_t *bytes, uint32_t stride, lanes_operand *d) {
    uint32_t size = type_bytes(i->type), is_signed = (uint32_t)type_is_signed(i->type);
    (void)active;
    if (i->opcode == OPCODE_LDMATRIX) {
        lanes_matrix_load(i, bytes, stride, d);
        return;
    }
    if (i->type == TYPE_PRED) { /* a spilled predicate */
        d[0].word[0][0] = 0;
        EACH_LANE d[0].word[0][0] |= (uint32_t)(bytes[(size_t)l * stride] & 1) << l;
        return;
    }
    for (uint32_t k = 0; k < i->vector; k++) {
        const uint8_t *from = bytes + k * size;
        if (size == 4 && stride == 4 && i->destinations[k].words <= 1) {
            EACH_LANE d[k].word[0][l] = read_word(from + (size_t)l * 4);
        } else if (size == 4 && i->destinations[k].words <= 1) {
            EACH_LANE d[k].word[0][l] = read_word(from + (size_t)l * stride);
        } else if (size == 8 && stride == 8) {
            EACH_LANE set_lane64(&d[k], l, read_bytes(from + (size_t)l * 8, 8));
        } else if (size == 8) {
            EACH_LANE set_lane64(&d[k], l, read_bytes(from + (size_t)l * stride, 8));
        } else {
            const uint32_t bytes_kept = i->destinations[k].bytes, keep = bytes_kept == 2   ? 0xffff
                                                                         : bytes_kept == 1 ? 0xff
                                                                                           : UINT32_MAX;
            if (size == 1)
                widen(from, stride, 1, is_signed, keep, &d[k]);
            else if (size == 2)
                widen(from, stride, 2, is_signed, keep, &d[k]);
            else
                widen(from, stride, size, is_signed, keep, &d[k]);
        }
    }
}

/* Writes the lowest bytes of each lane's value. */
static inline void narrow(const lanes_operand *value, uint8_t *to, uint32_t stride, uint32_t size) {
    EACH_LANE for (uint32_t b = 0; b < size; b++) to[(size_t)l * stride + b] =
        (uint8_t)(value->word[b / 4][l] >> (8 * (b % 4)));
}

void lanes_to_memory(const instruction *i, uint32_t active, const lanes_operand *s, uint8_t *bytes, uint32_t stride) {
    uint32_t size = type_bytes(i->type);
    (void)active;
    if (i->opcode == OPCODE_STMATRIX) {
        lanes_matrix_store(i, s, bytes, stride);
        return;
    }
    if (i->type == TYPE_PRED) {
        EACH_LANE {
            memset(bytes + (size_t)l * stride, 0, 4);
            bytes[(size_t)l * stride] = (uint8_t)(s[1].word[0][0] >> l & 1);
        }
        return;
    }
    for (uint32_t k = 0; k < i->vector; k++) {
        uint8_t *to = bytes + k * size;
        if (size == 4 && stride == 4) {
            EACH_LANE write_word(to + (size_t)l * 4, s[k + 1].word[0][l]);
        } else if (size == 4) {
            EACH_LANE write_word(to + (size_t)l * stride, s[k + 1].word[0][l]);
        } else if (size == 8) {
            EACH_LANE {
                write_word(to + (size_t)l * stride, s[k + 1].word[0][l]);
                write_word(to + (size_t)l * stride + 4, s[k + 1].word[1][l]);
            }
        } else if (size == 1) {
            narrow(&s[k + 1], to, stride, 1);
        } else {
            narrow(&s[k + 1], to, stride, size);
        }
    }
}

uint64_t lanes_get(const lanes_operand *source, uint32_t lane) { return lane64(source, lane); }
void lanes_set(lanes_operand *destination, uint32_t lane, uint64_t value) { set_lane64(destination, lane, value); }

uint64_t lanes_atomic(const instruction *i, uint32_t lane, const lanes_operand *s, uint64_t old) {
    uint32_t bytes = type_bytes(i->type);
    uint64_t keep = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * bytes)) - 1, b = lane64(&s[1], lane) & keep;
    int is_signed = type_is_signed(i->type), shift = (int)(64 - 8 * bytes);
    int64_t x = (int64_t)(old << shift) >> shift, y = (int64_t)(b << shift) >> shift; /* sign-extended */
    old &= keep;
    switch (i->variant) {
    case VARIANT_ADD:
        if (i->type == TYPE_F32) return result_f32(bits_f32((uint32_t)old) + bits_f32((uint32_t)b));
        if (i->type == TYPE_F64) return result_f64(bits_f64(old) + bits_f64(b));
        if (type_is_half(i->type)) return lanes_half_sum(i->type, (uint32_t)old, (uint32_t)b);
        return (old + b) & keep;
    case VARIANT_MIN: return is_signed ? (x < y ? old : b) : old < b ? old : b;
    case VARIANT_MAX: return is_signed ? (x > y ? old : b) : old > b ? old : b;
    case VARIANT_AND: return old & b;
    case VARIANT_OR: return old | b;
    case VARIANT_XOR: return old ^ b;
    case VARIANT_ARRIVE:
    case VARIANT_DROP: { /* a barrier object (ptx_async.c) */
        uint64_t each = old >> 20 & 0xfffff, left = (old - b) & 0xfffff, phase = old >> 63;
        if (i->variant == VARIANT_DROP) each = (each - b) & 0xfffff;
        if (!left && b) {
            left = each;
            phase ^= 1;
        }
        return phase << 63 | each << 20 | left;
    }
    case VARIANT_EXCH: return b;
    case VARIANT_CAS: return old == b ? lane64(&s[2], lane) & keep : old;
    case VARIANT_INC: return old >= b ? 0 : old + 1;
    case VARIANT_DEC: return old == 0 || old > b ? b : old - 1;
    default: return old;
    }
}
