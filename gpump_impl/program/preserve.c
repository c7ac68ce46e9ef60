/* preserve: keeps the live-in registers of idempotent regions (iGPU 3.2, state preservation); declared in regions.h */
#include "program/program_parts.h"
#include "program/regions.h"

#ifndef GPUMP_NO_PROGRAM

/* ---- renaming: a register that is live across a boundary and written behind it becomes two, with a move behind the
 * boundary ---- */

/* Pieces: runs of instructions within one basic block, cut where a region starts, so that a BOUNDARY is always a
 * piece's first instruction. A register's value has three nodes in piece k: as it arrives there (behind the boundary's
 * predecessors), as it enters the piece, and as it leaves. Nodes joined by control flow within a region are one web and
 * keep one name. */
typedef struct gpumpi_preserve_conflict {
    uint32_t web, other;
} gpumpi_preserve_conflict;
enum { GPUMPI_ARRIVES = 0, GPUMPI_ENTERS = 1, GPUMPI_LEAVES = 2 };
typedef struct gpumpi_preserve {
    const gpump_program *program;
    const uint8_t *start;
    uint32_t pieces, *first, *piece_of; /* piece -> first instruction, one more at the end; instruction -> piece */
    gpumpi_graph graph;                 /* of pieces */
    uint32_t *seen_start, *seen;        /* register -> instructions that mention it, ascending */
    /* of the register at hand; entries count where their mark is mark */
    uint32_t mark, *enters, *leaves, *kills, *region, *stack;
    uint32_t *set;  /* union-find over 3 * piece + node */
    uint32_t *list; /* pieces with a node, in order of piece */
    uint32_t listed;
    uint32_t *listed_mark, *mention; /* piece -> its first entry in seen[], where mention_mark says so */
    uint32_t *mention_mark, *color, *color_mark;
    gpumpi_preserve_conflict *conflicts; /* both ways round; sorted by web before names are chosen */
    uint32_t regions;                    /* last mark in region[] */
    /* the result */
    gpumpi_insertion *moves;
    uint32_t *name_at, *name_reg, *name_use, *name_def; /* instruction, register, its names as use and as def */
    uint32_t *widths;
} gpumpi_preserve;

static uint32_t gpumpi_preserve_find(gpumpi_preserve *p, uint32_t x) {
    while (p->set[x] != x) x = p->set[x] = p->set[p->set[x]];
    return x;
}
static GPUMPI_CALLED void gpumpi_preserve_join(gpumpi_preserve *p, uint32_t a, uint32_t b) {
    a = gpumpi_preserve_find(p, a);
    b = gpumpi_preserve_find(p, b);
    if (a < b)
        p->set[b] = a;
    else
        p->set[a] = b;
}
static uint32_t gpumpi_preserve_node(uint32_t piece, uint32_t kind) { return 3 * piece + kind; }
static GPUMPI_CALLED void gpumpi_preserve_list(gpumpi_preserve *p, uint32_t piece) {
    uint32_t k;
    if (p->listed_mark[piece] == p->mark) return;
    p->listed_mark[piece] = p->mark;
    p->list[p->listed++] = piece;
    for (k = 0; k < 3; k++) p->set[3 * piece + k] = 3 * piece + k;
}

