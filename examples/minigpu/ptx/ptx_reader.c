/* ptx_reader: the file as a whole: directives, kernels, functions, module-scope variables. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ptx/ptx_operands.h"

#define MAX_FILE_BYTES ((size_t)1 << 30)

void ptx_kernel_reset(ptx_reader *reader) {
    reader->count = 0;
    reader->pending_count = 0;
    reader->extern_count = 0;
    reader->return_count = 0;
    reader->registers = reader->predicates = 0;
    reader->carry = INSTRUCTION_NONE;
    reader->shared_bytes = reader->local_bytes = reader->local_peak = 0;
    reader->shared_alignment = 1;
    reader->uses_extern_shared = reader->keeps_loop = 0;
    reader->system_shared = 0;
    reader->inline_depth = 0;
    reader->constant_depth = 0;
    reader->range_ids = 0;
    if (reader->range_count) memset(reader->ranges, 0, reader->range_capacity * sizeof *reader->ranges);
    reader->range_count = 0;
    reader->kernel_epoch++;
}

/* Skips a body, from behind its '{' to behind its '}'. */
static int skip_body(ptx_reader *reader) {
    uint32_t depth = 1;
    while (depth) {
        if (reader->token.kind == TOKEN_END) return ptx_expect(reader, '}', "at the end of the body");
        if (ptx_at(reader, '{'))
            depth++;
        else if (ptx_at(reader, '}'))
            depth--;
        ptx_next(reader);
    }
    return 0;
}

/* Reads the directives between a kernel's parameters and its body. */
static int read_tuning(ptx_reader *reader, kernel_program *kernel) {
    while (reader->token.kind == TOKEN_DOT) {
        ptx_token token = reader->token;
        uint32_t *target = NULL, numbers[3] = {0, 0, 0}, count = 0;
        ptx_next(reader);
        if (ptx_token_is(&token, ".pragma")) {
            while (!ptx_at(reader, ';') && reader->token.kind != TOKEN_END) ptx_next(reader);
            if (ptx_expect(reader, ';', "after .pragma")) return -1;
            continue;
        }
        while (reader->token.kind == TOKEN_INTEGER) {
            if (count < 3) numbers[count++] = (uint32_t)reader->token.value;
            ptx_next(reader);
            if (!ptx_take(reader, ',')) break;
        }
        if (ptx_token_is(&token, ".maxntid"))
            target = kernel->max_threads;
        else if (ptx_token_is(&token, ".reqntid"))
            target = kernel->required_threads;
        else if (ptx_token_is(&token, ".minnctapersm"))
            kernel->min_blocks_per_sm = numbers[0];
        if (target) {
            if (count == 0)
                return ptx_fail(reader, &token, "%.*s needs one to three numbers", (int)token.length, token.start);
            for (uint32_t i = 0; i < 3; i++) target[i] = i < count ? numbers[i] : 1;
        }
    }
    return 0;
}

static int read_parameters(ptx_reader *reader, kernel_program *kernel) {
    uint64_t offset = 0;
    uint32_t capacity = 0;
    kernel_parameter *grown = NULL;
    int status = -1;
    if (!ptx_take(reader, '(')) return 0;
    if (ptx_take(reader, ')')) return 0;
    do {
        ptx_formal formal;
        ptx_token token = reader->token;
        if (ptx_formal_parameter(reader, &formal)) goto done;
        if (formal.is_register) {
            ptx_fail(reader, &token, "a kernel's parameters are .param");
            goto done;
        }
        symbol *fresh = ptx_declare_once(reader, &token, formal.name, SYMBOL_VARIABLE);
        if (!fresh) goto done;
        offset = (offset + formal.alignment - 1) / formal.alignment * formal.alignment;
        fresh->space = SPACE_PARAM;
        fresh->type = formal.type;
        fresh->element_bytes = formal.element_bytes;
        fresh->offset = offset;
        fresh->bytes = formal.bytes;
        if (PTX_GROW(reader, grown, kernel->parameter_count, capacity)) goto done;
        kernel_parameter *parameter = &grown[kernel->parameter_count++];
        memset(parameter, 0, sizeof *parameter);
        parameter->name = ptx_copy_text(reader->module, formal.name.text, formal.name.length);
        if (!parameter->name) {
            ptx_out_of_memory(reader);
            goto done;
        }
        parameter->offset = (uint32_t)offset;
        parameter->bytes = (uint32_t)formal.bytes;
        parameter->type = (uint8_t)formal.type;
        parameter->is_array = (uint8_t)formal.is_array;
        parameter->is_pointer = (uint8_t)formal.is_pointer;
        parameter->space = (uint8_t)formal.pointer_space;
        offset += formal.bytes;
        if (offset > 65536) {
            ptx_fail(reader, &token, "the parameters take more than 65536 bytes");
            goto done;
        }
    } while (ptx_take(reader, ','));
    if (ptx_expect(reader, ')', "after the parameters")) goto done;
    kernel->parameter_bytes = (uint32_t)offset;
    kernel->parameters = (kernel_parameter *)ptx_allocate(reader->module, kernel->parameter_count * sizeof *grown);
    if (!kernel->parameters)
        ptx_out_of_memory(reader);
    else {
        memcpy(kernel->parameters, grown, kernel->parameter_count * sizeof *grown);
        status = 0;
    }
done:
    free(grown);
    return status;
}

