# Writes gpump.h from gpump_impl/: the map, every .h in floor order, then every .c under GPUMP_IMPLEMENTATION.
#   cmake -P gpump_impl/generate.cmake                 writes gpump.h at the top of the project
#   cmake -DOUTPUT=FILE -P gpump_impl/generate.cmake   writes FILE instead (the freshness test compares the two)
# A local include stands for text that is already there, so its line is dropped; nothing else is rewritten.
cmake_minimum_required(VERSION 3.16)
set(impl "${CMAKE_CURRENT_LIST_DIR}")
include("${impl}/components.cmake")
if(NOT DEFINED OUTPUT)
  set(OUTPUT "${impl}/../gpump.h")
endif()

function(append_file name)
  file(READ "${impl}/${name}" text)
  string(REGEX REPLACE "(^|\n)#include \"[a-z_]+\\.h\"[^\n]*" "\\1" text "${text}")
  set_property(GLOBAL APPEND_STRING PROPERTY gpump_text "\n/* ---- gpump_impl/${name} ---- */\n${text}")
endfunction()

function(append_text text)
  set_property(GLOBAL APPEND_STRING PROPERTY gpump_text "${text}")
endfunction()

file(READ "${impl}/map.txt" map)
append_text("${map}")
# C casts are not old in C; g++ knows that from extern "C", clang++ has to be told.
set(quiet "\n#if defined(__clang__) && defined(__cplusplus)\n#pragma clang diagnostic push\n#pragma clang diagnostic ignored \"-Wold-style-cast\"\n#endif\n")
set(loud "\n#if defined(__clang__) && defined(__cplusplus)\n#pragma clang diagnostic pop\n#endif\n")
append_text("\n#ifndef GPUMP_H\n#define GPUMP_H\n${quiet}")
foreach(component IN LISTS GPUMP_COMPONENTS)
  if(EXISTS "${impl}/${component}.h") # graph and the parts of registers, regions, victim and scheduler have none
    append_file("${component}.h")
  endif()
endforeach()
append_text("${loud}\n#endif /* GPUMP_H */\n\n#if defined(GPUMP_IMPLEMENTATION) && !defined(GPUMP_IMPLEMENTATION_DONE)\n#define GPUMP_IMPLEMENTATION_DONE\n${quiet}")
append_file("array.h")
append_file("program_parts.h")
append_file("victim_parts.h")
append_file("scheduler_parts.h")
foreach(component IN LISTS GPUMP_COMPONENTS)
  append_file("${component}.c")
endforeach()
append_file("array_end.h")
append_text("${loud}\n#endif /* GPUMP_IMPLEMENTATION */\n")
get_property(text GLOBAL PROPERTY gpump_text)
file(WRITE "${OUTPUT}" "${text}")