static int gpumpi_preserve_make_pieces(gpumpi_preserve *p, gpumpi_arena *scratch) {
    const gpump_program *program = p->program;
    uint32_t instructions = gpumpi_program_instructions(program), registers = gpumpi_program_registers(program), b, i,
             k, edges = 0, *from, *to, *key = NULL, *value = NULL;
    const gpump_allocator *allocator = &scratch->allocator;
    uint32_t **const per_piece[] = {&p->enters, &p->leaves,      &p->kills,   &p->region,      &p->stack,
                                    &p->list,   &p->listed_mark, &p->mention, &p->mention_mark};
    int ok = 1;
    if (!GPUMPI_ARENA_NEW(scratch, p->first, (size_t)instructions + 1) ||
        !GPUMPI_ARENA_NEW(scratch, p->piece_of, instructions) ||
        !GPUMPI_ARENA_NEW(scratch, from, (size_t)instructions * 2) ||
        !GPUMPI_ARENA_NEW(scratch, to, (size_t)instructions * 2))
        return 0;
    for (b = 0; b < gpumpi_program_basic_blocks(program); b++) {
        gpump_basic_block block;
        gpump_program_basic_block(program, b, &block);
        for (i = block.first; i < block.first + block.count; i++) {
            if (i == block.first || p->start[i]) p->first[p->pieces++] = i;
            p->piece_of[i] = p->pieces - 1;
        }
    }
    p->first[p->pieces] = instructions;
    for (b = 0; b < gpumpi_program_basic_blocks(program); b++) {
        gpump_basic_block block, next;
        gpump_program_basic_block(program, b, &block);
        for (i = p->piece_of[block.first]; i < p->piece_of[block.first + block.count - 1]; i++) {
            from[edges] = i;
            to[edges++] = i + 1;
        }
        for (k = 0; k < block.successor_count; k++) {
            gpump_program_basic_block(program, block.successors[k], &next);
            from[edges] = i;
            to[edges++] = p->piece_of[next.first];
        }
    }
    if (!gpumpi_graph_build(scratch, &p->graph, p->pieces, from, to, edges)) return 0;
    for (i = 0; i < instructions && ok; i++) {
        gpump_instruction in;
        gpump_program_instruction(program, i, &in);
        for (k = 0; k <= in.def_count + in.use_count && ok; k++) {
            uint32_t operand = k < in.def_count                  ? in.defs[k]
                               : k < in.def_count + in.use_count ? in.uses[k - in.def_count]
                                                                 : in.guard;
            if (operand == GPUMP_NONE) continue;
            GPUMPI_OPERAND_REGISTERS(operand, reg,
                                     ok = ok && GPUMPI_ARRAY_PUSH(allocator, key, reg) &&
                                          GPUMPI_ARRAY_PUSH(allocator, value, i));
        }
    }
    ok = ok && gpumpi_group(scratch, registers, key, value, stbds_arrlenu(value), &p->seen_start, &p->seen);
    GPUMPI_ARRAY_FREE(allocator, key);
    GPUMPI_ARRAY_FREE(allocator, value);
    for (k = 0; k < sizeof per_piece / sizeof *per_piece; k++)
        ok = ok && GPUMPI_ARENA_NEW(scratch, *per_piece[k], p->pieces);
    return ok && GPUMPI_ARENA_NEW(scratch, p->set, (size_t)p->pieces * 3) &&
           GPUMPI_ARENA_NEW(scratch, p->color, (size_t)p->pieces * 3) &&
           GPUMPI_ARENA_NEW(scratch, p->color_mark, (size_t)p->pieces * 3);
}

/* How an instruction touches a register: reads, writes whole, writes in part; alone: not as half of a pair. */
static void gpumpi_preserve_touch(const gpump_instruction *in, uint32_t reg, int *reads, int *writes, int *alone) {
    uint32_t k;
    *reads = in->guard == reg;
    *writes = 0;
    for (k = 0; k < in->use_count; k++)
        GPUMPI_OPERAND_REGISTERS(
            in->uses[k], r, if (r == reg) {
                *reads = 1;
                *alone &= !(in->uses[k] & GPUMP_OPERAND_PAIR);
            });
    for (k = 0; k < in->def_count; k++)
        GPUMPI_OPERAND_REGISTERS(
            in->defs[k], r, if (r == reg) {
                *writes = 1;
                *alone &= !(in->defs[k] & GPUMP_OPERAND_PAIR);
            });
}

/* 1 when a write of `reg` leaves nothing of its old value. A check's predicate is one operand, read and written: it
 * keeps one name. */
static int gpumpi_preserve_kills(const gpump_instruction *in, uint32_t reg) {
    int is_check = in->operation == GPUMP_OP_CHECK || (in->flags & GPUMP_FLAG_CHECKED);
    return gpumpi_kills(in) && !(is_check && in->defs[in->def_count - 1] == reg);
}

