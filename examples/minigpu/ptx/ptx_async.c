/* ptx_async: asynchronous copies from global to shared memory (cp.async), and barrier objects in shared memory
 * (mbarrier).
 *
 * A barrier object is one 64-bit word. Bits 0 to 19 count the arrivals that this phase still awaits, bits 20 to 39 the
 * arrivals of each phase. Bit 63 changes with every phase. Arriving is therefore an atomic whose old word is PTX's
 * state. Testing is a load that compares the uppermost bits. */
#include <string.h>
#include "ptx/ptx_operands.h"

int ptx_is_async(const ptx_token *name, const ptx_modifier_list *list) {
    return ptx_token_is(name, "mbarrier") ||
           (ptx_token_is(name, "cp") && list->count && ptx_token_is(&list->tokens[0], ".async"));
}

static raw_operand own_register(ptx_reader *reader, uint32_t type) {
    raw_operand raw;
    memset(&raw, 0, sizeof raw);
    raw.kind = RAW_REGISTER;
    raw.type = type;
    raw.index = ptx_new_register(reader, type);
    raw.token = reader->token;
    return raw;
}

static raw_operand literal(const ptx_reader *reader, uint64_t bits) {
    raw_operand raw;
    memset(&raw, 0, sizeof raw);
    raw.kind = RAW_INTEGER;
    raw.bits = bits;
    raw.token = reader->token;
    return raw;
}

static int has(const ptx_modifier_list *list, const char *text) {
    for (uint32_t i = 0; i < list->count; i++)
        if (ptx_token_is(&list->tokens[i], text)) return 1;
    return 0;
}

/* Returns whether every modifier is in `text`, which ends with NULL. */
static int only(const ptx_modifier_list *list, const char *const *texts) {
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t k = 0;
        while (texts[k] && !ptx_token_is(&list->tokens[i], texts[k])) k++;
        if (!texts[k]) return 0;
    }
    return 1;
}

/* Emits an instruction with one destination and one or two sources of a type. */
static int emit(ptx_reader *reader, const instruction *proto, uint32_t opcode, uint32_t variant, uint32_t type,
                const raw_operand *d, uint32_t d_type, const raw_operand *a, uint32_t a_type, const raw_operand *b) {
    instruction out = *proto;
    out.opcode = (uint8_t)opcode;
    out.variant = (uint8_t)variant;
    out.type = (uint8_t)type;
    if (opcode == OPCODE_CVT) out.source_type = (uint8_t)a_type;
    if (opcode == OPCODE_SETP) out.compare = COMPARE_LT;
    if (ptx_destination(reader, d, d_type, 0, &out, 0) || ptx_source(reader, a, a_type, 0, &out, 0)) return -1;
    if (b && ptx_source(reader, b, opcode == OPCODE_SHL ? (uint32_t)TYPE_U32 : a_type, 0, &out, 1)) return -1;
    return ptx_emit(reader, &out);
}

/* ---- cp.async ---- */

/* cp.async.{ca,cg}.shared.global [to], [from], bytes{, bytes read or ignore}{, policy} */
static int read_copy(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list,
                     const instruction *proto) {
    static const char *const known[] = {".async",  ".ca",      ".cg",       ".shared",   ".shared::cta",
                                        ".global", ".L2::64B", ".L2::128B", ".L2::256B", ".L2::cache_hint",
                                        NULL};
    instruction to = *proto, out = *proto;
    raw_operand raw;
    if (!only(list, known) || !has(list, ".global") || (!has(list, ".shared") && !has(list, ".shared::cta")))
        return ptx_refuse_opcode(reader, name, list, "opcode");
    to.space = SPACE_SHARED;
    out.opcode = OPCODE_COPY;
    out.space = SPACE_GLOBAL;
    out.type = TYPE_B8;
    if (has(list, ".cg")) out.flags |= FLAG_CACHE_GLOBAL;
    const uint32_t extern_count = reader->extern_count;
    if (ptx_address(reader, &to)) return -1;
    if (reader->extern_count != extern_count) /* the address of an extern array is patched in source 1 or 3 */
        reader->extern_shared[extern_count].slot = 3;
    if (ptx_expect(reader, ',', "after the destination") || ptx_address(reader, &out) ||
        ptx_expect(reader, ',', "after the source") || ptx_raw_operand(reader, &raw))
        return -1;
    if (raw.kind != RAW_INTEGER || (raw.bits != 4 && raw.bits != 8 && raw.bits != 16))
        return ptx_fail(reader, &raw.token, "cp.async copies 4, 8 or 16 bytes");
    out.lookup = (uint8_t)raw.bits;
    out.sources[1] = to.sources[0];
    out.source_count = 4;
    raw = literal(reader, out.lookup);
    if (ptx_take(reader, ',') && ptx_raw_operand(reader, &raw)) return -1;
    if (has(list, ".L2::cache_hint") && raw.kind == RAW_REGISTER && type_bytes(raw.type) == 8)
        raw = literal(reader, out.lookup); /* this operand was the policy, not the byte count */
    else if (ptx_take(reader, ',')) {
        raw_operand policy;
        if (ptx_raw_operand(reader, &policy)) return -1;
    }
    if (ptx_source(reader, &raw, raw.kind == RAW_REGISTER && raw.type == TYPE_PRED ? TYPE_PRED : TYPE_U32, 0, &out, 2))
        return -1;
    out.sources[3].kind = OPERAND_IMMEDIATE;
    out.sources[3].immediate = (uint64_t)to.offset;
    out.sources[3].words = 2;
    return ptx_emit(reader, &out);
}

