/* launch_loop: kernels that run repeatedly until one of them writes a value that ends the loop. */
#include "launch/launch_reader.h"

#include <inttypes.h>
#include <stdlib.h>

/* each: - {buffer: over, element: 0, value: 0} */
static int read_writes(reader *r, const yaml_node_t *node, uint32_t process, launch_loop *loop) {
    static const char *const keys[] = {"buffer", "element", "value", NULL};
    yaml_node_item_t *item;
    if (node->type != YAML_SEQUENCE_NODE)
        return FAIL(r, node, "each must be a list (- {buffer: over, element: 0, value: 0})");
    for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++) {
        const yaml_node_t *one = yaml_document_get_node(r->document, *item), *name, *element, *value;
        launch_write *write;
        if (check_mapping(r, one, "an entry of each", keys)) return -1;
        name = find(r, one, "buffer");
        element = find(r, one, "element");
        value = find(r, one, "value");
        if (!name || !value) return FAIL(r, one, "an entry of each needs buffer (a name), value, and perhaps element");
        write = (launch_write *)append(&loop->writes, &loop->write_count, sizeof *write);
        if (!write) return FAIL(r, one, "out of memory");
        if (find_buffer(r, name, "buffer", process, &write->buffer) ||
            (element && read_element(r, element, write->buffer, 0, &write->offset)) ||
            read_value(r, value, "value", r->launch->buffers[write->buffer].type, &write->bits))
            return -1;
    }
    return 0;
}

/* until: {buffer: over, element: 0, equals: 0} */
static int read_until(reader *r, const yaml_node_t *node, uint32_t process, launch_loop *loop) {
    static const char *const keys[] = {"buffer", "element", "equals", "differs", "below", "above", NULL};
    const yaml_node_t *name, *element, *value = NULL, *one;
    uint32_t i;
    if (check_mapping(r, node, "until", keys)) return -1;
    name = find(r, node, "buffer");
    element = find(r, node, "element");
    for (i = LAUNCH_EQUALS; i <= LAUNCH_ABOVE; i++) {
        if (!(one = find(r, node, keys[2 + i]))) continue;
        if (value) return FAIL(r, one, "until has one of equals, differs, below and above");
        value = one;
        loop->compare = (launch_compare)i;
    }
    if (!name || !value)
        return FAIL(r, node, "until needs buffer (a name) and one of equals, differs, below and above");
    loop->has_until = 1;
    if (find_buffer(r, name, "buffer", process, &loop->buffer) ||
        (element && read_element(r, element, loop->buffer, 0, &loop->offset)))
        return -1;
    return read_value(r, value, keys[2 + loop->compare], r->launch->buffers[loop->buffer].type, &loop->bits);
}

int read_loop(reader *r, const yaml_node_t *node, uint32_t process,
              int (*read_kernels)(reader *r, const yaml_node_t *node, uint32_t process)) {
    static const char *const keys[] = {"times", "until", "each", "kernels", NULL};
    const yaml_node_t *times, *kernels, *value;
    launch_loop loop, *kept;
    int failed;
    memset(&loop, 0, sizeof loop);
    if (r->loop_depth) return FAIL(r, node, "a loop in a loop is not possible");
    if (check_mapping(r, node, "a loop", keys)) return -1;
    times = find(r, node, "times");
    kernels = find(r, node, "kernels");
    if (!times || !kernels)
        return FAIL(r, node, "a loop needs times (how often at most) and kernels; with until it may stop earlier");
    if (read_u32(r, times, "times", 1, 1000000, &loop.times)) return -1;
    loop.place = place_of(node);
    loop.first = r->launch->kernel_count;
    r->loop_depth = 1;
    failed = read_kernels(r, kernels, process);
    r->loop_depth = 0;
    if (failed) return -1;
    loop.count = r->launch->kernel_count - loop.first;
    if (!loop.count) return FAIL(r, kernels, "a loop needs a kernel");
    kept = (launch_loop *)append(&r->launch->loops, &r->launch->loop_count, sizeof *kept);
    if (!kept) return FAIL(r, node, "out of memory");
    *kept = loop;
    if ((value = find(r, node, "each")) && read_writes(r, value, process, kept)) return -1;
    return (value = find(r, node, "until")) ? read_until(r, value, process, kept) : 0;
}

const launch_loop *launch_loop_at(const launch_file *launch, uint32_t kernel) {
    uint32_t i;
    for (i = 0; i < launch->loop_count; i++) {
        if (launch->loops[i].first == kernel) return &launch->loops[i];
    }
    return NULL;
}

static int64_t as_signed(launch_type type, uint64_t bits) {
    const uint32_t unused = 64 - 8 * launch_type_bytes(type);
    return launch_type_is_signed(type) ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

int launch_loop_stops(const launch_file *launch, const launch_loop *loop, const uint8_t *contents) {
    const launch_type type = launch->buffers[loop->buffer].type;
    uint64_t bits = 0;
    int below, above;
    if (!loop->has_until) return 0;
    memcpy(&bits, contents + loop->offset, launch_type_bytes(type)); /* little-endian hosts */
    if (launch_type_is_float(type)) {
        const double is = launch_as_double(type, bits), limit = launch_as_double(type, loop->bits);
        below = is < limit;
        above = is > limit;
    } else if (type == LAUNCH_U64) {
        below = bits < loop->bits;
        above = bits > loop->bits;
    } else {
        below = as_signed(type, bits) < as_signed(type, loop->bits);
        above = as_signed(type, bits) > as_signed(type, loop->bits);
    }
    switch (loop->compare) {
    case LAUNCH_EQUALS: return bits == loop->bits;
    case LAUNCH_DIFFERS: return bits != loop->bits;
    case LAUNCH_BELOW: return below;
    default: return above;
    }
}
