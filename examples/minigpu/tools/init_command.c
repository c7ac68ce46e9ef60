#define _GNU_SOURCE
#include "tools/init_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/addresses.h"
#include "analysis/analysis.h"
#include "output.h"
#include "ptx/demangle.h"
#include "ptx/kernel_names.h"
#include "tools/init_signature.h"

#define STATUS_RIGHT 0
#define STATUS_WRONG 1
#define STATUS_BAD_INPUT 2
#define GUESSED_BLOCKS 4u
#define GUESSED_THREADS 256u

/* How a kernel uses the buffer behind a pointer parameter. */
typedef struct pointer_use {
    uint32_t type; /* value_type of the first access; TYPE_NONE: no access was traced */
    uint32_t vector;
    int is_read, is_written, is_copied; /* copied: by cp.async alone so far */
} pointer_use;

/* The type of a launch file's elements for what PTX calls a type. */
static launch_type element_type(uint32_t type) {
    switch (type) {
    case TYPE_S8: return LAUNCH_S8;
    case TYPE_U16:
    case TYPE_B16: return LAUNCH_U16;
    case TYPE_F16: return LAUNCH_F16;
    case TYPE_BF16: return LAUNCH_BF16;
    case TYPE_S16: return LAUNCH_S16;
    case TYPE_U32:
    case TYPE_B32: return LAUNCH_U32;
    case TYPE_S32: return LAUNCH_S32;
    case TYPE_U64:
    case TYPE_B64: return LAUNCH_U64;
    case TYPE_S64: return LAUNCH_S64;
    case TYPE_F32: return LAUNCH_F32;
    case TYPE_F64: return LAUNCH_F64;
    default: return LAUNCH_U8;
    }
}

/* An asynchronous copy moves bytes of no type: words, as most elements are. */
static uint32_t copied_type(uint32_t bytes) { return bytes == 8 ? TYPE_B64 : TYPE_B32; }

/* Finds how a kernel uses its pointers. Returns 0, or -1: unknown. */
static int find_uses(const kernel_program *kernel, pointer_use *uses) {
    access_address *accesses = (access_address *)calloc(kernel->count + 1u, sizeof *accesses);
    analysis a;
    gpump_diag diag;
    uint32_t i;
    memset(&diag, 0, sizeof diag);
    if (!accesses || analysis_create(kernel, &a, &diag) != GPUMP_OK) {
        free(accesses);
        return -1;
    }
    if (addresses_trace(kernel, a.program, NULL, accesses) == GPUMP_OK) {
        for (i = 0; i < kernel->count; i++) {
            const instruction *in = &kernel->instructions[i];
            pointer_use *use = &uses[accesses[i].number];
            if (!instruction_access_bytes(in) || accesses[i].kind != PLACE_PARAMETER) continue;
            use->is_read |= in->opcode != OPCODE_ST;
            use->is_written |= in->opcode != OPCODE_LD && in->opcode != OPCODE_COPY;
            if (use->type != TYPE_NONE && !use->is_copied) continue;
            use->is_copied = in->opcode == OPCODE_COPY; /* any other access has a more precise type */
            use->type = use->is_copied ? copied_type(in->lookup) : in->type;
            use->vector = use->is_copied ? (in->lookup == 16 ? 4 : 1) : in->vector;
        }
    }
    analysis_destroy(&a);
    free(accesses);
    return 0;
}

static void write_pointer(FILE *out, const pointer_use *use, const signature_element *said, uint32_t kernel,
                          uint32_t index, uint64_t count) {
    const uint32_t vector = said ? said->count : use->vector ? use->vector : 1;
    const launch_type type = said ? said->type : element_type(use->type);
    fprintf(out, "      - buffer: {name: k%u_arg%u, type: %s, count: %" PRIu64 "}   # GUESS: count", kernel, index,
            launch_type_name(type), count * vector);
    if (use->type == TYPE_NONE)
        fprintf(out, "%s; the kernel's use of it could not be traced", said ? "" : " and type");
    else
        fprintf(out, "; the kernel %s it",
                use->is_read && use->is_written ? "reads and writes"
                : use->is_written               ? "writes"
                                                : "reads");
    if (vector > 1) fprintf(out, ", %u elements at a time", vector);
    if (use->is_read)
        fputs("\n        # filled with zeros; or inside the braces: values: [1, 2], constant: 1, ramp: {start: 0, "
              "step: 1}, "
              "random: {seed: 1},\n        # file: data.bin, or instead of all that same_as: NAME of an earlier buffer",
              out);
    fputc('\n', out);
}

