/* page_checks: walks, predicated loops, and single checks */
#include "program/program_parts.h"
#include "program/page_checks.h"

#ifndef GPUMP_NO_PROGRAM

static gpump_result gpumpi_page_checks_preset(void *filled, const char *preset) {
    gpump_page_checks_config *config = (gpump_page_checks_config *)filled;
    if (strcmp(preset, "kim") && strcmp(preset, "kim_plain")) return GPUMP_ERROR_UNKNOWN_NAME;
    memset(config, 0, sizeof *config);
    config->page_bytes = 4096;
    config->bits = 4;
    config->walks = config->predicated = !preset[3];
    return GPUMP_OK;
}

enum { GPUMPI_PAGES_BITS = 8 };
/* A predicated loop: one basic block. */
typedef struct gpumpi_pages_loop {
    uint32_t block, marker;          /* marker: index of its insertion */
    uint32_t bit[GPUMPI_PAGES_BITS]; /* check predicates; bit 0 holds for all at the end */
    uint32_t bits;
} gpumpi_pages_loop;

typedef struct gpumpi_pages {
    const gpump_program *program;
    const gpump_liveness *liveness;
    const gpump_page_checks_config *config;
    gpump_page_checks_report *report;
    const gpump_allocator *allocator;
    gpumpi_insertion *insertions;
    uint32_t *widths;
    uint32_t check;    /* the predicate of single checks and walks; GPUMP_NONE until needed */
    uint32_t *in_loop; /* basic block -> predicated loop + 1, or 0 */
    gpumpi_pages_loop *loops;
    uint8_t *is_walk;       /* instruction -> 1 when it is checked as a walk (gpumpi_pages_walks) */
    uint8_t *loaded;        /* register -> 1 when its value comes from a checked load of the current predicated loop */
    uint32_t *writes, *add; /* gpumpi_pages_changes */
    /* per instruction of predicated loops */
    uint32_t *load_bit;   /* loads: which bit they set, + 1 */
    uint32_t *load_guard; /* loads: 1 when an earlier check decides whether they run */
    /* Register -> the register in which the current predicated loop keeps its next value, or GPUMP_NONE. */
    uint32_t *temporary;
    uint32_t *temporary_at;            /* instruction -> index of its first entry in renames; one more at the end */
    uint32_t *rename_from, *rename_to; /* pairs; a def is renamed when rename_def */
    uint8_t *rename_def;
} gpumpi_pages;

static int gpumpi_pages_is_access(const gpump_page_checks_config *config, const gpump_instruction *in) {
    return in->operation == GPUMP_OP_COMPUTE && in->access && !(in->flags & GPUMP_FLAG_RESIDENT) &&
           (in->space == GPUMP_SPACE_GLOBAL || in->space == GPUMP_SPACE_GENERIC ||
            (config->local && in->space == GPUMP_SPACE_LOCAL));
}
/* Returns the operand that holds the address, or GPUMP_NONE when the displacement is the address. */
static uint32_t gpumpi_pages_base(const gpump_instruction *in) {
    return in->flags & GPUMP_FLAG_NO_BASE ? GPUMP_NONE : in->uses[0];
}
static int gpumpi_pages_register(gpumpi_pages *pages, uint32_t width, uint32_t *reg) {
    *reg = (uint32_t)stbds_arrlenu(pages->widths);
    return GPUMPI_ARRAY_PUSH(pages->allocator, pages->widths, width);
}
static int gpumpi_pages_put(gpumpi_pages *pages, const gpumpi_insertion *insertion) {
    return GPUMPI_ARRAY_PUSH(pages->allocator, pages->insertions, *insertion);
}
/* defs[0] = immediate, under a guard unless GPUMP_NONE. */
static int gpumpi_pages_set(gpumpi_pages *pages, uint32_t before, uint32_t predicate, int64_t value, uint32_t guard) {
    gpumpi_insertion set = gpumpi_insertion_make(GPUMP_OP_CONSTANT, before);
    set.instruction.def_count = 1;
    set.defs[0] = predicate;
    set.instruction.immediate = value;
    set.instruction.guard = guard;
    return gpumpi_pages_put(pages, &set);
}

