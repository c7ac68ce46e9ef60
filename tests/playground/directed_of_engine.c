/* The playground's rounding, compiled for the processor (directed_of_engine.h). */
#define lanes_directed engine_lanes_directed
#define lanes_directed_to_f32 engine_lanes_directed_to_f32
#define lanes_directed_integers engine_lanes_directed_integers
#include "../../examples/playground/engine/lanes_directed.c"
