#include "parts/trace_writer/trace_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lanes/lanes.h"
#include "sass/trace_reader.h"

#define SOURCES_MAX 4u /* of a line: Accel-Sim reads no more */
#define PC_BYTES 16u   /* of a SASS instruction, from sm_70 on */

/* Where the text of a line ends, and which values come behind it (tracer version 6). */
typedef struct written_line {
    size_t end;
    uint64_t sequence; /* of its instruction */
    size_t values;     /* index of the first in written_warp.values */
    uint32_t value_count;
} written_line;

/* The lines of a warp. */
typedef struct written_warp {
    char *text;
    size_t length, capacity;
    uint64_t lines;
    written_line *ends; /* of the lines; NULL: the trace has no values */
    uint32_t *values;
    size_t ends_capacity, value_count, value_capacity;
} written_warp;

/* The warps of a block that has not been written to its file; NULL: it has not begun, or has been written. */
typedef struct written_block {
    written_warp *warps;
    uint32_t has_ended;
} written_block;

typedef struct written_kernel {
    FILE *file;
    written_block *blocks;
    uint64_t next; /* the block that the file takes next */
} written_kernel;

typedef struct trace_writer {
    written_kernel *kernels;
    int has_values; /* 1: tracer version 6 */
    int failed;     /* an errno; 0 */
} trace_writer;

static trace_writer *writer_of(const machine *m) { return (trace_writer *)m->of_part[PART_trace_writer]; }

static int is_present(const machine *m) { return writer_of(m) != NULL; }

/* Makes room for `more` elements of so many bytes behind `count`. Returns where they lie now, or NULL with t->failed.
 */
static void *make_room(trace_writer *t, void *data, size_t *capacity, size_t count, size_t more, size_t bytes) {
    const size_t wanted = *capacity * 2 + 8 * more;
    void *grown;
    if (*capacity - count >= more) return data;
    if ((grown = realloc(data, wanted * bytes)))
        *capacity = wanted;
    else
        t->failed = ENOMEM;
    return grown;
}