/* start_marker; clear; check; call: what stands before access i. */
static int gpumpi_pages_single(gpumpi_pages *pages, uint32_t i, const gpump_instruction *in) {
    gpumpi_insertion marker = gpumpi_insertion_make(GPUMP_OP_START_MARKER, i),
                     clear = gpumpi_insertion_make(GPUMP_OP_CLEAR_CHECK, i),
                     check = gpumpi_insertion_make(GPUMP_OP_CHECK, i),
                     call = gpumpi_insertion_make(GPUMP_OP_GUARDED_CALL, i);
    if (pages->check == GPUMP_NONE && !gpumpi_pages_register(pages, GPUMP_WIDTH_PREDICATE, &pages->check)) return 0;
    clear.instruction.def_count = 1;
    clear.defs[0] = pages->check;
    check.instruction.access = in->access;
    check.instruction.space = in->space;
    check.instruction.bytes = in->bytes;
    check.instruction.displacement = in->displacement;
    check.instruction.guard = in->guard;
    check.instruction.flags = in->flags & (GPUMP_FLAG_GUARD_NEGATED | GPUMP_FLAG_NO_BASE);
    check.instruction.def_count = 1;
    if (!(in->flags & GPUMP_FLAG_NO_BASE)) check.uses[check.instruction.use_count++] = in->uses[0];
    check.defs[0] = check.uses[check.instruction.use_count++] = pages->check;
    call.instruction.guard = pages->check;
    call.instruction.target = GPUMPI_NEW | (uint32_t)stbds_arrlenu(pages->insertions);
    return gpumpi_pages_put(pages, &marker) && gpumpi_pages_put(pages, &clear) && gpumpi_pages_put(pages, &check) &&
           gpumpi_pages_put(pages, &call);
}

/* 1 when every iteration of `loop` runs through basic block b. */
static int gpumpi_pages_always(const gpump_program *program, uint32_t loop, uint32_t b) {
    gpump_loop l;
    gpump_basic_block header;
    uint32_t k;
    gpump_program_loop(program, loop, &l);
    gpump_program_basic_block(program, l.header, &header);
    for (k = 0; k < header.predecessor_count; k++)
        if (gpump_program_in_loop(program, loop, header.predecessors[k]) &&
            !gpump_program_dominates(program, b, header.predecessors[k]))
            return 0;
    return 1;
}

/* Does access i walk? *step: how far in each iteration. changes: register -> its ADD when that is all that writes it in
 * its innermost loop, GPUMP_NONE when there is more. */
static int gpumpi_pages_walks(const gpumpi_pages *pages, uint32_t i, const gpump_instruction *in, int64_t *step) {
    const gpump_program *program = pages->program;
    const uint32_t *writes = pages->writes, *add = pages->add;
    uint32_t b = gpump_program_basic_block_of(program, i), reg = gpumpi_pages_base(in);
    gpump_basic_block block, where;
    gpump_loop loop;
    gpump_instruction change;
    if (!pages->config->walks || in->space == GPUMP_SPACE_LOCAL || in->guard != GPUMP_NONE ||
        reg & (GPUMP_OPERAND_PARAMETER | GPUMP_OPERAND_PAIR))
        return 0;
    gpump_program_basic_block(program, b, &block);
    if (block.loop == GPUMP_NONE || add[reg] == GPUMP_NONE) return 0;
    gpump_program_loop(program, block.loop, &loop);
    gpump_program_basic_block(program, gpump_program_basic_block_of(program, add[reg]), &where);
    if (!loop.innermost || loop.irreducible || where.loop != block.loop) return 0;
    if (writes[2 * reg] != block.loop || writes[2 * reg + 1] != 1) return 0; /* written elsewhere in this loop */
    gpump_program_instruction(program, add[reg], &change);
    *step = change.immediate;
    return change.guard == GPUMP_NONE && change.immediate && change.immediate > -(int64_t)pages->config->page_bytes &&
           change.immediate < (int64_t)pages->config->page_bytes && gpumpi_pages_always(program, block.loop, b) &&
           gpumpi_pages_always(program, block.loop, gpump_program_basic_block_of(program, add[reg]));
}

/* Before the loop: q = 1. Before the access: unless q, q = a page was entered; unless q, go on; q = 0; a single check.
 */