/* Places the extern shared arrays behind the static ones, whose size is known now. */
static void place_extern_shared(ptx_reader *reader) {
    uint32_t alignment = reader->shared_alignment < 16 ? 16 : reader->shared_alignment;
    if (!reader->uses_extern_shared) return;
    reader->shared_bytes = (reader->shared_bytes + alignment - 1) / alignment * alignment;
    for (uint32_t i = 0; i < reader->extern_count; i++) {
        const ptx_relocation *use = &reader->extern_shared[i];
        instruction *target = &reader->code[use->instruction];
        if (use->slot == INSTRUCTION_SOURCES)
            target->offset = use->addend + reader->shared_bytes;
        else
            target->sources[use->slot].immediate = (uint64_t)use->addend + reader->shared_bytes;
    }
}

/* Returns whether execution can reach the place behind the last instruction, by falling through or by a branch. */
static int runs_past_its_end(const ptx_reader *reader) {
    for (uint32_t i = 0; i < reader->count; i++)
        if (reader->code[i].opcode == OPCODE_BRA && reader->code[i].target == reader->count) return 1;
    if (reader->count == 0) return 1;
    const instruction *last = &reader->code[reader->count - 1];
    return last->guard != INSTRUCTION_NONE || (last->opcode != OPCODE_BRA && last->opcode != OPCODE_RET &&
                                               last->opcode != OPCODE_EXIT && last->opcode != OPCODE_TRAP);
}

/* Reads a kernel from its parameters on. */
static int read_kernel_body(ptx_reader *reader, kernel_program *kernel, int *is_prototype) {
    ptx_module *module = reader->module;
    *is_prototype = 0;
    if (read_parameters(reader, kernel) || read_tuning(reader, kernel)) return -1;
    if (ptx_take(reader, ';')) {
        *is_prototype = 1;
        return 0;
    }
    if (ptx_expect(reader, '{', "before the kernel's body")) return -1;
    if (ptx_body(reader)) return -1;
    if (reader->pending_count) {
        ptx_token token = reader->token;
        token.line = reader->pending[0].line;
        token.column = reader->pending[0].column;
        return ptx_fail(reader, &token, "label '%.*s' is not defined",
                        (int)(reader->pending[0].name.length < 80 ? reader->pending[0].name.length : 80),
                        reader->pending[0].name.text);
    }
    int needs_return = runs_past_its_end(reader);
    if (needs_return && reader->count)
        return ptx_fail(reader, &reader->token, "the kernel can run past its last instruction; end it with ret");
    if (needs_return) {
        instruction end;
        ptx_blank(&end, &reader->token);
        end.opcode = OPCODE_RET;
        if (ptx_emit(reader, &end)) return -1;
    }
    ptx_next(reader);
    place_extern_shared(reader);
    if (ptx_mark_pointers(reader, kernel) || control_flow_resolve(reader->code, reader->count))
        return ptx_out_of_memory(reader);
    kernel->count = reader->count;
    kernel->registers = kernel->ptx_registers = reader->registers;
    kernel->predicates = reader->predicates;
    kernel->shared_bytes = reader->shared_bytes;
    kernel->uses_extern_shared = reader->uses_extern_shared;
    kernel->local_bytes = (reader->local_peak + 7) / 8 * 8;
    for (uint32_t i = 0; i < reader->count; i++) {
        const uint32_t opcode = reader->code[i].opcode;
        kernel->uses_textures |= opcode == OPCODE_TEX || opcode == OPCODE_SULD || opcode == OPCODE_SUST;
        for (uint32_t k = 0; k < reader->code[i].source_count; k++)
            kernel->uses_grid_barrier |= reader->code[i].sources[k].kind == OPERAND_SPECIAL &&
                                         reader->code[i].sources[k].index == SPECIAL_ENVREG2;
        kernel->uses_printing |= opcode == OPCODE_PRINT;
        kernel->uses_heap |= opcode == OPCODE_MALLOC || opcode == OPCODE_FREE;
    }
    kernel->instructions = (instruction *)ptx_allocate(module, reader->count * sizeof *kernel->instructions);
    if (!kernel->instructions) return ptx_out_of_memory(reader);
    memcpy(kernel->instructions, reader->code, reader->count * sizeof *kernel->instructions);
    return 0;
}