static int read_async(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list,
                      const instruction *proto) {
    static const char *const arrives[] = {".async",  ".mbarrier",    ".arrive", ".noinc",
                                          ".shared", ".shared::cta", ".b64",    NULL};
    instruction out = *proto;
    raw_operand raw;
    if (has(list, ".bulk")) return ptx_refuse_opcode(reader, name, list, "opcode");
    if (has(list, ".commit_group")) {
        out.opcode = OPCODE_COPY_COMMIT;
        return ptx_emit(reader, &out);
    }
    if (has(list, ".wait_group") || has(list, ".wait_all")) {
        out.opcode = OPCODE_COPY_WAIT;
        out.variant = has(list, ".wait_all") ? VARIANT_ALL : VARIANT_NONE;
        if (out.variant == VARIANT_NONE) {
            if (ptx_raw_operand(reader, &raw)) return -1;
            if (raw.kind != RAW_INTEGER) return ptx_fail(reader, &raw.token, "how many groups may be left is a number");
            out.lookup = raw.bits < 255 ? (uint8_t)raw.bits : 255;
        }
        return ptx_emit(reader, &out);
    }
    if (has(list, ".mbarrier")) {
        /* Copies take effect in the warp's order, so the arrival waits only for the copies before it. Without .noinc
         * the phase awaits one more arrival, which this instruction itself provides, so nothing changes. */
        if (!only(list, arrives)) return ptx_refuse_opcode(reader, name, list, "opcode");
        out.opcode = OPCODE_COPY_WAIT;
        out.variant = VARIANT_ALL;
        if (ptx_emit(reader, &out)) return -1;
        out = *proto;
        out.opcode = OPCODE_RED;
        out.variant = VARIANT_ARRIVE;
        out.type = TYPE_B64;
        out.space = has(list, ".shared") || has(list, ".shared::cta") ? SPACE_SHARED : SPACE_GENERIC;
        raw = literal(reader, has(list, ".noinc") ? 1 : 0);
        if (ptx_address(reader, &out) || ptx_source(reader, &raw, TYPE_B64, 0, &out, 1)) return -1;
        return ptx_emit(reader, &out);
    }
    return read_copy(reader, name, list, proto);
}

/* ---- mbarrier ---- */

/* mbarrier.init [a], count: emits a store of the fresh word. */
static int read_init(ptx_reader *reader, instruction *access, const instruction *proto) {
    raw_operand count, word;
    if (ptx_address(reader, access) || ptx_expect(reader, ',', "after the address") || ptx_raw_operand(reader, &count))
        return -1;
    word = literal(reader, count.bits * 0x100001u);
    if (count.kind != RAW_INTEGER) {
        raw_operand factor = literal(reader, 0x100001u);
        instruction product = *proto;
        word = own_register(reader, TYPE_B64);
        product.opcode = OPCODE_MUL;
        product.variant = VARIANT_WIDE;
        product.type = TYPE_U32;
        if (ptx_destination(reader, &word, TYPE_U64, 0, &product, 0) ||
            ptx_source(reader, &count, TYPE_U32, 0, &product, 0) ||
            ptx_source(reader, &factor, TYPE_U32, 0, &product, 1) || ptx_emit(reader, &product))
            return -1;
    }
    access->opcode = OPCODE_ST;
    return ptx_source(reader, &word, TYPE_B64, 0, access, 1) ? -1 : ptx_emit(reader, access);
}