static int gpumpi_pages_walk(gpumpi_pages *pages, uint32_t i, const gpump_instruction *in, int64_t step, uint32_t q) {
    gpumpi_insertion entered = gpumpi_insertion_make(GPUMP_OP_PAGE_ENTERED, i),
                     skip = gpumpi_insertion_make(GPUMP_OP_BRANCH, i);
    entered.instruction.def_count = entered.instruction.use_count = 1;
    entered.defs[0] = q;
    entered.uses[0] = in->uses[0];
    entered.instruction.guard = q;
    entered.instruction.flags = GPUMP_FLAG_GUARD_NEGATED;
    entered.instruction.immediate = pages->config->page_bytes;
    entered.instruction.bytes = (uint32_t)(step < 0 ? -step : step);
    entered.instruction.displacement =
        in->displacement + (step < 0 ? -step : 0); /* downwards: the last bytes of a page, seen from above */
    skip.instruction.guard = q;
    skip.instruction.flags = GPUMP_FLAG_GUARD_NEGATED;
    skip.instruction.target = i | GPUMPI_NEW_BODY;
    return gpumpi_pages_put(pages, &entered) && gpumpi_pages_put(pages, &skip) &&
           gpumpi_pages_set(pages, i, q, 0, GPUMP_NONE) && gpumpi_pages_single(pages, i, in);
}

/* ---- predicated loops ---- */

/* 1 when basic block b can be a predicated loop: it branches to itself, touches memory only by loading, guards nothing,
 * and its condition is not carried. */
static int gpumpi_pages_can_predicate(const gpumpi_pages *pages, uint32_t b) {
    const gpump_program *program = pages->program;
    gpump_basic_block block;
    gpump_instruction in, last;
    const uint32_t *live;
    uint32_t i, k, count, loads = 0;
    if (!pages->config->predicated) return 0;
    gpump_program_basic_block(program, b, &block);
    gpump_program_instruction(program, block.first + block.count - 1, &last);
    if (last.operation != GPUMP_OP_BRANCH || last.guard == GPUMP_NONE || last.target != block.first ||
        block.successor_count < 2)
        return 0;
    for (i = block.first; i + 1 < block.first + block.count; i++) {
        gpump_program_instruction(program, i, &in);
        if (in.guard != GPUMP_NONE ||
            in.flags & ~(uint32_t)(GPUMP_FLAG_UNIFORM | GPUMP_FLAG_RESIDENT | GPUMP_FLAG_NO_BASE) ||
            in.access & GPUMP_ACCESS_WRITE || in.def_count > 14)
            return 0;
        if (in.operation != GPUMP_OP_COMPUTE && in.operation != GPUMP_OP_MOVE && in.operation != GPUMP_OP_CONSTANT &&
            in.operation != GPUMP_OP_PARAMETER && in.operation != GPUMP_OP_ADD)
            return 0;
        for (k = 0; k < in.def_count + in.use_count; k++)
            if ((k < in.def_count ? in.defs[k] : in.uses[k - in.def_count]) & GPUMP_OPERAND_PAIR &&
                !((k < in.def_count ? in.defs[k] : in.uses[k - in.def_count]) & GPUMP_OPERAND_PARAMETER))
                return 0;
        loads += (uint32_t)gpumpi_pages_is_access(pages->config, &in);
    }
    gpumpi_liveness_block_in(pages->liveness, b, &live, &count);
    for (k = 0; k < count; k++)
        if (live[k] == last.guard) return 0;
    for (i = block.first, k = 0; i < block.first + block.count; i++) { /* the condition must be made in the block */
        gpump_program_instruction(program, i, &in);
        k |= in.def_count && in.defs[0] == last.guard;
    }
    return loads && k;
}

/* Gives each checked load of a predicated loop its bit: one of its own while there are bits, as long as its address is
 * not loaded itself. Returns how many bits are used, at least 1. */