static int add_refusal(ptx_reader *reader, const char *kernel) {
    ptx_module *module = reader->module;
    const ptx_error *error = reader->error;
    char text[640];
    /* The message keeps "file:line:column: " in front, and then names the kernel. */
    snprintf(text, sizeof text, "%.200s:%u:%u: kernel %.100s: %s", module->file_name, error->line, error->column,
             kernel, error->text + snprintf(NULL, 0, "%.200s:%u:%u: ", module->file_name, error->line, error->column));
    if (PTX_GROW(reader, module->refusals, module->refusal_count, reader->refusal_capacity)) return -1;
    ptx_refusal *refusal = &module->refusals[module->refusal_count];
    refusal->kernel = kernel;
    refusal->opcode = ptx_copy_text(module, reader->refused_opcode, strlen(reader->refused_opcode));
    refusal->text = ptx_copy_text(module, text, strlen(text));
    refusal->line = error->line;
    refusal->column = error->column;
    if (!refusal->opcode || !refusal->text) return ptx_out_of_memory(reader);
    module->refusal_count++;
    return 0;
}

static int read_kernel(ptx_reader *reader) {
    ptx_module *module = reader->module;
    kernel_program kernel;
    ptx_name name;
    ptx_token token = reader->token;
    int is_prototype = 0;
    memset(&kernel, 0, sizeof kernel);
    if (ptx_expect_name(reader, &name, "the kernel's name")) return -1;
    kernel.name = ptx_copy_text(module, name.text, name.length);
    if (!kernel.name) return ptx_out_of_memory(reader);
    if (ptx_find_kernel(module, kernel.name) || ptx_find_refusal(module, kernel.name))
        return ptx_fail(reader, &token, "kernel '%.100s' is defined twice", kernel.name);
    kernel.file_name = module->file_name;
    ptx_kernel_reset(reader);
    ptx_lexer place = ptx_here(reader);
    uint32_t relocations = module->relocation_count;
    reader->kernel_name = kernel.name;
    reader->refused = 0;
    if (ptx_scope_open(reader)) return -1;
    int status = read_kernel_body(reader, &kernel, &is_prototype);
    reader->kernel_name = NULL;
    if (status && !reader->refused) return -1;
    reader->pending_count = 0;
    while (reader->depth) ptx_scope_close(reader);
    if (status) { /* a refused kernel: its declarations are dropped, and reading continues behind it */
        reader->refused = 0;
        module->relocation_count = relocations;
        if (add_refusal(reader, kernel.name)) return -1;
        ptx_go_to(reader, &place);
        while (!ptx_at(reader, '{') && !ptx_at(reader, ';') && reader->token.kind != TOKEN_END) ptx_next(reader);
        if (ptx_take(reader, ';')) return 0;
        if (ptx_expect(reader, '{', "before the kernel's body")) return -1;
        return skip_body(reader);
    }
    if (is_prototype) return 0;
    if (PTX_GROW(reader, module->kernels, module->kernel_count, reader->kernel_capacity)) return -1;
    module->kernels[module->kernel_count++] = kernel;
    return 0;
}

