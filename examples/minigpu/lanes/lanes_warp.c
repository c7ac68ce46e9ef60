/* lanes_warp: operations across the lanes of a warp: shfl, vote, match, activemask, elect, redux. The model assumes
 * that the lanes of a membership mask execute together. */
#include "lanes/lanes_internal.h"

static int shuffle(const instruction *i, uint32_t active, const lanes_operand *const *s, lanes_operand *restrict d) {
    uint32_t in_range = 0;
    EACH_LANE {
        uint32_t b = s[1]->word[0][l] & 31, c = s[2]->word[0][l], segment = c >> 8 & 31, clamp = c & 31;
        uint32_t lowest = l & segment, limit = lowest | (clamp & ~segment & 31);
        int32_t from, ok;
        switch (i->variant) {
        case VARIANT_UP:
            from = (int32_t)l - (int32_t)b;
            ok = from >= (int32_t)limit;
            break;
        case VARIANT_DOWN:
            from = (int32_t)(l + b);
            ok = from <= (int32_t)limit;
            break;
        case VARIANT_BFLY:
            from = (int32_t)(l ^ b);
            ok = from <= (int32_t)limit;
            break;
        default: from = (int32_t)(lowest | (b & ~segment)); ok = from <= (int32_t)limit;
        }
        if (!ok) from = (int32_t)l;
        d[0].word[0][l] = s[0]->word[0][from & 31];
        in_range |= (uint32_t)ok << l;
    }
    if (i->destination_count > 1) d[1].word[0][0] = in_range & active;
    return 1;
}

static int vote(const instruction *i, uint32_t active, const lanes_operand *const *s, lanes_operand *restrict d) {
    uint32_t yes = s[0]->word[0][0] & active;
    if (i->variant == VARIANT_BALLOT) {
        EACH_LANE d->word[0][l] = yes;
        return 1;
    }
    int holds = i->variant == VARIANT_ALL   ? yes == active
                : i->variant == VARIANT_ANY ? yes != 0
                                            : yes == active || yes == 0;
    d->word[0][0] = holds ? active : 0;
    return 1;
}

static int match(const instruction *i, uint32_t active, const lanes_operand *const *s, lanes_operand *restrict d) {
    int wide = type_bytes(i->type) == 8;
    uint32_t everywhere = active;
    EACH_LANE {
        uint32_t same = 0;
        uint64_t mine = wide ? lane64(s[0], l) : s[0]->word[0][l];
        for (uint32_t k = 0; k < LANES; k++)
            same |= (uint32_t)((wide ? lane64(s[0], k) : s[0]->word[0][k]) == mine) << k;
        same &= active;
        d[0].word[0][l] = same;
        if ((active >> l & 1) && same != active) everywhere = 0;
    }
    if (i->variant == VARIANT_ALL) {
        EACH_LANE d[0].word[0][l] = everywhere;
        if (i->destination_count > 1) d[1].word[0][0] = everywhere;
    }
    return 1;
}

static int reduce(const instruction *i, uint32_t active, const lanes_operand *const *s, lanes_operand *restrict d) {
    int is_signed = i->type == TYPE_S32, first = 1;
    uint32_t sum = 0;
    EACH_LANE {
        uint32_t v = s[0]->word[0][l];
        if (!(active >> l & 1)) continue;
        if (first) {
            sum = v;
            first = 0;
            continue;
        }
        switch (i->variant) {
        case VARIANT_ADD: sum += v; break;
        case VARIANT_AND: sum &= v; break;
        case VARIANT_OR: sum |= v; break;
        case VARIANT_XOR: sum ^= v; break;
        case VARIANT_MIN:
            if (is_signed ? (int32_t)v < (int32_t)sum : v < sum) sum = v;
            break;
        default:
            if (is_signed ? (int32_t)v > (int32_t)sum : v > sum) sum = v;
        }
    }
    EACH_LANE d->word[0][l] = sum;
    return 1;
}

int lanes_warp(const instruction *i, uint32_t active, const lanes_operand *const *s, lanes_operand *restrict d) {
    switch (i->opcode) {
    case OPCODE_SHFL: return shuffle(i, active, s, d);
    case OPCODE_VOTE: return vote(i, active, s, d);
    case OPCODE_MATCH: return match(i, active, s, d);
    case OPCODE_REDUX: return reduce(i, active, s, d);
    case OPCODE_ACTIVEMASK: EACH_LANE d->word[0][l] = active; return 1;
    case OPCODE_ELECT: {
        uint32_t leader = active & (0u - active);
        uint32_t lane = 0;
        while (lane < 31 && !(leader >> lane & 1)) lane++;
        EACH_LANE d[0].word[0][l] = lane;
        if (i->destination_count > 1) d[1].word[0][0] = leader;
        return 1;
    }
    default: return 0;
    }
}