static uint32_t gpumpi_pages_give_bits(gpumpi_pages *pages, const gpump_basic_block *block) {
    uint8_t *loaded = pages->loaded;
    uint32_t i, k, used = 0;
    memset(loaded, 0, gpumpi_program_registers(pages->program));
    for (i = block->first; i < block->first + block->count; i++) {
        gpump_instruction in;
        int depends = 0;
        gpump_program_instruction(pages->program, i, &in);
        for (k = 0; k < in.use_count; k++) depends |= !(in.uses[k] & GPUMP_OPERAND_PARAMETER) && loaded[in.uses[k]];
        if (gpumpi_pages_is_access(pages->config, &in) && !pages->is_walk[i]) {
            uint32_t address = gpumpi_pages_base(&in), bit = used < pages->config->bits ? used : 0;
            pages->load_guard[i] = used && !(address & GPUMP_OPERAND_PARAMETER) && loaded[address];
            if (pages->load_guard[i]) bit = 0;
            if (used < pages->config->bits && !pages->load_guard[i]) used++;
            pages->load_bit[i] = bit + 1;
            pages->report->predicated++;
            depends = 1;
        } else if (in.access) /* guarded when an operand comes from a checked load, which may not have been done */
            pages->load_guard[i] = (uint32_t)depends;
        for (k = 0; k < in.def_count; k++) loaded[in.defs[k]] = (uint8_t)depends;
    }
    return used ? used : 1;
}

/* At the start of an iteration: the marker, to which the handler returns, and all bits cleared. */
static int gpumpi_pages_begin_iteration(gpumpi_pages *pages, const gpump_basic_block *block,
                                        const gpumpi_pages_loop *loop) {
    gpumpi_insertion insertion = gpumpi_insertion_make(GPUMP_OP_START_MARKER, block->first);
    uint32_t k;
    insertion.entry_loop = block->loop;
    if (!gpumpi_pages_put(pages, &insertion)) return 0;
    for (k = 0; k < loop->bits; k++) {
        insertion = gpumpi_insertion_make(GPUMP_OP_CLEAR_CHECK, block->first);
        insertion.entry_loop = block->loop;
        insertion.instruction.def_count = 1;
        insertion.defs[0] = loop->bit[k];
        if (!gpumpi_pages_put(pages, &insertion)) return 0;
    }
    return 1;
}

/* Gathers all bits in bit 0 before instruction i. */
static int gpumpi_pages_gather(gpumpi_pages *pages, const gpumpi_pages_loop *loop, uint32_t i) {
    uint32_t k;
    for (k = 1; k < loop->bits; k++)
        if (!gpumpi_pages_set(pages, i, loop->bit[0], 1, loop->bit[k])) return 0;
    return 1;
}

/* Instruction i of the current predicated loop names `to` instead of `from`. */
static int gpumpi_pages_rename(gpumpi_pages *pages, uint32_t from, uint32_t to, uint8_t is_def) {
    return GPUMPI_ARRAY_PUSH(pages->allocator, pages->rename_from, from) &&
           GPUMPI_ARRAY_PUSH(pages->allocator, pages->rename_to, to) &&
           GPUMPI_ARRAY_PUSH(pages->allocator, pages->rename_def, is_def);
}

/* What the next iteration reads is written to temporaries, so that an iteration that faulted has changed nothing. */
static int gpumpi_pages_use_temporaries(gpumpi_pages *pages, const gpump_basic_block *block,
                                        const gpumpi_pages_loop *loop, const uint32_t *live, uint32_t count) {
    const gpump_program *program = pages->program;
    uint32_t *temporary = pages->temporary, i, k, n;
    for (k = 0; k < gpumpi_program_registers(program); k++) temporary[k] = GPUMP_NONE;
    for (i = block->first; i < block->first + block->count; i++) {
        gpump_instruction in;
        pages->temporary_at[i] = (uint32_t)stbds_arrlenu(pages->rename_from);
        gpump_program_instruction(program, i, &in);
        if (pages->load_guard[i] && !gpumpi_pages_gather(pages, loop, i)) /* it follows what was loaded */
            return 0;
        for (k = 0; k < in.use_count; k++)
            if (!(in.uses[k] & GPUMP_OPERAND_PARAMETER) && temporary[in.uses[k]] != GPUMP_NONE &&
                !gpumpi_pages_rename(pages, in.uses[k], temporary[in.uses[k]], 0))
                return 0;
        for (k = 0; k < in.def_count; k++) {
            uint32_t def = in.defs[k];
            for (n = 0; n < count && live[n] != def; n++) {}
            if (n == count) continue; /* not carried into the next iteration */
            if (temporary[def] == GPUMP_NONE &&
                !gpumpi_pages_register(pages, gpump_program_width(program, def), &temporary[def]))
                return 0;
            if (!gpumpi_pages_rename(pages, def, temporary[def], 1)) return 0;
        }
    }
    return 1;
}