static void put(trace_writer *t, written_warp *w, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void put(trace_writer *t, written_warp *w, const char *format, ...) {
    va_list arguments;
    char *text = (char *)make_room(t, w->text, &w->capacity, w->length, 128, 1);
    int length;
    if (!text) return;
    w->text = text;
    va_start(arguments, format);
    length = vsnprintf(w->text + w->length, w->capacity - w->length, format, arguments);
    va_end(arguments);
    if (length > 0) w->length += (size_t)length;
}

/* The text of a line ends, but for its values. */
static void end_line(trace_writer *t, written_warp *w, uint64_t sequence) {
    const written_line line = {w->length, sequence, 0, 0};
    written_line *ends;
    w->lines++;
    if (!t->has_values || t->failed) return;
    if (!(ends = (written_line *)make_room(t, w->ends, &w->ends_capacity, w->lines - 1, 1, sizeof line))) return;
    w->ends = ends;
    ends[w->lines - 1] = line;
}

/* Keeps the values of a register in the lanes of a mask. */
static void put_values(trace_writer *t, written_warp *w, const uint32_t lanes[LANES], uint32_t mask) {
    uint32_t *values = (uint32_t *)make_room(t, w->values, &w->value_capacity, w->value_count, LANES, sizeof *values);
    if (!values) return;
    w->values = values;
    for (; mask; mask &= mask - 1) w->values[w->value_count++] = lanes[gpump_bits_lowest64(mask)];
}

/* ---- names ---- */

static int all_sources_are_pairs(const instruction *i) {
    uint32_t n, pairs = 0;
    for (n = 0; n < i->source_count; n++) {
        if (i->sources[n].kind == OPERAND_REGISTER && i->sources[n].words != 2) return 0;
        pairs += i->sources[n].kind == OPERAND_REGISTER;
    }
    return pairs != 0;
}

/* An arithmetic opcode of the same unit. */
static const char *arithmetic_name(const instruction *i) {
    const int wide = i->destination_count && i->destinations[0].words == 2;
    if (i->unit == UNIT_DOUBLE)
        return i->destination_count && i->destinations[0].kind == OPERAND_PREDICATE ? "DSETP" : "DFMA";
    if (i->opcode == OPCODE_MMA) return "HMMA.16816.F32";
    if (i->unit == UNIT_SFU) return "MUFU";
    if (wide) return all_sources_are_pairs(i) ? "IADD3.64" : "IMAD.WIDE";
    switch (i->opcode) {
    case OPCODE_SETP: return type_is_float(i->type) ? "FSETP" : "ISETP";
    case OPCODE_MOV: return "MOV";
    case OPCODE_SHFL: return "SHFL";
    case OPCODE_VOTE: return "VOTE";
    case OPCODE_SELP: return "SEL";
    case OPCODE_COPY_COMMIT: return "LDGDEPBAR";
    case OPCODE_COPY_WAIT: return "DEPBAR.LE";
    case OPCODE_SHL:
    case OPCODE_SHR: return "SHF";
    case OPCODE_MAD:
    case OPCODE_FMA:
    case OPCODE_MUL: return type_is_float(i->type) ? "FFMA" : "IMAD";
    default: return type_is_float(i->type) ? "FADD" : "IADD3";
    }
}

static const char *control_name(const instruction *i) {
    switch (i->opcode) {
    case OPCODE_RET:
    case OPCODE_EXIT: return "EXIT";
    case OPCODE_BAR: return i->variant == VARIANT_ARRIVE ? "BAR.ARV" : "BAR.SYNC";
    case OPCODE_BRA: return "BRA";
    case OPCODE_WARPSYNC: return "WARPSYNC";
    default: return "NOP";
    }
}

/* The opcode of an access by rows of matrices. */
static void matrix_name(const instruction *i, char name[32]) {
    static const char *const counts[] = {"", "", ".2", "", ".4"};
    snprintf(name, 32, "%s.16.%s%s", i->opcode == OPCODE_STMATRIX ? "STSM" : "LDSM",
             i->variant == VARIANT_TRANS ? "MT88" : "M88", counts[i->vector]);
}

/* A memory opcode; *space: of its addresses. */
static void memory_name(const in_flight *r, uint32_t space, uint32_t bytes, char name[32]) {
    static const char *const sizes[] = {"", ".U8", ".U16", "", "", "", "", "", ".64"};
    const char *size = bytes == 16 ? ".128" : bytes <= 8 ? sizes[bytes] : "";
    const int is_shared = space == SPACE_SHARED, is_local = space == SPACE_LOCAL;
    const char *base;
    switch (r->instruction->opcode) {
    case OPCODE_LDMATRIX:
    case OPCODE_STMATRIX: matrix_name(r->instruction, name); return;
    case OPCODE_COPY: base = r->instruction->flags & FLAG_CACHE_GLOBAL ? "LDGSTS.E.BYPASS" : "LDGSTS.E"; break;
    case OPCODE_ST: base = is_shared ? "STS" : is_local ? "STL" : "STG.E"; break;
    case OPCODE_ATOM: base = is_shared ? "ATOMS.ADD" : "ATOMG.E.ADD"; break;
    case OPCODE_RED: base = is_shared ? "ATOMS.ADD" : "RED.E.ADD"; break;
    default:
        base = space == SPACE_CONST || space == SPACE_PARAM ? "LDC" : is_shared ? "LDS" : is_local ? "LDL" : "LDG.E";
        break;
    }
    snprintf(name, 32, "%s%s", base, size);
}

/* ---- lines ---- */

/* Writes the registers that a line names: destinations by their first register, sources by all, as far as there is
 * room. Where a source is named as a pair, the reader adds the second register. */
static void put_operands(trace_writer *t, written_warp *w, const instruction *i, const char *name) {
    const int pairs = i->unit == UNIT_DOUBLE || strstr(name, ".64") != NULL;
    const int is_access = i->unit == UNIT_MEMORY;
    uint32_t registers[SOURCES_MAX], count = 0, n, k;
    const operand *to =
        i->destination_count && i->destinations[0].kind == OPERAND_REGISTER ? &i->destinations[0] : NULL;
    if (to)
        put(t, w, "1 R%u %s ", to->index, name);
    else
        put(t, w, "0 %s ", name);
    for (n = 0; n < i->source_count; n++) {
        const operand *o = &i->sources[n];
        const int first_only = (pairs && !is_access) || (is_access && (!n || n > 1 || i->vector > 1 || o->words == 2));
        if (o->kind != OPERAND_REGISTER || (is_access && n > (i->opcode != OPCODE_COPY))) continue;
        for (k = 0; k < (first_only ? 1u : o->words) && count < SOURCES_MAX; k++) registers[count++] = o->index + k;
    }
    if (i->opcode == OPCODE_COPY) { /* where it writes stands before where it reads */
        registers[1] = count ? registers[0] : SASS_REGISTERS;
        registers[0] = i->sources[1].kind == OPERAND_REGISTER ? i->sources[1].index : SASS_REGISTERS;
        count = 2;
    }
    put(t, w, "%u ", count);
    for (n = 0; n < count; n++) put(t, w, "R%u ", registers[n]);
}

/* Writes the addresses of an access: base and stride where the mask has no gap and one stride gives them all, else base
 * and differences. */
static void put_addresses(trace_writer *t, written_warp *w, uint32_t mask, const uint64_t addresses[LANES]) {
    const uint32_t first = gpump_bits_lowest64(mask), rest = mask & (mask - 1), run = mask >> first;
    const uint64_t stride = rest ? addresses[gpump_bits_lowest64(rest)] - addresses[first] : 0;
    uint64_t last = addresses[first];
    uint32_t left = rest;
    int is_straight = !(run & (run + 1)) && (int64_t)stride >= INT32_MIN && (int64_t)stride <= INT32_MAX;
    for (; left && addresses[gpump_bits_lowest64(left)] == last + stride; left &= left - 1) last += stride;
    is_straight &= !left;
    put(t, w, "%u 0x%" PRIx64 " ", is_straight ? 1u : 2u, addresses[first]);
    if (is_straight) put(t, w, "%" PRId64 " ", (int64_t)stride);
    for (last = addresses[first], left = is_straight ? 0 : rest; left; left &= left - 1) {
        const uint64_t next = addresses[gpump_bits_lowest64(left)];
        put(t, w, "%" PRId64 " ", (int64_t)(next - last));
        last = next;
    }
}

/* Returns the lanes that access memory: those of an asynchronous copy that copies zeros read nothing. */
static uint32_t lanes_of(const in_flight *r) {
    const operand *reads = &r->instruction->sources[2];
    uint32_t lanes = r->active, lane;
    if (r->instruction->opcode != OPCODE_COPY) return lanes;
    if (reads->kind == OPERAND_PREDICATE) return lanes & ~r->sources[2].word[0][0];
    for (lane = 0; lane < LANES; lane++) lanes &= ~((uint32_t)!r->sources[2].word[0][lane] << lane);
    return lanes;
}

/* Returns whether a trace has the addresses of an instruction. */
static int has_addresses(const instruction *i) {
    switch (i->opcode) {
    case OPCODE_COPY:
    case OPCODE_LD:
    case OPCODE_ST:
    case OPCODE_ATOM:
    case OPCODE_RED:
    case OPCODE_LDMATRIX:
    case OPCODE_STMATRIX: return 1;
    default: return 0;
    }
}

/* Lanes that name no row of a matrix get the address of one that does: in PTX theirs may be anything. */
static void fill_rows(const instruction *i, uint64_t addresses[LANES]) {
    uint32_t lane;
    if (i->opcode != OPCODE_LDMATRIX && i->opcode != OPCODE_STMATRIX) return;
    for (lane = 8u * i->vector; lane < LANES; lane++) addresses[lane] = addresses[lane % (8u * i->vector)];
}

/* The addresses of an access in their own space, which is that of the first lane. Returns the space; SPACE_NONE: the
 * instruction has none that a trace can have. */
static uint32_t addresses_of(const in_flight *r, uint64_t addresses[LANES]) {
    const instruction *i = r->instruction;
    const uint32_t lanes = lanes_of(r);
    uint32_t space = i->space, left;
    if (!has_addresses(i) || !lanes) return SPACE_NONE;
    lanes_address(i, r->active, r->sources, addresses);
    fill_rows(i, addresses);
    for (left = lanes; left; left &= left - 1) {
        const uint32_t lane = gpump_bits_lowest64(left);
        uint64_t offset = addresses[lane];
        if (i->space == SPACE_GENERIC) space = generic_space(addresses[lane], &offset);
        addresses[lane] = space == SPACE_SHARED || space == SPACE_LOCAL ? (uint32_t)offset : offset;
    }
    return space;
}

/* Returns the immediate of a line: how many groups of copies may be left. */
static uint32_t immediate_of(const instruction *i) {
    return i->opcode == OPCODE_COPY_WAIT && i->variant != VARIANT_ALL ? i->lookup : 0;
}

static void operands_read(machine *m, sm *s, in_flight *r, const lanes_operand *const *sources) {
    trace_writer *t = writer_of(m);
    const block *b = &m->blocks[r->block];
    const uint32_t bytes = instruction_access_bytes(r->instruction);
    written_warp *w = &t->kernels[b->kernel].blocks[b->linear].warps[m->warps[r->warp].index];
    uint64_t addresses[LANES];
    uint32_t space = SPACE_NONE;
    char name[32];
    (void)s;
    (void)sources;
    if (r->info->unit == UNIT_MEMORY) space = addresses_of(r, addresses);
    if (space != SPACE_NONE)
        memory_name(r, space, bytes, name);
    else if (r->info->unit == UNIT_MEMORY && r->instruction->opcode == OPCODE_MEMBAR)
        snprintf(name, sizeof name, "MEMBAR");
    else if (r->info->unit == UNIT_MEMORY) /* no lane executes it, or it has no addresses */
        memory_name(r, r->instruction->space, bytes, name);
    else
        snprintf(name, sizeof name, "%s",
                 r->info->unit == UNIT_CONTROL ? control_name(r->instruction) : arithmetic_name(r->instruction));
    put(t, w, "%04x %08x ", r->pc * PC_BYTES, space == SPACE_NONE ? r->active : lanes_of(r));
    put_operands(t, w, r->instruction, name);
    put(t, w, "%u ", space == SPACE_NONE ? 0 : bytes);
    if (space != SPACE_NONE) put_addresses(t, w, lanes_of(r), addresses);
    put(t, w, t->has_values ? "%u 0 " : "%u \n", immediate_of(r->instruction));
    end_line(t, w, r->sequence);
}

/* The instruction has written its registers: its line gets their values. */
static void retires(machine *m, sm *s, const in_flight *r) {
    trace_writer *t = writer_of(m);
    const block *b = &m->blocks[r->block];
    const warp *w = &m->warps[r->warp];
    written_warp *written = &t->kernels[b->kernel].blocks[b->linear].warps[w->index];
    const uint32_t *registers = s->registers + w->register_base;
    uint64_t line = written->lines;
    uint32_t n, k;
    if (!t->has_values || !r->has_results || t->failed) return;
    while (line > 0 && written->ends[line - 1].sequence != r->sequence) line--;
    if (!line) return;
    written->ends[line - 1].values = written->value_count;
    for (n = 0; n < r->instruction->destination_count; n++) {
        const operand *to = &r->instruction->destinations[n];
        for (k = 0; to->kind == OPERAND_REGISTER && k < to->words; k++)
            put_values(t, written, registers + (size_t)(to->index + k) * LANES, r->active);
    }
    written->ends[line - 1].value_count = (uint32_t)(written->value_count - written->ends[line - 1].values);
}

/* ---- blocks and files ---- */

static void free_block(written_block *b, uint32_t warps) {
    uint32_t i;
    for (i = 0; b->warps && i < warps; i++) {
        free(b->warps[i].text);
        free(b->warps[i].ends);
        free(b->warps[i].values);
    }
    free(b->warps);
    b->warps = NULL;
}

static void write_lines(FILE *file, const written_warp *w) {
    size_t from = 0;
    uint64_t i;
    uint32_t n;
    if (!w->ends) {
        fwrite(w->text, 1, w->length, file);
        return;
    }
    for (i = 0; i < w->lines; from = w->ends[i++].end) {
        const written_line *line = &w->ends[i];
        fwrite(w->text + from, 1, line->end - from, file);
        fputs(line->value_count ? "Val" : "NoVal", file);
        for (n = 0; n < line->value_count; n++) fprintf(file, " %x", w->values[line->values + n]);
        fputc('\n', file);
    }
}

static void write_block(const kernel *k, written_kernel *written, uint64_t linear) {
    const uint32_t *grid = k->launch->grid;
    written_block *b = &written->blocks[linear];
    uint32_t i;
    fprintf(written->file, "\n#BEGIN_TB\n\nthread block = %u,%u,%u\n", (uint32_t)(linear % grid[0]),
            (uint32_t)(linear / grid[0] % grid[1]), (uint32_t)(linear / grid[0] / grid[1]));
    for (i = 0; i < k->warps; i++) {
        fprintf(written->file, "\nwarp = %u\ninsts = %" PRIu64 "\n", i, b->warps[i].lines);
        write_lines(written->file, &b->warps[i]);
    }
    fprintf(written->file, "\n#END_TB\n");
    free_block(b, k->warps);
}

/* A block begins, for the first time or anew after a flush. */
static void warp_starts(machine *m, sm *s, warp *w) {
    trace_writer *t = writer_of(m);
    const block *b = &m->blocks[w->block];
    const kernel *k = &m->kernels[b->kernel];
    written_block *written = &t->kernels[b->kernel].blocks[b->linear];
    (void)s;
    if (!written->warps) written->warps = (written_warp *)calloc(k->warps, sizeof *written->warps);
    if (!written->warps)
        machine_fail(m, "no memory for the trace of a block");
    else
        written->warps[w->index].length = written->warps[w->index].lines = written->warps[w->index].value_count = 0;
}

static void block_left(machine *m, sm *s, block *b, const gpump_sm_action *action, uint32_t entry) {
    written_kernel *written = &writer_of(m)->kernels[b->kernel];
    const kernel *k = &m->kernels[b->kernel];
    (void)s;
    (void)action;
    if (entry != NONE || b->linear < written->next) return;
    written->blocks[b->linear].has_ended = 1;
    for (; written->next < k->blocks && written->blocks[written->next].has_ended; written->next++)
        write_block(k, written, written->next);
}

static void write_head(const kernel *k, uint32_t number, int has_values, FILE *file) {
    const launch_kernel *l = k->launch;
    fprintf(
        file,
        "-kernel name = %s\n-kernel id = %u\n-grid dim = (%u,%u,%u)\n-block dim = (%u,%u,%u)\n-shmem = %u\n"
        "-nregs = %u\n-binary version = 75\n-cuda stream id = %u\n-shmem base_addr = 0x%016" PRIx64 "\n"
        "-local mem base_addr = 0x%016" PRIx64 "\n-nvbit version = 0\n-accelsim tracer version = %u\n"
        "-enable lineinfo = 0\n\n#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] "
        "mem_width [adrrescompress?] [mem_addresses] %s\n\n",
        l->name, number, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], k->shared_bytes,
        k->registers < 252 ? k->registers + 3 : 255, k->process, GENERIC_SHARED_BASE, GENERIC_LOCAL_BASE,
        has_values ? 6u : 5u, has_values ? "immediate1 immediate2 Val|NoVal " TRACE_LANE_VALUES : "immediate");
}