/* The webs of one register. 0: it takes part in pairs and stays as it is. */
static int gpumpi_preserve_webs(gpumpi_preserve *p, uint32_t reg) {
    uint32_t at, k, e, top = 0, last = GPUMP_NONE;
    p->mark++;
    p->listed = 0;
    for (at = p->seen_start[reg]; at < p->seen_start[reg + 1];
         at++) { /* what each piece does to it, first mention first */
        gpump_instruction in;
        int reads, writes, alone = 1;
        uint32_t piece = p->piece_of[p->seen[at]];
        if (p->seen[at] == last) continue;
        last = p->seen[at];
        gpump_program_instruction(p->program, last, &in);
        gpumpi_preserve_touch(&in, reg, &reads, &writes, &alone);
        if (!alone) return 0;
        gpumpi_preserve_list(p, piece);
        if (p->mention_mark[piece] != p->mark) {
            p->mention_mark[piece] = p->mark;
            p->mention[piece] = at;
        }
        if (reads && p->kills[piece] != p->mark && p->enters[piece] != p->mark)
            p->enters[p->stack[top++] = piece] = p->mark;
        if (writes && gpumpi_preserve_kills(&in, reg)) p->kills[piece] = p->mark;
    }
    while (top) { /* live ranges, upwards; a guarded write lets the old value through */
        uint32_t piece = p->stack[--top];
        for (e = p->graph.pred_start[piece]; e < p->graph.pred_start[piece + 1]; e++) {
            uint32_t from = p->graph.pred[e];
            gpumpi_preserve_list(p, from);
            p->leaves[from] = p->mark;
            if (p->kills[from] != p->mark && p->enters[from] != p->mark) p->enters[p->stack[top++] = from] = p->mark;
        }
    }
    for (k = 0; k < p->listed; k++) {
        uint32_t piece = p->list[k];
        if (p->kills[piece] != p->mark)
            gpumpi_preserve_join(p, gpumpi_preserve_node(piece, GPUMPI_ENTERS),
                                 gpumpi_preserve_node(piece, GPUMPI_LEAVES));
        if (p->leaves[piece] != p->mark) continue;
        for (e = p->graph.succ_start[piece]; e < p->graph.succ_start[piece + 1]; e++) {
            uint32_t to = p->graph.succ[e];
            if (p->enters[to] != p->mark) continue;
            gpumpi_preserve_join(p, gpumpi_preserve_node(piece, GPUMPI_LEAVES),
                                 gpumpi_preserve_node(to, p->start[p->first[to]] ? GPUMPI_ARRIVES : GPUMPI_ENTERS));
        }
    }
    return 1;
}

/* The webs that the region starting at piece `from` writes must not have the name that arrives there. */
static int gpumpi_preserve_conflicts(gpumpi_preserve *p, uint32_t reg, uint32_t from,
                                     const gpump_allocator *allocator) {
    uint32_t top = 0, e, at, last = GPUMP_NONE, mark = ++p->regions;
    p->region[p->stack[top++] = from] = mark;
    while (top) {
        uint32_t piece = p->stack[--top];
        if (p->mention_mark[piece] == p->mark) {
            int killed = 0;
            for (at = p->mention[piece]; at < p->seen_start[reg + 1] && p->piece_of[p->seen[at]] == piece; at++) {
                gpump_instruction in;
                gpumpi_preserve_conflict conflict;
                int reads, writes, alone = 1;
                if (p->seen[at] == last) continue;
                last = p->seen[at];
                gpump_program_instruction(p->program, last, &in);
                gpumpi_preserve_touch(&in, reg, &reads, &writes, &alone);
                if (!writes) continue;
                killed |= gpumpi_preserve_kills(&in, reg);
                conflict.web = gpumpi_preserve_find(p, gpumpi_preserve_node(from, GPUMPI_ARRIVES));
                conflict.other =
                    gpumpi_preserve_find(p, gpumpi_preserve_node(piece, killed ? GPUMPI_LEAVES : GPUMPI_ENTERS));
                if (conflict.web == conflict.other) continue; /* gpumpi_preserve_copy handles it */
                if (!GPUMPI_ARRAY_PUSH(allocator, p->conflicts, conflict)) return 0;
                e = conflict.web;
                conflict.web = conflict.other;
                conflict.other = e;
                if (!GPUMPI_ARRAY_PUSH(allocator, p->conflicts, conflict)) return 0;
            }
        }
        for (e = p->graph.succ_start[piece]; e < p->graph.succ_start[piece + 1]; e++) {
            uint32_t to = p->graph.succ[e];
            if (p->start[p->first[to]] || p->region[to] == mark) continue;
            p->region[p->stack[top++] = to] = mark;
        }
    }
    return 1;
}

