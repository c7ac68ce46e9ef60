/* Shared by the tests of page checks: a thread that runs programs on memory of which pages may be missing. */
#ifndef PAGED_THREAD_H
#define PAGED_THREAD_H
#include "program/program_tools.h"

/* ---- one thread on paged memory ----
 * Registers hold byte addresses into PAGES pages of PAGE bytes. An access to a page that is not there (or a write to
 * one that may only be read) is an uncaught fault: the machine of the paper cannot resume behind it. A call serves what
 * the checks since the last call found. Operations by tag. */
enum {
    PAGE = 64,
    PAGES = 64,
    TAG_DOUBLE = 1,
    TAG_LESS = 2,
    TAG_SUM = 3,
    TAG_NOT_ZERO = 4,
    TAG_SUM_LOAD = 5,
    TAG_LOAD = 6,
    TAG_STORE = 7,
    TAG_MODULO = 8,
    TAG_MIX = 9,
    TAG_PLACE = 10,
    TAG_TABLE = 11
};
enum { ABSENT, READABLE, WRITABLE };
#define NO GPUMP_NONE
typedef struct thread {
    uint64_t reg[80];
    uint32_t word[PAGES * PAGE / 4];
    uint8_t page[PAGES];
    uint64_t wanted[16];
    uint32_t wanted_write[16], wants, faults, uncaught, executed, checks, serialised;
    void (*watch)(struct thread *t, uint32_t at, uint64_t address); /* NULL, or called for each instruction that runs */
    void *watcher;
} thread;

static inline uint64_t value(const thread *t, uint32_t operand) {
    return operand & GPUMP_OPERAND_PARAMETER ? operand & GPUMP_OPERAND_INDEX : t->reg[operand];
}
static inline int would_fault(const thread *t, uint64_t address, uint32_t access) {
    uint64_t page = address / PAGE;
    return page >= PAGES || t->page[page] == ABSENT || (access & GPUMP_ACCESS_WRITE && t->page[page] != WRITABLE);
}
/* An access is checked, or done when its page is there; 0: nothing more is to be written to its register. */
static inline int access_page(thread *t, const gpump_instruction *in, uint64_t address, uint64_t *result) {
    if (in->flags & GPUMP_FLAG_CHECKED) t->checks++;
    if (would_fault(t, address, in->access)) {
        if (!(in->flags & GPUMP_FLAG_CHECKED)) {
            t->uncaught++;
            return 0;
        }
        t->wanted[t->wants] = address;
        t->wanted_write[t->wants++] = in->access;
        t->reg[in->defs[in->def_count - 1]] = 1;
        return 0;
    }
    if (in->access & GPUMP_ACCESS_WRITE) {
        t->word[address / 4] = (uint32_t)value(t, in->uses[1]);
        return 0;
    }
    *result = t->word[address / 4];
    if (in->tag == TAG_SUM_LOAD) *result += value(t, in->uses[1]);
    return 1;
}

/* The handler makes the pages of all recorded faults present; 0: there was none, or one that does not exist. */
static inline int handle(thread *t) {
    if (!t->wants) return 0; /* a call for nothing */
    for (; t->wants; t->wants--) {
        if (t->wanted[t->wants - 1] / PAGE >= PAGES) return 0;
        t->page[t->wanted[t->wants - 1] / PAGE] =
            t->wanted_write[t->wants - 1] & GPUMP_ACCESS_WRITE ? WRITABLE : READABLE;
        t->faults++;
    }
    return 1;
}

static inline uint64_t compute(thread *t, const gpump_instruction *in) {
    switch (in->tag) {
    case TAG_DOUBLE: return value(t, in->uses[0]) * 2;
    case TAG_LESS: return value(t, in->uses[0]) < value(t, in->uses[1]);
    case TAG_SUM: return (value(t, in->uses[0]) + value(t, in->uses[1])) & UINT32_MAX;
    case TAG_NOT_ZERO: return value(t, in->uses[0]) != 0;
    case TAG_MODULO: return value(t, in->uses[1]) ? value(t, in->uses[0]) % value(t, in->uses[1]) != 0 : 1;
    case TAG_TABLE: /* shared memory: 64 bytes, and the run ends outside */
        if (value(t, in->uses[0]) >= 64) t->uncaught++;
        return value(t, in->uses[0]) / 4;
    case TAG_PLACE: return value(t, in->uses[0]) % ((PAGES - 2) * PAGE / 4) * 4; /* an address out of anything */
    default: return (value(t, in->uses[0]) * 2654435761u + in->tag) & UINT32_MAX;
    }
}