/* Records where the text of a .func is. Calls read the text there. */
static int read_function(ptx_reader *reader) {
    ptx_lexer place = ptx_here(reader);
    ptx_name name;
    if (ptx_at(reader, '(')) {
        while (!ptx_at(reader, ')')) {
            if (reader->token.kind == TOKEN_END) return ptx_expect(reader, ')', "after the results");
            ptx_next(reader);
        }
        ptx_next(reader);
    }
    if (ptx_expect_name(reader, &name, "the function's name")) return -1;
    symbol *function = ptx_lookup(reader, name);
    if (!function || function->kind != SYMBOL_FUNCTION) {
        function = ptx_declare(reader, name, SYMBOL_FUNCTION);
        if (!function) return -1;
    }
    while (!ptx_at(reader, '{') && !ptx_at(reader, ';')) {
        if (reader->token.kind == TOKEN_END) return ptx_expect(reader, '{', "before the function's body");
        ptx_next(reader);
    }
    if (ptx_take(reader, ';')) return 0;
    function->has_body = 1;
    function->place = place;
    ptx_next(reader);
    return skip_body(reader);
}

/* Reads what follows .func: attributes, then the function. */
static int read_function_statement(ptx_reader *reader) {
    while (reader->token.kind == TOKEN_DOT) { /* .attribute(...) and the like */
        ptx_next(reader);
        if (ptx_at(reader, '(')) {
            ptx_lexer ahead = reader->lexer;
            ptx_token next;
            ptx_lexer_next(&ahead, &next);
            if (next.kind == TOKEN_DOT && (ptx_token_is(&next, ".param") || ptx_token_is(&next, ".reg"))) break;
            while (!ptx_at(reader, ')') && reader->token.kind != TOKEN_END) ptx_next(reader);
            ptx_next(reader);
        }
    }
    return read_function(reader);
}

/* Finds the text of every function before any call is read, because a function may stand behind its calls. Errors of
 * the text are reported later, when the text is read. */
static void find_functions(ptx_reader *reader) {
    ptx_lexer start = ptx_here(reader);
    int status = 0;
    while (!status && reader->token.kind != TOKEN_END) {
        if (ptx_take(reader, '{')) {
            status = skip_body(reader);
        } else if (ptx_token_is(&reader->token, ".func")) {
            ptx_next(reader);
            status = read_function_statement(reader);
        } else
            ptx_next(reader);
    }
    ptx_go_to(reader, &start);
}

/* Numbers the functions whose address the text takes. Such a function's name stands in a list of initial values, or is
 * an operand of another instruction than a call. Pointers to functions hold these numbers. */
static void number_functions(ptx_reader *reader) {
    ptx_lexer start = ptx_here(reader);
    ptx_token before = reader->token;
    uint32_t last = 0, in_call = 0;
    for (; reader->token.kind != TOKEN_END; before = reader->token, ptx_next(reader)) {
        if (ptx_at(reader, ';')) in_call = 0;
        if (reader->token.kind != TOKEN_NAME) continue;
        if (ptx_token_is(&reader->token, "call")) in_call = 1;
        if (in_call || before.kind != TOKEN_PUNCTUATION || !strchr(",{=(", (int)before.value)) continue;
        ptx_name name = {reader->token.start, reader->token.length};
        symbol *function = ptx_lookup(reader, name);
        if (function && function->kind == SYMBOL_FUNCTION && !function->address) function->address = ++last;
    }
    ptx_go_to(reader, &start);
}

/* Skips a declaration that this reader does not support. Kernels that use the name are refused. */
static int skip_declaration(ptx_reader *reader, const ptx_lexer *place) {
    ptx_name name = {NULL, 0};
    uint32_t depth = 0;
    ptx_go_to(reader, place);
    while (!ptx_at(reader, ';') || depth) {
        if (reader->token.kind == TOKEN_END) return ptx_expect(reader, ';', "after the declaration");
        if (ptx_at(reader, '{')) depth++;
        if (ptx_at(reader, '}') && depth) depth--;
        if (reader->token.kind == TOKEN_NAME && !depth && !name.text) {
            name.text = reader->token.start;
            name.length = reader->token.length;
        }
        ptx_next(reader);
    }
    ptx_next(reader);
    reader->refused = 0;
    return !name.text || ptx_declare(reader, name, SYMBOL_UNSUPPORTED) ? 0 : -1;
}

/* Checks the version. The table has the newest minor version of every major version, from the release history of the
 * PTX ISA; every minor version of 9 is accepted. */
