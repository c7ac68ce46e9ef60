/* launch_arguments: the arguments of a kernel: scalars, structs, buffers, textures. */
#include "launch/launch_reader.h"

#include <inttypes.h>
#include <stdlib.h>

int read_scalar(reader *r, const yaml_node_t *node, launch_argument *argument) {
    static const char *const keys[] = {"type", "value", "step", NULL};
    yaml_node_t *type, *value, *step;
    if (check_mapping(r, node, "scalar", keys)) return -1;
    type = find(r, node, "type");
    value = find(r, node, "value");
    step = find(r, node, "step");
    if (!type || !value) return FAIL(r, node, "a scalar needs a type and a value");
    if (read_type(r, type, &argument->type)) return -1;
    if (step && !r->loop_depth)
        return FAIL(r, step, "a step is added each time a loop begins again: put the kernel into a loop");
    if (step && read_value(r, step, "step", argument->type, &argument->step)) return -1;
    return read_value(r, value, "value", argument->type, &argument->scalar);
}

uint64_t launch_scalar(const launch_argument *argument, uint64_t iteration) {
    const uint32_t width = launch_type_bytes(argument->type);
    uint64_t bits = argument->scalar + iteration * argument->step;
    if (!argument->step) return argument->scalar;
    if (launch_type_is_float(argument->type)) {
        return launch_from_double(argument->type,
                                  launch_as_double(argument->type, argument->scalar) +
                                      (double)iteration * launch_as_double(argument->type, argument->step));
    }
    return width == 8 ? bits : bits & ((UINT64_C(1) << 8 * width) - 1);
}

static int append_member(reader *r, const yaml_node_t *node, launch_type type, const yaml_node_t *value,
                         launch_argument *argument) {
    uint32_t size = launch_type_bytes(type), at = (argument->structure_bytes + size - 1) / size * size;
    uint64_t bits = 0;
    uint8_t *grown;
    if (value && read_value(r, value, "value", type, &bits)) return -1;
    if (at + size > 4096) return FAIL(r, node, "a struct takes at most 4096 bytes");
    grown = (uint8_t *)realloc(argument->structure, at + size);
    if (!grown) return FAIL(r, node, "out of memory");
    memset(grown + argument->structure_bytes, 0, at - argument->structure_bytes);
    memcpy(grown + at, &bits, size); /* little-endian hosts */
    argument->structure = grown;
    argument->structure_bytes = at + size;
    return 0;
}

/* Appends a member that is an address: {pointer: {to: work, element: 3}}. */
static int append_pointer(reader *r, const yaml_node_t *node, uint32_t kernel, uint32_t index,
                          launch_argument *argument) {
    static const char *const keys[] = {"to", "element", NULL};
    launch_pointer *pointer;
    yaml_node_t *to;
    if (check_mapping(r, node, "a pointer", keys)) return -1;
    if (!(to = find(r, node, "to"))) return FAIL(r, node, "a pointer needs to: a buffer's name");
    if (append_member(r, node, LAUNCH_U64, NULL, argument)) return -1;
    pointer = (launch_pointer *)append(&r->launch->pointers, &r->launch->pointer_count, sizeof *pointer);
    if (!pointer) return FAIL(r, node, "out of memory");
    pointer->kernel = kernel;
    pointer->holder = index;
    pointer->at = argument->structure_bytes - 8;
    return read_pointer(r, to, find(r, node, "element"), r->launch->kernels[kernel].process, pointer);
}

/* Reads struct: [{type: f64, value: 1}, {type: s32, values: [1, 2, 3]}, {pointer: {to: work}}]. Members have their
 * natural alignment, as in C. */
static int read_structure(reader *r, const yaml_node_t *node, uint32_t kernel, uint32_t index,
                          launch_argument *argument) {
    static const char *const keys[] = {"type", "value", "values", "pointer", NULL};
    yaml_node_item_t *item, *one;
    uint32_t alignment = 1;
    if (node->type != YAML_SEQUENCE_NODE)
        return FAIL(r, node, "struct must be a list of members (- {type: f32, value: 1})");
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        yaml_node_t *member = yaml_document_get_node(r->document, *item), *type_node, *value, *values, *pointer;
        launch_type type;
        if (check_mapping(r, member, "a member", keys)) return -1;
        if ((pointer = find(r, member, "pointer"))) {
            if (find(r, member, "type") || find(r, member, "value") || find(r, member, "values"))
                return FAIL(r, pointer, "a member is either a pointer or has a type and values");
            if (append_pointer(r, pointer, kernel, index, argument)) return -1;
            alignment = 8;
            continue;
        }
        type_node = find(r, member, "type");
        value = find(r, member, "value");
        values = find(r, member, "values");
        if (!type_node || !value == !values) return FAIL(r, member, "a member needs a type and either value or values");
        if (read_type(r, type_node, &type)) return -1;
        if (launch_type_bytes(type) > alignment) alignment = launch_type_bytes(type);
        if (value && append_member(r, member, type, value, argument)) return -1;
        if (!values) continue;
        if (values->type != YAML_SEQUENCE_NODE) return FAIL(r, values, "values must be a list");
        for (one = values->data.sequence.items.start; one < values->data.sequence.items.top; one++)
            if (append_member(r, member, type, yaml_document_get_node(r->document, *one), argument)) return -1;
    }
    if (!argument->structure) return FAIL(r, node, "a struct needs a member");
    while (argument->structure_bytes % alignment) { /* C pads the end, too */
        uint8_t *grown = (uint8_t *)realloc(argument->structure, argument->structure_bytes + 1);
        if (!grown) return FAIL(r, node, "out of memory");
        argument->structure = grown;
        grown[argument->structure_bytes++] = 0;
    }
    return 0;
}