/* Runs one thread; 1: it reached its exit. */
static inline int run(thread *t, const gpump_program *program) {
    uint32_t pc = 0;
    while (t->executed < 200000 && !t->uncaught) {
        gpump_instruction in;
        uint32_t at = pc++;
        uint64_t address, result = 0;
        gpump_program_instruction(program, at, &in);
        t->executed++;
        t->serialised +=
            in.operation == GPUMP_OP_GUARDED_CALL; /* an execution barrier as soon as it is fetched (Kim 2.1) */
        if (in.guard != GPUMP_NONE && (t->reg[in.guard] != 0) == ((in.flags & GPUMP_FLAG_GUARD_NEGATED) != 0)) continue;
        address =
            in.access || in.operation == GPUMP_OP_PAGE_ENTERED ? value(t, in.uses[0]) + (uint64_t)in.displacement : 0;
        if (t->watch) t->watch(t, at, address);
        switch (in.operation) {
        case GPUMP_OP_EXIT: return 1;
        case GPUMP_OP_BRANCH: pc = in.target; continue;
        case GPUMP_OP_MOVE: result = value(t, in.uses[0]); break;
        case GPUMP_OP_CONSTANT:
        case GPUMP_OP_PARAMETER: result = (uint64_t)in.immediate; break;
        case GPUMP_OP_ADD: result = value(t, in.uses[0]) + (uint64_t)in.immediate; break;
        case GPUMP_OP_START_MARKER: continue;
        case GPUMP_OP_CLEAR_CHECK: result = 0; break;
        case GPUMP_OP_PAGE_ENTERED: result = address % (uint64_t)in.immediate < in.bytes; break;
        case GPUMP_OP_CHECK:
            t->checks++;
            result = value(t, in.uses[1]);
            if (would_fault(t, address, in.access)) {
                t->wanted[t->wants] = address;
                t->wanted_write[t->wants++] = in.access;
                result = 1;
            }
            break;
        case GPUMP_OP_GUARDED_CALL:
            if (!handle(t)) return 0;
            pc = in.target;
            continue;
        default:
            if (!in.access || (in.space != GPUMP_SPACE_GLOBAL && in.space != GPUMP_SPACE_GENERIC))
                result = compute(t, &in);
            else if (!access_page(t, &in, address, &result))
                continue;
        }
        if (in.def_count) t->reg[in.defs[0]] = result;
    }
    return 0;
}

/* Pages start absent except by chance; the memory holds `words`. */
static inline void start(thread *t, uint64_t *random, uint32_t present_in_8) {
    memset(t, 0, sizeof *t);
    for (uint32_t i = 0; i < PAGES * PAGE / 4; i++) t->word[i] = i * 7 + 3;
    for (uint32_t i = 0; i < PAGES; i++)
        t->page[i] = gpump_random_below(random, 8) < present_in_8 ? 1 + gpump_random_below(random, 2) : ABSENT;
}

static inline gpump_page_checks_config kim(const char *preset) {
    gpump_page_checks_config config;
    assert_int_equal(gpump_preset(&gpump_page_checks_component, &config, preset, NULL), GPUMP_OK);
    config.page_bytes = PAGE;
    return config;
}
static inline uint32_t load(test_builder *b, uint64_t tag, uint32_t def, uint32_t address, uint32_t other,
                            int64_t displacement) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
    uint32_t uses[2];
    uses[0] = address;
    uses[1] = other;
    in.defs = &def;
    in.def_count = 1;
    in.uses = uses;
    in.use_count = other == GPUMP_NONE ? 1 : 2;
    in.tag = tag;
    in.access = GPUMP_ACCESS_READ;
    in.bytes = 4;
    in.displacement = displacement;
    return test_add(b, &in);
}
static inline uint32_t store(test_builder *b, uint32_t address, uint32_t data, int64_t displacement) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
    uint32_t uses[2];
    uses[0] = address;
    uses[1] = data;
    in.uses = uses;
    in.use_count = 2;
    in.tag = TAG_STORE;
    in.access = GPUMP_ACCESS_WRITE;
    in.bytes = 4;
    in.displacement = displacement;
    return test_add(b, &in);
}
static inline uint32_t add(test_builder *b, uint32_t reg, int64_t step) {
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_ADD);
    in.defs = in.uses = &reg;
    in.def_count = in.use_count = 1;
    in.immediate = step;
    return test_add(b, &in);
}
static inline gpump_program *done(test_builder *b) {
    test_exit(b, GPUMP_NONE);
    test_finish(b);
    return b->program;
}
#endif