/* mbarrier.arrive state, [a]{, count} */
static int read_arrive(ptx_reader *reader, instruction *access, const instruction *proto, int drops) {
    raw_operand count = literal(reader, 1), state;
    if (ptx_raw_operand(reader, &state) || ptx_destination(reader, &state, TYPE_B64, 0, access, 0) ||
        ptx_expect(reader, ',', "before the address") || ptx_address(reader, access))
        return -1;
    if (ptx_take(reader, ',') && ptx_raw_operand(reader, &count)) return -1;
    if (count.kind != RAW_INTEGER) {
        raw_operand wide = own_register(reader, TYPE_B64);
        if (emit(reader, proto, OPCODE_CVT, VARIANT_NONE, TYPE_U64, &wide, TYPE_U64, &count, TYPE_U32, NULL)) return -1;
        count = wide;
    }
    access->opcode = OPCODE_ATOM;
    access->variant = drops ? VARIANT_DROP : VARIANT_ARRIVE;
    return ptx_source(reader, &count, TYPE_B64, 0, access, 1) ? -1 : ptx_emit(reader, access);
}

/* mbarrier.test_wait p, [a], state   mbarrier.test_wait.parity p, [a], parity: tests whether the phase has ended. */
static int read_test(ptx_reader *reader, instruction *access, const instruction *proto, int by_parity) {
    raw_operand done, phase, word = own_register(reader, TYPE_B64), zero = literal(reader, 0), hint;
    if (ptx_raw_operand(reader, &done) || ptx_expect(reader, ',', "before the address") ||
        ptx_address(reader, access) || ptx_expect(reader, ',', "after the address") || ptx_raw_operand(reader, &phase))
        return -1;
    if (ptx_take(reader, ',') && ptx_raw_operand(reader, &hint)) return -1;
    if (by_parity) {
        raw_operand wide = own_register(reader, TYPE_B64), bit = literal(reader, 63);
        if (emit(reader, proto, OPCODE_CVT, VARIANT_NONE, TYPE_U64, &wide, TYPE_U64, &phase, TYPE_U32, NULL) ||
            emit(reader, proto, OPCODE_SHL, VARIANT_NONE, TYPE_B64, &wide, TYPE_B64, &wide, TYPE_B64, &bit))
            return -1;
        phase = wide;
    }
    access->opcode = OPCODE_LD;
    access->flags |= FLAG_VOLATILE; /* other warps change the word */
    if (ptx_destination(reader, &word, TYPE_B64, 0, access, 0) || ptx_emit(reader, access)) return -1;
    return emit(reader, proto, OPCODE_XOR, VARIANT_NONE, TYPE_B64, &word, TYPE_B64, &word, TYPE_B64, &phase) ||
                   emit(reader, proto, OPCODE_SETP, VARIANT_NONE, TYPE_S64, &done, TYPE_PRED, &word, TYPE_S64, &zero)
               ? -1
               : 0;
}

static int read_mbarrier(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list,
                         const instruction *proto) {
    static const char *const known[] = {".init",        ".inval",    ".arrive",  ".arrive_drop",   ".noComplete",
                                        ".test_wait",   ".try_wait", ".parity",  ".pending_count", ".shared",
                                        ".shared::cta", ".b64",      ".release", ".acquire",       ".relaxed",
                                        ".cta",         NULL};
    instruction access = *proto;
    if (!only(list, known) || !list->count) return ptx_refuse_opcode(reader, name, list, "opcode");
    access.type = TYPE_B64;
    access.space = has(list, ".shared") || has(list, ".shared::cta") ? SPACE_SHARED : SPACE_GENERIC;
    if (has(list, ".init")) return read_init(reader, &access, proto);
    if (has(list, ".arrive") || has(list, ".arrive_drop"))
        return read_arrive(reader, &access, proto, has(list, ".arrive_drop"));
    if (has(list, ".test_wait") || has(list, ".try_wait"))
        return read_test(reader, &access, proto, has(list, ".parity"));
    if (has(list, ".inval")) { /* the word is undefined from here on */
        instruction none = *proto;
        none.opcode = OPCODE_NOP;
        return ptx_address(reader, &access) ? -1 : ptx_emit(reader, &none);
    }
    if (has(list, ".pending_count")) {
        raw_operand count, state, word = own_register(reader, TYPE_B64), mask = literal(reader, 0xfffff);
        if (ptx_raw_operand(reader, &count) || ptx_expect(reader, ',', "before the state") ||
            ptx_raw_operand(reader, &state) ||
            emit(reader, proto, OPCODE_AND, VARIANT_NONE, TYPE_B64, &word, TYPE_B64, &state, TYPE_B64, &mask))
            return -1;
        return emit(reader, proto, OPCODE_CVT, VARIANT_NONE, TYPE_U32, &count, TYPE_U32, &word, TYPE_U64, NULL);
    }
    return ptx_refuse_opcode(reader, name, list, "opcode");
}

int ptx_async(ptx_reader *reader, const ptx_token *name, const ptx_modifier_list *list, const instruction *guard) {
    return ptx_token_is(name, "cp") ? read_async(reader, name, list, guard) : read_mbarrier(reader, name, list, guard);
}
