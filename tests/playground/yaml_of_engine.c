/* The nodes of a text as the playground's stand-in for libyaml reads them. */
#define _GNU_SOURCE
#include "yaml_of_engine.h"

#include "../../examples/playground/engine/yaml.c"

#define NODES nodes_of_engine
char *nodes_of_engine(const char *text, size_t length);
#include "yaml_nodes.h"