static int gpumpi_preserve_by_web(const void *a, const void *b) {
    const gpumpi_preserve_conflict *x = (const gpumpi_preserve_conflict *)a, *y = (const gpumpi_preserve_conflict *)b;
    if (x->web != y->web) return x->web < y->web ? -1 : 1;
    return x->other < y->other ? -1 : x->other > y->other;
}

/* The name of a web: color 0 is the register itself, others are fresh registers made on the way. */
static uint32_t gpumpi_preserve_color(gpumpi_preserve *p, uint32_t web, uint32_t wanted) {
    uint32_t color = wanted, k, tries, first = 0, end = (uint32_t)stbds_arrlenu(p->conflicts);
    if (p->color_mark[web] == p->mark) return p->color[web];
    while (first < end) { /* its conflicts begin at first */
        k = first + (end - first) / 2;
        if (p->conflicts[k].web < web)
            first = k + 1;
        else
            end = k;
    }
    for (tries = 0;; tries++) { /* the wanted one first, then 0, 1, ... */
        int taken = 0;
        if (tries) color = tries - 1;
        for (k = first; k < stbds_arrlenu(p->conflicts) && p->conflicts[k].web == web; k++) {
            uint32_t other = p->conflicts[k].other;
            taken |= p->color_mark[other] == p->mark && p->color[other] == color;
        }
        if (!taken) break;
    }
    p->color_mark[web] = p->mark;
    return p->color[web] = color;
}

static uint32_t gpumpi_preserve_name(gpumpi_preserve *p, uint32_t reg, uint32_t *fresh, uint32_t fresh_count,
                                     uint32_t web) {
    uint32_t color = gpumpi_preserve_color(p, gpumpi_preserve_find(p, web), 0);
    (void)fresh_count;
    return color ? fresh[color - 1] : reg;
}

