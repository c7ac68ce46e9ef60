/* yaml_of_engine: the playground's stand-in for libyaml in a program that also has libyaml. */
#define yaml_parser_initialize engine_parser_initialize
#define yaml_parser_set_input_string engine_parser_set_input_string
#define yaml_parser_load engine_parser_load
#define yaml_parser_delete engine_parser_delete
#define yaml_document_get_node engine_document_get_node
#define yaml_document_get_root_node engine_document_get_root_node
#define yaml_document_delete engine_document_delete
#include "../../examples/playground/engine/include/yaml.h"
