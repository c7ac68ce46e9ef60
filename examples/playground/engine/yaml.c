/* yaml: see include/yaml.h. A recursive reader. Columns are those of Unicode characters, as libyaml counts them. */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

typedef struct text_reader {
    yaml_parser_t *parser;
    yaml_document_t *document;
    yaml_mark_t at;
    int depth; /* of brackets */
} text_reader;

static int refuse(text_reader *r, const char *problem) {
    if (!r->parser->problem) {
        r->parser->problem = problem;
        r->parser->problem_mark = r->at;
    }
    return 0;
}

/* ---- characters ---- */

static int peek_at(const text_reader *r, size_t ahead) {
    const size_t index = r->at.index + ahead;
    return index < r->parser->length ? r->parser->input[index] : -1;
}
static int peek(const text_reader *r) { return peek_at(r, 0); }
static int is_break(int c) { return c == '\n' || c == '\r'; }
static int is_blank_or_end(int c) { return c == ' ' || c == '\t' || c < 0 || is_break(c); }
static int is_flow_sign(int c) { return c == ',' || c == '[' || c == ']' || c == '{' || c == '}'; }

static void skip(text_reader *r) {
    const int c = peek(r);
    r->at.index++;
    if (c == '\n' || (c == '\r' && peek(r) != '\n')) {
        r->at.line++;
        r->at.column = 0;
    } else if ((c & 0xc0) != 0x80) {
        r->at.column++;
    }
}

/* Skips blanks, comments and line breaks. */
static void skip_space(text_reader *r) {
    for (;;) {
        while (peek(r) == ' ' || is_break(peek(r)) || peek(r) == '\t') skip(r);
        if (peek(r) != '#') return;
        while (peek(r) >= 0 && !is_break(peek(r))) skip(r);
    }
}

static int is_indicator(const text_reader *r, int sign) { return peek(r) == sign && is_blank_or_end(peek_at(r, 1)); }

/* ---- nodes ---- */

/* Returns the number of a new node at the reader's place, or 0 when memory is out. */
static int new_node(text_reader *r, yaml_node_type_t type) {
    yaml_document_t *d = r->document;
    if (d->nodes.top == d->nodes.end) {
        const size_t count = (size_t)(d->nodes.top - d->nodes.start), more = count ? 2 * count : 64;
        yaml_node_t *grown = (yaml_node_t *)realloc(d->nodes.start, more * sizeof *grown);
        if (!grown) return refuse(r, "out of memory");
        d->nodes.start = grown;
        d->nodes.top = grown + count;
        d->nodes.end = grown + more;
    }
    memset(d->nodes.top, 0, sizeof *d->nodes.top);
    d->nodes.top->type = type;
    d->nodes.top->start_mark = r->at;
    return (int)(++d->nodes.top - d->nodes.start);
}

static yaml_node_t *node_at(text_reader *r, int number) { return &r->document->nodes.start[number - 1]; }

static int add_item(text_reader *r, int list, int item) {
    yaml_node_t *node = node_at(r, list);
    const size_t count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    yaml_node_item_t *grown = (yaml_node_item_t *)realloc(node->data.sequence.items.start, (count + 1) * sizeof *grown);
    if (!grown) return refuse(r, "out of memory");
    grown[count] = item;
    node->data.sequence.items.start = grown;
    node->data.sequence.items.top = node->data.sequence.items.end = grown + count + 1;
    return 1;
}

