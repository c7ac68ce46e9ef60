/* lanes_texture: which texels a tex instruction needs, and its result from them. Bilinear weights have 8 fractional
 * bits, as on the GPU; the weighted sum is formed in double and rounded once. */
#include <math.h>
#include "lanes/lanes_internal.h"

/* The texel position of one coordinate: its floor, and the weight of the next texel in 1/256 (0 unless filtering). */
static double position(const instruction *i, const lanes_operand *s, const lanes_texture *t, uint32_t axis,
                       uint32_t lane, double *weight) {
    uint32_t bits = s[1 + axis].word[0][lane];
    double size = axis ? (t->height ? t->height : 1) : t->width, x;
    *weight = 0;
    if (i->source_type != TYPE_F32) return (double)(int32_t)bits;
    x = (double)bits_f32(bits);
    if (x != x) x = 0;
    if (t->normalized) x *= size;
    if (t->linear) {
        x -= 0.5;
        double whole = floor(x);
        *weight = floor((x - whole) * 256.0 + 0.5) / 256.0;
        return whole;
    }
    return floor(x);
}

/* A position outside the texture, brought inside; -1 for a border. */
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

uint32_t lanes_texture_addresses(const instruction *i, uint32_t active, const lanes_operand *s, const lanes_texture *t,
                                 uint64_t addresses[TEXTURE_TEXELS][LANES]) {
    uint32_t flat = i->variant == VARIANT_1D, linear = t->linear && i->source_type == TYPE_F32,
             count = !linear ? 1
                     : flat  ? 2
                             : 4;
    uint32_t height = t->height ? t->height : 1, bytes = type_bytes(t->type) * t->channels;
    (void)active;
    for (uint32_t k = 0; k < count; k++) EACH_LANE {
            double weight, x = position(i, s, t, 0, l, &weight) + (double)(k & 1),
                           y = flat ? 0 : position(i, s, t, 1, l, &weight) + (double)(k >> 1);
            int64_t column = t->width ? inside(x, t->width, t->addressing[0]) : -1,
                    row = flat ? 0 : inside(y, height, t->addressing[1]);
            addresses[k][l] = column < 0 || row < 0
                                  ? TEXTURE_NO_TEXEL
                                  : t->address + (uint64_t)row * t->row_bytes + (uint64_t)column * bytes;
        }
    return count;
}

/* One channel of a texel: as a number, and as the bits an unfiltered integer read returns. */
static double channel(const lanes_texture *t, const uint8_t *texel, uint32_t number, uint32_t *bits) {
    uint32_t size = type_bytes(t->type), raw = 0;
    *bits = 0;
    if (number >= t->channels) return 0;
    for (uint32_t b = 0; b < size && b < 4; b++) raw |= (uint32_t)texel[number * size + b] << (8 * b);
    switch (t->type) {
    case TYPE_S8: raw = (uint32_t)(int32_t)(int8_t)raw; break;
    case TYPE_S16: raw = (uint32_t)(int32_t)(int16_t)raw; break;
    default: break;
    }
    *bits = raw;
    if (t->type == TYPE_F32) return (double)bits_f32(raw);
    double value = type_is_signed(t->type) ? (double)(int32_t)raw : (double)raw;
    if (t->as_float && size < 4) {
        value /= (double)((1u << (8 * size - (type_is_signed(t->type) ? 1 : 0))) - 1);
        if (value < -1) value = -1;
    }
    return value;
}

void lanes_texture_filter(const instruction *i, uint32_t active, const lanes_operand *s, const lanes_texture *t,
                          const uint8_t *texels, lanes_operand *d) {
    uint32_t flat = i->variant == VARIANT_1D, linear = t->linear && i->source_type == TYPE_F32 && i->type == TYPE_F32;
    (void)active;
    for (uint32_t c = 0; c < 4; c++) EACH_LANE {
            double wx = 0, wy = 0, sum = 0;
            uint32_t bits = 0;
            if (linear) {
                position(i, s, t, 0, l, &wx);
                if (!flat) position(i, s, t, 1, l, &wy);
                for (uint32_t k = 0; k < (flat ? 2u : 4u); k++)
                    sum += channel(t, texels + (k * LANES + l) * 16, c, &bits) * (k & 1 ? wx : 1 - wx) *
                           (k >> 1 ? wy : 1 - wy);
            } else
                sum = channel(t, texels + l * 16, c, &bits);
            if (i->type == TYPE_F32)
                d[c].word[0][l] = result_f32((float)sum);
            else
                d[c].word[0][l] = bits;
        }
}