/* Renames one register: colors its webs, notes the names and the moves. */
static int gpumpi_preserve_rename(gpumpi_preserve *p, uint32_t reg, gpump_regions_report *report,
                                  const gpump_allocator *allocator) {
    uint32_t k, i, last = GPUMP_NONE, colors = 0, *fresh = NULL;
    int ok = 1;
    for (k = 0; k < p->listed; k++) { /* in the order of the list, which begins with the first mention */
        uint32_t piece = p->list[k], node, web;
        for (node = 0; node < 3; node++) {
            uint32_t wanted = 0;
            web = gpumpi_preserve_find(p, gpumpi_preserve_node(piece, node));
            if (node == GPUMPI_ENTERS && p->start[p->first[piece]] && p->enters[piece] == p->mark)
                wanted =
                    gpumpi_preserve_color(p, gpumpi_preserve_find(p, gpumpi_preserve_node(piece, GPUMPI_ARRIVES)), 0);
            web = gpumpi_preserve_color(p, web, wanted);
            if (web > colors) colors = web;
        }
    }
    for (i = 0; i < colors && ok; i++) {
        ok = GPUMPI_ARRAY_PUSH(allocator, fresh, (uint32_t)stbds_arrlenu(p->widths)) &&
             GPUMPI_ARRAY_PUSH(allocator, p->widths, gpump_program_width(p->program, reg));
    }
    for (k = p->seen_start[reg]; k < p->seen_start[reg + 1] && ok && colors; k++) {
        gpump_instruction in;
        int reads, writes, alone = 1;
        uint32_t piece, use, def;
        i = p->seen[k];
        if (i == last) continue;
        piece = p->piece_of[i];
        if (last == GPUMP_NONE || p->piece_of[last] != piece)
            p->region[piece] = 0; /* from here on region[] says whether the piece has killed it */
        last = i;
        gpump_program_instruction(p->program, i, &in);
        gpumpi_preserve_touch(&in, reg, &reads, &writes, &alone);
        use = gpumpi_preserve_name(p, reg, fresh, colors,
                                   gpumpi_preserve_node(piece, p->region[piece] ? GPUMPI_LEAVES : GPUMPI_ENTERS));
        if (writes && gpumpi_preserve_kills(&in, reg)) p->region[piece] = 1;
        def = gpumpi_preserve_name(p, reg, fresh, colors,
                                   gpumpi_preserve_node(piece, p->region[piece] ? GPUMPI_LEAVES : GPUMPI_ENTERS));
        ok = GPUMPI_ARRAY_PUSH(allocator, p->name_at, i) && GPUMPI_ARRAY_PUSH(allocator, p->name_reg, reg) &&
             GPUMPI_ARRAY_PUSH(allocator, p->name_use, use) && GPUMPI_ARRAY_PUSH(allocator, p->name_def, def);
    }
    for (k = 0; k < p->listed && ok && colors; k++) {
        uint32_t piece = p->list[k], arrives, enters;
        gpumpi_insertion move;
        if (!p->start[p->first[piece]] || p->enters[piece] != p->mark) continue;
        arrives = gpumpi_preserve_name(p, reg, fresh, colors, gpumpi_preserve_node(piece, GPUMPI_ARRIVES));
        enters = gpumpi_preserve_name(p, reg, fresh, colors, gpumpi_preserve_node(piece, GPUMPI_ENTERS));
        if (arrives == enters) continue;
        move = gpumpi_insertion_make(GPUMP_OP_MOVE, p->first[piece] + 1);
        move.after_previous = 1;
        move.instruction.def_count = move.instruction.use_count = 1;
        move.defs[0] = enters;
        move.uses[0] = arrives;
        report->moves++;
        ok = GPUMPI_ARRAY_PUSH(allocator, p->moves, move);
    }
    GPUMPI_ARRAY_FREE(allocator, fresh);
    return ok;
}

typedef struct gpumpi_preserve_names {
    uint32_t *start, *order; /* instruction -> entries */
    const gpumpi_preserve *preserve;
} gpumpi_preserve_names;
static int gpumpi_preserve_rewrite(void *user, uint32_t index, gpump_instruction *in, uint32_t *scratch) {
    const gpumpi_preserve_names *names = (const gpumpi_preserve_names *)user;
    const gpumpi_preserve *p = names->preserve;
    uint32_t e, k;
    if (names->start[index] == names->start[index + 1]) return 1;
    for (k = 0; k < in->def_count; k++) scratch[k] = in->defs[k];
    for (k = 0; k < in->use_count; k++) scratch[16 + k] = in->uses[k];
    for (e = names->start[index]; e < names->start[index + 1]; e++) {
        uint32_t entry = names->order[e], guard = in->guard;
        for (k = 0; k < in->def_count; k++)
            if (in->defs[k] == p->name_reg[entry]) scratch[k] = p->name_def[entry];
        for (k = 0; k < in->use_count; k++)
            if (in->uses[k] == p->name_reg[entry]) scratch[16 + k] = p->name_use[entry];
        if (guard == p->name_reg[entry] && guard != GPUMP_NONE)
            scratch[16 + in->use_count] = p->name_use[entry];
        else if (e == names->start[index])
            scratch[16 + in->use_count] = guard;
    }
    in->defs = scratch;
    in->uses = scratch + 16;
    in->guard = scratch[16 + in->use_count];
    return 1;
}

