/* analyze_by_hand: a host that reads no PTX describes a kernel instruction by instruction, and asks the analyses.
 *
 *     cc -I. examples/analyze_by_hand.c -o analyze_by_hand && ./analyze_by_hand      (from the top of the project)
 *
 * The kernel adds 1 to each word of a buffer: a loop that loads, adds, stores and walks its address. */
#define GPUMP_IMPLEMENTATION
#include "../gpump.h"
#include <stdio.h>
#include <stdlib.h>

static void must(gpump_result result, const gpump_diag *diag) {
    char text[200];
    if (!result) return;
    gpump_diag_text(diag, text, sizeof text);
    fprintf(stderr, "%s\n", diag->code == result ? text : gpump_result_text(result));
    exit(1);
}

/* Appends an instruction: what it defines and uses (GPUMP_NONE: nothing). */
static void add(gpump_program *program, gpump_instruction what, uint32_t def, uint32_t first, uint32_t second) {
    gpump_diag diag;
    uint32_t uses[2];
    uses[0] = first;
    uses[1] = second;
    what.defs = &def;
    what.def_count = def != GPUMP_NONE;
    what.uses = uses;
    what.use_count = (uint32_t)(first != GPUMP_NONE) + (second != GPUMP_NONE);
    must(gpump_program_add(program, &what, NULL, &diag), &diag);
}

/* 1. Registers, memory objects, instructions. `load` is instruction 3, `store` is instruction 5. */
static gpump_program *describe(void) {
    const gpump_memory_object buffer = {GPUMP_SPACE_GLOBAL, GPUMP_NONE};
    const gpump_instruction compute = gpump_instruction_make(GPUMP_OP_COMPUTE);
    uint32_t address, value, left, more, object;
    gpump_program *program;
    gpump_instruction i;
    gpump_diag diag = {0};
    must(gpump_program_create(NULL, &program), &diag);
    must(gpump_program_add_register(program, GPUMP_WIDTH_64, &address, &diag), &diag);
    must(gpump_program_add_register(program, GPUMP_WIDTH_32, &value, &diag), &diag);
    must(gpump_program_add_register(program, GPUMP_WIDTH_32, &left, &diag), &diag);
    must(gpump_program_add_register(program, GPUMP_WIDTH_PREDICATE, &more, &diag), &diag);
    must(gpump_program_add_object(program, &buffer, &object, &diag), &diag);

    add(program, gpump_instruction_make(GPUMP_OP_PARAMETER), address, GPUMP_NONE, GPUMP_NONE); /* 0 */
    i = gpump_instruction_make(GPUMP_OP_CONSTANT);
    i.immediate = 16;
    add(program, i, left, GPUMP_NONE, GPUMP_NONE); /* 1 */
    i = gpump_instruction_make(GPUMP_OP_BOUNDARY);
    i.immediate = GPUMP_BOUNDARY_SPARSE;
    add(program, i, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE); /* 2: a region begins at each turn of the loop */
    i = compute;
    i.access = GPUMP_ACCESS_READ;
    i.space = GPUMP_SPACE_GLOBAL;
    i.object = object;
    i.bytes = 4;
    add(program, i, value, address, GPUMP_NONE);     /* 3: load */
    add(program, compute, value, value, GPUMP_NONE); /* 4: add 1 */
    i.access = GPUMP_ACCESS_WRITE;
    add(program, i, GPUMP_NONE, address, value); /* 5: store */
    i = gpump_instruction_make(GPUMP_OP_ADD);
    i.immediate = 4;
    add(program, i, address, address, GPUMP_NONE); /* 6 */
    i.immediate = -1;
    add(program, i, left, left, GPUMP_NONE);       /* 7 */
    add(program, compute, more, left, GPUMP_NONE); /* 8: left > 0? */
    i = gpump_instruction_make(GPUMP_OP_BRANCH);
    i.guard = more;
    i.target = 2;
    add(program, i, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);                                     /* 9 */
    add(program, gpump_instruction_make(GPUMP_OP_EXIT), GPUMP_NONE, GPUMP_NONE, GPUMP_NONE); /* 10 */
    must(gpump_program_finish(program, &diag), &diag);
    return program;
}