/* Writes kernelslist.g and the head of each trace. Returns -1 with errno. */
static int begin_files(machine *m, trace_writer *t, const char *folder) {
    char path[1024];
    FILE *list;
    uint32_t i;
    snprintf(path, sizeof path, "%s/kernelslist.g", folder);
    if (!(list = fopen(path, "w"))) return -1;
    for (i = 0; i < m->launch->buffer_count; i++)
        fprintf(list, "MemcpyHtoD,0x%016" PRIx64 ",%" PRIu64 "\n", m->launch->buffers[i].address,
                m->launch->buffers[i].bytes);
    for (i = 0; i < m->kernel_count; i++) fprintf(list, "kernel-%u.traceg\n", i + 1);
    if (fclose(list)) return -1;
    for (i = 0; i < m->kernel_count; i++) {
        written_kernel *k = &t->kernels[i];
        snprintf(path, sizeof path, "%s/kernel-%u.traceg", folder, i + 1);
        k->blocks = (written_block *)calloc(m->kernels[i].blocks, sizeof *k->blocks);
        if (!k->blocks || !(k->file = fopen(path, "w"))) return -1;
        write_head(&m->kernels[i], i + 1, t->has_values, k->file);
    }
    return 0;
}

int trace_writer_close(machine *m) {
    trace_writer *t = writer_of(m);
    uint32_t i;
    int failed;
    if (!t) return 0;
    failed = t->failed;
    for (i = 0; t->kernels && i < m->kernel_count; i++) {
        written_kernel *k = &t->kernels[i];
        uint64_t n;
        for (n = 0; k->blocks && n < m->kernels[i].blocks; n++) free_block(&k->blocks[n], m->kernels[i].warps);
        free(k->blocks);
        if (k->file && fclose(k->file)) failed = errno;
    }
    free(t->kernels);
    free(t);
    m->of_part[PART_trace_writer] = NULL;
    parts_find(m);
    errno = failed;
    return failed ? -1 : 0;
}

