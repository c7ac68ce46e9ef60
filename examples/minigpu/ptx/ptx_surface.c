/* ptx_surface: suld.b and sust.b, loads and stores of a surface's bytes. Of the coordinates, x counts bytes. */
#include <string.h>
#include "ptx/ptx_operands.h"

int ptx_is_surface(const ptx_token *name) { return ptx_token_is(name, "suld") || ptx_token_is(name, "sust"); }

/* suld.b.2d.v4.b8.trap {d...}, [surface, {x, y}]   sust.b.2d.v4.b8.trap [surface, {x, y}], {c...} */
/* Reads the modifiers into *out, and the number of coordinates. Returns -1 for a form that does not exist. */
static int read_modifiers(const ptx_modifier_list *list, instruction *out, uint32_t *coordinates) {
    static const struct {
        const char *text;
        uint8_t variant, coordinates;
    } shapes[] = {{".1d", VARIANT_1D, 1},
                  {".2d", VARIANT_2D, 2},
                  {".3d", VARIANT_3D, 3},
                  {".a1d", VARIANT_A1D, 2},
                  {".a2d", VARIANT_A2D, 3}};
    static const char *const clamps[] = {".trap", ".clamp", ".zero"};
    uint32_t clamp = 3, formatless = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const ptx_token *token = &list->tokens[i];
        const uint32_t type = ptx_type_find(token->start, token->length);
        uint32_t k = 0;
        while (k < 5 && !ptx_token_is(token, shapes[k].text)) k++;
        if (k < 5) {
            out->variant = shapes[k].variant;
            *coordinates = shapes[k].coordinates;
            continue;
        }
        for (k = 0; k < 3 && !ptx_token_is(token, clamps[k]);) k++;
        if (k < 3)
            clamp = k;
        else if (type >= TYPE_B8 && type <= TYPE_B64)
            out->type = (uint8_t)type;
        else if (ptx_token_is(token, ".v2") || ptx_token_is(token, ".v4"))
            out->vector = (uint8_t)(token->start[2] - '0');
        else if (ptx_token_is(token, ".b"))
            formatless = 1;
        else if (!ptx_token_is(token, ".ca") && !ptx_token_is(token, ".cg") && !ptx_token_is(token, ".cs") &&
                 !ptx_token_is(token, ".cv") && !ptx_token_is(token, ".wb") && !ptx_token_is(token, ".wt"))
            return -1;
    }
    if (!formatless || !*coordinates || clamp == 3 || !out->type || type_bytes(out->type) * out->vector > 16) return -1;
    out->lookup = (uint8_t)clamp;
    return 0;
}

int ptx_surface(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, const instruction *guard) {
    const int stores = ptx_token_is(name, "sust");
    uint32_t coordinates = 0, count;
    raw_operand raws[4];
    instruction out = *guard;
    out.opcode = stores ? OPCODE_SUST : OPCODE_SULD;
    out.space = SPACE_GLOBAL;
    if (read_modifiers(list, &out, &coordinates)) return ptx_refuse_opcode(reader, name, list, "opcode");
    if (!stores) {
        if (ptx_vector(reader, raws, 4, &count)) return -1;
        if (count != out.vector) return ptx_fail(reader, name, "%s needs %u elements", list->written, out.vector);
        for (uint32_t i = 0; i < count; i++)
            if (ptx_destination(reader, &raws[i], out.type, 1, &out, i)) return -1;
        if (ptx_expect(reader, ',', "before the surface")) return -1;
    }
    if (ptx_expect(reader, '[', "before the surface") || ptx_raw_operand(reader, &raws[0])) return -1;
    if (raws[0].kind != RAW_REGISTER)
        return ptx_refuse(reader, name, list->written, "a surface reference is not supported: use a surface object");
    if (ptx_source(reader, &raws[0], TYPE_B64, 0, &out, 0) || ptx_expect(reader, ',', "before the coordinates") ||
        ptx_vector(reader, raws, 4, &count))
        return -1;
    if (count < coordinates) return ptx_fail(reader, name, "the surface needs %u coordinates", coordinates);
    for (uint32_t i = 0; i < coordinates; i++)
        if (ptx_source(reader, &raws[i], TYPE_B32, 0, &out, i + 1)) return -1;
    if (ptx_expect(reader, ']', "after the coordinates")) return -1;
    if (stores) {
        if (ptx_expect(reader, ',', "before the values") || ptx_vector(reader, raws, 4, &count)) return -1;
        if (count != out.vector) return ptx_fail(reader, name, "%s needs %u elements", list->written, out.vector);
        for (uint32_t i = 0; i < count; i++)
            if (ptx_source(reader, &raws[i], out.type, 1, &out, SURFACE_VALUES + i)) return -1;
    }
    return ptx_emit(reader, &out);
}