/* cpp_name: the kernel's C++ name; NULL: it has none. */
static void write_parameter(FILE *out, const kernel_parameter *p, const char *cpp_name, const pointer_use *use,
                            uint32_t kernel, uint32_t index, uint64_t count) {
    signature_element said;
    const int is_said = signature_parameter(cpp_name, index, &said);
    if (p->is_pointer) {
        write_pointer(out, use, is_said ? &said : NULL, kernel, index, count);
    } else if (p->is_array && !(is_said && said.count * launch_type_bytes(said.type) == p->bytes)) {
        uint32_t i, width = p->bytes % 4 ? 1 : 4;
        fprintf(out, "      - struct: [{type: %s, values: [", width == 4 ? "u32" : "u8");
        for (i = 0; i < p->bytes / width; i++) fprintf(out, "%s0", i ? ", " : "");
        fprintf(out,
                "]}]   # GUESS: members and values; %u bytes passed by value. An address is {pointer: {to: NAME}}\n",
                p->bytes);
    } else if (p->is_array && said.count > 1) {
        uint32_t i;
        fprintf(out, "      - struct: [{type: %s, values: [", launch_type_name(said.type));
        for (i = 0; i < said.count; i++) fprintf(out, "%s1", i ? ", " : "");
        fputs("]}]   # GUESS: values\n", out);
    } else if (is_said && p->bytes == 8 && launch_type_bytes(said.type) * said.count != 8) {
        fprintf(
            out,
            "      - scalar: {type: u64, value: 0}   # GUESS: a null pointer; where it is none, a buffer of %s: the "
            "kernel accesses nothing by it\n",
            launch_type_name(said.type));
    } else {
        const launch_type type =
            is_said && launch_type_bytes(said.type) == p->bytes ? said.type : element_type(p->type);
        fprintf(out, "      - scalar: {type: %s, value: %" PRIu64 "}   # GUESS: value%s\n", launch_type_name(type),
                p->bytes >= 4 && !launch_type_is_float(type) ? count : 1,
                p->bytes == 8 && !is_said && !launch_type_is_float(type)
                    ? "; or a texture object, or a pointer that is only passed on"
                    : "");
    }
}

static void write_textures(FILE *out, const ptx_module *module, const kernel_program *kernel) {
    uint8_t *used = (uint8_t *)calloc(module->texture_count + 1u, 1);
    uint32_t i, any = 0;
    for (i = 0; used && i < kernel->count; i++) {
        const instruction *in = &kernel->instructions[i];
        if (in->opcode != OPCODE_TEX || in->sources[0].kind != OPERAND_IMMEDIATE) continue;
        if (in->sources[0].immediate < module->texture_count) used[in->sources[0].immediate] = 1;
    }
    for (i = 0; used && i < module->texture_count; i++) {
        if (!used[i]) continue;
        if (!any++) fputs("    textures:\n", out);
        fprintf(out, "      - {name: %s, texture: {width: 64}, buffer: {type: f32, count: 64}}   # GUESS: all sizes\n",
                module->textures[i].name);
    }
    free(used);
}

static void write_kernel(FILE *out, const ptx_module *module, const kernel_program *kernel, const char *ptx,
                         uint32_t number) {
    pointer_use *uses = (pointer_use *)calloc(kernel->parameter_count + 1u, sizeof *uses);
    char *name = demangle(kernel->name);
    uint32_t block[3] = {GUESSED_THREADS, 1, 1}, i, guessed = 1;
    uint64_t count;
    const uint32_t *given = kernel->required_threads[0] ? kernel->required_threads : NULL;
    if (given) {
        guessed = 0;
        for (i = 0; i < 3; i++) block[i] = given[i] ? given[i] : 1;
    } else if (kernel->max_threads[0] && kernel->max_threads[0] < block[0]) {
        block[0] = kernel->max_threads[0];
    }
    count = (uint64_t)block[0] * block[1] * block[2] * GUESSED_BLOCKS;
    if (uses) find_uses(kernel, uses);
    fprintf(out, "  - ptx: %s\n    kernel: %s%s%s\n", ptx, kernel->name, name ? "   # " : "", name ? name : "");
    fprintf(out, "    grid: [%u, 1, 1]   # GUESS: blocks in x, y and z\n", GUESSED_BLOCKS);
    fprintf(out, "    block: [%u, %u, %u]   # %s\n", block[0], block[1], block[2],
            guessed ? "GUESS: threads of a block in x, y and z" : "as the kernel requires (.reqntid)");
    if (kernel->uses_extern_shared)
        fputs("    dynamic_shared_bytes: 4096   # GUESS: the third number between <<< and >>>\n", out);
    if (kernel->parameter_count) fputs("    arguments:\n", out);
    for (i = 0; uses && i < kernel->parameter_count; i++)
        write_parameter(out, &kernel->parameters[i], name, &uses[i], number, i, count);
    write_textures(out, module, kernel);
    free(name);
    free(uses);
}