/* Reads one of several words; *choice is its index. */
static int read_choice(reader *r, const yaml_node_t *node, const char *what, const char *const *words,
                       uint8_t *choice) {
    char *text = NULL;
    uint8_t i;
    if (read_text(r, node, what, &text)) return -1;
    for (i = 0; words[i] && strcmp(words[i], text) != 0; i++) {}
    free(text);
    if (!words[i])
        return FAIL(r, node, "%s is \"%s\", must be %s, %s or the like", what, text_of(node), words[0], words[1]);
    *choice = i;
    return 0;
}

/* Reads how a buffer is accessed through a texture object. */
static int read_texture(reader *r, const yaml_node_t *node, launch_argument *argument) {
    static const char *const keys[] = {"width",      "height",      "depth", "channels", "filter",
                                       "addressing", "coordinates", "read",  NULL};
    static const char *const filters[] = {"nearest", "linear", NULL}, *const addressings[] = {"wrap", "clamp", "mirror",
                                                                                              "border", NULL};
    static const char *const coordinates[] = {"texels", "normalized", NULL}, *const reads[] = {
                                                                                 "element", "normalized_float", NULL};
    static const uint8_t types[] = {TYPE_U8,   TYPE_S8,   TYPE_U16, TYPE_S16,  TYPE_U32,  TYPE_S32,
                                    TYPE_NONE, TYPE_NONE, TYPE_F32, TYPE_NONE, TYPE_NONE, TYPE_NONE};
    const launch_buffer *buffer = &r->launch->buffers[argument->buffer];
    lanes_texture *texture = &argument->texture;
    uint32_t channels = 1;
    yaml_node_t *value;
    if (check_mapping(r, node, "texture", keys)) return -1;
    memset(texture, 0, sizeof *texture);
    argument->is_texture = 1;
    texture->height = 1;
    texture->addressing[0] = TEXTURE_CLAMP;
    if (!(value = find(r, node, "width"))) return FAIL(r, node, "a texture needs a width");
    if (read_u32(r, value, "width", 1, 1u << 27, &texture->width)) return -1;
    if ((value = find(r, node, "height")) && read_u32(r, value, "height", 1, 65536, &texture->height)) return -1;
    texture->depth = 1;
    if ((value = find(r, node, "depth")) && read_u32(r, value, "depth", 1, 65536, &texture->depth)) return -1;
    if ((value = find(r, node, "channels"))) {
        if (read_u32(r, value, "channels", 1, 4, &channels)) return -1;
        if (channels == 3) return FAIL(r, value, "a texture has 1, 2 or 4 channels");
    }
    if ((value = find(r, node, "filter")) && read_choice(r, value, "filter", filters, &texture->linear)) return -1;
    if ((value = find(r, node, "addressing")) &&
        read_choice(r, value, "addressing", addressings, &texture->addressing[0]))
        return -1;
    if ((value = find(r, node, "coordinates")) &&
        read_choice(r, value, "coordinates", coordinates, &texture->normalized))
        return -1;
    if ((value = find(r, node, "read")) && read_choice(r, value, "read", reads, &texture->as_float)) return -1;
    texture->addressing[1] = texture->addressing[2] = texture->addressing[0];
    texture->type = types[buffer->type];
    texture->channels = (uint8_t)channels;
    texture->row_bytes = (uint64_t)texture->width * channels * launch_type_bytes(buffer->type);
    if (texture->type == TYPE_NONE)
        return FAIL(r, node, "a texture of %s is not possible: elements of 8, 16 or 32 bits",
                    launch_type_name(buffer->type));
    if (texture->row_bytes * texture->height > buffer->bytes / texture->depth) {
        return FAIL(r, node, "a texture of %u x %u x %u texels takes %" PRIu64 " bytes, the buffer has %" PRIu64,
                    texture->width, texture->height, texture->depth,
                    texture->row_bytes * texture->height * texture->depth, buffer->bytes);
    }
    return 0;
}