static int gpumpi_preserve_compare(const void *a, const void *b) {
    const gpumpi_insertion *x = (const gpumpi_insertion *)a, *y = (const gpumpi_insertion *)b;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    return x->defs[0] < y->defs[0] ? -1 : x->defs[0] > y->defs[0];
}
static int gpumpi_preserve_by_register(const void *a, const void *b) {
    const gpumpi_register_clobber *x = (const gpumpi_register_clobber *)a, *y = (const gpumpi_register_clobber *)b;
    if (x->reg != y->reg) return x->reg < y->reg ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}
static int gpumpi_preserve_by_start(const void *a, const void *b) {
    const gpumpi_register_clobber *x = (const gpumpi_register_clobber *)a, *y = (const gpumpi_register_clobber *)b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->reg < y->reg ? -1 : x->reg > y->reg;
}

/* The register clobbers of a program at a level. */
static gpump_result gpumpi_preserve_clobbers(const gpump_program *program, uint32_t level, uint8_t *start,
                                             gpumpi_arena *scratch, gpumpi_register_clobber **list) {
    const gpump_allocator *allocator = &scratch->allocator;
    gpump_liveness *liveness;
    gpump_result result = gpump_liveness_create(program, allocator, &liveness);
    if (result != GPUMP_OK) return result;
    gpumpi_boundary_starts(program, level, start);
    if (!gpumpi_register_clobbers(scratch, program, liveness, start, allocator, list)) result = GPUMP_ERROR_MEMORY;
    gpump_liveness_destroy(liveness);
    return result;
}

/* Renames one register where regions overwrite it: `count` clobbers, all of that register. */
static int gpumpi_preserve_one(gpumpi_preserve *p, const gpumpi_register_clobber *list, uint32_t count,
                               gpump_regions_report *report, const gpump_allocator *allocator) {
    uint32_t k;
    if (!gpumpi_preserve_webs(p, list->reg)) return 1;
    if (p->conflicts) stbds_header(p->conflicts)->length = 0;
    for (k = 0; k < count; k++)
        if (!gpumpi_preserve_conflicts(p, list->reg, p->piece_of[list[k].start], allocator)) return 0;
    if (p->conflicts) qsort(p->conflicts, stbds_arrlenu(p->conflicts), sizeof *p->conflicts, gpumpi_preserve_by_web);
    return gpumpi_preserve_rename(p, list->reg, report, allocator);
}

/* One level's renaming: *out stays NULL when nothing needs it. */
static gpump_result gpumpi_preserve_level(const gpump_program *program, const uint32_t *origin, uint32_t level,
                                          gpump_program **out, gpump_regions_report *report, gpump_diag *diag) {
    const gpump_allocator *allocator = gpumpi_program_allocator(program);
    gpumpi_arena scratch = gpumpi_arena_make(allocator);
    gpumpi_register_clobber *list = NULL;
    gpumpi_preserve p;
    gpumpi_preserve_names names;
    gpumpi_edit edit;
    uint8_t *start;
    uint32_t i, k, *identity;
    gpump_result result = GPUMP_ERROR_MEMORY;
    memset(&p, 0, sizeof p);
    p.program = program;
    p.regions = 1; /* 0 and 1 in region[] are renaming's */
    if (!GPUMPI_ARENA_NEW(&scratch, start, gpumpi_program_instructions(program))) goto end;
    p.start = start;
    result = gpumpi_preserve_clobbers(program, level, start, &scratch, &list);
    if (result != GPUMP_OK || !stbds_arrlenu(list)) goto end;
    result = GPUMP_ERROR_MEMORY;
    if (!gpumpi_preserve_make_pieces(&p, &scratch)) goto end;
    for (i = 0; i < gpumpi_program_registers(program); i++)
        if (!GPUMPI_ARRAY_PUSH(allocator, p.widths, gpump_program_width(program, i))) goto end;
    qsort(list, stbds_arrlenu(list), sizeof *list, gpumpi_preserve_by_register);
    for (i = 0; i < stbds_arrlenu(list); i = k) {
        for (k = i; k < stbds_arrlenu(list) && list[k].reg == list[i].reg; k++) {}
        if (!gpumpi_preserve_one(&p, &list[i], k - i, report, allocator)) goto end;
    }
    names.preserve = &p;
    k = (uint32_t)stbds_arrlenu(p.name_at);
    if (!GPUMPI_ARENA_NEW(&scratch, identity, k)) goto end;
    for (i = 0; i < k; i++) identity[i] = i;
    if (!gpumpi_group(&scratch, gpumpi_program_instructions(program), p.name_at, identity, k, &names.start,
                      &names.order))
        goto end;
    if (p.moves) qsort(p.moves, stbds_arrlenu(p.moves), sizeof *p.moves, gpumpi_preserve_compare);
    memset(&edit, 0, sizeof edit);
    edit.program = program;
    edit.insertions = p.moves;
    edit.insertion_count = (uint32_t)stbds_arrlenu(p.moves);
    edit.rewrite = gpumpi_preserve_rewrite;
    edit.user = &names;
    edit.widths = p.widths;
    edit.registers = (uint32_t)stbds_arrlenu(p.widths);
    edit.origin = origin;
    result = gpumpi_program_edit(&edit, out, diag);
end:
    GPUMPI_ARRAY_FREE(allocator, list);
    GPUMPI_ARRAY_FREE(allocator, p.moves);
    GPUMPI_ARRAY_FREE(allocator, p.name_at);
    GPUMPI_ARRAY_FREE(allocator, p.name_reg);
    GPUMPI_ARRAY_FREE(allocator, p.name_use);
    GPUMPI_ARRAY_FREE(allocator, p.name_def);
    GPUMPI_ARRAY_FREE(allocator, p.widths);
    GPUMPI_ARRAY_FREE(allocator, p.conflicts);
    gpumpi_arena_free(&scratch);
    return result;
}