static void write_symbols(FILE *out, const ptx_module *module) {
    uint32_t i;
    if (!module->symbol_count) return;
    fputs(
        "    # Variables of the file hold what the PTX says, or zeros; to fill one, take its # away:\n    # symbols:\n",
        out);
    for (i = 0; i < module->symbol_count; i++) {
        const ptx_symbol *s = &module->symbols[i];
        const uint32_t width = type_bytes(s->type) ? type_bytes(s->type) : 1;
        char *name = demangle(s->name);
        fprintf(out, "    #   - {name: \"%s\", buffer: {type: %s, count: %" PRIu64 "}}   # %s%s\n",
                name ? name : s->name, launch_type_name(element_type(s->type)), s->bytes / width,
                s->space == SPACE_CONST ? "__constant__" : "__device__",
                width == 1 && s->bytes > 1 ? "; PTX tells bytes alone: set type and count as CUDA has them" : "");
        free(name);
    }
}

static void write_launch(FILE *out, const ptx_module *module, const kernel_program *const *kernels, uint32_t count,
                         const char *ptx) {
    uint32_t i;
    fputs("# A launch file to begin with. Values marked GUESS are guessed: set them as the CUDA program does.\n"
          "# docs/launch_files.md, has every key. Then:\n"
          "#   minigpu run THIS.yaml --dump out             run it; buffers are in out/ afterwards\n"
          "#   minigpu run THIS.yaml --preempt 1000         empty every SM at cycle 1000: the results must stay\n"
          "#   minigpu run THIS.yaml --races                words whose value depends on the order of blocks or warps\n"
          "kernels:\n",
          out);
    for (i = 0; i < count; i++) write_kernel(out, module, kernels[i], ptx, i + 1);
    write_symbols(out, module);
    fputs("    # To have the result checked, give bytes of a file or a value that every element must have:\n"
          "    # expect:\n"
          "    #   buffers: [{argument: 0, file: expected.bin, absolute: 1.0e-6}]\n",
          out);
    for (i = 0; i < module->refusal_count; i++) fprintf(out, "# not to be run: %s\n", module->refusals[i].text);
}

/* Returns the PTX file's path relative to the folder of `out`; allocated, NULL when memory is out. */
static char *relative_path(const char *ptx, const char *out) {
    const char *slash, *ptx_slash;
    size_t folder, ptx_folder;
    if (strncmp(ptx, "./", 2) == 0) ptx += 2;
    if (out && strncmp(out, "./", 2) == 0) out += 2;
    slash = out ? strrchr(out, '/') : NULL;
    ptx_slash = strrchr(ptx, '/');
    folder = slash ? (size_t)(slash - out) + 1 : 0;
    ptx_folder = ptx_slash ? (size_t)(ptx_slash - ptx) + 1 : 0;
    if (!folder) return strdup(ptx);
    if (folder == ptx_folder && strncmp(ptx, out, folder) == 0) return strdup(ptx + folder);
    return realpath(ptx, NULL);
}

typedef struct init_arguments {
    option_texts names; /* kernels, in this order; none: all */
    const char *out;
} init_arguments;

static const option_row init_rows[] = {
    {.name = "kernel",
     .argument = "NAME",
     .kind = OPTION_TEXTS,
     .high = OPTION_TEXTS_MAX,
     .many = 1,
     .offset = offsetof(init_arguments, names),
     .group = "Options",
     .text = "Only this kernel, by its name in the file or in C++. May be repeated; the launch file has the same "
             "order."},
    {.name = "out",
     .argument = "FILE",
     .kind = OPTION_OUTPUT,
     .offset = offsetof(init_arguments, out),
     .group = "Options",
     .text = "Writes there (default: standard output). A file that exists is not overwritten."},
    {.name = NULL}};