/* At the end of an iteration: when nothing faulted, the temporaries become the values of the next one; else the handler
 * is called, and the iteration begins again. */
static int gpumpi_pages_end_iteration(gpumpi_pages *pages, const gpump_basic_block *block,
                                      const gpumpi_pages_loop *loop, const uint32_t *live, uint32_t count) {
    uint32_t at = block->first + block->count - 1, k;
    gpump_instruction last;
    gpumpi_insertion call;
    gpump_program_instruction(pages->program, at, &last);
    if (!gpumpi_pages_gather(pages, loop, at)) return 0;
    for (k = 0; k < count; k++) {
        gpumpi_insertion move = gpumpi_insertion_make(GPUMP_OP_MOVE, at);
        if (pages->temporary[live[k]] == GPUMP_NONE) continue;
        move.instruction.def_count = move.instruction.use_count = 1;
        move.defs[0] = live[k];
        move.uses[0] = pages->temporary[live[k]];
        move.instruction.guard = loop->bit[0];
        move.instruction.flags = GPUMP_FLAG_GUARD_NEGATED;
        if (!gpumpi_pages_put(pages, &move)) return 0;
    }
    if (!gpumpi_pages_set(pages, at, last.guard, (last.flags & GPUMP_FLAG_GUARD_NEGATED) != 0, loop->bit[0])) return 0;
    call = gpumpi_insertion_make(GPUMP_OP_GUARDED_CALL, at + 1);
    call.after_previous = 1;
    call.instruction.guard = loop->bit[0];
    call.instruction.target = GPUMPI_NEW | loop->marker;
    return gpumpi_pages_put(pages, &call);
}

/* Makes basic block b a predicated loop: each load checks itself, and one guarded call at the end handles the faults of
 * the whole iteration. */
static int gpumpi_pages_predicate(gpumpi_pages *pages, uint32_t b) {
    gpumpi_pages_loop loop;
    gpump_basic_block block;
    const uint32_t *live;
    uint32_t count, used;
    gpump_program_basic_block(pages->program, b, &block);
    memset(&loop, 0, sizeof loop);
    loop.block = b;
    loop.marker = (uint32_t)stbds_arrlenu(pages->insertions);
    used = gpumpi_pages_give_bits(pages, &block);
    for (loop.bits = 0; loop.bits < used; loop.bits++)
        if (!gpumpi_pages_register(pages, GPUMP_WIDTH_PREDICATE, &loop.bit[loop.bits])) return 0;
    gpumpi_liveness_block_in(pages->liveness, b, &live, &count);
    if (!gpumpi_pages_begin_iteration(pages, &block, &loop) ||
        !gpumpi_pages_use_temporaries(pages, &block, &loop, live, count) ||
        !gpumpi_pages_end_iteration(pages, &block, &loop, live, count) ||
        !GPUMPI_ARRAY_PUSH(pages->allocator, pages->loops, loop))
        return 0;
    pages->report->loops++;
    pages->in_loop[b] = (uint32_t)stbds_arrlenu(pages->loops);
    return 1;
}

static int gpumpi_pages_rewrite(void *user, uint32_t index, gpump_instruction *in, uint32_t *scratch) {
    const gpumpi_pages *pages = (const gpumpi_pages *)user;
    uint32_t b = gpump_program_basic_block_of(pages->program, index), k, e;
    const gpumpi_pages_loop *loop;
    if (!pages->in_loop[b]) return 1;
    loop = &pages->loops[pages->in_loop[b] - 1];
    for (k = 0; k < in->def_count; k++) scratch[k] = in->defs[k];
    for (k = 0; k < in->use_count; k++) scratch[16 + k] = in->uses[k];
    for (e = pages->temporary_at[index]; e < pages->temporary_at[index + 1]; e++) {
        for (k = 0; k < in->def_count && pages->rename_def[e]; k++)
            if (in->defs[k] == pages->rename_from[e]) scratch[k] = pages->rename_to[e];
        for (k = 0; k < in->use_count && !pages->rename_def[e]; k++)
            if (in->uses[k] == pages->rename_from[e]) scratch[16 + k] = pages->rename_to[e];
    }
    if (pages->load_bit[index]) {
        uint32_t bit = loop->bit[pages->load_bit[index] - 1];
        in->flags |= GPUMP_FLAG_CHECKED;
        scratch[in->def_count++] = bit;
        scratch[16 + in->use_count++] = bit;
    }
    if (pages->load_guard[index]) {
        in->guard = loop->bit[0];
        in->flags |= GPUMP_FLAG_GUARD_NEGATED;
    }
    in->defs = scratch;
    in->uses = scratch + 16;
    return 1;
}

