/* control_flow: the reconvergence point of each branch, where the lanes of a divergent branch run together again. It is
 * the branch's immediate post-dominator, which gpump's program component finds. */
#include "gpump_once.h"
#include "ptx/ptx_internal.h"

int control_flow_resolve(instruction *code, uint32_t count) {
    gpump_program *program = NULL;
    gpump_result result = gpump_program_create(NULL, &program);
    uint32_t predicate = 0; /* which predicate guards a branch does not matter here */
    if (result == GPUMP_OK) result = gpump_program_add_register(program, GPUMP_WIDTH_PREDICATE, &predicate, NULL);
    for (uint32_t i = 0; i < count && result == GPUMP_OK; i++) {
        int leaves = code[i].opcode == OPCODE_RET || code[i].opcode == OPCODE_EXIT || code[i].opcode == OPCODE_TRAP;
        gpump_instruction out = gpump_instruction_make(instruction_branches(&code[i]) ? GPUMP_OP_BRANCH
                                                       : leaves                       ? GPUMP_OP_EXIT
                                                                                      : GPUMP_OP_COMPUTE);
        if (instruction_branches(&code[i])) out.target = code[i].target;
        if (code[i].guard != INSTRUCTION_NONE) out.guard = predicate;
        result = gpump_program_add(program, &out, NULL, NULL);
    }
    if (result == GPUMP_OK) result = gpump_program_finish(program, NULL);
    for (uint32_t i = 0; i < count && result == GPUMP_OK; i++)
        if (instruction_branches(&code[i])) code[i].reconvergence = gpump_program_reconvergence(program, i);
    gpump_program_destroy(program);
    return result == GPUMP_OK ? 0 : -1;
}
