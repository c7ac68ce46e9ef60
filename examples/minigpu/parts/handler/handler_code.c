/* handler_code: the instructions of a handler: which there may be, and what each does. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "parts/handler/handler.h"

/* ---- reading ---- */

/* Returns what is wrong with an instruction of a handler; NULL: nothing. */
static const char *refuse(const instruction *i) {
    switch (i->unit) {
    case UNIT_ALU:
        return i->opcode == OPCODE_COPY_COMMIT || i->opcode == OPCODE_COPY_WAIT ? "asynchronous copies" : NULL;
    case UNIT_SFU:
    case UNIT_DOUBLE: return NULL;
    case UNIT_CONTROL:
        return i->opcode == OPCODE_BRA || i->opcode == OPCODE_RET || i->opcode == OPCODE_EXIT || i->opcode == OPCODE_NOP
                   ? NULL
                   : "barriers, traps and calls";
    default: break;
    }
    if (i->opcode == OPCODE_MEMBAR) return NULL;
    if (i->opcode != OPCODE_LD && i->opcode != OPCODE_ST && i->opcode != OPCODE_ATOM && i->opcode != OPCODE_RED)
        return "textures, matrices and calls of CUDA's library";
    return i->space == SPACE_GLOBAL || i->space == SPACE_GENERIC || (i->space == SPACE_PARAM && i->opcode == OPCODE_LD)
               ? NULL
               : "shared, local and constant memory";
}

static int check_program(const kernel_program *p, const char *path, char error[LAUNCH_ERROR_BYTES]) {
    uint32_t i;
    if (p->parameter_count != 3 || p->parameters[0].bytes != 8 || p->parameters[1].bytes != 8 ||
        p->parameters[2].bytes != 4) {
        snprintf(error, LAUNCH_ERROR_BYTES,
                 "%s: kernel %s: a handler has three parameters: the address of the page table and of the list of "
                 "frames (64 bits each), and the number of the granule (32 bits)",
                 path, p->name);
        return -1;
    }
    for (i = 0; i < p->count; i++) {
        const instruction *in = &p->instructions[i];
        const char *what = refuse(in);
        if (!what) continue;
        snprintf(error, LAUNCH_ERROR_BYTES, "%s:%u:%u: kernel %s: a handler runs without %s: remove %s", path, in->line,
                 in->column, p->name, what, opcode_name(in->opcode));
        return -1;
    }
    return 0;
}

int handler_read(handlers *h, const char *path, char error[LAUNCH_ERROR_BYTES]) {
    ptx_error wrong;
    memset(&wrong, 0, sizeof wrong);
    if (ptx_read_file(path, &h->module, &wrong)) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s", wrong.text);
        return -1;
    }
    if (h->module.refusal_count) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s", h->module.refusals[0].text);
        return -1;
    }
    if (h->module.kernel_count != 1) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s: a handler's file has one kernel, and this one has %u", path,
                 h->module.kernel_count);
        return -1;
    }
    h->program = h->module.kernels;
    return check_program(h->program, path, error);
}

/* ---- executing ---- */

static __attribute__((cold)) void fail(machine *m, const sm *s, const instruction *i, const char *what,
                                       uint64_t value) {
    const kernel_program *p = handlers_of(m)->program;
    machine_fail(m, "%s:%u:%u: handler %s on SM %u: %s 0x%" PRIx64, p->file_name, i->line, i->column, p->name, s->index,
                 what, value);
}

/* Returns the memory of an access in system mode; NULL: the run has failed. */
static uint8_t *place_of(machine *m, const sm *s, sm_handler *h, const instruction *i, uint64_t address) {
    const uint32_t bytes = instruction_access_bytes(i);
    if (i->space == SPACE_PARAM) {
        if (address <= sizeof h->parameters && bytes <= sizeof h->parameters - address) return h->parameters + address;
        fail(m, s, i, "there is no parameter at byte", address);
    } else if (address % bytes) {
        fail(m, s, i, "misaligned access at address", address);
    } else if (address < handlers_of(m)->table || address >= handlers_of(m)->end) {
        fail(m, s, i, "it may access the page table and the list of frames alone, not address", address);
    } else {
        return device_memory(m, address);
    }
    return NULL;
}

/* An access to memory. */
static void access_memory(machine *m, sm *s, sm_handler *h, const instruction *i, const lanes_operand *sources,
                          lanes_operand *results) {
    uint8_t bytes[LANES * 16], *place; /* a store makes the bytes of all lanes */
    uint64_t addresses[LANES], old = 0, new;
    lanes_address(i, 1, sources, addresses);
    if (!(place = place_of(m, s, h, i, addresses[0]))) return;
    if (i->opcode == OPCODE_LD) {
        lanes_from_memory(i, 1, place, 0, results);
    } else if (i->opcode == OPCODE_ST) {
        lanes_to_memory(i, 1, sources, bytes, instruction_access_bytes(i));
        memcpy(place, bytes, instruction_access_bytes(i));
    } else {
        memcpy(&old, place, type_bytes(i->type));
        new = lanes_atomic(i, 0, sources, old);
        memcpy(place, &new, type_bytes(i->type));
        lanes_set(&results[0], 0, old);
    }
}

/* Returns how long an instruction takes from its operands on. */
static uint32_t cycles_of(const machine *m, const instruction *i) {
    const minigpu_config *c = &m->config;
    switch (i->unit) {
    case UNIT_ALU: return c->alu_cycles;
    case UNIT_SFU: return i->opcode == OPCODE_DIV || i->opcode == OPCODE_REM ? c->divide_cycles : c->sfu_cycles;
    case UNIT_DOUBLE: return c->double_cycles;
    case UNIT_CONTROL: return c->control_cycles;
    default: return i->space == SPACE_PARAM ? c->constant_cycles : handlers_of(m)->cycles;
    }
}

uint32_t handler_execute(machine *m, sm *s, sm_handler *h) {
    const kernel_program *p = handlers_of(m)->program;
    const instruction *i;
    lanes_operand sources[INSTRUCTION_SOURCES], results[INSTRUCTION_DESTINATIONS];
    uint32_t active;
    if (h->pc >= p->count) return 0;
    i = &p->instructions[h->pc++];
    active = lanes_guard(i, 1, h->predicates);
    h->issued++;
    if (i->unit == UNIT_CONTROL) {
        if (active && (i->opcode == OPCODE_RET || i->opcode == OPCODE_EXIT)) return 0;
        if (active && i->opcode == OPCODE_BRA) h->pc = i->target;
    } else if (active && i->opcode != OPCODE_MEMBAR) {
        lanes_read_sources(i, h->registers, h->predicates, &h->environment, sources);
        memset(results, 0, sizeof results);
        if (i->unit == UNIT_MEMORY)
            access_memory(m, s, h, i, sources, results);
        else
            lanes_compute(i, active, sources, results);
        if (m->failed) return 0;
        lanes_write_all(i, active, results, h->registers, h->predicates);
    }
    return 1 + m->config.operand_read_cycles + cycles_of(m, i);
}