/* Writes of each register per innermost loop: writes[2r] the loop last seen, writes[2r + 1] how often; add[r]: an ADD r
 * = r
 * + step. */
static void gpumpi_pages_changes(const gpump_program *program, uint32_t *writes, uint32_t *add) {
    uint32_t i, k, r;
    for (r = 0; r < gpumpi_program_registers(program); r++) {
        add[r] = writes[2 * r] = GPUMP_NONE;
        writes[2 * r + 1] = 0;
    }
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_basic_block block;
        gpump_loop loop;
        gpump_program_instruction(program, i, &in);
        gpump_program_basic_block(program, gpump_program_basic_block_of(program, i), &block);
        if (block.loop == GPUMP_NONE) continue;
        gpump_program_loop(program, block.loop, &loop);
        if (!loop.innermost) continue;
        for (k = 0; k < in.def_count; k++)
            GPUMPI_OPERAND_REGISTERS(in.defs[k], reg, {
                if (writes[2 * reg] == GPUMP_NONE || writes[2 * reg] == block.loop) {
                    writes[2 * reg] = block.loop;
                    writes[2 * reg + 1]++;
                } else
                    writes[2 * reg + 1] = 1000; /* several innermost loops change it */
                if (in.operation == GPUMP_OP_ADD && in.uses[0] == in.defs[k]) add[reg] = i;
            });
    }
}