static int read_version(ptx_reader *reader) {
    static const uint32_t newest[] = {0, 5, 3, 2, 3, 0, 5, 8, 8, 9};
    ptx_module *module = reader->module;
    double number;
    ptx_next(reader);
    if (reader->token.kind != TOKEN_FLOAT64) return ptx_fail(reader, &reader->token, ".version needs major.minor");
    memcpy(&number, &reader->token.value, 8);
    if (number >= 1 && number < 10) {
        module->version_major = (uint32_t)number;
        module->version_minor = (uint32_t)((number - module->version_major) * 10 + 0.5);
    }
    if (!module->version_major || module->version_minor > newest[module->version_major])
        return ptx_fail(reader, &reader->token, "there is no PTX version %.*s; versions are 1.0 to 9.9",
                        (int)(reader->token.length < 40 ? reader->token.length : 40), reader->token.start);
    ptx_next(reader);
    return 0;
}

/* Reads sm_NN, with or without the suffix of one architecture or family, or a word that concerns the whole file. */
static int read_target(ptx_reader *reader) {
    static const uint8_t known[] = {10, 11, 12, 13, 20, 21, 30, 32, 35, 37,  50,  52,  53,  60,  61, 62,
                                    70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};
    static const char *const words[] = {"texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"};
    ptx_next(reader);
    do {
        const ptx_token token = reader->token;
        ptx_name name;
        uint32_t number = 0, i = 3, k;
        if (ptx_expect_name(reader, &name, "a target such as sm_75")) return -1;
        for (k = 0; k < sizeof words / sizeof *words && !ptx_token_is(&token, words[k]);) k++;
        if (k < sizeof words / sizeof *words) continue;
        if (name.length > 3 && memcmp(name.text, "sm_", 3) == 0)
            for (; i < name.length && i < 7 && name.text[i] >= '0' && name.text[i] <= '9'; i++)
                number = number * 10 + (uint32_t)(name.text[i] - '0');
        if (i + 1 == name.length && (name.text[i] == 'a' || name.text[i] == 'f') && number >= 90) i++;
        for (k = 0; k < sizeof known && known[k] != number;) k++;
        if (i != name.length || k == sizeof known)
            return ptx_fail(reader, &token, "there is no target %.*s; targets are sm_10 to sm_121",
                            (int)(name.length < 40 ? name.length : 40), name.text);
        reader->module->target = number;
    } while (ptx_take(reader, ','));
    return 0;
}

static int read_module_statement(ptx_reader *reader) {
    ptx_token token = reader->token;
    uint32_t is_extern = 0;
    if (ptx_take(reader, ';')) return 0;
    if (token.kind != TOKEN_DOT) {
        int shown = (int)(token.length < 40 ? token.length : 40);
        if (token.kind == TOKEN_BAD) return ptx_fail_expected(reader, "a directive", "");
        return ptx_fail(reader, &token, "expected a directive, found '%.*s'", shown, token.start);
    }
    while (ptx_token_is(&reader->token, ".visible") || ptx_token_is(&reader->token, ".extern") ||
           ptx_token_is(&reader->token, ".weak") || ptx_token_is(&reader->token, ".common")) {
        if (ptx_token_is(&reader->token, ".extern")) is_extern = 1;
        ptx_next(reader);
    }
    token = reader->token;
    if (ptx_token_is(&token, ".entry")) {
        ptx_next(reader);
        return read_kernel(reader);
    }
    if (ptx_token_is(&token, ".func")) {
        ptx_next(reader);
        return read_function_statement(reader);
    }
    if (ptx_token_is(&token, ".version")) return read_version(reader);
    if (ptx_token_is(&token, ".target")) return read_target(reader);
    if (ptx_token_is(&token, ".address_size")) {
        ptx_next(reader);
        if (reader->token.kind != TOKEN_INTEGER || reader->token.value != 64)
            return ptx_fail(reader, &reader->token, ".address_size is 64 here; compile for 64 bits (-m64)");
        ptx_next(reader);
        return 0;
    }
    if (ptx_token_is(&token, ".file") || ptx_token_is(&token, ".loc")) {
        while (reader->token.kind != TOKEN_END && reader->token.line == token.line) {
            if (reader->token.kind == TOKEN_BAD) return ptx_fail_expected(reader, "a line number or a file name", "");
            ptx_next(reader);
        }
        return 0;
    }
    if (ptx_token_is(&token, ".section")) {
        while (!ptx_at(reader, '{') && reader->token.kind != TOKEN_END) ptx_next(reader);
        if (ptx_expect(reader, '{', "after .section")) return -1;
        return skip_body(reader);
    }
    if (ptx_token_is(&token, ".pragma") || ptx_token_is(&token, ".alias")) {
        while (!ptx_at(reader, ';') && reader->token.kind != TOKEN_END) ptx_next(reader);
        return ptx_expect(reader, ';', "after the directive");
    }
    if (ptx_token_is(&token, ".global") || ptx_token_is(&token, ".const") || ptx_token_is(&token, ".shared") ||
        ptx_token_is(&token, ".tex") || ptx_token_is(&token, ".local") || ptx_token_is(&token, ".param") ||
        ptx_token_is(&token, ".reg")) {
        ptx_lexer place = ptx_here(reader);
        if (ptx_declaration(reader, is_extern) == 0) return 0;
        return reader->refused ? skip_declaration(reader, &place) : -1;
    }
    return ptx_fail(reader, &token, "unknown directive '%.*s'", (int)(token.length < 40 ? token.length : 40),
                    token.start);
}

