/* lanes_texture: the texels that a tex instruction reads, and its result from them. Bilinear weights have 8 fractional
 * bits, as on the GPU. The weighted sum is formed in double and rounded once. */
#include <math.h>
#include "lanes/lanes_internal.h"

static uint32_t size_of(const lanes_texture *t, uint32_t axis) {
    const uint32_t size = axis == 0 ? t->width : axis == 1 ? t->height : t->depth;
    return size || axis == 0 ? size : 1;
}
/* Returns the number of axes that are filtered. A layer's number is the first coordinate, but no axis. */
static uint32_t axes_of(const instruction *i) {
    return instruction_coordinates(i) - (uint32_t)instruction_is_layered(i);
}

/* floor, which is a call on hosts without an instruction for it. */
static inline double floor_of(double x) {
#ifdef __AVX2__
    return floor(x);
#endif
    if (x > -2.0e9 && x < 2.0e9) {
        const double whole = (double)(int32_t)x;
        return whole - (double)(whole > x);
    }
    return floor(x);
}

/* The texel positions of one coordinate: their floors, and the weights of the next texels in 1/256 (0 without
 * filtering). */
typedef struct axis_positions {
    double whole[LANES], weight[LANES];
} axis_positions;

static void find_positions(const instruction *i, const lanes_operand *s, const lanes_texture *t, uint32_t axis,
                           axis_positions *p) {
    const uint32_t *bits = s[1 + axis + (uint32_t)instruction_is_layered(i)].word[0];
    const double scale = t->normalized ? size_of(t, axis) : 1, half = t->linear ? 0.5 : 0;
    if (i->source_type != TYPE_F32) {
        EACH_LANE {
            p->whole[l] = (double)(int32_t)bits[l];
            p->weight[l] = 0;
        }
        return;
    }
    EACH_LANE {
        const double number = (double)bits_f32(bits[l]), x = (number == number ? number : 0) * scale - half,
                     whole = floor_of(x);
        p->whole[l] = whole;
        p->weight[l] = t->linear ? floor_of((x - whole) * 256.0 + 0.5) / 256.0 : 0;
    }
}

/* Returns a position outside the texture as one inside, or -1 for the border. */
static int64_t inside(double x, uint32_t size, uint32_t addressing) {
    double n = size;
    if (!(x > -4.0e9)) x = -4.0e9;
    if (!(x < 4.0e9)) x = 4.0e9;
    if (x >= 0 && x < n) return (int64_t)x;
    switch (addressing) {
    case TEXTURE_WRAP: return (int64_t)(x - n * floor(x / n));
    case TEXTURE_MIRROR: {
        double folded = x - 2 * n * floor(x / (2 * n));
        return (int64_t)(folded < n ? folded : 2 * n - 1 - folded);
    }
    case TEXTURE_BORDER: return -1;
    default: return x < 0 ? 0 : (int64_t)size - 1;
    }
}

/* Sets the offsets of the texels of one axis at the floor (side 0) or behind it (side 1); -1: outside. */
static void find_offsets(const axis_positions *p, double side, uint32_t size, uint32_t addressing, uint64_t step,
                         int64_t offsets[LANES]) {
    uint32_t all = 1;
    EACH_LANE all &= (uint32_t)(p->whole[l] + side >= 0) & (uint32_t)(p->whole[l] + side < (double)size);
    if (all && size <= INT32_MAX) {
        EACH_LANE offsets[l] = (int64_t)(int32_t)(p->whole[l] + side) * (int64_t)step;
        return;
    }
    EACH_LANE {
        const int64_t at = inside(p->whole[l] + side, size, addressing);
        offsets[l] = at < 0 ? -1 : at * (int64_t)step;
    }
}

SM_PATH uint32_t lanes_texture_texels(const instruction *i, const lanes_texture *t) {
    return t->linear && i->source_type == TYPE_F32 ? 1u << axes_of(i) : 1;
}

SM_PATH uint32_t lanes_texture_addresses(const instruction *i, uint32_t active, const lanes_operand *s,
                                         const lanes_texture *t, uint64_t addresses[TEXTURE_TEXELS][LANES]) {
    const uint32_t axes = axes_of(i), count = lanes_texture_texels(i, t);
    const uint64_t steps[3] = {(uint64_t)type_bytes(t->type) * t->channels, t->row_bytes, t->row_bytes * size_of(t, 1)};
    const uint64_t layer_bytes = axes == 1 ? t->row_bytes : steps[2];
    int64_t offsets[3][2][LANES];
    (void)active;
    for (uint32_t axis = 0; axis < axes && t->width; axis++) {
        axis_positions p;
        find_positions(i, s, t, axis, &p);
        for (uint32_t side = 0; side < (count > 1 ? 2u : 1u); side++)
            find_offsets(&p, side, size_of(t, axis), t->addressing[axis], steps[axis], offsets[axis][side]);
    }
    for (uint32_t k = 0; k < count; k++) EACH_LANE {
            uint64_t address = t->address;
            int outside = !t->width;
            if (instruction_is_layered(i)) { /* layers are not filtered, only clamped */
                const uint32_t layer = s[1].word[0][l], layers = size_of(t, 2);
                address += (layer < layers ? layer : layers - 1) * layer_bytes;
            }
            for (uint32_t axis = 0; axis < axes && !outside; axis++) {
                outside = offsets[axis][k >> axis & 1][l] < 0;
                address += (uint64_t)offsets[axis][k >> axis & 1][l];
            }
            addresses[k][l] = outside ? TEXTURE_NO_TEXEL : address;
        }
    return count;
}

