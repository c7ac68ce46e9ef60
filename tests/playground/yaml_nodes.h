/* yaml_nodes: the nodes of a YAML text, as one text. The file that includes this names NODES, and includes a yaml.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_node(FILE *file, yaml_document_t *document, int number) {
    const yaml_node_t *node = yaml_document_get_node(document, number);
    const yaml_node_item_t *item;
    const yaml_node_pair_t *pair;
    fprintf(file, "%d at %zu:%zu ", (int)node->type, node->start_mark.line, node->start_mark.column);
    if (node->type == YAML_SCALAR_NODE)
        fprintf(file, "%zu \"%s\"\n", node->data.scalar.length, (const char *)node->data.scalar.value);
    if (node->type == YAML_SEQUENCE_NODE) {
        fputs("[\n", file);
        for (item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++)
            write_node(file, document, *item);
        fputs("]\n", file);
    }
    if (node->type == YAML_MAPPING_NODE) {
        fputs("{\n", file);
        for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
            write_node(file, document, pair->key);
            write_node(file, document, pair->value);
        }
        fputs("}\n", file);
    }
}

/* Returns the nodes of a text, or "refused"; the caller frees it. */
char *NODES(const char *text, size_t length) {
    yaml_parser_t parser;
    yaml_document_t document;
    yaml_node_t *root;
    char *written = NULL;
    size_t bytes;
    FILE *file = open_memstream(&written, &bytes);
    if (!file || !yaml_parser_initialize(&parser)) abort();
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    if (yaml_parser_load(&parser, &document)) {
        root = yaml_document_get_root_node(&document);
        if (root) write_node(file, &document, (int)(root - document.nodes.start) + 1);
        yaml_document_delete(&document);
    } else {
        fputs("refused", file);
    }
    yaml_parser_delete(&parser);
    fclose(file);
    return written;
}