/* ---- copying through a second boundary ---- */

/* Copies `count` registers that the region from `list->start` on overwrites: into fresh registers, then a second
 * boundary of the same kind, then back. The region behind the second boundary reads what no instruction of it writes.
 */
static int gpumpi_preserve_copy_one(const gpump_program *program, const gpumpi_register_clobber *list, uint32_t count,
                                    uint32_t **widths, gpumpi_insertion **insertions, gpump_regions_report *report) {
    const gpump_allocator *allocator = gpumpi_program_allocator(program);
    uint32_t first = (uint32_t)stbds_arrlenu(*widths), half, n;
    gpump_instruction boundary;
    gpump_program_instruction(program, list->start, &boundary);
    for (half = 0; half < 2; half++) {
        gpumpi_insertion second = gpumpi_insertion_make(GPUMP_OP_BOUNDARY, list->start + 1);
        for (n = 0; n < count; n++) {
            gpumpi_insertion move = gpumpi_insertion_make(GPUMP_OP_MOVE, list->start + 1);
            move.after_previous = 1;
            move.instruction.def_count = move.instruction.use_count = 1;
            move.defs[0] = half ? list[n].reg : first + n;
            move.uses[0] = half ? first + n : list[n].reg;
            report->moves++;
            if ((!half && !GPUMPI_ARRAY_PUSH(allocator, *widths, gpump_program_width(program, list[n].reg))) ||
                !GPUMPI_ARRAY_PUSH(allocator, *insertions, move))
                return 0;
        }
        if (half) break;
        second.after_previous = 1;
        second.instruction.immediate = boundary.immediate;
        second.instruction.tag = GPUMP_CUT_COPY;
        if (!GPUMPI_ARRAY_PUSH(allocator, *insertions, second)) return 0;
    }
    report->copies += count;
    report->cuts[GPUMP_CUT_COPY]++;
    if (boundary.immediate == GPUMP_BOUNDARY_SHORT)
        report->shorts++;
    else
        report->sparse++;
    return 1;
}

/* Inserts boundary; t = v; boundary; v = t. The first region only reads v, and the second writes v before it reads it,
 * so neither clobbers it. Renaming leaves few registers to copy. *out stays NULL when none is left. */