/* Moves a growing array into the module's memory. */
static int keep(ptx_reader *reader, void **array, size_t bytes, size_t used) {
    void *copy = ptx_allocate(reader->module, bytes ? bytes : 1);
    if (!copy) {
        free(*array);
        *array = NULL;
        return ptx_out_of_memory(reader);
    }
    if (used) memcpy(copy, *array, used);
    free(*array);
    *array = copy;
    return 0;
}

/* Moves all results into the module's memory. After an error the images are left out. */
static int keep_module(ptx_reader *reader, int failed) {
    ptx_module *module = reader->module;
    const uint64_t constants =
        reader->constant_capacity < module->constant_bytes ? reader->constant_capacity : module->constant_bytes;
    const uint64_t globals =
        reader->global_capacity < module->global_bytes ? reader->global_capacity : module->global_bytes;
    int lost = 0;
#define KEEP(array, count) lost |= keep(reader, (void **)&(array), (count) * sizeof *(array), (count) * sizeof *(array))
    KEEP(module->kernels, module->kernel_count);
    KEEP(module->refusals, module->refusal_count);
    KEEP(module->symbols, module->symbol_count);
    KEEP(module->textures, module->texture_count);
    KEEP(module->relocations, module->relocation_count);
#undef KEEP
    failed |= lost;
    lost |= keep(reader, (void **)&module->constant_image, failed ? 0 : (size_t)module->constant_bytes,
                 failed ? 0 : (size_t)constants);
    failed |= lost;
    lost |= keep(reader, (void **)&module->global_image, failed ? 0 : (size_t)module->global_bytes,
                 failed ? 0 : (size_t)globals);
    return lost ? -1 : 0;
}

static void free_reader(ptx_reader *reader) {
    free(reader->symbols);
    free(reader->ranges);
    free(reader->code);
    free(reader->pending);
    free(reader->extern_shared);
    free(reader->returns);
    free(reader);
}

static ptx_reader *new_reader(ptx_module *module, ptx_error *error) {
    ptx_reader *reader = (ptx_reader *)calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->module = module;
    reader->error = error;
    for (uint32_t i = 0; i < PTX_HASH_HEADS; i++) reader->heads[i] = INSTRUCTION_NONE;
    ptx_kernel_reset(reader);
    return reader;
}

/* Reads all statements of a file. */
static int read_module(ptx_reader *reader, const char *text, size_t length) {
    int status = 0;
    if (length > MAX_FILE_BYTES) return ptx_fail(reader, &reader->token, "the file is larger than 1 GiB");
    ptx_lexer_start(&reader->lexer, text, length);
    ptx_next(reader);
    if (reader->token.kind == TOKEN_END)
        return ptx_fail(reader, &reader->token,
                        length ? "the file holds comments and blanks only; PTX begins with .version"
                               : "the file is empty");
    if (!ptx_token_is(&reader->token, ".version"))
        return ptx_fail(reader, &reader->token, "not PTX: expected .version, found '%.*s'",
                        (int)(reader->token.length < 40 ? reader->token.length : 40), reader->token.start);
    find_functions(reader);
    if (reader->symbol_count) number_functions(reader);
    while (!status && reader->token.kind != TOKEN_END)
        if (read_module_statement(reader)) status = ptx_fail_cut(reader);
    return status;
}