/* 2. The listing. The registers that are live at a basic block's start and end are what a switch there would save. */
static void list(const gpump_program *program) {
    gpump_liveness *liveness;
    gpump_diag diag = {0};
    uint64_t live[1]; /* the kernel has fewer than 64 registers */
    uint32_t count, predicates;
    char line[120];
    must(gpump_liveness_create(program, NULL, &liveness), &diag);
    for (uint32_t b = 0; b < gpump_program_count(program).basic_blocks; b++) {
        gpump_basic_block block;
        gpump_program_basic_block(program, b, &block);
        gpump_liveness_before(liveness, block.first, live);
        gpump_liveness_count(liveness, live, &count, &predicates);
        printf("basic block %u%s, %u registers live at its start", (unsigned)b,
               gpump_program_count(program).loops && gpump_program_in_loop(program, 0, b) ? ", in the loop" : "",
               (unsigned)(count + predicates));
        gpump_liveness_after(liveness, block.first + block.count - 1, live);
        gpump_liveness_count(liveness, live, &count, &predicates);
        printf(", %u at its end\n", (unsigned)(count + predicates));
        for (uint32_t n = block.first; n < block.first + block.count; n++) {
            gpump_program_text(program, n, line, sizeof line);
            printf("  %2u %s\n", (unsigned)n, line);
        }
    }
    gpump_liveness_destroy(liveness);
}

/* 3. If the store may overwrite what the load has read, the region cannot be executed twice. */
static void show_clobbers(const gpump_program *program) {
    gpump_clobber clobbers[8];
    gpump_diag diag = {0};
    uint32_t count;
    for (uint32_t object = 0; object < gpump_program_count(program).objects; object++)
        printf("object %u is in space %u\n", (unsigned)object, (unsigned)gpump_program_object(program, object).space);
    printf("load and store may meet: %d\n", gpump_program_may_alias(program, 3, 5, GPUMP_UNIT_WARP));
    must(gpump_clobbers_find(program, GPUMP_UNIT_WARP, GPUMP_BOUNDARY_SPARSE, clobbers, 8, &count), &diag);
    for (uint32_t c = 0; c < count; c++)
        if (clobbers[c].reg == GPUMP_NONE)
            printf("memory: %u reads what %u overwrites\n", (unsigned)clobbers[c].read, (unsigned)clobbers[c].write);
        else
            printf("register %u: live at boundary %u, overwritten by %u\n", (unsigned)clobbers[c].reg,
                   (unsigned)clobbers[c].start, (unsigned)clobbers[c].write);
}

/* 4. Copies keep registers. Memory needs another boundary, which gpump_regions_form would place. Returns 1 when
 * exactly the clobber of memory is left. */
static int preserve(const gpump_program *program) {
    gpump_program *preserved;
    gpump_clobber clobbers[8];
    gpump_diag diag = {0};
    uint32_t count;
    must(gpump_regions_preserve(program, &preserved, NULL, &diag), &diag);
    must(gpump_clobbers_find(preserved, GPUMP_UNIT_WARP, GPUMP_BOUNDARY_SPARSE, clobbers, 8, &count), &diag);
    printf("with live-ins preserved: %u instructions, %u clobbers left\n",
           (unsigned)gpump_program_count(preserved).instructions, (unsigned)count);
    gpump_program_destroy(preserved);
    return count == 1 && clobbers[0].reg == GPUMP_NONE;
}

int main(void) {
    gpump_program *program = describe();
    int as_expected;
    list(program);
    show_clobbers(program);
    as_expected = preserve(program);
    gpump_program_destroy(program);
    return !as_expected;
}