/* Returns one channel of a texel as a number, and sets the bits that an unfiltered integer read returns. */
static double channel(const lanes_texture *t, const uint8_t *texel, uint32_t number, uint32_t *bits) {
    uint32_t size = type_bytes(t->type), raw = 0;
    *bits = 0;
    if (number >= t->channels) return 0;
    if (t->type == TYPE_F32) {
        for (uint32_t b = 0; b < 4; b++) raw |= (uint32_t)texel[number * 4 + b] << (8 * b);
        *bits = raw;
        return (double)bits_f32(raw);
    }
    for (uint32_t b = 0; b < size && b < 4; b++) raw |= (uint32_t)texel[number * size + b] << (8 * b);
    switch (t->type) {
    case TYPE_S8: raw = (uint32_t)(int32_t)(int8_t)raw; break;
    case TYPE_S16: raw = (uint32_t)(int32_t)(int16_t)raw; break;
    default: break;
    }
    *bits = raw;
    double value = type_is_signed(t->type) ? (double)(int32_t)raw : (double)raw;
    if (t->as_float && size < 4) {
        value /= (double)((1u << (8 * size - (type_is_signed(t->type) ? 1 : 0))) - 1);
        if (value < -1) value = -1;
    }
    return value;
}

SM_PATH void lanes_texture_filter(const instruction *i, uint32_t active, const lanes_operand *s, const lanes_texture *t,
                                  const uint8_t *texels, lanes_operand *d) {
    const uint32_t axes = axes_of(i), linear = t->linear && i->source_type == TYPE_F32 && i->type == TYPE_F32;
    axis_positions positions[3];
    (void)active;
    if (!linear && t->type == TYPE_F32 && i->type == TYPE_F32) {
        for (uint32_t c = 0; c < 4; c++) EACH_LANE {
                uint32_t raw = 0;
                for (uint32_t b = 0; b < 4 && c < t->channels; b++)
                    raw |= (uint32_t)texels[l * 16 + c * 4 + b] << (8 * b);
                d[c].word[0][l] = result_f32(bits_f32(raw));
            }
        return;
    }
    for (uint32_t axis = 0; axis < axes && linear; axis++) find_positions(i, s, t, axis, &positions[axis]);
    for (uint32_t c = 0; c < 4; c++) EACH_LANE {
            double sum = 0;
            uint32_t bits = 0;
            for (uint32_t k = 0; k < 1u << axes && linear && c < t->channels; k++) {
                double part = channel(t, texels + (k * LANES + l) * 16, c, &bits);
                for (uint32_t axis = 0; axis < axes; axis++)
                    part *= k >> axis & 1 ? positions[axis].weight[l] : 1 - positions[axis].weight[l];
                sum += part;
            }
            if (!linear) sum = channel(t, texels + l * 16, c, &bits);
            d[c].word[0][l] = i->type == TYPE_F32 ? result_f32((float)sum) : bits;
        }
}

SM_PATH uint32_t lanes_surface_addresses(const instruction *i, uint32_t active, const lanes_operand *s,
                                         const lanes_texture *t, uint64_t addresses[LANES]) {
    const uint32_t layered = (uint32_t)instruction_is_layered(i), axes = axes_of(i),
                   bytes = instruction_access_bytes(i);
    const uint64_t width = (uint64_t)type_bytes(t->type) * t->channels * t->width;
    const uint64_t layer_bytes = axes == 1 ? t->row_bytes : t->row_bytes * size_of(t, 1);
    uint32_t wrong = 0;
    EACH_LANE {
        uint64_t address = t->address;
        int outside = 0;
        if (layered) {
            const uint32_t layer = s[1].word[0][l];
            outside = layer >= size_of(t, 2);
            address += (outside ? size_of(t, 2) - 1 : layer) * layer_bytes;
        }
        for (uint32_t axis = 0; axis < axes; axis++) {
            const int64_t at = (int32_t)s[1 + layered + axis].word[0][l],
                          last = axis ? (int64_t)size_of(t, axis) - 1 : (int64_t)width - (int64_t)bytes;
            const int64_t kept = at < 0 ? 0 : at > last ? last : at;
            outside |= kept != at || last < 0;
            address += (uint64_t)kept * (axis == 0 ? 1 : axis == 1 ? t->row_bytes : t->row_bytes * size_of(t, 1));
        }
        addresses[l] = outside && i->lookup == 2 ? TEXTURE_NO_TEXEL : address;
        wrong |= (uint32_t)(outside && (i->lookup == 0 || width < bytes)) << l;
    }
    return wrong & active;
}