int ptx_read(const char *text, size_t length, const char *file_name, ptx_module *module, ptx_error *error) {
    ptx_reader *reader;
    int status;
    memset(module, 0, sizeof *module);
    memset(error, 0, sizeof *error);
    module->file_name = file_name; /* for messages, until it is copied */
    if (!(reader = new_reader(module, error))) {
        snprintf(error->text, sizeof error->text, "%.200s: out of memory", file_name);
        return -1;
    }
    module->file_name = ptx_copy_text(module, file_name, strlen(file_name));
    if (!module->file_name) {
        module->file_name = file_name;
        status = ptx_out_of_memory(reader);
    } else
        status = read_module(reader, text, length);
    /* The first error has been reported; keep_module adds one only when memory runs out. */
    if (keep_module(reader, status)) status = -1;
    free_reader(reader);
    if (status) {
        ptx_free(module);
        return -1;
    }
    ptx_link(module, 0, 0);
    return 0;
}

#define MOST_BYTES (256u << 20) /* bounds the reading of a device that never ends */

int ptx_read_file(const char *path, ptx_module *module, ptx_error *error) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t length = 0, capacity = 0;
    int status = -1;
    memset(module, 0, sizeof *module);
    memset(error, 0, sizeof *error);
    if (!file) {
        snprintf(error->text, sizeof error->text, "%.400s: %s", path, strerror(errno));
        return -1;
    }
    for (;;) {
        if (capacity - length < 65536) {
            char *grown = (char *)realloc(text, capacity = capacity ? capacity * 2 : 1 << 17);
            if (!grown) {
                snprintf(error->text, sizeof error->text, "%.400s: out of memory", path);
                goto done;
            }
            text = grown;
        }
        size_t got = fread(text + length, 1, capacity - length, file);
        length += got;
        if (got == 0) break;
        if (length > MOST_BYTES) {
            snprintf(error->text, sizeof error->text, "%.400s: more than %u MB are no PTX file", path,
                     MOST_BYTES >> 20);
            goto done;
        }
    }
    if (ferror(file)) {
        snprintf(error->text, sizeof error->text, "%.400s: %s", path, strerror(errno));
        goto done;
    }
    status = ptx_read(text, length, path, module, error);
done:
    free(text);
    fclose(file);
    return status;
}

void ptx_link(ptx_module *module, uint64_t const_base, uint64_t global_base) {
    for (uint32_t i = 0; i < module->symbol_count; i++)
        module->symbols[i].address =
            module->symbols[i].offset + (module->symbols[i].space == SPACE_CONST ? const_base : global_base);
    for (uint32_t i = 0; i < module->relocation_count; i++) {
        const ptx_relocation *place = &module->relocations[i];
        uint64_t value = module->symbols[place->symbol].address + (uint64_t)place->addend;
        if (place->kernel != INSTRUCTION_NONE) {
            instruction *target = &module->kernels[place->kernel].instructions[place->instruction];
            if (place->slot == INSTRUCTION_SOURCES)
                target->offset = (int64_t)value;
            else
                target->sources[place->slot].immediate = value;
        } else {
            uint8_t *image = place->instruction == SPACE_CONST ? module->constant_image : module->global_image;
            for (uint32_t b = 0; b < place->slot; b++) image[place->place + b] = (uint8_t)(value >> (8 * b));
        }
    }
}

void ptx_free(ptx_module *module) {
    ptx_chunk *chunk = (ptx_chunk *)module->memory;
    while (chunk) {
        ptx_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    memset(module, 0, sizeof *module);
}

const kernel_program *ptx_find_kernel(const ptx_module *module, const char *name) {
    for (uint32_t i = 0; i < module->kernel_count; i++)
        if (strcmp(module->kernels[i].name, name) == 0) return &module->kernels[i];
    return NULL;
}

const ptx_refusal *ptx_find_refusal(const ptx_module *module, const char *name) {
    for (uint32_t i = 0; i < module->refusal_count; i++)
        if (strcmp(module->refusals[i].kernel, name) == 0) return &module->refusals[i];
    return NULL;
}

const ptx_symbol *ptx_find_symbol(const ptx_module *module, const char *name) {
    for (uint32_t i = module->symbol_count; i-- > 0;)
        if (strcmp(module->symbols[i].name, name) == 0) return &module->symbols[i];
    return NULL;
}