static gpump_result gpumpi_preserve_copy(const gpump_program *program, const uint32_t *origin, uint32_t level,
                                         gpump_program **out, gpump_regions_report *report, gpump_diag *diag) {
    const gpump_allocator *allocator = gpumpi_program_allocator(program);
    gpumpi_arena scratch = gpumpi_arena_make(allocator);
    gpumpi_register_clobber *list = NULL;
    gpumpi_insertion *insertions = NULL;
    gpumpi_edit edit;
    uint32_t *widths = NULL, i, k;
    uint8_t *start;
    gpump_result result = GPUMP_ERROR_MEMORY;
    if (!GPUMPI_ARENA_NEW(&scratch, start, gpumpi_program_instructions(program))) goto end;
    result = gpumpi_preserve_clobbers(program, level, start, &scratch, &list);
    if (result != GPUMP_OK || !stbds_arrlenu(list)) goto end;
    result = GPUMP_ERROR_MEMORY;
    for (i = 0; i < gpumpi_program_registers(program); i++)
        if (!GPUMPI_ARRAY_PUSH(allocator, widths, gpump_program_width(program, i))) goto end;
    qsort(list, stbds_arrlenu(list), sizeof *list, gpumpi_preserve_by_start);
    for (i = 0; i < stbds_arrlenu(list); i = k) {
        for (k = i; k < stbds_arrlenu(list) && list[k].start == list[i].start; k++) {}
        if (!gpumpi_preserve_copy_one(program, &list[i], k - i, &widths, &insertions, report)) goto end;
    }
    memset(&edit, 0, sizeof edit);
    edit.program = program;
    edit.insertions = insertions;
    edit.insertion_count = (uint32_t)stbds_arrlenu(insertions);
    edit.widths = widths;
    edit.registers = (uint32_t)stbds_arrlenu(widths);
    edit.origin = origin;
    result = gpumpi_program_edit(&edit, out, diag);
end:
    GPUMPI_ARRAY_FREE(allocator, list);
    GPUMPI_ARRAY_FREE(allocator, insertions);
    GPUMPI_ARRAY_FREE(allocator, widths);
    gpumpi_arena_free(&scratch);
    return result;
}

GPUMP_API gpump_result gpumpi_regions_preserve(const gpump_program *program, const uint32_t *origin,
                                               gpump_program **preserved, gpump_regions_report *report,
                                               gpump_diag *diag) {
    gpump_regions_report found;
    gpump_program *at = NULL, *next;
    gpumpi_edit copy;
    gpump_result result;
    uint32_t step, quiet = 0;
    if (report)
        found = *report;
    else
        memset(&found, 0, sizeof found);
    memset(&copy, 0, sizeof copy);
    copy.program = program;
    copy.origin = origin;
    result = gpumpi_program_edit(&copy, &at, diag);
    /* rename for sparse regions, then for short ones; then copy what is left, looking at both again until both are
     * quiet */
    for (step = 0; result == GPUMP_OK && quiet < 2; step++) {
        next = NULL;
        result = step < 2 ? gpumpi_preserve_level(at, gpump_program_origin(at), step, &next, &found, diag)
                          : gpumpi_preserve_copy(at, gpump_program_origin(at), !(step % 2), &next, &found, diag);
        if (result != GPUMP_OK) break;
        quiet = next || step < 2 ? 0 : quiet + 1;
        if (!next) continue;
        gpump_program_destroy(at);
        at = next;
    }
    if (result != GPUMP_OK) {
        if (result == GPUMP_ERROR_MEMORY) gpumpi_fail_at(diag, result, "program", 0);
        gpump_program_destroy(at);
        return result;
    }
    if (report) *report = found;
    *preserved = at;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_regions_preserve(const gpump_program *program, gpump_program **preserved,
                                              gpump_regions_report *report, gpump_diag *diag) {
    if (!program || !preserved) return gpumpi_null(diag, "program or preserved");
    if (!gpumpi_program_basic_blocks(program)) return gpumpi_program_unfinished(diag);
    return gpumpi_regions_preserve(program, NULL, preserved, report, diag);
}
#endif