static const option_set init_sets[] = {{init_rows, 0}, {NULL, 0}};

/* The kernels of a file for the launch file. */
typedef struct chosen_kernels {
    const kernel_program **kernels;
    uint32_t count;
} chosen_kernels;

/* Finds one kernel by its name. Returns NULL after a report. */
static const kernel_program *find_kernel(const ptx_module *module, const char *path, const char *name) {
    int several;
    const char *found = kernel_name_find(module, name, &several);
    const ptx_refusal *refusal = found ? ptx_find_refusal(module, found) : NULL;
    char list[1024];
    if (found && !refusal) return ptx_find_kernel(module, found);
    kernel_name_list(module, list, sizeof list);
    if (refusal)
        fprintf(stderr, "%s\n", refusal->text);
    else
        fprintf(stderr, "minigpu: %s has %s kernel named \"%s\"; it has: %s\n", path, several ? "more than one" : "no",
                name, list);
    return NULL;
}

/* Chooses the named kernels, or all. Returns 0, or -1 after a report. */
static int choose_kernels(const ptx_module *module, const char *path, const option_texts *names, chosen_kernels *to) {
    uint32_t i;
    to->kernels = (const kernel_program **)calloc(names->count + module->kernel_count + 1u, sizeof *to->kernels);
    if (!to->kernels) return -1;
    for (i = 0; i < names->count; i++)
        if (!(to->kernels[to->count++] = find_kernel(module, path, names->texts[i]))) return -1;
    for (i = 0; !names->count && i < module->kernel_count; i++) to->kernels[to->count++] = &module->kernels[i];
    if (to->count) return 0;
    fprintf(stderr, "minigpu: %s has no kernel that can be run%s%s\n", path, module->refusal_count ? ": " : "",
            module->refusal_count ? module->refusals[0].text : "");
    return -1;
}

/* Writes the launch file. Returns the exit status. */
static int write_out(const ptx_module *module, const chosen_kernels *chosen, const char *path, const char *out_path) {
    char *ptx = relative_path(path, out_path);
    FILE *out = stdout;
    if (!ptx) return STATUS_BAD_INPUT;
    if (out_path && !(out = fopen(out_path, "wx"))) {
        fprintf(stderr, "minigpu: init: cannot write %s: %s\n", out_path, strerror(errno));
        free(ptx);
        return STATUS_BAD_INPUT;
    }
    write_launch(out, module, chosen->kernels, chosen->count, ptx);
    free(ptx);
    return out_path && output_close(out, "minigpu", out_path) ? STATUS_WRONG : STATUS_RIGHT;
}

static int init(const option_command *command, int argc, char **argv) {
    static init_arguments a;
    chosen_kernels chosen = {NULL, 0};
    ptx_module module;
    ptx_error wrong;
    int operands, status = options_read(command, argc, argv, &a, &operands);
    if (status != OPTIONS_GO_ON) return status;
    if (operands != 1)
        return option_misuse("init", operands ? "one FILE.ptx; one too many is" : "which FILE.ptx?",
                             operands ? argv[2] : NULL);
    memset(&module, 0, sizeof module);
    memset(&wrong, 0, sizeof wrong);
    status = STATUS_BAD_INPUT;
    if (ptx_read_file(argv[1], &module, &wrong)) {
        fprintf(stderr, "%s\n", wrong.text);
    } else {
        ptx_link(&module, UINT64_C(0x10000000), UINT64_C(0x20000000));
        if (!choose_kernels(&module, argv[1], &a.names, &chosen)) status = write_out(&module, &chosen, argv[1], a.out);
    }
    free(chosen.kernels);
    ptx_free(&module);
    return status;
}

const option_command init_command = {
    .name = "init",
    .what = "a launch file to begin with, from a PTX file",
    .usage = "minigpu init FILE.ptx [--kernel NAME] [--out LAUNCH.yaml]",
    .sets = init_sets,
    .notes = "Writes a launch file with every kernel (or one), its parameters with their types, and sizes as guesses.\n"
             "exit status: 0 done, 1 the output could not be written, 2 bad input, or no kernel can be run",
    .run = init,
};