int read_arguments(reader *r, const yaml_node_t *node, launch_kernel *kernel) {
    static const char *const keys[] = {"scalar", "buffer", "texture", "struct", NULL};
    yaml_node_item_t *item;
    if (node->type != YAML_SEQUENCE_NODE)
        return FAIL(r, node, "arguments must be a list (- scalar: ... or - buffer: ...)");
    kernel->arguments_place = place_of(node);
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        yaml_node_t *element = yaml_document_get_node(r->document, *item), *scalar, *buffer, *texture, *structure;
        launch_argument *argument =
            (launch_argument *)append(&kernel->arguments, &kernel->argument_count, sizeof *argument);
        if (!argument) return FAIL(r, element, "out of memory");
        if (check_mapping(r, element, "an argument", keys)) return -1;
        argument->place = place_of(element);
        scalar = find(r, element, "scalar");
        buffer = find(r, element, "buffer");
        structure = find(r, element, "struct");
        if (!!scalar + !!buffer + !!structure != 1)
            return FAIL(r, element, "an argument is either a scalar or a buffer or a struct");
        if (structure) {
            if (read_structure(r, structure, (uint32_t)(kernel - r->launch->kernels), kernel->argument_count - 1,
                               argument))
                return -1;
            continue;
        }
        if (scalar ? read_scalar(r, scalar, argument) : read_buffer(r, buffer, kernel->process, argument)) return -1;
        texture = find(r, element, "texture");
        if (texture && scalar) return FAIL(r, texture, "a texture needs a buffer, not a scalar");
        if (texture && read_texture(r, texture, argument)) return -1;
    }
    return 0;
}

/* textures: - {name: image, texture: {...}, buffer: {...}} */
int read_texture_references(reader *r, const yaml_node_t *node, launch_kernel *kernel) {
    static const char *const keys[] = {"name", "texture", "buffer", NULL};
    yaml_node_item_t *item;
    if (node->type != YAML_SEQUENCE_NODE)
        return FAIL(r, node, "textures must be a list (- {name: image, texture: {...}, buffer: {...}})");
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        yaml_node_t *element = yaml_document_get_node(r->document, *item), *name, *texture, *buffer;
        launch_texture_reference *reference = (launch_texture_reference *)append(
            &kernel->texture_references, &kernel->texture_reference_count, sizeof *reference);
        if (!reference) return FAIL(r, element, "out of memory");
        if (check_mapping(r, element, "a texture reference", keys)) return -1;
        name = find(r, element, "name");
        texture = find(r, element, "texture");
        buffer = find(r, element, "buffer");
        if (!name || !texture || !buffer) return FAIL(r, element, "a texture reference needs name, texture and buffer");
        reference->texture.place = place_of(element);
        if (read_text(r, name, "name", &reference->name) ||
            read_buffer(r, buffer, kernel->process, &reference->texture) ||
            read_texture(r, texture, &reference->texture))
            return -1;
    }
    return 0;
}

/* symbols: - {name: weights, buffer: {...}}: a variable of the PTX file. Its existence and size are checked when the
 * PTX file has been read. */
int read_symbols(reader *r, const yaml_node_t *node, launch_kernel *kernel) {
    static const char *const keys[] = {"name", "buffer", NULL};
    yaml_node_item_t *item;
    if (node->type != YAML_SEQUENCE_NODE)
        return FAIL(r, node, "symbols must be a list (- {name: weights, buffer: {...}})");
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        yaml_node_t *element = yaml_document_get_node(r->document, *item), *name, *content;
        launch_argument argument;
        launch_buffer *buffer;
        if (check_mapping(r, element, "a symbol", keys)) return -1;
        name = find(r, element, "name");
        content = find(r, element, "buffer");
        if (!name || !content) return FAIL(r, element, "a symbol needs name (of the variable) and buffer");
        memset(&argument, 0, sizeof argument);
        if (content->type == YAML_MAPPING_NODE && (find(r, content, "same_as") || find(r, content, "guard_bytes")))
            return FAIL(r, content, "a symbol's buffer is the variable itself: no same_as, no guard_bytes");
        if (read_buffer(r, content, kernel->process, &argument)) return -1;
        buffer = &r->launch->buffers[argument.buffer];
        buffer->place = place_of(name);
        buffer->symbol_kernel = (uint32_t)(kernel - r->launch->kernels);
        if (read_text(r, name, "name", &buffer->symbol)) return -1;
        if (!buffer->name && read_text(r, name, "name", &buffer->name)) return -1;
    }
    return 0;
}
