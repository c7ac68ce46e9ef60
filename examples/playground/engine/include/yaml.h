/* yaml: the part of libyaml's interface that the launch reader uses, for machines without a libyaml.
 *
 * The reader understands what launch files are written in: mappings and lists, indented or in brackets, plain and
 * quoted scalars, comments. It refuses anchors, tags, directives, block scalars and several documents by name. A test
 * (tests/playground/yaml.c) compares each node of every launch file with libyaml's. */
#ifndef PLAYGROUND_YAML_H
#define PLAYGROUND_YAML_H

#include <stddef.h>

typedef struct yaml_mark_t {
    size_t index, line, column; /* from 0 */
} yaml_mark_t;

typedef enum yaml_node_type_t {
    YAML_NO_NODE,
    YAML_SCALAR_NODE,
    YAML_SEQUENCE_NODE,
    YAML_MAPPING_NODE
} yaml_node_type_t;

typedef int yaml_node_item_t; /* number of a node, from 1 */
typedef struct yaml_node_pair_t {
    int key, value;
} yaml_node_pair_t;

typedef struct yaml_node_t {
    yaml_node_type_t type;
    union {
        struct {
            unsigned char *value; /* ends with 0 */
            size_t length;
        } scalar;
        struct {
            struct {
                yaml_node_item_t *start, *end, *top;
            } items;
        } sequence;
        struct {
            struct {
                yaml_node_pair_t *start, *end, *top;
            } pairs;
        } mapping;
    } data;
    yaml_mark_t start_mark;
} yaml_node_t;

typedef struct yaml_document_t {
    struct {
        yaml_node_t *start, *end, *top;
    } nodes;
    int root; /* 0: none */
} yaml_document_t;

typedef struct yaml_parser_t {
    const char *problem, *context; /* after a failure; context may be NULL */
    yaml_mark_t problem_mark;
    const unsigned char *input;
    size_t length;
} yaml_parser_t;

int yaml_parser_initialize(yaml_parser_t *parser);
void yaml_parser_set_input_string(yaml_parser_t *parser, const unsigned char *input, size_t length);
/* Reads the document. Returns 1, or 0 with parser->problem and its mark. An empty text is a document without nodes. */
int yaml_parser_load(yaml_parser_t *parser, yaml_document_t *document);
void yaml_parser_delete(yaml_parser_t *parser);
yaml_node_t *yaml_document_get_node(yaml_document_t *document, int index);
yaml_node_t *yaml_document_get_root_node(yaml_document_t *document);
void yaml_document_delete(yaml_document_t *document);

#endif
