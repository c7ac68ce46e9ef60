/* launch_reader: shared by the files of the launch-file reader. launch_values.c reads single values, launch_buffers.c
 * device memory, launch_arguments.c a kernel's arguments, launch_file.c kernels, processes and the machine. Every read_
 * function returns 0, or -1 after writing the error with the node's place. */
#ifndef MINIGPU_LAUNCH_READER_H
#define MINIGPU_LAUNCH_READER_H

#include <string.h>
#include <yaml.h>

#include "launch/launch.h"

typedef struct reader {
    launch_file *launch;
    yaml_document_t *document;
    char *error;
    uint32_t loop_depth; /* 1 inside a loop */
} reader;

#define FAIL(r, node, ...) launch_file_error((r)->launch, place_of(node), (r)->error, __VA_ARGS__)

static inline const char *text_of(const yaml_node_t *node) { return (const char *)node->data.scalar.value; }

launch_place place_of(const yaml_node_t *node);
/* Appends a zeroed element to an array and returns it; NULL when memory is out. */
void *append(void *array_pointer, uint32_t *count, size_t element_bytes);

/* Checks that a node is a mapping whose keys are in a list that NULL ends, each at most once. */
int check_mapping(reader *r, const yaml_node_t *node, const char *what, const char *const *keys);
/* Returns the value of a key; NULL when the mapping does not have it. */
yaml_node_t *find(reader *r, const yaml_node_t *mapping, const char *name);

int read_u64(reader *r, const yaml_node_t *node, const char *what, uint64_t minimum, uint64_t maximum, uint64_t *value);
int read_u32(reader *r, const yaml_node_t *node, const char *what, uint32_t minimum, uint32_t maximum, uint32_t *value);
/* Reads a text. *text is freed and replaced. */
int read_text(reader *r, const yaml_node_t *node, const char *what, char **text);
int read_type(reader *r, const yaml_node_t *node, launch_type *type);
/* Reads one value of a type as its bits, zero-extended. */
int read_value(reader *r, const yaml_node_t *node, const char *what, launch_type type, uint64_t *bits);
int read_triple(reader *r, const yaml_node_t *node, const char *what, uint32_t triple[3]);
/* Reads a path relative to the launch file's folder. *path is freed and replaced. */
int read_path(reader *r, const yaml_node_t *node, const char *what, char **path);
/* Reads a whole file; *bytes is allocated. */
int read_file(reader *r, const yaml_node_t *node, const char *path, uint8_t **bytes, uint64_t *count);

/* launch_buffers.c */
int read_buffer(reader *r, const yaml_node_t *node, uint32_t process, launch_argument *argument);
int read_buffers(reader *r, const yaml_node_t *node, uint32_t process);
/* Finds a buffer by its name, among the earlier buffers of the process. */
int find_buffer(reader *r, const yaml_node_t *node, const char *what, uint32_t process, uint32_t *index);
/* Reads the number of an element and checks it against a buffer. *offset is in bytes. behind: 1 for a pointer, which
 * may be one past the last element, as in C. */
int read_element(reader *r, const yaml_node_t *node, uint32_t index, uint32_t behind, uint64_t *offset);
/* Reads the target of a pointer; element may be NULL. resolve_pointers looks the name up at the end. */
int read_pointer(reader *r, const yaml_node_t *to, const yaml_node_t *element, uint32_t process,
                 launch_pointer *pointer);
int resolve_pointers(reader *r);

/* launch_arguments.c */
int read_scalar(reader *r, const yaml_node_t *node, launch_argument *argument);
int read_arguments(reader *r, const yaml_node_t *node, launch_kernel *kernel);
int read_texture_references(reader *r, const yaml_node_t *node, launch_kernel *kernel);
int read_symbols(reader *r, const yaml_node_t *node, launch_kernel *kernel);

/* launch_loop.c: read_kernels reads the loop's kernels. */
int read_loop(reader *r, const yaml_node_t *node, uint32_t process,
              int (*read_kernels)(reader *r, const yaml_node_t *node, uint32_t process));

/* launch_expect.c */
int read_expect(reader *r, const yaml_node_t *node, launch_kernel *kernel);

#endif