static int gpumpi_pages_compare(const void *a, const void *b) {
    const uint32_t *x = (const uint32_t *)a, *y = (const uint32_t *)b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

/* Returns GPUMP_OK, or the error of an argument that gpump_page_checks_insert refuses. */
static gpump_result gpumpi_pages_refuse(const gpump_program *program, const gpump_page_checks_config *config,
                                        int has_result, gpump_diag *diag) {
    uint32_t i;
    if (!program || !config || !has_result)
        return gpumpi_bad_argument(diag, "program, config or result", 0, 0, 1, UINT64_MAX);
    if (!gpumpi_program_basic_blocks(program)) return gpumpi_program_unfinished(diag);
    if (config->page_bytes < 16 || config->page_bytes & (config->page_bytes - 1) ||
        config->page_bytes > UINT32_C(1) << 30)
        return gpumpi_bad_config(diag, "page_bytes (a power of two)", 0, config->page_bytes, 16, UINT32_C(1) << 30);
    if (config->bits < 1 || config->bits > GPUMPI_PAGES_BITS)
        return gpumpi_bad_config(diag, "bits", 0, config->bits, 1, GPUMPI_PAGES_BITS);
    for (i = 0; i < gpumpi_program_instructions(program); i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        if (gpumpi_pages_is_access(config, &in) &&
            ((!in.use_count && !(in.flags & GPUMP_FLAG_NO_BASE)) || (in.flags & GPUMP_FLAG_CHECKED)))
            return gpumpi_bad_argument(diag, "uses", i, in.use_count, 1, 64);
    }
    return GPUMP_OK;
}

/* Checks access i, a walk of `loop`, once per page. A new predicate tells whether the page was checked; it is set at
 * the loop's entry. 1 done, 0 out of memory. */
static int gpumpi_pages_walk_entered(gpumpi_pages *pages, uint32_t i, const gpump_instruction *in, int64_t step,
                                     uint32_t innermost) {
    gpumpi_insertion entry;
    gpump_loop loop;
    gpump_basic_block header;
    uint32_t q;
    gpump_program_loop(pages->program, innermost, &loop);
    gpump_program_basic_block(pages->program, loop.header, &header);
    entry = gpumpi_insertion_make(GPUMP_OP_CONSTANT, header.first);
    entry.entry_loop = innermost;
    if (!gpumpi_pages_register(pages, GPUMP_WIDTH_PREDICATE, &q)) return 0;
    entry.instruction.def_count = 1;
    entry.instruction.immediate = 1;
    entry.defs[0] = q;
    return gpumpi_pages_put(pages, &entry) && gpumpi_pages_walk(pages, i, in, step, q);
}

/* Makes the new program from pages->insertions. Sorts them by place: behind the previous instruction, at a loop's
 * entry, then the rest. Branch targets among the insertions follow. */
static gpump_result gpumpi_pages_apply(gpumpi_pages *pages, gpumpi_arena *scratch, gpump_program **checked,
                                       gpump_diag *diag) {
    gpumpi_edit edit;
    gpumpi_insertion *sorted;
    uint32_t n = (uint32_t)stbds_arrlenu(pages->insertions), i, k, *keys, *place;
    if (!GPUMPI_ARENA_NEW(scratch, keys, (size_t)n * 2) || !GPUMPI_ARENA_NEW(scratch, place, n) ||
        !GPUMPI_ARENA_NEW(scratch, sorted, n))
        return GPUMP_ERROR_MEMORY;
    for (i = 0; i < n; i++) {
        const gpumpi_insertion *x = &pages->insertions[i];
        keys[2 * i] = 3 * x->before + (x->after_previous ? 0 : x->entry_loop != GPUMP_NONE ? 1u : 2u);
        keys[2 * i + 1] = i;
    }
    qsort(keys, n, 2 * sizeof *keys, gpumpi_pages_compare);
    for (i = 0; i < n; i++) place[keys[2 * i + 1]] = i;
    for (i = 0; i < n; i++) {
        sorted[i] = pages->insertions[keys[2 * i + 1]];
        k = sorted[i].instruction.target;
        if (k != GPUMP_NONE && k & GPUMPI_NEW) sorted[i].instruction.target = GPUMPI_NEW | place[k & ~GPUMPI_NEW];
    }
    memset(&edit, 0, sizeof edit);
    edit.program = pages->program;
    edit.insertions = sorted;
    edit.insertion_count = n;
    edit.rewrite = gpumpi_pages_rewrite;
    edit.user = pages;
    edit.widths = pages->widths;
    edit.registers = (uint32_t)stbds_arrlenu(pages->widths);
    return gpumpi_program_edit(&edit, checked, diag);
}

/* Checks the accesses of one basic block, each in the form that suits it. */
static int gpumpi_pages_block(gpumpi_pages *pages, uint32_t b) {
    gpump_basic_block block;
    gpump_instruction in;
    int64_t step = 0;
    int any = 0;
    uint32_t i;
    gpump_program_basic_block(pages->program, b, &block);
    for (i = block.first; i < block.first + block.count; i++) {
        pages->temporary_at[i] = (uint32_t)stbds_arrlenu(pages->rename_from);
        gpump_program_instruction(pages->program, i, &in);
        if (!gpumpi_pages_is_access(pages->config, &in)) continue;
        pages->report->accesses++;
        pages->is_walk[i] = (uint8_t)gpumpi_pages_walks(pages, i, &in, &step);
        any |= !pages->is_walk[i];
    }
    if (any && gpumpi_pages_can_predicate(pages, b)) {
        /* Walks in it check themselves as well: a call within would break the block. */
        for (i = block.first; i < block.first + block.count; i++) pages->is_walk[i] = 0;
        return gpumpi_pages_predicate(pages, b);
    }
    for (i = block.first; i < block.first + block.count; i++) {
        gpump_program_instruction(pages->program, i, &in);
        if (!gpumpi_pages_is_access(pages->config, &in)) continue;
        if (gpumpi_pages_walks(pages, i, &in, &step)) {
            if (!gpumpi_pages_walk_entered(pages, i, &in, step, block.loop)) return 0;
            pages->report->walks++;
        } else {
            if (!gpumpi_pages_single(pages, i, &in)) return 0;
            pages->report->plain++;
        }
    }
    return 1;
}

/* Makes the tables of a program. */
static int gpumpi_pages_start(gpumpi_pages *pages, gpumpi_arena *arena) {
    const gpump_program *program = pages->program;
    uint32_t instructions = gpumpi_program_instructions(program), registers = gpumpi_program_registers(program), i;
    if (!GPUMPI_ARENA_NEW(arena, pages->in_loop, gpumpi_program_basic_blocks(program)) ||
        !GPUMPI_ARENA_NEW(arena, pages->load_bit, instructions) ||
        !GPUMPI_ARENA_NEW(arena, pages->load_guard, instructions) ||
        !GPUMPI_ARENA_NEW(arena, pages->temporary, registers) ||
        !GPUMPI_ARENA_NEW(arena, pages->temporary_at, (size_t)instructions + 1) ||
        !GPUMPI_ARENA_NEW(arena, pages->writes, (size_t)registers * 2) ||
        !GPUMPI_ARENA_NEW(arena, pages->add, registers) || !GPUMPI_ARENA_NEW(arena, pages->loaded, registers) ||
        !GPUMPI_ARENA_NEW(arena, pages->is_walk, instructions))
        return 0;
    for (i = 0; i < registers; i++)
        if (!GPUMPI_ARRAY_PUSH(pages->allocator, pages->widths, gpump_program_width(program, i))) return 0;
    gpumpi_pages_changes(program, pages->writes, pages->add);
    return 1;
}

GPUMP_API gpump_result gpump_page_checks_insert(const gpump_program *program, const gpump_page_checks_config *config,
                                                gpump_program **checked, gpump_page_checks_report *report,
                                                gpump_diag *diag) {
    gpumpi_arena scratch;
    gpumpi_pages pages;
    gpump_liveness *liveness = NULL;
    gpump_page_checks_report found;
    uint32_t b;
    gpump_result result;
    result = gpumpi_pages_refuse(program, config, checked != NULL, diag);
    if (result != GPUMP_OK) return result;
    scratch = gpumpi_arena_make(gpumpi_program_allocator(program));
    memset(&pages, 0, sizeof pages);
    memset(&found, 0, sizeof found);
    result = gpump_liveness_create(program, gpumpi_program_allocator(program), &liveness);
    if (result != GPUMP_OK) goto end;
    result = GPUMP_ERROR_MEMORY;
    pages.program = program;
    pages.liveness = liveness;
    pages.config = config;
    pages.report = &found;
    pages.allocator = gpumpi_program_allocator(program);
    pages.check = GPUMP_NONE;
    if (!gpumpi_pages_start(&pages, &scratch)) goto end;
    for (b = 0; b < gpumpi_program_basic_blocks(program); b++)
        if (!gpumpi_pages_block(&pages, b)) goto end;
    pages.temporary_at[gpumpi_program_instructions(program)] = (uint32_t)stbds_arrlenu(pages.rename_from);
    result = gpumpi_pages_apply(&pages, &scratch, checked, diag);
    if (result == GPUMP_OK && report) *report = found;
end:
    if (result == GPUMP_ERROR_MEMORY) gpumpi_fail_at(diag, result, "program", 0);
    GPUMPI_ARRAY_FREE(pages.allocator, pages.insertions);
    GPUMPI_ARRAY_FREE(pages.allocator, pages.widths);
    GPUMPI_ARRAY_FREE(pages.allocator, pages.loops);
    GPUMPI_ARRAY_FREE(pages.allocator, pages.rename_from);
    GPUMPI_ARRAY_FREE(pages.allocator, pages.rename_to);
    GPUMPI_ARRAY_FREE(pages.allocator, pages.rename_def);
    gpump_liveness_destroy(liveness);
    gpumpi_arena_free(&scratch);
    return result;
}
/* clang-format off */
static const gpumpi_methods gpumpi_page_checks_hooks = {
    "page_checks", "program", 0,
    GPUMP_LAYOUT_PROGRAM, sizeof(gpump_page_checks_config), 0, 0,
    0, NULL, 0,
    /* preset, check_config, bytes, bits, tables */
    gpumpi_page_checks_preset, NULL, NULL, NULL, NULL,
    /* set_up, unfit, check, hash */
    NULL, NULL, NULL, NULL,
    /* preset_for, next_cycle, copy_statistics */
    NULL, NULL, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_page_checks_methods(void) { return &gpumpi_page_checks_hooks; }
#endif
