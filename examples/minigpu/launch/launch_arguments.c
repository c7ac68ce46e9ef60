/* launch_arguments: what a kernel is given: scalars, structs, buffers, textures. */
#include "launch/launch_reader.h"

#include <inttypes.h>
#include <stdlib.h>

static int read_scalar(reader *r, const yaml_node_t *node, launch_argument *argument) {
    static const char *const keys[] = {"type", "value", NULL};
    yaml_node_t *type, *value;
    if (check_mapping(r, node, "scalar", keys)) return -1;
    type = find(r, node, "type");
    value = find(r, node, "value");
    if (!type || !value) return FAIL(r, node, "a scalar needs a type and a value");
    if (read_type(r, type, &argument->type)) return -1;
    return read_value(r, value, "value", argument->type, &argument->scalar);
}

static int append_member(reader *r, const yaml_node_t *node, launch_type type, const yaml_node_t *value,
                         launch_argument *argument) {
    uint32_t size = launch_type_bytes(type), at = (argument->structure_bytes + size - 1) / size * size;
    uint64_t bits;
    uint8_t *grown;
    if (read_value(r, value, "value", type, &bits)) return -1;
    if (at + size > 4096) return FAIL(r, node, "a struct takes at most 4096 bytes");
    grown = (uint8_t *)realloc(argument->structure, at + size);
    if (!grown) return FAIL(r, node, "out of memory");
    memset(grown + argument->structure_bytes, 0, at - argument->structure_bytes);
    memcpy(grown + at, &bits, size); /* little-endian hosts */
    argument->structure = grown;
    argument->structure_bytes = at + size;
    return 0;
}

/* struct: [{type: f64, value: 1}, {type: s32, values: [1, 2, 3]}]: members at their natural alignment, as C lays them
 * out. */
static int read_structure(reader *r, const yaml_node_t *node, launch_argument *argument) {
    static const char *const keys[] = {"type", "value", "values", NULL};
    yaml_node_item_t *item, *one;
    uint32_t alignment = 1;
    if (node->type != YAML_SEQUENCE_NODE)
        return FAIL(r, node, "struct must be a list of members (- {type: f32, value: 1})");
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        yaml_node_t *member = yaml_document_get_node(r->document, *item), *type_node, *value, *values;
        launch_type type;
        if (check_mapping(r, member, "a member", keys)) return -1;
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
    while (argument->structure_bytes % alignment) { /* the end is padded too */
        uint8_t *grown = (uint8_t *)realloc(argument->structure, argument->structure_bytes + 1);
        if (!grown) return FAIL(r, node, "out of memory");
        argument->structure = grown;
        grown[argument->structure_bytes++] = 0;
    }
    return 0;
}

/* One of some words; *choice is its place among them. */
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

/* How a buffer is read through a texture object. */
static int read_texture(reader *r, const yaml_node_t *node, launch_argument *argument) {
    static const char *const keys[] = {"width",      "height",      "channels", "filter",
                                       "addressing", "coordinates", "read",     NULL};
    static const char *const filters[] = {"nearest", "linear", NULL}, *const addressings[] = {"wrap", "clamp", "mirror",
                                                                                              "border", NULL};
    static const char *const coordinates[] = {"texels", "normalized", NULL}, *const reads[] = {
                                                                                 "element", "normalized_float", NULL};
    static const uint8_t types[] = {TYPE_U8,  TYPE_S8,   TYPE_U16,  TYPE_S16, TYPE_U32,
                                    TYPE_S32, TYPE_NONE, TYPE_NONE, TYPE_F32, TYPE_NONE};
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
    texture->addressing[1] = texture->addressing[0];
    texture->type = types[buffer->type];
    texture->channels = (uint8_t)channels;
    texture->row_bytes = (uint64_t)texture->width * channels * launch_type_bytes(buffer->type);
    if (texture->type == TYPE_NONE)
        return FAIL(r, node, "a texture of %s is not possible: elements of 8, 16 or 32 bits",
                    launch_type_name(buffer->type));
    if (texture->row_bytes * texture->height > buffer->bytes) {
        return FAIL(r, node, "a texture of %u x %u texels takes %" PRIu64 " bytes, the buffer has %" PRIu64,
                    texture->width, texture->height, texture->row_bytes * texture->height, buffer->bytes);
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
            if (read_structure(r, structure, argument)) return -1;
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
