/* one_lane: runs a kernel for one thread at a time, straight from decoded instructions and lanes, without the machine:
 * for tests of the reader and the lanes on whole kernels. Addresses are the host's own. Threads run one after the
 * other, so kernels must not need barriers. */
#ifndef ONE_LANE_H
#define ONE_LANE_H
#include "lanes/lanes.h"
#include "ptx/ptx_reader.h"

static uint8_t *one_lane_place(uint64_t address, uint32_t space, uint8_t *parameters, uint8_t *shared, uint8_t *local) {
    uint64_t offset = address;
    if (space == SPACE_GENERIC) space = generic_space(address, &offset);
    switch (space) {
    case SPACE_SHARED: return shared + offset;
    case SPACE_LOCAL: return local + offset;
    case SPACE_PARAM: return parameters + offset;
    default: return (uint8_t *)(uintptr_t)offset;
    }
}

/* Returns 0 when the thread has ended, -1 when it has not within a million instructions. */
static int one_lane_run(const kernel_program *kernel, lanes_environment *e, uint8_t *parameters, uint8_t *shared) {
    uint32_t *registers = calloc((size_t)(kernel->registers + 1) * 32, 4),
             *predicates = calloc(kernel->predicates + 1u, 4), pc = 0;
    uint8_t *local = calloc(1, kernel->local_bytes + 16u);
    lanes_operand s[INSTRUCTION_SOURCES], d[INSTRUCTION_DESTINATIONS];
    int status = -1;
    e->parameters = parameters;
    e->parameter_bytes = kernel->parameter_bytes;
    memset(s, 0, sizeof s);
    for (uint32_t steps = 0; steps < 1000000; steps++) {
        const instruction *i = &kernel->instructions[pc++];
        uint64_t addresses[LANES];
        uint8_t *place = NULL;
        if (!lanes_guard(i, 1, predicates)) continue;
        lanes_read_sources(i, registers, predicates, e, s);
        if (i->opcode == OPCODE_RET || i->opcode == OPCODE_EXIT) {
            status = 0;
            break;
        }
        if (i->opcode == OPCODE_BRA) {
            pc = i->target;
            continue;
        }
        if (i->unit == UNIT_CONTROL || i->opcode == OPCODE_MEMBAR) continue;
        if (instruction_access_bytes(i)) {
            lanes_address(i, 1, s, addresses);
            place = one_lane_place(addresses[0], i->space, parameters, shared, local);
        }
        if (i->opcode == OPCODE_LD) {
            uint8_t bytes[LANES * 32];
            memcpy(bytes, place, instruction_access_bytes(i));
            lanes_from_memory(i, 1, bytes, 32, d);
        } else if (i->opcode == OPCODE_ST) {
            uint8_t bytes[LANES * 32];
            lanes_to_memory(i, 1, s, bytes, 32);
            memcpy(place, bytes, instruction_access_bytes(i));
        } else if (i->opcode == OPCODE_ATOM || i->opcode == OPCODE_RED) {
            uint64_t old = 0, fresh;
            memcpy(&old, place, type_bytes(i->type));
            fresh = lanes_atomic(i, 0, s, old);
            memcpy(place, &fresh, type_bytes(i->type));
            lanes_set(&d[0], 0, old);
        } else
            lanes_compute(i, 1, s, d);
        for (uint32_t k = 0; k < i->destination_count; k++)
            lanes_write(&i->destinations[k], 1, &d[k], registers, predicates);
    }
    free(registers);
    free(predicates);
    free(local);
    return status;
}
#endif