static void close_part(machine *m) { (void)trace_writer_close(m); }

/* Returns why a machine's run cannot be written; NULL: it can. */
static const char *cannot_be_written(const machine *m) {
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++) {
        if (m->kernels[i].launch->trace) return "the kernels come from traces already";
        if (m->kernels[i].registers > 255) return "a thread has more than the 255 registers of SASS";
    }
    if (m->launch->loop_count) return "its kernels run in a loop, and a trace has each kernel once";
    if (m->window_cycles) return "--threads runs SMs side by side; leave --threads away";
    if (m->faults_may_happen || m->regions || m->traits & PART_ON_PATH)
        return "instructions may be executed twice (faults, regions, errors, an issue queue); leave these options away";
    return NULL;
}

int trace_writer_open(machine *m, const char *folder, int has_values, char error[LAUNCH_ERROR_BYTES]) {
    const char *why = cannot_be_written(m);
    trace_writer *t = why ? NULL : (trace_writer *)calloc(1, sizeof *t);
    if (!why && (!t || !(t->kernels = (written_kernel *)calloc(m->kernel_count, sizeof *t->kernels))))
        why = "out of memory";
    if (why) {
        free(t);
        snprintf(error, LAUNCH_ERROR_BYTES, "--write-trace: %s", why);
        return -1;
    }
    t->has_values = has_values;
    m->of_part[PART_trace_writer] = t;
    parts_find(m);
    m->plain = m->sources_timed = 0; /* operands are captured where they are read */
    if (!begin_files(m, t, folder)) return 0;
    snprintf(error, LAUNCH_ERROR_BYTES, "--write-trace: cannot write to %s: %s", folder, strerror(errno));
    (void)trace_writer_close(m);
    return -1;
}

const part trace_writer_part = {
    .name = "trace_writer",
    .traits = PART_ON_PATH,
    .is_present = is_present,
    .close = close_part,
    .operands_read = operands_read,
    .retires = retires,
    .warp_starts = warp_starts,
    .block_left = block_left,
};