static int add_pair(text_reader *r, int mapping, int key, int value) {
    yaml_node_t *node = node_at(r, mapping);
    const size_t count = (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
    yaml_node_pair_t *grown = (yaml_node_pair_t *)realloc(node->data.mapping.pairs.start, (count + 1) * sizeof *grown);
    if (!grown) return refuse(r, "out of memory");
    grown[count].key = key;
    grown[count].value = value;
    node->data.mapping.pairs.start = grown;
    node->data.mapping.pairs.top = node->data.mapping.pairs.end = grown + count + 1;
    return 1;
}

/* Makes a scalar of bytes that it copies. */
static int new_scalar(text_reader *r, yaml_mark_t start, const unsigned char *bytes, size_t length) {
    const int number = new_node(r, YAML_SCALAR_NODE);
    yaml_node_t *node;
    unsigned char *copy = (unsigned char *)malloc(length + 1);
    if (!number || !copy) {
        free(copy);
        return refuse(r, "out of memory");
    }
    memcpy(copy, bytes, length);
    copy[length] = 0;
    node = node_at(r, number);
    node->start_mark = start;
    node->data.scalar.value = copy;
    node->data.scalar.length = length;
    return number;
}

/* ---- scalars ---- */

static int is_plain_start(const text_reader *r) {
    const int c = peek(r);
    if (c == '-' || c == '?' || c == ':') return !is_blank_or_end(peek_at(r, 1));
    return !is_blank_or_end(c) && !is_flow_sign(c) && !strchr("#&*!|>'\"%@`", c);
}

/* Reads a plain scalar of one line. */
static int read_plain(text_reader *r) {
    const yaml_mark_t start = r->at;
    size_t end = start.index; /* behind the last character that is no blank */
    if (!is_plain_start(r))
        return refuse(r, strchr("&*!|>%", peek(r)) && peek(r) > 0
                             ? "anchors, tags, directives and block scalars are not read here"
                             : "found a character that cannot start any token");
    while (peek(r) >= 0 && !is_break(peek(r))) {
        const int c = peek(r);
        if (c == ':' && is_blank_or_end(peek_at(r, 1))) break;
        if (c == ':' && r->depth) return refuse(r, "a colon inside brackets needs a blank behind it");
        if (c == '#' && end < r->at.index) break;
        if (r->depth && is_flow_sign(c)) break;
        skip(r);
        if (c != ' ' && c != '\t') end = r->at.index;
    }
    return new_scalar(r, start, r->parser->input + start.index, end - start.index);
}

/* Returns the character of an escape in double quotes; -1: it is not read here. */
static int escaped(int c) {
    static const char from[] = "ntr0\"\\/ ", to[] = "\n\t\r\0\"\\/ ";
    const char *found = c > 0 ? strchr(from, c) : NULL;
    return found ? to[found - from] : -1;
}

/* Reads a quoted scalar of one line. */
static int read_quoted(text_reader *r) {
    const yaml_mark_t start = r->at;
    const int quote = peek(r);
    unsigned char *bytes = (unsigned char *)malloc(r->parser->length - start.index + 1);
    size_t length = 0;
    int number = 0;
    if (!bytes) return refuse(r, "out of memory");
    for (skip(r);; skip(r)) {
        int c = peek(r);
        if (c < 0 || is_break(c)) {
            refuse(r, c < 0 ? "found unexpected end of stream" : "quoted text of several lines is not read here");
            break;
        }
        if (c == quote && !(quote == '\'' && peek_at(r, 1) == '\'')) {
            skip(r);
            number = new_scalar(r, start, bytes, length);
            break;
        }
        if (c == '\'' && quote == '\'') skip(r);
        if (c == '\\' && quote == '"') {
            skip(r);
            c = escaped(peek(r));
            if (c < 0) {
                refuse(r, "found unknown escape character");
                break;
            }
        }
        bytes[length++] = (unsigned char)c;
    }
    free(bytes);
    return number;
}

static int read_scalar_here(text_reader *r) {
    return peek(r) == '"' || peek(r) == '\'' ? read_quoted(r) : read_plain(r);
}

/* ---- brackets ---- */

static int read_flow(text_reader *r);

static int read_flow_value(text_reader *r) {
    skip_space(r);
    if (peek(r) == '[' || peek(r) == '{') return read_flow(r);
    if (is_flow_sign(peek(r))) return new_scalar(r, r->at, r->parser->input, 0); /* nothing stands there */
    return read_scalar_here(r);
}

/* Reads one entry in brackets; `mapping`: the braces' node, 0: `list` is the brackets' node. */
static int read_flow_entry(text_reader *r, int mapping, int list) {
    size_t line;
    int key, value;
    if (peek(r) == ',' || peek(r) == ':') return refuse(r, "did not find expected node content");
    if (!(key = read_flow_value(r))) return 0;
    line = r->at.line;
    skip_space(r);
    if (peek(r) == ':' && r->at.line != line) return refuse(r, "did not find expected ',' or '}'");
    if (!mapping) return peek(r) == ':' ? refuse(r, "a pair in a list is not read here") : add_item(r, list, key);
    if (is_indicator(r, ':')) {
        skip(r);
        value = read_flow_value(r);
    } else {
        value = new_scalar(r, r->at, r->parser->input, 0);
    }
    return value && add_pair(r, mapping, key, value);
}

static int read_flow(text_reader *r) {
    const int braces = peek(r) == '{', close = braces ? '}' : ']';
    const int node = new_node(r, braces ? YAML_MAPPING_NODE : YAML_SEQUENCE_NODE);
    if (!node) return 0;
    r->depth++;
    skip(r);
    for (skip_space(r); peek(r) != close; skip_space(r)) {
        if (!read_flow_entry(r, braces ? node : 0, node)) return 0;
        skip_space(r);
        if (peek(r) == ',')
            skip(r);
        else if (peek(r) != close)
            return refuse(r, braces ? "did not find expected ',' or '}'" : "did not find expected ',' or ']'");
    }
    skip(r);
    r->depth--;
    return node;
}

/* ---- indented mappings and lists ---- */

static int read_block(text_reader *r, size_t least, int may_be_mapping);

static int read_list(text_reader *r);

/* Reads the value behind "-" or "key:" at a column: in the same line, or indented below it. A list may stand below its
 * key's own column; a mapping or a list may stand in the line of a "-", not in that of a key. */
static int read_value_behind(text_reader *r, size_t column, int is_key) {
    const yaml_mark_t here = r->at;
    skip_space(r);
    if (is_key && r->at.line != here.line && r->at.column == column && is_indicator(r, '-')) return read_list(r);
    if (peek(r) < 0 || (r->at.line != here.line && r->at.column <= column)) {
        const yaml_mark_t next = r->at;
        int empty;
        r->at = here;
        empty = new_scalar(r, here, r->parser->input, 0);
        r->at = next;
        return empty;
    }
    if (is_key && r->at.line == here.line && is_indicator(r, '-'))
        return refuse(r, "block sequence entries are not allowed in this context");
    return read_block(r, column + 1, !is_key || r->at.line != here.line);
}

static int read_list(text_reader *r) {
    const size_t column = r->at.column;
    const int node = new_node(r, YAML_SEQUENCE_NODE);
    while (node && r->at.column == column && is_indicator(r, '-')) {
        int item;
        skip(r);
        item = read_value_behind(r, column, 0);
        if (!item || !add_item(r, node, item)) return 0;
        skip_space(r);
    }
    if (node && peek(r) >= 0 && r->at.column > column) return refuse(r, "did not find expected '-' indicator");
    return node;
}

/* Reads a mapping whose first key has been read. */
static int read_mapping(text_reader *r, int key) {
    const size_t column = node_at(r, key)->start_mark.column;
    const int node = new_node(r, YAML_MAPPING_NODE);
    if (!node) return 0;
    node_at(r, node)->start_mark = node_at(r, key)->start_mark;
    for (;;) {
        int value;
        while (peek(r) == ' ') skip(r);
        if (!is_indicator(r, ':')) return refuse(r, "could not find expected ':'");
        skip(r);
        value = read_value_behind(r, column, 1);
        if (!value || !add_pair(r, node, key, value)) return 0;
        skip_space(r);
        if (peek(r) < 0 || r->at.column < column) return node;
        if (r->at.column > column || is_indicator(r, '-')) return refuse(r, "did not find expected key");
        if (!(key = read_scalar_here(r))) return 0;
    }
}

static int read_block(text_reader *r, size_t least, int may_be_mapping) {
    const size_t line = r->at.line;
    int node;
    if (r->at.column < least) return refuse(r, "did not find expected node content");
    if (is_indicator(r, '-')) return read_list(r);
    node = peek(r) == '[' || peek(r) == '{' ? read_flow(r) : read_scalar_here(r);
    if (!node) return 0;
    while (peek(r) == ' ') skip(r);
    if (!is_indicator(r, ':') || r->at.line != line) return node;
    return may_be_mapping ? read_mapping(r, node) : refuse(r, "mapping values are not allowed in this context");
}

/* ---- the interface ---- */

int yaml_parser_initialize(yaml_parser_t *parser) {
    memset(parser, 0, sizeof *parser);
    return 1;
}

void yaml_parser_set_input_string(yaml_parser_t *parser, const unsigned char *input, size_t length) {
    parser->input = input;
    parser->length = length;
}

int yaml_parser_load(yaml_parser_t *parser, yaml_document_t *document) {
    text_reader r;
    memset(document, 0, sizeof *document);
    memset(&r, 0, sizeof r);
    r.parser = parser;
    r.document = document;
    skip_space(&r);
    if (is_indicator(&r, '-') == 0 && peek(&r) == '-' && peek_at(&r, 1) == '-' && peek_at(&r, 2) == '-') {
        skip(&r), skip(&r), skip(&r);
        skip_space(&r);
    }
    if (peek(&r) < 0) return 1;
    if ((document->root = read_block(&r, 0, 1)) != 0) {
        skip_space(&r);
        if (peek(&r) < 0) return 1;
        refuse(&r, "did not find expected <document start>");
    }
    yaml_document_delete(document);
    return 0;
}

void yaml_parser_delete(yaml_parser_t *parser) { (void)parser; }

yaml_node_t *yaml_document_get_node(yaml_document_t *document, int index) {
    const size_t count = (size_t)(document->nodes.top - document->nodes.start);
    return index > 0 && (size_t)index <= count ? &document->nodes.start[index - 1] : NULL;
}

yaml_node_t *yaml_document_get_root_node(yaml_document_t *document) {
    return yaml_document_get_node(document, document->root);
}

void yaml_document_delete(yaml_document_t *document) {
    yaml_node_t *node;
    for (node = document->nodes.start; node < document->nodes.top; node++) {
        if (node->type == YAML_SCALAR_NODE) free(node->data.scalar.value);
        if (node->type == YAML_SEQUENCE_NODE) free(node->data.sequence.items.start);
        if (node->type == YAML_MAPPING_NODE) free(node->data.mapping.pairs.start);
    }
    free(document->nodes.start);
    memset(document, 0, sizeof *document);
}
